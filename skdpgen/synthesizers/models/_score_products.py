"""Normal scores of ranks, and the release of their products."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from skdpgen.privacy import Ledger, OuterProducts, Release, sensitivity
from skdpgen.synthesizers.opening import Fitting
from skdpgen.tables import Cells, EncodedBatch, code_or_none
from skdpgen.training import FARTHEST_SCORE, ClassConditional, scores_of
from skdpgen.utils import (
    Key,
    are_amounts,
    asked,
    has_role,
    is_amount,
    refuse_unless,
    saved,
)

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Integers = NDArray[np.integer[Any]]
LEAST_SHARE = 1e-9  # of a cell, where something is divided by it


@asked("scores")
@saved("normal_scores")
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
        """Check what a constructor in another process may have set otherwise."""
        refuse_unless(
            len(self.tables) > 0
            and all(are_amounts(table, FARTHEST_SCORE, 2) for table in self.tables)
            and all(table.size for table in self.tables)
            and len({len(table) for table in self.tables}) == 1,
            "a score for each class and cell",
        )

    @classmethod
    def of(cls, known: ClassConditional, cells: Mapping[Any, Cells]) -> "NormalScores":
        """Compute them from released columns only."""
        orders, tables = {}, []
        for name, column in cells.items():
            shares = np.maximum(np.asarray(known.conditionals[name]), 0.0)
            orders[name] = order_of(column, shares * known.totals[:, None])
            tables.append(np.stack([scores_of(row, orders[name]) for row in shares]))
        return cls(orders, tuple(tables))

    @classmethod
    def of_numbers(
        cls,
        known: ClassConditional,
        cells: Mapping[Any, Cells],
        *,
        by_class: bool = True,
    ) -> "NormalScores":
        """Compute those of numbers among numbers; any other cell has a score of 0.

        Ranks are those in all rows unless ``by_class``. Columns of single classes have
        more noise: two equal columns then have scores that are not quite equal.
        """
        orders, tables = {}, []
        for name, column in cells.items():
            shares = np.maximum(np.asarray(known.conditionals[name]), 0.0)
            if not by_class:
                shares = np.tile(known.shares @ shares, (len(shares), 1))
            orders[name] = np.arange(column.n_known, dtype=np.int32)
            table = np.zeros_like(shares)
            for row, scores in zip(shares[:, : column.n_known], table, strict=True):
                scores[: column.n_known] = scores_of(row, orders[name])
            tables.append(table)
        return cls(orders, tuple(tables))

    def spreads(self, known: ClassConditional) -> Floats:
        """Return the standard deviation of the scores of each column.

        It is below 1: a cell has one score for all the ranks in it. Cells that are not
        ordered do not count.
        """
        squares = []
        for (name, order), scores in zip(self.orders.items(), self.tables, strict=True):
            shares = np.maximum(np.asarray(known.conditionals[name]), 0.0)
            shares = known.shares[:, None] * shares
            mass = max(float(shares[:, order].sum()), LEAST_SHARE)
            squares.append(float((shares * scores**2).sum()) / mass)
        return np.sqrt(squares)

    def encode(self, codes: Codes, labels: Codes) -> Floats:
        """Return a vector for each row; a label that is no class may have any."""
        label_codes = code_or_none(labels, len(self.tables[0]))
        columns = []
        for j, table in enumerate(self.tables):
            cells = code_or_none(codes[:, j], table.shape[1])
            columns.append(np.where(cells >= 0, table[label_codes, cells], 0.0))
        return np.stack(columns, axis=1) / np.sqrt(len(self.tables))


def order_of(column: Cells, counts: Floats) -> Integers:
    """Return cells in order: numbers as they are, others by their classes.

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
        mass = counts[:, rest].sum(axis=0) + LEAST_SHARE
        profiles = counts[:, rest] / mass
        mean = profiles @ (mass / mass.sum())
        centred = (profiles - mean[:, None]) * np.sqrt(mass)
        place = np.linalg.svd(centred, full_matrices=False)[0][:, 0] @ profiles
    order = np.argsort(place, kind="stable")
    return np.concatenate([np.arange(n_ordered), rest[order]]).astype(np.int32)


# ----------------------------------------------------------------------------
# The release of products of scores, and its part of the budget.
#
# The eigenvalues are those of :func:`noise_eigenvalue`: 1 is the largest possible.

POOLED_EIGENVALUE = 0.01  # the part is (eigenvalue / this)^2, clipped to limits
CLASS_EIGENVALUE = 0.05  # up to which products are released by class
CALM_EIGENVALUE = 0.005  # up to it rows get more room than the mean squared norm
MOST_ROOM = 3.0  # largest squared norm of a row, relative to the mean
SMALLEST_ROOM = 1e-6  # in a query of another party; the largest is its inverse


@saved("release.products")
@dataclass(frozen=True, eq=False)
class ScoreProducts:
    """Noisy sums of products of normal scores, of each class or of all rows.

    Parameters
    ----------
    names : tuple
        Of the columns that have scores.
    scores : NormalScores
    room : float
        Largest squared norm of a row, relative to the mean.
    by_class : bool
    released : Release
    """

    names: tuple[Any, ...]
    scores: NormalScores
    room: float
    by_class: bool
    released: Release

    @property
    def values(self) -> Floats:
        """The noisy sums, (n_groups, d, d)."""
        d = len(self.names)
        return self.released.values[Key.FEATURES].reshape(-1, d, d)

    @property
    def noise_std(self) -> float:
        """Noise of an entry."""
        return float(self.released.noise_std[Key.FEATURES])

    def of_rows(self, codes: Codes, labels: Codes) -> Floats:
        """Return the mean product of other rows, as the release would count them."""
        v = self.scores.encode(codes, labels) / math.sqrt(self.room)
        v /= np.maximum(np.linalg.norm(v, axis=1, keepdims=True), 1.0)
        return np.asarray(v.T @ v / max(len(v), 1))


