"""Runs with public rows, without noise, and on tables that are made when read."""

import json
from math import inf

import numpy as np
import pandas as pd
import pytest

from skdpgen.benchmark._public_splits import (
    PARTS,
    REGIONS,
    Regions,
    part_of,
    public_images,
    read_public_split,
)
from skdpgen.benchmark._reading import MADE_UP, read_split
from skdpgen.benchmark.runs import BenchConfig, read_rows, run_cells, tabulate_rows
from skdpgen.benchmark.runs._frozen_cell import PUBLIC, REAL, Source
from skdpgen.benchmark.runs._own_table import digest, read_source
from skdpgen.datasets import load_example
from skdpgen.utils import ConfigError
from tests.benchmark._small_run import OWN, SMALL, command, write_small_run

# rare values are found or not as the noise has it
pytestmark = pytest.mark.filterwarnings("ignore::skdpgen.RareValuesWarning")
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
        ({"methods": [WITH | {"class": "uniform"}]}, "uniform cannot read public rows"),
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


def test_images_take_all_public_ones_or_none():
    with pytest.raises(ConfigError, match=r"`public` must be one of all\. Got 'with"):
        BenchConfig.from_dict(
            {"tables": ["mnist_usps"], "methods": [DRE | {"public": "without labels"}]}
        )


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


def test_regions(monkeypatch, tmp_path):
    X, y = load_example(2000)
    X["native-country"] = ["Here", "There", "There", "There"] * 500
    X.assign(target=y).to_csv(tmp_path / "adult.csv.gz", index=False)
    name = "native-country"
    place = Regions("adult", lambda X: X[name] == "There", (name,), n_rows=1000)
    monkeypatch.setitem(REGIONS, "adult_country", place)
    split = read_source(Source("adult_country"), tmp_path)
    assert (len(split.X_train), len(split.X_test)) == (1000, 500)
    assert len(split.public[0]) == 500
    assert name not in split.X_train
    assert digest(Source("adult_country"), tmp_path)


def test_halves_share_no_row(tmp_path):
    X, y = load_example(500)
    X.assign(target=y, row=range(500)).to_csv(tmp_path / "cervical.csv.gz", index=False)
    split = read_public_split("cervical_half", tmp_path)
    parts = (split.X_train, split.public[0], split.X_test)
    assert [len(rows) for rows in parts] == [200, 200, 100]
    assert set().union(*(rows["row"] for rows in parts)) == set(range(500))
    assert set(split.whole[0]["row"]) == set(range(500))


def test_parts_of_public_rows():
    public = load_example(800)
    found = {part: part_of(public, part) for part in PARTS}
    assert found["all"] is public
    assert found["without labels"] is public[0]
    assert len(found["300 of them"][0]) == 300
    for X, y in (found["columns permuted"], found["values renamed"]):
        assert not X.equals(public[0])
        assert list(X) == list(public[0])
        assert len(y) == 800
    X, y = public
    whole = X.assign(label=y)
    some, labels = found["300 of them"]
    assert len(some.assign(label=labels).merge(whole)) >= 300  # rows kept their labels
    permuted, labels = found["columns permuted"]
    assert sorted(permuted["age"]) == sorted(X["age"])
    assert sorted(labels) == sorted(y)
    assert (permuted["job"] == X["job"]).mean() < 0.9
    renamed = found["values renamed"][0]
    assert set(renamed["job"].dropna()) == set(X["job"].dropna())
    assert (renamed.groupby(X["job"])["job"].nunique() == 1).all()


def test_public_images_get_a_frame():
    images = np.full((3, 16, 16), 255, np.uint8)
    framed = public_images(images, (28, 28))
    assert framed.shape == (3, 28, 28)
    assert framed.dtype == np.uint8
    assert (framed[:, 4:24, 4:24] == 255).all()
    assert framed.sum() == 3 * 400 * 255


@pytest.mark.parametrize("name", [*MADE_UP])
def test_tables_that_are_made_need_no_file(name):
    split = read_split(name, "nowhere")
    assert (len(split.X_train), len(split.X_test)) == (20_000, 5_000)
    assert not split.X_train[:5_000].equals(split.X_test)


@pytest.mark.parametrize("name", ["adult", "cervical_half", "mnist", "mnist_usps"])
def test_a_seed_that_would_do_nothing_is_refused(name):
    content = {"tables": [{"name": name, "seed": 1}]}
    with pytest.raises(ConfigError, match=f"{name} has one split: leave its seed out"):
        BenchConfig.from_dict(content)


def test_two_seeds_of_a_table_are_two_tables():
    tables = ["german_credit", {"name": "german_credit", "seed": 1}]
    labels = [one.label for one in BenchConfig.from_dict({"tables": tables}).sources]
    assert labels == ["german_credit", "german_credit, seed 1"]


def test_made_tables_differ_by_their_seed():
    first, again, other = (
        digest(Source("parity_3", seed=seed), "nowhere") for seed in (0, 0, 1)
    )
    assert first == again != other


def test_some_of_the_rows(tmp_path):
    sources = [Source("parity_3"), Source("parity_3", rows=700)]
    whole, some = (read_source(source, "nowhere") for source in sources)
    assert len(some.X_train) == len(some.y_train) == 700
    assert some.X_test.equals(whole.X_test)
    config = BenchConfig.from_dict(
        {"tables": ["parity_3", {"name": "parity_3", "rows": 700}], "releases": 1}
    )
    cells = [cell for _, cell in config.cells("nowhere")]
    assert len({cell.key for cell in cells}) == 6
    assert {cell.about()["table"] for cell in cells} == {
        "parity_3",
        "parity_3, 700 rows",
    }
    too_many = {"tables": [{"name": "parity_3", "rows": 20_001}], "releases": 1}
    with pytest.raises(ConfigError, match=r"parity_3 has 20,000 rows to fit\. Got"):
        run_cells(BenchConfig.from_dict(too_many), tmp_path)


def test_public_images_and_some_of_the_images(tmp_path):
    rng = np.random.default_rng(0)
    for name, size in (("mnist", 12), ("usps", 6)):
        y = np.arange(400) % 2
        x = rng.integers(0, 100, (400, size, size)) + 100 * y[:, None, None]
        arrays = {"x_train": x[:300], "y_train": y[:300], "x_test": x[300:]}
        arrays = {key: part.astype(np.uint8) for key, part in arrays.items()}
        np.savez(tmp_path / f"{name}.npz", **arrays, y_test=y[300:].astype(np.uint8))
    content = {
        "tables": [{"name": "mnist_usps", "rows": 200}],
        "methods": [DRE],
        "classifiers": ["logistic_regression"],
        "releases": 1,
    }
    rows = run_cells(BenchConfig.from_dict(content), tmp_path / "out", data=tmp_path)
    assert not [row["message"] for row in rows if "error" in row]
    assert [row["rows"] for row in rows] == [200, 300, 200]
    assert {row["table"] for row in rows} == {"mnist_usps, 200 rows"}
    assert rows[1]["logistic_regression"] > 0.9
