"""From noisy counts of pairs to a model of all columns."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from skdpgen.privacy import Ledger, OneHot, Release, sensitivity
from skdpgen.synthesizers.opening import Facts, PublicTables
from skdpgen.synthesizers.pairwise._affordable import nearest_pairs
from skdpgen.synthesizers.pairwise._pair_release import (
    Levels,
    Pair,
    PairRelease,
    corrected,
    corrected_pair,
    joins_of,
    spread_pair,
)
from skdpgen.synthesizers.pairwise._public_relations import PublicPairs, with_relations
from skdpgen.synthesizers.pairwise._target_parts import even_parts
from skdpgen.tables import CellGroups, each_group
from skdpgen.training import (
    ClassConditional,
    NoisyColumn,
    PairPrior,
    PairTarget,
    column_counts,
    conditional_histogram,
    fit_pair,
    have_all_rows,
    pooled_trust,
    shrunk_to_public,
    smooth_classes,
    smooth_numbers,
    smooth_pair,
)
from skdpgen.utils import on_one_thread

# ----------------------------------------------------------------------------
# Pairs of columns by parts of a target: classes, or bins of a number, that are counted
# together where each by itself would have too few rows for its noise.

Floats = NDArray[np.float64]
PairOfClass = tuple[int, int, int]  # two columns, and a class or bin
FIRST_PARTS = 2  # of a target, by which all pairs are first counted
FEWEST_PARTS = 3  # by which some pairs are counted again
ROWS_OF_CELL = 15.0  # least rows of a cell on average, however small the noise is


def parts_of_target(
    denoised: ClassConditional, task: str | None, n_parts: int
) -> NDArray[np.int64] | None:
    """Return the part that each class is counted in; None if each is its own part.

    Relations of two columns jointly with the target do not show in pooled counts. They
    are alike along a number, and in classes that are alike, so a few parts show them,
    and add up to all rows with less noise than many classes do. Parts follow from
    released columns: a number is cut in parts of as many rows, and classes are joined
    two by two, those first whose join loses the least of the differences of columns.
    """
    n_classes = len(denoised.totals)
    if n_classes <= n_parts:
        return None
    if task != "regression":
        return _alike(denoised, n_parts)
    return even_parts(np.asarray(denoised.totals), n_parts)


def _alike(denoised: ClassConditional, n_parts: int) -> NDArray[np.int64]:
    """Join classes by Ward's rule, by square roots of their columns (Hellinger)."""
    tables = [np.asarray(table) for table in denoised.conditionals.values()]
    means = np.sqrt(np.concatenate(tables, axis=1))
    sizes = np.maximum(denoised.totals, 1.0)
    part = np.arange(len(sizes))
    for _ in range(len(sizes) - n_parts):
        squares = ((means[:, None] - means) ** 2).sum(axis=2)
        lost = squares * (sizes[:, None] * sizes / (sizes[:, None] + sizes))
        lost[np.tril_indices(len(sizes))] = np.inf
        first, second = np.unravel_index(lost.argmin(), lost.shape)
        both = sizes[[first, second]]
        means[first] = both @ means[[first, second]] / both.sum()
        sizes[first] = both.sum()
        means, sizes = np.delete(means, second, axis=0), np.delete(sizes, second)
        part[part == second] = first
        part -= part > second
    return part


def affordable_parts(ledger: Ledger, n_rows: float, widths: list[int]) -> int:
    """Return how many parts pairs of given widths can have: known noise, known n.

    The most that leave the rows of a cell above its noise, and enough rows in a cell
    for a share: with less noise, the chance of sampling is what more parts would show.
    Three at least.

    Examples
    --------
    >>> from skdpgen.privacy import PrivacyBudget
    >>> for epsilon in (1.0, 100.0):
    ...     affordable_parts(Ledger(PrivacyBudget(epsilon, 1e-5)), 10_000, [100] * 20)
    4
    6
    """
    delta = sensitivity(OneHot(1), ledger.budget.adjacency)
    unit = ledger.noise_std(share=ledger.remaining, sensitivity=delta)
    least = max(unit * math.sqrt(len(widths)), ROWS_OF_CELL)
    return max(int(n_rows / (least * float(np.mean(widths)))), FEWEST_PARTS)


