"""How numbers and times are written as text, and how that is read."""

import math
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property, lru_cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdpgen.exceptions import (
    SchemaError,
)

# ----------------------------------------------------------------------------
# Formats of numbers in text: marks, a unit, blanks; by public rules only.
#
# A sample describes a format, as `"€ 1.234,56"` or `"45 %"`. One text may fit several
# formats. What it shows is one of few shapes (of its digits) in one of few families
# (of its unit and blanks). So a column of text has one cell for each such pair, and
# RELEASED counts of the cells choose the format of the column.

Floats = NDArray[np.float64]

BLANKS = " \u00a0\u2009\u202f"
APOSTROPHES = "'\u2019"
BETWEEN_UNITS = ("", " ", "\u00a0", "\u202f")
UNITS_IN_FRONT = ("US$", "USD", "EUR", "CHF", "GBP", "$", "€", "£", "¥")
UNITS_BEHIND = (*("%", "‰", "€", "$", "£", "EUR", "USD", "CHF", "GBP"),
         *("kr", "zł", "kg", "cm", "mm", "km", "°C"))  # fmt: skip
SIGNS = str.maketrans("\u2212", "-")
MORE_DIGITS = "…"  # behind a sample: there may be more of them
SURE_DIGITS = "567891234"
GROUP_DIGITS = 3


@dataclass(frozen=True)
class NumberForm:
    """The format of the numbers of a column.

    Parameters
    ----------
    decimal : str, default="."
        The mark before the decimals: a point or a comma.
    thousands : str, default=""
        The separator between thousands.
    before, after : str, default=""
        The unit with its blank, or blanks only.
    has_plus : bool, default=False
        Whether numbers above 0 have a plus sign.

    Examples
    --------
    >>> euros = NumberForm(",", ".", before="€ ")
    >>> euros.read("€ 2.859,76"), euros.read("12"), euros.write(-1234.5, 2)
    (2859.76, 12.0, '-€ 1.234,50')
    """

    decimal: str = "."
    thousands: str = ""
    before: str = ""
    after: str = ""
    has_plus: bool = False

    def read(self, text: str) -> float:
        """Return the number in a text; NaN if the text is not certainly one.

        Blanks around it, a sign, a unit and groups of thousands are optional. Text with
        another unit, or another decimal mark, is no number.
        """
        match = self._reader.fullmatch(text.strip().translate(SIGNS))
        if match is None or (match["sign"] and match["inner"]):
            return math.nan
        integer = match["whole"]
        if match["group"]:
            integer = integer.replace(match["group"], "")
        fraction = (match["rest"] or "").replace(self.decimal, ".")
        number = float(f"{match['sign'] or match['inner']}{integer}{fraction}")
        return number if math.isfinite(number) else math.nan

    @cached_property
    def _reader(self) -> re.Pattern[str]:
        groups = re.escape(f"{_other(self.decimal)}{APOSTROPHES}{BLANKS}")
        mark, gap = re.escape(self.decimal), f"[{re.escape(BLANKS)}]?"
        before, after = self.before.strip(), self.after.strip()
        first = f"(?:{re.escape(before)}{gap})?" if before else ""
        last = f"(?:{gap}{re.escape(after)})?" if after else ""
        return re.compile(
            rf"(?P<sign>[+-]?){first}(?P<inner>[+-]?)(?={mark}?\d)"
            rf"(?P<whole>[1-9]\d{{0,2}}(?P<group>[{groups}])\d{{3}}"
            rf"(?:(?P=group)\d{{3}})*|\d*)"
            rf"(?P<rest>(?:{mark}\d*)?(?:[eE][+-]?\d+)?){last}",
            re.ASCII,
        )

    def write(self, value: float, decimals: int | None) -> str:
        """Return a number as text; the sign stands before the unit."""
        digits = write_number(value, decimals)
        sign = "-" if digits.startswith("-") else "+" * (self.has_plus and value > 0)
        integer, point, fraction = digits.removeprefix("-").partition(".")
        mark = self.decimal if point else ""
        text = f"{_in_thousands(integer, self.thousands)}{mark}{fraction}"
        if self.before.strip():
            return f"{sign}{self.before}{text}{self.after}"
        return f"{self.before}{sign}{text}{self.after}"

    def sample(self, decimals: int | None) -> str:
        """Return a sample of this format; "…" stands for any number of decimals.

        Examples
        --------
        >>> NumberForm(",", ".").sample(2), NumberForm(after=" %").sample(None)
        ('1.234,56', '1234.56… %')
        """
        digits = "56" if decimals is None else SURE_DIGITS[:decimals]
        mark, ellipsis = (
            self.decimal if digits else "",
            MORE_DIGITS if decimals is None else "",
        )
        plus = "+" if self.has_plus else ""
        number = f"1{self.thousands}234{mark}{digits}{ellipsis}"
        return f"{self.before}{plus}{number}{self.after}"


