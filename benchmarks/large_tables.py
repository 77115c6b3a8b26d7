"""Large and wide tables: seconds, CPU seconds and peak memory of fits and samples.

``python -m benchmarks large make FOLDER 10_000_000`` writes a folder of Parquet;
``large fit FOLDER baseline`` reads it and ``large sample FOLDER baseline 10_000_000
FILE`` fits a few rows of it and draws many. ``wide columns 2000 pairwise`` fits 20,000
rows of 2,000 columns, ``wide classes 1000 merf`` a target of 1,000 classes, ``wide
categories 10000 baseline`` a column of 10,000 categories. With ``public`` the schema is
public, and a number is epsilon. Each is a process of its own.
"""

import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from skdpgen import Categorical, Numeric, Schema
from skdpgen.benchmark._measure_cell import peak_mib
from skdpgen.synthesizers import (
    DPIndependentSynthesizer,
    DPMERFSynthesizer,
    DPPairwiseSynthesizer,
)

AT_ONCE = 500_000  # rows of a file
DELTA = 1e-9  # well below one over the rows
METHODS: dict[str, Any] = {
    "baseline": DPIndependentSynthesizer,
    "pairwise": DPPairwiseSynthesizer,
    "merf": DPMERFSynthesizer,
}
N_ROWS = {"columns": 20_000, "classes": 50_000, "categories": 100_000}
N_CELLS = (2, 3, 5, 8)  # of categories, in turn
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
    """Write a number of rows as a folder of Parquet, a file at a time."""
    folder.mkdir(parents=True)
    for seed, start in enumerate(range(0, n_rows, AT_ONCE)):
        rows = some_rows(min(AT_ONCE, n_rows - start), seed)
        rows.to_parquet(folder / f"part_{seed:04}.parquet", index=False)


def fit(folder: Path, method: str) -> str:
    """Fit a folder of Parquet, and report time and memory."""
    from pyarrow import dataset  # only needed here

    synth = METHODS[method](delta=DELTA, random_state=0)
    source, before = dataset.dataset(folder, format="parquet"), clock()
    synth.fit(source, "target")
    return took(f"{method}, {source.count_rows()} rows fitted", before)


def sample(folder: Path, method: str, n_rows: int, path: str) -> str:
    """Fit the first file of a folder; report the cost of drawing rows."""
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
    """Report the time since a :func:`clock`, and the peak memory."""
    seconds, cpu = (b - a for a, b in zip(before, clock(), strict=True))
    return f"{what}: {seconds:.0f} s, {cpu:.0f} CPU s, peak {peak_mib():.0f} MiB"


def wide_rows(n_rows: int, n_columns: int, seed: int = 0) -> pd.DataFrame:
    """Make columns of numbers and of categories in turn, each like the one before it.

    Examples
    --------
    >>> wide_rows(3, 5).shape
    (3, 5)
    """
    rng = np.random.default_rng(seed)
    hidden, columns = rng.normal(size=n_rows), {}
    for j in range(n_columns):
        hidden = 0.8 * hidden + 0.6 * rng.normal(size=n_rows)
        if j % 2 == 0:
            columns[f"number {j}"] = 10 * hidden + 50
            continue
        n_cells = N_CELLS[j // 2 % len(N_CELLS)]
        place = n_cells * (0.5 + hidden / 4)
        codes = place.astype(np.int64).clip(0, n_cells - 1)
        columns[f"kind {j}"] = codes_as_text(codes)
    return pd.DataFrame(columns)


def codes_as_text(codes: Any) -> pd.Series:
    """Return names of codes.

    Examples
    --------
    >>> codes_as_text(np.array([1, 0])).tolist()
    ['v1', 'v0']
    """
    names = np.array([f"v{i}" for i in range(int(codes.max()) + 1)], dtype=object)
    return pd.Series(names[codes], dtype="str")


def wide_table_of(axis: str, size: int) -> tuple[pd.DataFrame, Any]:
    """Make the table of an axis, and its target; None without one.

    Categories and classes are of unequal size, as names of places are.

    Examples
    --------
    >>> wide_table_of("categories", 3)[0].shape
    (100000, 5)
    """
    n_rows, rng = N_ROWS[axis], np.random.default_rng(1)
    n_columns = {"columns": size, "classes": 10, "categories": 4}[axis]
    X = wide_rows(n_rows, n_columns)
    if axis == "columns":
        return X, (X["number 0"] > 50).astype(int)
    place = X["number 0"].rank(pct=True) * 0.8 + 0.2 * rng.random(n_rows)
    codes = (size * place**2).astype(np.int64).clip(upper=size - 1).to_numpy()
    if axis == "classes":
        return X, pd.Series(codes)
    X["place"] = codes_as_text(codes)
    return X, None


def public_schema(X: pd.DataFrame, y: Any) -> Any:
    """Return a public schema of such a table."""
    columns = {
        name: Categorical(sorted(X[name].unique()))
        if X[name].dtype == "str"
        else Numeric(-10.0, 110.0)
        for name in X
    }
    if y is None:
        return Schema(columns)
    return Schema(columns, target=Categorical(list(range(int(y.max()) + 1))))


def run_large(command: str, folder: str, *rest: str) -> None:
    """Make rows, fit them, or draw from a fit: what the command line says."""
    where = Path(folder)
    if command == "make":
        make(where, int(rest[0]))
    elif command == "fit":
        print(fit(where, rest[0]))
    else:
        print(sample(where, rest[0], int(rest[1]), rest[2]))


def run_wide(axis: str, size: str, method: str, *rest: str) -> None:
    """Fit and sample once; print what each took."""
    X, y = wide_table_of(axis, int(size))
    schema = public_schema(X, y) if "public" in rest else None
    epsilon = next((float(word) for word in rest if word != "public"), 1.0)
    what = " ".join([method, axis, size, *rest])
    synth = METHODS[method](epsilon, schema=schema, random_state=0)
    before = clock()
    synth.fit(X, y)
    print(took(f"{what}, fitted", before), flush=True)
    before = clock()
    synth.sample(10_000)
    print(took(f"{what}, 10000 rows drawn", before))
