"""How many values a column holds: one row moves it by 1, however rows are cut."""

from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skdpgen.privacy import (
    Adjacency,
    Distinct,
    DistinctCounts,
    GivenBatches,
    Ledger,
    OneHot,
    PrivacyBudget,
    Weighted,
    release,
    sensitivity,
)

NAMES = ("word", "number")
VALUES = ("a", "b", "c")
SLACK = 1 + 1e-12
cells = st.tuples(*(st.integers(-2, len(VALUES)) for _ in NAMES))  # some mean nothing
tables = st.lists(cells, max_size=5)


def batch(rows):
    """Return rows of codes, some of them missing or strange, as one batch."""
    codes = np.array(rows, dtype=np.int64).reshape(-1, len(NAMES))
    tokens = {
        name: SimpleNamespace(codes=codes[:, i], values=VALUES)
        for i, name in enumerate(NAMES)
    }
    return SimpleNamespace(
        labels=np.zeros(len(rows), dtype=np.int64), parts={"distinct": tokens}
    )


def numbers(*batches):
    block = DistinctCounts(NAMES)
    total = block.start(1)
    for rows in batches:
        given_rows = batch(rows)
        total = block.add(total, given_rows.parts["distinct"], given_rows.labels)
    return block.value(total)[0]


def known(rows, column):
    return {row[column] for row in rows if 0 <= row[column] < len(VALUES)}


@given(rows=tables)
def test_missing_is_no_value(rows):
    assert numbers(rows).tolist() == [len(known(rows, i)) for i in range(len(NAMES))]


@given(rows=tables, cut=st.integers(0, 5))
def test_how_rows_are_cut_into_chunks_does_not_matter(rows, cut):
    whole = numbers(rows)
    np.testing.assert_array_equal(numbers(rows[:cut], rows[cut:]), whole)
    np.testing.assert_array_equal(numbers(rows[cut:], rows[:cut]), whole)


def test_no_neighbour_of_any_small_table_is_further():
    """All tables of up to three rows, and all neighbours of each."""
    some = list(product((-1, 0, 1, 2), repeat=len(NAMES)))
    structure = Distinct(len(NAMES))
    largest = {}
    for size in range(3):
        for rest in product(some, repeat=size):
            counts = [numbers([*rest, row]) for row in some]
            without = numbers(list(rest))
            added = max(np.linalg.norm(one - without) for one in counts)
            replaced = max(np.linalg.norm(a - b) for a in counts for b in counts)
            largest["add_remove"] = max(largest.get("add_remove", 0.0), added)
            largest["replace"] = max(largest.get("replace", 0.0), replaced)
    for adjacency, found in largest.items():
        claim = sensitivity(structure, Adjacency(adjacency))
        assert found <= claim * SLACK
        assert found >= claim / SLACK  # and no smaller claim would hold


@given(
    rest=tables,
    one=cells,
    two=cells,
    weights=st.tuples(st.floats(0.1, 9.0), st.floats(0.1, 9.0)),
)
def test_beside_one_hot_blocks_moves_add_up(rest, one, two, weights):
    """As in the first look at text: what each cell says, and how many values."""
    joint = Weighted((OneHot(len(NAMES)), Distinct(len(NAMES))), weights)

    def exact(rows):
        hot = np.zeros((len(NAMES), len(VALUES)))
        for row in rows:
            for i, code in enumerate(row):
                if 0 <= code < len(VALUES):
                    hot[i, code] += 1.0
        return np.concatenate([weights[0] * hot.ravel(), weights[1] * numbers(rows)])

    replaced = np.linalg.norm(exact([*rest, one]) - exact([*rest, two]))
    removed = np.linalg.norm(exact([*rest, one]) - exact(rest))
    assert replaced <= sensitivity(joint, Adjacency.REPLACE) * SLACK
    assert removed <= sensitivity(joint, Adjacency.ADD_REMOVE) * SLACK


@pytest.mark.parametrize("adjacency", list(Adjacency))
@pytest.mark.parametrize("n_columns", [1, 2, 7])
def test_the_claim_is_the_root_of_the_number_of_columns(adjacency, n_columns):
    assert sensitivity(Distinct(n_columns), adjacency) == pytest.approx(n_columns**0.5)


def test_what_is_released_has_its_noise_and_is_charged():
    ledger = Ledger(PrivacyBudget(2.0, 1e-5, Adjacency.REPLACE))
    std = ledger.noise_std(share=0.5, sensitivity=2**0.5)
    rows = [(0, 1), (1, 1), (2, -1)]
    found = []
    for _ in range(400):
        ledger = Ledger(PrivacyBudget(2.0, 1e-5, Adjacency.REPLACE))
        released = release(
            GivenBatches([batch(rows)]),
            {"distinct": DistinctCounts(NAMES)},
            name="numbers of values",
            ledger=ledger,
            share=0.5,
        )
        assert released.noise_std["distinct"] == pytest.approx(std)
        assert ledger.remaining == pytest.approx(0.5)
        found.append(released.values["distinct"][0] - numbers(rows))
    noise = np.array(found) / std
    assert abs(noise.mean()) < 6 / noise.size**0.5
    assert abs((noise**2).mean() - 1) < 6 * (2 / noise.size) ** 0.5


def test_a_column_is_counted_once():
    """Named twice, each row would count twice and be charged once."""
    with pytest.raises(ValueError, match="a name twice"):
        DistinctCounts(("job", "job"))


def test_rows_and_labels_must_be_as_many():
    rows = batch([(0, 1)])
    block = DistinctCounts(NAMES)
    with pytest.raises(ValueError, match="one code a row"):
        block.add(block.start(1), rows.parts["distinct"], np.zeros(2, dtype=np.int64))
