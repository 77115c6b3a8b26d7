r"""Renyi curves of whole fits: they add up where Gaussian parameters do not.

A fit of Gaussian releases is a Gaussian mechanism with the mu of its budget. For a fit
that sub-samples, only the epsilon of its budget at one delta is promised: at other
deltas, and together with further fits, it may cost more than that mu. Its Renyi
divergences add up all the same, order by order, whatever later fits do with earlier
results [1]_.

References
----------
.. [1] Feldman & Zrnic, "Individual privacy accounting via a Renyi filter", 2021.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np

from skdpgen.privacy._accounting import gaussian_mu
from skdpgen.privacy._budget import Adjacency, PrivacyBudget
from skdpgen.privacy._subsampled import (
    ALPHAS,
    Floats,
    gaussian_curve,
    steps_curve,
    subsampled_epsilon,
)

PARTS = 6  # into which shares from 0 to 1 are divided: more are tighter, and slower
GRID = 1.02  # step of noise multipliers; fits of one rate share its moments
FIRST, LAST = -500, 1000  # powers of ``GRID``
MUCH_LESS = (4, 10, 20, 40)  # powers of ``GRID`` by which less noise is tried, too


@dataclass(frozen=True)
class Subsampling:
    """How a fit will sub-sample; known before it reads a row."""

    sampling_rate: float
    n_steps: int
    largest_share: float = 1.0
    """Largest part of the budget's squared mu that the steps may get."""


@lru_cache(maxsize=256)
def fit_curve(
    epsilon: float,
    delta: float,
    adjacency: Adjacency,
    subsampling: Subsampling | None = None,
) -> Floats:
    r"""Return a bound on the Renyi divergence of any fit with a budget, at ``ALPHAS``.

    Which share s of mu² the steps get is decided in the fit, before it releases
    anything. So all s are covered. *Proof.* Let N(s) be the noise multiplier
    that the ledger takes. It *fits* at s: steps with N(s) beside a Gaussian of
    :math:`\mu \sqrt{1-s}` cost at most epsilon. Beside a smaller Gaussian they cost
    less, so N(s) also fits at any :math:`t \ge s`; and if a multiplier L does not fit
    at t, neither does a smaller one, so N(s) > L. Hence for s in :math:`(r, t]` the
    divergence is at most :math:`\alpha \mu^2 (1-r) / 2` plus that of the steps at L,
    and the largest of these over some (r, t] bounds it for every s, at each order. An s
    that is chosen during the fit is covered by the filter [1]_, since the bound does
    not depend on it.

    *Selections.* If they keep a part of epsilon and delta, mu falls to
    :math:`m < \mu`. What fits the smaller budget at s fits the whole one at
    :math:`t = 1 - (1-s) m^2 / \mu^2`, where the Gaussian is the same: this is covered,
    too.

    Parameters
    ----------
    epsilon, delta : float
        The budget; delta includes what selections may keep.
    adjacency : Adjacency
        Which tables are neighbours.
    subsampling : Subsampling or None, default=None
        None is a fit of Gaussian releases alone; steps that see all rows count as such.

    Examples
    --------
    >>> from skdpgen.privacy import renyi_epsilon
    >>> curve = fit_curve(1.0, 1e-5, Adjacency.ADD_REMOVE)
    >>> round(renyi_epsilon(curve, 1e-5), 2), round(renyi_epsilon(7 * curve, 1e-5), 2)
    (1.09, 3.2)
    """
    mu = gaussian_mu(epsilon, delta)
    whole = gaussian_curve(mu)
    if subsampling is None or subsampling.sampling_rate == 1 or math.isinf(mu):
        return _frozen(whole)
    left = PrivacyBudget.reserving(epsilon, delta, adjacency, 1).mu / mu
    last = 1.0 - (1.0 - subsampling.largest_share) * left**2
    steps = (subsampling.sampling_rate, subsampling.n_steps)
    curve = np.zeros_like(ALPHAS)
    for r, t in pairwise(np.linspace(0.0, last, math.ceil(PARTS * last) + 1)):
        beside = mu * math.sqrt(max(0.0, 1.0 - t))
        noise = _too_little(epsilon, delta, *steps, adjacency, beside)
        gaussian = gaussian_curve(mu * math.sqrt(1.0 - r))
        curve = np.maximum(curve, gaussian + _curve(noise, *steps, adjacency))
    return _frozen(curve)


def _too_little(
    epsilon: float,
    delta: float,
    sampling_rate: float,
    n_steps: int,
    adjacency: Adjacency,
    beside: float,
) -> float:
    """Return a noise multiplier that is too small to fit, or 0.

    Costs on a grid of losses are tight to some .01 % only, so a noise may seem to fit
    where a little more does not: the largest that does not fit is taken one step of
    the grid lower, and much less noise is tried as well.
    """

    def fits(power: int) -> bool:
        steps = (GRID**power, sampling_rate, n_steps, delta, adjacency)
        return subsampled_epsilon(*steps, gaussian_mu=beside) <= epsilon

    low, high = FIRST, LAST
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if fits(middle) else (middle, high)
        if high - low == 1 and low > FIRST:
            less = [low - k for k in MUCH_LESS if low - k > FIRST]
            fitting = [power for power in less if fits(power)]
            if fitting:
                low, high = FIRST, min(fitting)
    return GRID ** (low - 1) if low > FIRST else 0.0


def _curve(noise: float, rate: float, n_steps: int, adjacency: Adjacency) -> Floats:
    """Return the curve of steps; it is never larger than without sampling."""
    if noise == 0:
        return np.full_like(ALPHAS, np.inf)
    shift = 2.0 if adjacency == Adjacency.REPLACE else 1.0
    everybody = gaussian_curve(shift / noise * math.sqrt(n_steps))
    return np.minimum(everybody, steps_curve(noise, rate, n_steps, adjacency))


def _frozen(curve: Floats) -> Floats:
    curve.setflags(write=False)  # it is cached
    return curve
