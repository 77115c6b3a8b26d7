"""Random filters: fixed by their seed, bounded, each image by itself."""

import pytest
import torch
from hypothesis import given, settings

from skdpgen.lenses import RandomLens, lens_of
from tests.lenses._images import hostile, moved_when_shuffled, noise, worst_norm

LENS = RandomLens((3, 4), 1)


@pytest.mark.parametrize("shape", [(1, 8, 8), (3, 9, 14), (2, 1, 1)], ids=str)
def test_it_says_how_much_it_gives(shape):
    found = LENS.features(noise(2, *shape))
    assert found.shape == (2, LENS.n_features(shape))
    assert found.min() >= 0


@given(images=hostile(3, 1, 8, 8))
@settings(max_examples=50, deadline=None)
def test_codes_are_in_the_ball_whatever_the_image_is(images):
    assert worst_norm(LENS.encode(images)) <= 1.0


@pytest.mark.parametrize("look", [LENS.encode, LENS.features])
def test_no_image_depends_on_those_beside_it(look):
    assert moved_when_shuffled(look, noise(64, 1, 14, 14)) == 0


@pytest.mark.parametrize(
    "shape", [(1, 8, 8), (3, 9, 14), (2, 2, 5), (1, 1, 1)], ids=str
)
def test_slopes_of_images_are_those_of_convolutions(shape):
    images = noise(4, *shape).double().requires_grad_()
    torch.autograd.gradcheck(lambda x: LENS.features(0.1 + 0.8 * x), images)


def test_its_seed_is_all_that_is_drawn():
    images = noise(2, 1, 8, 8)
    again, other = RandomLens((3, 4), 1), RandomLens((3, 4), 2)
    assert torch.equal(again.features(images), LENS.features(images))
    assert not torch.equal(other.features(images), LENS.features(images))
    assert lens_of("random") == RandomLens()


@pytest.mark.parametrize("n_filters", [(), (3, 0)])
def test_every_layer_has_filters(n_filters):
    with pytest.raises(ValueError, match="n_filters must be positive"):
        RandomLens(n_filters)
