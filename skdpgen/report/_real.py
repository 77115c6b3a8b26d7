"""The comparison with real rows: outside the guarantee, and marked so."""

import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from skdpgen.metrics import SyntheticUtility
from skdpgen.report._answers import answers
from skdpgen.report._beside_images import IMAGES
from skdpgen.report._beside_tables import TABLES
from skdpgen.tables import is_image
from skdpgen.utils import (
    Labels,
    Rows,
    Table,
)

ALARM = (
    "NOT PRIVATE: this report reads real rows. Part 2 (“real” in the JSON file) was "
    "computed from them without noise, and the guarantee does not cover it. Do not "
    "share the report: keep it where the real rows are kept."
)


def with_real(content: Mapping[str, Any], real: Mapping[str, Any]) -> dict[str, Any]:
    """Return a report with a comparison to real rows; its alarm comes first.

    Parameters
    ----------
    content : mapping
        Of :func:`report_content`.
    real : mapping
        Of :func:`beside_real`.
    """
    alarms = [real["alarm"], *content["alarms"]]
    promised = {**content["guarantee"], "alarms": alarms}
    joined = {**content, "alarms": alarms, "guarantee": promised, "real": dict(real)}
    return {**joined, "answers": answers(joined)}


def beside_real(
    synthetic: Rows,
    real: Rows,
    test: Rows | None = None,
    *,
    task: str | None = None,
    random_state: int = 0,
    pictures: bool = True,
) -> dict[str, Any]:
    """Compare synthetic rows with real ones. This reads real rows, without noise.

    Parameters
    ----------
    synthetic, real : table, images, or tuple (X, y)
        Synthetic rows, and real ones that were fitted, with the same columns or pixels.
    test : table, images, or tuple (X, y), or None, default=None
        Real rows that were not fitted; models are tested on them, and they are the
        reference of all distances. None takes a quarter of ``real`` for both.
    task : {"classification", "regression"} or None, default=None
        What the fit took the target for, ``task_``. None goes by its dtype, of which
        an integer with many values is a class for each.
    random_state : int, default=0
    pictures : bool, default=True
        Whether to draw; needs matplotlib.

    Returns
    -------
    dict
        For ``with_real``, with the alarm first.
    """
    kind = IMAGES if is_image(real[0] if isinstance(real, tuple) else real) else TABLES
    train, held_out = _parts(real, random_state) if test is None else (real, test)
    train = _at_most(train, kind.most, random_state)
    held_out = _at_most(held_out, kind.most, random_state)
    with threadpool_limits(1):  # small models: threads wait for each other
        distances = kind.distances(train, held_out, synthetic)
        scores = None
        if isinstance(real, tuple):
            if not (isinstance(held_out, tuple) and isinstance(synthetic, tuple)):
                raise ValueError(
                    "synthetic and test must have labels if real has some. Got rows "
                    "without."
                )
            utility = SyntheticUtility(
                classifiers=kind.models, random_state=random_state, task=task or "auto"
            )
            rows = {
                "synthetic": synthetic,
                # what single columns alone are worth
                "baseline": kind.without_relations(synthetic, task, random_state),
                "real": train,
            }
            scores = _scores(utility, rows, held_out)
    figures = kind.figures(held_out, synthetic) if pictures else []
    return {
        "alarm": ALARM,
        "left_out": [],
        "distances": distances,
        "scores": scores,
        "figures": figures,
    }


def _scores(
    utility: SyntheticUtility, rows: dict[str, Rows], test: tuple[Table, Labels]
) -> dict[str, Any]:
    """Train models on synthetic rows, on rows without relations, and on real ones."""
    frames, seconds = {}, {}
    for key, train in rows.items():
        start = time.perf_counter()
        frames[key] = utility.evaluate(train, *test)
        seconds[key] = round(time.perf_counter() - start, 1)
    metric = frames["real"].attrs["metric"]
    models = [
        {
            "name": name,
            **{key: float(frame[metric][name]) for key, frame in frames.items()},
        }
        for name in frames["real"].index
    ]
    summaries = {
        how: {key: utility.summary(frame)[how] for key, frame in frames.items()}
        for how in ("mean", "best")
    }
    return {"metric": metric, "models": models, "seconds": seconds, **summaries}


def _parts(real: Rows, random_state: int) -> tuple[Rows, Rows]:
    """Cut three quarters and a quarter off the rows, at random."""
    order = np.random.default_rng(random_state).permutation(_length(real))
    cut = len(order) * 3 // 4  # models train on the larger part
    return _take(real, order[:cut]), _take(real, order[cut:])


def _at_most(rows: Rows, most: int, random_state: int) -> Rows:
    """Return rows, a random sample of them if there are too many, in their order."""
    order = np.random.default_rng(random_state).permutation(_length(rows))[:most]
    return _take(rows, np.sort(order))


def _length(rows: Rows) -> int:
    table: Any = rows[0] if isinstance(rows, tuple) else rows
    return len(table)


def _take(rows: Rows, places: NDArray[np.intp]) -> Rows:
    if isinstance(rows, tuple):
        return _rows_at(rows[0], places), _rows_at(rows[1], places)
    return _rows_at(rows, places)


def _rows_at(table: Any, places: NDArray[np.intp]) -> Table:
    """Return rows of a frame of pandas, or of an array."""
    if hasattr(table, "iloc"):
        return table.iloc[places].reset_index(drop=True)
    return table[places]
