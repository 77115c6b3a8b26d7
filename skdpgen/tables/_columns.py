"""What is publicly known of a column: its kind, its bounds, its categories."""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd

from skdpgen.exceptions import (
    SchemaError,
)
from skdpgen.tables._layout import EPOCH, times_at
from skdpgen.tables._text_forms import (
    has_date,
    has_time_of_day,
    is_form,
    number_form,
    read_time,
)
from skdpgen.utils import (
    asked,
    refuse_unless,
    saved,
)

# ----------------------------------------------------------------------------
# Columns that are not learnt: dropped, or generated for each row.


@saved("column.drop")
@dataclass(frozen=True)
class Drop:
    """A column that is not read and is left out of samples.

    Examples
    --------
    >>> Drop()
    Drop()
    """

    nullable = True

    def check(self, name: str) -> None:
        """Accept any: there is nothing to check."""


@saved("column.regenerate")
@dataclass(frozen=True)
class Regenerate:
    """An identifier or free text: not read, but generated for each sampled row.

    Parameters
    ----------
    template : str, default="{i}"
        Format of the new value; ``{i}`` is the number of the row.

    Examples
    --------
    >>> Regenerate("customer-{i:05d}").template.format(i=7)
    'customer-00007'
    """

    template: str = "{i}"

    nullable = True

    def check(self, name: str) -> None:
        """Raise if the template is not one."""
        try:
            self.template.format(i=0)
        except (IndexError, KeyError, ValueError):
            raise SchemaError(
                f"template of column {name!r} must be a format of i, as 'id-{{i}}'. "
                f"Got {self.template!r} instead."
            ) from None


# ----------------------------------------------------------------------------
# Public facts of a column: its type, its bounds, its categories.

DAY = 86_400.0  # seconds
RESOLUTIONS = {"day": DAY, "hour": 3600.0, "minute": 60.0, "second": 1.0}  # in seconds
EXACT_WHOLE = 2**53  # floats hold every whole number up to it
MAX_CELLS = 2**31  # a lattice with more points than this counts as continuous


