"""Single columns together: relations of public rows, used against noise."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from skdpgen.synthesizers.pairwise import _public_relations
from skdpgen.synthesizers.pairwise._public_relations import with_relations
from skdpgen.tables import CellGroups
from skdpgen.training import RelatedColumns, columns_together
from skdpgen.training._columns_together import fit_parts, log_given_others

N, SIZES = 2000, (6, 6, 4, 5)
SHARES = np.array([0.7, 0.3])


def rows(n, tilt=0.0, seed=0, mixed=False):
    """Return labels and cells of columns that follow the first; a tilt moves all."""
    rng = np.random.default_rng(seed)
    labels = rng.choice(2, n, p=SHARES)
    weights = np.exp(tilt * np.arange(6) / 5)
    first = rng.choice(6, n, p=weights / weights.sum())
    first = np.where(rng.random(n) < 0.2 * labels, 5, first)
    columns = []
    for size in SIZES:
        same = rng.random(n) < 0.9
        columns.append(np.where(same, first % size, rng.integers(0, size, n)))
    if mixed:
        columns = [rng.permutation(one) for one in columns]
    return labels, columns


def counts(labels, columns):
    """Return counts of all pairs of cells by class."""
    one_hot = np.concatenate(
        [np.eye(k)[one] for k, one in zip(SIZES, columns, strict=True)], axis=1
    )
    return np.array([one_hot[labels == c].T @ one_hot[labels == c] for c in (0, 1)])


def split(tables):
    return np.split(tables, np.cumsum(SIZES)[:-1], axis=1)


def seen(public, noise=25.0, seed=1):
    """Return noisy counts of tilted private rows, and their true shares."""
    truth = np.diagonal(counts(*rows(200_000, 1.0, seed=5)), axis1=1, axis2=2)
    exact = np.diagonal(counts(*rows(N, 1.0, seed=seed)), axis1=1, axis2=2)
    noisy = exact + noise * np.random.default_rng(seed).normal(size=exact.shape)
    about = [noise**2] * len(SIZES), SHARES, float(N), public, [0] * len(SIZES)
    given = [one / one.sum(axis=1, keepdims=True) for one in split(truth)]
    return RelatedColumns(split(noisy), *about), given


def error(tables, truth):
    return np.mean([np.abs(a - b).sum() for a, b in zip(tables, truth, strict=True)])


def test_relations_tell_a_column_of_the_noise_of_others():
    related, unrelated = [], []
    for seed in range(5):
        for found, mixed in ((related, False), (unrelated, True)):
            public = counts(*rows(20_000, seed=3, mixed=mixed))
            given, truth = seen(public, seed=seed)
            tables, trust = columns_together(given)
            found.append(error(tables, truth))
            assert mixed or trust.min() > 0.9
    assert np.mean(related) < 0.8 * np.mean(unrelated)


def test_columns_of_which_public_rows_are_wrong_are_not_trusted():
    labels, columns = rows(20_000, seed=3)
    strange = [
        np.array([k - 1, 0, *range(1, k - 1)])[one] // 3 * 2 % k
        for k, one in zip(SIZES, columns, strict=True)
    ]
    given, _ = seen(counts(labels, strange), noise=5.0)
    _, trust = columns_together(given)
    assert trust.max() < 0.1


def test_covariances_are_ones_even_where_cells_are_missing():
    """Of rows without a cell in some columns they are left with sums of 0."""
    labels, columns = rows(500, seed=2)
    pairs = counts(labels, columns)
    rng = np.random.default_rng(0)
    one_hot = np.concatenate(
        [np.eye(k)[one] for k, one in zip(SIZES, columns, strict=True)], axis=1
    )
    for place in (slice(0, 6), slice(12, 16)):
        one_hot[rng.random(500) < 0.5, place] = 0.0
    pairs[0] = one_hot[labels == 0].T @ one_hot[labels == 0]
    given, _ = seen(pairs)
    public, covariances = given.public
    assert np.linalg.eigvalsh(covariances).min() > -1e-12
    assert np.allclose(np.add.reduceat(public, [0, 6, 12, 16], axis=1), 1.0)
    for one in given.slices:
        assert np.abs(covariances[:, one].sum(axis=1)).max() < 1e-12


def test_no_public_rows_change_nothing():
    """Without relations or shares to tell, even cells are what is expected."""
    given, _ = seen(np.zeros((2, sum(SIZES), sum(SIZES))))
    tables, trust = columns_together(given)
    assert all(np.allclose(one, 1 / one.shape[1]) for one in tables)
    assert trust.max() < 0.1


@pytest.mark.parametrize("noise", [0.0, 1e-9, 1e9])
def test_any_noise_is_survived(noise):
    given, _ = seen(counts(*rows(20_000, seed=3)), noise=noise)
    tables, trust = columns_together(given)
    assert np.isfinite(trust).all()
    for one in tables:
        assert np.allclose(one.sum(axis=1), 1.0)
    if noise < 1:  # what is left is that rows are a sample
        exact = [one / one.sum(axis=1, keepdims=True) for one in given.counts]
        assert error(tables, exact) < 0.1


@pytest.mark.parametrize("most", [500, 20])  # by class; all classes together
@pytest.mark.parametrize("has_labels", [True, False])
def test_public_rows_with_and_without_labels(has_labels, most, monkeypatch):
    monkeypatch.setattr(_public_relations, "MOST_GROUPS", most)
    public = counts(*rows(20_000, seed=3))
    given, truth = seen(public)
    groups = [CellGroups(np.arange(k, dtype=np.int32), k, 0) for k in SIZES]
    alone = [np.maximum(one, 1.0) for one in given.counts]
    alone = [one / one.sum(axis=1, keepdims=True) for one in alone]
    alone[3][:, 4] = 0.0  # known to be empty
    alone[3] /= alone[3].sum(axis=1, keepdims=True)
    pairs = public if has_labels else public.sum(axis=0, keepdims=True)
    about = given.counts, given.variances, alone, SHARES, float(N), pairs
    found = with_relations(groups, *about)
    assert all(np.allclose(one.sum(axis=1), 1.0) for one in found)
    assert (found[3][:, 4] == 0).all()
    assert error(found[:3], truth[:3]) < error(alone[:3], truth[:3])


def test_classes_differ_in_what_goes_together(monkeypatch):
    """Without public labels, too: relations smooth how far classes are apart."""
    public = counts(*rows(20_000, seed=3)).sum(axis=0, keepdims=True)
    groups = [CellGroups(np.arange(k, dtype=np.int32), k, 0) for k in SIZES]
    errors = {500: [], 20: []}
    for seed in range(5):
        given, truth = seen(public, noise=60.0, seed=seed)
        alone = [np.maximum(one, 1.0) for one in given.counts]
        alone = [one / one.sum(axis=1, keepdims=True) for one in alone]
        about = given.counts, given.variances, alone, SHARES, float(N), public
        for most, found in errors.items():
            monkeypatch.setattr(_public_relations, "MOST_GROUPS", most)
            tables = with_relations(groups, *about)
            apart = [[one[1] - one[0] for one in side] for side in (tables, truth)]
            found.append(error(*apart))
    assert np.mean(errors[500]) < 0.8 * np.mean(errors[20])


def test_a_class_without_rows_stays_as_it_is(monkeypatch):
    public = counts(*rows(20_000, seed=3)).sum(axis=0, keepdims=True)
    groups = [CellGroups(np.arange(k, dtype=np.int32), k, 0) for k in SIZES]
    given, _ = seen(public, noise=60.0, seed=0)
    alone = [np.maximum(one, 1.0) for one in given.counts]
    alone = [one / one.sum(axis=1, keepdims=True) for one in alone]
    monkeypatch.setattr(_public_relations, "MOST_GROUPS", 30)  # classes together
    shares = np.array([1.0, 0.0])
    about = given.counts, given.variances, alone, shares, float(N), public
    for table, single in zip(with_relations(groups, *about), alone, strict=True):
        np.testing.assert_allclose(table[1], single[1])
        np.testing.assert_allclose(table.sum(axis=1), 1.0)


def factors(rng):
    return [rng.normal(size=(12, 3)), rng.normal(size=(12, 2))]


def test_each_step_raises_the_evidence(monkeypatch):
    rng = np.random.default_rng(0)
    parts = factors(rng)
    given = 3.0 * parts[0] @ rng.normal(size=3) + rng.normal(size=12)
    module = "skdpgen.training._columns_together."
    monkeypatch.setattr(module + "FAMILY_COUNT", 0.0)
    logs = []
    for n_steps in (0, 1, 2, 5, 25):
        monkeypatch.setattr(module + "VARIANCE_STEPS", n_steps)
        logs.append(fit_parts(given, np.eye(12), parts, np.arange(2)).log_evidence)
    assert (np.diff(logs) > -1e-9).all()
    assert logs[-1] > logs[0]


def test_evidence_of_a_block_is_that_of_all_less_that_of_the_others():
    rng = np.random.default_rng(1)
    parts, given = factors(rng), rng.normal(size=12)
    covariance = np.eye(12) + sum(one @ one.T for one in parts)
    block, others = np.arange(3), np.arange(3, 12)
    (found,) = log_given_others(given, np.linalg.inv(covariance), [block])
    whole = multivariate_normal.logpdf(given, cov=covariance)
    rest = covariance[np.ix_(others, others)]
    expected = whole - multivariate_normal.logpdf(given[others], cov=rest)
    assert found - 1.5 * np.log(2 * np.pi) == pytest.approx(expected)
