"""Columns from and to the metadata JSON of SDV, versions V1 and V2 of its format."""

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
)
from skdpgen.tables._descriptors import (
    Entry,
    LeftOut,
    Source,
    are_dates,
    check_plain,
    checked,
    chosen_table,
    differences,
    flag_of,
    format_of,
    read_json,
    regex_of,
    template_of,
    time_of_text,
    time_text,
)
from skdpgen.tables._text_forms import UNPADDED

FORMAT_NAME = "SDV metadata"
VERSIONS = ("V1", "V2")
RANGES = ("range_min", "range_max")
MOST_DECIMALS = 9  # of a column here; more are continuous

# what each sdtype may say beside itself, in either version
SDTYPES = {
    "numerical": {*RANGES, "decimal_places", "computer_representation"},
    "datetime": {*RANGES, "datetime_format"},
    "categorical": {"range_values", "order", "order_by", "high_cardinality"},
    "ordinal": {"range_values", "high_cardinality"},
    "boolean": set(),
    "id": {"regex_format"},
    "unknown": {"pii"},
}
# SDV also takes any function of the package Faker, which files mark by `pii`
PERSONAL = {
    *("address", "administrative_unit", "bank_country", "ban", "bban", "city"),
    *("company", "country", "country_code", "credit_card_number", "email"),
    *("first_name", "iban", "ipv4_address", "ipv6_address", "job", "last_name"),
    *("latitude", "license_plate", "longitude", "mac_address", "name"),
    *("phone_number", "postcode", "secondary_address", "ssn", "state"),
    *("state_abbr", "street_address", "street_name", "swift", "swift8", "swift11"),
    *("text", "user_agent_string", "user_name", "vin"),
}
KNOWN_KEYS = {
    *("columns", "primary_key", "alternate_keys", "sequence_key", "sequence_index"),
    *("column_relationships", "METADATA_SPEC_VERSION"),
}

# ----------------------------------------------------------------------------
# From SDV.


def columns_of_sdv(
    source: Source, table: str | None = None
) -> tuple[dict[str, Column], LeftOut]:
    """Return the columns of one table by name, and what is left out.

    Examples
    --------
    >>> columns, _ = columns_of_sdv({"columns": {"left": {"sdtype": "boolean"}}})
    >>> columns
    {'left': Boolean(nullable=True)}
    """
    content = read_json(source, FORMAT_NAME)
    if format_of(content) != "sdv":
        raise SchemaError(
            f"{FORMAT_NAME} must have the key 'tables', or 'columns' with an 'sdtype' "
            "each. Got the keys "
            f"{', '.join(map(repr, content)) or 'of an empty object'}; a Table Schema "
            "is read by `Schema.from_frictionless`, a schema of skdpgen by "
            "`Schema.load`."
        )
    left_out = LeftOut()
    if "tables" in content:
        if not isinstance(content["tables"], Mapping):
            raise SchemaError(f"'tables' of {FORMAT_NAME} must be an object of tables.")
        table, entry = chosen_table(content["tables"], table, FORMAT_NAME)
        left_out.add("relationships", _relationships(content, table))
        keys = {"tables", "relationships", "METADATA_SPEC_VERSION"}
        left_out.add("keys", [repr(key) for key in content if key not in keys])
    else:
        entry = content
    if not isinstance(entry, Mapping) or not isinstance(entry.get("columns"), Mapping):
        raise SchemaError(
            f"A table of {FORMAT_NAME} must have the key 'columns', an object with an "
            f"entry for each column. Got {_keys(entry)}."
        )
    columns = {}
    personal = []
    for name, description in entry["columns"].items():
        column, notes = read_entry(str(name), description)
        columns[str(name)] = column
        left_out.add(f"column {name!r}", notes)
        if isinstance(column, Regenerate) and description["sdtype"] != "id":
            personal.append(f"{name} ({description['sdtype']})")
    left_out.add("personal data, which is not read but made up", personal)
    for line in _of_table(entry, columns):
        left_out.lines.append(line)
    return columns, left_out


