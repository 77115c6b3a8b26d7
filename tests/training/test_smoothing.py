import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from skdpgen.training import (
    class_totals,
    conditional_histogram,
    project_to_total,
    without_empty_cells,
)

counts = arrays(float, st.integers(1, 20), elements=st.floats(-1e6, 1e6))


@given(counts, st.floats(0.01, 1e6))
@settings(deadline=None)
def test_the_projection_is_feasible_and_idempotent(noisy, total):
    found = project_to_total(noisy, total)
    assert (found >= 0).all()
    assert found.sum() == pytest.approx(total, rel=1e-6, abs=1e-6)
    again = project_to_total(found, total)
    np.testing.assert_allclose(again, found, atol=1e-6 * max(total, 1.0))


@given(counts, st.integers(0, 2**32 - 1))
@settings(deadline=None)
def test_the_projection_is_the_nearest_point(noisy, seed):
    total = 100.0
    nearest = np.linalg.norm(project_to_total(noisy, total) - noisy)
    rng = np.random.default_rng(seed)
    for other in total * rng.dirichlet(np.full(len(noisy), 0.5), size=20):
        assert nearest <= np.linalg.norm(other - noisy) * (1 + 1e-9) + 1e-9


def noisy_blocks(rng, totals, std, sizes=(3, 5, 40)):
    blocks = []
    for size in sizes:
        shares = rng.dirichlet(np.full(size, 5.0), size=len(totals))
        exact = np.asarray(totals)[:, None] * shares
        blocks.append(exact + std * rng.normal(size=exact.shape))
    return blocks


def test_class_totals_pool_all_columns():
    rng = np.random.default_rng(0)
    truth = np.array([900.0, 100.0])
    np.testing.assert_allclose(class_totals(noisy_blocks(rng, truth, 0), 1000.0), truth)
    np.testing.assert_allclose(class_totals(noisy_blocks(rng, truth, 0), None), truth)
    errors = {}
    for sizes in ((40,), (3, 5, 40), (3,) * 8):
        draws = [
            class_totals(noisy_blocks(rng, truth, 10.0, sizes), None) - truth
            for _ in range(200)
        ]
        errors[sizes] = np.std(draws)
    assert errors[(3,) * 8] < errors[3, 5, 40] < errors[(40,)]
    assert errors[3, 5, 40] == pytest.approx(
        10 / np.sqrt(1 / 3 + 1 / 5 + 1 / 40), rel=0.2
    )


def test_class_totals_stay_possible():
    blocks = [np.array([[-50.0, 10.0], [20.0, 5.0]])]
    assert (class_totals(blocks, None) >= 0).all()
    assert class_totals(blocks, 7.0).sum() == pytest.approx(7.0)
    assert class_totals([np.full((2, 2), -9.0)], None).sum() > 0


TRUTH = np.array([[0.6, 0.25, 0.1, 0.05], [0.1, 0.2, 0.3, 0.4]])
TOTALS = np.array([7000.0, 3000.0])


def estimate(std, truth=TRUTH, totals=TOTALS, n_ordered=0, seed=0):
    rng = np.random.default_rng(seed)
    exact = totals[:, None] * truth
    noisy = exact + std * rng.normal(size=exact.shape)
    return conditional_histogram(noisy, std, totals, n_ordered=n_ordered)


@pytest.mark.parametrize("n_ordered", [0, 3, 4])
def test_the_truth_is_recovered_as_the_noise_vanishes(n_ordered):
    error = []
    for std in (300.0, 100.0, 10.0, 1.0, 0.0):
        runs = [estimate(std, n_ordered=n_ordered, seed=s)[1] for s in range(20)]
        error.append(np.mean([np.abs(run - TRUTH).sum() for run in runs]))
    assert error == sorted(error, reverse=True)
    assert error[-2] < 2e-3
    assert error[-1] < 1e-12
    marginal, _ = estimate(0.0)
    np.testing.assert_allclose(marginal, TOTALS @ TRUTH / TOTALS.sum())


@pytest.mark.parametrize("n_ordered", [0, 12])
def test_without_a_signal_classes_return_to_the_pooled_marginal(n_ordered):
    shares = np.arange(1.0, 13.0) / 78
    truth = np.array([shares, shares])
    apart, raw = [], []
    for seed in range(20):
        marginal, table = estimate(60.0, truth, n_ordered=n_ordered, seed=seed)
        apart.append(np.abs(table - marginal).sum())
        noise = 60.0 * np.sqrt(2 / np.pi) * 12 / TOTALS
        raw.append(noise.sum())
    assert np.mean(apart) < 0.35 * np.mean(raw)


