"""One panel per column: how often each value occurs in real and in synthetic rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from skdpgen.metrics import read_alike
from skdpgen.plotting._panels import draw_panel
from skdpgen.plotting._two_tables import legend, level_order, two_tables
from skdpgen.plotting._value_shares import panel_of
from skdpgen.utils import require

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_ACROSS = 4  # panels side by side


def plot_marginals(
    real: Any,
    synthetic: Any,
    columns: Sequence[Any] | None = None,
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
        At most this many of them are on a page; the picture says so if there are more.
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
    real, synthetic = two_tables(real, synthetic, columns)
    names = _on_page(list(real.columns), max_columns, page)
    n_across = min(_ACROSS, len(names))
    n_down = math.ceil(len(names) / n_across)
    figure = figures.Figure(
        figsize=(3.2 * n_across, 2.5 * n_down + 0.4), layout="constrained"
    )
    for place, name in enumerate(names, start=1):
        axes = figure.add_subplot(n_down, n_across, place)
        pair = read_alike(real[name], synthetic[name])
        draw_panel(axes, panel_of(pair, other, level_order(real[name])))
        axes.set_title(str(name), fontsize=10)
    if len(names) < real.shape[1]:
        first = (page - 1) * max_columns + 1
        figure.supxlabel(
            f"columns {first} to {first + len(names) - 1} of {real.shape[1]}: "
            "`page` has the others",
            fontsize=8,
        )
    legend(figure)
    return figure


def _on_page(names: list[Any], max_columns: int, page: int) -> list[Any]:
    """Return the names to draw."""
    if max_columns < 1:
        raise ValueError(f"max_columns must be at least 1. Got {max_columns} instead.")
    n_pages = math.ceil(len(names) / max_columns)
    if not 1 <= page <= n_pages:
        raise ValueError(f"page must be 1 to {n_pages} here. Got {page} instead.")
    return names[(page - 1) * max_columns : page * max_columns]
