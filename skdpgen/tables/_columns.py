"""What is publicly known of a column: its kind, its bounds, its categories."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd

from skdpgen.tables._left_out_columns import Drop, Regenerate
from skdpgen.utils import SchemaError, saved

DAY = 86_400.0  # seconds
MAX_CELLS = 2**31  # a lattice with more points than this counts as continuous


@saved
@dataclass(frozen=True)
class Numeric:
    """A number between public bounds.

    Parameters
    ----------
    lower, upper : float
        Bounds; values outside are clipped to them.
    decimals : int or None, default=None
        Digits after the point that values are rounded to; None is continuous.
    nullable : bool, default=True
        Whether values may be missing.

    Examples
    --------
    >>> Numeric(0, 100, decimals=2).n_values
    10001
    """

    lower: float | None = None
    upper: float | None = None
    decimals: int | None = None
    nullable: bool = True

    def check(self, name: str) -> None:
        """Raise if the description is incomplete or contradicts itself."""
        _check_bounds(name, self, self.lower, self.upper)
        if self.decimals not in (None, *range(10)):
            raise SchemaError(
                f"decimals of column {name!r} must be None or in 0..9. "
                f"Got {self.decimals!r} instead."
            )

    @property
    def n_values(self) -> int | None:
        """How many values there can be; None if continuous."""
        if self.decimals is None:
            return None
        lower, upper = number(self.lower), number(self.upper)
        count = math.floor((upper - lower) * 10.0**self.decimals + 1e-6) + 1
        return count if count < MAX_CELLS else None


@saved
@dataclass(frozen=True)
class Integer:
    """A whole number between public bounds, both included.

    Examples
    --------
    >>> Integer(17, 90).n_values
    74
    """

    lower: int | None = None
    upper: int | None = None
    nullable: bool = True

    decimals = 0

    def check(self, name: str) -> None:
        """Raise if the description is incomplete or contradicts itself."""
        _check_bounds(name, self, self.lower, self.upper)
        if self.lower % 1 or self.upper % 1:  # type: ignore[operator]
            raise SchemaError(
                f"Bounds of Integer column {name!r} must be whole. Got "
                f"lower={self.lower!r}, upper={self.upper!r}; round them, or say "
                "Numeric."
            )

    @property
    def n_values(self) -> int | None:
        """How many values there can be."""
        return Numeric(self.lower, self.upper, 0).n_values


@saved
@dataclass(frozen=True)
class Datetime:
    """A point in time between public bounds (ISO strings or timestamps).

    Parameters
    ----------
    lower, upper : str or Timestamp
        Bounds; times outside are clipped to them.
    whole_days : bool, default=False
        Whether the column holds dates without a time of day.
    nullable : bool, default=True
        Whether times may be missing.

    Examples
    --------
    >>> Datetime("2020-01-01", "2020-12-31").seconds
    (631152000.0, 662688000.0)
    """

    lower: Any = None
    upper: Any = None
    whole_days: bool = False
    nullable: bool = True

    def __post_init__(self) -> None:
        """Store ISO text, whatever kind of time came in."""
        for name in ("lower", "upper"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, _iso(value))

    def check(self, name: str) -> None:
        """Raise if the description is incomplete or contradicts itself."""
        if self.lower is None or self.upper is None:
            _check_bounds(name, self, self.lower, self.upper)
        _check_bounds(name, self, *self.seconds)

    @property
    def seconds(self) -> tuple[float, float]:
        """Bounds in seconds since the year 2000."""
        return seconds(self.lower), seconds(self.upper)

    @property
    def n_values(self) -> int | None:
        """How many days there are; None if times of day count."""
        lower, upper = self.seconds
        return math.floor((upper - lower) / DAY) + 1 if self.whole_days else None


@saved
@dataclass(frozen=True)
class Categorical:
    """One of a public list of values.

    Parameters
    ----------
    categories : sequence
        The values, in any order.
    nullable : bool, default=True
        Whether values may be missing.
    other : value or None, default=None
        What stands for every value that is not listed; None counts such values as
        missing.

    Examples
    --------
    >>> Categorical(["red", "white"], other="another").values
    ('red', 'white', 'another')
    """

    categories: Sequence[Any] | None = None
    nullable: bool = True
    other: Any = None

    def __post_init__(self) -> None:
        """Store a tuple of plain values, whatever sequence came in."""
        if isinstance(self.categories, str):
            raise SchemaError(
                "categories must be a list of values, as ['a', 'b']. "
                f"Got {self.categories!r} instead."
            )
        if self.categories is not None:
            plain = tuple(
                value.item() if isinstance(value, np.generic) else value
                for value in self.categories
            )
            object.__setattr__(self, "categories", plain)

    @property
    def values(self) -> tuple[Any, ...]:
        """What the column may hold: the categories, and what stands for others."""
        listed = tuple(self.categories or ())
        if self.other is None or str(self.other) in map(str, listed):
            return listed
        return (*listed, self.other)

    def check(self, name: str) -> None:
        """Raise if the description is incomplete or contradicts itself."""
        if self.categories is None:
            raise SchemaError(
                f"Column {name!r} needs its categories. Got None; list the values "
                "it may take, or leave the column out to have them discovered."
            )
        texts = set(map(str, self.categories))
        if len(texts) < len(self.categories):
            raise SchemaError(f"categories of column {name!r} must be distinct.")
        if any(value is None or value != value for value in self.categories):
            raise SchemaError(
                f"categories of column {name!r} must not be missing values. Got "
                f"{list(self.categories)!r}; say `nullable=True` instead."
            )
        if not self.values and not self.nullable:
            raise SchemaError(
                f"Column {name!r} must have a category if it cannot be missing. "
                "Got none; list some, or say `nullable=True`."
            )
        if self.other is not None and self.other != self.other:
            raise SchemaError(
                f"other of column {name!r} must be a value, or None, which counts "
                f"values that are not listed as missing. Got {self.other!r} instead."
            )


@saved
@dataclass(frozen=True)
class Ordinal(Categorical):
    """Like :class:`Categorical`, with categories listed in their order.

    Examples
    --------
    >>> Ordinal(["low", "high"]).nullable
    True
    """


@saved
@dataclass(frozen=True)
class Boolean:
    """True or false.

    Examples
    --------
    >>> Boolean(nullable=False)
    Boolean(nullable=False)
    """

    nullable: bool = True

    def check(self, name: str) -> None:
        """Nothing can be wrong."""


Column = (
    Numeric | Integer | Datetime | Categorical | Ordinal | Boolean | Drop | Regenerate
)
NUMBERS = (Numeric, Integer, Datetime)
TYPES = {
    kind.__name__: kind
    for kind in (
        Numeric,
        Integer,
        Datetime,
        Categorical,
        Ordinal,
        Boolean,
        Drop,
        Regenerate,
    )
}


def column_to_dict(column: Column) -> dict[str, Any]:
    """Return the column as plain types, with its kind under ``"type"``."""
    content: dict[str, Any] = {"type": type(column).__name__}
    for item in fields(column):
        value = getattr(column, item.name)
        if isinstance(value, tuple):
            value = list(value)
        if value is not None:
            content[item.name] = value
    return content


def column_from_dict(name: str, content: dict[str, Any]) -> Column:
    """Read back what :func:`column_to_dict` wrote, or a person."""
    if not isinstance(content, Mapping):
        raise SchemaError(
            f"Column {name!r} must be a table with a type, as {{'type': 'Boolean'}}. "
            f"Got {type(content).__name__} instead."
        )
    content = dict(content)
    kind = content.pop("type", None)
    if kind not in TYPES:
        raise SchemaError(
            f"type of column {name!r} must be one of {', '.join(TYPES)}. "
            f"Got {kind!r} instead."
        )
    allowed = {item.name for item in fields(TYPES[kind])}
    if not set(content) <= allowed:
        raise SchemaError(
            f"{kind} column {name!r} takes {', '.join(sorted(allowed)) or 'nothing'}. "
            f"Got {', '.join(sorted(set(content) - allowed))} besides."
        )
    column: Column = TYPES[kind](**content)
    return column


def number(value: Any) -> float:
    """Return a bound as a float; NaN where there is none."""
    return math.nan if value is None else float(value)


def _iso(value: Any) -> str:
    try:
        return str(pd.Timestamp(value).isoformat())
    except (TypeError, ValueError):
        raise SchemaError(
            "lower and upper of a Datetime must be times, as '2024-01-31'. "
            f"Got {value!r} instead."
        ) from None


def seconds(value: Any) -> float:
    """Return a time as seconds since the year 2000, in UTC."""
    stamp = pd.Timestamp(value)
    if stamp.tzinfo is not None:
        stamp = stamp.tz_convert("UTC").tz_localize(None)
    return float((stamp - pd.Timestamp("2000-01-01")).total_seconds())


def _check_bounds(name: str, column: Any, lower: Any, upper: Any) -> None:
    kind = type(column).__name__
    if lower is None or upper is None:
        raise SchemaError(
            f"{kind} column {name!r} needs lower and upper. Got "
            f"lower={lower!r}, upper={upper!r}; give public bounds, or leave the "
            "column out to have them discovered."
        )
    is_number = isinstance(lower, Real) and isinstance(upper, Real)
    if not (is_number and -math.inf < lower <= upper < math.inf):
        raise SchemaError(
            f"{kind} column {name!r} must have finite lower <= upper. Got "
            f"lower={lower!r}, upper={upper!r}; exchange or correct the bounds."
        )
