"""Wrong parameters get an error: the rule, what was given, the way out."""

from functools import partial
from itertools import repeat

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.exceptions import NotFittedError

from skdpgen import (
    DPIndependentSynthesizer,
    DPPairwiseSynthesizer,
    all_synthesizers,
    plan,
)
from skdpgen.datasets import load_example, load_example_regression
from skdpgen.exceptions import SchemaError, SchemaRequiredError
from skdpgen.privacy import PrivacyBudget
from skdpgen.tables import (
    Categorical,
    Chunks,
    Drop,
    Integer,
    Numeric,
    Schema,
)

X, Y = load_example(300)
KNOWN = Schema.infer(X)
LABELS = ["left", "stayed"]


def fit(table=X, y=Y, **params):
    known = {"schema": KNOWN, "classes": LABELS, "random_state": 0}
    return DPIndependentSynthesizer(**known | params).fit(table, y)


WRONG = {
    "epsilon zero": ({"epsilon": 0}, r"'epsilon'.*range \(0\.0, inf\]. Got 0"),
    "epsilon negative": ({"epsilon": -1.0}, r"'epsilon'.*Got -1.0"),
    "epsilon nan": ({"epsilon": np.nan}, r"'epsilon'.*Got nan"),
    "epsilon text": ({"epsilon": "1"}, r"'epsilon'.*Got '1'"),
    "epsilon true": ({"epsilon": True}, r"'epsilon'.*range \(0\.0, inf\]. Got True"),
    "epsilon numpy true": ({"epsilon": np.True_}, r"'epsilon'.*Got np.True_"),
    "delta true": ({"delta": True}, r"'delta'.*Got True"),
    "delta numpy false": ({"delta": np.False_}, r"'delta'.*Got np.False_"),
    "delta zero": ({"delta": 0}, r"'delta'.*range \(0\.0, 1\.0\) or None. Got 0"),
    "delta one": ({"delta": 1.0}, r"'delta'.*Got 1.0"),
    "delta nan": ({"delta": np.nan}, r"'delta'.*Got nan"),
    "adjacency": ({"adjacency": "swap"}, r"'adjacency'.*'replace'.*Got 'swap'"),
    "schema number": ({"schema": 3}, r"'schema'.*Schema'.*'dict'.*Got 3"),
    "task": ({"task": "ranking"}, r"'task'.*Got 'ranking'"),
    "verbose": ({"verbose": -1}, r"'verbose'.*Got -1"),
    "classes text": ({"classes": 3}, r"'classes'.*array-like.*Got 3"),
    "classes empty": ({"classes": []}, r"classes must"),
    "classes twice": ({"classes": ["a", "a"]}, r"classes must"),
    "classes missing": ({"classes": ["a", None]}, r"classes must.*missing"),
    "classes and target": (
        {"schema": Schema(KNOWN.columns, Categorical(["a", "b"]))},
        r"classes must be the categories.*'left'.*'a'.*leave one out",
    ),
    "numeric target": (
        {"schema": Schema(KNOWN.columns, Numeric(0, 1)), "classes": None},
        r"must be Categorical, Boolean or Integer. Got Numeric.*regression",
    ),
    "endless target": (
        {"schema": Schema(KNOWN.columns, Integer(0, 10**9)), "classes": None},
        r"at most 10000 classes. Got 0 to 1000000000.*regression",
    ),
    "incomplete": ({"schema": Schema.template(X)}, r"without: age"),
    "regression of a class": (
        {
            "task": "regression",
            "schema": Schema({}, Categorical(["a"])),
            "classes": None,
        },
        r"target of a regression must be Numeric.*Got Categorical",
    ),
    "beyond the dtype": (
        {"schema": KNOWN.with_column("age", Integer(2**70, 2**71))},
        r"column 'age' must overlap what its dtype can hold",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_parameter_names_rule_and_value(name):
    params, message = WRONG[name]
    with pytest.raises(ValueError, match=message):
        fit(**params)


WRONG_TABLES = {
    "missing column": (X.drop(columns="age"), Y, SchemaError, r"without age; add"),
    "duplicates": (X[["age", "age"]], Y, SchemaError, r"distinct. Got age twice"),
    "NaN": (X.rename(columns={"age": np.nan}), Y, SchemaError, r"must have a name"),
    "NA": (X.rename(columns={"age": pd.NA}), Y, SchemaError, r"must have a name"),
    "y shorter": (X, Y[:-1], ValueError, r"one label a row.*inconsistent"),
    "y wide": (X, np.zeros((300, 2)), ValueError, r"y should be a 1d array"),
    "y frame": (X, X[["age", "job"]], ValueError, r"one column. Got 2"),
    "no rows": (X[:0], Y[:0], ValueError, r"minimum of 2 is required"),
    "one row": (X[:1], Y[:1], ValueError, r"1 sample\(s\).*minimum of 2"),
    "no columns": (X[[]], Y, SchemaError, r"without age"),
    "list": ([1, 2, 3], None, ValueError, r"Expected 2D array, got 1D array"),
    "text": ("table", None, TypeError, r"X must be a table\. Got 'table'"),
    "cube": (np.zeros((3, 3, 3)), None, ValueError, r"tables of two dimensions"),
    "sparse": (scipy.sparse.eye(9).tocsr(), None, TypeError, r"dense.*X.toarray\(\)"),
    "durations": (
        pd.DataFrame({"a": pd.to_timedelta([1, 2], unit="s")}),
        None,
        TypeError,
        r"timedelta.*total_seconds",
    ),
    "complex": (
        np.array([[1j], [2j]]),
        None,
        ValueError,
        r"Complex data not supported",
    ),
    "y beside chunks": (Chunks(lambda: [(X, Y)]), Y, ValueError, r"\(X, y\) pairs"),
    "chunks of other columns": (
        Chunks(lambda: [(X, Y), (X[["age"]], Y)]),
        None,
        ValueError,
        r"columns of the first",
    ),
    "chunks that end": (
        Chunks(partial(next, repeat(iter([(X, Y)])))),
        None,
        ValueError,
        r"anew at each call",
    ),
    "chunks that are a list": (Chunks([X]), None, TypeError, r"takes a function.*list"),
}


@pytest.mark.parametrize("name", WRONG_TABLES)
def test_a_wrong_table_names_rule_and_way_out(name):
    table, y, error, message = WRONG_TABLES[name]
    with pytest.raises(error, match=message):
        fit(table, y)


def test_columns_must_not_all_be_left_out():
    schema = Schema(dict.fromkeys(["age"], Drop()))
    with pytest.raises(SchemaError, match="At least one column must be kept"):
        fit(X[["age"]], schema=schema)
    with pytest.raises(ValueError, match="X must have a column"):
        fit(X[[]], schema=None)


WRONG_SAMPLES = {
    "none": ({"n_samples": 0}, r"n_samples must be an integer.*Got 0"),
    "negative": ({"n_samples": -3}, r"Got -3"),
    "half": ({"n_samples": 2.5}, r"Got 2.5"),
    "text": ({"n_samples": "all"}, r"Got 'all'"),
    "another length": ({"n_samples": 3, "y": ["left"]}, r"len\(y\)=1.*Got 3"),
    "unseen": ({"y": ["left", "moved"]}, r"left, stayed. Got moved.*classes="),
    "one label": ({"y": "left"}, r"one label a row. Got str"),
    "seed": ({"n_samples": 3, "random_state": "zero"}, r"zero"),
}


@pytest.mark.parametrize("name", WRONG_SAMPLES)
def test_a_wrong_sample_names_rule_and_value(name):
    params, message = WRONG_SAMPLES[name]
    synth = fit()
    with pytest.raises(ValueError, match=message):
        synth.sample(**params)


def test_sampling_before_fit():
    with pytest.raises(NotFittedError, match="not fitted yet"):
        DPIndependentSynthesizer().sample(3)


@pytest.mark.parametrize(
    ("shares", "problem"),
    [
        ({"left": 0.5}, "sums to 0.5"),  # it once drew nothing but "left"
        ({"left": 0.7, "stayed": 0.7}, "sums to 1.4"),
        ({"left": 1, "stayed": 3}, "not a number from 0 to 1"),
        ({"left": 0, "stayed": 0}, "sums to 0"),
        ({}, "sums to 0"),
        ({"left": 0.5, "stayed": 0.499}, "sums to 0.999"),
        ({"left": 1.5, "stayed": -0.5}, "not a number from 0 to 1"),
        ({"left": float("nan"), "stayed": 1.0}, "not a number from 0 to 1"),
        ({"left": float("inf")}, "not a number from 0 to 1"),
        ({"left": "1.0"}, "not a number from 0 to 1"),
        ({"left": True}, "not a number from 0 to 1"),
        ({"moved": 1.0}, "Got {'moved': 1.0}"),
        ({"left": 0.5, "stayed": 0.5, "moved": 0.0}, "Got {'left'"),
        ("even", "Got 'even'"),
        (3, "Got 3"),
    ],
    ids=str,
)
def test_class_shares_that_cannot_be(shares, problem):
    with pytest.raises(
        ValueError, match="class_distribution must be 'balanced'"
    ) as caught:
        fit().sample(3, class_distribution=shares)
    message = str(caught.value)
    assert problem in message
    assert "the classes are ['left', 'stayed']. List every class" in message


def test_class_shares_need_classes_and_no_labels():
    table, y = load_example_regression(300)
    synth = fit(table, y, schema=Schema.infer(table, y), classes=None)
    with pytest.raises(ValueError, match="class_distribution must be None"):
        synth.sample(3, class_distribution="balanced")
    with pytest.raises(ValueError, match="class_distribution must be None"):
        fit().sample(y=["left"], class_distribution="balanced")


@pytest.mark.parametrize("cls", [DPIndependentSynthesizer, DPPairwiseSynthesizer])
def test_class_shares_say_how_often_labels_come(cls):
    synth = cls(epsilon=8.0, schema=KNOWN, classes=LABELS).fit(X, Y)
    _, y = synth.sample(400, class_distribution="balanced")
    assert (y == "left").sum() == 200
    _, y = synth.sample(400, class_distribution={"left": 0.25, "stayed": 0.75})
    assert (y == "left").sum() == 100
    _, y = synth.sample(400, class_distribution={"left": 1})
    assert set(y) == {"left"}
    _, y = synth.sample(400, class_distribution={"left": 1 / 3, "stayed": 2 / 3 + 1e-9})
    assert (y == "left").sum() in (133, 134)


def test_class_weights_need_classes():
    table, y = load_example_regression(300)
    synth = DPPairwiseSynthesizer(
        schema=Schema.infer(table, y), class_weight="balanced"
    )
    with pytest.raises(ValueError, match="class_weight must be None unless"):
        synth.fit(table, y)
    with pytest.raises(ValueError, match=r"'class_weight'.*'balanced'.*Got 'even'"):
        synth.set_params(class_weight="even").fit(table, y)


def test_too_small_for_discovery():
    with pytest.raises(SchemaRequiredError, match=r"Schema.template\(X\)"):
        fit(schema=None, epsilon=0.1)


def test_wrong_plans():
    with pytest.raises(ValueError, match="n must be at least 2"):
        plan(1, 3)
    with pytest.raises(ValueError, match="columns at least 1"):
        plan(100, 0)
    with pytest.raises(ValueError, match="epsilon"):
        plan(100, 3, epsilon=0)


@pytest.mark.parametrize("output", ["numpy", 3])
def test_wrong_outputs(output):
    with pytest.raises(ValueError, match=f"'polars'. Got {output!r}"):
        DPIndependentSynthesizer().set_output(transform=output)


@pytest.mark.parametrize("name", ["epsilon", "delta"])
@pytest.mark.parametrize("value", [True, False, np.True_, "1", None, 1j])
def test_a_budget_is_made_of_numbers(name, value):
    message = rf"{name} must be a number. Got .*{value}"
    with pytest.raises(TypeError, match=message):
        PrivacyBudget(**{"epsilon": 1.0, "delta": 1e-5} | {name: value})
    if name == "delta" and value is None:
        return  # which is chosen by the number of rows
    with pytest.raises(TypeError, match=message):
        plan(1000, 5, **{name: value})
    for cls in all_synthesizers().values():
        synth = cls(**{name: value})
        with pytest.raises(ValueError, match=rf"'{name}' parameter of {cls.__name__}"):
            synth.fit(X, Y)
        assert not hasattr(synth, "privacy_")


def test_a_budget_may_be_of_any_kind_of_number():
    for epsilon in (1, 1.0, np.float32(1), np.int64(1)):
        mu = PrivacyBudget(epsilon, np.float64(1e-5)).mu
        assert mu == pytest.approx(0.268, abs=1e-3)
        assert plan(1000, 5, epsilon).epsilon == 1


def test_a_column_may_be_called_none():
    """Beside names of text it was taken for NaN, after the budget was spent."""
    X = pd.DataFrame(np.zeros((300, 2)), columns=pd.Index([None, "b"], dtype=object))
    synth = DPIndependentSynthesizer(epsilon=100.0).fit(X)
    assert list(synth.columns_.index) == [None, "b"]
    assert list(synth.sample(5).columns) == [None, "b"]
