"""Every synthesizer is a citizen of scikit-learn."""

import math
import pickle
import warnings
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from skdpgen import (
    Discriminator,
    DPGANSynthesizer,
    DPIndependentSynthesizer,
    DPKernelSynthesizer,
    DPMEPFSynthesizer,
    DPMERFSynthesizer,
    Generator,
    SyntheticUtility,
    all_synthesizers,
    search_cost,
)
from skdpgen.exceptions import SearchCostWarning
from skdpgen.privacy import gaussian_epsilon, gaussian_mu, insecure_noise_seed
from skdpgen.synthesizers import load
from skdpgen.synthesizers.base import _synthesizer
from skdpgen.synthesizers.opening import open_rows
from skdpgen.tables import Schema
from tests._covering import parametrize_pairs, parametrize_some
from tests._made import made
from tests._seeded import same_noise
from tests.synthesizers._tables import CASES, build, quick

INF = float("inf")
CLASSES = sorted(all_synthesizers("tables").items())
BY_CLASS = {
    "indirect": ["cls"],
    "ids": lambda one: one[0] if isinstance(one, tuple) else one,
}
EXPECTED: dict[str, dict[str, str]] = {}  # class -> check -> why it must fail

# Costs of searches are added up in one way; the other classes are slow.
FEW = ("DPIndependentSynthesizer", "DPMERFSynthesizer", "DPPairwiseSynthesizer")
each_of_few = parametrize_some(
    "cls", [(one,) for one in CLASSES if one[0] in FEW], CLASSES, **BY_CLASS
)

# scikit-learn's checks fit tables of ten to fifty rows: they ask how an estimator
# behaves, not how well it discovers a schema under so few rows.
KNOWN = 1.0
INSTANCES = [
    one
    for _, cls in CLASSES
    for one in (
        cls(epsilon=INF, **quick(cls)),
        cls(epsilon=KNOWN, **quick(cls)),  # with a schema that is public
    )
]

# The checks fit clones, and searches do: they are told so, rightly.
searched = pytest.mark.filterwarnings("ignore::skdpgen.exceptions.SearchCostWarning")
FEW_ROWS = 1500  # are drawn for a score; 5,000 is the least by default
CHEAP = SyntheticUtility(classifiers=("lda", "decision_tree"), n_samples=FEW_ROWS)


