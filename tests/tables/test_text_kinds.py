import datetime

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skdpgen.tables import (
    DATES,
    ISO,
    NUMBERS_FROM,
    Kind,
    Says,
    TextKinds,
    as_seconds,
    numbers_of,
    read_values,
)
from skdpgen.tables._text_columns import type_of_text
from skdpgen.tables._text_forms import FAMILIES, N_FORMS, SHAPES, Shape
from skdpgen.tables._text_forms import PLACES as SHAPE_PLACES
from skdpgen.tables._time_forms import ISO_PLACES, PLACES
from skdpgen.tables._values import Mark

GRID = TextKinds()


def read(values):
    return read_values(pd.Series(values, dtype=object), Kind.TEXT)


def form(text, days="", hours=""):
    """Return the cell of a form of dates, and of what it shows of zeros."""
    return DATES + PLACES[text, days, hours]


def iso(text):
    """Return the cell of a form of ISO times."""
    return ISO + ISO_PLACES[text]


def number(family, size, mark="", is_sure=True):
    """Return the cell of a form of numbers."""
    shape = SHAPE_PLACES[Shape(size, mark, is_sure)]
    return NUMBERS_FROM + FAMILIES[family] * len(SHAPES) + shape


def kinds(values):
    return GRID.encode(read(values)).tolist()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024-02-29", Says.TIME),
        ("2024-02-30", Says.WORD),
        ("2024-02-29T12:00:00Z", iso("%Y-%m-%dT%H:%M:%SZ")),
        ("2024-02-29 12:00", iso("%Y-%m-%d %H:%M")),
        ("2024-02-29T12:00", iso("%Y-%m-%dT%H:%M")),
        ("2024-02-29T12:00:00.125+05:30", iso("%Y-%m-%dT%H:%M:%S.%3f+05:30")),
        ("2024-02-29T12:00:00.1", Says.TIME),
        ("2024-02-29T12:00:00", iso("%Y-%m-%dT%H:%M:%S")),
        ("2024-02-29 12:00:00", Says.TIME),
        ("2024-02-30 12:00", Says.WORD),
        ("2024-02-29 25:00", Says.WORD),
        ("29.02.2024", form("%d.%m.%Y", "0")),
        ("30.02.2024", Says.WORD),
        ("2/29/24 9:05", form("%m/%d/%y %H:%M", "-", "-")),
        ("1/2/2024", form("%d/%m/%Y|%m/%d/%Y", "-")),
        ("2024/2/9", form("%Y/%m/%d", "-")),
        ("29 Feb 2024", form("%d %b %Y")),
        ("February 29, 2024", form("%B %d, %Y")),
        ("9 May 2024", form("%d %b %Y|%d %B %Y", "-")),
        ("2/29/2024 12:05 PM", form("%m/%d/%Y %I:%M %p", "-")),
        ("2/29/2024 13:05 PM", Says.WORD),
        ("17:15", form("%H:%M")),
        ("08:15:30", form("%H:%M:%S", "", "0")),
        ("24:15", Says.WORD),
        ("2024.02-29", Says.WORD),
        ("1/2/345", Says.WORD),
        ("1,000", number("", ",", is_sure=False)),
        ("1.000", number("", ".", is_sure=False)),
        ("1,000,000", number("", ",")),
        ("1.000,5", number("", ".", ",")),
        ("€ 2.859,76", number(("€ ", ""), ".", ",")),
        ("-$3.10", number(("$", ""), "small", ".")),
        ("45 %", number(("", " %"), "small")),
        ("$5 %", Says.WORD),
        ("5 apples", Says.WORD),
        ("V57", Says.LABEL),
        ("12A", Says.LABEL),
        (" 12 ", number("blanks around", "small")),
        ("+0.5", number("+", "small", ".")),
        ("-1\u202f000.25", number("", "\u202f", ".")),
        ("0,125", number("", "small", ",")),
        ("1,0000", number("", "small", ",")),
        ("12,5", number("", "small", ",")),
        ("20240229", number("", "large")),
        ("0", number("", "digit")),
        ("-0.5", number("", "small", ".")),
        ("1e-9", number("", "exponent", ".")),
        ("00", Says.PADDED),
        ("007", Says.PADDED),
        (" 007", Says.PADDED),
        ("007.5", Says.WORD),
        ("1_000", Says.WORD),
        ("+5", number("+", "digit")),
        (" 5", number("blank before", "digit")),
        ("5 ", number("blank after", "digit")),
        (".5", Says.WORD),
        ("5.", Says.WORD),
        ("nan", Says.CODE),
        ("inf", Says.WORD),
        ("True", Says.WORD),
        ("", Says.WORD),
        ("0x10", Says.WORD),
        ("1\n", number("blank after", "digit")),
    ],
)
def test_what_text_says(text, expected):
    assert type_of_text(text) == expected


