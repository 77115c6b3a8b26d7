"""From a number line to bins: how many rows each cell holds, and where rows are.

Everything here reads RELEASED counts only.
"""

import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm

from skdpgen.tables._cells import Cells, MixedCells, NumberCells
from skdpgen.tables._columns import (
    DAY,
    NUMBERS,
    Column,
    Datetime,
    Integer,
    Numeric,
)
from skdpgen.tables._layout import EPOCH, Kind
from skdpgen.tables._line import (
    GAP_PARTS,
    LIKELY,
    REOPENED,
    SURE,
    WINDOW,
    Flags,
    Line,
    cut,
    last_of_likeliest,
    octave_edges,
    on_lattice_edges,
    spans_of,
)
from skdpgen.tables._values import Floats

SIGNIFICANT = 2.0  # noise stds by which two halves must differ from what is expected
EVEN = 0.05  # of the rows are expected anywhere, whatever public rows show
SPIKE = 4.5  # noise stds above its neighbours at which a part stands alone
ALONE = 4.0  # times the rows of its neighbours: a part that holds a shared value
CHANCE = 1e-3  # that noise makes any cell of a line look full
TOGETHER, OTHER_SIGN = 3.0, 4.0  # noise stds at which an octave holds rows after all
HALF = 0.5  # of the rows
HARDLY = 2e-4  # of the rows in a cell at an end: it is left out of the range
KEPT = {0.1: 1.25, 0.25: 1.75, 0.5: 2.25, 1.0: 2.75}  # growth of a range: noise stds
WIDE, BETWEEN = 0.1, 1.5  # of the range, and noise stds, of an empty stretch
EACH = 4.0  # noise stds times the root of the cells in which rows show together
OUTWARD = (1, 1, 2, 2, 4, 4, 8, 8)  # octaves of cells beyond the range
FURTHEST, LAST_TIME = 2.0**129, 8.2e9  # a stamp of nanoseconds can hold the latter
EXACT = 2**53  # up to here floats hold every whole number


def smoothed(coarse: Line, fine: Line, expected: Floats | None = None) -> Floats:
    """Return rows of fine cells, not negative, and even where only noise differs.

    The cells of a family share its rows: single ones that surely exceed their
    neighbours keep their own, the others are halved for as long as halves differ by
    more than noise. So are parts within octaves, and fine parts within parts.

    Parameters
    ----------
    coarse, fine : Line
        Before and after the last division.
    expected : ndarray or None, default=None
        Counts of public rows in the cells of ``fine``: what is expected of others.
    """
    outer = None
    if expected is not None:
        sums = np.bincount(fine.families, expected, minlength=coarse.n_cells)
        outer = np.asarray(sums, dtype=np.float64)
    rows = _shared(coarse, outer, None)
    return _shared(fine, expected, rows)


def _shared(line: Line, expected: Floats | None, totals: Floats | None) -> Floats:
    found, stds = np.zeros(line.n_cells), np.sqrt(line.variances)
    for family, cells in spans_of(line.families):
        start, stop = cells.start, cells.stop
        counts, std = line.counts[cells], _median(stds[cells])
        total = float(counts.sum())
        if totals is not None:
            total = float(totals[family])
        total = max(total, 0.0)
        if stop - start == 1:
            is_there = totals is not None or line.is_open[start]
            found[start] = total if is_there or total > REOPENED * std else 0.0
            continue
        is_spike = counts > _median(counts) + max(SPIKE * std, 0.5)
        shares, rest = np.where(is_spike, counts, 0.0), ~is_spike
        left = total - float(shares.sum())
        if rest.any() and left > 0:
            prior = np.ones(int(rest.sum()))  # octaves of a gap: none is likelier
            if line.is_open[start]:
                widths = np.diff(line.edges[start : stop + 1])[rest]
                prior = widths / widths.sum() + 1.0 / len(widths)
            known = None if expected is None else expected[cells][rest]
            if known is not None and known.any():
                prior = known / known.sum() + EVEN * prior / prior.sum()
            is_gradual = known is not None
            shares[rest] = tree_estimate(
                counts[rest], std, prior, left, is_gradual=is_gradual
            )
        if shares.sum() > 0:
            found[cells] = shares * (total / shares.sum())
    return found


def _median(values: Floats) -> float:
    """Return the median of a few numbers, in a tenth of the time of numpy's."""
    ordered, middle = np.sort(values), len(values) // 2
    if len(values) % 2:
        return float(ordered[middle])
    return float((ordered[middle - 1] + ordered[middle]) / 2)


