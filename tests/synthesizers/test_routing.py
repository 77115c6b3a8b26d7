"""Public rows and groups as arguments of fit, alone and by metadata routing."""

import inspect

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from sklearn.pipeline import make_pipeline

from skdpgen import (
    Discriminator,
    DPDRESynthesizer,
    DPGANSynthesizer,
    DPIndependentSynthesizer,
    DPKernelSynthesizer,
    DPMERFSynthesizer,
    DPMGESynthesizer,
    DPPairwiseSynthesizer,
    Generator,
    all_synthesizers,
)
from skdpgen.tables import Chunks, Integer, Schema

RNG = np.random.default_rng(0)
SCHEMA = Schema({name: Integer(0, 7) for name in "ab"})
ROWS = pd.DataFrame({name: RNG.integers(0, 8, 400) for name in "ab"})
X, PUBLIC = ROWS[:240], ROWS[240:]
STATED = "160 public rows without labels: taken as public"
READ_PUBLIC = {
    "DPDRESynthesizer",
    "DPGANSynthesizer",
    "DPIndependentSynthesizer",
    "DPMGESynthesizer",
    "DPPairwiseSynthesizer",
}
OF_TABLES = [
    DPIndependentSynthesizer(5.0, schema=SCHEMA),
    DPPairwiseSynthesizer(5.0, schema=SCHEMA, max_iter=2),
    DPDRESynthesizer(5.0, schema=SCHEMA),
    DPGANSynthesizer(
        5.0,
        schema=SCHEMA,
        algorithm="finetune",
        discriminator=Discriminator(max_iter=2, public_iter=2),
        generator=Generator(batch_size=16),
    ),
]
each_of_tables = pytest.mark.parametrize(
    "synth", OF_TABLES, ids=lambda one: type(one).__name__
)
searches = pytest.mark.filterwarnings("ignore::skdpgen.exceptions.SearchCostWarning")
no_support = pytest.mark.filterwarnings("ignore::skdpgen.exceptions.SupportWarning")


def states_public_rows(synth):
    return STATED in synth.privacy_.statements


def epsilon_of(synth, rows, y=None):
    return synth.epsilon


# ------------------------------------------------------------------ public_data


@pytest.mark.parametrize("name", sorted(all_synthesizers()))
def test_methods_that_read_public_rows_have_the_argument(name):
    cls = all_synthesizers()[name]
    arguments = inspect.signature(cls.fit).parameters
    assert ("public_data" in arguments) == (name in READ_PUBLIC)
    assert "public_data" not in inspect.signature(cls).parameters
    if "public_data" in arguments:
        assert arguments["public_data"].kind is inspect.Parameter.KEYWORD_ONLY


@each_of_tables
@no_support
def test_public_rows_go_to_fit(synth):
    assert states_public_rows(synth.fit(X, public_data=PUBLIC))


def test_a_method_without_public_rows_refuses_them():
    with pytest.raises(TypeError, match="public_data"):
        DPMERFSynthesizer().fit(X, public_data=PUBLIC)


@each_of_tables
@searches
@no_support
def test_a_pipeline_routes_public_rows(synth):
    with config_context(enable_metadata_routing=True):
        requesting = type(synth)(**synth.get_params(deep=False))
        pipeline = make_pipeline(
            "passthrough", requesting.set_fit_request(public_data=True)
        )
        pipeline.fit(X, public_data=PUBLIC)
    assert states_public_rows(pipeline[-1])


@searches
def test_public_rows_that_nobody_requested_are_refused():
    with config_context(enable_metadata_routing=True):
        pipeline = make_pipeline("passthrough", DPIndependentSynthesizer())
        with pytest.raises(ValueError, match="public_data"):
            pipeline.fit(X, public_data=PUBLIC)
        pipeline[-1].set_fit_request(public_data=False)
        with pytest.raises(TypeError, match="public_data"):
            pipeline.fit(X, public_data=PUBLIC)
    assert not hasattr(pipeline[-1], "privacy_")


