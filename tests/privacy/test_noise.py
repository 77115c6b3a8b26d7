"""The noise: its distribution, its secrecy, and the one way to seed it."""

import itertools
import math
import multiprocessing
import time
import warnings

import numpy as np
import pytest
import torch
from joblib import Parallel, delayed
from scipy import stats

from skdpgen.exceptions import NotPrivateWarning
from skdpgen.privacy import _noise
from skdpgen.privacy._noise import (
    add_noise,
    gaussian_noise,
    insecure_noise_seed,
    is_noise_insecure,
    poisson_sample,
    random_groups,
    whole_noise,
)

ALPHA = 1e-6  # of every statistical test, two-sided where it has two sides
N = 200_000


def is_standard_normal(sample):
    n = sample.size
    low, high = stats.chi2.ppf([ALPHA / 2, 1 - ALPHA / 2], n)
    has_variance = low <= (sample**2).sum() <= high
    has_mean = abs(sample.mean()) * math.sqrt(n) <= stats.norm.isf(ALPHA / 2)
    return has_variance and has_mean and stats.kstest(sample, "norm").pvalue > ALPHA


@pytest.mark.parametrize("std", [1.0, 1e-8, 3e12])
def test_noise_is_normal_and_a_weaker_twin_is_not(std):
    assert is_standard_normal(gaussian_noise((N,), std) / std)
    assert not is_standard_normal(0.9 * gaussian_noise((N,), std) / std)


def test_coordinates_are_independent():
    noise = gaussian_noise((N,), 1.0)
    half = N // 2  # the two halves share their random words
    bound = stats.norm.isf(ALPHA / 2) / math.sqrt(half)
    for power in (1, 2):
        one, two = noise[:half] ** power, noise[half:] ** power
        assert abs(np.corrcoef(one, two)[0, 1]) < bound * 1.2
        assert abs(np.corrcoef(one[1:], one[:-1])[0, 1]) < bound * 1.2


def test_the_tail_is_a_normal_tail():
    n = 4_000_000
    noise = gaussian_noise((n,), 1.0)
    for level in (4.0, 4.5):
        expected = 2 * stats.norm.sf(level)
        seen = int((np.abs(noise) > level).sum())
        assert stats.binomtest(seen, n, expected).pvalue > ALPHA


def test_extreme_words_stay_finite():
    words = np.array([0, 1, 2**64 - 1, 2**63], dtype=np.uint64)
    unit = _noise._open_unit(words)
    assert unit.min() > 0
    assert unit.max() < 1
    assert np.isfinite(_noise._box_muller(words, words)).all()


@pytest.mark.parametrize("shape", [(), (0,), (1,), (3,), (2, 5, 3), (2**18 + 1,)])
def test_shapes(shape):
    noise = gaussian_noise(shape, 2.0)
    assert noise.shape == shape
    assert noise.dtype == np.float64
    assert (noise != 0).all()


def test_no_noise_is_exact_and_a_copy():
    assert (gaussian_noise((3,), 0.0) == 0).all()
    exact = np.array([1 / 3, -0.0, 1e300])
    same = add_noise(exact, 0.0)
    assert same.tobytes() == exact.tobytes()
    assert same is not exact


@pytest.mark.parametrize("std", [0.37, 1.0, 1e-6, 7e9])
def test_noisy_sums_lie_on_a_lattice_and_keep_their_distribution(std):
    exact = np.random.default_rng(0).normal(size=N) * 1e3 * std
    before = exact.copy()
    noisy = add_noise(exact, std)
    assert (exact == before).all()
    step = 2.0 ** (round(math.log2(std)) - 20)
    assert (noisy / step == np.rint(noisy / step)).all()
    assert step < std * 2e-6
    assert is_standard_normal((noisy - exact) / std)
    assert not is_standard_normal(0.9 * (noisy - exact) / std)


def test_draws_differ():
    assert (gaussian_noise((100,), 1.0) != gaussian_noise((100,), 1.0)).all()
    assert not np.array_equal(poisson_sample(1000, 0.5), poisson_sample(1000, 0.5))


def test_seeds_reproduce_inside_the_context_only():
    def draws():
        noise = gaussian_noise((5,), 1.0)
        return [*noise, *add_noise(np.zeros(5), 1.0), *poisson_sample(50, 0.5)]

    runs = []
    for seed in (0, 0, 1):
        with warnings.catch_warnings(action="ignore"), insecure_noise_seed(seed):
            assert is_noise_insecure()
            runs.append(draws())
    assert runs[0] == runs[1]
    assert runs[0] != runs[2]
    assert not is_noise_insecure()
    assert draws() != draws()
    with warnings.catch_warnings(action="ignore"), insecure_noise_seed(0):
        assert is_standard_normal(gaussian_noise((N,), 1.0))


