"""Denoise the histograms of single columns, of all rows and of each class."""

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from skdpgen.utils import (
    on_one_thread,
)

# ----------------------------------------------------------------------------
# A noisy histogram of one column; the distribution of its noise is known.

Floats = NDArray[np.float64]

CELL_LENGTH_SCALES = (0.02, 0.05, 0.2, 0.8)  # as fractions of the column's cells
ROUGHNESS = (0.02, 0.2, 1.0)  # a: the part of the variance that cells do not share
CELL_STRENGTHS = (0.1, 0.3, 1.0, 2.0)  # t: deviations from the mean, in means
FEWEST_CELLS = 4  # that are smoothed
CACHED_CELLS = 64  # a column with more cells has axes that are not cached
CACHED_COLUMNS = 64
PEAK_STDS, PEAK_TIMES = 6.0, 3.0  # a cell this far above the median is not smoothed
# Of cells without an order: counts above some noise stds stay. A prior of levels, some
# stds apart, is learnt in steps, as if some more cells were at even levels.
FEWEST_SPARSE = 8  # cells: fewer say too little about the counts of each other
LARGE_STDS, LEVEL_STDS, EM_STEPS, EVEN_CELLS = 8.0, 0.25, 100, 3.0
FAR_BELOW_ZERO = 1e3  # stds; there the truncated mean is std / |ratio| very closely
FAR_ABOVE_ZERO = 5.0  # stds; there truncation at 0 changes nothing


def project_to_total(counts: Floats, total: float) -> Floats:
    """Return the nearest non-negative counts with the given sum.

    Examples
    --------
    >>> project_to_total(np.array([5.0, -1.0, 2.0]), 6.0).tolist()
    [4.5, 0.0, 1.5]
    """
    ordered = np.sort(counts)[::-1]
    shift = (np.cumsum(ordered) - total) / np.arange(1, len(counts) + 1)
    last = np.flatnonzero((ordered > shift) & np.isfinite(ordered))
    if not len(last):
        return np.full(len(counts), total / len(counts))
    return np.maximum(counts - shift[last[-1]], 0.0)


def sparse_histogram(counts: Floats, noise_std: float, total: float) -> Floats:
    """Denoise one histogram of cells without an order; it sums to ``total``.

    A public list of categories may be far longer than what rows have, or a few
    categories may hold nearly all rows. So the prior of a cell's count is what the
    cells themselves show: weights of counts from 0 to some noise stds that maximise the
    likelihood (nonparametric empirical Bayes, found by EM). Each small count becomes
    its posterior mean. A larger one surely holds rows and stays.

    Examples
    --------
    >>> noise = np.random.default_rng(0).normal(0.0, 5.0, 1000)
    >>> counts = np.concatenate([[400.0, 600.0], noise])
    >>> bool((abs(sparse_histogram(counts, 5.0, 1000.0) - counts)[:2] < 2).all())
    True
    """
    is_small = np.isfinite(counts) & (counts < LARGE_STDS * noise_std)
    estimate = counts.copy()
    if noise_std and is_small.any():
        z = np.maximum(counts[is_small] / noise_std, -LARGE_STDS)
        levels = np.arange(0.0, LARGE_STDS + 1.0, LEVEL_STDS)
        fits = np.exp(-0.5 * (z[:, None] - levels) ** 2)
        even = EVEN_CELLS / len(levels)
        weights = np.full(len(levels), 1.0 / len(levels))
        for _ in range(EM_STEPS):
            shares = weights / (fits @ weights)[:, None]  # times `fits`: probabilities
            found = (fits * shares).sum(axis=0)
            weights = (found + even) / (len(z) + EVEN_CELLS)
        means = fits @ (weights * levels) / (fits @ weights)
        estimate[is_small] = noise_std * means
    return project_to_total(estimate, total)


