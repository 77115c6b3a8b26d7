import numpy as np
import pandas as pd
import pytest

from skdpgen.metrics import (
    detection_auc,
    marginal_distances,
    query_error,
    total_variation,
    yardsticks,
)


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    n = 4000
    a = rng.normal(size=n)
    return pd.DataFrame(
        {
            "a": a,
            "b": np.where(rng.random(n) < 0.1, np.nan, a + rng.normal(size=n)),
            "c": rng.choice(["x", "y", "z"], n),
            "d": pd.Timestamp("2020-01-01")
            + pd.to_timedelta(rng.integers(0, 99, n), "D"),
        }
    )


def xor(is_even):
    cells = [(a, b, a ^ b ^ is_even) for a in (0, 1) for b in (0, 1)]
    return pd.DataFrame(cells * 25, columns=["a", "b", "c"])


def test_xor_has_no_pairs_but_triples():
    one, other = xor(0), xor(1)
    assert total_variation(one, other, order=1) == 0
    assert total_variation(one, other, order=2) == 0
    assert total_variation(one, other, order=3) == 1
    assert marginal_distances(one, other, order=3).index.tolist() == [("a", "b", "c")]
    uniform = pd.concat([one, other])
    assert total_variation(one, uniform, order=3) == 0.5
    # a range holds one of two values half the time: one of eight questions tells, 1/4
    assert query_error(one, other) == pytest.approx(0.25 / 8, abs=0.01)


def test_xor_is_detected():
    # of unequal shares: trees, which choose one column after the other, see the
    # balanced one only by chance
    rng = np.random.default_rng(0)
    a, b = rng.random((2, 2000)) < 0.7
    one, other = (pd.DataFrame({"a": a, "b": b, "c": c}) for c in (a ^ b, a ^ ~b))
    assert detection_auc(one, other) > 0.95


def test_triples_of_many_columns_are_a_fixed_sample():
    one, other = np.random.default_rng(0).normal(size=(2, 100, 30))
    distances = marginal_distances(one, other, order=3)
    assert len(distances) == 300
    assert distances.index.is_unique
    assert distances.equals(marginal_distances(one, other, order=3))


def test_two_columns_are_one_pair_at_order_three(rows):
    two, other = rows[["a", "c"]][:2000], rows[["a", "c"]][2000:]
    assert total_variation(two, other, 3) == total_variation(two, other, 2)


def test_real_against_real_is_the_baseline(rows):
    assert detection_auc(rows[:2000], rows[2000:]) == pytest.approx(0.5, abs=0.04)
    assert query_error(rows[:2000], rows[2000:]) < 0.015


def test_lost_relations_are_detected(rows):
    shuffled = rows["b"][2000:].sample(frac=1, random_state=0).to_numpy()
    broken = rows[2000:].assign(b=shuffled)
    assert detection_auc(rows[:2000], broken) > 0.6
    assert query_error(rows[:2000], broken) > query_error(rows[:2000], rows[2000:])


def test_how_a_cell_is_written_does_not_give_it_away(rows):
    other = rows[2000:].assign(a=rows["a"][2000:] * (1 + 1e-12))
    other = other.astype({"c": "category", "b": "Float64", "d": str})
    assert detection_auc(rows[:2000], other) == pytest.approx(0.5, abs=0.04)


def test_numbers_of_persons_do_not_give_it_away(rows):
    persons = np.random.default_rng(0).permutation(len(rows))
    named = rows.assign(person=[f"A{i:05d}" for i in persons])
    assert detection_auc(named[:2000], named[2000:]) == pytest.approx(0.5, abs=0.04)
    lost = named[2000:].assign(person="other")
    assert detection_auc(named[:2000], lost) > 0.95
    gone = named[2000:].assign(person=None)
    assert detection_auc(named[:2000], gone) > 0.95


def test_a_column_without_values_is_detected_by_what_is_missing(rows):
    empty = rows.assign(b=np.nan)
    same = detection_auc(empty[:2000], empty[2000:])
    assert same == pytest.approx(0.5, abs=0.04)
    assert yardsticks(empty[:2000], empty[2000:])["detection_auc"] == same
    assert detection_auc(empty[:2000], rows[2000:]) > 0.9
    one_value = empty.copy()
    one_value.loc[0, "b"] = 1.0  # in a single fold
    assert detection_auc(one_value[:2000], empty[2000:]) == pytest.approx(0.5, abs=0.04)
    times = empty.assign(b=pd.NaT)
    assert detection_auc(times[:2000], times[2000:]) == pytest.approx(0.5, abs=0.04)


def test_query_error_of_the_same_rows_in_another_order_is_zero(rows):
    assert query_error(rows, rows) == 0
    assert query_error(rows, rows.sample(frac=1, random_state=1)) == 0
    shares = pd.concat([rows, rows])
    assert query_error(rows, shares) == pytest.approx(0)


def test_query_error_by_hand():
    real = pd.DataFrame({"a": ["x"] * 4})
    assert query_error(real, pd.DataFrame({"a": ["x", "y", "z", None]})) == 0.75
    empty = pd.DataFrame({"a": [np.nan, np.nan]})
    half = pd.DataFrame({"a": [np.nan, 1.0]})
    assert query_error(empty, half) == pytest.approx(0.5)


def test_seeds_are_public_and_fixed(rows):
    one = yardsticks((rows[:1000], rows["c"][:1000]), (rows[1000:], rows["c"][1000:]))
    two = yardsticks((rows[:1000], rows["c"][:1000]), (rows[1000:], rows["c"][1000:]))
    assert one == two
    assert list(one)[:3] == ["one_way_tv", "two_way_tv", "three_way_tv"]


def test_bad_parameters(rows):
    with pytest.raises(ValueError, match="n_queries must be at least 1"):
        query_error(rows, rows, n_queries=0)
    with pytest.raises(ValueError, match="must have rows"):
        query_error(rows, rows[:0])
    with pytest.raises(ValueError, match="must have 3 rows"):
        detection_auc(rows, rows[:2])
