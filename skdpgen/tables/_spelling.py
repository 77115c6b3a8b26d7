"""How numbers and times are spelled in text, one text at a time; no text raises."""

import math
import re
from datetime import UTC, datetime
from typing import Any

import numpy as np

EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
SHOWN = datetime(2004, 11, 23, 13, 35, 46)  # a time whose parts all differ
DATE = re.compile(r"%[YyGmbBdejUWVuwaAcxDF]")
YEAR = re.compile(r"%[YyGcxDF]")
TIME_OF_DAY = re.compile(r"%[HIMSfpcXsT]")
GROUPS = ", '\u2019\u00a0\u2009\u202f"  # between thousands, always the same one
SIGNS = str.maketrans("\u2212", "-")
NUMBER = re.compile(
    rf"[+-]?(?=\.?\d)(?:\d{{1,3}}([{GROUPS}])\d{{3}}(?:\1\d{{3}})*|\d*)"
    r"(?:\.\d*)?(?:e[+-]?\d+)?",
    re.ASCII | re.IGNORECASE,
)


def read_number(text: str) -> float:
    """Return the number that a text spells; NaN if it spells none for certain.

    Spaces around, a sign, groups of thousands and a decimal point are read. A comma is
    one between thousands or none at all, and units, such as % or a currency, are none.

    Examples
    --------
    >>> [read_number(text) for text in (" +1,234.5", "12,5", "1 000", "5%")]
    [1234.5, nan, 1000.0, nan]
    """
    found = NUMBER.fullmatch(text.strip().translate(SIGNS))
    if found is None:
        return math.nan
    plain = found[0].replace(found[1], "") if found[1] else found[0]
    number = float(plain)
    return number if math.isfinite(number) else math.nan


def write_number(value: float, decimals: int | None) -> str:
    """Return a number as plain text.

    Examples
    --------
    >>> write_number(1234.5, 2), write_number(0.123456789012, None)
    ('1234.50', '0.123456789')
    """
    if decimals is None:
        return np.format_float_positional(float(f"{value:.9g}"), trim="-")
    text = f"{value:.{decimals}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def read_time(text: str, form: str) -> float:
    """Return the seconds since 2000 of a time in a form of ``strptime``, or NaN.

    Examples
    --------
    >>> read_time("02.01.2000", "%d.%m.%Y"), read_time("2.1.", "%d.%m.%Y")
    (86400.0, nan)
    """
    try:
        stamp = datetime.strptime(text.strip(), form)
        stamp = stamp if stamp.tzinfo else stamp.replace(tzinfo=UTC)
        return (stamp - EPOCH).total_seconds()
    except Exception:
        return math.nan


def is_form(form: Any) -> bool:
    """Say whether times can be written in a form and read back.

    A day of a month needs its year: there is no 29 February in most.
    """
    try:
        if "%d" in form and not YEAR.search(form):
            return False
        return "%" in form and not math.isnan(read_time(SHOWN.strftime(form), form))
    except (TypeError, ValueError):
        return False


def has_date(form: str) -> bool:
    """Say whether a form writes more than a time of day."""
    return DATE.search(form) is not None


def has_time_of_day(form: str) -> bool:
    """Say whether a form writes more than a date."""
    return TIME_OF_DAY.search(form) is not None