@on_one_thread
def denoised_histogram(
    counts: Floats, noise_std: float, total: float, *, n_ordered: int
) -> Floats:
    r"""Denoise one histogram, smoothly along ordered cells; it sums to ``total``.

    Bins hold about equally many rows. The prior of the deviations of ordered cells from
    their mean m is :math:`N(0, t^2 m^2 P (a I + (1 - a) \rho) P^\top)`. The part
    :math:`\rho` is smooth and decays along the cells, the identity is rough, and P
    removes the sum. The noise distribution is known, so posterior and evidence of each
    candidate (a, t, length scale) are exact. Posteriors are averaged by evidence, and
    truncated at 0. A peak far above all other cells, such as many zeros, keeps its
    noisy count.

    Parameters
    ----------
    counts : ndarray of shape (n_cells,)
        Noisy counts; -inf marks an empty cell.
    noise_std : float
        Noise std of each count.
    total : float
    n_ordered : int
        Number of leading cells that are ordered; the others are only projected.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> denoised = denoised_histogram(
    ...     100 + 40 * rng.normal(size=50), 40.0, 5000.0, n_ordered=50
    ... )
    >>> bool(np.abs(denoised - 100).mean() < 10)
    True
    """
    denoised = counts.copy()
    places = np.flatnonzero(np.isfinite(counts[:n_ordered]))
    if noise_std > 0 and len(places) >= FEWEST_CELLS:
        values = counts[places]
        usual = float(np.median(values))
        limit = max(PEAK_STDS * noise_std, PEAK_TIMES * abs(usual))
        places = places[np.abs(values - usual) <= limit]
        values = counts[places]
        if len(places) >= FEWEST_CELLS and values.mean() > 0:
            denoised[places] = _posterior_of_bins(values, noise_std, places)
    return project_to_total(denoised, total)


def _posterior_of_bins(
    counts: Floats, noise_std: float, places: NDArray[np.int64]
) -> Floats:
    """Return the posterior mean, averaged over candidates and truncated at 0."""
    mean, n = float(counts.mean()), len(counts)
    deviation = (counts - mean) / noise_std  # in noise stds
    signal = (np.array(CELL_STRENGTHS) * mean / noise_std) ** 2
    axes = _axes_of_cells if n > CACHED_CELLS else _kept_axes_of_cells
    evidence = [np.array([-0.5 * float((deviation**2).sum())])]
    means, variances = [np.zeros((1, n))], [np.zeros((1, n))]
    for values, vectors in axes(tuple(places.tolist())):
        spread = (signal[:, None] * np.maximum(values, 0.0)[:, None]).reshape(-1, n)
        rotated, shrinkage = vectors.T @ deviation, spread / (spread + 1.0)
        # log evidence of N(0, spread + 1) in the eigenbasis, without constants
        fit = rotated**2 / (spread + 1.0) + np.log(spread + 1.0)
        evidence.append(-0.5 * fit.sum(axis=1))
        means.append((shrinkage * rotated) @ vectors.T)
        variances.append(shrinkage @ (vectors**2).T)
    logs, posterior = np.concatenate(evidence), np.concatenate(means)
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    centre = weights @ posterior
    variance = weights @ (np.concatenate(variances) + posterior**2) - centre**2
    std = noise_std * np.sqrt(np.maximum(variance, 1e-12))
    return _above_zero(mean + noise_std * centre, std)


def _axes_of_cells(places: tuple[int, ...]) -> list[tuple[Floats, Floats]]:
    """Return variances, a row for each roughness, and axes of the priors of cells.

    P has the axes of the smooth part. So priors of one length scale share their axes,
    and only their variances differ: 0 along the sum, the first axis, and a + (1 - a)
    times that of the smooth part along all others.
    """
    n, at = len(places), np.array(places)
    distance = np.abs(at[:, None] - at[None, :]) / n
    rough = np.array(ROUGHNESS)[:, None]
    axes = []
    for length in CELL_LENGTH_SCALES:
        smooth = np.exp(-distance / length)
        smooth -= smooth.mean(axis=0)  # P on both sides: deviations sum to 0
        smooth -= smooth.mean(axis=1, keepdims=True)
        values, vectors = np.linalg.eigh(smooth)
        variances = rough + (1 - rough) * values
        variances[:, 0] = 0.0
        axes.append((variances, vectors))
    return axes


# Places follow from released counts, so nothing private is in the cache.
_kept_axes_of_cells = lru_cache(maxsize=CACHED_COLUMNS)(_axes_of_cells)


def _above_zero(mean: Floats, std: Floats) -> Floats:
    """Return the mean of a normal distribution truncated at 0."""
    ratio = mean / std
    near = np.maximum(ratio, -FAR_BELOW_ZERO)
    shift = std * np.exp(norm.logpdf(near) - norm.logcdf(near))
    means = np.where(ratio > FAR_ABOVE_ZERO, mean, mean + shift)
    return np.asarray(
        np.where(
            ratio < -FAR_BELOW_ZERO, -std / np.minimum(ratio, -FAR_BELOW_ZERO), means
        )
    )


