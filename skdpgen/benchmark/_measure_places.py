"""What models learn from public rows, private rows, and both."""

import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from skdpgen.benchmark._measure import DELTA, means
from skdpgen.benchmark._measure_public import REGIONS, Regions, Table, taken
from skdpgen.benchmark._reading import read_split
from skdpgen.metrics import SyntheticUtility, draw_samples, total_variation
from skdpgen.utils import SchemaRequiredError

MOST_DRAWN = 15_000
TRAINED_ON = 0.6  # of the private rows of a place; the others test
OTHERS = {  # the same cuts, with the larger part to protect
    "adult_us": Regions(
        "adult",
        lambda X: X["native-country"] == "United-States",
        ("native-country",),
    ),
    "adult_not_black": Regions("adult", lambda X: X["race"] != "Black", ("race",)),
}
HALVES = {"german_half": "german_credit", "cervical_half": "cervical"}
PLACES = (*REGIONS, *OTHERS, *HALVES)


def measure_places(
    name: str,
    folder: str | Path,
    methods: Mapping[str, Callable[..., Any]],
    utility: SyntheticUtility,
    *,
    epsilon: float,
    n_releases: int,
) -> Iterator[dict[str, Any]]:
    """Score public rows themselves, then samples of each method, on private test rows.

    ``methods`` are functions of ``public_data`` and other parameters; one that has no
    use for public rows drops them.
    """
    public, train, test = _parts(name, folder)
    n = min(max(len(public[0]), len(train[0])), MOST_DRAWN)
    about = {"set": name, "schema": "discovered", "epsilon": epsilon}

    def scored(rows: Table, release: int) -> dict[str, Any]:
        seeded = replace(utility, random_state=release)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            scores = means(seeded.evaluate(rows, *test))
            distances = {
                f"tv{order}": total_variation(test, rows, order=order)
                for order in (1, 2)
            }
        return {"release": release, **scores, **distances}

    order = np.random.default_rng(0).permutation(len(public[0]))[:n]
    yield {**about, "method": "public rows", **scored(taken(public, order), 0)}
    classes = sorted(train[1].unique())
    for method, make in methods.items():
        for release in range(n_releases):
            params = {"epsilon": epsilon, "delta": DELTA, "classes": classes}
            synth = make(public_data=public, random_state=release, **params)
            start = time.perf_counter()
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    synth.fit(*train)
            except SchemaRequiredError:
                yield {**about, "method": method, "note": "asks for a schema"}
                break
            seconds = time.perf_counter() - start
            found = scored(draw_samples(synth, n, release), release)
            size = getattr(synth, "effective_size_", float("nan"))
            more = {"effective_size": size, "fit_seconds": seconds}
            yield {**about, "method": method, **found, **more}


def _parts(name: str, folder: str | Path) -> tuple[Table, Table, Table]:
    """Return public rows, private ones to fit, and private ones to test on.

    Of a small table half of the training rows are public, and the usual rows test.
    """
    rng = np.random.default_rng(0)
    if name in HALVES:
        split = read_split(HALVES[name], folder)
        order = rng.permutation(len(split.X_train))
        half = len(order) // 2
        train = split.X_train, split.y_train
        test = split.X_test, split.y_test
        return taken(train, order[half:]), taken(train, order[:half]), test
    regions = (REGIONS | OTHERS)[name]
    X, y = read_split(regions.name, folder).whole
    private = np.asarray(regions.is_private(X))
    X = X.drop(columns=list(regions.leave_out))
    order = rng.permutation(np.flatnonzero(private))
    k = int(len(order) * TRAINED_ON)
    parts = np.flatnonzero(~private), order[:k], order[k:]
    public, train, test = (taken((X, y), rows) for rows in parts)
    return public, train, test
