"""Denoised pairs: what noise is taken out, and what of a relation stays."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skdpgen.training import PairPrior, smooth_pair


def marginals(rng, sizes=(6, 9)):
    return [rng.dirichlet(np.full(size, 4.0)) for size in sizes]


def relation(rng, first, second, strength=1.0):
    """Return what a pair of columns has above independence: smooth along both."""
    x, y = (np.linspace(-1, 1, len(m)) for m in (first, second))
    joint = np.outer(first, second) * np.exp(strength * np.outer(x, y))
    for _ in range(200):  # to the given marginals
        joint *= (first / joint.sum(axis=1))[:, None]
        joint *= second / joint.sum(axis=0)
    return joint - np.outer(first, second)


def priors(first, second, is_ordered=True):
    pair = (first, second)
    return [PairPrior.of(m, len(m) if is_ordered else 0) for m in pair]


def test_without_noise_nothing_changes():
    rng = np.random.default_rng(0)
    excess = rng.normal(size=(6, 9))
    found = smooth_pair(excess, 0.0, *priors(*marginals(rng)))
    np.testing.assert_array_equal(found, excess)


@pytest.mark.parametrize("is_ordered", [True, False])
def test_a_relation_is_kept_as_the_noise_vanishes(is_ordered):
    rng = np.random.default_rng(0)
    first, second = marginals(rng)
    truth = relation(rng, first, second)
    size = np.linalg.norm(truth)
    errors = []
    for std in (1e-2, 1e-3, 1e-4, 1e-5):
        runs = [
            smooth_pair(
                truth + std * rng.normal(size=truth.shape),
                std**2,
                *priors(first, second, is_ordered),
            )
            for _ in range(10)
        ]
        errors.append(np.mean([np.linalg.norm(run - truth) for run in runs]) / size)
    assert errors == sorted(errors, reverse=True)
    assert errors[1] < 0.2
    assert errors[-1] < 2e-3


@pytest.mark.parametrize("is_ordered", [True, False])
@pytest.mark.parametrize("std", [1e-4, 1e-3, 1e-2, 1.0])
def test_pure_noise_returns_to_nothing(is_ordered, std):
    rng = np.random.default_rng(0)
    raw, left = 0.0, 0.0
    for _ in range(30):
        noise = std * rng.normal(size=(6, 9))
        found = smooth_pair(noise, std**2, *priors(*marginals(rng), is_ordered))
        raw += (noise**2).sum()
        left += (found**2).sum()
    assert left < 0.03 * raw


@pytest.mark.parametrize("is_ordered", [True, False])
@pytest.mark.parametrize("strength", [0.0, 0.2, 1.0, 3.0])
def test_smoothing_beats_the_raw_table(is_ordered, strength):
    rng = np.random.default_rng(1)
    for std in (3e-4, 3e-3, 3e-2):
        ours, raw = 0.0, 0.0
        for _ in range(20):
            first, second = marginals(rng)
            truth = relation(rng, first, second, strength)
            noisy = truth + std * rng.normal(size=truth.shape)
            found = smooth_pair(noisy, std**2, *priors(first, second, is_ordered))
            ours += ((found - truth) ** 2).sum()
            raw += ((noisy - truth) ** 2).sum()
        assert ours < 0.9 * raw


def test_ordered_columns_borrow_from_their_neighbours():
    rng = np.random.default_rng(2)
    errors = {True: 0.0, False: 0.0}
    for _ in range(30):
        first, second = marginals(rng, (12, 12))
        truth = relation(rng, first, second)
        noisy = truth + 3e-3 * rng.normal(size=truth.shape)
        for is_ordered in errors:
            found = smooth_pair(noisy, 9e-6, *priors(first, second, is_ordered))
            errors[is_ordered] += ((found - truth) ** 2).sum()
    assert errors[True] < 0.8 * errors[False]


@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 6),
    st.integers(1, 6),
    st.sampled_from([1e-12, 1e-6, 1e-2, 1e6]),
    st.sampled_from([1.0, 0.25, 0.0]),
)
@settings(deadline=None, max_examples=50)
def test_what_is_found_moves_no_single_column(seed, n, m, variance, scale):
    rng = np.random.default_rng(seed)
    first, second = marginals(rng, (n, m))
    first[rng.random(n) < 0.3] = 0.0  # cells that nobody is in
    first = first / first.sum() if first.any() else np.full(n, 1 / n)
    excess = min(30 * variance**0.5, 1.0) * rng.normal(size=(n, m))
    before = excess.copy()
    some = [PairPrior.of(first, n), PairPrior.of(second, int(rng.integers(m + 1)))]
    found = smooth_pair(excess, variance, *some, scale=scale)
    np.testing.assert_array_equal(excess, before)
    assert found.shape == (n, m)
    assert np.isfinite(found).all()
    rounding = 1e-4 * np.linalg.norm(excess)
    np.testing.assert_allclose(found.sum(axis=0), 0.0, atol=rounding)
    np.testing.assert_allclose(found.sum(axis=1), 0.0, atol=rounding)
    assert np.linalg.norm(found) <= np.linalg.norm(excess) * (1 + 1e-9)
    if scale == 0:
        np.testing.assert_allclose(found, 0.0, atol=1e-12)


def test_the_order_of_a_pair_does_not_matter():
    rng = np.random.default_rng(3)
    first, second = marginals(rng)
    noisy = relation(rng, first, second) + 1e-3 * rng.normal(size=(6, 9))
    one, two = priors(first, second)
    found = smooth_pair(noisy, 1e-6, one, two)
    np.testing.assert_allclose(found, smooth_pair(noisy.T, 1e-6, two, one).T)
    np.testing.assert_array_equal(found, smooth_pair(noisy, 1e-6, one, two))


def test_memory_is_that_of_a_few_tables():
    rng = np.random.default_rng(4)
    sizes = (100, 100)
    pair = priors(*marginals(rng, sizes))
    noisy = 1e-3 * rng.normal(size=sizes)
    peaks = []
    for repeats in (1, 8):
        tracemalloc.start()
        for _ in range(repeats):
            smooth_pair(noisy, 1e-6, *pair)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[0] < 300 * noisy.nbytes
    assert peaks[1] < 1.1 * peaks[0]
