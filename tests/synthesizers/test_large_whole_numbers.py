"""Whole numbers that float64 cannot hold: labels are exact, columns state a loss."""

import math

import numpy as np
import pandas as pd
import pytest

from skdpgen import Categorical, DPIndependentSynthesizer, Integer, Schema
from skdpgen.exceptions import NotPrivateWarning, SchemaWarning
from skdpgen.privacy import insecure_noise_seed
from skdpgen.tables._cells import CategoryCells
from skdpgen.tables._encoder import as_tokens, read_labels
from skdpgen.tables._layout import LARGEST_INT64, Kind, Layout
from skdpgen.tables._values import Numbers

N = 3000
RNG = np.random.default_rng(0)
X = pd.DataFrame({"a": np.arange(N) % 7})
NO_LOSS = pytest.mark.filterwarnings("error::skdpgen.exceptions.SchemaWarning")


def fitted(table, y=None, epsilon=math.inf, **params):
    with pytest.warns(NotPrivateWarning), insecure_noise_seed(0):
        return DPIndependentSynthesizer(epsilon, **params).fit(table, y)


# ------------------------------------------------------------ labels


@NO_LOSS
@pytest.mark.parametrize(
    ("start", "dtype"),
    [
        (2**60, "int64"),
        (-(2**63), "int64"),
        (2**63 - 3, "Int64"),
        (2**64 - 3, "uint64"),
        (2**64 - 3, "UInt64"),
        (2**60, "int64[pyarrow]"),
        (2**60, "category"),
    ],
)
@pytest.mark.parametrize("are_given", [False, True])
def test_labels_beyond_the_digits_of_a_float_stay_apart(start, dtype, are_given):
    labels = [start, start + 1, start + 2]
    y = pd.Series([labels[i % 3] for i in range(N)]).astype(dtype)
    classes = labels if are_given else None
    synthesizer = fitted(X, y, classes=classes)
    assert [int(label) for label in synthesizer.classes_] == labels
    assert synthesizer.target_["dropped"] == pytest.approx(0, abs=1e-9)
    drawn = synthesizer.sample(300, random_state=0)[1]
    assert drawn.dtype.kind == y.dtype.kind
    assert {int(label) for label in drawn} == set(labels)


def labels_of(series, task="auto"):
    layout = Layout("pandas", ("y",), (Kind.INTEGER,), (str(series.dtype),))
    return read_labels(series, layout, task)


WHOLE = [2**60 + 1, 2**60, None, -(2**63), 2**53 + 1, 0, 2**63 - 1]


@pytest.mark.parametrize("dtype", ["Int64", "int64[pyarrow]", "category"])
def test_each_cell_becomes_its_own_label(dtype):
    y = pd.Series(WHOLE, dtype="Int64").astype(dtype)
    found = labels_of(y)
    tokens = as_tokens(found)
    words = [None if i < 0 else tokens.values[i] for i in tokens.codes]
    assert words == [None if one is None else str(one) for one in WHOLE]
    listed = CategoryCells((2**60, str(2**60 + 1), 2.0**53, 0), nullable=True)
    assert listed.encode(found).tolist() == [1, 0, 4, 4, 4, 3, 4]
    for i in range(len(y)):  # rows are read one by one
        alone = labels_of(y[i : i + 1].reset_index(drop=True))
        assert listed.encode(alone) == listed.encode(found)[i]
        assert listed.encode(found[i : i + 1]) == listed.encode(found)[i]


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int64", "Int32", "category"])
def test_usual_labels_are_encoded_as_floats_would_be(dtype):
    y = pd.Series(RNG.integers(0, 100, 500)).astype(dtype)
    found = labels_of(y)
    listed = (True, "7", 9.0, 9.5, "ten", 42, float("inf"), 99, 42.0)
    for cells in (
        CategoryCells(listed, nullable=True),
        CategoryCells(listed, nullable=False, other=4),
    ):
        rounded = cells.encode(Numbers(found.values))
        np.testing.assert_array_equal(cells.encode(found), rounded)
    one, other = as_tokens(found), as_tokens(Numbers(found.values))
    assert one.values == other.values
    np.testing.assert_array_equal(one.codes, other.codes)


@NO_LOSS
def test_a_schema_may_list_large_labels():
    labels = [2**60, 2**60 + 1]
    y = pd.Series([labels[i % 2] for i in range(N)])
    synthesizer = fitted(X, y, schema=Schema(target=Categorical(labels)))
    drawn = synthesizer.sample(300, random_state=0)[1]
    assert set(drawn) == set(labels)


def test_large_numbers_to_predict_are_numbers():
    y = pd.Series(2**60 + RNG.integers(0, 2**50, N))
    synthesizer = fitted(X, y, epsilon=2.0)
    assert synthesizer.task_ == "regression"
    assert labels_of(y, "regression").whole is None


# ------------------------------------------------------------ columns

MOVED = f"above {LARGEST_INT64}, the largest whole number that can be drawn"


@pytest.mark.parametrize("dtype", ["uint64", "UInt64", "uint64[pyarrow]"])
@pytest.mark.parametrize("bounds", [None, (0, 2**64 - 1)])
@pytest.mark.filterwarnings("ignore::skdpgen.exceptions.IdentifierWarning")
def test_rows_above_what_is_drawn_are_a_loss(dtype, bounds):
    few = np.arange(N // 2, dtype=np.uint64)
    hashes = np.r_[few, np.uint64(2**64 - 1) - np.uint64(4096) * few]
    table = pd.DataFrame({"hash": pd.Series(hashes).astype(dtype)})
    schema = None if bounds is None else Schema({"hash": Integer(*bounds)})
    with pytest.warns(SchemaWarning, match="Whole numbers are too large.*Regenerate"):
        synthesizer = fitted(table, epsilon=3.0, schema=schema)
    (stated,) = synthesizer.lost_
    assert MOVED in stated
    assert stated in str(synthesizer.privacy_)
    assert synthesizer.columns_["above"]["hash"] == pytest.approx(0.5, abs=0.1)


@NO_LOSS
@pytest.mark.filterwarnings("ignore::skdpgen.exceptions.IdentifierWarning")
def test_rounding_at_the_end_of_a_dtype_is_no_loss():
    values = np.r_[np.arange(N // 2), np.full(N // 2, 2**63 - 1)]
    table = pd.DataFrame({"a": values, "b": -values - 1})
    assert fitted(table, epsilon=3.0).lost_ == []


@NO_LOSS
def test_small_numbers_of_a_large_dtype_are_no_loss():
    table = pd.DataFrame({"a": RNG.integers(0, 50, N).astype("uint64")})
    assert fitted(table, epsilon=3.0).lost_ == []
