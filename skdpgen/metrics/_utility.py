"""Utility of synthetic rows: train on them, test on real ones."""

import warnings
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from numpy.typing import NDArray
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
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    f1_score,
    r2_score,
    roc_auc_score,
    root_mean_squared_error,
)
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.svm import LinearSVC, LinearSVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from threadpoolctl import threadpool_limits
from xgboost import XGBClassifier, XGBRegressor

from skdpgen.metrics._detection import detection_auc
from skdpgen.metrics._fidelity import query_error, total_variation
from skdpgen.metrics._frames import (
    TASKS,
    TableEncoder,
    Targets,
    draw_samples,
    joined,
    prepare_targets,
    unwrap,
)
from skdpgen.metrics._image_networks import (
    ImageCNN,
    ImageNetwork,
    ResNet9,
    StridedCNN,
)
from skdpgen.metrics._nist import k_marginal_score, pmse
from skdpgen.tables import as_pixels, image_size, is_image
from skdpgen.utils import (
    Labels,
    Rows,
    Table,
)

# ----------------------------------------------------------------------------
# The twelve classifiers and the twelve regressors, as data.
#
# A change of any setting gets a new version string: only scores of one version
# compare.


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

    def build(
        self, random_state: int | None, shape: tuple[int, int, int] | None = None
    ) -> BaseEstimator:
        """Make an unfitted model; seeded and single-threaded where it can be.

        A model that sees images as such gets their ``shape``.
        """
        settings = dict(self.settings)
        if issubclass(self.kind, ImageNetwork):
            settings["shape"] = shape
        model = self.kind(**settings)
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
}
IMAGE_PROTOCOLS = {"modern": "images", "paper": "images_paper"}
REGRESSORS: dict[str, dict[str, ModelSpec]] = {
    "modern": _MODERN_REGRESSORS,
    "paper": _PAPER_REGRESSORS,
}


# ----------------------------------------------------------------------------
# Scores of a model's predictions and of a constant guess.

METRICS = {
    "binary": ("roc_auc", "average_precision", "f1", "accuracy"),
    "multiclass": ("macro_f1", "weighted_f1", "accuracy"),
    "regression": ("r2", "rmse"),
}
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
}
LOWER_IS_BETTER = frozenset({"rmse"})

Scores = dict[str, float]
Codes = NDArray[np.intp]
Floats = NDArray[np.float64]


def binary_scores(truth: Codes, guess: Codes, ranking: Floats) -> Scores:
    """Score two classes coded 0 and 1; ``ranking`` is larger for class 1.

    Examples
    --------
    >>> truth = np.array([0, 1, 1])
    >>> binary_scores(truth, truth, np.array([0.1, 0.8, 0.9]))["roc_auc"]
    1.0
    """
    if len(np.unique(truth)) < 2:  # no ranking to judge
        roc_auc, precision = 0.5, float(truth.mean())
    else:
        roc_auc = roc_auc_score(truth, ranking)
        precision = average_precision_score(truth, ranking)
    return {
        "roc_auc": float(roc_auc),
        "average_precision": float(precision),
        "f1": float(f1_score(truth, guess, zero_division=0)),
        "accuracy": float(accuracy_score(truth, guess)),
    }


def multiclass_scores(truth: Codes, guess: Codes) -> Scores:
    """Score several classes; F1 averages over the classes of ``truth``.

    Examples
    --------
    >>> multiclass_scores(np.array([0, 1, 2]), np.array([0, 1, 1]))["accuracy"]
    0.6666666666666666
    """
    present = np.unique(truth)

    def f1(average: str) -> float:
        score = f1_score(truth, guess, labels=present, average=average, zero_division=0)
        return float(score)

    return {
        "macro_f1": f1("macro"),
        "weighted_f1": f1("weighted"),
        "accuracy": float(accuracy_score(truth, guess)),
    }


def regression_scores(truth: Floats, guess: Floats) -> Scores:
    """Score numbers; R² is clipped to [-1, 1], so one failure cannot ruin a mean.

    Examples
    --------
    >>> regression_scores(np.array([0.0, 1.0]), np.array([1.0, 0.0]))["r2"]
    -1.0
    """
    if len(truth) < 2 or np.ptp(truth) == 0:  # R² is not defined there
        r2 = 0.0
    else:
        r2 = float(np.clip(r2_score(truth, guess), -1, 1))
    return {"r2": r2, "rmse": float(root_mean_squared_error(truth, guess))}


