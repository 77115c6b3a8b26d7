"""DP-Pairwise: what columns say only together, at its price, and nothing else."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from skdpgen import DPPairwiseSynthesizer
from skdpgen.datasets import load_example, make_parity
from skdpgen.privacy import Adjacency, Ledger, PrivacyBudget
from skdpgen.synthesizers.pairwise._parities import (
    MOST_SHARE,
    ParityPlan,
    affordable_orders,
    cut_at_half,
    halves,
    measure_parities,
)
from skdpgen.tables import CellGroups, Rows, Schema
from skdpgen.training import mixture_parities, significant_parities
from tests._covering import parametrize_pairs
from tests._seeded import same_noise

both = pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
CLASSES = ["even", "odd"]


def fitted(X, y, epsilon=3.0, **params):
    known = {"classes": CLASSES, "random_state": 0, "max_iter": 80, "n_components": 64}
    with same_noise():
        return DPPairwiseSynthesizer(epsilon, **known | params).fit(X, y)


def strength(X, y, k, middle=0.5):
    signs = np.where(X.to_numpy(dtype=float)[:, :k] > middle, -1, 1)
    return float((signs.prod(axis=1) * np.where(y == "odd", -1, 1)).mean())


class Again:
    """What a release reads: rows, and a ledger that adds no noise."""

    def __init__(self, synth, X, y):
        self.rows = Rows.read(X, y)
        budget = PrivacyBudget(math.inf, 1e-5, Adjacency(synth.adjacency))
        self.ledger = Ledger(budget)


def exactly(synth, X, y):
    """Return the sums of a fit, anew from rows and without noise."""
    one = synth.parity_release_
    plan = ParityPlan(one.of_class, one.orders, 1.0)
    given = (synth.cells_, synth._labels, synth._model.known, synth.groups_)
    again = measure_parities(Again(synth, X, y), *given, plan, signs=one.signs)
    return again.released.values["parities"]


def entry_of(synth):
    (entry,) = (e for e in synth.privacy_.releases if e.name.startswith("parities"))
    return entry


# ------------------------------------------------------------------- what is learnt


@parametrize_pairs("k, adjacency", [2, 3, 5], ["replace", "add_remove"], strength=1)
def test_a_parity_is_learnt(k, adjacency):
    X, y = make_parity(6000, n_columns=6, n_in_parity=k)
    synth = fitted(X, y, adjacency=adjacency)
    assert strength(*synth.sample(4000), k) > 0.8
    assert entry_of(synth).share <= 0.05 * (1 + 1e-9)


def test_a_parity_of_numbers_is_learnt():
    X, y = make_parity(4000, n_columns=4, are_numbers=True)
    synth = fitted(X, y, epsilon=6.0, max_iter=100)
    assert strength(*synth.sample(4000), 3, middle=0.0) < -0.7  # below 0 is odd


def test_a_parity_of_columns_alone_is_learnt():
    X, y = make_parity(6000, n_columns=5)
    X = X.assign(parity=(y == "odd").astype(int))
    drawn = fitted(X, None, classes=None).sample(4000)
    assert (
        abs(np.prod(1 - 2 * drawn[["x0", "x1", "x2", "parity"]], axis=1).mean()) > 0.8
    )


def test_conditions_tell_the_rest():
    X, y = make_parity(6000, n_columns=5)
    _, labels = fitted(X, y).sample(conditions=X[:1000])
    assert (labels.to_numpy() == y[:1000].to_numpy()).mean() > 0.9


def test_where_nothing_is_lacking_the_mixture_is_what_it_was():
    X, y = make_parity(6000, n_columns=6, noise=1.0)
    synth = fitted(X, y)
    with_parities = synth.sample(200, random_state=1)
    measured = replace(synth._fitted.measured, parity_release=None)
    synth._fitted = replace(synth._fitted, measured=measured)
    without = synth.retrain().sample(200, random_state=1)
    assert all(one.equals(two) for one, two in zip(with_parities, without, strict=True))


def test_noise_alone_shows_no_parity():
    rng = np.random.default_rng(0)
    found = 0
    for _ in range(200):
        sums = rng.normal(0, 50.0, size=(2, 300))
        found += len(
            significant_parities(sums, 50.0, np.zeros((2, 300)), np.full(2, 1000.0))[0]
        )
    assert found <= 8  # one in a hundred is 2


def test_few_rows_of_a_class_say_little_of_it():
    sums = np.array([[5000.0], [900.0]])  # the second is noise, of a class of 50
    _, shifts = significant_parities(
        sums, 700.0, np.zeros((2, 1)), np.array([5000.0, 50.0])
    )
    assert shifts[0, 0] > 0.8
    assert abs(shifts[1, 0]) < 0.1


def test_parities_of_a_mixture_are_exact():
    means = np.random.default_rng(0).uniform(-1, 1, size=(4, 2, 3))
    found = mixture_parities(means, (2, 3))
    assert found.shape == (2, 10)
    assert found[1, 0] == pytest.approx((means[0, 1] * means[1, 1]).mean())
    assert found[0, -1] == pytest.approx(means[1:, 0].prod(axis=0).mean())


# ------------------------------------------------------------------- what it costs


def ledger(epsilon, adjacency="replace"):
    return Ledger(PrivacyBudget(epsilon, 1e-5, Adjacency(adjacency)))


def test_no_more_is_asked_than_can_be_told_from_noise():
    asked = {n: affordable_orders(ledger(1.0), n, 10, 2) for n in (500, 5000, 1e6)}
    assert asked[500] == ((), 0.0)
    assert 2 < asked[5000][0][-1] < asked[1e6][0][-1] == 7
    assert asked[1e6][1] < 0.001  # a million rows show it for next to nothing
    assert all(share <= MOST_SHARE for _, share in asked.values())


def test_wide_tables_are_asked_less_and_then_nothing():
    asked = [affordable_orders(ledger(1.0), 1e7, d, 2)[0] for d in (2, 12, 30, 60)]
    assert asked == [(), (2, 3, 4, 5, 6, 7), (2, 3), ()]


def test_without_noise_nothing_is_divided_by_it():
    orders, share = affordable_orders(ledger(math.inf), 100, 5, 2)
    assert orders == (2, 3, 4, 5)
    assert 0 < share <= MOST_SHARE


def test_nothing_is_paid_where_rows_are_too_few():
    X, y = make_parity(2500, n_columns=8)
    synth = fitted(X, y, epsilon=1.0)
    assert synth.pair_releases_
    assert synth.parity_release_ is None
    assert not any("parities" in e.name for e in synth.privacy_.releases)


def test_an_asked_number_of_groups_is_kept():
    X, y = make_parity(3000, n_columns=4, are_numbers=True)
    synth = fitted(X, y, epsilon=6.0, n_groups=5, max_iter=2)
    assert synth.parity_release_ is not None
    assert max(one.n_groups for one in synth.groups_) == 5


@pytest.mark.parametrize("n_ordered", [0, 5])
def test_halves_are_halves(n_ordered):
    mass = np.random.default_rng(0).dirichlet(np.ones(6) * 20)
    signs = halves(CellGroups(np.arange(6), 6, n_ordered), mass)
    assert set(signs) == {-1.0, 1.0}
    assert abs(signs @ mass) < 0.2
    assert (np.diff(signs[:n_ordered]) != 0).sum() <= 1  # numbers are cut once


def test_a_cut_at_the_middle_leaves_groups_in_order():
    groups = CellGroups(np.array([0, 0, 1, 1, 1, 2, 3]), 4, 3)  # the last is "missing"
    cut = cut_at_half(groups, np.full(7, 1 / 7))
    assert cut.of_cell.tolist() == [0, 0, 1, 2, 2, 3, 4]
    assert (cut.n_groups, cut.n_ordered) == (5, 4)


# ------------------------------------------------------------- how far one row goes


def test_noise_is_as_large_as_is_said():
    X, y = make_parity(3000, n_columns=7)
    synth = fitted(X, y, epsilon=30.0, max_iter=2)
    released = synth.parity_release_.released
    std = released.noise_std["parities"]
    assert entry_of(synth).noise_std == pytest.approx(std)
    noise = ((released.values["parities"] - exactly(synth, X, y)) / std).ravel()
    assert (noise**2).mean() == pytest.approx(1.0, abs=6 * math.sqrt(2 / len(noise)))


@both
def test_no_row_moves_parities_further_than_is_claimed(adjacency):
    X, y = load_example(1500)
    X = X[["age", "job", "income", "owns_home"]]
    X = X.astype({"age": float, "job": object, "owns_home": "boolean"})
    known = {"schema": Schema.infer(X), "classes": ["left", "stayed"], "max_iter": 2}
    synth = DPPairwiseSynthesizer(30.0, **known, adjacency=adjacency, random_state=0)
    synth.fit(X, y.astype(object))
    bound, largest = entry_of(synth).sensitivity, 0.0
    whole = exactly(synth, X, y)
    for age in (np.nan, -1e300, 18.0, 92.0):
        for job in (None, "Zweitausendeins", "student", "office"):
            for income in (np.nan, -np.inf, 1e300):
                near, labels = X.copy(), y.astype(object)
                near.iloc[0] = [age, job, income, None if job is None else age == 18.0]
                labels.iloc[0] = {"student": None, "office": "left"}.get(job, "stayed")
                if adjacency == "add_remove":
                    near = pd.concat([X, near.iloc[[0]]])
                    labels = pd.concat([y, labels.iloc[[0]]])
                moved = np.linalg.norm(exactly(synth, near, labels) - whole)
                assert moved <= bound * (1 + 1e-9)
                largest = max(largest, float(moved))
    assert largest > 0.9 * bound  # the search is not blind
