"""Labels, whatever they come as: a series whose dtype is its own, and its values."""

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd

from skdpgen.tables._containers import array_series, plain_array, read_table
from skdpgen.tables._dtypes import pandas_kind
from skdpgen.tables._layout import Kind, Layout
from skdpgen.tables._values import Values, read_values


def read_target(y: Any, n_rows: int) -> tuple[Any, Layout | None]:
    """Return y as a series, and its layout; None if there are no labels."""
    if y is None:
        return None, None
    if isinstance(y, pd.DataFrame):
        if y.shape[1] != 1:
            raise ValueError(f"y must be one column. Got {y.shape[1]} instead.")
        y = y.iloc[:, 0]
    container = "pandas" if isinstance(y, pd.Series) else "numpy"
    foreign = None
    if not isinstance(y, pd.Series):
        y, foreign = _target_series(y)
    if len(y) != n_rows:
        raise ValueError(
            "X and y must have one label a row. Got inconsistent numbers of samples; "
            "check that both come from the same rows."
        )
    series = y.reset_index(drop=True)
    pandas_kind(series.dtype, "y")
    _, layout = read_table(series.to_frame(name=y.name))
    if foreign is not None and foreign.container in ("polars", "pyarrow"):
        return series, foreign  # labels come back in it
    kinds = layout.kinds if foreign is None else foreign.kinds
    return series, Layout(container, layout.names, kinds, layout.dtypes)


def _target_series(y: Any) -> tuple["pd.Series[Any]", Layout | None]:
    """Return y as a series whose dtype is its own, not guessed from its values.

    The layout is that of its container if narwhals knows it, else None.
    """
    if isinstance(y, pd.Index | pd.api.extensions.ExtensionArray):
        return pd.Series(y, name=None), None
    if hasattr(y, "detach"):
        y = y.detach().cpu().numpy()
    native = nw.from_native(y, eager_only=True, allow_series=True, pass_through=True)
    if isinstance(native, nw.Series | nw.DataFrame):
        table = native.to_frame() if isinstance(native, nw.Series) else native
        frame, layout = read_table(table.to_native())
        if frame.shape[1] != 1:
            raise ValueError(f"y must be one column. Got {frame.shape[1]} instead.")
        return frame.iloc[:, 0].rename(None), layout
    array = y if isinstance(y, np.ma.MaskedArray) else plain_array(y, "y")
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise ValueError(
            f"y should be a 1d array, got an array of {array.ndim} dimensions instead."
        )
    return array_series(array, "y"), None


def read_labels(series: Any, layout: Layout | None, task: str) -> Values | None:
    """Return labels as values; of a regression as numbers."""
    if series is None or layout is None:
        return None
    kind = layout.kinds[0]
    is_number = kind in (Kind.FLOAT, Kind.DATETIME) or task == "regression"
    if is_number and task != "classification":
        return read_values(series, Kind.FLOAT if kind is Kind.TEXT else kind)
    return read_values(series, kind)
