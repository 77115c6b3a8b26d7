"""The content of plots of one column: names, both tables, shares, lost values."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skdpgen.metrics import FEW_VALUES, ColumnPair, joined, keys, read_alike
from skdpgen.utils import (
    Rows,
    require,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure


# ----------------------------------------------------------------------------
# What numbers, times, intervals and shares are called in a plot.

# from coarse to fine; a year alone would hide where in it an edge lies
_UNITS = ("M", "D", "m", "s")


def short(text: str, length: int = 14) -> str:
    """Fit a value under its bars.

    Examples
    --------
    >>> short("a very long name")
    'a very long n…'
    """
    text = " ".join(text.split()) or repr(text)
    return text if len(text) <= length else text[: length - 1] + "…"


def number_name(value: float, digits: int = 3) -> str:
    """Write a number with a least number of digits, or all before the point.

    Examples
    --------
    >>> [number_name(x) for x in (0.5, 12.345, 82417.2, 3.2e9, -float("inf"))]
    ['0.5', '12.3', '82417', '3.2e9', '-∞']
    """
    if np.isinf(value):
        return "∞" if value > 0 else "-∞"
    if 10 ** (digits - 1) <= abs(value) < 10 ** max(digits, 6):
        return f"{value:.0f}"
    return f"{value:.{digits}g}".replace("e+0", "e").replace("e+", "e")


def time_name(seconds: float, unit: str = "D") -> str:
    """Write a time since 1970 down to a unit of numpy.

    Examples
    --------
    >>> time_name(86_400.0), time_name(86_460.0, "m")
    ('1970-01-02', '1970-01-02 00:01')
    """
    if np.isinf(seconds):
        return number_name(seconds)
    stamp = np.datetime64(int(np.floor(seconds)), "s").astype(f"datetime64[{unit}]")
    return str(stamp).replace("T", " ")


def point_names(values: Sequence[float], is_time: bool) -> list[str]:
    """Write numbers or times as short as possible while they differ.

    Examples
    --------
    >>> point_names([1000.1, 1000.2], is_time=False)
    ['1000.1', '1000.2']
    """
    write: Callable[[float, Any], str] = time_name if is_time else number_name
    names: list[str] = []
    for precision in _UNITS if is_time else range(3, 16):
        names = [write(value, precision) for value in values]
        if len(set(names)) == len(set(values)):
            break
    return names


def interval_names(
    edges: Sequence[float], *, is_whole: bool = False, is_time: bool = False
) -> list[str]:
    """Name the bins below, between and above edges; an edge belongs to the bin above.

    Examples
    --------
    >>> interval_names([31, 40, 41], is_whole=True)
    ['≤ 30', '31–39', '40', '≥ 41']
    >>> interval_names([-0.5, 2.5])
    ['< -0.5', '-0.5 to 2.5', '≥ 2.5']
    >>> interval_names([])
    ['any']
    """
    if not len(edges):
        return ["any"]
    names = point_names(edges, is_time)
    if is_whole and not is_time:
        lasts = [number_name(edge - 1, 15) for edge in edges]
        names = [number_name(edge, 15) for edge in edges]
        below = f"≤ {lasts[0]}"
    else:
        lasts, below = names, f"< {names[0]}"
    between = " to " if min(edges) < 0 and not is_time else "–"
    inner = [
        first if first == last else f"{first}{between}{last}"
        for first, last in zip(names[:-1], lasts[1:], strict=True)
    ]
    return [below, *inner, f"≥ {names[-1]}"]


def percent(share: float) -> str:
    """Write a share of rows; a positive share is never written as 0.

    Examples
    --------
    >>> [percent(x) for x in (0, 0.0001, 0.0123, 0.4567, 0.9999, 1)]
    ['0', '<.1', '1.2', '46', '>99.9', '100']
    """
    hundredths = 100 * share
    if hundredths in (0, 100):
        return f"{hundredths:.0f}"
    if hundredths < 0.1:
        return "<.1"
    if hundredths > 99.9:
        return ">99.9"
    is_rough = 9.95 <= hundredths < 99
    return f"{hundredths:.0f}" if is_rough else f"{hundredths:.1f}"


# ----------------------------------------------------------------------------
# The two tables of a plot: checks, and their common columns with common types.

REAL, SYNTHETIC = "#4c566a", "#d0722f"
MISSING = "missing"


def two_tables(
    real: Rows, synthetic: Rows, columns: Sequence[Hashable] | None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return frames of the columns to draw; each must be in both tables."""
    real_frame = _as_frame(real, "real")
    synthetic_frame = _as_frame(synthetic, "synthetic")
    common = [name for name in real_frame.columns if name in synthetic_frame.columns]
    wanted = common if columns is None else list(dict.fromkeys(columns))
    unknown = [name for name in wanted if name not in common]
    if unknown or not wanted:
        raise ValueError(
            f"columns must name columns that both tables have. Got {unknown} instead; "
            f"both have {common}."
        )
    return real_frame[wanted], synthetic_frame[wanted]