@asked("column")
@saved("column.numeric")
@dataclass(frozen=True)
class Numeric:
    """A number between public bounds.

    Parameters
    ----------
    lower, upper : float
        Bounds; values outside are clipped to them. One may be left out, to be
        discovered; both, if something else is stated, such as ``decimals``.
    decimals : int or None, default=None
        Digits after the point that values are rounded to; None is continuous.
    nullable : bool, default=True
        Whether values may be missing.
    parse : bool, default=False
        Whether text is read as numbers in their usual forms: spaces around, a sign,
        separated thousands, as in " +1,234.50". Other text counts as missing. Sampled
        values are text again.
    codes : sequence, default=()
        Special values that are kept unchanged and never averaged, such as -9 or "N".
        They may be outside the bounds, and be text in a column of text.
    format : str or None, default=None
        A sample of the format of text: ``"2.859,76"``, ``"1 234"``, ``"$3.10"``,
        ``"45 %"``. Text is read and written in this format, with the decimals of the
        sample; ``"1.234,56…"`` has any number of them. ``decimals`` overrides it.
    origin : str, default=""
        The marks of the schema that the column is from; certificates repeat them
        (:class:`Schema`).

    Examples
    --------
    >>> Numeric(0, 100, decimals=2).n_values
    10001
    >>> Numeric(0, 5000, format="€ 2.859,76").decimals
    2
    """

    lower: float | None = None
    upper: float | None = None
    decimals: int | None = None
    nullable: bool = True
    parse: bool = False
    codes: Sequence[Any] = ()
    format: str | None = None
    origin: str = field(default="", compare=False, repr=False, kw_only=True)

    def __post_init__(self) -> None:
        """Store a tuple of plain values, for any given sequence."""
        object.__setattr__(self, "codes", _plain(self.codes))
        if self.format is not None:
            _, decimals = number_form(self.format, is_whole=self.decimals == 0)
            if self.decimals is None:
                object.__setattr__(self, "decimals", decimals)

    def __repr__(self) -> str:
        return _shown(self)

    def check_asked(self) -> None:
        """Check what says how text is read, if someone else may have made it."""
        refuse_unless(_reads_plainly(self), "how numbers are read")

    def check(self, name: str) -> None:
        """Raise if the description is incomplete or contradicts itself."""
        _check_bounds(name, self, self.lower, self.upper)
        if self.decimals not in (None, *range(10)):
            raise SchemaError(
                f"decimals of column {name!r} must be None or in 0..9. "
                f"Got {self.decimals!r} instead."
            )

    @property
    def drawn_bounds(self) -> tuple[float, float]:
        """The least and largest number that can be drawn.

        They have no more decimals than stated, unless no such number lies between the
        bounds.

        Examples
        --------
        >>> Numeric(0.25, 0.75, decimals=1).drawn_bounds
        (0.3, 0.7)
        """
        lower, upper = number(self.lower), number(self.upper)
        are_exact = abs(lower) < EXACT_WHOLE and abs(upper) < EXACT_WHOLE
        if self.decimals is None or not are_exact:  # or a bound is left out: NaN
            return lower, upper
        steps = 10.0**self.decimals
        first = _whole(lower * steps, math.ceil) / steps
        last = _whole(upper * steps, math.floor) / steps
        if first > last:
            return lower, upper
        first, last = round(first, self.decimals), round(last, self.decimals)
        return max(first, lower), min(last, upper)

    @property
    def n_values(self) -> int | None:
        """How many values there can be; None if continuous."""
        if self.decimals is None:
            return None
        lower, upper = self.drawn_bounds
        steps = (upper - lower) * 10.0**self.decimals
        return math.floor(steps + 1e-6) + 1 if steps + 1 < MAX_CELLS else None


def _whole(x: float, direction: Callable[[float], int]) -> int:
    """Return a whole number near x: x itself up to rounding errors, or beside it."""
    nearest = round(x)
    return nearest if abs(nearest - x) <= 2 * math.ulp(x) else direction(x)


@asked("column")
@saved("column.integer")
@dataclass(frozen=True)
class Integer:
    """An integer between public bounds, both included; see :class:`Numeric`.

    Examples
    --------
    >>> Integer(17, 90).n_values
    74
    """

    lower: int | None = None
    upper: int | None = None
    nullable: bool = True
    parse: bool = False
    codes: Sequence[Any] = ()
    format: str | None = None
    origin: str = field(default="", compare=False, repr=False, kw_only=True)

    decimals = 0

    def __post_init__(self) -> None:
        """Store a tuple of plain values, for any given sequence."""
        object.__setattr__(self, "codes", _plain(self.codes))
        if self.format is not None:
            number_form(self.format, is_whole=True)

    def __repr__(self) -> str:
        return _shown(self)

    def check_asked(self) -> None:
        """Check what says how text is read, if someone else may have made it."""
        refuse_unless(_reads_plainly(self), "how numbers are read")

    def check(self, name: str) -> None:
        """Raise if the description is incomplete or contradicts itself."""
        _check_bounds(name, self, self.lower, self.upper)
        if (self.lower or 0) % 1 or (self.upper or 0) % 1:
            raise SchemaError(
                f"Bounds of Integer column {name!r} must be whole. Got "
                f"lower={self.lower!r}, upper={self.upper!r}; round them, or say "
                "Numeric."
            )

    @property
    def n_values(self) -> int | None:
        """How many values there can be."""
        return Numeric(self.lower, self.upper, 0).n_values


