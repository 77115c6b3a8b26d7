"""What all estimators share: parameters, opening, decoding samples, saving."""

import warnings
from collections.abc import Mapping
from dataclasses import replace
from numbers import Integral, Real
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.random import Generator
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from skdpgen.privacy import PrivacyReport, Subsampling
from skdpgen.synthesizers._labels import systematic
from skdpgen.synthesizers._opening import Facts, Opening, open_table
from skdpgen.synthesizers._saving import write_estimator
from skdpgen.synthesizers._statements import IS_CLONE, parameters_stated
from skdpgen.tables import (
    Cells,
    Drop,
    Layout,
    Regenerate,
    Schema,
    draw_values,
    holds_images,
    read_values,
    regenerate,
)
from skdpgen.utils import (
    Interval,
    PrivacyLeakWarning,
    SearchCostWarning,
    StrOptions,
    clone_parametrized,
    split_generator,
)

SEARCH_COST = (
    "This estimator is a clone, as a search makes many: each one that is fitted on "
    "the same rows costs its own epsilon. `search_cost(search)` adds them up."
)
INFER_LEAKS = (
    "schema='infer' reads bounds and categories off the private rows, outside the "
    "guarantee. Give a Schema, or leave schema=None to discover it privately."
)
CONDITIONAL = (
    "LEAK: the schema was inferred from the rows; the guarantee holds only if bounds "
    "and categories are public anyway"
)


