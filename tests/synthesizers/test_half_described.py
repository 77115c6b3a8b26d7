"""A schema that says a part of what there is to know of a column, in any order."""

import numpy as np
import pandas as pd
import pytest

from skdpgen import (
    Datetime,
    DPIndependentSynthesizer,
    Integer,
    Numeric,
    Schema,
)
from skdpgen.exceptions import SchemaError, SchemaWarning
from tests._seeded import same_noise


def table(n=3000):
    rng = np.random.default_rng(0)
    start = pd.Timestamp("2020-01-01")
    days = pd.to_timedelta(rng.integers(0, 900, n), unit="D")
    return pd.DataFrame(
        {
            "age": rng.integers(18, 90, n),
            "income": np.round(rng.lognormal(10, 0.8, n), 2),
            "day": start + days,
        }
    )


def fitted(schema, X=None, y=None, **params):
    with same_noise(0):
        return DPIndependentSynthesizer(
            1.0, schema=schema, random_state=0, **params
        ).fit(table() if X is None else X, y)


@pytest.mark.parametrize(
    ("name", "column", "facts"),
    [
        ("age", Integer(0), {"lower": 0}),
        ("age", Integer(None, 120), {"upper": 120}),
        ("age", Numeric(upper=120), {"upper": 120, "decimals": 0}),
        ("income", Numeric(0), {"lower": 0}),
        ("income", Numeric(decimals=1), {"decimals": 1}),
        ("day", Datetime("2020-01-01"), {"lower": "2020-01-01T00:00:00"}),
        ("day", Datetime(resolution="day"), {"resolution": "day"}),
    ],
)
def test_what_is_stated_is_kept_and_the_rest_is_discovered(name, column, facts):
    synth = fitted({name: column})
    described = synth.schema_.columns[name]
    assert {fact: getattr(described, fact) for fact in facts} == facts
    assert None not in (described.lower, described.upper)
    drawn, real = synth.sample(500, random_state=0)[name], table()[name]
    assert real.quantile(0.2) < drawn.quantile(0.5) < real.quantile(0.8)
    if "lower" in facts:
        assert drawn.min() >= pd.Series([facts["lower"]]).astype(real.dtype)[0]
    if "upper" in facts:
        assert drawn.max() <= facts["upper"]
    statements = str(synth.privacy_)
    assert f"a bound, form or codes of columns: taken as public ({name})" in statements
    assert "rest of the schema of 1 columns: discovered privately" in statements


@pytest.mark.parametrize("decimals", [0, 1])
def test_drawn_numbers_have_the_stated_decimals(decimals):
    synth = fitted({"income": Numeric(decimals=decimals)})
    drawn = synth.sample(200, random_state=0)["income"]
    assert (drawn == drawn.round(decimals)).all()
    described = synth.schema_.columns["income"]
    assert described.upper == round(described.upper, decimals)
    codes = fitted({"income": Numeric(0, decimals=decimals, codes=[-9])})
    assert codes.schema_.columns["income"].decimals == decimals


def test_a_bound_of_whole_numbers_is_whole():
    described = fitted({"age": Numeric(20.5)}).schema_.columns["age"]
    assert described.lower == 21
    assert type(described.lower) is type(described.upper) is int


@pytest.mark.parametrize(
    ("name", "column", "end"),
    [
        ("age", Integer(200), 200),
        ("age", Integer(None, -5), -5),
        ("day", Datetime("2050-01-01"), pd.Timestamp("2050-01-01")),
        ("day", Datetime(None, "1990-01-01"), pd.Timestamp("1990-01-01")),
    ],
)
def test_a_bound_that_no_row_obeys_is_kept_and_stated(name, column, end):
    with pytest.warns(SchemaWarning, match="moved to it"):
        synth = fitted({name: column})
    assert synth.sample(50)[name].eq(end).all()


def test_a_target_may_have_one_bound():
    X = table()
    y = X.pop("income")
    schema = Schema({}, target=Numeric(0))
    synth = fitted(schema, X, y, task="regression")
    assert synth.schema_.target.lower == 0
    assert "taken as public (target)" in str(synth.privacy_)


def test_labels_need_both_bounds():
    labels = pd.Series(np.arange(3000) % 3)
    with pytest.raises(SchemaError, match="needs lower and upper"):
        fitted(Schema({}, target=Integer(0)), y=labels)


def test_no_time_is_no_bound():
    with pytest.raises(SchemaError, match="must be times"):
        Datetime(pd.NaT)
    assert Datetime("2020-01-01", resolution="day").n_values is None


def test_the_order_of_a_schema_does_not_matter():
    columns = {"income": Numeric(0, 500_000, decimals=2), "age": Integer(18, 110)}
    drawn = [
        fitted(dict(items)).sample(100, random_state=0)
        for items in (columns.items(), reversed(columns.items()))
    ]
    assert list(drawn[0]) == ["age", "income", "day"]
    pd.testing.assert_frame_equal(*drawn)


@pytest.mark.parametrize(
    ("column", "match"),
    [
        (Numeric("low"), "finite bounds"),
        (Numeric(float("nan")), "finite bounds"),
        (Integer(0.5), "must be whole"),
        (Integer(), "without: age"),
        (Numeric(nullable=False), "without: age"),
    ],
)
def test_what_says_nothing_or_nonsense_is_refused(column, match):
    with pytest.raises(SchemaError, match=match):
        fitted({"age": column, "income": Integer()})


def test_it_survives_a_file(tmp_path):
    schema = Schema({"age": Integer(0), "day": Datetime(resolution="day")})
    schema.save(tmp_path / "schema.toml")
    assert Schema.load(tmp_path / "schema.toml") == schema
    assert schema.unfilled() == []
    assert schema.known() == schema
