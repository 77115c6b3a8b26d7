"""A lens that DP-SGD trains by labels: rows are known by its steps and releases alone.

It is a network of twenty layers, so it is not among the variants of all other guards.
"""

import pytest

from skdpgen import DPMEPFSynthesizer
from skdpgen.lenses import PrivateClassifier
from skdpgen.networks import _convolutional
from tests.guards import _variants
from tests.guards.test_replay import IMAGES, check


@pytest.fixture(autouse=True)
def thin(monkeypatch):
    monkeypatch.setattr(_convolutional, "RESNET20_WIDTHS", (8, 8, 8))
    monkeypatch.setattr(_convolutional.ResNet20, "width", 8)


@pytest.mark.slow
@pytest.mark.parametrize("to", ["replace", "add_remove, strangers"])
def test_images_are_known_by_steps_and_releases_alone(to, monkeypatch):
    make = _variants.maker(
        DPMEPFSynthesizer,
        **_variants.small_images(DPMEPFSynthesizer)
        | {
            "lens": PrivateClassifier(n_steps=1, sampling_rate=0.05),
            "pixel_norm": 0.0,
            "augmentation": None,
        },
    )
    check(make, IMAGES["images"], to, monkeypatch)
