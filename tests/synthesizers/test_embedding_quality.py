"""What samples of mean embeddings show, and what a budget of nothing hides."""

import numpy as np
import pandas as pd
import pytest
import torch
from scipy import stats

from skdpgen import (
    DPHPSynthesizer,
    DPIndependentSynthesizer,
    DPMERFSynthesizer,
    DPNTKSynthesizer,
    Generator,
)
from skdpgen.tables import Boolean, Numeric, Schema
from tests._covering import parametrize_pairs
from tests._made import made
from tests._seeded import same_noise
from tests.synthesizers._tables import CASES, build, settings_of

INF = float("inf")


METHODS = [DPMERFSynthesizer, DPHPSynthesizer, DPNTKSynthesizer]
each_method = pytest.mark.parametrize("cls", METHODS)


def known_settings(cls, params):
    """Return the parameters that an estimator and its generator have."""
    known = settings_of(cls) | {"preset"}
    return {k: v for k, v in params.items() if k in known}


def fitted(cls, case, **params):
    params = known_settings(cls, params)
    return build(cls, case, **params).fit(case.X, case.y)


def parity(n=4000, seed=0):
    """Return columns of which no two say anything of each other, but three do."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    a, within = rng.random((2, n))
    upper = (a > 0.5) ^ (y == 1) ^ (rng.random(n) < 0.05)
    c = 0.5 * (within + upper)
    return pd.DataFrame({"a": a, "c": c, "flag": rng.random(n) < 0.3}), y


SCHEMA = Schema(
    {
        "a": Numeric(0, 1, nullable=False),
        "c": Numeric(0, 1, nullable=False),
        "flag": Boolean(nullable=False),
    }
)


def relation(X, y):
    """Return how far c goes with a in class 0 and against it in class 1, up to 1."""
    found = 0.0
    for label, sign in ((0, 1), (1, -1)):
        mine = X[np.asarray(y) == label]
        high = (mine["a"] > 0.5).to_numpy(), (mine["c"] > 0.5).to_numpy()
        if len(mine):
            found += sign * len(mine) / len(X) * 4 * np.cov(*high, bias=True)[0, 1]
    return float(found)


def sampled_relation(cls, epsilon, **params):
    X, y = parity()
    given = {"schema": SCHEMA, "classes": [0, 1], "random_state": 0} | params
    with same_noise():
        synth = made(cls, epsilon, **known_settings(cls, given)).fit(X, y)
    return relation(*synth.sample(4000, random_state=1))


@each_method
@pytest.mark.parametrize("preset", ["default", "paper"])
def test_samples_show_a_relation_that_columns_alone_cannot(cls, preset):
    quick = {"n_features": 400, "max_iter": 150, "hidden_layer_sizes": (64, 64)}
    found = sampled_relation(cls, INF, preset=preset, **quick)
    assert found > 0.3


def test_columns_alone_do_not_show_the_relation_of_the_table():
    assert relation(*parity()) > 0.85
    assert abs(sampled_relation(DPIndependentSynthesizer, INF)) < 0.1


@each_method
def test_without_budget_the_relation_is_gone(cls):
    quick = {"n_features": 200, "max_iter": 40, "hidden_layer_sizes": (64,)}
    assert abs(sampled_relation(cls, 1e-3, **quick)) < 0.2


@each_method
def test_a_sampled_target_goes_with_its_row(cls):
    case = CASES["regression"]
    synth = fitted(
        cls, case, epsilon=INF, max_iter=60, n_features=200, hidden_layer_sizes=(64,)
    )
    X, y = synth.sample(3000, random_state=0)
    for name, is_strong in {"area": 1, "rooms": 1, "year_built": 0}.items():
        true, found = (
            stats.spearmanr(rows[name], target, nan_policy="omit").statistic
            for rows, target in ((case.X, case.y), (X, y))
        )
        assert (abs(true) > 0.5) == is_strong
        assert found == pytest.approx(true, abs=0.15)


@each_method
def test_asked_for_labels_bring_their_rows(cls):
    X, y = parity()
    X["a"] = (X["a"] + y) / 2
    synth = cls(INF, schema=SCHEMA, classes=[0, 1], random_state=0)
    synth.set_params(generator__max_iter=0)
    synth.fit(X, y)
    drawn, labels = synth.sample(y=[1] * 500 + [0] * 100)
    assert labels.tolist() == [1] * 500 + [0] * 100
    assert (drawn["a"][:500] > 0.45).mean() > 0.9
    assert (drawn["a"][500:] < 0.55).mean() > 0.9


def rare_error(cls, class_weight):
    """Return how far the relation of a rare class is from what it is."""
    rng = np.random.default_rng(0)
    y = (rng.random(4000) < 0.1).astype(int)
    a = rng.random(4000) < 0.5
    X = pd.DataFrame({"a": a, "b": a ^ (y == 1)})
    settings = {
        "n_features": 100,
        "max_iter": 150 if cls is DPNTKSynthesizer else 60,
        "hidden_layer_sizes": (256, 256) if cls is DPNTKSynthesizer else (64, 64),
    }
    synth = made(
        cls,
        INF,
        schema=Schema({"a": Boolean(), "b": Boolean()}),
        classes=[0, 1],
        class_weight=class_weight,
        random_state=0,
        **known_settings(cls, settings),
    ).fit(X, y)
    drawn, labels = synth.sample(4000, random_state=0)
    assert (labels == 1).mean() == pytest.approx(0.1, abs=0.02)  # drawn as they are
    drawn, _ = synth.sample(y=[1] * 1000)
    return (drawn["a"] == drawn["b"]).mean()


@each_method
def test_balanced_weights_care_for_rare_classes(cls):
    balanced = rare_error(cls, "balanced")
    assert balanced < 0.15
    assert balanced < rare_error(cls, None) + 0.02


@each_method
def test_without_training_columns_are_those_of_the_baseline(cls):
    X, y = parity()
    synth = made(cls, INF, schema=SCHEMA, classes=[0, 1], max_iter=0)
    drawn, labels = synth.fit(X, y).sample(4000)
    assert abs(relation(drawn, labels)) < 0.15
    for name in ("a", "c"):
        assert stats.ks_2samp(X[name], drawn[name]).statistic < 0.06
    assert drawn["flag"].mean() == pytest.approx(X["flag"].mean(), abs=0.06)


def test_a_parameter_is_never_taken_from_the_rows():
    """The same public facts give the same features, whatever the rows hold."""
    X, y = parity()
    found = []
    for table in (X, X.assign(a=0.5, flag=True)):
        synth = DPMERFSynthesizer(
            schema=SCHEMA, classes=[0, 1], numeric_encoding="fourier"
        )
        synth.set_params(
            random_state=0,
            n_features=20,
            generator__max_iter=0,
            length_scale="public",
        )
        found.append(synth.fit(table, y).kernel_.phi.frequencies)
    assert torch.equal(*found)


def test_the_fourier_share_goes_by_public_facts():
    X, y = parity()
    shares = {}
    for epsilon in (0.1, 1.0, INF):
        for table in (X, X.assign(a=0.5, flag=True)):
            synth = DPMERFSynthesizer(
                epsilon, schema=SCHEMA, classes=[0, 1], generator=Generator(max_iter=0)
            )
            share = synth.set_params(n_features=20).fit(table, y).kernel_.share
            assert shares.setdefault(epsilon, share) == share
    assert shares[0.1] < shares[1.0] == shares[INF]
    asked = DPMERFSynthesizer(schema=SCHEMA, classes=[0, 1], feature_norm=0.37)
    assert asked.set_params(generator__max_iter=0).fit(X, y).kernel_.share == 0.37


@parametrize_pairs("cls, preset", METHODS, ["default", "paper"], strength=1)
def test_missing_values_come_back_as_often(cls, preset):
    case = CASES["floats"]
    quick = {"max_iter": 60, "n_features": 200}
    if cls is DPNTKSynthesizer:
        quick = {"max_iter": 200, "width": 50, "batch_size": 256}
    synth = fitted(cls, case, epsilon=INF, preset=preset, **quick)
    X, _ = synth.sample(2000, random_state=0)
    assert np.isnan(X[:, 1]).mean() == pytest.approx(
        np.isnan(case.X[:, 1]).mean(), abs=0.02 if preset == "default" else 0.14
    )
    assert not np.isnan(X[:, [0, 2, 3]]).any()
