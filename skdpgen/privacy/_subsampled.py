r"""Accounting of Poisson sub-sampled Gaussian steps, alone and beside other releases.

References
----------
.. [1] Mironov, Talwar & Zhang, "RDP of the Sampled Gaussian Mechanism", 2019.
.. [2] Canonne, Kamath & Steinke, "The Discrete Gaussian", NeurIPS 2020, Prop. 12.
.. [3] Mironov, "Renyi Differential Privacy", CSF 2017, Prop. 11.
"""

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp, xlogy

from skdpgen.privacy._accounting import (
    check_delta,
    check_mu,
    gaussian_epsilon,
)
from skdpgen.privacy._accounting import (
    gaussian_mu as budget_mu,  # a keyword below hides the name
)
from skdpgen.privacy._pld import pld_epsilon
from skdpgen.privacy._replaced import replaced_moments

Floats = NDArray[np.float64]

RESOLUTION = 1e-3  # of the noise multiplier
ROUNDING = 1e-14  # of logarithms in moments, an order
MOST_NOISE = 1e12  # beside other steps, which may leave nothing

# Moments have a closed form at integers; between them, by convexity, a chord is above.
ORDERS = np.unique(np.r_[1:41, np.geomspace(41, 2048, 26).astype(int)])
ALPHAS = np.unique(np.r_[1 + np.geomspace(0.02, 1, 20), ORDERS[1:]]).astype(np.float64)
SPLITS = 1 + np.geomspace(0.1, 10, 41)


class SampledSteps(NamedTuple):
    """Poisson sub-sampled Gaussian steps; noise is given in clipping norms."""

    noise_multiplier: float
    sampling_rate: float
    n_steps: int


def subsampled_epsilon(
    noise_multiplier: float,
    sampling_rate: float,
    n_steps: int,
    delta: float,
    adjacency: str,
    *,
    gaussian_mu: float = 0.0,
    beside: Sequence[SampledSteps] = (),
) -> float:
    r"""Return the epsilon of Poisson sub-sampled Gaussian steps beside one Gaussian.

    Each step sums one vector per row of a secret Poisson sample, of norm at most the
    clipping norm, and adds noise of ``noise_multiplier`` clipping norms, under both
    adjacencies. The smallest of these sound bounds is returned:

    * *All rows every time.* Given who is drawn, a step is a Gaussian release or does
      not depend on the row, so sampling never adds cost: ``n_steps`` Gaussians.
    * *Renyi.* The moments of the sampled Gaussian [1]_, which hold for adding and
      removing a row, plus those of the other Gaussian, converted by [2]_.
    * *Renyi, ``"replace"``.* A replaced row is one removed and one added. With P and R
      the results on the two tables, Q on the one without the row, and 1/p + 1/q = 1,
      the weak triangle inequality [3]_ gives :math:`D_\alpha(P \| R) \le
      \frac{\alpha - 1/p}{\alpha - 1} D_{p\alpha}(P \| Q) + D_{q(\alpha-1/p)}(Q \| R)`;
      at p = 2 - 1/alpha it doubles the mu of a Gaussian, no more. Mostly the moments
      of the pair that dominates a step (:mod:`~skdpgen.privacy._replaced`) are smaller.
    * *Group privacy, ``"replace"``.* If removing a row is (e, d)-private, replacing one
      is (2e, (1 + exp(e)) d)-private; used where nothing else is composed.

    Parameters
    ----------
    noise_multiplier : float
        Noise std over the clipping norm (the add/remove sensitivity of a sum).
    sampling_rate : float
        Probability that a row enters a step; public.
    n_steps : int
        Number of steps.
    delta : float
        The delta at which epsilon is asked for.
    adjacency : {"replace", "add_remove"}
        Which tables are neighbours.
    gaussian_mu : float, default=0
        Mu of all other Gaussian releases on the same rows, under this ``adjacency``.
    beside : sequence of SampledSteps, default=()
        Other sub-sampled steps on the same rows.

    Examples
    --------
    >>> round(subsampled_epsilon(1.0, 0.01, 1000, 1e-5, "add_remove"), 2)
    1.83
    >>> half = SampledSteps(1.0, 0.01, 500)
    >>> round(subsampled_epsilon(*half, 1e-5, "add_remove", beside=[half]), 2)
    1.83
    """
    _check_steps(sampling_rate, n_steps)
    check_delta(delta)
    check_mu(gaussian_mu)
    _shift(adjacency)
    if not noise_multiplier >= 0:
        raise ValueError(
            f"noise_multiplier must be in [0, inf]. Got {noise_multiplier!r} instead."
        )
    together = [SampledSteps(noise_multiplier, sampling_rate, n_steps), *beside]
    if any(steps.noise_multiplier == 0 for steps in together):
        return math.inf
    bound = _renyi_cost(together, gaussian_mu, delta, adjacency)
    is_sampled = any(steps.sampling_rate < 1 for steps in together)
    if not is_sampled or not math.isfinite(noise_multiplier + gaussian_mu):
        return bound
    steps = tuple((float(s), float(q), int(n)) for s, q, n in together)
    return min(bound, pld_epsilon(steps, float(gaussian_mu), delta, adjacency))


