"""How far to trust public rows: the evidence of a release, pooled over columns."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
WEIGHT_STEPS = 50
# Pseudo-counts of cases for and against public rows: a user who gives public rows
# expects them to help.
CASES_FOR, CASES_AGAINST = 9.0, 1.0


def pooled_trust(log_odds: Floats) -> tuple[Floats, float]:
    r"""Return the probability that public rows are right, for each case and overall.

    A case k is a column or a pair. :math:`\ell_k` is the log ratio of the evidence of
    the release with the public prior and without it. The part :math:`\pi` of the cases
    in which public rows are right is estimated from all cases (EM, with pseudo-counts
    of nine cases for them and one against), and is the prior of each:
    :math:`w_k = \pi e^{\ell_k} / (\pi e^{\ell_k} + 1 - \pi)`. So a case whose release
    is mostly noise follows the other cases.

    Examples
    --------
    >>> each, overall = pooled_trust(np.array([9.0, 7.0, 0.0, -9.0]))
    >>> each.round(1).tolist(), round(overall, 1)
    ([1.0, 1.0, 0.8, 0.0], 0.8)
    """
    overall = CASES_FOR / (CASES_FOR + CASES_AGAINST)
    trust = np.full(len(log_odds), overall)
    for _ in range(WEIGHT_STEPS):
        prior = np.log(overall) - np.log1p(-overall)
        trust = 0.5 * (1.0 + np.tanh(0.5 * (log_odds + prior)))
        overall = float(
            (trust.sum() + CASES_FOR) / (len(log_odds) + CASES_FOR + CASES_AGAINST)
        )
    return trust, overall


def pooled_weights(logs: Floats, prior: Floats) -> Floats:
    """Return the probability of each candidate in each case.

    The frequency of a candidate is estimated from all cases (EM), with the positive
    pseudo-counts ``prior``.

    Parameters
    ----------
    logs : ndarray of shape (n_cases, n_candidates)
        Log evidence.
    prior : ndarray of shape (n_candidates,)

    Examples
    --------
    >>> logs = np.array([[9.0, 0.0], [9.0, 0.0], [0.0, 0.0]])
    >>> pooled_weights(logs, np.ones(2)).round(1).tolist()
    [[1.0, 0.0], [1.0, 0.0], [0.7, 0.3]]
    """
    frequencies = prior / prior.sum()
    weights = np.empty_like(logs)
    for _ in range(WEIGHT_STEPS):
        weights = logs + np.log(frequencies)
        weights = np.exp(weights - weights.max(axis=1, keepdims=True))
        weights /= weights.sum(axis=1, keepdims=True)
        frequencies = (weights.sum(axis=0) + prior) / (len(logs) + prior.sum())
    return weights


def prior_of(n_public: int, n: int) -> Floats:
    """Return pseudo-counts of n candidates; the first ``n_public`` are public."""
    return np.repeat(
        [CASES_FOR / n_public, CASES_AGAINST / (n - n_public)],
        [n_public, n - n_public],
    )


def candidates(
    residual: Floats,
    noise: Floats,
    scale: Floats,
    kernels: Sequence[Floats],
    strengths: Sequence[float],
) -> tuple[Floats, Floats]:
    r"""Return log evidence and posterior means of rows under priors N(0, t² K).

    Both are exact, since the noise is known.

    Parameters
    ----------
    residual : ndarray of shape (n, n_cells)
    noise, scale : ndarray of shape (n, 1)
        Standard deviation of the noise of each row, and unit of its prior.
    kernels : sequence of ndarray of shape (n_cells, n_cells) or (n_cells,)
        Covariances, or their diagonals.
    strengths : sequence of float
        Values of t.

    Returns
    -------
    logs : ndarray of shape (n, n_candidates)
    means : ndarray of shape (n, n_candidates, n_cells)
    """
    logs, means = [], []
    last, values, vectors = None, np.empty(0), None
    for kernel in kernels:
        if kernel is not last:
            values, vectors = (kernel, None) if kernel.ndim == 1 else _axes(kernel)
        last = kernel
        rotated = residual if vectors is None else residual @ vectors
        for strength in strengths:
            signal = (strength * scale) ** 2 * np.maximum(values, 0.0)
            total = signal + noise**2
            logs.append(-0.5 * (rotated**2 / total + np.log(total)).sum(axis=1))
            mean = signal / total * rotated
            means.append(mean if vectors is None else mean @ vectors.T)
    return np.stack(logs, axis=1), np.stack(means, axis=1)


def _axes(kernel: Floats) -> tuple[Floats, Floats]:
    """Return the eigenvalues and eigenvectors of a kernel."""
    values, vectors = np.linalg.eigh(kernel)
    return np.asarray(values), np.asarray(vectors)
