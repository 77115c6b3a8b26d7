"""Schema: public knowledge about the columns of a table."""

import json
import tomllib
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from skdpgen.exceptions import (
    SchemaError,
)
from skdpgen.tables._columns import (
    RESOLUTIONS,
    TYPES,
    Boolean,
    Categorical,
    Column,
    Datetime,
    Integer,
    Numeric,
    column_from_dict,
    column_to_dict,
    is_hint,
    joined_origins,
    origin_of,
    schema_toml,
    with_origin,
)
from skdpgen.tables._descriptors import (
    LeftOut,
    take_out_target,
    with_target,
    write_json,
)
from skdpgen.tables._descriptors import Source as Descriptor
from skdpgen.tables._encoder import read_target
from skdpgen.tables._frames import pandas_kind, read_table
from skdpgen.tables._frictionless import (
    OWN_PROPERTY,
    columns_of_frictionless,
    frictionless_of_columns,
)
from skdpgen.tables._layout import Kind, Layout
from skdpgen.tables._rules import (
    Rule,
    check_rules,
    in_order,
    rule_from_dict,
    rule_to_dict,
)
from skdpgen.tables._schema_text import schema_html, schema_text
from skdpgen.tables._sdv import columns_of_sdv, sdv_of_columns
from skdpgen.tables._text_forms import read_number, read_time
from skdpgen.tables._time_forms import form_of_all
from skdpgen.tables._zones import zone_of
from skdpgen.utils import (
    Frame,
    Labels,
    Table,
    saved,
)

# ----------------------------------------------------------------------------
# Bounds and categories read from rows: of public rows, or with a leak.

MAX_DECIMALS = 3
FEW_DATES = 12  # with no more distinct ones, dates in text are categories


def sorted_values(series: "pd.Series[Any]") -> list[Any]:
    """Return the distinct values in a public order: sorted, as text if mixed."""
    values = series.dropna().unique().tolist()
    try:
        return sorted(values)
    except TypeError:
        return sorted(values, key=str)


def infer_column(series: "pd.Series[Any]", kind: Kind) -> Column:
    """Return the type of a column, inferred from its values."""
    nullable = bool(series.isna().any())
    if kind is Kind.BOOLEAN:
        return Boolean(nullable=nullable)
    if kind is Kind.TEXT:
        texts = sorted(set(map(str, series.dropna())))
        form = form_of_all(texts) if len(texts) > FEW_DATES else None
        if form is None:
            return Categorical(texts, nullable=nullable)
        texts.sort(key=lambda text: read_time(text, form))
        return Datetime(texts[0], texts[-1], nullable=nullable, format=form)
    if kind is Kind.DATETIME:
        times = series.dropna()
        if isinstance(times.dtype, pd.CategoricalDtype):
            times = times.astype(times.dtype.categories.dtype)
        if times.empty:
            return Datetime("2000-01-01", "2000-01-01", nullable=True)
        if zone_of(str(times.dtype)) is not None:
            times = times.dt.tz_localize(None)  # as clocks show them
        bounds = (times.min().isoformat(), times.max().isoformat())
        whole = (unit for unit, step in RESOLUTIONS.items() if _are_whole(times, step))
        return Datetime(*bounds, next(whole, None), nullable)
    values = series.astype("float64").to_numpy()
    values = values[np.isfinite(values)]
    nullable = nullable or len(values) < len(series)
    if not len(values):
        return Numeric(0.0, 0.0, nullable=True)
    lower, upper = float(values.min()), float(values.max())
    if kind is Kind.INTEGER:
        return Integer(int(lower), int(upper), nullable=nullable)
    with np.errstate(over="ignore"):
        scaled = [values * 10.0**d for d in range(MAX_DECIMALS)]
    exact = [d for d, v in enumerate(scaled) if np.allclose(v, v.round(), 0, 1e-6)]
    return Numeric(lower, upper, exact[0] if exact else None, nullable=nullable)


def _are_whole(times: "pd.Series[Any]", step: float) -> bool:
    return bool((times == times.dt.floor(pd.Timedelta(seconds=step))).all())


