"""Scores of synthetic images: accuracies, and how near they are to real ones."""

import sys
from functools import partial
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch
from scipy import linalg
from sklearn.base import clone
from sklearn.datasets import load_digits

from skdpgen.metrics import (
    CLASSIFIERS,
    Extractor,
    SyntheticUtility,
    _image_networks,
    image_fidelity,
    inception_features,
    random_features,
)
from skdpgen.metrics._image_fidelity import (
    different_bins,
    frechet_distance,
    precision_recall,
)
from skdpgen.metrics._image_networks import (
    Dropout,
    ImageCNN,
    ResNet9,
    StridedCNN,
)
from skdpgen.metrics._models import IMAGE_NETWORKS
from skdpgen.networks._classifier_training import augmented
from tests.metrics._fakes import Bootstrap

FAST = ("cnn", "logistic_regression")
MEAN = Extractor("mean colour", lambda images: images.mean(dim=(2, 3)))


@pytest.fixture(scope="module")
def digits():
    images, y = load_digits(return_X_y=True)
    return (images / 16).astype("float32").reshape(-1, 8, 8), y


@pytest.fixture(scope="module")
def halves(digits):
    images, _ = digits
    return images[::2], images[1::2]


@pytest.fixture
def short(monkeypatch):
    """The network of the utility with a tenth of its steps."""
    monkeypatch.setitem(IMAGE_NETWORKS["cnn"].settings, "max_iter", 100)


def noise(shape=(8, 8), n=200, seed=0):
    return np.random.default_rng(seed).random((n, *shape)).astype("float32")


def fitted(shape=(1, 8, 8), max_iter=5, random_state=0, n_classes=3):
    X = noise((int(np.prod(shape)),), n=30)
    return ImageCNN(shape, max_iter, random_state).fit(X, np.arange(30) % n_classes), X


# ---------------------------------------------------------------------- utility


def test_images_are_judged_by_their_accuracy(digits, short):
    X, y = digits
    utility = SyntheticUtility(classifiers=FAST)
    scores = utility.evaluate((X[:1000], y[:1000]), X[1000:], y[1000:])
    assert list(scores.index) == list(FAST)
    assert scores.attrs["metric"] == "accuracy"
    assert scores.attrs["protocol"] == "images"
    assert scores.attrs["version"] == "images-1"
    assert scores["accuracy"].min() > 0.9
    assert utility.summary(scores)["mean"] == scores["accuracy"].mean()


@pytest.mark.parametrize(
    ("protocol", "name", "least"),
    [("modern", "images", 0.5), ("paper", "images_paper", 0.1)],
)
def test_all_twelve_models_learn_images_and_the_network_is_asked_for_by_name(
    digits, protocol, name, least
):
    X, y = digits
    utility = SyntheticUtility(protocol=protocol)
    scores = utility.evaluate((X[:300], y[:300]), X[1000:], y[1000:])
    assert list(scores.index) == list(CLASSIFIERS[name])
    assert scores.attrs["protocol"] == name
    assert len(scores) == 12
    assert (scores["note"] == "").all()
    assert scores["accuracy"].min() > least


def test_two_classes_are_ranked_by_their_probability(digits, short):
    X, y = digits
    y = np.where(y % 2, "odd", "even")
    utility = SyntheticUtility(classifiers=FAST)
    scores = utility.evaluate((X[:1000], y[:1000]), X[1000:], y[1000:])
    assert scores.attrs["metric"] == "accuracy"
    assert scores.attrs["positive_class"] == "odd"
    assert (scores["roc_auc"] > scores["accuracy"]).all()
    assert scores.loc["cnn", "roc_auc"] > 0.95


def test_each_protocol_has_models_of_its_own_for_images(digits):
    X, y = digits
    modern, paper = (
        SyntheticUtility(protocol, classifiers=["lda"]).evaluate((X, y), X, y)
        for protocol in ("modern", "paper")
    )
    assert (modern.attrs["version"], paper.attrs["version"]) == (
        "images-1",
        "images-paper-1",
    )
    assert modern["accuracy"].item() > paper["accuracy"].item()  # shrunk by half


def test_an_estimator_of_images_is_scored_by_what_it_samples(digits):
    X, y = digits
    utility = SyntheticUtility(n_samples=500, classifiers=["lda"])
    assert utility(Bootstrap().fit(X, y), X, y) > 0.85
    assert utility(Bootstrap(shuffle=True).fit(X, y), X, y) < 0.3


