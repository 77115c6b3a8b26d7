"""DP-MEPF: what it releases, what it stops at, and through which lenses."""

import numpy as np
import pytest
import torch
from torch import nn

from skdpgen import DPMEPFSynthesizer, load
from skdpgen.lenses import (
    CosineLens,
    ModuleLens,
    PrivateClassifier,
    ScatteringLens,
)
from skdpgen.synthesizers.embedding import _perceptual_kernel, _private_encoder
from skdpgen.synthesizers.gaussian import _pictures
from skdpgen.utils import Key
from tests._made import made
from tests.guards._doors import Spy, Tape, through

LENS = ScatteringLens(n_scales=1, n_angles=2, order=1)
RNG = np.random.default_rng(0)
N = 300
KEYS = ("features", "classes")
LABELS = RNG.integers(0, 2, N)


def stripes():
    """Images of 8 x 8 with a bright half: the left one, or the upper one."""
    images = RNG.random((N, 8, 8)) * 0.3
    images[LABELS == 0, :, :4] += 0.6
    images[LABELS == 1, :4] += 0.6
    return images


IMAGES = stripes()


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(_pictures, "N_DRAWN", (200, 200))
    monkeypatch.setattr(_private_encoder, "STEPS", 3)
    monkeypatch.setattr(_perceptual_kernel, "N_WAVES", 200)


def make(**params):
    usual = {
        "epsilon": 20.0,
        "classes": [0, 1],
        "lens": LENS,
        "max_iter": 150,
        "batch_size": 40,
        "hidden_layer_sizes": (16,),
        "augmentation": None,
        "random_state": 0,
    }
    return made(DPMEPFSynthesizer, **usual | params)


def fitted(y=LABELS, **params):
    return make(**params).fit(IMAGES, y)


def paid(synth):
    """Return the releases behind the one of the range of pixels."""
    return synth.privacy_.releases[1:]


def names(synth):
    return [entry.name for entry in paid(synth)]


@pytest.mark.parametrize(
    ("loss", "precision"),
    [("distance", "float32"), ("moving_average", "float32"), ("distance", "mixed")],
)
def test_images_of_a_class_look_like_it(loss, precision):
    synth = fitted(loss=loss, generator__precision=precision)
    X, y = synth.sample(200, random_state=0)
    means = [X[y == label].mean(axis=0) for label in (0, 1)]
    assert means[0][:, :4].mean() > means[0][:, 4:].mean() + 0.3
    assert means[1][:4].mean() > means[1][4:].mean() + 0.3


def test_one_release_with_one_noise_is_all_there_is():
    synth = fitted()
    assert names(synth) == ["mean embedding of 64 pixels by class"]
    assert paid(synth)[0].sensitivity == pytest.approx(np.sqrt(3.5))
    width = 2 * LENS.n_features((1, 8, 8)) + _perceptual_kernel.N_WAVES
    assert synth.release_.values[Key.FEATURES].shape == (2, width)


def test_without_pixels_it_is_the_lens_and_squares_alone():
    synth = fitted(pixel_norm=0, max_iter=2)
    assert paid(synth)[0].sensitivity == pytest.approx(np.sqrt(2.2))
    width = 2 * LENS.n_features((1, 8, 8))
    assert synth.release_.values[Key.FEATURES].shape == (2, width)


def test_means_alone_are_half_as_many():
    synth = fitted(second_norm=0, pixel_norm=0)
    width = LENS.n_features((1, 8, 8))
    assert synth.release_.values[Key.FEATURES].shape == (2, width)


def test_signed_layers_are_charged_as_such():
    lens = ModuleLens(nn.Conv2d(1, 2, 3), layers=("",), name="edges")
    synth = fitted(lens=lens, max_iter=2, pixel_norm=0.2)
    moved = 4 * 0.4 + 2 * 0.4 + 4 * 0.2
    assert paid(synth)[0].sensitivity == pytest.approx(np.sqrt(moved))
    assert "lens: edges, given by the user" in str(synth.privacy_)


def test_what_training_stops_at_is_paid_for():
    synth = fitted(stopping_budget=0.05)
    stopping, whole = paid(synth)
    assert stopping.name == "means and squares of codes by class, to stop by"
    parts = [(one.sensitivity / one.noise_std) ** 2 for one in (stopping, whole)]
    assert parts[0] / sum(parts) == pytest.approx(0.05)
    found = synth.stopping_release_.values[Key.FEATURES]
    np.testing.assert_array_equal(synth.kernel_.stopping, found)


def test_both_moments_of_codes_are_released():
    synth = fitted(stopping_budget=0.05, epsilon=float("inf"), max_iter=2)
    kernel = synth.kernel_
    codes = kernel.codes(kernel.view(torch.as_tensor(IMAGES).float().flatten(1)))
    moments = torch.cat([codes, codes.square() / 2**0.5], dim=1).numpy()
    sums = np.stack([moments[label == LABELS].sum(axis=0) for label in (0, 1)])
    np.testing.assert_allclose(kernel.stopping, sums, atol=1e-3)


def test_the_best_checkpoint_is_kept_and_found_again():
    synth = fitted(stopping_budget=0.05)
    before = synth.sample(20, random_state=1)[0]
    np.testing.assert_array_equal(synth.retrain().sample(20, random_state=1)[0], before)
    assert synth.n_iter_ == 150


