"""Wide and tall tables: seconds, CPU seconds and peak memory of a fit and a sample.

``python -m skdpgen.benchmark._wide_tables columns 2000 pairwise`` fits 20,000 rows of
2,000 columns, ``classes 1000 merf`` a target of 1,000 classes, ``categories 10000
floor`` a column of 10,000 categories; with ``public`` the schema is, a number is
epsilon. Each is a process of its own.
"""

import sys
from typing import Any

import numpy as np
import pandas as pd

from skdpgen.benchmark._large_tables import METHODS, clock, took

N_ROWS = {"columns": 20_000, "classes": 50_000, "categories": 100_000}
N_CELLS = (2, 3, 5, 8)  # of categories, in turn


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


def made(axis: str, size: int) -> tuple[pd.DataFrame, Any]:
    """Make the table of an axis, and its target; None without one.

    Categories and classes are of unequal size, as names of places are.

    Examples
    --------
    >>> made("categories", 3)[0].shape
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
    """Return what someone would know of such a table."""
    from skdpgen import Categorical, Numeric, Schema

    columns = {
        name: Categorical(sorted(X[name].unique()))
        if X[name].dtype == "str"
        else Numeric(-10.0, 110.0)
        for name in X
    }
    if y is None:
        return Schema(columns)
    return Schema(columns, target=Categorical(list(range(int(y.max()) + 1))))


def main(axis: str, size: str, method: str, *rest: str) -> None:
    """Fit and sample once; print what each took."""
    X, y = made(axis, int(size))
    schema = public_schema(X, y) if "public" in rest else None
    epsilon = next((float(one) for one in rest if one != "public"), 1.0)
    what = " ".join([method, axis, size, *rest])
    synth = METHODS[method](epsilon, schema=schema, random_state=0)
    before = clock()
    synth.fit(X, y)
    print(took(f"{what}, fitted", before), flush=True)
    before = clock()
    synth.sample(10_000)
    print(took(f"{what}, 10000 rows drawn", before))


if __name__ == "__main__":
    main(*sys.argv[1:])
