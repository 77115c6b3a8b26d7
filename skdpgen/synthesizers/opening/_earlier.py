"""Counts that discovery paid for, in line with the cells that were made of them."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from skdpgen.tables import CategoryCells, Cells

Seen = tuple[Mapping[str, float], float]


def earlier_counts(
    cells: Mapping[Any, Cells | None], seen: Mapping[Any, Seen]
) -> dict[Any, tuple[Any, Any]]:
    """Return, for each column, counts of its cells and their variances.

    Parameters
    ----------
    cells : mapping of name to Cells
    seen : mapping of name to (mapping, float)
        RELEASED counts of values that were found, and their noise.

    Cells that were not counted have an infinite variance. Only values are taken, whose
    cells do not depend on their counts; bins were placed by theirs.

    Examples
    --------
    >>> cells = {"job": CategoryCells(("clerk", "nurse"), nullable=False)}
    >>> earlier_counts(cells, {"job": ({"nurse": 40.0}, 5.0)})["job"][1].tolist()
    [inf, 25.0]
    """
    earlier = {}
    for name, (found, std) in seen.items():
        known = cells.get(name)
        if not isinstance(known, CategoryCells):
            continue
        counts, variances = np.zeros(known.n_cells), np.full(known.n_cells, np.inf)
        for place, category in enumerate(known.categories):
            if str(category) in found and place != known.other:
                counts[place], variances[place] = found[str(category)], std**2
        earlier[name] = counts, variances
    return earlier


def joined_earlier(
    first: Mapping[Any, tuple[Any, Any]], second: Mapping[Any, tuple[Any, Any]]
) -> dict[Any, tuple[Any, Any]]:
    """Average two counts of the same cells by the precision of each.

    Examples
    --------
    >>> first = {"job": (np.array([0.0, 40.0]), np.array([np.inf, 25.0]))}
    >>> second = {"job": (np.array([7.0, 50.0]), np.array([4.0, 25.0]))}
    >>> counts, variances = joined_earlier(first, second)["job"]
    >>> counts.tolist(), variances.tolist()
    ([7.0, 45.0], [4.0, 12.5])
    """
    both = {**first, **second}
    for name in first.keys() & second.keys():
        (counts, variances), (others, noise) = first[name], second[name]
        precision = 1.0 / variances + 1.0 / noise
        mean = (counts / variances + others / noise) / precision
        both[name] = mean, 1.0 / precision
    return both
