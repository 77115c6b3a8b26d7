"""What a search is charged, against what its fits paid, and what hides from it."""

import math
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold, ShuffleSplit
from sklearn.pipeline import make_pipeline

from skdpgen import (
    DPIndependentSynthesizer,
    Integer,
    Schema,
    search_cost,
)
from skdpgen.exceptions import SearchCostWarning
from skdpgen.privacy import compose_mu, gaussian_epsilon, gaussian_mu
from skdpgen.synthesizers.base import BaseSynthesizer
from skdpgen.synthesizers.tools import _search_cost
from tests.test_sklearn import done

pytestmark = [
    pytest.mark.filterwarnings("ignore::skdpgen.exceptions.SearchCostWarning"),
    pytest.mark.filterwarnings("ignore::skdpgen.exceptions.SchemaWarning"),
]
SCHEMA = {"age": Integer(0, 99)}
INF = math.inf


def ages(n_rows):
    return pd.DataFrame({"age": np.arange(n_rows) % 100})


def score(estimator, X, y=None):
    return estimator.epsilon if estimator.epsilon < 1 else 0.0


def searched(n_rows, *, epsilons=(0.5, 2.0), cv=3, refit=True, **params):
    return GridSearchCV(
        DPIndependentSynthesizer(**params),
        {"epsilon": list(epsilons)},
        scoring=score,
        cv=cv,
        refit=refit,
    ).fit(ages(n_rows))


@pytest.fixture
def reports(monkeypatch):
    """Collect the certificate of each fit, those of folds included."""
    found, keep = [], BaseSynthesizer._keep

    def kept(self, fitted):
        found.append(fitted.certificate)
        return keep(self, fitted)

    monkeypatch.setattr(BaseSynthesizer, "_keep", kept)
    return found


@pytest.mark.parametrize("cv", [3, KFold(5, shuffle=True), ShuffleSplit(2)], ids=str)
def test_folds_that_choose_other_deltas_are_covered(reports, cv):
    search = searched(10_001, cv=cv)  # of which a training set has 10,000 at most
    cost = search_cost(search)
    assert {report.delta for report in reports} == {1e-5, 1e-6}
    assert len(reports) == cost.n_fits
    *of_folds, refit = [report.mu for report in reports]  # what Gaussians may spend
    k = search.n_splits_
    times = k - 1 if isinstance(cv, int | KFold) else k
    # a row misses the fold of each candidate whose fit paid least
    parts = [sorted(of_folds[at : at + k])[k - times :] for at in (0, k)]
    mu = compose_mu([*parts[0], *parts[1], refit])
    of_fold, of_refit = reports[0].delta_selection, reports[-1].delta_selection
    kept = 2 * times * of_fold + of_refit
    assert cost.mu >= mu
    assert cost.epsilon >= gaussian_epsilon(mu, 1e-5) + kept
    assert cost.delta >= 1e-5 + kept


