"""One row must not change how another is read: else no sensitivity holds."""

import datetime
import decimal
import fractions
import warnings

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skdpgen.tables import Chunks, Kind, Rows, read_table, read_values
from skdpgen.tables._encoder import read_target
from skdpgen.tables._values import Numbers, as_numbers, read_text_of_numbers


class Hostile:
    """A value whose own methods fail."""

    def __str__(self):
        raise ValueError("secret")

    def __hash__(self):
        raise ValueError("secret")

    def __eq__(self, other):
        raise ValueError("secret")


class Liar:
    """A value that fails when it is asked what it is."""

    @property
    def __class__(self):
        raise RuntimeError("secret")


class Loud(float):
    """A number whose own methods fail or warn."""

    def __ne__(self, other):
        raise ValueError("secret")

    def __float__(self):
        warnings.warn("secret", stacklevel=1)
        return 1.0

    __hash__ = float.__hash__


NASTY = [
    *(1, 1.0, True, np.int8(1), "1", "1.0", "1_000", "\u0661", decimal.Decimal("1.0")),
    *(decimal.Decimal("1.00"), decimal.Decimal("sNaN"), fractions.Fraction(1, 2)),
    *(None, np.nan, pd.NA, pd.NaT, float("inf"), -0.0, 10**400, 1 + 2j, "", "nan"),
    *(["x"], {"a": 1}, (1, 2), np.ones(2), Hostile(), b"bytes", "\ud800"),
    *("'\\ud800'", "\ud801", "?", Liar(), Loud(2.0)),
    *(datetime.date(2020, 1, 1), pd.Timestamp("1700-01-01"), np.longdouble("1e4000")),
]


def column(values):
    cells = np.empty(len(values), dtype=object)
    for position, value in enumerate(values):
        cells[position] = value
    return pd.Series(cells, dtype=object)


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


ODD = ["a", None, "\ud800", "\udfff", "'\\ud800'", "?", "\x00", "", "1", "\ufffd"]
STORED = [pd.StringDtype("python"), pd.StringDtype("python", na_value=np.nan), object]


@pytest.mark.parametrize("dtype", STORED, ids=str)
@given(rows=st.lists(st.sampled_from(ODD), min_size=1, max_size=6))
def test_text_reads_as_its_rows_do_alone(dtype, rows):
    """Pandas takes half a surrogate pair and its repr for the same text."""

    def read(some):
        return plain(read_values(pd.Series(some, dtype=dtype), Kind.TEXT))

    assert read(rows) == [read([row])[0] for row in rows]


MERGED = {"'\\ud800'", "\x00", ""}  # pandas makes one category of some of them


@pytest.mark.parametrize("dtype", [*STORED, "category"], ids=str)
@given(rows=st.lists(st.sampled_from([*ODD, "7 kg"]), min_size=1, max_size=6))
def test_text_of_numbers_reads_as_its_rows_do_alone(dtype, rows):
    def read(some):
        stored = pd.Series(some, dtype=object)
        if dtype == "category":
            some = ["-" if cell in MERGED else cell for cell in some]
            stored = pd.Series(pd.Categorical(pd.Index(some, dtype=object)))
        elif dtype is not object:
            stored = pd.Series(some, dtype=dtype)
        return plain(read_text_of_numbers(stored))

    assert read(rows) == [read([row])[0] for row in rows]


@given(rows=st.lists(st.sampled_from(range(len(NASTY))), min_size=1, max_size=6))
def test_objects_beside_text_of_numbers_read_as_they_do_alone(rows):
    values = [NASTY[row] for row in rows]
    together = plain(read_text_of_numbers(column(values)))
    alone = [plain(read_text_of_numbers(column([value])))[0] for value in values]
    assert together == alone


