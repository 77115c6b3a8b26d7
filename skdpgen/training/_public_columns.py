"""Single columns, where public rows say what to expect of them."""

import math
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from skdpgen.privacy import Release
from skdpgen.training._single_columns import (
    LENGTH_SCALES,
    POWERS,
    class_sums,
    class_totals,
    conditional_histogram,
    correlations,
    project_to_total,
    without_empty_cells,
)
from skdpgen.training._trust import candidates, pooled_weights, prior_of
from skdpgen.utils import Key, on_one_thread, saved

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
    def is_full(self) -> NDArray[np.bool_]:
        """Which cells were not found to be empty."""
        return np.asarray(np.isfinite(self.counts).all(axis=0))


def with_public(
    today: "ClassConditional", seen: Mapping[Any, Seen]
) -> "ClassConditional":
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


def _marginals(
    today: "ClassConditional", seen: Mapping[Any, Seen], total: float
) -> dict[Any, Floats]:
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

    full: NDArray[np.bool_]  # cells that are not empty
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
        noise, scale = (np.concatenate([one, one]) for one in (noise, scale))
        logs, means = candidates(both, noise, scale, kernels, STRENGTHS)
        every = np.concatenate(np.split(logs, 2), axis=1)
        means = means[: len(raw)]
        return cls(full, marginal, shares, mine, even, theirs, every, means)

    def combined(self, weights: Floats) -> Floats:
        """Return conditionals, given how probable candidates are in each class."""
        assert self.even is not None  # `of` sets all four, or none
        assert self.theirs is not None
        assert self.means is not None
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


def _given(table: Floats, full: NDArray[np.bool_]) -> Floats:
    """Return rows that sum to 1, on all cells."""
    result = np.zeros((len(table), len(full)))
    result[:, full] = table / np.maximum(table.sum(axis=1, keepdims=True), LEAST)
    return result


def _n_full(full: NDArray[np.bool_], n_ordered: int) -> int:
    return int(full[:n_ordered].sum())


def _without_mean(rows: Floats) -> Floats:
    return rows - rows.mean(axis=1, keepdims=True)


def _centred(kernel: Floats) -> Floats:
    """Return the kernel of what is left without its mean over cells."""
    kernel = kernel - kernel.mean(axis=0)
    return np.asarray(kernel - kernel.mean(axis=1, keepdims=True))


# ----------------------------------------------------------------------------
# How often classes are, where public rows say what to expect.

LEAST_SHARE = 0.25  # of its public share, that a class keeps if noise may hide it


def public_labels(columns: Sequence[Floats]) -> Floats:
    """Return how many public rows each class has; of one class if none is known.

    A row without a cell in a column is not counted there: the fullest column says it.

    Examples
    --------
    >>> public_labels([np.array([[3.0, 0.0], [1.0, 1.0]]), np.array([[3.0], [1.0]])])
    array([3., 2.])
    """
    return np.asarray(max((one.sum(axis=1) for one in columns), key=np.sum))


def trusted_totals(
    totals: Floats, noisy: Floats, noise_std: float, public: Floats, *, are_bins: bool
) -> Floats:
    """Return class counts, shrunk to public shares as far as the release agrees.

    A class that is rarer than its noise would else be lost, or be any size. The
    evidence is that of single columns (``with_public``), of a column of classes. Noise
    alone makes no class vanish: a part of its public share is left, at most the noise.

    Parameters
    ----------
    totals : ndarray of shape (n_classes,)
        Class counts without public rows.
    noisy : ndarray of shape (n_classes,)
        As they were released.
    noise_std : float
        Of each of them.
    public : ndarray of shape (n_classes,) or (1,)
        Public rows of each class, if they are known.
    are_bins : bool
        Whether classes are bins of a number, in order.

    Examples
    --------
    >>> noisy = np.array([380.0, -15.0])
    >>> shares = {"noise_std": 30.0, "public": np.array([370.0, 30.0])}
    >>> trusted_totals(np.array([400.0, 0.0]), noisy, **shares, are_bins=False)[1] > 10
    np.True_
    """
    if len(public) != len(totals) or len(totals) == 1:
        return totals
    total = float(totals.sum())
    n_ordered = len(totals) if are_bins else 0
    logs, means = looks_at(
        noisy / total, public + OF_CELL, noise_std / total, n_ordered
    )
    prior = prior_of(len(means), len(means) + len(WIDE))
    weights = pooled_weights(logs, prior)[0, : len(means)]
    trust = float(weights.sum())
    noise = noise_std / total
    least = np.minimum(LEAST_SHARE * public / max(public.sum(), LEAST), noise)
    theirs = np.maximum(weights @ means / max(trust, LEAST), least)
    theirs = project_to_total(theirs, 1.0)
    theirs = np.maximum(theirs, least) / np.maximum(theirs, least).sum()
    return np.asarray(trust * total * theirs + (1 - trust) * totals)


