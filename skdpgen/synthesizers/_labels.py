"""How often, and in which order, labels and cells are drawn."""

import numpy as np


def draw_given(table, labels, *, rng):
    """Draw a cell for each label, from its row of a table of probabilities."""
    codes = np.empty(len(labels), dtype=np.int64)
    for label, probabilities in enumerate(table):
        mine = np.flatnonzero(labels == label)
        drawn = systematic(probabilities, len(mine), rng=rng)
        codes[mine] = rng.permutation(drawn)
    return codes


def systematic(probabilities, n_samples, *, rng):
    """Draw sorted codes; each appears as often as expected, up to one.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> np.bincount(systematic(np.array([0.25, 0.75]), 8, rng=rng)).tolist()
    [2, 6]
    """
    places = (np.arange(n_samples) + rng.random()) / max(n_samples, 1)
    cumulative = np.cumsum(probabilities)
    codes = np.searchsorted(cumulative / cumulative[-1], places, side="right")
    return codes.clip(max=len(probabilities) - 1)
