"""Values that the description of a column does not know: cells that count them.

A row beyond a bound is moved to it, text that cannot be read becomes missing, and so
does a category that is not listed. How many rows that are is released with the parts of
number lines.

*Sensitivity.* A column of text has one more cell on its number line, so a row is still
in one cell of it at most. A column without a number line has a histogram of its own
here, in which a row is in one cell at most and counts ``scale`` there. So a row is a
vector without negative entries, of squared norm n + m scale² at most for n lines and m
other columns (:class:`~skdpgen.privacy.Histograms` with scales): it moves the sum by
the root of that, and by √2 times as much if it is replaced.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from skdpgen.privacy import OneHot, sensitivity
from skdpgen.synthesizers.opening._column_kinds import BLURRED
from skdpgen.synthesizers.opening._context import Opening
from skdpgen.synthesizers.opening._shares import share_for
from skdpgen.synthesizers.opening._unknown_columns import open_words
from skdpgen.tables import (
    NUMBERS,
    TARGET,
    Boolean,
    Categorical,
    CategoryCells,
    Cells,
    Column,
    Datetime,
    Kind,
    MixedCells,
    NumberCells,
    bounds,
    is_written,
    step_of,
)

WATCHED_SHARES = (0.001, 0.01)  # of what is left, where no number line is counted
WATCHED_STD = 1 / 50  # of the rows: the noise that is aimed at there
WATCHED_NORM = 0.1  # of the squared norm of the number lines, where there are some


@dataclass(frozen=True)
class Watched:
    """Cells that count what the description of a column does not know.

    Parameters
    ----------
    grid : Cells
    strange : int or None
        The cell of text that cannot be read, or of categories that are not listed.
    is_number : bool
        Whether the first and the last of the ordered cells are beyond bounds.
    """

    grid: Cells
    strange: int | None
    is_number: bool


def watched_columns(opening: Opening, lines: Mapping[Any, Any]) -> dict[Any, Watched]:
    """Return the described columns without a number line that may hold other values.

    Reads dtypes and the schema alone. A column whose dtype rules out other values, or
    in which they have a cell of the main release, is left out.
    """
    layout: Any = opening.facts.layout
    kinds = dict(zip(layout.names, layout.kinds, strict=True))
    limits = dict(zip(layout.names, layout.limits, strict=True))
    found: dict[Any, Watched] = {}
    for name in opening.known.columns:
        column = opening.facts.columns.get(name)
        kind = kinds.get(name, Kind.FLOAT)
        if column is None or name in lines or kind is Kind.BOOLEAN:
            continue
        if isinstance(column, NUMBERS):
            if not _rules_out(limits.get(name), column):
                found[name] = _beyond(column, has_text=kind is Kind.TEXT)
        elif column.nullable and getattr(column, "other", None) is None:
            found[name] = _unlisted(column)
    return found


def with_strange(opening: Opening, name: Any, grid: NumberCells) -> Cells:
    """Return the cells of a number line, with one for text that cannot be read."""
    layout: Any = opening.facts.layout
    if name is TARGET or layout.kinds[layout.names.index(name)] is not Kind.TEXT:
        return grid
    column = {**opening.known.columns, **opening.known.hints}.get(name)
    if column is None:
        assert opening.unknown is not None
        return _mixed(grid, (), open_words(opening.unknown, name).written)
    return _mixed(grid, getattr(column, "codes", ()), _written(column))


def watched_scale(n_lines: int, n_watched: int) -> float:
    """Return what a row counts in columns without a number line.

    Examples
    --------
    >>> watched_scale(10, 4), watched_scale(0, 3)
    (0.5, 1.0)
    """
    if not n_lines or not n_watched:
        return 1.0
    return min(math.sqrt(WATCHED_NORM * n_lines / n_watched), 1.0)


def watched_share(opening: Opening, n_watched: int) -> float:
    """Return the share of mu² where no number line is counted; 0 if noise hides all."""
    structure, n_rows = OneHot(n_watched), opening.facts.n_rows
    ledger = opening.ledger
    wanted = n_rows * WATCHED_STD
    share = ledger.remaining * share_for(structure, wanted, ledger, WATCHED_SHARES)
    delta = sensitivity(structure, ledger.budget.adjacency)
    std = ledger.noise_std(share=share, sensitivity=delta)
    return share if std <= BLURRED * n_rows else 0.0


def keep_watched(
    opening: Opening,
    watched: Mapping[Any, Watched],
    counts: Mapping[Any, Any],
    std: float,
) -> None:
    """Keep released shares of rows that descriptions do not know.

    Parameters
    ----------
    opening : Opening
    watched : mapping of name to Watched
    counts : mapping of name to ndarray
        RELEASED, in rows.
    std : float
        Of each.
    """
    n_rows = opening.facts.n_rows
    noise = std / n_rows
    for name, one in watched.items():
        shares = counts[name] / n_rows
        if one.is_number:
            last = getattr(one.grid, "n_known", 0) - 1
            ends = float(shares[0]), float(shares[last])
            opening.outside[name] = (*ends, noise, noise)
        if one.strange is not None:
            opening.unread[name] = float(shares[one.strange]), noise


def _rules_out(limits: tuple[float, float] | None, column: Column) -> bool:
    """Say whether a dtype cannot hold a number beyond the bounds of a column."""
    lower, upper = bounds(column)
    return limits is not None and lower <= limits[0] and limits[1] <= upper


def _beyond(column: Column, *, has_text: bool) -> Watched:
    """Return three cells of a column of numbers: below, within and above bounds."""
    lower, upper = bounds(column)
    half = 0.5 * (step_of(column) or 0.0)
    ends = lower - half, max(upper + half, float(np.nextafter(upper, np.inf)))
    edges = np.array([-np.inf, *ends, np.inf])
    is_time = isinstance(column, Datetime)
    grid: Cells = NumberCells(edges, nullable=True, is_time=is_time)
    strange = None
    if has_text:
        codes = getattr(column, "codes", ())
        grid, strange = _mixed(grid, codes, _written(column)), 3  # type: ignore[arg-type]
    return Watched(grid, strange, is_number=True)


def _unlisted(column: Column) -> Watched:
    """Return the cells of categories, and one for those that are not listed."""
    assert isinstance(column, Categorical | Boolean)
    listed = (False, True) if isinstance(column, Boolean) else tuple(column.values)
    mark = _mark(listed)
    grid = CategoryCells((*listed, mark), nullable=True, other=len(listed))
    return Watched(grid, len(listed), is_number=False)


def _mixed(grid: NumberCells, codes: Any, written: Column | None) -> MixedCells:
    """Return number cells with one for other text, and one for each code."""
    numbers = replace(grid, nullable=False)
    named = (_mark(codes), *codes)
    return MixedCells(numbers, named, True, grid.n_known, written)


def _mark(listed: Any) -> str:
    """Return a text that is not listed, whose cell counts all that is not listed."""
    mark, texts = "", set(map(str, listed))
    while mark in texts:
        mark += "?"
    return mark


def _written(column: Column) -> Column | None:
    """Return a column if it says how its text is read."""
    return column if is_written(column) or isinstance(column, Datetime) else None
