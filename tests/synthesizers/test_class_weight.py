"""Weights of classes: "balanced", or a dictionary by label."""

import numpy as np
import pytest

from skdpgen import (
    DPGANSynthesizer,
    DPKernelSynthesizer,
    DPMERFSynthesizer,
    DPMGESynthesizer,
    DPPairwiseSynthesizer,
)
from skdpgen.datasets import load_example
from skdpgen.exceptions import SchemaWarning
from skdpgen.privacy import insecure_noise_seed
from tests._made import made

X, Y = load_example(1000)
X = X[["age", "job", "income"]]
CLASSES = ["left", "stayed"]
METHODS = {
    "pairwise": (DPPairwiseSynthesizer, {"max_iter": 5}),
    "embedding": (DPMERFSynthesizer, {"max_iter": 3, "n_features": 20}),
    "game": (DPGANSynthesizer, {"max_iter": 3}),
    "gaussians": (DPMGESynthesizer, {}),
    "steps": (DPKernelSynthesizer, {"max_iter": 3, "algorithm": "per_step"}),
}
every_method = pytest.mark.parametrize("name", METHODS)
pytestmark = [
    pytest.mark.filterwarnings("ignore::skdpgen.exceptions.NotPrivateWarning"),
    pytest.mark.filterwarnings("ignore::skdpgen.exceptions.NothingLearnedWarning"),
    pytest.mark.filterwarnings("ignore::skdpgen.exceptions.RareValuesWarning"),
]


def incomes(name, class_weight):
    cls, params = METHODS[name]
    synth = made(
        cls,
        epsilon=50.0,
        classes=CLASSES,
        class_weight=class_weight,
        random_state=0,
        **params,
    )
    with insecure_noise_seed(0):
        return synth.fit(X, Y).sample(200, random_state=1)[0]["income"].to_numpy()


@every_method
def test_equal_weights_change_nothing(name):
    equal = incomes(name, {"left": 3.0, "stayed": 3.0})
    np.testing.assert_allclose(equal, incomes(name, None), rtol=1e-5)


@every_method
def test_a_class_without_an_entry_has_weight_1(name):
    given = incomes(name, {"left": 20.0})
    both = incomes(name, {"left": 20.0, "stayed": 1.0})
    np.testing.assert_array_equal(given, both)


@every_method
def test_weights_change_what_is_trained(name):
    changed = incomes(name, {"left": 20.0})
    assert not np.array_equal(changed, incomes(name, None), equal_nan=True)


@pytest.mark.parametrize(
    ("class_weight", "message"),
    [
        ({"lost": 2.0}, "class_weight must hold classes of y, which are left, stayed"),
        ({"left": 0.0}, "class_weight must hold positive numbers"),
        ({"left": float("inf")}, "class_weight must hold positive numbers"),
        ({"left": True}, "class_weight must hold positive numbers"),
        ({"left": "2"}, "class_weight must hold positive numbers"),
    ],
)
def test_other_weights_are_refused_before_anything_is_paid(class_weight, message):
    synth = DPPairwiseSynthesizer(classes=CLASSES, class_weight=class_weight)
    with pytest.raises(ValueError, match=message):
        synth.fit(X, Y)
    assert not hasattr(synth, "privacy_")


def test_numbers_have_no_weights():
    synth = DPPairwiseSynthesizer(class_weight={1.5: 2.0})
    with pytest.raises(ValueError, match="class_weight must be None unless y holds"):
        synth.fit(X, np.linspace(0.0, 1.0, len(X)))


def test_a_weight_of_a_class_that_was_not_discovered_is_warned_of():
    synth = DPPairwiseSynthesizer(
        epsilon=50.0, class_weight={"lost": 2.0}, max_iter=1, random_state=0
    )
    with (
        insecure_noise_seed(0),
        pytest.warns(SchemaWarning, match="names 'lost', which is not among the disc"),
    ):
        synth.fit(X, Y)
    assert synth.classes_.tolist() == CLASSES


@every_method
def test_a_target_that_turns_out_to_be_a_number_has_no_weights(name):
    cls, params = METHODS[name]
    target = np.random.default_rng(0).integers(0, 10_000, len(X))
    synth = made(cls, epsilon=50.0, class_weight={3: 2.0}, random_state=0, **params)
    with (
        insecure_noise_seed(0),
        pytest.warns(SchemaWarning, match="class_weight names 3"),
    ):
        drawn, y = synth.fit(X, target).sample(50)
    assert synth.task_ == "regression"
    assert np.isfinite(np.asarray(y, dtype=float)).all()
    assert len(drawn) == 50
