"""From a number line to bins: which cells are merged, and the range of the values.

Everything here reads RELEASED counts only.
"""

import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.stats import norm

from skdpgen.tables._cells import LEAST_MAGNITUDE, Cells, MixedCells, NumberCells
from skdpgen.tables._columns import (
    EXACT_WHOLE,
    NUMBERS,
    RESOLUTIONS,
    Column,
    Datetime,
    Integer,
    Numeric,
)
from skdpgen.tables._layout import EPOCH, Kind, times_at
from skdpgen.tables._line import (
    END_OF_TIME,
    FIRST_TIME,
    SURE_STDS,
    WIDENING_STDS,
    Flags,
    Line,
    chance_of_times,
    cut,
    ends_of_times,
    octave_edges,
    on_lattice_edges,
    spans_of,
    time_of_chance,
)
from skdpgen.tables._line_rows import (
    BELL_STDS,
    chances_of_bells,
    how_usual,
    median,
    usual_sizes,
)
from skdpgen.tables._values import Floats

LONE_VALUE_RATIO = 4.0  # to both neighbours: such a part holds one frequent value

BELL_END = 2.0  # of these stds above its middle, a bell holds hardly any rows
# Chances that the rows of a gap end by some cell: there the range ends, and the cells
# beyond it. Rows that lie further are drawn too near, rows that are drawn too far do
# more harm.
EARLY_END, LIKELY_END = 0.1, 0.5

# Which cells are inside the range.
MOST_BEYOND = 0.95  # of usual numbers and times: the cells beyond a range end there
CHANCE_OF_ANY = 1e-3  # probability that noise alone fills any cell of a line
OCTAVE_STDS, OTHER_SIGN_STDS = 3.0, 4.0  # of a whole octave, of each sign
HALF_OF_OPEN = 0.5  # of the rows there
HARDLY_ANY = 2e-4  # part of the rows below which an end cell is left out of the range
# Relative growth of the range, and the evidence in noise stds that it needs.
GROWTH_EVIDENCE = {0.1: 1.25, 0.25: 1.75, 0.5: 2.25, 1.0: 2.75}
GAP_WIDTH, GAP_STDS = 0.1, 1.5  # an empty stretch: part of the range, and noise stds
# Between public bounds, a stretch that is left out: its width, in that of the rest, and
# the noise stds by which its rows are surely few. An end is shortened in some steps.
WIDE_STRETCH, SURELY_FEW_STDS, SHORTENINGS = 2.0, 2.0, 32
EACH_STDS = 4.0  # of rows that show together in n cells, times the root of n
OUTWARD_OCTAVES = (1, 1, 2, 2, 4)  # widths of the cells beyond the range
FURTHEST_NUMBER = 2.0**129


