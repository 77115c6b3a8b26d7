"""One page about two tables: missing, distances, pairs, and what was lost."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from skdpgen.metrics import marginal_distances, total_variation
from skdpgen.plotting._columns import (
    REAL,
    SYNTHETIC,
    LostLevels,
    column_pairs,
    complete_rows,
    legend,
    lost_levels,
    missing_shares,
    percent,
    ranges,
    short,
    two_tables,
)
from skdpgen.utils import (
    Rows,
    require,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


# ----------------------------------------------------------------------------
# The written part of :func:`plot_overview`: lost categories, and ranges.

MOST_COLUMNS = 25  # that a part of the page lists; they have 300 pairs
FONT_SIZE = 8
_TITLE, _HEAD = 2, 1  # lines

Cells = list[tuple[float, str, str]]  # place, text, colour


def text_lines(n: int) -> int:
    """Return the number of lines of a list with title, head and remainder."""
    return min(n, MOST_COLUMNS) + _TITLE + _HEAD + 2


def write_lost(axes: Axes, lost: dict[Hashable, LostLevels], other: str) -> None:
    """Write a line per column that lost categories or has new ones."""
    places = 0.0, 0.24, 0.4, 0.5, 0.75, 0.9
    lines: list[Cells] = []
    for name, levels in lost.items():
        examples = ", ".join(short(text, 10) for text in levels.examples)
        cells = [
            short(str(name), 22),
            f"{levels.n_lost} of {levels.n_real}" if levels.n_lost else "none",
            f"{percent(levels.lost)} %" if levels.n_lost else "",
            short(examples, 24) if levels.n_lost else "",
            f"{levels.n_new}: {percent(levels.new)} %" if levels.n_new else "none",
            f"{percent(levels.other)} %" if levels.other else "",
        ]
        colors = ["black", *[REAL] * 3, *[SYNTHETIC] * 2]
        lines.append(list(zip(places, cells, colors, strict=True)))
    head = ["column", "lost", "real rows", "such as", "new: rows", other]
    _write(axes, "categories lost, and new ones", places, head, lines)


def write_ranges(axes: Axes, spans: dict[Hashable, pd.DataFrame]) -> None:
    """Write two lines per column of numbers or dates: real, then synthetic."""
    places = 0.0, 0.26, 0.41, 0.56, 0.71, 0.86
    lines: list[Cells] = []
    for name, span in spans.items():
        for side, color in (("real", REAL), ("synthetic", SYNTHETIC)):
            label = short(str(name), 22) if side == "real" else ""
            cells = [label, *span.loc[side].tolist()]
            colors = ["black", *[color] * len(span.columns)]
            lines.append(list(zip(places, cells, colors, strict=True)))
    head = ["column", *next(iter(spans.values())).columns] if spans else []
    _write(axes, "ranges of numbers and dates", places, head, lines, per_column=2)


def _write(
    axes: Axes,
    title: str,
    places: tuple[float, ...],
    head: list[str],
    lines: list[Cells],
    per_column: int = 1,
) -> None:
    """Write a head and lines of cells, and how many columns are left out."""
    axes.set_axis_off()
    axes.set_ylim(text_lines(len(lines)) - _TITLE, 0)
    axes.set_title(title, loc="left", fontsize=FONT_SIZE + 2)
    if not lines:
        axes.text(0.0, 0.0, "none", fontsize=FONT_SIZE, va="top")
        return
    most = MOST_COLUMNS - MOST_COLUMNS % per_column  # all lines of a column, or none
    for place, text in zip(places, head, strict=True):
        axes.text(place, 0.0, text, fontsize=FONT_SIZE - 1, color="gray", va="top")
    for line, cells in enumerate(lines[:most], start=_HEAD):
        for place, text, color in cells:
            axes.text(place, line, text, fontsize=FONT_SIZE, color=color, va="top")
    if len(lines) > most:
        left_out = (len(lines) - most) // per_column
        text = f"{left_out} more columns: choose by `columns`"
        axes.text(0.0, most + _HEAD, text, fontsize=FONT_SIZE, color="gray", va="top")


# ----------------------------------------------------------------------------
# One page about two tables: missing, distances, pairs, and what was lost.

_LINE = 0.19  # inches
_FEWEST = 10  # bars that a list has room for, so that they stay slim
_PALE = 0.2  # a lower distance is pale, and short, even if it is the largest


def plot_overview(
    real: Rows,
    synthetic: Rows,
    columns: Sequence[Hashable] | None = None,
    *,
    other: str = "other",
) -> Figure:
    """Draw on one page the distances of a synthetic table, and lost values.

    * Missing: the share of complete rows, and of missing values by column.
    * Single columns: their distances, by :func:`~skdpgen.metrics.marginal_distances`,
      the largest first. The black marks are the distance between two halves of the real
      rows: what chance alone does to tables of half the size.
    * Pairs of columns: their distances, by the same function, as a heat map; the
      diagonal is of single columns. The mean is that of
      :func:`~skdpgen.metrics.total_variation`.
    * Lost: real categories that no synthetic row has, synthetic ones that no real row
      has, and the ranges of numbers and dates.

    Each part lists its worst columns and says how many others there are.

    **A picture of real rows is outside the privacy guarantee**: it shows true shares
    and extreme values, without noise. Keep it where the real rows are kept.

    Parameters
    ----------
    real, synthetic : table or tuple (X, y)
        The two tables; with targets, these count as a column ``"(target)"``.
    columns : sequence of column names, default=None
        What to look at; None takes the columns that both tables have.
    other : str, default="other"
        The catch-all category of the schema, which is no value like the others.

    Returns
    -------
    matplotlib.figure.Figure
        A figure without a window; save it with ``figure.savefig("overview.png")``.

    Examples
    --------
    >>> from skdpgen.datasets import load_example
    >>> from skdpgen.plotting import plot_overview
    >>> real = load_example(500, random_state=0)
    >>> figure = plot_overview(real, load_example(500, random_state=1))
    >>> [figure.axes[part].get_title(loc="left") for part in (2, 4)]
    ['pairs of columns: mean distance 0.179', 'categories lost, and new ones']
    """
    figures = require("matplotlib.figure", extra="plot")
    frames = two_tables(real, synthetic, columns)
    for name, frame in zip(("real", "synthetic"), frames, strict=True):
        if not len(frame):
            raise ValueError(f"{name} must have rows. Got an empty table instead.")
    pairs = column_pairs(*frames)
    lost, spans = lost_levels(pairs, other), ranges(pairs)
    distances = marginal_distances(*frames)
    distances = distances.sort_values(ascending=False, kind="stable")

    lines = [text_lines(len(lost)), text_lines(2 * len(spans))]
    heights = [
        _LINE * max(min(len(distances), MOST_COLUMNS), _FEWEST) + 1.2,
        max(_LINE * sum(lines), _LINE * min(len(distances), MOST_COLUMNS) + 2.0, 4.0),
    ]
    figure = figures.Figure(figsize=(13, sum(heights) + 0.6), layout="constrained")
    grid = figure.add_gridspec(2, 2, height_ratios=heights)
    _draw_missing(figure.add_subplot(grid[0, 0]), *frames)
    halves = _halves(frames[0])
    _draw_distances(figure.add_subplot(grid[0, 1]), distances, halves)
    _draw_pairs(figure.add_subplot(grid[1, 0]), *frames, distances, halves)
    texts = grid[1, 1].subgridspec(2, 1, height_ratios=lines)
    write_lost(figure.add_subplot(texts[0]), lost, other)
    write_ranges(figure.add_subplot(texts[1]), spans)
    legend(figure)
    figure.supxlabel("Made of real rows: outside the privacy guarantee", fontsize=8)
    return figure


def _halves(real: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Cut the real rows in two, the same way at every call."""
    if len(real) == 1:
        return real, real
    order = np.random.default_rng(0).permutation(len(real))
    half = len(real) // 2
    return real.iloc[order[:half]], real.iloc[order[half:]]


