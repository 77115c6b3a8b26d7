"""Run the cells of a configuration, each in a process of its own, several at a time.

Finished cells are files in a folder. Each is written completely or not at all, so an
interrupted run continues where it stopped.
"""

import importlib
import json
import math
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from skdpgen.benchmark._bench_config import BenchConfig, printed_of
from skdpgen.benchmark._cells import NOT_PRIVATE, Catalogue, Cell
from skdpgen.benchmark._measure_cell import measure_cell, versions
from skdpgen.benchmark._own_table import read_source

# not `-m`, which would import this module a second time, under another name
COMPUTE = "from skdpgen.benchmark._run_cells import compute_cell; compute_cell()"
PROCESS = [sys.executable, "-c", COMPUTE]
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
OF_CELLS = (
    "Names and contents of the files in cells/ hold fingerprints of the table besides, "
    "which confirm a guess at a row. Only the same command needs them, to go on."
)
FOLDER, RESULTS = "cells", "results"
ENDLESS = "inf"  # which JSON has no number for
Progress = Callable[[int, int, dict[str, Any] | None], None]


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
    tell: Progress = lambda n_done, total, row: None,
) -> list[dict[str, Any]]:
    """Compute the cells that are not finished yet; return the rows of all.

    A cell is a table, a method with settings, an epsilon and the number of a release.
    It runs in its own process, so its memory is measured separately, and a crash
    affects no other cell. It is written as soon as it is finished, so the same call
    continues an interrupted run. Failed cells are kept as well, with their errors.

    .. warning::
       **Scores and distances read real rows, outside the privacy guarantee**, and a
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
            read_source(source, data)  # raises for a bad file before any work
    named = config.cells(data)
    store = CellStore(out)
    finished = store.rows()
    if retry:
        finished = {key: row for key, row in finished.items() if "error" not in row}
        store.forget({cell.key for _, cell in named} - set(finished))
    todo = [cell for _, cell in named if cell.key not in finished]
    todo.sort(key=lambda cell: cell.release)  # the first release of all, then others
    keys = {cell.key for _, cell in named}
    n_done = len(keys) - len(todo)
    tell(n_done, len(keys), None)
    deadline = math.inf if minutes is None else time.monotonic() + 60 * minutes
    folder = str(Path(data).absolute())
    processes = _Processes(
        store, config.catalogue, folder, debug, config.limit, deadline
    )
    with closing(_computed(todo, processes, n_jobs)) as computed:
        for row in filter(None, computed):
            n_done += 1
            tell(n_done, len(keys), row)
    finished = store.rows()
    rows = []
    for name, cell in named:
        if cell.key not in finished:
            continue
        row = cell.shared(finished[cell.key])
        rows.append({"name": name, **printed_of(config.printed, row, name), **row})
    if any(source.is_own for source in config.sources):
        write_whole(store.out / "NOT-PRIVATE.txt", f"{NOT_PRIVATE}\n{OF_CELLS}\n")
    store.collect(rows, parquet=parquet)
    return rows


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a file of JSON lines."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [_revived(json.loads(line)) for line in lines if line.strip()]


@dataclass
class _Processes:
    """The running processes of cells; all of them end when the run ends."""

    store: "CellStore"
    catalogue: Catalogue
    data: str
    debug: bool
    limit: float | None
    deadline: float
    running: set[subprocess.Popen[str]] = field(default_factory=set)
    lock: threading.Lock = field(default_factory=threading.Lock)
    is_over: bool = False

    def compute(self, cell: Cell) -> dict[str, Any]:
        """Wait for the process of a cell; return the row that it wrote."""
        job = {
            "cell": cell.to_dict(),
            "out": str(self.store.out.absolute()),
            "data": self.data,
            "debug": self.debug,
            "module": self.catalogue.module,
            "folder": self.catalogue.folder,
        }
        with self.lock:
            if self.is_over or time.monotonic() >= self.deadline:
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
        assert process.stdin is not None  # it is a pipe
        try:
            process.stdin.write(json.dumps(job) + "\n")
            process.stdin.flush()  # and stays open: its end would end the process
        except BrokenPipeError:
            pass  # the process is dead already; its exit code is reported below
        failed: dict[str, str] = {}
        try:
            code = process.wait(self.limit)
        except subprocess.TimeoutExpired:
            process.kill()  # its own child processes end with it
            code = process.wait()
            assert self.limit is not None  # without a limit nothing expires
            failed = _given_up(self.limit)
        process.stdin.close()
        with self.lock:
            self.running.discard(process)
            if self.is_over:
                return {}
        row = self.store.row(cell.key)
        if not row:
            row = {**cell.about(), **(failed or _process_died(code)), **versions()}
            self.store.write(row)
        return row

    def end(self) -> None:
        """Kill the running processes; their results are lost."""
        with self.lock:
            self.is_over = True
            for process in self.running:
                process.kill()


def _computed(
    todo: list[Cell], processes: _Processes, n_jobs: int
) -> Generator[dict[str, Any], None, None]:
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


def _given_up(limit: float) -> dict[str, str]:
    """Return the columns of a cell that took too long."""
    return {"error": "GivenUp", "message": f"Given up after {limit:g} seconds."}


def _process_died(code: int) -> dict[str, str]:
    """Return the columns of a cell whose process died."""
    reason = f"exit code {code}"
    if code < 0:
        reason = f"signal {-code}; 9 often means that memory ran out"
    return {
        "error": "ProcessDied",
        "message": f"The process of the cell ended with {reason}.",
    }


def compute_cell() -> None:
    """Compute the cell whose description is the first line of stdin.

    The parent keeps the pipe open. If the parent ends, even by ``kill -9``, the pipe
    closes and this process ends too, so none is left running. This process, not the
    parent, writes the finished cell, so the cell is kept even if the parent dies.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles interrupts
    job = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_parent, daemon=True).start()
    catalogue = Catalogue()
    if job["module"]:
        sys.path.insert(0, job["folder"])
        catalogue = importlib.import_module(job["module"]).CATALOGUE
    cell = Cell.from_dict(job["cell"], catalogue)
    row = measure_cell(cell, job["data"], catalogue, debug=job["debug"])
    CellStore(job["out"]).write(row)


