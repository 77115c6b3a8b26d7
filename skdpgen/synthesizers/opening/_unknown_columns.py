"""Discovery of columns without a schema: the release of octaves and words.

Types of text and identifiers are released before, in `_first_look.py`; parts of number
lines, and finer parts, after it, in `_binning.py`. docs/design.md lists all releases.
"""

import math
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from skdpgen.exceptions import (
    SchemaRequiredError,
)
from skdpgen.privacy import (
    Adjacency,
    Counts,
    DistinctCounts,
    Histograms,
    Ledger,
    OneHot,
    Selections,
    release,
    sensitivity,
    sum_beforehand,
)
from skdpgen.synthesizers.opening._facts import Seen
from skdpgen.synthesizers.opening._first_look import (
    LOOK_SHARES,
    Unknown,
    by_column,
    can_be_counted,
    count_whole_numbers,
    perhaps_identifiers,
    release_text_types,
    share_for,
)
from skdpgen.synthesizers.opening._known_columns import Known
from skdpgen.tables import (
    TARGET,
    Boolean,
    Categorical,
    Column,
    Datetime,
    DigitCells,
    Drop,
    Kind,
    Line,
    NumberCells,
    OpenWords,
    Regenerate,
    Rows,
    TextKinds,
    bins_of,
    has_fractions,
    line_of_octaves,
    octave_edges,
    plausible_codes,
    summary_of,
)
from skdpgen.utils import (
    Key,
)

# ----------------------------------------------------------------------------
# The first pass over the rows: it sums for all releases with public queries.


def sum_first_pass(rows: Rows, known: Known, *, is_size_public: bool) -> None:
    """Sum the numbers of rows, labels and types of values in one pass over the rows.

    The sums stay in ``rows`` until the releases that use them, and are forgotten with
    the rows. The choice of columns follows from the schema.
    """
    blocks: dict[str, Any] = {} if is_size_public else {Key.ROWS: Counts()}
    tokens = (TARGET,) if known.has_unknown_classes else ()
    if tokens:
        blocks[Key.TOKENS] = Selections(tokens)
    unknown = known.unknown
    names = (*unknown.texts, *known.whole_numbers)
    grids: dict[Any, Any] = {name: TextKinds() for name in unknown.texts}
    if names:
        blocks[Key.DISTINCT] = DistinctCounts(names)
    if grids:
        sizes = tuple(grid.n_cells for grid in grids.values())
        blocks[Key.COLUMNS] = Histograms(sizes)
    if blocks:
        batches = rows.batches(grids, tokens=tokens, distinct=names)
        rows.beforehand = sum_beforehand(batches, blocks, {Key.COLUMNS: tuple(grids)})


# ----------------------------------------------------------------------------
# Discovery of columns: the release of octaves, and the shares of the next two.

LEFT_OUT = (Drop, Regenerate)
COUNT_SHARE = 0.01  # add/remove only: how many rows there are
NUMBERS_SHARE = 0.2  # of LOOK_SHARES[1]; the noise of text grows by 12 % at most
DISCOVERY_SHARES, MOST_FOR_DISCOVERY = (0.05, 0.20), 0.45  # of mu²
GROWTH = 0.4  # of the share that would make the noise good, to the power of a third
GOOD_STD, POOR_STD = 1 / 200, 1 / 64  # of the rows: the noise of a count
OCTAVES_PART, PARTS_PART, FINER_PART = 0.3, 0.25, 0.45  # of that share
DIGITS_WEIGHT = 0.5
CERTAIN_STDS = 4.5  # at which a value exceeds the noise for certain
PLAUSIBLE_CODES = plausible_codes()

ROWS_COUNTED = "number of rows"  # its line in the certificate


def count_rows(rows: Rows, ledger: Ledger) -> float:
    """Release the number of rows, which "add_remove" keeps private."""
    sums = rows.beforehand
    released = release(
        rows.batches({}) if sums is None else sums,
        {Key.ROWS: Counts() if sums is None else sums.counts(Key.ROWS)},
        name=ROWS_COUNTED,
        ledger=ledger,
        share=COUNT_SHARE,
    )
    return max(float(released.values[Key.ROWS][0, 0]), 2.0)


