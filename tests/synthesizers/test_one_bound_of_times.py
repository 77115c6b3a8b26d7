"""One bound of times in text may be given; the other one is discovered."""

import numpy as np
import pandas as pd
import pytest

from skdpgen import DPIndependentSynthesizer
from skdpgen.tables import Datetime

N = 2000
DAYS = pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(N) % 300, "D")
MIDDLE = pd.Timestamp("2020-06-01")


@pytest.mark.parametrize("codes", [(), ("unknown",)])
@pytest.mark.parametrize("side", ["lower", "upper"])
def test_a_bound_that_is_given_is_kept(side, codes):
    text = DAYS.strftime("%d.%m.%Y")
    X = pd.DataFrame({"day": np.where(np.arange(N) % 10 == 0, "unknown", text)})
    given = Datetime(format="%d.%m.%Y", codes=codes, **{side: MIDDLE})
    synth = DPIndependentSynthesizer(1000.0, schema={"day": given}).fit(X)
    drawn = pd.to_datetime(synth.sample(N)["day"], format="%d.%m.%Y", errors="coerce")
    assert getattr(synth.schema_.columns["day"], side) == MIDDLE.isoformat()
    if side == "lower":
        assert drawn.min() >= MIDDLE
        assert drawn.max() >= DAYS.max() - pd.Timedelta(days=5)
        where = "below"
    else:
        assert drawn.max() <= MIDDLE
        assert drawn.min() <= DAYS.min() + pd.Timedelta(days=5)
        where = "above"
    moved = f"are {where} '2020-06-01T00:00:00' and were moved to it"
    assert any(moved in line for line in synth.lost_)
