"""What public rows say of pairs of columns, moved to private single columns."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdpgen.training import raked

Floats = NDArray[np.float64]
OF_CELL = 0.5  # rows that every cell of a pair gets as independent columns would


class PublicPairs:
    r"""Relations of public rows, as private rows would have them.

    A relation is a ratio: how much more often two values are together than independent
    columns would have them. Single columns may be others here and there; so the table
    of a public pair is scaled in rows and columns until it has the private ones, which
    leaves such ratios as they are, and what it then has beyond independent columns is
    the excess to expect. Few public rows say little: each cell has half a row more that
    is independent, and a class half a row that is like all.

    Parameters
    ----------
    counts : ndarray of shape (n_classes, S, S) or (1, S, S)
        Public counts of all pairs of S groups.
    singles : sequence of ndarray of shape (n_classes, n_groups)
        Private columns given the class.
    shares : ndarray of shape (n_classes,)
        Private classes.
    """

    def __init__(self, counts: Any, singles: Sequence[Floats], shares: Floats) -> None:
        ends = np.cumsum([0, *(one.shape[1] for one in singles)])
        self._places = [slice(a, b) for a, b in pairwise(ends)]
        self._counts, self._singles, self._shares = counts, singles, shares
        self._found: dict[tuple[int, int], Floats] = {}

    @property
    def has_classes(self) -> bool:
        """Whether public rows were counted class by class."""
        return len(self._counts) == len(self._shares) > 1

    def common(self, pair: tuple[int, int]) -> Floats:
        """Return the excess of all classes together, (n_groups, n_groups')."""
        return np.asarray(self._excess(pair).sum(axis=0))

    def own(self, pair: tuple[int, int]) -> Floats:
        """Return what each class has beyond its share of that."""
        excess = self._excess(pair)
        return np.asarray(excess - self._shares[:, None, None] * excess.sum(axis=0))

    def _excess(self, pair: tuple[int, int]) -> Floats:
        if pair not in self._found:
            self._found[pair] = self._moved(pair)
        return self._found[pair]

    def _moved(self, pair: tuple[int, int]) -> Floats:
        """Return what the public table has beyond independence, on private columns."""
        rows, columns = (self._singles[j] for j in pair)
        j, k = (self._places[one] for one in pair)
        counts = np.asarray(self._counts[:, j, k], dtype=float)
        shares = self._shares[:, None, None]
        independent = shares * rows[:, :, None] * columns[:, None, :]
        if not self.has_classes:
            mine = counts.sum(axis=0)
            table = mine + OF_CELL * mine.size * _product(mine)
            sums = independent.sum(axis=0)
            found = raked(table, sums.sum(axis=1), sums.sum(axis=0))
            return np.asarray((found - sums)[None])
        alone = np.array([_product(one) for one in counts])
        sizes = counts.sum(axis=(1, 2), keepdims=True)
        even = (sizes * alone).sum(axis=0) / max(float(sizes.sum()), 1.0)
        whole = counts.sum(axis=0) + OF_CELL * even.size * even
        expected = alone * whole / np.maximum(even, 1e-12)
        expected /= np.maximum(expected.sum(axis=(1, 2), keepdims=True), 1e-12)
        table = counts + OF_CELL * whole.size * expected
        table /= table.sum(axis=(1, 2), keepdims=True)
        found = raked(table, rows, columns)
        return np.asarray(shares * found - independent)


def _product(counts: Floats) -> Floats:
    """Return the shares that independent columns with these counts would have."""
    mine = counts + 1.0 / counts.size
    mine = mine / mine.sum()
    return np.asarray(mine.sum(axis=1)[:, None] * mine.sum(axis=0)[None])
