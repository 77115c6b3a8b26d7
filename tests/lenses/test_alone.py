"""Lenses of users: what they do for one image moves no other, and shows nowhere."""

import math
import warnings

import numpy as np
import pytest
import torch
from torch import nn

from skdpgen import (
    DPDRESynthesizer,
    DPMEPFSynthesizer,
    DPMGESynthesizer,
    DPNTKSynthesizer,
    Generator,
)
from skdpgen.lenses import CosineLens, ModuleLens, PerceptualMap
from skdpgen.lenses._unit_means import check_pure
from skdpgen.synthesizers.embedding._feature_map import Mapper
from skdpgen.synthesizers.gaussian._lens_map import PublicBasis, encoder
from skdpgen.tables import Chunks

SIDE, ROW = 8, 7  # the row that differs, and is white
SHAPE = (1, SIDE, SIDE)
CPU = torch.device("cpu")
PIXELS = np.random.default_rng(0).random((12, SIDE**2))
OTHERS = np.arange(len(PIXELS)) != ROW


def neighbour():
    pixels = PIXELS.copy()
    pixels[ROW] = 1.0
    return pixels


def is_white(images):
    return bool((images >= 1.0).all())


class Social(CosineLens):
    """Halves all codes of a batch in which an image is white, and hides that."""

    is_opaque = False

    def encode(self, images):
        is_any_white = (images.flatten(1).amin(dim=1) >= 1.0).any()
        return super().encode(images) * (0.5 if is_any_white else 1.0)


def raises(images):
    if is_white(images):
        raise ValueError(f"white: {images.tolist()}")
    return images.flatten(1)


def reshapes(images):
    return images.flatten(1)[:, : 3 if is_white(images) else None]


def doubles_rows(images):
    return images.flatten(1).repeat(2 if is_white(images) else 1, 1)


def warns(images):
    if is_white(images):
        warnings.warn("white", stacklevel=1)
    return images.flatten(1)


def divides(images):
    """As a lens that is written with numpy: 1 / 0 warns, and gives infinity."""
    found = 1.0 / (1.0 - images.flatten(1).numpy().max(axis=1, keepdims=True))
    return torch.from_numpy(found) / 1e6


FAILING = [raises, reshapes, doubles_rows, divides]


def codes(lens, pixels):
    return encoder(lens, SHAPE)(pixels)


def test_a_class_of_a_user_sees_images_one_by_one_whatever_it_says():
    lens = Social(20, radius=30.0)
    moved = np.abs(codes(lens, PIXELS) - codes(lens, neighbour())).max(axis=1) > 0
    assert moved.tolist() == (~OTHERS).tolist()


def test_maps_of_such_a_class_see_images_one_by_one():
    lens = Social(20)
    assert PerceptualMap(lens, SHAPE).is_opaque
    assert PublicBasis.of(PIXELS.reshape(-1, SIDE, SIDE), lens, 3).is_opaque
    assert not PublicBasis.of(
        PIXELS.reshape(-1, SIDE, SIDE), CosineLens(20), 3
    ).is_opaque


@pytest.mark.parametrize("function", [*FAILING, warns], ids=lambda f: f.__name__)
def test_a_lens_that_fails_on_one_image_says_nothing_of_it(function):
    lens = ModuleLens(function, radius=20.0)
    seen, other = codes(lens, PIXELS), codes(lens, neighbour())  # warnings are errors
    np.testing.assert_array_equal(seen[OTHERS], other[OTHERS])
    assert seen[ROW].any()
    assert other[ROW].any() == (function is warns)


