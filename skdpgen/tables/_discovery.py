"""Private discovery: a RELEASED histogram over magnitudes becomes a column type.

The grid of magnitudes knows no data: powers of two from 2^-40 to 2^63 with both
signs, each told apart by how many decimals a value has. Values beyond count as the
nearest. A cell that is really empty still gets noise; a bound is set where the counts
stand out of it, and then as far out as neighbouring counts still look occupied.
"""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from skdpgen.tables._columns import DAY, Column, Datetime, Integer, Numeric
from skdpgen.tables._layout import EPOCH, Kind
from skdpgen.tables._occupied import both_signs, extended, occupied
from skdpgen.tables._values import Codes, Floats, Values, as_numbers, as_seconds
from skdpgen.utils import saved

LOWEST, HIGHEST = -40, 63  # octaves
LATEST = 33  # octave of seconds: the years 1728 to 2272
FURTHEST = 8.2e9  # seconds from 2000 that a stamp of nanoseconds can hold
DECIMALS = (0, 1, 2)  # and "more"
EXACT = 2**53  # up to here floats hold every whole number
MISSING = 1.0  # noise stds at which values may be missing; the main release tells
HALF = 0.5  # of the rows are missing, at most, where numbers are surely there
TINY = 1e-9
LIKE, LEANS = 4, 1.5  # octaves that are compared, and noise stds of their likeness


@saved
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
    counts: Floats,
    noise_std: float,
    kind: Kind,
    n_columns: int = 1,
    n_rows: float = 0.0,
) -> Column | None:
    """Turn the released magnitudes of a column into its type; None if it shows none.

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
    n_rows : float, default=0
        Rows of the table. Where most of them hold a number, there is one to find.
    """
    cells = MagnitudeCells(kind)
    table = counts[:-1].reshape(cells.n_octaves, cells.n_precisions)
    if kind is Kind.INTEGER:
        cells, table = whole_numbers(table)
    nullable = bool(counts[-1] > max(MISSING * noise_std, 0.5))
    is_full = counts[-1] < HALF * n_rows
    seen = occupied(table, noise_std, n_columns, is_full=is_full)
    if not seen.any():
        return None
    finest = int(np.flatnonzero(seen.any(axis=0)).max())
    if kind is Kind.FLOAT and finest == 0:  # whole numbers that were read as floats
        whole, part = whole_numbers(table)
        found = occupied(part, noise_std, n_columns, is_full=is_full)
        if found.any():
            cells, table, seen = whole, part, found
    sizes = np.where(seen, table, 0.0)
    sizes[len(table) // 2] *= TINY  # zeros are written alike by all
    usual = table[:, int(sizes.sum(axis=0).argmax())]
    core = np.flatnonzero(seen.any(axis=1))
    first, last = both_signs(
        *extended(core, usual, noise_std), usual, noise_std, n_columns
    )
    ends = [*cells.interval(first), *cells.interval(last)]
    if finest == 0 and not any(ends) and kind is not Kind.DATETIME:
        ends = [0.0, 2.0]  # rare ones beside zeros do not stand out, and cost little
    if cells.is_whole and max(map(abs, ends)) <= EXACT:
        kind = Kind.INTEGER
    return _column(kind, min(ends), max(ends), finest, nullable=nullable)


def leans_to_both_signs(counts: Floats, noise_std: float, kind: Kind) -> bool:
    """Say whether the octaves of one sign resemble those of the other.

    It is no evidence by itself: noise does so once in some ten columns.
    """
    cells = MagnitudeCells(kind)
    table = counts[:-1].reshape(cells.n_octaves, cells.n_precisions)
    zero = cells.n_octaves // 2
    above, below = table[zero + 1 :], table[:zero][::-1]
    first = max(above.max(), below.max())
    main, other = (above, below) if above.max() == first else (below, above)
    octave, column = np.unravel_index(int(main.argmax()), main.shape)
    near = slice(max(int(octave) - LIKE, 0), int(octave) + LIKE + 1)
    profile = np.maximum(main[near, column], 0.0)
    likeness = profile @ other[near, column] / max(float(np.linalg.norm(profile)), TINY)
    return bool(likeness > LEANS * noise_std)


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
