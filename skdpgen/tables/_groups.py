"""Groups of cells: coarser versions of columns, for releases with much noise."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skdpgen.tables._cells import Cells, class_of
from skdpgen.tables._values import Codes, Floats
from skdpgen.utils import (
    are_whole,
    asked,
    is_whole,
    refuse_unless,
    saved,
)


@asked("groups")
@saved("cells.groups")
@dataclass(frozen=True, eq=False)
class CellGroups:
    """The group of each cell of a column.

    Parameters
    ----------
    of_cell : ndarray of int32 of shape (n_cells,)
        Group of each cell.
    n_groups : int
    n_ordered : int
        Number of leading groups that are ordered; 0 for categories.
    """

    of_cell: NDArray[np.int32]
    n_groups: int
    n_ordered: int

    def check_asked(self) -> None:
        """Check what a constructor in another process may have set otherwise."""
        refuse_unless(
            is_whole(self.n_groups, 1)
            and is_whole(self.n_ordered, 0, self.n_groups)
            and are_whole(self.of_cell, 0, self.n_groups - 1),
            "groups of cells",
        )

    def encode(self, codes: Codes) -> Codes:
        """Return the groups of cells; -1 for codes that are no cell."""
        return class_of(self.of_cell, codes)

    def add_up(self, table: Floats) -> Floats:
        """Sum the last axis, cells, over groups.

        Examples
        --------
        >>> groups = CellGroups(np.array([0, 0, 1]), 2, 2)
        >>> groups.add_up(np.array([[1.0, 2.0, 4.0]])).tolist()
        [[3.0, 4.0]]
        """
        return np.asarray(table @ np.eye(self.n_groups)[self.of_cell])


def each_cell(cells: Cells) -> CellGroups:
    """Return every cell as a group of its own."""
    n = cells.n_cells
    n_ordered = cells.n_known if cells.is_ordered else 0
    return CellGroups(np.arange(n, dtype=np.int32), n, n_ordered)


def group_cells(cells: Cells, marginal: Floats, n_groups: int) -> CellGroups:
    """Group the cells of a column to at most ``n_groups``, of a RELEASED marginal.

    Ordered cells form runs of about equal mass, and "missing" keeps its own group. The
    rarest categories share one. Empty cells by the release join the group before them:
    alone, they would only count noise.

    Examples
    --------
    >>> from skdpgen.tables import CategoryCells
    >>> cells = CategoryCells(("a", "b", "c"), nullable=False)
    >>> group_cells(cells, np.array([0.2, 0.7, 0.1]), 2).of_cell.tolist()
    [1, 0, 1]
    >>> group_cells(cells, np.array([0.2, 0.8, 0.0]), 3).of_cell.tolist()
    [0, 1, 1]
    """
    is_occupied = marginal > 0
    if is_occupied.sum() < 2:  # relations need two
        is_occupied = np.ones(len(marginal), dtype=bool)
    n_known = int(is_occupied[: cells.n_known].sum())
    of_full, n, n_ordered = _grouped(
        marginal[is_occupied], n_known, n_groups, cells.is_ordered
    )
    group_before = np.maximum(np.cumsum(is_occupied) - 1, 0)
    return CellGroups(of_full[group_before], n, n_ordered)


def each_group(groups: CellGroups) -> CellGroups:
    """Return every group as a cell of its own."""
    places = np.arange(groups.n_groups, dtype=np.int32)
    return CellGroups(places, groups.n_groups, groups.n_ordered)


def join_groups(groups: CellGroups, marginal: Floats, n_groups: int) -> CellGroups:
    """Join the groups of a column to at most ``n_groups``, of their RELEASED marginal.

    Examples
    --------
    >>> fine = CellGroups(np.array([0, 1, 2]), 3, 3)
    >>> join_groups(fine, np.array([0.5, 0.2, 0.3]), 2).of_cell.tolist()
    [0, 1, 1]
    """
    is_ordered = groups.n_ordered > 0
    n_known = groups.n_ordered if is_ordered else groups.n_groups
    return CellGroups(*_grouped(marginal, n_known, n_groups, is_ordered))


def _grouped(
    marginal: Floats, n_known: int, n_groups: int, is_ordered: bool
) -> tuple[NDArray[np.int32], int, int]:
    """Return the group of each cell, the number of groups, and that of ordered ones."""
    n = len(marginal)
    if n <= n_groups:
        return np.arange(n, dtype=np.int32), n, n_known if is_ordered else 0
    if not is_ordered:
        of_cell = np.full(n, n_groups - 1, dtype=np.int32)
        heaviest = np.argsort(-marginal, kind="stable")[: n_groups - 1]
        of_cell[heaviest] = np.arange(n_groups - 1)
        return of_cell, n_groups, 0
    n_unordered = min(n - n_known, max(n_groups // 2, 1))  # groups of other cells
    runs = max(n_groups - n_unordered, 1)
    of_cell, group = np.zeros(n, dtype=np.int32), 0
    run_mass, mass_left = 0.0, float(marginal[:n_known].sum())
    for k in range(n_known):
        of_cell[k] = group
        run_mass += marginal[k]
        ahead = marginal[k + 1] if k + 1 < n_known else 0.0
        # end the run where its mass is nearest to an equal share of what is left
        is_full = run_mass + 0.5 * ahead >= mass_left / (runs - group)
        if is_full and k + 1 < n_known and group + 1 < runs:
            group, mass_left, run_mass = group + 1, mass_left - run_mass, 0.0
    of_cell[n_known:] = group + 1 + np.minimum(np.arange(n - n_known), n_unordered - 1)
    return of_cell, group + 1 + n_unordered, group + 1
