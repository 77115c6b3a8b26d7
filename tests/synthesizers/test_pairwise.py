"""DP-Pairwise: what is released, what it costs, and what is free afterwards."""

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
import torch

from skdpgen import DPPairwiseSynthesizer
from skdpgen import load as load_estimator
from skdpgen.datasets import load_example
from skdpgen.synthesizers.pairwise import _measuring, _mixtures, usual_components
from skdpgen.synthesizers.pairwise._measuring import BY_CLASS
from skdpgen.tables import Boolean, Chunks, Integer, Numeric, Rows, Schema
from tests._seeded import same_noise
from tests.synthesizers._tables import CASES, Case, assert_obeys, build, split

INF = float("inf")
KEPT = ["age", "education", "income", "owns_home", "complaints"]
FEW = Case(CASES["mixed"].X[KEPT], CASES["mixed"].y, None, ("left", "stayed"))
FEW = replace(FEW, schema=Schema.infer(FEW.X))
SMALL = {"max_iter": 12, "n_components": 20}


def fitted(case=FEW, **params):
    """Return a fit with enough budget for pairs, trained little."""
    given = {"epsilon": 100.0} | SMALL | params
    return build(DPPairwiseSynthesizer, case, **given).fit(case.X, case.y)


@cache
def shared(case=FEW, **params):
    """Return a fit that nobody changes."""
    return fitted(case, **params)


def tables_of(synth):
    return {name: table.copy() for name, table in synth._model.tables.items()}


def same_model(one, two):
    return one.keys() == two.keys() and all(
        np.array_equal(one[name], two[name]) for name in one
    )


def was_by_class(synth):
    entries = synth.privacy_.releases[-len(synth.pair_releases_) :]
    return [entry.name.endswith("by class") for entry in entries]


def claims(synth):
    """Return each main release with its noise and the ledger's entry."""
    found = [(synth.release_, "columns")]
    found += [(one.released, "pairs") for one in synth.pair_releases_]
    between = ("parities", "products")
    entries = [e for e in synth.privacy_.releases if not e.name.startswith(between)]
    return list(zip(found, entries[-len(found) :], strict=True))


# ------------------------------------------------------------ the releases


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_shares_sum_to_the_budget_and_are_named(adjacency):
    synth = fitted(adjacency=adjacency, pair_budget=0.4)
    report = synth.privacy_
    assert report.spent == pytest.approx(1.0)
    assert math.fsum(e.share for e in report.releases) == pytest.approx(1.0)
    assert len(synth.pair_releases_) == 2
    names = [entry.name for entry in report.releases]
    assert "histograms of 5 columns by class" in names
    last = synth.pair_releases_[-1]
    assert names[-1] == f"{len(last.pairs)} pairs of columns by class"
    shares = [entry.share for entry in report.releases[-5:]]
    assert sum(shares[1:]) == pytest.approx(0.4 * sum(shares))
    assert "products of normal scores of 2 columns" in names[-4]
    assert 0.04 <= shares[1] / sum(shares[1:]) * (1 + 1e-9) <= 0.2
    assert names[-3] == "parities of 2 to 5 of 5 columns by class"
    assert 0 < shares[2] <= 0.1 * sum(shares[2:]) * (1 + 1e-9)
    assert names[-2] == "10 pairs of columns"
    assert shares[3] == pytest.approx(0.25 * sum(shares[3:]))
    assert set(last.pairs) <= set(synth.pair_releases_[0].pairs)
    for (one, key), entry in claims(synth):
        assert one.mu == pytest.approx(one.sensitivity / one.noise_std[key])
        assert entry.sensitivity == one.sensitivity
        assert entry.noise_std == pytest.approx(one.noise_std[key])
        bound = math.sqrt(2.0) if adjacency == "replace" else 1.0
        assert one.sensitivity == pytest.approx(bound)


def test_a_number_is_counted_in_halves_and_then_in_parts():
    synth = shared(CASES["regression"], epsilon=100.0)
    first, _ = synth.pair_releases_
    assert len(first.released.values["pairs"]) == 2
    assert first.of_class.max() == 1
    assert (np.diff(first.of_class) >= 0).all()
    n_bins = synth._labels.n_cells
    for one in synth.pair_releases_:
        n_parts = len(one.released.values["pairs"])
        assert n_parts == (n_bins if one.of_class is None else one.of_class.max() + 1)


