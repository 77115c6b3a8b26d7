"""Lenses of trained networks: bounds, colours, sizes, rows that do not mix."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings

from skdpgen.lenses import ResNet18Lens, VGG19Lens
from skdpgen.lenses._network_lens import IMAGENET_MEAN, IMAGENET_STD, as_inputs
from skdpgen.networks import VGG, ResNet
from tests.lenses._images import hostile, moved_when_shuffled, noise, worst_norm
from tests.lenses._thin import THIN, randomised

each_lens = pytest.mark.parametrize("kind", THIN)


@each_lens
@pytest.mark.parametrize("shape", [(1, 28, 28), (3, 9, 13), (3, 40, 70)], ids=str)
def test_shapes_are_known_before_an_image_is_seen(kind, shape):
    lens, images = THIN[kind], noise(2, *shape)
    assert lens.features(images).shape == (2, lens.n_features(shape))
    assert lens.encode(images).shape == (2, lens.n_latent(shape))


@each_lens
@given(images=hostile(2, 1, 8, 8))
@settings(max_examples=15, deadline=None)
def test_bounds_hold_for_every_image(kind, images):
    assert worst_norm(THIN[kind].encode(images)) <= 1.0
    features = THIN[kind].features(images)
    assert (features >= 0).all()
    assert features.isfinite().all()


@each_lens
def test_codes_have_norm_one(kind):
    norms = THIN[kind].encode(noise(5, 3, 32, 32)).norm(dim=1)
    torch.testing.assert_close(norms, torch.ones_like(norms))


@each_lens
def test_codes_are_means_of_the_last_maps(kind):
    lens, shape = THIN[kind], (3, 64, 64)
    width, n = lens.n_latent(shape), 16 if kind == "vgg" else 4
    last = lens.features(noise(2, *shape))[:, -width * n :]
    means = last.reshape(2, width, n).mean(dim=2)
    means = means / means.norm(dim=1, keepdim=True)
    torch.testing.assert_close(lens.encode(noise(2, *shape)), means)


@each_lens
@pytest.mark.parametrize("n", [7, 64])
def test_a_row_is_encoded_alike_wherever_it_stands(kind, n):
    images, lens = noise(n, 1, 9, 9), THIN[kind].double()
    assert moved_when_shuffled(lens.encode, images) == 0
    assert moved_when_shuffled(lens.features, images) == 0


@each_lens
def test_what_is_no_number_becomes_zero_alone(kind):
    images = noise(3, 1, 8, 8)
    images[1, 0, 3, 3] = np.nan
    for rows in (THIN[kind].encode(images), THIN[kind].features(images)):
        assert rows[1].abs().max() == 0
        assert rows[[0, 2]].norm(dim=1).min() > 0


@each_lens
def test_grey_images_are_colour_images_of_equal_channels(kind):
    images = noise(2, 1, 32, 32)
    colour = THIN[kind].features(images.expand(-1, 3, -1, -1))
    torch.testing.assert_close(THIN[kind].features(images), colour)


@pytest.mark.parametrize(
    ("size", "side", "found"),
    [
        ((28, 28), 32, (32, 32)),
        ((8, 16), 32, (32, 64)),
        ((28, 40), 56, (56, 80)),
        ((40, 33), 32, (40, 33)),
    ],
    ids=str,
)
def test_small_images_are_enlarged_and_large_ones_stay(size, side, found):
    images = torch.full((1, 3, *size), 0.5)
    inputs = as_inputs(images, side)
    assert inputs.shape == (1, 3, *found)
    colours = (0.5 - torch.tensor(IMAGENET_MEAN)) / torch.tensor(IMAGENET_STD)
    torch.testing.assert_close(inputs.mean(dim=(0, 2, 3)), colours)


@each_lens
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_precision_is_that_of_the_images(kind, dtype):
    images, lens = noise(2, 1, 8, 8, dtype=dtype), THIN[kind]
    for one in (lens, lens.double(), lens.to(torch.device("cpu"))):
        assert one.encode(images).dtype == one.features(images).dtype == dtype
    torch.testing.assert_close(lens.features(images), lens.double().features(images))


@each_lens
def test_images_have_slopes_and_weights_have_none(kind):
    images = noise(2, 3, 32, 32).requires_grad_()
    THIN[kind].features(images).sum().backward()
    assert images.grad.abs().sum() > 0
    assert not any(weight.requires_grad for weight in THIN[kind].weights.values())


@each_lens
def test_weights_decide_and_are_not_touched(kind):
    lens, images = THIN[kind], noise(2, 3, 32, 32)
    before = {name: weight.clone() for name, weight in lens.weights.items()}
    codes = lens.encode(images)
    assert all(torch.equal(before[name], lens.weights[name]) for name in before)
    other = type(lens)(randomised(lens._empty(), seed=1))
    assert not torch.allclose(other.encode(images), codes)


def test_other_colours_and_sides_are_refused():
    with pytest.raises(ValueError, match="1 or 3 channels"):
        THIN["vgg"].encode(noise(1, 2, 32, 32))
    with pytest.raises(ValueError, match="side must be at least 32"):
        type(THIN["vgg"])(THIN["vgg"].weights, side=16)


@pytest.mark.parametrize(
    ("lens", "network", "n_features"),
    [(VGG19Lens, VGG, 303_104), (ResNet18Lens, ResNet, 47_104)],
    ids=["VGG-19", "ResNet-18"],
)
def test_the_networks_of_the_papers_fit(lens, network, n_features):
    state = randomised(network()) | {
        "fc.weight": torch.ones(1),
        "fc.bias": 0 * torch.ones(1),
    }
    found = lens(state)
    images = noise(2, 1, 28, 28, dtype=torch.float32)
    assert found.features(images).shape == (2, n_features)
    assert found.n_latent((1, 28, 28)) == 512
    assert found.encode(images).norm(dim=1).min() > 0.999
    assert found.name.endswith("its weights taken as public")