def _end_with_parent() -> None:
    # not `sys.stdin.read`, whose lock would be held while Python shuts down
    os.read(sys.stdin.fileno(), 1)
    os._exit(1)


class CellStore:
    """One JSON file a cell, under its key.

    A row is written under another name, forced to the disk, and renamed. So a file of
    this name is a complete row, even if the process is killed. Damaged files count as
    absent, so such a cell is computed again.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     store = CellStore(folder)
    ...     store.write({"cell": "0a", "roc_auc": 0.5})
    ...     _ = (store.folder / "0b.json").write_text('{"cell": "0b", "roc')
    ...     store.rows()
    {'0a': {'cell': '0a', 'roc_auc': 0.5}}
    """

    def __init__(self, out: str | Path) -> None:
        self.out = Path(out)
        self.folder = self.out / FOLDER
        self.folder.mkdir(parents=True, exist_ok=True)

    def write(self, row: dict[str, Any]) -> None:
        """Keep the row of a cell, whole or not at all."""
        write_whole(
            self.folder / f"{row['cell']}.json", json.dumps(_stored(row)) + "\n"
        )

    def rows(self) -> dict[str, dict[str, Any]]:
        """Return the finished cells by their keys."""
        keys = sorted(path.stem for path in self.folder.glob("*.json"))
        return {key: row for key in keys if (row := self.row(key))}

    def row(self, key: str) -> dict[str, Any]:
        """Return one finished cell, or nothing."""
        row = _read(self.folder / f"{key}.json")
        return row if row.get("cell") == key else {}

    def forget(self, keys: Iterable[str]) -> None:
        """Delete cells, so that they are computed again."""
        for key in keys:
            (self.folder / f"{key}.json").unlink(missing_ok=True)

    def collect(self, rows: Iterable[dict[str, Any]], *, parquet: bool = False) -> Path:
        """Write rows as JSON lines beside the cells, and as Parquet if asked."""
        rows, path = list(rows), self.out / f"{RESULTS}.jsonl"
        write_rows(path, rows)
        if parquet:
            flat = [
                {name: _flat(value) for name, value in _revived(_stored(row)).items()}
                for row in rows
            ]
            pd.DataFrame(flat).to_parquet(path.with_suffix(".parquet"), index=False)
        return path


def write_rows(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write rows as JSON lines, which :func:`read_rows` reads."""
    write_whole(path, "".join(json.dumps(_stored(row)) + "\n" for row in rows))


def write_whole(path: Path, text: str) -> None:
    """Write a file atomically: afterwards it is complete or unchanged."""
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    with part.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
    if os.name == "posix":  # the new name itself must reach the disk, too
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _plain(value: Any) -> Any:
    """Return a value for JSON; NaN and infinity become null."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _stored(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row for JSON; an infinite epsilon must be kept, so it becomes text."""
    plain = _plain(row)
    return plain | {"epsilon": ENDLESS} if row.get("epsilon") == math.inf else plain


def _revived(row: Any) -> dict[str, Any]:
    """Return a row read from JSON, with its epsilon as a number again."""
    if not isinstance(row, dict):
        return {}
    return row | {"epsilon": math.inf} if row.get("epsilon") == ENDLESS else row


def _read(path: Path) -> dict[str, Any]:
    try:
        row = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return _revived(row)


def _flat(value: Any) -> Any:
    """Return a value for a column of Parquet: lists and mappings become JSON."""
    return json.dumps(value) if isinstance(value, dict | list) else value