@asked("column")
@saved("column.datetime")
@dataclass(frozen=True)
class Datetime:
    """A point in time between public bounds (ISO strings or timestamps).

    Parameters
    ----------
    lower, upper : str or Timestamp
        Bounds; times outside are clipped to them. One may be left out, to be
        discovered; both, with a resolution or a format. They may be in that format.
    resolution : {"day", "hour", "minute", "second"} or None, default=None
        What all times are whole numbers of: "day" is dates without a time of day, which
        a ``format`` may say, too. None is continuous.
    nullable : bool, default=True
        Whether times may be missing.
    format : str or None, default=None
        The format of text, as of :meth:`datetime.datetime.strptime`. Other text counts
        as missing, and sampled values are text again. None is ISO format.
    codes : sequence, default=()
        Special words in text that are kept unchanged, such as "never".
    origin : str, default=""
        The marks of the schema that the column is from; certificates repeat them
        (:class:`Schema`).

    Examples
    --------
    >>> Datetime("2020-01-01", "2020-12-31").seconds
    (631152000.0, 662688000.0)
    >>> Datetime("2020-01-01", "2020-12-31", resolution="day").n_values
    366
    """

    lower: Any = None
    upper: Any = None
    resolution: str | None = None
    nullable: bool = True
    format: str | None = None
    codes: Sequence[Any] = ()
    origin: str = field(default="", compare=False, repr=False, kw_only=True)

    def check_asked(self) -> None:
        """Check what says how text is read, if someone else may have made it."""
        is_fine = self.format is None or type(self.format) is str
        are_plain = all(type(code) is str for code in self.codes)
        refuse_unless(is_fine and are_plain, "how times are read")

    def __repr__(self) -> str:
        return _shown(self)

    def __post_init__(self) -> None:
        """Store ISO text, for any given type of time."""
        object.__setattr__(self, "codes", _plain(self.codes))
        if self.format is not None:
            self._take_format(self.format)
        for name in ("lower", "upper"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, _iso(value, self.format))

    def _take_format(self, form: str) -> None:
        """Set what a format says: the resolution, and bounds if it has no date."""
        if not is_form(form):
            raise SchemaError(
                "format of a Datetime must be one that times can be written and read "
                f"in, as '%d.%m.%Y'. Got {form!r} instead."
            )
        is_known = self.resolution is None or self.resolution in [*RESOLUTIONS]
        if is_known and not has_time_of_day(form):
            object.__setattr__(self, "resolution", "day")
        if not has_date(form) and self.lower is self.upper is None:
            object.__setattr__(self, "lower", "2000-01-01T00:00:00")
            object.__setattr__(self, "upper", "2000-01-01T23:59:59")

    def check(self, name: str) -> None:
        """Raise if the description is incomplete or contradicts itself."""
        if self.resolution is not None and self.resolution not in [*RESOLUTIONS]:
            raise SchemaError(
                f"resolution of column {name!r} must be one of "
                f"{', '.join(map(repr, RESOLUTIONS))}, or None. Got "
                f"{self.resolution!r} instead."
            )
        if self.lower is None or self.upper is None:
            _check_bounds(name, self, self.lower, self.upper)
        else:
            _check_bounds(name, self, *self.seconds)

    @property
    def is_time_of_day(self) -> bool:
        """Whether its format has no date, so that its bounds are those of one day."""
        return self.format is not None and not has_date(self.format)

    @property
    def step(self) -> float:
        """Seconds between neighbouring times; 0 if continuous."""
        is_text = isinstance(self.resolution, str)
        return RESOLUTIONS.get(self.resolution, 0.0) if is_text else 0.0  # type: ignore[arg-type]

    @property
    def whole_days(self) -> bool:
        """Whether the column holds dates without a time of day."""
        return self.resolution == "day"

    @property
    def seconds(self) -> tuple[float, float]:
        """Bounds in seconds since the year 2000."""
        return seconds(self.lower), seconds(self.upper)

    @property
    def drawn_bounds(self) -> tuple[float, float]:
        """The first and last time that can be drawn, in seconds.

        They are whole, unless no whole time lies between the bounds.
        """
        lower, upper = self.seconds
        if not self.step:
            return lower, upper
        first, last = lower + -lower % self.step, upper - upper % self.step
        return (first, last) if first <= last else (lower, upper)

    @property
    def n_values(self) -> int | None:
        """How many values there can be; None if continuous."""
        if not self.step or None in (self.lower, self.upper):
            return None
        lower, upper = self.drawn_bounds
        return math.floor((upper - lower) / self.step) + 1


