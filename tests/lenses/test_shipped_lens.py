"""The lens that comes with the package: there, small, bounded, and the same again."""

import re
from importlib.resources import files

import pytest
import torch
from hypothesis import given, settings

from skdpgen.lenses import ShippedLens, lens_of
from tests.lenses._images import (
    again,
    hostile,
    moved_when_shuffled,
    noise,
    smooth,
    worst_norm,
)

LENS = ShippedLens()
SHAPES = [(1, 8, 8), (1, 14, 14), (1, 28, 28), (3, 8, 9), (3, 32, 32)]
each_shape = pytest.mark.parametrize("shape", SHAPES, ids=str)


def test_its_weights_come_along_and_are_small():
    folder = files("skdpgen.lenses").joinpath("weights")
    sizes = {file.name: len(file.read_bytes()) for file in folder.iterdir()}
    assert set(sizes) == {"grey.safetensors", "colour.safetensors"}
    assert sum(sizes.values()) <= 4 * 2**20


@each_shape
def test_it_says_how_much_it_gives(shape):
    images = noise(2, *shape)
    assert LENS.encode(images).shape == (2, LENS.n_latent(shape))
    assert LENS.features(images).shape == (2, LENS.n_features(shape))
    assert LENS.decode(LENS.encode(images), shape).shape == images.shape


@pytest.mark.parametrize("shape", [(1, 8, 8), (3, 8, 8)], ids=str)
@given(data=hostile(3, 3, 8, 8))
@settings(max_examples=50, deadline=None)
def test_codes_are_in_the_ball_whatever_the_image_is(shape, data):
    images = data[:, : shape[0]]
    assert worst_norm(LENS.encode(images)) <= 1.0
    assert LENS.features(images).min() >= 0
    decoded = LENS.decode(LENS.encode(images), shape)
    assert decoded.min() >= 0
    assert decoded.max() <= 1


@pytest.mark.parametrize("look", [LENS.encode, LENS.features])
def test_no_image_depends_on_those_beside_it(look):
    assert moved_when_shuffled(look, noise(64, 1, 14, 14)) == 0


@pytest.mark.parametrize("channels", [1, 3])
def test_what_it_has_seen_comes_back(channels):
    images = smooth(20, channels, 28, 28)
    lost = (LENS.decode(LENS.encode(images), images.shape[1:]) - images).square()
    assert lost.mean() < 0.25 * images.var()


def test_it_is_the_same_in_both_precisions_and_when_read_again():
    images = noise(3, 1, 28, 28)
    codes = LENS.double().encode(images)
    torch.testing.assert_close(
        LENS.encode(images.float()).double(), codes, atol=1e-5, rtol=0
    )
    assert again(LENS) == LENS == lens_of("shipped")
    assert re.fullmatch(r".*that comes with skdpgen, version [0-9a-f]{8}", LENS.name)


def test_other_weights_are_refused():
    with pytest.raises(ValueError, match=r"version must be '[0-9a-f]{8}'.* Got 'old'"):
        ShippedLens("old")
    with pytest.raises(ValueError, match=r"must have 1 or 3 channels\. Got 2"):
        LENS.encode(noise(2, 2, 8, 8))
