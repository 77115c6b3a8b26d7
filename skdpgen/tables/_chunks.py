"""Rows that are not in memory: files, queries and chunks that are read in parts."""

from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd

from skdpgen.utils import (
    require,
)

# ----------------------------------------------------------------------------
# Tables on disk and queries, as batches that are reopened with some columns.

ROWS_OF_BATCH = 65_536
EXACT_IN_DOUBLE = 32  # bits of whole numbers, all of which a double has


@dataclass(frozen=True, eq=False)
class Source:
    """A table on disk, or a query.

    Parameters
    ----------
    empty : table
        Without rows, with the declared columns; no values are read.
    names : tuple of str
        Columns.
    open : callable
        Yields tables with the columns that it is given, from the start.
    count : callable
        Returns the number of rows; None if that would require reading all of them.
    """

    empty: Any
    names: tuple[str, ...]
    open: Callable[[Sequence[str]], Iterator[Any]]
    count: Callable[[], int | None]


def is_source(X: Any) -> bool:
    """Return whether something is a table on disk or a query, and not in memory.

    Examples
    --------
    >>> is_source(Path("folder")), is_source([[1.0]])
    (True, False)
    """
    return isinstance(X, Path) or _kind(X) is not None


def source_of(X: Any, rows: int) -> Source:
    """Return a source with batches of at most ``rows`` rows; raise for other types."""
    if isinstance(X, Path):
        return _without_texts(_of_folder(X, rows))
    kind = _kind(X)
    if kind is not None:
        return _without_texts(kind(X, rows))
    if callable(X):
        return _of_readers(X, rows)
    raise TypeError(
        "A source of rows must be a pyarrow.dataset.Dataset, a Path of Parquet, a "
        "polars.LazyFrame, a DuckDB relation, or a callable that returns a "
        f"pyarrow.RecordBatchReader. Got {type(X).__name__} instead."
    )


def _without_texts(source: Source) -> Source:
    """Return a source whose engine's errors are raised without their texts.

    An engine that cannot parse or cast a value quotes it.
    """

    def opened(names: Sequence[str]) -> Iterator[Any]:
        batches = _answer(lambda: source.open(names))
        while (batch := _answer(lambda: next(batches, None))) is not None:
            yield batch

    return Source(source.empty, source.names, opened, lambda: _answer(source.count))


def _answer(ask: Callable[[], Any]) -> Any:
    """Return what an engine answers; an error reveals nothing but that there was one.

    Errors of absent files and of memory are passed on.
    """
    try:
        return ask()
    except (FileNotFoundError, PermissionError, MemoryError):
        raise
    except Exception:
        pass  # outside of `except`, so that no traceback shows values
    raise RuntimeError(
        "The source of rows could not be read to its end. Its error may quote a value, "
        "so it is not shown; run the query by itself, where the rows may be seen."
    )


def _kind(X: Any) -> Callable[[Any, int], Source] | None:
    """Return the reader of a source; by type name, so that no package is imported."""
    kinds = {"Dataset": _of_dataset, "LazyFrame": _of_polars, "Relation": _of_duckdb}
    packages = {"Dataset": "pyarrow", "LazyFrame": "polars", "Relation": "duckdb"}
    for cls in type(X).__mro__:
        package = cls.__module__.partition(".")[0].strip("_")
        for name, kind in kinds.items():
            if cls.__name__.endswith(name) and package == packages[name]:
                return kind
    return None


def _of_folder(path: Path, rows: int) -> Source:
    """Read a file or folder of Parquet; a dictionary is read as its values.

    The width of its indices depends on the values of a file, and those of another may
    not fit. So it is made anew, of one width, from each batch.
    """
    require("pyarrow", extra="arrow")
    import pyarrow as pa
    from pyarrow import dataset

    as_declared = dataset.dataset(path, format="parquet")
    declared = as_declared.schema
    types = {field.name: field.type for field in declared}
    coded = {
        field.name
        for file in as_declared.get_fragments()
        for field in file.physical_schema
        if pa.types.is_dictionary(field.type)
    }
    fields = [field.with_type(_value_type(field.type)) for field in declared]
    # read as such, dictionaries keep cells that are no text; else Arrow raises for them
    options = dataset.ParquetReadOptions(dictionary_columns=coded)
    parquet = dataset.ParquetFileFormat(read_options=options)
    of_values = dataset.dataset(path, format=parquet, schema=pa.schema(fields))
    source = _of_dataset(of_values, rows)

    def opened(names: Sequence[str]) -> Iterator[Any]:
        return (_with_dictionaries(table, types) for table in source.open(names))

    return Source(declared.empty_table(), source.names, opened, source.count)


def _with_dictionaries(table: Any, types: Mapping[str, Any]) -> Any:
    """Return a table of Arrow whose columns are dictionaries where ``types`` are."""
    import pyarrow as pa

    for place, name in enumerate(table.column_names):
        if pa.types.is_dictionary(types[name]):
            made = table[name].combine_chunks().dictionary_encode()
            column = pa.DictionaryArray.from_arrays(
                made.indices, made.dictionary, ordered=types[name].ordered
            )
            table = table.set_column(place, name, column)
    return table


