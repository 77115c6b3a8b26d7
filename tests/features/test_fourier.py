"""Fourier features: the bound for every row, and the kernel that they stand for."""

import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from skdpgen.features import FourierFeatures
from skdpgen.features import _fourier as fourier

WIDTHS = (1, 2, 1, 3)
SCALES = (0.3, 1.5)


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


MAPS = {
    "pairs": FourierFeatures.draw(WIDTHS, 40, n_together=2, rng=seeded()),
    "all": FourierFeatures.draw(WIDTHS, 40, length_scale=SCALES, rng=seeded()),
    "two features": FourierFeatures.draw(WIDTHS, 2, n_together=1, rng=seeded()),
    "narrow": FourierFeatures.draw(WIDTHS, 500, length_scale=0.01, rng=seeded()),
}
nasty = st.sampled_from([0.0, -0.0, 1e30, -1e30, 1e-45, 1.0])
LARGEST = float(np.float32(1e30))
numbers = nasty | st.floats(-LARGEST, LARGEST, width=32)


@pytest.mark.parametrize("name", MAPS)
@given(x=arrays(np.float32, (3, sum(WIDTHS)), elements=numbers))
@settings(max_examples=60, deadline=None)
def test_the_norm_is_one_for_every_row(name, x):
    norms = MAPS[name](torch.from_numpy(x)).norm(dim=1)
    assert (norms - 1).abs().max() <= 1e-5


def kernel(x, y, widths, n_together, scales):
    """Return the closed form: products over subsets and scales, averaged."""
    ends = np.cumsum([0, *widths])
    squares = [
        ((x[a:b] - y[a:b]) ** 2).sum() for a, b in itertools.pairwise(ends.tolist())
    ]
    subsets = itertools.combinations(squares, n_together)
    return np.mean(
        [
            math.exp(-sum(subset) / (2 * scale**2))
            for subset in subsets
            for scale in scales
        ]
    )


def errors(n_features, n_together, n_draws=40):
    """Return errors of the kernel, for random maps and one pair of rows."""
    rng = np.random.default_rng(0)
    x, y = rng.random((2, sum(WIDTHS)))
    rows = torch.tensor(np.array([x, y]), dtype=torch.float32)
    truth = kernel(x, y, WIDTHS, n_together, SCALES)
    found = []
    for seed in range(n_draws):
        phi = FourierFeatures.draw(
            WIDTHS,
            n_features,
            length_scale=SCALES,
            n_together=n_together,
            rng=seeded(seed),
        )
        one, two = phi(rows)
        found.append(float(one @ two) - truth)
    return np.array(found)


@pytest.mark.parametrize("n_together", [1, 2, 3, 4])
def test_the_kernel_is_the_average_over_subsets_and_scales(n_together):
    coarse, fine = errors(96, n_together), errors(96 * 64, n_together)
    for found in (coarse, fine):
        assert abs(found.mean()) < 5 * found.std() / math.sqrt(len(found))
    # D is 64 times as large: the error is 8 times as small, but for chance
    assert 4.5 < coarse.std() / fine.std() < 14
    assert fine.std() < 0.02


def test_a_kernel_of_other_subsets_is_distinguished():
    rng = np.random.default_rng(0)
    x, y = rng.random((2, sum(WIDTHS)))
    pairs, triples = (kernel(x, y, WIDTHS, n, SCALES) for n in (2, 3))
    assert abs(pairs - triples) > 0.05  # what the test above would see


@pytest.mark.parametrize("half", [1, 5, 6, 7, 600])
def test_every_pair_of_columns_is_seen_as_often_as_any_other(half):
    phi = FourierFeatures.draw((1,) * 4, 2 * half, n_together=2, rng=seeded())
    _, counts = phi.subsets.unique(dim=0, return_counts=True)
    assert counts.sum() == half
    assert len(counts) == min(half, 6)
    assert counts.max() - counts.min() <= 1


def test_drawn_subsets_are_subsets_and_treat_columns_alike(monkeypatch):
    monkeypatch.setattr(fourier, "MOST_SUBSETS", 1)
    subsets = fourier.draw_subsets(6, 3, 4000, seeded())
    assert (subsets.diff(dim=1) > 0).all()
    counts = np.bincount(subsets.flatten(), minlength=6)
    assert counts == pytest.approx(2000, abs=5 * math.sqrt(1000))