def tree_estimate(
    counts: Floats,
    noise_std: float,
    prior: Floats,
    total: float | None = None,
    *,
    is_gradual: bool = False,
) -> Floats:
    """Denoise a histogram by halving it for as long as the halves tell apart.

    The sum over a node of the dyadic tree has noise ``noise_std * sqrt(cells)``. Its
    mass is shared as observed if the halves differ from the share that ``prior``
    expects by more than noise would; else as ``prior`` says. If that is worth more than
    a guess, ``is_gradual`` leaves it only as far as the difference is beyond noise.

    Examples
    --------
    >>> tree_estimate(np.array([90.0, 8.0, 1.0, 1.0]), 0.0, np.ones(4)).round().tolist()
    [90.0, 8.0, 1.0, 1.0]
    """
    sums = np.concatenate([[0.0], np.cumsum(counts)])
    base = np.concatenate([[0.0], np.cumsum(prior)])
    held = max(float(sums[-1]) if total is None else total, 0.0)
    density = np.zeros(len(counts))
    starts, stops = np.array([0]), np.array([len(counts)])
    masses = np.array([held])
    while len(starts):  # all nodes of a level of the tree at once
        ends_here = stops - starts == 1
        density[starts[ends_here]] = masses[ends_here]
        goes_on = ~ends_here & (masses > 0)
        starts, stops, masses = starts[goes_on], stops[goes_on], masses[goes_on]
        middles = (starts + stops) // 2
        left, right = sums[middles] - sums[starts], sums[stops] - sums[middles]
        expected = (base[middles] - base[starts]) / (base[stops] - base[starts])
        surplus = (1 - expected) * left - expected * right
        noise = noise_std * np.hypot(
            (1 - expected) * np.sqrt(middles - starts),
            expected * np.sqrt(stops - middles),
        )
        both, differs = left + right, np.abs(surplus) > SIGNIFICANT * noise
        shares, surely = expected.copy(), differs & (both > 0)
        shares[surely] = np.clip(left[surely] / both[surely], 0.0, 1.0)
        if is_gradual:
            pulled = (SIGNIFICANT * noise[surely] / surplus[surely]) ** 2
            shares[surely] += (expected[surely] - shares[surely]) * pulled
        starts = np.concatenate([starts, middles])
        stops = np.concatenate([middles, stops])
        masses = np.concatenate([masses * shares, masses * (1 - shares)])
    return density


def bins_of(
    line: Line,
    rows: Floats,
    mass: float,
    *,
    nullable: bool,
    has_gaps: bool = True,
    keeps_ends: bool = False,
    later_noise: float = math.inf,
) -> NumberCells:
    """Merge cells to bins of about equal mass; empty stretches become gaps.

    Parameters
    ----------
    line : Line
    rows : ndarray
        From :func:`smoothed`.
    mass : float
        Rows that a bin should hold.
    nullable : bool
    has_gaps : bool, default=True
        Whether empty stretches, the two ends among them, are cells of their own, in
        which no row is drawn unless a later release shows that there are some.
    keeps_ends : bool, default=False
        Whether the ends of the line are public and stay.
    later_noise : float, default=inf
        Of the release that counts these cells. A gap at an end, or a stretch that may
        hold rows, is as many cells as that release can show its rows in. So it tells
        how far they reach. If it is infinite, gaps are one cell, and stretches stay.
    """
    is_empty = np.zeros(line.n_cells, dtype=bool)
    if not keeps_ends:
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
            edges += _merged(line, rows, single, k, stop, mass)
            evidence = float(line.counts[k:stop].sum())
            evidence /= max(line.noise(k, stop), 1e-300)
            stretches.append((evidence, list(range(before, len(edges) - 1))))
    if has_gaps:  # what stands apart must show once more
        surest = max(stretches)[0]
        doubtful = [b for z, b in stretches if z < min(SURE, surest)]
        gone: set[int] = set()  # of so few rows, bins as narrow would not show
        for places in doubtful if math.isfinite(later_noise) else ():
            held = _held(line, rows, edges, places)
            gone |= {*places} - {*_fewer(places, _most_cells(held, later_noise))}
        gaps = sorted({*gaps, *(place for places in doubtful for place in places)})
        gaps = [gap - sum(k <= gap for k in gone) for gap in gaps if gap not in gone]
        edges = [edge for k, edge in enumerate(edges) if k not in gone]
    cells = np.array(edges)
    if has_gaps:
        below, above = _beyond(line, cells)
        beyond = _outward(line, last, above, later_noise)
        ends = _outward(_mirrored(line), line.n_cells - first, -below, later_noise)
        beneath = [-edge for edge in reversed(ends)]
        n_below, n_inside = len(beneath), len(cells) - 1
        cells = np.concatenate([beneath, cells, beyond])
        gaps = [gap + n_below for gap in gaps]
        outer = range(n_below + n_inside, len(cells) - 1)
        gaps = [*range(n_below), *gaps, *outer]
    origin = 0.0
    return NumberCells(
        cells, nullable, line.step, origin, line.is_time, gaps=tuple(gaps)
    )


