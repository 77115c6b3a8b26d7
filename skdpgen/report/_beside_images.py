"""Images beside real ones: how real they look, pixels without relations, pictures."""

from typing import Any

import numpy as np

from skdpgen.metrics import image_fidelity
from skdpgen.report._kind_of_rows import KindOfRows
from skdpgen.report._page import picture_of_images
from skdpgen.utils import (
    Images,
    Rows,
)

SHOWN_DISTANCES = {  # each with its meaning in half a sentence
    "fid": (
        "Fréchet distance",
        "how far the images are from real ones in random features; 0 is best",
    ),
    "precision": ("Precision", "share of the images that look real; 1 is best"),
    "recall": ("Recall", "share of the real images that resemble one; 1 is best"),
    "ndb": (
        "Bins that differ",
        "share of 50 groups of images that are drawn too often or too seldom; "
        "0 is best",
    ),
}


def _distances(train: Rows, test: Rows, synthetic: Rows) -> list[dict[str, Any]]:
    """Measure how far synthetic images, and other real ones, are from real images."""
    held_out = _images(test)
    of_synthetic = image_fidelity(held_out, _images(synthetic))
    of_real = image_fidelity(held_out, _images(train))
    return [
        {
            "name": name,
            "what": what,
            "synthetic": getattr(of_synthetic, key),
            "real": getattr(of_real, key),
        }
        for key, (name, what) in SHOWN_DISTANCES.items()
    ]


def _without_relations(synthetic: Rows, task: str | None, random_state: int) -> Rows:
    """Return synthetic images whose pixels are shuffled within each class."""
    del task  # images are scored by classes
    assert isinstance(synthetic, tuple)  # `beside_real` has checked it
    X, y = synthetic[0], synthetic[1]
    rng = np.random.default_rng(random_state)
    images = np.array(X)
    flat = images.reshape(len(images), -1)
    labels = np.asarray(y)
    for label in np.unique(labels):
        places = np.flatnonzero(labels == label)
        flat[places] = rng.permuted(flat[places], axis=0)
    return flat.reshape(images.shape), y


def _figures(real: Rows, synthetic: Rows) -> list[dict[str, str]]:
    """Draw some images of each side."""
    return [
        {"title": "Synthetic images", "picture": picture_of_images(synthetic)},
        {"title": "Real images", "picture": picture_of_images(real)},
    ]


def _images(rows: Rows) -> Images:
    images: Any = rows[0] if isinstance(rows, tuple) else rows
    return images


IMAGES = KindOfRows(
    models=("logistic_regression", "mlp", "cnn"),
    most=5_000,
    distances=_distances,
    without_relations=_without_relations,
    figures=_figures,
)