PLAIN = NumberForm()
_SAMPLE = re.compile(
    rf"(?P<before>[^\d+]*?)(?P<plus>\+?)"
    rf"(?P<number>\d[\d.,{BLANKS}{APOSTROPHES}]*?)(?P<more>…|\.\.\.)?"
    rf"(?P<after>[^\d]*)"
)
_NUMBER = re.compile(
    rf"(?:(?P<whole>[1-9]\d{{0,2}}(?P<group>[.,{BLANKS}{APOSTROPHES}])\d{{3}}"
    rf"(?:(?P=group)\d{{3}})*)|0|[1-9]\d*)(?:(?P<mark>[.,])(?P<part>\d+))?",
    re.ASCII,
)
NO_SAMPLE = (
    "format of a number must be a number as it is written, as '2.859,76', '1 234', "
    "'$3.10' or '45 %'. Got {!r} instead."
)
UNCLEAR = (
    "format {0!r} has one mark before three digits, which may be decimals or a "
    "thousand. Write '{1}' for thousands, or '{2}' for decimals."
)


@lru_cache(maxsize=256)
def number_form(
    sample: str, *, is_whole: bool = False
) -> tuple[NumberForm, int | None]:
    """Return the form of a sample, and its number of decimals; None is any number.

    Parameters
    ----------
    sample : str
    is_whole : bool, default=False
        Whether the column has integers only, so each mark separates thousands.

    Examples
    --------
    >>> number_form("€ 2.859,76")
    (NumberForm(decimal=',', thousands='.', before='€ ', after='', has_plus=False), 2)
    >>> number_form("45 %")[0].write(12.0, 0)
    '12 %'
    """
    match = _SAMPLE.fullmatch(sample) if isinstance(sample, str) else None
    number = None if match is None else _NUMBER.fullmatch(match["number"])
    if match is None or number is None or (match["before"].strip() and match["plus"]):
        raise SchemaError(NO_SAMPLE.format(sample))
    before, after = match["before"], match["after"]
    has_signs = set("+-\u2212") & set(before + after) or after[:1] in (".", ",")
    if has_signs or (before.strip() and after.strip()):
        raise SchemaError(NO_SAMPLE.format(sample))
    group, mark = number["group"] or "", number["mark"]
    n_groups = match["number"].count(group) if group else 0
    if group in (".", ",") and not mark and n_groups == 1 and not is_whole:
        decimal = _other(group)
        thousands = f"1{group}234{decimal}5"
        raise SchemaError(UNCLEAR.format(sample, thousands, f"1234{group}567"))
    if mark is not None and mark == group:
        raise SchemaError(NO_SAMPLE.format(sample))
    decimal = mark or (_other(group) if group in (".", ",") else ".")
    form = NumberForm(decimal, group, before, after, bool(match["plus"]))
    return form, None if match["more"] else len(number["part"] or "")


