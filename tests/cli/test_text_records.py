"""Lines of a CSV: one changed record changes one row, whatever it holds."""

import gzip
import itertools
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from click import UsageError
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from skdpgen import load
from skdpgen.cli import _fit_command, _text_records, main
from skdpgen.cli._table_files import TableFile
from skdpgen.cli._text_records import Dialect, table_of
from skdpgen.exceptions import NotPrivateWarning
from skdpgen.privacy import insecure_noise_seed

# what a record may be made of: separators, quotes, bytes that are no UTF-8, NUL, a
# carriage return alone, the byte-order mark, a number, a letter of two bytes
ATOMS = [b",", b'"', b"\xff", b"\0", b"\r", b"\xef\xbb\xbf", b"1", "é".encode()]
MUTANTS = [b"".join(p) for n in (0, 1, 2) for p in itertools.product(ATOMS, repeat=n)]
LONGER = [b"".join(p) for p in itertools.product(ATOMS[:-2], repeat=3)]
LATIN = [b",", b'"', b"\xff", b"\x81", b"\0", b"1"]
TEXT = st.text(',"\0\r\n\ufeff;é1a \x1a\u2028', max_size=12)


def read(path, rows=65_536, **how):
    return pd.concat(TableFile(path, **how).pieces(rows), ignore_index=True)


def assert_same(one, two):
    pd.testing.assert_frame_equal(one, two, check_dtype=True)


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("header", [b"a", b"a,b"])
def test_one_changed_record_changes_one_row(tmp_path, monkeypatch, header, end):
    """By brute force: each mutant in the middle of records that are odd themselves.

    All mutants stand in one file, between neighbours whose rows are known, so a
    mutant that joined or split records would move all rows after it.
    """
    monkeypatch.setattr(_text_records, "BYTES_AT_ONCE", 1000)
    near = [b"1", b'"open,2', b"x,y", b"", b"a,b,c,d", b'"q ""r""",s', b"\xff,\0"]
    mutants = MUTANTS + LONGER * (header == b"a,b" and end == b"\n")
    if end == b"\r":
        mutants = [one.replace(end, b"") for one in mutants]
    records = [r for i, m in enumerate(mutants) for r in (m, near[i % len(near)])]
    path = tmp_path / "a.csv"
    path.write_bytes(end.join([header, *records]) + end)
    together = read(path, rows=77)
    assert len(together) == len(records)
    seen = {}
    for i, record in enumerate(records):  # each record in a file of its own
        if record not in seen:
            path.write_bytes(header + end + record + end)
            alone = read(path)
            assert len(alone) == 1
            seen[record] = alone.iloc[0].tolist()
        found = together.iloc[i].tolist()
        assert str(found) == str(seen[record]), record


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "utf-16", "utf-16-be"])
def test_one_changed_record_of_any_encoding(tmp_path, monkeypatch, encoding):
    monkeypatch.setattr(_text_records, "BYTES_AT_ONCE", 7)
    path = tmp_path / "a.csv"
    units = LATIN
    if "16" in encoding:  # units of 16 bits; two halves of a pair of surrogates
        order = "big" if encoding.endswith("be") else "little"
        codes = [0x2C, 0x22, 0xD800, 0xDC00, 0, 0x31]
        units = [code.to_bytes(2, order) for code in codes]
    stateless = {"utf-16": "utf-16-le"}.get(encoding, encoding)
    end, header = "\n".encode(stateless), "a,b\n".encode(stateless)
    rest = [one.encode(stateless) for one in ("1,2", '"x', "3,4")]
    wanted = None
    for mutant in itertools.product(units, repeat=2):
        records = [rest[0], rest[1], b"".join(mutant), rest[2]]
        path.write_bytes(header + end.join(records) + end)
        table = read(path, encoding=encoding)
        assert len(table) == 4
        others = table.drop(index=2)
        wanted = others if wanted is None else wanted
        assert_same(others, wanted)


@given(st.lists(TEXT, max_size=4), st.integers(1, 3), st.sampled_from(",;\t\x1f"))
def test_pandas_cuts_records_as_the_rule_says(records, n_columns, separator):
    dialect, names = Dialect(separator), list("abc"[:n_columns])
    found = table_of(records, names, dialect).astype(object)
    wanted = [dialect.cells(record, n_columns) for record in records]
    cells = [[cell or None for cell in row] for row in wanted]
    assert found.where(found.notna(), None).to_numpy().tolist() == cells


@pytest.mark.parametrize(
    ("content", "cells"),
    [
        (b"a\n1\n\n2\n", ["1", None, "2"]),  # an empty line is a missing cell
        (b"a\n1\n\n\n", ["1", None, None]),
        (b"a\n1\n2", ["1", "2"]),  # no line break at the end
        (b"a\r\n1\n2\r\n", ["1", "2"]),  # line breaks of both kinds
        (b"a\r1\r2\r", ["1", "2"]),  # of old Macs
        (b"a\r1\r\r2", ["1", None, "2"]),
        (b"\xef\xbb\xbfa\n1\n", ["1"]),
        (b'"a"\n"1,5"\n"1\n', ["1,5", None]),
        (b"a\n1,\n1,2\n", ["1", None]),  # a separator too many, a cell too many
        (b"a", []),
        (b"a\r\n", []),
        ("a\nx\u2028y\x85z\x0b\n".encode(), ["x\u2028y\x85z\x0b"]),
    ],
)
def test_what_a_file_holds(tmp_path, content, cells):
    for name, made in (("a.csv", content), ("a.csv.gz", gzip.compress(content))):
        (tmp_path / name).write_bytes(made)
        table = read(tmp_path / name)
        assert table.columns.tolist() == ["a"]
        assert (
            table["a"].astype(object).where(table["a"].notna(), None).tolist() == cells
        )
        assert table["a"].dtype == read(tmp_path / name, rows=1)["a"].dtype


