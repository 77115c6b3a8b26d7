"""Mean embeddings: one release of the rows, then free work that needs none."""

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
import torch

from skdpgen import (
    DPHPSynthesizer,
    DPKernelSynthesizer,
    DPMERFSynthesizer,
    DPNTKSynthesizer,
)
from skdpgen import load as load_estimator
from skdpgen.datasets import load_example
from skdpgen.exceptions import NotPrivateWarning
from skdpgen.privacy import (
    Adjacency,
    Ledger,
    PrivacyBudget,
    _query,
    insecure_noise_seed,
    release,
)
from skdpgen.synthesizers.embedding import Encoding, _feature_map
from skdpgen.synthesizers.models import _table_model
from skdpgen.tables import Chunks, Rows, Schema
from tests._covering import parametrize_pairs
from tests._made import made
from tests.synthesizers._tables import CASES, assert_obeys, build, quick_settings, split

INF = float("inf")
MIXED = CASES["mixed"]


ALL = [DPMERFSynthesizer, DPHPSynthesizer, DPNTKSynthesizer]
PRESETS = ["default", "paper"]
each_method = pytest.mark.parametrize("cls", ALL)


def fitted(case=MIXED, cls=DPMERFSynthesizer, **params):
    """Return a fit with enough budget to have something to train for."""
    given = {"epsilon": 100.0} | params
    return build(cls, case, **given).fit(case.X, case.y)


@cache
def shared(cls=DPMERFSynthesizer):
    """Return a fit that nobody changes."""
    return fitted(cls=cls)


def weights_of(synth):
    return {k: v.clone() for k, v in synth.generator_.state_dict().items()}


def same_generator(one, two):
    return one.keys() == two.keys() and all(torch.equal(one[k], two[k]) for k in one)


# ------------------------------------------------------- the noise and the seed


def test_the_same_release_and_seed_give_the_same_generator():
    fits = []
    for _ in range(2):
        with pytest.warns(NotPrivateWarning), insecure_noise_seed(0):
            fits.append(fitted())
    one, two = map(weights_of, fits)
    assert same_generator(one, two)
    other = fits[0].set_params(random_state=1)
    with pytest.warns(NotPrivateWarning), insecure_noise_seed(0):
        other.fit(MIXED.X, MIXED.y)
    assert not same_generator(one, weights_of(other))


def test_the_seed_draws_features_but_no_noise():
    one, two = fitted(), fitted()
    other = fitted(random_state=1)
    assert torch.equal(one.kernel_.phi.subsets, two.kernel_.phi.subsets)
    for name, block in one.release_.values.items():
        if block.shape == two.release_.values[name].shape:  # bins have noise too
            assert (block != two.release_.values[name]).mean() > 0.99
    first, last = one.kernel_.phi.frequencies, other.kernel_.phi.frequencies
    assert first.shape != last.shape or not torch.equal(first, last)


def test_torch_is_left_as_it_was():
    state = torch.get_rng_state()
    fitted().sample(10)
    assert torch.equal(torch.get_rng_state(), state)


@each_method
def test_the_release_is_all_that_a_generator_is_made_of(cls):
    """Put the release of one fit into another: the same generator, bit by bit."""
    table = CASES["unlabelled"]
    one, two = (fitted(table, cls) for _ in range(2))
    two._fitted = replace(two._fitted, measured=one._fitted.measured)
    assert same_generator(weights_of(one), weights_of(two.retrain()))


# ------------------------------------------------------------ training is free


@parametrize_pairs(
    "cls, name, preset", ALL, ["mixed", "regression", "unlabelled"], PRESETS
)
def test_retrain_repeats_the_generator_of_fit(cls, name, preset):
    synth = fitted(cls=cls, case=CASES[name], preset=preset)
    before, losses = weights_of(synth), synth.loss_curve_
    assert losses
    report, kept = str(synth.privacy_), synth.release_
    synth.retrain()
    assert same_generator(before, weights_of(synth))
    assert synth.loss_curve_ == losses
    assert str(synth.privacy_) == report
    assert synth.release_ is kept


def test_other_settings_change_the_generator_alone():
    synth = fitted()
    parameters, cells = synth.get_params(), synth.cells_
    features, before = synth.kernel_, synth.settings_
    changes = {
        "max_iter": 3,
        "hidden_layer_sizes": [7],
        "n_latent": 2,
        "learning_rate": 0.1,
    }
    assert synth.retrain(**changes, batch_size=16) is synth
    assert len(synth.loss_curve_) <= 3
    assert synth.generator_.shape.hidden == (7,)
    assert synth.generator_.shape.n_latent == 2
    assert synth.get_params() == parameters
    assert synth.cells_ is cells
    assert synth.kernel_ is features
    assert synth.settings_.n_features == before.n_features
    assert synth.settings_.hidden_layer_sizes == (7,)
    assert synth.settings_.batch_size == 16
    assert_obeys(synth.sample(20)[0], synth.schema_)


