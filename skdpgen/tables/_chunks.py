"""Tables and images that are too large for memory, opened anew at every pass."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any


class Chunks:
    """A table too large for memory: a function that opens its chunks anew.

    Parameters
    ----------
    open_chunks : callable
        Returns an iterable of tables, or of ``(X, y)`` pairs; called once a pass.
    like : table, (X, y) pair or None, default=None
        Public columns and dtypes: a table without rows will do. None takes them from
        the first chunk, so that there is one is public.

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

    @property
    def first(self) -> Any:
        """What tells columns and dtypes, an ``(X, y)`` pair; None if nothing does."""
        return next(iter(self), None) if self.like is None else as_pair(self.like)


def as_pair(chunk: Any) -> tuple[Any, Any]:
    """Return X and y of a chunk; y is None if there are no labels."""
    return chunk if isinstance(chunk, tuple) else (chunk, None)
