import numpy as np
import pandas as pd
import pytest

from skdpgen import (
    Boolean,
    Categorical,
    Datetime,
    DPIndependentSynthesizer,
    DPPairwiseSynthesizer,
    Integer,
    Numeric,
    Schema,
)
from skdpgen.exceptions import SchemaError
from skdpgen.privacy import insecure_noise_seed
from skdpgen.tables import Determines, Drop, LessEqual, MissingIf, SumOf

COLUMNS = {
    "low": Integer(0, 9),
    "high": Numeric(-3, 20),
    "top": Numeric(-5, 30),
    "sum": Numeric(-9, 99),
    "city": Categorical(["Rome", "Bari", "Graz", "Oslo"]),
    "country": Categorical(["IT", "AT", "NO"]),
    "married": Boolean(),
    "spouse": Integer(10, 90),
    "start": Datetime("2020-01-01", "2020-12-31", resolution="day"),
    "end": Datetime("2020-01-01", "2021-12-31"),
}
CITIES = {"Rome": "IT", "Bari": "IT", "Graz": "AT"}
RULES = [
    SumOf("sum", ["high", "low"]),
    LessEqual("high", "top"),
    LessEqual("low", "high"),
    Determines("city", "country", CITIES),
    MissingIf("spouse", "married", False),
    MissingIf("top", "country", "NO"),
    LessEqual("start", "end"),
]
SCHEMA = Schema(COLUMNS, rules=RULES)


def table(seed, n=400):
    rng = np.random.default_rng(seed)

    def gaps(values):
        return pd.Series(values).mask(rng.random(n) < 0.1)

    days = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 365, n), "D")
    return pd.DataFrame(
        {
            "low": gaps(rng.integers(0, 10, n)).astype("Int64"),
            "high": gaps(rng.uniform(-3, 20, n)),
            "top": gaps(rng.uniform(-5, 30, n)),
            "sum": gaps(rng.uniform(-9, 99, n)),
            "city": gaps(rng.choice(["Rome", "Bari", "Graz", "Oslo"], n)),
            "country": gaps(rng.choice(["IT", "AT", "NO"], n)),
            "married": gaps(rng.random(n) < 0.5).astype("boolean"),
            "spouse": gaps(rng.integers(10, 91, n)).astype("Int64"),
            "start": gaps(days),
            "end": gaps(days[::-1]),
        }
    )


def check(X):
    for low, high in (("low", "high"), ("high", "top"), ("start", "end")):
        both = X[[low, high]].dropna()
        assert len(both)
        assert (both[low] <= both[high]).all()
    all_there = X[["low", "high", "sum"]].dropna()
    total = all_there["low"].astype(float) + all_there["high"]
    np.testing.assert_allclose(all_there["sum"].astype(float), total)
    mapped = X["city"].isin(list(CITIES))
    assert (X["country"][mapped] == X["city"][mapped].map(CITIES)).all()
    assert X["spouse"][(X["married"] == False).fillna(False)].isna().all()  # noqa: E712
    assert X["spouse"].notna().any()
    assert X["top"][(X["country"] == "NO").fillna(False)].isna().all()
    for name in ("high", "top", "sum", "low", "spouse"):
        values = X[name].dropna().astype(float)
        assert values.between(COLUMNS[name].lower, COLUMNS[name].upper).all()


@pytest.mark.parametrize("make", [DPIndependentSynthesizer, DPPairwiseSynthesizer])
@pytest.mark.parametrize("seed", [0, 1])
def test_every_sampled_row_obeys(make, seed):
    synthesizer = make(epsilon=1.0, schema=SCHEMA, random_state=seed)
    X = synthesizer.fit(table(seed)).sample(2000, random_state=seed)
    check(X)
    assert list(X.columns) == list(COLUMNS)
    assert X.dtypes.equals(table(seed).dtypes)
    assert synthesizer.schema_.rules == tuple(RULES)
    assert "7 rules between columns: taken as public" in str(synthesizer.privacy_)