def _as_frame(rows: Rows, argument: str) -> pd.DataFrame:
    """Take a frame, a two-dimensional array, or one of these with its target."""
    table = rows[0] if isinstance(rows, tuple) else rows
    n_dimensions = getattr(table, "ndim", 2)  # some frames lack it; they have two
    if isinstance(table, list):
        n_dimensions = len(np.shape(table))
    if n_dimensions != 2:
        raise ValueError(
            f"{argument} must be a DataFrame or a two-dimensional array. "
            f"Got {n_dimensions} dimensions instead."
        )
    frame = joined(rows)
    if not frame.columns.is_unique:
        twice = list(frame.columns[frame.columns.duplicated()].unique())
        raise ValueError(f"{argument} has columns of the same name: {twice}.")
    return frame


def column_pairs(
    real: pd.DataFrame, synthetic: pd.DataFrame
) -> dict[Hashable, ColumnPair]:
    """Read each column of both tables with one type."""
    return {name: read_alike(real[name], synthetic[name]) for name in real.columns}


def has_levels(pair: ColumnPair) -> bool:
    """Return whether bars, one per value, show a column better than a histogram."""
    if pair.kind == "level":
        return True
    sides = (side[~np.isnan(side)] for side in (pair.real, pair.synthetic))
    return max(len(np.unique(side)) for side in sides) <= FEW_VALUES


def level_order(column: pd.Series) -> list[str] | None:
    """Return the order of ordered categories, as they are read; None of all others."""
    dtype = column.dtype
    if not (isinstance(dtype, pd.CategoricalDtype) and dtype.ordered):
        return None
    return keys(pd.Series(dtype.categories)).tolist()


def legend(figure: Figure) -> None:
    """Add the legend of the two tables above a figure."""
    patches = require("matplotlib.patches", extra="plot")
    figure.legend(
        handles=[
            patches.Patch(color=REAL, alpha=0.45, label="real"),
            patches.Patch(color=SYNTHETIC, label="synthetic"),
        ],
        loc="outside upper right",
        ncols=2,
        frameon=False,
    )


# ----------------------------------------------------------------------------
# Shares of rows by value: what a panel of :func:`plot_marginals` shows, as numbers.
#
# Every row of a table is counted exactly once: in the body of the panel, which is
# bars or a histogram, or at one of its ends.

Floats = NDArray[np.float64]

_N_BINS = 40
_TAIL = 0.005  # share of the rows at each end that may leave the histogram
_MARGIN = 0.15  # of its width; values at most this far outside stay inside
_WIDEST = 3.0  # real ranges that the histogram grows by to hold the synthetic rows
_DAY = 86_400.0


@dataclass(frozen=True)
class Bar:
    """A name, and its share of the real and of the synthetic rows."""

    name: str
    real: float
    synthetic: float


@dataclass(frozen=True, eq=False)
class Steps:
    """A histogram: edges in days if these are times, and the shares of both tables."""

    edges: Floats
    real: Floats
    synthetic: Floats
    is_time: bool


@dataclass(frozen=True, eq=False)
class Panel:
    """The content of the panel of one column.

    Parameters
    ----------
    body : Steps or list of Bar
        The values.
    left, right : list of Bar
        What stands apart: rows beyond the histogram, rare values summed up, the
        catch-all category, missing.
    """

    body: Steps | list[Bar]
    left: list[Bar] = field(default_factory=list)
    right: list[Bar] = field(default_factory=list)


