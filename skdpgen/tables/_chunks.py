"""Tables and images that are too large for memory, opened anew at every pass."""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Self

import pandas as pd

from skdpgen.tables._sources import ROWS, Source, is_source, source_of


class Chunks:
    """A table too large for memory: a function that opens its chunks anew.

    Parameters
    ----------
    open_chunks : callable
        Returns an iterable of tables, or of ``(X, y)`` pairs; called once a pass.
    like : table, (X, y) pair or None, default=None
        Public columns and dtypes: a table without rows will do. None takes them from
        the first chunk, so that there is one is public.

    See Also
    --------
    Chunks.of : Chunks of a folder of Parquet, or of a query.

    Examples
    --------
    >>> import pandas as pd
    >>> from skdpgen.tables import Rows
    >>> table = pd.DataFrame({"age": [1, 2, 3]})
    >>> chunks = Chunks(lambda: (table[i : i + 2] for i in (0, 2)))
    >>> Rows.read(chunks).n_rows
    3
    """

    def __init__(
        self, open_chunks: Callable[[], Iterable[Any]], like: Any = None
    ) -> None:
        self.open_chunks = open_chunks
        self.like = like
        self._opened: Any = None
        self._source: Source | None = None
        self._target: Any = None

    @classmethod
    def of(cls, source: Any, target: Any = None, *, rows: int = ROWS) -> Self:
        """Return the chunks of a table on disk, or of a query.

        Columns and dtypes are those that the source declares, and public; categories
        that a type lists are not looked at. A pass reads the columns that it needs.

        Parameters
        ----------
        source : Dataset, Path, LazyFrame, DuckDB relation, or callable
            Of pyarrow, pathlib (a file or folder of Parquet) and polars; a callable
            returns a ``pyarrow.RecordBatchReader``, a new one at each call.
        target : name or None, default=None
            The column that becomes y.
        rows : int, default=65536
            Most rows of a chunk.

        Examples
        --------
        >>> import pyarrow as pa
        >>> from pyarrow import dataset
        >>> table = pa.table({"age": [20, 30, 40], "bought": [True, False, True]})
        >>> chunks = Chunks.of(dataset.dataset(table), target="bought", rows=2)
        >>> [len(X) for X, y in chunks]
        [2, 1]
        """
        found = source_of(source, rows)
        if target is not None and target not in found.names:
            raise ValueError(
                f"The target must be a column: one of {', '.join(found.names)}. "
                f"Got {target!r} instead."
            )
        if target is not None and len(found.names) == 1:
            raise ValueError("There must be a column beside the target. Got none.")
        made = cls(lambda: (_split(one, target) for one in found.open(found.names)))
        made.like = _split(found.empty, target)
        made._source, made._target = found, target
        return made

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        """Open the chunks; every item is an ``(X, y)`` pair."""
        if not callable(self.open_chunks):
            raise TypeError(
                "Chunks takes a function that opens the chunks. Got "
                f"{type(self.open_chunks).__name__}; write `Chunks(lambda: ...)`."
            )
        chunks = iter(self.open_chunks())
        if chunks is self._opened:
            raise ValueError(
                "open_chunks must open the chunks anew at each call. Got the same "
                "iterator twice; make it inside the function."
            )
        self._opened = chunks
        yield from map(as_pair, chunks)

    def opened(self, names: Collection[Any] | None) -> "Opened":
        """Open the chunks, where possible with the named columns of X alone."""
        if self._source is None or names is None:
            return Opened(iter(self), None)
        of_x = [name for name in self._source.names if name != self._target]
        kept = [name for name in of_x if name in names] or of_x[:1]
        read = kept if self._target is None else [*kept, self._target]
        chunks = (_split(one, self._target) for one in self._source.open(read))
        return Opened(chunks, kept)

    def count(self) -> int | None:
        """Return the number of rows if the source tells without its rows being read."""
        return None if self._source is None else self._source.count()

    @property
    def has_types(self) -> bool:
        """Whether the source declares the types of its columns."""
        return self._source is not None

    @property
    def first(self) -> Any:
        """What tells columns and dtypes, an ``(X, y)`` pair; None if nothing does."""
        return next(iter(self), None) if self.like is None else as_pair(self.like)


@dataclass(frozen=True, eq=False)
class Opened:
    """Chunks of one pass, and the columns that they have; None are all."""

    chunks: Iterator[tuple[Any, Any]]
    names: Collection[Any] | None

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        """Yield ``(X, y)`` pairs."""
        return self.chunks


def as_chunks(X: Any, y: Any = None) -> tuple[Any, Any]:
    """Return a source of rows as chunks, with the target that y names; else X and y."""
    if not is_source(X):
        return X, y
    if y is not None and not isinstance(y, str):
        raise ValueError(
            "y must be the name of a column, or None, where X is a source of rows. "
            f"Got {type(y).__name__} instead."
        )
    return Chunks.of(X, y), None


def as_pair(chunk: Any) -> tuple[Any, Any]:
    """Return X and y of a chunk; y is None if there are no labels."""
    return chunk if isinstance(chunk, tuple) else (chunk, None)


def _split(table: Any, target: Any) -> tuple[Any, Any]:
    """Return a table without its target, and the target as a series of its name."""
    if target is None:
        return table, None
    if not hasattr(table, "drop_columns"):  # of polars
        return table.drop(target), table[target]
    column, rest = table.column(target), table.drop_columns([target])
    return rest, pd.Series(pd.arrays.ArrowExtensionArray(column), name=target)
