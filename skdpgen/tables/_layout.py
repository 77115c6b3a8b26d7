"""The container that came in: names, dtype kinds and how to give the same back."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
from pandas.api import types

from skdpgen.utils import SchemaError, saved

NEVER_MISSING = re.compile(r"u?int\d+|bool")  # numpy's; pandas' own can
NUMBER = re.compile(r"u?int\d+|float\d+")
EPOCH = pd.Timestamp("2000-01-01")


@saved
class Kind(StrEnum):
    """The kind of a dtype; public, where the values are not."""

    FLOAT = "float"
    INTEGER = "integer"
    BOOLEAN = "boolean"
    TEXT = "text"
    DATETIME = "datetime"


@saved
@dataclass(frozen=True)
class Layout:
    """Names and dtypes of a table, without anything that its values decide.

    The categories inside a ``CategoricalDtype`` are private, so such a dtype is kept
    as ``"category"`` with the kind of its categories.

    Parameters
    ----------
    container : str
        ``"pandas"``, ``"numpy"``, ``"torch"`` or the name of a narwhals backend.
    names : tuple
        Column names.
    kinds, dtypes : tuple of str
        Kind and dtype of each column.
    """

    container: str
    names: tuple[Any, ...]
    kinds: tuple[Kind, ...]
    dtypes: tuple[str, ...]

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return len(self.names)

    @property
    def can_be_missing(self) -> tuple[bool, ...]:
        """Whether a column's dtype has a way to say missing."""
        return tuple(not NEVER_MISSING.fullmatch(dtype) for dtype in self.dtypes)

    @property
    def limits(self) -> tuple[tuple[float, float] | None, ...]:
        """Least and greatest number of each dtype; None if it holds none.

        The greatest integer is one that float64 can say: values are drawn as floats.
        """
        return tuple(map(_limits, self.dtypes))

    def is_text(self, column: int) -> bool:
        """Whether values of a column are objects rather than numbers."""
        return self.kinds[column] is Kind.TEXT

    def restore(self, columns: Mapping[Any, Any], container: str | None = None) -> Any:
        """Build the container of this layout from decoded pandas columns."""
        pairs = zip(self.names, self.dtypes, strict=True)
        series = {
            name: _restore_dtype(columns[name], dtype)
            for name, dtype in pairs
            if name in columns
        }
        frame = pd.DataFrame(series)
        container = container or self.container
        if container == "pandas":
            return frame
        if container == "numpy":
            return self._to_array(frame)
        if container == "torch":
            import torch

            return torch.as_tensor(self._to_array(frame))
        missing = frame.astype(object).where(frame.notna(), None)
        content = {name: missing[name].tolist() for name in frame.columns}
        backend: Any = container
        return nw.from_dict(content, backend=backend).to_native()

    def _to_array(self, frame: pd.DataFrame) -> Any:
        if set(self.kinds) == {Kind.TEXT}:
            missing = frame.astype(object)
            return missing.where(frame.notna(), None).to_numpy()
        return np.array(frame, dtype=self.dtypes[0])  # pandas' own is read-only


def read_table(table: Any) -> tuple[pd.DataFrame, Layout]:
    """Return a pandas view of a table and its layout.

    Raises if what was given is no table of rows and columns; never because of a value.

    Examples
    --------
    >>> read_table(np.zeros((2, 1)))[1].kinds
    (<Kind.FLOAT: 'float'>,)
    """
    if hasattr(table, "toarray") and not hasattr(table, "columns"):
        raise TypeError(
            "X must be dense. Got a sparse matrix instead; use `X.toarray()`, "
            "sparse data is not supported."
        )
    kinds: tuple[Kind, ...] | None = None
    if isinstance(table, pd.DataFrame):
        container, frame = "pandas", table
    elif type(table).__module__.startswith("torch"):
        container, frame = "torch", _from_array(table.detach().cpu().numpy())
    elif hasattr(table, "__dataframe__") or _is_narwhals(table):
        container, frame, kinds = _from_narwhals(table)
    else:
        container, frame = "numpy", _from_array(np.asarray(table))
    names = tuple(frame.columns)
    if len(set(names)) < len(names):
        repeated = sorted({str(n) for n in names if list(names).count(n) > 1})
        raise SchemaError(
            f"Column names must be distinct. Got {', '.join(repeated)} twice; "
            "rename the columns."
        )
    columns = [frame[name] for name in names]
    kinds = kinds or tuple(column_kind(column) for column in columns)
    return frame, Layout(
        container, names, kinds, tuple(map(_dtype_name, columns, kinds))
    )


