"""Values of a column to be told apart: as text that is shown, or as they are."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from skdpgen.tables._values import Codes, Floats, TokenColumn, Values


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