def release_products(
    opening: Fitting[Any],
    cells: Mapping[Any, Cells],
    labels: Cells | None,
    scores: NormalScores,
    *,
    n_classes: int,
    share: float = 1.0,
) -> ScoreProducts:
    r"""Release sums of :math:`v v^\top`, with v the normal scores of a row.

    They are released by class where that leaves little noise, else of all rows.

    *Why it is private.* Scores are a function of released columns. Rows v are clipped
    to norm 1, and :math:`\langle v v^\top, w w^\top \rangle = (v^\top w)^2 \ge 0`. So a
    row moves the sum by :math:`\sqrt 2` if replaced, by 1 if added or removed
    (:class:`~skdpgen.privacy.OuterProducts` of the kind "square"). If its class
    changes, the two products stand in different sums: again at most :math:`\sqrt 2`.
    Whether classes are separate, and the room, depend on public and released numbers.

    Parameters
    ----------
    cells : mapping of name to Cells
        The columns that have scores.
    n_classes : int
    share : float
        Of the remaining budget.
    """
    d = len(cells)
    product = OuterProducts(((d, d),), 1.0, ("square",))
    eigenvalue, by_class = expected_noise(opening, d, n_classes, share)
    room = room_for(eigenvalue if by_class else eigenvalue / n_classes)
    released = opening.release(
        opening.rows.batches(cells, labels).through(
            ScoresOfRows(scores, room, by_class)
        ),
        {Key.FEATURES: product},
        name=f"products of normal scores of {d} columns" + ", by class" * by_class,
        share=share,
        n_classes=n_classes if by_class else 1,
    )
    return ScoreProducts(tuple(cells), scores, room, by_class, released)


def expected_noise(
    opening: Fitting[Any], n_columns: int, n_classes: int, share: float
) -> tuple[float, bool]:
    """Return the noise of products of a class, and whether it allows them by class.

    Follows from public quantities and the number of columns.
    """
    ledger = opening.ledger
    product = OuterProducts(((n_columns, n_columns),), 1.0, ("square",))
    std = ledger.noise_std(
        share=share * ledger.remaining,
        sensitivity=sensitivity(product.structure, ledger.budget.adjacency),
    )
    eigenvalue = noise_eigenvalue(std, opening.facts.n_rows / n_classes, n_columns)
    return eigenvalue, n_classes > 1 and eigenvalue < CLASS_EIGENVALUE


@asked("step")
@saved("step.normal_scores")
@dataclass(frozen=True, eq=False)
class ScoresOfRows:
    """From cells of rows to vectors of normal scores, whose products are summed."""

    scores: NormalScores
    room: float
    by_class: bool

    def check_asked(self) -> None:
        """Check the fields, which another party may have set to anything."""
        refuse_unless(
            has_role(self.scores, "scores")
            and is_amount(self.room, SMALLEST_ROOM, 1 / SMALLEST_ROOM)
            and type(self.by_class) is bool,
            "scores of rows",
        )

    def __call__(self, batches: Iterable[EncodedBatch]) -> Iterator[EncodedBatch]:
        """Yield scores of rows, with their classes or one class for all."""
        for batch in batches:
            rows = self.scores.encode(batch.parts[Key.COLUMNS], batch.labels)
            v = torch.from_numpy(rows / math.sqrt(self.room))
            one_group = np.where(batch.labels >= 0, 0, -1)
            group = batch.labels if self.by_class else one_group
            yield EncodedBatch(group, {Key.FEATURES: [(v, v)]})


def noise_eigenvalue(std: float, n_rows: float, n_columns: int) -> float:
    r"""Return the largest eigenvalue of the noise in correlations, relative to d.

    Products of rows of norm 1 have a diagonal of n / d. So the noise of a correlation
    is :math:`s d / (n \sqrt 2)`, and the largest eigenvalue of a symmetric matrix of
    such noise is :math:`2 \sqrt d` times that. No correlation matrix has an eigenvalue
    larger than d.
    """
    return 2.0 * std / math.sqrt(2.0) * math.sqrt(n_columns) / max(n_rows, 1.0)


def room_for(eigenvalue: float) -> float:
    """Return the largest squared norm of a row, relative to the mean, without clipping.

    Clipping weakens correlations; more room makes the noise larger.
    """
    return (
        float(np.clip(CALM_EIGENVALUE / eigenvalue, 1.0, MOST_ROOM))
        if eigenvalue
        else MOST_ROOM
    )


def products_share(
    ledger: Ledger, n_rows: float, n_columns: int, limits: tuple[float, float]
) -> float:
    """Return the budget fraction of the products; 0 if there is one column only."""
    if n_columns < 2:
        return 0.0
    product = OuterProducts(((n_columns, n_columns),), 1.0, ("square",))
    bound = sensitivity(product.structure, ledger.budget.adjacency)
    std = ledger.noise_std(share=ledger.remaining, sensitivity=bound)
    eigenvalue = noise_eigenvalue(std, n_rows, n_columns)
    return float(np.clip((eigenvalue / POOLED_EIGENVALUE) ** 2, *limits))
