"""Values of a column to be told apart: as text that is shown, or as they are."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from skdpgen.tables._cells import read_text
from skdpgen.tables._columns import Column
from skdpgen.tables._line import AskedCells
from skdpgen.tables._values import Codes, Floats, TokenColumn, Values
from skdpgen.utils import saved


@dataclass(frozen=True, eq=False)
class Levels:
    """A column of numbers: row i holds ``values[codes[i]]``, or nothing."""

    codes: Codes
    values: Floats


def as_tokens(values: Values) -> TokenColumn:
    """Return values as codes into text that is distinct."""
    if isinstance(values, TokenColumn):
        return values
    codes, found = pd.factorize(values.values, use_na_sentinel=True)
    text = (repr(int(v)) if v == int(v) else repr(float(v)) for v in found)
    return TokenColumn(codes.astype(np.int64), tuple(text))


def as_levels(values: Values) -> TokenColumn | Levels:
    """Return values as codes into values, whatever their type."""
    if isinstance(values, TokenColumn):
        return values
    there = np.where(np.isnan(values.values), -1, np.arange(len(values.values)))
    return Levels(there, values.values)


@saved
@dataclass(frozen=True)
class OpenWords:
    """Which text of a column counts as a word whose name is not known yet.

    Parameters
    ----------
    known : tuple of str, default=()
        Words that earlier releases named, or the schema.
    has_numbers : bool, default=False
        Whether text that reads as a number or time is no word.
    written : Column or None, default=None
        How numbers and times are written.
    """

    known: tuple[str, ...] = ()
    has_numbers: bool = False
    written: Column | None = None

    def of(self, values: Values) -> TokenColumn:
        """Return the column as text, with the code -1 where no word is open."""
        tokens = as_tokens(values)
        known = set(self.known)
        is_open = np.array([text not in known for text in tokens.values], dtype=bool)
        if self.has_numbers and len(tokens.values):
            is_open &= np.isnan(read_text(tokens, self.written))
        places = np.append(np.where(is_open, np.arange(len(is_open)), -1), -1)
        return TokenColumn(places[tokens.codes], tokens.values)


@dataclass(frozen=True, eq=False)
class OpenPlaces:
    """What is still open in some rows: cells of numbers, and words; -1 is nothing."""

    codes: Codes  # (n, n_columns)
    tokens: Mapping[Any, TokenColumn]


@saved
@dataclass(frozen=True, eq=False)
class Asked:
    """What a release asks about rows that earlier ones left open.

    Parameters
    ----------
    cells : mapping of name to AskedCells
    words : mapping of name to OpenWords
    """

    cells: Mapping[Any, AskedCells] = field(default_factory=dict)
    words: Mapping[Any, OpenWords] = field(default_factory=dict)

    @property
    def names(self) -> set[Any]:
        """The columns that are read."""
        return {*self.cells, *self.words}
