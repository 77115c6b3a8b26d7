"""Which values are shown: by noisy counts alone, as often as their noise says."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from skdpgen.privacy import Ledger, PrivacyBudget, Selections, release
from skdpgen.privacy._budget import Adjacency
from skdpgen.privacy._selection import selection_threshold

N, ALPHA = 2000, 1e-6


def shown(n_rows, ledger):
    """Return the noisy count of one value that so many rows have; None if not shown."""
    tokens = SimpleNamespace(codes=np.zeros(n_rows, dtype=np.int64), values=("a",))
    batch = SimpleNamespace(labels=tokens.codes, parts={"tokens": {"column": tokens}})
    released = release(
        [batch],
        {"tokens": Selections(("column",))},
        name="values",
        ledger=ledger,
        share=1.0,
    )
    return released.values["tokens"]["column"].get("a")


def new_ledger():
    return Ledger(PrivacyBudget.reserving(4.0, 1e-3, Adjacency.ADD_REMOVE, 1))


@pytest.mark.parametrize("away", [-1.0, 0.0, 1.0])  # from the threshold, in stds
def test_a_value_is_shown_as_often_as_its_noise_says(away):
    ledger = new_ledger()
    std = ledger.noise_std(share=1.0, sensitivity=1.0)
    threshold = selection_threshold(std, ledger.budget.delta_selection, 1)
    n_rows = round(threshold + away * std)
    counts = [shown(n_rows, new_ledger()) for _ in range(N)]
    seen = [count for count in counts if count is not None]
    chance = stats.norm.sf((threshold - n_rows) / std)
    assert stats.binomtest(len(seen), N, chance).pvalue > ALPHA
    assert min(seen) > threshold
    assert len(set(seen)) > 0.99 * len(seen)  # each with its noise


def test_a_value_of_one_row_is_shown_as_rarely_as_delta_says():
    for n_columns in (1, 3, 40):
        threshold = selection_threshold(2.0, 0.01, n_columns)
        hidden = stats.norm.cdf((threshold - 1.0) / 2.0) ** n_columns
        assert 0.99 <= hidden < 0.99 + 1e-6


def test_a_column_is_selected_from_once():
    """Named twice, each row would count twice and be charged once."""
    with pytest.raises(ValueError, match="a name twice"):
        Selections(("job", "region", "job"))
