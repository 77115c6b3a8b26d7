"""Scores of NIST, on tables whose cells can be counted by hand."""

import numpy as np
import pandas as pd
import pytest

from skdpgen.metrics import k_marginal_score, pmse, pmse_ratio, yardsticks


def test_pairs_by_hand():
    real = pd.DataFrame({"a": list("xxyy"), "b": list("uvuv"), "c": list("pppp")})
    other = pd.DataFrame({"a": list("xxxx"), "b": list("uvuv"), "c": list("pppq")})
    # (a, b): half of the rows; (a, c): xp .5 to .75, xq to .25, yp .5 to 0: .5;
    # (b, c): vp .5 to .25, vq to .25: .25
    assert k_marginal_score(real, other) == pytest.approx(1000 * (1 - 1.25 / 3))
    # single columns: .5, 0, .25
    assert k_marginal_score(real, other, k=1) == pytest.approx(750)
    # all three: xup .25 to .5, xvp stays, xvq to .25, yup and yvp to 0
    assert k_marginal_score(real, other, k=3) == pytest.approx(500)


def test_a_stratum_is_in_every_set_and_its_size_counts():
    real = pd.DataFrame({"s": list("nnss"), "a": list("xyxy"), "b": list("uuuu")})
    other = real.assign(s=list("nsss"))
    # nxu .25 stays, nyu .25 to 0, sxu .25 stays, syu .25 to .5
    assert k_marginal_score(real, other, stratum="s") == pytest.approx(750)
    assert k_marginal_score(real, other, k=3) == pytest.approx(750)
    assert k_marginal_score(real, other, leave_out=["s"]) == 1000
    swapped = real.assign(a=list("yxyx"), s=list("ssnn"))
    assert k_marginal_score(real, swapped, stratum="s") == 1000


def test_the_order_and_the_number_of_rows_do_not_count():
    rng = np.random.default_rng(0)
    real = pd.DataFrame(rng.integers(0, 50, size=(200, 4)), columns=list("abcd"))
    assert k_marginal_score(real, real[::-1]) == 1000
    assert k_marginal_score(real, pd.concat([real, real])) == 1000


def test_bins_hold_percentile_ranks_of_real_numbers():
    """In two bins: 1 to 4 are ranked .2, .5, .5, .8, 1 and 4 is the last of .8."""
    real = pd.DataFrame({"a": [1, 2, 2, 3, 4]})
    bins = {"k": 1, "bins": 2, "binned": ["a"]}
    # floor(2 r) of .2, .5, .5, .8, 1 is 0, 1, 1, 1, 1
    assert k_marginal_score(real, pd.DataFrame({"a": [0, 2, 9, 9, 9]}), **bins) == 1000
    # 1.5 is in the bin of the next larger real number
    other = pd.DataFrame({"a": [1.5, 2, 9, 9, 9]})
    assert k_marginal_score(real, other, **bins) == pytest.approx(800)


