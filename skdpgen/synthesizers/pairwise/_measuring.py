"""Columns by class, then two looks at pairs: all coarsely, then those that matter."""

from collections.abc import Mapping
from typing import Any

from skdpgen.privacy import Histograms, OneHot, sensitivity
from skdpgen.synthesizers.models import single_columns
from skdpgen.synthesizers.opening import Opening, cell_scales, n_classes_of
from skdpgen.synthesizers.pairwise._affordable import (
    nearest_pairs,
    pair_groups,
    worth_measuring,
)
from skdpgen.synthesizers.pairwise._pair_rounds import PairModel, release_pairs
from skdpgen.tables import Cells, group_cells
from skdpgen.training import ClassConditional
from skdpgen.utils import Key

FIRST_ROUND = 0.25  # of what is spent on pairs
BY_CLASS = 32  # with at most this many classes, pairs are counted class by class


def measure_columns(
    opening: Opening,
    cells: Mapping[Any, Cells],
    labels: Cells | None,
    *,
    for_pairs: float,
) -> ClassConditional:
    """Release every column by class, and return what it says of them.

    Keeps ``release_``, ``cells_`` and what one row counts in each column: where no part
    of the budget is ``for_pairs``, 1.
    """
    sizes = tuple(column.n_cells for column in cells.values())
    scales = cell_scales(sizes) if for_pairs else None
    opening.keep(cells_=cells, _labels=labels, _scales=scales)
    released = opening.release(
        "release_",
        opening.rows.batches(cells, labels),
        {Key.COLUMNS: Histograms(sizes, scales)},
        name=f"histograms of {len(cells)} columns by class",
        share=1.0 - for_pairs,
        n_classes=n_classes_of(labels),
    )
    return single_columns(released, cells, labels, opening.facts, scales)


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
    ledger, n_rows = opening.ledger, opening.facts.n_rows
    opening.progress.total += n_rounds
    n_groups = n_groups or pair_groups(
        ledger, n_rows, len(cells), n_pairs, ledger.remaining
    )
    groups = tuple(
        group_cells(column, known.marginals[name], n_groups)
        for name, column in cells.items()
    )
    opening.keep(groups_=groups)
    measured: tuple[Any, ...] = ()
    pairs: tuple[Any, ...] = nearest_pairs(len(cells), n_pairs)
    by_class = labels is not None and labels.n_cells <= BY_CLASS
    if n_rounds == 2:
        opening.step("all pairs")
        first = release_pairs(
            opening, cells, labels, groups, pairs, by_class=False, share=FIRST_ROUND
        )
        measured = (first,)
        opening.keep(pair_releases_=measured)
        model = PairModel(known, groups, [first])
        delta = sensitivity(OneHot(1), ledger.budget.adjacency)
        unit = ledger.noise_std(share=ledger.remaining, sensitivity=delta)
        pairs = worth_measuring(
            model.energies(),
            {(j, k): model.sizes[j] * model.sizes[k] for j, k in pairs},
            (unit / model.n_rows) ** 2,
        )
    opening.step("pairs by class" if by_class else "pairs")
    last = release_pairs(
        opening, cells, labels, groups, pairs, by_class=by_class, share=1.0
    )
    opening.keep(pair_releases_=(*measured, last))
