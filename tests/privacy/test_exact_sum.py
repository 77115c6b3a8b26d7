"""Sums of every block: the same bits for any order and cut, and no row too long."""

import itertools
import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from skdpgen.privacy import (
    Counts,
    GivenBatches,
    Histograms,
    Ledger,
    Moments,
    OuterProducts,
    Parities,
    PrivacyBudget,
    SideBySide,
    Vectors,
    _blocks,
    release,
)
from skdpgen.privacy._exact_sum import ExactSum, most_rows, power_of_two_from
from skdpgen.privacy._vector_sums import ROWS_AT_ONCE, _grid

N_CLASSES, WIDTH = 3, 6
NASTY = (0.0, -0.0, 1.0, -1.0, 1e30, -1e160, 1e308, -1e308, 5e-324, 1e-170)
entries = st.sampled_from((*NASTY, np.nan, np.inf, -np.inf)) | st.floats(-2, 2)


def codes(rng, n):
    return rng.integers(-1, 4, (n, WIDTH))


def vectors(rng, n):
    rows = rng.standard_t(2, size=(n, WIDTH)) * 10.0 ** rng.uniform(-6, 1, (n, 1))
    rows[:: n // 7, 2] = np.inf
    return rows


def factors(rng, n):
    x = vectors(rng, n)
    return [(x[:, :2], x[:, 2:5]), (x[:, 1:3], x[:, 1:3] * rng.normal(size=(n, 1)))]


KIND = ("nonnegative", "square")
BLOCKS = {
    "histograms": (Histograms((3,) * WIDTH), codes),
    "scaled": (
        Histograms((3, 2), (0.3, 0.7), ((0, 1), (1,))),
        lambda *a: codes(*a)[:, :2],
    ),
    "parities": (Parities(WIDTH, (2, 3)), codes),
    "counts": (Counts(), codes),
    "vectors": (Vectors(WIDTH), vectors),
    "nonnegative": (Vectors(WIDTH, 0.3, is_nonnegative=True), vectors),
    "wide": (Vectors(WIDTH, 2.5), lambda *a: torch.tensor(vectors(*a)).float()),
    "side by side": (SideBySide((Vectors(2, 0.6), Vectors(4, 0.8, True))), vectors),
    "outer": (OuterProducts(((2, 3), (2, 2)), 0.7, ("signed", "square")), factors),
    "outer, layers": (OuterProducts(((2, 3), (2, 2)), (0.6, 3.0)), factors),
    "outer, at least 0": (OuterProducts(((2, 3), (2, 2)), 1.0, KIND), factors),
    "moments": (Moments(WIDTH), vectors),
    "outer moments": (Moments(WIDTH, second="outer"), vectors),
}


def summed(block, parts, labels, cuts=()):
    """Return the sum over rows that come in pieces."""
    total, bounds = block.start(N_CLASSES), [0, *cuts, len(labels)]
    for first, last in itertools.pairwise(bounds):
        some = slice(first, last)
        total = block.add(total, taken(parts, some), labels[some])
    return block.value(total)


def taken(parts, which):
    """Return some rows, of vectors or of factors."""
    if isinstance(parts, list):
        return [tuple(factor[which] for factor in pair) for pair in parts]
    return parts[which]


@pytest.mark.parametrize("name", BLOCKS)
def test_sums_have_the_same_bits_in_any_order_and_cut(name, monkeypatch):
    block, draw = BLOCKS[name]
    rng, n = np.random.default_rng(0), 3000
    parts, labels = draw(rng, n), rng.integers(-1, N_CLASSES + 1, n)
    whole = summed(block, parts, labels)
    for cached in (_blocks.NUMBERS_IN_CACHE, 50, 3000):
        monkeypatch.setattr(_blocks, "NUMBERS_IN_CACHE", cached)
        order = rng.permutation(n)
        cuts = np.sort(rng.choice(n, 5))
        found = summed(block, taken(parts, order), labels[order], cuts)
        assert found.dtype == np.float64
        assert found.tobytes() == whole.tobytes()
    assert np.abs(whole).max() > 1


WIDE = {
    "vectors": (Vectors(2000), lambda x: x),
    "nonnegative": (
        Vectors(2000, 30.0, is_nonnegative=True),
        lambda x: torch.tensor(x.copy()),
    ),
    "moments": (Moments(2000), lambda x: x),
    "outer": (OuterProducts(((1200, 800),)), lambda x: [(x[:, :1200], x[:, 1200:])]),
    "square": (
        OuterProducts(((1000, 1000),), 1.0, ("square",)),
        lambda x: [(x[:, :1000], x[:, 1000:])],
    ),
}


@pytest.mark.parametrize("name", WIDE)
@pytest.mark.parametrize("order", "CF")
def test_a_wide_row_is_rounded_alike_whatever_stands_beside_it(name, order):
    """Its norm is a sum, too: of many numbers, in an order of its own."""
    (block, parts_of), rng = WIDE[name], np.random.default_rng(0)
    x, labels = rng.normal(size=(33, 2000)), np.zeros(33, dtype=np.int64)
    whole = summed(block, parts_of(np.asarray(x, order=order)), labels)
    singly = summed(block, parts_of(x), labels, range(1, 33))
    turned = summed(block, parts_of(x[::-1]), labels, (5, 6, 20))
    assert whole.tobytes() == singly.tobytes() == turned.tobytes()


@pytest.mark.parametrize("n_minibatches", [1, 2])
def test_a_release_without_noise_has_the_bits_of_any_cut(n_minibatches):
    rng, n = np.random.default_rng(1), 400
    rows = {"codes": codes(rng, n), "vector": vectors(rng, n)}
    blocks = {
        "codes": Histograms((3,) * WIDTH, (0.3,) * WIDTH),
        "vector": Vectors(WIDTH),
    }

    def released(length):
        batches = [
            SimpleNamespace(
                labels=np.zeros(len(rows["codes"][k : k + length]), dtype=np.int64),
                parts={key: part[k : k + length] for key, part in rows.items()},
            )
            for k in range(0, n, length)
        ]
        ledger = Ledger(PrivacyBudget(math.inf, 1e-5))
        found = release(
            GivenBatches(batches),
            blocks,
            name="sums",
            ledger=ledger,
            share=1.0,
            n_minibatches=n_minibatches,
        ).values
        return {key: value.sum(axis=0) for key, value in found.items()}

    one, two = released(n), released(7)
    for key, value in one.items():
        assert value.tobytes() == two[key].tobytes()


def squared(numbers):
    """Return a sum of squares without any rounding."""
    return sum(Fraction(float(x)) ** 2 for x in np.ravel(numbers))


@pytest.mark.parametrize("bound", [0.3, 1.0, 2.5, 1e-30, 1e30])
@pytest.mark.parametrize("is_nonnegative", [False, True])
@given(x=arrays(float, WIDTH, elements=entries))
@settings(max_examples=100, deadline=None)
def test_no_row_is_longer_than_is_paid_for(is_nonnegative, bound, x):
    """Not by a rounding error either: norms are those of exact fractions."""
    block = Vectors(WIDTH, bound, is_nonnegative)
    found = summed(block, x[None], np.zeros(1, dtype=np.int64))
    assert squared(found) <= Fraction(bound) ** 2
    assert (np.sign(found[0]) * np.sign(np.nan_to_num(x)) >= 0).all()


def test_long_rows_are_cut_to_the_bound_and_not_below_by_more_than_the_grid():
    rng = np.random.default_rng(0)
    for width in (1, 2, 30, 2000):
        rows = rng.normal(size=(20, width))
        rows *= 3 / np.linalg.norm(rows, axis=1, keepdims=True)
        for row in rows:
            found = summed(Vectors(width), row[None], np.zeros(1, dtype=np.int64))
            assert squared(found) <= 1
            step = Vectors(width).start(1).step
            np.testing.assert_allclose(found[0], row / 3, rtol=1e-12, atol=1.01 * step)


NEAR_POWERS = [math.nextafter(4.0**k, side) for k in (-3, -1, 0, 2) for side in (0, 99)]


@pytest.mark.parametrize("bound", [0.3, 1.0, (0.6, 0.8), 1e-30, *NEAR_POWERS])
@pytest.mark.parametrize("kinds", [("signed", "square"), ("nonnegative", "signed")])
@given(x=arrays(float, 9, elements=entries))
@settings(max_examples=30, deadline=None)
def test_no_product_is_longer_than_is_paid_for(kinds, bound, x):
    block = OuterProducts(((2, 3), (2, 2)), bound, kinds)
    parts = [(x[None, :2], x[None, 2:5]), (x[None, 5:7], x[None, 7:])]
    found = summed(block, parts, np.zeros(1, dtype=np.int64))[0]
    bounds = bound if isinstance(bound, tuple) else (bound, 0.0)
    assert squared(found) <= sum(Fraction(one) ** 2 for one in bounds)
    if isinstance(bound, tuple):
        assert squared(found[:6]) <= Fraction(bound[0]) ** 2
        assert squared(found[6:]) <= Fraction(bound[1]) ** 2
    if kinds[0] == "nonnegative":
        assert (found[:6] >= 0).all()
    else:  # a square is one still: of a symmetric matrix without a determinant
        a, b, c, d = map(Fraction, found[6:].tolist())
        assert b == c
        assert a * d == b * c
        assert min(a, d) >= 0


@pytest.mark.parametrize("bound", NEAR_POWERS)
def test_products_have_the_step_of_their_factors(bound):
    """A root that was rounded otherwise made steps and products four times larger."""
    block = OuterProducts(((1, 1),), bound)
    (own,) = block.start(1)
    assert own.step == _grid(bound) ** 2
    x = np.array([[1e3]])
    assert summed(block, [(x, x)], np.zeros(1, dtype=np.int64))[0, 0] <= bound


def test_a_row_alone_in_its_piece_is_rounded_as_among_others():
    """A joint norm in an ulp of which a whole step hangs; its own row adds nothing."""
    block = OuterProducts(((1, 1), (1, 1)), 1.0)
    row = [1.857407680536376, 1.0335855753054644, 1.729655446429944, 1.175655620602559]

    def found(n_others):
        x = np.vstack([np.zeros((n_others, 4)), row])
        parts = [(x[:, :1], x[:, 1:2]), (x[:, 2:3], x[:, 3:])]
        return summed(block, parts, np.zeros(len(x), dtype=np.int64))

    np.testing.assert_array_equal(found(ROWS_AT_ONCE), found(ROWS_AT_ONCE - 1))


@pytest.mark.parametrize("block", [Vectors, lambda n, b: OuterProducts(((n, 1),), b)])
def test_bounds_without_a_grid_are_refused_before_anything_is_paid(block):
    for bound in (0.0, 1e-120, 1e120, math.inf, math.nan):
        with pytest.raises(ValueError, match="bound must be in"):
            block(3, bound)


def test_a_bound_of_low_precision_keeps_its_margin():
    assert type(Vectors(3, np.float16(0.5)).bound) is float


@pytest.mark.parametrize("b", [0.3, 0.5**0.5, 1.0, 5.0])
@pytest.mark.parametrize("width", [1, 2, WIDTH])
def test_rounded_squares_move_no_further_than_is_paid_for(width, b):
    """The worst of pairs: opposite rows, and rows turned a little, all of norm 1."""
    block, rng = Moments(width, b), np.random.default_rng(0)
    rows = [*np.eye(width), *-np.eye(width), *rng.normal(size=(20, width))]
    rows += [-row for row in rows]
    label = np.zeros(1, dtype=np.int64)
    sums = [summed(block, 1e3 * row[None], label) for row in rows]
    claimed = Fraction(block.structure.replace()) ** 2
    slack = 1 + Fraction(1, 2**51)  # of the claim itself, and of b times a square
    for one in sums:
        assert squared(one) <= Fraction(block.structure.bound) ** 2 * slack
        assert all(squared(one - other) <= claimed * slack for other in sums)


@given(
    terms=arrays(float, (40, 2), elements=st.integers(-(2**8), 2**8).map(float)),
    order=st.permutations(range(40)),
)
@settings(max_examples=50, deadline=None)
def test_carries_lose_nothing(terms, order):
    """With 50 bits a row only seven rows have room: the others are carried."""
    one, two = (ExactSum.of((1, 2), bound=1.0, n_bits=50) for _ in range(2))
    for row in terms:
        one.room_for(1)[:] += row / 2**8 - one.step * np.sign(row)
    for row in terms[list(order)]:
        two.room_for(1, 0)[:] += row / 2**8 - two.step * np.sign(row)
    whole = [
        sum(Fraction(x / 2**8 - np.sign(x) * one.step) for x in c) for c in terms.T
    ]
    assert one.value().tobytes() == two.value().tobytes()
    assert one.value()[0].tolist() == [float(x) for x in whole]


def test_a_billion_rows_do_not_overflow():
    """As many as they are, in one entry: what `low` holds stays a float64 integer."""
    total, expected = ExactSum.of((1, 1), bound=1.0, n_bits=44), Fraction(0)
    each = 1 - total.step
    for _ in range(1000):
        total.room_for(total.most)[:] += total.most * each
        expected += total.most * Fraction(each)
        assert abs(total.low[0, 0]) <= 2**53 * total.step
    total.high *= 2000.0  # 10 ** 9 rows
    expected = 2000 * expected - 1999 * Fraction(float(total.low[0, 0]))
    assert Fraction(total.value()[0, 0]) == Fraction(float(expected))


def test_more_rows_than_there_is_room_for_are_refused():
    total = ExactSum.of((1, 1), bound=1.0, n_bits=44)
    with pytest.raises(ValueError, match="At most 511 rows"):
        total.room_for(most_rows(44) + 1)


@pytest.mark.parametrize("bound", [0.0, -1.0, np.inf, np.nan, 1e-200, 1e200])
def test_bounds_without_a_grid_are_refused(bound):
    with pytest.raises(ValueError, match="bound must be in"):
        power_of_two_from(bound)


@pytest.mark.parametrize("scale", [np.nan, np.inf, -0.5])
def test_scales_that_are_no_numbers_are_refused(scale):
    with pytest.raises(ValueError, match="scales must be in"):
        Histograms((2,), (scale,))


def test_scaled_counts_are_products_without_rounding():
    block = Histograms((2, 2), (0.3, 1 / 3))
    counts = np.array([[2**30 - 1, 12345, 987654321, 1]])
    found = block.value(counts)[0]
    for value, count, scale in zip(
        found, counts[0], np.repeat(block.scales, 2), strict=True
    ):
        assert Fraction(value) == Fraction(float(scale)) * int(count)
    for scale, asked in zip(block.scales, (0.3, 1 / 3), strict=True):
        assert asked * (1 - 2**-22) < scale <= asked
