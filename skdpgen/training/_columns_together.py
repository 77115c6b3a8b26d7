"""Single columns estimated jointly, by their public relationships."""

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
FIRST_VARIANCE = 0.04  # of the parts, as the next two
LEAST_VARIANCE, MOST_VARIANCE = 1e-10, 1e4
FAMILY_COUNT = 0.1  # pseudo-count that holds parts of a family together
VARIANCE_STEPS = 25


@dataclass(frozen=True, eq=False)
class Posterior:
    """The posterior of a signal that was observed in noise.

    Parameters
    ----------
    mean : ndarray of shape (n,)
    inverse : ndarray of shape (n, n)
        Inverse of the covariance of the observations.
    log_evidence : float
    """

    mean: Floats
    inverse: Floats
    log_evidence: float


@on_one_thread
def fit_parts(
    signal: Floats, noise: Floats, factors: Sequence[Floats], family: NDArray[np.int64]
) -> Posterior:
    r"""Return the posterior of :math:`\sum_p F_p g_p`, observed in normal noise.

    :math:`g_p` is normal with variance :math:`a_p`, estimated by maximising the
    evidence: :math:`a_p \leftarrow a_p \sqrt{|F_p^\top V^{-1} s|^2 /
    \mathrm{tr}(F_p^\top V^{-1} F_p)}`, with V the covariance of the observations s.
    These steps never lower the evidence (Zhou et al., 2019). A prior with the weight
    ``FAMILY_COUNT`` of a case holds the variances of a family near their geometric
    mean.

    Parameters
    ----------
    signal : ndarray of shape (n,)
        The observations.
    noise : ndarray of shape (n, n)
        Covariance of their noise; at least the identity, for numerical stability.
    factors : sequence of ndarray of shape (n, width)
    family : ndarray of int of shape (n_parts,)

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> parts = [np.eye(400)[:, :200], np.eye(400)[:, 200:]]
    >>> signal = np.repeat([10.0, 1.0], 200) * rng.normal(size=400)
    >>> posterior = fit_parts(signal, np.eye(400), parts, np.arange(2))
    >>> kept = posterior.mean / signal
    >>> bool(kept[:200].mean() > 0.97), bool(kept[200:].mean() < 0.2)
    (True, True)
    """
    factor_matrix = np.concatenate(factors, axis=1)
    part = np.repeat(np.arange(len(factors)), [factor.shape[1] for factor in factors])
    family_weights = (family[:, None] == family).astype(float)
    family_weights /= family_weights.sum(axis=1, keepdims=True)
    variances = np.full(len(factors), FIRST_VARIANCE)
    for _ in range(VARIANCE_STEPS):
        root = cholesky(_covariance(noise, factor_matrix, variances[part]), lower=True)
        whitened = solve_triangular(
            root, np.column_stack([factor_matrix, signal]), lower=True
        )
        whitened, rotated = whitened[:, :-1], whitened[:, -1]
        data_term = np.bincount(part, (rotated @ whitened) ** 2, len(factors))
        prior_term = np.bincount(part, np.square(whitened).sum(axis=0), len(factors))
        family_mean = np.exp(family_weights @ np.log(variances))
        data_term = variances**2 * data_term + 2 * FAMILY_COUNT * family_mean
        variances = np.sqrt(data_term / (prior_term + 2 * FAMILY_COUNT / variances))
        variances = np.clip(variances, LEAST_VARIANCE, MOST_VARIANCE)
    root = cholesky(_covariance(noise, factor_matrix, variances[part]), lower=True)
    inverse = cho_solve((root, True), np.eye(len(signal)))
    fit = inverse @ signal
    mean = (factor_matrix * variances[part]) @ (factor_matrix.T @ fit)
    log_evidence = -0.5 * float(signal @ fit) - float(np.log(np.diag(root)).sum())
    return Posterior(mean, inverse, log_evidence)


def log_given_others(
    signal: Floats, inverse: Floats, blocks: Sequence[NDArray[np.int64]]
) -> Floats:
    r"""Return the log density of each block of the observations, given all others.

    A constant that does not depend on the model is left out. With P the inverse of the
    covariance, the conditional of block b of a normal vector has precision
    :math:`P_{bb}`, and s differs from its mean by :math:`P_{bb}^{-1} (P s)_b`.
    """
    fit, logs = inverse @ signal, []
    for block in blocks:
        precision = inverse[np.ix_(block, block)]
        quadratic = fit[block] @ np.linalg.solve(precision, fit[block])
        logs.append(0.5 * (float(np.linalg.slogdet(precision)[1]) - quadratic))
    return np.array(logs)


def _covariance(noise: Floats, factor_matrix: Floats, variances: Floats) -> Floats:
    return np.asarray(noise + (factor_matrix * variances) @ factor_matrix.T)


