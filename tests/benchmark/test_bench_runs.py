"""Cells of a run: each is kept whole, none is computed twice, no crash costs more."""

import json
import os
import signal
import subprocess
import sys
import time

import pandas as pd
import pytest

from skdpgen.benchmark import (
    BenchConfig,
    _measure_cell,
    _run_cells,
    read_rows,
    run_cells,
)
from skdpgen.benchmark._cells import REAL, Cell, Source
from skdpgen.benchmark._measure_cell import measure_cell
from skdpgen.benchmark._run_cells import CellStore, write_whole
from skdpgen.utils import pick_device
from tests.benchmark._small_run import (
    SMALL,
    cells_computed,
    command,
    write_small_run,
)

# rare values are found or not as the noise has it
pytestmark = pytest.mark.filterwarnings("ignore::skdpgen.exceptions.RareValuesWarning")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_small_run(tmp_path_factory.mktemp("bench"))


def stamps(out):
    """Return what tells a file that was written twice from one that was not."""
    return {
        path.name: (path.stat().st_ino, path.stat().st_mtime_ns, path.read_bytes())
        for path in (out / "cells").glob("*.json")
    }


@pytest.mark.usefixtures("computed")  # after the death; before it, by processes
def test_a_run_that_was_killed_goes_on(folder, tmp_path):
    """No cell is computed twice, whatever killed the run, and none is half there."""
    out = tmp_path / "out"
    code = "import sys; from skdpgen.cli import main; main(sys.argv[1:])"
    arguments = ["bench", folder / "small.toml", "--out", out, "--quiet"]
    run = subprocess.Popen([sys.executable, "-c", code, *map(str, arguments)])
    deadline = time.monotonic() + 300
    while not list(out.glob("cells/*.json")):
        assert run.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)
    os.kill(run.pid, signal.SIGKILL)
    run.wait()
    (out / "cells" / "ffffffffffffffff.json").write_text('{"cell": "ffffffffff')
    (out / "cells" / "0.json.1.part").write_text("{")
    before = {k: v for k, v in stamps(out).items() if not k.startswith("ffff")}
    assert 1 <= len(before) < 3

    told = []
    config = BenchConfig.load(folder / "small.toml")
    rows = run_cells(
        config, out, n_jobs=2, tell=lambda *now: told.append(now), parquet=True
    )
    assert told[0] == (len(before), 3, None)
    assert [now[0] for now in told[1:]] == list(range(len(before) + 1, 4))
    after = stamps(out)
    assert {name: after[name] for name in before} == before
    assert [row["release"] for row in rows] == [0, 1, 2]
    assert rows == read_rows(out / "results.jsonl")
    _check_rows(rows)
    frame = pd.read_parquet(out / "results.parquet")
    assert json.loads(frame["privacy"][0]) == rows[0]["privacy"]
    assert list(frame["seconds"]) == [row["seconds"] for row in rows]

    text = command(folder / "small.toml", "--out", out)
    assert "3 of 3 cells were there already." in text
    assert "| mine | DPIndependentSynthesizer | 1 | ROC-AUC | ." in text
    assert stamps(out) == after


def _check_rows(rows):
    for row in rows:
        assert row["table"] == "mine"
        assert row["settings"] == {}
        assert 0 <= row["roc_auc"] <= row["roc_auc_best"] <= 1
        assert row["seconds"] > row["fit_seconds"] > 0
        assert row["device"] == pick_device("auto").type
        assert 50 < row["peak_mib"] < 4000
        assert row["privacy"]["epsilon"] == row["epsilon"] == 1.0
        assert row["privacy"]["releases"]
        assert {f"version_{name}" for name in ("skdpgen", "numpy", "torch", "sklearn", "python")} <= set(row)  # fmt: skip  # noqa: E501


def test_the_process_of_a_cell_ends_with_its_parent(folder, tmp_path):
    cell = BenchConfig.load(folder / "small.toml").cells()[0][1]
    job = {"cell": cell.to_dict(), "out": str(tmp_path), "data": ".", "debug": False}
    job |= {"module": None, "folder": None}
    process = subprocess.Popen(_run_cells.PROCESS, stdin=subprocess.PIPE, text=True)
    process.stdin.write(json.dumps(job) + "\n")
    process.stdin.close()  # as the death of the parent does
    assert process.wait(timeout=120) == 1
    assert CellStore(tmp_path).rows() == {}


