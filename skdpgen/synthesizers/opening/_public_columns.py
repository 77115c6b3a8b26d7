"""Descriptions of columns and labels that public rows show.

A release decides whether private rows contradict them.
"""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skdpgen.privacy import Histograms, Ledger, OneHot, release
from skdpgen.synthesizers.opening._first_look import (
    Unknown,
    by_column,
    share_for,
    with_text_type,
)
from skdpgen.synthesizers.opening._known_columns import are_classes, parse_classes
from skdpgen.synthesizers.opening._public_rows import PublicRows
from skdpgen.tables import (
    FROM_PUBLIC,
    TARGET,
    Categorical,
    CategoryCells,
    Column,
    Datetime,
    Integer,
    Kind,
    Layout,
    Rows,
    TextKinds,
    TokenColumn,
    as_float,
    as_numbers,
    as_seconds,
    bounds,
    infer_column,
    read_column,
    read_text,
    times_at,
    with_hint,
)
from skdpgen.utils import (
    Key,
    saved,
)

CHECK_SHARES = (0.01, 0.05)  # of mu², at least and at most
CHECK_STD = 1 / 50  # of the rows: the noise that is good enough
# Of the rows, and noise stds: more contradict public rows.
OUTSIDE_PART, SURE_STDS = 0.05, 1.5
BLIND_PART = 0.5  # of the rows: a larger limit contradicts nothing
MOST_CATEGORIES = 512  # the most frequent; more are other
CODE_PART = 1 / 1000  # of public rows: words among numbers that are codes; text forms
FEWEST_OF_CODE = 5  # public rows of a code
LABEL_PART = 1 / 200  # of public rows: labels that are classes
MOST_NUMBERED = 20  # labels that are numbers: more may be a number to predict
REPEATED = 5  # public rows of a different number of a text, on average
SPARSE_PART = 1 / 10  # of the numbers between the ends: fewer are names, not amounts
ROUNDING = 1e-6  # of a step: numbers and times that are off the lattice by more


