"""What is known of a noisy embedding before any training: shrinkage, at no cost."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def shrink_embedding(
    noisy: Floats, start: Floats, shares: Floats, noise_std: float
) -> tuple[Floats, float]:
    r"""Shrink an embedding towards a simpler one, as far as its noise calls for.

    The excess of the embedding over ``start`` (what independent columns would give)
    is split into what all classes have in common, weighted by their shares
    :math:`\omega_c`, and what each has of its own. Relations between columns are
    mostly common, and there the noise averages out. Each part is multiplied by the
    James-Stein factor :math:`(1 - D s^2 / \|part\|^2)_+` for its own noise s [1]_.

    Parameters
    ----------
    noisy, start : ndarray of shape (n_classes, D)
        Released embedding, per class and per row of the table, and a simple guess at
        it.
    shares : ndarray of shape (n_classes,)
        Share of each class.
    noise_std : float
        Noise of each entry of ``noisy``.

    Returns
    -------
    embedding : ndarray of shape (n_classes, D)
    error : float
        Roughly the squared error that is left in it: the kept part of the noise.

    References
    ----------
    .. [1] James & Stein, "Estimation with quadratic loss", 1961.

    Examples
    --------
    >>> noisy = np.array([[3.0, 4.0]])
    >>> shrink_embedding(noisy, np.zeros((1, 2)), np.ones(1), 2.5)
    (array([[1.5, 2. ]]), 6.25)
    """
    excess = noisy - start
    weight = float((shares**2).sum())
    common = shares @ excess / weight
    own = excess - shares[:, None] * common
    common, error = _shrink(common, noise_std**2 / weight)
    error *= weight
    result = start + shares[:, None] * common
    for label, share in enumerate(shares):
        part, more = _shrink(own[label], noise_std**2 * (1.0 - share**2 / weight))
        result[label] += part
        error += more
    return result, float(error)


def _shrink(part: Floats, variance: float) -> tuple[Floats, float]:
    """Return a part shrunk, and the noise that was kept."""
    energy, noise = float(part @ part), len(part) * variance
    kept = max(1.0 - noise / energy, 0.0) if energy else 0.0
    return part * kept, noise * kept
