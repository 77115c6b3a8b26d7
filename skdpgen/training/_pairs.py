"""Noisy histograms of pairs of columns, denoised by their known noise."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skdpgen.training._single_columns import POWERS, correlations
from skdpgen.utils import (
    on_one_thread,
)

Floats = NDArray[np.float64]
STRENGTHS = (0.03, 0.1, 0.3, 0.9)  # standard deviations of candidate priors
LENGTH_SCALES = (None, 0.4, 1.6)  # in quantiles of the column; None is unordered


@dataclass(frozen=True, eq=False)
class PairPrior:
    """Candidate priors of one column in relationships, by their eigenvectors.

    Parameters
    ----------
    values : ndarray of shape (n_candidates, n_cells)
    vectors : ndarray of shape (n_candidates, n_cells, n_cells)
    """

    values: Floats
    vectors: Floats

    @classmethod
    @on_one_thread
    def of(cls, marginal: Floats, n_ordered: int) -> "PairPrior":
        """Return the candidates K = P hᵃ ρ hᵃ Pᵀ of a column with marginal h.

        As for single columns: the power a allows rare cells to deviate more relative to
        their size, ρ correlates neighbours, and P removes the sum.
        """
        centre = np.eye(len(marginal)) - marginal[:, None]
        middle = np.cumsum(marginal[:n_ordered]) - 0.5 * marginal[:n_ordered]
        distance = np.abs(middle[:, None] - middle[None, :])
        kernels = []
        for power in POWERS:
            root = centre * marginal**power
            for length in LENGTH_SCALES:
                correlation = np.eye(len(marginal))
                if length is not None and n_ordered >= 3:
                    correlation[:n_ordered, :n_ordered] = np.exp(-distance / length)
                kernels.append(root @ correlation @ root.T)
        values, vectors = np.linalg.eigh(np.array(kernels))
        return cls(np.maximum(values, 0.0), vectors)


@on_one_thread
def smooth_pair(
    excess: Floats,
    variance: float,
    first: PairPrior,
    second: PairPrior,
    *,
    scale: float = 1.0,
) -> Floats:
    """Return the posterior mean of a pair's excess over independent columns.

    The prior of the excess is N(0, t² K ⊗ K'), a Kronecker product of one candidate of
    each column, or it is 0. The noise is known, so evidence and posterior mean of each
    candidate are exact. Posterior means are averaged, weighted by evidence: a pair
    without a relationship is shrunk to 0.

    Parameters
    ----------
    excess : ndarray of shape (n_cells, n_cells of the other)
        Noisy shares of rows, less what independence would give.
    variance : float
        Of the noise of each entry.
    first, second : PairPrior
        Of both columns.
    scale : float, default=1.0
        Of the prior's variance.

    Examples
    --------
    >>> prior = PairPrior.of(np.array([0.5, 0.5]), 0)
    >>> mean = smooth_pair(np.array([[0.2, -0.2], [-0.2, 0.2]]), 1e-4, prior, prior)
    >>> mean.round(2).tolist()
    [[0.2, -0.2], [-0.2, 0.2]]
    """
    return fit_pair(excess, variance, first, second, scale=scale)[0]


def fit_pair(
    excess: Floats,
    variance: float,
    first: PairPrior,
    second: PairPrior,
    *,
    scale: float = 1.0,
) -> tuple[Floats, float]:
    """Return the result of :func:`smooth_pair`, and the log evidence of its priors."""
    if variance == 0:
        return excess, 0.0
    rotated = first.vectors.transpose(0, 2, 1) @ excess @ second.vectors
    spread = first.values[:, :, None] * second.values[:, None, :]
    signal = scale * np.square(STRENGTHS)[:, None, None, None] * spread
    total = signal + variance
    evidence = -0.5 * (rotated**2 / total + np.log(total)).sum(axis=(2, 3))
    null_evidence = -0.5 * (excess**2 / variance + np.log(variance)).sum()
    best = max(float(evidence.max()), float(null_evidence))
    weights = np.exp(evidence - best)
    total_weight = weights.sum() + np.exp(null_evidence - best)
    weights /= total_weight
    kept = (weights[:, :, None, None] * signal / total).sum(axis=0) * rotated
    contributions = first.vectors @ kept @ second.vectors.transpose(0, 2, 1)
    log_evidence = best + float(np.log(total_weight / (evidence.size + 1)))
    return np.asarray(contributions.sum(axis=0)), log_evidence


# ----------------------------------------------------------------------------
# Pairs of columns given the classes, or the bins of a number: neighbours are similar.


@on_one_thread
def smooth_classes(
    excess: Floats,
    variance: float,
    first: PairPrior,
    second: PairPrior,
    shares: Floats,
    *,
    are_bins: bool = False,
) -> Floats:
    r"""Return the posterior mean of the excess of each class over all, in a pair.

    The prior is that of a pair, times one of classes: all excesses together are
    :math:`N(0, t^2 D R D \otimes K \otimes K')`, or they are 0. So the differences of
    all classes have one strength, which all their counts together show. D has the
    standard deviations of classes by their size. R is the identity or, if classes are
    bins of a number, decays along them; their sum, which is 0, is projected out. So a
    slow change along a number is detected even where the change of each bin is smaller
    than its noise.

    Parameters
    ----------
    excess : ndarray of shape (n_classes, n_cells, n_cells of the other)
        Excess of a class over its share of the excess of all classes.
    variance : float
        Of the noise of each entry of a class, before that share was subtracted.
    first, second : PairPrior
    shares : ndarray of shape (n_classes,)
    are_bins : bool, default=False
        Whether classes are bins of a number, in order.

    Examples
    --------
    >>> prior = PairPrior.of(np.array([0.5, 0.5]), 0)
    >>> slope = np.array([-0.01, 0.0, 0.01])[:, None, None]
    >>> excess = slope * np.array([[1.0, -1.0], [-1.0, 1.0]])
    >>> mean = smooth_classes(excess, 1e-8, prior, prior, np.full(3, 1 / 3))
    >>> bool(np.abs(mean - excess).max() < 1e-4)
    True
    """
    if variance == 0:
        return excess
    spread = shares * (1 - shares)
    noise = variance * ((1 - shares) ** 2 + (len(shares) - 1) * shares**2)
    noise_std = np.sqrt(noise)
    scaled = excess / noise_std[:, None, None]  # noise 1
    scale = np.sqrt(spread) / noise_std
    pairs = first.values[:, None, :, None] * second.values[None, :, None, :]
    left, right = first.vectors[:, None, None], second.vectors[None, :, None]
    rotated = left.swapaxes(-1, -2) @ scaled @ right  # (i, j, classes, cells, cells)
    shape = (*rotated.shape[:2], len(shares), -1)
    centre = np.eye(len(shares)) - shares[:, None]
    logs, fits = [], []
    for alike in correlations(shares, len(shares) if are_bins else 0):
        prior = scale[:, None] * (centre @ alike @ centre.T) * scale
        values, axes = np.linalg.eigh(prior)
        turned = axes.T @ rotated.reshape(shape)
        signal = np.maximum(values, 0.0)[:, None] * pairs.reshape(*shape[:2], 1, -1)
        squares = turned**2
        for strength in STRENGTHS:
            total = strength**2 * signal + 1.0
            logs.append(-0.5 * (squares / total + np.log(total)).sum(axis=(2, 3)))
        fits.append((axes, turned, signal))
    null = -0.5 * float((scaled**2).sum())
    best = max(null, *(float(log.max()) for log in logs))
    weights = np.exp(np.array(logs) - best)  # (candidates of classes, i, j)
    weights /= weights.sum() + weights[0].size * math.exp(null - best)
    mean = np.zeros_like(scaled)
    for k, (axes, turned, signal) in enumerate(fits):
        of_strengths = weights[k * len(STRENGTHS) : (k + 1) * len(STRENGTHS)]
        kept = sum(
            weight[:, :, None, None] * (1 - 1 / (strength**2 * signal + 1.0))
            for weight, strength in zip(of_strengths, STRENGTHS, strict=True)
        )
        back = (axes @ (kept * turned)).reshape(rotated.shape)
        mean += (left @ back @ right.swapaxes(-1, -2)).sum(axis=(0, 1))
    return np.asarray(mean * noise_std[:, None, None])
