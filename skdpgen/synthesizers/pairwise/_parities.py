"""Relations of three and more columns that no pair shows: one release of parities."""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skdpgen.privacy import (
    Ledger,
    Parities,
    Release,
    SignProducts,
    release,
    sensitivity,
)
from skdpgen.synthesizers.opening import Opening, n_classes_of
from skdpgen.tables import (
    CellGroups,
    Cells,
    EncodedBatch,
    are_classes,
    class_of,
    code_or_none,
)
from skdpgen.training import (
    ClassConditional,
    ParityTarget,
    mean_signs,
    mixture_parities,
    significant_parities,
)
from skdpgen.utils import (
    Key,
    are_amounts,
    asked,
    has_role,
    refuse_unless,
    saved,
)

# ----------------------------------------------------------------------------
# Which parities to release, and how columns are cut in halves for them.

Floats = NDArray[np.float64]
USUAL_SHARE, MOST_SHARE = 0.06, 0.1  # of the budget of pairs
LOWEST, FEWEST, HIGHEST = 2, 3, 7  # columns of a set; FEWEST is the least maximum
MOST_SETS = 8_000
# Noise stds of a parity that holds in all rows.
LEAST_STRENGTH, ENOUGH_STRENGTH = 7.0, 15.0
SURE_STDS = 4.0  # of what a parity lacks beyond what follows from a pair
MOST_CLASSES = 8  # with more, parities are pooled over classes


@dataclass(frozen=True, eq=False)
class ParityPlan:
    """Plan of the release: sizes of sets, and classes that are counted together.

    ``share`` is of what is left of the budget.
    """

    of_class: NDArray[np.int64]
    orders: tuple[int, ...]
    share: float


def plan_parities(
    opening: Opening, labels: Cells | None, denoised: ClassConditional
) -> ParityPlan | None:
    """Return an affordable plan, by public quantities and releases; None if none is.

    With None no budget is used.
    """
    facts = opening.facts
    of_class = classes_together(denoised.totals, facts.task, n_classes_of(labels))
    n_counted = int(of_class.max()) + 1
    orders, share = affordable_orders(
        opening.ledger, facts.n_rows, len(denoised.marginals), n_counted
    )
    return ParityPlan(of_class, orders, share) if orders else None


def affordable_orders(
    ledger: Ledger, n_rows: float, n_columns: int, n_classes: int
) -> tuple[tuple[int, ...], float]:
    """Return the sizes of sets to release, and the share of what is left; public.

    The most sizes that leave a parity that decides the class, or that of all rows,
    well above its noise; none if not even sets of three do, and then no budget is
    used. The share is no more than such a parity needs.
    """
    chosen: tuple[tuple[int, ...], float] = (), 0.0
    largest_share, adjacency = MOST_SHARE * ledger.remaining, ledger.budget.adjacency
    for highest in range(FEWEST, min(HIGHEST, n_columns) + 1):
        query = SignProducts(n_columns, tuple(range(LOWEST, highest + 1)))
        delta = sensitivity(query, adjacency)
        noise = ledger.noise_std(share=largest_share, sensitivity=delta)
        strength = n_rows / (noise * math.sqrt(n_classes)) if noise else math.inf
        if strength < LEAST_STRENGTH or query.width > MOST_SETS:
            break
        least, enough = (
            MOST_SHARE * (stds / strength) ** 2
            for stds in (LEAST_STRENGTH, ENOUGH_STRENGTH)
        )
        chosen = (
            query.orders,
            max(min(USUAL_SHARE, enough), least) if noise else USUAL_SHARE,
        )
    return chosen


def classes_together(
    totals: ArrayLike, task: str | None, n_classes: int
) -> NDArray[np.int64]:
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
    if n_classes > MOST_CLASSES:
        return np.zeros(n_classes, dtype=np.int64)
    return np.arange(n_classes)


def halves(groups: CellGroups, marginal: ArrayLike) -> Floats:
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


def cut_at_half(groups: CellGroups, marginal: ArrayLike) -> CellGroups:
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


# ----------------------------------------------------------------------------
# Relations of three and more columns that no pair shows: one release of parities.


