"""What the first release asks: kinds of columns, identifiers, pixels."""

import math
from collections.abc import Iterable, Iterator, Mapping
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
# What a look at columns should cost, and how its joint histogram is cut again.


def share_for(
    structure: Structure, wanted_std: float, ledger: Ledger, limits: tuple[float, float]
) -> float:
    """Return the share of mu² that gives a release of ``structure`` a wanted noise."""
    delta = sensitivity(structure, ledger.budget.adjacency)
    whole = ledger.noise_std(share=1.0, sensitivity=delta)
    return min(max((whole / wanted_std) ** 2, limits[0]), limits[1])


def by_column(
    released: Release, grids: Mapping[Any, Any], key: str = Key.COLUMNS
) -> dict[Any, Floats]:
    """Cut the joint histogram of an unlabelled release into its columns."""
    ends = list(accumulate(grid.n_cells for grid in grids.values()))[:-1]
    parts = np.split(released.values[key][0], ends) if grids else []
    return dict(zip(grids, parts, strict=True))


# ----------------------------------------------------------------------------
# A first, cheap look at columns without a schema: what text says, how many values.

LOOK_SHARES = (0.001, 0.06)  # of mu², at least and at most
LOOK_STD = 1 / 100  # of the rows: the noise that is aimed at
BLURRED = 1 / 12  # noise at which nothing could be told, and nothing is spent
MOST = 0.9  # of the cells that are not missing: so many make a kind
ALL_DIFFERENT = 0.8  # different values of so many cells are identifiers, or free text
FEW = 1 / 20  # different values of so many rows may be codes
SOME = 0.01  # of the cells begin with a zero: the digits are codes
WORDS = 0.01  # of the cells are words: some stand beside numbers
MANY_WORDS = 0.15  # of the cells are words among few different numbers: these are codes
ONE_DIGIT, FEW_CODES = 0.5, 100  # of the numbers are one digit, of so many values
MIXED = 0.2  # of the cells are numbers: beside words they are a column of both
SURE = 2.0  # noise stds
SURER = 3.0  # the same where a mistake would make a column of numbers one of names
SEEN = 5.0  # noise stds that a kind has at least: no kind is made of noise alone
SEEN_FORMS = 8.0  # the same of times and numbers, the likeliest of many sums of cells
SEEN_BESIDE = 15.0  # the same of those beside words: words alone must not seem mixed
SEEN_LABELS = 3.7  # the same of labels, which make codes of numbers
SEEN_VALUES = 4.0  # the same of different values


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
    listed = _with_listed_values(rows)
    texts = tuple(name for name in looked_at(unknown) if name not in listed)
    names = texts
    structure = Weighted((OneHot(len(texts)), Distinct(len(names))), (1.0, 1.0))
    limits = LOOK_SHARES[0], most_share
    share = share_for(structure, n_rows * LOOK_STD, ledger, limits)
    delta = sensitivity(structure, ledger.budget.adjacency)
    std = ledger.noise_std(share=share, sensitivity=delta)
    if not names or std > BLURRED * n_rows:
        return unknown
    grids: dict[Any, Any] = {name: TextKinds() for name in texts}
    counted = DistinctCounts(names, n_rows)
    blocks: dict[str, Any] = {Key.DISTINCT: counted}
    if grids:
        blocks[Key.COLUMNS] = Histograms(tuple(g.n_cells for g in grids.values()))
    batches: Any = rows.batches(grids, distinct=names)
    sums = rows.beforehand
    if sums is not None:
        batches = sums
        blocks[Key.DISTINCT] = sums.distinct(Key.DISTINCT, names, n_rows)
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


def _with_listed_values(rows: Rows) -> set[Any]:
    """Return the columns whose dtype says that their values are categories."""
    layout = rows.layout
    if not isinstance(layout, Layout):
        return set()
    pairs = zip(layout.names, layout.dtypes, strict=True)
    return {name for name, dtype in pairs if lists_categories(dtype)}


