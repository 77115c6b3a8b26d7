"""One panel per column: how often each value occurs in real and in synthetic rows."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from skdpgen.metrics import read_alike
from skdpgen.plotting._columns import (
    REAL,
    SYNTHETIC,
    Bar,
    Panel,
    Steps,
    legend,
    level_order,
    panel_of,
    percent,
    point_names,
    short,
    time_name,
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
# One panel of :func:`plot_marginals`: bars or a histogram, and what stands apart.

_HISTOGRAM = 12.0  # widths of a bar that a histogram takes
_APART, _GAP = 1.6, 0.5  # those of a bar that stands apart, and of the gap before it
_ROOM = 1.4  # height of a panel with numbers in it, by its highest bar
_GROUND = "#f3f1ec"
_DAY = 86_400.0
_FONT_SIZE = 7

Ticks = list[tuple[float, str]]


def draw_panel(axes: Axes, panel: Panel) -> None:
    """Draw the values, and beside them, on a ground of its own, what stands apart.

    Shares of what stands apart are written above its bars, in percent. These bars are
    as high as all others, unless one of them is higher than all values: then they get
    a scale of their own, marked by the background.
    """
    body, left, right = panel.body, panel.left, panel.right
    if isinstance(body, Steps):
        width, top = _HISTOGRAM, float(max(body.real.max(), body.synthetic.max()))
        ticks = _draw_steps(axes, body)
    else:
        width, top = float(len(body)), _highest(body)
        ticks = _draw_bars(axes, body)
    highest = _highest([*left, *right])
    scale = top / highest if 0 < top < highest else 1.0
    top = top or highest or 1.0

    starts = -_GAP - _APART * len(left), width + _GAP if width else 0.0
    for start, bars in zip(starts, (left, right), strict=True):
        if bars:
            ticks += _draw_apart(axes, start, bars, scale, top)
    axes.set_ylim(0, _ROOM * top if left or right else 1.05 * top)
    axes.set_xlim(
        starts[0] if left else 0.0, starts[1] + _APART * len(right) if right else width
    )
    _label(axes, ticks)


def _highest(bars: list[Bar]) -> float:
    return max([0.0, *(max(bar.real, bar.synthetic) for bar in bars)])


def _draw_steps(axes: Axes, steps: Steps) -> Ticks:
    """Draw both histograms, stretched over the places of bars; return their ticks."""
    low, high = steps.edges[0], steps.edges[-1]

    def place(value: float) -> float:
        return float(_HISTOGRAM * (value - low) / (high - low))

    edges = np.array([place(edge) for edge in steps.edges])
    axes.stairs(steps.real, edges, fill=True, color=REAL, alpha=0.35)
    axes.stairs(steps.synthetic, edges, color=SYNTHETIC, linewidth=1.3)
    if steps.is_time:
        return [(place(day), name) for day, name in _dates_between(low, high)]
    ticker = require("matplotlib.ticker", extra="plot")
    marks = ticker.MaxNLocator(nbins=4).tick_values(low, high)
    inside = [mark for mark in marks.tolist() if low <= mark <= high]
    names = point_names(inside, is_time=False)
    return [(place(mark), name) for mark, name in zip(inside, names, strict=True)]


def _dates_between(low: float, high: float) -> list[tuple[float, str]]:
    """Return some three dates with their names, as coarse as their distance allows."""
    days = high - low
    unit = "Y" if days > 1200 else "M" if days > 100 else "D" if days > 3 else "m"
    marks = {}  # by name, so that no date is written twice
    for day in np.linspace(low, high, 4)[1:] - (high - low) / 8:
        name = time_name(day * _DAY, unit)
        start = np.datetime64(name.replace(" ", "T")).astype("datetime64[s]")
        marks[name] = start.astype(np.int64) / _DAY
    return [(day, name) for name, day in marks.items() if low <= day <= high]


def _draw_bars(axes: Axes, bars: list[Bar]) -> Ticks:
    """Draw two bars per value; return their ticks."""
    places = np.arange(len(bars)) + 0.5
    heights = [bar.real for bar in bars], [bar.synthetic for bar in bars]
    if bars:
        axes.bar(places - 0.2, heights[0], 0.4, color=REAL, alpha=0.45)
        axes.bar(places + 0.2, heights[1], 0.4, color=SYNTHETIC)
    return list(zip(places.tolist(), [bar.name for bar in bars], strict=True))


def _draw_apart(
    axes: Axes, start: float, bars: list[Bar], scale: float, top: float
) -> Ticks:
    """Draw bars that stand apart, with their numbers; return their ticks."""
    places = start + _APART * (np.arange(len(bars)) + 0.5)
    end = start + _APART * len(bars)
    axes.axvspan(start, end, color=_GROUND, zorder=0, linewidth=0)
    sides = (
        (-0.3, [bar.real for bar in bars], {"color": REAL, "alpha": 0.45}),
        (0.3, [bar.synthetic for bar in bars], {"color": SYNTHETIC}),
    )
    for shift, shares, style in sides:
        heights = [scale * share for share in shares]
        axes.bar(places + shift, heights, 0.5, **style)
        for place, share, height in zip(places, shares, heights, strict=True):
            axes.text(
                place + shift,
                height + 0.02 * top,
                percent(share),
                color=style["color"],
                fontsize=_FONT_SIZE - 1,
                rotation=90,
                ha="center",
                va="bottom",
            )
    if scale < 1:
        axes.text(
            (start + end) / 2,
            _ROOM * top,
            "own scale",
            color="gray",
            fontsize=_FONT_SIZE - 1.5,
            ha="center",
            va="top",
        )
    return list(zip(places.tolist(), [bar.name for bar in bars], strict=True))


def _label(axes: Axes, ticks: Ticks) -> None:
    """Write names below, turned if they would meet, and two shares at the left."""
    ticker = require("matplotlib.ticker", extra="plot")
    names = [short(name, 24) for _, name in ticks]
    axes.set_xticks([place for place, _ in ticks], names)
    if len(" ".join(names)) > 22:
        for label in axes.get_xticklabels():
            label.set(rotation=55, ha="right", rotation_mode="anchor")
    axes.yaxis.set_major_locator(ticker.MaxNLocator(nbins=2, prune="lower"))
    axes.yaxis.set_major_formatter(lambda share, _: f"{100 * share:g} %")
    axes.tick_params(labelsize=_FONT_SIZE, length=2)
    axes.tick_params(axis="y", labelcolor="gray", labelsize=_FONT_SIZE - 1, length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)


# ----------------------------------------------------------------------------
# One panel per column: how often each value occurs in real and in synthetic rows.

_ACROSS = 4  # panels side by side


def plot_marginals(
    real: Rows,
    synthetic: Rows,
    columns: Sequence[Hashable] | None = None,
    max_columns: int = 60,
    *,
    page: int = 1,
    other: str = "other",
) -> Figure:
    """Draw each column's distribution, real against synthetic.

    Every row of both tables is in every panel. Text and columns of few values become
    bars: the twelve most frequent real values, then one bar for all rarer ones
    ("112 more") and one for values that no real row has ("3 not real"). Other numbers
    and dates become step histograms on common bins. These span nearly all real rows,
    and the synthetic ones if they are near; who is outside is counted in bars at the
    ends, those within the real range apart from those that no real row reaches.

    On a ground of their own stand these bars, the catch-all category and missing, with
    their shares in percent. Text is read as dates if nearly all of it is; numbers that
    are codes are taken for numbers unless they are text or categories.

    **A picture of real rows is outside the privacy guarantee**: it shows true
    frequencies, without noise. Keep it where the real rows are kept.

    Parameters
    ----------
    real, synthetic : table or tuple (X, y)
        The two tables; with targets, these count as a column ``"(target)"``.
    columns : sequence of column names, default=None
        What to draw; None draws the columns that both tables have.
    max_columns : int, default=60
        At most this many of them are on a page; the picture states if there are more.
    page : int, default=1
        Which ``max_columns`` of them to draw.
    other : str, default="other"
        The catch-all category of the schema, which is no value like the others.

    Returns
    -------
    matplotlib.figure.Figure
        A figure without a window; save it with ``figure.savefig("marginals.png")``.

    Examples
    --------
    >>> from skdpgen.datasets import load_example
    >>> from skdpgen.plotting import plot_marginals
    >>> real, _ = load_example(500, random_state=0)
    >>> fresh, _ = load_example(500, random_state=1)
    >>> figure = plot_marginals(real, fresh, columns=["age", "job"])
    >>> [axes.get_title() for axes in figure.axes]
    ['age', 'job']
    """
    figures = require("matplotlib.figure", extra="plot")
    real_frame, synthetic_frame = two_tables(real, synthetic, columns)
    n_columns = real_frame.shape[1]
    names = _on_page(list(real_frame.columns), max_columns, page)
    n_across = min(_ACROSS, len(names))
    n_down = math.ceil(len(names) / n_across)
    figure = figures.Figure(
        figsize=(3.2 * n_across, 2.5 * n_down + 0.4), layout="constrained"
    )
    for place, name in enumerate(names, start=1):
        axes = figure.add_subplot(n_down, n_across, place)
        pair = read_alike(real_frame[name], synthetic_frame[name])
        draw_panel(axes, panel_of(pair, other, level_order(real_frame[name])))
        axes.set_title(str(name), fontsize=10)
    if len(names) < n_columns:
        first = (page - 1) * max_columns + 1
        figure.supxlabel(
            f"columns {first} to {first + len(names) - 1} of {n_columns}: "
            "`page` has the others",
            fontsize=8,
        )
    legend(figure)
    return figure


def _on_page(names: list[Hashable], max_columns: int, page: int) -> list[Hashable]:
    """Return the names to draw."""
    if max_columns < 1:
        raise ValueError(f"max_columns must be at least 1. Got {max_columns} instead.")
    n_pages = math.ceil(len(names) / max_columns)
    if not 1 <= page <= n_pages:
        raise ValueError(f"page must be 1 to {n_pages} here. Got {page} instead.")
    return names[(page - 1) * max_columns : page * max_columns]
