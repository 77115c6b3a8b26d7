"""Numbers and times that a table holds as text: read, and written back, as described.

A column that says how its text is written may leave its bounds to private discovery:
it is a hint of what to look for.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from skdpgen.tables._cells import as_float, form_of_column, read_text
from skdpgen.tables._columns import (
    Categorical,
    Column,
    Datetime,
    Integer,
    Numeric,
    is_hint,
)
from skdpgen.tables._layout import Kind
from skdpgen.tables._spelling import write_time
from skdpgen.tables._values import Numbers, Values

KINDS = {
    Numeric: Kind.FLOAT,
    Integer: Kind.INTEGER,
    Datetime: Kind.DATETIME,
}


def is_written(column: Column) -> bool:
    """Say whether a column describes how its text is written.

    Examples
    --------
    >>> is_written(Numeric(0, 1)), is_written(Datetime(format="%d.%m.%Y"))
    (False, True)
    """
    return bool(getattr(column, "format", None) or getattr(column, "parse", False))


def hinted_kind(column: Column) -> Kind | None:
    """Return the kind of a column whose bounds are left to discovery; None of others.

    Examples
    --------
    >>> hinted_kind(Numeric(parse=True)), hinted_kind(Numeric(0, 1, parse=True))
    (<Kind.FLOAT: 'float'>, None)
    """
    return KINDS[type(column)] if is_hint(column) else None


def with_hint(found: Column, hint: Column) -> Column:
    """Return a discovered column with all that a hint said of it.

    Examples
    --------
    >>> with_hint(Integer(0, 9), Numeric(decimals=2, nullable=False, parse=True))
    Numeric(lower=0, upper=9, decimals=2, nullable=False, parse=True)
    """
    if isinstance(found, Categorical):  # nothing could be read
        point = "2000-01-01" if isinstance(hint, Datetime) else 0
        return replace(hint, lower=point, upper=point, nullable=True)  # type: ignore[arg-type]
    nullable = found.nullable and hint.nullable
    if isinstance(hint, Datetime):
        whole = hint.whole_days or found.whole_days  # type: ignore[union-attr]
        ends = _ends(found, hint)
        return replace(hint, **ends, whole_days=whole, nullable=nullable)
    ends = _ends(found, hint)
    if isinstance(hint, Numeric) and hint.decimals is not None and not hint.codes:
        return replace(hint, **ends, nullable=nullable)
    assert isinstance(hint, Numeric | Integer)
    assert isinstance(found, Numeric | Integer)
    given: Any = {"nullable": nullable, "parse": hint.parse, "codes": hint.codes}
    given["origin"] = hint.origin
    if hint.format is not None:
        given["format"] = form_of_column(hint).sample(found.decimals)
    return replace(found, **ends, **given)


def read_column(values: Values, column: Column) -> Values:
    """Read text as the column says it is written, value by value; NaN elsewhere.

    Codes of the column are no numbers: they become NaN as well.
    """
    codes = getattr(column, "codes", ())
    if isinstance(values, Numbers):
        if not codes:
            return values
        numbers = values.values.copy()
        for code in codes:
            numbers[numbers == as_float(code)] = np.nan
        return Numbers(numbers)
    read = read_text(values, column)
    texts = set(map(str, codes))
    if texts:
        read[[text in texts for text in values.values]] = np.nan
    return Numbers(np.append(read, np.nan)[values.codes])


def write_text(drawn: "pd.Series[Any]", column: Column) -> "pd.Series[Any]":
    """Write drawn numbers or times as the column says; missing stays missing.

    Examples
    --------
    >>> write_text(pd.Series([1.0, None]), Numeric(0, 1, 2, parse=True)).tolist()
    ['1.00', None]
    >>> write_text(pd.Series([1234.5]), Numeric(0, 5000, format="€ 2.859,76")).tolist()
    ['€ 1.234,50']
    """
    if isinstance(column, Datetime):
        form = column.format or ""
        texts = [None if v is pd.NaT else write_time(v, form) for v in drawn]
    else:
        assert isinstance(column, Numeric | Integer)
        decimals, missing = column.decimals, drawn.isna()
        write = form_of_column(column).write
        pairs = zip(drawn, missing, strict=True)
        texts = [None if gone else write(float(v), decimals) for v, gone in pairs]
    return pd.Series(texts, dtype=object)


def _ends(found: Any, hint: Any) -> dict[str, Any]:
    """Return bounds as they were found, but for those that the hint has."""
    if isinstance(hint, Datetime):
        known = hint if hint.is_time_of_day else found
        return {"lower": known.lower, "upper": known.upper}
    lower = found.lower if hint.lower is None else hint.lower
    upper = found.upper if hint.upper is None else hint.upper
    return {"lower": min(lower, upper), "upper": max(lower, upper)}
