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
    keys = labels.astype(np.uint16) if len(table) < 2**16 else labels  # sorted faster
    order = order[np.argsort(keys[order], kind="stable")]
    counts = np.bincount(labels, minlength=len(table))[:, None]
    cumulative = np.cumsum(table, axis=1)
    cumulative /= np.maximum(cumulative[:, -1:], np.finfo(float).tiny)
    # place i of a label, (i + its offset) / count, is below the end of a cell
    below = np.ceil(cumulative * counts - rng.random(len(table))[:, None])
    last = table.shape[1] - 1 - np.argmax(table[:, ::-1] > 0, axis=1)
    is_end = np.arange(table.shape[1]) >= last[:, None]
    below = np.where(is_end, counts, np.clip(below, 0, counts)).astype(np.int64)
    numbers = np.diff(below, axis=1, prepend=0)
    cells = np.broadcast_to(np.arange(table.shape[1]), table.shape)
    codes = np.empty(len(labels), dtype=np.int64)
    codes[order] = np.repeat(cells.ravel(), numbers.ravel())
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
