"""The noise of real fits, measured: every block, every coordinate, every estimator."""

import math

import numpy as np
import pytest
from scipy import stats

from skdpgen.privacy import _release
from skdpgen.privacy._noise import CHUNK, gaussian_noise
from skdpgen.synthesizers.embedding import _private_encoder
from tests._covering import parametrize_pairs
from tests.guards import _neighbours, _variants
from tests.guards._doors import Spy

TABLES, IMAGES = _neighbours.tables(), _neighbours.images()
OF_TABLES, OF_IMAGES = _variants.of_tables(), _variants.of_images()
ALPHA = 1e-9  # of a test on one number; there are some hundred thousand
N_FITS = 4
ADJACENCIES = ["replace", "add_remove"]


def fits(make, case, adjacency, monkeypatch):
    """Return what some fits on the same rows added up, and what they released."""
    params = {"epsilon": 40.0, "adjacency": adjacency} | case.params
    monkeypatch.setattr(_private_encoder, "STEPS", N_FITS)
    found = []
    for _ in range(N_FITS):
        with Spy().watching(monkeypatch) as spy:
            report = case.fit(make(**params)).privacy_
        seen = {watched.name for watched in spy.releases + spy.steps}
        assert seen == {entry.name for entry in report.releases}
        found.append(spy)
    return found


def noise_of(watched, key):
    """Return the noise of a block in units of what is declared."""
    exact, noisy = watched.exact[key], watched.noisy[key]
    std = watched.std[key] * math.sqrt(watched.n_minibatches)
    if isinstance(noisy, dict):  # of values that were shown, whatever their noise
        pairs = [
            (exact[column].get(value, 0), count)
            for column, shown in noisy.items()
            for value, count in shown.items()
            if exact[column].get(value, 0) > 12 * std
        ]
        exact, noisy = np.array(pairs).reshape(-1, 2).T
    return (np.ravel(noisy) - np.ravel(exact)) / std


def slope_noise_of(step):
    """Return the noise of slopes, decorrelated by a covariance written down anew."""
    found = []
    for label in np.unique(step.noisy["at"]):
        here, there = step.noisy["at"] == label, step.rows.labels == label
        points = step.noisy["points"][here]
        exact, covariance = slopes(np.asarray(step.rows.x)[there], points, step)
        noise = (step.noisy["slopes"][here] - exact).ravel() / step.std["slopes"]
        root = np.linalg.cholesky(covariance + 1e-8 * np.eye(len(noise)))
        found.append(np.linalg.solve(root, noise))
    return np.concatenate(found)


def slopes(x, points, step):
    """Return slopes of the kernel mean, and their covariance if it is a process."""
    n, width = points.shape
    exact, covariance = np.zeros((n, width)), np.zeros((n, width, n, width))
    for h in step.length_scales:
        for i, w in enumerate(points):
            near = np.exp(-((x - w) ** 2).sum(axis=1) / (2 * h**2))
            exact[i] += near @ (x - w) / h**2
            for j, v in enumerate(points):
                k = math.exp(-((w - v) ** 2).sum() / (2 * h**2))
                outer = np.outer(w - v, w - v)
                covariance[i, :, j] += k * (np.eye(width) / h**2 - outer / h**4)
    n_scales = len(step.length_scales)
    return exact / n_scales, covariance.reshape(n * width, -1) / n_scales


def assert_normal(noise):
    """The sum of squares is that of normal numbers of variance 1."""
    low, high = stats.chi2.ppf([ALPHA / 2, 1 - ALPHA / 2], noise.size)
    assert low <= (noise**2).sum() <= high


def assert_each_normal(several):
    """So it is at each coordinate, over fits that released the same ones."""
    squares = (np.stack(several) ** 2).sum(axis=0)
    low, high = stats.chi2.ppf([ALPHA / 2, 1 - ALPHA / 2], len(several))
    assert squares.min(initial=low) >= low
    assert squares.max(initial=high) <= high


