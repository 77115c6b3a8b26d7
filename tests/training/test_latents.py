"""Latent vectors: normal one by one, and in a batch more even than chance."""

import math

import numpy as np
import pytest
import torch
from scipy import stats

from skdpgen.training import Latents, normal, sobol, strata

ALPHA = 1e-6  # of every statistical test


def latents(n_each=32, n_latent=3, n_classes=2, seed=0):
    rng = torch.Generator().manual_seed(seed)
    return Latents(n_each, n_latent, n_classes=n_classes, rng=rng)


@pytest.mark.parametrize(("n_each", "n_classes"), [(2, 1), (4, 3), (64, 2)])
def test_every_class_gets_as_many(n_each, n_classes):
    source = latents(n_each, 5, n_classes)
    assert source.draw().shape == (n_each * n_classes, 5)
    assert np.bincount(source.labels).tolist() == [n_each] * n_classes
    assert (source.labels.diff() >= 0).all()


def test_a_batch_is_mirrored_class_by_class():
    source = latents()
    for _ in range(20):
        for rows in source.draw().unflatten(0, (2, 32)):
            assert rows.mean(dim=0).abs().max() < 1e-3
            torch.testing.assert_close(
                rows.sort(dim=0).values, (-rows).sort(dim=0).values, rtol=0, atol=0.02
            )


def test_each_vector_is_normal():
    source = latents(n_each=4, n_latent=2)
    drawn = torch.stack([source.draw() for _ in range(4000)]).numpy()
    for row in range(4):
        for entry in range(2):
            assert stats.kstest(drawn[:, row, entry], "norm").pvalue > ALPHA
        product = drawn[:, row, 0] * drawn[:, row, 1]
        assert abs(product.mean()) < stats.norm.isf(ALPHA / 2) / math.sqrt(4000)
    assert stats.kstest(1.1 * drawn[:, 0, 0], "norm").pvalue < 1e-3  # it can fail


def test_means_over_a_batch_vary_less_than_of_independent_vectors():
    source = latents(n_each=256, n_classes=1)
    even = [source.draw().square().mean().item() for _ in range(200)]
    rng = torch.Generator().manual_seed(1)
    independent = torch.randn(200, 256, 3, generator=rng)
    chance = independent.square().mean(dim=(1, 2))
    assert np.std(even) < 0.3 * chance.std()


def test_batches_and_classes_differ_and_a_seed_repeats_them():
    one, two, other = latents(), latents(), latents(seed=1)
    first = one.draw()
    assert torch.equal(first, two.draw())
    assert not torch.equal(first, other.draw())
    assert not torch.equal(first, one.draw())
    assert not torch.equal(*first.unflatten(0, (2, 32)))


def test_the_generator_that_is_passed_decides_alone():
    state = torch.get_rng_state()
    latents().draw()
    sobol(7, 3, torch.Generator().manual_seed(0))
    assert torch.equal(torch.get_rng_state(), state)


def test_sobol_points_fill_the_cube():
    places = sobol(256, 4, torch.Generator().manual_seed(0))
    assert places.shape == (256, 4)
    counts = [np.histogram(column, 16, (0, 1))[0].tolist() for column in places.T]
    assert counts == [[16] * 16] * 4


def test_ends_of_the_cube_are_finite():
    found = normal(torch.tensor([0.0, 0.5, 1.0]))
    assert found.isfinite().all()
    assert found[1] == 0
    assert 4 < found[2] < 6


def test_strata_fill_each_column_and_tie_none_together():
    places = strata(512, 60, torch.Generator().manual_seed(0))
    ranks = (places * 512).long().sort(dim=0).values
    assert torch.equal(ranks, torch.arange(512)[:, None].expand(-1, 60))
    correlation = np.corrcoef(places.T) - np.eye(60)
    assert abs(correlation).max() < 5 / np.sqrt(512)
