"""Plots of losses, of calibration, and grids of images."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skdpgen.tables import as_pixels, image_size
from skdpgen.utils import (
    Images,
    Labels,
    Synthesizer,
    require,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure


# ----------------------------------------------------------------------------
# How near a generator came to the embedding it was trained on.

_STEP, _MEAN, _LEVEL = "#d0722f", "#7a3b10", "#4c566a"
_RECENT = 20  # steps in the running mean


def plot_loss(synthesizer: Synthesizer, ax: Axes | None = None) -> Figure | SubFigure:
    """Draw the loss of every training step of a fitted synthesizer.

    The dashed line at 1 is the loss of independent columns (of features that are all
    zero with ``numeric_encoding="fourier"``). How far the curve falls below it shows
    what the generator learnt about relations. It starts above, since a fresh network
    does not know the columns yet.

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
    >>> synth = DPMERFSynthesizer(epsilon=10.0, classes=["left", "stayed"])
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


def _losses(synthesizer: Synthesizer) -> np.ndarray:
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


# ----------------------------------------------------------------------------
# Whether weighed public rows have the means that were released.

_BEFORE, _AFTER, _REFERENCE = "#b9c0cc", "#d0722f", "#4c566a"
_SURE = 2.0  # noise stds in an error bar


def plot_calibration(
    synthesizer: Synthesizer, ax: Axes | None = None
) -> Figure | SubFigure:
    """Draw shares of public rows, as they are and weighed, against released ones.

    Each dot is a cell of a column in a class. If the ratio is right, weighed shares lie
    on the diagonal, within the noise of what was released (two standard deviations are
    drawn). Cells to the right of all dots near the bottom are values that public rows
    lack. It reads releases and public rows alone, so the guarantee covers it.

    Parameters
    ----------
    synthesizer : fitted DPDRESynthesizer
        One that released means, ``algorithm="one_shot"``.
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
    >>> synth = DPDRESynthesizer(classes=["left", "stayed"])
    >>> public = X[:1000], y[:1000]
    >>> _ = synth.fit(X[1000:], y[1000:], public_data=public)
    >>> plot_calibration(synth).axes[0].get_xlabel()
    'released share of private rows'
    """
    figures = require("matplotlib.figure", extra="plot")
    check_is_fitted(synthesizer)
    table = getattr(synthesizer, "calibration_", None)
    if table is None:
        raise TypeError(
            "plot_calibration needs a DPDRESynthesizer that released means, with "
            f"algorithm='one_shot'. Got {type(synthesizer).__name__} without."
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


# ----------------------------------------------------------------------------
# A grid of images: a row for each class.

N_COLUMNS = 10
CELL = 0.6  # inches
MOST_ROWS = 20  # of images without labels


def plot_images(
    images: Images, labels: Labels | None = None, n_columns: int = N_COLUMNS
) -> Figure:
    """Draw the first images of each class, one row per class.

    A picture of synthetic images is covered by their guarantee; one of real images
    shows people.

    Parameters
    ----------
    images : array of shape (n, height, width) or (n, channels, height, width)
        Values are uint8, or floats in [0, 1]. Three channels are red, green and blue.
    labels : array-like of shape (n,) or None, default=None
        Each label gets a row; None fills up to 20 rows in order.
    n_columns : int, default=10
        Images of each class.

    Returns
    -------
    matplotlib.figure.Figure
        A figure without a window; save it with ``figure.savefig("images.png")``.

    Examples
    --------
    >>> from skdpgen.plotting import plot_images
    >>> figure = plot_images(np.zeros((20, 8, 8)), labels=[0, 1] * 10)
    >>> len(figure.axes)
    20
    """
    matplotlib = require("matplotlib.figure", extra="plot")
    channels, height, width = image_size(images)
    if n_columns < 1:
        raise ValueError(f"n_columns must be at least 1. Got {n_columns!r} instead.")
    if not len(images):
        raise ValueError("There must be at least 1 image. Got none.")
    if channels == 2:
        raise ValueError("A picture has 1, 3 or 4 channels. Got 2.")
    if labels is None:
        shown = np.arange(min(len(images), MOST_ROWS * n_columns))
        rows = np.array_split(shown, shown[n_columns::n_columns])  # of equal length
        names = [""] * len(rows)
    else:
        keys = np.asarray(labels, dtype=object).ravel()
        if len(keys) != len(images):
            raise ValueError(
                f"labels must have one label per image. Got {len(keys)} labels and "
                f"{len(images)} images."
            )
        names = _in_order({str(key) for key in keys})
        texts = np.array([str(key) for key in keys], dtype=object)
        rows = [np.flatnonzero(texts == name)[:n_columns] for name in names]
    size = (CELL * n_columns + 0.6, CELL * len(rows) * height / width)
    figure = matplotlib.Figure(figsize=size, layout="compressed")
    axes = figure.subplots(len(rows), n_columns, squeeze=False)
    for line, name, row in zip(axes, names, rows, strict=True):
        for axis in line:
            axis.set_axis_off()
        for axis, number in zip(line, row, strict=False):  # a class may have fewer
            pixels = as_pixels(images[int(number) : int(number) + 1])
            picture = pixels.reshape(channels, height, width).transpose(1, 2, 0)
            picture = picture if channels > 1 else picture[:, :, 0]
            axis.imshow(picture, cmap="gray", vmin=0.0, vmax=1.0)
        line[0].set_title(name, fontsize=8, loc="left")
    return figure


def _in_order(names: set[str]) -> list[str]:
    """Sort as numbers if all are, else as text."""
    try:
        return sorted(names, key=lambda name: (float(name), name))
    except ValueError:
        return sorted(names)
