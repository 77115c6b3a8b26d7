"""Noisy histograms of pairs of columns, denoised by what is known of their noise."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skdpgen.training._smoothing import POWERS
from skdpgen.utils import on_one_thread

Floats = NDArray[np.float64]
STRENGTHS = (0.03, 0.1, 0.3, 0.9)
LENGTH_SCALES = (None, 0.4, 1.6)  # in quantiles of the column; None is unordered


@dataclass(frozen=True, eq=False)
class PairPrior:
    """How one column may take part in relations: eigenvectors of candidate priors.

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

        As for single columns: a says whether rare cells may deviate more relative to
        their size, ρ whether neighbours deviate alike, and P removes the sum.
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
    candidate are exact, and posterior means are averaged, weighted by evidence: a pair
    without a relation returns to 0.

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
    >>> found = smooth_pair(np.array([[0.2, -0.2], [-0.2, 0.2]]), 1e-4, prior, prior)
    >>> found.round(2).tolist()
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
    """Return what :func:`smooth_pair` does, and the log evidence of its priors."""
    if variance == 0:
        return excess, 0.0
    rotated = first.vectors.transpose(0, 2, 1) @ excess @ second.vectors
    spread = first.values[:, :, None] * second.values[:, None, :]
    signal = scale * np.square(STRENGTHS)[:, None, None, None] * spread
    total = signal + variance
    evidence = -0.5 * (rotated**2 / total + np.log(total)).sum(axis=(2, 3))
    nothing = -0.5 * (excess**2 / variance + np.log(variance)).sum()
    best = max(float(evidence.max()), float(nothing))
    weights = np.exp(evidence - best)
    whole = weights.sum() + np.exp(nothing - best)
    weights /= whole
    kept = (weights[:, :, None, None] * signal / total).sum(axis=0) * rotated
    back = first.vectors @ kept @ second.vectors.transpose(0, 2, 1)
    log = best + float(np.log(whole / (evidence.size + 1)))
    return np.asarray(back.sum(axis=0)), log
