"""Drawn values as the columns of the caller's table."""

import math
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.optimize import brentq

from skdpgen.tables._cells import CategoryCells, Cells, MixedCells, NumberCells, bounds
from skdpgen.tables._columns import Column, Datetime, Integer, Numeric, Regenerate
from skdpgen.tables._frames import arrow_array, arrow_type, plain, polars_series
from skdpgen.tables._layout import Kind, Layout, times_at
from skdpgen.tables._values import Codes, Floats
from skdpgen.tables._zones import in_utc, zone_of

if TYPE_CHECKING:
    import polars
    import pyarrow
    import torch

T = TypeVar("T")

# ----------------------------------------------------------------------------
# Decoded columns in the container, names and dtypes of the input.

CATEGORY = re.compile(r"(ordered )?category(?:\[(.*)\])?")
ARRAYS = ("numpy", "masked", "torch")
PANDAS_DTYPES = {  # of a table of another container
    Kind.FLOAT: "float64",
    Kind.INTEGER: "Int64",
    Kind.BOOLEAN: "boolean",
    Kind.TEXT: "object",
    Kind.DATETIME: "",
}
MORE_THAN_IT_HOLDS = (
    TypeError,
    ValueError,
    OverflowError,
    ArithmeticError,
    NotImplementedError,
)


def restore_table(
    layout: Layout,
    columns: Mapping[Any, "pd.Series[Any]"],
    categories: Mapping[Any, Sequence[Any]],
    container: str | None = None,
) -> Any:
    """Build the container of a layout, or another, from decoded pandas columns.

    A schema may allow values that a dtype cannot hold, such as text in a column of
    numbers. Such a column is returned in a dtype that can hold them.

    Parameters
    ----------
    columns : mapping of name to Series
        Columns that are absent here are left out.
    categories : mapping of name to sequence
        For dtypes that list them: public, or released.
    """
    container = container or layout.container
    kinds = dict(zip(layout.names, layout.kinds, strict=True))
    dtypes = dict(zip(layout.names, layout.dtypes, strict=True))
    present = [name for name in layout.names if name in columns]
    if container == layout.container and container in ("polars", "pyarrow"):
        make = _polars_frame if container == "polars" else _arrow_table
        return make({name: columns[name] for name in present}, dtypes, categories)
    if layout.container not in ("pandas", *ARRAYS):
        dtypes = {name: PANDAS_DTYPES[kind] for name, kind in kinds.items()}
    frame = pd.DataFrame(
        {
            name: restore_series(columns[name], dtypes[name], categories.get(name, ()))
            for name in present
        }
    )
    if None in present:  # pandas takes it for NaN among names of text
        frame.columns = pd.Index(present, dtype=object, tupleize_cols=False)
    if container == "pandas":
        return frame
    if container in ARRAYS:
        return _restore_array(frame, layout, container)
    content = {name: plain(frame[name], _identity) for name in frame.columns}
    backend: Any = container
    return nw.from_dict(content, backend=backend).to_native()


def unordered(dtype: str) -> str:
    """Return the name of a dtype, without an order of categories that are text.

    Numbers and times have an order of their own. An ``Enum`` of polars has always one.

    Examples
    --------
    >>> unordered("ordered category"), unordered("ordered category[int64]")
    ('category', 'ordered category[int64]')
    >>> unordered("Enum")
    'Categorical'
    """
    if dtype == "Enum":
        return "Categorical"
    category = CATEGORY.fullmatch(dtype)
    if category is not None and category[2] in (None, "object"):
        return dtype.removeprefix("ordered ")
    if dtype.startswith(("dictionary<values=string", "dictionary<values=large_string")):
        return dtype.replace(", ordered=1>", ", ordered=0>")
    return dtype