def part_deviations(
    model: "PairModel",
) -> dict[Pair, tuple[Floats, NDArray[np.int64]]]:
    """Return the smoothed deviation of each part of a target from its share of a pair.

    Also returns the part of each class. Of two releases of a pair, the later one is
    used.
    """
    smoothed: dict[Pair, tuple[Floats, NDArray[np.int64]]] = {}
    for pair_release in reversed(model.measured):
        part = pair_release.parts(len(model.shares))
        if part.max() == 0:
            continue
        joins = np.eye(int(part.max()) + 1)[part].T
        shares = joins @ model.shares
        for pair, _, counts, std in pair_release.tables(model.groups):
            if pair in smoothed:
                continue
            expected = np.einsum("hc,cab->hab", joins, model.independent(pair))
            excess = counts / model.n_rows - expected
            deviations = excess - shares[:, None, None] * excess.sum(axis=0)
            variance = (std / model.n_rows) ** 2
            first, second = model.priors_of(pair)
            deviations = smooth_classes(
                deviations, variance, first, second, shares, are_bins=model.are_bins
            )
            smoothed[pair] = deviations, part
    return smoothed


def part_energies(model: "PairModel") -> dict[Pair, float]:
    """Return the squared norm of the deviations of parts of a target."""
    return {
        p: float((deviations**2).sum())
        for p, (deviations, _) in part_deviations(model).items()
    }


def class_deviations(model: "PairModel") -> dict[PairOfClass, Floats]:
    """Return the deviation of each class from its share of a pair.

    A class, or a bin of a number, gets its share of the part that it was counted in.
    """
    of_classes: dict[PairOfClass, Floats] = {}
    for pair, (deviations, of_class) in part_deviations(model).items():
        shares = np.bincount(of_class, model.shares)
        for c, part in enumerate(of_class):
            share = model.shares[c] / shares[part] if shares[part] else 0.0
            of_classes[(*pair, c)] = deviations[part] * share
    return of_classes


# ----------------------------------------------------------------------------
# Estimates of pairs of columns, from releases and public rows.

MOST_PUBLIC = 5_000  # pairs that are taken from public rows
BELIEVED_TRUST = 0.5  # least, in public relations that private pairs only tested
Estimate = tuple[Floats, float]  # an excess, and the variance of its noise
TOTAL_SPREAD = 0.25  # of the rows: how far a pair's rows may be from all of them
UNCOUNTED = 1e30  # a variance for the infinite one of cells that were not counted
K = TypeVar("K", Pair, PairOfClass)


def to_all_rows(table: Floats, noise_std: float, n_rows: float) -> float:
    """Return the factor that brings noisy counts of a pair to the number of rows.

    Some rows may be in no cell, so the sum of the counts may be smaller. The more noise
    a sum has, the less it is believed: near 0 it would make noise of a large factor.

    Examples
    --------
    >>> counts = np.full((2, 2), 200.0)
    >>> to_all_rows(counts, 0.0, 1000.0), round(to_all_rows(counts, 1e6, 1000.0), 3)
    (1.25, 1.0)
    """
    spread = TOTAL_SPREAD * n_rows
    noise = noise_std**2 * table.size
    weight = spread**2 / (spread**2 + noise) if spread else 1.0
    total = n_rows + weight * (float(table.sum()) - n_rows)
    return n_rows / max(total, 1.0)


