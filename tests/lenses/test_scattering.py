"""Scattering: counts, energy, signs, and what moves when an image does."""

import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings

from skdpgen.lenses import ScatteringLens
from skdpgen.lenses._scattering import (
    UNIT_RMS,
    filters,
    frame_sum,
    low_pass,
    mirror,
    moduli,
    padded_side,
)
from tests.lenses._images import hostile, moved_when_shuffled, noise, smooth, worst_norm

SHAPES = [(1, 28, 28), (3, 9, 13), (1, 8, 8)]
each_shape = pytest.mark.parametrize("shape", SHAPES, ids=str)


@each_shape
@pytest.mark.parametrize("n_scales", [1, 2, 3])
@pytest.mark.parametrize("order", [1, 2])
def test_there_are_as_many_features_as_the_formula_says(shape, n_scales, order):
    lens = ScatteringLens(n_scales, 3, order)
    paths = 1 + 3 * n_scales
    if order == 2:
        paths += 9 * n_scales * (n_scales - 1) // 2
    channels, height, width = shape
    means = math.ceil(height / 2**n_scales) * math.ceil(width / 2**n_scales)
    features = lens.features(noise(2, *shape))
    assert features.shape == (2, channels * paths * means)
    assert lens.n_features(shape) == lens.n_latent(shape) == features.shape[1]


@each_shape
def test_features_are_never_negative(shape):
    @given(images=hostile(2, *shape))
    @settings(max_examples=15, deadline=None)
    def check(images):
        assert (ScatteringLens(2, 3).features(images) >= 0).all()

    check()
    assert ScatteringLens.is_nonnegative


@each_shape
def test_no_norm_is_above_one(shape):
    @given(images=hostile(2, *shape))
    @settings(max_examples=15, deadline=None)
    def check(images):
        assert worst_norm(ScatteringLens(2, 3).encode(images)) <= 1.0

    check()


def margins(images, n_scales):
    _, _, height, width = images.shape
    rows, columns = mirror(height, n_scales), mirror(width, n_scales)
    return images[:, :, rows][:, :, :, columns]


@each_shape
@pytest.mark.parametrize(("n_scales", "n_angles"), [(1, 8), (2, 8), (3, 4)])
@pytest.mark.parametrize("make", [noise, smooth])
def test_no_energy_is_added(shape, n_scales, n_angles, make):
    images = make(20, *shape)
    features = ScatteringLens(n_scales, n_angles).features(images)
    before = margins(images, n_scales).square().sum(dim=(1, 2, 3))
    assert (features.square().sum(dim=1) <= before).all()


def test_no_energy_is_added_to_what_stands_on_black():
    images = torch.zeros(20, 1, 32, 32, dtype=torch.float64)
    images[:, :, 8:24, 8:24] = noise(20, 1, 16, 16)
    energy = ScatteringLens().features(images).square().sum(dim=1)
    share = energy / images.square().sum(dim=(1, 2, 3))
    assert share.max() <= 1.0
    assert share.min() > 0.5  # of noise; the rest is in moduli of moduli of moduli


@pytest.mark.parametrize("sides", [(28, 28), (9, 13), (64, 32)], ids=str)
@pytest.mark.parametrize(("n_scales", "n_angles"), [(1, 4), (2, 8), (3, 6)])
def test_one_layer_is_no_expansion(sides, n_scales, n_angles):
    """The largest singular value of means and wavelets together, by power iteration."""
    wavelets, tall, wide = filters(n_scales, n_angles, *sides)
    bank = wavelets.flatten(0, 1)
    image = noise(1, *bank.shape[1:])[0]
    for _ in range(30):
        image = image / image.norm()
        waves = torch.fft.ifft2(torch.fft.fft2(image) * bank)
        back = torch.fft.ifft2(torch.fft.fft2(waves) * bank).sum(dim=0).real
        image = back + tall.T @ (tall @ image @ wide.T) @ wide
    assert 0.8 < float(image.norm()) <= 1.0 + 1e-12


