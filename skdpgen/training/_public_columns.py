"""Single columns, where public rows say what to expect of them."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdpgen.training._denoised_cells import project_to_total
from skdpgen.training._smoothing import LENGTH_SCALES, POWERS, correlations
from skdpgen.training._trust import candidates, pooled_weights, prior_of

Floats = NDArray[np.float64]
STRENGTHS = (0.0, 0.03, 0.1, 0.3, 0.9)  # of what private rows have beyond public ones
WIDE = (0.3, 1.0, 3.0, 9.0)  # of what any column may have beyond even cells
OF_CELL = 0.5  # rows that every cell is given before public rows are counted
SOFT = 0.1  # of a cell's scale does not go by public rows
MANY = 256  # categories: relations between their shares are left out
ROUNDS, CLOSE = 30, 1e-6
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

    @property
    def is_full(self) -> Any:
        """Which cells were not found to be empty."""
        return np.isfinite(self.counts).all(axis=0)


def with_public(today: Any, seen: Mapping[Any, Seen]) -> Any:
    r"""Return columns given the class, shrunk towards what public rows have.

    First the marginal. Its prior is :math:`N(q, t^2 K)`, q the public marginal and K as
    for the excess of a class (see ``conditional_histogram``); against it stands a prior
    around even cells, under which the column stays as it is without public rows. Then
    what classes have beyond their shares: around the public excess, moved to the new
    marginal, or around 0. Evidence is exact in all of them and decides; what is usual
    among columns, as how far private and public ones are apart, is learnt from all.
    """
    shares = np.asarray(today.totals / today.totals.sum())
    total = float(today.totals.sum())
    marginals = _marginals(today, seen, total)
    looks = {
        name: _Excess.of(
            one,
            marginals[name],
            _moved(today.conditionals[name], today.marginals[name], marginals[name]),
            shares,
            total,
        )
        for name, one in seen.items()
    }
    conditionals = {name: one.without for name, one in looks.items()}
    told = {name: one for name, one in looks.items() if one.logs is not None}
    if told:
        logs = np.concatenate([one.logs for one in told.values()])
        weights = pooled_weights(logs, prior_of(logs.shape[1] // 2, logs.shape[1]))
        parts = np.split(weights, len(told))
        for (name, one), weight in zip(told.items(), parts, strict=True):
            conditionals[name] = one.combined(weight)
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
    left, above = np.ones(table.shape[:-1]), np.ones(np.shape(columns))
    for _ in range(ROUNDS):
        before = left
        left = rows / np.maximum((table @ above[..., None])[..., 0], LEAST)
        above = columns / np.maximum((left[..., None, :] @ table)[..., 0, :], LEAST)
        if (np.abs(left - before) <= CLOSE * left).all():
            break
    return np.asarray(left[..., None] * table * above[..., None, :])


def looks_at(
    raw: Floats, public: Floats, noise: float, n_ordered: int
) -> tuple[Floats, Floats]:
    """Return log evidence of noisy shares around public and even ones, and means.

    The last of the former are those around even shares; means are of the others.
    """
    unit = np.ones((1, 1))
    public = public / public.sum()
    even = np.full(len(raw), 1.0 / len(raw))
    softer = (1 - SOFT) * public + SOFT * even
    kernels = _kernels(softer, n_ordered, None)
    near = _without_mean((raw - public)[None])
    logs, means = candidates(near, noise * unit, unit, kernels, STRENGTHS)
    far = _without_mean((raw - even)[None])
    null, _ = candidates(far, noise * unit, unit, [even**2], WIDE)
    return np.concatenate([logs, null], axis=1), public + means[0]


def _marginals(today: Any, seen: Mapping[Any, Seen], total: float) -> dict[Any, Floats]:
    """Return marginals: shrunk to public ones, as far as these can be trusted."""
    noise_of_one = math.sqrt(len(today.totals)) / total
    found = []
    for one in seen.values():
        full = one.is_full
        raw = one.counts[:, full].sum(axis=0) / total
        public = public_shares(one.public)[0][full]
        noise = noise_of_one * one.noise_std
        found.append(
            (full, *looks_at(raw, public, noise, _n_full(full, one.n_ordered)))
        )
    logs = np.concatenate([log for _, log, _ in found])
    weights = pooled_weights(logs, prior_of(logs.shape[1] - len(WIDE), logs.shape[1]))
    marginals = {}
    for name, weight, (full, _, means) in zip(seen, weights, found, strict=True):
        mine = today.marginals[name]
        trusted = weight[: len(means)]
        mean = trusted @ means / max(trusted.sum(), LEAST)
        theirs = np.zeros(len(full))
        theirs[full] = project_to_total(mean, 1.0)
        marginals[name] = trusted.sum() * theirs + (1 - trusted.sum()) * mine
    return marginals


@dataclass(frozen=True, eq=False)
class _Excess:
    """What classes have beyond their share of a column's cells, as candidates say."""

    full: Any  # cells that are not empty
    marginal: Floats
    shares: Floats
    without: Floats  # conditionals without public rows
    even: Floats | None = None  # shares if all classes were alike
    theirs: Floats | None = None  # the public excess
    logs: Floats | None = None  # (n_classes, candidates): public ones, then others
    means: Floats | None = None  # of public ones

    @classmethod
    def of(
        cls, one: Seen, marginal: Floats, mine: Floats, shares: Floats, total: float
    ) -> "_Excess":
        """Look at a column around the public excess, and around 0."""
        full = (marginal > 0) & one.is_full
        marginal = marginal[full] / marginal[full].sum()
        if len(one.public) != len(shares) or len(shares) == 1:
            return cls(full, marginal, shares, mine)
        even = shares[:, None] * marginal
        raw = _without_mean(one.counts[:, full] / total - even)
        public = public_shares(one.public)[1][:, full]
        theirs = raked(shares[:, None] * public, shares, marginal) - even
        is_huge = len(marginal) > MANY
        centre = None if is_huge else np.eye(len(marginal)) - marginal[:, None]
        kernels = _kernels(marginal, _n_full(full, one.n_ordered), centre)
        noise = np.full((len(shares), 1), one.noise_std / total)
        scale = np.sqrt(shares * (1 - shares))[:, None]
        both = np.concatenate([raw - theirs, raw])  # kernels are taken apart once
        twice = (np.concatenate([one, one]) for one in (noise, scale))
        logs, means = candidates(both, *twice, kernels, STRENGTHS)
        every = np.concatenate(np.split(logs, 2), axis=1)
        means = means[: len(raw)]
        return cls(full, marginal, shares, mine, even, theirs, every, means)

    def combined(self, weights: Floats) -> Floats:
        """Return conditionals, given how probable candidates are in each class."""
        trusted = weights[:, : weights.shape[1] // 2]
        trust = trusted.sum(axis=1, keepdims=True)
        mean = np.einsum("cg,cgk->ck", trusted / np.maximum(trust, LEAST), self.means)
        table = np.maximum(self.even + self.theirs + mean, 0.0)
        theirs = _given(raked(table, self.shares, self.marginal), self.full)
        return np.asarray(trust * theirs + (1 - trust) * self.without)


def _moved(given: Floats, before: Floats, after: Floats) -> Floats:
    """Return columns given the class, changed as little as their marginal was.

    What cells lose they lose in proportion, what they gain all classes gain alike.
    """
    kept = np.minimum(after / np.maximum(before, LEAST), 1.0)
    found = given * kept + np.maximum(after - before, 0.0)
    return np.asarray(found / np.maximum(found.sum(axis=1, keepdims=True), LEAST))


def _kernels(marginal: Floats, n_ordered: int, centre: Floats | None) -> list[Floats]:
    """Return h^a rho h^a for all candidates, without sums; as many for categories.

    Of very many categories only the diagonal, which nearly is all of it.
    """
    found = []
    for power in POWERS:
        scale = marginal**power
        if len(marginal) > MANY and n_ordered < 3:
            found += [scale**2] * (1 + len(LENGTH_SCALES))
            continue
        some = []
        for correlation in correlations(marginal, n_ordered):
            kernel = scale[:, None] * correlation * scale
            if centre is not None:
                kernel = centre @ kernel @ centre.T
            some.append(_centred(kernel))
        found += some if len(some) > 1 else some * (1 + len(LENGTH_SCALES))
    return found


def _given(table: Floats, full: Any) -> Floats:
    """Return rows that sum to 1, on all cells."""
    result = np.zeros((len(table), len(full)))
    result[:, full] = table / np.maximum(table.sum(axis=1, keepdims=True), LEAST)
    return result


def _n_full(full: Any, n_ordered: int) -> int:
    return int(full[:n_ordered].sum())


def _without_mean(rows: Floats) -> Floats:
    return rows - rows.mean(axis=1, keepdims=True)


def _centred(kernel: Floats) -> Floats:
    """Return the kernel of what is left without its mean over cells."""
    kernel = kernel - kernel.mean(axis=0)
    return np.asarray(kernel - kernel.mean(axis=1, keepdims=True))
