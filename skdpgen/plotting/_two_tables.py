"""The two tables of a plot: checked, and the columns that both have read alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from skdpgen.metrics import FEW_VALUES, ColumnPair, joined, keys, read_alike
from skdpgen.utils import require

if TYPE_CHECKING:
    from matplotlib.figure import Figure

REAL, SYNTHETIC = "#4c566a", "#d0722f"
MISSING = "missing"


def two_tables(
    real: Any, synthetic: Any, columns: Sequence[Any] | None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return frames of the columns to draw; each must be in both tables."""
    real, synthetic = _as_table(real, "real"), _as_table(synthetic, "synthetic")
    common = [name for name in real.columns if name in synthetic.columns]
    wanted = common if columns is None else list(dict.fromkeys(columns))
    unknown = [name for name in wanted if name not in common]
    if unknown or not wanted:
        raise ValueError(
            f"columns must name columns that both tables have. Got {unknown} instead; "
            f"both have {common}."
        )
    return real[wanted], synthetic[wanted]


def _as_table(table: Any, argument: str) -> pd.DataFrame:
    """Take a frame, a two-dimensional array, or one of these with its target."""
    rows = table[0] if isinstance(table, tuple) else table
    n_dimensions = np.ndim(rows) if isinstance(rows, list) else getattr(rows, "ndim", 2)
    if n_dimensions != 2:
        raise ValueError(
            f"{argument} must be a DataFrame or a two-dimensional array. "
            f"Got {n_dimensions} dimensions instead."
        )
    frame = joined(table)
    if not frame.columns.is_unique:
        twice = list(frame.columns[frame.columns.duplicated()].unique())
        raise ValueError(f"{argument} has columns of the same name: {twice}.")
    return frame


def column_pairs(real: pd.DataFrame, synthetic: pd.DataFrame) -> dict[Any, ColumnPair]:
    """Read each column of both tables alike."""
    return {name: read_alike(real[name], synthetic[name]) for name in real.columns}


def has_levels(pair: ColumnPair) -> bool:
    """Say whether bars, one per value, show a column better than a histogram."""
    if pair.kind == "level":
        return True
    sides = (side[~np.isnan(side)] for side in (pair.real, pair.synthetic))
    return max(len(np.unique(side)) for side in sides) <= FEW_VALUES


def level_order(column: pd.Series) -> list[str] | None:
    """Return the order of ordered categories, as they are read; None of all others."""
    dtype = column.dtype
    if not (isinstance(dtype, pd.CategoricalDtype) and dtype.ordered):
        return None
    return keys(pd.Series(dtype.categories)).tolist()


def legend(figure: Figure) -> None:
    """Say above a figure which colour is which table."""
    patches = require("matplotlib.patches", extra="plot")
    figure.legend(
        handles=[
            patches.Patch(color=REAL, alpha=0.45, label="real"),
            patches.Patch(color=SYNTHETIC, label="synthetic"),
        ],
        loc="outside upper right",
        ncols=2,
        frameon=False,
    )