@pytest.mark.parametrize("name", ["n_features", "length_scale", "epsilon", "nonsense"])
def test_what_needs_new_rows_cannot_be_retrained(name):
    synth = shared()
    before = weights_of(synth)
    with pytest.raises(
        TypeError, match=rf"max_iter.*Got {name}; set parameters and use `fit`"
    ):
        synth.retrain(**{name: 100})
    assert same_generator(before, weights_of(synth))


def test_retrain_checks_what_it_is_given():
    synth = shared()
    before = weights_of(synth)
    for changes in (
        {"hidden_layer_sizes": (4.5,)},
        {"max_iter": -1},
        {"learning_rate": INF},
    ):
        (name,) = changes
        with pytest.raises(ValueError, match=f"{name} must"):
            synth.retrain(**changes)
    assert same_generator(before, weights_of(synth))


def test_retrain_needs_a_release():
    with pytest.raises(ValueError, match="not fitted"):
        DPMERFSynthesizer().retrain()


@each_method
def test_retrain_works_where_the_rows_never_were(cls, tmp_path):
    X, y = MIXED.X.copy(), MIXED.y.copy()
    synth = build(cls, MIXED, epsilon=100.0, device=torch.device("cpu"))
    synth.fit(X, y)
    X.iloc[:, 0] = -1
    del X, y
    synth.save(tmp_path / "synth.npz")
    copy = load_estimator(tmp_path / "synth.npz")
    assert same_generator(weights_of(synth), weights_of(copy))
    assert same_generator(weights_of(synth), weights_of(copy.retrain()))
    copy.retrain(max_iter=2)
    assert len(copy.loss_curve_) <= 2


@parametrize_pairs("cls, stage", ALL, ["match_embedding", "TableGenerator"], strength=1)
def test_an_interrupted_fit_goes_on_from_its_release(cls, monkeypatch, stage):
    def interrupt(*args, **params):
        raise KeyboardInterrupt

    synth = fitted(cls=cls, epsilon=0.5)
    synth.set_params(epsilon=100.0)
    with monkeypatch.context() as patch:
        patch.setattr(_table_model, stage, interrupt)
        with pytest.raises(KeyboardInterrupt):
            synth.fit(MIXED.X, MIXED.y)
    assert synth.privacy_.epsilon == 100.0  # it is spent, and says so
    assert synth.privacy_.spent == pytest.approx(1.0)
    with pytest.raises(ValueError, match="not fitted"):
        synth.sample(3)
    report, kept = str(synth.privacy_), synth.release_
    synth.retrain()
    assert synth.release_ is kept
    assert str(synth.privacy_) == report
    assert_obeys(synth.sample(20)[0], synth.schema_)


def test_an_interrupted_retrain_keeps_the_generator(monkeypatch):
    synth = shared()
    before, settings = weights_of(synth), synth.settings_

    def interrupt(*args, **params):
        raise KeyboardInterrupt

    monkeypatch.setattr(_table_model, "match_embedding", interrupt)
    with pytest.raises(KeyboardInterrupt):
        synth.retrain(max_iter=3)
    assert same_generator(before, weights_of(synth))
    assert synth.settings_ is settings


# ------------------------------------------------------------ the joint release


@parametrize_pairs(
    "cls, name, preset, adjacency",
    ALL,
    ["mixed", "regression", "floats"],
    PRESETS,
    ["replace", "add_remove"],
)
def test_no_row_moves_a_fit_further_than_is_claimed(cls, name, preset, adjacency):
    case = CASES[name]
    synth = fitted(case, cls, preset=preset, adjacency=adjacency, epsilon=8.0)
    claimed = synth.release_

    def exact(X, y):
        rows = Rows.read(X, y, task=case.task).batches(synth.cells_, synth._labels)
        return release(
            rows.through(Encoding(synth.kernel_, "cpu")),
            synth.kernel_.blocks,
            name="again",
            ledger=Ledger(PrivacyBudget(INF, 1e-5, Adjacency(adjacency))),
            share=1.0,
            n_classes=synth._labels.n_cells,
            weights=synth.kernel_.weights,
        ).values

    X, y = case.X, pd.Series(case.y)
    whole, largest = exact(X, y), 0.0
    for other, label in ((1, y.min()), (5, y.max()), (700, y.max())):
        near, labels = X.copy(), y.copy()
        if adjacency == "replace":  # the first row turns into another, and its label
            if isinstance(X, pd.DataFrame):
                near.iloc[0] = X.iloc[other]
            else:
                near[0] = X[other]
            labels.iloc[0] = label
        else:
            near, labels = X[1:], y[1:]
        found = exact(near, labels)
        steps = [
            np.linalg.norm(found[k] - whole[k]) / claimed.noise_std[k] for k in whole
        ]
        largest = max(largest, math.hypot(*steps))
    assert largest <= claimed.mu * (1 + 1e-9)
    assert largest > 0.6 * claimed.mu
    entry = synth.privacy_.releases[-1]
    assert claimed.mu == pytest.approx(entry.sensitivity / entry.noise_std)


