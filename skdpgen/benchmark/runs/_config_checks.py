"""Checks of what a file says, each with a message of one line."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

from skdpgen.utils import ConfigError


def many(key: str, given: Any) -> list[Any]:
    """Return a list, which must hold something."""
    is_list = isinstance(given, list | tuple) and len(given) > 0
    check(is_list, key, "a list of one or more", given)
    return list(given)


def is_amount(value: Any) -> bool:
    """Say whether a value is a finite number above 0."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and 0 < value < math.inf


def is_whole(value: Any, least: int) -> bool:
    """Say whether a value is a whole number, so large at least."""
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return is_number and value >= least


def check(is_right: Any, key: str, wanted: str, got: Any) -> None:
    """Raise what must be of a key, and what was got."""
    if not is_right:
        raise ConfigError(f"`{key}` must be {wanted}. Got {got!r} instead.")


def check_choice(key: str, got: Any, choices: Iterable[str]) -> None:
    """Raise unless a value is one of some words."""
    is_one = isinstance(got, str) and got in choices
    check(is_one, key, f"one of {', '.join(choices)}", got)


def refuse_unknown(given: Mapping[str, Any], known: Any, where: str) -> None:
    """Raise if there are keys that nobody reads."""
    unknown = [str(key) for key in given if key not in known]
    if unknown:
        raise ConfigError(
            f"Unknown in {where}: {', '.join(unknown)}. Known are {', '.join(known)}."
        )


def refuse_twice(key: str, names: list[str]) -> None:
    """Raise if a name stands for two things."""
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ConfigError(f"`{key}` must differ. Got {', '.join(twice)} twice.")