def _renyi_cost(
    together: Sequence[SampledSteps], gaussian_mu: float, delta: float, adjacency: str
) -> float:
    """Return the smallest epsilon without privacy losses on a grid; fast."""
    shift = _shift(adjacency)
    mus = [shift / steps.noise_multiplier * steps.n_steps**0.5 for steps in together]
    bounds = [gaussian_epsilon(math.hypot(*mus, gaussian_mu), delta)]
    are_sampled = any(steps.sampling_rate < 1 for steps in together)
    if are_sampled and math.isfinite(together[0].noise_multiplier + gaussian_mu):
        renyi = gaussian_curve(gaussian_mu)
        for steps, mu in zip(together, mus, strict=True):
            renyi += np.minimum(steps_curve(*steps, adjacency), gaussian_curve(mu))
        bounds.append(renyi_epsilon(renyi, delta))
        if shift == 2 and gaussian_mu == 0 and len(together) == 1:
            alone = steps_curve(*together[0], "add_remove")
            bounds.append(_group_epsilon(alone, delta))
    return min(bounds)


@lru_cache(maxsize=256)  # seconds each, and grid searches ask again and again
def subsampled_noise_multiplier(
    epsilon: float,
    delta: float,
    sampling_rate: float,
    n_steps: int,
    adjacency: str,
    *,
    gaussian_mu: float = 0.0,
    beside: tuple[SampledSteps, ...] = (),
) -> float:
    """Return the smallest noise multiplier for which :func:`subsampled_epsilon` fits.

    At most .1 % too large; 0 for epsilon=inf.

    Examples
    --------
    >>> round(subsampled_noise_multiplier(1.0, 1e-5, 0.01, 1000, "add_remove"), 1)
    1.4
    """
    _check_steps(sampling_rate, n_steps)
    check_mu(gaussian_mu)
    shift = _shift(adjacency)
    whole = budget_mu(epsilon, delta)
    if math.isinf(epsilon):
        return 0.0
    if gaussian_mu >= whole:
        raise ValueError(
            f"gaussian_mu must be below {whole:.6g}, the mu of epsilon={epsilon:g} and "
            f"delta={delta:g}. Got {gaussian_mu!r} instead; leave something for the "
            "sub-sampled steps."
        )

    def cost(noise: float) -> float:
        steps = (noise, sampling_rate, n_steps, delta, adjacency)
        return subsampled_epsilon(*steps, gaussian_mu=gaussian_mu, beside=beside)

    left = math.sqrt((whole - gaussian_mu) * (whole + gaussian_mu))
    high = shift * math.sqrt(n_steps) / left
    while cost(high) > epsilon:  # by rounding, or beside other steps
        high *= 2 if beside else 1 + RESOLUTION
        if high > MOST_NOISE:
            raise ValueError(
                f"The other releases alone cost more than epsilon={epsilon:g} at "
                f"delta={delta:g}; leave something for the sub-sampled steps."
            )
    together = [SampledSteps(high / 2, sampling_rate, n_steps), *beside]
    while _renyi_cost(together, gaussian_mu, delta, adjacency) <= epsilon:  # fast
        high = together[0].noise_multiplier
        together[0] = together[0]._replace(noise_multiplier=high / 2)
    return _smallest(cost, epsilon, high)


def _smallest(cost: Callable[[float], float], epsilon: float, high: float) -> float:
    """Return nearly the smallest noise that costs at most epsilon; ``high`` does.

    Costs are asked for at few places: logarithms are nearly on a line.
    """
    low, at_high = high / 2, cost(high)
    while (at_low := cost(low)) <= epsilon:
        low, high, at_high = low / 2, low, at_low
    for turn in range(100):
        if high / low <= 1 + RESOLUTION:
            break
        part = 0.5
        if turn < 20 and 0 < at_high < at_low < math.inf:
            part = math.log(at_low / epsilon) / math.log(at_low / at_high)
        guess = low * (high / low) ** part * (1 + RESOLUTION / 4)
        if guess >= high / (1 + RESOLUTION / 2):  # the root is next to high
            guess = max(high / (1 + 0.9 * RESOLUTION), math.sqrt(low * high))
        found = cost(guess)
        if found > epsilon:
            low, at_low = guess, found
        else:
            high, at_high = guess, found
    return high


