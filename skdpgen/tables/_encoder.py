"""From rows as they are read to what `privacy` sees of them; public, it can travel."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd

from skdpgen.tables._cells import Cells, MixedCells, encode_all, encoders, read_text
from skdpgen.tables._columns import Column
from skdpgen.tables._frames import array_series, pandas_kind, plain_array, read_table
from skdpgen.tables._layout import PIXELS, TARGET, Kind, Layout
from skdpgen.tables._line import AskedCells, DigitCells
from skdpgen.tables._text_columns import read_column
from skdpgen.tables._values import Codes, Floats, TokenColumn, Values, read_values
from skdpgen.utils import Key, asked, has_role, refuse_unless, saved

# ----------------------------------------------------------------------------
# Values of a column to be distinguished: as text that is shown, or as they are.


@dataclass(frozen=True, eq=False)
class Levels:
    """A column of numbers: row i holds ``values[codes[i]]``, or nothing."""

    codes: Codes
    values: Floats


def as_tokens(values: Values) -> TokenColumn:
    """Return values as codes into text that is distinct."""
    if isinstance(values, TokenColumn):
        return values
    codes, found = pd.factorize(values.values, use_na_sentinel=True)
    text = (repr(int(v)) if v == int(v) else repr(float(v)) for v in found)
    return TokenColumn(codes.astype(np.int64), tuple(text))


def as_levels(values: Values) -> TokenColumn | Levels:
    """Return values as codes into values, whatever their type."""
    if isinstance(values, TokenColumn):
        return values
    there = np.where(np.isnan(values.values), -1, np.arange(len(values.values)))
    return Levels(there, values.values)


@saved("encoder.open_words")
@dataclass(frozen=True)
class OpenWords:
    """Which text of a column counts as a word whose name is not known yet.

    Parameters
    ----------
    known : tuple of str, default=()
        Words that earlier releases named, or the schema.
    has_numbers : bool, default=False
        Whether text that reads as a number or time is no word.
    written : Column or None, default=None
        How numbers and times are written.
    """

    known: tuple[str, ...] = ()
    has_numbers: bool = False
    written: Column | None = None

    def of(self, values: Values) -> TokenColumn:
        """Return the column as text, with the code -1 where no word is open."""
        tokens = as_tokens(values)
        known = set(self.known)
        is_open = np.array([text not in known for text in tokens.values], dtype=bool)
        if self.has_numbers and len(tokens.values):
            is_open &= np.isnan(read_text(tokens, self.written))
        places = np.append(np.where(is_open, np.arange(len(is_open)), -1), -1)
        return TokenColumn(places[tokens.codes], tokens.values)


@dataclass(frozen=True, eq=False)
class OpenPlaces:
    """What is still open in some rows: cells of numbers, and words; -1 is nothing."""

    codes: Codes  # (n, n_columns)
    tokens: Mapping[Any, TokenColumn]


@saved("encoder.asked")
@dataclass(frozen=True, eq=False)
class Asked:
    """What a release asks about rows that earlier ones left open.

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
# From rows as they are read to what `privacy` sees of them; public, it can travel.

Chunk = tuple[dict[Any, Any], Values | None]  # columns by name, and the target


@dataclass(frozen=True, eq=False)
class EncodedBatch:
    """What `privacy` sees of some rows."""

    labels: Codes
    parts: Mapping[str, Any]


Step = Callable[[Iterable[EncodedBatch]], Iterator[EncodedBatch]]


