"""Encoders of the user's own: clipped, checked, copied, and never trained."""

import pickle

import pytest
import torch
from hypothesis import given, settings
from torch import nn

from skdpgen.lenses import ModuleLens
from skdpgen.networks import AutoEncoder
from tests.lenses._images import hostile, noise, worst_norm

SHAPE = (1, 8, 8)


def encoder(**given):
    torch.manual_seed(0)
    layers = nn.Flatten(), nn.Linear(64, 5), nn.BatchNorm1d(5), nn.Dropout(0.5)
    return nn.Sequential(*layers, **given)


def decoder():
    return nn.Sequential(nn.Linear(5, 64), nn.Unflatten(1, SHAPE))


@pytest.mark.parametrize("radius", [1e-3, 1.0])
@given(images=hostile(2, *SHAPE))
@settings(max_examples=25, deadline=None)
def test_no_norm_is_above_one(radius, images):
    assert worst_norm(ModuleLens(encoder(), radius=radius).encode(images)) <= 1.0


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e38])
def test_whatever_it_returns_is_clipped(value):
    lens = ModuleLens(lambda images: torch.full((len(images), 2, 3), value))
    codes = lens.encode(noise(4, *SHAPE))
    assert codes.shape == (4, 6)
    assert worst_norm(codes) <= 1.0
    assert codes.isfinite().all()


def test_it_is_opaque_and_says_whose_it_is():
    lens = ModuleLens(encoder(), name="IC-GAN")
    assert lens.is_opaque
    assert not lens.has_features
    assert lens.name == "IC-GAN, given by the user and taken as public"
    assert lens.to(torch.device("cpu")).name == lens.name


def test_modules_are_copied_and_evaluated_without_gradients():
    module = encoder()
    lens = ModuleLens(module)
    images = noise(3, *SHAPE)
    codes = lens.encode(images)
    assert not codes.requires_grad
    assert torch.equal(codes, lens.encode(images))  # nothing is dropped
    alone = torch.cat([lens.encode(image[None]) for image in images])
    torch.testing.assert_close(codes, alone)
    assert module.training
    with torch.no_grad():
        module[1].weight.zero_()
    assert torch.equal(codes, lens.encode(images))
    assert int(module[2].num_batches_tracked) == 0


def test_modules_of_methods_are_copied_too():
    network = AutoEncoder(64, 8, 4, rng=torch.Generator().manual_seed(0))
    lens = ModuleLens(lambda images: images.flatten(1), network.decode)
    other = ModuleLens(network.decode)
    assert network.training
    assert not lens.decoder.__self__.training
    assert lens.decoder.__self__ is not network
    assert other.encoder.__self__ is not network


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_precision_is_that_of_the_images(dtype):
    lens = ModuleLens(encoder(), decoder()).double().to(torch.device("cpu"))
    codes = lens.encode(noise(2, *SHAPE, dtype=dtype))
    assert codes.dtype == lens.decode(codes, SHAPE).dtype == dtype


@pytest.mark.parametrize("radius", [0.5, 20.0])
def test_the_way_back_undoes_the_radius(radius):
    lens = ModuleLens(nn.Flatten(), nn.Unflatten(1, SHAPE), radius=radius)
    images = 0.1 * noise(3, *SHAPE) if radius > 1 else 0.01 * noise(3, *SHAPE)
    back = lens.decode(lens.encode(images), SHAPE)
    torch.testing.assert_close(back, images)
    assert lens.has_decoder


def test_decoded_pixels_are_in_range():
    images = ModuleLens(encoder(), decoder()).decode(1e3 * noise(3, 5), SHAPE)
    assert images.min() >= 0
    assert images.max() <= 1


def test_widths_are_known_before_an_image_is_seen():
    assert ModuleLens(encoder()).n_latent(SHAPE) == 5
    assert ModuleLens(lambda images: images.mean(dim=(1, 2, 3))).n_latent(SHAPE) == 1


@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        (lambda x: (x, x), TypeError, "must return one tensor. Got tuple"),
        (lambda x: x[:1], ValueError, "one row for each of 3 given"),
        (lambda x: x.sum(), ValueError, r"shape \(\) instead"),
    ],
    ids=["two", "too few", "a number"],
)
def test_wrong_outputs_are_named(function, error, message):
    with pytest.raises(error, match=message):
        ModuleLens(function).encode(noise(3, *SHAPE))
    with pytest.raises(error, match=message):
        ModuleLens(encoder(), function).decode(noise(3, 5), SHAPE)


def test_a_decoder_of_another_shape_is_named():
    lens = ModuleLens(encoder(), decoder())
    with pytest.raises(ValueError, match=r"shape \(n, 3, 8, 8\). Got \(2, 1, 8, 8\)"):
        lens.decode(noise(2, 5), (3, 8, 8))
    with pytest.raises(ValueError, match="no way back"):
        ModuleLens(encoder()).decode(noise(2, 5), SHAPE)


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ({"encoder": 3}, TypeError, "encoder must be callable. Got 3"),
        ({"encoder": abs, "decoder": "x"}, TypeError, "decoder must be callable"),
        ({"encoder": abs, "radius": 0.0}, ValueError, "radius must be positive"),
    ],
    ids=str,
)
def test_wrong_parts_are_refused(wrong, error, message):
    with pytest.raises(error, match=message):
        ModuleLens(**wrong)


def test_it_can_be_pickled():
    lens, images = ModuleLens(encoder(), decoder()), noise(2, *SHAPE)
    again = pickle.loads(pickle.dumps(lens))
    assert torch.equal(again.encode(images), lens.encode(images))
