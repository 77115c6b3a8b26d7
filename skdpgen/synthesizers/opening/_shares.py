"""What a look at columns should cost, and how its joint histogram is cut again."""

from collections.abc import Mapping
from itertools import accumulate
from typing import Any

import numpy as np

from skdpgen.privacy import Ledger, Release, sensitivity
from skdpgen.utils import Key


def share_for(
    structure: Any, wanted_std: float, ledger: Ledger, limits: tuple[float, float]
) -> float:
    """Return the share of mu² that gives a release of ``structure`` a wanted noise."""
    delta = sensitivity(structure, ledger.budget.adjacency)
    whole = ledger.noise_std(share=1.0, sensitivity=delta)
    return min(max((whole / wanted_std) ** 2, limits[0]), limits[1])


def by_column(
    released: Release, grids: Mapping[Any, Any], key: str = Key.COLUMNS
) -> dict[Any, Any]:
    """Cut the joint histogram of an unlabelled release into its columns."""
    ends = list(accumulate(grid.n_cells for grid in grids.values()))[:-1]
    parts = np.split(released.values[key][0], ends) if grids else []
    return dict(zip(grids, parts, strict=True))
