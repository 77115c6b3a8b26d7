import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skdpgen.metrics import SyntheticUtility
from tests.metrics._fakes import Bootstrap

FAST = ("logistic_regression", "decision_tree", "xgboost")


def test_binary_scores_rank_the_last_class(mixed):
    X, y = mixed
    scores = SyntheticUtility(classifiers=FAST).evaluate((X[:200], y[:200]), X, y)
    assert scores.attrs["positive_class"] == ">50K"
    assert scores.attrs["metric"] == "roc_auc"
    assert list(scores.index) == list(FAST)
    assert scores["roc_auc"].min() > 0.8
    assert scores["average_precision"].min() > 0.7


def test_labels_match_across_dtypes(mixed):
    X, y = mixed
    number = (y == ">50K").astype(int)
    utility = SyntheticUtility(classifiers=["lda"])
    expected = utility.evaluate((X, number), X, number)
    for dtype in (str, "category", "Int64", object):
        found = utility.evaluate((X, number.astype(dtype)), X, number)
        pd.testing.assert_frame_equal(found, expected)
    floats = utility.evaluate((X, number.astype(float)), X, number)
    pd.testing.assert_frame_equal(floats, expected)


def test_several_classes_and_one_that_was_never_sampled(rng):
    X = rng.normal(size=(300, 2))
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    utility = SyntheticUtility(classifiers=FAST)
    full = utility.evaluate((X, y), X, y)
    assert full.attrs["metric"] == "macro_f1"
    assert full["macro_f1"].min() > 0.9
    part = utility.evaluate((X[y != 1], y[y != 1]), X, y)
    assert (part["note"] == "").all()
    assert part["macro_f1"].max() < 2 / 3
    # a gap in the codes must not shift the labels
    assert part["accuracy"].min() > 0.55


def test_regression(rng):
    X = rng.normal(size=(300, 2))
    y = 1e4 + 100 * X[:, 0]
    utility = SyntheticUtility(classifiers=("ridge", "random_forest"))
    scores = utility.evaluate((X[:200], y[:200]), X[200:], y[200:])
    assert scores.attrs["task"] == "regression"
    assert scores["r2"].min() > 0.8
    model = Bootstrap().fit(X, y)
    by_error = SyntheticUtility(classifiers=("ridge",), metric="rmse")
    assert -5 < by_error(model, X, y) < 0
    wild = utility.evaluate((X, -1e6 * y), X, y)
    assert (wild["r2"] == -1).all()


def test_task_is_what_was_asked_for(rng):
    X = rng.normal(size=(60, 2))
    y = (X[:, 0] > 0).astype(float)
    utility = SyntheticUtility(classifiers=["decision_tree"])
    assert utility.evaluate((X, y), X, y).attrs["task"] == "regression"
    asked = SyntheticUtility(classifiers=["lda"], task="classification")
    assert asked.evaluate((X, y), X, y).attrs["task"] == "binary"
    model = Bootstrap().fit(X, y)
    model.task_ = "classification"
    assert utility.evaluate(model, X, y).attrs["task"] == "binary"


def test_one_synthetic_class_scores_chance(mixed):
    X, y = mixed
    only = y == ">50K"
    scores = SyntheticUtility(classifiers=FAST).evaluate((X[only], y[only]), X, y)
    assert (scores["roc_auc"] == 0.5).all()
    assert scores["average_precision"].tolist() == pytest.approx([only.mean()] * 3)
    assert scores["accuracy"].tolist() == pytest.approx([only.mean()] * 3)
    assert (scores["note"] != "").all()


@pytest.mark.parametrize("value", [3, None, "x", np.nan])
@pytest.mark.parametrize("names", [None, FAST])
def test_constant_columns_score_chance(mixed, value, names):
    _, y = mixed
    X = pd.DataFrame({"a": [value] * len(y), "b": [value] * len(y)})
    scores = SyntheticUtility(classifiers=names).evaluate((X, y), X, y)
    assert (scores["roc_auc"] == 0.5).all()
    share = (y == ">50K").mean()
    assert scores["average_precision"].tolist() == pytest.approx([share] * len(scores))


def test_no_synthetic_label_and_missing_labels(mixed):
    X, y = mixed
    utility = SyntheticUtility(classifiers=["lda"])
    nothing = pd.Series([None] * len(y), dtype=object)
    assert utility.evaluate((X, nothing), X, y)["roc_auc"].item() == 0.5
    holes = y.astype(object).where(np.arange(len(y)) % 3 > 0, None)
    assert utility.evaluate((X, holes), X, holes)["roc_auc"].item() > 0.8
    with pytest.raises(ValueError, match="target is known"):
        utility.evaluate((X, y), X, nothing)


def test_a_constant_test_target_is_noted(mixed):
    X, y = mixed
    rich = y == ">50K"
    utility = SyntheticUtility(classifiers=["lda", "decision_tree"])
    scores = utility.evaluate((X, y), X[rich], y[rich])
    assert (scores["note"].str.contains("roc_auc and average_precision are")).all()
    assert (utility.evaluate((X, y), X, y)["note"] == "").all()
    numbers = np.arange(float(len(X)))
    utility = SyntheticUtility(classifiers=["ridge"])
    scores = utility.evaluate((X, numbers), X[:9], np.full(9, 2.0))
    assert scores["note"].tolist() == ["y_test is constant: r2 is undefined"]


