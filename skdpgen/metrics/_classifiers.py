"""The twelve classifiers and the twelve regressors, as data.

A change of any setting gets a new version string: only scores of one version compare.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import ElasticNet, Lasso, LogisticRegression, Ridge
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.svm import LinearSVC, LinearSVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from xgboost import XGBClassifier, XGBRegressor

from skdpgen.metrics._cnn import ImageCNN


@dataclass(frozen=True)
class ModelSpec:
    """A named, versioned model with every setting that matters pinned.

    Examples
    --------
    >>> spec = ModelSpec("ridge", "example-1", Ridge, {"alpha": 2.0})
    >>> spec.build(random_state=0)
    Ridge(alpha=2.0, random_state=0)
    """

    name: str
    version: str
    kind: type[BaseEstimator]
    settings: Mapping[str, Any] = field(default_factory=dict)

    def build(self, random_state: int | None, shape: Any = None) -> BaseEstimator:
        """Make an unfitted model; seeded and single-threaded where it can be.

        A model that sees images as such gets their ``shape``.
        """
        settings = dict(self.settings)
        if self.kind is ImageCNN:
            settings["shape"] = shape
        model = self.kind(**settings)
        known = model.get_params(deep=False)
        shared = {"random_state": random_state, "n_jobs": 1}
        fitting = {key: value for key, value in shared.items() if key in known}
        if known.get("n_jobs", 1) is None:
            fitting.pop("n_jobs", None)  # None means one job there, and prints shorter
        return model.set_params(**fitting)


def _table(version: str, *rows: tuple[str, Any, dict[str, Any]]) -> dict[str, Any]:
    return {
        name: ModelSpec(name, version, kind, settings) for name, kind, settings in rows
    }


# fmt: off
_MODERN_CLASSIFIERS = _table(
    "modern-1",
    ("logistic_regression", LogisticRegression, {"C": 1.0, "max_iter": 200}),
    ("gaussian_nb", GaussianNB, {"var_smoothing": 1e-9}),
    ("bernoulli_nb", BernoulliNB, {"alpha": 1.0, "binarize": 0.0}),
    ("linear_svm", LinearSVC, {"C": 0.1, "dual": False, "max_iter": 1000}),
    ("decision_tree", DecisionTreeClassifier,
     {"max_depth": None, "min_samples_leaf": 1}),
    ("lda", LinearDiscriminantAnalysis, {"solver": "lsqr", "shrinkage": 1e-3}),
    ("adaboost", AdaBoostClassifier, {"n_estimators": 50, "learning_rate": 1.0}),
    ("bagging", BaggingClassifier, {"n_estimators": 10, "max_samples": 1.0}),
    ("random_forest", RandomForestClassifier,
     {"n_estimators": 100, "min_samples_leaf": 1, "max_features": "sqrt"}),
    ("gradient_boosting", HistGradientBoostingClassifier, {
        "max_iter": 100, "learning_rate": 0.1, "max_leaf_nodes": 31,
        "early_stopping": False}),
    ("mlp", MLPClassifier, {
        "hidden_layer_sizes": (64,), "alpha": 1e-2, "learning_rate_init": 1e-3,
        "max_iter": 40, "tol": 1e-3, "n_iter_no_change": 5}),
    ("xgboost", XGBClassifier, {
        "n_estimators": 100, "max_depth": 6, "learning_rate": 0.3,
        "tree_method": "hist"}),
)

# The DP-MERF authors' tabular script: scikit-learn 0.21's defaults (10 trees in a
# forest), except for the first and third model; xgboost's defaults before 1.0.
_PAPER_CLASSIFIERS = _table(
    "paper-2",
    ("logistic_regression", LogisticRegression, {"C": 1.0, "max_iter": 2000}),
    ("gaussian_nb", GaussianNB, {"var_smoothing": 1e-9}),
    ("bernoulli_nb", BernoulliNB, {"alpha": 0.02, "binarize": 0.0}),
    ("linear_svm", LinearSVC,
     {"C": 1.0, "loss": "squared_hinge", "dual": True, "max_iter": 1000}),
    ("decision_tree", DecisionTreeClassifier, {}),
    ("lda", LinearDiscriminantAnalysis, {"solver": "svd"}),
    ("adaboost", AdaBoostClassifier, {"n_estimators": 50, "learning_rate": 1.0}),
    ("bagging", BaggingClassifier, {"n_estimators": 10, "max_samples": 1.0}),
    ("random_forest", RandomForestClassifier, {"n_estimators": 10}),
    ("gradient_boosting", GradientBoostingClassifier,
     {"n_estimators": 100, "learning_rate": 0.1, "max_depth": 3}),
    ("mlp", MLPClassifier, {"hidden_layer_sizes": (100,), "max_iter": 200}),
    ("xgboost", XGBClassifier,
     {"n_estimators": 100, "learning_rate": 0.1, "max_depth": 3}),
)

# For images, on flat pixels in [0, 1]. Stumps and small samples keep ten classes of 784
# pixels within minutes; the network sees rows and columns and is requested by name.
_IMAGE_CLASSIFIERS = _table(
    "images-1",
    ("logistic_regression", LogisticRegression, {"C": 1.0, "max_iter": 200}),
    ("gaussian_nb", GaussianNB, {"var_smoothing": 1e-2}),
    ("bernoulli_nb", BernoulliNB, {"alpha": 1.0, "binarize": 0.5}),
    ("linear_svm", LinearSVC, {"C": 0.1, "dual": False, "max_iter": 300}),
    ("decision_tree", DecisionTreeClassifier, {}),
    ("lda", LinearDiscriminantAnalysis, {"solver": "lsqr", "shrinkage": 1e-2}),
    ("adaboost", AdaBoostClassifier, {"n_estimators": 100, "learning_rate": 0.7}),
    ("bagging", BaggingClassifier, {"n_estimators": 20, "max_samples": 0.1}),
    ("random_forest", RandomForestClassifier, {"n_estimators": 100}),
    ("gradient_boosting", HistGradientBoostingClassifier, {
        "max_iter": 30, "learning_rate": 0.2, "max_leaf_nodes": 15,
        "max_features": 0.1, "early_stopping": False}),
    ("mlp", MLPClassifier, {"hidden_layer_sizes": (100,), "max_iter": 30}),
    ("xgboost", XGBClassifier, {
        "n_estimators": 50, "colsample_bytree": 0.1, "tree_method": "hist"}),
)
IMAGE_NETWORK = ModelSpec("cnn", "images-1", ImageCNN, {"max_iter": 1000})

_MODERN_REGRESSORS = _table(
    "modern-1",
    ("ridge", Ridge, {"alpha": 1.0}),
    ("lasso", Lasso, {"alpha": 1e-3, "max_iter": 1000}),
    ("elastic_net", ElasticNet, {"alpha": 1e-3, "l1_ratio": 0.5, "max_iter": 1000}),
    ("linear_svm", LinearSVR, {
        "C": 0.1, "loss": "squared_epsilon_insensitive", "dual": False}),
    ("k_neighbors", KNeighborsRegressor, {"n_neighbors": 15}),
    ("decision_tree", DecisionTreeRegressor,
     {"max_depth": 12, "min_samples_leaf": 10}),
    ("adaboost", AdaBoostRegressor, {
        "estimator": DecisionTreeRegressor(max_depth=4, min_samples_leaf=5),
        "n_estimators": 50, "learning_rate": 0.5}),
    ("bagging", BaggingRegressor, {
        "estimator": DecisionTreeRegressor(min_samples_leaf=5),
        "n_estimators": 20, "max_samples": 0.5}),
    ("random_forest", RandomForestRegressor,
     {"n_estimators": 50, "min_samples_leaf": 3, "max_features": 1 / 3}),
    ("gradient_boosting", HistGradientBoostingRegressor, {
        "max_iter": 100, "learning_rate": 0.1, "max_leaf_nodes": 31,
        "early_stopping": False}),
    ("mlp", MLPRegressor, {
        "hidden_layer_sizes": (64,), "alpha": 1e-2, "learning_rate_init": 1e-3,
        "max_iter": 40, "tol": 1e-3, "n_iter_no_change": 5}),
    ("xgboost", XGBRegressor, {
        "n_estimators": 100, "max_depth": 5, "learning_rate": 0.2,
        "tree_method": "hist"}),
)

_PAPER_REGRESSORS = _table(
    "paper-1",
    ("ridge", Ridge, {}),
    ("lasso", Lasso, {"alpha": 1e-3}),
    ("elastic_net", ElasticNet, {"alpha": 1e-3}),
    ("linear_svm", LinearSVR, {"max_iter": 10_000}),
    ("k_neighbors", KNeighborsRegressor, {}),
    ("decision_tree", DecisionTreeRegressor, {}),
    ("adaboost", AdaBoostRegressor, {}),
    ("bagging", BaggingRegressor, {}),
    ("random_forest", RandomForestRegressor, {}),
    ("gradient_boosting", GradientBoostingRegressor, {}),
    ("mlp", MLPRegressor, {}),
    ("xgboost", XGBRegressor, {}),
)
# fmt: on

CLASSIFIERS: dict[str, dict[str, ModelSpec]] = {
    "images": _IMAGE_CLASSIFIERS,
    "modern": _MODERN_CLASSIFIERS,
    "paper": _PAPER_CLASSIFIERS,
}
REGRESSORS: dict[str, dict[str, ModelSpec]] = {
    "modern": _MODERN_REGRESSORS,
    "paper": _PAPER_REGRESSORS,
}