def empty_column(kind: Kind, *, nullable: bool) -> Column:
    """Return the column type of a dtype kind, without bounds or categories."""
    types = {
        Kind.FLOAT: Numeric,
        Kind.INTEGER: Integer,
        Kind.BOOLEAN: Boolean,
        Kind.TEXT: Categorical,
        Kind.DATETIME: Datetime,
    }
    column: Column = types[kind](nullable=nullable)
    return column


# ----------------------------------------------------------------------------
# Data dictionaries: a table with a row for each column.

OTHER_NAMES = {
    **dict.fromkeys(("number", "float", "double", "real", "decimal"), "Numeric"),
    **dict.fromkeys(("int", "whole number"), "Integer"),
    **dict.fromkeys(("category", "factor", "nominal"), "Categorical"),
    **dict.fromkeys(("bool", "flag"), "Boolean"),
    **dict.fromkeys(("date", "timestamp"), "Datetime"),
}
FLAGS = {
    **dict.fromkeys(("true", "yes", "y", "1"), True),
    **dict.fromkeys(("false", "no", "n", "0"), False),
}
Source = str | Path | Frame  # a CSV file, or a data frame
SHOWN = "name, type, lower, upper, decimals, categories, nullable, format"
FOR_PEOPLE = {"description", "title", "label", "unit", "comment", "note", "notes"}


def read_dictionary(table: Source) -> dict[str, Column]:
    """Return the column types that a data dictionary describes, by name.

    Raises an error that names the row, counted from 1 below the header, and the entry.
    """
    content = _read(table)
    known = {"name", "type", *READERS, *FOR_PEOPLE}
    left_out = LeftOut()
    left_out.add("columns", [repr(name) for name in content if name not in known])
    left_out.warn("Not everything in the data dictionary fits a schema. Left out:")
    columns: dict[str, Column] = {}
    for number, row in enumerate(content.to_dict("records"), start=1):
        name = _text(row.get("name"))
        where = f"Row {number} ({name!r}) of the data dictionary"
        if not name or name in columns:
            raise SchemaError(
                f"{where} must name a column, each once. Got "
                f"{'this name twice' if name else 'no name'}; correct it or take the "
                "row out."
            )
        columns[name] = _column(where, {str(k): v for k, v in row.items()}, name)
    return columns


def _read(table: Any) -> pd.DataFrame:
    """Read a CSV file as text, or copy a data frame."""
    if isinstance(table, str | Path):
        content = _read_csv(table, ",")
        if len(content.columns) == 1:  # as spreadsheets write it where , is a point
            content = _read_csv(table, ";")
    elif hasattr(table, "to_pandas"):
        content = table.to_pandas()
    elif isinstance(table, pd.DataFrame):
        content = table.copy()
    else:
        raise TypeError(
            "A data dictionary must be the path of a CSV file or a data frame. Got "
            f"{type(table).__name__} instead; for columns by name use "
            "`Schema({'age': Integer(0, 120)})`."
        )
    content.columns = [str(name).strip().lower() for name in content.columns]
    if not {"name", "type"} <= set(content.columns):
        raise SchemaError(
            f"A data dictionary must have the columns name and type, and may have more "
            f"of {SHOWN}. Got {', '.join(content.columns)}."
        )
    return content


def _read_csv(path: str | Path, separator: str) -> pd.DataFrame:
    return pd.read_csv(
        path,
        sep=separator,
        dtype=str,
        keep_default_na=False,
        encoding="utf-8-sig",
        skipinitialspace=True,
    )


