"""Two panels per pair of columns: which values go together, real and synthetic."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from skdpgen.metrics import ColumnPair
from skdpgen.plotting._columns import (
    apart,
    column_pairs,
    frequent_first,
    has_levels,
    interval_names,
    level_names,
    level_order,
    level_shares,
    short,
    summed_up,
    two_tables,
)
from skdpgen.utils import (
    Rows,
    require,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_N_BINS = 10
_N_LEVELS = 10  # the most frequent categories; the others share a cell
_N_JUDGED = 5000  # rows that choose the pairs


@dataclass(frozen=True, eq=False)
class _CutColumn:
    """A column cut into cells: the cell of every row, and the name of each cell."""

    real: np.ndarray
    synthetic: np.ndarray
    names: list[str]


def plot_pairs(
    real: Rows,
    synthetic: Rows,
    columns: Sequence[Hashable] | None = None,
    max_pairs: int = 6,
    *,
    other: str = "other",
) -> Figure:
    """Draw how often values of two columns go together, real beside synthetic.

    Each pair of columns has two heat maps on the same cells and colours, darker where
    there are more rows. Numbers and dates are cut at quantiles of the real rows, so two
    unrelated columns give an even colour; cells are named by what they span, and the
    outermost hold all rows beyond. Columns of few values have a cell for each, text of
    many for the ten most frequent real ones; the rarer share a cell, and so do those
    that no real row has. The catch-all category and missing are cells of their own.

    **A picture of real rows is outside the privacy guarantee**: it shows true
    frequencies, without noise, and even the choice of pairs reads them. Keep it where
    the real rows are kept.

    Parameters
    ----------
    real, synthetic : table or tuple (X, y)
        The two tables; with targets, these count as a column ``"(target)"``.
    columns : sequence of column names, default=None
        Pairs of these are drawn; None takes the columns that both tables have.
    max_pairs : int, default=6
        How many pairs to draw; those come first that depend most on each other in the
        real rows.
    other : str, default="other"
        The catch-all category of the schema, which is no value like the others.

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
    frames = two_tables(real, synthetic, columns)
    for name, frame in zip(("real", "synthetic"), frames, strict=True):
        if not len(frame):
            raise ValueError(f"{name} must have rows. Got an empty table instead.")
    if max_pairs < 1:
        raise ValueError(f"max_pairs must be at least 1. Got {max_pairs} instead.")
    real_frame = frames[0]
    if real_frame.shape[1] < 2:
        raise ValueError(
            f"columns must name at least two. Got {list(real_frame.columns)} instead."
        )
    cut = {
        name: _cut(pair, level_order(real_frame[name]), other)
        for name, pair in column_pairs(*frames).items()
    }
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
        axes.set_xticks(range(len(across.names)), across.names, rotation=60)
        for label in axes.get_xticklabels():
            label.set(ha="right", rotation_mode="anchor")
        axes.set_yticks(range(len(down.names)), down.names)
        axes.tick_params(labelsize=7, length=0)
        axes.spines[:].set_visible(False)
    panels[1].tick_params(labelleft=False)


def _cut(pair: ColumnPair, order: list[str] | None, other: str) -> _CutColumn:
    """Give every row of a column its cell; what stands apart comes last, if needed."""
    codes, names = _levels(pair, order, other) if has_levels(pair) else _bins(pair)
    for what, sides in apart(pair):
        codes = [
            np.where(is_apart, len(names), side)
            for is_apart, side in zip(sides, codes, strict=True)
        ]
        names = [*names, what]
    return _CutColumn(codes[0], codes[1], names)


def _bins(pair: ColumnPair) -> tuple[list[np.ndarray], list[str]]:
    """Cut at quantiles of the real rows; a bin is named by what it spans."""
    sides = [pair.real, pair.synthetic]
    real = sides[0][~np.isnan(sides[0])]
    if not len(real):
        real = np.zeros(1)
    places = np.linspace(0, 1, _N_BINS + 1)[1:-1]
    inner = np.quantile(real, places, method="higher")  # a value, so no bin is empty
    edges = np.unique(inner[inner > real.min()])  # a spike leaves fewer bins
    codes = [np.searchsorted(edges, side, side="right") for side in sides]
    finite = np.concatenate([side[np.isfinite(side)] for side in sides])
    is_whole = bool(np.all(finite == np.round(finite)))
    names = interval_names(
        edges.tolist(), is_whole=is_whole, is_time=pair.kind == "time"
    )
    return codes, [short(name, 22) for name in names]


def _levels(
    pair: ColumnPair, order: list[str] | None, other: str
) -> tuple[list[np.ndarray], list[str]]:
    """Give each frequent value a cell, and the others one together."""
    shares = level_shares(pair)
    catch_all = shares.index[shares.index == other]
    shown, rest = frequent_first(shares.drop(catch_all), _N_LEVELS, order)
    summed = summed_up(rest)
    cells = [*([level] for level in shown), *(levels for _, levels in summed)]
    cells += [[level] for level in catch_all]
    names = [*level_names(shown, pair.kind == "time"), *(bar.name for bar, _ in summed)]
    names = [short(name, 22) for name in [*names, *catch_all]]
    code_of = {level: code for code, cell in enumerate(cells) for level in cell}
    codes = [
        pd.Series(side).map(code_of).fillna(-1).to_numpy(dtype=np.intp)
        for side in (pair.real, pair.synthetic)
    ]
    return codes, names


def _strongest(
    cut: dict[Hashable, _CutColumn], max_pairs: int
) -> list[tuple[Hashable, Hashable]]:
    """Return the pairs whose real columns depend most on each other."""
    pairs = list(combinations(cut, 2))
    order = sorted(pairs, key=lambda pair: -_dependence(*(cut[n] for n in pair)))
    return order[:max_pairs]


def _dependence(first: _CutColumn, second: _CutColumn) -> float:
    """Cramér's V, squared, less what chance alone gives in tables of that size."""
    judged = slice(None, None, math.ceil(len(first.real) / _N_JUDGED))  # of the rows
    table = _joint(first.real[judged], second.real[judged], first, second)
    table = table[table.any(axis=1)][:, table.any(axis=0)]
    smaller = min(table.shape) - 1
    if smaller < 1:
        return 0.0
    independent = np.outer(table.sum(axis=1), table.sum(axis=0))
    phi_square = float(((table - independent) ** 2 / independent).sum())
    # the mean of phi squared for independent columns: degrees of freedom by rows
    chance = (table.shape[0] - 1) * (table.shape[1] - 1) / len(first.real[judged])
    return (phi_square - chance) / smaller


def _joint(
    down: np.ndarray, across: np.ndarray, first: _CutColumn, second: _CutColumn
) -> np.ndarray:
    """Return the share of rows in every pair of cells."""
    shape = len(first.names), len(second.names)
    counts = np.bincount(down * shape[1] + across, minlength=shape[0] * shape[1])
    return counts.reshape(shape) / len(down)