def bins_of(
    line: Line,
    rows: Floats,
    mass: float,
    *,
    nullable: bool,
    has_gaps: bool = True,
    later_noise: float = math.inf,
) -> NumberCells:
    """Merge cells into bins of about equal mass; empty stretches become gaps.

    Parameters
    ----------
    line : Line
    rows : ndarray
        From :func:`smoothed`.
    mass : float
        Rows that a bin should hold.
    nullable : bool
    has_gaps : bool, default=True
        Whether empty stretches and both ends are cells of their own. No row is drawn
        in a gap, except if a later release finds rows there.
    later_noise : float, default=inf
        Noise of the release that counts these cells. A gap at an end, or a doubtful
        stretch, is divided into as many cells as its rows can exceed that noise in, so
        the release shows how far the rows extend. If infinite, each gap is one cell.
    """
    is_empty = _empty_stretches(line, rows)
    first, last = _support(is_empty)
    edges, gaps = [float(line.edges[first])], []
    stretches: list[tuple[float, list[int]]] = []  # evidence, and bins
    single = line.is_single()
    changes = (first + 1 + np.flatnonzero(np.diff(is_empty[first:last]))).tolist()
    for k, stop in pairwise([first, *changes, last]):
        before = len(edges) - 1
        if is_empty[k] and has_gaps:
            gaps.append(before)
            edges.append(float(line.edges[stop]))
        else:
            edges += _bin_edges(line, rows, single, k, stop, mass)
            evidence = float(line.counts[k:stop].sum())
            evidence /= max(line.noise(k, stop), 1e-300)
            stretches.append((evidence, list(range(before, len(edges) - 1))))
    if has_gaps:  # an isolated stretch must exceed the noise of a later release
        surest = max(stretches)[0]
        doubtful = [b for z, b in stretches if z < min(SURE_STDS, surest)]
        # With few rows only wide bins exceed the noise: drop the edges between them.
        dropped: set[int] = set()
        for bins in doubtful if math.isfinite(later_noise) else ():
            stretch_rows = _rows_of_bins(line, rows, edges, bins)
            dropped |= {*bins} - {
                *_thinned(bins, _most_cells(stretch_rows, later_noise))
            }
        gaps = sorted({*gaps, *(place for bins in doubtful for place in bins)})
        gaps = [
            gap - sum(k <= gap for k in dropped) for gap in gaps if gap not in dropped
        ]
        edges = [edge for k, edge in enumerate(edges) if k not in dropped]
    cells = np.array(edges)
    if has_gaps:
        below, above = _outer_ends(line, cells)
        upper_ends = _outer_cells(line, rows, last, above, later_noise)
        mirrored_ends = _outer_cells(
            _mirrored(line), rows[::-1], line.n_cells - first, -below, later_noise
        )
        lower_ends = [-edge for edge in reversed(mirrored_ends)]
        n_below, n_inside = len(lower_ends), len(cells) - 1
        cells = np.concatenate([lower_ends, cells, upper_ends])
        gaps = [gap + n_below for gap in gaps]
        outer = range(n_below + n_inside, len(cells) - 1)
        gaps = [*range(n_below), *gaps, *outer]
    origin = 0.0
    return NumberCells(
        cells, nullable, line.step, origin, line.is_time, gaps=tuple(gaps)
    )


def bins_between(
    line: Line, rows: Floats, mass: float, *, nullable: bool
) -> NumberCells:
    """Merge the cells between public bounds; end cells include values outside.

    Bounds may be a thousand times as wide as the values. The bins of a wide stretch
    that is probably empty are gaps, from edge to edge: no row is drawn there, except if
    a later release finds rows. The arguments are those of :func:`bins_of`.
    """
    is_empty = _wide_stretches(line, _empty_stretches(line, rows))
    edges, gaps, single = [float(line.edges[1])], list[int](), line.is_single()
    for is_gap, cells in spans_of(is_empty[1:-1].astype(np.int64)):
        before = len(edges) - 1
        edges += _bin_edges(line, rows, single, cells.start + 1, cells.stop + 1, mass)
        gaps += range(before, len(edges) - 1) if is_gap else ()
    return NumberCells(
        np.array(edges), nullable, line.step, 0.0, line.is_time, gaps=tuple(gaps)
    )


def _wide_stretches(line: Line, is_empty: Flags) -> Flags:
    """Return which of the empty cells between public bounds are in wide stretches.

    Rows drawn by mistake in a narrow stretch do little harm. A wide one is twice as
    wide as all cells together that are in none. It must surely hold less than half of
    the rows: if they are few, noise hides them. An end is shortened until it does.
    """
    n, is_left_out = line.n_cells - 1, np.zeros(line.n_cells, dtype=bool)
    half = HALF_OF_OPEN * float(line.counts[1:n].sum())

    def holds_few(start: int, stop: int) -> bool:
        most = SURELY_FEW_STDS * line.noise(start, stop)
        return float(line.counts[start:stop].sum()) + most <= half

    for is_stretch, cells in spans_of(is_empty[1:n].astype(np.int64)):
        start, stop = cells.start + 1, cells.stop + 1
        step = 1 + (stop - start) // SHORTENINGS
        if not is_stretch:
            continue
        shorter = [(start, stop)]
        if stop == n:
            shorter = [(k, n) for k in range(start, n, step)]
        elif start == 1:
            shorter = [(1, k) for k in range(stop, 1, -step)]
        for first, last in shorter:
            if holds_few(first, last):
                is_left_out[first:last] = True
                break
    widths = np.diff(line.edges)
    widest = WIDE_STRETCH * float(widths[1:n][~is_left_out[1:n]].sum())
    for is_stretch, cells in spans_of(is_left_out[1:n].astype(np.int64)):
        stretch = slice(cells.start + 1, cells.stop + 1)
        if is_stretch and float(widths[stretch].sum()) < widest:
            is_left_out[stretch] = False
    return is_left_out


