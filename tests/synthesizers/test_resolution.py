"""How finely pairs are looked at: functions of public and released quantities."""

import inspect
import math
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skdpgen import DPPairwiseSynthesizer
from skdpgen.privacy import Adjacency, Ledger, PrivacyBudget, _release
from skdpgen.synthesizers.opening import cell_scales
from skdpgen.synthesizers.pairwise import _affordable
from skdpgen.synthesizers.pairwise._affordable import (
    GOOD_ROWS_STDS,
    MAX_PAIRS,
    MAX_WIDTH,
    MOST_GROUPS,
    NOISE_KEPT,
    PAIR_BUDGETS,
    affordable_pairs,
    nearest_pairs,
    pair_groups,
    usual_pair_budget,
    worth_measuring,
)
from skdpgen.synthesizers.pairwise._pair_model import to_all_rows
from skdpgen.tables import Boolean, Categorical, Integer, Schema

INF = float("inf")
EPSILONS = (0.01, 0.1, 0.3, 1.0, 3.0, 10.0, 100.0, INF)


def ledger(epsilon, adjacency="replace"):
    return Ledger(PrivacyBudget(epsilon, 1e-5, Adjacency(adjacency)))


@given(st.lists(st.integers(1, 10_000), min_size=1, max_size=30))
@settings(deadline=None)
def test_scales_give_a_row_the_norm_one(sizes):
    scales = cell_scales(sizes)
    assert math.hypot(*scales) == pytest.approx(1.0)
    assert all(scale > 0 for scale in scales)
    order = np.argsort(sizes, kind="stable")
    assert (np.diff(np.array(scales)[order]) >= -1e-12).all()


def test_no_other_scales_have_less_noise():
    sizes = np.array([2, 5, 12, 144])
    least = (sizes / np.square(cell_scales(sizes))).sum()
    rng = np.random.default_rng(0)
    for squares in rng.dirichlet(np.ones(4), size=200):
        assert (sizes / squares).sum() >= least * (1 - 1e-9)


@pytest.mark.parametrize("n_columns", [1, 2, 5, 9])
def test_all_pairs_are_listed_once_neighbours_first(n_columns):
    every = set(combinations(range(n_columns), 2))
    found = nearest_pairs(n_columns, 10**6)
    assert len(found) == len(every)
    assert set(found) == every
    distance = [k - j for j, k in found]
    assert distance == sorted(distance)
    for n_pairs in range(len(every) + 1):
        assert nearest_pairs(n_columns, n_pairs) == found[:n_pairs]


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_more_rows_and_more_budget_afford_more_pairs(adjacency):
    for n_columns in (2, 14, 100):
        every = n_columns * (n_columns - 1) // 2
        by_rows = [
            affordable_pairs(ledger(1.0, adjacency), n, n_columns, 0.5)
            for n in (1, 100, 1000, 10_000, 10**5, 10**6, 10**9)
        ]
        by_budget = [
            affordable_pairs(ledger(epsilon, adjacency), 20_000, n_columns, 0.5)
            for epsilon in EPSILONS
        ]
        for found in (by_rows, by_budget):
            assert found == sorted(found)
            assert found[0] == 0
            assert found[-1] == every
            assert all(n == 0 or n >= n_columns - 1 for n in found)


def test_single_columns_come_first():
    assert affordable_pairs(ledger(1.0), 20_000, 12, 0.5) > 0
    assert affordable_pairs(ledger(1.0), 20_000, 12, 1 - 1e-6) == 0
    assert affordable_pairs(ledger(1.0), 20_000, 12, 1e-6) == 0
    assert affordable_pairs(ledger(1.0), 20_000, 2000, 0.5) == 0


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_pairs_get_more_of_the_budget_with_more_rows(adjacency):
    for n_columns in (1, 14, 1000):
        parts = [
            usual_pair_budget(ledger(1.0, adjacency), n, n_columns)
            for n in (-50.0, 0.0, 1, 100, 1000, 10_000, 10**5, 10**6, 10**9)
        ]
        assert parts == sorted(parts)
        assert (parts[0], parts[-1]) == PAIR_BUDGETS
    assert usual_pair_budget(ledger(INF), 0, 5) == PAIR_BUDGETS[1]


def test_what_columns_get_makes_their_noise_small():
    for n_rows in (3_000, 4_000, 5_000):
        part = usual_pair_budget(ledger(1.0), n_rows, 12)
        if PAIR_BUDGETS[0] < part < PAIR_BUDGETS[1]:
            noise = ledger(1.0).noise_std(share=1 - part, sensitivity=24**0.5)
            assert noise == pytest.approx(n_rows / GOOD_ROWS_STDS)
            break
    else:
        pytest.fail("no number of rows is between the limits")


def test_there_is_nothing_to_pair_with_one_column_or_none_left():
    assert affordable_pairs(ledger(INF), 1000, 1, 0.5) == 0
    assert affordable_pairs(ledger(INF), 1000, 2, 0.5) == 1
    assert affordable_pairs(ledger(INF), 1000, 1000, 0.5) == MAX_PAIRS


