"""Schemas of other tools, and Croissant, on the command line."""

import hashlib
import json

import numpy as np
import pytest
from click.testing import CliRunner

from skdpgen import Categorical, Integer, Schema, load
from skdpgen.cli import main
from skdpgen.datasets import load_example
from skdpgen.tables._schema import FROM_SDV

pytestmark = pytest.mark.filterwarnings("ignore::skdpgen.exceptions.RareValuesWarning")
NAMES = ["age", "region", "income"]
AGE = {"sdtype": "numerical", "range_min": 18, "range_max": 110, "decimal_places": 0}
METADATA = {
    "METADATA_SPEC_VERSION": "V2",
    "tables": {
        "customers": {
            "columns": {
                "age": AGE,
                "region": {"sdtype": "categorical"},
                "churn": {"sdtype": "categorical", "range_values": ["left", "stayed"]},
            }
        },
        "shops": {"columns": {"shop": {"sdtype": "id"}}},
    },
    "relationships": [],
}
MARK = "may have been detected from the rows"


def run(*arguments, code=0):
    found = CliRunner().invoke(main, [str(one) for one in arguments])
    assert found.exit_code == code, found.output
    return found.output


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("interchange")
    X, y = load_example(1000)
    X[NAMES].assign(churn=y).to_csv(folder / "people.csv", index=False)
    (folder / "metadata.json").write_text(json.dumps(METADATA))
    (folder / "broken.json").write_text("{'a': 1}")
    (folder / "native.json").write_text(Schema({"age": Integer(18, 99)}).to_json())
    np.savez(folder / "x.npz", x=np.zeros((4, 8, 8), np.uint8))
    return folder


@pytest.fixture(scope="module")
def model(folder):
    said = run("fit", folder / "people.csv", "--target", "churn", "--schema",
               folder / "metadata.json", "--table", "customers", "--quiet",
               "--method", "independent", "--epsilon", 20,
               "--out", folder / "model")  # fmt: skip
    assert MARK in said
    assert "discovered: region." in said
    return folder / "model"


def test_fit_takes_metadata_of_sdv(model):
    synthesizer = load(model / "model.skdpgen")
    age = synthesizer.schema_.columns["age"]
    assert (age.lower, age.upper) == (18, 110)
    assert list(synthesizer.classes_) == ["left", "stayed"]
    assert synthesizer.schema_.origin == FROM_SDV
    assert MARK in (model / "certificate.txt").read_text()


def test_a_sample_is_described_beside_its_file(model, tmp_path):
    said = run("sample", model, "-n", 50, "-o", tmp_path / "s.csv", "--croissant",
               "--quiet")  # fmt: skip
    assert "Add license, url, creator and datePublished" in said
    content = json.loads((tmp_path / "s.croissant.json").read_text())
    digest = hashlib.sha256((tmp_path / "s.csv").read_bytes()).hexdigest()
    assert content["distribution"][0]["sha256"] == digest
    fields = content["recordSet"][0]["field"]
    assert [field["name"] for field in fields] == [*NAMES, "churn"]
    assert content["privacy"]["epsilon"] == 20.0


def test_only_files_of_tables_are_described(model, folder):
    said = run("sample", model, "-o", "-", "--croissant", code=2)
    assert "written to a file" in said


def test_schemas_are_converted_both_ways(folder, tmp_path):
    table = ("--table", "customers", "--target", "churn")
    source = folder / "metadata.json"
    said = run("schema", "convert", source, *table, "-o", tmp_path / "a.toml")
    assert MARK in said
    text = (tmp_path / "a.toml").read_text()
    assert '# [columns."region"]\n# type = "Categorical"\n' in text
    expected = Schema({"age": Integer(18, 110)}, Categorical(["left", "stayed"]))
    assert Schema.load(tmp_path / "a.toml") == expected
    assert Schema.load(tmp_path / "a.toml").origin == FROM_SDV

    said = run("schema", "convert", source, *table, "-o", tmp_path / "b.json",
               "--to", "frictionless", "--not-detected")  # fmt: skip
    assert MARK not in said
    back = Schema.from_frictionless(tmp_path / "b.json")
    assert back.origin == ""
    assert back.known() == expected

    run("schema", "convert", tmp_path / "b.json", "-o", tmp_path / "c.json",
        "--to", "sdv", "--target", "churn")  # fmt: skip
    again = Schema.from_sdv(tmp_path / "c.json", target="churn")
    assert again == back
    said = run("schema", "convert", tmp_path / "a.toml", "-o", tmp_path / "d.json",
               "--to", "sdv1")  # fmt: skip
    assert "lower=18, upper=110" in said
    assert "the mark of the schema" in said
    content = json.loads((tmp_path / "d.json").read_text())
    assert content["METADATA_SPEC_VERSION"] == "V1"


def test_schemas_of_other_tools_are_checked(folder):
    said = run("schema", "check", folder / "metadata.json", folder / "people.csv",
               "--target", "churn", "--table", "customers")  # fmt: skip
    assert "1 columns described, 2 left to private discovery" in said
    assert "1 columns described" in run("schema", "check", folder / "native.json")


ERRORS = {
    "several tables": (("check", "{}/metadata.json"), 1, "'customers', 'shops'"),
    "no JSON": (("check", "{}/broken.json"), 1, "must be JSON"),
    "ending": (
        ("convert", "{}/native.json", "-o", "{}/a.toml", "--to", "sdv"),
        2,
        "must end in .json",
    ),
    "is there": (
        ("convert", "{}/native.json", "-o", "{}/metadata.json", "--to", "sdv"),
        2,
        "there already",
    ),
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors_are_a_line_with_the_way_out(folder, case):
    arguments, code, message = ERRORS[case]
    said = run("schema", *(one.format(folder) for one in arguments), code=code)
    assert message in said


def test_a_table_is_nothing_for_images(folder, tmp_path):
    said = run("fit", folder / "x.npz", "--table", "a", "--out", tmp_path, code=2)
    assert "--table is for tables" in said