def test_another_metric_can_be_chosen(digits):
    X, y = digits
    utility = SyntheticUtility(classifiers=["lda"], metric="macro_f1", n_samples=300)
    scores = utility.evaluate((X, y), X, y)
    assert scores.attrs["metric"] == "macro_f1"
    assert utility.summary(scores)["mean"] == scores["macro_f1"].mean()


@pytest.mark.parametrize(
    "change",
    [
        lambda images: images / np.float32(255),
        lambda images: images[:, None],
        torch.from_numpy,
    ],
    ids=["float", "channel", "torch"],
)
def test_dtype_and_container_do_not_change_a_score(digits, change):
    X, y = digits
    X = (255 * X).astype(np.uint8)
    utility = SyntheticUtility(classifiers=["lda"])
    expected = utility.evaluate((X[:500], y[:500]), X[500:], y[500:])
    found = utility.evaluate((X[:500], y[:500]), change(X[500:]), y[500:])
    pd.testing.assert_frame_equal(found, expected)


def test_images_without_a_label_are_left_out(digits):
    X, y = digits
    holes = np.where(np.arange(len(y)) % 3 > 0, y.astype(object), None)
    known = pd.notna(holes)
    utility = SyntheticUtility(classifiers=["lda"])
    expected = utility.evaluate((X[known], y[known]), X[known], y[known])
    found = utility.evaluate((X, holes), X, holes)
    pd.testing.assert_frame_equal(found, expected)


@pytest.mark.parametrize("shape", [(9, 8), (3, 8, 8)])
def test_real_and_synthetic_images_have_one_size(shape):
    y = np.arange(200) % 2
    with pytest.raises(ValueError, match="Images must have one size"):
        SyntheticUtility().evaluate((noise(), y), noise(shape), y)


def test_numbers_are_no_target_of_images():
    y = np.arange(200) % 2
    with pytest.raises(ValueError, match=r"Images, .* are scored by classes"):
        SyntheticUtility().evaluate((noise(), y), noise(), y.astype(float))
    asked = SyntheticUtility(classifiers=["lda"], task="classification")
    scores = asked.evaluate((noise(), y), noise(), y.astype(float))
    assert scores.attrs["task"] == "binary"


@pytest.mark.parametrize(
    ("X", "name"), [(noise(), "ridge"), (noise()[:, 0], "cnn")], ids=["images", "table"]
)
def test_models_of_something_else_are_refused(X, name):
    y = np.arange(200) % 2
    with pytest.raises(ValueError, match=r"classifiers \(task binary\) must be one"):
        SyntheticUtility(classifiers=[name]).evaluate((X, y), X, y)


def test_scores_repeat_and_leave_the_global_state_alone(digits, short):
    X, y = digits
    utility, state = SyntheticUtility(classifiers=FAST), torch.get_rng_state()
    one, two = (utility.evaluate((X[:99], y[:99]), X, y) for _ in range(2))
    pd.testing.assert_frame_equal(one, two)
    assert torch.equal(torch.get_rng_state(), state)


# ---------------------------------------------------------------------- network


@pytest.mark.parametrize("labels", [np.arange(10), np.array(list("jihgfedcba"))])
def test_the_network_learns_digits_whatever_they_are_called(digits, labels):
    X, y = digits[0].reshape(-1, 64), labels[digits[1]]
    cnn = ImageCNN((1, 8, 8), max_iter=100, random_state=0).fit(X[:1000], y[:1000])
    assert cnn.classes_.tolist() == sorted(labels.tolist())
    assert cnn.predict(X[1000:]).dtype == labels.dtype
    assert cnn.score(X[1000:], y[1000:]) > 0.85


@pytest.mark.parametrize("shape", [(1, 8, 8), (1, 9, 13), (4, 8, 8), (3, 32, 32)])
def test_the_network_takes_any_size(shape):
    cnn, X = fitted(shape)
    shares = cnn.predict_proba(X)
    assert shares.shape == (30, 3)
    np.testing.assert_allclose(shares.sum(axis=1), 1, rtol=1e-6)
    np.testing.assert_array_equal(cnn.predict(X), shares.argmax(axis=1))


def test_the_network_is_decided_by_its_seed_alone():
    state = torch.get_rng_state()
    one, two, other = (fitted(random_state=seed) for seed in (0, 0, 1))
    assert torch.equal(torch.get_rng_state(), state)
    with torch.random.fork_rng():
        torch.manual_seed(77)
        elsewhere = fitted()
    first, *same, different = (
        cnn.predict_proba(X) for cnn, X in (one, two, elsewhere, other)
    )
    for shares in same:
        np.testing.assert_array_equal(shares, first)
    assert not np.array_equal(different, first)