def _of_dataset(dataset: Any, rows: int) -> Source:
    """Read a dataset of pyarrow (Parquet and others), a few batches ahead."""
    _check_files(dataset)
    ahead = {"batch_readahead": 2, "fragment_readahead": 1}

    def opened(names: Sequence[str]) -> Iterator[Any]:
        batches = dataset.to_batches(columns=list(names), batch_size=rows, **ahead)
        return _tables(batches, rows)

    schema = dataset.schema
    return Source(schema.empty_table(), tuple(schema.names), opened, dataset.count_rows)


def _check_files(dataset: Any) -> None:
    """Raise unless every value of every file fits the types of a dataset.

    pyarrow casts the values of a file to these types, and raises for one that does not
    fit. So the types must fit, whatever the values are. Dictionaries of Parquet are
    cast even if a file is alone, and raise for cells that are no text, unless they are
    read as dictionaries.
    """
    files = _files_of(dataset)
    for file in files:
        kind = file.format.default_extname
        if kind in {"csv", "json"}:
            raise TypeError(
                "A dataset must be of Parquet or Arrow files. Got text files, whose "
                "values pyarrow parses, and fails if one does not fit. Write them as "
                "Parquet, or read them by `skdpgen fit`."
            )
        read_as = set[str]()
        if kind == "parquet":
            read_as = set(file.format.read_options.dictionary_columns)
        for stored in file.physical_schema:
            place = dataset.schema.get_field_index(stored.name)
            if place < 0:
                continue
            declared = dataset.schema.field(place).type
            is_coded = stored.type != _value_type(stored.type)
            is_cast = kind == "parquet" and is_coded and stored.name not in read_as
            is_alone = len(files) == 1 and stored.type == declared
            if is_cast or not (is_alone or _always_fits(stored.type, declared)):
                hint = " Give the folder as a Path." if is_cast else ""
                raise TypeError(
                    "Every value of the files of a dataset must fit its types. Got "
                    f"column {stored.name!r} of {stored.type} in a file, where the "
                    f"dataset has {declared}.{hint}"
                )


def _files_of(dataset: Any) -> list[Any]:
    """Return the files of a dataset, also of one with a filter."""
    if hasattr(dataset, "children"):
        return [file for child in dataset.children for file in _files_of(child)]
    if not hasattr(dataset, "files"):
        return []  # in memory
    from pyarrow import dataset as datasets

    every = datasets.dataset(
        dataset.files,
        schema=dataset.schema,
        format=dataset.format,
        filesystem=dataset.filesystem,
    )
    return list(every.get_fragments())


def _always_fits(stored: Any, declared: Any) -> bool:
    """Return whether any value of one Arrow type can be cast to another.

    The width of a dictionary's indices depends on its values, so a declared dictionary
    may be too narrow.

    Examples
    --------
    >>> import pyarrow as pa
    >>> _always_fits(pa.int32(), pa.int64()), _always_fits(pa.int64(), pa.int32())
    (True, False)
    """
    from pyarrow import types

    if types.is_dictionary(declared):
        return False
    stored = _value_type(stored)
    if stored == declared or types.is_null(stored):
        return True
    texts = types.is_string, types.is_large_string, types.is_string_view
    if all(any(is_text(t) for is_text in texts) for t in (stored, declared)):
        return True
    is_whole = types.is_integer(declared)
    if types.is_boolean(stored):
        return bool(is_whole)
    if types.is_floating(stored):
        return types.is_floating(declared) and stored.bit_width <= declared.bit_width
    if not types.is_integer(stored):
        return False
    if types.is_float64(declared):
        return bool(stored.bit_width <= EXACT_IN_DOUBLE)
    if types.is_signed_integer(stored) == types.is_signed_integer(declared):
        return bool(is_whole and stored.bit_width <= declared.bit_width)
    is_wider = types.is_unsigned_integer(stored) and is_whole
    return bool(is_wider and stored.bit_width < declared.bit_width)


def _value_type(dtype: Any) -> Any:
    """Return the type of the values of a dictionary; other types as they are."""
    from pyarrow import types

    return dtype.value_type if types.is_dictionary(dtype) else dtype


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
    """Read a query of DuckDB as Arrow; it runs again in each pass."""

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
    open_reader = (
        getattr(relation, "to_arrow_reader", None) or relation.fetch_record_batch
    )
    return open_reader(rows)


def _of_readers(open_reader: Callable[[], Any], rows: int) -> Source:
    """Read the readers that a function opens; all columns are read, then selected."""

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
    """Yield batches of Arrow as tables of at most n rows."""
    import pyarrow as pa

    for batch in batches:
        for start in range(0, batch.num_rows, rows):
            yield pa.Table.from_batches([batch.slice(start, rows)])


# ----------------------------------------------------------------------------
# Files of Arrow and Parquet that are written piece by piece.


