"""Noisy class-conditional histograms, denoised by what is known of their noise."""

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

LENGTH_SCALES = (0.1, 0.4, 1.6)  # in quantiles of the column
STRENGTHS = (0.0, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6)


def project_to_total(counts: Floats, total: float) -> Floats:
    """Return the nearest non-negative counts with the given sum.

    Examples
    --------
    >>> project_to_total(np.array([5.0, -1.0, 2.0]), 6.0).tolist()
    [4.5, 0.0, 1.5]
    """
    ordered = np.sort(counts)[::-1]
    shift = (np.cumsum(ordered) - total) / np.arange(1, len(counts) + 1)
    last = np.flatnonzero(ordered > shift)
    if not len(last):
        return np.full(len(counts), total / len(counts))
    return np.maximum(counts - shift[last[-1]], 0.0)


def class_totals(blocks: list[Floats], total: float | None) -> Floats:
    """Estimate the class counts that all histograms of a release contain.

    Column j with k_j cells says each class count with variance k_j s²; they are
    averaged with weights 1/k_j, then projected to sum to ``total`` if that is public.
    """
    weights = np.array([1.0 / block.shape[1] for block in blocks])
    sums = np.array([block.sum(axis=1) for block in blocks])  # (columns, classes)
    estimate = weights @ sums / weights.sum()
    if total is None:
        total = max(float(estimate.sum()), 1.0)
    return project_to_total(estimate, total)


def conditional_histogram(
    counts: Floats, noise_std: float, totals: Floats, *, n_ordered: int
) -> tuple[Floats, Floats]:
    """Denoise one column: its marginal, and how its cells share among the classes.

    The marginal is projected to the simplex. What a class has above its even share of
    a cell, f, is small and smooth along ordered cells; it gets the Gaussian-process
    posterior mean K (K + N)^-1 f, K = t² h ρ h with h the marginal and ρ exponential
    in the quantile (identity for categories), N the known noise. t and the length
    scale maximise the evidence, so a column without information returns to f = 0.

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

    Returns
    -------
    marginal : ndarray of shape (n_cells,)
    conditional : ndarray of shape (n_classes, n_cells)
        Rows sum to 1.
    """
    n_classes, n_cells = counts.shape
    total = float(totals.sum())
    marginal = project_to_total(counts.sum(axis=0), total) / total
    shares = totals / total
    excess = (counts - shares[:, None] * counts.sum(axis=0)) / total
    result = np.empty_like(counts)
    for label in range(n_classes):
        scale = math.hypot(1 - shares[label], math.sqrt(n_classes - 1) * shares[label])
        noise = noise_std * scale / total
        smooth = _posterior_mean(excess[label], noise, marginal, n_ordered)
        result[label] = np.maximum(shares[label] * marginal + smooth, 0.0)
    mass = result.sum(axis=1, keepdims=True)
    return marginal, np.where(mass > 0, result / np.maximum(mass, 1e-300), marginal)


def _posterior_mean(
    excess: Floats, noise: float, marginal: Floats, n_ordered: int
) -> Floats:
    if noise == 0.0 or len(excess) == 1:
        return excess
    best, choice = -np.inf, np.zeros_like(excess)
    for correlation in _correlations(marginal, n_ordered):
        kernel = marginal[:, None] * correlation * marginal[None, :]
        values, vectors = np.linalg.eigh(kernel)
        values = np.maximum(values, 0.0)
        rotated = vectors.T @ excess
        for strength in STRENGTHS:
            variance = strength**2 * values + noise**2
            evidence = -0.5 * float(np.sum(rotated**2 / variance + np.log(variance)))
            if evidence > best:
                best = evidence
                gain = strength**2 * values / variance
                choice = vectors @ (gain * rotated)
    return choice


def _correlations(marginal: Floats, n_ordered: int) -> list[Floats]:
    """Prior correlation of cells: along quantiles where ordered, none elsewhere."""
    if n_ordered < 3:
        return [np.eye(len(marginal))]
    middle = np.cumsum(marginal[:n_ordered]) - 0.5 * marginal[:n_ordered]
    distance = np.abs(middle[:, None] - middle[None, :])
    result = []
    for length in LENGTH_SCALES:
        correlation = np.eye(len(marginal))
        correlation[:n_ordered, :n_ordered] = np.exp(-distance / length)
        result.append(correlation)
    return result
