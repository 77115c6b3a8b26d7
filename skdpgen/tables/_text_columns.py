"""Numbers and times in columns of text: parsed, and written back, in their format.

A column description with a format may leave its bounds to private discovery. Such a
description is a hint.
"""

import re
from dataclasses import dataclass, replace
from enum import IntEnum
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
    with_ends,
)
from skdpgen.tables._layout import Kind
from skdpgen.tables._text_forms import N_FORMS, place_of_number, write_time
from skdpgen.tables._time_forms import FORM_CELLS, ISO_FORMS, PLACES, form_of, iso_place
from skdpgen.tables._values import Codes, Mark, Numbers, Values, seconds_of_text
from skdpgen.utils import (
    saved,
)

# ----------------------------------------------------------------------------
# The type of each cell of text (date, number, word, ...), by public rules.

LABEL = re.compile(r"[A-Za-z]{1,3}-?\d[\dA-Za-z.]*|\d+[A-Za-z]", re.ASCII)


class Says(IntEnum):
    """The type of one cell."""

    NOTHING = 0
    """It is missing."""

    TIME = 1
    """Text of a date or time, in an ISO format without a cell of its own."""

    NUMBER_ITSELF = 2
    """An object that is a number, in a column of objects."""

    TRUTH = 3
    """An object that is True or False."""

    PADDED = 4
    """Digits after a leading zero, as in postcodes: a number would lose the zero."""

    LABEL = 5
    """Letters and digits, as V57 or 12A: numbers in the same column are codes too."""

    WORD = 6
    """Any other text."""

    CODE = 7
    """A word of a public list that often replaces a number: N, NA, unknown."""


_SYMBOLS = "?", "-", "--", ".", "x"
_SHORT = "n", "na", "n/a", "n.a.", "nan", "none", "null", "nil"
_LONG = "unknown", "missing", "other", "refused", "not applicable", "not available"
CODES = frozenset((*_SYMBOLS, *_SHORT, *_LONG))
DATES = len(Says)  # where forms of dates begin
ISO = DATES + len(FORM_CELLS)  # where ISO forms begin
NUMBERS_FROM = ISO + len(ISO_FORMS)  # where forms of numbers begin


@saved("cells.kinds_of_text")
@dataclass(frozen=True)
class TextKinds:
    """One cell for each type of text; forms of dates and numbers come last."""

    nullable = False
    is_ordered = False

    @property
    def n_known(self) -> int:
        """Number of cells."""
        return NUMBERS_FROM + N_FORMS

    n_cells = n_known

    def encode(self, values: Values) -> Codes:
        """Return the type of each cell."""
        if isinstance(values, Numbers):
            missing = np.isnan(values.values)
            return np.where(missing, Says.NOTHING, Says.NUMBER_ITSELF).astype(np.int64)
        marks = values.marks or (Mark.TEXT,) * len(values.values)
        pairs = zip(values.values, marks, strict=True)
        table = [type_of_text(text, mark) for text, mark in pairs]
        return np.array([*table, Says.NOTHING], dtype=np.int64)[values.codes]


def type_of_text(text: str, mark: Mark = Mark.TEXT) -> int:
    """Return the type of a text; forms are numbered after all other types.

    Examples
    --------
    >>> texts = ("2024-02-29", "007", "soon", "V57", " n/a")
    >>> [type_of_text(text).name for text in texts]
    ['TIME', 'PADDED', 'WORD', 'LABEL', 'CODE']
    >>> FORM_CELLS[type_of_text("29.02.2024") - DATES]
    ('%d.%m.%Y', '0', '')
    >>> ISO_FORMS[type_of_text("2024-02-29 08:15") - ISO]
    '%Y-%m-%d %H:%M'
    >>> type_of_text("€ 2.859,76") >= NUMBERS_FROM
    True
    """
    if mark is Mark.NUMBER:
        return Says.NUMBER_ITSELF
    if mark is Mark.TRUTH:
        return Says.TRUTH
    stripped = text.strip()
    number = place_of_number(text)
    if number is not None:
        return NUMBERS_FROM + number
    if stripped.isascii() and stripped.isdigit():
        return Says.PADDED
    if text[:4].isdigit() and not np.isnan(seconds_of_text(text)):
        place = iso_place(text)
        return Says.TIME if place is None else ISO + place
    form = form_of(stripped)
    if form is not None:
        return DATES + PLACES[form]
    if LABEL.fullmatch(stripped):
        return Says.LABEL
    words = " ".join(stripped.lower().split())
    return Says.CODE if words in CODES else Says.WORD


