"""How close synthetic marginals are to real ones: total variation."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.random import Generator
from numpy.typing import NDArray
from pandas.tseries.api import guess_datetime_format

from skdpgen.metrics._frames import (
    Keys,
    align,
    is_numeric,
    is_time,
    joined,
    keys,
    numbers,
    times,
)
from skdpgen.utils import (
    Rows,
)

Floats = NDArray[np.float64]

# ----------------------------------------------------------------------------
# One column of two tables, both read as numbers, as times or as text.

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
    """Read a column of both tables as the type of the real one.

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
    kind: Literal["number", "time"] = "number" if is_number else "time"
    return ColumnPair(kind, values[0], values[1], (strange[0], strange[1]))


def _numbers(column: pd.Series) -> NDArray[np.float64]:
    """Read numbers; infinite ones stay, since they are far and not missing."""
    values = numbers(column)
    if not pd.api.types.is_float_dtype(column):
        return values
    raw = column.to_numpy(dtype=np.float64, na_value=np.nan)
    return np.where(np.isinf(raw), raw, values)


def _time_reader(guide: pd.Series) -> Callable[[pd.Series], Floats] | None:
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


# ----------------------------------------------------------------------------
# How close synthetic marginals are to real ones: total variation.

MAX_SETS = 300  # pairs, or triples, of columns
MAX_LEVELS = 64  # the most frequent real categories; the other real ones share a cell

Cells = tuple[NDArray[np.intp], NDArray[np.intp], int]  # real, synthetic, number


def total_variation(
    real: Rows, synthetic: Rows, order: int = 1, n_bins: int = 16
) -> float:
    r"""Mean total variation distance between real and synthetic marginals.

    .. math:: \frac12 \sum_c |p_c - q_c| \in [0, 1]

    over the cells of each column (``order=1``), pair (2) or triple (3) of columns.
    Numbers are cut at quantiles of the real rows; missing is a cell, and so are the
    values that the real rows never hold. Texts that are dates count as dates. This
    reads real rows, so it is outside the guarantee.

    Parameters
    ----------
    real, synthetic : table or tuple (X, y)
        Tables with the same columns; with targets, these count as a column.
    order : {1, 2, 3}, default=1
        If there are more than 300 pairs or triples, a fixed sample is taken, the same
        at every call.
    n_bins : int, default=16
        Cells of a numeric column.

    Returns
    -------
    float
        0 for equal marginals, 1 for disjoint ones. Two samples of one distribution do
        not reach 0: compare with the distance between two sets of real rows.

    Examples
    --------
    >>> real = pd.DataFrame({"a": ["x", "y"], "b": [0.0, 1.0]})
    >>> total_variation(real, real, order=2)
    0.0
    >>> total_variation(real, pd.DataFrame({"a": ["x", "x"], "b": [0.0, 1.0]}))
    0.25
    """
    return float(marginal_distances(real, synthetic, order, n_bins).mean())


def marginal_distances(
    real: Rows, synthetic: Rows, order: int = 1, n_bins: int = 16
) -> pd.Series:
    """Total variation distance of each column, or of each pair or triple of columns.

    :func:`total_variation` is the mean of these, and has the same parameters. This
    reads real rows, so it is outside the guarantee.

    Returns
    -------
    Series of float
        By column, or by pairs or triples of columns; a table with fewer columns than
        ``order`` is one set. The target, if there is one, is called ``"(target)"``.

    Examples
    --------
    >>> real = pd.DataFrame({"a": ["x", "y"], "b": [0.0, 1.0]})
    >>> marginal_distances(real, pd.DataFrame({"a": ["x", "x"], "b": [0.0, 1.0]}))
    a    0.5
    b    0.0
    dtype: float64
    """
    if order not in (1, 2, 3):
        raise ValueError(f"order must be 1, 2 or 3. Got {order!r} instead.")
    if n_bins < 2:
        raise ValueError(f"n_bins must be at least 2. Got {n_bins!r} instead.")
    real_frame = joined(real)
    columns = discretised(real_frame, joined(synthetic), n_bins)
    names = list(real_frame.columns)
    order = min(order, len(columns))
    if order < 2:
        return pd.Series([_distance(*column) for column in columns], names, dtype=float)
    chosen = column_sets(len(columns), order)
    index = pd.MultiIndex.from_tuples([tuple(names[j] for j in js) for js in chosen])
    return pd.Series([_together([columns[j] for j in js]) for js in chosen], index)


