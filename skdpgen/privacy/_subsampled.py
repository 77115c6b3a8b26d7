r"""Accounting of DP-SGD: secret Poisson samples, together with other releases.

In reading order: what given steps cost, which noise a budget needs, privacy losses,
Renyi curves, and the curve of a whole fit before it starts.

Privacy losses are composed by dp-accounting [6]_, which is imported here alone, and
when it is first needed (.3 seconds). What is ours, and why:

* *The calibration.* Theirs composes on one grid of losses some 30 times; this one looks
  for the root on a coarse grid and checks it on a fine one (``_smallest``).
* *Moments.* Neither dp-accounting nor autodp has the Renyi divergence of a sampled step
  whose row is replaced, which curves of whole fits need. Where a row is removed they
  have it; it is the same sum that a replaced row needs, in a tenth of the time.
* *Rounding at tiny delta.* dp-accounting does not bound it. About five times the most
  that was measured is left out of delta; where little remains, Renyi curves count.

References
----------
.. [1] Mironov, Talwar & Zhang, "RDP of the Sampled Gaussian Mechanism", 2019.
.. [2] Canonne, Kamath & Steinke, "The Discrete Gaussian", NeurIPS 2020, Prop. 12.
.. [3] Zhu, Dong & Wang, "Optimal Accounting of Differential Privacy via
   Characteristic Function", AISTATS 2022, Thm. 10.
.. [4] Kaas, Dhaene, Vyncke, Goovaerts & Denuit, "A Simple Geometric Proof that
   Comonotonic Risks Have the Convex-Largest Sum", ASTIN Bulletin 2002.
.. [5] Lebeda, Regehr, Kamath & Steinke, "Avoiding Pitfalls for Privacy Accounting of
   Subsampled Mechanisms under Composition", 2024.
.. [6] Doroshenko, Ghazi, Kamath, Kumar & Manurangsi, "Connect the Dots: Tighter
   Discrete Approximations of Privacy Loss Distributions", PoPETs 2022.
.. [7] Feldman & Zrnic, "Individual privacy accounting via a Renyi filter", 2021.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import gammaln, log_ndtr, logsumexp, ndtr, ndtri, xlogy

from skdpgen.privacy._accounting import (
    check_delta,
    check_mu,
    gaussian_epsilon,
)
from skdpgen.privacy._accounting import (
    gaussian_mu as budget_mu,  # a keyword below hides the name
)
from skdpgen.privacy._budget import Adjacency, PrivacyBudget

Floats = NDArray[np.float64]

NOISE_RESOLUTION = 1e-3  # of the multiplier
LEAST_GUESS, MOST_NOISE = 0.05, 1e12  # beside other steps, which may leave nothing

# Widths of a cell of losses, in standard deviations of a step's loss. An epsilon is
# too large by about .08 times its square.
FINE_CELL, COARSE_CELL = 0.03, 0.3
MOST_CELLS = 2**17  # of one step
DELTA_BEYOND_GRID = 1e-6  # part of delta that losses there may have
DELTA_ROUNDING = 1e-15  # of delta, a step: see `pld_epsilon`

# Moments have a closed form at integers; between them, by convexity, a chord is above.
ORDERS = np.unique(np.r_[1:41, np.geomspace(41, 2048, 26).astype(int)])
ALPHAS = np.unique(np.r_[1 + np.geomspace(0.02, 1, 20), ORDERS[1:]]).astype(np.float64)
NEGLIGIBLE_STDS = 8.0  # next to nothing lies further out: 1e-15 of all
MOMENT_CELL = 0.01  # of the places of a step's result, in deviations
ONE_PART_FROM = 18.0  # where the one normal part of Q is below 1e-8 of the other
FARTHEST_STDS = 30.0  # beyond, numbers get too small
LOG_MOMENT_ROUNDING = 1e-13  # for each order

PARTS_OF_SHARES = 6  # from 0 to 1: more are tighter, and slower
LESS_NOISE = 1.01  # factor between a noise that fits and one that must not
MUCH_LESS_NOISE = (1.08, 1.2, 1.5, 2.2)  # it must not seem to fit either


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
    * *Privacy losses* (:func:`pld_epsilon`), which are tight.
    * *Renyi*, where losses cannot be composed: at tiny delta, or very rare rows. The
      curves of all steps and of the Gaussian add up, and are converted by [2]_.

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
    all_steps = [SampledSteps(noise_multiplier, sampling_rate, n_steps), *beside]
    if any(steps.noise_multiplier == 0 for steps in all_steps):
        return math.inf
    steps = tuple(SampledSteps(float(s), float(q), int(n)) for s, q, n in all_steps)
    return _cost(steps, float(gaussian_mu), delta, adjacency, FINE_CELL)


def _cost(
    all_steps: tuple[SampledSteps, ...],
    gaussian_mu: float,
    delta: float,
    adjacency: str,
    cell: float,
) -> float:
    shift = _shift(adjacency)
    mus = [shift / steps.noise_multiplier * steps.n_steps**0.5 for steps in all_steps]
    unsampled = gaussian_epsilon(math.hypot(*mus, gaussian_mu), delta)
    is_sampled = any(steps.sampling_rate < 1 for steps in all_steps)
    if not is_sampled or not math.isfinite(unsampled):
        return unsampled
    epsilon = pld_epsilon(all_steps, gaussian_mu, delta, adjacency, cell=cell)
    if not math.isfinite(epsilon):
        epsilon = _renyi_cost(all_steps, gaussian_mu, delta, adjacency)
    return min(unsampled, epsilon)


@lru_cache(maxsize=256)  # takes seconds, and grid searches repeat it
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
    mu = budget_mu(epsilon, delta)
    if math.isinf(epsilon):
        return 0.0
    if gaussian_mu >= mu:
        raise ValueError(
            f"gaussian_mu must be below {mu:.6g}, the mu of epsilon={epsilon:g} and "
            f"delta={delta:g}. Got {gaussian_mu!r} instead; leave something for the "
            "sub-sampled steps."
        )

    def cost(noise: float, cell: float) -> float:
        all_steps = (SampledSteps(noise, sampling_rate, n_steps), *beside)
        return _cost(all_steps, gaussian_mu, delta, adjacency, cell)

    mu_of_steps = math.sqrt((mu - gaussian_mu) * (mu + gaussian_mu))
    high = shift * math.sqrt(n_steps) / mu_of_steps
    while cost(high, COARSE_CELL) > epsilon:  # by rounding, or beside other steps
        high *= 2 if beside else 1 + NOISE_RESOLUTION
        if high > MOST_NOISE:
            raise ValueError(
                f"The other releases alone cost more than epsilon={epsilon:g} at "
                f"delta={delta:g}; leave something for the sub-sampled steps."
            )

    def too_wide(log_noise: float) -> float:
        std = _loss_std(math.exp(log_noise), sampling_rate, adjacency)
        return math.sqrt(n_steps) * std - mu_of_steps

    # The sum of many losses is nearly normal: its deviation is that of a Gaussian.
    guess = math.log(high)
    if sampling_rate < 1 and too_wide(math.log(LEAST_GUESS)) > 0 > too_wide(guess):
        guess = float(brentq(too_wide, math.log(LEAST_GUESS), guess, xtol=0.01))
    return _smallest(cost, epsilon, guess, math.log(high))


def _smallest(
    cost: Callable[[float, float], float], epsilon: float, guess: float, high: float
) -> float:
    """Return a noise that costs at most epsilon, where .1 % less noise costs more.

    ``guess`` and ``high`` are logarithms of noise, and ``high`` fits. The root is
    bracketed on a coarse grid, which takes a tenth of the time of the fine one.
    Logarithms of costs are nearly on a line, so two costs on the fine grid mostly do.
    Only a noise that fits there is returned.
    """

    def excess(log_noise: float, cell: float = COARSE_CELL) -> float:
        value = cost(math.exp(log_noise), cell)
        with np.errstate(divide="ignore"):
            return float(np.clip(np.log(value / epsilon), -50.0, 50.0))

    at_guess = excess(guess)
    step = 0.05 if at_guess > 0 else -0.05
    while True:
        neighbour = min(guess + step, high)
        at_neighbour = excess(neighbour)
        if neighbour == high or (at_neighbour > 0) != (at_guess > 0):
            break
        guess, at_guess, step = neighbour, at_neighbour, 2 * step
    slope = abs(neighbour - guess) / max(abs(at_neighbour - at_guess), 1e-9)
    slope = min(max(slope, 0.1), 3.0)  # of log noise over log cost
    guess = min(guess + slope * at_guess, high)
    low = -math.inf  # does not fit, while `high` does
    for turn in range(60):
        excess_here = excess(guess, FINE_CELL)
        low, high = (guess, high) if excess_here > 0 else (low, guess)
        if (
            high - low <= NOISE_RESOLUTION
            or -NOISE_RESOLUTION <= slope * excess_here <= 0
        ):
            break  # by the slope, .1 % less costs too much
        # slightly above the root, so that the next noise is likely to fit
        guess += min(max(slope * excess_here, -0.3), 0.3) + NOISE_RESOLUTION / 4
        if turn > 5 or not low < guess < high:
            guess = (low + high) / 2 if low > -math.inf else high - NOISE_RESOLUTION
    return math.exp(high)


# ----------------------------------------------------------------------------
# Privacy losses.


@lru_cache(maxsize=4096)
def pld_epsilon(
    all_steps: tuple[SampledSteps, ...],
    gaussian_mu: float,
    delta: float,
    adjacency: str,
    *,
    cell: float = FINE_CELL,
) -> float:
    r"""Return an epsilon of sub-sampled steps with one Gaussian; inf if none is known.

    A step sums vectors of norm at most 1, of a secret sample with rate q, and adds
    noise s. With :math:`N_u` the normal distribution around u, of deviation s, it is
    dominated by a pair of distributions of one number:

    ========  ===============================  ==============================
    a row is  P                                Q
    ========  ===============================  ==============================
    removed   :math:`(1-q) N_0 + q N_1`        :math:`N_0`
    added     :math:`N_0`                      :math:`(1-q) N_0 + q N_{-1}`
    replaced  :math:`(1-q) N_0 + q N_1`        :math:`(1-q) N_0 + q N_{-1}`
    ========  ===============================  ==============================

    These are dp-accounting's pairs, too ("replaced" is its ``REPLACE_ONE``). It puts
    losses :math:`\log(P/Q)` on a grid such that no delta falls [6]_, and convolves
    them. Adding and removing a row are two sequences, and the larger epsilon counts
    [5]_. That steps follow each other, and depend on earlier results, is Theorem 10 of
    [3]_.

    *Claim.* For a step's results A, B on neighbours and every :math:`\gamma \ge 0`,
    :math:`H_\gamma(A \| B) = \sup_S A(S) - \gamma B(S) \le H_\gamma(P \| Q)`.

    *Proof.* H is jointly convex, and what the other rows add has one law in both: it
    may be fixed, to 0. Then A is :math:`(1-q) N_0 + q N_u` and B is :math:`(1-q) N_0 +
    q N_v`, with vectors of norms at most 1, or 0 for a row that is not there. *Let*
    :math:`\gamma \ge 1` and :math:`c = (\gamma - 1) (1 - q) / q \ge 0`. Shifted by u,

    .. math:: H_\gamma(A \| B) = q\, \mathrm{E} \big(1 - \gamma L_{v-u}
              - c L_{-u}\big)_+, \qquad
              L_w = e^{\langle w, X \rangle / s - \|w\|^2 / 2 s^2},

    where X is standard normal and :math:`L_w` the density of a shifted normal over it:
    log-normal, of mean 1. :math:`(1 - y)_+` is convex, and of all joint laws of two
    numbers with given marginals the one in which both grow together has the sum that
    is largest in convex order [4]_: that of v - u and -u in one direction. There the
    sum grows in convex order with each marginal (its stop-loss is a sum of theirs
    [4]_), and :math:`L_w` grows with :math:`\|w\|`. So H is largest where
    :math:`\|v - u\|` and :math:`\|u\|` are largest and both point one way. Replaced: at
    2 and 1, where v = -u. Removed, v = 0: at 1 and 1. Added, u = 0: :math:`L_0 = 1`,
    and :math:`\|v\|` is 1. Those are the pairs. *For* :math:`\gamma < 1`,
    :math:`H_\gamma(A \| B) = 1 - \gamma + \gamma H_{1/\gamma}(B \| A)`: adding and
    removing change places, and so do P and Q, up to a reflection. ∎

    *Beside Gaussian releases that are chosen on the way.* Let M² be the squared mu that
    all of them may have together, J the steps, fixed beforehand, and
    :math:`h_\gamma(m, J)` the divergence :math:`H_\gamma` of the products of N(m, 1)
    against N(0, 1) and of the pairs of J. In any order, and for any choice of each
    :math:`\mu_t` by what was seen before, :math:`H_\gamma \le h_\gamma(M, J)`. *Proof*,
    by induction over the number of releases. Let the first be Gaussian with
    :math:`\mu_1`, which depends on nothing private, and y its result. What follows has
    :math:`m^2 = M^2 - \mu_1^2`, **the same whatever y is**, so given y its divergences
    are at most :math:`h_{\gamma'}(m, J)` for all :math:`\gamma'`. Then that of all,
    :math:`\int p(y)\, H_{\gamma q(y)/p(y)}(\cdot \mid y)\, dy`, is at most that of the
    first beside N(m, 1) and J. The first is dominated by :math:`N(\mu_1, 1)` against
    N(0, 1), and both Gaussians together are one of mu M: at most
    :math:`h_\gamma(M, J)`. If a step of J comes first, the same holds with its pair.
    What is not used adds nothing.

    *Numbers.* The grid is as fine as the loss of all steps needs: ``cell`` standard
    deviations of one of them. What is above it counts as infinite. dp-accounting's
    Fourier transforms round by an absolute part of delta, which grows with the number
    n of steps, as :math:`|a^n - b^n| \le n |a - b|` for numbers of at most 1. So do its
    masses of cells, second differences of a step's deltas, which count the more the
    narrower all losses together are. What is left out of ``delta`` for both was at
    least five times what it was wrong by in 1,200 comparisons, on the same grid, with
    tilted transforms, whose errors are relative.

    Parameters
    ----------
    all_steps : tuple of SampledSteps
    gaussian_mu : float
        Under this adjacency.
    delta : float
    adjacency : {"replace", "add_remove"}
    cell : float, default=FINE_CELL

    Examples
    --------
    >>> steps = SampledSteps(1.0, 0.01, 1000)
    >>> round(pld_epsilon((steps,), 0.0, 1e-5, "add_remove"), 2)
    1.83
    """
    from dp_accounting import NeighboringRelation
    from dp_accounting.pld import privacy_loss_distribution

    from_gaussian = privacy_loss_distribution.from_gaussian_mechanism
    shift = _shift(adjacency)
    unsampled = [steps for steps in all_steps if steps.sampling_rate == 1]
    mus = [shift / steps.noise_multiplier * steps.n_steps**0.5 for steps in unsampled]
    mu = math.hypot(gaussian_mu, *mus)
    sampled = [steps for steps in all_steps if steps.sampling_rate < 1]
    n_steps = sum(steps.n_steps for steps in sampled)
    stds = [_loss_std(*steps[:2], adjacency) for steps in sampled]
    variance = mu**2 + sum(
        steps.n_steps * std**2 for steps, std in zip(sampled, stds, strict=True)
    )
    if not 1e-9 < variance < 1e6:
        return math.inf
    delta_left = delta - DELTA_ROUNDING * (n_steps + 10) * max(
        1.0, 0.1 / math.sqrt(variance)
    )
    if delta_left < delta / 2:
        return math.inf
    log_tail = math.log(DELTA_BEYOND_GRID * delta / (n_steps + 1))
    place = -float(ndtri(math.exp(log_tail) / 2))
    lengths = [_loss_range(*steps[:2], adjacency, place) for steps in sampled]
    most_cells = MOST_CELLS if cell == FINE_CELL else MOST_CELLS / 8
    width = max(cell * math.sqrt(variance / (n_steps + 1)), max(lengths) / most_cells)
    relation = NeighboringRelation.ADD_OR_REMOVE_ONE
    if adjacency == "replace":
        relation = NeighboringRelation.REPLACE_ONE
    mechanisms = [(*steps, relation) for steps in sampled]
    if mu > 0:  # symmetric: one shift of mu deviations
        mechanisms.append((1 / mu, 1.0, 1, NeighboringRelation.ADD_OR_REMOVE_ONE))
    try:
        composed = privacy_loss_distribution.identity(width)
        for noise, rate, n, neighbours in mechanisms:
            losses = from_gaussian(
                noise,
                value_discretization_interval=width,
                log_mass_truncation_bound=log_tail,
                sampling_prob=rate,
                neighboring_relation=neighbours,
            ).self_compose(n)
            composed = composed.compose(losses)
        with np.errstate(over="ignore"):  # of the division by a mass near zero
            epsilon = float(composed.get_epsilon_for_delta(delta_left))
    except (ValueError, OverflowError, ZeroDivisionError):
        return math.inf  # losses that are too large or too small for its numbers
    return epsilon if epsilon >= 0 else math.inf


def _loss(x: Floats, noise: float, rate: float, adjacency: str) -> Floats:
    r"""Return :math:`\log P / Q` of a row that is removed, or replaced."""

    def log_part(exponent: Floats) -> Floats:
        return np.logaddexp(math.log1p(-rate), math.log(rate) + exponent)

    log_ratio = log_part((x - 0.5) / noise**2)
    if _shift(adjacency) == 1:
        return log_ratio
    return log_ratio - log_part((-x - 0.5) / noise**2)


def _loss_range(noise: float, rate: float, adjacency: str, place: float) -> float:
    """Return the range of the losses of a step within ``place`` deviations."""
    ends = np.array([-1.0, 1.0]) * (1 + noise * place)
    return float(np.ptp(_loss(ends, noise, rate, adjacency)))


def _loss_std(noise: float, rate: float, adjacency: str) -> float:
    """Return the approximate standard deviation of the loss of one step under P."""
    z = np.linspace(-NEGLIGIBLE_STDS, NEGLIGIBLE_STDS, 401)
    density = np.exp(-(z**2) / 2)
    density /= density.sum()
    loss = np.array([_loss(noise * z + u, noise, rate, adjacency) for u in (0.0, 1.0)])
    weights = np.array([1 - rate, rate])
    mean, square = weights @ loss @ density, weights @ loss**2 @ density
    return math.sqrt(max(float(square - mean**2), 0.0))


# ----------------------------------------------------------------------------
# Renyi curves: they add up where losses of several fits are not known.


def _renyi_cost(
    all_steps: Sequence[SampledSteps], gaussian_mu: float, delta: float, adjacency: str
) -> float:
    """Return the smallest epsilon by Renyi curves, which add up."""
    renyi = gaussian_curve(gaussian_mu)
    for steps in all_steps:
        renyi = renyi + steps_curve(*steps, adjacency)
    return renyi_epsilon(renyi, delta)


def renyi_epsilon(renyi: Floats, delta: float) -> float:
    """Convert a Renyi curve at ``ALPHAS`` [2]_; each order is sound, so the best is."""
    gain = np.log1p(-1 / ALPHAS) - (math.log(delta) + np.log(ALPHAS)) / (ALPHAS - 1)
    return max(0.0, float((renyi + gain).min()))


def gaussian_curve(mu: float) -> Floats:
    """Return the Renyi divergence of a Gaussian release at ``ALPHAS``."""
    return ALPHAS * mu**2 / 2


@lru_cache(maxsize=1024)
def moments(noise_multiplier: float, sampling_rate: float, adjacency: str) -> Floats:
    r"""Return (order - 1) times the Renyi divergence of a step, at ``ORDERS``.

    That is the logarithm of :math:`\mathrm{E}_Q (P/Q)^a`, for the pair of
    :func:`pld_epsilon`, which bounds that of a step, as :math:`r^a` is convex. For a
    row that is removed, which costs more than adding one, it has a closed form (Theorem
    5 and Section 3.3 of [1]_), with noise s and rate q:

    .. math:: \log \sum_{k=0}^{a} \binom{a}{k} (1-q)^{a-k} q^k
              \exp\Big(\frac{k (k-1)}{2 s^2}\Big).

    *A replaced row.* Beyond a place c, Q is at least :math:`(1-q) N_0`, so what is
    beyond adds at most the same sum with :math:`(1-q)^{1-k}` for
    :math:`(1-q)^{a-k}` and each term times :math:`\Phi((k - c) / s)`. Up to c, the
    ratio P/Q grows with the place: between two places it is somewhere between r and R,
    with the mean p/q, and no other law of that mean has larger moments than that on r
    and R alone.

    Examples
    --------
    >>> round(float(moments(1.0, 1.0, "add_remove")[1]), 9)  # all: 2 (2 - 1) / (2 s^2)
    1.0
    >>> round(float(moments(1.0, 0.01, "replace")[1]), 6)
    0.000458
    """
    s, q = noise_multiplier, sampling_rate
    if _shift(adjacency) == 1:
        log_moments = [_binomial_moment(a, s, q, a) for a in ORDERS]
        return np.maximum(np.asarray(log_moments), 0.0) + LOG_MOMENT_ROUNDING * ORDERS
    edge = min(ONE_PART_FROM * s**2, FARTHEST_STDS * s) + 1.0
    x = np.arange(-NEGLIGIBLE_STDS * s - 1.0, edge, MOMENT_CELL * s)
    x[-1] = edge
    loss = _loss(x, s, q, adjacency) if q < 1 else np.full(len(x), np.inf)
    if not np.isfinite(loss).all():
        return np.full(len(ORDERS), np.inf)
    p = (1 - q) * _normal(x / s) + q * _normal((x - 1) / s)
    of_q = (1 - q) * _normal(x / s) + q * _normal((x + 1) / s)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        fraction_above = (p / of_q * np.exp(-loss[:-1]) - 1) / np.expm1(np.diff(loss))
        fraction_above = np.clip(
            np.where(np.isnan(fraction_above), 1.0, fraction_above), 0.0, 1.0
        )
        low, high = np.log(of_q * (1 - fraction_above)), np.log(of_q * fraction_above)
    # the mass below the first point
    below_first = math.log(ndtr((x[0] + 1) / s)) + ORDERS * loss[0]
    log_moments = [
        logsumexp(
            np.concatenate(
                [
                    low + a * loss[:-1],
                    high + a * loss[1:],
                    [below, _binomial_moment(a, s, q, 1, lower=edge)],
                ]
            )
        )
        for a, below in zip(ORDERS, below_first, strict=True)
    ]
    return np.maximum(np.asarray(log_moments), 0.0) + LOG_MOMENT_ROUNDING * ORDERS


def _binomial_moment(
    order: int, noise: float, rate: float, power: int, *, lower: float = -math.inf
) -> float:
    """Return the logarithm of the sum in :func:`moments`, with (1-q) to power - k."""
    k = np.arange(order + 1.0)
    with np.errstate(over="ignore"):
        gain = k * (k - 1) / 2 / noise**2
    return float(
        logsumexp(
            gammaln(order + 1)
            - gammaln(k + 1)
            - gammaln(order - k + 1)
            + xlogy(k, rate)
            + xlogy(power - k, 1 - rate)
            + gain
            + log_ndtr((k - lower) / noise)
        )
    )


def _normal(z: Floats) -> Floats:
    """Return the standard normal mass between neighbouring points of ``z``.

    Differences are taken from the nearer tail, where they lose no digits.
    """
    low, high = ndtr(z), ndtr(-z)
    return np.where(z[:-1] > 0, high[:-1] - high[1:], low[1:] - low[:-1])


def steps_curve(
    noise_multiplier: float, sampling_rate: float, n_steps: int, adjacency: str
) -> Floats:
    """Return the Renyi divergence of steps at ``ALPHAS``.

    It is never larger than that of Gaussian releases of all rows. Between integers
    moments are below their chord, and beyond the last finite one they are unknown.
    """
    unsampled = gaussian_curve(_shift(adjacency) / noise_multiplier * n_steps**0.5)
    steps = (float(noise_multiplier), float(sampling_rate))
    sampled = n_steps * moments(*steps, str(adjacency))
    finite = np.isfinite(sampled)
    if finite.sum() < 2:
        return unsampled
    chord = np.interp(ALPHAS, ORDERS[finite], sampled[finite], right=np.inf)
    return np.minimum(unsampled, chord / (ALPHAS - 1))


# ----------------------------------------------------------------------------
# Renyi curves of whole fits, known before they start.


@dataclass(frozen=True)
class Subsampling:
    """How a fit will sub-sample; known before it reads a row.

    The mu of its budget describes a fit of Gaussian releases completely. A fit that
    sub-samples promises epsilon at one delta only: it may cost more at other deltas and
    together with further fits. Its Renyi divergences still add up, order by order,
    whatever later fits do with earlier results [7]_.
    """

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
    that is chosen during the fit is covered by the filter [7]_, since the bound does
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
    mu = budget_mu(epsilon, delta)
    unsampled = gaussian_curve(mu)
    if subsampling is None or subsampling.sampling_rate == 1 or math.isinf(mu):
        return _frozen(unsampled)
    mu_fraction = PrivacyBudget.reserving(epsilon, delta, adjacency, 1).mu / mu
    last_share = 1.0 - (1.0 - subsampling.largest_share) * mu_fraction**2
    steps = (subsampling.sampling_rate, subsampling.n_steps)
    curve = np.zeros_like(ALPHAS)
    for r, t in pairwise(
        np.linspace(0.0, last_share, math.ceil(PARTS_OF_SHARES * last_share) + 1)
    ):
        gaussian_mu = mu * math.sqrt(max(0.0, 1.0 - t))
        noise = _insufficient_noise(epsilon, delta, *steps, adjacency, gaussian_mu)
        gaussian = gaussian_curve(mu * math.sqrt(1.0 - r))
        sampled = steps_curve(noise, *steps, adjacency) if noise else np.inf
        curve = np.maximum(curve, gaussian + sampled)
    return _frozen(curve)


def _insufficient_noise(
    epsilon: float,
    delta: float,
    sampling_rate: float,
    n_steps: int,
    adjacency: Adjacency,
    gaussian_mu: float,
) -> float:
    """Return a noise multiplier that is too small to fit, or 0.

    Costs on a grid of losses are tight to some .01 % only, so a noise may seem to fit
    where a little more does not: one that is 1 % too small is taken 1 % lower once
    more, and much less noise is tried as well.
    """

    def fits(noise: float, cell: float) -> bool:
        steps = SampledSteps(noise, sampling_rate, n_steps)
        return _cost((steps,), gaussian_mu, delta, adjacency, cell) <= epsilon

    rate_and_steps = (sampling_rate, n_steps, adjacency.value)
    noise = subsampled_noise_multiplier(
        epsilon, delta, *rate_and_steps, gaussian_mu=gaussian_mu
    )
    less = noise / LESS_NOISE
    if fits(less, FINE_CELL) or any(
        fits(less / factor, COARSE_CELL) for factor in MUCH_LESS_NOISE
    ):
        return 0.0
    return less / LESS_NOISE


def _frozen(curve: Floats) -> Floats:
    curve.setflags(write=False)  # it is cached
    return curve


# ----------------------------------------------------------------------------
# Checks.


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
