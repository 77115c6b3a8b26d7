"""Sums of vectors and of their squares, for means and covariances."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from skdpgen.privacy._blocks import Floats, Integers, check_shape, clip_rows
from skdpgen.privacy._exact_sum import ExactSum, below
from skdpgen.privacy._sensitivity import Structure, WithSquares
from skdpgen.utils import saved

HALF = 21  # bits of an entry whose products are summed: they have twice as many


@saved
@dataclass(frozen=True)
class Moments:
    r"""First and second moments of clipped vectors, formed here in float64.

    ``second`` is ``"outer"`` (v vᵀ, width² entries) or ``"diagonal"`` (v∘v), scaled by
    ``b``; at b² = 1/2 the second moments cost nothing.

    *Exact.* Entries of v are rounded towards zero, which lets no norm grow, and sums
    have the same bits for rows in any order (:class:`ExactSum`). Outer products of
    entries with 21 bits are exact: they are those of another vector, no longer than v.
    Squares of finer entries are rounded in turn, by less than g each, so they are
    squares up to :math:`e = \sqrt d\, g`, and two rows are up to 2be farther apart than
    :class:`WithSquares` says. That is paid for by a norm of at most r = 1 - 4e.

    *Proof.* With this norm rows are at most :math:`\sqrt{F(r)}` apart:
    :math:`F(r) = 4 r^2` for :math:`b^2 \le 1/2`, and
    :math:`\sqrt{F(1)} - \sqrt{F(r)} = 8e \ge 2be`. Else
    :math:`F(r) = 2r^2 + 2b^2r^4 + 1/(2b^2)`, so that :math:`F(1) \le 3(1 + b^2)`,
    :math:`F(1) - F(r) \ge (2 + 2b^2)(1 - r^2) \ge (2 + 2b^2) 4e`, and the difference of
    roots is at least that over :math:`2\sqrt{F(1)}`, hence
    :math:`4e \sqrt{(1 + b^2)/3} \ge 2be`. Norms are below those of vectors of norm 1. ∎
    """

    width: int
    b: float = 0.5**0.5
    second: str = "diagonal"

    @property
    def structure(self) -> Structure:
        """A unit vector with its squares."""
        return WithSquares(self.b)

    @property
    def _n_bits(self) -> int:
        if self.second == "outer":
            return 2 * HALF
        return min(36 + self.width.bit_length() - 1, 44)

    def start(self, n_classes: int) -> ExactSum:
        """Return the sum over no rows."""
        extra = self.width**2 if self.second == "outer" else self.width
        shape = n_classes, self.width + extra
        return ExactSum.of(shape, bound=1.0, n_bits=self._n_bits)

    def add(self, total: ExactSum, vectors: Any, labels: Integers) -> ExactSum:
        """Add the rows of one batch."""
        rows = self._rounded(clip_rows(vectors, 1.0), total.step)
        check_shape(rows, labels, self.width)
        for label in range(len(total.low)):
            mine = rows[labels == label]
            for start in range(0, len(mine), total.most):
                some = mine[start : start + total.most]
                there = total.room_for(len(some), label)[0]
                there[: self.width] += some.sum(axis=0)
                there[self.width :] += self._squares(some, total.step)
        return total

    def merge(self, total: ExactSum, other: ExactSum) -> ExactSum:
        """Return the sum over the rows of two parts."""
        return total.merge(other)

    def value(self, total: ExactSum) -> Floats:
        """Return the sum, its second moments scaled."""
        found = total.value()
        found[:, self.width :] *= self.b
        return found

    def _rounded(self, rows: Floats, step: float) -> Floats:
        """Return rows on their grid."""
        if self.second == "outer":
            grid, longest = 2.0**-HALF, 1.0
        else:
            grid, longest = step, 1.0 - 4.0 * math.sqrt(self.width) * step
        rows *= below(self.width) * longest / grid
        np.trunc(rows, out=rows)
        rows *= grid
        return rows

    def _squares(self, rows: Floats, step: float) -> Floats:
        """Return the sum of products, or of rounded squares."""
        if self.second == "outer":
            return np.asarray((rows.T @ rows).ravel())
        return np.asarray(np.trunc(rows**2 / step).sum(axis=0) * step)
