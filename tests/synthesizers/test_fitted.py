"""What a fit leaves behind is one frozen value, replaced as a whole."""

from dataclasses import FrozenInstanceError, fields, is_dataclass

import pytest
from sklearn.exceptions import NotFittedError

from skdpgen import DPDRESynthesizer, DPIndependentSynthesizer, load
from skdpgen.datasets import load_example
from skdpgen.synthesizers.base._attributes import FittedAttributes, TrainedAttributes
from skdpgen.synthesizers.embedding import _private_encoder
from tests.guards import _neighbours, _variants

pytestmark = pytest.mark.usefixtures("hardly_taught")

ATTRIBUTES = {
    name
    for cls in (FittedAttributes, TrainedAttributes)
    for name in vars(cls)
    if name.endswith("_") and not name.startswith("_")
}
TABLES, IMAGES = _neighbours.tables(), _neighbours.images()
CASES = {
    **{n: (make, TABLES["frame"]) for n, make in _variants.of_tables().items()},
    **{f"{n}, images": (m, IMAGES["images"]) for n, m in _variants.of_images().items()},
}


def fitted(**params):
    X, y = load_example(300)
    synth = DPIndependentSynthesizer(40.0, classes=["left", "stayed"], **params)
    return synth.fit(X[["age", "job"]], y)


@pytest.mark.parametrize("name", CASES)
def test_a_fit_adds_one_value_that_is_frozen(name, monkeypatch):
    monkeypatch.setattr(_private_encoder, "STEPS", 2)
    make, case = CASES[name]
    synth = make(epsilon=40.0, **case.params)
    before = set(vars(synth))
    synth.fit(*case.given())
    assert set(vars(synth)) - before == {"_fitted", "_sampler"}
    for value in (synth._fitted, synth._fitted.facts, synth._fitted.measured):
        assert is_dataclass(value)
        with pytest.raises(FrozenInstanceError):
            setattr(value, fields(value)[0].name, None)


@pytest.mark.parametrize("name", sorted(ATTRIBUTES))
def test_attributes_of_a_fit_are_missing_before_it_and_cannot_be_set(name):
    synth = DPIndependentSynthesizer()
    assert not hasattr(synth, name)
    if hasattr(type(synth), name):
        with pytest.raises(NotFittedError, match=r"not fitted yet\. Call `fit`"):
            getattr(synth, name)
        with pytest.raises(AttributeError):
            setattr(synth, name, None)


def test_what_this_fit_had_no_use_for_is_missing():
    X, _ = load_example(300)
    synth = DPIndependentSynthesizer(40.0).fit(X[["age"]].to_numpy())
    for name in ("classes_", "feature_names_in_", "pixels_", "loss_curve_"):
        assert not hasattr(synth, name)
    with pytest.raises(AttributeError, match="classes_ is not there"):
        _ = synth.classes_
    assert synth.task_ is None


def test_retrain_changes_the_model_and_nothing_that_was_measured():
    synth = fitted()
    before = synth._fitted
    synth.retrain()
    assert synth._fitted is not before
    assert synth._fitted.measured is before.measured
    assert synth._fitted.certificate == before.certificate


def test_a_ratio_of_another_power_states_its_own_weights_once():
    X, y = load_example(900)
    X = X[["age", "job"]]
    synth = DPDRESynthesizer(40.0, classes=["left", "stayed"]).fit(
        X[300:], y[300:], public_data=(X[:300], y[:300])
    )
    before = synth.weights_, str(synth.privacy_)
    assert str(synth.retrain().privacy_) == before[1]
    synth.retrain(power=0.0)
    assert synth.effective_size_ > 1 / (before[0] ** 2).sum()


def test_what_samples_come_as_is_saved(tmp_path):
    fitted().set_output(transform="polars").save(tmp_path / "synth.npz")
    assert type(load(tmp_path / "synth.npz").sample(2)[0]).__module__[:6] == "polars"
