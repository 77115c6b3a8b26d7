"""Single columns together: what noise hides of one, others may show."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve, cholesky, solve_triangular
from scipy.special import logsumexp

from skdpgen.training._trust import pooled_trust
from skdpgen.utils import (
    on_one_thread,
)

# ----------------------------------------------------------------------------
# Normal signals of several parts in known noise: the variances of the parts.

Floats = NDArray[np.float64]
START, LEAST_VARIANCE, MOST_VARIANCE = 0.04, 1e-10, 1e4  # variances
FIRM = 0.1  # cases like the others of a family that are imagined of each part
STEPS = 25


@dataclass(frozen=True, eq=False)
class Posterior:
    """What is known of a signal that was seen in noise.

    Parameters
    ----------
    mean : ndarray of shape (n,)
    inverse : ndarray of shape (n, n)
        Of the covariance of what is seen.
    log : float
        Evidence.
    """

    mean: Floats
    inverse: Floats
    log: float


@on_one_thread
def fit_parts(
    seen: Floats, noise: Floats, factors: Sequence[Floats], family: NDArray[np.int64]
) -> Posterior:
    r"""Return the posterior of :math:`\sum_p F_p g_p`, seen in normal noise.

    :math:`g_p` is normal with variance :math:`a_p`, which is found by maximising the
    evidence: :math:`a_p \leftarrow a_p \sqrt{|F_p^\top V^{-1} s|^2 /
    \mathrm{tr}(F_p^\top V^{-1} F_p)}`, V the covariance of what is seen, s. These
    steps never lower the evidence (Zhou et al., 2019). Parts of a family are held near
    their geometric mean by a prior that is worth ``FIRM`` of a case.

    Parameters
    ----------
    seen : ndarray of shape (n,)
    noise : ndarray of shape (n, n)
        Its covariance; at least the identity, so that all is stable.
    factors : sequence of ndarray of shape (n, width)
    family : ndarray of int of shape (n_parts,)

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> parts = [np.eye(400)[:, :200], np.eye(400)[:, 200:]]
    >>> seen = np.repeat([10.0, 1.0], 200) * rng.normal(size=400)
    >>> found = fit_parts(seen, np.eye(400), parts, np.arange(2))
    >>> kept = found.mean / seen
    >>> bool(kept[:200].mean() > 0.97), bool(kept[200:].mean() < 0.2)
    (True, True)
    """
    wide = np.concatenate(factors, axis=1)
    part = np.repeat(np.arange(len(factors)), [one.shape[1] for one in factors])
    together = (family[:, None] == family).astype(float)
    together /= together.sum(axis=1, keepdims=True)
    variances = np.full(len(factors), START)
    for _ in range(STEPS):
        root = cholesky(_covariance(noise, wide, variances[part]), lower=True)
        near = solve_triangular(root, np.column_stack([wide, seen]), lower=True)
        near, rest = near[:, :-1], near[:, -1]
        pull = np.bincount(part, (rest @ near) ** 2, len(factors))
        push = np.bincount(part, np.square(near).sum(axis=0), len(factors))
        usual = np.exp(together @ np.log(variances))
        pull = variances**2 * pull + 2 * FIRM * usual
        variances = np.sqrt(pull / (push + 2 * FIRM / variances))
        variances = np.clip(variances, LEAST_VARIANCE, MOST_VARIANCE)
    root = cholesky(_covariance(noise, wide, variances[part]), lower=True)
    inverse = cho_solve((root, True), np.eye(len(seen)))
    fit = inverse @ seen
    mean = (wide * variances[part]) @ (wide.T @ fit)
    log = -0.5 * float(seen @ fit) - float(np.log(np.diag(root)).sum())
    return Posterior(mean, inverse, log)


def log_given_others(
    seen: Floats, inverse: Floats, blocks: Sequence[NDArray[np.int64]]
) -> Floats:
    r"""Return the log density of each block of what is seen, given all the others.

    Up to what does not depend on the model. The conditional of a block of a normal
    vector has the precision that stands in the inverse, :math:`P_{bb}`, and is off by
    :math:`P_{bb}^{-1} (P s)_b`.
    """
    fit, found = inverse @ seen, []
    for block in blocks:
        mine = inverse[np.ix_(block, block)]
        off = fit[block] @ np.linalg.solve(mine, fit[block])
        found.append(0.5 * (float(np.linalg.slogdet(mine)[1]) - off))
    return np.array(found)


def _covariance(noise: Floats, wide: Floats, variances: Floats) -> Floats:
    return np.asarray(noise + (wide * variances) @ wide.T)


# ----------------------------------------------------------------------------
# Single columns together: what noise hides of one, others may show.

POWERS = (0.5, 1.0)  # 1/2: rare cells deviate more, relative to their size
ROUGH, LENGTH = 0.2, 0.8  # of deviations along ordered cells, in quantiles
OF_CLASS = 10.0  # rows like those of all classes that each class is given
RAREST = 1e-4  # share of a cell
WIDE = (0.3, 1.0, 3.0, 9.0)  # of columns that go their own way, from even cells
ALIKE = (0.0, 0.5, 0.9)  # part of it that all classes have
LEAST_SHARE = 1e-7
QUIETEST = 1e-5  # noise of a share


@dataclass(frozen=True, eq=False)
class Related:
    """Noisy columns, and public counts of all pairs of them.

    Parameters
    ----------
    counts : sequence of ndarray of shape (n_classes, n_cells)
        Noisy counts of each column.
    variances : sequence of float
        Of their noise.
    shares : ndarray of shape (n_classes,)
    n_rows : float
    pairs : ndarray of shape (n_classes, S, S)
        Public counts, of the S cells of all columns.
    n_ordered : sequence of int
        How many leading cells of each column are ordered.
    """

    counts: Sequence[Floats]
    variances: Sequence[float]
    shares: Floats
    n_rows: float
    pairs: Floats
    n_ordered: Sequence[int]

    @cached_property
    def places(self) -> list[slice]:
        """Where the cells of each column stand."""
        ends = np.cumsum([0, *(one.shape[1] for one in self.counts)])
        return [slice(a, b) for a, b in pairwise(ends)]

    @cached_property
    def noise_std(self) -> Floats:
        """Noise of the share of each cell, (S,)."""
        sizes = [one.shape[1] for one in self.counts]
        std = np.sqrt(np.repeat(self.variances, sizes)) / self.n_rows
        return np.maximum(std, QUIETEST)

    @cached_property
    def public(self) -> tuple[Floats, Floats]:
        """Public columns given the class, (n_classes, S), and covariances of cells."""
        whole = np.diagonal(self.pairs, axis1=1, axis2=2)
        sizes = np.max([whole[:, one].sum(axis=1) for one in self.places], axis=0)
        sizes = sizes[:, None, None]
        common = self.pairs.sum(axis=0) / max(float(sizes.sum()), 1.0)
        moments = (self.pairs + OF_CLASS * common) / (sizes + OF_CLASS)
        found = np.diagonal(moments, axis1=1, axis2=2).copy()
        covariances = moments - found[:, :, None] * found[:, None, :]
        for one in self.places:  # what has no cell is left out
            found[:, one] += LEAST_SHARE
            found[:, one] /= found[:, one].sum(axis=1, keepdims=True)
            for axes in ((0, 1, 2), (0, 2, 1)):
                turned = covariances.transpose(axes)
                sums = turned[:, one].sum(axis=1, keepdims=True)
                turned[:, one] -= found[:, one, None] * sums
        return found, covariances

    @property
    def of_all(self) -> "Related":
        """The same of all classes together."""
        return replace(
            self,
            counts=[one.sum(axis=0, keepdims=True) for one in self.counts],
            variances=[len(self.shares) * one for one in self.variances],
            shares=np.ones(1),
            pairs=self.pairs.sum(axis=0, keepdims=True),
        )


@on_one_thread
def columns_together(seen: Related) -> tuple[list[Floats], Floats]:
    r"""Return each column given the class, and how far to trust this.

    Private rows differ from public ones in something, say in age; then they differ in
    all that goes with age. If a private row of class c is :math:`e^{f_j(x_j)}` times as
    likely as a public one, f small, the shares of all cells move by
    :math:`\omega_c \Gamma_c f_j`, with :math:`\omega_c` the share of the class and
    :math:`\Gamma_c` the public covariance of its one-hot cells. Each :math:`f_j` is
    normal, with a variance of its own for what all classes share, for what each has,
    and for both once more where column j moves alone. Private rows are a sample, which
    has the covariance :math:`\omega_c \Gamma_c / n` besides noise. All is normal, so
    that the posterior is exact. Trust is the evidence of a column given all others,
    against its evidence if it goes its own way from even cells.

    Returns
    -------
    tables : list of ndarray of shape (n_classes, n_cells)
        Rows sum to 1.
    trust : ndarray of shape (n_columns,)

    Examples
    --------
    >>> pairs = np.diag([50.0, 50.0, 50.0, 50.0])[None]
    >>> pairs[0, [0, 1, 2, 3], [2, 3, 0, 1]] = 50.0  # two columns that are the same
    >>> counts = [np.array([[80.0, 20.0]]), np.array([[50.0, 50.0]])]
    >>> seen = Related(counts, [4.0, 2500.0], np.ones(1), 100.0, pairs, [0, 0])
    >>> tables, trust = columns_together(seen)
    >>> bool(tables[1][0, 0] > 0.52), bool(trust[1] > 0.5)
    (True, True)
    """
    public, covariances = seen.public
    expected = seen.shares[:, None] * public
    std = np.tile(seen.noise_std, len(seen.shares))
    raw = _without_means(np.concatenate(seen.counts, axis=1) / seen.n_rows, seen.places)
    rest = (raw - _without_means(expected, seen.places)).ravel() / std
    sampled = _diagonal(seen.shares[:, None, None] * covariances / seen.n_rows)
    noise = np.eye(len(std)) + sampled / std[:, None] / std
    fits: list[Posterior] = []
    for power in POWERS:
        factors = [one / std[:, None] for one in _factors(seen, power)]
        family = np.arange(len(factors)) % (len(factors) // len(seen.places))
        fits.append(fit_parts(rest, noise, factors, family))
    weights = np.exp(np.array([one.log for one in fits]) - max(one.log for one in fits))
    weights = weights[:, None] / weights.sum()
    moved = (weights * [one.mean for one in fits]).sum(axis=0) * std
    blocks = _blocks(seen)
    told = [log_given_others(rest, one.inverse, blocks) for one in fits]
    trust, _ = pooled_trust(logsumexp(told, axis=0, b=weights) - _alone(seen, raw))
    found = np.maximum(expected + moved.reshape(raw.shape), LEAST_SHARE)
    tables = [found[:, one] for one in seen.places]
    return [one / one.sum(axis=1, keepdims=True) for one in tables], trust


def _factors(seen: Related, power: float) -> list[Floats]:
    """Return how each part moves all cells of all classes, (n_classes * S, width)."""
    public, covariances = seen.public
    moves = seen.shares[:, None, None] * covariances  # (n_classes, S, S)
    marginal = seen.shares @ public
    found = []
    for one, n_ordered in zip(seen.places, seen.n_ordered, strict=True):
        root = _root(marginal[one], n_ordered, power)
        everywhere = moves[:, :, one] @ root
        alone = np.zeros_like(everywhere)
        alone[:, one] = everywhere[:, one]
        for part in (everywhere, alone):
            found.append(np.concatenate(part))
            if len(part) > 1:
                found.append(_diagonal(part))
    return found


def _root(marginal: Floats, n_ordered: int, power: float) -> Floats:
    """Return a root of the prior covariance of f, up to its variance."""
    covariance = np.eye(len(marginal))
    if n_ordered >= 3:
        middle = np.cumsum(marginal[:n_ordered]) - 0.5 * marginal[:n_ordered]
        near = np.exp(-np.abs(middle[:, None] - middle) / LENGTH)
        covariance[:n_ordered, :n_ordered] *= ROUGH
        covariance[:n_ordered, :n_ordered] += (1 - ROUGH) * near
    scale = np.maximum(marginal, RAREST) ** (power - 1.0)
    return np.asarray(scale[:, None] * np.linalg.cholesky(covariance))


def _alone(seen: Related, raw: Floats) -> Floats:
    """Return the log evidence of columns that go their own way, of even cells."""
    shares = seen.shares
    found = []
    for one in seen.places:
        n_cells = one.stop - one.start
        std = seen.noise_std[one][0]
        mine = raw[:, one] / std  # even cells are 0 without their mean
        logs = []
        for alike in ALIKE if len(shares) > 1 else ALIKE[:1]:
            prior = alike + (1 - alike) * np.eye(len(shares))
            prior = np.outer(shares, shares) * prior / (n_cells * std) ** 2
            values, vectors = np.linalg.eigh(prior)
            squares = ((vectors.T @ mine) ** 2).sum(axis=1)
            for wide in WIDE:
                total = wide**2 * np.maximum(values, 0.0) + 1.0
                fit = squares / total + (n_cells - 1) * np.log(total)
                logs.append(-0.5 * float(fit.sum()))
        found.append(logsumexp(logs) - np.log(len(logs)))
    return np.array(found)


def _blocks(seen: Related) -> list[NDArray[np.int64]]:
    """Return where the cells of each column stand, in all classes."""
    width = len(seen.noise_std)
    starts = np.arange(len(seen.shares))[:, None] * width
    return [(starts + np.arange(one.start, one.stop)).ravel() for one in seen.places]


def _diagonal(tables: Floats) -> Floats:
    """Return tables of classes as one, with blocks on the diagonal."""
    n, rows, columns = tables.shape
    found = np.zeros((n, rows, n, columns))
    found[np.arange(n), :, np.arange(n)] = tables
    return found.reshape(n * rows, n * columns)


def _without_means(shares: Floats, places: Sequence[slice]) -> Floats:
    """Return shares less the mean of each column in each class."""
    parts = [shares[:, one] for one in places]
    return np.concatenate([one - one.mean(axis=1, keepdims=True) for one in parts], 1)
