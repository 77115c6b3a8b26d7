"""Releases before octaves and words: column types, identifiers, range of pixels."""

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdpgen.privacy import (
    Distinct,
    DistinctCounts,
    Histograms,
    Ledger,
    OneHot,
    Release,
    Structure,
    Weighted,
    release,
    sensitivity,
)
from skdpgen.tables import (
    DATES,
    ISO,
    NUMBERS_FROM,
    TARGET,
    Column,
    Datetime,
    EncodedBatch,
    InRange,
    Kind,
    Layout,
    NumberForm,
    NumbersOf,
    Numeric,
    Rows,
    Says,
    TextKinds,
    chosen_form,
    chosen_iso_form,
    lists_categories,
    numbers_of,
    range_codes,
)
from skdpgen.utils import (
    Key,
)

Floats = NDArray[np.float64]

# ----------------------------------------------------------------------------
# The share of a release, and how its joint histogram is split into columns.


def share_for(
    structure: Structure, wanted_std: float, ledger: Ledger, limits: tuple[float, float]
) -> float:
    """Return the share of mu² that gives a release of a structure the wanted noise."""
    delta = sensitivity(structure, ledger.budget.adjacency)
    std_of_all = ledger.noise_std(share=1.0, sensitivity=delta)
    return min(max((std_of_all / wanted_std) ** 2, limits[0]), limits[1])


def by_column(
    released: Release, grids: Mapping[Any, Any], key: str = Key.COLUMNS
) -> dict[Any, Floats]:
    """Split the joint histogram of an unlabelled release into its columns."""
    ends = list(accumulate(grid.n_cells for grid in grids.values()))[:-1]
    histograms = np.split(released.values[key][0], ends) if grids else []
    return dict(zip(grids, histograms, strict=True))


# ----------------------------------------------------------------------------
# A first, cheap release of text columns without a schema: types, numbers of values.

LOOK_SHARES = (0.001, 0.06)  # of mu², at least and at most
LOOK_STD = 1 / 100  # of the rows: the noise that is aimed at
BLURRED_STD = 1 / 12  # of the rows: with more noise nothing is released, nor spent
DECIDING_PART = 0.9  # of the cells that are not missing decides the type of a column
ALL_DIFFERENT = 0.8  # different values a cell: more are identifiers, or free text
FEW_VALUES = 1 / 20  # different ones a row: fewer may be codes
PADDED_PART = 0.01  # of the cells begin with a zero: the digits are codes
WORDS_PART = 0.01  # of the cells are words: the column has words and numbers
MANY_WORDS = 0.15  # of the cells are words among few different numbers: these are codes
ONE_DIGIT, FEW_CODES = 0.5, 100  # of the numbers are one digit, in at most 100 values
NUMBERS_PART = 0.2  # of the cells are numbers: with words they make a mixed column
SURE_STDS = 2.0
SURER_STDS = 3.0  # where a mistake would make a column of numbers one of names
SEEN_TYPE = 5.0  # least count of a type in noise stds: noise alone never decides it
SEEN_FORMS = 8.0  # the same of times and numbers, the likeliest of many sums of cells
SEEN_BESIDE = 15.0  # the same in mixed columns: words alone must not seem mixed
SEEN_LABELS = 3.7  # the same of labels, which make codes of numbers
SEEN_VALUES = 4.0  # the same of different values


