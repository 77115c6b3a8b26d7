"""Pairs of columns given the bins of a number, of which neighbours are alike."""

import math

import numpy as np
from numpy.typing import NDArray

from skdpgen.training._pairs import STRENGTHS, PairPrior
from skdpgen.training._smoothing import correlations
from skdpgen.utils import on_one_thread

Floats = NDArray[np.float64]


@on_one_thread
def smooth_bins(
    excess: Floats,
    variance: float,
    first: PairPrior,
    second: PairPrior,
    shares: Floats,
) -> Floats:
    r"""Return the posterior mean of what each bin has of its own in a pair.

    The prior is that of a pair, times one of bins: all of them together are
    :math:`N(0, t^2 D R D \otimes K \otimes K')`, with D the standard deviations that
    bins have by their size and R, which decays along the bins or not, without their
    sum, which is 0; or they are 0. So a slow change along the target is told from
    noise where no bin alone could tell it.

    Parameters
    ----------
    excess : ndarray of shape (n_bins, n_cells, n_cells of the other)
        What a bin has beyond its share of the excess of all.
    variance : float
        Of the noise of each entry of a bin, before that share was taken off.
    first, second : PairPrior
    shares : ndarray of shape (n_bins,)

    Examples
    --------
    >>> prior = PairPrior.of(np.array([0.5, 0.5]), 0)
    >>> slope = np.array([-0.01, 0.0, 0.01])[:, None, None]
    >>> seen = slope * np.array([[1.0, -1.0], [-1.0, 1.0]])
    >>> found = smooth_bins(seen, 1e-8, prior, prior, np.full(3, 1 / 3))
    >>> bool(np.abs(found - seen).max() < 1e-4)
    True
    """
    if variance == 0:
        return excess
    spread = shares * (1 - shares)
    noise = variance * ((1 - shares) ** 2 + (len(shares) - 1) * shares**2)
    floor = np.sqrt(noise)
    seen = excess / floor[:, None, None]  # noise 1
    scale = np.sqrt(spread) / floor
    logs, means = [-0.5 * float((seen**2).sum())], [np.zeros_like(seen)]
    pairs = first.values[:, None, :, None] * second.values[None, :, None, :]
    rotated = np.einsum("ixa,cxy,jyb->ijcab", first.vectors, seen, second.vectors)
    centre = np.eye(len(shares)) - shares[:, None]
    for alike in correlations(shares, len(shares)):
        prior = scale[:, None] * (centre @ alike @ centre.T) * scale
        values, turn = np.linalg.eigh(prior)
        turned = np.einsum("dc,ijdab->ijcab", turn, rotated)
        signal = np.maximum(values, 0.0)[:, None, None] * pairs[:, :, None]
        for strength in STRENGTHS:
            total = strength**2 * signal + 1.0
            fit = -0.5 * (turned**2 / total + np.log(total)).sum(axis=(2, 3, 4))
            best = float(fit.max())
            weights = np.exp(fit - best)
            kept = weights[:, :, None, None, None] / weights.sum() * (1 - 1 / total)
            back = np.einsum("cd,ijdab->ijcab", turn, kept * turned)
            means.append(
                np.einsum("ixa,ijcab,jyb->cxy", first.vectors, back, second.vectors)
            )
            logs.append(best + math.log(weights.sum() / weights.size))
    odds = np.exp(np.array(logs) - max(logs))
    odds /= odds.sum()
    mean = np.einsum("m,mcxy->cxy", odds, np.array(means))
    return np.asarray(mean * floor[:, None, None])
