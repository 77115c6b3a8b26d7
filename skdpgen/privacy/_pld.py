r"""Privacy losses of sub-sampled steps, composed by Fourier transforms, rounded up.

References
----------
.. [1] Zhu, Dong & Wang, "Optimal Accounting of Differential Privacy via
   Characteristic Function", AISTATS 2022, Thm. 10.
.. [2] Doroshenko, Ghazi, Kamath, Kumar & Manurangsi, "Connect the Dots: Tighter
   Discrete Approximations of Privacy Loss Distributions", PoPETs 2022.
.. [3] Kaas, Dhaene, Vyncke, Goovaerts & Denuit, "A Simple Geometric Proof that
   Comonotonic Risks Have the Convex-Largest Sum", ASTIN Bulletin 2002.
.. [4] Lebeda, Regehr, Kamath & Steinke, "Avoiding Pitfalls for Privacy Accounting of
   Subsampled Mechanisms under Composition", 2024.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from skdpgen.privacy._dominating_pairs import (
    PAIRS,
    Discrete,
    Pair,
    discretised,
    spread,
)

FINE = 0.02  # width of a cell, in standard deviations of a step's loss
MOST_CELLS, MOST_OF_A_STEP = 2**20, 2**17
COARSER = 8  # times that cells are made twice as wide
BEYOND = 1e-7  # part of delta that losses beyond the ends may have
DEVIATIONS = 10.0  # below the mean, of tilted losses, where the grid begins
RATES = (math.log(0.05), math.log(2000.0))
SLACK = 1e-9  # relative, for what little else is rounded
UNIT, TINY = 2.0**-52, 1e-290
HUGE = 700.0  # an epsilon that is of no use

Floats = NDArray[np.float64]


class Tilted(NamedTuple):
    """Losses weighted by exp(rate * loss), so that those that matter are not rare."""

    rate: float
    log_moment: float
    first: int  # index of the first cell
    weights: Floats  # sum to 1
    rounding: float  # bound on the sum of their errors
    slack: float  # relative error of tilting there and back


@lru_cache(maxsize=4096)
def pld_epsilon(
    together: tuple[tuple[float, float, int], ...],
    gaussian_mu: float,
    delta: float,
    adjacency: str,
) -> float:
    r"""Return an epsilon of sub-sampled steps beside one Gaussian of ``gaussian_mu``.

    Each step is dominated by a pair P, Q of distributions of one number
    (:class:`~skdpgen.privacy._dominating_pairs.Pair`, with proofs); so is any sequence
    of them, by the products [1]_; and

    .. math:: \delta(\epsilon) = \mathrm{E}_P \big(1 - e^{\epsilon - L}\big)_+

    for the sum L of losses :math:`\log(P/Q)`, each put on a grid such that no delta
    falls [2]_. Adding and removing a row are two sequences, and the larger epsilon of
    both counts [4]_.

    *Beside Gaussian releases that are chosen on the way.* Let M² be the squared mu that
    all of them may have together, J the steps, fixed beforehand, and
    :math:`h_\gamma(m, J)` the divergence :math:`H_\gamma` of the products of N(m, 1)
    against N(0, 1) and of the pairs of J. Whatever the order, and whoever chooses each
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

    *Numbers.* Weights are tilted before they are transformed, so that rounding is small
    against delta and not against 1. Its bound, :math:`\sqrt{\sum_f e_f^2}` for errors
    :math:`e_f` of the transform (by Cauchy, Schwarz and Parseval), what lies beyond the
    last cell (by Chernoff), and what tilts and sums are rounded by are added to delta.
    Losses that are too low for the grid come out as higher ones, which only adds.

    Parameters
    ----------
    together : tuple of (noise multiplier, sampling rate, number of steps)
    gaussian_mu : float
        Under this adjacency.
    delta : float
    adjacency : {"replace", "add_remove"}

    Examples
    --------
    >>> round(pld_epsilon(((1.0, 0.01, 1000),), 0.0, 1e-5, "add_remove"), 2)
    1.83
    """
    return max(
        _epsilon([Pair(kind, *steps) for steps in together], gaussian_mu, delta)
        for kind in PAIRS[adjacency]
    )


def _epsilon(pairs: Sequence[Pair], gaussian_mu: float, delta: float) -> float:
    everybody = [one for one in pairs if one.rate == 1]
    mu = math.hypot(gaussian_mu, *(one.mu for one in everybody))
    pairs = [one for one in pairs if one.rate < 1]
    if mu > 0:
        pairs.append(Pair("removed", 1 / mu, 1.0, 1))
    n = sum(one.n_steps for one in pairs)
    variance = sum(one.n_steps * spread(one) ** 2 for one in pairs)
    if not 1e-12 < variance < math.inf:
        return math.inf  # of no use
    cell = FINE * math.sqrt(variance / n)
    beyond = max(BEYOND * delta / n, TINY)
    longest = max(one.highest(beyond) - one.lowest() for one in pairs)
    cell = max(cell, longest / MOST_OF_A_STEP)
    for _ in range(COARSER):
        steps = [discretised(one, cell, top=one.highest(beyond)) for one in pairs]
        tilted = _composed(steps, cell, delta)
        if tilted is not None:
            break
        cell *= 2  # there would be too many cells
    else:
        return math.inf
    infinite = sum(one.n_steps * one.infinite for one in steps) + BEYOND * delta
    return _smallest_epsilon(tilted, cell, delta, infinite)


def _composed(steps: Sequence[Discrete], cell: float, delta: float) -> Tilted | None:
    """Return the sum of all losses, tilted to where delta is decided."""
    rate, top = _best_rate(steps, cell, delta)
    parts = [_tilted(one, cell, rate) for one in steps]
    moment = math.fsum(
        one.n_steps * log for one, (_, log) in zip(steps, parts, strict=True)
    )
    mean = variance = 0.0
    for one, (weights, _) in zip(steps, parts, strict=True):
        loss = cell * (one.first + np.arange(len(weights)))
        middle = float(weights @ loss)
        mean += one.n_steps * middle
        variance += one.n_steps * float(weights @ (loss - middle) ** 2)
    bottom = mean - DEVIATIONS * math.sqrt(variance)
    if not math.isfinite(top - bottom) or top - bottom > MOST_CELLS * cell:
        return None
    first = math.floor(bottom / cell)
    size = 1 << (math.ceil(top / cell) - first + 1).bit_length()
    error = 8.0 * UNIT * math.log2(size)  # of each entry, if numbers sum to 1
    whole = np.ones(size // 2 + 1, dtype=np.complex128)
    lengths, wrong = np.ones(len(whole)), np.zeros(len(whole))
    for one, (weights, _) in zip(steps, parts, strict=True):
        places = (one.first + np.arange(len(weights))) % size
        z = np.fft.rfft(np.bincount(places, weights, minlength=size))
        longest = np.minimum(np.abs(z) + error, 1.0 + error)
        before = longest ** (one.n_steps - 1)
        # |a^n - b^n| <= n max(|a|, |b|)^(n-1) |a - b|, beside rounding of the power
        own = one.n_steps * before * (error + 8.0 * UNIT * longest)
        wrong = wrong * before * longest + lengths * own
        lengths = lengths * before * longest
        whole *= z**one.n_steps
    rounding = math.sqrt(2.0) * float(
        np.linalg.norm(wrong) + error * np.linalg.norm(lengths)
    )
    weights = np.maximum(np.fft.irfft(whole, size), 0.0)
    tilts = (
        one.n_steps * (abs(log) + rate * cell * (len(one.mass) + abs(one.first)) + 1.0)
        for one, (_, log) in zip(steps, parts, strict=True)
    )
    slack = SLACK + 8.0 * UNIT * math.fsum(tilts)
    weights = np.roll(weights, -(first % size))
    return Tilted(rate, moment, first, weights, rounding, slack)


def _smallest_epsilon(
    tilted: Tilted, cell: float, delta: float, infinite: float
) -> float:
    """Return where delta, with all bounds on errors, is first that small."""
    first = max(-tilted.first, 0)  # epsilon is not negative
    loss = cell * (tilted.first + np.arange(first, len(tilted.weights)))
    if loss[-1] > HUGE:
        return math.inf
    with np.errstate(over="ignore"):
        back = np.exp(tilted.log_moment - tilted.rate * loss)
    mass = tilted.weights[first:] * back
    if not np.isfinite(mass).all():
        return math.inf
    above = np.cumsum(mass[::-1])[::-1]  # sum of p over losses from here
    other = np.cumsum((mass * np.exp(-loss))[::-1])[::-1]
    found = above - np.exp(loss) * other
    # a sum from the far end is wrong by a part of all sums on the way
    sums = above + np.cumsum(above[::-1])[::-1]
    extra = infinite + tilted.rounding * back + 8.0 * UNIT * sums
    is_more = (found + extra) * (1.0 + tilted.slack) > delta
    if is_more[-1]:
        return math.inf
    if not is_more.any():
        return float(loss[0])
    last = int(np.flatnonzero(is_more)[-1])
    # between two cells delta is above - exp(epsilon) other, of what is beyond
    room = above[last + 1] + extra[last] - delta / (1.0 + tilted.slack)
    if other[last + 1] <= 0 or room <= 0:
        return float(loss[last + 1])
    between = math.log(room / other[last + 1])
    return float(min(max(between, loss[last]) * (1.0 + SLACK), loss[last + 1]))


def _best_rate(
    steps: Sequence[Discrete], cell: float, delta: float
) -> tuple[float, float]:
    """Return the best rate of a Chernoff bound, and a loss that is hardly exceeded."""

    def moment(rate: float) -> float:
        return math.fsum(one.n_steps * _tilted(one, cell, rate)[1] for one in steps)

    def epsilon(log_rate: float) -> float:
        rate = math.exp(log_rate)
        return (moment(rate) - math.log(delta)) / rate

    found = minimize_scalar(
        epsilon, bounds=RATES, method="bounded", options={"xatol": 0.1}
    )
    rate = math.exp(found.x)
    tops = [
        (moment(more * rate) - math.log(BEYOND * delta)) / (more * rate)
        for more in (1.0, 1.3, 1.7, 2.5)
    ]
    return rate, min(tops)


def _tilted(one: Discrete, cell: float, rate: float) -> tuple[Floats, float]:
    """Return masses times exp(rate * loss), over their sum, and the log of that."""
    loss = cell * (one.first + np.arange(len(one.mass)))
    exponent = rate * loss
    highest = float(exponent[-1])
    weights = one.mass * np.exp(exponent - highest)
    total = float(weights.sum())
    if total < TINY:
        return weights, math.inf
    return weights / total, math.log(total) + highest
