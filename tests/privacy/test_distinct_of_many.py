"""Different values of many rows: slots that they take, one of which one row moves."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skdpgen.privacy import DistinctCounts, _value_counts
from skdpgen.privacy._value_counts import LEVELS, MOST_COMPARED, Seen, slots_of

NAMES = ("number", "word")


def exact(numbers, words, n_rows):
    """Return the released numbers before noise, and what stands behind them."""
    block = DistinctCounts(NAMES, n_rows)
    rows = np.arange(len(numbers))
    codes = np.where(np.isnan(numbers), -1, rows)
    parts = {
        "number": SimpleNamespace(codes=codes, values=np.asarray(numbers, float)),
        "word": SimpleNamespace(codes=rows, values=[str(word) for word in words]),
    }
    labels = np.zeros(len(rows), dtype=np.int64)
    return block.value(block.add(block.start(1), parts, labels))[0]


@pytest.fixture
def few_slots(monkeypatch):
    """So few that values share them."""
    for name, size in {"MOST_COMPARED": 3, "SLOTS_OF_LEVEL": 8, "LEVELS": 3}.items():
        monkeypatch.setattr(_value_counts, name, size)


@pytest.mark.usefixtures("few_slots")
@pytest.mark.parametrize("n_rows", [0.0, 3.0, 4.0, 9.0, 17.0, 1e9])
def test_one_row_moves_each_number_by_1_at_most(n_rows):
    rng = np.random.default_rng(0)
    largest = 0.0
    for _ in range(100):
        size = rng.integers(0, 12)
        numbers, words = rng.integers(0, 20, (2, size)).astype(float)
        numbers[rng.random(size) < 0.2] = np.nan
        without = exact(numbers, words, n_rows)
        beside = [
            exact(np.append(numbers, x), np.append(words, w), n_rows)
            for x, w in ((1.5, "a"), (np.nan, "b"), (7.0, 7.0), (1e300, "é"))
        ]
        moves = [np.abs(one - without).max() for one in beside]
        moves += [np.abs(one - two).max() for one in beside for two in beside]
        largest = max(largest, *moves)
    assert largest == 1.0


@pytest.mark.usefixtures("few_slots")
@given(
    values=st.lists(st.floats(allow_nan=True, width=32), max_size=20),
    n_rows=st.sampled_from([2.0, 5.0, 40.0]),
    seed=st.integers(0, 9),
)
def test_the_order_of_rows_does_not_matter(values, n_rows, seed):
    shuffled = np.random.default_rng(seed).permutation(values)
    found = [exact(np.array(rows), rows, n_rows) for rows in (values, shuffled)]
    np.testing.assert_array_equal(*found)


@pytest.mark.usefixtures("few_slots")
@given(
    values=st.lists(st.integers(0, 9), max_size=20),
    cuts=st.tuples(st.integers(0, 20), st.integers(0, 20)),
    n_rows=st.sampled_from([2.0, 5.0, 40.0]),
)
def test_parts_are_merged_as_if_they_were_one(values, cuts, n_rows):
    block = DistinctCounts(("number",), n_rows)
    rows = np.array(values, dtype=float)

    def part(some):
        tokens = SimpleNamespace(codes=np.arange(len(some)), values=some)
        return block.add(block.start(1), {"number": tokens}, np.zeros(len(some), int))

    one, two, three = map(part, np.split(rows, sorted(cuts)))
    merged = block.merge(block.merge(three, one), two)
    assert block.value(merged) == block.value(part(rows))
    for each, some in zip((one, two), np.split(rows, sorted(cuts)), strict=False):
        assert block.value(each) == block.value(part(some))  # as it was


@pytest.mark.parametrize("n", [70_000, 1_000_000, 3_000_000])
def test_slots_tell_how_many_values_there_are(n):
    numbers = np.arange(n) / 7
    block = DistinctCounts(("number",), n_rows=n)
    total = block.start(1)
    for some in np.array_split(numbers, 50):
        rows = SimpleNamespace(codes=np.arange(len(some)), values=some)
        total = block.add(total, {"number": rows}, np.zeros(len(some), dtype=int))
    (found,), (std,) = block.estimate(block.value(total)[0], 1.0)
    assert found == pytest.approx(n, rel=0.01)
    assert 1.0 <= std < 12.0


def test_zero_has_no_sign():
    assert exact(np.array([0.0, -0.0]), ["a", "a"], 1e9)[0] <= 1.0
    for n_rows in (2.0, 1e5):
        assert exact(np.array([0.0, -0.0]), ["a", "a"], n_rows).tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    "n", [100, MOST_COMPARED - 1, MOST_COMPARED, 2 * MOST_COMPARED]
)
def test_values_become_slots_when_there_are_many_and_parts_agree(n):
    hashes = np.random.default_rng(0).integers(0, 2**64, n, dtype=np.uint64)
    parts = np.array_split(hashes, 5)
    whole, merged = Seen(), Seen()
    for part in parts:
        whole.add(part)
        one = Seen()
        one.add(part)
        merged |= one
    for seen in (whole, merged):
        assert (seen.slots is not None) == (n >= MOST_COMPARED)
        assert seen.count(None) == min(n, MOST_COMPARED)
        for level in (0, 1, 5, LEVELS - 1):
            assert seen.count(level) == len(np.unique(slots_of(hashes, level)))
