"""Tables beside real ones: distances of columns, rows without relations, pictures."""

from typing import Any

import numpy as np
import pandas as pd

from skdpgen.metrics import yardsticks
from skdpgen.report._kind_of_rows import KindOfRows
from skdpgen.report._page import picture_of
from skdpgen.utils import (
    Rows,
)

SHOWN_DISTANCES = {  # each with its meaning in half a sentence
    "one_way_tv": (
        "Single columns",
        "share of rows whose value would have to change until a column's frequencies "
        "agree (mean of all columns); 0 is best",
    ),
    "two_way_tv": ("Pairs of columns", "the same for two columns together"),
    "three_way_tv": ("Triples of columns", "the same for three columns together"),
    "detection_auc": (
        "Detection",
        "how well boosted trees distinguish the rows from the real ones (ROC-AUC): "
        "0.5 is guessing, 1 is always right",
    ),
    "query_error": (
        "Range queries",
        "mean error of answers to “which share of rows is in this range?”; 0 is best",
    ),
}


def _distances(train: Rows, test: Rows, synthetic: Rows) -> list[dict[str, Any]]:
    """Measure how far synthetic rows, and other real ones, are from real rows."""
    of_synthetic, of_real = yardsticks(test, synthetic), yardsticks(test, train)
    return [
        {
            "name": name,
            "what": what,
            "synthetic": of_synthetic[key],
            "real": of_real[key],
        }
        for key, (name, what) in SHOWN_DISTANCES.items()
    ]


def _without_relations(synthetic: Rows, task: str | None, random_state: int) -> Rows:
    """Return synthetic rows whose columns are shuffled within each class."""
    assert isinstance(synthetic, tuple)  # `beside_real` has checked it
    y = synthetic[1]
    rng = np.random.default_rng(random_state)
    labels = pd.Series(np.asarray(y))
    if task == "regression" or (task is None and labels.dtype.kind == "f"):
        # of a number the classes are tenths of the rows
        labels = pd.to_numeric(labels, errors="coerce")
        labels = pd.qcut(labels, 10, labels=False, duplicates="drop")
    X = pd.DataFrame(synthetic[0]).reset_index(drop=True)
    groups = list(labels.groupby(labels, sort=True).indices.values())
    shuffled = {}
    for name in X.columns:
        order = np.arange(len(X))
        for places in groups:
            order[places] = rng.permutation(places)
        shuffled[name] = X[name].array[order]
    return pd.DataFrame(shuffled, columns=X.columns), y


def _figures(real: Rows, synthetic: Rows) -> list[dict[str, str]]:
    """Draw what was kept and lost, single columns and pairs."""
    from skdpgen.plotting import plot_marginals, plot_overview, plot_pairs

    titles = {
        "What is kept and what was lost, synthetic beside real rows": plot_overview,
        "Single columns, synthetic beside real rows": plot_marginals,
        "Pairs of columns, synthetic beside real rows": plot_pairs,
    }
    return [
        {"title": title, "picture": picture_of(plot(real, synthetic))}
        for title, plot in titles.items()
    ]


TABLES = KindOfRows(
    models=None,
    most=20_000,
    distances=_distances,
    without_relations=_without_relations,
    figures=_figures,
)
