"""What a schema says, said of cells of text; and synthetic text as numbers again."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pandas as pd

from skdpgen.tables import (
    EPOCH,
    Boolean,
    Categorical,
    Integer,
    Numeric,
    Ordinal,
    Schema,
    form_of_column,
    read_number,
    read_time,
)

NUMBERS = (Numeric, Integer)


def schema_of_text(schema: Schema) -> Schema:
    """Return the schema of the same columns if all cells are text.

    Numbers are to be read from text, and categories are texts: a matter of the file,
    not of the rows.

    Examples
    --------
    >>> found = schema_of_text(Schema({"age": Integer(0, 120), "a": Categorical([1])}))
    >>> found.columns["age"].parse, found.columns["a"].categories
    (True, ('1',))
    """
    columns = {name: _of_text(column) for name, column in schema.columns.items()}
    target = schema.target
    if isinstance(target, Categorical):
        target = _of_text(target)
    return replace(schema, columns=columns, target=target)


def _of_text(column: Any) -> Any:
    if isinstance(column, NUMBERS):
        return replace(column, parse=True)
    if isinstance(column, Categorical | Ordinal):
        if column.categories is None:
            return column
        other = None if column.other is None else str(column.other)
        return replace(
            column, categories=list(map(str, column.categories)), other=other
        )
    return column


def target_of_text(target: pd.Series, schema: Schema, task: str) -> pd.Series:
    """Return the target as what it is to be: numbers, truth values, or text.

    Each cell is read by itself, and what is no number is missing.
    """
    if isinstance(schema.target, Boolean):
        known = {"true": True, "1": True, "yes": True}
        known |= {"false": False, "0": False, "no": False}
        return target.str.strip().str.lower().map(known).astype("boolean")
    if isinstance(schema.target, NUMBERS) or task == "regression":
        return _numbers(target)
    return target


def typed(rows: Any, synthesizer: Any) -> Any:
    """Return rows, synthetic or real, with numbers and times where there is text.

    Cells are read one by one as what the fit took their column for.
    """
    if isinstance(rows, tuple):
        X, y = rows
        y = pd.Series(y).reset_index(drop=True)
        if synthesizer.task_ == "regression" and _is_text(y):
            y = _numbers(y)
        elif synthesizer.task_ == "classification":
            y = y.astype(str)
        return typed(X, synthesizer), y
    found = rows.copy()
    for name, kind in synthesizer.columns_["type"].items():
        if name not in found or not _is_text(found[name]):
            continue
        described = synthesizer.schema_.columns.get(name)
        if kind in ("Numeric", "Integer"):
            read = read_number if described is None else form_of_column(described).read
            found[name] = _numbers(found[name], read)
        elif kind == "Datetime":
            found[name] = _times(found[name], getattr(described, "format", None))
    return found


def _times(column: pd.Series, form: str | None) -> pd.Series:
    """Read times as a fit reads them, which knows other forms than pandas does."""
    if form is not None:
        read = {text: read_time(str(text), form) for text in column.dropna().unique()}
        since = pd.to_timedelta(column.map(read).astype(float), unit="s")
        return EPOCH + since
    # in UTC, because the cells of a column may have several offsets
    found = pd.to_datetime(column, errors="coerce", format="ISO8601", utc=True)
    return found.dt.tz_localize(None)


def _numbers(
    column: pd.Series, read: Callable[[str], float] = read_number
) -> pd.Series:
    """Read numbers as a fit reads them, which knows 1,234.50, too."""
    known = {text: read(str(text)) for text in column.dropna().unique()}
    return column.map(known).astype(float)


def _is_text(column: pd.Series) -> bool:
    return column.dtype == object or pd.api.types.is_string_dtype(column.dtype)