def fail_inside():
    with insecure_noise_seed(0):
        raise KeyError


def test_the_seed_ends_with_an_exception():
    with pytest.warns(NotPrivateWarning), pytest.raises(KeyError):
        fail_inside()
    assert not is_noise_insecure()


def test_global_seeds_have_no_effect():
    draws = []
    for _ in range(2):
        np.random.seed(0)  # noqa: NPY002
        torch.manual_seed(0)
        draws.append(gaussian_noise((5,), 1.0))
    assert (draws[0] != draws[1]).all()


def send_noise(connection):
    connection.send(gaussian_noise((5,), 1.0))
    connection.close()


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
@pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="no fork here"
)
def test_forked_processes_draw_different_noise(fresh_entropy):
    context = multiprocessing.get_context("fork")
    draws = [gaussian_noise((5,), 1.0)]
    for _ in range(2):
        receiver, sender = context.Pipe(duplex=False)
        process = context.Process(target=send_noise, args=(sender,))
        process.start()
        draws.append(receiver.recv())
        process.join()
    assert len(np.unique(draws)) == 15


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_joblib_workers_draw_different_noise(backend):
    jobs = [delayed(gaussian_noise)((5,), 1.0) for _ in range(2)]
    draws = Parallel(n_jobs=2, backend=backend)(jobs)
    assert len(np.unique(draws)) == 10


@pytest.mark.parametrize("rate", [0.001, 0.3, 1 - 1e-3])
def test_inclusion_is_bernoulli(rate):
    n = 500_000
    chosen = poisson_sample(n, rate)
    assert chosen.dtype == np.intp
    assert (np.diff(chosen) > 0).all()
    assert stats.binomtest(len(chosen), n, rate).pvalue > ALPHA
    first = int((chosen < n // 2).sum())
    assert stats.binomtest(first, n // 2, rate).pvalue > ALPHA


def agree(one, two):
    """Whether two secret samples agree as often as independent ones at rate 1/2."""
    alike = int((one == two).sum())
    return stats.binomtest(alike, one.size, 0.5).pvalue > ALPHA / 10


def test_rows_beyond_a_chunk_are_drawn_independently():
    """Whoever learns who was drawn of the first 2^18 rows learns nothing of others."""
    n_chunks = 3
    drawn = np.zeros(n_chunks * _noise.CHUNK, dtype=bool)
    drawn[poisson_sample(drawn.size, 0.5)] = True
    chunks = drawn.reshape(n_chunks, -1)
    for i, one in enumerate(chunks):
        for other in chunks[:i]:
            assert agree(one, other)
            assert agree(one, other[::-1])
            assert agree(one[1:], other[:-1])
    assert not agree(chunks[0], chunks[0])


def test_groups_of_many_rows_are_drawn_independently():
    groups = random_groups(3 * _noise.CHUNK, 2).reshape(3, -1)
    for one, other in itertools.combinations(groups, 2):
        assert agree(one, other)


def test_noise_in_whole_steps_is_drawn_independently_beyond_a_chunk(monkeypatch):
    """What is noise below the last bit of a float is of its own at each entry."""
    monkeypatch.setattr(_noise, "CHUNK", 1024)
    noise = whole_noise((4, 1024), 2.0**50, np.ones(1024))
    low = np.array([[int(v) & 1 for v in row] for row in noise])
    for one, other in itertools.combinations(low, 2):
        assert agree(one, other)


def test_inclusion_at_the_ends():
    assert len(poisson_sample(10**6, 0.0)) == 0
    assert len(poisson_sample(0, 0.5)) == 0
    assert len(poisson_sample(7, math.nextafter(1.0, 0.0))) == 7
    assert poisson_sample(7, 1.0).tolist() == list(range(7))


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: gaussian_noise((1,), -1.0), "std must be"),
        (lambda: gaussian_noise((1,), math.inf), "std must be"),
        (lambda: add_noise(np.zeros(1), math.nan), "std must be"),
        (lambda: add_noise(np.array([math.nan]), 1.0), "exact must be finite"),
        (lambda: poisson_sample(-1, 0.5), "n must not be negative"),
        (lambda: poisson_sample(1, 1.5), "rate must be in"),
    ],
)
def test_bad_parameters(call, match):
    with pytest.raises(ValueError, match=match):
        call()


@pytest.mark.slow
def test_a_million_coordinates_take_half_a_second():
    times = []
    for _ in range(3):
        start = time.perf_counter()
        gaussian_noise((10**6,), 1.0)
        times.append(time.perf_counter() - start)
    assert min(times) < 0.5
