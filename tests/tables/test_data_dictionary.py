import numpy as np
import pandas as pd
import polars as pl
import pytest

from skdpgen import (
    Boolean,
    Categorical,
    Datetime,
    DPIndependentSynthesizer,
    Integer,
    Numeric,
    Ordinal,
    Schema,
)
from skdpgen.exceptions import InterchangeWarning, SchemaError, SchemaWarning
from skdpgen.tables import Drop, Regenerate, read_table
from tests.synthesizers._tables import assert_obeys

LINES = """\
Name, Type, Lower, Upper, Decimals, Categories, Nullable, Format, Template, Unit
age,Integer,0,120,0,,no,,,years
income,number,0,"1,000,000",2,,yes,,,EUR
sex,Categorical,,,,f|m | x,,,,
size,ordinal,,,,S|M|L,no,,,
member,bool,,,,,,,,
since,date,2012-01-01,2024-12-31,,,,,,
day,Datetime,01.01.2012,31.12.2024,,,,%d.%m.%Y,,
note,Drop,,,,,,,,
id,Regenerate,,,,,,,c-{i},
"""
EXPECTED = {
    "age": Integer(0, 120, nullable=False),
    "income": Numeric(0, 1_000_000, decimals=2),
    "sex": Categorical(["f", "m", "x"]),
    "size": Ordinal(["S", "M", "L"], nullable=False),
    "member": Boolean(),
    "since": Datetime("2012-01-01", "2024-12-31", resolution="day"),
    "day": Datetime("2012-01-01", "2024-12-31", format="%d.%m.%Y"),
    "note": Drop(),
    "id": Regenerate("c-{i}"),
}


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_is_read_whatever_separates_it(tmp_path):
    path = write(tmp_path / "a.csv", "\ufeff" + LINES)
    assert Schema.from_dictionary(path).columns == EXPECTED
    assert Schema.from_dictionary(str(path)).check().columns == EXPECTED
    plain = LINES.replace('"1,000,000"', "1000000")
    path = write(tmp_path / "b.csv", plain.replace(",", ";"))
    assert Schema.from_dictionary(path).columns == EXPECTED


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_a_data_frame_is_read(make):
    table = make(
        {
            "name": ["a", "b", "c", "d"],
            "type": ["Numeric", "Integer", "Categorical", "Boolean"],
            "lower": [0.5, 1, None, None],
            "upper": [2.5, 9, None, None],
            "nullable": [True, False, None, None],
        }
    )
    if make is pd.DataFrame:
        table["categories"] = [None, None, [1, 2], np.nan]
    schema = Schema.from_dictionary(table, target="c")
    assert schema.columns == {
        "a": Numeric(0.5, 2.5),
        "b": Integer(1, 9, nullable=False),
        "d": Boolean(),
    }
    assert schema.target == Categorical([1, 2] if make is pd.DataFrame else None)


def test_what_is_left_open_is_left_to_discovery():
    table = pd.DataFrame(
        [("a", "Integer", "", ""), ("b", "Integer", 0, 5), ("c", "Integer", "", "yes")],
        columns=["name", "type", "lower", "parse"],
    )
    table["upper"] = ["", 7, ""]
    table["parse"] = ["", "", "yes"]
    table["lower"] = ["", 0, ""]
    schema = Schema.from_dictionary(table)
    assert list(schema.known().columns) == ["b", "c"]


def test_columns_that_are_not_read_are_named():
    names = ["name", "type", "Minimum", "maximum", "Description"]
    table = pd.DataFrame([("age", "int", 0, 120, "in years")], columns=names)
    with pytest.warns(InterchangeWarning, match=r": 'minimum', 'maximum'\.") as caught:
        schema = Schema.from_dictionary(table)
    assert schema.columns == {"age": Integer()}
    assert caught[0].filename == __file__


WRONG = {
    "type": ("age,whole,0,1,", r"Row 1 \('age'\).*type: must be one of.*'whole'"),
    "no type": ("age,,0,1,", r"Row 1 \('age'\).*type.*Got ''.*discovered"),
    "no name": (",Integer,0,1,", r"Row 1 \(''\).*no name"),
    "twice": ("a,bool,,,\na,bool,,,", r"Row 2 \('a'\).*twice"),
    "number": ("a,bool,,,\nage,int,zero,1,", r"Row 2 \('age'\).*, lower: .*'zero'"),
    "entry": ("sex,bool,0,,", r"'sex'.*lower: must be empty for the type Boolean"),
    "bounds": ("age,int,5,1,", r"Row 1 \('age'\).*lower <= upper.*lower=5"),
    "half": ("age,int,0.5,2,", r"Row 1 \('age'\).*must be whole.*0.5"),
    "time": ("day,date,soon,2020,", r"Row 1 \('day'\).*must be times.*'soon'"),
    "flag": ("age,int,0,1,maybe", r"'age'.*nullable: must be yes or no.*'maybe'"),
}


@pytest.mark.parametrize("name", WRONG)
def test_an_error_names_row_and_entry(name, tmp_path):
    lines, message = WRONG[name]
    path = write(tmp_path / "a.csv", "name,type,lower,upper,nullable\n" + lines)
    with pytest.raises(SchemaError, match=message):
        Schema.from_dictionary(path)


