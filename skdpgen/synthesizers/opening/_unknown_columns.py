"""Discovery of columns without a schema: the releases before the main one."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from skdpgen.exceptions import (
    SchemaRequiredError,
)
from skdpgen.privacy import (
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
    look_at_kinds,
    looked_at,
    perhaps_identifiers,
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


def pass_first(rows: Rows, known: Known, *, is_size_public: bool) -> None:
    """Sum how many rows, which labels and what kinds of values there are, at once.

    The sums wait in ``rows``, and are forgotten with them, for the releases that ask
    for a part of them. Which columns are looked at follows from the schema.
    """
    blocks: dict[str, Any] = {} if is_size_public else {Key.ROWS: Counts()}
    tokens = (TARGET,) if known.has_unknown_classes else ()
    if tokens:
        blocks[Key.TOKENS] = Selections(tokens)
    unknown = known.unknown
    names = (*looked_at(unknown), *known.whole_numbers)
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
# Discovery of columns: its first release, and what all its releases get.

LEFT_OUT = (Drop, Regenerate)
COUNT_SHARE = 0.01  # add/remove only: how many rows there are
OF_NUMBERS = 0.2  # of LOOK_SHARES[1]; the noise of text grows by 12 % at most
SHARES, MOST_SHARE = (0.05, 0.20), 0.45  # of mu², for all that is discovered
GROWTH = 0.4  # of the share that would make the noise good, to the power of a third
GOOD_STD, POOR_STD = 1 / 200, 1 / 64  # of the rows: the noise of a count
FIRST_PART, SECOND_PART, THIRD_PART = 0.3, 0.25, 0.45  # of that share
DIGITS_WEIGHT = 0.5
STANDS_OUT = 4.5  # noise stds at which a value surely shows
PLAUSIBLE = plausible_codes()

ROWS_COUNTED = "number of rows"  # its line in the certificate


def count_rows(rows: Rows, ledger: Ledger) -> float:
    """Release the number of rows, where it is private."""
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
    known: Mapping[Any, Column],
    ledger: Ledger,
    n_rows: float,
    other: str,
    whole_numbers: tuple[Any, ...] = (),
) -> tuple[dict[Any, Column], Unknown, dict[Any, Seen], dict[Any, Line]]:
    """Describe every column; those not known share joint releases.

    Also returns what the columns turned out to hold, counts of words by column, and the
    number line of each column of numbers. Of ``whole_numbers`` it finds those that may
    be identifiers.
    """
    seen: dict[Any, Seen] = {}
    lines: dict[Any, Line] = {}
    unknown = Unknown.of(kinds, known)
    found: dict[Any, Column] = {
        name: Boolean() for name, kind in kinds.items() if kind is Kind.BOOLEAN
    }
    found |= known
    if len(unknown):
        check_feasible(unknown, n_rows, ledger)
        budget_before = ledger.remaining
        of_numbers = OF_NUMBERS * LOOK_SHARES[1]
        if not can_be_counted(whole_numbers, ledger, n_rows, of_numbers):
            of_numbers = 0.0
        most_of_text = LOOK_SHARES[1] - of_numbers
        unknown = look_at_kinds(rows, unknown, ledger, n_rows, most_of_text)
        left = LOOK_SHARES[1] - (budget_before - ledger.remaining)
        counted = count_whole_numbers(rows, whole_numbers, ledger, n_rows, left)
        found |= {name: Boolean() for name in unknown.truths}
        if not _is_anything_left(kinds, known, unknown):
            texts = (*unknown.texts, *unknown.identifiers)
            unknown = replace(unknown, texts=texts, identifiers=())
        found |= {name: _written_anew(name) for name in unknown.identifiers}
        rows.read_as(unknown.written)
    if len(unknown):
        first = _release_columns(rows, unknown, ledger, n_rows, other)
        seen, lines = first.seen, first.lines
        found |= first.columns
        present = _rows_present(rows, counted, first.missing, ledger, n_rows)
        numbered = perhaps_identifiers(counted, present)
        unknown = replace(unknown, numbered=numbered, finer=first.finer)
    return {name: found[name] for name in kinds}, unknown, seen, lines


def _is_anything_left(
    kinds: Mapping[Any, Kind], known: Mapping[Any, Column], unknown: Unknown
) -> bool:
    """Say whether a column is learnt if identifiers are not."""
    left_out = {*unknown.identifiers, TARGET}
    left_out |= {n for n, column in known.items() if isinstance(column, LEFT_OUT)}
    return not set(kinds) <= left_out


class _First(NamedTuple):
    """What the first release says of columns.

    ``missing`` are rows without a number and the noise of that; ``finer`` is the noise
    of the share of rows with decimals, for columns that show none.
    """

    columns: dict[Any, Column]
    seen: dict[Any, Seen]
    lines: dict[Any, Line]
    missing: dict[Any, tuple[float, float]]
    finer: dict[Any, float]


def _release_columns(
    rows: Rows, unknown: Unknown, ledger: Ledger, n_rows: float, other: str
) -> _First:
    r"""Release octaves and decimals of numbers, and words of text, at once.

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
        blocks[Key.TOKENS] = Selections(with_words, PLAUSIBLE)
    released = release(
        rows.batches(grids, tokens=with_words, digits=digits),
        blocks,
        weights={Key.DIGITS: DIGITS_WEIGHT} if digits else None,
        name=f"octaves and words of {len(unknown)} columns",
        ledger=ledger,
        share=FIRST_PART * discovery_share(unknown, n_rows, ledger),
    )
    found: dict[Any, Column] = {}
    lines: dict[Any, Line] = {}
    seen: dict[Any, Seen] = {}
    missing: dict[Any, tuple[float, float]] = {}
    finer: dict[Any, float] = {}
    decimals = by_column(released, digits, Key.DIGITS)
    for name in with_words:
        seen[name] = released.values[Key.TOKENS][name], released.noise_std[Key.TOKENS]
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
                and has_fractions(counts[:-1], std, present, n_rows),
            )
            if step == 1.0:
                finer[name] = noise / n_rows
        lines[name] = line_of_octaves(
            kinds[name], counts[:-1], std, step, present, n_rows, noise_of_present
        )
        is_missing = counts[-1] > max(std, 0.5)
        found[name] = _provisional(lines[name], kinds[name], nullable=bool(is_missing))
    for name in unknown.texts:
        found[name] = Categorical(list(seen[name][0]), other=other)
    return _First(found, seen, lines, missing, finer)


