"""Tables that are known by name, with public rows or made when they are read."""

import tomllib
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from benchmarks.catalogue import CATALOGUE, ROOT
from benchmarks.image_sets import public_images
from benchmarks.known_tables import MADE_UP, read_split
from benchmarks.public_splits import PARTS, REGIONS, Regions, read_public_split
from benchmarks.superclasses import (
    SUPERCLASSES,
    Superclass,
    measure_superclass_cell,
    read_superclass,
)
from skdpgen.benchmark import BenchConfig, run_cells
from skdpgen.benchmark._cells import Cell, Source
from skdpgen.benchmark._own_table import digest, read_source
from skdpgen.datasets import load_example
from skdpgen.exceptions import ConfigError
from skdpgen.metrics import SyntheticUtility

DRE = {"class": "DPDRESynthesizer", "public": "all"}


def config_of(content):
    return BenchConfig.from_dict(content, catalogue=CATALOGUE)


def source_of(name, **given):
    return Source(name, **given, known=CATALOGUE.tables[name])


def test_images_take_all_public_ones_or_none():
    with pytest.raises(ConfigError, match=r"`public` must be one of all\. Got 'with"):
        config_of(
            {"tables": ["mnist_usps"], "methods": [DRE | {"public": "without labels"}]}
        )


def test_regions(monkeypatch, tmp_path):
    X, y = load_example(2000)
    X["native-country"] = ["Here", "There", "There", "There"] * 500
    X.assign(target=y).to_csv(tmp_path / "adult.csv.gz", index=False)
    name = "native-country"
    place = Regions("adult", lambda X: X[name] == "There", (name,), n_rows=1000)
    monkeypatch.setitem(REGIONS, "adult_country", place)
    split = read_source(source_of("adult_country"), tmp_path)
    assert (len(split.X_train), len(split.X_test)) == (1000, 500)
    assert len(split.public[0]) == 500
    assert name not in split.X_train
    assert digest(source_of("adult_country"), tmp_path)


def test_rows_with_many_missing_values_are_dropped_before_a_class_is_thinned(tmp_path):
    values = np.ones((200, 12))
    values[:40, :10] = np.nan  # ten are missing
    values[40:80, :9] = np.nan
    frame = pd.DataFrame(values).add_prefix("c").assign(target=[0, 0, 0, 1] * 50)
    frame.to_csv(tmp_path / "cervical.csv.gz", index=False)
    filled = read_split("cervical_filled", tmp_path)
    thinned = read_split("cervical_thinned", tmp_path)
    y = np.concatenate([thinned.y_train, thinned.y_test])
    assert len(filled.X_train) + len(filled.X_test) == 160
    assert (np.bincount(y) == [36, 40]).all()  # .3 of 120


def test_rows_are_dropped_until_classes_are_in_proportion(tmp_path):
    y = [1] * 700 + [2] * 700 + [3, 4, 5, 6, 7] * 120
    frame = pd.DataFrame({"row": range(len(y)), "target": y})
    frame.to_csv(tmp_path / "covtype_20k.csv.gz", index=False)
    split = read_split("covtype_thinned", tmp_path)
    counts = np.bincount(np.concatenate([split.y_train, split.y_test]))[1:]
    assert counts.tolist() == [700, 28, 118, 9, 31, 57, 68]
    rows = pd.concat([split.X_train, split.X_test])["row"]
    assert rows.is_unique
    assert (
        frame["target"][rows].to_numpy()[: len(split.y_train)] == split.y_train
    ).all()


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
    found = {name: part(public) for name, part in PARTS.items()}
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
        config_of(content)


def test_two_seeds_of_a_table_are_two_tables():
    tables = ["german_credit", {"name": "german_credit", "seed": 1}]
    labels = [one.label for one in config_of({"tables": tables}).sources]
    assert labels == ["german_credit", "german_credit, seed 1"]


def test_made_tables_differ_by_their_seed():
    first, again, other = (
        digest(source_of("parity_3", seed=seed), "nowhere") for seed in (0, 0, 1)
    )
    assert first == again != other


def test_some_of_the_rows(tmp_path):
    sources = [source_of("parity_3"), source_of("parity_3", rows=700)]
    whole, some = (read_source(source, "nowhere") for source in sources)
    assert len(some.X_train) == len(some.y_train) == 700
    assert some.X_test.equals(whole.X_test)
    config = config_of(
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
        run_cells(config_of(too_many), tmp_path)


@pytest.mark.usefixtures("computed")
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
    rows = run_cells(config_of(content), tmp_path / "out", data=tmp_path)
    assert not [row["message"] for row in rows if "error" in row]
    assert [row["rows"] for row in rows] == [200, 300, 200]
    assert {row["table"] for row in rows} == {"mnist_usps, 200 rows"}
    assert rows[1]["logistic_regression"] > 0.9


def test_images_of_a_superclass_are_private_public_or_for_testing(
    monkeypatch, tmp_path
):
    """Each image of the first file has its number in its pixels."""
    numbers = np.arange(1000)
    x = np.full((1000, 12, 12), 60, np.uint8)
    x[numbers % 2 == 1] = 160
    x[:, 0, 0], x[:, 0, 1] = numbers // 250, numbers % 250
    y = (numbers % 2).astype(np.uint8)
    parts = {"x_train": x[:800], "y_train": y[:800], "x_test": x[800:]}
    np.savez(tmp_path / "fashion_mnist.npz", **parts, y_test=y[800:])
    black = {"x_train": np.zeros((50, 6, 6), np.uint8), "y_train": np.arange(50) % 3}
    np.savez(tmp_path / "other.npz", **black)
    made = Superclass("fashion_mnist", (1,), 200, 100, 150, {"other": 50})
    split = read_superclass(made, [tmp_path / f"{name}.npz" for name in made.names])
    assert [len(part) for part in (split.private, split.public)] == [200, 300]
    assert split.is_superclass.sum() == 100
    assert set(split.labels[:100]) == {1}
    assert set(split.labels[100:250]) == {0}
    assert set(split.labels[250:]) == {2, 3, 4}
    of_file = split.private, split.public[:250], split.test
    known = [set(250 * p[:, 0, 0].astype(int) + p[:, 0, 1]) for p in of_file]
    assert len(set().union(*known)) == sum(map(len, known))
    assert all(number % 2 for number in known[0] | known[2])

    monkeypatch.setitem(SUPERCLASSES, "shoes", made)
    known_set = replace(
        CATALOGUE.tables["shoes"], files=tuple((f"{n}.npz",) for n in made.names)
    )
    source = Source("shoes", known=known_set)
    cells = [
        Cell(source, "", "real"),
        Cell(source, "", "public rows"),
        Cell(
            source,
            "",
            "DPDRESynthesizer",
            epsilon=20.0,
            delta=1e-5,
            adjacency="replace",
            public="all",
        ),
    ]
    utility = SyntheticUtility(n_samples=100)
    real, public, row = (
        measure_superclass_cell(cell, str(tmp_path), utility, CATALOGUE)
        for cell in cells
    )
    assert real["fid"] < public["fid"]
    assert public["superclass_weight"] == pytest.approx(1 / 3)
    assert row["superclass_weight"] > 0.9
    assert row["privacy"]["epsilon"] == 20.0
    assert row["effective_size"] <= 300


def test_the_stored_run_of_a_superclass_can_be_read():
    path = ROOT / "benchmarks/results/papers/dp_mge_dre/table_3.toml"
    config = BenchConfig.from_dict(
        tomllib.loads(path.read_text("utf-8")), catalogue=CATALOGUE
    )
    assert [source.label for source in config.sources] == ["shoes"]