def test_decimals_are_a_whole_number():
    table = pd.DataFrame({"name": ["a"], "type": ["Numeric"], "decimals": ["two"]})
    with pytest.raises(SchemaError, match=r"'a'.*decimals: must be a whole.*'two'"):
        Schema.from_dictionary(table)


def test_what_is_no_dictionary_is_refused(tmp_path):
    path = write(tmp_path / "a.csv", "column,kind\na,int\n")
    with pytest.raises(SchemaError, match=r"name and type.*Got column, kind"):
        Schema.from_dictionary(path)
    with pytest.raises(TypeError, match=r"path of a CSV.*Got dict"):
        Schema.from_dictionary({"age": Integer(0, 1)})
    path = write(tmp_path / "b.csv", LINES)
    with pytest.raises(SchemaError, match=r"target must be.*'churn'.*age, income"):
        Schema.from_dictionary(path, target="churn")


def test_a_dictionary_describes_a_table(tmp_path):
    path = write(tmp_path / "a.csv", "name,type,lower,upper,categories\n"
                 "age,int,0,120,\nleft,categorical,,,0|1\n")  # fmt: skip
    schema = Schema.from_dictionary(path, target="left")
    X, y = pd.DataFrame({"age": range(100)}), pd.Series([0, 1] * 50)
    synth = DPIndependentSynthesizer(10.0, schema=schema).fit(X, y)
    drawn, labels = synth.sample(50)
    assert_obeys(drawn, synth.schema_)
    assert set(labels) == {0, 1}
    assert labels.dtype == y.dtype


PUBLIC = pd.DataFrame({"age": [20, 60], "sex": ["f", "m"]})
PRIVATE = pd.DataFrame({"age": [17, 90] * 50, "sex": ["f", "x"] * 50})


def test_public_rows_make_a_schema_without_a_leak(tmp_path, recwarn):
    schema = Schema.from_public(PUBLIC)
    assert schema == Schema.infer(PUBLIC)
    schema.save(tmp_path / "a.toml")
    for one in (schema, Schema.load(tmp_path / "a.toml"), Schema.of(schema.to_dict())):
        synth = DPIndependentSynthesizer(10.0, schema=one).fit(PRIVATE)
        assert "read off rows that are said to be public" in str(synth.privacy_)
        assert "LEAK" not in str(synth.privacy_)
        assert synth.sample(50)["age"].between(20, 60).all()
    # It does not fit these rows, and nothing else is wrong with it.
    assert {w.category for w in recwarn} <= {SchemaWarning}


def test_a_schema_that_was_inferred_says_so():
    synth = DPIndependentSynthesizer(schema=Schema.infer(PRIVATE)).fit(PRIVATE)
    assert "read off rows (Schema.infer): it must be public" in str(synth.privacy_)
    known = Schema.infer(PRIVATE).known().with_column("age", Integer(0, 120))
    assert "Schema.infer" in known.origin
    own = DPIndependentSynthesizer(schema=Schema({"age": Integer(0, 120)}))
    assert "read off" not in str(own.fit(PRIVATE[["age"]]).privacy_)


DICTS = {
    "columns": {"age": Integer(0, 120), "sex": Categorical(["f", "m"])},
    "plain": {
        "age": {"type": "Integer", "lower": 0, "upper": 120},
        "sex": {"type": "Categorical", "categories": ["f", "m"]},
    },
    "both": {
        "age": Integer(0, 120),
        "sex": {"type": "Categorical", "categories": ["f", "m"]},
    },
    "entries": {"columns": {"age": Integer(0, 120), "sex": Categorical(["f", "m"])}},
}


@pytest.mark.parametrize("name", DICTS)
def test_a_dict_is_a_schema(name):
    synth = DPIndependentSynthesizer(schema=DICTS[name]).fit(PRIVATE)
    assert synth.schema_.columns["age"] == Integer(0, 120, nullable=False)
    assert Schema.of(DICTS[name]) == Schema(DICTS["columns"])


def test_a_dict_has_a_target():
    schema = Schema.of({"columns": {}, "target": Boolean()})
    assert schema.target == Boolean()
    assert Schema.of({"target": Boolean()}).target == Boolean()
    table = pd.DataFrame({"target": [1], "columns": [2]})
    known = Schema.of({"target": Integer(0, 1), "columns": Integer(0, 2)})
    assert known.match(read_table(table)[1]).target is None


@pytest.mark.parametrize("wrong", [(0, 72), "Integer", Integer, 5, None, {"lower": 0}])
def test_a_wrong_column_says_what_to_give(wrong):
    synth = DPIndependentSynthesizer(schema={"age": wrong})
    with pytest.raises(SchemaError, match=r"olumn 'age' must be.*Integer"):
        synth.fit(PRIVATE)
    if not isinstance(wrong, dict):
        with pytest.raises(SchemaError, match=r"'age' must be.*Integer\(0, 120\)"):
            Schema({"age": wrong})
