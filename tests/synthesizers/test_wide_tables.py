"""Wide tables: what they are cut into changes nothing, and plans say what they take."""

import numpy as np
import pandas as pd
import pytest

from skdpgen import DPIndependentSynthesizer, DPPairwiseSynthesizer, plan
from skdpgen.exceptions import NotPrivateWarning
from skdpgen.privacy import insecure_noise_seed
from skdpgen.synthesizers.tools._plan import fit_costs_of
from skdpgen.tables import _passes
from skdpgen.training import _mixture

N, WIDE = 1000, 12


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=(N, 1)) + np.cumsum(rng.normal(size=(N, WIDE)), axis=1) / 5
    return pd.DataFrame(hidden, columns=[f"x{j}" for j in range(WIDE)])


def fitted(cls, X, **params):
    with pytest.warns(NotPrivateWarning), insecure_noise_seed(0):
        return cls(epsilon=60.0, random_state=0, **params).fit(X)


def test_tiles_say_what_the_whole_says(table, monkeypatch):
    """Relations that few pairs have, among columns that stand in many tiles."""
    how = {"max_iter": 6, "n_components": 10}
    whole = fitted(DPPairwiseSynthesizer, table, **how)
    monkeypatch.setattr(_mixture, "UNTILED_CELLS", 40)
    monkeypatch.setattr(_mixture, "TILE_CELLS", 40)
    tiled = fitted(DPPairwiseSynthesizer, table, **how)
    assert len(list(_mixture.cell_blocks(sum(g.n_groups for g in tiled.groups_)))) > 9
    np.testing.assert_allclose(tiled.loss_curve_, whole.loss_curve_, rtol=1e-3)


def test_fewer_rows_at_once_change_nothing(table, monkeypatch):
    whole = fitted(DPIndependentSynthesizer, table).sample(50, random_state=0)
    monkeypatch.setattr(_passes, "FEWEST_ROWS", 7)
    monkeypatch.setattr(_passes, "CELLS_AT_ONCE", 10 * WIDE)
    again = fitted(DPIndependentSynthesizer, table).sample(50, random_state=0)
    pd.testing.assert_frame_equal(whole, again)


@pytest.mark.parametrize("columns", [2, 20, 2_000])
@pytest.mark.parametrize("epsilon", [1.0, 10.0])
def test_plans_say_from_how_many_rows_on_pairs_are_looked_at(columns, epsilon):
    given = {"columns": columns, "epsilon": epsilon, "delta": 1e-7}
    least = plan(10_000, **given).rows_for_pairs
    assert plan(max(int(1.01 * least), 2), **given).n_pairs >= columns - 1
    short = plan(max(int(0.99 * least), 2), **given)
    assert not short.n_pairs
    assert "pairs take about" in str(short)


@pytest.mark.parametrize(
    ("size", "method", "seconds"),
    [
        ((20_000, 600, 1.0), "DPIndependent", 8),
        ((20_000, 2_000, 1.0), "DPPairwise", 29),
        ((20_000, 2_000, 10.0), "DPPairwise", 92),
        ((20_000, 2_000, 1.0), "DPMERF", 166),
        ((1_000_000, 20, 1.0), "DPIndependent", 3),
        ((1_000_000, 20, 1.0), "DPPairwise", 13),
        ((1_000_000, 20, 1.0), "DPMERF", 21),
    ],
)
def test_plans_cost_what_was_measured(size, method, seconds):
    assert 0.5 < plan(*size).costs[method].seconds / seconds < 2.0


def test_costs_grow_with_all_that_they_depend_on():
    how = {"n_pairs": 190, "n_features": 1000, "is_trained": True, "n_passes": (4, 9)}
    usual = fit_costs_of(10**6, 20, 2, **how)
    for more in ((10**9, 20, 2), (10**6, 2_000, 2), (10**6, 20, 1_000)):
        for name, cost in fit_costs_of(*more, **how).items():
            assert cost.seconds >= usual[name].seconds
            assert cost.memory >= usual[name].memory
            assert cost.reduced >= usual[name].reduced
    assert "h, up to 12 passes of 160 GB" in str(plan(10**9, 20).costs["DPPairwise"])
