"""Correlations and covariances behind known noise: what is kept, and what is not."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from skdpgen.training import (
    class_correlations,
    class_covariances,
    nearest_correlation,
    shrink_symmetric,
)

stacks = st.tuples(st.integers(1, 3), st.integers(1, 6)).flatmap(
    lambda s: arrays(float, (s[0], s[1], s[1]), elements=st.floats(-1e6, 1e6))
)
stds = st.sampled_from([0.0, 1e-9, 1.0, 1e3, 1e9])
row_counts = st.sampled_from([0.0, 1.0, 300.0, 1e6])


def correlation(d, seed=0, strength=1.0):
    """A correlation matrix that is far from singular."""
    loads = strength * np.random.default_rng(seed).normal(size=(d, 2))
    whole = loads @ loads.T + np.eye(d)
    scale = 1 / np.sqrt(np.diag(whole))
    return whole * scale * scale[:, None]


def gaussian(n, truth, seed=0):
    """Rows of norm near 1, as scores of ranks are before privacy cuts them."""
    root = np.linalg.cholesky(truth)
    rows = np.random.default_rng(seed).normal(size=(n, len(truth))) @ root.T
    return rows / np.sqrt(len(truth))


def cut(rows):
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1.0)


def off_diagonal(matrix):
    return matrix[~np.eye(len(matrix), dtype=bool)]


# ------------------------------------------------------------- whatever was released


@given(stacks, stds, row_counts)
@settings(deadline=None)
def test_correlations_are_correlations_whatever_was_released(moments, std, n):
    found = class_correlations(moments, std, np.full(len(moments), n))
    for one in found:
        np.testing.assert_allclose(one, one.T, atol=1e-12)
        np.testing.assert_allclose(np.diag(one), 1.0)
        assert np.linalg.eigvalsh(one)[0] > 0
        np.linalg.cholesky(one)  # what draws rows


@given(stacks, stds, row_counts)
@settings(deadline=None)
def test_covariances_can_be_drawn_from_whatever_was_released(moments, std, n):
    roots, rest = class_covariances(moments, std, np.full(len(moments), n))
    assert np.isfinite(roots).all()
    assert np.isfinite(rest).all()
    assert rest.min() >= 0
    assert (roots.shape, rest.shape) == (moments.shape, moments.shape[:2])


@given(stacks)
@settings(deadline=None)
def test_a_correlation_matrix_is_its_own_nearest(moments):
    found = nearest_correlation(moments[0] / 1e6)
    np.testing.assert_allclose(nearest_correlation(found), found, atol=0.02)
    truth = correlation(5)
    np.testing.assert_allclose(nearest_correlation(truth), truth, atol=1e-12)


@given(stacks, st.floats(0, 1e6))
@settings(deadline=None)
def test_shrinking_is_symmetric_smaller_and_never_turns_round(moments, std):
    found = shrink_symmetric(moments[0], std)
    given_ = (moments[0] + moments[0].T) / 2
    room = 1e-9 * max(np.abs(given_).max(), 1e-300) * len(given_)
    np.testing.assert_allclose(found, found.T, rtol=0, atol=room)
    before, after = np.linalg.eigvalsh(given_), np.linalg.eigvalsh(found)
    assert (np.abs(after) <= np.abs(before) + room).all()
    assert (after * before >= -room * np.abs(before)).all()


# ------------------------------------------------------------------- without noise


@pytest.mark.parametrize("d", [2, 5, 30])
def test_without_noise_all_is_exact(d):
    truths = [correlation(d, seed) for seed in range(3)]
    sizes = np.array([100.0, 2000.0, 50.0])
    moments = np.stack([n / d * truth for n, truth in zip(sizes, truths, strict=True)])
    for given_, n, expected in [
        (moments, sizes, truths),
        (moments[:1], sizes[:1], truths[:1]),
    ]:
        found = class_correlations(given_, 0.0, n)
        np.testing.assert_allclose(found, expected, atol=1e-9)
        roots, rest = class_covariances(given_, 0.0, n)
        for root, left, truth in zip(roots, rest, expected, strict=True):
            np.testing.assert_allclose(root @ root.T, truth / d, atol=1e-9)
            np.testing.assert_allclose(left, 0.0, atol=1e-9)


@pytest.mark.parametrize("d", [3, 10, 40])
def test_cutting_rows_leaves_correlations(d):
    truth = correlation(d, strength=0.5)
    rows = cut(gaussian(40_000, truth))
    raw = rows.T @ rows * d / len(rows)
    (found,) = class_correlations((rows.T @ rows)[None], 0.0, np.array([40_000.0]))
    assert np.abs(off_diagonal(found - truth)).max() < 0.07
    # ... though not products
    assert np.abs(found - truth).max() < 0.5 * np.abs(raw - truth).max()


def test_entries_of_diagonals_are_not_taken_at_their_word():
    moments = np.eye(6) * 100.0
    moments[0, 0], moments[1, 1] = -500.0, 0.0
    moments[0, 1] = moments[1, 0] = 20.0
    found = class_correlations(moments[None], 10.0, np.array([600.0]))
    assert np.isfinite(found).all()
    assert np.abs(off_diagonal(found[0])).max() < 1.0


# ---------------------------------------------------------------------- with noise


@pytest.mark.parametrize("d", [4, 20, 60])
@pytest.mark.parametrize("n_groups", [1, 3])
def test_noise_alone_is_no_correlation(d, n_groups):
    n, std = 3000.0 * d, 100.0
    shown, raw = [], []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        noise = std * rng.normal(size=(n_groups, d, d))
        moments = n / d * np.eye(d) + noise
        found = class_correlations(moments, std, np.full(n_groups, n))
        symmetric = (noise + noise.transpose(0, 2, 1)) / 2 * d / n
        shown += [np.linalg.norm(off_diagonal(one)) for one in found]
        raw += [np.linalg.norm(off_diagonal(one)) for one in symmetric]
    assert np.mean(shown) < 0.25 * np.mean(raw)
    assert np.median(shown) < 0.2 * np.median(raw)


# Little noise costs: small eigenvalues are no low rank, and are shrunk with it.
@pytest.mark.parametrize(
    ("std", "part"), [(5.0, 1.3), (20.0, 0.9), (60.0, 0.6), (200.0, 0.4)]
)
def test_shrunk_correlations_are_nearer_to_the_truth(std, part):
    d, n = 30, 6000
    truth = correlation(d)
    ours, plain = [], []
    for seed in range(8):
        noise = std * np.random.default_rng(seed).normal(size=(d, d))
        moments = n / d * truth + noise
        (found,) = class_correlations(moments[None], std, np.array([float(n)]))
        raw = (moments + moments.T) / 2 * d / n
        ours.append(np.linalg.norm(off_diagonal(found - truth)))
        plain.append(np.linalg.norm(off_diagonal(raw - truth)))
    assert np.mean(ours) < part * np.mean(plain)


@pytest.mark.parametrize(("std", "part"), [(2.0, 1.3), (10.0, 0.9), (50.0, 0.6)])
def test_shrunk_covariances_are_nearer_to_the_truth(std, part):
    d, n = 40, 4000
    rng = np.random.default_rng(0)
    turned = np.linalg.qr(rng.normal(size=(d, d)))[0]
    truth = turned * np.r_[0.3, 0.2, 0.1, np.full(d - 3, 0.4 / d)] @ turned.T
    noisy = n * truth + std * rng.normal(size=(d, d))
    roots, rest = class_covariances(noisy[None], std, np.array([float(n)]))
    found = roots[0] @ roots[0].T + np.diag(rest[0])
    raw = (noisy + noisy.T) / 2 / n
    assert np.linalg.norm(found - truth) < part * np.linalg.norm(raw - truth)
    assert np.trace(found) == pytest.approx(np.trace(truth), rel=0.1)


def test_errors_vanish_with_the_noise():
    d, n = 12, 5000
    truth = correlation(d)
    moments = n / d * truth
    errors = []
    for std in (300.0, 100.0, 30.0, 10.0, 3.0, 0.3):
        runs = [
            class_correlations(
                moments[None] + std * np.random.default_rng(seed).normal(size=(d, d)),
                std,
                np.array([float(n)]),
            )[0]
            for seed in range(10)
        ]
        errors.append(np.mean([np.abs(run - truth).max() for run in runs]))
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 0.01


# --------------------------------------------------------------------------- classes


def opposite(d):
    """Two correlation matrices of which one is the other with signs turned round."""
    up = correlation(d)
    signs = np.where(np.arange(d) % 2, -1.0, 1.0)
    return [up, up * signs * signs[:, None]]


def noisy_classes(truths, n, std, seed):
    rng = np.random.default_rng(seed)
    d = len(truths[0])
    return np.stack([n / d * one + std * rng.normal(size=(d, d)) for one in truths])


def test_classes_differ_if_it_is_clear():
    truths, n = opposite(10), 10_000.0
    found = class_correlations(noisy_classes(truths, n, 20.0, 0), 20.0, np.full(2, n))
    for one, truth in zip(found, truths, strict=True):
        assert np.abs(one - truth).max() < 0.1


def test_classes_are_alike_if_noise_explains_their_difference():
    truth, n, std = correlation(10), 2000.0, 20.0
    apart, raw = [], []
    for seed in range(10):
        moments = noisy_classes([truth, truth], n, std, seed)
        one, two = class_correlations(moments, std, np.full(2, n))
        apart.append(np.linalg.norm(one - two))
        raw.append(np.linalg.norm(off_diagonal(moments[0] - moments[1])) * 10 / n)
        roots, _ = class_covariances(moments, std, np.full(2, n))
        whole = roots @ roots.transpose(0, 2, 1)
        assert np.linalg.norm(whole[0] - whole[1]) < 0.5 * raw[-1] / 10
    assert np.mean(apart) < 0.4 * np.mean(raw)


def test_a_class_of_no_rows_has_what_all_have():
    truth, n = correlation(6), 10_000.0
    moments = np.stack([n / 6 * truth, np.zeros((6, 6))])
    noise = 5.0 * np.random.default_rng(0).normal(size=moments.shape)
    found = class_correlations(moments + noise, 5.0, np.array([n, 0.0]))
    assert np.abs(found[0] - truth).max() < 0.1
    np.linalg.cholesky(found[1])
