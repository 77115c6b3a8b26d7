"""One column of two tables, read alike: as numbers, as times or as text."""

import warnings
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.tseries.api import guess_datetime_format

from skdpgen.metrics._frames import is_numeric, is_time, keys, numbers, times

FEW_VALUES = 12  # with no more distinct values, texts and numbers are levels
SURELY_DATES = 0.99  # share of the distinct texts that must be dates
N_JUDGED = 2000  # distinct texts that are tried


@dataclass(frozen=True, eq=False)
class ColumnPair:
    """A column of the real and of the synthetic table.

    Parameters
    ----------
    kind : {"number", "time", "level"}
        Numbers (durations in seconds), seconds since 1970, or text keys.
    real, synthetic : ndarray
        Floats that are NaN, or keys that are None, where a value is missing or strange.
    strange : tuple of two ndarray of bool
        Cells that hold something, but neither a number nor a time.
    """

    kind: Literal["number", "time", "level"]
    real: NDArray[Any]
    synthetic: NDArray[Any]
    strange: tuple[NDArray[np.bool_], NDArray[np.bool_]]


def read_alike(real: pd.Series, synthetic: pd.Series) -> ColumnPair:
    """Read a column of both tables as what the real one holds.

    Texts count as times if there are many and nearly all of them are dates of one
    format. A real column without values is read as the synthetic one.

    Examples
    --------
    >>> read_alike(pd.Series([1, 2]), pd.Series(["2.0", "two"])).synthetic
    array([ 2., nan])
    >>> read_alike(pd.Series(["a"]), pd.Series([None, "b"])).kind
    'level'
    """
    sides = real, synthetic
    guide = synthetic if real.isna().all() else real
    times_of = _time_reader(guide)
    if times_of is None and not is_numeric(guide):
        nothing = np.zeros(len(real), bool), np.zeros(len(synthetic), bool)
        return ColumnPair("level", keys(real), keys(synthetic), nothing)
    read = times_of or _numbers
    values = [read(side) for side in sides]
    strange = [
        np.isnan(read_side) & side.notna().to_numpy(dtype=bool)
        for read_side, side in zip(values, sides, strict=True)
    ]
    is_number = times_of is None or pd.api.types.is_timedelta64_dtype(guide)
    kind: Any = "number" if is_number else "time"
    return ColumnPair(kind, values[0], values[1], (strange[0], strange[1]))


def _numbers(column: pd.Series) -> NDArray[np.float64]:
    """Read numbers; infinite ones stay, since they are far and not missing."""
    values = numbers(column)
    if not pd.api.types.is_float_dtype(column):
        return values
    raw = column.to_numpy(dtype=np.float64, na_value=np.nan)
    return np.where(np.isinf(raw), raw, values)


def _time_reader(guide: pd.Series) -> Any:
    """Return what reads the column as times, or None if it holds none."""
    if is_time(guide):
        return times
    if is_numeric(guide) or pd.api.types.is_bool_dtype(guide):
        return None
    plain = guide.astype(object)
    if pd.api.types.infer_dtype(plain, skipna=True) in {"date", "datetime"}:
        return times
    layout = _date_format(plain.dropna())
    if layout is None:
        return None
    return lambda column: _written_times(column, layout)


def _written_times(column: pd.Series, layout: str) -> NDArray[np.float64]:
    if not is_time(column):
        column = pd.to_datetime(
            column.astype(object), format=layout, errors="coerce", utc=True
        )
    return times(column)


def _date_format(cells: pd.Series) -> str | None:
    """Return the format of texts that are dates, or None if they are something else."""
    try:
        distinct = cells.unique()
    except TypeError:  # cells that do not hash, as lists
        return None
    if len(distinct) <= FEW_VALUES:
        return None
    texts = pd.Series(distinct[:: -(-len(distinct) // N_JUDGED)], dtype=object)
    if not all(isinstance(text, str) for text in texts):
        return None
    has_date = texts.str.contains(r"\d[-/. ].*\d", regex=True)
    if has_date.mean() < SURELY_DATES:
        return None
    first = texts[has_date.idxmax()]
    with warnings.catch_warnings():  # that a format has days first: both are tried
        warnings.simplefilter("ignore", UserWarning)
        guesses = [guess_datetime_format(first, dayfirst=x) for x in (False, True)]
    for layout in ("ISO8601", *guesses):
        if layout is None or not (layout == "ISO8601" or "%y" in layout.lower()):
            continue
        read = pd.to_datetime(texts, format=layout, errors="coerce", utc=True)
        if read.notna().mean() >= SURELY_DATES:
            return layout
    return None
