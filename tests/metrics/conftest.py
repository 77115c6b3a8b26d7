import numpy as np
import pandas as pd
import pytest


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def mixed(rng):
    """A table of every kind of column with missing values, and binary labels."""
    n = 300
    x = rng.normal(size=n)
    label = np.where(x + 0.3 * rng.normal(size=n) > 0, ">50K", "<=50K")
    frame = pd.DataFrame(
        {
            "number": np.where(rng.random(n) < 0.1, np.nan, x),
            "count": rng.integers(0, 5, size=n),
            "text": rng.choice(["a", "b", "c"], size=n),
            "flag": rng.random(n) < 0.5,
            "grade": pd.Categorical(rng.choice(["lo", "hi"], size=n)),
            "nullable": pd.array(rng.integers(0, 90, size=n), dtype="Int64"),
            "when": pd.Timestamp("2020-01-01") + pd.to_timedelta(x * 90, unit="D"),
            "constant": 1.0,
            "nothing": np.nan,
        }
    )
    frame.loc[:9, ["nullable", "text"]] = None
    return frame, pd.Series(label)