# ----------------------------------------------------------------------------
# Noisy histograms of each class; the distribution of their noise is known.

POWERS = (0.5, 1.0)  # a: the covariance of a Dirichlet, or proportional to h
LENGTH_SCALES = (0.1, 0.4, 1.6)  # in quantiles of the column
EMPTY_BELOW = 2.0  # noise stds of the sum over classes
GAP_FACTOR = 1.25  # of that limit: earlier releases showed no rows there
FAR_GAP_FACTOR = 1.75  # an octave or more beyond the range
OTHER_SIGN_FACTOR = 2.1  # for a sign that earlier releases did not show
POSITIVE_NOISE = 0.4  # mean of the positive part of pure noise, in stds
STRENGTHS = (0.1, 0.3, 0.9)  # t; a finer grid near 0 would be a prior for no effect


def class_totals(
    blocks: list[Floats], total: float | None, stds: Floats | None = None
) -> Floats:
    """Estimate the class counts that all histograms of a release contain.

    Column j has k_j cells, so its class counts have the variance k_j s_j². They are
    averaged by precision, and projected to sum to ``total`` if that is public.
    """
    estimate = class_sums(blocks, stds)
    if total is None:
        total = max(float(estimate.sum()), 1.0)
    return project_to_total(estimate, total)


def class_sums(blocks: list[Floats], stds: Floats | None = None) -> Floats:
    """Return the noisy class counts of all histograms, averaged by precision."""
    weights = np.array([1.0 / block.shape[1] for block in blocks])
    if stds is not None and stds.all():
        weights /= (stds / stds.mean()) ** 2
    sums = np.array([block.sum(axis=1) for block in blocks])  # (columns, classes)
    return np.asarray(weights @ sums / weights.sum())


def without_empty_cells(
    counts: Floats,
    noise_std: float,
    *,
    n_ordered: int,
    rare: Sequence[int],
    gaps: Sequence[int] = (),
    gap_std: float | None = None,
    other_sign: Sequence[int] = (),
    outward: Sequence[Sequence[int]] = (),
    total: tuple[float, float] | None = None,
) -> Floats:
    """Return the counts, with -inf in cells that are probably empty.

    The noise of an empty cell would otherwise become synthetic rows. Ranges are often
    too wide (discovered bounds of months may be 1 to 31), so empty cells are common.

    Ordered cells are tested in runs from each end. A run is empty if its sum over all
    classes is below ``EMPTY_BELOW`` stds of its noise. ``rare`` cells, such as
    "missing" and "other", are tested one by one. The noise of each class makes rows of
    its own, so their limit grows with the number of classes. It is higher for ``gaps``,
    where
    earlier releases showed no rows, higher still far from the range, and highest for
    the ``other_sign``, since a negative price is worse than a lost one. ``gap_std`` is
    the noise of a gap, all classes together, where that differs from other cells.

    ``outward`` lists gaps in order from the range. They are also kept up to the cell
    where their sum passes: spread-out rows may pass in no single cell. ``total`` is an
    estimate of all rows and its std. If it has less noise than the sum of these cells,
    it lowers the variance of each.

    Examples
    --------
    >>> counts = np.array([[20.0, 50.0, 40.0, -8.0, 6.0, 3.0]])
    >>> without_empty_cells(counts, 5.0, n_ordered=5, rare=[-1]).tolist()
    [[20.0, 50.0, 40.0, -inf, -inf, -inf]]
    """
    result = counts.copy()
    pooled = counts.sum(axis=0)
    limit = EMPTY_BELOW * noise_std * math.sqrt(len(counts))
    open_cells = np.array(
        [k for k in range(n_ordered) if k not in set(gaps)], dtype=np.int64
    )
    for _ in range(2):  # from one end, then from the other over the remaining cells
        full = np.cumsum(pooled[open_cells]) > limit * np.sqrt(
            np.arange(1, len(open_cells) + 1)
        )
        n_empty = int(full.argmax()) if full.any() else 0
        result[:, open_cells[:n_empty]] = -np.inf
        open_cells = open_cells[n_empty:][::-1]
    limit = noise_std * max(
        EMPTY_BELOW * math.sqrt(len(counts)), POSITIVE_NOISE * len(counts)
    )
    n_others = np.isfinite(result[0]).sum() - len(rare) - len(gaps)
    for cell in rare:
        if pooled[cell] <= limit and (n_others or limit < pooled.max()):
            result[:, cell] = -np.inf
    is_kept = np.isfinite(result[0])
    std = noise_std * math.sqrt(len(counts))
    if gap_std is not None:
        limit, std = EMPTY_BELOW * gap_std, gap_std
    if total is not None and std:
        change, variance = _adjusted_by_total(total, pooled[is_kept], std)
        pooled = pooled + change
        limit *= math.sqrt(variance) / std
    limits = dict.fromkeys(gaps, GAP_FACTOR * limit)
    further = [cell for cells in outward for cell in cells[1:]]
    limits |= dict.fromkeys(further, FAR_GAP_FACTOR * limit)
    limits |= dict.fromkeys(other_sign, OTHER_SIGN_FACTOR * limit)
    passing = _passing_runs(pooled, outward, limits)
    for cell, cell_limit in limits.items():
        if cell in passing:
            continue
        if pooled[cell] <= cell_limit and (n_others or cell_limit < pooled.max()):
            result[:, cell] = -np.inf
    return result


