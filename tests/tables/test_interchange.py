"""Schemas from and to the JSON of SDV and of Frictionless Data."""

import json
import re
import warnings
from dataclasses import replace
from types import SimpleNamespace

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skdpgen import (
    Boolean,
    Categorical,
    Datetime,
    DPIndependentSynthesizer,
    Integer,
    Numeric,
    Ordinal,
    Schema,
    search_cost,
)
from skdpgen.exceptions import InterchangeWarning, SchemaError
from skdpgen.tables import FROM_PUBLIC, Drop, LessEqual, Regenerate, format_of
from skdpgen.tables._descriptors import regex_of, template_of
from skdpgen.tables._schema import FROM_SDV, FROM_TABLE_SCHEMA

# columns that both formats state in full
PLAIN = {
    "number": Numeric(0, 10.5),
    "amount": Numeric(0, 500_000, decimals=2, nullable=False),
    "open number": Numeric(),
    "half open": Numeric(0, None),
    "age": Integer(17, 90),
    "open integer": Integer(),
    "time": Datetime("2012-01-01", "2024-12-31T23:59:59"),
    "zoned": Datetime("2012-01-01T00:00+01:00", "2024-12-31T00:00+01:00"),
    "day": Datetime("2012-01-01", "2024-12-31", resolution="day"),
    "open time": Datetime(nullable=False),
    "written day": Datetime("01.03.2012", "31.12.2024", format="%d.%m.%Y"),
    "dashed day": Datetime("2012-03-01", "2024-12-31", format="%d-%m-%Y"),
    "unbounded day": Datetime(format="%d.%m.%Y"),
    "hour": Datetime(format="%H:%M"),
    "opening": Datetime("2000-01-01T08:00", "2000-01-01T18:00", format="%H:%M"),
    "offset": Datetime("2012", "2024", format="%Y-%m-%dT%H:%M:%S+02:00"),
    "word": Categorical(["a", "b"]),
    "code": Categorical([1, 2], nullable=False),
    "share": Categorical([0.5, 1]),
    "mixed": Categorical(["a", 1]),
    "truth": Categorical([True, False]),
    "open word": Categorical(),
    "level": Ordinal(["low", "high"]),
    "whole level": Ordinal([110, 9999]),
    "share level": Ordinal([0.5, 1.5]),
    "open level": Ordinal(),
    "flag": Boolean(),
    "sure flag": Boolean(nullable=False),
    "dropped": Drop(),
    "id": Regenerate(),
    "padded id": Regenerate("cust.{i:05d}-{{x}}"),
    "named id": Regenerate("c-{i}"),
}
# columns of which SDV cannot state what stands beside them
SPECIAL = {
    "number of whole": (Numeric(0, 10, 0), "the type Numeric (Integer instead)"),
    "coded": (Integer(300, 850, codes=[-7, -8]), "codes=[-7, -8]"),
    "word beside": (Numeric(0, 9, codes=[-9, "N"], parse=True), "codes=[-9, 'N']"),
    "euro": (Numeric(0, 5000, format="€ 2.859,76"), "format='€ 2.859,76'"),
    "per cent": (Integer(0, 100, format="45 %"), "format='45 %'"),
    "hint": (Numeric(0, None, format="1,234.5"), "format='1,234.5'"),
    "parsed": (Integer(0, 9, parse=True), "parse=True"),
    "short day": (Datetime("2012", "2024", format="%-d.%-m.%Y"), "%-d.%-m.%Y"),
    "milliseconds": (Datetime("2012", "2024", format="%Y-%m-%d %H:%M:%S.%3f"), "%3f"),
    "rounded": (Datetime("2012-01-01T10:11:12", "2024", format="%Y-%m-%d %H:%M"),
                "lower='2012-01-01T10:11:12'"),
    "never": (Datetime(format="%d.%m.%Y", codes=["never"]), "codes=['never']"),
    "minute": (Datetime("2012", "2024", resolution="minute"), "resolution='minute'"),
    "others": (Categorical(["a", "b"], other="rest"), "other='rest'"),
    "listed other": (Categorical(["a", "c"], other="c"), "other='c'"),
    "nothing": (Categorical([]), "categories=[]"),
    "hex": (Regenerate("{i:x}"), "template='{i:x}'"),
    "twice": (Regenerate("{i}-{i}"), "template='{i}-{i}'"),
}  # fmt: skip
ALL = PLAIN | {name: column for name, (column, _) in SPECIAL.items()}


