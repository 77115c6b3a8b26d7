"""Cells as points of a space with public distances, for kernels on rows."""

import math

import numpy as np

from skdpgen.tables._cells import Cells
from skdpgen.tables._values import Floats


def cell_points(cells: Cells) -> Floats:
    """Return the coordinates of every cell, (n_cells, width).

    A number stands at the rank of its cell, from 0 to 1. Bins hold about equal mass,
    so such columns are about uniform whatever their unit and tails, and a length scale
    means the same in all of them. Two categories are 1 apart, and "missing" is half
    that far from the middle of the numbers.

    Examples
    --------
    >>> from skdpgen.tables import NumberCells
    >>> cell_points(NumberCells(np.array([0.0, 1.0, 10.0]), nullable=False)).tolist()
    [[0.25], [0.75]]
    """
    if not cells.is_ordered:
        return np.eye(cells.n_cells) * math.sqrt(0.5)
    known = cells.n_known
    beside = cells.n_cells - known  # named values and "missing"
    points = np.zeros((cells.n_cells, 1 + beside))
    points[:known, 0] = (np.arange(known) + 0.5) / max(known, 1)
    points[known:, 0] = 0.5
    points[known:, 1:] = 0.5 * np.eye(beside)
    return points
