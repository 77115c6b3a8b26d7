"""Measuring pairs of columns: noisy histograms of pairs, jointly released."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdpgen.privacy import Histograms, Release, release
from skdpgen.synthesizers.opening import Opening, cell_scales
from skdpgen.tables import (
    CellGroups,
    Cells,
    EncodedBatch,
    are_classes,
    class_of,
    each_group,
    group_cells,
    join_groups,
)
from skdpgen.utils import Key, asked, has_role, is_whole, refuse_unless, saved

# ----------------------------------------------------------------------------
# How finely a pair looks at each of its columns: few cells here leave more there.

FINEST = 24  # groups of a column in any pair
WIDTH = 600  # groups of all columns together, where that is finer than asked for

Levels = tuple[CellGroups, CellGroups]


def shared_cells(first: int, second: int, n_groups: int) -> tuple[int, int]:
    """Return how many groups two columns get that could have so many.

    Together they have at most ``n_groups`` squared cells, or ``n_groups`` each.

    Examples
    --------
    >>> shared_cells(24, 2, 6), shared_cells(24, 24, 6), shared_cells(3, 4, 6)
    ((18, 2), (6, 6), (3, 4))
    """
    few = min(first, second, n_groups)
    return min(first, n_groups**2 // few), min(second, n_groups**2 // few)


def finest_groups(n_columns: int, n_groups: int) -> int:
    """Return how many groups a column may have beside a column of few cells."""
    return max(n_groups, min(FINEST, n_groups**2 // 2, WIDTH // n_columns))


def column_groups(
    cells: Mapping[Any, Cells], marginals: Mapping[Any, Any], n_groups: int, finest: int
) -> tuple[CellGroups, ...]:
    """Return the finest groups of each column that any of its pairs may have."""
    found = [group_cells(cells[name], marginals[name], finest) for name in cells]
    sizes = [one.n_groups for one in found]
    least = [min(sizes[:j] + sizes[j + 1 :], default=1) for j in range(len(sizes))]
    most = [
        shared_cells(size, other, n_groups)[0]
        for size, other in zip(sizes, least, strict=True)
    ]
    return tuple(
        one if one.n_groups <= n else group_cells(cells[name], marginals[name], n)
        for name, one, n in zip(cells, found, most, strict=True)
    )


def pair_levels(
    groups: Sequence[CellGroups],
    marginals: Sequence[Any],
    pairs: Sequence[tuple[int, int]],
    n_groups: int,
) -> tuple[Levels, ...]:
    """Return how the groups of both columns of each pair are joined.

    ``marginals`` are RELEASED shares of groups.
    """
    known: dict[tuple[int, int], CellGroups] = {}

    def level(j: int, n: int) -> CellGroups:
        if (j, n) not in known:
            known[j, n] = (
                join_groups(groups[j], marginals[j], n)
                if n < groups[j].n_groups
                else each_group(groups[j])
            )
        return known[j, n]

    found = []
    for j, k in pairs:
        sizes = shared_cells(groups[j].n_groups, groups[k].n_groups, n_groups)
        found.append((level(j, sizes[0]), level(k, sizes[1])))
    return tuple(found)


def spread_pair(table: Any, levels: Levels, marginals: tuple[Any, Any]) -> Any:
    """Share a pair's excess among the groups that were joined, as each column has them.

    Examples
    --------
    >>> joined = CellGroups(np.array([0, 0]), 1, 1), CellGroups(np.array([0]), 1, 1)
    >>> shares = np.array([0.3, 0.1]), np.array([1.0])
    >>> spread_pair(np.array([[0.4]]), joined, shares).round(2).tolist()
    [[0.3], [0.1]]
    """
    for axis, (one, marginal) in enumerate(zip(levels, marginals, strict=True)):
        mass = one.add_up(marginal)[one.of_cell]
        even = 1.0 / np.bincount(one.of_cell, minlength=one.n_groups)[one.of_cell]
        within = np.where(mass > 0, marginal / np.where(mass > 0, mass, 1.0), even)
        table = np.take(table, one.of_cell, axis=axis)
        table = table * np.expand_dims(within, 1 - axis)
    return table


def corrected(
    mean: Any, variance: float, seen: Any, noise: float, level: CellGroups
) -> tuple[Any, float]:
    """Correct counts of groups by what was seen of groups that were joined.

    What a sum is off by is shared evenly by its groups: the least squares solution. The
    variance that is returned is the mean of what it leaves.

    Examples
    --------
    >>> level = CellGroups(np.array([0, 0]), 1, 2)
    >>> corrected(np.array([[3.0, 5.0]]), 1.0, np.array([[12.0]]), 2.0, level)
    (array([[4., 6.]]), 0.75)
    """
    members = np.bincount(level.of_cell, minlength=level.n_groups)
    gain = members * variance / (members * variance + noise) / members
    off = gain * (seen - level.add_up(mean))
    left = variance * (1.0 - float((gain * members).sum()) / len(level.of_cell))
    return mean + off[..., level.of_cell], left


# ----------------------------------------------------------------------------
# Measuring pairs of columns: noisy histograms of pairs, jointly released.

Pair = tuple[int, int]


@saved
@dataclass(frozen=True, eq=False)
class PairRelease:
    r"""Noisy histograms of pairs, of each class or of all rows together.

    A row is one-hot in each pair, scaled so that the squares of the scales sum to 1:
    its vector is not negative and has norm 1. So the release moves by at most
    :math:`\sqrt 2` if a row is replaced and by 1 if it is added or removed. Its entries
    are chosen entries of :math:`x x^\top`, with x the one-hot row.
    """

    pairs: tuple[Pair, ...]
    scales: tuple[float, ...]
    released: Release
    is_trial: bool = False
    """Whether it only serves to judge public rows."""
    levels: tuple[Levels, ...] | None = None
    """How each pair joins the groups of its columns; None has each by itself."""
    of_class: NDArray[np.int64] | None = None
    """With which classes each class was counted; None is one by one, or all of them."""

    @property
    def by_class(self) -> bool:
        """Whether classes were counted one by one."""
        return len(self.released.values[Key.PAIRS]) > 1 and self.of_class is None

    def tables(self, groups: Sequence[CellGroups]) -> Iterator[tuple[Pair, Any, float]]:
        """Yield each pair, its counts (n_classes, g, g'), and their noise."""
        std, start = self.released.noise_std[Key.PAIRS], 0
        values = self.released.values[Key.PAIRS]
        levels = self.levels or tuple((groups[j], groups[k]) for j, k in self.pairs)
        for (j, k), sides, scale in zip(self.pairs, levels, self.scales, strict=True):
            shape = (sides[0].n_groups, sides[1].n_groups)
            width = shape[0] * shape[1]
            block = values[:, start : start + width] / scale
            yield (j, k), block.reshape(-1, *shape), std / scale
            start += width


@asked("step")
@saved
@dataclass(frozen=True, eq=False)
class PairCodes:
    """From cells of rows to what pairs count: groups of cells, each row by itself.

    No cell and no label raises: one that is not known counts as none.
    """

    groups: tuple[CellGroups, ...]
    looks: tuple[tuple[int, CellGroups | None], ...]
    by_class: bool
    of_class: NDArray[np.int64] | None = None

    def check_asked(self) -> None:
        """Check what someone else may have made otherwise."""
        last = len(self.groups) - 1
        refuse_unless(
            len(self.groups) > 0
            and len(self.looks) > 0
            and all(has_role(one, "groups") for one in self.groups)
            and all(is_whole(j, 0, last) for j, _ in self.looks)
            and all(one is None or has_role(one, "groups") for _, one in self.looks)
            and type(self.by_class) is bool
            and are_classes(self.of_class),
            "groups of cells, and which of them are looked at",
        )

    def __call__(self, batches: Iterable[EncodedBatch]) -> Iterator[EncodedBatch]:
        """Yield every look at a column, and labels as classes are counted."""
        for batch in batches:
            codes = batch.parts[Key.COLUMNS]
            fine = [one.encode(codes[:, j]) for j, one in enumerate(self.groups)]
            coarse = [one.encode(fine[j]) if one else fine[j] for j, one in self.looks]
            label = batch.labels
            if self.of_class is not None:
                label = class_of(self.of_class, label)
            elif not self.by_class:
                label = np.where(label >= 0, 0, -1)
            yield EncodedBatch(label, {Key.PAIRS: np.stack(coarse).T})


def release_pairs(
    opening: Opening,
    cells: Mapping[Any, Cells],
    labels: Cells | None,
    groups: Sequence[CellGroups],
    pairs: tuple[Pair, ...],
    *,
    by_class: bool,
    share: float,
    is_trial: bool = False,
    levels: tuple[Levels, ...] | None = None,
    of_class: NDArray[np.int64] | None = None,
) -> PairRelease:
    """Count pairs of groups, jointly; ``share`` is of what is left of the budget.

    With ``levels`` each pair joins groups in its own way, fixed before rows are read;
    in its histogram a row is one-hot as before. With ``of_class`` classes are counted
    together, ``by_class`` or not: a row is in one table, as before.
    """
    n_classes = labels.n_cells if by_class and labels is not None else 1
    if of_class is not None:
        n_classes = int(of_class.max()) + 1
    looks, subsets = _looks(groups, pairs, levels)
    sizes = tuple((one or groups[j]).n_groups for j, one in looks)
    scales = cell_scales([sizes[a] * sizes[b] for a, b in subsets])

    step = PairCodes(tuple(groups), tuple(looks), by_class, of_class)
    released = release(
        opening.rows.batches(cells, labels).through(step),
        {Key.PAIRS: Histograms(sizes, scales, subsets)},
        name=f"{len(pairs)} pairs of columns" + (" by class" if n_classes > 1 else ""),
        ledger=opening.ledger,
        share=share * opening.ledger.remaining,
        n_classes=n_classes,
    )
    return PairRelease(pairs, scales, released, is_trial, levels, of_class)


def _looks(
    groups: Sequence[CellGroups],
    pairs: tuple[Pair, ...],
    levels: tuple[Levels, ...] | None,
) -> tuple[list[tuple[int, CellGroups | None]], tuple[Pair, ...]]:
    """Return every way in which a column is looked at, and which two a pair has."""
    if levels is None:
        return [(j, None) for j in range(len(groups))], pairs
    looks: list[tuple[int, CellGroups | None]] = []
    places: dict[tuple[int, int], int] = {}
    subsets = []
    for columns, sides in zip(pairs, levels, strict=True):
        for j, one in zip(columns, sides, strict=True):
            if (j, one.n_groups) not in places:
                places[j, one.n_groups] = len(looks)
                looks.append((j, one))
        first, second = (
            places[j, one.n_groups] for j, one in zip(columns, sides, strict=True)
        )
        subsets.append((first, second))
    return looks, tuple(subsets)
