"""Reading a table: any container becomes pandas columns that are read row by row."""

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd

from skdpgen.tables._dtypes import (
    arrow_kind,
    pandas_kind,
    pandas_name,
    polars_kind,
    polars_name,
)
from skdpgen.tables._layout import Kind, Layout
from skdpgen.utils import SchemaError

SECONDS = {"D": 86_400, "h": 3_600, "m": 60}  # of units that pandas does not have
NOT_A_TIME = np.iinfo(np.int64).min  # what numpy takes for it
Read = tuple[pd.DataFrame, Layout]


def read_table(table: Any) -> Read:
    """Return a pandas view of a table and its layout.

    Raises if what was given is no table of rows and columns, or has a dtype that is not
    supported; never because of a value.

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
    if isinstance(table, pd.DataFrame):
        return _read_pandas(table)
    if type(table).__module__.startswith("torch"):
        return _read_array(_tensor_array(table), "torch")
    if hasattr(table, "__dataframe__") or _is_narwhals(table):
        return _read_narwhals(nw.from_native(table, eager_only=True))
    is_masked = isinstance(table, np.ma.MaskedArray)
    array = table if is_masked else plain_array(table, "X")
    return _read_array(array, "masked" if is_masked else "numpy")


def plain_array(given: Any, what: str) -> Any:
    """Return what numpy makes of a list; an error states no number of rows."""
    try:
        return np.asarray(given)
    except ValueError:  # its text has the number of rows, which may be private
        raise ValueError(
            f"{what} must be rows of equal length. Got a {type(given).__name__} that "
            "is not; give a table, or a list with as many values in each row."
        ) from None


def array_series(array: Any, what: str) -> "pd.Series[Any]":
    """Return an array of one dimension as a series of its dtype; masked is missing.

    Where the dtype cannot say missing, pandas' own that can takes its place.
    """
    kind = pandas_kind(array.dtype, what)
    mask = np.ma.getmaskarray(array) if isinstance(array, np.ma.MaskedArray) else None
    values: Any = np.asarray(array)
    if kind is Kind.DATETIME:
        values = _stored_times(values)
        return pd.Series(
            values if mask is None else np.where(mask, np.datetime64("NaT"), values)
        )
    if kind is Kind.TEXT:
        # objects: pandas would infer times from values, and Arrow refuses some text
        series = pd.Series(values.astype(object), dtype=object)
        return series if mask is None else series.mask(mask, None)
    if mask is None:
        return pd.Series(values)
    if kind is Kind.FLOAT:
        return pd.Series(np.where(mask, values.dtype.type(np.nan), values))
    values = values.astype(values.dtype.newbyteorder("="))
    own = pd.arrays.BooleanArray if kind is Kind.BOOLEAN else pd.arrays.IntegerArray
    return pd.Series(own(values, mask))


def _read_pandas(frame: pd.DataFrame) -> Read:
    names = _distinct(frame.columns)
    dtypes = [frame[name].dtype for name in names]
    pairs = zip(dtypes, names, strict=True)
    kinds = tuple(pandas_kind(dtype, f"Column {name!r}") for dtype, name in pairs)
    return frame, Layout("pandas", names, kinds, tuple(map(pandas_name, dtypes)))


def _read_array(array: Any, container: str) -> Read:
    pandas_kind(array.dtype, "X")
    if array.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {array.ndim}D array instead. Reshape your data: "
            "X must be a table of rows and columns."
        )
    if array.shape[1] == 0:
        raise ValueError("0 feature(s) (shape=(, 0)) while a minimum of 1 is required.")
    columns = [array_series(array[:, i], "X") for i in range(array.shape[1])]
    frame = pd.DataFrame({f"x{i}": column for i, column in enumerate(columns)})
    kind, dtype = pandas_kind(array.dtype, "X"), pandas_name(columns[0].dtype)
    if kind is Kind.DATETIME:
        dtype = str(array.dtype)
    elif kind is Kind.TEXT and array.dtype != object:
        dtype = "str"
    names, n_columns = tuple(frame.columns), len(frame.columns)
    return frame, Layout(container, names, (kind,) * n_columns, (dtype,) * n_columns)


def _tensor_array(tensor: Any) -> Any:
    if str(tensor.dtype) == "torch.bfloat16":
        raise TypeError(
            "X must have a dtype of numpy. Got torch.bfloat16; use `.float()`."
        )
    return tensor.detach().cpu().numpy()


def _read_narwhals(table: Any) -> Read:
    """Read polars, Arrow and other containers; kinds are by dtype alone."""
    backend = str(table.implementation).lower().rpartition(".")[2]
    names = _distinct(table.columns)
    if backend == "pyarrow":
        native = table.to_native()
        types, columns = (
            native.schema.types,
            dict(zip(names, native.columns, strict=True)),
        )
        pairs = zip(types, names, strict=True)
        kinds = [arrow_kind(dtype, f"Column {name!r}") for dtype, name in pairs]
        arrays = {
            n: pd.arrays.ArrowExtensionArray(column) for n, column in columns.items()
        }
        layout = Layout(backend, names, tuple(kinds), tuple(map(str, types)))
        return pd.DataFrame(arrays), layout
    is_strict = backend == "polars"
    found, kinds, dtypes = {}, [], []
    for name in names:
        column = table[name]
        dtype = table.to_native()[name].dtype if is_strict else column.dtype
        kind = polars_kind(dtype, f"Column {name!r}", is_strict=is_strict)
        found[name] = _narwhals_series(column, kind)
        kinds.append(kind)
        dtypes.append(polars_name(dtype))
    return pd.DataFrame(found), Layout(backend, names, tuple(kinds), tuple(dtypes))


def _narwhals_series(column: Any, kind: Kind) -> "pd.Series[Any]":
    if kind is Kind.DATETIME:
        return _stamps(column)
    if kind is Kind.TEXT:
        return pd.Series(column.to_list(), dtype=object)
    numbers = [np.nan if v is None else float(v) for v in column.to_list()]
    return pd.Series(numbers, dtype="float64")


def _stamps(column: Any) -> "pd.Series[Any]":
    """Return times by their stored integers, which are UTC and cannot overflow."""
    is_date = column.dtype == nw.Date
    unit = "D" if is_date else column.dtype.time_unit
    whole = column.cast(nw.Int32 if is_date else nw.Int64).to_list()
    stored = [NOT_A_TIME if value is None else value for value in whole]
    return pd.Series(
        _stored_times(np.array(stored, np.int64).view(f"datetime64[{unit}]"))
    )


def _stored_times(stamps: Any) -> Any:
    """Return times in a unit of pandas; the furthest in that unit where one is beyond.

    Conversions by numpy wrap around, and those by pandas raise, for values too far.
    """
    stamps = stamps.astype(stamps.dtype.newbyteorder("="))
    unit = np.datetime_data(stamps.dtype)[0]
    if unit not in SECONDS:
        return stamps
    furthest = np.iinfo(np.int64).max // SECONDS[unit]
    whole = stamps.view(np.int64).clip(-furthest, furthest) * SECONDS[unit]
    return np.where(np.isnat(stamps), NOT_A_TIME, whole).view("datetime64[s]")


def _distinct(columns: Any) -> tuple[Any, ...]:
    names = tuple(columns)
    if len(set(names)) < len(names):
        repeated = sorted({str(n) for n in names if names.count(n) > 1})
        raise SchemaError(
            f"Column names must be distinct. Got {', '.join(repeated)} twice; "
            "rename the columns."
        )
    return names


def _is_narwhals(table: Any) -> bool:
    try:
        nw.from_native(table, eager_only=True)
    except TypeError:
        return False
    return True
