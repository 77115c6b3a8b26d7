"""Public rows say how text is written, and which labels there are."""

import numpy as np
import pandas as pd
import pytest

from skdpgen import DPIndependentSynthesizer
from skdpgen.synthesizers.opening._public_columns import Outside
from skdpgen.tables import Categorical, Datetime, Integer, Numeric, TokenColumn
from tests._seeded import same_noise

N = 1500
FORMS = ("income", "day", "stamp", "share", "score")


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
        (Integer(0, 9, parse=True, codes=["N"]), ["0", " 9", "N"], ["-1", "10", "x"]),
        (
            Numeric(0, 2000, format="1.234,5"),
            ["1.234,5", "7,0"],
            ["1,234.5", "2.001,0"],
        ),
        (
            Datetime("2021-01-01", "2021-12-31", format="%d.%m.%Y"),
            ["31.12.2021"],
            ["01.01.2022", "2021-05-01", "31.02.2021"],
        ),
        (Datetime("2021-01-01", "2021-12-31"), ["2021-05-01"], ["2022-05-01", "soon"]),
    ],
)
def test_text_that_is_not_read_or_out_of_bounds_is_outside(column, inside, outside):
    texts = (*inside, *outside)
    values = TokenColumn(np.array([*range(len(texts)), -1]), texts)
    found = Outside(column).encode(values).tolist()
    assert found == [0] * len(inside) + [1] * len(outside) + [0]
