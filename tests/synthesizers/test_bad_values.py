"""Wrong values never raise and never show."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skdpgen import DPIndependentSynthesizer
from skdpgen.datasets import load_example
from skdpgen.exceptions import SchemaRequiredError
from skdpgen.tables import (
    Boolean,
    Categorical,
    CategoryCells,
    Integer,
    Numeric,
    Schema,
)
from tests.synthesizers._tables import assert_obeys

X, Y = load_example(300)
KNOWN = Schema.infer(X)
LABELS = ["left", "stayed"]


def fit(table=X, y=Y, **params):
    known = {"schema": KNOWN, "classes": None if y is None else LABELS}
    return DPIndependentSynthesizer(**known | params).fit(table, y)


SECRET = "Zweitausendeins"


class Hostile:
    """An object whose own methods fail, with a message that must not come out."""

    def __str__(self):
        raise RuntimeError(SECRET)

    __hash__ = __bool__ = __float__ = __str__

    def __eq__(self, other):
        raise RuntimeError(SECRET)

    def __repr__(self):
        return "Hostile()"


nasty = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.complex_numbers(),
    st.text(max_size=5),
    st.binary(max_size=3),
    st.lists(st.integers(), max_size=2),
    st.dictionaries(st.text(max_size=2), st.integers(), max_size=1),
    st.datetimes(),
    st.timedeltas(),
    st.decimals(),
    st.builds(Hostile),
    st.sampled_from([pd.NA, pd.NaT, np.nan, np.inf, object(), SECRET, 1e308]),
    st.sampled_from(
        [np.float32("nan"), np.int8(3), np.datetime64("NaT"), pd.Interval(0, 1)]
    ),
)
kinds = st.sampled_from(
    [
        None,
        Numeric(-1, 1),
        Numeric(0, 10, 2),
        Integer(0, 5),
        Boolean(),
        Categorical(["a", "", "1"]),
        Categorical([1, 2.5]),
    ]
)


@given(
    values=st.lists(nasty, min_size=2, max_size=30),
    labels=st.lists(nasty, min_size=30, max_size=30),
    column=kinds,
    adjacency=st.sampled_from(["replace", "add_remove"]),
)
@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@pytest.mark.filterwarnings("ignore::skdpgen.exceptions.SchemaWarning")
def test_no_value_raises_or_shows(values, labels, column, adjacency):
    table = pd.DataFrame({"a": pd.Series(values, dtype=object)})
    y = pd.Series(labels[: len(values)], dtype=object)
    schema = Schema() if column is None else Schema({"a": column})
    synth = DPIndependentSynthesizer(
        epsilon=1e4, schema=schema, classes=["a", "b"], adjacency=adjacency
    )
    try:
        synth.fit(table, y)
    except SchemaRequiredError:  # decided by the number of rows, and by epsilon
        assert column is None
        return
    drawn, drawn_y = synth.sample(20)
    assert drawn.dtypes.tolist() == table.dtypes.tolist()
    assert set(drawn_y) <= {"a", "b"}
    assert_obeys(drawn, synth.schema_)


@given(values=st.lists(st.floats(), min_size=2, max_size=40), data=st.data())
@settings(max_examples=60, deadline=None)
def test_no_number_raises(values, data):
    dtype = data.draw(st.sampled_from(["float64", "float32", "Float64"]))
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        series = pd.Series(np.array(values).astype(dtype.lower()), dtype=dtype)
    table = pd.DataFrame({"a": series, "b": series})
    schema = Schema({"a": Numeric(-2, 5), "b": Integer(0, 3)}, Numeric(0, 1))
    synth = DPIndependentSynthesizer(schema=schema).fit(table, series)
    drawn, y = synth.sample(20)
    assert drawn.dtypes.tolist() == table.dtypes.tolist()
    assert y.between(0, 1).all()


UNUSUAL = {
    "all missing": pd.Series([np.nan] * 400),
    "all none": pd.Series([None] * 400, dtype=object),
    "all infinite": pd.Series([np.inf, -np.inf] * 200),
    "constant": pd.Series([3] * 400),
    "constant text": pd.Series(["x"] * 400),
    "empty text": pd.Series(["", "b", None, "b"] * 100),
    "unlike dates": pd.Series(pd.to_datetime(["1677-09-22", "2262-04-11"] * 200)),
    "far dates": pd.Series(
        np.array(["0001-01-01", "9999-12-31"] * 200, "datetime64[s]")
    ),
    "zones": pd.Series(pd.date_range("2012", periods=400, tz="Asia/Kolkata")),
    "no dates": pd.Series([pd.NaT] * 400),
    "huge": pd.Series([1e300, -1e300] * 200),
    "tiny": pd.Series(np.linspace(1e-9, 2e-9, 400)),
    "half floats": pd.Series(np.linspace(-6e4, 6e4, 400), dtype="float16"),
    "categories of numbers": pd.Series([1, 2, 3, 3] * 100).astype("category"),
    "categories of times": pd.Series(pd.to_datetime(["2012", "2020"] * 200)).astype(
        "category"
    ),
    "categories of flags": pd.Series([True, False] * 200).astype("category"),
    "mixed categories": pd.Series([1, "a", None, 2.5] * 100).astype("category"),
    "arrow text": pd.Series(["a", None] * 200, dtype="string[pyarrow]"),
    "arrow numbers": pd.Series([1, None] * 200, dtype="int64[pyarrow]"),
    "arrow flags": pd.Series([True, None] * 200, dtype="bool[pyarrow]"),
    "arrow times": pd.Series(pd.to_datetime(["2012", "2020"] * 200)).astype(
        "timestamp[us][pyarrow]"
    ),
    "arrow zones": pd.Series(pd.date_range("2012", periods=400, tz="UTC")).astype(
        "timestamp[us, tz=UTC][pyarrow]"
    ),
    "arrow days": pd.Series(pd.to_datetime(["2012", "2020"] * 200)).astype(
        "date32[pyarrow]"
    ),
    "intervals": pd.Series(pd.cut(np.linspace(0, 1, 400), 4)),
    "arrow decimals": pd.Series([1, None, 3, 4] * 100, dtype="int64[pyarrow]").astype(
        pd.ArrowDtype(pa.decimal128(24, 2))
    ),
    "arrow dictionary": pd.Series(["a", None] * 200, dtype="string[pyarrow]").astype(
        pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string()))
    ),
    "arrow nothing": pd.Series([None] * 400, dtype=pd.ArrowDtype(pa.null())),
}


@pytest.mark.parametrize("is_inferred", [True, False])
@pytest.mark.parametrize("name", UNUSUAL)
def test_unusual_columns_fit_and_come_back(name, is_inferred):
    table = pd.DataFrame({"a": UNUSUAL[name], "b": np.linspace(0, 1, 400)})
    schema = Schema.infer(table) if is_inferred else None
    synth = fit(table, None, schema=schema, epsilon=20.0)
    drawn = synth.sample(50)
    assert str(drawn["a"].dtype) == str(table["a"].dtype) or name in (
        "categories of numbers",
        "categories of times",
        "mixed categories",
        "intervals",
        "arrow dictionary",  # its indices have one width
    )
    if name == "arrow nothing":  # whatever noise says of it
        assert drawn["a"].isna().all()
    else:
        assert_obeys(drawn.astype({"a": object}), synth.schema_)


def test_tiny_numbers_keep_their_size():
    values = UNUSUAL["tiny"]
    table = pd.DataFrame({"a": pd.concat([values] * 10, ignore_index=True)})
    drawn = fit(table, None, schema=None, epsilon=8.0).sample(400)["a"]
    assert drawn.median() == pytest.approx(values.median(), rel=0.5)


def test_polars_columns_of_every_kind():
    table = pl.DataFrame(
        {
            "int": [1, None, 3] * 100,
            "float": [1.5, None, float("nan")] * 100,
            "flag": [True, None, False] * 100,
            "text": ["a", None, "b"] * 100,
            "day": [pd.Timestamp("2020-01-01").date(), None, None] * 100,
            "time": [pd.Timestamp("2020-01-01 05:00").to_pydatetime(), None, None]
            * 100,
            "category": pl.Series(["x", "y", None] * 100, dtype=pl.Categorical),
            "nothing": pl.Series([None] * 300, dtype=pl.Null),
        }
    )
    synth = fit(table, None, schema=None, epsilon=50.0)
    drawn = synth.sample(30)
    assert isinstance(drawn, pl.DataFrame)
    assert drawn.schema == table.schema
    assert set(drawn["text"].drop_nulls()) <= {"a", "b"}


def cells_in_words(cells):
    """Return what each cell stands for, to compare columns of two fits."""
    if isinstance(cells, CategoryCells):
        words = list(map(str, cells.categories))
    else:
        words = list(map(str, zip(cells.edges[:-1], cells.edges[1:], strict=True)))
    return words + ["missing"] * cells.nullable


@pytest.mark.parametrize(
    ("first", "rest"),
    [(True, 1), (1.0, True), ([1], 1), ("1_000", "x"), (0.0, False), (Hostile(), 2)],
)
@pytest.mark.parametrize("position", [0, -1])
def test_one_row_does_not_change_how_others_are_read(first, rest, position):
    """A reader that guesses from the whole column would move every count."""

    def counts(value):
        values = [rest] * 200
        values[position] = value
        table = pd.DataFrame({"a": pd.Series(values, dtype=object)})
        synth = fit(table, None, schema=None, epsilon=float("inf"))
        cells = cells_in_words(synth.cells_["a"])
        first_column = synth.release_.values["columns"][0][: len(cells)]
        return dict(zip(cells, first_column.tolist(), strict=True))

    one, two = counts(first), counts(rest)
    moved = [one.get(k, 0) - two.get(k, 0) for k in one.keys() | two.keys()]
    assert np.linalg.norm(moved) <= 2**0.5
