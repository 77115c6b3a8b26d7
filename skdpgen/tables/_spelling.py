"""How times are spelled in text, one text at a time; no text raises."""

import math
import re
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, NamedTuple

EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
SHOWN = datetime(2004, 11, 23, 13, 35, 46)  # a time whose parts all differ
DATE = re.compile(r"%[YyGmbBdejUWVuwaAcxDF]")
YEAR = re.compile(r"%[YyGcxDF]")
TIME_OF_DAY = re.compile(r"%[HIMSfpcXsT]")
OFFSET = re.compile(r"(?<=%[SMf])(?:Z|[+-]\d\d:?\d\d)$")
UNPADDED = re.compile(r"(?<!%)%-(?=[dmHIMSjy])")
NO_DATE = 2000  # the year of a time of day


class TimePlan(NamedTuple):
    """How a form is read: by ``strptime``, and shifted to the offset that it names."""

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
    plain = UNPADDED.sub("%", form).replace("%3f", "%f")
    named, shift = OFFSET.search(plain), 0.0
    if named is not None:
        plain = plain[: named.start()] + "%z"
        shift = _seconds_of_offset(named[0])
    return TimePlan(plain, shift, DATE.search(plain) is not None)


def _seconds_of_offset(text: str) -> float:
    if text == "Z":
        return 0.0
    seconds = 3600.0 * int(text[1:3]) + 60.0 * int(text[-2:])
    return -seconds if text[0] == "-" else seconds


def write_time(stamp: Any, form: str) -> str:
    """Return a time in a form, as ``strftime`` does, but for ``%-d`` and ``%3f``.

    Examples
    --------
    >>> write_time(SHOWN, "%-m/%-d/%Y %-I:%M %p"), write_time(SHOWN, "%H:%M:%S.%3fZ")
    ('11/23/2004 1:35 PM', '13:35:46.000Z')
    """
    text = form.replace("%3f", f"{stamp.microsecond // 1000:03d}")
    parts = [
        str(int(stamp.strftime(f"%{part[0]}"))) + part[1:] if place else part
        for place, part in enumerate(UNPADDED.split(text))
    ]
    zoned = stamp if stamp.tzinfo else stamp.replace(tzinfo=UTC)
    return str(zoned.strftime("".join(parts)))


def read_time(text: str, form: str) -> float:
    """Return the seconds since 2000 of a time in a form of ``strptime``, or NaN.

    A form that ends in an offset, as ``+02:00``, is of the clocks there; times with
    another offset are read as that clock shows them. Times of day are those of
    1 January 2000.

    Examples
    --------
    >>> read_time("02.01.2000", "%d.%m.%Y"), read_time("2.1.", "%d.%m.%Y")
    (86400.0, nan)
    """
    try:
        plain, shift, is_dated = plan_of(form)
        stamp = datetime.strptime(text.strip(), plain)
        stamp = stamp if stamp.tzinfo else stamp.replace(tzinfo=UTC)
        stamp = stamp if is_dated else stamp.replace(year=NO_DATE)
        return (stamp - EPOCH).total_seconds() + shift
    except Exception:
        return math.nan


def is_form(form: Any) -> bool:
    """Say whether times can be written in a form and read back.

    A day of a month needs its year: there is no 29 February in most.
    """
    try:
        plain = plan_of(form).plain
        if "%d" in plain and not YEAR.search(plain):
            return False
        return "%" in form and not math.isnan(read_time(write_time(SHOWN, form), form))
    except (TypeError, ValueError):
        return False


def has_date(form: str) -> bool:
    """Say whether a form writes more than a time of day."""
    return plan_of(form).has_date


def has_time_of_day(form: str) -> bool:
    """Say whether a form writes more than a date."""
    return TIME_OF_DAY.search(plan_of(form).plain) is not None
