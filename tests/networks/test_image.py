"""Image generators: what comes out, and where their weights come from."""

import math

import numpy as np
import pytest
import torch

from skdpgen.networks import AutoEncoder, ImageGenerator, ImageShape

ARCHITECTURES = ["full", "upsample", "decoder", "residual"]
SIZES = [(1, 8, 8), (1, 9, 13), (1, 28, 28), (3, 32, 32), (1, 64, 64)]

each_architecture = pytest.mark.parametrize("architecture", ARCHITECTURES)
each_size = pytest.mark.parametrize("size", SIZES, ids=str)


def shape(size=(1, 9, 13), architecture="full", **changes):
    given = {"n_classes": 3, "n_latent": 4, "hidden": (16, 8)} | changes
    return ImageShape(*size, architecture=architecture, **given)


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def inputs(n=12, scale=1.0):
    return scale * torch.randn(n, 4, generator=seeded(9)), torch.arange(n) % 3


def draw(generator, latents, labels):
    with torch.no_grad():
        (pixels,) = generator(latents, labels)
    return pixels


@each_architecture
@each_size
def test_an_image_is_a_flat_row_of_pixels(architecture, size):
    layers = shape(size, architecture)
    pixels = draw(ImageGenerator(layers, rng=seeded()), *inputs())
    assert layers.n_pixels == np.prod(size)
    assert pixels.shape == (12, layers.n_pixels)
    assert pixels.dtype == torch.float32


@each_architecture
@pytest.mark.parametrize("scale", [0.0, 1.0, 1e3, 1e6])
@pytest.mark.parametrize("is_training", [True, False])
def test_pixels_are_numbers_from_0_to_1(architecture, scale, is_training):
    generator = ImageGenerator(shape(architecture=architecture), rng=seeded())
    pixels = draw(generator.train(is_training), *inputs(scale=scale))
    assert ((pixels >= 0) & (pixels <= 1)).all()


@each_architecture
@each_size
def test_every_pixel_of_every_image_is_drawn(architecture, size):
    generator = ImageGenerator(shape(size, architecture), rng=seeded())
    latents, _ = inputs()
    pixels = draw(generator, latents, torch.zeros(12, dtype=torch.long))
    assert pixels.std(dim=0).min() > 0


@each_architecture
@each_size
def test_the_label_changes_the_image(architecture, size):
    generator = ImageGenerator(shape(size, architecture), rng=seeded()).eval()
    latents, labels = inputs()
    one, other = draw(generator, latents, labels), draw(generator, latents, 2 - labels)
    changed = (one != other).any(dim=1)
    assert torch.equal(changed, labels != 1)


@each_architecture
@each_size
def test_a_drawn_image_does_not_depend_on_the_others(architecture, size):
    generator = ImageGenerator(shape(size, architecture), rng=seeded()).eval()
    latents, labels = inputs()
    together = draw(generator, latents, labels)
    torch.testing.assert_close(draw(generator, latents[:1], labels[:1]), together[:1])


@each_architecture
@each_size
def test_the_generator_that_is_passed_decides_alone(architecture, size):
    layers, rows = shape(size, architecture), inputs()
    state = torch.get_rng_state()
    one, two, other = (
        draw(ImageGenerator(layers, rng=seeded(s)), *rows) for s in (0, 0, 1)
    )
    assert torch.equal(one, two)
    assert not torch.equal(one, other)
    assert torch.equal(torch.get_rng_state(), state)


@each_architecture
@each_size
def test_loaded_weights_give_the_same_images(architecture, size):
    layers = shape(size, architecture)
    generator = ImageGenerator(layers, rng=seeded())
    draw(generator, *inputs())  # batch norm has seen something
    copy = ImageGenerator(layers)
    copy.load_state_dict(generator.state_dict())
    rows = inputs()
    assert torch.equal(draw(generator.eval(), *rows), draw(copy.eval(), *rows))


@each_architecture
def test_pixels_are_single_precision_where_layers_computed_in_half_of_it(architecture):
    """A lens refuses others, and a release is spent when training starts."""
    generator = ImageGenerator(shape(architecture=architecture), rng=seeded())
    with torch.autocast("cpu", torch.bfloat16):
        pixels, *_ = generator(*inputs())
    assert pixels.dtype == torch.float32


@each_architecture
def test_an_image_is_the_middle_of_the_map(architecture):
    generator = ImageGenerator(shape((1, 9, 13), architecture), rng=seeded()).eval()
    generator.body.register_forward_hook(lambda *passed: maps.append(passed[-1]))
    maps = []
    pixels = draw(generator, *inputs())
    top, left = (maps[0].shape[2] - 9) // 2, (maps[0].shape[3] - 13) // 2
    middle = maps[0][:, :, top : top + 9, left : left + 13]
    assert torch.equal(pixels, middle.sigmoid().flatten(1))