@pytest.mark.parametrize("odd", ODD[1:])
def test_an_array_of_text_reads_alike_whatever_one_row_holds(odd):
    rows = np.array([["red"], ["blue"], [odd or "-"]])
    frame, layout = read_table(rows)
    usual, same = read_table(np.array([["red"], ["blue"], ["red"]]))
    assert (layout, frame["x0"].dtype) == (same, usual["x0"].dtype)
    assert plain(read_values(frame["x0"], layout.kinds[0]))[:2] == ["red", "blue"]
    series, _ = read_target(rows[:, 0], 3)
    assert plain(read_values(series, Kind.TEXT))[:2] == ["red", "blue"]


def test_arrow_text_that_is_none_is_read():
    broken = pc.cast(
        pa.array([b"\xff\xfe", b"a", None, b"\xff\xfe"]),
        options=pc.CastOptions(pa.string(), allow_invalid_utf8=True),
    )
    for array in (broken, broken.dictionary_encode()):
        frame, layout = read_table(pa.table({"a": array}))
        found = plain(read_values(frame["a"], layout.kinds[0]))
        assert found == ["\ufffd\ufffd", "a", None, "\ufffd\ufffd"]


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


@pytest.mark.parametrize("unit", ["D", "h", "m"])
def test_times_of_long_units_do_not_overflow(unit):
    lowest = np.iinfo(np.int64).min
    stored = np.array([[lowest], [lowest + 1], [0], [2**62]]).view(
        f"datetime64[{unit}]"
    )
    frame, layout = read_table(stored)
    values = read_values(frame["x0"], layout.kinds[0]).values
    assert np.isnan(values[0])
    assert values[1] < -1e18 < values[2] == -946_684_800 < 1e18 < values[3]
    series, _ = read_target(stored[:, 0], 4)
    np.testing.assert_array_equal(read_values(series, Kind.DATETIME).values, values)


def test_arrow_dictionaries_read_as_what_they_list():
    stamps = pa.array([0, None, 2**62]).cast(pa.timestamp("us"))
    for array in (stamps, stamps.dictionary_encode()):
        frame, layout = read_table(pa.table({"a": array}))
        values = read_values(frame["a"], layout.kinds[0]).values
        assert values[0] == -946_684_800
        assert np.isnan(values[1])
        assert values[2] > 1e12


def test_times_in_a_zone_read_as_its_clocks_show_them():
    stamps = pd.Series(pd.to_datetime(["2000-01-01 01:00"]).tz_localize("Europe/Paris"))
    arrow = stamps.astype("timestamp[us, tz=Europe/Paris][pyarrow]")
    for series in (stamps, arrow, read_table(pl.DataFrame({"a": stamps}))[0]["a"]):
        assert read_values(series, Kind.DATETIME).values.tolist() == [3600.0]


def test_polars_columns_read_row_by_row():
    table = pl.DataFrame(
        {"big": pl.Series([2**64 - 1, None], dtype=pl.UInt64), "text": ["x", None]}
    )
    frame, layout = read_table(table)
    assert layout.kinds == (Kind.INTEGER, Kind.TEXT)
    assert np.isnan(read_values(frame["big"], Kind.INTEGER).values[1])
    assert read_values(frame["text"], Kind.TEXT).codes.tolist() == [0, -1]


@pytest.mark.parametrize("empty", [True, False])
def test_polars_durations_are_refused_by_dtype(empty):
    values = [None if empty else datetime.timedelta(1)]
    table = pl.DataFrame({"d": pl.Series(values, dtype=pl.Duration)})
    with pytest.raises(TypeError, match=r"Duration.*not supported"):
        read_table(table)


@pytest.mark.parametrize("odd", [1, 9])
def test_intervals_read_alike_whether_or_not_one_is_missing(odd):
    column = pd.Series(pd.cut([odd, 1, 2, 3], [0, 1, 2, 3]))
    values = read_values(column, Kind.TEXT)
    assert plain(values)[1:] == ["(0, 1]", "(1, 2]", "(2, 3]"]


STAMPS = [datetime.datetime(2020, 1, day) for day in (1, 2, 3)]
ARROW_LABELS = [
    ([0, 1], Kind.INTEGER),
    ([0, None], Kind.INTEGER),
    ([True, False], Kind.BOOLEAN),
    ([True, None], Kind.BOOLEAN),
]


