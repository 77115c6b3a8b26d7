"""Data frames of any library: reading columns, and writing them back alike."""

import ast
import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, TypeVar

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from skdpgen.exceptions import (
    SchemaError,
)
from skdpgen.tables._layout import Kind, Layout
from skdpgen.tables._zones import in_utc

if TYPE_CHECKING:
    import polars
    import pyarrow
    import torch

T = TypeVar("T")
Dtype: TypeAlias = "np.dtype[Any] | pd.api.extensions.ExtensionDtype"

# ----------------------------------------------------------------------------
# Dtypes: the kind of each that can be read; others raise an error with their name.
#
# This is decided from the dtype of a column only, before a row is read. So an error
# reveals nothing about the rows.

UNITS = ("D", "h", "m", "s", "ms", "us", "ns")  # of times; longer ones differ in length
NUMPY_KINDS = {
    "b": Kind.BOOLEAN,
    "i": Kind.INTEGER,
    "u": Kind.INTEGER,
    "f": Kind.FLOAT,
    "M": Kind.DATETIME,
    "O": Kind.TEXT,
    "U": Kind.TEXT,
    "T": Kind.TEXT,
}
POLARS_KINDS = {  # besides integers and floats
    "Boolean": Kind.BOOLEAN,
    "Date": Kind.DATETIME,
    "Datetime": Kind.DATETIME,
    "Decimal": Kind.FLOAT,
    "String": Kind.TEXT,
    "Categorical": Kind.TEXT,
    "Enum": Kind.TEXT,
    "Null": Kind.TEXT,
}
TO_TEXT = "decode it to text"
TO_PARTS = "make a column of each of its parts"
TO_NUMBER = "convert it to a number, as its total seconds"
TO_NAMED = "name the zone, as in `.dt.tz_convert('Europe/Berlin')`"
TO_SECONDS = "use `.dt.total_seconds()`"
TO_ANYTHING = "convert it to numbers, text, truth values or times"
WAYS_OUT = {
    pd.PeriodDtype: "use `.dt.to_timestamp()`",
    pd.IntervalDtype: "use its two ends as columns, or `.astype(str)`",
    pd.SparseDtype: "use `.sparse.to_dense()`",
    "m": TO_SECONDS,
    "S": TO_TEXT,
    "V": "use `pandas.DataFrame(X)`, which has a column for each field",
    "M": "use `.astype('datetime64[s]')`",
    "Time": "convert it to a number, as seconds since midnight, or to text",
    "Duration": TO_NUMBER,
    "Binary": TO_TEXT,
    "List": TO_PARTS,
    "Array": TO_PARTS,
    "Struct": TO_PARTS,
}


def pandas_kind(dtype: Dtype, subject: str) -> Kind:
    """Return the kind of a dtype of pandas or numpy, or refuse it by name.

    Examples
    --------
    >>> pandas_kind(np.dtype("float16"), "Column 'a'")
    <Kind.FLOAT: 'float'>
    >>> pandas_kind(pd.PeriodDtype("M"), "Column 'a'")
    Traceback (most recent call last):
      ...
    TypeError: Column 'a' must hold numbers, text, truth values or times. Got dtype \
period[M], which is not supported; use `.dt.to_timestamp()`.
    """
    if isinstance(dtype, pd.CategoricalDtype):
        inner = dtype.categories.dtype
        is_text = isinstance(inner, pd.IntervalDtype | pd.PeriodDtype)
        return Kind.TEXT if is_text else pandas_kind(inner, subject)
    if isinstance(dtype, pd.ArrowDtype):
        return arrow_kind(dtype.pyarrow_dtype, subject)
    if isinstance(dtype, pd.DatetimeTZDtype):
        if not _is_named(dtype):
            _refuse(subject, dtype, TO_NAMED)
        return Kind.DATETIME
    if isinstance(dtype, pd.StringDtype):
        return Kind.TEXT
    if isinstance(dtype, np.dtype):
        return _numpy_kind(dtype, subject)
    inner = getattr(dtype, "numpy_dtype", None)  # of Int64, Float32, boolean
    if inner is None:
        _refuse(subject, dtype, WAYS_OUT.get(type(dtype), TO_ANYTHING))
    return _numpy_kind(inner, subject)


