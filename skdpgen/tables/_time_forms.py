"""Forms of dates and times that people write, found by rules that are public."""

import itertools
import re

import numpy as np
from numpy.typing import NDArray

from skdpgen.tables._text_forms import certain, read_time

Counts = NDArray[np.float64]

CLOCKS = ("%H:%M", "%H:%M:%S", "%I:%M %p", "%I:%M:%S %p")
DAYS = {"4-9-9": "%Y{0}%m{0}%d", "9-9-4": "%d{0}%m{0}%Y", "9-9-2": "%d{0}%m{0}%y"}
SHAPES = {(1, 1): "4-9-9", (1, 2): "4-9-9", (0, 4): "9-9-4", (0, 2): "9-9-2"}
MONTH_FIRST = {"%d{0}%m{0}%Y": "%m{0}%d{0}%Y", "%d{0}%m{0}%y": "%m{0}%d{0}%y"}
SEPARATORS = "./-"
NAMED = ("%d %b %Y", "%d-%b-%Y", "%b %d, %Y", "%d %B %Y", "%B %d, %Y")
SHORT_OR_LONG = {"%d %b %Y": "%d %B %Y", "%b %d, %Y": "%B %d, %Y"}  # May is both
SEEMS = 1.5  # noise stds that a cell of a form that was chosen has
TOLD = 2.5  # times what noise does not make: two counts have noise
EITHER = "|"  # between forms of which a text may have both
_CLOCK = r"(?P<hour>\d{1,2}):\d{2}(?P<second>:\d{2})?(?P<half> [AP]M)?"
CLOCK = re.compile(_CLOCK, re.ASCII)
WITH_NUMBERS = re.compile(
    r"(?P<a>\d{1,4})(?P<between>[./-])(?P<b>\d{1,2})(?P=between)(?P<c>\d{1,4})"
    rf"(?: (?P<time>{_CLOCK}))?",
    re.ASCII,
)
WITH_NAMES = re.compile(
    r"(?P<first>\d{1,2})[ -][A-Za-z]{3,9}[ -]\d{4}"
    r"|[A-Za-z]{3,9} (?P<last>\d{1,2}), \d{4}",
    re.ASCII,
)
# what a text shows of zeros before one digit: nothing, that there are some, or none
ZEROS = ("", "0", "-")


def _forms() -> tuple[str, ...]:
    found = [*NAMED, *(a + EITHER + b for a, b in SHORT_OR_LONG.items()), *CLOCKS]
    for days, between, time in itertools.product(
        DAYS.values(), SEPARATORS, ("", *(f" {clock}" for clock in CLOCKS))
    ):
        one = days.format(between) + time
        found.append(one)
        if days in MONTH_FIRST and between != ".":  # points stand behind days alone
            other = MONTH_FIRST[days].format(between) + time
            found += [other, one + EITHER + other]
    return tuple(found)


FORMS = _forms()
# one cell for each form, and what its days and months, and its hours, show of zeros
FORM_CELLS = tuple(itertools.product(FORMS, ZEROS, ZEROS))
PLACES = {cell: place for place, cell in enumerate(FORM_CELLS)}
PER_FORM = len(ZEROS) ** 2


