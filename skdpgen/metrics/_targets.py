"""Synthetic and real targets on one scale: class codes or floats."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skdpgen.metrics._frames import as_series, keys, numbers

TASKS = ("auto", "classification", "regression")


@dataclass(frozen=True, eq=False)
class Targets:
    """Both targets, coded alike; rows whose target is missing are not "known".

    Parameters
    ----------
    task : {"binary", "multiclass", "regression"}
    classes : tuple of str
        Text keys of the classes in code order; the last is the positive one.
    train, test : ndarray
        Codes or floats of the known rows.
    train_known, test_known : ndarray of bool
    """

    task: str
    classes: tuple[str, ...]
    train: NDArray[Any]
    test: NDArray[Any]
    train_known: NDArray[np.bool_]
    test_known: NDArray[np.bool_]

    @property
    def positive_class(self) -> str | None:
        """Key of the class that ROC-AUC and average precision are about."""
        return self.classes[-1] if self.task == "binary" else None


def prepare_targets(y_train: Any, y_test: Any, task: str = "auto") -> Targets:
    """Code synthetic and real targets alike.

    Labels match by their text (``1``, ``1.0`` and ``"1"`` are one class). The classes
    are those of both sides together, sorted as numbers if all are numbers, else as
    text; of two classes the last is the positive one (``">50K"``, ``"yes"``, ``1``).

    Examples
    --------
    >>> targets = prepare_targets(["no", "yes"], ["yes", "no", None])
    >>> targets.task, targets.positive_class, targets.test.tolist()
    ('binary', 'yes', [1, 0])
    """
    synthetic, real = as_series(y_train), as_series(y_test)
    if task == "auto":
        is_float = pd.api.types.is_float_dtype(real)
        task = "regression" if is_float else "classification"
    build = _numeric if task == "regression" else _coded
    targets = build(synthetic, real)
    if not len(targets.test):
        raise ValueError(
            "y_test must have a row whose target is known. Got none instead. "
            "Score on real rows with labels."
        )
    return targets


def _numeric(synthetic: pd.Series, real: pd.Series) -> Targets:
    train, test = numbers(synthetic), numbers(real)
    known = ~np.isnan(train), ~np.isnan(test)
    return Targets("regression", (), train[known[0]], test[known[1]], *known)


def _coded(synthetic: pd.Series, real: pd.Series) -> Targets:
    train, test = keys(synthetic), keys(real)
    known = _not_none(train), _not_none(test)
    classes = _sorted({*train[known[0]], *test[known[1]]})
    position = {name: code for code, name in enumerate(classes)}

    def code(cells: NDArray[np.object_]) -> NDArray[np.intp]:
        return np.array([position[name] for name in cells], dtype=np.intp)

    task = "binary" if len(classes) <= 2 else "multiclass"
    return Targets(task, classes, code(train[known[0]]), code(test[known[1]]), *known)


def _not_none(cells: NDArray[np.object_]) -> NDArray[np.bool_]:
    return np.array([cell is not None for cell in cells], dtype=bool)


def _sorted(names: set[str]) -> tuple[str, ...]:
    try:
        return tuple(sorted(names, key=lambda name: (float(name), name)))
    except ValueError:
        return tuple(sorted(names))