def read_number(text: str) -> float:
    """Return the number in a text; NaN if the text is not certainly one.

    Spaces around, a sign, groups of thousands and a decimal point are allowed. A comma
    may only separate thousands, and units such as % or a currency are not allowed.

    Examples
    --------
    >>> [read_number(text) for text in (" +1,234.5", "12,5", "1 000", "5%")]
    [1234.5, nan, 1000.0, nan]
    """
    return PLAIN.read(text)


def write_number(value: float, decimals: int | None) -> str:
    """Return a number as plain text.

    Examples
    --------
    >>> write_number(1234.5, 2), write_number(0.123456789012, None)
    ('1234.50', '0.123456789')
    """
    if decimals is None:
        text = np.format_float_positional(float(f"{value:.9g}"), trim="-")
    else:
        text = f"{value:.{decimals}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def _other(mark: str) -> str:
    return {".": ",", ",": "."}.get(mark, "")


def _in_thousands(digits: str, mark: str) -> str:
    if not mark:
        return digits
    return f"{int(digits):,}".replace(",", mark)


# ------------------------------------------------ the form of the number in one text


class Shape(NamedTuple):
    """The form of the digits of a text.

    Parameters
    ----------
    size : str
        ``"digit"`` for one digit, ``"small"`` below a thousand, ``"large"`` above it
        and not grouped, else the mark between thousands.
    mark : str
        The mark before decimals, if there is one.
    is_sure : bool
        False if there is one mark, followed by three digits: ``1,234`` or ``1.234``.
    """

    size: str
    mark: str = ""
    is_sure: bool = True

    def fits(self, decimal: str) -> bool:
        """Return whether a form with this decimal mark can read the text."""
        return not self.is_sure or decimal not in (_other(self.mark), self.size)

    def shows(self, decimal: str) -> bool:
        """Return whether no other decimal mark can read the text."""
        return self.is_sure and not self.fits(_other(decimal))


EXPONENT = Shape("exponent", ".")
GROUPS = (*APOSTROPHES, *BLANKS)
SHAPES = (
    *(Shape("digit"), EXPONENT),
    *(Shape(size, mark) for size in ("small", "large") for mark in ("", ".", ",")),
    *(Shape(group, mark) for group in GROUPS for mark in ("", ".", ",")),
    *(Shape(",", mark) for mark in ("", ".")),
    *(Shape(".", mark) for mark in ("", ",")),
    *(Shape(group, "", is_sure=False) for group in ".,"),
)
PLACES = {shape: place for place, shape in enumerate(SHAPES)}
# Without a unit.
BARE_FAMILIES = ("", "+", "blank before", "blank after", "blanks around")
UNITS = (
    *((unit + gap, "") for unit, gap in product(UNITS_IN_FRONT, BETWEEN_UNITS)),
    *(("", gap + unit) for unit, gap in product(UNITS_BEHIND, BETWEEN_UNITS)),
)
FAMILIES = {family: i for i, family in enumerate((*BARE_FAMILIES, *UNITS))}
N_FORMS = len(FAMILIES) * len(SHAPES)
_UNITS_BEFORE = "|".join(map(re.escape, sorted(UNITS_IN_FRONT, key=len, reverse=True)))
_UNITS_AFTER = "|".join(map(re.escape, sorted(UNITS_BEHIND, key=len, reverse=True)))
_GAP = r"[ \u00a0\u202f]?"
WRITTEN = re.compile(
    rf"(?P<sign>[+-]?)(?P<before>(?:{_UNITS_BEFORE}){_GAP})?(?P<inner>[+-]?)"
    rf"(?P<number>[\d.,{BLANKS}{APOSTROPHES}]*\d)(?P<exponent>[eE][+-]?\d+)?"
    rf"(?P<after>{_GAP}(?:{_UNITS_AFTER}))?",
    re.ASCII,
)