def _empty_stretches(line: Line, rows: Floats) -> Flags:
    """Return which cells are empty: both ends, and wide stretches between.

    The range starts at the outermost cells that surely hold rows, and grows by
    stretches that probably hold rows. Wider growth needs more evidence: an empty
    stretch inside makes the range too wide, while rows left outside still have one
    coarse cell. A stretch between two occupied cells is empty if it is wide or contains
    a gap, and its count does not exceed the noise.
    """
    full = np.flatnonzero(_occupied_cells(line, rows))
    first, last = int(full[0]), int(full[-1]) + 1
    last = _range_end(line, first, last)
    n = line.n_cells
    first = n - _range_end(_mirrored(line), n - last, n - first)
    is_empty = np.ones(n, dtype=bool)
    is_empty[first:last] = False
    span = line.edges[last] - line.edges[first]
    for before, after in pairwise(full[(full >= first) & (full < last)].tolist()):
        start = before + 1
        if start == after:
            continue
        width = float(line.edges[after] - line.edges[start]) / span
        is_gap = bool((~line.is_open[start:after]).any())
        if is_gap or width > GAP_WIDTH:
            total = float(line.counts[start:after].sum())
            is_thin = total <= max(GAP_STDS * line.noise(start, after), 0.5)
            is_empty[start:after] = is_thin
    return is_empty


def _occupied_cells(line: Line, rows: Floats) -> Flags:
    """Return which cells surely hold rows, alone or between octaves that do.

    Noise alone passes in one of a thousand lines. If single cells explain less than
    half of the rows, whole octaves whose sums exceed the noise are taken, and without
    any such octave the fullest cell.
    """
    stds, n = np.sqrt(line.variances), line.n_cells
    z = np.where(stds > 0, line.counts / np.maximum(stds, 1e-300), line.counts * 1e9)
    z[[0, -1]] = -np.inf
    sure = float(norm.isf(CHANCE_OF_ANY / n))
    is_full = line.is_open & (z > sure) | (z > max(sure, SURE_STDS))
    groups = line.sums[0][0] if line.sums else np.arange(n)
    octaves = []
    is_positive = float(line.counts[line.is_open & (line.edges[:-1] >= 0)].sum()) >= (
        HALF_OF_OPEN * float(line.counts[line.is_open].sum())
    )
    for _, cells in spans_of(groups):
        if not line.is_open[cells].any():
            continue
        noise = line.noise(cells.start, cells.stop)
        is_usual = (line.edges[cells.start] >= 0) == is_positive or line.is_time
        evidence = OCTAVE_STDS if is_usual else OTHER_SIGN_STDS
        if float(line.counts[cells].sum()) > max(evidence * noise, 0.5):
            octaves.append(cells)
    for _, family in spans_of(line.families):
        if line.is_open[family.start]:
            total = float(line.counts[family].sum())
            if total > sure * max(line.noise(family.start, family.stop), 1e-300):
                is_full[family] |= rows[family] > 0
    if float(line.counts[is_full].sum()) < HALF_OF_OPEN * float(
        line.counts[line.is_open].sum()
    ):
        inside = np.flatnonzero(line.is_open)
        octave_rows = sum(float(line.counts[octave].sum()) for octave in octaves)
        if len(inside) and octave_rows < HALF_OF_OPEN * float(
            line.counts[line.is_open].sum()
        ):
            octaves = [slice(int(inside[0]), int(inside[-1]) + 1)]
        is_full[:] = False
    for octave in octaves[1:-1] if is_full.any() else octaves:
        is_full[octave] = True
    is_full[[0, -1]] = False
    if not is_full.any():
        is_full[_likeliest_cell(line, z)] = True
    return np.asarray(is_full)


