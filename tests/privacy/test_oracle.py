"""The door for training on rows: clipping, steps, and what it must not leak."""

import math

import numpy as np
import pytest
import torch
from scipy import stats

from skdpgen.exceptions import BudgetExceededError, NotPrivateWarning
from skdpgen.privacy._budget import Adjacency, PrivacyBudget
from skdpgen.privacy._ledger import Ledger
from skdpgen.privacy._noise import add_noise, insecure_noise_seed, poisson_sample
from skdpgen.privacy._oracle import private_oracle

ALPHA = 1e-6


class FakeLedger:
    def __init__(self, noise_multiplier):
        self.noise_multiplier = noise_multiplier
        self.charges = []
        self.is_insecure = False

    def mark_insecure(self):
        self.is_insecure = True

    def charge_subsampled(self, name, **charge):
        self.charges.append((name, charge))
        return self.noise_multiplier


class ArrayRows:
    def __init__(self, values):
        self.values = np.asarray(values, dtype=float)

    def __len__(self):
        return len(self.values)

    def take(self, indices):
        return self.values[indices]


def opened(values, noise_multiplier=0.0, **changes):
    rows = ArrayRows(values)
    settings = {
        "name": "steps",
        "share": 1.0,
        "sampling_rate": 1.0,
        "n_steps": 1,
        "norm_bound": 1.0,
        "width": rows.values.shape[1],
        "expected_rows": len(rows),
    }
    return private_oracle(rows, FakeLedger(noise_multiplier), **settings | changes)


def itself(batch):
    return batch


def test_without_noise_it_is_the_clipped_mean():
    values = np.random.default_rng(0).normal(size=(50, 4)) * 3
    norms = np.linalg.norm(values, axis=1, keepdims=True)
    expected = (values / np.maximum(norms / 2.0, 1.0)).mean(axis=0)
    with opened(values, norm_bound=2.0) as step:
        np.testing.assert_allclose(step(itself), expected, rtol=0, atol=1e-10)


def test_tensors_are_taken_as_well():
    with opened([[3.0, 4.0]]) as step:
        mean = step(lambda batch: torch.tensor(batch, requires_grad=True))
    assert mean.dtype == np.float64
    np.testing.assert_allclose(mean, [0.6, 0.8])


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_vectors_that_are_not_finite_count_as_zero(bad):
    with opened([[0.5, 0.5], [bad, 0.1], [bad, bad]], expected_rows=1) as step:
        np.testing.assert_allclose(step(itself), [0.5, 0.5])


@pytest.mark.parametrize("size", [1e30, 1e200, 1.7e308, -1e30, 1e-30, -0.0])
def test_one_row_moves_the_sum_by_the_norm_bound_at_most(size):
    calm = [[0.1, 0.2], [0.3, 0.0]]
    sums = []
    for values in (calm, [*calm, [size, size]]):
        with opened(values, norm_bound=0.5, expected_rows=1) as step:
            sums.append(step(itself))
    assert np.linalg.norm(sums[1] - sums[0]) <= 0.5 * (1 + 1e-12)


def test_noise_has_the_declared_std_and_a_weaker_twin_is_caught():
    width = 20_000
    with opened(np.zeros((10, width)), 3.0, norm_bound=2.0, sampling_rate=0.5) as step:
        z = step(itself) * (0.5 * 10) / 6.0
    low, high = stats.chi2.ppf([ALPHA / 2, 1 - ALPHA / 2], width)
    assert low <= (z**2).sum() <= high
    assert not low <= (0.9**2 * z**2).sum() <= high


def realised_batch_twin(values, rate, std):
    chosen = poisson_sample(len(values), rate)
    return add_noise(values[chosen].sum(axis=0), std) / max(len(chosen), 1)


def divides_by_a_constant(draw):
    """Whether a sum of equal rows varies as the sample size does, binomially."""
    sums = np.array([draw() for _ in range(300)])
    return sums.std() > 0.5 * math.sqrt(0.2 * 0.8 * 100) / (0.2 * 100)


def test_the_divisor_is_the_expected_batch():
    values = np.ones((100, 1))
    with opened(values, sampling_rate=0.2, n_steps=300) as step:
        assert divides_by_a_constant(lambda: step(itself)[0])
    assert not divides_by_a_constant(lambda: realised_batch_twin(values, 0.2, 0.0)[0])


def test_samples_are_fresh_and_unbiased():
    seen = []

    def remember(batch):
        seen.append(batch[:, 0].astype(int))
        return batch

    with opened(np.arange(200.0)[:, None], sampling_rate=0.3, n_steps=200) as step:
        for _ in range(200):
            step(remember)
    counts = np.bincount(np.concatenate(seen), minlength=200)
    z = (counts - 60) / math.sqrt(200 * 0.3 * 0.7)
    low, high = stats.chi2.ppf([ALPHA / 2, 1 - ALPHA / 2], 200)
    assert low <= (z**2).sum() <= high
    assert not np.array_equal(seen[0], seen[1])


