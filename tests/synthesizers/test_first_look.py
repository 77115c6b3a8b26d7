"""The first look at columns without a schema: kinds of text, codes, what it costs."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skdpgen import DPIndependentSynthesizer
from skdpgen.exceptions import SchemaWarning
from skdpgen.privacy import Adjacency, Ledger, PrivacyBudget, insecure_noise_seed
from skdpgen.synthesizers.opening._first_look import (
    LOOK_SHARES,
    Unknown,
    release_text_types,
    with_text_type,
)
from skdpgen.tables import (
    NUMBERS_FROM,
    Boolean,
    Integer,
    Kind,
    Numeric,
    Rows,
    Says,
    Schema,
    TextKinds,
)
from skdpgen.tables._text_forms import place_of_number

N = 1000.0
N_KINDS = TextKinds().n_cells
seeded = pytest.mark.filterwarnings("ignore::skdpgen.exceptions.NotPrivateWarning")


def cell(text):
    """Return the cell of a text."""
    return NUMBERS_FROM + place_of_number(text)


CELLS = {one.name: int(one) for one in Says}
CELLS |= {"NUMBER": cell("12.5"), "SPELLED": cell("1,234.5"), "DIGIT": cell("5")}


def counts(**said):
    """Return how many of the cells say what; the rest are words."""
    found = np.zeros(N_KINDS)
    for name, n in said.items():
        found[CELLS[name]] = n
    found[Says.WORD] = N - found.sum()
    return found


def place(found, distinct=5.0, std=0.0):
    """Return where a column of text is put."""
    left = with_text_type(Unknown({}, ("x",)), "x", found, (distinct, std), std, N)
    assert ("x" in left.texts) + ("x" in left.numbers) + len(left.truths) + len(
        left.identifiers
    ) == 1
    for where in ("truths", "identifiers", "parsed", "dated", "texts"):
        if "x" in getattr(left, where):
            return where
    return left.numbers["x"]


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (counts(), "texts"),
        (counts(TIME=950), "dated"),
        (counts(TIME=850), "dated"),
        (counts(NUMBER=1000), "parsed"),
        (counts(NUMBER=950), "parsed"),
        (counts(NUMBER=800), "texts"),
        (counts(NUMBER=950, LABEL=30), "texts"),
        (counts(DIGIT=900, CODE=100), "texts"),
        (counts(DIGIT=1000), "texts"),
        (counts(NUMBER=950, PADDED=50), "texts"),
        (counts(NUMBER_ITSELF=950), Kind.FLOAT),
        (counts(NUMBER_ITSELF=950, PADDED=50), Kind.FLOAT),
        (counts(NUMBER_ITSELF=500, NUMBER=480), Kind.FLOAT),
        (counts(NUMBER_ITSELF=495, NUMBER=505), "parsed"),
        (counts(SPELLED=600, NUMBER=400), "parsed"),
        (counts(SPELLED=950, PADDED=50), "texts"),
        (counts(TRUTH=950), "truths"),
        (counts(TIME=450, NUMBER=500), "texts"),
        (counts(NOTHING=990), "texts"),
        (counts(NOTHING=900, TIME=95), "dated"),
    ],
)
def test_text_is_read_as_what_nine_in_ten_cells_say(found, expected):
    assert place(found) == expected


def test_words_among_few_numbers_make_codes_and_among_many_stay_beside_them():
    assert place(counts(NUMBER=800), distinct=20.0) == "texts"
    assert place(counts(NUMBER=950), distinct=20.0) == "parsed"
    assert place(counts(NUMBER=800), distinct=600.0) == "parsed"
    found = counts(NUMBER=950)
    left = with_text_type(Unknown({}, ("x",)), "x", found, (600.0, 0.0), 0.0, N)
    assert left.beside == {"x": 50.0}


def test_a_word_that_stands_for_no_number_makes_no_codes():
    """N among ages, or among few codes: numbers, with N beside them."""
    for distinct in (20.0, 600.0):
        assert place(counts(NUMBER=800, CODE=200), distinct) == "parsed"
        assert place(counts(NUMBER=300, CODE=700), distinct) == "parsed"


def test_text_that_differs_nearly_everywhere_is_an_identifier():
    assert place(counts(), distinct=990.0) == "identifiers"
    assert place(counts(), distinct=500.0) == "texts"
    assert place(counts(NOTHING=500), distinct=490.0) == "identifiers"
    assert place(counts(TIME=1000), distinct=990.0) == "dated"


@given(
    st.integers(0, 2**32),
    st.floats(0, 1200),
    st.floats(-100, 1200),
    st.floats(0, 300),
)
def test_any_noise_puts_a_column_in_one_place(seed, width, distinct, std):
    place(np.random.default_rng(seed).normal(0, width, N_KINDS), distinct, std)


# ----------------------------------------------------------- what people write by hand


def written(**given):
    """Return days, and amounts, as people write them."""
    rng = np.random.default_rng(1)
    days = pd.Timestamp("2023-01-01") + pd.to_timedelta(rng.integers(0, 400, 4000), "D")
    amounts = rng.gamma(2.0, 1500.0, 4000)
    X = pd.DataFrame(
        {
            "points": days.strftime("%d.%m.%Y"),
            "slashes": days.strftime("%m/%d/%Y"),
            "short": days.strftime("%m/%d/%y"),
            "named": days.strftime("%b %d, %Y"),
            "late": days.strftime("%d.%m.%Y 17:05"),
            "paid": [f"{amount:,.2f}" for amount in amounts],
            "either": [f"{d:02d}/03/2023" for d in rng.integers(1, 12, 4000)],
        }
    )
    return X, days, amounts, DPIndependentSynthesizer(epsilon=100.0).fit(X, **given)


@pytest.mark.filterwarnings("ignore::skdpgen.exceptions.RareValuesWarning")
def test_dates_and_amounts_come_back_as_they_are_written():
    _, days, amounts, fitted = written()
    columns = fitted.schema_.columns
    forms = {n: getattr(column, "format", None) for n, column in columns.items()}
    assert forms == {
        "points": "%d.%m.%Y",
        "slashes": "%m/%d/%Y",
        "short": "%m/%d/%y",
        "named": "%b %d, %Y",
        "late": "%d.%m.%Y %H:%M",
        "paid": "1,234.56",
        "either": None,  # nothing tells days from months
    }
    rows = fitted.sample(2000)
    for name in ("points", "slashes", "short", "named"):
        found = pd.to_datetime(rows[name], format=forms[name])
        assert abs(found.mean() - days.to_series().mean()) < pd.Timedelta(days=30)
    paid = rows["paid"].str.replace(",", "").astype(float)
    assert abs(paid.mean() / amounts.mean() - 1) < 0.2
    assert "text read as times, as most cells are: points, " in str(fitted.privacy_)


ISO_COLUMNS = {
    "day": "%Y-%m-%d",
    "minute": "%Y-%m-%d %H:%M",
    "second": "%Y-%m-%d %H:%M:%S",
    "minute_t": "%Y-%m-%dT%H:%M",
    "second_t": "%Y-%m-%dT%H:%M:%S",
}


def test_iso_times_come_back_in_their_form():
    """To the minute they have no seconds, and a T stays one."""
    rng = np.random.default_rng(0)
    minutes = pd.to_timedelta(rng.integers(0, 600_000, 4000), unit="min")
    times = pd.Timestamp("2022-05-01") + minutes
    X = pd.DataFrame({name: times.strftime(f) for name, f in ISO_COLUMNS.items()})
    X["mixed"] = np.where(rng.random(4000) < 0.5, X["day"], X["minute"])
    fitted = DPIndependentSynthesizer(epsilon=100.0).fit(X)  # nothing left to noise
    drawn = fitted.sample(500)
    for name, form in ISO_COLUMNS.items():
        read = pd.to_datetime(drawn[name], format=form, exact=True)
        assert read.notna().all()
        assert abs(read.mean() - times.to_series().mean()) < pd.Timedelta(days=40)
    assert pd.to_datetime(drawn["mixed"], format="ISO8601").notna().all()
    assert getattr(fitted.schema_.columns["mixed"], "format", None) is None


each_length = pytest.mark.parametrize(
    "n_trials", [1500, pytest.param(3000, marks=pytest.mark.slow)]
)


@each_length
def test_noise_makes_no_codes_of_amounts_nor_amounts_of_codes(n_trials):
    """A twelfth of codes begin with a zero; noise is a hundredth of the rows."""
    rng, mistaken = np.random.default_rng(0), {0.0: 0, N / 12: 0}
    for _ in range(n_trials):
        for padded in mistaken:
            found = rng.normal(0, N / 100, N_KINDS)
            found[CELLS["NUMBER"]] += N
            found[Says.PADDED] += padded
            found[Says.NOTHING] = 0.0
            are_amounts = place(found, distinct=N, std=N / 100) == "parsed"
            mistaken[padded] += are_amounts == bool(padded)
    # two stds beyond a hundredth: 6 of the first, of 3,000
    assert max(mistaken.values()) <= n_trials // 1500


@each_length
def test_noise_hides_no_form_of_iso_times(n_trials):
    """All times in one form, and noise in the cells of all forms."""
    rng, hidden = np.random.default_rng(0), 0
    for _ in range(n_trials):
        found = rng.normal(0, 10.0, N_KINDS)
        found[-1] += N
        left = with_text_type(Unknown({}, ("x",)), "x", found, (N, 10.0), 10.0, N)
        hidden += "x" not in left.written
    assert hidden < n_trials / 100  # noise of one cell instead of all: a twentieth


@each_length
def test_noise_beside_words_makes_no_numbers_nor_times(n_trials):
    """Forms are many, and the likeliest of them is chosen: 8 stds were too few."""
    rng = np.random.default_rng(0)
    places = {
        place(counts() + 30.0 * rng.normal(size=N_KINDS), distinct=4.0, std=30.0)
        for _ in range(n_trials)
    }
    assert places == {"texts"}


@each_length
def test_noise_makes_no_iso_times(n_trials):
    """Of a column that nobody filled in: thousands of cells of forms have noise."""
    rng, dated = np.random.default_rng(0), 0
    for _ in range(n_trials):
        found = counts(NOTHING=N) + rng.normal(0, 30.0, N_KINDS)
        dated += place(found, std=30.0) == "dated"
    assert dated <= n_trials // 1000  # seeded; five stds of noise are asked for


@pytest.mark.filterwarnings("ignore::skdpgen.exceptions.RareValuesWarning")
def test_public_rows_are_read_as_the_private_ones_are():
    X, days, *_ = written()
    fitted = written(public_data=X)[-1]
    rows = fitted.sample(2000)
    found = pd.to_datetime(rows["slashes"], format="%m/%d/%Y")
    assert abs(found.mean() - days.to_series().mean()) < pd.Timedelta(days=30)


# ----------------------------------------------------------------------- what it costs


def rows(n):
    rng = np.random.default_rng(0)
    return Rows.read(pd.DataFrame({"t": rng.choice(["a", "b"], n), "n": range(n)}))


@pytest.mark.parametrize("adjacency", list(Adjacency))
@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1.0, 8.0])
@pytest.mark.parametrize("n", [100, 3000])
def test_the_look_is_cheap_or_not_taken(adjacency, epsilon, n):
    ledger = Ledger(PrivacyBudget(epsilon, 1e-5, adjacency))
    unknown = Unknown({"n": Kind.INTEGER}, ("t",))
    found = release_text_types(rows(n), unknown, ledger, float(n))
    spent = 1 - ledger.remaining
    if ledger.entries:
        assert LOOK_SHARES[0] <= spent * (1 + 1e-9)
        assert spent <= LOOK_SHARES[1] * (1 + 1e-9)
    else:
        assert found is unknown
        assert spent == 0.0
    assert bool(ledger.entries) or n == 100 or epsilon < 1


def test_nothing_to_look_at_costs_nothing():
    ledger = Ledger(PrivacyBudget(1.0, 1e-5, Adjacency.REPLACE))
    times = Rows.read(pd.DataFrame({"d": pd.date_range("2020", periods=99)}))
    release_text_types(times, Unknown({"d": Kind.DATETIME}, ()), ledger, 99.0)
    assert not ledger.entries


# ------------------------------------------------------------------------------ codes


@seeded
@pytest.mark.parametrize("dtype", ["int16", "uint16", "int64", "uint64", "Int32"])
def test_codes_keep_their_dtype_with_others_among_them(dtype):
    rng = np.random.default_rng(0)
    codes = rng.choice([3, 17, 4000, 30_000], 3000)
    codes[:120] = rng.integers(0, 30_000, 120)
    table = pd.DataFrame({"code": pd.Series(codes, dtype=dtype)})
    with insecure_noise_seed(0):
        synth = DPIndependentSynthesizer(8.0).fit(table)
    drawn = synth.sample(2000)["code"]
    assert drawn.dtype == dtype
    assert drawn.isin([3, 17, 4000, 30_000]).mean() > 0.9
    for code in (3, 17, 4000, 30_000):
        assert (drawn == code).mean() == pytest.approx(0.24, abs=0.05)


@seeded
@pytest.mark.parametrize("values", [["7", "7.0", "900", "n/a"], [7, 7.0, 900, "n/a"]])
def test_codes_that_are_text_are_not_looked_up_as_numbers(values):
    rng = np.random.default_rng(0)
    cells = np.array(values, dtype=object)[
        rng.choice(4, 3000, p=[0.4, 0.3, 0.25, 0.05])
    ]
    table = pd.DataFrame({"code": pd.Series(cells, dtype=object)})
    for seed in range(5):
        with insecure_noise_seed(seed):
            synth = DPIndependentSynthesizer(8.0).fit(table)
        drawn = pd.to_numeric(synth.sample(2000)["code"], errors="coerce")
        assert (drawn < 100).mean() == pytest.approx(0.7, abs=0.1)


# -------------------------------------------------------------- what is said of bounds


def clipped(bounds, epsilon, seed=0):
    table = pd.DataFrame({"x": np.random.default_rng(0).normal(500.0, 50.0, 2000)})
    schema = Schema({"x": Numeric(*bounds)})
    with insecure_noise_seed(seed):
        return DPIndependentSynthesizer(epsilon, schema=schema).fit(table)


@seeded
@pytest.mark.parametrize("epsilon", [0.01, 0.3, 3.0])
def test_noise_is_no_row_outside_of_public_bounds(epsilon):
    for seed in range(20):  # warnings are errors
        clipped((0.0, 1000.0), epsilon, seed)


@seeded
@pytest.mark.parametrize("bounds", [(0.0, 100.0), (900.0, 1000.0)])
def test_bounds_that_clip_most_rows_are_told_of(bounds):
    where = "above 100.0" if bounds[0] == 0 else "below 900.0"
    with pytest.warns(SchemaWarning, match=where):
        synth = clipped(bounds, 3.0)
    assert where in str(synth.privacy_)
    told = synth.columns_.loc["x"]
    assert max(told["below"], told["above"]) == pytest.approx(1.0, abs=0.2)


@seeded
def test_short_bounds_that_clip_most_rows_are_told_of():
    table = pd.DataFrame({"age": np.arange(2000) % 70 + 18})
    schema = Schema({"age": Integer(0, 20)})
    with insecure_noise_seed(0), pytest.warns(SchemaWarning):
        DPIndependentSynthesizer(8.0, schema=schema).fit(table)


@seeded
@pytest.mark.parametrize("column", [Boolean(), Numeric(0.0, 1.0)])
def test_kinds_that_match_no_cell_are_told_of(column):
    table = pd.DataFrame({"job": ["office", "farm"] * 1000})
    schema = Schema({"job": column})
    with insecure_noise_seed(0), pytest.warns(SchemaWarning):
        DPIndependentSynthesizer(8.0, schema=schema).fit(table)
