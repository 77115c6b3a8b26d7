"""What a model's predictions are worth, and what a guess is worth."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    f1_score,
    r2_score,
    roc_auc_score,
    root_mean_squared_error,
)

METRICS = {
    "binary": ("roc_auc", "average_precision", "f1", "accuracy"),
    "multiclass": ("macro_f1", "weighted_f1", "accuracy"),
    "regression": ("r2", "rmse"),
}
PRIMARY = {
    ("images", "binary"): "accuracy",
    ("images", "multiclass"): "accuracy",
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
