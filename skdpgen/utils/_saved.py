"""Values that can be written to a file and read back register themselves here."""

from typing import Any, TypeVar

SAVED: dict[str, Any] = {}
T = TypeVar("T", bound=type)


def saved(value: T) -> T:
    """Let a dataclass or an enumeration be part of a saved estimator; a decorator.

    Examples
    --------
    >>> from skdpgen.privacy import Release
    >>> SAVED["Release"] is Release
    True
    """
    if value.__name__ in SAVED:
        raise TypeError(f"Saved values must have distinct names. Got {value!r} twice.")
    SAVED[value.__name__] = value
    return value
