"""From releases of columns and pairs to a mixture; reads no rows."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from skdpgen.privacy import Release
from skdpgen.synthesizers.models import MixtureModel
from skdpgen.synthesizers.pairwise._pair_rounds import PairModel, PairRelease
from skdpgen.tables import CellGroups, Cells, group_cells
from skdpgen.training import ClassConditional, column_counts, fit_mixture

USUAL, FEWEST = 200, 8  # components of a class
OF_ALL = 20_000  # components of all classes together


def usual_components(n_classes: int) -> int:
    """Return how many components a class gets; few rows a class tell few apart.

    Examples
    --------
    >>> usual_components(2), usual_components(100), usual_components(300)
    (200, 200, 66)
    """
    return max(min(USUAL, OF_ALL // n_classes), FEWEST)


def train_mixture(
    known: ClassConditional,
    cells: Mapping[Any, Cells],
    groups: Sequence[CellGroups],
    measured: Sequence[PairRelease],
    columns: Release,
    scales: Sequence[float] | None,
    *,
    n_components: int | None,
    **how: Any,
) -> tuple[MixtureModel, list[float]]:
    """Return a mixture that has the released pairs, and its losses.

    Without any pairs it is one product of columns for each class, and not trained.
    """
    names, losses = list(cells), []
    if measured:
        sizes = [column.n_cells for column in cells.values()]
        counts = column_counts(columns, sizes, scales)
        pairs = PairModel(known, groups, measured, *counts)
        n_components = n_components or usual_components(len(known.totals))
        whole, losses = fit_mixture(
            pairs.target(), pairs.sizes, n_components=n_components, **how
        )
        tables = np.split(whole, np.cumsum(pairs.sizes)[:-1], axis=2)
    else:
        tables = [np.asarray(known.conditionals[name])[:, None] for name in names]
        groups = [
            group_cells(cells[name], known.marginals[name], table.shape[2])
            for name, table in zip(names, tables, strict=True)
        ]
    by_name = (dict(zip(names, each, strict=True)) for each in (groups, tables))
    return MixtureModel(known, *by_name), losses
