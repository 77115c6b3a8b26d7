"""How finely a pair looks at each of its columns: few cells here leave more there."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from skdpgen.tables import CellGroups, Cells, each_group, group_cells, join_groups

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
