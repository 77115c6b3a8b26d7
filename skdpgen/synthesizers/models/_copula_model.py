"""A Gaussian copula: columns given the class, and correlations of normal scores."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri
from scipy.stats import norm, rankdata

from skdpgen.synthesizers.opening import Facts, decode_rows
from skdpgen.tables import Cells, code_or_none
from skdpgen.training import ClassConditional
from skdpgen.utils import are_amounts, asked, refuse_unless, saved

Floats = NDArray[np.float64]
Integers = NDArray[np.integer[Any]]
LEAST = 1e-9  # share of a cell or of a class
FARTHEST = 4.0  # that a score may be
MANY = 100  # rows of a class, whose ranks tell where they stand


@saved
@dataclass(frozen=True, eq=False)
class CopulaModel:
    """Columns as in ``known``, whose ranks are correlated, class by class.

    Parameters
    ----------
    known : ClassConditional
        Class totals, and each column given the class.
    orders : mapping of name to ndarray
        The cells of each column in the order in which they are ranked.
    correlations : ndarray of shape (n_groups, d, d)
        Of the normal scores of ranks; a group is a class, or all rows.
    """

    known: ClassConditional
    orders: Mapping[Any, Integers]
    correlations: Floats

    @property
    def shares(self) -> Floats:
        """Share of each class."""
        return self.known.shares

    @property
    def totals(self) -> Floats:
        """Rows of each class."""
        return self.known.totals

    @property
    def total_std(self) -> float:
        """Noise of their sum."""
        return self.known.total_std

    @property
    def has_relations(self) -> bool:
        """Whether any two columns are correlated within a class."""
        d = self.correlations.shape[1]
        return bool(np.abs(self.correlations - np.eye(d)).max(initial=0.0) > LEAST)

    def finished(self, seed: int) -> "CopulaModel":
        """Return itself: there is nothing to train."""
        del seed
        return self

    def draw_rows(
        self,
        labels: Integers,
        cells: Mapping[Any, Cells],
        facts: Facts,
        *,
        deform: Any = None,
        container: str | None,
        rng: Generator,
    ) -> Any:
        """Draw a table with the given labels."""
        del deform  # images are
        codes, marginals = self.draw(labels, rng=rng), self.known.marginals
        return decode_rows(facts, cells, codes, marginals, rng=rng, container=container)

    def draw(self, labels: Integers, *, rng: Generator) -> dict[Any, Integers]:
        """Draw the cells of rows with the given labels."""
        names = list(self.orders)
        found = np.empty((len(labels), len(names)), dtype=np.int64)
        roots = np.linalg.cholesky(self.correlations)
        for label in np.unique(labels):
            mine = np.flatnonzero(labels == label)
            noise = rng.normal(size=(len(mine), len(names)))
            values = noise @ roots[label if len(roots) > 1 else 0].T
            for j, name in enumerate(names):
                places = _places(values[:, j], rng)
                order = self.orders[name]
                shares = np.asarray(self.known.conditionals[name])[label, order]
                found[mine, j] = order[_cell_at(shares, places)]
        return {name: found[:, j] for j, name in enumerate(names)}


@asked("scores")
@saved
@dataclass(frozen=True, eq=False)
class NormalScores:
    r"""What a row becomes: the normal score of the rank of each of its cells.

    A cell that spans the ranks from a to b of its class has the score
    :math:`E[Z \mid a < \Phi(Z) < b]`. A row of scores is divided by :math:`\sqrt d`,
    so that its norm is near 1.
    """

    orders: Mapping[Any, Integers]
    tables: tuple[Floats, ...]  # (n_classes, n_cells), column by column

    def check_asked(self) -> None:
        """Check what someone else may have made otherwise."""
        refuse_unless(
            len(self.tables) > 0
            and all(are_amounts(table, FARTHEST, 2) for table in self.tables)
            and all(table.size for table in self.tables)
            and len({len(table) for table in self.tables}) == 1,
            "a score for each class and cell",
        )

    @classmethod
    def of(cls, known: ClassConditional, cells: Mapping[Any, Cells]) -> "NormalScores":
        """Make them of released columns alone."""
        orders, tables = {}, []
        for name, column in cells.items():
            shares = np.maximum(np.asarray(known.conditionals[name]), 0.0)
            orders[name] = order_of(column, shares * known.totals[:, None])
            tables.append(np.stack([scores_of(row, orders[name]) for row in shares]))
        return cls(orders, tuple(tables))

    def spreads(self, known: ClassConditional) -> Floats:
        """Return the standard deviation of the scores of each column.

        It is below 1: a cell has one score for all the ranks in it.
        """
        tables = map(np.asarray, known.conditionals.values())
        each = zip(tables, self.tables, strict=True)
        squares = [known.shares @ (p * scores**2).sum(axis=1) for p, scores in each]
        return np.asarray(np.sqrt(squares))

    def encode(self, codes: Integers, labels: Integers) -> Floats:
        """Return a vector for each row; a label that is no class may have any."""
        known = code_or_none(labels, len(self.tables[0]))
        columns = []
        for j, table in enumerate(self.tables):
            cells = code_or_none(codes[:, j], table.shape[1])
            columns.append(np.where(cells >= 0, table[known, cells], 0.0))
        return np.stack(columns, axis=1) / np.sqrt(len(self.tables))


def order_of(column: Any, counts: Floats) -> Integers:
    """Return cells in order: numbers as they are, others by the classes they go with.

    Parameters
    ----------
    column : Cells
    counts : ndarray of shape (n_classes, n_cells)
        Released. Categories are ordered along the first axis of their classes'
        shares (correspondence analysis); without classes, by how frequent they are.
    """
    n_ordered = column.n_known if column.is_ordered else 0
    rest = np.arange(n_ordered, column.n_cells)
    place = -counts[:, rest].sum(axis=0)
    if len(counts) > 1 and len(rest) > 1:
        mass = counts[:, rest].sum(axis=0) + LEAST
        profiles = counts[:, rest] / mass
        mean = profiles @ (mass / mass.sum())
        centred = (profiles - mean[:, None]) * np.sqrt(mass)
        place = np.linalg.svd(centred, full_matrices=False)[0][:, 0] @ profiles
    order = np.argsort(place, kind="stable")
    return np.concatenate([np.arange(n_ordered), rest[order]]).astype(np.int32)


def scores_of(shares: Floats, order: Integers) -> Floats:
    """Return the normal score of each cell.

    Examples
    --------
    >>> scores_of(np.array([0.5, 0.5]), np.array([0, 1])).round(3)
    array([-0.798,  0.798])
    """
    parts = shares[order] / max(float(shares.sum()), LEAST)
    ends = np.concatenate([[0.0], np.minimum(np.cumsum(parts), 1.0)])
    drops = -np.diff(norm.pdf(ndtri(ends))) / np.maximum(parts, LEAST)
    found = np.empty(len(order))
    found[order] = np.clip(drops, -FARTHEST, FARTHEST)
    return found


def _places(values: Floats, rng: Generator) -> Floats:
    """Return normal values as places in [0, 1): even ones, if there are many."""
    if len(values) < MANY:
        return np.asarray(ndtr(values))
    return np.asarray((rankdata(values, "ordinal") - rng.random()) / len(values))


def _cell_at(shares: Floats, places: Floats) -> Integers:
    """Return the cell that each place in [0, 1) falls into."""
    ends = np.cumsum(np.maximum(shares, 0.0))
    last = int(np.flatnonzero(shares > 0).max(initial=0))
    found = np.searchsorted(ends / max(ends[-1], LEAST), places, side="right")
    return np.asarray(np.minimum(found, last))