def discover_columns(
    rows: Rows,
    kinds: Mapping[Any, Kind],
    described: Mapping[Any, Column],
    ledger: Ledger,
    n_rows: float,
    other: str,
    whole_numbers: tuple[Any, ...] = (),
    hints: Mapping[Any, Column] | None = None,
) -> tuple[dict[Any, Column], Unknown, dict[Any, Seen], dict[Any, Line]]:
    """Describe every column; those without a schema share joint releases.

    Also returns the types of the columns, counts of words by column, and the number
    line of each column of numbers. It also releases which of ``whole_numbers`` may be
    identifiers. ``hints`` are descriptions of columns whose bounds are open.
    """
    word_counts: dict[Any, Seen] = {}
    lines: dict[Any, Line] = {}
    unknown = Unknown.of(kinds, described)
    columns: dict[Any, Column] = {
        name: Boolean() for name, kind in kinds.items() if kind is Kind.BOOLEAN
    }
    columns |= described
    if len(unknown):
        check_feasible(unknown, n_rows, ledger)
        budget_before = ledger.remaining
        share_of_numbers = NUMBERS_SHARE * LOOK_SHARES[1]
        if not can_be_counted(whole_numbers, ledger, n_rows, share_of_numbers):
            share_of_numbers = 0.0
        most_share_of_text = LOOK_SHARES[1] - share_of_numbers
        unknown = release_text_types(rows, unknown, ledger, n_rows, most_share_of_text)
        share_left = LOOK_SHARES[1] - (budget_before - ledger.remaining)
        counted = count_whole_numbers(rows, whole_numbers, ledger, n_rows, share_left)
        columns |= {name: Boolean() for name in unknown.truths}
        if not _is_any_column_learnt(kinds, described, unknown):
            texts = (*unknown.texts, *unknown.identifiers)
            unknown = replace(unknown, texts=texts, identifiers=())
        columns |= {name: _regenerated(name) for name in unknown.identifiers}
        rows.read_as(unknown.written)
    if len(unknown):
        known = {**unknown.written, **(hints or {})}
        first = _release_columns(rows, unknown, known, ledger, n_rows, other)
        word_counts, lines = first.seen, first.lines
        columns |= first.columns
        present = _rows_present(rows, counted, first.missing, ledger, n_rows)
        numbered = perhaps_identifiers(counted, present)
        unknown = replace(unknown, numbered=numbered, finer=first.finer)
    return {name: columns[name] for name in kinds}, unknown, word_counts, lines


def _is_any_column_learnt(
    kinds: Mapping[Any, Kind], described: Mapping[Any, Column], unknown: Unknown
) -> bool:
    """Return whether any column is learnt if identifiers are left out."""
    left_out = {*unknown.identifiers, TARGET}
    left_out |= {n for n, column in described.items() if isinstance(column, LEFT_OUT)}
    return not set(kinds) <= left_out


class _First(NamedTuple):
    """The release of octaves and words, interpreted.

    ``missing`` are numbers of rows without a number, and their noise; ``finer`` is the
    noise of the share of rows with decimals, for columns that show none.
    """

    columns: dict[Any, Column]
    seen: dict[Any, Seen]
    lines: dict[Any, Line]
    missing: dict[Any, tuple[float, float]]
    finer: dict[Any, float]


def _release_columns(
    rows: Rows,
    unknown: Unknown,
    known: Mapping[Any, Column],
    ledger: Ledger,
    n_rows: float,
    other: str,
) -> _First:
    r"""Release octaves and decimals of numbers, and words of text, jointly.

    *Sensitivity.* In each column of numbers a row is in one octave and, with half the
    weight, has one number of decimals; in each column of text it holds one word. These
    are one-hot blocks of a vector that is not negative
    (:class:`~skdpgen.privacy.Weighted`).
    """
    kinds = unknown.numbers
    grids = {
        name: NumberCells(octave_edges(kind), True, is_time=kind is Kind.DATETIME)
        for name, kind in kinds.items()
    }
    digits = {
        name: DigitCells(kind is Kind.DATETIME)
        for name, kind in kinds.items()
        if kind is not Kind.INTEGER
    }
    with_words = unknown.texts
    blocks: dict[str, Any] = {}
    if grids:
        blocks[Key.COLUMNS] = Histograms(tuple(g.n_cells for g in grids.values()))
    if digits:
        blocks[Key.DIGITS] = Histograms(tuple(g.n_cells for g in digits.values()))
    if with_words:
        blocks[Key.TOKENS] = Selections(with_words, PLAUSIBLE_CODES)
    released = release(
        rows.batches(grids, tokens=with_words, digits=digits),
        blocks,
        weights={Key.DIGITS: DIGITS_WEIGHT} if digits else None,
        name=f"octaves and words of {len(unknown)} columns",
        ledger=ledger,
        share=OCTAVES_PART * discovery_share(unknown, n_rows, ledger),
    )
    columns: dict[Any, Column] = {}
    lines: dict[Any, Line] = {}
    word_counts: dict[Any, Seen] = {}
    missing: dict[Any, tuple[float, float]] = {}
    finer: dict[Any, float] = {}
    decimals = by_column(released, digits, Key.DIGITS)
    for name in with_words:
        word_counts[name] = (
            released.values[Key.TOKENS][name],
            released.noise_std[Key.TOKENS],
        )
    for name, counts in by_column(released, grids).items():
        std = released.noise_std[Key.COLUMNS]
        step: float | None = 1.0
        missing[name] = float(counts[-1]), std
        present, noise_of_present = _rows_present(
            rows, [name], missing, ledger, n_rows
        )[name]
        if name in digits:
            noise = released.noise_std[Key.DIGITS]
            is_text = name in unknown.parsed or name in unknown.dated
            n_numbers = math.nan if is_text else present  # text may be words
            step = digits[name].step(
                decimals[name],
                noise,
                n_numbers,
                noise_of_present,
                has_fractions=kinds[name] is Kind.FLOAT
                and has_fractions(counts[:-1], std),
            )
            if kinds[name] is Kind.DATETIME:
                # a format, or a schema, may say more than the rows show
                least = getattr(known.get(name), "step", 0.0)
                step = max(step or 0.0, least) or None
            elif step == 1.0:
                finer[name] = noise / n_rows
        lines[name] = line_of_octaves(
            kinds[name], counts[:-1], std, step, present, n_rows, noise_of_present
        )
        is_missing = counts[-1] > max(std, 0.5)
        columns[name] = _provisional(
            lines[name], kinds[name], nullable=bool(is_missing)
        )
    for name in unknown.texts:
        columns[name] = Categorical(list(word_counts[name][0]), other=other)
    return _First(columns, word_counts, lines, missing, finer)


