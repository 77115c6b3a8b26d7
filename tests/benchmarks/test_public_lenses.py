"""Lenses that configurations name: stored filters, and classifiers by DP-SGD."""

import numpy as np
import pytest
import torch

from benchmarks.catalogue import CATALOGUE
from benchmarks.papers import PAPERS
from benchmarks.public_lenses import crops, photograph_lens, with_lens
from skdpgen.benchmark import BenchConfig
from skdpgen.lenses import PrivateClassifier
from skdpgen.privacy._accounting import gaussian_mu

IN_COLOUR = (
    "../reproductions/papers_cifar10",
    "dp_mepf/table_14_gpu",
    "dp_mepf/table_15_gpu",
    "dp_mepf/table_19_gpu",
)
OF_DIGITS = ("functional_rdp/table_1", "functional_rdp/table_3", "dp_ntk/figure_4")


def test_filters_of_photographs_are_stored():
    lens = with_lens({"lens": "photographs"})["lens"]
    assert lens.name == photograph_lens().name
    assert "10,000 crops of 8 public photographs" in lens.name
    assert lens.features(torch.rand(2, 3, 32, 32)).shape == (2, 2048)


@pytest.mark.parametrize("epsilon", [2, 5, 8])
def test_a_classifier_gets_its_part_of_ten(epsilon):
    lens = with_lens({"lens": f"classifier at {epsilon} of 10", "second_norm": 0.0})
    assert isinstance(lens["lens"], PrivateClassifier)
    part = (gaussian_mu(epsilon, 1e-5) / gaussian_mu(10, 1e-5)) ** 2
    assert lens["lens"].budget == pytest.approx(part, abs=5e-4)
    assert lens["second_norm"] == 0.0


def test_an_untrained_classifier_has_the_layers_of_a_trained_one():
    lens = with_lens({"lens": "untrained classifier"})["lens"]
    assert lens.name == "ResNet-20, untrained"
    images = torch.rand(2, 3, 32, 32, generator=torch.Generator().manual_seed(0))
    features = lens.features(images)
    assert features.shape == (2, 188_416)
    assert features.min() >= 0
    again = with_lens({"lens": "untrained classifier"})["lens"]
    torch.testing.assert_close(features, again.features(images))


def test_other_settings_are_left_alone():
    assert with_lens({"lens": "random"}) == {"lens": "random"}
    assert with_lens({}) == {}


def test_crops_are_of_one_size_and_repeat():
    photographs = [np.arange(90 * 70 * 3, dtype=np.uint8).reshape(90, 70, 3)]
    first, again = (crops(photographs, 4, side=16) for _ in range(2))
    assert first.shape == (4, 3, 16, 16)
    np.testing.assert_array_equal(first, again)


@pytest.mark.parametrize("name", [*IN_COLOUR, *OF_DIGITS])
def test_runs_of_images_are_as_the_runner_takes_them(name):
    config = BenchConfig.load(PAPERS / f"{name}.toml", CATALOGUE)
    assert config.sources[0].is_images
    assert config.methods