def test_labels_of_the_test_rows_are_needed(mixed):
    X, y = mixed
    with pytest.raises(ValueError, match=r"needs real labels. Got None instead of y"):
        SyntheticUtility(classifiers=["lda"]).evaluate((X, y), X, None)


def test_a_failing_model_is_noted_and_scores_chance(mixed, monkeypatch):
    X, y = mixed

    def broken(*args):
        raise FloatingPointError("no luck")

    monkeypatch.setattr("sklearn.tree.DecisionTreeClassifier.fit", broken)
    scores = SyntheticUtility(classifiers=FAST).evaluate((X, y), X, y)
    assert scores.loc["decision_tree", "roc_auc"] == 0.5
    assert scores.loc["decision_tree", "note"] == "failed: FloatingPointError: no luck"
    assert scores.loc["xgboost", "roc_auc"] > 0.8


def test_paper_protocol_scores_hard_predictions(mixed):
    X, y = mixed
    utility = SyntheticUtility("paper", classifiers=["logistic_regression"])
    scores = utility.evaluate((X, y), X, y).iloc[0]
    truth = (y == ">50K").to_numpy()
    modern = SyntheticUtility(classifiers=["logistic_regression"])
    assert scores["roc_auc"] < modern.evaluate((X, y), X, y).iloc[0]["roc_auc"]
    # hard ROC-AUC is the balanced accuracy, so it fixes the two error rates
    share = truth.mean()
    assert abs(scores["roc_auc"] - scores["accuracy"]) < abs(1 - 2 * share) + 0.05
    several = utility.evaluate((X, X["text"]), X, X["text"])
    assert several.attrs["metric"] == "weighted_f1"


def test_scorer_in_search_and_cross_validation(mixed):
    X, y = mixed
    utility = SyntheticUtility(classifiers=["lda"])
    folds = StratifiedKFold(2, shuffle=True, random_state=0)
    grid = {"shuffle": [True, False]}
    search = GridSearchCV(Bootstrap(), grid, scoring=utility, cv=folds)
    search.fit(X, y)
    assert search.best_params_ == {"shuffle": False}
    assert search.best_score_ > 0.8
    assert utility(search, X, y) > 0.8
    assert min(cross_val_score(Bootstrap(), X, y, scoring=utility, cv=2)) > 0.8


def test_pipeline_transforms_the_real_rows(rng):
    X = 1e3 + rng.normal(size=(200, 2))
    y = (X[:, 0] > 1e3).astype(int)
    model = make_pipeline(StandardScaler(), Bootstrap()).fit(X, y)
    assert SyntheticUtility(classifiers=["lda"])(model, X, y) > 0.9


def test_n_samples_reaches_the_estimator(mixed):
    X, y = mixed

    class Counting(Bootstrap):
        def sample(self, n_samples=None, random_state=None):
            self.asked_ = n_samples, random_state
            return super().sample(n_samples, random_state)

    model = Counting().fit(X, y)
    SyntheticUtility(classifiers=["lda"], n_samples=77, random_state=5)(model, X, y)
    assert model.asked_ == (77, 5)


def test_unlabelled_is_a_clear_error(mixed):
    X, y = mixed
    utility = SyntheticUtility(classifiers=["lda"])
    with pytest.raises(ValueError, match="Fit it with `y`"):
        utility(Bootstrap().fit(X), X, y)
    with pytest.raises(ValueError, match="Got None instead of y"):
        utility(Bootstrap().fit(X, y), X)


def test_repeats_pickles_and_does_not_depend_on_n_jobs(mixed):
    X, y = mixed
    model = Bootstrap().fit(X, y)
    one = SyntheticUtility().evaluate(model, X, y)
    again = pickle.loads(pickle.dumps(SyntheticUtility(n_jobs=2)))
    pd.testing.assert_frame_equal(again.evaluate(model, X, y), one)
    assert repr(again).startswith("SyntheticUtility(protocol='modern', n_samples=None")


@pytest.mark.parametrize(
    ("params", "match"),
    [
        ({"protocol": "old"}, "protocol must be one of"),
        ({"metric": "auc"}, "metric must be one of"),
        ({"classifiers": ["svm"]}, "classifiers must be one of"),
        ({"classifiers": []}, "classifiers must have a name"),
        ({"n_samples": 0}, "n_samples must be a positive integer"),
        ({"task": "ranking"}, "task must be one of"),
    ],
)
def test_bad_parameters(params, match):
    with pytest.raises(ValueError, match=match):
        SyntheticUtility(**params)


def test_parameters_of_another_task(mixed):
    X, y = mixed
    with pytest.raises(ValueError, match="metric \\(task binary\\)"):
        SyntheticUtility(metric="r2").evaluate((X, y), X, y)
    with pytest.raises(ValueError, match="classifiers \\(task binary\\)"):
        SyntheticUtility(classifiers=["ridge"]).evaluate((X, y), X, y)
