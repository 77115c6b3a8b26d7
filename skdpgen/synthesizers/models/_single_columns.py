"""What released histograms say of single columns, given the class."""

from collections.abc import Mapping, Sequence
from typing import Any

from skdpgen.privacy import Release
from skdpgen.synthesizers.opening import Facts
from skdpgen.tables import Cells
from skdpgen.training import ClassConditional, class_conditional_model


def single_columns(
    released: Release,
    cells: Mapping[Any, Cells],
    labels: Cells | None,
    facts: Facts,
    scales: Sequence[float] | None = None,
) -> ClassConditional:
    """Denoise histograms of columns; only the number of rows is taken as public."""
    n_rows = facts.public_total(released.adjacency, labels)
    return class_conditional_model(
        released,
        cells,
        n_rows,
        facts.discovered,
        scales,
        facts.earlier,
        facts.n_rows,
        are_bins=facts.task == "regression",
    )