def panel_of(pair: ColumnPair, other: str, order: list[str] | None = None) -> Panel:
    """Count the rows of a column; ``order`` is that of ordered categories."""
    return _bars(pair, other, order) if has_levels(pair) else _steps(pair)


def level_shares(pair: ColumnPair) -> pd.DataFrame:
    """Return the shares of each value, most frequent real one first; no missing."""
    sides = {"real": pair.real, "synthetic": pair.synthetic}
    counts = {
        name: pd.Series(side).value_counts(dropna=True) / max(len(side), 1)
        for name, side in sides.items()
    }
    shares = pd.concat(counts, axis=1).fillna(0.0)
    return shares.sort_values(["real", "synthetic"], ascending=False, kind="stable")


def frequent_first(
    shares: pd.DataFrame, n_levels: int, order: list[str] | None
) -> tuple[pd.Index, pd.DataFrame]:
    """Return the values with a bar each, and the shares of those that are summed up.

    Few values are in their own order (of numbers, of ordered categories), many ranked
    by their real share: a value that no real row has is never among the first of many.
    """
    if len(shares) > n_levels + 1:  # a bar for all others would hold a single one
        shown = shares[shares["real"] > 0].iloc[:n_levels]
        return shown.index, shares.drop(shown.index)
    levels = shares.index
    if order is not None:
        ranks = {level: rank for rank, level in enumerate(order)}
        places = np.array([ranks.get(level, len(ranks)) for level in levels])
    else:
        places = pd.to_numeric(levels, errors="coerce").to_numpy(dtype=float)
        if set(levels) <= {"False", "True"}:
            places = levels.to_numpy(dtype=str)
        elif np.isnan(places).any():
            places = np.zeros(len(levels))  # as they are: by their share
    return levels[np.argsort(places, kind="stable")], shares.iloc[:0]


def apart(pair: ColumnPair) -> list[tuple[str, list[NDArray[np.bool_]]]]:
    """Return which rows of both tables could not be read, and which are missing."""
    strange = list(pair.strange)
    absent = [
        pd.isna(side) & ~is_strange
        for side, is_strange in zip((pair.real, pair.synthetic), strange, strict=True)
    ]
    what = "no date" if pair.kind == "time" else "no number"
    groups = [(what, strange), (MISSING, absent)]
    return [(name, sides) for name, sides in groups if any(s.any() for s in sides)]


def _apart_bars(pair: ColumnPair) -> list[Bar]:
    return [Bar(name, *map(_mean, sides)) for name, sides in apart(pair)]


def _mean(rows: NDArray[np.bool_]) -> float:
    return float(rows.mean()) if len(rows) else 0.0


def _bars(pair: ColumnPair, other: str, order: list[str] | None) -> Panel:
    shares = level_shares(pair)
    catch_all = shares[shares.index == other]
    shares = shares.drop(catch_all.index)
    shown, rest = frequent_first(shares, FEW_VALUES, order)
    names = level_names(shown, pair.kind == "time")
    body = [
        Bar(name, *shares.loc[level].tolist())
        for name, level in zip(names, shown, strict=True)
    ]
    right = [bar for bar, _ in summed_up(rest)]
    right += [Bar(other, *catch_all.loc[level].tolist()) for level in catch_all.index]
    return Panel(body, right=[*right, *_apart_bars(pair)])


def summed_up(rest: pd.DataFrame) -> list[tuple[Bar, list[Hashable]]]:
    """Return two bars with their values: rare real ones, and those that are not real.

    A bar without values is left out.
    """
    is_real = rest["real"] > 0
    parts = {"more": rest[is_real], "not real": rest[~is_real]}
    return [
        (Bar(f"{len(part)} {what}", *part.sum().tolist()), part.index.tolist())
        for what, part in parts.items()
        if len(part)
    ]


def level_names(levels: pd.Index, is_time: bool) -> list[str]:
    """Name values; one that is called "missing" is quoted, since it is not."""
    if is_time:
        return point_names(levels.tolist(), is_time=True)
    return [
        short(f'"{level}"' if level == MISSING else level)
        if isinstance(level, str)
        else number_name(level, 6)
        for level in levels
    ]


