"""Sums that one pass over the rows makes for several releases to come."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdpgen.privacy._blocks import (
    Batch,
    Block,
    Counts,
    Floats,
    Histograms,
    Integers,
)
from skdpgen.privacy._distinct import DistinctCounts, Seen
from skdpgen.privacy._query import totals_of
from skdpgen.privacy._selection import Selections

SUMS = "Sums that were made beforehand are of all rows as one class. Got {} classes."


@dataclass(eq=False)
class Beforehand:
    r"""Exact sums of several blocks, from one pass; as private as the rows.

    A release takes the part that it would have summed itself, and pays for that alone.
    *Proof* that nothing changes: :meth:`histograms`, :meth:`selections` and the others
    return a block of the same structure, whose sum over the rows is, number by number,
    that of a block which reads only these columns and cells. A histogram of fewer
    cells is the same histogram without the others, since a value in no cell counts
    nowhere. So :func:`~skdpgen.privacy.release` publishes the same sum with the same
    noise, and what was summed besides is never looked at: which part is taken may
    depend on releases alone, as which rows are read for it did.

    Parameters
    ----------
    blocks : mapping of str to Block
    columns : mapping of str to sequence of names
        The columns of each block of histograms.
    totals : dict
    """

    blocks: Mapping[str, Block]
    columns: Mapping[str, Sequence[Any]]
    totals: dict[str, Any] = field(repr=False)

    def counts(self, key: str) -> Counts:
        """Return the number of rows."""
        return SummedCounts(sums=self, key=key)

    def selections(self, key: str, names: Sequence[Any]) -> Selections:
        """Return the values of some columns."""
        return SummedSelections(tuple(names), sums=self, key=key)

    def distinct(self, key: str, names: Sequence[Any], n_rows: float) -> DistinctCounts:
        """Return the numbers of different values of some columns."""
        return SummedDistinct(tuple(names), n_rows, sums=self, key=key)

    def histograms(
        self,
        key: str,
        names: Sequence[Any],
        cells: Mapping[Any, NDArray[np.intp]] | None = None,
    ) -> Histograms:
        """Return the histograms of some columns, and of these some cells."""
        block = self.blocks[key]
        assert isinstance(block, Histograms)
        ends = pairwise([0, *accumulate(block.sizes)])
        every = dict(zip(self.columns[key], ends, strict=True))
        places = [
            np.arange(*every[name]) if cells is None else every[name][0] + cells[name]
            for name in names
        ]
        sizes = tuple(len(place) for place in places)
        taken = np.concatenate([*places, np.empty(0, dtype=np.intp)])
        return SummedHistograms(sizes, sums=self, key=key, places=taken.astype(np.intp))


def sum_beforehand(
    batches: Iterable[Batch],
    blocks: Mapping[str, Block],
    columns: Mapping[str, Sequence[Any]],
) -> Beforehand | None:
    """Sum blocks over the rows, all rows as one class; nothing is released.

    Returns None where rows stand with parties that send no sums without noise: then
    each release asks them by itself.
    """
    there: Any = getattr(batches, "elsewhere", None)
    if getattr(there, "noise", None) is not None:
        return None
    blocks = {str(key): block for key, block in blocks.items()}
    return Beforehand(blocks, columns, totals_of(batches, blocks, 1, 1))


@dataclass(frozen=True)
class _Summed:
    """A block that starts where a pass ended."""

    sums: Beforehand = field(kw_only=True, repr=False)
    key: str = field(kw_only=True)

    def total(self, n_classes: int) -> Any:
        """Return what was summed."""
        if n_classes != 1:
            raise ValueError(SUMS.format(n_classes))
        return self.sums.totals[self.key]


@dataclass(frozen=True)
class SummedCounts(_Summed, Counts):
    """The number of rows, counted beforehand."""

    def start(self, n_classes: int) -> Floats:
        """Return the counts."""
        return np.array(self.total(n_classes))


@dataclass(frozen=True)
class SummedSelections(_Summed, Selections):
    """Counts of values, made beforehand."""

    def start(self, n_classes: int) -> dict[Any, dict[str, int]]:
        """Return the counts."""
        total = self.total(n_classes)
        return {column: dict(total[column]) for column in self.columns}


@dataclass(frozen=True)
class SummedDistinct(_Summed, DistinctCounts):
    """Different values, told apart beforehand."""

    def start(self, n_classes: int) -> dict[Any, Seen]:
        """Return what was seen."""
        total = self.total(n_classes)
        return {column: total[column] for column in self.columns}


@dataclass(frozen=True, eq=False)
class SummedHistograms(_Summed, Histograms):
    """Histograms, made beforehand; ``places`` are the cells that are taken."""

    places: NDArray[np.intp] = field(kw_only=True, repr=False)

    def start(self, n_classes: int) -> Integers:
        """Return the counts."""
        return np.array(self.total(n_classes)[:, self.places])