def target_says_numbers(rows: Rows, ledger: Ledger, n_rows: float) -> bool:
    """Release what the cells of a target of text say; whether nine in ten are numbers.

    A cell falls into one cell of one histogram. So replacing a row moves it by at most
    sqrt(2), and adding or removing one by at most 1, as ``OneHot(1)`` says.
    """
    structure = OneHot(1)
    grid: Any = TextKinds()
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
    numbers = numbers_of(counts[NUMBERS_FROM:], std)
    is_number = numbers.n_read > enough and not is_padded
    if is_number:
        rows.read_as({TARGET: _written(numbers)})
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
    least = SEEN_FORMS * std
    some, most = max(MIXED * present, SEEN_BESIDE * std), max(enough, least)
    n_words = counts[Says.WORD] + counts[Says.LABEL] + counts[Says.CODE]
    has_words = n_words > WORDS * present + SURER * std
    left = replace(
        unknown, texts=tuple(other for other in unknown.texts if other != name)
    )
    form, n_times, n_all_times = _times(counts, std, present)
    # words beside times have names, and times are never mistaken for them
    is_mixed = n_times > some and has_words and n_times + n_words > most
    if n_times > most or is_mixed:
        others = max(float(present - n_all_times), 0.0)
        dated = replace(
            left,
            numbers={**unknown.numbers, name: Kind.DATETIME},
            dated=(*unknown.dated, name),
            beside={**unknown.beside, name: others},
        )
        if form is None:
            return dated
        written = {**unknown.written, name: Datetime(format=form)}
        return replace(dated, written=written)
    numbers = numbers_of(counts[NUMBERS_FROM:], std)
    n_text, n_objects = numbers.n_read, counts[Says.NUMBER_ITSELF]
    is_written = n_text > n_objects
    is_number = n_text + n_objects > (most if is_written else enough)
    is_mixed = n_text > some and has_words and n_text + n_words > most
    is_number |= is_written and is_mixed
    if is_number and not (
        is_written and _are_codes(counts, numbers, found, std, present)
    ):
        left = replace(left, numbers={**unknown.numbers, name: Kind.FLOAT})
        if not is_written:
            return left
        left = replace(left, written={**unknown.written, name: _written(numbers)})
        if numbers.n_pointed > MOST * numbers.n_read:
            left = replace(left, pointed=(*unknown.pointed, name))
        return replace(
            left,
            parsed=(*unknown.parsed, name),
            beside={**unknown.beside, name: max(float(n_words), 0.0)},
        )
    if counts[Says.TRUTH] > enough:
        return replace(left, truths=(*unknown.truths, name))
    all_different = max(ALL_DIFFERENT * present, 0.5 * present + SURE * blur)
    if distinct > max(all_different, SEEN_VALUES * blur):
        return replace(left, identifiers=(*unknown.identifiers, name))
    return unknown


def _times(counts: Any, std: float, present: float) -> tuple[str | None, float, float]:
    """Return the form of times, how many cells have it, and how many are any time."""
    least = SOME * present + 3 * SURE * std  # one cell of noise may seem certain
    iso_form, n_iso = chosen_iso_form(
        counts[ISO:NUMBERS_FROM], counts[Says.TIME], std, least
    )
    form, n_dates = chosen_form(counts[DATES:ISO], std, SURE * std)
    n_all = max(n_iso, 0.0) + n_dates
    return (iso_form, n_iso, n_all) if n_iso > n_dates else (form, n_dates, n_all)


def _are_codes(
    counts: Any,
    numbers: NumbersOf,
    found: tuple[float, float],
    std: float,
    present: float,
) -> bool:
    """Say whether numbers in a column of text are codes, which nobody would average.

    Some begin with a zero; or labels as V57 stand beside them; or there are words
    among few different values; or most are one digit: their column is text because
    something else stands beside them, perhaps in few rows.
    """
    distinct, blur = found

    def are_there(n_cells: float, share: float) -> bool:
        return bool(n_cells >= share * present + SURER * std)

    n_words = counts[Says.WORD] + counts[Says.LABEL]
    are_few = distinct <= FEW * present + SURE * blur
    are_digits = numbers.n_digits > ONE_DIGIT * numbers.n_read
    are_digits &= distinct <= FEW_CODES + SURER * blur
    are_digits &= numbers.form == NumberForm()  # nobody gives codes a unit
    return (
        are_there(counts[Says.PADDED], SOME)
        or counts[Says.LABEL] >= max(SOME * present, SEEN_LABELS * std)
        or (are_few and n_words >= MANY_WORDS * present)
        or are_digits
    )


def _written(numbers: NumbersOf) -> Numeric:
    """Return how numbers are written, if not as a computer writes them."""
    if numbers.form == NumberForm():
        return Numeric(parse=True)
    return Numeric(format=numbers.form.sample(None))


