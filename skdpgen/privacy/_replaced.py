"""Moments of the privacy loss of a sampled step when a row is replaced."""

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, log_ndtr, logsumexp, xlogy

from skdpgen.privacy._dominating_pairs import Pair, discretised, spread

Floats = NDArray[np.float64]
FINE, MOST_CELLS = 0.02, 2**16
ALONE = 18.0  # where the one normal part of Q is below 1e-8 of the other
ROUNDING = 1e-13  # of logarithms, an order
FAR = 30.0  # deviations; beyond, numbers get too small


@lru_cache(maxsize=1024)
def replaced_moments(
    noise_multiplier: float, sampling_rate: float, orders: tuple[int, ...]
) -> Floats:
    r"""Return bounds on (order - 1) times the Renyi divergence of a step, at integers.

    If a pair P, Q dominates a step, then so do its moments :math:`\mathrm{E}_Q
    (P/Q)^a`, as they are convex in the ratio. Up to a place c they are summed over the
    cells on which losses are put, which lets none fall
    (:func:`~skdpgen.privacy._dominating_pairs.discretised`); beyond, Q is at least
    :math:`(1-q) N_0`, so with noise s they are at most

    .. math:: (1-q)^{1-a} \sum_{k=0}^{a} \binom{a}{k} (1-q)^{a-k} q^k
              \exp\Big(\frac{k (k-1)}{2 s^2}\Big) \Phi\Big(\frac{k - c}{s}\Big).

    Examples
    --------
    >>> replaced_moments(1.0, 0.01, (2,)).round(6)
    array([0.000458])
    """
    s, q = noise_multiplier, sampling_rate
    pair = Pair("replaced", s, q, 1)
    edge = min(ALONE * s**2, FAR * s) + 1.0
    top = float(pair.loss(np.array([edge]))[0])
    std = spread(pair)
    if q == 1 or not 1e-9 < std < math.inf or not math.isfinite(top):
        return np.full(len(orders), np.inf)
    cell = max(FINE * std, (top - pair.lowest()) / MOST_CELLS)
    step = discretised(pair, cell, top=top)
    loss = np.arange(len(step.mass), dtype=np.float64)
    loss = cell * (step.first + loss)
    place = float(pair.place(loss[-1:])[0][0])
    place -= 1e-9 * (1.0 + abs(place))
    with np.errstate(divide="ignore"):
        log_mass = np.log(step.mass)
    found = []
    for a in orders:
        k = np.arange(a + 1.0)
        beyond = logsumexp(
            gammaln(a + 1)
            - gammaln(k + 1)
            - gammaln(a - k + 1)
            + xlogy(1 - k, 1 - q)
            + xlogy(k, q)
            + k * (k - 1) / 2 / s**2
            + log_ndtr((k - place) / s)
        )
        body = logsumexp(log_mass + (a - 1) * loss)
        found.append(float(np.logaddexp(body, beyond)))
    return np.maximum(np.asarray(found), 0.0) + ROUNDING * np.asarray(orders)
