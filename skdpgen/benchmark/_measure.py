"""Headline numbers: utility of a synthesizer between ceiling and chance."""

import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from skdpgen.benchmark._discovered import judge_discovery
from skdpgen.benchmark._reading import Split
from skdpgen.metrics import SyntheticUtility, draw_samples, total_variation
from skdpgen.tables import Schema
from skdpgen.utils import SchemaRequiredError

DELTA = 1e-5  # of all numbers in docs/benchmarks.md, whatever the number of rows
BEFORE = ("number of", "class labels", "kinds and", "bounds and", "bins of")
MOST_REAL = 50_000  # real rows that the ceiling is trained on


def measure_ceiling(split: Split, utility: SyntheticUtility) -> dict[str, Any]:
    """Train on real rows."""
    rows = np.random.default_rng(0).permutation(len(split.X_train))[:MOST_REAL]
    train = split.X_train.iloc[rows], split.y_train.iloc[rows]
    scores = utility.evaluate(train, split.X_test, split.y_test)
    return {"set": split.name, "schema": "real", **means_of_models(scores)}


def measure_releases(
    split: Split,
    make: Callable[..., Any],
    utility: SyntheticUtility,
    *,
    n_releases: int,
    is_schema_public: bool,
    epsilon: float,
    adjacency: str = "replace",
) -> Iterator[dict[str, Any]]:
    """Fit independent releases and score each; yield a row of numbers per release."""
    schema = Schema.infer(*split.whole) if is_schema_public else None
    about = {
        "set": split.name,
        "schema": "public" if is_schema_public else "discovered",
        "epsilon": epsilon,
        "adjacency": adjacency,
    }
    for release in range(n_releases):
        synthesizer = make(
            epsilon=epsilon,
            delta=DELTA,
            schema=schema,
            classes=split.classes,
            adjacency=adjacency,
            random_state=release,
        )
        start = time.perf_counter()
        try:
            synthesizer.fit(split.X_train, split.y_train)
        except SchemaRequiredError:
            yield {**about, "note": "asks for a schema"}
            return
        seconds = time.perf_counter() - start
        seeded = replace(utility, random_state=release)
        rows = draw_samples(synthesizer, utility.n_samples, release)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            scores = seeded.evaluate(rows, split.X_test, split.y_test)
            test = split.X_test, split.y_test
            distances = {
                f"tv{order}": total_variation(test, rows, order=order)
                for order in (1, 2)
            }
        found = {} if is_schema_public else judge_discovery(synthesizer, split.X_train)
        yield {
            **about,
            "release": release,
            "fit_seconds": seconds,
            **means_of_models(scores),
            **distances,
            **found,
        }


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
        entries = synthesizer.privacy_.releases
        share = sum(entry.share for entry in entries if entry.name.startswith(BEFORE))
        drawn = synthesizer.sample(len(X))
        complete = {
            key: frame.notna().all(axis=1).mean()
            for key, frame in (("complete", drawn[0]), ("complete_real", X))
        }
        found.append({"share": share, **judge_discovery(synthesizer, X), **complete})
    return {**pd.DataFrame(found).mean().to_dict(), "note": ""}


def summarise(runs: list[dict[str, Any]]) -> pd.DataFrame:
    """Return mean and standard deviation over the releases of each setting."""
    frame = pd.DataFrame(runs)
    keys = [
        k for k in ("set", "method", "schema", "epsilon", "adjacency") if k in frame
    ]
    numbers = frame.drop(columns=["release", "note"], errors="ignore")
    groups = numbers.groupby(keys, dropna=False, sort=False)
    mean, deviation = groups.mean(), groups.std()
    result = mean.copy()
    scores = [
        c for c in ("roc_auc", "average_precision", "macro_f1", "r2") if c in mean
    ]
    for column in scores or ("tv1", "tv2"):
        if column in mean:
            result[f"{column}_sd"] = deviation[column]
    result["releases"] = groups.size()
    return result.reset_index()


def means_of_models(scores: pd.DataFrame) -> dict[str, float]:
    """Return the mean of the models and the best of them, by each metric."""
    wanted = ("roc_auc", "average_precision", "macro_f1", "weighted_f1", "r2")
    found: dict[str, float] = {}
    for metric in wanted:
        if metric in scores:
            found[metric] = float(scores[metric].mean())
            found[f"{metric}_best"] = float(scores[metric].max())
    return found
