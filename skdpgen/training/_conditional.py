"""The class-conditional model: every column by itself, given the class."""

import math
from collections.abc import Container, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from skdpgen.privacy import Release
from skdpgen.training._smoothing import (
    class_totals,
    conditional_histogram,
    without_empty_cells,
)

Floats = NDArray[np.float64]
SHORTEST = 4  # lattices shorter than this keep their ends


class ColumnCells(Protocol):
    """What must be known of a column's cells."""

    n_cells: int
    n_known: int
    nullable: bool
    is_ordered: bool
    is_lattice: bool


@dataclass(frozen=True)
class ClassConditional:
    """Denoised counts: of each class, and of each column's cells in it."""

    totals: Floats  # (n_classes,)
    total_std: float  # noise of their sum
    marginals: Mapping[Any, Floats]  # name -> (n_cells,)
    conditionals: Mapping[Any, Floats]  # name -> (n_classes, n_cells)


def class_conditional_model(
    released: Release,
    cells: Mapping[Any, ColumnCells],
    n_rows: float | None,
    discovered: Container[Any],
) -> ClassConditional:
    """Denoise released histograms, column by column.

    Parameters
    ----------
    released : Release
        With a block "columns" of joint histograms.
    cells : mapping of name to cells
        The columns, in the order of the release.
    n_rows : float or None
        Number of rows, if it is public and every row counts.
    discovered : container of names
        Columns whose range is no public knowledge: empty ends of it are left out.
    """
    ends = np.cumsum([column.n_cells for column in cells.values()])[:-1]
    blocks = np.split(released.values["columns"], ends, axis=1)
    totals = class_totals(blocks, n_rows)
    std = released.noise_std["columns"]
    marginals, conditionals = {}, {}
    for (name, column), counts in zip(cells.items(), blocks, strict=True):
        n_ordered = column.n_known if column.is_ordered else 0
        if name in discovered:
            may_cut = column.is_lattice and n_ordered >= SHORTEST
            counts = without_empty_cells(
                counts,
                std,
                n_ordered=n_ordered if may_cut else 0,
                has_missing=column.nullable,
            )
        marginals[name], conditionals[name] = conditional_histogram(
            counts, std, totals, n_ordered=n_ordered
        )
    precision = sum(1.0 / column.n_cells for column in cells.values())
    total_std = std * math.sqrt(len(totals) / precision)
    return ClassConditional(totals, total_std, marginals, conditionals)
