"""Where no relation was learnt it is said: once aloud, in the certificate, after it."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits

from skdpgen import (
    Discriminator,
    DPKernelSynthesizer,
    DPPairwiseSynthesizer,
    Generator,
    all_synthesizers,
    load,
)
from skdpgen.exceptions import NoisyColumnsWarning, NothingLearnedWarning
from skdpgen.privacy import insecure_noise_seed
from skdpgen.report import report_content
from skdpgen.tables import Categorical, Integer, Schema
from tests._made import made
from tests.synthesizers._tables import settings_of

TOLD = "columns by class only: no relation between columns was learnt beyond that"
RELATED = sorted(  # methods with training steps, except one: a GAN always trains
    name
    for name, cls in all_synthesizers("tables").items()
    if hasattr(cls, "n_iter_") and name != "DPGANSynthesizer"
)
COLUMNS = ("a", "b", "c", "d")
SCHEMA = Schema({name: Integer(0, 7) for name in COLUMNS})
SMALL = {"max_iter": 5, "hidden_layer_sizes": (32,), "batch_size": 64}
each_method = pytest.mark.parametrize("name", RELATED)


def table(n):
    """Return columns that are nearly the same, and labels that say nothing of them."""
    rng = np.random.default_rng(0)
    one = rng.integers(0, 8, n)
    noisy = {name: np.where(rng.random(n) < 0.1, 0, one) for name in COLUMNS}
    return pd.DataFrame(noisy), rng.choice(["no", "yes"], n)


FEW, MANY = table(40), table(4000)


def fit(name, rows, **params):
    """Return a fitted estimator, and what it said."""
    cls = all_synthesizers()[name]
    known = {"schema": SCHEMA, "random_state": 0}
    known |= {k: v for k, v in SMALL.items() if k in settings_of(cls)}
    if rows[1:]:
        known["classes"] = ("no", "yes")
    return again(made(cls, **known | params), rows)


def again(synth, rows):
    """Fit with the same noise each time: in few features now and then it stands out."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        with insecure_noise_seed(0):
            synth.fit(*rows)
    return synth, [one for one in said if one.category is NothingLearnedWarning]


@each_method
def test_nothing_learnt_is_said_once(name):
    synth, said = fit(name, FEW, epsilon=0.3)
    assert synth.n_iter_ == 0
    assert len(said) == 1
    assert said[0].filename == __file__  # where the user stands
    text = str(said[0].message)
    assert "Released were columns by class only" in text
    assert "Fewer columns, a schema, a larger epsilon or more rows would help" in text
    assert synth.relations_learned_ == "columns by class only"
    assert synth.privacy_.statements.count(TOLD) == 1
    assert TOLD in str(synth.privacy_)


@each_method
def test_what_was_learnt_is_not_denied(name):
    synth, said = fit(name, MANY, epsilon=50.0)
    assert synth.n_iter_ > 0
    assert said == []
    assert synth.relations_learned_ == "columns and relations"
    assert TOLD not in synth.privacy_.statements


@each_method
def test_a_second_fit_says_it_anew(name):
    synth, first = fit(name, FEW, epsilon=0.3)
    _, second = again(synth, FEW)
    assert len(first) == len(second) == 1
    assert TOLD in synth.privacy_.statements
    _, third = again(synth.set_params(epsilon=50.0), MANY)
    assert third == []
    assert TOLD not in synth.privacy_.statements


@each_method
def test_no_steps_were_asked_for(name):
    """It is stated, and no surprise; training later takes it back."""
    synth, said = fit(name, MANY, epsilon=50.0, max_iter=0)
    assert said == []
    assert synth.relations_learned_ == "columns by class only"
    assert TOLD in synth.privacy_.statements
    synth.retrain(max_iter=5)
    assert synth.relations_learned_ == "columns and relations"
    assert TOLD not in synth.privacy_.statements


