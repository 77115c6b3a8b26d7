"""What papers print for a cell, to stand beside what was measured."""

from collections.abc import Collection, Mapping
from typing import Any

from skdpgen.benchmark.runs._config_checks import check, refuse_unknown
from skdpgen.benchmark.runs._frozen_cell import PUBLIC, REAL

Printed = Mapping[tuple[str, str, float | None], str]


def read_printed(
    given: Any, tables: Collection[str], methods: Collection[str]
) -> dict[tuple[str, str, float | None], str]:
    """Check ``[printed.TABLE]``: a text of each method, or one for each epsilon.

    A text that names no epsilon is of all of them, under None.

    Examples
    --------
    >>> texts = {"a": {"real": ".9", "b": {"0.2": ".6", "1": ".7"}}}
    >>> read_printed(texts, ["a"], ["b"])
    {('a', 'real', None): '.9', ('a', 'b', 0.2): '.6', ('a', 'b', 1.0): '.7'}
    """
    check(isinstance(given, dict), "printed", "{table = {method = text}}", given)
    refuse_unknown(given, tables, "`printed`")
    found: dict[tuple[str, str, float | None], str] = {}
    for table, texts in given.items():
        check(isinstance(texts, dict), "printed", "{method = text}", texts)
        refuse_unknown(texts, [REAL, PUBLIC, *methods], f"`printed` of {table}")
        for method, text in texts.items():
            by_epsilon = text if isinstance(text, dict) else {None: text}
            for epsilon, one in by_epsilon.items():
                is_text = isinstance(one, str) and _is_number(epsilon)
                check(
                    is_text, f"printed of {method}", "a text, or {epsilon = text}", text
                )
                at = None if epsilon is None else float(epsilon)
                found[table, method, at] = one
    return found


def printed_of(printed: Printed, row: Mapping[str, Any], name: str) -> dict[str, str]:
    """Return the column of a row, or nothing."""
    for epsilon in (row["epsilon"], None):
        text = printed.get((row["table"], name, epsilon))
        if text is not None:
            return {"printed": text}
    return {}


def _is_number(epsilon: str | None) -> bool:
    try:
        return epsilon is None or float(epsilon) > 0
    except ValueError:
        return False
