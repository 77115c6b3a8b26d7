"""What cells of text say: a date, a number, a word; by rules that are public."""

import re
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from skdpgen.tables._values import (
    Codes,
    Mark,
    Numbers,
    Values,
    seconds_of_text,
)
from skdpgen.utils import saved

NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")


class Says(IntEnum):
    """What one cell holds."""

    NOTHING = 0
    """It is missing."""

    TIME = 1
    """Text of a date or time, in ISO format."""

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


@saved
@dataclass(frozen=True)
class TextKinds:
    """One cell for each thing that text may say; knows no data."""

    nullable = False
    is_ordered = False

    @property
    def n_known(self) -> int:
        """Number of cells."""
        return len(Says)

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


def said(text: str, mark: Mark = Mark.TEXT) -> Says:
    """Return what a text says.

    Examples
    --------
    >>> [said(text).name for text in ("2024-02-29", "2.50", "007", "soon")]
    ['TIME', 'NUMBER', 'PADDED', 'WORD']
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
        return Says.TIME
    return Says.WORD