def discretised(
    real: pd.DataFrame, synthetic: pd.DataFrame, n_bins: int
) -> list[Cells]:
    if not (len(real) and len(synthetic)):
        raise ValueError("Both tables must have rows. Got an empty one instead.")
    synthetic = align(synthetic, real)
    pairs = [
        read_alike(real.iloc[:, j], synthetic.iloc[:, j]) for j in range(real.shape[1])
    ]
    return [
        levels(pair.real, pair.synthetic)
        if pair.kind == "level"
        else _bins(pair.real, pair.synthetic, n_bins)
        for pair in pairs
    ]


def _bins(real: Floats, synthetic: Floats, n_bins: int) -> Cells:
    sides = [np.where(np.isfinite(side), side, np.nan) for side in (real, synthetic)]
    real_values = sides[0][~np.isnan(sides[0])]
    inner = np.linspace(0, 1, n_bins + 1)[1:-1]
    distinct = np.unique(real_values)
    # few values: one cell each, so that spikes and codes are not merged
    edges = (
        (distinct[1:] + distinct[:-1]) / 2
        if len(distinct) <= n_bins
        else np.unique(np.quantile(real_values, inner))
    )
    cells = [
        np.where(np.isnan(side), len(edges) + 1, np.searchsorted(edges, side, "right"))
        for side in sides
    ]
    return cells[0], cells[1], len(edges) + 2


def levels(real: Keys, synthetic: Keys) -> Cells:
    """Code text keys: frequent real ones, the rest, what no real row has, missing.

    Examples
    --------
    >>> real, synthetic = (np.array(x, dtype=object) for x in (["a"], ["b", None]))
    >>> [side.tolist() for side in levels(real, synthetic)[:2]]
    [[0], [2, 3]]
    """
    sides = real, synthetic
    counts = pd.Series(sides[0]).value_counts(dropna=True)
    rare = min(len(counts), MAX_LEVELS)  # then what no real row holds, then missing
    places = {name: min(code, rare) for code, name in enumerate(counts.index)}
    coded = []
    for side in sides:
        codes, distinct = pd.factorize(side, use_na_sentinel=True)
        lookup = [places.get(name, rare + 1) for name in distinct]
        # missing has the code -1, the last place
        coded.append(np.array([*lookup, rare + 2], dtype=np.intp)[codes])
    return coded[0], coded[1], rare + 3


def column_sets(n_columns: int, order: int) -> list[tuple[int, ...]]:
    """Return all sets of columns of a size, or a fixed sample of 300 of them.

    Examples
    --------
    >>> column_sets(3, 2)
    [(0, 1), (0, 2), (1, 2)]
    """
    n_sets = comb(n_columns, order)
    if n_sets <= MAX_SETS:
        return list(combinations(range(n_columns), order))
    rng = np.random.default_rng(0)
    if order == 2:  # a sample of places: the one that earlier numbers are of
        places = set(rng.choice(n_sets, MAX_SETS, replace=False).tolist())
        pairs = enumerate(combinations(range(n_columns), 2))
        return [pair for k, pair in pairs if k in places]
    chosen: set[tuple[int, ...]] = set()
    while len(chosen) < MAX_SETS:
        chosen.add(tuple(sorted(rng.choice(n_columns, order, replace=False).tolist())))
    return sorted(chosen)


def _together(columns: list[Cells]) -> float:
    """Distance of a set of columns; only cells that some row is in are counted."""
    n_real, n_synthetic = len(columns[0][0]), len(columns[0][1])
    real = np.zeros(n_real, dtype=np.int64)
    synthetic = np.zeros(n_synthetic, dtype=np.int64)
    for real_codes, synthetic_codes, n_cells in columns:  # a code for each set
        real = real * n_cells + real_codes
        synthetic = synthetic * n_cells + synthetic_codes
    rows = np.concatenate([real, synthetic])
    occupied, codes = np.unique(rows, return_inverse=True)
    return _distance(codes[:n_real], codes[n_real:], len(occupied))


def _distance(
    real: NDArray[np.intp], synthetic: NDArray[np.intp], n_cells: int
) -> float:
    p = np.bincount(real, minlength=n_cells) / len(real)
    q = np.bincount(synthetic, minlength=n_cells) / len(synthetic)
    return float(np.abs(p - q).sum() / 2)


