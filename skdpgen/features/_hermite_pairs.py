"""Hermite features of all pairs of numbers, as outer products."""

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import torch
from torch import Generator, Tensor

from skdpgen.features._factors import Factors, mean_outer, outer
from skdpgen.features._hermite import HermiteFeatures
from skdpgen.utils import asked, is_amount, refuse_unless, saved


@asked("map")
@saved
@dataclass(frozen=True, eq=False)
class HermitePairs:
    r"""Features of a sum kernel, and of the product kernel of **all** pairs of numbers.

    .. math:: k(x, y) = \frac{1}{1 + \gamma} s_1(x, y) + \frac{\gamma}{1 + \gamma}
              \langle \psi(x), \psi(y) \rangle^2, \qquad
              s(x, y) = \mathrm{mean}_j \exp(-(x_j - y_j)^2 / 2\ell^2)

    Here :math:`s_1` and :math:`s_2` are s cut off at two orders. The square of a sum
    kernel is the mean of the products of its terms, two by two: all pairs of columns,
    and each with itself. So its features are the outer product of those of the sum
    kernel with themselves, and a mean over rows is one product of matrices, however
    many pairs there are.

    :math:`\psi` are the features of :math:`s_2` as differences from those of 0, divided
    by r and cut to norm 1. Rows that are 0 in most columns, such as mostly black
    images, are all alike in s; without what they share, pairs say how columns go
    together, and do not repeat how large each is. A radius of None takes the features
    as they are.

    *Bound.* Features of the sum kernel have norm 1 at most (:class:`HermiteFeatures`),
    :math:`\psi` is cut to norm 1 whatever x is, an outer product has the product of the
    norms, and the weights of the squared norms sum to 1: :math:`\|\phi(x)\| \le 1`. The
    centre and r are public. Features of the sum kernel have any sign. An outer product
    of a vector with itself is a square: inner products of such squares are never
    negative.

    Parameters
    ----------
    single, paired : HermiteFeatures
        Of one column at a time; for the sum kernel, and for the one that is squared.
    product_weight : float
        Weight of the pairs beside the sum kernel.
    radius : float or None, default=None
        The number r.

    Examples
    --------
    >>> rng = Generator().manual_seed(0)
    >>> phi = HermitePairs.draw(5, 3, 1, length_scale=0.3, product_weight=2.0, rng=rng)
    >>> phi(torch.zeros(2, 5)).shape  # 5 x 4, and (5 x 2)²
    torch.Size([2, 120])
    """

    single: HermiteFeatures
    paired: HermiteFeatures
    product_weight: float
    radius: float | None = None

    norm_bound = 1.0
    kinds: ClassVar[Any] = ("signed", "square")

    def check_asked(self) -> None:
        """Check what someone else may have made otherwise."""
        maps = self.single, self.paired
        refuse_unless(
            all(type(phi) is HermiteFeatures for phi in maps)
            and is_amount(self.product_weight, 0, 1e6)
            and (self.radius is None or is_amount(self.radius, 1e-6, 1e6)),
            "a kernel of pairs",
        )

    @classmethod
    def draw(
        cls,
        n_inputs: int,
        order: int,
        product_order: int,
        *,
        length_scale: float,
        product_weight: float,
        radius: float | None = None,
        rng: Generator,
    ) -> Self:
        """Make both sum kernels, for numbers from 0 to 1; nothing in them is random."""
        single, paired = (
            HermiteFeatures.draw(
                (1,) * n_inputs,
                (True,) * n_inputs,
                highest,
                length_scale=length_scale,
                n_together=1,
                rng=rng,
            )
            for highest in (order, product_order)
        )
        return cls(single, paired, product_weight, radius)

    @property
    def shapes(self) -> tuple[tuple[int, int], ...]:
        """Shape for the sum kernel, a single column, and for the pairs."""
        n = self.paired.n_features
        return (self.single.n_features, 1), (n, n)

    @property
    def norm_bounds(self) -> tuple[float, float]:
        """Largest norm of the sum kernel's features, and of the pairs'."""
        share = self.product_weight / (1.0 + self.product_weight)
        return math.sqrt(1.0 - share), math.sqrt(share)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return sum(a * b for a, b in self.shapes)

    @property
    def row_size(self) -> int:
        """How many numbers one row takes."""
        return sum(a + b for a, b in self.shapes)

    def to(self, device: torch.device) -> "HermitePairs":
        """Return the same map on another device."""
        return replace(
            self, single=self.single.to(device), paired=self.paired.to(device)
        )

    def double(self) -> "HermitePairs":
        """Return the same map in double precision."""
        return replace(self, single=self.single.double(), paired=self.paired.double())

    def factors(self, x: Tensor) -> Factors:
        """Return u and v of both kernels, whose outer products are the features."""
        bound, paired_bound = self.norm_bounds
        one, two = bound * self.single(x), self._paired(x)
        return [(one, torch.ones_like(one[:, :1])), (paired_bound * two, two)]

    def _paired(self, x: Tensor) -> Tensor:
        """Return the features that are multiplied, of norm 1 at most."""
        found = self.paired(x)
        if self.radius is None:
            return found
        found = found - self.paired(torch.zeros_like(x[:1]))
        norms = torch.linalg.vector_norm(found, dim=1, keepdim=True)
        return found / norms.clamp_min(self.radius)

    def __call__(self, x: Tensor) -> Tensor:  # (n, n_inputs) -> (n, n_features)
        """Map the rows of ``x``; differentiable."""
        return outer(self.factors(x))

    def mean(self, x: Tensor, n_parts: int = 1) -> Tensor:
        """Return means of ``n_parts`` equal groups of rows, (n_parts, n_features)."""
        return mean_outer(self.factors(x), n_parts)

    def expected(self, points: Any) -> None:
        """Return None: a mean over independent columns is not implemented."""
