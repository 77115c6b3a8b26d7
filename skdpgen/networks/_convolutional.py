"""Convolutional networks: a small one, VGG and ResNet."""

import math
from collections.abc import Sequence

from torch import Generator, Tensor, nn
from torch.nn.functional import avg_pool2d, max_pool2d, silu

from skdpgen.networks._table import convolution, linear

# ----------------------------------------------------------------------------
# A small classifier of images, cheap enough to predict every private row.

HALVED_FROM_SIDE = 16  # pixels; then 2 x 2 of them are averaged
CNN_WIDTHS = (16, 32)


class SmallCNN(nn.Module):
    """Two convolutions and a linear layer: images in, logits of classes out.

    Examples
    --------
    >>> import torch
    >>> network = SmallCNN((1, 8, 8), 3, rng=Generator().manual_seed(0))
    >>> network(torch.zeros(2, 1, 8, 8)).shape
    torch.Size([2, 3])
    """

    def __init__(
        self, shape: tuple[int, int, int], n_classes: int, *, rng: Generator
    ) -> None:
        super().__init__()
        channels, *sides = shape
        self.is_halved = min(sides) >= HALVED_FROM_SIDE
        for _ in range(2 + self.is_halved):  # each pooling rounds up, as below
            sides = [math.ceil(side / 2) for side in sides]
        self.first = convolution(channels, CNN_WIDTHS[0], 3, rng)
        self.second = convolution(*CNN_WIDTHS, 3, rng)
        self.last = linear(CNN_WIDTHS[1] * math.prod(sides), n_classes, rng)

    def forward(self, images: Tensor) -> Tensor:
        """Return logits, (n, n_classes); each image independently of others."""
        if self.is_halved:
            images = avg_pool2d(images, 2, ceil_mode=True)
        for layer in (self.first, self.second):
            images = max_pool2d(layer(images).relu(), 2, ceil_mode=True)
        logits: Tensor = self.last(images.flatten(1))
        return logits


# ----------------------------------------------------------------------------
# The convolutions of VGG-19 (Simonyan & Zisserman, 2015), to be loaded.

VGG_DEPTHS = (2, 2, 4, 4, 4)  # convolutions of each stage
VGG_WIDTHS = (64, 128, 256, 512, 512)  # their channels


class VGG(nn.Module):
    """Stages of 3 x 3 convolutions, each followed by a ReLU; maps halve between stages.

    Weights are named as torchvision's ``vgg19`` names them, and are empty at first.

    Parameters
    ----------
    widths : sequence of int, default=(64, 128, 256, 512, 512)
        Channels of the convolutions of each stage.

    Examples
    --------
    >>> list(VGG((1, 2, 3, 4, 5)).state_dict())[:4]
    ['features.0.weight', 'features.0.bias', 'features.2.weight', 'features.2.bias']
    """

    def __init__(self, widths: Sequence[int] = VGG_WIDTHS) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        before = 3
        for width, depth in zip(widths, VGG_DEPTHS, strict=True):
            for _ in range(depth):
                layers += [convolution(before, width, 3, None), nn.ReLU()]
                before = width
            layers.append(nn.MaxPool2d(2))
        self.features = nn.Sequential(*layers[:-1])

    def forward(self, images: Tensor) -> list[Tensor]:  # (n, 3, h, w)
        """Return maps after each ReLU, from fine to coarse."""
        after_relus, maps = [], images
        for layer in self.features:
            maps = layer(maps)
            if isinstance(layer, nn.ReLU):
                after_relus.append(maps)
        return after_relus


# ----------------------------------------------------------------------------
# The convolutions of ResNet-18 (He et al., 2016), to be loaded.

RESNET_WIDTHS = (64, 128, 256, 512)  # channels of each stage
RESNET_DEPTH = 2  # blocks of a stage


class ResNet(nn.Module):
    """Residual blocks of two 3 x 3 convolutions; maps halve between stages.

    Weights are named as torchvision's ``resnet18`` names them, and are empty at first.

    Parameters
    ----------
    widths : sequence of int, default=(64, 128, 256, 512)
        Channels of each of the four stages.

    Examples
    --------
    >>> network = ResNet((1, 2, 3, 4)).eval()
    >>> len(network.state_dict())
    120
    """

    def __init__(self, widths: Sequence[int] = RESNET_WIDTHS) -> None:
        super().__init__()
        first, second, third, fourth = widths
        self.conv1 = _convolution(3, first, 7, stride=2)
        self.bn1 = nn.BatchNorm2d(first)
        self.relu = nn.ReLU()
        self.maxpool = nn.MaxPool2d(3, stride=2, padding=1)
        self.layer1 = _stage(first, first, stride=1)
        self.layer2 = _stage(first, second, stride=2)
        self.layer3 = _stage(second, third, stride=2)
        self.layer4 = _stage(third, fourth, stride=2)

    def forward(self, images: Tensor) -> list[Tensor]:  # (n, 3, h, w)
        """Return maps after each ReLU, from fine to coarse."""
        after_relus: list[Tensor] = [self.relu(self.bn1(self.conv1(images)))]
        maps = self.maxpool(after_relus[0])
        for stage in (self.layer1, self.layer2, self.layer3, self.layer4):
            for block in stage:
                middle, maps = block(maps)
                after_relus += [middle, maps]
        return after_relus


