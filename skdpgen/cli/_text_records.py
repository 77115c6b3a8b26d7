"""Records of a text file: each line is read independently of others, and none raises.

**What a record is.** A record is a line. The header line, with the byte-order mark
before it and the line break after it, is public; it says how all lines end. A quote
that is open at the end of a line closes there, so it cannot swallow the lines after it.
A line break at the end of the file ends the last record and begins no other.

**Why one record decides about one row only.** The places at which the text is cut
depend on line breaks alone, and no record has one inside. Bytes that are no text become
NUL, and no codec that is allowed takes a line break for a part of them. The cells of a
record are computed by :meth:`Dialect.cells` from this record and from parameters, and
each record gives exactly one row. So replacing a record replaces one row, and adding or
removing a record adds or removes one row; ``tests/cli/test_text_records.py`` proves it
by brute force. Two limits: in UTF-16 a record is a whole number of 16-bit units; and
an empty last record without a line break is no record, because the file has the same
bytes as one that ends before it.

With ``is_multiline`` quoted cells may hold line breaks, and a record ends at the first
line break with an even number of quotes before it. That parameter states, publicly,
that the program that wrote the file closed all its quotes. Then the same holds.
"""

import codecs
import gzip
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

import click
import pandas as pd

from skdpgen.tables import (
    EPOCH,
    Boolean,
    Categorical,
    Column,
    Integer,
    Numeric,
    Ordinal,
    Schema,
    form_of_column,
    read_number,
    read_time,
)
from skdpgen.utils import (
    Synthesizer,
)

# ----------------------------------------------------------------------------
# A schema for cells of text, and synthetic text converted back to numbers.

NUMBERS = (Numeric, Integer)


def schema_of_text(schema: Schema) -> Schema:
    """Return the schema of the same columns if all cells are text.

    Numbers are to be read from text, and categories are texts: a matter of the file,
    not of the rows.

    Examples
    --------
    >>> schema = Schema({"age": Integer(0, 120), "a": Categorical([1])})
    >>> of_text = schema_of_text(schema).columns
    >>> of_text["age"].parse, of_text["a"].categories
    (True, ('1',))
    """
    columns = {name: _of_text(column) for name, column in schema.columns.items()}
    target = schema.target
    if isinstance(target, Categorical):
        target = _of_text(target)
    return replace(schema, columns=columns, target=target)


def _of_text(column: Column) -> Column:
    if isinstance(column, NUMBERS):
        return replace(column, parse=True)
    if isinstance(column, Categorical | Ordinal):
        if column.categories is None:
            return column
        other = None if column.other is None else str(column.other)
        return replace(
            column, categories=list(map(str, column.categories)), other=other
        )
    return column


def target_of_text(target: pd.Series, schema: Schema, task: str) -> pd.Series:
    """Return the target with its type: numbers, truth values, or text.

    Each cell is read independently of others; text that is no number is missing.
    """
    if isinstance(schema.target, Boolean):
        meanings = {"true": True, "1": True, "yes": True}
        meanings |= {"false": False, "0": False, "no": False}
        return target.str.strip().str.lower().map(meanings).astype("boolean")
    if isinstance(schema.target, NUMBERS) or task == "regression":
        return _numbers(target)
    return target


def typed(rows: Any, synthesizer: Synthesizer) -> Any:
    """Return rows, synthetic or real, with numbers and times where there is text.

    Each cell is read as the type that the fit gave to its column.
    """
    if isinstance(rows, tuple):
        X, y = rows
        y = pd.Series(y).reset_index(drop=True)
        if synthesizer.task_ == "regression" and _is_text(y):
            y = _numbers(y)
        elif synthesizer.task_ == "classification":
            y = y.astype(str)
        return typed(X, synthesizer), y
    table = rows.copy()
    for name, kind in synthesizer.columns_["type"].items():
        if name not in table or not _is_text(table[name]):
            continue
        described = synthesizer.schema_.columns.get(name)
        if kind in ("Numeric", "Integer"):
            read = read_number if described is None else form_of_column(described).read
            table[name] = _numbers(table[name], read)
        elif kind == "Datetime":
            table[name] = _times(table[name], getattr(described, "format", None))
    return table


def _times(column: pd.Series, form: str | None) -> pd.Series:
    """Read times as a fit reads them, which knows other forms than pandas does."""
    if form is not None:
        # each distinct text is read once
        seconds = {
            text: read_time(str(text), form) for text in column.dropna().unique()
        }
        since = pd.to_timedelta(column.map(seconds).astype(float), unit="s")
        return EPOCH + since
    # in UTC, because the cells of a column may have several offsets
    times = pd.to_datetime(column, errors="coerce", format="ISO8601", utc=True)
    return times.dt.tz_localize(None)


