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
STDS = {1.25: 1.0, 2.0: 2.0, 4.0: 3.5}  # evidence by how much wider the range gets
TAPERED = 0.075  # of the rows in the outer tenth, or less: there may be more to come
SHARP = 4.0  # noise stds at which what the outer tenth holds is surely there
MISSED, BLUR = 0.01, 1.0  # of the rows are elsewhere, and so many noise stds
WIDEST = 2.5  # times the core: if no more rows are seen by then, it is noise
STEP = 0.1  # of the range is added to each end at a time
SPIKE = 0.5  # of the rows, surely elsewhere: the core is one value, not the range
WORTH_IT = 0.7  # of the range, at most, is kept; else all of it
BEYOND = 5.0  # if it would get still wider
FAR_RATIO = 8.01  # of the ends of a column, three octaves, at most


def is_far_from_zero(column: Column) -> bool:
    """Say whether magnitudes tell little of a column's range, as of years.

    Examples
    --------
    >>> is_far_from_zero(Integer(1024, 2047)), is_far_from_zero(Integer(1, 127))
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
    cells: NumberCells, counts: Floats, noise_std: float, n_rows: float
) -> tuple[NumberCells, Floats]:
    """Return the cells between the outermost that look full, and their counts.

    Runs of cells whose sum stands out are the core. It grows by neighbouring runs that
    look full, for which the more evidence is asked the wider the range would get, and
    then on until nearly all of the ``n_rows`` in the cells are inside; rows beyond are
    counted in the end cells. Without a core nothing is trimmed, nor around a value
    that only a few of the rows have, while the others are too thinly spread to be seen.

    Examples
    --------
    >>> cells = NumberCells(np.arange(9.0), nullable=False)
    >>> counts = np.array([0.3, -0.2, 90.0, 80.0, 70.0, 2.1, 0.1, -0.4])
    >>> trimmed(cells, counts, 0.5, 240.0)[0].n_cells <= 8
    True
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
    first, last = _with_margin(edges, sums, noise_std, first, last)
    first, last = _until_all_are_in(edges, sums, noise_std, first, last, n_rows)
    unseen = n_rows - (sums[last] - sums[first])
    unseen -= SHARP * noise_std * float(np.sqrt(last - first))
    is_wide = edges[last] - edges[first] > WORTH_IT * (edges[-1] - edges[0])
    if is_wide or unseen > SPIKE * n_rows:
        return cells, counts
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


def _until_all_are_in(
    edges: Floats,
    sums: Floats,
    noise_std: float,
    first: int,
    last: int,
    n_rows: float,
) -> tuple[int, int]:
    """Widen a range to both sides until it has as many rows as there are, or enough."""
    n = len(edges) - 1
    widest = WIDEST * (edges[last] - edges[first])
    while (first, last) != (0, n) and edges[last] - edges[first] < widest:
        short = n_rows - (sums[last] - sums[first])
        if short <= MISSED * n_rows + BLUR * noise_std * float(np.sqrt(last - first)):
            break
        step = STEP * (edges[last] - edges[first])
        low = int(np.searchsorted(edges, edges[first] - step))
        high = int(np.searchsorted(edges, edges[last] + step))
        first, last = min(low, max(first - 1, 0)), max(min(high, n), min(last + 1, n))
    return first, last


def _with_margin(
    edges: Floats, sums: Floats, noise_std: float, first: int, last: int
) -> tuple[int, int]:
    """Double the range beyond an end that thins out, or that noise blurs.

    Rows beyond it may be too few to be seen. An end where rows break off is kept.
    """
    total, span = sums[last] - sums[first], edges[last] - edges[first]
    low = int(np.searchsorted(edges, edges[first] + span / 10))
    high = int(np.searchsorted(edges, edges[last] - span / 10))

    def breaks_off(start: int, stop: int) -> bool:
        blur = SHARP * noise_std * float(np.sqrt(stop - start))
        return bool(sums[stop] - sums[start] > max(TAPERED * total, blur))

    ends = first, last
    if not breaks_off(high, last):
        last = min(int(np.searchsorted(edges, edges[ends[1]] + span)), len(edges) - 1)
    if not breaks_off(first, low):
        first = max(int(np.searchsorted(edges, edges[ends[0]] - span)), 0)
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
