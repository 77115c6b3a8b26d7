"""The quality score of SDMetrics, which users of SDV know.

SDMetrics 0.32 needs pandas below 3, and this package pandas 3, so no environment has
both. Another Python computes the score; rows go there through a pipe, not a file.
"""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from skdpgen.metrics._frames import align, is_numeric, is_time, joined, keys, numbers
from skdpgen.utils import Rows

VARIABLE = "SKDPGEN_SDMETRICS_PYTHON"
PARTS = {"Column Shapes": "column_shapes", "Column Pair Trends": "column_pair_trends"}
ABSENT = (
    "{python} has no SDMetrics, which needs pandas below 3: give it an environment of "
    "its own, with `python -m venv sdmetrics` and `sdmetrics/bin/pip install "
    "sdmetrics`, and say python='sdmetrics/bin/python', or set the variable {variable}."
)
# Runs elsewhere, on pandas 1.5 or newer.
SCRIPT = """
import json, sys
try:
    from sdmetrics.reports.single_table import QualityReport
except ModuleNotFoundError as error:
    sys.exit(3 if (error.name or "").startswith("sdmetrics") else repr(error))
import pandas as pd
job = json.load(sys.stdin)
if job is None:
    sys.exit(0)
kinds = {name: column["sdtype"] for name, column in job["metadata"]["columns"].items()}
frames = []
for side in job["sides"]:
    frame = pd.DataFrame({name: pd.Series(cells) for name, cells in side.items()})
    for name, kind in kinds.items():
        if kind == "datetime":
            frame[name] = pd.to_datetime(frame[name])
        elif kind == "numerical":
            frame[name] = pd.to_numeric(frame[name])
    frames.append(frame)
report = QualityReport()
report.generate(*frames, job["metadata"], verbose=False)
parts = report.get_properties().set_index("Property")["Score"].to_dict()
print(json.dumps({"quality": report.get_score(), **parts}))
"""


def sdmetrics_quality(
    real: Rows,
    synthetic: Rows,
    *,
    metadata: Mapping[str, Any] | None = None,
    python: str | None = None,
) -> dict[str, float]:
    """Return the score of SDMetrics' ``QualityReport``, from 0 to 1, and its two parts.

    SDMetrics cuts numbers of each table into ten bins between *that* table's own
    extremes before it compares pairs. A method that keeps public ranges instead of real
    extremes has other bins, and lower pair trends, with the same rows otherwise. This
    reads real rows, so it is outside the guarantee.

    Parameters
    ----------
    real, synthetic : table or tuple (X, y)
        Tables with the same columns; with targets, these count as a column.
    metadata : mapping or None, default=None
        What SDMetrics takes, ``{"columns": {name: {"sdtype": ...}}}``. None goes by
        the dtypes of the real columns: numbers are numerical, times datetime, booleans
        boolean, all others categorical.
    python : str or None, default=None
        Python of an environment that has SDMetrics. It cannot be this one, as
        SDMetrics 0.32 needs pandas below 3. None takes the environment variable
        ``SKDPGEN_SDMETRICS_PYTHON``.

    Returns
    -------
    dict
        ``quality``, the mean of ``column_shapes`` and ``column_pair_trends``.

    Examples
    --------
    >>> real = pd.DataFrame({"a": [1.5, 2.5, 3.5], "b": ["x", "y", "x"]})
    >>> sdmetrics_quality(real, real, python="sdmetrics/bin/python")  # doctest: +SKIP
    {'quality': 1.0, 'column_shapes': 1.0, 'column_pair_trends': 1.0}
    """
    real_frame = joined(real)
    synthetic_frame = align(joined(synthetic), real_frame)
    metadata = quality_metadata(real_frame) if metadata is None else dict(metadata)
    kinds = [metadata["columns"][str(name)]["sdtype"] for name in real_frame.columns]
    sides = [
        {
            str(name): _plain(frame.iloc[:, j], kinds[j])
            for j, name in enumerate(frame.columns)
        }
        for frame in (real_frame, synthetic_frame)
    ]
    scores = _elsewhere({"metadata": metadata, "sides": sides}, python)
    parts = {own: float(scores[theirs]) for theirs, own in PARTS.items()}
    return {"quality": float(scores["quality"]), **parts}


def require_sdmetrics(python: str | None = None) -> None:
    """Raise ImportError unless the other Python has SDMetrics."""
    _elsewhere(None, python)


def quality_metadata(real: pd.DataFrame) -> dict[str, Any]:
    """Return metadata of SDMetrics by the dtypes of a table.

    Examples
    --------
    >>> quality_metadata(pd.DataFrame({"a": [1], "b": [True]}))["columns"]
    {'a': {'sdtype': 'numerical'}, 'b': {'sdtype': 'boolean'}}
    """
    columns = {
        str(name): {"sdtype": _kind(real.iloc[:, j])}
        for j, name in enumerate(real.columns)
    }
    return {"columns": columns}


def _kind(column: pd.Series) -> str:
    if is_time(column) and not pd.api.types.is_timedelta64_dtype(column):
        return "datetime"
    if pd.api.types.is_bool_dtype(column):
        return "boolean"
    return "numerical" if is_numeric(column) else "categorical"


def _plain(column: pd.Series, kind: str) -> list[Any]:
    """Return cells as JSON has them; missing is None."""
    if kind == "numerical":
        values = numbers(column)
        return [None if np.isnan(value) else value for value in values.tolist()]
    if kind == "boolean":
        return [None if pd.isna(cell) else bool(cell) for cell in column]
    return [None if key is None or key != key else str(key) for key in keys(column)]


def _elsewhere(job: Mapping[str, Any] | None, python: str | None) -> dict[str, Any]:
    """Run the script in the other Python; an error says how to install SDMetrics."""
    python = python or os.environ.get(VARIABLE) or sys.executable
    # its own packages alone: a path of ours would bring the wrong pandas
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    absent = ImportError(ABSENT.format(python=python, variable=VARIABLE))
    try:
        run = subprocess.run(
            [python, "-W", "ignore", "-c", SCRIPT],
            input=json.dumps(job),
            capture_output=True,
            text=True,
            env=environment,
            check=False,
        )
    except OSError as error:
        raise absent from error
    if run.returncode == 3:
        raise absent
    if run.returncode:
        reason = (run.stderr.strip().splitlines() or ["no message"])[-1]
        raise RuntimeError(f"SDMetrics in {python} failed: {reason}")
    return {} if job is None else json.loads(run.stdout.strip().splitlines()[-1])
