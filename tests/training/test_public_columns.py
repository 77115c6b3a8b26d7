"""Public rows as a prior: they help if they are right, and do no harm if not."""

import numpy as np
import pytest

from skdpgen.training import (
    ClassConditional,
    NoisyColumn,
    conditional_histogram,
    pooled_trust,
    public_shares,
    raked,
    shrunk_to_public,
)

N, STD, N_COLUMNS = 2000.0, 60.0, 8
TOTALS = np.array([1400.0, 600.0])


def truth(rng, n_cells=10):
    """Return a column in two classes, and the same in another place."""
    base = rng.dirichlet(np.full(n_cells, 0.8))
    lift = np.exp(rng.normal(0, 0.5, (2, n_cells)))
    there = np.exp(rng.normal(0, 0.15, n_cells))
    tables = [base * lift, base * there * lift]
    return [table / table.sum(axis=1, keepdims=True) for table in tables]


def errors(make_public, n_repeats=20):
    """Return mean errors of columns by class: as without public rows, and with them."""
    found = []
    for seed in range(n_repeats):
        rng = np.random.default_rng(seed)
        pairs = [truth(rng) for _ in range(N_COLUMNS)]
        seen, today = {}, {}
        for name, (here, there) in enumerate(pairs):
            counts = TOTALS[:, None] * here + rng.normal(0, STD, here.shape)
            public = make_public(rng, there)
            seen[name] = NoisyColumn(counts, STD, 0, public)
            today[name] = conditional_histogram(counts, STD, TOTALS, n_ordered=0)
        before = ClassConditional(
            TOTALS,
            STD,
            {name: marginal for name, (marginal, _) in today.items()},
            {name: table for name, (_, table) in today.items()},
        )
        after = shrunk_to_public(before, seen)
        found.append(
            [
                np.mean(
                    [
                        np.abs(one.conditionals[name] - here).sum()
                        for name, (here, _) in enumerate(pairs)
                    ]
                )
                for one in (before, after)
            ]
        )
        for table in after.conditionals.values():
            assert (table >= 0).all()
            np.testing.assert_allclose(table.sum(axis=1), 1.0)
    return np.mean(found, axis=0)


def test_public_rows_that_are_nearly_right_help_much():
    before, after = errors(lambda rng, there: rng.poisson(10_000 * there) * 1.0)
    assert after < 0.6 * before


def test_without_labels_they_help_less():
    before, after = errors(lambda rng, there: 10_000 * there.sum(axis=0)[None])
    assert 0.5 * before < after < 0.9 * before


@pytest.mark.parametrize("is_labelled", [True, False])
def test_public_rows_of_something_else_do_no_harm(is_labelled):
    def other(rng, there):
        table = 10_000 * rng.dirichlet(np.full(there.shape[1], 0.3), len(there))
        return table if is_labelled else table[:1]

    before, after = errors(other)
    assert after < 1.03 * before


def test_few_public_rows_say_little():
    before, many = errors(lambda rng, there: rng.poisson(10_000 * there) * 1.0)
    _, few = errors(lambda rng, there: rng.poisson(100 * there) * 1.0)
    assert many < few < 1.03 * before


def test_a_cell_found_to_be_empty_stays_empty():
    rng = np.random.default_rng(0)
    counts = TOTALS[:, None] * truth(rng)[0]
    counts[:, 3] = -np.inf
    marginal, table = conditional_histogram(counts, STD, TOTALS, n_ordered=0)
    before = ClassConditional(TOTALS, STD, {"a": marginal}, {"a": table})
    public = np.full(counts.shape, 50.0)
    after = shrunk_to_public(before, {"a": NoisyColumn(counts, STD, 0, public)})
    assert after.marginals["a"][3] == 0
    assert (after.conditionals["a"][:, 3] == 0).all()


def test_raking_keeps_odds_ratios():
    table = np.array([[4.0, 2.0], [1.0, 3.0]])
    found = raked(table, np.array([0.5, 0.5]), np.array([0.8, 0.2]))
    np.testing.assert_allclose(found.sum(axis=1), 0.5)
    np.testing.assert_allclose(found.sum(axis=0), [0.8, 0.2], atol=1e-6)
    odds = [t[0, 0] * t[1, 1] / (t[0, 1] * t[1, 0]) for t in (table, found)]
    assert odds[0] == pytest.approx(odds[1])


def test_raking_takes_margins_of_zero():
    found = raked(np.ones((2, 3)), np.array([1.0, 0.0]), np.array([0.5, 0.5, 0.0]))
    np.testing.assert_allclose(found, [[0.5, 0.5, 0], [0, 0, 0]], atol=1e-9)


def test_trust_that_nothing_tells_is_nine_in_ten():
    each, overall = pooled_trust(np.zeros(5))
    np.testing.assert_allclose(each, 0.9)
    assert overall == pytest.approx(0.9)
    assert pooled_trust(np.zeros(0))[1] == pytest.approx(0.9)


def test_evidence_wins_against_what_is_imagined():
    each, overall = pooled_trust(np.full(20, -20.0))
    assert (each < 1e-6).all()
    assert overall < 0.4


def test_public_shares_are_shares():
    marginal, given = public_shares(np.zeros((2, 4)))
    np.testing.assert_allclose(marginal, 0.25)
    np.testing.assert_allclose(given, 0.25)
