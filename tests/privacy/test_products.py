from itertools import combinations, product

import numpy as np
import pytest

from skdpgen.privacy import Parities, SignProducts, sensitivity

SETS = [(4, (2, 3)), (5, (2, 3, 4)), (6, (3,)), (6, (2, 4, 6)), (6, (1, 2, 3, 4, 5, 6))]


def exactly(codes, labels, orders, n_classes=2):
    signs = np.where(np.asarray(codes) == 1, -1, 1)
    sets = [w for k in orders for w in combinations(range(signs.shape[1]), k)]
    products = np.stack([signs[:, which].prod(axis=1) for which in sets], axis=1)
    return np.stack([products[labels == c].sum(axis=0) for c in range(n_classes)])


@pytest.mark.parametrize(("n_columns", "orders"), SETS)
def test_sums_are_those_of_the_definition(n_columns, orders):
    rng = np.random.default_rng(0)
    codes = rng.integers(-2, 4, size=(5000, n_columns))  # strange ones count as 1
    labels = rng.integers(-1, 3, size=5000)
    block = Parities(n_columns, orders)
    found = block.add(block.start(2), codes, labels)
    assert found.shape == (2, SignProducts(n_columns, orders).width)
    assert np.array_equal(found, exactly(codes, labels, orders))


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
@pytest.mark.parametrize(("n_columns", "orders"), SETS)
def test_the_worst_of_all_rows_moves_the_sum_as_far_as_is_claimed(
    n_columns, orders, adjacency
):
    block = Parities(n_columns, orders)
    rows = [
        block.add(block.start(2), np.array([codes]), np.array([label])).ravel()
        for codes in product((0, 1), repeat=n_columns)
        for label in (-1, 0, 1)
    ]
    others = rows if adjacency == "replace" else [np.zeros_like(rows[0])]
    largest = max(
        float(np.linalg.norm(one - other)) for one in rows[:3] for other in others
    )  # all rows are alike to the first but for signs
    assert largest == pytest.approx(sensitivity(block.structure, adjacency))


def test_it_is_less_than_what_signed_vectors_of_that_norm_may_move():
    structure = SignProducts(10, (2, 3, 4, 5))
    assert structure.replace() < 0.9 * 2 * structure.bound


def test_sizes_that_come_twice_are_refused():
    with pytest.raises(ValueError, match="orders must be distinct"):
        Parities(4, (2, 2))


@pytest.mark.parametrize(
    ("codes", "labels"),
    [(np.zeros((3, 5)), np.zeros(3)), (np.zeros((3, 4)), np.zeros((3, 1)))],
)
def test_shapes_that_broadcast_are_refused(codes, labels):
    block = Parities(4, (2,))
    with pytest.raises(ValueError, match="one label and 4 codes per row"):
        block.add(block.start(1), codes.astype(int), labels.astype(int))
