"""The first pass over the rows: it sums for all releases whose questions are public."""

from typing import Any

from skdpgen.privacy import (
    Counts,
    DistinctCounts,
    Histograms,
    Selections,
    sum_beforehand,
)
from skdpgen.synthesizers.opening._column_kinds import looked_at
from skdpgen.synthesizers.opening._known_columns import Known
from skdpgen.tables import TARGET, Rows, TextKinds
from skdpgen.utils import Key


def pass_first(rows: Rows, known: Known, *, is_size_public: bool) -> None:
    """Sum how many rows, which labels and what kinds of values there are, at once.

    The sums wait in ``rows``, and are forgotten with them, for the releases that ask
    for a part of them. Which columns are looked at follows from the schema.
    """
    blocks: dict[str, Any] = {} if is_size_public else {Key.ROWS: Counts()}
    tokens = (TARGET,) if known.has_unknown_classes else ()
    if tokens:
        blocks[Key.TOKENS] = Selections(tokens)
    unknown = known.unknown
    names = (*looked_at(unknown), *known.whole_numbers)
    grids = {name: TextKinds() for name in unknown.texts}
    if names:
        blocks[Key.DISTINCT] = DistinctCounts(names)
    if grids:
        sizes = tuple(grid.n_cells for grid in grids.values())
        blocks[Key.COLUMNS] = Histograms(sizes)
    if blocks:
        batches = rows.batches(grids, tokens=tokens, distinct=names)
        rows.beforehand = sum_beforehand(batches, blocks, {Key.COLUMNS: tuple(grids)})
