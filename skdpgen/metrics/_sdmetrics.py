"""The quality score of SDMetrics, which users of SDV know."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from skdpgen.metrics._frames import align, is_numeric, is_time, joined
from skdpgen.utils import Rows, require

NAMES = {"Column Shapes": "column_shapes", "Column Pair Trends": "column_pair_trends"}


def sdmetrics_quality(
    real: Rows, synthetic: Rows, *, metadata: Mapping[str, Any] | None = None
) -> dict[str, float]:
    """The score of SDMetrics' ``QualityReport``, from 0 to 1, and its two parts.

    Needs ``pip install 'skdpgen[sdmetrics]'``. SDMetrics cuts numbers of each table
    into ten bins between *that* table's own extremes before it compares pairs. A
    method that keeps public ranges instead of real extremes has other bins, and lower
    pair trends, with the same rows otherwise. This reads real rows, so it is outside
    the guarantee.

    Parameters
    ----------
    real, synthetic : table or tuple (X, y)
        Tables with the same columns; with targets, these count as a column.
    metadata : mapping or None, default=None
        What SDMetrics takes, ``{"columns": {name: {"sdtype": ...}}}``. None goes by
        the dtypes of the real columns: numbers are numerical, times datetime, booleans
        boolean, all others categorical.

    Returns
    -------
    dict
        ``quality``, the mean of ``column_shapes`` and ``column_pair_trends``.

    Examples
    --------
    >>> real = pd.DataFrame({"a": [1.5, 2.5, 3.5], "b": ["x", "y", "x"]})
    >>> sdmetrics_quality(real, real)["quality"]  # doctest: +SKIP
    1.0
    """
    reports = require("sdmetrics.reports.single_table", extra="sdmetrics")
    real_frame = joined(real)
    synthetic_frame = align(joined(synthetic), real_frame)
    if metadata is None:
        metadata = quality_metadata(real_frame)
    report = reports.QualityReport()
    # it names columns by text
    frames = [frame.rename(columns=str) for frame in (real_frame, synthetic_frame)]
    report.generate(*frames, dict(metadata), verbose=False)
    parts = report.get_properties().set_index("Property")["Score"]
    scores = {own: float(parts[theirs]) for theirs, own in NAMES.items()}
    return {"quality": float(report.get_score()), **scores}


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