def _draw_missing(axes: Axes, real: pd.DataFrame, synthetic: pd.DataFrame) -> None:
    """Draw two bars per column with missing values."""
    whole = percent(complete_rows(real)), percent(complete_rows(synthetic))
    shares = missing_shares(real, synthetic)
    _title(axes, f"complete rows: {whole[0]} % real, {whole[1]} % synthetic")
    if shares.empty:
        axes.set_axis_off()
        axes.text(0, 0.97, "nothing is missing", va="top", fontsize=FONT_SIZE)
        return
    shares = _worst(shares)
    places = np.arange(len(shares))
    axes.barh(places - 0.2, shares["real"], 0.4, color=REAL, alpha=0.45)
    axes.barh(places + 0.2, shares["synthetic"], 0.4, color=SYNTHETIC)
    _list_names(axes, list(shares.index))
    axes.set_xlabel("missing share of the rows", fontsize=FONT_SIZE)
    axes.xaxis.set_major_formatter(lambda share, _: f"{100 * share:g} %")


def _draw_distances(
    axes: Axes, distances: pd.Series, halves: tuple[pd.DataFrame, pd.DataFrame]
) -> None:
    """Draw a bar per column, and what chance alone gives."""
    chance = marginal_distances(*halves).reindex(distances.index)
    worst = _worst(pd.DataFrame({"synthetic": distances, "chance": chance}))
    places = np.arange(len(worst))
    axes.barh(places, worst["synthetic"], 0.7, color=SYNTHETIC, alpha=0.8)
    axes.vlines(worst["chance"], places - 0.45, places + 0.45, color="black", zorder=3)
    _list_names(axes, list(worst.index))
    _title(axes, f"single columns: mean distance {distances.mean():.3f}")
    axes.set_xlabel(
        f"total variation distance; black: two halves of the real rows, "
        f"mean {chance.mean():.3f}",
        fontsize=FONT_SIZE,
    )
    axes.set_xlim(0, max(_PALE, 1.05 * float(worst.to_numpy().max())))


