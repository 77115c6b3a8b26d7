"""How many rows break rules between columns, of a schema or the user's own."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from skdpgen.metrics._frames import joined
from skdpgen.tables import Rule, Schema, breaks
from skdpgen.utils import Rows

Check = Rule | str | Callable[[pd.DataFrame], Any]
Rules = Schema | Sequence[Rule | str] | Mapping[str, Check]
ANY = "any"


def rule_violations(rows: Rows, rules: Rules) -> pd.Series:
    """Count the rows that break each rule, and those that break any of them.

    Synthetic rows of this package obey the rules of their schema; this counts what
    other rows do, or rules that no schema can hold. SDNist calls such rows
    inconsistencies. On synthetic rows it costs nothing; on real rows it is outside the
    guarantee.

    Parameters
    ----------
    rows : table or tuple (X, y)
        The target of a tuple is the column ``(target)``.
    rules : Schema, sequence of rules, or mapping of names to rules
        A rule is one of a schema, as ``LessEqual("start", "end")``; a text that pandas'
        ``eval`` reads and that holds in every right row, as ``"age >= 15 or marital ==
        'N'"``, with names that are no words in backticks; or, in a mapping, a function
        that takes the frame and returns True for each right row. A comparison with a
        missing number does not hold.

    Returns
    -------
    Series of int
        By name of the rule, and "any".

    Examples
    --------
    >>> rows = pd.DataFrame({"age": [3, 40, 9], "marital": ["N", "1", "1"]})
    >>> rule_violations(rows, {"child": "age >= 15 or marital == 'N'"}).to_dict()
    {'child': 1, 'any': 1}
    """
    frame = joined(rows).reset_index(drop=True)
    broken = {name: _broken(name, rule, frame) for name, rule in _named(rules).items()}
    is_any = np.logical_or.reduce([np.zeros(len(frame), bool), *broken.values()])
    counts = {name: int(rows.sum()) for name, rows in broken.items()}
    return pd.Series(counts | {ANY: int(is_any.sum())}, dtype=int)


def _named(rules: Rules) -> dict[str, Check]:
    if isinstance(rules, Schema):
        rules = rules.rules
    if isinstance(rules, str) or not isinstance(rules, Sequence | Mapping):
        raise TypeError(
            "rules must be a schema, a list of rules, or a mapping of names to rules. "
            f"Got {rules!r} instead."
        )
    if not isinstance(rules, Mapping):
        rules = {rule if isinstance(rule, str) else repr(rule): rule for rule in rules}
    if ANY in rules:
        raise ValueError(f"{ANY!r} is no name of a rule: it counts the rows of all.")
    return dict(rules)


def _broken(name: str, rule: Check, frame: pd.DataFrame) -> np.ndarray:
    """Return which rows break a rule; an error names the rule."""
    if isinstance(rule, Rule):
        absent = [c for c in (*rule.read, rule.written) if c not in frame.columns]
        if absent:
            raise ValueError(
                f"The rule {name!r} needs the columns {', '.join(map(repr, absent))}, "
                "which the rows lack."
            )
        return breaks(rule, frame).to_numpy(dtype=bool)
    if isinstance(rule, str):
        holds = _evaluated(name, rule, frame)
    elif callable(rule):
        holds = rule(frame)
    else:
        raise TypeError(
            f"The rule {name!r} must be a rule of a schema, a text or a function. Got "
            f"{rule!r} instead."
        )
    cells = pd.Series(np.asarray(holds, dtype=object) if np.ndim(holds) == 1 else [])
    present = cells.dropna()
    if len(cells) != len(frame) or not present.map(type).isin([bool, np.bool_]).all():
        raise ValueError(
            f"The rule {name!r} must be True or False for each of {len(frame)} rows. "
            f"Got {type(holds).__name__} instead."
        )
    is_right = np.zeros(len(frame), dtype=bool)
    is_right[present.index] = present.to_numpy(dtype=bool)
    return ~is_right


def _evaluated(name: str, text: str, frame: pd.DataFrame) -> Any:
    if "@" in text:  # pandas would read variables of this function
        raise ValueError(f"The rule {name!r} must name columns only, without @.")
    try:
        return frame.eval(text, engine="python")
    except Exception as error:
        raise ValueError(
            f"The rule {name!r}, {text!r}, cannot be evaluated: {error}. Say what "
            "holds in every right row, as \"age >= 15 or marital == 'N'\"; names that "
            "are no words stand in backticks."
        ) from error
