"""How much of a joint release each histogram gets."""

from collections.abc import Sequence

import numpy as np

from skdpgen.privacy import shortened

POWER = 0.5


def cell_scales(sizes: Sequence[int]) -> tuple[float, ...]:
    """Return how much of a release each histogram gets; squares sum to 1, or less.

    A histogram of k cells with noise s in each is off by k s² in all. Under a fixed
    norm the sum of these errors is least if squared scales are in proportion to the
    square root of k. Scales are cut to the few bits that a release counts with.

    Examples
    --------
    >>> [round(scale, 2) for scale in cell_scales([2, 32])]
    [0.45, 0.89]
    """
    squares = np.asarray(sizes, dtype=float) ** POWER
    return tuple(map(shortened, np.sqrt(squares / squares.sum()).tolist()))