def _is_named(dtype: pd.DatetimeTZDtype) -> bool:
    """Return whether the name of a dtype has its zone; files of `tzfile` have none."""
    try:
        return bool(pd.DatetimeTZDtype.construct_from_string(str(dtype)) == dtype)
    except TypeError:
        return False


def _numpy_kind(dtype: "np.dtype[Any]", subject: str) -> Kind:
    if dtype.kind == "c":
        raise ValueError(
            f"Complex data not supported. {subject} has dtype {dtype}; use the real "
            "and the imaginary part as columns."
        )
    stored = [(unit, 1) for unit in UNITS]
    is_odd = dtype.kind == "M" and np.datetime_data(dtype) not in stored
    if is_odd or dtype.kind not in NUMPY_KINDS:
        # of bytes and records `str(dtype)` has a width: that of the longest value
        name = dtype.type.__name__ if dtype.kind in "SV" else dtype
        _refuse(subject, name, WAYS_OUT.get(dtype.kind, TO_ANYTHING))
    return NUMPY_KINDS[dtype.kind]


def arrow_kind(dtype: "pyarrow.DataType", subject: str) -> Kind:
    """Return the kind of an Arrow type, or refuse it by name."""
    from pyarrow import types

    if types.is_dictionary(dtype):
        return arrow_kind(dtype.value_type, subject)
    kinds = {
        Kind.BOOLEAN: (types.is_boolean,),
        Kind.INTEGER: (types.is_integer,),
        Kind.FLOAT: (types.is_floating, types.is_decimal),
        Kind.DATETIME: (types.is_date, types.is_timestamp),
        Kind.TEXT: (
            types.is_string,
            types.is_large_string,
            types.is_string_view,
            types.is_null,
        ),
    }
    for kind, tests in kinds.items():
        if any(test(dtype) for test in tests):
            return kind
    type_tests = {
        "Time": (types.is_time,),
        "Duration": (types.is_duration,),
        "Binary": (
            types.is_binary,
            types.is_large_binary,
            types.is_binary_view,
            types.is_fixed_size_binary,
        ),
        "Struct": (types.is_nested,),
    }
    matching = [
        type_name
        for type_name, tests in type_tests.items()
        if any(test(dtype) for test in tests)
    ]
    _refuse(subject, dtype, WAYS_OUT[matching[0]] if matching else TO_ANYTHING)


def polars_kind(
    dtype: nw.dtypes.DType, subject: str, *, is_strict: bool = True
) -> Kind:
    """Return the kind of a dtype of polars or narwhals, or refuse it by name.

    Without ``is_strict`` a dtype that narwhals has no name for is text, as columns of
    objects are in other backends.
    """
    name = type(dtype).__name__
    if dtype.is_integer():
        return Kind.INTEGER
    if dtype.is_float():
        return Kind.FLOAT
    if name not in POLARS_KINDS and (is_strict or name in WAYS_OUT):
        # its name only: values that an Enum lists are private
        _refuse(subject, name, WAYS_OUT.get(name, TO_ANYTHING))
    return POLARS_KINDS.get(name, Kind.TEXT)


def pandas_name(dtype: Any) -> str:
    """Return the name of a dtype, without the categories that it may list.

    Examples
    --------
    >>> pandas_name(pd.CategoricalDtype([3, 1], ordered=True))
    'ordered category[int64]'
    """
    if isinstance(dtype, pd.CategoricalDtype):
        inner = pandas_name(dtype.categories.dtype)
        is_text = pandas_kind(dtype, "") is Kind.TEXT and inner != "object"
        end = "" if is_text else f"[{inner}]"
        return "ordered " * bool(dtype.ordered) + "category" + end
    if isinstance(dtype, pd.ArrowDtype):
        return f"{public_arrow_type(dtype.pyarrow_dtype)}[pyarrow]"
    is_text = isinstance(dtype, pd.StringDtype)
    if is_text and dtype != pd.api.types.pandas_dtype(str(dtype)):
        return f"{dtype} kept by {dtype.storage}"
    return str(dtype)


