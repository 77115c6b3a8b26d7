"""Opening a table: validate, open the ledger, complete the schema privately."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from tqdm import tqdm

from skdpgen.privacy import Adjacency, Ledger, PrivacyBudget, PrivacyReport
from skdpgen.synthesizers._discovery import (
    Unknown,
    check_feasible,
    count_rows,
    discover_classes,
    discover_columns,
)
from skdpgen.synthesizers._statements import dtypes_stated
from skdpgen.tables import (
    TARGET,
    Boolean,
    Categorical,
    CategoryCells,
    Cells,
    Chunks,
    Column,
    Drop,
    ImageLayout,
    Integer,
    Kind,
    Layout,
    Numeric,
    Regenerate,
    Rows,
    Schema,
    bounds,
)
from skdpgen.utils import SchemaError, SchemaRequiredError

MAX_CLASSES = 10_000


@dataclass(frozen=True)
class Facts:
    """What an estimator may keep of a table: public, or released and paid for."""

    layout: Layout | ImageLayout
    target_layout: Layout | None
    schema: Schema
    task: str | None
    classes: tuple[Any, ...] | None
    n_rows: float
    discovered: tuple[Any, ...]  # names of the columns that no schema described


@dataclass(eq=False)
class Opening:
    """An opened table: private rows on one side, what may be kept on the other."""

    rows: Rows
    ledger: Ledger
    facts: Facts
    statements: list[str]
    progress: Any

    @property
    def columns(self) -> dict[Any, Column]:
        """Every column to encode; a numeric target stands under TARGET."""
        kept = {
            name: column
            for name, column in self.facts.schema.columns.items()
            if not isinstance(column, Drop | Regenerate)
        }
        if self.facts.task == "regression" and self.facts.schema.target is not None:
            kept[TARGET] = self.facts.schema.target
        return kept

    @property
    def labels(self) -> Cells | None:
        """How a target of classes becomes a label."""
        classes = self.facts.classes
        return None if classes is None else CategoryCells(classes, False)

    def step(self, name: str) -> None:
        """Advance the progress bar; it counts stages, never rows."""
        self.progress.set_description(name)
        self.progress.update()

    def close(self) -> PrivacyReport:
        """Forget the rows and return the certificate."""
        self.rows.close()
        self.progress.close()
        return self.ledger.report(self.statements)


def open_table(
    X: Any,
    y: Any,
    *,
    epsilon: float,
    delta: float,
    schema: Schema,
    classes: Any,
    adjacency: str,
    task: str,
    class_weight: Any,
    verbose: int,
    n_stages: int = 3,
) -> Opening:
    """Open private rows under a ledger; what the schema leaves open is released."""
    neighbours = Adjacency.parse(adjacency)
    is_size_public = neighbours is Adjacency.REPLACE
    rows = Rows.read(X, y, task=task, is_size_public=is_size_public)
    found_task = _task(task, rows.target_layout)
    if class_weight is not None and found_task != "classification":
        raise ValueError(
            "class_weight must be None unless y holds classes. "
            f"Got {class_weight!r} instead."
        )
    if classes is not None and found_task != "classification":
        given = "y=None" if found_task is None else "a regression"
        raise ValueError(f"classes needs a y of labels. Got {given} instead.")
    schema.check().match(rows.layout)
    left_out = [c for c in schema.columns.values() if isinstance(c, Drop | Regenerate)]
    is_table = not isinstance(rows.layout, ImageLayout)
    if is_table and len(left_out) == len(rows.layout.names):
        raise SchemaError(
            "At least one column must be kept. Got a schema that drops or "
            "regenerates every one."
        )
    kinds, known = _kinds(rows, schema, found_task)
    _check_dtypes(known, rows.layout)
    public = _public_classes(classes, schema, found_task)
    if isinstance(class_weight, dict) and public is not None:
        check_class_weight(class_weight, public)
    unknown = Unknown.of(kinds, known)
    must_find = found_task == "classification" and public is None
    budget = PrivacyBudget.reserving(
        float(epsilon), delta, neighbours, len(unknown.texts) + must_find
    )
    ledger = Ledger(budget)
    progress = tqdm(total=n_stages, disable=not verbose, desc="opening", leave=False)
    if is_size_public:
        check_size(rows.n_rows)
        n_rows = float(rows.n_rows)
        check_feasible(len(unknown), n_rows, ledger)  # before anything is spent
        statements = ["number of rows: public"]
        if delta > 1 / n_rows:
            statements.append("delta exceeds 1 / rows: it may expose a row outright")
    else:
        n_rows = count_rows(rows, ledger)
        statements = ["number of rows: private, released with noise"]
        if isinstance(X, Chunks) and X.like is None:
            statements.append("that there is a chunk of rows: taken as public")
    try:
        if must_find:
            found_labels = discover_classes(rows, ledger)
            public = parse_classes(found_labels, rows.target_layout)
        columns = discover_columns(rows, kinds, known, ledger, n_rows)
    except SchemaRequiredError as error:
        spent = 1 - ledger.remaining
        note = f" This attempt spent {spent:.0%} of its budget." if spent else ""
        raise SchemaRequiredError(f"{error}{note}") from None
    if must_find:
        statements.append(f"class labels: {len(public)} discovered privately")
    elif found_task == "classification":
        statements.append("class labels: taken as public")
    statements.append(dtypes_stated(rows.layout, rows.target_layout))
    if rows.has_lists:
        statements.append("types of plain lists: taken as public")
    if isinstance(rows.layout, ImageLayout):
        statements.append("shape and range of the pixels: public")
    if schema.columns:
        statements.append(f"schema of {len(schema.columns)} columns: taken as public")
    if schema.target is not None and found_task == "regression":
        statements.append("schema of the target: taken as public")
    if len(unknown):
        statements.append(f"schema of {len(unknown)} columns: discovered privately")
    empty = [n for n in unknown.texts if columns[n] == Categorical([])]
    if empty:
        statements.append(
            f"no category found, all missing: {', '.join(map(str, empty))}"
        )
    columns = _without_impossible_missing(columns, rows.layout)
    columns = _within_dtypes(columns, rows.layout)
    target = columns.pop(TARGET, None)
    if public is not None:
        target = Categorical(public, nullable=False)
    full = Schema(columns, target)
    found = tuple(name for name in columns if name not in known)
    facts = Facts(
        rows.layout, rows.target_layout, full, found_task, public, n_rows, found
    )
    return Opening(rows, ledger, facts, statements, progress)


def parse_classes(found: list[str], layout: Layout | None) -> tuple[Any, ...]:
    """Turn released labels back into the kind of value that y holds."""
    if not found:
        raise SchemaRequiredError(
            "No class label stood out of the noise. Say which labels there are: "
            "`classes=[...]`, or a schema with a target."
        )
    assert layout is not None
    kind = layout.kinds[0]
    if kind is Kind.BOOLEAN:
        return sorted_unique([text not in ("0", "False") for text in found])
    is_number = kind in (Kind.INTEGER, Kind.FLOAT)
    parse: Any = _parse_number if is_number else str
    return sorted_unique([parse(text) for text in found])


def _parse_number(text: str) -> float:
    return int(text) if text.lstrip("-").isdigit() else float(text)


def sorted_unique(values: Any) -> tuple[Any, ...]:
    """Return distinct plain values in a public order."""
    plain = {v.item() if isinstance(v, np.generic) else v for v in values}
    try:
        return tuple(sorted(plain))
    except TypeError:
        return tuple(sorted(plain, key=str))


def check_size(n_rows: int) -> None:
    """Raise for less than two rows; only where their number is public."""
    if n_rows < 2:
        raise ValueError(
            f"Found array with {n_rows} sample(s) while a minimum of 2 is required. "
            "Got n_samples=" + f"{n_rows} in X."
        )


def check_class_weight(weights: Mapping[Any, float], classes: Any) -> None:
    """Raise unless the weights of known classes can be sampled by."""
    unknown = set(weights) - set(classes)
    given = [weights.get(label, 1.0) for label in classes]
    if unknown or min(given) < 0 or max(given) == 0:
        raise ValueError(
            "class_weight must give known classes weights >= 0, one of them > 0. "
            f"Got {dict(weights)!r}; the classes are {list(classes)}."
        )


def _task(task: str, target: Layout | None) -> str | None:
    if target is None:
        return None
    if task != "auto":
        return task
    is_number = target.kinds[0] in (Kind.FLOAT, Kind.DATETIME)
    return "regression" if is_number else "classification"


def _kinds(
    rows: Rows, schema: Schema, task: str | None
) -> tuple[dict[Any, Kind], dict[Any, Column]]:
    """Kinds of all columns and what is known of them, a numeric target included."""
    kinds = dict(zip(rows.layout.names, rows.layout.kinds, strict=True))
    known = dict(schema.columns)
    if task == "regression":
        assert rows.target_layout is not None
        kind = rows.target_layout.kinds[0]
        kinds[TARGET] = Kind.FLOAT if kind in (Kind.TEXT, Kind.BOOLEAN) else kind
        if schema.target is not None:
            known[TARGET] = schema.target
            if isinstance(schema.target, Categorical | Boolean | Drop | Regenerate):
                raise SchemaError(
                    "The target of a regression must be Numeric, Integer or Datetime. "
                    f"Got {type(schema.target).__name__} instead."
                )
    return kinds, known


def _public_classes(classes: Any, schema: Schema, task: str | None) -> Any:
    if task != "classification":
        return None
    target = schema.target
    if classes is not None:
        found = sorted_unique(classes)
        if len(found) < len(classes) or not found:
            raise ValueError(
                "classes must list each public label once, and not be y itself. "
                f"Got {len(classes)} entries, {len(found)} of them distinct."
            )
        return _checked_classes(found, target)
    if isinstance(target, Boolean):
        return (False, True)
    if isinstance(target, Categorical):
        return sorted_unique(target.categories)
    if isinstance(target, Integer):
        if (target.n_values or math.inf) > MAX_CLASSES:
            raise SchemaError(
                f"An Integer target lists at most {MAX_CLASSES} classes. Got "
                f"{target.lower!r} to {target.upper!r}; say `task='regression'`."
            )
        return tuple(range(int(target.lower or 0), int(target.upper or 0) + 1))
    if target is not None:
        raise SchemaError(
            "The target of a classification must be Categorical, Boolean or Integer. "
            f"Got {type(target).__name__} instead; say `task='regression'` if y is a "
            "number."
        )
    return None


def _checked_classes(classes: tuple[Any, ...], target: Column | None) -> Any:
    texts = set(map(str, classes))
    if not texts or len(texts) < len(classes) or texts & {"None", "nan", "<NA>"}:
        raise ValueError(
            "classes must be distinct labels, at least one, and none of them missing. "
            f"Got {list(classes)!r} instead."
        )
    if isinstance(target, Categorical) and texts != set(map(str, target.categories)):
        raise SchemaError(
            "classes must be the categories of the schema's target, if both are given. "
            f"Got {list(classes)!r} and {list(target.categories)!r}; leave one out."
        )
    return classes


def _check_dtypes(known: Mapping[Any, Column], layout: Layout) -> None:
    for name, limits in zip(layout.names, layout.limits, strict=True):
        column = known.get(name)
        if limits is None or not isinstance(column, Integer | Numeric):
            continue
        lower, upper = bounds(column)
        if lower > limits[1] or upper < limits[0]:
            raise SchemaError(
                f"Bounds of column {name!r} must overlap what its dtype can hold, "
                f"{limits[0]} to {limits[1]}. Got lower={column.lower!r}, "
                f"upper={column.upper!r}; correct them or convert the column."
            )


def _within_dtypes(columns: Mapping[Any, Column], layout: Layout) -> dict[Any, Column]:
    """Bounds that a public dtype cannot hold would wrap around when decoded."""
    result = dict(columns)
    for name, limits in zip(layout.names, layout.limits, strict=True):
        column = columns[name]
        if limits is not None and isinstance(column, Integer | Numeric):
            ends: Any = (column.lower, column.upper)
            lower, upper = (min(max(end, limits[0]), limits[1]) for end in ends)
            result[name] = replace(column, lower=lower, upper=upper)
    return result


def _without_impossible_missing(
    columns: Mapping[Any, Column], layout: Layout
) -> dict[Any, Column]:
    """A dtype that cannot say missing has none to count; its kind is public."""
    possible = dict(zip(layout.names, layout.can_be_missing, strict=True))
    possible[TARGET] = False
    return {
        name: column
        if possible[name] or isinstance(column, Drop | Regenerate)
        else replace(column, nullable=False)
        for name, column in columns.items()
    }
