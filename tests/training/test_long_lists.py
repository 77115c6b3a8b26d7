"""Histograms of categories: long lists of which rows have few, or rare ones."""

import numpy as np
import pytest

from skdpgen.training import project_to_total
from skdpgen.training._single_columns import (
    _FreePrior,
    conditional_histogram,
    sparse_histogram,
)

STD, TOTAL = 20.0, 20_000.0
FEW = 1 / np.arange(1, 11)
SHAPES = {
    "few of 100": np.concatenate([FEW, np.zeros(90)]),
    "few of 2,000": np.concatenate([FEW, np.zeros(1990)]),
    "one of 40 and rare ones": np.concatenate([[20.0], np.full(39, 0.05)]),
    "like Zipf": 1 / np.arange(1, 101),
    "ten": FEW,
    "even": np.ones(16),
}
GAINS = dict(zip(SHAPES, [0.5, 0.3, 0.6, 1.0, 1.05, 1.05], strict=True))


@pytest.mark.parametrize("name", list(SHAPES))
def test_a_list_of_categories_loses_noise_where_rows_have_few(name):
    rng = np.random.default_rng(0)
    truth = TOTAL * SHAPES[name] / SHAPES[name].sum()
    errors = []
    for _ in range(10):
        noisy = truth + STD * rng.normal(size=len(truth))
        found = sparse_histogram(noisy, STD, TOTAL)
        assert found.sum() == pytest.approx(TOTAL)
        assert found.min() >= 0
        plain = project_to_total(noisy, TOTAL)
        errors.append([np.abs(one - truth).sum() for one in (found, plain)])
    found, plain = np.mean(errors, axis=0)
    assert found < GAINS[name] * plain


def test_without_noise_categories_keep_their_rows():
    counts = np.array([5.0, 0.0, 900.0, 95.0] * 3)
    np.testing.assert_allclose(sparse_histogram(counts, 0.0, 3000.0), counts)


def test_categories_that_are_left_out_stay_empty():
    counts = np.array([500.0, -np.inf, 480.0, 3.0, -np.inf, -900.0, 12.0, 9.0])
    found = sparse_histogram(counts, 10.0, 1000.0)
    assert (found[[1, 4]] == 0).all()
    assert found[5] < 1
    assert found.sum() == pytest.approx(1000)
    nothing = np.full(8, -1e6)
    np.testing.assert_allclose(sparse_histogram(nothing, 1.0, 80.0), 10.0)


@pytest.mark.parametrize("power", [0.5, 1.0])
def test_cells_without_an_order_have_a_closed_form(power):
    """Evidence and mean are those of the whole covariance, by its inverse."""
    rng = np.random.default_rng(1)
    marginal = rng.dirichlet(np.full(12, 0.4))
    rows, strengths = rng.normal(size=(3, 12)), np.array([[0.0], [2.0], [500.0]])
    prior = _FreePrior.of(marginal, power)
    fits, means = prior.fit(prior.turned(rows), strengths)
    root = (np.eye(12) - marginal[:, None]) * marginal**power
    for row, strength, fit, mean in zip(
        rows, strengths[:, 0], fits, means, strict=True
    ):
        whole = strength * root @ root.T + np.eye(12)
        _, log_determinant = np.linalg.slogdet(whole)
        solved = np.linalg.solve(whole, row)
        assert fit == pytest.approx(row @ solved + log_determinant)
        np.testing.assert_allclose(mean, row - solved, atol=1e-10)


def test_a_list_of_many_thousand_categories_is_no_matrix():
    """Of 40,000 categories, a covariance would have 13 GB."""
    counts = np.random.default_rng(2).normal(0, 10, (2, 40_000))
    counts[:, :5] += [[4000.0], [1000.0]]
    totals = np.array([20_000.0, 5000.0])
    marginal, of_class = conditional_histogram(counts, 10.0, totals, n_ordered=0)
    assert marginal[:5].sum() > 0.95
    np.testing.assert_allclose(of_class.sum(axis=1), 1.0)