def each_check():
    """Return scikit-learn's checks, each on one instance of a class; others are slow.

    Instances take turns: every class goes through every check, and so does either way
    to know a schema.
    """
    mark = parametrize_with_checks(
        INSTANCES,
        expected_failed_checks=lambda one: EXPECTED.get(type(one).__name__, {}),
        xfail_strict=True,
    )
    names, cases = mark.args
    places, params = Counter(), []
    for case in cases:
        estimator, check = getattr(case, "values", case)
        marks = list(getattr(case, "marks", ()))
        which = INSTANCES.index(estimator)
        if (places[which] + which // 2 + which) % 2:
            marks.append(pytest.mark.slow)
        params.append(pytest.param(estimator, check, marks=marks))
        places[which] += 1
    return pytest.mark.parametrize(names, params, **mark.kwargs)


@searched
@each_check()
def test_estimator_checks(estimator, check, monkeypatch):
    if estimator.epsilon == KNOWN:  # no schema fits the tables of all checks
        monkeypatch.setattr(_synthesizer, "open_rows", open_rows_of_known_schema)
    check(estimator)


def open_rows_of_known_schema(X, y, **params):
    """Open rows whose schema is public, whichever table a check comes with."""
    schema = Schema.infer(X, y, task=params["task"])
    return open_rows(X, y, **params | {"schema": schema})


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
    assert copy._fitted is None


def test_a_clone_keeps_its_output(cls, floats):
    copy = clone(build(cls, floats).set_output(transform="pandas"))
    with pytest.warns(SearchCostWarning):
        copy.fit(floats.X, floats.y)
    assert isinstance(copy.sample(3)[0], pd.DataFrame)


def test_the_representation_shows_what_was_set(cls):
    assert repr(cls()) == f"{cls.__name__}()"
    assert repr(cls(epsilon=3.0)) == f"{cls.__name__}(epsilon=3.0)"
    assert cls.__name__ in cls()._repr_html_()


def test_only_clones_warn_of_a_search(cls, floats):
    synth = build(cls, floats)
    synth.fit(floats.X, floats.y).fit(floats.X, floats.y)  # warnings are errors here
    with pytest.warns(SearchCostWarning, match="costs its own epsilon"):
        clone(synth).fit(floats.X, floats.y)


def test_a_loaded_or_unpickled_estimator_is_no_clone(cls, floats, tmp_path):
    synth = build(cls, floats).fit(floats.X, floats.y)
    synth.save(tmp_path / "synth.npz")
    load(tmp_path / "synth.npz").fit(floats.X, floats.y)
    pickle.loads(pickle.dumps(synth)).fit(floats.X, floats.y)


def test_at_the_end_of_a_pipeline(cls, floats):
    steps = FunctionTransformer(np.nan_to_num), StandardScaler()
    known = {"classes": [0, 1], "random_state": 0}
    synth = cls(epsilon=2.0, **known, **quick(cls))
    pipeline = make_pipeline(*steps, synth)
    with same_noise():
        pipeline.fit(floats.X, floats.y)
    assert CHEAP(pipeline, floats.X, floats.y) > 0.6
    assert pipeline[-1].n_features_in_ == 4


@parametrize_pairs(
    "cls, name", CLASSES, ["mixed", "polars", "regression"], strength=1, **BY_CLASS
)
def test_a_search_over_epsilon(cls, name):
    case = CASES[name]
    models = ("ridge", "lasso") if name == "regression" else CHEAP.classifiers
    grid = {"epsilon": [0.01, 8.0]}
    score = SyntheticUtility(classifiers=models, n_samples=FEW_ROWS)
    search = GridSearchCV(build(cls, case), grid, scoring=score, cv=2)
    with pytest.warns(SearchCostWarning), same_noise():
        search.fit(case.X, case.y)
    assert search.best_params_ == {"epsilon": 8.0}
    assert not np.isnan(search.cv_results_["mean_test_score"]).any()
    cost = search_cost(search)
    assert cost.n_fits == 5
    assert cost.epsilon > 8.0
    assert cost.delta >= 1e-5


@each_of_few
@searched
def test_the_cost_is_the_composition_of_all_fits(cls, floats):
    search = GridSearchCV(
        build(cls, floats, delta=1e-6), {"epsilon": [0.5, 2.0]}, scoring=CHEAP, cv=3
    ).fit(floats.X, floats.y)
    cost = search_cost(search)
    spent, dearest = (
        math.sqrt(
            sum(2 * gaussian_mu(epsilon, 1e-6) ** 2 for epsilon in (0.5, 2.0))
            + gaussian_mu(refitted, 1e-6) ** 2
        )
        for refitted in (search.best_params_["epsilon"], 2.0)
    )
    assert cost.epsilon >= gaussian_epsilon(spent, 1e-6)
    charged = cost.epsilon / gaussian_epsilon(dearest, 1e-6)  # whichever scored best
    assert 1 <= charged < 1.2
    assert "held-out rows" in str(cost)


def search_at_random(pipeline, case):
    step = pipeline.steps[-1][0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return RandomizedSearchCV(
            pipeline,
            {f"{step}__epsilon": [1.0, 4.0]},
            n_iter=2,
            scoring=CHEAP,
            cv=2,
            random_state=0,
        ).fit(case.X, case.y)


@each_of_few
@searched
def test_a_search_inside_a_pipeline_and_at_random(cls, floats):
    pipeline = make_pipeline("passthrough", build(cls, floats))
    assert search_cost(search_at_random(pipeline, floats)).n_fits == 5


@each_of_few
@searched
def test_a_search_behind_a_fitted_step_has_no_cost(cls, floats):
    pipeline = make_pipeline(StandardScaler(), build(cls, floats))
    search = search_at_random(pipeline, floats)
    with pytest.raises(ValueError, match=r"Got StandardScaler.*leave it out"):
        search_cost(search)


def done(estimator, *candidates, **params):
    """Return what a search over three folds leaves behind, without its fits."""
    facts = {"estimator": estimator, "cv": 3, "n_splits_": 3, "refit": True}
    return SimpleNamespace(**facts | {"cv_results_": {"params": candidates}} | params)


@pytest.mark.parametrize("inner", [False, True])
def test_steps_are_looked_at_as_the_candidate_has_them(inner):
    synth = DPIndependentSynthesizer(classes=[0, 1])
    scaled = Pipeline([("scale", StandardScaler()), ("synth", synth)])
    scaled = make_pipeline("passthrough", scaled) if inner else scaled
    name = "pipeline__scale" if inner else "scale"
    plain = {name: "passthrough"}
    assert search_cost(done(scaled, plain)) == search_cost(done(synth, {}))
    with pytest.raises(ValueError, match="synthesizers need no scaler"):
        search_cost(done(scaled, plain, {}))


@pytest.mark.parametrize(
    "estimator",
    [StandardScaler(), make_pipeline(StandardScaler()), make_pipeline(None)],
)
def test_what_is_searched_must_be_a_synthesizer(estimator):
    with pytest.raises(TypeError, match="adds up fits of a synthesizer"):
        search_cost(done(estimator, {}))


def test_the_choice_is_not_covered_and_the_text_says_so():
    cost = search_cost(done(DPIndependentSynthesizer(), {}))
    assert "choice among candidates" in str(cost)
    assert "not covered" in str(cost)


def test_selections_are_paid_for_in_epsilon_and_in_delta():
    cost = search_cost(done(DPIndependentSynthesizer(epsilon=4.0, delta=0.2), {}))
    kept, n_fits = 0.02, 3  # of delta; two folds and the refit
    paid = n_fits * -math.log1p(-kept)
    assert cost.epsilon == pytest.approx(gaussian_epsilon(cost.mu, 0.2) + paid)
    assert cost.delta == pytest.approx(0.2 + n_fits * kept)


def test_one_candidate_that_leaks_is_told_of():
    synth = DPIndependentSynthesizer()
    leak = {"schema": Schema.infer(pd.DataFrame([1]))}
    for candidates in ([{}, leak], [leak, {}]):
        assert str(search_cost(done(synth, *candidates))).startswith("LEAK")
    assert "LEAK" not in str(search_cost(done(synth, {})))


@pytest.mark.filterwarnings("ignore::skdpgen.exceptions.NotPrivateWarning")
@pytest.mark.parametrize("is_inside", [False, True])
def test_a_search_with_seeded_noise_is_not_private(mixed, is_inside):
    synth = build(DPIndependentSynthesizer, mixed)
    with insecure_noise_seed(0):
        best = synth.fit(mixed.X, mixed.y)
    best = make_pipeline("passthrough", best) if is_inside else best
    cost = search_cost(done(synth, {}, best_estimator_=best))
    assert str(cost).startswith("NOT PRIVATE: the noise came from insecure_noise_seed")
    secure = build(DPIndependentSynthesizer, mixed).fit(mixed.X, mixed.y)
    cost = search_cost(done(synth, {}, best_estimator_=secure))
    assert "NOT PRIVATE" not in str(cost)


SAMPLED = [
    DPKernelSynthesizer(algorithm="per_step", generator=Generator(max_iter=50)),
    DPMERFSynthesizer(generator=Generator(network="private")),
    DPGANSynthesizer(discriminator=Discriminator(max_iter=50)),
    DPMEPFSynthesizer(lens="private"),
]


@pytest.mark.parametrize("synth", SAMPLED, ids=repr)
def test_a_search_that_sub_samples_is_composed_by_renyi(synth):
    grid = [{"epsilon": epsilon} for epsilon in (0.5, 2.0)]
    cost = search_cost(done(synth, *grid))
    exact = search_cost(done(DPIndependentSynthesizer(), *grid))
    assert cost.mu is None
    assert (cost.delta, cost.n_fits) == (exact.delta, exact.n_fits)
    assert exact.epsilon < cost.epsilon < 1.25 * exact.epsilon
    assert search_cost(done(synth, *grid, refit=False)).epsilon < cost.epsilon
    endless = search_cost(done(synth, *grid, {"epsilon": INF}))
    assert endless.epsilon == INF
    assert str(endless).startswith("NOT PRIVATE")


def test_steps_that_see_all_rows_are_composed_exactly():
    synth = DPKernelSynthesizer(algorithm="per_step", sampling_rate=1.0)
    assert search_cost(done(synth, {})) == search_cost(done(DPMERFSynthesizer(), {}))


@pytest.mark.parametrize("preset", ["default", "paper"])
def test_steps_are_the_same_of_tables_and_images(preset):
    pictures = np.zeros((9, 8, 8))
    table = pd.DataFrame({"a": range(9)})
    for kind, rows in (("table", table), ("images", pictures)):
        synth = made(
            DPKernelSynthesizer, preset=preset, data=kind, algorithm="per_step"
        )
        known, settings = synth._subsampling(), synth._fill_settings(rows)
        assert settings.sampling_rate == known.sampling_rate
        assert settings.max_iter == known.n_steps


def test_the_cost_of_a_search_that_was_not_fitted(cls):
    with pytest.raises(Exception, match="not fitted"):
        search_cost(GridSearchCV(cls(), {"epsilon": [1.0]}))


@parametrize_pairs("cls, name", CLASSES, ["mixed", "floats"], strength=1, **BY_CLASS)
def test_cross_validation(cls, name):
    case = CASES[name]
    with pytest.warns(SearchCostWarning), same_noise():
        scores = cross_val_score(
            build(cls, case, epsilon=4.0), case.X, case.y, scoring=CHEAP, cv=2
        )
    assert scores.shape == (2,)
    assert (scores > 0.55).all()