def test_what_failed_is_kept_told_and_tried_again_if_asked(
    folder, tmp_path, monkeypatch
):
    """A cell whose process dies, and then one whose schema cannot be discovered."""
    dying = "import os, sys; sys.stdin.readline(); os.kill(os.getpid(), 9)"
    path = tmp_path / "tiny.toml"
    mine = f'path = "{(folder / "mine.csv").as_posix()}"'
    text = (folder / "small.toml").read_text().replace('path = "mine.csv"', mine)
    path.write_text(f"epsilons = [1e-4]\n{text}".replace("= 3", "= 1"))
    arguments = [path, "--out", tmp_path]
    with monkeypatch.context() as patch:
        patch.setattr(_run_cells, "PROCESS", [sys.executable, "-c", dying])
        output = command(*arguments, "--jobs", 2, code=1)
    assert "Failed: mine, DPIndependentSynthesizer, release 0: The process" in output
    assert "ended with signal 9; 9 often means that memory ran out." in output
    assert "failed: 1 × ProcessDied" in output
    assert "`--retry` computes these again" in output
    before = stamps(tmp_path)
    assert "1 of 1 cells were there already" in command(*arguments, code=1)
    assert stamps(tmp_path) == before
    with cells_computed("here"):
        command(*arguments, "--retry", code=1)
    (row,) = CellStore(tmp_path).rows().values()
    assert row["error"] == "SchemaRequiredError"
    assert "\n" not in row["message"]


def test_an_error_quotes_no_cell_of_a_private_table(folder, monkeypatch):
    def broken(*parts):
        raise KeyError("Jane Doe")

    broken.__code__ = broken.__code__.replace(co_filename="elsewhere.py")
    monkeypatch.setattr(_measure_cell, "read_source", broken)
    own = Cell(Source("mine", str(folder / "mine.csv"), "status"), "0", REAL)
    row = measure_cell(own, ".")
    assert row["error"] == "KeyError"
    assert "Jane" not in json.dumps(row)
    assert "Jane" in measure_cell(own, ".", debug=True)["traceback"]
    known = measure_cell(Cell(Source("adult"), "0", REAL), ".")
    assert known["message"] == "'Jane Doe'"


# stands in for a cell, and writes a row without what takes seconds to import
FAKE = """
import json, os, sys, time
job = json.loads(sys.stdin.readline())
release, folder = job["cell"]["release"], os.path.join(job["out"], "cells")
open(os.path.join(job["out"], f"{os.getpid()}.pid"), "w").close()
time.sleep(600 * release)
row = {"cell": %r[release], "release": release}
with open(os.path.join(folder, row["cell"] + ".json"), "w") as file:
    json.dump(row, file)
"""


def test_an_interrupted_run_leaves_no_process(folder, tmp_path, monkeypatch):
    """The first cell ends, and the second would take ten minutes."""

    def stop(done, total, row):
        if row is not None:
            while len(list(tmp_path.glob("*.pid"))) < 2:
                time.sleep(0.01)
            raise KeyboardInterrupt

    config = BenchConfig.load(folder / "small.toml")
    fake = FAKE % [cell.key for _, cell in config.cells()]
    monkeypatch.setattr(_run_cells, "PROCESS", [sys.executable, "-S", "-c", fake])
    with pytest.raises(KeyboardInterrupt):
        run_cells(config, tmp_path, n_jobs=2, tell=stop)
    (row,) = CellStore(tmp_path).rows().values()
    assert row["release"] == 0
    assert "error" not in row
    begun = {int(path.stem) for path in tmp_path.glob("*.pid")}
    assert len(begun) >= 2
    deadline = time.monotonic() + 30
    while any(is_running(pid) for pid in begun):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def is_running(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_write_that_fails_leaves_what_was(tmp_path, monkeypatch):
    path = tmp_path / "a.json"
    write_whole(path, "before")

    def full(descriptor):
        raise OSError("No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_whole(path, "after")
    assert path.read_text() == "before"


def test_no_cell_begins_after_the_minutes(folder, tmp_path):
    out = tmp_path / "out"
    assert run_cells(BenchConfig.from_dict(SMALL, folder), out, minutes=0) == []
    told = command(folder / "small.toml", "--out", out, "--minutes", 0)
    assert "3 cells are not run yet; the same command goes on." in told


@pytest.mark.usefixtures("computed")
def test_printed_numbers_go_to_their_rows(folder, tmp_path):
    texts = {"mine": {"DPIndependentSynthesizer": {"1": ".8", "2": ".9"}}}
    content = SMALL | {"printed": texts, "releases": 1}
    rows = run_cells(BenchConfig.from_dict(content, folder), tmp_path)
    assert [row["printed"] for row in rows] == [".8"]
