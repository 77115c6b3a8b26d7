"""Measuring pairs of columns: noisy histograms of pairs, jointly released."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from skdpgen.privacy import Histograms, Release, release
from skdpgen.synthesizers.opening import Opening, cell_scales
from skdpgen.tables import CellGroups, Cells, EncodedBatch
from skdpgen.utils import Key, saved

Pair = tuple[int, int]


@saved
@dataclass(frozen=True, eq=False)
class PairRelease:
    r"""Noisy histograms of pairs, of each class or of all rows together.

    A row is one-hot in each pair, scaled so that the squares of the scales sum to 1:
    its vector is not negative and has norm 1. So the release moves by at most
    :math:`\sqrt 2` if a row is replaced and by 1 if it is added or removed. Its entries
    are chosen entries of :math:`x x^\top`, with x the one-hot row.
    """

    pairs: tuple[Pair, ...]
    scales: tuple[float, ...]
    released: Release
    is_trial: bool = False
    """Whether it only serves to judge public rows."""

    @property
    def by_class(self) -> bool:
        """Whether classes were counted one by one."""
        return len(self.released.values[Key.PAIRS]) > 1

    def tables(self, groups: Sequence[CellGroups]) -> Iterator[tuple[Pair, Any, float]]:
        """Yield each pair, its counts (n_classes, g, g'), and their noise."""
        std, start = self.released.noise_std[Key.PAIRS], 0
        values = self.released.values[Key.PAIRS]
        for (j, k), scale in zip(self.pairs, self.scales, strict=True):
            shape = (groups[j].n_groups, groups[k].n_groups)
            width = shape[0] * shape[1]
            block = values[:, start : start + width] / scale
            yield (j, k), block.reshape(-1, *shape), std / scale
            start += width


def release_pairs(
    opening: Opening,
    cells: Mapping[Any, Cells],
    labels: Cells | None,
    groups: Sequence[CellGroups],
    pairs: tuple[Pair, ...],
    *,
    by_class: bool,
    share: float,
    is_trial: bool = False,
) -> PairRelease:
    """Count pairs of groups, jointly; ``share`` is of what is left of the budget."""
    sizes = tuple(one.n_groups for one in groups)
    scales = cell_scales([sizes[j] * sizes[k] for j, k in pairs])

    def batches() -> Iterator[EncodedBatch]:
        for batch in opening.rows.batches(cells, labels):
            codes = batch.parts[Key.COLUMNS]
            coarse = [one.encode(codes[:, j]) for j, one in enumerate(groups)]
            known = np.where(batch.labels >= 0, 0, -1)
            label = batch.labels if by_class else known
            yield EncodedBatch(label, {Key.PAIRS: np.stack(coarse).T})

    released = release(
        batches(),
        {Key.PAIRS: Histograms(sizes, scales, pairs)},
        name=f"{len(pairs)} pairs of columns" + (" by class" if by_class else ""),
        ledger=opening.ledger,
        share=share * opening.ledger.remaining,
        n_classes=labels.n_cells if by_class and labels is not None else 1,
    )
    return PairRelease(pairs, scales, released, is_trial)
