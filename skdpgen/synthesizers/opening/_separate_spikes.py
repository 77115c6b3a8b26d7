"""A look at single values of columns of numbers; those that many rows share."""

from collections.abc import Mapping
from typing import Any

from skdpgen.privacy import Histograms, OneHot, release, sensitivity
from skdpgen.synthesizers.opening._context import Opening
from skdpgen.synthesizers.opening._shares import by_column, share_for
from skdpgen.tables import (
    TARGET,
    UNIFORM,
    Cells,
    NumberCells,
    Points,
    spikes_among,
    with_spikes,
)
from skdpgen.utils import Key

SPIKE_SHARES = (0.003, 0.03)  # of mu², at least and at most
SPIKE_STD = 1 / 1000  # of the rows: the noise of a value
DIGITS = 5, 4, 3, 2  # of the values that are looked at
MOST_POINTS = 2**17  # of a column
USEFUL_STD = 1 / 50  # of the rows: with more noise nothing is looked for


def separate_spikes(
    opening: Opening, cells: Mapping[Any, Cells | None], least: float
) -> dict[Any, Cells]:
    """Give values that many rows share a bin of their own, as prices and sums have.

    Every number of few digits in the range of a column is counted: a row is at one
    point of each column at most, so that is one histogram a column, however many points
    there are. If noise would hide what holds a tenth of the rows,
    nothing is released, and nothing paid.

    Parameters
    ----------
    opening : Opening
    cells : mapping of name to Cells or None
        Bins of the columns.
    least : float
        Rows that a bin should have.
    """
    wide = {
        name: known
        for name, known in cells.items()
        if isinstance(known, NumberCells) and name is not TARGET
    }
    wide = {name: known for name, known in wide.items() if _has_many(known)}
    ledger, n_rows = opening.ledger, opening.facts.n_rows
    one_each = OneHot(max(len(wide), 1))
    share = share_for(one_each, SPIKE_STD * n_rows, ledger, SPIKE_SHARES)
    delta = sensitivity(one_each, ledger.budget.adjacency)
    std = ledger.noise_std(share=share * ledger.remaining, sensitivity=delta)
    if not wide or std > USEFUL_STD * n_rows:
        return {}
    points = {name: _points(known) for name, known in wide.items()}
    sizes = tuple(one.n_cells for one in points.values())
    released = release(
        opening.rows.batches(points),
        {Key.COLUMNS: Histograms(sizes)},
        name=f"values of {len(points)} columns",
        ledger=ledger,
        share=share * ledger.remaining,
    )
    found: dict[Any, Cells] = {}
    std = released.noise_std[Key.COLUMNS]
    for name, counts in by_column(released, points).items():
        how = {"least": 0.5 * least, "n_looks": sum(sizes)}
        spikes = spikes_among(points[name], counts, std, wide[name], **how)
        if len(spikes):
            found[name] = with_spikes(wide[name], spikes)
    return found


def _has_many(cells: NumberCells) -> bool:
    """Say whether a column has more values than the grid of bins has one by one."""
    if cells.step is None:
        return True
    return float(cells.edges[-1] - cells.edges[0]) > 2 * UNIFORM * cells.step


def _points(cells: NumberCells) -> Points:
    """Return points of so many digits that they are not too many."""
    every = (Points.within(cells, digits) for digits in DIGITS)
    return next(
        (one for one in every if one.n_cells <= MOST_POINTS), Points.within(cells, 1)
    )
