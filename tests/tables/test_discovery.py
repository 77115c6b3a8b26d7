"""Discovery and bins against the truth, from exact and from noisy histograms."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skdpgen.tables import (
    Datetime,
    Integer,
    Kind,
    MagnitudeCells,
    Numeric,
    discovered_column,
    fine_cells,
    quantile_bins,
    read_values,
    tree_estimate,
)


def histogram(values, kind, dtype=None):
    cells = MagnitudeCells(kind)
    codes = cells.encode(read_values(pd.Series(values, dtype=dtype), kind))
    assert (codes >= 0).all()
    return np.bincount(codes, minlength=cells.n_cells).astype(float)


def discover(values, kind=Kind.FLOAT, std=0.0, seed=0, dtype=None):
    counts = histogram(values, kind, dtype)
    counts += std * np.random.default_rng(seed).normal(size=len(counts))
    return discovered_column(counts, std, kind)


nasty = st.sampled_from([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e308, -1e308, 5e-324])


@given(st.lists(nasty | st.floats(), min_size=1, max_size=50))
@settings(deadline=None)
def test_any_number_has_a_magnitude(values):
    counts = histogram(values, Kind.FLOAT, float)
    assert counts.sum() == len(values)
    assert counts[-1] == sum(not np.isfinite(v) for v in values)


@given(st.lists(st.integers(-(2**40), 2**40), min_size=1, max_size=60))
@settings(deadline=None)
def test_exact_bounds_of_integers_hold_all_and_are_tight(values):
    column = discover(values, Kind.INTEGER)
    assert isinstance(column, Integer)
    assert column.lower <= min(values)
    assert column.upper >= max(values)
    assert column.lower >= min(2 * min(values), min(values) // 2)
    assert column.upper <= max(2 * max(values), max(values) / 2, 1)
    assert not column.nullable


@given(
    st.lists(
        st.floats(-1e15, 1e15).filter(lambda x: x == 0 or abs(x) > 1e-11),
        min_size=1,
        max_size=60,
    )
)
@settings(deadline=None)
def test_exact_bounds_of_floats_hold_all(values):
    column = discover(values, Kind.FLOAT, dtype=float)
    assert column.lower <= min(values) * (1 - 1e-12) + 1e-6
    assert column.upper >= max(values) - abs(max(values)) * 1e-12 - 1e-6


@pytest.mark.parametrize(
    ("values", "decimals"),
    [
        ([1.0, 2.0, 30.0], 0),
        ([0.5, 2.0], 1),
        ([0.25, 2.0], 2),
        ([0.125, 2.0], None),
        ([1 / 3, 0.5], None),
        ([1999.99], 2),
        ([0.0, 0.0], 0),
    ],
)
def test_decimals(values, decimals):
    assert discover(values).decimals == decimals


@pytest.mark.parametrize("precise", [(0.0, 1.0), (-1.0, 0.0), (3.0,), (-3.0, 5.0)])
def test_bounds_that_noise_widens_keep_the_values_and_the_lattice(precise):
    """An octave too many, of magnitudes far below 1, must not move the lattice."""
    exact = histogram(list(precise) * 100, Kind.FLOAT)
    cells = MagnitudeCells(Kind.FLOAT)
    middle = cells.n_octaves // 2
    for octave in range(middle - 45, middle + 46):
        counts = exact.copy()
        counts[octave * cells.n_precisions] += 50.0
        column = discovered_column(counts, 0.0, Kind.FLOAT)
        assert column.decimals == 0
        assert column.lower <= min(precise) <= max(precise) <= column.upper, octave
        assert column.lower == round(column.lower)
        assert column.upper == round(column.upper)


def test_octaves_without_a_whole_day():
    cells = MagnitudeCells(Kind.DATETIME)
    for octave in range(cells.n_octaves):
        counts = np.zeros(cells.n_cells)
        counts[octave * cells.n_precisions] = 50.0
        discovered_column(counts, 0.0, Kind.DATETIME).check("x")


def test_missing_values_are_seen():
    assert discover([1.0, np.nan]).nullable
    assert discover([1, None, 3], Kind.INTEGER, dtype="Int64").nullable
    assert not discover([1.0, 2.0]).nullable


@pytest.mark.parametrize("kind", [Kind.FLOAT, Kind.INTEGER, Kind.DATETIME])
def test_a_column_without_values(kind):
    assert discovered_column(np.zeros(MagnitudeCells(kind).n_cells), 0.0, kind) is None


def test_times():
    days = pd.date_range("2012-01-01", "2019-12-31", freq="D")
    column = discover(days, Kind.DATETIME)
    assert isinstance(column, Datetime)
    assert column.whole_days
    assert pd.Timestamp(column.lower) <= days[0]
    assert pd.Timestamp(column.upper) >= days[-1]
    assert not discover(days + pd.Timedelta(hours=5), Kind.DATETIME).whole_days


RNG = np.random.default_rng(0)
TRUTH = {
    "age": (RNG.integers(17, 91, 5000).astype(float), 17, 90),
    "skewed": (np.exp(RNG.normal(8, 1, 5000)).round(2), 50, 2e5),
    "negative": (RNG.normal(-500, 20, 5000), -600, -400),
    "both": (RNG.normal(0, 1000, 5000), -4000, 4000),
    "spike": (np.where(RNG.random(5000) < 0.9, 0, RNG.integers(1, 999, 5000)), 0, 998),
}


@pytest.mark.parametrize("name", TRUTH)
def test_noisy_bounds_are_near_the_truth(name):
    """A bound cuts off few rows and is not far outside, in all but a rare case."""
    values, lower, upper = TRUTH[name]
    lost, wide = [], []
    for seed in range(100):
        column = discover(values, std=40.0, seed=seed)
        lost.append(((values < column.lower) | (values > column.upper)).mean())
        span = max(abs(upper), abs(lower))
        wide.append(max(abs(column.upper), abs(column.lower)) > 4.1 * span)
    assert np.median(lost) < 0.06
    assert np.quantile(lost, 0.95) < 0.12
    assert np.mean(wide) <= 0.05


def test_noise_alone_makes_no_bounds():
    for kind in (Kind.FLOAT, Kind.INTEGER, Kind.DATETIME):
        empty = np.zeros(MagnitudeCells(kind).n_cells)
        for seed in range(200):
            noise = 30.0 * np.random.default_rng(seed).normal(size=len(empty))
            assert discovered_column(empty + noise, 30.0, kind) is None


# ------------------------------------------------------------------------ bins


def grid(values, column, std, seed=0):
    cells = fine_cells(column)
    codes = cells.encode(read_values(pd.Series(values), Kind.FLOAT))
    counts = np.bincount(codes, minlength=cells.n_cells).astype(float)
    return cells, counts + std * np.random.default_rng(seed).normal(size=len(counts))


@pytest.mark.parametrize("std", [0.0, 10.0])
@pytest.mark.parametrize("name", TRUTH)
def test_bins_hold_about_equal_mass(name, std):
    values, lower, upper = TRUTH[name]
    column = Numeric(float(lower), float(upper))
    cells, counts = grid(values, column, std)
    bins = quantile_bins(cells, counts, std, mass=250.0)
    assert (np.diff(bins.edges) > 0).all()
    assert bins.edges[0] == cells.edges[0]
    assert bins.edges[-1] == cells.edges[-1]
    assert bins.nullable == cells.nullable
    held = np.bincount(
        bins.encode(read_values(pd.Series(values), Kind.FLOAT)), minlength=bins.n_cells
    )[: bins.n_known]
    wide = ~bins.is_atom()
    assert held[wide].max() < 3 * 250
    assert 5 <= bins.n_known <= 30 or name == "spike"


def test_a_spike_gets_a_bin_of_its_own():
    values, *_ = TRUTH["spike"]
    for column in (Integer(0, 998), Numeric(-5.0, 998.0)):
        cells, counts = grid(values, column, 10.0)
        bins = quantile_bins(cells, counts, 10.0, mass=250.0)
        code = bins.encode(read_values(pd.Series([0.0]), Kind.FLOAT))[0]
        assert bins.is_atom()[code]


def test_bins_of_a_lattice_end_between_its_points():
    values, *_ = TRUTH["age"]
    cells, counts = grid(values, Integer(0, 2000), 5.0)
    bins = quantile_bins(cells, counts, 5.0, mass=200.0)
    np.testing.assert_allclose(bins.edges % 1, 0.5)


@pytest.mark.parametrize("counts", [np.zeros(200), np.full(200, -50.0)])
def test_bins_of_nothing(counts):
    cells = fine_cells(Numeric(0, 1))
    bins = quantile_bins(cells, np.resize(counts, cells.n_cells), 10.0, mass=100.0)
    assert bins.n_known >= 1


def test_the_tree_is_exact_without_noise_and_keeps_the_mass():
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 50, 37).astype(float)
    np.testing.assert_allclose(tree_estimate(counts, 0.0, np.ones(37)), counts)
    noisy = counts + rng.normal(0, 20, 37)
    estimate = tree_estimate(noisy, 20.0, np.ones(37))
    assert (estimate >= 0).all()
    assert estimate.sum() == pytest.approx(noisy.sum())


def test_the_tree_returns_to_its_prior_in_noise():
    rng = np.random.default_rng(0)
    prior = np.arange(1.0, 65.0)
    errors, raw = [], []
    truth = 1000 * prior / prior.sum()
    for _ in range(50):
        noisy = truth + rng.normal(0, 30, 64)
        errors.append(np.abs(tree_estimate(noisy, 30.0, prior) - truth).sum())
        raw.append(np.abs(noisy - truth).sum())
    assert np.mean(errors) < 0.4 * np.mean(raw)