@saved("release.parities")
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
        Group of classes that each class was counted in.
    released : Release
    """

    signs: tuple[Floats, ...]
    orders: tuple[int, ...]
    of_class: NDArray[np.int64]
    released: Release

    @property
    def subsets(self) -> list[tuple[int, ...]]:
        """The sets, in the order of the sums."""
        columns = range(len(self.signs))
        return [which for k in self.orders for which in combinations(columns, k)]

    def target(
        self,
        tables: Floats,
        sizes: Sequence[int],
        totals: Floats,
        trained: Collection[tuple[int, int]] = (),
    ) -> ParityTarget | None:
        """Return the parities that a mixture lacks; None if none exceeds the noise.

        Pooled parities that follow from a pair of ``trained`` are left out: where the
        mixture lacks such a pair, training was short, and components that start with
        signs are of no use.

        Parameters
        ----------
        tables : ndarray of shape (n_classes, n_components, S)
            Of the mixture.
        sizes : sequence of int
            Groups of each column.
        totals : ndarray of shape (n_classes,)
            Rows of each class, as released.
        trained : collection of tuple of int
            Pairs of columns that the mixture was trained on.
        """
        signs = np.concatenate(self.signs)
        means = mean_signs(np.asarray(tables), signs, sizes)
        lacking, mixture_means, shifts = self._significant(means, totals, self.orders)
        subsets = self.subsets
        if not self.of_class.any():  # else pairs may be trained on, but not by class
            own = [
                not self._follows(subsets[i], means, totals, trained) for i in lacking
            ]
            lacking, shifts = lacking[own], shifts[:, own]
        if not len(lacking):
            return None
        goals = np.clip(mixture_means[:, lacking] + shifts[self.of_class], -1.0, 1.0)
        return ParityTarget(signs, [subsets[i] for i in lacking], goals)

    def of_pairs(
        self, denoised: ClassConditional, groups: Sequence[CellGroups]
    ) -> dict[tuple[int, int], float]:
        """Return the energy of class differences in pairs, where it exceeds noise."""
        singles = [
            grouping.add_up(np.asarray(table))[:, None]  # (n_classes, 1, groups)
            for grouping, table in zip(
                groups, denoised.conditionals.values(), strict=True
            )
        ]
        sizes, signs = [len(sign) for sign in self.signs], np.concatenate(self.signs)
        means = mean_signs(np.concatenate(singles, axis=2), signs, sizes)
        certain, _, shifts = self._significant(means, denoised.totals, self.orders[:1])
        shares = np.bincount(self.of_class, denoised.totals) / np.sum(denoised.totals)
        excess = shares[:, None] * (shifts - shares @ shifts)
        energies = 0.25 * (excess**2).sum(axis=0)  # four quarters have a quarter of it
        subsets, of_pair = self.subsets, {}
        for i, energy in zip(certain, energies, strict=True):
            first, second = subsets[i]
            of_pair[first, second] = float(energy)
        return of_pair

    def _follows(
        self,
        subset: tuple[int, ...],
        means: Floats,
        totals: Floats,
        trained: Collection[tuple[int, int]],
    ) -> bool:
        """Return whether a pooled parity is lacking because a pair in it is.

        If a pair lacks d, its set lacks d times the mean sign of the other columns,
        unless what the pair lacks depends on them. What is left must exceed the noise.
        """
        shares = np.asarray(totals) / np.sum(totals)
        std, n_rows = self.released.noise_std[Key.PARITIES], float(np.sum(totals))
        place = {which: i for i, which in enumerate(self.subsets)}

        def mean(which: tuple[int, ...]) -> float:
            return float(means[list(which)].prod(axis=0).mean(axis=1) @ shares)

        def lack(which: tuple[int, ...]) -> float:
            released = self.released.values[Key.PARITIES][0, place[which]]
            return float(released - n_rows * mean(which))

        for pair in combinations(subset, 2):
            if pair in trained:
                factor = mean(tuple(j for j in subset if j not in pair))
                left = lack(subset) - factor * lack(pair)
                if left**2 <= SURE_STDS**2 * (std**2 + n_rows) * (1.0 + factor**2):
                    return True
        return False

    def _significant(
        self, means: Floats, totals: Floats, orders: tuple[int, ...]
    ) -> tuple[NDArray[np.int64], Floats, Floats]:
        """Return which parities a model lacks, those that it has, and differences.

        ``orders`` are the first of the released ones.
        """
        mixture_means = mixture_parities(means, orders)
        sums = self.released.values[Key.PARITIES][:, : mixture_means.shape[1]]
        rows = np.asarray(totals)[:, None] * np.eye(len(sums))[self.of_class]
        n_rows = rows.sum(axis=0)
        expected = (rows / np.maximum(n_rows, 1.0)).T @ mixture_means
        std = self.released.noise_std[Key.PARITIES]
        certain, shifts = significant_parities(sums, std, expected, n_rows)
        return certain, mixture_means, shifts


@asked("step")
@saved("step.sign_codes")
@dataclass(frozen=True, eq=False)
class SignCodes:
    """From cells of rows to the halves of columns that they are in, row by row.

    No cell and no label raises: a group without a sign has that of no group, 1.
    Otherwise a single row could end the fit with an error, which no budget pays for.
    """

    groups: tuple[CellGroups, ...]
    signs: tuple[Floats, ...]
    of_class: NDArray[np.int64]

    def check_asked(self) -> None:
        """Check the fields of a step that another party sent."""
        refuse_unless(
            len(self.groups) == len(self.signs) > 0
            and all(has_role(grouping, "groups") for grouping in self.groups)
            and all(are_amounts(sign, 1.0, 1) for sign in self.signs)
            and self.of_class is not None
            and are_classes(self.of_class),
            "a sign for each group of each column",
        )

    def __call__(self, batches: Iterable[EncodedBatch]) -> Iterator[EncodedBatch]:
        """Yield 1 for the sign -1, and labels as classes are counted."""
        for batch in batches:
            codes = batch.parts[Key.COLUMNS]
            is_negative = [
                np.append(sign, 1.0)[
                    code_or_none(grouping.encode(codes[:, j]), len(sign))
                ]
                < 0
                for j, (grouping, sign) in enumerate(
                    zip(self.groups, self.signs, strict=True)
                )
            ]
            bits = np.stack(is_negative, axis=1).astype(np.int64)
            labels = class_of(self.of_class, batch.labels)
            yield EncodedBatch(labels, {Key.PARITIES: bits})


def measure_parities(
    opening: Opening,
    cells: Mapping[Any, Cells],
    labels: Cells | None,
    denoised: ClassConditional,
    groups: Sequence[CellGroups],
    plan: ParityPlan,
    signs: tuple[Floats, ...] | None = None,
) -> ParityRelease:
    r"""Release products of signs over sets of columns.

    Every column is cut in two halves by earlier releases, whatever the row has in it:
    a value that is in no cell is in the first half. So each product is
    1 or -1. The sensitivity is proved at :class:`~skdpgen.privacy.SignProducts`:
    labels are counted one by one, or together, by the number of classes and earlier
    releases, and a row without a label is ignored. Parities that exceed the noise are
    selected afterwards, as post-processing: no query of rows selects a set.

    ``signs`` replace those of the halves.
    """
    of_class, orders = plan.of_class, plan.orders
    n_counted = int(of_class.max()) + 1
    signs = signs or tuple(
        halves(grouping, grouping.add_up(denoised.marginals[name]))
        for name, grouping in zip(cells, groups, strict=True)
    )
    step = SignCodes(tuple(groups), tuple(signs), of_class)
    released = release(
        opening.rows.batches(cells, labels).through(step),
        {Key.PARITIES: Parities(len(cells), orders)},
        name=f"parities of {orders[0]} to {orders[-1]} of {len(cells)} columns"
        + (" by class" if n_counted > 1 else ""),
        ledger=opening.ledger,
        share=plan.share * opening.ledger.remaining,
        n_classes=n_counted,
    )
    return ParityRelease(signs, orders, of_class, released)