def _likeliest_cell(line: Line, z: Floats) -> int:
    """Return where to start if no cell surely holds rows.

    There are a thousand cells up to 1e300, so the fullest is often one of pure noise.
    Each is weighed with how usual numbers of its size are. Times are all usual.
    """
    zero = int(np.searchsorted(line.edges, 0.0, side="right")) - 1
    inside = np.arange(1, line.n_cells - 1)
    inside = inside[line.counts[inside] > 0]
    if not len(inside):
        return zero
    fit = z[inside] ** 2 / 2 + np.log(how_usual(line, inside))
    return int(inside[fit.argmax()])


def _mirrored(line: Line) -> Line:
    """Return the line with all signs reversed: its upper end is the lower one here."""
    return replace(
        line,
        edges=-line.edges[::-1],
        counts=line.counts[::-1],
        variances=line.variances[::-1],
        is_open=line.is_open[::-1],
        sums=tuple((g[::-1], v[::-1], s[::-1]) for g, v, s in line.sums),
    )


def _range_end(line: Line, first: int, last: int) -> int:
    """Return the upper end of the range after stretches above it are added.

    A stretch has 1, 2, 4, ... cells, or extends to the end of a group of cells. The sum
    of a group has less noise than its cells. A gap that surely holds rows is added up
    to where nearly all of them are.
    """
    n, edges = line.n_cells - 1, line.edges  # the last cell has no end
    span = float(edges[last] - edges[first])
    zero = _end_of_zero(line, 0.6)
    ends, starts = {n}, [n]
    if line.sums:  # sums over whole groups start at these cells
        starts = (np.flatnonzero(np.diff(line.sums[-1][0])) + 1).tolist()
    for groups, _, _ in line.sums:
        ends |= set((np.flatnonzero(np.diff(groups)) + 1).tolist())
    gaps = [gap for gap in _divided_gaps(line) if _is_sure(line, gap)]
    has_grown = True
    while has_grown and last < n:
        has_grown = False
        inside = [gap.stop for gap in gaps if gap.start <= last < gap.stop]
        ahead = [gap for gap in gaps if gap.start >= last]
        begin = inside[0] if inside else last  # a gap ends where its rows do
        limit = ahead[0].start if ahead else n
        lengths = [begin + 2**k for k in range(12) if begin + 2**k < n]
        groups_end = [end for end in sorted(ends) if end > begin][:24]
        after = min((start for start in starts if start >= begin), default=n)
        for stop in sorted({*lengths, *groups_end}):
            if stop > limit:
                break
            growth = float(edges[stop] - edges[last]) / max(span, 1e-300)
            threshold = next(
                (s for width, s in GROWTH_EVIDENCE.items() if growth <= width),
                WIDENING_STDS,
            )
            if edges[last] <= zero < edges[stop]:
                threshold = (
                    SURE_STDS if edges[first] < -zero else threshold
                )  # another sign
            if _exceeds_noise(line, begin, stop, threshold) or (
                after < stop and _exceeds_noise(line, after, stop, threshold)
            ):
                last, has_grown = stop, True
                break
        if not has_grown and ahead:
            last, has_grown = _end_in_gap(line, ahead[0], EARLY_END), True
        span = float(edges[last] - edges[first])
    return last


def _divided_gaps(line: Line) -> list[slice]:
    """Return the finite cells of each gap whose count exceeded the noise."""
    gaps = []
    if line.sums:
        for _, cells in spans_of(line.sums[-1][0]):
            start, stop = max(cells.start, 1), min(cells.stop, line.n_cells - 1)
            if stop - start > 1 and not line.is_open[start]:
                gaps.append(slice(start, stop))
    return gaps


def _is_sure(line: Line, gap: slice) -> bool:
    """Return whether a gap surely holds rows, if not in which of its cells.

    It was counted as one cell, so its sum has little noise, but its parts have much.
    """
    _, variances, sums = line.sums[-1]
    std = math.sqrt(float(variances[gap.start]))
    return float(sums[gap.start]) > max(WIDENING_STDS * std, 0.5)


