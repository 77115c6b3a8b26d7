"""From stored releases to what they say of pairs."""

from collections.abc import Sequence

from skdpgen.privacy import Release
from skdpgen.synthesizers.opening import PublicTables
from skdpgen.synthesizers.pairwise._pair_release import PairRelease
from skdpgen.synthesizers.pairwise._pair_rounds import PairModel
from skdpgen.tables import CellGroups
from skdpgen.training import ClassConditional, column_counts


def known_pairs(
    known: ClassConditional,
    released: Release,
    groups: Sequence[CellGroups],
    measured: Sequence[PairRelease],
    task: str | None,
    scales: Sequence[float] | None,
    public: PublicTables | None,
) -> PairModel | None:
    """Return what all releases say of pairs; None if none was measured."""
    if not measured:
        return None
    sizes = [len(one.of_cell) for one in groups]
    counts, stds = column_counts(released, sizes, scales)
    are_bins = task == "regression"
    return PairModel(known, groups, measured, counts, list(stds), public, are_bins)