def quietly(convert, *args, **params):
    """Return what a conversion gives, and the text of its warning."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = convert(*args, **params)
    assert all(one.category is InterchangeWarning for one in caught)
    assert len(caught) <= 1
    return result, "".join(str(one.message) for one in caught)


# ---------------------------------------------------------------- round trips


@pytest.mark.parametrize("name", ALL)
def test_frictionless_gives_every_column_back(name):
    schema = Schema({name: ALL[name]})
    content = schema.to_frictionless()  # a warning would be an error
    assert Schema.from_frictionless(json.dumps(content)) == schema


@pytest.mark.parametrize("name", PLAIN)
def test_sdv_gives_columns_back(name):
    schema = Schema({name: PLAIN[name]})
    content = schema.to_sdv()
    assert Schema.from_sdv(json.dumps(content)) == schema


@pytest.mark.parametrize("name", SPECIAL)
def test_sdv_warns_of_what_it_cannot_state(name):
    column, lost = SPECIAL[name]
    schema = Schema({name: column})
    with pytest.warns(InterchangeWarning, match=re.escape(lost)) as caught:
        content = schema.to_sdv()
    assert f"column {name!r}" in str(caught[0].message)
    assert caught[0].filename == __file__
    assert Schema.from_sdv(content) != schema


def test_version_1_of_sdv_has_no_bounds_and_says_so():
    schema = Schema({"age": Integer(17, 90), "level": Ordinal(["low", "high"])})
    with pytest.warns(InterchangeWarning, match=r"column 'age': lower=17, upper=90\."):
        content = schema.to_sdv(version="V1")
    assert content["METADATA_SPEC_VERSION"] == "V1"
    columns = content["tables"]["table"]["columns"]
    assert columns["age"] == {
        "sdtype": "numerical",
        "computer_representation": "Int64",
    }
    assert columns["level"] == {"sdtype": "categorical", "order": ["low", "high"]}
    back = Schema.from_sdv(content)
    assert back.columns == {"age": Integer(), "level": schema.columns["level"]}
    assert list(back.known().columns) == ["level"]
    with pytest.raises(ValueError, match="one of V1, V2"):
        schema.to_sdv(version="V3")


RULED = Schema(
    {"hired": Integer(1990, 2025), "left": Integer(1990, 2026)},
    target=Categorical(["no", "yes"], nullable=False),
    other="rest",
    origin=FROM_PUBLIC,
    rules=[LessEqual("hired", "left")],
)


def test_frictionless_keeps_what_is_said_of_the_whole_table(tmp_path):
    path = tmp_path / "schema.json"
    content = RULED.to_frictionless(path, target="churn")
    assert content["fields"][-1]["name"] == "churn"
    back = Schema.from_frictionless(path)
    assert back == RULED
    assert back.origin == FROM_PUBLIC
    other = Schema.from_frictionless(path, target="left")
    assert list(other.columns) == ["hired", "churn"]


def test_sdv_warns_of_what_is_said_of_the_whole_table(tmp_path):
    path = tmp_path / "metadata.json"
    content, said = quietly(RULED.to_sdv, path, table="staff", target="churn")
    assert json.loads(path.read_text()) == content
    for lost in ("LessEqual(low='hired', high='left')", "other: rest", FROM_PUBLIC):
        assert lost in said
    back = Schema.from_sdv(path, target="churn")
    assert back == replace(RULED, rules=(), other="other")
    assert back.origin == FROM_SDV


bounds = st.integers(-(10**6), 10**6)
names = st.text("abcä {}%.-[]1", min_size=1, max_size=6)
words = st.lists(st.text(max_size=4), min_size=1, max_size=4, unique=True)


@st.composite
def columns(draw):
    """Return a column of any type, with much that other formats do not know."""
    nullable = draw(st.booleans())
    lower, upper = sorted([draw(bounds), draw(bounds)])
    kind = draw(st.sampled_from(["number", "integer", "time", "day", "category", "id"]))
    if kind == "number":
        decimals = draw(st.sampled_from([None, 0, 2, 9]))
        codes = draw(st.lists(st.sampled_from([-9, 0.5, "N", "-1"]), unique=True))
        return Numeric(lower / 8, upper / 8, decimals, nullable, codes=codes)
    if kind == "integer":
        written = draw(st.sampled_from([None, "1,234", "1.234", "€ 5", "+5", "45 %"]))
        return Integer(lower, upper, nullable, format=written)
    if kind in ("time", "day"):
        form = draw(st.sampled_from([None, "%d/%m/%y", "%-d.%m.%Y %H:%M", "%Y%m%d"]))
        days = [
            f"20{10 + i % 50}-0{1 + i % 9}-17T0{i % 9}:30:00" for i in (lower, upper)
        ]
        units = ["hour", "minute", "second", None] if kind == "time" else ["day"]
        return Datetime(*sorted(days), draw(st.sampled_from(units)), nullable, form)
    if kind == "category":
        ordered = draw(st.booleans())
        other = draw(st.sampled_from([None, "a", "rest"]))
        return (Ordinal if ordered else Categorical)(draw(words), nullable, other)
    return Regenerate(draw(st.sampled_from(["{i}", "[{i:03d}]", "a{{{i}", "{i:>4}"])))


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(names, columns(), max_size=4), st.booleans())
def test_what_comes_back_is_the_schema_but_for_what_was_warned_of(described, has_rest):
    schema = Schema(described, other="rest" if has_rest else "other")
    content, said = quietly(schema.to_frictionless)
    assert said == ""
    assert Schema.from_frictionless(json.loads(json.dumps(content))) == schema
    for version in ("V2", "V1"):
        content, said = quietly(schema.to_sdv, version=version)
        back, _ = quietly(Schema.from_sdv, json.dumps(content))
        assert list(back.columns) == list(described)
        for name, column in described.items():
            assert (back.columns[name] == column) == (f"column {name!r}: " not in said)
        assert (back.other == schema.other) == ("other: rest" not in said)


@given(st.text("ab{}.[]\\^$ 1-", max_size=8))
def test_templates_survive_regular_expressions(text):
    template = text.replace("{", "{{").replace("}", "}}") + "{i:04d}"
    regex = regex_of(template)
    assert re.fullmatch(regex, template.format(i=17))
    assert template_of(regex) == template


# -------------------------------------------------------------- files of SDV

# in the style of Metadata.detect_from_dataframes(...).save_to_json(...) of SDV 2
DETECTED = {
    "tables": {
        "guests": {
            "columns": {
                "guest_email": {"pii": True, "sdtype": "email"},
                "hotel_id": {"sdtype": "id", "regex_format": "HID_[0-9]{3}"},
                "has_rewards": {
                    "sdtype": "categorical",
                    "range_is_nullable": False,
                    "range_values": [True, False],
                    "high_cardinality": False,
                },
                "room_rate": {
                    "sdtype": "numerical",
                    "range_is_nullable": False,
                    "range_min": 83.19,
                    "range_max": 434.5,
                    "decimal_places": 2,
                },
                "nights": {
                    "sdtype": "numerical",
                    "range_is_nullable": True,
                    "range_min": 1.0,
                    "range_max": 14.0,
                    "decimal_places": 0,
                },
                "checkin": {
                    "sdtype": "datetime",
                    "datetime_format": "%d %b %Y",
                    "range_is_nullable": False,
                    "range_min": "01 Jan 2020",
                    "range_max": "30 Dec 2020",
                },
                "booked": {
                    "sdtype": "datetime",
                    "range_min": "2019-05-01 00:00:00",
                    "range_max": "2020-12-30 19:00:00",
                },
                "comment": {"sdtype": "categorical", "high_cardinality": True},
            },
            "primary_key": "guest_email",
        },
        "hotels": {
            "columns": {
                "hotel_id": {"sdtype": "id", "regex_format": "HID_[0-9]{3}"},
                "rating": {"sdtype": "numerical"},
            },
            "primary_key": "hotel_id",
        },
    },
    "relationships": [
        {
            "parent_table_name": "hotels",
            "parent_primary_key": "hotel_id",
            "child_table_name": "guests",
            "child_foreign_key": "hotel_id",
        }
    ],
    "METADATA_SPEC_VERSION": "V2",
}
SINGLE = {
    "primary_key": "user_id",
    "alternate_keys": ["card", "tier"],
    "sequence_key": "user_id",
    "sequence_index": "renewed",
    "METADATA_SPEC_VERSION": "SINGLE_TABLE_V1",
    "columns": {
        "user_id": {"sdtype": "id", "regex_format": "[A-Z]{2}_[0-9]{3}"},
        "age": {"sdtype": "numerical", "computer_representation": "Int16"},
        "paid": {"sdtype": "numerical", "computer_representation": "Float"},
        "tier": {"sdtype": "categorical", "order": ["silver", "gold"]},
        "size": {"sdtype": "categorical", "order_by": "numerical_value"},
        "active": {"sdtype": "boolean"},
        "renewed": {"sdtype": "datetime", "datetime_format": "%Y-%m-%d"},
        "card": {"sdtype": "credit_card_number", "pii": True},
        "city": {"sdtype": "city", "pii": False},
        "plate": {"sdtype": "automotive_thing", "pii": True},
        "notes": {"sdtype": "unknown", "pii": True},
    },
    "column_relationships": [{"type": "address", "column_names": ["city"]}],
}


def test_one_table_of_several_is_read(tmp_path):
    path = tmp_path / "metadata.json"
    path.write_text(json.dumps(DETECTED))
    schema, said = quietly(Schema.from_sdv, path, table="guests")
    assert schema.columns == {
        "guest_email": Regenerate("email-{i}"),
        "hotel_id": Regenerate("HID_{i:03d}"),
        "has_rewards": Categorical([True, False], nullable=False),
        "room_rate": Numeric(83.19, 434.5, 2, nullable=False),
        "nights": Integer(1, 14),
        "checkin": Datetime(
            "2020-01-01", "2020-12-30", nullable=False, format="%d %b %Y"
        ),
        "booked": Datetime("2019-05-01", "2020-12-30T19:00:00"),
        "comment": Categorical(),
    }
    assert schema.origin == FROM_SDV
    assert "guests refers to hotels" in said
    assert "the guarantee is per row" in said
    assert "guest_email (email)" in said


def test_a_file_of_one_table_and_the_older_version():
    schema, said = quietly(Schema.from_sdv, json.dumps(SINGLE), target="tier")
    assert schema.target == Ordinal(["silver", "gold"])
    assert schema.columns == {
        "user_id": Regenerate("user_id-{i}"),
        "age": Integer(),
        "paid": Numeric(),
        "size": Ordinal(),
        "active": Boolean(),
        "renewed": Datetime(format="%Y-%m-%d"),
        "card": Regenerate("credit_card_number-{i}"),
        "city": Categorical(),
        "plate": Regenerate("automotive_thing-{i}"),
        "notes": Drop(),
    }
    for lost in (
        "column 'user_id': regex_format '[A-Z]{2}_[0-9]{3}'",
        "alternate_keys: synthetic values need not differ in card, tier",
        "sequence_key 'user_id': several rows are of one person",
        "sequence_index 'renewed'",
        "column_relationships",
        "card (credit_card_number), plate (automotive_thing)",
    ):
        assert lost in said
    assert "primary_key" not in said


def test_objects_of_other_packages_are_taken():
    class Metadata:
        def to_dict(self):
            return {"columns": {"active": {"sdtype": "boolean"}}}

    assert Schema.from_sdv(Metadata()).columns == {"active": Boolean()}


def sdv(**entry):
    return {"columns": {"x": entry}}


WRONG_SDV = {
    "several tables": (DETECTED, "2 tables: 'guests', 'hotels'.*`table=`"),
    "no table": ({"tables": {}}, "0 tables: none"),
    "tables of a list": ({"tables": []}, "must be an object"),
    "no JSON": ("{'columns': 1}", "must be JSON.*line 1"),
    "a list": ("[1]", "must be a JSON object. Got list"),
    "no columns": ({"tables": {"a": {"primary_key": "b"}}}, "'columns'.*'primary_key'"),
    "another format": ({"fields": []}, "Schema.from_frictionless"),
    "nothing": ({}, "an empty object"),
    "no sdtype": (sdv(type="numerical") | {"tables": {"a": sdv(pii=True)}}, "'sdtype'"),
    "unknown sdtype": (sdv(sdtype="numercial"), "numerical, datetime.*'numercial'"),
    "a column of text": ({"tables": {"a": {"columns": {"x": "id"}}}}, "Got str"),
    "bound of text": (sdv(sdtype="numerical", range_min="0"), "range_min: must be"),
    "bounds": (sdv(sdtype="numerical", range_min=2, range_max=1), "lower <= upper"),
    "decimals": (sdv(sdtype="numerical", decimal_places=-1), "decimal_places"),
    "time": (sdv(sdtype="datetime", range_min="soon", datetime_format="%Y"), "'%Y'"),
    "no time": (sdv(sdtype="datetime", range_min="soon"), "must be times"),
    "time of number": (sdv(sdtype="datetime", range_min=3), "time as text"),
    "format": (sdv(sdtype="datetime", datetime_format="day"), "format of a Datetime"),
    "format of number": (sdv(sdtype="datetime", datetime_format=3), "must be text"),
    "values": (sdv(sdtype="categorical", range_values="ab"), "list of categories"),
    "values twice": (sdv(sdtype="ordinal", range_values=["a", "a"]), "distinct"),
    "nullable": (sdv(sdtype="boolean", range_is_nullable="no"), "true or false"),
    "pii": (sdv(sdtype="email", pii="yes"), "pii: must be true or false"),
}


@pytest.mark.parametrize("case", WRONG_SDV)
def test_odd_files_of_sdv_say_what_is_wrong(case):
    content, message = WRONG_SDV[case]
    with pytest.raises(SchemaError, match=f"(?s){message}"):
        Schema.from_sdv(content)


def test_other_errors_of_names_and_sources(tmp_path):
    with pytest.raises(SchemaError, match="there are 'guests', 'hotels'"):
        Schema.from_sdv(DETECTED, table="rooms")
    with pytest.raises(SchemaError, match=r"target must be a column.*hotel_id, rating"):
        Schema.from_sdv(DETECTED, table="hotels", target="stars")
    with pytest.raises(SchemaError, match="must be a column that is learnt"):
        Schema.from_sdv(DETECTED, table="hotels", target="hotel_id")
    with pytest.raises(TypeError, match="path of a JSON file"):
        Schema.from_sdv(3)
    with pytest.raises(FileNotFoundError):
        Schema.from_sdv(tmp_path / "none.json")
    (tmp_path / "latin.json").write_bytes(b'{"a": "\xe4"}')
    with pytest.raises(SchemaError, match="UTF-8"):
        Schema.from_sdv(tmp_path / "latin.json")
    with pytest.raises(SchemaError, match=r"Schema\.from_sdv"):
        Schema.from_dict(DETECTED)
    with pytest.raises(SchemaError, match="must differ as text"):
        Schema({0: Boolean(), "0": Boolean()}).to_sdv()
    with pytest.raises(SchemaError, match="by `target=`"):
        Schema({"target": Boolean()}, Boolean()).to_frictionless()
    with pytest.raises(SchemaError, match="text, numbers or truth values"):
        Schema({"a": Categorical([(1, 2)])}).to_sdv()


def test_keys_that_are_not_known_are_named():
    _, said = quietly(Schema.from_sdv, sdv(sdtype="boolean", colour="red"))
    assert "column 'x': the key 'colour'" in said


# ------------------------------------------------- files of Frictionless Data

PACKAGE = {
    "name": "hospital",
    "profile": "tabular-data-package",
    "resources": [
        {
            "name": "stays",
            "path": "stays.csv",
            "schema": {
                "fields": [
                    {"name": "stay_id", "type": "integer", "title": "Number"},
                    {
                        "name": "age",
                        "type": "integer",
                        "constraints": {"required": True, "minimum": "0",
                                        "exclusiveMaximum": 121},
                    },
                    {
                        "name": "cost",
                        "type": "number",
                        "decimalChar": ",",
                        "groupChar": ".",
                        "constraints": {"minimum": 0, "maximum": 1e6},
                    },
                    {"name": "share", "type": "number", "bareNumber": False,
                     "constraints": {"minimum": 0, "maximum": 100}},
                    {
                        "name": "sex",
                        "type": "string",
                        "constraints": {"enum": ["f", "m"], "pattern": "f|m"},
                    },
                    {
                        "name": "pain",
                        "type": "integer",
                        "categories": [{"value": 0, "label": "none"},
                                       {"value": 1, "label": "some"}],
                        "categoriesOrdered": True,
                    },
                    {"name": "weight", "type": "number",
                     "missingValues": ["", "-99", {"value": "NA", "label": "no"}]},
                    {"name": "admitted", "type": "date",
                     "constraints": {"minimum": "2020-01-01",
                                     "maximum": "2024-12-31"}},
                    {"name": "seen", "type": "datetime",
                     "format": "fmt:%d/%m/%Y %H:%M"},
                    {"name": "at", "type": "time",
                     "constraints": {"minimum": "08:00:00", "maximum": "18:00:00"}},
                    {"name": "born", "type": "year",
                     "constraints": {"minimum": 1900, "maximum": 2024}},
                    {"name": "month", "type": "yearmonth",
                     "constraints": {"minimum": "2020-01", "maximum": "2024-12"}},
                    {"name": "any time", "type": "datetime", "format": "any"},
                    {"name": "emergency", "type": "boolean"},
                    {"name": "insured", "type": "boolean", "trueValues": ["yes"],
                     "falseValues": ["no"]},
                    {"name": "mail", "type": "string", "format": "email"},
                    {"name": "badge", "type": "string",
                     "constraints": {"unique": True, "pattern": "^B-\\d{4}$"}},
                    {"name": "note", "type": "string",
                     "constraints": {"maxLength": 9}},
                    {"name": "place", "type": "geopoint"},
                    {"name": "whatever"},
                ],
                "missingValues": ["", "-", "-1"],
                "primaryKey": "stay_id",
                "foreignKeys": [{"fields": "ward", "reference": {}}],
            },
        },
        {"name": "wards", "schema": {"fields": [{"name": "ward", "type": "string"}]}},
    ],
}  # fmt: skip


def test_a_resource_of_a_data_package_is_read():
    schema, said = quietly(Schema.from_frictionless, PACKAGE, table="stays")
    assert schema.columns == {
        "stay_id": Regenerate(),
        "age": Integer(0, 120, nullable=False, codes=[-1]),
        "cost": Numeric(0, 1e6, codes=[-1], format="1.234,56…"),
        "share": Numeric(),
        "sex": Categorical(["f", "m"]),
        "pain": Ordinal([0, 1]),
        "weight": Numeric(codes=[-99]),
        "admitted": Datetime("2020-01-01", "2024-12-31", resolution="day"),
        "seen": Datetime(format="%d/%m/%Y %H:%M"),
        "at": Datetime("2000-01-01T08:00", "2000-01-01T18:00", format="%H:%M:%S"),
        "born": Integer(1900, 2024, codes=[-1]),
        "month": Datetime("2020-01-01", "2024-12-01", format="%Y-%m"),
        "any time": Datetime(),
        "emergency": Boolean(),
        "insured": Categorical(["no", "yes"]),
        "mail": Regenerate("email-{i}"),
        "badge": Regenerate("B-{i:04d}"),
        "note": Categorical(),
        "place": Categorical(),
        "whatever": Categorical(),
    }
    assert schema.origin == FROM_TABLE_SCHEMA
    for lost in (
        "field 'share': bareNumber",
        "field 'sex': the constraint 'pattern'",
        "field 'any time': format 'any'",
        "field 'note': the constraint 'maxLength'",
        "field 'place': the type 'geopoint'",
        "foreignKeys",
        "'-'",
    ):
        assert lost in said
    assert "'-1'" not in said


def test_codes_may_lie_outside_the_bounds_of_a_table_schema():
    """A validator that knows no codes takes them for missing."""
    schema = Schema({"score": Integer(300, 850, codes=[-7])})
    (field,) = schema.to_frictionless()["fields"]
    assert field == {
        "name": "score",
        "type": "integer",
        "missingValues": ["", "-7"],
        "constraints": {"minimum": 300, "maximum": 850},
    }


def test_a_column_with_codes_is_not_required():
    schema = Schema({"score": Integer(300, 850, nullable=False, codes=[-7])})
    content = schema.to_frictionless()
    assert "required" not in content["fields"][0]["constraints"]
    assert content["fields"][0]["skdpgen"] == {"nullable": False}
    assert Schema.from_frictionless(content) == schema


def test_an_edit_of_the_standard_properties_counts():
    content = Schema({"a": Numeric(0, 9, 2), "b": Categorical(["x"], other="o")})
    content = content.to_frictionless()
    content["fields"][0]["constraints"]["maximum"] = 5
    content["fields"][1]["categories"].insert(0, "y")
    assert Schema.from_frictionless(content).columns == {
        "a": Numeric(0, 5, 2),
        "b": Categorical(["y", "x"], other="o"),
    }


def field(**entry):
    return {"fields": [{"name": "x", **entry}]}


WRONG_FRICTIONLESS = {
    "several resources": (PACKAGE, "2 tables: 'stays', 'wards'"),
    "SDV": (DETECTED, "Schema.from_sdv"),
    "no fields": ({"fields": {}}, "a list of fields"),
    "resources": ({"resources": {}}, "must be a list"),
    "schema elsewhere": ({"resources": [{"schema": "s.json"}]}, "by the path of that"),
    "no name": ({"fields": [{"type": "string"}]}, "Field 1.*name of its own"),
    "twice": ({"fields": [{"name": "a"}, {"name": "a"}]}, "Field 2.*'a'"),
    "type": (field(type="text"), "type: must be one of string.*'text'"),
    "constraints": (field(type="string", constraints=[]), "must be an object"),
    "enum": (field(type="string", constraints={"enum": "ab"}), "enum: must be a list"),
    "categories": (field(type="string", categories="ab"), "categories: must be a list"),
    "bound": (field(type="number", constraints={"minimum": "low"}), "minimum: must be"),
    "time": (field(type="date", format="%Y", constraints={"minimum": "x"}), "'%Y'"),
    "required": (field(type="date", constraints={"required": 1}), "true or false"),
    "marks": (field(type="number", decimalChar="x"), "decimalChar and groupChar"),
    "own": (field(type="number", skdpgen=3), "skdpgen: must be an object"),
    "own column": (field(type="number", skdpgen={"colour": 1}), "takes.*colour"),
    "own table": (field(type="number") | {"skdpgen": 3}, "must be an object"),
}


@pytest.mark.parametrize("case", WRONG_FRICTIONLESS)
def test_odd_table_schemas_say_what_is_wrong(case):
    content, message = WRONG_FRICTIONLESS[case]
    with pytest.raises(SchemaError, match=f"(?s){message}"):
        Schema.from_frictionless(content)


# ------------------------------------------------------------------- the mark


@pytest.mark.parametrize(
    ("read", "content", "mark"),
    [
        (Schema.from_sdv, sdv(sdtype="boolean"), FROM_SDV),
        (Schema.from_frictionless, field(type="boolean"), FROM_TABLE_SCHEMA),
    ],
    ids=["sdv", "frictionless"],
)
def test_files_of_others_are_marked_unless_the_user_vouches(read, content, mark):
    assert read(content).origin == mark
    assert read(content).columns["x"].origin == mark
    assert read(content, detected=False).origin == ""


def test_certificates_repeat_the_mark():
    schema = Schema.from_sdv(sdv(sdtype="boolean"))
    X = pd.DataFrame({"x": [True, False] * 200})
    report = DPIndependentSynthesizer(schema=schema).fit(X).privacy_
    assert FROM_SDV in report.statements


@pytest.mark.parametrize("detected", [True, False])
def test_a_search_says_that_its_schema_may_be_detected(detected):
    schema = Schema.from_sdv(sdv(sdtype="boolean"), detected=detected)
    estimator = DPIndependentSynthesizer(schema=schema)
    done = SimpleNamespace(
        estimator=estimator,
        n_splits_=3,
        cv=3,
        cv_results_={"params": [{"epsilon": 0.5}]},
        refit=True,
    )
    assert search_cost(done).is_inferred == detected


def test_formats_are_recognised_by_content():
    assert format_of(DETECTED) == format_of(SINGLE) == "sdv"
    assert format_of(PACKAGE) == format_of(field()) == "frictionless"
    assert format_of(RULED.to_dict()) == format_of({}) == "skdpgen"
    assert format_of(RULED.to_frictionless()) == "frictionless"


# ------------------------------------------------- nothing is left out in silence

LEFT_OUT = {  # a field, and what the warning names
    "text with a bound": (
        {"type": "string", "constraints": {"minimum": "b", "enum": ["a", "b"]}},
        "the constraint 'minimum'",
    ),
    "a truth value with bounds": (
        {"type": "boolean", "constraints": {"exclusiveMaximum": 1}},
        "the constraint 'exclusiveMaximum'",
    ),
    "days that differ": (
        {"type": "date", "constraints": {"unique": True}},
        "that all values differ",
    ),
    "a pattern of addresses": (
        {"type": "string", "format": "email", "constraints": {"pattern": "a.*"}},
        "the constraint 'pattern'",
    ),
    "words of one field that are missing": (
        {"type": "string", "missingValues": ["", "-"]},
        "missingValues",
    ),
}


@pytest.mark.parametrize("name", LEFT_OUT)
def test_what_a_column_type_cannot_hold_is_named(name):
    field, lost = LEFT_OUT[name]
    _, said = quietly(Schema.from_frictionless, {"fields": [{"name": "a"} | field]})
    assert f"Left out: field 'a': {lost}" in said


def test_unknown_keys_of_a_whole_file_are_named():
    content = {"fields": [{"name": "a", "type": "boolean"}], "title": "A", "rows": 9}
    _, said = quietly(Schema.from_frictionless, content)
    assert said.endswith("Left out: keys: 'rows'.")
    content = {"tables": {"t": {"columns": {"a": {"sdtype": "boolean"}}}}, "rows": 9}
    _, said = quietly(Schema.from_sdv, content)
    assert said.endswith("Left out: keys: 'rows'.")
