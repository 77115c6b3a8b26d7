"""Two panels per pair of columns: which values go together, real and synthetic."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from skdpgen.plotting._marginals import (
    _MISSING,
    _as_frame,
    _in_order,
    _is_continuous,
    _short,
    _shown_columns,
)
from skdpgen.utils import require

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_N_BINS = 10
_N_LEVELS = 10  # the most frequent categories; the others share a cell
_N_TICKS = 12
_N_JUDGED = 5000  # rows that choose the pairs
_OTHER = "other"


@dataclass(frozen=True, eq=False)
class _CutColumn:
    """A column cut into cells: the cell of every row, and the name of each cell."""

    real: np.ndarray
    synthetic: np.ndarray
    names: list[str]


def plot_pairs(
    real: Any,
    synthetic: Any,
    columns: Sequence[Any] | None = None,
    max_pairs: int = 6,
) -> Figure:
    """Draw how often values of two columns go together, real beside synthetic.

    Each pair of columns has two heat maps on the same cells and colours, darker where
    there are more rows. Numbers and dates are cut at quantiles of the real rows, so two
    unrelated columns give an even colour; text has a cell for each of its ten most
    frequent values. Missing is a cell of its own.

    **A picture of real rows is outside the privacy guarantee**: it shows true
    frequencies, without noise, and even the choice of pairs reads them. Keep it where
    the real rows are kept.

    Parameters
    ----------
    real, synthetic : DataFrame or array of shape (n_samples, n_columns)
        The two tables; ``X.assign(label=y)`` makes a target one of the columns.
    columns : sequence of column names, default=None
        Pairs of these are drawn; None takes the columns that both tables have.
    max_pairs : int, default=6
        How many pairs to draw; those come first that depend most on each other in the
        real rows.

    Returns
    -------
    matplotlib.figure.Figure
        A figure without a window; save it with ``figure.savefig("pairs.png")``.

    Examples
    --------
    >>> from skdpgen.datasets import load_example
    >>> from skdpgen.plotting import plot_pairs
    >>> real, _ = load_example(500, random_state=0)
    >>> other, _ = load_example(500, random_state=1)
    >>> figure = plot_pairs(real, other, columns=["job", "weekly_hours"])
    >>> [axes.get_title() for axes in figure.axes]
    ['real', 'synthetic']
    """
    figures = require("matplotlib.figure", extra="plot")
    real, synthetic = _as_frame(real, "real"), _as_frame(synthetic, "synthetic")
    for name, table in (("real", real), ("synthetic", synthetic)):
        if not len(table):
            raise ValueError(f"{name} must have rows. Got an empty table instead.")
    if max_pairs < 1:
        raise ValueError(f"max_pairs must be at least 1. Got {max_pairs} instead.")
    width = max(real.shape[1], 1)
    names = list(dict.fromkeys(_shown_columns(real, synthetic, columns, width)))
    if len(names) < 2:
        raise ValueError(f"columns must name at least two. Got {names} instead.")
    cut = {name: _cut(real[name], synthetic[name]) for name in names}
    pairs = _strongest(cut, max_pairs)

    n_across = min(2, len(pairs))
    n_down = math.ceil(len(pairs) / n_across)
    figure = figures.Figure(
        figsize=(5.4 * n_across, 2.9 * n_down), layout="constrained"
    )
    for place, (first, second) in enumerate(pairs):
        panels = [
            figure.add_subplot(n_down, 2 * n_across, 2 * place + side)
            for side in (1, 2)
        ]
        _draw(panels, cut[first], cut[second])
        panels[0].set_ylabel(str(first), fontsize=9)
        for axes in panels:
            axes.set_xlabel(str(second), fontsize=9)
    return figure


def _draw(panels: list[Axes], down: _CutColumn, across: _CutColumn) -> None:
    """Two heat maps that share cells and colours; the left one names the rows."""
    colors = require("matplotlib.colors", extra="plot")
    tables = {
        "real": _joint(down.real, across.real, down, across),
        "synthetic": _joint(down.synthetic, across.synthetic, down, across),
    }
    highest = max(table.max() for table in tables.values())
    norm = colors.PowerNorm(0.5, vmin=0.0, vmax=highest)  # so that rare cells show
    for axes, (title, table) in zip(panels, tables.items(), strict=True):
        axes.imshow(
            table, norm=norm, cmap="Blues", aspect="auto", interpolation="nearest"
        )
        axes.set_title(title, fontsize=9)
        axes.set_xticks(*_ticks(across.names), rotation=60)
        axes.set_yticks(*_ticks(down.names))
        axes.tick_params(labelsize=7, length=0)
        axes.spines[:].set_visible(False)
    panels[1].tick_params(labelleft=False)


def _cut(real: pd.Series, synthetic: pd.Series) -> _CutColumn:
    """Give every row of a column its cell; "missing" is the last one, if needed."""
    if _is_continuous(real, synthetic):
        codes, names = _bins(real, synthetic)
    else:
        codes, names = _levels(real, synthetic)
    if any((side < 0).any() for side in codes):
        codes = [np.where(side < 0, len(names), side) for side in codes]
        names = [*names, _MISSING]
    return _CutColumn(codes[0], codes[1], names)


def _bins(real: pd.Series, synthetic: pd.Series) -> tuple[list[np.ndarray], list[str]]:
    """Cut at quantiles of the real rows; a bin is named by its real median."""
    sides = [_floats(real), _floats(synthetic)]
    known = sides[0][np.isfinite(sides[0])]
    if not len(known):
        known = np.zeros(1)
    places = np.linspace(0, 1, _N_BINS + 1)[1:-1]
    inner = np.quantile(known, places, method="higher")  # a value, so no bin is empty
    edges = np.unique(inner[inner > known.min()])  # a spike leaves fewer bins
    codes = [
        np.where(np.isnan(side), -1, np.searchsorted(edges, side, side="right"))
        for side in sides
    ]
    cells = np.searchsorted(edges, known, side="right")
    middles = [np.median(known[cells == cell]) for cell in range(len(edges) + 1)]
    if pd.api.types.is_datetime64_any_dtype(real):
        return codes, [str(np.datetime64(int(day), "D"))[:7] for day in middles]
    return codes, [f"{x:.0f}" if 100 <= abs(x) < 1e6 else f"{x:.3g}" for x in middles]


def _floats(values: pd.Series) -> np.ndarray:
    """Return numbers as floats and dates as days since 1970; missing is NaN."""
    if pd.api.types.is_datetime64_any_dtype(values):
        days = values.dt.tz_localize(None).to_numpy("datetime64[s]")
        seconds = days.astype("int64").astype(float)
        return np.where(np.isnat(days), np.nan, seconds / 86400.0)
    return values.to_numpy(dtype="float64", na_value=np.nan)


def _levels(
    real: pd.Series, synthetic: pd.Series
) -> tuple[list[np.ndarray], list[str]]:
    """Give each frequent value a cell, and the others one together."""
    sides = [
        side.astype("object").where(side.notna(), None) for side in (real, synthetic)
    ]
    shares = pd.concat([side.value_counts(normalize=True) for side in sides], axis=1)
    shares = shares.fillna(0.0)
    # by position: boolean labels would be mistaken for a mask
    frequent = np.argsort(-shares.max(axis=1).to_numpy(), kind="stable")[:_N_LEVELS]
    levels = _in_order(shares.iloc[frequent], real)
    code_of = {level: code for code, level in enumerate(levels)}
    codes = [
        np.array([-1 if v is None else code_of.get(v, len(levels)) for v in side])
        for side in sides
    ]
    names = [_short(level) for level in levels]
    return codes, [*names, _OTHER] if len(shares) > len(levels) else names


def _strongest(cut: dict[Any, _CutColumn], max_pairs: int) -> list[tuple[Any, Any]]:
    """Return the pairs whose real columns depend most on each other."""
    pairs = list(combinations(cut, 2))
    order = sorted(pairs, key=lambda pair: -_dependence(*(cut[n] for n in pair)))
    return order[:max_pairs]


def _dependence(first: _CutColumn, second: _CutColumn) -> float:
    """Cramér's V, squared, less what chance alone gives in tables of that size."""
    some = slice(None, None, math.ceil(len(first.real) / _N_JUDGED))
    table = _joint(first.real[some], second.real[some], first, second)
    table = table[table.any(axis=1)][:, table.any(axis=0)]
    smaller = min(table.shape) - 1
    if smaller < 1:
        return 0.0
    alone = np.outer(table.sum(axis=1), table.sum(axis=0))
    square = float(((table - alone) ** 2 / alone).sum())
    chance = (table.shape[0] - 1) * (table.shape[1] - 1) / len(first.real[some])
    return (square - chance) / smaller


def _joint(
    down: np.ndarray, across: np.ndarray, first: _CutColumn, second: _CutColumn
) -> np.ndarray:
    """Return the share of rows in every pair of cells."""
    shape = len(first.names), len(second.names)
    counts = np.bincount(down * shape[1] + across, minlength=shape[0] * shape[1])
    return counts.reshape(shape) / len(down)


def _ticks(names: list[str]) -> tuple[list[int], list[str]]:
    """Return places and names, no more than can be read."""
    step = math.ceil(len(names) / _N_TICKS)
    places = list(range(0, len(names), step))
    return places, [names[place] for place in places]
