"""Dtypes: which are read, as what kind, and which are refused by their name.

What becomes of a column is decided here, from its dtype alone, before a row is read.
"""

from typing import Any, NoReturn

import numpy as np
import pandas as pd

from skdpgen.tables._layout import Kind

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


def pandas_kind(dtype: Any, what: str) -> Kind:
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
        return Kind.TEXT if is_text else pandas_kind(inner, what)
    if isinstance(dtype, pd.ArrowDtype):
        return arrow_kind(dtype.pyarrow_dtype, what)
    if isinstance(dtype, pd.DatetimeTZDtype):
        return Kind.DATETIME
    if isinstance(dtype, pd.StringDtype):
        return Kind.TEXT
    if isinstance(dtype, np.dtype):
        return _numpy_kind(dtype, what)
    inner = getattr(dtype, "numpy_dtype", None)  # of Int64, Float32, boolean
    if inner is None:
        _refuse(what, dtype, WAYS_OUT.get(type(dtype), TO_ANYTHING))
    return _numpy_kind(inner, what)


def _numpy_kind(dtype: Any, what: str) -> Kind:
    if dtype.kind == "c":
        raise ValueError(
            f"Complex data not supported. {what} has dtype {dtype}; use the real and "
            "the imaginary part as columns."
        )
    stored = [(unit, 1) for unit in UNITS]
    is_odd = dtype.kind == "M" and np.datetime_data(dtype) not in stored
    if is_odd or dtype.kind not in NUMPY_KINDS:
        # of bytes and records `str(dtype)` has a width: that of the longest value
        name = dtype.type.__name__ if dtype.kind in "SV" else dtype
        _refuse(what, name, WAYS_OUT.get(dtype.kind, TO_ANYTHING))
    return NUMPY_KINDS[dtype.kind]


def arrow_kind(dtype: Any, what: str) -> Kind:
    """Return the kind of an Arrow type, or refuse it by name."""
    from pyarrow import types

    if types.is_dictionary(dtype):
        return arrow_kind(dtype.value_type, what)
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
    ways = {
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
    found = [way for way, tests in ways.items() if any(test(dtype) for test in tests)]
    _refuse(what, dtype, WAYS_OUT[found[0]] if found else TO_ANYTHING)


def polars_kind(dtype: Any, what: str, *, is_strict: bool = True) -> Kind:
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
        _refuse(what, name, WAYS_OUT.get(name, TO_ANYTHING))  # no values that it lists
    return POLARS_KINDS.get(name, Kind.TEXT)


def pandas_name(dtype: Any) -> str:
    """Return what a dtype is called, without the categories that it may list.

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
        return f"{dtype.pyarrow_dtype}[pyarrow]"
    is_text = isinstance(dtype, pd.StringDtype)
    if is_text and dtype != pd.api.types.pandas_dtype(str(dtype)):
        return f"{dtype} kept by {dtype.storage}"
    return str(dtype)


def polars_name(dtype: Any) -> str:
    """Return what a dtype is called, without the categories that it may list."""
    is_listing = type(dtype).__name__ in ("Enum", "Categorical")
    return type(dtype).__name__ if is_listing else str(dtype)


def _refuse(what: str, dtype: Any, way_out: str) -> NoReturn:
    raise TypeError(
        f"{what} must hold numbers, text, truth values or times. Got dtype {dtype}, "
        f"which is not supported; {way_out}."
    )
