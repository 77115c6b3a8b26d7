"""One panel of :func:`plot_marginals`: bars or a histogram, and what stands apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from skdpgen.plotting._names import percent, point_names, short, time_name
from skdpgen.plotting._two_tables import REAL, SYNTHETIC
from skdpgen.plotting._value_shares import Bar, Panel, Steps
from skdpgen.utils import require

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_HISTOGRAM = 12.0  # widths of a bar that a histogram takes
_APART, _GAP = 1.6, 0.5  # those of a bar that stands apart, and of the gap before it
_ROOM = 1.4  # height of a panel with numbers in it, by its highest bar
_GROUND = "#f3f1ec"
_DAY = 86_400.0
_SIZE = 7

Ticks = list[tuple[float, str]]


def draw_panel(axes: Axes, panel: Panel) -> None:
    """Draw the values, and beside them, on a ground of its own, what stands apart.

    Shares of what stands apart are written above its bars, in percent. These bars are
    as high as all others, unless one of them is higher than all values: then they get
    a scale of their own, and the ground says so.
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
    marks = {}
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
    for shift, shares, look in sides:
        heights = [scale * share for share in shares]
        axes.bar(places + shift, heights, 0.5, **look)
        for place, share, height in zip(places, shares, heights, strict=True):
            axes.text(
                place + shift,
                height + 0.02 * top,
                percent(share),
                color=look["color"],
                fontsize=_SIZE - 1,
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
            fontsize=_SIZE - 1.5,
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
    axes.tick_params(labelsize=_SIZE, length=2)
    axes.tick_params(axis="y", labelcolor="gray", labelsize=_SIZE - 1, length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)
