"""The fast search says what numpy's says, of any numbers among any edges."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skdpgen.tables import _cells
from skdpgen.tables._cells import Search, _ByDigits, _Even

finite = st.floats(allow_nan=False, allow_infinity=False)
EDGES = {
    "even": np.linspace(-3.0, 7.0, 300),
    "octaves": np.exp2(np.arange(-40.0, 20.0, 0.25)),
    "both signs": np.sort(np.r_[-np.exp2(np.arange(30.0)), 0, np.exp2(np.arange(30))]),
    "heavy": np.unique(np.random.default_rng(0).standard_cauchy(500)),
    "tiny": np.array([0.0, 5e-324, 1e-300]),
    "huge": np.array([-1.7e308, 0.0, 1.7e308]),
    "neighbours": np.nextafter(1.0, [0.0, 1.0, 2.0]),
}


@pytest.mark.parametrize("edges", EDGES.values(), ids=EDGES)
def test_many_numbers(edges):
    rng = np.random.default_rng(1)
    x = np.concatenate(
        [
            rng.normal(0, 5, _cells.MANY_NUMBERS),
            np.exp(rng.normal(0, 20, 1000)),
            edges,
            -edges,
            np.nextafter(edges, np.inf),
            np.nextafter(edges, -np.inf),
            [-0.0, 0.0, np.inf, -np.inf],
        ]
    )
    np.testing.assert_array_equal(
        Search(edges)(x), np.searchsorted(edges, x, side="right")
    )


def test_a_table_is_made_once_it_is_worth_its_while():
    rng = np.random.default_rng(2)
    edges = np.sort(rng.normal(size=_cells.MANY_NUMBERS))
    search, seen = Search(edges), []
    for _ in range(4):
        x = rng.normal(size=_cells.MANY_NUMBERS)
        np.testing.assert_array_equal(
            search(x), np.searchsorted(edges, x, side="right")
        )
        seen.append(search._table is not None)
    assert seen == [False, True, True, True]


@given(
    edges=st.lists(finite, min_size=2, max_size=20, unique=True).map(sorted),
    x=st.lists(finite, min_size=1, max_size=20),
)
def test_buckets_never_decrease(edges, x):
    x = np.sort(np.array([*x, *edges, -np.inf, np.inf]))
    for kind in (_Even, _ByDigits):
        places = kind(np.array(edges), 64)(x)
        assert (np.diff(places) >= 0).all()
        assert 0 <= places[0] <= places[-1] < 64


def test_missing_values_do_not_disturb():
    x = np.full(_cells.MANY_NUMBERS, np.nan)
    x[5] = 2.0
    for edges in EDGES.values():
        expected = np.searchsorted(edges, 2.0, side="right")
        assert Search(edges)(x)[5] == expected
