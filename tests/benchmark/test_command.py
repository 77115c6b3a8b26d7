"""The command behind docs/benchmarks.md, on a table made for it."""

import sys
from argparse import Namespace

import pandas as pd
import pytest

from skdpgen.benchmark import __main__ as command
from skdpgen.benchmark import _measure_public
from skdpgen.benchmark._measure_public import ALONE
from skdpgen.benchmark._public_splits import REGIONS, Regions, read_public_split
from skdpgen.datasets import load_example

# rare values are found or not as the noise has it
pytestmark = pytest.mark.filterwarnings("ignore::skdpgen.RareValuesWarning")


def table(folder):
    X, y = load_example(1500)
    X.assign(target=y).to_csv(folder / "bank_marketing.csv.gz", index=False)
    return str(folder)


def run(monkeypatch, capsys, *arguments):
    monkeypatch.setattr(sys, "argv", ["benchmark", *arguments])
    command.main()
    return capsys.readouterr().out


def test_utility(monkeypatch, capsys, tmp_path):
    out = tmp_path / "runs.jsonl"
    folder = table(tmp_path)
    text = run(
        *(monkeypatch, capsys, "utility", "bank_marketing", "--data", folder),
        *("--schema", "public", "discovered", "--releases", "1"),
        *("--drawn", "1200", "--output", str(out)),
    )
    runs = pd.read_json(out, lines=True)
    assert list(runs["schema"]) == ["real", "public", "discovered"]
    assert list(runs["rows"][1:]) == [1200, 1200]
    assert (runs["roc_auc"][:2] > 0.6).all()  # few rows: discovery may find little
    assert runs["roc_auc"].between(0, 1).all()
    assert "| bank_marketing |" in text


def test_discovery(monkeypatch, capsys, tmp_path):
    text = run(
        *(monkeypatch, capsys, "discovery", "bank_marketing"),
        *("--data", table(tmp_path), "--epsilon", "0.05", "3", "--releases", "1"),
    )
    assert "asks for a schema" in text
    assert "category_mass" in text


def test_parameters_are_json_or_a_word():
    given = Namespace(
        set=["release=per_step", "max_iter=3", "hidden_layer_sizes=[8, 8]"]
    )
    wanted = {"release": "per_step", "max_iter": 3, "hidden_layer_sizes": [8, 8]}
    assert command._settings(given) == wanted


def test_public_rows(monkeypatch, capsys, tmp_path):
    X, y = load_example(4000)
    X = X.drop(columns="customer_since")  # of text: thousands of values
    X["native-country"] = ["Here", "There", "There", "There"] * 1000
    X.assign(target=y).to_csv(tmp_path / "adult.csv.gz", index=False)
    place = Regions("adult", lambda X: X["native-country"] == "There", X.columns[-1:])
    monkeypatch.setitem(REGIONS, "adult_country", place)
    text = run(
        *(monkeypatch, capsys, "public", "adult_country", "--data", str(tmp_path)),
        *("--synthesizer", "DPIndependentSynthesizer", "--schema", "public"),
        *("--releases", "2"),
    )
    for kind in ("none", "public rows", "columns permuted", "values renamed"):
        assert f"| adult_country | {kind} | public |" in text


def test_public_half_of_a_small_table(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(_measure_public, "N_DRAWN", 300)
    X, y = load_example(600)
    X.assign(target=y).to_csv(tmp_path / "german_credit.csv.gz", index=False)
    out = tmp_path / "runs.jsonl"
    run(
        *(monkeypatch, capsys, "public", "german_credit_half", "--data", str(tmp_path)),
        *("--synthesizer", "DPIndependentSynthesizer", "--schema", "public"),
        *("--releases", "1", "--kinds", "none", "public rows", "--output", str(out)),
        "--utility",
    )
    runs = pd.read_json(out, lines=True).set_index("method")
    assert set(runs.index) == {*ALONE, "none", "public rows"}
    assert runs[["tv1", "tv2", "roc_auc", "roc_auc_best"]].notna().all(axis=None)
    assert (runs["roc_auc"] <= runs["roc_auc_best"]).all()


def test_halves_share_no_row(tmp_path):
    X, y = load_example(500)
    X.assign(target=y, row=range(500)).to_csv(tmp_path / "cervical.csv.gz", index=False)
    split = read_public_split("cervical_half", tmp_path)
    parts = (split.private, split.public, split.test)
    assert [len(rows) for rows, _ in parts] == [200, 200, 100]
    assert set().union(*(rows["row"] for rows, _ in parts)) == set(range(500))
