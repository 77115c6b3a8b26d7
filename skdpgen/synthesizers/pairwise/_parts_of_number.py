"""Pairs of columns given the parts of a number: fewer than its bins, and less noise."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdpgen.privacy import Ledger, OneHot, sensitivity
from skdpgen.training import ClassConditional, smooth_bins

Floats = NDArray[np.float64]
HALVES = 2  # of the first look
FEWEST = 3  # of the second


def parts_of_number(known: ClassConditional, task: str | None, n_parts: int) -> Any:
    """Return which bins of a number make up each of its parts; None for classes.

    What two columns say of a number only together does not show in all rows together.
    Relations change slowly along the number, so a few parts tell of them, and add up
    to all rows with less noise than many bins do. Parts are cut by released counts.
    """
    if task != "regression" or len(known.totals) <= n_parts:
        return None
    total = known.totals.sum()
    middle = (np.cumsum(known.totals) - 0.5 * known.totals) / total
    part = np.clip(np.floor(n_parts * middle), 0, n_parts - 1)
    return np.unique(part, return_inverse=True)[1]


def affordable_parts(ledger: Ledger, n_rows: float, widths: list[int]) -> int:
    """Return how many parts the pairs of such widths can have: known noise, known n.

    As many as leave the rows of a cell above its noise, and three at least.

    Examples
    --------
    >>> from skdpgen.privacy import PrivacyBudget
    >>> for epsilon in (1.0, 100.0):
    ...     affordable_parts(Ledger(PrivacyBudget(epsilon, 1e-5)), 10_000, [100] * 20)
    4
    167
    """
    delta = sensitivity(OneHot(1), ledger.budget.adjacency)
    unit = ledger.noise_std(share=ledger.remaining, sensitivity=delta)
    noise = unit * math.sqrt(len(widths)) * float(np.mean(widths))
    return max(int(min(n_rows / noise, n_rows)), FEWEST) if noise else int(n_rows)


def own_of_parts(model: Any) -> dict[Any, tuple[Floats, Any]]:
    """Return what each part of a number has beyond its share of a pair, smoothed.

    And which bins are in which part; of two releases of a pair the later one.
    """
    found: dict[Any, tuple[Floats, Any]] = {}
    for one in model.measured:
        if one.of_class is None:
            continue
        joins = np.eye(int(one.of_class.max()) + 1)[one.of_class].T
        shares = joins @ model.shares
        for pair, counts, std in one.tables(model.groups):
            expected = np.einsum("hc,cab->hab", joins, model.independent(pair))
            excess = counts / model.n_rows - expected
            own = excess - shares[:, None, None] * excess.sum(axis=0)
            variance = (std / model.n_rows) ** 2
            own = smooth_bins(own, variance, *model.priors_of(pair), shares)
            found[pair] = own, one.of_class
    return found


def own_energies(model: Any) -> dict[Any, float]:
    """Return the squared norm of what parts of a number have of their own."""
    return {p: float((own**2).sum()) for p, (own, _) in own_of_parts(model).items()}


def own_of_bins(model: Any) -> dict[Any, Floats]:
    """Return what each bin of a number has beyond its share of a pair.

    Where a pair was counted by parts, a bin has its share of its part.
    """
    found: dict[Any, Floats] = {}
    for pair, (own, of_class) in own_of_parts(model).items():
        shares = np.bincount(of_class, model.shares)
        for c, part in enumerate(of_class):
            found[(*pair, c)] = own[part] * model.shares[c] / shares[part]
    for one in model.measured:
        if not one.by_class:
            continue
        for pair, counts, std in one.tables(model.groups):
            excess = counts / model.n_rows - model.independent(pair)
            mine = excess - model.shares[:, None, None] * excess.sum(axis=0)
            variance = (std / model.n_rows) ** 2
            own = smooth_bins(mine, variance, *model.priors_of(pair), model.shares)
            found |= {(*pair, c): rest for c, rest in enumerate(own)}
    return found
