"""The number line of one column, cut into cells that released counts refine.

Cells partition the whole line, so no value is outside. A cell with little evidence for
rows stays coarse; it is never removed. Three releases refine the same cells: octaves
(powers of two of both signs), parts of the octaves that hold rows, and parts of those
parts. Everything here reads RELEASED counts only.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdpgen.tables._cells import (
    LEAST_MAGNITUDE,
    NumberCells,
    Search,
    bounds,
    is_increasing,
    step_of,
)
from skdpgen.tables._columns import (
    RESOLUTIONS,
    Column,
    Datetime,
)
from skdpgen.tables._layout import Kind
from skdpgen.tables._values import Codes, Floats, Values, as_numbers, as_seconds
from skdpgen.utils import (
    asked,
    refuse_unless,
    saved,
)

Flags = NDArray[np.bool_]

# Exponents of two of the first and last octave: of floats, of whole dtypes, of seconds.
LOWEST, HIGHEST, LARGEST = -40, 127, 62
FIRST_SECOND, LAST_SECOND = 0, 38
# The years 1 to 9999, which text and other tools can write, in seconds since 2000.
FIRST_TIME, END_OF_TIME = -63_082_281_600.0, 252_455_616_000.0
USUAL_TIMES = 20 * 365.25 * 86_400.0  # half of all times are so near to 2000
MOST_DECIMALS, DECIMALS_SURE = 4, 3.3  # decimals that are counted; evidence in stds
USUALLY_WHOLE = math.log(100.0)  # how much likelier, in logs, it is without evidence

# When an octave counts as open. Thresholds are in stds of the noise. They are high
# because a float column has 338 octaves: noise alone opens one in 1 of 10,000 columns.
USUAL_EXPONENTS = (-20, 34)  # of everyday numbers
# For any octave, a usual one, and one near a sure octave.
SURE_STDS, USUAL_STDS, NEAR_STDS = 5.0, 4.5, 3.0
NEAR_OCTAVES = 3  # within which NEAR_STDS applies, for the same sign
WIDENING_STDS = 3.5  # the other sign, or a stretch that widens the range a lot
# Least part of rows with numbers, and of these in open octaves.
NUMBERS_PART, OPEN_PART = 0.3, 0.6
WINDOW, WINDOW_STD = 6, 2.0  # octaves that are summed in a run, and its evidence
STDS_PER_OCTAVE = 0.05  # more evidence further from 1, which is less common

# How cells are divided: parts of an octave, of a part, and of a gap's octave.
OCTAVE_PARTS, FINE_PARTS, GAP_PARTS = 16, 1024, 2
SPLIT_STDS, REOPENED_STDS = 3.0, 2.5  # that divide a cell, and a gap
FINEST_WIDTH = 2.0**-40  # relative, of cells that are not divided
FEWEST_UNIFORM, UNIFORM_CELLS = 8, 128  # of equal width between public bounds
OCTAVE_STEP, COARSEST_OCTAVE = 0.5, 2.0  # between public bounds
FINEST_SPAN, LOWEST_OCTAVE = 2.0**-20, 1.0  # of these octaves: the smaller of both
UNSEEN_STDS = 2.0  # of the rows outside open octaves: more octaves are likely


@saved("number_line")
@dataclass(frozen=True, eq=False)
class Line:
    """Cells of the whole number line, and estimates of their rows.

    Parameters
    ----------
    edges : ndarray of shape (n + 1,)
        Increasing, from -inf to inf; cell k is ``[edges[k], edges[k + 1])``.
    counts, variances : ndarray of shape (n,)
        Estimated rows of each cell, and the variance of the estimate.
    is_open : ndarray of bool of shape (n,)
        Whether the cell holds rows by the released counts; all others are gaps.
    families : ndarray of int of shape (n,)
        Parts of the same cell have the same number.
    sums : tuple of (ndarray of int, ndarray, ndarray), default=()
        For each level, from coarse to fine: the group of each cell, and the variance
        and the value of the sum of its group. That variance is smaller than the summed
        variances of the cells.
    step : float or None, default=None
        Distance of the lattice of values; None is continuous.
    is_time : bool, default=False
        Whether values are seconds.
    unseen : float, default=0.0
        Numbers outside all open octaves, in stds of their noise.
    """

    edges: Floats
    counts: Floats
    variances: Floats
    is_open: Flags
    families: NDArray[np.int64]
    step: float | None = None
    is_time: bool = False
    sums: tuple[tuple[NDArray[np.int64], Floats, Floats], ...] = ()
    unseen: float = 0.0

    def noise(self, start: int, stop: int) -> float:
        """Return the std of the sum of a run of cells."""
        return math.sqrt(max(self._variance(start, stop, 0), 0.0))

    def _variance(self, start: int, stop: int, level: int) -> float:
        """Add variances of whole groups of a level, and finer ones at both ends."""
        if start >= stop:
            return 0.0
        ends, cumulative = self._groups[level]
        first, last = np.searchsorted(ends, [start, stop])
        last -= ends[min(last, len(ends) - 1)] > stop or last == len(ends)
        if level == len(self.sums):
            return float(cumulative[stop] - cumulative[start])
        if first >= last:
            return self._variance(start, stop, level + 1)
        inner = float(cumulative[last] - cumulative[first])
        before = self._variance(start, int(ends[first]), level + 1)
        return before + inner + self._variance(int(ends[last]), stop, level + 1)

    @cached_property
    def _groups(self) -> list[tuple[Any, Any]]:
        """Starts of groups and cumulative variances of each level; cells come last."""
        levels = []
        for groups, variances, _ in self.sums:
            starts = np.flatnonzero(np.diff(groups, prepend=groups[0] - 1))
            group_variances = np.concatenate([[0.0], np.cumsum(variances[starts])])
            levels.append((np.append(starts, self.n_cells), group_variances))
        cumulative = np.concatenate([[0.0], np.cumsum(self.variances)])
        return [*levels, (np.arange(self.n_cells + 1), cumulative)]

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return len(self.counts)

    @property
    def grid(self) -> NumberCells:
        """The cells, for a histogram; the last one is "missing"."""
        return NumberCells(self.edges, True, is_time=self.is_time)

    def is_single(self) -> Flags:
        """Whether each cell holds one value of the lattice, or is zero."""
        widths = np.diff(self.edges)
        if self.step is None:
            is_zero = (self.edges[:-1] == 0) & (widths <= 2.0**LOWEST)
            left = np.where(np.isfinite(self.edges[:-1]), self.edges[:-1], 0.0)
            return np.asarray(is_zero | (widths <= FINEST_WIDTH * np.abs(left)))
        return np.asarray(widths <= 1.5 * self.step)


def octave_edges(kind: Kind) -> Floats:
    """Return the public initial cells of every column of a kind.

    Examples
    --------
    >>> octave_edges(Kind.INTEGER)[62:68].tolist()
    [-3.5, -1.5, -0.5, 0.5, 1.5, 3.5]

    Of times, the octaves in which the years 1 and 9999 are end with them.
    """
    lowest, highest = LOWEST, HIGHEST
    if kind is Kind.DATETIME:
        lowest, highest = FIRST_SECOND, LAST_SECOND - 1
    elif kind is Kind.INTEGER:
        lowest, highest = 0, LARGEST
    ends = np.exp2(np.arange(lowest, highest + 2))
    if kind is Kind.INTEGER:  # edges between whole numbers, symmetric in the sign
        ends -= 0.5
        return np.concatenate([[-np.inf], -ends[::-1], ends, [np.inf]])
    edges = np.concatenate([[-np.inf], -ends[:0:-1], [0.0], ends, [np.inf]])
    if kind is Kind.DATETIME:
        for end in (FIRST_TIME, END_OF_TIME):
            edges[np.abs(edges - end).argmin()] = end
    return edges


@saved("cells.digits")
@dataclass(frozen=True)
class DigitCells:
    """Count the decimals of numbers, or what times are whole numbers of.

    Of times the cells are whole days, hours, minutes and seconds, and finer ones.

    Examples
    --------
    >>> from skdpgen.tables._values import Numbers
    >>> numbers = Numbers(np.array([3.0, 0.5, 1 / 3, np.nan]))
    >>> DigitCells().encode(numbers).tolist()
    [0, 1, 5, -1]
    >>> DigitCells(is_time=True).encode(Numbers(np.array([86400.0, 7200.0, 0.5])))
    array([0, 1, 4])
    """

    is_time: bool = False

    nullable = False
    is_ordered = False

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return len(RESOLUTIONS) + 1 if self.is_time else MOST_DECIMALS + 2

    def encode(self, values: Values) -> Codes:
        """Return the number of decimals, or the place of the resolution.

        All numbers above ``MOST_DECIMALS`` share a cell.
        """
        x = as_seconds(values) if self.is_time else as_numbers(values)
        missing = np.isnan(x)
        x = np.where(missing, 0.0, x)
        digits = _resolutions(x) if self.is_time else _decimals(x)
        return np.where(missing, -1, digits)

    def step(
        self,
        counts: Floats,
        noise_std: float,
        n_present: float = math.nan,
        noise_of_present: float = 0.0,
        *,
        has_fractions: bool = False,
    ) -> float | None:
        """Return the step of the lattice by RELEASED counts; None if continuous.

        Each number of decimals may be too rare to exceed the noise. Fractions are then
        detected by their total, which is all numbers minus the whole ones, or by their
        octaves (``has_fractions``), which have less noise than decimals. A total that
        shows none is evidence against a cell that exceeds the noise. If no cell
        exceeds the noise, all numbers are taken to be in one cell: in the first, unless
        another is likelier by more than ``USUALLY_WHOLE``. Of few numbers all cells
        are about as likely.
        """
        noise = math.hypot(noise_std, noise_of_present)
        n_finer = n_present - float(counts[0])
        exceeds = counts > max(DECIMALS_SURE * noise_std, 0.5)
        if noise_std and not math.isnan(n_finer):
            weights = 1.0 / noise_std**2, 1.0 / noise**2  # of two counts of the same
            both = (weights[0] * counts + weights[1] * n_finer) / math.sqrt(
                sum(weights)
            )
            exceeds[1:] &= both[1:] > DECIMALS_SURE
        sure = np.flatnonzero(exceeds)
        finest = int(sure.max(initial=0))
        if not len(sure) and noise_std:
            n_numbers = counts.sum() if math.isnan(n_present) else n_present
            gain = max(n_numbers, 0.0) * (counts - counts[0]) / noise_std**2
            finest = int(np.argmax(gain)) if gain.max() > USUALLY_WHOLE else 0
        is_finer = n_finer > max(DECIMALS_SURE * noise, 0.5)
        if finest == 0 and (is_finer or has_fractions):
            finest = 1 + int(np.argmax(counts[1:]))
        if self.is_time:
            return [*RESOLUTIONS.values(), None][finest]
        return None if finest > MOST_DECIMALS else float(10.0**-finest)


def _decimals(x: Floats) -> Codes:
    """Return the least number of decimals that writes each number exactly.

    The tolerance allows for the rounding errors of floats.
    """
    decimals = np.full(len(x), MOST_DECIMALS + 1, dtype=np.int64)
    for digits in reversed(range(MOST_DECIMALS + 1)):
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = x * 10.0**digits
            size = np.abs(scaled)
            error = np.abs(scaled - np.round(scaled))
            limit = 1e-6 * np.minimum(size, 1.0) + 1e-11 * size
        decimals[error <= limit] = digits
    return decimals


def _resolutions(x: Floats) -> Codes:
    """Return the place of the coarsest unit that each time is a whole number of."""
    places = np.full(len(x), len(RESOLUTIONS), dtype=np.int64)
    for place, step in reversed(list(enumerate(RESOLUTIONS.values()))):
        places[np.mod(x, step) == 0] = place
    return places


def line_of_octaves(
    kind: Kind,
    counts: Floats,
    noise_std: float,
    step: float | None,
    n_present: float,
    n_rows: float,
    noise_of_present: float = 0.0,
) -> Line:
    """Return the line that follows from released counts of octaves.

    Parameters
    ----------
    kind : Kind
    counts : ndarray
        Counts of the cells between :func:`octave_edges`, without "missing".
    noise_std : float
    step : float or None
        Step of the lattice of values.
    n_present : float
        Approximate number of rows with a number.
    n_rows : float
        Rows of the table.
    noise_of_present : float, default=0.0
        Noise std of ``n_present``.
    """
    edges = octave_edges(kind)
    is_open = _occupied(edges, counts, noise_std, n_present, n_rows)
    n = len(counts)
    line = Line(
        edges,
        counts,
        np.full(n, noise_std**2),
        is_open,
        np.arange(n),
        None,
        kind is Kind.DATETIME,
    )
    outside = n_present - float(counts[is_open].sum())
    noise = math.hypot(noise_of_present, noise_std * math.sqrt(is_open.sum()))
    unseen = outside / noise if noise else 0.0
    return replace(on_lattice(line, step), unseen=unseen)


def has_fractions(counts: Floats, noise_std: float) -> bool:
    """Return whether RELEASED counts of octaves show numbers between 0 and 1.

    Rates may be near .05 in a fifth of the rows and 0 in all others. Their numbers of
    decimals vary, so none exceeds the noise, but they fill a run of octaves, whose sum
    does. Whole numbers alone pass in fewer than one in 10,000 columns: 1 is outside of
    these octaves, and so is that of -1.

    Examples
    --------
    >>> counts = np.zeros(len(octave_edges(Kind.FLOAT)) - 1)
    >>> counts[[206, 207]] = 40.0, 45.0  # from 1/16 to 1/4
    >>> has_fractions(counts, 10.0), has_fractions(counts, 20.0)
    (True, False)
    """
    edges = octave_edges(Kind.FLOAT)
    inner, outer = np.sort([np.abs(edges[:-1]), np.abs(edges[1:])], axis=0)
    is_below_one = (
        (inner >= 2.0 ** USUAL_EXPONENTS[0]) & (outer <= 1.0) & (edges[:-1] > -1.0)
    )
    for is_of_sign in (edges[:-1] >= 0, edges[:-1] < 0):
        octaves = counts[is_below_one & is_of_sign]
        for width in range(1, WINDOW + 1):
            sums = np.convolve(octaves, np.ones(width), "valid")
            if sums.max() > max(SURE_STDS * noise_std * math.sqrt(width), 0.5):
                return True
    return False


def on_lattice(line: Line, step: float | None) -> Line:
    """Move edges half a step before the first value of the lattice behind them.

    Cells without a value of the lattice are left out, with their counts, which are
    noise only.
    """
    if step is None:
        return line
    edges = on_lattice_edges(line.edges, step)
    has_value = np.diff(edges) > 0.25 * step
    return Line(
        np.append(edges[:-1][has_value], np.inf),
        line.counts[has_value],
        line.variances[has_value],
        line.is_open[has_value],
        np.arange(int(has_value.sum())),
        step,
        line.is_time,
    )


def on_lattice_edges(edges: Floats, step: float | None) -> Floats:
    """Move edges half a step before the first value of the lattice behind them."""
    if step is None:
        return edges
    with np.errstate(invalid="ignore"):
        moved = _lattice_edges(edges, step)
    return np.where(np.isfinite(edges), moved, edges)


def _lattice_edges(edges: Floats, step: float) -> Floats:
    """Return the points half a step before the first lattice value of each cell."""
    places = edges / step
    # The tolerance keeps an edge that is a lattice value up to rounding.
    return np.asarray((np.ceil(places - 1e-9 * np.abs(places)) - 0.5) * step)


def _occupied(
    edges: Floats, counts: Floats, std: float, n_present: float, n_rows: float
) -> Flags:
    """Return the octaves that hold rows.

    An octave near one that surely holds rows needs less evidence. If no octave exceeds
    the noise although most rows have a number, the numbers are spread over octaves.
    Then the likeliest run of octaves is open, of one sign or both.
    """
    if std == 0:
        return np.asarray((counts > 0) & np.isfinite(edges[:-1] + edges[1:]))
    n, middle = len(counts), len(counts) // 2
    z = counts / std
    ranks = np.abs(np.arange(n) - middle)
    inner, outer = np.abs(edges[:-1]), np.abs(edges[1:])
    size = np.minimum(inner, outer)
    usual = (size >= 2.0 ** USUAL_EXPONENTS[0]) & (
        size <= 2.0 ** USUAL_EXPONENTS[1]
    ) | (ranks == 0)
    is_sure = z > SURE_STDS
    is_open = is_sure | (usual & (z > USUAL_STDS))
    signs = np.sign(np.arange(n) - middle)
    for place in np.flatnonzero(is_sure & (ranks > 0)):
        is_near = (np.abs(ranks - ranks[place]) <= NEAR_OCTAVES) & (ranks > 0)
        threshold = np.where(signs == signs[place], NEAR_STDS, WIDENING_STDS)
        is_open |= is_near & (z > threshold)
    is_open[[0, -1]] = False
    is_shown = counts[is_open].sum() > OPEN_PART * n_present
    if not is_shown and n_present > NUMBERS_PART * n_rows:
        is_open |= _spread_octaves(edges, z, usual, middle)
    is_open[[0, -1]] = False  # cells with an infinite end stay whole
    return np.asarray(is_open)


def _spread_octaves(edges: Floats, z: Floats, usual: Flags, middle: int) -> Flags:
    """Return octaves of numbers that are too spread out for a single octave to show.

    The likeliest run of octaves, summed over signs, gives the largest magnitude; a run
    near it counts if it exceeds the noise. A sign is included, down to small numbers,
    if its octaves together exceed the noise: cells too near to 0 do little harm.
    """
    is_open = np.zeros(len(z), dtype=bool)
    above, below = z[middle + 1 :], z[:middle][::-1]
    folded = np.where(usual[middle + 1 :], (above + below) / math.sqrt(2.0), 0.0)
    cell_of_one = int(np.searchsorted(edges[middle + 1 :], 1.0))  # the octave of 1
    last = last_of_likeliest(folded, WINDOW, cell_of_one)
    if last is None:
        return is_open
    run = np.arange(max(last - WINDOW + 1, 0), last + 1)
    sides = {1: float(above[run].sum()), -1: float(below[run].sum())}
    for sign, total in sides.items():
        if total == max(sides.values()) or total > math.sqrt(len(run)):
            down = np.arange(max(last - 2 * WINDOW + 1, 0), last + 1)
            is_open[middle + sign * (1 + down)] = True
    return is_open


def last_of_likeliest(z: Floats, widest: int, cell_of_one: int) -> int | None:
    """Return the last cell of the likeliest run, or of a sure run near it.

    Parameters
    ----------
    z : ndarray
        Rows of each cell, in stds of their noise.
    widest : int
        Largest number of cells of a run.
    cell_of_one : int
        The cell of the number 1: cells further from it are rarer.

    Examples
    --------
    >>> last_of_likeliest(np.array([0.1, 2.0, 3.0, 2.5, -2.0, 0.3]), 4, 2)
    3
    """
    runs = []  # evidence, first and last cell
    for width in range(1, min(widest, len(z)) + 1):
        sums = np.convolve(z, np.ones(width), "valid") / math.sqrt(width)
        sums -= STDS_PER_OCTAVE * np.abs(np.arange(len(sums)) - cell_of_one)
        runs += [(float(s), k, k + width - 1) for k, s in enumerate(sums)]
    best, _, last = max(runs)
    if best <= WINDOW_STD:
        return None
    enough = max(WINDOW_STD + 1.0, 0.75 * best)
    near_runs = [
        run for run in runs if run[1] <= last + NEAR_OCTAVES or run[0] > USUAL_STDS
    ]
    return max([last, *(run[2] for run in near_runs if run[0] > enough)])


def spans_of(families: NDArray[np.int64]) -> list[tuple[int, slice]]:
    """Return each family and the slice of its cells, which are adjacent."""
    starts = np.flatnonzero(np.diff(families, prepend=families[0] - 1)).tolist()
    ends = [*starts[1:], len(families)]
    return [
        (int(families[start]), slice(start, end))
        for start, end in zip(starts, ends, strict=True)
    ]


def divided(line: Line, noise_std: float) -> Line:
    """Return the cells for the release of parts, without counts.

    Open octaves are divided into parts, each large enough to exceed the noise of that
    release. A closed octave next to an open one stays. Each run of other closed octaves
    becomes one gap.
    """
    n = line.n_cells
    is_kept = line.is_open.copy()
    is_kept[1:] |= line.is_open[:-1]
    is_kept[:-1] |= line.is_open[1:]
    zero = int(np.searchsorted(line.edges, 0.0, side="right")) - 1
    is_kept[zero] = True
    edges = [line.edges[:1]]
    for k in range(n):
        inner = np.empty(0)
        if line.is_open[k] and k != zero:
            n_parts = OCTAVE_PARTS
            if noise_std:
                n_parts = int(min(max(line.counts[k] / noise_std, 1.0), OCTAVE_PARTS))
            inner = cut(line.edges[k], line.edges[k + 1], n_parts, line.step)
        is_last = k + 1 == n
        closes = is_last or is_kept[k] or is_kept[k + 1]
        edges.append(np.append(inner, line.edges[k + 1 : k + 2]) if closes else inner)
    return _with_edges(line, np.concatenate(edges))


def cut(left: float, right: float, parts: int, step: float | None) -> Floats:
    """Return the inner edges of equal parts, or of single values if there are few.

    Examples
    --------
    >>> cut(15.5, 31.5, 4, 1.0).tolist(), cut(0.0, 1.0, 2, None).tolist()
    ([19.5, 23.5, 27.5], [0.5])
    """
    if step is not None:
        n_values = round((right - left) / step)
        if n_values <= parts:
            return np.asarray(left + step * np.arange(1, n_values), dtype=np.float64)
        even = np.linspace(0.0, float(n_values), parts + 1)[1:-1]
        places = np.unique(np.round(even))
        return np.asarray(left + step * places, dtype=np.float64)
    return np.asarray(np.linspace(left, right, parts + 1)[1:-1], dtype=np.float64)


def is_settled(line: Line) -> bool:
    """Return whether each open octave holds a single value and few rows are outside.

    Rows outside of these octaves must not exceed their noise by ``UNSEEN_STDS``: else
    more octaves hold rows.
    """
    are_single = bool(line.is_open.any() and line.is_single()[line.is_open].all())
    return are_single and line.unseen <= UNSEEN_STDS


def joined_gaps(line: Line) -> Line:
    """Return a settled line in which each run of gaps is one cell."""
    joined = divided(line, 0.0)
    starts = np.searchsorted(line.edges, joined.edges[:-1])
    return replace(
        joined,
        counts=np.add.reduceat(line.counts, starts),
        variances=np.add.reduceat(line.variances, starts),
    )


def _with_edges(line: Line, edges: Floats) -> Line:
    """Return a line with finer edges; ``families`` are the cells of ``line``."""
    n = len(edges) - 1
    family = np.searchsorted(line.edges, edges[:-1], side="right") - 1
    return Line(
        edges,
        np.zeros(n),
        np.full(n, np.inf),
        line.is_open[family],
        family,
        line.step,
        line.is_time,
    )


def refined(coarse: Line, fine: Line, counts: Floats, variance: float) -> Line:
    """Combine coarse estimates with counts of cells that divide or join them.

    The total of a family of cells is the mean of both totals, weighted by precision.
    The difference to the fine counts is shared equally: the least squares solution.

    Parameters
    ----------
    coarse : Line
        The line before this release.
    fine : Line
        From :func:`divided`.
    counts : ndarray
        RELEASED counts of the cells of ``fine``.
    variance : float
        Noise variance of each count.
    """
    starts = np.searchsorted(fine.edges, coarse.edges[:-1], side="right") - 1
    n = fine.n_cells
    coarse_counts = np.bincount(starts, weights=coarse.counts, minlength=n)
    coarse_variances = np.bincount(starts, weights=coarse.variances, minlength=n)
    estimate = np.asarray(counts, dtype=float).copy()
    variances, family_sums = np.full(n, float(variance)), np.zeros((2, n))
    for _, cells in spans_of(fine.families):
        n_parts = cells.stop - cells.start
        total, fine_variance = float(counts[cells].sum()), n_parts * variance
        coarse_variance = float(coarse_variances[cells].sum())
        summed = fine_variance + coarse_variance
        weight = fine_variance / summed if summed else 0.0  # of the coarse total
        change = weight * (float(coarse_counts[cells].sum()) - total) / n_parts
        estimate[cells] += change
        variances[cells] = variance * (1.0 - weight / n_parts)
        family_sums[0, cells] = fine_variance * (1.0 - weight)
        family_sums[1, cells] = float(estimate[cells].sum())
    sums = ((fine.families, family_sums[0], family_sums[1]),)
    return replace(fine, counts=estimate, variances=variances, sums=sums)


def worth_dividing(line: Line, noise_std: float) -> Flags:
    """Return which cells hold enough rows to be divided again at a given noise.

    A gap is divided if its own count exceeds the noise.
    """
    stds = np.sqrt(line.variances)
    is_full = line.counts > SPLIT_STDS * np.maximum(noise_std, 0.8 * stds)
    is_gap = ~line.is_open & (line.counts > REOPENED_STDS * np.maximum(noise_std, stds))
    is_worth = (line.is_open & is_full) | is_gap
    return np.asarray(is_worth & ~line.is_single())


def divided_again(line: Line, is_divided: Flags, most: int = FINE_PARTS) -> Line:
    """Return the line with some cells divided into fine parts, gaps by octaves first.

    A single value is the finest part. The other cells stay whole.

    Parameters
    ----------
    line : Line
    is_divided : ndarray of bool
    most : int, default=FINE_PARTS
        Largest number of parts of a cell.
    """
    edges = [line.edges[:1]]
    octaves = octave_edges(Kind.DATETIME if line.is_time else Kind.FLOAT)
    if line.step is not None:
        with np.errstate(invalid="ignore"):
            octaves = _lattice_edges(octaves, line.step)
    for k in np.flatnonzero(np.ones(line.n_cells)):
        left, right = line.edges[k], line.edges[k + 1]
        if is_divided[k]:
            inner = octaves[(octaves > left) & (octaves < right)]
            ends = np.unique(np.concatenate([[left], inner, [right]]))
            parts = most if line.is_open[k] else GAP_PARTS
            for a, b in pairwise(ends.tolist()):
                is_finite = math.isfinite(a) and math.isfinite(b)
                inner = cut(a, b, parts, line.step) if is_finite else inner[:0]
                edges.append(np.append(inner, b))
        else:
            edges.append(np.array([right]))
    return _with_edges(line, np.concatenate(edges))


@asked("cells")
@saved("cells.asked")
@dataclass(frozen=True, eq=False)
class AskedCells:
    """Some cells of a line, numbered from 0; every other value has no code.

    Parameters
    ----------
    edges : ndarray
        Edges of the line.
    places : ndarray of int
        The number of each cell; -1 for cells that are not counted.
    is_time : bool, default=False
    """

    edges: Floats
    places: NDArray[np.int64]
    is_time: bool = False

    nullable = False
    is_ordered = False

    def check_asked(self) -> None:
        """Check the fields of an object that another process may have built."""
        places = self.places
        refuse_unless(
            is_increasing(self.edges)
            and np.isfinite(self.searched).all()
            and places.shape == (len(self.edges) - 1,)
            and places.dtype == np.int64
            and -1 <= int(places.min()) <= int(places.max()) < len(places)
            and type(self.is_time) is bool,
            "some cells of a number line",
        )

    @property
    def n_known(self) -> int:
        """Number of cells that are counted."""
        return int(self.places.max(initial=-1)) + 1

    n_cells = n_known

    @property
    def searched(self) -> Floats:
        """Where one cell ends and the next begins."""
        return self.edges[1:-1]

    def encode(self, values: Values, search: Search | None = None) -> Codes:
        """Return the number of each value's cell, or -1."""
        x = as_seconds(values) if self.is_time else as_numbers(values)
        cell = (search or Search(self.searched))(x)
        return np.where(np.isnan(x), -1, self.places[cell])


