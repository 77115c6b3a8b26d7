"""Products over all sets of rows of a table, without a product twice."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray


def products_of_rows(
    rows: NDArray[Any], order: int, first: int = 0
) -> Iterator[NDArray[Any]]:
    """Yield products over all sets of ``order`` rows, from the row ``first`` on.

    Sets come in the order of ``itertools.combinations``, those that differ in their
    last row alone together.

    Examples
    --------
    >>> rows = np.array([[2.0], [3.0], [5.0]])
    >>> [part.ravel().tolist() for part in products_of_rows(rows, 2)]
    [[6.0, 10.0], [15.0]]
    """
    if order == 1:
        yield rows[first:]
        return
    for j in range(first, len(rows) - order + 1):
        for part in products_of_rows(rows, order - 1, j + 1):
            yield np.asarray(part * rows[j])
