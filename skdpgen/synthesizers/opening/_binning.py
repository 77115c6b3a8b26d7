"""Cells of every column; numbers get bins of about equal mass, privately."""

from typing import Any

from skdpgen.privacy import Histograms, OneHot, release, sensitivity
from skdpgen.synthesizers.opening._context import Opening
from skdpgen.synthesizers.opening._unknown_columns import by_column, share_for
from skdpgen.tables import TARGET, Cells, fine_cells, quantile_bins, simple_cells

BIN_SHARES = (0.03, 0.2)  # of mu², at least and at most
BIN_STD = 1 / 24  # of the rows: the noise at which a bin's place is good enough
MAX_LATTICE = 32  # in columns with at most this many values each value is a bin
MAX_BINS = 64
MAX_TARGET_BINS = 16
NOISE_OF_BIN = 4.0  # a bin should hold this many noise stds of rows


def discover_bins(
    opening: Opening, max_bins: int = MAX_BINS
) -> tuple[dict[Any, Cells], Cells | None]:
    """Choose cells of columns and labels from public and released quantities alone.

    Categories, truth values and short lattices are their own cells. Other numbers
    share one joint release of a histogram on a fine grid, whose cells are merged until
    each holds about as many rows as the main release can tell from its noise. A numeric
    target gets few bins: they are the labels of a regression.
    """
    facts, ledger = opening.facts, opening.ledger
    columns, n_rows = facts.columns, facts.n_rows
    opening.step("bins")
    cells: dict[Any, Cells | None] = {
        name: simple_cells(column, MAX_TARGET_BINS if name is TARGET else MAX_LATTICE)
        for name, column in columns.items()
    }
    grids = {name: fine_cells(columns[name]) for name in cells if cells[name] is None}
    if grids:
        share = share_for(len(grids), n_rows * BIN_STD, ledger, BIN_SHARES)
        share *= ledger.remaining
        released = release(
            opening.rows.batches(grids),
            {"columns": Histograms(tuple(g.n_cells for g in grids.values()))},
            name=f"bins of {len(grids)} columns",
            ledger=ledger,
            share=share,
        )
        delta = sensitivity(OneHot(len(columns)), ledger.budget.adjacency)
        noise = ledger.noise_std(share=ledger.remaining, sensitivity=delta)
        mass = max(n_rows / max_bins, NOISE_OF_BIN * noise)
        for name, counts in by_column(released, grids).items():
            least = max(mass, n_rows / MAX_TARGET_BINS) if name is TARGET else mass
            std = released.noise_std["columns"]
            cells[name] = quantile_bins(grids[name], counts, std, least)
    opening.step("histograms")
    labels = cells.pop(TARGET, facts.labels)
    return {name: known for name, known in cells.items() if known is not None}, labels