def _numbers(
    column: pd.Series, read: Callable[[str], float] = read_number
) -> pd.Series:
    """Read numbers as a fit reads them, which knows 1,234.50, too."""
    numbers = {text: read(str(text)) for text in column.dropna().unique()}
    return column.map(numbers).astype(float)


def _is_text(column: pd.Series) -> bool:
    return column.dtype == object or pd.api.types.is_string_dtype(column.dtype)


# ----------------------------------------------------------------------------
# Records of a text file: each line is read independently of others, and none raises.

Cell = str | None  # None is missing

BYTES_AT_ONCE = 2**20
LONGEST_RECORD = 2**24  # characters; cells of a longer one are missing
UNREADABLE = "\0"  # stands for bytes that are no text
QUOTE = '"'
FAST_SEPARATORS = ",;\t|:"  # that pandas takes for themselves
ODD = re.compile('["\0\r\n\ufeff]')
BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}  # the byte-order mark of UTF-32 begins with one of these, and its header has NUL
ERRORS = "skdpgen-unreadable"
ESCAPES = rb"\u000a\U0000000a\N{LINE FEED}\x0a\012\n"  # of a line break, in ASCII
WORKBOOKS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")  # .xlsx and .ods, and .xls
SAVE_AS_CSV = "Save the sheet as CSV (in Excel: CSV UTF-8), and name that file."


def _unreadable(error: UnicodeError) -> tuple[str, int]:
    """Put NUL in the place of bytes that are no text."""
    assert isinstance(error, UnicodeDecodeError)
    return UNREADABLE, error.end


codecs.register_error(ERRORS, _unreadable)


@dataclass(frozen=True)
class Dialect:
    """How the lines of a text file are written: all of it is public.

    Parameters
    ----------
    separator : str, default=","
        One character between cells.
    encoding : str or None, default=None
        None takes the one that the byte-order mark names, else UTF-8.
    is_multiline : bool, default=False
        Whether quoted cells may hold line breaks.

    Examples
    --------
    >>> Dialect().cells('1,"a ""b"", c",x', 3)
    ['1', 'a "b", c', 'x']
    >>> Dialect().cells('1,"never closed,x', 3)
    ['1', None, None]
    >>> Dialect().cells("an,unquoted,comma,too,many", 3)
    [None, None, None]
    """

    separator: str = ","
    encoding: str | None = None
    is_multiline: bool = False

    def __post_init__(self) -> None:
        """Raise if the separator or the encoding cannot be one."""
        if len(self.separator) != 1 or self.separator in f"{QUOTE}{UNREADABLE}\r\n":
            raise click.UsageError(
                "--separator must be one character, and no quote or line break. "
                f"Got {self.separator!r}."
            )
        if self.encoding is not None:
            check_encoding(self.encoding)

    def cells(self, record: str, n_columns: int) -> list[Cell]:
        """Return the cells of a record; those that cannot be read are missing.

        If there are too few, the rest is missing. If there are too many, all are
        missing, because nobody knows which belongs where; empty cells at the end are
        not counted then.
        """
        cells = self.split(record)
        while len(cells) > n_columns and cells[-1] == "":
            cells.pop()
        if len(cells) > n_columns:
            return [None] * n_columns
        if UNREADABLE in record:
            cells = [None if cell and UNREADABLE in cell else cell for cell in cells]
        return cells + [None] * (n_columns - len(cells))

    def split(self, record: str) -> list[Cell]:
        """Cut a record into cells; one whose quote is never closed is None.

        A cell is quoted if it begins with a quote; two quotes inside are one. What
        stands between the closing quote and the separator is part of the cell.
        """
        if QUOTE not in record:
            return list(record.split(self.separator))
        cells: list[Cell] = []
        place = 0
        while True:  # a cell each time
            text = ""
            if record.startswith(QUOTE, place):
                text, place = _quoted(record, place + 1)
                if place < 0:
                    return [*cells, None]  # all up to the end is inside the quote
            end = record.find(self.separator, place)
            if end < 0:
                return [*cells, text + record[place:]]
            cells.append(text + record[place:end])
            place = end + 1


