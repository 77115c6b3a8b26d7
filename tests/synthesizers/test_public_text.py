"""Public rows say how text is written, and which labels there are."""

import numpy as np
import pandas as pd
import pytest

from skdpgen import DPIndependentSynthesizer
from skdpgen.exceptions import SchemaRequiredError
from skdpgen.synthesizers.opening._public_columns import Outside
from skdpgen.tables import Categorical, Datetime, Integer, Numeric, TokenColumn
from skdpgen.tables._text_columns import type_of_text
from skdpgen.tables._values import Numbers
from tests._seeded import same_noise

N = 1500


def german(number):
    return f"{number:,.2f}".replace(",", "_").replace(".", ",").replace("_", ".")


def table(seed, n=N):
    rng = np.random.default_rng(seed)
    income = rng.lognormal(10, 0.6, n)
    days = pd.Timestamp("2021-03-01") + pd.to_timedelta(rng.integers(0, 700, n), "D")
    seconds = pd.to_timedelta(rng.integers(0, 86_400 * 300, n), "s")
    times = pd.Timestamp("2022-01-01") + seconds
    score = rng.integers(0, 500, n).astype(str).astype(object)
    score[rng.random(n) < 0.3] = "N"
    score[rng.random(n) < 0.03] = "refused"
    frame = pd.DataFrame(
        {
            "income": [german(x) for x in income],
            "day": days.strftime("%d.%m.%Y"),
            "stamp": times.strftime("%Y-%m-%d %H:%M:%S"),
            "share": [f"{x:.1f} %" for x in rng.uniform(0, 100, n)],
            "score": score,
            "note": [f"note {x}" for x in rng.integers(0, 10**9, n)],
        }
    )
    frame.loc[rng.random(n) < 0.1, "income"] = None
    return frame, pd.Series(np.where(income > 22_000, "rich", "poor"))


def fitted(public, X=None, y=None, **how):
    private = table(0)
    X, y = (private[0] if X is None else X), (private[1] if y is None else y)
    with same_noise():
        synth = DPIndependentSynthesizer(epsilon=3.0, random_state=0, **how)
        return synth.fit(X, y, public_data=public)


def names(synth):
    return [release.name for release in synth.privacy_.releases]


def test_text_has_the_form_bounds_and_codes_of_public_rows():
    public = table(1)
    synth = fitted(public)
    columns = synth.schema_.columns
    first = pd.to_datetime(public[0]["day"], format="%d.%m.%Y").min()
    assert columns["income"].format == "1.234,56"
    assert columns["income"].decimals == 2
    assert columns["day"].format == "%d.%m.%Y"
    assert columns["day"].resolution == "day"
    assert columns["day"].lower == first.isoformat()
    assert columns["stamp"].resolution == "second"
    shares = public[0]["share"].str.removesuffix(" %").astype(float)
    ends = shares.min(), shares.max()
    assert columns["share"] == Numeric(*ends, 1, format="1234.5 %")
    assert columns["score"] == Integer(0, 499, parse=True, codes=("N", "refused"))
    assert "bounds and categories of 5 columns: of the public rows" in str(
        synth.privacy_
    )
    assert "could not be read" not in str(synth.privacy_)
    # only what differs from row to row is asked for its type
    assert "kinds and numbers of values of 1 columns" in names(synth)


def test_samples_are_written_as_public_rows_are():
    private, _ = table(0)
    rows, _ = fitted(table(1)).sample(N, random_state=0)
    pd.to_datetime(rows["day"], format="%d.%m.%Y")
    pd.to_datetime(rows["stamp"], format="%Y-%m-%d %H:%M:%S")
    assert rows["share"].str.fullmatch(r"\d+\.\d %").all()
    assert rows["income"].dropna().str.fullmatch(r"[\d.]+,\d\d").all()
    for code in ("N", "refused"):
        real, drawn = ((x["score"] == code).mean() for x in (private, rows))
        assert abs(real - drawn) < 0.03


def test_another_form_than_that_of_public_rows_is_discovered():
    private, y = table(0)
    public = private.assign(
        income=private["income"].str.replace(".", "").str.replace(",", "."),
        day=pd.to_datetime(private["day"], format="%d.%m.%Y").dt.strftime("%Y-%m-%d"),
    )
    synth = fitted((public, y))
    assert synth.schema_.columns["income"].format == "1.234,56"
    assert synth.schema_.columns["day"].format == "%d.%m.%Y"
    assert "of 3 columns: of the public rows" in str(synth.privacy_)


