"""Outer products, summed without a vector for any row."""

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from skdpgen.privacy import OuterProducts, _outer, sensitivity
from skdpgen.privacy._blocks import clip_rows, one_hot

SHAPES = ((2, 3), (1, 2))
WIDTH = sum(a + b for a, b in SHAPES)
NASTY = (0.0, -0.0, 1.0, -1.0, 1e30, -1e160, 1e308, 5e-324, 1e-170, np.nan, np.inf)
entries = st.sampled_from(NASTY) | st.floats(-2, 2)


def factors(x):
    """Cut rows into u and v of each layer."""
    parts = np.split(x, np.cumsum([2, 3, 1]), axis=1)
    return [(parts[0], parts[1]), (parts[2], parts[3])]


def products(x):
    with np.errstate(all="ignore"):
        rows = [
            np.einsum("na,nb->nab", u, v).reshape(len(x), -1) for u, v in factors(x)
        ]
    return np.concatenate(rows, axis=1)


@pytest.mark.parametrize("bound", [1.0, 0.4])
@pytest.mark.parametrize("convert", [np.array, torch.tensor])
@given(
    x=arrays(float, (6, WIDTH), elements=st.floats(-2, 2)),
    y=arrays(np.int64, 6, elements=st.integers(-2, 3)),
)
@settings(max_examples=60, deadline=None)
def test_the_sum_is_that_of_clipped_products(bound, convert, x, y):
    block = OuterProducts(SHAPES, bound)
    start = np.arange(16.0).reshape(2, 8)
    given = [(convert(u), convert(v)) for u, v in factors(x)]
    found = block.add(start.copy(), given, y)
    wanted = start + one_hot(y, 2).T @ clip_rows(products(x), bound)
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


@given(x=arrays(float, (1, WIDTH), elements=entries))
@settings(max_examples=300, deadline=None)
def test_one_row_adds_no_more_than_its_bound(x):
    block = OuterProducts(SHAPES, 0.7)
    total = block.add(block.start(2), factors(x), np.array([1]))
    assert np.isfinite(total).all()
    assert np.linalg.norm(total) <= 0.7 * (1 + 1e-12)
    assert not total[0].any()


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_neighbours_move_as_far_as_is_claimed_and_no_further(adjacency):
    rng, block = np.random.default_rng(0), OuterProducts(SHAPES)
    rows = [*(10.0 ** rng.uniform(-2, 2) * rng.normal(size=(30, WIDTH)))]
    for row in rows[:10]:  # opposite features
        rows.append(np.concatenate([-row[:2], row[2:5], -row[5:6], row[6:]]))
    sums = [
        block.add(block.start(2), factors(row[None]), np.array([label]))
        for row, label in itertools.product(rows, (0, 1))
    ]
    if adjacency == "add_remove":
        sums = [sums[0] * 0, *sums]
        moved = [np.linalg.norm(one) for one in sums]
    else:
        moved = [np.linalg.norm(a - b) for a, b in itertools.combinations(sums, 2)]
    claimed = sensitivity(block.structure, adjacency)
    assert max(moved) == pytest.approx(claimed)


def test_rows_may_come_in_pieces(monkeypatch):
    rng, block = np.random.default_rng(0), OuterProducts(SHAPES)
    x, y = rng.normal(size=(11, WIDTH)), rng.integers(2, size=11)
    whole = block.add(block.start(2), factors(x), y)
    monkeypatch.setattr(_outer, "ROWS_AT_ONCE", 4)
    np.testing.assert_allclose(block.add(block.start(2), factors(x), y), whole)


def test_shapes_that_would_broadcast_are_refused():
    block, x = OuterProducts(SHAPES), np.ones((3, WIDTH))
    (a, b), (c, d) = factors(x)
    wrong = ([(a, b)], [(a, b), (c[:1], d)], [(a, b), (d, c)], [(a, b), (c[:, 0], d)])
    for parts in wrong:
        with pytest.raises(ValueError, match="factors of each layer"):
            block.add(block.start(2), parts, np.zeros(3, dtype=np.int64))


def test_small_numbers_that_the_processor_drops_hide_nothing():
    block = OuterProducts(((100, 1),))
    parts = [(np.full((1, 100), 1.4e-154), np.full((1, 1), 1.3e154))]
    try:
        torch.set_flush_denormal(True)
        total = block.add(block.start(1), parts, np.zeros(1, dtype=np.int64))
    finally:
        torch.set_flush_denormal(False)
    assert np.linalg.norm(total) == pytest.approx(1.0)