def _column(where: str, row: Mapping[str, Any], name: str) -> Column:
    type_name = _text(row["type"]).lower()
    type_names = {kind.lower(): kind for kind in TYPES} | OTHER_NAMES
    if type_name not in type_names:
        raise SchemaError(
            f"{where}, type: must be one of {', '.join(TYPES)}. Got "
            f"{_text(row['type'])!r}; take the row out to have the column discovered."
        )
    kind = TYPES[type_names[type_name]]
    allowed = {item.name for item in fields(kind)}
    params: dict[str, Any] = {"resolution": "day"} if type_name == "date" else {}
    for entry, reader in READERS.items():
        text = _entry(row.get(entry))
        if text == "" or (kind is Integer and (entry, text) == ("decimals", "0")):
            continue
        if entry not in allowed:
            raise SchemaError(
                f"{where}, {entry}: must be empty for the type {kind.__name__}. Got "
                f"{text!r}."
            )
        params[entry] = reader(f"{where}, {entry}", text, kind)
    try:
        column: Column = kind(**params)
        if is_hint(column) or not _is_open(column):
            column.check(name)
    except SchemaError as error:
        raise SchemaError(f"{where}: {error}") from None
    return column


def _is_open(column: Column) -> bool:
    """Return whether a bound or the categories are left for `Schema.known` to drop."""
    ends = ("lower", "upper", "categories")
    return any(getattr(column, end, "") is None for end in ends)


def _entry(value: object) -> object:
    return value if isinstance(value, list | tuple) else _text(value)


def _text(value: object) -> str:
    if value is None or value is pd.NaT or value is pd.NA or value != value:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))  # pandas reads integers as floats if a cell is empty
    return str(value).strip()


def _bound(where: str, text: object, kind: type) -> object:
    if kind is Datetime:
        return text
    number = read_number(str(text))
    if number != number:
        raise SchemaError(f"{where}: must be a number. Got {text!r}.")
    return int(number) if kind is Integer and number.is_integer() else number


def _whole(where: str, text: Any, kind: type) -> int:
    del kind
    if not str(text).isdecimal():
        raise SchemaError(f"{where}: must be a whole number, as 2. Got {text!r}.")
    return int(text)


def _flag(where: str, text: object, kind: type) -> bool:
    del kind
    if str(text).lower() not in FLAGS:
        raise SchemaError(f"{where}: must be yes or no. Got {text!r}.")
    return FLAGS[str(text).lower()]


def _categories(where: str, text: object, kind: type) -> list[Any]:
    del where, kind
    if isinstance(text, list | tuple):
        return list(text)
    return [part.strip() for part in str(text).split("|")]


def _plain(where: str, text: object, kind: type) -> str:
    del where, kind
    return str(text)


READERS: dict[str, Callable[[str, object, type], object]] = {
    "format": _plain,
    "lower": _bound,
    "upper": _bound,
    "decimals": _whole,
    "categories": _categories,
    "nullable": _flag,
    "parse": _flag,
    "resolution": _plain,
    "template": _plain,
}


# ----------------------------------------------------------------------------
# Schema: public knowledge about the columns of a table.

READ_OFF = "a schema was read off rows (Schema.infer): it must be public by itself"
FROM_PUBLIC = "a schema was read off rows that are said to be public"
FROM_SDV = (
    "a schema was read from SDV metadata, which may have been detected from the rows: "
    "it must be public by itself"
)
FROM_TABLE_SCHEMA = (
    "a schema was read from a Table Schema, which may have been detected from the "
    "rows: it must be public by itself"
)
TO_BE_PUBLIC = (READ_OFF, FROM_SDV, FROM_TABLE_SCHEMA)  # a reader must check these


