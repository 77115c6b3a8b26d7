"""A small convolutional classifier for images, as a scikit-learn estimator."""

import math
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from torch import nn

BATCH = 128
PEAK = 3e-3  # learning rate


class ImageCNN(ClassifierMixin, BaseEstimator):
    """Two convolutions and a dense layer, trained for a fixed number of steps.

    Parameters
    ----------
    shape : tuple of int
        Channels, height and width; rows come flat.
    max_iter : int, default=1000
        Steps of 128 images.
    random_state : int or None, default=None
        Seed of the first weights and of the order of the images.

    Examples
    --------
    >>> X = np.repeat(np.eye(2, dtype=np.float32), 64, axis=1)
    >>> cnn = ImageCNN((2, 8, 8), max_iter=5, random_state=0).fit(X, [0, 1])
    >>> cnn.predict(X).tolist()
    [0, 1]
    """

    def __init__(
        self, shape: Any, max_iter: int = 1000, random_state: int | None = None
    ) -> None:
        self.shape = shape
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> "ImageCNN":
        """Train on flat images in [0, 1]."""
        self.classes_, codes = np.unique(y, return_inverse=True)
        rng = np.random.default_rng(self.random_state)
        X, targets = torch.from_numpy(np.asarray(X, np.float32)), torch.tensor(codes)
        channels, height, width = self.shape
        sides = math.ceil(height / 4) * math.ceil(width / 4)
        layers: list[Any] = [
            nn.Unflatten(1, (channels, height, width)),
            _layer(nn.Conv2d, channels, 16, 3, padding=1, rng=rng),
            nn.ReLU(),
            nn.MaxPool2d(2, ceil_mode=True),
            _layer(nn.Conv2d, 16, 32, 3, padding=1, rng=rng),
            nn.ReLU(),
            nn.MaxPool2d(2, ceil_mode=True),
            nn.Flatten(),
            _layer(nn.Linear, 32 * sides, 128, rng=rng),
            nn.ReLU(),
            _layer(nn.Linear, 128, len(self.classes_), rng=rng),
        ]
        self.network_ = nn.Sequential(*layers)
        optimiser = torch.optim.Adam(self.network_.parameters())
        for step in range(self.max_iter):
            for group in optimiser.param_groups:
                group["lr"] = PEAK * min(10 * (step + 1), self.max_iter - step)
                group["lr"] /= self.max_iter
            some = torch.from_numpy(rng.integers(len(X), size=min(BATCH, len(X))))
            scores = self.network_(X[some])
            loss = nn.functional.cross_entropy(scores, targets[some])
            optimiser.zero_grad(set_to_none=True)
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of each class."""
        rows = torch.from_numpy(np.asarray(X, np.float32))
        with torch.no_grad():
            parts = [self.network_(part).softmax(dim=1) for part in rows.split(1024)]
        return np.asarray(torch.cat(parts).double().numpy())

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most likely class."""
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])


def _layer(kind: Any, *sizes: int, rng: np.random.Generator, **settings: Any) -> Any:
    """Return a layer with weights from ``rng``, not from torch's global state."""
    layer = nn.utils.skip_init(kind, *sizes, **settings)
    seed = torch.Generator().manual_seed(int(rng.integers(2**62)))
    nn.init.kaiming_uniform_(layer.weight, nonlinearity="relu", generator=seed)
    nn.init.zeros_(layer.bias)
    return layer
