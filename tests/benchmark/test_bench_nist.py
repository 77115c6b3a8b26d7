"""Rows of a run have NIST's scores and the rules that a table is given."""

import pytest

from skdpgen.benchmark import BenchConfig, run_cells
from skdpgen.benchmark._cells import Cell, Source
from tests.benchmark._small_run import OWN, SMALL, cells_computed, write_small_run

# rare values are found or not as the noise has it
pytestmark = pytest.mark.filterwarnings("ignore::skdpgen.exceptions.RareValuesWarning")
RULES = {"never": "age < 0", "always": "age >= 0"}


def test_a_run_with_a_stratum_rules_and_sdmetrics(tmp_path, monkeypatch):
    write_small_run(tmp_path)
    monkeypatch.setattr(
        "skdpgen.benchmark._measure_cell.sdmetrics_quality",
        lambda *rows: {"quality": 0.5, "column_pair_trends": 0.25},
    )
    monkeypatch.setattr(
        "skdpgen.benchmark._measure_cell.require_sdmetrics", lambda: None
    )
    table = OWN | {"rules": RULES, "stratum": "region"}
    content = SMALL | {"tables": [table], "releases": 1, "sdmetrics": True}
    config = BenchConfig.from_dict(content, tmp_path)
    with cells_computed("here"):
        (row,) = run_cells(config, tmp_path / "out")
    assert "error" not in row, row["message"]
    assert 0 < row["k_marginal"] < 1000
    assert 0 <= row["pmse"] <= 0.25
    assert row["rules"] == {"never": 1, "always": 0}
    assert (row["broken"], row["sdmetrics"], row["pair_trends"]) == (1, 0.5, 0.25)


def test_a_rule_about_an_absent_column_is_an_error_before_the_fit(tmp_path):
    write_small_run(tmp_path)
    table = OWN | {"rules": {"r": "absent > 1"}}
    content = SMALL | {"tables": [table], "releases": 1}
    with cells_computed("here"):
        (row,) = run_cells(BenchConfig.from_dict(content, tmp_path), tmp_path / "out")
    assert row["error"] == "ValueError"
    assert "fit_seconds" not in row


def test_keys_of_cells_without_them_are_as_before():
    plain = Cell(Source("mine", "mine.csv", "y"), "0123", "real")
    assert plain.key == "b6b31d390733c8be"
    asked = Cell(Source("mine", "mine.csv", "y", rules=RULES), "0123", "real")
    assert len({plain.key, asked.key, Cell.from_dict(asked.to_dict()).key}) == 2
