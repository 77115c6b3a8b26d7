"""Settings of a generator: an estimator in an estimator, as scikit-learn has them."""

import pickle
from copy import deepcopy

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold

from skdpgen import (
    Chunks,
    DPGANSynthesizer,
    DPHPSynthesizer,
    DPKernelSynthesizer,
    DPMEPFSynthesizer,
    DPMERFSynthesizer,
    DPNTKSynthesizer,
    Generator,
    load,
)
from skdpgen.exceptions import SearchCostWarning
from skdpgen.synthesizers.base import with_parts
from skdpgen.tables import Integer, Numeric, Schema
from tests._seeded import same_noise

METHODS = [
    DPGANSynthesizer,
    DPHPSynthesizer,
    DPKernelSynthesizer,
    DPMEPFSynthesizer,
    DPMERFSynthesizer,
    DPNTKSynthesizer,
]
each_method = pytest.mark.parametrize("cls", METHODS)
NAMES = {
    "hidden_layer_sizes",
    "n_latent",
    "max_iter",
    "batch_size",
    "learning_rate",
    "schedule",
    "optimizer",
    "early_stopping",
    "batch_norm",
    "loss",
    "moving_rate",
    "n_minibatches",
    "network",
    "models",
    "pooling",
    "precision",
}
RNG = np.random.default_rng(0)
X = pd.DataFrame({"a": RNG.normal(size=300), "b": RNG.integers(0, 5, 300)})
X["c"] = X["a"] + 0.1 * X["b"]
SCHEMA = Schema({"a": Numeric(-5, 5), "b": Integer(0, 4), "c": Numeric(-5, 5)})


def never():
    raise AssertionError("a row was read")


# ---------------------------------------------------------------- validation

WRONG = {
    "hidden_layer_sizes": (16, r"'hidden_layer_sizes' parameter of Generator.*Got 16"),
    "n_latent": (0, r"'n_latent' parameter of Generator.*Got 0"),
    "max_iter": (2.5, r"'max_iter' parameter of Generator.*Got 2.5"),
    "batch_size": (0, r"'batch_size' parameter of Generator.*Got 0"),
    "learning_rate": (0.0, r"'learning_rate' parameter of Generator.*Got 0"),
    "schedule": ("two", r"'schedule' parameter of Generator.*'constant'.*Got 'two'"),
    "optimizer": ("sgd", r"'optimizer' parameter of Generator.*'adam'.*Got 'sgd'"),
    "early_stopping": (2, r"'early_stopping' parameter of Generator.*Got 2"),
    "moving_rate": (0.0, r"'moving_rate' parameter of Generator.*Got 0"),
    "batch_norm": ("yes", r"'batch_norm' parameter of Generator.*Got 'yes'"),
    "loss": ("hinge", r"'loss' parameter of Generator.*Got 'hinge'"),
    "n_minibatches": (0, r"'n_minibatches' parameter of Generator.*Got 0"),
    "pooling": ("all", r"'pooling' parameter of Generator.*Got 'all'"),
    "network": ("gan", r"'network' parameter of Generator.*'residual'.*Got 'gan'"),
    "models": ("two", r"'models' parameter of Generator.*'parallel'.*Got 'two'"),
    "precision": ("half", r"'precision' parameter of Generator.*'mixed'.*Got 'half'"),
}


@each_method
@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_setting_is_named_before_a_row_is_read(cls, name):
    value, message = WRONG[name]
    synth = cls(generator=Generator(**{name: value}))
    with pytest.raises(ValueError, match=message):
        synth.fit(Chunks(never))


@each_method
def test_a_generator_of_another_type_is_refused(cls):
    with pytest.raises(ValueError, match=r"'generator' parameter.*Generator.*Got 3"):
        cls(generator=3).fit(Chunks(never))


def test_settings_are_not_parameters_of_the_estimator():
    with pytest.raises(TypeError, match="max_iter"):
        DPMERFSynthesizer(max_iter=5)
    with pytest.raises(ValueError, match="Invalid parameter 'max_iter'"):
        DPMERFSynthesizer().set_params(max_iter=5)