def _end_in_gap(line: Line, gap: slice, chance: float) -> int:
    """Return the cell from which on a gap holds hardly any rows, with a ``chance``.

    The larger it is, the farther the cell, if counts do not show where its rows are.
    """
    counts, places = line.counts[gap], np.arange(gap.stop - gap.start)
    std = median(np.sqrt(line.variances[gap]))
    if not std:
        return gap.start + int(places[counts > 0].max(initial=0)) + 1
    are_usual = how_usual(line, np.arange(gap.start, gap.stop))
    chances = chances_of_bells(counts, std, are_usual, max(float(counts.sum()), 0.0))
    ends = np.ceil(places + BELL_END * np.array(BELL_STDS)[:, None]).astype(np.int64)
    ends = np.minimum(ends, len(counts) - 1)
    before = np.cumsum(np.bincount(ends.ravel(), chances.ravel()))
    return gap.start + int(np.searchsorted(before, chance)) + 1


def _exceeds_noise(line: Line, start: int, stop: int, stds: float) -> bool:
    """Return whether the sum of a stretch exceeds ``stds`` of its noise."""
    rows = float(line.counts[start:stop].sum())
    return rows > max(stds * line.noise(start, stop), 0.5)


def _end_of_zero(line: Line, part: float) -> float:
    """Return from where on numbers are positive; times have no sign."""
    if line.is_time:
        return math.inf
    return part * line.step if line.step else 0.0


def _support(is_empty: Flags) -> tuple[int, int]:
    """Return the first occupied cell, and the one after the last."""
    full = np.flatnonzero(~is_empty)
    return int(full[0]), int(full[-1]) + 1


def _outer_ends(line: Line, cells: Floats) -> tuple[float, float]:
    """Return the outer ends of the two outer gaps, about an octave beyond the range.

    An edge of the line near that point is preferred: then there are counts of the rows
    beyond it.
    """
    lower, upper = float(cells[0]), float(cells[-1])
    span = upper - lower
    zero = _end_of_zero(line, 0.5)
    room = max(0.25 * span, line.step or 0.0)
    below = lower - max(0.5 * abs(lower), room)
    above = upper + max(0.5 * abs(upper), room)
    if lower > -zero and lower >= zero:  # a range of one sign keeps it
        below = max(below, -zero)
    if upper < zero and upper <= -zero:
        above = min(above, zero)
    ends = line.edges[1:-1]
    below = _nearest_end(ends[ends < lower], below, line.step, lower)
    above = _nearest_end(ends[ends > upper], above, line.step, upper)
    return max(below, -FURTHEST_NUMBER), min(above, FURTHEST_NUMBER)


def _outer_cells(
    line: Line, rows: Floats, last: int, above: float, later_noise: float
) -> list[float]:
    """Return the upper ends of the cells above the range: one, or several of octaves.

    There are as many cells as their rows can exceed the noise in together. They are
    where ``rows`` are, if a gap there was divided. The range keeps its sign.
    """
    starts = last, int(np.searchsorted(line.edges[:-1], above))
    most_rows = max(
        float(line.counts[k:].sum()) + line.noise(k, line.n_cells) for k in starts
    )
    n_cells = min(_most_cells(most_rows, later_noise), len(OUTWARD_OCTAVES))
    zero, highest = _end_of_zero(line, 0.5), FURTHEST_NUMBER
    if float(line.edges[last]) <= -zero:
        highest = zero
    if n_cells < 2:
        return [above]
    likely = _ends_by_rows(line, rows, last, n_cells - 1)
    is_zero = 0.0 <= float(line.edges[last]) <= max(zero, LEAST_MAGNITUDE)
    if not likely and (line.is_time or is_zero):
        likely = _ends_as_usual(line, above, n_cells - 1)
    if likely:
        return [above, *(end for end in likely if above < end < highest)]
    octaves = octave_edges(Kind.DATETIME if line.is_time else Kind.FLOAT)
    octaves = np.unique(on_lattice_edges(octaves, line.step))
    ends = octaves[(octaves > above) & (octaves < highest)]
    places = np.cumsum(OUTWARD_OCTAVES)[: n_cells - 1] - 1
    edges = [above, *ends[places[places < len(ends)]].tolist()]
    if edges[-1] < highest < FURTHEST_NUMBER:
        edges[max(len(edges) - 1, 1) :] = [highest]
    return edges


