import json
import math
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skdpgen import DPIndependentSynthesizer
from skdpgen.datasets import load_example, load_example_regression
from skdpgen.exceptions import SchemaError
from skdpgen.tables import (
    READ_OFF,
    Boolean,
    Categorical,
    Datetime,
    Drop,
    Integer,
    Numeric,
    Ordinal,
    Regenerate,
    Schema,
)

FULL = Schema(
    {
        "age": Integer(17, 90, nullable=False),
        "price, net": Numeric(-1.5, 1e12, decimals=2),
        "rate": Numeric(0, 1),
        "colour": Categorical(["red", 'wh"ite', "", "ünïcode\n"]),
        "size": Ordinal(["S", "M", "L"], nullable=False),
        "code": Categorical([3, 1, 2]),
        "member": Boolean(),
        "since": Datetime("2012-01-31", pd.Timestamp("2024-02-29 12:30:00")),
        "until": Datetime("2012-01-31", "2013-01-31", resolution="day"),
        "zone": Datetime("2012-01-31T00:00:00+02:00", "2013-01-31T00:00:00Z"),
        "name": Drop(),
        "id": Regenerate("id-{i:04d}"),
    },
    target=Categorical(["no", "yes"], nullable=False),
)
FORMS = {
    "dict": lambda s: Schema.from_dict(s.to_dict()),
    "plain": lambda s: Schema.from_dict(json.loads(json.dumps(s.to_dict()))),
    "json": lambda s: Schema.from_json(s.to_json()),
    "toml": lambda s: Schema.from_toml(s.to_toml()),
}


@pytest.mark.parametrize("form", FORMS)
def test_round_trips(form):
    assert FORMS[form](FULL) == FULL
    assert FORMS[form](Schema()) == Schema()
    FORMS[form](FULL).check()


@pytest.mark.parametrize("ending", ["json", "toml"])
def test_files(tmp_path, ending):
    path = tmp_path / f"schema.{ending}"
    FULL.save(path)
    assert Schema.load(path) == FULL
    assert Schema.load(str(path)) == FULL


finite = st.floats(allow_nan=False, allow_infinity=False)
pairs = st.tuples(finite, finite).map(sorted)
text = st.text(st.characters(codec="utf-8"), max_size=12)
columns = st.one_of(
    pairs.map(lambda p: Numeric(*p)),
    st.tuples(pairs, st.integers(0, 9)).map(lambda p: Numeric(*p[0], p[1])),
    st.tuples(st.integers(), st.integers()).map(lambda p: Integer(min(p), max(p))),
    st.lists(text, unique=True).map(Categorical),
    st.lists(st.integers(), unique=True, min_size=1).map(lambda c: Ordinal(c, False)),
    st.booleans().map(Boolean),
    st.tuples(st.datetimes(), st.datetimes()).map(lambda p: Datetime(min(p), max(p))),
    st.just(Drop()),
    st.just(Regenerate()),
)


@given(st.dictionaries(text, columns, max_size=4), st.none() | columns)
@settings(deadline=None)
def test_any_schema_survives_its_files(found, target):
    schema = Schema(found, target)
    for form in FORMS.values():
        assert form(schema) == schema


def test_values_from_numpy_become_plain():
    column = Categorical(np.array([1, 2]))
    assert [type(c) for c in column.categories] == [int, int]
    assert Categorical(pd.Series(["a"])) == Categorical(["a"])


def test_the_template_knows_names_and_dtypes_only():
    X, y = load_example(50)
    template = Schema.template(X, y)
    assert list(template.columns) == list(X.columns)
    assert template.columns["age"] == Integer(nullable=False)
    assert template.columns["job"] == Categorical()
    assert template.columns["education"] == Categorical()
    assert template.columns["complaints"] == Integer()
    assert template.columns["owns_home"] == Boolean(nullable=False)
    assert template.columns["customer_since"] == Datetime()
    assert template.target == Categorical(nullable=False)
    other = X.sample(frac=1.0, random_state=0).assign(age=5)
    assert Schema.template(other, y) == template
    regression = Schema.template(*load_example_regression(50))
    assert regression.target == Numeric(nullable=False)


def test_a_template_must_be_filled_in():
    X, y = load_example(50)
    with pytest.raises(SchemaError, match="without: age"):
        Schema.template(X, y).check()


def test_inference_finds_bounds_and_categories():
    X, y = load_example(500)
    schema = Schema.infer(X, y).check()
    assert schema.columns["age"] == Integer(X["age"].min(), X["age"].max(), False)
    assert schema.columns["balance"].decimals == 2
    assert schema.columns["region"].categories == tuple(
        sorted(X["region"].dropna().unique())
    )
    assert schema.columns["region"].nullable
    assert not schema.columns["job"].nullable
    assert schema.target == Categorical(["left", "stayed"], nullable=False)
    assert schema.columns["customer_since"].whole_days


@pytest.mark.parametrize("form", ["%Y-%m-%d", "%d.%m.%Y", "%Y-%m-%d %H:%M:%S"])
def test_inference_reads_dates_that_are_text(form):
    days = pd.date_range("2023-12-20", periods=30, freq="D").strftime(form)
    texts = pd.Series([*days[::-1], None], dtype=object)
    column = Schema.infer(pd.DataFrame({"day": texts})).columns["day"]
    assert (column.format, column.nullable) == (form, True)
    assert column.lower.startswith("2023-12-20")
    assert column.upper.startswith("2024-01-18")
    for others in ([*days, "never"], days[:12]):  # words beside; too few to be a date
        mixed = pd.DataFrame({"day": pd.Series(list(others), dtype=object)})
        assert isinstance(Schema.infer(mixed).columns["day"], Categorical)


