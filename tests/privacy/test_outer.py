"""Outer products, summed without a vector for any row."""

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.distance import pdist

from skdpgen.privacy import OuterProducts, _vector_sums, sensitivity
from skdpgen.privacy._blocks import clip_rows, one_hot

SHAPES = ((2, 3), (1, 2))
WIDTH = sum(a + b for a, b in SHAPES)
NASTY = (
    0.0,
    -0.0,
    1.0,
    -1.0,
    1e30,
    -1e160,
    1e308,
    5e-324,
    1e-170,
    np.nan,
    np.inf,
    -np.inf,
    -1e308,
)
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


def summed(block, parts, labels, n_classes=2):
    labels = np.asarray(labels, dtype=np.int64)
    return block.value(block.add(block.start(n_classes), parts, labels))


@pytest.mark.parametrize("bound", [1.0, 0.4])
@pytest.mark.parametrize("convert", [np.array, torch.tensor])
@given(
    x=arrays(float, (6, WIDTH), elements=st.floats(-2, 2)),
    y=arrays(np.int64, 6, elements=st.integers(-2, 3)),
)
@settings(max_examples=60, deadline=None)
def test_the_sum_is_that_of_clipped_products(bound, convert, x, y):
    block = OuterProducts(SHAPES, bound)
    given = [(convert(u), convert(v)) for u, v in factors(x)]
    found = summed(block, given, y)
    wanted = one_hot(y, 2).T @ clip_rows(products(x), bound)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=6 * 2.0**-20)


@given(x=arrays(float, (1, WIDTH), elements=entries))
@settings(max_examples=300, deadline=None)
def test_one_row_adds_no_more_than_its_bound(x):
    block = OuterProducts(SHAPES, 0.7)
    total = summed(block, factors(x), [1])
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
        summed(block, factors(row[None]), [label])
        for row, label in itertools.product(rows, (0, 1))
    ]
    if adjacency == "add_remove":
        sums = [sums[0] * 0, *sums]
        moved = [np.linalg.norm(one) for one in sums]
    else:
        moved = [np.linalg.norm(a - b) for a, b in itertools.combinations(sums, 2)]
    claimed = sensitivity(block.structure, adjacency)
    assert max(moved) == pytest.approx(claimed)


KINDS = (
    (("nonnegative", "nonnegative"), 1.0),
    (("square", "nonnegative"), 1.0),
    (("signed", "square"), (0.6, 0.8)),
    (("square", "square"), (0.6, 0.8)),
    (("nonnegative", "signed"), (0.6, 0.8)),
    (("nonnegative", "signed"), 1.0),
)
SQUARES = ((2, 2), (2, 2))


def layers(x):
    """Cut rows of eight numbers into u and v of two layers of two by two."""
    u, v, s, t = np.split(x, 4, axis=1)
    return [(u, v), (s, t)]


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
@pytest.mark.parametrize(("kinds", "bound"), KINDS)
def test_layers_move_as_far_as_their_kinds_allow(kinds, bound, adjacency):
    rng, block = np.random.default_rng(0), OuterProducts(SQUARES, bound, kinds)
    axes = [np.array(v, float) for v in itertools.product((0, 1, -1), repeat=2)]
    rows = [
        np.concatenate([u, v, s, t])
        for u, v, s, t in itertools.product(axes, repeat=4)
        if rng.random() < 0.03
    ]
    e, f = np.eye(2)
    rows += [np.concatenate([a, b, a, b]) for a in (e, -e, f) for b in (e, -e, f)]
    rows += [*rng.normal(size=(20, 8)), *(1e12 * rng.normal(size=(20, 8)))]
    sums = [
        summed(block, layers(row[None]), [label])
        for row, label in itertools.product(rows, (0, 1))
    ]
    moved = pdist([one.ravel() for one in sums])
    if adjacency == "add_remove":
        moved = [np.linalg.norm(one) for one in sums]
    claimed = sensitivity(block.structure, adjacency)
    assert max(moved) == pytest.approx(claimed, rel=2.0**-19)
    assert max(moved) <= claimed * (1 + 1e-15)


@pytest.mark.parametrize(("kinds", "bound"), KINDS)
@given(x=arrays(float, (2, 8), elements=entries))
@settings(max_examples=80, deadline=None)
def test_nothing_a_map_returns_moves_layers_further(kinds, bound, x):
    block = OuterProducts(SQUARES, bound, kinds)
    one, other = (summed(block, layers(row[None]), [0], 1) for row in x)
    assert np.isfinite(one).all()
    claimed = sensitivity(block.structure, "replace")
    assert np.linalg.norm(one - other) <= claimed * (1 + 1e-12)


def test_squares_and_clamped_layers_keep_what_is_of_their_kind():
    v, u = np.array([[0.3, -0.4]]), np.array([[0.5, 0.1]])
    block = OuterProducts(SQUARES, 1.0, ("square", "nonnegative"))
    parts = [(2 * v, v), (u, u)]
    total = summed(block, parts, [0], 1)
    wanted = np.concatenate([2 * v.T @ v, u.T @ u]).reshape(1, -1)
    np.testing.assert_allclose(total, wanted, rtol=0, atol=2.0**-20)


@pytest.mark.parametrize("kinds", [kinds for kinds, _ in KINDS])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", [0, 2, 4, 6])
def test_a_row_that_is_not_finite_counts_nothing(kinds, bad, place):
    row = np.ones((1, 8))
    row[0, place] = bad
    block = OuterProducts(SQUARES, 1.0, kinds)
    assert not summed(block, layers(row), [0], 1).any()


def test_a_square_of_nothing_leaves_the_other_layer():
    row = np.array([[1.0, 2.0, 0.0, 0.0, 0.6, 0.0, 0.0, 0.8]])
    block = OuterProducts(SQUARES, 1.0, ("square", "nonnegative"))
    total = summed(block, layers(row), [0], 1)
    np.testing.assert_allclose(total, [[0, 0, 0, 0, 0, 0.48, 0, 0]], atol=2.0**-20)


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"kinds": ("signed",)}, "one entry per layer, 2"),
        ({"bound": (1.0,)}, "one entry per layer, 2"),
        ({"bound": (1.0, 1.0, 1.0)}, "one entry per layer, 2"),
        ({"bound": (1.0, 0.0)}, "bound must be in"),
        ({"bound": -1.0}, "bound must be in"),
        ({"bound": (1.0, np.inf)}, "bound must be in"),
        ({"kinds": ("Signed", "signed")}, "kinds must be among"),
        ({"shapes": ((2, 3), (1, 1)), "kinds": ("square", "signed")}, "as long as v"),
    ],
)
def test_what_the_proof_does_not_cover_is_refused(wrong, why):
    with pytest.raises(ValueError, match=why):
        OuterProducts(**{"shapes": SQUARES} | wrong)


def test_rows_may_come_in_pieces(monkeypatch):
    rng, block = np.random.default_rng(0), OuterProducts(SHAPES)
    x, y = rng.normal(size=(11, WIDTH)), rng.integers(2, size=11)
    whole = summed(block, factors(x), y)
    monkeypatch.setattr(_vector_sums, "ROWS_AT_ONCE", 4)
    np.testing.assert_array_equal(summed(block, factors(x), y), whole)


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
        total = summed(block, parts, [0], 1)
    finally:
        torch.set_flush_denormal(False)
    assert np.linalg.norm(total) == pytest.approx(1.0, abs=1e-5)
