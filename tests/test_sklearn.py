"""Every synthesizer is a citizen of scikit-learn."""

import math
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from skdpgen import SearchCostWarning, SyntheticUtility, all_synthesizers, search_cost
from skdpgen.privacy import gaussian_epsilon, gaussian_mu
from skdpgen.synthesizers import load
from tests.synthesizers._tables import CASES, build, quick

INF = float("inf")
CLASSES = sorted(all_synthesizers().items())
EXPECTED: dict[str, dict[str, str]] = {}  # class -> check -> why it must fail

# scikit-learn's checks fit tables of ten to fifty rows: they ask how an estimator
# behaves, not how well it discovers a schema under so few rows.
INSTANCES = [
    one
    for _, cls in CLASSES
    for one in (
        cls(epsilon=INF, **quick(cls)),
        cls(epsilon=1.0, schema="infer", **quick(cls)),
    )
]

# An inferred schema leaks, and the checks fit clones: both say so, rightly.
quiet = pytest.mark.filterwarnings(
    "ignore::skdpgen.PrivacyLeakWarning", "ignore::skdpgen.SearchCostWarning"
)
searched = pytest.mark.filterwarnings("ignore::skdpgen.SearchCostWarning")
CHEAP = SyntheticUtility(classifiers=("lda", "decision_tree"))


@quiet
@parametrize_with_checks(
    INSTANCES,
    expected_failed_checks=lambda one: EXPECTED.get(type(one).__name__, {}),
    xfail_strict=True,
)
def test_estimator_checks(estimator, check):
    check(estimator)


@pytest.fixture(params=CLASSES, ids=[name for name, _ in CLASSES])
def cls(request):
    return request.param[1]


@pytest.fixture
def mixed():
    return CASES["mixed"]


@pytest.fixture
def floats():
    return CASES["floats"]


def test_a_clone_has_the_parameters_and_none_of_the_state(cls, mixed):
    synth = build(cls, mixed, epsilon=2.0).fit(mixed.X, mixed.y)
    copy = clone(synth)
    before, after = synth.get_params(), copy.get_params()
    assert before.keys() == after.keys()
    assert {k: str(v) for k, v in before.items()} == {
        k: str(v) for k, v in after.items()
    }
    assert not [name for name in vars(copy) if name.endswith("_")]


def test_a_clone_keeps_its_output(cls, floats):
    copy = clone(build(cls, floats).set_output(transform="pandas"))
    with pytest.warns(SearchCostWarning):
        copy.fit(floats.X, floats.y)
    assert isinstance(copy.sample(3)[0], pd.DataFrame)


def test_the_representation_shows_what_was_set(cls):
    assert repr(cls()) == f"{cls.__name__}()"
    assert repr(cls(epsilon=3.0)) == f"{cls.__name__}(epsilon=3.0)"
    assert cls.__name__ in cls()._repr_html_()


def test_only_clones_warn_of_a_search(cls, mixed):
    synth = build(cls, mixed)
    synth.fit(mixed.X, mixed.y).fit(mixed.X, mixed.y)  # warnings are errors here
    with pytest.warns(SearchCostWarning, match="costs its own epsilon"):
        clone(synth).fit(mixed.X, mixed.y)


def test_a_loaded_or_unpickled_estimator_is_no_clone(cls, mixed, tmp_path):
    synth = build(cls, mixed).fit(mixed.X, mixed.y)
    synth.save(tmp_path / "synth.npz")
    load(tmp_path / "synth.npz").fit(mixed.X, mixed.y)
    pickle.loads(pickle.dumps(synth)).fit(mixed.X, mixed.y)


def test_at_the_end_of_a_pipeline(cls, floats):
    steps = FunctionTransformer(np.nan_to_num), StandardScaler()
    pipeline = make_pipeline(*steps, cls(epsilon=2.0, classes=[0, 1], random_state=0))
    pipeline.fit(floats.X, floats.y)
    assert CHEAP(pipeline, floats.X, floats.y) > 0.6
    assert pipeline[-1].n_features_in_ == 4


@pytest.mark.parametrize("name", ["mixed", "polars", "regression"])
def test_a_search_over_epsilon(cls, name):
    case = CASES[name]
    models = ("ridge", "lasso") if name == "regression" else CHEAP.classifiers
    grid = {"epsilon": [0.01, 8.0]}
    search = GridSearchCV(
        build(cls, case), grid, scoring=SyntheticUtility(classifiers=models), cv=2
    )
    with pytest.warns(SearchCostWarning):
        search.fit(case.X, case.y)
    assert search.best_params_ == {"epsilon": 8.0}
    assert not np.isnan(search.cv_results_["mean_test_score"]).any()
    cost = search_cost(search)
    assert cost.n_fits == 5
    assert cost.epsilon > 8.0
    assert cost.delta >= 1e-5


@searched
def test_the_cost_is_the_composition_of_all_fits(cls, mixed):
    search = GridSearchCV(
        build(cls, mixed, delta=1e-6), {"epsilon": [0.5, 2.0]}, scoring=CHEAP, cv=3
    ).fit(mixed.X, mixed.y)
    cost = search_cost(search)
    best = search.best_params_["epsilon"]
    plain = math.sqrt(
        sum(2 * gaussian_mu(epsilon, 1e-6) ** 2 for epsilon in (0.5, 2.0))
        + gaussian_mu(best, 1e-6) ** 2
    )
    least = gaussian_epsilon(plain, 1e-6)  # the refit may have been of the dearest
    assert best == 2.0 or cost.epsilon > least
    assert least <= cost.epsilon < 1.2 * least
    assert "held-out rows" in str(cost)


@searched
def test_a_search_inside_a_pipeline_and_at_random(cls, floats):
    pipeline = make_pipeline(StandardScaler(), build(cls, floats))
    step = pipeline.steps[-1][0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        search = RandomizedSearchCV(
            pipeline,
            {f"{step}__epsilon": [1.0, 4.0]},
            n_iter=2,
            scoring=CHEAP,
            cv=2,
            random_state=0,
        ).fit(floats.X, floats.y)
    assert search_cost(search).n_fits == 5


def test_the_cost_of_a_search_that_was_not_fitted(cls):
    with pytest.raises(Exception, match="not fitted"):
        search_cost(GridSearchCV(cls(), {"epsilon": [1.0]}))


@pytest.mark.parametrize("name", ["mixed", "floats"])
def test_cross_validation(cls, name):
    case = CASES[name]
    with pytest.warns(SearchCostWarning):
        scores = cross_val_score(
            build(cls, case, epsilon=4.0), case.X, case.y, scoring=CHEAP, cv=3
        )
    assert scores.shape == (3,)
    assert (scores > 0.55).all()
