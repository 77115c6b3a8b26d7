from itertools import combinations

import numpy as np
import pytest

from skdpgen.datasets import make_parity


def test_a_seed_decides_the_rows():
    for first, second in zip(
        make_parity(50, random_state=3), make_parity(50, random_state=3), strict=True
    ):
        assert first.equals(second)
    assert not make_parity(50)[0].equals(make_parity(50, random_state=1)[0])


@pytest.mark.parametrize("n_rows", [1, 333])
def test_has_the_asked_number_of_rows_on_one_index(n_rows):
    X, y = make_parity(n_rows)
    assert len(X) == len(y) == n_rows
    assert X.index.equals(y.index)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_rows": 0}, "n_rows must be at least 1. Got 0"),
        ({"n_in_parity": 11}, r"n_in_parity must be in \[1, n_columns\]"),
        ({"noise": 1.5}, r"noise must be in \[0, 1\]. Got 1.5"),
    ],
)
def test_what_cannot_be_made_is_an_error(params, message):
    with pytest.raises(ValueError, match=message):
        make_parity(**params)


@pytest.mark.parametrize("are_numbers", [False, True])
def test_only_the_whole_parity_tells_the_class(are_numbers):
    X, y = make_parity(20_000, n_columns=6, noise=0.2, are_numbers=are_numbers)
    signs = np.where(X.to_numpy() < 0, -1, 1) if are_numbers else 1 - 2 * X.to_numpy()
    label = np.where(y == "odd", -1, 1)
    for size in range(1, 7):
        for which in combinations(range(6), size):
            mean = (signs[:, which].prod(axis=1) * label).mean()
            truth = 0.8 if which == (0, 1, 2) else 0.0
            assert mean == pytest.approx(truth, abs=6 / np.sqrt(20_000))
