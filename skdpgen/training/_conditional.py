"""The class-conditional model: every column by itself, given the class."""

import math
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from skdpgen.privacy import Release
from skdpgen.training._public_columns import Seen, with_public
from skdpgen.training._public_labels import public_labels, trusted_totals
from skdpgen.training._smoothing import (
    class_sums,
    class_totals,
    conditional_histogram,
    without_empty_cells,
)
from skdpgen.utils import Key, on_one_thread, saved

Floats = NDArray[np.float64]
ALL, SURE = 0.98, 4.0  # of the rows have a class, or noise stds less
SHORTEST = 3  # lattices shorter than this keep their ends


class ColumnCells(Protocol):
    """What must be known about a column's cells."""

    n_cells: int
    n_known: int
    nullable: bool
    is_ordered: bool
    is_lattice: bool
    other: int | None
    gaps: tuple[int, ...]


@saved
@dataclass(frozen=True)
class ClassConditional:
    """Denoised counts: of each class, and of each column's cells in it."""

    totals: Floats  # (n_classes,)
    total_std: float  # noise of their sum
    marginals: Mapping[Any, Floats]  # name -> (n_cells,)
    conditionals: Mapping[Any, Floats]  # name -> (n_classes, n_cells)

    @property
    def shares(self) -> Floats:
        """Share of each class."""
        return np.asarray(self.totals / self.totals.sum())


@on_one_thread
def class_conditional_model(
    released: Release,
    cells: Mapping[Any, ColumnCells],
    n_rows: float | None,
    discovered: Container[Any],
    scales: Sequence[float] | None = None,
    earlier: Mapping[Any, tuple[Floats, Floats]] | None = None,
    n_counted: float = 0.0,
    are_bins: bool = False,
    public: Mapping[Any, Floats] | None = None,
) -> ClassConditional:
    """Denoise released histograms, column by column.

    Parameters
    ----------
    released : Release
        With a block ``Key.COLUMNS`` of joint histograms.
    cells : mapping of name to cells
        The columns, in the order of the release.
    n_rows : float or None
        Number of rows, if it is public and every row counts.
    discovered : container of names
        Columns whose range is not public knowledge: its empty ends are left out.
        What no row may have at all, as "missing", is left out of any that seems to
        have none.
    scales : sequence of float or None
        What one row counts in each column; None means 1.
    earlier : mapping of name to (ndarray, ndarray) or None
        Counts of cells that were released before, all classes together, and their
        variances; they join the new ones, if nearly all rows have a class.
    n_counted : float, default=0
        Rows that were counted before.
    are_bins : bool, default=False
        Whether classes are bins of a number, in order.
    public : mapping of name to ndarray or None
        Counts of public rows, (n_classes, n_cells) or (1, n_cells): what to expect.
    """
    sizes = np.array([column.n_cells for column in cells.values()])
    blocks, stds = column_counts(released, sizes, scales)
    totals = class_totals(blocks, n_rows, stds)
    std_of_class = inverse_root_sum(stds**2 * sizes)
    total_std = math.sqrt(len(totals)) * std_of_class
    if public and std_of_class:
        theirs = public_labels(list(public.values()))
        noisy = class_sums(blocks, stds)
        totals = trusted_totals(totals, noisy, std_of_class, theirs, are_bins=are_bins)
    has_all = totals.sum() + SURE * total_std > ALL * n_counted
    known = earlier if earlier and has_all else {}
    marginals, conditionals = {}, {}
    seen: dict[Any, Seen] = {}
    for (name, column), counts, std in zip(cells.items(), blocks, stds, strict=True):
        pooled_std = std * math.sqrt(len(counts))
        if name in known:
            counts = joined(counts, std, *known[name])
            pooled_std = _joined_std(pooled_std, known[name][1])
        n_ordered = column.n_known if column.is_ordered else 0
        may_cut = column.is_lattice and n_ordered >= SHORTEST and name in discovered
        counts = without_empty_cells(
            counts,
            pooled_std / math.sqrt(len(counts)),
            n_ordered=n_ordered if may_cut else 0,
            rare=_may_be_empty(column),
            gaps=column.gaps,
            other_sign=_of_other_sign(column),
        )
        marginals[name], conditionals[name] = conditional_histogram(
            counts,
            std,
            totals,
            n_ordered=n_ordered,
            are_bins=are_bins,
            pooled_std=pooled_std,
        )
        if public and std:
            seen[name] = Seen(counts, std, n_ordered, public[name])
    found = ClassConditional(totals, total_std, marginals, conditionals)
    return with_public(found, seen) if seen else found


def joined(
    counts: Floats, noise_std: float, earlier: Floats, variances: Floats
) -> Floats:
    """Return counts that agree with what was counted before, as far as noise allows.

    The two estimates of a cell's total are averaged by precision, and the difference
    is shared by the classes alike, since their noise is: the least squares solution.

    Examples
    --------
    >>> joined(np.array([[4.0], [6.0]]), 1.0, np.array([16.0]), np.array([2.0])).T
    array([[5.5, 7.5]])
    """
    own = len(counts) * noise_std**2
    weight = own / (own + variances) if own else np.zeros(len(variances))
    return np.asarray(counts + weight * (earlier - counts.sum(axis=0)) / len(counts))


def _joined_std(noise_std: float, variances: Floats) -> float:
    """Return the usual noise of a cell of all classes that was counted twice.

    Examples
    --------
    >>> round(_joined_std(3.0, np.array([9.0, 9.0])) ** 2, 6)
    4.5
    >>> _joined_std(3.0, np.array([np.inf])), _joined_std(0.0, np.array([0.0]))
    (3.0, 0.0)
    """
    own = noise_std**2
    if not own or not variances.all():
        return 0.0
    return float(np.sqrt(np.mean(own / (1.0 + own / variances))))


def _may_be_empty(column: ColumnCells) -> list[int]:
    """Return the cells that stand for what may not be there at all."""
    cells = [] if column.other is None else [column.other]
    return [*cells, column.n_cells - 1] if column.nullable else cells


def column_counts(
    released: Release, sizes: Any, scales: Sequence[float] | None = None
) -> tuple[list[Floats], Floats]:
    """Return the noisy counts of each column, (n_classes, n_cells), and their noise."""
    units = np.ones(len(sizes)) if scales is None else np.asarray(scales, dtype=float)
    blocks = np.split(released.values[Key.COLUMNS], np.cumsum(sizes)[:-1], axis=1)
    blocks = [block / unit for block, unit in zip(blocks, units, strict=True)]
    return blocks, released.noise_std[Key.COLUMNS] / units


def inverse_root_sum(variances: Floats) -> float:
    """Return the std of the best mean of estimates with the given variances."""
    if not variances.all():
        return 0.0
    return float(1.0 / math.sqrt((1.0 / variances).sum()))


def _of_other_sign(column: Any) -> list[int]:
    """Return the gaps of negative numbers, where every other cell is not negative."""
    numbers = getattr(column, "numbers", column)
    if not column.gaps or numbers.is_time:
        return []
    below = {k for k, end in enumerate(numbers.edges[1:]) if end <= 0}
    return sorted(below) if below <= set(column.gaps) else []