def _draw_pairs(
    axes: Axes,
    real: pd.DataFrame,
    synthetic: pd.DataFrame,
    distances: pd.Series,
    halves: tuple[pd.DataFrame, pd.DataFrame],
) -> None:
    """Draw a heat map of the distances of pairs; single columns on its diagonal."""
    if real.shape[1] == 1:
        axes.set_axis_off()
        _title(axes, "pairs of columns: there are none")
        return
    of_pairs = marginal_distances(real, synthetic, order=2)
    by_column = pd.concat(
        [of_pairs.groupby(level=side).mean() for side in (0, 1)], axis=1
    )
    worst = by_column.mean(axis=1).sort_values(ascending=False, kind="stable")
    names = list(worst.index[:MOST_COLUMNS])
    if len(names) < real.shape[1]:  # then only some of their pairs were measured
        of_pairs = marginal_distances(real[names], synthetic[names], order=2)
    place = {name: number for number, name in enumerate(names)}
    table = np.diag(distances[names].to_numpy(dtype=float))
    for (first, second), distance in of_pairs.items():
        table[place[first], place[second]] = distance
        table[place[second], place[first]] = distance
    heat_map = axes.imshow(
        table, cmap="Oranges", vmin=0.0, vmax=max(_PALE, float(table.max()))
    )
    axes.set_anchor("N")
    bar = axes.figure.colorbar(heat_map, ax=axes, shrink=0.5)
    bar.ax.tick_params(labelsize=FONT_SIZE - 1)
    bar.outline.set_visible(False)
    texts = [short(str(name), 16) for name in names]
    axes.set_xticks(range(len(names)), texts, rotation=60)
    for label in axes.get_xticklabels():
        label.set(ha="right", rotation_mode="anchor")
    axes.set_yticks(range(len(names)), texts)
    axes.tick_params(labelsize=FONT_SIZE - 1, length=0)
    axes.spines[:].set_visible(False)
    mean = total_variation(real, synthetic, order=2)
    _title(axes, f"pairs of columns: mean distance {mean:.3f}")
    chance = total_variation(*halves, order=2)
    what = f"mean of two halves of the real rows: {chance:.3f}"
    if len(names) < real.shape[1]:
        what += f"; {len(names)} of {real.shape[1]} columns, the worst"
    axes.set_xlabel(what, fontsize=FONT_SIZE)


def _worst(table: pd.DataFrame) -> pd.DataFrame:
    """Keep the first rows, and give the others their mean, each under its name."""
    table = table.set_axis([short(str(name), 22) for name in table.index])
    if len(table) <= MOST_COLUMNS:
        return table
    rest = table.iloc[MOST_COLUMNS - 1 :]
    mean = rest.mean().to_frame(f"mean of {len(rest)} more").T
    return pd.concat([table.iloc[: MOST_COLUMNS - 1], mean])


def _list_names(axes: Axes, names: list[str]) -> None:
    """Write names beside bars that go down the page."""
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(max(len(names), _FEWEST) - 0.4, -0.6)
    axes.tick_params(labelsize=FONT_SIZE - 1, length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)


def _title(axes: Axes, text: str) -> None:
    axes.set_title(text, loc="left", fontsize=FONT_SIZE + 2)
