"""How a schema shows: lines in a terminal, a table in a notebook."""

from collections.abc import Mapping
from typing import Any

from skdpgen.tables._columns import (
    Boolean,
    Categorical,
    Column,
    Drop,
    Numeric,
    Regenerate,
)
from skdpgen.utils import (
    html,
)

MOST_LINES = 20  # of columns, or of rules
MOST_OF_VALUES = 60  # characters


def values_of(column: Column) -> str:
    """Return the range or the categories of a column, shortened.

    Examples
    --------
    >>> from skdpgen.tables import Categorical, Integer, Numeric
    >>> values_of(Integer(0, 120)), values_of(Numeric()), values_of(Categorical(["a"]))
    ('0 to 120', '', 'a')
    """
    if isinstance(column, Regenerate):
        return html.shortened(repr(column.template))
    if isinstance(column, Categorical):
        return html.listed(tuple(column.categories or ()), MOST_OF_VALUES)
    if isinstance(column, Drop | Boolean):
        return ""
    ends = [getattr(column, end, None) for end in ("lower", "upper")]
    if ends == [None, None]:
        return ""
    return " to ".join("?" if end is None else _end(end) for end in ends)


def _end(end: Any) -> str:
    if isinstance(end, float):
        return f"{end:.10g}"
    return html.shortened(str(end).removesuffix("T00:00:00"))


def besides_of(column: Any) -> list[str]:
    """Return what else is known of a column, in words.

    Examples
    --------
    >>> from skdpgen.tables import Numeric
    >>> besides_of(Numeric(0, 1, decimals=2, nullable=False, codes=[-9]))
    ['2 decimals', 'codes -9']
    """
    words = []
    if isinstance(column, Numeric) and column.decimals is not None:
        words.append(f"{column.decimals} decimals")
    if getattr(column, "resolution", None) is not None:
        words.append(f"whole {column.resolution}s")
    if getattr(column, "codes", ()):
        words.append(f"codes {html.listed(column.codes, 30)}")
    if getattr(column, "other", None) not in (None, "other"):
        words.append(f"other {html.shortened(column.other, 20)!r}")
    if getattr(column, "format", None) is not None:
        words.append(f"written {html.shortened(column.format, 30)!r}")
    elif getattr(column, "parse", False):
        words.append("written as text")
    return words


def _line(name: object, column: Column) -> str:
    words = [f"{type(column).__name__} {values_of(column)}".rstrip()]
    words += besides_of(column)
    if _can_be_missing(column):
        words.append("may be missing")
    return f"{html.shortened(name, 30)}: {', '.join(words)}"


def _can_be_missing(column: Column) -> bool:
    return bool(column.nullable) and not isinstance(column, Drop | Regenerate)


def schema_text(schema: Any) -> str:
    """Return a schema as a line for each column, and for the target and the rules.

    Examples
    --------
    >>> from skdpgen.tables import Categorical, Integer, Schema
    >>> Schema({"age": Integer(0, 120)}, target=Categorical(["no", "yes"]))
    Schema of 1 column:
      age: Integer 0 to 120, may be missing
      target: Categorical no, yes, may be missing
    >>> Schema()
    Schema of 0 columns
    """
    columns: Mapping[Any, Column] = schema.columns
    n = len(columns)
    lines = [_line(*one) for one in list(columns.items())[:MOST_LINES]]
    if n > MOST_LINES:
        lines.append(f"… and {n - MOST_LINES} more columns")
    if schema.target is not None:
        lines.append(_line("target", schema.target))
    lines += [
        f"rule: {html.shortened(rule, 200)}" for rule in schema.rules[:MOST_LINES]
    ]
    if len(schema.rules) > MOST_LINES:
        lines.append(f"… and {len(schema.rules) - MOST_LINES} more rules")
    if schema.other != "other":
        lines.append(f"other: {html.shortened(schema.other)!r}")
    lines += [f"origin: {mark}" for mark in schema.origin.splitlines()]
    head = f"Schema of {n} column{'' if n == 1 else 's'}"
    return "\n  ".join([f"{head}:", *lines]) if lines else head


def schema_html(schema: Any) -> str:
    """Return a schema as a table for a notebook, with its marks and its rules."""
    named = list(schema.columns.items())[: html.MOST_ROWS - 1]
    n_left = len(schema.columns) - len(named)
    rows = [_row(html.shortened(name), column) for name, column in named]
    if schema.target is not None:
        rows.append(_row(html.tag("i", "target"), schema.target))
    head = ("column", "type", "range or categories", "may be missing", "besides")
    parts = [
        html.tag("p", html.tag("b", f"Schema of {len(schema.columns)} columns")),
        *(html.tag("p", f"Origin: {mark}") for mark in schema.origin.splitlines()),
        html.table(head, rows, n_left=n_left),
    ]
    if schema.rules:
        texts = [html.shortened(rule, 200) for rule in schema.rules]
        parts.append(html.folded(f"Rules ({len(texts)})", html.bullets(texts)))
    return html.block(*parts)


def _row(name: object, column: Column) -> tuple[object, ...]:
    return (
        name,
        type(column).__name__,
        values_of(column),
        "yes" if _can_be_missing(column) else "",
        ", ".join(besides_of(column)),
    )
