"""What a report says beside real rows: outside the guarantee, and marked so."""

import base64
from io import BytesIO
from typing import Any

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from skdpgen.metrics import SyntheticUtility, yardsticks

MOST = 20_000  # real rows that pictures and distances read
NAMES = {
    "one_way_tv": ("Single columns", "distance of frequencies, 0 to 1"),
    "two_way_tv": ("Pairs of columns", "distance of frequencies, 0 to 1"),
    "three_way_tv": ("Triples of columns", "distance of frequencies, 0 to 1"),
    "detection_auc": ("Told apart by boosting", "ROC-AUC; 0.5 is not at all"),
    "query_error": ("Range queries", "mean error of a share of rows"),
}


def beside_real(
    synthetic: Any,
    real: Any,
    test: Any = None,
    *,
    random_state: int = 0,
    pictures: bool = True,
) -> dict[str, Any]:
    """Compare synthetic rows with real ones. This reads real rows, without noise.

    Parameters
    ----------
    synthetic, real : data frame or tuple (X, y)
        Synthetic rows, and real ones that were fitted, with the same columns.
    test : data frame or tuple (X, y) or None, default=None
        Real rows that were not fitted; models are tested on them, and they are the
        floor of all distances. None takes a quarter of ``real`` for both.
    random_state : int, default=0
    pictures : bool, default=True
        Whether to draw; needs matplotlib.

    Returns
    -------
    dict
        What :func:`report_content` has under ``"real"``.
    """
    train, held_out = _halves(real, random_state) if test is None else (real, test)
    train, held_out = (_some(one, random_state) for one in (train, held_out))
    with threadpool_limits(1):  # small models: threads wait for each other
        mine, floor = yardsticks(held_out, synthetic), yardsticks(held_out, train)
        scores = None
        if isinstance(real, tuple):
            scores = _scores(synthetic, train, held_out, random_state)
    distances = [
        {"name": name, "what": what, "synthetic": mine[key], "real": floor[key]}
        for key, (name, what) in NAMES.items()
    ]
    figures = _figures(held_out, synthetic) if pictures else []
    return {"distances": distances, "scores": scores, "figures": figures}


def _halves(real: Any, random_state: int) -> tuple[Any, Any]:
    """Cut three quarters and a quarter off the rows, at random."""
    order = np.random.default_rng(random_state).permutation(_length(real))
    cut = len(order) * 3 // 4
    return _take(real, order[:cut]), _take(real, order[cut:])


def _some(rows: Any, random_state: int) -> Any:
    order = np.random.default_rng(random_state).permutation(_length(rows))[:MOST]
    return _take(rows, np.sort(order))


def _length(rows: Any) -> int:
    return len(rows[0] if isinstance(rows, tuple) else rows)


def _take(rows: Any, places: Any) -> Any:
    if isinstance(rows, tuple):
        return tuple(_take(one, places) for one in rows)
    return rows.iloc[places].reset_index(drop=True)


def _scores(synthetic: Any, train: Any, test: Any, random_state: int) -> dict[str, Any]:
    """Train models on synthetic rows, on rows without relations, and on real ones."""
    utility = SyntheticUtility(random_state=random_state)
    frames = {
        "synthetic": utility.evaluate(synthetic, *test),
        "floor": utility.evaluate(_without_relations(synthetic, random_state), *test),
        "real": utility.evaluate(train, *test),
    }
    metric = frames["real"].attrs["metric"]
    models = [
        {"name": name, **{key: float(one[metric][name]) for key, one in frames.items()}}
        for name in frames["real"].index
    ]
    summaries = {
        how: {key: utility.summary(one)[how] for key, one in frames.items()}
        for how in ("mean", "best")
    }
    return {"metric": metric, "models": models, **summaries}


def _without_relations(synthetic: Any, random_state: int) -> Any:
    """Return synthetic rows whose columns are shuffled within each class."""
    X, y = synthetic
    rng = np.random.default_rng(random_state)
    labels = pd.Series(np.asarray(y))
    if labels.dtype.kind == "f":  # bins of a number
        labels = pd.qcut(labels, 10, labels=False, duplicates="drop")
    X = pd.DataFrame(X).reset_index(drop=True)
    groups = list(labels.groupby(labels, sort=True).indices.values())
    shuffled = {}
    for name in X.columns:
        order = np.arange(len(X))
        for places in groups:
            order[places] = rng.permutation(places)
        shuffled[name] = X[name].array[order]
    return pd.DataFrame(shuffled, columns=X.columns), y


def _figures(real: Any, synthetic: Any) -> list[dict[str, str]]:
    from skdpgen.plotting import plot_marginals, plot_overview, plot_pairs

    titles = {
        "What is near, what was lost": plot_overview,
        "Single columns": plot_marginals,
        "Pairs of columns": plot_pairs,
    }
    return [
        {"title": title, "picture": _picture(plot(real, synthetic))}
        for title, plot in titles.items()
    ]


def _picture(figure: Any) -> str:
    """Return a figure as the address of a picture that holds it."""
    from matplotlib import pyplot

    file = BytesIO()
    figure.savefig(file, format="png", dpi=100, facecolor="white", bbox_inches="tight")
    pyplot.close(figure)
    return "data:image/png;base64," + base64.b64encode(file.getvalue()).decode()
