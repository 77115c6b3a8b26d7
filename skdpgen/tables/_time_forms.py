"""Common forms of dates and times in text, recognised by public rules."""

import itertools
import math
import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from skdpgen.tables._text_forms import certain_counts, read_time

Counts = NDArray[np.float64]

CLOCKS = ("%H:%M", "%H:%M:%S", "%I:%M %p", "%I:%M:%S %p")
DAYS = {"4-9-9": "%Y{0}%m{0}%d", "9-9-4": "%d{0}%m{0}%Y", "9-9-2": "%d{0}%m{0}%y"}
SHAPES = {(1, 1): "4-9-9", (1, 2): "4-9-9", (0, 4): "9-9-4", (0, 2): "9-9-2"}
MONTH_FIRST = {"%d{0}%m{0}%Y": "%m{0}%d{0}%Y", "%d{0}%m{0}%y": "%m{0}%d{0}%y"}
SEPARATORS = "./-"
NAMED_MONTHS = ("%d %b %Y", "%d-%b-%Y", "%b %d, %Y", "%d %B %Y", "%B %d, %Y")
SHORT_OR_LONG = {"%d %b %Y": "%d %B %Y", "%b %d, %Y": "%B %d, %Y"}  # May is both
LIKELY_CELL_STDS = 1.5  # noise stds that a cell of a form that was chosen has
DECIDED_FACTOR = 2.5  # times what noise does not make: two counts have noise
FORM_SEPARATOR = "|"  # between forms of which a text may have both
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
# zeros before single digits in a text: unknown, present, or absent
ZEROS = ("", "0", "-")


def _forms() -> tuple[str, ...]:
    forms = [
        *NAMED_MONTHS,
        *(a + FORM_SEPARATOR + b for a, b in SHORT_OR_LONG.items()),
        *CLOCKS,
    ]
    for days, between, time in itertools.product(
        DAYS.values(), SEPARATORS, ("", *(f" {clock}" for clock in CLOCKS))
    ):
        day_first = days.format(between) + time
        forms.append(day_first)
        if days in MONTH_FIRST and between != ".":  # with points the day comes first
            month_first = MONTH_FIRST[days].format(between) + time
            forms += [month_first, day_first + FORM_SEPARATOR + month_first]
    return tuple(forms)


FORMS = _forms()
# one cell for each form and use of zeros in its days and months, and in its hours
FORM_CELLS = tuple(itertools.product(FORMS, ZEROS, ZEROS))
PLACES = {cell: place for place, cell in enumerate(FORM_CELLS)}
PER_FORM = len(ZEROS) ** 2