def test_a_few_numbers_far_from_each_other_are_names():
    rng = np.random.default_rng(0)
    codes = rng.choice(10_000, 40, replace=False) + 1_000

    def with_codes(seed):
        X, y = table(seed)
        rng = np.random.default_rng(seed)
        industry = rng.choice(codes, N).astype(str)
        return X.assign(industry=industry, near=rng.integers(0, 40, N).astype(str)), y

    columns = fitted(with_codes(1), *with_codes(0)).schema_.columns
    assert isinstance(columns["industry"], Categorical)
    assert set(columns["industry"].categories) <= {*codes.astype(str), "other"}
    assert columns["near"] == Integer(0, 39, parse=True)


def test_labels_of_public_rows_are_the_classes():
    synth = fitted(table(1))
    assert list(synth.classes_) == ["poor", "rich"]
    assert "class labels" not in names(synth)
    assert "class labels: of the public rows" in str(synth.privacy_)


def test_rare_labels_of_public_rows_are_no_classes():
    X, y = table(1)
    y.iloc[:3] = "typo"
    assert list(fitted((X, y)).classes_) == ["poor", "rich"]


@pytest.mark.parametrize(
    "other_names", [{"rich": "wealthy"}, {"rich": "wealthy", "poor": "needy"}]
)
def test_labels_that_private_rows_contradict_are_discovered(other_names):
    renamed = table(0)[1].replace(other_names)
    synth = fitted(table(1), y=renamed)
    assert set(synth.classes_) == set(renamed)
    assert "class labels" in names(synth)


def test_numbers_of_public_rows_are_no_classes():
    rng = np.random.default_rng(0)
    y = pd.Series(rng.poisson(3000, N))
    synth = fitted((table(1)[0], pd.Series(rng.poisson(3000, N))), y=y)
    assert synth.task_ == "regression"


def test_given_classes_need_no_public_ones():
    synth = fitted(table(1), classes=["poor", "rich", "other"])
    assert list(synth.classes_) == ["other", "poor", "rich"]
    assert "class labels: taken as public" in str(synth.privacy_)


@pytest.mark.parametrize(
    ("column", "inside", "outside"),
    [
        (
            Integer(0, 900, parse=True, codes=["N"]),
            ["0", "10", "900", "N"],
            ["-1", "901", "x", "007", "1.5", "10 %", "N/A"],
        ),
        (
            Numeric(0, 2000, format="1.234,5"),
            ["1.234,5", "7,0"],
            ["1,234.5", "2.001,0", "€ 7,0", "1.234,56"],
        ),
        (
            Datetime("2021-01-01", "2021-12-31", format="%d.%m.%Y"),
            ["31.12.2021"],
            ["01.01.2022", "2021-05-01", "31.02.2021"],
        ),
        (
            Datetime("2021-01-01", "2021-12-31", resolution="day"),
            ["2021-05-01"],
            ["2022-05-01", "2021-05-01 10:00:00", "2021-05-01T00:00:00Z", "soon"],
        ),
    ],
)
def test_text_that_is_not_written_alike_or_out_of_bounds_is_outside(
    column, inside, outside
):
    texts = (*inside, *outside)
    values = TokenColumn(np.array([*range(len(texts)), -1]), texts)
    types = tuple({type_of_text(text) for text in inside})
    found = Outside(column, types).encode(values).tolist()
    assert found == [0] * len(inside) + [1] * len(outside) + [0]


@pytest.mark.parametrize(
    ("column", "inside", "outside"),
    [
        (Numeric(0, 1, decimals=2), [0.0, 0.1 + 0.2, 1.0], [-0.01, 1.01, 0.123]),
        (Numeric(0, 1), [0.123456789], [1.5]),
        (Integer(0, 2**60), [3.0, 2.0**60], [0.5]),
    ],
)
def test_numbers_with_more_decimals_are_outside(column, inside, outside):
    values = Numbers(np.array([*inside, *outside, np.nan]))
    found = Outside(column).encode(values).tolist()
    assert found == [0] * len(inside) + [1] * len(outside) + [0]


