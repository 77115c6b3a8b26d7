"""Wide tables are made as they say, and fitted within what was promised."""

import re
import subprocess
import sys

import pytest

from skdpgen.benchmark import _wide_tables
from skdpgen.benchmark._wide_tables import made, main, public_schema

MOST_SECONDS, MOST_MIB = 600, 4096


@pytest.fixture
def few_rows(monkeypatch):
    monkeypatch.setattr(
        _wide_tables, "N_ROWS", dict.fromkeys(_wide_tables.N_ROWS, 2000)
    )


@pytest.mark.usefixtures("few_rows")
@pytest.mark.parametrize(("axis", "size"), [("columns", 9), ("classes", 30)])
def test_tables_have_the_size_that_is_asked_for(axis, size):
    X, y = made(axis, size)
    assert len(X) == len(y) == 2000
    assert (X.shape[1] if axis == "columns" else y.nunique()) == size
    assert set(public_schema(X, y).columns) == set(X.columns)


@pytest.mark.usefixtures("few_rows")
def test_the_command(capsys):
    main("categories", "50", "floor", "public")
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("floor categories 50 public, fitted: ")
    assert "10000 rows drawn" in second


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", ["1", "10"])
def test_two_thousand_columns(epsilon):
    """With little budget single columns, with much 20,000 pairs of them."""
    command = [sys.executable, "-W", "ignore", "-m", "skdpgen.benchmark._wide_tables"]
    asked = ["columns", "2000", "pairwise", epsilon]
    done = subprocess.run(
        [*command, *asked], capture_output=True, text=True, timeout=900, check=True
    )
    fitted = done.stdout.splitlines()[0]
    seconds, peak = re.search(r": (\d+) s, .* peak (\d+) MiB", fitted).groups()
    assert int(seconds) < MOST_SECONDS
    assert int(peak) < MOST_MIB