@each_architecture
def test_every_weight_is_trained(architecture):
    generator = ImageGenerator(shape((1, 28, 28), architecture), rng=seeded())
    (pixels,) = generator(*inputs())
    pixels.square().sum().backward()
    assert all(p.grad is not None for p in generator.parameters())
    weights = [p for name, p in generator.named_parameters() if "weight" in name]
    assert all(weight.grad.abs().max() > 0 for weight in weights)


@pytest.mark.parametrize(
    ("size", "n_drawn"),
    [
        ((1, 15, 15), 15 * 15),
        ((1, 8, 64), 8 * 64),
        ((1, 16, 16), 8 * 8),
        ((3, 17, 32), 3 * 9 * 16),
    ],
    ids=str,
)
def test_full_draws_half_as_many_pixels_a_side_from_16_on(size, n_drawn):
    layers = ImageGenerator(shape(size), rng=seeded()).modules()
    widths = [m.out_features for m in layers if isinstance(m, torch.nn.Linear)]
    assert widths == [16, 8, n_drawn]


@each_architecture
def test_one_class_and_few_channels_are_enough(architecture):
    layers = shape(architecture=architecture, n_classes=1, hidden=(1,))
    latents, labels = inputs()
    pixels = draw(ImageGenerator(layers, rng=seeded()), latents, 0 * labels)
    assert pixels.shape == (12, 9 * 13)


@each_architecture
def test_classes_with_networks_of_their_own_share_nothing(architecture):
    layers = shape(architecture=architecture, is_parallel=True)
    generator = ImageGenerator(layers, rng=seeded()).eval()
    latents, labels = inputs()
    before = draw(generator, latents, labels)
    order = torch.randperm(12, generator=seeded(1))
    shuffled = draw(generator, latents[order], labels[order])
    torch.testing.assert_close(shuffled, before[order], rtol=0.0, atol=1e-6)
    with torch.no_grad():
        for weights in generator.body.networks[1].parameters():
            weights.add_(1.0)
    moved = (draw(generator, latents, labels) != before).any(dim=1)
    torch.testing.assert_close(moved, labels == 1)


def test_even_classes_go_through_their_networks_as_their_labels_say():
    generator = ImageGenerator(shape(is_parallel=True), rng=seeded()).eval()
    latents, labels = inputs(6)[0], torch.tensor([0, 0, 1, 1, 2, 2])
    (by_label,) = generator(latents, labels)
    with generator.even_classes():
        (even,) = generator(latents, labels)
    torch.testing.assert_close(even, by_label)
    (turned,) = generator(latents.flip(0), labels.flip(0))  # labels count again
    torch.testing.assert_close(turned.flip(0), by_label)


@pytest.mark.parametrize("is_parallel", [False, True])
@pytest.mark.parametrize("step", [1, 2])
@each_size
def test_codes_are_drawn_by_one_decoder_that_is_not_trained(size, step, is_parallel):
    layers = shape(size, "coded", code=(7, 5, step), is_parallel=is_parallel)
    channels, height, width = size
    n_pixels = channels * math.ceil(height / step) * math.ceil(width / step)
    trained = AutoEncoder(n_pixels, 7, 5, rng=seeded(1))
    generator = ImageGenerator(layers, rng=seeded())
    generator.decoder.take(trained.decoder.state_dict())
    pixels, codes = generator(*inputs())
    assert pixels.shape == (12, layers.n_pixels)
    assert codes.shape == (12, 5)
    if step == 1:
        torch.testing.assert_close(pixels, trained.decode(codes))
    pixels.sum().backward()
    assert all(weight.grad is None for weight in generator.decoder.parameters())
    assert all(weight.grad is not None for weight in generator.body.parameters())


@pytest.mark.parametrize(("side", "step"), [(8, 2), (29, 2), (30, 4)])
def test_what_a_decoder_draws_stands_where_it_was_seen(side, step):
    """Pooling is padded at the end, so that is where an enlarged image is cut."""
    layers = shape((1, side, side), "coded", code=(7, 5, step))
    generator = ImageGenerator(layers, rng=seeded()).eval()
    small = math.ceil(side / step)
    ramp = torch.arange(small, dtype=torch.float32).expand(small, small) - small / 2
    with torch.no_grad():
        generator.decoder[0][-1].weight.zero_()
        generator.decoder[0][-1].bias.copy_(ramp.flatten())
        pixels = generator(*inputs(1))[0].reshape(1, 1, side, side).logit()
    seen = torch.nn.functional.avg_pool2d(pixels, step, ceil_mode=True)[0, 0]
    inner = slice(1, small - 2)  # of a ramp the means are the ramp, but at its ends
    torch.testing.assert_close(seen[:, inner], ramp[:, inner], rtol=0, atol=0.15)