# ----------------------------------------------------------------------------
# Single columns estimated jointly: a column of which noise hides a change may be
# related to another column that shows it.

POWERS = (0.5, 1.0)  # 1/2: rare cells deviate more, relative to their size
# The prior of deviations along ordered cells: the rough part is independent, the rest
# is correlated over a length, in quantiles.
ROUGH_PART, CORRELATION_LENGTH = 0.2, 0.8
PUBLIC_PSEUDO_COUNT = 10.0  # of public rows of all classes in each class
LEAST_PRIOR_SHARE = 1e-4  # of a cell, in the scale of its prior
# The alternative prior, of columns that are unrelated to public rows: its standard
# deviations around equal cells, and its correlations between classes.
STRENGTHS = (0.3, 1.0, 3.0, 9.0)
CLASS_CORRELATIONS = (0.0, 0.5, 0.9)
LEAST_SHARE = 1e-7
LEAST_SHARE_NOISE = 1e-5


@dataclass(frozen=True, eq=False)
class RelatedColumns:
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
    def slices(self) -> list[slice]:
        """The places of each column's cells."""
        ends = np.cumsum([0, *(counts.shape[1] for counts in self.counts)])
        return [slice(a, b) for a, b in pairwise(ends)]

    @cached_property
    def noise_std(self) -> Floats:
        """Noise of the share of each cell, (S,)."""
        sizes = [counts.shape[1] for counts in self.counts]
        std = np.sqrt(np.repeat(self.variances, sizes)) / self.n_rows
        return np.maximum(std, LEAST_SHARE_NOISE)

    @cached_property
    def public(self) -> tuple[Floats, Floats]:
        """Public columns given the class, (n_classes, S), and covariances of cells."""
        counts = np.diagonal(self.pairs, axis1=1, axis2=2)
        sizes = np.max([counts[:, cells].sum(axis=1) for cells in self.slices], axis=0)
        sizes = sizes[:, None, None]
        common = self.pairs.sum(axis=0) / max(float(sizes.sum()), 1.0)
        moments = (self.pairs + PUBLIC_PSEUDO_COUNT * common) / (
            sizes + PUBLIC_PSEUDO_COUNT
        )
        conditionals = np.diagonal(moments, axis1=1, axis2=2).copy()
        covariances = moments - conditionals[:, :, None] * conditionals[:, None, :]
        for cells in self.slices:  # rows without a cell are left out
            conditionals[:, cells] += LEAST_SHARE
            conditionals[:, cells] /= conditionals[:, cells].sum(axis=1, keepdims=True)
            for axes in ((0, 1, 2), (0, 2, 1)):
                transposed = covariances.transpose(axes)
                sums = transposed[:, cells].sum(axis=1, keepdims=True)
                transposed[:, cells] -= conditionals[:, cells, None] * sums
        return conditionals, covariances

    @property
    def of_all(self) -> "RelatedColumns":
        """The same columns with all classes added up."""
        return replace(
            self,
            counts=[counts.sum(axis=0, keepdims=True) for counts in self.counts],
            variances=[len(self.shares) * variance for variance in self.variances],
            shares=np.ones(1),
            pairs=self.pairs.sum(axis=0, keepdims=True),
        )


