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
        assert are_whole(sample[unit], unit), unit
    assert not are_whole(sample["finer"], "second")


def test_a_few_finer_rows_show():
    rows = X.assign(minute=X["minute"].where(np.arange(N) > 400, X["second"]))
    assert fitted(rows).schema_.columns["minute"].resolution == "second"


def test_text_is_as_whole_as_its_format():
    rows = pd.DataFrame({"at": X["minute"].dt.strftime("%Y-%m-%d %H:%M")})
    synth = fitted(rows)
    assert synth.schema_.columns["at"].resolution == "minute"
    given = Schema({"at": Datetime(format="%Y-%m-%d %H:%M")})
    for at in (synth, fitted(rows, given)):
        read = pd.to_datetime(at.sample(N)["at"], format="%Y-%m-%d %H:%M")
        assert abs((read - X["minute"]).dt.total_seconds().mean()) < 2e6


def test_a_schema_that_is_read_off_rows_has_them():
    check_resolutions(Schema.from_public(X).columns)


@pytest.mark.parametrize(
    ("form", "resolution"),
    [
        ("%d.%m.%Y", "day"),
        ("%Y-%m-%d %H", "hour"),
        ("%Y-%m-%d %H%z", "minute"),  # offsets may be half an hour apart
        ("%-m/%-d/%Y %-I:%M %p", "minute"),
        ("%Y-%m-%dT%H:%M+02:00", "minute"),
        ("%c", "second"),
        ("%H:%M:%S", "second"),
        ("%H:%M:%S.%3f", None),
    ],
)
def test_a_format_states_the_resolution(form, resolution):
    assert Datetime(format=form).resolution == resolution


def test_the_coarser_of_format_and_resolution_counts():
    assert Datetime(format="%H:%M", resolution="hour").resolution == "hour"
    assert Datetime(format="%H:%M", resolution="second").resolution == "minute"


def test_bounds_between_whole_times_count_as_the_nearest_inside():
    column = Datetime("2021-03-01T00:00:30", "2021-03-01T01:00:30", "minute")
    assert column.n_values == 60
    rows = pd.DataFrame({"at": X["minute"].iloc[:200]})
    sample = fitted(rows, Schema({"at": column})).sample(200)["at"]
    assert are_whole(sample, "minute")
    assert sample.min() >= pd.Timestamp("2021-03-01T00:01")


@pytest.mark.parametrize("resolution", ["days", "week", True, 60])
def test_a_resolution_that_does_not_exist_is_refused(resolution):
    with pytest.raises(SchemaError, match="resolution of column 'at' must be one of"):
        Datetime("2021-01-01", "2021-12-31", resolution).check("at")


def test_bounds_without_a_whole_time_between_them_are_refused():
    with pytest.raises(SchemaError, match="lower <= upper"):
        Datetime("2021-01-01T10:00", "2021-01-01T12:00", "day").check("at")


def test_resolutions_divide_each_other():
    steps = list(RESOLUTIONS.values())
    assert all(a % b == 0 for a, b in pairwise(steps))