@pytest.mark.filterwarnings("ignore::skdpgen.exceptions.NotPrivateWarning")
def test_rules_are_free():
    fits = []
    for schema in (SCHEMA, Schema(COLUMNS)):
        with insecure_noise_seed(0):  # noisy counts decide what is asked for next
            synthesizer = DPIndependentSynthesizer(epsilon=1.0, schema=schema)
            fits.append(synthesizer.fit(table(0)))
    releases = [[(r.name, r.share) for r in fit.privacy_.releases] for fit in fits]
    assert releases[0] == releases[1]


def test_conditions_obey_or_are_an_error():
    synthesizer = DPPairwiseSynthesizer(epsilon=5.0, schema=SCHEMA).fit(table(0))
    X = synthesizer.sample(
        conditions=pd.DataFrame({"low": pd.array([9] * 300, "Int64")})
    )
    assert (X["low"] == 9).all()
    check(X)
    with pytest.raises(ValueError, match="'top' cannot be given"):
        synthesizer.sample(conditions=pd.DataFrame({"top": [1.0, 2.0]}))


def test_written_and_read_back():
    for back in (
        Schema.from_json(SCHEMA.to_json()),
        Schema.from_toml(SCHEMA.to_toml()),
        Schema.of(SCHEMA.to_dict()),
    ):
        assert back == SCHEMA
        assert back.rules == tuple(RULES)
    assert "LessEqual(low='low', high='high')" in repr(SCHEMA)


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ([LessEqual("low", "nowhere")], "must be in the schema"),
        ([LessEqual("gone", "low")], "must be in the schema"),
        ([LessEqual("top", "high")], "needs upper bounds in that order"),
        ([LessEqual("high", "spouse")], "as finely rounded"),
        ([LessEqual("low", "end")], "two numbers or two times"),
        ([LessEqual("low", "city")], "two numbers or two times"),
        ([SumOf("top", ["high", "spouse"])], "hold every sum"),
        ([SumOf("sum", ["city"])], "needs numbers"),
        ([Determines("city", "country", {"Lima": "PE"})], "can have. Got Lima"),
        ([Determines("city", "country", {"Rome": "PE"})], "can have. Got PE"),
        ([MissingIf("spouse", "city", "Lima")], "a value that 'city' can have"),
        ([MissingIf("sure", "city", "Rome")], "that can be missing"),
    ],
)
def test_contradictions_are_errors_before_anything_is_paid(rules, message):
    columns = {**COLUMNS, "gone": Drop(), "sure": Integer(0, 3, nullable=False)}
    with pytest.raises(SchemaError, match=message):
        Schema(columns, rules=rules).check()


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ([LessEqual("a", "b"), LessEqual("b", "a")], "in a circle"),
        ([LessEqual("a", "a")], "in a circle"),
        ([SumOf("a", ["b"]), SumOf("a", ["c"])], "one rule only"),
        ([SumOf("a", ["b"]), LessEqual("c", "a")], "one rule only"),
        ([Determines("a", "b", {}), MissingIf("b", "c", 1)], "one rule only"),
        (["a <= b"], "A rule must be one"),
        ([{"type": "LessEqual", "low": "a"}], "A rule must be one"),
    ],
)
def test_rules_that_contradict_each_other_are_errors(rules, message):
    with pytest.raises(SchemaError, match=message):
        Schema(COLUMNS, rules=rules)


def test_a_dtype_that_cannot_be_missing_is_an_error():
    schema = Schema(
        {"a": Integer(0, 9), "b": Integer(0, 9)}, rules=[MissingIf("a", "b", 1)]
    )
    X = pd.DataFrame({"a": [1, 2] * 50, "b": [1, 2] * 50})
    with pytest.raises(SchemaError, match="holds no missing values"):
        DPIndependentSynthesizer(schema=schema).fit(X)


def test_parts_are_a_list():
    with pytest.raises(SchemaError, match="a list of columns"):
        SumOf("a", "bc")
