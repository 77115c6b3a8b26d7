"""What other tools write about a table as JSON: read, recognised, compared."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from string import Formatter
from typing import Any

import pandas as pd

from skdpgen.exceptions import InterchangeWarning, SchemaError
from skdpgen.tables._columns import Column, Drop, Regenerate, seconds
from skdpgen.tables._text_forms import read_time, write_time
from skdpgen.utils import warn_caller

Source = str | Path | Mapping[str, Any] | Any  # path, JSON text, mapping, or `to_dict`
Entry = Mapping[str, Any]  # what a file says of one column

# ----------------------------------------------------------------------------
# Read a file, and recognise what wrote it.


def read_json(source: Source, what: str) -> dict[str, Any]:
    """Return the object that a path, JSON text, mapping or ``to_dict()`` holds.

    Parameters
    ----------
    source : str, Path, mapping, or object with a method ``to_dict``
    what : str
        Name of the format, for messages.

    Examples
    --------
    >>> read_json('{"columns": {}}', "SDV metadata")
    {'columns': {}}
    """
    if hasattr(source, "to_dict"):
        source = source.to_dict()
    if isinstance(source, Mapping):
        return dict(source)
    if not isinstance(source, str | Path):
        raise TypeError(
            f"{what} must be the path of a JSON file, JSON text or a mapping. Got "
            f"{type(source).__name__} instead."
        )
    is_text = isinstance(source, str) and source.lstrip().startswith(("{", "["))
    where = "the text" if is_text else str(source)
    try:
        text = "" if is_text else Path(source).read_text(encoding="utf-8-sig")
        content = json.loads(text or str(source))
    except json.JSONDecodeError as error:
        raise SchemaError(
            f"{what} must be JSON. Got {where}, which is none: {error.msg} in line "
            f"{error.lineno}."
        ) from None
    except UnicodeDecodeError:
        raise SchemaError(
            f"{what} must be JSON in UTF-8. Got {where}, which is no text in UTF-8."
        ) from None
    if not isinstance(content, dict):
        raise SchemaError(
            f"{what} must be a JSON object. Got {type(content).__name__} in {where}."
        )
    return content


def format_of(content: Mapping[str, Any]) -> str:
    """Return which tool's format a JSON object has.

    Returns
    -------
    format : {"sdv", "frictionless", "skdpgen"}

    Examples
    --------
    >>> format_of({"METADATA_SPEC_VERSION": "V1", "tables": {}})
    'sdv'
    >>> format_of({"fields": [{"name": "age"}]})
    'frictionless'
    >>> format_of({"columns": {"age": {"type": "Integer"}}})
    'skdpgen'
    """
    columns = content.get("columns")
    entries = list(columns.values()) if isinstance(columns, Mapping) else []
    has_sdtype = any(isinstance(e, Mapping) and "sdtype" in e for e in entries)
    if has_sdtype or {"METADATA_SPEC_VERSION", "tables"} & set(content):
        return "sdv"
    if {"fields", "resources", "schema"} & set(content):
        return "frictionless"
    return "skdpgen"


def chosen_table(
    tables: Mapping[str, Any], table: str | None, what: str
) -> tuple[str, Any]:
    """Return the name and content of the table that is meant; raise if it is unclear.

    Examples
    --------
    >>> chosen_table({"guests": 1}, None, "SDV metadata")
    ('guests', 1)
    """
    names = ", ".join(map(repr, tables)) or "none"
    if table is None and len(tables) == 1:
        return next(iter(tables.items()))
    if table is None:
        raise SchemaError(
            f"{what} has {len(tables)} tables: {names}. A schema describes one; say "
            "which by `table=`."
        )
    if table not in tables:
        raise SchemaError(
            f"table must be one of those in the {what}. Got {table!r}; there are "
            f"{names}."
        )
    return table, tables[table]


def write_json(content: Mapping[str, Any], path: str | Path | None) -> None:
    """Write a JSON file, if there is a path."""
    if path is not None:
        text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)
        Path(path).write_text(text + "\n", encoding="utf-8")


def take_out_target(
    columns: Mapping[str, Column], target: str | None
) -> tuple[dict[str, Column], Column | None]:
    """Return the columns without the target, and the target.

    Examples
    --------
    >>> from skdpgen.tables import Boolean
    >>> take_out_target({"left": Boolean()}, "left")[0]
    {}
    """
    rest = dict(columns)
    if target is None:
        return rest, None
    if target not in rest:
        raise SchemaError(
            f"target must be a column of the file. Got {target!r}; the columns are "
            f"{', '.join(rest)}."
        )
    if isinstance(rest[target], Drop | Regenerate):
        raise SchemaError(
            f"target must be a column that is learnt. Got {target!r}, which the file "
            "describes as an identifier or as unknown; correct its type."
        )
    return rest, rest.pop(target)


def with_target(
    columns: Mapping[Any, Column], target: Column | None, name: str
) -> dict[str, Column]:
    """Return the columns by text names, the target last and under its name.

    Examples
    --------
    >>> from skdpgen.tables import Boolean
    >>> list(with_target({0: Boolean()}, Boolean(), "left"))
    ['0', 'left']
    """
    named = {str(key): column for key, column in columns.items()}
    if len(named) < len(columns):
        raise SchemaError(
            "Names of columns must differ as text to be written to JSON. Got "
            f"{', '.join(map(repr, columns))}."
        )
    if target is None:
        return named
    if name in named:
        raise SchemaError(
            f"target must name the column of y, apart from the others. Got {name!r}, "
            "which is a column of the schema; say another by `target=`."
        )
    return {**named, name: target}


# ----------------------------------------------------------------------------
# What cannot be said in the other format.


class LeftOut:
    """What a conversion leaves out, to be warned of once, with the names of columns.

    Examples
    --------
    >>> left_out = LeftOut()
    >>> left_out.add("column 'income'", ["codes"])
    >>> left_out.lines
    ["column 'income': codes"]
    """

    def __init__(self) -> None:
        self.lines: list[str] = []

    def add(self, where: str, what: Sequence[str]) -> None:
        """Add what is left out in one place, if it is anything."""
        if what:
            self.lines.append(f"{where}: {', '.join(what)}")

    def warn(self, beginning: str) -> None:
        """Warn at the line of the user, if anything was left out."""
        if self.lines:
            warn_caller(f"{beginning} {'; '.join(self.lines)}.", InterchangeWarning)


def differences(column: Column, other: Column) -> list[str]:
    """Return what of a column is another in the second one, in words.

    Examples
    --------
    >>> from skdpgen.tables import Integer, Numeric
    >>> differences(Numeric(0, 9, codes=[-1]), Numeric(0, 9))
    ['codes=[-1]']
    >>> differences(Numeric(0, 9, 0), Integer(0, 9))
    ['the type Numeric (Integer instead)']
    """
    words = []
    if type(column) is not type(other):
        kinds = type(column).__name__, type(other).__name__
        words.append(f"the type {kinds[0]} ({kinds[1]} instead)")
    of_other = {item.name for item in fields(other)}
    for item in fields(column):
        value = getattr(column, item.name)
        if item.name == "origin" or (item.name not in of_other and not value):
            continue
        if value != getattr(other, item.name, None):
            shown = list(value) if isinstance(value, tuple) else value
            words.append(f"{item.name}={shown!r}")
    return words


def check_plain(name: str, column: Column) -> None:
    """Raise if categories or codes of a column are no JSON values."""
    values = (*(getattr(column, "values", ())), *(getattr(column, "codes", ())))
    odd = [v for v in values if not isinstance(v, str | int | float)]
    if odd:
        raise SchemaError(
            f"categories of column {name!r} must be text, numbers or truth values to "
            f"be written to JSON. Got {odd[0]!r}; write it as text."
        )


def checked(where: str, make: Any, name: str, *values: Any, **params: Any) -> Column:
    """Return a column that was made and checked; errors say where it is described.

    A column without bounds or categories is not checked: it is to be filled in.
    """
    try:
        column: Column = make(*values, **params)
        ends = ("lower", "upper", "categories")
        if all(getattr(column, end, "") is not None for end in ends):
            column.check(name)
    except SchemaError as error:
        raise SchemaError(f"{where}: {error}") from None
    return column


# ----------------------------------------------------------------------------
# Times in the format of their column.


def flag_of(where: str, entry: Entry, key: str, *, default: bool) -> bool:
    """Return what an entry says of a key: true or false; anything else raises.

    Examples
    --------
    >>> flag_of("field 'age'", {"unique": True}, "unique", default=False)
    True
    """
    value = entry.get(key, default)
    if not isinstance(value, bool):
        raise SchemaError(f"{where}, {key}: must be true or false. Got {value!r}.")
    return value


def time_text(value: str | None, form: str | None, *, whole_days: bool) -> str | None:
    """Return a bound as it is written in a file; None where there is none.

    Without a format a bound of whole days has no time of day.

    Examples
    --------
    >>> time_text("2024-03-01T00:00:00", "%d.%m.%Y", whole_days=True)
    '01.03.2024'
    >>> time_text("2024-03-01T00:00:00", None, whole_days=True)
    '2024-03-01'
    """
    if value is None:
        return None
    if form is not None:
        return write_time(pd.Timestamp("2000-01-01") + _after_2000(value), form)
    return value.removesuffix("T00:00:00") if whole_days else value


def _after_2000(value: str) -> pd.Timedelta:
    return pd.Timedelta(seconds=seconds(value))


def time_of_text(where: str, value: object, form: str | None) -> str | None:
    """Return a bound of a file as ISO text; raise if it is not in its format.

    Examples
    --------
    >>> time_of_text("Column 'day'", "01.03.2024", "%d.%m.%Y")
    '2024-03-01T00:00:00'
    """
    if value is None:
        return None
    if not isinstance(value, str):
        raise SchemaError(f"{where} must be a time as text. Got {value!r}.")
    if form is None:
        return value
    read = read_time(value, form)
    if read != read:
        raise SchemaError(
            f"{where} must be a time in the format {form!r}. Got {value!r}."
        )
    stamp = pd.Timestamp("2000-01-01") + pd.Timedelta(seconds=read)
    return str(stamp.isoformat())


def are_dates(*bounds: object) -> bool:
    """Say whether all bounds are written as dates, without a time of day.

    Examples
    --------
    >>> are_dates("2024-03-01", None), are_dates("2024-03-01T08:00:00"), are_dates(None)
    (True, False, False)
    """
    given = [value for value in bounds if value is not None]
    return bool(given) and all(
        re.fullmatch(r"\d{4}-\d{2}-\d{2}", str(value)) for value in given
    )


# ----------------------------------------------------------------------------
# Identifiers: a template of ours, a regular expression elsewhere.

_LITERAL = r"(?:\\[^\w\s]|[^\\^$*+?{}\[\]|().])*"
_TEMPLATE = re.compile(
    rf"\^?(?P<before>{_LITERAL})(?:\[0-9\]|\\d)(?:\{{(?P<n>\d+)\}}|\+)"
    rf"(?P<after>{_LITERAL})\$?"
)


def regex_of(template: str) -> str | None:
    """Return the regular expression of a template; None if there is none for it.

    Examples
    --------
    >>> regex_of("customer-{i:05d}"), regex_of("{i}"), regex_of("{i:x}")
    ('customer-[0-9]{5}', None, None)
    """
    parts = list(Formatter().parse(template))
    numbers = [(name, spec) for _, name, spec, _ in parts if name is not None]
    if template == "{i}" or len(numbers) != 1 or numbers[0][0] != "i":
        return None
    width = re.fullmatch(r"(?:0(\d+)d)?", numbers[0][1] or "")
    if width is None:
        return None
    digits = f"[0-9]{{{width[1]}}}" if width[1] else "[0-9]+"
    return "".join(
        _escaped(text) + (digits if name is not None else "")
        for text, name, _, _ in parts
    )


def template_of(regex: str) -> str | None:
    r"""Return the template of an expression with one number in it, or None.

    Examples
    --------
    >>> template_of("HID_[0-9]{3}"), template_of(r"\d+"), template_of("[A-Z]{2}[0-9]+")
    ('HID_{i:03d}', '{i}', None)
    """
    found = _TEMPLATE.fullmatch(regex)
    if found is None:
        return None
    before, after = (
        re.sub(r"\\(.)", r"\1", found[part]).replace("{", "{{").replace("}", "}}")
        for part in ("before", "after")
    )
    number = f"{{i:0{found['n']}d}}" if found["n"] else "{i}"
    return before + number + after


def _escaped(text: str) -> str:
    return re.sub(r"([\\^$*+?{}\[\]|().])", r"\\\1", text)
