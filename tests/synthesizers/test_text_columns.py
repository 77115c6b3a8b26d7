"""Numbers and times that a table holds as text, read and written as a schema says."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from skdpgen import (
    Datetime,
    DPIndependentSynthesizer,
    DPPairwiseSynthesizer,
    Integer,
    Numeric,
    Schema,
    load,
)
from skdpgen.exceptions import SchemaError
from skdpgen.privacy import insecure_noise_seed
from skdpgen.tables import Chunks, form_of_column

seeded = pytest.mark.filterwarnings("ignore::skdpgen.exceptions.NotPrivateWarning")
N = 3000
RNG = np.random.default_rng(0)
PASSED = pd.to_timedelta(RNG.integers(0, 300, N), "D")
DAYS = pd.Series(pd.Timestamp("2021-03-01") + PASSED)
MONEY = pd.Series(RNG.gamma(2.0, 900.0, N).round(2))
COUNTS = pd.Series(RNG.integers(0, 5000, N))
X = pd.DataFrame(
    {
        "day": DAYS.dt.strftime("%d.%m.%Y"),
        "paid": [f" {value:,.2f}" for value in MONEY],
        "steps": [f"+{value:,}" for value in COUNTS],
    }
)
X.loc[:9, "day"] = "31.02.2021"
X.loc[:9, "paid"] = "much"
FORM = "%d.%m.%Y"
KNOWN = {
    "day": Datetime("2021-01-01", "2021-12-31", format=FORM),
    "paid": Numeric(0, 10_000, decimals=2, parse=True),
    "steps": Integer(0, 5000, nullable=False, parse=True),
}
HINTS = {
    "day": Datetime(format=FORM),
    "paid": Numeric(decimals=2, parse=True),
    "steps": Integer(nullable=False, parse=True),
}


def assert_alike(drawn):
    """Text as it came in, and about as large."""
    assert drawn.dtypes.tolist() == X.dtypes.tolist()
    days = pd.to_datetime(drawn["day"].dropna(), format=FORM)
    assert abs((days.mean() - DAYS.mean()).days) < 20
    assert drawn["paid"].dropna().str.fullmatch(r"\d+\.\d\d").all()
    assert drawn["paid"].dropna().astype(float).mean() == pytest.approx(1800, rel=0.1)
    assert drawn["steps"].str.fullmatch(r"\d+").all()
    assert drawn["steps"].astype(int).mean() == pytest.approx(2500, rel=0.1)


@pytest.mark.parametrize("columns", [KNOWN, HINTS], ids=["bounds", "hints"])
@pytest.mark.parametrize("cls", [DPIndependentSynthesizer, DPPairwiseSynthesizer])
def test_text_is_read_and_written_as_the_schema_says(cls, columns, tmp_path):
    synth = cls(10.0, schema=Schema(columns)).fit(X)
    assert_alike(synth.sample(1000))
    synth.save(tmp_path / "saved.npz")
    assert_alike(load(tmp_path / "saved.npz").sample(1000))
    assert synth.schema_.check().columns["day"].format == FORM
    assert synth.schema_.columns["day"].whole_days
    assert synth.schema_.columns["paid"].decimals == 2
    assert not synth.schema_.columns["steps"].nullable
    assert not synth.cells_["steps"].nullable  # else noise draws a missing one


def test_hints_are_discovered_and_paid_for():
    hinted = DPIndependentSynthesizer(10.0, schema=Schema(HINTS)).fit(X)
    found = hinted.schema_.columns
    assert 4000 < found["steps"].upper < 40_000  # 8191, 16383 in one fit of 50
    assert found["day"].lower < "2021-04-01"
    report = str(hinted.privacy_)
    assert "octaves and words of 3 columns" in report
    stated = "a bound, form or codes of columns: taken as public (day, paid, steps)"
    assert stated in report
    assert "rest of the schema of 3 columns: discovered privately" in report
    known = DPIndependentSynthesizer(10.0, schema=Schema(KNOWN)).fit(X)
    assert "discovered" not in str(known.privacy_)
    assert "schema of 3 columns: taken as public" in str(known.privacy_)


@pytest.mark.parametrize("columns", [KNOWN, HINTS], ids=["bounds", "hints"])
def test_other_containers_and_chunks(columns):
    schema = Schema(columns)
    synth = DPIndependentSynthesizer(10.0, schema=schema).fit(pl.from_pandas(X))
    assert synth.sample(9).schema == pl.from_pandas(X).schema
    chunks = Chunks(lambda: (X[:1000], X[1000:]))
    params = {"epsilon": float("inf"), "schema": schema}
    whole = DPIndependentSynthesizer(**params).fit(X)
    parts = DPIndependentSynthesizer(**params).fit(chunks)
    assert whole.schema_ == parts.schema_
    np.testing.assert_array_equal(
        whole.release_.values["columns"], parts.release_.values["columns"]
    )


def test_rows_are_completed_from_text():
    synth = DPPairwiseSynthesizer(10.0, schema=Schema(KNOWN)).fit(X)
    given = pd.DataFrame({"day": ["01.05.2021"] * 3, "steps": ["1,234"] * 3})
    drawn = synth.sample(conditions=given)
    assert drawn["day"].tolist() == given["day"].tolist()
    assert drawn["steps"].tolist() == given["steps"].tolist()
    with pytest.raises(ValueError, match="values that the schema knows"):
        synth.sample(conditions=pd.DataFrame({"day": ["2021-05-01"]}))


def test_a_template_may_leave_hints_open():
    schema = Schema(HINTS)
    assert schema.unfilled() == []
    assert schema.known() == schema
    assert Schema.from_toml(schema.to_toml()) == schema
    assert Schema.from_json(schema.to_json()) == schema
    with pytest.raises(SchemaError, match="needs lower and upper"):
        Schema({"a": Datetime()}).columns["a"].check("a")


@pytest.mark.parametrize("kind", [Numeric, Integer])
def test_one_bound_of_parsed_numbers_may_be_left_out(kind):
    X = pd.DataFrame({"a": (np.arange(3000) % 40).astype(str)})
    ends = []  # so little noise does not decide
    for bounds in ({"lower": 0}, {"upper": 50}):
        schema = Schema({"a": kind(**bounds, parse=True)})
        synth = DPIndependentSynthesizer(1000.0, schema=schema, random_state=0).fit(X)
        column = synth.schema_.columns["a"]
        assert all(getattr(column, name) == end for name, end in bounds.items())
        ends.append((column.lower, column.upper))
        numbers = synth.sample(100)["a"].dropna().astype(float)
        assert numbers.between(column.lower, column.upper).all()
    assert 30 < ends[0][1] < 60
    assert -20 < ends[1][0] <= 5


def test_bounds_may_be_written_in_the_format():
    assert KNOWN["day"] == Datetime("01.01.2021", "31.12.2021", format=FORM)
    days = Datetime("02.01.2021", "2021-02-01", format="%m.%d.%Y")
    assert days.lower == days.upper


WRONG = {
    "numbers": (
        {"steps": KNOWN["steps"]},
        X.assign(steps=1),
        None,
        r"must hold text.*integer",
    ),
    "target": ({}, X, Numeric(0, 1, parse=True), r"columns of X.*convert y"),
}


@pytest.mark.parametrize("name", WRONG)
def test_format_and_parse_are_for_columns_of_text(name):
    columns, table, target, message = WRONG[name]
    schema = Schema(columns, target)
    with pytest.raises(SchemaError, match=message):
        DPIndependentSynthesizer(schema=schema, task="regression").fit(table, COUNTS)


def test_times_of_day_have_their_bounds_by_themselves():
    clock = pd.DataFrame({"a": [f"{i % 24:02d}:30" for i in range(N)]})
    schema = Schema({"a": Datetime(format="%H:%M")})
    synth = DPIndependentSynthesizer(10.0, schema=schema).fit(clock)
    assert "discovered" not in str(synth.privacy_)
    drawn = synth.sample(400)["a"].dropna()  # noise may show one that is missing
    assert drawn.str.fullmatch(r"[0-2]\d:[0-5]\d").all()
    assert drawn.str[:2].nunique() == 24


@pytest.mark.parametrize("form", ["yesterday", "", "%d.%m.", "%Q", 3])
def test_a_format_must_be_one(form):
    with pytest.raises(SchemaError, match=r"format of a Datetime.*%d.%m.%Y"):
        Datetime(format=form)


@seeded
@pytest.mark.parametrize("codes", [(), ("N",)])
def test_a_bound_that_is_public_holds_beside_one_that_is_found(codes):
    """A fifth of the amounts are below it: they are clipped, not shown."""
    rng = np.random.default_rng(0)
    below = rng.random(N) < 0.2
    amounts = np.where(below, -rng.gamma(2, 50, N), rng.gamma(2, 900, N))
    table = pd.DataFrame({"paid": [f"€ {amount:.2f}" for amount in amounts]})
    table.loc[:300, "paid"] = "N"
    column = Numeric(0, None, format="€ 1234.56", codes=codes)
    with insecure_noise_seed(0):
        synth = DPIndependentSynthesizer(10.0, schema=Schema({"paid": column})).fit(
            table
        )
    assert synth.schema_.columns["paid"].lower == 0
    assert not synth.sample(2000)["paid"].str.contains("-").any()


FOUND = {  # text that is found, and the format of the column
    "euros": ("€ 1.234,56", r"-?€ \d{1,3}(\.\d{3})*,\d\d"),
    "clock": ("%H:%M", r"([01]\d|2[0-3]):[0-5]\d"),
    "slashes": ("%-m/%-d/%Y", r"([1-9]|1[0-2])/[1-3]?\d/\d{4}"),
}


@seeded
def test_formats_are_found_kept_and_drawn(tmp_path):
    """They are in the schema that is saved, and a schema of them alone does as well."""
    rng = np.random.default_rng(0)
    german = str.maketrans(",.", ".,")
    table = pd.DataFrame(
        {
            "euros": [f"€ {paid:,.2f}".translate(german) for paid in MONEY],
            "clock": [f"{i % 24:02d}:{i % 60:02d}" for i in rng.integers(0, 999, N)],
            "slashes": [f"{day.month}/{day.day}/{day.year}" for day in DAYS],
        }
    )
    with insecure_noise_seed(0):
        found = DPIndependentSynthesizer(10.0).fit(table)
    found.save(tmp_path / "saved.npz")
    again = load(tmp_path / "saved.npz")
    with insecure_noise_seed(0):
        given = DPIndependentSynthesizer(10.0, schema=again.schema_).fit(table)
    for synth in (found, again, given):
        drawn = synth.sample(500)
        for name, (form, look) in FOUND.items():
            assert synth.schema_.columns[name].format == form
            assert drawn[name].dropna().str.fullmatch(look).all()
    read = form_of_column(found.schema_.columns["euros"]).read
    paid = [read(text) for text in drawn["euros"].dropna()]
    assert np.mean(paid) == pytest.approx(MONEY.mean(), rel=0.1)


@seeded
@pytest.mark.parametrize(
    "make", [pd.DataFrame, pl.from_pandas], ids=["pandas", "polars"]
)
@pytest.mark.parametrize(
    "values", [[3, 17, 400], [0.5, 1.25], ["1", "2", "N"], ["1.5", "2.5"]]
)
def test_a_category_dtype_is_one_of_categories(values, make):
    codes = np.random.default_rng(0).choice(len(values), N)
    column = pd.Series(pd.Categorical.from_codes(codes, values))
    if make is not pd.DataFrame and not isinstance(values[0], str):
        pytest.skip("polars has categories of text alone")
    table = pd.DataFrame({"a": column, "b": COUNTS})
    with insecure_noise_seed(0):
        synth = DPIndependentSynthesizer(10.0).fit(make(table))
    assert set(synth.schema_.columns["a"].categories) == set(map(str, values))
    assert set(synth.sample(300)["a"].unique()) == set(values)
    assert "kinds and numbers" not in str(synth.privacy_)


@seeded
def test_blanks_are_no_part_of_numbers_and_part_of_words():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "age": [f" {age} " for age in rng.integers(18, 90, N)],
            "word": rng.choice([" yes", "yes", "no "], N),
        }
    )
    with insecure_noise_seed(0):
        synth = DPIndependentSynthesizer(10.0).fit(table)
    drawn = synth.sample(500)
    assert drawn["age"].dropna().str.fullmatch(r" \d+ ").all()
    assert set(drawn["word"].dropna()) == {" yes", "yes", "no "}


@seeded
def test_whole_numbers_with_a_decimal_are_written_so():
    """Pandas writes whole numbers so in a file if some of a column are missing."""
    rng = np.random.default_rng(0)
    paid = 100 * rng.integers(1, 900, N)
    table = pd.DataFrame(
        {
            "with": np.where(rng.random(N) < 0.1, "N", np.char.mod("%.1f", paid)),
            "without": np.where(rng.random(N) < 0.1, "N", paid.astype(str)),
        }
    )
    with insecure_noise_seed(0):
        drawn = DPIndependentSynthesizer(10.0).fit(table).sample(500)
    assert drawn["with"].str.fullmatch(r"N|\d+\.0").all()
    assert drawn["without"].str.fullmatch(r"N|\d+").all()
