"""Cells of every column; numbers get bins of about equal mass, privately."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from skdpgen.privacy import (
    Beforehand,
    Histograms,
    OneHot,
    Release,
    Selections,
    release,
    sensitivity,
    sum_beforehand,
)
from skdpgen.synthesizers.opening._codes import as_codes, may_be_codes
from skdpgen.synthesizers.opening._context import Opening
from skdpgen.synthesizers.opening._public_rows import count_public
from skdpgen.synthesizers.opening._separate_spikes import (
    points_to_look_at,
    separate_spikes,
)
from skdpgen.synthesizers.opening._shares import by_column, share_for
from skdpgen.tables import (
    TARGET,
    UNIFORM,
    Cells,
    Column,
    ImageLayout,
    Kind,
    Layout,
    NumberCells,
    Points,
    bounds,
    fine_cells,
    is_far_from_zero,
    mirrored,
    quantile_bins,
    simple_cells,
    trimmed,
    within,
)
from skdpgen.utils import Key

BIN_SHARES = (0.03, 0.2)  # of mu², at least and at most
BIN_STD = 1 / 24  # of the rows: the noise at which a bin's place is good enough
PLACE_STD = 1 / 60  # and at which a range far from zero is found
MAX_LATTICE = 32  # columns with at most so many values are their own bins
MAX_BINS = 64
MAX_TARGET_BINS = 16
NOISE_OF_BIN = 4.0  # a bin should hold this many noise stds of rows
MIRRORED = 0.2  # of the rows are beyond 0: a sign was missed
LEFT_OUT, SURE = 0.05, 3.0  # of the rows, and noise stds: a bound is wrong
FINER = 1024  # uniform cells of a range whose place is not known well


def discover_bins(
    opening: Opening, max_bins: int = MAX_BINS
) -> tuple[dict[Any, Cells], Cells | None]:
    """Choose cells of columns and labels from public and released quantities alone.

    Categories, truth values and short lattices are their own cells. Other numbers
    share one joint release of a histogram on a fine grid, whose cells are merged to
    hold about as many rows as the main release can tell from its noise; a range that
    was discovered far from zero is cut to where they are. Whole numbers with few
    values are looked at value by value beside, and may turn out to be codes. A numeric
    target gets few bins: they are the labels of a regression.
    """
    opening.step("bins")
    columns = opening.facts.columns
    cells: dict[Any, Cells | None] = {
        name: simple_cells(column, MAX_TARGET_BINS if name is TARGET else MAX_LATTICE)
        for name, column in columns.items()
    }
    grids = {
        name: _fine_grid(columns[name], is_discovered=name in opening.facts.discovered)
        for name in cells
        if cells[name] is None
    }
    if grids:
        codes = tuple(n for n in grids if _may_be_codes(opening, n))
        share = _share_of_grids(opening, grids, codes)
        left = opening.ledger.remaining * (1.0 - share)
        ranges = {n: inside_of(grids[n]) if n in grids else cells[n] for n in cells}
        looked = points_to_look_at(opening, ranges, left)
        sums = _sum_grids(opening, grids, codes, looked)
        released = _release_grids(opening, sums, grids, codes, share)
        std = released.noise_std[Key.COLUMNS]
        counts = _inside(opening, grids, by_column(released, grids), std)
        cells |= _bins(opening, grids, counts, std, max_bins)
        cells |= _codes(opening, grids, counts, released)
        cells |= separate_spikes(
            opening, cells, _least_mass(opening, max_bins), looked, sums
        )
    opening.settle(cells)
    opening.step("histograms")
    labels = cells.pop(TARGET, opening.facts.labels)
    return {name: known for name, known in cells.items() if known is not None}, labels


def _may_be_codes(opening: Opening, name: Any) -> bool:
    """Say whether values are looked at one by one; text may write one in many ways."""
    return (
        opening.unknown is not None
        and name in opening.unknown.few
        and opening.known.kinds[name] is not Kind.TEXT
        and may_be_codes(opening.facts.columns[name])
    )


def _fine_grid(column: Column, *, is_discovered: bool) -> NumberCells:
    """Return a grid fine enough for what is known of a column's range.

    One more cell at each end counts what is outside its bounds.
    """
    is_unsure = is_discovered and is_far_from_zero(column)
    return fine_cells(column, FINER if is_unsure else UNIFORM).with_outside()


def inside_of(grid: NumberCells) -> NumberCells:
    """Return a grid without the cells that count what is outside."""
    return replace(grid, edges=grid.edges[1:-1])


def _inside(
    opening: Opening,
    grids: dict[Any, NumberCells],
    counts: dict[Any, Any],
    std: float,
) -> dict[Any, Any]:
    """Keep what was counted outside the bounds, and leave it out of what was inside."""
    facts, outside = opening.facts, {}
    for name in grids:
        known = counts[name][: grids[name].n_known]
        below, above = (float(known[end] / facts.n_rows) for end in (0, -1))
        outside[name] = below, above, float(std / facts.n_rows)
        counts[name] = np.concatenate([known[1:-1], counts[name][len(known) :]])
        grids[name] = inside_of(grids[name])
    opening.keep(_outside=outside)
    opening.outside = outside
    return counts


def _share_of_grids(
    opening: Opening, grids: Mapping[Any, NumberCells], codes: tuple[Any, ...]
) -> float:
    """Return the part of what is left that bins get, and values that may be codes."""
    is_unsure = any(grid.n_known >= FINER for grid in grids.values())
    wanted = opening.facts.n_rows * (PLACE_STD if is_unsure else BIN_STD)
    structure = OneHot(len(grids) + len(codes))
    return share_for(structure, wanted, opening.ledger, BIN_SHARES)


def _sum_grids(
    opening: Opening,
    grids: Mapping[Any, NumberCells],
    codes: tuple[Any, ...],
    looked: Mapping[Any, Points],
) -> Beforehand | None:
    """Go over the rows once: for bins, for codes, and for what is asked after bins."""
    blocks: dict[str, Any] = {Key.COLUMNS: _histograms(grids)}
    if codes:
        blocks[Key.TOKENS] = Selections(codes)
    if looked:
        blocks[Key.POINTS] = _histograms(looked)
    columns = {Key.COLUMNS: tuple(grids), Key.POINTS: tuple(looked)}
    batches = opening.rows.batches(grids, tokens=codes, points=looked)
    return sum_beforehand(batches, blocks, columns)


def _histograms(grids: Mapping[Any, Any]) -> Histograms:
    return Histograms(tuple(grid.n_cells for grid in grids.values()))


def _release_grids(
    opening: Opening,
    sums: Beforehand | None,
    grids: Mapping[Any, NumberCells],
    codes: tuple[Any, ...],
    share: float,
) -> Release:
    """Release the fine histograms, and beside them values that may be codes."""
    batches: Any = ()
    blocks: dict[str, Any] = {}
    if sums is None:
        batches = opening.rows.batches(grids, tokens=codes)
        blocks[Key.COLUMNS] = _histograms(grids)
    else:
        blocks[Key.COLUMNS] = sums.histograms(Key.COLUMNS, tuple(grids))
    if codes:
        blocks[Key.TOKENS] = (
            sums.selections(Key.TOKENS, codes) if sums else Selections(codes)
        )
    return release(
        batches,
        blocks,
        name=f"bins of {len(grids)} columns",
        ledger=opening.ledger,
        share=share * opening.ledger.remaining,
    )


def _bins(
    opening: Opening,
    grids: Mapping[Any, NumberCells],
    counts: Mapping[Any, Any],
    std: float,
    max_bins: int,
) -> dict[Any, NumberCells]:
    """Merge fine cells; ranges that turn out narrower are kept so."""
    facts, mass = opening.facts, _least_mass(opening, max_bins)
    cells: dict[Any, NumberCells] = {}
    for name, grid in grids.items():
        column, known = facts.columns[name], counts[name]
        if name in facts.discovered and is_far_from_zero(column):
            there = facts.n_rows * (1.0 - sum(opening.outside[name][:2]))
            there -= float(known[grid.n_known :].sum())
            grid, known = trimmed(grid, known, std, there)
            opening.correct(name, within(column, grid))
        elif name in facts.discovered:
            most = max(LEFT_OUT * facts.n_rows, SURE * std)
            grid, known = _down_to_zero(opening, name, grid, known, most)
        least = max(mass, facts.n_rows / MAX_TARGET_BINS) if name is TARGET else mass
        expected = _expected(opening, name, grid)
        missing = float(known[grid.n_known :].sum())
        total = max(facts.n_rows - max(missing, 0.0), SURE * std)
        cells[name] = quantile_bins(grid, known, std, least, expected, total)
        if _has_both_signs(opening, name, std):
            cells[name] = mirrored(cells[name])
            opening.correct(name, within(column, cells[name]))
    return cells


def _least_mass(opening: Opening, max_bins: int) -> float:
    """Return how many rows a bin should have."""
    facts, ledger = opening.facts, opening.ledger
    delta = sensitivity(OneHot(len(facts.columns)), ledger.budget.adjacency)
    noise = ledger.noise_std(share=ledger.remaining, sensitivity=delta)
    return max(facts.n_rows / max_bins, NOISE_OF_BIN * noise)


def _expected(opening: Opening, name: Any, grid: NumberCells) -> Any:
    """Return the counts of public rows on a grid; None if there are none."""
    public = opening.public
    if public is None or (name is TARGET and not public.has_labels):
        return None
    counted = count_public(public, {name: grid}, None)
    return None if counted is None else counted.columns[name][0]


def _has_both_signs(opening: Opening, name: Any, std: float) -> bool:
    """Say whether many rows are beyond 0, of a column that leans to both signs."""
    if opening.unknown is None or name not in opening.unknown.leaning:
        return False
    below, above = opening.outside[name][:2]
    lower, upper = bounds(opening.facts.columns[name])
    least = max(MIRRORED, SURE * std / opening.facts.n_rows)
    return (lower >= 0 and below > least) or (upper <= 0 and above > least)


def _down_to_zero(
    opening: Opening, name: Any, grid: NumberCells, counts: Any, most: float
) -> tuple[NumberCells, Any]:
    """Add a cell between a bound and 0 if too many rows turned out to be there."""
    lower, upper = float(grid.edges[0]), float(grid.edges[-1])
    below, above = (part * opening.facts.n_rows for part in opening.outside[name][:2])
    step = 0.5 * (grid.step or 0.0)
    if lower > step and below > most:
        edges, counts = np.insert(grid.edges, 0, -step), np.insert(counts, 0, below)
    elif upper < -step and above > most:
        edges = np.append(grid.edges, step)
        counts = np.insert(counts, grid.n_known, above)
    else:
        return grid, counts
    grid = replace(grid, edges=edges)
    opening.correct(name, within(opening.facts.columns[name], grid))
    return grid, counts


def _codes(
    opening: Opening,
    grids: Mapping[Any, NumberCells],
    counts: Mapping[Any, Any],
    released: Release,
) -> dict[Any, Cells]:
    """Return the cells of columns whose values turned out to be codes."""
    cells: dict[Any, Cells] = {}
    for name, found in released.values.get(Key.TOKENS, {}).items():
        column, std = opening.facts.columns[name], released.noise_std[Key.TOKENS]
        missing = float(counts[name][grids[name].n_known :].sum())
        lowest = _lowest(opening.facts.layout, name)
        codes = as_codes(column, found, opening.facts.n_rows - missing, std, lowest)
        known = codes and simple_cells(codes, MAX_LATTICE)
        if codes and known:
            opening.correct(name, codes)
            opening.seen[name] = found, std
            cells[name] = known
    return cells


def _lowest(layout: Layout | ImageLayout, name: Any) -> float:
    """Return the least number that the dtype of a column can hold."""
    assert isinstance(layout, Layout)
    limits = layout.limits[layout.names.index(name)]
    return -math.inf if limits is None else limits[0]
