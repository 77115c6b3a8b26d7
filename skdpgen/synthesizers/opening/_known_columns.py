"""What is public about a table before a row is read: kinds, a schema, dtypes."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from skdpgen.synthesizers.opening._classes import public_classes
from skdpgen.synthesizers.opening._column_kinds import Unknown
from skdpgen.tables import (
    NUMBERS,
    TARGET,
    Boolean,
    Categorical,
    Column,
    Drop,
    ImageLayout,
    Integer,
    Kind,
    Layout,
    Numeric,
    Regenerate,
    Rows,
    Rule,
    Schema,
    bounds,
    check_rules,
    hinted_kind,
    is_written,
    lists_categories,
    with_hint,
    within_limits,
)
from skdpgen.utils import SchemaError


@dataclass(frozen=True)
class Known:
    """What is known about columns and labels, and what is left to discover."""

    task: str | None
    kinds: Mapping[Any, Kind]
    columns: Mapping[Any, Column]
    classes: tuple[Any, ...] | None
    hints: Mapping[Any, Column] = field(default_factory=dict)  # bounds left open
    origin: str = ""  # of the schema
    other: str = "other"
    is_asked: bool = False
    is_text_asked: bool = False  # a target of text may say numbers
    rules: tuple[Rule, ...] = ()

    @classmethod
    def of(cls, rows: Rows, schema: Schema, classes: Any, task: str) -> "Known":
        """Put together what was given; raise where it contradicts the dtypes."""
        found_task = _task(task, rows.target_layout)
        if classes is not None and found_task != "classification":
            given = "y=None" if found_task is None else "a regression"
            raise ValueError(f"classes needs a y of labels. Got {given} instead.")
        schema.check().match(rows.layout)
        _check_something_is_left(schema, rows.layout)
        _check_text(schema, rows.layout)
        kinds, known = _kinds(rows, schema, found_task)
        _check_dtypes(known, rows.layout)
        if schema.rules:
            _check_rules(schema, rows.layout)
        hints = {name: c for name, c in known.items() if hinted_kind(c) is not None}
        kinds |= {name: hinted_kind(column) for name, column in hints.items()}
        known = {name: c for name, c in known.items() if name not in hints}
        found = public_classes(classes, schema, found_task)
        target = rows.target_layout
        is_auto = task == "auto" and target is not None and classes is None
        kind = target.kinds[0] if target is not None else None
        is_asked = is_auto and kind is Kind.INTEGER
        is_text_asked = (
            is_auto and kind is Kind.TEXT and isinstance(rows.layout, Layout)
        )
        return cls(
            found_task,
            kinds,
            known,
            found,
            hints,
            schema.origin,
            schema.other,
            is_asked,
            is_text_asked,
            tuple(schema.rules),
        )

    @property
    def written(self) -> dict[Any, Column]:
        """The columns that say how their text is written."""
        every = {**self.columns, **self.hints}
        return {
            name: column
            for name, column in every.items()
            if is_written(column) or getattr(column, "codes", ())
        }

    def with_hints(self, found: Mapping[Any, Column]) -> dict[Any, Column]:
        """Return discovered columns with what hints say of them."""
        return dict(found) | {n: with_hint(found[n], h) for n, h in self.hints.items()}

    @property
    def public_ends(self) -> dict[Any, tuple[Any, Any]]:
        """The bounds of numbers of which the other bound is left to discovery."""
        return {
            name: (hint.lower, hint.upper)
            for name, hint in self.hints.items()
            if isinstance(hint, Integer | Numeric)
            and (hint.lower is None) != (hint.upper is None)
        }

    @property
    def unknown(self) -> Unknown:
        """The columns that no schema describes."""
        return Unknown.of(self.kinds, self.columns)

    @property
    def whole_numbers(self) -> tuple[Any, ...]:
        """The columns of X of a whole-number dtype that no schema describes."""
        described = {TARGET, *self.columns, *self.hints}
        return tuple(
            name
            for name, kind in self.kinds.items()
            if kind is Kind.INTEGER and name not in described
        )

    @property
    def may_be_a_number(self) -> bool:
        """Whether released labels decide what y is: integers that nothing explains."""
        return self.is_asked and self.has_unknown_classes

    @property
    def may_say_a_number(self) -> bool:
        """Whether releases decide what y is: text, of which no label is known."""
        return self.is_text_asked and self.has_unknown_classes

    def with_number(self) -> "Known":
        """Return the same with a target that turned out to be a number."""
        kind = Kind.FLOAT if self.is_text_asked else Kind.INTEGER
        kinds = {**self.kinds, TARGET: kind}
        return replace(self, task="regression", kinds=kinds, is_asked=False)

    @property
    def n_numbers(self) -> int:
        """Number of columns that may need bins; a numeric target counts as one."""
        numbers = {Kind.FLOAT, Kind.INTEGER, Kind.DATETIME}
        return sum(
            kind in numbers or isinstance(self.columns.get(name), NUMBERS)
            for name, kind in self.kinds.items()
        )

    @property
    def most_numbers(self) -> int:
        """Columns that may need bins, text that may say numbers included."""
        may_be_number = self.may_be_a_number or self.may_say_a_number
        return self.n_numbers + len(self.unknown.texts) + may_be_number

    @property
    def has_unknown_classes(self) -> bool:
        """Whether labels are left to discover."""
        return self.task == "classification" and self.classes is None


def complete_schema(
    columns: Mapping[Any, Column],
    classes: Any,
    layout: Layout | ImageLayout,
    other: str = "other",
    rules: tuple[Rule, ...] = (),
    origin: str = "",
) -> Schema:
    """Return the schema of all columns, within what their dtypes can hold.

    It has the marks of the schema that was given (``origin``) and those of its columns.
    """
    columns = _without_impossible_missing(columns, layout)
    columns = _within_dtypes(columns, layout)
    target = columns.pop(TARGET, None)
    if classes is not None:
        target = Categorical(classes, nullable=False)
    return Schema(columns, target, other, origin, rules)


def _check_something_is_left(schema: Schema, layout: Layout | ImageLayout) -> None:
    left_out = [c for c in schema.columns.values() if isinstance(c, Drop | Regenerate)]
    if isinstance(layout, Layout) and len(left_out) == len(layout.names):
        raise SchemaError(
            "At least one column must be kept. Got a schema that drops or "
            "regenerates every one."
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
    """Kinds of all columns and what is known about them, a numeric target included."""
    kinds = dict(zip(rows.layout.names, rows.layout.kinds, strict=True))
    for name, dtype in zip(rows.layout.names, rows.layout.dtypes, strict=True):
        if lists_categories(dtype) and kinds[name] in (Kind.INTEGER, Kind.FLOAT):
            kinds[name] = Kind.TEXT  # numbers that are categories
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


def _check_rules(schema: Schema, layout: Layout) -> None:
    """Raise where public dtypes hold less than the schema says, and a rule needs it."""
    others = {name: Drop() for name in layout.names}
    columns = _without_impossible_missing({**others, **schema.columns}, layout)
    check_rules(schema.rules, _within_dtypes(columns, layout))


def _check_text(schema: Schema, layout: Layout | ImageLayout) -> None:
    if schema.target is not None and is_written(schema.target):
        raise SchemaError(
            "format and parse are for columns of X. Got them for the target; convert y "
            "to numbers or times."
        )
    kinds = dict(zip(layout.names, layout.kinds, strict=True))
    for name, column in schema.columns.items():
        if is_written(column) and kinds[name] is not Kind.TEXT:
            raise SchemaError(
                f"Column {name!r} must hold text, for its format or parse. Got "
                f"{kinds[name].value} as the kind of its dtype; leave format and parse "
                "out."
            )


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


def _within_dtypes(
    columns: Mapping[Any, Column], layout: Layout | ImageLayout
) -> dict[Any, Column]:
    """Cut bounds to what public dtypes can hold."""
    limits = dict(zip(layout.names, layout.limits, strict=True))
    return {n: within_limits(c, limits.get(n)) for n, c in columns.items()}


def _without_impossible_missing(
    columns: Mapping[Any, Column], layout: Layout
) -> dict[Any, Column]:
    """Rule out missing values where the dtype, which is public, cannot hold any."""
    possible = dict(zip(layout.names, layout.can_be_missing, strict=True))
    possible[TARGET] = False
    return {
        name: column
        if possible[name] or isinstance(column, Drop | Regenerate)
        else replace(column, nullable=False)
        for name, column in columns.items()
    }
