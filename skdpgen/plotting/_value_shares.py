"""Shares of rows by value: what a panel of :func:`plot_marginals` shows, as numbers.

Every row of a table is counted exactly once: in the body of the panel, which is bars or
a histogram, or at one of its ends.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skdpgen.metrics import FEW_VALUES, ColumnPair
from skdpgen.plotting._names import number_name, point_names, short
from skdpgen.plotting._two_tables import MISSING, has_levels

Floats = NDArray[np.float64]

_N_BINS = 40
_TAIL = 0.005  # share of the rows at each end that may leave the histogram
_MARGIN = 0.15  # of its width; what is no farther out stays inside
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
    """What is drawn of one column.

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


def frequent_first(shares: pd.DataFrame, n_levels: int, order: list[str] | None) -> Any:
    """Return the values with a bar each, and those that are summed up.

    Few values are in their own order (of numbers, of ordered categories), many ranked
    by their real share: a value that no real row has is never among the first of many.
    """
    if len(shares) > n_levels + 1:
        shown = shares[shares["real"] > 0].iloc[:n_levels]
        return shown.index, shares.drop(shown.index)
    levels = shares.index
    if order is not None:
        ranks = {level: rank for rank, level in enumerate(order)}
        places: Any = [ranks.get(level, len(ranks)) for level in levels]
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
    found = [(what, strange), (MISSING, absent)]
    return [(name, sides) for name, sides in found if any(s.any() for s in sides)]


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


def summed_up(rest: pd.DataFrame) -> list[tuple[Bar, list[Any]]]:
    """Return a bar of the rare real values, one of those no real row has, and them."""
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
    known = [side[np.isfinite(side)] for side in sides]
    edges = _edges(*known)
    shares = [
        np.histogram(values, edges)[0] / max(len(side), 1)
        for values, side in zip(known, sides, strict=True)
    ]
    is_whole = not is_time and bool((edges[0] % 1 == 0.5) and (edges[-1] % 1 == 0.5))
    left, right = _beyond(sides, edges, is_whole, unit)
    return Panel(Steps(edges, *shares, is_time), left, [*right, *_apart_bars(pair)])


def _edges(real: Floats, synthetic: Floats) -> Floats:
    """Bins over nearly all rows; edges between whole numbers if the real are whole."""
    guide = real if len(real) else synthetic
    if not len(guide):
        return np.array([0.0, 1.0])
    low, high = _shown_range(real, synthetic)
    if np.any(guide != np.round(guide)):
        high = high if high > low else low + 1.0
        return np.linspace(low, high, _N_BINS + 1)
    low, high = np.floor(low), np.ceil(high)
    width = np.ceil((high - low + 1) / _N_BINS)
    return np.arange(low - 0.5, high + width + 0.5, width)


def _shown_range(real: Floats, synthetic: Floats) -> tuple[float, float]:
    """Return what the histogram spans: the real rows, and the synthetic ones nearby."""
    both = np.concatenate([real, synthetic])
    cores = [
        np.quantile(side if len(side) else both, [_TAIL, 1 - _TAIL])
        for side in (real, synthetic)
    ]
    low, high = cores[0]
    if low == high and len(real):  # a spike: its few exceptions are what is to see
        low, high = real.min(), real.max()
    if low == high:
        low, high = cores[1]
    wide = min(low, cores[1][0]), max(high, cores[1][1])
    if wide[1] - wide[0] <= _WIDEST * (high - low):
        low, high = wide
    margin = _MARGIN * (high - low)
    if both.min() >= low - margin:
        low = both.min()
    if both.max() <= high + margin:
        high = both.max()
    return float(low), float(high)


def _beyond(
    sides: list[Floats], edges: Floats, is_whole: bool, unit: float
) -> tuple[list[Bar], list[Bar]]:
    """Return bars of the rows outside: as far as real rows go, and farther."""
    real = sides[0][~np.isnan(sides[0])]
    low, high = edges[0], edges[-1]
    lowest = min(low, real.min()) if len(real) else low
    highest = max(high, real.max()) if len(real) else high
    half = 0.5 if is_whole else 0.0
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
    if lowest == low:
        left = [Bar(f"< {names[2]}", *_share(sides, -np.inf, low))]
    if highest == high:
        right = [Bar(f"> {names[3]}", *_share(sides, high, np.inf, above=True))]
    seen = [[bar for bar in end if bar.real or bar.synthetic] for end in (left, right)]
    return seen[0], seen[1]


def _share(
    sides: list[Floats], low: float, high: float, above: bool = False
) -> tuple[float, float]:
    """Return the shares in [low, high), or in (low, high]."""
    inside = [
        (side > low) & (side <= high) if above else (side >= low) & (side < high)
        for side in sides
    ]
    return _mean(inside[0]), _mean(inside[1])