def test_a_fit_that_failed_after_it_paid_is_counted(reports):
    class Failing(DPIndependentSynthesizer):
        def retrain(self):
            if self.epsilon == 0.5:
                raise RuntimeError("after the release")
            return super().retrain()

    grid = {"epsilon": [0.5, 2.0]}
    search = GridSearchCV(Failing(), grid, scoring=score, cv=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search.fit(ages(300))
    assert len(reports) == 7
    assert np.isnan(search.cv_results_["mean_test_score"][0])
    assert search_cost(search) == search_cost(
        done(DPIndependentSynthesizer(), *({"epsilon": one} for one in (0.5, 2.0)))
    )


def test_a_schema_that_was_read_off_before_is_told_of():
    leaky = Schema.infer(ages(300))
    for one in (leaky, leaky.with_column("age", Integer(0, 99))):
        synth = DPIndependentSynthesizer(schema=one)
        assert str(search_cost(done(synth, {}))).startswith("LEAK")
        assert str(search_cost(done(synth, {"schema": None}, {}))).startswith("LEAK")
    of_public = Schema.from_public(ages(300))
    for one in (of_public, Schema(SCHEMA), SCHEMA, None):
        assert "LEAK" not in str(
            search_cost(done(DPIndependentSynthesizer(schema=one), {}))
        )


@pytest.mark.parametrize(
    "change",
    [
        {"estimator__epsilon": 0.01, "param_grid": {}},
        {"estimator__delta": 1e-9},
        {"cv": 2},
    ],
    ids=str,
)
def test_a_search_that_was_changed_since_has_no_cost(change):
    search = GridSearchCV(
        DPIndependentSynthesizer(epsilon=20.0),
        {"random_state": [0]},
        scoring=lambda estimator, X, y=None: 0.0,
        cv=3,
    ).fit(ages(300))
    search_cost(search)
    with pytest.raises(ValueError, match="parameters are those that it was fitted"):
        search_cost(search.set_params(**change))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
@pytest.mark.filterwarnings("ignore:One or more of the test scores")
def test_candidates_that_are_not_valid_cost_nothing(reports):
    cost = search_cost(searched(300, epsilons=(0.5, -1.0, 2.0, "much"), schema=SCHEMA))
    assert len(reports) == cost.n_fits == 7  # three folds of two, and the refit
    valid = search_cost(searched(300, schema=SCHEMA))
    assert (cost.epsilon, cost.delta, cost.mu) == (valid.epsilon, valid.delta, valid.mu)
    assert cost.n_refused == 2
    for text in (str(cost), cost._repr_html_()):
        assert "Left out: 2 of the candidates" in text
    assert "Left out" not in str(valid)
    none_valid = done(DPIndependentSynthesizer(), {"epsilon": -1.0})
    with pytest.raises(ValueError, match="a candidate with valid parameters"):
        search_cost(none_valid)


def test_what_has_a_score_counts_although_it_would_not_be_fitted_here(monkeypatch):
    """Parameters may be valid on the machine of the search only."""
    search = searched(300, schema=SCHEMA)
    cost = search_cost(search)
    monkeypatch.setattr(_search_cost, "_is_valid", lambda candidate: False)
    assert search_cost(search) == cost
    assert cost.n_refused == 0


def test_a_refit_counts_although_it_is_switched_off_afterwards():
    search = searched(300)
    cost = search_cost(search)
    assert search_cost(search.set_params(refit=False)) == cost
    assert search_cost(searched(300, refit=False)).n_fits == cost.n_fits - 1


def test_a_delta_above_one_over_the_rows_is_told_of():
    search = searched(110_000, cv=2, schema=SCHEMA)
    assert "above 1 / rows" in str(search_cost(search))
    assert search.best_estimator_.privacy_.delta == 1e-7  # each fit by itself is fine
    small = searched(110_000, cv=2, schema=SCHEMA, delta=1e-7)
    assert "above 1 / rows" not in str(search_cost(small))
    assert "above 1 / rows" not in str(search_cost(searched(300)))


def test_one_candidate_without_noise_makes_a_search_not_private():
    search = searched(300, epsilons=(0.5, INF))
    assert search.best_params_ == {"epsilon": 0.5}
    assert search_cost(search).epsilon == INF
    assert str(search_cost(search)).startswith("NOT PRIVATE")
    assert gaussian_mu(INF, 1e-5) == search_cost(search).mu == INF


# ----------------------------------------------------------------- the warning


def cost_warnings(fit):
    """Return the warnings of what a search costs that a call emits."""
    with warnings.catch_warnings(record=True) as emitted:
        warnings.simplefilter("always")
        fit()
    return [one for one in emitted if one.category is SearchCostWarning]


def test_a_search_warns_once():
    search = GridSearchCV(
        DPIndependentSynthesizer(), {"epsilon": [0.5, 2.0]}, scoring=score, cv=3
    )
    (warned,) = cost_warnings(lambda: search.fit(ages(300)))
    assert warned.filename == __file__  # where the user called fit
    assert "`search_cost(search)` adds them up" in str(warned.message)
    assert search_cost(search).n_fits == 7
    assert "as a clone" in str(search.best_estimator_.privacy_)  # each states it


def test_each_search_of_another_estimator_warns():
    for _ in range(2):
        assert len(cost_warnings(lambda: searched(300))) == 1


def test_a_search_inside_a_pipeline_warns_once():
    pipeline = make_pipeline("passthrough", DPIndependentSynthesizer())
    grid = {"dpindependentsynthesizer__epsilon": [0.5, 2.0]}
    search = GridSearchCV(pipeline, grid, scoring=lambda *_: 0.0, cv=2)
    assert len(cost_warnings(lambda: search.fit(ages(300)))) == 1


def test_clones_of_clones_share_the_warning_and_the_original_has_none():
    synth = DPIndependentSynthesizer(schema=SCHEMA)
    first = clone(synth)
    second = clone(first)
    assert len(cost_warnings(lambda: second.fit(ages(300)))) == 1
    assert cost_warnings(lambda: first.fit(ages(300))) == []
    assert cost_warnings(lambda: synth.fit(ages(300))) == []
    other = clone(DPIndependentSynthesizer(schema=SCHEMA))
    assert len(cost_warnings(lambda: other.fit(ages(300)))) == 1


def test_nothing_is_paid_if_the_warning_is_an_error():
    copy = clone(DPIndependentSynthesizer(schema=SCHEMA))
    with warnings.catch_warnings():
        warnings.simplefilter("error", SearchCostWarning)
        for _ in range(2):  # a second attempt is not silent
            with pytest.raises(SearchCostWarning):
                copy.fit(ages(300))
    assert not hasattr(copy, "privacy_")
