"""Whatever comes in goes out: containers, dtypes, chunks, partial schemas."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from skdpgen import DPIndependentSynthesizer, load
from skdpgen.datasets import load_example, load_example_regression
from skdpgen.tables import (
    Boolean,
    Chunks,
    Drop,
    Integer,
    Numeric,
    Regenerate,
    Schema,
)
from tests.synthesizers._tables import assert_obeys

X, Y = load_example(300)
KNOWN = Schema.infer(X)
LABELS = ["left", "stayed"]


def fit(table=X, y=Y, **params):
    known = {"schema": KNOWN, "classes": None if y is None else LABELS}
    return DPIndependentSynthesizer(**known | params).fit(table, y)


def test_labels_of_every_kind_come_back_as_they_were():
    table = X[["age", "owns_home"]]
    schema = Schema.infer(table)
    flag = Y == "left"
    kinds = {
        "bool": flag,
        "boolean": flag.astype("boolean"),
        "int": flag.astype(int),
        "Int64": flag.astype("Int64"),
        "float": flag.astype(float),
        "text": Y,
        "object": Y.astype(object),
        "category": Y.astype("category"),
        "halves": flag * 0.5,
    }
    for y in kinds.values():
        labels = sorted(y.astype(object).unique())
        for classes in (labels, None):
            synth = fit(
                table,
                y,
                schema=schema,
                classes=classes,
                task="classification",
                epsilon=8.0,
            )
            _, drawn = synth.sample(40)
            assert str(drawn.dtype) == str(y.dtype)
            assert set(drawn) <= set(labels)
            _, given_back = synth.sample(y=labels)
            assert list(given_back) == labels


def test_lists_and_tensors_are_tables():
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    values = rng.normal(size=(200, 2))
    schema = Schema({"x0": Numeric(-3, 3), "x1": Numeric(-3, 3)})
    drawn = fit(values.tolist(), None, schema=schema).sample(7)
    assert drawn.shape == (7, 2)
    drawn, y = fit(
        torch.tensor(values), torch.tensor([0, 1] * 100), schema=schema, classes=[0, 1]
    ).sample(7)
    assert isinstance(drawn, torch.Tensor)
    assert drawn.dtype == torch.float64
    assert set(np.asarray(y)) <= {0, 1}


def test_columns_that_are_dropped_or_written_anew():
    table = X[["age"]].assign(
        name=[f"secret {i}" for i in range(300)], note="secret", key=np.arange(300)
    )
    schema = Schema(
        {"age": Integer(0, 120), "name": Regenerate("person-{i}"), "note": Drop()}
    ).with_column("key", Regenerate())
    synth = fit(table, schema=schema)
    drawn, _ = synth.sample(4)
    assert list(drawn.columns) == ["age", "name", "key"]
    assert drawn["name"].tolist() == [f"person-{i}" for i in range(4)]
    assert drawn["key"].tolist() == [0, 1, 2, 3]
    assert drawn["key"].dtype == table["key"].dtype
    assert "secret" not in str(vars(synth))
    assert synth.release_.values["columns"].shape[1] == synth.cells_["age"].n_cells


def test_what_a_partial_schema_leaves_open_is_discovered():
    table, y = load_example(2000)
    table = table[["age", "job", "owns_home", "n_products"]]
    schema = Schema({"age": Integer(0, 120), "owns_home": Boolean()})
    synth = fit(table, y, schema=schema, epsilon=float("inf"))
    assert synth.schema_.columns["age"] == Integer(0, 120, nullable=False)
    assert "office" in synth.schema_.columns["job"].categories
    assert synth.schema_.columns["n_products"].upper == table["n_products"].max()
    assert "2 columns: discovered privately" in str(synth.privacy_)
    assert_obeys(synth.sample(100)[0], synth.schema_)


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("schema", ["public", None])
def test_chunks_make_the_release_of_the_table_in_memory(task, schema):
    load = load_example if task == "classification" else load_example_regression
    table, y = load(1001)
    known = Schema.infer(table, y) if schema else None
    params = {"schema": known, "classes": None, "epsilon": float("inf")}
    whole = fit(table, y, **params)
    places = [0, 300, 301, 800, 1001]
    pairs = list(pairwise(places))
    chunks = Chunks(lambda: ((table[a:b], y[a:b]) for a, b in pairs))
    parts = fit(chunks, None, **params)
    np.testing.assert_array_equal(
        whole.release_.values["columns"], parts.release_.values["columns"]
    )
    assert whole.schema_ == parts.schema_
    assert whole.privacy_ == parts.privacy_
    one, two = (synth.sample(50, random_state=1) for synth in (whole, parts))
    pd.testing.assert_frame_equal(one[0], two[0])
    pd.testing.assert_series_equal(one[1], two[1])


def test_the_order_and_the_index_of_rows_do_not_show():
    order = np.random.default_rng(0).permutation(len(X))
    params = {"schema": None, "classes": None, "epsilon": float("inf")}
    one, two = fit(**params), fit(X.iloc[order], Y.iloc[order], **params)
    np.testing.assert_array_equal(
        one.release_.values["columns"], two.release_.values["columns"]
    )
    assert one.schema_ == two.schema_


@pytest.mark.parametrize(
    "dtype", ["int8", "uint8", "uint64", "int64", "Int16", "UInt8"]
)
@pytest.mark.parametrize("epsilon", [1.0, float("inf")])
@pytest.mark.filterwarnings("ignore:Whole numbers are too large")  # of uint64
def test_whole_numbers_stay_within_their_dtype(dtype, epsilon):
    info = np.iinfo(dtype.lower())
    extremes = np.array([info.min, 0, 1, info.max] * 500, dtype=dtype.lower())
    table = pd.DataFrame({"a": pd.Series(extremes, dtype=dtype)})
    for schema in (None, Schema({"a": Integer(info.min - 5, info.max + 5)})):
        synth = fit(table, None, schema=schema, epsilon=epsilon)
        drawn = synth.sample(2000)
        assert str(drawn["a"].dtype) == dtype
        column = synth.schema_.columns["a"]
        ends = getattr(column, "values", None) or (column.lower, column.upper)
        assert info.min <= min(ends) <= max(ends) <= info.max
        assert_obeys(drawn, synth.schema_)


@pytest.mark.parametrize("target", ["whole", "flag", "word"])
@pytest.mark.parametrize("how", ["series", "frame", "lazy", "arrow"])
def test_labels_of_polars_and_arrow_come_back_as_they_were(target, how, tmp_path):
    """Integers and truth values came back as floats, those of a query as pandas."""
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    n = np.arange(600)
    columns = {"a": n % 7, "whole": (n % 3).astype("i2"), "flag": n % 2 == 0}
    table = pl.DataFrame(columns | {"word": np.where(n % 2, "u", "v")})
    X, y = table.drop(target), table[target]
    given = {
        "series": (X, y),
        "frame": (X, table.select(target)),
        "lazy": (table.lazy(), target),
        "arrow": (X.to_arrow(), table.to_arrow().column(target)),
    }
    synthesizer = DPIndependentSynthesizer(20.0).fit(*given[how])
    synthesizer.save(tmp_path / "m.npz")
    for one in (synthesizer, load(tmp_path / "m.npz")):
        _, drawn = one.sample(50, random_state=0)
        if how == "arrow":
            assert isinstance(drawn, pa.ChunkedArray)
            drawn = pl.from_arrow(drawn)
        assert isinstance(drawn, pl.Series)
        assert drawn.dtype == y.dtype
        assert set(drawn) == set(y)
    X_drawn, y_drawn = synthesizer.sample(y=y.to_list()[:4])
    found = y_drawn.to_pylist() if how == "arrow" else y_drawn.to_list()
    assert found == y.to_list()[:4]
    assert len(X_drawn) == 4