# ----------------------------------------------------------------------------
# Whole numbers that differ in nearly every row: they may be identifiers of people.

LEAST_SHARE = 0.001  # of mu²
WANTED_STD = 1 / 80  # of the rows: 4 such are between all rows and 95 % of them
BLURRED_COUNT = (
    1 / 30
)  # noise at which all rows are not distinguishable from 90 % of them
NEARLY_ALL = 0.95  # of the rows that hold a number have one of their own
MANY = 0.90  # of them: a column with fewer must not be named
ADVICE = (
    "{}: nearly every row has a number of its own. If these are identifiers, "
    "synthetic rows may carry those of real people: describe it as Regenerate() or "
    "Drop() in the schema. If they are amounts, give their bounds, as Integer(0, 1000)."
)


def can_be_counted(
    names: tuple[Any, ...], ledger: Ledger, n_rows: float, share: float
) -> bool:
    """Say whether a share of mu² is enough to count whole numbers; reads no row."""
    if not names or share <= 0.0:
        return False
    delta = sensitivity(Distinct(len(names)), ledger.budget.adjacency)
    return ledger.noise_std(share=share, sensitivity=delta) <= BLURRED_COUNT * n_rows


def count_whole_numbers(
    rows: Rows, names: tuple[Any, ...], ledger: Ledger, n_rows: float, most_share: float
) -> dict[Any, tuple[float, float]]:
    r"""Release how many different values columns of whole numbers have; with noise.

    Returns the number and its standard error by column. Nothing is released, and
    nothing is paid, where the noise would hide the answer.

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
        name: (float(estimate), float(blur))
        for name, estimate, blur in zip(names, estimates, noise, strict=True)
    }


def perhaps_identifiers(
    counted: Mapping[Any, tuple[float, float]],
    present: Mapping[Any, tuple[float, float]],
) -> tuple[Any, ...]:
    """Return the columns in which nearly every present row has a value of its own.

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
    distinct: float, blur: float, present: float, present_noise: float
) -> bool:
    """Say whether about 95 % of the present rows, and surely 90 %, differ.

    Examples
    --------
    >>> _nearly_all(980.0, 10.0, 1000.0, 0.0), _nearly_all(940.0, 1.0, 1000.0, 0.0)
    (True, False)
    >>> _nearly_all(980.0, 33.0, 1000.0, 0.0)  # too noisy to tell from 90 %
    False
    """
    noise = math.hypot(blur, MANY * present_noise)
    least = max(NEARLY_ALL * present, MANY * present + SURER * noise, SEEN * noise)
    return distinct > least


def advice_on(names: tuple[Any, ...]) -> str:
    """Return the text of a warning.

    Examples
    --------
    >>> advice_on(("id", "ref"))[:62]
    "columns 'id', 'ref': nearly every row has a number of its own."
    """
    start = "column " if len(names) == 1 else "columns "
    return ADVICE.format(start + ", ".join(map(repr, names)))


# ----------------------------------------------------------------------------
# How many images leave the range of their pixels, or use hardly any of it.

PIXEL_SHARES = (0.0005, 0.01)  # of mu², at least and at most
PIXEL_STD = 1 / 50  # of the images: the noise that is aimed at


def look_at_pixels(rows: Rows, ledger: Ledger, n_rows: float) -> dict[str, float]:
    r"""Release how many images are dark, or have pixels below or above the range.

    *Sensitivity.* Each image is in one of the five cells of :class:`InRange`, by its
    own darkest and brightest pixel. So replacing one moves the histogram by
    :math:`\sqrt 2` at most, and adding or removing one by 1 at most
    (:class:`~skdpgen.privacy.OneHot`). Nothing is asked and paid where noise would
    hide a twelfth of the images.
    """
    structure = OneHot(1)
    share = pixel_share(n_rows, ledger)
    delta = sensitivity(structure, ledger.budget.adjacency)
    std = ledger.noise_std(share=share, sensitivity=delta)
    if not rows.are_here or std > BLURRED * n_rows:
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
    both = shares[InRange.BELOW_AND_ABOVE]
    return {
        "dark": float(shares[InRange.DARK]),
        "below": float(shares[InRange.BELOW] + both),
        "above": float(shares[InRange.ABOVE] + both),
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