def _empty_stretches(line: Line, rows: Floats) -> Flags:
    """Say which cells are left out as empty: both ends, and wide stretches between.

    From the outermost cells that surely hold rows the range grows by stretches that
    seem to hold some. The wider it would get, the more evidence that takes: an empty
    stretch that is kept makes the range too wide, one with rows that is left out
    remains one coarse cell. A stretch between two cells is left out if noise explains
    it and it is wide, or holds a gap.
    """
    full = np.flatnonzero(_hold_rows(line, rows))
    first, last = int(full[0]), int(full[-1]) + 1
    last = _reach(line, first, last)
    n = line.n_cells
    first = n - _reach(_mirrored(line), n - last, n - first)
    found = np.ones(n, dtype=bool)
    found[first:last] = False
    span = line.edges[last] - line.edges[first]
    for before, after in pairwise(full[(full >= first) & (full < last)].tolist()):
        start = before + 1
        if start == after:
            continue
        width = float(line.edges[after] - line.edges[start]) / span
        is_gap = bool((~line.is_open[start:after]).any())
        if is_gap or width > WIDE:
            total = float(line.counts[start:after].sum())
            is_thin = total <= max(BETWEEN * line.noise(start, after), 0.5)
            found[start:after] = is_thin
    return found


def _hold_rows(line: Line, rows: Floats) -> Flags:
    """Say which cells surely hold rows: by themselves, or between octaves that do.

    One cell in a thousand lines passes by chance. Where no cell shows by itself, the
    octaves are taken that show together, and if there are none, the fullest cell.
    """
    stds, n = np.sqrt(line.variances), line.n_cells
    z = np.where(stds > 0, line.counts / np.maximum(stds, 1e-300), line.counts * 1e9)
    z[[0, -1]] = -np.inf
    sure = float(norm.isf(CHANCE / n))
    found = line.is_open & (z > sure) | (z > max(sure, SURE))
    groups = line.sums[0][0] if line.sums else np.arange(n)
    octaves = []
    is_positive = float(line.counts[line.is_open & (line.edges[:-1] >= 0)].sum()) >= (
        HALF * float(line.counts[line.is_open].sum())
    )
    for group in np.unique(groups[line.is_open]):
        start, stop = np.flatnonzero(groups == group)[[0, -1]] + [0, 1]
        noise = line.noise(int(start), int(stop))
        is_usual = (line.edges[start] >= 0) == is_positive
        least = TOGETHER if is_usual else OTHER_SIGN
        if float(line.counts[start:stop].sum()) > max(least * noise, 0.5):
            octaves.append(slice(int(start), int(stop)))
    for _, family in spans_of(line.families):
        if line.is_open[family.start]:
            total = float(line.counts[family].sum())
            if total > sure * max(line.noise(family.start, family.stop), 1e-300):
                found[family] |= rows[family] > 0
    if float(line.counts[found].sum()) < HALF * float(line.counts[line.is_open].sum()):
        inside = np.flatnonzero(line.is_open)
        shown = sum(float(line.counts[octave].sum()) for octave in octaves)
        if len(inside) and shown < HALF * float(line.counts[line.is_open].sum()):
            octaves = [slice(int(inside[0]), int(inside[-1]) + 1)]
        found[:] = False
    for octave in octaves[1:-1] if found.any() else octaves:
        found[octave] = True
    found[[0, -1]] = False
    if not found.any():
        zero = int(np.searchsorted(line.edges, 0.0, side="right")) - 1
        best = 1 + int(rows[1:-1].argmax()) if rows[1:-1].any() else zero
        found[best] = True
    return np.asarray(found)


