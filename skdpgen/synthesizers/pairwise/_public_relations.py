"""Relations and single columns that public rows show."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdpgen.tables import CellGroups
from skdpgen.training import Related, columns_together, raked

# ----------------------------------------------------------------------------
# What public rows say of pairs of columns, moved to private single columns.

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


# ----------------------------------------------------------------------------
# Single columns, where public rows say how they go together.

WIDEST = 500  # groups of all columns and classes; of more, all classes together
MOST = 2 / 3  # of a column that is trusted; the rest is what it says by itself


def with_relations(
    groups: Sequence[CellGroups],
    counts: Sequence[Floats],
    variances: Sequence[float],
    singles: Sequence[Floats],
    shares: Floats,
    n_rows: float,
    pairs: Any,
) -> list[Floats]:
    """Return columns given the class, each told by the noise of all, too.

    What :func:`columns_together` finds is averaged with what each column says by
    itself: neither knows what the other does. Public rows without labels are taken to
    be alike in each class: where private classes differ in one column, they are then
    expected to differ in what goes with it. (Differences that are noise, which no
    relation would have made, mislead models that know relations.) Where classes are
    many, this is of all classes together, and classes follow; where columns are many,
    too, each stays by itself, since time grows with their third power.

    Parameters
    ----------
    groups : sequence of CellGroups
    counts, variances : sequence of ndarray of shape (n_classes, n_groups), of float
        Noisy counts of groups by class, and of their noise.
    singles : sequence of ndarray of shape (n_classes, n_groups)
        Columns by themselves; groups that are empty there stay so.
    shares : ndarray of shape (n_classes,)
    n_rows : float
    pairs : ndarray of shape (n_classes, S, S) or (1, S, S)
        Public counts.
    """
    full = [one.max(axis=0) > 0 for one in singles]
    kept = np.flatnonzero(np.concatenate(full))
    if len(kept) > WIDEST:
        return list(singles)
    theirs = np.asarray(pairs[:, kept[:, None], kept], dtype=float)
    by_class = len(shares) * len(kept) <= WIDEST
    if by_class and len(theirs) < len(shares):
        theirs = shares[:, None, None] * theirs
    seen = Related(
        [one[:, some] for one, some in zip(counts, full, strict=True)],
        variances,
        shares,
        n_rows,
        theirs,
        [
            int(some[: one.n_ordered].sum())
            for one, some in zip(groups, full, strict=True)
        ],
    )
    tables, trust = columns_together(seen if by_class else seen.of_all)
    found = []
    for mine, table, some, weight in zip(singles, tables, full, trust, strict=True):
        told = np.zeros_like(mine)
        if by_class:
            told[:, some] = table
        else:
            moved = raked(shares[:, None] * mine[:, some], shares, table[0])
            told[:, some] = moved / moved.sum(axis=1, keepdims=True)
        found.append(mine + MOST * weight * (told - mine))
    return found
