"""Columns from and to a Table Schema of Frictionless Data, versions 1 and 2."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from skdpgen.exceptions import SchemaError
from skdpgen.tables._columns import (
    Boolean,
    Categorical,
    Column,
    Datetime,
    Drop,
    Integer,
    Numeric,
    Ordinal,
    Regenerate,
    column_from_dict,
    column_to_dict,
)
from skdpgen.tables._descriptors import (
    Entry,
    LeftOut,
    Source,
    check_plain,
    checked,
    chosen_table,
    flag_of,
    format_of,
    read_json,
    regex_of,
    template_of,
    time_of_text,
    time_text,
)
from skdpgen.tables._text_forms import (
    UNPADDED,
    NumberForm,
    has_date,
    has_time_of_day,
    number_form,
    read_number,
)

FORMAT_NAME = "Table Schema"
PROFILE = "https://datapackage.org/profiles/2.0/tableschema.json"
OWN_PROPERTY = "skdpgen"  # other tools ignore it
BOUNDS = ("minimum", "maximum")
TYPES = (
    *("string", "number", "integer", "boolean", "date", "time", "datetime", "year"),
    *("yearmonth", "any", "object", "array", "list", "duration", "geopoint", "geojson"),
)
NO_COLUMN = ("object", "array", "list", "duration", "geopoint", "geojson")
PERSONAL = ("email", "uuid")
TIMES = {
    "date": None,
    "datetime": None,
    "time": "%H:%M:%S",
    "yearmonth": "%Y-%m",
}
TRUE = {"true", "True", "TRUE", "1"}
FALSE = {"false", "False", "FALSE", "0"}
# what is read, or says nothing of values; everything else is named as left out
FIELD_KEYS = {
    *("name", "title", "description", "example", "rdfType", "type", "format"),
    *("constraints", "categories", "categoriesOrdered", "missingValues", OWN_PROPERTY),
    *("decimalChar", "groupChar", "bareNumber", "trueValues", "falseValues"),
}
BOUND_KEYS = {*BOUNDS, "exclusiveMinimum", "exclusiveMaximum"}
CONSTRAINTS = {"required", "unique", "enum", "pattern", *BOUND_KEYS}
TABLE_KEYS = {  # of the whole table, likewise
    *(
        "fields",
        "primaryKey",
        "foreignKeys",
        "uniqueKeys",
        "missingValues",
        OWN_PROPERTY,
    ),
    *("$schema", "fieldsMatch", "name", "title", "description", "rdfType"),
}

MISSING_VALUES = (
    "missingValues, which are missing in described columns, and values of those that "
    "are discovered"
)

# ----------------------------------------------------------------------------
# From a Table Schema.


def columns_of_frictionless(
    source: Source, table: str | None = None
) -> tuple[dict[str, Column], dict[str, Any], LeftOut]:
    """Return the columns by name, our own property, and what is left out.

    Examples
    --------
    >>> fields = [{"name": "left", "type": "boolean"}]
    >>> columns_of_frictionless({"fields": fields})[0]
    {'left': Boolean(nullable=True)}
    """
    content = _schema_of(read_json(source, FORMAT_NAME), table)
    fields = content.get("fields")
    if not isinstance(fields, list):
        raise SchemaError(
            f"A {FORMAT_NAME} must have the key 'fields', a list of fields. Got "
            f"{', '.join(map(repr, content)) or 'an empty object'}."
        )
    left_out = LeftOut()
    keys = content.get("primaryKey") or []
    keys = keys if isinstance(keys, list) else [keys] * isinstance(keys, str)
    missing = _texts(content.get("missingValues", [""]))
    columns: dict[str, Column] = {}
    for place, field in enumerate(fields, start=1):
        name = field.get("name") if isinstance(field, Mapping) else None
        if not isinstance(name, str) or name in columns:
            raise SchemaError(
                f"Field {place} of the {FORMAT_NAME} must have a name of its own. Got "
                f"{name!r}."
            )
        is_key = keys == [name]
        column, notes = read_field(field, missing=missing, is_key=is_key)
        columns[name] = column
        left_out.add(f"field {name!r}", notes)
    if len(keys) > 1:
        left_out.add("primaryKey", keys)
    for key in ("foreignKeys", "uniqueKeys"):
        left_out.add(key, [key] * bool(content.get(key)))
    left_out.add(MISSING_VALUES, _words(missing))
    left_out.add("keys", [repr(key) for key in content if key not in TABLE_KEYS])
    own = content.get(OWN_PROPERTY, {})
    if not isinstance(own, Mapping):
        raise SchemaError(
            f"{OWN_PROPERTY!r} of the {FORMAT_NAME} must be an object. Got {own!r}."
        )
    return columns, dict(own), left_out


def _schema_of(content: dict[str, Any], table: str | None) -> Mapping[str, Any]:
    """Return the Table Schema in a data package, in a resource, or by itself."""
    if format_of(content) != "frictionless":
        raise SchemaError(
            f"A {FORMAT_NAME} must have the key 'fields', or be in a data package. Got "
            f"the keys {', '.join(map(repr, content)) or 'of an empty object'}; SDV "
            "metadata is read by `Schema.from_sdv`, a schema of skdpgen by "
            "`Schema.load`."
        )
    if "fields" in content:
        return content
    if "resources" in content:
        resources = content["resources"]
        if not isinstance(resources, list):
            raise SchemaError("'resources' of a data package must be a list.")
        named = {
            str(one.get("name", place)): one
            for place, one in enumerate(resources)
            if isinstance(one, Mapping)
        }
        _, content = chosen_table(named, table, "data package")
    schema = content.get("schema")
    if not isinstance(schema, Mapping):
        raise SchemaError(
            "A resource must hold its Table Schema under 'schema'. Got "
            f"{schema!r}; a schema in a file of its own is read by the path of that "
            "file."
        )
    return schema


def read_field(
    field: Entry, *, missing: Sequence[str] = ("",), is_key: bool = False
) -> tuple[Column, list[str]]:
    """Return the column that a field describes, and what of it is left out.

    Parameters
    ----------
    field : mapping
    missing : sequence of str
        Texts that mean a missing cell in the whole table.
    is_key : bool
        Whether the field is the primary key.

    Examples
    --------
    >>> limits = {"minimum": 0, "maximum": 120, "required": True}
    >>> read_field({"name": "age", "type": "integer", "constraints": limits})
    (Integer(lower=0, upper=120, nullable=False, parse=False), [])
    """
    name = field["name"]
    where = f"Field {name!r} of the {FORMAT_NAME}"
    column, notes = _standard(where, field, missing, is_key=is_key)
    if not hasattr(column, "lower"):
        limits = field.get("constraints", {})
        notes += [f"the constraint {key!r}" for key in limits if key in BOUND_KEYS]
    own = field.get(OWN_PROPERTY)
    if own is None:
        words = _words(_texts(field.get("missingValues", [])))
        return column, notes + [f"{MISSING_VALUES}: {', '.join(words)}"] * bool(words)
    if not isinstance(own, Mapping):
        raise SchemaError(f"{where}, {OWN_PROPERTY}: must be an object. Got {own!r}.")
    content = dict(own) if "type" in own else column_to_dict(column) | dict(own)
    if "other" in own and "categories" not in own:  # the standard has one list of both
        listed = content.get("categories", ())
        content["categories"] = [c for c in listed if c != own["other"]]
    given = {key: value for key, value in content.items() if value is not None}
    return checked(
        f"{where}, {OWN_PROPERTY}", column_from_dict, name, name, given
    ), notes


def _standard(
    where: str, field: Entry, missing: Sequence[str], *, is_key: bool
) -> tuple[Column, list[str]]:
    """Return the column that the standard properties describe."""
    kind = field.get("type", "any")
    if kind not in TYPES:
        raise SchemaError(
            f"{where}, type: must be one of {', '.join(TYPES)}. Got {kind!r}; correct "
            "it, or take the field out to have it discovered."
        )
    limits = field.get("constraints", {})
    if not isinstance(limits, Mapping):
        raise SchemaError(f"{where}, constraints: must be an object. Got {limits!r}.")
    notes = [f"the key {key!r}" for key in field if key not in FIELD_KEYS]
    notes += [f"the constraint {key!r}" for key in limits if key not in CONSTRAINTS]
    nullable = not flag_of(where, limits, "required", default=is_key)
    form = field.get("format", "default")
    values = _values(where, field, limits)
    if kind in NO_COLUMN:
        return Categorical(nullable=nullable), [*notes, f"the type {kind!r}"]
    is_unique = is_key or flag_of(where, limits, "unique", default=False)
    if kind in ("string", "integer", "any") and values is None and is_unique:
        return _identifier(limits, notes)
    if "pattern" in limits:
        notes.append("the constraint 'pattern'")
    if kind == "string" and form in PERSONAL and values is None:
        return Regenerate(f"{form}-{{i}}"), notes
    if is_unique:
        notes.append("that all values differ")
    if kind == "boolean":
        return _boolean(where, field, values, nullable), notes
    if values is not None:
        is_ordered = flag_of(where, field, "categoriesOrdered", default=False)
        chosen = Ordinal if is_ordered else Categorical
        return checked(where, chosen, field["name"], values, nullable), notes
    if kind in ("number", "integer", "year"):
        codes = _codes(_texts(field.get("missingValues", missing)))
        return _number(where, field, limits, nullable, codes, notes), notes
    if kind in TIMES:
        return _time(where, field, limits, nullable, notes), notes
    return Categorical(nullable=nullable), notes


def _identifier(limits: Entry, notes: list[str]) -> tuple[Column, list[str]]:
    template = template_of(str(limits.get("pattern", "[0-9]+")))
    if template is None:
        notes = [*notes, f"the pattern {limits['pattern']!r}"]
    return Regenerate(template or "{i}"), notes


def _boolean(where: str, field: Entry, values: Any, nullable: bool) -> Column:
    """Return truth values, or words where others stand for them."""
    words = [field.get("falseValues"), field.get("trueValues")]
    are_truths = values is None or all(isinstance(value, bool) for value in values)
    if words == [None, None] and are_truths:
        return Boolean(nullable)
    chosen = [
        sorted({"False", "True"} & usual) if own is None else _texts(own)
        for own, usual in zip(words, (FALSE, TRUE), strict=True)
    ]
    if set(chosen[0]) <= FALSE and set(chosen[1]) <= TRUE:
        return Boolean(nullable)
    listed = [text for part in chosen for text in part]
    return checked(where, Categorical, field["name"], listed, nullable)


def _number(
    where: str,
    field: Entry,
    limits: Entry,
    nullable: bool,
    codes: Sequence[Any],
    notes: list[str],
) -> Column:
    is_whole = field.get("type") != "number"
    lower, upper = (_bound(where, limits, end, is_whole=is_whole) for end in BOUNDS)
    kind = Integer if is_whole else Numeric
    own = field.get(OWN_PROPERTY)
    has_unit = isinstance(own, Mapping) and "format" in own
    if field.get("bareNumber", True) is False and not has_unit:
        notes.append(
            "bareNumber, which names no unit: the column is left to be discovered, or "
            "to be described by a format as '45 %'"
        )
        return kind(nullable=nullable)
    params: dict[str, Any] = {"nullable": nullable, "codes": codes}
    marks = field.get("decimalChar", "."), field.get("groupChar", "")
    if marks != (".", ""):
        form = NumberForm(*marks)
        sample = form.sample(0 if is_whole else None)
        try:
            number_form(sample, is_whole=is_whole)
        except SchemaError:
            raise SchemaError(
                f"{where}, decimalChar and groupChar: must be marks as in '1.234,56' "
                f"or '1 234.56'. Got {marks[0]!r} and {marks[1]!r}."
            ) from None
        params["format"] = sample
    return checked(where, kind, field["name"], lower, upper, **params)


def _bound(where: str, limits: Entry, end: str, *, is_whole: bool) -> Any:
    """Return a bound; an exclusive one of whole numbers is moved by one."""
    exclusive = f"exclusive{end.capitalize()}"
    key = end if end in limits else exclusive
    value = limits.get(key)
    if value is None:
        return None
    number = value
    if isinstance(value, str):
        number = read_number(value)
        number = int(number) if number == number and number % 1 == 0 else number
    if (
        isinstance(number, bool)
        or not isinstance(number, int | float)
        or number != number
    ):
        raise SchemaError(f"{where}, {key}: must be a number. Got {value!r}.")
    if is_whole and isinstance(number, float) and number % 1 == 0:
        number = int(number)
    if is_whole and key == exclusive:
        return number + (1 if end == "minimum" else -1)
    return number


def _time(
    where: str, field: Entry, limits: Entry, nullable: bool, notes: list[str]
) -> Column:
    kind = field["type"]
    given = str(field.get("format", "default")).removeprefix("fmt:")
    form = TIMES[kind] if given in ("default", "any") else given
    if given == "any":
        notes.append("format 'any': text is read in ISO format alone")
    bounds = [limits.get(end, limits.get(f"exclusive{end.capitalize()}"))
              for end in BOUNDS]  # fmt: skip
    lower, upper = (
        time_of_text(f"{where}, {end}:", bound, form)
        for end, bound in zip(BOUNDS, bounds, strict=True)
    )
    resolution = "day" if kind in ("date", "yearmonth") else None
    return checked(
        where, Datetime, field["name"], lower, upper, resolution, nullable, form
    )


def _values(where: str, field: Entry, limits: Entry) -> list[Any] | None:
    """Return the categories that are listed, by `enum` where both are there."""
    listed = field.get("categories")
    values = limits.get("enum", listed)
    if values is None:
        return None
    if not isinstance(values, list):
        key = "enum" if "enum" in limits else "categories"
        raise SchemaError(f"{where}, {key}: must be a list. Got {values!r}.")
    return [
        value.get("value") if isinstance(value, Mapping) else value for value in values
    ]


def _texts(values: Any) -> list[str]:
    """Return texts of a list whose entries may be objects with a label."""
    entries = values if isinstance(values, list) else []
    return [
        str(value.get("value") if isinstance(value, Mapping) else value)
        for value in entries
    ]


def _words(missing: Sequence[str]) -> list[str]:
    """Return the missing values that are no numbers, for a warning.

    Examples
    --------
    >>> _words(["", "NA", "-99"])
    ["'NA'"]
    """
    texts = sorted(set(missing) - {""})
    return [repr(text) for text in texts if math.isnan(read_number(text))]


def _codes(missing: Sequence[str]) -> list[Any]:
    """Return the missing values that could be taken for numbers.

    Examples
    --------
    >>> _codes(["", "NA", "-99", "9.5"])
    [-99, 9.5]
    """
    numbers = [read_number(text) for text in missing]
    return [
        int(number) if number % 1 == 0 else number
        for number in numbers
        if number == number
    ]


# ----------------------------------------------------------------------------
# To a Table Schema.


def frictionless_of_columns(columns: Mapping[str, Column]) -> dict[str, Any]:
    """Return a Table Schema; what it has no property for stands under `skdpgen`.

    Examples
    --------
    >>> content = frictionless_of_columns({"age": Integer(0, 99, codes=[-1])})
    >>> content["fields"][0]["missingValues"], content["fields"][0].get("skdpgen")
    (['', '-1'], None)
    """
    return {
        "$schema": PROFILE,
        "fields": [field_of(name, column) for name, column in columns.items()],
        "fieldsMatch": "subset",  # columns that are left out are discovered
        "missingValues": [""],
    }


def field_of(name: str, column: Column) -> dict[str, Any]:
    """Return the field of a column, from which it can be read back.

    Examples
    --------
    >>> field_of("sex", Categorical(["f", "m"], nullable=False))["constraints"]
    {'required': True}
    """
    check_plain(name, column)
    field = {"name": name} | _field(column)
    # a validator takes codes for missing cells, so it must not require a value there
    if not getattr(column, "nullable", True) and not getattr(column, "codes", ()):
        field.setdefault("constraints", {})["required"] = True
    wanted = column_to_dict(column)
    own: dict[str, Any] = dict(wanted)  # what is read back without it needs no place
    for key in ("type", *sorted(set(wanted) - {"type"})):
        rest = {name: value for name, value in own.items() if name != key}
        if _reads_as(field | ({OWN_PROPERTY: rest} if rest else {}), column):
            own = rest
    return field | ({OWN_PROPERTY: own} if own else {})


def _reads_as(field: Entry, column: Column) -> bool:
    """Say whether a field is read as this column; also a bound may not be readable."""
    try:
        return read_field(field)[0] == column
    except SchemaError:
        return False


def _field(column: Column) -> dict[str, Any]:
    """Return the standard properties of a column, but its name and `required`."""
    if isinstance(column, Drop):
        return {"type": "any"}
    if isinstance(column, Regenerate):
        regex = regex_of(column.template)
        limits = {"unique": True} | ({} if regex is None else {"pattern": regex})
        return {"type": "string", "constraints": limits}
    if isinstance(column, Boolean):
        return {"type": "boolean"}
    if isinstance(column, Categorical):
        return _field_of_categories(column)
    if isinstance(column, Datetime):
        return _field_of_times(column)
    field: dict[str, Any] = {"type": "number"}
    if isinstance(column, Integer):
        field = {"type": "integer"}
    if column.format is not None:
        form, _ = number_form(column.format, is_whole=column.decimals == 0)
        if form.decimal != "." and field["type"] == "number":
            field["decimalChar"] = form.decimal
        if form.thousands:
            field["groupChar"] = form.thousands
        if form.before or form.after:
            field["bareNumber"] = False
    if column.codes:
        field["missingValues"] = ["", *map(str, column.codes)]
    return field | _limits(column.lower, column.upper)


def _field_of_categories(column: Categorical) -> dict[str, Any]:
    """Return categories in a property of version 2 where there is one for them."""
    if column.categories is None:
        return {"type": "string"}
    values = list(column.values)
    kinds = {type(value) for value in values}
    ordered = isinstance(column, Ordinal)
    if kinds <= {str} or kinds == {int}:
        kind = "integer" if kinds == {int} else "string"
        return {"type": kind, "categories": values, "categoriesOrdered": ordered}
    kind = "number" if kinds <= {int, float} else "any"
    return {"type": kind, "constraints": {"enum": values}}


def _field_of_times(column: Datetime) -> dict[str, Any]:
    form = column.format
    written: dict[str, Any] = {}
    if form is None:
        kind = "date" if column.whole_days else "datetime"
    else:
        form = UNPADDED.sub("%", form).replace("%3f", "%f")
        kinds = {(True, True): "datetime", (True, False): "date"}
        kind = kinds.get((has_date(form), has_time_of_day(form)), "time")
        written = {"format": form}
    if column.codes:
        written["missingValues"] = ["", *map(str, column.codes)]
    lower, upper = (
        time_text(bound, form, whole_days=column.whole_days)
        for bound in (column.lower, column.upper)
    )
    return {"type": kind} | written | _limits(lower, upper)


def _limits(lower: object, upper: object) -> dict[str, Any]:
    limits = {
        key: value
        for key, value in zip(BOUNDS, (lower, upper), strict=True)
        if value is not None
    }
    return {"constraints": limits} if limits else {}
