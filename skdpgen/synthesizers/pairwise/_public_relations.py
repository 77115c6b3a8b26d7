"""Relations and single columns that public rows show."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdpgen.tables import CellGroups
from skdpgen.training import RelatedColumns, columns_together, raked

# ----------------------------------------------------------------------------
# Relations of pairs in public rows, adjusted to private single columns.

Floats = NDArray[np.float64]
CELL_PSEUDO_COUNT = 0.5  # prior rows of a pair, distributed as independent columns


class PublicPairs:
    r"""Relations of public rows, adjusted to the marginals of private rows.

    A relation is the ratio of a joint frequency to that of independent columns. Public
    and private marginals may differ. So the table of a public pair is scaled in rows
    and columns until it has the private marginals, which keeps the odds ratios. Its
    excess over independent columns is the expected one. Few public rows are weak
    evidence: each cell gets half a row of independent columns, and each class half a
    row of all classes.

    Parameters
    ----------
    counts : ndarray of shape (n_classes, S, S) or (1, S, S)
        Public counts of all pairs of S groups.
    singles : sequence of ndarray of shape (n_classes, n_groups)
        Private columns given the class.
    shares : ndarray of shape (n_classes,)
        Private classes.
    """

    def __init__(
        self, counts: NDArray[Any], singles: Sequence[Floats], shares: Floats
    ) -> None:
        ends = np.cumsum([0, *(single.shape[1] for single in singles)])
        self._places = [slice(a, b) for a, b in pairwise(ends)]
        self._counts, self._singles, self._shares = counts, singles, shares
        self._excesses: dict[tuple[int, int], Floats] = {}

    @property
    def has_classes(self) -> bool:
        """Whether public rows were counted class by class."""
        return len(self._counts) == len(self._shares) > 1

    def common(self, pair: tuple[int, int]) -> Floats:
        """Return the excess of all classes together, (n_groups, n_groups')."""
        return np.asarray(self._excess(pair).sum(axis=0))

    def own(self, pair: tuple[int, int]) -> Floats:
        """Return the deviation of each class from its share of the excess."""
        excess = self._excess(pair)
        return np.asarray(excess - self._shares[:, None, None] * excess.sum(axis=0))

    def _excess(self, pair: tuple[int, int]) -> Floats:
        if pair not in self._excesses:
            self._excesses[pair] = self._adjusted_excess(pair)
        return self._excesses[pair]

    def _adjusted_excess(self, pair: tuple[int, int]) -> Floats:
        """Return the excess of the public table, moved to the private marginals."""
        rows, columns = (self._singles[j] for j in pair)
        j, k = (self._places[column] for column in pair)
        counts = np.asarray(self._counts[:, j, k], dtype=float)
        shares = self._shares[:, None, None]
        independent = shares * rows[:, :, None] * columns[:, None, :]
        if not self.has_classes:
            pooled = counts.sum(axis=0)
            table = pooled + CELL_PSEUDO_COUNT * pooled.size * _product(pooled)
            sums = independent.sum(axis=0)
            moved = raked(table, sums.sum(axis=1), sums.sum(axis=0))
            return np.asarray((moved - sums)[None])
        independent_tables = np.array(
            [_product(class_counts) for class_counts in counts]
        )
        sizes = counts.sum(axis=(1, 2), keepdims=True)
        even = (sizes * independent_tables).sum(axis=0) / max(float(sizes.sum()), 1.0)
        whole = counts.sum(axis=0) + CELL_PSEUDO_COUNT * even.size * even
        expected = independent_tables * whole / np.maximum(even, 1e-12)
        expected /= np.maximum(expected.sum(axis=(1, 2), keepdims=True), 1e-12)
        table = counts + CELL_PSEUDO_COUNT * whole.size * expected
        table /= table.sum(axis=(1, 2), keepdims=True)
        moved = raked(table, rows, columns)
        return np.asarray(shares * moved - independent)


def _product(counts: Floats) -> Floats:
    """Return the shares that independent columns with these counts would have."""
    smoothed = counts + 1.0 / counts.size
    smoothed = smoothed / smoothed.sum()
    return np.asarray(smoothed.sum(axis=1)[:, None] * smoothed.sum(axis=0)[None])


# ----------------------------------------------------------------------------
# Single columns, estimated jointly by the relations of public rows.

MOST_GROUPS = 500  # of all columns and classes; above, classes are pooled
JOINT_WEIGHT = 2 / 3  # of the joint estimate of a trusted column; the rest is its own


def with_relations(
    groups: Sequence[CellGroups],
    counts: Sequence[Floats],
    variances: Sequence[float],
    singles: Sequence[Floats],
    shares: Floats,
    n_rows: float,
    pairs: NDArray[Any],
) -> list[Floats]:
    """Return columns given the class, each estimated from the counts of all columns.

    The joint estimate of :func:`columns_together` is averaged with the estimate from
    the column only: neither uses all of the information. Public rows without labels
    count equally in each class: if private classes differ in one column, they are
    then expected to differ in the columns related to it. (Differences that are noise,
    which no relation would have made, mislead models that use relations.) With many
    classes, this is done for all classes together, and classes follow; with many
    columns, too, each column is left as it is, since time grows with their third power.

    Parameters
    ----------
    groups : sequence of CellGroups
    counts, variances : sequence of ndarray of shape (n_classes, n_groups), of float
        Noisy counts of groups by class, and of their noise.
    singles : sequence of ndarray of shape (n_classes, n_groups)
        Estimates from each column only; groups that are empty there stay empty.
    shares : ndarray of shape (n_classes,)
    n_rows : float
    pairs : ndarray of shape (n_classes, S, S) or (1, S, S)
        Public counts.
    """
    full = [single.max(axis=0) > 0 for single in singles]
    occupied = np.flatnonzero(np.concatenate(full))
    if len(occupied) > MOST_GROUPS:
        return list(singles)
    public_counts = np.asarray(pairs[:, occupied[:, None], occupied], dtype=float)
    by_class = len(shares) * len(occupied) <= MOST_GROUPS
    if by_class and len(public_counts) < len(shares):
        public_counts = shares[:, None, None] * public_counts
    related = RelatedColumns(
        [noisy[:, is_full] for noisy, is_full in zip(counts, full, strict=True)],
        variances,
        shares,
        n_rows,
        public_counts,
        [
            int(is_full[: grouping.n_ordered].sum())
            for grouping, is_full in zip(groups, full, strict=True)
        ],
    )
    tables, trust = columns_together(related if by_class else related.of_all)
    estimates = []
    for single, table, is_full, weight in zip(
        singles, tables, full, trust, strict=True
    ):
        estimate = np.zeros_like(single)
        if by_class:
            estimate[:, is_full] = table
        else:
            moved = raked(shares[:, None] * single[:, is_full], shares, table[0])
            sums = moved.sum(axis=1, keepdims=True)
            has_rows = sums > 0  # a class without any stays as it is
            moved /= np.where(has_rows, sums, 1.0)
            estimate[:, is_full] = np.where(has_rows, moved, single[:, is_full])
        estimates.append(single + JOINT_WEIGHT * weight * (estimate - single))
    return estimates
