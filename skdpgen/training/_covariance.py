"""Noisy second moments, denoised by their known noise."""

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
LEAST_EIGENVALUE = 1e-3
N_BANDS = 10
ROUNDED_EIGENVALUE = 1e-9  # relative; a smaller one may be rounding
WEAK_SPREAD = 0.5  # least one of scores that correlations are corrected for
CLOSEST_CORRECTED = 0.9  # largest correlation that this correction gives
FLATTEST, STEEPEST = 0.3, 3.0  # range of the diagonal, relative to its mean


def shrink_symmetric(noisy: Floats, noise_std: float) -> Floats:
    r"""Shrink the eigenvalues of a noisy symmetric matrix.

    If entries off the diagonal have noise of standard deviation s, noise alone has
    eigenvalues within :math:`2 s \sqrt d`. A large eigenvalue of the exact matrix
    appears larger than it is, along a direction that is partly wrong. The values

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
    # The root of size² - edge² as a product: the squares might underflow.
    kept = np.sign(values) * (
        np.sqrt(np.maximum(size - edge, 0.0)) * np.sqrt(size + edge)
    )
    return np.asarray((vectors * kept) @ vectors.T)


def nearest_correlation(matrix: Floats) -> Floats:
    """Return a positive definite correlation matrix near a symmetric one.

    Examples
    --------
    >>> nearest_correlation(np.array([[1.0, 1.5], [1.5, 1.0]])).round(2)
    array([[1., 1.],
           [1., 1.]])
    """
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    positive = (vectors * np.maximum(values, LEAST_EIGENVALUE)) @ vectors.T
    scale = 1.0 / np.sqrt(np.diag(positive))
    return np.asarray(positive * scale * scale[:, None])


def class_correlations(
    moments: Floats,
    noise_std: float,
    totals: Floats,
    spreads: Floats | None = None,
    weights: Floats | None = None,
) -> Floats:
    r"""Return a correlation matrix of each group from noisy sums of products.

    Rows were scaled to norm 1 at most. This changes variances but not correlations, so
    products are used relative to the diagonal. The mean over groups is shrunk towards
    independence (:func:`shrink_symmetric`), then the difference of each group from it
    towards 0: groups differ only as far as noise does not explain it.

    Parameters
    ----------
    moments : ndarray of shape (n_groups, d, d)
        Noisy sums of :math:`v v^\top`.
    noise_std : float
        Noise of each entry.
    totals : ndarray of shape (n_groups,)
        Rows of each group.
    spreads : ndarray of shape (d,) or None
        Standard deviations of scores, where each score stands for a range of ranks. If
        ranks have a correlation of r, the scores of two columns have a correlation of
        about r times both standard deviations.
    weights : ndarray of shape (n_groups,) or None
        What each group counts in the mean over groups; None is 1.

    Examples
    --------
    >>> class_correlations(np.array([[[50.0, 40.0], [40.0, 50.0]]]), 0.0, [100.0])
    array([[[1. , 0.8],
            [0.8, 1. ]]])
    """
    moments = (moments + moments.transpose(0, 2, 1)) / 2
    std = noise_std / math.sqrt(2)  # of the mean of two entries
    attenuation = np.maximum(
        np.ones(moments.shape[1]) if spreads is None else spreads, WEAK_SPREAD
    )
    joined, n_rows, spread = _pooled(moments, totals, weights)
    pooled, unit = _off_diagonal(joined, n_rows)
    shrunk = shrink_symmetric(pooled, std * spread / unit)
    correlations = []
    for group, total in zip(moments, totals, strict=True):
        estimate = shrunk.copy()
        if len(moments) > 1:
            noisy, unit = _off_diagonal(group, float(total))
            estimate += shrink_symmetric(noisy - shrunk, std / unit)
        largest = np.maximum(np.abs(estimate), CLOSEST_CORRECTED)
        estimate = np.clip(
            estimate / attenuation / attenuation[:, None], -largest, largest
        )
        np.fill_diagonal(estimate, 1.0)
        correlations.append(nearest_correlation(estimate))
    return np.stack(correlations)


def _pooled(
    sums: Floats, totals: Floats, weights: Floats | None
) -> tuple[Floats, float, float]:
    """Return a weighted sum over groups, its number of rows, and its noise in stds.

    Examples
    --------
    >>> _pooled(np.array([[3.0], [1.0]]), np.array([2.0, 1.0]), np.array([3.0, 4.0]))
    (array([13.]), 10.0, 5.0)
    """
    if weights is None:
        return sums.sum(axis=0), float(np.sum(totals)), math.sqrt(len(sums))
    factors = weights.reshape(-1, *[1] * (sums.ndim - 1))
    n_rows = float(np.sum(weights * totals))
    return (factors * sums).sum(axis=0), n_rows, math.sqrt((weights**2).sum())


def _off_diagonal(moments: Floats, n_rows: float) -> tuple[Floats, float]:
    """Return products relative to the diagonal, which becomes 0, and their unit.

    The diagonals of rows of norm 1 sum to the number of rows. So an entry of the
    diagonal that is far from its mean is noise, and is clipped.
    """
    d = len(moments)
    unit = max(float(np.trace(moments)), 0.1 * max(n_rows, 1.0)) / d
    root = np.sqrt(np.clip(np.diag(moments), FLATTEST * unit, STEEPEST * unit))
    relative = np.clip(moments / root / root[:, None], -1.0, 1.0)
    np.fill_diagonal(relative, 0.0)
    return relative, unit


def class_covariances(
    products: Floats,
    noise_std: float,
    totals: Floats,
    weights: Floats | None = None,
) -> tuple[Floats, Floats]:
    r"""Return a root of each class's covariance, and the variances that are left.

    The mean of all classes is shrunk (:func:`shrink_symmetric`), and so is the
    difference of each class from it. Shrinkage removes small eigenvalues. What the
    diagonal has beyond the shrunken matrix is averaged over bands of neighbouring
    entries.

    Parameters
    ----------
    products : ndarray of shape (n_classes, d, d)
        Noisy sums of :math:`v v^\top` around centres.
    noise_std : float
        Noise of each entry.
    totals : ndarray of shape (n_classes,)
        Rows of each class.
    weights : ndarray of shape (n_classes,) or None
        What each class counts in the mean of all; None is 1.

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
    joined, n_rows, spread = _pooled(products, totals, weights)
    std, n = noise_std / math.sqrt(2), max(n_rows, 1.0)
    base = shrink_symmetric(joined / n, std * spread / n)
    roots, rests = [], []
    for product, total in zip(products, np.maximum(totals, 1.0), strict=True):
        of_class = (product + product.T) / 2 / total
        estimate = base
        if len(products) > 1:
            estimate = base + shrink_symmetric(of_class - base, std / total)
        values, vectors = np.linalg.eigh(estimate)
        smallest = ROUNDED_EIGENVALUE * max(float(values[-1]), 0.0)
        root = vectors * np.sqrt(np.where(values > smallest, values, 0.0)) @ vectors.T
        rest = np.diag(of_class) - (root**2).sum(axis=1)
        for band in np.array_split(np.arange(len(rest)), N_BANDS):
            if len(band):
                rest[band] = max(float(rest[band].mean()), 0.0)
        roots.append(root)
        rests.append(rest)
    return np.stack(roots), np.stack(rests)


