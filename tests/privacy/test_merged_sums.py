"""Sums of parts are the sum of the whole, to the bit: any split, any tree, carries."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skdpgen.privacy import DistinctCounts, Selections
from skdpgen.privacy._exact_sum import ExactSum
from skdpgen.tables._values import TokenColumn
from tests.privacy.test_exact_sum import BLOCKS, N_CLASSES, taken


def of_part(block, parts, labels, some):
    return block.add(block.start(N_CLASSES), taken(parts, some), labels[some])


def bits(total):
    """Everything that a sum holds, as bytes; to see whether it was changed."""
    if isinstance(total, list):
        return b"".join(map(bits, total))
    if isinstance(total, ExactSum):
        return total.low.tobytes() + total.high.tobytes() + total.used.tobytes()
    return np.asarray(total).tobytes()


@pytest.mark.parametrize("name", BLOCKS)
def test_parts_merge_to_the_bits_of_the_whole(name):
    block, draw = BLOCKS[name]
    rng, n = np.random.default_rng(1), 2000
    parts, labels = draw(rng, n), rng.integers(-1, N_CLASSES + 1, n)
    whole = block.value(of_part(block, parts, labels, slice(None)))
    for n_parts in (2, 5, 17):
        mine = np.array_split(rng.permutation(n), np.sort(rng.choice(n, n_parts - 1)))
        totals = [of_part(block, parts, labels, some) for some in mine]
        while len(totals) > 1:  # a tree that is not even
            i, j = rng.choice(len(totals), 2, replace=False)
            before = bits(totals[i]), bits(totals[j])
            both = block.merge(totals[i], totals[j])
            assert (bits(totals[i]), bits(totals[j])) == before
            totals = [t for k, t in enumerate(totals) if k not in (i, j)] + [both]
        assert block.value(totals[0]).tobytes() == whole.tobytes()


@settings(max_examples=200)
@given(
    st.lists(
        st.lists(st.integers(-(2**50), 2**50), min_size=1, max_size=9),
        min_size=2,
        max_size=6,
    )
)
def test_merging_never_rounds(rows_of_parts):
    """With 50 bits of 53 each sum carries after seven rows, and merges do."""
    totals = []
    for rows in rows_of_parts:
        total = ExactSum.of((1, 1), bound=1.0, n_bits=50)
        for row in rows:
            total.room_for(1)[:] += row * total.step
        totals.append(total)
    merged = totals[0]
    for other in totals[1:]:
        merged = merged.merge(other)
        merged = merged.merge(ExactSum.of((1, 1), bound=1.0, n_bits=50))
        for row in rows_of_parts[0]:  # it goes on after it was merged
            merged.room_for(1)[:] += row * merged.step
    exact = sum(map(sum, rows_of_parts)) + (len(totals) - 1) * sum(rows_of_parts[0])
    held = Fraction(float(merged.low[0, 0])) + Fraction(float(merged.high[0, 0]))
    assert held == Fraction(exact, 2**50)


def test_two_full_sums_merge_without_rounding():
    """Each has as many steps as it takes; together they have more than 53 bits."""
    largest = 2**50 - 1
    one, two = (ExactSum.of((1, 1), bound=1.0, n_bits=50) for _ in range(2))
    for row in [largest] * one.most:
        one.room_for(1)[:] += row * one.step
        two.room_for(1)[:] += row * one.step
    two.low -= two.step  # odd, so that float64 must round
    merged = one.merge(two)
    held = Fraction(float(merged.low[0, 0])) + Fraction(float(merged.high[0, 0]))
    assert held == Fraction(2 * one.most * largest - 1, 2**50)


def test_a_million_merges_do_not_overflow():
    full = ExactSum.of((1, 1), bound=1.0, n_bits=44)
    full.room_for(full.most)[:] += full.most * 1.0
    total = full
    for _ in range(40):  # doubles each time
        total = total.merge(total)
    assert float(total.value()[0, 0]) == full.most * 2.0**40


def test_sums_of_two_grids_are_not_merged():
    one = ExactSum.of((1, 1), bound=1.0, n_bits=44)
    for other in ({"bound": 2.0, "n_bits": 44}, {"bound": 1.0, "n_bits": 40}):
        with pytest.raises(ValueError, match="one grid"):
            one.merge(ExactSum.of((1, 1), **other))
    with pytest.raises(ValueError, match="one shape"):
        one.merge(ExactSum.of((2, 1), bound=1.0, n_bits=44))


@pytest.mark.parametrize("block", [Selections(("a",)), DistinctCounts(("a",))])
def test_values_of_parts_merge(block):
    words = np.array(["x", "y", "x", "z", "y", "x"])

    def total(some):
        found, codes = np.unique(some, return_inverse=True)
        column = TokenColumn(codes.astype(np.int64), tuple(found.tolist()))
        return block.add(block.start(1), {"a": column}, np.zeros(len(some), np.int64))

    one, two = total(words[:2]), total(words[2:])
    before = repr(one)
    merged = block.value(block.merge(one, two))
    assert repr(one) == before
    whole = block.value(total(words))
    if isinstance(block, Selections):
        assert merged == whole == {"a": {"x": 3, "y": 2, "z": 1}}
    else:
        assert merged.tolist() == whole.tolist() == [[3.0]]