def test_the_frame_sum_is_what_squares_of_spectra_add_up_to():
    """Without what sampling adds, which is small and never negative."""
    wavelets, tall, wide = filters(2, 8, 28, 28)
    low = torch.outer(*(torch.fft.fft(one[0]).abs() for one in (tall, wide))) / 4
    total = low.square() + wavelets.square().sum(dim=(0, 1))
    total = (total + total.flip(0, 1).roll((1, 1), (0, 1))) / 2
    assert total.max() <= 1.0 + 1e-12
    assert total.min() > 0.1


@pytest.mark.parametrize("side", [8, 28])
@pytest.mark.parametrize("n_scales", [1, 2, 3])
def test_the_frame_sum_knows_that_samples_fall_onto_each_other(side, n_scales):
    step, one = 2**n_scales, low_pass(side, n_scales)
    everywhere = torch.stack(
        [one[0].roll(step * k) for k in range(one.shape[1] // step)]
    )
    nothing = torch.zeros(1, 1, one.shape[1], one.shape[1], dtype=torch.float64)
    most = float(frame_sum(nothing, one, one, step).max())
    norm = float(torch.linalg.matrix_norm(everywhere, ord=2))
    assert norm**4 <= most + 1e-12  # of rows and of columns, squared
    assert most < 1.02


@pytest.mark.parametrize("sides", [(28, 28), (9, 13)], ids=str)
def test_wavelets_have_mean_zero(sides):
    wavelets, _, _ = filters(2, 8, *sides)
    assert (wavelets[:, :, 0, 0] == 0).all()
    constant = torch.full((1, *wavelets.shape[2:]), 0.7, dtype=torch.float64)
    assert moduli(constant, wavelets.flatten(0, 1)).max() < 1e-14


def test_a_wavelet_answers_to_waves_of_its_angle_and_scale():
    wavelets, _, _ = filters(2, 8, 28, 28)
    places = torch.arange(40, dtype=torch.float64)
    for scale, period in ((0, 8 / 3), (1, 16 / 3)):
        for angle in (0, 2, 4):
            turn = math.pi * angle / 8
            along = places[:, None] * math.sin(turn) + places * math.cos(turn)
            wave = torch.cos(2 * math.pi / period * along)
            answer = moduli(wave[None], wavelets.flatten(0, 1)).mean(dim=(0, 2, 3))
            assert int(answer.argmax()) == scale * 8 + angle


def test_moduli_are_convolutions_by_definition():
    image, spectrum = noise(1, 6, 5), noise(1, 6, 5, seed=1)
    kernel = torch.fft.ifft2(spectrum[0])
    slow = torch.zeros(6, 5, dtype=torch.complex128)
    for y in range(6):
        for x in range(5):
            slow += image[0, y, x] * kernel.roll((y, x), (0, 1))
    torch.testing.assert_close(moduli(image, spectrum)[0, 0], slow.abs())


def test_features_are_paths_from_fine_to_coarse():
    image = noise(1, 1, 9, 13)
    wavelets, tall, wide = filters(3, 2, 9, 13)
    padded, found = margins(image, 3)[0, 0], []

    def look(maps, scale, angle):
        waves = torch.fft.ifft2(torch.fft.fft2(maps) * wavelets[scale, angle])
        return waves.abs()

    first = list(itertools.product(range(3), range(2)))
    found.append(padded)
    found += [look(padded, *path) for path in first]
    found += [
        look(look(padded, *fine), *coarse)
        for scale in range(3)
        for fine in ((scale, 0), (scale, 1))
        for coarse in first
        if coarse[0] > scale
    ]
    means = torch.stack([tall @ maps @ wide.T for maps in found])
    features = ScatteringLens(3, 2).features(image)
    torch.testing.assert_close(features[0], means.flatten())


@pytest.mark.parametrize("n_scales", [1, 2, 3])
@pytest.mark.parametrize("side", [8, 9, 28])
def test_means_are_means_in_even_places(side, n_scales):
    means = low_pass(side, n_scales)
    assert means.shape == (math.ceil(side / 2**n_scales), padded_side(side, n_scales))
    assert (means >= 0).all()
    sums = means.sum(dim=1) / 2 ** (n_scales / 2)
    torch.testing.assert_close(sums, torch.ones_like(sums))


@pytest.mark.parametrize("n_scales", [1, 2, 3])
@pytest.mark.parametrize("side", [8, 28, 30])
def test_an_image_turned_round_has_its_means_turned_round(side, n_scales):
    means, image = low_pass(side, n_scales), noise(1, side)[0]
    there = means @ image[mirror(side, n_scales)]
    back = means @ image.flip(0)[mirror(side, n_scales)]
    torch.testing.assert_close(there, back.flip(0))


def test_a_constant_image_has_constant_means_and_nothing_else():
    image = torch.full((1, 1, 9, 13), 0.5, dtype=torch.float64)
    maps = ScatteringLens().features(image).reshape(81, 3 * 4)
    assert maps[0].std() < 1e-9
    assert float(maps[0, 0]) == pytest.approx(4 * 0.5, rel=0.01)
    assert maps[1:].max() < 1e-12


@pytest.mark.parametrize("way", [2, 3])
def test_features_move_less_than_pixels(way):
    images = torch.zeros(20, 1, 32, 32, dtype=torch.float64)
    images[:, :, 8:24, 8:24] = noise(20, 1, 16, 16)
    moved, lens = images.roll(1, way), ScatteringLens()
    before, after = lens.features(images), lens.features(moved)
    of_features = (after - before).norm(dim=1) / before.norm(dim=1)
    of_pixels = (moved - images).flatten(1).norm(dim=1) / images.flatten(1).norm(dim=1)
    assert (of_features < 0.4 * of_pixels).all()


def test_channels_are_scattered_by_themselves():
    images, lens = noise(2, 3, 9, 9), ScatteringLens(1, 2)
    alone = [lens.features(images[:, [i]]) for i in range(3)]
    torch.testing.assert_close(lens.features(images), torch.cat(alone, dim=1))


def test_what_is_no_number_becomes_zero_alone():
    images = noise(3, 1, 8, 8)
    images[1, 0, 0, 0] = np.nan
    for rows in (ScatteringLens().features(images), ScatteringLens().encode(images)):
        assert rows[1].abs().max() == 0
        assert rows[[0, 2]].norm(dim=1).min() > 0


@pytest.mark.parametrize("shape", [(1, 28, 28), (3, 9, 13)], ids=str)
@pytest.mark.parametrize("n", [7, 64])
def test_a_row_is_encoded_alike_wherever_it_stands(shape, n):
    assert moved_when_shuffled(ScatteringLens().encode, noise(n, *shape)) == 0


def test_codes_are_features_by_a_public_constant():
    images = 0.5 * noise(4, 3, 32, 32)
    lens = ScatteringLens()
    codes = lens.features(images) / (UNIT_RMS * math.sqrt(3 * 32 * 32))
    assert worst_norm(codes) < 1
    torch.testing.assert_close(lens.encode(images), codes)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_precision_is_that_of_the_images(dtype):
    lens = ScatteringLens(1, 2).double().to(torch.device("cpu"))
    images = noise(2, 1, 8, 8, dtype=dtype)
    assert lens.encode(images).dtype == lens.features(images).dtype == dtype
    exact = lens.features(images.double())
    torch.testing.assert_close(
        lens.features(images).double(), exact, rtol=1e-5, atol=1e-5
    )


def test_features_have_slopes_where_moduli_are_zero_too():
    images = torch.cat([torch.zeros(1, 1, 8, 8), noise(1, 1, 8, 8).float()])
    images.requires_grad_()
    ScatteringLens(2, 2).features(images).square().sum().backward()
    assert images.grad.isfinite().all()
    assert images.grad[1].abs().max() > 0


def test_no_images_have_no_features():
    assert ScatteringLens().features(torch.zeros(0, 1, 8, 8)).shape == (0, 81 * 4)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"n_scales": 0}, "n_scales must be at least 1"),
        ({"n_angles": 0}, "n_angles must be at least 1"),
        ({"order": 3}, "order must be 1 or 2"),
    ],
    ids=str,
)
def test_wrong_constants_are_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        ScatteringLens(**wrong)


@pytest.mark.parametrize(
    ("n_scales", "side", "least"), [(2, 7, 8), (4, 12, 16)], ids=str
)
def test_small_images_are_refused(n_scales, side, least):
    with pytest.raises(ValueError, match=f"at least {least} pixels a side"):
        ScatteringLens(n_scales).encode(torch.zeros(1, 1, side, 20))