def _adjusted_by_total(
    total: tuple[float, float], counts: Floats, noise_std: float
) -> tuple[float, float]:
    """Return the change of each count by a known total, and its remaining variance.

    The total is a mean by precision, and the sum of these counts is one of its terms.

    Examples
    --------
    >>> _adjusted_by_total((100.0, 0.0), np.array([60.0, 30.0]), 4.0)  # a public total
    (5.0, 8.0)
    >>> _adjusted_by_total((90.0, 32.0**0.5), np.array([60.0, 30.0]), 4.0)  # same sum
    (0.0, 16.0)
    """
    n, sum_variance = len(counts), len(counts) * noise_std**2
    other_precision = (
        1.0 / sum_variance if not total[1] else 1.0 / total[1] ** 2 - 1.0 / sum_variance
    )
    if n < 2 or other_precision <= 1e-9 / sum_variance:
        return 0.0, noise_std**2
    difference, weight = total[0] - float(counts.sum()), 1.0
    if total[1]:  # remove these counts from the mean
        difference *= 1.0 / total[1] ** 2 / other_precision
        weight = sum_variance * other_precision / (sum_variance * other_precision + 1.0)
    return weight * difference / n, noise_std**2 * (1.0 - weight / n)


def _passing_runs(
    pooled: Floats, outward: Sequence[Sequence[int]], limits: Mapping[int, float]
) -> set[int]:
    """Return the cells of each line in runs whose sums pass, one after the other."""
    passing: set[int] = set()
    for cells in outward:
        start = 0
        for stop in range(1, len(cells) + 1):
            run = list(cells[start:stop])
            run_limit = max(limits[cell] for cell in run) * math.sqrt(len(run))
            if float(pooled[run].sum()) > run_limit:
                passing |= set(run)
                start = stop
    return passing


