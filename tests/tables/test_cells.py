from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skdpgen.tables import (
    Boolean,
    Categorical,
    CategoryCells,
    Datetime,
    Integer,
    Kind,
    NumberCells,
    Numeric,
    Ordinal,
    draw_values,
    line_between,
    read_values,
    simple_cells,
)

FLOAT, TEXT = Kind.FLOAT, Kind.TEXT


def between(column):
    """Return many cells between public bounds."""
    line = line_between(column)
    return NumberCells(line.edges[1:-1], True, line.step, is_time=line.is_time)


def codes(cells, values, kind=FLOAT, dtype=object):
    return cells.encode(read_values(pd.Series(values, dtype=dtype), kind)).tolist()


def test_categories_have_a_cell_each_and_the_rest_is_missing():
    cells = CategoryCells(("a", "b"), nullable=True)
    assert codes(cells, ["b", "a", "c", None, 5, ["a"], ""], TEXT) == [
        1,
        0,
        2,
        2,
        2,
        2,
        2,
    ]
    cells = CategoryCells(("a", "b"), nullable=False)
    assert codes(cells, ["b", None, "c"], TEXT) == [1, -1, -1]


def test_categories_of_numbers():
    cells = CategoryCells((3, 1.5), nullable=True)
    assert codes(cells, [3.0, 1.5, 1, np.nan, np.inf], dtype=float) == [0, 1, 2, 2, 2]
    assert codes(CategoryCells(("x",), True), [1.0, 2.0], dtype=float) == [1, 1]
    assert codes(CategoryCells((3, 4), True), ["3", "4", "x"], TEXT) == [0, 1, 2]


def test_truth_values():
    cells = simple_cells(Boolean(), 8)
    assert codes(cells, [True, False, None], Kind.BOOLEAN, "boolean") == [1, 0, 2]
    assert codes(cells, [1, 0, 7], Kind.INTEGER, "int64") == [1, 0, 2]
    assert codes(cells, ["True", "False", "yes"], TEXT) == [1, 0, 2]


def test_numbers_outside_fall_in_the_end_cells():
    cells = NumberCells(np.array([0.0, 1.0, 2.0]), nullable=True)
    values = [-1e30, 0.0, 0.999, 1.0, 2.0, 1e30, np.nan, np.inf, -np.inf, -0.0]
    assert codes(cells, values, dtype=float) == [0, 0, 0, 1, 1, 1, 2, 2, 2, 0]
    assert codes(cells, ["0.5", "1.5", "x", None], TEXT) == [0, 1, 2, 2]


@given(
    st.lists(st.floats(), min_size=1, max_size=30),
    st.sampled_from(
        [
            Numeric(-3, 7),
            Numeric(0, 1, 2),
            Integer(-5, 500),
            Integer(0, 9),
            Numeric(2, 2),
        ]
    ),
)
@settings(deadline=None)
def test_any_number_has_exactly_one_cell(values, column):
    for cells in (simple_cells(column, 32), between(column)):
        if cells is not None:
            found = np.array(codes(cells, values, dtype=float))
            assert (found >= 0).all()
            assert (found < cells.n_cells).all()
            missing = ~np.isfinite(values)
            assert ((found == cells.n_known) == missing).all()


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (Integer(3, 5), 3),
        (Integer(0, 31), 32),
        (Integer(0, 32), None),
        (Numeric(0, 1, 1), 11),
        (Numeric(0, 1), None),
        (Numeric(4, 4), 1),
        (Boolean(), 2),
        (Categorical(list("abc")), 3),
        (Datetime("2020-01-01", "2020-01-10", resolution="day"), 10),
        (Datetime("2020-01-01", "2020-01-10"), None),
    ],
)
def test_short_lattices_are_their_own_cells(column, expected):
    cells = simple_cells(column, 32)
    assert (cells and cells.n_known) == expected
    assert cells is None or cells.n_cells == expected + 1