def _steps(pair: ColumnPair) -> Panel:
    is_time = pair.kind == "time"
    unit = _DAY if is_time else 1.0
    sides = [side / unit for side in (pair.real, pair.synthetic)]
    finite = [side[np.isfinite(side)] for side in sides]
    edges = _edges(*finite)
    real, synthetic = (
        np.histogram(values, edges)[0] / max(len(side), 1)
        for values, side in zip(finite, sides, strict=True)
    )
    is_whole = not is_time and bool((edges[0] % 1 == 0.5) and (edges[-1] % 1 == 0.5))
    left, right = _beyond(sides, edges, is_whole, unit)
    steps = Steps(edges, real, synthetic, is_time)
    return Panel(steps, left, [*right, *_apart_bars(pair)])


def _edges(real: Floats, synthetic: Floats) -> Floats:
    """Bins over nearly all rows; edges between whole numbers if the real are whole."""
    guide = real if len(real) else synthetic
    if not len(guide):
        return np.array([0.0, 1.0])
    low, high = _shown_range(real, synthetic)
    if np.any(guide != np.round(guide)):
        high = high if high > low else low + 1.0
        return np.linspace(low, high, _N_BINS + 1)
    # edges at halves, and widths that are whole: each bin has equally many values
    low, high = np.floor(low), np.ceil(high)
    width = np.ceil((high - low + 1) / _N_BINS)
    return np.arange(low - 0.5, high + width + 0.5, width)


def _shown_range(real: Floats, synthetic: Floats) -> tuple[float, float]:
    """Return what the histogram spans: the real rows, and the synthetic ones nearby."""
    values = np.concatenate([real, synthetic])
    cores = [
        np.quantile(side if len(side) else values, [_TAIL, 1 - _TAIL])
        for side in (real, synthetic)
    ]
    low, high = cores[0]
    if low == high and len(real):  # a spike: show its few exceptions
        low, high = real.min(), real.max()
    if low == high:
        low, high = cores[1]
    wider = min(low, cores[1][0]), max(high, cores[1][1])
    if wider[1] - wider[0] <= _WIDEST * (high - low):
        low, high = wider
    margin = _MARGIN * (high - low)
    if values.min() >= low - margin:
        low = values.min()
    if values.max() <= high + margin:
        high = values.max()
    return float(low), float(high)


def _beyond(
    sides: list[Floats], edges: Floats, is_whole: bool, unit: float
) -> tuple[list[Bar], list[Bar]]:
    """Return bars of the rows outside: as far as real rows go, and farther."""
    real = sides[0][~np.isnan(sides[0])]
    low, high = edges[0], edges[-1]
    lowest = min(low, real.min()) if len(real) else low
    highest = max(high, real.max()) if len(real) else high
    half = 0.5 if is_whole else 0.0  # from an edge to the whole numbers beside it
    points = [lowest, low - half, low + half, high - half, high + half, highest]
    names = point_names([point * unit for point in points], unit == _DAY)
    left = [
        Bar(f"< {names[0]}", *_share(sides, -np.inf, lowest)),
        Bar(f"{names[0]} to {names[1]}", *_share(sides, lowest, low)),
    ]
    right = [
        Bar(f"{names[4]} to {names[5]}", *_share(sides, high, highest, above=True)),
        Bar(f"> {names[5]}", *_share(sides, highest, np.inf, above=True)),
    ]
    if lowest == low:  # no real row is outside: one bar is enough
        left = [Bar(f"< {names[2]}", *_share(sides, -np.inf, low))]
    if highest == high:
        right = [Bar(f"> {names[3]}", *_share(sides, high, np.inf, above=True))]
    shown = [[bar for bar in end if bar.real or bar.synthetic] for end in (left, right)]
    return shown[0], shown[1]


def _share(
    sides: list[Floats], low: float, high: float, above: bool = False
) -> tuple[float, float]:
    """Return the shares in [low, high), or in (low, high]."""
    inside = [
        (side > low) & (side <= high) if above else (side >= low) & (side < high)
        for side in sides
    ]
    return _mean(inside[0]), _mean(inside[1])


# ----------------------------------------------------------------------------
# What synthetic columns kept of the real ones: missing, categories and ranges.

# of a column's values; each is a value that occurs, none is computed between two
_QUANTILES = {"min": 0.0, "1 %": 0.01, "median": 0.5, "99 %": 0.99, "max": 1.0}


