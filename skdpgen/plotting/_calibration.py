"""Whether weighed public rows have the means that were released."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skdpgen.utils import require

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_BEFORE, _AFTER, _REFERENCE = "#b9c0cc", "#d0722f", "#4c566a"
_SURE = 2.0  # noise stds in an error bar


def plot_calibration(synthesizer: Any, ax: Axes | None = None) -> Figure:
    """Draw shares of public rows, as they are and weighed, against released ones.

    Each dot is a cell of a column in a class. If the ratio is right, weighed shares lie
    on the diagonal, within the noise of what was released (two standard deviations are
    drawn). Cells to the right of all dots near the bottom are values that public rows
    lack. It reads releases and public rows alone, so the guarantee covers it.

    Parameters
    ----------
    synthesizer : fitted DPDRESynthesizer
        One that released means, ``method="one_shot"``.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    matplotlib.figure.Figure
        The figure of ``ax``, or a new one without a window.

    Examples
    --------
    >>> from skdpgen import DPDRESynthesizer
    >>> from skdpgen.datasets import load_example
    >>> from skdpgen.plotting import plot_calibration
    >>> X, y = load_example(2000)
    >>> synth = DPDRESynthesizer(
    ...     classes=["left", "stayed"], public_data=(X[:1000], y[:1000])
    ... )
    >>> plot_calibration(synth.fit(X[1000:], y[1000:])).axes[0].get_xlabel()
    'released share of private rows'
    """
    figures = require("matplotlib.figure", extra="plot")
    check_is_fitted(synthesizer)
    table = getattr(synthesizer, "calibration_", None)
    if table is None:
        raise TypeError(
            "plot_calibration needs a DPDRESynthesizer that released means, with "
            f"method='one_shot'. Got {type(synthesizer).__name__} without."
        )
    if ax is None:
        figure = figures.Figure(figsize=(4.6, 4.2), layout="constrained")
        ax = figure.add_subplot()
    released, noise = table["released"], _SURE * table["noise"]
    for column, color, label in (
        ("public", _BEFORE, "public rows"),
        ("weighed", _AFTER, "weighed"),
    ):
        ax.plot(released, table[column], ".", color=color, markersize=4, label=label)
    ax.hlines(
        table["weighed"], released - noise, released + noise, color=_AFTER, alpha=0.2
    )
    ends = np.array([0.0, max(released.max(), table["weighed"].max())])
    ax.plot(ends, ends, color=_REFERENCE, linewidth=1)
    ax.set(xlabel="released share of private rows", ylabel="share of public rows")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, fontsize=8)
    return ax.figure
