import pandas as pd
import pytest

from skdpgen.datasets import load_example, load_example_regression

LOADERS = [load_example, load_example_regression]


@pytest.mark.parametrize("load", LOADERS)
def test_same_seed_gives_the_same_rows(load):
    for first, second in zip(load(50, 3), load(50, 3), strict=True):
        assert first.equals(second)


@pytest.mark.parametrize("load", LOADERS)
def test_other_seed_gives_other_rows(load):
    assert not load(50, 0)[0].equals(load(50, 1)[0])


@pytest.mark.parametrize("load", LOADERS)
@pytest.mark.parametrize("n_samples", [1, 2, 333])
def test_has_the_asked_number_of_rows_on_one_index(load, n_samples):
    X, y = load(n_samples)
    assert len(X) == len(y) == n_samples
    assert X.index.equals(y.index)


@pytest.mark.parametrize("load", LOADERS)
def test_no_rows_is_an_error(load):
    with pytest.raises(ValueError, match=r"n_samples must be at least 1. Got 0"):
        load(0)


def test_dtypes_do_not_depend_on_the_number_of_rows():
    assert load_example(1)[0].dtypes.equals(load_example(2000)[0].dtypes)


def test_example_has_what_real_tables_have():
    X, y = load_example()
    assert y.value_counts(normalize=True)["left"] == pytest.approx(0.15, abs=0.02)
    assert (X["weekly_hours"] == 40).mean() > 0.35
    assert (X["late_payments"] == -9).mean() > 0.3
    assert X["education"].cat.ordered
    for name in ["region", "income", "complaints", "customer_since"]:
        assert 0 < X[name].isna().mean() < 0.15, name
    assert pd.api.types.is_datetime64_any_dtype(X["customer_since"])
    assert pd.api.types.is_bool_dtype(X["owns_home"])


def test_example_says_something_about_the_target():
    X, y = load_example()
    shares = pd.crosstab(X["job"], y, normalize="index")["left"]
    assert shares["student"] > 2 * shares["office"]


def test_columns_of_the_example_depend_on_each_other():
    X, y = load_example(20_000)
    since = X["customer_since"]
    assert ((X["contract_end"] > since) | since.isna()).all()
    assert ((X["late_payments"] == -9) == (X["payment"] == "direct debit")).all()
    days = (X["contract_end"] - pd.Timestamp("2024-01-01")).dt.days
    longest = days.groupby(X["contract"]).max()
    assert longest["monthly"] <= 30 < longest["one year"] <= 365 < longest["two years"]
    fees = X.groupby("n_products")["monthly_fee"].mean()
    assert fees.is_monotonic_increasing

    # the fee alone says little about who left, beside the number of products much
    left = (y == "left").astype(int)
    assert abs(X["monthly_fee"].corr(left)) < 0.1
    assert (X["monthly_fee"] / (3 + 6 * X["n_products"])).corr(left) > 0.4


def test_regression_example_has_a_float_target_that_follows_the_area():
    X, y = load_example_regression()
    assert y.dtype == "float64"
    assert y.corr(X["area"]) > 0.6
