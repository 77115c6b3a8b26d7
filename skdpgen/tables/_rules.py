"""Rules between columns that are public knowledge; sampled rows obey them."""

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, fields
from graphlib import CycleError, TopologicalSorter
from typing import Any

import pandas as pd

from skdpgen.exceptions import (
    SchemaError,
)
from skdpgen.tables._columns import (
    Boolean,
    Categorical,
    Column,
    Datetime,
    Integer,
    Numeric,
    is_hint,
)
from skdpgen.utils import (
    saved,
)


@saved("rule.less_equal")
@dataclass(frozen=True)
class LessEqual:
    """Column ``low`` is at most column ``high``, where neither is missing.

    Examples
    --------
    >>> LessEqual("start", "end").written
    'end'
    """

    low: Any
    high: Any

    @property
    def read(self) -> tuple[Any, ...]:
        """Columns that decide."""
        return (self.low,)

    @property
    def written(self) -> Any:
        """The column that is repaired."""
        return self.high


@saved("rule.sum_of")
@dataclass(frozen=True)
class SumOf:
    """Column ``total`` is the sum of ``parts``, unless one of them is missing.

    Examples
    --------
    >>> SumOf("income", ["wages", "rents"]).parts
    ('wages', 'rents')
    """

    total: Any
    parts: Sequence[Any]

    def __post_init__(self) -> None:
        """Store a tuple."""
        if isinstance(self.parts, str) or not len(self.parts):
            raise SchemaError(
                f"parts of a SumOf must be a list of columns. Got {self.parts!r} "
                "instead."
            )
        object.__setattr__(self, "parts", tuple(self.parts))

    @property
    def read(self) -> tuple[Any, ...]:
        """Columns that decide."""
        return tuple(self.parts)

    @property
    def written(self) -> Any:
        """The column that is repaired."""
        return self.total


@saved("rule.missing_if")
@dataclass(frozen=True)
class MissingIf:
    """Column ``column`` is missing in rows where ``given`` is ``value``.

    Examples
    --------
    >>> MissingIf("spouse_age", "married", "no").read
    ('married',)
    """

    column: Any
    given: Any
    value: Any

    @property
    def read(self) -> tuple[Any, ...]:
        """Columns that decide."""
        return (self.given,)

    @property
    def written(self) -> Any:
        """The column that is repaired."""
        return self.column


@saved("rule.determines")
@dataclass(frozen=True)
class Determines:
    """The category of ``source`` determines that of ``target``, by a mapping.

    Categories that the mapping lacks, and missing ones, determine nothing.

    Examples
    --------
    >>> Determines("city", "country", {"Rome": "IT", "Bari": "IT"}).codes
    (('Rome', 'IT'), ('Bari', 'IT'))
    """

    source: Any
    target: Any
    codes: Mapping[Any, Any] | Sequence[Sequence[Any]]

    def __post_init__(self) -> None:
        """Store pairs, which hash and can be written to files."""
        pairs = self.codes.items() if isinstance(self.codes, Mapping) else self.codes
        object.__setattr__(self, "codes", tuple((key, code) for key, code in pairs))

    @property
    def read(self) -> tuple[Any, ...]:
        """Columns that decide."""
        return (self.source,)

    @property
    def written(self) -> Any:
        """The column that is repaired."""
        return self.target


Rule = LessEqual | SumOf | MissingIf | Determines
RULES = {rule.__name__: rule for rule in (LessEqual, SumOf, MissingIf, Determines)}


def rule_to_dict(rule: Rule) -> dict[str, Any]:
    """Return the rule as plain types.

    Examples
    --------
    >>> rule_to_dict(LessEqual("a", "b"))
    {'type': 'LessEqual', 'low': 'a', 'high': 'b'}
    """
    values = {item.name: _plain(getattr(rule, item.name)) for item in fields(rule)}
    return {"type": type(rule).__name__, **values}


