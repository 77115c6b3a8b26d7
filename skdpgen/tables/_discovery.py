"""Private discovery: a RELEASED histogram over magnitudes becomes a column type.

The grid of magnitudes knows no data: powers of two from 2^-40 to 2^63 with both
signs, each told apart by how many decimals a value has. Values beyond count as the
nearest. A cell that is really empty still gets noise; a bound is set where the counts
stand out of it, and then as far out as neighbouring counts still look occupied. The
evidence that is asked for grows with the harm: a column that noise made a thousand
times too wide is lost, one that is cut at its largest percent is not.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm

from skdpgen.tables._columns import DAY, Column, Datetime, Integer, Numeric
from skdpgen.tables._layout import EPOCH, Kind
from skdpgen.tables._values import Codes, Floats, Values, as_numbers, as_seconds

LOWEST, HIGHEST = -40, 63  # octaves
LATEST = 33  # octave of seconds: the years 1728 to 2272
FURTHEST = 8.2e9  # seconds from 2000 that a stamp of nanoseconds can hold
DECIMALS = (0, 1, 2)  # and "more"
EXACT = 2**53  # up to here floats hold every whole number
WINDOWS = (1, 2, 4, 8)  # octaves
FALSE_ALARM = 1e-4  # chance that noise sets any bound of a whole table
FURTHER = 3.0  # noise stds at which the next octave outwards looks occupied
NEARER = 1.75  # and towards 0, where a bound too far costs next to nothing,
FAR_FROM_ZERO = 4.0  # unless all is in one or two octaves, as years are
NARROW = 2
TINY = 1e-9
MISSING = 1.0  # noise stds at which values may be missing; the main release tells


@dataclass(frozen=True)
class MagnitudeCells:
    """Cells of sign, power of two and number of decimals; the last is "missing".

    Numbers have one grid whatever their dtype: for one missing value a reader makes a
    column of integers one of floats, and what is discovered should be the same.

    Parameters
    ----------
    kind : Kind
        Of the dtype.
    is_whole : bool, default=False
        Whether it is the part of the grid for whole numbers alone.
    """

    kind: Kind
    is_whole: bool = False

    nullable = True
    is_ordered = False

    @property
    def n_octaves(self) -> int:
        """Number of intervals: negative ones, zero, positive ones."""
        return 2 * (self.highest - self.lowest + 1) + 1

    @property
    def highest(self) -> int:
        """Largest power of two; beyond counts as this."""
        return LATEST - 1 if self.kind is Kind.DATETIME else HIGHEST

    @property
    def lowest(self) -> int:
        """Smallest power of two told from zero."""
        return 0 if self.is_whole or self.kind is Kind.DATETIME else LOWEST

    @property
    def n_precisions(self) -> int:
        """Number of classes of decimals; of times: whole days, and others."""
        if self.is_whole:
            return 1
        return 2 if self.kind is Kind.DATETIME else len(DECIMALS) + 1

    @property
    def n_known(self) -> int:
        """Number of cells that are not "missing"."""
        return self.n_octaves * self.n_precisions

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return self.n_known + 1

    def encode(self, values: Values) -> Codes:
        """Return a cell for each value."""
        is_time = self.kind is Kind.DATETIME
        x = as_seconds(values) if is_time else as_numbers(values)
        missing = np.isnan(x)
        x = np.where(missing, 0.0, x)
        with np.errstate(divide="ignore"):
            octave = np.floor(np.log2(np.abs(x)))
        octave = octave.clip(self.lowest - 1, self.highest) - self.lowest + 1
        place = np.sign(x) * octave + self.n_octaves // 2
        codes = place.astype(np.int64)
        fine = np.mod(x, DAY) != 0 if self.kind is Kind.DATETIME else precision(x)
        codes = codes * self.n_precisions + fine
        return np.where(missing, self.n_known, codes)

    def interval(self, octave: int) -> tuple[float, float]:
        """Return the lower and upper end of an interval; the lower is the inner."""
        place = octave - self.n_octaves // 2
        if place == 0:
            return 0.0, 0.0
        inner = 2.0 ** (abs(place) - 1 + self.lowest)
        return float(np.sign(place) * inner), float(np.sign(place) * 2 * inner)


def whole_numbers(table: Floats) -> tuple[MagnitudeCells, Floats]:
    """Return the part of a table of numbers that whole ones can be in, and its grid."""
    whole = MagnitudeCells(Kind.INTEGER, is_whole=True)
    kept = np.arange(whole.highest + 1)
    middle = len(table) // 2
    rows = np.r_[middle - 1 + LOWEST - kept[::-1], middle, middle + 1 - LOWEST + kept]
    return whole, table[rows, :1]


def precision(x: Floats) -> Codes:
    """Return how many decimals each number has, as a position in DECIMALS, or more.

    >>> precision(np.array([3.0, 0.5, 0.25, 0.125])).tolist()
    [0, 1, 2, 3]
    """
    found = np.full(len(x), len(DECIMALS), dtype=np.int64)
    for position in reversed(range(len(DECIMALS))):
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = x * 10.0 ** DECIMALS[position]
            size = np.abs(scaled)
            exact = np.abs(scaled - np.round(scaled)) <= 1e-6 * np.maximum(
                np.minimum(size, 1.0), size * 1e-3
            )
        found[exact] = position
    return found


def discovered_column(
    counts: Floats, noise_std: float, kind: Kind, n_columns: int = 1
) -> Column:
    """Turn the released magnitudes of a column into its type.

    Parameters
    ----------
    counts : ndarray of shape (n_cells,)
        Noisy counts of :class:`MagnitudeCells`.
    noise_std : float
        Their noise.
    kind : Kind
        Public kind of the dtype.
    n_columns : int, default=1
        Columns that are discovered together; false alarms are rare in all of them.
    """
    cells = MagnitudeCells(kind)
    table = counts[:-1].reshape(cells.n_octaves, cells.n_precisions)
    if kind is Kind.INTEGER:
        cells, table = whole_numbers(table)
    nullable = bool(counts[-1] > max(MISSING * noise_std, 0.5))
    alarm = FALSE_ALARM / n_columns
    seen = _occupied_windows(table, noise_std, alarm)
    if not seen.any():
        return _column(kind, 0.0, 0.0, 0, nullable=True)
    finest = int(np.flatnonzero(seen.any(axis=0)).max())
    if kind is Kind.FLOAT and finest == 0:  # whole numbers that were read as floats
        whole, part = whole_numbers(table)
        found = _occupied_windows(part, noise_std, alarm)
        if found.any():
            cells, table, seen = whole, part, found
    sizes = np.where(seen, table, 0.0)
    sizes[len(table) // 2] *= TINY  # zeros are written alike by all
    usual = table[:, int(sizes.sum(axis=0).argmax())]
    first, last = _extend(np.flatnonzero(seen.any(axis=1)), usual, noise_std)
    first, last = _mirror(first, last, usual, noise_std, alarm)
    ends = [*cells.interval(first), *cells.interval(last)]
    if finest == 0 and not any(ends) and kind is not Kind.DATETIME:
        ends = [0.0, 2.0]  # rare ones beside zeros do not stand out, and cost little
    if cells.is_whole and max(map(abs, ends)) <= EXACT:
        kind = Kind.INTEGER
    return _column(kind, min(ends), max(ends), finest, nullable=nullable)


def _occupied_windows(table: Floats, noise_std: float, alarm: float) -> Any:
    """Find runs of 1 to 8 octaves of equal precision whose sum stands out.

    Short windows are taken first, of equal ones the fullest, and those that overlap a
    taken one are left: only mass that is spread over octaves needs a long window. None
    reaches over 0: what is on one side must not pass for the sign of the other. An
    octave that is k octaves further from 0 than the bulk would make the column 2^k
    times as wide, so noise may pass for one 2^k times more rarely.
    """
    seen = np.zeros(table.shape, dtype=bool)
    n_windows = len(WINDOWS) * table.size
    sums = np.vstack([np.zeros(table.shape[1]), np.cumsum(table, axis=0)])
    scores = {
        width: (sums[width:] - sums[:-width]) / max(noise_std * np.sqrt(width), 1e-9)
        for width in WINDOWS
    }
    zero = len(table) // 2
    top = _top_of_bulk(table)
    found: list[tuple[float, int, int, int]] = []
    for width in WINDOWS:
        starts = np.arange(len(scores[width]))
        ends = np.maximum(np.abs(starts - zero), np.abs(starts + width - 1 - zero))
        harm = np.exp2(np.maximum(ends - top, 0).astype(float))
        limits = norm.isf(alarm / n_windows / harm)[:, None]
        if width > 1:
            limits[(starts <= zero) & (starts + width > zero)] = np.inf
        totals = scores[width] * noise_std if noise_std else scores[width]
        for start, column in np.argwhere((scores[width] > limits) & (totals > 0.5)):
            score = float(scores[width][start, column])
            found.append((score, int(start), width, int(column)))
    for _, start, width, column in sorted(found, key=lambda f: (f[2], -f[0])):
        window = seen[start : start + width, column]
        if not window.any():
            window[:] = True
    return seen


def _top_of_bulk(table: Floats) -> int:
    """Return how far from 0 the window reaches that stands out most; 0 has no size."""
    zero = len(table) // 2
    sizes = table.copy()
    sizes[zero] = 0.0
    sums = np.vstack([np.zeros(table.shape[1]), np.cumsum(sizes, axis=0)])
    best, top = -math.inf, 0
    for width in WINDOWS:
        totals = (sums[width:] - sums[:-width]).max(axis=1) / math.sqrt(width)
        start = int(totals.argmax())
        if totals[start] > best:
            best = float(totals[start])
            top = max(abs(start - zero), abs(start + width - 1 - zero))
    return top


def _extend(core: Any, octaves: Floats, std: float) -> tuple[int, int]:
    """Widen the certain range while the next octaves look occupied, up to 0."""
    first, last = int(core.min()), int(core.max())
    zero = len(octaves) // 2
    sums = np.concatenate([[0.0], np.cumsum(octaves)])

    def looks_full(start: int, stop: int, stds: float) -> bool:
        limit = max(stds * std * float(np.sqrt(stop - start)), 0.5)
        return bool(sums[stop] - sums[start] > limit)

    if last > zero:
        while last + 1 < len(octaves) and looks_full(last + 1, last + 2, FURTHER):
            last += 1
    if first < zero:
        while first and looks_full(first - 1, first, FURTHER):
            first -= 1
    is_narrow = last - first < NARROW
    for width in (*WINDOWS, 1):
        stays = is_narrow and width == 1 and last - first + 1 < NARROW
        stds = NEARER if stays or not is_narrow else FAR_FROM_ZERO
        while first - width >= zero and looks_full(first - width, first, stds):
            first -= width
            stds = FAR_FROM_ZERO if is_narrow else NEARER
        while last + width <= zero and looks_full(last + 1, last + width + 1, stds):
            last += width
            stds = FAR_FROM_ZERO if is_narrow else NEARER
    return first, last


def _mirror(
    first: int, last: int, octaves: Floats, std: float, alarm: float
) -> tuple[int, int]:
    """Take the other sign in, if its octaves of like magnitude are occupied.

    Numbers around 0 fill two runs of octaves, far apart on this grid; where one run
    stands out, a run of like magnitude is the one place to look at. As a sign that
    never was is worse than some that are lost, noise may pass for it as rarely as for
    a bound.
    """
    zero = len(octaves) // 2
    top = max(abs(first - zero), abs(last - zero), 1)
    inner = max(top - 2 * WINDOWS[-1] + 1, 1)
    below = octaves[zero - top : zero - inner + 1][::-1]
    above = octaves[zero + inner : zero + top + 1]
    stds = float(norm.isf(alarm / (len(WINDOWS) * (top - inner + 1))))
    for is_new, other in ((first >= zero, below), (last <= zero, above)):
        sums = np.concatenate([[0.0], np.cumsum(other)])
        for width in WINDOWS:
            limit = max(stds * std * float(np.sqrt(width)), 0.5)
            full = np.flatnonzero(sums[width:] - sums[:-width] > limit)
            if is_new and len(full):
                end = inner + int(full.max()) + width - 1
                if other is below:
                    first = min(first, zero - end)
                else:
                    last = max(last, zero + end)
    return first, last


def _column(
    kind: Kind, lower: float, upper: float, finest: int, *, nullable: bool
) -> Column:
    """The outer end of an octave is open: step back to the last value inside."""
    if kind is Kind.DATETIME:
        ends = np.clip([lower, upper], -FURTHEST, FURTHEST)
        first, last = (EPOCH + pd.Timedelta(seconds=end) for end in ends)
        is_daily = finest == 0
        if is_daily:
            first, last = first.ceil("D"), max(first.ceil("D"), last.floor("D"))
        return Datetime(first.isoformat(), last.isoformat(), is_daily, nullable)
    decimals = DECIMALS[finest] if finest < len(DECIMALS) else None
    if decimals is not None:
        step = 10.0**-decimals
        low = math.floor(lower / step) + 1 if lower < 0 else math.ceil(lower / step)
        high = math.ceil(upper / step) - 1 if upper > 0 else math.floor(upper / step)
        lower = round(min(low, high) * step, decimals)
        upper = round(max(low, high) * step, decimals)
    if kind is Kind.INTEGER:
        return Integer(int(lower), int(upper), nullable=nullable)
    return Numeric(lower, upper, decimals, nullable=nullable)
