"""Columns at two levels, and pairs that join groups: what they count and what moves."""

import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from skdpgen import DPPairwiseSynthesizer
from skdpgen.privacy import (
    Adjacency,
    Ledger,
    PrivacyBudget,
    Release,
    insecure_noise_seed,
)
from skdpgen.synthesizers.opening import cell_scales
from skdpgen.synthesizers.pairwise import _two_levels
from skdpgen.synthesizers.pairwise._pair_release import (
    corrected,
    corrected_pair,
    finest_groups,
    pair_levels,
    shared_cells,
    spread_pair,
)
from skdpgen.synthesizers.pairwise._target_parts import (
    bins_from_parts,
    even_parts,
)
from skdpgen.tables import (
    CategoryCells,
    CellGroups,
    Integer,
    NumberCells,
    Numeric,
    Rows,
    Schema,
    each_group,
)
from skdpgen.training import column_counts, pooled_noise

INF = float("inf")
LABELS = [str(i) for i in range(6)]
CELLS = {
    "x": NumberCells(np.linspace(0.0, 1.0, 25), nullable=True),
    "job": CategoryCells(tuple("abcdefghij"), nullable=False),
}
OF_NUMBERS = NumberCells(np.linspace(0.0, 6.0, 13), nullable=False)
OF_LABELS = CategoryCells(tuple(LABELS), nullable=False)


