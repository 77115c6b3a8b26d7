"""Times far from today: of any year from 1 to 9999, within what their dtype holds."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from skdpgen import Datetime, DPIndependentSynthesizer, Integer, Numeric, Schema
from skdpgen.exceptions import NotPrivateWarning, SchemaError
from skdpgen.privacy import insecure_noise_seed
from skdpgen.tables._layout import Kind, Layout
from skdpgen.tables._text_forms import read_time, write_time

N = 2000
RNG = np.random.default_rng(0)
DAYS = np.datetime64("2020-01-01", "s") + RNG.integers(0, 900, N).astype("m8[D]")
IS_FAR = np.arange(N) % 10 < 3
X = pd.DataFrame({"a": np.arange(N) % 7})
WIDE = Datetime("1000-01-01", "9999-12-31")
FIRST, LAST = "1677-09-21T00:12:44", "2262-04-11T23:47:16"


def fitted(table, y=None, epsilon=10.0, **params):
    with pytest.warns(NotPrivateWarning), insecure_noise_seed(0):
        return DPIndependentSynthesizer(epsilon, **params).fit(table, y)


def with_far_days(day):
    return np.where(IS_FAR, np.datetime64(day, "s"), DAYS)


@pytest.mark.parametrize("day", ["9999-12-31", "0001-01-01", "1500-06-01"])
@pytest.mark.parametrize("is_text", [False, True])
def test_a_far_day_of_many_rows_is_found(day, is_text):
    stamps = pd.Series(with_far_days(day))
    table = pd.DataFrame({"day": stamps.astype(str) if is_text else stamps})
    synth = fitted(table)
    assert synth.lost_ == []
    line = synth.columns_.loc["day"]
    for side in ("below", "above"):  # whole days lie within the range
        assert abs(line[side]) < 5 * line[f"{side}_noise"]
    years = synth.sample(N)["day"].astype(str).str[:4].astype(int)
    is_far = (years < 1900) | (years > 2100)
    assert is_far.mean() == pytest.approx(0.3, abs=0.05)
    assert (years[is_far] == int(day[:4])).mean() > 0.9


def test_the_share_above_counts_no_year_that_cannot_be():
    synth = fitted(pd.DataFrame({"day": with_far_days("9999-12-31")}), epsilon=0.3)
    line = synth.columns_.loc["day"]
    assert line["upper"] >= "9999-12-31"
    assert abs(line["above"]) < 5 * line["above_noise"]


@pytest.mark.parametrize("form", ["%Y-%m-%dT%H:%M:%S", "%d.%m.%Y"])
def test_early_years_are_written_as_they_are_read(form):
    days = [time.item().replace(year=980) for time in DAYS]
    text = [write_time(day, form) for day in days]
    assert math.isfinite(read_time(text[0], form))
    synth = fitted(pd.DataFrame({"day": text}))
    assert type(synth.schema_.columns["day"]) is Datetime
    drawn = synth.sample(N)["day"].dropna()
    assert all(math.isfinite(read_time(day, form)) for day in drawn)


@pytest.mark.parametrize("task", ["column", "target"])
def test_continuous_times_are_drawn_in_any_year(task):
    stamps = pd.Series(with_far_days("9000-01-01"))
    if task == "column":
        schema = Schema({"day": WIDE})
        drawn = fitted(pd.DataFrame({"day": stamps}), schema=schema).sample(N)["day"]
    else:
        drawn = fitted(X, stamps, schema=Schema(target=WIDE)).sample(N)[1]
    assert drawn.dtype == stamps.dtype
    assert (drawn.dt.year > 3000).mean() == pytest.approx(0.3, abs=0.05)


def containers():
    frame = pd.DataFrame({"day": with_far_days("2262-04-10").astype("M8[ns]")})
    zoned = frame["day"].dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo")
    return {
        "pandas": frame,
        "zone": zoned.to_frame(),
        "polars": pl.DataFrame(frame),
        "pyarrow": pa.Table.from_pandas(frame, preserve_index=False),
    }


@pytest.mark.parametrize("name", ["pandas", "zone", "polars", "pyarrow"])
@pytest.mark.parametrize("resolution", [None, "day"])
def test_nanoseconds_hold_no_time_beyond_their_years(name, resolution):
    table = containers()[name]
    # noise fills cells far from all rows, where such stamps would wrap
    column = Datetime(WIDE.lower, WIDE.upper, resolution)
    synth = fitted(table, epsilon=0.05, schema=Schema({"day": column}))
    drawn = synth.sample(N, random_state=0)
    if name == "pyarrow":
        assert drawn.schema.types == table.schema.types
        drawn = drawn.to_pandas()
    else:
        assert list(drawn.dtypes) == list(table.dtypes)
    public = synth.schema_.columns["day"]
    if name != "zone":
        assert (public.lower, public.upper) == (FIRST, LAST)
    values = drawn["day"].dt.tz_convert(None) if name == "zone" else drawn["day"]
    stamps = pd.Series(values.to_numpy().astype("M8[us]"))
    assert stamps.dropna().between(pd.Timestamp(FIRST), pd.Timestamp(LAST)).all()


def test_the_last_nanosecond_may_stand_for_never():
    stamps = pd.Series(np.where(IS_FAR, pd.Timestamp.max.to_datetime64(), DAYS))
    synth = fitted(pd.DataFrame({"day": stamps.astype("M8[ns]")}), epsilon=math.inf)
    drawn = synth.sample(N)["day"]
    assert drawn.dtype == "datetime64[ns]"
    assert synth.lost_ == []
    line = synth.columns_.loc["day"]
    assert not line["above"] > 0.01  # no row is above what the dtype holds
    assert (drawn.dt.year > 2200).mean() == pytest.approx(0.3, abs=0.05)


def test_bounds_that_no_nanosecond_reaches_are_refused():
    table = containers()["pandas"]
    schema = Schema({"day": Datetime("3000-01-01", "3001-01-01")})
    message = r"1677-09-21 00:12:44 to 2262-04-11 23:47:16\. Got lower='3000"
    with pytest.raises(SchemaError, match=message):
        DPIndependentSynthesizer(1.0, schema=schema).fit(table)


@pytest.mark.parametrize(
    ("dtype", "limits"),
    [
        ("datetime64[us]", None),
        ("datetime64[ns]", (-9_223_372_036.0, 9_223_372_036.0)),
        ("datetime64[ns, Asia/Tokyo]", (-9_223_285_636.0, 9_223_285_636.0)),
        ("timestamp[ns][pyarrow]", (-9_223_372_036.0, 9_223_372_036.0)),
        ("Datetime(time_unit='ns', time_zone=None)", (-9_223_372_036.0,) * 2),
    ],
)
def test_limits_of_dtypes_of_times(dtype, limits):
    (held,) = Layout("pandas", ("a",), (Kind.DATETIME,), (dtype,)).limits
    if limits is None:
        assert held is None
    else:
        assert held[0] == limits[0] - 946_684_800.0
        assert held[1] == abs(limits[1]) - 946_684_800.0


# ------------------------------------------------------ targets of narrow dtypes


@pytest.mark.parametrize("make", [pd.Series, pl.Series, np.asarray])
@pytest.mark.parametrize("dtype", ["uint8", "int8"])
def test_a_target_is_drawn_within_its_dtype(make, dtype):
    y = make((np.arange(N) % 100).astype(dtype))
    schema = Schema(target=Integer(0, 500))
    params = {"epsilon": 0.05, "task": "regression", "schema": schema}
    table = pl.DataFrame(X) if make is pl.Series else X
    synth = fitted(table, y, **params)
    drawn = synth.sample(N, random_state=0)[1]
    assert drawn.dtype == y.dtype
    assert drawn.min() >= 0  # 300 is 44 or -84 in a byte
    assert synth.schema_.target.upper == np.iinfo(dtype).max


def test_a_discovered_target_is_drawn_within_its_dtype():
    y = pd.Series(np.linspace(64_000, 65_504, N).astype("float16"))
    synth = fitted(X, y, epsilon=1.0)
    assert synth.schema_.target.upper <= np.finfo("float16").max  # not its octave
    drawn = synth.sample(N, random_state=0)[1]
    assert drawn.dtype == y.dtype
    assert np.isfinite(drawn).all()


def test_bounds_that_the_dtype_of_a_target_excludes_are_refused():
    y = pd.Series((np.arange(N) % 100).astype("uint8"))
    schema = Schema(target=Numeric(300, 500))
    with pytest.raises(SchemaError, match="Bounds of the target must overlap"):
        DPIndependentSynthesizer(1.0, task="regression", schema=schema).fit(X, y)