def read_entry(name: str, entry: Any) -> tuple[Column, list[str]]:
    """Return the column that an entry describes, and what of it is left out.

    Examples
    --------
    >>> read_entry("age", {"sdtype": "numerical", "computer_representation": "Int8"})
    (Integer(lower=None, upper=None, nullable=True, parse=False), [])
    """
    where = f"Column {name!r} of the {FORMAT_NAME}"
    if not isinstance(entry, Mapping) or not isinstance(entry.get("sdtype"), str):
        raise SchemaError(
            f"{where} must be an object with a text 'sdtype'. Got {_keys(entry)}."
        )
    sdtype = entry["sdtype"]
    if sdtype not in SDTYPES and sdtype not in PERSONAL and "pii" not in entry:
        raise SchemaError(
            f"{where}, sdtype: must be one of {', '.join(SDTYPES)}, a type of personal "
            "data such as email, or any name beside 'pii': true. Got "
            f"{sdtype!r}; correct it, or take the column out to have it discovered."
        )
    allowed = SDTYPES.get(sdtype, {"pii"}) | {"sdtype", "range_is_nullable"}
    notes = [f"the key {key!r}" for key in entry if key not in allowed]
    nullable = flag_of(where, entry, "range_is_nullable", default=True)
    if sdtype == "numerical":
        return _number(where, name, entry, nullable), notes
    if sdtype == "datetime":
        return _time(where, name, entry, nullable), notes
    if sdtype in ("categorical", "ordinal"):
        return _categories(where, name, entry, nullable), notes
    if sdtype == "boolean":
        return Boolean(nullable), notes
    if sdtype == "id":
        regex = entry.get("regex_format") or "[0-9]+"
        template = template_of(str(regex))
        if template is None:
            notes.append(f"regex_format {regex!r}")
            template = f"{_plain(name)}-{{i}}"
        return Regenerate(template), notes
    if not flag_of(where, entry, "pii", default=True):
        return Categorical(nullable=nullable), notes
    if sdtype == "unknown":
        return Drop(), notes
    return Regenerate(f"{_plain(sdtype)}-{{i}}"), notes


def _number(where: str, name: str, entry: Entry, nullable: bool) -> Column:
    bounds = [entry.get(key) for key in RANGES]
    for key, bound in zip(RANGES, bounds, strict=True):
        if bound is not None and (
            isinstance(bound, bool) or not isinstance(bound, int | float)
        ):
            raise SchemaError(f"{where}, {key}: must be a number. Got {bound!r}.")
    decimals = entry.get("decimal_places")
    if decimals is not None and (type(decimals) is not int or decimals < 0):
        raise SchemaError(
            f"{where}, decimal_places: must be a whole number, 0 or more. Got "
            f"{decimals!r}."
        )
    decimals = None if decimals is None or decimals > MOST_DECIMALS else decimals
    representation = str(entry.get("computer_representation", ""))
    is_whole = decimals == 0 or representation.startswith(("Int", "UInt"))
    if is_whole and all(bound is None or bound % 1 == 0 for bound in bounds):
        lower, upper = (None if b is None else int(b) for b in bounds)
        return checked(where, Integer, name, lower, upper, nullable=nullable)
    lower, upper = bounds
    return checked(where, Numeric, name, lower, upper, decimals, nullable=nullable)


def _time(where: str, name: str, entry: Entry, nullable: bool) -> Column:
    form = entry.get("datetime_format")
    if form is not None and not isinstance(form, str):
        raise SchemaError(f"{where}, datetime_format: must be text. Got {form!r}.")
    given = [entry.get(key) for key in RANGES]
    lower, upper = (
        time_of_text(f"{where}, {key}:", value, form)
        for key, value in zip(RANGES, given, strict=True)
    )
    resolution = "day" if form is None and are_dates(*given) else None
    return checked(where, Datetime, name, lower, upper, resolution, nullable, form)


def _categories(where: str, name: str, entry: Entry, nullable: bool) -> Column:
    values = entry.get("range_values", entry.get("order"))
    if values is not None and (not isinstance(values, list) or not values):
        raise SchemaError(
            f"{where}, range_values: must be a list of categories. Got {values!r}."
        )
    is_ordered = entry["sdtype"] == "ordinal" or {"order", "order_by"} & set(entry)
    kind = Ordinal if is_ordered else Categorical
    return checked(where, kind, name, values, nullable)


def _relationships(content: Entry, table: str) -> list[str]:
    """Return how other tables hang together with this one."""
    relationships = content.get("relationships") or []
    named = [one for one in relationships if isinstance(one, Mapping)]
    return [
        f"{one.get('child_table_name')} refers to {one.get('parent_table_name')}"
        for one in named
        if table in (one.get("child_table_name"), one.get("parent_table_name"))
    ] + (
        ["several rows of a child table may be of one person, the guarantee is per row"]
        if any(one.get("child_table_name") == table for one in named)
        else []
    )


