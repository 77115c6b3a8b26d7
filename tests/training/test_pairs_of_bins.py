"""Pairs given classes, or bins of a number: they tell together what one could not."""

import numpy as np

from skdpgen.training import PairPrior, smooth_classes, smooth_pair

N_BINS, N_CELLS, STD = 15, 6, 0.0015
SHARES = np.full(N_BINS, 1 / N_BINS)
PRIOR = PairPrior.of(np.full(N_CELLS, 1 / N_CELLS), N_CELLS)


def slow_change():
    """Return a relation whose strength goes from -1 to 1 along the bins."""
    line = np.linspace(-1, 1, N_CELLS)
    slope = np.linspace(-1, 1, N_BINS)[:, None, None]
    return 0.002 * slope * line[:, None] * line[None, :]


def noisy(truth, rng):
    """Return what releases say: noise of a bin, less its share of that of all."""
    noise = STD * rng.normal(size=truth.shape)
    return truth + noise - SHARES[:, None, None] * noise.sum(axis=0)


def test_neighbours_help_each_other():
    rng, truth = np.random.default_rng(0), slow_change()
    share = 1 / N_BINS
    variance = STD**2 * ((1 - share) ** 2 + (N_BINS - 1) * share**2)
    mine, alone, nothing = [], [], []
    for _ in range(4):
        seen = noisy(truth, rng)
        found = smooth_classes(seen, STD**2, PRIOR, PRIOR, SHARES, are_bins=True)
        scale = share * (1 - share)
        each = [smooth_pair(one, variance, PRIOR, PRIOR, scale=scale) for one in seen]
        mine.append(((found - truth) ** 2).sum())
        alone.append(((np.array(each) - truth) ** 2).sum())
        nothing.append((truth**2).sum())
    assert np.mean(mine) < 0.8 * np.mean(alone)
    assert np.mean(mine) < 0.5 * np.mean(nothing)


def test_noise_alone_is_nearly_forgotten():
    rng, truth = np.random.default_rng(1), np.zeros((N_BINS, N_CELLS, N_CELLS))
    seen = noisy(truth, rng)
    found = smooth_classes(seen, STD**2, PRIOR, PRIOR, SHARES, are_bins=True)
    assert (found**2).sum() < 0.05 * (seen**2).sum()


def test_much_is_left_as_it_was_seen():
    seen = 100 * slow_change()
    found = smooth_classes(seen, 1e-12, PRIOR, PRIOR, SHARES, are_bins=True)
    np.testing.assert_allclose(found, seen, atol=1e-3)
    assert smooth_classes(seen, 0.0, PRIOR, PRIOR, SHARES) is seen


def test_classes_share_the_strength_of_their_differences():
    """Each class alone shows little; all together show that there is something."""
    rng, centre = np.random.default_rng(2), np.eye(N_BINS) - SHARES[:, None]
    line = np.linspace(-1, 1, N_CELLS)
    together, alone = [], []
    share = 1 / N_BINS
    variance = STD**2 * ((1 - share) ** 2 + (N_BINS - 1) * share**2)
    for _ in range(4):
        slopes = centre @ rng.permutation(np.linspace(-1, 1, N_BINS))
        truth = 0.002 * slopes[:, None, None] * line[:, None] * line
        seen = noisy(truth, rng)
        found = smooth_classes(seen, STD**2, PRIOR, PRIOR, SHARES)
        scale = share * (1 - share)
        each = [smooth_pair(one, variance, PRIOR, PRIOR, scale=scale) for one in seen]
        together.append(((found - truth) ** 2).sum())
        alone.append(((np.array(each) - truth) ** 2).sum())
    assert np.mean(together) < 0.9 * np.mean(alone)
