"""Wide tables are made as they say, and fitted within what was promised."""

import re
import subprocess
import sys

import pytest
from click.testing import CliRunner

from benchmarks import large_tables
from benchmarks.__main__ import main
from benchmarks.large_tables import public_schema, wide_table_of
from benchmarks.speed import ROOT

MOST_SECONDS, MOST_MIB = 600, 4096


@pytest.fixture
def few_rows(monkeypatch):
    monkeypatch.setattr(
        large_tables, "N_ROWS", dict.fromkeys(large_tables.N_ROWS, 2000)
    )


@pytest.mark.usefixtures("few_rows")
@pytest.mark.parametrize(("axis", "size"), [("columns", 9), ("classes", 30)])
def test_tables_have_the_size_that_is_asked_for(axis, size):
    X, y = wide_table_of(axis, size)
    assert len(X) == len(y) == 2000
    assert (X.shape[1] if axis == "columns" else y.nunique()) == size
    assert set(public_schema(X, y).columns) == set(X.columns)


@pytest.mark.usefixtures("few_rows")
def test_a_wide_table_is_fitted_by_the_command():
    done = CliRunner().invoke(main, ["wide", "categories", "50", "baseline", "public"])
    first, second = done.output.splitlines()
    assert first.startswith("baseline categories 50 public, fitted: ")
    assert "10000 rows drawn" in second


def test_a_folder_is_made_fitted_and_drawn_from(tmp_path):
    folder = str(tmp_path / "rows")
    drawn = str(tmp_path / "drawn.parquet")
    steps = (["make", folder, "3_000"], ["fit", folder, "baseline"])
    steps = (*steps, ["sample", folder, "baseline", "500", drawn])
    texts = [CliRunner().invoke(main, ["large", *step]).output for step in steps]
    assert texts[0] == ""
    assert texts[1].startswith("baseline, 3000 rows fitted: ")
    assert texts[2].startswith("baseline, 500 rows drawn: ")


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", ["1", "10"])
def test_two_thousand_columns(epsilon):
    """With little budget single columns, with much 20,000 pairs of them."""
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks", "wide"]
    asked = ["columns", "2000", "pairwise", epsilon]
    done = subprocess.run(
        [*command, *asked],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=900,
        check=True,
    )
    fitted = done.stdout.splitlines()[0]
    seconds, peak = re.search(r": (\d+) s, .* peak (\d+) MiB", fitted).groups()
    assert int(seconds) < MOST_SECONDS
    assert int(peak) < MOST_MIB