# ----------------------------------------------------- parameters, clones, copies


def test_settings_that_differ_by_method_are_none_by_default():
    defaults = Generator().get_params()
    assert set(defaults) == set(WRONG) == NAMES
    assert {name for name, value in defaults.items() if value is None} == {
        "hidden_layer_sizes",
        "n_latent",
        "max_iter",
        "batch_size",
        "learning_rate",
        "models",
    }


@each_method
def test_nested_parameters_are_set_where_there_is_no_generator(cls):
    synth = cls()
    assert synth.generator is None
    assert not any("__" in name for name in synth.get_params())
    assert synth.set_params(generator__max_iter=5, epsilon=2.0) is synth
    assert synth.get_params()["generator__max_iter"] == 5
    assert synth.generator.get_params() == Generator(max_iter=5).get_params()
    assert synth.epsilon == 2.0
    assert cls().generator is None  # nothing is shared between estimators


def test_nested_parameters_keep_the_others():
    synth = DPMERFSynthesizer(generator=Generator(n_latent=3))
    synth.set_params(generator__max_iter=5)
    assert repr(synth.generator) == "Generator(max_iter=5, n_latent=3)"
    synth.set_params(generator=Generator(batch_size=7), generator__max_iter=6)
    assert repr(synth.generator) == "Generator(batch_size=7, max_iter=6)"
    assert synth.set_params(generator=None).generator is None
    with pytest.raises(ValueError, match="Invalid parameter 'n_steps'"):
        synth.set_params(generator__n_steps=5)


@pytest.mark.parametrize(
    "copy", [clone, deepcopy, lambda x: pickle.loads(pickle.dumps(x))]
)
def test_copies_have_a_generator_of_their_own(copy):
    synth = DPMERFSynthesizer(generator=Generator(max_iter=5))
    again = copy(synth)
    assert repr(again) == repr(synth)
    assert again.generator is not synth.generator
    again.set_params(generator__max_iter=6)
    assert synth.generator.max_iter == 5


def test_the_representation_shows_what_was_set():
    synth = DPMERFSynthesizer(n_features=10, generator=Generator(max_iter=5))
    shown = "DPMERFSynthesizer(generator=Generator(max_iter=5), n_features=10)"
    assert repr(synth) == shown
    assert repr(Generator()) == "Generator()"


def test_flat_settings_have_those_of_the_generator():
    params = DPMERFSynthesizer(generator=Generator(max_iter=5)).get_params(deep=False)
    flat = with_parts(params)
    assert set(flat) >= NAMES
    assert flat["max_iter"] == 5
    assert "generator" not in flat
    assert "generator" in params  # what was given is not changed


# ------------------------------------------------------------------------- fits


def fitted(**settings):
    synth = DPMERFSynthesizer(50.0, n_features=20, random_state=0)
    with same_noise():
        return synth.set_params(generator=Generator(**settings)).fit(X)


def test_settings_are_used_and_the_parameter_is_left_as_it_was():
    generator = Generator(max_iter=4, hidden_layer_sizes=[5], n_latent=2)
    synth = DPMERFSynthesizer(50.0, n_features=20, generator=generator).fit(X)
    used = synth.settings_
    assert (used.max_iter, used.hidden_layer_sizes, used.n_latent) == (4, (5,), 2)
    assert used.batch_size == 512  # of tables
    assert synth.generator is generator
    assert generator.hidden_layer_sizes == [5]
    assert generator.batch_size is None
    synth.retrain(max_iter=2)
    assert synth.settings_.max_iter == 2
    assert generator.max_iter == 4


def test_no_generator_is_one_of_defaults():
    synth = DPMERFSynthesizer(schema=SCHEMA, n_features=20, random_state=0).fit(X)
    assert synth.generator is None
    assert synth.settings_.max_iter == 200


