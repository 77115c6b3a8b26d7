"""How near a generator came to the embedding it was trained on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skdpgen.utils import require

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_STEP, _MEAN, _LEVEL = "#d0722f", "#7a3b10", "#4c566a"
_RECENT = 20  # steps in the running mean


def plot_loss(synthesizer: Any, ax: Axes | None = None) -> Figure:
    """Draw the loss of every training step of a fitted synthesizer.

    The dashed line at 1 is the loss of independent columns (with ``numbers="fourier"``:
    of features that are all zero). How far the curve falls below it shows what the
    generator learnt about relations. It starts above, since a fresh network does not
    know the columns yet.

    The target is noisy: the curve need not reach 0, and training ends early once what
    is left is well within the noise. The loss is computed from the stored release and
    reads no row, so the guarantee covers this picture, unlike the others.

    Parameters
    ----------
    synthesizer : fitted synthesizer
        One that trains a generator and keeps its ``loss_curve_``.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    matplotlib.figure.Figure
        The figure of ``ax``, or a new one without a window.

    Examples
    --------
    >>> from skdpgen import DPMERFSynthesizer
    >>> from skdpgen.datasets import load_example
    >>> from skdpgen.plotting import plot_loss
    >>> X, y = load_example(2000)
    >>> synth = DPMERFSynthesizer(epsilon=10.0, classes=["left", "stayed"], max_iter=20)
    >>> figure = plot_loss(synth.fit(X, y))
    >>> figure.axes[0].get_xlabel()
    'training step'
    """
    figures = require("matplotlib.figure", extra="plot")
    losses = _losses(synthesizer)
    if ax is None:
        figure = figures.Figure(figsize=(5.0, 3.2), layout="constrained")
        ax = figure.add_subplot()
    steps = np.arange(1, len(losses) + 1)
    ax.plot(steps, losses, color=_STEP, linewidth=0.8, alpha=0.7, label="each step")
    if len(losses) > _RECENT:
        mean = np.convolve(losses, np.full(_RECENT, 1 / _RECENT), mode="valid")
        ax.plot(steps[_RECENT - 1 :], mean, color=_MEAN, label=f"mean of {_RECENT}")
    ax.axhline(1.0, color=_LEVEL, linestyle="--", linewidth=1, label="columns alone")
    if not len(losses):
        ax.text(0.5, 0.6, "no training steps", ha="center", transform=ax.transAxes)
    ax.set(xlabel="training step", ylabel="loss")
    _scale(ax)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, fontsize=8)
    return ax.figure


def _losses(synthesizer: Any) -> np.ndarray:
    """Return the loss curve, or raise an error that says why there is none."""
    check_is_fitted(synthesizer)
    if not hasattr(synthesizer, "loss_curve_"):
        raise TypeError(
            "plot_loss needs a synthesizer that trains a generator, such as "
            f"DPMERFSynthesizer. Got {type(synthesizer).__name__} instead."
        )
    return np.asarray(synthesizer.loss_curve_, dtype=float)


def _scale(ax: Axes) -> None:
    """Make the loss axis logarithmic, labelled with plain numbers."""
    ticker = require("matplotlib.ticker", extra="plot")
    ax.set_yscale("log")
    ax.yaxis.set_major_locator(ticker.LogLocator(subs=(1.0, 2.0, 5.0)))
    ax.yaxis.set_major_formatter("{x:g}")
    ax.yaxis.set_minor_formatter(ticker.NullFormatter())
    ax.tick_params(labelsize=8)