def _mirrored(line: Line) -> Line:
    """Return the line of the negative numbers."""
    return replace(
        line,
        edges=-line.edges[::-1],
        counts=line.counts[::-1],
        variances=line.variances[::-1],
        is_open=line.is_open[::-1],
        sums=tuple((g[::-1], v[::-1], s[::-1]) for g, v, s in line.sums),
    )


def _reach(line: Line, first: int, last: int) -> int:
    """Return how far up the range reaches if stretches above it are added.

    A stretch is a number of cells, doubled again and again, or reaches to the end of a
    group of cells whose sum is known.
    """
    n, edges = line.n_cells - 1, line.edges  # the last cell has no end
    span = float(edges[last] - edges[first])
    zero = 0.6 * line.step if line.step else 0.0
    ends, starts = {n}, [n]
    if line.sums:  # from here on the sums of whole groups are known
        starts = (np.flatnonzero(np.diff(line.sums[-1][0])) + 1).tolist()
    for groups, _, _ in line.sums:
        ends |= set((np.flatnonzero(np.diff(groups)) + 1).tolist())
    has_grown = True
    while has_grown and last < n:
        has_grown = False
        lengths = [last + 2**k for k in range(12) if last + 2**k < n]
        groups_end = [end for end in sorted(ends) if end > last][:24]
        after = min((start for start in starts if start >= last), default=n)
        for stop in sorted({*lengths, *groups_end}):
            wider = float(edges[stop] - edges[last]) / max(span, 1e-300)
            least = next((s for width, s in KEPT.items() if wider <= width), LIKELY)
            if edges[last] <= zero < edges[stop]:
                least = SURE if edges[first] < -zero else least  # another sign
            if _holds_more(line, last, stop, least) or (
                after < stop and _holds_more(line, after, stop, least)
            ):
                last, has_grown = stop, True
                break
        if not has_grown and last < n:
            stop = _into_gap(line, last)
            last, has_grown = max(stop, last), stop > last
        span = float(edges[last] - edges[first])
    return last


def _holds_more(line: Line, start: int, stop: int, stds: float) -> bool:
    """Say whether the cells of a stretch hold more rows than noise explains."""
    rows = float(line.counts[start:stop].sum())
    return rows > max(stds * line.noise(start, stop), 0.5)


def _into_gap(line: Line, start: int) -> int:
    """Return how far a range must reach into a gap that surely holds rows.

    The gap was counted as one cell, so its sum is known well; its octaves are not, one
    by one. The range grows by the likeliest run of them.
    """
    if not line.sums:
        return start
    groups, variances, sums = line.sums[-1]
    first = start
    while first < line.n_cells - 1:
        cells = np.flatnonzero(groups == groups[first])
        total, std = float(sums[first]), math.sqrt(float(variances[first]))
        is_gap = cells[0] == first and not line.is_open[first]
        if is_gap and total > LIKELY * std:
            cells = cells[np.isfinite(line.edges[cells + 1])]
            if not len(cells):
                return start
            z = line.counts[cells] / np.sqrt(np.maximum(line.variances[cells], 1e-9))
            one = (
                int(np.searchsorted(line.edges[cells], 1.0)) if not line.is_time else 0
            )
            last = last_of_likeliest(z, GAP_PARTS * WINDOW, one) if len(cells) else None
            return start if last is None else int(cells[last]) + 1
        first = int(cells[-1]) + 1
    return start


def _support(is_empty: Flags) -> tuple[int, int]:
    full = np.flatnonzero(~is_empty)
    return int(full[0]), int(full[-1]) + 1


def _beyond(line: Line, cells: Floats) -> tuple[float, float]:
    """Return where rows of the outer gaps are drawn to: about an octave further.

    That is where a cell of the line ends, if one does, so that it was counted how many
    rows lie beyond.
    """
    lower, upper = float(cells[0]), float(cells[-1])
    span = upper - lower
    zero = 0.5 * line.step if line.step else 0.0
    room = max(0.25 * span, line.step or 0.0)
    below = lower - max(0.5 * abs(lower), room)
    above = upper + max(0.5 * abs(upper), room)
    if lower > -zero and lower >= zero:  # a range of one sign keeps it
        below = max(below, -zero)
    if upper < zero and upper <= -zero:
        above = min(above, zero)
    ends = line.edges[1:-1]
    below = _nearest(ends[ends < lower], below, line.step, lower)
    above = _nearest(ends[ends > upper], above, line.step, upper)
    return max(below, -FURTHEST), min(above, FURTHEST)


