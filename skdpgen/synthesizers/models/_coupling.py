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
FEWEST_ROWS, FEWEST_OF_CLASS = 2000, 50  # that are moved among each other
RANK_MARGIN = 1e-9  # distance from 0 and 1
LEAST_SHARE = 1e-9  # of a cell


@saved("coupling")
@dataclass(frozen=True, eq=False)
class Coupling:
    """Linear maps of the normal scores of rows, for each class, one after the other.

    A column keeps its cells, and thereby its histogram in each class: they are handed
    out among the rows of the class in the order of the moved scores. Cells that are no
    numbers, as that of missing values, stay where they are.

    Parameters
    ----------
    sizes : mapping of name to int
        How many cells of each column that takes part are numbers: its first ones.
    maps : ndarray of shape (n_rounds, n_classes, d, d)
    """

    sizes: Mapping[Any, int]
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
        columns = {name: codes[name].copy() for name in self.sizes}
        rounds = self.maps.reshape(
            -1, *self.maps.shape[-3:]
        )  # files may have one alone
        for maps in rounds:
            scores = scores_in_cells(columns, self.sizes, label, known, rng=rng)
            scores = scores @ maps[label].T
            for (name, size), places in zip(self.sizes.items(), scores.T, strict=True):
                column = columns[name]
                rows = np.flatnonzero(column < size)
                order = np.argsort(places[rows], kind="stable")
                column[rows[order]] = np.sort(column[rows])
        return columns


def fewest_rows(n_classes: int) -> int:
    """Return how many rows of a class are drawn at least, if so many classes are.

    Examples
    --------
    >>> fewest_rows(2), fewest_rows(300)
    (1000, 50)
    """
    return max(FEWEST_ROWS // max(n_classes, 1), FEWEST_OF_CLASS)


def scores_in_cells(
    codes: Mapping[Hashable, Codes],
    sizes: Mapping[Any, int],
    label: int,
    known: ClassConditional,
    *,
    rng: Generator,
) -> Floats:
    """Return normal scores of rows of a class, drawn within the ranks of their cells.

    Parameters
    ----------
    codes : mapping of name to ndarray of shape (n,)
    sizes : mapping of name to int
        How many cells of a column are numbers. Any other cell has a score of 0.
    label : int
    known : ClassConditional
        Shares of cells by class.

    Returns
    -------
    scores : ndarray of shape (n, d)
    """
    columns = []
    for name, size in sizes.items():
        shares = np.maximum(np.asarray(known.conditionals[name])[label], 0.0)
        shares = np.append(shares[:size] + LEAST_SHARE, 0.0)
        ends = np.cumsum(shares) / shares.sum()
        numbers = np.minimum(codes[name], size)
        widths = (shares / shares.sum())[numbers]
        ranks = ends[numbers] - widths * rng.random(len(numbers))
        scores = ndtri(np.clip(ranks, RANK_MARGIN, 1.0 - RANK_MARGIN))
        columns.append(np.where(numbers < size, scores, 0.0))
    return np.stack(columns, axis=1)
