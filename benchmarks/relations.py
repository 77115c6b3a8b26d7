r"""How well DP-Pairwise keeps strong relations, and what a focus does for NIST's table.

Two commands print one JSON line a release::

    python benchmarks/relations.py steps --data DIR --tables adult,weighed_parcels \
        --settings '{"rates": {"own_rate": 0.1, "speedup": 1}, "anew": true}' '{}'
    python benchmarks/relations.py focus --data DIR

``steps`` fits each table (epsilon 1, delta 1e-5, all discovered) and trains the mixture
again on the same release with each of the settings; ``rates`` and
``anew`` are no parameters of the method, so they are set in its modules.
``focus`` fits NIST's 24 columns with a public schema, under "add_remove", by default,
with ``focus=["PUMA"]`` and with PUMA as the target.
"""

import argparse
import json
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from benchmarks.discovery import k_marginal, load, public_schema
from benchmarks.known_tables import read_split
from skdpgen import DPPairwiseSynthesizer
from skdpgen.benchmark._own_table import Split
from skdpgen.metrics import SyntheticUtility, detection_auc, total_variation
from skdpgen.synthesizers import _dp_pairwise
from skdpgen.synthesizers.pairwise import _mixtures

PAIRWISE: Any = _dp_pairwise  # `of_steps` replaces functions of both
MIXTURES: Any = _mixtures
DELTA = 1e-5
STRATUM = "PUMA"
STRONG = {
    "weighed_parcels": ("weight", "length"),
    "bike_sharing_hour": ("temp", "atemp"),
}


def make_parcels(n: int = 40_000, seed: int = 0) -> tuple[pd.DataFrame, pd.Series]:
    """Return made-up parcels: a weight, lengths, a distance and a price."""
    rng = np.random.default_rng(seed)
    size = rng.gamma(2.0, 1.0, n)
    length = np.round(20 * np.sqrt(size) * np.exp(0.02 * rng.normal(size=n)), 1)
    weight = np.round(0.8 * (length / 20) ** 2 * np.exp(0.03 * rng.normal(size=n)), 2)
    width = np.round(length * rng.uniform(0.5, 0.7, n), 1)
    height = np.round(width * rng.uniform(0.3, 0.9, n), 1)
    distance = np.round(rng.lognormal(5.0, 1.0, n))
    service = rng.choice(["standard", "express", "bulk"], n, p=[0.6, 0.25, 0.15])
    zones = np.array(["near", "middle", "far"])
    factor = pd.Series(service).map({"standard": 1.0, "express": 1.9, "bulk": 0.7})
    price = (4 + 1.1 * weight + 0.004 * distance) * factor.to_numpy()
    X = pd.DataFrame(
        {
            "weight": weight,
            "length": length,
            "width": width,
            "height": height,
            "distance": distance,
            "service": service,
            "zone": zones[np.searchsorted([80, 400], distance, side="right")],
            "fragile": rng.random(n) < 0.1,
        }
    )
    return X, pd.Series(np.round(price * np.exp(0.05 * rng.normal(size=n)), 2))


def split_of(name: str, folder: Path) -> Split:
    """Return a table with a fifth of its rows for testing."""
    if name != "weighed_parcels":
        return read_split(name, folder)
    X, y = make_parcels()
    rows = train_test_split(np.arange(len(X)), test_size=0.2, random_state=0)
    parts = [part.iloc[r].reset_index(drop=True) for r in rows for part in (X, y)]
    return Split(name, *parts)


def judged(synthesizer: Any, split: Split, seed: int) -> dict[str, float]:
    """Return distances to test rows, detection, a model's score, a correlation."""
    drawn = synthesizer.sample(len(split.X_train), random_state=seed)
    test = split.X_test, split.y_test
    scores = {
        "two_way": total_variation(test, drawn, order=2),
        "three_way": total_variation(test, drawn, order=3),
        "detection": detection_auc(test, drawn),
    }
    utility = SyntheticUtility(classifiers=("gradient_boosting", "xgboost"))
    scores["model"] = utility.summary(utility.evaluate(drawn, *test))["best"]
    pair = STRONG.get(split.name)
    if pair:
        first, second = (pd.to_numeric(drawn[0][name]) for name in pair)
        scores["correlation"] = float(first.corr(second, method="spearman"))
    return scores


def anew(
    parities: Any,
    tables: Any,
    losses: Any,
    target: Any,
    sizes: Any,
    totals: Any,
    training: Any,
) -> Any:
    """Start components anew if parities are lacking, as was usual before."""
    lacking = parities.target(tables, sizes, totals)
    if lacking is None:
        return tables, losses
    return MIXTURES.fit_mixture(target, sizes, parities=lacking, **training)


def of_steps(args: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield one line for each release and setting."""
    usual = PAIRWISE.usual_rates
    go_on = MIXTURES._with_parities
    for name in args.tables.split(","):
        split = split_of(name, args.data)
        for seed in range(args.repeats):
            fitted = DPPairwiseSynthesizer(1.0, delta=DELTA, random_state=seed)
            fitted.fit(split.X_train, split.y_train)
            for text in args.settings:
                setting = json.loads(text)
                MIXTURES._with_parities = anew if setting.pop("anew", False) else go_on
                rates = setting.pop("rates", None)
                PAIRWISE.usual_rates = (
                    usual if rates is None else lambda *_, rates=rates: rates
                )
                start = time.process_time()
                fitted.retrain(**setting)
                seconds = time.process_time() - start
                yield {
                    "table": name,
                    "seed": seed,
                    "setting": text,
                    "seconds": seconds,
                    "loss": fitted.loss_curve_[-1] if fitted.loss_curve_ else None,
                    **judged(fitted, split, seed),
                }


def of_focus(args: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield NIST's score of its table, by default, with a focus, with a target."""
    X, y = load(args.data, "acs_nist_national2019", None)
    table = X.assign(target=y)
    settings: dict[str, tuple[str | None, Any]] = {
        "default": (None, None),
        "focus": (None, [STRATUM]),
        "target": (STRATUM, None),
    }
    for seed in range(args.repeats):
        for name, (target, focus) in settings.items():
            rows = table if target is None else table.drop(columns=target)
            classes = None if target is None else sorted(table[target].unique())
            synthesizer = DPPairwiseSynthesizer(
                1.0,
                delta=DELTA,
                adjacency="add_remove",
                schema=public_schema(rows),
                classes=classes,
                focus=focus,
                random_state=seed,
            )
            start = time.process_time()
            synthesizer.fit(rows, None if target is None else table[target])
            seconds = time.process_time() - start
            drawn = synthesizer.sample(len(table))
            if target is not None:
                drawn = drawn[0].assign(**{target: drawn[1]})
            drawn = drawn[list(table)]
            yield {
                "how": name,
                "seed": seed,
                "seconds": seconds,
                "k_marginal": k_marginal(table, drawn, STRATUM),
                "two_way": 1.0 - k_marginal(table, drawn, None) / 1000.0,
                "without_density": k_marginal(
                    table.drop(columns="DENSITY"),
                    drawn.drop(columns="DENSITY"),
                    STRATUM,
                ),
            }


def main() -> None:
    """Run a command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", choices=("steps", "focus"))
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--tables", default="adult,wine_quality,weighed_parcels")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--settings", nargs="+", default=["{}"])
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    lines = of_steps(args) if args.command == "steps" else of_focus(args)
    for line in lines:
        rounded = {
            k: round(v, 4) if isinstance(v, float) else v for k, v in line.items()
        }
        print(json.dumps(rounded), flush=True)


if __name__ == "__main__":
    main()
