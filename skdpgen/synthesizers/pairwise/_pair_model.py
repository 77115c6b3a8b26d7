"""From noisy counts of pairs to a model of all columns."""

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdpgen.privacy import Ledger, OneHot, Release, sensitivity
from skdpgen.synthesizers.opening import PublicTables
from skdpgen.synthesizers.pairwise._affordable import nearest_pairs
from skdpgen.synthesizers.pairwise._pair_release import (
    Levels,
    Pair,
    PairRelease,
    corrected,
    spread_pair,
)
from skdpgen.synthesizers.pairwise._public_relations import PublicPairs, with_relations
from skdpgen.tables import CellGroups, each_group
from skdpgen.training import (
    ClassConditional,
    PairPrior,
    PairTarget,
    Seen,
    column_counts,
    conditional_histogram,
    fit_pair,
    pooled_trust,
    smooth_bins,
    smooth_pair,
    with_public,
)

# ----------------------------------------------------------------------------
# Pairs of columns given the parts of a number: fewer than its bins, and less noise.

Floats = NDArray[np.float64]
HALVES = 2  # of the first look
FEWEST = 3  # of the second


def parts_of_number(known: ClassConditional, task: str | None, n_parts: int) -> Any:
    """Return which bins of a number make up each of its parts; None for classes.

    What two columns say of a number only together does not show in all rows together.
    Relations change slowly along the number, so a few parts tell of them, and add up
    to all rows with less noise than many bins do. Parts are cut by released counts.
    """
    if task != "regression" or len(known.totals) <= n_parts:
        return None
    total = known.totals.sum()
    middle = (np.cumsum(known.totals) - 0.5 * known.totals) / total
    part = np.clip(np.floor(n_parts * middle), 0, n_parts - 1)
    return np.unique(part, return_inverse=True)[1]


def affordable_parts(ledger: Ledger, n_rows: float, widths: list[int]) -> int:
    """Return how many parts the pairs of such widths can have: known noise, known n.

    As many as leave the rows of a cell above its noise, and three at least.

    Examples
    --------
    >>> from skdpgen.privacy import PrivacyBudget
    >>> for epsilon in (1.0, 100.0):
    ...     affordable_parts(Ledger(PrivacyBudget(epsilon, 1e-5)), 10_000, [100] * 20)
    4
    167
    """
    delta = sensitivity(OneHot(1), ledger.budget.adjacency)
    unit = ledger.noise_std(share=ledger.remaining, sensitivity=delta)
    noise = unit * math.sqrt(len(widths)) * float(np.mean(widths))
    return max(int(min(n_rows / noise, n_rows)), FEWEST) if noise else int(n_rows)


def own_of_parts(model: Any) -> dict[Any, tuple[Floats, Any]]:
    """Return what each part of a number has beyond its share of a pair, smoothed.

    And which bins are in which part; of two releases of a pair the later one.
    """
    found: dict[Any, tuple[Floats, Any]] = {}
    for one in model.measured:
        if one.of_class is None:
            continue
        joins = np.eye(int(one.of_class.max()) + 1)[one.of_class].T
        shares = joins @ model.shares
        for pair, counts, std in one.tables(model.groups):
            expected = np.einsum("hc,cab->hab", joins, model.independent(pair))
            excess = counts / model.n_rows - expected
            own = excess - shares[:, None, None] * excess.sum(axis=0)
            variance = (std / model.n_rows) ** 2
            own = smooth_bins(own, variance, *model.priors_of(pair), shares)
            found[pair] = own, one.of_class
    return found


def own_energies(model: Any) -> dict[Any, float]:
    """Return the squared norm of what parts of a number have of their own."""
    return {p: float((own**2).sum()) for p, (own, _) in own_of_parts(model).items()}


def own_of_bins(model: Any) -> dict[Any, Floats]:
    """Return what each bin of a number has beyond its share of a pair.

    Where a pair was counted by parts, a bin has its share of its part.
    """
    found: dict[Any, Floats] = {}
    for pair, (own, of_class) in own_of_parts(model).items():
        shares = np.bincount(of_class, model.shares)
        for c, part in enumerate(of_class):
            found[(*pair, c)] = own[part] * model.shares[c] / shares[part]
    for one in model.measured:
        if not one.by_class:
            continue
        for pair, counts, std in one.tables(model.groups):
            excess = counts / model.n_rows - model.independent(pair)
            mine = excess - model.shares[:, None, None] * excess.sum(axis=0)
            variance = (std / model.n_rows) ** 2
            own = smooth_bins(mine, variance, *model.priors_of(pair), model.shares)
            found |= {(*pair, c): rest for c, rest in enumerate(own)}
    return found