def test_shrinkage_beats_the_raw_histogram():
    rng = np.random.default_rng(1)
    cells = np.linspace(-2, 2, 30)
    truth = np.array([np.exp(-0.5 * (cells - m) ** 2) for m in (-0.2, 0.2)])
    truth /= truth.sum(axis=1, keepdims=True)
    ours, raw = [], []
    for _ in range(10):
        noisy = TOTALS[:, None] * truth + 50.0 * rng.normal(size=truth.shape)
        _, table = conditional_histogram(noisy, 50.0, TOTALS, n_ordered=30)
        simple = [project_to_total(row, 1.0) for row in noisy / TOTALS[:, None]]
        ours.append(np.abs(table - truth).sum())
        raw.append(np.abs(np.array(simple) - truth).sum())
    assert np.mean(ours) < 0.8 * np.mean(raw)


@given(
    st.integers(1, 4).flatmap(
        lambda c: arrays(float, (c, 6), elements=st.floats(-1e5, 1e5))
    ),
    st.sampled_from([0.0, 1e-3, 5.0, 1e6]),
    st.integers(0, 6),
)
@settings(max_examples=60, deadline=None)
def test_rows_are_probabilities_whatever_was_released(noisy, std, n_ordered):
    totals = class_totals([noisy], None)
    marginal, table = conditional_histogram(noisy, std, totals, n_ordered=n_ordered)
    assert (table >= 0).all()
    np.testing.assert_allclose(table.sum(axis=1), 1.0)
    assert marginal.sum() == pytest.approx(1.0)


def test_a_class_without_rows_gets_the_marginal():
    noisy = np.array([[50.0, 30.0, 20.0], [0.0, 0.0, 0.0]])
    marginal, table = conditional_histogram(
        noisy, 0.0, np.array([100.0, 0.0]), n_ordered=0
    )
    np.testing.assert_allclose(table, [marginal, marginal])


@pytest.mark.parametrize("n_ordered", [0, 24])
def test_bins_of_a_number_are_like_their_neighbours(n_ordered):
    """Hours by how much is going on: smooth along both, or along the number alone."""
    hours, level = np.arange(24.0), np.linspace(0.0, 1.0, 12)[:, None]
    busy = np.exp(-0.5 * ((hours - 8) / 2) ** 2) + np.exp(
        -0.5 * ((hours - 17) / 3) ** 2
    )
    if not n_ordered:
        busy = busy[np.random.default_rng(2).permutation(24)]
    truth = (1 - level) / 24 + level * busy / busy.sum()
    totals = np.full(12, 800.0)
    error = {True: [], False: []}
    for seed in range(5):
        rng = np.random.default_rng(seed)
        noisy = totals[:, None] * truth + 20.0 * rng.normal(size=truth.shape)
        for are_bins, found in error.items():
            _, table = conditional_histogram(
                noisy, 20.0, totals, n_ordered=n_ordered, are_bins=are_bins
            )
            apart = (table - table.mean(axis=0)) - (truth - truth.mean(axis=0))
            found.append(np.abs(apart).sum(axis=1).mean() / 2)
    assert np.mean(error[True]) < 0.92 * np.mean(error[False])


def test_bins_that_differ_are_not_taken_for_alike():
    rng = np.random.default_rng(0)
    truth, totals = rng.dirichlet(np.ones(8), size=6), np.full(6, 5000.0)
    noisy = totals[:, None] * truth + 5.0 * rng.normal(size=truth.shape)
    _, table = conditional_histogram(noisy, 5.0, totals, n_ordered=0, are_bins=True)
    assert np.abs(table - truth).max() < 0.02


# ----------------------------------------------------------------------- empty cells

tables = arrays(
    float,
    st.tuples(st.integers(1, 4), st.integers(2, 20)),
    elements=st.floats(-100, 1e4),
)


@given(tables, st.floats(0, 200), st.data())
@settings(deadline=None)
def test_cells_are_emptied_from_the_ends_and_never_all(noisy, std, data):
    n_cells = noisy.shape[1]
    n_ordered = data.draw(st.integers(0, n_cells))
    n_rare = data.draw(st.integers(0, min(2, n_cells - n_ordered)))
    rare = range(-n_rare, 0)
    found = without_empty_cells(noisy, std, n_ordered=n_ordered, rare=rare)
    gone = np.isneginf(found)
    assert (gone == gone[0]).all()  # for all classes alike
    np.testing.assert_array_equal(found[~gone], noisy[~gone])
    assert not gone.all()
    by_run = gone[0].copy()
    by_run[n_cells - n_rare :] = False
    assert not by_run[n_ordered:].any()
    inner = np.flatnonzero(~gone[0][:n_ordered])
    if len(inner):
        assert not by_run[inner[0] : inner[-1] + 1].any()


