"""Drawn rows, moved until their numbers have the correlations of the private rows."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import ndtri

from skdpgen.training import ClassConditional
from skdpgen.utils import saved

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
FEWEST_ROWS = 1000  # of a class that are moved among each other
INSIDE = 1e-9  # distance of a rank from 0 and 1
LEAST = 1e-9  # share of a cell


@saved("coupling")
@dataclass(frozen=True, eq=False)
class Coupling:
    """A linear map of the normal scores of rows, for each class.

    A column keeps its cells, and thereby its histogram in each class: they are handed
    out among the rows of the class in the order of the moved scores. Cells without an
    order, as that of missing values, stay where they are.

    Parameters
    ----------
    orders : mapping of name to ndarray
        The cells of each column that takes part, in the order of their ranks.
    sizes : tuple of int
        How many cells of each column are numbers; they are its first cells.
    maps : ndarray of shape (n_classes, d, d)
    """

    orders: Mapping[Any, NDArray[np.integer[Any]]]
    sizes: tuple[int, ...]
    maps: Floats

    def moved(
        self,
        codes: Mapping[Hashable, Codes],
        label: int,
        known: ClassConditional,
        *,
        rng: Generator,
    ) -> dict[Hashable, Codes]:
        """Return new cells of the columns that take part, for rows of one class."""
        places = scores_in_cells(codes, self.orders, label, known, rng=rng)
        places = places @ self.maps[label].T
        columns = {}
        for j, (name, size) in enumerate(zip(self.orders, self.sizes, strict=True)):
            column = codes[name].copy()
            rows = np.flatnonzero(column < size)
            order = np.argsort(places[rows, j], kind="stable")
            column[rows[order]] = np.sort(column[rows])
            columns[name] = column
        return columns


def scores_in_cells(
    codes: Mapping[Hashable, Codes],
    orders: Mapping[Any, NDArray[np.integer[Any]]],
    label: int,
    known: ClassConditional,
    *,
    rng: Generator,
) -> Floats:
    """Return normal scores of rows of a class, drawn within the ranks of their cells.

    Parameters
    ----------
    codes : mapping of name to ndarray of shape (n,)
    orders : mapping of name to ndarray
        The cells of each column in the order of their ranks.
    label : int
    known : ClassConditional
        Shares of cells by class.

    Returns
    -------
    scores : ndarray of shape (n, d)
    """
    columns = []
    for name, order in orders.items():
        shares = np.maximum(np.asarray(known.conditionals[name])[label], 0.0) + LEAST
        ends = np.empty(len(shares))
        ends[order] = np.cumsum(shares[order]) / shares.sum()
        widths = shares / shares.sum()
        column = codes[name]
        ranks = ends[column] - widths[column] * rng.random(len(column))
        columns.append(ndtri(np.clip(ranks, INSIDE, 1.0 - INSIDE)))
    return np.stack(columns, axis=1)
