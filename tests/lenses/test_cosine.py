"""Low frequencies: those of scipy's transform, clipped, and the way back."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from scipy.fft import dctn

from skdpgen.lenses import CosineLens
from skdpgen.lenses._cosine import lowest
from tests.lenses._images import hostile, moved_when_shuffled, noise, smooth, worst_norm

SHAPES = [(1, 28, 28), (3, 9, 13)]
each_shape = pytest.mark.parametrize("shape", SHAPES, ids=str)


@each_shape
@pytest.mark.parametrize("n", [1, 20, 10_000])
def test_codes_are_the_lowest_coefficients(shape, n):
    lens, images = CosineLens(n, centre=0.25, radius=10.0), noise(3, *shape)
    channels, height, width = shape
    codes = lens.encode(images).reshape(3, channels, -1)
    assert codes[0].numel() == lens.n_latent(shape)
    waves = dctn(images.numpy() - 0.25, axes=(1, 2, 3), norm="ortho")
    waves /= 10.0 * math.sqrt(math.prod(shape))
    rows, columns = (one.numpy() for one in lowest(codes.shape[2], height, width))
    np.testing.assert_allclose(codes, waves[:, :, rows, columns], rtol=0, atol=1e-7)


def test_lowest_is_by_place_over_side():
    rows, columns = (places.tolist() for places in lowest(9 * 13, 9, 13))
    sums = [i / 9 + j / 13 for i, j in zip(rows, columns, strict=True)]
    assert sums == pytest.approx(sorted(sums))
    assert len(set(zip(rows, columns, strict=True))) == 9 * 13


@each_shape
@pytest.mark.parametrize(("centre", "radius"), [(0.0, 0.35), (0.5, 0.5), (1.0, 9.0)])
def test_no_norm_is_above_one(shape, centre, radius):
    lens = CosineLens(30, centre, radius)

    @given(images=hostile(2, *shape))
    @settings(max_examples=25, deadline=None)
    def check(images):
        assert worst_norm(lens.encode(images)) <= 1.0

    check()


def test_what_is_no_number_becomes_zero():
    images = noise(3, 1, 8, 8)
    images[1, 0, 3, 3] = np.nan
    codes = CosineLens().encode(images)
    assert codes[1].abs().max() == 0
    assert codes[[0, 2]].norm(dim=1).min() > 0


@each_shape
@pytest.mark.parametrize("n", [7, 64, 70])
def test_a_row_is_encoded_alike_wherever_it_stands(shape, n):
    assert moved_when_shuffled(CosineLens().encode, noise(n, *shape)) == 0


@each_shape
def test_smooth_images_come_back(shape):
    lens, images = CosineLens(60), smooth(20, *shape)
    back = lens.decode(lens.encode(images), shape)
    assert back.shape == images.shape
    assert (back - images).abs().mean() < 0.01


@each_shape
def test_all_frequencies_give_all_of_an_image(shape):
    lens, images = CosineLens(10_000, radius=1.0), noise(5, *shape)
    back = lens.decode(lens.encode(images), shape)
    torch.testing.assert_close(back, images, rtol=0, atol=1e-5)


def test_a_bright_image_is_clipped_to_norm_one_and_comes_back_darker():
    lens = CosineLens(10, centre=0.0, radius=0.35)
    codes = lens.encode(torch.ones(1, 1, 8, 8))
    assert float(codes.norm()) == pytest.approx(1.0)
    assert float(lens.decode(codes, (1, 8, 8)).max()) == pytest.approx(0.35)


@each_shape
def test_no_image_is_clipped_by_default(shape):
    lens, pixels = CosineLens(10_000), noise(4, *shape)
    sharp = torch.stack([torch.zeros(shape), torch.ones(shape), *(pixels > 0.5)])
    for images in (pixels, sharp.to(pixels)):
        back = lens.decode(lens.encode(images), shape)
        torch.testing.assert_close(back, images, rtol=0, atol=1e-5)


def test_decoded_pixels_are_in_range_and_have_slopes():
    codes = 5.0 * noise(4, 80) - 2.5
    codes.requires_grad_()
    images = CosineLens().decode(codes, (1, 28, 28))
    assert images.min() == 0
    assert images.max() == 1
    images.sum().backward()
    assert codes.grad.abs().sum() > 0


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_precision_is_that_of_the_images(dtype):
    lens = CosineLens().double().to(torch.device("cpu"))
    codes = lens.encode(noise(2, 1, 8, 8, dtype=dtype))
    assert codes.dtype == lens.decode(codes, (1, 8, 8)).dtype == dtype


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"n_coefficients": 0}, "n_coefficients must be at least 1"),
        ({"centre": 2.0}, r"centre must be in \[0, 1\]"),
        ({"radius": 0.0}, "radius must be positive"),
        ({"radius": "wide"}, "radius must be positive"),
        ({"radius": math.inf}, "radius must be positive"),
    ],
    ids=str,
)
def test_wrong_constants_are_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        CosineLens(**wrong)


def test_its_name_says_all_its_constants():
    name = CosineLens(12, 0.5, 0.3).name
    assert name == (
        "low frequencies of a cosine transform, 12 a channel, radius 0.3 around 0.5"
    )
