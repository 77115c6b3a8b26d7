"""How far a generator came towards the embedding that it was trained on."""

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

    The dashed line at 1 is what independent columns leave of the released embedding
    (with ``numbers="fourier"``, what an empty table would leave). How far the curve
    goes below it is what the generator learnt about relations. It starts higher: a
    fresh network has lost the columns themselves, and finds them first.

    The target is noisy, so the curve has no reason to reach 0: training ends early
    where what is left is as large as the noise. The loss reads the stored release and
    no row: unlike the other pictures it is covered by the guarantee.

    Parameters
    ----------
    synthesizer : fitted synthesizer
        One that trains, with a ``loss_curve_``.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    matplotlib.figure.Figure
        The figure of ``ax``, or one without a window.

    Examples
    --------
    >>> from skdpgen import DPMERFSynthesizer
    >>> from skdpgen.datasets import load_example
    >>> from skdpgen.plotting import plot_loss
    >>> X, y = load_example(2000)
    >>> synth = DPMERFSynthesizer(epsilon=10.0, classes=["left", "stayed"], n_iter=50)
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
    ax.plot(steps, losses, color=_STEP, linewidth=0.8, alpha=0.7, label="a step")
    if len(losses) > _RECENT:
        mean = np.convolve(losses, np.full(_RECENT, 1 / _RECENT), mode="valid")
        ax.plot(steps[_RECENT - 1 :], mean, color=_MEAN, label=f"mean of {_RECENT}")
    ax.axhline(1.0, color=_LEVEL, linestyle="--", linewidth=1, label="columns alone")
    ax.set(xlabel="training step", ylabel="loss", yscale="log")
    if not len(losses):
        note = "not trained: nothing stood out of the noise"
        ax.text(0.5, 0.6, note, ha="center", transform=ax.transAxes, fontsize=9)
    ax.tick_params(labelsize=8)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, fontsize=8)
    return ax.get_figure()


def _losses(synthesizer: Any) -> np.ndarray:
    """Return the loss curve, or say why there is none."""
    check_is_fitted(synthesizer)
    if not hasattr(synthesizer, "loss_curve_"):
        raise TypeError(
            "plot_loss needs a synthesizer that trains a generator, as "
            f"DPMERFSynthesizer. Got {type(synthesizer).__name__} instead."
        )
    return np.asarray(synthesizer.loss_curve_, dtype=float)
