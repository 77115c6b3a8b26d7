"""What public rows are worth: of other places or people, and useless ones."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from skdpgen.benchmark._measure import DELTA, means_of_models
from skdpgen.benchmark._public_splits import (
    PublicSplit,
    Table,
    read_public_split,
    taken,
)
from skdpgen.metrics import SyntheticUtility, draw_samples, total_variation
from skdpgen.tables import Schema
from skdpgen.utils import SchemaRequiredError

N_DRAWN, FEW = 5_000, 300
ALONE = ("private rows themselves", "public rows themselves")
KINDS = (
    "none",
    "public rows",
    "without labels",
    f"{FEW} of them",
    "columns permuted",
    "values renamed",
)


def measure_public(
    name: str,
    folder: str | Path,
    make: Callable[..., Any],
    *,
    epsilon: float,
    n_releases: int,
    is_schema_public: bool,
    n_rows: int | None = None,
    n_drawn: int = N_DRAWN,
    kinds: Sequence[str] = KINDS,
    utility: SyntheticUtility | None = None,
) -> Iterator[dict[str, Any]]:
    """Fit with public rows of each kind; yield what drawn rows are worth in a test.

    That is the distance to rows of the test, and the scores of models if there is a
    ``utility``. Private and public rows as they are come first.
    """
    split = read_public_split(name, folder, n_rows)
    about = {
        "set": name,
        "schema": "public" if is_schema_public else "discovered",
        "epsilon": epsilon,
    }
    for kind, rows in zip(ALONE, (split.private, split.public), strict=True):
        yield {**about, "method": kind, **_judged(rows, split, utility)}
    for kind in kinds:
        for release in range(n_releases):
            synth = make(
                epsilon=epsilon,
                delta=DELTA,
                schema=Schema.infer(*split.whole) if is_schema_public else None,
                classes=sorted(split.whole[1].unique()),
                public_data=_of_kind(kind, split.public),
                random_state=release,
            )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    synth.fit(*split.private)
                except SchemaRequiredError:
                    yield {**about, "method": kind, "note": "asks for a schema"}
                    break
                drawn = draw_samples(synth, n_drawn, release)
            seeded = utility and replace(utility, random_state=release)
            found = _judged(drawn, split, seeded)
            yield {**about, "method": kind, "release": release, **found}


def _judged(
    rows: Table, split: PublicSplit, utility: SyntheticUtility | None
) -> dict[str, float]:
    """Return distances to rows of the test, and scores of models there."""
    found = {
        f"tv{order}": total_variation(split.test, rows, order=order) for order in (1, 2)
    }
    if utility is None:
        return found
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return found | means_of_models(utility.evaluate(rows, *split.test))


def _of_kind(kind: str, public: Table) -> Any:
    """Return public rows as they are, few of them, without labels, or made useless."""
    X, y = public
    rng = np.random.default_rng(1)
    if kind == "none":
        return None
    if kind == "public rows":
        return public
    if kind == "without labels":
        return X
    if kind == f"{FEW} of them":
        return taken(public, rng.permutation(len(X))[:FEW])
    if kind == "columns permuted":
        permuted = {name: rng.permutation(X[name].to_numpy()) for name in X}
        labels = pd.Series(rng.permutation(y.to_numpy()))
        return pd.DataFrame(permuted).astype(X.dtypes), labels
    renamed = X.copy()
    for name in X:
        values = X[name].dropna().unique()
        others = dict(zip(values, rng.permutation(values), strict=True))
        renamed[name] = X[name].map(others).astype(X[name].dtype)
    return renamed, y