def test_cells_that_hold_rows_are_kept():
    exact = np.array([[0.0, 0.0, 300.0, 0.0, 500.0, 0.0, 0.0, 40.0, 0.0]])
    kept = np.zeros(9)
    for seed in range(400):
        noisy = exact + 5.0 * np.random.default_rng(seed).normal(size=exact.shape)
        found = without_empty_cells(noisy, 5.0, n_ordered=7, rare=[-1, -2])
        kept += np.isfinite(found[0])
    assert (kept[[2, 3, 4, 7]] == 400).all()  # an empty cell between full ones, too
    assert (kept[[0, 1, 5, 6, 8]] < 100).all()


def test_noise_of_many_classes_does_not_become_what_is_missing():
    exact = np.zeros((300, 2))
    exact[:, 0] = 20.0
    kept = 0
    for seed in range(200):
        noisy = exact + 5.0 * np.random.default_rng(seed).normal(size=exact.shape)
        found = without_empty_cells(noisy, 5.0, n_ordered=0, rare=[1])
        kept += np.isfinite(found[0, 1])
    assert not kept
    exact[:, 1] = 5.0
    noisy = exact + 5.0 * np.random.default_rng(0).normal(size=exact.shape)
    assert np.isfinite(without_empty_cells(noisy, 5.0, n_ordered=0, rare=[1])).all()


def test_without_noise_what_is_there_stays():
    exact = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 2.0]])
    found = without_empty_cells(exact, 0.0, n_ordered=3, rare=[])
    assert np.isneginf(found[:, 0]).all()
    np.testing.assert_array_equal(found[:, 1:], exact[:, 1:])


def test_a_gap_of_the_other_sign_needs_more_rows_than_another():
    counts = np.array([[30.0, 500.0, 30.0]])
    asked = {"n_ordered": 0, "rare": [], "gaps": (0, 2)}
    both = without_empty_cells(counts, 10.0, **asked)
    assert np.isfinite(both).all()
    one = without_empty_cells(counts, 10.0, **asked, other_sign=[0])
    assert np.isfinite(one).tolist() == [[False, True, True]]


def test_gaps_beyond_a_range_are_kept_up_to_where_their_sum_shows():
    counts = np.array([[22.0, 24.9, 24.9, 900.0, 24.9, 24.9, 24.0, -4.0]])
    asked = {"n_ordered": 0, "rare": [], "gaps": (0, 1, 2, 4, 5, 6, 7)}
    alone = without_empty_cells(counts, 10.0, **asked)
    assert np.flatnonzero(np.isfinite(alone[0])).tolist() == [3]
    lines = {"outward": [[2, 1, 0], [4, 5, 6, 7]]}
    found = without_empty_cells(counts, 10.0, **asked, **lines)
    assert np.flatnonzero(np.isfinite(found[0])).tolist() == [
        1,
        2,
        3,
        4,
        5,
    ]  # the rest is noise
    signs = {**lines, "other_sign": [0, 1, 2]}  # negative numbers take more than that
    found = without_empty_cells(counts, 10.0, **asked, **signs)
    assert np.flatnonzero(np.isfinite(found[0])).tolist() == [3, 4, 5]


def test_hardly_a_gap_is_kept_by_noise():
    kept = 0
    for seed in range(2_000):
        noisy = 10.0 * np.random.default_rng(seed).normal(size=(1, 6))
        noisy[0, 2] += 900.0
        asked = {"gaps": (0, 1, 3, 4, 5), "outward": [[1, 0], [3, 4, 5]]}
        found = without_empty_cells(noisy, 10.0, n_ordered=0, rare=[], **asked)
        kept += np.isfinite(found[0]).sum() > 1
    assert kept < 0.06 * 2_000  # five of 2.5 stds: 3 %


def test_noise_of_the_gaps_hides_no_cell_at_the_end():
    counts = np.array([[-40.0, 900.0, 30.0, -40.0]])
    asked = {"n_ordered": 4, "rare": [], "gaps": (0, 3)}
    found = without_empty_cells(counts, 10.0, **asked)
    assert np.isfinite(found[0]).tolist() == [False, True, True, False]


def test_a_total_helps_as_far_as_other_columns_know_it():
    counts, asked = np.array([[900.0, 22.0]]), {"n_ordered": 0, "rare": []}
    asked["gaps"] = (1,)

    def is_kept(total):
        found = without_empty_cells(counts, 10.0, **asked, total=total)
        return bool(np.isfinite(found[0, 1]))

    assert not is_kept(None)
    assert is_kept((930.0, 0.0))  # public: 8 rows lack, 4 of them here; noise of 7
    assert not is_kept((910.0, 0.0))
    assert not is_kept((922.0, 200.0**0.5))  # the sum of these counts, and no more
    assert is_kept((930.0, 3.0))
