import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skdpgen.tables import (
    Datetime,
    Integer,
    NumberCells,
    Numeric,
    fine_cells,
    is_far_from_zero,
    trimmed,
    within,
)

counts_of_cells = st.lists(st.floats(0, 100), min_size=2, max_size=40)


@given(counts_of_cells, st.floats(0, 50), st.integers(0, 2**32 - 1), st.booleans())
def test_rows_and_edges_are_kept(exact, std, seed, nullable):
    cells = NumberCells(np.arange(len(exact) + 1.0) * 3 - 7, nullable)
    noise = std * np.random.default_rng(seed).normal(size=cells.n_cells)
    counts = np.append(exact, [5.0] * nullable) + noise
    kept, found = trimmed(cells, counts, std, sum(exact))
    assert len(found) == kept.n_cells
    assert found.sum() == pytest.approx(counts.sum(), abs=1e-6)
    assert set(kept.edges) <= set(cells.edges)
    assert (np.diff(kept.edges) > 0).all()
    assert kept.nullable == nullable
    if nullable:
        assert found[-1] == counts[-1]


@given(counts_of_cells)
def test_without_noise_no_row_is_cut_off(exact):
    cells = NumberCells(np.arange(len(exact) + 1.0), nullable=False)
    kept, _ = trimmed(cells, np.asarray(exact), 0.0, sum(exact))
    for place, count in enumerate(exact):
        if count > 0.5:
            assert kept.edges[0] <= place
            assert kept.edges[-1] >= place + 1


@pytest.mark.parametrize("seed", range(20))
def test_noise_alone_trims_nothing(seed):
    cells = NumberCells(np.arange(1001.0), nullable=False)
    counts = np.random.default_rng(seed).normal(0, 10, 1000)
    assert trimmed(cells, counts, 10.0, 0.0)[0] is cells


def test_both_ends_are_treated_alike():
    edges, places = np.arange(201.0), np.arange(200)
    counts = 40 * np.exp(-0.5 * ((places - 80) / 15) ** 2)
    one, _ = trimmed(NumberCells(edges, nullable=False), counts, 3.0, 1500.0)
    turned = NumberCells(-edges[::-1], nullable=False)
    two, _ = trimmed(turned, counts[::-1], 3.0, 1500.0)
    assert abs(one.edges[0] + two.edges[-1]) <= 20  # searchsorted takes one side
    assert abs(one.edges[-1] + two.edges[0]) <= 20


@pytest.mark.parametrize("seed", range(5))
def test_a_value_of_few_rows_is_not_the_range(seed):
    """The others are too thinly spread to be seen, cell by cell."""
    cells = NumberCells(np.linspace(0.125, 1.0, 1025), nullable=False)
    exact = np.full(1024, 10.0)
    exact[580] += 700.0
    counts = exact + np.random.default_rng(seed).normal(0, 80, 1024)
    kept, _ = trimmed(cells, counts, 80.0, exact.sum())
    assert kept.edges[-1] - kept.edges[0] > 0.5


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (Integer(1024, 2047), True),
        (Integer(-2047, -1024), True),
        (Integer(512, 2047), True),
        (Integer(256, 2047), True),
        (Integer(128, 2047), False),
        (Integer(0, 127), False),
        (Integer(-1, 127), False),
        (Numeric(-1.0, 1.0), False),
        (Numeric(32.0, 64.0), True),
        (Integer(7, 7), True),
        (Integer(0, 0), False),
    ],
)
def test_what_is_far_from_zero(column, expected):
    assert is_far_from_zero(column) is expected


@pytest.mark.parametrize(
    "column",
    [
        Integer(1024, 2047),
        Integer(-4095, -1024),
        Numeric(32.0, 63.9, 1),
        Numeric(32.0, 63.99, 2),
        Numeric(1e-9, 2e-9),
        Numeric(1e15, 2e15),
        Datetime("2020-01-01", "2021-12-31", whole_days=True),
        Datetime("2020-01-01", "2021-12-31"),
    ],
)
@pytest.mark.parametrize("n_uniform", [16, 1024])
def test_a_grid_that_is_not_trimmed_says_the_same_of_a_column(column, n_uniform):
    found = within(column, fine_cells(column, n_uniform))
    if isinstance(column, Datetime):
        assert found.seconds == pytest.approx(column.seconds, abs=1e-3)
        assert found.whole_days == column.whole_days
    else:
        assert type(found) is type(column)
        assert found.lower == pytest.approx(column.lower)
        assert found.upper == pytest.approx(column.upper)
        assert found.decimals == column.decimals
