"""Single columns, where public rows say what to expect of them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdpgen.training._smoothing import (
    POWERS,
    correlations,
    project_to_total,
)
from skdpgen.training._trust import averaged, pooled_trust

Floats = NDArray[np.float64]
STRENGTHS = (0.03, 0.1, 0.3, 0.9)  # of what private rows have beyond public ones
WIDE = (0.3, 1.0, 3.0, 9.0)  # of what any column may have beyond even cells
OF_CELL = 0.5  # rows that every cell is given before public rows are counted
ROUNDS = 30
LEAST = 1e-12


@dataclass(frozen=True, eq=False)
class Seen:
    """Released counts of a column, and what is known of it.

    Parameters
    ----------
    counts : ndarray of shape (n_classes, n_cells)
        Noisy; -inf where a cell was found to be empty.
    noise_std : float
    n_ordered : int
    public : ndarray of shape (n_classes, n_cells) or (1, n_cells)
        Counts of public rows, by class if their labels are known.
    """

    counts: Floats
    noise_std: float
    n_ordered: int
    public: Floats


def with_public(
    today: Any, seen: Mapping[Any, Seen]
) -> Any:
    r"""Return columns given the class, shrunk towards what public rows have.

    First the marginal. Its prior is :math:`N(q, t^2 K)`, q the public marginal and K as
    for the excess of a class (see ``conditional_histogram``); against it stands a prior
    around even cells, under which the column stays as it is without public rows. Then
    what classes have beyond their shares: around the public excess, moved to the new
    marginal, or around 0. Evidence is exact in all of them and decides; it is pooled
    over columns.
    """
    names = list(seen)
    shares = np.asarray(today.totals / today.totals.sum())
    total = float(today.totals.sum())
    marginals = _marginals(today, seen, total)
    found = [
        _excess(
            seen[name], marginals[name], today.conditionals[name], shares, total
        )
        for name in names
    ]
    conditionals = {name: mine for name, (_, mine, _) in zip(names, found, strict=True)}
    has_labels = any(len(one.public) > 1 for one in seen.values())
    if has_labels and len(shares) > 1:
        odds = np.array([odds for _, _, odds in found])  # (columns, classes)
        trust = pooled_trust(odds.ravel())[0].reshape(odds.shape)
        for name, weight, (theirs, mine, _) in zip(names, trust, found, strict=True):
            conditionals[name] = weight[:, None] * theirs + (1 - weight[:, None]) * mine
    return replace(today, marginals=marginals, conditionals=conditionals)


def public_shares(counts: Floats) -> tuple[Floats, Floats]:
    """Return the marginal of public counts, and each class; few rows say little.

    Examples
    --------
    >>> public_shares(np.array([[3.0, 0.0], [0.0, 0.0]]))[1].round(2).tolist()
    [[0.97, 0.03], [0.88, 0.12]]
    """
    n_cells = counts.shape[1]
    whole = counts.sum(axis=0) + OF_CELL
    marginal = whole / whole.sum()
    given = counts + OF_CELL * n_cells * marginal
    return marginal, given / given.sum(axis=1, keepdims=True)


def raked(table: Floats, rows: Floats, columns: Floats) -> Floats:
    """Scale rows and columns of a table until it has the given sums.

    Examples
    --------
    >>> raked(np.ones((2, 2)), np.array([1.0, 3.0]), np.array([2.0, 2.0])).tolist()
    [[0.5, 0.5], [1.5, 1.5]]
    """
    table = np.maximum(table, LEAST)
    for _ in range(ROUNDS):
        table = table * (rows / np.maximum(table.sum(axis=-1), LEAST))[..., None]
        sums = np.maximum(table.sum(axis=-2), LEAST)
        table = table * (columns / sums)[..., None, :]
    return table


def _marginals(today: Any, seen: Mapping[Any, Seen], total: float) -> dict[Any, Floats]:
    """Return marginals: shrunk to public ones, as far as these can be trusted."""
    n_classes = len(today.totals)
    theirs, odds = {}, []
    for name, one in seen.items():
        full = np.isfinite(one.counts).all(axis=0)
        raw = one.counts[:, full].sum(axis=0) / total
        public = public_shares(one.public)[0][full]
        public = public / public.sum()
        even = np.full(len(raw), 1.0 / len(raw))
        noise = np.full((1, 1), math.sqrt(n_classes) * one.noise_std / total)
        unit = np.ones((1, 1))
        kernels = [
            np.diag(public**power) @ correlation @ np.diag(public**power)
            for power in POWERS
            for correlation in correlations(public, _n_full(full, one.n_ordered))
        ]
        wide = [np.diag(even**2)]
        fits = []
        for centre, some, strengths in (
            (public, kernels, (0.0, *STRENGTHS)),
            (even, wide, WIDE),
        ):
            residual = raw - centre
            residual = (residual - residual.mean())[None]
            some = [_centred(kernel) for kernel in some]
            mean, log = averaged(residual, noise, unit, some, strengths)
            fits.append((centre + mean[0], float(log[0])))
        moved = np.zeros(len(full))
        moved[full] = project_to_total(fits[0][0], 1.0)
        theirs[name] = moved
        odds.append(fits[0][1] - fits[1][1])
    weights, _ = pooled_trust(np.array(odds))
    return {
        name: weight * theirs[name] + (1 - weight) * today.marginals[name]
        for name, weight in zip(seen, weights, strict=True)
    }


def _excess(
    one: Seen, marginal: Floats, mine: Floats, shares: Floats, total: float
) -> tuple[Floats, Floats, Floats]:
    """Return conditionals with the public excess and without, and log odds of it."""
    full = (marginal > 0) & np.isfinite(one.counts).all(axis=0)
    marginal = marginal[full] / marginal[full].sum()
    without = _given(raked(shares[:, None] * mine[:, full], shares, marginal), full)
    if len(one.public) != len(shares) or len(shares) == 1:
        return without, without, np.zeros(len(shares))
    even = shares[:, None] * marginal
    raw = one.counts[:, full] / total - even
    raw -= raw.mean(axis=1, keepdims=True)
    public = public_shares(one.public)[1][:, full]
    theirs = raked(shares[:, None] * public, shares, marginal) - even
    centre = np.eye(len(marginal)) - marginal[:, None]
    kernels = [
        _centred(centre @ np.diag(marginal**power) @ correlation
        @ np.diag(marginal**power) @ centre.T)
        for power in POWERS
        for correlation in correlations(marginal, _n_full(full, one.n_ordered))
    ]
    noise = np.full((len(shares), 1), one.noise_std / total)
    scale = np.sqrt(shares * (1 - shares))[:, None]
    strengths = (0.0, *STRENGTHS)
    mean, log = averaged(raw - theirs, noise, scale, kernels, strengths)
    _, null = averaged(raw, noise, scale, kernels, strengths)
    table = np.maximum(even + theirs + mean, 0.0)
    table = raked(table, shares, marginal)
    return _given(table, full), without, log - null


def _given(table: Floats, full: Any) -> Floats:
    """Return rows that sum to 1, on all cells."""
    result = np.zeros((len(table), len(full)))
    result[:, full] = table / np.maximum(table.sum(axis=1, keepdims=True), LEAST)
    return result


def _n_full(full: Any, n_ordered: int) -> int:
    return int(full[:n_ordered].sum())


def _centred(kernel: Floats) -> Floats:
    """Return the kernel of what is left without its mean over cells."""
    kernel = kernel - kernel.mean(axis=0)
    return np.asarray(kernel - kernel.mean(axis=1, keepdims=True))
