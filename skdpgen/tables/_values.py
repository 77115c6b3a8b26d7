"""A column's values in one of two plain forms, independently of its container.

Reading is row by row: what becomes of a value depends on that value and on the dtype,
never on the rest of the column. A reader that guesses from a whole column would let one
row change the codes of all, and no sensitivity would hold.
"""

import warnings
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api import types

from skdpgen.tables._layout import Kind
from skdpgen.tables._zones import local_seconds

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

UNITS = {"D": 86_400.0, "h": 3_600.0, "m": 60.0, "s": 1.0}
UNITS |= {"ms": 1e-3, "us": 1e-6, "ns": 1e-9}
PYTHON_NUMBERS = (int, float, Decimal, np.integer, np.floating)
EPOCH_SECONDS = 946_684_800.0  # 2000-01-01, since 1970


@dataclass(frozen=True, eq=False)
class Numbers:
    """Numbers, times (seconds since 2000) or truth values; NaN is missing.

    Parameters
    ----------
    values : ndarray of float64
    whole : ndarray of int64 or uint64, or None, default=None
        The same without rounding, for labels; any number where a row is missing.
    """

    values: Floats
    whole: NDArray[Any] | None = None

    def __getitem__(self, rows: slice | Codes) -> "Numbers":
        """Return some of the rows."""
        whole = None if self.whole is None else self.whole[rows]
        return Numbers(self.values[rows], whole)


class Mark(StrEnum):
    """The original type of a cell that is read as text."""

    TEXT = "t"
    NUMBER = "n"
    TRUTH = "b"


@dataclass(frozen=True, eq=False)
class TokenColumn:
    """Text as codes into values; -1 is missing.

    Parameters
    ----------
    codes : ndarray of int64
        Place of each row among the values.
    values : tuple of str
        Distinct, but that the text 1 and the number 1 are both written "1".
    marks : tuple of Mark or None, default=None
        What each value was; None is text.
    """

    codes: Codes
    values: tuple[str, ...]
    marks: tuple[Mark, ...] | None = None

    def __getitem__(self, rows: slice | Codes) -> "TokenColumn":
        """Return some of the rows."""
        return TokenColumn(self.codes[rows], self.values, self.marks)


Values = Numbers | TokenColumn


def read_values(series: "pd.Series[Any]", kind: Kind) -> Values:
    """Read a column; never raises, whatever its values are.

    Examples
    --------
    >>> read_values(pd.Series([1, "a", None], dtype=object), Kind.FLOAT).values
    array([ 1., nan, nan])
    """
    if isinstance(series.dtype, pd.CategoricalDtype):
        return _read_categories(series, kind)
    if isinstance(series.dtype, pd.ArrowDtype):
        series = _without_dictionary(series)
    if _is_arrow_text(series.dtype):
        tokens = _read_arrow_tokens(series)
        return tokens if kind is Kind.TEXT else Numbers(as_numbers(tokens))
    if kind is Kind.TEXT:
        return _read_tokens(series)
    if kind is Kind.DATETIME and types.is_datetime64_any_dtype(series.dtype):
        return Numbers(_read_seconds(series))
    if types.is_numeric_dtype(series.dtype) or types.is_bool_dtype(series.dtype):
        with np.errstate(all="ignore"):
            values = series.to_numpy(dtype=np.float64, na_value=np.nan)
        return Numbers(np.where(np.isfinite(values), values, np.nan))
    with warnings.catch_warnings(action="ignore"):  # by the code of a cell
        numbers = [_number(value) for value in series]
    return Numbers(np.array(numbers, dtype=np.float64))


def read_whole_labels(series: "pd.Series[Any]") -> Values:
    """Read labels of a whole-number dtype; float64 would merge those beyond 2**53.

    Examples
    --------
    >>> labels = read_whole_labels(pd.Series([2**60, 2**60 + 1]))
    >>> labels.values == 2**60, labels.whole - 2**60
    (array([ True,  True]), array([0, 1]))
    """
    if isinstance(series.dtype, pd.CategoricalDtype):
        listed = read_whole_labels(pd.Series(series.cat.categories))
        if not isinstance(listed, Numbers) or listed.whole is None:
            return read_values(series, Kind.INTEGER)
        codes = series.cat.codes.to_numpy(dtype=np.int64)
        values = np.append(listed.values, np.nan)[codes]
        return Numbers(
            values, np.append(listed.whole, listed.whole.dtype.type(0))[codes]
        )
    numbers = read_values(series, Kind.INTEGER)
    is_whole = types.is_integer_dtype(series.dtype)
    if not isinstance(numbers, Numbers) or not is_whole:
        return numbers
    is_signed = not types.is_unsigned_integer_dtype(series.dtype)
    dtype: Any = np.int64 if is_signed else np.uint64
    return Numbers(numbers.values, series.to_numpy(dtype=dtype, na_value=0))


