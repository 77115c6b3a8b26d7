"""Sets of three and more columns that only matter together: one release of parities."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdpgen.privacy import Parities, Release, release
from skdpgen.synthesizers.opening import Opening
from skdpgen.synthesizers.pairwise._halves import ParityPlan, halves
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
    stand_out,
)
from skdpgen.utils import Key, are_amounts, asked, has_role, refuse_unless, saved


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
        signs = np.concatenate(self.signs)
        means = mean_signs(np.asarray(tables), signs, sizes)
        found, mine, shifts = self._surely(means, totals, self.orders)
        if not len(found):
            return None
        subsets = self.subsets
        goals = np.clip(mine[:, found] + shifts[self.of_class], -1.0, 1.0)
        return ParityTarget(signs, [subsets[i] for i in found], goals)

    def of_pairs(
        self, known: ClassConditional, groups: Sequence[CellGroups]
    ) -> dict[tuple[int, ...], float]:
        """Return the squared norm of what classes surely have of their own in pairs."""
        singles = [
            one.add_up(np.asarray(table))[:, None]  # (n_classes, 1, groups)
            for one, table in zip(groups, known.conditionals.values(), strict=True)
        ]
        sizes, signs = [len(sign) for sign in self.signs], np.concatenate(self.signs)
        means = mean_signs(np.concatenate(singles, axis=2), signs, sizes)
        found, _, shifts = self._surely(means, known.totals, self.orders[:1])
        shares = np.bincount(self.of_class, known.totals) / np.sum(known.totals)
        own = shares[:, None] * (shifts - shares @ shifts)
        energies = 0.25 * (own**2).sum(axis=0)  # four quarters have a quarter of it
        return {self.subsets[i]: float(e) for i, e in zip(found, energies, strict=True)}

    def _surely(
        self, means: Any, totals: Any, orders: tuple[int, ...]
    ) -> tuple[Any, Any, Any]:
        """Return which of the first are off, what a model has, how much is lacking."""
        mine = mixture_parities(means, orders)
        sums = self.released.values[Key.PARITIES][:, : mine.shape[1]]
        rows = np.asarray(totals)[:, None] * np.eye(len(sums))[self.of_class]
        n_rows = rows.sum(axis=0)
        expected = (rows / np.maximum(n_rows, 1.0)).T @ mine
        std = self.released.noise_std[Key.PARITIES]
        found, shifts = stand_out(sums, std, expected, n_rows)
        return found, mine, shifts


@asked("step")
@saved
@dataclass(frozen=True, eq=False)
class SignCodes:
    """From cells of rows to the halves of columns that they are in, row by row.

    No cell and no label raises: a group without a sign has that of no group, 1.
    """

    groups: tuple[CellGroups, ...]
    signs: tuple[Any, ...]
    of_class: NDArray[np.int64]

    def check_asked(self) -> None:
        """Check what someone else may have made otherwise."""
        refuse_unless(
            len(self.groups) == len(self.signs) > 0
            and all(has_role(one, "groups") for one in self.groups)
            and all(are_amounts(sign, 1.0, 1) for sign in self.signs)
            and self.of_class is not None
            and are_classes(self.of_class),
            "a sign for each group of each column",
        )

    def __call__(self, batches: Iterable[EncodedBatch]) -> Iterator[EncodedBatch]:
        """Yield 1 for the sign -1, and labels as classes are counted."""
        for batch in batches:
            codes = batch.parts[Key.COLUMNS]
            found = [
                np.append(sign, 1.0)[code_or_none(one.encode(codes[:, j]), len(sign))]
                < 0
                for j, (one, sign) in enumerate(
                    zip(self.groups, self.signs, strict=True)
                )
            ]
            bits = np.stack(found, axis=1).astype(np.int64)
            labels = class_of(self.of_class, batch.labels)
            yield EncodedBatch(labels, {Key.PARITIES: bits})


def measure_parities(
    opening: Opening,
    cells: Mapping[Any, Cells],
    labels: Cells | None,
    known: ClassConditional,
    groups: Sequence[CellGroups],
    plan: ParityPlan,
    signs: tuple[Any, ...] | None = None,
) -> ParityRelease:
    r"""Release products of signs over sets of columns.

    Every column is cut in two halves by what earlier releases say of it, whatever the
    row has in it: a value that is in no cell is in the first half. So each product is
    1 or -1. What one row moves is proved at :class:`~skdpgen.privacy.SignProducts`:
    labels are counted one by one, or together, as the number of classes and earlier
    releases have it, and a row without one counts nowhere. All that stand out are
    found afterwards, for nothing: no set is selected by looking at rows.

    Keeps ``parity_release_``. ``signs`` replace those of the halves.
    """
    of_class, orders = plan.of_class, plan.orders
    n_counted = int(of_class.max()) + 1
    signs = signs or tuple(
        halves(one, one.add_up(known.marginals[name]))
        for name, one in zip(cells, groups, strict=True)
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
    found = ParityRelease(signs, orders, of_class, released)
    opening.keep(parity_release_=found)
    return found
