"""Bins of a number where public rows, or the number of rows, are known."""

import numpy as np

from skdpgen.tables import Numeric, fine_cells, quantile_bins, tree_estimate

CELLS = fine_cells(Numeric(0.0, 100.0))
RNG = np.random.default_rng(0)
VALUES = RNG.gamma(2.0, 8.0, 200_000).clip(0, 99.9)
TRUTH = np.histogram(VALUES, CELLS.edges)[0] / 100.0  # of 2,000 rows
STD = 80.0  # the sum over all cells is lost in it


def n_bins(**known):
    found = []
    for seed in range(60):
        noise = np.random.default_rng(seed).normal(0, STD, CELLS.n_known)
        counts = np.append(TRUTH + noise, 0.0)
        found.append(quantile_bins(CELLS, counts, STD, 150.0, **known).n_known)
    return np.array(found)


def test_a_small_sum_does_not_merge_all_bins():
    assert n_bins().min() <= 2  # the sum of noisy counts may be anything
    assert n_bins(total=2000.0).min() > 4


def held(edges):
    counts = np.histogram(VALUES, edges)[0]
    return counts.max() / len(VALUES)


def test_public_rows_place_bins_where_private_ones_are():
    public = np.append(TRUTH, 0.0)
    most = []
    for expected in (None, public):
        largest = []
        for seed in range(60):
            noise = np.random.default_rng(seed).normal(0, STD, CELLS.n_known)
            counts = np.append(TRUTH + noise, 0.0)
            bins = quantile_bins(CELLS, counts, STD, 150.0, expected, 2000.0)
            largest.append(held(bins.edges))
        most.append(np.mean(largest))
    assert most[1] < 0.5 * most[0]


def test_wrong_public_rows_give_way_to_counts_that_stand_out():
    public = np.append(TRUTH[::-1], 0.0)
    counts = np.append(TRUTH + RNG.normal(0, 1.0, CELLS.n_known), 0.0)
    bins = quantile_bins(CELLS, counts, 1.0, 150.0, public, 2000.0)
    assert held(bins.edges) < 0.2


def test_a_gradual_tree_leaves_its_prior_without_a_jump():
    prior = np.ones(2)
    shares = [
        tree_estimate(np.array([50 + d, 50 - d]), 10.0, prior, is_gradual=True)[0]
        for d in np.linspace(0, 50, 501)
    ]
    assert shares[0] == 50
    assert shares[-1] > 90
    assert np.abs(np.diff(shares)).max() < 0.5
