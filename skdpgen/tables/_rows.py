"""Rows: a table that can be read several times, chunk by chunk, as encoded batches."""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import numpy as np
import pandas as pd

from skdpgen.tables._cells import Cells, MixedCells
from skdpgen.tables._chunks import Chunks, as_chunks
from skdpgen.tables._columns import Column, Datetime
from skdpgen.tables._dask_rows import DaskRows, is_dask
from skdpgen.tables._encoder import (
    Asked,
    Chunk,
    EncodedBatch,
    Encoder,
    Step,
    read_labels,
)
from skdpgen.tables._images import is_image
from skdpgen.tables._layout import TARGET, Layout
from skdpgen.tables._line import DigitCells
from skdpgen.tables._passes import (
    CHUNK_ROWS,
    IMAGES_AT_ONCE,
    ChunkPasses,
    KeptRows,
    SumQuery,
    Sums,
    WholeTable,
)
from skdpgen.tables._text_forms import EPOCH, write_time
from skdpgen.tables._values import Floats, Values, read_values

# ----------------------------------------------------------------------------
# Cells as points of a space with public distances, for kernels on rows.


def cell_points(cells: Cells) -> Floats:
    """Return the coordinates of every cell, (n_cells, width).

    A number stands at the rank of its cell, from 0 to 1. Bins hold about equal mass,
    so such columns are about uniform whatever their unit and tails, and a length scale
    means the same in all of them. Two categories are 1 apart, and "missing" is half
    that far from the middle of the numbers.

    Examples
    --------
    >>> from skdpgen.tables import NumberCells
    >>> cell_points(NumberCells(np.array([0.0, 1.0, 10.0]), nullable=False)).tolist()
    [[0.25], [0.75]]
    """
    if not cells.is_ordered:
        return np.eye(cells.n_cells) * math.sqrt(0.5)
    n_ordered = cells.n_known
    n_others = cells.n_cells - n_ordered  # named values and "missing"
    points = np.zeros((cells.n_cells, 1 + n_others))
    points[:n_ordered, 0] = (np.arange(n_ordered) + 0.5) / max(n_ordered, 1)
    points[n_ordered:, 0] = 0.5
    points[n_ordered:, 1:] = 0.5 * np.eye(n_others)
    return points


# ----------------------------------------------------------------------------
# Rows: a table that answers several queries for sums, wherever its rows are kept.


