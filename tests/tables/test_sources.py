"""Tables on disk and queries: the same sums as of the table in memory."""

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from skdpgen import DPIndependentSynthesizer
from skdpgen.tables import CategoryCells, Chunks, NumberCells, Rows, _chunks

N = 700


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    words = np.array(["red", "green", "blue"])
    columns = {
        "size": rng.gamma(2.0, 10.0, N).round(2),
        "number": rng.integers(0, 9, N),
        "color": words[rng.integers(0, 3, N)],
        "when": pd.date_range("2020-01-01", periods=N, freq="h", unit="us"),
        "is_new": rng.random(N) < 0.3,
        "bought": words[rng.integers(0, 2, N)],
    }
    made = pa.Table.from_pandas(pd.DataFrame(columns))
    holes = pa.array(rng.random(N) < 0.1)
    empty = pa.nulls(N, made.schema.field("size").type)
    size = pa.compute.if_else(holes, empty, made["size"])
    return made.set_column(0, "size", size).replace_schema_metadata()


@pytest.fixture(scope="module")
def folder(table, tmp_path_factory):
    where = tmp_path_factory.mktemp("parquet")
    for i, start in enumerate((0, 300)):
        part = table.slice(start, 300 if start == 0 else N)
        pq.write_table(part, where / f"{i}.parquet", row_group_size=130)
    return where


def lazy(folder):
    return pl.scan_parquet(folder / "*.parquet")


def reader(folder):
    return Chunks.of(lambda: ds.dataset(folder).scanner().to_reader(), "bought")


SOURCES = {
    "dataset": lambda folder: (ds.dataset(folder), "bought"),
    "path": lambda folder: (Path(folder), "bought"),
    "one file at a time": lambda folder: (
        Chunks.of(ds.dataset(sorted(map(str, folder.glob("*")))), "bought", rows=64),
    ),
    "lazy frame": lambda folder: (lazy(folder), "bought"),
    "reader": lambda folder: (reader(folder),),
}


def fitted(*given, **params):
    params = {"epsilon": float("inf"), "random_state": 0} | params
    return DPIndependentSynthesizer(**params).fit(*given)


@pytest.mark.parametrize("name", SOURCES)
def test_sums_are_those_of_the_table_in_memory(name, folder, table):
    whole = fitted(table.drop_columns(["bought"]), table["bought"])
    found = fitted(*SOURCES[name](folder))
    for key, value in whole.release_.values.items():
        np.testing.assert_array_equal(found.release_.values[key], value)
    assert found.n_samples_ == N
    assert found.feature_names_in_.tolist() == table.column_names[:-1]
    X, y = found.sample(20, random_state=1)
    assert isinstance(X, pl.DataFrame if name == "lazy frame" else pa.Table)
    assert y.name == "bought"


def test_a_query_of_duckdb(folder, table):
    duckdb = pytest.importorskip("duckdb")
    query = duckdb.sql(f"select * from '{folder}/*.parquet'")
    whole = fitted(table.drop_columns(["bought"]), table["bought"])
    found = fitted(query, "bought")
    for key, value in whole.release_.values.items():
        np.testing.assert_array_equal(found.release_.values[key], value)


def test_without_a_target(folder, table):
    found = fitted(ds.dataset(folder))
    assert found.task_ is None
    assert found.sample(5).column_names == table.column_names


@pytest.mark.parametrize("name", ["dataset", "path", "lazy frame"])
def test_columns_are_read_only_when_needed(name, folder, monkeypatch):
    asked = []
    tables = _chunks._tables

    def spied(batches, rows):
        for one in tables(batches, rows):
            asked.append(set(one.column_names))
            yield one

    monkeypatch.setattr(_chunks, "_tables", spied)
    source, target = SOURCES[name](folder)
    rows = Rows.read(source, target)
    cells = {"color": CategoryCells(("red",), True)}
    if name == "lazy frame":
        rows._kept._source._source = _spied_polars(source, asked)
    list(rows.batches(cells, tokens=("number",)))
    assert asked
    assert all(names == {"color", "number", "bought"} for names in asked)


def _spied_polars(frame, asked):
    source = _chunks.source_of(frame, 64)

    def opened(names):
        for one in source.open(names):
            asked.append(set(one.columns))
            yield one

    return _chunks.Source(source.empty, source.names, opened, source.count)


