"""A noisy histogram of one column, denoised by what is known of its noise."""

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from skdpgen.utils import on_one_thread

Floats = NDArray[np.float64]

CELL_LENGTH_SCALES = (0.02, 0.05, 0.2, 0.8)  # of the column's cells
ROUGHNESS = (0.02, 0.2, 1.0)  # part of the variance that each cell has of its own
CELL_STRENGTHS = (0.1, 0.3, 1.0, 2.0)  # of deviations, in means of a cell
FEWEST = 4  # cells that may be smoothed
PEAK_STDS, PEAK_TIMES = 6.0, 3.0  # beyond the median a cell is a peak of its own
FAR = 1e3  # stds below zero: from there the mean is std / |ratio|, to many digits
CERTAIN = 5.0  # stds above 0: that counts are not negative says nothing more


def project_to_total(counts: Floats, total: float) -> Floats:
    """Return the nearest non-negative counts with the given sum.

    Examples
    --------
    >>> project_to_total(np.array([5.0, -1.0, 2.0]), 6.0).tolist()
    [4.5, 0.0, 1.5]
    """
    ordered = np.sort(counts)[::-1]
    shift = (np.cumsum(ordered) - total) / np.arange(1, len(counts) + 1)
    last = np.flatnonzero((ordered > shift) & np.isfinite(ordered))
    if not len(last):
        return np.full(len(counts), total / len(counts))
    return np.maximum(counts - shift[last[-1]], 0.0)


@on_one_thread
def denoised_histogram(
    counts: Floats, noise_std: float, total: float, *, n_ordered: int
) -> Floats:
    r"""Denoise one histogram, smoothly along ordered cells; it sums to ``total``.

    Bins were made to hold about as many rows each, so ordered cells deviate from their
    mean m as :math:`N(0, t^2 m^2 P (a I + (1 - a) \rho) P^\top)`: smoothly, with
    :math:`\rho` decaying along the cells, or each on its own, or both; P removes the
    sum. The noise is known, so posterior and evidence of each candidate are exact. They
    are averaged by evidence, and the mean of what is left above 0 is taken. Peaks far
    above all other cells, as many zeros are, stay as they were counted.

    Parameters
    ----------
    counts : ndarray of shape (n_cells,)
        Noisy counts; -inf is empty for sure.
    noise_std : float
        Their noise.
    total : float
    n_ordered : int
        How many leading cells are ordered; the others are only projected.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> found = denoised_histogram(
    ...     100 + 40 * rng.normal(size=50), 40.0, 5000.0, n_ordered=50
    ... )
    >>> bool(np.abs(found - 100).mean() < 10)
    True
    """
    found = counts.copy()
    places = np.flatnonzero(np.isfinite(counts[:n_ordered]))
    if noise_std > 0 and len(places) >= FEWEST:
        seen = counts[places]
        usual = float(np.median(seen))
        limit = max(PEAK_STDS * noise_std, PEAK_TIMES * abs(usual))
        places = places[np.abs(seen - usual) <= limit]
        seen = counts[places]
        if len(places) >= FEWEST and seen.mean() > 0:
            found[places] = _posterior_of_cells(seen, noise_std, places)
    return project_to_total(found, total)


def _posterior_of_cells(
    seen: Floats, noise_std: float, places: NDArray[np.int64]
) -> Floats:
    """Average over all candidates by their evidence, above 0."""
    mean, n = float(seen.mean()), len(seen)
    deviation = (seen - mean) / noise_std  # noise 1
    signal = (np.array(CELL_STRENGTHS) * mean / noise_std) ** 2
    distance = np.abs(places[:, None] - places[None, :]) / n
    evidence = [np.array([-0.5 * float((deviation**2).sum())])]
    means, variances = [np.zeros((1, n))], [np.zeros((1, n))]
    for length in CELL_LENGTH_SCALES:
        smooth = np.exp(-distance / length)
        for part in ROUGHNESS:
            prior = part * np.eye(n) + (1 - part) * smooth
            prior -= prior.mean(axis=0)
            prior -= prior.mean(axis=1, keepdims=True)
            values, vectors = np.linalg.eigh(prior)
            spread = signal[:, None] * np.maximum(values, 0.0)
            rotated, kept = vectors.T @ deviation, spread / (spread + 1.0)
            fit = rotated**2 / (spread + 1.0) + np.log(spread + 1.0)
            evidence.append(-0.5 * fit.sum(axis=1))
            means.append((kept * rotated) @ vectors.T)
            variances.append(kept @ (vectors**2).T)
    logs, posterior = np.concatenate(evidence), np.concatenate(means)
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    centre = weights @ posterior
    variance = weights @ (np.concatenate(variances) + posterior**2) - centre**2
    std = noise_std * np.sqrt(np.maximum(variance, 1e-12))
    return _above_zero(mean + noise_std * centre, std)


def _above_zero(mean: Floats, std: Floats) -> Floats:
    """Return the mean of a normal that is known not to be negative."""
    ratio = mean / std
    near = np.maximum(ratio, -FAR)
    rest = std * np.exp(norm.logpdf(near) - norm.logcdf(near))
    found = np.where(ratio > CERTAIN, mean, mean + rest)
    return np.asarray(np.where(ratio < -FAR, -std / np.minimum(ratio, -FAR), found))