@asked("encoder")
@saved("encoder")
@dataclass(frozen=True, eq=False)
class Encoder:
    """How rows become batches: fixed before a row is read, alike wherever rows stand.

    Parameters
    ----------
    cells : mapping of name to Cells
        Columns for the part ``Key.COLUMNS``.
    labels : Cells or None
        How the target becomes a label; None gives every row the label 0.
    tokens : tuple of names
        Columns of text for the part ``Key.TOKENS``.
    distinct : tuple of names
        Columns whose values are told apart in the part ``Key.DISTINCT``.
    digits : mapping of name to DigitCells
        Columns whose numbers of decimals are counted, for ``Key.DIGITS``.
    words : mapping of name to OpenWords
        Which text of the columns in ``tokens`` counts; all of it elsewhere.
    asked : Asked or None
        What is still open, for ``Key.OPEN``.
    written : mapping of name to Column
        Columns whose text is read as these describe it.
    steps : tuple of callables
        What batches go through next: from batches to batches, each row by itself.
    """

    cells: Mapping[Any, Cells]
    labels: Cells | None = None
    tokens: tuple[Any, ...] = ()
    distinct: tuple[Any, ...] = ()
    digits: Mapping[Any, DigitCells] = field(default_factory=dict)
    words: Mapping[Any, OpenWords] = field(default_factory=dict)
    asked: Asked | None = None
    written: Mapping[Any, Column] = field(default_factory=dict)
    steps: tuple[Step, ...] = ()

    def check_asked(self) -> None:
        """Check that it sends each row on by itself, without text of the rows."""
        more = self.tokens, self.distinct, self.digits, self.words, self.asked
        refuse_unless(not any(more), "no words of rows")
        labels = () if self.labels is None else (self.labels,)
        cells = *self.cells.values(), *labels
        columns, steps = self.written.values(), self.steps
        refuse_unless(
            all(has_role(one, "cells") for one in cells)
            and all(has_role(column, "column") for column in columns)
            and all(has_role(step, "step") for step in steps),
            "cells, columns and steps of a fit",
        )

    def through(self, step: Step) -> "Encoder":
        """Return an encoder that takes one more step."""
        return replace(self, steps=(*self.steps, step))

    @property
    def names(self) -> set[Any]:
        """The columns that are read."""
        names = {*self.cells, *self.tokens, *self.distinct, *self.digits}
        return names if self.asked is None else names | self.asked.names

    def batches(self, chunks: Iterable[Chunk]) -> Iterator[EncodedBatch]:
        """Encode rows, chunk by chunk."""
        found = self._encoded(chunks)
        for step in self.steps:
            found = step(found)
        return found

    def _encoded(self, chunks: Iterable[Chunk]) -> Iterator[EncodedBatch]:
        asked = {} if self.asked is None else self.asked.cells
        encode = encoders(self.cells.values()), encoders(asked.values())
        for columns, target in chunks:
            yield self._batch(columns, target, *encode)

    def _batch(
        self, columns: dict[Any, Any], target: Values | None, encode: Any, open_: Any
    ) -> EncodedBatch:
        if target is not None:
            if TARGET in self.written:  # labels are read from it, too
                target = read_column(target, self.written[TARGET])
            columns = {**columns, TARGET: target}
        n_rows = _length(columns)
        known = np.zeros(n_rows, dtype=np.int64)
        if self.labels is not None and target is not None:
            known = self.labels.encode(target)
        values = [self._read(columns, name) for name in self.cells]
        parts: dict[str, Any] = {
            Key.COLUMNS: encode_all(encode, values, n_rows),
            Key.TOKENS: {name: self._tokens(columns, name) for name in self.tokens},
            Key.DISTINCT: {n: as_levels(columns[n]) for n in self.distinct},
        }
        if self.digits:
            every = [
                cells.encode(self._read(columns, name))
                for name, cells in self.digits.items()
            ]
            parts[Key.DIGITS] = np.column_stack(every)
        if self.asked is not None:
            values = [self._read(columns, name) for name in self.asked.cells]
            codes = encode_all(open_, values, n_rows)
            words = {n: w.of(columns[n]) for n, w in self.asked.words.items()}
            parts[Key.OPEN] = OpenPlaces(codes, words)
        if PIXELS in columns:
            parts[Key.PIXELS] = columns[PIXELS]
        return EncodedBatch(known, parts)

    def _read(self, columns: dict[Any, Any], name: Any) -> Values:
        """Return a column, its text read as it is written, unless words stay in it."""
        is_mixed = isinstance(self.cells.get(name), MixedCells)
        if name not in self.written or is_mixed:
            return columns[name]
        return read_column(columns[name], self.written[name])

    def _tokens(self, columns: dict[Any, Any], name: Any) -> TokenColumn:
        words = self.words.get(name)
        return as_tokens(columns[name]) if words is None else words.of(columns[name])


def encoder_of(
    cells: Mapping[Any, Cells],
    labels: Cells | None,
    tokens: Sequence[Any],
    distinct: Sequence[Any],
    written: Mapping[Any, Column],
    digits: Mapping[Any, DigitCells] | None = None,
    words: Mapping[Any, OpenWords] | None = None,
    asked: Asked | None = None,
) -> Encoder:
    """Return an encoder of its own, whatever becomes of what was given."""
    own = dict(cells), labels, tuple(tokens), tuple(distinct)
    beside = dict(digits or {}), dict(words or {}), asked
    return Encoder(*own, *beside, dict(written))


def _length(columns: Mapping[Any, Any]) -> int:
    if PIXELS in columns:
        return len(columns[PIXELS])
    first = next(iter(columns.values()))
    return len(first.codes if isinstance(first, TokenColumn) else first.values)


# ----------------------------------------------------------------------------
# Labels, whatever they come as: a series whose dtype is its own, and its values.


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
        return series, foreign  # labels come back in it
    kinds = layout.kinds if foreign is None else foreign.kinds
    return series, Layout(container, layout.names, kinds, layout.dtypes)


def _target_series(y: Any) -> tuple["pd.Series[Any]", Layout | None]:
    """Return y as a series whose dtype is its own, not guessed from its values.

    The layout is that of its container if narwhals knows it, else None.
    """
    if isinstance(y, pd.Index | pd.api.extensions.ExtensionArray):
        return pd.Series(y, name=None), None
    if hasattr(y, "detach"):
        y = y.detach().cpu().numpy()
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
    """Return labels as values; of a regression as numbers."""
    if series is None or layout is None:
        return None
    kind = layout.kinds[0]
    is_number = kind in (Kind.FLOAT, Kind.DATETIME) or task == "regression"
    if is_number and task != "classification":
        return read_values(series, Kind.FLOAT if kind is Kind.TEXT else kind)
    return read_values(series, kind)
