"""A first, cheap look at columns without a schema: what text says, how many values."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from skdpgen.privacy import (
    Distinct,
    DistinctCounts,
    Histograms,
    Ledger,
    OneHot,
    Weighted,
    release,
    sensitivity,
)
from skdpgen.synthesizers.opening._shares import by_column, share_for
from skdpgen.tables import (
    ISO,
    TARGET,
    Column,
    Datetime,
    Kind,
    Numeric,
    Rows,
    Says,
    TextKinds,
    chosen_form,
    chosen_iso_form,
)
from skdpgen.utils import Key

LOOK_SHARES = (0.001, 0.03)  # of mu², at least and at most
LOOK_STD = 1 / 100  # of the rows: the noise that is aimed at
BLURRED = 1 / 12  # noise at which nothing could be told, and nothing is spent
MOST = 0.9  # of the cells that are not missing: so many make a kind
ALL_DIFFERENT = 0.8  # different values of so many cells are identifiers, or free text
FEW = 1 / 20  # different values of so many rows may be codes
SOME = 0.01  # of the cells begin with a zero: the digits are codes
WORDS = 0.01  # of the cells are words among few different numbers: these are codes
MIXED = 0.2  # of the cells are numbers: beside words they are a column of both
SURE = 2.0  # noise stds
SURER = 3.0  # the same where a mistake would make a column of numbers one of names
SEEN = 5.0  # noise stds that a kind has at least: no kind is made of noise alone


@dataclass(frozen=True)
class Unknown:
    """Columns that no schema describes, by what they turned out to hold.

    Parameters
    ----------
    numbers : mapping of name to Kind
        Numbers and times, by dtype, or by what their text says.
    texts : tuple of names
        Words, whose values are to be found.
    identifiers : tuple of names
        Text that is different in nearly every row.
    numbered : tuple of names
        Whole numbers that differ in nearly every row; perhaps identifiers.
    truths : tuple of names
        Objects that are True or False.
    parsed : tuple of names
        Numbers that were text.
    dated : tuple of names
        Times that were text.
    beside : mapping of name to float
        Text of numbers or times, and about how many rows hold words beside them.
    written : mapping of name to Column
        How numbers and times that were text are written, if not as a computer would.
    not_words : mapping of name to float
        Released number of rows of a column of text that are missing.
    """

    numbers: Mapping[Any, Kind]
    texts: tuple[Any, ...]
    identifiers: tuple[Any, ...] = ()
    numbered: tuple[Any, ...] = ()
    truths: tuple[Any, ...] = ()
    parsed: tuple[Any, ...] = ()
    dated: tuple[Any, ...] = ()
    beside: Mapping[Any, float] = field(default_factory=dict)
    written: Mapping[Any, Column] = field(default_factory=dict)
    not_words: Mapping[Any, float] = field(default_factory=dict)

    @classmethod
    def of(cls, kinds: Mapping[Any, Kind], known: Mapping[Any, Column]) -> "Unknown":
        """List what the schema leaves open; booleans hold no secret."""
        left = {name: kind for name, kind in kinds.items() if name not in known}
        numbers = {
            name: kind
            for name, kind in left.items()
            if kind not in (Kind.TEXT, Kind.BOOLEAN)
        }
        texts = tuple(name for name, kind in left.items() if kind is Kind.TEXT)
        return cls(numbers, texts)

    def __len__(self) -> int:
        """Return the number of columns that must be paid for."""
        return len(self.numbers) + len(self.texts)


def look_at_kinds(
    rows: Rows,
    unknown: Unknown,
    ledger: Ledger,
    n_rows: float,
    most_share: float = LOOK_SHARES[1],
) -> Unknown:
    """Release what the cells of each text say, and how many values columns have.

    Text of dates and numbers is read as such if nine in ten cells are; text that is
    different nearly everywhere cannot be learnt. The look costs little, because it asks
    for shares of all rows; where even those would drown in noise it is not taken.
    It costs at most ``most_share`` of mu².
    """
    names = looked_at(unknown)
    structure = Weighted((OneHot(len(unknown.texts)), Distinct(len(names))), (1.0, 1.0))
    limits = LOOK_SHARES[0], most_share
    share = share_for(structure, n_rows * LOOK_STD, ledger, limits)
    delta = sensitivity(structure, ledger.budget.adjacency)
    std = ledger.noise_std(share=share, sensitivity=delta)
    if not names or std > BLURRED * n_rows:
        return unknown
    grids = {name: TextKinds() for name in unknown.texts}
    counted = DistinctCounts(names, n_rows)
    blocks: dict[str, Any] = {Key.DISTINCT: counted}
    if grids:
        blocks[Key.COLUMNS] = Histograms(tuple(g.n_cells for g in grids.values()))
    batches: Any = rows.batches(grids, distinct=names)
    sums = rows.beforehand
    if sums is not None:
        batches, blocks = (), {Key.DISTINCT: sums.distinct(Key.DISTINCT, names, n_rows)}
        if grids:
            blocks[Key.COLUMNS] = sums.histograms(Key.COLUMNS, tuple(grids))
    released = release(
        batches,
        blocks,
        name=f"kinds and numbers of values of {len(names)} columns",
        ledger=ledger,
        share=share,
    )
    found = counted.estimate(released.values[Key.DISTINCT][0], std)
    distinct = {
        name: (float(number), float(blur))
        for name, number, blur in zip(names, *found, strict=True)
    }
    for name, counts in by_column(released, grids).items():
        unknown = sorted_in(unknown, name, counts, distinct[name], std, n_rows)
        not_words = {**unknown.not_words, name: float(counts[Says.NOTHING])}
        unknown = replace(unknown, not_words=not_words)
    return unknown


def target_says_numbers(rows: Rows, ledger: Ledger, n_rows: float) -> bool:
    """Release what the cells of a target of text say; whether nine in ten are numbers.

    A cell falls into one cell of one histogram. So replacing a row moves it by at most
    sqrt(2), and adding or removing one by at most 1, as ``OneHot(1)`` says.
    """
    structure, grid = OneHot(1), TextKinds()
    share = share_for(structure, n_rows * LOOK_STD, ledger, LOOK_SHARES)
    delta = sensitivity(structure, ledger.budget.adjacency)
    std = ledger.noise_std(share=share, sensitivity=delta)
    if std > BLURRED * n_rows:
        return False
    released = release(
        rows.batches({TARGET: grid}),
        {Key.COLUMNS: Histograms((grid.n_cells,))},
        name="kinds of values of the target",
        ledger=ledger,
        share=share,
    )
    counts = by_column(released, {TARGET: grid})[TARGET]
    present = n_rows - counts[Says.NOTHING]
    noise = SURE * std
    enough = max(MOST * present - noise, 0.5 * present + noise, SEEN * std)
    is_padded = counts[Says.PADDED] >= SOME * present + SURER * std
    is_number = counts[Says.NUMBER] + counts[Says.SPELLED] > enough and not is_padded
    if is_number:
        rows.read_as({TARGET: Numeric(parse=True)})
    return bool(is_number)


def looked_at(unknown: Unknown) -> tuple[Any, ...]:
    """Return the columns whose different values are counted: text."""
    return unknown.texts


def sorted_in(
    unknown: Unknown,
    name: Any,
    counts: Any,
    found: tuple[float, float],
    std: float,
    n_rows: float,
) -> Unknown:
    """Put a column of text where its cells say that it belongs.

    ``found`` is its number of different values, and the noise of that.
    """
    distinct, blur = found
    present = n_rows - counts[Says.NOTHING]
    noise = SURE * std
    enough = max(MOST * present - noise, 0.5 * present + noise, SEEN * std)
    n_spelled = counts[Says.SPELLED]
    n_text = counts[Says.NUMBER] + n_spelled
    n_numbers = n_text + counts[Says.NUMBER_ITSELF]
    left = replace(
        unknown, texts=tuple(other for other in unknown.texts if other != name)
    )
    times = {**unknown.numbers, name: Kind.DATETIME}
    in_iso_forms = counts[ISO:]
    n_times = counts[Says.TIME] + in_iso_forms.sum()
    at_once = max(counts[Says.TIME], in_iso_forms.max())
    all_std = std * math.sqrt(1 + len(in_iso_forms))  # noise of all of them together
    is_iso = at_once > enough or n_times > max(enough, SEEN * all_std)
    if is_iso:
        form = chosen_iso_form(in_iso_forms, n_times, SOME * present + SURE * all_std)
    else:
        form = chosen_form(counts[len(Says) : ISO], enough, noise)
    if is_iso or form is not None:
        others = max(float(present - n_times - counts[len(Says) : ISO].sum()), 0.0)
        dated = replace(
            left,
            numbers=times,
            dated=(*unknown.dated, name),
            beside={**unknown.beside, name: others},
        )
        if form is None:
            return dated
        written = {**unknown.written, name: Datetime(format=form)}
        return replace(dated, written=written)
    is_written = n_text > counts[Says.NUMBER_ITSELF]
    is_padded = counts[Says.PADDED] >= SOME * present + SURER * std
    names = counts[Says.WORD] >= WORDS * present + SURER * std  # would be lost
    n_words = counts[Says.WORD] + counts[Says.CODE]
    has_words = n_words > WORDS * present + SURER * std
    are_few = distinct <= FEW * present + SURE * blur
    are_codes = is_written and (is_padded or (names and are_few))
    some = max(MIXED * present, SEEN * std)
    is_number = n_numbers > enough or (is_written and n_text > some and has_words)
    if is_number and not are_codes:
        left = replace(left, numbers={**unknown.numbers, name: Kind.FLOAT})
        if not is_written:
            return left
        if n_spelled > SOME * present + noise:
            written = {**unknown.written, name: Numeric(parse=True)}
            left = replace(left, written=written)
        return replace(
            left,
            parsed=(*unknown.parsed, name),
            beside={**unknown.beside, name: max(float(n_words), 0.0)},
        )
    if counts[Says.TRUTH] > enough:
        return replace(left, truths=(*unknown.truths, name))
    if distinct > max(ALL_DIFFERENT * present, 0.5 * present + SURE * blur):
        return replace(left, identifiers=(*unknown.identifiers, name))
    return unknown