def _ends_as_usual(line: Line, above: float, n_cells: int) -> list[float]:
    """Return the ends of cells beyond a range that says nothing of their size."""
    if line.is_time:
        before = float(chance_of_times(above))
        most = float(time_of_chance(before + MOST_BEYOND * (1.0 - before)))
        ends = ends_of_times(above, most, n_cells)
    else:
        edges = octave_edges(Kind.FLOAT)
        edges = edges[(edges > above) & np.isfinite(edges)]
        sizes = usual_sizes(edges)
        before = np.cumsum(sizes) / sizes.sum()
        parts = MOST_BEYOND * np.arange(1, n_cells + 1) / n_cells
        ends = edges[np.searchsorted(before, parts)]
    return np.unique(on_lattice_edges(ends, line.step)).tolist()


def _ends_by_rows(line: Line, rows: Floats, last: int, n_cells: int) -> list[float]:
    """Return the ends of cells of equally many rows, in a gap above the range.

    If no gap there was divided, nothing shows where its rows are: there are none.
    """
    gaps = [gap for gap in _divided_gaps(line) if gap.stop > last]
    if not gaps:
        return []
    start = max(gaps[0].start, last)
    end = max(_end_in_gap(line, gaps[0], LIKELY_END), start + 1)
    before = np.cumsum(rows[start:end])
    if before[-1] <= 0:
        return []
    parts = before[-1] * np.arange(1, n_cells) / n_cells
    places = [*(start + np.searchsorted(before, parts)).tolist(), end - 1]
    return np.unique(line.edges[np.array(places) + 1]).tolist()


def _most_cells(rows: float, noise: float) -> int:
    """Return the number of cells in which rows still exceed the noise together."""
    if not noise:
        return 2**20 if rows > 0 else 1
    return int(min(max(rows / (EACH_STDS * noise), 1.0) ** 2, 2**20))


def _rows_of_bins(
    line: Line, rows: Floats, edges: list[float], bins: list[int]
) -> float:
    """Return the rows of a run of bins."""
    ends = edges[bins[0]], edges[bins[-1] + 1]
    start, stop = np.searchsorted(line.edges, ends)
    return float(rows[start:stop].sum())


