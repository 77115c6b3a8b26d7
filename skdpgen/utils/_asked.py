"""Queries from other parties: the types they may hold, and checks of their fields.

A file can hold any value that is marked ``@saved``, with fields of the sender's choice.
A party that trusts no one answers a question only if each value in it is of a type
that is marked ``@asked`` as well. Such a type knows what its fields must be for its
proof to hold (``check_asked``); all else is refused before a row is read.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import fields
from enum import Enum
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

T = TypeVar("T", bound=type)

ROLES: dict[type, str] = {}
LARGEST_INT = 2**53  # beyond, float64 does not hold every whole number
LONGEST_TEXT = 2**16
MOST_VALUES = 2**26  # in all arrays, texts and numbers together
DEEPEST = 30
INTEGERS = np.int8, np.int16, np.int32, np.int64, np.uint8
DTYPES = frozenset(map(np.dtype, (bool, *INTEGERS, np.float32, np.float64)))


def asked(role: str) -> Callable[[T], T]:
    """Let a saved dataclass be part of a question to a guarded party; a decorator.

    Parameters
    ----------
    role : str
        Its role in a query, which :func:`has_role` compares.
    """

    def mark(value: T) -> T:
        ROLES[value] = role
        return value

    return mark


def has_role(value: object, *roles: str) -> bool:
    """Return whether a value may be part of a query, in one of some roles.

    Examples
    --------
    >>> from skdpgen.privacy import Histograms
    >>> has_role(Histograms((2,)), "block"), has_role((2,), "block")
    (True, False)
    """
    return ROLES.get(type(value)) in roles


def refuse_unless(is_fine: object, what: str) -> None:
    """Raise unless the fields of a query are valid.

    Examples
    --------
    >>> refuse_unless(False, "at least one block")
    Traceback (most recent call last):
    ValueError: A question must hold at least one block. Got another one.
    """
    if not is_fine:
        raise ValueError(f"A question must hold {what}. Got another one.")


def is_whole(value: object, least: int, most: int = LARGEST_INT) -> bool:
    """Return whether a value is a whole number in a range; truth values are not.

    Examples
    --------
    >>> is_whole(3, 1), is_whole(True, 1), is_whole(3.0, 1)
    (True, False, False)
    """
    return type(value) is int and least <= value <= most


def is_amount(value: object, least: float, most: float) -> bool:
    """Return whether a value is a number in a range.

    Examples
    --------
    >>> is_amount(0.5, 0, 1), is_amount(math.nan, 0, 1), is_amount("0.5", 0, 1)
    (True, False, False)
    """
    if not (type(value) is int or type(value) is float):
        return False
    return least <= value <= most


def are_whole(
    values: object, least: int, most: int = LARGEST_INT, n_axes: int = 1
) -> bool:
    """Return whether an array or a tensor has whole numbers in a range.

    Examples
    --------
    >>> are_whole(np.array([0, 2]), 0, 2), are_whole(np.array([0.0, 2.0]), 0, 2)
    (True, False)
    """
    array = _array(values)
    if array is None or array.ndim != n_axes or array.dtype.kind not in "iu":
        return False
    return bool(((array >= least) & (array <= most)).all())


def are_amounts(values: object, most: float, n_axes: int) -> bool:
    """Return whether an array or a tensor has floats of limited size.

    Examples
    --------
    >>> are_amounts(np.zeros(2), 1.0, 1), are_amounts(np.array([np.nan]), 1.0, 1)
    (True, False)
    """
    array = _array(values)
    if array is None or array.ndim != n_axes or array.dtype.kind != "f":
        return False
    return bool((np.abs(array) <= most).all())


def check_asked(value: object) -> None:
    """Check a question and all that it holds; raise for what must not be asked.

    Examples
    --------
    >>> from skdpgen.privacy import Histograms
    >>> check_asked(Histograms((2,)))
    >>> check_asked(Histograms((-2, -3), None, ((0, 1),)))
    Traceback (most recent call last):
    ValueError: A question must hold sizes that are counts of cells. Got another one.
    """
    refuse_unless(_walk(value, 0) <= MOST_VALUES, f"at most {MOST_VALUES} values")


def _walk(value: object, depth: int) -> int:
    """Check a value and its parts; return the number of values.

    Types are compared, not tested by ``isinstance``: a subclass of the sender's may
    behave in any way.
    """
    refuse_unless(depth < DEEPEST, "values that are not nested too deeply")
    if isinstance(value, Enum) or type(value) in (bool, type(None)):
        return 1
    if type(value) is str:
        refuse_unless(len(value) <= LONGEST_TEXT, "texts that are not too long")
        return 1 + len(value) // 8  # as many as numbers of eight bytes
    if type(value) is int:
        refuse_unless(abs(value) <= LARGEST_INT, "whole numbers of 53 bits")
        return 1
    if type(value) is float:
        refuse_unless(math.isfinite(value), "finite numbers")
        return 1
    array = _array(value)
    if array is not None:
        refuse_unless(array.dtype in DTYPES, "arrays of plain numbers")
        is_number = array.dtype.kind != "f" or not np.isnan(array).any()
        refuse_unless(is_number, "arrays of numbers")
        return 1 + array.size
    if type(value) is tuple or type(value) is list:
        return 1 + sum(_walk(item, depth + 1) for item in value)
    if type(value) is dict:
        pairs: Mapping[Any, Any] = value
        return 1 + sum(
            _walk(key, depth + 1) + _walk(item, depth + 1)
            for key, item in pairs.items()
        )
    refuse_unless(type(value) in ROLES, "types that may be asked with")
    part: Any = value  # of a question: a dataclass, which `asked` has marked
    n_values = sum(
        _walk(getattr(part, item.name), depth + 1) for item in fields(part) if item.init
    )
    part.check_asked()  # only now: it may rely on types of fields that were walked
    return 1 + n_values


def _array(value: object) -> NDArray[Any] | None:
    """Return an array, also of a tensor; None of other values."""
    if type(value) is np.ndarray:
        return value
    return value.numpy() if type(value) is torch.Tensor else None
