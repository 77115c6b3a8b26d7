"""Rows: a table that can be read several times, chunk by chunk, as encoded batches."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd

from skdpgen.tables._cells import Cells
from skdpgen.tables._chunks import Chunks
from skdpgen.tables._columns import Column
from skdpgen.tables._containers import array_series, read_table
from skdpgen.tables._dtypes import pandas_kind
from skdpgen.tables._elsewhere import Elsewhere, elsewhere_of, refuse_rows
from skdpgen.tables._encoder import (
    PIXELS,
    Batches,
    Chunk,
    encoder_of,
)
from skdpgen.tables._images import ImageLayout, is_image, read_images
from skdpgen.tables._layout import Kind, Layout
from skdpgen.tables._values import Values, read_values

CHUNK = 65_536
IMAGES = 4_096  # at a time: they are wider than rows of a table


class Rows:
    """Private rows behind one door; :meth:`close` ends all access to them.

    Use :meth:`read`. ``target_layout`` is None without labels; ``has_lists`` says
    whether a dtype was guessed from the values of a plain list.
    """

    def __init__(
        self,
        chunks: Callable[[], Iterator[Chunk]],
        layout: Layout | ImageLayout,
        target_layout: Layout | None,
        n_rows: int,
        *,
        has_lists: bool = False,
        elsewhere: Elsewhere | None = None,
    ) -> None:
        self._chunks: Callable[[], Iterator[Chunk]] | None = chunks
        self.layout = layout
        self.target_layout = target_layout
        self.n_rows = n_rows
        self.has_lists = has_lists
        self.elsewhere = elsewhere
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
        """Open a table in memory, or :class:`Chunks` of one.

        A source of chunks that has another number of rows in a later pass is refused
        if that number is public; if not, the refusal would tell it.
        """
        if isinstance(X, Chunks):
            if y is not None:
                raise ValueError(
                    "y must be None when X is Chunks. Got both; let the chunks be "
                    "(X, y) pairs."
                )
            return cls._read_chunks(X, task, is_size_public)
        there = elsewhere_of(X, y, task)
        if there is not None:
            n_rows = there.count() if is_size_public else 0
            layouts = there.layout, there.target_layout
            return cls(refuse_rows, *layouts, n_rows, elsewhere=there)
        part = _Part.of(X)
        series, target_layout = _read_target(y, part.n_rows)
        columns = part.columns(part.layout)
        target = _read_labels(series, target_layout, task)

        has_lists = _are_lists(X, y)
        chunks = partial(_cut, part, columns, target)
        return cls(chunks, part.layout, target_layout, part.n_rows, has_lists=has_lists)

    @classmethod
    def _read_chunks(cls, source: Chunks, task: str, is_size_public: bool) -> "Rows":
        first = source.first
        if first is None:
            raise ValueError(
                "Chunks must hold at least one table. Got none; let the first chunk be "
                "a table without rows, or say `like=` with one."
            )
        layout = _Part.of(first[0]).layout
        _, target_layout = _read_target(first[1], len(first[0]))
        n_rows = n_chunks = 0
        has_lists = _are_lists(*first)
        for table, labels in source:
            has_lists |= _are_lists(table, labels)
            part = _Part.of(table)
            _, labels_here = _read_target(labels, part.n_rows)
            if (labels_here is None) != (target_layout is None):
                raise ValueError("Every chunk must be (X, y), or none. Got a mixture.")
            _check_chunk(part.layout, layout)
            if labels_here is not None:
                _check_chunk(labels_here, target_layout)
            n_rows, n_chunks = n_rows + part.n_rows, n_chunks + 1

        def chunks() -> Iterator[Chunk]:
            rows_here = chunks_here = 0
            for table, labels in source:
                part = _Part.of(table)
                series, _ = _read_target(labels, part.n_rows)
                rows_here, chunks_here = rows_here + part.n_rows, chunks_here + 1
                yield part.columns(layout), _read_labels(series, target_layout, task)
            is_gone = bool(n_chunks) and not chunks_here
            if is_gone or (is_size_public and rows_here != n_rows):
                what = "no chunk at all" if is_gone else "another number of rows"
                raise ValueError(
                    f"Chunks must hold the same rows in every pass. Got {what} in a "
                    "later one; make `open_chunks` read the source from its start."
                )

        return cls(chunks, layout, target_layout, n_rows, has_lists=has_lists)

    def close(self) -> None:
        """Forget the rows."""
        self._chunks = self.elsewhere = None

    def read_as(self, written: Mapping[Any, Column]) -> None:
        """Read the text of some columns as these describe it, from now on."""
        self._written |= written

    def batches(
        self,
        cells: Mapping[Any, Cells],
        labels: Cells | None = None,
        tokens: Sequence[Any] = (),
        distinct: Sequence[Any] = (),
    ) -> Batches:
        """Return the rows as batches, encoded chunk by chunk at every pass.

        Parameters
        ----------
        cells, labels, tokens, distinct
            As :class:`~skdpgen.tables._encoder.Encoder` has them. The target can be
            read as one more column, under the name TARGET.
        """
        encoder = encoder_of(cells, labels, tokens, distinct, self._written)
        return Batches(encoder, self._read, self.elsewhere)

    def _read(self) -> Iterator[Chunk]:
        if self._chunks is None:
            raise RuntimeError("The rows were closed after the release.")
        return self._chunks()


def read_part(
    X: Any, y: Any, layouts: tuple[Any, Layout | None], task: str
) -> Iterator[Chunk]:
    """Read a part of a table whose layout is known, wherever that part stands."""
    layout, target_layout = layouts
    part = _Part.of(X)
    series, labels_here = _read_target(y, part.n_rows)
    _check_chunk(part.layout, layout)
    if labels_here is not None:
        _check_chunk(labels_here, target_layout)
    columns = part.columns(layout)
    target = _read_labels(series, target_layout, task)
    yield from _cut(part, columns, target)


def layouts_of(X: Any, y: Any) -> tuple[Any, Layout | None]:
    """Return the layout of a table and of its target, by dtypes alone."""
    part = _Part.of(X)
    return part.layout, _read_target(y, part.n_rows)[1]


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


def _are_lists(X: Any, y: Any) -> bool:
    """Say whether a dtype must be guessed, as a plain list has none."""
    return isinstance(X, list | tuple) or isinstance(y, list | tuple)


@dataclass(frozen=True, eq=False)
class _Part:
    """A table or images, as they came in."""

    source: Any
    layout: Layout | ImageLayout

    @classmethod
    def of(cls, X: Any) -> "_Part":
        return cls(*(read_images(X) if is_image(X) else read_table(X)))

    @property
    def n_rows(self) -> int:
        return len(self.source)

    @property
    def at_once(self) -> int:
        return IMAGES if isinstance(self.layout, ImageLayout) else CHUNK

    def columns(self, layout: Layout | ImageLayout) -> dict[Any, Any]:
        """Return what can be cut into rows, read as a layout says."""
        if isinstance(layout, ImageLayout):
            return {PIXELS: self.source}
        return _read_columns(self.source, layout)


def _cut(part: _Part, columns: dict[Any, Any], target: Values | None) -> Any:
    """Yield some rows at a time, of what was read."""
    for start in range(0, part.n_rows, part.at_once):
        rows = slice(start, start + part.at_once)
        some = {name: values[rows] for name, values in columns.items()}
        yield some, None if target is None else target[rows]


def _check_chunk(here: Any, first: Any) -> None:
    """Numbers read alike whatever their dtype; text and times must not change."""
    if isinstance(here, ImageLayout) or isinstance(first, ImageLayout):
        if here != first:
            raise ValueError(
                "Every chunk of images must have the shape and dtype of the first, and "
                "its container."
            )
        return
    if here.names != first.names:
        raise ValueError("Every chunk must have the columns of the first, in order.")
    for name, kind, expected in zip(first.names, here.kinds, first.kinds, strict=True):
        if kind is not expected and {kind, expected} & {Kind.TEXT, Kind.DATETIME}:
            raise ValueError(
                f"Column {name!r} must have the kind of the first chunk, "
                f"{expected.value}. Got {kind.value}; read chunks with explicit dtypes."
            )


def _read_columns(frame: pd.DataFrame, layout: Layout) -> dict[Any, Values]:
    pairs = zip(layout.names, layout.kinds, strict=True)
    return {name: read_values(frame[name], kind) for name, kind in pairs}


def _read_target(y: Any, n_rows: int) -> tuple[Any, Layout | None]:
    if y is None:
        return None, None
    if isinstance(y, pd.DataFrame):
        if y.shape[1] != 1:
            raise ValueError(f"y must be one column. Got {y.shape[1]} instead.")
        y = y.iloc[:, 0]
    container = "pandas" if isinstance(y, pd.Series) else "numpy"
    kinds = None
    if not isinstance(y, pd.Series):
        y, kinds = _target_series(y)
    if len(y) != n_rows:
        raise ValueError(
            "X and y must have one label a row. Got inconsistent numbers of samples; "
            "check that both come from the same rows."
        )
    series = y.reset_index(drop=True)
    pandas_kind(series.dtype, "y")
    _, layout = read_table(series.to_frame(name=y.name))
    kinds = kinds or layout.kinds
    return series, Layout(container, layout.names, kinds, layout.dtypes)


def _target_series(y: Any) -> tuple["pd.Series[Any]", tuple[Kind, ...] | None]:
    """Return y as a series whose dtype is its own, not guessed from its values."""
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
        return frame.iloc[:, 0].rename(None), layout.kinds
    array = y if isinstance(y, np.ma.MaskedArray) else np.asarray(y)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise ValueError(
            f"y should be a 1d array, got an array of {array.ndim} dimensions instead."
        )
    return array_series(array, "y"), None


def _read_labels(series: Any, layout: Layout | None, task: str) -> Values | None:
    if series is None or layout is None:
        return None
    kind = layout.kinds[0]
    is_number = kind in (Kind.FLOAT, Kind.DATETIME) or task == "regression"
    if is_number and task != "classification":
        return read_values(series, Kind.FLOAT if kind is Kind.TEXT else kind)
    return read_values(series, kind)