@dataclass(frozen=True)
class LostLevels:
    """The categories of a column that one of the tables does not have.

    Parameters
    ----------
    n_real, n_lost, n_new : int
        Real categories, those of them that no synthetic row has, and synthetic ones
        that no real row has.
    lost, new, other : float
        Share of the real rows in lost categories, of the synthetic ones in new ones,
        and of the synthetic ones in the catch-all category, which is neither.
    examples : tuple of str
        The lost categories of most rows.
    """

    n_real: int
    n_lost: int
    n_new: int
    lost: float
    new: float
    other: float
    examples: tuple[str, ...]


def complete_rows(table: pd.DataFrame) -> float:
    """Return the share of rows without a missing value."""
    return float(table.notna().all(axis=1).mean())


def missing_shares(real: pd.DataFrame, synthetic: pd.DataFrame) -> pd.DataFrame:
    """Return the missing shares of columns that have any, the worst kept one first."""
    sides = {"real": real.isna().mean(), "synthetic": synthetic.isna().mean()}
    shares = pd.DataFrame(sides, index=real.columns)
    shares = shares[(shares > 0).any(axis=1)]
    wrong = (shares["real"] - shares["synthetic"]).abs()
    return shares.loc[wrong.sort_values(ascending=False, kind="stable").index]


def lost_levels(
    pairs: Mapping[Hashable, ColumnPair], other: str
) -> dict[Hashable, LostLevels]:
    """Return the columns that lost or gained categories, the worst first."""
    by_column = {}
    for name, pair in pairs.items():
        if not has_levels(pair):
            continue
        shares = level_shares(pair)
        catch_all = shares[shares.index == other]
        shares = shares.drop(catch_all.index)
        lost = shares[(shares["real"] > 0) & (shares["synthetic"] == 0)]
        new = shares[shares["real"] == 0]
        if len(lost) or len(new):
            by_column[name] = LostLevels(
                n_real=int((shares["real"] > 0).sum()),
                n_lost=len(lost),
                n_new=len(new),
                lost=float(lost["real"].sum()),
                new=float(new["synthetic"].sum()),
                other=float(catch_all["synthetic"].sum()),
                examples=tuple(level_names(lost.index[:3], pair.kind == "time")),
            )
    order = sorted(
        by_column, key=lambda name: -max(by_column[name].lost, by_column[name].new)
    )
    return {name: by_column[name] for name in order}


def ranges(pairs: Mapping[Hashable, ColumnPair]) -> dict[Hashable, pd.DataFrame]:
    """Return minimum, quantiles and maximum of numbers and dates, the worst first.

    The worst is the one of which any of these moved farthest, in widths of the central
    98 % of the real rows.
    """
    tables, moves = {}, {}
    for name, pair in pairs.items():
        if pair.kind == "level":
            continue
        sides = [_quantiles(pair.real), _quantiles(pair.synthetic)]
        write = time_name if pair.kind == "time" else _four_digits
        texts = [["none" if np.isnan(x) else write(x) for x in side] for side in sides]
        index = ["real", "synthetic"]
        tables[name] = pd.DataFrame(texts, index, columns=list(_QUANTILES))
        moves[name] = _moved(*sides)
    order = sorted(tables, key=lambda name: -moves[name])
    return {name: tables[name] for name in order}


def _quantiles(values: np.ndarray) -> list[float]:
    present = values[~np.isnan(values)]
    if not len(present):
        return [np.nan] * len(_QUANTILES)
    return np.quantile(present, list(_QUANTILES.values()), method="nearest").tolist()


def _moved(real: list[float], synthetic: list[float]) -> float:
    """Return the largest move of a quantile; all or nothing is infinitely far."""
    if np.isnan(real[0]) or np.isnan(synthetic[0]):
        return 0.0 if np.isnan(real[0]) and np.isnan(synthetic[0]) else np.inf
    width = real[3] - real[1]  # 99 % less 1 %
    width = width if 0 < width < np.inf else 1.0
    # equal infinities have not moved; their difference would be NaN
    moves = [abs(x - y) for x, y in zip(real, synthetic, strict=True) if x != y]
    return max([0.0, *moves]) / width


def _four_digits(value: float) -> str:
    return number_name(value, 4)