@parametrize_pairs(
    "name, preset", ["mixed", "floats", "unlabelled"], PRESETS, strength=1
)
def test_parts_of_the_rows_sum_up_and_have_the_noise_of_the_whole(name, preset):
    case = CASES[name]
    parts = {"n_minibatches": 4}
    whole = fitted(case, preset=preset, epsilon=INF).release_
    synth = fitted(case, preset=preset, epsilon=INF, **parts)
    n_classes = len(case.classes or [None])
    for key, block in synth.release_.values.items():
        groups = block.reshape(4, n_classes, -1)
        np.testing.assert_allclose(groups.sum(axis=0), whole.values[key], atol=1e-6)
        assert (np.abs(groups).sum(axis=(1, 2)) > 0).all()
    noisy = fitted(case, preset=preset, **parts)
    assert noisy.release_.noise_std == pytest.approx(
        fitted(case, preset=preset).release_.noise_std
    )
    assert_obeys(split(noisy.sample(30), case)[0], noisy.schema_)


def test_groups_of_a_fit_are_drawn_from_the_system(monkeypatch):
    seen = []
    groups = _query.random_groups

    def spy(n, n_groups):
        seen.append(groups(n, n_groups))
        return seen[-1]

    monkeypatch.setattr(_query, "random_groups", spy)
    for _ in range(2):
        fitted(CASES["floats"], n_minibatches=10)
    one, two = (np.concatenate(part) for part in np.array_split(seen, 2))
    assert (one != two).any()


def test_memory_does_not_grow_with_rows_times_features(monkeypatch):
    monkeypatch.setattr(_feature_map, "NUMBERS_AT_ONCE", 64 * 100)
    sizes = []
    add = _feature_map.Vectors.add

    def spy(block, total, vectors, labels):
        sizes.append(len(vectors))
        return add(block, total, vectors, labels)

    monkeypatch.setattr(_feature_map.Vectors, "add", spy)
    fitted(CASES["floats"])
    assert max(sizes) == 64  # 100, but for whole multiples


# ------------------------------------------------------------ presets and limits


@parametrize_pairs("cls, name, preset, max_iter", ALL, sorted(CASES), PRESETS, [0, 2])
def test_presets_work_on_every_kind_of_table(cls, name, preset, max_iter):
    case = CASES[name]
    synth = fitted(case, cls, preset=preset, max_iter=max_iter, hidden_layer_sizes=None)
    X, _ = split(synth.sample(200, random_state=0), case)
    assert_obeys(X, synth.schema_)
    assert len(synth.loss_curve_) <= max_iter
    assert all(map(math.isfinite, synth.loss_curve_))
    is_counted = len(synth.kernel_.counted) == len(synth.cells_)
    assert preset == "paper" or is_counted


@each_method
def test_one_column_is_enough(cls):
    X, y = load_example(800)
    for name in ("age", "job", "balance"):
        known = Schema.infer(X[[name]])
        for preset in ("default", "paper"):
            few = quick_settings(cls) | {"max_iter": 3, "preset": preset}
            synth = made(cls, schema=known, classes=["left", "stayed"], **few)
            synth.fit(X[[name]], y)
            assert_obeys(synth.sample(9)[0], known)
            assert_obeys(synth.sample(y=["left"])[0], known)


# ----------------------------------------------------------------- wrong input

