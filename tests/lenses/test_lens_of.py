"""What a user may give as a lens, and what is said to the rest."""

import pytest
import torch
from torch import nn

from skdpgen.lenses import (
    CosineLens,
    Decoding,
    Lens,
    ModuleLens,
    Perceptual,
    RandomLens,
    ResNet18Lens,
    ScatteringLens,
    ShippedLens,
    VGG19Lens,
    lens_of,
)
from skdpgen.utils import NAMES, SAVED, PlainReader, from_bytes, to_bytes
from tests.lenses._images import again, noise
from tests.lenses._thin import THIN

LENSES = {
    "cosine": CosineLens(20, 0.5, 0.4),
    "scattering": ScatteringLens(1, 3, 1),
    "random": RandomLens((3, 4), 1),
    "shipped": ShippedLens(),
    "module": ModuleLens(nn.Flatten(), nn.Unflatten(1, (1, 8, 8)), "flat", 9.0),
    **THIN,
}
each_lens = pytest.mark.parametrize("kind", LENSES)


def test_names_stand_for_defaults():
    assert lens_of("cosine") == CosineLens()
    assert lens_of("scattering") == ScatteringLens()


@each_lens
def test_a_lens_is_itself(kind):
    assert lens_of(LENSES[kind]) is LENSES[kind]


@each_lens
def test_a_lens_offers_what_it_says(kind):
    lens = LENSES[kind]
    assert isinstance(lens, Lens)
    assert lens.name
    if lens.has_decoder:
        assert isinstance(lens, Decoding)
    if lens.has_features:
        assert isinstance(lens, Perceptual)
    assert lens.is_opaque == (kind == "module")


def test_modules_and_pairs_become_lenses():
    module, images = nn.Flatten(), noise(2, 1, 8, 8)
    assert not lens_of(module).has_decoder
    for pair in ((module, nn.Unflatten(1, (1, 8, 8))), [torch.flatten, abs]):
        assert lens_of(pair).has_decoder
    assert lens_of(module).encode(images).shape == (2, 64)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (
            "cosines",
            ValueError,
            "'scattering', 'shipped', or a value. Got 'cosines'",
        ),
        ("vgg19", ValueError, r"needs weights.*`VGG19Lens\(weights\)`"),
        ("resnet18", ValueError, r"needs weights.*`ResNet18Lens\(weights\)`"),
        (CosineLens, TypeError, r"not its class. Write `CosineLens\(...\)`"),
        (3, TypeError, "a pair of an encoder and a decoder. Got int"),
        (None, TypeError, "Got NoneType"),
        ((abs, abs, abs), TypeError, "Got tuple"),
        ((3, abs), TypeError, "encoder must be callable"),
    ],
    ids=str,
)
def test_the_rest_is_told_what_a_lens_is(given, error, message):
    with pytest.raises(error, match=message):
        lens_of(given)


def test_what_is_needed_must_be_there():
    assert lens_of("cosine", needs_decoder=True).has_decoder
    assert lens_of("scattering", needs_features=True).has_features
    with pytest.raises(ValueError, match=r"a way back from codes to images\. Got 'wav"):
        lens_of("scattering", needs_decoder=True)
    with pytest.raises(ValueError, match=r"features to compare images by\. Got 'low"):
        lens_of("cosine", needs_features=True)


@each_lens
def test_fields_are_all_that_a_lens_is(kind):
    lens, images = LENSES[kind], noise(3, 1, 8, 8)
    assert again(lens).name == lens.name
    assert torch.equal(again(lens).encode(images), lens.encode(images))


@pytest.mark.parametrize("kind", ["cosine", "scattering", "vgg", "resnet"])
def test_a_lens_can_be_written_and_read(kind):
    lens, images = LENSES[kind], noise(3, 1, 8, 8)
    found = from_bytes(to_bytes(lens))
    assert type(found) is type(lens)
    assert torch.equal(found.encode(images), lens.encode(images))


def test_all_lenses_are_saved_by_name_but_modules_are_refused():
    for lens in (CosineLens, ScatteringLens, VGG19Lens, ResNet18Lens):
        assert SAVED[NAMES[lens]] is lens
    with pytest.raises(TypeError, match=r"never holds code\. Got ModuleLens"):
        to_bytes(LENSES["module"])


def test_a_file_cannot_name_another_file_as_weights():
    fields = {"weights": "elsewhere.pth", "side": 32}
    with pytest.raises(ValueError, match="must have its weights there"):
        PlainReader({}).value({"object": "lens.vgg19", "fields": fields})
