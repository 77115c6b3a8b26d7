import datetime

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skdpgen.tables import (
    ISO,
    Kind,
    Says,
    TextKinds,
    as_numbers,
    as_seconds,
    read_values,
)
from skdpgen.tables._text_kinds import said
from skdpgen.tables._time_forms import PLACES
from skdpgen.tables._values import Mark

GRID = TextKinds()


def read(values):
    return read_values(pd.Series(values, dtype=object), Kind.TEXT)


def form(text):
    """Return the number of a form of dates."""
    return len(Says) + PLACES[text]


def kinds(values):
    return [Says(code) for code in GRID.encode(read(values))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024-02-29", Says.TIME),
        ("2024-02-30", Says.WORD),
        ("2024-02-29T12:00:00Z", Says.TIME),
        ("2024-02-29 12:00", ISO),
        ("2024-02-29T12:00", ISO + 1),
        ("2024-02-29T12:00:00", ISO + 2),
        ("2024-02-29 12:00:00", Says.TIME),
        ("2024-02-30 12:00", Says.WORD),
        ("2024-02-29 25:00", Says.WORD),
        ("29.02.2024", form("%d.%m.%Y")),
        ("30.02.2024", Says.WORD),
        ("2/29/24 9:05", form("%m/%d/%y %H:%M")),
        ("1/2/2024", form("%d/%m/%Y|%m/%d/%Y")),
        ("2024/2/9", form("%Y/%m/%d")),
        ("29 Feb 2024", form("%d %b %Y")),
        ("February 29, 2024", form("%B %d, %Y")),
        ("2024.02-29", Says.WORD),
        ("1/2/345", Says.WORD),
        ("1,000", Says.SPELLED),
        (" 12 ", Says.SPELLED),
        ("+0.5", Says.SPELLED),
        ("-1\u202f000.25", Says.SPELLED),
        ("0,125", Says.WORD),
        ("1,0000", Says.WORD),
        ("12,5", Says.WORD),
        ("20240229", Says.NUMBER),
        ("12:30", Says.WORD),
        ("0", Says.NUMBER),
        ("-0.5", Says.NUMBER),
        ("1e-9", Says.NUMBER),
        ("00", Says.PADDED),
        ("007", Says.PADDED),
        ("007.5", Says.WORD),
        ("1_000", Says.WORD),
        ("+5", Says.SPELLED),
        (" 5", Says.SPELLED),
        ("5 ", Says.SPELLED),
        (".5", Says.WORD),
        ("5.", Says.WORD),
        ("nan", Says.CODE),
        ("inf", Says.WORD),
        ("True", Says.WORD),
        ("", Says.WORD),
        ("0x10", Says.WORD),
        ("1\n", Says.SPELLED),
    ],
)
def test_what_text_says(text, expected):
    assert said(text) == expected


def test_objects_are_told_from_their_text():
    cells = [1, 1.5, np.int8(3), True, np.bool_(0), "1", "True", None, np.nan, pd.NA]
    assert kinds(cells) == [
        *(Says.NUMBER_ITSELF,) * 3,
        *(Says.TRUTH,) * 2,
        Says.NUMBER,
        Says.WORD,
        *(Says.NOTHING,) * 3,
    ]


@given(st.text(), st.sampled_from(list(Mark)))
def test_any_text_says_one_thing(text, mark):
    assert Says.NOTHING < said(text, mark) < TextKinds().n_cells


@given(st.integers() | st.floats(allow_nan=False, allow_infinity=False))
def test_what_python_writes_of_a_number_says_a_number(value):
    assert said(repr(value)) is Says.NUMBER


@given(st.from_regex(r"0[0-9]{1,8}", fullmatch=True))
def test_digits_behind_a_zero_are_padded(text):
    assert said(text) is Says.PADDED


@given(st.dates() | st.datetimes())
def test_iso_times_are_times(value):
    is_whole = isinstance(value, datetime.datetime) and not value.microsecond
    assert said(value.isoformat()) == (ISO + 2 if is_whole else Says.TIME)
    assert said(str(value)) is Says.TIME


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
    numbers, times = as_numbers(column), as_seconds(column)
    for value, code, number, time in zip(values, codes, numbers, times, strict=True):
        if code == Says.NUMBER:
            assert np.isfinite(number) or abs(float(value)) == np.inf
        if code == Says.TIME:
            assert np.isfinite(time)


def test_date_objects_are_times():
    assert kinds([datetime.date(2020, 1, 1), pd.Timestamp("2020-01-01 05:00")]) == [
        Says.TIME,
        Says.TIME,
    ]
