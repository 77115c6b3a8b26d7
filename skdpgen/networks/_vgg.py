"""The convolutions of VGG-19 (Simonyan & Zisserman, 2015), to be loaded."""

from collections.abc import Sequence

from torch import Tensor, nn

from skdpgen.networks._layers import convolution

DEPTHS = (2, 2, 4, 4, 4)  # convolutions of each stage
VGG_WIDTHS = (64, 128, 256, 512, 512)  # their channels


class VGG(nn.Module):
    """Stages of 3 x 3 convolutions, each followed by a ReLU; maps halve between stages.

    Weights are named as torchvision's ``vgg19`` names them, and are empty at first.

    Parameters
    ----------
    widths : sequence of int, default=(64, 128, 256, 512, 512)
        Channels of the convolutions of each stage.
    depths : sequence of int, default=(2, 2, 4, 4, 4)
        How many convolutions a stage has; the default is VGG-19.

    Examples
    --------
    >>> list(VGG((2, 3), (1, 1)).state_dict())
    ['features.0.weight', 'features.0.bias', 'features.3.weight', 'features.3.bias']
    """

    def __init__(
        self, widths: Sequence[int] = VGG_WIDTHS, depths: Sequence[int] = DEPTHS
    ) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        before = 3
        for width, depth in zip(widths, depths, strict=True):
            for _ in range(depth):
                layers += [convolution(before, width, 3, None), nn.ReLU()]
                before = width
            layers.append(nn.MaxPool2d(2))
        self.features = nn.Sequential(*layers[:-1])

    def forward(self, images: Tensor) -> list[Tensor]:  # (n, 3, h, w)
        """Return maps after each ReLU, from fine to coarse."""
        found, maps = [], images
        for layer in self.features:
            maps = layer(maps)
            if isinstance(layer, nn.ReLU):
                found.append(maps)
        return found
