"""What can be drawn of a described column: numbers with its decimals, in its bounds."""

import numpy as np
import pandas as pd
import pytest

from skdpgen import DPIndependentSynthesizer, DPPairwiseSynthesizer
from skdpgen.exceptions import SchemaError
from skdpgen.tables import Datetime, Integer, Numeric, Schema, bounds


@pytest.mark.parametrize(
    ("column", "ends", "n_values"),
    [
        (Numeric(0.25, 0.75, decimals=1), (0.3, 0.7), 5),
        (Numeric(-0.25, 0.75, decimals=1), (-0.2, 0.7), 10),
        (Numeric(0.4, 9.6, decimals=0), (1.0, 9.0), 9),
        (Numeric(18.45, 30, decimals=1), (18.5, 30.0), 116),
        (Numeric(0.1, 0.3, decimals=1), (0.1, 0.3), 3),
        (Numeric(0.1, 0.4, decimals=0), (0.1, 0.4), 1),  # none lies between
        (Numeric(0.25, 0.75), (0.25, 0.75), None),
        (Numeric(0, 1e300, decimals=2), (0, 1e300), None),
        (Numeric(0, 10**12, decimals=0), (0.0, 1e12), None),
        (Numeric(0, 9 * 10**15, decimals=0), (0.0, 9e15), None),
        (Numeric(0, 1e6, decimals=6), (0.0, 1e6), None),
    ],
    ids=str,
)
def test_bounds_are_numbers_with_the_stated_decimals(column, ends, n_values):
    assert bounds(column) == ends
    if n_values is not None:
        assert column.n_values == n_values


@pytest.mark.parametrize("cls", [DPIndependentSynthesizer, DPPairwiseSynthesizer])
@pytest.mark.parametrize("is_text", [False, True])
def test_no_drawn_number_has_more_decimals_or_is_outside(cls, is_text):
    numbers = pd.Series(np.arange(2000) % 11 / 10)
    column = Numeric(0.25, 0.75, decimals=1)
    if is_text:
        column = Numeric(0.25, 0.75, format="1.5")
        numbers = numbers.astype(str)
    X = pd.DataFrame({"x": numbers, "z": np.arange(2000) % 2})
    synth = cls(epsilon=5.0, schema=Schema({"x": column}), random_state=0).fit(X)
    drawn = synth.sample(500, random_state=0)["x"].dropna()  # noise may leave holes
    assert {*drawn.astype(float)} <= {0.3, 0.4, 0.5, 0.6, 0.7}
    assert synth.schema_.columns["x"].lower == 0.25


def test_given_values_that_cannot_be_drawn_are_refused():
    n = 600
    X = pd.DataFrame(
        {
            "n": np.arange(n) % 9,
            "a": np.arange(n) % 50 / 10,
            "d": pd.date_range("2020-01-01", periods=n, freq="D"),
            "m": pd.date_range("2020-01-01", periods=n, freq="min"),
            "big": 1_000_000 + np.arange(n) % 9,
            "p": 0.1,
        }
    )
    columns = {
        "n": Integer(0, 8),
        "a": Numeric(0, 5, decimals=1),
        "d": Datetime("2020-01-01", "2022-01-01", resolution="day"),
        "m": Datetime("2020-01-01", "2020-01-02", resolution="minute"),
        "big": Integer(1_000_000, 1_000_008),
        "p": Numeric(0.1, 0.4, decimals=0),  # no whole number lies between
    }
    synth = DPPairwiseSynthesizer(20.0, schema=Schema(columns), max_iter=1)
    synth.fit(X)
    for name, value in (
        ("n", 3.5),
        ("a", 0.25),
        ("d", pd.Timestamp("2020-02-02 00:09")),
        ("m", pd.Timestamp("2020-01-01 00:00:30")),
        ("big", 1_000_003.5),
    ):
        for dtype in (None, object):
            given = pd.DataFrame({name: pd.Series([value], dtype=dtype)})
            with pytest.raises(ValueError, match="values that the schema knows"):
                synth.sample(1, conditions=given)
    for name, value in (("n", 3.0), ("a", 0.3), ("d", pd.Timestamp("2020-02-02"))):
        drawn = synth.sample(1, conditions=pd.DataFrame({name: [value]}))
        assert drawn[name][0] == value
    rows = synth.sample(20)
    pd.testing.assert_frame_equal(synth.sample(20, conditions=rows), rows)


def test_reversed_times_are_named_as_they_were_given():
    with pytest.raises(SchemaError, match=r"lower <= upper\. Got lower='2020-01-01T00"):
        Datetime("2020", "2010").check("when")