@saved("schema")
@dataclass(frozen=True)
class Schema:
    """Column types, bounds and categories, from public knowledge.

    A column that is left out is discovered privately, which uses privacy budget.

    Parameters
    ----------
    columns : mapping of name to column type
        :class:`Numeric`, :class:`Integer`, :class:`Categorical`, :class:`Ordinal`,
        :class:`Boolean`, :class:`Datetime`, :class:`Drop` or :class:`Regenerate`.
    target : column type or None, default=None
        The column that ``y`` holds; its categories are the classes.
    other : str, default="other"
        The value that replaces rare values, if the categories of a column of text are
        discovered.
    origin : str, default=""
        Marks, one a line, which certificates repeat: that bounds and categories were
        read from rows, and who stated that these rows are public. :meth:`infer`,
        :meth:`from_public` and fits set them. A schema has the marks of all its
        columns, and its columns have those of the schema. So they remain when it is
        edited, completed, saved or copied; only new columns have no marks.
    rules : sequence of rules, default=()
        Relations that hold in every row by public knowledge, between columns here:
        :class:`LessEqual`, :class:`SumOf`, :class:`MissingIf`, :class:`Determines`.
        Every sampled row obeys.

    Examples
    --------
    >>> from skdpgen.tables import Categorical, Integer
    >>> schema = Schema({"age": Integer(0, 120)}, target=Categorical(["no", "yes"]))
    >>> Schema.from_json(schema.to_json()) == schema
    True
    """

    columns: Mapping[Any, Column] = field(default_factory=dict)
    target: Column | None = None
    other: str = "other"
    origin: str = field(default="", compare=False, repr=False)
    rules: Sequence[Rule] = ()

    def __post_init__(self) -> None:
        """Check the types of columns, and that rules do not contradict each other."""
        object.__setattr__(self, "columns", dict(self.columns))
        object.__setattr__(self, "rules", tuple(map(rule_from_dict, self.rules)))
        in_order(self.rules)  # raises where they contradict each other
        named = [*self.columns.items()]
        named += [("target", self.target)] if self.target is not None else []
        for name, column in named:
            if not isinstance(column, Column):
                raise SchemaError(
                    f"Column {name!r} must be a column type, as Integer(0, 120) or "
                    "Categorical(['a', 'b']), in dictionaries also {'type': 'Integer', "
                    f"'lower': 0, 'upper': 120}}. Got {type(column).__name__} instead."
                )
        self._mark([column for _, column in named])

    def _mark(self, columns: Sequence[Column]) -> None:
        """Collect the marks of the columns, and pass all marks to each of them."""
        origin = joined_origins(self.origin, *map(origin_of, columns))
        object.__setattr__(self, "origin", origin)
        if origin:
            marked = {n: with_origin(c, origin) for n, c in self.columns.items()}
            object.__setattr__(self, "columns", marked)
            if self.target is not None:
                object.__setattr__(self, "target", with_origin(self.target, origin))

    def __repr__(self) -> str:
        """Return a line for each column; of many columns for the first ones."""
        return schema_text(self)

    def _repr_html_(self) -> str:
        """Return a table for a notebook."""
        return schema_html(self)

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
        check_rules(self.rules, self.columns)
        return self

    def match(self, layout: Layout) -> "Schema":
        """Return the columns in the order of the table; raise if it lacks one."""
        absent = [str(name) for name in self.columns if name not in layout.names]
        if absent:
            raise SchemaError(
                f"Every column of the schema must be in X. Got X without "
                f"{', '.join(absent)}; add the columns or take them out of the schema."
            )
        named = [name for name in layout.names if name in self.columns]
        return replace(self, columns={name: self.columns[name] for name in named})

    def unfilled(self) -> list[str]:
        """Return the names of columns that a template left open.

        Examples
        --------
        >>> from skdpgen.tables import Boolean, Integer
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
        """Return a schema of the complete columns; the others are discovered.

        Examples
        --------
        >>> from skdpgen.tables import Boolean, Integer
        >>> list(Schema({"age": Integer(), "sex": Boolean()}).known().columns)
        ['sex']
        """
        unfilled = set(self.unfilled())
        columns = {n: c for n, c in self.columns.items() if str(n) not in unfilled}
        is_open = bool(Schema({"y": self.target}).unfilled()) if self.target else False
        return replace(self, columns=columns, target=None if is_open else self.target)

    def with_column(self, name: Hashable, column: Column) -> "Schema":
        """Return a schema with one column added or exchanged; marks stay."""
        return replace(self, columns={**self.columns, name: column})

    @classmethod
    def template(cls, frame: Table, y: Labels | None = None) -> "Schema":
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
        _, target = read_target(y, len(table))
        if target is None:
            return cls(columns)
        if target.kinds[0] not in (Kind.FLOAT, Kind.DATETIME):
            return cls(columns, Categorical(nullable=False))
        return cls(columns, empty_column(target.kinds[0], nullable=False))

    @classmethod
    def of(cls, given: "Schema | Mapping[Any, Any]") -> "Schema":
        """Return a schema as it is, or make one of a dictionary.

        The dictionary has column types by name, or the entries ``"columns"`` and
        ``"target"`` of :meth:`to_dict`.

        Examples
        --------
        >>> from skdpgen.tables import Integer
        >>> Schema.of({"tenure": Integer(0, 72)}).columns["tenure"].n_values
        73
        """
        if isinstance(given, Schema):
            return given
        entries = {"columns", "target", "other", "origin", "rules"}
        named = given.get("columns", {})
        is_column = isinstance(named, Column) or (
            isinstance(named, Mapping) and "type" in named
        )
        is_whole = bool(given) and set(given) <= entries and not is_column
        return cls.from_dict(given if is_whole else {"columns": given})

    @classmethod
    def from_public(
        cls, frame: Table, y: Labels | None = None, *, task: str = "auto"
    ) -> "Schema":
        """Read bounds and categories off public rows: a sample, an earlier release.

        That these rows are public is your word, and the certificate states it, as
        ``origin`` does. It is no alarm: what public rows show is public. Rows that
        are to be protected do not belong here. What the public rows do not show is
        clipped to their bounds, or counts as missing: widen what is too narrow by
        :meth:`with_column`.

        Examples
        --------
        >>> last_year = pd.DataFrame({"age": [17, 90]})
        >>> Schema.from_public(last_year).columns["age"].upper
        90
        """
        return read_off(frame, y, task=task, origin=FROM_PUBLIC)

    @classmethod
    def from_dictionary(cls, table: Source, *, target: str | None = None) -> "Schema":
        """Read a data dictionary: a table with a row for each column.

        Parameters
        ----------
        table : path of a CSV file, or data frame
            It has the columns ``name`` and ``type`` (Numeric, Integer, Categorical,
            Ordinal, Boolean, Datetime, Drop, Regenerate, or a usual name of these, as
            int or date), and those that it needs of ``lower``, ``upper``, ``decimals``,
            ``categories`` (separated by ``|``), ``nullable``, ``format``, ``parse``,
            ``resolution`` and ``template``. Others are named in an
            :class:`InterchangeWarning`, except for descriptions, units and notes.
        target : str or None, default=None
            Name of the row that describes y.

        Examples
        --------
        >>> rows = [("age", "int", 0, 120, ""), ("sex", "category", "", "", "f|m")]
        >>> names = ["name", "type", "lower", "upper", "categories"]
        >>> table = pd.DataFrame(rows, columns=names)
        >>> Schema.from_dictionary(table).columns["sex"].categories
        ('f', 'm')
        """
        columns = read_dictionary(table)
        if target is not None and target not in columns:
            raise SchemaError(
                "target must be the name of a row of the data dictionary. Got "
                f"{target!r}; the names are {', '.join(columns)}."
            )
        target_column = columns.pop(target) if target is not None else None
        return cls(columns, target_column)

    @classmethod
    def from_sdv(
        cls,
        source: Descriptor,
        *,
        table: str | None = None,
        target: str | None = None,
        detected: bool = True,
    ) -> "Schema":
        """Read the metadata JSON of SDV, version V1 or V2.

        What such a file says may have been detected from the private rows
        (``Metadata.detect_from_dataframe``), and no file states whether it was: it is
        public only if you say so.

        Columns without bounds or categories stay open, as in :meth:`template`; take
        :meth:`known` to have them discovered. Columns of personal data (``email``,
        ``id``, ...) become :class:`Regenerate`, ``unknown`` ones :class:`Drop`. What a
        schema cannot hold is left out with an :class:`InterchangeWarning`.

        Parameters
        ----------
        source : path, JSON text, mapping, or a ``Metadata`` object of SDV
        table : str or None, default=None
            Which table is meant, if there are several.
        target : str or None, default=None
            Name of the column that y holds.
        detected : bool, default=True
            Whether the file may have been detected from the private rows. True marks
            the schema (``origin``), and certificates repeat the mark. False is your
            word that people wrote the file from public knowledge.

        Examples
        --------
        >>> metadata = {"columns": {"left": {"sdtype": "boolean"}}}
        >>> Schema.from_sdv(metadata, detected=False).columns
        {'left': Boolean(nullable=True)}
        """
        columns, left_out = columns_of_sdv(source, table)
        columns, found = take_out_target(columns, target)
        schema = cls(columns, found, origin=FROM_SDV if detected else "")
        left_out.warn("Not everything in the SDV metadata fits a schema. Left out:")
        return schema

    def to_sdv(
        self,
        path: str | Path | None = None,
        *,
        table: str = "table",
        target: str = "target",
        version: str = "V2",
    ) -> dict[str, Any]:
        """Return the schema as metadata of SDV, and write it to a JSON file.

        What SDV's format cannot state, as codes among numbers or rules, is left out
        with an :class:`InterchangeWarning` that names it.

        Parameters
        ----------
        path : path or None, default=None
            JSON file to write.
        table, target : str
            Names of the table, and of the column that y holds.
        version : {"V2", "V1"}, default="V2"
            V2 is read by SDV 2 and later. V1 is for SDV 1; it has no bounds, and only
            ordered categories.

        Examples
        --------
        >>> from skdpgen.tables import Integer
        >>> schema = Schema({"age": Integer(0, 120)})
        >>> Schema.from_sdv(schema.to_sdv()) == schema
        True
        """
        named = with_target(self.columns, self.target, target)
        content, left_out = sdv_of_columns(named, table, version)
        left_out.add("rules", list(map(repr, self.rules)))
        left_out.add("other", [self.other] * (self.other != "other"))
        left_out.add("the mark of the schema (origin)", self.origin.splitlines())
        left_out.warn("SDV metadata cannot state all of a schema. Left out:")
        write_json(content, path)
        return content

    @classmethod
    def from_frictionless(
        cls,
        source: Descriptor,
        *,
        table: str | None = None,
        target: str | None = None,
        detected: bool = True,
    ) -> "Schema":
        """Read a Table Schema of Frictionless Data, or one in a data package.

        What such a file says may have been inferred from the private rows
        (``frictionless describe``): it is public only if you say so. Files that
        :meth:`to_frictionless` wrote state where they are from, so ``detected`` is
        ignored for them.

        Fields without bounds or categories stay open, as in :meth:`template`; take
        :meth:`known` to have them discovered. Unique text and e-mail addresses become
        :class:`Regenerate`. What a schema cannot hold is left out with an
        :class:`InterchangeWarning`.

        Parameters
        ----------
        source : path, JSON text, mapping, or a ``Schema`` object of frictionless
        table : str or None, default=None
            Which resource of a data package is meant, if there are several.
        target : str or None, default=None
            Name of the field that y holds.
        detected : bool, default=True
            Whether the file may have been inferred from the private rows. True marks
            the schema (``origin``), and certificates repeat the mark. False is your
            word that people wrote the file from public knowledge.

        Examples
        --------
        >>> field = {"name": "sex", "type": "string", "constraints": {"enum": ["f"]}}
        >>> Schema.from_frictionless({"fields": [field]}).columns["sex"].categories
        ('f',)
        """
        columns, own, left_out = columns_of_frictionless(source, table)
        named = own.get("target") if target is None else target
        columns, found = take_out_target(columns, named)
        mark = FROM_TABLE_SCHEMA if detected and not own else ""
        schema = cls(
            columns,
            found,
            str(own.get("other", "other")),
            str(own.get("origin", mark)),
            own.get("rules", ()),
        )
        left_out.warn("Not everything in the Table Schema fits a schema. Left out:")
        return schema

    def to_frictionless(
        self, path: str | Path | None = None, *, target: str = "target"
    ) -> dict[str, Any]:
        """Return the schema as a Table Schema, and write it to a JSON file.

        Nothing is lost: what has no property in the standard stands under ``skdpgen``,
        which other tools ignore.

        Parameters
        ----------
        path : path or None, default=None
            JSON file to write.
        target : str, default="target"
            Name of the field that y holds.

        Examples
        --------
        >>> from skdpgen.tables import Numeric
        >>> schema = Schema({"price": Numeric(0, 9, codes=[-1])})
        >>> Schema.from_frictionless(schema.to_frictionless()) == schema
        True
        """
        named = with_target(self.columns, self.target, target)
        content = frictionless_of_columns(named)
        whole = self.to_dict()
        own: dict[str, Any] = {"origin": self.origin}
        own |= {key: whole[key] for key in ("other", "rules") if key in whole}
        if self.target is not None:
            own["target"] = target
        content[OWN_PROPERTY] = own
        write_json(content, path)
        return content

    @classmethod
    def infer(
        cls, frame: Table, y: Labels | None = None, *, task: str = "auto"
    ) -> "Schema":
        """Read bounds and categories off the rows. **This leaks** if they are private.

        For public rows call :meth:`from_public`. A schema that was inferred is marked:
        the certificate of an estimator that uses it states that it must be public.

        Examples
        --------
        >>> Schema.infer(pd.DataFrame({"age": [17, 90]})).columns["age"].upper
        90
        """
        return read_off(frame, y, task=task, origin=READ_OFF)

    def to_dict(self) -> dict[str, Any]:
        """Return plain types."""
        columns = {name: column_to_dict(col) for name, col in self.columns.items()}
        content: dict[str, Any] = {"columns": columns}
        if self.target is not None:
            content["target"] = column_to_dict(self.target)
        if self.other != "other":
            content["other"] = self.other
        if self.origin:
            content["origin"] = self.origin
        if self.rules:
            content["rules"] = [rule_to_dict(rule) for rule in self.rules]
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
        besides = set(content) - {"columns", "target", "other", "origin", "rules"}
        if besides:
            raise SchemaError(
                "A schema has the entries columns, target, other and rules. Got "
                f"{', '.join(sorted(map(str, besides)))} besides; files of other tools "
                "are read by `Schema.from_sdv` and `Schema.from_frictionless`."
            )
        columns = {
            name: column_from_dict(str(name), column)
            for name, column in content.get("columns", {}).items()
        }
        target = content.get("target")
        target_column = (
            column_from_dict("target", target) if target is not None else None
        )
        other, origin = content.get("other", "other"), content.get("origin", "")
        rules = content.get("rules", ())
        return cls(columns, target_column, str(other), str(origin), rules)

    def to_json(self) -> str:
        """Return the schema as JSON; column names become text."""
        return json.dumps(self.to_dict(), indent=2)

    @classmethod
    def from_json(cls, text: str) -> "Schema":
        """Read JSON text."""
        return cls.from_dict(json.loads(text))

    def to_toml(self) -> str:
        """Return the schema as TOML, the form that is pleasant to edit."""
        return schema_toml(self.to_dict())

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
        is_toml = path.suffix == ".toml"
        reader = cls.from_toml if is_toml else cls.from_json
        try:
            return reader(path.read_text(encoding="utf-8"))
        except (
            UnicodeDecodeError,
            tomllib.TOMLDecodeError,
            json.JSONDecodeError,
        ) as error:
            kind = "TOML" if is_toml else "JSON"
            raise SchemaError(f"{path} must be {kind}. {error}") from error


def read_off(
    frame: Table, y: Labels | None = None, *, task: str, origin: str
) -> Schema:
    """Return the schema that rows show, marked with where it is from.

    Examples
    --------
    >>> frame, y = pd.DataFrame({"age": [17, 90]}), ["no", "yes"]
    >>> read_off(frame, y, task="auto", origin="of last year").target.origin
    'of last year'
    """
    table, layout = read_table(frame)
    columns = {
        name: infer_column(table[name], kind)
        for name, kind in zip(layout.names, layout.kinds, strict=True)
    }
    if y is None:
        return Schema(columns, origin=origin)
    series = pd.Series(y)
    kind = pandas_kind(series.dtype, "y")
    is_number = kind in (Kind.FLOAT, Kind.DATETIME) or task == "regression"
    if is_number and task != "classification":
        return Schema(columns, infer_column(series, kind), origin=origin)
    labels = Categorical(sorted_values(series), nullable=False)
    return Schema(columns, labels, origin=origin)
