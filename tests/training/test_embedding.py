"""Shrinkage of an embedding: never worse on average, and honest about its error."""

import numpy as np
import pytest

from skdpgen.training import shrink_embedding

WIDTH = 300
SHARES = {
    "one class": np.array([1.0]),
    "even": np.full(4, 0.25),
    "uneven": np.array([0.9, 0.08, 0.02]),
    "one empty": np.array([0.6, 0.4, 0.0]),
}


def simulate(shares, common, own, noise_std, n_runs=40):
    """Return mean squared errors (raw, shrunk) and the mean estimate of the latter."""
    rng = np.random.default_rng(0)
    n, result = len(shares), []
    for _ in range(n_runs):
        start = rng.normal(size=(n, WIDTH))
        together = common * rng.normal(size=WIDTH)
        apart = own * rng.normal(size=(n, WIDTH))
        truth = start + shares[:, None] * (together + apart)
        noisy = truth + noise_std * rng.normal(size=truth.shape)
        found, estimate = shrink_embedding(noisy, start, shares, noise_std)
        errors = ((noisy - truth) ** 2).sum(), ((found - truth) ** 2).sum()
        result.append((*errors, estimate))
    return np.mean(result, axis=0)


@pytest.mark.parametrize("name", SHARES)
@pytest.mark.parametrize("common", [0.0, 0.3, 5.0])
@pytest.mark.parametrize("own", [0.0, 0.3, 5.0])
def test_it_is_never_worse_than_the_raw_embedding(name, common, own):
    raw, shrunk, estimate = simulate(SHARES[name], common, own, 0.1)
    assert shrunk <= raw
    assert estimate == pytest.approx(shrunk, rel=0.1, abs=0.05 * raw)


@pytest.mark.parametrize("name", SHARES)
def test_without_noise_nothing_changes(name):
    rng = np.random.default_rng(0)
    noisy, start = rng.normal(size=(2, len(SHARES[name]), WIDTH))
    found, error = shrink_embedding(noisy, start, SHARES[name], 0.0)
    np.testing.assert_allclose(found, noisy, atol=1e-12)
    assert error == 0


@pytest.mark.parametrize("name", SHARES)
def test_of_noise_alone_nearly_nothing_is_left(name):
    raw, shrunk, estimate = simulate(SHARES[name], 0.0, 0.0, 0.1)
    assert shrunk < 0.03 * raw
    assert estimate < 0.05 * raw


def test_what_classes_have_in_common_is_told_with_less_noise():
    rng = np.random.default_rng(0)
    shares, start = SHARES["even"], np.zeros((4, WIDTH))
    together = apart = 0.0
    for _ in range(40):
        truth = np.tile(0.1 * rng.normal(size=WIDTH), (4, 1))
        noisy = truth + 0.1 * rng.normal(size=truth.shape)
        found, _ = shrink_embedding(noisy, start, shares, 0.1)
        together += ((found - truth) ** 2).sum()
        for one in range(4):  # each class as if there were no other
            row = slice(one, one + 1)
            alone, _ = shrink_embedding(noisy[row], start[row], np.ones(1), 0.1)
            apart += ((alone - truth[row]) ** 2).sum()
    assert together < 0.6 * apart


def test_nothing_to_shrink_is_no_error():
    start = np.ones((2, 5))
    found, error = shrink_embedding(start, start, np.array([0.5, 0.5]), 1.0)
    np.testing.assert_array_equal(found, start)
    assert error == 0


def test_arguments_are_left_alone():
    rng = np.random.default_rng(0)
    noisy, start = rng.normal(size=(2, 2, WIDTH))
    before = noisy.copy(), start.copy()
    shrink_embedding(noisy, start, np.array([0.7, 0.3]), 0.1)
    np.testing.assert_array_equal((noisy, start), before)