def restore_series(
    column: "pd.Series[Any]", dtype: str, categories: Sequence[Any] = ()
) -> "pd.Series[Any]":
    """Return a decoded column in a dtype of pandas; unchanged if it does not fit.

    Examples
    --------
    >>> restore_series(pd.Series(["b"]), "category", ["a", "b"]).cat.codes.tolist()
    [1]
    """
    try:
        return _cast(column, dtype, categories)
    except MORE_THAN_IT_HOLDS:
        return column


def times_as_text(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """Return times in ISO format, as dates if none has a time of day."""
    if column.dtype.kind != "M":
        return column
    times = column.dropna()
    is_daily = bool((times == times.dt.normalize()).all())
    return column.dt.strftime("%Y-%m-%d" if is_daily else "%Y-%m-%d %H:%M:%S")


def _cast(
    column: "pd.Series[Any]", dtype: str, categories: Sequence[Any]
) -> "pd.Series[Any]":
    category = CATEGORY.fullmatch(dtype)
    if category is not None:
        inner, is_ordered = category[2] or "str", bool(category[1])
        return _cast_category(column, inner, categories, is_ordered=is_ordered)
    if dtype.endswith("[pyarrow]"):
        kind = arrow_type(dtype.removesuffix("[pyarrow]"))
        column = _as_text_if(_is_arrow_text(kind), column)
        array = arrow_array(column, kind)
        return pd.Series(pd.arrays.ArrowExtensionArray(array))
    if dtype.startswith("datetime64"):
        zone = zone_of(dtype)
        if zone is not None:
            return _put_into(zone, column).astype(dtype)
        unit = np.datetime_data(np.dtype(dtype))[0]
        return column.astype(f"datetime64[{'s' if unit in 'Dhm' else unit}]")
    name, _, storage = dtype.partition(" kept by ")
    column = _as_text_if(name in ("str", "string", "object"), column)
    if storage:
        missing = np.nan if name == "str" else pd.NA
        return column.astype(pd.StringDtype(storage, na_value=missing))
    if column.dtype.kind == "f" and "int" in dtype.lower():
        column = column.round()
    return column.astype(dtype) if dtype else column


def _put_into(zone: str, column: "pd.Series[Any]") -> "pd.Series[Any]":
    """Return times in UTC: local ones of a zone, those with a zone, or their texts."""
    if isinstance(column.dtype, pd.DatetimeTZDtype):
        return column
    if column.dtype.kind == "M":
        return in_utc(column, zone).dt.tz_localize("UTC")
    if column.dtype.kind != "O":
        raise TypeError(f"Numbers are no times. Got {column.dtype} instead.")
    return pd.to_datetime(column, utc=True, format="ISO8601")


def _cast_category(
    column: "pd.Series[Any]",
    inner: str,
    categories: Sequence[Any],
    *,
    is_ordered: bool,
) -> "pd.Series[Any]":
    """Return a categorical column with the categories of the schema, then others.

    Texts of one number, such as "1" and "1.0", are one category of numbers.
    """
    values = _cast_each(column.dropna(), inner)
    listed = _cast_each(pd.Series(list(categories), dtype=object), inner)
    listed = listed.drop_duplicates()
    unlisted = pd.Series(values.unique())
    unlisted = unlisted[~unlisted.isin(listed)].sort_values()
    index = pd.Index(pd.concat([listed, unlisted]) if len(listed) else unlisted)
    codes = np.full(len(column), -1)
    codes[column.notna().to_numpy()] = index.get_indexer(values)
    return pd.Series(pd.Categorical.from_codes(codes, index, ordered=is_ordered))


def _cast_each(values: "pd.Series[Any]", dtype: str) -> "pd.Series[Any]":
    """Cast values; one that does not fit, such as "other" in numbers, is unchanged."""
    try:
        return _cast(values, dtype, ())
    except MORE_THAN_IT_HOLDS:
        cast_values = {}
        for value in values.unique():
            try:
                cast_values[value] = _cast(pd.Series([value]), dtype, ()).iloc[0]
            except MORE_THAN_IT_HOLDS:
                cast_values[value] = value
        return values.map(cast_values).astype(object)


def _restore_array(
    frame: pd.DataFrame, layout: Layout, container: str
) -> "NDArray[Any] | torch.Tensor":
    missing = frame.isna()
    objects = frame.astype(object).where(~missing, None).to_numpy()
    dtype = layout.dtypes[0]
    dtype = "bool" if dtype == "boolean" else re.sub(r"^U?Int", _lower, dtype)
    try:
        array = objects
        if set(layout.kinds) != {Kind.TEXT}:
            columns = [_numpy_column(frame[name], dtype) for name in frame.columns]
            array = np.column_stack(columns).astype(dtype)
    except MORE_THAN_IT_HOLDS:
        return objects
    if container == "masked":
        return np.ma.array(array, mask=missing.to_numpy())
    if container == "torch":
        import torch

        return torch.as_tensor(array)
    return array


def _numpy_column(column: "pd.Series[Any]", dtype: str) -> NDArray[Any]:
    if column.dtype.kind in "iub":
        return column.to_numpy(dtype=dtype, na_value=0)
    return column.to_numpy().astype(dtype)


def _polars_frame(
    columns: Mapping[Any, "pd.Series[Any]"],
    dtypes: Mapping[Any, str],
    categories: Mapping[Any, Sequence[Any]],
) -> "polars.DataFrame":
    import polars as pl

    series = []
    for name, column in columns.items():
        is_text = dtypes[name] in ("String", "Categorical", "Enum")
        values = _as_text_if(is_text, column)
        try:
            restored = polars_series(
                name, values, dtypes[name], categories.get(name, ())
            )
        except (*MORE_THAN_IT_HOLDS, pl.exceptions.PolarsError):
            restored = pl.Series(name, plain(values, _identity), strict=False)
        series.append(restored)
    return pl.DataFrame(series)


def _arrow_table(
    columns: Mapping[Any, "pd.Series[Any]"],
    dtypes: Mapping[Any, str],
    categories: Mapping[Any, Sequence[Any]],
) -> "pyarrow.Table":
    import pyarrow as pa

    del categories  # the type of a dictionary does not list them
    arrays = []
    for name, column in columns.items():
        kind = arrow_type(dtypes[name])
        values = _as_text_if(_is_arrow_text(kind), column)
        try:
            arrays.append(arrow_array(values, kind))
        except MORE_THAN_IT_HOLDS:
            arrays.append(pa.array(plain(values, _identity)))
    return pa.table(arrays, names=list(columns))


def _is_arrow_text(dtype: "pyarrow.DataType") -> bool:
    return "string" in str(dtype)


def _as_text_if(is_text: bool, column: "pd.Series[Any]") -> "pd.Series[Any]":
    return times_as_text(column) if is_text else column


def _lower(match: re.Match[str]) -> str:
    return match[0].lower()


def _identity(value: T) -> T:
    return value


# ----------------------------------------------------------------------------
# Values inside cells: from sampled codes to values.


def draw_values(
    column: Column, cells: Cells, codes: Codes, marginal: Floats, *, rng: Generator
) -> "pd.Series[Any]":
    """Turn codes into values that obey the schema; "missing" becomes missing.

    Categories are looked up. Numbers are uniform inside their cell, exact where the
    cell is a single value; the two end cells decay at the rate at which their density
    continues that of their neighbour. If that is not denser, numbers in a cell beyond
    the range decay so that their mean is as if all sizes were as likely.
    """
    if isinstance(cells, CategoryCells):
        table = pd.Series([*cells.categories, None], dtype=object)
        return table.iloc[np.minimum(codes, cells.n_known)].reset_index(drop=True)
    numbers = cells.numbers if isinstance(cells, MixedCells) else cells
    values = draw_numbers(numbers, codes, marginal, rng=rng)
    values = values.clip(*bounds(column))
    missing = codes >= cells.n_known
    if isinstance(column, Datetime):
        return pd.Series(times_at(values)).mask(missing)
    if isinstance(column, Integer):
        integers = pd.Series(np.round(values), dtype="Float64").astype("Int64")
        return integers.mask(missing)
    decimals = column.decimals if isinstance(column, Numeric) else None
    if decimals is not None:  # fewer than the lattice has, or too many for one
        values = values.round(decimals).clip(*bounds(column))
    return pd.Series(values).mask(missing)


def with_named(
    values: "pd.Series[Any]", cells: Cells, codes: Codes
) -> "pd.Series[Any]":
    """Fill in the named values of drawn cells, which are missing so far."""
    if not isinstance(cells, MixedCells) or not cells.named:
        return values
    place = codes - cells.n_known
    is_named = (place >= 0) & (place < len(cells.named))
    table = pd.Series(cells.named, dtype=object)
    values = times_as_text(values)
    mixed = values.astype(object).where(values.notna(), None)
    mixed[is_named] = table.iloc[place[is_named]].to_numpy()
    return mixed if _are_text(cells.named) else mixed.infer_objects()


def _are_text(named: tuple[Any, ...]) -> bool:
    return any(isinstance(value, str) for value in named)


def regenerate(column: Regenerate, n_samples: int, first: int = 0) -> "pd.Series[Any]":
    """Generate an identifier or text for each row, numbered from ``first``."""
    numbers = range(first, first + n_samples)
    written = [column.template.format(i=i) for i in numbers]
    return pd.Series(written, dtype=object)


def draw_numbers(
    cells: NumberCells, codes: Codes, marginal: Floats, *, rng: Generator
) -> Floats:
    """Draw a number in each given cell."""
    n = cells.n_known
    number_codes = np.minimum(codes, n - 1)
    left, right = cells.edges[:-1], cells.edges[1:]
    places = rng.random(len(codes))
    if n > 2:
        widths = np.maximum(right - left, 1e-300)
        density = marginal[:n] / widths
        atoms = cells.is_atom()
        full = np.flatnonzero(marginal[:n] > 0).tolist()
        ends = ((full[-1], full[-1] - 1), (full[0], full[0] + 1)) if full else ()
        for end, inner in ends:
            if not 0 <= inner < n or atoms[end]:
                continue
            # uniform values in a sparse end cell would place too many far outside
            near, far = left[end], right[end]
            if inner > end:
                near, far = -far, -near
            if not atoms[inner] and density[inner] > density[end]:
                rate = decay_rate(density[end] / density[inner])
            elif end in cells.gaps and near > 0 and not cells.is_time:
                rate = math.log(far / near)  # then the mean is that of log-uniform
            else:
                continue
            in_end = number_codes == end
            decayed = -np.log1p(places[in_end] * math.expm1(-rate)) / rate
            places[in_end] = decayed if inner < end else 1.0 - decayed
    values = left[number_codes] + places * (right - left)[number_codes]
    if cells.step is not None:
        values = cells.origin + cells.step * np.round(
            (values - cells.origin) / cells.step
        )
        inside = cells.step * 0.5
        values = np.clip(
            values, left[number_codes] + inside, right[number_codes] - inside
        )
        values = cells.origin + cells.step * np.round(
            (values - cells.origin) / cells.step
        )
        return np.round(values, 9)
    atom = cells.is_atom()[number_codes]
    return np.where(atom, left[number_codes], values)


def decay_rate(filled: float) -> float:
    """Return x with (1 - exp(-x)) / x = ``filled``, a number in (0, 1).

    Examples
    --------
    >>> round(decay_rate(0.5), 2)
    1.59
    """
    filled = min(max(filled, 1e-3), 1 - 1e-6)
    return float(brentq(lambda x: -math.expm1(-x) / x - filled, 1e-9, 2e3))