def test_only_ordinals_keep_an_order():
    assert simple_cells(Ordinal(["S", "M"]), 32).is_ordered
    assert not simple_cells(Categorical(["S", "M"]), 32).is_ordered


# -------------------------------------------------------------------- decoding


def draw(column, codes, cells=None, n=1):
    cells = cells or simple_cells(column, 64)
    marginal = np.full(cells.n_cells, 1 / cells.n_cells)
    codes = np.repeat(np.asarray(codes), n)
    return draw_values(column, cells, codes, marginal, rng=np.random.default_rng(0))


def test_categories_decode_to_themselves():
    column = Categorical(["a", 2, True])
    assert draw(column, [0, 1, 2, 3]).tolist() == ["a", 2, True, None]
    assert draw(Boolean(), [1, 0, 2]).tolist() == [True, False, None]


@pytest.mark.parametrize("column", [Integer(-3, 9), Numeric(0.1, 0.9, 1)])
def test_lattices_decode_exactly(column):
    cells = simple_cells(column, 64)
    found = draw(column, np.arange(cells.n_cells), n=20)
    known = found.dropna().astype(float).to_numpy()
    expected = np.repeat(np.linspace(column.lower, column.upper, cells.n_known), 20)
    np.testing.assert_allclose(known, expected, atol=1e-9)
    assert found.isna().sum() == 20


def test_encoding_inverts_decoding():
    column = Numeric(-7.25, 1000, 2)
    cells = between(column)
    wanted = np.repeat(np.arange(cells.n_known), 5)
    drawn = draw(column, wanted, cells)
    assert cells.encode(read_values(drawn, FLOAT)).tolist() == wanted.tolist()


def test_times_decode_to_times():
    column = Datetime("2020-01-01", "2020-01-10", resolution="day")
    found = draw(column, [0, 9, 10])
    assert found.tolist()[:2] == [
        pd.Timestamp("2020-01-01"),
        pd.Timestamp("2020-01-10"),
    ]
    assert found.isna().tolist() == [False, False, True]
    column = Datetime("2020-01-01", "2020-12-31")
    found = draw(column, np.arange(20), between(column))
    assert found.between("2020-01-01", "2020-12-31").all()


def test_tails_decay_and_stay_inside():
    column = Numeric(0, 1000)
    cells = NumberCells(np.array([0.0, 10.0, 20.0, 1000.0]), nullable=False)
    marginal = np.array([0.45, 0.45, 0.10])
    last = np.full(4000, 2)
    rng = np.random.default_rng(0)
    tail = draw_values(column, cells, last, marginal, rng=rng).to_numpy()
    assert tail.min() >= 20
    assert tail.max() <= 1000
    assert np.median(tail) < 150  # uniform would be 510
    flat = draw_values(column, cells, last, np.array([0.01, 0.01, 0.98]), rng=rng)
    assert abs(np.median(flat) - 510) < 40


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_sizes_in_a_cell_beyond_the_range_are_as_likely(sign):
    column = Numeric(-1e5, 1e5)
    edges = np.array([-1.5, -0.5, 0.5, 127.5, 65535.5])
    cells = NumberCells(edges, nullable=False, step=1.0, gaps=(0, 3))
    marginal, codes = np.array([0.0, 0.9, 1e-5, 0.1]), np.full(4000, 3)
    if sign < 0:
        cells = replace(cells, edges=-edges[::-1])
        marginal, codes = marginal[::-1], np.zeros(4000, dtype=np.int64)
    rng = np.random.default_rng(0)
    drawn = sign * draw_values(column, cells, codes, marginal, rng=rng).to_numpy()
    assert drawn.min() >= 128
    assert drawn.max() <= 65535
    mean = (65535.5 - 127.5) / np.log(65535.5 / 127.5)  # as of log-uniform numbers
    assert abs(drawn.mean() / mean - 1) < 0.1  # uniform numbers: 3.1 times that
