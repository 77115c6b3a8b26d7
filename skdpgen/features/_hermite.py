"""Hermite features of Gaussian kernels on columns, summed or multiplied."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, ClassVar, Self

import numpy as np
import torch
from torch import Generator, Tensor

from skdpgen.features._fourier import draw_subsets
from skdpgen.features._parts import Factors, mean_outer, outer
from skdpgen.utils import (
    are_amounts,
    are_whole,
    asked,
    is_amount,
    is_whole,
    refuse_unless,
    saved,
)

# ----------------------------------------------------------------------------
# Functions of the Mehler expansion of a Gaussian kernel, and their slopes.

SAFE_EXPONENT = 50.0  # exp(-SAFE_EXPONENT) is larger than 0 in every precision
RESCALED_FROM = 1e30  # beyond this the recursion is scaled down
LARGEST_INPUT = 1e8  # larger ones are clamped to it


def hermite_functions(x: Tensor, order: int, length_scale: float) -> Tensor:
    r"""Return the Mehler functions 0 to ``order`` of a Gaussian kernel at ``x``.

    With :math:`\alpha = 1 / 2\ell^2` and :math:`\rho = \sqrt{1/4\alpha^2 + 1} -
    1/2\alpha`, so that :math:`\rho / (1 - \rho^2) = \alpha`,

    .. math:: \phi_0 = (1 - \rho^2)^{1/4} e^{-\rho x^2 / (1 + \rho)}, \quad
       \phi_1 = \sqrt{2\rho}\, x\, \phi_0, \quad \phi_{k+1} =
       \sqrt{2\rho / (k+1)}\, x\, \phi_k - \rho \sqrt{k / (k+1)}\, \phi_{k-1}.

    The exponential is a separate factor until the product is larger than the smallest
    float: for large x the functions that matter have orders at which :math:`\phi_0` has
    long underflowed.

    Parameters
    ----------
    x : Tensor of any shape
    order : int
        At least 0.
    length_scale : float

    Returns
    -------
    Tensor of that shape and (order + 1)

    Examples
    --------
    >>> x = torch.tensor([0.3, -0.1], dtype=torch.float64)
    >>> phi = hermite_functions(x, 30, 1.0)
    >>> bool(torch.isclose(phi[0] @ phi[1], torch.exp(-(x[0] - x[1]) ** 2 / 2)))
    True
    """
    wide = length_scale**2  # 1 / 2 alpha
    rho = 1.0 / (wide + math.hypot(wide, 1.0))  # avoids a difference of close numbers
    x = x.clamp(-LARGEST_INPUT, LARGEST_INPUT)
    log_scale = -rho / (1.0 + rho) * x**2
    first = (2.0 * rho * wide) ** 0.25  # 1 - rho² = rho / alpha
    before, now = torch.zeros_like(x), torch.full_like(x, first)
    if bool((log_scale > -SAFE_EXPONENT).all()):  # always, between the public bounds
        functions: Tensor = _NearFunctions.apply(x, order, rho, first)  # type: ignore[no-untyped-call]
        return functions
    each = [now * log_scale.exp()]
    for k in range(order):
        before, now = now, _next(x, now, before, k, rho)
        is_large = now.detach().abs() > RESCALED_FROM
        scale = torch.where(is_large, 1.0 / RESCALED_FROM, 1.0)
        before, now = before * scale, now * scale
        log_scale = log_scale + torch.where(is_large, math.log(RESCALED_FROM), 0.0)
        each.append(now * log_scale.exp())
    return torch.stack(each, dim=-1)


def _next(x: Tensor, now: Tensor, before: Tensor, k: int, rho: float) -> Tensor:
    """Return function k + 1 from the two before it."""
    return (
        math.sqrt(2.0 * rho / (k + 1)) * x * now - rho * math.sqrt(k / (k + 1)) * before
    )


class _NearFunctions(torch.autograd.Function):
    r"""Mehler functions where the exponential does not underflow, and their slopes.

    .. math:: \phi_k' = -\frac{2\rho}{1 + \rho}\, x\, \phi_k
              + \sqrt{2\rho k}\, \phi_{k-1}
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, order: int, rho: float, first: float) -> Tensor:
        now = first * (-rho / (1.0 + rho) * x**2).exp()
        before, orders = torch.zeros_like(x), [now]
        for k in range(order):
            before, now = now, _next(x, now, before, k, rho)
            orders.append(now)
        functions = torch.stack(orders, dim=-1)
        ctx.save_for_backward(x, functions)
        ctx.rho = rho
        return functions

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> tuple[Tensor | None, ...]:
        (x, functions), rho = ctx.saved_tensors, ctx.rho
        orders = torch.arange(1, functions.shape[-1], device=x.device)
        roots = (2.0 * rho * orders).to(functions.dtype).sqrt()
        along = torch.einsum("...k,...k->...", slope, functions)
        below = torch.einsum(
            "...k,...k,k->...", slope[..., 1:], functions[..., :-1], roots
        )
        return below - 2.0 * rho / (1.0 + rho) * x * along, None, None, None


