"""From rows as they are read to what `privacy` sees of them; public, it can travel."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

import numpy as np
import pandas as pd

from skdpgen.tables._cells import Cells, encode_all
from skdpgen.tables._columns import Column
from skdpgen.tables._text_columns import read_text
from skdpgen.tables._values import Codes, TokenColumn, Values
from skdpgen.utils import Key, saved

Chunk = tuple[dict[Any, Any], Values | None]  # columns by name, and the target


@saved
class Role(Enum):
    """Names that no column of a table can have."""

    TARGET = "target"
    PIXELS = "pixels"


TARGET = Role.TARGET
PIXELS = Role.PIXELS


@dataclass(frozen=True, eq=False)
class EncodedBatch:
    """What `privacy` sees of some rows."""

    labels: Codes
    parts: Mapping[str, Any]


Step = Callable[[Iterable[EncodedBatch]], Iterator[EncodedBatch]]


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
    written : mapping of name to Column
        Columns whose text is read as these describe it.
    steps : tuple of callables
        What batches go through next: from batches to batches, each row by itself.
    """

    cells: Mapping[Any, Cells]
    labels: Cells | None = None
    tokens: tuple[Any, ...] = ()
    distinct: tuple[Any, ...] = ()
    written: Mapping[Any, Column] = field(default_factory=dict)
    steps: tuple[Step, ...] = ()

    def through(self, step: Step) -> "Encoder":
        """Return an encoder that takes one more step."""
        return replace(self, steps=(*self.steps, step))

    def batches(self, chunks: Iterable[Chunk]) -> Iterator[EncodedBatch]:
        """Encode rows, chunk by chunk."""
        found: Iterator[EncodedBatch] = (self._batch(*chunk) for chunk in chunks)
        for step in self.steps:
            found = step(found)
        return found

    def _batch(self, columns: dict[Any, Any], target: Values | None) -> EncodedBatch:
        if target is not None:
            columns = {**columns, TARGET: target}
        for name in self.written.keys() & self.cells.keys():
            columns = {**columns, name: read_text(columns[name], self.written[name])}
        n_rows, cells = _length(columns), self.cells
        codes = (
            encode_all(list(cells.values()), [columns[name] for name in cells])
            if cells
            else np.empty((n_rows, 0), dtype=np.int64)
        )
        known = np.zeros(n_rows, dtype=np.int64)
        if self.labels is not None and target is not None:
            known = self.labels.encode(target)
        parts: dict[str, Any] = {
            Key.COLUMNS: codes,
            Key.TOKENS: {name: _as_tokens(columns[name]) for name in self.tokens},
            Key.DISTINCT: {name: _as_levels(columns[name]) for name in self.distinct},
        }
        if PIXELS in columns:
            parts[Key.PIXELS] = columns[PIXELS]
        return EncodedBatch(known, parts)


@dataclass(frozen=True, eq=False)
class Batches:
    """Private rows, and how they are encoded; where they are remote, a wish for sums.

    Parameters
    ----------
    encoder : Encoder
    read : callable
        Returns chunks of rows, or raises where there are none to be had.
    elsewhere : Elsewhere or None
        Where the rows stand, if they are not in this process.
    """

    encoder: Encoder
    read: Callable[[], Iterator[Chunk]]
    elsewhere: Any = None

    def __iter__(self) -> Iterator[EncodedBatch]:
        """Encode the rows, chunk by chunk."""
        return self.encoder.batches(self.read())

    def through(self, step: Step) -> "Batches":
        """Return what a step makes of these batches, each row by itself."""
        return replace(self, encoder=self.encoder.through(step))


def encoder_of(
    cells: Mapping[Any, Cells],
    labels: Cells | None,
    tokens: Sequence[Any],
    distinct: Sequence[Any],
    written: Mapping[Any, Column],
) -> Encoder:
    """Return an encoder of its own, whatever becomes of what was given."""
    return Encoder(dict(cells), labels, tuple(tokens), tuple(distinct), dict(written))


def _as_tokens(values: Values) -> TokenColumn:
    if isinstance(values, TokenColumn):
        return values
    codes, found = pd.factorize(values.values, use_na_sentinel=True)
    text = (repr(int(v)) if v == int(v) else repr(float(v)) for v in found)
    return TokenColumn(codes.astype(np.int64), tuple(text))


def _as_levels(values: Values) -> Any:
    """Return values as codes into what is distinct, whatever their type."""
    if isinstance(values, TokenColumn):
        return values
    codes, found = pd.factorize(values.values, use_na_sentinel=True)
    return TokenColumn(codes.astype(np.int64), tuple(found.tolist()))


def _length(columns: Mapping[Any, Any]) -> int:
    if PIXELS in columns:
        return len(columns[PIXELS])
    first = next(iter(columns.values()))
    return len(first.codes if isinstance(first, TokenColumn) else first.values)
