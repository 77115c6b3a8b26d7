import numpy as np
import pytest

from skdpgen.metrics import CLASSIFIERS, REGRESSORS, SyntheticUtility

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
