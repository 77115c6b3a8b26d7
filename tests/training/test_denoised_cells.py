"""Denoised histograms of one column: nearer to the truth than what was counted."""

import numpy as np
import pytest

from skdpgen.training import denoised_histogram, project_to_total
from skdpgen.training._single_columns import _above_zero

N_CELLS, STD, TOTAL = 80, 25.0, 8_000.0
PLACE = np.linspace(-1, 1, N_CELLS)
SHAPES = {
    "even": np.ones(N_CELLS),
    "hill": np.exp(-3 * PLACE**2),
    "step": np.where(PLACE < 0.3, 1.0, 0.2),
    "comb": np.where(np.arange(N_CELLS) % 3 == 0, 3.0, 0.0),
}


def _errors(shape, rng, n=10):
    """Return mean absolute errors of the denoised and of the projected histogram."""
    truth = TOTAL * shape / shape.sum()
    errors = []
    for _ in range(n):
        noisy = truth + STD * rng.normal(size=len(truth))
        found = denoised_histogram(noisy, STD, TOTAL, n_ordered=len(truth))
        plain = project_to_total(noisy, TOTAL)
        errors.append([np.abs(one - truth).mean() for one in (found, plain)])
    return np.mean(errors, axis=0)


@pytest.mark.parametrize("name", ["even", "hill", "step"])
def test_smooth_columns_lose_most_of_their_noise(name):
    mine, plain = _errors(SHAPES[name], np.random.default_rng(0))
    assert mine < 0.7 * plain


def test_columns_of_few_values_lose_nothing():
    mine, plain = _errors(SHAPES["comb"], np.random.default_rng(1))
    assert mine < 1.25 * plain


def test_a_peak_stays_and_does_not_spread():
    truth = np.full(N_CELLS, 20.0)
    truth[0] = TOTAL - truth[1:].sum()
    noisy = truth + STD * np.random.default_rng(2).normal(size=N_CELLS)
    found = denoised_histogram(noisy, STD, TOTAL, n_ordered=N_CELLS)
    assert abs(found[0] - truth[0]) < 0.1 * truth[0]
    assert np.abs(found[1:] - truth[1:]).mean() < 0.5 * STD


@pytest.mark.parametrize("n_ordered", [0, 3, 40, N_CELLS])
@pytest.mark.parametrize("level", [0.0, 1.0, 100.0])
def test_counts_add_up_and_are_not_negative(n_ordered, level):
    noisy = level + STD * np.random.default_rng(3).normal(size=N_CELLS)
    noisy[[5, 50]] = -np.inf
    found = denoised_histogram(noisy, STD, TOTAL, n_ordered=n_ordered)
    assert found.sum() == pytest.approx(TOTAL)
    assert (found >= 0).all()
    assert (found[[5, 50]] == 0).all()


def test_without_noise_counts_stay():
    truth = TOTAL * SHAPES["hill"] / SHAPES["hill"].sum()
    found = denoised_histogram(truth, 0.0, TOTAL, n_ordered=N_CELLS)
    np.testing.assert_allclose(found, truth)


def test_nothing_but_noise_below_zero_is_spread_evenly():
    found = denoised_histogram(np.full(6, -np.inf), STD, 12.0, n_ordered=6)
    np.testing.assert_allclose(found, 2.0)


def test_a_count_far_below_zero_is_nearly_none():
    found = _above_zero(np.array([-3.3e4, -999.0, -1001.0]), np.array([1e-9, 1.0, 1.0]))
    assert found == pytest.approx([1e-18 / 3.3e4, 1 / 999, 1 / 1001], rel=1e-4)
