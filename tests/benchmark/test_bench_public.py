"""Runs with public rows, and without noise."""

import json
from math import inf

import pandas as pd
import pytest

from skdpgen.benchmark import BenchConfig, read_rows, run_cells, tabulate_rows
from skdpgen.benchmark._cells import PUBLIC, REAL, Source
from skdpgen.benchmark._own_table import digest, read_source
from skdpgen.datasets import load_example
from skdpgen.exceptions import ConfigError
from tests.benchmark._small_run import OWN, SMALL, command, write_small_run

# rare values are found or not as the noise has it
pytestmark = pytest.mark.filterwarnings("ignore::skdpgen.exceptions.RareValuesWarning")
BOTH = OWN | {"public": "theirs.csv"}
WITH = {"class": "DPIndependentSynthesizer", "public": "all"}
DRE = {"class": "DPDRESynthesizer", "public": "all"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = write_small_run(tmp_path_factory.mktemp("public"))
    X, y = load_example(900, random_state=1)
    X.assign(status=y)[["status", *X]].to_csv(folder / "theirs.csv", index=False)
    return folder


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"tables": [OWN], "methods": [WITH]}, "given public rows, and mine has none"),
        ({"methods": ["DPDRESynthesizer"]}, 'needs public rows: say public = "all"'),
        ({"methods": [WITH | {"public": "some"}]}, "`public` must be one of all, with"),
        (
            {"methods": [WITH | {"class": "DPMGESynthesizer"}]},
            "DPMGESynthesizer cannot read public rows",
        ),
        (
            {"methods": [WITH | {"settings": {"public_data": "a.csv"}}]},
            'cannot hold `public_data`: say public = "all"',
        ),
        ({"methods": [WITH | {"name": PUBLIC}]}, "`name of a method` must be text"),
        ({"tables": [OWN | {"public": 3}]}, "`public of a table` must be a file"),
    ],
)
def test_wrong_public_rows_are_told_before_any_work(change, words):
    with pytest.raises(ConfigError, match=words):
        BenchConfig.from_dict(SMALL | {"tables": [BOTH]} | change)


@pytest.mark.usefixtures("computed")
def test_a_run_with_public_rows_and_without_noise(folder, tmp_path):
    content = SMALL | {
        "tables": [BOTH],
        "methods": ["DPIndependentSynthesizer", WITH, DRE],
        "epsilons": [1, inf],
        "releases": 1,
        "real": True,
        "delta": "auto",
    }
    config = BenchConfig.from_dict(content, folder)
    rows = run_cells(config, tmp_path, parquet=True)
    assert not [row["message"] for row in rows if "error" in row]
    first = [row["name"] for row in rows[:4]]
    assert first[:2] == [REAL, PUBLIC]
    assert first[3] == "DPIndependentSynthesizer (public rows: all)"
    assert rows[1]["rows"] == 900
    said = {row["name"]: json.dumps(row["privacy"]) for row in rows[2:5]}
    assert ["public rows" in text for text in said.values()] == [False, True, True]
    epsilons = [None, None, 1, 1, 1, inf, inf, inf]
    stored = read_rows(tmp_path / "results.jsonl")
    for found in (rows, stored):
        assert [row["epsilon"] for row in found] == epsilons
    assert "Infinity" not in (tmp_path / "results.jsonl").read_text()
    frame = pd.read_parquet(tmp_path / "results.parquet")
    assert list(frame["epsilon"][2:]) == epsilons[2:]
    assert tabulate_rows(stored).count("| ∞ |") == 3
    computed = []
    again = run_cells(config, tmp_path, tell=lambda n, of, row: computed.append(row))
    assert computed == [None]
    assert [row["seconds"] for row in again] == [row["seconds"] for row in rows]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda t: t.rename(columns={"job": "work"}),
            "must have the columns .* job, work",
        ),
        (
            lambda t: t.assign(age="Jane"),
            "Column 'age' holds text in .*theirs.csv, and numbers in .* Write it alike",
        ),
        (
            lambda t: t.assign(status=["Jane"] * 5 + list(t["status"][5:])),
            "The target 'status' has labels in .* does not know, in 5 rows. Leave",
        ),
        (
            lambda t: t.assign(status=1),
            "The target 'status' holds numbers in .*, and text",
        ),
    ],
)
def test_public_rows_that_do_not_go_with_the_others(folder, tmp_path, change, words):
    frame = change(pd.read_csv(folder / "theirs.csv"))
    frame.to_csv(tmp_path / "theirs.csv", index=False)
    theirs = str(tmp_path / "theirs.csv")
    source = Source("mine", str(folder / "mine.csv"), "status", public=theirs)
    with pytest.raises(ConfigError, match=words) as error:
        read_source(source, ".")
    assert "Jane" not in str(error.value)
    gone = Source(**vars(source) | {"public": str(tmp_path / "gone.csv")})
    with pytest.raises(ConfigError, match=r"There is no .*gone.csv, the public rows"):
        digest(gone, ".")


@pytest.mark.usefixtures("computed")
def test_dtypes_that_were_guessed_apart(folder, tmp_path):
    theirs = pd.read_csv(folder / "theirs.csv").astype({"owns_home": object})
    theirs.loc[0, "owns_home"] = None
    theirs["job"], theirs["income"] = None, None
    theirs.to_csv(tmp_path / "theirs.csv", index=False)
    path, public = (str(at / name) for at, name in (
        (folder, "mine.csv"), (tmp_path, "theirs.csv")))  # fmt: skip
    split = read_source(Source("mine", path, "status", public=public), ".")
    X, y = split.public
    assert X["owns_home"].dtype == "boolean"
    assert X["job"].dtype == split.X_train["job"].dtype
    assert X[["job", "income"]].isna().all(axis=None)
    assert y.dtype == split.y_train.dtype
    config = {"tables": [OWN | {"path": path, "public": public}], "methods": [WITH]}
    (row,) = run_cells(
        BenchConfig.from_dict(SMALL | config | {"releases": 1}), tmp_path / "out"
    )
    assert "error" not in row
    other = Source("mine", public, "status", public=path)  # the other way round
    assert (
        read_source(other, ".")
        .public[0]["owns_home"]
        .dropna()
        .isin(["True", "False"])
        .all()
    )


def test_public_rows_are_part_of_what_a_cell_is(folder):
    def keys(table, method):
        config = BenchConfig.from_dict(
            SMALL | {"tables": [table], "methods": [method], "releases": 1}, folder
        )
        return {cell.key for _, cell in config.cells()}

    plain = keys(OWN, "DPIndependentSynthesizer")
    assert len(plain | keys(BOTH, "DPIndependentSynthesizer") | keys(BOTH, WITH)) == 3


def test_own_public_rows_from_the_command_line(folder, tmp_path):
    text = command(
        *("--data", folder / "mine.csv", "--target", "status", "--out", tmp_path),
        *("--public", folder / "theirs.csv", "--minutes", "0"),
    )
    assert "14 cells are not run yet" in text  # 4 methods x 3, real and public rows
    text = command(folder / "small.toml", "--public", folder / "theirs.csv", code=2)
    assert "--public is for runs without CONFIG" in text
