"""Spikes: single values that many rows share, in columns of many values."""

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import norm

from skdpgen.tables._cells import NumberCells, is_increasing
from skdpgen.tables._columns import DAY
from skdpgen.tables._search import Search
from skdpgen.tables._values import Codes, Floats, Values, as_numbers, as_seconds
from skdpgen.utils import asked, refuse_unless, saved

DECADES = 6  # below the largest magnitude of a column
FALSE_ALARMS = 0.05  # expected in all columns together
NEAR = 1e-9  # relative: values this near to a point are on it
TINY = 1e-300


@asked("points")
@saved
@dataclass(frozen=True, eq=False)
class Points:
    """Numbers of few digits (times: whole days): a cell each, and none for others.

    What many rows share is mostly written with few digits: 0.5, 19.99, 15024. Which
    numbers there are follows from the bounds of a column and no data.

    Parameters
    ----------
    values : ndarray of shape (n_cells,)
        Increasing.
    is_time : bool, default=False
        Whether text is read as times.

    Examples
    --------
    >>> from skdpgen.tables._values import Numbers
    >>> points = Points.within(NumberCells(np.array([0.0, 2.5]), nullable=False))
    >>> seen = points.encode(Numbers(np.array([0.1, 2.25, 1 / 3])))
    >>> points.values[seen[:2]].tolist(), int(seen[2])
    ([0.1, 2.25], -1)
    """

    values: Floats
    is_time: bool = False

    @classmethod
    def within(cls, cells: NumberCells, n_digits: int = 5) -> "Points":
        """Return the numbers of so many digits in the range of a column."""
        unit = DAY if cells.is_time else 1.0
        lower, upper = float(cells.edges[0]) / unit, float(cells.edges[-1]) / unit
        top = math.ceil(math.log10(max(abs(lower), abs(upper), TINY)))
        finest = top - DECADES - n_digits
        if cells.is_time:
            finest = 0
        elif cells.step is not None:
            finest = round(math.log10(cells.step))
        parts = [np.zeros(1)]
        for decade in range(top - DECADES, top):
            last = max(decade + 1 - n_digits, finest)  # the place of the last digit
            multiples = np.arange(
                10 ** max(decade - last, 0), 10 ** max(decade + 1 - last, 0)
            )
            scale = 10.0 ** abs(last)
            parts.append(multiples * scale if last >= 0 else multiples / scale)
        values = np.concatenate(parts)  # increasing, decade by decade
        if lower < 0:
            values = np.concatenate([-values[:0:-1], values])
        values = values[(values >= lower) & (values <= upper)]
        return cls(values * unit, cells.is_time)

    def check_asked(self) -> None:
        """Check what someone else may have made otherwise."""
        refuse_unless(
            is_increasing(self.values, 1)
            and np.isfinite(self.values).all()
            and type(self.is_time) is bool,
            "points in order",
        )

    @property
    def n_cells(self) -> int:
        """Number of points."""
        return len(self.values)

    @property
    def searched(self) -> Floats:
        """The points."""
        return self.values

    def encode(self, values: Values, search: Search | None = None) -> Codes:
        """Return a point for each value, or -1."""
        x = as_seconds(values) if self.is_time else as_numbers(values)
        after = (search or Search(self.values))(x).clip(1, self.n_cells - 1)
        before = after - 1
        is_before = x - self.values[before] < self.values[after] - x
        place = np.where(is_before, before, after)
        is_known = np.abs(self.values[place] - x) <= NEAR * np.abs(x)
        return np.where(is_known, place, -1).astype(np.int64)


def spikes_among(
    points: Points,
    counts: Floats,
    noise_std: float,
    cells: NumberCells,
    *,
    least: float,
    n_looks: int,
) -> Floats:
    """Return the values whose RELEASED counts stand out of noise and of neighbours.

    Parameters
    ----------
    points : Points
    counts : ndarray of shape (n_cells,)
        Noisy counts of the points.
    noise_std : float
        Their noise.
    cells : NumberCells
        Bins of the column; the other points of a bin are neighbours.
    least : float
        Rows that a spike has at least.
    n_looks : int
        Points of all columns that are looked at together.

    Examples
    --------
    >>> bins = NumberCells(np.array([0.0, 5.0]), nullable=False)
    >>> points = Points(np.arange(5.0))
    >>> counts = np.array([1.0, 2.0, 90.0, 0.0, 3.0])
    >>> spikes_among(points, counts, 1.0, bins, least=10.0, n_looks=5).tolist()
    [2.0]
    """
    values = points.values
    n_bins = cells.n_known
    place = np.searchsorted(cells.edges[1:-1], values, side="right")
    sizes = np.bincount(place, minlength=n_bins)[place] - 1
    rest = np.bincount(place, weights=counts, minlength=n_bins)[place] - counts
    usual = np.maximum(rest, 0.0) / np.maximum(sizes, 1)
    bar = noise_std * float(norm.isf(FALSE_ALARMS / n_looks)) if noise_std else 0.0
    excess = counts - usual
    is_spike = (excess > bar) & (excess >= least) & ~cells.is_atom()[place]
    return values[is_spike]


def with_spikes(cells: NumberCells, spikes: Floats) -> NumberCells:
    """Return bins in which each spike is a bin of its own.

    Examples
    --------
    >>> bins = NumberCells(np.array([-0.5, 9.5]), nullable=False, step=1.0)
    >>> with_spikes(bins, np.array([4.0, 5.0])).edges.tolist()
    [-0.5, 3.5, 4.5, 5.5, 9.5]
    """
    if cells.step is None:
        ends = np.concatenate([spikes, np.nextafter(spikes, np.inf)])
    else:
        half = 0.5 * cells.step
        ends = np.concatenate([spikes - half, spikes + half])
    lower, upper = float(cells.edges[0]), float(cells.edges[-1])
    edges = np.unique(
        np.concatenate([cells.edges, ends[(ends > lower) & (ends < upper)]])
    )
    return replace(cells, edges=edges)
