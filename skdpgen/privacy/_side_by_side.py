"""Several vectors side by side, each with a bound and signs of its own."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from skdpgen.privacy._blocks import WIDEST, Floats, Integers, Vectors
from skdpgen.privacy._exact_sum import ExactSum
from skdpgen.privacy._sensitivity import Structure, Weighted
from skdpgen.utils import asked, refuse_unless, saved


@asked("block")
@saved
@dataclass(frozen=True)
class SideBySide:
    r"""Sum of :math:`\phi(x) \otimes y` for :math:`\phi = (\phi_1, \phi_2, \dots)`.

    Each part is clipped by itself, and clamped at 0 if it says so. Squared moves of
    disjoint coordinates add up: with norms :math:`a_i`, a replaced row moves the sum
    by at most :math:`(\sum_i k_i a_i^2)^{1/2}`, where k is 4 for signed parts and 2
    for those that are never negative.

    Parameters
    ----------
    parts : tuple of Vectors

    Examples
    --------
    >>> block = SideBySide((Vectors(2, 0.6), Vectors(3, 0.8, is_nonnegative=True)))
    >>> round(block.structure.replace() ** 2, 2)  # 4 * 0.36 + 2 * 0.64
    2.72
    """

    parts: tuple[Vectors, ...]

    def check_asked(self) -> None:
        """Check what the proof assumes of one that someone else made."""
        refuse_unless(
            type(self.parts) is tuple
            and len(self.parts) > 0
            and all(type(part) is Vectors for part in self.parts)
            and self.width <= WIDEST,
            "vectors side by side",
        )

    @property
    def width(self) -> int:
        """Length of a row."""
        return sum(part.width for part in self.parts)

    @property
    def structure(self) -> Structure:
        """Each part's, with weight 1."""
        every = tuple(part.structure for part in self.parts)
        return Weighted(every, (1.0,) * len(every))

    def start(self, n_classes: int) -> list[ExactSum]:
        """Return the sums over no rows, part by part."""
        return [part.start(n_classes) for part in self.parts]

    def add(
        self, total: list[ExactSum], vectors: Any, labels: Integers
    ) -> list[ExactSum]:
        """Add the rows of one batch."""
        if vectors.shape[1:] != (self.width,):
            raise ValueError(
                f"A batch must hold {self.width} values per row. Got another shape."
            )
        start = 0
        for part, own in zip(self.parts, total, strict=True):
            end = start + part.width
            part.add(own, vectors[:, start:end], labels)
            start = end
        return total

    def merge(self, total: list[ExactSum], other: list[ExactSum]) -> list[ExactSum]:
        """Return the sum over the rows of two parts."""
        return [a.merge(b) for a, b in zip(total, other, strict=True)]

    def value(self, total: list[ExactSum]) -> Floats:
        """Return the sums side by side."""
        return np.concatenate([own.value() for own in total], axis=1)
