"""Whole numbers that must be positive."""

from numbers import Integral
from typing import Any


def check_count(value: Any, name: str) -> int:
    """Return a whole number of at least 1; raise for anything else.

    Examples
    --------
    >>> check_count(3, "chunk_size")
    3
    """
    if not isinstance(value, Integral) or value < 1:
        raise ValueError(
            f"{name} must be an integer in the range [1, inf). Got {value!r} instead."
        )
    return int(value)
