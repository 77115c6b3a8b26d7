"""Choose the cells of every column; two more releases refine the number lines."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from skdpgen.privacy import (
    Adjacency,
    ClippedCounts,
    Histograms,
    Ledger,
    NonNegative,
    OneHot,
    release,
    sensitivity,
    shortened,
)
from skdpgen.synthesizers.opening._first_look import (
    BLURRED_STD,
    LOOK_SHARES,
    PIXEL_SHARES,
    by_column,
    pixel_share,
    share_for,
)
from skdpgen.synthesizers.opening._known_columns import CLASS_SHARE, Known
from skdpgen.synthesizers.opening._opening import Opening
from skdpgen.synthesizers.opening._public_columns import CHECK_SHARES
from skdpgen.synthesizers.opening._public_rows import count_public
from skdpgen.synthesizers.opening._unknown_columns import (
    COUNT_SHARE,
    FINER_PART,
    MOST_FOR_DISCOVERY,
    PARTS_PART,
    PLAUSIBLE_CODES,
    discovery_share,
    open_words,
)
from skdpgen.tables import (
    FINE_PARTS,
    NUMBERS,
    TARGET,
    Asked,
    Boolean,
    Categorical,
    CategoryCells,
    Cells,
    Column,
    Datetime,
    Integer,
    Kind,
    Line,
    MixedCells,
    NumberCells,
    Numeric,
    OpenWords,
    asked_cells,
    bins_between,
    bins_of,
    bounds,
    divided,
    divided_again,
    form_of_column,
    is_settled,
    is_written,
    joined_gaps,
    joined_parts,
    line_between,
    outside_of,
    refined,
    simple_cells,
    smoothed,
    step_of,
    summary_of,
    with_codes,
    with_hint,
    without_outer_gaps,
    worth_dividing,
)
from skdpgen.utils import (
    Key,
)

# ----------------------------------------------------------------------------
# Cells that count values outside the description of a column.
#
# A value outside the bounds is clipped to them. Unreadable text and categories that
# are not listed become missing. The release of parts counts such rows.
#
# *Sensitivity.* A column of text has one more cell on its number line, so a row is
# still in at most one cell of it. A watched column has a histogram of its own. A row
# is in at most one of its cells and counts `scale` there. For n lines and m watched
# columns a row is therefore a non-negative vector with a squared norm of at most
# n + m scale² (`skdpgen.privacy.Histograms` with scales). Adding a row changes the sum
# by the root of that, replacing a row by √2 times as much.

# Budget fraction of a release that counts watched columns only: least and most.
WATCHED_SHARES = (0.001, 0.01)
WATCHED_STD = 1 / 50  # target noise std of that release, as a fraction of the rows
# Norm fraction of watched columns that are counted together with number lines.
WATCHED_NORM = 0.1


@dataclass(frozen=True)
class Watched:
    """Cells that count values outside the description of a column.

    Parameters
    ----------
    grid : Cells
    unread : int or None
        Index of the cell of unreadable text or of categories that are not listed.
    is_number : bool
        Whether the first and the last ordered cell are outside the bounds.
    """

    grid: Cells
    unread: int | None
    is_number: bool


def watched_columns(opening: Opening, lines: Mapping[Any, Any]) -> dict[Any, Watched]:
    """Return the described columns, without a number line, that need a watch.

    Reads dtypes and the schema only. A column is left out if its dtype excludes other
    values, or if the main release counts them in a cell of their own.
    """
    layout: Any = opening.facts.layout
    kinds = dict(zip(layout.names, layout.kinds, strict=True))
    limits = dict(zip(layout.names, layout.limits, strict=True))
    watched: dict[Any, Watched] = {}
    for name in opening.known.columns:
        column = opening.facts.columns.get(name)
        kind = kinds.get(name, Kind.FLOAT)
        if column is None or name in lines or kind is Kind.BOOLEAN:
            continue
        if isinstance(column, NUMBERS):
            if not _rules_out(limits.get(name), column):
                watched[name] = _watched_numbers(column, has_text=kind is Kind.TEXT)
        elif column.nullable and getattr(column, "other", None) is None:
            watched[name] = _watched_categories(column)
    return watched


def with_unread_text(opening: Opening, name: Any, grid: NumberCells) -> Cells:
    """Return the cells of a number line; text columns get one for unreadable text."""
    layout: Any = opening.facts.layout
    if name is TARGET or layout.kinds[layout.names.index(name)] is not Kind.TEXT:
        return grid
    column = {**opening.known.columns, **opening.known.hints}.get(name)
    if name in opening.facts.from_public:
        column = opening.facts.columns[name]
    if column is None:
        assert opening.unknown is not None
        return _with_text_cells(grid, (), open_words(opening.unknown, name).written)
    return _with_text_cells(grid, getattr(column, "codes", ()), _text_format(column))


def watched_scale(n_lines: int, n_watched: int) -> float:
    """Return the weight of a row in each watched column.

    Examples
    --------
    >>> watched_scale(10, 4), watched_scale(0, 3)
    (0.5, 1.0)
    """
    if not n_lines or not n_watched:
        return 1.0
    return min(math.sqrt(WATCHED_NORM * n_lines / n_watched), 1.0)


def watched_share(opening: Opening, n_watched: int) -> float:
    """Return the share of mu² for watched columns alone.

    It is 0 if noise would hide the counts: then there is no release.
    """
    structure, n_rows = OneHot(n_watched), opening.facts.n_rows
    ledger = opening.ledger
    target_std = n_rows * WATCHED_STD
    share = ledger.remaining * share_for(structure, target_std, ledger, WATCHED_SHARES)
    delta = sensitivity(structure, ledger.budget.adjacency)
    std = ledger.noise_std(share=share, sensitivity=delta)
    return share if std <= BLURRED_STD * n_rows else 0.0


def keep_watched(
    opening: Opening,
    watched: Mapping[Any, Watched],
    counts: Mapping[Any, Any],
    std: float,
) -> None:
    """Store the released shares of rows outside the descriptions.

    Parameters
    ----------
    opening : Opening
    watched : mapping of name to Watched
    counts : mapping of name to ndarray
        RELEASED counts in rows.
    std : float
        Noise of each count.
    """
    n_rows = opening.facts.n_rows
    noise = std / n_rows
    for name, cells in watched.items():
        shares = counts[name] / n_rows
        if cells.is_number:
            last = getattr(cells.grid, "n_known", 0) - 1
            ends = float(shares[0]), float(shares[last])
            opening.outside[name] = (*ends, noise, noise)
        if cells.unread is not None:
            opening.unread[name] = float(shares[cells.unread]), noise


def _rules_out(limits: tuple[float, float] | None, column: Column) -> bool:
    """Return whether a dtype holds no number outside the bounds of a column."""
    lower, upper = bounds(column)
    return limits is not None and lower <= limits[0] and limits[1] <= upper


def _watched_numbers(column: Column, *, has_text: bool) -> Watched:
    """Return three cells of a numeric column: below, within and above the bounds."""
    lower, upper = bounds(column)
    half = 0.5 * (step_of(column) or 0.0)
    given = column.seconds if isinstance(column, Datetime) else (lower, upper)
    last = max(upper + half, float(np.nextafter(given[1], np.inf)))
    ends = min(lower - half, given[0]), last
    edges = np.array([-np.inf, *ends, np.inf])
    is_time = isinstance(column, Datetime)
    grid: Cells = NumberCells(edges, nullable=True, is_time=is_time)
    unread = None
    if has_text:
        codes = getattr(column, "codes", ())
        grid, unread = _with_text_cells(grid, codes, _text_format(column)), 3  # type: ignore[arg-type]
    return Watched(grid, unread, is_number=True)


def _watched_categories(column: Column) -> Watched:
    """Return the cells of the categories, and one for all others."""
    assert isinstance(column, Categorical | Boolean)
    categories = (False, True) if isinstance(column, Boolean) else tuple(column.values)
    mark = _unlisted_text(categories)
    grid = CategoryCells((*categories, mark), nullable=True, other=len(categories))
    return Watched(grid, len(categories), is_number=False)


def _with_text_cells(
    grid: NumberCells, codes: Any, written: Column | None
) -> MixedCells:
    """Return number cells, one cell for unreadable text, and one for each code."""
    numbers = replace(grid, nullable=False)
    texts = (_unlisted_text(codes), *codes)
    return MixedCells(numbers, texts, True, grid.n_known, written)


def _unlisted_text(listed: Any) -> str:
    """Return a text that is not listed; its cell counts all unlisted values."""
    mark, texts = "", set(map(str, listed))
    while mark in texts:
        mark += "?"
    return mark


def _text_format(column: Column) -> Column | None:
    """Return the column if it describes how its text is read, else None."""
    return column if is_written(column) or isinstance(column, Datetime) else None


# ----------------------------------------------------------------------------
# Cells of every column: two more releases refine the number lines.

BIN_SHARES = (0.03, 0.2)  # of mu², at least and at most, where bounds are public
BIN_STD = 1 / 24  # noise std, as a fraction of the rows, that places bins well enough
FINER_SHARES, FINER_STD = (0.01, 0.05), 1 / 200  # the same for finer parts
# Rows of a part between public bounds on average, in noise stds.
PART_STDS, FINE_PART_STDS = 4.0, 0.5
FEWEST_FINE_PARTS = 32  # of a cell between public bounds
MAX_LATTICE = 32  # a column with at most this number of values needs no bins
MAX_BINS = 64
MAX_TARGET_BINS = 16
NOISE_OF_BIN = 4.0  # rows that a bin should hold, in noise stds
MOST_FINER_CELLS, FEWEST_FINER_PARTS = 2**21, 16  # of all cells; of a cell
FEWEST_OPEN = 1.0  # least squared norm limit: below 1, each row would be clipped


def discover_bins(
    opening: Opening, max_bins: int = MAX_BINS, *, gap_share: float | None = None
) -> tuple[dict[Any, Cells], Cells | None]:
    """Choose the cells of columns and labels from public and released values only.

    Each category, truth value or value of a short lattice is a cell. Other numbers have
    a number line. The release of parts counts its parts. The release of finer parts
    divides those that hold many rows, and names words that have no name yet. The cells
    are then merged: each should hold enough rows to exceed the noise of the main
    release.

    Parameters
    ----------
    opening : Opening
    max_bins : int, default=MAX_BINS
    gap_share : float or None, default=None
        If given, the empty ends of a number line are cells of their own, and rows are
        drawn there if their counts exceed the noise. The method counts these cells
        without classes with about this part of the remaining mu²: the larger, the more
        cells. None: they join the end cells.
    """
    opening.step("bins")
    columns = opening.facts.columns
    cells: dict[Any, Cells | None] = {
        name: None
        if name in opening.lines
        else simple_cells(column, MAX_TARGET_BINS if name is TARGET else MAX_LATTICE)
        for name, column in columns.items()
    }
    bounded = {
        name: columns[name]
        for name in cells
        if cells[name] is None and name not in opening.lines
    }
    second = _release_parts(opening, bounded)
    cells |= _release_finer_parts(opening, second, max_bins, gap_share)
    for name, column in opening.facts.columns.items():  # words may have been named
        if isinstance(column, Categorical) and name in opening.seen:
            cells[name] = simple_cells(column, MAX_LATTICE)
    for name, column in opening.facts.columns.items():
        without_codes = cells[name]
        if without_codes is not None:
            cells[name] = with_codes(column, without_codes)
    opening.settle(cells)
    opening.step("histograms")
    labels = cells.pop(TARGET, opening.facts.labels)
    return {name: grid for name, grid in cells.items() if grid is not None}, labels


def _release_parts(opening: Opening, bounded: Mapping[Any, Column]) -> dict[Any, Line]:
    """Count the parts of number lines; a row is in one cell of each column.

    A column whose octaves hold single values is settled. It is not counted again and
    uses none of the privacy budget.
    """
    settled = {n: joined_gaps(x) for n, x in opening.lines.items() if is_settled(x)}
    lines = {n: line for n, line in opening.lines.items() if n not in settled}
    n_lines = len(lines) + len(bounded)
    watched = watched_columns(opening, {**opening.lines, **bounded})
    if n_lines:
        share = _share_of_parts(opening, n_lines)
    elif watched and opening.rows.are_here:  # parties get no extra round for this
        share = watched_share(opening, len(watched))
    else:
        share = 0.0
    if not share:
        return settled
    n_watched, scale = len(watched), watched_scale(n_lines, len(watched))
    scales = (*(1.0,) * n_lines, *(scale,) * n_watched) if n_watched else None
    # The noise decides how many parts an octave gets, so its std is computed before the
    # cells. It depends on the number of columns only, so one cell each is enough here.
    structure = Histograms((1,) * (n_lines + n_watched), scales).structure
    delta = sensitivity(structure, opening.ledger.budget.adjacency)
    std = opening.ledger.noise_std(share=share, sensitivity=delta)
    counted = {name: divided(line, std) for name, line in lines.items()}
    most_parts = opening.facts.n_rows / (PART_STDS * std) if std else math.inf
    public_lines = {n: line_between(c, most_parts) for n, c in bounded.items()}
    counted |= public_lines
    line_grids = {
        n: with_unread_text(opening, n, line.grid) for n, line in counted.items()
    }
    cut_scale = shortened(scale)  # rounded: the weight that the release really uses
    grids = line_grids | {name: cells.grid for name, cells in watched.items()}
    parts = [f"parts of {n_lines} number lines"] if n_lines else []
    parts += [f"values that {n_watched} schema columns lack"] if n_watched else []
    released = release(
        opening.rows.batches(grids),
        {Key.COLUMNS: Histograms(tuple(g.n_cells for g in grids.values()), scales)},
        name=", ".join(parts),
        ledger=opening.ledger,
        share=share,
    )
    std = released.noise_std[Key.COLUMNS]
    estimates: dict[Any, Line] = {}
    column_counts = by_column(released, grids)
    for name, line in counted.items():
        counts = column_counts[name][: line.n_cells]
        if name in public_lines:
            variances = np.full(line.n_cells, std**2)
            estimates[name] = replace(line, counts=counts, variances=variances)
        else:
            estimates[name] = refined(opening.lines[name], line, counts, std**2)
    n_rows = opening.facts.n_rows
    outside = {
        name: tuple(float(estimates[name].counts[k] / n_rows) for k in (0, -1))
        for name in public_lines
    }
    noise = std / n_rows
    opening.outside = {name: (*ends, noise, noise) for name, ends in outside.items()}
    opening.unread = {
        name: (float(column_counts[name][line.n_cells]) / n_rows, noise)
        for name, line in counted.items()
        if isinstance(grids[name], MixedCells)
    }
    watched_counts = {name: column_counts[name] / cut_scale for name in watched}
    keep_watched(opening, watched, watched_counts, std / cut_scale)
    return estimates | settled


def _share_of_parts(opening: Opening, n_columns: int) -> float:
    """Return the share of mu² for the release of parts.

    With discovered columns it is a part of the discovery budget, and at most half of
    the rest. With public bounds only, it aims at the noise ``BIN_STD``.
    """
    remaining, n_rows = opening.ledger.remaining, opening.facts.n_rows
    if opening.lines:
        assert opening.unknown is not None
        whole = discovery_share(opening.unknown, n_rows, opening.ledger)
        return min(PARTS_PART * whole * _unsettled_part(opening), 0.5 * remaining)
    target_std = n_rows * BIN_STD
    return remaining * share_for(
        OneHot(n_columns), target_std, opening.ledger, BIN_SHARES
    )


def _unsettled_part(opening: Opening) -> float:
    """Return the factor by which settled columns lower the budget of a release.

    The square root shares the gain: fewer columns also mean less noise.
    """
    assert opening.unknown is not None
    n_settled = sum(map(is_settled, opening.lines.values()))
    return math.sqrt(1.0 - n_settled / max(len(opening.unknown), n_settled + 1))


def _release_finer_parts(
    opening: Opening,
    second: dict[Any, Line],
    max_bins: int,
    gap_share: float | None,
) -> dict[Any, Cells | None]:
    """Count parts of the cells that hold many rows, and name words."""
    share = _share_of_finer_parts(opening, len(second))
    is_divided, words, limit = _cells_to_divide(opening, second, share)
    max_parts = MOST_FINER_CELLS // max(
        sum(int(found.sum()) for found in is_divided.values()), 1
    )
    n_parts = min(max(max_parts, FEWEST_FINER_PARTS), FINE_PARTS)
    is_plain = not opening.lines and not words  # with a public schema
    squared = float(max(len(is_divided), 1)) if is_plain else limit
    between_bounds = min(n_parts, _most_fine_parts(opening, squared, share))
    fine = {}
    for name, flags in is_divided.items():
        most = n_parts if name in opening.lines else between_bounds
        fine[name] = divided_again(second[name], flags, most)
    grids: dict[Any, Any] = {
        name: asked_cells(second[name], fine[name], is_divided[name])
        for name in is_divided
    }
    counts: dict[Any, Any] = {}
    std = 0.0
    if grids and is_plain:
        released = release(
            opening.rows.batches(grids),
            {Key.COLUMNS: Histograms(tuple(g.n_cells for g in grids.values()))},
            name=f"parts of {len(grids)} columns",
            ledger=opening.ledger,
            share=share,
        )
        std, counts = released.noise_std[Key.COLUMNS], by_column(released, grids)
    elif grids or words:  # a row counts in few cells: clip it to its squared norm
        sizes = tuple(grid.n_cells for grid in grids.values())
        released = release(
            opening.rows.batches({}, asked=Asked(grids, words)),
            {Key.OPEN: ClippedCounts(sizes, tuple(words), limit, PLAUSIBLE_CODES)},
            name=f"parts of {len(grids)} columns, words of {len(words)}",
            ledger=opening.ledger,
            share=share,
        )
        std = released.noise_std[Key.OPEN]
        found = released.values[Key.OPEN]
        ends = np.cumsum(sizes)[:-1]
        parts = np.split(found["cells"][0], ends) if grids else []
        counts = dict(zip(grids, parts, strict=True))
        _name_words(opening, found["words"])
    cells: dict[Any, Cells | None] = {}
    for name, line in second.items():
        finest = line
        if name in grids:
            finest = joined_parts(line, fine[name], grids[name], counts[name], std)
        else:
            finest = replace(line, families=np.arange(line.n_cells))
        cells[name] = _merged_cells(opening, name, line, finest, max_bins, gap_share)
    return cells


def _most_fine_parts(opening: Opening, squared: float, share: float) -> int:
    """Return how many parts of a cell between public bounds the noise lets one see.

    ``squared`` is the squared norm of a row in the release, which has no negative part.

    Bounds may be far wider than the values, which are then in few of these parts. In
    many parts, noise would hide them.
    """
    ledger = opening.ledger
    delta = sensitivity(NonNegative(math.sqrt(squared)), ledger.budget.adjacency)
    noise = ledger.noise_std(share=share, sensitivity=delta)
    if not noise:
        return FINE_PARTS
    most = opening.facts.n_rows / (FINE_PART_STDS * noise)
    return int(min(max(most, FEWEST_FINE_PARTS), FINE_PARTS))


def _share_of_finer_parts(opening: Opening, n_lines: int) -> float:
    """Return the share of mu² for finer parts, as :func:`_share_of_parts` does."""
    remaining, n_rows = opening.ledger.remaining, opening.facts.n_rows
    if opening.unknown is not None and len(opening.unknown):
        whole = discovery_share(opening.unknown, n_rows, opening.ledger)
        return min(FINER_PART * whole * _unsettled_part(opening), 0.5 * remaining)
    target_std = n_rows * FINER_STD
    return remaining * share_for(
        OneHot(max(n_lines, 1)), target_std, opening.ledger, FINER_SHARES
    )


def _cells_to_divide(
    opening: Opening, second: dict[Any, Line], share: float
) -> tuple[dict[Any, Any], dict[Any, OpenWords], float]:
    """Return the cells to divide, the words to name, and the squared norm of a row.

    The norm limit is the average number of counted cells and words of a row; a row
    with more is scaled down. A lower limit means less noise, and less noise makes more
    cells worth dividing, so a few rounds compute it. Reads RELEASED counts only.
    """
    ledger, n_rows = opening.ledger, opening.facts.n_rows
    words, word_rows = _words_to_name(opening)
    limit = float(len(second) + len(words))
    is_divided: dict[Any, Any] = {}
    for _ in range(4):
        limit = max(limit, FEWEST_OPEN)
        structure = NonNegative(math.sqrt(limit))
        delta = sensitivity(structure, ledger.budget.adjacency)
        std = ledger.noise_std(share=share, sensitivity=delta)
        is_divided, places = {}, word_rows
        for name, line in second.items():
            flags = worth_dividing(line, std)
            if flags.any():
                is_divided[name] = flags
                places += float(line.counts[flags].sum())
        limit = min(places / max(n_rows, 1.0), float(len(is_divided) + len(words)))
    return is_divided, words, max(limit, FEWEST_OPEN)


def _words_to_name(opening: Opening) -> tuple[dict[Any, OpenWords], float]:
    """Return the columns that may have unnamed words, and the number of their rows.

    They add little to the norm: a row counts only where its word has no name.
    """
    unknown, words, rows = opening.unknown, {}, 0.0
    if unknown is None:
        return {}, 0.0
    n_rows = opening.facts.n_rows
    for name in unknown.texts:
        counts, _ = opening.seen[name]
        unnamed = n_rows - sum(counts.values()) - unknown.not_words.get(name, 0.0)
        words[name] = open_words(unknown, name, counts)
        rows += min(max(unnamed, 0.0), n_rows)
    for name, estimate in unknown.beside.items():
        words[name] = open_words(unknown, name)
        rows += min(estimate, n_rows)
    return words, rows


def _name_words(
    opening: Opening, released_words: Mapping[Any, Mapping[str, float]]
) -> None:
    """Add words that were released beside finer parts to their columns."""
    for name, words in released_words.items():
        column = opening.facts.columns[name]
        if isinstance(column, Categorical):
            listed = sorted({*map(str, column.categories or ()), *words})
            opening.correct(name, replace(column, categories=listed))
        else:
            opening.named[name] = tuple(sorted(words))


def _merged_cells(
    opening: Opening,
    name: Any,
    coarse: Line,
    fine: Line,
    max_bins: int,
    gap_share: float | None,
) -> Cells:
    """Merge the cells of a number line, and describe the column in the schema."""
    facts, unknown = opening.facts, opening.unknown
    column, mass = facts.columns[name], _least_mass(opening, max_bins)
    is_known = name not in opening.lines
    if name is TARGET:
        mass = max(mass, facts.n_rows / MAX_TARGET_BINS)
    rows = smoothed(coarse, fine, _public_counts(opening, name, fine))
    if is_known:
        cells = bins_between(fine, rows, mass, nullable=column.nullable)
        if gap_share is None or name is TARGET:
            if opening.public is None:  # an end cell tells public rows there apart
                cells = without_outer_gaps(cells)
            cells = replace(cells, gaps=())
        return cells
    nullable = _may_be_missing(opening, name)
    has_gaps = name is not TARGET
    # Where octaves account for all rows, no rows are expected outside. Gaps of many
    # cells would only add noise to the main release.
    later_noise = math.inf
    if gap_share and not is_settled(opening.lines[name]):
        later_noise = _class_noise(opening, gap_share)
    cells = bins_of(
        fine,
        rows,
        mass,
        nullable=nullable,
        has_gaps=has_gaps,
        later_noise=later_noise,
    )
    if gap_share is None:
        cells = replace(without_outer_gaps(cells), gaps=())
    *outside, below, above = outside_of(fine, cells)
    n_rows = facts.n_rows
    opening.outside[name] = tuple(x / n_rows for x in (*outside, below, above))
    assert unknown is not None
    kind = unknown.numbers[name]
    described: Any = summary_of(cells, kind, nullable=nullable)
    if name in unknown.written:
        described = with_hint(described, unknown.written[name])
    elif name in unknown.parsed and kind is not Kind.DATETIME:
        described = replace(described, parse=True)
    if name in opening.known.hints:
        described = with_hint(described, opening.known.hints[name])
    if name in unknown.pointed and isinstance(described, Integer):
        described = _with_point(described)
    codes = opening.named.get(name, ())
    if not codes:
        opening.correct(name, described)
        return cells
    opening.correct(name, replace(described, codes=codes))
    place = cells.n_known + len(codes)
    written = open_words(unknown, name).written
    numbers = replace(cells, nullable=False)
    return MixedCells(numbers, (*codes, facts.schema.other), nullable, place, written)


def _with_point(column: Integer) -> Numeric:
    """Return the description of whole numbers written with a decimal point: 30000.0."""
    form = None if column.format is None else form_of_column(column).sample(1)
    return Numeric(
        column.lower,
        column.upper,
        decimals=1,
        nullable=column.nullable,
        parse=column.parse,
        codes=column.codes,
        format=form,
    )


def _may_be_missing(opening: Opening, name: Any) -> bool:
    """Return whether the public dtype and schema allow missing values."""
    layout = opening.facts.layout
    hint: Any = opening.known.hints.get(name)
    if name is TARGET or (hint is not None and not hint.nullable):
        return False
    return bool(dict(zip(layout.names, layout.can_be_missing, strict=True))[name])


def _least_mass(opening: Opening, max_bins: int) -> float:
    """Return the number of rows that a bin should hold."""
    return max(opening.facts.n_rows / max_bins, NOISE_OF_BIN * _class_noise(opening))


def _class_noise(opening: Opening, share: float = 1.0) -> float:
    """Return the approximate noise of a cell of one class in the main release."""
    ledger = opening.ledger
    delta = sensitivity(OneHot(len(opening.facts.columns)), ledger.budget.adjacency)
    return ledger.noise_std(share=share * ledger.remaining, sensitivity=delta)


def _public_counts(opening: Opening, name: Any, line: Line) -> Any:
    """Return the counts of public rows in the cells of a line; None without rows."""
    public = opening.public
    if public is None or (name is TARGET and not public.has_labels):
        return None
    tables = count_public(public, {name: line.grid}, None)
    return None if tables is None else tables.columns[name][0][: line.n_cells]


# ----------------------------------------------------------------------------
# Budget of steps on secret samples: fixed before the first release.


def steps_share(opening: Opening, part: float) -> float:
    """Return a share of the whole budget that discovery leaves in any case.

    It is ``part`` of the least remaining share, computed from public quantities only.
    *Why.* Sub-sampled steps are calibrated at the Renyi order that suits their share
    best. If the share depended on releases, so would the order, and no single order
    would bound the whole fit. With a fixed share, the other Gaussian releases are a
    privacy filter whose limit is mu² times the rest. Their divergence is bounded at
    every order, even if they are chosen adaptively. The divergence of the steps is
    added to it.
    """
    is_public = opening.ledger.budget.adjacency is Adjacency.REPLACE
    n_rows = opening.rows.n_rows if is_public else 0
    remaining = least_left(opening.opened, opening.ledger, n_rows)
    # Public columns are checked by a release of their own.
    checks_share = 0.0 if opening.public is None else CHECK_SHARES[1]
    return part * (remaining - checks_share)


def least_left(known: Known, ledger: Ledger, n_rows: int) -> float:
    """Return the least share that discovery leaves; ``n_rows`` is read if public."""
    is_public = ledger.budget.adjacency is Adjacency.REPLACE
    may_be_number = known.may_be_a_number or known.may_say_a_number
    unknown = (known.with_number() if may_be_number else known).unknown
    n_unknown, n_numbers, remaining = len(unknown), known.most_numbers, 1.0
    first, bins, third = MOST_FOR_DISCOVERY, BIN_SHARES[1], FINER_SHARES[1]
    if is_public:
        first = discovery_share(unknown, n_rows, ledger) if n_unknown else 0.0
        structure = OneHot(max(n_numbers, 1))
        bins = share_for(structure, n_rows * BIN_STD, ledger, BIN_SHARES)
    remaining -= 0.0 if is_public else COUNT_SHARE
    remaining -= CLASS_SHARE * known.has_unknown_classes
    is_text_read = known.may_say_a_number or known.is_text_of_numbers
    remaining -= LOOK_SHARES[1] * is_text_read
    if n_unknown:  # all three releases of discovery
        return remaining - first - LOOK_SHARES[1]
    are_images = known.kinds.keys() <= {TARGET}
    if are_images:
        remaining -= pixel_share(n_rows, ledger) if is_public else PIXEL_SHARES[1]
    if not n_numbers:
        return remaining * (1.0 - WATCHED_SHARES[1] * (not are_images))
    return remaining * (1.0 - max(bins, WATCHED_SHARES[1])) * (1.0 - third)
