import numpy as np
import pytest

from skdpgen.metrics import CLASSIFIERS, REGRESSORS, SyntheticUtility
from skdpgen.metrics._models import MeanBernoulliNB, SwappedNB
from skdpgen.metrics._utility import _highest

NAMES = [
    "logistic_regression",
    "gaussian_nb",
    "bernoulli_nb",
    "linear_svm",
    "decision_tree",
    "lda",
    "adaboost",
    "bagging",
    "random_forest",
    "gradient_boosting",
    "mlp",
    "xgboost",
]


@pytest.mark.parametrize("protocol", ["modern", "paper"])
def test_there_are_twelve_of_each(protocol):
    assert list(CLASSIFIERS[protocol]) == NAMES
    assert len(REGRESSORS[protocol]) == 12
    for spec in [*CLASSIFIERS[protocol].values(), *REGRESSORS[protocol].values()]:
        model = spec.build(random_state=7)
        params = model.get_params()
        assert spec.version.startswith(protocol)
        assert params.get("random_state", 7) == 7
        assert params.get("n_jobs", 1) in (1, None)


@pytest.mark.parametrize("table", [CLASSIFIERS, REGRESSORS])
@pytest.mark.parametrize("protocol", ["modern", "paper"])
def test_every_model_learns(table, protocol, rng):
    X = rng.normal(size=(150, 3))
    y = X[:, 0] if table is REGRESSORS else (X[:, 0] > 0).astype(int)
    scores = SyntheticUtility(protocol=protocol).evaluate((X, y), X, y)
    primary = scores.attrs["metric"]
    assert (scores["note"] == "").all()
    assert scores[primary].min() > 0.6


def test_tiny_samples_and_rare_classes_do_not_fail(rng):
    X = rng.normal(size=(30, 2))
    y = np.arange(30) % 5
    y[0] = 9
    for protocol in ("modern", "paper"):
        scores = SyntheticUtility(protocol=protocol).evaluate((X, y), X, y)
        assert (scores["note"] == "").all()


# ----------------------------------------------------------------------------
# The protocol that chooses classifiers on the test rows, as DP-HP and DP-NTK do.

QUICK = ["bernoulli_nb", "gaussian_nb", "lda", "logistic_regression"]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_model_is_the_best_of_its_settings_on_the_test_rows(n_classes, rng):
    X = rng.random(size=(120, 3))
    y = (X[:, :2].sum(axis=1) * n_classes / 2).astype(int)
    rows, test = (X[:60], y[:60]), (X[60:], y[60:])
    utility = SyntheticUtility(protocol="selected", classifiers=QUICK)
    scores = utility.evaluate(rows, *test)
    assert (scores["note"] == "").all()
    assert scores.attrs["metric"] == ("roc_auc" if n_classes == 2 else "weighted_f1")
    specs = {spec.name: spec for spec in utility._specs(*_task(n_classes))}
    first = SyntheticUtility(protocol="paper", classifiers=["gaussian_nb"])
    alone = first.evaluate(rows, *test).loc["gaussian_nb"]
    assert scores.loc["gaussian_nb", "accuracy"] >= alone["accuracy"]
    assert len(specs["gaussian_nb"].choices(0)) == (2 if n_classes == 2 else 14)


def _task(n_classes):
    return "binary" if n_classes == 2 else "multiclass", "selected"


def test_choices_take_the_highest_of_those_that_can_be_scored():
    scores = [
        {"roc_auc": 0.5, "f1": 0.4, "note": "failed: it"},
        {"roc_auc": 0.4, "f1": 0.2, "note": ""},
        {"roc_auc": 0.3, "f1": 0.3, "note": ""},
    ]
    assert _highest(scores) == {"roc_auc": 0.4, "f1": 0.3, "note": ""}
    assert _highest(scores[:1]) == scores[0]


def test_priors_and_thresholds_are_those_of_the_code_of_dp_hp():
    X, y = np.array([[0.0], [1.0], [4.0], [3.0]]), np.array([0, 1, 1, 1])
    assert SwappedNB().fit(X, y).class_prior_.tolist() == [0.75, 0.25]
    assert MeanBernoulliNB().fit(X, y).binarize == 2.0
    assert MeanBernoulliNB().fit(-X, y).binarize == 0.0


def test_numbers_are_not_scored_by_chosen_models(rng):
    X = rng.normal(size=(20, 2))
    with pytest.raises(ValueError, match="by the protocol 'selected', are scored by"):
        SyntheticUtility(protocol="selected").evaluate((X, X[:, 0]), X, X[:, 0])
