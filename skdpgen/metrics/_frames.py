"""Any table as a pandas frame, and any cell as a number or a text key."""

from dataclasses import dataclass
from typing import Any, Self

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from skdpgen.utils import (
    Labels,
    Rows,
    Synthesizer,
    Table,
)

Keys = NDArray[np.object_]  # text, or None where a value is missing
TARGET_NAME = "(target)"  # of the target as a column


def as_frame(table: Table) -> pd.DataFrame:
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


def as_series(labels: Labels) -> pd.Series:
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


def joined(rows: Rows) -> pd.DataFrame:
    """Turn a table, or a tuple of a table and its target, into one pandas frame.

    The target gets a name that no column has.

    Examples
    --------
    >>> joined((pd.DataFrame({"a": [1]}), ["yes"])).columns.tolist()
    ['a', '(target)']
    """
    if not isinstance(rows, tuple):
        return as_frame(rows)
    X, y = rows
    return pd.concat([as_frame(X), as_series(y).rename(TARGET_NAME)], axis=1)


def align(frame: pd.DataFrame, reference: pd.DataFrame) -> pd.DataFrame:
    """Give synthetic rows the columns of real ones, by name.

    Rows of an array have no names: their columns, 0, 1, ..., count by position. A
    target that is a column of one side is that of a pair (X, y) on the other.

    Examples
    --------
    >>> left, right = pd.DataFrame({"a": [1], "b": [2]}), pd.DataFrame({"b": [3]})
    >>> align(left, right).columns.tolist()
    ['b']
    """
    if set(reference.columns) <= set(frame.columns):
        return frame[list(reference.columns)]
    is_unnamed = _is_unnamed(frame) or _is_unnamed(reference)
    if is_unnamed and frame.shape[1] == reference.shape[1]:
        return frame.set_axis(reference.columns, axis=1)
    lacking = [str(name) for name in reference.columns if name not in frame.columns]
    more = [name for name in frame.columns if name not in reference.columns]
    if len(lacking) == len(more) == 1 and TARGET_NAME in {lacking[0], more[0]}:
        named = frame.rename(columns={more[0]: lacking[0]})  # one has it among columns
        return named[list(reference.columns)]
    raise ValueError(
        "Real and synthetic rows must have the same columns. Got "
        f"{reference.shape[1]} and {frame.shape[1]} columns, the synthetic ones "
        f"without {', '.join(lacking)}. Give both as frames with the same column names."
    )


def _is_unnamed(frame: pd.DataFrame) -> bool:
    """Return whether the columns are those of an array, beside a target."""
    names = [name for name in frame.columns if name != TARGET_NAME]
    return names == list(range(len(names)))