def test_what_columns_say_of_a_number_only_together_is_looked_at():
    """A sum of products: no pair shows anything in all rows together."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 2, (20_000, 6)), columns=list("abcdef"))
    y = 10.0 * (X["a"] ^ X["b"]) + rng.normal(size=len(X))
    schema = Schema({name: Integer(0, 1) for name in X}, Numeric(-5, 15))
    with same_noise():
        synth = DPPairwiseSynthesizer(1.0, schema=schema).fit(X, y)
    assert (0, 1) in synth.pair_releases_[-1].pairs
    drawn, target = synth.sample(5000, random_state=0)
    differ = drawn["a"] != drawn["b"]
    assert target[differ].mean() - target[~differ].mean() > 6.0


NOT_NUMBERS = sorted(set(CASES) - {"regression"})


@pytest.mark.parametrize("name", NOT_NUMBERS)
def test_classes_are_counted_one_by_one_if_they_are_few(name):
    synth = shared(CASES[name], epsilon=100.0)
    n_classes = 1 if synth._labels is None else synth._labels.n_cells
    n_classes = n_classes if n_classes <= BY_CLASS else 1
    first, last = (one.released.values["pairs"] for one in synth.pair_releases_)
    assert len(first) == 1
    if name == "many_classes":  # too few rows of each: classes that are alike are one
        assert 3 <= len(last) < n_classes
    else:
        assert len(last) == n_classes
        assert was_by_class(synth) == [False, n_classes > 1]


@pytest.mark.parametrize("name", ["mixed", "unlabelled", "floats"])
def test_without_noise_the_releases_are_the_tables_of_pairs(name):
    case = CASES[name]
    synth = shared(case, epsilon=INF)
    rows = Rows.read(case.X, case.y, task=case.task or "auto")
    batches = list(rows.batches(synth.cells_, synth._labels))
    codes = np.concatenate([batch.parts["columns"] for batch in batches])
    labels = np.concatenate([batch.labels for batch in batches])
    for one in synth.pair_releases_:
        assert math.hypot(*one.scales) == pytest.approx(1.0)
        levels = dict(zip(one.pairs, one.levels or (), strict=False))
        for (j, k), _, counts, std in one.tables(synth.groups_):
            first, second = (synth.groups_[i].of_cell[codes[:, i]] for i in (j, k))
            if levels:
                first, second = (
                    level.of_cell[found]
                    for level, found in zip(levels[j, k], (first, second), strict=True)
                )
            truth = np.zeros_like(counts)
            mine = labels if len(counts) > 1 else 0 * labels
            np.add.at(truth, (mine, first, second), 1)
            np.testing.assert_allclose(counts, truth, atol=1e-9)
            assert std == 0


# ------------------------------------------------------------ too little for pairs


def many_columns(n=600):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.random((n, 60)) < 0.3).rename(columns=lambda i: f"c{i}")
    known = Schema({name: Boolean(nullable=False) for name in X})
    return Case(X, X["c0"].astype(int), known, (0, 1))


@pytest.mark.parametrize("name", [*sorted(CASES), "many columns"])
def test_single_columns_take_all_where_pairs_are_too_dear(name):
    case = many_columns() if name == "many columns" else CASES[name]
    synth = fitted(case, epsilon=0.3)
    assert (synth.pair_releases_, synth.groups_, synth.loss_curve_) == ((), (), [])
    assert synth.privacy_.spent == pytest.approx(1.0)
    assert synth.privacy_.releases[-1].name.startswith("histograms of")
    assert not any("pairs" in entry.name for entry in synth.privacy_.releases)
    before = tables_of(synth)
    assert same_model(before, tables_of(synth.retrain(n_components=3)))
    assert_obeys(split(synth.sample(300), case)[0], synth.schema_)


def test_one_column_has_no_pairs():
    X, y = load_example(800)
    for name in ("age", "job", "balance"):
        known = Schema.infer(X[[name]])
        synth = DPPairwiseSynthesizer(INF, schema=known, classes=["left", "stayed"])
        synth.fit(X[[name]], y)
        assert synth.pair_releases_ == ()
        assert_obeys(synth.sample(9)[0], known)
        assert_obeys(synth.sample(y=["left"])[0], known)


@pytest.mark.parametrize("name", sorted(CASES))
@pytest.mark.parametrize("epsilon", [100.0, INF])
def test_rows_obey_the_schema_on_every_kind_of_table(name, epsilon):
    case = CASES[name]
    synth = shared(case, epsilon=epsilon)
    assert synth.pair_releases_
    assert len(synth.loss_curve_) == 12
    assert_obeys(split(synth.sample(300, random_state=0), case)[0], synth.schema_)


@pytest.mark.parametrize("n_groups", [2, 5, 500])
def test_the_number_of_groups_can_be_given(n_groups):
    synth = fitted(n_groups=n_groups)
    cells = [column.n_cells for column in synth.cells_.values()]
    for groups, n_cells in zip(synth.groups_, cells, strict=True):
        assert groups.n_groups <= min(n_groups, n_cells)
    most = min(n_groups, max(cells))  # cells that were found empty share a group
    assert 0.9 * most <= max(g.n_groups for g in synth.groups_) <= most
    assert_obeys(synth.sample(50)[0], synth.schema_)


# ------------------------------------------------------------ training is free


def test_retrain_changes_the_model_alone():
    synth = fitted()
    before, losses = tables_of(synth), synth.loss_curve_
    report, kept, pairs = str(synth.privacy_), synth.release_, synth.pair_releases_
    parameters = synth.get_params()
    synth.retrain()
    assert same_model(before, tables_of(synth))
    assert synth.loss_curve_ == losses
    for changes in ({"max_iter": 3}, {"n_components": 7}, {"learning_rate": 0.01}):
        assert synth.retrain(**changes) is synth
        assert not same_model(before, tables_of(synth))
        assert len(synth.loss_curve_) == changes.get("max_iter", 12)
        assert synth._model.n_components == changes.get("n_components", 20)
    assert synth.retrain(max_iter=0).loss_curve_ == []
    assert str(synth.privacy_) != report  # it says that nothing was learnt
    assert str(synth.retrain().privacy_) == report
    assert synth.release_ is kept
    assert synth.pair_releases_ is pairs
    assert synth.get_params() == parameters
    assert_obeys(synth.sample(20)[0], synth.schema_)


def test_retrain_needs_a_release():
    with pytest.raises(ValueError, match="not fitted"):
        DPPairwiseSynthesizer().retrain()


@pytest.mark.parametrize(
    "changes",
    [
        {"max_iter": -1},
        {"n_components": 0},
        {"n_components": 2.5},
        {"learning_rate": -1.0},
    ],
    ids=str,
)
def test_retrain_checks_what_it_is_given(changes):
    synth = shared()
    before, (name,) = tables_of(synth), changes
    with pytest.raises(ValueError, match=f"{name}.* must"):
        synth.retrain(**changes)
    assert same_model(before, tables_of(synth))


def test_the_release_and_the_seed_are_all_that_a_model_is_made_of(fresh_entropy):
    case = CASES["unlabelled"]
    one, two = shared(case, epsilon=100.0), fitted(case)
    assert not same_model(tables_of(one), tables_of(two))  # the noise is another
    assert two._seed == one._seed
    two._fitted = replace(two._fitted, measured=one._fitted.measured)
    assert same_model(tables_of(one), tables_of(two.retrain()))
    other = fitted(case, random_state=1, max_iter=1)
    assert other._seed != one._seed


def test_torch_is_left_as_it_was():
    state = torch.get_rng_state()
    fitted().sample(10)
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize("epsilon", [0.5, 100.0])
def test_a_saved_model_is_the_same_and_can_be_retrained(tmp_path, epsilon):
    synth = fitted(epsilon=epsilon)
    synth.save(tmp_path / "synth.npz")
    copy = load_estimator(tmp_path / "synth.npz")
    assert same_model(tables_of(synth), tables_of(copy))
    rows = [one.sample(40, random_state=3)[0] for one in (synth, copy)]
    pd.testing.assert_frame_equal(*rows)
    assert same_model(tables_of(synth), tables_of(copy.retrain()))
    assert str(copy.privacy_) == str(synth.privacy_)
    copy.retrain(max_iter=2)
    assert len(copy.loss_curve_) == (2 if copy.pair_releases_ else 0)


def test_components_are_as_many_as_classes_allow():
    assert [usual_components(n, 99) for n in (1, 20, 300, 10_000)] == [2000, 100, 60, 8]
    synth = fitted(n_components=None, max_iter=1)
    width = sum(one.n_groups for one in synth.groups_)
    usual = usual_components(len(synth.classes_), max(width, 1))
    assert synth._model.n_components == (usual if synth.pair_releases_ else 1)
    assert synth.n_components is None


def interrupt(*args, **params):
    raise KeyboardInterrupt


def test_an_interrupted_fit_goes_on_from_its_releases(monkeypatch):
    synth = fitted(epsilon=90.0)
    synth.set_params(epsilon=100.0)
    with monkeypatch.context() as patch:
        patch.setattr(_mixtures, "fit_mixture", interrupt)
        with pytest.raises(KeyboardInterrupt):
            synth.fit(FEW.X, FEW.y)
    assert synth.privacy_.epsilon == 100.0  # it is spent, and says so
    assert synth.privacy_.spent == pytest.approx(1.0)
    with pytest.raises(ValueError, match="not fitted"):
        synth.sample(3)
    kept = synth.pair_releases_
    synth.retrain()
    assert synth.pair_releases_ is kept
    assert_obeys(synth.sample(20)[0], synth.schema_)


def test_an_interrupted_retrain_keeps_release_and_model(monkeypatch):
    synth = shared()
    before, losses = tables_of(synth), synth.loss_curve_
    kept, pairs = synth.release_, synth.pair_releases_
    monkeypatch.setattr(_mixtures, "fit_mixture", interrupt)
    with pytest.raises(KeyboardInterrupt):
        synth.retrain(max_iter=3)
    assert same_model(before, tables_of(synth))
    assert synth.loss_curve_ is losses
    assert synth.release_ is kept
    assert synth.pair_releases_ is pairs


# ----------------------------------------------------------------- wrong input

WRONG = {
    "share zero": ({"pair_budget": 0.0}, r"'pair_budget'.*Got 0"),
    "share one": ({"pair_budget": 1.0}, r"'pair_budget'.*Got 1"),
    "one group": ({"n_groups": 1}, r"'n_groups'.*Got 1"),
    "components": ({"n_components": 0}, r"'n_components'.*Got 0"),
    "max_iter": ({"max_iter": -1}, r"'max_iter'.*Got -1"),
    "rate": ({"learning_rate": 0.0}, r"'learning_rate'.*Got 0"),
    "device": ({"device": "nonsense"}, r"device must be 'auto'.*'nonsense'"),
    "epsilon": ({"epsilon": 0}, r"'epsilon'.*Got 0"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_parameters_are_named_before_a_row_is_read(name):
    params, message = WRONG[name]

    def never():
        raise AssertionError("a row was read")

    with pytest.raises(ValueError, match=message):
        DPPairwiseSynthesizer(**params).fit(Chunks(never))


def test_progress_bars_show_the_stages_and_the_training(capsys):
    fitted(verbose=1)
    shown = capsys.readouterr().err
    assert "training" in shown
    assert "pairs by class" in shown


def test_an_interrupt_between_releases_keeps_what_was_paid_for(monkeypatch):
    case = FEW
    synth = fitted(case)
    spent_all = synth.privacy_.spent

    def stop(*args, **params):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(_measuring, "worth_measuring", stop)
        with pytest.raises(KeyboardInterrupt):
            synth.fit(case.X, case.y)
    assert 0 < synth.privacy_.spent < spent_all
    assert len(synth.pair_releases_) == 1
    with pytest.raises(ValueError, match="not fitted"):
        synth.sample(3)
    synth.retrain()
    assert_obeys(synth.sample(20)[0], synth.schema_)


def test_without_steps_columns_are_what_was_released():
    X, y = load_example(20_000)
    with same_noise(0):
        synth = DPPairwiseSynthesizer(
            1.0, delta=1e-5, classes=["left", "stayed"], max_iter=0, random_state=0
        ).fit(X, y)
    drawn, _ = synth.sample(20_000, random_state=0)
    assert synth.loss_curve_ == []
    shares = [
        table["job"].value_counts(normalize=True).reindex(X["job"].unique())
        for table in (drawn, X)
    ]
    assert np.abs(shares[0] - shares[1]).max() < 0.03
