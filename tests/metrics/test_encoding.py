import numpy as np
import pandas as pd
import polars as pl
import pytest

from skdpgen.metrics import TableEncoder, total_variation
from skdpgen.metrics._frames import times


def test_every_kind_of_column_becomes_finite_floats(mixed):
    X, _ = mixed
    matrix = TableEncoder.fit(X)(X)
    assert matrix.dtype == np.float32
    assert np.isfinite(matrix).all()
    # number+missing, 5 counts, 3+missing texts, 2 flags, 2 grades, 1+missing, when
    assert matrix.shape == (300, 2 + 5 + 4 + 2 + 2 + 2 + 1)


def test_only_the_training_side_decides(mixed):
    X, _ = mixed
    encoder = TableEncoder.fit(X[:100])
    one = encoder(X[100:101])
    assert np.array_equal(encoder(X[100:])[:1], one)


def test_unseen_categories_have_no_cell_and_unseen_integers_the_nearest():
    train = pd.DataFrame({"text": ["a", "b"] * 3, "count": [0, 1, 5] * 2})
    test = pd.DataFrame({"text": ["z", None], "count": [9, -3]})
    assert TableEncoder.fit(train)(test).tolist() == [[0, 0, 0, 0, 1], [0, 0, 1, 0, 0]]


def test_tails_are_clipped_and_do_not_flatten_the_rest(rng):
    x = rng.normal(size=(5000, 1))
    x[0] = 1e30
    x[1] = np.inf
    matrix = TableEncoder.fit(x)(x)
    assert np.abs(matrix).max() <= 10
    assert 0.8 < matrix[2:, 0].std() < 1.2


def test_many_categories_are_capped():
    train = pd.DataFrame({"id": [f"name{k}" for k in range(500)]})
    assert TableEncoder.fit(train)(train).shape == (500, 64)


def test_categories_match_whatever_their_dtype():
    train = pd.DataFrame({"code": ["1", "2", "1"]})
    encoder = TableEncoder.fit(train)
    expected = encoder(train)
    for dtype in ("int64", "float64", "Int8", "category"):
        test = pd.DataFrame({"code": [1, 2, 1]}).astype(dtype)
        assert np.array_equal(encoder(test), expected)


def test_nothing_varies_gives_a_column_of_zeros():
    train = pd.DataFrame({"a": [1, 1], "b": [None, None]})
    assert TableEncoder.fit(train)(train).tolist() == [[0], [0]]


def test_other_containers_and_positions(mixed):
    X, _ = mixed
    X = X[["number", "count", "text"]]
    expected = TableEncoder.fit(X)(X)
    cells = X.astype(object).where(X.notna(), None)
    other = pl.DataFrame({name: cells[name].to_list() for name in X})
    assert np.allclose(TableEncoder.fit(other)(other), expected, atol=1e-6)
    unnamed = X.set_axis(range(3), axis=1)
    assert np.array_equal(TableEncoder.fit(X)(unnamed), expected)
    assert np.array_equal(TableEncoder.fit(unnamed)(X), expected)
    reordered = X[["text", "number", "count"]]
    assert np.array_equal(TableEncoder.fit(X)(reordered), expected)


def test_mixed_types_inside_a_column_do_not_raise():
    train = pd.DataFrame({"odd": [1, "a", None, 2.5, True, [1]] * 4})
    assert np.isfinite(TableEncoder.fit(train)(train)).all()


def test_other_columns_are_an_error():
    encoder = TableEncoder.fit(pd.DataFrame({"a": [1, 2], "b": [1, 2]}))
    with pytest.raises(ValueError, match="same columns"):
        encoder(pd.DataFrame({"c": [1]}))
    with pytest.raises(ValueError, match="synthetic ones without a"):
        encoder(pd.DataFrame({"b": [1], "A": [1]}))  # by place it would be another


def test_times_far_from_now_have_seconds():
    far = pd.Series(np.array(["2266-08-26", "0001-01-01", "NaT"], "datetime64[us]"))
    seconds = times(far)
    assert seconds[0] == pytest.approx(9.36e9, rel=0.01)
    assert seconds[1] == pytest.approx(-6.21e10, rel=0.01)
    assert np.isnan(seconds[2])


def test_a_target_may_be_a_column_on_one_side(mixed):
    X, y = mixed
    whole = X.assign(label=np.asarray(y))
    assert total_variation(whole, (X, y)) == total_variation((X, y), whole) == 0.0
