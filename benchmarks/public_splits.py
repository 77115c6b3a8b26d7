"""Tables that come with public rows, of other places or people, and what to give."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.known_tables import read_split
from skdpgen.benchmark._cells import OWN_PARTS
from skdpgen.benchmark._own_table import Split, Table

N_PRIVATE, MANY = 2_000, 25_000
STATES = ("06", "36", "51")  # California, New York, Virginia


@dataclass(frozen=True)
class Regions:
    """How a table is cut into rows of one place, to protect, and public others."""

    name: str
    is_private: Callable[[pd.DataFrame], Any]
    leave_out: tuple[str, ...]  # columns that say the place
    n_rows: int = N_PRIVATE


REGIONS = {
    "acs_states": Regions(
        "acs_nist_national2019",
        lambda X: X["PUMA"].str[:2].isin(STATES),
        ("PUMA", "DENSITY"),
    ),
    "adult_country": Regions(
        "adult",
        lambda X: (
            X["native-country"].notna() & (X["native-country"] != "United-States")
        ),
        ("native-country",),
    ),
    "adult_race": Regions("adult", lambda X: X["race"] == "Black", ("race",)),
    "adult_us": Regions(
        "adult",
        lambda X: X["native-country"] == "United-States",
        ("native-country",),
        MANY,
    ),
    "adult_not_black": Regions(
        "adult", lambda X: X["race"] != "Black", ("race",), MANY
    ),
}
HALVES = {f"{name}_half": name for name in ("german_credit", "cervical")}
FEW = 300


def read_public_split(name: str, folder: str | Path) -> Split:
    """Cut a table by place, or the rows to train on into two random halves."""
    if name in HALVES:
        return _halves(name, read_split(HALVES[name], folder))
    regions = REGIONS[name]
    X, y = read_split(regions.name, folder).whole
    private = np.asarray(regions.is_private(X))
    table = X.drop(columns=list(regions.leave_out)), y
    order = np.random.default_rng(0).permutation(np.flatnonzero(private))
    train, test = order[: regions.n_rows], order[regions.n_rows :]
    public = _taken(table, np.flatnonzero(~private))
    return Split(name, *_taken(table, train), *_taken(table, test), public)


def few(public: Table) -> Table:
    """Return some of the public rows."""
    order = np.random.default_rng(1).permutation(len(public[0]))
    return _taken(public, order[:FEW])


def permuted(public: Table) -> Table:
    """Return public rows of which each column is shuffled by itself: useless ones."""
    X, y = public
    rng = np.random.default_rng(1)
    columns = {name: rng.permutation(X[name].to_numpy()) for name in X}
    labels = pd.Series(rng.permutation(y.to_numpy()))
    return pd.DataFrame(columns).astype(X.dtypes), labels


def renamed(public: Table) -> Table:
    """Return public rows whose values have each other's names: useless ones."""
    X, y = public
    rng = np.random.default_rng(1)
    strange = X.copy()
    for name in X:
        values = X[name].dropna().unique()
        others = dict(zip(values, rng.permutation(values), strict=True))
        strange[name] = X[name].map(others).astype(X[name].dtype)
    return strange, y


# what a method may be given of the public rows of a table
PARTS = OWN_PARTS | {
    f"{FEW} of them": few,
    "columns permuted": permuted,
    "values renamed": renamed,
}


def _taken(table: Table, rows: Any) -> Table:
    """Return some rows of a table, numbered anew."""
    X, y = (part.iloc[rows].reset_index(drop=True) for part in table)
    return X, y


def _halves(name: str, split: Split) -> Split:
    """Protect one half of the rows to train on, and take the other as public."""
    table = split.X_train, split.y_train
    order = np.random.default_rng(0).permutation(len(split.X_train))
    halves = [_taken(table, rows) for rows in np.array_split(order, 2)]
    (X, y), public = halves
    return replace(split, name=name, X_train=X, y_train=y, public=public)