class Block(nn.Module):
    """Two convolutions, added to their input; ``downsample`` adapts its shape."""

    def __init__(self, n_inputs: int, n_outputs: int, stride: int) -> None:
        super().__init__()
        self.conv1 = _convolution(n_inputs, n_outputs, 3, stride)
        self.bn1 = nn.BatchNorm2d(n_outputs)
        self.relu = nn.ReLU()
        self.conv2 = _convolution(n_outputs, n_outputs, 3, stride=1)
        self.bn2 = nn.BatchNorm2d(n_outputs)
        self.downsample: nn.Module | None = None
        if stride > 1:
            self.downsample = nn.Sequential(
                _convolution(n_inputs, n_outputs, 1, stride), nn.BatchNorm2d(n_outputs)
            )

    def forward(self, maps: Tensor) -> tuple[Tensor, Tensor]:
        """Return maps after the first and after the second ReLU."""
        middle = self.relu(self.bn1(self.conv1(maps)))
        beside = maps if self.downsample is None else self.downsample(maps)
        return middle, self.relu(self.bn2(self.conv2(middle)) + beside)


def _stage(n_inputs: int, n_outputs: int, stride: int) -> nn.Sequential:
    blocks = [Block(n_inputs, n_outputs, stride)]
    blocks += [Block(n_outputs, n_outputs, 1) for _ in range(RESNET_DEPTH - 1)]
    return nn.Sequential(*blocks)


def _convolution(n_inputs: int, n_outputs: int, size: int, stride: int) -> nn.Conv2d:
    """Return a convolution without bias, its weights empty."""
    return nn.utils.skip_init(
        nn.Conv2d, n_inputs, n_outputs, size, stride, size // 2, bias=False
    )


# ----------------------------------------------------------------------------
# ResNet-20 (He et al., 2016), for images of 32 x 32, as DP-SGD can train it.

RESNET20_WIDTHS = (16, 32, 64)  # channels of each stage, of three blocks
NORM_GROUPS = 8  # one over the batch would mix rows


class ResNet20(nn.Module):
    """Residual blocks of two 3 x 3 convolutions; maps halve between three stages.

    Channels are normalised in groups, image by image, and units are SiLU, whose slope
    has no jump: gradients of several rows can then be computed together
    (:class:`~skdpgen.training.RowSlopes`).

    Parameters
    ----------
    rng : Generator or None, default=None
        Draws the first weights; None leaves them empty, to be loaded.

    Examples
    --------
    >>> import torch
    >>> maps = ResNet20(rng=Generator().manual_seed(0))(torch.zeros(2, 3, 32, 32))
    >>> len(maps), maps[-1].shape
    (19, torch.Size([2, 64, 8, 8]))
    """

    width = RESNET20_WIDTHS[-1]

    def __init__(self, rng: Generator | None = None) -> None:
        super().__init__()
        before = RESNET20_WIDTHS[0]
        self.first = _convolution(3, before, 3, stride=1)
        self.norm = nn.GroupNorm(NORM_GROUPS, before)
        blocks = []
        for width in RESNET20_WIDTHS:
            for k in range(3):
                is_halved = k == 0 and width != RESNET20_WIDTHS[0]
                blocks.append(GroupedBlock(before, width, 2 if is_halved else 1))
                before = width
        self.blocks = nn.ModuleList(blocks)
        if rng is not None:
            for layer in self.modules():
                if isinstance(layer, nn.Conv2d):
                    n_inputs = layer.weight[0].numel()
                    nn.init.normal_(
                        layer.weight, std=math.sqrt(2.0 / n_inputs), generator=rng
                    )

    def forward(self, images: Tensor) -> list[Tensor]:  # (n, 3, h, w)
        """Return maps after each unit, from fine to coarse."""
        maps = silu(self.norm(self.first(images)))
        after_units = [maps]
        for block in self.blocks:
            middle, maps = block(maps)
            after_units += [middle, maps]
        return after_units


class GroupedBlock(nn.Module):
    """Two convolutions, added to their input, which is adapted to their shape."""

    def __init__(self, n_inputs: int, n_outputs: int, stride: int) -> None:
        super().__init__()
        self.first = _convolution(n_inputs, n_outputs, 3, stride)
        self.first_norm = nn.GroupNorm(NORM_GROUPS, n_outputs)
        self.second = _convolution(n_outputs, n_outputs, 3, stride=1)
        self.second_norm = nn.GroupNorm(NORM_GROUPS, n_outputs)
        self.beside = (
            nn.Identity()
            if stride == 1
            else _convolution(n_inputs, n_outputs, 1, stride)
        )

    def forward(self, maps: Tensor) -> tuple[Tensor, Tensor]:
        """Return maps after the first and after the second unit."""
        middle = silu(self.first_norm(self.first(maps)))
        return middle, silu(self.second_norm(self.second(middle)) + self.beside(maps))


class ImageClassifier(nn.Module):
    """A linear layer on the means of the last maps of a network.

    Parameters
    ----------
    body : nn.Module
        From images to a list of maps.
    width, n_classes : int
    rng : Generator
        Draws the first weights.
    """

    def __init__(
        self, body: nn.Module, width: int, n_classes: int, *, rng: Generator
    ) -> None:
        super().__init__()
        self.body = body
        self.head = linear(width, n_classes, rng)

    def forward(self, images: Tensor) -> Tensor:
        """Return logits, (n, n_classes)."""
        logits: Tensor = self.head(self.body(images)[-1].mean(dim=(2, 3)))
        return logits
