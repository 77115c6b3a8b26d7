"""Single columns given the class, with a prior from public rows if there are any."""

import math
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from skdpgen.privacy import Release
from skdpgen.training._single_columns import (
    FEWEST_SPARSE,
    LENGTH_SCALES,
    POWERS,
    class_sums,
    class_totals,
    conditional_histogram,
    correlations,
    project_to_total,
    sparse_histogram,
    without_empty_cells,
)
from skdpgen.training._trust import candidates, pooled_weights, prior_of
from skdpgen.utils import (
    Key,
    on_one_thread,
    saved,
)

Floats = NDArray[np.float64]
# Standard deviations of priors: of differences between private and public rows, and of
# differences between any column and equal cells.
STRENGTHS = (0.0, 0.03, 0.1, 0.3, 0.9)
WIDE_STRENGTHS = (0.3, 1.0, 3.0, 9.0)
CELL_PSEUDO_COUNT = 0.5  # in public rows
EVEN_PART = 0.1  # of a cell's prior scale: it does not depend on public rows
EMPTY_CLASS_STDS = 0.5  # a class of so few rows is not seen
UNLABELLED_STDS = 2.0  # by which noise may hide that rows have no class: then all have
MANY_CATEGORIES = 256  # above, covariances between cells are ignored
RAKING_ROUNDS, RAKING_TOLERANCE = 30, 1e-6
LEAST_POSITIVE = 1e-12  # stands for 0 where something is divided by it


@dataclass(frozen=True, eq=False)
class NoisyColumn:
    """Released counts of a column, and public counts of the same cells.

    Parameters
    ----------
    counts : ndarray of shape (n_classes, n_cells)
        Noisy; -inf for a cell that was judged to be empty.
    noise_std : float
    n_ordered : int
        Number of leading cells that are ordered.
    public : ndarray of shape (n_classes, n_cells) or (1, n_cells)
        Counts of public rows, by class if their labels are known.
    """

    counts: Floats
    noise_std: float
    n_ordered: int
    public: Floats

    @property
    def is_full(self) -> NDArray[np.bool_]:
        """Whether a cell was not judged to be empty."""
        return np.asarray(np.isfinite(self.counts).all(axis=0))