def read_text_of_numbers(series: "pd.Series[Any]") -> TokenColumn:
    """Read text as it is, since a release may find its form, and all else as numbers.

    Objects such as True or Fraction are numbers by their own code, not by their text.

    Examples
    --------
    >>> column = read_text_of_numbers(pd.Series(["7 kg", True, None], dtype=object))
    >>> column.values, column.codes
    (('7 kg', '1.0'), array([ 0,  1, -1]))
    """
    if isinstance(series.dtype, pd.CategoricalDtype):
        listed = read_text_of_numbers(pd.Series(series.cat.categories))
        places = series.cat.codes.to_numpy(dtype=np.int64)
        codes = np.append(listed.codes, -1)[places]
        return TokenColumn(codes, listed.values, listed.marks)
    if isinstance(series.dtype, pd.ArrowDtype):
        series = _without_dictionary(series)
    if _is_arrow_text(series.dtype):
        return _read_arrow_tokens(series)
    cells = np.empty(len(series), dtype=object)
    with warnings.catch_warnings(action="ignore"):  # by the code of a cell
        cells[:] = [v if issubclass(type(v), str) else _number(v) for v in series]
    return _read_tokens(pd.Series(cells, dtype=object))


def _without_dictionary(series: "pd.Series[Any]") -> "pd.Series[Any]":
    """Replace the codes of a dictionary array of Arrow by its values."""
    from pyarrow import types

    array: Any = series.array.__arrow_array__()
    if not types.is_dictionary(array.type):
        return series
    array = array.cast(array.type.value_type)
    return pd.Series(pd.arrays.ArrowExtensionArray(array))


def _read_categories(series: "pd.Series[Any]", kind: Kind) -> Values:
    """Read each category once and look rows up by code.

    Iterating rows would read intervals of integers as floats once one is missing.
    """
    codes = series.cat.codes.to_numpy(dtype=np.int64)
    categories = series.cat.categories
    if kind is not Kind.TEXT:
        numbers = read_values(pd.Series(categories), kind)
        assert isinstance(numbers, Numbers)
        return Numbers(np.append(numbers.values, np.nan)[codes])
    places, values = _numbered([_text(category) for category in categories])
    return TokenColumn(np.append(places, -1)[codes], values)


def as_numbers(values: Values) -> Floats:
    """Read text as numbers; other text is missing."""
    if isinstance(values, Numbers):
        return values.values
    table = np.array([*map(_number_of_text, values.values), np.nan], dtype=np.float64)
    table[~np.isfinite(table)] = np.nan  # of all at once: one by one it takes longest
    return np.asarray(table[values.codes])


def as_seconds(values: Values) -> Floats:
    """Read text in ISO format as times; missing elsewhere.

    Examples
    --------
    >>> column = TokenColumn(np.array([0, 1]), ("2000-01-02", "soon"))
    >>> as_seconds(column)
    array([86400.,    nan])
    """
    if isinstance(values, Numbers):
        return values.values
    table = [seconds_of_text(value) for value in values.values]
    return np.array([*table, np.nan], dtype=np.float64)[values.codes]


def seconds_of_text(value: str) -> float:
    """Return the seconds since 2000 of a time in ISO format; NaN of other text."""
    try:
        stamp = datetime.fromisoformat(value)
        stamp = stamp if stamp.tzinfo else stamp.replace(tzinfo=UTC)
        return stamp.timestamp() - EPOCH_SECONDS
    except Exception:
        return np.nan


def _read_tokens(series: "pd.Series[Any]") -> TokenColumn:
    """Read each cell as clean text before any two are compared.

    Comparison by pandas is not row by row: 1, True and 1.0 are equal, and half a
    surrogate pair is compared by how it is printed. The first of equals would give its
    name to all.
    """
    with warnings.catch_warnings(action="ignore"):  # by the code of a cell
        marked = [
            None if _is_missing(value) else _mark(value) + _text(value)
            for value in series
        ]
    codes, distinct = _numbered(marked)
    marks = tuple(Mark(text[0]) for text in distinct)
    return TokenColumn(codes, tuple(text[1:] for text in distinct), marks)