def conditional_histogram(
    counts: Floats,
    noise_std: float,
    totals: Floats,
    *,
    n_ordered: int,
    are_bins: bool = False,
    pooled_std: float | None = None,
) -> tuple[Floats, Floats]:
    """Denoise one column: its marginal, and its distribution in each class.

    The histogram of each class is projected to the simplex, since counts are not
    negative; that helps rare classes most. The marginal h is the denoised sum over
    classes (:func:`denoised_histogram` for ordered cells, else
    :func:`sparse_histogram`). The excess f of a class is its projection minus its share
    of all projections. It is small, sums to 0 and is smooth along ordered cells. Its
    prior is N(0, t² K) with K = P hᵃ ρ hᵃ Pᵀ. With a = 1/2 this is the covariance of a
    Dirichlet distribution; with a = 1 class shares vary equally in all cells. ρ is the
    identity or decays exponentially in quantiles, and P removes the sum. The noise
    distribution is known, so evidence and posterior mean of every candidate (a, ρ, t)
    are exact. Posterior means are averaged by evidence. A column without information
    gets f = 0.

    If classes are bins of a number, adjacent classes are similar. The joint prior of
    all classes is then N(0, t² R ⊗ K). R is like ρ, but along the bins, with the sum
    removed. The noise is the same in all classes up to their size, so the covariance
    is diagonal in the product of both eigenbases, and evidence and posterior mean stay
    exact.

    Parameters
    ----------
    counts : ndarray of shape (n_classes, n_cells)
        Noisy counts.
    noise_std : float
        Noise std of each count.
    totals : ndarray of shape (n_classes,)
        Class counts.
    n_ordered : int
        Number of leading cells that are ordered; 0 for categories.
    are_bins : bool, default=False
        Whether classes are bins of a number, in order.
    pooled_std : float or None, default=None
        Noise std of a cell's sum over classes, if a known total made it smaller.

    Returns
    -------
    marginal : ndarray of shape (n_cells,)
    conditional : ndarray of shape (n_classes, n_cells)
        Rows sum to 1.

    Examples
    --------
    >>> counts = np.array([[60.0, 2.0], [1.0, 30.0]])
    >>> marginal, table = conditional_histogram(
    ...     counts, 5.0, np.array([62.0, 31.0]), n_ordered=0
    ... )
    >>> table.round(1).tolist()
    [[1.0, 0.0], [0.1, 0.9]]
    """
    total = float(totals.sum())
    if pooled_std is None:
        pooled_std = noise_std * math.sqrt(len(totals))
    is_held = totals > 0
    held_std = noise_std * math.sqrt(is_held.sum())
    if held_std < pooled_std and not is_held.all():  # a class without rows has noise
        marginal, of_held = conditional_histogram(
            counts[is_held],
            noise_std,
            totals[is_held],
            n_ordered=n_ordered,
            are_bins=are_bins,
        )
        conditional = np.tile(marginal, (len(totals), 1))
        conditional[is_held] = of_held
        return marginal, conditional
    shares = totals / total
    rows = zip(counts, totals, strict=True)
    projected = np.array([project_to_total(row, n_class) for row, n_class in rows])
    marginal = projected.sum(axis=0) / total
    excess = projected / total - shares[:, None] * marginal
    pooled = counts.sum(axis=0)
    if n_ordered:
        marginal = denoised_histogram(pooled, pooled_std, total, n_ordered=n_ordered)
    elif len(pooled) >= FEWEST_SPARSE:
        marginal = sparse_histogram(pooled, pooled_std, total)
    else:
        marginal = projected.sum(axis=0)
    marginal = marginal / total
    if noise_std > 0 and len(totals) > 1:
        noise = noise_std / total
        excess = _posterior_mean(excess, marginal, noise, shares, n_ordered, are_bins)
    conditional = np.maximum(shares[:, None] * marginal + excess, 0.0)
    mass = conditional.sum(axis=1, keepdims=True)
    safe = np.maximum(mass, np.finfo(float).tiny)
    return marginal, np.where(mass >= safe, conditional / safe, marginal)


def _posterior_mean(
    excess: Floats,
    marginal: Floats,
    noise: float,
    shares: Floats,
    n_ordered: int,
    are_bins: bool,
) -> Floats:
    """Average the posterior means of all candidate priors by their evidence."""
    # The excess of a class subtracts its share of all classes. So it keeps 1 - share of
    # its own noise, and gets the noise of the others times its share.
    others = math.sqrt(len(shares) - 1) * shares
    noise_stds = (noise * np.hypot(1 - shares, others))[:, None]  # (n_classes, 1)
    scale = np.sqrt(shares * (1 - shares))[:, None] / noise_stds
    # A prior moves no cell without rows: it fits all candidates equally well.
    is_held = marginal > 0
    standardised = (excess / noise_stds)[:, is_held]  # in noise stds
    evidence = [-0.5 * _summed_fit((standardised**2).sum(axis=1), are_bins)]
    posterior = [np.zeros_like(standardised)]
    alike: list[Floats | None] = [None]
    if n_ordered >= 3:
        pairs = np.ix_(is_held, is_held)
        alike = [each[pairs] for each in correlations(marginal, n_ordered)]
    sides = [
        _principal_axes(scale * prior * scale.T)
        for prior in _class_correlations(shares, are_bins)
    ]
    for power in POWERS:
        for correlation in alike:
            prior: _FreePrior | _SmoothPrior = _FreePrior.of(marginal[is_held], power)
            if correlation is not None:
                prior = _SmoothPrior.of(marginal[is_held], power, correlation)
            for strengths, class_axes in sides:
                turned = prior.turned(class_axes.T @ standardised)
                for strength in STRENGTHS:
                    fit, mean = prior.fit(turned, strength**2 * strengths[:, None])
                    evidence.append(-0.5 * _summed_fit(fit, are_bins))
                    posterior.append(class_axes @ mean)
    logs = np.array(evidence)  # (candidates, n_classes)
    weights = np.exp(logs - logs.max(axis=0))
    weights /= weights.sum(axis=0)
    mean = np.zeros_like(excess)
    mean[:, is_held] = np.einsum("gc,gck->ck", weights, np.array(posterior))
    return np.asarray(noise_stds * mean)