def test_a_prediction_does_not_depend_on_the_other_rows():
    cnn, X = fitted()
    many = np.tile(X, (50, 1))  # more than are predicted at once
    together = cnn.predict_proba(many)
    np.testing.assert_allclose(together[-1:], cnn.predict_proba(X[-1:]), rtol=1e-5)


def test_the_network_is_an_estimator():
    cnn = clone(ImageCNN((1, 8, 8), max_iter=7, random_state=3))
    given = {"shape": (1, 8, 8), "max_iter": 7, "random_state": 3, "device": "auto"}
    assert cnn.get_params() == given


# --------------------------------------------------------- networks of the papers

OF_PAPERS = {
    "small_cnn": partial(StridedCNN, max_iter=150),
    "resnet9": partial(ResNet9, max_iter=40, width=4, batch_size=32),
}


def coloured(n=240, side=16, seed=0):
    """Images of two classes that differ in colour, but not in brightness."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    images = 0.5 + 0.1 * rng.normal(size=(n, 3, side, side))
    images[:, 0] += 0.2 * (2 * y - 1)[:, None, None]
    images[:, 2] -= 0.2 * (2 * y - 1)[:, None, None]
    return images.clip(0, 1).reshape(n, -1).astype(np.float32), y


@pytest.mark.parametrize("name", OF_PAPERS)
def test_networks_of_papers_learn_colours(name):
    X, y = coloured()
    judge = OF_PAPERS[name]((3, 16, 16), random_state=0).fit(X, y)
    assert judge.score(*coloured(seed=1)) > 0.9


@pytest.mark.parametrize("name", OF_PAPERS)
def test_networks_of_papers_are_decided_by_their_seed_alone(name):
    (X, y), state = coloured(60), torch.get_rng_state()
    make = partial(OF_PAPERS[name], (3, 16, 16), max_iter=3)
    first, same, other = (
        make(random_state=seed).fit(X, y).predict_proba(X) for seed in (0, 0, 1)
    )
    assert torch.equal(torch.get_rng_state(), state)
    np.testing.assert_array_equal(first, same)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("name", ["small_cnn", "resnet9", "resnet9_thin"])
def test_judges_of_papers_are_asked_for_by_name(name, monkeypatch):
    monkeypatch.setitem(IMAGE_NETWORKS[name].settings, "max_iter", 1)
    X, y = coloured(20)
    images = X.reshape(-1, 3, 16, 16)
    scores = SyntheticUtility(classifiers=[name]).evaluate((images, y), images, y)
    assert scores.loc[name, "note"] == ""


def test_a_dropped_map_keeps_its_mean():
    maps = torch.ones(400, 50)
    dropped = Dropout(torch.Generator().manual_seed(0))
    assert set(dropped(maps).unique().tolist()) == {0.0, 2.0}
    assert torch.equal(dropped.eval()(maps), maps)


def test_augmented_images_are_moved_mirrored_and_cut():
    images = torch.arange(1.0, 17.0).expand(200, 3, 12, 16).contiguous()
    out = augmented(images, np.random.default_rng(0))
    assert out.shape == images.shape
    assert (out == 0).flatten(1).any(dim=1).all()  # the square that is cut
    rising = (out[:, 0].diff(dim=2) > 0).float().mean(dim=(1, 2)) > 0.5
    assert 0 < int(rising.sum()) < 200  # some are mirrored and some are not


def test_judges_leave_no_tensor_on_another_device(monkeypatch):
    """On "meta" tensors have a device and a shape and no values."""
    monkeypatch.setattr(_image_networks, "pick_device", lambda _: torch.device("meta"))
    monkeypatch.setattr(torch.Tensor, "item", lambda _: 1.0)
    X, y = coloured(40)
    ResNet9((3, 16, 16), max_iter=1, width=4, random_state=0).fit(X, y)
    ImageCNN((3, 16, 16), max_iter=1, random_state=0).fit(X, y)


# ------------------------------------------------------------------- extractors


@pytest.mark.parametrize("shape", [(8, 9), (1, 8, 9), (3, 8, 9)], ids=str)
def test_an_extractor_sees_images_from_0_to_1(shape):
    seen = []
    images = (255 * noise(shape, n=300)).astype(np.uint8)
    features = Extractor("pixels", lambda part: seen.append(part) or part)(images)
    size = shape if len(shape) == 3 else (1, *shape)
    assert {part.shape[1:] for part in seen} == {size}
    assert all(0 <= part.min() <= part.max() <= 1 for part in seen)
    assert features.dtype == np.float64
    np.testing.assert_allclose(features, images.reshape(300, -1) / 255, rtol=1e-6)


@pytest.mark.parametrize(("shape", "n_channels"), [((8, 8), 1), ((3, 28, 28), 3)])
def test_random_features_are_448_numbers_of_each_image_alone(shape, n_channels):
    images = np.concatenate([noise(shape, n=300), np.zeros((1, *shape), "float32")])
    features = random_features(n_channels)(images)
    assert features.shape == (301, 448)
    assert np.isfinite(features).all()
    alone = random_features(n_channels)(images[-2:])
    np.testing.assert_allclose(alone, features[-2:], rtol=1e-4, atol=1e-6)


def test_random_features_are_worked_out_on_their_device():
    features = random_features(3, "meta").module(torch.zeros(2, 3, 8, 8))
    assert (features.device.type, features.shape) == ("meta", (2, 448))


def test_random_features_are_the_same_in_every_session():
    state = torch.get_rng_state()
    with torch.random.fork_rng():
        torch.manual_seed(77)
        other = random_features()(noise())
    np.testing.assert_array_equal(random_features()(noise()), other)
    assert torch.equal(torch.get_rng_state(), state)


class Inception(torch.nn.Module):
    """A stand-in for torchvision's: the mean colour, scaled by a weight."""

    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.ones(()))
        self.fc = torch.nn.Linear(3, 10)

    def forward(self, images):
        assert not self.training
        assert images.shape[1:] == (3, 299, 299)
        return self.fc(self.scale * images.mean(dim=(2, 3)))