@saved("column.categorical")
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
        The value that replaces every value that is not listed; None counts such values
        as missing.
    origin : str, default=""
        The marks of the schema that the column is from; certificates repeat them
        (:class:`Schema`).

    Examples
    --------
    >>> Categorical(["red", "white"], other="another").values
    ('red', 'white', 'another')
    """

    categories: Sequence[Any] | None = None
    nullable: bool = True
    other: Any = None
    origin: str = field(default="", compare=False, repr=False, kw_only=True)

    def __post_init__(self) -> None:
        """Store a tuple of plain values, for any given sequence."""
        if isinstance(self.categories, str):
            raise SchemaError(
                "categories must be a list of values, as ['a', 'b']. "
                f"Got {self.categories!r} instead."
            )
        if self.categories is not None:
            categories = tuple(
                value.item() if isinstance(value, np.generic) else value
                for value in self.categories
            )
            object.__setattr__(self, "categories", categories)

    @property
    def values(self) -> tuple[Any, ...]:
        """The possible values: the categories, and the replacement of other values."""
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
                "Got none; list some, or say `nullable=True` of a dtype that can be."
            )
        if self.other is not None and self.other != self.other:
            raise SchemaError(
                f"other of column {name!r} must be a value, or None, which counts "
                f"values that are not listed as missing. Got {self.other!r} instead."
            )


@saved("column.ordinal")
@dataclass(frozen=True)
class Ordinal(Categorical):
    """Like :class:`Categorical`, with categories listed in their order.

    Examples
    --------
    >>> Ordinal(["low", "high"]).nullable
    True
    """


@saved("column.boolean")
@dataclass(frozen=True)
class Boolean:
    """True or false.

    Examples
    --------
    >>> Boolean(nullable=False)
    Boolean(nullable=False)
    """

    nullable: bool = True
    origin: str = field(default="", compare=False, repr=False, kw_only=True)

    def check(self, name: str) -> None:
        """Nothing can be wrong."""


Column = (
    Numeric | Integer | Datetime | Categorical | Ordinal | Boolean | Drop | Regenerate
)
NUMBERS = (Numeric, Integer, Datetime)
# What a column may state while a bound is left to discovery. 0 is stated, None is not.
STATED, FORMS = (
    {"lower", "upper", "decimals", "resolution"},
    {"parse", "format", "codes"},
)


def joined_origins(*origins: str) -> str:
    """Return the marks of several schemas or columns, one a line, each once.

    Examples
    --------
    >>> joined_origins("of a form", "", "of public rows", "of a form").splitlines()
    ['of a form', 'of public rows']
    """
    lines = [line for origin in origins for line in origin.splitlines() if line]
    return "\n".join(dict.fromkeys(lines))


def origin_of(column: object) -> str:
    """Return the marks of a column; Drop and Regenerate have none."""
    return str(getattr(column, "origin", ""))


def with_origin(column: Column, origin: str) -> Column:
    """Return a column that carries these marks besides its own.

    Examples
    --------
    >>> with_origin(Integer(0, 9), "of public rows").origin
    'of public rows'
    """
    joined = joined_origins(origin_of(column), origin)
    if isinstance(column, Drop | Regenerate) or joined == column.origin:
        return column
    return replace(column, origin=joined)


def number(value: float | str | None) -> float:
    """Return a bound as a float; NaN if there is none."""
    return math.nan if value is None else float(value)


def _shown(column: Column) -> str:
    """Return the text of a column without codes that it does not have."""
    arguments = [
        f"{item.name}={getattr(column, item.name)!r}"
        for item in fields(column)
        if item.repr and _is_worth_showing(column, item.name)
    ]
    return f"{type(column).__name__}({', '.join(arguments)})"


def _is_worth_showing(column: Column, name: str) -> bool:
    """Leave out codes that a column does not have, and a format of numbers."""
    if name == "codes" or (name == "format" and not isinstance(column, Datetime)):
        return bool(getattr(column, name))
    return True


def _reads_plainly(column: Any) -> bool:
    """Return whether the format of a column has the types that parsing expects."""
    are_plain = all(type(code) in (str, int, float) for code in column.codes)
    form = column.format
    if type(column.parse) is not bool or not are_plain:
        return False
    try:
        if form is not None:
            number_form(form, is_whole=column.decimals == 0)
    except SchemaError:
        return False
    return form is None or type(form) is str


def _plain(values: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(v.item() if isinstance(v, np.generic) else v for v in values)


def is_hint(column: Any) -> bool:
    """Return whether a column states something but leaves a bound to discovery.

    Examples
    --------
    >>> is_hint(Numeric(parse=True)), is_hint(Numeric(0)), is_hint(Numeric(decimals=2))
    (True, True, True)
    >>> is_hint(Numeric(0, 1, parse=True)), is_hint(Numeric(nullable=False))
    (False, False)
    """
    if not isinstance(column, NUMBERS) or None not in (column.lower, column.upper):
        return False
    names = {item.name for item in fields(column)}
    is_stated = any(getattr(column, name) is not None for name in STATED & names)
    return is_stated or any(getattr(column, name) for name in FORMS & names)


def with_ends(column: Any, lower: Any, upper: Any) -> Any:
    """Return a column of numbers or times with those bounds that are given.

    A discovered bound beyond a given one is moved to it.

    Examples
    --------
    >>> with_ends(Numeric(0, 9), 2, None), with_ends(Integer(0, 9), 11.5, None)
    (Numeric(lower=2, upper=9, ...), Integer(lower=12, upper=12, ...))
    """
    if isinstance(column, Integer):
        lower = lower if lower is None else math.ceil(lower)
        upper = upper if upper is None else math.floor(upper)
    key = seconds if isinstance(column, Datetime) else None
    first = column.lower if lower is None else lower
    last = column.upper if upper is None else upper
    if lower is None:
        first = min(first, last, key=key)
    else:
        last = max(first, last, key=key)
    return replace(column, lower=first, upper=last)


def _iso(value: object, form: str | None) -> str:
    try:
        if form is not None and isinstance(value, str) and "-" not in value:
            parsed = read_time(value, form)
            if not math.isnan(parsed):
                value = times_at([parsed])[0]
        stamp = pd.Timestamp(value)
        if pd.isna(stamp):
            raise ValueError("no time")
        return str(stamp.isoformat())
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
    return float((stamp - EPOCH).total_seconds())


def at_zone(column: Column, zone: str | None) -> Column:
    """Return times of a column with a zone: bounds with an offset as clocks show them.

    Bounds without an offset are times in the zone already.

    Examples
    --------
    >>> at_zone(Datetime("2000-01-01T00:00Z", "2001-01-01"), "Asia/Tokyo").lower
    '2000-01-01T09:00:00'
    """
    if zone is None or not isinstance(column, Datetime):
        return column
    ends: dict[str, Any] = {}
    for name in ("lower", "upper"):
        end = getattr(column, name)
        stamp = None if end is None else pd.Timestamp(end)
        if stamp is not None and stamp.tzinfo is not None:
            ends[name] = stamp.tz_convert(zone).tz_localize(None).isoformat()
    return replace(column, **ends)


def _check_bounds(name: str, column: Any, lower: Any, upper: Any) -> None:
    kind = type(column).__name__
    if is_hint(column):
        given = [end for end in (lower, upper) if end is not None]
        are_finite = all(isinstance(x, Real) and math.isfinite(x) for x in given)
        if kind != "Datetime" and not are_finite:  # times are checked as they are given
            raise SchemaError(
                f"{kind} column {name!r} must have finite bounds, as int or float. "
                f"Got lower={lower!r}, upper={upper!r}; correct the bound."
            )
        return
    if lower is None or upper is None:
        raise SchemaError(
            f"{kind} column {name!r} needs lower and upper. Got "
            f"lower={lower!r}, upper={upper!r}; give public bounds, or leave the "
            "column out to have them discovered."
        )
    is_number = isinstance(lower, Real) and isinstance(upper, Real)
    if isinstance(column, Datetime) and is_number and not lower <= upper:
        raise SchemaError(
            f"Datetime column {name!r} must have lower <= upper. Got "
            f"lower={column.lower!r}, upper={column.upper!r}; exchange or correct the "
            "bounds."
        )
    # a width that overflows has no cells; NaN is in no range
    if not (is_number and 0 <= upper - lower < math.inf):
        raise SchemaError(
            f"{kind} column {name!r} must have finite lower <= upper, as int or float, "
            f"and a finite width. Got lower={lower!r}, upper={upper!r}; exchange or "
            "correct the bounds."
        )


# ----------------------------------------------------------------------------
# A column type as plain values, and back: for files, and for users.

FIELDS_OF_SCHEMA = {"origin"}  # that it stores once for all of its columns
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
        if item.name in FIELDS_OF_SCHEMA:
            continue
        value = getattr(column, item.name)
        if isinstance(value, tuple):
            value = list(value)
        if value is not None and (value or item.name not in ("parse", "codes")):
            content[item.name] = value
    return content


def column_from_dict(name: str, content: object) -> Column:
    """Return a column from the plain values of :func:`column_to_dict`, or unchanged."""
    if isinstance(content, Column):
        return content
    if not isinstance(content, Mapping):
        raise SchemaError(
            f"Column {name!r} must be a column type, as Integer(0, 120), or a table "
            "with a type, as {'type': 'Integer', 'lower': 0, 'upper': 120}. "
            f"Got {type(content).__name__} instead."
        )
    content = dict(content)
    kind = content.pop("type", None)
    if kind not in TYPES:
        raise SchemaError(
            f"type of column {name!r} must be one of {', '.join(TYPES)}. "
            f"Got {kind!r} instead."
        )
    allowed = {item.name for item in fields(TYPES[kind])} - FIELDS_OF_SCHEMA
    if not set(content) <= allowed:
        raise SchemaError(
            f"{kind} column {name!r} takes {', '.join(sorted(allowed)) or 'nothing'}. "
            f"Got {', '.join(sorted(set(content) - allowed))} besides."
        )
    column: Column = TYPES[kind](**content)
    return column


def schema_toml(content: Mapping[str, Any]) -> str:
    """Return the plain values of a schema as TOML.

    Examples
    --------
    >>> print(schema_toml({"columns": {"age": {"type": "Integer", "lower": 0}}}))
    [columns."age"]
    type = "Integer"
    lower = 0
    <BLANKLINE>
    """
    lines = []
    for entry in ("other", "origin"):
        if entry in content:
            lines += [f"{entry} = {_toml(content[entry])}", ""]
    tables = [(f"columns.{_toml(str(n))}", c) for n, c in content["columns"].items()]
    tables += [("target", content["target"])] if "target" in content else []
    heads = [(f"[{heading}]", column) for heading, column in tables]
    heads += [("[[rules]]", rule) for rule in content.get("rules", ())]
    for heading, column in heads:
        lines += [heading]
        lines += [f"{key} = {_toml(value)}" for key, value in column.items()]
        lines += [""]
    return "\n".join(lines)


def _toml(value: object) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, float) and value == int(value):
        return f"{value:.1f}"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
