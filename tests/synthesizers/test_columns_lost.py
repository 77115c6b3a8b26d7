"""Columns of which no release shows a value: what the certificate says of them."""

import warnings

import numpy as np
import pandas as pd
import pytest

from skdpgen import DPIndependentSynthesizer
from skdpgen.privacy import insecure_noise_seed

TEXT = "text in which no value stood out, all other or missing: "
NUMBERS = "numbers whose size did not show, all 0 or missing: "


def names_after(start, certificate):
    """Return the columns that a line of the certificate names."""
    lines = [line for line in certificate.statements if line.startswith(start)]
    return lines[0].removeprefix(start).split(", ") if lines else []


def fitted(X, *, epsilon, seed):
    """Return the baseline on a table, with noise by a seed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with insecure_noise_seed(seed):
            return DPIndependentSynthesizer(epsilon=epsilon, random_state=0).fit(X)


@pytest.mark.parametrize("seed", range(6))
def test_it_is_said_only_of_columns_that_have_no_value(seed):
    """The main release names words, and widens ranges, after discovery ended."""
    rng, n = np.random.default_rng(seed), 1500
    words = {f"w{k}": rng.choice([f"{k}_{v}" for v in range(40)], n) for k in range(3)}
    fees = {
        f"f{k}": np.where(rng.random(n) < 0.9, np.nan, rng.lognormal(3, 1.5, n))
        for k in range(3)
    }
    X = pd.DataFrame({**words, **fees})
    synth = fitted(X, epsilon=1.0, seed=seed)
    drawn = synth.sample(2000)
    for name in words:
        is_lost = not len(synth.schema_.columns[name].categories)
        assert is_lost == (name in names_after(TEXT, synth.privacy_))
        assert is_lost == drawn[name].dropna().eq("other").all()
    for name in fees:
        is_lost = synth.columns_.loc[name, ["lower", "upper"]].tolist() == [0, 0]
        assert is_lost == (name in names_after(NUMBERS, synth.privacy_))
        assert not is_lost or drawn[name].dropna().eq(0).all()


def test_a_column_of_zeros_is_all_zero():
    """With no noise to speak of a column of zeros has no size, and it is said."""
    X = pd.DataFrame({"a": np.zeros(500), "b": np.arange(500.0)})
    synth = fitted(X, epsilon=100.0, seed=0)
    assert names_after(NUMBERS, synth.privacy_) == ["a"]