def _outward(line: Line, last: int, above: float, later_noise: float) -> list[float]:
    """Return where cells above the range end: one of them, or several of octaves.

    There are as many as their rows can show in together. The range keeps its sign.
    """
    starts = last, int(np.searchsorted(line.edges[:-1], above))
    seem = [float(line.counts[k:].sum()) - line.noise(k, line.n_cells) for k in starts]
    rows = float(line.counts[starts[int(np.argmax(seem))] :].sum())
    n_cells = min(_most_cells(rows, later_noise), len(OUTWARD))
    if max(seem) <= 0 or n_cells < 2:
        return [above]
    octaves = octave_edges(Kind.DATETIME if line.is_time else Kind.FLOAT)
    octaves = np.unique(on_lattice_edges(octaves, line.step))
    zero, highest = 0.5 * line.step if line.step else 0.0, FURTHEST
    if float(line.edges[last]) <= -zero:
        highest = zero
    ends = octaves[(octaves > above) & (octaves < highest)]
    places = np.cumsum(OUTWARD)[: n_cells - 1] - 1
    found = [above, *ends[places[places < len(ends)]].tolist()]
    if found[-1] < highest < FURTHEST:
        found[max(len(found) - 1, 1) :] = [highest]
    return found


def _most_cells(rows: float, noise: float) -> int:
    """Return in how many cells rows can be counted and still show together."""
    if not noise:
        return 2**20 if rows > 0 else 1
    return int(min(max(rows / (EACH * noise), 1.0) ** 2, 2**20))


def _held(line: Line, rows: Floats, edges: list[float], bins: list[int]) -> float:
    """Return the rows of a run of bins."""
    ends = edges[bins[0]], edges[bins[-1] + 1]
    start, stop = np.searchsorted(line.edges, ends)
    return float(rows[start:stop].sum())