def _noise_of_rows(ledger: Ledger) -> float:
    """Return the noise of the number of rows; 0 where it is public."""
    stds = (entry.noise_std for entry in ledger.entries if entry.name == ROWS_COUNTED)
    return math.hypot(*stds)


def _rows_present(
    rows: Rows,
    names: Iterable[Any],
    missing: Mapping[Any, tuple[float, float]],
    ledger: Ledger,
    n_rows: float,
) -> dict[Any, tuple[float, float]]:
    """Return the number of rows with a number, and its noise, from released counts.

    A dtype that cannot hold missing values has none; dtypes are public.
    """
    noise_of_rows = _noise_of_rows(ledger)
    layout: Any = rows.layout
    has_gaps = dict(zip(layout.names, layout.can_be_missing, strict=True))
    present = {}
    for name in names:
        gaps, noise = missing[name] if has_gaps.get(name, True) else (0.0, 0.0)
        present[name] = n_rows - gaps, math.hypot(noise, noise_of_rows)
    return present


def _provisional(line: Line, kind: Kind, *, nullable: bool) -> Column:
    """Describe a column by its octaves that are not empty; later releases refine it."""
    rows = np.where(line.is_open, np.maximum(line.counts, 0.0), 0.0)
    cells = bins_of(line, rows, math.inf, nullable=nullable)
    return summary_of(cells, kind, nullable=nullable)


def open_words(
    unknown: Unknown, name: Hashable, named: Iterable[str] = ()
) -> OpenWords:
    """Return what counts as a word of a column that no release has named yet."""
    written = unknown.written.get(name)
    if written is None and name in unknown.dated:
        written = Datetime()
    return OpenWords(tuple(named), name in unknown.beside, written)


def _regenerated(name: Hashable) -> Regenerate:
    """Return a description that writes new identifiers: column name and a number."""
    text = str(name).replace("{", "{{").replace("}", "}}")
    return Regenerate(text + "-{i}")


def discovery_share(unknown: Unknown, n_rows: float, ledger: Ledger) -> float:
    """Return the part of mu² that all three releases of discovery get.

    It depends on public quantities, and on the released number of rows and column
    types. It grows slowly with the share that good noise would need, because for many
    rows finer cells are worth more than less noise.
    """
    structure = OneHot(max(len(unknown.numbers) + len(unknown.texts), 1))
    needed = share_for(structure, n_rows * GOOD_STD, ledger, (0.0, 1.0))
    share = min(
        max(GROWTH * needed ** (1 / 3), DISCOVERY_SHARES[0]), DISCOVERY_SHARES[1]
    )
    poor = share_for(structure, n_rows * POOR_STD, ledger, (0.0, MOST_FOR_DISCOVERY))
    return max(share, poor)


def check_feasible(unknown: Unknown, n_rows: float, ledger: Ledger) -> None:
    """Raise where public quantities show that discovery cannot work."""
    if not len(unknown):
        return
    share = discovery_share(unknown, n_rows, ledger)
    delta = sensitivity(OneHot(len(unknown)), ledger.budget.adjacency)
    needed = CERTAIN_STDS * ledger.noise_std(share=share, sensitivity=delta)
    if needed > n_rows / 2:
        is_public = ledger.budget.adjacency is Adjacency.REPLACE
        about = "" if is_public else "about "  # a noisy number
        raise SchemaRequiredError(
            f"Private discovery of {len(unknown)} columns needs values that "
            f"{math.ceil(needed)} of the rows share, which is more than half of "
            f"{about}{math.floor(n_rows)} rows at epsilon={ledger.budget.epsilon:g}. "
            "Give a schema of public knowledge: start from `Schema.template(X)` and "
            "fill in bounds and categories."
        )
