"""A network of public labels: bounded, each image alone, learnt from public images."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from torch import nn

from skdpgen import DPDRESynthesizer, DPMEPFSynthesizer, Generator
from skdpgen.lenses import LabelLens
from skdpgen.lenses._label_lens import _folded, _layers
from skdpgen.lenses._unit_means import check_pure, goes_alone
from skdpgen.utils import from_bytes, to_bytes
from tests._seeded import same_noise
from tests.lenses._images import again, hostile, noise, worst_norm

KINDS = np.arange(64) % 2


def stripes(kinds, seed=0, side=12):
    """Images whose stripes lie (kind 0) or stand (1), at random places, in noise."""
    rng = np.random.default_rng(seed)
    waves = np.sin(np.arange(side) + rng.uniform(0, 6, (len(kinds), 1, 1)))
    images = np.where(kinds[:, None, None] == 1, waves, waves.transpose(0, 2, 1))
    images = images + np.zeros((len(kinds), side, side))
    return 0.5 + 0.3 * images + rng.uniform(-0.1, 0.1, images.shape)


PUBLIC = np.repeat(stripes(KINDS)[:, None], 3, axis=1)
LENS = LabelLens.learn(PUBLIC, KINDS, width=4, n_epochs=2, source="stripes")
GREY = LabelLens.learn(stripes(KINDS), KINDS, width=4, n_epochs=2)


@pytest.mark.parametrize("shape", [(3, 8, 8), (3, 9, 14), (3, 4, 5)], ids=str)
def test_shapes_are_known_before_an_image_is_seen(shape):
    images = noise(2, *shape)
    assert LENS.features(images).shape == (2, LENS.n_features(shape))
    assert LENS.encode(images).shape == (2, LENS.n_latent(shape)) == (2, 16)


@given(images=hostile(3, 1, 8, 8))
@settings(max_examples=50, deadline=None)
def test_bounds_hold_for_every_image(images):
    for part in (images, images.double()):
        assert worst_norm(GREY.encode(part)) <= 1.0
        features = GREY.features(part)
        assert (features >= 0).all()
        assert features.isfinite().all()


def test_private_images_go_alone_and_leave_nothing_behind():
    assert goes_alone(LENS)
    check_pure(LENS.encode, (3, 8, 8), 16, "lens")
    check_pure(LENS.features, (3, 8, 8), LENS.n_features((3, 8, 8)), "lens")


def test_codes_are_means_of_the_last_maps():
    images = noise(2, 3, 12, 12)
    last = LENS.features(images)[:, -16 * 9 :].reshape(2, 16, 9).mean(dim=2)
    norms = last.norm(dim=1, keepdim=True)
    torch.testing.assert_close(LENS.encode(images), last / norms)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_precision_is_that_of_the_images(dtype):
    images = noise(2, 3, 8, 8, dtype=dtype)
    for lens in (LENS, LENS.double(), LENS.to(torch.device("cpu")), again(LENS)):
        assert lens.encode(images).dtype == lens.features(images).dtype == dtype
        torch.testing.assert_close(lens.encode(images), LENS.encode(images))


def test_images_have_slopes_and_weights_have_none():
    images = noise(2, 3, 8, 8).requires_grad_()
    LENS.features(images).sum().backward()
    assert images.grad.abs().sum() > 0
    assert not any(part.requires_grad for part in (*LENS.filters, *LENS.biases))


def test_codes_distinguish_what_labels_distinguish():
    """Nearest means of the codes of learnt images, on others."""
    lens = LabelLens.learn(stripes(KINDS), KINDS, width=8, n_epochs=8)
    images = torch.from_numpy(stripes(KINDS))[:, None]
    means = [lens.encode(images[k::2]).mean(dim=0) for k in (0, 1)]
    others = torch.from_numpy(stripes(KINDS, seed=1))[:, None]
    distances = torch.stack([(lens.encode(others) - m).norm(dim=1) for m in means])
    assert (distances.argmin(dim=0).numpy() == KINDS).mean() > 0.95


def test_norms_are_folded_into_filters():
    rng = np.random.default_rng(0)
    (convolution, *_), (norm, *_) = _layers(3, 4, rng)
    for value, low, high in (
        (norm.weight.data, 0.5, 2.0),
        (norm.bias.data, -1.0, 1.0),
        (norm.running_mean, -1.0, 1.0),
        (norm.running_var, 0.5, 2.0),
    ):
        value.copy_(torch.from_numpy(rng.uniform(low, high, value.shape)))
    images = noise(2, 3, 8, 8, dtype=torch.float32)
    filters, bias = _folded(convolution, norm.eval())
    found = nn.functional.conv2d(images, filters, bias, padding=1)
    torch.testing.assert_close(found, norm(convolution(images)))


def alike(one, other):
    """Return whether filters differ by rounding at most, as on more threads."""
    pairs = zip(one.filters, other.filters, strict=True)
    return all(torch.allclose(a, b, atol=1e-3) for a, b in pairs)


def test_public_images_labels_and_a_seed_decide_it():
    settings = {"width": 4, "n_epochs": 2}
    same = LabelLens.learn(PUBLIC, KINDS, **settings)
    named = LabelLens.learn(PUBLIC, np.array(["no", "yes"])[KINDS], **settings)
    other = LabelLens.learn(PUBLIC, KINDS, random_state=1, **settings)
    unlike = LabelLens.learn(PUBLIC, KINDS[::-1].copy(), **settings)
    facing = LabelLens.learn(PUBLIC, KINDS, is_mirrored=False, **settings)
    for lens in (same, named):
        assert alike(lens, LENS)
    for lens in (other, unlike, facing):
        assert not alike(lens, LENS)
    whole = np.rint(255 * PUBLIC).astype(np.uint8)
    pixels = LabelLens.learn(whole, KINDS, **settings)
    scaled = LabelLens.learn(whole / 255, KINDS, **settings)
    assert alike(pixels, scaled)


def test_nothing_global_is_drawn_from():
    torch.manual_seed(5)
    np.random.seed(5)  # noqa: NPY002 - the global state itself is what is tested
    before = torch.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
    LabelLens.learn(PUBLIC[:8], KINDS[:8], width=1, n_epochs=1)
    assert torch.equal(torch.get_rng_state(), before[0])
    assert (np.random.get_state()[1] == before[1]).all()  # noqa: NPY002


def test_it_is_saved_and_read():
    read = from_bytes(to_bytes(LENS))
    images = noise(2, 3, 8, 8)
    assert torch.equal(read.encode(images), LENS.encode(images))
    assert read.name == LENS.name
    assert LENS.name.endswith("learnt the labels of stripes, taken as public")


def test_ratios_are_learnt_by_it_and_can_be_saved(tmp_path):
    public = np.concatenate([PUBLIC, PUBLIC[:, :, ::-1]])
    dre = DPDRESynthesizer(10.0, lens=LENS, random_state=0)
    with same_noise():  # noise may decide that few rows count, which warns
        dre.fit(PUBLIC[KINDS == 0], public_data=public)
    dre.save(tmp_path / "ratio.skdpgen")
    assert dre.sample(3).shape == (3, 3, 12, 12)
    assert any(LENS.name in line for line in dre.privacy_.to_dict()["statements"])


def test_a_generator_learns_by_it():
    few = Generator(max_iter=2, pooling=2)
    synth = DPMEPFSynthesizer(10.0, lens=LENS, generator=few, classes=[0, 1])
    with same_noise():
        synth.fit(PUBLIC, KINDS)
    assert synth.sample(4)[0].shape == (4, 3, 12, 12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: LabelLens(LENS.filters[:4], LENS.biases[:4]), "filters must be 5"),
        (lambda: LabelLens(LENS.filters[::-1], LENS.biases), "filters must be 5"),
        (lambda: LabelLens(LENS.filters, LENS.biases[::-1]), "filters must be 5"),
        (lambda: LabelLens([1, 2, 3, 4, 5], LENS.biases), "filters must be 5"),
        (lambda: LENS.encode(noise(2, 1, 8, 8)), "must have 3 channels"),
        (lambda: LENS.n_features((3, 3, 8)), "4 pixels a side or more"),
        (lambda: LabelLens.learn(PUBLIC[:, :, :3], KINDS), "images must be of shape"),
        (lambda: LabelLens.learn(PUBLIC[:0], KINDS[:0]), "images must be of shape"),
        (lambda: LabelLens.learn(255 * PUBLIC, KINDS), "floats from 0 to 1"),
        (lambda: LabelLens.learn(np.nan * PUBLIC, KINDS), "floats from 0 to 1"),
        (lambda: LabelLens.learn(PUBLIC, KINDS[:5]), "one for each of 64"),
        (lambda: LabelLens.learn(PUBLIC, 0 * KINDS), "two or more kinds"),
        (lambda: LabelLens.learn(PUBLIC, KINDS, width=0), "must be positive"),
        (lambda: LabelLens.learn(PUBLIC, KINDS, n_epochs=0), "must be positive"),
    ],
)
def test_what_is_no_lens_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
