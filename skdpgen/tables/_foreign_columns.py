"""Decoded columns as columns of Arrow and polars, by the name of their dtype."""

import ast
import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

DICTIONARY = re.compile(r"dictionary<values=(.*), indices=(\w+), ordered=(\d)>")
DECIMAL = re.compile(r"decimal(\d+)\((\d+), (-?\d+)\)")
STAMP = re.compile(r"timestamp\[(\w+), tz=(.*)\]")
CALL = re.compile(r"([A-Z]\w*)(?:\((.*)\))?")
POLARS_NUMBERS = re.compile(r"(U?Int|Float)\d+")


def arrow_type(name: str) -> Any:
    """Return the Arrow type that ``str`` calls so.

    Examples
    --------
    >>> arrow_type("timestamp[us, tz=Europe/Berlin]")
    TimestampType(timestamp[us, tz=Europe/Berlin])
    """
    import pyarrow as pa

    found = DICTIONARY.fullmatch(name)
    if found is not None:
        values, indices = arrow_type(found[1]), arrow_type(found[2])
        return pa.dictionary(indices, values, ordered=found[3] == "1")
    found = DECIMAL.fullmatch(name)
    if found is not None:
        make = getattr(pa, f"decimal{found[1]}")
        return make(int(found[2]), int(found[3]))
    found = STAMP.fullmatch(name)
    if found is not None:
        return pa.timestamp(found[1], tz=found[2])
    return pa.type_for_alias(name)


def arrow_array(column: "pd.Series[Any]", dtype: Any) -> Any:
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
        unit = getattr(dtype, "unit", "s")
        stored = column.to_numpy().astype(f"datetime64[{unit}]")
        whole = pa.array(stored.view(np.int64), mask=np.isnat(stored))
        stamps = whole.cast(pa.timestamp(unit, tz=getattr(dtype, "tz", None)))
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
    name: Any, column: "pd.Series[Any]", dtype: str, categories: Sequence[Any] = ()
) -> Any:
    """Return decoded values as a series of a polars dtype; raises if it cannot be."""
    import polars as pl

    found = CALL.fullmatch(dtype)
    assert found is not None
    kind, arguments = found[1], _arguments(found[2] or "")
    if kind in ("Date", "Datetime"):
        unit = arguments.get("time_unit", "s")
        whole = pl.Series(name, stored_times(column, unit), dtype=pl.Int64)
        if kind == "Date":
            return (whole // 86_400).cast(pl.Int32).cast(pl.Date)
        return whole.cast(pl.Datetime(**arguments))
    if kind == "Decimal":
        exact = decimals(column, arguments["scale"])
        return pl.Series(name, exact, dtype=pl.Decimal(**arguments))
    if kind == "Enum":
        values: list[Any] = plain(column, str)
        drawn = sorted({text for text in values if text is not None})
        listed = list(dict.fromkeys([*map(str, categories), *drawn]))
        return pl.Series(name, values, dtype=pl.Enum(listed))
    if kind == "Null":
        return pl.Series(name, [None] * len(column), dtype=pl.Null)
    makes = {"String": str, "Categorical": str, "Boolean": bool}
    make: Any = makes.get(kind) or (float if kind.startswith("Float") else _whole)
    if kind not in makes and not POLARS_NUMBERS.fullmatch(kind):
        raise TypeError(f"Got the dtype {dtype}, which no column has that was read.")
    return pl.Series(name, plain(column, make), dtype=getattr(pl, kind))


def stored_times(column: "pd.Series[Any]", unit: str) -> list[int | None]:
    """Return times as whole units since 1970; raises for what is no time."""
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

    def exact(value: Any) -> Decimal:
        return Decimal(f"{round(float(value), scale):.{digits}f}")

    return plain(column, exact)


def plain(column: "pd.Series[Any]", make: Any) -> list[Any]:
    """Return values made by a function, and None where one is missing."""
    missing = column.isna().tolist()
    pairs = zip(column.astype(object).tolist(), missing, strict=True)
    return [None if is_missing else make(value) for value, is_missing in pairs]


def _python_type(dtype: Any) -> Any:
    from pyarrow import types

    if types.is_boolean(dtype):
        return bool
    return _whole if types.is_integer(dtype) else str


def _whole(value: Any) -> int:
    return value if isinstance(value, int) else round(value)


def _arguments(text: str) -> dict[str, Any]:
    """Read ``a=1, b='x'``; nothing else is run."""
    call: Any = ast.parse(f"f({text})", mode="eval").body
    return {str(part.arg): ast.literal_eval(part.value) for part in call.keywords}


def _or_none(stamps: Any) -> list[Any]:
    pairs = zip(stamps.view(np.int64), np.isnat(stamps), strict=True)
    return [None if is_missing else value for value, is_missing in pairs]
