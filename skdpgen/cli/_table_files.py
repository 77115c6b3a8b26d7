"""Tables in files: read in pieces, cell by cell, and written whole.

A reader of CSV that guesses dtypes reads all values of a column: one cell decides
what all others become, and dtypes count as public. So cells of CSV stay text, which
the private release of types of text understands; a schema says what they are. Files
of Arrow and Parquet keep the types that they declare.
"""

import sys
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

import click
import numpy as np
import pandas as pd
from numpy.lib import format as npy
from numpy.typing import NDArray

from skdpgen.cli._text_records import SAVE_AS_CSV, Dialect, Records, table_of
from skdpgen.tables import ArrowFile, Chunks
from skdpgen.utils import (
    Frame,
)

ROWS_OF_PIECE = 65_536
TEXT_ENDINGS = (".csv", ".tsv", ".txt")
PARQUET = (".parquet", ".pq")
ARROW = (".arrow", ".feather", ".ipc")
READ_ENDINGS = (*TEXT_ENDINGS, *PARQUET, *ARROW, ".npz")
MARKS = {".tsv": "\t"}
WORKBOOKS = (".xlsx", ".xls", ".xlsm", ".xlsb", ".ods", ".numbers")
SAVE_AS_NPZ = "Save images by `np.savez_compressed('images.npz', x=images, y=labels)`."
BEGINNINGS = dict.fromkeys(PARQUET, b"PAR1") | dict.fromkeys(ARROW, b"ARROW1")
UNKNOWN = "{path} must be one of {known}{more}. Got {suffix!r}; rename or convert it."
# as they are typed; a header with one name may be cut by another than it has
SEPARATORS = {";": "';'", "\t": r"'\t'", "|": "'|'", ",": "','"}
NO_DECIMAL = "--decimal must be a point or a comma, and not the separator. Got {!r}."
# with a comma before decimals: 1.234,50 and 1.234 and 0,5; dates are none of them
COMMA_NUMBER = r"\s*[+-]?(?:\d{1,3}(?:\.\d{3})+|\d+)(?:,\d+)?(?:[eE][+-]?\d+)?\s*"


@dataclass(frozen=True)
class TableFile:
    """A file of rows: its columns, and its pieces as often as wanted.

    Parameters
    ----------
    path : Path
    separator : str or None, default=None
        Between cells of text. None is a comma, or a tab in ``.tsv``.
    decimal : {".", ","}, default="."
        Before decimals. Numbers with a comma there are read as if it were a point.
    encoding : str or None, default=None
    multiline : bool, default=False
        As :class:`Dialect` takes them.
    missing : sequence of str, default=()
        Texts that mean that a cell is missing, besides an empty one.
    """

    path: Path
    separator: str | None = None
    decimal: str = "."
    encoding: str | None = None
    multiline: bool = False
    missing: Sequence[str] = ()

    def __post_init__(self) -> None:
        """Raise if the file is of no kind that is known, or cannot be split so."""
        kind = kind_of(self.path)
        if kind in WORKBOOKS:
            raise click.UsageError(f"{self.path} is a workbook. {SAVE_AS_CSV}")
        if kind == ".npy":
            raise click.UsageError(f"{self.path} must be an .npz. {SAVE_AS_NPZ}")
        if kind not in READ_ENDINGS:
            raise click.UsageError(
                UNKNOWN.format(
                    path=self.path,
                    known=", ".join(READ_ENDINGS),
                    more=" (or .csv.gz)",
                    suffix=kind,
                )
            )
        mark = self._records.dialect.separator  # its parameters are checked
        if self.decimal not in (".", ",") or self.decimal == mark:
            raise click.UsageError(NO_DECIMAL.format(self.decimal))

    @property
    def is_text(self) -> bool:
        """Whether its cells have no dtypes."""
        return kind_of(self.path) in TEXT_ENDINGS

    @property
    def columns(self) -> list[str]:
        """Names, from the header alone."""
        if not self.is_text:
            return list(next(iter(self.pieces(0))).columns)
        names = self._records.names()
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise click.UsageError(
                f"Names in {self.path} must differ. Got {', '.join(twice)} twice; "
                "rename one of them in its first line."
            )
        own = self._records.dialect.separator
        others = [mark for mark in SEPARATORS if mark in names[0] and mark != own]
        if len(names) == 1 and others and self.separator is None:
            here, other = SEPARATORS[own], SEPARATORS[others[0]]
            raise click.UsageError(
                f"The first line of {self.path} holds no {here} between names, but "
                f"{other}. Say --separator {other}, or --separator {here} if the file "
                "has one column."
            )
        return names

    @property
    def _records(self) -> Records:
        mark = self.separator
        if mark is None:
            mark = MARKS.get(kind_of(self.path), ",")
        mark = "\t" if mark == "\\t" else mark
        return Records(self.path, Dialect(mark, self.encoding, self.multiline))

    def pieces(self, rows: int = ROWS_OF_PIECE) -> Iterator[pd.DataFrame]:
        """Yield tables of at most ``rows`` rows; 0 yields one without rows."""
        kind = kind_of(self.path)
        if kind in TEXT_ENDINGS:
            yield from self._pieces_of_text(rows)
        elif kind == ".npz":
            raise click.UsageError(f"{self.path} holds images; they are no table.")
        else:
            yield from _pieces_of_arrow(self.path, kind, rows)

    def _pieces_of_text(self, rows: int) -> Iterator[pd.DataFrame]:
        names, dialect = self.columns, self._records.dialect
        pieces = self._records.pieces(rows) if rows else [[]]
        for records in pieces:
            table = table_of(records, names, dialect, self.missing)
            yield table if self.decimal == "." else table.apply(_with_points)


