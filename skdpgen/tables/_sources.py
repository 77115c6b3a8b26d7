"""Tables on disk and queries, as batches that are opened anew with some columns."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skdpgen.utils import require

ROWS = 65_536  # of a batch


@dataclass(frozen=True, eq=False)
class Source:
    """A table somewhere else.

    Parameters
    ----------
    empty : table
        Without rows, as the source declares its columns; reads none of its values.
    names : tuple of str
        Columns.
    open : callable
        Yields tables with the columns that it is given, from the start.
    count : callable
        Returns the number of rows; None if all would have to be read for it.
    """

    empty: Any
    names: tuple[str, ...]
    open: Callable[[Sequence[str]], Iterator[Any]]
    count: Callable[[], int | None]


def is_source(X: Any) -> bool:
    """Say whether something is a table somewhere else, and no table itself.

    Examples
    --------
    >>> is_source(Path("folder")), is_source([[1.0]])
    (True, False)
    """
    return isinstance(X, Path) or _kind(X) is not None


def source_of(X: Any, rows: int) -> Source:
    """Return batches of so many rows at most; raise for what is no source."""
    if isinstance(X, Path):
        require("pyarrow", extra="arrow")
        from pyarrow import dataset

        X = dataset.dataset(X, format="parquet")
    kind = _kind(X)
    if kind is not None:
        return kind(X, rows)
    if callable(X):
        return _of_readers(X, rows)
    raise TypeError(
        "A source of rows must be a pyarrow.dataset.Dataset, a Path of Parquet, a "
        "polars.LazyFrame, a DuckDB relation, or a callable that returns a "
        f"pyarrow.RecordBatchReader. Got {type(X).__name__} instead."
    )


def _kind(X: Any) -> Callable[[Any, int], Source] | None:
    """Return what reads a source; by name, so that no package is imported for it."""
    kinds = {"Dataset": _of_dataset, "LazyFrame": _of_polars, "Relation": _of_duckdb}
    packages = {"Dataset": "pyarrow", "LazyFrame": "polars", "Relation": "duckdb"}
    for one in type(X).__mro__:
        package = one.__module__.partition(".")[0].strip("_")
        for name, kind in kinds.items():
            if one.__name__.endswith(name) and package == packages[name]:
                return kind
    return None


def _of_dataset(dataset: Any, rows: int) -> Source:
    """Read Parquet, and what else pyarrow.dataset does, a few batches ahead."""
    ahead = {"batch_readahead": 2, "fragment_readahead": 1}

    def opened(names: Sequence[str]) -> Iterator[Any]:
        batches = dataset.to_batches(columns=list(names), batch_size=rows, **ahead)
        return _tables(batches, rows)

    schema = dataset.schema
    return Source(schema.empty_table(), tuple(schema.names), opened, dataset.count_rows)


def _of_polars(frame: Any, rows: int) -> Source:
    """Read a query of polars by its streaming engine, as tables of polars."""
    import polars as pl

    schema = frame.collect_schema()

    def opened(names: Sequence[str]) -> Iterator[Any]:
        chosen = frame.select(names)
        if hasattr(chosen, "collect_batches"):
            yield from chosen.collect_batches(chunk_size=rows, maintain_order=True)
            return
        for start in range(0, count(), rows):
            yield chosen.slice(start, rows).collect()

    def count() -> int:
        return int(frame.select(pl.len()).collect().item())

    return Source(pl.DataFrame(schema=schema), tuple(schema.names()), opened, count)


def _of_duckdb(relation: Any, rows: int) -> Source:
    """Read a query of DuckDB as Arrow; it runs anew at each pass."""

    def opened(names: Sequence[str]) -> Iterator[Any]:
        quoted = (f'"{name.replace(chr(34), 2 * chr(34))}"' for name in names)
        chosen = relation.project(", ".join(quoted))
        return _tables(_reader(chosen, rows), rows)

    def count() -> int:
        return int(relation.aggregate("count(*)").fetchall()[0][0])

    schema = _reader(relation.limit(0), rows).schema
    return Source(schema.empty_table(), tuple(schema.names), opened, count)


def _reader(relation: Any, rows: int) -> Any:
    """Run a query, and return a reader of its rows."""
    read = getattr(relation, "to_arrow_reader", None) or relation.fetch_record_batch
    return read(rows)


def _of_readers(open_reader: Callable[[], Any], rows: int) -> Source:
    """Read what a function opens; columns are chosen here, so all are read."""

    def opened(names: Sequence[str]) -> Iterator[Any]:
        return (table.select(list(names)) for table in _tables(open_reader(), rows))

    reader = open_reader()
    if not hasattr(reader, "schema") or not hasattr(reader, "read_next_batch"):
        raise TypeError(
            "The callable must return a pyarrow.RecordBatchReader. "
            f"Got {type(reader).__name__}; for chunks of another kind use `Chunks`."
        )
    schema = reader.schema
    return Source(schema.empty_table(), tuple(schema.names), opened, lambda: None)


def _tables(batches: Iterable[Any], rows: int) -> Iterator[Any]:
    """Yield batches of Arrow as tables of so many rows at most."""
    import pyarrow as pa

    for batch in batches:
        for start in range(0, batch.num_rows, rows):
            yield pa.Table.from_batches([batch.slice(start, rows)])
