"""How much counts of three columns could gain, at most, beyond pairs.

    python -m benchmarks triples --data FOLDER
    python -m benchmarks triples

For each table and epsilon, a fit of DP-Pairwise is compared with the rows it was fitted
to, triple by triple. Each table of a triple is first raked to the true tables of its
three pairs, so what is wrong with it then no pair can mend. An oracle has a fifth of
the budget for counts of the k best triples, which pairs do not lose. It knows which
triples these are, and which cells are further from the truth than the noise and the
sampling error of a count; it corrects these cells and no others, and corrections do not
contradict each other. So its gain is more than that of any method that selects and
counts triples. The best k and the best of three resolutions count.
"""

import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.known_tables import read_split
from skdpgen import DPPairwiseSynthesizer
from skdpgen.benchmark._result_tables import markdown
from skdpgen.metrics import marginal_distances
from skdpgen.metrics._fidelity import column_sets, discretised
from skdpgen.metrics._frames import joined
from skdpgen.privacy import Ledger, PrivacyBudget

TABLES = (
    "adult",
    "bank_marketing",
    "acs_nist_national2019",
    "interactions",
    "kdd99_10pct",
)
EPSILONS = (1.0, 3.0, 10.0)
DELTA = 1e-5
SHARE = 0.2  # of the budget, for triples
RESOLUTIONS = 4, 8, 16  # cells of a number
SPARE, TINY = 1e-6, 1e-12  # shares, so that no cell of a model is impossible
N_RAKED = 10
N_DRAWN = 200_000  # rows, so that drawing them adds little to distances

ROWS = Path(__file__).parent / "results" / "bounds" / "triples.jsonl"
PAGE = Path(__file__).parent / "benchmarks.md"
MARKED = re.compile(r"<!-- triples -->\n.*?<!-- /triples -->", re.DOTALL)

Floats = NDArray[np.float64]


def bounds(folder: Path, n_releases: int = 3) -> Iterator[dict[str, Any]]:
    """Yield a row for each table, epsilon and release."""
    for table in TABLES:
        split = read_split(table, folder)
        for release in range(n_releases):
            for epsilon in EPSILONS:
                synthesizer = DPPairwiseSynthesizer(
                    epsilon, delta=DELTA, classes=split.classes, random_state=release
                ).fit(split.X_train, split.y_train)
                rows = synthesizer.sample(N_DRAWN, random_state=release)
                real = split.X_train, split.y_train
                few = tuple(part.iloc[: len(split.X_train)] for part in rows)
                of_test = marginal_distances((split.X_test, split.y_test), few, 3)
                three_way = float(of_test.mean())
                gains = [
                    best_gain(joined(real), joined(rows), epsilon, n_bins)
                    for n_bins in RESOLUTIONS
                ]
                gain, n_triples = max(gains)
                yield {
                    "table": table,
                    "epsilon": epsilon,
                    "release": release,
                    "three_way": three_way,
                    "gain": gain / three_way,
                    "n_triples": n_triples,
                }


def best_gain(real: Any, drawn: Any, epsilon: float, n_bins: int) -> tuple[float, int]:
    """Return the largest gain in the mean distance of triples, and its k."""
    columns = discretised(real, drawn, n_bins)
    n_rows, sets = len(real), column_sets(len(columns), 3)
    unit = Ledger(PrivacyBudget(epsilon, DELTA)).noise_std(
        share=SHARE, sensitivity=math.sqrt(2.0)
    )
    tables = [_tables([columns[j] for j in js]) for js in sets]
    best = 0.0, 0
    k = 1
    while k <= len(sets):
        gains = [_gain(*each, unit * math.sqrt(k), n_rows) for each in tables]
        gain = float(np.sort(gains)[-k:].sum() / len(sets))
        best = max(best, (gain, k))
        k *= 2
    return best


def _tables(columns: Any) -> tuple[Floats, Floats]:
    """Return the shares of cells of a triple, and what pairs say of them."""
    sizes = [size for *_, size in columns]
    counts = [
        np.bincount(
            np.ravel_multi_index([column[side] for column in columns], sizes),
            minlength=math.prod(sizes),
        ).reshape(sizes)
        for side in (0, 1)
    ]
    truth, model = (count / count.sum() for count in counts)
    by_pairs = model + SPARE / model.size
    for _ in range(N_RAKED):
        for axis in range(3):
            pair = by_pairs.sum(axis=axis, keepdims=True)
            goal = truth.sum(axis=axis, keepdims=True)
            by_pairs *= goal / np.maximum(pair, TINY)
    is_used = (truth > 0) | (by_pairs > TINY)
    return truth[is_used], by_pairs[is_used]


def _gain(truth: Floats, by_pairs: Floats, noise: float, n_rows: int) -> float:
    """Return what correcting the cells gains that are wrong by more than counts are."""
    variance = (noise / n_rows) ** 2 + truth / n_rows
    of_count = np.sqrt(variance * 2 / math.pi)  # mean absolute error
    return 0.5 * float(np.maximum(np.abs(truth - by_pairs) - of_count, 0.0).sum())


def table_of_bounds() -> str:
    """Return the stored bounds as a table: means, and the largest of the releases."""
    frame = pd.DataFrame(map(json.loads, ROWS.read_text().splitlines()))
    lines = []
    for (table, epsilon), rows in frame.groupby(["table", "epsilon"], sort=False):
        gains = 100 * rows["gain"]
        lines.append(
            {
                "table": table,
                "ε": f"{epsilon:g}",
                "three-way": f"{rows['three_way'].mean():.4f}".lstrip("0"),
                "gain, % of it": f"{gains.mean():.1f} ({gains.max():.1f})",
                "releases": len(rows),
            }
        )
    return markdown(pd.DataFrame(lines).set_index("table"))


def filled(page: str) -> str:
    """Return the page with the table between its marks."""
    table = f"<!-- triples -->\n{table_of_bounds()}\n<!-- /triples -->"
    return MARKED.sub(lambda _: table, page)
