"""What cells of text say: a date, a number, a word; by rules that are public."""

import re
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from skdpgen.tables._spelling import GROUPS, read_number
from skdpgen.tables._time_forms import FORMS, ISO_FORMS, PLACES, form_of, iso_place
from skdpgen.tables._values import (
    Codes,
    Mark,
    Numbers,
    Values,
    seconds_of_text,
)
from skdpgen.utils import saved

APART = re.compile(rf"-?[1-9]\d{{0,2}}([{GROUPS}]\d{{3}})+(\.\d+)?", re.ASCII)
NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")


class Says(IntEnum):
    """What one cell holds."""

    NOTHING = 0
    """It is missing."""

    TIME = 1
    """Text of a date or time, in an ISO format without a cell of its own."""

    NUMBER = 2
    """Text of a number as a computer writes it."""

    NUMBER_ITSELF = 3
    """An object that is a number, in a column of objects."""

    TRUTH = 4
    """An object that is True or False."""

    PADDED = 5
    """Digits behind a zero, as of postcodes: a number would lose it."""

    WORD = 6
    """Any other text."""

    SPELLED = 7
    """Text of a number as people write it: with a sign, spaces, thousands apart."""

    CODE = 8
    """A word of a public list that stands where a number would: N, NA, unknown."""


_SYMBOLS = "?", "-", "--", ".", "x"
_SHORT = "n", "na", "n/a", "n.a.", "nan", "none", "null", "nil"
_LONG = "unknown", "missing", "other", "refused", "not applicable", "not available"
CODES = frozenset((*_SYMBOLS, *_SHORT, *_LONG))
ISO = len(Says) + len(FORMS)  # where ISO forms begin


@saved
@dataclass(frozen=True)
class TextKinds:
    """One cell for each thing that text may say, forms of times last; no data."""

    nullable = False
    is_ordered = False

    @property
    def n_known(self) -> int:
        """Number of cells."""
        return ISO + len(ISO_FORMS)

    n_cells = n_known

    def encode(self, values: Values) -> Codes:
        """Return what each cell says."""
        if isinstance(values, Numbers):
            missing = np.isnan(values.values)
            return np.where(missing, Says.NOTHING, Says.NUMBER_ITSELF).astype(np.int64)
        marks = values.marks or (Mark.TEXT,) * len(values.values)
        pairs = zip(values.values, marks, strict=True)
        table = [said(text, mark) for text, mark in pairs]
        return np.array([*table, Says.NOTHING], dtype=np.int64)[values.codes]


def said(text: str, mark: Mark = Mark.TEXT) -> int:
    """Return what a text says; forms of dates are numbered behind all others.

    Examples
    --------
    >>> [said(text).name for text in ("2024-02-29", "2.50", "007", "soon", "1,000")]
    ['TIME', 'NUMBER', 'PADDED', 'WORD', 'SPELLED']
    >>> FORMS[said("29.02.2024") - len(Says)], ISO_FORMS[said("2024-02-29 08:15") - ISO]
    ('%d.%m.%Y', '%Y-%m-%d %H:%M')
    """
    if mark is Mark.NUMBER:
        return Says.NUMBER_ITSELF
    if mark is Mark.TRUTH:
        return Says.TRUTH
    if NUMBER.fullmatch(text):
        return Says.NUMBER
    if text.isdigit():
        return Says.PADDED
    if text[:4].isdigit() and not np.isnan(seconds_of_text(text)):
        place = iso_place(text)
        return Says.TIME if place is None else ISO + place
    form = form_of(text)
    if form is not None:
        return len(Says) + PLACES[form]
    if _is_spelled(text):
        return Says.SPELLED
    plain = " ".join(text.lower().split())
    return Says.CODE if plain in CODES else Says.WORD


def _is_spelled(text: str) -> bool:
    """Say whether people would write a number so; 007.5 and 0,125 are none."""
    plain = text.strip().removeprefix("+")
    if plain != text and NUMBER.fullmatch(plain):
        return True
    return bool(APART.fullmatch(plain)) and not np.isnan(read_number(text))


def plausible_codes() -> tuple[str, ...]:
    """Return values that are common in columns of text everywhere; no data.

    They need no partition selection: each is counted, whether or not a row has it.
    """
    numbers = [*range(100), 777, 888, 999, 9999, -1, -2, -7, -8, -9, -99, -999]
    letters = [*"ABCDEFGHIJKLMNOPQRSTUVWXYZ", *"abcdefghijklmnopqrstuvwxyz"]
    words = ["?", "-", ".", "N/A", "NA", "None", "none", "n/a", "unknown", "Unknown"]
    words += ["UNKNOWN", "other", "Other", "OTHER", "missing", "yes", "no", "Yes"]
    words += ["No", "YES", "NO", "true", "false", "True", "False", "TRUE", "FALSE"]
    words += ["male", "female", "Male", "Female", "not applicable", "refused"]
    return (*map(str, numbers), *letters, *words)
