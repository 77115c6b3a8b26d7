"""Tables that are cut into rows to protect, public rows, and rows to test on."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from skdpgen.benchmark._reading import Split, read_split

Table = tuple[pd.DataFrame, pd.Series]
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
PUBLIC_SPLITS = (*REGIONS, *HALVES)


@dataclass(frozen=True, eq=False)
class PublicSplit:
    """Rows to protect, public rows, rows to test on, and all rows of the table."""

    private: Table
    public: Table
    test: Table
    whole: Table


def read_public_split(
    name: str, folder: str | Path, n_rows: int | None = None
) -> PublicSplit:
    """Cut a table by place, or the rows to train on into two random halves."""
    if name in HALVES:
        return _halves(read_split(HALVES[name], folder))
    regions = REGIONS[name]
    n_rows = regions.n_rows if n_rows is None else n_rows
    X, y = read_split(regions.name, folder).whole
    private = np.asarray(regions.is_private(X))
    X = X.drop(columns=list(regions.leave_out))
    order = np.random.default_rng(0).permutation(np.flatnonzero(private))
    train, test = (taken((X, y), rows) for rows in (order[:n_rows], order[n_rows:]))
    return PublicSplit(train, taken((X, y), np.flatnonzero(~private)), test, (X, y))


def taken(table: Table, rows: Any) -> Table:
    """Return some rows of a table, numbered anew."""
    X, y = (part.iloc[rows].reset_index(drop=True) for part in table)
    return X, y


def _halves(split: Split) -> PublicSplit:
    """Protect one half of the rows to train on, and take the other as public."""
    train = split.X_train, split.y_train
    order = np.random.default_rng(0).permutation(len(split.X_train))
    private, public = np.array_split(order, 2)
    test = split.X_test, split.y_test
    return PublicSplit(taken(train, private), taken(train, public), test, split.whole)