def rule_from_dict(content: object) -> Rule:
    """Return a rule from the plain values of :func:`rule_to_dict`, or unchanged."""
    if isinstance(content, Rule):
        return content
    entries = dict(content) if isinstance(content, Mapping) else {}
    kind = entries.pop("type", None)
    if kind not in RULES or set(entries) != {item.name for item in fields(RULES[kind])}:
        raise SchemaError(
            "A rule must be one as LessEqual('a', 'b'), in dictionaries also {'type': "
            f"'LessEqual', 'low': 'a', 'high': 'b'}}. Got {content!r} instead."
        )
    rule: Rule = RULES[kind](**entries)
    return rule


def _plain(value: object) -> object:
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


# ----------------------------------------------------------------------------
# The order in which rules are applied, and whether a schema allows them.


def in_order(rules: Sequence[Rule]) -> list[Rule]:
    """Sort rules such that a column is complete before another rule reads it.

    Of the rules for one column, those that make it missing come last. Raises if columns
    determine each other in a circle, or if a column is fixed twice.

    Examples
    --------
    >>> chain = in_order([LessEqual("b", "c"), LessEqual("a", "b")])
    >>> [rule.low for rule in chain]
    ['a', 'b']
    """
    graph: dict[Any, set[Any]] = {}
    for rule in rules:
        graph.setdefault(rule.written, set()).update(rule.read)
    try:
        names = list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        raise SchemaError(
            "Rules must not decide columns in a circle. Got "
            f"{' -> '.join(map(str, error.args[1]))}; leave one of the rules out."
        ) from None
    ordered: list[Rule] = []
    for name in names:
        rules_of_column = [rule for rule in rules if rule.written == name]
        _check_fixed_once(name, rules_of_column)
        ordered += sorted(rules_of_column, key=lambda rule: isinstance(rule, MissingIf))
    return ordered


def check_rules(rules: Sequence[Rule], columns: Mapping[Any, Column]) -> None:
    """Raise unless public bounds and categories allow every rule in every row."""
    for rule in rules:
        for name in (*rule.read, rule.written):
            column = columns.get(name)
            if not isinstance(
                column, Numeric | Integer | Datetime | Categorical | Boolean
            ) or is_hint(column):
                raise SchemaError(
                    f"Columns of a rule must be in the schema, with bounds or "
                    f"categories. Got {rule!r} and {name!r} as {column!r}; describe "
                    "the column, or leave the rule out."
                )
        if isinstance(rule, LessEqual):
            _check_less(rule, columns[rule.low], columns[rule.high])
        elif isinstance(rule, SumOf):
            _check_sum(rule, columns)
        elif isinstance(rule, MissingIf):
            _check_missing(rule, columns[rule.column], columns[rule.given])
        else:
            _check_codes(rule, columns[rule.source], columns[rule.target])


def categories_of(column: Any) -> tuple[Any, ...]:
    """Return the possible values of a column of categories."""
    return (False, True) if isinstance(column, Boolean) else column.values


def _check_fixed_once(name: Hashable, rules: Sequence[Rule]) -> None:
    exact = [rule for rule in rules if isinstance(rule, SumOf | Determines)]
    fixing = [rule for rule in rules if not isinstance(rule, MissingIf)]
    is_code = any(isinstance(rule, Determines) for rule in rules)
    if exact and (len(fixing) > 1 or (is_code and len(rules) > 1)):
        raise SchemaError(
            f"Column {name!r} can be fixed by one rule only. Got {list(rules)!r}; "
            "leave all but one out."
        )


