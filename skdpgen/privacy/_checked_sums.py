"""Whether sums that came from elsewhere have the form of those that were asked for."""

from typing import Any

import numpy as np

from skdpgen.privacy._distinct import EXACT, LEVELS, SLOTS, Seen
from skdpgen.privacy._exact_sum import ExactSum

MOST = 2.0**40  # rows of a party; beyond, noise would be rounded away


def are_alike(found: Any, empty: Any) -> bool:
    """Say whether sums have the form of those over no rows, and are of finite size.

    A sum of another form may break what sensitivity rests on, once it is added to
    those of others: with more classes than were asked for, numpy adds their sums to
    each of them, and each gets noise of its own; beside a number that is too large they
    are rounded, and one row may decide which way.

    Examples
    --------
    >>> are_alike(np.array([[3, 4]]), np.zeros((1, 2), dtype=np.int64))
    True
    >>> are_alike(np.zeros((9, 2), dtype=np.int64), np.zeros((1, 2), dtype=np.int64))
    False
    """
    if type(found) is not type(empty):
        return False
    if isinstance(empty, np.ndarray):
        return _is_array_like(found, empty, MOST)
    if isinstance(empty, ExactSum):
        most = MOST * empty.top
        return (
            (found.top, found.n_bits) == (empty.top, empty.n_bits)
            and _is_array_like(found.low, empty.low, most)
            and _is_array_like(found.high, empty.high, most)
            and _is_array_like(found.used, empty.used, MOST)
        )
    if isinstance(empty, Seen):
        return _is_seen(found)
    if isinstance(empty, list):
        pairs = zip(found, empty, strict=False)
        return len(found) == len(empty) and all(are_alike(*pair) for pair in pairs)
    if isinstance(empty, dict):
        if not empty:  # text, which is counted as it comes
            return _is_counted(found)
        is_same = set(found) == set(empty)
        return is_same and all(are_alike(found[key], empty[key]) for key in empty)
    return False


def _is_array_like(found: Any, empty: Any, most: float) -> bool:
    if not isinstance(found, np.ndarray) or found.dtype != empty.dtype:
        return False
    return found.shape == empty.shape and bool((np.abs(found) <= most).all())


def _is_counted(counts: dict[Any, Any]) -> bool:
    """Say whether text is counted in whole numbers."""
    return all(
        type(value) is str and type(n) is int and 0 <= n <= MOST
        for value, n in counts.items()
    )


def _is_seen(found: Seen) -> bool:
    values, slots = found.first, found.slots
    if not isinstance(values, np.ndarray) or values.dtype != np.uint64:
        return False
    if slots is None:
        return values.ndim == 1 and len(values) < EXACT
    shape = LEVELS, SLOTS // 8
    is_bits = isinstance(slots, np.ndarray) and slots.dtype == np.uint8
    return len(values) == 0 and is_bits and slots.shape == shape
