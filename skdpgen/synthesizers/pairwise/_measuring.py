"""Columns by class, then two looks at pairs: all coarsely, then those that matter."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from skdpgen.privacy import Histograms, Ledger, OneHot, Release, release, sensitivity
from skdpgen.synthesizers.models import single_columns
from skdpgen.synthesizers.opening import (
    Opening,
    cell_scales,
    count_public,
    count_public_pairs,
    n_classes_of,
    release_columns,
)
from skdpgen.synthesizers.pairwise._affordable import (
    affordable_pairs,
    nearest_pairs,
    pair_groups,
    public_pairs,
    widest_groups,
    worth_measuring,
)
from skdpgen.synthesizers.pairwise._halves import cut_at_half, plan_parities
from skdpgen.synthesizers.pairwise._levels import (
    column_groups,
    finest_groups,
    pair_levels,
)
from skdpgen.synthesizers.pairwise._pair_release import release_pairs
from skdpgen.synthesizers.pairwise._pair_rounds import PairModel
from skdpgen.synthesizers.pairwise._parities import measure_parities
from skdpgen.synthesizers.pairwise._parts_of_number import (
    HALVES,
    affordable_parts,
    own_energies,
    parts_of_number,
)
from skdpgen.synthesizers.pairwise._two_levels import (
    groups_by_class,
    measure_two_levels,
)
from skdpgen.tables import Cells
from skdpgen.training import ClassConditional
from skdpgen.utils import Key

FIRST_ROUND = 0.25  # of what is spent on pairs
WORTH = 0.1  # of what is left of the budget: less is not spent on columns again
FOR_TRUST = 0.05  # of the budget, where pairs serve to judge public rows alone
BY_CLASS = 32  # with at most this many classes, pairs are counted class by class


def number_of_pairs(opening: Opening, pair_budget: float) -> int:
    """Return how many pairs can be looked at, by public quantities and releases."""
    facts = opening.facts
    return affordable_pairs(opening.ledger, facts.n_rows, facts.n_columns, pair_budget)


def pair_share(opening: Opening, n_pairs: int, pair_budget: float) -> float:
    """Return the part of the budget that pairs get; with public rows at least some.

    Where no pair could be afforded, a few tell whether public rows are right.
    """
    if n_pairs:
        return pair_budget
    is_asked = opening.public is not None and opening.facts.n_columns > 1
    return FOR_TRUST if is_asked else 0.0


def measure_columns(
    opening: Opening,
    cells: Mapping[Any, Cells],
    labels: Cells | None,
    *,
    for_pairs: float,
    is_trial: bool,
) -> ClassConditional:
    """Release every column by class, and return what it says of them.

    Keeps ``release_``, ``cells_`` and what one row counts in each column: where no part
    of the budget is ``for_pairs``, or only a trial of public rows, 1.
    """
    sizes = tuple(column.n_cells for column in cells.values())
    scales = cell_scales(sizes) if for_pairs and not is_trial else None
    public = count_public(opening.public, cells, labels)
    opening.keep(cells_=cells, _labels=labels, _scales=scales, _public=public)
    share = 1.0 - for_pairs
    n_groups = groups_by_class(opening, cells, labels, share) if scales else None
    if n_groups is None:
        released = release_columns(
            opening,
            cells,
            labels,
            name=f"histograms of {len(cells)} columns by class",
            n_classes=n_classes_of(labels),
            share=share,
            scales=scales,
        )
    else:
        released, scales = measure_two_levels(
            opening, cells, labels, n_groups=n_groups, share=share
        )
    opening.keep(release_=released, _scales=scales)
    return single_columns(released, cells, labels, opening.facts, scales, public)


def measure_columns_again(
    opening: Opening, cells: Mapping[Any, Cells], labels: Cells | None, *, share: float
) -> None:
    r"""Release every column once more, and keep both releases as one.

    The two have the same expectation; their mean by precision is post-processing, and
    is what one release with the :math:`\mu^2` of both would have been.
    """
    first, scales = opening.kept["release_"], opening.kept["_scales"]
    second = release(
        opening.rows.batches(cells, labels),
        {Key.COLUMNS: Histograms(tuple(c.n_cells for c in cells.values()), scales)},
        name=f"histograms of {len(cells)} columns by class, again",
        ledger=opening.ledger,
        share=share * opening.ledger.remaining,
        n_classes=n_classes_of(labels),
    )
    opening.keep(release_=joined(first, second))


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
    opening: Opening,
    cells: Mapping[Any, Cells],
    labels: Cells | None,
    known: ClassConditional,
    *,
    n_pairs: int,
    n_groups: int | None,
    n_rounds: int,
) -> None:
    """Release pairs with all that is left; the first look decides what the second sees.

    Keeps ``groups_`` and, round by round, ``pair_releases_``.
    """
    ledger, n_rows, task = opening.ledger, opening.facts.n_rows, opening.facts.task
    opening.progress.total += n_rounds
    by_class = labels is not None and labels.n_cells <= BY_CLASS
    is_fixed, levels = n_groups is not None, None
    if n_groups is None:
        n_groups = pair_groups(ledger, n_rows, len(cells), n_pairs, ledger.remaining)
    if opening.public is not None and not is_fixed:
        widest = widest_groups(len(cells), is_trial=not n_pairs)
        is_fixed, n_groups = True, max(n_groups, widest) if n_pairs else widest
    finest = n_groups if is_fixed else finest_groups(len(cells), n_groups)
    groups = column_groups(cells, known.marginals, n_groups, finest)
    plan = plan_parities(opening, labels, known) if n_pairs else None
    if plan is not None and finest > n_groups:
        groups = tuple(map(cut_at_half, groups, known.marginals.values()))
    public = count_public_pairs(opening, cells, labels, groups, by_class=by_class)
    opening.keep(groups_=groups, _public=public)
    parities = plan and measure_parities(opening, cells, labels, known, groups, plan)
    measured: tuple[Any, ...] = ()
    pairs: tuple[Any, ...] = nearest_pairs(len(cells), n_pairs)
    if public is not None:
        pairs = public_pairs(PairModel(known, groups, public=public), n_pairs)
    if finest > n_groups:
        shares = [
            one.add_up(known.marginals[name])
            for name, one in zip(cells, groups, strict=True)
        ]
        levels = pair_levels(groups, shares, pairs, n_groups)
    count = partial(release_pairs, opening, cells, labels, groups)
    if n_rounds == 2 and n_pairs:
        opening.step("all pairs")
        parts = parts_of_number(known, task, HALVES) if by_class else None
        how = {"by_class": False, "levels": levels, "of_class": parts}
        first = count(pairs, share=FIRST_ROUND, **how)
        measured = (first,)
        opening.keep(pair_releases_=measured)
        is_number = task == "regression"
        model = PairModel(known, groups, [first], public=public, are_bins=is_number)
        share = model.explained()
        if share > WORTH:
            measure_columns_again(opening, cells, labels, share=share)
        own = parities.of_pairs(known, groups) if parities and by_class else {}
        own = own_energies(model) or own
        every = dict(zip(pairs, levels or (), strict=False))
        pairs = pairs_that_matter(model, pairs, own, ledger)
        levels = tuple(every[pair] for pair in pairs) if levels else None
    by_class = by_class and bool(n_pairs)
    opening.step("pairs by class" if by_class else "pairs")
    widths = [groups[j].n_groups * groups[k].n_groups for j, k in pairs]
    n_parts = affordable_parts(ledger, n_rows, widths) if by_class else 0
    parts = parts_of_number(known, task, n_parts) if by_class else None
    how = {"by_class": by_class, "levels": levels, "of_class": parts}
    last = count(pairs, share=1.0, is_trial=not n_pairs, **how)
    opening.keep(pair_releases_=(*measured, last))


def pairs_that_matter(
    model: PairModel,
    pairs: Sequence[Any],
    own: Mapping[Any, float],
    ledger: Ledger,
) -> tuple[Any, ...]:
    """Return the pairs to measure again; ``own`` is what classes have beyond them."""
    delta = sensitivity(OneHot(1), ledger.budget.adjacency)
    unit = ledger.noise_std(share=ledger.remaining, sensitivity=delta)
    looks = (
        2 if model.are_bins else 1
    )  # what is common, and what parts have: each noisy
    widths = {pair: looks * math.prod(model.shape(pair)) for pair in pairs}
    energies = {pair: e + own.get(pair, 0.0) for pair, e in model.energies().items()}
    return worth_measuring(energies, widths, (unit / model.n_rows) ** 2)
