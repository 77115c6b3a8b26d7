"""Bounds that are public must not make data worse than bounds that are discovered."""

import numpy as np
import pandas as pd
import pytest

from skdpgen import DPIndependentSynthesizer
from skdpgen.metrics import total_variation
from skdpgen.tables import Numeric, Schema
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