def test_a_fit_depends_on_what_the_settings_are_alone():
    one, two = fitted(max_iter=4), fitted(max_iter=4)
    other = fitted(max_iter=5)
    samples = [synth.sample(30, random_state=1) for synth in (one, two, other)]
    pd.testing.assert_frame_equal(*samples[:2])
    assert not samples[0].equals(samples[2])


def test_the_certificate_names_settings_on_one_line():
    synth = fitted(max_iter=4, hidden_layer_sizes=np.array([5, 5]), n_latent=3)
    shown = "generator=Generator(hidden_layer_sizes=[5, 5], max_iter=4, n_latent=3)"
    lines = [line for line in synth.privacy_.statements if shown in line]
    assert len(lines) == 1
    assert "taken as public" in lines[0]
    assert "\n" not in lines[0]


def test_a_saved_estimator_has_its_generator(tmp_path):
    synth = fitted(max_iter=4, hidden_layer_sizes=np.array([5, 6]), learning_rate=0.02)
    synth.save(tmp_path / "synth.npz")
    again = load(tmp_path / "synth.npz")
    assert type(again.generator) is Generator
    one, two = again.generator.get_params(), synth.generator.get_params()
    assert one.pop("hidden_layer_sizes").tolist() == [5, 6]
    two.pop("hidden_layer_sizes")
    assert one == two
    pd.testing.assert_frame_equal(
        again.retrain().sample(9, random_state=1), synth.sample(9, random_state=1)
    )


@pytest.mark.parametrize("generator", [None, Generator(batch_size=64)], ids=repr)
def test_a_search_over_the_estimator_and_its_generator(generator):
    grid = {
        "epsilon": [0.5, 20.0],
        "n_features": [10, 20],
        "generator__max_iter": [0, 3],
    }
    search = GridSearchCV(
        DPMERFSynthesizer(schema=SCHEMA, generator=generator, random_state=0),
        grid,
        scoring=lambda synth, rows, y=None: synth.epsilon + synth.settings_.max_iter,
        cv=KFold(2),
    )
    with pytest.warns(SearchCostWarning):
        search.fit(X)
    best = {"epsilon": 20.0, "generator__max_iter": 3}
    assert best.items() <= search.best_params_.items()
    assert search.best_estimator_.generator.max_iter == 3
    assert search.best_estimator_.settings_.max_iter == 3
    assert search.estimator.generator is generator  # candidates change clones only
    assert generator is None or generator.max_iter is None
    assert generator is None or search.best_estimator_.settings_.batch_size == 64
    tried = {(p["n_features"], p["generator__max_iter"]) for p in _tried(search)}
    assert tried == {(10, 0), (10, 3), (20, 0), (20, 3)}
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def _tried(search):
    return search.cv_results_["params"]


# ------------------------------------------------------------- settings of the papers


@pytest.mark.parametrize(
    "settings", [{"schedule": "constant"}, {"optimizer": "rmsprop"}], ids=repr
)
def test_schedule_and_optimiser_change_the_training(settings):
    samples = [
        synth.sample(30, random_state=1)
        for synth in (fitted(max_iter=4), fitted(max_iter=4, **settings))
    ]
    assert not samples[0].equals(samples[1])


def test_a_batch_may_be_a_part_of_the_rows():
    part, whole = (fitted(max_iter=4, batch_size=size) for size in (0.1, 30))
    pd.testing.assert_frame_equal(
        part.sample(20, random_state=1), whole.sample(20, random_state=1)
    )
    for wrong in (1.0, 1.5, -0.5):
        with pytest.raises(ValueError, match="'batch_size' parameter of Generator"):
            fitted(batch_size=wrong)


def test_games_have_whole_batches_and_adam():
    for settings, message in (
        ({"batch_size": 0.5}, "batch_size of the generator of DPGAN.* an integer"),
        ({"optimizer": "rmsprop"}, "optimizer must be 'adam' but for methods that"),
        ({"early_stopping": False}, "early_stopping must be True but for methods"),
    ):
        with pytest.raises(ValueError, match=message):
            DPGANSynthesizer(generator=Generator(**settings)).fit(X)
