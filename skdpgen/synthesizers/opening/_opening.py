"""An opened table: private rows, and the account that pays for learning from them."""

import inspect
import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from numbers import Real
from typing import Any, Generic

import numpy as np

from skdpgen.exceptions import (
    IdentifierWarning,
    LargeDeltaWarning,
    SchemaRequiredError,
)
from skdpgen.privacy import (
    Adjacency,
    Ledger,
    PrivacyBudget,
    Release,
    Summable,
    default_delta,
    release,
)
from skdpgen.synthesizers.opening._facts import (
    Facts,
    Seen,
    earlier_counts,
    joined_earlier,
)
from skdpgen.synthesizers.opening._first_look import (
    Unknown,
    identifier_advice,
    release_pixel_range,
    target_says_numbers,
    with_listed_values,
)
from skdpgen.synthesizers.opening._fitted import Fitted, M
from skdpgen.synthesizers.opening._known_columns import (
    Known,
    are_classes,
    check_known,
    complete_schema,
    discover_classes,
    is_read,
    parse_classes,
)
from skdpgen.synthesizers.opening._public_columns import (
    Outside,
    accepted_columns,
    public_columns,
    public_labels,
)
from skdpgen.synthesizers.opening._public_rows import PublicRows
from skdpgen.synthesizers.opening._unknown_columns import (
    check_feasible,
    count_rows,
    discover_columns,
    sum_first_pass,
)
from skdpgen.tables import (
    TARGET,
    Categorical,
    Chunks,
    Column,
    ImageLayout,
    Integer,
    Kind,
    Layout,
    Line,
    Rows,
    Schema,
)
from skdpgen.utils import (
    progress_bar,
    training_bar,
    warn_caller,
)

# ----------------------------------------------------------------------------
# Statements of a certificate: what it assumes to be public, besides the releases.

ELSEWHERE = {"epsilon", "delta", "adjacency", "schema", "classes"}
NO_MATTER = {"random_state", "verbose", "device"}  # they reveal nothing about rows
MOST_SHOWN = 1_000  # entries of a parameter
IS_CLONE = (
    "fitted as a clone, such as a search makes: each clone that was fitted on these "
    "rows costs its own epsilon"
)


def delta_stated(budget: PrivacyBudget, delta: float | None) -> str:
    """Return the statement of where delta came from.

    Examples
    --------
    >>> delta_stated(PrivacyBudget(1.0, 1e-6), None)
    'delta: 1e-06, chosen as a tenth of 1 / rows or less'
    """
    if delta is not None:
        origin = "as given"
    elif budget.adjacency is Adjacency.REPLACE:
        origin = "chosen as a tenth of 1 / rows or less"
    else:
        origin = "a constant for up to a million rows"
    return f"delta: {budget.delta:g}, {origin}"


def dtypes_stated(layout: Layout | ImageLayout, target: Layout | None) -> str:
    """Return the statement of dtypes; a file reader may guess them from the values.

    Examples
    --------
    >>> from skdpgen.tables import Kind
    >>> kinds = (Kind.INTEGER, Kind.FLOAT, Kind.INTEGER)
    >>> dtypes = ("int64", "float64", "int64")
    >>> dtypes_stated(Layout("pandas", ("a", "b", "c"), kinds, dtypes), None)
    'dtypes as read, taken as public: float64 (b), int64 (all others)'
    """
    if isinstance(layout, ImageLayout):
        descriptions = [f"{layout.dtype} (pixels)"]
    else:
        names: dict[str, list[Any]] = {}
        for name, dtype in zip(layout.names, layout.dtypes, strict=True):
            names.setdefault(dtype, []).append(name)
        usual = max(names, key=lambda dtype: len(names[dtype]))
        rest = names.pop(usual)
        descriptions = [
            f"{d} ({', '.join(map(str, columns))})" for d, columns in names.items()
        ]
        rest_in_words = "all others" if names else "all columns"
        descriptions.append(f"{usual} ({rest_in_words if len(rest) > 1 else rest[0]})")
    if target is not None:
        descriptions.append(f"{target.dtypes[0]} (target)")
    return f"dtypes as read, taken as public: {', '.join(descriptions)}"


