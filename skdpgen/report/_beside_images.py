"""Images beside real ones: how real they look, pixels without relations, pictures."""

from typing import Any

import numpy as np

from skdpgen.metrics import image_fidelity
from skdpgen.report._kind_of_rows import KindOfRows
from skdpgen.report._page import picture_of_images

NAMES = {
    "fid": ("Fréchet distance", "of random features; 0 is best"),
    "precision": ("Precision", "how much of what was drawn looks real, 0 to 1"),
    "recall": ("Recall", "how much of what is real was drawn, 0 to 1"),
    "ndb": ("Bins that differ", "share of 50 kinds drawn too often or too seldom"),
}


def _distances(train: Any, test: Any, synthetic: Any) -> list[dict[str, Any]]:
    """Measure how far synthetic images, and other real ones, are from real images."""
    train, test, synthetic = map(_images, (train, test, synthetic))
    mine, floor = image_fidelity(test, synthetic), image_fidelity(test, train)
    return [
        {
            "name": name,
            "what": what,
            "synthetic": getattr(mine, key),
            "real": getattr(floor, key),
        }
        for key, (name, what) in NAMES.items()
    ]


def _without_relations(synthetic: Any, task: str | None, random_state: int) -> Any:
    """Return synthetic images whose pixels are shuffled within each class."""
    del task  # images are scored by classes
    X, y = synthetic
    rng = np.random.default_rng(random_state)
    flat = np.array(X).reshape(len(X), -1)
    labels = np.asarray(y)
    for label in np.unique(labels):
        places = np.flatnonzero(labels == label)
        flat[places] = rng.permuted(flat[places], axis=0)
    return flat.reshape(X.shape), y


def _figures(real: Any, synthetic: Any) -> list[dict[str, str]]:
    """Draw some images of each side."""
    return [
        {"title": "Synthetic images", "picture": picture_of_images(synthetic)},
        {"title": "Real images", "picture": picture_of_images(real)},
    ]


def _images(rows: Any) -> Any:
    return rows[0] if isinstance(rows, tuple) else rows


IMAGES = KindOfRows(
    models=("logistic_regression", "mlp", "cnn"),
    most=5_000,
    distances=_distances,
    without_relations=_without_relations,
    figures=_figures,
)
