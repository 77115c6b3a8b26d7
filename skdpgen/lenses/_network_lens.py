"""What lenses of trained networks share: weights, sizes and colours of images."""

from dataclasses import dataclass, replace
from typing import Any, Self

import torch
from torch import Tensor, nn
from torch.nn.functional import interpolate

from skdpgen.lenses._clipping import finite, normalised, within_range
from skdpgen.lenses._lens import Shape
from skdpgen.lenses._weights import weights_for

MEAN = (0.485, 0.456, 0.406)  # of ImageNet's colours, which such networks expect
SPREAD = (0.229, 0.224, 0.225)
SMALLEST_SIDE = 32  # maps of the last stage would have no pixel below


@dataclass(frozen=True, eq=False)
class NetworkLens:
    """A lens made of a network with public weights; derived classes say which one.

    Parameters
    ----------
    weights : str, path, dict of Tensor or nn.Module
        Kept as a dict of tensors, a copy, with the names that the network needs.
    side : int, default=32
        Smaller images are enlarged until their shorter side has so many pixels.
    """

    weights: Any
    side: int = SMALLEST_SIDE

    is_opaque = False
    has_decoder = False
    has_features = True
    is_nonnegative = True

    def __post_init__(self) -> None:
        if self.side < SMALLEST_SIDE:
            raise ValueError(
                f"side must be at least {SMALLEST_SIDE}. Got {self.side} instead."
            )
        object.__setattr__(self, "weights", weights_for(self._empty(), self.weights))

    def n_latent(self, shape: Shape) -> int:
        """Return how many codes an image of this shape has."""
        return int(self._shapes(shape)[-1][1])

    def n_features(self, shape: Shape) -> int:
        """Return how many features an image of this shape has."""
        return sum(one[1:].numel() for one in self._shapes(shape))

    def encode(self, images: Tensor) -> Tensor:  # (n, c, h, w) -> (n, n_latent)
        """Return means of the last maps, divided by their norm."""
        return normalised(self._maps(images)[-1].mean(dim=(2, 3)))

    def features(self, images: Tensor) -> Tensor:  # (n, c, h, w) -> (n, n_features)
        """Return all maps after a ReLU, flat; differentiable by images."""
        maps = [one.flatten(1) for one in self._maps(images)]
        return finite(torch.cat(maps, dim=1))

    def to(self, device: torch.device) -> Self:
        """Return the same lens on another device."""
        weights = {name: one.to(device) for name, one in self.weights.items()}
        return replace(self, weights=weights)

    def double(self) -> Self:
        """Return the same lens in double precision."""
        weights = {name: one.double() for name, one in self.weights.items()}
        return replace(self, weights=weights)

    def _empty(self) -> nn.Module:
        """Return the network without weights."""
        raise NotImplementedError

    def _maps(self, images: Tensor) -> list[Tensor]:
        weights = {name: one.to(images) for name, one in self.weights.items()}
        network = self._empty()
        network.load_state_dict(weights, strict=False, assign=True)
        inputs = as_inputs(within_range(images), self.side)
        maps: list[Tensor] = network.eval().requires_grad_(False)(inputs)
        return maps

    def _shapes(self, shape: Shape) -> list[torch.Size]:
        inputs = as_inputs(torch.empty(1, *shape, device="meta"), self.side)
        return [maps.shape for maps in self._empty().to("meta").eval()(inputs)]


def as_inputs(images: Tensor, side: int) -> Tensor:
    """Return images in colour, at least ``side`` pixels a side, on ImageNet's scale.

    Examples
    --------
    >>> as_inputs(torch.zeros(2, 1, 8, 16), 32).shape
    torch.Size([2, 3, 32, 64])
    """
    _, channels, height, width = images.shape
    if channels not in (1, 3):
        raise ValueError(f"Images must have 1 or 3 channels. Got {channels} instead.")
    times = side / min(height, width)
    if times > 1:
        size = round(height * times), round(width * times)
        images = interpolate(images, size, mode="bilinear", align_corners=False)
    mean, spread = (images.new_tensor(one)[:, None, None] for one in (MEAN, SPREAD))
    return (images - mean) / spread  # grey ones become three equal channels first