@saved("cells.outside")
@dataclass(frozen=True, eq=False)
class Outside:
    """Two cells: values that a column's description covers or missing, and others.

    Parameters
    ----------
    column : Column
    types : tuple of int, default=()
        Types of text that public rows have, as :class:`~skdpgen.tables.TextKinds` has
        them; for numbers and times in text.
    """

    column: Column
    types: tuple[int, ...] = ()

    n_known = n_cells = 2
    nullable = False
    is_ordered = False

    def encode(self, values: Any) -> NDArray[np.int64]:
        """Return 1 for values outside the description.

        These are numbers and times out of bounds, or with more decimals or a finer
        resolution. Text is also outside if it is neither read nor a code, or if it is
        written in a form that public rows do not have.
        """
        if isinstance(self.column, Categorical):
            listed = CategoryCells(tuple(self.column.categories or ()), nullable=True)
            missing = CategoryCells((), nullable=True, other=1).encode(values) == 0
            return ((listed.encode(values) == listed.n_known) & ~missing).astype(
                np.int64
            )
        numbers: Any = read_column(values, self.column)
        is_time = isinstance(self.column, Datetime)
        x = as_seconds(numbers) if is_time else as_numbers(numbers)
        lower, upper = bounds(self.column)
        with np.errstate(all="ignore"):  # a warning would tell about a value
            is_outside = (x < lower) | (x > upper) | self._is_finer(x)
        if isinstance(values, TokenColumn):
            codes = set(map(str, getattr(self.column, "codes", ())))
            is_code = np.array([*(text in codes for text in values.values), True])
            is_text_known = is_code[values.codes]
            has_type = np.isin(TextKinds().encode(values), self.types)
            is_outside |= ~is_text_known & (np.isnan(x) | ~has_type)
        return is_outside.astype(np.int64)

    def _is_finer(self, x: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return which values are between those of the description."""
        column: Any = self.column
        step = column.step if isinstance(column, Datetime) else None
        decimals = getattr(column, "decimals", None)
        if decimals is not None:
            step = 10.0**-decimals
        if not step:
            return np.zeros(len(x), dtype=bool)
        in_steps = x / step
        off = np.abs(in_steps - np.round(in_steps))
        return np.asarray(off > ROUNDING * np.maximum(np.abs(in_steps), 1.0))


def public_columns(
    public: PublicRows,
    kinds: Mapping[Any, Kind],
    described: Mapping[Any, Column],
    other: str,
    listed: Collection[Any] = (),
) -> dict[Any, Outside]:
    """Describe the columns that no schema describes, from public rows.

    Reads public rows only. Text is of the type that discovery would give it: words,
    numbers or times with their format, and codes beside them. Text that differs from
    row to row is left out, and whole numbers with a point, as 30000.0: discovery
    handles them as it does without public rows. The dtypes of ``listed`` columns list
    their values, which are words. Descriptions are returned as cells that test them.
    """
    columns: dict[Any, Outside] = {}
    open_kinds = {
        name: kind
        for name, kind in kinds.items()
        if name not in described and name is not TARGET and kind is not Kind.BOOLEAN
    }
    texts = [n for n, kind in open_kinds.items() if kind is Kind.TEXT]
    types = public.text_types([name for name in texts if name not in listed])
    for name, kind in open_kinds.items():
        series = public.frame[name]
        if name in types:
            column: Any = _text_column(series, types[name], other)
        elif kind is Kind.TEXT:
            column = _most_frequent(series, other)
        else:
            column = infer_column(series, kind)
        if column is None:
            continue
        column = replace(column, nullable=True, origin=FROM_PUBLIC)
        usual = types.get(name, np.zeros(0)) >= max(CODE_PART * public.n_rows, 1)
        columns[name] = Outside(column, tuple(np.flatnonzero(usual).tolist()))
    return columns


def _text_column(
    series: "pd.Series[Any]", types: NDArray[np.float64], other: str
) -> Column | None:
    """Describe a column of text; None if it is none of words, numbers and times.

    A few numbers, far from each other, are names, as industries have.
    """
    name, n_rows = series.name, len(series)
    distinct = float(series.dropna().map(str).nunique())
    unknown = with_text_type(
        Unknown({}, (name,)), name, types, (distinct, 0.0), 0.0, n_rows
    )
    if unknown.texts == (name,):
        return _most_frequent(series, other)
    if name in unknown.parsed:
        column = _written_column(series, unknown.written[name], Kind.FLOAT)
        n_values = getattr(column, "n_values", None) or math.inf
        is_few = distinct <= min(n_rows / REPEATED, MOST_CATEGORIES)
        if is_few and distinct < SPARSE_PART * n_values:
            return _most_frequent(series, other)
        is_pointed = name in unknown.pointed and isinstance(column, Integer)
        return None if is_pointed else column
    if name in unknown.dated:
        form = unknown.written.get(name, Datetime())
        return _written_column(series, form, Kind.DATETIME)
    return None


def _most_frequent(series: "pd.Series[Any]", other: str) -> Categorical:
    """Describe words by the most frequent ones; the rest are ``other``."""
    counts = series.dropna().map(str).value_counts()
    words = sorted(counts.index[:MOST_CATEGORIES].tolist(), key=_by_value)
    return Categorical(words, other=other)


def _by_value(text: str) -> tuple[bool, float, str]:
    """Return the key by which numbers come first, in their order, then words.

    Examples
    --------
    >>> sorted(["b", "10", "2", "nan"], key=_by_value)
    ['2', '10', 'b', 'nan']
    """
    value = as_float(text)
    is_word = math.isnan(value)
    return is_word, 0.0 if is_word else value, text


def _written_column(series: "pd.Series[Any]", form: Any, kind: Kind) -> Column:
    """Describe numbers or times in text: bounds, decimals, and codes beside them."""
    counts = series.dropna().map(str).value_counts()
    texts = tuple(counts.index)
    values = read_text(TokenColumn(np.arange(len(texts)), texts), form)
    is_read = np.isfinite(values)
    least = max(CODE_PART * len(series), FEWEST_OF_CODE)
    is_code = np.isnan(values) & (counts.to_numpy() >= least)
    codes = sorted(np.array(texts, dtype=object)[is_code].tolist())
    read = values[is_read]
    is_time = kind is Kind.DATETIME
    column: Any = infer_column(pd.Series(times_at(read) if is_time else read), kind)
    if getattr(column, "decimals", None) == 0:
        column = Integer(int(column.lower), int(column.upper))
    written: Any = with_hint(column, replace(form, codes=codes))
    return replace(written, lower=column.lower, upper=column.upper)


def public_labels(
    public: PublicRows, layout: Layout | None, *, may_be_numbers: bool
) -> tuple[Any, ...] | None:
    """Return the classes that public labels show; None if they may be numbers.

    Reads public rows only; ``layout`` is the type of the private labels. If these
    ``may_be_numbers``, more than ``MOST_NUMBERED`` numbers are left to discovery.
    """
    if not public.has_labels:
        return None
    least = LABEL_PART * public.n_rows
    labels = public.counts_of_labels()
    counts = {text: count for text, count in labels.items() if count >= least}
    n_numbers = sum(np.isfinite(as_float(text)) for text in counts)
    if may_be_numbers and n_numbers > MOST_NUMBERED:
        return None
    if len(counts) < 2 or not are_classes(counts, public.n_rows):
        return None
    return parse_classes(counts, layout)


def accepted_columns(
    rows: Rows, grids: Mapping[Any, Any], ledger: Ledger, n_rows: float
) -> tuple[dict[Any, Column], bool]:
    r"""Return the descriptions that private rows do not contradict, by a release.

    ``grids`` are cells of :class:`Outside`, by column. Released is how many rows of
    each column have a value that public rows do not have. Also returns whether noise
    hides all rows that could contradict a column; that is public.

    *Why it is private.* Cells are computed from public rows. A private row is in one of
    two cells of each of d columns: its vector is not negative and has norm
    :math:`\sqrt d`, so it moves the sum by :math:`\sqrt{2d}` at most if replaced, by
    :math:`\sqrt d` if added or removed (:class:`~skdpgen.privacy.OneHot`). The noisy
    counts alone decide which descriptions are kept.
    """
    if not grids:
        return {}, False
    share = share_for(OneHot(len(grids)), n_rows * CHECK_STD, ledger, CHECK_SHARES)
    released = release(
        rows.batches(grids),
        {Key.COLUMNS: Histograms((2,) * len(grids))},
        name=f"values of {len(grids)} columns that public rows lack",
        ledger=ledger,
        share=share,
    )
    std = released.noise_std[Key.COLUMNS]
    limit = OUTSIDE_PART * n_rows + SURE_STDS * std
    counts = by_column(released, grids)
    accepted = {
        name: grid.column for name, grid in grids.items() if counts[name][1] <= limit
    }
    return accepted, limit > BLIND_PART * n_rows
