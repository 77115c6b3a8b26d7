import math
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skdpgen.tables import Datetime, Integer, Kind, Numeric, read_column, read_values
from skdpgen.tables._text_forms import (
    EPOCH,
    is_form,
    read_number,
    read_time,
    write_number,
    write_time,
)
from tests.tables.test_row_by_row import NASTY, column

READ = {
    "7": 7,
    " +7 ": 7,
    "-7.50": -7.5,
    "\u22127": -7,
    ".5": 0.5,
    "5.": 5,
    "1e3": 1000,
    "1.5E-2": 0.015,
    "1,234": 1234,
    "12,345,678.9": 12345678.9,
    "1 234": 1234,
    "1'234.5": 1234.5,
    "1\u00a0234\u00a0567": 1234567,
    "0001": 1,
}
MISSING = [
    *("", " ", ".", "-", "e5", "1,5", "1,23,456", "1,234,56", "1234,567", "1.234,5"),
    *("1, 234", "1,234 567", "5%", "$5", "5 EUR", "(5)", "1/2", "0x10", "1_000", "nan"),
    *("inf", "1e999", "--1", "1 2", "\u0661", "1.2.3", "one", "1,234e", "+ 1"),
]


@pytest.mark.parametrize("text", READ)
def test_usual_spellings_are_read(text):
    assert read_number(text) == READ[text]


@pytest.mark.parametrize("text", MISSING)
def test_what_is_not_certain_is_missing(text):
    assert math.isnan(read_number(text))


@given(st.floats(-1e12, 1e12), st.integers(0, 6))
def test_what_is_written_is_read(value, decimals):
    text = write_number(value, decimals)
    assert read_number(text) == pytest.approx(round(value, decimals), abs=1e-9)
    assert text != "-0"
    assert read_number(write_number(value, None)) == pytest.approx(value, rel=1e-8)


@given(st.text())
def test_no_text_raises(text):
    assert isinstance(read_number(text), float)
    assert isinstance(read_time(text, "%d.%m.%Y"), float)


COLUMNS = [Numeric(parse=True), Integer(parse=True), Datetime(format="%Y-%m-%d")]


@pytest.mark.parametrize("kind", COLUMNS, ids=repr)
@given(rows=st.lists(st.sampled_from(range(len(NASTY))), min_size=1, max_size=6))
def test_text_is_read_row_by_row(kind, rows):
    def read(several):
        values = read_values(column([NASTY[row] for row in several]), Kind.TEXT)
        return read_column(values, kind).values

    alone = np.concatenate([read([row]) for row in rows])
    np.testing.assert_array_equal(read(rows), alone)


DATES = ["1/2/2024", "3/4/2024", "31/12/2024", "12/31/2024", "5/6/7", None, "soon"]


@pytest.mark.parametrize("form", ["%d/%m/%Y", "%m/%d/%Y"])
@given(rows=st.lists(st.sampled_from(DATES), min_size=1, max_size=6))
def test_dates_are_read_row_by_row(form, rows):
    def read(several):
        values = read_values(column(several), Kind.TEXT)
        return read_column(values, Datetime(format=form)).values

    alone = np.concatenate([read([row]) for row in rows])
    np.testing.assert_array_equal(read(rows), alone)


AMOUNTS = ["1,5", "1.5", "€ 3", "1.234,5", "12", "1,234.5", None, "soon"]


@pytest.mark.parametrize("form", [None, "€ 1.234,56"])
@given(rows=st.lists(st.sampled_from(AMOUNTS), min_size=1, max_size=6))
def test_amounts_are_read_row_by_row(form, rows):
    def read(several):
        values = read_values(column(several), Kind.TEXT)
        return read_column(values, Numeric(parse=True, format=form)).values

    alone = np.concatenate([read([row]) for row in rows])
    np.testing.assert_array_equal(read(rows), alone)


FORMS = {  # texts that are read and written so
    "%-m/%-d/%Y": ["8/4/2023", "12/31/2023"],
    "%-d.%-m.%y %-H:%M": ["4.8.23 7:05", "31.12.23 17:05"],
    "%H:%M": ["17:15", "07:05"],
    "%-I:%M %p": ["5:15 PM", "12:05 AM"],
    "%H:%M:%S": ["17:15:30"],
    "%Y-%m-%dT%H:%M:%SZ": ["2024-02-29T08:15:00Z"],
    "%Y-%m-%dT%H:%M:%S.%3f": ["2024-02-29T08:15:00.125"],
    "%Y-%m-%d %H:%M:%S.%f+02:00": ["2024-02-29 08:15:00.000125+02:00"],
    "%Y-%m-%dT%H:%M-0530": ["2024-02-29T08:15-0530"],
    "%Y-%m-%d %H:%M %z": ["2024-02-29 08:15 +0000"],
}


@pytest.mark.parametrize("form", FORMS)
def test_times_are_written_as_they_are_read(form):
    assert is_form(form)
    for text in FORMS[form]:
        stamp = EPOCH + timedelta(seconds=read_time(text, form))
        assert write_time(stamp.replace(tzinfo=None), form) == text


def test_times_with_another_offset_are_shown_by_the_clock_of_the_form():
    form = "%Y-%m-%dT%H:%M:%S+02:00"
    for text in ("2024-02-29T08:15:00+02:00", "2024-02-29T06:15:00Z"):
        stamp = EPOCH + timedelta(seconds=read_time(text, form))
        assert write_time(stamp, form) == "2024-02-29T08:15:00+02:00"
    assert math.isnan(read_time("2024-02-29T08:15:00", form))  # no offset at all


def test_a_time_of_day_is_of_no_date():
    assert read_time("17:15", "%H:%M") == 17.25 * 3600
    assert Datetime(format="%H:%M").upper == "2000-01-01T23:59:59"
    assert Datetime(format="%-I:%M %p").is_time_of_day


def test_times_with_a_zone_are_utc():
    assert read_time("2000-01-01 02:00 +0100", "%Y-%m-%d %H:%M %z") == 3600