def _noise_of_rows(ledger: Ledger) -> float:
    """Return the noise of the number of rows; 0 where it is public."""
    counted = (one.noise_std for one in ledger.entries if one.name == ROWS_COUNTED)
    return math.hypot(*counted)


def _rows_present(
    rows: Rows,
    names: Iterable[Any],
    missing: Mapping[Any, tuple[float, float]],
    ledger: Ledger,
    n_rows: float,
) -> dict[Any, tuple[float, float]]:
    """Return how many rows hold a number, and the noise of that; none is private.

    Nothing is missing from a dtype that cannot hold gaps, which is public.
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
    """Describe a column by the octaves that hold rows; later releases refine it."""
    rows = np.where(line.is_open, np.maximum(line.counts, 0.0), 0.0)
    cells = bins_of(line, rows, math.inf, nullable=nullable)
    return summary_of(cells, kind, nullable=nullable)


def open_words(unknown: Unknown, name: Any, known: Iterable[str] = ()) -> OpenWords:
    """Return which text of a column is a word that has no name yet."""
    written = unknown.written.get(name)
    if written is None and name in unknown.dated:
        written = Datetime()
    return OpenWords(tuple(known), name in unknown.beside, written)


def _written_anew(name: Any) -> Regenerate:
    """Return how identifiers are written: their column's name and a number."""
    text = str(name).replace("{", "{{").replace("}", "}}")
    return Regenerate(text + "-{i}")


def discovery_share(unknown: Unknown, n_rows: float, ledger: Ledger) -> float:
    """Return the part of mu² that all three releases of discovery get.

    It follows from public quantities, and from the number of rows and the types of
    columns as released. It grows slowly with the share that good noise would take: for
    many rows, finer cells are worth more than that.
    """
    structure = OneHot(max(len(unknown.numbers) + len(unknown.texts), 1))
    needed = share_for(structure, n_rows * GOOD_STD, ledger, (0.0, 1.0))
    share = min(max(GROWTH * needed ** (1 / 3), SHARES[0]), SHARES[1])
    poor = share_for(structure, n_rows * POOR_STD, ledger, (0.0, MOST_SHARE))
    return max(share, poor)


def check_feasible(unknown: Unknown, n_rows: float, ledger: Ledger) -> None:
    """Raise where public quantities show that discovery cannot work."""
    if not len(unknown):
        return
    share = discovery_share(unknown, n_rows, ledger)
    delta = sensitivity(OneHot(len(unknown)), ledger.budget.adjacency)
    needed = STANDS_OUT * ledger.noise_std(share=share, sensitivity=delta)
    if needed > n_rows / 2:
        raise SchemaRequiredError(
            f"Private discovery of {len(unknown)} columns needs values that "
            f"{math.ceil(needed)} of the rows share, which is more than half of "
            f"{math.floor(n_rows)} rows at epsilon={ledger.budget.epsilon:g}. Give a "
            "schema of public knowledge: start from `Schema.template(X)` and fill in "
            "bounds and categories."
        )
