"""Schema: what the owner of a table may say about it in public."""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from skdpgen.tables._column_dicts import column_from_dict, column_to_dict
from skdpgen.tables._columns import (
    Boolean,
    Categorical,
    Column,
    Datetime,
    Integer,
    Numeric,
    is_hint,
)
from skdpgen.tables._containers import read_table
from skdpgen.tables._dtypes import pandas_kind
from skdpgen.tables._layout import Kind, Layout
from skdpgen.utils import SchemaError, saved

MAX_DECIMALS = 3


@saved
@dataclass(frozen=True)
class Schema:
    """Column types, bounds and categories, from public knowledge.

    A column that is left out is discovered privately, and paid for.

    Parameters
    ----------
    columns : mapping of name to column type
        :class:`Numeric`, :class:`Integer`, :class:`Categorical`, :class:`Ordinal`,
        :class:`Boolean`, :class:`Datetime`, :class:`Drop` or :class:`Regenerate`.
    target : column type or None, default=None
        The column that ``y`` holds; its categories are the classes.
    other : str, default="other"
        What stands for values that are too rare to be found, where the categories of a
        column of text are discovered.

    Examples
    --------
    >>> schema = Schema({"age": Integer(0, 120)}, target=Categorical(["no", "yes"]))
    >>> Schema.from_json(schema.to_json()) == schema
    True
    """

    columns: Mapping[Any, Column] = field(default_factory=dict)
    target: Column | None = None
    other: str = "other"

    def __post_init__(self) -> None:
        """Check each column by itself."""
        object.__setattr__(self, "columns", dict(self.columns))
        named = [*self.columns.items()]
        named += [("target", self.target)] if self.target is not None else []
        for name, column in named:
            if not isinstance(column, Column):
                raise SchemaError(
                    f"Column {name!r} must be a column type, as Numeric(0, 1). "
                    f"Got {type(column).__name__} instead."
                )

    def check(self) -> "Schema":
        """Raise unless every column is complete; return self."""
        open_columns = self.unfilled()
        if len(open_columns) > 1:
            raise SchemaError(
                f"Columns need their bounds or categories. Got {len(open_columns)} "
                f"without: {', '.join(open_columns)}; fill them in, or take "
                "`schema.known()`, which leaves them to private discovery."
            )
        for name, column in self.columns.items():
            column.check(str(name))
        if self.target is not None:
            self.target.check("target")
        return self

    def match(self, layout: Layout) -> "Schema":
        """Raise unless the columns named here are in the table; return self."""
        absent = [str(name) for name in self.columns if name not in layout.names]
        if absent:
            raise SchemaError(
                f"Every column of the schema must be in X. Got X without "
                f"{', '.join(absent)}; add the columns or take them out of the schema."
            )
        named = [name for name in layout.names if name in self.columns]
        if named != list(self.columns):
            raise SchemaError(
                "Columns of X must come in the order of the schema. Got "
                f"{', '.join(map(str, named))}; reorder the columns of one of the two."
            )
        return self

    def unfilled(self) -> list[str]:
        """Return the names of columns that a template left open.

        Examples
        --------
        >>> Schema({"age": Integer(), "sex": Boolean()}).unfilled()
        ['age']
        """
        return [
            str(name)
            for name, column in self.columns.items()
            if not is_hint(column)
            and any(
                getattr(column, item, "") is None
                for item in ("lower", "upper", "categories")
            )
        ]

    def known(self) -> "Schema":
        """Return a schema of the filled columns alone; the others are discovered.

        Examples
        --------
        >>> list(Schema({"age": Integer(), "sex": Boolean()}).known().columns)
        ['sex']
        """
        left = set(self.unfilled())
        columns = {n: c for n, c in self.columns.items() if str(n) not in left}
        is_open = bool(Schema({"y": self.target}).unfilled()) if self.target else False
        return Schema(columns, None if is_open else self.target, self.other)

    def with_column(self, name: Any, column: Column) -> "Schema":
        """Return a schema with one column added or exchanged."""
        return replace(self, columns={**self.columns, name: column})

    @classmethod
    def template(cls, frame: Any, y: Any = None) -> "Schema":
        """Return names and kinds only, from public dtypes: fill in the rest by hand.

        Examples
        --------
        >>> Schema.template(pd.DataFrame({"age": [1, 2]})).columns
        {'age': Integer(lower=None, upper=None, nullable=False, parse=False)}
        """
        table, layout = read_table(frame)
        nullable = dict(zip(layout.names, layout.can_be_missing, strict=True))
        columns = {
            name: empty_column(kind, nullable=nullable[name])
            for name, kind in zip(layout.names, layout.kinds, strict=True)
        }
        del table
        if y is None:
            return cls(columns)
        target = pandas_kind(pd.Series(y).dtype, "y")
        if target is not Kind.FLOAT:
            return cls(columns, Categorical(nullable=False))
        return cls(columns, empty_column(target, nullable=False))

    @classmethod
    def infer(cls, frame: Any, y: Any = None, *, task: str = "auto") -> "Schema":
        """Read bounds and categories off the rows. **This leaks**: see the warning.

        Use it only where the result is public anyway, or on public rows of the same
        kind. ``schema="infer"`` in an estimator does this and says so in ``privacy_``.

        Examples
        --------
        >>> Schema.infer(pd.DataFrame({"age": [17, 90]})).columns["age"].upper
        90
        """
        table, layout = read_table(frame)
        columns = {
            name: _infer_column(table[name], kind)
            for name, kind in zip(layout.names, layout.kinds, strict=True)
        }
        if y is None:
            return cls(columns)
        series = pd.Series(y)
        kind = pandas_kind(series.dtype, "y")
        is_number = kind in (Kind.FLOAT, Kind.DATETIME) or task == "regression"
        if is_number and task != "classification":
            return cls(columns, _infer_column(series, kind))
        return cls(columns, Categorical(sorted_values(series), nullable=False))

    def to_dict(self) -> dict[str, Any]:
        """Return plain types."""
        columns = {name: column_to_dict(col) for name, col in self.columns.items()}
        content: dict[str, Any] = {"columns": columns}
        if self.target is not None:
            content["target"] = column_to_dict(self.target)
        if self.other != "other":
            content["other"] = self.other
        return content

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> "Schema":
        """Read back what :meth:`to_dict` wrote, or a person."""
        if not isinstance(content, Mapping) or not isinstance(
            content.get("columns", {}), Mapping
        ):
            raise SchemaError(
                "A schema is a table of columns, as {'columns': {'age': {'type': "
                f"'Integer'}}}}. Got {type(content).__name__} instead."
            )
        strange = set(content) - {"columns", "target", "other"}
        if strange:
            raise SchemaError(
                "A schema has the entries columns, target and other. Got "
                f"{', '.join(sorted(strange))} besides."
            )
        columns = {
            name: column_from_dict(str(name), column)
            for name, column in content.get("columns", {}).items()
        }
        target = content.get("target")
        known = column_from_dict("target", target) if target else None
        return cls(columns, known, content.get("other", "other"))

    def to_json(self) -> str:
        """Return the schema as JSON; column names become text."""
        return json.dumps(self.to_dict(), indent=2)

    @classmethod
    def from_json(cls, text: str) -> "Schema":
        """Read JSON text."""
        return cls.from_dict(json.loads(text))

    def to_toml(self) -> str:
        """Return the schema as TOML, the form that is pleasant to edit."""
        content = self.to_dict()
        lines = [f"other = {_toml(self.other)}", ""] if "other" in content else []
        tables = [(f"columns.{_quote(n)}", c) for n, c in content["columns"].items()]
        tables += [("target", content["target"])] if "target" in content else []
        for heading, column in tables:
            lines += [f"[{heading}]"]
            lines += [f"{key} = {_toml(value)}" for key, value in column.items()]
            lines += [""]
        return "\n".join(lines)

    @classmethod
    def from_toml(cls, text: str) -> "Schema":
        """Read TOML text."""
        return cls.from_dict(tomllib.loads(text))

    def save(self, path: str | Path) -> None:
        """Write a ``.json`` or ``.toml`` file."""
        path = Path(path)
        text = self.to_toml() if path.suffix == ".toml" else self.to_json()
        path.write_text(text, encoding="utf-8")

    @classmethod
    def load(cls, path: str | Path) -> "Schema":
        """Read a ``.json`` or ``.toml`` file."""
        path = Path(path)
        read = cls.from_toml if path.suffix == ".toml" else cls.from_json
        return read(path.read_text(encoding="utf-8"))


