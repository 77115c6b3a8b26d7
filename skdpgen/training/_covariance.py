"""Noisy second moments, denoised by what is known of their noise."""

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
LEAST_EIGENVALUE = 1e-3
N_BANDS = 10
ROUNDED = 1e-9  # of the largest eigenvalue: what sums in another order change
WEAK = 0.5  # least spread of scores that is made up for
CLOSEST = 0.9  # correlation that is made of a weaker one
FLATTEST, STEEPEST = 0.3, 3.0  # of the mean, what the diagonal may be


def shrink_symmetric(noisy: Floats, noise_std: float) -> Floats:
    r"""Return a symmetric matrix without what its noise alone would show.

    If entries off the diagonal have noise of standard deviation s, noise alone has
    eigenvalues within :math:`2 s \sqrt d`, and a large eigenvalue of the exact matrix
    is seen farther out than it is, along a direction that is partly wrong. The values

    .. math:: \operatorname{sign}(\lambda) \sqrt{(\lambda^2 - 4 s^2 d)_+}

    have the least squared error that any function of the eigenvalues has, in the limit
    of large matrices of low rank [1]_.

    References
    ----------
    .. [1] Gavish & Donoho, "Optimal shrinkage of singular values", 2017; for symmetric
       noise, Donoho, Gavish & Johnstone, 2018.

    Examples
    --------
    >>> shrink_symmetric(np.array([[0.0, 5.0], [5.0, 0.0]]), 1.0).round(2)
    array([[0.  , 4.12],
           [4.12, 0.  ]])
    """
    values, vectors = np.linalg.eigh((noisy + noisy.T) / 2)
    size, edge = np.abs(values), 2.0 * noise_std * math.sqrt(len(noisy))
    # root of the difference of squares, where squares may vanish
    kept = np.sign(values) * (
        np.sqrt(np.maximum(size - edge, 0.0)) * np.sqrt(size + edge)
    )
    return np.asarray((vectors * kept) @ vectors.T)


def nearest_correlation(matrix: Floats) -> Floats:
    """Return a correlation matrix near a symmetric one: no eigenvalue is negative.

    Examples
    --------
    >>> nearest_correlation(np.array([[1.0, 1.5], [1.5, 1.0]])).round(2)
    array([[1., 1.],
           [1., 1.]])
    """
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    whole = (vectors * np.maximum(values, LEAST_EIGENVALUE)) @ vectors.T
    scale = 1.0 / np.sqrt(np.diag(whole))
    return np.asarray(whole * scale * scale[:, None])


def class_correlations(
    moments: Floats,
    noise_std: float,
    totals: Floats,
    spreads: Floats | None = None,
) -> Floats:
    r"""Return a correlation matrix of each group from noisy sums of products.

    Rows were scaled to norm 1 at most, which makes variances smaller and leaves
    correlations: what counts are products relative to the diagonal. The mean over
    groups is shrunk towards independence (:func:`shrink_symmetric`), then the
    difference of each group from it towards 0: groups differ as far as noise does not
    explain it.

    Parameters
    ----------
    moments : ndarray of shape (n_groups, d, d)
        Noisy sums of :math:`v v^\top`.
    noise_std : float
        Noise of each entry.
    totals : ndarray of shape (n_groups,)
        Rows of each group.
    spreads : ndarray of shape (d,) or None
        Standard deviations of scores that stand for a range of ranks each. If ranks
        have a correlation of r, such scores have about r times those of both.

    Examples
    --------
    >>> class_correlations(np.array([[[50.0, 40.0], [40.0, 50.0]]]), 0.0, [100.0])
    array([[[1. , 0.8],
            [0.8, 1. ]]])
    """
    moments = (moments + moments.transpose(0, 2, 1)) / 2
    std = noise_std / math.sqrt(2)  # of the mean of two entries
    weaker = np.maximum(np.ones(moments.shape[1]) if spreads is None else spreads, WEAK)
    pooled, unit = _off_diagonal(moments.sum(axis=0), float(np.sum(totals)))
    shrunk = shrink_symmetric(pooled, std * math.sqrt(len(moments)) / unit)
    found = []
    for group, total in zip(moments, totals, strict=True):
        own = shrunk.copy()
        if len(moments) > 1:
            each, unit = _off_diagonal(group, float(total))
            own += shrink_symmetric(each - shrunk, std / unit)
        most = np.maximum(np.abs(own), CLOSEST)
        own = np.clip(own / weaker / weaker[:, None], -most, most)
        np.fill_diagonal(own, 1.0)
        found.append(nearest_correlation(own))
    return np.stack(found)


