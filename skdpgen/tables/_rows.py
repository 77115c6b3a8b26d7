"""Rows: a table that can be read several times, chunk by chunk, as encoded batches."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from skdpgen.tables._cells import Cells
from skdpgen.tables._chunks import Chunks, as_chunks
from skdpgen.tables._columns import Column
from skdpgen.tables._dask_rows import DaskRows
from skdpgen.tables._elsewhere import Elsewhere, is_dask
from skdpgen.tables._encoder import Batches, Chunk, encoder_of
from skdpgen.tables._images import is_image
from skdpgen.tables._line import DigitCells
from skdpgen.tables._passes import (
    CHUNK,
    IMAGES,
    ChunkPasses,
    NoPasses,
    Passes,
    WholeTable,
)
from skdpgen.tables._told_apart import Asked, OpenWords


class Rows:
    """Private rows behind one door; :meth:`close` ends all access to them.

    Use :meth:`read`. ``target_layout`` is None without labels; ``beforehand`` holds
    sums that were made for releases to come, and are as private as the rows.
    """

    def __init__(
        self,
        passes: Passes,
        elsewhere: Elsewhere | None = None,
        is_size_public: bool = True,
    ) -> None:
        self._passes: Passes | None = passes
        self.elsewhere, self._is_size_public = elsewhere, is_size_public
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
        if that number is public; if not, the refusal would tell it. Where it is not
        public, ``n_rows`` raises: there is a released one.
        """
        X, y = as_chunks(X, y)
        there = elsewhere_of(X, y, task)
        if there is not None:
            return cls(NoPasses(there, is_size_public), there, is_size_public)
        if not isinstance(X, Chunks):
            table = WholeTable(X, y, task, (CHUNK, IMAGES))
            return cls(table, is_size_public=is_size_public)
        if y is not None:
            raise ValueError(
                "y must be None when X is Chunks. Got both; let the chunks be "
                "(X, y) pairs."
            )
        passes = ChunkPasses(X, task, is_size_public)
        return cls(passes, is_size_public=is_size_public)

    @property
    def n_rows(self) -> int:
        """Number of rows, if it is public; of chunks counted in the first pass.

        Under "add_remove" nothing may depend on it, so nobody can ask for it.
        """
        if not self._is_size_public:
            raise RuntimeError(
                "n_rows is private under adjacency='add_remove'. Use the number that "
                "was released."
            )
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
        self._passes = self.beforehand = self.elsewhere = None

    def read_as(self, written: Mapping[Any, Column]) -> None:
        """Read the text of some columns as these describe it, from now on."""
        self._written |= written

    def batches(
        self,
        cells: Mapping[Any, Cells],
        labels: Cells | None = None,
        tokens: Sequence[Any] = (),
        distinct: Sequence[Any] = (),
        digits: Mapping[Any, DigitCells] | None = None,
        words: Mapping[Any, OpenWords] | None = None,
        asked: Asked | None = None,
    ) -> Batches:
        """Return the rows as batches, encoded chunk by chunk at every pass.

        Parameters
        ----------
        cells, labels, tokens, distinct, digits, words, asked
            As :class:`~skdpgen.tables._encoder.Encoder` has them. The target can be
            read as one more column, under the name TARGET.
        """
        asks = digits, words, asked
        encoder = encoder_of(cells, labels, tokens, distinct, self._written, *asks)
        return Batches(encoder, self._read, self.elsewhere)

    def _read(self, names: Collection[Any]) -> Iterator[Chunk]:
        return self._open(names)


def holds_images(X: Any) -> bool:
    """Say whether rows are images, by dimensions; of chunks the first one tells.

    Examples
    --------
    >>> import numpy as np
    >>> holds_images(np.zeros((5, 8, 8))), holds_images(np.zeros((5, 8)))
    (True, False)
    """
    if isinstance(X, Chunks):
        X, _ = X.first or (None, None)
    return is_image(X)


def elsewhere_of(X: Any, y: Any, task: str) -> Elsewhere | None:
    """Return where the rows of X stand; None if they are here.

    Examples
    --------
    >>> elsewhere_of([[1.0]], None, "auto") is None
    True
    """
    if hasattr(X, "standing"):
        if y is not None:
            raise ValueError(
                f"y must be None when X is {type(X).__name__}. Got both; give the "
                "labels to each party beside its rows."
            )
        return X.standing(task)
    if is_dask(X) or is_dask(y):
        return DaskRows.of(X, y, task)
    return None