# ----------------------------------------------------------------------------
# Hermite features of Gaussian kernels on columns, summed or multiplied.

CENTRE = 0.5  # numbers lie in [0, 1]
# Largest order, and least and largest length scale, in queries of other parties.
HIGHEST_ORDER, SHORTEST_SCALE, LONGEST_SCALE = 1000, 1e-3, 1e6
N_POINTS = 257  # at which the largest norm is searched


@asked("map")
@saved("features.hermite")
@dataclass(frozen=True, eq=False)
class HermiteFeatures:
    r"""Features of a mean over subsets S of columns of products of kernels.

    .. math:: k(x, y) = \mathrm{mean}_S \prod_{j \in S}
              \exp(-(x_j - y_j)^2 / 2\ell^2)

    Each Gaussian kernel is cut off after ``order + 1`` terms of its Mehler expansion
    [1]_, :math:`\sum_k \phi_k(x)\phi_k(y)`: unlike random features these are the best
    for their number. A subset of one column is the paper's sum kernel, one of several
    its product kernel, with the tensor product of their functions. A category has a
    random direction in ``order + 1`` dimensions; so has "missing". If there are few
    categories their directions are orthogonal.

    *Bound.* A column's functions are cut to norm 1, whatever x is (of themselves they
    do not exceed it: :math:`\sum_k \phi_k^2 \le k(x, x) = 1`), so their products have
    norm 1 at most, and the mean over S subsets divides each by :math:`\sqrt{|S|}`:
    :math:`\|\phi(x)\| \le 1`. Entries have any sign.

    Parameters
    ----------
    directions : tuple of (Tensor of shape (n_values, order + 1) or None)
        Directions of a column's categories; None for a number that cannot be missing;
        one row, for "missing", for a number that can.
    are_numbers : tuple of bool
        Which columns are numbers.
    subsets : Tensor of shape (n_subsets, n_together)
        Columns that are multiplied.
    order : int
    length_scale : float

    References
    ----------
    .. [1] Vinaroz, Charusaie, Harder, Adamczewski & Park, "Hermite polynomial features
       for private data generation", ICML 2022.

    Examples
    --------
    >>> rng = Generator().manual_seed(0)
    >>> phi = HermiteFeatures.draw((1, 3), (True, False), 4, rng=rng)
    >>> phi(torch.zeros(2, 4)).shape
    torch.Size([2, 25])
    """

    directions: tuple[Tensor | None, ...]
    are_numbers: tuple[bool, ...]
    subsets: Tensor
    order: int
    length_scale: float

    norm_bound = 1.0

    def check_asked(self) -> None:
        """Check the fields of an object that another party may have built."""
        directions = [entry for entry in self.directions if entry is not None]
        refuse_unless(
            len(self.directions) == len(self.are_numbers)
            and all(type(entry) is bool for entry in self.are_numbers)
            and all(are_amounts(entry, 1.0 + 1e-6, 2) for entry in directions)
            and are_whole(self.subsets, 0, len(self.directions) - 1, n_axes=2)
            and self.subsets.numel() > 0
            and is_whole(self.order, 0, HIGHEST_ORDER)
            and is_amount(self.length_scale, SHORTEST_SCALE, LONGEST_SCALE),
            "Hermite functions of columns that there are",
        )

    @classmethod
    def draw(
        cls,
        widths: Sequence[int],
        are_numbers: Sequence[bool],
        order: int,
        *,
        length_scale: float = 0.3,
        n_together: int = 2,
        n_subsets: int | None = None,
        rng: Generator,
    ) -> Self:
        """Draw subsets, and directions of categories.

        Parameters
        ----------
        widths : sequence of int
            Inputs of each column: 1 for a number, 2 if it may be missing; for a
            category as many as it has values.
        n_subsets : int or None, default=None
            None is every subset of ``n_together`` columns, once.
        """
        n_columns = len(widths)
        if n_columns > torch.iinfo(torch.int16).max:
            raise ValueError(f"There must be at most 32,767 columns. Got {n_columns}.")
        n_together = min(n_together, n_columns)
        if n_subsets is None:
            n_subsets = math.comb(n_columns, n_together)
        subsets = draw_subsets(n_columns, n_together, n_subsets, rng).short()
        directions = []
        for width, is_number in zip(widths, are_numbers, strict=True):
            n_values = width - 1 if is_number else width
            directions.append(_directions(n_values, order + 1, rng))
        return cls(
            tuple(directions), tuple(are_numbers), subsets, order, float(length_scale)
        )

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(len(self.subsets) * (self.order + 1) ** self.subsets.shape[1])

    @property
    def row_size(self) -> int:
        """Number of values that one row takes."""
        return self.n_features

    def to(self, device: torch.device) -> "HermiteFeatures":
        """Return the same map on another device."""
        moved = (None if d is None else d.to(device) for d in self.directions)
        return HermiteFeatures(
            tuple(moved),
            self.are_numbers,
            self.subsets.to(device),
            self.order,
            self.length_scale,
        )

    def double(self) -> "HermiteFeatures":
        """Return the same map in double precision."""
        directions = tuple(None if d is None else d.double() for d in self.directions)
        return replace(self, directions=directions)

    def __call__(self, x: Tensor) -> Tensor:  # (n, n_inputs) -> (n, n_features)
        """Map the rows of ``x``; differentiable."""
        return self._products(self._of_rows(x))

    def mean(self, x: Tensor, n_parts: int = 1) -> Tensor:
        """Return means of ``n_parts`` equal groups of rows, (n_parts, n_features)."""
        return self._mean(self._of_rows(x), n_parts)

    def expected(self, points: Sequence[Tensor]) -> "ExpectedHermite":
        """Return the exact mean over rows whose columns are drawn independently."""
        tables = []
        for j, at in enumerate(points):
            single_column = HermiteFeatures(
                (self.directions[j],),
                (self.are_numbers[j],),
                self.subsets[:0],
                self.order,
                self.length_scale,
            )
            tables.append(single_column._functions([at.float()])[:, 0])
        return ExpectedHermite(self, tuple(tables))

    def _width(self, j: int) -> int:
        values = self.directions[j]
        return self.are_numbers[j] + (0 if values is None else len(values))

    def _of_rows(self, x: Tensor) -> Tensor:
        """Return functions of the columns of rows, (n, columns, order + 1)."""
        if all(self.are_numbers) and not any(d is not None for d in self.directions):
            # already finite and small; a single tensor is several times as fast
            return _cut(torch.nan_to_num(self._of_numbers(x)))
        widths = [self._width(j) for j in range(len(self.are_numbers))]
        return self._functions(torch.split(x, widths, dim=1))

    def _functions(self, columns: Sequence[Tensor]) -> Tensor:
        """Return functions of columns, (n, columns, order + 1), of norm 1 at most."""
        each: list[Tensor] = []
        numbers = [
            x[:, 0] for x, is_ in zip(columns, self.are_numbers, strict=True) if is_
        ]
        if numbers:
            each = list(self._of_numbers(torch.stack(numbers, dim=1)).unbind(1))
        for j, (x, directions) in enumerate(zip(columns, self.directions, strict=True)):
            if not self.are_numbers[j]:
                assert directions is not None
                each.insert(j, math.sqrt(2.0) * x @ directions)  # two are 1 apart
            elif directions is not None:
                missing = (2.0 * x[:, 1:]).clamp(0.0, 1.0)
                each[j] = (1.0 - missing) * each[j] + missing * directions
        functions = torch.nan_to_num(torch.stack(each, dim=1))
        largest = functions.abs().amax(dim=2, keepdim=True).clamp_min(1.0)
        return _cut(functions / largest)  # squares of 1e30 overflow otherwise

    def _of_numbers(self, x: Tensor) -> Tensor:
        """Return functions of numbers, (n, columns, order + 1); not cut yet."""
        functions = hermite_functions(x - CENTRE, self.order, self.length_scale)
        return functions / _largest_norm(self.order, self.length_scale)

    def _products(self, functions: Tensor) -> Tensor:
        """Multiply the functions of the columns of each subset, (n, n_features)."""
        first, *others = self.subsets.long().T
        functions = functions.transpose(1, 2)  # (n, order + 1, columns): long loops
        product = functions.index_select(2, first) / math.sqrt(len(self.subsets))
        for k in others:
            other = functions.index_select(2, k)
            product = (product[:, :, None] * other[:, None]).flatten(1, 2)
        return product.flatten(1)

    def _mean(self, functions: Tensor, n_parts: int) -> Tensor:
        """Average products over ``n_parts`` equal groups of rows.

        For two columns it is a product of matrices: rows need not be formed.
        """
        n, n_columns, n_each = functions.shape
        n_subsets, n_together = self.subsets.shape
        is_smaller = n_parts * n_columns**2 <= n * n_subsets
        if n_together != 2 or not is_smaller:
            products = self._products(functions)
            return products.reshape(n_parts, -1, self.n_features).mean(dim=1)
        flat = functions.reshape(n_parts, n // n_parts, n_columns * n_each)
        gram = (flat.mT @ flat).flatten(1)
        first, second = self.subsets.long().T
        order = torch.arange(n_each, device=first.device)
        rows = first * n_each + order[:, None, None]  # (i, 1, subset)
        places = rows * (n_columns * n_each) + second * n_each + order[:, None]
        share = n_parts / (n * math.sqrt(n_subsets))
        return gram.index_select(1, places.flatten()) * share


@dataclass(frozen=True, eq=False)
class ExpectedHermite:
    """The mean of :class:`HermiteFeatures` over rows drawn column by column; exact.

    Given independent columns, the mean of a product is the product of the means.
    """

    phi: HermiteFeatures
    tables: tuple[Tensor, ...]  # functions at the points of each column

    def __call__(self, probabilities: Sequence[Tensor]) -> Tensor:
        """Return (n, n_features) from a list of (n, n_points), one per column."""
        return self.phi._products(self._functions(probabilities))

    def mean(self, probabilities: Sequence[Tensor], n_parts: int = 1) -> Tensor:
        """Return means of ``n_parts`` equal groups of rows, (n_parts, n_features)."""
        return self.phi._mean(self._functions(probabilities), n_parts)

    def _functions(self, probabilities: Sequence[Tensor]) -> Tensor:
        means = [p @ t for p, t in zip(probabilities, self.tables, strict=True)]
        return torch.stack(means, dim=1)


def _cut(functions: Tensor) -> Tensor:
    """Return functions with norms of 1 at most."""
    norms = torch.linalg.vector_norm(functions, dim=-1, keepdim=True)
    return functions / norms.clamp_min(1.0)


@cache
def _largest_norm(order: int, length_scale: float) -> float:
    """Return the largest norm in public bounds; dividing by it makes up for the cut."""
    x = torch.linspace(-CENTRE, CENTRE, N_POINTS, dtype=torch.float64)
    functions = hermite_functions(x, order, length_scale)
    return float(torch.linalg.vector_norm(functions, dim=1).max())


def _directions(n_values: int, width: int, rng: Generator) -> Tensor | None:
    """Return unit vectors, orthogonal as far as possible."""
    if not n_values:
        return None
    blocks = []
    for first in range(0, n_values, width):
        square = torch.randn(width, width, generator=rng, dtype=torch.float64)
        block, _ = np.linalg.qr(square.numpy())
        blocks.append(block[: n_values - first])
    return torch.from_numpy(np.concatenate(blocks)).float()


# ----------------------------------------------------------------------------
# Hermite features of all pairs of numbers, as outer products.


@asked("map")
@saved("features.hermite_pairs")
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
    images, are all similar in s. Without the common part, pairs describe relations of
    columns, and do not repeat the size of each. A radius of None takes the features
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
        """Check the fields of an object that another party may have built."""
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
        """Number of values that one row takes."""
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
        single, paired = bound * self.single(x), self._paired(x)
        return [
            (single, torch.ones_like(single[:, :1])),
            (paired_bound * paired, paired),
        ]

    def _paired(self, x: Tensor) -> Tensor:
        """Return the features that are multiplied, of norm 1 at most."""
        features = self.paired(x)
        if self.radius is None:
            return features
        features = features - self.paired(torch.zeros_like(x[:1]))
        norms = torch.linalg.vector_norm(features, dim=1, keepdim=True)
        return features / norms.clamp_min(self.radius)

    def __call__(self, x: Tensor) -> Tensor:  # (n, n_inputs) -> (n, n_features)
        """Map the rows of ``x``; differentiable."""
        return outer(self.factors(x))

    def mean(self, x: Tensor, n_parts: int = 1) -> Tensor:
        """Return means of ``n_parts`` equal groups of rows, (n_parts, n_features)."""
        return mean_outer(self.factors(x), n_parts)

    def expected(self, points: Sequence[Tensor]) -> None:
        """Return None: a mean over independent columns is not implemented."""
