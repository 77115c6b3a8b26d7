"""Stand-ins for synthesizers: no privacy, no dependence on the real ones."""

import numpy as np
from sklearn.base import BaseEstimator


class Bootstrap(BaseEstimator):
    """Resamples its training rows; ``shuffle`` breaks the link to the labels."""

    def __init__(self, epsilon=1.0, shuffle=False, random_state=None):
        self.epsilon = epsilon
        self.shuffle = shuffle
        self.random_state = random_state

    def fit(self, X, y=None):
        self.rows_ = X, y
        return self

    def sample(self, n_samples=None, random_state=None):
        X, y = self.rows_
        rng = np.random.default_rng(random_state)
        rows = rng.integers(len(X), size=n_samples or len(X))
        X_new = _take(X, rows)
        if y is None:
            return X_new
        return X_new, _take(y, rng.permutation(rows) if self.shuffle else rows)


def _take(table, rows):
    return table.iloc[rows] if hasattr(table, "iloc") else np.asarray(table)[rows]
