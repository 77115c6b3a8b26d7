r"""Parts of a target: classes, or bins of a number, that are counted together.

How a column changes along a number is a slow change, which a few parts show. In each
part it has the noise of one count, whatever the number of bins. Of m bins of a part,
counted one by one, the sum has :math:`\sqrt m` times that noise.
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
NOISIEST_BIN = 1.5  # in noise stds of a part


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
    """Return counts by bins that add up to counts by parts, and change smoothly.

    Where a part has few rows, its noise, as a share of them, is large, and smooth
    counts would carry it to its neighbours. If any bin had ``NOISIEST_BIN`` times the
    noise of a part, each bin gets its share of its part instead. That follows from
    ``bins``, which are released, and not from the counts.

    Parameters
    ----------
    counts : ndarray of shape (n_parts, n_cells)
    part : ndarray of int of shape (n_bins,)
    bins : ndarray of shape (n_bins,)
        Rows of each bin, not negative.

    Examples
    --------
    >>> counts = np.array([[10.0], [30.0]])
    >>> bins_from_parts(counts, np.array([0, 0, 1, 1]), np.ones(4)).T.round(1).tolist()
    [[2.5, 7.5, 12.5, 17.5]]
    >>> bins_from_parts(counts, np.array([0, 0, 1]), np.array([6.0, 2.0, 0.0])).tolist()
    [[7.5], [2.5], [30.0]]
    """
    shares = _shares_of_parts(part, bins)
    smooth = _smoothest(part, bins, shares)
    is_noisy = np.linalg.norm(smooth, axis=1).max() > NOISIEST_BIN
    return np.asarray((shares if is_noisy else smooth) @ counts)


def _shares_of_parts(part: NDArray[np.int64], bins: Floats) -> Floats:
    """Return the share of each bin in the rows of each part, (n_bins, n_parts)."""
    rows = np.bincount(part, bins)[part]
    even = 1.0 / np.bincount(part)[part]
    shares = np.where(rows > 0, bins / np.where(rows > 0, rows, 1.0), even)
    return np.asarray(shares[:, None] * np.eye(int(part.max()) + 1)[part])


def _smoothest(part: NDArray[np.int64], bins: Floats, shares: Floats) -> Floats:
    """Return the matrix of the smoothest counts; infinite where there is none.

    It minimises the squared second differences of counts per row of a bin, among all
    with the counts of parts.
    """
    n_bins, n_parts = shares.shape
    of_part = np.bincount(part, bins)
    if n_parts < 2 or not of_part.all():
        return np.full(shares.shape, np.inf)
    second = np.diff(np.eye(n_bins), n=2, axis=0)
    zeros = np.zeros((n_parts, n_parts))
    system = np.block([[second.T @ second, shares], [shares.T, zeros]])
    right = np.concatenate([np.zeros((n_bins, n_parts)), np.diag(1.0 / of_part)])
    return np.asarray(bins[:, None] * np.linalg.solve(system, right)[:n_bins])