def kinds_stated(unknown: Unknown) -> list[str]:
    """Return statements about columns whose type was released."""
    lines = {
        "text read as numbers, as most cells are": unknown.parsed,
        "text read as times, as most cells are": unknown.dated,
        "text in which nearly all values differ, written anew": unknown.identifiers,
        "whole numbers that differ in nearly every row, perhaps identifiers": (
            unknown.numbered
        ),
    }
    return with_names(lines)


NO_SIZE = (Categorical([]), Integer(0, 0), Integer(0, 0, nullable=False))


def columns_lost(facts: Facts) -> list[str]:
    """Return statements about discovered columns of which no release shows a value.

    They are about the columns as rows are drawn: the main release may name words, and
    widen ranges, that discovery did not see.
    """
    texts, numbers = [], []
    for name, column in facts.columns.items():
        if name in facts.discovered and name not in facts.from_public:
            is_empty = isinstance(column, Categorical) and not column.categories
            if is_empty and facts.kind_of(name) is Kind.TEXT:
                texts.append(name)
            elif column in NO_SIZE:
                numbers.append(name)
    return with_names(
        {
            "text in which no value stood out, all other or missing": texts,
            "numbers whose size did not show, all 0 or missing": numbers,
            "ordered text whose order is not public, drawn without one": (
                facts.without_order
            ),
        }
    )


def with_names(lines: Mapping[str, Sequence[Any]]) -> list[str]:
    """Return statements with the names of their columns, those that have any."""
    joined = {
        statement: ", ".join("the target" if n is TARGET else str(n) for n in names)
        for statement, names in lines.items()
    }
    return [f"{statement}: {names}" for statement, names in joined.items() if names]


def parameters_stated(estimator: Any) -> str:
    """Return the statement of parameters; they leak if the rows influenced them.

    Examples
    --------
    >>> from skdpgen.synthesizers import DPMERFSynthesizer
    >>> parameters_stated(DPMERFSynthesizer(0.5, length_scale=[0.5, 1.0]))
    'parameters that were set, taken as public: length_scale=[0.5, 1.0]'
    >>> parameters_stated(DPMERFSynthesizer())
    'parameters: all at their defaults, which are constants'
    """
    defaults = inspect.signature(type(estimator)).parameters
    changed = {
        name: value
        for name, value in estimator.get_params(deep=False).items()
        if name not in ELSEWHERE | NO_MATTER
        and not _is_default(value, defaults[name].default)
    }
    if not changed:
        return "parameters: all at their defaults, which are constants"
    shown = ", ".join(f"{name}={_in_words(value)}" for name, value in changed.items())
    return f"parameters that were set, taken as public: {shown}"


def _is_default(value: Any, default: Any) -> bool:
    return value is default or (
        type(value) is type(default)
        and isinstance(value, str | int | float)
        and value == default
    )


