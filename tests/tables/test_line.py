"""Number lines: cells that always partition the line, refined by released counts.

Releases are simulated as :mod:`skdpgen.synthesizers.opening` makes them, with numpy
noise of a fixed seed: what a test finds is certain, and no fit is needed.
"""

import math
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skdpgen.tables import (
    Categorical,
    Datetime,
    DigitCells,
    Integer,
    Kind,
    Line,
    MixedCells,
    NumberCells,
    Numeric,
    asked_cells,
    bins_between,
    bins_of,
    divided,
    divided_again,
    has_fractions,
    is_settled,
    joined_gaps,
    joined_parts,
    line_between,
    line_of_octaves,
    octave_edges,
    outside_of,
    read_values,
    refined,
    smoothed,
    summary_of,
    with_range_of,
    without_outer_gaps,
    worth_dividing,
)
from skdpgen.tables._columns import DAY
from skdpgen.tables._line_bins import _likeliest_cell, roundest
from skdpgen.tables._line_rows import Tree, tree_estimates
from skdpgen.tables._values import Numbers

FLOAT, INTEGER, DATETIME = Kind.FLOAT, Kind.INTEGER, Kind.DATETIME
KINDS = [
    (FLOAT, None),
    (FLOAT, 1.0),
    (FLOAT, 0.01),
    (INTEGER, 1.0),
    (DATETIME, None),
    (DATETIME, DAY),
]
each_kind = pytest.mark.parametrize(("kind", "step"), KINDS, ids=str)
EXTREMES = [0.0, -0.0, 1e300, -1e300, 5e-324, -5e-324, 1.0, -1.0, 2.0**62, -(2.0**63)]


def numbers(values):
    return Numbers(np.asarray(values, dtype=np.float64))


def counted(grid, values, rng=None, std=0.0):
    """Return the counts of a grid's cells, with noise."""
    codes, n = grid.encode(numbers(values)), grid.n_cells
    exact = np.bincount(codes[(codes >= 0) & (codes < n)], minlength=n).astype(float)
    return exact if rng is None else exact + std * rng.normal(size=n)


@dataclass(frozen=True)
class Found:
    """What three releases make of a column."""

    octaves: Line
    second: Line
    last: Line
    rows: np.ndarray
    cells: NumberCells
    column: object

    @property
    def full(self):
        """The cells that are no gaps."""
        return [k for k in range(self.cells.n_known) if k not in self.cells.gaps]

    @property
    def shared(self):
        """The values that have a cell of their own, where there are some."""
        cells, is_atom = self.cells, self.cells.is_atom()
        half = 0.5 * (cells.step or 0.0)
        return {round(float(cells.edges[k]) + half, 9) for k in self.full if is_atom[k]}

    def held(self, values):
        """Return the part of the rows with a number that are not beyond both ends.

        Bins that stand apart are gaps as well, until the main release confirms them.
        """
        values = np.asarray(values, dtype=float)
        codes = self.cells.encode(numbers(values[~np.isnan(values)]))
        return float(((codes > 0) & (codes < self.cells.n_known - 1)).mean())


def discover(values, kind=FLOAT, noise=(0.0, 0.0, 0.0), seed=0, mass=None):
    """Simulate the three releases of discovery with the noise of a seed."""
    values = np.asarray(values, dtype=float)
    n, rng, is_time = len(values), np.random.default_rng(seed), kind is DATETIME
    octaves = NumberCells(octave_edges(kind), True, is_time=is_time)
    counts = counted(octaves, values, rng, noise[0])
    step = 1.0
    if kind is not INTEGER:
        digits = DigitCells(is_time)
        twice = 2.0 * noise[0]  # they are released with half the weight
        step = digits.step(counted(digits, values, rng, twice), twice)
    n_present = n - counts[-1]
    line = line_of_octaves(kind, counts[:-1], noise[0], step, n_present, n)
    parts = divided(line, noise[1])
    counts = counted(parts.grid, values, rng, noise[1])[:-1]
    second = refined(line, parts, counts, noise[1] ** 2)
    asked = worth_dividing(second, noise[2])
    last = replace(second, families=np.arange(second.n_cells))
    if asked.any():
        fine = divided_again(second, asked)
        grid = asked_cells(second, fine, asked)
        found = counted(grid, values, rng, noise[2])
        last = joined_parts(second, fine, grid, found, noise[2])
    rows = smoothed(second, last)
    nullable = bool(np.isnan(values).any())
    least = mass or max(n / 64, 4 * noise[2])
    cells = bins_of(last, rows, least, nullable=nullable)
    column = summary_of(cells, kind, nullable=nullable)
    return Found(line, second, last, rows, cells, column)


# ------------------------------------------------------- cells partition the line


