"""Number of pairs and of groups, from public quantities and earlier releases only."""

import math
from collections.abc import Mapping
from typing import Any, Protocol, TypeVar

import numpy as np

from skdpgen.privacy import Ledger, OneHot, sensitivity

K = TypeVar("K")

FEWEST_GROUPS, MOST_GROUPS = 4, 12  # of a column in pairs
LEAST_ROWS_STDS = 64  # least number of rows, in noise stds of a single column
GOOD_ROWS_STDS = 180  # the same, from which on pairs may take more than the least part
PAIR_BUDGETS = (0.2, 0.5)  # of the budget: what pairs get at least and at most
NOISE_OF_CELL = 3.0  # least rows of a cell of an even pair, in noise stds
MAX_PAIRS = 20_000
MAX_WIDTH = 4_000  # groups of all columns together
PUBLIC_WIDTH = 500  # the same if public rows are counted for all pairs
TRIAL_WIDTH = 1_000  # the same if all pairs come from public rows, without noise
TRUST_PAIRS = 30  # pairs that test whether public rows are right
NOISE_OF_FINE = 0.1  # most noise of a fine table, in energies of its relation
NOISE_KEPT = 0.3  # part of the noise variance that remains after smoothing


def nearest_pairs(n_columns: int, n_pairs: int) -> tuple[tuple[int, int], ...]:
    """Return pairs of columns; those that are next to each other come first.

    Where not all can be afforded, a column is paired with its neighbours in the table:
    the order of columns is public, and series and blocks of questions stay together.

    Examples
    --------
    >>> nearest_pairs(4, 4)
    ((0, 1), (1, 2), (2, 3), (0, 2))
    """
    pairs: list[tuple[int, int]] = []
    for distance in range(1, n_columns):
        for first in range(n_columns - distance):
            if len(pairs) == n_pairs:
                return tuple(pairs)
            pairs.append((first, first + distance))
    return tuple(pairs)


def usual_pair_budget(ledger: Ledger, n_rows: float, n_columns: int) -> float:
    """Return the part of what is left of the budget that pairs get, if none is given.

    ``n_rows`` is public or released. Columns get what makes their noise small, and
    pairs the rest: a fifth where rows are few, half where they are many. With few rows,
    noise in columns costs more than relations of pairs gain.
    """
    least, most = PAIR_BUDGETS
    adjacency = ledger.budget.adjacency
    noise = ledger.noise_std(
        share=ledger.remaining, sensitivity=sensitivity(OneHot(n_columns), adjacency)
    )
    if not noise:
        return most
    for_columns = (GOOD_ROWS_STDS * noise / max(n_rows, 1.0)) ** 2
    return min(max(1.0 - for_columns, least), most)


def affordable_pairs(
    ledger: Ledger, n_rows: float, n_columns: int, pair_budget: float
) -> int:
    """Return how many pairs can be measured; 0 if single columns need the budget.

    ``n_rows`` is public or released, ``pair_budget`` is the part of what is left of the
    budget that pairs would get. The rest must measure single columns well: classifiers
    depend on them. At 4 x 4 groups pairs must exceed their noise, which grows
    with the root of their number, and there should be about one per column at least.
    """
    if not 0 < 1 - pair_budget < 1:  # rounding leaves nothing to split
        return 0
    column_noise, pair_noise = _noises(ledger, n_columns, pair_budget)
    if n_rows < LEAST_ROWS_STDS * column_noise:
        return 0
    limit = (
        n_rows / (NOISE_OF_CELL * FEWEST_GROUPS**2 * pair_noise)
        if pair_noise
        else math.inf
    )
    n_pairs = n_columns * (n_columns - 1) // 2
    n_pairs = int(min(n_pairs, MAX_PAIRS, limit**2))
    return n_pairs if n_pairs >= max(n_columns - 1, 1) else 0


def rows_for_pairs(ledger: Ledger, n_columns: int, pair_budget: float) -> float:
    """Return about how many rows :func:`affordable_pairs` needs for any pair."""
    column_noise, pair_noise = _noises(ledger, n_columns, pair_budget)
    for_pairs = (
        NOISE_OF_CELL * FEWEST_GROUPS**2 * pair_noise * math.sqrt(max(n_columns - 1, 1))
    )
    return max(LEAST_ROWS_STDS * column_noise, for_pairs)