def place_of_number(text: str) -> int | None:
    """Return the cell of the text of a number; None for all other text.

    Examples
    --------
    >>> place_of_number("12.5") == PLACES[Shape("small", ".")]
    True
    >>> [place_of_number(text) for text in ("007", "1,23,456", "$5 %", "5.", "soon")]
    [None, None, None, None, None]
    """
    stripped = text.strip().translate(SIGNS)
    match = WRITTEN.fullmatch(stripped)
    if match is None or (match["before"] and match["after"]):
        return None
    if (match["sign"] and match["inner"]) or (match["inner"] and not match["before"]):
        return None
    shape = _shape(match["number"])
    if shape is None:
        return None
    if match["exponent"]:
        number = match["number"] + match["exponent"]
        is_plain = shape.mark != "," and shape.size in ("small", "digit")
        if not is_plain or not math.isfinite(float(number)):
            return None
        shape = EXPONENT
    if match["before"] or match["after"]:
        family: str | tuple[str, str] = (match["before"] or "", match["after"] or "")
    elif stripped != text.translate(SIGNS):
        ends = text[:1].isspace(), text[-1:].isspace()
        family = (
            BARE_FAMILIES[4]
            if all(ends)
            else BARE_FAMILIES[2]
            if ends[0]
            else BARE_FAMILIES[3]
        )
    else:
        family = "+" if match["sign"] == "+" else ""
    return FAMILIES[family] * len(SHAPES) + PLACES[shape]


def _shape(number: str) -> Shape | None:
    match = _NUMBER.fullmatch(number)
    if match is None:
        return None
    group, mark = match["group"], match["mark"] or ""
    if group is None:
        integer = number.partition(mark)[0] if mark else number
        if len(integer) == 1 and not mark:
            return Shape("digit")
        return Shape("small" if len(integer) <= GROUP_DIGITS else "large", mark)
    if group in ".,":
        if group == mark:
            return None
        if not mark and number.count(group) == 1:
            return Shape(group, "", is_sure=False)
    return Shape(group, mark)


# -------------------------------------------------- the form of a column, from counts


@dataclass(frozen=True)
class NumbersOf:
    """The numbers in a column of text, from RELEASED counts.

    Parameters
    ----------
    form : NumberForm
        The format of most of them.
    n_read : float
        Cells that are numbers in this form.
    n_digits : float
        Those that are a single digit.
    n_pointed : float
        Those with a decimal mark, as 30000.0.
    """

    form: NumberForm
    n_read: float
    n_digits: float
    n_pointed: float = 0.0


AS_COMPUTERS_WRITE = {
    *(Shape("digit"), EXPONENT, Shape(".", "", is_sure=False)),
    *(Shape(size, mark) for size in ("small", "large") for mark in ("", ".")),
}
IS_COMPUTER_SHAPE = np.array([shape in AS_COMPUTERS_WRITE for shape in SHAPES])
PLUS_SHARE = 0.25  # of the numbers have a plus sign, if the format has one
UNIT_SHARE = 0.25  # of the numbers have a unit, if the format has one
CERTAIN_STDS = 4.5  # which noise alone does not reach in any of thousands of cells


def likely_counts(counts: Floats, std: float) -> Floats:
    """Return noisy counts, and 0 for those that may be noise only.

    Of n empty cells, less than one keeps its count on average.

    Examples
    --------
    >>> likely_counts(np.array([1.0, 50.0]), 1.0).tolist()
    [0.0, 50.0]
    """
    limit = std * math.sqrt(2 * math.log(max(counts.size, 2)))
    return np.where(counts > limit, counts, 0.0)


def certain_counts(counts: Floats, std: float) -> Floats:
    """Return noisy counts, and 0 for those that may belong to empty cells."""
    return np.where(counts > CERTAIN_STDS * std, counts, 0.0)


