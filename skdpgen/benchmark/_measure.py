"""Headline numbers: utility of a synthesizer between ceiling and chance."""

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from skdpgen.benchmark._discovered import judge_discovery
from skdpgen.benchmark._reading import Split
from skdpgen.metrics import SyntheticUtility, draw_samples, yardsticks
from skdpgen.tables import Schema
from skdpgen.utils import SchemaRequiredError

DELTA = 1e-5  # of all numbers in docs/benchmarks.md, whatever the number of rows
BEFORE = (
    "number of",
    "class labels",
    "kinds and",
    "bounds and",
    "bins of",
    "values of",
)
SHORT = {"one_way_tv": "tv1", "two_way_tv": "tv2", "three_way_tv": "tv3"}
MOST_REAL = 50_000  # real rows that the ceiling is trained on


def measure_ceiling(split: Split, utility: SyntheticUtility) -> dict[str, Any]:
    """Train on real rows, and measure them as if they were synthetic: the floor."""
    rows = np.random.default_rng(0).permutation(len(split.X_train))[:MOST_REAL]
    train = split.X_train.iloc[rows], split.y_train.iloc[rows]
    scores = utility.evaluate(train, split.X_test, split.y_test)
    near = _near((split.X_test, split.y_test), train)
    return {"rows": len(split.X_train), **means_of_models(scores), **near}


def measure_release(
    split: Split,
    make: Callable[..., Any],
    utility: SyntheticUtility,
    *,
    release: int,
    is_schema_public: bool,
    epsilon: float,
    delta: float | None,
    adjacency: str,
) -> tuple[dict[str, Any], Any]:
    """Fit and score the release of one number; return a row, and what was fitted."""
    synthesizer = make(
        epsilon=epsilon,
        delta=delta,
        schema=Schema.infer(*split.whole) if is_schema_public else None,
        classes=split.classes,
        adjacency=adjacency,
        random_state=release,
    )
    start = time.perf_counter()
    synthesizer.fit(split.X_train, split.y_train)
    seconds = time.perf_counter() - start
    seeded = replace(utility, random_state=release)
    rows = draw_samples(synthesizer, utility.n_samples, release)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scores = seeded.evaluate(rows, split.X_test, split.y_test)
        distances = _near((split.X_test, split.y_test), rows)
    found = {} if is_schema_public else judge_discovery(synthesizer, split.X_train)
    run = {
        "rows": len(split.X_train),
        **means_of_models(scores),
        **distances,
        "fit_seconds": seconds,
        **found,
    }
    return run, synthesizer


def measure_discovery(
    split: Split,
    make: Callable[..., Any],
    n_rows: int,
    *,
    epsilon: float,
    n_releases: int,
) -> dict[str, Any]:
    """Judge what discovery finds in a sample of the rows, averaged over releases."""
    found = []
    for release in range(n_releases):
        rows = np.random.default_rng(release).permutation(len(split.X_train))[:n_rows]
        X = split.X_train.iloc[rows].reset_index(drop=True)
        y = split.y_train.iloc[rows].reset_index(drop=True)
        synthesizer = make(epsilon=epsilon, delta=DELTA, classes=split.classes)
        try:
            synthesizer.fit(X, y)
        except SchemaRequiredError:
            return {"note": "asks for a schema"}
        share = share_before(synthesizer.privacy_.to_dict()["releases"])
        drawn = synthesizer.sample(len(X))
        complete = {
            key: frame.notna().all(axis=1).mean()
            for key, frame in (("complete", drawn[0]), ("complete_real", X))
        }
        found.append({"share": share, **judge_discovery(synthesizer, X), **complete})
    return {**pd.DataFrame(found).mean().to_dict(), "note": ""}


def share_before(releases: Sequence[Mapping[str, Any]]) -> float:
    """Return the part of the budget that discovery took."""
    return sum(one["share"] for one in releases if one["name"].startswith(BEFORE))


def _near(real: Any, rows: Any) -> dict[str, float]:
    """Yardsticks under the names of the tables of numbers."""
    return {SHORT.get(name, name): at for name, at in yardsticks(real, rows).items()}


def means_of_models(scores: pd.DataFrame) -> dict[str, float]:
    """Return the mean of the models and the best of them, by each metric."""
    wanted = ("roc_auc", "average_precision", "macro_f1", "weighted_f1", "r2")
    found: dict[str, float] = {}
    for metric in wanted:
        if metric in scores:
            found[metric] = float(scores[metric].mean())
            found[f"{metric}_best"] = float(scores[metric].max())
    return found
