"""How close synthetic marginals are to real ones: total variation."""

from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skdpgen.metrics._alike import read_alike
from skdpgen.metrics._frames import align, joined

MAX_SETS = 300  # pairs, or triples, of columns
MAX_LEVELS = 64  # the most frequent real categories; the other real ones share a cell

Cells = tuple[NDArray[np.intp], NDArray[np.intp], int]  # real, synthetic, number
Floats, Keys = NDArray[np.float64], NDArray[np.object_]


def total_variation(
    real: Any, synthetic: Any, order: int = 1, n_bins: int = 16
) -> float:
    r"""Mean total variation distance between real and synthetic marginals.

    .. math:: \frac12 \sum_c |p_c - q_c| \in [0, 1]

    over the cells of each column (``order=1``), pair (2) or triple (3) of columns.
    Numbers are cut at quantiles of the real rows; missing is a cell, and so are the
    values that the real rows never hold. Texts that are dates count as dates. This
    reads real rows, so it is outside the guarantee.

    Parameters
    ----------
    real, synthetic : table or tuple (X, y)
        Tables with the same columns; with targets, these count as a column.
    order : {1, 2, 3}, default=1
        If there are more than 300 pairs or triples, a fixed sample is taken, the same
        at every call.
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
    return float(marginal_distances(real, synthetic, order, n_bins).mean())


def marginal_distances(
    real: Any, synthetic: Any, order: int = 1, n_bins: int = 16
) -> pd.Series:
    """Total variation distance of each column, or of each pair or triple of columns.

    :func:`total_variation` is the mean of these, and has the same parameters. This
    reads real rows, so it is outside the guarantee.

    Returns
    -------
    Series of float
        By column, or by pairs or triples of columns; a table with fewer columns than
        ``order`` is one set. The target, if there is one, is called ``"(target)"``.

    Examples
    --------
    >>> real = pd.DataFrame({"a": ["x", "y"], "b": [0.0, 1.0]})
    >>> marginal_distances(real, pd.DataFrame({"a": ["x", "x"], "b": [0.0, 1.0]}))
    a    0.5
    b    0.0
    dtype: float64
    """
    if order not in (1, 2, 3):
        raise ValueError(f"order must be 1, 2 or 3. Got {order!r} instead.")
    if n_bins < 2:
        raise ValueError(f"n_bins must be at least 2. Got {n_bins!r} instead.")
    real, synthetic = joined(real), joined(synthetic)
    columns, names = _discretise(real, synthetic, n_bins), list(real.columns)
    order = min(order, len(columns))
    if order < 2:
        return pd.Series([_distance(*column) for column in columns], names, dtype=float)
    chosen = column_sets(len(columns), order)
    index = pd.MultiIndex.from_tuples([tuple(names[j] for j in one) for one in chosen])
    return pd.Series([_together([columns[j] for j in one]) for one in chosen], index)


def _discretise(
    real: pd.DataFrame, synthetic: pd.DataFrame, n_bins: int
) -> list[Cells]:
    if not (len(real) and len(synthetic)):
        raise ValueError("Both tables must have rows. Got an empty one instead.")
    synthetic = align(synthetic, real)
    pairs = [
        read_alike(real.iloc[:, j], synthetic.iloc[:, j]) for j in range(real.shape[1])
    ]
    return [
        levels(pair.real, pair.synthetic)
        if pair.kind == "level"
        else _bins(pair.real, pair.synthetic, n_bins)
        for pair in pairs
    ]


def _bins(real: Floats, synthetic: Floats, n_bins: int) -> Cells:
    sides = [np.where(np.isfinite(side), side, np.nan) for side in (real, synthetic)]
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


def levels(real: Keys, synthetic: Keys) -> Cells:
    """Code text keys: frequent real ones, the rest, what no real row has, missing.

    Examples
    --------
    >>> real, synthetic = (np.array(x, dtype=object) for x in (["a"], ["b", None]))
    >>> [side.tolist() for side in levels(real, synthetic)[:2]]
    [[0], [2, 3]]
    """
    sides = real, synthetic
    counts = pd.Series(sides[0]).value_counts(dropna=True)
    rare = min(len(counts), MAX_LEVELS)  # then what no real row holds, then missing
    places = {name: min(code, rare) for code, name in enumerate(counts.index)}
    found = []
    for side in sides:
        codes, distinct = pd.factorize(side, use_na_sentinel=True)
        lookup = [places.get(name, rare + 1) for name in distinct]
        found.append(np.array([*lookup, rare + 2], dtype=np.intp)[codes])
    return found[0], found[1], rare + 3


def column_sets(n_columns: int, order: int) -> list[tuple[int, ...]]:
    """Return all sets of columns of a size, or a fixed sample of 300 of them.

    Examples
    --------
    >>> column_sets(3, 2)
    [(0, 1), (0, 2), (1, 2)]
    """
    n_sets = comb(n_columns, order)
    if n_sets <= MAX_SETS:
        return list(combinations(range(n_columns), order))
    rng = np.random.default_rng(0)
    if order == 2:  # a sample of places: the one that earlier numbers are of
        places = set(rng.choice(n_sets, MAX_SETS, replace=False).tolist())
        pairs = enumerate(combinations(range(n_columns), 2))
        return [pair for k, pair in pairs if k in places]
    found: set[tuple[int, ...]] = set()
    while len(found) < MAX_SETS:
        found.add(tuple(sorted(rng.choice(n_columns, order, replace=False).tolist())))
    return sorted(found)


def _together(columns: list[Cells]) -> float:
    """Distance of a set of columns; only cells that some row is in are counted."""
    sides = [np.zeros(len(columns[0][k]), dtype=np.int64) for k in (0, 1)]
    for column in columns:
        sides = [side * column[2] + column[k] for k, side in enumerate(sides)]
    occupied, codes = np.unique(np.concatenate(sides), return_inverse=True)
    n_real = len(sides[0])
    return _distance(codes[:n_real], codes[n_real:], len(occupied))


def _distance(
    real: NDArray[np.intp], synthetic: NDArray[np.intp], n_cells: int
) -> float:
    p = np.bincount(real, minlength=n_cells) / len(real)
    q = np.bincount(synthetic, minlength=n_cells) / len(synthetic)
    return float(np.abs(p - q).sum() / 2)
