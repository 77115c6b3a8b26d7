"""The twelve classifiers and the twelve regressors that score, as data.

A change of any setting gets a new version string: only scores of one version compare.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
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
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.svm import LinearSVC, LinearSVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from xgboost import XGBClassifier, XGBRegressor

from skdpgen.metrics._image_networks import (
    ImageCNN,
    ImageNetwork,
    ResNet9,
    StridedCNN,
)


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
    others: tuple[tuple[type[BaseEstimator], Mapping[str, Any]], ...] = ()

    def build(
        self, random_state: int | None, shape: tuple[int, int, int] | None = None
    ) -> BaseEstimator:
        """Make an unfitted model; seeded and single-threaded where it can be.

        A model that sees images as such gets their ``shape``.
        """
        settings = dict(self.settings)
        if issubclass(self.kind, ImageNetwork):
            settings["shape"] = shape
        return self._seeded(self.kind(**settings), random_state)

    def choices(
        self, random_state: int | None, shape: tuple[int, int, int] | None = None
    ) -> list[BaseEstimator]:
        """Make the model of :meth:`build`, and those that it is chosen from."""
        others = [kind(**settings) for kind, settings in self.others]
        return [
            self.build(random_state, shape),
            *(self._seeded(other, random_state) for other in others),
        ]

    @staticmethod
    def _seeded(model: BaseEstimator, random_state: int | None) -> BaseEstimator:
        parameters = model.get_params(deep=False)
        shared = {"random_state": random_state, "n_jobs": 1}
        fitting = {key: value for key, value in shared.items() if key in parameters}
        if parameters.get("n_jobs", 1) is None:
            fitting.pop("n_jobs", None)  # None means one job there, and prints shorter
        return model.set_params(**fitting)


def _table(
    version: str, *rows: tuple[str, type[BaseEstimator], dict[str, Any]]
) -> dict[str, ModelSpec]:
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

# fmt: on


class SwappedNB(GaussianNB):  # type: ignore[misc]
    """Each of two classes gets the share of the other, as in the code of DP-HP."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "SwappedNB":
        """Fit, with the shares of the classes in reverse order."""
        _, counts = np.unique(y, return_counts=True)
        self.priors = counts[::-1] / counts.sum()
        fitted: SwappedNB = super().fit(X, y, sample_weight)
        return fitted


