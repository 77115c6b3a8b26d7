"""Measuring pairs of columns: noisy histograms of pairs, jointly released."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

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
from skdpgen.utils import (
    Key,
    asked,
    has_role,
    is_whole,
    refuse_unless,
    saved,
)

# ----------------------------------------------------------------------------
# Resolution of a pair: a column of few cells lets the other have more groups.

MOST_GROUPS = 24  # of a column in any pair
MOST_OF_ALL_GROUPS = 600  # of all columns, if finer than the given number

Pair = tuple[int, int]
Levels = tuple[CellGroups, CellGroups]
Floats = NDArray[np.float64]


def shared_cells(first: int, second: int, n_groups: int) -> tuple[int, int]:
    """Return how many groups each of two columns gets, from how many they could have.

    Together they have at most ``n_groups`` squared cells, or ``n_groups`` each.

    Examples
    --------
    >>> shared_cells(24, 2, 6), shared_cells(24, 24, 6), shared_cells(3, 4, 6)
    ((18, 2), (6, 6), (3, 4))
    """
    few = min(first, second, n_groups)
    return min(first, n_groups**2 // few), min(second, n_groups**2 // few)


def n_cells(levels: Levels) -> int:
    """Return the number of cells of a pair's table."""
    return levels[0].n_groups * levels[1].n_groups


