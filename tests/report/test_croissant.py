"""The Croissant description of a synthetic file: true of the file, and public."""

import gzip
import hashlib
import json
from types import SimpleNamespace

import pandas as pd
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
from skdpgen.privacy import Ledger, PrivacyBudget
from skdpgen.report import write_croissant
from skdpgen.tables import Regenerate

SCHEMA = Schema(
    {
        "age": Integer(0, 120, codes=[-1]),
        "income": Numeric(0, 9.5, nullable=False),
        "grade": Integer(1, 6, codes=["N"], parse=True),
        "price": Numeric(0, 100, format="€ 2.859,76"),
        "since": Datetime("2012-01-01", "2024-12-31", resolution="day"),
        "seen": Datetime("2012-01-01", "2024-12-31T12:00:00"),
        "read": Datetime("2012", "2024", format="%d.%m.%Y"),
        "stamp": Datetime("2012", "2024", format="%Y-%m-%d %H:%M"),
        "midnight": Datetime("2012", "2024", "day", format="%Y-%m-%d %H:%M"),
        "region": Categorical(["north", "south"], other="else"),
        "floor": Ordinal([0, 1, 2]),
        "share": Categorical([0.5, 1]),
        "word of many": Categorical([f"w{i}" for i in range(80)]),
        "owns / home": Boolean(),
        "ö id": Regenerate("c-{i}"),
    },
    target=Categorical(["left", "stayed"], nullable=False),
)
TYPES = {
    "age": "sc:Integer",
    "income": "sc:Float",
    "grade": "sc:Text",
    "price": "sc:Text",
    "since": "sc:Date",
    "seen": "sc:DateTime",
    "read": "sc:Text",
    "stamp": "sc:DateTime",
    "midnight": "sc:DateTime",
    "region": "sc:Text",
    "floor": "sc:Integer",
    "share": "sc:Float",
    "word of many": "sc:Text",
    "owns / home": "sc:Boolean",
    "ö id": "sc:Text",
    "churn": "sc:Text",
}


class Fitted(SimpleNamespace):
    """A fit of which nothing but the schema and the certificate can be read."""


def fitted(schema=SCHEMA, epsilon=1.0):
    report = Ledger(PrivacyBudget(epsilon, 1e-5)).report(["number of rows: public"])
    return Fitted(schema_=schema, privacy_=report)


def fields(content):
    return {field["name"]: field for field in content["recordSet"][0]["field"]}


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "my rows.csv"
    path.write_text(",".join(TYPES) + "\n" + "," * (len(TYPES) - 1) + "\n", "utf-8")
    return path