def shrunk_to_public(
    without_public: "ClassConditional", columns: Mapping[Any, NoisyColumn]
) -> "ClassConditional":
    r"""Return columns given the class, shrunk towards public rows.

    First the marginal. Its prior is :math:`N(q, t^2 K)`, with q the public marginal and
    K as for the excess of a class (see ``conditional_histogram``). The alternative is a
    prior around equal cells, under which the estimate without public rows is kept. Then
    the excess of classes over their shares: its prior is around the public excess,
    moved to the new marginal, or around 0. Candidates are weighted by their exact
    evidence; their frequencies, such as the distance between private and public rows,
    are estimated from all columns.
    """
    shares = np.asarray(without_public.totals / without_public.totals.sum())
    total = float(without_public.totals.sum())
    marginals = _marginals(without_public, columns, total)
    excesses = {
        name: _Excess.of(
            column,
            marginals[name],
            _with_marginal(
                without_public.conditionals[name],
                without_public.marginals[name],
                marginals[name],
            ),
            shares,
            total,
        )
        for name, column in columns.items()
    }
    conditionals = {name: excess.without_public for name, excess in excesses.items()}
    with_evidence = {
        name: excess for name, excess in excesses.items() if excess.logs is not None
    }
    if with_evidence:
        logs = np.concatenate([excess.logs for excess in with_evidence.values()])
        weights = pooled_weights(logs, prior_of(logs.shape[1] // 2, logs.shape[1]))
        parts = np.split(weights, len(with_evidence))
        for (name, excess), weight in zip(with_evidence.items(), parts, strict=True):
            conditionals[name] = excess.combined(weight)
    return replace(without_public, marginals=marginals, conditionals=conditionals)


def public_shares(counts: Floats) -> tuple[Floats, Floats]:
    """Return the marginal of public counts, and each class shrunk towards it.

    Examples
    --------
    >>> public_shares(np.array([[3.0, 0.0], [0.0, 0.0]]))[1].round(2).tolist()
    [[0.97, 0.03], [0.88, 0.12]]
    """
    n_cells = counts.shape[1]
    whole = counts.sum(axis=0) + CELL_PSEUDO_COUNT
    marginal = whole / whole.sum()
    given = counts + CELL_PSEUDO_COUNT * n_cells * marginal
    return marginal, given / given.sum(axis=1, keepdims=True)


def raked(table: Floats, rows: Floats, columns: Floats) -> Floats:
    """Scale rows and columns of a table until they have the given sums (raking).

    Examples
    --------
    >>> raked(np.ones((2, 2)), np.array([1.0, 3.0]), np.array([2.0, 2.0])).tolist()
    [[0.5, 0.5], [1.5, 1.5]]
    """
    table = np.maximum(table, LEAST_POSITIVE)
    left, above = np.ones(table.shape[:-1]), np.ones(np.shape(columns))
    for _ in range(RAKING_ROUNDS):
        before = left
        left = rows / np.maximum((table @ above[..., None])[..., 0], LEAST_POSITIVE)
        above = columns / np.maximum(
            (left[..., None, :] @ table)[..., 0, :], LEAST_POSITIVE
        )
        if (np.abs(left - before) <= RAKING_TOLERANCE * left).all():
            break
    return np.asarray(left[..., None] * table * above[..., None, :])


def evidence_around_public(
    raw: Floats, public: Floats, noise: float, n_ordered: int
) -> tuple[Floats, Floats]:
    """Return log evidence of priors around public and equal shares, and means.

    The evidence of priors around equal shares comes last. Posterior means are those of
    the priors around public shares.
    """
    unit = np.ones((1, 1))
    public = public / public.sum()
    even = np.full(len(raw), 1.0 / len(raw))
    softer = (1 - EVEN_PART) * public + EVEN_PART * even
    kernels = _kernels(softer, n_ordered, None)
    around_public = _without_mean((raw - public)[None])
    logs, means = candidates(around_public, noise * unit, unit, kernels, STRENGTHS)
    around_even = _without_mean((raw - even)[None])
    null, _ = candidates(around_even, noise * unit, unit, [even**2], WIDE_STRENGTHS)
    return np.concatenate([logs, null], axis=1), public + means[0]


def _marginals(
    without_public: "ClassConditional", columns: Mapping[Any, NoisyColumn], total: float
) -> dict[Any, Floats]:
    """Return marginals, shrunk to public ones as far as the evidence supports these."""
    noise_of_one = math.sqrt(len(without_public.totals)) / total
    evidence = []
    for column in columns.values():
        full = column.is_full
        raw = column.counts[:, full].sum(axis=0) / total
        public = public_shares(column.public)[0][full]
        noise = noise_of_one * column.noise_std
        n_ordered = _n_ordered_full(full, column.n_ordered)
        evidence.append((full, *evidence_around_public(raw, public, noise, n_ordered)))
    logs = np.concatenate([log for _, log, _ in evidence])
    weights = pooled_weights(
        logs, prior_of(logs.shape[1] - len(WIDE_STRENGTHS), logs.shape[1])
    )
    marginals = {}
    for name, weight, (full, _, means) in zip(columns, weights, evidence, strict=True):
        alone = without_public.marginals[name]
        trusted = weight[: len(means)]
        mean = trusted @ means / max(trusted.sum(), LEAST_POSITIVE)
        with_public = np.zeros(len(full))
        with_public[full] = project_to_total(mean, 1.0)
        marginals[name] = trusted.sum() * with_public + (1 - trusted.sum()) * alone
    return marginals


@dataclass(frozen=True, eq=False)
class _Excess:
    """The excess of classes over their share of each cell, by candidate priors."""

    full: NDArray[np.bool_]  # cells that are not empty
    marginal: Floats
    shares: Floats
    without_public: Floats  # conditionals without public rows
    even: Floats | None = None  # shares if all classes were alike
    public_excess: Floats | None = None  # the public excess
    logs: Floats | None = None  # (n_classes, candidates): public ones, then others
    means: Floats | None = None  # of public ones

    @classmethod
    def of(
        cls,
        column: NoisyColumn,
        marginal: Floats,
        without_public: Floats,
        shares: Floats,
        total: float,
    ) -> "_Excess":
        """Compute evidence of priors around the public excess and around 0."""
        full = (marginal > 0) & column.is_full
        marginal = marginal[full] / marginal[full].sum()
        if len(column.public) != len(shares) or len(shares) == 1:
            return cls(full, marginal, shares, without_public)
        even = shares[:, None] * marginal
        raw = _without_mean(column.counts[:, full] / total - even)
        public = public_shares(column.public)[1][:, full]
        public_excess = raked(shares[:, None] * public, shares, marginal) - even
        is_huge = len(marginal) > MANY_CATEGORIES
        centre = None if is_huge else np.eye(len(marginal)) - marginal[:, None]
        kernels = _kernels(marginal, _n_ordered_full(full, column.n_ordered), centre)
        noise = np.full((len(shares), 1), column.noise_std / total)
        scale = np.sqrt(shares * (1 - shares))[:, None]
        residuals = np.concatenate(
            [raw - public_excess, raw]
        )  # kernels are taken apart once
        noise, scale = (np.concatenate([x, x]) for x in (noise, scale))
        logs, means = candidates(residuals, noise, scale, kernels, STRENGTHS)
        all_logs = np.concatenate(np.split(logs, 2), axis=1)
        means = means[: len(raw)]
        return cls(
            full, marginal, shares, without_public, even, public_excess, all_logs, means
        )

    def combined(self, weights: Floats) -> Floats:
        """Return conditionals, given how probable candidates are in each class."""
        assert self.even is not None  # `of` sets all four, or none
        assert self.public_excess is not None
        assert self.means is not None
        trusted = weights[:, : weights.shape[1] // 2]
        trust = trusted.sum(axis=1, keepdims=True)
        mean = np.einsum(
            "cg,cgk->ck", trusted / np.maximum(trust, LEAST_POSITIVE), self.means
        )
        table = np.maximum(self.even + self.public_excess + mean, 0.0)
        with_public = _given(raked(table, self.shares, self.marginal), self.full)
        return np.asarray(trust * with_public + (1 - trust) * self.without_public)


def _with_marginal(conditional: Floats, before: Floats, after: Floats) -> Floats:
    """Return columns given the class, adjusted to a new marginal.

    A cell that loses rows loses them in proportion in all classes. A cell that gains
    rows gains the same share in each class.
    """
    kept = np.minimum(after / np.maximum(before, LEAST_POSITIVE), 1.0)
    moved = conditional * kept + np.maximum(after - before, 0.0)
    return np.asarray(
        moved / np.maximum(moved.sum(axis=1, keepdims=True), LEAST_POSITIVE)
    )


def _kernels(marginal: Floats, n_ordered: int, centre: Floats | None) -> list[Floats]:
    """Return h^a rho h^a for all candidates, without sums.

    Categories have no order, so their kernels are repeated: all columns must have
    equally many candidates. For very many categories only the diagonal is returned;
    other entries are small.
    """
    kernels = []
    for power in POWERS:
        scale = marginal**power
        if len(marginal) > MANY_CATEGORIES and n_ordered < 3:
            kernels += [scale**2] * (1 + len(LENGTH_SCALES))
            continue
        kernels_of_power = []
        for correlation in correlations(marginal, n_ordered):
            kernel = scale[:, None] * correlation * scale
            if centre is not None:
                kernel = centre @ kernel @ centre.T
            kernels_of_power.append(_centred(kernel))
        kernels += (
            kernels_of_power
            if len(kernels_of_power) > 1
            else kernels_of_power * (1 + len(LENGTH_SCALES))
        )
    return kernels


def _given(table: Floats, full: NDArray[np.bool_]) -> Floats:
    """Return rows that sum to 1, on all cells."""
    result = np.zeros((len(table), len(full)))
    result[:, full] = table / np.maximum(
        table.sum(axis=1, keepdims=True), LEAST_POSITIVE
    )
    return result


def _n_ordered_full(full: NDArray[np.bool_], n_ordered: int) -> int:
    return int(full[:n_ordered].sum())


def _without_mean(rows: Floats) -> Floats:
    return rows - rows.mean(axis=1, keepdims=True)


def _centred(kernel: Floats) -> Floats:
    """Return the kernel of what is left without its mean over cells."""
    kernel = kernel - kernel.mean(axis=0)
    return np.asarray(kernel - kernel.mean(axis=1, keepdims=True))


# ----------------------------------------------------------------------------
# Class counts, with a prior from public rows.

LEAST_SHARE = 0.25  # part of its public share that a class keeps, at most the noise


def public_labels(columns: Sequence[Floats]) -> Floats:
    """Return the number of public rows of each class; of one class without labels.

    A column does not count rows without a cell, so the column with most rows is used.

    Examples
    --------
    >>> public_labels([np.array([[3.0, 0.0], [1.0, 1.0]]), np.array([[3.0], [1.0]])])
    array([3., 2.])
    """
    return np.asarray(max((counts.sum(axis=1) for counts in columns), key=np.sum))


def trusted_totals(
    totals: Floats, noisy: Floats, noise_std: float, public: Floats, *, are_bins: bool
) -> Floats:
    """Return class counts, shrunk to public shares as far as the evidence supports it.

    The count of a class that is smaller than its noise would else be lost, or be far
    too large. Evidence is computed as for a single column (``shrunk_to_public``). Noise
    alone never removes a class: it keeps a part of its public share, at most the noise.

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
    logs, means = evidence_around_public(
        noisy / total, public + CELL_PSEUDO_COUNT, noise_std / total, n_ordered
    )
    prior = prior_of(len(means), len(means) + len(WIDE_STRENGTHS))
    weights = pooled_weights(logs, prior)[0, : len(means)]
    trust = float(weights.sum())
    noise = noise_std / total
    smallest = np.minimum(
        LEAST_SHARE * public / max(public.sum(), LEAST_POSITIVE), noise
    )
    public_estimate = np.maximum(weights @ means / max(trust, LEAST_POSITIVE), smallest)
    public_estimate = project_to_total(public_estimate, 1.0)
    public_estimate = (
        np.maximum(public_estimate, smallest)
        / np.maximum(public_estimate, smallest).sum()
    )
    return np.asarray(trust * total * public_estimate + (1 - trust) * totals)


# ----------------------------------------------------------------------------
# The class-conditional model: columns that are independent given the class.

# Earlier counts are used if at least this part of the rows has a class; the estimate of
# this part may be low by this number of noise stds.
NEARLY_ALL, SURE_STDS = 0.98, 4.0
SHORTEST_LATTICE = 3  # with fewer cells, lattices keep their empty ends


class ColumnCells(Protocol):
    """Attributes of a column's cells that denoising reads."""

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
        Columns whose range is not public: cells at its ends that seem to be empty are
        dropped. In all columns, cells that may have no row at all, such as "missing",
        are dropped if they seem to be empty.
    scales : sequence of float or None
        Weight of one row in each column; None means 1.
    earlier : mapping of name to (ndarray, ndarray) or None
        Counts of cells that were released before, of all classes together, and their
        variances. They are joined with the new counts if nearly all rows have a class.
    n_counted : float, default=0
        Rows in the earlier counts. If the noise may hide that some of them have no
        class, all count: the sum over a long list of categories is hardly known.
    are_bins : bool, default=False
        Whether classes are bins of a number, in order. Other classes may be a long
        list: those that show no rows have a total of 0, and their noise is left out.
    public : mapping of name to ndarray or None
        Counts of public rows, (n_classes, n_cells) or (1, n_cells), for the prior.
    """
    sizes = np.array([column.n_cells for column in cells.values()])
    blocks, stds = column_counts(released, sizes, scales)
    totals = class_totals(blocks, n_rows, stds)
    std_of_class = inverse_root_sum(stds**2 * sizes)
    total_std = math.sqrt(len(totals)) * std_of_class
    noisy_total = float(totals.sum())
    change = abs(noisy_total - n_counted)
    if n_rows is None and n_counted and change <= UNLABELLED_STDS * total_std:
        totals = class_totals(blocks, n_counted, stds)
    if not are_bins and len(totals) >= FEWEST_SPARSE and std_of_class:
        total = float(totals.sum())
        totals = sparse_histogram(class_sums(blocks, stds), std_of_class, total)
        is_empty = totals < EMPTY_CLASS_STDS * std_of_class
        if not is_empty.all():
            totals = project_to_total(np.where(is_empty, -np.inf, totals), total)
    if public and std_of_class:
        public_counts = public_labels(list(public.values()))
        noisy = class_sums(blocks, stds)
        totals = trusted_totals(
            totals, noisy, std_of_class, public_counts, are_bins=are_bins
        )
    has_all = have_all_rows(totals, total_std, n_counted)
    earlier_counts = earlier if earlier and has_all else {}
    marginals, conditionals = {}, {}
    noisy_columns: dict[Any, NoisyColumn] = {}
    pooled_stds = pooled_noise(released, blocks, stds)
    for (name, column), counts, std, of_cells in zip(
        cells.items(), blocks, stds, pooled_stds, strict=True
    ):
        pooled_std, gaps = std * math.sqrt(len(counts)), list(column.gaps)
        if name in earlier_counts:
            counts = join_counts(counts, of_cells**2, *earlier_counts[name])
            variances = earlier_counts[name][1]
            pooled_std = _std_of_joined(np.full(len(variances), pooled_std), variances)
            gap_std = _std_of_joined(of_cells[gaps], variances[gaps]) if gaps else 0.0
        else:
            gap_std = float(of_cells[gaps].max()) if gaps else 0.0
        n_ordered = column.n_known if column.is_ordered else 0
        may_cut = (
            column.is_lattice and n_ordered >= SHORTEST_LATTICE and name in discovered
        )
        counts = without_empty_cells(
            counts,
            pooled_std / math.sqrt(len(counts)),
            n_ordered=n_ordered if may_cut else 0,
            rare=_maybe_empty_cells(column),
            gaps=gaps,
            gap_std=gap_std,
            other_sign=_negative_gaps(column),
            outward=_outward_gaps(column),
            total=(noisy_total, total_std if n_rows is None else 0.0),
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
            noisy_columns[name] = NoisyColumn(counts, std, n_ordered, public[name])
    model = ClassConditional(totals, total_std, marginals, conditionals)
    return shrunk_to_public(model, noisy_columns) if noisy_columns else model


def have_all_rows(totals: Floats, total_std: float, n_counted: float) -> bool:
    """Return whether nearly all of the rows counted earlier have a class."""
    return bool(totals.sum() + SURE_STDS * total_std > NEARLY_ALL * n_counted)


def pooled_noise(
    released: Release, blocks: Sequence[Floats], stds: Floats
) -> list[Floats]:
    """Return the noise of each cell of each column, all classes together."""
    if released.of_cells is not None:
        return [
            float(std) * np.asarray(factors)
            for std, factors in zip(stds, released.of_cells, strict=True)
        ]
    return [
        np.full(block.shape[1], float(std) * math.sqrt(len(block)))
        for block, std in zip(blocks, stds, strict=True)
    ]


def join_counts(
    counts: Floats, variance: Floats, earlier: Floats, earlier_variance: Floats
) -> Floats:
    """Join counts by class with earlier counts of all classes: least squares.

    The two estimates of a cell's total are averaged, weighted by precision. The
    correction is divided equally among the classes, which have equal noise.

    Examples
    --------
    >>> counts, two = np.array([[4.0], [6.0]]), np.array([2.0])
    >>> join_counts(counts, two, np.array([16.0]), two).T
    array([[5.5, 7.5]])
    """
    both = variance + earlier_variance
    weight = np.divide(variance, both, out=np.zeros(len(both)), where=variance > 0)
    return np.asarray(counts + weight * (earlier - counts.sum(axis=0)) / len(counts))


def _std_of_joined(noise_stds: Floats, variances: Floats) -> float:
    """Return the root mean square noise of cells that were counted twice.

    Examples
    --------
    >>> three = np.array([3.0])
    >>> round(_std_of_joined(three, np.array([9.0])) ** 2, 6)
    4.5
    >>> _std_of_joined(three, np.array([np.inf])), _std_of_joined(three, np.zeros(1))
    (3.0, 0.0)
    """
    if not noise_stds.all() or not variances.all():
        return 0.0
    return float(np.sqrt(np.mean(noise_stds**2 / (1.0 + noise_stds**2 / variances))))


def _maybe_empty_cells(column: ColumnCells) -> list[int]:
    """Return the cells "other" and "missing", which may have no row at all."""
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


def _outward_gaps(column: ColumnCells) -> list[list[int]]:
    """Return the gaps at both ends of the range, each listed outward."""
    gaps, n = set(column.gaps), column.n_known
    inside = [k for k in range(n) if k not in gaps] if gaps else []
    if not inside:
        return []
    return [list(range(inside[0]))[::-1], list(range(inside[-1] + 1, n))]


def _negative_gaps(column: Any) -> list[int]:
    """Return the gaps of negative numbers, if no other cell has negative numbers."""
    numbers = getattr(column, "numbers", column)
    if not column.gaps or numbers.is_time:
        return []
    below = {k for k, end in enumerate(numbers.edges[1:]) if end <= 0}
    return sorted(below) if below <= set(column.gaps) else []