@on_one_thread
def columns_together(columns: RelatedColumns) -> tuple[list[Floats], Floats]:
    r"""Return each column given the class, and how far to trust this.

    If private rows differ from public ones in age, say, they also differ in all columns
    that are related to age. If a private row of class c is :math:`e^{f_j(x_j)}` times
    as likely as a public one, f small, the shares of all cells move by
    :math:`\omega_c \Gamma_c f_j`, with :math:`\omega_c` the share of the class and
    :math:`\Gamma_c` the public covariance of its one-hot cells. Each :math:`f_j` is
    normal and has four parts with a variance each: common to all classes or of one
    class, and moving all columns or column j only. Private rows are a sample, which has
    the covariance :math:`\omega_c \Gamma_c / n` in addition to noise. All distributions
    are normal, so the posterior is exact. Trust compares the evidence of a column,
    given all others, with its evidence under a prior around equal cells.

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
    >>> shares, variances = np.ones(1), [4.0, 2500.0]
    >>> columns = RelatedColumns(counts, variances, shares, 100.0, pairs, [0, 0])
    >>> tables, trust = columns_together(columns)
    >>> bool(tables[1][0, 0] > 0.52), bool(trust[1] > 0.5)
    (True, True)
    """
    public, covariances = columns.public
    expected = columns.shares[:, None] * public
    std = np.tile(columns.noise_std, len(columns.shares))
    raw = _without_means(
        np.concatenate(columns.counts, axis=1) / columns.n_rows, columns.slices
    )
    differences = (raw - _without_means(expected, columns.slices)).ravel() / std
    sampled = _diagonal(columns.shares[:, None, None] * covariances / columns.n_rows)
    noise = np.eye(len(std)) + sampled / std[:, None] / std
    fits: list[Posterior] = []
    for power in POWERS:
        factors = [factor / std[:, None] for factor in _factors(columns, power)]
        family = np.arange(len(factors)) % (len(factors) // len(columns.slices))
        fits.append(fit_parts(differences, noise, factors, family))
    log_evidence = np.array([fit.log_evidence for fit in fits])
    weights = np.exp(log_evidence - log_evidence.max())
    weights = weights[:, None] / weights.sum()
    shift = (weights * [fit.mean for fit in fits]).sum(axis=0) * std
    blocks = _blocks(columns)
    logs = [log_given_others(differences, fit.inverse, blocks) for fit in fits]
    trust, _ = pooled_trust(
        logsumexp(logs, axis=0, b=weights) - _log_evidence_alone(columns, raw)
    )
    shares = np.maximum(expected + shift.reshape(raw.shape), LEAST_SHARE)
    tables = [shares[:, cells] for cells in columns.slices]
    return [table / table.sum(axis=1, keepdims=True) for table in tables], trust


def _factors(columns: RelatedColumns, power: float) -> list[Floats]:
    """Return the effect of each part on all cells, (n_classes * S, width)."""
    public, covariances = columns.public
    moves = columns.shares[:, None, None] * covariances  # (n_classes, S, S)
    marginal = columns.shares @ public
    factors = []
    for cells, n_ordered in zip(columns.slices, columns.n_ordered, strict=True):
        root = _root(marginal[cells], n_ordered, power)
        effect = moves[:, :, cells] @ root
        own_effect = np.zeros_like(effect)
        own_effect[:, cells] = effect[:, cells]
        for part in (effect, own_effect):
            factors.append(np.concatenate(part))
            if len(part) > 1:
                factors.append(_diagonal(part))
    return factors


def _root(marginal: Floats, n_ordered: int, power: float) -> Floats:
    """Return a root of the prior covariance of f, up to its variance."""
    covariance = np.eye(len(marginal))
    if n_ordered >= 3:
        middle = np.cumsum(marginal[:n_ordered]) - 0.5 * marginal[:n_ordered]
        correlation = np.exp(-np.abs(middle[:, None] - middle) / CORRELATION_LENGTH)
        covariance[:n_ordered, :n_ordered] *= ROUGH_PART
        covariance[:n_ordered, :n_ordered] += (1 - ROUGH_PART) * correlation
    scale = np.maximum(marginal, LEAST_PRIOR_SHARE) ** (power - 1.0)
    return np.asarray(scale[:, None] * np.linalg.cholesky(covariance))


def _log_evidence_alone(columns: RelatedColumns, raw: Floats) -> Floats:
    """Return the log evidence of each column under the prior around equal cells."""
    shares = columns.shares
    evidence = []
    for cells in columns.slices:
        n_cells = cells.stop - cells.start
        std = columns.noise_std[cells][0]
        scaled = raw[:, cells] / std  # equal cells are 0 once the mean is subtracted
        logs = []
        for correlation in (
            CLASS_CORRELATIONS if len(shares) > 1 else CLASS_CORRELATIONS[:1]
        ):
            prior = correlation + (1 - correlation) * np.eye(len(shares))
            prior = np.outer(shares, shares) * prior / (n_cells * std) ** 2
            values, vectors = np.linalg.eigh(prior)
            squares = ((vectors.T @ scaled) ** 2).sum(axis=1)
            for strength in STRENGTHS:
                total = strength**2 * np.maximum(values, 0.0) + 1.0
                fit = squares / total + (n_cells - 1) * np.log(total)
                logs.append(-0.5 * float(fit.sum()))
        evidence.append(logsumexp(logs) - np.log(len(logs)))
    return np.array(evidence)


def _blocks(columns: RelatedColumns) -> list[NDArray[np.int64]]:
    """Return the places of each column's cells, in all classes."""
    width = len(columns.noise_std)
    starts = np.arange(len(columns.shares))[:, None] * width
    return [
        (starts + np.arange(cells.start, cells.stop)).ravel()
        for cells in columns.slices
    ]


def _diagonal(tables: Floats) -> Floats:
    """Return a block-diagonal matrix of the tables of classes."""
    n, rows, columns = tables.shape
    blocks = np.zeros((n, rows, n, columns))
    blocks[np.arange(n), :, np.arange(n)] = tables
    return blocks.reshape(n * rows, n * columns)


def _without_means(shares: Floats, slices: Sequence[slice]) -> Floats:
    """Subtract the mean of each column in each class."""
    parts = [shares[:, cells] for cells in slices]
    centred = [part - part.mean(axis=1, keepdims=True) for part in parts]
    return np.concatenate(centred, 1)
