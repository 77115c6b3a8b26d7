"""The order of releases: columns, products, parities, all pairs, then the strongest."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from skdpgen.privacy import (
    Ledger,
    OneHot,
    Release,
    release,
    sensitivity,
)
from skdpgen.synthesizers.models import ScoreProducts, single_columns
from skdpgen.synthesizers.opening import (
    Fitting,
    Measured,
    Opening,
    cell_scales,
    class_histograms,
    count_public,
    count_public_pairs,
    n_classes_of,
    release_columns,
    with_shared_gaps,
)
from skdpgen.synthesizers.pairwise._affordable import (
    affordable_pairs,
    nearest_pairs,
    pair_groups,
    public_pairs,
    usual_pair_budget,
    widest_groups,
    worth_measuring,
    worth_refining,
)
from skdpgen.synthesizers.pairwise._correlations import measure_products
from skdpgen.synthesizers.pairwise._focus import (
    on_the_diagonal,
    pair_weights,
    with_stratum,
)
from skdpgen.synthesizers.pairwise._pair_model import (
    FIRST_PARTS,
    PairModel,
    affordable_parts,
    part_energies,
    parts_of_target,
)
from skdpgen.synthesizers.pairwise._pair_release import (
    Levels,
    Pair,
    PairRelease,
    column_groups,
    each_pair,
    finest_groups,
    kind_of_parts,
    n_cells,
    pair_levels,
    release_pairs,
)
from skdpgen.synthesizers.pairwise._parities import (
    ParityRelease,
    cut_at_half,
    measure_parities,
    plan_parities,
)
from skdpgen.synthesizers.pairwise._two_levels import (
    FINE_SHARE,
    groups_by_class,
    measure_two_levels,
)
from skdpgen.tables import CellGroups, Cells
from skdpgen.training import ClassConditional
from skdpgen.utils import Key, saved

# ----------------------------------------------------------------------------
# What the releases leave to the estimator.


@saved("measured.pairs")
@dataclass(frozen=True, eq=False, kw_only=True)
class MeasuredPairs(Measured):
    """Columns by class, and pairs of columns.

    Parameters
    ----------
    groups : tuple of CellGroups
        How the cells of each column are grouped in pairs.
    pair_releases : tuple of PairRelease
        Round by round; empty if there were none.
    parity_release : ParityRelease or None
        Of two columns and more; None if they could not be afforded.
    products : ScoreProducts or None
        Of the normal scores of numbers; None if there are not two columns of numbers.
    stratum : name or None
        The column by which rows were counted instead of a target.
    fine : Release or None
        Cells of all rows, where columns by class are only counted in groups.
    """

    groups: tuple[CellGroups, ...] = ()
    pair_releases: tuple[PairRelease, ...] = ()
    parity_release: ParityRelease | None = None
    products: ScoreProducts | None = None
    stratum: Any = None
    fine: Release | None = None

    @property
    def counted_by(self) -> Cells | None:
        """Cells of the target, or of the column by which rows were counted."""
        return self.labels if self.stratum is None else self.cells[self.stratum]


# ----------------------------------------------------------------------------
# Columns by class, then two releases of pairs: all coarsely, then the strongest.

FIRST_ROUND = 0.25  # of the budget of pairs
WORTHWHILE_SHARE = 0.1  # of the remaining budget; with less, nothing is counted again
FOR_TRUST = 0.05  # budget fraction of pairs that only test public rows
BY_CLASS = 32  # with at most this many classes, pairs are counted by class or by parts


def budget_of_pairs(opening: Opening, pair_budget: float | None) -> float:
    """Return the part of the budget for pairs: as given, or by the noise of columns."""
    if pair_budget is not None:
        return pair_budget
    facts = opening.facts
    return usual_pair_budget(opening.ledger, facts.n_rows, facts.n_columns)


def number_of_pairs(opening: Opening, pair_budget: float) -> int:
    """Return how many pairs can be measured, by public quantities and releases."""
    facts = opening.facts
    return affordable_pairs(opening.ledger, facts.n_rows, facts.n_columns, pair_budget)


def pair_share(opening: Opening, n_pairs: int, pair_budget: float) -> float:
    """Return the part of the budget that pairs get; with public rows it is positive.

    Where no pair could be afforded, a few test whether public rows are right.
    """
    if n_pairs:
        return pair_budget
    has_trial = opening.public is not None and opening.facts.n_columns > 1
    return FOR_TRUST if has_trial else 0.0


def share_of_cells(n_pairs: int, for_pairs: float) -> float:
    """Return about which part of the budget counts single cells of all rows."""
    return (1.0 - for_pairs) * (FINE_SHARE if n_pairs else 1.0)


def measure_columns(
    opening: Fitting[MeasuredPairs],
    cells: Mapping[Any, Cells],
    labels: Cells | None,
    *,
    for_pairs: float,
    is_trial: bool,
    seed: int,
    stratum: Any = None,
) -> ClassConditional:
    """Release every column by class, and return the denoised columns.

    Stores the release, and the scale of a row in each column. The scale is 1 if no
    budget is ``for_pairs``, or only a test of public rows. With a ``stratum`` the class
    of a row is its cell of that column: it depends on this row alone, and the row is
    one-hot in each histogram as before.
    """
    sizes = tuple(column.n_cells for column in cells.values())
    scales = cell_scales(sizes) if for_pairs and not is_trial else None
    public = count_public(opening.public, cells, labels)
    opening.measured = MeasuredPairs(
        cells=cells,
        labels=labels,
        seed=seed,
        scales=scales,
        public=public,
        stratum=stratum,
    )
    labels = opening.measured.counted_by
    share = 1.0 - for_pairs
    n_groups = groups_by_class(opening, cells, labels, share) if scales else None
    if n_groups is None:
        released = release_columns(
            opening,
            cells,
            labels,
            name=f"histograms of {len(cells)} columns by {kind_of_parts(stratum)}",
            n_classes=n_classes_of(labels),
            share=share,
            scales=scales,
        )
    else:
        fine, released, scales = measure_two_levels(
            opening, cells, labels, n_groups=n_groups, share=share
        )
        opening.measured = replace(opening.measured, fine=fine)
    if stratum is not None:
        released = on_the_diagonal(released, cells, stratum)
    opening.measured = replace(opening.measured, release=released, scales=scales)
    columns = single_columns(released, cells, labels, opening.facts, scales, public)
    return with_stratum(columns, stratum)


def measure_columns_again(
    opening: Fitting[MeasuredPairs],
    cells: Mapping[Any, Cells],
    labels: Cells | None,
    *,
    share: float,
) -> None:
    r"""Release every column once more, and keep both releases as one.

    The two have the same expectation; their mean by precision is post-processing, and
    is what one release with the :math:`\mu^2` of both would have been.
    """
    first, scales = opening.measured.release, opening.measured.scales
    assert first is not None
    is_pooled = first.of_cells is not None  # a cell's noise is that of the first
    second = release(
        opening.rows.batches(cells, labels),
        {Key.COLUMNS: class_histograms(cells, scales, is_pooled=is_pooled)},
        name=f"histograms of {len(cells)} columns by "
        f"{kind_of_parts(opening.measured.stratum)}, again",
        ledger=opening.ledger,
        share=share * opening.ledger.remaining,
        n_classes=n_classes_of(labels),
    )
    if is_pooled:
        second = with_shared_gaps(second, cells, scales)
    opening.measured = replace(opening.measured, release=joined(first, second))


def joined(first: Release, second: Release) -> Release:
    """Return two releases of the same columns as one, with less noise."""
    mu = math.hypot(first.mu, second.mu)
    if not math.isfinite(mu):
        return first
    weight = (second.mu / mu) ** 2
    values = {
        key: (1 - weight) * block + weight * second.values[key]
        for key, block in first.values.items()
    }
    std = {key: std * first.mu / mu for key, std in first.noise_std.items()}
    return replace(first, values=values, noise_std=std, mu=mu)


def measure_pairs(
    opening: Fitting[MeasuredPairs],
    cells: Mapping[Any, Cells],
    labels: Cells | None,
    denoised: ClassConditional,
    *,
    n_pairs: int,
    n_groups: int | None,
    focus: Mapping[Any, float],
) -> None:
    """Release all pairs coarsely, then chosen pairs with all that is left.

    Keeps groups of cells, parities and, round by round, releases of pairs. Errors of
    pairs count by the weights of ``focus``. Pairs with the column by which rows are
    counted are not released: columns by class are these pairs.
    """
    stratum = opening.measured.stratum
    labels = opening.measured.counted_by
    ledger, n_rows, task = opening.ledger, opening.facts.n_rows, opening.facts.task
    opening.progress.total += 2 if n_pairs else 1
    by_class = labels is not None and labels.n_cells <= BY_CLASS
    is_number = task == "regression"
    is_fixed = n_groups is not None
    levels: tuple[Levels, ...] | None = None
    if n_groups is None:
        n_groups = pair_groups(ledger, n_rows, len(cells), n_pairs, ledger.remaining)
    if opening.public is not None and not is_fixed:
        widest = widest_groups(len(cells), is_trial=not n_pairs)
        is_fixed, n_groups = True, max(n_groups, widest) if n_pairs else widest
    finest = n_groups if is_fixed else finest_groups(len(cells), n_groups)
    groups = column_groups(cells, denoised.marginals, n_groups, finest)
    has_parities = n_pairs and stratum is None  # groups of a focus are many: too slow
    plan = plan_parities(opening, labels, denoised) if has_parities else None
    if plan is not None and finest > n_groups:
        groups = tuple(map(cut_at_half, groups, denoised.marginals.values()))
    public = count_public_pairs(opening, cells, labels, groups, by_class=by_class)
    opening.measured = replace(opening.measured, groups=groups, public=public)
    if n_pairs:
        products = measure_products(opening, cells, labels, denoised)
        opening.measured = replace(opening.measured, products=products)
    parities = None
    if plan is not None:
        parities = measure_parities(opening, cells, labels, denoised, groups, plan)
        opening.measured = replace(opening.measured, parity_release=parities)
    rounds: tuple[PairRelease, ...] = ()
    pairs = nearest_pairs(len(cells), n_pairs)
    if public is not None:
        pairs = public_pairs(PairModel(denoised, groups, public=public), n_pairs)
    if stratum is not None:
        place = list(cells).index(stratum)
        pairs = tuple(pair for pair in pairs if place not in pair)
    if finest > n_groups:
        shares = [
            grouping.add_up(denoised.marginals[name])
            for name, grouping in zip(cells, groups, strict=True)
        ]
        levels = pair_levels(groups, shares, pairs, n_groups)

    def count(pairs: tuple[Pair, ...], **how: Any) -> PairRelease:
        weights = pair_weights(cells, focus, pairs) if focus else None
        return release_pairs(
            opening,
            cells,
            labels,
            groups,
            pairs,
            weights=weights,
            parts="parts of the target" if is_number else kind_of_parts(stratum),
            **how,
        )

    if n_pairs:
        opening.step("all pairs")
        halves = by_class and is_number
        parts = parts_of_target(denoised, task, FIRST_PARTS) if halves else None
        first = count(
            pairs, by_class=False, share=FIRST_ROUND, levels=levels, of_class=parts
        )
        rounds = (first,)
        opening.measured = replace(opening.measured, pair_releases=rounds)
        model = PairModel(denoised, groups, [first], public=public, are_bins=is_number)
        share = model.explained()
        if share > WORTHWHILE_SHARE:
            measure_columns_again(opening, cells, labels, share=share)
        # energies of parts of a number have less noise than parities of classes
        class_energies = (
            parities.of_pairs(denoised, groups) if parities and by_class else {}
        )
        class_energies = part_energies(model) or class_energies
        level_of = dict(zip(pairs, levels or (), strict=False))
        weights = dict(zip(pairs, pair_weights(cells, focus, pairs), strict=True))
        pairs = pairs_that_matter(model, pairs, class_energies, ledger, weights)
        levels = finer_levels(model, pairs, level_of, ledger) if levels else None
    by_class = by_class and bool(n_pairs)
    widths = [groups[j].n_groups * groups[k].n_groups for j, k in pairs]
    opening.step("pairs by class" if by_class else "pairs")
    n_parts = affordable_parts(ledger, n_rows, widths) if by_class else 0
    joins = by_class and (is_number or public is None)  # public rows differ by class
    parts = parts_of_target(denoised, task, n_parts) if joins else None
    last = count(
        pairs,
        by_class=by_class,
        share=1.0,
        is_trial=not n_pairs,
        levels=levels,
        of_class=parts,
    )
    opening.measured = replace(opening.measured, pair_releases=(*rounds, last))


def unit_variance(model: PairModel, ledger: Ledger) -> float:
    """Return the variance of a cell's share, if all that is left counts one pair."""
    delta = sensitivity(OneHot(1), ledger.budget.adjacency)
    unit = ledger.noise_std(share=ledger.remaining, sensitivity=delta)
    return (unit / model.n_rows) ** 2


