"""Wrong turns of a first hour: each ends in one line with the mistake and the remedy.

No line holds a cell of the file, and each comes before anything is paid for.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.model_selection import GridSearchCV

import skdpgen
from skdpgen import (
    Categorical,
    DPIndependentSynthesizer,
    DPMGESynthesizer,
    DPPairwiseSynthesizer,
    Integer,
    Schema,
)
from skdpgen.cli import main

PRIVATE = "Jane Doe"
LONGEST = 420  # characters of a line

# ------------------------------------------------------------- on the command line

FIT = ("fit", "people.csv", "--out", "model")
TURNS = {  # arguments, and what the line must hold: the mistake, the remedy
    "a path that is wrong": (
        ("fit", "poeple.csv", "--out", "model"),
        ["poeple.csv", "does not exist"],
    ),
    "a workbook": (
        ("fit", "people.xlsx", "--out", "model"),
        ["workbook", "Save the sheet as CSV"],
    ),
    "a workbook with another name": (
        ("fit", "book.csv", "--out", "model"),
        ["workbook", "Save the sheet as CSV"],
    ),
    "an encoding that is not UTF-8": (
        ("fit", "latin.csv", "--out", "model"),
        ["cannot be read as UTF-8", "--encoding cp1252"],
    ),
    "semicolons": (
        ("fit", "semicolons.csv", "--out", "model"),
        ["no ',' between names", "Say --separator ';'"],
    ),
    "tabs": (("fit", "tabs.csv", "--out", "model"), [r"--separator '\t'"]),
    "no line of names": (
        ("fit", "rows.csv", "--out", "model"),
        ["may be a row", "put a line of names above it"],
    ),
    "names twice": (("fit", "twice.csv", "--out", "model"), ["a twice", "rename"]),
    "a file without a line": (
        ("fit", "empty.csv", "--out", "model"),
        ["must begin with names"],
    ),
    "text that is called Parquet": (
        ("fit", "text.parquet", "--out", "model"),
        ["is no Parquet file", "give it the ending of what it is"],
    ),
    "an array of NumPy": (
        ("fit", "images.npy", "--out", "model"),
        ["must be an .npz", "np.savez_compressed"],
    ),
    "text that is called npz": (
        ("fit", "text.npz", "--out", "model"),
        ["is no .npz file", "np.savez_compressed"],
    ),
    "images and labels of other lengths": (
        ("fit", "uneven.npz", "--out", "model"),
        ["as many rows", "4 and 3"],
    ),
    "a misspelt target": (
        (*FIT, "--target", "payed"),
        ["'payed'", "there are name, age, paid"],
    ),
    "an option of Python": ((*FIT, "--y", "paid"), ["--y", "--target"]),
    "a misspelt option": ((*FIT, "--epsilom", "1"), ["--epsilom", "--epsilon"]),
    "a misspelt command": (("fits", *FIT[1:]), ["'fits'", "Did you mean fit?"]),
    "no folder for the model": (FIT[:2], ["--out", "Folder of the model"]),
    "epsilon 0": ((*FIT, "--epsilon", "0"), ["--epsilon must be", "(0.0, inf]"]),
    "epsilon below 0": ((*FIT, "--epsilon", "-1"), ["--epsilon must be", "-1.0"]),
    "epsilon in words": ((*FIT, "--epsilon", "one"), ["'one'", "as 0.5 or 2"]),
    "epsilon with a comma": ((*FIT, "--epsilon", "0,5"), ["'0,5'", "Write 0.5"]),
    "a method that is misspelt": (
        (*FIT, "--method", "parwise"),
        ["'parwise'", "pairwise"],
    ),
    "a model where a file is": (
        ("fit", "people.csv", "--out", "people.csv"),
        ["people.csv", "is a file"],
    ),
    "a sample of a table": (
        ("sample", "people.csv", "-o", "s.csv"),
        ["people.csv is a file", "--out of the fit"],
    ),
    "a sample of nothing": (
        ("sample", "empty", "-o", "s.csv"),
        ["holds no model", "skdpgen fit FILE --out empty"],
    ),
    "a folder that is not there": (
        ("sample", "empty", "-o", "nowhere/s.csv"),
        ["There is no folder", "Make it first"],
    ),
    "a page in PDF": (
        ("report", "empty", "-o", "page.pdf"),
        [".html", "a browser prints it"],
    ),
    "a key of a schema that is not there": (
        (*FIT, "--schema", "odd.toml"),
        ["odd.toml", "lower, nullable", "Got low besides"],
    ),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("first")
    people = f"name,age,paid\n{PRIVATE},61,yes\nJohn,47,no\n"
    texts = {
        "people.csv": people,
        "semicolons.csv": people.replace(",", ";"),
        "tabs.csv": people.replace(",", "\t"),
        "rows.csv": people.partition("\n")[2],
        "twice.csv": f"a,a\n{PRIVATE},2\n",
        "empty.csv": "",
        "text.parquet": PRIVATE,
        "text.npz": PRIVATE,
        "people.xlsx": PRIVATE,
        "odd.toml": '[columns.age]\ntype = "Integer"\nlow = 0\n',
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "latin.csv").write_bytes("Größe\n1\n".encode("cp1252"))
    (folder / "book.csv").write_bytes(b"PK\x03\x04\x14\x00\x06\xff" + PRIVATE.encode())
    np.save(folder / "images.npy", np.zeros((4, 8, 8)))
    np.savez(folder / "uneven.npz", x=np.zeros((4, 8, 8)), y=np.zeros(3))
    (folder / "empty").mkdir()
    return folder


@pytest.mark.parametrize("turn", TURNS)
def test_a_wrong_turn_on_the_command_line(folder, turn, monkeypatch):
    monkeypatch.chdir(folder)
    arguments, parts = TURNS[turn]
    found = CliRunner().invoke(main, arguments)
    assert found.exit_code == 2
    line = found.output.strip().splitlines()[-1]
    assert line.startswith("Error: ")
    assert len(line) <= LONGEST
    assert "Traceback" not in found.output
    assert [part for part in parts if part not in line] == []
    assert PRIVATE not in found.output
    assert not (folder / "model").exists()


def test_numbers_are_names_where_steps_are_equal_or_a_schema_has_them(
    folder, monkeypatch
):
    monkeypatch.chdir(folder)
    fit = ("fit", "names.csv", "--out", "numbers", "--quiet", "--method", "independent")
    for names in ("land,2019,2020,2021", "0,1", "1,12.5,24"):
        (folder / "names.csv").write_text(f"{names}\n")
        said = CliRunner().invoke(main, fit).output
        assert "may be a row" not in said
        assert "Found array with 0 sample(s)" in said
    for names in ("land,2019", "1,12.5,99.75"):
        (folder / "names.csv").write_text(f"{names}\n")
        assert "may be a row" in CliRunner().invoke(main, fit).output
    (folder / "names.csv").write_text("land,2019\n")
    (folder / "years.toml").write_text('[columns.2019]\ntype = "Boolean"\n')
    said = CliRunner().invoke(main, [*fit, "--schema", "years.toml"]).output
    assert "may be a row" not in said


def test_a_file_with_one_column_may_have_a_semicolon_in_its_name(folder, monkeypatch):
    monkeypatch.chdir(folder)
    (folder / "one.csv").write_text("yes;no\n")
    fit = ("fit", "one.csv", "--out", "one")
    assert "--separator ';'" in CliRunner().invoke(main, fit).output
    said = CliRunner().invoke(main, [*fit, "--separator", ","]).output
    assert "Found array with 0 sample(s)" in said


def test_a_file_that_is_too_small_leads_to_the_command_for_a_schema(
    folder, monkeypatch
):
    monkeypatch.chdir(folder)
    found = CliRunner().invoke(main, [*FIT[:-1], "small", "--method", "independent"])
    assert found.exit_code == 1
    line = found.output.strip().splitlines()[-1]
    assert "2 rows at epsilon=1" in line
    assert "`skdpgen schema init FILE -o schema.toml`" in line
    assert PRIVATE not in found.output


def test_python_runs_the_command():
    call = [sys.executable, "-m", "skdpgen", "--version"]
    place = Path(skdpgen.__file__).parents[1]
    done = subprocess.run(call, capture_output=True, text=True, check=True, cwd=place)
    assert done.stdout.split()[-1] == skdpgen.__version__


# ------------------------------------------------------------------------ in Python

X = pd.DataFrame({"age": [61, 47, 33] * 20, "name": [PRIVATE, "John", "Ann"] * 20})
Y = ["yes", "no", "no"] * 20
SCHEMA = Schema({"age": Integer(0, 110), "name": Categorical(["John"])})


def fit(X=X, y=Y, cls=DPIndependentSynthesizer, **params):
    return cls(**{"classes": ["no", "yes"], "schema": SCHEMA} | params).fit(X, y)


def images(*shape):
    return fit(np.zeros(shape, np.uint8), cls=DPMGESynthesizer, schema=None)


def search(X, y):
    return GridSearchCV(DPIndependentSynthesizer(), {"epsilon": [1.0]}).fit(X, y)


CALLS = {
    "sample before fit": (
        lambda: DPPairwiseSynthesizer().sample(),
        ["not fitted yet", "'fit'"],
    ),
    "epsilon 0": (lambda: fit(epsilon=0), ["'epsilon'", "(0.0, inf]"]),
    "epsilon in words": (lambda: fit(epsilon="one"), ["'epsilon'", "'one'"]),
    "the path of a file": (lambda: fit("people.csv"), ["pd.read_csv('people.csv')"]),
    "nothing": (lambda: fit(None), ["NoneType", "pd.DataFrame"]),
    "a pair": (lambda: fit((X, Y)), ["pair", "fit(*X)"]),
    "an iterator of rows": (
        lambda: fit(iter(X.to_numpy())),
        ["ndarray_iterator|iterator", "`Chunks`"],
    ),
    "a dict": (lambda: fit({"age": [1, 2]}), ["dict", "pd.DataFrame(X)"]),
    "names twice": (
        lambda: fit(pd.concat([X, X[["age"]]], axis=1)),
        ["age twice", "rename"],
    ),
    "the name of a column as y": (
        lambda: fit(y="name"),
        ["X.drop(columns=['name']), X['name']"],
    ),
    "y of another length": (lambda: fit(y=Y[:9]), ["one label a row", "same rows"]),
    "three rows": (
        lambda: fit(X[:3], Y[:3], schema=None),
        ["3 rows at epsilon=1", "Schema.template(X)"],
    ),
    "columns that the schema lacks": (
        lambda: fit(X.drop(columns="age")),
        ["without age", "add the columns"],
    ),
    "bounds in the wrong order": (
        lambda: fit(schema={"age": Integer(110, 0)}),
        ["lower=110, upper=0", "exchange"],
    ),
    "a period of pandas": (
        lambda: fit(X.assign(m=pd.period_range("2020", periods=60, freq="M"))),
        ["period[M]", ".dt.to_timestamp()"],
    ),
    "images with channels last": (lambda: images(60, 8, 8, 3), ["np.moveaxis"]),
    "images of five dimensions": (
        lambda: images(60, 3, 8, 8, 2),
        ["5D", "(n, channels, height, width)"],
    ),
    "a list of images": (
        lambda: fit([np.zeros((8, 8))] * 60, cls=DPMGESynthesizer),
        ["np.stack(X)"],
    ),
    "a search without scoring": (lambda: search(X, Y), ["scoring", "'score' method"]),
    "a comparison of one": (
        lambda: skdpgen.compare(DPPairwiseSynthesizer(), X, Y, X, Y),
        ["dict of names", "DPPairwiseSynthesizer()}"],
    ),
    "a file that is no model": (
        lambda: skdpgen.load(__file__),
        ["test_wrong_turns.py", "not a file that `save` wrote"],
    ),
    "a model that is not there": (
        lambda: skdpgen.load("nowhere.skdpgen"),
        ["No such file", "nowhere.skdpgen"],
    ),
}


@pytest.mark.parametrize("turn", CALLS)
def test_a_wrong_turn_in_python(turn):
    call, parts = CALLS[turn]
    with pytest.raises((TypeError, ValueError, OSError)) as raised:
        call()
    text = str(raised.value)
    assert len(text) <= LONGEST
    assert "\n" not in text
    missing = [p for p in parts if not any(one in text for one in p.split("|"))]
    assert missing == []
    assert PRIVATE not in text


def test_labels_that_are_missing_are_a_warning_with_a_share():
    """An error would tell whether a label is missing."""
    y = pd.Series(Y, dtype=object).where(np.arange(60) > 20)
    with pytest.warns(UserWarning, match="label that is missing or none of the class"):
        fit(y=y, epsilon=50.0)
