r"""Privacy losses of sub-sampled steps from first principles: what tests compare with.

The package composes losses with dp-accounting. This is another implementation of the
same mathematics, which shares no code with it: pairs that dominate a step (with the
proof), losses on a grid such that no delta falls, tilted Fourier transforms, and bounds
on all rounding. So it also holds at tiny delta, where dp-accounting's transforms round.

References
----------
.. [1] Zhu, Dong & Wang, "Optimal Accounting of Differential Privacy via
   Characteristic Function", AISTATS 2022, Thm. 10.
.. [2] Kaas, Dhaene, Vyncke, Goovaerts & Denuit, "A Simple Geometric Proof that
   Comonotonic Risks Have the Convex-Largest Sum", ASTIN Bulletin 2002.
.. [3] Doroshenko, Ghazi, Kamath, Kumar & Manurangsi, "Connect the Dots: Tighter
   Discrete Approximations of Privacy Loss Distributions", PoPETs 2022.
.. [4] Lebeda, Regehr, Kamath & Steinke, "Avoiding Pitfalls for Privacy Accounting of
   Subsampled Mechanisms under Composition", 2024.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import ndtr, ndtri

Floats = NDArray[np.float64]
Kind = Literal["removed", "added", "replaced"]
PAIRS: dict[str, tuple[Kind, ...]] = {
    "replace": ("replaced",),
    "add_remove": ("removed", "added"),
}
LOW = 8.0  # deviations below which rows count as being there: 1e-15 of all
ERROR = 2e-15  # relative error of a logarithm, and of what it is made of


class Pair(NamedTuple):
    r"""Distributions P and Q of one number x that dominate a Poisson sub-sampled step.

    A step sums vectors of norm at most 1, of a secret sample with rate q, and adds
    noise s. With :math:`N_u` the normal distribution around u, of deviation s:

    ========  ===============================  ==============================
    kind      P                                Q
    ========  ===============================  ==============================
    removed   :math:`(1-q) N_0 + q N_1`        :math:`N_0`
    added     :math:`N_0`                      :math:`(1-q) N_0 + q N_{-1}`
    replaced  :math:`(1-q) N_0 + q N_1`        :math:`(1-q) N_0 + q N_{-1}`
    ========  ===============================  ==============================

    *Claim.* For a step's results A, B on neighbours and every :math:`\gamma \ge 0`,
    :math:`H_\gamma(A \| B) = \sup_S A(S) - \gamma B(S) \le H_\gamma(P \| Q)`.

    The proof is in :func:`skdpgen.privacy._subsampled.pld_epsilon`.
    """

    kind: Kind
    noise: float
    rate: float
    n_steps: int

    @property
    def mu(self) -> float:
        """Of all steps, if no row is ever left out."""
        shift = 2.0 if self.kind == "replaced" else 1.0
        return shift / self.noise * math.sqrt(self.n_steps)

    def loss(self, x: Floats) -> Floats:
        r"""Return :math:`\log P / Q`, which grows with x."""
        there = (x - 0.5) / self.noise**2
        gone = (-x - 0.5) / self.noise**2
        if self.kind == "removed":
            return self._log_part(there)
        if self.kind == "added":
            return -self._log_part(gone)
        return self._log_part(there) - self._log_part(gone)

    def _log_part(self, exponent: Floats) -> Floats:
        with np.errstate(divide="ignore"):
            left = np.log1p(-self.rate)
        return np.logaddexp(left, math.log(self.rate) + exponent)

    def place(self, loss: Floats) -> tuple[Floats, Floats]:
        """Return where a loss is, from -inf to inf, and how far it may be wrong."""
        if self.kind == "replaced":
            x = self._place_replaced(np.abs(loss)) * np.sign(loss)
            error = np.ones_like(loss)
        else:
            sign = 1.0 if self.kind == "removed" else -1.0
            x = sign * self._place_removed(sign * loss)
            error = 1.0 + np.exp(np.minimum(-sign * loss, 700.0)) * (self.rate < 1)
        far = np.where(np.isinf(x), 0.0, np.abs(x))  # no loss is that low, or high
        return x, ERROR * (error + far / self.noise**2)

    def _place_removed(self, loss: Floats) -> Floats:
        if self.rate == 1:
            return 0.5 + self.noise**2 * loss
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            above = np.log(np.expm1(loss) + self.rate)
            far = loss + np.log1p(-(1.0 - self.rate) * np.exp(-loss))
            above = np.where(loss > 30.0, far, above)
        above[np.isnan(above)] = -np.inf
        return 0.5 + self.noise**2 * (above - math.log(self.rate))

    def _place_replaced(self, loss: Floats) -> Floats:
        # w = exp(x / s^2) solves w^2 - a (exp(loss) - 1) w - exp(loss) = 0
        log_a = math.log1p(-self.rate) - math.log(self.rate) + 0.5 / self.noise**2
        with np.errstate(divide="ignore"):
            # log(exp(loss) - 1), without overflow
            middle = log_a + loss + np.log(-np.expm1(-loss))
        root = 0.5 * np.logaddexp(2.0 * middle, math.log(4.0) + loss)
        log_w = np.logaddexp(middle, root) - math.log(2.0)
        return self.noise**2 * np.maximum(log_w, 0.0)

    def lowest(self) -> float:
        """Return a loss below which there is next to nothing of P."""
        x = -LOW * self.noise - (self.kind == "replaced")
        return float(self.loss(np.array([x]))[0])

    def highest(self, beyond: float) -> float:
        """Return a loss above which P has at most ``beyond``."""
        x = (self.kind != "added") - self.noise * float(ndtri(beyond / 2))
        return float(self.loss(np.array([x]))[0])

    @property
    def parts(self) -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
        """Return weights and means of the normal parts of P and of Q."""
        q = self.rate
        there, gone, nobody = (
            [(1.0 - q, 0.0), (q, 1.0)],
            [(1.0 - q, 0.0), (q, -1.0)],
            [(1.0, 0.0)],
        )
        return {
            "removed": (there, nobody),
            "added": (nobody, gone),
            "replaced": (there, gone),
        }[self.kind]


class Discrete(NamedTuple):
    """Losses of a step on a grid; no delta is below that of the pair."""

    first: int  # index of the first cell
    mass: Floats
    infinite: float
    n_steps: int


def spread(pair: Pair) -> float:
    """Return about the standard deviation of the loss of one step under P."""
    found = total = mean = 0.0
    z = np.linspace(-LOW, LOW, 401)
    density = np.exp(-(z**2) / 2)
    density /= density.sum()
    for weight, middle in pair.parts[0]:
        loss = pair.loss(middle + pair.noise * z)
        mean += weight * float(density @ loss)
        found += weight * float(density @ loss**2)
        total += weight
    return math.sqrt(max(found - mean**2, 0.0))


def discretised(pair: Pair, cell: float, *, top: float) -> Discrete:
    r"""Put losses up to ``top`` on multiples of ``cell``, so that no delta falls.

    *Why* [3]_. Between two multiples a < b, let p and q be what P and Q have there.
    They are moved to a and b such that both keep their mass: at a and b P is
    :math:`e^a` and :math:`e^b` times Q. Under Q that spreads the ratio P/Q without
    moving its mean, and :math:`\sum (p - \gamma q)_+` is convex in the ratio. What lies
    below the first multiple is moved up to it, what lies above the last one to
    infinity: that only adds.

    *Rounding.* The part of p that goes up, :math:`(1 - e^a q / p) / (1 - e^{a-b})`, is
    made larger by what p, q and the places of a and b may be wrong by.
    """
    low = math.floor(pair.lowest() / cell)
    high = max(math.ceil(top / cell), low + 1)
    index = np.arange(low, high + 1)
    loss = np.asarray(index * cell, dtype=np.float64)
    x, wrong = pair.place(loss)
    p, p_wrong = _between(x, pair.noise, pair.parts[0])
    q, q_wrong = _between(x, pair.noise, pair.parts[1])
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        up = 1.0 - q / p * np.exp(loss[:-1])
        up += p_wrong / p + q_wrong / q + np.maximum(wrong[:-1], wrong[1:])
        up /= -math.expm1(-cell)
    up = np.clip(np.where(np.isnan(up), 1.0, up), 0.0, 1.0)
    mass = np.zeros(len(index))
    mass[1:] += up * p
    mass[:-1] += (1.0 - up) * p
    edges = x[[0, -1]]
    below = sum(w * ndtr((edges[0] - m) / pair.noise) for w, m in pair.parts[0])
    above = sum(w * ndtr((m - edges[1]) / pair.noise) for w, m in pair.parts[0])
    mass[0] += below
    return Discrete(low, mass, float(above), pair.n_steps)


def _between(
    x: Floats, noise: float, parts: list[tuple[float, float]]
) -> tuple[Floats, Floats]:
    """Return what lies between neighbouring places, and how far it may be wrong."""
    found, wrong = np.zeros(len(x) - 1), np.zeros(len(x) - 1)
    for weight, mean in parts:
        if weight == 0:
            continue
        z = (x - mean) / noise
        low, high = ndtr(z), ndtr(-z)
        is_high = z[:-1] > 0  # tails are taken from the side that is small
        found += weight * np.where(is_high, high[:-1] - high[1:], low[1:] - low[:-1])
        tail = np.where(is_high, high[:-1], low[1:])
        square = np.minimum(np.square(np.maximum(abs(z[:-1]), abs(z[1:]))), 1e4)
        wrong += weight * ERROR / 4 * (4.0 + square) * tail
    return np.maximum(found, 0.0), wrong


# ----------------------------------------------------------------------------
# Composition.

FINE = 0.02  # width of a cell, in standard deviations of a step's loss
MOST_CELLS, MOST_OF_A_STEP = 2**20, 2**17
COARSER = 8  # times that cells are made twice as wide
BEYOND = 1e-7  # part of delta that losses beyond the ends may have
DEVIATIONS = 10.0  # below the mean, of tilted losses, where the grid begins
RATES = (math.log(0.05), math.log(2000.0))
SLACK = 1e-9  # relative, for what little else is rounded
UNIT, TINY = 2.0**-52, 1e-290
HUGE = 700.0  # an epsilon that is of no use


class Tilted(NamedTuple):
    """Losses weighted by exp(rate * loss), so that those that matter are not rare."""

    rate: float
    log_moment: float
    first: int  # index of the first cell
    weights: Floats  # sum to 1
    rounding: float  # bound on the sum of their errors
    slack: float  # relative error of tilting there and back


@lru_cache(maxsize=4096)
def reference_epsilon(
    together: tuple[tuple[float, float, int], ...],
    gaussian_mu: float,
    delta: float,
    adjacency: str,
) -> float:
    r"""Return an epsilon of sub-sampled steps beside one Gaussian of ``gaussian_mu``.

    Each step is dominated by a pair P, Q of distributions of one number
    (:class:`Pair`, with the proof); so is any sequence
    of them, by the products [1]_; and

    .. math:: \delta(\epsilon) = \mathrm{E}_P \big(1 - e^{\epsilon - L}\big)_+

    for the sum L of losses :math:`\log(P/Q)`, each put on a grid such that no delta
    falls [3]_. Adding and removing a row are two sequences, and the larger epsilon of
    both counts [4]_.

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
    >>> round(reference_epsilon(((1.0, 0.01, 1000),), 0.0, 1e-5, "add_remove"), 2)
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