def _in_words(value: Any) -> str:
    """Return a parameter in words; for a function or network return its name."""
    if hasattr(value, "columns"):
        return f"a table of shape {tuple(value.shape)}"
    if isinstance(value, tuple) and value and hasattr(value[0], "shape"):
        return "(" + ", ".join(map(_in_words, value)) + ")"
    if getattr(value, "shape", None) == ():  # a number of NumPy, as in a grid
        value = value.item()
    if getattr(value, "shape", (0,))[0] > MOST_SHOWN:
        return f"an array of shape {tuple(value.shape)}"
    if isinstance(value, str | int | float | type(None)):
        return repr(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k!r}: {_in_words(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple) and any(map(callable, value)):
        return "(" + ", ".join(map(_in_words, value)) + ")"
    if is_dataclass(value) and not isinstance(value, type):
        return type(value).__name__ + _in_words(
            {item.name: getattr(value, item.name) for item in fields(value)}
        )
    if getattr(value, "ndim", 0) > 2:
        return f"an array of shape {tuple(value.shape)}"
    if hasattr(value, "get_params"):  # a generator, whose repr has line breaks
        defaults = inspect.signature(type(value)).parameters
        shown = (
            f"{name}={_in_words(v)}"
            for name, v in value.get_params(deep=False).items()
            if not _is_default(v, defaults[name].default)
        )
        return f"{type(value).__name__}({', '.join(shown)})"
    if callable(value):
        name = getattr(value, "__qualname__", type(value).__qualname__)
        return f"{name} (a function or network that was given)"
    return str(np.asarray(value, dtype=object).tolist())


# ----------------------------------------------------------------------------
# An opened table: private rows, and the account that pays for learning from them.

IS_NUMBER = "y: no few integers carry most rows, so it is taken as a number"
SAYS_NUMBERS = (
    "y: its values are numbers, or text that says numbers, most of them rare, so it "
    "is taken as a number"
)
DRAWN_PLAIN = "y: text in the form {!r}, found privately; drawn as plain numbers"
EXPOSED = "delta exceeds 1 / rows: it may expose a row outright"
LARGE_DELTA = (
    "delta={:g} is above one over the number of rows, {:.2g}: it may expose a row "
    "outright. Give {:g} or less."
)
CLASS_SEEN = 0.1  # of the rows: a class of this size would be released for certain
SEARCHES = 3  # of words in a column of text: two of discovery, one of the main release
N_STAGES = 3  # of a fit, on the progress bar


@dataclass(eq=False)
class Opening:
    """Private rows, and what may be kept of them: public, or released.

    Parameters
    ----------
    rows : Rows
    known : Known
        What is public about them.
    ledger : Ledger
        Charges the budget for what is released.
    statements : list of str
        What the certificate will state as assumed to be public.
    progress : bar of tqdm
        Counts stages that are done, never rows.
    opened : Known
        What was public when the rows were opened; releases may change ``known``.
    unknown : Unknown or None
        Released types of the columns without a schema.
    seen : mapping of name to (mapping, float)
        Released counts of words, and their noise.
    lines : mapping of name to Line
        Number lines of columns without a schema, from the release of octaves.
    named : mapping of name to tuple
        Words beside numbers that the release of finer parts named.
    outside : mapping of name to (float, float, float, float)
        Released shares of rows below and above the bounds of a column, and the
        standard errors of both.
    unread : mapping of name to (float, float)
        Released shares of rows whose value is outside the description of a column, and
        their standard errors.
    public : PublicRows or None
        Public rows with the columns of the private ones.
    """

    rows: Rows
    known: Known
    ledger: Ledger
    statements: list[str]
    progress: Any
    opened: Known
    unknown: Unknown | None = None
    seen: dict[Any, Seen] = field(default_factory=dict)
    lines: dict[Any, Line] = field(default_factory=dict)
    named: dict[Any, tuple[str, ...]] = field(default_factory=dict)
    outside: dict[Any, Any] = field(default_factory=dict)
    unread: dict[Any, Any] = field(default_factory=dict)
    public: PublicRows | None = None
    _facts: Facts | None = None

    @property
    def facts(self) -> Facts:
        """What may be kept of the table, once its schema is complete."""
        assert self._facts is not None
        return self._facts

    @property
    def holds_images(self) -> bool:
        """Whether rows are images."""
        return isinstance(self.rows.layout, ImageLayout)

    def step(self, name: str) -> None:
        """Say which stage begins; the one before it is done."""
        self.progress.update()
        self.progress.set_description(name)

    def training_of_encoder(self, steps: Iterable[int]) -> Iterable[int]:
        """Return steps of a private training, with a bar if bars are shown."""
        return training_bar(steps, is_shown=not self.progress.disable, name="encoder")

    def release(
        self,
        batches: Summable,
        blocks: Mapping[str, Any],
        *,
        share: float = 1.0,
        **params: Any,
    ) -> Release:
        """Release sums with a share of the remaining budget."""
        share *= self.ledger.remaining
        return release(batches, blocks, ledger=self.ledger, share=share, **params)

    def correct(self, name: Hashable, column: Column) -> None:
        """Replace the description of a column by that of a later release."""
        self._facts = self.facts.corrected(name, column)

    def add_late_words(self, name: Hashable, late_words: Any) -> None:
        """Add words that the main release named to the categories of a column."""
        column: Any = self.facts.columns[name]
        listed = sorted({*map(str, column.categories or ()), *late_words.words})
        self.correct(name, replace(column, categories=listed))
        words = {**self.facts.late_words, name: late_words}
        self._facts = replace(self.facts, late_words=words)

    def settle(self, cells: Mapping[Any, Any]) -> None:
        """Keep the counts of discovery, arranged by the cells of the fit."""
        self._facts = replace(
            self.facts,
            earlier=earlier_counts(cells, self.seen),
            outside=self.outside,
            unread=self.unread,
        )

    def count_earlier(self, counts: Mapping[Any, Any]) -> None:
        """Keep released counts of cells together with those of discovery."""
        merged = joined_earlier(self.facts.earlier, counts)
        self._facts = replace(self.facts, earlier=merged)

    def learn_schema(self) -> None:
        """Release what is not public about columns and labels; charge the budget."""
        if self.ledger.budget.adjacency is Adjacency.REPLACE:
            n_rows = float(self.rows.n_rows)
        else:
            n_rows = count_rows(self.rows, self.ledger)
        self._judge_delta(n_rows)
        described, pixels = self._described(n_rows), None
        known = self.known
        classes, text = known.classes, "taken as public"
        if classes is not None and self.opened.classes is None:
            text = "of the public rows"
        try:
            if known.has_unknown_classes:
                label_counts, threshold = discover_classes(self.rows, self.ledger)
                # with much noise, missing labels do not show that y is a number
                is_exact_enough = threshold < n_rows * CLASS_SEEN
                is_number = is_exact_enough and not are_classes(label_counts, n_rows)
                if known.may_say_a_number:  # one more release, for text only
                    is_number = is_number and self._read_numbers_of_target(n_rows)
                elif not known.may_be_a_number:
                    is_number = False
                if is_number:
                    known = self.known = known.with_number()
                    is_text = known.is_text_asked
                    self.statements.append(SAYS_NUMBERS if is_text else IS_NUMBER)
                else:
                    classes = parse_classes(label_counts, self.rows.target_layout)
                    text = f"{len(label_counts)} discovered privately"
            elif known.is_text_of_numbers:
                self._read_numbers_of_target(n_rows, is_given=True)
            if self.holds_images:
                pixels = release_pixel_range(self.rows, self.ledger, n_rows)
            columns, unknown, self.seen, self.lines = discover_columns(
                self.rows,
                known.kinds,
                {**known.columns, **described},
                self.ledger,
                n_rows,
                known.other,
                tuple(n for n in known.whole_numbers if n not in described),
                known.hints,
            )
        except SchemaRequiredError as error:
            fraction, note = 1 - self.ledger.remaining, ""
            if fraction:
                note = f" This attempt spent {fraction:.0%} of its budget."
            raise SchemaRequiredError(f"{error}{note}") from None
        columns = known.with_hints(columns)
        if known.task == "classification":
            self.statements.append(f"class labels: {text}")
        self.unknown = unknown
        if self.public is not None:
            self.public.read_as(unknown.written)
        self.statements += kinds_stated(unknown)
        if unknown.numbered:
            warn_caller(identifier_advice(unknown.numbered), IdentifierWarning)
        self._facts = Facts(
            self.rows.layout,
            self.rows.target_layout,
            complete_schema(columns, classes, self.rows, known),
            known.task,
            classes,
            n_rows,
            tuple(name for name in columns if name not in known.columns),
            from_public=tuple(described),
            public_ends=known.public_ends,
            numbered=unknown.numbered,
            finer=unknown.finer,
            pixels=pixels,
        )

    def _read_numbers_of_target(self, n_rows: float, *, is_given: bool = False) -> bool:
        """Read text of the target in the form that a release finds, if it finds one."""
        written = target_says_numbers(self.rows, self.ledger, n_rows, is_given=is_given)
        if written is None:
            return False
        self.rows.read_as({TARGET: written})
        if self.public is not None:
            self.public.read_as({TARGET: written})
        if written.format is not None:
            self.statements.append(DRAWN_PLAIN.format(written.format))
        return True

    def _described(self, n_rows: float) -> dict[Any, Column]:
        """Describe columns by public rows, unless private rows contradict them.

        Labels are one more column. If they are not contradicted, they are the classes.
        """
        if self.public is None:
            return {}
        known, public = self.known, self.public
        asked = public_columns(
            public,
            known.kinds,
            {**known.columns, **known.hints},
            known.other,
            with_listed_values(self.rows),
        )
        labels = None
        if known.has_unknown_classes:
            labels = public_labels(
                public,
                self.rows.target_layout,
                may_be_numbers=known.is_asked or known.is_text_asked,
            )
        if labels is not None:
            asked[TARGET] = Outside(Categorical(labels))
        accepted, is_blind = accepted_columns(self.rows, asked, self.ledger, n_rows)
        if accepted.pop(TARGET, None) is not None and not is_blind:
            self.known = replace(known, classes=labels)
        if accepted:
            doubt = "; noise hides whether private rows have others" * is_blind
            self.statements.append(
                f"bounds and categories of {len(accepted)} columns: of the public rows"
                f"{doubt}"
            )
        written = {name: column for name, column in accepted.items() if is_read(column)}
        self.rows.read_as(written)
        self.public.read_as(written)
        return accepted

    def _judge_delta(self, n_rows: float) -> None:
        """Warn if delta is too large for the number of rows: public, or released."""
        budget = self.ledger.budget
        if budget.is_private and budget.delta > 1 / n_rows:
            self.statements.append(EXPOSED)
            facts = (budget.delta, 1 / n_rows, default_delta(round(n_rows)))
            warn_caller(LARGE_DELTA.format(*facts), LargeDeltaWarning)


@dataclass(eq=False)
class Fitting(Opening, Generic[M]):
    """A fit in progress: an opened table, and the measurements of a method so far."""

    _measured: M | None = None

    @property
    def measured(self) -> M:
        """What the method has measured; the estimator keeps it after interrupts too."""
        assert self._measured is not None
        return self._measured

    @measured.setter
    def measured(self, measured: M) -> None:
        self._measured = measured

    def release_main(
        self, batches: Summable, blocks: Mapping[str, Any], **params: Any
    ) -> Release:
        """Make the main release, from which the model is computed, and keep it."""
        released = self.release(batches, blocks, **params)
        self.measured = replace(self.measured, release=released)
        return released

    def close(self) -> Fitted[M]:
        """Forget the rows; return the released facts and the certificate."""
        self.rows.close()
        self.progress.close()
        certificate = self.ledger.report(self.statements)
        return Fitted(certificate, self._facts, self._measured)


def open_rows(
    X: Any,
    y: Any,
    *,
    epsilon: float,
    delta: float | None,
    schema: Schema,
    classes: Any,
    adjacency: str,
    task: str,
    class_weight: str | Mapping[Any, float] | None,
    verbose: int,
    public_data: Any = None,
) -> Fitting[Any]:
    """Open private rows under a ledger; raise for errors before budget is used."""
    neighbours = Adjacency.parse(adjacency)
    is_size_public = neighbours is Adjacency.REPLACE
    rows = Rows.read(X, y, task=task, is_size_public=is_size_public)
    known = Known.of(rows, schema, classes, task)
    rows.read_as(known.written)
    public = PublicRows.read(public_data, rows, known)
    _check_weights(class_weight, known)
    sum_first_pass(rows, known, is_size_public=is_size_public)
    unknown = known.unknown
    check_known(rows, known)
    n_selections = SEARCHES * len(unknown.texts) + known.has_unknown_classes
    chosen = default_delta(rows.n_rows if is_size_public else None)
    used = chosen if delta is None else delta
    budget = PrivacyBudget.reserving(float(epsilon), used, neighbours, n_selections)
    ledger = Ledger(budget)
    if is_size_public:
        check_size(rows.n_rows)
        if public is None:  # which may leave less to discover
            check_feasible(unknown, float(rows.n_rows), ledger)
    progress = progress_bar(
        "opening", N_STAGES, unit="stages", is_shown=bool(verbose), is_timed=False
    )
    statements = _stated(X, rows, known, budget, has_public=public is not None)
    statements.insert(1, delta_stated(budget, delta))
    if public is not None:
        statements.append(public.stated)
    return Fitting(rows, known, ledger, statements, progress, known, public=public)


def check_size(n_rows: int) -> None:
    """Raise for fewer than two rows; only used where their number is public."""
    if n_rows < 2:
        raise ValueError(
            f"Found array with {n_rows} sample(s) while a minimum of 2 is required. "
            "Got n_samples=" + f"{n_rows} in X."
        )


def _check_weights(
    class_weight: str | Mapping[Any, float] | None, known: Known
) -> None:
    """Raise for weights without classes, of unknown classes, or not positive."""
    if class_weight is None:
        return
    if known.task != "classification":
        raise ValueError(
            "class_weight must be None unless y holds classes. "
            f"Got {class_weight!r} instead."
        )
    if isinstance(class_weight, str):
        return
    for weight in class_weight.values():
        is_number = isinstance(weight, Real) and not isinstance(weight, bool)
        if not is_number or not 0 < weight < math.inf:
            raise ValueError(
                "class_weight must hold positive numbers. Got "
                f"{class_weight!r} instead."
            )
    if known.classes is not None and set(class_weight) - set(known.classes):
        raise ValueError(
            "class_weight must hold classes of y, which are "
            f"{', '.join(map(str, known.classes))}. Got {class_weight!r} instead."
        )


def _stated(
    X: Any, rows: Rows, known: Known, budget: PrivacyBudget, *, has_public: bool
) -> list[str]:
    """Return the statements of what is assumed to be public."""
    if budget.adjacency is Adjacency.REPLACE:
        lines = ["number of rows: public"]
    else:
        lines = ["number of rows: private, released with noise"]
        if isinstance(X, Chunks) and X.like is None:
            lines.append("that there is a chunk of rows: taken as public")
    lines.append(dtypes_stated(rows.layout, rows.target_layout))
    lines += rows.trusted(budget)
    if rows.has_lists:
        lines.append("types and lengths of plain lists: taken as public")
    if isinstance(rows.layout, ImageLayout):
        lines.append("shape and range of the pixels: public")
    described = [name for name in known.columns if name in rows.layout.names]
    if described:
        lines.append(f"schema of {len(described)} columns: taken as public")
    if TARGET in known.columns:
        lines.append("schema of the target: taken as public")
    lines += known.origin.splitlines()
    if known.rules:
        lines.append(f"{len(known.rules)} rules between columns: taken as public")
    if known.hints:
        names = ", ".join("target" if n is TARGET else str(n) for n in known.hints)
        lines.append(f"a bound, form or codes of columns: taken as public ({names})")
    way = "of the public rows, or discovered privately"
    way = way if has_public else "discovered privately"
    n_unknown = len(known.unknown) - len(known.hints)
    if n_unknown:
        lines.append(f"schema of {n_unknown} columns: {way}")
    if known.hints:
        lines.append(f"rest of the schema of {len(known.hints)} columns: {way}")
    return lines