# ----------------------------------------------------------------------------
# What releases, and public rows, say of pairs of columns.

MOST_PUBLIC = 5_000  # pairs that public rows are asked for
BELIEVED = 0.5  # trust that relations need which private rows hardly show
Look = tuple[Floats, float]  # an excess, and the variance of its noise


class PairModel:
    """What is known about pairs: independent columns, and smoothed excess over them.

    Parameters
    ----------
    known : ClassConditional
        Single columns, denoised.
    groups : sequence of CellGroups
    measured : sequence of PairRelease, default=()
    counts, stds : sequence of ndarray and of float, default=()
        Noisy counts of single columns by class, and their noise.
    public : PublicTables or None, default=None
        Counts of public rows.
    are_bins : bool, default=False
        Whether classes are bins of a number, in order.
    """

    def __init__(
        self,
        known: ClassConditional,
        groups: Sequence[CellGroups],
        measured: Sequence[PairRelease] = (),
        counts: Sequence[Floats] = (),
        stds: Sequence[float] = (),
        public: PublicTables | None = None,
        are_bins: bool = False,
    ) -> None:
        self.are_bins = are_bins
        self.groups, self.measured = groups, measured
        self.n_rows = float(known.totals.sum())
        self.shares = np.asarray(known.totals / known.totals.sum())
        tables = zip(groups, known.conditionals.values(), strict=True)
        self.singles = [one.add_up(np.asarray(table)) for one, table in tables]
        self.sizes = [one.n_groups for one in groups]
        self._levels: dict[Pair, Levels] = {}
        for one in measured:
            if one.levels is not None:
                self._levels |= zip(one.pairs, one.levels, strict=True)
        self._priors: dict[tuple[int, int], PairPrior] = {}
        self._commons: tuple[dict[Pair, Floats], float] | None = None
        self._public = None
        if len(counts) and all(stds):
            looks = self._look(known, counts, stds, public)
            if public is not None and public.pairs is not None:
                about = self.singles, self.shares, self.n_rows
                self.singles = with_relations(groups, *looks, *about, public.pairs)
        if public is not None and public.pairs is not None:
            self._public = PublicPairs(public.pairs, self.singles, self.shares)

    @property
    def _by_class(self) -> list[PairRelease]:
        return [one for one in self.measured if one.by_class]

    def _look(
        self,
        known: ClassConditional,
        counts: Sequence[Floats],
        stds: Sequence[float],
        public: PublicTables | None,
    ) -> tuple[list[Floats], list[float]]:
        """Return counts of groups by class, and the variances of their noise.

        Learns single columns from pairs too: each pair adds up to both of them.
        Estimates of a group's count by class are averaged by precision and denoised
        like single columns. What looked empty stays empty.
        """
        means = [one.add_up(c) for one, c in zip(self.groups, counts, strict=True)]
        variances = [
            len(one.of_cell) * std**2 / one.n_groups
            for one, std in zip(self.groups, stds, strict=True)
        ]
        if not self._by_class:
            return means, variances
        for one in self._by_class:
            for pair, table, std in one.tables(self.groups):
                whole = table * (self.n_rows / max(float(table.sum()), 1.0))
                for side, level in enumerate(self._sides(pair)):
                    j, other = pair[side], table.shape[2 - side]
                    seen_here, noise = whole.sum(axis=2 - side), other * std**2
                    means[j], variances[j] = corrected(
                        means[j], variances[j], seen_here, noise, level
                    )
        found: dict[Any, tuple[Floats, Floats]] = {}
        seen = {}
        for j, (name, one) in enumerate(
            zip(known.conditionals, self.groups, strict=True)
        ):
            empty = self.singles[j].max(axis=0) <= 0
            mean = np.where(empty, -np.inf, means[j])
            std = math.sqrt(variances[j])
            found[name] = conditional_histogram(
                mean,
                std,
                known.totals,
                n_ordered=one.n_ordered,
                are_bins=self.are_bins,
            )
            if public is not None:
                theirs = one.add_up(public.columns[name])
                seen[name] = Seen(mean, std, one.n_ordered, theirs)
        if seen:
            marginals = {name: marginal for name, (marginal, _) in found.items()}
            tables = {name: table for name, (_, table) in found.items()}
            today = replace(known, marginals=marginals, conditionals=tables)
            self.singles = list(with_public(today, seen).conditionals.values())
        else:
            self.singles = [table for _, table in found.values()]
        return means, variances

    @property
    def every_pair(self) -> tuple[Pair, ...]:
        """The pairs that public rows are asked for: all, of wide tables the nearest."""
        return nearest_pairs(len(self.groups), MOST_PUBLIC)

    def expected(self, pair: Pair) -> Floats:
        """Return the excess that public rows would have."""
        assert self._public is not None
        return self._public.common(pair)

    def _sides(self, pair: Pair) -> Levels:
        """Return how a pair joins the groups of its columns."""
        if pair in self._levels:
            return self._levels[pair]
        first, second = (each_group(self.groups[j]) for j in pair)
        return first, second

    def shape(self, pair: Pair) -> tuple[int, int]:
        """Return how many groups a pair has of each column."""
        first, second = self._sides(pair)
        return first.n_groups, second.n_groups

    def priors_of(self, pair: Pair) -> tuple[PairPrior, PairPrior]:
        """Return how its columns may take part in the relation of a pair."""
        found = []
        for j, level in zip(pair, self._sides(pair), strict=True):
            key = j, level.n_groups
            if key not in self._priors:
                marginal = level.add_up(self.shares @ self.singles[j])
                self._priors[key] = PairPrior.of(marginal, level.n_ordered)
            found.append(self._priors[key])
        return found[0], found[1]

    def _spread(self, pair: Pair, table: Floats) -> Floats:
        """Return a pair's excess on the groups of its columns."""
        if pair not in self._levels:
            return table
        first, second = (self.shares @ self.singles[j] for j in pair)
        return np.asarray(spread_pair(table, self._levels[pair], (first, second)))

    def independent(self, pair: Pair) -> Floats:
        """Return shares of rows if columns are independent given the class."""
        sides = zip(pair, self._sides(pair), strict=True)
        first, second = (level.add_up(self.singles[j]) for j, level in sides)
        return np.einsum("c,ca,cb->cab", self.shares, first, second)

    def common_excess(self) -> dict[Pair, Look]:
        """Return excess and variance of each pair over all classes, from both looks."""
        found: dict[Pair, Look] = {}
        for one in self.measured:
            for pair, counts, std in one.tables(self.groups):
                whole = counts.sum(axis=0) / self.n_rows
                excess = whole - self.independent(pair).sum(axis=0)
                variance = len(counts) * (std / self.n_rows) ** 2
                if pair in found:
                    other, other_variance = found[pair]
                    total = variance + other_variance
                    weight = other_variance / total if total else 1.0
                    excess = weight * excess + (1 - weight) * other
                    variance = weight * variance
                found[pair] = excess, variance
        return found

    def smooth(self, pair: Pair, found: Look, scale: float = 1.0) -> Floats:
        """Return the posterior mean of an excess."""
        first, second = self.priors_of(pair)
        return smooth_pair(*found, first, second, scale=scale)

    def commons(self) -> tuple[dict[Pair, Floats], float]:
        """Return what pairs have in all classes together, and trust in public rows."""
        if self._commons is None:
            self._commons = self._common_fits()
        found, trust = self._commons
        return dict(found), trust

    def _common_fits(self) -> tuple[dict[Pair, Floats], float]:
        looks = self.common_excess()
        if self._public is None:
            return {pair: self.smooth(pair, look) for pair, look in looks.items()}, 0.0
        centres = {pair: self._public.common(pair) for pair in looks}
        return self._trusting(looks, centres, {})

    def _trusting(self, looks: Any, centres: Any, scales: Any) -> Any:
        """Average what looks say around public centres and around 0, by evidence."""
        fits, odds = {}, []
        for key, (excess, variance) in looks.items():
            first, second = self.priors_of(key[:2])
            scale, centre = scales.get(key, 1.0), centres[key]
            mine, null = fit_pair(excess, variance, first, second, scale=scale)
            rest, log = fit_pair(excess - centre, variance, first, second, scale=scale)
            fits[key] = mine, centre + rest
            odds.append(log - null)
        each, overall = pooled_trust(np.array(odds))
        return {
            key: weight * theirs + (1 - weight) * mine
            for weight, (key, (mine, theirs)) in zip(each, fits.items(), strict=True)
        }, overall

    @property
    def noise(self) -> float:
        """Summed variances of the shares that were measured last."""
        tables = self.measured[-1].tables(self.groups) if self.measured else ()
        return sum(c.size * (std / self.n_rows) ** 2 for _, c, std in tables)

    def energies(self) -> dict[Pair, float]:
        """Return the squared norm of each pair's excess over what is expected of it."""
        commons, trust = self.commons()
        if self._public is not None:
            public = self._public
            commons = {
                pair: found - trust * public.common(pair)
                for pair, found in commons.items()
            }
        return {pair: float((found**2).sum()) for pair, found in commons.items()}

    @property
    def is_believed(self) -> bool:
        """Whether there are relations: measured, or public ones that stood a trial."""
        is_trial = all(one.is_trial for one in self.measured)
        return not is_trial or self.commons()[1] > BELIEVED

    def explained(self) -> float:
        """Return which part of the relations found public rows had told beforehand."""
        if self._public is None:
            return 0.0
        commons, _ = self.commons()
        whole = sum(float((found**2).sum()) for found in commons.values())
        return max(1.0 - sum(self.energies().values()) / whole, 0.0) if whole else 0.0

    def target(self) -> PairTarget:
        """Return what the moments of a model should be."""
        ends = np.cumsum([0, *self.sizes])
        width, n_classes = int(ends[-1]), len(self.shares)
        places = [slice(a, b) for a, b in pairwise(ends)]
        common, seen = np.zeros((width, width)), np.zeros((width, width), dtype=bool)
        commons, trust = self.commons()
        if self._public is not None:
            for pair in self.every_pair:
                if pair not in commons:
                    commons[pair] = trust * self._public.common(pair)
        for (j, k), smooth in commons.items():
            _set(common, places[j], places[k], self._spread((j, k), smooth))
            _set(seen, places[j], places[k], True)
        own = None
        found = self._owns(trust)
        if found:
            own = np.zeros((n_classes, width, width), dtype=np.float32)
        for (j, k, c), rest in found.items():
            assert own is not None
            _set(own[c], places[j], places[k], self._spread((j, k), rest))
        singles = np.concatenate(self.singles, axis=1)
        return PairTarget(singles, self.shares, common, own, seen)

    def _owns(self, trust: float) -> dict[Any, Floats]:
        """Return what each class has beyond its share of a pair's common excess."""
        if self.are_bins and self._public is None:
            return own_of_bins(self)
        looks, scales = {}, {}
        for one in self._by_class:
            for pair, counts, std in one.tables(self.groups):
                excess = counts / self.n_rows - self.independent(pair)
                variance, whole = (std / self.n_rows) ** 2, excess.sum(axis=0)
                others = len(excess) - 1
                for c, (share, mine) in enumerate(
                    zip(self.shares, excess, strict=True)
                ):
                    noise = variance * ((1 - share) ** 2 + others * share**2)
                    looks[(*pair, c)] = mine - share * whole, noise
                    scales[(*pair, c)] = share * (1 - share)
        if self._public is None or not self._public.has_classes:
            return {
                key: self.smooth(key[:2], look, scales[key])
                for key, look in looks.items()
            }
        theirs = {
            (*pair, c): rest
            for pair in self.every_pair
            for c, rest in enumerate(self._public.own(pair))
        }
        found = {}
        if looks:
            found, trust = self._trusting(looks, theirs, scales)
        return {key: trust * rest for key, rest in theirs.items()} | found


def _set(table: Any, rows: slice, columns: slice, values: Any) -> None:
    """Write a pair into both halves of a symmetric table."""
    table[rows, columns] = values
    table[columns, rows] = np.transpose(values)


# ----------------------------------------------------------------------------
# From stored releases to what they say of pairs.


def known_pairs(
    known: ClassConditional,
    released: Release,
    groups: Sequence[CellGroups],
    measured: Sequence[PairRelease],
    task: str | None,
    scales: Sequence[float] | None,
    public: PublicTables | None,
) -> PairModel | None:
    """Return what all releases say of pairs; None if none was measured."""
    if not measured:
        return None
    sizes = [len(one.of_cell) for one in groups]
    counts, stds = column_counts(released, sizes, scales)
    are_bins = task == "regression"
    return PairModel(known, groups, measured, counts, list(stds), public, are_bins)