def chance(task: str, y_train: NDArray[Any], y_test: NDArray[Any]) -> Scores:
    """Score the best guess that ignores all features.

    The guess is the most frequent synthetic label, or the synthetic mean; without
    any synthetic label, the first class of the test labels or their mean.

    Examples
    --------
    >>> chance("binary", np.array([1, 1]), np.array([0, 1, 1, 1]))["roc_auc"]
    0.5
    """
    if task == "regression":
        # the mean of the truth scores R² = 0, the chance level by definition
        return regression_scores(y_test, np.full(len(y_test), np.mean(y_test)))
    labels = y_train if len(y_train) else y_test[:1]
    guess = np.full(len(y_test), np.bincount(labels).argmax())
    if task == "binary":
        return binary_scores(y_test, guess, np.zeros(len(y_test)))
    return multiclass_scores(y_test, guess)


def scorer_of(task: str) -> Callable[..., Scores]:
    """Return the score function of a task, called with (truth, guess, ranking)."""
    return {
        "binary": binary_scores,
        "multiclass": lambda truth, guess, _: multiclass_scores(truth, guess),
        "regression": lambda truth, guess, _: regression_scores(truth, guess),
    }[task]


# ----------------------------------------------------------------------------
# All yardsticks of one release that are no classifier's score.

NAMES = (
    "one_way_tv",
    "two_way_tv",
    "three_way_tv",
    "detection_auc",
    "query_error",
    "k_marginal",
    "pmse",
)


def yardsticks(
    real: Rows, synthetic: Rows, *, stratum: Hashable | None = None
) -> dict[str, float]:
    """Distances of one to three columns, detection, error of queries, NIST's scores.

    Each is the function of its name with defaults; their seeds are public and fixed, so
    tables compare. The reference of each is the value for other real rows. This reads
    real rows, so it is outside the guarantee.

    Parameters
    ----------
    real, synthetic : table or tuple (X, y)
        Tables with the same columns; with targets, these count as a column.
    stratum : column or None, default=None
        Of :func:`k_marginal_score`.

    Examples
    --------
    >>> import pandas as pd
    >>> real = pd.DataFrame({"a": [1, 2, 3, 4], "b": [0, 1, 0, 1]})
    >>> distances = yardsticks(real, real)
    >>> distances["three_way_tv"], distances["query_error"]
    (0.0, 0.0)
    """
    distances = (total_variation(real, synthetic, order=k) for k in (1, 2, 3))
    others = detection_auc(real, synthetic), query_error(real, synthetic)
    n_columns = joined(real).shape[1] - (stratum is not None)
    k_marginal = k_marginal_score(real, synthetic, min(2, n_columns), stratum=stratum)
    nist = k_marginal, pmse(real, synthetic)
    return dict(zip(NAMES, (*distances, *others, *nist), strict=True))


# ----------------------------------------------------------------------------
# Utility of synthetic rows: train on them, test on real ones.


