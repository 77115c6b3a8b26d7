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

from skdpgen.tables._cells import Cells, encode_all, encoders
from skdpgen.tables._columns import Column
from skdpgen.tables._role import PIXELS, TARGET
from skdpgen.tables._spikes import Points
from skdpgen.tables._text_columns import read_text
from skdpgen.tables._told_apart import as_levels, as_tokens
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
    points : mapping of name to Points
        Columns that are also looked at value by value, for ``Key.POINTS``.
    written : mapping of name to Column
        Columns whose text is read as these describe it.
    steps : tuple of callables
        What batches go through next: from batches to batches, each row by itself.
    """

    cells: Mapping[Any, Cells]
    labels: Cells | None = None
    tokens: tuple[Any, ...] = ()
    distinct: tuple[Any, ...] = ()
    points: Mapping[Any, Points] = field(default_factory=dict)
    written: Mapping[Any, Column] = field(default_factory=dict)
    steps: tuple[Step, ...] = ()

    def check_asked(self) -> None:
        """Check that it sends each row on by itself, without text of the rows."""
        refuse_unless(not self.tokens and not self.distinct, "no words of rows")
        labels = () if self.labels is None else (self.labels,)
        cells = *self.cells.values(), *labels, *self.points.values()
        columns, steps = self.written.values(), self.steps
        refuse_unless(
            all(has_role(one, "cells", "points") for one in cells)
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
        return {*self.cells, *self.tokens, *self.distinct, *self.points}

    def batches(self, chunks: Iterable[Chunk]) -> Iterator[EncodedBatch]:
        """Encode rows, chunk by chunk."""
        found = self._encoded(chunks)
        for step in self.steps:
            found = step(found)
        return found

    def _encoded(self, chunks: Iterable[Chunk]) -> Iterator[EncodedBatch]:
        encode = encoders(self.cells.values()), encoders(self.points.values())
        for columns, target in chunks:
            yield self._batch(columns, target, *encode)

    def _batch(
        self, columns: dict[Any, Any], target: Values | None, encode: Any, looked: Any
    ) -> EncodedBatch:
        if target is not None:
            if TARGET in self.written:  # labels are read from it, too
                target = read_text(target, self.written[TARGET])
            columns = {**columns, TARGET: target}
        for name in self.written.keys() & {*self.cells, *self.points} - {TARGET}:
            read = read_text(columns[name], self.written[name])
            columns = {**columns, name: read}
        n_rows = _length(columns)
        known = np.zeros(n_rows, dtype=np.int64)
        if self.labels is not None and target is not None:
            known = self.labels.encode(target)
        values = [columns[name] for name in self.cells]
        parts: dict[str, Any] = {
            Key.COLUMNS: encode_all(encode, values, n_rows),
            Key.TOKENS: {name: as_tokens(columns[name]) for name in self.tokens},
            Key.DISTINCT: {n: as_levels(columns[n]) for n in self.distinct},
        }
        if self.points:
            values = [columns[name] for name in self.points]
            parts[Key.POINTS] = encode_all(looked, values, n_rows)
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
    points: Mapping[Any, Points] | None,
    written: Mapping[Any, Column],
) -> Encoder:
    """Return an encoder of its own, whatever becomes of what was given."""
    own = dict(cells), labels, tuple(tokens), tuple(distinct)
    return Encoder(*own, dict(points or {}), dict(written))


def _length(columns: Mapping[Any, Any]) -> int:
    if PIXELS in columns:
        return len(columns[PIXELS])
    first = next(iter(columns.values()))
    return len(first.codes if isinstance(first, TokenColumn) else first.values)