class PairModel:
    """Estimates of pairs: independent columns, and smoothed excess over them.

    Parameters
    ----------
    denoised : ClassConditional
        Single columns.
    groups : sequence of CellGroups
    measured : sequence of PairRelease, default=()
    counts, stds : sequence of ndarray and of float, default=()
        Noisy counts of single columns by class, and their noise.
    public : PublicTables or None, default=None
        Counts of public rows.
    are_bins : bool, default=False
        Whether classes are bins of a number, in order.
    earlier : mapping of name to (ndarray, ndarray) or None, default=None
        Counts of cells of all classes together, and their variances.
    """

    def __init__(
        self,
        denoised: ClassConditional,
        groups: Sequence[CellGroups],
        measured: Sequence[PairRelease] = (),
        counts: Sequence[Floats] = (),
        stds: Sequence[float] = (),
        public: PublicTables | None = None,
        are_bins: bool = False,
        earlier: Mapping[Any, tuple[Floats, Floats]] | None = None,
    ) -> None:
        self.are_bins = are_bins
        self.groups, self.measured = groups, measured
        self.n_rows = float(denoised.totals.sum())
        self.shares = np.asarray(denoised.totals / denoised.totals.sum())
        tables = zip(groups, denoised.conditionals.values(), strict=True)
        self.singles = [
            grouping.add_up(np.asarray(table)) for grouping, table in tables
        ]
        self.sizes = [grouping.n_groups for grouping in groups]
        self._levels: dict[Pair, Levels] = {}
        for pair_release in measured:
            if pair_release.levels is not None:
                self._levels |= zip(
                    pair_release.pairs, pair_release.levels, strict=True
                )
        self._priors: dict[tuple[int, int], PairPrior] = {}
        self._commons: tuple[dict[Pair, Floats], float] | None = None
        self._finer: dict[Pair, Floats] = {}  # by copulas, within joined groups
        self._public = None
        if len(counts) and all(stds):
            means, variances = self._group_counts(
                denoised, counts, stds, public, earlier or {}
            )
            if public is not None and public.pairs is not None:
                self.singles = with_relations(
                    groups,
                    means,
                    variances,
                    self.singles,
                    self.shares,
                    self.n_rows,
                    public.pairs,
                )
        if public is not None and public.pairs is not None:
            self._public = PublicPairs(public.pairs, self.singles, self.shares)

    @property
    def _by_class(self) -> list[PairRelease]:
        return [pair_release for pair_release in self.measured if pair_release.by_class]

    def _group_counts(
        self,
        denoised: ClassConditional,
        counts: Sequence[Floats],
        stds: Sequence[float],
        public: PublicTables | None,
        earlier: Mapping[Any, tuple[Floats, Floats]],
    ) -> tuple[list[Floats], list[float]]:
        """Return counts of groups by class, and the variances of their noise.

        Learns single columns from earlier counts of all classes and from pairs, each of
        which adds up to both of its columns: estimates of a group's count by class are
        averaged by precision, and denoised like single columns. Groups that single
        columns estimate as empty stay empty: their count is set to minus infinity.
        """
        n_classes = len(self.shares)
        used = self.measured
        if public is not None:  # public rows say more of columns than pooled counts do
            used, earlier = self._by_class, {}
        means, covariances = [], []
        for name, grouping, count, std in zip(
            denoised.conditionals, self.groups, counts, stds, strict=True
        ):
            mean = grouping.add_up(count)
            variance = len(grouping.of_cell) * std**2 / grouping.n_groups
            covariance = variance * np.eye(n_classes)
            if name in earlier:
                sums = grouping.add_up(earlier[name][0])[None]
                noise = grouping.add_up(np.minimum(earlier[name][1], UNCOUNTED))
                pooled, each = np.zeros(n_classes, np.int64), each_group(grouping)
                mean, covariance = corrected(
                    mean, covariance, sums, noise, each, pooled
                )
            means.append(mean)
            covariances.append(covariance)
        for pair_release in used:
            parts = pair_release.parts(n_classes)
            for pair, sides, table, std in pair_release.tables(self.groups):
                whole = table * to_all_rows(table, std, self.n_rows)
                for side, level in enumerate(sides):
                    j, n_summed = pair[side], table.shape[2 - side]
                    sums, noise = whole.sum(axis=2 - side), n_summed * std**2
                    means[j], covariances[j] = corrected(
                        means[j], covariances[j], sums, noise, level, parts
                    )
        variances = [float(np.trace(one)) / n_classes for one in covariances]
        if not used:
            return means, variances
        counted = {j for pair in self.measured_pairs for j in pair}
        estimates: dict[Any, tuple[Floats, Floats]] = {}
        releases = {}
        for j, (name, grouping) in enumerate(
            zip(denoised.conditionals, self.groups, strict=True)
        ):
            if public is None and j not in counted:  # rows are counted by this column
                estimates[name] = denoised.marginals[name], self.singles[j]
                continue
            empty = self.singles[j].max(axis=0) <= 0
            mean = np.where(empty, -np.inf, means[j])
            std = math.sqrt(variances[j])
            estimates[name] = conditional_histogram(
                mean,
                std,
                denoised.totals,
                n_ordered=grouping.n_ordered,
                are_bins=self.are_bins,
                pooled_std=math.sqrt(covariances[j].sum()),
            )
            if public is not None:
                public_counts = grouping.add_up(public.columns[name])
                releases[name] = NoisyColumn(
                    mean, std, grouping.n_ordered, public_counts
                )
        if releases:
            marginals = {name: marginal for name, (marginal, _) in estimates.items()}
            tables = {name: table for name, (_, table) in estimates.items()}
            updated = replace(denoised, marginals=marginals, conditionals=tables)
            self.singles = list(
                shrunk_to_public(updated, releases).conditionals.values()
            )
        else:
            self.singles = [table for _, table in estimates.values()]
        return means, variances

    @property
    def measured_pairs(self) -> set[Pair]:
        """The pairs that were released."""
        return {pair for pair_release in self.measured for pair in pair_release.pairs}

    @property
    def every_pair(self) -> tuple[Pair, ...]:
        """The pairs taken from public rows: all, of wide tables the nearest."""
        return nearest_pairs(len(self.groups), MOST_PUBLIC)

    def expected(self, pair: Pair) -> Floats:
        """Return the excess that public rows would have."""
        assert self._public is not None
        return self._public.common(pair)

    def sides(self, pair: Pair) -> Levels:
        """Return how a pair joins the groups of its columns."""
        if pair in self._levels:
            return self._levels[pair]
        first, second = (each_group(self.groups[j]) for j in pair)
        return first, second

    def shape(self, pair: Pair) -> tuple[int, int]:
        """Return how many groups a pair has of each column."""
        first, second = self.sides(pair)
        return first.n_groups, second.n_groups

    def priors_of(self, pair: Pair) -> tuple[PairPrior, PairPrior]:
        """Return the priors of both columns in the relation of a pair."""
        priors = []
        for j, level in zip(pair, self.sides(pair), strict=True):
            key = j, level.n_groups
            if key not in self._priors:
                marginal = level.add_up(self.shares @ self.singles[j])
                self._priors[key] = PairPrior.of(marginal, level.n_ordered)
            priors.append(self._priors[key])
        return priors[0], priors[1]

    def _spread(self, pair: Pair, table: Floats) -> Floats:
        """Return a pair's excess on the groups of its columns."""
        if pair not in self._levels:
            return table
        first, second = (self.shares @ self.singles[j] for j in pair)
        return np.asarray(spread_pair(table, self._levels[pair], (first, second)))

    def independent(self, pair: Pair) -> Floats:
        """Return shares of rows if columns are independent given the class."""
        sides = zip(pair, self.sides(pair), strict=True)
        first, second = (level.add_up(self.singles[j]) for j, level in sides)
        return np.einsum("c,ca,cb->cab", self.shares, first, second)

    def common_excess(self) -> dict[Pair, Estimate]:
        """Return excess and variance of each pair over all classes, of all releases.

        The last release of a pair is the finest; earlier ones correct it.
        """
        estimates: dict[Pair, Estimate] = {}
        for pair_release in reversed(self.measured):
            for pair, sides, counts, std in pair_release.tables(self.groups):
                whole = counts.sum(axis=0) / self.n_rows
                independent = self.independent(pair).sum(axis=0)
                variance = len(counts) * (std / self.n_rows) ** 2
                if pair not in estimates:
                    estimates[pair] = whole - independent, variance
                    continue
                joins = joins_of(sides, self.sides(pair))
                expected = joins[0].add_up(joins[1].add_up(independent).T).T
                estimates[pair] = corrected_pair(
                    *estimates[pair], whole - expected, variance, joins
                )
        return estimates

    def smooth(self, pair: Pair, estimate: Estimate, scale: float = 1.0) -> Floats:
        """Return the posterior mean of an excess."""
        first, second = self.priors_of(pair)
        return smooth_pair(*estimate, first, second, scale=scale)

    def _smooth_numbers(self, pair: Pair, estimate: Estimate) -> Floats:
        """Return the posterior mean of an excess, which may be that of a copula.

        Keeps what the copula says of the groups that were joined.
        """
        marginals = (
            self.shares @ self.singles[pair[0]],
            self.shares @ self.singles[pair[1]],
        )
        n_ordered = self.groups[pair[0]].n_ordered, self.groups[pair[1]].n_ordered
        sides = self.sides(pair)
        first, second = (np.eye(level.n_groups)[level.of_cell] for level in sides)
        excess, copula = smooth_numbers(
            *estimate, self.priors_of(pair), marginals, n_ordered, (first, second)
        )
        if pair in self._levels and copula.any():
            joined = first.T @ copula @ second
            self._finer[pair] = copula - self._spread(pair, joined)
        return excess

    def commons(self) -> tuple[dict[Pair, Floats], float]:
        """Return the excess of pairs in all classes, and trust in public rows."""
        if self._commons is None:
            self._commons = self._common_fits()
        fits, trust = self._commons
        return dict(fits), trust

    @on_one_thread
    def _common_fits(self) -> tuple[dict[Pair, Floats], float]:
        estimates = self.common_excess()
        if self._public is None:
            return {
                pair: self._smooth_numbers(pair, estimate)
                for pair, estimate in estimates.items()
            }, 0.0
        centres = {pair: self._public.common(pair) for pair in estimates}
        return self._trusting(estimates, centres, {})

    def _trusting(
        self,
        estimates: Mapping[K, Estimate],
        centres: Mapping[K, Floats],
        scales: Mapping[K, float],
    ) -> tuple[dict[K, Floats], float]:
        """Average fits around public centres and around 0, weighted by evidence.

        Keys are pairs, or pairs with a class.
        """
        fits, odds = {}, []
        for key, (excess, variance) in estimates.items():
            first, second = self.priors_of((key[0], key[1]))
            scale, centre = scales.get(key, 1.0), centres[key]
            around_zero, null = fit_pair(excess, variance, first, second, scale=scale)
            correction, log = fit_pair(
                excess - centre, variance, first, second, scale=scale
            )
            fits[key] = around_zero, centre + correction
            odds.append(log - null)
        each, overall = pooled_trust(np.array(odds))
        return {
            key: weight * around_public + (1 - weight) * around_zero
            for weight, (key, (around_zero, around_public)) in zip(
                each, fits.items(), strict=True
            )
        }, overall

    @property
    def noise(self) -> float:
        """Summed variances of the shares that were measured last."""
        tables = self.measured[-1].tables(self.groups) if self.measured else ()
        return sum(c.size * (std / self.n_rows) ** 2 for _, _, c, std in tables)

    def energies(self) -> dict[Pair, float]:
        """Return the squared norm of the excess of each pair over its expectation."""
        commons, trust = self.commons()
        if self._public is not None:
            public = self._public
            commons = {
                pair: excess - trust * public.common(pair)
                for pair, excess in commons.items()
            }
        return {pair: float((excess**2).sum()) for pair, excess in commons.items()}

    @property
    def is_believed(self) -> bool:
        """Whether there are relations: measured, or public ones that are trusted."""
        is_trial = all(pair_release.is_trial for pair_release in self.measured)
        return not is_trial or self.commons()[1] > BELIEVED_TRUST

    def explained(self) -> float:
        """Return the part of the estimated relations that public rows predicted."""
        if self._public is None:
            return 0.0
        commons, _ = self.commons()
        whole = sum(float((excess**2).sum()) for excess in commons.values())
        return max(1.0 - sum(self.energies().values()) / whole, 0.0) if whole else 0.0

    def target(self) -> PairTarget:
        """Return the target of a model's moments."""
        ends = np.cumsum([0, *self.sizes])
        width, n_classes = int(ends[-1]), len(self.shares)
        places = [slice(a, b) for a, b in pairwise(ends)]
        common, is_measured = (
            np.zeros((width, width)),
            np.zeros((width, width), dtype=bool),
        )
        commons, trust = self.commons()
        if self._public is not None:
            for pair in self.every_pair:
                if pair not in commons:
                    commons[pair] = trust * self._public.common(pair)
        for (j, k), smooth in commons.items():
            finer = self._spread((j, k), smooth) + self._finer.get((j, k), 0.0)
            _set(common, places[j], places[k], finer)
            _set(is_measured, places[j], places[k], True)
        by_class: NDArray[Any] | None = None
        deviations = self._class_deviations(trust)
        if deviations:
            # single precision: it is the largest array
            by_class = np.zeros((n_classes, width, width), dtype=np.float32)
        for (j, k, c), deviation in deviations.items():
            assert by_class is not None
            _set(by_class[c], places[j], places[k], self._spread((j, k), deviation))
        singles = np.concatenate(self.singles, axis=1)
        return PairTarget(
            singles,
            self.shares,
            common,
            by_class,
            is_measured,
            self._part_of_class(),
        )

    def _part_of_class(self) -> NDArray[np.int64] | None:
        """Return the part that a class was counted in last; None if it is by class.

        How a pair differs between the classes of a part is not known. Single columns
        differ much between them, so they are free to share the pair's excess.
        """
        if not self.measured or self._public is not None:
            return None
        n_classes = len(self.shares)
        part = self.measured[-1].parts(n_classes)
        return None if part.max() + 1 == n_classes else part

    def _class_deviations(self, trust: float) -> dict[PairOfClass, Floats]:
        """Return the deviation of each class from its share of a common excess."""
        if self._public is None:
            return class_deviations(self)
        estimates: dict[PairOfClass, Estimate] = {}
        scales: dict[PairOfClass, float] = {}
        for pair_release in self._by_class:
            for pair, _, counts, std in pair_release.tables(self.groups):
                excess = counts / self.n_rows - self.independent(pair)
                variance, whole = (std / self.n_rows) ** 2, excess.sum(axis=0)
                n_others = len(excess) - 1
                for c, (share, class_excess) in enumerate(
                    zip(self.shares, excess, strict=True)
                ):
                    # of the class itself, less its share of the sum of all classes
                    noise = variance * ((1 - share) ** 2 + n_others * share**2)
                    estimates[(*pair, c)] = class_excess - share * whole, noise
                    scales[(*pair, c)] = share * (1 - share)
        if not self._public.has_classes:
            return {
                key: self.smooth((key[0], key[1]), estimate, scales[key])
                for key, estimate in estimates.items()
            }
        public_deviations = {
            (*pair, c): deviation
            for pair in self.every_pair
            for c, deviation in enumerate(self._public.own(pair))
        }
        fits: dict[PairOfClass, Floats] = {}
        if estimates:
            fits, trust = self._trusting(estimates, public_deviations, scales)
        return {
            key: trust * deviation for key, deviation in public_deviations.items()
        } | fits


def _set(
    table: NDArray[Any], rows: slice, columns: slice, values: Floats | bool
) -> None:
    """Write a pair into both halves of a symmetric table."""
    table[rows, columns] = values
    table[columns, rows] = np.transpose(values)


# ----------------------------------------------------------------------------
# From stored releases to a model of pairs.


def known_pairs(
    denoised: ClassConditional,
    released: Release,
    groups: Sequence[CellGroups],
    measured: Sequence[PairRelease],
    facts: Facts,
    scales: Sequence[float] | None,
    public: PublicTables | None,
) -> PairModel | None:
    """Return the model of pairs from all releases; None if none was measured."""
    if not measured:
        return None
    sizes = [len(grouping.of_cell) for grouping in groups]
    counts, stds = column_counts(released, sizes, scales)
    are_bins = facts.task == "regression"
    has_all = have_all_rows(denoised.totals, denoised.total_std, facts.n_rows)
    earlier = facts.earlier if has_all else {}
    return PairModel(
        denoised, groups, measured, counts, list(stds), public, are_bins, earlier
    )
