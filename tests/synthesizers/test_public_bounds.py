"""Bounds that are public must not make data worse than bounds that are discovered."""

import numpy as np
import pandas as pd
import pytest

from skdpgen import (
    DPIndependentSynthesizer,
    DPMERFSynthesizer,
    DPPairwiseSynthesizer,
)
from skdpgen.metrics import total_variation
from skdpgen.tables import Categorical, Numeric, Schema
from tests._seeded import same_noise


def table(name, n=1500):
    """Return columns of which a few values are far from all others."""
    rng = np.random.default_rng(0)
    drawn = {
        "around zero": lambda: rng.standard_t(2, n),
        "amounts": lambda: rng.lognormal(3, 1.5, n),
        "shifted": lambda: 300 + rng.standard_t(2, n),
    }[name]
    return pd.DataFrame({f"c{j}": drawn() for j in range(12)})


@pytest.mark.parametrize("name", ["around zero", "amounts", "shifted"])
def test_public_bounds_do_no_harm_where_rows_are_few(name):
    X = table(name)
    distances = []
    for schema in (None, Schema.infer(X)):
        found = []
        for seed in range(3):
            with same_noise(seed):
                synth = DPIndependentSynthesizer(schema=schema, random_state=0).fit(X)
            found.append(total_variation(X, synth.sample(5000, random_state=0)))
        distances.append(np.mean(found))
    assert distances[1] < 1.1 * distances[0]


METHODS = [DPIndependentSynthesizer, DPPairwiseSynthesizer, DPMERFSynthesizer]


@pytest.mark.parametrize("method", METHODS)
def test_a_range_far_wider_than_the_values_holds_few_drawn_rows(method):
    """An end of a thousand times the values was drawn evenly: means were 1,800."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(300 * (1 + 0.01 * rng.standard_normal((20_000, 6))))
    schema = Schema(dict.fromkeys(X, Numeric(0, 1e6)))
    with same_noise(1):
        drawn = method(schema=schema, random_state=0).fit(X).sample(5000).to_numpy()
    drawn = drawn[~np.isnan(drawn)]
    assert (abs(drawn / 300 - 1) > 0.2).mean() < 0.03
    assert drawn.mean() < 600


@pytest.mark.parametrize("bounds", [(0, 1e6), (-1e6, 1e6)])
def test_a_wide_range_with_rows_at_its_end_keeps_them(bounds):
    """A code at the end of the range is far from all other values, and is no mistake"""
    rng = np.random.default_rng(0)
    values = np.where(rng.random((20_000, 6)) < 0.05, 999_999, 300)
    X = pd.DataFrame(values + rng.standard_normal(values.shape))
    X = X.clip(*bounds)
    schema = Schema(dict.fromkeys(X, Numeric(*bounds)))
    with same_noise(1):
        synth = DPIndependentSynthesizer(schema=schema, random_state=0).fit(X)
    drawn = synth.sample(5000, random_state=0)
    assert ((drawn > 5e5).mean() - 0.05).abs().max() < 0.02


def test_a_wide_range_of_numbers_to_predict():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.normal(size=20_000)})
    y = pd.Series(300 + 20 * X["x"], name="y")
    schema = Schema({"x": Numeric(-5, 5)}, target=Numeric(0, 1e6))
    with same_noise(1):
        synth = DPIndependentSynthesizer(schema=schema, random_state=0).fit(X, y)
    _, y_drawn = synth.sample(5000, random_state=0)
    assert y_drawn.mean() == pytest.approx(300, rel=0.05)


@pytest.mark.parametrize(
    ("center", "bounds"),
    [
        (300, (-1e6, 1e6)),
        (2015, (0, 9999)),
        (20, (0, 1e9)),
        (0.001, (0, 1)),
        (170, (0, 1000)),
    ],
)
@pytest.mark.parametrize("n_described", [8, 4])  # of 8 columns
def test_bounds_far_wider_than_the_values_do_little_harm(center, bounds, n_described):
    rng = np.random.default_rng(0)
    near = center * (1 + 0.01 * rng.standard_normal((1500, 8)))
    X = pd.DataFrame(near, columns=list("abcdefgh"))
    with same_noise(1):
        schema = Schema(dict.fromkeys(X.columns[:n_described], Numeric(*bounds)))
        synth = DPIndependentSynthesizer(schema=schema, random_state=0).fit(X)
    assert total_variation(X, synth.sample(5000, random_state=0)) < 0.25


@pytest.mark.parametrize("method", [DPIndependentSynthesizer, DPPairwiseSynthesizer])
def test_a_list_far_longer_than_the_categories_of_the_rows_does_little_harm(method):
    rng = np.random.default_rng(0)
    shares = 1 / np.arange(1, 11)
    drawn = rng.choice(10, (20_000, 4), p=shares / shares.sum())
    X = pd.DataFrame(drawn, columns=list("abcd")).map("v{:04d}".format)
    listed = Categorical([f"v{i:04d}" for i in range(2000)])
    with same_noise(1):
        synth = method(schema=dict.fromkeys(X, listed), random_state=0).fit(X)
    assert total_variation(X, synth.sample(20_000, random_state=0)) < 0.02
