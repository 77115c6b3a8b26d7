"""A column's values in one of two plain forms, whatever container they came in."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skdpgen.tables._layout import EPOCH, Kind

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Numbers:
    """Numbers, times (seconds since 2000) or truth values; NaN is missing."""

    values: Floats

    def __getitem__(self, rows: slice) -> "Numbers":
        """Return some of the rows."""
        return Numbers(self.values[rows])


@dataclass(frozen=True, eq=False)
class TokenColumn:
    """Text as codes into distinct values; -1 is missing."""

    codes: Codes
    values: tuple[str, ...]

    def __getitem__(self, rows: slice) -> "TokenColumn":
        """Return some of the rows."""
        return TokenColumn(self.codes[rows], self.values)


Values = Numbers | TokenColumn


def read_values(series: "pd.Series[Any]", kind: Kind) -> Values:
    """Read a column; whatever its values are, this does not raise.

    Examples
    --------
    >>> read_values(pd.Series([1, "a", None], dtype=object), Kind.FLOAT).values
    array([ 1., nan, nan])
    """
    if kind is Kind.TEXT:
        return _read_tokens(series)
    if kind is Kind.DATETIME:
        return Numbers(_read_seconds(series))
    try:
        if isinstance(series.dtype, pd.CategoricalDtype):
            series = series.astype(object)
        values = series.to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError):
        values = pd.to_numeric(series, errors="coerce").to_numpy(np.float64, np.nan)
    return Numbers(np.where(np.isfinite(values), values, np.nan))


def as_numbers(values: Values) -> Floats:
    """Read text as numbers where it says some; missing elsewhere."""
    if isinstance(values, Numbers):
        return values.values
    parsed = pd.to_numeric(pd.Series(values.values, dtype=object), errors="coerce")
    table = np.append(parsed.to_numpy(np.float64), np.nan)
    return np.asarray(np.where(np.isfinite(table), table, np.nan)[values.codes])


def _read_tokens(series: "pd.Series[Any]") -> TokenColumn:
    plain = series.astype(object)
    try:
        codes, values = pd.factorize(plain, use_na_sentinel=True)
    except TypeError:  # lists and the like cannot be hashed
        codes, values = pd.factorize(plain.map(_text), use_na_sentinel=True)
    return TokenColumn(codes.astype(np.int64), tuple(map(_text, values)))


def _text(value: Any) -> str:
    try:
        return str(value)
    except Exception:
        return "?"  # a value whose own code fails must not stop the fit


def _read_seconds(series: "pd.Series[Any]") -> Floats:
    if isinstance(series.dtype, pd.CategoricalDtype):
        series = series.astype(object)
    stamps = pd.to_datetime(series, errors="coerce", utc=True).dt.tz_localize(None)
    values = (stamps - EPOCH) / pd.Timedelta(seconds=1)
    return np.asarray(values.to_numpy(np.float64, na_value=np.nan))