@pytest.fixture
def weights(tmp_path, monkeypatch):
    fake = SimpleNamespace(inception_v3=lambda weights, init_weights: Inception())
    monkeypatch.setitem(sys.modules, "torchvision.models", fake)
    torch.save({**Inception().state_dict(), "scale": torch.tensor(2.0)}, tmp_path / "w")
    return tmp_path / "w"


@pytest.mark.parametrize("shape", [(8, 8), (3, 8, 8)], ids=str)
def test_inception_features_are_those_before_the_last_layer(shape, weights):
    extractor = inception_features(weights)
    images = np.linspace(0, 1, 5)[:, None].repeat(np.prod(shape), axis=1)
    features = extractor(images.reshape(5, *shape))
    expected = 2 * np.linspace(-1, 1, 5)[:, None].repeat(3, axis=1)
    np.testing.assert_allclose(features, expected, atol=1e-5)
    assert extractor.name == "torchvision-inception-v3"


def test_inception_features_are_scored_like_any_other(weights):
    result = image_fidelity(noise(), noise(seed=1), inception_features(weights))
    assert result.extractor == "torchvision-inception-v3"
    assert result.fid == pytest.approx(0, abs=0.01)


def test_without_torchvision_the_message_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "torchvision.models", None)
    with pytest.raises(ImportError, match=r"pip install 'skdpgen\[images\]'"):
        inception_features("weights.pt")


# --------------------------------------------------------------------- fidelity


def test_the_frechet_distance_is_its_formula(rng):
    real = rng.normal(size=(60, 6)) @ rng.normal(size=(6, 6)) + 1
    synthetic = rng.normal(size=(90, 6)) @ rng.normal(size=(6, 6))
    one, two = np.cov(real, rowvar=False), np.cov(synthetic, rowvar=False)
    shift = real.mean(axis=0) - synthetic.mean(axis=0)
    root = linalg.sqrtm(one @ two).real
    expected = shift @ shift + np.trace(one + two - 2 * root)
    assert frechet_distance(real, synthetic) == pytest.approx(expected)
    assert frechet_distance(synthetic, real) == pytest.approx(expected)


def test_the_frechet_distance_of_fewer_rows_than_features(rng):
    rows = rng.normal(size=(5, 40))
    assert frechet_distance(rows, rows) == pytest.approx(0, abs=1e-5)
    assert frechet_distance(rows, rows + 3) == pytest.approx(40 * 9)


@pytest.mark.parametrize("change", [lambda X: X, lambda X: X[::-1]])
def test_the_same_images_are_perfect_in_any_order(digits, change):
    X, _ = digits
    result = image_fidelity(X, change(X))
    assert result.fid == pytest.approx(0, abs=1e-6)
    assert result.precision == pytest.approx(1)
    assert result.recall == pytest.approx(1)
    assert result.ndb == 0


