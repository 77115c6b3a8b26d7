"""Tables that the common tests run on, and what a sample must obey."""

from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import polars as pl

from skdpgen import DPDRESynthesizer
from skdpgen.datasets import load_example, load_example_regression
from skdpgen.synthesizers.base import with_parts
from skdpgen.tables import (
    Boolean,
    Categorical,
    Datetime,
    Integer,
    Numeric,
    Regenerate,
    Schema,
)
from tests._made import made, nested

N_ROWS = 1237  # odd, so that nothing else is equal to it by accident


@dataclass(frozen=True, eq=False)
class Case:
    """A table with what is publicly known of it."""

    X: Any
    y: Any = None
    schema: Schema | None = None
    classes: tuple[Any, ...] | None = None
    task: str | None = None


def mixed():
    X, y = load_example(N_ROWS)
    X["education"] = X["education"].mask(np.arange(N_ROWS) % 17 == 0)
    X["score"] = pd.Series(np.linspace(-1, 1, N_ROWS), dtype="Float32")
    X["score"] = X["score"].mask(X["age"] > 60)
    X["is_member"] = (X["age"] < 40).astype("boolean").mask(X["age"] > 70)
    X["is_plain"] = X["age"] < 50
    X["level"] = (X["age"] // 20).astype("int8")
    X["seen"] = X["customer_since"].dt.tz_localize("UTC")
    X.index = X.index[::-1]
    y.index = X.index
    return Case(X, y, Schema.infer(X), ("left", "stayed"), "classification")


def floats():
    rng = np.random.default_rng(1)
    y = (rng.random(N_ROWS) < 0.4).astype(int)
    X = rng.normal(size=(N_ROWS, 4)) + y[:, None]
    X[::7, 1] = np.nan
    return Case(X, y, Schema.infer(X), (0, 1), "classification")


def polars():
    X, y = load_example(N_ROWS)
    X = pl.from_pandas(X[["age", "job", "region", "income", "owns_home"]])
    return Case(X, y.tolist(), Schema.infer(X), ("left", "stayed"), "classification")


def unlabelled():
    X, _ = load_example(N_ROWS)
    return Case(X, None, Schema.infer(X))


def regression():
    X, y = load_example_regression(N_ROWS)
    return Case(X, y, Schema.infer(X, y), None, "regression")


def many_classes():
    rng = np.random.default_rng(2)
    y = pd.Series(rng.integers(0, 12, N_ROWS), name="digit")
    X = pd.DataFrame({"a": y + rng.normal(size=N_ROWS), "b": y % 3})
    return Case(X, y, Schema.infer(X), tuple(range(12)), "classification")


CASES = {
    make.__name__: make()
    for make in (mixed, floats, polars, unlabelled, regression, many_classes)
}


QUICK = {
    "max_iter": 6,
    "n_features": 64,
    "n_subsets": 6,
    "order": ("cells", 2),
    "width": 4,
    "batch_size": 64,
    "hidden_layer_sizes": (32,),
}


def build(cls, case, **params):
    """Return an estimator that knows what is public of a case, and trains little.

    Settings of the generator may be among the parameters.
    """
    known = {"schema": case.schema, "classes": case.classes, "random_state": 0}
    few = quick_settings(cls, params.get("algorithm"))
    if params.get("preset") == "paper" and "order" in few:
        few["order"] = (20, 2)
    return made(cls, **known | few | params)


def quick(cls, algorithm=None):
    """Return the parameters with which an estimator trains little."""
    return nested(cls, quick_settings(cls, algorithm))


def quick_settings(cls, algorithm=None):
    """Return them with settings of the generator among the parameters."""
    unused = {"n_features", "batch_size"} if algorithm == "per_step" else set()
    if cls is DPDRESynthesizer and algorithm != "sgd":
        unused.add("max_iter")
    known = settings_of(cls) - unused
    return {name: value for name, value in QUICK.items() if name in known}


def settings_of(cls):
    """Return names of the parameters of an estimator and of its generator."""
    own = cls().get_params(deep=False)
    return set(with_parts(own))


def split(sample, case):
    """Return X and y of a sample; y is None if the case has none."""
    return (sample, None) if case.y is None else sample


def as_pandas(table, schema):
    """Return any container as a data frame with the schema's names."""
    if isinstance(table, np.ndarray):
        return pd.DataFrame(table, columns=list(schema.columns))
    if isinstance(table, pd.DataFrame):
        return table
    return nw.from_native(table, eager_only=True).to_pandas()


def assert_obeys(table, schema):
    """Values are what the schema allows, column by column."""
    frame = as_pandas(table, schema)
    assert list(frame.columns) == list(schema.columns)
    for name, column in schema.columns.items():
        values = frame[name]
        assert column.nullable or not values.isna().any(), name
        known = values.dropna()
        codes = set(map(str, getattr(column, "codes", None) or ()))
        known = known[[str(value) not in codes for value in known]]
        if isinstance(column, Categorical):
            assert set(map(str, known)) <= set(map(str, column.values)), name
        elif isinstance(column, Regenerate):
            written = [column.template.format(i=i) for i in range(len(values))]
            assert values.tolist() == written, name
        elif isinstance(column, Boolean):
            assert set(known) <= {False, True}, name
        elif isinstance(column, Datetime):
            clocks = [pd.Timestamp(value).tz_localize(None) for value in known]
            stamps = pd.DatetimeIndex(clocks) - pd.Timestamp("2000")
            lower, upper = column.seconds
            slack = 1e-6  # stamps count microseconds
            assert (stamps.total_seconds() >= lower - slack).all(), name
            assert (stamps.total_seconds() <= upper + slack).all(), name
        else:
            assert isinstance(column, Numeric | Integer)
            numbers = known.to_numpy(dtype=np.float64)
            assert np.isfinite(numbers).all(), name
            slack = 1e-6 * max(abs(column.lower), abs(column.upper))
            slack = 0.0 if isinstance(column, Integer) else slack  # float32 columns
            assert (numbers >= column.lower - slack).all(), name
            assert (numbers <= column.upper + slack).all(), name
            if column.decimals is not None:
                rounded = numbers.round(column.decimals)
                np.testing.assert_allclose(numbers, rounded, rtol=1e-6, atol=1e-9)
