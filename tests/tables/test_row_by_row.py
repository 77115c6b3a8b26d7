"""One row must not change how another is read: else no sensitivity holds."""

import datetime
import decimal
import fractions
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skdpgen.tables import Kind, read_table, read_values
from skdpgen.tables._values import Numbers, as_numbers


class Hostile:
    """A value whose own methods fail."""

    def __str__(self):
        raise ValueError("secret")

    def __hash__(self):
        raise ValueError("secret")

    def __eq__(self, other):
        raise ValueError("secret")


NASTY = [
    *(1, 1.0, True, np.int8(1), "1", "1.0", "1_000", "\u0661", decimal.Decimal("1.0")),
    *(decimal.Decimal("1.00"), decimal.Decimal("sNaN"), fractions.Fraction(1, 2)),
    *(None, np.nan, pd.NA, pd.NaT, float("inf"), -0.0, 10**400, 1 + 2j, "", "nan"),
    *(["x"], {"a": 1}, (1, 2), np.ones(2), Hostile(), b"bytes", "\ud800"),
    *(datetime.date(2020, 1, 1), pd.Timestamp("1700-01-01"), np.longdouble("1e4000")),
]


def column(values):
    series = pd.Series(np.empty(len(values), dtype=object))
    for position, value in enumerate(values):
        series.iat[position] = value
    return series


def plain(values):
    """What each row became, in a form that compares."""
    if isinstance(values, Numbers):
        return [None if np.isnan(x) else float(x) for x in values.values]
    table = [*values.values, None]
    return [table[code] for code in values.codes]


@pytest.mark.parametrize("kind", [Kind.TEXT, Kind.FLOAT, Kind.INTEGER, Kind.DATETIME])
@given(rows=st.lists(st.sampled_from(range(len(NASTY))), min_size=1, max_size=6))
def test_a_column_reads_as_its_rows_do_alone(kind, rows):
    values = [NASTY[row] for row in rows]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        together = plain(read_values(column(values), kind))
        alone = [plain(read_values(column([value]), kind))[0] for value in values]
    assert together == alone


@given(rows=st.lists(st.sampled_from(range(len(NASTY))), min_size=1, max_size=6))
def test_text_parses_as_numbers_row_by_row(rows):
    values = [NASTY[row] for row in rows]
    together = as_numbers(read_values(column(values), Kind.TEXT))
    alone = [as_numbers(read_values(column([v]), Kind.TEXT))[0] for v in values]
    np.testing.assert_array_equal(together, alone)


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_times_read_by_their_stored_integers(unit):
    extreme = np.array(
        [np.iinfo(np.int64).min, np.iinfo(np.int64).min + 1, 0, 2**62]
    ).view(f"datetime64[{unit}]")
    values = read_values(pd.Series(extreme), Kind.DATETIME).values
    assert np.isnan(values[0])
    assert np.isfinite(values[1:]).all()
    assert values[2] == -946_684_800


def test_time_zones_read_as_utc():
    stamps = pd.Series(pd.to_datetime(["2000-01-01 01:00"]).tz_localize("Europe/Paris"))
    assert read_values(stamps, Kind.DATETIME).values.tolist() == [0.0]


def test_polars_columns_read_row_by_row():
    table = pl.DataFrame(
        {"big": pl.Series([2**64 - 1, None], dtype=pl.UInt64), "list": [["x"], None]}
    )
    frame, layout = read_table(table)
    assert layout.kinds == (Kind.INTEGER, Kind.TEXT)
    assert np.isnan(read_values(frame["big"], Kind.INTEGER).values[1])
    assert read_values(frame["list"], Kind.TEXT).codes.tolist() == [0, -1]


@pytest.mark.parametrize("empty", [True, False])
def test_polars_durations_are_refused_by_dtype(empty):
    values = [None if empty else datetime.timedelta(1)]
    table = pl.DataFrame({"d": pl.Series(values, dtype=pl.Duration)})
    with pytest.raises(TypeError, match="durations are not supported"):
        read_table(table)