def test_halves_of_the_same_images_are_nearly_perfect(halves):
    result = image_fidelity(*halves)
    assert 0 < result.fid < 0.1
    assert min(result.precision, result.recall) > 0.98
    assert result.ndb <= 0.1


def test_noise_is_nothing_like_digits(halves):
    real, other = halves
    result = image_fidelity(real, noise(n=len(other)))
    expected = image_fidelity(real, other)
    assert result.fid > 50 * expected.fid
    assert max(result.precision, result.recall) < 0.1
    assert result.ndb > 0.5


def test_missing_classes_lower_recall_more_than_precision(digits, halves):
    real, other = halves
    result = image_fidelity(real, other[digits[1][1::2] < 5])
    assert result.recall < 0.9 < 0.95 < result.precision
    assert result.ndb > 0.4
    swapped = image_fidelity(other[digits[1][1::2] < 5], real)
    assert swapped.precision < 0.9 < 0.95 < swapped.recall


def test_one_image_again_and_again_is_no_variety(halves):
    real, other = halves
    result = image_fidelity(real, np.repeat(other[:1], 500, axis=0))
    assert result.recall < 0.1 < result.precision
    assert result.ndb > 0.9


def test_bins_of_the_same_images_differ_at_their_level(digits, rng):
    pixels, found = digits[0].reshape(-1, 64), []
    for _ in range(8):
        some = rng.permutation(len(pixels))
        found.append(different_bins(pixels[some[:900]], pixels[some[900:]]))
    assert 0 < np.mean(found) < 0.08


def test_bins_do_not_ask_for_as_many_images_on_both_sides(digits, rng):
    pixels = rng.permutation(digits[0].reshape(-1, 64))
    assert different_bins(pixels[:1500], pixels[1500:]) <= 0.12
    assert different_bins(pixels[:1500], noise((64,), n=297)) > 0.3


@pytest.mark.parametrize("share", [0.0, 0.25, 0.5, 1.0])
def test_precision_and_recall_are_shares_of_what_overlaps(share, rng):
    centers = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]])
    near = rng.normal(scale=1e-3, size=(1000, 2))
    real = near + centers[0]
    n_alike = round(1000 * share)
    synthetic = near + centers[np.where(np.arange(1000) < n_alike, 0, 2)]
    precision, recall = precision_recall(real, synthetic)
    assert precision == pytest.approx(share, abs=0.15)
    assert (recall > 0.8) == (share > 0)


def test_the_extractor_is_named_in_the_result():
    real, synthetic = noise((3, 8, 8)), noise((3, 8, 8), seed=1)
    found = image_fidelity(real, synthetic, MEAN)
    assert found.extractor == "mean colour"
    assert str(found).endswith("(features: mean colour)")
    other = image_fidelity(real, synthetic)
    assert str(other).endswith(f"(features: {random_features().name})")
    assert found.ndb == other.ndb  # of pixels, whatever the features
    assert found.fid != other.fid


def test_a_result_is_one_line():
    text = str(image_fidelity(noise(), noise(seed=1)))
    assert "\n" not in text
    assert all(name in text for name in ("FID", "precision", "recall", "NDB"))


@pytest.mark.parametrize(
    "change",
    [lambda images: images / np.float32(255), lambda X: X[:, None], torch.from_numpy],
    ids=["float", "channel", "torch"],
)
def test_dtype_and_container_do_not_change_the_fidelity(digits, change):
    images = (255 * digits[0][:400]).astype(np.uint8)
    found = image_fidelity(images[:200], change(images[200:]))
    expected = image_fidelity(images[:200], images[200:])
    assert found.fid == pytest.approx(expected.fid, rel=1e-4)
    assert found.precision == pytest.approx(expected.precision)
    assert found.ndb == expected.ndb


def test_fidelity_repeats_and_leaves_the_global_state_alone():
    state = torch.get_rng_state()
    one, two = (image_fidelity(noise(), noise(seed=1)) for _ in range(2))
    assert one == two
    assert torch.equal(torch.get_rng_state(), state)


def test_fidelity_needs_one_size():
    with pytest.raises(ValueError, match="Images must have one size"):
        image_fidelity(noise(), noise((9, 8)))


@pytest.mark.parametrize(("n_real", "n_synthetic"), [(1, 9), (9, 1)])
def test_fidelity_needs_two_images_on_each_side(n_real, n_synthetic):
    with pytest.raises(ValueError, match="There must be at least 2 images"):
        image_fidelity(noise(n=n_real), noise(n=n_synthetic))
