"""Cells of many columns, some at a time: most tiles of a wide table have no pair."""

from collections.abc import Iterator, Sequence
from itertools import combinations_with_replacement

WHOLE = 1_000  # cells that are worked on together
TILE = 256  # of more cells

Slices = tuple[slice, slice]


def meetings(width: int) -> Iterator[Slices]:
    """Yield which cells meet which: all at once, or tiles on and above the diagonal.

    Examples
    --------
    >>> list(meetings(300))
    [(slice(0, 300, None), slice(0, 300, None))]
    >>> len(list(meetings(4_000)))
    136
    """
    step = width if width <= WHOLE else TILE
    tiles = [slice(a, min(a + step, width)) for a in range(0, width, step)]
    return combinations_with_replacement(tiles, 2)


def runs(sizes: Sequence[int]) -> list[list[int]]:
    """Return the cells of columns, in runs of whole columns.

    Examples
    --------
    >>> runs([3, 2, 4]), runs([600, 100, 100, 300])
    ([[3, 2, 4]], [[600], [100, 100], [300]])
    """
    most = WHOLE if sum(sizes) <= WHOLE else TILE
    found: list[list[int]] = [[]]
    for size in sizes:
        if found[-1] and sum(found[-1]) + size > most:
            found.append([])
        found[-1].append(size)
    return found
