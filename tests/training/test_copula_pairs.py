"""Pairs of numbers: normal copulas are recognised, and nothing else is."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

from skdpgen.training import PairPrior, copula_excesses, smooth_numbers, smooth_pair

EVEN = np.full(8, 1 / 8)
HALVES = np.repeat(np.eye(4), 2, axis=0)  # eight groups, joined two by two


def table_of(excess, first, second):
    return np.outer(first, second) + excess


def smoothed(noisy, variance, marginals, joins=None, n_ordered=(8, 8)):
    joins = joins or (np.eye(8), np.eye(8))
    priors = tuple(
        PairPrior.of(h @ join, min(n, join.shape[1]))
        for h, join, n in zip(marginals, joins, n_ordered, strict=True)
    )
    mean, centre = smooth_numbers(noisy, variance, priors, marginals, n_ordered, joins)
    return mean, centre, smooth_pair(noisy, variance, *priors)


@pytest.mark.parametrize("correlation", [-0.9, 0.3, 0.98])
def test_the_table_is_that_of_the_normal_distribution(correlation):
    first = np.array([0.1, 0.25, 0.05, 0.6])
    second = np.array([0.3, 0.3, 0.4])
    (excess,) = copula_excesses((first, second), (4, 3), np.array([correlation]))
    limits = [
        np.clip(norm.ppf(np.concatenate([[0], np.cumsum(h)]).clip(0, 1)), -9, 9)
        for h in (first, second)
    ]
    below = multivariate_normal(cov=[[1, correlation], [correlation, 1]]).cdf
    at = np.array([[below([a, b]) for b in limits[1]] for a in limits[0]])
    exact = np.diff(np.diff(at, axis=0), axis=1)
    np.testing.assert_allclose(table_of(excess, first, second), exact, atol=2e-3)
    np.testing.assert_allclose(excess.sum(axis=0), 0, atol=1e-4)
    np.testing.assert_allclose(excess.sum(axis=1), 0, atol=1e-6)


def test_cells_that_are_not_ordered_have_no_excess():
    marginal = np.array([0.4, 0.3, 0.2, 0.1])
    (excess,) = copula_excesses((marginal, marginal), (3, 4), np.array([0.8]))
    assert not excess[3].any()
    assert np.abs(excess[:3]).min() > 1e-3
    np.testing.assert_allclose(excess.sum(axis=1), 0, atol=1e-9)


@pytest.mark.parametrize("correlation", [0.93, -0.97])
def test_numbers_that_move_together_have_a_third_less_error(correlation):
    rng = np.random.default_rng(0)
    (true,) = copula_excesses((EVEN, EVEN), (8, 8), np.array([correlation]))
    errors = np.zeros(2)
    for _ in range(20):
        noisy = true + rng.normal(0, 0.01, true.shape)
        mean, _, before = smoothed(noisy, 1e-4, (EVEN, EVEN))
        errors += np.abs(mean - true).sum(), np.abs(before - true).sum()
    assert errors[0] < 0.67 * errors[1]


def test_without_a_correlation_nothing_changes():
    rng = np.random.default_rng(0)
    n_changed = 0
    for _ in range(200):
        noisy = rng.normal(0, 0.01, (8, 8))
        mean, centre, before = smoothed(noisy, 1e-4, (EVEN, EVEN))
        n_changed += bool(centre.any())
        if not centre.any():
            np.testing.assert_array_equal(mean, before)
    assert n_changed <= 4  # 3 noise stds


def test_a_relation_that_no_copula_has_is_kept():
    circle = np.zeros((8, 8))
    for a in range(8):  # two turns: up, down and up again
        circle[a, abs((2 * a) % 14 - 7) % 8] += 1 / 8
    true = circle - np.outer(circle.sum(axis=1), circle.sum(axis=0))
    noisy = true + np.random.default_rng(0).normal(0, 1e-3, true.shape)
    marginals = circle.sum(axis=1), circle.sum(axis=0)
    mean, _, before = smoothed(noisy, 1e-6, marginals)
    assert np.abs(mean - true).sum() < 1.1 * np.abs(before - true).sum()


def test_joined_groups_get_the_table_of_the_copula():
    (true,) = copula_excesses((EVEN, EVEN), (8, 8), np.array([0.95]))
    joined = HALVES.T @ true @ HALVES
    noisy = joined + np.random.default_rng(0).normal(0, 2e-3, joined.shape)
    mean, centre, _ = smoothed(noisy, 4e-6, (EVEN, EVEN), (HALVES, HALVES))
    np.testing.assert_allclose(mean, joined, atol=6 * 2e-3)

    def spread(table):
        return HALVES @ table @ HALVES.T / 4

    finer = spread(mean) + centre - spread(HALVES.T @ centre @ HALVES)
    np.testing.assert_allclose(HALVES.T @ finer @ HALVES, mean, atol=1e-12)
    assert np.abs(finer - true).sum() < 0.4 * np.abs(spread(joined) - true).sum()


def test_both_columns_are_treated_alike():
    (true,) = copula_excesses((EVEN, EVEN), (8, 8), np.array([0.7]))
    noisy = true + np.random.default_rng(0).normal(0, 5e-3, true.shape)
    one = smoothed(noisy, 2.5e-5, (EVEN, EVEN))
    other = smoothed(noisy.T, 2.5e-5, (EVEN, EVEN))
    for a, b in zip(one, other, strict=True):
        np.testing.assert_allclose(a, b.T, atol=2e-4)


@pytest.mark.parametrize("variance", [0.0, 1e-4])
def test_few_groups_or_no_noise_leave_the_estimate_as_it_was(variance):
    two = np.full(2, 0.5), np.full(2, 0.5)
    excess = np.array([[0.2, -0.2], [-0.2, 0.2]])
    mean, centre, before = smoothed(
        excess, variance, two, (np.eye(2), np.eye(2)), (2, 2)
    )
    np.testing.assert_array_equal(mean, before)
    assert not centre.any()


def test_an_empty_column_is_no_error():
    marginals = np.array([0.0, 0.0, 0.0, 1.0]), EVEN
    mean, centre, _ = smoothed(
        np.full((4, 8), 0.1), 1e-6, marginals, (np.eye(4), np.eye(8)), (3, 8)
    )
    assert np.isfinite(mean).all()
    assert np.isfinite(centre).all()
