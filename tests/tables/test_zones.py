"""Times with a zone: read as clocks show them, and put back into their zone."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from dateutil.tz import tzoffset
from hypothesis import given
from hypothesis import strategies as st

from skdpgen import (
    DPDRESynthesizer,
    DPIndependentSynthesizer,
    DPPairwiseSynthesizer,
    load,
)
from skdpgen.exceptions import SchemaError
from skdpgen.tables import (
    Chunks,
    Datetime,
    Kind,
    LessEqual,
    Numeric,
    Schema,
    read_values,
)
from skdpgen.tables._zones import FIRST, LAST, in_utc, is_same_zone, local_seconds

ZONES = ["Europe/Zurich", "America/New_York", "Asia/Kolkata", "UTC", "+05:30"]
N = 600
DAYS = pd.Series(pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(N) % 365, "D"))
FIXED = {"a": Numeric(0, 1)}


def table(zone):
    return pd.DataFrame({"a": np.zeros(N), "day": DAYS.dt.tz_localize(zone)})


def is_midnight(times):
    return bool((times == times.dt.normalize()).all())


@pytest.mark.parametrize("zone", ZONES)
@given(
    seconds=st.lists(
        st.integers(FIRST.astype(int), LAST.astype(int)), min_size=1, max_size=9
    )
)
def test_reading_and_putting_back_are_inverse(zone, seconds):
    """But in the hour that clocks show twice, and before zones had whole minutes."""
    stamps = pd.Series(np.array(seconds).astype("datetime64[s]"))
    local = local_seconds(np.array(seconds, dtype=float) - 946_684_800.0, zone)
    clocks = pd.Series((local + 946_684_800.0).astype("datetime64[s]"))
    apart = (in_utc(clocks, zone) - stamps).dt.total_seconds()
    assert set(apart) <= {0.0, 3600.0, 7200.0}
    expected = stamps.dt.tz_localize("UTC").dt.tz_convert(zone).dt.tz_localize(None)
    assert clocks.tolist() == expected.tolist()


@given(rows=st.lists(st.integers(-(2**62), 2**62), min_size=1, max_size=6))
def test_any_time_reads_as_it_does_alone(rows):
    stamps = pd.Series(np.array(rows).astype("datetime64[us]")).dt.tz_localize("UTC")
    series = stamps.dt.tz_convert("Europe/Zurich")
    together = read_values(series, Kind.DATETIME).values
    alone = [
        read_values(series[[i]], Kind.DATETIME).values[0] for i in range(len(rows))
    ]
    assert together.tolist() == alone


@pytest.mark.parametrize("zone", ZONES)
def test_days_stay_days(zone):
    for schema in (FIXED, FIXED | {"day": Datetime("2020-01-01", "2020-12-31", "day")}):
        synth = DPIndependentSynthesizer(1000.0, schema=schema).fit(table(zone))
        drawn = synth.sample(300)["day"]
        assert drawn.dtype == table(zone)["day"].dtype
        assert is_midnight(drawn)


@pytest.mark.parametrize(
    "make", [pl.from_pandas, lambda X: X], ids=["polars", "pandas"]
)
def test_bounds_without_an_offset_are_times_in_the_zone(make):
    noon = DAYS[:300] + pd.Timedelta(hours=20)
    X = pd.DataFrame({"seen": noon.dt.tz_localize("America/New_York")})
    last = noon.max()
    for end in (last, last.tz_localize("America/New_York").tz_convert("UTC")):
        schema = {"seen": Datetime("2020-01-01", end)}
        synth = DPIndependentSynthesizer(1000.0, schema=schema).fit(make(X))
        drawn = pd.Series(synth.sample(200)["seen"].to_list()).dt.tz_convert(
            "America/New_York"
        )
        assert drawn.min() >= pd.Timestamp("2020-01-01", tz="America/New_York")
        assert drawn.max() <= last.tz_localize("America/New_York")
        assert synth.schema_.columns["seen"].upper == last.isoformat()
        assert not synth.lost_


def test_given_times_are_returned_whatever_their_zone():
    X = table("Europe/Zurich")
    schema = FIXED | {"day": Datetime("2020-01-01", "2020-12-31")}
    synth = DPPairwiseSynthesizer(1000.0, schema=schema, max_iter=1).fit(X)
    given_time = pd.Timestamp("2020-02-01 09:00")
    here = given_time.tz_localize("Europe/Zurich")
    for stamp in (given_time, here, here.tz_convert("Asia/Tokyo")):
        drawn = synth.sample(conditions=pd.DataFrame({"day": [stamp]}))
        assert drawn["day"][0] == here


def test_times_of_one_column_are_in_one_zone():
    X, other = table("Europe/Zurich"), table("UTC")
    synth = DPIndependentSynthesizer(1000.0, schema=FIXED)
    with pytest.raises(ValueError, match=r"time zone Europe/Zurich\. Got UTC"):
        synth.fit(Chunks(lambda: iter([X, other])))
    with pytest.raises(ValueError, match=r"public_data must have column 'day' in"):
        synth.fit(X, public_data=other)


def test_a_zone_without_a_name_is_refused_before_anything_is_paid():
    synth = DPIndependentSynthesizer(1000.0)
    with pytest.raises(TypeError, match=r"name the zone, as in `.dt.tz_convert"):
        synth.fit(table(tzoffset("Somewhere", 3600)))
    assert not hasattr(synth, "privacy_")


NEW_YORK = "America/New_York"
TWICE = pd.to_datetime(["2020-11-01 05:30", "2020-11-01 06:30"]).tz_localize("UTC")
ALL_YEAR = FIXED | {"day": Datetime("2020-01-01", "2020-12-31")}


def test_times_that_are_given_are_exact_where_clocks_show_them_twice():
    X = table(NEW_YORK)
    synth = DPPairwiseSynthesizer(1000.0, schema=ALL_YEAR, max_iter=1).fit(X)
    for column in (
        pd.Series(TWICE),
        pd.Series(TWICE).dt.tz_convert("Asia/Tokyo").astype("category"),
        pd.Series(TWICE).astype("timestamp[us, tz=Asia/Tokyo][pyarrow]"),
    ):
        drawn = synth.sample(conditions=pd.DataFrame({"day": column}))["day"]
        assert str(drawn.dtype) == f"datetime64[us, {NEW_YORK}]"
        assert drawn.tolist() == TWICE.tolist()


def test_public_times_are_exact_too(tmp_path):
    times = pd.Series(np.resize(TWICE.tz_convert(None).to_numpy(), N)).dt.tz_localize(
        "UTC"
    )
    target = times.dt.tz_convert(NEW_YORK).rename("y")
    X = pd.DataFrame({"day": target, "a": np.zeros(N)})
    for table_of, dtype in (
        (X, f"datetime64[us, {NEW_YORK}]"),
        (X.astype({"day": f"timestamp[us, tz={NEW_YORK}][pyarrow]"}), None),
    ):
        synth = DPDRESynthesizer(1000.0, task="regression").fit(
            table_of, target, public_data=(table_of, target)
        )
        synth.save(tmp_path / "fit.skdpgen")
        for fitted in (synth, load(tmp_path / "fit.skdpgen")):
            drawn, y = fitted.sample(200)
            assert drawn["day"].dtype == table_of["day"].dtype
            assert set(pd.to_datetime(drawn["day"].astype(object), utc=True)) == set(
                TWICE
            )
            assert y.dtype == target.dtype
            assert (y.dt.hour == 1).all()
        assert dtype is None or str(drawn["day"].dtype) == dtype


def in_arrow(y):
    return pa.chunked_array([pa.array(y)])


@pytest.mark.parametrize("make", [pl.Series, pd.Series, in_arrow])
def test_a_target_in_a_zone_is_drawn_as_it_is_given(make):
    X, y = pd.DataFrame({"a": np.zeros(N)}), DAYS.dt.tz_localize(NEW_YORK)
    synth = DPIndependentSynthesizer(1000.0, schema=FIXED).fit(X, make(y))
    given_times = make(y[40:43].reset_index(drop=True))
    _, drawn = synth.sample(3, y=given_times)
    moments = [pd.Timestamp(getattr(t, "as_py", lambda t=t: t)()) for t in drawn]
    assert moments == y[40:43].tolist()


def test_bounds_are_in_order_in_the_zone():
    wrong = Datetime("2020-06-01", "2020-06-01T03:00Z")
    with pytest.raises(SchemaError, match="must have lower <= upper"):
        DPIndependentSynthesizer(schema=FIXED | {"day": wrong}).fit(table(NEW_YORK))


def test_rules_compare_times_of_one_zone():
    X = table(NEW_YORK).assign(end=DAYS.dt.tz_localize("UTC"))
    ends = {"end": Datetime("2020-01-01", "2020-12-31")}
    schema = Schema(ALL_YEAR | ends, rules=[LessEqual("day", "end")])
    with pytest.raises(SchemaError, match=r"must be in one time zone.*'day'"):
        DPIndependentSynthesizer(schema=schema).fit(X)


@pytest.mark.parametrize(
    ("first", "second", "is_same"),
    [("UTC", "+00:00", True), ("UTC+05:30", "+05:30", True), ("UTC", None, False)],
)
def test_a_zone_has_several_names(first, second, is_same):
    assert is_same_zone(first, second) == is_same
