"""Rows: a table that can be read several times, chunk by chunk, as encoded batches."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from skdpgen.tables._cells import Cells, encode_all, encoders
from skdpgen.tables._chunks import Chunks, as_chunks
from skdpgen.tables._columns import Column
from skdpgen.tables._images import is_image
from skdpgen.tables._passes import ChunkPasses, Passes, WholeTable
from skdpgen.tables._role import PIXELS, TARGET
from skdpgen.tables._spikes import Points
from skdpgen.tables._text_columns import read_text
from skdpgen.tables._told_apart import as_levels, as_tokens
from skdpgen.tables._values import Codes, TokenColumn
from skdpgen.utils import Key

CHUNK = 65_536
IMAGES = 4_096  # at a time: they are wider than rows of a table


@dataclass(frozen=True, eq=False)
class EncodedBatch:
    """What `privacy` sees of some rows."""

    labels: Codes
    parts: Mapping[str, Any]


class Rows:
    """Private rows behind one door; :meth:`close` ends all access to them.

    Use :meth:`read`. ``target_layout`` is None without labels; ``beforehand`` holds
    sums that were made for releases to come, and are as private as the rows.
    """

    def __init__(self, passes: Passes) -> None:
        self._passes: Passes | None = passes
        self.layout = passes.layout
        self.target_layout = passes.target_layout
        self.beforehand: Any = None
        self._written: dict[Any, Column] = {}

    @classmethod
    def read(
        cls,
        X: Any,
        y: Any = None,
        *,
        task: str = "auto",
        is_size_public: bool = True,
    ) -> "Rows":
        """Open a table in memory, or :class:`Chunks` of one, or what these are of.

        A source of chunks that has another number of rows in a later pass is refused
        if that number is public; if not, the refusal would tell it.
        """
        X, y = as_chunks(X, y)
        if not isinstance(X, Chunks):
            return cls(WholeTable(X, y, task, (CHUNK, IMAGES)))
        if y is not None:
            raise ValueError(
                "y must be None when X is Chunks. Got both; let the chunks be "
                "(X, y) pairs."
            )
        return cls(ChunkPasses(X, task, is_size_public))

    @property
    def n_rows(self) -> int:
        """Number of rows; of chunks counted in the first pass, or in one for it."""
        return self._open.n_rows

    @property
    def has_lists(self) -> bool:
        """Whether a dtype was guessed from the values of a plain list."""
        return self._open.has_lists

    @property
    def _open(self) -> Passes:
        if self._passes is None:
            raise RuntimeError("The rows were closed after the release.")
        return self._passes

    def close(self) -> None:
        """Forget the rows."""
        self._passes = self.beforehand = None

    def read_as(self, written: Mapping[Any, Column]) -> None:
        """Read the text of some columns as these describe it, from now on."""
        self._written = dict(written)

    def batches(
        self,
        cells: Mapping[Any, Cells],
        labels: Cells | None = None,
        tokens: Sequence[Any] = (),
        distinct: Sequence[Any] = (),
        points: Mapping[Any, Points] | None = None,
    ) -> Iterator[EncodedBatch]:
        """Encode the rows, chunk by chunk.

        Parameters
        ----------
        cells : mapping of name to Cells
            Columns for the part ``Key.COLUMNS``.
        labels : Cells or None
            How the target becomes a label; None gives every row the label 0.
        tokens : sequence of names
            Columns of text for the part ``Key.TOKENS``.
        distinct : sequence of names
            Columns whose values are told apart in the part ``Key.DISTINCT``.
        points : mapping of name to Points, or None
            Columns that are also looked at value by value, for ``Key.POINTS``.

        The target can be read as one more column, under the name TARGET.
        """
        points = points or {}
        encode, at_points = encoders(cells.values()), encoders(points.values())
        names = {*cells, *tokens, *distinct, *points}
        for columns, target in self._open(names):
            if target is not None:
                columns = {**columns, TARGET: target}
            for name in self._written.keys() & {*cells, *points}:
                columns[name] = read_text(columns[name], self._written[name])
            n_rows = _length(columns)
            codes = encode_all(encode, [columns[name] for name in cells], n_rows)
            known = np.zeros(n_rows, dtype=np.int64)
            if labels is not None and target is not None:
                known = labels.encode(target)
            text = {name: as_tokens(columns[name]) for name in tokens}
            levels = {name: as_levels(columns[name]) for name in distinct}
            parts: dict[str, Any] = {
                Key.COLUMNS: codes,
                Key.TOKENS: text,
                Key.DISTINCT: levels,
            }
            if points:
                values = [columns[name] for name in points]
                parts[Key.POINTS] = encode_all(at_points, values, n_rows)
            if PIXELS in columns:
                parts[Key.PIXELS] = columns[PIXELS]
            yield EncodedBatch(known, parts)


def holds_images(X: Any) -> bool:
    """Say whether rows are images, by dimensions; of chunks the first one tells.

    Examples
    --------
    >>> holds_images(np.zeros((5, 8, 8))), holds_images(np.zeros((5, 8)))
    (True, False)
    """
    if isinstance(X, Chunks):
        X, _ = X.first or (None, None)
    return is_image(X)


def _length(columns: Mapping[Any, Any]) -> int:
    if PIXELS in columns:
        return len(columns[PIXELS])
    first = next(iter(columns.values()))
    return len(first.codes if isinstance(first, TokenColumn) else first.values)