def asked_cells(line: Line, fine: Line, is_divided: Flags) -> AskedCells:
    """Return the grid of the parts of the divided cells."""
    is_part = is_divided[fine.families]
    places = np.where(is_part, np.cumsum(is_part) - 1, -1)
    return AskedCells(fine.edges, places.astype(np.int64), line.is_time)


def joined_parts(
    line: Line, fine: Line, grid: AskedCells, counts: Floats, noise_std: float
) -> Line:
    """Combine the counts of parts with the earlier estimates of their cells.

    Clipping may have counted a row by less than 1. That affects all parts of a cell
    equally, so they are scaled to the estimate of the cell where it exceeds the noise.
    The total of a cell is the mean of both totals, weighted by precision. The
    difference to its parts is shared equally.
    """
    of_cell = fine.families
    estimate, variances = line.counts[of_cell].copy(), line.variances[of_cell].copy()
    cell_rows, cell_variances = line.counts.copy(), line.variances.copy()
    for family, cells in spans_of(of_cell):
        if grid.places[cells.start] < 0:
            continue
        parts = counts[grid.places[cells]]
        total, n_parts = float(parts.sum()), cells.stop - cells.start
        rows, cell_variance = (
            max(float(line.counts[family]), 0.0),
            line.variances[family],
        )
        is_sure = (
            rows > SURE_STDS * math.sqrt(cell_variance)
            and total > noise_std * n_parts**0.5
        )
        scale = min(max(rows / total, 1.0), 4.0) if is_sure else 1.0
        parts_variance = n_parts * (scale * noise_std) ** 2
        summed = parts_variance + cell_variance
        weight = parts_variance / summed if summed else 0.0  # of the earlier estimate
        lacking = weight * (rows - scale * total)
        estimate[cells] = scale * parts + lacking / n_parts
        variances[cells] = (scale * noise_std) ** 2
        cell_rows[family], cell_variances[family] = (
            scale * total + lacking,
            weight * cell_variance,
        )
    coarse = tuple((g[of_cell], v[of_cell], s[of_cell]) for g, v, s in line.sums)
    sums = (*coarse, (of_cell, cell_variances[of_cell], cell_rows[of_cell]))
    return replace(fine, counts=estimate, variances=variances, sums=sums)