class _SmoothPrior(NamedTuple):
    """The prior covariance K of ordered cells, in its principal axes.

    The noise is white in units of its std, so in the product of the axes of cells and
    of classes every coefficient has a prior of its own.
    """

    values: Floats
    vectors: Floats

    @classmethod
    def of(cls, marginal: Floats, power: float, correlation: Floats) -> Self:
        root = (np.eye(len(marginal)) - marginal[:, None]) * marginal**power
        return cls(*_principal_axes(root @ correlation @ root.T))

    def turned(self, rows: Floats) -> Floats:
        """Return the rows, one for each axis of the classes, as ``fit`` needs them."""
        return rows @ self.vectors

    def fit(self, turned: Floats, strengths: Floats) -> tuple[Floats, Floats]:
        """Return -2 log evidence and posterior mean of N(0, strength K + 1) rows."""
        signal = strengths * self.values
        variance = signal + 1.0
        fit = (turned**2 / variance + np.log(variance)).sum(axis=1)
        return fit, (signal / variance * turned) @ self.vectors.T


class _FreePrior(NamedTuple):
    """The prior covariance K of cells without an order: a diagonal and two columns.

    With d = m^2a, K = P diag(d) P^T = diag(d) - m d^T - d m^T + (sum d) m m^T. So the
    inverse of t K + 1 is that of a diagonal and a matrix of 2 x 2 (Woodbury). A list of
    thousands of categories takes no longer than it is long.
    """

    marginal: Floats
    diagonal: Floats

    @classmethod
    def of(cls, marginal: Floats, power: float) -> Self:
        return cls(marginal, marginal ** (2 * power))

    def turned(self, rows: Floats) -> Floats:
        """Return the rows: they need no axes."""
        return rows

    def fit(self, turned: Floats, strengths: Floats) -> tuple[Floats, Floats]:
        """Return -2 log evidence and posterior mean of N(0, strength K + 1) rows."""
        columns = np.stack([self.marginal, self.diagonal])
        middle = np.array([[self.diagonal.sum(), -1.0], [-1.0, 0.0]])
        inverse = 1.0 / (1.0 + strengths * self.diagonal)  # (n_classes, n_cells)
        inner = np.einsum("ik,ck,jk->cij", columns, inverse, columns)
        inner = np.eye(2) + strengths[:, :, None] * (middle @ inner)
        scaled = inverse * turned
        outer = np.linalg.solve(inner, (middle @ columns @ scaled.T).T[:, :, None])
        residual = scaled - strengths * inverse * (outer[:, :, 0] @ columns)
        fit = (turned * residual).sum(axis=1) - np.log(inverse).sum(axis=1)
        return fit + np.linalg.slogdet(inner)[1], turned - residual


def _summed_fit(fit: Floats, are_bins: bool) -> Floats:
    """Sum over classes if these have a joint prior."""
    return np.full(len(fit), fit.sum()) if are_bins else fit


def _class_correlations(shares: Floats, are_bins: bool) -> list[Floats]:
    """Return prior correlations of classes: none, or along the bins of a number."""
    if not are_bins:
        return [np.eye(len(shares))]
    centre = np.eye(len(shares)) - shares[:, None]
    return [
        centre @ correlation @ centre.T
        for correlation in correlations(shares, len(shares))
    ]


def _principal_axes(covariance: Floats) -> tuple[Floats, Floats]:
    """Return the eigenvalues, clipped at 0, and the eigenvectors of a covariance."""
    if not np.any(covariance - np.diag(np.diag(covariance))):
        return np.diag(covariance).copy(), np.eye(len(covariance))
    values, vectors = np.linalg.eigh(covariance)
    return np.maximum(values, 0.0), vectors


def correlations(marginal: Floats, n_ordered: int) -> list[Floats]:
    """Return the prior correlations of cells: along quantiles if ordered, else none."""
    identity = np.eye(len(marginal))
    if n_ordered < 3:
        return [identity]
    middle = np.cumsum(marginal[:n_ordered]) - 0.5 * marginal[:n_ordered]
    distance = np.abs(middle[:, None] - middle[None, :])
    result = [identity]
    for length in LENGTH_SCALES:
        correlation = identity.copy()
        correlation[:n_ordered, :n_ordered] = np.exp(-distance / length)
        result.append(correlation)
    return result