def test_a_frequency_looks_at_its_subset_only():
    phi = FourierFeatures.draw(WIDTHS, 100, n_together=2, rng=seeded())
    column = np.repeat(np.arange(len(WIDTHS)), WIDTHS)
    looks_at = (column[:, None, None] == phi.subsets.numpy()).any(axis=2)
    np.testing.assert_array_equal(phi.frequencies.numpy() != 0, looks_at)


def test_length_scales_take_turns():
    scales = (1e-4, 1e2, 1e8)
    phi = FourierFeatures.draw((1,), 600, length_scale=scales, rng=seeded())
    size = phi.frequencies.abs().flatten().log10()
    assert [int((size > 1).sum()), int((size < -5).sum())] == [100, 100]


@pytest.mark.parametrize("scale", [0.0, -1.0, 1e-5, float("nan"), (1.0, 1e-9)])
def test_angles_that_would_not_be_exact_are_refused(scale):
    with pytest.raises(ValueError, match=r"length_scale must be at least 0\.0001"):
        FourierFeatures.draw((1,), 8, length_scale=scale, rng=seeded())


def test_more_together_than_there_are_columns_is_all_of_them():
    phi = FourierFeatures.draw((1, 1), 8, n_together=9, rng=seeded())
    assert phi.subsets.tolist() == [[0, 1]] * 4


@pytest.mark.parametrize("n_parts", [1, 3])
@pytest.mark.parametrize("at_once", [1, 12, 30, 10**6])
def test_the_mean_of_groups_can_be_taken_in_parts(monkeypatch, at_once, n_parts):
    phi = MAPS["pairs"]
    x = torch.randn(6, sum(WIDTHS), generator=seeded()).requires_grad_()
    wanted = phi(x).reshape(n_parts, -1, phi.n_features).mean(dim=1)
    monkeypatch.setattr(fourier, "ANGLES_AT_ONCE", at_once)
    found = phi.mean(x, n_parts)
    torch.testing.assert_close(found, wanted)
    direction = torch.randn(wanted.shape, generator=seeded(1))
    slopes = [
        torch.autograd.grad((mean * direction).sum(), x)[0] for mean in (found, wanted)
    ]
    torch.testing.assert_close(*slopes)


def test_the_generator_that_is_passed_decides_alone():
    state = torch.get_rng_state()
    one, two = (FourierFeatures.draw(WIDTHS, 20, rng=seeded(3)) for _ in range(2))
    other = FourierFeatures.draw(WIDTHS, 20, rng=seeded(4))
    assert torch.equal(one.frequencies, two.frequencies)
    assert not torch.equal(one.frequencies, other.frequencies)
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize("n_features", [0, 1, 7, -2])
def test_features_come_in_pairs(n_features):
    with pytest.raises(ValueError, match=rf"even and at least 2. Got {n_features}"):
        FourierFeatures.draw(WIDTHS, n_features, rng=seeded())


def test_too_many_columns_are_refused():
    with pytest.raises(ValueError, match=r"at most 32,767. Got 32768"):
        FourierFeatures.draw((1,) * 32_768, 2, rng=seeded())


def test_turns_are_all_frequencies_once():
    rng = torch.Generator().manual_seed(0)
    phi = FourierFeatures.draw((1,) * 12, 4000, rng=rng)
    turns = phi.in_turns()
    assert len(turns) == 4
    assert sorted(torch.cat([which for which, _ in turns]).tolist()) == [*range(4000)]
    x = torch.rand(3, 12, generator=rng)
    for which, some in turns:
        scale = math.sqrt(len(which) / 4000)
        torch.testing.assert_close(scale * some(x), phi(x)[:, which])


@pytest.mark.parametrize(
    ("n_columns", "n_together", "n_turns"), [(14, 2, 1), (3, None, 1), (100, None, 8)]
)
def test_turns_are_as_many_as_the_work_asks_for(n_columns, n_together, n_turns):
    rng = torch.Generator().manual_seed(0)
    widths = (1,) * n_columns
    phi = FourierFeatures.draw(widths, 4000, n_together=n_together, rng=rng)
    assert len(phi.in_turns()) == n_turns
