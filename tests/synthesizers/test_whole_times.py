"""Times that are whole minutes, hours or seconds: samples are so, too."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from skdpgen import DPIndependentSynthesizer
from skdpgen.exceptions import SchemaError
from skdpgen.privacy import insecure_noise_seed
from skdpgen.tables import Datetime, Schema
from skdpgen.tables._columns import RESOLUTIONS

pytestmark = pytest.mark.filterwarnings("ignore:insecure_noise_seed")
N = 2000
UNITS = {"day": "D", "hour": "h", "minute": "min", "second": "s"}
RNG = np.random.default_rng(3)
MOMENTS = pd.Timestamp("2021-03-01") + pd.to_timedelta(RNG.random(N) * 4e7, unit="s")
X = pd.DataFrame({unit: MOMENTS.floor(short) for unit, short in UNITS.items()})
X["finer"] = MOMENTS


def fitted(rows=X, schema=None, epsilon=20.0):
    synth = DPIndependentSynthesizer(epsilon, schema=schema, random_state=0)
    with insecure_noise_seed(1):
        return synth.fit(rows)


def are_whole(times, unit):
    return bool((times == times.dt.floor(UNITS[unit])).all())


def check_resolutions(columns):
    for unit in UNITS:
        assert columns[unit].resolution == unit
    assert columns["finer"].resolution is None


def test_samples_are_as_whole_as_rows():
    synth = fitted()
    check_resolutions(synth.schema_.columns)
    sample = synth.sample(N)
    for unit in UNITS:
        assert are_whole(sample[unit].dropna(), unit), unit
    assert not are_whole(sample["finer"].dropna(), "second")


def test_a_few_finer_rows_show():
    rows = X.assign(minute=X["minute"].where(np.arange(N) > 400, X["second"]))
    assert fitted(rows).schema_.columns["minute"].resolution == "second"


def test_text_is_as_whole_as_rows():
    form = "%Y-%m-%d %H:%M:%S"
    rows = pd.DataFrame({"at": X["minute"].dt.strftime(form)})
    for given in (None, Schema({"at": Datetime(format=form)})):
        synth = fitted(rows, given)
        assert synth.schema_.columns["at"].resolution == "minute"
        read = pd.to_datetime(synth.sample(N)["at"].dropna(), format=form)
        assert are_whole(read, "minute")


def test_a_schema_that_is_read_off_rows_has_them():
    check_resolutions(Schema.from_public(X).columns)


def test_a_format_without_a_time_of_day_says_days():
    assert Datetime(format="%d.%m.%Y").resolution == "day"
    assert Datetime(format="%H:%M").resolution is None
    assert Datetime(format="%H:%M", resolution="hour").resolution == "hour"


@pytest.mark.parametrize("ends", [(None, None), ("2021-03-01 00:30:00", None)])
def test_a_schema_without_bounds_says_what_times_are_whole_numbers_of(ends):
    form = "%Y-%m-%d %H:%M:%S"
    rows = pd.DataFrame({"at": X["minute"].dt.strftime(form)})
    given = Schema({"at": Datetime(*ends, "hour", format=form)})
    sample = fitted(rows, given).sample(300)["at"].dropna()
    assert are_whole(pd.to_datetime(sample, format=form), "hour")


def test_an_upper_bound_between_whole_times_loses_no_row():
    for column, at in (
        (Datetime("2021-01-01", "2021-01-03T23:59:59", "day"), "2021-01-03T23:00"),
        (Datetime("2001-01-01", "2021-01-03T23:59:59", "day"), "2021-01-03T23:00"),
        (Datetime("2021-01-01T10:00", "2021-01-09", "day"), "2021-01-01T11:00"),
        (Datetime("2001-01-01T10:00", "2021-01-09", "day"), "2001-01-01T11:00"),
    ):
        rows = pd.DataFrame({"at": [pd.Timestamp(at)] * N})
        synth = fitted(rows, Schema({"at": column}))
        assert synth.lost_ == []
        assert are_whole(synth.sample(20)["at"].dropna(), "day")


def test_bounds_between_whole_times_are_not_drawn():
    column = Datetime("2021-03-01T00:00:30", "2021-03-01T01:00:30", "minute")
    assert column.n_values == 60
    rows = pd.DataFrame({"at": X["minute"].iloc[:200]})
    sample = fitted(rows, Schema({"at": column})).sample(200)["at"].dropna()
    assert are_whole(sample, "minute")
    assert sample.min() >= pd.Timestamp("2021-03-01T00:01")


@pytest.mark.parametrize("resolution", ["days", "week", True, 60, ["day"]])
def test_a_resolution_that_does_not_exist_is_refused(resolution):
    with pytest.raises(SchemaError, match="resolution of column 'at' must be one of"):
        Datetime("2021-01-01", "2021-12-31", resolution).check("at")
    with pytest.raises(SchemaError, match="resolution of column 'at' must be one of"):
        Datetime(resolution=resolution, format="%d.%m.%Y").check("at")


def test_resolutions_divide_each_other():
    steps = list(RESOLUTIONS.values())
    assert all(a % b == 0 for a, b in pairwise(steps))


def test_whole_numbers_with_many_gaps_stay_whole():
    """Of few numbers no count exceeds the noise, and each cell is about as likely."""
    rng = np.random.default_rng(5)
    rows = pd.DataFrame(rng.integers(5, 90, (N, 4)) * 1.0, columns=list("abcd"))
    rows = rows.where(rng.random((N, 4)) > 0.95)
    wrong = 0
    for seed in range(5):
        with insecure_noise_seed(seed):
            synth = DPIndependentSynthesizer(1.0, random_state=0).fit(rows)
        wrong += sum(
            getattr(column, "decimals", None) != 0
            for column in synth.schema_.columns.values()
        )
    assert wrong <= 2
