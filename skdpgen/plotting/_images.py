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


def plot_images(images: Any, labels: Any = None, n_columns: int = N_COLUMNS) -> Figure:
    """Draw the first images of each class, a row for each.

    A picture of synthetic images is covered by their guarantee; one of real images
    shows people.

    Parameters
    ----------
    images : array of shape (n, height, width) or (n, channels, height, width)
        Uint8, or floats in [0, 1]. Three channels are red, green and blue.
    labels : array-like of shape (n,) or None, default=None
        One row each; None fills rows in order.
    n_columns : int, default=10
        Images of a class.

    Returns
    -------
    matplotlib.figure.Figure
        A figure without a window; save it by ``figure.savefig("images.png")``.

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
    if labels is None:
        rows = np.array_split(
            np.arange(len(images)), np.arange(n_columns, len(images), n_columns)
        )
        names = [""] * len(rows)
    else:
        keys = np.asarray(labels, dtype=object).ravel()
        if len(keys) != len(images):
            raise ValueError(
                f"labels must have one label an image. Got {len(keys)} labels and "
                f"{len(images)} images."
            )
        names = sorted({str(key) for key in keys}, key=lambda name: (len(name), name))
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
            is_colour = channels == 3
            shown = picture if is_colour else picture[:, :, 0]
            axis.imshow(shown, cmap="gray", vmin=0.0, vmax=1.0)
        line[0].set_title(name, fontsize=8, loc="left")
    return figure
