"""Drawing cells for labels: as often as expected, up to one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skdpgen.synthesizers.models._decoding import draw_given, systematic

EVEN = np.full((1, 4), 0.25)


@st.composite
def drawings(draw):
    """A table with zeros in it, labels of some of its rows, and a generator."""
    n_rows, width = draw(st.integers(1, 6)), draw(st.integers(1, 9))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    table = rng.dirichlet(np.full(width, 0.7), size=n_rows)
    table[rng.random(table.shape) < draw(st.sampled_from([0.0, 0.5]))] = 0.0
    empty = table.sum(axis=1) == 0
    table[empty, rng.integers(width)] = 1.0
    table *= draw(st.sampled_from([1.0, 1e-6, 1e6]))  # rows need not sum to 1
    labels = rng.integers(0, n_rows, draw(st.integers(0, 60)))
    return table, labels[rng.random(len(labels)) < 0.9], rng


@given(drawings())
@settings(deadline=None, max_examples=200)
def test_each_cell_appears_as_often_as_expected(drawing):
    table, labels, rng = drawing
    codes = draw_given(table, labels, rng=rng)
    assert codes.shape == labels.shape
    for label, row in enumerate(table):
        mine = codes[labels == label]
        counts = np.bincount(mine, minlength=table.shape[1])
        assert len(counts) == table.shape[1]
        expected = len(mine) * row / row.sum()
        assert (np.abs(counts - expected) < 1 + 1e-9).all()
        assert (counts[row == 0] == 0).all()


def test_a_certain_cell_is_always_drawn():
    table = np.eye(5)[[2, 0, 4]]
    labels = np.random.default_rng(0).integers(0, 3, 500)
    codes = draw_given(table, labels, rng=np.random.default_rng(1))
    assert codes.tolist() == np.array([2, 0, 4])[labels].tolist()


class Ends:
    """A generator that draws the first or the last number there is."""

    def __init__(self, value):
        self.value = value

    def random(self, size=None):
        return self.value if size is None else np.full(size, self.value)

    def permutation(self, n):
        return np.arange(n)


@pytest.mark.parametrize("value", [0.0, np.nextafter(1.0, 0.0)])
@pytest.mark.parametrize("n_rows", [1, 2000])
def test_the_ends_of_the_unit_interval_draw_no_impossible_cell(value, n_rows):
    row = np.array([0.0, 0.1, 0.0, 0.2, 0.7, 0.0])
    table = np.tile(row, (n_rows, 1))
    for n in (1, 3, 10):
        labels = np.repeat(np.arange(n_rows), n)
        codes = draw_given(table, labels, rng=Ends(value))
        assert set(codes.tolist()) <= {1, 3, 4}


def test_labels_without_rows_and_rows_without_labels():
    rng = np.random.default_rng(0)
    table = np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]])
    assert draw_given(table, np.array([2, 2, 2]), rng=rng).tolist() == [1, 1, 1]
    assert draw_given(table, np.array([], dtype=int), rng=rng).tolist() == []
    assert draw_given(table, np.array([2, 0]), rng=rng).tolist() == [1, 0]


def test_a_single_row_is_drawn_by_its_probabilities():
    rng = np.random.default_rng(0)
    table = np.array([[0.1, 0.2, 0.7]])
    one = np.array([0])
    codes = np.array([draw_given(table, one, rng=rng)[0] for _ in range(4000)])
    found = np.bincount(codes, minlength=3) / len(codes)
    np.testing.assert_allclose(found, table[0], atol=5 * 0.5 / np.sqrt(len(codes)))


def test_places_of_cells_are_random():
    """A cell must not follow the order of rows, or columns drawn alike would agree."""
    rng = np.random.default_rng(0)
    labels = np.zeros(4000, dtype=int)
    one, two = (draw_given(EVEN, labels, rng=rng) for _ in range(2))
    assert np.bincount(one).tolist() == [1000] * 4
    assert abs(np.corrcoef(one, two)[0, 1]) < 5 / np.sqrt(len(labels))
    assert abs(np.corrcoef(one, np.arange(4000))[0, 1]) < 5 / np.sqrt(len(labels))


def test_the_generator_alone_decides():
    labels = np.random.default_rng(0).integers(0, 2, 50)
    table = np.array([[0.3, 0.7], [0.9, 0.1]])
    before = table.copy()
    one, two, other = (
        draw_given(table, labels, rng=np.random.default_rng(seed)).tolist()
        for seed in (1, 1, 2)
    )
    assert one == two
    assert one != other
    np.testing.assert_array_equal(table, before)


@given(drawings())
@settings(deadline=None)
def test_systematic_draws_are_sorted_and_exact_up_to_one(drawing):
    table, labels, rng = drawing
    codes = systematic(table[0], len(labels), rng=rng)
    counts = np.bincount(codes, minlength=table.shape[1])
    expected = len(labels) * table[0] / table[0].sum()
    assert (np.diff(codes) >= 0).all()
    assert (np.abs(counts - expected) < 1 + 1e-9).all()
