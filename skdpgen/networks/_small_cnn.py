"""A small classifier of images, cheap enough to be asked about every private row."""

import math

from torch import Generator, Tensor, nn
from torch.nn.functional import avg_pool2d, max_pool2d

from skdpgen.networks._layers import convolution, linear

HALVED = 16  # from this many pixels a side on, 2 x 2 of them are averaged
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
        self.is_halved = min(sides) >= HALVED
        for _ in range(2 + self.is_halved):
            sides = [math.ceil(side / 2) for side in sides]
        self.first = convolution(channels, CNN_WIDTHS[0], 3, rng)
        self.second = convolution(*CNN_WIDTHS, 3, rng)
        self.last = linear(CNN_WIDTHS[1] * math.prod(sides), n_classes, rng)

    def forward(self, images: Tensor) -> Tensor:
        """Return logits, (n, n_classes); each image by itself."""
        if self.is_halved:
            images = avg_pool2d(images, 2, ceil_mode=True)
        for layer in (self.first, self.second):
            images = max_pool2d(layer(images).relu(), 2, ceil_mode=True)
        found: Tensor = self.last(images.flatten(1))
        return found
