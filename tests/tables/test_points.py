"""Cells as points: distances are public, and mean the same in every column."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from skdpgen.tables import CategoryCells, NumberCells, cell_points


def numbers(n, nullable=False, scale=1.0):
    return NumberCells(scale * np.geomspace(1, 1e6, n + 1), nullable=nullable)


@pytest.mark.parametrize("n", [1, 2, 7, 64])
@pytest.mark.parametrize("nullable", [False, True])
def test_numbers_stand_at_their_rank(n, nullable):
    points = cell_points(numbers(n, nullable))
    assert points.shape == (n + nullable, 1 + nullable)
    ranks = points[:n, 0]
    np.testing.assert_allclose(np.diff(ranks), 1 / n)
    np.testing.assert_allclose(ranks + ranks[::-1], 1)  # even about the middle
    assert (points >= 0).all()
    assert (points <= 1).all()


def test_units_do_not_matter():
    one, two = (cell_points(numbers(9, scale=scale)) for scale in (1e-9, 1e9))
    np.testing.assert_array_equal(one, two)


def test_missing_is_half_away_from_the_middle_of_the_numbers():
    points = cell_points(numbers(5, nullable=True))
    away = np.linalg.norm(points[5] - points[:5], axis=1)
    assert away[2] == pytest.approx(0.5)
    assert away.argmin() == 2
    assert away.min() > np.diff(points[:5, 0]).max()


@pytest.mark.parametrize("nullable", [False, True])
def test_categories_are_one_apart(nullable):
    points = cell_points(CategoryCells(("a", "b", "c"), nullable))
    assert len(points) == 3 + nullable
    np.testing.assert_allclose(pdist(points), 1)


def test_ordered_categories_are_numbers():
    points = cell_points(CategoryCells(("low", "mid", "top"), False, is_ordered=True))
    np.testing.assert_allclose(points, cell_points(numbers(3)))


def test_a_column_without_categories_is_a_point_or_none():
    assert cell_points(CategoryCells((), True)).shape == (1, 1)
    assert cell_points(CategoryCells((), False)).shape == (0, 0)
    assert cell_points(CategoryCells((), True, is_ordered=True)).shape == (1, 2)