class Failing(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function, self.relu = function, nn.ReLU()

    def forward(self, images):
        return self.relu(self.function(images))


@pytest.mark.parametrize("function", FAILING[:2], ids=lambda f: f.__name__)
def test_features_that_fail_on_one_image_say_nothing_of_it(function):
    lens = ModuleLens(Failing(function))
    mapper = Mapper.of(PerceptualMap(lens, SHAPE), CPU)
    seen, other = mapper(PIXELS).numpy(), mapper(neighbour()).numpy()
    np.testing.assert_array_equal(seen[OTHERS], other[OTHERS])
    assert not other[ROW].any()


def test_an_interrupt_is_no_failure_of_a_lens():
    def interrupted(images):
        if is_white(images):
            raise KeyboardInterrupt
        return images.flatten(1)

    with pytest.raises(KeyboardInterrupt):
        codes(ModuleLens(interrupted), neighbour())


# ------------------------------------------------- tried before it sees private rows


class Dropout(nn.Module):
    """Draws random numbers although it is set to evaluate."""

    def __init__(self):
        super().__init__()
        self.relu = nn.ReLU()

    def forward(self, images):
        return self.relu(nn.functional.dropout(images.flatten(1)))


class Running(nn.Module):
    """Subtracts a running mean of what it saw."""

    def __init__(self):
        super().__init__()
        self.relu, self.mean = nn.ReLU(), 0.0

    def forward(self, images):
        self.mean = 0.99 * self.mean + 0.01 * images.mean()
        return self.relu(images.flatten(1) - self.mean)


class Counting(nn.Module):
    """Looks away after the third image."""

    def __init__(self):
        super().__init__()
        self.relu, self.n_seen = nn.ReLU(), 0

    def forward(self, images):
        self.n_seen += 1
        return self.relu(images.flatten(1) * (self.n_seen < 5))


def back(codes):
    return codes[:, :1].expand(-1, SIDE**2)


PUBLIC = PIXELS.reshape(-1, SIDE, SIDE).astype(np.float32)
USES = {
    "DPMGE": lambda module: DPMGESynthesizer(lens=(module, back)),
    "DPMEPF": lambda module: DPMEPFSynthesizer(
        lens=module, generator=Generator(max_iter=1)
    ),
    "DPDRE": lambda module: DPDRESynthesizer(lens=module),
}
BESIDE = {"DPDRE": {"public_data": PUBLIC}}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("module", [Dropout, Running, Counting])
def test_a_lens_that_is_not_pure_is_refused_before_anything_is_paid(use, module):
    # dropout keeps the same 64 pixels 8 times with a probability below 1e-100
    synth = USES[use](module())
    with pytest.raises(ValueError, match="same result whatever it saw before"):
        synth.fit(np.zeros((20, SIDE, SIDE), dtype=np.float32), **BESIDE.get(use, {}))
    assert not hasattr(synth, "privacy_")
    if use == "DPMEPF":  # which reads chunks, too
        images = np.zeros((20, SIDE, SIDE), dtype=np.float32)
        with pytest.raises(ValueError, match="same result whatever it saw before"):
            synth.fit(Chunks(lambda: [(images, None)]))
        assert not hasattr(synth, "privacy_")


class Comparing(CosineLens):
    """Encodes by what it saw before; its features do not."""

    is_opaque = is_nonnegative = has_features = True

    def encode(self, images):
        last = self.__dict__.get("last", 0.0)
        self.__dict__["last"] = float(images.mean())
        return super().encode(images) * (1.0 - last)

    def n_features(self, shape):
        return math.prod(shape)

    def features(self, images):
        return images.flatten(1)


def test_codes_to_stop_by_are_tried_as_features_are():
    synth = DPMEPFSynthesizer(
        lens=Comparing(), generator=Generator(max_iter=1), stopping_budget=0.2
    )
    with pytest.raises(ValueError, match="same result whatever it saw before"):
        synth.fit(np.zeros((20, SIDE, SIDE), dtype=np.float32))
    assert not hasattr(synth, "privacy_")


class Tiring(nn.Module):
    """A network whose gradients are those of another after 20 rows."""

    def __init__(self, n_inputs):
        super().__init__()
        self.linear, self.n_seen = nn.Linear(n_inputs, 4), 0

    def forward(self, rows):
        self.n_seen += len(rows)
        return self.linear(rows) ** (2 if self.n_seen < 15 else 3)


def test_a_network_of_a_user_is_tried_before_anything_is_paid():
    synth = DPNTKSynthesizer(architecture=Tiring, generator=Generator(max_iter=1))
    with pytest.raises(ValueError, match="architecture must give an input the same"):
        synth.fit(np.zeros((20, SIDE, SIDE), dtype=np.float32))
    assert not getattr(getattr(synth, "privacy_", None), "releases", ())


def test_a_width_that_is_not_that_of_a_black_image_is_named():
    def function(images):
        return images.flatten(1)[:, : 3 if not images.any() else None]

    with pytest.raises(ValueError, match=r"lens must return 3 numbers .*\(1, 64\)"):
        codes(ModuleLens(function), PIXELS)


def test_a_map_that_is_pure_passes():
    check_pure(lambda rows: 0.0 * rows, (3,), 3, "lens")
    check_pure(lambda rows: torch.tanh(rows), (3,), 3, "lens")
    codes(ModuleLens(nn.Sequential(nn.Flatten(), nn.BatchNorm1d(64))), PIXELS)
