"""Whether public rows are where private ones are, told by releases alone."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skdpgen.synthesizers.ratio._learnt import LearntRatio
from skdpgen.tables import CategoryCells, Cells
from skdpgen.training import effective_size
from skdpgen.utils import SupportWarning, warn_caller

Floats = NDArray[np.float64]
MUCH, SURE = 0.05, 4.0  # of the rows, and noise stds: public rows lack a value
HARDLY = 0.2  # times as many as private rows: public rows lack a value
FEW = 0.05  # of the public rows count
CODE = "code of a lens"
SAID = 5  # columns named
LACKING = (
    "Private rows have values that public rows hardly have, and samples will lack: {}. "
    "Add public rows that have them, or use a method that needs none."
)
FLAT = (
    "Only about {:.0f} of {} public rows count: the others are unlike private rows. "
    "Samples repeat those; public rows more like the private ones would help."
)


def calibration(
    ratio: LearntRatio, weights: Floats, cells: Mapping[Any, Cells]
) -> pd.DataFrame | None:
    """Return released means of codes beside those of public rows, as is and weighed.

    If the ratio is right, ``weighed`` is ``released`` within a few times ``noise``.
    """
    if ratio.told is None:
        return None
    told, codes = ratio.told, ratio.matrix
    n_classes, n_codes = told.means.shape
    names = [(name, cell) for name, one in cells.items() for cell in _names_of(one)]
    names = names or [(CODE, j) for j in range(n_codes)]
    public, found = (np.asarray(codes.T @ each).T for each in (ratio.base, weights))
    table = pd.DataFrame(names, columns=["column", "cell"])
    return pd.concat(
        [
            table.assign(
                label=label,
                public=public[label],
                weighed=found[label],
                released=told.means[label],
                noise=np.sqrt(told.variances[label]),
            )
            for label in range(n_classes)
        ],
        ignore_index=True,
    )


def tell_support(table: pd.DataFrame | None, weights: Floats) -> list[str]:
    """Warn where private rows are and public ones are not; return what to state."""
    lines = []
    n, size = len(weights), effective_size(weights)
    if table is not None and table["column"].iloc[0] != CODE:
        lacking = _lacking(table)
        if lacking:
            told = ", ".join(f"{name} ({part:.0%})" for name, part in lacking[:SAID])
            told += ", ..." * (len(lacking) > SAID)
            lines.append(f"values that public rows hardly have: {told}")
            warn_caller(LACKING.format(told), SupportWarning)
    if size < FEW * n:
        warn_caller(FLAT.format(size, n), SupportWarning)
    return [*lines, f"effective number of public rows: {size:.0f} of {n}"]


def _lacking(table: pd.DataFrame) -> list[tuple[Any, float]]:
    """Return columns of which private rows have what public ones hardly have."""
    found = []
    cells = table.groupby(["column", "cell"], sort=False).agg(
        public=("public", "sum"),
        released=("released", "sum"),
        noise=("noise", lambda one: math.sqrt(float((one**2).sum()))),
    )
    for name, column in cells.groupby(level="column", sort=False):
        hardly = column["released"] > column["public"] / HARDLY
        surely = column["released"] > SURE * column["noise"]
        part = float(column["released"][hardly & surely].sum())
        noise = SURE * float(np.sqrt((column["noise"][hardly & surely] ** 2).sum()))
        if part - noise > MUCH:
            found.append((name, min(part, 1.0)))
    return sorted(found, key=lambda one: -one[1])


def _names_of(cells: Cells) -> list[Any]:
    """Return a name for each cell: its category, or where its interval begins."""
    if isinstance(cells, CategoryCells):
        known = [str(one) for one in cells.categories]
    else:
        known = [f"from {edge:g}" for edge in cells.edges[:-1]]  # type: ignore[attr-defined]
    return known + ["missing"] * (cells.n_cells - len(known))