def table_of(
    records: Sequence[str],
    names: Sequence[str],
    dialect: Dialect,
    missing: Sequence[str] = (),
) -> pd.DataFrame:
    """Return a table of text with the cells of each record, as ``dialect`` cuts them.

    pandas cuts them, which is fast. It gets each record that is well-formed as it is,
    and of every other record the cells in quotes; those it reads as they are, so it
    never sees a record that it would refuse, cut in another way or join to the next.

    Parameters
    ----------
    records : sequence of str
    names : sequence of str
    dialect : Dialect
    missing : sequence of str, default=()
        Texts that mean that a cell is missing, besides an empty one.
    """
    n_columns, separator = len(names), dialect.separator
    n_separators = n_columns - 1
    if separator not in FAST_SEPARATORS:  # all cells are quoted for pandas
        n_separators, separator = -1, ","
    well_formed = _well_formed(separator, n_separators).fullmatch
    lines = []
    for record in records:
        is_plain = record.count(separator) == n_separators and not ODD.search(record)
        if is_plain or (n_separators >= 0 and well_formed(record)):
            lines.append(record)
        else:
            cells = (cell or "" for cell in dialect.cells(record, n_columns))
            quoted = (cell.replace(QUOTE, 2 * QUOTE) for cell in cells)
            lines.append(QUOTE + f"{QUOTE}{separator}{QUOTE}".join(quoted) + QUOTE)
    lines.append("")  # so that the last line ends, too
    return pd.read_csv(
        BytesIO("\n".join(lines).encode()),
        sep=separator,
        header=None,
        names=list(names),
        index_col=False,
        dtype=str,
        keep_default_na=False,
        na_values=["", *missing],
        skip_blank_lines=False,
        low_memory=False,
    )


@cache
def _well_formed(separator: str, n_separators: int) -> re.Pattern[str]:
    """Match records with all their cells, quoted by RFC 4180, and without NUL."""
    mark = re.escape(separator)
    cell = rf'(?:"(?:[^"\0]++|"")*+"|[^"\0\r\n{mark}]*+)'
    return re.compile(rf"(?!\ufeff){cell}(?:{mark}{cell}){{{max(n_separators, 0)}}}")


def _quoted(record: str, start: int) -> tuple[str, int]:
    """Return the text up to the closing quote, and the place behind it or -1."""
    parts = []
    while (end := record.find(QUOTE, start)) >= 0:
        parts.append(record[start:end])
        if not record.startswith(QUOTE, end + 1):
            return QUOTE.join(parts), end + 1
        start = end + 2  # two quotes are one, and the cell goes on
    return "", -1


@cache
def check_encoding(name: str) -> None:
    """Raise unless line breaks can be found in this encoding whatever cells hold.

    UTF-8 and UTF-16 are allowed, and encodings that read each byte independently of
    the others, with ASCII as it is.

    Examples
    --------
    >>> check_encoding("latin-1")
    >>> check_encoding("shift_jis")
    Traceback (most recent call last):
      ...
    click.exceptions.UsageError: --encoding must be utf-8, utf-16, or one with a byte \
for each character, as cp1252. Got 'shift_jis'; convert the file to UTF-8.
    """
    try:
        if _canonical(name).startswith(("utf-8", "utf-16")):
            return
        characters = [bytes([i]).decode(name, ERRORS) for i in range(256)]
        is_ascii = characters[:128] == [chr(i) for i in range(128)]
        # no byte may take the next one for a part of its character, and no escape of
        # ASCII may stand for a line break
        is_ascii = is_ascii and ESCAPES.decode(name, ERRORS).encode() == ESCAPES
        if is_ascii and all(
            bytes([i, j]).decode(name, ERRORS) == characters[i] + characters[j]
            for i in range(128, 256)
            for j in range(256)
        ):
            return
    except (LookupError, ValueError, UnicodeError):
        pass
    raise click.UsageError(
        "--encoding must be utf-8, utf-16, or one with a byte for each character, as "
        f"cp1252. Got {name!r}; convert the file to UTF-8."
    )


def _canonical(name: str) -> str:
    return codecs.lookup(name).name


