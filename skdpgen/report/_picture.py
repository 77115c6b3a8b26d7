"""Figures as text that a page can hold."""

import base64
from io import BytesIO
from typing import Any

import numpy as np

MOST_CLASSES = 20


def picture_of(figure: Any) -> str:
    """Return a figure as the address of a picture that holds it."""
    file = BytesIO()
    figure.savefig(file, format="png", dpi=100, facecolor="white", bbox_inches="tight")
    return "data:image/png;base64," + base64.b64encode(file.getvalue()).decode()


def picture_of_images(rows: Any) -> str:
    """Draw some images, a row for each of up to 20 classes."""
    from skdpgen.plotting import plot_images

    if not isinstance(rows, tuple):
        return picture_of(plot_images(rows[:100]))
    X, y = rows[0], np.asarray(rows[1])
    shown = np.isin(y, np.unique(y)[:MOST_CLASSES])
    return picture_of(plot_images(X[shown], y[shown]))
