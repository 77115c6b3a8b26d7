"""Single columns without most of the noise of their counts."""

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from skdpgen.utils import on_one_thread

# ----------------------------------------------------------------------------
# A noisy histogram of one column, denoised by what is known of its noise.

Floats = NDArray[np.float64]

CELL_LENGTH_SCALES = (0.02, 0.05, 0.2, 0.8)  # of the column's cells
ROUGHNESS = (0.02, 0.2, 1.0)  # part of the variance that each cell has of its own
CELL_STRENGTHS = (0.1, 0.3, 1.0, 2.0)  # of deviations, in means of a cell
FEWEST = 4  # cells that may be smoothed
KEPT_CELLS, KEPT = 64, 64  # cells of a column whose axes are kept, and how many are
PEAK_STDS, PEAK_TIMES = 6.0, 3.0  # beyond the median a cell is a peak of its own
FAR = 1e3  # stds below zero: from there the mean is std / |ratio|, to many digits
CERTAIN = 5.0  # stds above 0: that counts are not negative says nothing more


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


@on_one_thread
def denoised_histogram(
    counts: Floats, noise_std: float, total: float, *, n_ordered: int
) -> Floats:
    r"""Denoise one histogram, smoothly along ordered cells; it sums to ``total``.

    Bins were made to hold about as many rows each, so ordered cells deviate from their
    mean m as :math:`N(0, t^2 m^2 P (a I + (1 - a) \rho) P^\top)`: smoothly, with
    :math:`\rho` decaying along the cells, or each on its own, or both; P removes the
    sum. The noise is known, so posterior and evidence of each candidate are exact. They
    are averaged by evidence, and the mean of what is left above 0 is taken. Peaks far
    above all other cells, as many zeros are, stay as they were counted.

    Parameters
    ----------
    counts : ndarray of shape (n_cells,)
        Noisy counts; -inf is empty for sure.
    noise_std : float
        Their noise.
    total : float
    n_ordered : int
        How many leading cells are ordered; the others are only projected.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> found = denoised_histogram(
    ...     100 + 40 * rng.normal(size=50), 40.0, 5000.0, n_ordered=50
    ... )
    >>> bool(np.abs(found - 100).mean() < 10)
    True
    """
    found = counts.copy()
    places = np.flatnonzero(np.isfinite(counts[:n_ordered]))
    if noise_std > 0 and len(places) >= FEWEST:
        seen = counts[places]
        usual = float(np.median(seen))
        limit = max(PEAK_STDS * noise_std, PEAK_TIMES * abs(usual))
        places = places[np.abs(seen - usual) <= limit]
        seen = counts[places]
        if len(places) >= FEWEST and seen.mean() > 0:
            found[places] = _posterior_of_cells(seen, noise_std, places)
    return project_to_total(found, total)


def _posterior_of_cells(
    seen: Floats, noise_std: float, places: NDArray[np.int64]
) -> Floats:
    """Average over all candidates by their evidence, above 0."""
    mean, n = float(seen.mean()), len(seen)
    deviation = (seen - mean) / noise_std  # noise 1
    signal = (np.array(CELL_STRENGTHS) * mean / noise_std) ** 2
    axes = _axes_of_cells if n > KEPT_CELLS else _kept_axes_of_cells
    evidence = [np.array([-0.5 * float((deviation**2).sum())])]
    means, variances = [np.zeros((1, n))], [np.zeros((1, n))]
    for values, vectors in axes(tuple(places.tolist())):
        spread = signal[:, None] * np.maximum(values, 0.0)
        rotated, kept = vectors.T @ deviation, spread / (spread + 1.0)
        fit = rotated**2 / (spread + 1.0) + np.log(spread + 1.0)
        evidence.append(-0.5 * fit.sum(axis=1))
        means.append((kept * rotated) @ vectors.T)
        variances.append(kept @ (vectors**2).T)
    logs, posterior = np.concatenate(evidence), np.concatenate(means)
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    centre = weights @ posterior
    variance = weights @ (np.concatenate(variances) + posterior**2) - centre**2
    std = noise_std * np.sqrt(np.maximum(variance, 1e-12))
    return _above_zero(mean + noise_std * centre, std)


def _axes_of_cells(places: tuple[int, ...]) -> list[tuple[Floats, Floats]]:
    """Return the variances and the axes of each prior of cells at these places."""
    n, at = len(places), np.array(places)
    distance = np.abs(at[:, None] - at[None, :]) / n
    found = []
    for length in CELL_LENGTH_SCALES:
        smooth = np.exp(-distance / length)
        for part in ROUGHNESS:
            prior = part * np.eye(n) + (1 - part) * smooth
            prior -= prior.mean(axis=0)
            prior -= prior.mean(axis=1, keepdims=True)
            values, vectors = np.linalg.eigh(prior)
            found.append((values, vectors))
    return found


_kept_axes_of_cells = lru_cache(maxsize=KEPT)(
    _axes_of_cells
)  # nothing private is in it


