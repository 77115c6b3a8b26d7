"""How often, and in which order, labels and cells are drawn."""

import numpy as np


def draw_given(table, labels, *, rng):
    """Draw a cell for each label, from its row of a table of probabilities.

    Among the rows of a label each cell appears as often as expected, give or take one.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> table = np.array([[0.5, 0.5], [0.0, 1.0]])
    >>> np.sort(draw_given(table, np.array([0, 0, 0, 0, 1]), rng=rng)[:4]).tolist()
    [0, 0, 1, 1]
    """
    table = np.asarray(table, dtype=np.float64)
    order = rng.permutation(len(labels))
    order = order[np.argsort(labels[order], kind="stable")]
    counts = np.bincount(labels, minlength=len(table))
    within = np.arange(len(labels)) - np.repeat(np.cumsum(counts) - counts, counts)
    sorted_labels = labels[order]
    places = (within + rng.random(len(table))[sorted_labels]) / counts[sorted_labels]
    cumulative = np.cumsum(table, axis=1)
    cumulative /= np.maximum(cumulative[:, -1:], np.finfo(float).tiny)
    n_rows, width = table.shape
    steps = (cumulative + np.arange(n_rows)[:, None]).ravel()
    drawn = np.searchsorted(steps, sorted_labels + places, side="right")
    drawn -= sorted_labels * width
    last = width - 1 - np.argmax(table[:, ::-1] > 0, axis=1)
    codes = np.empty(len(labels), dtype=np.int64)
    codes[order] = np.clip(drawn, 0, last[sorted_labels])
    return codes


def systematic(probabilities, n_samples, *, rng):
    """Draw sorted codes; each appears as often as expected, give or take one.

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
