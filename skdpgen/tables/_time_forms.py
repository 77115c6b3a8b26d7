"""Forms of dates that people write, told apart by rules that are public."""

import itertools
import re

import numpy as np
from numpy.typing import NDArray

from skdpgen.tables._spelling import read_time

TIMES = {"": "", "9:9": " %H:%M", "9:9:9": " %H:%M:%S"}
DAYS = {"4-9-9": "%Y{0}%m{0}%d", "9-9-4": "%d{0}%m{0}%Y", "9-9-2": "%d{0}%m{0}%y"}
SHAPES = {(1, 1): "4-9-9", (1, 2): "4-9-9", (0, 4): "9-9-4", (0, 2): "9-9-2"}
MONTH_FIRST = {"%d{0}%m{0}%Y": "%m{0}%d{0}%Y", "%d{0}%m{0}%y": "%m{0}%d{0}%y"}
SEPARATORS = "./-"
NAMED = ("%d %b %Y", "%d-%b-%Y", "%b %d, %Y", "%d %B %Y", "%B %d, %Y")
TOLD = 2.5  # times what noise does not make: two counts have noise
EITHER = "|"  # between forms of which a text may have both
WITH_NUMBERS = re.compile(
    r"(?P<a>\d{1,4})(?P<between>[./-])(?P<b>\d{1,2})(?P=between)(?P<c>\d{1,4})"
    r"(?: (?P<time>\d{1,2}:\d{2}(?::\d{2})?))?",
    re.ASCII,
)
WITH_NAMES = re.compile(
    r"\d{1,2}[ -][A-Za-z]{3,9}[ -]\d{4}|[A-Za-z]{3,9} \d{1,2}, \d{4}"
)


def _forms() -> tuple[str, ...]:
    found = list(NAMED)
    for days, between, time in itertools.product(
        DAYS.values(), SEPARATORS, TIMES.values()
    ):
        one = days.format(between) + time
        found.append(one)
        if days in MONTH_FIRST and between != ".":  # points stand behind days alone
            other = MONTH_FIRST[days].format(between) + time
            found += [other, one + EITHER + other]
    return tuple(found)


FORMS = _forms()  # one cell each
# ISO texts that are not written as pandas writes times: one cell each, too
ISO_FORMS = ("%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S")
ISO_SHAPES = {"9999-99-99 99:99": 0, "9999-99-99T99:99": 1, "9999-99-99T99:99:99": 2}
PLACES = {form: place for place, form in enumerate(FORMS)}


def form_of(text: str) -> str | None:
    """Return in which of the forms a text has a date; None of all other text.

    Examples
    --------
    >>> form_of("04.08.2023"), form_of("12/31/99"), form_of("soon")
    ('%d.%m.%Y', '%m/%d/%y', None)
    >>> form_of("1/2/2003")
    '%d/%m/%Y|%m/%d/%Y'
    """
    found = WITH_NUMBERS.fullmatch(text)
    if found is None:
        if WITH_NAMES.fullmatch(text) is None:
            return None
        return next((f for f in NAMED if not np.isnan(read_time(text, f))), None)
    shape = SHAPES.get((len(found["a"]) // 3, len(found["c"])))
    if shape is None or len(found["a"]) == 3:
        return None
    time = re.sub(r"\d+", "9", found["time"] or "")
    form = DAYS[shape].format(found["between"]) + TIMES[time]
    if form not in PLACES:
        return None
    some = [form]
    if DAYS[shape] in MONTH_FIRST and found["between"] != ".":
        some.append(MONTH_FIRST[DAYS[shape]].format(found["between"]) + TIMES[time])
    fitting = [one for one in some if not np.isnan(read_time(text, one))]
    return EITHER.join(fitting) or None


def iso_place(text: str) -> int | None:
    """Return which of the ISO forms a time is written in; None of all others.

    Examples
    --------
    >>> iso_place("2024-02-29 08:15"), iso_place("2024-02-29")
    (0, None)
    """
    return ISO_SHAPES.get(re.sub(r"[0-9]", "9", text))


def chosen_iso_form(
    counts: NDArray[np.float64], n_times: float, others: float
) -> str | None:
    """Return the ISO form of nearly all times of a column, from RELEASED counts.

    Parameters
    ----------
    counts : ndarray of shape (n_iso_forms,)
        Noisy counts.
    n_times : float
        Times in any ISO form, these included.
    others : float
        Times in other forms that would be no loss.

    Examples
    --------
    >>> chosen_iso_form(np.array([2.0, 97.0, 0.0]), 100.0, 5.0)
    '%Y-%m-%dT%H:%M'
    """
    best = int(counts.argmax())
    return ISO_FORMS[best] if counts[best] >= n_times - others else None


def chosen_form(counts: NDArray[np.float64], enough: float, least: float) -> str | None:
    """Return the form that most cells of a column have, from RELEASED counts.

    A day that may be a month counts for both; which it is must be told by more than
    a few times ``least`` cells of the other days.

    Parameters
    ----------
    counts : ndarray of shape (n_forms,)
        Noisy counts of the forms.
    enough : float
        Cells that make a form.
    least : float
        Cells that noise alone does not make.

    Examples
    --------
    >>> counts = np.zeros(len(FORMS))
    >>> counts[[PLACES["%d/%m/%Y"], PLACES["%d/%m/%Y|%m/%d/%Y"]]] = 61, 39
    >>> chosen_form(counts, 90, 0)
    '%d/%m/%Y'
    """
    by_form = dict(zip(FORMS, counts.tolist(), strict=True))
    both = {form: n for form, n in by_form.items() if EITHER in form}
    for form, certain in by_form.items():
        if form in both:
            continue
        shared = [other for other in both if form in other.split(EITHER)]
        total = certain + sum(both[other] for other in shared)
        rivals = [f for other in shared for f in other.split(EITHER) if f != form]
        is_told = all(certain > by_form[rival] + TOLD * least for rival in rivals)
        if total > enough and is_told:
            return form
    return None
