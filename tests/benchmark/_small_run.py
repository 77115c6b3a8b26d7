"""A run that is small, for the tests of runs."""

import json
from contextlib import contextmanager

import pytest
from click.testing import CliRunner

from skdpgen.benchmark import _run_cells
from skdpgen.benchmark._cells import Cell
from skdpgen.benchmark._measure_cell import measure_cell
from skdpgen.cli import main
from skdpgen.datasets import load_example

OWN = {"path": "mine.csv", "target": "status"}
SMALL = {
    "tables": [OWN],
    "methods": ["DPIndependentSynthesizer"],
    "classifiers": ["lda"],
    "releases": 3,
    "real": False,
}
TOML = """
tables = [{path = "mine.csv", target = "status"}]
methods = ["DPIndependentSynthesizer"]
classifiers = ["lda"]
releases = 3
real = false
"""

EITHER = ["here", pytest.param("apart", marks=pytest.mark.slow)]


@contextmanager
def cells_computed(where):
    """Let this process compute cells, or leave each to a process of its own.

    Theirs take three seconds to begin. What a cell is told and what it writes go the
    same ways here, through JSON; test_bench_runs.py is about the processes.
    """

    def compute(processes, cell):
        job = json.loads(json.dumps(cell.to_dict()))
        catalogue, data = processes.catalogue, processes.data
        told = Cell.from_dict(job, catalogue)
        row = measure_cell(told, data, catalogue, debug=processes.debug)
        processes.store.write(row)
        return processes.store.row(cell.key)

    with pytest.MonkeyPatch.context() as patch:
        if where == "here":
            patch.setattr(_run_cells._Processes, "compute", compute)
        yield


def write_small_run(folder):
    X, y = load_example(600)
    X.assign(status=y).to_csv(folder / "mine.csv", index=False)
    (folder / "small.toml").write_text(TOML)
    return folder


def command(*arguments, code=0):
    found = CliRunner().invoke(main, ["bench", *map(str, arguments)])
    assert found.exit_code == code, found.output
    return found.output
