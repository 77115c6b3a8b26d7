"""Utility of synthetic rows: train on them, test on real ones."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from skdpgen.metrics._classifiers import (
    CLASSIFIERS,
    IMAGE_NETWORK,
    REGRESSORS,
    ModelSpec,
)
from skdpgen.metrics._encoding import TableEncoder
from skdpgen.metrics._sampling import draw_samples, unwrap
from skdpgen.metrics._scores import (
    LOWER_IS_BETTER,
    METRICS,
    PRIMARY,
    Scores,
    chance,
    scorer_of,
)
from skdpgen.metrics._targets import TASKS, Targets, prepare_targets
from skdpgen.tables import as_pixels, image_size, is_image


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
        What :meth:`__call__` averages: "roc_auc", "average_precision", "f1" or
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
    their own on flat pixels, whatever the protocol; ``"cnn"``, a small convolutional
    network, can be requested by name.

    The encoding (see :class:`TableEncoder`) is learnt from the synthetic rows. Of
    two classes the positive one is the last, sorted as numbers if all are numbers
    and as text otherwise. A model that cannot learn, because only one class was
    sampled or because its fit failed, scores chance (ROC-AUC 1/2, average precision
    = share of positives, F1 of a constant guess, R² 0) and says so in ``note``.

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
    classifiers: tuple[str, ...] | None = None
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
            known = {**CLASSIFIERS[self.protocol], **REGRESSORS[self.protocol]}
            known[IMAGE_NETWORK.name] = IMAGE_NETWORK
            object.__setattr__(self, "classifiers", tuple(self.classifiers))
            for name in self.classifiers or [None]:
                _check_in("classifiers", name, list(known))

    def __call__(self, estimator: Any, X: Any, y: Any = None) -> float:
        """Sample from a fitted estimator and score on real rows; larger is better."""
        if y is None:
            raise ValueError(
                "A utility score needs real labels. Got y=None instead. "
                "Pass `y` to `fit` of the search as well."
            )
        return self.summary(self.evaluate(estimator, X, y))["mean"]

    def evaluate(self, train: Any, X_test: Any, y_test: Any) -> pd.DataFrame:
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
            protocol, shape = "images", image_size(X_train, X_test)
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
        known = dict(models)
        if protocol == "images":
            known[IMAGE_NETWORK.name] = IMAGE_NETWORK
        for name in self.classifiers or ():
            _check_in(f"classifiers (task {task})", name, list(known))
        return [known[name] for name in self.classifiers or models]


def _score(
    model: Any,
    protocol: str,
    X_train: NDArray[np.float32],
    X_test: NDArray[np.float32],
    targets: Targets,
) -> dict[str, Any]:
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
    return {**scores, "note": ""}


def _predict(
    model: Any,
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
    seen, codes = np.unique(targets.train, return_inverse=True)
    model.fit(X_train, codes)
    guess = seen[model.predict(X_test)]
    if targets.task != "binary" or protocol == "paper":
        return guess, guess.astype(np.float64)
    if hasattr(model, "predict_proba"):
        return guess, model.predict_proba(X_test)[:, 1]
    return guess, model.decision_function(X_test)


def _check_in(name: str, value: Any, allowed: Any) -> None:
    if value not in allowed:
        raise ValueError(f"{name} must be one of {list(allowed)}. Got {value!r}.")