# ----------------------------------------------------------------------------
# The class-conditional model: every column by itself, given the class.

ALL, SURE = 0.98, 4.0  # of the rows have a class, or noise stds less
SHORTEST = 3  # lattices shorter than this keep their ends


class ColumnCells(Protocol):
    """What must be known about a column's cells; attributes that are only read."""

    @property
    def n_cells(self) -> int: ...

    @property
    def n_known(self) -> int: ...

    @property
    def nullable(self) -> bool: ...

    @property
    def is_ordered(self) -> bool: ...

    @property
    def is_lattice(self) -> bool: ...

    @property
    def other(self) -> int | None: ...

    @property
    def gaps(self) -> tuple[int, ...]: ...


@saved("model.columns_by_class")
@dataclass(frozen=True)
class ClassConditional:
    """Denoised counts: of each class, and of each column's cells in it."""

    totals: Floats  # (n_classes,)
    total_std: float  # noise of their sum
    marginals: Mapping[Any, Floats]  # name -> (n_cells,)
    conditionals: Mapping[Any, Floats]  # name -> (n_classes, n_cells)

    @property
    def shares(self) -> Floats:
        """Share of each class."""
        return np.asarray(self.totals / self.totals.sum())


@on_one_thread
def class_conditional_model(
    released: Release,
    cells: Mapping[Any, ColumnCells],
    n_rows: float | None,
    discovered: Container[Any],
    scales: Sequence[float] | None = None,
    earlier: Mapping[Any, tuple[Floats, Floats]] | None = None,
    n_counted: float = 0.0,
    are_bins: bool = False,
    public: Mapping[Any, Floats] | None = None,
) -> ClassConditional:
    """Denoise released histograms, column by column.

    Parameters
    ----------
    released : Release
        With a block ``Key.COLUMNS`` of joint histograms.
    cells : mapping of name to cells
        The columns, in the order of the release.
    n_rows : float or None
        Number of rows, if it is public and every row counts.
    discovered : container of names
        Columns whose range is not public knowledge: its empty ends are left out.
        What no row may have at all, as "missing", is left out of any that seems to
        have none.
    scales : sequence of float or None
        What one row counts in each column; None means 1.
    earlier : mapping of name to (ndarray, ndarray) or None
        Counts of cells that were released before, all classes together, and their
        variances; they join the new ones, if nearly all rows have a class.
    n_counted : float, default=0
        Rows that were counted before.
    are_bins : bool, default=False
        Whether classes are bins of a number, in order.
    public : mapping of name to ndarray or None
        Counts of public rows, (n_classes, n_cells) or (1, n_cells): what to expect.
    """
    sizes = np.array([column.n_cells for column in cells.values()])
    blocks, stds = column_counts(released, sizes, scales)
    totals = class_totals(blocks, n_rows, stds)
    std_of_class = inverse_root_sum(stds**2 * sizes)
    total_std = math.sqrt(len(totals)) * std_of_class
    if public and std_of_class:
        theirs = public_labels(list(public.values()))
        noisy = class_sums(blocks, stds)
        totals = trusted_totals(totals, noisy, std_of_class, theirs, are_bins=are_bins)
    has_all = totals.sum() + SURE * total_std > ALL * n_counted
    known = earlier if earlier and has_all else {}
    marginals, conditionals = {}, {}
    seen: dict[Any, Seen] = {}
    for (name, column), counts, std in zip(cells.items(), blocks, stds, strict=True):
        pooled_std = std * math.sqrt(len(counts))
        if name in known:
            counts = joined(counts, std, *known[name])
            pooled_std = _joined_std(pooled_std, known[name][1])
        n_ordered = column.n_known if column.is_ordered else 0
        may_cut = column.is_lattice and n_ordered >= SHORTEST and name in discovered
        counts = without_empty_cells(
            counts,
            pooled_std / math.sqrt(len(counts)),
            n_ordered=n_ordered if may_cut else 0,
            rare=_may_be_empty(column),
            gaps=column.gaps,
            other_sign=_of_other_sign(column),
            outward=_outward(column),
            total=(float(totals.sum()), total_std if n_rows is None else 0.0),
        )
        marginals[name], conditionals[name] = conditional_histogram(
            counts,
            std,
            totals,
            n_ordered=n_ordered,
            are_bins=are_bins,
            pooled_std=pooled_std,
        )
        if public and std:
            seen[name] = Seen(counts, std, n_ordered, public[name])
    found = ClassConditional(totals, total_std, marginals, conditionals)
    return with_public(found, seen) if seen else found


