"""Sets of three and more columns that only matter together: one release of parities."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdpgen.privacy import Ledger, Parities, Release, SignProducts, release, sensitivity
from skdpgen.synthesizers.opening import Opening, n_classes_of
from skdpgen.tables import CellGroups, Cells, EncodedBatch
from skdpgen.training import (
    ClassConditional,
    ParityTarget,
    mean_signs,
    mixture_parities,
    stand_out,
)
from skdpgen.utils import Key, saved

PART = 0.1  # of what pairs would get
LOWEST, HIGHEST = 3, 7  # columns of a set
WIDEST = 8_000  # sets in all
LEAST, ENOUGH = 7.0, 20.0  # stds of noise that a full parity should be worth
OWN = 8  # with more classes than that, parities are those of all rows


@saved
@dataclass(frozen=True, eq=False)
class ParityRelease:
    """Noisy sums of products of signs, of all sets of columns of some sizes.

    Parameters
    ----------
    signs : tuple of ndarray
        1 or -1 for each group of each column.
    orders : tuple of int
        Sizes of the sets.
    of_class : ndarray of int of shape (n_classes,)
        With which classes each class was counted.
    released : Release
    """

    signs: tuple[Any, ...]
    orders: tuple[int, ...]
    of_class: NDArray[np.int64]
    released: Release

    @property
    def subsets(self) -> list[tuple[int, ...]]:
        """The sets, in the order of the sums."""
        columns = range(len(self.signs))
        return [which for k in self.orders for which in combinations(columns, k)]

    def target(
        self, tables: Any, sizes: Sequence[int], totals: Any
    ) -> ParityTarget | None:
        """Return the parities that a mixture lacks; None if it has all that are sure.

        Parameters
        ----------
        tables : ndarray of shape (n_classes, n_components, S)
            Of the mixture.
        sizes : sequence of int
            Groups of each column.
        totals : ndarray of shape (n_classes,)
            Rows of each class, as released.
        """
        sums = self.released.values[Key.PARITIES]
        signs = np.concatenate(self.signs)
        member = np.eye(len(sums))[self.of_class]  # (n_classes, counted)
        n_rows = np.asarray(totals) @ member
        means = mean_signs(np.asarray(tables), signs, sizes)
        mine = mixture_parities(means, self.orders)
        share = member * np.asarray(totals)[:, None] / np.maximum(n_rows, 1.0)
        std = self.released.noise_std[Key.PARITIES]
        found, shifts = stand_out(sums, std, share.T @ mine, n_rows)
        if not len(found):
            return None
        subsets = self.subsets
        goals = np.clip(mine[:, found] + shifts[self.of_class], -1.0, 1.0)
        return ParityTarget(signs, [subsets[i] for i in found], goals)


def affordable_orders(
    ledger: Ledger, n_rows: float, n_columns: int, n_classes: int
) -> tuple[tuple[int, ...], float]:
    """Return the sizes of sets to ask for, and the share of what is left; public.

    As many sizes as leave a parity that decides the class, or that of all rows, well
    above its noise; none if not even sets of three do, and then nothing is paid. It
    is no more than such a parity needs.
    """
    chosen: tuple[tuple[int, ...], float] = (), 0.0
    for highest in range(LOWEST, min(HIGHEST, n_columns) + 1):
        asked = SignProducts(n_columns, tuple(range(LOWEST, highest + 1)))
        noise = ledger.noise_std(
            share=PART * ledger.remaining,
            sensitivity=sensitivity(asked, ledger.budget.adjacency),
        )
        stands = n_rows / (noise * math.sqrt(n_classes)) if noise else math.inf
        if stands < LEAST or asked.width > WIDEST:
            break
        chosen = asked.orders, PART * min(1.0, (ENOUGH / stands) ** 2 or 1.0)
    return chosen


def measure_parities(
    opening: Opening,
    cells: Mapping[Any, Cells],
    labels: Cells | None,
    known: ClassConditional,
    groups: Sequence[CellGroups],
) -> None:
    r"""Release products of signs over sets of columns, if that can be afforded.

    Every column is cut in two halves by what earlier releases say of it, whatever the
    row has in it: a value that is in no cell is in the first half. So each product is
    1 or -1. What one row moves is proved at :class:`~skdpgen.privacy.SignProducts`:
    labels are counted one by one, or together, as the number of classes and earlier
    releases have it, and a row without one counts nowhere. All that stand out are
    found afterwards, for nothing: no set is selected by looking at rows.

    Keeps ``parity_release_``.
    """
    of_class = classes_together(known.totals, opening.facts.task, n_classes_of(labels))
    n_counted = int(of_class.max()) + 1
    orders, share = affordable_orders(
        opening.ledger, opening.facts.n_rows, len(cells), n_counted
    )
    if not orders:
        return
    signs = tuple(
        halves(one, one.add_up(known.marginals[name]))
        for name, one in zip(cells, groups, strict=True)
    )
    of_label = np.append(of_class, -1)

    def batches() -> Iterator[EncodedBatch]:
        for batch in opening.rows.batches(cells, labels):
            codes = batch.parts[Key.COLUMNS]
            found = [
                np.append(sign, 1.0)[one.encode(codes[:, j])] < 0
                for j, (one, sign) in enumerate(zip(groups, signs, strict=True))
            ]
            bits = np.stack(found, axis=1).astype(np.int64)
            yield EncodedBatch(of_label[batch.labels], {Key.PARITIES: bits})

    released = release(
        batches(),
        {Key.PARITIES: Parities(len(cells), orders)},
        name=f"parities of {orders[0]} to {orders[-1]} of {len(cells)} columns"
        + (" by class" if n_counted > 1 else ""),
        ledger=opening.ledger,
        share=share * opening.ledger.remaining,
        n_classes=n_counted,
    )
    opening.keep(parity_release_=ParityRelease(signs, orders, of_class, released))


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
