"""Data dictionaries as people keep them: a table with a row for each column."""

from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import pandas as pd

from skdpgen.tables._column_dicts import TYPES
from skdpgen.tables._columns import Column, Datetime, Integer, is_hint
from skdpgen.tables._number_forms import read_number
from skdpgen.utils import SchemaError

OTHER_NAMES = {
    **dict.fromkeys(("number", "float", "double", "real", "decimal"), "Numeric"),
    **dict.fromkeys(("int", "whole number"), "Integer"),
    **dict.fromkeys(("category", "factor", "nominal"), "Categorical"),
    **dict.fromkeys(("bool", "flag"), "Boolean"),
    **dict.fromkeys(("date", "timestamp"), "Datetime"),
}
FLAGS = {
    **dict.fromkeys(("true", "yes", "y", "1"), True),
    **dict.fromkeys(("false", "no", "n", "0"), False),
}
SHOWN = "name, type, lower, upper, decimals, categories, nullable, format"


def read_dictionary(table: Any) -> dict[str, Column]:
    """Return the column types that a data dictionary describes, by name.

    Raises an error that names the row, counted from 1 below the header, and the entry.
    """
    content = _read(table)
    found: dict[str, Column] = {}
    for number, row in enumerate(content.to_dict("records"), start=1):
        name = _text(row.get("name"))
        where = f"Row {number} ({name!r}) of the data dictionary"
        if not name or name in found:
            raise SchemaError(
                f"{where} must name a column, each once. Got "
                f"{'this name twice' if name else 'no name'}; correct it or take the "
                "row out."
            )
        found[name] = _column(where, {str(k): v for k, v in row.items()}, name)
    return found


def _read(table: Any) -> pd.DataFrame:
    """Read a file as text alone, or take a data frame as it is."""
    if isinstance(table, str | Path):
        content = _read_csv(table, ",")
        if len(content.columns) == 1:  # as spreadsheets write it where , is a point
            content = _read_csv(table, ";")
    elif hasattr(table, "to_pandas"):
        content = table.to_pandas()
    elif isinstance(table, pd.DataFrame):
        content = table.copy()
    else:
        raise TypeError(
            "A data dictionary must be the path of a CSV file or a data frame. Got "
            f"{type(table).__name__} instead; for columns by name use "
            "`Schema({'age': Integer(0, 120)})`."
        )
    content.columns = [str(name).strip().lower() for name in content.columns]
    if not {"name", "type"} <= set(content.columns):
        raise SchemaError(
            f"A data dictionary must have the columns name and type, and may have more "
            f"of {SHOWN}. Got {', '.join(content.columns)}."
        )
    return content


def _read_csv(path: str | Path, separator: str) -> pd.DataFrame:
    return pd.read_csv(
        path,
        sep=separator,
        dtype=str,
        keep_default_na=False,
        encoding="utf-8-sig",
        skipinitialspace=True,
    )


def _column(where: str, row: Mapping[str, Any], name: str) -> Column:
    given = _text(row["type"]).lower()
    known = {kind.lower(): kind for kind in TYPES} | OTHER_NAMES
    if given not in known:
        raise SchemaError(
            f"{where}, type: must be one of {', '.join(TYPES)}. Got "
            f"{_text(row['type'])!r}; take the row out to have the column discovered."
        )
    kind = TYPES[known[given]]
    taken = {item.name for item in fields(kind)}
    params: dict[str, Any] = {"whole_days": True} if given == "date" else {}
    for entry, read in READERS.items():
        text = _entry(row.get(entry))
        if text == "" or (kind is Integer and (entry, text) == ("decimals", "0")):
            continue
        if entry not in taken:
            raise SchemaError(
                f"{where}, {entry}: must be empty for the type {kind.__name__}. Got "
                f"{text!r}."
            )
        params[entry] = read(f"{where}, {entry}", text, kind)
    try:
        column: Column = kind(**params)
        if is_hint(column) or not _is_open(column):
            column.check(name)
    except SchemaError as error:
        raise SchemaError(f"{where}: {error}") from None
    return column


def _is_open(column: Column) -> bool:
    """Say whether a bound or the categories are left for `Schema.known` to drop."""
    ends = ("lower", "upper", "categories")
    return any(getattr(column, end, "") is None for end in ends)


def _entry(value: Any) -> Any:
    return value if isinstance(value, list | tuple) else _text(value)


def _text(value: Any) -> str:
    if value is None or value is pd.NaT or value is pd.NA or value != value:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))  # beside an empty cell a whole number is a float
    return str(value).strip()


def _bound(where: str, text: Any, kind: Any) -> Any:
    if kind is Datetime:
        return text
    number = read_number(str(text))
    if number != number:
        raise SchemaError(f"{where}: must be a number. Got {text!r}.")
    return int(number) if kind is Integer and number.is_integer() else number


def _whole(where: str, text: Any, kind: Any) -> int:
    del kind
    if not str(text).isdecimal():
        raise SchemaError(f"{where}: must be a whole number, as 2. Got {text!r}.")
    return int(text)


def _flag(where: str, text: Any, kind: Any) -> bool:
    del kind
    if str(text).lower() not in FLAGS:
        raise SchemaError(f"{where}: must be yes or no. Got {text!r}.")
    return FLAGS[str(text).lower()]


def _categories(where: str, text: Any, kind: Any) -> list[Any]:
    del where, kind
    if isinstance(text, list | tuple):
        return list(text)
    return [part.strip() for part in str(text).split("|")]


def _plain(where: str, text: Any, kind: Any) -> str:
    del where, kind
    return str(text)


READERS: dict[str, Callable[[str, Any, Any], Any]] = {
    "format": _plain,
    "lower": _bound,
    "upper": _bound,
    "decimals": _whole,
    "categories": _categories,
    "nullable": _flag,
    "parse": _flag,
    "whole_days": _flag,
    "template": _plain,
}
