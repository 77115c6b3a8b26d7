"""A grid of images: a row for each class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from skdpgen.tables import as_pixels, image_size
from skdpgen.utils import require

if TYPE_CHECKING:
    from matplotlib.figure import Figure

N_COLUMNS = 10
CELL = 0.6  # inches
MOST_ROWS = 20  # of images without labels


def plot_images(images: Any, labels: Any = None, n_columns: int = N_COLUMNS) -> Figure:
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
        rows = np.array_split(shown, shown[n_columns::n_columns])
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
        for axis, which in zip(line, row, strict=False):
            pixels = as_pixels(images[int(which) : int(which) + 1])
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