def test_objects_are_told_from_their_text():
    cells = [1, 1.5, np.int8(3), True, np.bool_(0), "1", "True", None, np.nan, pd.NA]
    assert kinds(cells) == [
        *(Says.NUMBER_ITSELF,) * 3,
        *(Says.TRUTH,) * 2,
        number("", "digit"),
        Says.WORD,
        *(Says.NOTHING,) * 3,
    ]


@given(st.text(), st.sampled_from(list(Mark)))
def test_any_text_says_one_thing(text, mark):
    assert Says.NOTHING < type_of_text(text, mark) < TextKinds().n_cells


@given(st.integers() | st.floats(allow_nan=False, allow_infinity=False))
def test_what_python_writes_of_a_number_says_a_number(value):
    place = type_of_text(repr(value)) - NUMBERS_FROM
    assert 0 <= place < len(SHAPES)  # without a unit, a plus sign or blanks


@given(st.from_regex(r"0[0-9]{1,8}", fullmatch=True))
def test_digits_behind_a_zero_are_padded(text):
    assert type_of_text(text) is Says.PADDED


@given(st.dates() | st.datetimes())
def test_iso_times_are_times(value):
    is_time = isinstance(value, datetime.datetime)
    rest = ".%f" if is_time and value.microsecond else ""
    form = iso(f"%Y-%m-%dT%H:%M:%S{rest}") if is_time else Says.TIME
    assert type_of_text(value.isoformat()) == form
    as_pandas = iso("%Y-%m-%d %H:%M:%S.%f") if rest else Says.TIME
    assert type_of_text(str(value)) == as_pandas


@given(st.lists(st.none() | st.text(max_size=8) | st.integers(), min_size=1))
def test_each_row_says_what_it_says_alone(values):
    together = kinds(values)
    assert together == [kinds([value])[0] for value in values]


EITHER_WAY = ["1/2/2024", "03/04/2024", "5-6-24", "7/8/24 9:05", "2024-01-02"]
DECIDED = ["31/12/2024", "12/31/2024", "31-12-24", "12-31-24", "31/12/24 9:05", "soon"]


@given(st.lists(st.sampled_from([*EITHER_WAY, *DECIDED, None]), min_size=1))
def test_each_date_says_what_it_says_alone(values):
    codes = GRID.encode(read(values))
    assert codes.tolist() == [GRID.encode(read([v])).item() for v in values]


@pytest.mark.parametrize("one", DECIDED)
def test_one_row_does_not_decide_which_number_of_a_date_is_the_day(one):
    """Else it moves each of a thousand other rows to another cell of the histogram."""
    cells = EITHER_WAY * 200
    codes = GRID.encode(read(cells))
    for place in (0, len(cells)):
        more = [*cells[:place], one, *cells[place:]]
        np.testing.assert_array_equal(np.delete(GRID.encode(read(more)), place), codes)


@given(st.lists(st.text(max_size=12), min_size=1))
def test_what_says_a_number_or_a_time_can_be_read_as_one(values):
    column = read(values)
    codes = GRID.encode(column)
    times = as_seconds(column)
    for value, code, time in zip(values, codes, times, strict=True):
        if code >= NUMBERS_FROM:
            form = numbers_of(np.eye(N_FORMS)[code - NUMBERS_FROM], 0.0).form
            assert np.isfinite(form.read(value))
        if code == Says.TIME:
            assert np.isfinite(time)


def test_date_objects_are_times():
    assert kinds([datetime.date(2020, 1, 1), pd.Timestamp("2020-01-01 05:00")]) == [
        Says.TIME,
        Says.TIME,
    ]
