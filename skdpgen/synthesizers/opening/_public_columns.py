"""Descriptions of columns and labels that public rows show.

A release decides whether private rows contradict them.
"""

import math
from collections.abc import Mapping
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
    NumberCells,
    Rows,
    TokenColumn,
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
MOST_CATEGORIES = 512  # the most frequent; more are other
CODE_PART = 1 / 1000  # of public rows: words among numbers or times that are codes
LABEL_PART = 1 / 200  # of public rows: labels that are classes
REPEATED = 20  # public rows of a different number of a text, on average
SPARSE_PART = 1 / 10  # of the numbers between the ends: fewer are names, not amounts


@saved("cells.outside")
@dataclass(frozen=True, eq=False)
class Outside:
    """Two cells: values that a column's description covers or missing, and others."""

    column: Column

    n_known = n_cells = 2
    nullable = False
    is_ordered = False

    def encode(self, values: Any) -> NDArray[np.int64]:
        """Return 1 for values outside the description.

        Text that is neither a code of the column nor read as its number is outside.
        """
        if isinstance(self.column, Categorical):
            listed = CategoryCells(tuple(self.column.categories or ()), nullable=True)
            missing = CategoryCells((), nullable=True, other=1).encode(values) == 0
            return ((listed.encode(values) == listed.n_known) & ~missing).astype(
                np.int64
            )
        lower, upper = bounds(self.column)
        span = np.array([lower, np.nextafter(upper, np.inf)])
        is_time = isinstance(self.column, Datetime)
        cells = NumberCells(span, nullable=True, is_time=is_time).with_outside()
        numbers: Any = read_column(values, self.column)
        is_outside = np.isin(cells.encode(numbers), (0, 2))
        if isinstance(values, TokenColumn):
            codes = set(map(str, getattr(self.column, "codes", ())))
            is_code = np.array([*(text in codes for text in values.values), True])
            is_outside |= np.isnan(numbers.values) & ~is_code[values.codes]
        return is_outside.astype(np.int64)


def public_columns(
    public: PublicRows,
    kinds: Mapping[Any, Kind],
    described: Mapping[Any, Column],
    other: str,
) -> dict[Any, Column]:
    """Describe the columns that no schema describes, from public rows.

    Reads public rows only. Text is of the type that discovery would give it: words,
    numbers or times with their format, and codes beside them. Text that differs from
    row to row is left out: discovery handles it as it does without public rows.
    """
    columns: dict[Any, Column] = {}
    for name, kind in kinds.items():
        if name in described or name is TARGET or kind is Kind.BOOLEAN:
            continue
        series = public.frame[name]
        column: Any = (
            _text_column(public, name, series, other)
            if kind is Kind.TEXT
            else infer_column(series, kind)
        )
        if isinstance(column, Categorical):  # of a dtype that lists its categories
            column = _most_frequent(series, other)
        if column is not None:
            columns[name] = replace(column, nullable=True, origin=FROM_PUBLIC)
    return columns


def _text_column(
    public: PublicRows, name: Any, series: "pd.Series[Any]", other: str
) -> Column | None:
    """Describe a column of text; None if it is none of words, numbers and times.

    A few numbers, far from each other, are names, as industries have.
    """
    distinct = float(series.nunique())
    unknown = with_text_type(
        Unknown({}, (name,)),
        name,
        public.text_types(name),
        (distinct, 0.0),
        0.0,
        public.n_rows,
    )
    if unknown.texts == (name,):
        return _most_frequent(series, other)
    if name in unknown.parsed:
        column = _written_column(series, unknown.written[name], Kind.FLOAT)
        n_values = getattr(column, "n_values", None) or math.inf
        is_few = distinct <= min(public.n_rows / REPEATED, MOST_CATEGORIES)
        if is_few and distinct < SPARSE_PART * n_values:
            return _most_frequent(series, other)
        return column
    if name in unknown.dated:
        form = unknown.written.get(name, Datetime())
        return _written_column(series, form, Kind.DATETIME)
    return None


def _most_frequent(series: "pd.Series[Any]", other: str) -> Categorical:
    """Describe words by the most frequent ones; the rest are ``other``."""
    counts = series.dropna().map(str).value_counts()
    return Categorical(sorted(counts.index[:MOST_CATEGORIES].tolist()), other=other)


def _written_column(series: "pd.Series[Any]", form: Column, kind: Kind) -> Column:
    """Describe numbers or times in text: bounds, decimals, and codes beside them."""
    counts = series.dropna().map(str).value_counts()
    texts = tuple(counts.index)
    values = read_text(TokenColumn(np.arange(len(texts)), texts), form)
    is_read = np.isfinite(values)
    is_code = np.isnan(values) & (counts.to_numpy() >= CODE_PART * len(series))
    codes = sorted(np.array(texts, dtype=object)[is_code].tolist())
    read = values[is_read]
    is_time = kind is Kind.DATETIME
    column: Any = infer_column(pd.Series(times_at(read) if is_time else read), kind)
    if getattr(column, "decimals", None) == 0:
        column = Integer(int(column.lower), int(column.upper))
    return with_hint(column, replace(form, codes=codes))  # type: ignore[call-arg]


def public_labels(public: PublicRows, layout: Layout | None) -> tuple[Any, ...] | None:
    """Return the classes that public labels show; None if they may be numbers.

    Reads public rows only; ``layout`` is the type of the private labels.
    """
    if not public.has_labels:
        return None
    least = LABEL_PART * public.n_rows
    counts = {
        text: count
        for text, count in public.counts_of_labels().items()
        if count >= least
    }
    if len(counts) < 2 or not are_classes(counts, public.n_rows):
        return None
    return parse_classes(counts, layout)


def accepted_columns(
    rows: Rows, columns: Mapping[Any, Column], ledger: Ledger, n_rows: float
) -> dict[Any, Column]:
    r"""Return the descriptions that private rows do not contradict, by a release.

    Released is how many rows of each column have a value that public rows do not have.

    *Why it is private.* Cells are computed from public rows. A private row is in one of
    two cells of each of d columns: its vector is not negative and has norm
    :math:`\sqrt d`, so it moves the sum by :math:`\sqrt{2d}` at most if replaced, by
    :math:`\sqrt d` if added or removed (:class:`~skdpgen.privacy.OneHot`). The noisy
    counts alone decide which descriptions are kept.
    """
    if not columns:
        return {}
    grids: dict[Any, Any] = {name: Outside(column) for name, column in columns.items()}
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
    return {
        name: column for name, column in columns.items() if counts[name][1] <= limit
    }
