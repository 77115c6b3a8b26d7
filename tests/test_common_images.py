"""The battery that every synthesizer of images runs; `test_common.py` is of tables."""

import pickle
from copy import deepcopy
from functools import cache

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError

from skdpgen import all_synthesizers, load
from skdpgen.exceptions import SearchCostWarning
from skdpgen.synthesizers.base import with_parts
from tests._covering import parametrize_pairs
from tests.guards._variants import maker, small_images

pytestmark = pytest.mark.usefixtures("hardly_taught")

DIGITS, LABELS = load_digits(return_X_y=True)
PIXELS = np.rint(DIGITS.reshape(-1, 8, 8) * 255 / 16).astype(np.uint8)[:400]
LABELS = LABELS[:400] % 3
KINDS = {
    "uint8": PIXELS,
    "float32": (PIXELS / 255).astype("float32"),
    "float64": PIXELS / 255,
    "colour": np.repeat(PIXELS[:, None], 3, axis=1),
    "tensor": torch.from_numpy(PIXELS),
}
TARGETS = {
    "classes": (LABELS, "classification"),
    "numbers": (PIXELS.mean(axis=(1, 2)) / 255.0, "regression"),
    "none": (None, None),
}


@pytest.fixture(params=sorted(all_synthesizers("images")))
def cls(request):
    return all_synthesizers()[request.param]


@cache
def fitted_once(cls):
    return build(cls).fit(PIXELS, LABELS)


@pytest.fixture
def fitted(cls):
    """Return a fit that may be changed."""
    return deepcopy(fitted_once(cls))


def build(cls, **params):
    given = {"epsilon": 10.0, "classes": [0, 1, 2]} | params
    return maker(cls, **small_images(cls))(**given)


@pytest.mark.parametrize("kind", KINDS)
def test_images_come_back_as_they_were(cls, kind):
    images = KINDS[kind]
    synth = fitted_once(cls) if kind == "uint8" else build(cls).fit(images, LABELS)
    X, y = synth.sample(20)
    assert type(X) is type(images)
    assert (tuple(X.shape), X.dtype) == ((20, *images.shape[1:]), images.dtype)
    assert X.min() >= 0
    assert X.max() <= (255 if str(X.dtype).endswith("uint8") else 1)
    assert y.dtype == LABELS.dtype
    assert set(y) <= {0, 1, 2}


@parametrize_pairs(
    "cls, target, adjacency",
    sorted(all_synthesizers("images")),
    TARGETS,
    ["replace", "add_remove"],
    indirect=["cls"],
)
def test_any_target_is_fitted_for_what_was_asked(cls, target, adjacency):
    y, task = TARGETS[target]
    classes = [0, 1, 2] if task == "classification" else None
    synth = build(cls, classes=classes, adjacency=adjacency).fit(PIXELS, y)
    assert synth.task_ == task
    X = synth.sample(7) if task is None else synth.sample(7)[0]
    assert X.shape == (7, 8, 8)
    report = synth.privacy_
    assert (report.epsilon, report.adjacency) == (10.0, adjacency)
    if report.mu is None:  # steps on secret samples have none of their own
        assert sum(entry.share for entry in report.releases) == pytest.approx(1.0)
        return
    mu_squared = sum((e.sensitivity / e.noise_std) ** 2 for e in report.releases)
    assert mu_squared == pytest.approx(report.mu**2, rel=1e-9)  # all of it is spent


def test_labels_can_be_asked_for(fitted):
    X, y = fitted.sample(y=[2, 2, 0])
    assert X.shape == (3, 8, 8)
    assert y.tolist() == [2, 2, 0]
    _, y = fitted.sample(30, class_distribution={0: 0.5, 1: 0.5})
    assert set(y) == {0, 1}


def test_samples_differ_unless_seeded(fitted):
    def draw(**params):
        return fitted.sample(40, **params)[0]

    assert not np.array_equal(draw(), draw())
    np.testing.assert_array_equal(draw(random_state=3), draw(random_state=3))


@pytest.mark.parametrize("way", ["saved", "pickled"])
def test_a_copy_is_the_same(fitted, way, tmp_path):
    if way == "saved":
        fitted.save(tmp_path / "synth.npz")
        copy = load(tmp_path / "synth.npz")
    else:
        copy = pickle.loads(pickle.dumps(fitted))
    assert type(copy) is type(fitted)
    assert copy.privacy_ == fitted.privacy_
    for one, two in zip(
        copy.sample(40, random_state=1), fitted.sample(40, random_state=1), strict=True
    ):
        np.testing.assert_array_equal(one, two)


def test_a_clone_has_the_parameters_and_none_of_the_state(fitted):
    copy = clone(fitted)
    before, after = with_parts(fitted.get_params(False)), copy.get_params(False)
    assert with_parts(after) == before
    assert after.keys() == fitted.get_params(False).keys()
    assert copy._fitted is None
    with pytest.raises(NotFittedError):
        copy.sample(3)
    with pytest.warns(SearchCostWarning):
        copy.fit(PIXELS, LABELS)


def test_a_second_fit_forgets_the_first(fitted):
    names = set(vars(fitted))
    fitted.fit(PIXELS[:, None], LABELS)
    assert set(vars(fitted)) == names
    assert fitted.sample(3)[0].shape == (3, 1, 8, 8)


def test_data_frames_are_for_tables(fitted):
    with pytest.raises(ValueError, match="set_output is for tables"):
        fitted.set_output(transform="pandas").sample(3)


def test_what_is_not_taken_is_refused(cls):
    if "tables" not in cls._takes:
        with pytest.raises(ValueError, match=r"takes images of three.*Got tables"):
            build(cls).fit(DIGITS, LABELS)
