"""From rows as they are read to what `privacy` sees of them; public, it can travel."""

from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from skdpgen.tables._cells import Cells, MixedCells, encode_all, encoders
from skdpgen.tables._columns import Column
from skdpgen.tables._line import DigitCells
from skdpgen.tables._role import PIXELS, TARGET
from skdpgen.tables._text_columns import read_column
from skdpgen.tables._told_apart import (
    Asked,
    OpenPlaces,
    OpenWords,
    as_levels,
    as_tokens,
)
from skdpgen.tables._values import Codes, TokenColumn, Values
from skdpgen.utils import Key, asked, has_role, refuse_unless, saved

Chunk = tuple[dict[Any, Any], Values | None]  # columns by name, and the target


@dataclass(frozen=True, eq=False)
class EncodedBatch:
    """What `privacy` sees of some rows."""

    labels: Codes
    parts: Mapping[str, Any]


Step = Callable[[Iterable[EncodedBatch]], Iterator[EncodedBatch]]


@asked("encoder")
@saved
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


@dataclass(frozen=True, eq=False)
class Batches:
    """Private rows, and how they are encoded; where they are remote, a wish for sums.

    Parameters
    ----------
    encoder : Encoder
    read : callable
        Returns chunks of rows with some columns, or raises where rows cannot be had.
    elsewhere : Elsewhere or None
        Where the rows stand, if they are not in this process.
    """

    encoder: Encoder
    read: Callable[[Collection[Any]], Iterator[Chunk]]
    elsewhere: Any = None

    def __iter__(self) -> Iterator[EncodedBatch]:
        """Encode the rows, chunk by chunk."""
        return self.encoder.batches(self.read(self.encoder.names))

    def through(self, step: Step) -> "Batches":
        """Return what a step makes of these batches, each row by itself."""
        return replace(self, encoder=self.encoder.through(step))


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
