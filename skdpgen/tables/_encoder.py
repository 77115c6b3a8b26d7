"""Encoding of rows as codes, the only form in which `privacy` sees them."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd

from skdpgen.tables._cells import Cells, MixedCells, encode_all, encoders, read_text
from skdpgen.tables._columns import Column
from skdpgen.tables._frames import (
    array_series,
    arrow_labels,
    pandas_kind,
    plain_array,
    read_table,
)
from skdpgen.tables._layout import PIXELS, TARGET, Kind, Layout
from skdpgen.tables._line import AskedCells, DigitCells
from skdpgen.tables._text_columns import read_column
from skdpgen.tables._values import (
    Codes,
    Floats,
    TokenColumn,
    Values,
    read_text_of_numbers,
    read_values,
    read_whole_labels,
)
from skdpgen.utils import (
    Key,
    asked,
    has_role,
    refuse_unless,
    saved,
)

# ----------------------------------------------------------------------------
# Values of a column to count: as text that may be released, or in their own type.


@dataclass(frozen=True, eq=False)
class Levels:
    """A column of numbers: row i holds ``values[codes[i]]``; -1 is missing."""

    codes: Codes
    values: Floats


def as_tokens(values: Values) -> TokenColumn:
    """Return values as codes into distinct texts."""
    if isinstance(values, TokenColumn):
        return values
    if values.whole is not None:
        codes, distinct = pd.factorize(values.whole)
        codes = np.where(np.isnan(values.values), -1, codes)
        return TokenColumn(codes.astype(np.int64), tuple(map(str, distinct)))
    codes, distinct = pd.factorize(values.values, use_na_sentinel=True)
    text = (repr(int(v)) if v == int(v) else repr(float(v)) for v in distinct)
    return TokenColumn(codes.astype(np.int64), tuple(text))


def as_levels(values: Values) -> TokenColumn | Levels:
    """Return text as codes into texts, and numbers as codes into numbers."""
    if isinstance(values, TokenColumn):
        return values
    codes = np.where(np.isnan(values.values), -1, np.arange(len(values.values)))
    return Levels(codes, values.values)


@saved("encoder.open_words")
@dataclass(frozen=True)
class OpenWords:
    """Which texts of a column count as words that no release has named yet.

    Parameters
    ----------
    known : tuple of str, default=()
        Words that are named by earlier releases, or by the schema.
    has_numbers : bool, default=False
        Whether text of a number or time is excluded.
    written : Column or None, default=None
        The format of numbers and times.
    """

    known: tuple[str, ...] = ()
    has_numbers: bool = False
    written: Column | None = None

    def of(self, values: Values) -> TokenColumn:
        """Return the column as text, with the code -1 for other values."""
        tokens = as_tokens(values)
        named = set(self.known)
        is_open = np.array([text not in named for text in tokens.values], dtype=bool)
        if self.has_numbers and len(tokens.values):
            is_open &= np.isnan(read_text(tokens, self.written))
        places = np.append(np.where(is_open, np.arange(len(is_open)), -1), -1)
        return TokenColumn(places[tokens.codes], tokens.values)


@dataclass(frozen=True, eq=False)
class OpenPlaces:
    """Open cells of numbers and open words of some rows; -1 for the others."""

    codes: Codes  # (n, n_columns)
    tokens: Mapping[Any, TokenColumn]


@saved("encoder.asked")
@dataclass(frozen=True, eq=False)
class Asked:
    """The cells and words that a release counts because earlier ones did not show them.

    Parameters
    ----------
    cells : mapping of name to AskedCells
    words : mapping of name to OpenWords
    """

    cells: Mapping[Any, AskedCells] = field(default_factory=dict)
    words: Mapping[Any, OpenWords] = field(default_factory=dict)

    @property
    def names(self) -> set[Any]:
        """The columns that are read."""
        return {*self.cells, *self.words}


# ----------------------------------------------------------------------------
# Encoding of rows for `privacy`. An encoder is public, so it may be sent to parties.

Chunk = tuple[dict[Any, Any], Values | None]  # columns by name, and the target


@dataclass(frozen=True, eq=False)
class EncodedBatch:
    """Some rows in encoded form, as `privacy` sees them."""

    labels: Codes
    parts: Mapping[str, Any]


Step = Callable[[Iterable[EncodedBatch]], Iterator[EncodedBatch]]


@asked("encoder")
@saved("encoder")
@dataclass(frozen=True, eq=False)
class Encoder:
    """The encoding of rows: fixed before a row is read, and the same in all processes.

    Parameters
    ----------
    cells : mapping of name to Cells
        Columns for the part ``Key.COLUMNS``.
    labels : Cells or None
        How the target becomes a label; None gives every row the label 0.
    tokens : tuple of names
        Columns of text for the part ``Key.TOKENS``.
    distinct : tuple of names
        Columns whose different values are counted, for the part ``Key.DISTINCT``.
    digits : mapping of name to DigitCells
        Columns whose numbers of decimals are counted, for ``Key.DIGITS``.
    asked : Asked or None
        Open cells and words, for ``Key.OPEN``.
    written : mapping of name to Column
        Columns whose text is read as these describe it.
    steps : tuple of callables
        Applied to the batches in turn; each treats rows independently of each other.
    labelled_by : name or None, default=None
        The column that ``labels`` are read from; None reads the target.
    """

    cells: Mapping[Any, Cells]
    labels: Cells | None = None
    tokens: tuple[Any, ...] = ()
    distinct: tuple[Any, ...] = ()
    digits: Mapping[Any, DigitCells] = field(default_factory=dict)
    asked: Asked | None = None
    written: Mapping[Any, Column] = field(default_factory=dict)
    steps: tuple[Step, ...] = ()
    labelled_by: Any = None

    def check_asked(self) -> None:
        """Check that it encodes rows independently, and returns no text of them."""
        text_parts = self.tokens, self.distinct, self.digits, self.asked
        refuse_unless(not any(text_parts), "no words of rows")
        labels = () if self.labels is None else (self.labels,)
        cells = *self.cells.values(), *labels
        columns, steps = self.written.values(), self.steps
        refuse_unless(
            all(has_role(grid, "cells") for grid in cells)
            and all(has_role(column, "column") for column in columns)
            and all(has_role(step, "step") for step in steps),
            "cells, columns and steps of a fit",
        )

    def through(self, step: Step) -> "Encoder":
        """Return an encoder with one more step."""
        return replace(self, steps=(*self.steps, step))

    @property
    def names(self) -> set[Any]:
        """The columns that are read."""
        names = {*self.cells, *self.tokens, *self.distinct, *self.digits}
        if self.labelled_by is not None:
            names.add(self.labelled_by)
        return names if self.asked is None else names | self.asked.names

    def batches(self, chunks: Iterable[Chunk]) -> Iterator[EncodedBatch]:
        """Encode rows, chunk by chunk."""
        batches = self._encoded(chunks)
        for step in self.steps:
            batches = step(batches)
        return batches

    def _encoded(self, chunks: Iterable[Chunk]) -> Iterator[EncodedBatch]:
        open_cells = {} if self.asked is None else self.asked.cells
        encode = encoders(self.cells.values()), encoders(open_cells.values())
        for columns, target in chunks:
            yield self._batch(columns, target, *encode)

    @np.errstate(all="ignore")  # a warning would tell about a value
    def _batch(
        self,
        columns: dict[Any, Any],
        target: Values | None,
        encode: Any,
        encode_open: Any,
    ) -> EncodedBatch:
        if target is not None:
            if TARGET in self.written:  # labels are read from it, too
                target = read_column(target, self.written[TARGET])
            columns = {**columns, TARGET: target}
        n_rows = _length(columns)
        labels = np.zeros(n_rows, dtype=np.int64)
        if self.labels is not None and self.labelled_by is not None:
            labels = self.labels.encode(
                self._read(columns, self.labelled_by, self.labels)
            )
        elif self.labels is not None and target is not None:
            labels = self.labels.encode(target)
        values = [self._read(columns, name) for name in self.cells]
        parts: dict[str, Any] = {
            Key.COLUMNS: encode_all(encode, values, n_rows),
            Key.TOKENS: {name: as_tokens(columns[name]) for name in self.tokens},
            Key.DISTINCT: {n: as_levels(columns[n]) for n in self.distinct},
        }
        if self.digits:
            digit_codes = [
                cells.encode(self._read(columns, name))
                for name, cells in self.digits.items()
            ]
            parts[Key.DIGITS] = np.column_stack(digit_codes)
        if self.asked is not None:
            values = [self._read(columns, name) for name in self.asked.cells]
            codes = encode_all(encode_open, values, n_rows)
            words = {n: w.of(columns[n]) for n, w in self.asked.words.items()}
            parts[Key.OPEN] = OpenPlaces(codes, words)
        if PIXELS in columns:
            parts[Key.PIXELS] = columns[PIXELS]
        return EncodedBatch(labels, parts)

    def _read(
        self, columns: dict[Any, Any], name: Any, cells: Cells | None = None
    ) -> Values:
        """Return a column; parse text with a format, unless its cells name words."""
        is_mixed = isinstance(cells or self.cells.get(name), MixedCells)
        if name not in self.written or is_mixed:
            return columns[name]
        return read_column(columns[name], self.written[name])


def _length(columns: Mapping[Any, Any]) -> int:
    if PIXELS in columns:
        return len(columns[PIXELS])
    first = next(iter(columns.values()))
    return len(first.codes if isinstance(first, TokenColumn) else first.values)


# ----------------------------------------------------------------------------
# Labels in any container: a series with its original dtype, and its values.


def read_target(y: Any, n_rows: int) -> tuple[Any, Layout | None]:
    """Return y as a series, and its layout; None if there are no labels."""
    if y is None:
        return None, None
    if isinstance(y, pd.DataFrame):
        if y.shape[1] != 1:
            raise ValueError(f"y must be one column. Got {y.shape[1]} instead.")
        y = y.iloc[:, 0]
    container = "pandas" if isinstance(y, pd.Series) else "numpy"
    foreign = None
    if not isinstance(y, pd.Series):
        y, foreign = _target_series(y)
    if len(y) != n_rows:
        raise ValueError(
            "X and y must have one label a row. Got inconsistent numbers of samples; "
            "check that both come from the same rows."
        )
    series = y.reset_index(drop=True)
    pandas_kind(series.dtype, "y")
    _, layout = read_table(series.to_frame(name=y.name))
    if foreign is not None and foreign.container in ("polars", "pyarrow"):
        return series, foreign  # synthetic labels get this container
    kinds = layout.kinds if foreign is None else foreign.kinds
    return series, Layout(container, layout.names, kinds, layout.dtypes)


def _target_series(y: Any) -> tuple["pd.Series[Any]", Layout | None]:
    """Return y as a series with its original dtype, not guessed from its values.

    The layout is that of its container if narwhals knows it, else None.
    """
    if isinstance(y, pd.Index | pd.api.extensions.ExtensionArray):
        return pd.Series(y, name=None, dtype=y.dtype), None
    if hasattr(y, "detach"):
        y = y.detach().cpu().numpy()
    if hasattr(y, "__arrow_c_array__"):  # numpy would guess a dtype from missing labels
        y = arrow_labels(y)
    native = nw.from_native(y, eager_only=True, allow_series=True, pass_through=True)
    if isinstance(native, nw.Series | nw.DataFrame):
        table = native.to_frame() if isinstance(native, nw.Series) else native
        frame, layout = read_table(table.to_native())
        if frame.shape[1] != 1:
            raise ValueError(f"y must be one column. Got {frame.shape[1]} instead.")
        return frame.iloc[:, 0].rename(None), layout
    array = y if isinstance(y, np.ma.MaskedArray) else plain_array(y, "y")
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise ValueError(
            f"y should be a 1d array, got an array of {array.ndim} dimensions instead."
        )
    return array_series(array, "y"), None


def read_labels(series: Any, layout: Layout | None, task: str) -> Values | None:
    """Return labels as values; of a regression as numbers, or as text of numbers."""
    if series is None or layout is None:
        return None
    kind = layout.kinds[0]
    if kind is Kind.TEXT and task == "regression":
        return read_text_of_numbers(series)
    if kind is Kind.INTEGER and task != "regression":
        return read_whole_labels(series)
    return read_values(series, kind)
