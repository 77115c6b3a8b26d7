"""Random groups of rows: parts of the whole, drawn blindly, each with all the noise."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from skdpgen.privacy import (
    GivenBatches,
    Histograms,
    Ledger,
    PrivacyBudget,
    Vectors,
    release,
)
from skdpgen.privacy._noise import random_groups

ALPHA = 1e-6  # of every statistical test
N_GROUPS, N_CLASSES = 5, 2
BLOCKS = {"codes": Histograms((3, 2)), "vector": Vectors(2)}
WEIGHTS = {"codes": 0.4, "vector": 0.6}


def table(n=2000):
    rng = np.random.default_rng(0)
    codes = np.stack([rng.integers(-1, 3, n), rng.integers(0, 2, n)], axis=1)
    parts = {"codes": codes, "vector": rng.normal(size=(n, 2))}
    return SimpleNamespace(labels=rng.integers(-1, N_CLASSES + 1, n), parts=parts)


def released(n_minibatches=N_GROUPS, epsilon=float("inf"), batches=None):
    return release(
        GivenBatches([table()] if batches is None else batches),
        BLOCKS,
        name="groups",
        ledger=Ledger(PrivacyBudget(epsilon, 1e-5)),
        share=1.0,
        n_classes=N_CLASSES,
        n_minibatches=n_minibatches,
        weights=WEIGHTS,
    )


def test_groups_are_parts_of_the_whole():
    whole, parts = released(1).values, released().values
    for name, block in parts.items():
        groups = block.reshape(N_GROUPS, N_CLASSES, -1)
        np.testing.assert_allclose(groups.sum(axis=0), whole[name], atol=1e-9)
        assert all((group != 0).any() for group in groups)


def test_sizes_are_those_of_blind_draws():
    n_known = int(released(1).values["codes"][:, 3:].sum())
    sizes = released().values["codes"][:, 3:].reshape(N_GROUPS, -1).sum(axis=1)
    assert stats.chisquare(sizes).pvalue > ALPHA
    assert sizes.sum() == n_known
    assert len(set(sizes)) > 1  # not dealt round


def test_groups_are_drawn_anew_and_alike():
    one, two = (random_groups(20_000, 7) for _ in range(2))
    assert (one != two).any()
    counts = np.histogram2d(one, two, bins=7)[0]
    assert stats.chi2_contingency(counts).pvalue > ALPHA
    assert stats.chisquare(counts.sum(axis=1)).pvalue > ALPHA
    assert set(one) == set(range(7))


def test_every_group_has_the_noise_of_the_whole():
    whole, parts = released(1, 1.0), released(epsilon=1.0)
    assert parts.noise_std == whole.noise_std
    assert parts.sensitivity == whole.sensitivity
    assert parts.mu == whole.mu
    noise = []
    for _ in range(300):
        nothing = released(epsilon=1.0, batches=[])
        for name, block in nothing.values.items():
            assert len(block) == N_GROUPS * N_CLASSES
            noise.append(block.ravel() / nothing.noise_std[name])
    noise = np.concatenate(noise)
    low, high = stats.chi2.ppf([ALPHA / 2, 1 - ALPHA / 2], noise.size)
    assert low < (noise**2).sum() < high


@pytest.mark.parametrize("label", [-1, N_CLASSES, N_CLASSES + 3, -7])
def test_a_row_without_a_class_is_in_no_group(label):
    batch = table(50)
    batch.labels[:] = label
    for block in released(batches=[batch]).values.values():
        assert not block.any()


def test_a_row_is_in_one_group_of_its_class():
    for _ in range(20):
        batch = table(1)
        batch.labels[:] = 1
        rows = released(batches=[batch]).values["vector"].any(axis=1)
        assert rows.sum() == 1
        assert rows.argmax() % N_CLASSES == 1
