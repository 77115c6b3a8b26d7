"""Sums over rows that do not depend, in any bit, on the order of the rows."""

import math
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray

from skdpgen.utils import (
    saved,
)

Floats = NDArray[np.float64]
DIGITS = 53  # whole numbers up to 2 ** 53 are exact in float64
SMALLEST_BOUND, LARGEST_BOUND = 1e-100, 1e100  # its square, and its grid, are normal


@saved("sum.exact")
@dataclass(eq=False)
class ExactSum:
    r"""A sum of whole multiples of a public step, which float64 adds without rounding.

    A row adds to each entry a multiple of ``step`` that is at most ``top``, a power of
    two and :math:`2^b` steps. What is summed, and in which pieces, then does not show:

    *Proof.* ``low`` holds multiples of ``step``, at most top/2 when it starts, and takes
    :math:`2^{53-b} - 1` rows before whole tops are carried to ``high``. On the way every
    partial sum of any of these rows, as a matrix product forms them too, is at most
    :math:`(2^{53-b} - 1) 2^b + 2^{b-1} < 2^{53}` steps: a float64, so no addition
    rounds. ``high`` is a multiple of ``top``, exact up to :math:`2^{53}` rows: no
    number of rows overflows. :meth:`value` rounds the true sum of the two, once; this
    sum depends on the rows alone, and so do its bits. ∎

    *What is left.* That last rounding moves an entry by :math:`2^{-53}` of the sum. It is
    none while a sum has 53 bits: for 512 rows, and up to :math:`2^{18}` rows of few
    entries. Beyond, sums of neighbours are apart by a relative
    :math:`2^{-52} n \sqrt d` more than rows allow: 2e-7 of the noise's unit for a million
    rows of a million entries. "float64" means real float64 in products, too; on a GPU
    norms may depend on the size of a batch, so there the same bits are not promised.

    *Sums of parts.* To :meth:`merge` two sums, each carries whole tops first, which
    leaves at most top/2 in ``low``: two of these are at most top, :math:`2^b` steps,
    and add without rounding; so do multiples of ``top`` in ``high``. Whole tops are
    carried once more, so that ``low`` starts anew. Nothing was rounded: what is merged
    is the sum over all rows, for any division into parts.

    Parameters
    ----------
    low, high : ndarray of shape (n_classes, width)
    top : float
        A power of two; no row adds more to an entry.
    n_bits : int
        :math:`b`, so that ``step`` is :math:`2^{-b}` of ``top``.
    used : ndarray of shape (n_classes,)
        Rows in ``low`` of each class.

    Examples
    --------
    >>> total = ExactSum.of((1, 2), bound=0.9, n_bits=40)
    >>> total.room_for(1)[:] += [[0.5, total.step]]
    >>> total.value().tolist() == [[0.5, 2.0**-40]]
    True
    """  # noqa: E501

    low: Floats
    high: Floats
    top: float
    n_bits: int
    used: NDArray[np.int64]

    @classmethod
    def of(cls, shape: tuple[int, int], *, bound: float, n_bits: int) -> Self:
        """Return the sum over no rows, none of which adds more than ``bound``."""
        low, high, used = np.zeros(shape), np.zeros(shape), np.zeros(shape[0], int)
        return cls(low, high, power_of_two_from(bound), n_bits, used)

    @property
    def step(self) -> float:
        """The grid: all numbers are multiples of it."""
        return math.ldexp(self.top, -self.n_bits)

    @property
    def most(self) -> int:
        """The largest number of rows that ``low`` adds up exactly."""
        return most_rows(self.n_bits)

    def room_for(self, n_rows: int, label: int | None = None) -> Floats:
        """Return ``low`` of one class or of all, with room for ``n_rows`` more rows."""
        if n_rows > self.most:
            raise ValueError(f"At most {self.most} rows can be added at once.")
        selected = slice(None) if label is None else slice(label, label + 1)
        if (self.used[selected] + n_rows > self.most).any():
            self._carry(selected)
        self.used[selected] += n_rows
        return self.low[selected]

    def merge(self, other: Self) -> Self:
        """Return the sum over the rows of both; neither is changed.

        Examples
        --------
        >>> one, two = (ExactSum.of((1, 1), bound=1.0, n_bits=40) for _ in range(2))
        >>> one.room_for(1)[:] += 0.75
        >>> two.room_for(1)[:] += one.step
        >>> one.merge(two).value().tolist() == [[0.75 + 2.0**-40]]
        True
        """
        grids = [(part.top, part.n_bits, part.low.shape) for part in (self, other)]
        if grids[0] != grids[1]:
            raise ValueError(
                "Sums that are merged must have one grid and one shape. Got "
                f"{grids[0]} and {grids[1]}."
            )
        merged, addend = (
            replace(
                part, low=part.low.copy(), high=part.high.copy(), used=part.used.copy()
            )
            for part in (self, other)
        )
        # both `low` are made small first, so that their sum is exact
        merged._carry()
        addend._carry()
        merged.low += addend.low
        merged.high += addend.high
        merged._carry()
        return merged

    def _carry(self, selected: slice = slice(None)) -> None:
        """Move whole tops of some classes to ``high``."""
        tops = np.rint(self.low[selected] / self.top)
        tops *= self.top
        self.high[selected] += tops
        self.low[selected] -= tops
        self.used[selected] = 0

    def value(self) -> Floats:
        """Return the sum, rounded once."""
        return np.asarray(self.high + self.low)


def power_of_two_from(bound: float) -> float:
    """Return the smallest power of two that is not below a bound.

    Examples
    --------
    >>> [power_of_two_from(bound) for bound in (0.5, 0.7, 1.0, 3.0)]
    [0.5, 1.0, 1.0, 4.0]
    """
    if not SMALLEST_BOUND < bound < LARGEST_BOUND:
        raise ValueError(
            f"bound must be in ({SMALLEST_BOUND:g}, {LARGEST_BOUND:g}). Got {bound!r} "
            "instead."
        )
    mantissa, exponent = math.frexp(bound)
    return math.ldexp(1.0, exponent - (mantissa == 0.5))


def most_rows(n_bits: int) -> int:
    """Return the number of rows of at most 2 ** n_bits steps that add up exactly.

    Examples
    --------
    >>> most_rows(44)
    511
    """
    return int(2 ** (DIGITS - n_bits)) - 1


def below(n_terms: int) -> float:
    r"""Return a factor slightly below 1, by which computed norms are true bounds.

    A norm of m terms that float64 computes, added in any order, is off by a relative
    :math:`(m/2 + 1) u` at most, :math:`u = 2^{-53}`, and each of the few products and
    quotients around it by u. So a row that is divided by its computed norm, times
    :math:`1 - (m + 16) u`, has a true norm of at most 1; rounded towards zero, its
    entries shrink, and so does its norm.

    Examples
    --------
    >>> 1 - 1e-13 < below(100) < 1
    True
    """
    return 1.0 - (n_terms + 16) * 2.0**-DIGITS


def cut_digits(rows: torch.Tensor) -> torch.Tensor:
    """Round towards zero, in place; on a CPU numpy does it nine times as fast.

    Examples
    --------
    >>> cut_digits(torch.tensor([1.9, -1.9, -0.5])).tolist()
    [1.0, -1.0, -0.0]
    """
    if rows.device.type != "cpu":
        return rows.trunc_()
    np.trunc(rows.numpy(), out=rows.numpy())
    return rows
