"""Float matrices from tables, fitted on the synthetic side only."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skdpgen.metrics._frames import (
    align,
    as_frame,
    is_numeric,
    is_time,
    keys,
    numbers,
    times,
)

MAX_LEVELS = 64  # one-hot cells of one column: the most frequent ones
MAX_INTEGERS = 12  # integers with at most this many values are categories
MAX_DEVIATIONS = 10.0  # numbers are clipped here, so that no tail wrecks a linear model

Matrix = NDArray[np.float32]


@dataclass(frozen=True)
class NumberCode:
    """A standardised number, its median where missing, and a missing flag."""

    median: float
    mean: float
    scale: float
    has_missing: bool
    is_time: bool

    @classmethod
    def fit(cls, column: pd.Series) -> Self:
        """Read median, mean and deviation; the last two ignore the outer 0.1 %."""
        values = _values(column, is_time(column))
        known = values[~np.isnan(values)]
        low, median, high = np.quantile(known, [0.001, 0.5, 0.999])
        if low == high:
            low, high = known.min(), known.max()
        bulk = np.clip(known, low, high)
        scale = float(bulk.std())
        return cls(
            median=float(median),
            mean=float(bulk.mean()),
            scale=scale if scale > 0 else 1.0,
            has_missing=len(known) < len(values),
            is_time=is_time(column),
        )

    def __call__(self, column: pd.Series) -> Matrix:  # (n,) -> (n, 1 or 2)
        """Encode a column of numbers."""
        values = _values(column, self.is_time)
        is_missing = np.isnan(values)
        values = (np.where(is_missing, self.median, values) - self.mean) / self.scale
        values = np.clip(values, -MAX_DEVIATIONS, MAX_DEVIATIONS)
        parts = [values, is_missing] if self.has_missing else [values]
        return np.column_stack(parts).astype(np.float32)


@dataclass(frozen=True)
class IntegerCode:
    """A cell for each of a few integers; others count as the nearest one."""

    levels: tuple[float, ...]
    has_missing: bool

    def __call__(self, column: pd.Series) -> Matrix:  # (n,) -> (n, n_levels)
        """Encode a column of few integers."""
        values = numbers(column)
        is_missing = np.isnan(values)
        levels = np.array(self.levels)
        middles = (levels[1:] + levels[:-1]) / 2
        codes = np.searchsorted(middles, np.nan_to_num(values))
        codes = np.where(is_missing, len(levels), codes)
        return _one_hot(codes, len(levels) + self.has_missing)


@dataclass(frozen=True)
class CategoryCode:
    """A cell for each frequent category; categories that were not seen have none."""

    levels: tuple[str | None, ...]

    @classmethod
    def fit(cls, column: pd.Series) -> Self:
        """Keep the most frequent keys; missing is one of them."""
        counts = pd.Series(keys(column)).value_counts(dropna=False, sort=False)
        # names break ties, so that the order of rows does not
        ranked = sorted(
            ((-count, key is None, key) for key, count in _items(counts)), key=_order
        )
        return cls(tuple(key for _, _, key in ranked[:MAX_LEVELS]))

    def __call__(self, column: pd.Series) -> Matrix:  # (n,) -> (n, n_levels)
        """Encode a column of categories."""
        position = {key: code for code, key in enumerate(self.levels)}
        found, distinct = _factorize(keys(column))
        lookup = np.array([position.get(key, len(position)) for key in distinct])
        return _one_hot(lookup[found], len(position))


@dataclass(frozen=True)
class TableEncoder:
    """Turns tables into float matrices that every classifier takes.

    Numbers are median-imputed, standardised and clipped; few integers, texts,
    booleans and categories become one-hot cells; constant columns disappear. Only
    the table given to :meth:`fit`, the synthetic one, decides any of that.

    Parameters
    ----------
    template : DataFrame
        No rows; the columns in their order.
    codes : tuple
        One code per column; None drops the column.

    Examples
    --------
    >>> train = pd.DataFrame({"age": [20.5, 40.5, None], "job": ["a", "b", "a"]})
    >>> encoder = TableEncoder.fit(train)
    >>> encoder(pd.DataFrame({"age": [30.5], "job": ["never seen"]})).tolist()
    [[0.0, 0.0, 0.0, 0.0]]
    """

    template: pd.DataFrame
    codes: tuple[NumberCode | IntegerCode | CategoryCode | None, ...]

    @classmethod
    def fit(cls, table: Any) -> Self:
        """Choose a code for each column of the synthetic table."""
        frame = as_frame(table)
        columns = (frame.iloc[:, j] for j in range(frame.shape[1]))
        return cls(frame.iloc[:0], tuple(_fit_code(column) for column in columns))

    def __call__(self, table: Any) -> Matrix:  # (n, n_columns) -> (n, width)
        """Encode a table with the same columns."""
        frame = align(as_frame(table), self.template)
        parts = [
            code(frame.iloc[:, j])
            for j, code in enumerate(self.codes)
            if code is not None
        ]
        if not parts:  # nothing varies: a column of zeros keeps every model fitting
            return np.zeros((len(frame), 1), dtype=np.float32)
        return np.hstack(parts)


def _fit_code(column: pd.Series) -> NumberCode | IntegerCode | CategoryCode | None:
    if not is_numeric(column):
        code = CategoryCode.fit(column)
        return code if len(code.levels) > 1 else None
    values = _values(column, is_time(column))
    known = values[~np.isnan(values)]
    levels = np.unique(known)
    has_missing = len(known) < len(values)
    if len(levels) + has_missing <= 1:
        return None
    if len(levels) <= MAX_INTEGERS and np.array_equal(levels, np.rint(levels)):
        return IntegerCode(tuple(levels.tolist()), has_missing)
    return NumberCode.fit(column)


def _values(column: pd.Series, as_time: bool) -> NDArray[np.float64]:
    return times(column) if as_time else numbers(column)


def _one_hot(codes: NDArray[np.intp], n_levels: int) -> Matrix:
    table = np.eye(n_levels + 1, n_levels, dtype=np.float32)
    return table[np.minimum(codes, n_levels)]


def _factorize(cells: NDArray[np.object_]) -> tuple[NDArray[np.intp], list[Any]]:
    found, distinct = pd.factorize(cells, use_na_sentinel=False)
    return found, [None if key is None or key != key else key for key in distinct]


def _items(counts: pd.Series) -> list[tuple[str | None, int]]:
    return [
        (key if isinstance(key, str) else None, int(count))
        for key, count in counts.items()
    ]


def _order(entry: tuple[int, bool, str | None]) -> tuple[int, bool, str]:
    count, is_missing, key = entry
    return count, is_missing, key or ""
