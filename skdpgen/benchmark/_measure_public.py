"""What public rows are worth: of other places, and useless ones."""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from skdpgen.benchmark._measure import DELTA
from skdpgen.benchmark._reading import read_split
from skdpgen.metrics import draw_samples, total_variation
from skdpgen.tables import Schema

Table = tuple[pd.DataFrame, pd.Series]
N_PRIVATE, N_DRAWN, FEW = 2_000, 5_000, 300
STATES = ("06", "36", "51")  # California, New York, Virginia


@dataclass(frozen=True)
class Regions:
    """How a table is cut into rows of one place, to protect, and public others."""

    name: str
    is_private: Callable[[pd.DataFrame], Any]
    leave_out: tuple[str, ...]  # columns that say the place


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
}


def measure_public(
    name: str,
    folder: str | Path,
    make: Callable[..., Any],
    *,
    epsilon: float,
    n_releases: int,
    is_schema_public: bool,
    n_rows: int = N_PRIVATE,
) -> Iterator[dict[str, Any]]:
    """Fit with public rows of each kind; yield distances to other private rows."""
    regions = REGIONS[name]
    X, y = read_split(regions.name, folder).whole
    private = np.asarray(regions.is_private(X))
    X = X.drop(columns=list(regions.leave_out))
    order = np.random.default_rng(0).permutation(np.flatnonzero(private))
    train, test = (taken((X, y), rows) for rows in (order[:n_rows], order[n_rows:]))
    public = taken((X, y), np.flatnonzero(~private))
    about = {
        "set": name,
        "schema": "public" if is_schema_public else "discovered",
        "epsilon": epsilon,
    }
    for kind, rows in _kinds(public).items():
        for release in range(n_releases):
            synth = make(
                epsilon=epsilon,
                delta=DELTA,
                schema=Schema.infer(X, y) if is_schema_public else None,
                classes=sorted(y.unique()),
                public_data=rows,
                random_state=release,
            )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                drawn = draw_samples(synth.fit(*train), N_DRAWN, release)
            distances = {
                f"tv{order}": total_variation(test, drawn, order=order)
                for order in (1, 2)
            }
            yield {**about, "method": kind, "release": release, **distances}


def _kinds(public: Table) -> dict[str, Any]:
    """Return public rows as they are, few of them, without labels, and made useless."""
    X, y = public
    rng = np.random.default_rng(1)
    permuted = {name: rng.permutation(X[name].to_numpy()) for name in X}
    renamed = X.copy()
    for name in X:
        values = X[name].dropna().unique()
        others = dict(zip(values, rng.permutation(values), strict=True))
        renamed[name] = X[name].map(others).astype(X[name].dtype)
    return {
        "none": None,
        "public rows": public,
        "without labels": X,
        f"{FEW} of them": taken(public, rng.permutation(len(X))[:FEW]),
        "columns permuted": (
            pd.DataFrame(permuted).astype(X.dtypes),
            pd.Series(rng.permutation(y.to_numpy())),
        ),
        "values renamed": (renamed, y),
    }


def taken(table: Table, rows: Any) -> Table:
    """Return some rows of a table, numbered anew."""
    X, y = (part.iloc[rows].reset_index(drop=True) for part in table)
    return X, y