@pytest.mark.parametrize(
    ("target", "kind"),
    [
        (np.array([*STAMPS, "x"], dtype=object), Kind.TEXT),
        (np.array(STAMPS, dtype=object), Kind.TEXT),
        (pl.Series([0, 1, None]), Kind.INTEGER),
        (pl.Series([0, 1, 1]), Kind.INTEGER),
        (pl.DataFrame({"y": [0, 1, None]}), Kind.INTEGER),
        (pl.Series([True, None]), Kind.BOOLEAN),
        (pd.array([0, 1, None], dtype="Int64"), Kind.INTEGER),
        (pd.Categorical([1, 2, None]), Kind.INTEGER),
        (column(STAMPS).array, Kind.TEXT),
        (column([*STAMPS, "x"]).array, Kind.TEXT),
        (pd.Index(STAMPS, dtype=object), Kind.TEXT),
        *((pa.array(values), kind) for values, kind in ARROW_LABELS),
        (pa.array([0, None]).dictionary_encode(), Kind.INTEGER),
        (pa.record_batch({"y": [0, None]}), Kind.INTEGER),
    ],
    ids=str,
)
def test_the_kind_of_a_target_is_that_of_its_dtype(target, kind):
    _, layout = read_target(target, len(target))
    assert layout.kinds == (kind,)


@pytest.mark.parametrize("last", [1, None])
@pytest.mark.parametrize("dtype", ["Int64", "boolean", "Float64", "datetime64[s]"])
def test_pandas_in_a_frame_of_narwhals_reads_as_pandas(dtype, last):
    values = pd.Series([1, 0, last]).astype(dtype)
    frame = pd.DataFrame({"a": values})
    table, layout = read_table(nw.from_native(frame))
    assert layout == read_table(frame)[1]
    found = read_values(table["a"], layout.kinds[0]).values
    assert np.isnan(found).tolist() == [False, False, last is None]


def test_the_kind_of_an_object_array_is_text_whatever_it_holds():
    for odd in (STAMPS[0], "x"):
        table = np.array([[stamp] for stamp in [*STAMPS, odd]], dtype=object)
        assert read_table(table)[1].kinds == (Kind.TEXT,)


def test_far_times_of_polars_and_arrow_do_not_overflow():
    table = pl.DataFrame(
        {
            "stamp": pl.Series([2**60, None], dtype=pl.Int64).cast(pl.Datetime("us")),
            "date": pl.Series([2**30, None], dtype=pl.Int32).cast(pl.Date),
        }
    )
    frame, layout = read_table(table)
    assert set(layout.kinds) == {Kind.DATETIME}
    for name in frame:
        values = read_values(frame[name], Kind.DATETIME).values
        assert values[0] > 1e12
        assert np.isnan(values[1])
    arrow = pd.Series(pd.array([2**62, None], dtype="int64[pyarrow]")).astype(
        "timestamp[us, tz=Europe/Berlin][pyarrow]"
    )
    assert read_values(arrow, Kind.DATETIME).values[0] > 1e12


def test_chunks_with_and_without_labels_do_not_mix():
    X, y = pd.DataFrame({"a": [1, 2]}), [0, 1]
    with pytest.raises(ValueError, match="a mixture"):
        _ = Rows.read(Chunks(lambda: [(X, y), X])).n_rows


@pytest.mark.parametrize("wrap", [lambda X: X, lambda X: Chunks(lambda: [X, X])])
def test_nobody_is_told_a_number_of_rows_that_is_private(wrap):
    X = pd.DataFrame({"a": [1, 2]})
    rows = Rows.read(wrap(X), is_size_public=False)
    assert sum(len(batch.labels) for batch in rows.batches({})) in (2, 4)
    with pytest.raises(RuntimeError, match="n_rows is private"):
        _ = rows.n_rows
    assert Rows.read(wrap(X)).n_rows in (2, 4)
