"""What `python -m skdpgen.benchmark` measures, on a table made for it."""

import sys
from argparse import Namespace

import pytest

from skdpgen.benchmark import __main__ as command
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
