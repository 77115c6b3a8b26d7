"""Run what a configuration says: cells in processes of their own, several at a time."""

import json
import math
import os
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

from skdpgen.benchmark.runs._bench_config import BenchConfig
from skdpgen.benchmark.runs._cell_store import CellStore, write_whole
from skdpgen.benchmark.runs._frozen_cell import NOT_PRIVATE, Cell
from skdpgen.benchmark.runs._measure_cell import versions
from skdpgen.benchmark.runs._own_table import read_source
from skdpgen.benchmark.runs._printed import printed_of

PROCESS = [sys.executable, "-m", "skdpgen.benchmark.runs._cell_process"]
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
OF_CELLS = (
    "Names and contents of the files in cells/ hold fingerprints of the table besides, "
    "which confirm a guess at a row. Only the same command needs them, to go on."
)
Told = Callable[[int, int, dict[str, Any] | None], None]


def run_cells(
    config: BenchConfig,
    out: str | Path,
    *,
    data: str | Path = ".",
    n_jobs: int = 1,
    retry: bool = False,
    parquet: bool = False,
    debug: bool = False,
    minutes: float | None = None,
    tell: Told = lambda done, total, row: None,
) -> list[dict[str, Any]]:
    """Compute the cells that are not finished yet; return the rows of all.

    A cell is a table, a method with settings, an epsilon and the number of a release.
    It has a process of its own, so its memory is measured alone, and a crash costs no
    other cell. It is written as soon as it is finished, so whatever ends a run, the
    same call goes on where it was. What failed is kept as well, with its error.

    .. warning::
       **Scores and distances read real rows and stand outside the guarantee**, and a
       comparison fits the same rows many times. Of tables that are not public,
       results are not for publication.

    Parameters
    ----------
    config : BenchConfig
    out : path
        Folder of the results: ``cells/`` while it runs, then ``results.jsonl``.
    data : path, default="."
        Folder of the tables that are known by name.
    n_jobs : int, default=1
        Cells at a time, each with one thread; -1 takes all cores.
    retry : bool, default=False
        Whether to compute again what failed.
    parquet : bool, default=False
        Whether to write ``results.parquet``, too.
    debug : bool, default=False
        Whether to keep texts and tracebacks of errors that may show values.
    minutes : float or None, default=None
        Time after which no further cell is begun; 0 collects what is there.
    tell : callable
        Is given the cells that are there, all of them, and the row that was finished
        (None at first).

    Returns
    -------
    list of dict
        A row for each cell that is finished, in the order of the configuration.
    """
    for source in config.sources:
        if source.is_own or (source.rows and not source.is_images):
            read_source(source, data)  # what is wrong with it is said once, and now
    named = config.cells(data)
    store = CellStore(out)
    there = store.rows()
    if retry:
        there = {key: row for key, row in there.items() if "error" not in row}
        store.forget({cell.key for _, cell in named} - set(there))
    todo = [cell for _, cell in named if cell.key not in there]
    wanted = {cell.key for _, cell in named}
    done = len(wanted) - len(todo)
    tell(done, len(wanted), None)
    until = math.inf if minutes is None else time.monotonic() + 60 * minutes
    folder = str(Path(data).absolute())
    processes = _Processes(store, folder, debug, config.limit, until)
    with closing(_computed(todo, processes, n_jobs)) as computed:
        for row in filter(None, computed):
            done += 1
            tell(done, len(wanted), row)
    there = store.rows()
    rows = []
    for name, cell in named:
        if cell.key not in there:
            continue
        row = cell.shared(there[cell.key])
        rows.append({"name": name, **printed_of(config.printed, row, name), **row})
    if any(source.is_own for source in config.sources):
        write_whole(store.out / "NOT-PRIVATE.txt", f"{NOT_PRIVATE}\n{OF_CELLS}\n")
    store.collect(rows, parquet=parquet)
    return rows


@dataclass
class _Processes:
    """The processes that run now; none is left when the run ends."""

    store: CellStore
    data: str
    debug: bool
    limit: float | None
    until: float
    running: set[Any] = field(default_factory=set)
    lock: Any = field(default_factory=threading.Lock)
    is_over: bool = False

    def compute(self, cell: Cell) -> dict[str, Any]:
        """Wait for the process of a cell; return the row that it wrote."""
        job = {
            "cell": cell.to_dict(),
            "out": str(self.store.out.absolute()),
            "data": self.data,
            "debug": self.debug,
        }
        with self.lock:
            if self.is_over or time.monotonic() >= self.until:
                return {}
            process = subprocess.Popen(
                PROCESS,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=None if self.debug else subprocess.DEVNULL,
                env=dict.fromkeys(THREADS, "1") | os.environ,
                text=True,
            )
            self.running.add(process)
        try:
            process.stdin.write(json.dumps(job) + "\n")
            process.stdin.flush()  # and stays open: its end would end the process
        except BrokenPipeError:
            pass  # it is dead already, and its exit code says more
        failed = {}
        try:
            code = process.wait(self.limit)
        except subprocess.TimeoutExpired:
            process.kill()  # and what it asks ends with it
            code = process.wait()
            failed = _given_up(self.limit)
        process.stdin.close()
        with self.lock:
            self.running.discard(process)
            if self.is_over:
                return {}
        row = self.store.row(cell.key)
        if not row:
            row = {**cell.about(), **(failed or _death(code)), **versions()}
            self.store.write(row)
        return row

    def end(self) -> None:
        """End what still runs; nothing of it is kept."""
        with self.lock:
            self.is_over = True
            for process in self.running:
                process.kill()


def _computed(
    todo: list[Cell], processes: _Processes, n_jobs: int
) -> Iterator[dict[str, Any]]:
    """Yield rows as they are finished."""
    # threads, since each of them only waits for a process
    parallel = Parallel(n_jobs, backend="threading", return_as="generator_unordered")
    rows = parallel(delayed(processes.compute)(cell) for cell in todo)
    try:
        for row in rows:  # noqa: UP028 - `yield from` would close them too early
            yield row
    finally:
        processes.end()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of joblib: that something was cancelled
            rows.close()


def _given_up(limit: float | None) -> dict[str, str]:
    """Return the columns of a cell that took too long."""
    return {"error": "GivenUp", "message": f"Given up after {limit:g} seconds."}


def _death(code: int) -> dict[str, str]:
    """Return the columns of a cell whose process did not come to its end."""
    said = f"exit code {code}"
    if code < 0:
        said = f"signal {-code}; 9 often means that memory ran out"
    return {
        "error": "ProcessDied",
        "message": f"The process of the cell ended with {said}.",
    }