def _above_zero(mean: Floats, std: Floats) -> Floats:
    """Return the mean of a normal that is known not to be negative."""
    ratio = mean / std
    near = np.maximum(ratio, -FAR)
    rest = std * np.exp(norm.logpdf(near) - norm.logcdf(near))
    found = np.where(ratio > CERTAIN, mean, mean + rest)
    return np.asarray(np.where(ratio < -FAR, -std / np.minimum(ratio, -FAR), found))


# ----------------------------------------------------------------------------
# Noisy class-conditional histograms, denoised by what is known of their noise.

POWERS = (0.5, 1.0)
LENGTH_SCALES = (0.1, 0.4, 1.6)  # in quantiles of the column
EMPTY = 2.0
IN_GAP = 1.25  # times as much, where no row was found before
OF_OTHER_SIGN = 2.1  # times as much, where all rows that were found have another sign
OF_NOTHING = 0.4  # stds that counts above 0 have on average where there is only noise
STRENGTHS = (0.1, 0.3, 0.9)  # coarse: a fine grid near 0 would be a prior for 0


def class_totals(
    blocks: list[Floats], total: float | None, stds: Floats | None = None
) -> Floats:
    """Estimate the class counts that all histograms of a release contain.

    Column j with k_j cells gives each class count with variance k_j s_j²; they are
    averaged by precision, then projected to sum to ``total`` if that is public.
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
    other_sign: Sequence[int] = (),
    outward: Sequence[Sequence[int]] = (),
    total: tuple[float, float] | None = None,
) -> Floats:
    """Return the counts, with -inf in cells that look empty.

    Discovered bounds are powers of two: months get 1 to 31. A run of ordered cells
    from an end counts as empty while the sum over it and all classes stays below
    ``EMPTY`` stds of its noise, and so do ``rare`` cells, as "missing" and "other",
    one by one; else the noise of such cells would become rows. Of many classes each
    would make some of its own, so rare cells must hold more than that, and ``gaps``, in
    which earlier releases found no row, still more; most of all those of the
    ``other_sign``, since a negative price is worse than a lost one. Gaps in line,
    ``outward`` from the range, are kept up to where their sum passes, too: rows that
    are spread out show in none of them alone. If all rows are counted, with less noise
    than these cells have together, as ``total`` and its std say, few cells are known
    better.

    Examples
    --------
    >>> counts = np.array([[20.0, 50.0, 40.0, -8.0, 6.0, 3.0]])
    >>> without_empty_cells(counts, 5.0, n_ordered=5, rare=[-1]).tolist()
    [[20.0, 50.0, 40.0, -inf, -inf, -inf]]
    """
    result = counts.copy()
    pooled = counts.sum(axis=0)
    limit = EMPTY * noise_std * math.sqrt(len(counts))
    left = np.array([k for k in range(n_ordered) if k not in set(gaps)], dtype=np.int64)
    for _ in range(2):  # from both ends, the second over what the first left
        full = np.cumsum(pooled[left]) > limit * np.sqrt(np.arange(1, len(left) + 1))
        n_empty = int(full.argmax()) if full.any() else 0
        result[:, left[:n_empty]] = -np.inf
        left = left[n_empty:][::-1]
    limit = noise_std * max(EMPTY * math.sqrt(len(counts)), OF_NOTHING * len(counts))
    others = np.isfinite(result[0]).sum() - len(rare) - len(gaps)
    for cell in rare:
        if pooled[cell] <= limit and (others or limit < pooled.max()):
            result[:, cell] = -np.inf
    kept = np.isfinite(result[0])
    if total is not None and noise_std:
        std = noise_std * math.sqrt(len(counts))
        change, variance = _in_line_with(total, pooled[kept], std)
        pooled = pooled + change
        limit *= math.sqrt(variance) / std
    limits = dict.fromkeys(gaps, IN_GAP * limit)
    limits |= dict.fromkeys(other_sign, OF_OTHER_SIGN * limit)
    together = _together(pooled, outward, limits)
    for cell, least in limits.items():
        if cell in together:
            continue
        if pooled[cell] <= least and (others or least < pooled.max()):
            result[:, cell] = -np.inf
    return result


def _in_line_with(
    total: tuple[float, float], counts: Floats, noise_std: float
) -> tuple[float, float]:
    """Return by what a total changes each count, and the variance that is left.

    The total is a mean by precision, of which the sum of these counts is a part.

    Examples
    --------
    >>> _in_line_with((100.0, 0.0), np.array([60.0, 30.0]), 4.0)  # a public total
    (5.0, 8.0)
    >>> _in_line_with((90.0, 32.0**0.5), np.array([60.0, 30.0]), 4.0)  # their own sum
    (0.0, 16.0)
    """
    n, own = len(counts), len(counts) * noise_std**2
    others = 1.0 / own if not total[1] else 1.0 / total[1] ** 2 - 1.0 / own
    if n < 2 or others <= 1e-9 / own:
        return 0.0, noise_std**2
    lacking, weight = total[0] - float(counts.sum()), 1.0
    if total[1]:  # without the part of these counts
        lacking *= 1.0 / total[1] ** 2 / others
        weight = own * others / (own * others + 1.0)
    return weight * lacking / n, noise_std**2 * (1.0 - weight / n)


def _together(
    pooled: Floats, outward: Sequence[Sequence[int]], limits: Mapping[int, float]
) -> set[int]:
    """Return the cells of each line up to where their sum passes, again and again."""
    found: set[int] = set()
    for cells in outward:
        start = 0
        for stop in range(1, len(cells) + 1):
            some = list(cells[start:stop])
            least = max(limits[cell] for cell in some) * math.sqrt(len(some))
            if float(pooled[some].sum()) > least:
                found |= set(some)
                start = stop
    return found


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

    The histogram of each class is projected to the simplex: counts are not negative,
    which says most about rare classes. Their sum is the marginal h, of ordered cells
    the denoised sum of all classes (:func:`denoised_histogram`). The excess f of a
    class is what its projection has above its even share of each cell: it is small,
    sums to 0 and is smooth along ordered cells. Its prior is N(0, t² K) with
    K = P hᵃ ρ hᵃ Pᵀ: a = 1/2 is the Dirichlet's covariance, a = 1 says that class
    shares vary alike in all cells, ρ is the identity or decays exponentially in
    quantiles, and P removes the sum. The noise is known, so evidence and posterior mean
    of every candidate (a, ρ, t) are exact; posterior means are averaged, weighted by
    evidence, and a column without information returns to f = 0.

    If classes are bins of a number, neighbours are alike: the prior of all of them
    together is N(0, t² R ⊗ K), R like ρ along the bins, without their sum, which is 0.
    Noise is alike in all of them but for their size, so both factors have axes of their
    own, and evidence and posterior mean are as exact.

    Parameters
    ----------
    counts : ndarray of shape (n_classes, n_cells)
        Noisy counts.
    noise_std : float
        Their noise.
    totals : ndarray of shape (n_classes,)
        Class counts.
    n_ordered : int
        How many leading cells are ordered; 0 for categories.
    are_bins : bool, default=False
        Whether classes are bins of a number, in order.
    pooled_std : float or None, default=None
        Noise of a cell's sum over classes, if more than these counts is known of it.

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
    shares = totals / total
    rows = zip(counts, totals, strict=True)
    projected = np.array([project_to_total(row, n_class) for row, n_class in rows])
    marginal = projected.sum(axis=0) / total
    excess = projected / total - shares[:, None] * marginal
    if n_ordered:
        pooled = counts.sum(axis=0)
        if pooled_std is None:
            pooled_std = noise_std * math.sqrt(len(totals))
        marginal = denoised_histogram(pooled, pooled_std, total, n_ordered=n_ordered)
        marginal /= total
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
    others = math.sqrt(len(shares) - 1) * shares
    floor = (noise * np.hypot(1 - shares, others))[:, None]  # (n_classes, 1)
    scale = np.sqrt(shares * (1 - shares))[:, None] / floor
    seen = excess / floor  # noise 1
    evidence = [-0.5 * _by_class(seen**2, are_bins)]
    posterior = [np.zeros_like(seen)]
    centre = np.eye(len(marginal)) - marginal[:, None]
    sides = [_axes(scale * one * scale.T) for one in _alike(shares, are_bins)]
    for power in POWERS:
        root = centre * marginal**power
        for correlation in correlations(marginal, n_ordered):
            values, vectors = _axes(root @ correlation @ root.T)
            for strengths, turn in sides:
                rotated = turn.T @ seen @ vectors
                for strength in STRENGTHS:
                    signal = strength**2 * strengths[:, None] * values
                    variance = signal + 1.0
                    fit = rotated**2 / variance + np.log(variance)
                    evidence.append(-0.5 * _by_class(fit, are_bins))
                    mean = signal / variance * rotated
                    posterior.append(turn @ mean @ vectors.T)
    logs = np.array(evidence)  # (candidates, n_classes)
    weights = np.exp(logs - logs.max(axis=0))
    weights /= weights.sum(axis=0)
    mean = np.einsum("gc,gck->ck", weights, np.array(posterior))
    return np.asarray(floor * mean)


def _by_class(fit: Floats, are_bins: bool) -> Floats:
    """Sum over cells; over all classes too, if they have one prior together."""
    sums = fit.sum(axis=1)
    return np.full(len(sums), sums.sum()) if are_bins else sums


def _alike(shares: Floats, are_bins: bool) -> list[Floats]:
    """Prior correlation of classes: none, or along the bins of a number."""
    if not are_bins:
        return [np.eye(len(shares))]
    centre = np.eye(len(shares)) - shares[:, None]
    return [centre @ one @ centre.T for one in correlations(shares, len(shares))]


def _axes(covariance: Floats) -> tuple[Floats, Floats]:
    """Return variances, not negative, and the axes that they belong to."""
    if not np.any(covariance - np.diag(np.diag(covariance))):
        return np.diag(covariance).copy(), np.eye(len(covariance))
    values, vectors = np.linalg.eigh(covariance)
    return np.maximum(values, 0.0), vectors


def correlations(marginal: Floats, n_ordered: int) -> list[Floats]:
    """Prior correlation of cells: along quantiles where ordered, none elsewhere."""
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
