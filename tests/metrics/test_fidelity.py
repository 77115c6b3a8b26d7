import numpy as np
import pandas as pd
import pytest

from skdpgen.metrics import marginal_distances, total_variation


def test_closed_forms():
    real = pd.DataFrame({"a": ["x", "x", "y", "y"], "b": [0, 1, 0, 1]})
    broken = pd.DataFrame({"a": ["x", "x", "y", "y"], "b": [0, 0, 1, 1]})
    assert total_variation(real, broken, order=1) == 0
    assert total_variation(real, broken, order=2) == 0.5
    assert total_variation(real, real.assign(a="z"), order=1) == 0.5


@pytest.mark.parametrize("order", [1, 2])
def test_symmetric_range_and_identity(mixed, order):
    X, y = mixed
    assert total_variation((X, y), (X, y), order=order) == 0
    distance = total_variation((X[:150], y[:150]), (X[150:], y[150:]), order=order)
    assert 0 < distance < 0.6


def test_labels_count(mixed):
    X, y = mixed
    shuffled = y.sample(frac=1, random_state=0)
    assert total_variation((X, y), (X, shuffled), order=1) == 0
    assert total_variation((X, y), (X, shuffled), order=2) > 0


def test_missing_is_a_cell():
    real = pd.DataFrame({"a": [1.0, 2.0, np.nan, np.nan]})
    assert total_variation(real, pd.DataFrame({"a": [1.0, 2.0]})) == 0.5


def test_numbers_are_cut_at_real_quantiles(rng):
    real = rng.exponential(size=(4000, 1))
    assert total_variation(real, rng.exponential(size=(4000, 1))) < 0.05
    assert total_variation(real, real + 1.0) > 0.5
    assert total_variation(real, np.full((10, 1), np.inf)) == 1


def test_many_pairs_are_a_fixed_sample(rng):
    real, synthetic = rng.normal(size=(2, 200, 60))
    first = total_variation(real, synthetic, order=2)
    assert first == total_variation(real, synthetic, order=2)


def test_bad_parameters(mixed):
    X, _ = mixed
    with pytest.raises(ValueError, match="order must be 1, 2 or 3"):
        total_variation(X, X, order=4)
    with pytest.raises(ValueError, match="n_bins must be at least 2"):
        total_variation(X, X, n_bins=1)
    with pytest.raises(ValueError, match="must have rows"):
        total_variation(X, X[:0])


def test_distances_by_column_and_pair_have_the_mean_of_the_whole(mixed):
    X, y = mixed
    halves = (X[:150], y[:150]), (X[150:], y[150:])
    for order in (1, 2):
        distances = marginal_distances(*halves, order=order)
        assert distances.mean() == total_variation(*halves, order=order)
    assert marginal_distances(*halves).index.tolist() == [*X.columns, "(target)"]


def test_values_that_no_real_row_holds_are_not_among_rare_real_ones():
    codes = [f"c{k:03d}" for k in range(200)]
    real = pd.DataFrame({"code": codes})
    synthetic = pd.DataFrame({"code": [*codes[:100], *["new"] * 100]})
    assert total_variation(real, synthetic) >= 0.5


@pytest.mark.parametrize("layout", ["%d.%m.%Y", "%m/%d/%Y", "%Y-%m-%d", "%d %b %Y"])
def test_texts_that_are_dates_are_dates(layout):
    days = pd.Series(pd.date_range("2015-01-01", periods=3000))
    early, late = days[:1500], days[1500:]
    written = [
        pd.DataFrame({"d": side.dt.strftime(layout).to_numpy()})
        for side in (early, late, days[::2])
    ]
    assert total_variation(written[0], written[1]) > 0.9
    assert 0.4 < total_variation(written[0], written[2]) < 0.6
    assert total_variation(written[2], pd.DataFrame({"d": days[1::2].to_numpy()})) < 0.1


def test_codes_with_hyphens_are_no_dates():
    codes = [f"{k:03d}-{k % 7}" for k in range(100)]
    real = pd.DataFrame({"code": codes})
    assert total_variation(real, pd.DataFrame({"code": ["x", *codes[1:]]})) > 0