def joined(
    counts: Floats, noise_std: float, earlier: Floats, variances: Floats
) -> Floats:
    """Return counts that agree with what was counted before, as far as noise allows.

    The two estimates of a cell's total are averaged by precision, and the difference
    is shared by the classes alike, since their noise is: the least squares solution.

    Examples
    --------
    >>> joined(np.array([[4.0], [6.0]]), 1.0, np.array([16.0]), np.array([2.0])).T
    array([[5.5, 7.5]])
    """
    own = len(counts) * noise_std**2
    weight = own / (own + variances) if own else np.zeros(len(variances))
    return np.asarray(counts + weight * (earlier - counts.sum(axis=0)) / len(counts))


def _joined_std(noise_std: float, variances: Floats) -> float:
    """Return the usual noise of a cell of all classes that was counted twice.

    Examples
    --------
    >>> round(_joined_std(3.0, np.array([9.0, 9.0])) ** 2, 6)
    4.5
    >>> _joined_std(3.0, np.array([np.inf])), _joined_std(0.0, np.array([0.0]))
    (3.0, 0.0)
    """
    own = noise_std**2
    if not own or not variances.all():
        return 0.0
    return float(np.sqrt(np.mean(own / (1.0 + own / variances))))


def _may_be_empty(column: ColumnCells) -> list[int]:
    """Return the cells that stand for what may not be there at all."""
    cells = [] if column.other is None else [column.other]
    return [*cells, column.n_cells - 1] if column.nullable else cells


def column_counts(
    released: Release,
    sizes: Sequence[int] | NDArray[np.intp],
    scales: Sequence[float] | None = None,
) -> tuple[list[Floats], Floats]:
    """Return the noisy counts of each column, (n_classes, n_cells), and their noise."""
    units = np.ones(len(sizes)) if scales is None else np.asarray(scales, dtype=float)
    blocks = np.split(released.values[Key.COLUMNS], np.cumsum(sizes)[:-1], axis=1)
    blocks = [block / unit for block, unit in zip(blocks, units, strict=True)]
    return blocks, released.noise_std[Key.COLUMNS] / units


def inverse_root_sum(variances: Floats) -> float:
    """Return the std of the best mean of estimates with the given variances."""
    if not variances.all():
        return 0.0
    return float(1.0 / math.sqrt((1.0 / variances).sum()))


def _outward(column: ColumnCells) -> list[list[int]]:
    """Return the gaps at both ends, each from the range outward."""
    gaps, n = set(column.gaps), column.n_known
    inside = [k for k in range(n) if k not in gaps] if gaps else []
    if not inside:
        return []
    return [list(range(inside[0]))[::-1], list(range(inside[-1] + 1, n))]


def _of_other_sign(column: Any) -> list[int]:
    """Return the gaps of negative numbers, where every other cell is not negative."""
    numbers = getattr(column, "numbers", column)
    if not column.gaps or numbers.is_time:
        return []
    below = {k for k, end in enumerate(numbers.edges[1:]) if end <= 0}
    return sorted(below) if below <= set(column.gaps) else []