class ArrowFile:
    """A file of Parquet, or of Arrow, to which tables of equal columns are added.

    The first table decides the types of columns.

    Parameters
    ----------
    path : str or Path
        Replaced by the first table, if it is there.
    is_parquet : bool, default=True
        Else it is a file of Arrow, which is also called feather.
    """

    def __init__(self, path: str | Path, *, is_parquet: bool = True) -> None:
        self.path, self.is_parquet = str(path), is_parquet
        self.n_rows = 0
        self._schema: Any = None
        self._writer: Any = None

    def __enter__(self) -> Self:
        """Open nothing yet."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the file; it then holds all rows that were added."""
        if self._writer is not None:
            self._writer.close()

    def add(self, sample: Any, target: str | None = None) -> None:
        """Write rows, and their labels as the last column."""
        pa = require("pyarrow", extra="arrow")
        table = as_arrow(sample, target)
        if self._writer is None:
            self._schema = table.schema
            parquet = require("pyarrow.parquet", extra="arrow")
            make = parquet.ParquetWriter if self.is_parquet else pa.ipc.new_file
            self._writer = make(self.path, self._schema)
        self._writer.write_table(table.cast(self._schema))
        self.n_rows += table.num_rows


def as_arrow(sample: Any, target: str | None = None) -> Any:
    """Return a sample as a table of Arrow, with labels as its last column.

    A column that has no value in it is text.

    Examples
    --------
    >>> X, y = pd.DataFrame({"a": [1, 2]}), pd.Series(["no", "yes"], name="b")
    >>> as_arrow((X, y)).column_names
    ['a', 'b']
    """
    pa = require("pyarrow", extra="arrow")
    X, y = sample if isinstance(sample, tuple) else (sample, None)
    if getattr(X, "ndim", 2) != 2:
        raise ValueError("A file of Parquet holds tables. Got images.")
    if isinstance(X, pa.Table):
        table = X
    elif isinstance(X, pd.DataFrame):
        table = pa.Table.from_pandas(X, preserve_index=False)
    elif hasattr(X, "columns"):
        table = nw.from_native(X, eager_only=True).to_arrow()
    else:
        columns = np.asarray(X).T
        table = pa.table(
            {f"x{j}": pa.array(column) for j, column in enumerate(columns)}
        )
    names = table.column_names
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:  # a file cannot be read by names that it has twice
        raise ValueError(
            "Names of columns must differ when they are written as text. Got "
            f"{', '.join(map(repr, twice))} twice; rename columns before the fit."
        )
    if y is not None:
        name = str(target or getattr(y, "name", None) or "target")
        if name in names:
            raise ValueError(
                "The column of labels must have a name of its own. Got "
                f"{name!r}, which is a column of X; give another as `target=...`."
            )
        table = table.append_column(name, pa.array(y, from_pandas=True))
    fields = [
        item.with_type(pa.string()) if pa.types.is_null(item.type) else item
        for item in table.schema
    ]
    return table.cast(pa.schema(fields, table.schema.metadata))


# ----------------------------------------------------------------------------
# Tables and images that are too large for memory, reopened in every pass.


class Chunks:
    """A table too large for memory: a function that reopens its chunks.

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
    def of(cls, source: Any, target: Any = None, *, rows: int = ROWS_OF_BATCH) -> Self:
        """Return the chunks of a table on disk, or of a query.

        Columns and dtypes are those that the source declares, and public. Categories in
        a declared type are not read. A pass reads only the columns that it needs.

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
        table = source_of(source, rows)
        if target is not None and target not in table.names:
            raise ValueError(
                f"The target must be a column: one of {', '.join(table.names)}. "
                f"Got {target!r} instead."
            )
        if target is not None and len(table.names) == 1:
            raise ValueError("There must be a column beside the target. Got none.")
        chunks = cls(
            lambda: (_split(batch, target) for batch in table.open(table.names))
        )
        chunks.like = _split(table.empty, target)
        chunks._source, chunks._target = table, target
        return chunks

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
        """Open the chunks, with only the named columns of X if possible."""
        if self._source is None or names is None:
            return Opened(iter(self), None)
        of_x = [name for name in self._source.names if name != self._target]
        x_names = [name for name in of_x if name in names] or of_x[:1]
        names_read = x_names if self._target is None else [*x_names, self._target]
        chunks = (
            _split(batch, self._target) for batch in self._source.open(names_read)
        )
        return Opened(chunks, x_names)

    def count(self) -> int | None:
        """Return the number of rows if the source has it without reading its rows."""
        return None if self._source is None else self._source.count()

    @property
    def has_types(self) -> bool:
        """Whether the source declares the types of its columns."""
        return self._source is not None

    @property
    def first(self) -> Any:
        """An ``(X, y)`` pair that shows columns and dtypes; None if there is none."""
        return next(iter(self), None) if self.like is None else as_pair(self.like)


@dataclass(frozen=True, eq=False)
class Opened:
    """Chunks of one pass, and their columns; None means all."""

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
