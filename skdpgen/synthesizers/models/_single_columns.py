"""What released histograms say of single columns, given the class."""

from collections.abc import Mapping, Sequence
from typing import Any

from skdpgen.privacy import Release
from skdpgen.synthesizers.opening import Facts, PublicTables
from skdpgen.tables import Cells
from skdpgen.training import ClassConditional, class_conditional_model


def single_columns(
    released: Release,
    cells: Mapping[Any, Cells],
    labels: Cells | None,
    facts: Facts,
    scales: Sequence[float] | None = None,
    public: PublicTables | None = None,
) -> ClassConditional:
    """Denoise histograms of columns; public are the number of rows, and public rows."""
    n_rows = facts.public_total(released.adjacency, labels)
    return class_conditional_model(
        released,
        cells,
        n_rows,
        {*facts.discovered} - {*facts.from_public},
        scales,
        facts.earlier,
        facts.n_rows,
        are_bins=facts.task == "regression",
        public=None if public is None else public.columns,
    )
