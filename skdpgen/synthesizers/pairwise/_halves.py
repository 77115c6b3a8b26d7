"""Which parities to ask for, and how columns are cut in halves for them."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdpgen.privacy import Ledger, SignProducts, sensitivity
from skdpgen.synthesizers.opening import Opening, n_classes_of
from skdpgen.tables import CellGroups, Cells
from skdpgen.training import ClassConditional

USUAL, MOST = 0.06, 0.1  # parts of what pairs would get
LOWEST, FEWEST, HIGHEST = 2, 3, 7  # columns of a set; at least up to three
WIDEST = 8_000  # sets in all
LEAST, ENOUGH = 7.0, 15.0  # stds of noise that a full parity should be worth
OWN = 8  # with more classes than that, parities are those of all rows


@dataclass(frozen=True, eq=False)
class ParityPlan:
    """What is asked for: sizes of sets, with which classes each class is counted.

    ``share`` is of what is left of the budget.
    """

    of_class: NDArray[np.int64]
    orders: tuple[int, ...]
    share: float


def plan_parities(
    opening: Opening, labels: Cells | None, known: ClassConditional
) -> ParityPlan | None:
    """Return what can be afforded, by public quantities and releases; None if nothing.

    Nothing is paid then.
    """
    facts = opening.facts
    of_class = classes_together(known.totals, facts.task, n_classes_of(labels))
    n_counted = int(of_class.max()) + 1
    orders, share = affordable_orders(
        opening.ledger, facts.n_rows, len(known.marginals), n_counted
    )
    return ParityPlan(of_class, orders, share) if orders else None


def affordable_orders(
    ledger: Ledger, n_rows: float, n_columns: int, n_classes: int
) -> tuple[tuple[int, ...], float]:
    """Return the sizes of sets to ask for, and the share of what is left; public.

    As many sizes as leave a parity that decides the class, or that of all rows, well
    above its noise; none if not even sets of three do, and then nothing is paid. It
    is no more than such a parity needs.
    """
    chosen: tuple[tuple[int, ...], float] = (), 0.0
    rest, adjacency = MOST * ledger.remaining, ledger.budget.adjacency
    for highest in range(FEWEST, min(HIGHEST, n_columns) + 1):
        asked = SignProducts(n_columns, tuple(range(LOWEST, highest + 1)))
        delta = sensitivity(asked, adjacency)
        noise = ledger.noise_std(share=rest, sensitivity=delta)
        stands = n_rows / (noise * math.sqrt(n_classes)) if noise else math.inf
        if stands < LEAST or asked.width > WIDEST:
            break
        least, enough = (MOST * (stds / stands) ** 2 for stds in (LEAST, ENOUGH))
        chosen = asked.orders, max(min(USUAL, enough), least) if noise else USUAL
    return chosen


def classes_together(totals: Any, task: str | None, n_classes: int) -> Any:
    """Return which classes are counted together: of a number, its two halves.

    Examples
    --------
    >>> classes_together([5.0, 1.0], "classification", 2).tolist()
    [0, 1]
    >>> classes_together([5.0, 1.0, 4.0], "regression", 3).tolist()
    [0, 1, 1]
    """
    if task == "regression" and n_classes > 1:
        below = np.cumsum(totals)[:-1]
        cut = 1 + int(np.abs(below - 0.5 * np.sum(totals)).argmin())
        return (np.arange(n_classes) >= cut).astype(np.int64)
    if n_classes > OWN:
        return np.zeros(n_classes, dtype=np.int64)
    return np.arange(n_classes)


def halves(groups: CellGroups, marginal: Any) -> Any:
    """Return a sign for each group, so that both have about half of a RELEASED mass.

    Ordered groups are cut once; others, and "missing", join the lighter side, the
    heaviest first.

    Examples
    --------
    >>> groups = CellGroups(np.arange(4), 4, 3)
    >>> halves(groups, np.array([0.2, 0.2, 0.5, 0.1])).tolist()
    [1.0, 1.0, -1.0, 1.0]
    """
    marginal = np.maximum(np.asarray(marginal, dtype=np.float64), 0.0)
    signs = np.ones(groups.n_groups)
    n = groups.n_ordered if groups.n_ordered > 1 else 0
    if n:
        below = np.cumsum(marginal[:n])[:-1]
        cut = 1 + int(np.abs(below - 0.5 * marginal[:n].sum()).argmin())
        signs[cut:n] = -1.0
    balance = float(signs[:n] @ marginal[:n])
    for k in n + np.argsort(-marginal[n:], kind="stable"):
        signs[k] = -1.0 if balance > 0 else 1.0
        balance += signs[k] * marginal[k]
    return signs


def cut_at_half(groups: CellGroups, marginal: Any) -> CellGroups:
    """Cut the ordered group in two that holds the middle of a RELEASED mass of cells.

    Examples
    --------
    >>> groups = CellGroups(np.array([0, 0, 1, 1, 2, 2]), 3, 3)
    >>> cut_at_half(groups, np.full(6, 1 / 6)).of_cell.tolist()
    [0, 0, 1, 2, 3, 3]
    """
    n = groups.n_ordered
    if n < 2:
        return groups
    cells = np.flatnonzero(groups.of_cell < n)  # ordered cells come first
    mass = np.maximum(np.asarray(marginal, dtype=np.float64)[cells], 0.0)
    cut = 1 + int(np.abs(np.cumsum(mass)[:-1] - 0.5 * mass.sum()).argmin())
    first, second = groups.of_cell[cells[cut - 1]], groups.of_cell[cells[cut]]
    if first != second:
        return groups
    later = np.arange(len(groups.of_cell)) >= cells[cut]
    of_cell = groups.of_cell + later.astype(groups.of_cell.dtype)
    return CellGroups(of_cell, groups.n_groups + 1, n + 1)