def test_rows_vote_on_deformations():
    synth = fitted(augmentation="auto")
    assert names(synth)[-1] == "which deformations teach most"
    assert synth.deformations_ in _pictures.MILD_CHOICES
    votes = synth.votes_.values[Key.FEATURES][0]
    assert synth.deformations_ == _pictures.MILD_CHOICES[votes.argmax()]
    assert len(names(fitted(y=None, classes=None, augmentation="auto"))) == 1


def test_samples_are_deformed_as_the_augmentation_says():
    plain, bent = fitted(max_iter=2), fitted(max_iter=2, augmentation="deformations")
    one, two = (s.sample(50, random_state=0)[0] for s in (plain, bent))
    assert names(plain) == names(bent)
    assert np.abs(one - two).max() > 0.05


def test_a_private_lens_is_trained_and_paid_for():
    synth = fitted(lens="private", max_iter=2)
    assert names(synth)[0].startswith("auto-encoder, by DP-SGD")
    assert not any("lens:" in line for line in str(synth.privacy_).splitlines())
    assert synth.kernel_.codes is None
    assert synth.kernel_.phi.maps[0].n_features == 2 * (200 + 50)


def test_a_classifier_is_trained_and_paid_for(tmp_path):
    training = PrivateClassifier(n_steps=2, sampling_rate=0.05, budget=0.3)
    synth = fitted(lens=training, max_iter=2, pixel_norm=0.0)
    steps, whole = paid(synth)
    assert steps.name == "classifier of images, by DP-SGD"
    assert (steps.n_steps, steps.sampling_rate) == (2, 0.05)
    assert whole.sensitivity == pytest.approx(np.sqrt(2.2))  # no feature is negative
    lens = synth.kernel_.phi.lens
    assert (lens.features(torch.rand(2, 1, 8, 8)) >= 0).all()
    synth.save(tmp_path / "mepf.skdpgen")
    one, two = (
        s.sample(9, random_state=0)[0] for s in (synth, load(tmp_path / "mepf.skdpgen"))
    )
    np.testing.assert_array_equal(one, two)


def test_a_classifier_needs_labels_and_says_so_before_a_release():
    X = np.random.default_rng(0).random((50, 8, 8))
    synth = DPMEPFSynthesizer(lens="private_classifier", random_state=0)
    with pytest.raises(ValueError, match="lens must be another one for images without"):
        synth.fit(X)
    assert not hasattr(synth, "privacy_")


@pytest.mark.parametrize(
    "params",
    [
        {"budget": 1.0},
        {"max_grad_norm": 0.0},
        {"n_steps": 0},
        {"n_steps": 2.5},
        {"n_steps": float("nan")},
        {"n_steps": True},
    ],
    ids=repr,
)
def test_wrong_settings_of_a_classifier_are_named(params):
    (name,) = params
    with pytest.raises(ValueError, match=f"{name} must be"):
        PrivateClassifier(**params)


def test_a_file_draws_the_same(tmp_path):
    synth = fitted(max_iter=2, stopping_budget=0.1)
    synth.save(tmp_path / "mepf.npz")
    one, two = (
        s.sample(9, random_state=0)[0] for s in (synth, load(tmp_path / "mepf.npz"))
    )
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_no_image_moves_a_rare_class_further(adjacency, monkeypatch):
    def sums(images, y):
        spy = Spy()
        with through(monkeypatch, Tape()), spy.watching(monkeypatch):
            make(adjacency=adjacency, max_iter=1).fit(images, y)
        return spy.releases[-1]

    dark, bright = np.zeros((40, 8, 8)), np.zeros((8, 8))
    dark[:, 2, 2], bright[5, 5] = 1.0, 1.0
    y = np.array([0] * 38 + [1] * 2)
    one = sums(dark, y)
    if adjacency == "replace":
        dark[-1] = bright
        others = [sums(dark, y), sums(dark, np.append(y[:-1], 0))]
    else:
        others = [sums(dark[:-1], y[:-1])]
    for other in others:
        far = [np.linalg.norm(one.exact[k] - other.exact[k]) / one.std[k] for k in KEYS]
        assert np.hypot(*far) / one.mu <= 1 + 1e-9


@pytest.mark.parametrize(
    ("params", "images", "message"),
    [
        ({"lens": CosineLens()}, IMAGES, "must have features to compare images by"),
        ({"lens": "vgg19"}, IMAGES, r"Give it as `VGG19Lens\(weights\)`"),
        ({"network": "private"}, IMAGES, "network must be one of 'full', 'upsample'"),
        ({}, IMAGES[:, :4, :4], "at least 8 pixels a side"),
        ({"second_norm": 1.0}, IMAGES, "second_norm"),
    ],
    ids=["decodes", "no weights", "no effect", "tiny", "squares alone"],
)
def test_wrong_ways_are_told_before_anything_is_paid(params, images, message):
    synth = make(**params, classes=None)  # else they are found first, for a price
    with pytest.raises(ValueError, match=message):
        synth.fit(images, LABELS)
    assert not hasattr(synth, "privacy_")


def test_through_a_network_of_the_user():
    torch.manual_seed(0)
    module = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.ReLU())
    synth = fitted(lens=module, max_iter=5)
    assert synth.sample(4)[0].shape == (4, 8, 8)