def _with_points(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """Return text in which numbers have a decimal point; each cell by itself.

    Examples
    --------
    >>> cells = pd.Series(["1.234,50", "0,5", "1.234", "2.50", "01.02.2024"], dtype=str)
    >>> _with_points(cells).tolist()
    ['1234.50', '0.5', '1234', '2.50', '01.02.2024']
    """
    is_number = column.str.fullmatch(COMMA_NUMBER).fillna(False).astype(bool)
    plain = column.str.replace(".", "").str.replace(",", ".")
    return column.mask(is_number, plain)


def kind_of(path: Path) -> str:
    """Return the ending of a file name, which defines its format.

    Examples
    --------
    >>> kind_of(Path("people.CSV.gz")), kind_of(Path("people.parquet"))
    ('.csv', '.parquet')
    """
    name = path.name.lower().removesuffix(".gz")
    return Path(name).suffix


def _pieces_of_arrow(path: Path, kind: str, rows: int) -> Iterator[pd.DataFrame]:
    import pyarrow as arrow

    with path.open("rb") as file:
        beginning = file.read(len(BEGINNINGS[kind]))
    if beginning != BEGINNINGS[kind]:
        raise click.UsageError(
            f"{path} is no {'Parquet' if kind in PARQUET else 'Arrow'} file, whatever "
            "its name says. Write it again, or give it the ending of what it is."
        )
    if kind in PARQUET:
        import pyarrow.parquet as parquet

        # read as such, a dictionary has indices of one width, and keeps cells that are
        # no text, which are missing below; else Arrow raises for them
        schema = parquet.read_schema(path)
        coded = [f.name for f in schema if arrow.types.is_dictionary(f.type)]
        with parquet.ParquetFile(path, read_dictionary=coded) as file:
            if not rows:
                yield _with_arrow_types(file.schema_arrow.empty_table())
                return
            for batch in file.iter_batches(rows):
                yield _with_arrow_types(arrow.Table.from_batches([batch]))
        return
    with arrow.memory_map(str(path)) as source, arrow.ipc.open_file(source) as file:
        if not rows:
            yield _with_arrow_types(file.schema.empty_table())
            return
        for i in range(file.num_record_batches):
            yield _with_arrow_types(arrow.Table.from_batches([file.get_batch(i)]))


def _with_arrow_types(table: Any) -> pd.DataFrame:
    """Return a table of Arrow with the types that its file declares.

    The usual conversion to pandas reads values: one missing cell turns a column of
    truth values into objects in this piece and not in others. What a file declares as
    text need not be text; such cells are missing.
    """
    import pyarrow as arrow

    columns = [_with_valid_text(column) for column in table.columns]
    made = arrow.Table.from_arrays(columns, names=table.column_names)
    return made.to_pandas(types_mapper=pd.ArrowDtype)


def _with_valid_text(column: Any) -> Any:
    """Return a column whose cells are missing where the bytes of text are none."""
    import pyarrow as arrow
    from pyarrow import types

    is_listed = types.is_dictionary(column.type)
    kind = column.type.value_type if is_listed else column.type
    if not (types.is_string(kind) or types.is_large_string(kind)):
        return column
    try:
        column.validate(full=True)
    except arrow.ArrowInvalid:
        cells = column.cast(kind) if is_listed else column
        as_bytes = cells.cast(arrow.large_binary()).to_pylist()
        return arrow.chunked_array([arrow.array(map(_text, as_bytes), column.type)])
    return column


def _text(content: bytes | None) -> str | None:
    try:
        return None if content is None else content.decode()
    except UnicodeDecodeError:
        return None


class TableWriter:
    """A file to which rows are added, in the format of its ending; ``-`` prints CSV."""

    def __init__(self, path: Path, separator: str = ",") -> None:
        self.path, self.n_rows = path, 0
        kind = ".csv" if str(path) == "-" else kind_of(path)
        self._separator = MARKS.get(kind, separator) if kind in TEXT_ENDINGS else None
        self._file = ArrowFile(path, is_parquet=kind in PARQUET)

    def __enter__(self) -> Self:
        """Return the file."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the file."""
        self._file.__exit__(kind, error, trace)

    def add(self, table: pd.DataFrame) -> None:
        """Write rows; of text the first time with names."""
        if self._separator is None:
            self._file.add(_without_pandas(table))
        else:
            is_first = not self.n_rows
            is_printed = str(self.path) == "-"
            table.to_csv(
                sys.stdout if is_printed else self.path,
                index=False,
                sep=self._separator,
                mode="w" if is_first else "a",
                header=is_first,
            )
        self.n_rows += len(table)


def _without_pandas(table: pd.DataFrame) -> Frame:
    """Return a table of Arrow whose types are its own, not notes for pandas.

    pandas cannot read its own note on a column of Arrow's dictionaries.
    """
    if not any(isinstance(dtype, pd.ArrowDtype) for dtype in table.dtypes):
        return table
    import pyarrow as arrow

    arrow_table = arrow.Table.from_pandas(table, preserve_index=False)
    return arrow_table.replace_schema_metadata(None)


def check_writable(path: Path, *, images: bool = False) -> None:
    """Raise if rows cannot be written there: before any work."""
    if str(path) == "-" and not images:
        return
    endings = [".npz"] if images else [*TEXT_ENDINGS, *PARQUET, *ARROW]
    if kind_of(path) not in endings:
        raise click.UsageError(
            UNKNOWN.format(
                path=path, known=", ".join(endings), more="", suffix=kind_of(path)
            )
        )


# ----------------------------------------------------------------------------
# Images in an `.npz`: arrays in a zip, read a few rows at a time.

Array = NDArray[Any]
BYTES_OF_PIECE = 2**24  # of images


@dataclass(frozen=True)
class StoredArray:
    """An array inside a zip file: its header, and its rows in order."""

    path: Path
    member: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @classmethod
    def of(cls, path: Path, name: str) -> "StoredArray":
        """Read the head; nothing of the rows decides anything yet."""
        member = f"{name}.npy"
        with zipfile.ZipFile(path) as file, file.open(member) as stream:
            shape, is_fortran, dtype = _head(stream)
        if is_fortran or dtype.hasobject or not shape:
            raise click.UsageError(
                f"{name} in {path} must be a plain array with a row for each image. "
                f"Save it as `np.ascontiguousarray({name})`."
            )
        return cls(path, member, shape, dtype)

    @contextmanager
    def opened(self) -> Iterator[Callable[[int], Array]]:
        """Yield a function that reads a number of further rows, at most all."""
        with zipfile.ZipFile(self.path) as file, file.open(self.member) as stream:
            _head(stream)  # leaves the stream at the first row
            # bytes of a row
            size = int(np.prod(self.shape[1:], dtype=np.int64)) * self.dtype.itemsize

            def more(n_rows: int) -> Array:
                content = stream.read(n_rows * size)
                rows = _readable(np.frombuffer(content, self.dtype))
                return rows.reshape(-1, *self.shape[1:])

            yield more


def _readable(rows: Array) -> Array:
    """Return rows; a text that holds what is no character is empty, and never raises.

    Each text is judged independently of the others.
    """
    if rows.dtype.kind != "U" or not rows.dtype.itemsize:
        return rows
    unit = np.dtype(np.uint32).newbyteorder(rows.dtype.byteorder)
    codes = rows.view(unit).reshape(len(rows), -1).copy()
    is_half = (codes >= 0xD800) & (codes < 0xE000)  # of a pair, which is no character
    codes[((codes > 0x10FFFF) | is_half).any(axis=1)] = 0
    return codes.view(rows.dtype).reshape(-1)


def image_chunks(path: Path) -> Chunks:
    """Return images, and labels if there are any, of an ``.npz`` as `Chunks`.

    The file has ``x`` (or ``x_train``) and, if it likes, ``y``. It may be compressed.
    """
    parts = _parts(path, "train")

    def opened() -> Iterator[Array | tuple[Array, ...]]:
        return (piece if len(piece) == 2 else piece[0] for piece in _pieces(parts))

    like = tuple(np.empty((0, *part.shape[1:]), part.dtype) for part in parts)
    return Chunks(opened, like=like if len(like) == 2 else like[0])


def some_images(
    path: Path, part: str, *, most: int, is_labelled: bool
) -> Array | tuple[Array, ...]:
    """Return at most ``most`` random images, and their labels if needed.

    Parameters
    ----------
    path : Path
        An ``.npz``.
    part : {"train", "test"}
        Which of ``x_train`` and ``x_test`` is meant if both are there.
    most : int
    is_labelled : bool
        Whether labels are needed.
    """
    parts = _parts(path, part)
    if is_labelled and len(parts) < 2:
        raise click.UsageError(
            f"{path} must hold labels y beside its images, as the fit had them."
        )
    n_rows = parts[0].shape[0]
    wanted = np.zeros(n_rows, dtype=bool)
    wanted[np.random.default_rng(0).permutation(n_rows)[:most]] = True  # public seed
    kept_rows: list[list[Array]] = [[] for _ in parts]  # of images, and of labels
    start = 0
    for piece in _pieces(parts):
        here = wanted[start : start + len(piece[0])]
        start += len(here)
        for kept, rows in zip(kept_rows, piece, strict=True):
            kept.append(rows[here])
    arrays = tuple(np.concatenate(kept) for kept in kept_rows)
    return arrays if is_labelled else arrays[0]


def _pieces(parts: list[StoredArray]) -> Iterator[tuple[Array, ...]]:
    """Yield some megabytes of images at a time, and their labels if there are any."""
    images = parts[0]
    n_bytes = int(np.prod(images.shape[1:], dtype=np.int64)) * images.dtype.itemsize
    n_rows = max(BYTES_OF_PIECE // max(n_bytes, 1), 1)
    with ExitStack() as stack:
        more = [stack.enter_context(part.opened()) for part in parts]
        for start in range(0, images.shape[0], n_rows):
            n = min(n_rows, images.shape[0] - start)
            yield tuple(read(n) for read in more)


def _parts(path: Path, part: str) -> list[StoredArray]:
    if not zipfile.is_zipfile(path):
        raise click.UsageError(f"{path} is no .npz file. {SAVE_AS_NPZ}")
    with np.load(path, allow_pickle=False) as file:
        names = {name.lower(): name for name in file}
    # a file may hold both parts, each under names of its own
    choices = [[f"{array}_{part}", array] for array in ("x", "y")]
    chosen = [next((names[k] for k in keys if k in names), None) for keys in choices]
    if chosen[0] is None:
        raise click.UsageError(
            f"{path} must hold an array x (or x_{part}) of images, and may hold y. "
            f"Got {', '.join(names) or 'nothing'}."
        )
    parts = [StoredArray.of(path, name) for name in chosen if name is not None]
    lengths = [part.shape[0] for part in parts]
    if len(set(lengths)) > 1:
        raise click.UsageError(
            f"x and y in {path} must have as many rows. Got {lengths[0]} and "
            f"{lengths[1]}."
        )
    return parts


def _head(stream: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Read what stands before the rows; raise if it is no array."""
    version = npy.read_magic(stream)
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    return read(stream)
