"""Groups of cells: a coarser look at a column, where noise asks for one."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skdpgen.tables._cells import Cells
from skdpgen.tables._values import Codes, Floats
from skdpgen.utils import are_whole, asked, is_whole, refuse_unless, saved


@asked("groups")
@saved("cells.groups")
@dataclass(frozen=True, eq=False)
class CellGroups:
    """Which group each cell of a column belongs to.

    Parameters
    ----------
    of_cell : ndarray of int32 of shape (n_cells,)
        Group of each cell.
    n_groups : int
    n_ordered : int
        How many leading groups are ordered; 0 for categories.
    """

    of_cell: NDArray[np.int32]
    n_groups: int
    n_ordered: int

    def check_asked(self) -> None:
        """Check what someone else may have made otherwise."""
        refuse_unless(
            is_whole(self.n_groups, 1)
            and is_whole(self.n_ordered, 0, self.n_groups)
            and are_whole(self.of_cell, 0, self.n_groups - 1),
            "groups of cells",
        )

    def encode(self, codes: Codes) -> Codes:
        """Return the groups of cells; -1 stays -1, and what is no cell becomes it."""
        table = np.append(self.of_cell, -1).astype(np.int64)
        known = (codes >= 0) & (codes < len(self.of_cell))
        return np.asarray(table[np.where(known, codes, -1)])

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

    Ordered cells form runs of about equal mass, "missing" keeps its own group. Of
    categories the rarest share one. Cells that were found to be empty join the group
    before them: alone, they would only count noise.

    Examples
    --------
    >>> from skdpgen.tables import CategoryCells
    >>> cells = CategoryCells(("a", "b", "c"), nullable=False)
    >>> group_cells(cells, np.array([0.2, 0.7, 0.1]), 2).of_cell.tolist()
    [1, 0, 1]
    >>> group_cells(cells, np.array([0.2, 0.8, 0.0]), 3).of_cell.tolist()
    [0, 1, 1]
    """
    full = marginal > 0
    if full.sum() < 2:  # relations need two
        full = np.ones(len(marginal), dtype=bool)
    known = int(full[: cells.n_known].sum())
    of_full, n, n_ordered = _grouped(marginal[full], known, n_groups, cells.is_ordered)
    before = np.maximum(np.cumsum(full) - 1, 0)
    return CellGroups(of_full[before], n, n_ordered)


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
    known = groups.n_ordered if is_ordered else groups.n_groups
    return CellGroups(*_grouped(marginal, known, n_groups, is_ordered))


def _grouped(
    marginal: Floats, known: int, n_groups: int, is_ordered: bool
) -> tuple[NDArray[np.int32], int, int]:
    """Return the group of each cell, and how many groups there are and are ordered."""
    n = len(marginal)
    if n <= n_groups:
        return np.arange(n, dtype=np.int32), n, known if is_ordered else 0
    if not is_ordered:
        of_cell = np.full(n, n_groups - 1, dtype=np.int32)
        most = np.argsort(-marginal, kind="stable")[: n_groups - 1]
        of_cell[most] = np.arange(n_groups - 1)
        return of_cell, n_groups, 0
    beside = min(n - known, max(n_groups // 2, 1))  # groups of what is not ordered
    runs = max(n_groups - beside, 1)
    of_cell, group = np.zeros(n, dtype=np.int32), 0
    held, left = 0.0, float(marginal[:known].sum())
    for k in range(known):
        of_cell[k] = group
        held += marginal[k]
        ahead = marginal[k + 1] if k + 1 < known else 0.0
        is_full = held + 0.5 * ahead >= left / (runs - group)
        if is_full and k + 1 < known and group + 1 < runs:
            group, left, held = group + 1, left - held, 0.0
    of_cell[known:] = group + 1 + np.minimum(np.arange(n - known), beside - 1)
    return of_cell, group + 1 + beside, group + 1