def chance_of_times(seconds: Any) -> Any:
    """Return the chance that a time is before some others: half are near 2000.

    Examples
    --------
    >>> chance_of_times(np.array([-np.inf, -USUAL_TIMES, 0.0, USUAL_TIMES])).round(9)
    array([0.  , 0.25, 0.5 , 0.75])
    """
    return 0.5 + np.arctan(seconds / USUAL_TIMES) / math.pi


def time_of_chance(chance: Any) -> Any:
    """Return the time that others are before with a chance, in seconds since 2000."""
    return USUAL_TIMES * np.tan(math.pi * (chance - 0.5))


def ends_of_times(lower: float, upper: float, n_cells: int) -> Floats:
    """Return the ends of cells between two times, in each of which times are as usual.

    Examples
    --------
    >>> (ends_of_times(-USUAL_TIMES, USUAL_TIMES, 2) / USUAL_TIMES).round(9) + 0.0
    array([-1.,  0.,  1.])
    """
    chances = np.linspace(chance_of_times(lower), chance_of_times(upper), n_cells + 1)
    return np.asarray(time_of_chance(chances))


def line_between(column: Column, most_parts: float = UNIFORM_CELLS) -> Line:
    """Return the cells of a column with public bounds, for the release of parts.

    Cells of equal width resolve a shifted distribution, octaves around 0 a skewed one.
    Of times, cells in each of which times are as usual take the place of octaves. One
    cell at each end counts values outside the bounds. There are about as many cells of
    equal width as ``most_parts``: with more, noise would hide the rows of each.
    """
    n_parts = int(min(max(most_parts, FEWEST_UNIFORM), UNIFORM_CELLS))
    octave = min(OCTAVE_STEP * UNIFORM_CELLS / n_parts, COARSEST_OCTAVE)
    lower, upper = bounds(column)
    step, n_values = step_of(column), column.n_values  # type: ignore[union-attr]
    if step is not None and n_values is not None and n_values <= 2 * n_parts:
        edges = lower + step * (np.arange(n_values + 1) - 0.5)
    else:
        top, span = max(abs(lower), abs(upper)), upper - lower
        lowest = max(min(span * FINEST_SPAN, LOWEST_OCTAVE), LEAST_MAGNITUDE)
        n_octaves = math.log2(max(top / lowest, 2.0))
        octaves = top * np.exp2(-np.arange(0, n_octaves, octave))
        octaves = octaves[octaves > lowest]
        uneven = np.concatenate([octaves, -octaves, [0.0, LEAST_MAGNITUDE]])
        if isinstance(column, Datetime):
            uneven = ends_of_times(lower, upper, n_parts)
        inner = np.append(np.linspace(lower, upper, n_parts + 1), uneven)
        inner = inner[inner < upper]
        ends = lower, np.nextafter(upper, np.inf)
        if step is not None:
            inner = lower + _lattice_edges(inner - lower, step)
            ends = lower - 0.5 * step, upper + 0.5 * step
        inner = np.unique(inner)
        inner = inner[(inner > ends[0]) & (inner < ends[1])]
        edges = np.concatenate([ends[:1], inner, ends[1:]])
    if isinstance(column, Datetime):  # whose bounds need not be whole times
        given = column.seconds[0], np.nextafter(column.seconds[1], np.inf)
        edges[[0, -1]] = min(edges[0], given[0]), max(edges[-1], given[1])
    edges = np.concatenate([[-np.inf], edges, [np.inf]])
    n = len(edges) - 1
    is_inside = np.ones(n, dtype=bool)
    is_inside[[0, -1]] = False
    families = is_inside.astype(np.int64)
    families[-1] = 2
    is_time = isinstance(column, Datetime)
    no_estimate = np.full(n, np.inf)
    return Line(edges, np.zeros(n), no_estimate, is_inside, families, step, is_time)