def assert_unrelated(spy):
    """Classes, blocks and releases have noise of their own."""
    rows = [
        row
        for one in spy.releases
        for key, exact in one.exact.items()
        if not isinstance(exact, dict)
        for row in noise_of(one, key).reshape(len(exact), -1)
    ]
    for i, one in enumerate(rows):
        for other in rows[:i]:
            n = min(one.size, other.size)
            if n > 4:  # of fewer, two directions may be alike by chance
                size = np.linalg.norm(one[:n]) * np.linalg.norm(other[:n])
                assert abs(one[:n] @ other[:n]) < size * (1 - 1e-9)  # not the same
            if n > 60:
                bound = stats.norm.isf(ALPHA) / math.sqrt(n)
                assert abs(one[:n] @ other[:n]) < 1.2 * bound * size


def check(make, case, adjacency, monkeypatch):
    spies = fits(make, case, adjacency, monkeypatch)
    every = [watched for spy in spies for watched in spy.releases]
    for name in {watched.name for watched in every}:  # earlier ones may decide on some
        same = [watched for watched in every if watched.name == name]
        for key in same[0].exact:
            noise = [noise_of(watched, key) for watched in same]
            if not sum(one.size for one in noise):
                continue  # no word was shown, or none that many rows have
            assert_normal(np.concatenate(noise))
            if len({one.size for one in noise}) == 1:
                assert_each_normal(noise)
    for spy in spies:
        assert_unrelated(spy)
    steps = [
        slope_noise_of(step) if "slopes" in step.noisy else noise_of(step, "vectors")
        for spy in spies
        for step in spy.steps
    ]
    for noise in steps:
        assert_normal(noise)
    if steps:  # and of all, since one may have few numbers
        assert_normal(np.concatenate(steps))


@parametrize_pairs(
    "name, case, adjacency",
    OF_TABLES,
    ["frame", "frame, public", "numbers as target"],
    ADJACENCIES,
    first=[("DPKernelSynthesizer, steps", "frame", "replace")],  # of a planted bug
)
def test_tables_are_released_with_the_declared_noise(
    name, case, adjacency, monkeypatch
):
    check(OF_TABLES[name], TABLES[case], adjacency, monkeypatch)


@parametrize_pairs(
    "name, case, adjacency",
    OF_IMAGES,
    ["images", "images without labels"],
    ADJACENCIES,
)
def test_images_are_released_with_the_declared_noise(
    name, case, adjacency, monkeypatch
):
    check(OF_IMAGES[name], IMAGES[case], adjacency, monkeypatch)


FEW_NUMBERS = ["DPMERFSynthesizer", "DPKernelSynthesizer, steps"]
MANY_FITS = 50  # half the noise on 150 numbers is missed once in 10^8 runs


@pytest.mark.parametrize("name", FEW_NUMBERS)
def test_counts_of_three_classes_have_all_of_their_noise(name, monkeypatch):
    monkeypatch.setattr("tests.guards.test_noise_of_fits.N_FITS", MANY_FITS)
    check(OF_IMAGES[name], IMAGES["images"], "replace", monkeypatch)


@pytest.mark.parametrize("name", FEW_NUMBERS)
def test_half_the_noise_on_class_counts_alone_is_caught(name, monkeypatch):
    add_noise = _release.add_noise

    def weak(exact, std):
        return add_noise(exact, std * (0.5 if exact.shape[1:] == (1,) else 1.0))

    monkeypatch.setattr(_release, "add_noise", weak)
    monkeypatch.setattr("tests.guards.test_noise_of_fits.N_FITS", MANY_FITS)
    with pytest.raises(AssertionError):
        check(OF_IMAGES[name], IMAGES["images"], "replace", monkeypatch)


def test_noise_of_one_chunk_says_nothing_about_the_next():
    n = 3
    noise = gaussian_noise((n * CHUNK,), 1.0).reshape(n, CHUNK)
    bound = stats.norm.isf(ALPHA) / math.sqrt(CHUNK)
    for lag in (0, 1, CHUNK // 2):  # the same place, the next, the other half
        for power in (1, 2):
            one, two = noise[:-1] ** power, np.roll(noise, lag, axis=1)[1:] ** power
            for first, second in zip(one, two, strict=True):
                assert abs(np.corrcoef(first, second)[0, 1]) < 1.2 * bound
