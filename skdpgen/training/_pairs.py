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
# Pairs of columns given the bins of a numeric target; neighbouring bins are similar.


@on_one_thread
def smooth_bins(
    excess: Floats,
    variance: float,
    first: PairPrior,
    second: PairPrior,
    shares: Floats,
) -> Floats:
    r"""Return the posterior mean of the excess of each bin over all bins, in a pair.

    The prior is that of a pair, times one of bins: all excesses together are
    :math:`N(0, t^2 D R D \otimes K \otimes K')`, or they are 0. D has the standard
    deviations of bins by their size. R decays along the bins, or is the identity; their
    sum, which is 0, is projected out. So a slow change along the target is detected
    even where the change of each bin is smaller than its noise.

    Parameters
    ----------
    excess : ndarray of shape (n_bins, n_cells, n_cells of the other)
        Excess of a bin over its share of the excess of all bins.
    variance : float
        Of the noise of each entry of a bin, before that share was subtracted.
    first, second : PairPrior
    shares : ndarray of shape (n_bins,)

    Examples
    --------
    >>> prior = PairPrior.of(np.array([0.5, 0.5]), 0)
    >>> slope = np.array([-0.01, 0.0, 0.01])[:, None, None]
    >>> excess = slope * np.array([[1.0, -1.0], [-1.0, 1.0]])
    >>> mean = smooth_bins(excess, 1e-8, prior, prior, np.full(3, 1 / 3))
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
    logs, means = [-0.5 * float((scaled**2).sum())], [np.zeros_like(scaled)]
    pairs = first.values[:, None, :, None] * second.values[None, :, None, :]
    rotated = np.einsum("ixa,cxy,jyb->ijcab", first.vectors, scaled, second.vectors)
    centre = np.eye(len(shares)) - shares[:, None]
    for alike in correlations(shares, len(shares)):
        prior = scale[:, None] * (centre @ alike @ centre.T) * scale
        values, axes = np.linalg.eigh(prior)
        turned = np.einsum("dc,ijdab->ijcab", axes, rotated)
        signal = np.maximum(values, 0.0)[:, None, None] * pairs[:, :, None]
        for strength in STRENGTHS:
            total = strength**2 * signal + 1.0
            fit = -0.5 * (turned**2 / total + np.log(total)).sum(axis=(2, 3, 4))
            best = float(fit.max())
            weights = np.exp(fit - best)
            kept = weights[:, :, None, None, None] / weights.sum() * (1 - 1 / total)
            contributions = np.einsum("cd,ijdab->ijcab", axes, kept * turned)
            means.append(
                np.einsum(
                    "ixa,ijcab,jyb->cxy", first.vectors, contributions, second.vectors
                )
            )
            logs.append(best + math.log(weights.sum() / weights.size))
    odds = np.exp(np.array(logs) - max(logs))
    odds /= odds.sum()
    mean = np.einsum("m,mcxy->cxy", odds, np.array(means))
    return np.asarray(mean * noise_std[:, None, None])