def one_column(private, public, y=None, epsilon=3.0, y_public=None):
    rng = np.random.default_rng(0)
    words = [rng.choice(["a", "b"], len(rows)) for rows in (private, public)]
    X, P = (
        pd.DataFrame({"c": pd.Series(rows), "w": w})
        for rows, w in zip((private, public), words, strict=True)
    )
    with same_noise(1):
        synth = DPIndependentSynthesizer(epsilon=epsilon, random_state=0)
        return synth.fit(X, y, public_data=P if y_public is None else (P, y_public))


def numbers(seed, low=0.0, high=100.0, form="{:.1f}"):
    drawn = np.random.default_rng(seed).uniform(low, high, N)
    return [form.format(x) for x in drawn]


def times(seed, form, step="s"):
    seconds = np.random.default_rng(seed).integers(0, 86_400 * 500, N)
    stamps = pd.Timestamp("2022-01-01") + pd.to_timedelta(seconds, "s")
    return stamps.floor(step).strftime(form)


IN_ANOTHER_FORM = {
    "a share, not percent": (
        numbers(0, 0, 1, "{:.3f}"),
        numbers(1, 0, 100, "{:.1f} %"),
    ),
    "no currency": (numbers(0, 0, 5000), numbers(1, 0, 5000, "€ {:,.1f}")),
    "thousands": (numbers(0, 0, 5000, "{:,.1f}"), numbers(1, 0, 5000)),
    "a time of day": (times(0, "%Y-%m-%dT%H:%M:%S"), times(1, "%Y-%m-%d")),
    "a zone": (times(0, "%Y-%m-%d %H:%M:%S+02:00"), times(1, "%Y-%m-%d %H:%M:%S")),
    "another zone": (
        times(0, "%Y-%m-%dT%H:%M:%S+02:00"),
        times(1, "%Y-%m-%dT%H:%M:%SZ"),
    ),
    "seconds": (
        times(0, "%Y-%m-%d %H:%M:%S"),
        times(1, "%Y-%m-%d %H:%M:%S", step="D"),
    ),
    "decimals": (numbers(0, form="{:.2f}"), numbers(1, form="{:.0f}")),
}


@pytest.mark.parametrize(
    ("private", "public"), IN_ANOTHER_FORM.values(), ids=IN_ANOTHER_FORM
)
def test_text_written_otherwise_is_discovered(private, public):
    synth = one_column(private, public)
    assert "of 1 columns: of the public rows" in str(synth.privacy_)  # the words


def test_a_listed_dtype_has_words():
    def codes(seed):
        rng = np.random.default_rng(seed)
        found = rng.choice(["110", "120", "131", "140", "150"], N)
        return pd.Series(found).astype("category")

    rows = one_column(codes(0), codes(1)).sample(N, random_state=0)
    assert set(rows["c"]) == set(codes(0))


def test_a_point_stays():
    def pointed(seed):
        return [f"{x}.0" for x in np.random.default_rng(seed).integers(0, 500, N)]

    rows = one_column(pointed(0), pointed(1)).sample(N, random_state=0)
    assert rows["c"].str.fullmatch(r"\d+\.0").all()


def test_times_of_day_have_the_bounds_of_public_rows():
    def opening_hours(seed):
        minutes = np.random.default_rng(seed).integers(8 * 60, 18 * 60, N)
        return [f"{m // 60:02d}:{m % 60:02d}" for m in minutes]

    rows = one_column(opening_hours(0), opening_hours(1)).sample(N, random_state=0)
    assert "08:00" <= rows["c"].min() <= rows["c"].max() <= "17:59"


def test_numbers_that_are_too_large_for_decimals_are_described():
    one_column(numbers(0), [*numbers(1)[1:], "1e308"])


@pytest.mark.parametrize("as_text", [False, True])
def test_a_number_to_predict_is_not_made_classes(as_text):
    def ages(seed):
        drawn = pd.Series(np.random.default_rng(seed).integers(18, 80, N))
        return drawn.astype(str) if as_text else drawn

    synth = one_column(["a"] * N, ["b"] * N, ages(0), y_public=ages(1))
    assert synth.task_ == "regression"


def test_labels_that_noise_hides_are_not_believed():
    """Private labels are others, and noise would hide all of them."""
    y, y_public = pd.Series(["0", "1"] * 300), pd.Series(["yes", "no"] * 300)
    public = numbers(1)[:600]
    with pytest.raises(SchemaRequiredError):
        one_column(numbers(0)[:600], public, y, epsilon=0.02, y_public=y_public)
    synth = one_column(numbers(0)[:600], public, epsilon=0.02)
    assert "noise hides whether private rows have others" in str(synth.privacy_)
