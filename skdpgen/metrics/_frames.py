"""Any table as a pandas frame, and any cell as a number or a text key."""

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
from numpy.typing import NDArray


def as_frame(table: Any) -> pd.DataFrame:
    """Turn a frame of any library, an array or images into a pandas frame.

    Examples
    --------
    >>> as_frame(np.zeros((2, 2, 2))).shape
    (2, 4)
    """
    if isinstance(table, pd.DataFrame):
        return table.reset_index(drop=True)
    frame = nw.from_native(table, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        columns = {name: frame[name].to_numpy() for name in frame.columns}
        return pd.DataFrame(columns)
    array = np.asarray(table)
    if array.ndim < 2:
        raise ValueError(
            f"A table must have at least 2 dimensions. Got {array.ndim} instead."
        )
    return pd.DataFrame(array.reshape(len(array), -1))


def as_series(labels: Any) -> pd.Series:
    """Turn a column of labels of any library into a pandas series.

    Examples
    --------
    >>> as_series([[1], [0]]).tolist()
    [1, 0]
    """
    if isinstance(labels, pd.DataFrame):
        labels = labels.iloc[:, 0]
    if isinstance(labels, pd.Series):
        return labels.reset_index(drop=True)
    if hasattr(labels, "to_numpy"):
        labels = labels.to_numpy()
    array = np.asarray(labels)
    return pd.Series(array.reshape(len(array)))


def joined(table: Any) -> pd.DataFrame:
    """Turn a table, or a tuple of a table and its target, into one pandas frame.

    The target gets a name that no column has.

    Examples
    --------
    >>> joined((pd.DataFrame({"a": [1]}), ["yes"])).columns.tolist()
    ['a', '(target)']
    """
    if not isinstance(table, tuple):
        return as_frame(table)
    X, y = table
    return pd.concat([as_frame(X), as_series(y).rename("(target)")], axis=1)


def align(frame: pd.DataFrame, reference: pd.DataFrame) -> pd.DataFrame:
    """Give ``frame`` the columns of ``reference``, by name or else by position.

    Examples
    --------
    >>> left, right = pd.DataFrame({"a": [1], "b": [2]}), pd.DataFrame({"b": [3]})
    >>> align(left, right).columns.tolist()
    ['b']
    """
    if set(reference.columns) <= set(frame.columns):
        return frame[list(reference.columns)]
    if frame.shape[1] == reference.shape[1]:
        return frame.set_axis(reference.columns, axis=1)
    raise ValueError(
        "Real and synthetic rows must have the same columns. Got "
        f"{frame.shape[1]} and {reference.shape[1]} columns of different names. "
        "Give both as frames with the same column names."
    )


def is_numeric(column: pd.Series) -> bool:
    """Say whether a column holds numbers or times rather than categories.

    Booleans and categories are not numbers. A column of Python objects is numeric when
    every cell that is not missing is an ``int`` or a ``float``.

    Examples
    --------
    >>> is_numeric(pd.Series([1, None, 2.5], dtype=object))
    True
    >>> is_numeric(pd.Series(["1", "2"]))
    False
    """
    kinds = pd.api.types
    if kinds.is_bool_dtype(column) or isinstance(column.dtype, pd.CategoricalDtype):
        return False
    if kinds.is_numeric_dtype(column) or is_time(column):
        return not kinds.is_complex_dtype(column)
    return kinds.infer_dtype(column, skipna=True) in {
        "integer",
        "floating",
        "mixed-integer-float",
        "decimal",
    }


def is_time(column: pd.Series) -> bool:
    """Say whether a column holds dates, times or durations.

    Examples
    --------
    >>> is_time(pd.Series([0, 1]))
    False
    """
    kinds = pd.api.types
    return (
        kinds.is_datetime64_any_dtype(column)
        or kinds.is_timedelta64_dtype(column)
        or isinstance(column.dtype, pd.PeriodDtype)
    )


def numbers(column: pd.Series) -> NDArray[np.float64]:
    """Turn a column into floats; what is not a finite number becomes NaN.

    Examples
    --------
    >>> numbers(pd.Series(["1.5", "x", None])).tolist()
    [1.5, nan, nan]
    """
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(object)
    if is_time(column):
        values = _seconds(column)
    else:
        parsed = pd.to_numeric(column, errors="coerce")
        values = parsed.to_numpy(dtype=np.float64, na_value=np.nan)
    # 1e100 squared is still a float, so means and variances stay finite
    return np.where(np.isfinite(values), np.clip(values, -1e100, 1e100), np.nan)


def times(column: pd.Series) -> NDArray[np.float64]:
    """Turn a column of times or of their texts into seconds; NaN where it fails.

    Examples
    --------
    >>> times(pd.Series(["1970-01-02", "never"])).tolist()
    [86400.0, nan]
    """
    if is_time(column):
        return _seconds(column)
    if is_numeric(column):
        return numbers(column)
    parsed = pd.to_datetime(column.astype(object), errors="coerce", utc=True)
    return _seconds(parsed)


def keys(column: pd.Series) -> NDArray[np.object_]:
    """Turn cells into text that compares across dtypes; missing becomes None.

    ``1``, ``1.0`` and ``"1"`` share a key, so labels match whatever their dtype.

    Examples
    --------
    >>> keys(pd.Series([1.0, None, 2.5])).tolist()
    ['1', None, '2.5']
    >>> keys(pd.Series(["a", None], dtype="category")).tolist()
    ['a', None]
    """
    try:
        codes, distinct = pd.factorize(column, use_na_sentinel=True)
    except TypeError:  # cells that cannot be hashed, such as lists
        codes, distinct = pd.factorize(column.astype(str), use_na_sentinel=True)
    names = np.array([*(_key(value) for value in distinct), None], dtype=object)
    return names[codes]


def _seconds(column: pd.Series) -> NDArray[np.float64]:
    if isinstance(column.dtype, pd.PeriodDtype):
        column = column.dt.to_timestamp()
    if str(column.dtype).startswith(("date32", "date64")):  # of Arrow
        column = column.astype("timestamp[s][pyarrow]")
    if pd.api.types.is_timedelta64_dtype(column):
        return column.dt.total_seconds().to_numpy(dtype=np.float64, na_value=np.nan)
    if column.dt.tz is not None:
        column = column.dt.tz_convert(None)
    stamps = column.to_numpy()  # differences of stamps would overflow far from 1970
    if stamps.dtype.kind != "M":
        stamps = stamps.astype("datetime64[us]")
    per_second = np.timedelta64(1, "s") / np.timedelta64(
        1, np.datetime_data(stamps.dtype)[0]
    )
    return np.where(np.isnat(stamps), np.nan, stamps.astype(np.int64) / per_second)


def _key(value: Any) -> str:
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)
