"""An auto-encoder of pixels, small enough to be trained with noise."""

from itertools import pairwise

from torch import Generator, Tensor, nn
from torch.nn.functional import interpolate

from skdpgen.networks._table import convolution, linear, up_convolution

DARK_BIAS = -2.0  # the first of every pixel: most images have a black background


class AutoEncoder(nn.Module):
    """Pixels to codes in [-1, 1] and back, two full layers each; no layer mixes images.

    Parameters
    ----------
    n_pixels, n_units, n_codes : int
        Sizes of the layers.
    rng : Generator or None
        Draws the first weights; None leaves them empty, to be loaded.

    Examples
    --------
    >>> import torch
    >>> network = AutoEncoder(64, 16, 4, rng=Generator().manual_seed(0))
    >>> network.decode(network.encode(torch.zeros(3, 64))).shape
    torch.Size([3, 64])
    """

    def __init__(
        self, n_pixels: int, n_units: int, n_codes: int, *, rng: Generator | None = None
    ) -> None:
        super().__init__()
        self.encoder = nn.Sequential(
            linear(n_pixels, n_units, rng),
            nn.Tanh(),
            linear(n_units, n_codes, rng),
            nn.Tanh(),
        )
        # in the order of the layers, as each draws its weights from `rng`
        first, last = linear(n_codes, n_units, rng), linear(n_units, n_pixels, rng)
        nn.init.constant_(last.bias, DARK_BIAS)
        self.decoder = nn.Sequential(first, nn.Tanh(), last)

    def encode(self, pixels: Tensor) -> Tensor:  # (n, n_pixels) -> (n, n_codes)
        """Return codes."""
        codes: Tensor = self.encoder(pixels)
        return codes

    def decode(self, codes: Tensor) -> Tensor:  # (n, n_codes) -> (n, n_pixels)
        """Return pixels in [0, 1]."""
        pixels: Tensor = self.decoder(codes)
        return pixels.sigmoid()

    def forward(self, pixels: Tensor) -> tuple[Tensor, Tensor]:
        """Return codes, and the pixels made from them."""
        codes = self.encode(pixels)
        return codes, self.decode(codes)


# ----------------------------------------------------------------------------
# The network that comes with the package: an auto-encoder whose layers detect shapes.

IMAGE_SIDE = 28  # of the images that codes are made of
WIDTHS = (24, 48, 96)
N_CODES_BY_CHANNELS = {1: 64, 3: 128}
FIRST_MAPS = 64  # that drawing starts from


class PublicAutoEncoder(nn.Module):
    """Three convolutions and a linear layer encode; two more layers decode.

    No layer mixes images. The maps have the size of an image, a half and a quarter of
    it; codes are computed from maps of 28 x 28 pixels.

    Parameters
    ----------
    n_channels : {1, 3}
    rng : Generator or None, default=None
        Draws the first weights; None leaves them empty, to be loaded.

    Examples
    --------
    >>> import torch
    >>> network = PublicAutoEncoder(1, rng=Generator().manual_seed(0))
    >>> [tuple(maps.shape[1:]) for maps in network.maps(torch.zeros(2, 1, 14, 14))]
    [(24, 14, 14), (48, 7, 7), (96, 4, 4)]
    >>> network.decode(network.encode(torch.zeros(2, 1, 14, 14))).shape
    torch.Size([2, 1, 28, 28])
    """

    def __init__(self, n_channels: int, *, rng: Generator | None = None) -> None:
        super().__init__()
        sizes, n_codes = (n_channels, *WIDTHS), N_CODES_BY_CHANNELS[n_channels]
        layers = [
            convolution(*pair, 3 if k else 5, rng)
            for k, pair in enumerate(pairwise(sizes))
        ]
        for layer in layers[1:]:
            layer.stride = (2, 2)  # halves the map, instead of a pooling layer
        self.seen = nn.ModuleList(layers)  # a name in the file of the weights
        small = IMAGE_SIDE // 4  # of the last map, and of the first one that is drawn
        self.codes = linear(WIDTHS[-1] * small**2, n_codes, rng)
        self.start = linear(n_codes, FIRST_MAPS * small**2, rng)
        self.drawn = nn.ModuleList(
            (
                up_convolution(FIRST_MAPS, FIRST_MAPS // 2, rng),
                up_convolution(FIRST_MAPS // 2, n_channels, rng),
            )
        )

    def maps(self, images: Tensor) -> list[Tensor]:
        """Return the output of each convolution, after its ReLU."""
        maps = []
        for layer in self.seen:
            images = layer(images).relu()
            maps.append(images)
        return maps

    def encode(self, images: Tensor) -> Tensor:  # (n, c, h, w) -> (n, n_codes)
        """Return codes."""
        if images.shape[2:] != (IMAGE_SIDE, IMAGE_SIDE):
            images = interpolate(
                images, (IMAGE_SIDE, IMAGE_SIDE), mode="bilinear", align_corners=False
            )
        codes: Tensor = self.codes(self.maps(images)[-1].flatten(1))
        return codes

    def decode(self, codes: Tensor) -> Tensor:  # (n, n_codes) -> (n, c, 28, 28)
        """Return images in [0, 1]."""
        small = IMAGE_SIDE // 4
        maps = self.start(codes).unflatten(1, (FIRST_MAPS, small, small)).relu()
        first, last = self.drawn
        images: Tensor = last(first(maps).relu())
        return images.sigmoid()
