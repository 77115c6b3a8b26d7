"""A look at single values of columns of numbers; those that many rows share."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeGuard

import numpy as np

from skdpgen.privacy import (
    Beforehand,
    Histograms,
    Ledger,
    OneHot,
    release,
    sensitivity,
)
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
ALL_POINTS = 2**24  # of all columns: of a wide table only numbers of fewer digits
USEFUL_STD = 1 / 50  # of the rows: with more noise nothing is looked for


def separate_spikes(
    opening: Opening,
    cells: Mapping[Any, Cells | None],
    least: float,
    looked: Mapping[Any, Points] | None = None,
    sums: Beforehand | None = None,
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
    looked, sums : mapping of name to Points, Beforehand
        What the pass for bins has counted already, under ``Key.POINTS``; rows are read
        only if that does not do.
    """
    wide = {name: known for name, known in cells.items() if _is_wide(name, known)}
    ledger, n_rows = opening.ledger, opening.facts.n_rows
    share, std = _cost(ledger, n_rows, len(wide), ledger.remaining)
    if not wide or std > USEFUL_STD * n_rows:
        return {}
    points = {name: _points(known, len(wide)) for name, known in wide.items()}
    sizes = tuple(one.n_cells for one in points.values())
    batches: Any = opening.rows.batches(points)
    block = Histograms(sizes)
    if sums is not None and looked is not None:
        places = {name: _places(looked.get(name), one) for name, one in points.items()}
        if all(place is not None for place in places.values()):
            batches, block = (), sums.histograms(Key.POINTS, tuple(points), places)
    released = release(
        batches,
        {Key.COLUMNS: block},
        name=f"values of {len(points)} columns",
        ledger=ledger,
        share=share,
    )
    found: dict[Any, Cells] = {}
    std = released.noise_std[Key.COLUMNS]
    for name, counts in by_column(released, points).items():
        how = {"least": 0.5 * least, "n_looks": sum(sizes)}
        spikes = spikes_among(points[name], counts, std, wide[name], **how)
        if len(spikes):
            found[name] = with_spikes(wide[name], spikes)
    return found


def points_to_look_at(
    opening: Opening, cells: Mapping[Any, Cells | None], remaining: float
) -> dict[Any, Points]:
    """Return points that bins, once they are known, may ask for; None if too dear.

    Bins end where the range of a column did, or are cut to less of it, or reach down to
    0, or to the other sign. ``remaining`` of the budget is left after bins.
    """
    wide = {name: known for name, known in cells.items() if _is_wide(name, known)}
    n_rows = opening.facts.n_rows
    if not wide or _cost(opening.ledger, n_rows, 1, remaining)[1] > USEFUL_STD * n_rows:
        return {}
    found = {}
    for name, known in wide.items():
        ranges = [known, *_wider(opening, name, known)]
        values = [_points(one, len(wide)).values for one in ranges]
        found[name] = Points(np.unique(np.concatenate(values)), known.is_time)
    return found


def _wider(opening: Opening, name: Any, cells: NumberCells) -> list[NumberCells]:
    """Return ranges that later releases may give a column instead of its own."""
    lower, upper = float(cells.edges[0]), float(cells.edges[-1])
    half, far = 0.5 * (cells.step or 0.0), max(abs(lower), abs(upper))
    ends = []
    if name in opening.facts.discovered:
        ends.append((min(lower, -half), max(upper, half)))
    if opening.unknown is not None and name in opening.unknown.leaning:
        ends += [(-far, far), (-far / 10, far / 10)]
    return [replace(cells, edges=np.array(pair)) for pair in ends]


def _places(looked: Points | None, asked: Points) -> Any:
    """Return where points are among others; None if some are not."""
    if looked is None:
        return None
    places = np.searchsorted(looked.values, asked.values)
    inside = places < looked.n_cells
    is_there = inside.all() and (looked.values[places] == asked.values).all()
    return places if is_there else None


def _cost(
    ledger: Ledger, n_rows: float, n_columns: int, left: float
) -> tuple[float, float]:
    """Return the share of the budget that a look takes, and its noise."""
    one_each = OneHot(max(n_columns, 1))
    share = left * share_for(one_each, SPIKE_STD * n_rows, ledger, SPIKE_SHARES)
    delta = sensitivity(one_each, ledger.budget.adjacency)
    return share, ledger.noise_std(share=share, sensitivity=delta)


def _is_wide(name: Any, cells: Cells | None) -> TypeGuard[NumberCells]:
    """Say whether a column has more values than the grid of bins has one by one."""
    if not isinstance(cells, NumberCells) or name is TARGET:
        return False
    if cells.step is None:
        return True
    return float(cells.edges[-1] - cells.edges[0]) > 2 * UNIFORM * cells.step


def _points(cells: NumberCells, n_columns: int) -> Points:
    """Return points of so many digits that they are not too many, in all columns."""
    most = min(MOST_POINTS, ALL_POINTS // n_columns)
    every = (Points.within(cells, digits) for digits in DIGITS)
    return next((one for one in every if one.n_cells <= most), Points.within(cells, 1))
