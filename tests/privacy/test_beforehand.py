"""Sums made beforehand: part by part what a release would have summed itself."""

from types import SimpleNamespace

import numpy as np
import pytest

from skdpgen.privacy import (
    Adjacency,
    Beforehand,
    Counts,
    DistinctCounts,
    GivenBatches,
    Histograms,
    Ledger,
    PrivacyBudget,
    Selections,
    release,
    sum_beforehand,
)

NAMES, SIZES = ("a", "b", "c"), (3, 2, 5)
WORDS = ("x", "y", "z")


def batches(n=200, seed=0):
    """Return rows in two batches, some codes of which mean nothing."""
    rng = np.random.default_rng(seed)
    for size in (n // 3, n - n // 3):
        codes = np.stack([rng.integers(-1, k + 1, size) for k in SIZES], axis=1)
        tokens = {
            name: SimpleNamespace(codes=rng.integers(-1, 3, size), values=WORDS)
            for name in NAMES
        }
        parts = {"columns": codes, "tokens": tokens, "distinct": tokens, "rows": None}
        yield SimpleNamespace(labels=np.zeros(size, dtype=np.int64), parts=parts)


def sums(seed=0):
    blocks = {
        "columns": Histograms(SIZES),
        "tokens": Selections(NAMES),
        "distinct": DistinctCounts(NAMES),
        "rows": Counts(),
    }
    given = GivenBatches(batches(seed=seed))
    return sum_beforehand(given, blocks, {"columns": NAMES})


def without_noise(rows, block, key):
    """Return what a release of sums that were made, or of batches, would publish."""
    rows = rows if isinstance(rows, Beforehand) else GivenBatches(rows)
    budget = PrivacyBudget.reserving(float("inf"), 1e-5, Adjacency.REPLACE, 3)
    ledger = Ledger(budget)
    found = release(rows, {key: block}, name=key, ledger=ledger, share=1.0)
    return found.values[key], found.sensitivity


def only(rows, which):
    for batch in rows:
        parts = {"columns": batch.parts["columns"][:, which]}
        yield SimpleNamespace(labels=batch.labels, parts=parts)


def test_histograms_of_some_columns_in_another_order():
    taken = sums().histograms("columns", ("c", "a"))
    mine = without_noise(taken.sums, taken, "columns")
    other = without_noise(only(batches(), [2, 0]), Histograms((5, 3)), "columns")
    np.testing.assert_array_equal(mine[0], other[0])
    assert mine[1] == other[1]


def test_histograms_of_some_cells():
    cells = {"c": np.array([4, 1]), "b": np.array([0])}
    block = sums().histograms("columns", ("c", "b"), cells)
    found, sensitivity = without_noise(block.sums, block, "columns")
    every = without_noise(batches(), Histograms(SIZES), "columns")[0][0]
    np.testing.assert_array_equal(found[0], every[[5 + 4, 5 + 1, 3 + 0]])
    assert sensitivity == without_noise((), Histograms((2, 1)), "columns")[1]


def test_values_numbers_of_values_and_rows():
    taken, three = sums(), ("c", "a", "b")
    pairs = {
        "tokens": (taken.selections("tokens", ("b",)), Selections(("b",))),
        "distinct": (
            taken.distinct("distinct", three, 9),
            DistinctCounts(three, 9),
        ),
        "rows": (taken.counts("rows"), Counts()),
    }
    for key, (block, plain) in pairs.items():
        mine, other = (
            without_noise(taken, block, key),
            without_noise(batches(), plain, key),
        )
        np.testing.assert_equal(mine, other)


def test_a_sum_can_be_released_twice():
    taken, block = sums(), None
    for _ in range(2):
        before, block = block, taken.histograms("columns", NAMES)
    one, two = (without_noise(b.sums, b, "columns")[0] for b in (before, block))
    np.testing.assert_array_equal(one, two)


def test_noise_is_drawn_and_paid_for():
    ledger = Ledger(PrivacyBudget(1.0, 1e-5, Adjacency.REPLACE))
    block = sums().histograms("columns", ("a",))
    found = release(block.sums, {"columns": block}, name="x", ledger=ledger, share=0.25)
    assert ledger.remaining == pytest.approx(0.75)
    exact = without_noise(block.sums, block, "columns")[0]
    assert (found.values["columns"] != exact).any()


def test_labels_are_not_distinguished():
    block = sums().histograms("columns", ("a",))
    ledger = Ledger(PrivacyBudget(1.0, 1e-5))
    with pytest.raises(ValueError, match="one class"):
        release(
            block.sums,
            {"columns": block},
            name="x",
            ledger=ledger,
            share=1.0,
            n_classes=2,
        )


def test_sums_answer_for_their_own_blocks():
    one, two = sums(), sums()
    for block in (Counts(), two.counts("rows")):
        with pytest.raises(ValueError, match="their own blocks"):
            without_noise(one, block, "rows")


def test_rows_do_not_count_twice():
    taken = sums()
    for key, block in {
        "rows": taken.counts("rows"),
        "columns": taken.histograms("columns", NAMES),
        "tokens": taken.selections("tokens", NAMES),
        "distinct": taken.distinct("distinct", NAMES, 9),
    }.items():
        with pytest.raises(ValueError, match="hold every row"):
            without_noise(batches(), block, key)


def test_sums_are_not_printed():
    block = sums().histograms("columns", ("a",))
    assert "array" not in repr(block)
    assert "array" not in repr(block.sums)