def is_numeric(column: pd.Series) -> bool:
    """Return whether a column holds numbers or times rather than categories.

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
    """Return whether a column holds dates, times or durations.

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
    """Turn a column into floats; all but finite numbers become NaN.

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


def keys(column: pd.Series) -> Keys:
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
    return names[codes]  # missing has the code -1, the last name


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
    unit: Any = np.datetime_data(stamps.dtype)[0]  # "ns", "us", ...
    per_second = np.timedelta64(1, "s") / np.timedelta64(1, unit)
    return np.where(np.isnat(stamps), np.nan, stamps.astype(np.int64) / per_second)


def _key(value: object) -> str:
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)


# ----------------------------------------------------------------------------
# The synthesizer inside a fitted estimator, and the rows it is compared with.

FEWEST_ROWS, MOST_ROWS = 5_000, 20_000


def unwrap(estimator: object, X: Table) -> tuple[Any, Table]:
    """Return the estimator that samples, and ``X`` in the space that it samples in.

    A search gives its best estimator, a pipeline its last step. The steps before it
    transform ``X``, since the synthetic rows come out transformed too.

    Examples
    --------
    >>> unwrap("synthesizer", [[1]])
    ('synthesizer', [[1]])
    """
    best = getattr(estimator, "best_estimator_", None)
    if best is not None:
        return unwrap(best, X)
    if isinstance(estimator, Pipeline):
        if len(estimator.steps) > 1:
            X = estimator[:-1].transform(X)
        return unwrap(estimator.steps[-1][1], X)
    return estimator, X


def draw_samples(
    synthesizer: Synthesizer, n_samples: int | None, random_state: int | None
) -> tuple[Table, Labels]:
    """Sample labelled rows; by default as many as were fitted, within limits.

    Sampling is free post-processing, so a small table is judged by more rows than it
    has, and a large one by no more than the models can learn from in seconds.

    Raises
    ------
    ValueError
        If the synthesizer was fitted without labels.
    """
    fitted = getattr(synthesizer, "n_samples_", None)
    if n_samples is None and fitted is not None:
        n_samples = min(max(fitted, FEWEST_ROWS), MOST_ROWS)
    sampled = synthesizer.sample(n_samples, random_state=random_state)
    if not isinstance(sampled, tuple):
        raise ValueError(
            "A utility score needs labelled rows, and the estimator samples rows "
            "only. Fit it with `y`."
        )
    return sampled


# ----------------------------------------------------------------------------
# Synthetic and real targets on one scale: class codes or floats.

TASKS = ("auto", "classification", "regression")


@dataclass(frozen=True, eq=False)
class Targets:
    """Both targets with common codes; rows without a target are left out.

    Parameters
    ----------
    task : {"binary", "multiclass", "regression"}
    classes : tuple of str
        Text keys of the classes in code order; the last is the positive one.
    train, test : ndarray
        Codes or floats of the rows that have a target.
    train_known, test_known : ndarray of bool
        Rows that have a target.
    """

    task: str
    classes: tuple[str, ...]
    train: NDArray[Any]
    test: NDArray[Any]
    train_known: NDArray[np.bool_]
    test_known: NDArray[np.bool_]

    @property
    def positive_class(self) -> str | None:
        """Key of the class that ROC-AUC and average precision are about."""
        return self.classes[-1] if self.task == "binary" else None


def prepare_targets(y_train: Labels, y_test: Labels, task: str = "auto") -> Targets:
    """Code synthetic and real targets with common codes.

    Labels match by their text (``1``, ``1.0`` and ``"1"`` are one class). The classes
    are those of both sides together, sorted as numbers if all are numbers, else as
    text; of two classes the last is the positive one (``">50K"``, ``"yes"``, ``1``).

    Examples
    --------
    >>> targets = prepare_targets(["no", "yes"], ["yes", "no", None])
    >>> targets.task, targets.positive_class, targets.test.tolist()
    ('binary', 'yes', [1, 0])
    """
    synthetic, real = as_series(y_train), as_series(y_test)
    if task == "auto":
        is_float = pd.api.types.is_float_dtype(real)
        task = "regression" if is_float else "classification"
    build = _numeric if task == "regression" else _coded
    targets = build(synthetic, real)
    if not len(targets.test):
        raise ValueError(
            "y_test must have a row whose target is known. Got none instead. "
            "Score on real rows with labels."
        )
    return targets


def _numeric(synthetic: pd.Series, real: pd.Series) -> Targets:
    train, test = numbers(synthetic), numbers(real)
    has_train, has_test = ~np.isnan(train), ~np.isnan(test)
    return Targets(
        "regression", (), train[has_train], test[has_test], has_train, has_test
    )


def _coded(synthetic: pd.Series, real: pd.Series) -> Targets:
    train, test = keys(synthetic), keys(real)
    has_train, has_test = _not_none(train), _not_none(test)
    classes = _sorted({*train[has_train], *test[has_test]})
    position = {name: code for code, name in enumerate(classes)}

    def code(cells: Keys) -> NDArray[np.intp]:
        return np.array([position[name] for name in cells], dtype=np.intp)

    task = "binary" if len(classes) <= 2 else "multiclass"
    codes = code(train[has_train]), code(test[has_test])
    return Targets(task, classes, *codes, has_train, has_test)


def _not_none(cells: Keys) -> NDArray[np.bool_]:
    return np.array([cell is not None for cell in cells], dtype=bool)


def _sorted(names: set[str]) -> tuple[str, ...]:
    try:
        return tuple(sorted(names, key=lambda name: (float(name), name)))
    except ValueError:
        return tuple(sorted(names))


# ----------------------------------------------------------------------------
# Float matrices from tables, fitted on the synthetic side only.

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
        present = values[~np.isnan(values)]
        low, median, high = np.quantile(present, [0.001, 0.5, 0.999])
        if low == high:  # nearly all values are one: clipping would leave no others
            low, high = present.min(), present.max()
        bulk = np.clip(present, low, high)
        scale = float(bulk.std())
        return cls(
            median=float(median),
            mean=float(bulk.mean()),
            scale=scale if scale > 0 else 1.0,
            has_missing=len(present) < len(values),
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
        middles = (levels[1:] + levels[:-1]) / 2  # between them a level is the nearest
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
        codes, distinct = _factorize(keys(column))
        lookup = np.array([position.get(key, len(position)) for key in distinct])
        return _one_hot(lookup[codes], len(position))


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
    def fit(cls, table: Table) -> Self:
        """Choose a code for each column of the synthetic table."""
        frame = as_frame(table)
        columns = (frame.iloc[:, j] for j in range(frame.shape[1]))
        return cls(frame.iloc[:0], tuple(_fit_code(column) for column in columns))

    def __call__(self, table: Table) -> Matrix:  # (n, n_columns) -> (n, width)
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
    present = values[~np.isnan(values)]
    levels = np.unique(present)
    has_missing = len(present) < len(values)
    if len(levels) + has_missing <= 1:
        return None
    if len(levels) <= MAX_INTEGERS and np.array_equal(levels, np.rint(levels)):
        return IntegerCode(tuple(levels.tolist()), has_missing)
    return NumberCode.fit(column)


def _values(column: pd.Series, as_time: bool) -> NDArray[np.float64]:
    return times(column) if as_time else numbers(column)


def _one_hot(codes: NDArray[np.intp], n_levels: int) -> Matrix:
    table = np.eye(n_levels + 1, n_levels, dtype=np.float32)  # the last row is zeros
    return table[np.minimum(codes, n_levels)]


def _factorize(cells: Keys) -> tuple[NDArray[np.intp], list[str | None]]:
    codes, distinct = pd.factorize(cells, use_na_sentinel=False)
    # pandas writes a missing key as NaN, which differs from itself
    return codes, [None if key is None or key != key else key for key in distinct]


def _items(counts: pd.Series) -> list[tuple[str | None, int]]:
    return [
        (key if isinstance(key, str) else None, int(count))
        for key, count in counts.items()
    ]


def _order(entry: tuple[int, bool, str | None]) -> tuple[int, bool, str]:
    count, is_missing, key = entry
    return count, is_missing, key or ""