class BaseSynthesizer(BaseEstimator):
    """Parameters, private opening, decoding and saving of every synthesizer."""

    _labels: Cells  # of the target; the estimator keeps them in `fit`
    _takes_images = False

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "epsilon": [Interval(Real, 0, None, closed="right")],
        "delta": [Interval(Real, 0, 1, closed="neither")],
        "schema": [Schema, StrOptions({"infer"}), dict, None],
        "classes": ["array-like", None],
        "adjacency": [StrOptions({"replace", "add_remove"})],
        "task": [StrOptions({"auto", "classification", "regression"})],
        "random_state": ["random_state", Generator],
        "verbose": [Interval(Integral, 0, None, closed="left"), bool],
    }

    def save(self, path: str | Path) -> None:
        """Write the fitted estimator as arrays and JSON; :func:`load` reads it back.

        The file holds parameters, schema, releases and the certificate: no private
        row and no pickle.
        """
        check_is_fitted(self)
        write_estimator(self, path)

    def set_output(self, *, transform: str | None = None) -> Any:
        """Choose what :meth:`sample` returns for X.

        Parameters
        ----------
        transform : {"default", "pandas", "polars"} or None, default=None
            "default" is the container that was fitted; None changes nothing.
        """
        if transform not in (None, "default", "pandas", "polars"):
            raise ValueError(
                "transform must be None, 'default', 'pandas' or 'polars'. "
                f"Got {transform!r} instead."
            )
        if transform is not None:
            self._container = None if transform == "default" else transform
        return self

    def __sklearn_clone__(self) -> Any:
        """Clone, and remember it: each clone fitted on the same rows costs again."""
        copy = clone_parametrized(self)
        copy._is_clone = True
        if hasattr(self, "_container"):
            copy._container = self._container
        return copy

    def __sklearn_is_fitted__(self) -> bool:
        """Fitted means that a release was paid for and a generator made."""
        return hasattr(self, "_model")

    def __sklearn_tags__(self) -> Any:
        """Missing values, text and numbers come in; randomness comes out."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.non_deterministic = True
        tags.target_tags.required = False
        return tags

    def _subsampling(self) -> Subsampling | None:
        """Return what ``fit`` sub-samples, from parameters alone; None is nothing."""
        return None

    def _open(self, X: Any, y: Any) -> Opening:
        """Validate the parameters and open the table; the first line of ``fit``."""
        self._validate_params()
        if getattr(self, "_is_clone", False):
            warnings.warn(SEARCH_COST, SearchCostWarning, stacklevel=3)
        if holds_images(X) and not self._takes_images:
            raise ValueError(
                f"{type(self).__name__} takes tables of two dimensions. Got images; "
                "use DPMERFSynthesizer for them."
            )
        schema, is_inferred = self.schema, isinstance(self.schema, str)
        if schema is None:
            schema = Schema()
        elif isinstance(schema, dict):
            schema = Schema.from_dict(schema)
        elif is_inferred and holds_images(X):
            raise ValueError(
                "schema must be None for images, or a Schema of the target: pixels are "
                "public in range and number. Got 'infer' instead."
            )
        elif is_inferred:
            warnings.warn(INFER_LEAKS, PrivacyLeakWarning, stacklevel=3)
            schema = Schema.infer(X, y, task=self.task)
        opening = open_table(
            X,
            y,
            epsilon=self.epsilon,
            delta=self.delta,
            schema=schema,
            classes=self.classes,
            adjacency=self.adjacency,
            task=self.task,
            class_weight=getattr(self, "class_weight", None),
            verbose=self.verbose,
        )
        if is_inferred:
            opening.statements.append(CONDITIONAL)
        opening.statements.append(parameters_stated(self))
        if getattr(self, "_is_clone", False):
            opening.statements.append(IS_CLONE)
        return opening

    def _keep(self, facts: Facts, report: PrivacyReport) -> None:
        """Store what may be kept; nothing of an earlier fit stays beside it."""
        for name in [n for n in vars(self) if n.endswith("_") and n[0] != "_"]:
            delattr(self, name)
        vars(self).pop("_model", None)
        self._facts = facts
        self.schema_, self.task_ = facts.schema, facts.task
        if facts.classes is not None:
            self.classes_ = class_array(facts.classes)
        names = facts.layout.names
        is_table = isinstance(facts.layout, Layout)
        self.n_features_in_ = len(names) if is_table else facts.layout.n_pixels
        if facts.layout.container not in ("numpy", "torch") and all(
            isinstance(name, str) for name in names
        ):
            self.feature_names_in_ = np.array(names, dtype=object)
        self.n_samples_ = max(round(facts.n_rows), 1)
        (self._sampler,) = split_generator(self.random_state, 1)
        self.privacy_ = report

    def _stating_classes(self, kept: float, noise: float) -> Any:
        """Say so in the certificate if few rows have one of the classes."""
        if self.task_ == "classification" and kept + 4 * noise < 0.5 * self.n_samples_:
            self.privacy_ = self.privacy_.stating(
                f"only about {kept:.0f} rows have one of the classes: check `classes`, "
                "and whether y holds classes at all"
            )
        return self

    def _sampling_generator(self, random_state: Any) -> Generator:
        """An int fixes the rows; None goes on where the last sample stopped."""
        if random_state is None:
            return self._sampler
        return split_generator(random_state, 1)[0]

    def _sample_size(self, n_samples: Any, y: Any) -> int:
        """Check how many rows are asked for."""
        check_is_fitted(self)
        if y is not None:
            if self.task_ is None:
                raise ValueError(
                    "y needs a synthesizer that was fitted with labels. Got one fitted "
                    "without; call `sample(n_samples)`."
                )
            if np.asarray(y, dtype=object).shape not in ((len(y),), (len(y), 1)):
                raise ValueError(
                    "y must hold one label a row. Got "
                    f"{type(y).__name__} instead; give a list, as `y=['a', 'b']`."
                )
            if n_samples is not None and n_samples != len(y):
                raise ValueError(
                    f"n_samples must be None or len(y)={len(y)} when y is given. "
                    f"Got {n_samples!r} instead."
                )
            return len(y)
        n_samples = self.n_samples_ if n_samples is None else n_samples
        if not isinstance(n_samples, Integral) or n_samples < 1:
            raise ValueError(
                "n_samples must be an integer in the range [1, inf). "
                f"Got {n_samples!r} instead."
            )
        return int(n_samples)

    def _label_codes(self, y: Any) -> Any:
        """Return the position of each label among the classes; unseen is an error."""
        known = map(_label_text, self.classes_.tolist())
        index = {text: i for i, text in enumerate(known)}
        texts = [_label_text(value) for value in np.asarray(y, dtype=object).ravel()]
        unseen = sorted(set(texts) - set(index))
        if unseen:
            shown = ", ".join(unseen[:3]) + ", ..." * (len(unseen) > 3)
            raise ValueError(
                f"y must hold labels the synthesizer knows: {', '.join(index)}. "
                f"Got {shown}; fit with `classes=` that lists every label."
            )
        return np.array([index[text] for text in texts], dtype=np.int64)

    def _target_codes(self, cells: Cells, y: Any) -> Any:
        """Return the cells of target numbers to condition on."""
        layout: Layout = self._facts.target_layout
        codes = cells.encode(read_values(pd.Series(np.asarray(y)), layout.kinds[0]))
        if (codes < 0).any():
            raise ValueError("y must hold numbers. Got missing or other values in it.")
        return codes

    def _draw_labels(self, n_samples: int, y: Any, shares: Any, rng: Generator) -> Any:
        """Return the class of each row to draw: as asked for, or as often as known."""
        if y is None:
            return rng.permutation(systematic(shares, n_samples, rng=rng))
        if self.task_ == "regression":
            return self._target_codes(self._labels, y)
        return self._label_codes(y)

    def _with_target(
        self, X: Any, labels: Any, y: Any, shares: Any, rng: Generator
    ) -> Any:
        """Return X, and y beside it if there was one."""
        if self.task_ is None:
            return X
        if self.task_ == "classification":
            return X, self._decode_target(self.classes_[labels])
        if y is None:
            y = draw_values(self.schema_.target, self._labels, labels, shares, rng=rng)
        return X, self._decode_target(y)

    def _decode(
        self,
        cells: Mapping[Any, Cells],
        codes: Mapping[Any, Any],
        marginals: Mapping[Any, Any],
        n_samples: int,
        rng: Generator,
        given: Mapping[Any, Any] | None = None,
    ) -> Any:
        """Return sampled codes as the container, columns and dtypes of ``fit``."""
        columns: dict[Any, Any] = {}
        for name, column in self.schema_.columns.items():
            if given and name in given:
                columns[name] = given[name]
            elif isinstance(column, Regenerate):
                columns[name] = regenerate(column, n_samples)
            elif not isinstance(column, Drop):
                columns[name] = draw_values(
                    column, cells[name], codes[name], marginals[name], rng=rng
                )
        return self._facts.layout.restore(columns, getattr(self, "_container", None))

    def _decode_target(self, values: Any) -> Any:
        """Return sampled labels or numbers as the container and dtype of y."""
        layout: Layout = self._facts.target_layout
        name = layout.names[0]
        as_series = replace(layout, container="pandas")
        series = as_series.restore({name: pd.Series(values)})[name]
        if layout.container == "pandas":
            return series
        return series.to_numpy(dtype=object if layout.is_text(0) else None)


def class_array(classes: tuple[Any, ...]) -> Any:
    """Return the classes as an array of their own type, as scikit-learn has them."""
    kinds = {type(label) for label in classes}
    if len(kinds) == 1 and kinds <= {int, float, bool, str}:
        return np.array(classes)
    return np.array(classes, dtype=object)


def _label_text(value: Any) -> str:
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, float) and plain.is_integer():
        plain = int(plain)
    return str(plain)