@each_method
def test_a_file_remembers_it(name, tmp_path):
    synth, _ = fit(name, FEW, epsilon=0.3)
    synth.save(tmp_path / "synth.npz")
    copy = load(tmp_path / "synth.npz")
    assert copy.relations_learned_ == synth.relations_learned_
    assert TOLD in copy.privacy_.statements


@each_method
def test_the_words_fit_the_table(name):
    X, _ = FEW
    alone, said = fit(name, (X,), epsilon=0.3)
    assert alone.relations_learned_ == "single columns only"
    assert "Released were single columns only" in str(said[0].message)
    target = Schema(SCHEMA.columns, target=Integer(0, 50))
    number, said = fit(
        name,
        (X, np.arange(40)),
        epsilon=0.3,
        schema=target,
        classes=None,
        task="regression",
    )
    assert number.relations_learned_ == "columns by bins of the target only"
    assert len(said) == 1


@each_method
def test_one_column_has_no_relations(name):
    X, y = FEW
    schema = Schema({"a": Integer(0, 7)})
    synth, said = fit(name, (X[["a"]], y), epsilon=0.3, schema=schema)
    assert said == []
    assert TOLD not in synth.privacy_.statements


def test_the_baseline_learns_none_by_design():
    synth, said = fit("DPIndependentSynthesizer", FEW, epsilon=0.3)
    assert said == []
    assert synth.relations_learned_ == "columns by class only"
    assert TOLD not in synth.privacy_.statements


@pytest.mark.parametrize(
    ("name", "params"),
    [
        (
            "DPKernelSynthesizer",
            {"algorithm": "per_step", "max_iter": 2, "batch_size": 2},
        ),
        ("DPKernelSynthesizer", {"feature_norm": 1.0, "max_iter": 2}),
        ("DPGANSynthesizer", {"discriminator": Discriminator(max_iter=2)}),
    ],
    ids=["per_step", "features", "game"],
)
def test_steps_that_are_paid_for_are_made(name, params):
    """They are no evidence of relations: noise alone makes them, too."""
    synth, said = fit(name, FEW, epsilon=3.0, **params)
    assert said == []
    assert synth.n_iter_ == 2
    untested = "relations that were not tested against the noise"
    assert synth.relations_learned_ == untested
    learned = report_content(synth)["answers"]["quality"]["verdict"]
    assert learned.startswith("Unknown: ")


def test_images_have_no_columns():
    digits, labels = load_digits(return_X_y=True)
    digits = digits[:100].reshape(-1, 8, 8) / 16
    synth = DPKernelSynthesizer(
        classes=range(10), n_features=64, generator=Generator(max_iter=0)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error", NothingLearnedWarning)
        synth.fit(digits, labels[:100])
    assert synth.relations_learned_ == "images"
    assert "only: no relation" not in str(synth.privacy_)


def test_it_depends_on_releases_alone():
    """Rows that have relations and rows that have none: the same noise decides."""
    rng = np.random.default_rng(1)
    independent = pd.DataFrame({name: rng.integers(0, 8, 40) for name in COLUMNS})
    for rows in (FEW, (independent, FEW[1])):
        synth, said = fit("DPPairwiseSynthesizer", rows, epsilon=0.3)
        assert synth.pair_releases_ == ()  # by n, the columns and the budget
        assert len(said) == 1


def test_columns_that_are_found_and_classes_that_are_few():
    """Beside the other statement of releases, and with a discovered schema."""
    X, y = MANY
    params = {"schema": None, "classes": ("moved", "yes")}
    synth, _ = fit("DPPairwiseSynthesizer", (X[:300], y[:300]), epsilon=0.5, **params)
    assert TOLD in synth.privacy_.statements


def test_the_warning_is_public_and_can_be_silenced():
    assert issubclass(NothingLearnedWarning, UserWarning)
    synth = DPPairwiseSynthesizer(
        epsilon=0.3, schema=Schema(SCHEMA.columns, target=Categorical(["no", "yes"]))
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", NothingLearnedWarning)
        warnings.simplefilter("ignore", NoisyColumnsWarning)
        synth.fit(*FEW)