def test_it_is_made_of_schema_certificate_and_file_alone(file):
    content = write_croissant(fitted(), file)
    written = (file.parent / "my rows.croissant.json").read_text("utf-8")
    assert json.loads(written) == content
    assert content["conformsTo"] == "http://mlcommons.org/croissant/1.0"
    assert {name: one["dataType"] for name, one in fields(content).items()} == TYPES
    (described,) = content["distribution"]
    assert described["name"] == "my rows.csv"
    assert described["sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()
    assert described["contentSize"] == f"{file.stat().st_size} B"
    assert described["encodingFormat"] == "text/csv"


def test_the_guarantee_is_stated(file):
    content = write_croissant(fitted(), file)
    privacy = content["privacy"]
    assert privacy["epsilon"] == 1.0
    assert privacy["delta"] == 1e-5
    assert privacy["adjacency"] == "replace"
    assert privacy["unit"] == "one row"
    assert privacy["method"] == "Fitted"
    assert privacy["software"] == "skdpgen"
    assert privacy["softwareVersion"]
    assert privacy["statements"] == ["number of rows: public"]
    assert privacy["promise"] in content["description"]
    assert content["@context"]["privacy"]["@type"] == "@json"


def test_no_guarantee_is_stated_as_such(file):
    content = write_croissant(fitted(epsilon=float("inf")), file)
    assert content["privacy"]["epsilon"] is None
    assert content["privacy"]["promise"].startswith("NOT PRIVATE")
    assert "NOT PRIVATE" in content["description"]


def test_fields_name_their_column_and_say_what_it_holds(file):
    content = write_croissant(fitted(), file)
    (described,) = content["distribution"]
    found = fields(content)
    for name, one in found.items():
        assert one["source"]["extract"] == {"column": name}
        assert one["source"]["fileObject"] == {"@id": described["@id"]}
    names = [one["@id"] for one in found.values()]
    assert len(set(names)) == len(names)
    assert all(" " not in name and name.count("/") == 1 for name in names)
    said = {name: one["description"] for name, one in found.items()}
    assert said["age"] == (
        "Whole number from 0 to 120, or one of the codes -1. May be missing."
    )
    assert said["income"] == "Number from 0 to 9.5."
    assert said["price"].endswith("written as € 2.859,76. May be missing.")
    assert said["since"] == "Date from 2012-01-01 to 2024-12-31. May be missing."
    assert said["region"] == "One of: north, south, else. May be missing."
    assert said["word of many"] == "One of 80 categories. May be missing."
    assert said["churn"] == "One of: left, stayed."


def test_what_only_the_owner_knows_is_taken_or_left_out(file, tmp_path):
    path = tmp_path / "about.json"
    content = write_croissant(
        fitted(),
        file,
        path,
        name="Customers",
        license="https://creativecommons.org/publicdomain/zero/1.0/",
        url="https://example.org/customers",
        creator="Example Bank",
        date_published="2026-11-25",
    )
    assert path.exists()
    assert content["name"] == "Customers"
    assert content["creator"] == {"@type": "Organization", "name": "Example Bank"}
    assert content["datePublished"] == "2026-11-25"
    left = write_croissant(fitted(), file)
    assert not {"license", "url", "creator", "datePublished"} & set(left)


def test_numbers_with_a_decimal_comma_are_text(file):
    types = fields(write_croissant(fitted(), file, decimal=","))
    assert types["income"]["dataType"] == "sc:Text"
    assert types["age"]["dataType"] == "sc:Integer"


@pytest.mark.parametrize("ending", ["csv.gz", "tsv", "parquet", "feather"])
def test_other_files(tmp_path, ending):
    file = tmp_path / f"a.{ending}"
    schema = Schema({"n": Integer(0, 9), "t": Datetime("2020", "2021"), "b": Boolean()})
    table = pd.DataFrame(
        {
            "n": [1.5],  # whatever the schema says, the file declares its types
            "t": pd.to_datetime(["2020-02-02"]),
            "b": [True],
            "y": pd.Series(["left"]).astype("category"),
        }
    )
    if ending == "csv.gz":
        file.write_bytes(gzip.compress(table.to_csv(index=False).encode()))
    elif ending == "tsv":
        table.to_csv(file, sep="\t", index=False)
    else:
        getattr(table, f"to_{ending}")(file)
    content = write_croissant(fitted(Schema(schema.columns, SCHEMA.target)), file)
    assert (tmp_path / "a.croissant.json").exists()
    is_text = ending in ("csv.gz", "tsv")
    assert [one["dataType"] for one in fields(content).values()] == [
        "sc:Integer" if is_text else "sc:Float",
        "sc:DateTime",
        "sc:Boolean",
        "sc:Text",
    ]
    assert (
        content["distribution"][0]["encodingFormat"]
        == {
            "csv.gz": "application/gzip",
            "tsv": "text/tab-separated-values",
            "parquet": "application/x-parquet",
            "feather": "application/vnd.apache.arrow.file",
        }[ending]
    )


def test_a_file_of_something_else_is_refused(tmp_path):
    schema = Schema({"n": Integer(0, 9)})
    path = tmp_path / "a.csv"
    path.write_text(",n\n0,1\n")
    with pytest.raises(ValueError, match="index=False"):
        write_croissant(fitted(schema), path)
    path.write_text("n,x,y\n1,2,3\n")
    with pytest.raises(ValueError, match="'x', 'y'"):
        write_croissant(fitted(Schema(schema.columns, SCHEMA.target)), path)
    with pytest.raises(ValueError, match="must end in one of"):
        write_croissant(fitted(schema), tmp_path / "a.xlsx")
    assert not (tmp_path / "a.croissant.json").exists()


def test_a_real_fit_is_described(tmp_path):
    X = pd.DataFrame({"age": [17, 90] * 200, "sex": ["f", "m"] * 200})
    synthesizer = DPIndependentSynthesizer(schema={"age": Integer(0, 120)}).fit(X)
    file = tmp_path / "synthetic.csv"
    synthesizer.sample(20, random_state=0).to_csv(file, index=False)
    content = write_croissant(synthesizer, file)
    assert content["privacy"]["method"] == "DPIndependentSynthesizer"
    assert list(fields(content)) == ["age", "sex"]
    assert content["privacy"]["statements"] == list(synthesizer.privacy_.statements)