@dataclass(frozen=True)
class SyntheticUtility:
    """Mean score of 12 models trained on synthetic and tested on real rows.

    A scorer for :class:`~sklearn.model_selection.GridSearchCV` and
    :func:`~sklearn.model_selection.cross_val_score`, and callable on plain tables.

    .. warning::
       **This reads real rows and stands outside the privacy guarantee.** Publish such a
       score, or choose by it, only if the rows it reads are public or if you pay for
       that in some other way.

    Parameters
    ----------
    protocol : {"modern", "paper"}, default="modern"
        "modern" ranks by probabilities or decision values (ROC-AUC, average
        precision; macro F1 for several classes). "paper" scores hard predictions
        with the models of the DP-MERF paper (support-weighted F1 for several
        classes). Never compare the numbers of one with those of the other.
    n_samples : int or None, default=None
        Rows to sample from an estimator; None samples as many as it was fitted on,
        but at least 5,000 (rows are free) and at most 20,000 (training models is not).
    classifiers : sequence of str or None, default=None
        Names of a subset of the models; None takes all 12.
    metric : str or None, default=None
        What ``__call__`` averages: "roc_auc", "average_precision", "f1" or
        "accuracy" of two classes; "macro_f1", "weighted_f1" or "accuracy" of
        several; "r2" or "rmse" (returned negative) of numbers. None takes
        ``roc_auc``, ``macro_f1`` ("paper": ``weighted_f1``) and ``r2``.
    n_jobs : int or None, default=None
        Models trained at a time; each uses one thread.
    random_state : int or None, default=0
        Seed of the sampling and of the models; the score repeats for an int.
    task : {"auto", "classification", "regression"}, default="auto"
        "auto" takes the task of the estimator, or goes by the dtype kind of ``y_test``:
        float means regression, anything else classification.

    Notes
    -----
    Arrays of images (three or four dimensions) are judged by accuracy, with models of
    their own on flat pixels; those of "paper" are of the DP-MERF authors' script for
    images. Convolutional networks can be requested by name: ``"cnn"``, this package's
    own; ``"small_cnn"``, that of functional RDP; ``"resnet9"`` for colour photographs,
    that of DP-MEPF, which needs a GPU or hours; and ``"resnet9_thin"``, a quarter as
    wide. They take a GPU if there is one.

    The encoding (see ``TableEncoder``) is learnt from the synthetic rows. Of
    two classes the positive one is the last, sorted as numbers if all are numbers
    and as text otherwise. A model that cannot learn, because only one class was
    sampled or because its fit failed, scores chance (ROC-AUC 1/2, average precision
    = share of positives, F1 of a constant guess, R² 0) and states it in ``note``. If
    all test rows have one class or number, ROC-AUC, average precision and R² are
    undefined: they have the same values, and ``note`` states it.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2))
    >>> y = (X[:, 0] > 0).astype(int)
    >>> utility = SyntheticUtility(classifiers=["logistic_regression", "lda"])
    >>> utility.evaluate((X[:100], y[:100]), X[100:], y[100:])["roc_auc"].min() > 0.9
    np.True_
    """

    protocol: str = "modern"
    n_samples: int | None = None
    classifiers: Sequence[str] | None = None
    metric: str | None = None
    n_jobs: int | None = None
    random_state: int | None = 0
    task: str = "auto"

    def __post_init__(self) -> None:
        """Check every field now, since they are used much later."""
        _check_in("protocol", self.protocol, sorted(REGRESSORS))
        _check_in("task", self.task, TASKS)
        metrics = {name for names in METRICS.values() for name in names}
        _check_in("metric", self.metric, [None, *sorted(metrics)])
        if self.classifiers is not None:
            specs = {**CLASSIFIERS[self.protocol], **REGRESSORS[self.protocol]}
            specs |= IMAGE_NETWORKS
            object.__setattr__(self, "classifiers", tuple(self.classifiers))
            names: Sequence[str | None] = self.classifiers or [None]
            for name in names:  # an empty list raises, too
                _check_in("classifiers", name, list(specs))

    def __call__(self, estimator: object, X: Table, y: Labels | None = None) -> float:
        """Sample from a fitted estimator and score on real rows; larger is better."""
        return self.summary(self.evaluate(estimator, X, _given(y)))["mean"]

    def evaluate(
        self,
        train: object | tuple[Table, Labels],
        X_test: Table,
        y_test: Labels,
    ) -> pd.DataFrame:
        """Score each model.

        Parameters
        ----------
        train : fitted estimator or tuple (X, y)
            What to sample from, or synthetic (or real) rows with their targets.
        X_test, y_test : table and targets
            Real rows.

        Returns
        -------
        DataFrame
            A row per model, a column per metric, and ``note``. ``attrs`` holds
            task, metric, protocol, version and the positive class.
        """
        y_test = _given(y_test)
        task = self.task
        if not isinstance(train, tuple | list):
            synthesizer, X_test = unwrap(train, X_test)
            if task == "auto":
                task = getattr(synthesizer, "task_", None) or "auto"
            train = draw_samples(synthesizer, self.n_samples, self.random_state)
        X_train, y_train = train
        targets = prepare_targets(y_train, y_test, task)
        protocol, shape = self.protocol, None
        if is_image(X_train) or is_image(X_test):
            protocol = IMAGE_PROTOCOLS[self.protocol]
            shape = image_size(X_train, X_test)
        specs = self._specs(targets.task, protocol)
        encode = as_pixels if shape else TableEncoder.fit(X_train)
        tables = (
            encode(X_train)[targets.train_known],
            encode(X_test)[targets.test_known],
        )
        models = [spec.build(self.random_state, shape) for spec in specs]
        jobs = (delayed(_score)(model, protocol, *tables, targets) for model in models)
        rows = Parallel(n_jobs=self.n_jobs)(jobs)
        frame = pd.DataFrame(rows, index=pd.Index([spec.name for spec in specs]))
        frame.index.name = "classifier" if targets.classes else "regressor"
        frame.attrs = {
            "task": targets.task,
            "metric": self._metric(targets.task, protocol),
            "protocol": protocol,
            "version": specs[0].version,
            "positive_class": targets.positive_class,
        }
        return frame

    def summary(self, scores: pd.DataFrame, metric: str | None = None) -> Scores:
        """Return mean and best of a frame of :meth:`evaluate`; larger is better."""
        metric = metric or scores.attrs["metric"]
        column = scores[metric] * (-1 if metric in LOWER_IS_BETTER else 1)
        return {"mean": float(column.mean()), "best": float(column.max())}

    def _metric(self, task: str, protocol: str) -> str:
        if (protocol, task) not in PRIMARY:
            raise ValueError(
                f"Images are scored by classes. Got a {task}; for labels that are "
                "floats set `task='classification'`."
            )
        metric = self.metric or PRIMARY[protocol, task]
        _check_in(f"metric (task {task})", metric, METRICS[task])
        return metric

    def _specs(self, task: str, protocol: str) -> list[ModelSpec]:
        self._metric(task, protocol)
        models = (REGRESSORS if task == "regression" else CLASSIFIERS)[protocol]
        specs = dict(models)
        if protocol in IMAGE_PROTOCOLS.values():
            specs |= IMAGE_NETWORKS  # only if they are asked for by name
        for name in self.classifiers or ():
            _check_in(f"classifiers (task {task})", name, list(specs))
        return [specs[name] for name in self.classifiers or models]