def table(n=400, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(6, size=n)
    x = (y / 6 + rng.random(n)) / 2
    x[::17] = np.nan
    X = pd.DataFrame({"x": x, "job": rng.choice(list("abcdefghij"), size=n)})
    return X.astype({"job": object}), pd.Series(y.astype(str), dtype=object)


def measured(X, y, adjacency, monkeypatch, first=None, task="classification"):
    """Return both releases without noise; the second sees ``first`` as the first."""
    found = []
    plain = _two_levels.release

    def recorded(*args, **params):
        found.append(plain(*args, **params))
        return first if first is not None and len(found) == 1 else found[-1]

    opening = SimpleNamespace(
        rows=Rows.read(X, y, task=task),
        ledger=Ledger(PrivacyBudget(INF, 1e-5, Adjacency(adjacency))),
        facts=SimpleNamespace(n_rows=400, task=task),
        count_earlier=lambda known: None,
    )
    with monkeypatch.context() as patched:
        patched.setattr(_two_levels, "release", recorded)
        labels = OF_LABELS if task == "classification" else OF_NUMBERS
        result = _two_levels.measure_two_levels(
            opening, CELLS, labels, n_groups=5, share=1.0
        )
    return found, result


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_no_row_moves_a_level_further_than_is_claimed(adjacency, monkeypatch):
    X, y = table()
    whole, _ = measured(X, y, adjacency, monkeypatch)
    bound = np.array([one.sensitivity for one in whole])
    largest = np.zeros(2)
    for x in (np.nan, 0.0, 0.99, -1e300):
        for job in ("a", "j", None, "Zweitausendeins"):
            for label in ("0", "5", None, "Geheimnis"):
                near, labels = X.copy(), y.copy()
                near.loc[1], labels.loc[1] = [x, job], label
                if adjacency == "add_remove":
                    near = pd.concat([X, near.iloc[[1]]], ignore_index=True)
                    labels = pd.concat([y, labels.iloc[[1]]], ignore_index=True)
                found, _ = measured(near, labels, adjacency, monkeypatch, whole[0])
                moved = [
                    np.linalg.norm(a.values["columns"] - b.values["columns"])
                    for a, b in zip(found, whole, strict=True)
                ]
                assert (moved <= bound * (1 + 1e-9)).all()
                largest = np.maximum(largest, moved)
    assert (largest > 0.9 * bound).all()  # the search is not blind


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_no_row_moves_parts_of_a_number_further_than_is_claimed(adjacency, monkeypatch):
    X, y = table()
    y = y.astype(float) + np.random.default_rng(1).random(len(y))

    def count(X, y, first=None):
        return measured(X, y, adjacency, monkeypatch, first, task="regression")[0]

    whole = count(X, y)
    weight = 1 / math.sqrt(len(CELLS))
    bound = np.array([one.sensitivity for one in whole])
    largest = np.zeros(2)
    assert len(whole[1].values["target"]) == _two_levels.PARTS_OF_TARGET
    for x, job in ((np.nan, "a"), (0.99, "j"), (-1e300, "Zweitausendeins")):
        for label in (0.0, 0.4, 5.9, np.nan, 1e300):
            near, labels = X.copy(), y.copy()
            near.loc[1], labels.loc[1] = [x, job], label
            if adjacency == "add_remove":
                near = pd.concat([X, near.iloc[[1]]], ignore_index=True)
                labels = pd.concat([y, labels.iloc[[1]]], ignore_index=True)
            moved = [
                math.hypot(
                    np.linalg.norm(a.values["columns"] - b.values["columns"]),
                    weight * np.linalg.norm(a.values["target"] - b.values["target"]),
                )
                for a, b in zip(count(near, labels, whole[0]), whole, strict=True)
            ]
            assert (moved <= bound * (1 + 1e-9)).all()
            largest = np.maximum(largest, moved)
    assert (largest > 0.99 * bound).all()  # the search is not blind


def test_parts_of_a_number_add_up_to_the_counts_of_rows(monkeypatch):
    X, y = table()
    y = y.astype(float) + np.random.default_rng(1).random(len(y))
    found, (_, released, scales) = measured(
        X, y, "replace", monkeypatch, task="regression"
    )
    sizes = [column.n_cells for column in CELLS.values()]
    counts, _ = column_counts(released, sizes, scales)
    of_bins = np.histogram(y, OF_NUMBERS.edges)[0]
    np.testing.assert_allclose(found[0].values["target"][0], of_bins)
    np.testing.assert_allclose(found[1].values["target"].sum(axis=0), of_bins)
    jobs = X["job"].value_counts().reindex(list("abcdefghij"))
    np.testing.assert_allclose(counts[1].sum(axis=0), jobs, rtol=1e-6)
    part = even_parts(of_bins, _two_levels.PARTS_OF_TARGET)
    for block in counts:
        of_parts = np.bincount(part, block.sum(axis=1))
        np.testing.assert_allclose(of_parts, np.bincount(part, of_bins), rtol=1e-6)
    # a column that follows the number: each bin has its own counts, not its part's
    means = counts[0][:, :24] @ np.arange(24) / counts[0][:, :24].sum(axis=1)
    assert np.corrcoef(np.arange(12), means)[0, 1] > 0.98


def test_bins_keep_the_counts_of_parts_and_follow_a_line():
    rng = np.random.default_rng(0)
    bins = rng.uniform(1, 9, 20)
    part = even_parts(bins, 6)
    counts = rng.normal(size=(6, 3))
    found = bins_from_parts(counts, part, bins)
    for cell in range(3):
        np.testing.assert_allclose(np.bincount(part, found[:, cell]), counts[:, cell])
    line = bins * (2 + 3 * np.arange(20))
    of_parts = np.bincount(part, line)[:, None]
    np.testing.assert_allclose(bins_from_parts(of_parts, part, bins)[:, 0], line)


def test_no_bin_has_much_more_noise_than_a_part():
    # parts without rows, or with few, beside heavy ones: smooth counts would explode
    rng = np.random.default_rng(0)
    heavy = np.array([60.0] * 8 + [300.0, 0, 0, 0])
    tables = [heavy, heavy[::-1], np.eye(12)[3] * 400, np.r_[5.0, np.zeros(11)]]
    for _ in range(300):
        bins = rng.gamma(rng.choice([0.2, 1, 5]), 1000, rng.integers(11, 36))
        tables.append(bins * rng.choice([0, 1], len(bins), p=[0.2, 0.8]) + 1e-3)
    for bins in tables:
        part = even_parts(bins, 10)
        counts = rng.normal(size=(int(part.max()) + 1, 2))
        found = bins_from_parts(counts, part, bins)
        limit = 1.6 * np.linalg.norm(counts, axis=0)
        assert (np.abs(found) <= limit).all()
        for cell in range(2):
            sums = np.bincount(part, found[:, cell])
            np.testing.assert_allclose(sums, counts[:, cell], atol=5e-3)


@pytest.mark.filterwarnings("ignore:insecure_noise_seed")
def test_a_number_with_heavy_values_and_gaps_between_them_is_kept():
    rng, n = np.random.default_rng(0), 3000
    X = pd.DataFrame(rng.normal(size=(n, 8)).clip(-5, 5)).rename(columns=str)
    shares = {0: 0.05, 1: 0.05, 4: 0.2, 8: 0.5, 12: 0.2}
    y = pd.Series(rng.choice(list(shares), n, p=list(shares.values())))
    schema = Schema(dict.fromkeys(X, Numeric(-5, 5)), target=Integer(0, 14))
    for seed in range(3):
        with insecure_noise_seed(seed):
            fit = DPPairwiseSynthesizer(
                1.0, schema=schema, task="regression", max_iter=5, random_state=0
            ).fit(X, y)
        names = [one.name for one in fit.privacy_.releases]
        assert "groups of 8 columns by parts of the target" in names
        drawn = fit.sample(n, random_state=0)[1].value_counts(normalize=True)
        for value, share in shares.items():
            assert abs(drawn.get(value, 0.0) - share) < 0.1


def test_levels_add_up_to_the_counts_of_rows(monkeypatch):
    X, y = table()
    _, (_, released, scales) = measured(X, y, "replace", monkeypatch)
    sizes = [column.n_cells for column in CELLS.values()]
    counts, _ = column_counts(released, sizes, scales)
    for block in counts:
        by_class = y.value_counts().reindex(LABELS)
        np.testing.assert_allclose(block.sum(axis=1), by_class, rtol=1e-6)
    jobs = X["job"].value_counts().reindex(list("abcdefghij"))
    np.testing.assert_allclose(counts[1].sum(axis=0), jobs, rtol=1e-6)


def test_a_group_of_one_cell_has_the_noise_of_a_group():
    # as missing values are counted; a cell of a group of eight has less
    rng = np.random.default_rng(0)
    groups = [CellGroups(np.repeat([0, 1, 2], [8, 3, 1]), 3, 2)]
    truth, n_classes, scale = rng.uniform(20, 60, (5, 12)), 5, 0.5
    sums = groups[0].add_up(truth)
    marginal = truth.sum(axis=0) / truth.sum()
    noise = 1.5 * rng.normal(size=(2000, *sums.shape))
    errors = []
    for one in noise:
        released, scales = _two_levels.spread_groups(
            Release({"columns": scale * sums + one}, {"columns": 1.5}, 1, 1, "replace"),
            [scale],
            groups,
            [marginal],
        )
        (counts,), stds = column_counts(released, [12], scales)
        errors.append(counts.sum(axis=0) - truth.sum(axis=0))
    (stated,) = pooled_noise(released, [counts], stds)
    assert stated[11] == pytest.approx(np.sqrt(n_classes) * 1.5 / scale, rel=1e-6)
    assert np.std(errors, axis=0)[11] == pytest.approx(stated[11], rel=0.1)
    assert (stated[:11] == stated[0]).all()
    assert stated[0] == pytest.approx(stated[11] / 2)  # 12 cells, 3 groups


@pytest.mark.filterwarnings("ignore::skdpgen.exceptions.NotPrivateWarning")
def test_the_report_of_two_levels_states_the_noise_of_all_rows():
    X, y = table(6_000)
    X = X.assign(z=X["x"] ** 2, u=X["x"] + 1)
    with insecure_noise_seed(0):
        synth = DPPairwiseSynthesizer(
            1.0, delta=1e-5, classes=LABELS, max_iter=0, random_state=0
        ).fit(X, y)
    line, fine = synth.columns_.loc["z"], synth._measured.fine
    place = list(synth.cells_).index("z")
    scale = cell_scales([one.n_cells for one in synth.cells_.values()])[place]
    noise = fine.noise_std["columns"] / scale / len(X)
    assert line["missing_noise"] == pytest.approx(noise, rel=0.02)
    assert abs(line["missing"] - X["z"].isna().mean()) < 5 * noise  # seeded


def test_many_classes_are_counted_at_two_levels():
    X, y = table(6_000)
    synth = DPPairwiseSynthesizer(1.0, classes=LABELS, max_iter=5, random_state=0)
    synth.fit(X.assign(z=X["x"] ** 2, u=X["x"] + 1), y)
    names = [entry.name for entry in synth.privacy_.releases]
    assert any(name.startswith("groups of 4 columns by class") for name in names)
    assert sum(entry.share for entry in synth.privacy_.releases) == pytest.approx(1.0)
    few = DPPairwiseSynthesizer(50.0, classes=LABELS, max_iter=5, random_state=0)
    few.fit(X, y)
    assert not any("groups of" in entry.name for entry in few.privacy_.releases)


# ----------------------------------------------------------------- levels of pairs


@pytest.mark.parametrize("n_groups", [2, 5, 12])
def test_a_pair_has_no_more_cells_than_even_groups_would(n_groups):
    for first in range(1, 30):
        for second in range(1, 30):
            a, b = shared_cells(first, second, n_groups)
            assert a * b <= n_groups**2
            assert min(first, n_groups) <= a <= first
            assert min(second, n_groups) <= b <= second
            assert (b, a) == shared_cells(second, first, n_groups)


def test_wide_tables_are_looked_at_no_finer_than_before():
    assert finest_groups(10, 6) == 18
    assert finest_groups(200, 6) == 6
    assert finest_groups(5, 12) == 24


def test_joined_groups_keep_sums_and_shapes():
    groups = [each_group(CellGroups(np.arange(n), n, n)) for n in (18, 2, 18)]
    shares = [np.full(n, 1 / n) for n in (18, 2, 18)]
    levels = pair_levels(groups, shares, [(0, 1), (0, 2)], 6)
    sizes = [tuple(one.n_groups for one in pair) for pair in levels]
    assert sizes == [(18, 2), (6, 6)]
    seen = np.random.default_rng(0).normal(size=(6, 6))
    spread = spread_pair(seen, levels[1], (shares[0], shares[2]))
    back = levels[1][1].add_up(levels[1][0].add_up(spread.T).T)
    np.testing.assert_allclose(back, seen)


def test_sums_correct_their_parts_as_least_squares_would():
    """Against the normal equations of all cells of all classes."""
    rng = np.random.default_rng(1)
    level, of_class = (
        CellGroups(np.array([0, 0, 0, 1, 1, 1]), 2, 6),
        np.array([0, 1, 0]),
    )
    covariance = np.array([[9.0, -2.0, 0.0], [-2.0, 8.0, 1.0], [0.0, 1.0, 7.0]])
    mean, sums = rng.normal(size=(3, 6)), rng.normal(size=(2, 2))
    found, remaining = corrected(mean, covariance, sums, 4.0, level, of_class)
    adds_up = np.kron(np.eye(2)[of_class], np.eye(2)[level.of_cell]).T
    before = np.kron(covariance, np.eye(6))
    gain = (
        before
        @ adds_up.T
        @ np.linalg.inv(adds_up @ before @ adds_up.T + 4.0 * np.eye(4))
    )
    expected = mean.ravel() + gain @ (sums.ravel() - adds_up @ mean.ravel())
    after = (before - gain @ adds_up @ before).reshape(3, 6, 3, 6)
    np.testing.assert_allclose(found.ravel(), expected)
    np.testing.assert_allclose(remaining, np.einsum("cgdg->cd", after) / 6)


def test_a_coarse_table_corrects_a_fine_one_as_least_squares_would():
    """Against the normal equations of all cells of a pair."""
    rng = np.random.default_rng(2)
    sides = (
        CellGroups(np.array([0, 0, 1, 1, 1]), 2, 5),
        CellGroups(np.array([0, 1, 1]), 2, 0),
    )
    table, sums = rng.normal(size=(5, 3)), rng.normal(size=(2, 2))
    found, remaining = corrected_pair(table, 3.0, sums, 2.0, sides)
    adds_up = np.kron(np.eye(2)[sides[0].of_cell], np.eye(2)[sides[1].of_cell]).T
    inverse = np.linalg.inv(3.0 * adds_up @ adds_up.T + 2.0 * np.eye(4))
    gain = 3.0 * adds_up.T @ inverse
    expected = table.ravel() + gain @ (sums.ravel() - adds_up @ table.ravel())
    after = 3.0 * np.eye(15) - gain @ adds_up * 3.0
    np.testing.assert_allclose(found.ravel(), expected)
    assert remaining == pytest.approx(np.trace(after) / 15)
    unchanged, none_left = corrected_pair(table, 0.0, sums, 0.0, sides)
    np.testing.assert_array_equal(unchanged, table)
    assert none_left == 0.0


@pytest.mark.filterwarnings("ignore::skdpgen.exceptions.NotPrivateWarning")
def test_strong_pairs_are_counted_finely_and_weak_ones_as_before():
    rng = np.random.default_rng(0)
    a = rng.normal(size=8_000)
    X = pd.DataFrame(
        {
            "a": a,
            "b": a + 0.01 * rng.normal(size=8_000),
            "c": rng.normal(size=8_000),
            "d": 0.5 * a + rng.normal(size=8_000),
        }
    )
    bounds = Schema({name: Numeric(-4.0, 4.0) for name in X})
    with insecure_noise_seed(0):
        synth = DPPairwiseSynthesizer(1.0, delta=1e-5, schema=bounds, random_state=0)
        synth.fit(X)
    first, last = (
        {pair: table.shape[1:] for pair, _, table, _ in one.tables(synth.groups_)}
        for one in synth.pair_releases_
    )
    whole = tuple(synth.groups_[j].n_groups for j in (0, 1))
    assert last[0, 1] == whole != first[0, 1]
    assert all(last[pair] in (first[pair], whole) for pair in last)
    assert last[0, 3] == first[0, 3]  # it would have more noise than relation


def test_a_sum_over_all_classes_leaves_their_differences():
    level, pooled = CellGroups(np.arange(2), 2, 2), np.zeros(3, np.int64)
    mean = np.array([[1.0, 2.0], [3.0, 5.0], [0.0, 0.0]])
    found, _ = corrected(mean, np.eye(3), np.array([[10.0, 1.0]]), 1e-9, level, pooled)
    np.testing.assert_allclose(found.sum(axis=0), [10.0, 1.0])
    np.testing.assert_allclose(np.diff(found, axis=0), np.diff(mean, axis=0))
