"""Tables larger than memory: seconds, CPU seconds and peak memory of fits and samples.

``python -m skdpgen.benchmark._large_tables make FOLDER 10_000_000`` writes a folder of
Parquet; ``fit FOLDER floor`` reads it and ``sample FOLDER floor 10_000_000 FILE`` fits
a few rows of it and draws many. Each is a process of its own.
"""

import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pyarrow import dataset

from skdpgen.benchmark._rival_runner import peak_mib
from skdpgen.synthesizers import (
    DPIndependentSynthesizer,
    DPMERFSynthesizer,
    DPPairwiseSynthesizer,
)

AT_ONCE = 500_000  # rows of a file
DELTA = 1e-9  # well below one over the rows
METHODS: dict[str, Any] = {
    "floor": DPIndependentSynthesizer,
    "pairwise": DPPairwiseSynthesizer,
    "merf": DPMERFSynthesizer,
}
TOWNS = np.array([f"town {i}" for i in range(40)])
JOBS = np.array([f"job {i}" for i in range(12)])


def some_rows(n_rows: int, seed: int) -> pd.DataFrame:
    """Make rows of 20 columns that depend on each other, and a target of two classes.

    Eight columns of real numbers, four of whole numbers, six of text, one of times and
    one of truth values.
    """
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=(n_rows, 3))
    columns: dict[str, Any] = {}
    for j in range(8):
        noise = rng.normal(size=n_rows)
        values = hidden[:, j % 3] + 0.5 * noise
        columns[f"real {j}"] = np.exp(values) * 100 if j % 2 else 5 * values + 20
    for j in range(4):
        rate = np.exp(0.5 * hidden[:, j % 3] + j)
        columns[f"whole {j}"] = rng.poisson(rate)
    for j, names in enumerate((TOWNS, JOBS, JOBS[:5], TOWNS[:20], JOBS[:3], JOBS[:8])):
        place = (hidden[:, j % 3] + 2) / 4 + 0.2 * rng.normal(size=n_rows)
        codes = (place * len(names)).astype(np.int64).clip(0, len(names) - 1)
        columns[f"text {j}"] = pd.Categorical.from_codes(codes, names).astype("str")
    seconds = 1.5e9 + 1e7 * hidden[:, 0]
    columns["time"] = pd.to_datetime(seconds.astype(np.int64), unit="s")
    columns["truth"] = hidden[:, 1] > 0.5
    odds = hidden @ [1.0, -0.5, 0.5] + rng.logistic(size=n_rows)
    columns["target"] = np.where(odds > 1.0, "yes", "no")
    return pd.DataFrame(columns)


def make(folder: Path, n_rows: int) -> None:
    """Write so many rows as a folder of Parquet, a file at a time."""
    folder.mkdir(parents=True)
    for seed, start in enumerate(range(0, n_rows, AT_ONCE)):
        rows = some_rows(min(AT_ONCE, n_rows - start), seed)
        rows.to_parquet(folder / f"part_{seed:04}.parquet", index=False)


def fit(folder: Path, method: str) -> str:
    """Fit a folder of Parquet, and say what it took."""
    synth = METHODS[method](delta=DELTA, random_state=0)
    source, before = dataset.dataset(folder, format="parquet"), clock()
    synth.fit(source, "target")
    return took(f"{method}, {source.count_rows()} rows fitted", before)


def sample(folder: Path, method: str, n_rows: int, path: str) -> str:
    """Fit the first file of a folder, draw rows into Parquet; say what drawing took."""
    first = sorted(folder.glob("*.parquet"))[0]
    synth = METHODS[method](delta=DELTA, random_state=0).fit(first, "target")
    before = clock()
    synth.sample_parquet(path, n_rows)
    return took(f"{method}, {n_rows} rows drawn", before)


def clock() -> tuple[float, float]:
    """Return seconds, and CPU seconds of this process with all of its threads."""
    used = os.times()
    return time.perf_counter(), used.user + used.system


def took(what: str, before: tuple[float, float]) -> str:
    seconds, cpu = (b - a for a, b in zip(before, clock(), strict=True))
    return f"{what}: {seconds:.0f} s, {cpu:.0f} CPU s, peak {peak_mib():.0f} MiB"


def main(command: str, folder: str, *rest: str) -> None:
    """Run what the command line says."""
    where = Path(folder)
    if command == "make":
        make(where, int(rest[0]))
    elif command == "fit":
        print(fit(where, rest[0]))
    else:
        print(sample(where, rest[0], int(rest[1]), rest[2]))


if __name__ == "__main__":
    main(*sys.argv[1:])