def test_twenty_bins_of_a_hundred_numbers():
    """Ranks of .01 to 1: floor(20 r) begins at 5, 10, ..., which rounding may miss."""
    real = pd.DataFrame({"a": np.arange(1, 101)})
    expected = [min(r * 20 // 100, 19) for r in range(1, 101)]
    for value in (4, 5, 14, 15, 55, 94, 95, 100):
        share = expected.count(expected[value - 1]) / 100
        other = pd.DataFrame({"a": [value]})
        assert k_marginal_score(real, other, k=1) == pytest.approx(1000 * share)


def test_codes_among_numbers_have_cells_of_their_own():
    cells = [*map(str, range(30)), *["N"] * 30, *["501"] * 30]
    real = pd.DataFrame({"a": cells})
    without = {"k": 1, "binned": {"a": ["501"]}}
    assert k_marginal_score(real, real, **without) == 1000
    only = pd.DataFrame({"a": [501]})  # of another dtype
    assert k_marginal_score(real, only, **without) == pytest.approx(1000 / 3)
    missing = pd.DataFrame({"a": ["N", None]})
    assert k_marginal_score(real, missing, **without) == pytest.approx(1000 / 3)
    # without a word on bins: the text has more than 20 different numbers
    assert k_marginal_score(real, pd.DataFrame({"a": ["29.5"]}), k=1) > 0


def test_times_booleans_and_categories():
    stamps = pd.date_range("2020-01-01", periods=40)
    real = pd.DataFrame(
        {
            "t": stamps,
            "b": [True, False] * 20,
            "c": pd.Categorical(list("xy") * 20),
        }
    )
    assert k_marginal_score(real, real) == 1000
    later = real.assign(t=stamps + pd.Timedelta("1000D"))
    assert k_marginal_score(real, later, k=1) < 700


def test_many_columns_of_many_values_do_not_overflow():
    rng = np.random.default_rng(0)
    real = pd.DataFrame(rng.integers(0, 2**40, size=(300, 30))).astype(str)
    real.columns = [f"c{j}" for j in range(30)]
    kept = {"binned": [], "stratum": "c0"}
    assert k_marginal_score(real, real, k=3, **kept) == 1000
    assert k_marginal_score(real, real[:150], k=3, **kept) == pytest.approx(500)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"k": 4}, "k must be 1, 2 or 3"),
        ({"bins": 1}, "bins must be at least 2"),
        ({"stratum": "z"}, "must name columns of the table. Got 'z'"),
        ({"leave_out": ["b"]}, "at most the number of columns, 1 without"),
    ],
)
def test_wrong_arguments(settings, message):
    real = pd.DataFrame({"a": [1], "b": [2]})
    with pytest.raises(ValueError, match=message):
        k_marginal_score(real, real, **settings)


def test_empty_tables():
    real = pd.DataFrame({"a": [1], "b": [2]})
    for score in (k_marginal_score, pmse):
        with pytest.raises(ValueError, match="Both tables must have rows"):
            score(real, real[:0])


@pytest.mark.parametrize("model", ["tree", "logistic"])
def test_pmse_of_equal_and_of_disjoint_tables(model):
    rng = np.random.default_rng(0)
    real = pd.DataFrame({"a": rng.normal(size=90), "b": rng.choice(["x", None], 90)})
    assert pmse(real, real, model=model) == pytest.approx(0, abs=1e-9)
    far = real.assign(a=real["a"] + 100, b="new")
    # of 90 real and 30 synthetic rows c is 1/4, and c (1 - c) the largest value
    # the regularised logistic regression comes near to it
    assert 0.15 < pmse(real, far[:30], model=model) <= 0.1875


def test_pmse_by_hand():
    """One split: all of 4 and 2 of 6 rows are synthetic, c is .6."""
    real = pd.DataFrame({"a": ["x"] * 4})
    synthetic = pd.DataFrame({"a": ["x"] * 2 + ["y"] * 4})
    expected = (4 * 0.4**2 + 6 * (1 / 3 - 0.6) ** 2) / 10
    assert pmse(real, synthetic) == pytest.approx(expected)


def test_codes_and_missing_cells_are_told_from_numbers():
    real = pd.DataFrame({"a": ["1", "2", "3", "4"]})
    for other in ("N", None):
        assert pmse(real, pd.DataFrame({"a": [other] * 4})) == pytest.approx(0.25)


def test_ratio_is_about_one_for_rows_of_the_same_distribution():
    rng = np.random.default_rng(0)  # the seed of the labels too: streams must differ
    rows = pd.DataFrame(rng.normal(size=(1000, 3)), columns=list("abc"))
    order = np.random.default_rng(0).permutation(1000)
    real, other = rows.iloc[order[:500]], rows.iloc[order[500:]]
    assert 0.3 < pmse_ratio(real, other) < 3  # seeded
    assert pmse_ratio(real, real) == 0
    with pytest.raises(ValueError, match="n_permutations must be at least 1"):
        pmse_ratio(real, other, n_permutations=0)
    with pytest.raises(ValueError, match="model must be 'tree' or 'logistic'"):
        pmse(real, other, model="forest")


def test_yardsticks_have_both():
    real = pd.DataFrame({"a": [1, 2, 3, 4], "b": [0, 1, 0, 1], "s": list("nnss")})
    scores = yardsticks(real, real, stratum="s")
    assert scores["k_marginal"] == 1000
    assert scores["pmse"] == 0
    assert yardsticks(real[["a"]], real[["a"]])["k_marginal"] == 1000