def _check_less(rule: LessEqual, low: Any, high: Any) -> None:
    times = [isinstance(column, Datetime) for column in (low, high)]
    if any(isinstance(c, Categorical | Boolean) for c in (low, high)) or (
        times[0] != times[1]
    ):
        raise SchemaError(f"{rule!r} needs two numbers or two times.")
    uppers = [c.seconds[1] if times[0] else float(c.upper) for c in (low, high)]
    if uppers[0] > uppers[1]:
        raise SchemaError(
            f"{rule!r} needs upper bounds in that order. Got {low.upper!r} and "
            f"{high.upper!r}; no row may have more, so lower the first."
        )
    is_finer = high.step > low.step if times[0] else _is_finer(low, high)
    if is_finer:
        raise SchemaError(
            f"{rule!r} needs a {rule.high!r} at least as finely rounded as "
            f"{rule.low!r}. Got {high!r} and {low!r}."
        )


def _check_sum(rule: SumOf, columns: Mapping[Any, Any]) -> None:
    total, parts = columns[rule.total], [columns[name] for name in rule.parts]
    if not all(isinstance(column, Numeric | Integer) for column in (total, *parts)):
        raise SchemaError(f"{rule!r} needs numbers.")
    lower, upper = (sum(getattr(c, end) for c in parts) for end in ("lower", "upper"))
    if total.lower > lower or total.upper < upper:
        raise SchemaError(
            f"{rule!r} needs bounds of {rule.total!r} that hold every sum, {lower} to "
            f"{upper}. Got {total.lower} to {total.upper}; widen them."
        )
    if any(_is_finer(part, total) for part in parts):
        raise SchemaError(
            f"{rule!r} needs a {rule.total!r} at least as finely rounded as its parts."
        )


def _check_missing(rule: MissingIf, column: Any, condition: Any) -> None:
    if not column.nullable:
        raise SchemaError(
            f"{rule!r} needs a {rule.column!r} that can be missing. Got {column!r}, or "
            "a dtype that holds no missing values."
        )
    if isinstance(condition, Categorical | Boolean):
        is_possible = str(rule.value) in map(str, categories_of(condition))
    elif isinstance(condition, Datetime):
        is_possible = False
    else:
        is_number = isinstance(rule.value, int | float)
        is_possible = is_number and condition.lower <= rule.value <= condition.upper
    if not is_possible:
        raise SchemaError(
            f"{rule!r} needs a value that {rule.given!r} can have. Got {condition!r}."
        )


def _check_codes(rule: Determines, source: Any, target: Any) -> None:
    for name, column, place in ((rule.source, source, 0), (rule.target, target, 1)):
        if not isinstance(column, Categorical | Boolean):
            raise SchemaError(f"{rule!r} needs two columns of categories.")
        categories = set(map(str, categories_of(column)))
        absent = [
            pair[place] for pair in rule.codes if str(pair[place]) not in categories
        ]
        if absent:
            raise SchemaError(
                f"Determines needs categories that {name!r} can have. Got "
                f"{', '.join(map(str, absent))}; list them in the schema."
            )
    if len({str(key) for key, _ in rule.codes}) < len(rule.codes):
        raise SchemaError(f"{rule!r} needs one code for each category.")


def _is_finer(part: "Numeric | Integer", whole: "Numeric | Integer") -> bool:
    """Return whether values of a part are rounded less than those of the whole."""
    if whole.decimals is None:
        return False
    return part.decimals is None or part.decimals > whole.decimals


# ----------------------------------------------------------------------------
# Drawn columns that obey public rules. No private row is read, so this is free.


def obey(
    drawn: Mapping[Any, "pd.Series[Any]"],
    rules: Sequence[Rule],
    columns: Mapping[Any, Any],
    given: Collection[Any] = (),
) -> dict[Any, "pd.Series[Any]"]:
    """Return drawn columns with every rule repaired, in an order that keeps repairs.

    Each rule writes one column, after the columns that it reads are complete, and no
    later rule undoes it: bounds were checked to hold whatever is written.

    Examples
    --------
    >>> from skdpgen.tables import Integer
    >>> drawn = {"a": pd.Series([1, 5]), "b": pd.Series([3, 3])}
    >>> obey(drawn, [LessEqual("a", "b")], {"a": Integer(0, 9), "b": Integer(0, 9)})[
    ...     "b"
    ... ].tolist()
    [3, 5]
    """
    result = dict(drawn)
    for rule in in_order(rules):
        if rule.written in given:
            raise ValueError(
                f"{rule.written!r} cannot be given: a rule of the schema decides it. "
                f"Got {rule!r}; give {', '.join(map(repr, rule.read))} instead."
            )
        result[rule.written] = _repaired(rule, result, columns)
    return result


