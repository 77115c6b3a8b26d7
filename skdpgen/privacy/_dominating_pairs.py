r"""Pairs of distributions, at least as far apart as results on any neighbours.

References
----------
.. [1] Zhu, Dong & Wang, "Optimal Accounting of Differential Privacy via
   Characteristic Function", AISTATS 2022.
.. [2] Kaas, Dhaene, Vyncke, Goovaerts & Denuit, "A Simple Geometric Proof that
   Comonotonic Risks Have the Convex-Largest Sum", ASTIN Bulletin 2002.
.. [3] Doroshenko, Ghazi, Kamath, Kumar & Manurangsi, "Connect the Dots: Tighter
   Discrete Approximations of Privacy Loss Distributions", PoPETs 2022.
"""

import math
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

Floats = NDArray[np.float64]
Kind = Literal["removed", "added", "replaced"]
PAIRS: dict[str, tuple[Kind, ...]] = {
    "replace": ("replaced",),
    "add_remove": ("removed", "added"),
}
LOW = 8.0  # deviations below which rows count as being there: 1e-15 of all
UNIT = 2e-15  # relative error of a logarithm, and of what it is made of


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
    is largest in convex order [2]_: that of v - u and -u in one direction. There the
    sum grows in convex order with each marginal (its stop-loss is a sum of theirs
    [2]_), and :math:`L_w` grows with :math:`\|w\|`. So H is largest where
    :math:`\|v - u\|` and :math:`\|u\|` are largest and both point one way. Replaced: at
    2 and 1, where v = -u. Removed, v = 0: at 1 and 1. Added, u = 0: :math:`L_0 = 1`,
    and :math:`\|v\|` is 1. Those are the pairs. *For* :math:`\gamma < 1`,
    :math:`H_\gamma(A \| B) = 1 - \gamma + \gamma H_{1/\gamma}(B \| A)`: adding and
    removing change places, and so do P and Q, up to a reflection. ∎

    The law is that of one number, whatever the dimension. That steps follow each other,
    and depend on earlier results, is Theorem 10 of [1]_.
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
        return x, UNIT * (error + far / self.noise**2)

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
        wrong += weight * UNIT / 4 * (4.0 + square) * tail
    return np.maximum(found, 0.0), wrong