def test_an_empty_sample_is_noise_alone():
    def never(batch):
        raise AssertionError(len(batch))

    with opened(np.ones((3, 2)), 1.0, sampling_rate=1e-12) as step:
        assert step(never).shape == (2,)
    with opened(np.ones((0, 2)), 1.0, expected_rows=5.0) as step:
        assert (step(never) != 0).all()


def gradients(step, target, n_steps):
    """Descend on a model with the oracle's gradients; return its updates."""
    weights = np.zeros(target.size)
    updates = []
    for _ in range(n_steps):
        noisy = step(lambda batch, w=weights: w - batch)
        weights = weights - 1e-3 * noisy
        updates.append(noisy)
    return np.array(updates)


def leaks(noise_multiplier):
    """Whether the updates tell two opposite tables apart."""
    target = np.full(50, 1 / math.sqrt(50))
    scores = []
    for sign in (1, -1):
        with opened(
            np.tile(sign * target, (20, 1)), noise_multiplier, n_steps=40
        ) as step:
            scores.append(gradients(step, target, 40) @ target)
    return stats.ks_2samp(*scores).pvalue < ALPHA


def test_updates_are_independent_of_the_data_when_noise_swamps_it():
    assert not leaks(noise_multiplier=1e5)
    assert leaks(noise_multiplier=1.0)


def test_steps_are_counted():
    with opened(np.ones((2, 1)), n_steps=2) as step:
        step(itself)
        step(itself)
        with pytest.raises(BudgetExceededError, match="charged for 2 steps"):
            step(itself)


def failing(batch):
    raise KeyError(len(batch))


def test_an_interrupted_step_is_spent():
    with opened(np.ones((2, 1))) as step:
        with pytest.raises(KeyError):
            step(failing)
        with pytest.raises(BudgetExceededError):
            step(itself)


def test_it_is_dead_after_the_block_and_lets_go_of_the_rows():
    with opened(np.ones((2, 1)), n_steps=5) as step:
        step(itself)
    with pytest.raises(RuntimeError, match="oracle is closed"):
        step(itself)
    held = [cell.cell_contents for cell in step.__closure__]
    assert not any(isinstance(content, ArrayRows) for content in held)


@pytest.mark.parametrize("shape", [(3, 2), (2, 3), (2,), (2, 2, 1)])
def test_a_wrong_shape_is_named_without_the_sample_size(shape):
    with (
        opened(np.ones((2, 2))) as step,
        pytest.raises(ValueError, match="one vector of width 2 for each row") as error,
    ):
        step(lambda batch: np.ones(shape))
    assert str(len(shape) + 7) not in str(error.value)
    assert "shape instead" in str(error.value)


def test_the_ledger_is_charged_once_on_entry():
    ledger = FakeLedger(0.0)
    charge = {"share": 0.5, "sampling_rate": 0.1, "n_steps": 3, "norm_bound": 2.0}
    oracle = private_oracle(
        ArrayRows(np.ones((4, 1))),
        ledger,
        name="sgd",
        width=1,
        expected_rows=4,
        **charge,
    )
    assert ledger.charges == []
    with oracle as step:
        step(itself)
    assert ledger.charges == [("sgd", charge)]


def test_seeded_noise_is_told_to_the_ledger():
    """Entered before the seed was set: only the step itself can tell."""
    ledger = FakeLedger(1.0)
    rows = ArrayRows(np.ones((4, 1)))
    charge = {"share": 0.5, "sampling_rate": 0.5, "n_steps": 2, "norm_bound": 2.0}
    with private_oracle(
        rows, ledger, name="sgd", width=1, expected_rows=4, **charge
    ) as step:
        step(itself)
        assert not ledger.is_insecure
        with pytest.warns(NotPrivateWarning), insecure_noise_seed(0):
            step(itself)
    assert ledger.is_insecure


@pytest.mark.parametrize("adjacency", Adjacency)
def test_it_fits_the_real_ledger(adjacency):
    ledger = Ledger(PrivacyBudget(1.0, 1e-5, adjacency))
    with private_oracle(
        ArrayRows(np.ones((100, 2))),
        ledger,
        name="sgd",
        share=0.9,
        sampling_rate=0.1,
        n_steps=10,
        norm_bound=1.0,
        width=2,
        expected_rows=100,
    ) as step:
        assert np.isfinite(step(itself)).all()
    (entry,) = ledger.entries
    assert entry.name == "sgd"
    assert entry.noise_std > 0


@pytest.mark.parametrize(
    "change",
    [
        {"sampling_rate": 0.0},
        {"sampling_rate": 1.1},
        {"n_steps": 0},
        {"width": 0},
        {"norm_bound": math.inf},
        {"norm_bound": math.nan},
        {"expected_rows": 0},
    ],
    ids=repr,
)
def test_bad_parameters_cost_nothing(change):
    ledger = FakeLedger(0.0)
    good = {"share": 1.0, "sampling_rate": 0.1, "n_steps": 3, "norm_bound": 2.0}
    settings = {"name": "a", "width": 1, "expected_rows": 4} | good | change
    with (
        pytest.raises(ValueError, match=next(iter(change))),
        private_oracle(ArrayRows([[1.0]]), ledger, **settings),
    ):
        pass
    assert ledger.charges == []
