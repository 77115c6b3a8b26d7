"""A column type as plain values, and back: what files and people write."""

import json
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from skdpgen.tables._columns import (
    Boolean,
    Categorical,
    Column,
    Datetime,
    Integer,
    Numeric,
    Ordinal,
)
from skdpgen.tables._left_out_columns import Drop, Regenerate
from skdpgen.utils import SchemaError

OF_SCHEMA = {"origin"}  # fields that a schema says once, for all of its columns
TYPES = {
    kind.__name__: kind
    for kind in (
        Numeric,
        Integer,
        Datetime,
        Categorical,
        Ordinal,
        Boolean,
        Drop,
        Regenerate,
    )
}


def column_to_dict(column: Column) -> dict[str, Any]:
    """Return the column as plain types, with its kind under ``"type"``."""
    content: dict[str, Any] = {"type": type(column).__name__}
    for item in fields(column):
        if item.name in OF_SCHEMA:
            continue
        value = getattr(column, item.name)
        if isinstance(value, tuple):
            value = list(value)
        if value is not None and (value or item.name not in ("parse", "codes")):
            content[item.name] = value
    return content


def column_from_dict(name: str, content: Any) -> Column:
    """Read back what :func:`column_to_dict` wrote, or a person; or take a column."""
    if isinstance(content, Column):
        return content
    if not isinstance(content, Mapping):
        raise SchemaError(
            f"Column {name!r} must be a column type, as Integer(0, 120), or a table "
            "with a type, as {'type': 'Integer', 'lower': 0, 'upper': 120}. "
            f"Got {type(content).__name__} instead."
        )
    content = dict(content)
    kind = content.pop("type", None)
    if kind not in TYPES:
        raise SchemaError(
            f"type of column {name!r} must be one of {', '.join(TYPES)}. "
            f"Got {kind!r} instead."
        )
    allowed = {item.name for item in fields(TYPES[kind])} - OF_SCHEMA
    if not set(content) <= allowed:
        raise SchemaError(
            f"{kind} column {name!r} takes {', '.join(sorted(allowed)) or 'nothing'}. "
            f"Got {', '.join(sorted(set(content) - allowed))} besides."
        )
    column: Column = TYPES[kind](**content)
    return column


def schema_toml(content: Mapping[str, Any]) -> str:
    """Return the plain values of a schema as TOML.

    Examples
    --------
    >>> print(schema_toml({"columns": {"age": {"type": "Integer", "lower": 0}}}))
    [columns."age"]
    type = "Integer"
    lower = 0
    <BLANKLINE>
    """
    lines = []
    for entry in ("other", "origin"):
        if entry in content:
            lines += [f"{entry} = {_toml(content[entry])}", ""]
    tables = [(f"columns.{_toml(str(n))}", c) for n, c in content["columns"].items()]
    tables += [("target", content["target"])] if "target" in content else []
    heads = [(f"[{heading}]", column) for heading, column in tables]
    heads += [("[[rules]]", rule) for rule in content.get("rules", ())]
    for heading, column in heads:
        lines += [heading]
        lines += [f"{key} = {_toml(value)}" for key, value in column.items()]
        lines += [""]
    return "\n".join(lines)


def _toml(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, float) and value == int(value):
        return f"{value:.1f}"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
