"""What is public about a table before a row is read, and the release of its classes."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdpgen.exceptions import (
    RowsElsewhereError,
    SchemaError,
    SchemaRequiredError,
)
from skdpgen.privacy import Ledger, Selections, release, selection_threshold
from skdpgen.synthesizers.opening._first_look import Unknown
from skdpgen.tables import (
    NUMBERS,
    TARGET,
    Boolean,
    Categorical,
    Cells,
    Column,
    Datetime,
    Drop,
    ImageLayout,
    Integer,
    Kind,
    Layout,
    Numeric,
    Ordinal,
    Regenerate,
    Rows,
    Rule,
    Schema,
    at_zone,
    bounds,
    check_rules,
    hinted_kind,
    holds_images,
    is_same_zone,
    is_written,
    lists_categories,
    stands_elsewhere,
    times_at,
    with_hint,
    within_limits,
    zone_of,
    zones_of,
)
from skdpgen.utils import (
    Key,
)

# ----------------------------------------------------------------------------
# Class labels: public, or released above a threshold that no single row passes.

CLASS_SHARE = 0.05  # of mu²
LABELLED_PART = 0.7  # of the rows have a released label, if integers are classes
FEW_LABELS, NEARLY_ALL = 10, 0.95  # more labels than that, and what they carry
MAX_CLASSES = 10_000
SHARES_ROUNDING = 1e-6  # that their sum may be wrong by


def n_classes_of(labels: Cells | None) -> int:
    """Return the number of classes; rows without labels are one class."""
    return 1 if labels is None else labels.n_cells


def public_classes(
    classes: Any, schema: Schema, task: str | None
) -> tuple[Any, ...] | None:
    """Return the classes that are public; None if there are none."""
    if task != "classification":
        return None
    target = schema.target
    if classes is not None:
        labels = sorted_unique(classes)
        if len(labels) < len(classes) or not labels:
            raise ValueError(
                "classes must list each public label once, and not be y itself. "
                f"Got {len(classes)} entries, {len(labels)} of them distinct."
            )
        return _checked_classes(labels, target)
    if isinstance(target, Boolean):
        return (False, True)
    if isinstance(target, Categorical):
        assert target.categories is not None  # the schema is checked before
        return sorted_unique(target.categories)
    if isinstance(target, Integer):
        if None in (target.lower, target.upper):
            raise SchemaError(
                "An Integer target that lists classes needs lower and upper. Got "
                f"lower={target.lower!r}, upper={target.upper!r}; give both, leave the "
                "target out to have labels discovered, or set `task='regression'`."
            )
        if (target.n_values or math.inf) > MAX_CLASSES:
            raise SchemaError(
                f"An Integer target lists at most {MAX_CLASSES} classes. Got "
                f"{target.lower!r} to {target.upper!r}; set `task='regression'`."
            )
        return tuple(range(int(target.lower or 0), int(target.upper or 0) + 1))
    if target is not None:
        raise SchemaError(
            "The target of a classification must be Categorical, Boolean or Integer. "
            f"Got {type(target).__name__} instead; set `task='regression'` if y is a "
            "number."
        )
    return None


def discover_classes(rows: Rows, ledger: Ledger) -> tuple[Mapping[str, float], float]:
    """Release the labels above the selection threshold, and their noisy counts.

    Also returns that threshold, which is public.
    """
    columns, sums = (TARGET,), rows.beforehand
    block = (
        Selections(columns) if sums is None else sums.selections(Key.TOKENS, columns)
    )
    released = release(
        rows.batches({}, tokens=columns) if sums is None else sums,
        {Key.TOKENS: block},
        name="class labels",
        ledger=ledger,
        share=CLASS_SHARE,
    )
    counts: Mapping[str, float] = released.values[Key.TOKENS][TARGET]
    std, budget = released.noise_std[Key.TOKENS], ledger.budget
    threshold = selection_threshold(std, budget.delta_selection, budget.n_selections)
    return counts, threshold


def are_classes(label_counts: Mapping[str, float], n_rows: float) -> bool:
    """Return whether few labels cover most rows; otherwise integers are numbers.

    Examples
    --------
    >>> are_classes({"0": 60.0, "1": 35.0}, 100), are_classes({"7": 10.0}, 100)
    (True, False)
    """
    fraction = LABELLED_PART if len(label_counts) <= FEW_LABELS else NEARLY_ALL
    return sum(label_counts.values()) > fraction * n_rows


def parse_classes(labels: Iterable[str], layout: Layout | None) -> tuple[Any, ...]:
    """Convert released labels to the type of the values of y."""
    if not labels:
        raise SchemaRequiredError(
            "No class label was frequent enough to exceed the noise. List the "
            "labels in `classes=[...]`, or give a schema with a target; set "
            "`task='regression'` if y is a number. Convert text or objects that are "
            "times, as by `pd.to_datetime(y)`."
        )
    assert layout is not None
    kind = layout.kinds[0]
    if kind is Kind.BOOLEAN:
        return sorted_unique([text not in ("0", "False") for text in labels])
    is_number = kind in (Kind.INTEGER, Kind.FLOAT)
    parse: Any = _parse_number if is_number else str
    return sorted_unique([parse(text) for text in labels])


def shares_of(
    class_distribution: Mapping[Any, float] | str, classes: Sequence[Any]
) -> NDArray[np.float64]:
    """Return the share of each class to draw; a class that is not listed gets 0.

    Shares must sum to 1, so that a class that was forgotten is an error.

    Examples
    --------
    >>> shares_of({"yes": 0.75, "no": 0.25}, ["no", "perhaps", "yes"])
    array([0.25, 0.  , 0.75])
    """
    if isinstance(class_distribution, str) and class_distribution == "balanced":
        return np.full(len(classes), 1.0 / len(classes))
    if not isinstance(class_distribution, Mapping) or set(class_distribution) - set(
        classes
    ):
        problem = f"Got {class_distribution!r}"
    elif not all(_is_share(share) for share in class_distribution.values()):
        problem = (
            f"Got {class_distribution!r}, with a share that is not a number from 0 to 1"
        )
    elif abs(math.fsum(class_distribution.values()) - 1.0) > SHARES_ROUNDING:
        total = math.fsum(class_distribution.values())
        problem = f"Got {class_distribution!r}, which sums to {total:.6g}"
    else:
        shares = np.array(
            [class_distribution.get(label, 0.0) for label in classes], dtype=float
        )
        return shares / shares.sum()
    raise ValueError(
        "class_distribution must be 'balanced', or a dictionary of known classes and "
        "their shares, which are from 0 to 1 and sum to 1; a class that is not listed "
        f"is not drawn. {problem}; the classes are {list(classes)}. List every class "
        "that is to be drawn, and divide the shares by their sum."
    )


def sorted_unique(values: Iterable[Any]) -> tuple[Any, ...]:
    """Return distinct plain values in a public order."""
    unique = {v.item() if isinstance(v, np.generic) else v for v in values}
    try:
        return tuple(sorted(unique))
    except TypeError:
        return tuple(sorted(unique, key=str))


def _is_share(share: Any) -> bool:
    is_number = isinstance(share, Real) and not isinstance(share, bool | np.bool_)
    return is_number and 0 <= float(share) <= 1 + SHARES_ROUNDING


def _checked_classes(
    classes: tuple[Any, ...], target: Column | None
) -> tuple[Any, ...]:
    texts = set(map(str, classes))
    if not texts or len(texts) < len(classes) or texts & {"None", "nan", "<NA>"}:
        raise ValueError(
            "classes must be distinct labels, at least one, and none of them missing. "
            f"Got {list(classes)!r} instead."
        )
    if isinstance(target, Categorical):
        categories = list(target.categories or ())
        if texts != set(map(str, categories)):
            raise SchemaError(
                "classes must be the categories of the schema's target, if both are "
                f"given. Got {list(classes)!r} and {categories!r}; leave one out."
            )
    return classes


def _parse_number(text: str) -> float:
    return int(text) if text.lstrip("-").isdigit() else float(text)


# ----------------------------------------------------------------------------
# What a schema, `classes` and dtypes state, put together.


@dataclass(frozen=True)
class Known:
    """What is public about columns and labels; the rest is left to discovery."""

    task: str | None
    kinds: Mapping[Any, Kind]
    columns: Mapping[Any, Column]
    classes: tuple[Any, ...] | None
    hints: Mapping[Any, Column] = field(default_factory=dict)  # bounds left open
    origin: str = ""  # of the schema
    other: str = "other"
    is_asked: bool = False  # a target of integers may turn out as a number
    is_text_asked: bool = False  # a target of text may turn out as numbers
    rules: tuple[Rule, ...] = ()
    is_text_of_numbers: bool = False  # whose form is left to discovery
    target: Column | None = None  # as the schema describes it

    @classmethod
    def of(cls, rows: Rows, schema: Schema, classes: Any, task: str) -> "Known":
        """Combine schema, classes and task; raise if they contradict the dtypes."""
        resolved_task = _task(task, rows.target_layout)
        if classes is not None and resolved_task != "classification":
            actual = "y=None" if resolved_task is None else "a regression"
            raise ValueError(f"classes needs a y of labels. Got {actual} instead.")
        if schema.target is not None and resolved_task is None:
            raise SchemaError(
                "A schema with a target needs y. Got y=None; give y, or leave the "
                "target out of the schema."
            )
        layout: Any = rows.layout  # of a table, or of images, which have no columns
        schema = schema.check().match(layout)
        _check_something_is_left(schema, rows.layout)
        _check_text(schema, rows.layout)
        kinds, described = _kinds(rows, schema, resolved_task)
        _check_kinds(described, rows)
        # again: bounds with an offset were moved, and dtypes may exclude missing values
        complete = _without_impossible_missing(described, rows.layout)
        for name, column in complete.items():
            column.check("target" if name is TARGET else str(name))
        _check_dtypes(described, limits_of(rows.layout, rows.target_layout))
        if schema.rules:
            _check_rules(schema, rows.layout)
        hints = {name: c for name, c in described.items() if hinted_kind(c) is not None}
        for name, column in hints.items():
            kind = hinted_kind(column)
            # a dtype of whole numbers says more than "a number"
            if kind is not None and (kind, kinds[name]) != (Kind.FLOAT, Kind.INTEGER):
                kinds[name] = kind
        described = {name: c for name, c in described.items() if name not in hints}
        public_labels = public_classes(classes, schema, resolved_task)
        target = rows.target_layout
        is_auto = task == "auto" and target is not None and classes is None
        kind = target.kinds[0] if target is not None else None
        is_asked = is_auto and kind is Kind.INTEGER
        is_text = kind is Kind.TEXT and isinstance(rows.layout, Layout)
        is_text_asked = is_auto and is_text
        is_text_of_numbers = (
            is_text and resolved_task == "regression" and schema.target is None
        )
        return cls(
            resolved_task,
            kinds,
            described,
            public_labels,
            hints,
            schema.origin,
            schema.other,
            is_asked,
            is_text_asked,
            tuple(schema.rules),
            is_text_of_numbers,
            schema.target,
        )

    @property
    def written(self) -> dict[Any, Column]:
        """The columns whose description states a format of their text."""
        described = {**self.columns, **self.hints}
        return {name: column for name, column in described.items() if is_read(column)}

    def with_hints(self, discovered: Mapping[Any, Column]) -> dict[Any, Column]:
        """Return discovered columns completed by the hints of the schema."""
        return dict(discovered) | {
            n: with_hint(discovered[n], h) for n, h in self.hints.items()
        }

    @property
    def public_ends(self) -> dict[Any, tuple[Any, Any]]:
        """The bounds of columns of which the other bound is left to discovery."""
        return {
            name: (hint.lower, hint.upper)
            for name, hint in self.hints.items()
            if isinstance(hint, Datetime | Integer | Numeric)
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
        """Whether released labels decide the type of y: integers without a schema."""
        return self.is_asked and self.has_unknown_classes

    @property
    def may_say_a_number(self) -> bool:
        """Whether releases decide the type of y: text without any public label."""
        return self.is_text_asked and self.has_unknown_classes

    def with_number(self) -> "Known":
        """Return the same with a numeric target, once a release has shown that."""
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
        """Columns that may need bins, including text that may turn out as numbers."""
        may_be_number = self.may_be_a_number or self.may_say_a_number
        return self.n_numbers + len(self.unknown.texts) + may_be_number

    @property
    def has_unknown_classes(self) -> bool:
        """Whether labels are left to discover."""
        return self.task == "classification" and self.classes is None


def is_read(column: Column) -> bool:
    """Return whether a description says how values are read: a format, or codes."""
    return is_written(column) or bool(getattr(column, "codes", None))


def complete_schema(
    columns: Mapping[Any, Column],
    classes: Sequence[Any] | None,
    rows: Rows,
    known: Known,
) -> Schema:
    """Return the schema of all columns, within what their dtypes can hold.

    It has the marks of the schema that was given, and those of its columns. Labels keep
    the order that an ``Ordinal`` of a given schema states.
    """
    columns = _without_impossible_missing(columns, rows.layout)
    columns = _within_dtypes(columns, limits_of(rows.layout, rows.target_layout))
    target = columns.pop(TARGET, None)
    if classes is not None:
        target = Categorical(classes, nullable=False)
        if isinstance(known.target, Ordinal):
            target = replace(known.target, nullable=False)
    return Schema(columns, target, known.other, known.origin, known.rules)


def _check_something_is_left(schema: Schema, layout: Layout | ImageLayout) -> None:
    left_out = [c for c in schema.columns.values() if isinstance(c, Drop | Regenerate)]
    if isinstance(layout, Layout) and not layout.names:
        raise ValueError("X must have a column, beside y. Got none.")
    if isinstance(layout, Layout) and len(left_out) == len(layout.names):
        raise SchemaError(
            "At least one column must be kept. Got a schema that drops or "
            "regenerates every one."
        )


def _task(task: str, target: Layout | None) -> str | None:
    if target is None:
        return None
    if task == "classification" and target.kinds[0] is Kind.DATETIME:
        raise TypeError(
            "y of a classification must hold labels. Got times; convert y and the "
            "classes to text, or set `task='regression'`."
        )
    if task != "auto":
        return task
    is_number = target.kinds[0] in (Kind.FLOAT, Kind.DATETIME)
    return "regression" if is_number else "classification"


def _kinds(
    rows: Rows, schema: Schema, task: str | None
) -> tuple[dict[Any, Kind], dict[Any, Column]]:
    """Return kinds and public descriptions of all columns, and of a numeric target."""
    kinds = dict(zip(rows.layout.names, rows.layout.kinds, strict=True))
    for name, dtype in zip(rows.layout.names, rows.layout.dtypes, strict=True):
        if lists_categories(dtype) and kinds[name] in (Kind.INTEGER, Kind.FLOAT):
            kinds[name] = Kind.TEXT  # numbers that are categories
    described = dict(schema.columns)
    if task == "regression":
        assert rows.target_layout is not None
        kind = rows.target_layout.kinds[0]
        kinds[TARGET] = Kind.FLOAT if kind in (Kind.TEXT, Kind.BOOLEAN) else kind
        if schema.target is not None:
            described[TARGET] = schema.target
            if isinstance(schema.target, Categorical | Boolean | Drop | Regenerate):
                raise SchemaError(
                    "The target of a regression must be Numeric, Integer or Datetime. "
                    f"Got {type(schema.target).__name__} instead."
                )
            described[TARGET] = at_zone(
                schema.target, zone_of(rows.target_layout.dtypes[0])
            )
    for name, dtype in zip(rows.layout.names, rows.layout.dtypes, strict=True):
        if name in described:
            described[name] = at_zone(described[name], zone_of(dtype))
    return kinds, described


def _check_rules(schema: Schema, layout: Layout | ImageLayout) -> None:
    """Raise if a rule needs values of the schema that a public dtype cannot hold."""
    undescribed = {name: Drop() for name in layout.names}
    columns = _without_impossible_missing({**undescribed, **schema.columns}, layout)
    zones = zones_of(layout)
    for rule in schema.rules:
        in_rule = [*rule.read, rule.written]
        times = [n for n in in_rule if isinstance(columns[n], Datetime)]
        if any(not is_same_zone(zones[n], zones[times[0]]) for n in times):
            raise SchemaError(
                "Times of one rule must be in one time zone. Got "
                f"{', '.join(f'{zones[n]} of {n!r}' for n in times)} in {rule!r}; "
                "convert one of them."
            )
    check_rules(schema.rules, _within_dtypes(columns, limits_of(layout)))


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


def _check_kinds(described: Mapping[Any, Column], rows: Rows) -> None:
    """Raise if times are described as something else, or numbers as times.

    No value would agree. Other descriptions may fit some values, and are accepted.
    """
    kinds = dict(zip(rows.layout.names, rows.layout.kinds, strict=True))
    if rows.target_layout is not None:
        kinds[TARGET] = rows.target_layout.kinds[0]
    for name, column in described.items():
        kind, given = kinds[name], type(column).__name__
        is_time = isinstance(column, Datetime)
        is_other = isinstance(column, Boolean | Categorical | Integer | Numeric)
        if kind is Kind.DATETIME and is_other:
            advice = "describe it as Datetime, or convert the column"
            if isinstance(column, Categorical):
                advice += " and the categories to text"
        elif is_time and kind in (Kind.BOOLEAN, Kind.INTEGER, Kind.FLOAT):
            advice = "describe it as numbers, or convert the column (`pd.to_datetime`)"
        else:
            continue
        subject = "The target" if name == TARGET else f"Column {name!r}"
        raise SchemaError(
            f"{subject} must be described by what its dtype holds. Got {given} for "
            f"the kind {kind.value}; {advice}."
        )


Limits = Mapping[Any, tuple[float, float] | None]


def limits_of(
    layout: Layout | ImageLayout, target_layout: Layout | None = None
) -> Limits:
    """Return the least and greatest number of each dtype, that of the target too."""
    limits = dict(zip(layout.names, layout.limits, strict=True))
    if target_layout is not None:
        limits[TARGET] = target_layout.limits[0]
    return limits


def _check_dtypes(described: Mapping[Any, Column], limits: Limits) -> None:
    for name, column in described.items():
        held = limits.get(name)
        if held is None or not isinstance(column, NUMBERS):
            continue
        lower, upper = bounds(column)
        if lower > held[1] or upper < held[0]:
            is_time = isinstance(column, Datetime)
            first, last = map(str, times_at(held) if is_time else held)
            subject = "the target" if name is TARGET else f"column {name!r}"
            raise SchemaError(
                f"Bounds of {subject} must overlap what its dtype can hold, "
                f"{first} to {last}. Got lower={column.lower!r}, "
                f"upper={column.upper!r}; correct them or convert the column."
            )


def _within_dtypes(columns: Mapping[Any, Column], limits: Limits) -> dict[Any, Column]:
    """Cut bounds to what public dtypes can hold."""
    return {n: within_limits(c, limits.get(n)) for n, c in columns.items()}


def _without_impossible_missing(
    columns: Mapping[Any, Column], layout: Layout | ImageLayout
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


# ----------------------------------------------------------------------------
# Fits that need rows themselves raise an error if the rows are in other processes.

WAY_OUT = (
    " Bring the rows here first (`X.compute()`), if that is allowed, or use one that "
    "needs sums alone: DPPairwiseSynthesizer, DPIndependentSynthesizer, or "
    "DPMERFSynthesizer on tables."
)


def check_needs(estimator: Any, X: Any) -> None:
    """Raise if rows are in other processes and sums of them are not enough.

    Parameters
    ----------
    estimator : BaseSynthesizer
    X : table, or rows in other processes
    """
    if not stands_elsewhere(X):
        return
    like, _ = getattr(X, "like", (X, None))  # of parties
    needs = [
        (estimator._subsampling() is not None, "draws samples of rows at each step"),
        (getattr(estimator, "_n_minibatches", 1) > 1, "cuts rows into mini-batches"),
        (holds_images(like), "reads images"),
    ]
    for is_needed, need in needs:
        if is_needed:
            raise RowsElsewhereError(
                f"Rows that stand elsewhere send sums, and {type(estimator).__name__} "
                f"{need} here.{WAY_OUT}"
            )


def check_known(rows: Rows, known: Known) -> None:
    """Raise if words must be discovered but parties send no counts without noise."""
    if rows.noise_shares is None:
        return
    undescribed = [str(name) for name in known.kinds if name not in known.columns]
    booleans = [str(n) for n, kind in known.kinds.items() if kind is Kind.BOOLEAN]
    undescribed = [name for name in undescribed if name not in booleans]
    if known.has_unknown_classes:
        undescribed.append("the classes of y")
    if undescribed:
        raise RowsElsewhereError(
            "Parties that add noise themselves need a schema of all columns, and "
            f"`classes`. Got none of {', '.join(undescribed)}; give what is public, or "
            "trust a combiner (`noise=None`)."
        )
