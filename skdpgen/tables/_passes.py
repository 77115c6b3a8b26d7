"""Access to rows: in memory or in chunks, read here, or in other processes."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

import pandas as pd

from skdpgen.exceptions import RowsElsewhereError, SchemaError
from skdpgen.tables._chunks import Chunks
from skdpgen.tables._encoder import Chunk, read_labels, read_target
from skdpgen.tables._frames import read_table
from skdpgen.tables._images import ImageLayout, is_image, read_images
from skdpgen.tables._layout import PIXELS, Kind, Layout
from skdpgen.tables._values import Values, read_values
from skdpgen.tables._zones import is_same_zone, zone_of

# ----------------------------------------------------------------------------
# A table or images, complete or a chunk of them, in their original container.


@dataclass(frozen=True, eq=False)
class Part:
    """A table or images, in their original container."""

    source: Any
    layout: Layout | ImageLayout

    @classmethod
    def of(cls, X: Any) -> "Part":
        """Read a table or images, and their layout."""
        if is_image(X):
            return cls(*read_images(X))
        table, layout = read_table(X)
        if any(
            name is not None and pd.api.types.is_scalar(name) and pd.isna(name)
            for name in layout.names
        ):  # which equal nothing, not even themselves
            raise SchemaError("Each column must have a name. Got NaN or NA; name it.")
        return cls(table, layout)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.source)

    def columns(self, layout: Layout | ImageLayout) -> dict[Any, Any]:
        """Return columns by name, read by the types of a layout."""
        if isinstance(layout, ImageLayout):
            return {PIXELS: self.source}
        pairs = zip(layout.names, layout.kinds, strict=True)
        return {name: read_values(self.source[name], kind) for name, kind in pairs}


def only_columns(layout: Any, names: Collection[Any] | None) -> Any:
    """Return a layout with some columns; the first if none matches; None means all."""
    if names is None or isinstance(layout, ImageLayout):
        return layout
    columns = list(zip(layout.names, layout.kinds, layout.dtypes, strict=True))
    chosen = [column for column in columns if column[0] in names] or columns[:1]
    names, kinds, dtypes = zip(*chosen, strict=True)
    return replace(layout, names=names, kinds=kinds, dtypes=dtypes)


def check_part(layout: Any, first: Any) -> None:
    """Raise unless a chunk has the columns of the first, and types that read alike.

    Numbers may differ in dtype, because they are read in the same way. Text and times
    may not.
    """
    if isinstance(layout, ImageLayout) or isinstance(first, ImageLayout):
        if layout != first:
            raise ValueError(
                "Every chunk of images must have the shape and dtype of the first, and "
                "its container."
            )
        return
    if layout.names != first.names:
        raise ValueError("Every chunk must have the columns of the first, in order.")
    for name, kind, expected in zip(
        first.names, layout.kinds, first.kinds, strict=True
    ):
        if kind is not expected and {kind, expected} & {Kind.TEXT, Kind.DATETIME}:
            raise ValueError(
                f"Column {name!r} must have the kind of the first chunk, "
                f"{expected.value}. Got {kind.value}; read chunks with explicit dtypes."
            )
    check_zones(layout, first, "All parts of the rows")


def check_zones(layout: Any, first: Any, subject: str) -> None:
    """Raise unless times of a column are in one zone: they are read as clocks show."""
    dtypes = dict(zip(layout.names, layout.dtypes, strict=True))
    for name, expected in zip(first.names, first.dtypes, strict=True):
        usual, zone = zone_of(expected), zone_of(dtypes.get(name, expected))
        if not is_same_zone(zone, usual):
            where = "y" if name is None else f"column {name!r}"
            raise ValueError(
                f"{subject} must have {where} in the time zone {usual}. Got {zone}; "
                "convert it."
            )


def are_lists(X: Any, y: Any) -> bool:
    """Return whether X or y is a plain list, whose dtype must be guessed."""
    return isinstance(X, list | tuple) or isinstance(y, list | tuple)


# ----------------------------------------------------------------------------
# The interface of rows in any place: sums, by one method.

Pass = Iterator[Chunk]
Sums = dict[str, Any]


class SumQuery(Protocol):
    """A query for sums: the part of :class:`~skdpgen.privacy.Query` used here."""

    @property
    def names(self) -> Collection[Any]:
        """Columns that are read."""

    def sums(self, chunks: Iterable[Chunk]) -> Sums:
        """Return the sums over some rows, without noise."""

    def merge(self, totals: Mapping[str, Any], other: Mapping[str, Any]) -> Sums:
        """Return the sums over the rows of two parts; changes neither."""


class KeptRows(Protocol):
    """Rows in memory, on disk, in a cluster, or with parties."""

    @property
    def layout(self) -> Layout | ImageLayout:
        """Names and dtypes of columns."""

    @property
    def target_layout(self) -> Layout | None:
        """The same of the target; None without labels."""

    @property
    def are_here(self) -> bool:
        """Whether this process reads the rows itself."""

    @property
    def noise_shares(self) -> Any:
        """As :class:`~skdpgen.privacy.Summable` has it."""

    @property
    def n_rows(self) -> int:
        """Number of rows; used only if it is public."""

    @property
    def has_lists(self) -> bool:
        """Whether a dtype was guessed from the values of a plain list."""

    def trusted(self, budget: Any) -> list[str]:
        """Return statements for the certificate: who else sees what without noise."""

    def total(self, query: Any, noise: Any = None) -> Sums:
        """Return sums over all rows, as :class:`~skdpgen.privacy.Summable` does.

        ``query`` is a :class:`SumQuery`; to parties a ``Query`` of `privacy` is sent.
        """

    def __call__(self, names: Collection[Any] | None = None) -> Pass:
        """Yield columns of some rows, those named at least, and labels.

        Raises for rows in other processes.
        """


class LocalRows(ABC):
    """Rows that this process reads: each sum takes a pass over them."""

    are_here, noise_shares = True, None

    def trusted(self, budget: Any) -> list[str]:
        """Return nothing: no one else sees them."""
        del budget
        return []

    def total(self, query: SumQuery, noise: Any = None) -> Sums:
        """Read the columns that the query names, and return its sums; exact."""
        del noise
        return query.sums(self(query.names))

    @abstractmethod
    def __call__(self, names: Collection[Any] | None = None) -> Pass:
        """Yield columns of some rows, those named at least, and labels."""


class RemoteRows:
    """Rows in other processes, which are never sent here."""

    are_here, has_lists = False, False
    noise_shares: Any = None

    def __call__(self, names: Collection[Any] | None = None) -> Pass:
        """Raise: only sums of these rows are available."""
        del names
        raise RowsElsewhereError(
            "Rows that stand elsewhere send sums, and this reads rows one by one. "
            "Bring them here first (`X.compute()`), if that is allowed, or use a "
            "method that needs sums alone, such as DPPairwiseSynthesizer."
        )


# ----------------------------------------------------------------------------
# Passes over rows: those of a table in memory, and those of chunks that are opened.

CHUNK_ROWS = 65_536
CELLS_AT_ONCE = 2**23  # of a wide table
FEWEST_ROWS = 1_024
IMAGES_AT_ONCE = 4_096  # fewer: they are wider than rows of a table


class WholeTable(LocalRows):
    """A table or images in memory, cut into rows."""

    def __init__(self, X: Any, y: Any, task: str, at_once: tuple[int, int]) -> None:
        part = Part.of(X)
        self.layout, self.n_rows = part.layout, part.n_rows
        series, self.target_layout = read_target(y, part.n_rows)
        self.has_lists = are_lists(X, y)
        self._columns = part.columns(part.layout)
        self._target = read_labels(series, self.target_layout, task)
        rows, images = at_once
        is_images = isinstance(part.layout, ImageLayout)
        self._at_once = images if is_images else rows_at_once(part.layout, rows)

    def __call__(self, names: Collection[Any] | None = None) -> Pass:
        """Yield all columns, which are read already."""
        del names
        yield from _cut(self._columns, self._target, self.n_rows, self._at_once)


class ChunkPasses(LocalRows):
    """Chunks, reopened in each pass and checked against the first pass.

    The number of rows is declared by the source, or counted in the first pass. If a
    later pass has another number, an error is raised if that number is public. If it is
    private, an error would reveal it, so there is none.
    """

    def __init__(self, source: Chunks, task: str, is_size_public: bool) -> None:
        first = source.first
        if first is None:
            raise ValueError(
                "Chunks must hold at least one table. Got none; let the first chunk be "
                "a table without rows, or say `like=` with one."
            )
        self.layout = Part.of(first[0]).layout
        _, self.target_layout = read_target(first[1], len(first[0]))
        self._source, self._task, self._is_size_public = source, task, is_size_public
        self._has_lists = are_lists(*first)
        self._n_rows = source.count() if is_size_public else None
        self._had_chunks = False

    @property
    def n_rows(self) -> int:
        """Number of rows; takes a pass unless it is known from one or declared."""
        self._count_once()
        assert self._n_rows is not None
        return self._n_rows

    @property
    def has_lists(self) -> bool:
        """Whether a dtype was guessed from the values of a plain list."""
        if not self._source.has_types:
            self._count_once()
        return self._has_lists

    def _count_once(self) -> None:
        if self._n_rows is None:
            for _ in self(()):
                pass

    def __call__(self, names: Collection[Any] | None = None) -> Pass:
        """Yield named columns, chunk by chunk; nothing else is read where possible."""
        n_rows = n_chunks = 0
        opened = self._source.opened(names)
        opened_layout = only_columns(self.layout, opened.names)
        requested_layout = only_columns(self.layout, names)
        for table, labels in opened:
            self._has_lists |= are_lists(table, labels)
            part = Part.of(table)
            check_part(part.layout, opened_layout)
            n_rows, n_chunks = n_rows + part.n_rows, n_chunks + 1
            yield part.columns(requested_layout), self._labels(labels, part.n_rows)
        self._check_size(n_rows, n_chunks)

    def _labels(self, labels: Any, n_rows: int) -> Values | None:
        series, layout = read_target(labels, n_rows)
        if (layout is None) != (self.target_layout is None):
            raise ValueError("Every chunk must be (X, y), or none. Got a mixture.")
        if layout is not None:
            check_part(layout, self.target_layout)
        return read_labels(series, self.target_layout, self._task)

    def _check_size(self, n_rows: int, n_chunks: int) -> None:
        is_gone = self._had_chunks and not n_chunks
        self._had_chunks |= n_chunks > 0
        if self._n_rows is None:
            self._n_rows = n_rows
        elif is_gone or (self._is_size_public and n_rows != self._n_rows):
            difference = "no chunk at all" if is_gone else "another number of rows"
            raise ValueError(
                f"Chunks must hold the same rows in every pass. Got {difference} in a "
                "later one; make `open_chunks` read the source from its start."
            )


def read_part(
    X: Any, y: Any, layouts: tuple[Any, Layout | None], task: str
) -> Iterator[Chunk]:
    """Read a part of a table with a given layout, in any process."""
    layout, target_layout = layouts
    part = Part.of(X)
    series, labels_here = read_target(y, part.n_rows)
    check_part(part.layout, layout)
    if (labels_here is None) != (target_layout is None):
        given = "no y" if labels_here is None else "y"
        raise ValueError(
            "y must be given with all parts of the rows, or with none. Got a part with "
            f"{given}, unlike the others or `like`; give all labels, or none."
        )
    if labels_here is not None:
        check_part(labels_here, target_layout)
    target = read_labels(series, target_layout, task)
    at_once = rows_at_once(layout, CHUNK_ROWS)
    yield from _cut(part.columns(layout), target, part.n_rows, at_once)


def layouts_of(X: Any, y: Any) -> tuple[Any, Layout | None]:
    """Return the layout of a table and of its target, from dtypes only."""
    part = Part.of(X)
    return part.layout, read_target(y, part.n_rows)[1]


def rows_at_once(layout: Layout | ImageLayout, usual: int) -> int:
    """Return the number of rows to encode together: fewer for a wide table."""
    n_columns = 1 if isinstance(layout, ImageLayout) else len(layout.names)
    return min(usual, max(CELLS_AT_ONCE // max(n_columns, 1), FEWEST_ROWS))


def _cut(
    columns: Mapping[Any, Any], target: Values | None, n_rows: int, at_once: int
) -> Iterator[Chunk]:
    """Yield columns and labels in pieces of ``at_once`` rows."""
    for start in range(0, n_rows, at_once):
        rows = slice(start, start + at_once)
        cut = {name: values[rows] for name, values in columns.items()}
        yield cut, None if target is None else target[rows]