@dataclass(frozen=True)
class Unknown:
    """Columns that no schema describes, by their released types.

    Parameters
    ----------
    numbers : mapping of name to Kind
        Numbers and times, by dtype, or by the type of their text.
    texts : tuple of names
        Words, whose values are to be released.
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
    pointed : tuple of names
        Numbers that were text, nearly all with a decimal mark, as 30000.0.
    not_words : mapping of name to float
        Released number of rows of a column of text that are missing.
    finer : mapping of name to float
        Noise of the share of rows with decimals, for numbers that show none.
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
    pointed: tuple[Any, ...] = ()
    not_words: Mapping[Any, float] = field(default_factory=dict)
    finer: Mapping[Any, float] = field(default_factory=dict)

    @classmethod
    def of(
        cls, kinds: Mapping[Any, Kind], described: Mapping[Any, Column]
    ) -> "Unknown":
        """List the columns without a schema; booleans have nothing to discover."""
        undescribed = {
            name: kind for name, kind in kinds.items() if name not in described
        }
        numbers = {
            name: kind
            for name, kind in undescribed.items()
            if kind not in (Kind.TEXT, Kind.BOOLEAN)
        }
        texts = tuple(name for name, kind in undescribed.items() if kind is Kind.TEXT)
        return cls(numbers, texts)

    def __len__(self) -> int:
        """Return the number of columns that must be paid for."""
        return len(self.numbers) + len(self.texts)


def release_text_types(
    rows: Rows,
    unknown: Unknown,
    ledger: Ledger,
    n_rows: float,
    most_share: float = LOOK_SHARES[1],
) -> Unknown:
    """Release the types of the cells of each text column, and its number of values.

    Text of dates and numbers is read as such if nine in ten cells are; text that is
    different in nearly every row cannot be learnt. The release is cheap, because large
    shares of the rows decide. It is skipped if the noise would hide even those. It uses
    at most ``most_share`` of mu².
    """
    listed = with_listed_values(rows)
    names = tuple(name for name in unknown.texts if name not in listed)
    structure = Weighted((OneHot(len(names)), Distinct(len(names))), (1.0, 1.0))
    limits = LOOK_SHARES[0], most_share
    share = share_for(structure, n_rows * LOOK_STD, ledger, limits)
    delta = sensitivity(structure, ledger.budget.adjacency)
    std = ledger.noise_std(share=share, sensitivity=delta)
    if not names or std > BLURRED_STD * n_rows:
        return unknown
    grids: dict[Any, Any] = {name: TextKinds() for name in names}
    counted = DistinctCounts(names, n_rows)
    sizes = tuple(grid.n_cells for grid in grids.values())
    blocks: dict[str, Any] = {Key.DISTINCT: counted, Key.COLUMNS: Histograms(sizes)}
    batches: Any = rows.batches(grids, distinct=names)
    sums = rows.beforehand
    if sums is not None:
        batches = sums
        blocks[Key.DISTINCT] = sums.distinct(Key.DISTINCT, names, n_rows)
        blocks[Key.COLUMNS] = sums.histograms(Key.COLUMNS, names)
    released = release(
        batches,
        blocks,
        name=f"kinds and numbers of values of {len(names)} columns",
        ledger=ledger,
        share=share,
    )
    estimates = counted.estimate(released.values[Key.DISTINCT][0], std)
    distinct = {
        name: (float(estimate), float(noise))
        for name, estimate, noise in zip(names, *estimates, strict=True)
    }
    for name, counts in by_column(released, grids).items():
        unknown = with_text_type(unknown, name, counts, distinct[name], std, n_rows)
        not_words = {**unknown.not_words, name: float(counts[Says.NOTHING])}
        unknown = replace(unknown, not_words=not_words)
    return unknown


def with_listed_values(rows: Rows) -> set[Any]:
    """Return the columns with a categorical dtype, which lists their values."""
    layout = rows.layout
    if not isinstance(layout, Layout):
        return set()
    pairs = zip(layout.names, layout.dtypes, strict=True)
    return {name for name, dtype in pairs if lists_categories(dtype)}


def target_says_numbers(
    rows: Rows, ledger: Ledger, n_rows: float, *, is_given: bool = False
) -> Numeric | None:
    """Release the types of cells of a text target; return how most write numbers.

    Nine in ten cells must be numbers, and none may be codes. If it is given that the
    target is a number, its form is all that is asked, and half of the cells decide it.

    Each row is in one cell of one histogram. So replacing a row moves it by at most
    sqrt(2), and adding or removing one by at most 1, as ``OneHot(1)`` states.
    """
    structure = OneHot(1)
    grid: Any = TextKinds()
    share = share_for(structure, n_rows * LOOK_STD, ledger, LOOK_SHARES)
    delta = sensitivity(structure, ledger.budget.adjacency)
    std = ledger.noise_std(share=share, sensitivity=delta)
    if std > BLURRED_STD * n_rows:
        return None
    released = release(
        rows.batches({TARGET: grid}),
        {Key.COLUMNS: Histograms((grid.n_cells,))},
        name="kinds of values of the target",
        ledger=ledger,
        share=share,
    )
    counts = by_column(released, {TARGET: grid})[TARGET]
    present = n_rows - counts[Says.NOTHING]
    noise = SURE_STDS * std
    enough = max(0.5 * present + noise, SEEN_TYPE * std)
    is_padded = counts[Says.PADDED] >= PADDED_PART * present + SURER_STDS * std
    if not is_given:
        enough = math.inf if is_padded else max(DECIDING_PART * present - noise, enough)
    numbers, n_objects = (
        numbers_of(counts[NUMBERS_FROM:], std),
        counts[Says.NUMBER_ITSELF],
    )
    if numbers.n_read + n_objects <= enough:
        return None
    return _written(numbers) if numbers.n_read > n_objects else Numeric(parse=True)


def with_text_type(
    unknown: Unknown,
    name: Hashable,
    counts: Floats,
    estimate: tuple[float, float],
    std: float,
    n_rows: float,
) -> Unknown:
    """Sort a column of text by its type, from the released counts of its cells.

    ``estimate`` is its number of different values, and the noise of that.
    """
    distinct, distinct_noise = estimate
    present = n_rows - counts[Says.NOTHING]
    noise = SURE_STDS * std
    enough = max(
        DECIDING_PART * present - noise, 0.5 * present + noise, SEEN_TYPE * std
    )
    mixed_threshold = max(NUMBERS_PART * present, SEEN_BESIDE * std)
    sure_threshold = max(enough, SEEN_FORMS * std)
    n_words = counts[Says.WORD] + counts[Says.LABEL] + counts[Says.CODE]
    has_words = n_words > WORDS_PART * present + SURER_STDS * std
    remaining = replace(
        unknown, texts=tuple(text for text in unknown.texts if text != name)
    )
    form, n_times, n_all_times = _times(counts, std, present)
    # words in a column of times get names; times are never mistaken for words
    is_mixed = (
        n_times > mixed_threshold and has_words and n_times + n_words > sure_threshold
    )
    if n_times > sure_threshold or is_mixed:
        n_not_times = max(float(present - n_all_times), 0.0)
        dated = replace(
            remaining,
            numbers={**unknown.numbers, name: Kind.DATETIME},
            dated=(*unknown.dated, name),
            beside={**unknown.beside, name: n_not_times},
        )
        if form is None:
            return dated
        written = {**unknown.written, name: Datetime(format=form)}
        return replace(dated, written=written)
    numbers = numbers_of(counts[NUMBERS_FROM:], std)
    n_text, n_objects = numbers.n_read, counts[Says.NUMBER_ITSELF]
    is_written = n_text > n_objects
    is_number = n_text + n_objects > (sure_threshold if is_written else enough)
    is_mixed = (
        n_text > mixed_threshold and has_words and n_text + n_words > sure_threshold
    )
    is_number |= is_written and is_mixed
    if is_number and not (
        is_written and _are_codes(counts, numbers, estimate, std, present)
    ):
        remaining = replace(remaining, numbers={**unknown.numbers, name: Kind.FLOAT})
        if not is_written:
            return remaining
        remaining = replace(
            remaining, written={**unknown.written, name: _written(numbers)}
        )
        if numbers.n_pointed > DECIDING_PART * numbers.n_read:
            remaining = replace(remaining, pointed=(*unknown.pointed, name))
        return replace(
            remaining,
            parsed=(*unknown.parsed, name),
            beside={**unknown.beside, name: max(float(n_words), 0.0)},
        )
    if counts[Says.TRUTH] > enough:
        return replace(remaining, truths=(*unknown.truths, name))
    all_different = max(
        ALL_DIFFERENT * present, 0.5 * present + SURE_STDS * distinct_noise
    )
    if distinct > max(all_different, SEEN_VALUES * distinct_noise):
        return replace(remaining, identifiers=(*unknown.identifiers, name))
    return unknown


def _times(
    counts: Floats, std: float, present: float
) -> tuple[str | None, float, float]:
    """Return the form of times, the number of cells in it, and the number of times."""
    least = (
        PADDED_PART * present + 3 * SURE_STDS * std
    )  # one cell of noise may seem certain
    iso_form, n_iso = chosen_iso_form(
        counts[ISO:NUMBERS_FROM], counts[Says.TIME], std, least
    )
    form, n_dates = chosen_form(counts[DATES:ISO], std, SURE_STDS * std)
    n_all = max(n_iso, 0.0) + n_dates
    return (iso_form, n_iso, n_all) if n_iso > n_dates else (form, n_dates, n_all)


def _are_codes(
    counts: Floats,
    numbers: NumbersOf,
    estimate: tuple[float, float],
    std: float,
    present: float,
) -> bool:
    """Return whether numbers in a column of text are codes, not amounts.

    They are codes if some begin with a zero, if there are labels such as V57 as well,
    if there are words and few different values, or if most are one digit: such a column
    is text because it has other values too, perhaps in few rows.
    """
    distinct, distinct_noise = estimate

    def exceed_noise(n_cells: float, share: float) -> bool:
        return bool(n_cells >= share * present + SURER_STDS * std)

    n_words = counts[Says.WORD] + counts[Says.LABEL]
    are_few = distinct <= FEW_VALUES * present + SURE_STDS * distinct_noise
    are_digits = numbers.n_digits > ONE_DIGIT * numbers.n_read
    are_digits &= distinct <= FEW_CODES + SURER_STDS * distinct_noise
    are_digits &= numbers.form == NumberForm()  # codes have no unit
    return (
        exceed_noise(counts[Says.PADDED], PADDED_PART)
        or counts[Says.LABEL] >= max(PADDED_PART * present, SEEN_LABELS * std)
        or (are_few and n_words >= MANY_WORDS * present)
        or are_digits
    )


def _written(numbers: NumbersOf) -> Numeric:
    """Return the description of text as numbers, with their format if it is unusual."""
    if numbers.form == NumberForm():
        return Numeric(parse=True)
    return Numeric(format=numbers.form.sample(None))


# ----------------------------------------------------------------------------
# Integers that differ in nearly every row: they may be identifiers of people.

LEAST_SHARE = 0.001  # of mu²
WANTED_STD = 1 / 80  # of the rows: 4 such are between all rows and 95 % of them
# Of the rows: the noise at which all of them are not distinguishable from 90 %.
BLURRED_COUNT = 1 / 30
NEARLY_ALL = 0.95  # of the rows that hold a number have one of their own
NAMED_PART = 0.90  # of them: a column with fewer must not be named
ADVICE = (
    "{}: nearly every row has a number of its own. If these are identifiers, "
    "synthetic rows may carry those of real people: describe it as Regenerate() or "
    "Drop() in the schema. If they are amounts, give their bounds, as Integer(0, 1000)."
)


def can_be_counted(
    names: tuple[Any, ...], ledger: Ledger, n_rows: float, share: float
) -> bool:
    """Return whether a share of mu² is enough to count integers; reads no row."""
    if not names or share <= 0.0:
        return False
    delta = sensitivity(Distinct(len(names)), ledger.budget.adjacency)
    return ledger.noise_std(share=share, sensitivity=delta) <= BLURRED_COUNT * n_rows


def count_whole_numbers(
    rows: Rows, names: tuple[Any, ...], ledger: Ledger, n_rows: float, most_share: float
) -> dict[Any, tuple[float, float]]:
    r"""Release the numbers of different values of integer columns, with noise.

    Returns the number and its standard error by column. Nothing is released or spent
    if the noise would hide the answer.

    *Sensitivity.* Each of the d columns gives one count of
    :class:`~skdpgen.privacy.DistinctCounts`. A row holds one value in a column or none,
    so a row that is added, removed or replaced moves each count by at most 1, and all
    of them by at most :math:`\sqrt d` (:class:`~skdpgen.privacy.Distinct`). Numbers are
    compared by a public hash of their float64 bits. This is a function of the value
    alone; where it maps two values to one hash, the count is that of the hashes, which
    a row moves no further.

    Parameters
    ----------
    rows : Rows
    names : tuple of names
        Columns of a whole-number dtype that no schema describes.
    ledger : Ledger
    n_rows : float
        Number of rows; public, or released before.
    most_share : float
        Of mu², at most.
    """
    if not can_be_counted(names, ledger, n_rows, most_share):
        return {}
    structure = Distinct(len(names))
    limits = min(LEAST_SHARE, most_share), most_share
    share = share_for(structure, n_rows * WANTED_STD, ledger, limits)
    delta = sensitivity(structure, ledger.budget.adjacency)
    std = ledger.noise_std(share=share, sensitivity=delta)
    sums, block = rows.beforehand, DistinctCounts(names, n_rows)
    released = release(
        rows.batches({}, distinct=names) if sums is None else sums,
        {
            Key.DISTINCT: block
            if sums is None
            else sums.distinct(Key.DISTINCT, names, n_rows)
        },
        name=f"different values of {len(names)} columns of whole numbers",
        ledger=ledger,
        share=share,
    )
    estimates, noise = block.estimate(released.values[Key.DISTINCT][0], std)
    return {
        name: (float(estimate), float(estimate_noise))
        for name, estimate, estimate_noise in zip(names, estimates, noise, strict=True)
    }


def perhaps_identifiers(
    counted: Mapping[Any, tuple[float, float]],
    present: Mapping[Any, tuple[float, float]],
) -> tuple[Any, ...]:
    """Return the columns in which nearly every present row has a different value.

    Parameters
    ----------
    counted : mapping of name to (float, float)
        RELEASED numbers of different values, and their standard errors.
    present : mapping of name to (float, float)
        Numbers of rows that are not missing, and their standard errors: public or
        RELEASED.
    """
    return tuple(
        name for name, values in counted.items() if _nearly_all(*values, *present[name])
    )


def _nearly_all(
    distinct: float, distinct_noise: float, present: float, present_noise: float
) -> bool:
    """Return whether about 95 % of the present rows differ, and certainly 90 %.

    Examples
    --------
    >>> _nearly_all(980.0, 10.0, 1000.0, 0.0), _nearly_all(940.0, 1.0, 1000.0, 0.0)
    (True, False)
    >>> _nearly_all(980.0, 33.0, 1000.0, 0.0)  # too noisy to tell from 90 %
    False
    """
    noise = math.hypot(distinct_noise, NAMED_PART * present_noise)
    least = max(
        NEARLY_ALL * present,
        NAMED_PART * present + SURER_STDS * noise,
        SEEN_TYPE * noise,
    )
    return distinct > least


def identifier_advice(names: tuple[Any, ...]) -> str:
    """Return the text of a warning.

    Examples
    --------
    >>> identifier_advice(("id", "ref"))[:62]
    "columns 'id', 'ref': nearly every row has a number of its own."
    """
    start = "column " if len(names) == 1 else "columns "
    return ADVICE.format(start + ", ".join(map(repr, names)))


# ----------------------------------------------------------------------------
# The share of images outside the range of their pixels, or in a small part of it.

PIXEL_SHARES = (0.0005, 0.01)  # of mu², at least and at most
PIXEL_STD = 1 / 50  # of the images: the noise that is aimed at


def release_pixel_range(rows: Rows, ledger: Ledger, n_rows: float) -> dict[str, float]:
    r"""Release the shares of images that are dark, or outside the range of pixels.

    *Sensitivity.* Each image is in one of the five cells of :class:`InRange`, by its
    own darkest and brightest pixel. So replacing one moves the histogram by
    :math:`\sqrt 2` at most, and adding or removing one by 1 at most
    (:class:`~skdpgen.privacy.OneHot`). Nothing is released or spent if the noise would
    hide a twelfth of the images.
    """
    structure = OneHot(1)
    share = pixel_share(n_rows, ledger)
    delta = sensitivity(structure, ledger.budget.adjacency)
    std = ledger.noise_std(share=share, sensitivity=delta)
    if not rows.are_here or std > BLURRED_STD * n_rows:
        return {}
    released = release(
        rows.batches({}).through(_as_codes),
        {Key.COLUMNS: Histograms((len(InRange),))},
        name="images that leave the range of their pixels",
        ledger=ledger,
        share=share,
    )
    shares = released.values[Key.COLUMNS][0] / n_rows
    noise = float(released.noise_std[Key.COLUMNS]) / n_rows
    on_both_sides = shares[InRange.BELOW_AND_ABOVE]
    return {
        "dark": float(shares[InRange.DARK]),
        "below": float(shares[InRange.BELOW] + on_both_sides),
        "above": float(shares[InRange.ABOVE] + on_both_sides),
        "dark_noise": noise,
        "below_noise": 2**0.5 * noise,
        "above_noise": 2**0.5 * noise,
    }


def pixel_share(n_rows: float, ledger: Ledger) -> float:
    """Return the share of mu² that the release gets."""
    return share_for(OneHot(1), n_rows * PIXEL_STD, ledger, PIXEL_SHARES)


def _as_codes(batches: Iterable[EncodedBatch]) -> Iterator[EncodedBatch]:
    """Turn each image into the number of its cell."""
    for batch in batches:
        codes = range_codes(batch.parts[Key.PIXELS])
        yield EncodedBatch(batch.labels, {Key.COLUMNS: codes[:, None]})
