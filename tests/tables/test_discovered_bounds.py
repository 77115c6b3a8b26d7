"""Bounds that noise and shapes make: simulated on released histograms, without fits."""

from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd
import pytest

from skdpgen.tables import (
    Integer,
    Kind,
    MagnitudeCells,
    Numeric,
    discovered_column,
    fine_cells,
    is_far_from_zero,
    read_values,
    trimmed,
    within,
)

N, SEEDS = 4000, 60
NOISE = {  # of magnitudes, and of the grid of a range far from zero
    "none": (0.0, 0.0),
    "little": (N / 250, N / 200),
    "much": (N / 64, N / 60),  # that discovery aims at
}
FINER = 1024
WIDER = 8.0
NOTHING = Integer(0, 0)
RNG = np.random.default_rng(0)


def rounded(values, decimals):
    return np.round(values, decimals)


def zero_inflated(share, values):
    return np.where(RNG.random(N) < share, 0.0, values)


def partly(share, values):
    return np.where(RNG.random(N) < share, np.nan, values)


SHAPES = {
    "ages": RNG.integers(17, 91, N),
    "children": RNG.poisson(1.2, N),
    "months": RNG.integers(1, 13, N),
    "flags": RNG.integers(0, 2, N),
    "rare flags": RNG.random(N) < 0.05,
    "zeros and amounts": rounded(zero_inflated(0.8, RNG.lognormal(7, 1, N)), 2),
    "lognormal": RNG.lognormal(3, 2, N),
    "pareto": RNG.pareto(1.5, N),
    "cents": rounded(RNG.gamma(2.0, 50.0, N), 2),
    "halves": rounded(RNG.integers(0, 20, N) / 2, 1),
    "signed": RNG.normal(0, 1000, N),
    "gains and losses": rounded(zero_inflated(0.5, RNG.normal(50, 400, N)), 2),
    "debts": -RNG.gamma(2.0, 500.0, N),
    "years": RNG.integers(1950, 2021, N),
    "temperatures": rounded(RNG.normal(37.0, 0.7, N), 1),
    "bell far out": RNG.normal(1000, 140, N),
    "weights": rounded(RNG.normal(75, 15, N), 1),
    "tiny": RNG.lognormal(-18, 0.5, N),
    "huge": RNG.lognormal(34, 0.5, N),
    "constant": np.full(N, 7),
    "a spike at 99999": np.where(RNG.random(N) < 0.1, 99_999, RNG.integers(0, 900, N)),
    "codes of -1": np.where(RNG.random(N) < 0.2, -1, RNG.integers(300, 850, N)),
    "a third missing": partly(0.3, RNG.gamma(2.0, 10.0, N)),
    "mostly missing": partly(0.8, RNG.gamma(2.0, 10.0, N)),
}
SHAPES = {name: np.asarray(values, dtype=float) for name, values in SHAPES.items()}


@dataclass(frozen=True)
class Found:
    """What some seed's noise makes of a shape."""

    column: object
    values: np.ndarray

    @property
    def bounds(self):
        return float(self.column.lower), float(self.column.upper)

    @property
    def lost(self):
        lower, upper = self.bounds
        return ((self.values < lower) | (self.values > upper)).mean()


def counted(cells, values):
    codes = cells.encode(read_values(pd.Series(values), Kind.FLOAT))
    kept = codes[(codes >= 0) & (codes < cells.n_cells)]
    return np.bincount(kept, minlength=cells.n_cells).astype(float)


@cache
def all_found(name, noise="little"):
    """Discover a shape with the noise of every seed, as a fit does."""
    values = SHAPES[name]
    known = values[~np.isnan(values)]
    exact = counted(MagnitudeCells(Kind.FLOAT), values)
    std, place_std = NOISE[noise]
    found = []
    for seed in range(SEEDS if std else 1):
        rng = np.random.default_rng([seed, sum(map(ord, name))])
        noisy = exact + std * rng.normal(size=len(exact))
        column = discovered_column(noisy, std, Kind.FLOAT, 10, N) or NOTHING
        column.check(name)
        if is_far_from_zero(column):
            grid = fine_cells(column, FINER)
            fine = counted(grid, values)
            fine += place_std * rng.normal(size=len(fine))
            column = within(column, trimmed(grid, fine, place_std, len(known))[0])
        found.append(Found(column, known))
    return found


each_shape = pytest.mark.parametrize("name", SHAPES)
each_noise = pytest.mark.parametrize("noise", ["little", "much"])


@each_noise
@each_shape
def test_no_bound_is_far_out(name, noise):
    low, high = np.quantile(SHAPES[name][~np.isnan(SHAPES[name])], [0.0005, 0.9995])
    size = max(abs(low), abs(high))
    for found in all_found(name, noise):
        lower, upper = found.bounds
        assert max(abs(lower), abs(upper)) <= WIDER * size
        if noise == "little" and is_far_from_zero(found.column):
            assert upper - lower <= WIDER * max(high - low, size / WIDER)


@each_noise
@each_shape
def test_no_sign_is_found_that_is_not_there(name, noise):
    wrong = 0
    for found in all_found(name, noise):
        lower, upper = found.bounds
        wrong += lower < 0 and found.values.min() >= 0
        wrong += upper > 0 and found.values.max() <= 0
    assert wrong <= 0.02 * SEEDS  # one in 2,000 is expected


@each_noise
@each_shape
def test_the_lattice_is_kept(name, noise):
    values = SHAPES[name][~np.isnan(SHAPES[name])]
    is_exact = [(np.round(values, d) == values).all() for d in (0, 1, 2)]
    for found in all_found(name, noise):
        lower, upper = found.bounds
        if lower == upper:
            continue  # nothing was found
        if is_exact[0]:
            assert isinstance(found.column, Integer)
        elif any(is_exact):
            decimals = found.column.decimals
            assert decimals is not None
            assert decimals <= is_exact.index(True)
            assert round(lower, decimals) == lower
            assert round(upper, decimals) == upper
        elif name != "huge":
            assert isinstance(found.column, Numeric)
            assert found.column.decimals is None


@each_shape
def test_few_rows_are_beyond_the_bounds(name):
    lost = [found.lost for found in all_found(name)]
    assert np.median(lost) < 0.06
    most = 0.35 if name == "bell far out" else 0.1  # cut where it still has some rows
    assert np.quantile(lost, 0.95) < most


@each_shape
def test_without_noise_all_rows_are_inside(name):
    (found,) = all_found(name, "none")
    assert found.lost <= (0.01 if name in ("lognormal", "tiny", "huge") else 0.0)


@each_shape
def test_missing_values_are_seen(name):
    is_missing = np.isnan(SHAPES[name]).any()
    seen = np.mean([found.column.nullable for found in all_found(name, "much")])
    assert seen == 1.0 if is_missing else seen < 0.35  # the main release tells