def _off_diagonal(moments: Floats, n_rows: float) -> tuple[Floats, float]:
    """Return products relative to the diagonal, which becomes 0, and their unit.

    The diagonal of a row of norm 1 sums to 1: one far from its mean is noise.
    """
    d = len(moments)
    unit = max(float(np.trace(moments)), 0.1 * max(n_rows, 1.0)) / d
    root = np.sqrt(np.clip(np.diag(moments), FLATTEST * unit, STEEPEST * unit))
    found = np.clip(moments / root / root[:, None], -1.0, 1.0)
    np.fill_diagonal(found, 0.0)
    return found, unit


def class_covariances(
    products: Floats, noise_std: float, totals: Floats
) -> tuple[Floats, Floats]:
    r"""Return a root of each class's covariance, and variances besides.

    The mean of all classes is shrunk (:func:`shrink_symmetric`), and so is the
    difference of each class from it. Noise hides small eigenvalues: what is left of the
    diagonal is averaged over bands of neighbouring entries, and kept as it is.

    Parameters
    ----------
    products : ndarray of shape (n_classes, d, d)
        Noisy sums of :math:`v v^\top` around centres.
    noise_std : float
        Noise of each entry.
    totals : ndarray of shape (n_classes,)
        Rows of each class.

    Returns
    -------
    roots : ndarray of shape (n_classes, d, d)
    rest : ndarray of shape (n_classes, d)

    Examples
    --------
    >>> root, rest = class_covariances(np.diag([9.0, 0.0])[None], 0.0, np.ones(1))
    >>> (root[0] @ root[0].T).round(6).tolist(), rest.tolist()
    ([[9.0, 0.0], [0.0, 0.0]], [[0.0, 0.0]])
    """
    std, n = noise_std / math.sqrt(2), max(float(totals.sum()), 1.0)
    pooled = products.sum(axis=0) / n
    base = shrink_symmetric(pooled, std * math.sqrt(len(products)) / n)
    roots, rests = [], []
    for product, total in zip(products, np.maximum(totals, 1.0), strict=True):
        own = (product + product.T) / 2 / total
        whole = base
        if len(products) > 1:
            whole = base + shrink_symmetric(own - base, std / total)
        values, vectors = np.linalg.eigh(whole)
        least = ROUNDED * max(float(values[-1]), 0.0)
        root = vectors * np.sqrt(np.where(values > least, values, 0.0)) @ vectors.T
        rest = np.diag(own) - (root**2).sum(axis=1)
        for band in np.array_split(np.arange(len(rest)), N_BANDS):
            if len(band):
                rest[band] = max(float(rest[band].mean()), 0.0)
        roots.append(root)
        rests.append(rest)
    return np.stack(roots), np.stack(rests)


def class_variances(squares: Floats, noise_std: float, totals: Floats) -> Floats:
    """Return variances of each class from noisy sums of squares.

    What a class has more than all together is kept as far as noise does not explain it.

    Parameters
    ----------
    squares : ndarray of shape (n_classes, d)
    noise_std : float
        Of each entry.
    totals : ndarray of shape (n_classes,)
        Rows of each class.

    Examples
    --------
    >>> squares = np.array([[8.0, 2.0], [1.0, 1.0]])
    >>> class_variances(squares, 0.0, np.array([4.0, 1.0])).tolist()
    [[2.0, 0.5], [1.0, 1.0]]
    >>> class_variances(squares, 100.0, np.array([4.0, 1.0])).tolist()
    [[1.8, 0.6], [1.8, 0.6]]
    """
    each = np.maximum(totals, 1.0)[:, None]
    base = squares.sum(axis=0) / max(float(totals.sum()), 1.0)
    apart = squares / each - base
    noise = (noise_std / each) ** 2
    energy = (apart**2).mean(axis=1, keepdims=True)
    seen = np.maximum(energy - noise, 0.0) / np.maximum(energy, np.finfo(float).tiny)
    return np.asarray(np.maximum(base + seen * apart, 0.0))