def gaussian_curve(mu: float) -> Floats:
    """Return the Renyi divergence of a Gaussian release at ``ALPHAS``."""
    return ALPHAS * mu**2 / 2


@lru_cache(maxsize=1024)
def moments(noise_multiplier: float, sampling_rate: float) -> Floats:
    r"""Return (order - 1) times the Renyi divergence of a sampled step, at ``ORDERS``.

    Theorem 5 and Section 3.3 of [1]_, for an integer order a, with noise s and rate q:

    .. math:: \log \sum_{k=0}^{a} \binom{a}{k} (1-q)^{a-k} q^k
              \exp\Big(\frac{k (k-1)}{2 s^2}\Big).

    Examples
    --------
    >>> round(float(moments(1.0, 1.0)[1]), 9)  # all take part: 2 (2 - 1) / (2 s^2)
    1.0
    """
    k = np.arange(ORDERS[-1] + 1.0)
    with np.errstate(over="ignore"):
        gain = k * (k - 1) / 2 / noise_multiplier**2
    q = sampling_rate
    found = [
        logsumexp(
            gammaln(a + 1)
            - gammaln(k[: a + 1] + 1)
            - gammaln(a - k[: a + 1] + 1)
            + xlogy(k[: a + 1], q)
            + xlogy(a - k[: a + 1], 1 - q)
            + gain[: a + 1]
        )
        for a in ORDERS
    ]
    return np.maximum(np.asarray(found), 0.0) + ROUNDING * ORDERS


def steps_curve(
    noise_multiplier: float, sampling_rate: float, n_steps: int, adjacency: str
) -> Floats:
    """Return the curve of sub-sampled steps; proof in :func:`subsampled_epsilon`."""
    found = n_steps * moments(noise_multiplier, sampling_rate)
    if _shift(adjacency) == 1:
        return _at(found, ALPHAS)
    steps = (float(noise_multiplier), float(sampling_rate))
    pair = n_steps * replaced_moments(*steps, tuple(ORDERS.tolist()))
    return np.minimum(_replaced(found), _at(pair, ALPHAS))


def renyi_epsilon(renyi: Floats, delta: float) -> float:
    """Convert a Renyi curve at ``ALPHAS`` [2]_; each order is sound, so the best is."""
    gain = np.log1p(-1 / ALPHAS) - (math.log(delta) + np.log(ALPHAS)) / (ALPHAS - 1)
    return max(0.0, float((renyi + gain).min()))


def _at(moments: Floats, alphas: Floats) -> Floats:
    """Return the Renyi divergence at real orders; inf beyond the last one."""
    finite = np.isfinite(moments)
    if finite.sum() < 2:
        return np.full(alphas.shape, np.inf)
    chord = np.interp(alphas, ORDERS[finite], moments[finite], right=np.inf)
    return np.asarray(chord / (alphas - 1), dtype=np.float64)


def _replaced(moments: Floats) -> Floats:
    """Return the Renyi divergence at ``ALPHAS`` when a row is replaced."""
    alpha = ALPHAS[:, None]
    p = np.hstack([2 - 1 / alpha, np.broadcast_to(SPLITS, (len(ALPHAS), len(SPLITS)))])
    q = p / (p - 1)
    first = (alpha - 1 / p) / (alpha - 1) * _at(moments, p * alpha)
    second = _at(moments, q * (alpha - 1 / p))
    return np.asarray((first + second).min(axis=1), dtype=np.float64)


def _group_epsilon(renyi: Floats, delta: float) -> float:
    """Return twice epsilon at the largest d with (1 + exp(epsilon)) d <= delta."""

    def fits(exponent: float) -> bool:
        epsilon = renyi_epsilon(renyi, math.exp(-exponent))
        return float(np.logaddexp(0.0, epsilon)) - exponent <= math.log(delta)

    largest = 700.0  # exp(-700) is still a normal float
    if not fits(largest):
        return math.inf
    low, high = -math.log(delta), largest
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if fits(middle) else (middle, high)
    return 2 * renyi_epsilon(renyi, math.exp(-high))


def _shift(adjacency: str) -> int:
    """Return how many clipping norms one row moves a sum."""
    shifts = {"replace": 2, "add_remove": 1}
    if adjacency not in shifts:
        raise ValueError(
            f"adjacency must be 'replace' or 'add_remove'. Got {adjacency!r} instead."
        )
    return shifts[adjacency]


def _check_steps(sampling_rate: float, n_steps: int) -> None:
    if not 0 < sampling_rate <= 1:
        raise ValueError(
            f"sampling_rate must be in (0, 1]. Got {sampling_rate!r} instead."
        )
    if n_steps < 1:
        raise ValueError(f"n_steps must be at least 1. Got {n_steps!r} instead.")