WRONG = {
    "odd": ({"n_features": 7}, r"n_features must be even.*Got 7"),
    "no features": ({"n_features": 0}, r"'n_features'.*Got 0"),
    "scale": ({"length_scale": -1.0}, r"'length_scale'.*Got -1"),
    "scales": ({"length_scale": (0.5, -2)}, r"length_scale must be in .*-2"),
    "scale of last digits": ({"length_scale": 1e-14}, r"length_scale must be in "),
    "no scales": ({"length_scale": ()}, r"length_scale must be in "),
    "scale nan": ({"length_scale": (0.5, INF - INF)}, r"length_scale must be in .*nan"),
    "scale text": ({"length_scale": "median"}, r"'length_scale'.*'public'"),
    "degree": ({"interaction_degree": 0}, r"'interaction_degree'.*Got 0"),
    "share zero": ({"feature_norm": 0.0}, r"'feature_norm'.*Got 0"),
    "share one": ({"feature_norm": 1.0}, r"'feature_norm'.*Got 1"),
    "device": ({"device": "nonsense"}, r"device must be 'auto'.*'nonsense'"),
    "device number": ({"device": 3.5}, r"'device'.*Got 3.5"),
    "hidden_layer_sizes": (
        {"hidden_layer_sizes": (16, 0)},
        r"hidden_layer_sizes must hold numbers of units.*\(16, 0\)",
    ),
    "hidden number": ({"hidden_layer_sizes": 16}, r"'hidden_layer_sizes'.*Got 16"),
    "latent": ({"n_latent": 0}, r"'n_latent'.*Got 0"),
    "max_iter": ({"max_iter": -1}, r"'max_iter'.*Got -1"),
    "max_iter float": ({"max_iter": 2.5}, r"'max_iter'.*Got 2.5"),
    "batch": ({"batch_size": 0}, r"'batch_size'.*Got 0"),
    "rate": ({"learning_rate": 0}, r"'learning_rate'.*Got 0"),
    "encoding": (
        {"numeric_encoding": "raw"},
        r"'numeric_encoding'.*'fourier'.*Got 'raw'",
    ),
    "sizes": ({"hidden_layer_sizes": "wide"}, r"'hidden_layer_sizes'.*'per_column'"),
    "loss": ({"loss": "hinge"}, r"'loss'.*'moving_average'.*Got 'hinge'"),
    "batch norm": ({"batch_norm": 1}, r"'batch_norm'.*Got 1"),
    "minibatches": ({"n_minibatches": 0}, r"'n_minibatches'.*Got 0"),
    "weights": ({"class_weight": "left"}, r"'class_weight'.*'balanced'"),
    "epsilon": ({"epsilon": 0}, r"'epsilon'.*Got 0"),
    "order": ({"order": 5}, r"'order'.*Got 5", DPHPSynthesizer),
    "low order": (
        {"order": (-1, 2)},
        r"order must be a .*\(-1, 2\)",
        DPHPSynthesizer,
    ),
    "order text": ({"order": ("bins", 2)}, r"order must be .*'bins'", DPHPSynthesizer),
    "product order": ({"order": (5, 1.5)}, r"order must be .*1.5", DPHPSynthesizer),
    "one order": ({"order": (5,)}, r"order must be a pair.*\(5,\)", DPHPSynthesizer),
    "product size": (
        {"interaction_degree": 0},
        r"'interaction_degree'.*Got 0",
        DPHPSynthesizer,
    ),
    "subsets": ({"n_subsets": 0}, r"'n_subsets'.*Got 0", DPHPSynthesizer),
    "one scale": ({"length_scale": 0.0}, r"'length_scale'.*Got 0", DPHPSynthesizer),
    "product_weight": (
        {"product_weight": 0.0},
        r"'product_weight'.*Got 0",
        DPHPSynthesizer,
    ),
    "far scale": ({"length_scale": 1e9}, r"'length_scale'", DPHPSynthesizer),
    "product_weight inf": (
        {"product_weight": INF},
        r"'product_weight'.*Got inf",
        DPHPSynthesizer,
    ),
    "network": ({"architecture": "cnn"}, r"'architecture'.*'mlp'", DPNTKSynthesizer),
    "width": ({"width": 0}, r"'width'.*Got 0", DPNTKSynthesizer),
    "depth": ({"depth": 0}, r"'depth'.*Got 0", DPNTKSynthesizer),
    "tangent": ({"feature_norm": 1.5}, r"'feature_norm'.*Got 1.5", DPNTKSynthesizer),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_parameters_are_named_before_a_row_is_read(name):
    params, message, *others = WRONG[name]
    (cls,) = others or [DPMERFSynthesizer]

    def never():
        raise AssertionError("a row was read")

    with pytest.raises(ValueError, match=message):
        made(cls, **params).fit(Chunks(never))


def test_progress_bars_show_the_training(capsys):
    fitted(verbose=1)
    assert "training" in capsys.readouterr().err


# --------------------------------------------------------------- networks of yours


def small(n_inputs):
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Linear(n_inputs, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1)
    )


