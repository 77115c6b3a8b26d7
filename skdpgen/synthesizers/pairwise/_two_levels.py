"""Columns at two levels: each cell of all rows, and groups of cells by class."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from skdpgen.privacy import (
    Histograms,
    OneHot,
    Release,
    release,
    sensitivity,
    shortened,
)
from skdpgen.synthesizers.opening import Opening, cell_scales, n_classes_of
from skdpgen.tables import CellGroups, Cells, EncodedBatch, group_cells
from skdpgen.training import column_counts, denoised_histogram
from skdpgen.utils import Key, asked, has_role, refuse_unless, saved

FINE = 0.2  # of the budget of columns goes to all rows together
NOISE_OF_GROUP = 1.0  # a group should hold this many noise stds of rows in each class
FEWEST = 4  # groups of a column
COARSER = 0.5  # of the cells are left at most, else one level is enough


def groups_by_class(
    opening: Opening, cells: Mapping[Any, Cells], labels: Cells | None, share: float
) -> int | None:
    """Return how many groups a column has by class; None if cells are few enough.

    It is worked out of public quantities and of cells, which earlier releases made.
    """
    n_classes, ledger = n_classes_of(labels), opening.ledger
    if n_classes < 2 or opening.public is not None:
        return None
    delta = sensitivity(OneHot(len(cells)), ledger.budget.adjacency)
    rest = (1 - FINE) * share * ledger.remaining
    noise = NOISE_OF_GROUP * ledger.noise_std(share=rest, sensitivity=delta)
    if not noise:
        return None
    n_groups = max(int(opening.facts.n_rows / (n_classes * noise)), FEWEST)
    sizes = [column.n_cells for column in cells.values()]
    left = sum(min(size, n_groups) for size in sizes)
    return n_groups if left <= COARSER * sum(sizes) else None


def measure_two_levels(
    opening: Opening,
    cells: Mapping[Any, Cells],
    labels: Cells | None,
    *,
    n_groups: int,
    share: float,
) -> tuple[Release, tuple[float, ...]]:
    r"""Release every cell of all rows with a class, then groups of cells by class.

    In one histogram by class, a cell of all rows has the noise of all classes, and a
    group of cells that of all its cells. At two levels neither is so. What comes of it
    has the form of one release by class: groups are shared among their cells as all
    rows have them, with the noise that their sums have.

    **Sensitivity**, of each of the two, as of pairs: a row is one-hot in each column,
    times a scale, and squares of scales sum to 1. So its vector v is not negative and
    has norm at most 1. A row more or less moves the sum by at most 1; another row in
    its place by :math:`\|v - v'\|^2 = \|v\|^2 + \|v'\|^2 - 2 v^\top v' \le 2`, and if
    the labels differ, the two stand in different classes and are orthogonal: again at
    most 2. Groups are fixed by the first release and public quantities before the
    second reads a row; the squares of both :math:`\mu` add up. All else reads no row.

    Returns
    -------
    released : Release
        Counts of all cells by class.
    scales : tuple of float
        Noise is that of the release, divided by the scale of a column.
    """
    sizes = tuple(column.n_cells for column in cells.values())
    budget = share * opening.ledger.remaining
    scales = cell_scales(sizes)
    fine = release(
        opening.rows.batches(cells, labels).through(Coarse()),
        {Key.COLUMNS: Histograms(sizes, scales)},
        name=f"histograms of {len(cells)} columns",
        ledger=opening.ledger,
        share=FINE * budget,
    )
    counts, stds = column_counts(fine, sizes, scales)
    total = opening.facts.n_rows
    marginals, known = [], {}
    for (name, column), (count,), std in zip(cells.items(), counts, stds, strict=True):
        n_ordered = column.n_known if column.is_ordered else 0
        found = denoised_histogram(count, float(std), total, n_ordered=n_ordered)
        marginals.append(found / total)
        known[name] = count, np.full(len(count), float(std) ** 2)
    opening.count_earlier(known)
    groups = tuple(
        group_cells(column, marginal, n_groups)
        for column, marginal in zip(cells.values(), marginals, strict=True)
    )
    group_sizes = tuple(one.n_groups for one in groups)
    group_scales = cell_scales(group_sizes)
    coarse = release(
        opening.rows.batches(cells, labels).through(Coarse(groups)),
        {Key.COLUMNS: Histograms(group_sizes, group_scales)},
        name=f"groups of {len(cells)} columns by class",
        ledger=opening.ledger,
        share=(1 - FINE) * budget,
        n_classes=n_classes_of(labels),
    )
    return spread_groups(coarse, group_scales, groups, marginals)


def spread_groups(
    released: Release,
    scales: Sequence[float],
    groups: Sequence[CellGroups],
    marginals: Sequence[Any],
) -> tuple[Release, tuple[float, ...]]:
    """Share counts of groups among their cells; sums of cells keep their noise."""
    blocks, finer = [], []
    sizes = [one.n_groups for one in groups]
    counts, _ = column_counts(released, sizes, scales)
    for one, count, scale, marginal in zip(
        groups, counts, scales, marginals, strict=True
    ):
        n_cells = len(one.of_cell)
        mass = one.add_up(marginal)[one.of_cell]
        even = 1.0 / np.bincount(one.of_cell, minlength=one.n_groups)[one.of_cell]
        within = np.where(mass > 0, marginal / np.where(mass > 0, mass, 1.0), even)
        finer.append(shortened(scale * math.sqrt(n_cells / one.n_groups)))
        blocks.append(finer[-1] * count[:, one.of_cell] * within)
    values = {Key.COLUMNS.value: np.concatenate(blocks, axis=1)}
    return replace(released, values=values), tuple(finer)


@asked("step")
@saved
@dataclass(frozen=True, eq=False)
class Coarse:
    """From cells of rows to cells as one class, or to their groups by class."""

    groups: tuple[CellGroups, ...] | None = None

    def check_asked(self) -> None:
        """Check what someone else may have made otherwise."""
        groups = self.groups
        refuse_unless(
            groups is None
            or (len(groups) > 0 and all(has_role(one, "groups") for one in groups)),
            "groups of cells",
        )

    def __call__(self, batches: Iterable[EncodedBatch]) -> Iterator[EncodedBatch]:
        """Yield coarse codes, each row by itself."""
        for batch in batches:
            codes, labels = batch.parts[Key.COLUMNS], batch.labels
            if self.groups is None:
                labels = np.where(labels >= 0, 0, -1)
            else:
                coarse = [one.encode(codes[:, j]) for j, one in enumerate(self.groups)]
                codes = np.stack(coarse).T
            yield EncodedBatch(labels, {Key.COLUMNS: codes})
