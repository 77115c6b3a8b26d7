"""Points and spikes: which values are looked at, and which get a bin of their own."""

import numpy as np
import pandas as pd
import pytest

from skdpgen import DPIndependentSynthesizer, insecure_noise_seed
from skdpgen.privacy import Histograms
from skdpgen.tables import (
    Kind,
    NumberCells,
    Points,
    read_values,
    spikes_among,
    with_spikes,
)

RANGES = [
    ((-0.5, 131_071.5), 1.0),
    ((0.0, 4_095.99), 0.01),
    ((-1_000.0, 4.0), None),
    ((0.0, 1e-9), None),
    ((-1e15, 1e15), None),
]


def numbers(values):
    return read_values(pd.Series(values, dtype=float), Kind.FLOAT)


@pytest.mark.parametrize(("ends", "step"), RANGES)
@pytest.mark.parametrize("digits", [2, 5])
def test_points_are_in_range_and_each_is_its_own(ends, step, digits):
    points = Points.within(NumberCells(np.array(ends), False, step), digits)
    assert (np.diff(points.values) > 0).all()
    assert points.values[0] >= ends[0]
    assert points.values[-1] <= ends[1]
    some = np.linspace(0, points.n_cells - 1, 1000).astype(int)
    assert (points.encode(numbers(points.values[some])) == some).all()


@pytest.mark.parametrize("value", [15_024.0, 7_298.0, 99_999.0, 0.0, 3.0])
def test_whole_numbers_of_few_digits_are_points(value):
    points = Points.within(NumberCells(np.array([-0.5, 131_071.5]), False, 1.0))
    assert points.values[points.encode(numbers([value]))[0]] == value


def test_what_is_no_point_is_in_no_cell():
    points = Points.within(NumberCells(np.array([0.0, 1.0]), False))
    assert points.encode(numbers([1 / 3, np.nan, 5.0, -1.0])).tolist() == [-1] * 4


def test_a_row_is_at_one_point_of_a_column_at_most():
    """What sensitivity rests on: one-hot in each histogram, or nothing."""
    rng = np.random.default_rng(0)
    points = Points.within(NumberCells(np.array([-10.0, 10.0]), False), 3)
    values = np.concatenate([points.values[::200], rng.normal(size=200)])
    block = Histograms((points.n_cells,))
    for value in values:
        codes = points.encode(numbers([value]))[:, None]
        total = block.add(block.start(1), codes, np.zeros(1, dtype=np.int64))
        assert total.sum() in (0.0, 1.0)
        assert total.max() <= 1.0


def test_no_spike_is_seen_in_noise():
    rng = np.random.default_rng(1)
    bins = NumberCells(np.array([-0.5, 20_000.5]), False, 1.0)
    points = Points.within(bins)
    found = [
        len(
            spikes_among(
                points,
                10.0 * rng.normal(size=points.n_cells),
                10.0,
                bins,
                least=1.0,
                n_looks=points.n_cells,
            )
        )
        for _ in range(20)
    ]
    assert sum(found) <= 5  # 1 is expected


def test_a_dense_column_has_no_spikes():
    bins = NumberCells(np.array([-0.5, 499.5]), False, 1.0)
    points = Points.within(bins)
    counts = np.full(points.n_cells, 1_000.0)
    how = {"least": 10.0, "n_looks": points.n_cells}
    assert not len(spikes_among(points, counts, 10.0, bins, **how))


def test_spikes_of_floats_are_exact():
    cells = with_spikes(NumberCells(np.array([0.0, 1.0]), False), np.array([0.1, 0.7]))
    assert cells.is_atom().tolist() == [False, True, False, True, False]
    assert cells.encode(numbers([0.1, 0.7, 0.5])).tolist() == [1, 3, 2]


def a_table(n):
    rng = np.random.default_rng(2)
    price = np.where(
        rng.random(n) < 0.4,
        rng.choice([9.99, 19.99], n),
        rng.lognormal(4, 1, n).round(2),
    )
    score = np.where(rng.random(n) < 0.2, -999.0, rng.normal(size=n))
    day = np.datetime64("2015-01-01") + rng.integers(0, 3000, n).astype("m8[D]")
    day = np.where(rng.random(n) < 0.2, np.datetime64("1900-01-01"), day)
    return pd.DataFrame({"price": price, "score": score, "day": day})


@pytest.mark.filterwarnings("ignore::skdpgen.NotPrivateWarning")
def test_values_that_many_rows_share_come_back():
    X = a_table(20_000)
    with insecure_noise_seed(3):
        drawn = DPIndependentSynthesizer(random_state=0).fit(X).sample(20_000)
    for name, value in [
        ("price", 9.99),
        ("price", 19.99),
        ("score", -999.0),
        ("day", pd.Timestamp("1900-01-01")),
    ]:
        real, synthetic = (float((t[name] == value).mean()) for t in (X, drawn))
        assert abs(real - synthetic) < 0.05, name


@pytest.mark.filterwarnings("ignore::skdpgen.NotPrivateWarning")
def test_nothing_is_paid_where_noise_would_hide_spikes():
    with insecure_noise_seed(3):
        small = DPIndependentSynthesizer(random_state=0).fit(a_table(1_000))
    assert not any(one.name.startswith("values of") for one in small.privacy_.releases)