def empty_column(kind: Kind, *, nullable: bool) -> Column:
    """Return the column type of a dtype kind, with nothing else known."""
    types = {
        Kind.FLOAT: Numeric,
        Kind.INTEGER: Integer,
        Kind.BOOLEAN: Boolean,
        Kind.TEXT: Categorical,
        Kind.DATETIME: Datetime,
    }
    column: Column = types[kind](nullable=nullable)
    return column


def sorted_values(series: "pd.Series[Any]") -> list[Any]:
    """Return the distinct values in a public order: sorted, as text if mixed."""
    values = series.dropna().unique().tolist()
    try:
        return sorted(values)
    except TypeError:
        return sorted(values, key=str)


def _infer_column(series: "pd.Series[Any]", kind: Kind) -> Column:
    nullable = bool(series.isna().any())
    if kind is Kind.BOOLEAN:
        return Boolean(nullable=nullable)
    if kind is Kind.TEXT:
        return Categorical(sorted(set(map(str, series.dropna()))), nullable=nullable)
    if kind is Kind.DATETIME:
        known = series.dropna()
        if isinstance(known.dtype, pd.CategoricalDtype):
            known = known.astype(known.dtype.categories.dtype)
        if known.empty:
            return Datetime("2000-01-01", "2000-01-01", nullable=True)
        bounds = (known.min().isoformat(), known.max().isoformat())
        is_daily = bool((known == known.dt.normalize()).all())
        return Datetime(*bounds, is_daily, nullable)
    values = series.astype("float64").to_numpy()
    values = values[np.isfinite(values)]
    nullable = nullable or len(values) < len(series)
    if not len(values):
        return Numeric(0.0, 0.0, nullable=True)
    lower, upper = float(values.min()), float(values.max())
    if kind is Kind.INTEGER:
        return Integer(int(lower), int(upper), nullable=nullable)
    scaled = [values * 10.0**d for d in range(MAX_DECIMALS)]
    exact = [d for d, v in enumerate(scaled) if np.allclose(v, v.round(), 0, 1e-6)]
    return Numeric(lower, upper, exact[0] if exact else None, nullable=nullable)


def _quote(name: Any) -> str:
    return _toml(str(name))


def _toml(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, float) and value == int(value):
        return f"{value:.1f}"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
