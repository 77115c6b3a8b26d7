"""How wrong shares of rows are, counted on synthetic rows instead of real ones."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator
from numpy.typing import NDArray

from skdpgen.metrics._alike import ColumnPair, read_alike
from skdpgen.metrics._frames import align, joined

N_QUERIES = 500
WAY = 3  # columns in a query

Mask = NDArray[np.bool_]


def query_error(
    real: Any,
    synthetic: Any,
    *,
    n_queries: int = N_QUERIES,
    random_state: int | None = 0,
) -> float:
    """Mean absolute error of the answers to random questions about three columns.

    A question is "which share of the rows has these": for a number or a time, a range
    between two random quantiles of the real rows; for a category, a random half of the
    real ones, of which missing is one. The seed is public and the same questions are
    asked of every table. This reads real rows, so it is outside the guarantee.

    Parameters
    ----------
    real, synthetic : table or tuple (X, y)
        Tables with the same columns; with targets, these count as a column.
    n_queries : int, default=500
        Questions.
    random_state : int or None, default=0
        Seed of the questions.

    Returns
    -------
    float
        0 for equal answers; .01 is one row in a hundred.

    Examples
    --------
    >>> real = pd.DataFrame({"a": [1, 2, 3, 4], "b": [0, 1, 0, 1]})
    >>> query_error(real, real)
    0.0
    """
    if n_queries < 1:
        raise ValueError(f"n_queries must be at least 1. Got {n_queries!r} instead.")
    real, synthetic = joined(real), joined(synthetic)
    if not (len(real) and len(synthetic)):
        raise ValueError("Both tables must have rows. Got an empty one instead.")
    synthetic = align(synthetic, real)
    columns = [
        _Column(read_alike(real.iloc[:, j], synthetic.iloc[:, j]))
        for j in range(real.shape[1])
    ]
    rng = np.random.default_rng(random_state)
    errors = []
    for _ in range(n_queries):
        chosen = rng.permutation(len(columns))[:WAY]
        asked = [columns[j].ask(rng) for j in chosen]
        shares = [
            np.logical_and.reduce([masks[side] for masks in asked]).mean()
            for side in (0, 1)
        ]
        errors.append(abs(shares[0] - shares[1]))
    return float(np.mean(errors))


class _Column:
    """A column of both tables, of which questions are asked."""

    def __init__(self, pair: ColumnPair) -> None:
        self.is_level = pair.kind == "level"
        self.known: NDArray[Any] = np.empty(0)
        self.sides: tuple[NDArray[Any], NDArray[Any]]
        if self.is_level:
            # by name, so that the questions do not depend on the order of rows
            names = sorted({key for key in pair.real if key is not None})
            has_missing = any(key is None for key in pair.real)
            self.known = np.arange(len(names) + has_missing)
            self.sides = _places(pair.real, names), _places(pair.synthetic, names)
        else:
            self.sides = pair.real, pair.synthetic
            self.known = np.sort(pair.real[~np.isnan(pair.real)])

    def ask(self, rng: Generator) -> tuple[Mask, Mask]:
        """Say which rows of either table have what is asked for."""
        if self.is_level:
            wanted = np.zeros(
                len(self.known) + 2, dtype=bool
            )  # and what no real row has
            n_wanted = max(1, len(self.known) // 2)
            wanted[rng.permutation(len(self.known))[:n_wanted]] = True
            return wanted[self.sides[0]], wanted[self.sides[1]]
        ends = np.sort(rng.random(2))
        if not len(self.known):  # nothing but missing: the question is for these
            return np.isnan(self.sides[0]), np.isnan(self.sides[1])
        places = np.minimum(ends * len(self.known), len(self.known) - 1).astype(int)
        low, high = self.known[places]
        first, second = ((side >= low) & (side <= high) for side in self.sides)
        return first, second


def _places(cells: NDArray[Any], names: list[str]) -> NDArray[np.intp]:
    """Return places in ``names``, then missing, then what is not among them."""
    lookup = {name: place for place, name in enumerate(names)}
    codes, distinct = pd.factorize(cells, use_na_sentinel=True)
    found = [lookup.get(name, len(names) + 1) for name in distinct]
    return np.array([*found, len(names)], dtype=np.intp)[codes]
