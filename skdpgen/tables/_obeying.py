"""Drawn columns that obey public rules. No private row is read, so this is free."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pandas as pd

from skdpgen.tables._rule_order import categories_of, in_order
from skdpgen.tables._rules import Determines, LessEqual, MissingIf, Rule, SumOf


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


def _repaired(rule: Rule, drawn: Mapping[Any, Any], columns: Mapping[Any, Any]) -> Any:
    old = drawn[rule.written]
    if isinstance(rule, LessEqual):
        low = drawn[rule.low]
        is_broken = (low > old).fillna(False).astype(bool)
        return old.mask(is_broken, low.astype(old.dtype))
    if isinstance(rule, SumOf):
        total = sum(drawn[name].astype("Float64") for name in rule.parts)
        if columns[rule.total].decimals is not None:
            total = total.round(columns[rule.total].decimals)
        is_known = total.notna() & old.notna()
        return old.mask(is_known, total.astype(old.dtype))
    if isinstance(rule, MissingIf):
        return old.mask(_equals(drawn[rule.given], rule.value, columns[rule.given]))
    assert isinstance(rule, Determines)
    own = {str(value): value for value in categories_of(columns[rule.target])}
    codes = {str(key): own[str(code)] for key, code in rule.codes}
    keys = drawn[rule.source].map(str, na_action="ignore")
    return old.mask(keys.isin(list(codes)), keys.map(codes))


def _equals(cells: Any, value: Any, column: Any) -> Any:
    if hasattr(column, "lower"):
        return (cells == value).fillna(False).astype(bool)
    return cells.map(str, na_action="ignore") == str(value)