def _thinned(bins: list[int], most: int) -> list[int]:
    """Return at most ``most`` of a run of bins, evenly spaced, with the first one."""
    step = -(-len(bins) // most)
    return bins[::step]


def _nearest_end(
    ends: Floats, wanted: float, step: float | None, start: float
) -> float:
    """Return the edge nearest to ``wanted``, or ``wanted`` if none is near."""
    if len(ends):
        nearest = float(ends[np.abs(ends - wanted).argmin()])
        if abs(nearest - start) >= 0.5 * abs(wanted - start):
            return nearest
    if step is None:
        return wanted
    n_values = max(round(abs(wanted - start) / step), 1)
    return start + math.copysign(n_values * step, wanted - start)


def _bin_edges(
    line: Line, rows: Floats, single: Flags, start: int, stop: int, mass: float
) -> list[float]:
    """Return the upper edges of the bins between two cells."""
    edges: list[float] = []
    left = float(line.edges[start])
    bin_rows, was_single = 0.0, False

    def close(edge: float) -> None:
        if edge > (edges[-1] if edges else left):
            edges.append(edge)

    holds = start + np.flatnonzero((rows[start:stop] > 0) | (mass <= 0))  # others pass
    cells = holds, line.edges[holds], line.edges[holds + 1], rows[holds]
    # numbers of Python: there may be thousands
    for k, a, b, row in zip(*(part.tolist() for part in cells), strict=True):
        is_full = row > 0.5 * mass
        is_spike = is_full and (single[k] or _is_spike(line, rows, k))
        if row >= mass or is_spike:
            close(a)
            parts = math.ceil(row / mass) if line.is_time or not is_spike else 1
            inner = cut(a, b, parts, line.step)
            if is_spike and not single[k]:
                value = np.array(_single_value_edges(roundest(a, b, line), line))
                # a time that rows share need not be round: the parts stay
                inner = np.union1d(inner, value) if line.is_time else value
            for edge in inner:
                close(float(edge))
            close(b)
            bin_rows, was_single = 0.0, bool(is_spike)
        elif bin_rows + row >= mass:
            close(b)
            bin_rows, was_single = 0.0, False
        else:
            bin_rows += row
    last = float(line.edges[stop])
    if not edges or edges[-1] < last:
        if bin_rows < 0.5 * mass and len(edges) > 1 and not was_single:
            edges.pop()
        edges.append(last)
    return edges


def summary_of(cells: NumberCells, kind: Kind, *, nullable: bool) -> Column:
    """Describe a discovered column by its cells: type, range and decimals.

    Examples
    --------
    >>> edges = np.array([0.0, 1988.5, 2020.5, 3e3])
    >>> years = NumberCells(edges, False, 1.0, gaps=(0, 2))
    >>> summary_of(years, Kind.INTEGER, nullable=False)
    Integer(lower=1989, upper=2020, nullable=False, parse=False)
    """
    full = [k for k in range(cells.n_known) if k not in cells.gaps]
    lower, upper = float(cells.edges[full[0]]), float(cells.edges[full[-1] + 1])
    if cells.step is not None:
        half = 0.5 * cells.step
        lower, upper = lower + half, upper - half
    if kind is Kind.DATETIME:
        ends = times_at(np.clip([lower, upper], FIRST_TIME, END_OF_TIME - 1.0))
        low, high = (time.isoformat() for time in ends)
        units = {step: name for name, step in RESOLUTIONS.items()}
        resolution = None if cells.step is None else units[cells.step]
        return Datetime(low, high, resolution, nullable)
    if cells.step == 1.0 and max(abs(lower), abs(upper)) <= EXACT_WHOLE:
        return Integer(round(lower), round(upper), nullable=nullable)
    decimals = None if cells.step is None else round(-math.log10(cells.step))
    if decimals is not None:
        lower, upper = round(lower, decimals), round(upper, decimals)
    return Numeric(lower + 0.0, upper + 0.0, decimals, nullable=nullable)  # no -0.0


def _is_spike(line: Line, rows: Floats, k: int) -> bool:
    """Return whether a fine part holds many more rows than both neighbours."""
    if not 0 < k < line.n_cells - 1:
        return False
    width, neighbour_rows = (
        line.edges[k + 1] - line.edges[k],
        max(rows[k - 1], rows[k + 1]),
    )
    neighbour_width = max(
        line.edges[k] - line.edges[k - 1], line.edges[k + 2] - line.edges[k + 1]
    )
    is_fine = line.families[k] in (line.families[k - 1], line.families[k + 1])
    return bool(
        is_fine
        and rows[k] > LONE_VALUE_RATIO * neighbour_rows
        and width <= 2 * neighbour_width
    )


def roundest(lower: float, upper: float, line: Line) -> float:
    """Return the roundest value of an interval: that which rows share most often.

    The roundest time begins a year, or else a month, a day, and so on.

    Examples
    --------
    >>> from skdpgen.tables import line_between
    >>> line = line_between(Numeric(0, 1))
    >>> roundest(199_999.5, 200_007.5, line), roundest(0.2461, 0.2579, line)
    (200000.0, 0.25)
    """
    if line.is_time:
        return _roundest_time(lower, upper, line.step)
    if lower <= 0 < upper:
        return 0.0
    exponent = math.ceil(math.log10(max(abs(lower), abs(upper))))
    for digits in range(17):
        for part in (1.0, 0.5, 0.25, 0.2, 0.1):
            unit = part * 10.0 ** (exponent - digits)
            if line.step is not None and unit < line.step * 0.99:
                continue
            number = float(f"{math.ceil(lower / unit - 1e-9) * unit:.12g}")
            if lower <= number < upper:
                return number
    return lower if line.step is None else lower + 0.5 * line.step


def _roundest_time(lower: float, upper: float, step: float | None) -> float:
    """Return the time of an interval that begins the longest unit, in seconds."""
    first = EPOCH.to_datetime64() + np.timedelta64(math.ceil(lower * 1e6), "us")
    for unit in ("Y", "M", "D", "h", "m", "s"):
        start = first.astype(f"datetime64[{unit}]")
        start += start.astype("datetime64[us]") < first
        seconds = float((start - EPOCH.to_datetime64()) / np.timedelta64(1, "s"))
        if lower <= seconds < upper:
            return seconds
    return lower if step is None else lower + 0.5 * step


def _single_value_edges(value: float, line: Line) -> tuple[float, float]:
    """Return the edges of a cell that holds a single value."""
    if line.step is None:
        return value, float(np.nextafter(value, np.inf))
    return value - 0.5 * line.step, value + 0.5 * line.step


def with_range_of(column: Column, cells: Cells, marginal: Floats) -> Column:
    """Return a discovered column with the range of its occupied cells.

    Parameters
    ----------
    column : Numeric, Integer or Datetime
    cells : Cells
    marginal : ndarray
        RELEASED and denoised rows of each cell.
    """
    numbers = cells.numbers if isinstance(cells, MixedCells) else cells
    if not isinstance(numbers, NumberCells) or not isinstance(column, NUMBERS):
        return column
    if isinstance(column, Datetime) and column.is_time_of_day:
        return column
    counts = marginal[: numbers.n_known]
    full = np.flatnonzero(counts > HARDLY_ANY * float(counts.sum()))
    if not numbers.gaps or not len(full):
        return column
    empty = set(range(numbers.n_known)) - set(range(int(full[0]), int(full[-1]) + 1))
    kind = Kind.DATETIME if isinstance(column, Datetime) else Kind.FLOAT
    shown = replace(numbers, gaps=tuple(sorted(empty)))
    summary: Any = summary_of(shown, kind, nullable=column.nullable)
    lower, upper = summary.lower, summary.upper
    if isinstance(column, Numeric) and column.decimals is not None:  # may be stated
        lower, upper = round(lower, column.decimals), round(upper, column.decimals)
    return replace(column, lower=lower, upper=upper)


def without_outer_gaps(cells: NumberCells) -> NumberCells:
    """Return the cells without outer gaps, whose rows go to the end cells."""
    outer = {0, cells.n_known - 1} & set(cells.gaps)
    first, last = int(0 in outer), cells.n_known - int(cells.n_known - 1 in outer)
    gaps = tuple(gap - first for gap in cells.gaps if gap not in outer)
    return replace(cells, edges=cells.edges[first : last + 1], gaps=gaps)


def outside_of(line: Line, cells: NumberCells) -> tuple[float, float, float, float]:
    """Return rows below and above all cells, and the noise of both.

    They are NaN where the outermost edge is no edge of the line.
    """
    first = int(np.searchsorted(line.edges, cells.edges[0]))
    last = int(np.searchsorted(line.edges, cells.edges[-1]))
    estimates = [math.nan] * 4
    if 0 < first < line.n_cells and line.edges[first] == cells.edges[0]:
        estimates[0], estimates[2] = (
            float(line.counts[:first].sum()),
            line.noise(0, first),
        )
    if 0 < last < line.n_cells and line.edges[last] == cells.edges[-1]:
        estimates[1] = float(line.counts[last:].sum())
        estimates[3] = line.noise(last, line.n_cells)
    below, above, below_noise, above_noise = estimates
    return below, above, below_noise, above_noise


def within_limits(column: Column, limits: tuple[float, float] | None) -> Column:
    """Clip bounds to the range of a public dtype; others would wrap when decoded.

    Examples
    --------
    >>> within_limits(Integer(-200, 99), (-128, 127))
    Integer(lower=-128, upper=99, nullable=True, parse=False)
    """
    if limits is None or not isinstance(column, NUMBERS):
        return column
    if column.lower is None or column.upper is None:
        return column
    is_time = isinstance(column, Datetime)
    given: Any = getattr(column, "seconds", (column.lower, column.upper))
    ends: dict[str, Any] = {}
    for name, end in zip(("lower", "upper"), given, strict=True):
        inside = min(max(end, limits[0]), limits[1])
        if inside != end:
            ends[name] = times_at([inside])[0].isoformat() if is_time else inside
    return replace(column, **ends)
