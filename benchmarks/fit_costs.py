"""Cost of a fit by rows, columns and classes, relative to a fixed computation.

Seconds of two machines do not compare, nor do those of one machine on two days. So the
cost of a fit is a ratio: its processor time over that of a fixed computation, which
the same process did just before. Every fit has a process of its own.
"""

import json
import subprocess
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import torch

from benchmarks.speed import run_apart, wide_table
from skdpgen.benchmark._cells import DELTA
from skdpgen.benchmark._measure_cell import peak_mib
from skdpgen.synthesizers import all_synthesizers

AXES: dict[str, tuple[int, ...]] = {
    "rows": (1_000, 10_000, 100_000, 1_000_000),
    "columns": (10, 50, 200, 600),
    "classes": (2, 10, 50),
}
USUAL = {"rows": 10_000, "columns": 20, "classes": 2}
LIMIT = 1200.0  # seconds of a fit


def fit_costs(
    methods: Iterable[str], axes: Iterable[str] = tuple(AXES), limit: float = LIMIT
) -> Iterator[dict[str, Any]]:
    """Yield a row for each method and size; a fit that takes too long has a note.

    Sizes of an axis come in order, and after the first that is given up the larger
    ones are not tried.
    """
    for method in methods:
        for axis in axes:
            for value in AXES[axis]:
                sizes = USUAL | {axis: value}
                row = {"method": method, "axis": axis, **sizes}
                costs = _in_a_process(method, sizes, limit)
                yield row | costs
                if "note" in costs:
                    break


def tabulate_costs(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return a Markdown table: a line for each method and axis, a size in each cell.

    Examples
    --------
    >>> row = {"method": "DPMERFSynthesizer", "axis": "classes", "classes": 2}
    >>> print(tabulate_costs([row | {"ratio": 12.34, "seconds": 5.0, "peak_mib": 500}]))
    | method | by | cost (seconds, MiB) at each size |
    | --- | --- | --- |
    | DPMERFSynthesizer | classes | 2: 12.3 (5.0, 500) |
    """
    lines = [
        "| method | by | cost (seconds, MiB) at each size |",
        "| --- | --- | --- |",
    ]
    groups: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        text = f"{row[row['axis']]:,}: {_cost(row)}"
        groups.setdefault((row["method"], row["axis"]), []).append(text)
    for (method, axis), texts in groups.items():
        lines.append(f"| {method} | {axis} | {'; '.join(texts)} |")
    return "\n".join(lines)


def run(method: str, rows: int, columns: int, classes: int) -> None:
    """Fit once, and print what it cost: the work of a process of its own."""
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    X = wide_table(rows, columns)
    y = (7 * X["number0"]).astype(int) % classes
    make = all_synthesizers()[method]
    synthesizer = make(delta=DELTA, classes=list(range(classes)), random_state=0)
    unit = reference_seconds()
    start, seconds = time.process_time(), time.perf_counter()
    synthesizer.fit(X, y)
    spent, seconds = time.process_time() - start, time.perf_counter() - seconds
    costs = {"ratio": spent / unit, "cpu_seconds": spent, "seconds": seconds}
    print(json.dumps({**costs, "peak_mib": peak_mib()}))


def reference_seconds(repeats: int = 3) -> float:
    """Return the processor time of products, waves and counts: what fits are made of.

    Examples
    --------
    >>> 0 < reference_seconds(1) < 60
    True
    """
    rng = np.random.default_rng(0)
    x = torch.as_tensor(rng.random((1000, 500)), dtype=torch.float32)
    codes = rng.integers(0, 1000, 1_000_000)
    spent = []
    for _ in range(repeats):
        start = time.process_time()
        for _ in range(10):
            (x @ x.T).cos()
        np.bincount(codes)
        spent.append(time.process_time() - start)
    return min(spent)


def _in_a_process(
    method: str, sizes: Mapping[str, int], limit: float
) -> dict[str, Any]:
    given = ", ".join(f"{name}={value}" for name, value in sizes.items())
    code = f"from benchmarks.fit_costs import run; run({method!r}, {given})"
    try:
        done = run_apart(code, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return {"note": f"given up after {limit:.0f} s"}
    if done.returncode:
        last = done.stderr.strip().rpartition("\n")[2]
        return {"note": last.partition(":")[0] or f"exit code {done.returncode}"}
    costs: dict[str, Any] = json.loads(done.stdout)
    return costs


def _cost(row: Mapping[str, Any]) -> str:
    if "note" in row and not pd.isna(row["note"]):
        return str(row["note"])
    return f"{row['ratio']:.3g} ({row['seconds']:.1f}, {row['peak_mib']:.0f})"