def form_of(text: str) -> tuple[str, str, str] | None:
    """Return the form of a time in text; None for all other text.

    Also returns the use of zeros in days and months, and in hours.

    Examples
    --------
    >>> form_of("04.08.2023"), form_of("12/31/99"), form_of("soon")
    (('%d.%m.%Y', '0', ''), ('%m/%d/%y', '', ''), None)
    >>> form_of("1/2/2003"), form_of("8:15")
    (('%d/%m/%Y|%m/%d/%Y', '-', ''), ('%H:%M', '', '-'))
    """
    match = CLOCK.fullmatch(text)
    if match is not None:
        form = _clock(match)
        is_time = not np.isnan(read_time(text, form))
        return (form, "", _zeros(match["hour"])) if is_time else None
    match = WITH_NUMBERS.fullmatch(text)
    if match is None:
        return _form_with_names(text)
    shape = SHAPES.get((len(match["a"]) // 3, len(match["c"])))
    if shape is None or len(match["a"]) == 3:
        return None
    time = f" {_clock(match)}" if match["time"] else ""
    days, between = DAYS[shape], match["between"]
    orders = [days]
    if days in MONTH_FIRST and between != ".":
        orders.append(MONTH_FIRST[days])
    forms = [order.format(between) + time for order in orders]
    fitting = [
        candidate for candidate in forms if not np.isnan(read_time(text, candidate))
    ]
    numbers = (match["b"], match["c"] if shape == "4-9-9" else match["a"])
    form = FORM_SEPARATOR.join(fitting)
    return (form, _zeros(*numbers), _zeros(match["hour"] or "")) if form else None


def _form_with_names(text: str) -> tuple[str, str, str] | None:
    match = WITH_NAMES.fullmatch(text)
    if match is None:
        return None
    fitting = [form for form in NAMED_MONTHS if not np.isnan(read_time(text, form))]
    form = FORM_SEPARATOR.join(fitting)
    return (form, _zeros(match["first"] or match["last"]), "") if form else None


def _clock(match: re.Match[str]) -> str:
    seconds = ":%S" if match["second"] else ""
    return f"%I:%M{seconds} %p" if match["half"] else f"%H:%M{seconds}"


def _zeros(*numbers: str) -> str:
    """Return whether numbers of one or two digits show leading zeros."""
    if any(len(number) == 1 for number in numbers):
        return "-"
    return "0" if any(number.startswith("0") for number in numbers) else ""


def chosen_form(counts: Counts, std: float, least: float) -> tuple[str | None, float]:
    """Return the form of most cells of a column, from RELEASED counts.

    A day that may also be a month counts for both forms. Days above 12 must decide
    between them, by more than a few times ``least`` cells.

    Parameters
    ----------
    counts : ndarray of shape (n_cells,)
        Noisy counts of the forms.
    std : float
        Their noise.
    least : float
        A number of cells that noise alone does not reach.

    Returns
    -------
    form : str or None
        None if no form has certain cells, or if days and months may be swapped.
    n_cells : float
        Number of cells in this form.

    Examples
    --------
    >>> counts = np.zeros(len(FORM_CELLS))
    >>> counts[PLACES["%d/%m/%Y", "", ""]] = 61
    >>> counts[PLACES["%d/%m/%Y|%m/%d/%Y", "-", ""]] = 39
    >>> chosen_form(counts, 0.0, 0.0)
    ('%-d/%-m/%Y', 100.0)
    """
    table = counts.reshape(len(FORMS), PER_FORM)
    sure_counts = certain_counts(table, std)
    totals = dict(zip(FORMS, sure_counts.sum(axis=1).tolist(), strict=True))
    best, largest = None, 0.0
    for form in FORMS:
        if FORM_SEPARATOR in form:
            continue
        shared = _shared(form)
        total = totals[form] + sum(totals[name] for name in shared)
        rivals = [f for name in shared for f in name.split(FORM_SEPARATOR) if f != form]
        is_decided = all(
            totals[form] > totals[f] + DECIDED_FACTOR * least for f in rivals
        )
        if total > largest and is_decided:
            best, largest = form, total
    if best is None:
        return None, 0.0
    rows = [FORMS.index(name) for name in (best, *_shared(best))]
    written = _without_zeros(best, sure_counts[rows].sum(axis=0))
    is_likely = table[rows] > LIKELY_CELL_STDS * std
    return written, float(table[rows][is_likely].sum())


def _shared(form: str) -> list[str]:
    """Return the ambiguous forms that include this one."""
    return [
        name
        for name in FORMS
        if FORM_SEPARATOR in name and form in name.split(FORM_SEPARATOR)
    ]


def _without_zeros(form: str, cells: Counts) -> str:
    """Return the form without leading zeros, if more cells lack them than have them."""
    table = cells.reshape(len(ZEROS), len(ZEROS))
    _, with_days, no_days = table.sum(axis=1).tolist()
    _, with_hours, no_hours = table.sum(axis=0).tolist()
    if no_days > with_days:
        form = re.sub("%(?=[dm])", "%-", form)
    if no_hours > with_hours:
        form = re.sub("%(?=[HI])", "%-", form)
    return form


# ----------------------------------------------------------------------- ISO times

TIMES_OF_DAY = ("%H:%M", "%H:%M:%S", "%H:%M:%S.%3f", "%H:%M:%S.%f")
_HOURS = [f"{sign}{hour:02d}" for sign in "+-" for hour in range(15)]
_OFFSETS = [f"{hour}{colon}{m}" for hour in _HOURS for colon in (":", "")
            for m in ("00", "15", "30", "45")]  # fmt: skip
ZONES = ("", "Z", *_OFFSETS)
# ISO texts that are not written as pandas writes times without a zone: a cell each
ISO_TIMES = tuple(f"%Y-%m-%d{apart}{part}" for apart in "T " for part in TIMES_OF_DAY)
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
    """Return the place of the ISO form of a text; None for all other text.

    Examples
    --------
    >>> ISO_FORMS[iso_place("2024-02-29 08:15+01:00")], iso_place("2024-02-29")
    ('%Y-%m-%d %H:%M+01:00', None)
    """
    match = ISO_TEXT.fullmatch(text)
    if match is None:
        return None
    part = "%H:%M:%S" if match["seconds"] else "%H:%M"
    if match["rest"]:
        part += {4: ".%3f", 7: ".%f"}.get(len(match["rest"]), "?")
    form = f"%Y-%m-%d{match['apart']}{part}{match['zone'] or ''}"
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
    table = certain_counts(counts, std).reshape(len(ISO_TIMES), len(ZONES))
    n_times = float(table.sum()) + n_others
    by_zone = table[best := int(table.sum(axis=1).argmax())]
    zone = int(by_zone.argmax())
    if not by_zone.any() or by_zone.sum() < n_times - least:
        return None, n_times
    if by_zone[zone] >= n_times - max(least, ONE_ZONE * n_times):
        return ISO_TIMES[best] + ZONES[zone], n_times
    has_zone = by_zone[0] <= least
    return (ISO_TIMES[best] + "Z" if has_zone else None), n_times


# ---------------------------------------------------------------------- public texts


def form_of_all(texts: Sequence[str]) -> str | None:
    """Return the form in which all of some public texts are times; None if none is.

    Examples
    --------
    >>> form_of_all(["31.12.2024", "01.02.2025"]), form_of_all(["31.12.2024", "never"])
    ('%d.%m.%Y', None)
    >>> form_of_all(["2024-02-29T08:15:00Z"]), form_of_all(["01/02/2024"])
    ('%Y-%m-%dT%H:%M:%SZ', None)
    """
    counts, isos = np.zeros(len(FORM_CELLS)), np.zeros(len(ISO_FORMS))
    for text in texts:
        written, place = form_of(text), iso_place(text)
        if written is not None:
            counts[PLACES[written]] += 1
        elif place is not None:
            isos[place] += 1
    candidates = (
        chosen_form(counts, 0.0, 0.0)[0],
        chosen_iso_form(isos, 0.0, 0.0, 0.0)[0],
        AS_PANDAS,
    )
    for form in candidates:
        if form and all(math.isfinite(read_time(text, form)) for text in texts):
            return form
    return None
