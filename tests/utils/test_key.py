"""Names of blocks are members inside, and plain text in all that is published."""

import numpy as np
import pytest

from skdpgen.privacy import Counts, GivenBatches, Ledger, PrivacyBudget, release
from skdpgen.tables import EncodedBatch
from skdpgen.utils import Key


def test_a_release_has_names_in_plain_text():
    batch = EncodedBatch(np.zeros(5, dtype=np.int64), {})
    ledger = Ledger(PrivacyBudget(1.0, 1e-5))
    rows = GivenBatches([batch])
    found = release(rows, {Key.ROWS: Counts()}, name="n", ledger=ledger, share=1.0)
    for named in (found.values, found.noise_std):
        assert repr(list(named)) == "['rows']"
        assert named[Key.ROWS] is named["rows"]


def test_a_name_that_is_none_fails_at_once():
    with pytest.raises(AttributeError):
        _ = Key.COLUMN
