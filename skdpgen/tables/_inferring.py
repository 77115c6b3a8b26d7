"""Bounds and categories read off rows: for public rows, or with a leak."""

from typing import Any

import numpy as np
import pandas as pd

from skdpgen.tables._columns import (
    Boolean,
    Categorical,
    Column,
    Datetime,
    Integer,
    Numeric,
)
from skdpgen.tables._layout import Kind

MAX_DECIMALS = 3


def sorted_values(series: "pd.Series[Any]") -> list[Any]:
    """Return the distinct values in a public order: sorted, as text if mixed."""
    values = series.dropna().unique().tolist()
    try:
        return sorted(values)
    except TypeError:
        return sorted(values, key=str)


def infer_column(series: "pd.Series[Any]", kind: Kind) -> Column:
    """Return the type of a column as its values show it."""
    nullable = bool(series.isna().any())
    if kind is Kind.BOOLEAN:
        return Boolean(nullable=nullable)
    if kind is Kind.TEXT:
        return Categorical(sorted(set(map(str, series.dropna()))), nullable=nullable)
    if kind is Kind.DATETIME:
        known = series.dropna()
        if isinstance(known.dtype, pd.CategoricalDtype):
            known = known.astype(known.dtype.categories.dtype)
        if known.empty:
            return Datetime("2000-01-01", "2000-01-01", nullable=True)
        bounds = (known.min().isoformat(), known.max().isoformat())
        is_daily = bool((known == known.dt.normalize()).all())
        return Datetime(*bounds, is_daily, nullable)
    values = series.astype("float64").to_numpy()
    values = values[np.isfinite(values)]
    nullable = nullable or len(values) < len(series)
    if not len(values):
        return Numeric(0.0, 0.0, nullable=True)
    lower, upper = float(values.min()), float(values.max())
    if kind is Kind.INTEGER:
        return Integer(int(lower), int(upper), nullable=nullable)
    scaled = [values * 10.0**d for d in range(MAX_DECIMALS)]
    exact = [d for d, v in enumerate(scaled) if np.allclose(v, v.round(), 0, 1e-6)]
    return Numeric(lower, upper, exact[0] if exact else None, nullable=nullable)


def empty_column(kind: Kind, *, nullable: bool) -> Column:
    """Return the column type of a dtype kind, with nothing else known."""
    types = {
        Kind.FLOAT: Numeric,
        Kind.INTEGER: Integer,
        Kind.BOOLEAN: Boolean,
        Kind.TEXT: Categorical,
        Kind.DATETIME: Datetime,
    }
    column: Column = types[kind](nullable=nullable)
    return column