class MeanBernoulliNB(BernoulliNB):  # type: ignore[misc]
    """Features are 1 above the mean of all of them, as in the code of DP-HP."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "MeanBernoulliNB":
        """Fit, with the mean of the training rows as the threshold; 0 if it is less."""
        self.binarize = max(float(np.mean(X)), 0.0)
        fitted: MeanBernoulliNB = super().fit(X, y, sample_weight)
        return fitted


Choices = Sequence[Mapping[str, Any]]


def _chosen(
    version: str,
    *rows: tuple[str, type[BaseEstimator], Choices],
    more: Mapping[str, Sequence[tuple[type[BaseEstimator], Mapping[str, Any]]]],
) -> dict[str, ModelSpec]:
    return {
        name: ModelSpec(
            name,
            version,
            kind,
            choices[0],
            (*((kind, each) for each in choices[1:]), *more.get(name, ())),
        )
        for name, kind, choices in rows
    }


# The code of DP-HP: the setting of each model that does best on the test rows. That of
# DP-NTK has a kernel in the SVM of two classes, and no lasso with weights of classes.
# Most of their AdaBoosts weighted by probabilities (SAMME.R), which scikit-learn has no
# more. Settings that are the same, there or here, stand once.
_LASSO: dict[str, Any] = {
    "l1_ratio": 1.0,
    "solver": "liblinear",
    "tol": 1e-8,
    "class_weight": "balanced",
}
_TREE: dict[str, Any] = {"criterion": "entropy", "class_weight": "balanced"}
_HINGE: dict[str, Any] = {"loss": "hinge", "max_iter": 10_000, "tol": 1e-8}
_FORESTS: Choices = [{}, *({"n_estimators": n} for n in (200, 70, 30, 10))]
_BOOSTED: Choices = [
    {},
    {"n_estimators": 100, "learning_rate": 0.8},
    {"n_estimators": 200, "learning_rate": 0.5},
    {"n_estimators": 100, "learning_rate": 0.5},
]
_BAGS: Choices = [{}, {"n_estimators": 20, "max_samples": 0.1}]
_LINES: Choices = [
    {},
    {"max_iter": 50_000, "tol": 1e-12},
    {"solver": "saga", "l1_ratio": 1.0, "tol": 1e-12},
]
_SHRUNK: Choices = [
    {},
    {"solver": "eigen", "shrinkage": "auto"},
    {"solver": "lsqr", "shrinkage": 0.6},
    {"solver": "lsqr", "shrinkage": 0.75},
]
_SLOPES: Choices = [
    {},
    _HINGE,
    {**_HINGE, "class_weight": "balanced"},
    {**_HINGE, "tol": 1e-12, "C": 0.01},
]
_TREES: Choices = [{}, *({**_TREE, "max_features": n} for n in ("log2", "sqrt"))]
_STEEP: Choices = [{"subsample": 0.1, "n_estimators": 50}]
_NETWORKS: Choices = [
    {},
    {"alpha": 0.01, "tol": 1e-10},
    {"solver": "lbfgs", "alpha": 1e-3, "tol": 1e-8},
    {"solver": "sgd", "alpha": 1e-3, "tol": 1e-8},
]
_XGBOOST: Choices = [{"learning_rate": rate} for rate in (0.5, 0.7, 0.8, 1.0)]
_SELECTED_CLASSIFIERS = _chosen(
    "selected-1",
    (
        "logistic_regression",
        LogisticRegression,
        [*_LINES, {**_LASSO, "C": 0.1}, {**_LASSO, "C": 0.05}],
    ),
    ("gaussian_nb", GaussianNB, [{}]),
    (
        "bernoulli_nb",
        BernoulliNB,
        [{}, {"alpha": 0.02}, {"alpha": 0.5}, {"binarize": 0.4}, {"binarize": 0.5}],
    ),
    ("linear_svm", LinearSVC, _SLOPES),
    ("decision_tree", DecisionTreeClassifier, _TREES),
    ("lda", LinearDiscriminantAnalysis, _SHRUNK),
    ("adaboost", AdaBoostClassifier, _BOOSTED),
    ("bagging", BaggingClassifier, _BAGS),
    ("random_forest", RandomForestClassifier, _FORESTS),
    ("gradient_boosting", GradientBoostingClassifier, _STEEP),
    ("mlp", MLPClassifier, _NETWORKS),
    ("xgboost", XGBClassifier, _XGBOOST),
    more={"gaussian_nb": [(SwappedNB, {"var_smoothing": 1e-3})]},
)
_SMOOTHED = (1e-3, 1e-12, 1e-13, 0.2, 0.5, 0.8, 1.2, 2.0, 10.0, 20.0, 0.34, 0.138, 1e-2)
_SELECTED_OF_SEVERAL = _chosen(
    "selected-several-1",
    ("logistic_regression", LogisticRegression, _LINES),
    ("gaussian_nb", GaussianNB, [{}, *({"var_smoothing": v} for v in _SMOOTHED)]),
    (
        "bernoulli_nb",
        BernoulliNB,
        [
            {},
            {"alpha": 0.02},
            {"alpha": 0.5},
            {"alpha": 5.0, "binarize": 0.4},
            {"alpha": 10.0, "binarize": 0.05},
        ],
    ),
    (
        "linear_svm",
        LinearSVC,
        [
            *_SLOPES,
            {"multi_class": "crammer_singer", "max_iter": 10_000, "tol": 1e-12},
            {
                "multi_class": "crammer_singer",
                "max_iter": 10_000,
                "tol": 1e-16,
                "C": 0.1,
            },
        ],
    ),
    ("decision_tree", DecisionTreeClassifier, _TREES),
    (
        "lda",
        LinearDiscriminantAnalysis,
        [*_SHRUNK, {"solver": "lsqr", "shrinkage": 0.9}],
    ),
    (
        "adaboost",
        AdaBoostClassifier,
        [
            *_BOOSTED,
            {"n_estimators": 100, "learning_rate": 5.0},
            {"n_estimators": 1000, "learning_rate": 5.0},
            {"n_estimators": 1000, "learning_rate": 4.0},
        ],
    ),
    (
        "bagging",
        BaggingClassifier,
        [*_BAGS, {"n_estimators": 200}, {"n_estimators": 200, "max_features": 10}],
    ),
    ("random_forest", RandomForestClassifier, _FORESTS),
    (
        "gradient_boosting",
        GradientBoostingClassifier,
        [
            *_STEEP,
            {"learning_rate": 0.5},
            {"learning_rate": 0.5, "n_estimators": 200},
            {},
            *(
                {"subsample": 0.5, "learning_rate": rate}
                for rate in (0.05, 0.01, 0.001)
            ),
        ],
    ),
    ("mlp", MLPClassifier, _NETWORKS),
    ("xgboost", XGBClassifier, [*_XGBOOST, {"learning_rate": 5.0}]),
    more={
        "logistic_regression": [
            (
                OneVsRestClassifier,
                {"estimator": LogisticRegression(**_LASSO, C=c, random_state=0)},
            )
            for c in (0.1, 0.05)
        ],
        "bernoulli_nb": [(MeanBernoulliNB, {})],
    },
)

# fmt: off
# For images, on flat pixels in [0, 1]. Stumps and small samples keep ten classes of 784
# pixels within minutes; networks see rows and columns and are requested by name.
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
# The DP-MERF authors' script for images: scikit-learn's defaults but for these. Their
# boosting weighted by probabilities (SAMME.R), which scikit-learn has no more.
_IMAGE_PAPER_CLASSIFIERS = _table(
    "images-paper-1",
    ("logistic_regression", LogisticRegression, {"C": 1.0, "max_iter": 5000}),
    ("gaussian_nb", GaussianNB, {"var_smoothing": 1e-9}),
    ("bernoulli_nb", BernoulliNB, {"alpha": 1.0, "binarize": 0.5}),
    ("linear_svm", LinearSVC,
     {"C": 1.0, "loss": "hinge", "dual": True, "tol": 1e-8, "max_iter": 10_000}),
    ("decision_tree", DecisionTreeClassifier, {"class_weight": "balanced"}),
    ("lda", LinearDiscriminantAnalysis, {"solver": "eigen", "shrinkage": 0.5}),
    ("adaboost", AdaBoostClassifier, {"n_estimators": 100, "learning_rate": 1.0}),
    ("bagging", BaggingClassifier, {"n_estimators": 20, "max_samples": 0.1}),
    ("random_forest", RandomForestClassifier,
     {"n_estimators": 100, "class_weight": "balanced"}),
    ("gradient_boosting", GradientBoostingClassifier,
     {"n_estimators": 50, "learning_rate": 0.1, "max_depth": 3, "subsample": 0.1}),
    ("mlp", MLPClassifier, {"hidden_layer_sizes": (100,), "max_iter": 200}),
    ("xgboost", XGBClassifier,
     {"n_estimators": 50, "learning_rate": 0.1, "max_depth": 3,
      "colsample_bytree": 0.1}),
)
IMAGE_NETWORKS = _table(
    "images-1",
    ("cnn", ImageCNN, {"max_iter": 1000}),
    ("small_cnn", StridedCNN, {"max_iter": 5000}),
    ("resnet9", ResNet9, {"width": 64}),
    ("resnet9_thin", ResNet9, {"width": 16}),
)

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
    "images_paper": _IMAGE_PAPER_CLASSIFIERS,
    "modern": _MODERN_CLASSIFIERS,
    "paper": _PAPER_CLASSIFIERS,
    "selected": _SELECTED_CLASSIFIERS,
    "selected_of_several": _SELECTED_OF_SEVERAL,
}
PROTOCOLS = ("modern", "paper", "selected")
IMAGE_PROTOCOLS = {"modern": "images", "paper": "images_paper"}
REGRESSORS: dict[str, dict[str, ModelSpec]] = {
    "modern": _MODERN_REGRESSORS,
    "paper": _PAPER_REGRESSORS,
}
# What a task is scored by.
PRIMARY = {
    ("images", "binary"): "accuracy",
    ("images", "multiclass"): "accuracy",
    ("images_paper", "binary"): "accuracy",
    ("images_paper", "multiclass"): "accuracy",
    ("modern", "binary"): "roc_auc",
    ("modern", "multiclass"): "macro_f1",
    ("modern", "regression"): "r2",
    ("paper", "binary"): "roc_auc",
    ("paper", "multiclass"): "weighted_f1",
    ("paper", "regression"): "r2",
    ("selected", "binary"): "roc_auc",
    ("selected", "multiclass"): "weighted_f1",
}