def finer_levels(
    model: PairModel,
    pairs: Sequence[Pair],
    level_of: Mapping[Pair, Levels],
    ledger: Ledger,
) -> tuple[Levels, ...]:
    """Return the levels of the last release: finest where a relation is strong."""
    finest = dict(zip(pairs, each_pair(model.groups, pairs), strict=True))
    cells = {pair: (n_cells(level_of[pair]), n_cells(finest[pair])) for pair in pairs}
    energies = model.energies()
    chosen = worth_refining(
        {pair: energies[pair] for pair in pairs}, cells, unit_variance(model, ledger)
    )
    return tuple(finest[pair] if pair in chosen else level_of[pair] for pair in pairs)


def pairs_that_matter(
    model: PairModel,
    pairs: Sequence[Pair],
    class_energies: Mapping[Pair, float],
    ledger: Ledger,
    weights: Mapping[Pair, float],
) -> tuple[Pair, ...]:
    """Return the pairs to measure again, by their energies, pooled and by class.

    The error of a pair counts by its weight, whether it is noise or what is lost.
    """
    # of a number, the common excess and that of its parts are each estimated with noise
    n_noisy = 2 if model.are_bins else 1
    widths = {
        pair: weights[pair] * n_noisy * math.prod(model.shape(pair)) for pair in pairs
    }
    energies = {
        pair: weights[pair] * (e + class_energies.get(pair, 0.0))
        for pair, e in model.energies().items()
    }
    return worth_measuring(energies, widths, unit_variance(model, ledger))