def finest_groups(n_columns: int, n_groups: int) -> int:
    """Return how many groups a column may have beside a column of few cells."""
    return max(
        n_groups, min(MOST_GROUPS, n_groups**2 // 2, MOST_OF_ALL_GROUPS // n_columns)
    )


def column_groups(
    cells: Mapping[Any, Cells],
    marginals: Mapping[Any, Floats],
    n_groups: int,
    finest: int,
) -> tuple[CellGroups, ...]:
    """Return the finest groups of each column that any of its pairs may have."""
    groups = [group_cells(cells[name], marginals[name], finest) for name in cells]
    sizes = [grouping.n_groups for grouping in groups]
    partner_sizes = [
        min(sizes[:j] + sizes[j + 1 :], default=1) for j in range(len(sizes))
    ]
    group_limits = [
        shared_cells(size, partner_size, n_groups)[0]
        for size, partner_size in zip(sizes, partner_sizes, strict=True)
    ]
    return tuple(
        grouping
        if grouping.n_groups <= n
        else group_cells(cells[name], marginals[name], n)
        for name, grouping, n in zip(cells, groups, group_limits, strict=True)
    )


def pair_levels(
    groups: Sequence[CellGroups],
    marginals: Sequence[Floats],
    pairs: Sequence[Pair],
    n_groups: int,
) -> tuple[Levels, ...]:
    """Return how the groups of both columns of each pair are joined.

    ``marginals`` are RELEASED shares of groups.
    """
    joined: dict[tuple[int, int], CellGroups] = {}

    def level(j: int, n: int) -> CellGroups:
        if (j, n) not in joined:
            joined[j, n] = (
                join_groups(groups[j], marginals[j], n)
                if n < groups[j].n_groups
                else each_group(groups[j])
            )
        return joined[j, n]

    levels = []
    for j, k in pairs:
        sizes = shared_cells(groups[j].n_groups, groups[k].n_groups, n_groups)
        levels.append((level(j, sizes[0]), level(k, sizes[1])))
    return tuple(levels)


def each_pair(
    groups: Sequence[CellGroups], pairs: Sequence[Pair]
) -> tuple[Levels, ...]:
    """Return the finest levels of pairs, which join no groups of a column."""
    return tuple((each_group(groups[j]), each_group(groups[k])) for j, k in pairs)


def spread_pair(
    table: Floats, levels: Levels, marginals: tuple[Floats, Floats]
) -> Floats:
    """Share a pair's excess among the groups that were joined, by each column's shares.

    Examples
    --------
    >>> joined = CellGroups(np.array([0, 0]), 1, 1), CellGroups(np.array([0]), 1, 1)
    >>> shares = np.array([0.3, 0.1]), np.array([1.0])
    >>> spread_pair(np.array([[0.4]]), joined, shares).round(2).tolist()
    [[0.3], [0.1]]
    """
    for axis, (level, marginal) in enumerate(zip(levels, marginals, strict=True)):
        mass = level.add_up(marginal)[level.of_cell]
        even = 1.0 / np.bincount(level.of_cell, minlength=level.n_groups)[level.of_cell]
        within = np.where(mass > 0, marginal / np.where(mass > 0, mass, 1.0), even)
        table = np.take(table, level.of_cell, axis=axis)
        table = table * np.expand_dims(within, 1 - axis)
    return table


def corrected(
    mean: Floats,
    covariance: Floats,
    sums: Floats,
    noise: ArrayLike,
    level: CellGroups,
    of_class: NDArray[np.int64],
) -> tuple[Floats, Floats]:
    r"""Correct counts of groups by class by released sums over groups and classes.

    The least squares estimate. The errors of a group's counts have a covariance
    :math:`\Sigma` of classes, those of other groups are independent. If m groups and,
    as J says, classes are summed with noise of variance :math:`\tau`, each of the
    groups is corrected by the residual times :math:`\Sigma J^\top (m J \Sigma J^\top +
    \tau I)^{-1}`. The returned covariance is the mean over groups.

    Parameters
    ----------
    mean : ndarray of shape (n_classes, n_groups)
    covariance : ndarray of shape (n_classes, n_classes)
    sums : ndarray of shape (n_parts, n_joined)
    noise : float or ndarray of shape (n_joined,)
        Variance of the noise of each sum.
    level : CellGroups
        Which groups are joined.
    of_class : ndarray of int of shape (n_classes,)
        The part of each class.

    Examples
    --------
    >>> level, of_class = CellGroups(np.array([0, 0]), 1, 2), np.array([0])
    >>> mean, covariance = corrected(
    ...     np.array([[3.0, 5.0]]), np.eye(1), np.array([[12.0]]), 2.0, level, of_class
    ... )
    >>> mean.tolist(), covariance.tolist()
    ([[4.0, 6.0]], [[0.75]])
    """
    joins = np.eye(len(sums))[of_class]
    members = np.bincount(level.of_cell, minlength=level.n_groups)
    noise = np.broadcast_to(np.asarray(noise, dtype=np.float64), members.shape)
    of_sums = covariance @ joins  # covariance of counts with sums
    inverse = np.linalg.inv(
        members[:, None, None] * (joins.T @ of_sums)
        + noise[:, None, None] * np.eye(len(sums))
    )
    gains = of_sums @ inverse  # (n_joined, n_classes, n_parts)
    correction = np.einsum("gcp,pg->cg", gains, sums - joins.T @ level.add_up(mean))
    of_groups = members / members.sum()
    remaining = covariance - np.einsum("g,gcp,dp->cd", of_groups, gains, of_sums)
    return mean + correction[:, level.of_cell], remaining


def joins_of(coarse: Levels, fine: Levels) -> Levels:
    """Return how the groups of a fine level join to those of a coarse one.

    Examples
    --------
    >>> one, two = (CellGroups(np.array(x), max(x) + 1, 0) for x in ([0, 0], [0, 1]))
    >>> [side.of_cell.tolist() for side in joins_of((one, two), (two, two))]
    [[0, 0], [0, 1]]
    """
    joins = []
    for few, many in zip(coarse, fine, strict=True):
        of_group = np.zeros(many.n_groups, dtype=np.int32)
        of_group[many.of_cell] = few.of_cell
        joins.append(CellGroups(of_group, few.n_groups, few.n_ordered))
    return joins[0], joins[1]


def corrected_pair(
    table: Floats, variance: float, sums: Floats, noise: float, sides: Levels
) -> tuple[Floats, float]:
    r"""Correct the finest table of a pair by released sums over joined groups.

    The least squares estimate: if m cells with noise of variance :math:`\sigma^2` add
    up to a sum with noise of variance :math:`\tau^2`, each of them is corrected by
    :math:`\sigma^2 / (m \sigma^2 + \tau^2)` of the residual. The returned variance is
    the mean over cells.

    Examples
    --------
    >>> joined = CellGroups(np.array([0, 0]), 1, 1), CellGroups(np.array([0]), 1, 1)
    >>> table, variance = corrected_pair(
    ...     np.array([[3.0], [5.0]]), 1.0, np.array([[12.0]]), 2.0, joined
    ... )
    >>> table.tolist(), variance
    ([[4.0], [6.0]], 0.75)
    """
    first, second = (np.eye(side.n_groups)[side.of_cell] for side in sides)
    members = np.outer(first.sum(axis=0), second.sum(axis=0))
    total = members * variance + noise
    gains = np.divide(variance, total, out=np.zeros_like(total), where=total > 0)
    residual = sums - first.T @ table @ second
    remaining = variance * (1.0 - float((first @ gains @ second.T).mean()))
    return table + first @ (gains * residual) @ second.T, remaining


# ----------------------------------------------------------------------------
# Measuring pairs of columns: noisy histograms of pairs, jointly released.


@saved("release.pairs")
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
    """Classes that each class was counted with; None if separately, or with all."""

    @property
    def by_class(self) -> bool:
        """Whether classes were counted separately."""
        return len(self.released.values[Key.PAIRS]) > 1 and self.of_class is None

    def parts(self, n_classes: int) -> NDArray[np.int64]:
        """Return the part that each class was counted in."""
        if self.of_class is not None:
            return self.of_class
        n_tables = len(self.released.values[Key.PAIRS])
        return np.arange(n_classes) if n_tables > 1 else np.zeros(n_classes, np.int64)

    def tables(
        self, groups: Sequence[CellGroups]
    ) -> Iterator[tuple[Pair, Levels, Floats, float]]:
        """Yield each pair, its levels, counts (n_classes, g, g'), and their noise."""
        std, start = self.released.noise_std[Key.PAIRS], 0
        values = self.released.values[Key.PAIRS]
        levels = self.levels or each_pair(groups, self.pairs)
        for (j, k), sides, scale in zip(self.pairs, levels, self.scales, strict=True):
            shape = (sides[0].n_groups, sides[1].n_groups)
            width = shape[0] * shape[1]
            block = values[:, start : start + width] / scale
            yield (j, k), sides, block.reshape(-1, *shape), std / scale
            start += width


@asked("step")
@saved("step.pair_codes")
@dataclass(frozen=True, eq=False)
class PairCodes:
    """Map the cells of each row to the groups that pairs count.

    No cell and no label raises: unknown ones are ignored. Otherwise a single row could
    end the fit with an error, which is outside the guarantee.
    """

    groups: tuple[CellGroups, ...]
    looks: tuple[tuple[int, CellGroups | None], ...]
    by_class: bool
    of_class: NDArray[np.int64] | None = None

    def check_asked(self) -> None:
        """Check the fields of a step that another party sent."""
        last = len(self.groups) - 1
        refuse_unless(
            len(self.groups) > 0
            and len(self.looks) > 0
            and all(has_role(grouping, "groups") for grouping in self.groups)
            and all(is_whole(j, 0, last) for j, _ in self.looks)
            and all(
                level is None or has_role(level, "groups") for _, level in self.looks
            )
            and type(self.by_class) is bool
            and are_classes(self.of_class),
            "groups of cells, and which of them are looked at",
        )

    def __call__(self, batches: Iterable[EncodedBatch]) -> Iterator[EncodedBatch]:
        """Yield the groups of each column at each level, and labels as counted."""
        for batch in batches:
            codes = batch.parts[Key.COLUMNS]
            fine = [
                grouping.encode(codes[:, j]) for j, grouping in enumerate(self.groups)
            ]
            coarse = [
                level.encode(fine[j]) if level else fine[j] for j, level in self.looks
            ]
            label = batch.labels
            if self.of_class is not None:
                label = class_of(self.of_class, label)
            elif not self.by_class:
                label = np.where(label >= 0, 0, -1)
            yield EncodedBatch(label, {Key.PAIRS: np.stack(coarse).T})


def kind_of_parts(stratum: Any) -> str:
    """Return what rows are counted by, for the certificate; names are public.

    Examples
    --------
    >>> print(kind_of_parts(None), "or", kind_of_parts("region"))
    class or group of 'region'
    """
    return "class" if stratum is None else f"group of {stratum!r}"


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
    weights: Sequence[float] | None = None,
    parts: str = "class",
) -> PairRelease:
    """Count pairs of groups, jointly; ``share`` is of what is left of the budget.

    With ``levels`` each pair joins groups in its own way, fixed before rows are read;
    in its histogram a row is one-hot as before. With ``of_class``, which follows from
    earlier releases, classes are counted together: a row is in the one table that its
    own label names, and two rows are in one or in two of them, as before. Pairs with
    larger ``weights``, which are public, get larger scales; squares sum to 1. The
    certificate says what ``parts`` are, as :func:`kind_of_parts` names them.
    """
    n_classes = labels.n_cells if by_class and labels is not None else 1
    if of_class is not None:
        n_classes = int(of_class.max()) + 1
    views, subsets = _column_views(groups, pairs, levels)
    sizes = tuple((level or groups[j]).n_groups for j, level in views)
    scales = cell_scales([sizes[a] * sizes[b] for a, b in subsets], weights)

    step = PairCodes(tuple(groups), tuple(views), by_class, of_class)
    released = release(
        opening.rows.batches(cells, labels).through(step),
        {Key.PAIRS: Histograms(sizes, scales, subsets)},
        name=f"{len(pairs)} pairs of columns"
        + (f" by {parts}" if n_classes > 1 else ""),
        ledger=opening.ledger,
        share=share * opening.ledger.remaining,
        n_classes=n_classes,
    )
    return PairRelease(pairs, scales, released, is_trial, levels, of_class)


def _column_views(
    groups: Sequence[CellGroups],
    pairs: tuple[Pair, ...],
    levels: tuple[Levels, ...] | None,
) -> tuple[list[tuple[int, CellGroups | None]], tuple[Pair, ...]]:
    """Return each column at each of its levels, and which two of these a pair has."""
    if levels is None:
        return [(j, None) for j in range(len(groups))], pairs
    views: list[tuple[int, CellGroups | None]] = []
    places: dict[tuple[int, int], int] = {}
    subsets = []
    for columns, sides in zip(pairs, levels, strict=True):
        for j, level in zip(columns, sides, strict=True):
            if (j, level.n_groups) not in places:
                places[j, level.n_groups] = len(views)
                views.append((j, level))
        first, second = (
            places[j, level.n_groups] for j, level in zip(columns, sides, strict=True)
        )
        subsets.append((first, second))
    return views, tuple(subsets)
