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
from skdpgen.report._answers import answers
from skdpgen.report._page import MOST_CLASSES, picture_of_images, readable_date
from skdpgen.tables import (
    Boolean,
    Categorical,
    Column,
    Datetime,
    Drop,
    Integer,
    Numeric,
    Regenerate,
)
from skdpgen.utils import Synthesizer, own_version

SUSPECTED = (0.01, 0.1, 0.5)  # probabilities before the rows are published
SHOWN_ROWS = 5  # synthetic
TIMED_ROWS = 5_000  # synthetic; they are drawn to see how long it takes
SHOWN_IMAGES = 10  # of each class
STANDARD_ERRORS = 2.0  # around a released share: right in 19 of 20 cases
MOST_LISTED = 8  # categories that are named
LOSSES = {  # shares in `columns_`, each with its standard error
    "other": "rare or unlisted",
    "below": "below the range",
    "above": "above the range",
    "unread": "not readable",
    "no_cell": "outside the schema",
}
LIBRARIES = (
    "numpy",
    "pandas",
    "scikit-learn",
    "torch",
    "autodp",
    "dp-accounting",
)
NOT_PROMISED = (
    "That nothing can be learned about people in general. If smokers are ill more "
    "often in the private rows, the synthetic rows may show it, too.",
    "The same protection for several rows. A person with k rows has k times the "
    "epsilon.",
    "That rare values appear. Values that few rows have are lost on purpose.",
    "The same protection after another fit of the same rows. Each fit uses its own "
    "epsilon, and they add up.",
    "That the information listed as public is public: column names, data types and "
    "the content of the schema.",
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
    {'before': 0.5, 'after': 0.732}
    >>> content["answers"]["private"]["verdict"]
    'Yes. The guarantee is strong (epsilon 1).'
    """
    report: PrivacyReport = synthesizer.privacy_
    is_table = hasattr(synthesizer, "columns_") and bool(
        getattr(synthesizer, "cells_", None)
    )
    promised = guarantee(report)
    content: dict[str, Any] = {
        "alarms": promised["alarms"],  # first, so that a reader of the file sees them
        "answers": None,
        "method": type(synthesizer).__name__,
        "made": datetime.now(UTC).isoformat(timespec="minutes"),
        "n_rows": int(synthesizer.n_samples_),
        "guarantee": promised,
        "budget": [
            {"name": entry.name, "share": entry.share, "noise": entry.noise_std}
            for entry in report.releases
        ],
        "public": list(report.statements),
        "not_promised": list(NOT_PROMISED),
        "learned": getattr(synthesizer, "relations_learned_", None),
        "columns": _columns(synthesizer) if is_table else [],
        "target": _target(synthesizer) if is_table else None,
        "lost": list(getattr(synthesizer, "lost_", ())),
        "rows": _rows(synthesizer, random_state) if is_table else None,
        "figures": [] if is_table or not pictures else _images(synthesizer),
        "timing": _timing(synthesizer, TIMED_ROWS if is_table else 10 * SHOWN_IMAGES),
        "versions": {
            "skdpgen": own_version(),
            **{name: version(name) for name in LIBRARIES},
        },
        "python": platform.python_version(),
        "real": None,
    }
    return {**content, "answers": answers(content)}


def guarantee(report: PrivacyReport) -> dict[str, Any]:
    """Return the promise in numbers that can be pictured."""
    is_private = math.isfinite(report.epsilon)
    odds = [
        {"before": before, "after": _rounded_up(_after(before, report.epsilon))}
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


def _rounded_up(share: float) -> float:
    """Round a bound to three digits, such that it stays one."""
    return min(math.ceil(1000 * share) / 1000, 1.0)


def _after(before: float, epsilon: float) -> float:
    """Return how likely a suspicion can become at most: odds grow by exp(epsilon).

    Examples
    --------
    >>> round(_after(0.1, 1.0), 2)
    0.23
    """
    return before / (before + (1.0 - before) * math.exp(-epsilon))


# ----------------------------------------------------------------------------
# Columns: what their synthetic values are, and shares as ranges.


def _columns(synthesizer: Any) -> list[dict[str, Any]]:
    """Return a line for each column: its type, the source of that type, and shares."""
    schema = getattr(synthesizer, "schema_", None)
    described = {} if schema is None else schema.columns
    return [
        {
            "name": str(name),
            "type": str(row["type"]),
            "source": "discovered" if row["is_discovered"] else "public",
            "is_identifier": bool(row["is_identifier"]),
            **in_words(described.get(name), str(row["type"])),
            "values": _whole(row.get("n_values")),
            "lower": _end(row.get("lower")),
            "upper": _end(row.get("upper")),
            "has_cells": bool(row.get("n_cells")),
            "noise": _number(row.get("noise")),
            "missing": _missing(row),
            "losses": _losses(row, LOSSES),
        }
        for name, row in synthesizer.columns_.iterrows()
    ]


def _target(synthesizer: Any) -> dict[str, Any] | None:
    """Return what was released about the target; None without one."""
    target = getattr(synthesizer, "target_", None)
    if target is None:
        return None
    kinds = {
        "dropped": "without a usable label",
        "below": LOSSES["below"],
        "above": LOSSES["above"],
    }
    return {"type": str(target["type"]), "losses": _losses(target, kinds)}


def in_words(column: Column | None, kind: str) -> dict[str, str]:
    """Say what the synthetic values of a column are: the kind, and which values.

    Examples
    --------
    >>> in_words(Integer(0, 12000, codes=[-1]), "Integer")
    {'kind': 'whole number', 'range': '0 to 12,000, or the code -1'}
    >>> in_words(Datetime("2020-01-05", "2026-11-25", resolution="day"), "Datetime")
    {'kind': 'date', 'range': '5 January 2020 to 25 November 2026'}
    """
    if isinstance(column, Datetime):
        kind = "date" if column.whole_days else "date and time"
    elif isinstance(column, Integer):
        kind = "whole number"
    elif isinstance(column, Numeric):
        kind = "number"
    elif isinstance(column, Boolean):
        kind = "true or false"
    elif isinstance(column, Categorical):
        kind = "category"
    elif isinstance(column, Regenerate):
        kind = "made up for each row"
    elif isinstance(column, Drop):
        kind = "left out"
    values = ""
    if isinstance(column, Integer | Numeric | Datetime) and column.lower is not None:
        is_date = isinstance(column, Datetime)
        ends = [readable_date(end) if is_date else number(end)
                for end in (column.lower, column.upper)]  # fmt: skip
        values = " to ".join(ends)
    elif isinstance(column, Categorical):
        names = [str(value) for value in column.values]
        values = f"{len(names)} categories"
        if len(names) <= MOST_LISTED:
            values = ", ".join(names)
    codes = [str(code) for code in getattr(column, "codes", ())]
    if codes:
        word = "the code" if len(codes) == 1 else "one of the codes"
        values += f", or {word} {', '.join(codes[:MOST_LISTED])}"
    return {"kind": kind, "range": values}


def number(value: Any) -> str:
    """Write a number with commas and at most ten digits.

    Examples
    --------
    >>> number(98303.99), number(-262144.0)
    ('98,303.99', '-262,144')
    """
    return f"{value:,}" if isinstance(value, int) else f"{float(value):,.10g}"


def _end(value: Any) -> Any:
    """Return an end of a range for JSON: a number, a date as ISO text, or None."""
    if value is None or value != value:
        return None
    return value if isinstance(value, int | float | str) else str(value)


def _number(value: Any) -> float | None:
    return None if value is None or value != value else float(value)


def _missing(row: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the released share of missing values as a range.

    A share of exactly zero is no estimate: the column is one without missing values.
    """
    share = _number(row.get("missing"))
    if share is None or share == 0.0:
        return None
    return _range_of(share, _number(row.get("missing_noise")))


def _losses(row: Mapping[str, Any], kinds: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the released shares of values that were moved, replaced or left out."""
    lines = []
    for key, what in kinds.items():
        share, noise = _number(row.get(key)), _number(row.get(f"{key}_noise"))
        # an exact zero was not measured: the column cannot have such a loss
        if share is not None and noise is not None and (share or noise):
            lines.append({"what": what, "range": _range_of(share, noise)})
    return lines


def _range_of(share: float, noise: float | None) -> dict[str, float]:
    """Return two standard errors around a share, within 0 and 1.

    Examples
    --------
    >>> _range_of(-0.01, 0.01), _range_of(0.5, 0.1)
    ({'low': 0.0, 'high': 0.02}, {'low': 0.3, 'high': 0.7})
    """
    share = min(max(share, 0.0), 1.0)  # noise may have made it less or more
    reach = STANDARD_ERRORS * (noise or 0.0)
    low, high = max(share - reach, 0.0), min(share + reach, 1.0)
    return {"low": round(low, 4), "high": math.ceil(round(1e4 * high, 6)) / 1e4}


def _whole(value: Any) -> int | None:
    return None if value is None or value != value else int(value)


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
    title = "Synthetic images, drawn from the model"
    return [{"title": title, "picture": picture_of_images(rows)}]


def _rows(synthesizer: Synthesizer, random_state: int | None) -> dict[str, Any]:
    sample = synthesizer.sample(SHOWN_ROWS, random_state=random_state)
    X, y = sample if isinstance(sample, tuple) else (sample, None)
    X = pd.DataFrame(X)
    names = [str(name) for name in X.columns]
    # missing is None in all dtypes, and an empty text on the page
    cells = X.astype(object).where(X.notna(), None).to_numpy().tolist()
    if y is not None:
        names.append("(target)")
        cells = [[*row, label] for row, label in zip(cells, list(y), strict=True)]
    return {"names": names, "cells": [[_cell(cell) for cell in row] for row in cells]}


def _cell(value: Any) -> str:
    """Write a synthetic value for readers; the file has it as it is."""
    if value is None:
        return ""
    if isinstance(value, datetime):  # or a Timestamp of pandas
        return readable_date(value.isoformat())
    if isinstance(value, float):
        return f"{value:.6g}" if abs(value) < 1e5 else f"{value:.10g}"
    return str(value)