@dataclass(frozen=True)
class Records:
    """The records of a text file, as often as wanted.

    Parameters
    ----------
    path : Path
        May end in ``.gz``.
    dialect : Dialect
    """

    path: Path
    dialect: Dialect

    def names(self) -> list[str]:
        """Return the names in the header; raise if it cannot be read."""
        header = next(self._records(), [""])[0]
        if UNREADABLE in header:
            with self.path.open("rb") as file:
                beginning = file.read(4)
            if beginning in WORKBOOKS:
                raise click.UsageError(
                    f"{self.path} is a workbook or an archive, whatever its name says. "
                    f"{SAVE_AS_CSV}"
                )
            raise click.UsageError(
                f"The header of {self.path} cannot be read as "
                f"{self.dialect.encoding or 'UTF-8'}. Say how the file is written: "
                "--encoding cp1252 (Excel in Western Europe), --encoding utf-16, ..."
            )
        if not header:
            raise click.UsageError(f"{self.path} must begin with names. It is empty.")
        names = []
        for i, name in enumerate(self.dialect.split(header)):
            if name is None:
                raise click.UsageError(
                    f"The header of {self.path} must close each quote that it opens, "
                    "in one line."
                )
            names.append(name or f"Unnamed: {i}")
        return names

    def pieces(self, n_rows: int) -> Iterator[list[str]]:
        """Yield up to ``n_rows`` records at a time, without the header."""
        records = self._records()
        piece = next(records, [])[1:]  # the header is the first record
        for block in records:
            piece += block
            while len(piece) > n_rows:
                yield piece[:n_rows]
                piece = piece[n_rows:]
        while len(piece) > n_rows:
            yield piece[:n_rows]
            piece = piece[n_rows:]
        yield piece

    def _records(self) -> Iterator[list[str]]:
        """Yield some records at a time, the header first of all."""
        lines = self._lines()
        if not self.dialect.is_multiline:
            yield from ([_stripped(line) for line in block] for block in lines)
            return
        is_open, size, parts = False, 0, []
        for block in lines:
            records = []
            for line in block:
                parts.append(line)
                size += len(line)
                is_open ^= line.count(QUOTE) % 2 == 1  # an odd number opens or closes
                if not is_open or size > LONGEST_RECORD:
                    record = "\n".join(parts) if size <= LONGEST_RECORD else UNREADABLE
                    records.append(_stripped(record))
                    is_open, size, parts = False, 0, []
            if records:
                yield records
        if parts:
            yield [_stripped("\n".join(parts))]

    def _lines(self) -> Iterator[list[str]]:
        """Yield some lines at a time, without what ends them."""
        end, rest = "", ""
        for text in self._texts():
            rest += text
            end = end or _line_end(rest)
            # the last line may go on in the next block
            *lines, rest = rest.split(end) if end else [rest]
            if lines:
                yield [
                    UNREADABLE if len(line) > LONGEST_RECORD else line for line in lines
                ]
            if len(rest) > LONGEST_RECORD:
                rest = rest[: LONGEST_RECORD + 1]  # it is too long, whatever follows
        if rest:
            yield [UNREADABLE if len(rest) > LONGEST_RECORD else rest]

    def _texts(self) -> Iterator[str]:
        """Yield the text of some bytes at a time, NUL where they are no text."""
        is_packed = self.path.name.lower().endswith(".gz")
        with gzip.open(self.path) if is_packed else self.path.open("rb") as file:
            content = file.read(max(BYTES_AT_ONCE, 4))  # a mark has up to four bytes
            mark = next(
                (mark for mark in BYTE_ORDER_MARKS if content.startswith(mark)), b""
            )
            encoding = _canonical(
                self.dialect.encoding or BYTE_ORDER_MARKS.get(mark, "utf-8")
            )
            if encoding.startswith("utf-"):  # in others these bytes are characters
                content = content[len(mark) :]
            if encoding == "utf-16":  # the byte order is in the mark, or the usual one
                encoding = BYTE_ORDER_MARKS.get(mark, "utf-16-le")
            decoder = codecs.getincrementaldecoder(encoding)(ERRORS)
            yield decoder.decode(content)
            while content := file.read(BYTES_AT_ONCE):
                yield decoder.decode(content)
            yield decoder.decode(b"", final=True)


def _line_end(text: str) -> str:
    r"""Return what ends the first line, and so all; nothing if it cannot be known yet.

    Examples
    --------
    >>> [_line_end(text) for text in ("a\r\nb", "a\nb", "a\rb", "a\r", "a")]
    ['\n', '\n', '\r', '', '']
    """
    place = min((text.find(end) for end in "\r\n" if end in text), default=-1)
    if place < 0 or text[place:] == "\r":
        return ""
    return "\r" if text[place] == "\r" and text[place + 1] != "\n" else "\n"


def _stripped(line: str) -> str:
    """Return a line without the first half of a line break of Windows."""
    return line[:-1] if line.endswith("\r") else line
