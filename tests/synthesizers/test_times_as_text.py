"""Dates that a CSV file holds as text, described by a schema."""

import numpy as np
import pandas as pd

from skdpgen import Datetime, DPIndependentSynthesizer, Schema


def test_text_that_holds_dates_comes_back_as_dates_in_text():
    days = pd.date_range("2024-01-01", "2024-03-31")
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"day": rng.choice(days.strftime("%Y-%m-%d"), 2000)})
    X.loc[0, "day"] = "yesterday"
    schema = Schema({"day": Datetime("2024-01-01", "2024-03-31", resolution="day")})
    synth = DPIndependentSynthesizer(schema=schema).fit(X)
    sampled = synth.sample(500)["day"]
    assert sampled.dtype == X["day"].dtype
    assert set(sampled.dropna()) <= set(days.strftime("%Y-%m-%d"))
    assert sampled.nunique() > 30