def _fewer(bins: list[int], most: int) -> list[int]:
    """Return every so many of a run of bins, at most so many, the first among them."""
    step = -(-len(bins) // most)
    return bins[::step]


def _nearest(ends: Floats, wanted: float, step: float | None, start: float) -> float:
    """Return the end that is nearest to where one is wanted, or that place itself."""
    if len(ends):
        nearest = float(ends[np.abs(ends - wanted).argmin()])
        if abs(nearest - start) >= 0.5 * abs(wanted - start):
            return nearest
    if step is None:
        return wanted
    n_values = max(round(abs(wanted - start) / step), 1)
    return start + math.copysign(n_values * step, wanted - start)


def _merged(
    line: Line, rows: Floats, single: Flags, start: int, stop: int, mass: float
) -> list[float]:
    """Return the upper edges of bins between two cells."""
    edges: list[float] = []
    left = float(line.edges[start])
    held, was_single = 0.0, False

    def close(edge: float) -> None:
        if edge > (edges[-1] if edges else left):
            edges.append(edge)

    ends = pairwise(line.edges[start : stop + 1].tolist())
    inside = rows[start:stop].tolist()  # numbers of Python: there may be thousands
    for k, (a, b), row in zip(range(start, stop), ends, inside, strict=True):
        is_full = row > 0.5 * mass
        is_spike = is_full and (single[k] or _stands_alone(line, rows, k))
        if row >= mass or is_spike:
            close(a)
            parts = 1 if is_spike else math.ceil(row / mass)
            inner = cut(a, b, parts, line.step)
            if is_spike and not single[k]:
                inner = np.array(_around(roundest(a, b, line), line))
            for edge in inner:
                close(float(edge))
            close(b)
            held, was_single = 0.0, bool(is_spike)
        elif held + row >= mass:
            close(b)
            held, was_single = 0.0, False
        else:
            held += row
    last = float(line.edges[stop])
    if not edges or edges[-1] < last:
        if held < 0.5 * mass and len(edges) > 1 and not was_single:
            edges.pop()
        edges.append(last)
    return edges


def summary_of(cells: NumberCells, kind: Kind, *, nullable: bool) -> Column:
    """Say in words what cells of a discovered column hold: type, range, decimals.

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
        seconds = np.clip([lower, upper], -LAST_TIME, LAST_TIME)
        ends = (EPOCH + pd.Timedelta(seconds=second) for second in seconds)
        low, high = (time.isoformat() for time in ends)
        return Datetime(low, high, cells.step == DAY, nullable)
    if cells.step == 1.0 and max(abs(lower), abs(upper)) <= EXACT:
        return Integer(round(lower), round(upper), nullable=nullable)
    decimals = None if cells.step is None else round(-math.log10(cells.step))
    if decimals is not None:
        lower, upper = round(lower, decimals), round(upper, decimals)
    return Numeric(lower + 0.0, upper + 0.0, decimals, nullable=nullable)  # no -0.0


def _stands_alone(line: Line, rows: Floats, k: int) -> bool:
    """Say whether a fine part holds many more rows than its neighbours."""
    if line.is_time or not 0 < k < line.n_cells - 1:
        return False
    width, near = line.edges[k + 1] - line.edges[k], max(rows[k - 1], rows[k + 1])
    beside = max(
        line.edges[k] - line.edges[k - 1], line.edges[k + 2] - line.edges[k + 1]
    )
    is_fine = line.families[k] in (line.families[k - 1], line.families[k + 1])
    return bool(is_fine and rows[k] > ALONE * near and width <= 2 * beside)


def roundest(lower: float, upper: float, line: Line) -> float:
    """Return the number of fewest digits in an interval, as people share it.

    Examples
    --------
    >>> from skdpgen.tables import line_between
    >>> line = line_between(Numeric(0, 1))
    >>> roundest(199_999.5, 200_007.5, line), roundest(0.2461, 0.2579, line)
    (200000.0, 0.25)
    """
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


def _around(value: float, line: Line) -> tuple[float, float]:
    """Return the edges of a cell that holds one value alone."""
    if line.step is None:
        return value, float(np.nextafter(value, np.inf))
    return value - 0.5 * line.step, value + 0.5 * line.step


def with_range_of(column: Column, cells: Cells, marginal: Floats) -> Column:
    """Return a discovered column with the range of the cells in which rows are drawn.

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
    known = marginal[: numbers.n_known]
    full = np.flatnonzero(known > HARDLY * float(known.sum()))
    if not numbers.gaps or not len(full):
        return column
    empty = set(range(numbers.n_known)) - set(range(int(full[0]), int(full[-1]) + 1))
    kind = Kind.DATETIME if isinstance(column, Datetime) else Kind.FLOAT
    shown = replace(numbers, gaps=tuple(sorted(empty)))
    found: Any = summary_of(shown, kind, nullable=column.nullable)
    return replace(column, lower=found.lower, upper=found.upper)


def without_outer_gaps(cells: NumberCells) -> NumberCells:
    """Return the cells without the gaps at both ends: the end cells hold their rows."""
    outer = {0, cells.n_known - 1} & set(cells.gaps)
    first, last = int(0 in outer), cells.n_known - int(cells.n_known - 1 in outer)
    gaps = tuple(gap - first for gap in cells.gaps if gap not in outer)
    return replace(cells, edges=cells.edges[first : last + 1], gaps=gaps)


def outside_of(line: Line, cells: NumberCells) -> tuple[float, float, float, float]:
    """Return rows below and above all cells, and the noise of both.

    They are unknown (NaN) where no cell of the line ends with the outermost cell.
    """
    first = int(np.searchsorted(line.edges, cells.edges[0]))
    last = int(np.searchsorted(line.edges, cells.edges[-1]))
    found = [math.nan] * 4
    if 0 < first < line.n_cells and line.edges[first] == cells.edges[0]:
        found[0], found[2] = float(line.counts[:first].sum()), line.noise(0, first)
    if 0 < last < line.n_cells and line.edges[last] == cells.edges[-1]:
        found[1] = float(line.counts[last:].sum())
        found[3] = line.noise(last, line.n_cells)
    below, above, below_noise, above_noise = found
    return below, above, below_noise, above_noise


def within_limits(column: Column, limits: tuple[float, float] | None) -> Column:
    """Cut bounds to what a public dtype can hold; others would wrap when decoded.

    Examples
    --------
    >>> within_limits(Integer(-200, 99), (-128, 127))
    Integer(lower=-128, upper=99, nullable=True, parse=False)
    """
    if limits is None or not isinstance(column, Integer | Numeric):
        return column
    if column.lower is None or column.upper is None:
        return column
    lower, upper = (
        min(max(end, limits[0]), limits[1]) for end in (column.lower, column.upper)
    )
    ends: Any = {"lower": lower, "upper": upper}
    return replace(column, **ends)