def plausible_codes() -> tuple[str, ...]:
    """Return values that are common in columns of text; a public constant.

    They need no partition selection: each is counted, whether or not a row has it.
    """
    numbers = [*range(100), 777, 888, 999, 9999, -1, -2, -7, -8, -9, -99, -999]
    letters = [*"ABCDEFGHIJKLMNOPQRSTUVWXYZ", *"abcdefghijklmnopqrstuvwxyz"]
    words = ["?", "-", ".", "N/A", "NA", "None", "none", "n/a", "unknown", "Unknown"]
    words += ["UNKNOWN", "other", "Other", "OTHER", "missing", "yes", "no", "Yes"]
    words += ["No", "YES", "NO", "true", "false", "True", "False", "TRUE", "FALSE"]
    words += ["male", "female", "Male", "Female", "not applicable", "refused"]
    return (*map(str, numbers), *letters, *words)


# ----------------------------------------------------------------------------
# Numbers and times in columns of text: parsed, and written back, in their format.

KINDS = {
    Numeric: Kind.FLOAT,
    Integer: Kind.INTEGER,
    Datetime: Kind.DATETIME,
}


def is_written(column: Column) -> bool:
    """Return whether a column describes the format of its text.

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


def with_hint(column: Column, hint: Column) -> Column:
    """Return a discovered column completed by a hint of the schema.

    Examples
    --------
    >>> with_hint(Integer(0, 9), Numeric(decimals=2, nullable=False, parse=True))
    Numeric(lower=0, upper=9, decimals=2, nullable=False, parse=True)
    """
    if isinstance(column, Categorical):  # nothing could be read
        point = "2000-01-01" if isinstance(hint, Datetime) else 0
        return replace(hint, lower=point, upper=point, nullable=True)  # type: ignore[arg-type]
    nullable = column.nullable and hint.nullable
    if isinstance(hint, Datetime):
        assert isinstance(column, Datetime)
        resolution = max(hint, column, key=lambda each: each.step).resolution
        ends = _joined_bounds(column, hint)
        return replace(hint, **ends, resolution=resolution, nullable=nullable)
    ends = _joined_bounds(column, hint)
    assert isinstance(hint, Numeric | Integer)
    assert isinstance(column, Numeric | Integer)
    if isinstance(hint, Numeric) and hint.decimals is not None:
        digits = hint.decimals  # of a discovered bound, too
        given = {"lower": hint.lower, "upper": hint.upper}
        ends |= {e: round(x, digits) for e, x in ends.items() if given[e] is None}
        return replace(hint, **ends, nullable=nullable)
    description: Any = {"nullable": nullable, "parse": hint.parse, "codes": hint.codes}
    description["origin"] = hint.origin
    if hint.format is not None:
        description["format"] = form_of_column(hint).sample(column.decimals)
    return replace(column, **ends, **description)


def read_column(values: Values, column: Column) -> Values:
    """Parse text in the format of the column; NaN for all other text.

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
    parsed = read_text(values, column)
    texts = set(map(str, codes))
    if texts:
        parsed[[text in texts for text in values.values]] = np.nan
    return Numbers(np.append(parsed, np.nan)[values.codes])


def write_text(values: "pd.Series[Any]", column: Column) -> "pd.Series[Any]":
    """Write drawn numbers or times in the format of the column; missing stays missing.

    Examples
    --------
    >>> write_text(pd.Series([1.0, None]), Numeric(0, 1, 2, parse=True)).tolist()
    ['1.00', None]
    >>> write_text(pd.Series([1234.5]), Numeric(0, 5000, format="€ 2.859,76")).tolist()
    ['€ 1.234,50']
    """
    if isinstance(column, Datetime):
        form = column.format or ""
        texts = [None if v is pd.NaT else write_time(v, form) for v in values]
    else:
        assert isinstance(column, Numeric | Integer)
        decimals, missing = column.decimals, values.isna()
        write = form_of_column(column).write
        pairs = zip(values, missing, strict=True)
        texts = [
            None if is_missing else write(float(v), decimals) for v, is_missing in pairs
        ]
    return pd.Series(texts, dtype=object)


def _joined_bounds(column: Any, hint: Any) -> dict[str, Any]:
    """Return the bounds of the hint, and discovered ones where it has none."""
    joined = with_ends(column, hint.lower, hint.upper)
    return {"lower": joined.lower, "upper": joined.upper}