def column_kind(column: "pd.Series[Any]") -> Kind:
    """Return the kind of a dtype; anything that is no number or time is text."""
    dtype: Any = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return column_kind(pd.Series(dtype.categories[:0]))
    if types.is_bool_dtype(dtype):
        return Kind.BOOLEAN
    if types.is_integer_dtype(dtype):
        return Kind.INTEGER
    if types.is_complex_dtype(dtype):
        raise ValueError("Complex data not supported. Got a complex dtype instead.")
    if types.is_float_dtype(dtype):
        return Kind.FLOAT
    if types.is_datetime64_any_dtype(dtype):
        return Kind.DATETIME
    if types.is_timedelta64_dtype(dtype):
        raise TypeError(
            "Time differences are not supported. Got a timedelta dtype instead; "
            "use `.dt.total_seconds()`."
        )
    return Kind.TEXT


def _is_narwhals(table: Any) -> bool:
    try:
        nw.from_native(table, eager_only=True)
    except TypeError:
        return False
    return True


def _from_narwhals(table: Any) -> tuple[str, pd.DataFrame, tuple[Kind, ...]]:
    """Backend, pandas columns that read row by row, and kinds by dtype alone."""
    native = nw.from_native(table, eager_only=True)
    columns, kinds = {}, []
    for column in native.iter_columns():
        kind = _narwhals_kind(column.dtype)
        if kind is Kind.DATETIME:
            series = _stamps(column)
        elif kind is Kind.TEXT:
            series = pd.Series(column.to_list(), dtype=object)
        else:
            values = column.to_list()
            numbers = [np.nan if value is None else float(value) for value in values]
            series = pd.Series(numbers, dtype="float64")
        columns[column.name] = series
        kinds.append(kind)
    backend = str(native.implementation).lower().rpartition(".")[2]
    return backend, pd.DataFrame(columns), tuple(kinds)


def _stamps(column: Any) -> "pd.Series[Any]":
    """Return times by their stored integers, which are UTC and cannot overflow."""
    is_date = column.dtype == nw.Date
    unit = "D" if is_date else column.dtype.time_unit
    whole = column.cast(nw.Int32 if is_date else nw.Int64).to_list()
    lost = np.iinfo(np.int64).min  # what numpy takes for "not a time"
    stored = np.array([lost if value is None else value for value in whole], np.int64)
    stamps = stored.view(f"datetime64[{unit}]")
    return pd.Series(stamps.astype("datetime64[s]") if is_date else stamps)


def _narwhals_kind(dtype: Any) -> Kind:
    if dtype.is_integer():
        return Kind.INTEGER
    if dtype.is_numeric():
        return Kind.FLOAT
    if dtype == nw.Boolean:
        return Kind.BOOLEAN
    if dtype == nw.Date or isinstance(dtype, nw.Datetime):
        return Kind.DATETIME
    if dtype.is_temporal():
        raise TypeError(
            f"Times of day and durations are not supported. Got {dtype} instead; "
            "convert them to numbers."
        )
    return Kind.TEXT


def _from_array(array: Any) -> pd.DataFrame:
    if array.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {array.ndim}D array instead. Reshape your data: "
            "X must be a table of rows and columns."
        )
    if array.shape[1] == 0:
        raise ValueError("0 feature(s) (shape=(, 0)) while a minimum of 1 is required.")
    guess = {"dtype": object} if array.dtype == object else {}
    frame = pd.DataFrame(array, **guess)  # pandas would infer times from values
    frame.columns = [f"x{i}" for i in range(array.shape[1])]
    return frame


def _limits(dtype: str) -> tuple[float, float] | None:
    found = NUMBER.match(dtype.lower())
    if found is None:
        return None
    if found.group().startswith("float"):
        largest = float(np.finfo(found.group()).max)
        return -largest, largest
    info: Any = np.iinfo(found.group())
    return int(info.min), min(int(info.max), 2**63 - 1024)


def _dtype_name(column: "pd.Series[Any]", kind: Kind) -> str:
    dtype: Any = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return "category"
    if dtype == "float64" and kind in (Kind.INTEGER, Kind.BOOLEAN):
        return {Kind.INTEGER: "Int64", Kind.BOOLEAN: "boolean"}[kind]
    return str(dtype)


def _restore_dtype(column: "pd.Series[Any]", dtype: str) -> "pd.Series[Any]":
    if dtype == "category":
        return column.astype("category")
    if dtype.startswith("datetime64") and "," in dtype:  # a time zone
        return column.dt.tz_localize("UTC").astype(dtype)
    if column.dtype.kind == "M" and dtype.startswith(("str", "object")):
        is_daily = (column.dropna() == column.dropna().dt.normalize()).all()
        column = column.dt.strftime("%Y-%m-%d" if is_daily else "%Y-%m-%d %H:%M:%S")
    try:
        return column.astype(dtype)
    except (TypeError, ValueError):
        return column  # a schema may say more than the dtype could hold
