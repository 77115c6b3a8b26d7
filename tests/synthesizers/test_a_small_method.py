"""The least that a method that matches an embedding must have, of one kind of rows."""

from typing import ClassVar

import numpy as np
import pytest

from skdpgen import Chunks, Generator
from skdpgen.features import FourierFeatures
from skdpgen.synthesizers.base import EmbeddingSynthesizer
from skdpgen.synthesizers.embedding import RowKernel
from skdpgen.synthesizers.presets._settings import (
    OURS,
    OURS_IMAGES,
    ImageSettings,
    TableSettings,
)
from tests.synthesizers._tables import CASES, assert_obeys

PIXELS = np.random.default_rng(0).random((100, 8, 8))
FEW_STEPS = Generator(max_iter=2)


class Small(EmbeddingSynthesizer):
    def __init__(
        self,
        epsilon=10.0,
        delta=None,
        schema=None,
        classes=None,
        adjacency="replace",
        class_weight=None,
        task="auto",
        generator=FEW_STEPS,
        device="cpu",
        random_state=0,
        verbose=0,
    ):
        self.epsilon = epsilon
        self.delta = delta
        self.schema = schema
        self.classes = classes
        self.adjacency = adjacency
        self.class_weight = class_weight
        self.task = task
        self.generator = generator
        self.device = device
        self.random_state = random_state
        self.verbose = verbose


class OfTables(Small):
    _takes = ("tables",)
    _table_settings: ClassVar = TableSettings(**OURS)

    def _map_columns(self, cells, settings, rng):
        def draw(widths, are_numbers):
            return FourierFeatures.draw(widths, 20, rng=rng)

        return RowKernel.of(cells, draw, share=0.1)


class OfImages(Small):
    _takes = ("images",)
    _image_settings: ClassVar = ImageSettings(**OURS_IMAGES)

    def _map_pixels(self, n_pixels, settings, rng):
        return FourierFeatures.draw((n_pixels,), 20, rng=rng)


def test_one_of_tables_needs_no_settings_of_images():
    case = CASES["mixed"]
    synth = OfTables(schema=case.schema, classes=case.classes).fit(case.X, case.y)
    assert_obeys(synth.sample(20)[0], synth.schema_)
    with pytest.raises(ValueError, match=r"OfTables takes tables of two.*Got images"):
        synth.fit(PIXELS)


def test_one_of_images_needs_no_settings_of_tables():
    synth = OfImages().fit(PIXELS)
    assert synth.sample(3).shape == (3, 8, 8)
    with pytest.raises(ValueError, match=r"OfImages takes images of three.*Got tables"):
        synth.fit(PIXELS[0])


def test_what_cannot_be_saved_is_named(tmp_path):
    with pytest.raises(TypeError, match=r"name in files.*Got OfImages without"):
        OfImages().fit(PIXELS).save(tmp_path / "synth.npz")


@pytest.mark.parametrize("cls", [OfTables, OfImages])
def test_what_is_wrong_is_named_before_rows_are_looked_at(cls):
    def never():
        raise AssertionError("rows were read")

    with pytest.raises(ValueError, match="max_iter"):
        cls(generator=Generator(max_iter=-1)).fit(Chunks(never))
