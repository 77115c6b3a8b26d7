"""Made-up rows that cover every cell, label and missing value that a question knows."""

from datetime import timedelta
from typing import Any

import numpy as np
import pandas as pd

from skdpgen.tables._cells import MixedCells
from skdpgen.tables._columns import Datetime
from skdpgen.tables._encoder import Chunk, Encoder
from skdpgen.tables._layout import Layout
from skdpgen.tables._role import TARGET
from skdpgen.tables._spelling import EPOCH, write_time
from skdpgen.tables._target_column import read_labels
from skdpgen.tables._values import Values, read_values

STRANGE = (None, "", "?", "2000-01-01", "1e3", True, 0, -1, 0.5, 1e300, -1e300, 5e-324)
MOST_OF_COLUMN = 2**11  # values of a column, spread evenly where there are more
MOST_ROWS = 2**14


def public_rows(
    encoder: Encoder, layouts: tuple[Layout, Layout | None], task: str
) -> tuple[Chunk, int]:
    """Return rows that a question can be tried on before private ones, and how many.

    Each column goes through the values that its cells and labels stand for,
    those between them, missing and strange ones; with each label, if that is not too
    many rows. They depend on the question alone.

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
    labels = [None, "?", *_values_of(encoder, TARGET)[len(STRANGE) :]]
    if encoder.labels is not None:
        labels += _meant_by(encoder.labels, None)
    if longest * len(labels) > MOST_ROWS:
        turns = np.arange(max(longest, len(labels))) % len(labels)
    else:  # each label with each value
        turns = np.arange(longest * len(labels)) // longest
    turns = np.append(turns, len(labels) + np.arange(len(STRANGE)))
    labels = [*labels, *STRANGE]
    read: dict[Any, Values] = {}
    for name, kind in zip(layout.names, layout.kinds, strict=True):
        places = np.arange(len(turns)) % len(columns[name])
        read[name] = read_values(_objects(columns[name]), kind)[places]
    target = read_labels(_objects(labels), target_layout, task)
    return (read, None if target is None else target[turns]), len(turns)


def _objects(values: list[Any]) -> "pd.Series[Any]":
    """Return values as objects: no dtype is guessed from them."""
    made = np.empty(len(values), dtype=object)
    made[:] = values
    return pd.Series(made)


def _values_of(encoder: Encoder, name: Any) -> list[Any]:
    """Return what a column may hold, as far as a question knows."""
    if name not in encoder.cells:
        return [*STRANGE]
    return [*STRANGE, *_meant_by(encoder.cells[name], encoder.written.get(name))]


def _meant_by(cells: Any, written: Any) -> list[Any]:
    """Return values of all cells, or evenly spread ones."""
    categories = getattr(cells, "categories", None)
    if categories is not None:
        return _spread(list(categories))
    if isinstance(cells, MixedCells):
        return [*cells.named, *_meant_by(cells.numbers, written)]
    ends = cells.edges[np.isfinite(cells.edges)]
    with np.errstate(all="ignore"):
        between = 0.5 * ends[:-1] + 0.5 * ends[1:]
    numbers = _spread(np.unique(np.concatenate([ends, between])).tolist())
    times = numbers if cells.is_time else []
    return numbers + [text for second in times for text in _texts(second, written)]


def _texts(second: float, written: Any) -> list[str]:
    """Return a time as text; nothing if text cannot say it."""
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