# ----------------------------------------------------------------------------
# How wrong shares of rows are, counted on synthetic rows instead of real ones.

N_QUERIES = 500
COLUMNS_OF_QUERY = 3

Mask = NDArray[np.bool_]


def query_error(
    real: Rows,
    synthetic: Rows,
    *,
    n_queries: int = N_QUERIES,
    random_state: int | None = 0,
) -> float:
    """Mean absolute error of the answers to random questions about three columns.

    A question is "which share of the rows has these": for a number or a time, a range
    between two random quantiles of the real rows; for a category, a random half of the
    real ones, of which missing is one. The seed is public and the same questions are
    asked of every table. This reads real rows, so it is outside the guarantee.

    Parameters
    ----------
    real, synthetic : table or tuple (X, y)
        Tables with the same columns; with targets, these count as a column.
    n_queries : int, default=500
        Questions.
    random_state : int or None, default=0
        Seed of the questions.

    Returns
    -------
    float
        0 for equal answers; .01 is one row in a hundred.

    Examples
    --------
    >>> real = pd.DataFrame({"a": [1, 2, 3, 4], "b": [0, 1, 0, 1]})
    >>> query_error(real, real)
    0.0
    """
    if n_queries < 1:
        raise ValueError(f"n_queries must be at least 1. Got {n_queries!r} instead.")
    real_frame, synthetic_frame = joined(real), joined(synthetic)
    if not (len(real_frame) and len(synthetic_frame)):
        raise ValueError("Both tables must have rows. Got an empty one instead.")
    synthetic_frame = align(synthetic_frame, real_frame)
    columns = [
        _Column(read_alike(real_frame.iloc[:, j], synthetic_frame.iloc[:, j]))
        for j in range(real_frame.shape[1])
    ]
    rng = np.random.default_rng(random_state)
    errors = []
    for _ in range(n_queries):
        chosen = rng.permutation(len(columns))[:COLUMNS_OF_QUERY]
        answers = [columns[j].ask(rng) for j in chosen]
        # the share of rows that have all that is asked for, on the real side first
        shares = [
            np.logical_and.reduce([masks[side] for masks in answers]).mean()
            for side in (0, 1)
        ]
        errors.append(abs(shares[0] - shares[1]))
    return float(np.mean(errors))


class _Column:
    """A column of both tables, of which questions are asked."""

    def __init__(self, pair: ColumnPair) -> None:
        self.is_level = pair.kind == "level"
        # real values in order, or codes of real categories
        self.real_values: NDArray[Any] = np.empty(0)
        self.sides: tuple[NDArray[Any], NDArray[Any]]
        if self.is_level:
            # by name, so that the questions do not depend on the order of rows
            names = sorted({key for key in pair.real if key is not None})
            has_missing = any(key is None for key in pair.real)
            self.real_values = np.arange(len(names) + has_missing)
            self.sides = _places(pair.real, names), _places(pair.synthetic, names)
        else:
            self.sides = pair.real, pair.synthetic
            self.real_values = np.sort(pair.real[~np.isnan(pair.real)])

    def ask(self, rng: Generator) -> tuple[Mask, Mask]:
        """Return which rows of each table meet a condition."""
        n_values = len(self.real_values)
        if self.is_level:
            # codes of missing and of what no real row has are never wanted, unless
            # real rows are missing
            wanted = np.zeros(n_values + 2, dtype=bool)
            n_wanted = max(1, n_values // 2)
            wanted[rng.permutation(n_values)[:n_wanted]] = True
            return wanted[self.sides[0]], wanted[self.sides[1]]
        ends = np.sort(rng.random(2))
        if not n_values:  # nothing but missing: the question is for these
            return np.isnan(self.sides[0]), np.isnan(self.sides[1])
        places = np.minimum(ends * n_values, n_values - 1).astype(int)
        low, high = self.real_values[places]
        first, second = ((side >= low) & (side <= high) for side in self.sides)
        return first, second


def _places(cells: NDArray[Any], names: list[str]) -> NDArray[np.intp]:
    """Return indices in ``names``; missing comes next, and then all other values."""
    lookup = {name: place for place, name in enumerate(names)}
    codes, distinct = pd.factorize(cells, use_na_sentinel=True)
    places = [lookup.get(name, len(names) + 1) for name in distinct]
    return np.array([*places, len(names)], dtype=np.intp)[codes]  # missing: code -1
