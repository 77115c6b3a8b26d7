"""The written part of :func:`plot_overview`: lost categories, and ranges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from skdpgen.plotting._kept_and_lost import LostLevels
from skdpgen.plotting._names import percent, short
from skdpgen.plotting._two_tables import REAL, SYNTHETIC

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST = 25  # columns that a part of the page lists; they have 300 pairs
SIZE = 8
_TITLE, _HEAD = 2, 1  # lines

Cells = list[tuple[float, str, str]]  # place, text, colour


def text_lines(n: int) -> int:
    """Return how many lines a list takes with its title, its head and what is left."""
    return min(n, MOST) + _TITLE + _HEAD + 2


def write_lost(axes: Axes, lost: dict[Any, LostLevels], other: str) -> None:
    """Write a line per column that lost categories or has new ones."""
    places = 0.0, 0.24, 0.4, 0.5, 0.75, 0.9
    lines: list[Cells] = []
    for name, found in lost.items():
        examples = ", ".join(short(text, 10) for text in found.examples)
        cells = [
            short(str(name), 22),
            f"{found.n_lost} of {found.n_real}" if found.n_lost else "none",
            f"{percent(found.lost)} %" if found.n_lost else "",
            short(examples, 24) if found.n_lost else "",
            f"{found.n_new}: {percent(found.new)} %" if found.n_new else "none",
            f"{percent(found.other)} %" if found.other else "",
        ]
        colors = ["black", *[REAL] * 3, *[SYNTHETIC] * 2]
        lines.append(list(zip(places, cells, colors, strict=True)))
    head = ["column", "lost", "real rows", "such as", "new: rows", other]
    _write(axes, "categories lost, and new ones", places, head, lines)


def write_ranges(axes: Axes, spans: dict[Any, pd.DataFrame]) -> None:
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
    axes.set_title(title, loc="left", fontsize=SIZE + 2)
    if not lines:
        axes.text(0.0, 0.0, "none", fontsize=SIZE, va="top")
        return
    most = MOST - MOST % per_column
    for place, text in zip(places, head, strict=True):
        axes.text(place, 0.0, text, fontsize=SIZE - 1, color="gray", va="top")
    for line, cells in enumerate(lines[:most], start=_HEAD):
        for place, text, color in cells:
            axes.text(place, line, text, fontsize=SIZE, color=color, va="top")
    if len(lines) > most:
        left_out = (len(lines) - most) // per_column
        text = f"{left_out} more columns: choose by `columns`"
        axes.text(0.0, most + _HEAD, text, fontsize=SIZE, color="gray", va="top")