@pytest.mark.parametrize("n_rows", [-50.0, 0.0, 0.3])
def test_a_noisy_number_of_rows_may_be_anything(n_rows):
    assert affordable_pairs(ledger(1.0, "add_remove"), n_rows, 5, 0.5) == 0


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_groups_follow_the_noise_within_limits(adjacency):
    found = [
        pair_groups(ledger(epsilon, adjacency), 5000, 12, 66, 1.0)
        for epsilon in EPSILONS
    ]
    assert found == sorted(found)
    assert found[0] == 2
    assert found[-1] == MOST_GROUPS
    for n_columns in (400, 1000, 10**6):
        groups = pair_groups(ledger(INF), 10**9, n_columns, 66, 1.0)
        assert groups == max(MAX_WIDTH // n_columns, 2)


energies = st.lists(
    st.floats(0, 10) | st.just(0.0) | st.floats(1e-12, 1e-6), min_size=1, max_size=12
)


@given(energies, st.integers(0, 2**32 - 1), st.sampled_from([0.0, 1e-6, 0.01, 1e3]))
@settings(deadline=None)
def test_the_choice_of_pairs_is_the_best(strength, seed, variance):
    rng = np.random.default_rng(seed)
    widths = {i: int(n) for i, n in enumerate(rng.integers(4, 145, len(strength)))}
    given = dict(enumerate(strength))
    chosen = worth_measuring(given, widths, variance)
    assert 1 <= len(chosen) == len(set(chosen))
    order = sorted(given, key=lambda pair: -given[pair])
    assert list(chosen) == order[: len(chosen)]

    def loss(n):
        noise = NOISE_KEPT * variance * n * sum(widths[pair] for pair in order[:n])
        return math.fsum(given[pair] for pair in order[n:]) + noise

    best = min(loss(n) for n in range(1, len(order) + 1))
    assert loss(len(chosen)) <= best + 1e-9


def test_without_noise_all_that_is_there_is_measured():
    given = {"a": 1e-3, "b": 2.0, "c": 0.5}
    assert worth_measuring(given, dict.fromkeys(given, 9), 0.0) == ("b", "c", "a")
    assert worth_measuring(given, dict.fromkeys(given, 9), 1e9) == ("b",)


def test_no_decision_is_given_rows():
    for name in (
        "usual_pair_budget",
        "affordable_pairs",
        "pair_groups",
        "worth_measuring",
        "nearest_pairs",
    ):
        known = inspect.signature(getattr(_affordable, name)).parameters
        assert not {"X", "y", "rows", "opening", "batches"} & set(known)


SCHEMA = Schema(
    {
        "kind": Categorical(tuple("abcdefghijklmnop"), nullable=True),
        "score": Integer(0, 1000, nullable=False),
        "flag": Boolean(nullable=False),
        "level": Integer(0, 30, nullable=False),
    }
)


def table(seed, n=1500):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "kind": rng.choice(
                list("abcdefghijklmnop"), n, p=rng.dirichlet([1.0] * 16)
            ),
            "score": (1000 * rng.beta(*rng.integers(1, 9, 2), n)).astype(int),
            "flag": rng.random(n) < rng.random(),
        }
    )
    X["level"] = X["score"] // 50 if seed else 3
    return X, np.where(rng.random(n) < rng.random(), "left", "stayed")


@pytest.mark.filterwarnings(
    "ignore::skdpgen.exceptions.SchemaWarning"
)  # of narrow bounds
def test_tables_with_the_same_release_have_the_same_model(monkeypatch):
    """Whatever is decided on the way looks at what was released, not at rows."""

    def fixed(totals, std):
        rng = np.random.default_rng(totals.size)
        return 300 * rng.random(totals.shape) ** 4 + 0 * std

    monkeypatch.setattr(_release, "add_noise", fixed)
    one, two = (
        DPPairwiseSynthesizer(
            30.0,
            schema=SCHEMA,
            classes=["left", "stayed"],
            n_components=10,
            max_iter=5,
            random_state=0,
        ).fit(*table(seed))
        for seed in (0, 1)
    )
    assert len(one.pair_releases_) == 2
    assert str(one.privacy_) == str(two.privacy_)
    for mine, other in zip(one.groups_, two.groups_, strict=True):
        assert mine.of_cell.tolist() == other.of_cell.tolist()
    for mine, other in zip(one.pair_releases_, two.pair_releases_, strict=True):
        assert mine.pairs == other.pairs
        assert mine.scales == other.scales
    assert one.loss_curve_ == two.loss_curve_
    rows = [synth.sample(50, random_state=0)[0] for synth in (one, two)]
    pd.testing.assert_frame_equal(*rows)


def test_noise_in_the_sum_of_a_pair_makes_no_large_factor():
    rng = np.random.default_rng(0)
    counts = rng.multinomial(2000, np.full(384, 1 / 384)).reshape(2, 16, 12)
    assert to_all_rows(counts, 0.0, 2000.0) == pytest.approx(1.0)
    assert to_all_rows(counts, 0.0, 4000.0) == pytest.approx(2.0)
    factors = [
        to_all_rows(counts + rng.normal(0, std, counts.shape), std, 2000.0)
        for std in (1.0, 10.0, 50.0, 100.0, 1000.0)
        for _ in range(200)
    ]
    assert 0.5 < min(factors) <= max(factors) < 2.0