class Rows:
    """The only access to private rows; :meth:`close` ends it.

    Releases get sums by one method, :meth:`total`: rows that this process can read are
    summed in a pass, others are summed in their own processes. Use :meth:`read` to open
    rows, and :meth:`batches` to choose their encoding.

    ``target_layout`` is None without labels; ``beforehand`` holds sums for later
    releases, which are as private as the rows.
    """

    def __init__(self, kept: KeptRows, is_size_public: bool = True) -> None:
        self._kept: KeptRows | None = kept
        self._is_size_public = is_size_public
        self.layout = kept.layout
        self.target_layout = kept.target_layout
        self.beforehand: Any = None
        self._written: dict[Any, Column] = {}
        self._labelled_by: Any = None

    @classmethod
    def read(
        cls,
        X: Any,
        y: Any = None,
        *,
        task: str = "auto",
        is_size_public: bool = True,
    ) -> "Rows":
        """Open a table in memory, :class:`Chunks`, or a source of chunks.

        If chunks have another number of rows in a later pass, an error is raised if
        that number is public. If it is private, an error would reveal it, so there is
        none; ``n_rows`` then raises, and a released number must be used.
        """
        kept = kept_rows(*as_chunks(X, y), task, is_size_public)
        return cls(kept, is_size_public)

    @property
    def n_rows(self) -> int:
        """Number of rows, if it is public; of chunks counted in the first pass.

        Under "add_remove" nothing may depend on it, so reading it raises an error.
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
    def are_here(self) -> bool:
        """Whether this process reads the rows itself."""
        return self._open.are_here

    @property
    def noise_shares(self) -> Any:
        """Shares of the noise that is added where the rows are kept, or None."""
        return self._open.noise_shares

    def trusted(self, budget: Any) -> list[str]:
        """Return statements for the certificate: who else sees what without noise."""
        return self._open.trusted(budget)

    def total(self, query: SumQuery, noise: Any = None) -> Sums:
        """Return sums over all rows, wherever they are kept.

        Parameters
        ----------
        query : Query
            What to read and to sum.
        noise : NoiseWanted or None, default=None
            The noise of the release, for parties that add it themselves, if there are
            ``noise_shares``. Without these, sums are exact, and as private as rows.
        """
        return self._open.total(query, noise)

    @property
    def _open(self) -> KeptRows:
        if self._kept is None:
            raise RuntimeError("The rows were closed after the release.")
        return self._kept

    def close(self) -> None:
        """Forget the rows."""
        self._kept = self.beforehand = None

    def read_as(self, written: Mapping[Any, Column]) -> None:
        """Read the text of some columns as these describe it, from now on."""
        self._written |= written

    def label_by(self, name: Any) -> None:
        """Read labels from a column of the table, from now on."""
        self._labelled_by = name

    def batches(
        self,
        cells: Mapping[Any, Cells],
        labels: Cells | None = None,
        tokens: Sequence[Any] = (),
        distinct: Sequence[Any] = (),
        digits: Mapping[Any, DigitCells] | None = None,
        asked: Asked | None = None,
    ) -> "Batches":
        """Return the rows as batches, for a release to sum; reads none of them yet.

        Parameters
        ----------
        cells, labels, tokens, distinct, digits, asked
            As :class:`~skdpgen.tables._encoder.Encoder` has them. The target can be
            read as one more column, under the name TARGET.
        """
        encoder = Encoder(
            dict(cells),
            labels,
            tuple(tokens),
            tuple(distinct),
            dict(digits or {}),
            asked=asked,
            written=dict(self._written),
            labelled_by=self._labelled_by,
        )
        return Batches(encoder, self)

    def chunks(self, names: Collection[Any]) -> Iterator[Chunk]:
        """Yield columns of some rows, and labels; raise where rows are not here."""
        return self._open(names)


@dataclass(frozen=True, eq=False)
class Batches:
    """Private rows with their encoding, which a release sums.

    They are a :class:`~skdpgen.privacy.Summable`. Training on single rows iterates over
    them, which raises an error for rows in other processes.

    Parameters
    ----------
    encoder : Encoder
    rows : Rows
    """

    encoder: Encoder
    rows: Rows

    @property
    def are_here(self) -> bool:
        """Whether this process reads the rows itself."""
        return self.rows.are_here

    @property
    def noise_shares(self) -> Any:
        """Shares of the noise that is added where the rows are kept, or None."""
        return self.rows.noise_shares

    def total(self, query: SumQuery, noise: Any = None) -> Sums:
        """Return sums over all rows, as :meth:`Rows.total` does."""
        return self.rows.total(query, noise)

    def __iter__(self) -> Iterator[EncodedBatch]:
        """Encode the rows, chunk by chunk."""
        return self.encoder.batches(self.rows.chunks(self.encoder.names))

    def through(self, step: Step) -> "Batches":
        """Return these batches with one more step, which treats rows independently."""
        return replace(self, encoder=self.encoder.through(step))


def holds_images(X: Any) -> bool:
    """Return whether rows are images, by dimensions; for chunks, by the first one.

    Examples
    --------
    >>> import numpy as np
    >>> holds_images(np.zeros((5, 8, 8))), holds_images(np.zeros((5, 8)))
    (True, False)
    """
    if isinstance(X, Chunks):
        X, _ = X.first or (None, None)
    return is_image(X)


def kept_rows(X: Any, y: Any, task: str, is_size_public: bool) -> KeptRows:
    """Return access to rows; count those in other processes if that is public.

    Examples
    --------
    >>> kept_rows([[1.0]], None, "auto", is_size_public=True).are_here
    True
    """
    if stands_elsewhere(X) or is_dask(y):
        remote_rows = _open_remote(X, y, task)
        if is_size_public:
            _ = remote_rows.n_rows  # now: later passes are compared with it
        return remote_rows
    if not isinstance(X, Chunks):
        return WholeTable(X, y, task, (CHUNK_ROWS, IMAGES_AT_ONCE))
    if y is not None:
        raise ValueError(
            "y must be None when X is Chunks. Got both; let the chunks be (X, y) pairs."
        )
    return ChunkPasses(X, task, is_size_public)


def stands_elsewhere(X: Any) -> bool:
    """Return whether rows are not in this process.

    Examples
    --------
    >>> stands_elsewhere([[1.0]])
    False
    """
    return hasattr(X, "standing") or is_dask(X)


def _open_remote(X: Any, y: Any, task: str) -> KeptRows:
    if not hasattr(X, "standing"):
        return DaskRows.of(X, y, task)
    if y is not None:
        raise ValueError(
            f"y must be None when X is {type(X).__name__}. Got both; give the "
            "labels to each party beside its rows."
        )
    remote_rows: KeptRows = X.standing(task)
    return remote_rows


# ----------------------------------------------------------------------------
# Made-up rows that cover every cell, label and missing value of a question.

STRANGE_VALUES = (
    None,
    "",
    "?",
    "2000-01-01",
    "1e3",
    True,
    0,
    -1,
    0.5,
    1e300,
    -1e300,
    5e-324,
)
MOST_OF_COLUMN = 2**11  # values of a column, spread evenly where there are more
MOST_ROWS = 2**14


def public_rows(
    encoder: Encoder, layouts: tuple[Layout, Layout | None], task: str
) -> tuple[Chunk, int]:
    """Return made-up rows to try a question on before private ones, and their number.

    Each column has the values of its cells and labels, values between them, missing and
    unusual ones; with each label, if that is not too many rows. They depend on the
    question only.

    Examples
    --------
    >>> from skdpgen.tables import CategoryCells, Kind, Layout
    >>> layout = Layout("pandas", ("a",), (Kind.TEXT,), ("object",))
    >>> encoder = Encoder({"a": CategoryCells(("x", "y"), nullable=True)})
    >>> (columns, _), n_rows = public_rows(encoder, (layout, None), "auto")
    >>> sorted({"x", "y", "?"} & set(columns["a"].values)), n_rows
    (['?', 'x', 'y'], 40)
    """
    layout, target_layout = layouts
    columns = {name: _values_of(encoder, name) for name in layout.names}
    longest = max(map(len, columns.values()), default=1)
    labels = [None, "?", *_values_of(encoder, TARGET)[len(STRANGE_VALUES) :]]
    if encoder.labels is not None:
        labels += _values_of_cells(encoder.labels, None)
    if longest * len(labels) > MOST_ROWS:
        turns = np.arange(max(longest, len(labels))) % len(labels)
    else:  # each label with each value
        turns = np.arange(longest * len(labels)) // longest
    # unusual labels come last, once each
    turns = np.append(turns, len(labels) + np.arange(len(STRANGE_VALUES)))
    labels = [*labels, *STRANGE_VALUES]
    values_by_name: dict[Any, Values] = {}
    for name, kind in zip(layout.names, layout.kinds, strict=True):
        places = np.arange(len(turns)) % len(columns[name])
        values_by_name[name] = read_values(_objects(columns[name]), kind)[places]
    target = read_labels(_objects(labels), target_layout, task)
    return (values_by_name, None if target is None else target[turns]), len(turns)


def _objects(values: list[Any]) -> "pd.Series[Any]":
    """Return values as objects, so that no dtype is guessed from them."""
    objects = np.empty(len(values), dtype=object)
    objects[:] = values
    return pd.Series(objects, dtype=object)


def _values_of(encoder: Encoder, name: Any) -> list[Any]:
    """Return possible values of a column, by the cells of a question."""
    if name not in encoder.cells:
        return [*STRANGE_VALUES]
    return [
        *STRANGE_VALUES,
        *_values_of_cells(encoder.cells[name], encoder.written.get(name)),
    ]


def _values_of_cells(cells: Any, written: Any) -> list[Any]:
    """Return values of all cells, or evenly spread ones."""
    categories = getattr(cells, "categories", None)
    if categories is not None:
        return _spread(list(categories))
    if isinstance(cells, MixedCells):
        return [*cells.named, *_values_of_cells(cells.numbers, written)]
    ends = cells.edges[np.isfinite(cells.edges)]
    with np.errstate(all="ignore"):
        between = 0.5 * ends[:-1] + 0.5 * ends[1:]
    numbers = _spread(np.unique(np.concatenate([ends, between])).tolist())
    times = numbers if cells.is_time else []
    return numbers + [text for second in times for text in _texts(second, written)]


def _texts(second: float, written: Any) -> list[str]:
    """Return a time as text in the format of its column; nothing if that fails."""
    try:
        time = EPOCH + timedelta(seconds=second)
        form = written.format if isinstance(written, Datetime) else None
        return [time.isoformat() if form is None else write_time(time, form)]
    except (OverflowError, ValueError):
        return []


def _spread(values: list[Any]) -> list[Any]:
    """Return all values, or some from the first to the last."""
    if len(values) <= MOST_OF_COLUMN:
        return values
    places = np.linspace(0, len(values) - 1, MOST_OF_COLUMN).astype(int)
    return [values[place] for place in places]
