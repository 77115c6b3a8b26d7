"""What fits cost: the rows, the table, and the budget that `make slow` holds us to."""

import io
import json
import subprocess
from contextlib import redirect_stdout

import pytest
from click.testing import CliRunner

from benchmarks import fit_costs as module
from benchmarks.__main__ import main
from benchmarks.catalogue import CATALOGUE
from benchmarks.fit_costs import USUAL, fit_costs, run, tabulate_costs
from benchmarks.speed import ROOT
from skdpgen.benchmark import fill_page, read_rows

STORED = ROOT / "benchmarks" / "results" / "speed" / "fits.jsonl"
# Processors differ fourfold in what they are good at, and other tests run beside it.
# What is slower by a power shows.
LOOSE = 6.0  # times the budget
QUICK = ("DPIndependentSynthesizer", "DPPairwiseSynthesizer", "DPMERFSynthesizer")
BUDGET = {
    row["method"]: row["ratio"]
    for row in read_rows(STORED)
    if row["axis"] == "rows" and row["rows"] == USUAL["rows"] and "ratio" in row
}


@pytest.fixture
def tiny(monkeypatch):
    monkeypatch.setattr(module, "AXES", {"rows": (300, 600), "classes": (2,)})
    monkeypatch.setattr(module, "USUAL", {"rows": 300, "columns": 4, "classes": 2})


@pytest.fixture
def one_apart(monkeypatch):
    """Measure the first size in a process of its own, and the others in this one."""
    apart = module.run_apart

    def measured(code, **how):
        monkeypatch.setattr(module, "run_apart", here)
        return apart(code, **how)

    def here(code, **how):
        written = io.StringIO()
        with redirect_stdout(written):
            exec(code, {})
        return subprocess.CompletedProcess(code, 0, stdout=written.getvalue())

    monkeypatch.setattr(module, "run_apart", measured)


@pytest.mark.usefixtures("one_apart")
def test_the_command_writes_a_row_for_each_size(tiny, tmp_path):
    path = tmp_path / "a.jsonl"
    options = ["fits", "DPIndependentSynthesizer", "--axes", "rows"]
    options += ["--axes", "classes", "--output", str(path)]
    done = CliRunner().invoke(main, options)
    assert "| DPIndependentSynthesizer | classes | 2: " in done.output
    rows = read_rows(path)
    assert [(row["axis"], row["rows"]) for row in rows] == [
        *(("rows", 300), ("rows", 600), ("classes", 300))
    ]
    assert all(row["ratio"] > 0 and row["peak_mib"] > 50 for row in rows)
    page = fill_page("<!-- bench:a -->\n<!-- /bench -->", {"a": rows}, CATALOGUE)
    assert "| DPIndependentSynthesizer | rows | 300: " in page


def test_what_takes_too_long_or_fails_is_told_once(tiny, monkeypatch):
    rows = list(fit_costs(["DPIndependentSynthesizer"], ["rows"], limit=0.01))
    assert [row["note"] for row in rows] == ["given up after 0 s"]

    def apart(code, original=module.run_apart, **how):
        """Fail as the code would, without what takes seconds to import."""
        with pytest.raises(KeyError):
            exec(code, {})
        return original("{}['NoSuchSynthesizer']", **how)

    monkeypatch.setattr(module, "run_apart", apart)
    (row,) = fit_costs(["NoSuchSynthesizer"], ["rows"])
    assert row["note"] == "KeyError"
    assert tabulate_costs([row]).endswith(
        "| NoSuchSynthesizer | rows | 300: KeyError |"
    )


def ratio_of(method, capsys):
    run(method, **USUAL)
    return json.loads(capsys.readouterr().out.splitlines()[-1])["ratio"]


@pytest.mark.parametrize(
    "method",
    [
        pytest.param(method, marks=() if method in QUICK else pytest.mark.slow)
        for method in BUDGET
    ],
)
def test_fits_keep_to_their_budget(method, capsys):
    assert ratio_of(method, capsys) < LOOSE * BUDGET[method]