UNDEFINED = {  # where the real target is constant
    "binary": "y_test has one class: roc_auc and average_precision are undefined",
    "regression": "y_test is constant: r2 is undefined",
}


def _score(
    model: BaseEstimator,
    protocol: str,
    X_train: NDArray[np.float32],
    X_test: NDArray[np.float32],
    targets: Targets,
) -> dict[str, float | str]:
    """Fit and score one model; return chance and a note where that is impossible."""
    y_train, y_test = targets.train, targets.test
    if len(np.unique(y_train)) < 2:
        note = "the synthetic target is constant"
        return {**chance(targets.task, y_train, y_test), "note": note}
    try:
        # one thread: the same sums at every n_jobs. The warnings come from the models
        # (no convergence, collinear columns).
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            guess, ranking = _predict(model, protocol, X_train, X_test, targets)
            scores = scorer_of(targets.task)(y_test, guess, ranking)
        if not np.isfinite(list(scores.values())).all():
            raise FloatingPointError("a score is not finite")
    except Exception as error:  # one bad model must not lose the other eleven
        note = f"failed: {type(error).__name__}: {error}"[:120]
        return {**chance(targets.task, y_train, y_test), "note": note}
    is_constant = targets.task != "multiclass" and len(np.unique(y_test)) < 2
    return {**scores, "note": UNDEFINED[targets.task] if is_constant else ""}


def _predict(
    model: BaseEstimator,
    protocol: str,
    X_train: NDArray[np.float32],
    X_test: NDArray[np.float32],
    targets: Targets,
) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Return predictions and, for two classes, numbers that rank the rows."""
    if targets.task == "regression":
        center, scale = targets.train.mean(), targets.train.std()
        model.fit(X_train, (targets.train - center) / scale)
        guess = np.asarray(model.predict(X_test), dtype=np.float64) * scale + center
        return guess, guess
    # sampled classes, renumbered without gaps: XGBoost accepts no others
    classes, codes = np.unique(targets.train, return_inverse=True)
    model.fit(X_train, codes)
    guess = classes[model.predict(X_test)]
    if targets.task != "binary" or protocol == "paper":
        return guess, guess.astype(np.float64)
    if hasattr(model, "predict_proba"):
        return guess, model.predict_proba(X_test)[:, 1]
    return guess, model.decision_function(X_test)


def _given(y: Labels | None) -> Labels:
    """Return labels; raise if there are none."""
    if y is None:
        raise ValueError(
            "A utility score needs real labels. Got None instead of y; give the labels "
            "of the test rows, and pass `y` to `fit` of a search as well."
        )
    return y


def _check_in(name: str, value: object, allowed: Collection[object]) -> None:
    if value not in allowed:
        raise ValueError(f"{name} must be one of {list(allowed)}. Got {value!r}.")