def breaks(rule: Rule, rows: Mapping[Any, "pd.Series[Any]"]) -> "pd.Series[Any]":
    """Return which rows break a rule, as True; missing cells break none but stated.

    Needs no schema: a sum is compared up to rounding, categories as text.

    Examples
    --------
    >>> rows = pd.DataFrame({"a": [1, 5, None], "b": [3, 3, 3]})
    >>> breaks(LessEqual("a", "b"), rows).tolist()
    [False, True, False]
    """
    if isinstance(rule, LessEqual):
        low, high = rows[rule.low], rows[rule.high]
        if not all(pd.api.types.is_datetime64_any_dtype(side) for side in (low, high)):
            low, high = _as_numbers(low), _as_numbers(high)
        return (low > high).fillna(False).astype(bool)
    values = rows[rule.written]
    if isinstance(rule, SumOf):
        total = sum(_as_numbers(rows[name]) for name in rule.parts)
        gap = (_as_numbers(values) - total).abs()
        return gap > SUM_TOLERANCE * (1 + total.abs())
    if isinstance(rule, MissingIf):
        return _texts_of(rows[rule.given]).eq(_text_of(rule.value)) & values.notna()
    assert isinstance(rule, Determines)
    codes = {_text_of(key): _text_of(code) for key, code in rule.codes}
    keys = _texts_of(rows[rule.source])
    return keys.isin(list(codes)) & _texts_of(values).ne(keys.map(codes))


SUM_TOLERANCE = 1e-6  # of a sum of decimals, beside its size


def _as_numbers(cells: "pd.Series[Any]") -> "pd.Series[Any]":
    return pd.to_numeric(cells, errors="coerce").astype("float64")


def _text_of(value: object) -> str:
    """Return a text that 1, 1.0 and "1" share."""
    is_whole = isinstance(value, float) and value.is_integer()
    return str(int(value)) if is_whole else str(value)  # type: ignore[call-overload]


def _texts_of(cells: "pd.Series[Any]") -> "pd.Series[Any]":
    return cells.astype(object).map(_text_of, na_action="ignore")


def _repaired(
    rule: Rule, drawn: Mapping[Any, "pd.Series[Any]"], columns: Mapping[Any, Any]
) -> "pd.Series[Any]":
    values = drawn[rule.written]
    if isinstance(rule, LessEqual):
        low = drawn[rule.low]
        is_broken = (low > values).fillna(False).astype(bool)
        return values.mask(is_broken, low.astype(values.dtype))
    if isinstance(rule, SumOf):
        total = sum(drawn[name].astype("Float64") for name in rule.parts)
        if columns[rule.total].decimals is not None:
            total = total.round(columns[rule.total].decimals)
        is_known = total.notna() & values.notna()
        return values.mask(is_known, total.astype(values.dtype))
    if isinstance(rule, MissingIf):
        return values.mask(_equals(drawn[rule.given], rule.value, columns[rule.given]))
    assert isinstance(rule, Determines)
    category_of = {str(value): value for value in categories_of(columns[rule.target])}
    codes = {str(key): category_of[str(code)] for key, code in rule.codes}
    keys = drawn[rule.source].map(str, na_action="ignore")
    return values.mask(keys.isin(list(codes)), keys.map(codes))


def _equals(cells: "pd.Series[Any]", value: object, column: Column) -> "pd.Series[Any]":
    if hasattr(column, "lower"):
        return (cells == value).fillna(False).astype(bool)
    return cells.map(str, na_action="ignore") == str(value)