def test_what_is_left_out_is_never_read(folder):
    cells = {"number": NumberCells(np.array([0.0, 5.0, 9.0]), True)}
    chunks = Chunks.of(ds.dataset(folder), rows=100)
    passed = list(chunks.opened({"number"}))
    assert {tuple(X.column_names) for X, _ in passed} == {("number",)}
    assert max(len(X) for X, _ in passed) <= 100
    assert sum(len(b.labels) for b in Rows.read(chunks).batches(cells)) == N


def test_the_number_of_rows_costs_no_pass(folder):
    chunks = Chunks.of(ds.dataset(folder), "bought")
    rows = Rows.read(chunks)
    chunks._source = _chunks.Source(
        chunks._source.empty, chunks._source.names, None, chunks._source.count
    )
    assert rows.n_rows == N


@pytest.mark.parametrize("kind", ["dictionary", "categories"])
def test_what_a_type_lists_is_not_learnt(kind, tmp_path):
    """The values of a dictionary are private, and more than the rows may hold."""
    words = pd.Categorical.from_codes([0, 1] * 100, ["a", "b", "secret"])
    frame = pd.DataFrame({"word": words, "size": np.arange(200.0)})
    source = pl.from_pandas(frame).lazy()
    if kind == "dictionary":
        pq.write_table(pa.Table.from_pandas(frame), tmp_path / "x.parquet")
        source = tmp_path
    synth = DPIndependentSynthesizer(epsilon=100.0, random_state=0).fit(source)
    assert set(synth.cells_["word"].categories) == {"a", "b", "other"}
    assert "secret" not in str(vars(synth._facts.layout))


def test_chunks_without_rows(folder):
    dataset = ds.dataset(folder)
    empty = dataset.schema.empty_table()

    def opened():
        for batch in dataset.to_batches(batch_size=100):
            yield empty
            yield pa.Table.from_batches([batch])

    whole = fitted(dataset).release_.values["columns"]
    found = fitted(Chunks(opened, like=empty)).release_.values["columns"]
    np.testing.assert_array_equal(found, whole)


def test_a_source_without_rows_is_refused(tmp_path, table):
    pq.write_table(table.slice(0, 0), tmp_path / "x.parquet")
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        fitted(ds.dataset(tmp_path), "bought")


@pytest.mark.parametrize("target", ["price", "Bought"])
def test_a_target_that_is_no_column(folder, target):
    with pytest.raises(ValueError, match="must be a column: one of size, number"):
        fitted(ds.dataset(folder), target)


def test_labels_beside_a_source(folder, table):
    with pytest.raises(ValueError, match="name of a column"):
        fitted(ds.dataset(folder), table["bought"])


def test_what_is_no_source():
    with pytest.raises(TypeError, match=r"pyarrow\.dataset\.Dataset"):
        Chunks.of([1, 2])
    with pytest.raises(TypeError, match=r"RecordBatchReader. Got list"):
        Chunks.of(lambda: [1, 2])


def test_a_reader_that_cannot_be_opened_anew(folder):
    once = ds.dataset(folder).scanner().to_reader()
    with pytest.raises(ValueError, match=r"another number of rows|no chunk at all"):
        fitted(Chunks.of(lambda: once, "bought"))


