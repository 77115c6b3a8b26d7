"""Filters of public patches: bounded, each image by itself, learnt from images."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings

from skdpgen import DPMEPFSynthesizer, Generator
from skdpgen.lenses import PatchLens, PerceptualMap, check_map
from skdpgen.utils import from_bytes, to_bytes
from tests.lenses._images import hostile, moved_when_shuffled, noise, smooth, worst_norm

PUBLIC = smooth(60, 3, 14, 14).numpy()
LENS = PatchLens.learn(PUBLIC, 6, side=4, grid=3, source="waves")
GREY = PatchLens.learn(PUBLIC[:, 0], 5, side=3, stride=1)


@pytest.mark.parametrize("shape", [(3, 8, 8), (3, 9, 14)], ids=str)
def test_it_says_how_much_it_gives(shape):
    found = LENS.features(noise(2, *shape))
    assert found.shape == (2, LENS.n_features(shape)) == (2, 6 * 9)
    assert found.min() >= 0


@given(images=hostile(3, 1, 8, 8))
@settings(max_examples=50, deadline=None)
def test_codes_are_in_the_ball_whatever_the_image_is(images):
    assert worst_norm(GREY.encode(images)) <= 1.0


@pytest.mark.parametrize("look", [LENS.encode, LENS.features])
def test_no_image_depends_on_those_beside_it(look):
    assert moved_when_shuffled(look, noise(64, 3, 14, 14)) == 0


@pytest.mark.parametrize("lens", [LENS, GREY])
def test_few_images_at_a_time_are_the_same_as_all(lens, monkeypatch):
    images = noise(13, lens.filters.shape[1], 14, 14).requires_grad_()
    (slope,) = torch.autograd.grad(lens.features(images).square().sum(), images)
    whole = lens.features(images)
    monkeypatch.setattr(
        "skdpgen.lenses._patch_lens.NUMBERS_IN_CACHE", 4000
    )  # of 726 and 720
    few = lens.features(images)
    assert torch.equal(few, whole)
    assert torch.equal(torch.autograd.grad(few.square().sum(), images)[0], slope)
    assert lens.features(images[:0]).shape == (0, whole.shape[1])


def test_it_is_the_same_for_brighter_images_but_not_for_other_colours():
    images = 0.2 + 0.3 * smooth(5, 3, 14, 14)
    first = LENS.features(images)
    torch.testing.assert_close(LENS.features(images + 0.1), first, atol=1e-5, rtol=0)
    assert not torch.allclose(LENS.features(images.flip(1)), first, atol=1e-3)


def test_a_fifth_of_the_public_patches_is_above_a_threshold():
    images = torch.from_numpy(PUBLIC)
    one = PatchLens(LENS.filters, LENS.thresholds, grid=11, stride=1)  # every patch
    firing = (one.features(images) > 0).double().mean()
    assert 0.15 < firing < 0.25


def test_public_images_and_a_seed_decide_it():
    again = PatchLens.learn(PUBLIC, 6, side=4, grid=3)
    other = PatchLens.learn(PUBLIC, 6, side=4, grid=3, random_state=1)
    whole = PatchLens.learn(np.rint(255 * PUBLIC).astype(np.uint8), 6, side=4, grid=3)
    assert torch.equal(again.filters, LENS.filters)
    assert not torch.equal(other.filters, LENS.filters)
    assert whole.filters.shape == LENS.filters.shape
    assert LENS.name == "6 filters of 4 x 4 pixels, learnt from waves"


def test_it_is_saved_and_read():
    read = from_bytes(to_bytes(LENS))
    assert torch.equal(read.filters, LENS.filters)
    assert read.name == LENS.name


def test_a_generator_learns_by_it():
    images = smooth(40, 3, 14, 14).numpy()
    few = Generator(max_iter=3, pooling=1)
    synth = DPMEPFSynthesizer(10.0, lens=LENS, generator=few, classes=[0, 1])
    synth.fit(images, np.arange(40) % 2)
    assert synth.sample(4)[0].shape == (4, 3, 14, 14)
    assert f"lens: {LENS.name}" in synth.privacy_.to_dict()["statements"]
    check_map(PerceptualMap(LENS, (3, 14, 14)), (3, 14, 14))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: PatchLens(torch.ones(2, 3, 4), torch.ones(2)), "filters must be"),
        (lambda: PatchLens(torch.ones(2, 3, 4, 4), torch.ones(3)), "thresholds of"),
        (lambda: PatchLens(LENS.filters, LENS.thresholds, 0), "grid and stride"),
        (lambda: LENS.n_features((1, 8, 8)), "3 channels and 4 pixels"),
        (lambda: PatchLens.learn(PUBLIC, side=15), "at least 15 pixels a side"),
        (lambda: PatchLens.learn(PUBLIC[:0]), "images must be one or more"),
    ],
)
def test_what_is_no_lens_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