def _of_table(entry: Entry, columns: Mapping[str, Column]) -> list[str]:
    """Return what is said of the whole table and is left out."""
    lines = []
    for key in ("primary_key", "alternate_keys"):
        keys = entry.get(key) or []
        keys = keys if isinstance(keys, list) else [keys]
        if any(not isinstance(columns.get(str(k)), Regenerate) for k in keys):
            lines.append(f"{key}: synthetic values need not differ in {_list(keys)}")
    if entry.get("sequence_key"):
        lines.append(
            f"sequence_key {entry['sequence_key']!r}: several rows are of one person, "
            "the guarantee is per row"
        )
    if entry.get("sequence_index"):
        lines.append(f"sequence_index {entry['sequence_index']!r}")
    if entry.get("column_relationships"):
        lines.append("column_relationships")
    besides = [repr(key) for key in entry if key not in KNOWN_KEYS | {"relationships"}]
    if besides and "tables" not in entry:
        lines.append(f"keys {', '.join(besides)}")
    return lines


def _keys(entry: object) -> str:
    if isinstance(entry, Mapping):
        return f"the keys {', '.join(map(repr, entry)) or 'of an empty object'}"
    return type(entry).__name__


def _list(keys: Sequence[Any]) -> str:
    return ", ".join(str(key) for key in keys)


def _plain(name: str) -> str:
    return name.replace("{", "{{").replace("}", "}}")


# ----------------------------------------------------------------------------
# To SDV.


def sdv_of_columns(
    columns: Mapping[str, Column], table: str, version: str
) -> tuple[dict[str, Any], LeftOut]:
    """Return the metadata of a table, and what it cannot state.

    Examples
    --------
    >>> content, left_out = sdv_of_columns({"age": Integer(0, 99)}, "people", "V2")
    >>> content["tables"]["people"]["columns"]["age"]["range_max"], left_out.lines
    (99, [])
    """
    if version not in VERSIONS:
        raise ValueError(
            f"version must be one of {', '.join(VERSIONS)}. Got {version!r} instead."
        )
    left_out = LeftOut()
    entries = {}
    for name, column in columns.items():
        check_plain(name, column)
        entry = entry_of(column) if version == "V2" else _of_v1(entry_of(column))
        entries[name] = entry
        left_out.add(
            f"column {name!r}", differences(column, read_entry(name, entry)[0])
        )
    content = {
        "METADATA_SPEC_VERSION": version,
        "tables": {table: {"columns": entries}},
        "relationships": [],
    }
    return content, left_out


def entry_of(column: Column) -> dict[str, Any]:
    """Return what version V2 says of a column.

    Examples
    --------
    >>> entry_of(Ordinal(["low", "high"]))["sdtype"]
    'ordinal'
    """
    if isinstance(column, Drop):
        return {"sdtype": "unknown", "pii": True}
    if isinstance(column, Regenerate):
        regex = regex_of(column.template)
        return {"sdtype": "id"} | ({} if regex is None else {"regex_format": regex})
    entry: dict[str, Any] = {"sdtype": "boolean"}
    if isinstance(column, Numeric | Integer):
        entry = {"sdtype": "numerical", "decimal_places": column.decimals}
        entry |= {"range_min": column.lower, "range_max": column.upper}
    elif isinstance(column, Datetime):
        entry = _entry_of_time(column)
    elif isinstance(column, Categorical):
        values = None if column.categories is None else list(column.categories)
        kind = "ordinal" if isinstance(column, Ordinal) else "categorical"
        entry = {"sdtype": kind, "range_values": values or None}
    entry = {key: value for key, value in entry.items() if value is not None}
    return entry | {"range_is_nullable": column.nullable}


def _entry_of_time(column: Datetime) -> dict[str, Any]:
    """Return an entry whose format Python itself can read: `%d` instead of `%-d`."""
    form = column.format
    if form is not None:
        form = UNPADDED.sub("%", form).replace("%3f", "%f")
    lower, upper = (
        time_text(bound, form, whole_days=column.whole_days)
        for bound in (column.lower, column.upper)
    )
    is_any_time = column.is_time_of_day and column == Datetime(
        nullable=column.nullable, format=column.format, codes=column.codes
    )
    if is_any_time:  # the bounds of a day, which a format without seconds would round
        lower = upper = None
    return {
        "sdtype": "datetime",
        "datetime_format": form,
        "range_min": lower,
        "range_max": upper,
    }


def _of_v1(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return an entry without what version V1 does not know: ranges and values."""
    kept = {"sdtype": entry["sdtype"]}
    for key in ("datetime_format", "regex_format", "pii"):
        if key in entry:
            kept[key] = entry[key]
    if entry["sdtype"] == "numerical":
        is_whole = entry.get("decimal_places") == 0
        kept["computer_representation"] = "Int64" if is_whole else "Float"
    if entry["sdtype"] == "ordinal":
        kept["sdtype"] = "categorical"
        if "range_values" in entry:
            kept["order"] = entry["range_values"]
        else:
            kept["order_by"] = "alphabetical"
    return kept