def two_files(folder, first, second):
    """Write two files of one column, whose types may differ."""
    for name, column in (("a", first), ("b", second)):
        pq.write_table(pa.table({"v": column}), folder / f"{name}.parquet")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (pa.array([1]), pa.array(["2"])),
        (pa.array([1]), pa.array([2.0])),
        (pa.array([2.0]), pa.array([1], pa.int64())),
        (pa.array([1], pa.int8()), pa.array([1], pa.uint8())),
        (pa.array([1], pa.int32()), pa.array([5], pa.int64())),
        (pa.array([1], pa.timestamp("us")), pa.array([1], pa.timestamp("ns"))),
        (pa.array([1], pa.timestamp("ns")), pa.array([1], pa.timestamp("us"))),
        (pa.array(["a"]), pa.array([b"b"])),
    ],
)
@pytest.mark.parametrize("opened", [Path, ds.dataset])
def test_files_whose_values_might_not_fit_are_refused(first, second, opened, tmp_path):
    """pyarrow would cast them, and quote the value that does not fit."""
    two_files(tmp_path, first, second)
    with pytest.raises(TypeError, match=r"must fit its types\. Got column 'v' of "):
        Chunks.of(opened(tmp_path))
    one = ds.dataset(tmp_path / "b.parquet", schema=pa.schema({"v": first.type}))
    with pytest.raises(TypeError, match="must fit its types"):
        Chunks.of(one)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (pa.array([1], pa.int64()), pa.array([5], pa.int32())),
        (pa.array([0.5]), pa.array([0.25], pa.float32())),
        (pa.array(["a"]), pa.array(["b"], pa.large_string())),
        (pa.array(["a"]), pa.nulls(1)),
        (pa.array([0.5]), pa.array([3], pa.int32())),
        (pa.array([1]), pa.array([3], pa.uint8())),
        (pa.array([1]), pa.array([True])),
    ],
)
def test_files_whose_values_always_fit_are_read(first, second, tmp_path):
    two_files(tmp_path, first, second)
    chunks = list(Chunks.of(tmp_path))
    values = [value for X, _ in chunks for value in X["v"].to_pylist()]
    assert values == [*first.to_pylist(), *second.to_pylist()]


def test_the_width_of_a_dictionary_decides_nothing(tmp_path):
    """It is that of the file with more words, which are private."""
    words = [f"w{i}" for i in range(300)]
    few = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), words[:2])
    many = pa.DictionaryArray.from_arrays(pa.array([0, 299], pa.int16()), words)
    two_files(tmp_path, few, many)
    tables = [X for X, _ in Chunks.of(tmp_path)]
    assert {str(X.schema.field("v").type.index_type) for X in tables} == {"int32"}
    values = [value for X in tables for value in X["v"].to_pylist()]
    assert values == ["w0", "w1", "w0", "w299"]
    for second in (few, many):
        two_files(tmp_path, few, second)
        for source in (tmp_path, tmp_path / "a.parquet"):
            for schema in (None, pa.schema({"v": pa.string()})):
                opened = ds.dataset(source, schema=schema)
                with pytest.raises(TypeError, match="Give the folder as a Path"):
                    Chunks.of(opened)


def test_cells_that_are_no_text_do_not_end_a_pass(tmp_path):
    """pyarrow checks dictionaries of narrow indices that it casts."""
    words = pa.array([b"good", b"\xff\xfe"], pa.binary()).buffers()
    words = pa.Array.from_buffers(pa.string(), 2, words)
    coded = pa.DictionaryArray.from_arrays(pa.array([0] * 99 + [1], pa.int8()), words)
    pq.write_table(
        pa.table({"v": coded, "x": np.arange(100.0)}), tmp_path / "a.parquet"
    )
    cells = {"v": CategoryCells(("good",), nullable=True)}
    (batch,) = Rows.read(Chunks.of(tmp_path)).batches(cells)
    assert np.flatnonzero(batch.parts["columns"][:, 0]).tolist() == [99]


def test_errors_of_engines_are_raised_without_their_texts(tmp_path):
    """They quote the value that could not be parsed."""
    path = tmp_path / "x.csv"
    path.write_text("v\n" + 2000 * "7\n" + "secret\n")
    chunks = Chunks.of(pl.scan_csv(path))
    with pytest.raises(RuntimeError, match="could not be read to its end") as raised:
        list(chunks)
    error = raised.value
    assert error.__cause__ is error.__context__ is None
    assert "secret" not in str(error)
    with pytest.raises(TypeError, match="must be of Parquet or Arrow files"):
        Chunks.of(ds.dataset(path, format="csv"))


def test_a_file_that_is_gone_is_named(folder, tmp_path):
    copy = tmp_path / "copy.parquet"
    copy.write_bytes((folder / "0.parquet").read_bytes())
    chunks = Chunks.of(copy)
    copy.unlink()
    with pytest.raises(FileNotFoundError, match=r"copy\.parquet"):
        list(chunks)


def test_a_dataset_with_a_filter_is_read(folder, table):
    is_new = table.filter(ds.field("is_new")).num_rows
    for source in (ds.dataset(folder), ds.dataset(table)):
        chunks = Chunks.of(source.filter(ds.field("is_new")))
        assert sum(len(X) for X, _ in chunks) == is_new
