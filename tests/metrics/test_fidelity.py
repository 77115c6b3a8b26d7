import numpy as np
import pandas as pd
import pytest

from skdpgen.metrics import total_variation


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
    with pytest.raises(ValueError, match="order must be 1 or 2"):
        total_variation(X, X, order=3)
    with pytest.raises(ValueError, match="n_bins must be at least 2"):
        total_variation(X, X, n_bins=1)
    with pytest.raises(ValueError, match="must have rows"):
        total_variation(X, X[:0])
