"""What all estimators share: opening the rows, the ledger, and the way back."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.random import Generator
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from skdpgen.privacy import Adjacency, Ledger, PrivacyBudget
from skdpgen.synthesizers._discovery import (
    TARGET,
    Unknown,
    count_rows,
    discover_classes,
    discover_columns,
)
from skdpgen.tables import (
    Boolean,
    Categorical,
    CategoryCells,
    Cells,
    Column,
    Drop,
    Integer,
    Kind,
    Layout,
    Regenerate,
    Rows,
    Schema,
    draw_values,
    regenerate,
)
from skdpgen.utils import (
    Interval,
    PrivacyLeakWarning,
    SchemaError,
    SchemaRequiredError,
    SearchCostWarning,
    StrOptions,
    clone_parametrized,
)


@dataclass
class Opening:
    """An opened table: private rows on one side, what may be kept on the other."""

    rows: Rows
    ledger: Ledger
    n_rows: float  # public, or released
    columns: dict[Any, Column]  # the target under TARGET, if it is a number
    classes: tuple[Any, ...] | None
    task: str | None
    statements: list[str]

    @property
    def labels(self) -> Cells | None:
        """How the target becomes a label."""
        return None if self.classes is None else CategoryCells(self.classes, False)


class BaseSynthesizer(BaseEstimator):
    """Parameters, private opening, sampling and saving of every synthesizer."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "epsilon": [Interval(Real, 0, None, closed="neither")],
        "delta": [Interval(Real, 0, 1, closed="neither")],
        "schema": [Schema, StrOptions({"infer"}), dict, None],
        "classes": ["array-like", None],
        "adjacency": [StrOptions({"replace", "add_remove"})],
        "task": [StrOptions({"auto", "classification", "regression"})],
        "random_state": ["random_state", Generator],
        "verbose": [Interval(Integral, 0, None, closed="left"), bool],
    }

    def __sklearn_clone__(self) -> Any:
        """Clone, and remember it: each clone fitted on the same rows costs again."""
        copy = clone_parametrized(self)
        copy._is_clone = True
        return copy

    def __sklearn_is_fitted__(self) -> bool:
        """Fitted means that a release was paid for and a generator made."""
        return hasattr(self, "privacy_")

    def __sklearn_tags__(self) -> Any:
        """Missing values, text and numbers come in; randomness comes out."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.non_deterministic = True
        tags.target_tags.required = False
        return tags

    def _open(self, X: Any, y: Any) -> Opening:
        """Validate, open the ledger, and complete the schema privately."""
        self._validate_params()
        if getattr(self, "_is_clone", False):
            warnings.warn(SEARCH_COST, SearchCostWarning, stacklevel=3)
        rows = Rows.read(X, y, task=self.task)
        adjacency = Adjacency.parse(self.adjacency)
        task = _task(self.task, rows.target_layout)
        schema, statement = self._public_schema(X, y, rows.layout)
        kinds = dict(zip(rows.layout.names, rows.layout.kinds, strict=True))
        known = dict(schema.columns)
        classes = self._public_classes(schema, task)
        if task == "regression":
            kinds[TARGET] = rows.target_layout.kinds[0]  # type: ignore[union-attr]
            if kinds[TARGET] in (Kind.TEXT, Kind.BOOLEAN):
                kinds[TARGET] = Kind.FLOAT
            if schema.target is not None:
                known[TARGET] = schema.target
        unknown = Unknown.of(kinds, known)
        must_find_classes = task == "classification" and classes is None
        ledger = Ledger(
            PrivacyBudget.reserving(
                float(self.epsilon),
                self.delta,
                adjacency,
                len(unknown.texts) + must_find_classes,
            )
        )
        statements = [*statement]
        if adjacency is Adjacency.REPLACE:
            n_rows = float(rows.n_rows)
            statements.append("number of rows: public")
        else:
            n_rows = count_rows(rows, ledger)
        if must_find_classes:
            classes = _parse_classes(discover_classes(rows, ledger), rows.target_layout)
            statements.append("class labels: discovered privately")
        elif task == "classification":
            statements.append("class labels: taken as public")
        if len(unknown):
            statements.append(f"schema of {len(unknown)} columns: discovered privately")
        columns = discover_columns(rows, kinds, known, ledger, n_rows)
        columns = _without_impossible_missing(columns, rows)
        return Opening(rows, ledger, n_rows, columns, classes, task, statements)

    def _finish(self, opening: Opening) -> None:
        """Keep what may be kept; from here on the estimator counts as fitted."""
        rows = opening.rows
        rows.close()
        columns = dict(opening.columns)
        target = columns.pop(TARGET, None)
        if opening.classes is not None:
            target = Categorical(opening.classes, nullable=False)
            self.classes_ = _array(opening.classes)
        self.schema_ = Schema(columns, target)
        self.task_ = opening.task
        self.layout_, self.target_layout_ = rows.layout, rows.target_layout
        self.n_features_in_ = len(rows.layout.names)
        if all(isinstance(name, str) for name in rows.layout.names) and (
            rows.layout.container not in ("numpy", "torch")
        ):
            self.feature_names_in_ = np.array(rows.layout.names, dtype=object)
        self.n_samples_ = max(round(opening.n_rows), 1)
        self.privacy_ = opening.ledger.report(opening.statements)

    def _public_schema(
        self, X: Any, y: Any, layout: Layout
    ) -> tuple[Schema, list[str]]:
        if self.schema is None:
            return Schema(), []
        if isinstance(self.schema, str):
            warnings.warn(INFER_LEAKS, PrivacyLeakWarning, stacklevel=4)
            statement = "LEAK: the schema was inferred from the rows; " + CONDITIONAL
            return Schema.infer(X, y if self.classes is None else None), [statement]
        schema = self.schema
        if isinstance(schema, dict):
            schema = Schema.from_dict(schema)
        given = f"schema of {len(schema.columns)} columns: taken as public"
        return schema.check().match(layout), [given]

    def _public_classes(self, schema: Schema, task: str | None) -> Any:
        if task != "classification":
            return None
        if self.classes is not None:
            return _sorted_unique(self.classes)
        target = schema.target
        if isinstance(target, Boolean):
            return (False, True)
        if isinstance(target, Categorical):
            return _sorted_unique(target.categories)
        if isinstance(target, Integer):
            return tuple(range(int(target.lower), int(target.upper) + 1))
        if target is not None:
            raise SchemaError(
                "The target of a classification must be Categorical, Boolean or "
                f"Integer. Got {type(target).__name__} instead; say "
                "`task='regression'` if y is a number."
            )
        return None

    def _label_codes(self, y: Any) -> Any:
        """Return the position of each label among the classes; unseen is an error."""
        values = np.asarray(y, dtype=object).ravel()
        index = {str(label): i for i, label in enumerate(self.classes_.tolist())}
        codes = np.array([index.get(_label_text(v, index), -1) for v in values])
        if (codes < 0).any():
            unseen = sorted({str(v) for v in values[codes < 0]})
            raise ValueError(
                f"y must hold labels the synthesizer knows: {', '.join(index)}. "
                f"Got {', '.join(unseen)}; pass `classes=` with every label to fit."
            )
        return codes.astype(np.int64)

    def _check_sample(self, n_samples: Any, y: Any) -> int:
        check_is_fitted(self)
        if y is not None:
            if self.task_ is None:
                raise ValueError(
                    "y needs a synthesizer that was fitted with labels. Got one fitted "
                    "without; call `sample(n_samples)`."
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
                f"n_samples must be an integer of at least 1. Got {n_samples!r} instead."
            )
        return int(n_samples)

    def _decode(
        self,
        cells: Mapping[Any, Cells],
        codes: Mapping[Any, Any],
        marginals: Mapping[Any, Any],
        n_samples: int,
        rng: Generator,
    ) -> Any:
        """Return sampled codes as the container, columns and dtypes of ``fit``."""
        columns: dict[Any, Any] = {}
        for name, column in self.schema_.columns.items():
            if isinstance(column, Regenerate):
                columns[name] = regenerate(column, n_samples)
            elif not isinstance(column, Drop):
                columns[name] = draw_values(
                    column, cells[name], codes[name], marginals[name], rng=rng
                )
        return self.layout_.restore(columns, self._output_container())

    def set_output(self, *, transform: str | None = None) -> Any:
        """Choose what :meth:`sample` returns: ``"pandas"``, ``"polars"`` or as came."""
        if transform not in (None, "default", "pandas", "polars"):
            raise ValueError(
                "transform must be None, 'default', 'pandas' or 'polars'. "
                f"Got {transform!r} instead."
            )
        if transform is not None:
            self._container = None if transform == "default" else transform
        return self

    def _output_container(self) -> str | None:
        return getattr(self, "_container", None)

    def _restore_target(self, values: Any) -> Any:
        layout = self.target_layout_
        name = layout.names[0]
        frame = replace(layout, container="pandas").restore({name: pd.Series(values)})
        if layout.container == "pandas":
            return frame[name]
        dtype = layout.dtypes[0]
        return frame[name].to_numpy(dtype=object if dtype == "str" else None)


SEARCH_COST = (
    "This estimator is a clone, as a search makes many: each one that is fitted on "
    "the same rows costs its own epsilon. `search_cost(search)` adds them up."
)
CONDITIONAL = "the guarantee holds only if bounds and categories are public anyway"
INFER_LEAKS = (
    "schema='infer' reads bounds and categories off the private rows, outside the "
    "guarantee. Give a Schema, or leave schema=None to discover it privately."
)


def _task(task: str, target: Layout | None) -> str | None:
    if target is None:
        return None
    if task != "auto":
        return task
    is_number = target.kinds[0] in (Kind.FLOAT, Kind.DATETIME)
    return "regression" if is_number else "classification"


def _parse_classes(found: list[str], layout: Layout | None) -> tuple[Any, ...]:
    if not found:
        raise SchemaRequiredError(
            "No class label stood out of the noise. Say which labels there are: "
            "`classes=[...]`, or a schema with a target."
        )
    assert layout is not None
    parse: Any = {Kind.INTEGER: int, Kind.FLOAT: float}.get(layout.kinds[0], str)
    if layout.kinds[0] is Kind.BOOLEAN:
        return tuple(sorted(text not in ("0", "False") for text in found))
    return _sorted_unique([parse(text) for text in found])


def _sorted_unique(values: Any) -> tuple[Any, ...]:
    plain = {v.item() if isinstance(v, np.generic) else v for v in values}
    try:
        return tuple(sorted(plain))
    except TypeError:
        return tuple(sorted(plain, key=str))


def _array(classes: tuple[Any, ...]) -> Any:
    kinds = {type(label) for label in classes}
    if len(kinds) == 1 and kinds <= {int, float, bool, str}:
        return np.array(classes)
    return np.array(classes, dtype=object)


def _label_text(value: Any, index: Mapping[str, int]) -> str:
    text = str(value)
    if text not in index and isinstance(value, float) and value.is_integer():
        return str(int(value))
    return text


def _without_impossible_missing(
    columns: dict[Any, Column], rows: Rows
) -> dict[Any, Column]:
    """A dtype that cannot say missing has none to count; its kind is public."""
    possible = dict(zip(rows.layout.names, rows.layout.can_be_missing, strict=True))
    possible[TARGET] = False
    return {
        name: column
        if possible[name] or isinstance(column, Drop | Regenerate)
        else replace(column, nullable=False)
        for name, column in columns.items()
    }
