"""The attributes of a fitted synthesizer, all read from one value."""

from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError

from skdpgen.privacy import PrivacyReport, Release
from skdpgen.synthesizers.models import class_array
from skdpgen.synthesizers.opening import Facts, Fitted
from skdpgen.tables import Cells, Schema

T = TypeVar("T")
NAMELESS = ("numpy", "masked", "torch")  # containers whose columns have no names


def require_fitted(value: T | None, name: str) -> T:
    """Return a value of a fit, or raise if it is None.

    The error is also an ``AttributeError``, so ``hasattr`` works as usual.
    """
    if value is None:
        raise NotFittedError(
            f"{name} is not there: `fit` was interrupted before, or had no use for it."
        )
    return value


class FittedAttributes:
    """Attributes of a fit, for users and methods. A new fit replaces all at once."""

    _fitted: Fitted[Any] | None = None

    @property
    def _state(self) -> Fitted[Any]:
        if self._fitted is None:
            name = type(self).__name__
            raise NotFittedError(f"This {name} is not fitted yet. Call `fit` first.")
        return self._fitted

    @property
    def _facts(self) -> Facts:
        return require_fitted(self._state.facts, "The schema")

    @property
    def _measured(self) -> Any:
        return require_fitted(self._state.measured, "What the method measured")

    @property
    def _model(self) -> Any:
        return require_fitted(self._state.model, "The model")

    @property
    def _labels(self) -> Cells | None:
        labels: Cells | None = self._measured.labels
        return labels

    @property
    def _seed(self) -> int:
        return int(self._measured.seed)

    @property
    def privacy_(self) -> PrivacyReport:
        """The certificate."""
        return self._state.certificate

    @property
    def schema_(self) -> Schema:
        """The schema, given or discovered."""
        return self._facts.schema

    @property
    def task_(self) -> str | None:
        """What y was."""
        return self._facts.task

    @property
    def classes_(self) -> NDArray[Any]:
        """Class labels, of a classification."""
        return class_array(require_fitted(self._facts.classes, "classes_"))

    @property
    def n_samples_(self) -> int:
        """Rows that were fitted; under "add_remove" a noisy number."""
        return max(round(self._facts.n_rows), 1)

    @property
    def n_features_in_(self) -> int:
        """Columns that were fitted."""
        return self._facts.layout.n_features

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """Names of the columns, where all are strings."""
        layout = self._facts.layout
        has_names = layout.container not in NAMELESS and all(
            isinstance(name, str) for name in layout.names
        )
        names = np.array(layout.names, dtype=object)
        return require_fitted(names if has_names else None, "feature_names_in_")

    @property
    def pixels_(self) -> Mapping[str, float]:
        """Released shares of pixels beyond their range, and their noise; of images."""
        return require_fitted(self._facts.pixels, "pixels_")

    @property
    def cells_(self) -> Mapping[Any, Cells]:
        """The cells of each column; empty for images."""
        cells: Mapping[Any, Cells] = self._measured.cells
        return cells

    @property
    def release_(self) -> Release:
        """The main release."""
        release: Release | None = self._measured.release
        return require_fitted(release, "release_")


class TrainedAttributes(FittedAttributes):
    """More attributes of a method that trains step by step."""

    @property
    def loss_curve_(self) -> list[float]:
        """Loss of each training step."""
        return require_fitted(self._state.loss_curve, "loss_curve_")

    @property
    def n_iter_(self) -> int:
        """Training steps that were made."""
        return len(self.loss_curve_)