def public_arrow_type(dtype: "pyarrow.DataType") -> "pyarrow.DataType":
    """Return an Arrow type whose indices, if any, have one width.

    pandas and pyarrow choose the width by the number of categories, which is private.

    Examples
    --------
    >>> import pyarrow as pa
    >>> public_arrow_type(pa.dictionary(pa.int8(), pa.string())).index_type
    DataType(int32)
    """
    from pyarrow import dictionary, int32, types

    if not types.is_dictionary(dtype):
        return dtype
    return dictionary(int32(), dtype.value_type, ordered=dtype.ordered)


def polars_name(dtype: nw.dtypes.DType) -> str:
    """Return the name of a dtype, without the categories that it may list."""
    is_listing = type(dtype).__name__ in ("Enum", "Categorical")
    return type(dtype).__name__ if is_listing else str(dtype)


def _refuse(subject: str, dtype: object, advice: str) -> NoReturn:
    raise TypeError(
        f"{subject} must hold numbers, text, truth values or times. Got dtype {dtype}, "
        f"which is not supported; {advice}."
    )


# ----------------------------------------------------------------------------
# Decoded columns as columns of Arrow and polars, by the name of their dtype.

DICTIONARY = re.compile(r"dictionary<values=(.*), indices=(\w+), ordered=(\d)>")
DECIMAL = re.compile(r"decimal(\d+)\((\d+), (-?\d+)\)")
STAMP = re.compile(r"timestamp\[(\w+), tz=(.*)\]")
CALL = re.compile(r"([A-Z]\w*)(?:\((.*)\))?")
POLARS_NUMBERS = re.compile(r"(U?Int|Float)\d+")


def arrow_type(name: str) -> "pyarrow.DataType":
    """Return the Arrow type that ``str`` calls so.

    Examples
    --------
    >>> arrow_type("timestamp[us, tz=Europe/Berlin]")
    TimestampType(timestamp[us, tz=Europe/Berlin])
    """
    import pyarrow as pa

    match = DICTIONARY.fullmatch(name)
    if match is not None:
        values, indices = arrow_type(match[1]), arrow_type(match[2])
        return pa.dictionary(indices, values, ordered=match[3] == "1")
    match = DECIMAL.fullmatch(name)
    if match is not None:
        make = getattr(pa, f"decimal{match[1]}")
        return make(int(match[2]), int(match[3]))
    match = STAMP.fullmatch(name)
    if match is not None:
        return pa.timestamp(match[1], tz=match[2])
    return pa.type_for_alias(name)


