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
from skdpgen.metrics import SyntheticUtility, draw_samples, yardsticks
from skdpgen.tables import Schema
from skdpgen.utils import SchemaRequiredError

DELTA = 1e-5  # of all numbers in docs/benchmarks.md, whatever the number of rows
BEFORE = ("number of", "class labels", "kinds and", "bounds and", "bins of")
SHORT = {"one_way_tv": "tv1", "two_way_tv": "tv2", "three_way_tv": "tv3"}
HEADLINES = ("roc_auc", "macro_f1", "r2")
MOST_REAL = 50_000  # real rows that the ceiling is trained on


def measure_ceiling(split: Split, utility: SyntheticUtility) -> dict[str, Any]:
    """Train on real rows, and measure them as if they were synthetic: the floor."""
    rows = np.random.default_rng(0).permutation(len(split.X_train))[:MOST_REAL]
    train = split.X_train.iloc[rows], split.y_train.iloc[rows]
    scores = utility.evaluate(train, split.X_test, split.y_test)
    near = _near((split.X_test, split.y_test), train)
    return {"set": split.name, "schema": "real", **means_of_models(scores), **near}


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
    about = _about(split, is_schema_public, epsilon, adjacency)
    for release in range(n_releases):
        try:
            run, _ = measure_release(
                split,
                make,
                utility,
                release=release,
                is_schema_public=is_schema_public,
                epsilon=epsilon,
                adjacency=adjacency,
            )
        except SchemaRequiredError:
            yield {**about, "note": "asks for a schema"}
            return
        yield run


def measure_release(
    split: Split,
    make: Callable[..., Any],
    utility: SyntheticUtility,
    *,
    release: int,
    is_schema_public: bool,
    epsilon: float,
    delta: float | None = DELTA,
    adjacency: str = "replace",
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
        **_about(split, is_schema_public, epsilon, adjacency),
        "release": release,
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
    names = "set", "method", "rows", "schema", "epsilon", "adjacency"
    keys = [k for k in names if k in frame]
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
    return _headline_first(result.reset_index(), keys)


def headline(run: dict[str, Any]) -> str:
    """Say in a few words what a run came to: mean, best, two-way distance.

    Examples
    --------
    >>> headline({"set": "adult", "r2": 0.5, "r2_best": 0.75, "tv2": 0.125})
    'adult: r2 mean 0.500, best 0.750; two-way 0.125'
    """
    names = [str(run[key]) for key in ("set", "method", "schema") if key in run]
    metric = next((one for one in HEADLINES if one in run), None)
    parts = []
    if metric is not None:
        parts.append(
            f"{metric} mean {run[metric]:.3f}, best {run[f'{metric}_best']:.3f}"
        )
    if "tv2" in run:
        parts.append(f"two-way {run['tv2']:.3f}")
    return f"{' '.join(names)}: {'; '.join(parts) or run.get('note', '')}"


def _about(
    split: Split, is_schema_public: bool, epsilon: float, adjacency: str
) -> dict[str, Any]:
    return {
        "set": split.name,
        "rows": len(split.X_train),
        "schema": "public" if is_schema_public else "discovered",
        "epsilon": epsilon,
        "adjacency": adjacency,
    }


def _headline_first(frame: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    metric = next((one for one in HEADLINES if one in frame), "")
    head = [*keys, metric, f"{metric}_sd", f"{metric}_best", "tv2"]
    head = [column for column in head if column in frame]
    return frame[[*head, *(column for column in frame if column not in head)]]


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