def _noises(ledger: Ledger, n_columns: int, pair_budget: float) -> tuple[float, float]:
    """Return the noise of a single column of all, and of one pair."""
    remaining, adjacency = ledger.remaining, ledger.budget.adjacency
    column_noise = ledger.noise_std(
        share=(1 - pair_budget) * remaining,
        sensitivity=sensitivity(OneHot(n_columns), adjacency),
    )
    pair_noise = ledger.noise_std(
        share=pair_budget * remaining, sensitivity=sensitivity(OneHot(1), adjacency)
    )
    return column_noise, pair_noise


def pair_groups(
    ledger: Ledger, n_rows: float, n_columns: int, n_pairs: int, share: float
) -> int:
    """Return how many groups a column has in pairs: the most that the noise permits."""
    delta = sensitivity(OneHot(n_pairs), ledger.budget.adjacency)
    noise = ledger.noise_std(share=share, sensitivity=delta)
    groups = math.sqrt(n_rows / (NOISE_OF_CELL * noise)) if noise else MOST_GROUPS
    return int(max(min(groups, MOST_GROUPS, MAX_WIDTH / n_columns), 2))


def widest_groups(n_columns: int, *, is_trial: bool = False) -> int:
    """Return how many groups a column may have where public rows give counts of pairs.

    Examples
    --------
    >>> widest_groups(20), widest_groups(100), widest_groups(100, is_trial=True)
    (12, 5, 10)
    """
    width = TRIAL_WIDTH if is_trial else PUBLIC_WIDTH
    return int(max(min(MOST_GROUPS, width / n_columns), 2))


class ExpectsPairs(Protocol):
    """Protocol of :class:`PairModel`, which imports this module."""

    @property
    def every_pair(self) -> Any:
        """All pairs of columns."""
        ...

    def expected(self, pair: tuple[int, int]) -> Any:
        """Return the relation that public rows show."""
        ...


def public_pairs(model: ExpectsPairs, n_pairs: int) -> tuple[tuple[int, int], ...]:
    """Return the pairs to measure: those with the strongest relation in public rows."""
    strength = {
        pair: float((model.expected(pair) ** 2).sum()) for pair in model.every_pair
    }
    order = sorted(strength, key=lambda pair: -strength[pair])
    return tuple(sorted(order[: n_pairs or TRUST_PAIRS]))


def worth_measuring(
    energies: Mapping[K, float], widths: Mapping[K, float], unit_variance: float
) -> tuple[K, ...]:
    """Return the pairs to measure again, from estimates of the release of all pairs.

    If the R strongest pairs are measured, the noise of each of their cells has R times
    the variance of a single histogram, and smoothing keeps a part of it. The energy of
    the other pairs is lost. R minimises the sum of both errors.

    Examples
    --------
    >>> worth_measuring({"ab": 9.0, "ac": 0.1}, {"ab": 4, "ac": 4}, 0.1)
    ('ab',)
    """
    order = sorted(energies, key=lambda pair: -energies[pair])
    strength = np.array([energies[pair] for pair in order])
    cells = np.cumsum([widths[pair] for pair in order])
    number = np.arange(1, len(order) + 1)
    lost_energy = strength.sum() - np.cumsum(strength)
    noise = NOISE_KEPT * unit_variance * number * cells
    return tuple(order[: int(np.argmin(lost_energy + noise)) + 1])


def worth_refining(
    energies: Mapping[K, float],
    cells: Mapping[K, tuple[int, int]],
    unit_variance: float,
) -> set[K]:
    """Return the pairs to count finely, among those that are measured again.

    Their tables may have more cells than those of all pairs. More cells have
    more noise in total; it pays where the relation is much stronger than that.

    Parameters
    ----------
    energies : mapping of pair to float
        Of the pairs that are measured again.
    cells : mapping of pair to (int, int)
        Number of cells of the coarse table of a pair, and of a fine one.
    unit_variance : float
        Of a cell's noise, if a single pair were measured.

    Examples
    --------
    >>> energies, cells = {"ab": 9.0, "ac": 0.1}, {"ab": (4, 9), "ac": (4, 9)}
    >>> worth_refining(energies, cells, 0.1)
    {'ab'}
    """
    variance = NOISE_KEPT * unit_variance * len(energies)
    return {
        pair
        for pair, energy in energies.items()
        if cells[pair][0] < cells[pair][1]
        and variance * cells[pair][1] <= NOISE_OF_FINE * energy
    }