def test_inference_survives_columns_without_values():
    frame = pd.DataFrame(
        {
            "a": [np.nan, np.inf],
            "b": [None, None],
            "c": pd.Series([None, None], dtype="Int64"),
            "d": pd.Series([None, None], dtype="datetime64[ns]"),
            "e": pd.Series([None, None], dtype="boolean"),
            "f": [1e300, -np.inf],
        }
    )
    Schema.infer(frame).check()


@pytest.mark.parametrize("wrap", [pl.from_pandas, lambda X: X])
def test_a_fit_with_an_inferred_schema_says_so(wrap):
    X, y = load_example(200)
    X = X[["age", "job"]]
    synth = DPIndependentSynthesizer(schema=Schema.infer(wrap(X), y)).fit(wrap(X), y)
    assert READ_OFF in synth.privacy_.statements
    assert READ_OFF in str(synth.privacy_)
    assert synth.schema_.columns["age"].upper == X["age"].max()


def test_a_schema_given_as_a_dict_is_taken_as_public():
    X, y = load_example(200)
    known = {"columns": {"owns_home": {"type": "Boolean"}}}
    synth = DPIndependentSynthesizer(schema=known, classes=["left", "stayed"])
    synth.fit(X[["owns_home"]], y)
    assert synth.schema_.columns == {"owns_home": Boolean(nullable=False)}
    assert "schema of 1 columns: taken as public" in str(synth.privacy_)


# ------------------------------------------------------------------ bad schemas

BAD = {
    "no bounds": (Numeric(), r"'x' needs lower and upper.*lower=None.*discovered"),
    "no bound": (Integer(), r"'x' needs lower and upper.*upper=None"),
    "half a bound of text": (Numeric("low"), r"finite bounds.*lower='low'"),
    "half a bound in parts": (Integer(0.5), r"must be whole.*lower=0.5"),
    "reversed": (Numeric(2, 1), r"lower <= upper.*lower=2.*exchange"),
    "infinite": (Numeric(-math.inf, 1), r"finite lower <= upper.*-inf"),
    "not a number": (Numeric(math.nan, 1), r"finite lower <= upper.*nan"),
    "text for a bound": (Numeric("low", 1), r"finite lower <= upper.*'low'"),
    "no float": (Numeric(Decimal(0), 1), r"as int or float.*Decimal\('0'\)"),
    "too wide": (Numeric(-1e308, 1e308), r"a finite width.*1e\+308"),
    "half an integer": (Integer(0.5, 2), r"Integer column 'x' must be whole.*0.5"),
    "half a decimal": (Numeric(0, 1, 1.5), r"decimals of column 'x'.*1.5"),
    "many decimals": (Numeric(0, 1, 12), r"decimals of column 'x'.*0..9.*12"),
    "reversed times": (
        Datetime("2021", "2020"),
        r"'x' must have lower <= upper",
    ),
    "no times": (Datetime(), r"'x' needs lower and upper"),
    "no categories": (Categorical(), r"'x' needs its categories.*discovered"),
    "twice": (Categorical(["a", "a"]), r"categories of column 'x' must be distinct"),
    "alike as text": (Categorical([1, "1"]), r"must be distinct"),
    "missing": (Categorical(["a", None]), r"not be missing values.*nullable=True"),
    "missing number": (Categorical([1.0, math.nan]), r"not be missing.*nullable=True"),
    "nothing": (Categorical([], nullable=False), r"'x' must have a category.*nullable"),
    "template": (Regenerate("{name}"), r"template of column 'x'.*format of i.*{name}"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_column_names_rule_and_value(name):
    column, message = BAD[name]
    with pytest.raises(SchemaError, match=message):
        Schema({"x": column}).check()
    with pytest.raises(SchemaError, match=message.replace("'x'", "'target'")):
        Schema(target=column).check()


def test_what_a_dtype_excludes_leaves_a_category():
    X = pd.DataFrame({"x": np.arange(50), "t": list("ab") * 25})
    schema = Schema({"x": Categorical([])})  # may be missing, unlike an int64
    with pytest.raises(SchemaError, match=r"'x' must have a category.*dtype that can"):
        DPIndependentSynthesizer(10.0, schema=schema).fit(X)


BAD_FORMS = {
    "type": ({"columns": {"x": {"type": "Float"}}}, "must be one of Numeric.*'Float'"),
    "no type": ({"columns": {"x": {"lower": 0}}}, "must be one of Numeric.*None"),
    "argument": (
        {"columns": {"x": {"type": "Boolean", "lower": 0}}},
        "Boolean column 'x' takes nullable. Got lower besides",
    ),
    "entry": ({"column": {}}, "entries columns, target, other and rules. Got column"),
    "number for a column": (
        {"columns": {"x": 5}},
        "'x' must be a column type.*Got int",
    ),
    "list of columns": ({"columns": ["x"]}, "A schema is a table of columns"),
    "list": ([], "A schema is a table of columns.*Got list"),
}


@pytest.mark.parametrize("name", BAD_FORMS)
def test_a_bad_dict_names_rule_and_value(name):
    content, message = BAD_FORMS[name]
    with pytest.raises(SchemaError, match=message):
        Schema.from_dict(content)


def test_other_things_are_no_columns():
    with pytest.raises(SchemaError, match=r"'x' must be a column type.*Got str"):
        Schema({"x": "Numeric"})
    with pytest.raises(SchemaError, match=r"must be times.*'yesterday'"):
        Datetime("yesterday", "2024-01-01")
    with pytest.raises(SchemaError, match=r"list of values.*'abc'"):
        Categorical("abc")
