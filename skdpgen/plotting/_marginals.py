"""One panel per column: how often each value occurs in real and in synthetic rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from skdpgen.utils import require

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Numbers with no more distinct values than this are shown as bars, as text is.
_FEW_VALUES = 15
_N_BINS = 40
_N_BARS = 12
_MISSING = "missing"
_REAL, _SYNTHETIC = "#4c566a", "#d0722f"


def plot_marginals(
    real: Any,
    synthetic: Any,
    columns: Sequence[Any] | None = None,
    max_columns: int = 12,
) -> Figure:
    """Draw each column's distribution, real against synthetic.

    Text and columns of few values become bars; other numbers and dates become step
    histograms on common bins; the outermost bins also hold the values beyond the
    central 99 % of both tables, so that a tail does not squeeze the rest.

    **A picture of real rows is outside the privacy guarantee**: it shows true
    frequencies, without noise. Keep it where the real rows are kept.

    Parameters
    ----------
    real, synthetic : DataFrame or array of shape (n_samples, n_columns)
        The two tables.
    columns : sequence of column names, default=None
        What to draw; None draws the columns that both tables have.
    max_columns : int, default=12
        At most this many of them are drawn, the first ones.

    Returns
    -------
    matplotlib.figure.Figure
        A figure without a window; save it with ``figure.savefig("marginals.png")``.

    Examples
    --------
    >>> from skdpgen.datasets import load_example
    >>> from skdpgen.plotting import plot_marginals
    >>> real, _ = load_example(500, random_state=0)
    >>> other, _ = load_example(500, random_state=1)
    >>> figure = plot_marginals(real, other, columns=["age", "job"])
    >>> [axes.get_title() for axes in figure.axes]
    ['age', 'job']
    """
    figures = require("matplotlib.figure", extra="plot")
    real, synthetic = _as_frame(real, "real"), _as_frame(synthetic, "synthetic")
    names = _shown_columns(real, synthetic, columns, max_columns)

    n_across = min(4, len(names))
    n_down = math.ceil(len(names) / n_across)
    figure = figures.Figure(
        figsize=(3.2 * n_across, 2.5 * n_down + 0.4), layout="constrained"
    )
    for place, name in enumerate(names, start=1):
        axes = figure.add_subplot(n_down, n_across, place)
        if _is_continuous(real[name], synthetic[name]):
            _draw_steps(axes, real[name], synthetic[name])
        else:
            _draw_bars(axes, real[name], synthetic[name])
        axes.set_title(str(name), fontsize=10)
        axes.set_yticks([])
        axes.tick_params(labelsize=7)
        axes.spines[["top", "right", "left"]].set_visible(False)
    figure.legend(
        *figure.axes[0].get_legend_handles_labels(),
        loc="outside upper right",
        ncols=2,
        frameon=False,
    )
    return figure


def _as_frame(table: Any, argument: str) -> pd.DataFrame:
    """Take a frame or a two-dimensional array."""
    if isinstance(table, pd.DataFrame):
        return table
    array = np.asarray(table)
    if array.ndim != 2:
        raise ValueError(
            f"{argument} must be a DataFrame or a two-dimensional array. "
            f"Got {array.ndim} dimensions instead."
        )
    return pd.DataFrame(array)


def _shown_columns(
    real: pd.DataFrame,
    synthetic: pd.DataFrame,
    columns: Sequence[Any] | None,
    max_columns: int,
) -> list[Any]:
    """Return the names to draw; each must be in both tables."""
    if max_columns < 1:
        raise ValueError(f"max_columns must be at least 1. Got {max_columns} instead.")
    common = [name for name in real.columns if name in synthetic.columns]
    if columns is None:
        columns = common
    unknown = [name for name in columns if name not in common]
    if unknown or not columns:
        raise ValueError(
            f"columns must name columns that both tables have. Got {unknown} instead; "
            f"both have {common}."
        )
    return list(columns)[:max_columns]


def _is_continuous(real: pd.Series, synthetic: pd.Series) -> bool:
    """Say whether a column is of numbers or dates with too many values for bars."""
    kinds = [
        pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values)
        for values in (real, synthetic)
    ]
    dates = [
        pd.api.types.is_datetime64_any_dtype(values) for values in (real, synthetic)
    ]
    return all(dates) or (
        all(kinds) and max(real.nunique(), synthetic.nunique()) > _FEW_VALUES
    )


def _finite(values: pd.Series) -> np.ndarray:
    """Return the finite values as floats; dates as days since 1970, as plots use."""
    if pd.api.types.is_datetime64_any_dtype(values):
        values = pd.Series(values.dropna()).dt.tz_localize(None)
        return values.to_numpy("datetime64[s]").astype("int64") / 86400.0
    floats = values.to_numpy(dtype="float64", na_value=np.nan)
    return floats[np.isfinite(floats)]


def _common_edges(values: np.ndarray) -> np.ndarray:
    """Bins over the central 99 %; edges between whole numbers if all are whole."""
    if not len(values):
        return np.array([0.0, 1.0])
    low, high = np.quantile(values, [0.005, 0.995])
    if np.any(values != np.round(values)):
        return np.histogram_bin_edges([low, high], bins=_N_BINS)
    low, high = np.floor(low), np.ceil(high)
    width = np.ceil((high - low + 1) / _N_BINS)
    return np.arange(low - 0.5, high + width + 0.5, width)


def _draw_steps(axes: Axes, real: pd.Series, synthetic: pd.Series) -> None:
    """Two step histograms on the same bins, each of area one."""
    samples = [_finite(real), _finite(synthetic)]
    edges = _common_edges(np.concatenate(samples))
    styles = [("real", _REAL, "stepfilled", 0.35), ("synthetic", _SYNTHETIC, "step", 1)]
    for values, (label, color, histtype, alpha) in zip(samples, styles, strict=True):
        axes.hist(
            np.clip(values, edges[0], edges[-1]),
            bins=edges,
            weights=np.full(len(values), 1 / max(len(values), 1)),
            histtype=histtype,
            color=color,
            alpha=alpha,
            label=label,
            linewidth=1.4,
        )
    if pd.api.types.is_datetime64_any_dtype(real):
        dates = require("matplotlib.dates", extra="plot")
        locator = dates.AutoDateLocator(maxticks=5)
        axes.xaxis.set_major_locator(locator)
        axes.xaxis.set_major_formatter(dates.ConciseDateFormatter(locator))
    else:
        axes.locator_params(axis="x", nbins=4)


def _draw_bars(axes: Axes, real: pd.Series, synthetic: pd.Series) -> None:
    """Two bars per value: its share among the real and among the synthetic rows."""
    shares = pd.concat([_shares(real), _shares(synthetic)], axis=1).fillna(0.0)
    shares = shares.reindex(_in_order(shares, real)).iloc[:_N_BARS]
    places = np.arange(len(shares))
    axes.bar(
        places - 0.2, shares.iloc[:, 0], 0.4, color=_REAL, alpha=0.45, label="real"
    )
    axes.bar(places + 0.2, shares.iloc[:, 1], 0.4, color=_SYNTHETIC, label="synthetic")
    axes.set_xticks(places, [_short(value) for value in shares.index])
    if len(shares) > 3:
        axes.tick_params(axis="x", rotation=60)


def _shares(values: pd.Series) -> pd.Series:
    """Shares of the values; missing counts as a value of its own."""
    labels = values.astype("object").where(values.notna(), _MISSING)
    return labels.value_counts(normalize=True)


def _in_order(shares: pd.DataFrame, real: pd.Series) -> list[Any]:
    """Numbers and ordered categories by value, others by frequency; missing last."""
    values = [value for value in shares.index if value != _MISSING]
    is_ordered = isinstance(real.dtype, pd.CategoricalDtype) and real.cat.ordered
    if is_ordered:
        ranks = {value: rank for rank, value in enumerate(real.cat.categories)}
        values.sort(key=lambda value: ranks.get(value, len(ranks)))
    elif all(isinstance(value, int | float | np.number) for value in values):
        values.sort()
    else:
        values.sort(key=lambda value: -shares.loc[value].max())
    return [*values, *[_MISSING] * (_MISSING in shares.index)]


def _short(value: Any) -> str:
    """Fit a value under its bars."""
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return text if len(text) <= 12 else text[:11] + "…"
