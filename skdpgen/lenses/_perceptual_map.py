"""The features of a lens as one bounded vector, with their squares."""

import copy
import math
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import normalize

from skdpgen.lenses._alone import check_pure, goes_alone
from skdpgen.lenses._clipping import SMALLEST
from skdpgen.lenses._lens import Shape
from skdpgen.lenses._unit_means import UnitMeans
from skdpgen.utils import saved


@saved
@dataclass(frozen=True, eq=False)
class PerceptualMap:
    r"""Features f of a lens and, beside them, their squares.

    .. math:: \phi = \Big[ a\,\frac{f}{\|f\|} ;\; b\,\frac{f^2}{\|f^2\|} \Big],
              \qquad a^2 + b^2 = 1

    *Bound.* Each part is divided by its own norm, so that :math:`\|\phi\| \le 1` for
    every image, up to rounding; privacy clips each part once more. Squares are never
    negative, features of most lenses neither.

    Parameters
    ----------
    lens : Perceptual
    shape : tuple of int
        Channels, height and width of the images that come in flat.
    squares : float, default=0.5
        The number b²; 0 leaves squares out.

    Examples
    --------
    >>> from skdpgen.lenses import ScatteringLens
    >>> phi = PerceptualMap(ScatteringLens(order=1), (1, 8, 8))
    >>> phi(torch.rand(3, 64)).norm(dim=1).round(decimals=3)
    tensor([1., 1., 1.])
    """

    lens: Any
    shape: Shape
    squares: float = 0.5

    norm_bound = 1.0

    @property
    def is_opaque(self) -> bool:
        """Whether rows must go through one by one."""
        return goes_alone(self.lens)

    @property
    def n_features(self) -> int:
        """Number of features, with squares."""
        return sum(width for width, *_ in self.parts)

    @property
    def row_size(self) -> int:
        """How many numbers one row takes, about: more than it ends with."""
        return 2 * self.n_features + math.prod(self.shape)

    @property
    def parts(self) -> tuple[tuple[int, float, bool], ...]:
        """Length and norm of each part, and whether it is never negative."""
        n = int(self.lens.n_features(self.shape))
        first = n, math.sqrt(1.0 - self.squares), bool(self.lens.is_nonnegative)
        second = n, math.sqrt(self.squares), True
        return (first, second) if self.squares else (first,)

    def __call__(self, x: Tensor) -> Tensor:  # (n, n_inputs) -> (n, n_features)
        """Map flat images; differentiable."""
        return torch.cat(self._parts(x), dim=1)

    def _parts(self, x: Tensor) -> list[Tensor]:
        """Return features, and their squares, each of a norm of its own."""
        found = self.lens.features(x.reshape(-1, *self.shape)).flatten(1)
        unit = normalize(found, dim=1, eps=SMALLEST)
        parts = [math.sqrt(1.0 - self.squares) * unit]
        if self.squares:
            squared = normalize(unit.square(), dim=1, eps=SMALLEST**2)
            parts.append(math.sqrt(self.squares) * squared)
        return parts

    def check(self) -> None:
        """Look at made-up images, so that a lens fails before it costs."""
        copy.deepcopy(self)(torch.zeros(1, math.prod(self.shape)))
        if self.is_opaque:
            with torch.no_grad():
                size = (math.prod(self.shape),)
                check_pure(self.double(), size, self.n_features, "lens")

    def mean(self, x: Tensor, n_parts: int = 1) -> Tensor:
        """Return means of equal groups of rows, (n_parts, n_features)."""
        found = self.lens.features(x.reshape(-1, *self.shape)).flatten(1)
        means: Tensor = UnitMeans.apply(  # type: ignore[no-untyped-call]
            found, n_parts, self.squares, SMALLEST
        )
        return means

    def expected(self, points: Any) -> None:
        """Return None: a mean over rows has no closed form."""

    def to(self, device: torch.device) -> "PerceptualMap":
        """Return the same map on another device."""
        return replace(self, lens=self.lens.to(device))

    def double(self) -> "PerceptualMap":
        """Return the same map in double precision, with a lens of its own.

        It sees private rows: a lens that remembers what it saw must not be kept.
        """
        return replace(self, lens=copy.deepcopy(self.lens.double()))
