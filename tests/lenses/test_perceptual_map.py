"""Features of a lens as one bounded vector, beside their squares."""

import math

import pytest
import torch
from hypothesis import given, settings
from torch import nn

from skdpgen.features import FourierFeatures, JointFeatures
from skdpgen.lenses import ModuleLens, PerceptualMap, ScatteringLens
from skdpgen.privacy import SideBySide, Vectors
from skdpgen.synthesizers.embedding._feature_map import feature_block
from tests.lenses._images import hostile, noise

SMALL = ScatteringLens(n_scales=1, n_angles=2, order=1)
SHAPE = (1, 8, 8)
SLACK = 1 + 1e-6


def flat(images):
    return images.flatten(1)


@given(images=hostile(4, *SHAPE))
@settings(max_examples=60, deadline=None)
@pytest.mark.parametrize("squares", [0.0, 0.3, 0.5])
def test_no_part_is_longer_than_it_says(squares, images):
    phi = PerceptualMap(SMALL, SHAPE, squares)
    found, start = phi(flat(images)), 0
    for width, bound, is_nonnegative in phi.parts:
        part = found[:, start : start + width]
        start += width
        assert part.norm(dim=1).nan_to_num().max() <= bound * SLACK
        assert not is_nonnegative or part.nan_to_num().min() >= 0
    assert start == found.shape[1] == phi.n_features


def test_it_is_the_formula():
    images = noise(3, *SHAPE)
    raw = SMALL.features(images)
    found = PerceptualMap(SMALL, SHAPE, 0.36)(flat(images))
    one, two = raw / raw.norm(dim=1, keepdim=True), raw**2
    two = two / two.norm(dim=1, keepdim=True)
    torch.testing.assert_close(found, torch.cat([0.8 * one, 0.6 * two], dim=1))


def test_means_are_of_equal_groups():
    phi, images = PerceptualMap(SMALL, SHAPE), flat(noise(6, *SHAPE))
    found, each = phi.mean(images, 2), phi(images)
    expected = torch.stack([each[:3].mean(dim=0), each[3:].mean(dim=0)])
    torch.testing.assert_close(found, expected)


def test_features_can_be_descended_from_anywhere():
    phi = PerceptualMap(SMALL, SHAPE)
    for images in (torch.zeros(2, 64), torch.ones(2, 64), torch.rand(2, 64)):
        images.requires_grad_()
        phi(images).sum().backward()
        assert images.grad.isfinite().all()


def test_signed_features_cost_more_than_those_of_relus():
    signed = ModuleLens(nn.Linear(8, 4), layers=("",))
    never = ModuleLens(nn.Sequential(nn.Linear(8, 4), nn.ReLU()))
    assert (signed.is_nonnegative, never.is_nonnegative) == (False, True)
    blocks = [feature_block(PerceptualMap(lens, SHAPE)) for lens in (signed, never)]
    assert all(isinstance(block, SideBySide) for block in blocks)
    moves = [block.structure.replace() for block in blocks]
    assert moves == pytest.approx([math.sqrt(4 * 0.5 + 2 * 0.5), math.sqrt(2)])
    (means,) = feature_block(PerceptualMap(never, SHAPE, 0.0)).parts
    assert means == Vectors(32, 1.0, is_nonnegative=True)


def test_layers_of_a_module_are_seen_by_name_or_by_their_relus():
    module = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.Conv2d(2, 3, 3), nn.ReLU())
    images = noise(2, *SHAPE).float()
    relus, named = ModuleLens(module), ModuleLens(module, layers=("0", "3"))
    first = module[0](images)
    last = module[3](module[2](first.relu()))
    expected = [first.relu().flatten(1), last.flatten(1)]
    torch.testing.assert_close(relus.features(images), torch.cat(expected, dim=1))
    expected[0] = first.flatten(1)
    torch.testing.assert_close(named.features(images), torch.cat(expected, dim=1))
    assert relus.n_features(SHAPE) == named.n_features(SHAPE) == 2 * 36 + 3 * 16


def test_layers_must_be_there():
    with pytest.raises(AttributeError, match="nothing"):
        ModuleLens(nn.Flatten(), layers=("nothing",))
    with pytest.raises(TypeError, match="layers must be None unless"):
        ModuleLens(torch.flatten, layers=("0",))
    assert not ModuleLens(nn.Flatten()).has_features


def test_beside_other_features_each_part_keeps_its_signs():
    seen = PerceptualMap(SMALL, SHAPE)
    waves = FourierFeatures.draw((64,), 10, rng=torch.Generator().manual_seed(0))
    both = JointFeatures((seen, waves), (0.25, 0.75))
    block, found = feature_block(both), both.double()(flat(noise(3, *SHAPE)).double())
    assert [part.is_nonnegative for part in block.parts] == [True, True, False]
    widths = [part.width for part in block.parts]
    norms = torch.stack([one.norm(dim=1) for one in found.split(widths, dim=1)])
    bounds = torch.tensor([part.bound for part in block.parts])
    torch.testing.assert_close(norms, bounds[:, None].expand(3, 3).to(norms))
    assert block.structure.replace() == pytest.approx(math.sqrt(2 * 0.25 + 4 * 0.75))
