"""How close synthetic marginals are to real ones: total variation."""

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skdpgen.metrics._frames import (
    align,
    as_frame,
    as_series,
    is_numeric,
    is_time,
    keys,
    numbers,
    times,
)

MAX_PAIRS = 300
MAX_LEVELS = 64  # the most frequent real categories; the others share one cell

Cells = tuple[NDArray[np.intp], NDArray[np.intp], int]  # real, synthetic, number


def total_variation(
    real: Any, synthetic: Any, order: int = 1, n_bins: int = 16
) -> float:
    r"""Mean total variation distance between real and synthetic marginals.

    .. math:: \frac12 \sum_c |p_c - q_c| \in [0, 1]

    over the cells of each column (``order=1``) or pair of columns (``order=2``).
    Numbers are cut at quantiles of the real rows; missing is a cell, and so are the
    values that the real rows never hold. This reads real rows, so it is outside the
    guarantee.

    Parameters
    ----------
    real, synthetic : table or tuple (X, y)
        Tables with the same columns; with targets, these count as a column.
    order : {1, 2}, default=1
        If there are more than 300 pairs, a fixed sample is taken, the same at every
        call.
    n_bins : int, default=16
        Cells of a numeric column.

    Returns
    -------
    float
        0 for equal marginals, 1 for disjoint ones. Two samples of one distribution do
        not reach 0: compare with the distance between two sets of real rows.

    Examples
    --------
    >>> real = pd.DataFrame({"a": ["x", "y"], "b": [0.0, 1.0]})
    >>> total_variation(real, real, order=2)
    0.0
    >>> total_variation(real, pd.DataFrame({"a": ["x", "x"], "b": [0.0, 1.0]}))
    0.25
    """
    if order not in (1, 2):
        raise ValueError(f"order must be 1 or 2. Got {order!r} instead.")
    if n_bins < 2:
        raise ValueError(f"n_bins must be at least 2. Got {n_bins!r} instead.")
    columns = _discretise(_joined(real), _joined(synthetic), n_bins)
    if order == 2 and len(columns) > 1:
        pairs = _pairs(len(columns))
        return float(np.mean([_pair(columns[i], columns[j]) for i, j in pairs]))
    return float(np.mean([_distance(*column) for column in columns]))


def _joined(table: Any) -> pd.DataFrame:
    """Append the target, if there is one, under a name that no column has."""
    if not isinstance(table, tuple):
        return as_frame(table)
    X, y = table
    frame = as_frame(X)
    return pd.concat([frame, as_series(y).rename("(target)")], axis=1)


def _discretise(
    real: pd.DataFrame, synthetic: pd.DataFrame, n_bins: int
) -> list[Cells]:
    if not (len(real) and len(synthetic)):
        raise ValueError("Both tables must have rows. Got an empty one instead.")
    synthetic = align(synthetic, real)
    columns = ((real.iloc[:, j], synthetic.iloc[:, j]) for j in range(real.shape[1]))
    return [
        _bins(*pair, n_bins) if is_numeric(pair[0]) else _levels(*pair)
        for pair in columns
    ]


def _bins(real: pd.Series, synthetic: pd.Series, n_bins: int) -> Cells:
    read = times if is_time(real) else numbers
    sides = read(real), read(synthetic)
    known = sides[0][~np.isnan(sides[0])]
    inner = np.linspace(0, 1, n_bins + 1)[1:-1]
    distinct = np.unique(known)
    # few values: one cell each, so that spikes and codes are not merged
    edges = (
        (distinct[1:] + distinct[:-1]) / 2
        if len(distinct) <= n_bins
        else np.unique(np.quantile(known, inner))
    )
    cells = [
        np.where(np.isnan(side), len(edges) + 1, np.searchsorted(edges, side, "right"))
        for side in sides
    ]
    return cells[0], cells[1], len(edges) + 2


def _levels(real: pd.Series, synthetic: pd.Series) -> Cells:
    sides = keys(real), keys(synthetic)
    counts = pd.Series(sides[0]).value_counts(dropna=True)
    levels = {name: code for code, name in enumerate(counts.index[:MAX_LEVELS])}
    other, missing = len(levels), len(levels) + 1
    found = []
    for side in sides:
        codes, distinct = pd.factorize(side, use_na_sentinel=True)
        lookup = [levels.get(name, other) for name in distinct]
        found.append(np.array([*lookup, missing], dtype=np.intp)[codes])
    return found[0], found[1], missing + 1


def _pairs(n_columns: int) -> list[tuple[int, int]]:
    pairs = list(combinations(range(n_columns), 2))
    if len(pairs) <= MAX_PAIRS:
        return pairs
    chosen = np.random.default_rng(0).choice(len(pairs), MAX_PAIRS, replace=False)
    return [pairs[k] for k in sorted(chosen)]


def _pair(first: Cells, second: Cells) -> float:
    n_cells = first[2] * second[2]
    real, synthetic = (first[k] * second[2] + second[k] for k in (0, 1))
    return _distance(real, synthetic, n_cells)


def _distance(
    real: NDArray[np.intp], synthetic: NDArray[np.intp], n_cells: int
) -> float:
    p = np.bincount(real, minlength=n_cells) / len(real)
    q = np.bincount(synthetic, minlength=n_cells) / len(synthetic)
    return float(np.abs(p - q).sum() / 2)