def numbers_of(counts: Floats, std: float) -> NumbersOf:
    """Choose the format of most numbers in a column.

    Separators and units that a computer would not write are chosen by cells that
    certainly have rows. The number of numbers is summed over all cells that likely do.

    Parameters
    ----------
    counts : ndarray of shape (N_FORMS,)
        RELEASED counts.
    std : float
        Their noise.

    Examples
    --------
    >>> counts = np.zeros(N_FORMS)
    >>> for text in ("€ 12,50", "€ 1.234,56", "€ 999"):
    ...     counts[place_of_number(text)] = 100
    >>> numbers = numbers_of(counts, 1.0)
    >>> numbers.form.sample(2), numbers.n_read
    ('€ 1.234,56', 300.0)
    """
    table = counts.reshape(len(FAMILIES), len(SHAPES))
    n_bare = len(BARE_FAMILIES)
    likely, sure_counts = likely_counts(table[:n_bare], std), certain_counts(table, std)
    # numbers as computers write them are usual, and have few cells
    likely[0] = np.where(IS_COMPUTER_SHAPE & (table[0] > std), table[0], likely[0])
    of_units = sure_counts[n_bare:].sum(axis=1)
    best = int(of_units.argmax())
    n_units = float(of_units[best])
    has_unit = n_units > UNIT_SHARE * (n_units + float(likely.sum()))
    sure_bare, before, after = sure_counts[:n_bare], "", ""
    by_shape = sure_bare.sum(axis=0)
    if has_unit:
        before, after = UNITS[best]
        likely = np.vstack([likely, likely_counts(table[n_bare + best], std)])
        by_shape = by_shape + sure_counts[n_bare + best]
    decimal = _decimal(by_shape)
    fits = np.array([shape.fits(decimal) for shape in SHAPES])
    n_read = float(np.where(fits, likely, 0.0).sum())
    by_family = np.where(fits, sure_bare, 0.0).sum(axis=1)
    if not has_unit:
        around, first, last = by_family[4], by_family[2], by_family[3]
        before = " " if max(around, first) > n_read / 2 else ""
        after = " " if max(around, last) > n_read / 2 else ""
    has_plus = not has_unit and float(by_family[1]) > PLUS_SHARE * n_read
    thousands = _thousands(np.where(fits, by_shape, 0.0), decimal)
    form = NumberForm(decimal, thousands, before, after, has_plus)
    has_mark = np.array([shape.shows(decimal) for shape in SHAPES])
    n_digits = float(likely[:, PLACES[Shape("digit")]].sum())
    return NumbersOf(form, n_read, n_digits, float(likely[:, fits & has_mark].sum()))


def _decimal(by_shape: Floats) -> str:
    """Return the decimal mark: that of most cells, or the likelier one.

    If points precede three digits, there are integers below 1,000, and no cell has a
    decimal point, then the points separate thousands: real decimals would also have
    other numbers of digits.
    """
    sure_counts = {
        mark: sum(float(by_shape[PLACES[s]]) for s in SHAPES if s.shows(mark))
        for mark in ".,"
    }
    if sure_counts["."] or sure_counts[","]:
        return "," if sure_counts[","] > sure_counts["."] else "."
    with_points = by_shape[PLACES[Shape(".", "", is_sure=False)]]
    n_small = by_shape[PLACES[Shape("small")]] + by_shape[PLACES[Shape("digit")]]
    return "," if with_points and n_small else "."


def _thousands(by_shape: Floats, decimal: str) -> str:
    """Return the separator of thousands, if more cells have it than lack it."""
    n_by_mark = {
        mark: sum(float(by_shape[PLACES[s]]) for s in SHAPES if s.size == mark)
        for mark in (*GROUPS, _other(decimal))
    }
    best = max(n_by_mark, key=lambda mark: n_by_mark[mark])
    n_ungrouped = sum(float(by_shape[PLACES[s]]) for s in SHAPES if s.size == "large")
    return best if n_by_mark[best] > n_ungrouped else ""


# ----------------------------------------------------------------------------
# Times in text, one text at a time; no text raises an error.

EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
EXAMPLE_TIME = datetime(2004, 11, 23, 13, 35, 46)  # its parts all differ
DATE = re.compile(r"%[YyGmbBdejUWVuwaAcxDF]")
YEAR = re.compile(r"%[YyGcxDF]")
TIME_OF_DAY = re.compile(r"%[HIMSfpcXsT]")
OFFSET = re.compile(r"(?<=%[SMf])(?:Z|[+-]\d\d:?\d\d)$")
UNPADDED = re.compile(r"(?<!%)%-(?=[dmHIMSjy])")
NO_DATE = 2000  # the year of a time of day


class TimePlan(NamedTuple):
    """How to read a form: by ``strptime``, with a shift to its time zone offset."""

    plain: str
    shift: float
    has_date: bool


@lru_cache(maxsize=256)
def plan_of(form: str) -> TimePlan:
    """Return how times in a form are read.

    Examples
    --------
    >>> plan_of("%-d.%-m.%Y").plain, plan_of("%Y-%m-%dT%H:%M+02:00")
    ('%d.%m.%Y', TimePlan(plain='%Y-%m-%dT%H:%M%z', shift=7200.0, has_date=True))
    """
    directives = UNPADDED.sub("%", form).replace("%3f", "%f")
    named, shift = OFFSET.search(directives), 0.0
    if named is not None:
        directives = directives[: named.start()] + "%z"
        shift = _seconds_of_offset(named[0])
    return TimePlan(directives, shift, DATE.search(directives) is not None)


def _seconds_of_offset(text: str) -> float:
    if text == "Z":
        return 0.0
    seconds = 3600.0 * int(text[1:3]) + 60.0 * int(text[-2:])
    return -seconds if text[0] == "-" else seconds


def write_time(stamp: Any, form: str) -> str:
    """Return a time in a form, as ``strftime`` does, but for ``%-d`` and ``%3f``.

    Examples
    --------
    >>> write_time(EXAMPLE_TIME, "%-m/%-d/%Y %-I:%M %p")
    '11/23/2004 1:35 PM'
    >>> write_time(EXAMPLE_TIME, "%H:%M:%S.%3fZ")
    '13:35:46.000Z'
    """
    text = form.replace("%3f", f"{stamp.microsecond // 1000:03d}")
    text = text.replace("%Y", f"{stamp.year:04d}")  # strftime may write the year 980
    parts = [
        str(int(stamp.strftime(f"%{part[0]}"))) + part[1:] if place else part
        for place, part in enumerate(UNPADDED.split(text))
    ]
    zoned = stamp if stamp.tzinfo else stamp.replace(tzinfo=UTC)
    return str(zoned.strftime("".join(parts)))


def read_time(text: str, form: str) -> float:
    """Return the seconds since 2000 of a time in a form of ``strptime``, or NaN.

    A form that ends in an offset, such as ``+02:00``, gives local times of that offset;
    times with another offset are converted to it. Times of day are those of 1 January
    2000.

    Examples
    --------
    >>> read_time("02.01.2000", "%d.%m.%Y"), read_time("2.1.", "%d.%m.%Y")
    (86400.0, nan)
    """
    try:
        directives, shift, is_dated = plan_of(form)
        stamp = datetime.strptime(text.strip(), directives)
        stamp = stamp if stamp.tzinfo else stamp.replace(tzinfo=UTC)
        stamp = stamp if is_dated else stamp.replace(year=NO_DATE)
        return (stamp - EPOCH).total_seconds() + shift
    except Exception:
        return math.nan


def is_form(form: Any) -> bool:
    """Return whether times can be written in a form and read back.

    A day of a month needs its year: there is no 29 February in most.
    """
    try:
        directives = plan_of(form).plain
        if "%d" in directives and not YEAR.search(directives):
            return False
        return "%" in form and not math.isnan(
            read_time(write_time(EXAMPLE_TIME, form), form)
        )
    except (TypeError, ValueError):
        return False


def has_date(form: str) -> bool:
    """Return whether a form writes more than a time of day."""
    return plan_of(form).has_date


def has_time_of_day(form: str) -> bool:
    """Return whether a form writes more than a date."""
    return TIME_OF_DAY.search(plan_of(form).plain) is not None