def class_variances(
    squares: Floats,
    noise_std: float,
    totals: Floats,
    weights: Floats | None = None,
) -> Floats:
    """Return variances of each class from noisy sums of squares.

    The difference of a class from all classes is kept as far as noise does not explain
    it.

    Parameters
    ----------
    squares : ndarray of shape (n_classes, d)
    noise_std : float
        Of each entry.
    totals : ndarray of shape (n_classes,)
        Rows of each class.
    weights : ndarray of shape (n_classes,) or None
        What each class counts in the mean of all; None is 1.

    Examples
    --------
    >>> squares = np.array([[8.0, 2.0], [1.0, 1.0]])
    >>> class_variances(squares, 0.0, np.array([4.0, 1.0])).tolist()
    [[2.0, 0.5], [1.0, 1.0]]
    >>> class_variances(squares, 100.0, np.array([4.0, 1.0])).tolist()
    [[1.8, 0.6], [1.8, 0.6]]
    """
    joined, n_pooled, _ = _pooled(squares, totals, weights)
    n_rows = np.maximum(totals, 1.0)[:, None]
    base = joined / max(n_pooled, 1.0)
    differences = squares / n_rows - base
    noise = (noise_std / n_rows) ** 2
    energy = (differences**2).mean(axis=1, keepdims=True)
    kept = np.maximum(energy - noise, 0.0) / np.maximum(energy, np.finfo(float).tiny)
    return np.asarray(np.maximum(base + kept * differences, 0.0))


# ----------------------------------------------------------------------------
# From one correlation matrix to another.

INVERTED_EIGENVALUE = 1e-6  # least one of a matrix whose root is inverted


def least_move(before: Floats, after: Floats) -> Floats:
    r"""Return the linear map that gives variables other correlations and moves least.

    With E before and T after, the map

    .. math:: E^{-1/2} (E^{1/2} T E^{1/2})^{1/2} E^{-1/2}

    has the least mean squared distance of all maps from one to the other: it is the
    optimal transport between Gaussians.

    Parameters
    ----------
    before, after : ndarray of shape (d, d)
        Positive definite.

    Examples
    --------
    >>> before, after = np.eye(2), np.array([[1.0, 0.6], [0.6, 1.0]])
    >>> linear = least_move(before, after)
    >>> (linear @ before @ linear.T).round(6).tolist()
    [[1.0, 0.6], [0.6, 1.0]]
    """
    root, inverse_root = _power(before, 0.5), _power(before, -0.5)
    return np.asarray(inverse_root @ _power(root @ after @ root, 0.5) @ inverse_root)


def _power(matrix: Floats, exponent: float) -> Floats:
    """Return a power of a symmetric matrix, of which small eigenvalues are raised."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    powers = np.maximum(values, INVERTED_EIGENVALUE) ** exponent
    return np.asarray((vectors * powers) @ vectors.T)
