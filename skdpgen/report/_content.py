"""The content of a report as plain data, from released quantities only."""

import math
import platform
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import numpy as np
import pandas as pd

from skdpgen.privacy import PrivacyReport
from skdpgen.report._page import MOST_CLASSES, picture_of_images
from skdpgen.utils import (
    Synthesizer,
)

SUSPECTED = (0.01, 0.1, 0.5)  # probabilities before the rows are published
SHOWN = 5  # synthetic rows
TIMED = 5_000  # synthetic rows that are drawn to see how long it takes
SHOWN_IMAGES = 10  # of each class
LIBRARIES = (
    "skdpgen",
    "numpy",
    "pandas",
    "scikit-learn",
    "torch",
    "autodp",
    "dp-accounting",
)
NOT_PROMISED = (
    "That nothing can be learnt about people in general: if the rows show that smokers "
    "are ill more often, synthetic rows show it, too, and should.",
    "Anything about more than one row: somebody with k rows is protected k times less.",
    "That rare things are there: what few rows have is lost on purpose.",
    "Anything for another fit of the same rows: each costs its own epsilon, and they "
    "add up.",
    "That what is listed as public really was: column names, dtypes and whatever the "
    "schema said.",
)


def report_content(
    synthesizer: Synthesizer, *, random_state: int | None = 0, pictures: bool = True
) -> dict[str, Any]:
    """Return the content of a report on a fitted synthesizer; reads no private row.

    Parameters
    ----------
    synthesizer : fitted estimator
    random_state : int or None, default=0
        Of the synthetic rows that are shown.
    pictures : bool, default=True
        Whether to draw synthetic images; needs matplotlib.

    Returns
    -------
    dict
        Of plain types; ``"real"`` is None (see :func:`beside_real`).

    Examples
    --------
    >>> from skdpgen.datasets import load_example
    >>> from skdpgen.synthesizers import DPIndependentSynthesizer
    >>> synthesizer = DPIndependentSynthesizer(1.0).fit(load_example(2000)[0])
    >>> content = report_content(synthesizer)
    >>> content["guarantee"]["odds"][-1]
    {'before': 0.5, 'after': 0.731}
    """
    report: PrivacyReport = synthesizer.privacy_
    is_table = hasattr(synthesizer, "columns_") and bool(
        getattr(synthesizer, "cells_", None)
    )
    promised = guarantee(report)
    content = {
        "alarms": promised["alarms"],  # first, so that a reader of the file sees them
        "method": type(synthesizer).__name__,
        "made": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "n_rows": int(synthesizer.n_samples_),
        "guarantee": promised,
        "budget": [
            {"name": entry.name, "share": entry.share, "noise": entry.noise_std}
            for entry in report.releases
        ],
        "public": list(report.statements),
        "not_promised": list(NOT_PROMISED),
        "columns": _columns(synthesizer.columns_) if is_table else [],
        "lost": list(getattr(synthesizer, "lost_", ())),
        "rows": _rows(synthesizer, random_state) if is_table else None,
        "figures": [] if is_table or not pictures else _images(synthesizer),
        "timing": _timing(synthesizer, TIMED if is_table else 10 * SHOWN_IMAGES),
        "versions": {name: version(name) for name in LIBRARIES},
        "python": platform.python_version(),
        "real": None,
    }
    return content


def guarantee(report: PrivacyReport) -> dict[str, Any]:
    """Return the promise in numbers that can be pictured."""
    is_private = math.isfinite(report.epsilon)
    odds = [
        {"before": before, "after": round(_after(before, report.epsilon), 3)}
        for before in SUSPECTED
    ]
    alarms = [
        statement
        for statement in report.statements
        if statement.startswith(("NOT PRIVATE", "LEAK"))
    ]
    return {
        "is_private": is_private,
        "epsilon": report.epsilon if is_private else None,
        "delta": report.delta,
        "unit": report.unit,
        "adjacency": report.adjacency,
        "spent": report.spent,
        "odds": odds if is_private else [],
        "alarms": alarms,
        "certificate": str(report),
    }


def _after(before: float, epsilon: float) -> float:
    """Return how likely a suspicion can become at most: odds grow by exp(epsilon).

    Examples
    --------
    >>> round(_after(0.1, 1.0), 2)
    0.23
    """
    return before / (before + (1.0 - before) * math.exp(-epsilon))


def _columns(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return a line for each column: its type, and the source of that type."""
    return [
        {
            "name": str(name),
            "type": str(row["type"]),
            "source": "found privately" if row["is_discovered"] else "public",
            "is_identifier": bool(row["is_identifier"]),
            "range": _range(row),
            "values": _whole(row.get("n_values")),
            "missing": _share(row.get("missing")),
            "other": _share(row.get("other")),
        }
        for name, row in table.iterrows()
    ]


def _range(row: Mapping[str, Any]) -> str:
    ends = row.get("lower"), row.get("upper")
    if any(end is None or end != end for end in ends):  # None, or NaN
        return ""
    return " to ".join(
        f"{end:g}" if isinstance(end, float) else str(end) for end in ends
    )


def _whole(value: Any) -> int | None:
    return None if value is None or value != value else int(value)


def _share(value: Any) -> float | None:
    """Return a share between 0 and 1; noise may have made it less or more."""
    if value is None or value != value:
        return None
    return round(min(max(float(value), 0.0), 1.0), 4)


def _timing(synthesizer: Synthesizer, n_rows: int) -> dict[str, Any]:
    """Return how fast rows are drawn, which private rows have no part in.

    Seconds of the fit are left out: they passed while private rows were read, and no
    noise was added to them.
    """
    start = time.perf_counter()
    synthesizer.sample(n_rows, random_state=0)
    seconds = time.perf_counter() - start
    return {"rows": n_rows, "seconds": round(seconds, 4)}


def _images(synthesizer: Synthesizer) -> list[dict[str, str]]:
    """Draw synthetic images, some of each class."""
    if getattr(synthesizer, "task_", None) == "classification":
        classes = np.asarray(synthesizer.classes_)[:MOST_CLASSES]
        labels = np.repeat(classes, SHOWN_IMAGES)
        rows = synthesizer.sample(y=labels, random_state=0)
    else:
        rows = synthesizer.sample(10 * SHOWN_IMAGES, random_state=0)
    return [{"title": "Drawn from the model", "picture": picture_of_images(rows)}]


def _rows(synthesizer: Synthesizer, random_state: int | None) -> dict[str, Any]:
    sample = synthesizer.sample(SHOWN, random_state=random_state)
    X, y = sample if isinstance(sample, tuple) else (sample, None)
    X = pd.DataFrame(X)
    names = [str(name) for name in X.columns]
    # missing is None in all dtypes, and an empty text on the page
    cells = X.astype(object).where(X.notna(), None).to_numpy().tolist()
    if y is not None:
        names.append("(target)")
        cells = [[*row, label] for row, label in zip(cells, list(y), strict=True)]
    texts = [["" if cell is None else str(cell) for cell in row] for row in cells]
    return {"names": names, "cells": texts}
