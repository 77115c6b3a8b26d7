"""A lens of random filters: where strokes and edges are, with nothing learnt."""

from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor
from torch.nn.functional import conv2d

from skdpgen.lenses._clipping import finite, normalised, within_range
from skdpgen.lenses._lens import Shape
from skdpgen.utils import saved

FIRST, NEXT = 5, 3  # pixels a side of filters, in the first layer and later
GAIN = 2.0  # norm of a filter
LEVELLED = 0.5  # of a first filter's mean is taken off: edges count more than tones
THRESHOLD = 0.5  # at most, of a ReLU


@saved
@dataclass(frozen=True)
class RandomLens:
    r"""A convolutional network whose filters are random and fixed.

    .. math:: f_1 = (A_1 \star x - t_1)_+, \qquad f_2 = (A_2 \star f_1 - t_2)_+, \dots

    The first layer sees every pixel, each further one every second place of the one
    before. Thresholds t differ, so that the means of ReLUs tell how values are
    distributed and not just what they are on average.

    *Bound.* Codes are the features, divided by their norm.

    Parameters
    ----------
    n_filters : tuple of int, default=(24, 48)
        Of each layer.
    seed : int, default=0
        Public; draws filters and thresholds.

    Examples
    --------
    >>> RandomLens().n_features((1, 14, 14))  # 24 * 14 * 14 + 48 * 7 * 7
    7056
    """

    n_filters: tuple[int, ...] = (24, 48)
    seed: int = 0

    is_opaque = False
    has_decoder = False
    has_features = True
    is_nonnegative = True

    def __post_init__(self) -> None:
        if not self.n_filters or min(self.n_filters) < 1:
            raise ValueError(
                f"n_filters must be positive. Got {self.n_filters!r} instead."
            )

    @property
    def name(self) -> str:
        """What a certificate says about the lens."""
        many = " and ".join(map(str, self.n_filters))
        return f"random filters, {many}, seed {self.seed}"

    def n_features(self, shape: Shape) -> int:
        """Return how many features an image of this shape has."""
        _, *sides = shape
        found = 0
        for k, n in enumerate(self.n_filters):
            sides = [-(-side // 2) if k else side for side in sides]
            found += n * sides[0] * sides[1]
        return found

    def n_latent(self, shape: Shape) -> int:
        """Return how many codes an image of this shape has."""
        return self.n_features(shape)

    def encode(self, images: Tensor) -> Tensor:  # (n, c, h, w) -> (n, n_latent)
        """Return codes of norm at most 1."""
        return normalised(self.features(images))

    def features(self, images: Tensor) -> Tensor:  # (n, c, h, w) -> (n, n_features)
        """Return what the layers see, flat; differentiable by images."""
        maps, seen = within_range(images), []
        for k, (filters, below) in enumerate(
            _drawn(self.n_filters, images.shape[1], self.seed)
        ):
            weight, bias = filters.to(images), below.to(images)
            half = filters.shape[2] // 2
            stride = 2 if k else 1
            maps = conv2d(maps, weight, bias, stride=stride, padding=half).relu()
            seen.append(maps.flatten(1))
        return finite(torch.cat(seen, dim=1))

    def to(self, device: torch.device) -> "RandomLens":
        """Return itself: filters go where images are."""
        return self

    def double(self) -> "RandomLens":
        """Return itself: filters have the precision of images."""
        return self


@cache
def _drawn(
    n_filters: tuple[int, ...], n_channels: int, seed: int
) -> tuple[tuple[Tensor, Tensor], ...]:
    """Return filters of norm 2 and what is added to them, layer by layer."""
    rng = torch.Generator().manual_seed(seed)
    layers = []
    for k, n in enumerate(n_filters):
        side = NEXT if k else FIRST
        filters = torch.randn(n, n_channels, side, side, generator=rng)
        if not k:
            filters = filters - LEVELLED * filters.mean(dim=(1, 2, 3), keepdim=True)
        norms = filters.flatten(1).norm(dim=1)[:, None, None, None]
        below = -THRESHOLD * torch.rand(n, generator=rng)
        layers.append((GAIN * filters / norms, below))
        n_channels = n
    return tuple(layers)