def arrow_array(column: "pd.Series[Any]", dtype: "pyarrow.DataType") -> "pyarrow.Array":
    """Return decoded values as an array of an Arrow type; raises if it cannot be."""
    import pyarrow as pa
    from pyarrow import types

    if types.is_dictionary(dtype):
        encoded = arrow_array(column, dtype.value_type).dictionary_encode()
        places, ordered = encoded.indices.cast(dtype.index_type), dtype.ordered
        make = pa.DictionaryArray.from_arrays
        return make(places, encoded.dictionary, ordered=ordered)
    if types.is_null(dtype):
        return pa.nulls(len(column))
    if types.is_temporal(dtype):
        unit, zone = getattr(dtype, "unit", "s"), getattr(dtype, "tz", None)
        column = column if zone is None else in_utc(column, zone)
        stored = column.to_numpy().astype(f"datetime64[{unit}]")
        integers = pa.array(stored.view(np.int64), mask=np.isnat(stored))
        stamps = integers.cast(pa.timestamp(unit, tz=zone))
        return stamps.cast(dtype, safe=False)
    if types.is_decimal(dtype):
        return pa.array(decimals(column, dtype.scale), type=dtype)
    if types.is_floating(dtype):
        numbers = column.astype("Float64").to_numpy(dtype=np.float64, na_value=np.nan)
        missing = column.isna().to_numpy()
        return pa.array(numbers, mask=missing).cast(dtype, safe=False)
    if types.is_integer(dtype) and pd.api.types.is_integer_dtype(column.dtype):
        missing = column.isna().to_numpy()
        return pa.array(column.to_numpy(np.int64, na_value=0), mask=missing).cast(dtype)
    try:  # text and truth values that are what they should be
        if column.dtype == object or isinstance(column.dtype, pd.StringDtype):
            return pa.array(column.to_numpy(), type=dtype, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        pass
    return pa.array(plain(column, _python_type(dtype)), type=dtype)


def polars_series(
    name: str, column: "pd.Series[Any]", dtype: str, categories: Sequence[Any] = ()
) -> "polars.Series":
    """Return decoded values as a series of a polars dtype; raise if they do not fit."""
    import polars as pl

    match = CALL.fullmatch(dtype)
    assert match is not None
    kind, arguments = match[1], _arguments(match[2] or "")
    if kind in ("Date", "Datetime"):
        unit, zone = arguments.get("time_unit", "s"), arguments.get("time_zone")
        column = column if zone is None else in_utc(column, zone)
        integers = pl.Series(name, stored_times(column, unit), dtype=pl.Int64)
        if kind == "Date":
            return (integers // 86_400).cast(pl.Int32).cast(pl.Date)
        return integers.cast(pl.Datetime(**arguments))
    if kind == "Decimal":
        exact = decimals(column, arguments["scale"])
        return pl.Series(name, exact, dtype=pl.Decimal(**arguments))
    if kind == "Enum":
        values: list[Any] = plain(column, str)
        distinct = sorted({text for text in values if text is not None})
        listed = list(dict.fromkeys([*map(str, categories), *distinct]))
        return pl.Series(name, values, dtype=pl.Enum(listed))
    if kind == "Null":
        return pl.Series(name, [None] * len(column), dtype=pl.Null)
    makes = {"String": str, "Categorical": str, "Boolean": bool}
    make: Any = makes.get(kind) or (float if kind.startswith("Float") else _whole)
    if kind not in makes and not POLARS_NUMBERS.fullmatch(kind):
        raise TypeError(f"Got the dtype {dtype}, which no column has that was read.")
    return pl.Series(name, plain(column, make), dtype=getattr(pl, kind))


def stored_times(column: "pd.Series[Any]", unit: str) -> list[int | None]:
    """Return times as integer units since 1970; raise for other values."""
    stamps = column.to_numpy().astype(f"datetime64[{unit}]")
    return [None if value is None else int(value) for value in _or_none(stamps)]


def decimals(column: "pd.Series[Any]", scale: int) -> list[Decimal | None]:
    """Return numbers as decimals of ``scale`` digits after the point.

    Examples
    --------
    >>> decimals(pd.Series([0.1, None]), 3)
    [Decimal('0.100'), None]
    """
    digits = max(scale, 0)

    def exact(value: float) -> Decimal:
        return Decimal(f"{round(float(value), scale):.{digits}f}")

    return plain(column, exact)


def plain(column: "pd.Series[Any]", make: Callable[[Any], T]) -> list[T | None]:
    """Return values converted by a function, and None for missing ones."""
    missing = column.isna().tolist()
    pairs = zip(column.astype(object).tolist(), missing, strict=True)
    return [None if is_missing else make(value) for value, is_missing in pairs]


def _python_type(dtype: "pyarrow.DataType") -> Callable[[Any], object]:
    from pyarrow import types

    if types.is_boolean(dtype):
        return bool
    return _whole if types.is_integer(dtype) else str


def _whole(value: float) -> int:
    return value if isinstance(value, int) else round(value)


def _arguments(text: str) -> dict[str, Any]:
    """Read ``a=1, b='x'``; nothing else is run."""
    call: Any = ast.parse(f"f({text})", mode="eval").body
    return {str(part.arg): ast.literal_eval(part.value) for part in call.keywords}


def _or_none(stamps: NDArray[np.datetime64]) -> list[Any]:
    pairs = zip(stamps.view(np.int64), np.isnat(stamps), strict=True)
    return [None if is_missing else value for value, is_missing in pairs]


# ----------------------------------------------------------------------------
# Reading a table: any container becomes pandas columns that are read row by row.

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
    table = nw.to_native(table, pass_through=True)  # pandas has an NA of its own
    if isinstance(table, pd.DataFrame):
        return _read_pandas(table)
    if type(table).__module__.startswith("torch"):
        return _read_array(_tensor_array(table), "torch")
    if hasattr(table, "__dataframe__") or _is_narwhals(table):
        return _read_narwhals(nw.from_native(table, eager_only=True))
    is_masked = isinstance(table, np.ma.MaskedArray)
    array = table if is_masked else plain_array(table, "X")
    return _read_array(array, "masked" if is_masked else "numpy")


def plain_array(values: ArrayLike, subject: str) -> NDArray[Any]:
    """Return a list as an array; errors do not reveal the number of rows."""
    try:
        return np.asarray(values)
    except ValueError:  # its text has the number of rows, which may be private
        raise ValueError(
            f"{subject} must be rows of equal length. Got a {type(values).__name__} "
            "that is not; give a table, or a list with as many values in each row."
        ) from None


def array_series(array: NDArray[Any], subject: str) -> "pd.Series[Any]":
    """Return an array of one dimension as a series of its dtype; masked is missing.

    A dtype that cannot hold missing values is replaced by a nullable one of pandas.
    """
    kind = pandas_kind(array.dtype, subject)
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
    nullable_type = (
        pd.arrays.BooleanArray if kind is Kind.BOOLEAN else pd.arrays.IntegerArray
    )
    return pd.Series(nullable_type(values, mask))


def _read_pandas(frame: pd.DataFrame) -> Read:
    names = _distinct(frame.columns)
    dtypes = [frame[name].dtype for name in names]
    pairs = zip(dtypes, names, strict=True)
    kinds = tuple(pandas_kind(dtype, f"Column {name!r}") for dtype, name in pairs)
    return frame, Layout("pandas", names, kinds, tuple(map(pandas_name, dtypes)))


def _read_array(array: NDArray[Any], container: str) -> Read:
    pandas_kind(array.dtype, "X")
    if array.ndim != 2:
        images = (
            ", or an array, np.asarray(X), of images (n, height, width) or (n, "
            "channels, height, width)"
        )
        raise ValueError(
            f"Expected 2D array, got {array.ndim}D array instead. Reshape your data: "
            f"X must be a table of rows and columns{images if array.ndim > 2 else ''}."
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


def _tensor_array(tensor: "torch.Tensor") -> NDArray[Any]:
    if str(tensor.dtype) == "torch.bfloat16":
        raise TypeError(
            "X must have a dtype of numpy. Got torch.bfloat16; use `.float()`."
        )
    return tensor.detach().cpu().numpy()


def arrow_labels(array: Any) -> "pyarrow.ChunkedArray | pyarrow.Table":
    """Return an array or a batch of Arrow in a form that narwhals reads, of its type.

    Examples
    --------
    >>> import pyarrow as pa
    >>> arrow_labels(pa.array([1, None])).type
    DataType(int64)
    """
    import pyarrow as pa

    if isinstance(array, pa.RecordBatch):
        return pa.Table.from_batches([array])
    return pa.chunked_array([pa.array(array)])


def _read_narwhals(table: "nw.DataFrame[Any]") -> Read:
    """Read polars, Arrow and other containers; types depend on dtypes only."""
    backend = str(table.implementation).lower().rpartition(".")[2]
    names = _distinct(table.columns)
    if backend == "pyarrow":
        native = table.to_native()
        types = [public_arrow_type(dtype) for dtype in native.schema.types]
        columns = dict(zip(names, native.columns, strict=True))
        pairs = zip(types, names, strict=True)
        kinds = [arrow_kind(dtype, f"Column {name!r}") for dtype, name in pairs]
        arrays = {
            n: pd.arrays.ArrowExtensionArray(column) for n, column in columns.items()
        }
        layout = Layout(backend, names, tuple(kinds), tuple(map(str, types)))
        return pd.DataFrame(arrays), layout
    is_strict = backend == "polars"
    series, kinds, dtypes = {}, [], []
    for name in names:
        column = table[name]
        dtype = table.to_native()[name].dtype if is_strict else column.dtype
        kind = polars_kind(dtype, f"Column {name!r}", is_strict=is_strict)
        series[name] = _narwhals_series(column, kind)
        kinds.append(kind)
        dtypes.append(polars_name(dtype))
    return pd.DataFrame(series), Layout(backend, names, tuple(kinds), tuple(dtypes))


def _narwhals_series(column: "nw.Series[Any]", kind: Kind) -> "pd.Series[Any]":
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
    zone = None if is_date else column.dtype.time_zone
    integers = column.cast(nw.Int32 if is_date else nw.Int64).to_list()
    stored = [NOT_A_TIME if value is None else value for value in integers]
    stamps = pd.Series(
        _stored_times(np.array(stored, np.int64).view(f"datetime64[{unit}]"))
    )
    return stamps if zone is None else stamps.dt.tz_localize("UTC").dt.tz_convert(zone)


def _stored_times(stamps: NDArray[np.datetime64]) -> NDArray[np.datetime64]:
    """Return times in a unit of pandas; times outside its range are clipped to it.

    Conversions by numpy wrap around, and those by pandas raise, for values too far.
    """
    stamps = stamps.astype(stamps.dtype.newbyteorder("="))
    unit = np.datetime_data(stamps.dtype)[0]
    if unit not in SECONDS:
        return stamps
    furthest = np.iinfo(np.int64).max // SECONDS[unit]
    integers = stamps.view(np.int64).clip(-furthest, furthest) * SECONDS[unit]
    return np.where(np.isnat(stamps), NOT_A_TIME, integers).view("datetime64[s]")


def _distinct(columns: Iterable[Hashable]) -> tuple[Any, ...]:
    names = tuple(columns)
    if len(set(names)) < len(names):
        repeated = sorted({str(n) or "''" for n in names if names.count(n) > 1})
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


# ----------------------------------------------------------------------------
# Tables without rows, which have columns and dtypes and nothing else.


def like_of(X: Any) -> Any:
    """Return a table, or labels, without rows, with the columns and dtypes of X.

    An empty slice is not safe to send to another process: in Arrow and torch it has the
    bytes of all rows, in pandas and polars the categories of its dtype, in pandas the
    levels of its index. These are private.

    Examples
    --------
    >>> like_of(pd.Series(["rare", "often"], dtype="category")).cat.categories.tolist()
    []
    """
    if isinstance(X, np.ma.MaskedArray):
        return np.ma.array(like_of(X.data))
    if isinstance(X, np.ndarray):
        dtype = "U1" if X.dtype.kind == "U" else X.dtype  # its width is private
        return np.empty((0, *X.shape[1:]), dtype)
    if isinstance(X, pd.DataFrame):
        columns = [_of_pandas(X.iloc[:, i]) for i in range(X.shape[1])]
        return pd.concat(columns, axis=1) if columns else pd.DataFrame()
    if isinstance(X, pd.Series):
        return _of_pandas(X)
    if isinstance(X, pd.Index):
        return pd.Index(like_of(X.array), name=X.name)
    if isinstance(X, pd.api.extensions.ExtensionArray):
        return _of_pandas(pd.Series(X, dtype=X.dtype)).array
    if hasattr(X, "schema"):  # of pyarrow or polars
        is_arrow = hasattr(X.schema, "empty_table")
        return _of_arrow(X) if is_arrow else _of_polars(X)
    if hasattr(X, "new_empty"):  # of torch
        return X.new_empty((0, *X.shape[1:]))
    if hasattr(X, "dictionary_encode"):  # labels of pyarrow
        import pyarrow as pa

        return pa.chunked_array([], type=public_arrow_type(X.type))
    if hasattr(X, "to_frame"):  # a series of polars
        return _of_polars(X.to_frame()).to_series()
    return X[:0]


def _of_arrow(X: "pyarrow.Table") -> "pyarrow.Table":
    """Return a table of no rows, without metadata, which may describe the rows."""
    import pyarrow as pa

    fields = [(field.name, public_arrow_type(field.type)) for field in X.schema]
    return pa.schema(fields).empty_table()


def _of_pandas(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """Return a column of no rows without the categories of its dtype."""
    dtype: Any = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        dtype = pd.CategoricalDtype(dtype.categories[:0], dtype.ordered)
    if isinstance(dtype, pd.ArrowDtype):
        dtype = pd.ArrowDtype(public_arrow_type(dtype.pyarrow_dtype))
    return pd.Series([], dtype=dtype, name=column.name)


def _of_polars(X: Any) -> Any:
    """Return a table of no rows; an enumeration lists nothing then."""
    import polars as pl

    schema = X.schema.items()
    bare = {name: pl.Enum([]) if d == pl.Enum else d for name, d in schema}
    return pl.DataFrame(schema=bare)