def _is_arrow_text(dtype: object) -> bool:
    if isinstance(dtype, pd.StringDtype):
        return dtype.storage == "pyarrow"
    if not isinstance(dtype, pd.ArrowDtype):
        return False
    from pyarrow import types

    kinds = (types.is_string, types.is_large_string, types.is_string_view)
    return any(is_kind(dtype.pyarrow_dtype) for is_kind in kinds)


def _read_arrow_tokens(series: "pd.Series[Any]") -> TokenColumn:
    """Read text as the bytes that Arrow stores, which may be invalid UTF-8."""
    import pyarrow as pa

    array: Any = series.array.__arrow_array__()
    array = pa.chunked_array([array] if isinstance(array, pa.Array) else array)
    coded = array.cast(pa.large_binary()).combine_chunks().dictionary_encode()
    stored = coded.dictionary.to_pylist()
    texts = [raw.decode("utf-8", "replace") for raw in stored]
    places: Codes = np.arange(len(texts))
    values = tuple(texts)
    if len(set(texts)) < len(texts):  # bytes that are no text may be read alike
        places, values = _numbered(texts)
    codes = np.asarray(coded.indices.fill_null(len(stored)), dtype=np.int64)
    return TokenColumn(np.append(places, -1)[codes], values)


def _numbered(texts: "list[str | None]") -> tuple[Codes, tuple[str, ...]]:
    """Return clean texts as codes into those that are distinct; None is -1."""
    codes, distinct = pd.factorize(pd.Series(texts, dtype="str"))
    return codes.astype(np.int64), tuple(map(str, distinct))


def _mark(value: object) -> Mark:
    kind = type(value)  # isinstance would ask the value, whose code may fail
    if issubclass(kind, bool | np.bool_):
        return Mark.TRUTH
    return Mark.NUMBER if issubclass(kind, PYTHON_NUMBERS) else Mark.TEXT


def _is_missing(value: Any) -> bool:
    if value is None or value is pd.NA or value is pd.NaT:
        return True
    kind = type(value)
    try:
        if issubclass(kind, Decimal):
            return bool(value.is_nan())
        return issubclass(kind, float | np.floating) and bool(value != value)
    except Exception:
        return False


def _text(value: object) -> str:
    try:
        return str(value).encode("utf-8", "replace").decode("utf-8")
    except Exception:
        return "?"  # a value whose own code fails must not stop the fit


def _number(value: Any) -> float:
    if issubclass(type(value), complex | np.complexfloating | pd.Timestamp):
        return np.nan
    try:
        parsed = float(value)
    except Exception:
        return np.nan
    return parsed if np.isfinite(parsed) else np.nan


def _number_of_text(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return np.nan


def _read_seconds(series: "pd.Series[Any]") -> Floats:
    """Read times as they are stored; those with a zone as clocks there show them."""
    if isinstance(series.dtype, pd.ArrowDtype):
        zone = getattr(series.dtype.pyarrow_dtype, "tz", None)
        seconds = _read_arrow_seconds(series)
        return seconds if zone is None else local_seconds(seconds, zone)
    zone = getattr(series.dtype, "tz", None)
    stamps = (series if zone is None else series.dt.tz_convert(None)).to_numpy()
    unit, step = np.datetime_data(stamps.dtype)
    values = stamps.astype(np.int64) * (UNITS[unit] * step) - EPOCH_SECONDS
    seconds = np.where(np.isnat(stamps), np.nan, values)
    return seconds if zone is None else local_seconds(seconds, zone)


def _read_arrow_seconds(series: "pd.Series[Any]") -> Floats:
    """Read the stored integers; conversions by Arrow overflow far from 1970."""
    kind = str(series.dtype.pyarrow_dtype)
    is_day = kind.startswith("date32")
    unit = "D" if is_day else getattr(series.dtype.pyarrow_dtype, "unit", "ms")
    array = series.array.__arrow_array__()
    integers = array.cast("int32").cast("int64") if is_day else array.cast("int64")
    values = np.asarray(integers.fill_null(0)) * UNITS[unit] - EPOCH_SECONDS
    return np.where(np.asarray(array.is_null()), np.nan, values)