@pytest.mark.parametrize("is_piped", [False, True])
@searches
def test_a_search_routes_public_rows_to_each_fit(is_piped):
    seen = []

    def score(estimator, rows, y=None):
        synth = estimator[-1] if is_piped else estimator
        seen.append(states_public_rows(synth))
        return synth.epsilon

    with config_context(enable_metadata_routing=True):
        synth = DPIndependentSynthesizer(schema=SCHEMA).set_fit_request(
            public_data=True
        )
        name = "dpindependentsynthesizer__epsilon" if is_piped else "epsilon"
        search = GridSearchCV(
            make_pipeline("passthrough", synth) if is_piped else synth,
            {name: [0.5, 2.0]},
            scoring=score,
            cv=KFold(3),
        ).fit(X, public_data=PUBLIC)
    assert seen == [True] * 6
    best = search.best_estimator_
    assert states_public_rows(best[-1] if is_piped else best)
    assert search.best_params_ == {name: 2.0}


@searches
def test_cross_validation_routes_public_rows():
    with config_context(enable_metadata_routing=True):
        synth = DPIndependentSynthesizer(schema=SCHEMA).set_fit_request(
            public_data=True
        )
        result = cross_validate(
            synth,
            X,
            scoring=epsilon_of,
            cv=KFold(3),
            params={"public_data": PUBLIC},
            return_estimator=True,
        )
    assert all(map(states_public_rows, result["estimator"]))


@searches
def test_public_rows_as_a_pair_are_not_split_into_folds():
    """A search splits any array that has as many rows as X; a pair stays whole."""
    public = PUBLIC.sample(len(X), replace=True, random_state=0)
    seen = []

    def score(synth, rows, y=None):
        seen.append(synth.privacy_.statements)
        return 0.0

    with config_context(enable_metadata_routing=True):
        synth = DPIndependentSynthesizer(schema=SCHEMA)
        synth.set_fit_request(public_data=True)
        search = GridSearchCV(synth, {"epsilon": [1.0]}, scoring=score, cv=KFold(3))
        search.fit(X, public_data=(public, None))
    said = "240 public rows without labels: taken as public"
    assert [said in statements for statements in seen] == [True] * 3


# ----------------------------------------------------------------------- groups


def never():
    raise AssertionError("a row was read")


@pytest.mark.parametrize("name", sorted(all_synthesizers()))
def test_groups_are_refused_before_a_row_is_read(name):
    synth = all_synthesizers()[name]()
    with pytest.raises(NotImplementedError, match="k rows has k times epsilon"):
        synth.fit(Chunks(never), groups=[0, 1])
    assert not hasattr(synth, "privacy_")


def test_groups_are_refused_by_each_algorithm():
    for synth in (
        DPKernelSynthesizer(algorithm="per_step"),
        DPMERFSynthesizer(generator=Generator(n_minibatches=3)),
    ):
        with pytest.raises(NotImplementedError, match="groups"):
            synth.fit(X, groups=np.arange(len(X)))


# --------------------------------------------------------------------- retrain

IMAGES = RNG.random((60, 8, 8))
FEW = Generator(max_iter=1, hidden_layer_sizes=(4,))
RETRAINED = {
    "DPIndependentSynthesizer": (DPIndependentSynthesizer(schema=SCHEMA), X, ()),
    "DPPairwiseSynthesizer": (
        DPPairwiseSynthesizer(schema=SCHEMA, max_iter=1),
        X,
        ("n_components", "max_iter", "learning_rate"),
    ),
    "DPMGESynthesizer": (DPMGESynthesizer(20.0, augmentation=None), IMAGES, ()),
    "DPMERFSynthesizer": (
        DPMERFSynthesizer(20.0, schema=SCHEMA, generator=FEW, n_features=10),
        X,
        ("batch_size", "hidden_layer_sizes", "learning_rate", "max_iter", "n_latent"),
    ),
    "DPDRESynthesizer": (DPDRESynthesizer(5.0, schema=SCHEMA), X, ("power",)),
}


@pytest.mark.parametrize("name", RETRAINED)
@no_support
def test_retrain_takes_what_needs_no_rows(name):
    synth, rows, names = RETRAINED[name]
    given = {"public_data": PUBLIC} if name == "DPDRESynthesizer" else {}
    synth.fit(rows, **given)
    before, model = str(synth.privacy_), synth._model
    said = f"takes {', '.join(names)} only" if names else "takes no parameters"
    for unknown in ("epsilon", "schema", "random_state", "nonsense"):
        with pytest.raises(TypeError, match=rf"retrain {said}.*Got {unknown}; "):
            synth.retrain(**{unknown: 1})
    assert synth._model is model
    assert str(synth.privacy_) == before
    assert synth.retrain() is synth
    assert not hasattr(synth, "refit")
