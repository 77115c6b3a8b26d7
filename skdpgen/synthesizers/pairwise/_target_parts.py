r"""Parts of a target: classes, or bins of a number, that are counted together.

How a column changes along a number is a slow change, which a few parts show. In each
part it has the noise of one count, whatever the number of bins. Of m bins of a part,
counted one by one, the sum has :math:`\\sqrt m` times that noise.
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
FAINT = 1e-9  # of a bin's share, so that parts without rows have bins of equal shares


def even_parts(totals: Floats, n_parts: int) -> NDArray[np.int64]:
    """Return the part of each bin: runs of bins with about as many rows.

    Examples
    --------
    >>> even_parts(np.array([2.0, 2.0, 1.0, 3.0]), 2).tolist()
    [0, 0, 1, 1]
    """
    middle = (np.cumsum(totals) - 0.5 * totals) / totals.sum()
    part = np.clip(np.floor(n_parts * middle), 0, n_parts - 1)
    return np.unique(part, return_inverse=True)[1]


def bins_from_parts(counts: Floats, part: NDArray[np.int64], bins: Floats) -> Floats:
    r"""Return the smoothest counts by bins with the given counts by parts.

    Shares of rows of a bin, x(b), change along the bins as little as possible: the sum
    of their squared second differences is least, among all whose mean over the rows of
    a part is that of the part. So x is a matrix times the counts of parts.

    Parameters
    ----------
    counts : ndarray of shape (n_parts, n_cells)
    part : ndarray of int of shape (n_bins,)
    bins : ndarray of shape (n_bins,)
        Rows of each bin.

    Examples
    --------
    >>> counts = np.array([[10.0], [30.0]])
    >>> bins_from_parts(counts, np.array([0, 0, 1, 1]), np.ones(4)).T.round(1).tolist()
    [[2.5, 7.5, 12.5, 17.5]]
    """
    n_bins, n_parts = len(part), len(counts)
    bins = np.maximum(bins, FAINT * max(float(bins.sum()), 1.0))
    of_part = np.bincount(part, bins)
    means = np.zeros((n_parts, n_bins))
    means[part, np.arange(n_bins)] = bins / of_part[part]
    second = np.diff(np.eye(n_bins), n=2, axis=0)
    zeros = np.zeros((n_parts, n_parts))
    system = np.block([[second.T @ second, means.T], [means, zeros]])
    right = np.concatenate([np.zeros((n_bins, n_parts)), np.eye(n_parts)])
    weights = np.linalg.solve(system, right)[:n_bins]
    return np.asarray(bins[:, None] * (weights @ (counts / of_part[:, None])))
