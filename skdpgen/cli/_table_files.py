"""Tables in files: read in pieces, cell by cell, and written whole.

A reader of CSV that guesses dtypes looks at all values of a column: one cell decides
what all others become, and dtypes count as public. So cells of CSV stay text, which
the private first look at text columns understands; a schema says what they are.
"""

import csv
import gzip
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import click
import pandas as pd

from skdpgen.tables import ArrowFile

ROWS = 65_536  # of a piece
TEXT = (".csv", ".tsv", ".txt")
PARQUET = (".parquet", ".pq")
ARROW = (".arrow", ".feather", ".ipc")
READ = (*TEXT, *PARQUET, *ARROW, ".npz")
MARKS = {".tsv": "\t"}
UNKNOWN = "{path} must be one of {known}{more}. Got {suffix!r}; rename or convert it."


@dataclass(frozen=True)
class TableFile:
    """A file of rows: its columns, and its pieces as often as wanted."""

    path: Path
    separator: str | None = None
    missing: Sequence[str] = ()

    def __post_init__(self) -> None:
        """Raise if the file is of no kind that is known."""
        if kind_of(self.path) not in READ:
            raise click.UsageError(
                UNKNOWN.format(
                    path=self.path,
                    known=", ".join(READ),
                    more=" (or .csv.gz)",
                    suffix=kind_of(self.path),
                )
            )

    @property
    def is_text(self) -> bool:
        """Whether its cells have no dtypes."""
        return kind_of(self.path) in TEXT

    @property
    def columns(self) -> list[str]:
        """Names, from the header alone."""
        if not self.is_text:
            return list(next(iter(self.pieces(0))).columns)
        opened = gzip.open if self.path.suffix == ".gz" else open
        with opened(self.path, "rt", encoding="utf-8-sig", newline="") as file:
            names = next(csv.reader(file, delimiter=self._mark), [])
        if not names:
            raise click.UsageError(f"{self.path} must begin with names. It is empty.")
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise click.UsageError(
                f"Names in {self.path} must differ. Got {', '.join(twice)} twice."
            )
        return names

    @property
    def _mark(self) -> str:
        return self.separator or MARKS.get(kind_of(self.path), ",")

    def pieces(self, rows: int = ROWS) -> Iterator[pd.DataFrame]:
        """Yield tables of up to so many rows; 0 yields one without rows."""
        kind = kind_of(self.path)
        if kind in TEXT:
            yield from self._pieces_of_text(rows)
        elif kind == ".npz":
            raise click.UsageError(f"{self.path} holds images; they are no table.")
        else:
            yield from _pieces_of_arrow(self.path, kind, rows)

    def _pieces_of_text(self, rows: int) -> Iterator[pd.DataFrame]:
        options = {
            "sep": self._mark,
            "dtype": str,
            "keep_default_na": False,
            "na_values": ["", *self.missing],
            "encoding": "utf-8-sig",
            "index_col": False,
        }
        if not rows:
            yield pd.read_csv(self.path, nrows=0, **options)
            return
        try:
            with pd.read_csv(self.path, chunksize=rows, **options) as reader:
                yield from reader
        except (pd.errors.ParserError, UnicodeDecodeError):
            raise click.ClickException(
                f"{self.path} is no table of text in UTF-8 with {self._mark!r} between "
                "cells, as many in each row. Say --separator, or mend the file."
            ) from None


def kind_of(path: Path) -> str:
    """Return the ending that tells what is in a file.

    Examples
    --------
    >>> kind_of(Path("people.CSV.gz")), kind_of(Path("people.parquet"))
    ('.csv', '.parquet')
    """
    name = path.name.lower().removesuffix(".gz")
    return Path(name).suffix


def _pieces_of_arrow(path: Path, kind: str, rows: int) -> Iterator[pd.DataFrame]:
    if kind in PARQUET:
        import pyarrow.parquet as parquet

        with parquet.ParquetFile(path) as file:
            if not rows:
                yield file.schema_arrow.empty_table().to_pandas()
                return
            for batch in file.iter_batches(rows):
                yield batch.to_pandas()
        return
    import pyarrow as arrow

    with arrow.memory_map(str(path)) as source, arrow.ipc.open_file(source) as file:
        if not rows:
            yield file.schema.empty_table().to_pandas()
            return
        for i in range(file.num_record_batches):
            yield file.get_batch(i).to_pandas()


class TableWriter:
    """A file to which rows are added, as its ending says."""

    def __init__(self, path: Path, separator: str = ",") -> None:
        self.path, self.n_rows, kind = path, 0, kind_of(path)
        self._separator = MARKS.get(kind, separator) if kind in TEXT else None
        self._file = ArrowFile(path, is_parquet=kind in PARQUET)

    def __enter__(self) -> Self:
        """Return the file."""
        return self

    def __exit__(self, *error: Any) -> None:
        """Close the file."""
        self._file.__exit__(*error)

    def add(self, table: pd.DataFrame) -> None:
        """Write rows; of text the first time with names."""
        if self._separator is None:
            self._file.add(table)
        else:
            how: Any = {"mode": "a", "header": False} if self.n_rows else {}
            table.to_csv(self.path, index=False, sep=self._separator, **how)
        self.n_rows += len(table)


def check_writable(path: Path, *, images: bool = False) -> None:
    """Raise if rows cannot be written there: before any work."""
    known = [".npz"] if images else [*TEXT, *PARQUET, *ARROW]
    if kind_of(path) not in known:
        raise click.UsageError(
            UNKNOWN.format(
                path=path, known=", ".join(known), more="", suffix=kind_of(path)
            )
        )
    if not path.absolute().parent.is_dir():
        raise click.UsageError(f"There is no folder {path.absolute().parent}.")
