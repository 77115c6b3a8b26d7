"""Columns at two levels: each cell of all rows, and groups of cells by class."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdpgen.privacy import (
    Histograms,
    OneHot,
    Release,
    release,
    sensitivity,
    shortened,
)
from skdpgen.synthesizers.opening import Opening, cell_scales, n_classes_of
from skdpgen.synthesizers.pairwise._target_parts import bins_from_parts, even_parts
from skdpgen.tables import (
    CellGroups,
    Cells,
    EncodedBatch,
    are_classes,
    class_of,
    group_cells,
)
from skdpgen.training import column_counts, denoised_histogram
from skdpgen.utils import (
    Key,
    asked,
    has_role,
    refuse_unless,
    saved,
)

Floats = NDArray[np.float64]
Parts = NDArray[np.int64]
FINE_SHARE = 0.2  # of the budget of columns, for cells of all classes together
NOISE_OF_GROUP = 1.0  # least rows of a group in each class, in noise stds
FEWEST_GROUPS = 4  # of a column
COARSER_RATIO = 0.5  # largest, of groups to cells, for which two levels pay off
NO_NOISE = 1e-9  # the standard deviation that stands for 0
PARTS_OF_TARGET = 10  # a number; columns are counted by them


def groups_by_class(
    opening: Opening, cells: Mapping[Any, Cells], labels: Cells | None, share: float
) -> int | None:
    """Return how many groups a column has by class; None if cells are few enough.

    It is computed from public quantities and from cells, which earlier releases made.
    """
    n_classes, ledger = n_classes_of(labels), opening.ledger
    if n_classes < 2 or opening.public is not None:
        return None
    delta = sensitivity(OneHot(len(cells)), ledger.budget.adjacency)
    group_share = (1 - FINE_SHARE) * share * ledger.remaining
    noise = NOISE_OF_GROUP * ledger.noise_std(share=group_share, sensitivity=delta)
    if not noise:
        return None
    n_groups = max(int(opening.facts.n_rows / (n_classes * noise)), FEWEST_GROUPS)
    sizes = [column.n_cells for column in cells.values()]
    n_left = sum(min(size, n_groups) for size in sizes)
    return n_groups if n_left <= COARSER_RATIO * sum(sizes) else None


def measure_two_levels(
    opening: Opening,
    cells: Mapping[Any, Cells],
    labels: Cells | None,
    *,
    n_groups: int,
    share: float,
) -> tuple[Release, Release, tuple[float, ...]]:
    r"""Release every cell of all rows with a class, then groups of cells by class.

    In one histogram by class, the noise of all classes adds up in a pooled cell, and
    the noise of all cells in a group. Two levels avoid both. The result has the form of
    one release by class: counts of groups are shared among their cells in the pooled
    proportions, with the noise of their sums. A number is not counted by its bins but
    by ``PARTS_OF_TARGET`` of them: :mod:`~skdpgen.synthesizers.pairwise._target_parts`.

    **Sensitivity**, of each of the two, as of pairs: a row is one-hot in each column,
    times a scale, and squares of scales sum to 1. Where a number is counted in parts, a
    row is also one-hot in the histogram of all its bins, whose weight is part of the
    structure that noise is calibrated to. So its vector v is not negative and has norm
    r at most, with :math:`r^2 = 1 + 1/d` for d columns. A row more or less moves the
    sum by at most r; another row in its place by :math:`\|v - v'\|^2 = \|v\|^2 +
    \|v'\|^2 - 2 v^\top v' \le 2 r^2`, and if the labels differ, the two stand in
    different classes or parts and are orthogonal, or in one part and are as any two
    rows: again at most :math:`2 r^2`. Groups and parts are fixed by the counts of all
    classes together and public quantities before counts by class read a row; the
    squares of both :math:`\mu` add up. All else reads no row.

    Returns
    -------
    fine : Release
        Counts of all cells, of all rows with a class.
    released : Release
        Counts of all cells by class.
    scales : tuple of float
        Noise by class is that of the release, divided by the scale of a column.
    """
    sizes = tuple(column.n_cells for column in cells.values())
    budget = share * opening.ledger.remaining
    scales = cell_scales(sizes)
    n_bins = n_classes_of(labels)
    in_parts = opening.facts.task == "regression" and n_bins > PARTS_OF_TARGET

    def count_columns(step: Coarse, sizes: tuple[int, ...], **how: Any) -> Release:
        blocks: dict[str, Any] = {Key.COLUMNS: Histograms(sizes, cell_scales(sizes))}
        if in_parts:
            blocks[Key.TARGET] = Histograms((n_bins,))
        return release(
            opening.rows.batches(cells, labels).through(step),
            blocks,
            weights={Key.TARGET: 1 / math.sqrt(len(sizes))} if in_parts else None,
            ledger=opening.ledger,
            **how,
        )

    fine = count_columns(
        Coarse(has_target=in_parts),
        sizes,
        name=f"histograms of {len(cells)} columns"
        + (" and the target" if in_parts else ""),
        share=FINE_SHARE * budget,
    )
    counts, stds = column_counts(fine, sizes, scales)
    total = opening.facts.n_rows
    marginals, counted = [], {}
    for (name, column), (count,), std in zip(cells.items(), counts, stds, strict=True):
        n_ordered = column.n_known if column.is_ordered else 0
        histogram = denoised_histogram(count, float(std), total, n_ordered=n_ordered)
        marginals.append(histogram / total)
        counted[name] = count, np.full(len(count), float(std) ** 2)
    opening.count_earlier(counted)
    groups = tuple(
        group_cells(column, marginal, n_groups)
        for column, marginal in zip(cells.values(), marginals, strict=True)
    )
    group_sizes = tuple(grouping.n_groups for grouping in groups)
    part = None
    if in_parts:
        counted_bins = [(fine.values[Key.TARGET][0], fine.noise_std[Key.TARGET])]
        part = even_parts(denoised_bins(counted_bins, total), PARTS_OF_TARGET)
    coarse = count_columns(
        Coarse(groups, has_target=in_parts, of_class=part),
        group_sizes,
        name=f"groups of {len(cells)} columns by "
        + ("parts of the target" if in_parts else "class"),
        share=(1 - FINE_SHARE) * budget,
        n_classes=n_bins if part is None else int(part.max()) + 1,
    )
    if part is not None:
        of_own_part = coarse.values[Key.TARGET][part, np.arange(n_bins)]
        counted_bins.append((of_own_part, coarse.noise_std[Key.TARGET]))
        bins = denoised_bins(counted_bins, total)
        fine, coarse = without_target(fine), by_bins(coarse, part, bins)
    return fine, *spread_groups(coarse, cell_scales(group_sizes), groups, marginals)


def denoised_bins(measured: Sequence[tuple[Floats, float]], total: float) -> Floats:
    """Return counts of bins of a number from noisy ones, each with its noise std.

    Their mean by precision is smoothed along the bins.
    """
    counts = [counts for counts, _ in measured]
    precisions = [1.0 / max(std, NO_NOISE) ** 2 for _, std in measured]
    mean = np.average(counts, axis=0, weights=precisions)
    std = 1.0 / math.sqrt(sum(precisions))
    return denoised_histogram(mean, std, total, n_ordered=len(mean))


def without_target(released: Release) -> Release:
    """Return a release of columns without the histogram of a number to predict."""
    key = Key.COLUMNS.value
    return replace(
        released,
        values={key: released.values[key]},
        noise_std={key: released.noise_std[key]},
    )


def by_bins(released: Release, part: Parts, bins: Floats) -> Release:
    r"""Return counts by parts of a number as counts by its bins.

    Bins of a part share its noise, so their errors go together. It is stated as if each
    bin had noise of its own with the same sum: :math:`\sigma / \sqrt m` for parts of m
    bins, in the mean over parts.
    """
    key = Key.COLUMNS.value
    n_parts = int(part.max()) + 1
    std = released.noise_std[key] * math.sqrt(n_parts / len(part))
    return replace(
        released,
        values={key: bins_from_parts(released.values[key], part, bins)},
        noise_std={key: std},
    )


def spread_groups(
    released: Release,
    scales: Sequence[float],
    groups: Sequence[CellGroups],
    marginals: Sequence[Floats],
) -> tuple[Release, tuple[float, ...]]:
    """Share counts of groups among their cells; sums of cells keep their noise.

    The noise of a cell is stated as the mean of its column, but for a group of one
    cell, as of missing values, which has the noise of the group.
    """
    blocks, finer, of_cells = [], [], []
    sizes = [grouping.n_groups for grouping in groups]
    counts, _ = column_counts(released, sizes, scales)
    for grouping, count, scale, marginal in zip(
        groups, counts, scales, marginals, strict=True
    ):
        group = grouping.of_cell
        members = np.bincount(group, minlength=grouping.n_groups)[group]
        mass = grouping.add_up(marginal)[group]
        within = np.where(
            mass > 0, marginal / np.where(mass > 0, mass, 1.0), 1.0 / members
        )
        spread = math.sqrt(len(group) / grouping.n_groups)
        finer.append(shortened(scale * spread))
        blocks.append(finer[-1] * count[:, group] * within)
        whole = math.sqrt(len(count))
        of_cells.append(np.where(members == 1, whole * spread, whole))
    values = {Key.COLUMNS.value: np.concatenate(blocks, axis=1)}
    return replace(released, values=values, of_cells=tuple(of_cells)), tuple(finer)


@asked("step")
@saved("step.coarse_cells")
@dataclass(frozen=True, eq=False)
class Coarse:
    """From cells of rows to cells as one class, or to their groups by class.

    With ``has_target`` the bins of a number to predict are one more part of a batch;
    classes, which are these bins, are counted together as ``of_class`` says.
    """

    groups: tuple[CellGroups, ...] | None = None
    has_target: bool = False
    of_class: Parts | None = None

    def check_asked(self) -> None:
        """Check the fields of a step that another party sent."""
        groups = self.groups
        refuse_unless(
            groups is None
            or (
                len(groups) > 0
                and all(has_role(grouping, "groups") for grouping in groups)
            ),
            "groups of cells",
        )
        refuse_unless(
            type(self.has_target) is bool and are_classes(self.of_class),
            "parts of a target",
        )

    def __call__(self, batches: Iterable[EncodedBatch]) -> Iterator[EncodedBatch]:
        """Yield coarse codes, row by row."""
        for batch in batches:
            codes, labels = batch.parts[Key.COLUMNS], batch.labels
            if self.of_class is not None:
                labels = class_of(self.of_class, labels)
            if self.groups is None:
                labels = np.where(labels >= 0, 0, -1)
            else:
                coarse = [
                    grouping.encode(codes[:, j])
                    for j, grouping in enumerate(self.groups)
                ]
                codes = np.stack(coarse).T
            parts: dict[str, Any] = {Key.COLUMNS: codes}
            if self.has_target:
                parts[Key.TARGET] = batch.labels[:, None]
            yield EncodedBatch(labels, parts)