@parametrize_pairs(
    "name, share", ["mixed", "regression", "unlabelled"], [None, 1.0], strength=1
)
def test_any_network_can_be_differentiated(name, share, tmp_path):
    case = CASES[name]
    X, y = case.X[:200], None if case.y is None else case.y[:200]
    case = replace(case, X=X, y=y)  # each row has a gradient of its own
    given = {"architecture": small, "feature_norm": share}
    synth = fitted(case, DPNTKSynthesizer, **given)
    X, _ = split(synth.sample(50), case)
    assert_obeys(X, synth.schema_)
    with pytest.raises(
        TypeError, match=r"never holds code. Got .* as parameters\.architecture"
    ):
        synth.save(tmp_path / "synth.npz")
    assert not (tmp_path / "synth.npz").exists()


class Centred(torch.nn.Linear):
    """Looks at the mean of all rows."""

    def __init__(self, n_inputs):
        super().__init__(n_inputs, 1)

    def forward(self, x):
        return super().forward(x - x.mean(dim=0))


class Added(torch.nn.Module):
    """A layer, and a look at its values."""

    def __init__(self, layer=None):
        super().__init__()
        self.layer = layer or torch.nn.ReLU()

    def forward(self, x):
        out = self.layer(x)
        return out if out.shape == x.shape else out * (2 if out.sum() > 1e9 else 1)


WRONG_NETWORKS = {
    "no module": (lambda n: n + 1, "torch.nn.Module.*Got int"),
    "other inputs": (lambda n: torch.nn.Linear(n + 1, 1), "n_inputs"),
    "rows together": (Centred, "by itself"),
    "no weights": (lambda n: torch.nn.Sequential(Added()), "weights"),
    "single precision": (lambda n: Added(torch.nn.Linear(n, 1)), "double precision"),
}


@pytest.mark.parametrize("name", WRONG_NETWORKS)
def test_networks_that_cannot_be_used_are_named(name):
    network, message = WRONG_NETWORKS[name]
    with pytest.raises(ValueError, match=message):
        fitted(cls=DPNTKSynthesizer, architecture=network)


class Curious(torch.nn.Linear):
    """Keeps what it has seen."""

    def __init__(self, n_inputs):
        super().__init__(n_inputs, 1)
        self.seen = []

    def forward(self, x):
        self.seen.append(x)
        return super().forward(x)


def test_a_network_is_copied_and_keeps_no_row():
    networks = []

    def architecture(n_inputs):
        networks.append(Curious(n_inputs))
        return networks[-1]

    synth = fitted(cls=DPNTKSynthesizer, architecture=architecture)
    module = synth.kernel_.phi.module
    assert module is not networks[0]
    assert not networks[0].seen
    assert sum(len(x) for x in module.seen) < 10  # public rows that it was tried on
    before = {k: v.clone() for k, v in synth.kernel_.phi.weights.items()}
    with torch.no_grad():
        networks[0].weight += 1.0
    assert all(torch.equal(v, before[k]) for k, v in synth.kernel_.phi.weights.items())


def test_an_order_alone_is_enough():
    synth = fitted(cls=DPHPSynthesizer, order=(5, 2))
    assert synth.settings_.product_weight == 1.0
    assert_obeys(synth.sample(20)[0], synth.schema_)


@each_method
def test_settings_show_the_share_that_was_chosen(cls):
    synth = shared(cls)
    names = {"feature_norm", "product_weight"} & set(vars(synth.settings_))
    (shown,) = (getattr(synth.settings_, name) for name in names)
    share = synth.kernel_.share
    assert shown == pytest.approx(
        share / (1 - share) if "product_weight" in names else share
    )


def test_parameters_without_effect_are_refused():
    synth = build(DPMERFSynthesizer, MIXED, network="private")
    with pytest.raises(ValueError, match="network must be 'full' for tables"):
        synth.fit(MIXED.X, MIXED.y)


@pytest.mark.parametrize(
    ("cls", "params", "message"),
    [
        (DPKernelSynthesizer, {"sampling_rate": 0.5}, "0.1 but for algorithm='per_st"),
        (DPMERFSynthesizer, {"loss": "moving_average"}, "'distance' but for DPMEPFSyn"),
        (DPHPSynthesizer, {"n_minibatches": 2}, "1 but for DPMERFSynthesizer"),
    ],
)
def test_parameters_of_other_methods_are_refused_at_once(cls, params, message):
    synth = build(cls, MIXED, **params)
    with pytest.raises(ValueError, match=f"{next(iter(params))} must be {message}"):
        synth.fit(MIXED.X, MIXED.y)


@each_method
def test_the_number_of_steps_is_told(cls):
    synth = shared(cls)
    assert synth.n_iter_ == len(synth.loss_curve_)
