"""Ends of a column that was discovered: where a RELEASED fine histogram still counts.

Bounds from magnitudes are powers of two: years reach from 1024 to 2047. The finer
histogram says where in between rows are.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm

from skdpgen.tables._cells import NumberCells, bounds
from skdpgen.tables._columns import Column, Datetime, Integer, Numeric
from skdpgen.tables._layout import EPOCH
from skdpgen.tables._values import Floats

FALSE_ALARM = 1e-4  # chance that noise passes for the core of a column
STDS = {1.25: 1.5, 2.0: 2.5, 4.0: 3.5}  # evidence by how much wider the range gets
TAPERED = 0.05  # of the rows in the outer tenth: there is more to come
BEYOND = 5.0  # if it would get still wider
FAR_RATIO = 4.01  # of the ends of a column, two octaves, at most


def is_far_from_zero(column: Column) -> bool:
    """Say whether magnitudes tell little of a column's range, as of years.

    Examples
    --------
    >>> is_far_from_zero(Integer(1024, 2047)), is_far_from_zero(Integer(16, 127))
    (True, False)
    """
    lower, upper = bounds(column)
    near, far = sorted((abs(lower), abs(upper)))
    return lower * upper > 0 and far <= FAR_RATIO * near


def within(column: Column, cells: NumberCells) -> Column:
    """Return a column with the ends of its cells as bounds.

    Examples
    --------
    >>> within(Integer(1024, 2047), NumberCells(np.array([1989.5, 2020.5]), False, 1.0))
    Integer(lower=1990, upper=2020, nullable=True, parse=False)
    """
    half = 0.5 * (cells.step or 0.0)
    ends = float(cells.edges[0]) + half, float(cells.edges[-1]) - half
    if isinstance(column, Datetime):
        low, high = (EPOCH + pd.Timedelta(seconds=end) for end in ends)
        return replace(column, lower=low, upper=high)
    if isinstance(column, Integer):
        return replace(column, lower=round(ends[0]), upper=round(ends[1]))
    assert isinstance(column, Numeric)
    return replace(column, lower=round(ends[0], 9), upper=round(ends[1], 9))


def trimmed(
    cells: NumberCells, counts: Floats, noise_std: float
) -> tuple[NumberCells, Floats]:
    """Return the cells between the outermost that look full, and their counts.

    Runs of cells whose sum stands out are the core. It grows by neighbouring runs that
    look full, for which the more evidence is asked the wider the range would get; rows
    beyond are counted in the end cells. Without a core nothing is trimmed.

    Examples
    --------
    >>> cells = NumberCells(np.arange(9.0), nullable=False)
    >>> counts = np.array([0.3, -0.2, 90.0, 80.0, 7.0, 2.5, 0.1, -0.4])
    >>> trimmed(cells, counts, 0.5)[0].edges.tolist()
    [2.0, 3.0, 4.0, 5.0, 6.0, 7.0]
    """
    n, edges = cells.n_known, cells.edges
    sums = np.concatenate([[0.0], np.cumsum(counts[:n])])
    core = _core(sums, noise_std)
    if core is None:
        return cells, counts
    first, last = core
    has_grown = True
    while has_grown:
        before = first, last
        last = _further(edges, sums, noise_std, first, last)
        mirrored = -edges[::-1], sums[-1] - sums[::-1]
        first = n - _further(*mirrored, noise_std, n - last, n - first)
        has_grown = before != (first, last)
    first, last = _with_margin(edges, sums, first, last)
    kept = counts[first:last].copy()
    kept[0] += sums[first]
    kept[-1] += sums[n] - sums[last]
    inside = replace(cells, edges=edges[first : last + 1])
    return inside, np.concatenate([kept, counts[n:]])


def _core(sums: Floats, noise_std: float) -> tuple[int, int] | None:
    """Return the first and last cell of the shortest runs that surely hold rows."""
    n = len(sums) - 1
    widths = 2 ** np.arange(int(np.log2(n)) + 1)
    stds = float(norm.isf(FALSE_ALARM / (n * len(widths))))
    is_core = np.zeros(n, dtype=bool)
    for width in widths:
        totals = sums[width:] - sums[:-width]
        limit = max(stds * noise_std * float(np.sqrt(width)), 0.5)
        order: Any = np.argsort(-totals)
        for start in order[: int((totals > limit).sum())]:
            if not is_core[start : start + width].any():
                is_core[start : start + width] = True
    found = np.flatnonzero(is_core)
    return (int(found[0]), int(found[-1]) + 1) if len(found) else None


def _with_margin(edges: Floats, sums: Floats, first: int, last: int) -> tuple[int, int]:
    """Add a tenth of the range to an end that thins out; rows beyond are too few."""
    total = sums[last] - sums[first]
    tenth = (edges[last] - edges[first]) / 10
    low = int(np.searchsorted(edges, edges[first] + tenth))
    high = int(np.searchsorted(edges, edges[last] - tenth))
    if sums[last] - sums[high] < TAPERED * total:
        last = min(int(np.searchsorted(edges, edges[last] + tenth)), len(edges) - 1)
    if sums[low] - sums[first] < TAPERED * total:
        first = max(int(np.searchsorted(edges, edges[first] - tenth)), 0)
    return first, last


def _further(
    edges: Floats, sums: Floats, noise_std: float, first: int, last: int
) -> int:
    """Return how far up the range reaches if full runs above it are added once."""
    n = len(sums) - 1
    span = edges[last] - edges[first]
    width = 1
    while last + width <= n:
        wider = (edges[last + width] - edges[first]) / span
        stds = next((std for most, std in STDS.items() if wider <= most), BEYOND)
        full = sums[last + width] - sums[last]
        if full > max(stds * noise_std * float(np.sqrt(width)), 0.5):
            return last + width
        width *= 2
    return last
