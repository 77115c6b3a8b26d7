"""Times with a zone: read as clocks show them, and put back into their zone."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from dateutil.tz import tzoffset
from hypothesis import given
from hypothesis import strategies as st

from skdpgen import DPIndependentSynthesizer, DPPairwiseSynthesizer
from skdpgen.tables import Chunks, Datetime, Kind, Numeric, read_values
from skdpgen.tables._zones import FIRST, LAST, in_utc, local_seconds

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
    for schema in (FIXED, FIXED | {"day": Datetime("2020-01-01", "2020-12-31", True)}):
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
