"""Utility of synthetic rows: train on them, test on real ones."""

import warnings
from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass
from itertools import islice
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    f1_score,
    r2_score,
    roc_auc_score,
    root_mean_squared_error,
)
from threadpoolctl import threadpool_limits

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
from skdpgen.metrics._models import (
    CLASSIFIERS,
    IMAGE_NETWORKS,
    IMAGE_PROTOCOLS,
    PRIMARY,
    PROTOCOLS,
    REGRESSORS,
    ModelSpec,
)
from skdpgen.metrics._nist import k_marginal_score, pmse
from skdpgen.tables import as_pixels, image_size, is_image
from skdpgen.utils import (
    Labels,
    Rows,
    Table,
)

# ----------------------------------------------------------------------------
# Scores of a model's predictions and of a constant guess.

METRICS = {
    "binary": ("roc_auc", "average_precision", "f1", "accuracy"),
    "multiclass": ("macro_f1", "weighted_f1", "accuracy"),
    "regression": ("r2", "rmse"),
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

YARDSTICKS = (
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
    return dict(zip(YARDSTICKS, (*distances, *others, *nist), strict=True))


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
    protocol : {"modern", "paper", "selected"}, default="modern"
        "modern" ranks by probabilities or decision values (ROC-AUC, average
        precision; macro F1 for several classes). "paper" scores hard predictions
        with the models of the DP-MERF paper (support-weighted F1 for several
        classes). "selected" does, too, with several settings of each model, and takes
        the highest score on the test rows, as DP-HP and DP-NTK do. That is too
        high: it is there to compare with what these papers print. Tables with classes
        alone have it, and it takes some five times as long. Never compare the numbers
        of one protocol with those of another.
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
        _check_in("protocol", self.protocol, PROTOCOLS)
        _check_in("task", self.task, TASKS)
        metrics = {name for names in METRICS.values() for name in names}
        _check_in("metric", self.metric, [None, *sorted(metrics)])
        is_number = isinstance(self.n_samples, Integral)
        if self.n_samples is not None and not (is_number and self.n_samples > 0):
            raise ValueError(
                f"n_samples must be a positive integer or None. Got {self.n_samples!r}."
            )
        if isinstance(self.classifiers, str):
            raise TypeError(
                "classifiers must be a list of names. Got the text "
                f"{self.classifiers!r}; write [{self.classifiers!r}]."
            )
        if self.classifiers is not None:
            regressors = REGRESSORS.get(self.protocol, {})
            specs = {**CLASSIFIERS[self.protocol], **regressors}
            specs |= IMAGE_NETWORKS
            object.__setattr__(self, "classifiers", tuple(self.classifiers))
            if not self.classifiers:
                raise ValueError("classifiers must have a name. Got an empty list.")
            for name in self.classifiers:
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
        targets, protocol, shape, specs, *tables = self._prepared(
            X_train, y_train, X_test, y_test, task
        )
        models = {spec.name: spec.choices(self.random_state, shape) for spec in specs}
        jobs = (
            delayed(_score)(model, protocol, *tables, targets)
            for choices in models.values()
            for model in choices
        )
        scored = iter(Parallel(n_jobs=self.n_jobs)(jobs))
        rows = {
            name: _highest(list(islice(scored, len(choices))))
            for name, choices in models.items()
        }
        frame = pd.DataFrame.from_dict(rows, orient="index")
        frame.index.name = "classifier" if targets.classes else "regressor"
        frame.attrs = {
            "task": targets.task,
            "metric": self._metric(targets.task, protocol),
            "protocol": protocol,
            "version": specs[0].version,
            "positive_class": targets.positive_class,
        }
        return frame

    def check(self, X_train: Table, y_train: Labels, X: Table, y: Labels) -> None:
        """Raise if rows cannot be scored on others; trains no model.

        Examples
        --------
        >>> SyntheticUtility().check([[0.5], [1.5]], [0, 1], [[0.5]], [0, 1])
        Traceback (most recent call last):
        ...
        ValueError: X_test and y_test must have one label a row. Got 1 rows and 2 ...
        """
        self._prepared(X_train, y_train, X, _given(y), self.task)

    def _prepared(
        self, X_train: Table, y_train: Labels, X_test: Table, y_test: Labels, task: str
    ) -> tuple[Any, ...]:
        """Return targets, protocol, size of images, models, and encoded rows."""
        targets = prepare_targets(y_train, y_test, task)
        protocol, shape = self.protocol, None
        if is_image(X_train) or is_image(X_test):
            protocol = IMAGE_PROTOCOLS[self.protocol]
            shape = image_size(X_train, X_test)
        specs = self._specs(targets.task, protocol)
        encode = as_pixels if shape else TableEncoder.fit(X_train)
        tables = []
        for name, X, is_known in (
            ("train", X_train, targets.train_known),
            ("test", X_test, targets.test_known),
        ):
            rows = encode(X)
            if len(rows) != len(is_known):
                raise ValueError(
                    f"X_{name} and y_{name} must have one label a row. Got "
                    f"{len(rows)} rows and {len(is_known)} labels."
                )
            tables.append(rows[is_known])
        return (targets, protocol, shape, specs, *tables)

    def summary(self, scores: pd.DataFrame, metric: str | None = None) -> Scores:
        """Return mean and best of a frame of :meth:`evaluate`; larger is better."""
        metric = metric or scores.attrs["metric"]
        column = scores[metric] * (-1 if metric in LOWER_IS_BETTER else 1)
        return {"mean": float(column.mean()), "best": float(column.max())}

    def _metric(self, task: str, protocol: str) -> str:
        if (protocol, task) not in PRIMARY:
            raise ValueError(
                "Images, and all rows by the protocol 'selected', are scored by "
                f"classes. Got a {task}; for labels that are floats set "
                "`task='classification'`."
            )
        metric = self.metric or PRIMARY[protocol, task]
        _check_in(f"metric (task {task})", metric, METRICS[task])
        return metric

    def _specs(self, task: str, protocol: str) -> list[ModelSpec]:
        self._metric(task, protocol)
        if (protocol, task) == ("selected", "multiclass"):
            protocol = "selected_of_several"
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


def _highest(scores: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the highest score by each metric, of the choices that could be scored."""
    scored = [score for score in scores if not score["note"]] or scores
    names = [name for name in scored[0] if name != "note"]
    highest = {name: max(score[name] for score in scored) for name in names}
    return {**highest, "note": scored[0]["note"]}


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


HARD_PROTOCOLS = ("paper", "selected")  # they score predictions of classes


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
    if targets.task != "binary" or protocol in HARD_PROTOCOLS:
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