def values_of(line):
    """Return values anywhere: on edges, beside them, between them, far out."""
    edges = line.edges[np.isfinite(line.edges)]
    some = edges[:: max(len(edges) // 500, 1)]
    rng = np.random.default_rng(0)
    anywhere = rng.normal(size=200) * np.exp2(rng.integers(-60, 80, 200))
    beside = np.nextafter(some, np.inf), np.nextafter(some, -np.inf)
    return np.concatenate([EXTREMES, some, *beside, anywhere])


def check_line(line):
    assert line.edges[0] == -np.inf
    assert line.edges[-1] == np.inf
    assert (np.diff(line.edges) > 0).all()
    n = len(line.edges) - 1
    fields = line.counts, line.variances, line.is_open, line.families
    assert {len(one) for one in fields} == {n} == {line.n_cells}
    for groups, *of_groups in line.sums:
        assert (np.diff(groups) >= 0).all()  # groups are runs of cells
        inner = np.diff(groups) == 0
        for known in of_groups:  # variances and rows: one number for each group
            assert len(groups) == len(known) == n
            assert (np.diff(known)[inner] == 0).all()
    values = values_of(line)
    is_in = (line.edges[:-1, None] <= values) & (values < line.edges[1:, None])
    assert (is_in.sum(axis=0) == 1).all()
    cell = is_in.argmax(axis=0)
    assert line.grid.encode(numbers(values)).tolist() == cell.tolist()
    assert line.grid.encode(numbers([np.nan])).tolist() == [n]  # "missing"
    if line.step is not None:
        check_lattice(line)
    return values, cell


def check_lattice(line):
    """No edge is a value of the lattice, as far as floats tell neighbours apart."""
    edges = line.edges[np.abs(line.edges) < line.step * 2.0**40]
    away = np.abs(edges / line.step - np.round(edges / line.step))
    assert (away > 0.49).all()


def all_lines(kind, step, seed):
    """Return the lines of all steps, of random counts; and what was asked last."""
    rng = np.random.default_rng([seed, KINDS.index((kind, step))])
    n = len(octave_edges(kind)) - 1
    counts = np.where(rng.random(n) < 0.2, rng.integers(0, 5000, n), 0.0)
    ends = octave_edges(kind)
    counts[np.maximum(np.abs(ends[:-1]), np.abs(ends[1:])) > 2.0**45] = 0.0
    counts += 10.0 * rng.normal(size=n)
    line = line_of_octaves(kind, counts, 10.0, step, 0.0, 10_000.0)
    parts = divided(line, 30.0)
    found = 300.0 * rng.random(parts.n_cells) - 50.0
    second = refined(line, parts, found, 900.0)
    is_inner = np.isfinite(parts.edges[:-1]) & np.isfinite(parts.edges[1:])
    asked = is_inner & (rng.random(parts.n_cells) < 0.02) & ~second.is_single()
    fine = divided_again(second, asked)
    grid = asked_cells(second, fine, asked)
    last = joined_parts(second, fine, grid, 50 * rng.random(grid.n_cells), 20.0)
    return (line, parts, second, fine, last), asked, grid


@each_kind
@pytest.mark.parametrize("seed", range(2))
def test_every_number_is_in_exactly_one_cell_after_each_release(kind, step, seed):
    lines, asked, grid = all_lines(kind, step, seed)
    for line in lines:
        values, cell = check_line(line)
    assert asked.any()
    assert grid.encode(numbers(values)).tolist() == grid.places[cell].tolist()
    assert grid.encode(numbers([np.nan])).tolist() == [-1]
    second, last = lines[2], lines[-1]
    assert set(second.edges) <= set(last.edges)  # parts never cross a border
    assert sorted(grid.places[grid.places >= 0]) == list(range(grid.n_cells))
    assert (asked[last.families] == (grid.places >= 0)).all()
    left, right = second.edges[last.families], second.edges[last.families + 1]
    assert (left <= last.edges[:-1]).all()
    assert (last.edges[1:] <= right).all()
    per_part = np.bincount(last.families, minlength=second.n_cells)
    assert (per_part[~asked] == 1).all()  # what is not asked for stays as it is


@each_kind
def test_a_column_without_rows_still_has_the_whole_line(kind, step):
    n = len(octave_edges(kind)) - 1
    line = line_of_octaves(kind, np.zeros(n), 0.0, step, 0.0, 100.0)
    check_line(line)
    parts = divided(line, 0.0)
    check_line(parts)
    assert not parts.is_open.any()
    second = refined(line, parts, np.zeros(parts.n_cells), 0.0)
    assert not worth_dividing(second, 0.0).any()
    rows = smoothed(second, replace(second, families=np.arange(second.n_cells)))
    assert rows.sum() == 0
    cells = bins_of(second, rows, 10.0, nullable=True)
    assert (np.diff(cells.edges) > 0).all()
    summary_of(cells, kind, nullable=True).check("x")


@pytest.mark.parametrize(
    "column",
    [
        Numeric(-5, 1000),
        Numeric(1e6, 1e6 + 1),
        Numeric(0, 1e9),
        Numeric(2, 2),
        Integer(0, 9),
        Integer(0, 10**6),
        Integer(-(10**9), 10**9),
        Numeric(-1, 3, 3),
        Datetime("1999-01-01", "2031-01-01"),
        Datetime("2000-01-01", "2031-01-01", resolution="day"),
    ],
)
def test_lines_between_public_bounds_cover_them_and_know_no_data(column):
    line = line_between(column)
    check_line(line)
    lower, upper = getattr(column, "seconds", (column.lower, column.upper))
    half = 0.5 * (line.step or 0.0)
    assert line.edges[1] == pytest.approx(lower - half)
    assert line.edges[-2] == pytest.approx(upper + half)
    assert line.edges[1] <= lower
    assert line.edges[-2] > upper  # the bound itself is inside
    assert line.n_cells <= 1026
    assert line.is_open.tolist() == [False] + [True] * (line.n_cells - 2) + [False]
    zero = int(line.grid.encode(numbers([0.0]))[0])
    if lower < 0 < upper:
        width = line.edges[zero + 1] - line.edges[zero]
        assert width < 1e-3 * (upper - lower)  # a spike at 0 shows


# ------------------------------------------------------------------ joint estimates


@each_kind
@pytest.mark.parametrize("seed", range(2))
def test_estimates_of_two_releases_are_the_least_squares_solution(kind, step, seed):
    """Of unknown cells x: x was counted, and the sum of each family was before."""
    (line, parts, second, *_), *_ = all_lines(kind, step, seed)
    rng = np.random.default_rng(seed)
    line = replace(line, variances=rng.uniform(1.0, 400.0, line.n_cells))
    counts = 300.0 * rng.random(parts.n_cells)
    second = refined(line, parts, counts, 900.0)
    within = np.searchsorted(parts.edges, line.edges[:-1], side="right") - 1
    for family in np.unique(parts.families):
        cells = np.flatnonzero(parts.families == family)
        known = np.isin(within, cells)
        total, variance = line.counts[known].sum(), line.variances[known].sum()
        n = len(cells)
        design = np.vstack([np.eye(n) / 30.0, np.ones(n) / math.sqrt(variance)])
        wanted = np.append(counts[cells] / 30.0, total / math.sqrt(variance))
        solution, *_ = np.linalg.lstsq(design, wanted, rcond=None)
        covariance = np.linalg.inv(design.T @ design)
        np.testing.assert_allclose(second.counts[cells], solution, rtol=1e-7, atol=1e-7)
        np.testing.assert_allclose(second.variances[cells], np.diag(covariance))
        assert second.sums[0][1][cells] == pytest.approx(covariance.sum())
        assert second.sums[0][2][cells] == pytest.approx(solution.sum())
        precision = 1 / variance, 1 / (n * 900.0)
        mean = np.average([total, counts[cells].sum()], weights=precision)
        assert second.counts[cells].sum() == pytest.approx(mean, abs=1e-6)
        start, stop = int(cells[0]), int(cells[-1]) + 1
        assert second.noise(start, stop) == pytest.approx(covariance.sum() ** 0.5)
        some = np.arange(n) < n // 2  # of a part of a family: never less than it is
        exact = math.sqrt(max(covariance[some][:, some].sum(), 0.0))
        assert second.noise(start, start + n // 2) >= exact * (1 - 1e-9)


def test_estimates_are_right_on_average():
    """Of 400 releases the mean error is within 6 standard errors in every cell."""
    values = np.random.default_rng(0).integers(0, 200, 3000)
    exact = discover(values, INTEGER)
    errors = []
    for seed in range(400):
        rng = np.random.default_rng(seed)
        octaves = replace(
            exact.octaves,
            counts=exact.octaves.counts + 20 * rng.normal(size=exact.octaves.n_cells),
            variances=np.full(exact.octaves.n_cells, 400.0),
        )
        noisy = exact.second.counts + 10 * rng.normal(size=exact.second.n_cells)
        parts = replace(exact.second, sums=())
        found = refined(octaves, parts, noisy, 100.0)
        errors.append((found.counts - exact.second.counts) / np.sqrt(found.variances))
    z = np.array(errors)
    assert np.abs(z.mean(axis=0)).max() < 6 / 20
    assert np.abs((z**2).mean(axis=0) - 1).max() < 6 * math.sqrt(2 / 400)


@each_kind
@pytest.mark.parametrize("noise", [0.01, 5.0, 500.0])
def test_parts_have_the_rows_of_their_cell(kind, step, noise):
    """Of two counts of the same rows, the surer one weighs more."""
    for seed in range(3):
        (_, _, second, fine, _), asked, grid = all_lines(kind, step, seed)
        rng = np.random.default_rng(seed)
        for scale in (1.0, 0.4):  # rows may have been counted by less than 1
            counts = scale * rng.integers(0, 200, grid.n_cells).astype(float)
            last = joined_parts(second, fine, grid, counts, noise)
            sums = np.bincount(last.families, last.counts, minlength=second.n_cells)
            groups, variances, rows = last.sums[-1]
            np.testing.assert_array_equal(groups, last.families)
            np.testing.assert_allclose(sums[groups], rows, rtol=1e-9, atol=1e-6)
            assert (variances <= second.variances[groups] * (1 + 1e-9)).all()
            kept = ~asked[groups]
            np.testing.assert_array_equal(rows[kept], second.counts[groups][kept])
            places = grid.places[grid.places >= 0]
            families = last.families[grid.places >= 0]
            own = np.bincount(families, counts[places], minlength=second.n_cells)
            known = np.maximum(second.counts, 0)
            ends = np.sort([np.minimum(own, known), np.maximum(own, known)], axis=0)
            inside = (sums >= ends[0] - 1e-6) & (sums <= ends[1] + 1e-6)
            assert inside[asked].all()


def tree_estimate(*histogram, **params):
    return tree_estimates([Tree(*histogram, **params)])[0]


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


def test_a_gradual_tree_leaves_its_prior_without_a_jump():
    prior = np.ones(2)
    shares = [
        tree_estimate(np.array([50 + d, 50 - d]), 10.0, prior, is_gradual=True)[0]
        for d in np.linspace(0, 50, 501)
    ]
    assert shares[0] == 50
    assert shares[-1] > 90
    assert np.abs(np.diff(shares)).max() < 0.5


@each_kind
def test_smoothed_rows_are_not_negative_and_families_keep_theirs(kind, step):
    for seed in range(2):
        (_, _, second, _, last), *_ = all_lines(kind, step, seed)
        rows = smoothed(second, last)
        assert (rows >= 0).all()
        coarse = smoothed(second, replace(second, families=np.arange(second.n_cells)))
        sums = np.bincount(last.families, rows, minlength=second.n_cells)
        np.testing.assert_allclose(sums, coarse, rtol=1e-9, atol=1e-6)


@pytest.mark.parametrize("noise", [20.0, 80.0])
def test_public_rows_say_where_rows_are_expected(noise):
    """Beside noise, rows are nearer to the truth with public rows of its kind."""
    rng = np.random.default_rng(0)
    values = rng.gamma(2.0, 8.0, 4000).clip(0, 99.9)
    line = line_between(Numeric(0.0, 100.0))
    exact = counted(line.grid, values)[:-1]
    public = 10 * exact
    errors = {None: 0.0, "same": 0.0, "mirrored": 0.0}
    for seed in range(20):
        noisy = np.random.default_rng(seed).normal(exact, noise)
        given_counts = np.full(line.n_cells, noise**2)
        known = replace(line, counts=noisy, variances=given_counts)
        fine = replace(known, families=np.arange(line.n_cells))
        for name, expected in (
            (None, None),
            ("same", public),
            ("mirrored", public[::-1]),
        ):
            rows = smoothed(known, fine, expected)
            errors[name] += np.abs(np.cumsum(rows - exact)).max()
    assert errors["same"] < 0.9 * errors[None]
    if noise == 20.0:  # counts that exceed the noise outweigh wrong public rows
        assert errors["mirrored"] < 3 * errors[None]


# ------------------------------------------------------------------------ columns

N = 4000
RNG = np.random.default_rng(0)


def mixed(share, values, others):
    return np.where(RNG.random(N) < share, values, others)


COLUMNS = {
    "percent": mixed(0.58, 501, RNG.integers(0, 501, N)),
    "codes": mixed(0.1, RNG.choice([-7, -8, -9], N), RNG.integers(300, 851, N)),
    "zeros and amounts": mixed(0.6, 0.0, RNG.lognormal(7, 1, N).round(2)),
    "years": RNG.integers(1950, 2024, N),
    "two signs": RNG.normal(0, 300, N),
    "ten thousands": 10_000 * RNG.poisson(8, N),
    "quarters": mixed(0.2, RNG.choice([0.25, 0.5], N), RNG.random(N)),
    "children": RNG.poisson(1.2, N),
    "flags": RNG.integers(0, 2, N),
    "constant": np.full(N, 7),
    "temperatures": RNG.normal(37.0, 0.7, N).round(1),
    "debts": -RNG.gamma(2.0, 500.0, N),
    "prices": mixed(0.4, RNG.choice([9.99, 19.99], N), RNG.lognormal(4, 1, N).round(2)),
    "sentinel": mixed(0.2, -999.0, RNG.normal(size=N)),
    "tiny": RNG.lognormal(-18, 0.5, N),
    "huge": RNG.lognormal(34, 0.5, N),
    "lognormal": RNG.lognormal(3, 2, N),
    "mostly missing": mixed(0.8, np.nan, RNG.gamma(2.0, 10.0, N)),
}
COLUMNS = {name: np.asarray(values, dtype=float) for name, values in COLUMNS.items()}
SHARED = {
    "percent": {501},
    "codes": {-7, -8, -9},
    "zeros and amounts": {0},
    "years": {*range(1950, 2024)},
    "ten thousands": {10_000 * k for k in range(5, 12)},
    "quarters": {0.25, 0.5},
    "children": {0, 1, 2},
    "flags": {0, 1},
    "constant": {7},
    "prices": {9.99, 19.99},
    "sentinel": {-999},
}
LITTLE = (N / 600, N / 600, N / 500)
each_column = pytest.mark.parametrize("name", COLUMNS)


@cache
def found_of(name, noise=(0.0, 0.0, 0.0), seed=0):
    return discover(COLUMNS[name], FLOAT, noise, seed)


@each_column
def test_without_noise_the_range_holds_every_row_and_shared_values_are_exact(name):
    values, found = COLUMNS[name], found_of(name)
    known = values[~np.isnan(values)]
    assert found.held(values) == 1.0
    assert found.rows.sum() == pytest.approx(len(known))
    assert SHARED.get(name, set()) <= found.shared
    low, high = known.min(), known.max()
    lower, upper = float(found.column.lower), float(found.column.upper)
    assert lower <= low
    assert upper >= high
    assert lower >= low - 0.1 * abs(low) - 1e-9
    assert upper <= high + 0.1 * abs(high)
    found.column.check(name)


@each_column
@pytest.mark.parametrize("seed", [1, 2])
def test_with_little_noise_the_range_holds_almost_every_row(name, seed):
    values, found = COLUMNS[name], found_of(name, LITTLE, seed)
    known = values[~np.isnan(values)]
    # of few rows, or far from what people use, more of an end is in a gap
    assert found.held(values) >= (
        0.9 if name in ("tiny", "huge", "mostly missing") else 0.95
    )
    is_common = SHARED.get(name, set())
    if name == "years":  # 54 rows in each, which noise of 8 hides here and there
        assert len(is_common - found.shared) < 10
    else:
        assert is_common <= found.shared
    size = max(abs(known.min()), abs(known.max()))
    lower, upper = float(found.column.lower), float(found.column.upper)
    assert max(abs(lower), abs(upper)) <= 2.1 * size
    if known.min() >= 0:
        assert lower >= -1e-11  # magnitudes below this are zero
    if known.max() <= 0:
        assert upper <= 1e-11
    assert found.cells.step == found_of(name).cells.step
    found.column.check(name)


@each_column
def test_bins_hold_about_equally_many_rows(name):
    values, found = COLUMNS[name], found_of(name, LITTLE, 1)
    held = counted(found.cells, values)[: found.cells.n_known]
    is_wide = ~found.cells.is_atom()
    assert held[is_wide].max(initial=0) < 4 * max(N / 64, 4 * LITTLE[2])
    most = 0.1 if name in ("tiny", "huge") else 0.05
    assert held[[0, -1]].sum() <= most * len(values)
    check_cells(found.cells, found.last)


@pytest.mark.parametrize("name", ["years", "codes", "children", "flags"])
def test_a_dtype_of_integers_finds_the_same_range(name):
    found = discover(COLUMNS[name], INTEGER)
    assert found.column == found_of(name).column
    assert isinstance(found.column, Integer)


def test_times_are_found_as_times():
    days = pd.date_range("2012-01-01", "2019-12-31", freq="D")
    seconds = read_values(pd.Series(days), DATETIME).values
    found = discover(seconds, DATETIME)
    assert isinstance(found.column, Datetime)
    assert found.column.whole_days
    assert pd.Timestamp(found.column.lower) == days[0]
    assert pd.Timestamp(found.column.upper) == days[-1]
    found = discover(seconds + 5 * 3600, DATETIME, (5.0, 5.0, 5.0))
    assert found.column.resolution == "hour"
    assert found.held(seconds + 5 * 3600) >= 0.95


def test_rows_of_zero_count_whatever_the_lattice():
    """Octaves around 0 become one cell of the lattice, with the rows of zero."""
    n = len(octave_edges(FLOAT)) - 1
    counts = np.zeros(n)
    counts[n // 2] = 1000.0
    for step in (None, 1.0, 0.01):
        line = line_of_octaves(FLOAT, counts, 1.0, step, 1000.0, 1000.0)
        zero = int(np.searchsorted(line.edges, 0.0, side="right")) - 1
        assert line.counts[zero] == 1000.0
        assert line.is_open[zero]
        assert line.is_single()[zero]


def test_zeros_among_floats_have_a_cell_of_their_own():
    """Rows of 0 come back as 0, not as numbers of up to 1e-12."""
    values = mixed(0.3, 0.0, RNG.lognormal(3, 1, N))
    for noise in ((0.0, 0.0, 0.0), LITTLE):
        found = discover(values, FLOAT, noise)
        zero = int(found.cells.encode(numbers([0.0]))[0])
        assert found.cells.is_atom()[zero]
        assert found.cells.edges[zero] == 0.0


@pytest.mark.parametrize("magnitude", [1e18, 1e100])
def test_cents_beside_a_huge_value_are_found(magnitude):
    """An octave may hold more values of a lattice than 64 bits count."""
    values = mixed(0.1, magnitude, RNG.gamma(2.0, 50.0, N).round(2))
    found = discover(values, FLOAT, LITTLE)
    assert found.cells.step == 0.01
    assert found.held(values) >= 0.85


@pytest.mark.parametrize("kind", [FLOAT, INTEGER])
def test_numbers_as_large_as_64_bits_have_cells_in_order(kind):
    """As of hashes that are kept as numbers: no octave that is counted is above."""
    values = RNG.integers(-(2**63), 2**63 - 1, N).astype(float)
    for seed in range(3):
        cells = discover(values, kind, LITTLE, seed).cells
        assert (np.diff(cells.edges) > 0).all()


@pytest.mark.parametrize("kind", [FLOAT, INTEGER, DATETIME])
def test_noise_alone_opens_hardly_an_octave(kind):
    """Under 1 in 40 lines of 100 octaves has one that passes by chance."""
    n, opened = len(octave_edges(kind)) - 1, 0
    for seed in range(200):
        counts = 30.0 * np.random.default_rng(seed).normal(size=n)
        opened += line_of_octaves(kind, counts, 30.0, None, 0.0, 5000.0).is_open.any()
    assert opened <= 15


def test_numbers_that_are_spread_out_are_found_together():
    """No octave shows alone beside this noise, but numbers there are."""
    values = RNG.lognormal(5, 1.5, 2000)
    counts = counted(NumberCells(octave_edges(FLOAT), True), values)[:-1]
    held = []
    for seed in range(20):
        noisy = counts + 150.0 * np.random.default_rng(seed).normal(size=len(counts))
        line = line_of_octaves(FLOAT, noisy, 150.0, None, 2000.0, 2000.0)
        held.append(counts[line.is_open].sum() / 2000)
    assert np.median(held) > 0.8


# --------------------------------------------------------------------------- bins


def test_a_far_octave_is_not_taken_before_a_likelier_run_of_them():
    edges = octave_edges(FLOAT)
    counts = np.zeros(len(edges) - 1)
    near = (np.abs(edges[:-1]) <= 4) & (np.abs(edges[1:]) <= 4) & (edges[1:] > 0.05)
    counts[near] = 1.5  # noise stds, in each of six octaves
    counts[np.searchsorted(edges, 2.0**25)] = 3.5
    line = line_of_octaves(FLOAT, counts, 1.0, None, 9.0, 9.0)
    assert line.is_open.any()
    assert np.abs(line.edges[:-1][line.is_open]).max() < 2**8


@pytest.mark.parametrize("seed", range(5))
def test_a_column_of_single_values_is_settled_by_its_octaves(seed):
    rng = np.random.default_rng(seed)
    edges = octave_edges(INTEGER)
    values = rng.integers(0, 2, 1_000)
    grid = NumberCells(edges, True)
    counts = counted(grid, values, rng, 1.0)
    line = line_of_octaves(INTEGER, counts[:-1], 1.0, 1.0, 1_000, 1_000)
    assert is_settled(line)
    joined = joined_gaps(line)
    check_line(joined)
    assert joined.counts.sum() == pytest.approx(line.counts.sum())
    assert joined.variances.sum() == pytest.approx(line.variances.sum())
    full = joined.counts > 100
    assert joined.edges[:-1][full].tolist() == [-0.5, 0.5]
    more = rng.integers(0, 3, 1_000)
    counts = counted(grid, more, rng, 1.0)
    assert not is_settled(line_of_octaves(INTEGER, counts[:-1], 1.0, 1.0, 1e3, 1e3))


def test_a_column_is_not_settled_while_rows_lie_in_no_open_octave():
    counts = np.zeros(len(octave_edges(INTEGER)) - 1)
    minus_one = int(np.searchsorted(octave_edges(INTEGER), -1.0)) - 1
    counts[minus_one] = 800.0  # 200 rows are spread over octaves: none shows alone
    counts[minus_one + 6 : minus_one + 11] = 40.0
    asked = INTEGER, counts, 20.0, 1.0
    line = line_of_octaves(*asked, 1_000.0, 1_000.0)
    assert np.flatnonzero(line.is_open).tolist() == [minus_one]
    assert line.unseen == pytest.approx(10.0)
    assert not is_settled(line)
    assert is_settled(line_of_octaves(*asked, 830.0, 1_000.0))  # noise explains 30
    # where it is not known how many rows hold a number, it may be all of them
    assert is_settled(line_of_octaves(*asked, 1_000.0, 1_000.0, 100.0))


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("mean", [20, 900, 40_000])
def test_amounts_beside_many_zeros_keep_their_size(mean, sign):
    """No octave of 450 amounts exceeds the noise alone; all of them surely do."""
    off, ends, held = [], [], []
    for seed in range(20):
        amounts = sign * np.ceil(np.random.default_rng(seed).exponential(mean, 450))
        values = np.concatenate([np.zeros(1050), amounts])
        found = discover(values, INTEGER, noise=(36.0, 36.0, 36.0), seed=seed)
        true = counted(found.last.grid, values)[:-1]
        off.append(np.abs(found.rows - true).sum() / 2 / len(values))
        edges = found.cells.edges
        largest = max(-edges[found.full[0]], edges[found.full[-1] + 1])
        ends.append(largest / np.abs(amounts).max())
        held.append(found.held(values))
    assert np.mean(off) < 0.12  # .23 if all octaves were as likely, with one of 1e9
    assert max(ends) < 4
    assert np.mean(held) > 0.9


SENTINEL = (pd.Timestamp("1970-01-01") - pd.Timestamp("2000-01-01")).total_seconds()


def with_sentinel(n, n_times, seed):
    """Return seconds of the years 2017 to 2023, the others 1970-01-01."""
    times = np.random.default_rng(seed).integers(540_000_000, 750_000_000, n_times)
    return np.concatenate([np.full(n - n_times, SENTINEL), times])


def test_a_time_that_many_rows_share_keeps_its_second():
    for seed in range(5):
        values = with_sentinel(10_000, 2_000, seed)
        found = discover(values, DATETIME, noise=(40.0, 40.0, 30.0), seed=seed)
        k = found.cells.encode(numbers([SENTINEL]))[0]
        assert found.cells.edges[k : k + 2].tolist() == [SENTINEL - 0.5, SENTINEL + 0.5]
        assert found.held(values) > 0.97  # the year 2000 is in the way of no range


@pytest.mark.parametrize("time", ["1955-05-05 05:05:05", "2015-06-30 23:59:59"])
def test_a_shared_time_that_is_not_round_is_not_far_off(time):
    shared = (np.datetime64(time) - np.datetime64("2000-01-01T00:00:00")).astype(float)
    values = with_sentinel(10_000, 2_000, 0)
    values[values == SENTINEL] = shared
    found = discover(values, DATETIME, noise=(40.0, 40.0, 30.0))
    k = found.cells.encode(numbers([shared]))[0]
    assert found.cells.edges[k + 1] - found.cells.edges[k] < 0.1 * DAY


def test_times_beyond_a_range_are_taken_to_be_near_the_year_2000():
    """Cells beyond 1970 ended within 1999, and rows of later years were drawn there."""
    values = with_sentinel(2_000, 400, 0)
    octaves = discover(values, DATETIME, noise=(150.0, 150.0, 40.0), seed=0)
    cells = bins_of(octaves.last, octaves.rows, 300.0, nullable=False, later_noise=10.0)
    code = cells.encode(numbers([600_000_000.0]))[0]
    lower, upper = cells.edges[code : code + 2] / (365.25 * DAY) + 2000
    assert 2000 < lower < 2020
    assert 2020 < upper < 2100


def test_a_tree_without_prior_where_rows_are_seen_is_shared_evenly():
    tree = Tree(np.array([9.0, 0.0, 0.0, 50.0]), 1.0, np.array([1.0, 1.0, 0.0, 0.0]))
    (rows,) = tree_estimates([tree])
    assert np.isfinite(rows).all()
    assert rows[3] > 45


def test_amounts_of_every_size_are_not_lost():
    for seed in range(10):
        rng = np.random.default_rng(seed)
        values = np.where(rng.random(4000) < 0.6, 0.0, 10 ** rng.uniform(-6, 10, 4000))
        found = discover(values, FLOAT, noise=(100.0, 30.0, 10.0), seed=seed)
        assert abs(found.rows.sum() - 4000) < 1_000


def test_cells_beyond_a_column_of_zeros_hold_numbers_of_every_usual_size():
    """They ended at 127, though nothing says how large the other numbers are."""
    amounts = np.ceil(np.random.default_rng(0).exponential(5_000, 50))
    values = np.concatenate([np.zeros(4_950), amounts])
    found = discover(values, INTEGER, noise=(72.0, 72.0, 50.0), seed=0)
    assert found.column == Integer(0, 0, nullable=False)
    line, rows = found.last, found.rows
    cells = bins_of(line, rows, 400.0, nullable=False, later_noise=12.0)
    assert cells.edges[-1] == 32_767.5
    assert len(cells.edges) > 6


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_cells_beyond_a_range_reach_as_far_as_rows_of_a_gap_probably_do(sign):
    """The last of them holds all rows beyond: it may not end at 128, as it did."""
    ends = []
    for seed in range(30):
        amounts = sign * np.ceil(np.random.default_rng(seed).exponential(900, 200))
        values = np.concatenate([np.zeros(1300), amounts])
        found = discover(values, INTEGER, noise=(36.0, 36.0, 36.0), seed=seed)
        line, rows = found.last, found.rows
        cells = bins_of(line, rows, 94.0, nullable=False, later_noise=6.0)
        assert (np.diff(cells.edges) > 0).all()
        assert {0, cells.n_known - 1} <= set(cells.gaps)
        ends.append(cells.edges[-1] if sign > 0 else -cells.edges[0])
    assert 900 < np.median(ends) < 9_000


def with_rows_beyond(n_rows, *, first=64.0, last=128.0, sign=1.0):
    """Return a line whose range is clear, and what noise says of the gap beside it."""
    octaves = octave_edges(INTEGER)
    counts = np.zeros(len(octaves) - 1)
    start, stop = np.searchsorted(octaves, [first - 0.5, last - 0.5])
    counts[start:stop] = 1_000.0
    further = slice(stop + 1, None) if sign > 0 else slice(None, start - 1)
    line = line_of_octaves(INTEGER, counts, 20.0, 1.0, 1_000.0, 1_000.0)
    fine = divided(line, 20.0)
    found = np.zeros(fine.n_cells)
    found[fine.is_open] = 1_000.0 / fine.is_open.sum()
    places = np.flatnonzero(~fine.is_open)
    found[places[-1 if sign > 0 else 0]] = n_rows
    counts[further] = 0.0
    return refined(line, fine, found, 20.0**2)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_gap_is_as_many_cells_as_its_rows_can_show_in(sign):
    sizes = []
    for n_rows in (0.0, 200.0, 400.0, 800.0):
        line = with_rows_beyond(n_rows, sign=sign)
        rows = smoothed(line, replace(line, families=np.arange(line.n_cells)))
        cells = bins_of(line, rows, 100.0, nullable=False, later_noise=30.0)
        one = bins_of(line, rows, 100.0, nullable=False)
        inside = [k for k in range(cells.n_known) if k not in cells.gaps]
        outer = cells.n_known - 1 - inside[-1] if sign > 0 else inside[0]
        sizes.append(outer)
        # what is not a gap stays, and so does the cell beside the range
        assert set(one.edges) - {one.edges[0]} <= set(cells.edges) | {one.edges[-1]}
        assert (np.diff(cells.edges) > 0).all()
        if sign < 0:  # the range keeps its sign
            assert cells.edges[0] >= -0.5
    assert sizes == [1, 3, 5, 5]


def check_cells(cells, line):
    """Cells are in order, between cells of the line, and what is no gap is whole."""
    assert (np.diff(cells.edges) > 0).all()
    assert np.isfinite(cells.edges).all()
    assert {cells.edges[1], cells.edges[-2]} <= set(line.edges)
    assert cells.gaps[0] == 0
    assert cells.gaps[-1] == cells.n_known - 1
    assert list(cells.gaps) == sorted(set(cells.gaps))
    for gap in cells.gaps[1:-1]:
        assert {cells.edges[gap], cells.edges[gap + 1]} <= set(line.edges)
    if cells.step is not None:
        check_lattice(Line(cells.edges, *[np.zeros(cells.n_known)] * 4, cells.step))


@each_kind
@pytest.mark.parametrize("mass", [1.0, 200.0, math.inf])
def test_bins_lose_no_cell_between_the_first_edge_and_the_last(kind, step, mass):
    for seed in range(2):
        (_, _, second, _, last), *_ = all_lines(kind, step, seed)
        rows = smoothed(second, last)
        for has_gaps in (True, False):
            cells = bins_of(last, rows, mass, nullable=False, has_gaps=has_gaps)
            if has_gaps:
                check_cells(cells, last)
            else:
                assert cells.gaps == ()
                assert (np.diff(cells.edges) > 0).all()
            lower, upper = cells.edges[[0, -1]]
            edges = last.edges[(last.edges >= lower) & (last.edges <= upper)]
            middles = 0.5 * (edges[:-1] + edges[1:])
            codes = cells.encode(numbers(middles))
            assert (codes >= 0).all()
            assert (np.diff(codes) >= 0).all()
            assert cells.step == step
            assert cells.is_time == (kind is DATETIME)


def between_bounds(column, rows):
    """Return a line between public bounds with these rows in each cell, without noise.

    ``rows`` is a function of the lower and upper edges of the cells inside.
    """
    line = line_between(column)
    counts = np.zeros(line.n_cells)
    counts[1:-1] = rows(line.edges[1:-2], line.edges[2:-1])
    return replace(line, counts=counts, variances=np.zeros(line.n_cells)), counts


@pytest.mark.parametrize("seed", range(5))
def test_public_bounds_stay_whatever_is_counted(seed):
    def drawn(lower, upper):
        rows = np.random.default_rng(seed).poisson(2.0, len(lower)).astype(float)
        rows[:30] = 0.0
        rows[-30:] = 0.0
        return rows

    line, rows = between_bounds(Integer(0, 20_000), drawn)
    cells = bins_between(line, rows, 30.0, nullable=True)
    assert cells.edges[[0, -1]].tolist() == [-0.5, 20_000.5]
    assert cells.gaps == ()
    assert cells.nullable
    held = np.add.reduceat(rows, np.searchsorted(line.edges, cells.edges[:-1]))
    assert held.sum() == rows.sum()
    assert held.max() <= 45


@pytest.mark.parametrize(
    ("values", "gaps"),
    [
        ([300], [(0, 250), (400, 1e6)]),
        ([300, 9e5], [(400, 8e5)]),  # a gap inside, but both ends are narrow
        ([1e5, 9e5], []),
        ([1e5, 3e5, 5e5], []),
    ],
)
def test_a_stretch_far_wider_than_the_rest_is_a_gap(values, gaps):
    def near(lower, upper):
        middles = (lower + upper) / 2
        return sum(100.0 * (abs(middles / value - 1) < 0.15) for value in values)

    line, rows = between_bounds(Numeric(0, 1e6), near)
    cells = bins_between(line, rows, 200.0, nullable=False)
    assert cells.edges[0] == 0.0
    assert cells.edges[-1] == np.nextafter(1e6, np.inf)
    left_out = list(zip(cells.edges[:-1], cells.edges[1:], strict=True))
    left_out = [left_out[gap] for gap in cells.gaps]
    for lower, upper in gaps:
        assert any(a <= lower * 1.05 and b >= upper * 0.95 for a, b in left_out)
    held = np.add.reduceat(rows, np.searchsorted(line.edges, cells.edges[:-1]))
    assert held.sum() == rows.sum()
    assert not held[list(cells.gaps)].any()


def test_a_wide_stretch_whose_rows_noise_may_hide_is_no_gap():
    line, rows = between_bounds(Numeric(0, 1e6), lambda a, b: 100.0 * (b < 330))
    n = line.n_cells
    noisy = replace(line, variances=np.full(n, (rows.sum() / 3) ** 2))
    assert bins_between(line, rows, 200.0, nullable=False).gaps
    assert bins_between(noisy, rows, 200.0, nullable=False).gaps == ()


# ------------------------------------------------------------------ small functions


@pytest.mark.parametrize(
    ("lower", "upper", "expected"),
    [
        (199_999.5, 200_007.5, 200_000.0),
        (0.2461, 0.2579, 0.25),
        (0.4961, 0.5079, 0.5),
        (-0.5, 0.5, 0.0),
        (-5.0, -4.0, -5.0),
        (-4.9, -3.9, -4.0),
        (99.2, 101.7, 100.0),
        (9.98, 10.004, 10.0),
        (9.985, 9.995, 9.99),
        (0.0999, 0.1001, 0.1),
        (1e-9, 1.1e-9, 1e-9),
        (9.9e17, 1.01e18, 1e18),
    ],
)
def test_the_roundest_number(lower, upper, expected):
    line = line_between(Numeric(-1.0, 1.0))
    assert roundest(lower, upper, line) == pytest.approx(expected, rel=1e-12, abs=0)


@given(st.floats(-1e12, 1e12).filter(lambda x: abs(x) > 1e-9), st.floats(1e-6, 1.0))
@settings(deadline=None)
def test_the_roundest_number_is_inside(lower, width):
    line = line_between(Numeric(-1.0, 1.0))
    upper = lower + abs(lower) * width
    if upper > lower:
        assert lower <= roundest(lower, upper, line) < upper


@pytest.mark.parametrize(
    ("lower", "upper", "expected"),
    [
        ("1969-12-31 23:53", "1970-01-01 00:09", "1970-01-01 00:00"),
        ("2019-11-05 10:00", "2020-02-03 10:00", "2020-01-01 00:00"),
        ("2019-02-05 10:00", "2019-03-03 10:00", "2019-03-01 00:00"),
        ("2019-02-05 10:00", "2019-02-06 10:00", "2019-02-06 00:00"),
        ("2019-02-05 10:59", "2019-02-05 11:01", "2019-02-05 11:00"),
        ("2019-02-05 11:00:00.2", "2019-02-05 11:00:01.5", "2019-02-05 11:00:01"),
    ],
)
def test_the_roundest_time(lower, upper, expected):
    counts = np.zeros(len(octave_edges(DATETIME)) - 1)
    line = line_of_octaves(DATETIME, counts, 1.0, 1.0, 0.0, 0.0)
    epoch = pd.Timestamp("2000-01-01")
    ends = [(pd.Timestamp(time) - epoch).total_seconds() for time in (lower, upper)]
    assert epoch + pd.Timedelta(seconds=roundest(*ends, line)) == pd.Timestamp(expected)


def test_the_roundest_number_is_of_the_lattice():
    line = line_between(Integer(0, 10**6))
    for lower in range(0, 3000, 7):
        found = roundest(lower - 0.5, lower + 8.5, line)
        assert found == round(found)
        assert lower <= found <= lower + 8


@pytest.mark.parametrize(
    ("values", "decimals"),
    [
        ([1.0, 2.0, 30.0], 0),
        ([0.5, 2.0], 1),
        ([0.25, 2.0], 2),
        ([0.125, 2.0], 3),
        ([1e-4], 4),
        ([1e-5], None),
        ([1 / 3, 0.5], None),
        ([1999.99], 2),
        ([0.1 + 0.2], 1),
        ([0.0, -0.0], 0),
        ([-7.0, 1e300, 2.0**62], 0),
        ([5e-324], None),
        ([], 0),
        ([np.nan], 0),
    ],
)
def test_decimals_that_rows_have(values, decimals):
    digits = DigitCells()
    for copies in (1, 50):
        counts = counted(digits, values * copies)
        assert counts.sum() == copies * np.isfinite(values).sum()
        step = None if decimals is None else 10.0**-decimals
        assert digits.step(counts, 0.0) == step


def test_a_few_rows_that_noise_explains_have_no_decimals():
    counts = np.array([900.0, 0.0, 30.0, 0.0, 0.0, 0.0])
    assert DigitCells().step(counts, 10.0) == 1.0
    assert DigitCells().step(counts, 5.0) == 0.01
    times = np.array([100.0, 0.0, 30.0, 0.0, 0.0])
    assert DigitCells(is_time=True).step(times, 10.0) == DAY
    assert DigitCells(is_time=True).step(times, 5.0) == 60.0
    assert DigitCells(is_time=True).step(np.append(times[:4], 50.0), 10.0) is None


def test_a_total_without_fractions_is_evidence_against_them():
    counts = np.array([900.0, 0.0, 35.0, 0.0, 0.0, 0.0])
    assert DigitCells().step(counts, 10.0) == 0.01  # the total is not known
    assert DigitCells().step(counts, 10.0, 890.0, 1.0) == 1.0
    assert DigitCells().step(counts, 10.0, 935.0, 1.0) == 0.01
    assert DigitCells().step(counts, 10.0, 890.0, 1000.0) == 0.01  # hardly known
    times = np.array([900.0, 0.0, 35.0, 0.0, 0.0])
    assert DigitCells(is_time=True).step(times, 10.0, 890.0, 1.0) == DAY


def test_rows_that_are_not_whole_show_though_no_number_of_decimals_does():
    counts = np.array([800.0, 25.0, 30.0, 20.0, 0.0, 0.0])
    assert DigitCells().step(counts, 10.0) == 1.0
    assert DigitCells().step(counts, 10.0, 875.0, 10.0) == 0.01
    assert DigitCells().step(counts, 10.0, 875.0, 30.0) == 1.0
    assert DigitCells().step(np.array([875.0, 0, 0, 0, 0, 0]), 10.0, 875.0) == 1.0


def test_the_cell_of_a_time_is_its_coarsest_unit():
    seconds = np.array([0.0, DAY, -3 * DAY, 7200.0, -60.0, DAY + 1, 0.5, np.nan])
    found = DigitCells(is_time=True).encode(numbers(seconds))
    assert found.tolist() == [0, 0, 0, 1, 2, 3, 4, -1]


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (Integer(1024, 2047), INTEGER),
        (Integer(-4095, -1024), INTEGER),
        (Integer(0, 0), INTEGER),
        (Integer(0, 10**6), FLOAT),
        (Numeric(32.0, 63.9, 1), FLOAT),
        (Numeric(-1.25, 63.99, 2), FLOAT),
        (Numeric(1e-9, 2e-9), FLOAT),
        (Numeric(-1e15, 2e15), FLOAT),
        (Datetime("2020-01-01", "2021-12-31", resolution="day"), DATETIME),
        (Datetime("2020-01-01", "2021-12-31", resolution="hour"), DATETIME),
        (Datetime("2020-01-01", "2021-12-31", resolution="second"), DATETIME),
        (Datetime("2020-01-01", "2021-12-31"), DATETIME),
    ],
)
@pytest.mark.parametrize("has_gaps", [True, False])
def test_what_cells_between_bounds_say_are_the_bounds(column, kind, has_gaps):
    line = line_between(column)
    edges, gaps = line.edges[1:-1], ()
    if has_gaps:  # they do not count
        width = edges[-1] - edges[0] + (line.step or 1.0)
        edges = np.concatenate([[edges[0] - width], edges, [edges[-1] + width]])
        gaps = 0, len(edges) - 2
    cells = NumberCells(edges, True, line.step, 0.0, line.is_time, gaps)
    found = summary_of(cells, kind, nullable=True)
    assert type(found) is type(column)
    if isinstance(column, Datetime):
        assert found.seconds == pytest.approx(column.seconds, abs=1e-3)
        assert found.resolution == column.resolution
        return
    assert found.lower == pytest.approx(column.lower)
    assert found.upper == pytest.approx(column.upper)
    assert found.decimals == column.decimals


def test_the_range_is_that_of_cells_with_rows():
    edges = np.array([-20.5, -9.5, 0.5, 10.5, 20.5, 30.5, 99.5])
    cells = NumberCells(edges, True, 1.0, gaps=(0, 5))
    column = Integer(-9, 30, nullable=False, parse=True, codes=["N"])
    for marginal, lower, upper in (
        ([0, 1, 1, 1, 1, 0, 1], -9, 30),
        ([0, 0, 1, 0, 1, 0, 1], 1, 30),
        ([3, 0, 1, 1, 0, 0, 1], -20, 20),
        ([0, 0, 1, 0, 0, 5, 1], 1, 99),
        ([0, 0, 0, 0, 0, 0, 1], -9, 30),  # nothing is known
    ):
        wanted = replace(column, lower=lower, upper=upper)
        assert with_range_of(column, cells, np.array(marginal, float)) == wanted
        mixed_cells = MixedCells(replace(cells, nullable=False), ("N",), True)
        beside = np.array([*marginal[:6], 50.0, marginal[-1]])
        assert with_range_of(column, mixed_cells, beside) == wanted


def test_a_range_without_gaps_is_public_and_stays():
    cells = NumberCells(np.array([-0.5, 0.5, 9.5]), False, 1.0)
    marginal = np.array([0.0, 1.0])
    assert with_range_of(Integer(0, 9), cells, marginal) == Integer(0, 9)
    words = Categorical(["a", "b"])
    assert with_range_of(words, cells, marginal) is words


@pytest.mark.parametrize("gaps", [(), (0,), (5,), (0, 5), (2,), (0, 2, 5), (0, 3)])
def test_end_cells_take_the_rows_of_outer_gaps(gaps):
    cells = NumberCells(np.arange(7.0), True, gaps=gaps)
    short = without_outer_gaps(cells)
    values = np.linspace(-3, 9, 200)
    first, last = int(0 in gaps), 5 - int(5 in gaps)
    wanted = np.clip(cells.encode(numbers(values)), first, last) - first
    assert short.encode(numbers(values)).tolist() == wanted.tolist()
    kept = [gap - first for gap in gaps if gap not in (0, 5)]
    assert list(short.gaps) == kept
    assert short.nullable


@pytest.mark.parametrize("seed", range(20))
def test_rows_outside_are_those_of_the_cells_outside(seed):
    rng = np.random.default_rng(seed)
    n = 12
    edges = np.concatenate([[-np.inf], np.sort(rng.normal(size=n - 1)), [np.inf]])
    counts, variances = 100 * rng.random(n), rng.uniform(1, 9, n)
    line = Line(edges, counts, variances, np.ones(n, bool), np.arange(n))
    first, last = np.sort(rng.choice(np.arange(1, n), 2, replace=False))
    inner = edges[first : last + 1]
    cells = NumberCells(inner, False)
    below, above, *noise = outside_of(line, cells)
    is_below, is_above = edges[1:] <= inner[0], edges[:-1] >= inner[-1]
    assert below == pytest.approx(counts[is_below].sum())
    assert above == pytest.approx(counts[is_above].sum())
    assert noise == pytest.approx(
        [variances[is_below].sum() ** 0.5, variances[is_above].sum() ** 0.5]
    )


@pytest.mark.parametrize(
    ("is_time", "far", "start"),
    [(False, 2.0**80, 4.0), (True, 2.0**29, 2.0**29)],
    ids=["numbers", "times"],
)
def test_without_evidence_a_size_that_is_usual_comes_first(is_time, far, start):
    """Noise fills cells of every size alike: a number of 10^24 needs more evidence.

    So do times within seconds of the year 2000, against those of 2017 and later.
    """
    edges = np.array([-np.inf, 0.0, 4.0, 8.0, far, 2 * far, np.inf])
    counts = np.array([0.0, 0.0, 3.2, 0.0, 3.2, 0.0])
    counts[4 if far != start else 2] = 3.5
    variances, is_open = np.ones(6), np.zeros(6, bool)
    line = Line(edges, counts, variances, is_open, np.arange(6), is_time=is_time)
    assert edges[_likeliest_cell(line, counts)] == start


def test_without_any_count_a_line_starts_at_zero():
    edges = np.array([-np.inf, -1.0, 0.0, 1.0, np.inf])
    line = Line(edges, np.zeros(4), np.ones(4), np.zeros(4, bool), np.arange(4))
    assert edges[_likeliest_cell(line, np.zeros(4))] == 0.0


def test_rows_beyond_an_end_that_no_cell_has_are_unknown():
    edges = np.array([-np.inf, 0.0, 1.0, 2.0, np.inf])
    line = Line(edges, np.arange(4.0), np.ones(4), np.ones(4, bool), np.arange(4))
    below, above, *noise = outside_of(line, NumberCells(np.array([0.5, 2.0]), False))
    assert np.isnan([below, noise[0]]).all()
    assert (above, noise[1]) == (3.0, 1.0)


def test_without_evidence_another_cell_must_be_far_likelier():
    counts = np.array([-5.0, -5.0, 29.0, 5.0, 0.0, 8.0])
    assert DigitCells().step(counts, 10.0, 30.0) == 0.01
    assert DigitCells().step(counts, 10.0, 10.0) == 1.0  # so few rows say little
    assert DigitCells().step(counts[::-1], 10.0, 30.0) == 0.001
    assert DigitCells().step(counts + 20 * np.eye(6)[0], 10.0, 30.0) == 1.0
    times = np.array([-8.0, -3.0, 2.0, 10.0, 28.0])
    assert DigitCells(is_time=True).step(times, 10.0) is None
    assert DigitCells(is_time=True).step(np.zeros(5), 0.0) == DAY


def test_minus_one_is_no_fraction():
    counts = np.zeros(len(octave_edges(FLOAT)) - 1)
    edges = octave_edges(FLOAT)
    counts[np.searchsorted(edges, -1.0)] = 900.0  # from -1 on
    assert not has_fractions(counts, 10.0)
    counts[np.searchsorted(edges, -0.5)] = 900.0
    assert has_fractions(counts, 10.0)


def test_noise_decides_how_many_cells_are_between_public_bounds():
    column = Numeric(-30.0, 100.0)
    sizes = [line_between(column, most).n_cells for most in (0.3, 8, 20, 60, 1e9)]
    assert sizes == sorted(sizes)
    assert sizes[0] == sizes[1] < sizes[2] < sizes[-1] == line_between(column).n_cells
    for most in (0.3, 20, 1e9):
        edges = line_between(column, most).edges
        assert (edges[1], edges[-2]) == (-30.0, np.nextafter(100.0, np.inf))
        assert (np.diff(edges) > 0).all()
