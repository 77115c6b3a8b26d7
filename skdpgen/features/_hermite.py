"""Hermite features of Gaussian kernels on columns, summed or multiplied."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Self

import numpy as np
import torch
from torch import Generator, Tensor

from skdpgen.features._fourier import draw_subsets
from skdpgen.features._mehler import hermite_functions
from skdpgen.utils import (
    are_amounts,
    are_whole,
    asked,
    is_amount,
    is_whole,
    refuse_unless,
    saved,
)

HALF = 0.5  # numbers lie in [0, 1]; functions are centred in the middle
HIGHEST, SHORTEST, LONGEST = 1000, 1e-3, 1e6  # orders, scales to be asked with
FINE = 257  # points at which the largest norm is looked for


@asked("map")
@saved
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
        Those of a column's categories; None for a number that cannot be missing; one
        row, for "missing", for a number that can.
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
        """Check what someone else may have made otherwise."""
        given = [one for one in self.directions if one is not None]
        refuse_unless(
            len(self.directions) == len(self.are_numbers)
            and all(type(one) is bool for one in self.are_numbers)
            and all(are_amounts(one, 1.0 + 1e-6, 2) for one in given)
            and are_whole(self.subsets, 0, len(self.directions) - 1, n_axes=2)
            and self.subsets.numel() > 0
            and is_whole(self.order, 0, HIGHEST)
            and is_amount(self.length_scale, SHORTEST, LONGEST),
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
        """How many numbers one row takes."""
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
        known = tuple(None if d is None else d.double() for d in self.directions)
        return replace(self, directions=known)

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
            one = HermiteFeatures(
                (self.directions[j],),
                (self.are_numbers[j],),
                self.subsets[:0],
                self.order,
                self.length_scale,
            )
            tables.append(one._functions([at.float()])[:, 0])
        return ExpectedHermite(self, tuple(tables))

    def _width(self, j: int) -> int:
        values = self.directions[j]
        return self.are_numbers[j] + (0 if values is None else len(values))

    def _of_rows(self, x: Tensor) -> Tensor:
        """Return functions of the columns of rows, (n, columns, order + 1)."""
        if all(self.are_numbers) and not any(d is not None for d in self.directions):
            # already finite and small; one tensor is several times as fast
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
        found = torch.nan_to_num(torch.stack(each, dim=1))
        largest = found.abs().amax(dim=2, keepdim=True).clamp_min(1.0)
        return _cut(found / largest)  # squares of 1e30 overflow otherwise

    def _of_numbers(self, x: Tensor) -> Tensor:
        """Return functions of numbers, (n, columns, order + 1); not cut yet."""
        found = hermite_functions(x - HALF, self.order, self.length_scale)
        return found / _largest_norm(self.order, self.length_scale)

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

        Of two columns it is a product of matrices: rows need not be formed.
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
    x = torch.linspace(-HALF, HALF, FINE, dtype=torch.float64)
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