def form_of(text: str) -> tuple[str, str, str] | None:
    """Return in which of the forms a text has a time; None of all other text.

    Beside it is what the days and months, and what the hours, show of zeros.

    Examples
    --------
    >>> form_of("04.08.2023"), form_of("12/31/99"), form_of("soon")
    (('%d.%m.%Y', '0', ''), ('%m/%d/%y', '', ''), None)
    >>> form_of("1/2/2003"), form_of("8:15")
    (('%d/%m/%Y|%m/%d/%Y', '-', ''), ('%H:%M', '', '-'))
    """
    found = CLOCK.fullmatch(text)
    if found is not None:
        form = _clock(found)
        is_time = not np.isnan(read_time(text, form))
        return (form, "", _zeros(found["hour"])) if is_time else None
    found = WITH_NUMBERS.fullmatch(text)
    if found is None:
        return _named_form(text)
    shape = SHAPES.get((len(found["a"]) // 3, len(found["c"])))
    if shape is None or len(found["a"]) == 3:
        return None
    time = f" {_clock(found)}" if found["time"] else ""
    days, between = DAYS[shape], found["between"]
    some = [days]
    if days in MONTH_FIRST and between != ".":
        some.append(MONTH_FIRST[days])
    forms = [one.format(between) + time for one in some]
    fitting = [one for one in forms if not np.isnan(read_time(text, one))]
    numbers = (found["b"], found["c"] if shape == "4-9-9" else found["a"])
    form = EITHER.join(fitting)
    return (form, _zeros(*numbers), _zeros(found["hour"] or "")) if form else None


def _named_form(text: str) -> tuple[str, str, str] | None:
    found = WITH_NAMES.fullmatch(text)
    if found is None:
        return None
    fitting = [form for form in NAMED if not np.isnan(read_time(text, form))]
    form = EITHER.join(fitting)
    return (form, _zeros(found["first"] or found["last"]), "") if form else None


def _clock(found: re.Match[str]) -> str:
    seconds = ":%S" if found["second"] else ""
    return f"%I:%M{seconds} %p" if found["half"] else f"%H:%M{seconds}"


def _zeros(*numbers: str) -> str:
    """Return what numbers of one or two digits show of zeros in front."""
    if any(len(number) == 1 for number in numbers):
        return "-"
    return "0" if any(number.startswith("0") for number in numbers) else ""


def chosen_form(counts: Counts, std: float, least: float) -> tuple[str | None, float]:
    """Return the form that most cells of a column have, from RELEASED counts.

    A day that may be a month counts for both; which it is must be told by more than
    a few times ``least`` cells of the other days.

    Parameters
    ----------
    counts : ndarray of shape (n_cells,)
        Noisy counts of the forms.
    std : float
        Their noise.
    least : float
        Cells that noise alone does not make.

    Returns
    -------
    form : str or None
        None where no cells are left over, or where days and months may be swapped.
    n_cells : float
        How many are written in it.

    Examples
    --------
    >>> counts = np.zeros(len(FORM_CELLS))
    >>> counts[PLACES["%d/%m/%Y", "", ""]] = 61
    >>> counts[PLACES["%d/%m/%Y|%m/%d/%Y", "-", ""]] = 39
    >>> chosen_form(counts, 0.0, 0.0)
    ('%-d/%-m/%Y', 100.0)
    """
    table = counts.reshape(len(FORMS), PER_FORM)
    sure = certain(table, std)
    totals = dict(zip(FORMS, sure.sum(axis=1).tolist(), strict=True))
    best, most = None, 0.0
    for form in FORMS:
        if EITHER in form:
            continue
        shared = _shared(form)
        total = totals[form] + sum(totals[one] for one in shared)
        rivals = [f for one in shared for f in one.split(EITHER) if f != form]
        is_told = all(totals[form] > totals[f] + TOLD * least for f in rivals)
        if total > most and is_told:
            best, most = form, total
    if best is None:
        return None, 0.0
    rows = [FORMS.index(one) for one in (best, *_shared(best))]
    written = _without_zeros(best, sure[rows].sum(axis=0))
    seems = table[rows] > SEEMS * std
    return written, float(table[rows][seems].sum())


def _shared(form: str) -> list[str]:
    """Return the cells of texts that may be in this form or another."""
    return [one for one in FORMS if EITHER in one and form in one.split(EITHER)]


def _without_zeros(form: str, cells: Counts) -> str:
    """Return the form as it is written: with zeros, if no more cells lack them."""
    table = cells.reshape(len(ZEROS), len(ZEROS))
    _, with_days, no_days = table.sum(axis=1).tolist()
    _, with_hours, no_hours = table.sum(axis=0).tolist()
    if no_days > with_days:
        form = re.sub("%(?=[dm])", "%-", form)
    if no_hours > with_hours:
        form = re.sub("%(?=[HI])", "%-", form)
    return form


# ----------------------------------------------------------------------- ISO times

PARTS = ("%H:%M", "%H:%M:%S", "%H:%M:%S.%3f", "%H:%M:%S.%f")
_HOURS = [f"{sign}{hour:02d}" for sign in "+-" for hour in range(15)]
_OFFSETS = [f"{hour}{colon}{m}" for hour in _HOURS for colon in (":", "")
            for m in ("00", "15", "30", "45")]  # fmt: skip
ZONES = ("", "Z", *_OFFSETS)
# ISO texts that are not written as pandas writes times without a zone: a cell each
ISO_TIMES = tuple(f"%Y-%m-%d{apart}{part}" for apart in "T " for part in PARTS)
ISO_FORMS = tuple(form + zone for form in ISO_TIMES for zone in ZONES)
ISO_PLACES = {form: place for place, form in enumerate(ISO_FORMS)}
ONE_ZONE = 0.1  # of the times may have another offset than nearly all
AS_PANDAS = "%Y-%m-%d %H:%M:%S"
ISO_TEXT = re.compile(
    r"\d{4}-\d\d-\d\d(?P<apart>[T ])\d\d:\d\d(?P<seconds>:\d\d(?P<rest>\.\d+)?)?"
    r"(?P<zone>Z|[+-]\d\d:?\d\d)?",
    re.ASCII,
)


def iso_place(text: str) -> int | None:
    """Return which of the ISO forms a time is written in; None of all others.

    Examples
    --------
    >>> ISO_FORMS[iso_place("2024-02-29 08:15+01:00")], iso_place("2024-02-29")
    ('%Y-%m-%d %H:%M+01:00', None)
    """
    found = ISO_TEXT.fullmatch(text)
    if found is None:
        return None
    part = "%H:%M:%S" if found["seconds"] else "%H:%M"
    if found["rest"]:
        part += {4: ".%3f", 7: ".%f"}.get(len(found["rest"]), "?")
    form = f"%Y-%m-%d{found['apart']}{part}{found['zone'] or ''}"
    return None if form == AS_PANDAS else ISO_PLACES.get(form)


def chosen_iso_form(
    counts: Counts, n_others: float, std: float, least: float
) -> tuple[str | None, float]:
    """Return the ISO form of nearly all times of a column, from RELEASED counts.

    Times in several offsets are written in UTC, with a Z.

    Parameters
    ----------
    counts : ndarray of shape (n_iso_forms,)
        Noisy counts.
    n_others : float
        ISO times without a cell of their own.
    std : float
        The noise of the counts.
    least : float
        Times in other forms that would be no loss.

    Returns
    -------
    form : str or None
        None if there are several.
    n_times : float
        Times in any ISO form.

    Examples
    --------
    >>> counts = np.zeros(len(ISO_FORMS))
    >>> counts[ISO_PLACES["%Y-%m-%dT%H:%M"]] = 95
    >>> chosen_iso_form(counts, 2.0, 0.1, 5.0)
    ('%Y-%m-%dT%H:%M', 97.0)
    """
    table = certain(counts, std).reshape(len(ISO_TIMES), len(ZONES))
    n_times = float(table.sum()) + n_others
    by_zone = table[best := int(table.sum(axis=1).argmax())]
    zone = int(by_zone.argmax())
    if not by_zone.any() or by_zone.sum() < n_times - least:
        return None, n_times
    if by_zone[zone] >= n_times - max(least, ONE_ZONE * n_times):
        return ISO_TIMES[best] + ZONES[zone], n_times
    has_zone = by_zone[0] <= least
    return (ISO_TIMES[best] + "Z" if has_zone else None), n_times
