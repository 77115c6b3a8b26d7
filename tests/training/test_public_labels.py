"""Class counts with public rows as a prior."""

import numpy as np
import pytest

from skdpgen.training import class_totals
from skdpgen.training._public_columns import public_labels, trusted_totals

TRUTH, STD = np.array([325.0, 20.0]), 30.0


def errors(public, truth=TRUTH, std=STD, n_repeats=300):
    """Return mean errors of class counts without public rows, and with them."""
    found = []
    for seed in range(n_repeats):
        noisy = truth + np.random.default_rng(seed).normal(0, std, len(truth))
        before = class_totals([noisy[:, None]], float(truth.sum()))
        after = trusted_totals(before, noisy, std, public, are_bins=False)
        assert (after >= 0).all()
        assert after.sum() == pytest.approx(truth.sum())
        found.append([np.abs(one - truth).sum() for one in (before, after)])
    return np.mean(found, axis=0)


def test_a_class_that_is_rarer_than_its_noise_is_found():
    without, with_public = errors(np.array([330.0, 15.0]))
    assert with_public < 0.6 * without


def test_noise_alone_makes_no_class_vanish():
    noisy, public = np.array([345.0, -150.0]), np.array([330.0, 15.0])
    totals = class_totals([noisy[:, None]], 345.0)
    assert totals[1] == 0
    found = trusted_totals(totals, noisy, 60.0, public, are_bins=False)
    assert found[1] > 0.01 * found.sum()
    sure = trusted_totals(totals, noisy, 0.01, public, are_bins=False)
    assert sure[1] < 0.05


def test_wrong_shares_do_not_win_against_many_rows():
    truth = 30 * TRUTH
    without, with_public = errors(np.array([100.0, 300.0]), truth)
    assert with_public < 1.1 * without


def test_bins_of_a_number_are_classes_in_order():
    noisy = np.array([50.0, 90.0, 60.0])
    found = trusted_totals(noisy, noisy, 20.0, noisy, are_bins=True)
    np.testing.assert_allclose(found, noisy, rtol=0.1)


def test_public_rows_without_labels_say_nothing():
    totals = np.array([5.0, 7.0])
    found = trusted_totals(totals, totals, 3.0, np.array([9.0]), are_bins=False)
    assert found is totals


def test_the_fullest_column_says_how_many_there_are():
    columns = [np.array([[1.0, 0.0], [0.0, 0.0]]), np.array([[3.0], [2.0]])]
    np.testing.assert_array_equal(public_labels(columns), [3.0, 2.0])
