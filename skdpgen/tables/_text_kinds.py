"""What cells of text say: a date, a number, a word; by rules that are public."""

import re
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from skdpgen.tables._number_forms import N_FORMS, place_of_number
from skdpgen.tables._time_forms import (
    FORM_CELLS,
    ISO_FORMS,
    PLACES,
    form_of,
    iso_place,
)
from skdpgen.tables._values import (
    Codes,
    Mark,
    Numbers,
    Values,
    seconds_of_text,
)
from skdpgen.utils import saved

LABEL = re.compile(r"[A-Za-z]{1,3}-?\d[\dA-Za-z.]*|\d+[A-Za-z]", re.ASCII)


class Says(IntEnum):
    """What one cell holds."""

    NOTHING = 0
    """It is missing."""

    TIME = 1
    """Text of a date or time, in an ISO format without a cell of its own."""

    NUMBER_ITSELF = 2
    """An object that is a number, in a column of objects."""

    TRUTH = 3
    """An object that is True or False."""

    PADDED = 4
    """Digits behind a zero, as of postcodes: a number would lose it."""

    LABEL = 5
    """Letters and digits in one, as V57 or 12A: what stands beside it is a code."""

    WORD = 6
    """Any other text."""

    CODE = 7
    """A word of a public list that stands where a number would: N, NA, unknown."""


_SYMBOLS = "?", "-", "--", ".", "x"
_SHORT = "n", "na", "n/a", "n.a.", "nan", "none", "null", "nil"
_LONG = "unknown", "missing", "other", "refused", "not applicable", "not available"
CODES = frozenset((*_SYMBOLS, *_SHORT, *_LONG))
DATES = len(Says)  # where forms of dates begin
ISO = DATES + len(FORM_CELLS)  # where ISO forms begin
NUMBERS_FROM = ISO + len(ISO_FORMS)  # where forms of numbers begin


@saved
@dataclass(frozen=True)
class TextKinds:
    """One cell for each thing that text may say, forms last; no data."""

    nullable = False
    is_ordered = False

    @property
    def n_known(self) -> int:
        """Number of cells."""
        return NUMBERS_FROM + N_FORMS

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
    """Return what a text says; forms are numbered behind all else.

    Examples
    --------
    >>> [said(text).name for text in ("2024-02-29", "007", "soon", "V57", " n/a")]
    ['TIME', 'PADDED', 'WORD', 'LABEL', 'CODE']
    >>> FORM_CELLS[said("29.02.2024") - DATES]
    ('%d.%m.%Y', '0', '')
    >>> ISO_FORMS[said("2024-02-29 08:15") - ISO]
    '%Y-%m-%d %H:%M'
    >>> said("€ 2.859,76") >= NUMBERS_FROM
    True
    """
    if mark is Mark.NUMBER:
        return Says.NUMBER_ITSELF
    if mark is Mark.TRUTH:
        return Says.TRUTH
    plain = text.strip()
    number = place_of_number(text)
    if number is not None:
        return NUMBERS_FROM + number
    if plain.isascii() and plain.isdigit():
        return Says.PADDED
    if text[:4].isdigit() and not np.isnan(seconds_of_text(text)):
        place = iso_place(text)
        return Says.TIME if place is None else ISO + place
    form = form_of(plain)
    if form is not None:
        return DATES + PLACES[form]
    if LABEL.fullmatch(plain):
        return Says.LABEL
    words = " ".join(plain.lower().split())
    return Says.CODE if words in CODES else Says.WORD


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