def test_quoted_cells_may_hold_line_breaks_if_that_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(_text_records, "BYTES_AT_ONCE", 5)
    path = tmp_path / "a.csv"
    rows = pd.DataFrame({"a\nb": ["1\n2", 'x "y"\r\n\n', "3"], "c": ["", "\n", "4"]})
    rows.to_csv(path, index=False, lineterminator="\r\n")
    table = read(path, multiline=True)
    assert table.columns.tolist() == ["a\nb", "c"]
    assert table["a\nb"].tolist() == rows["a\nb"].tolist()
    assert table["c"].tolist()[1:] == ["\n", "4"]
    with pytest.raises(UsageError, match="close each quote"):
        _ = TableFile(path).columns


def test_a_record_that_is_too_long_is_missing_and_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(_text_records, "BYTES_AT_ONCE", 16)
    monkeypatch.setattr(_text_records, "LONGEST_RECORD", 40)
    path = tmp_path / "a.csv"
    path.write_bytes(b"a\n1\n" + 40 * b"x" + b"\n" + 41 * b"x" + b"\n2\n" + 99 * b"y")
    for multiline in (False, True):
        found = read(path, multiline=multiline)["a"].fillna("")
        assert found.tolist() == ["1", 40 * "x", "", "2", ""]
    path.write_bytes(b'a\n"' + 30 * b"x\n" + b"2\n")
    assert len(read(path)) == 31


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_no_record_decides_how_a_fit_ends(tmp_path, adjacency):
    """Exit code, message and number of rows are those without the odd record."""
    rng = np.random.default_rng(0)
    records = [f"{a},{b}".encode() for a, b in rng.integers(0, 9, (500, 2))]
    odd = [
        b"1,2",
        b"1,2,3",
        b'"1,2',
        b"\xff",
        b"1,\0",
        b"",
        b"1\r,2",
        b'"1"2,"',
        b"1,\x81",
    ]
    for i, record in enumerate(odd):
        path, out = tmp_path / "p.csv", tmp_path / f"m{i}"
        path.write_bytes(b"\n".join([b"a,b", *records[:250], record, *records[250:]]))
        arguments = ["fit", path, "--out", out, "--method", "independent", "--quiet"]
        arguments += ["--adjacency", adjacency, "--epsilon", "100"]
        with pytest.warns(NotPrivateWarning), insecure_noise_seed(0):
            found = CliRunner().invoke(main, [str(one) for one in arguments])
        assert (found.exit_code, found.output) == (0, "")
        if adjacency == "replace":
            assert load(out / "model.skdpgen").n_samples_ == 501


def test_empty_lines_of_one_column_are_counted(tmp_path):
    """They are its missing cells: how many there are is private."""
    path, n_rows = tmp_path / "a.csv", []
    for n_missing in (0, 100):
        cells = ["1"] * (300 - n_missing) + [""] * n_missing
        path.write_text("\n".join(["a", *cells]) + "\n")
        out = tmp_path / f"m{n_missing}"
        arguments = ["fit", path, "--out", out, "--method", "independent", "--quiet"]
        assert CliRunner().invoke(main, [str(one) for one in arguments]).exit_code == 0
        n_rows.append(load(out / "model.skdpgen").n_samples_)
    assert n_rows == [300, 300]


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_a_missing_cell_of_parquet_changes_no_type(tmp_path, ending):
    """The conversion to pandas made objects of truth values, and the fit failed."""
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path, dtypes = tmp_path / f"a.{ending}", []
    for odd in (1, None):
        whole = [*range(300), odd, *range(300)]
        flags = [None if one is None else one % 2 == 0 for one in whole]
        table = pa.table({"a": pa.array(whole, pa.int64()), "b": flags})
        if ending == "parquet":
            parquet.write_table(table, path)
        else:
            with pa.ipc.new_file(path, table.schema) as file:
                file.write_table(table, max_chunksize=100)
        pieces = list(TableFile(path).pieces(100))
        assert len({str(piece.dtypes.tolist()) for piece in pieces}) == 1
        assert sum(map(len, pieces)) == 601
        dtypes.append(str(pieces[0].dtypes.tolist()))
        out = tmp_path / f"m{odd}"
        arguments = ["fit", path, "--out", out, "--method", "independent", "--quiet"]
        assert CliRunner().invoke(main, [str(one) for one in arguments]).exit_code == 0
    assert dtypes[0] == dtypes[1]


def test_text_of_arrow_that_is_none_is_missing(tmp_path):
    pa = pytest.importorskip("pyarrow")
    ends, content = np.array([0, 1, 2, 3], "i4"), b"a\xffb"
    buffers = [None, pa.py_buffer(ends.tobytes()), pa.py_buffer(content)]
    cells = pa.Array.from_buffers(pa.string(), 3, buffers)
    listed = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), cells)
    path, table = tmp_path / "a.arrow", pa.table({"a": cells, "b": listed})
    with pa.ipc.new_file(path, table.schema) as file:
        file.write_table(table)
    (piece,) = TableFile(path).pieces()
    for name in table.column_names:
        assert piece[name].isna().tolist() == [False, True, False]
        assert piece[name].dtype.pyarrow_dtype.equals(table.schema.field(name).type)


def test_no_more_than_all_cells_are_missing(capsys):
    """Noise lifts the count of an empty column above all rows in every second fit."""
    columns = pd.DataFrame({"missing": [1.013], "missing_noise": [0.01]}, index=["a"])
    _fit_command._warn_of_encoding(SimpleNamespace(columns_=columns))
    assert "Many cells are missing: a (about 100%)." in capsys.readouterr().err
