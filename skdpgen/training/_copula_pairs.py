"""Relations of two numbers that move together: normal copulas explain their pair."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from skdpgen.training._pairs import PairPrior, fit_pair

Floats = NDArray[np.float64]
Integers = NDArray[np.integer[Any]]
Two = tuple[Floats, Floats]  # of both columns
CORRELATIONS = (0.15, 0.3, 0.45, 0.6, 0.72, 0.82, 0.9, 0.95, 0.98, 0.995)
RELATED_PARTS = (1.0, 0.8, 0.6, 0.4)  # of the rows; others have no relation
FEWEST_GROUPS = 3  # of a column, ordered
CLEAR_CORRELATION = 3.0  # noise stds from which copulas are considered
N_COMPARED = 3  # copulas, with their deviations; the others fit worse
NODES, WEIGHTS = np.polynomial.legendre.leggauss(6)
N_RAKED = 3  # rounds in which tables get their marginals exactly
TINY = 1e-12
FARTHEST_SCORE = 4.0  # that a score may be
LEAST_SHARE = 1e-9  # of a cell, where something is divided by it


def scores_of(shares: Floats, order: Integers) -> Floats:
    """Return the normal score of each cell: its mean, if cells have this order.

    Examples
    --------
    >>> scores_of(np.array([0.5, 0.5]), np.array([0, 1])).round(3)
    array([-0.798,  0.798])
    """
    fractions = shares[order] / max(float(shares.sum()), LEAST_SHARE)
    ends = np.concatenate([[0.0], np.minimum(np.cumsum(fractions), 1.0)])
    # what norm.pdf has, without looking at each end anew
    densities = np.exp(-(ndtri(ends) ** 2) / 2.0) / np.sqrt(2.0 * np.pi)
    drops = -np.diff(densities) / np.maximum(fractions, LEAST_SHARE)
    scores = np.empty(len(order))
    scores[order] = np.clip(drops, -FARTHEST_SCORE, FARTHEST_SCORE)
    return scores


def copula_excesses(
    marginals: Two, n_ordered: tuple[int, int], correlations: Floats
) -> Floats:
    """Return the excess over independence of a pair with a normal copula.

    Groups that are not ordered, as missing values are, have no excess.

    Parameters
    ----------
    marginals : pair of ndarray
        Shares of the groups of both columns.
    n_ordered : pair of int
        Number of leading groups that are ordered.
    correlations : ndarray of shape (n_correlations,)

    Returns
    -------
    ndarray of shape (n_correlations, n_groups, n_groups of the other)

    Examples
    --------
    >>> halves = np.array([0.5, 0.5])
    >>> copula_excesses((halves, halves), (2, 2), np.array([0.6])).round(3).tolist()
    [[[0.102, -0.102], [-0.102, 0.102]]]
    """
    ordered = [h[:n] for h, n in zip(marginals, n_ordered, strict=True)]
    mass = [max(float(h.sum()), TINY) for h in ordered]
    first, second = (h / total for h, total in zip(ordered, mass, strict=True))
    ends = [np.concatenate([[0.0], np.cumsum(h)]) for h in (first, second)]
    places = ends[0][:-1, None] + first[:, None] * (NODES + 1) / 2
    scores = ndtri(np.clip(places, TINY, 1 - TINY))  # (groups, nodes)
    limits = ndtri(np.clip(ends[1], 0.0, 1.0))
    limits[0], limits[-1] = -np.inf, np.inf
    excesses = np.zeros((len(correlations), *map(len, marginals)))
    independent = np.outer(first, second)
    for excess, correlation in zip(excesses, correlations, strict=True):
        spread = np.sqrt(1.0 - correlation**2)
        below = ndtr((limits - correlation * scores[:, :, None]) / spread)
        table = first[:, None] * np.einsum("anb,n->ab", np.diff(below), WEIGHTS / 2)
        for _ in range(N_RAKED):
            table *= second / np.maximum(table.sum(axis=0), TINY)
            table *= (first / np.maximum(table.sum(axis=1), TINY))[:, None]
        rows = mass[0] * mass[1] * (table - independent)
        excess[: len(first), : len(second)] = rows
    return excesses


def smooth_numbers(
    excess: Floats,
    variance: float,
    priors: tuple[PairPrior, PairPrior],
    marginals: Two,
    n_ordered: tuple[int, int],
    joins: Two,
) -> Two:
    r"""Return the posterior mean of a pair's excess, and what is finer than its groups.

    The prior of :func:`smooth_pair` has its mean at 0. Numbers that move together lie
    along a diagonal, which no smooth prior around 0 expects. So here means are also
    normal copulas of all rows or of a part of them, :math:`w C_r`, with deviations from
    them as before. The noise is known, so the evidence of each is exact, and all are
    averaged by it. A copula knows its table on any groups: what it says on those that
    were joined for the release is returned as well.

    Copulas are considered where the correlation of normal scores exceeds its noise
    clearly, and only those are compared that fit best without deviations.

    Parameters
    ----------
    excess : ndarray of shape (n_joined, n_joined of the other)
        Noisy, of joined groups.
    variance : float
        Of the noise of each entry.
    priors : pair of PairPrior
        Of joined groups.
    marginals, n_ordered
        Of the groups, as for :func:`copula_excesses`.
    joins : pair of ndarray of shape (n_groups, n_joined)
        1 where a group is part of a joined one.

    Returns
    -------
    mean : ndarray of shape (n_joined, n_joined of the other)
    centre : ndarray of shape (n_groups, n_groups of the other)
        Of copulas, by their evidence.

    Examples
    --------
    >>> even, one = np.full(4, 0.25), np.eye(4)
    >>> prior = PairPrior.of(even, 4)
    >>> noisy = copula_excesses((even, even), (4, 4), np.array([0.9]))[0]
    >>> mean, centre = smooth_numbers(
    ...     noisy, 1e-4, (prior, prior), (even, even), (4, 4), (one, one)
    ... )
    >>> bool(np.abs(mean - noisy).max() < 0.005), bool(centre[0, 0] > 0.1)
    (True, True)
    """
    base, log = fit_pair(excess, variance, *priors)
    centre = np.zeros(tuple(map(len, marginals)))
    n_joined = [
        int((join[:n].sum(axis=0) > 0).sum())
        for join, n in zip(joins, n_ordered, strict=True)
    ]
    if not variance or min(n_joined) < FEWEST_GROUPS:
        return base, centre
    scores = [
        scores_of((h[:n] @ join[:n])[:k], np.arange(k))
        for h, n, join, k in zip(marginals, n_ordered, joins, n_joined, strict=True)
    ]
    correlation = float(scores[0] @ excess[: n_joined[0], : n_joined[1]] @ scores[1])
    noise = np.sqrt(variance) * np.prod([np.linalg.norm(each) for each in scores])
    if abs(correlation) <= CLEAR_CORRELATION * noise:
        return base, centre
    candidates = copula_excesses(
        marginals, n_ordered, np.sign(correlation) * np.array(CORRELATIONS)
    )
    candidates = (np.array(RELATED_PARTS)[:, None, None, None] * candidates).reshape(
        -1, *centre.shape
    )
    joined = joins[0].T @ candidates @ joins[1]
    gains = (joined * (2 * excess - joined)).sum(axis=(1, 2))
    means, logs, centres = [base], [log], [centre]
    for best in np.argsort(-gains)[:N_COMPARED]:
        deviation, evidence = fit_pair(excess - joined[best], variance, *priors)
        means.append(joined[best] + deviation)
        logs.append(evidence - float(np.log(len(candidates))))
        centres.append(candidates[best])
    weights = np.exp(np.array(logs) - max(logs))
    weights /= weights.sum()
    return (
        np.einsum("i,iab->ab", weights, np.array(means)),
        np.einsum("i,iab->ab", weights, np.array(centres)),
    )
