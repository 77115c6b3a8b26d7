"""Columns whose values the noise hides are named: by a warning, and in two records."""

import warnings

import numpy as np
import pandas as pd

from skdpgen import DPIndependentSynthesizer, Schema
from skdpgen.exceptions import NoisyColumnsWarning
from skdpgen.report._answers import answers
from skdpgen.report._content import report_content
from skdpgen.tables import Categorical, Numeric

LINE = "noise may move shares by 50 percentage points or more of column(s) a, b"
SCHEMA = Schema({"a": Categorical(["x", "y"]), "b": Numeric(-3, 3)})


def table(n):
    rng = np.random.default_rng(0)
    return pd.DataFrame({"a": rng.choice(["x", "y"], n), "b": rng.normal(size=n)})


def fitted(n, epsilon):
    """Return a fit, and the warnings about noise; draws do not decide them."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        synth = DPIndependentSynthesizer(epsilon, schema=SCHEMA).fit(table(n))
    return synth, [w for w in caught if w.category is NoisyColumnsWarning]


def test_columns_of_noise_are_named():
    synth, noisy = fitted(50, 0.1)
    assert LINE in synth.privacy_.statements
    assert len(noisy) == 1
    assert "column(s) a, b" in str(noisy[0].message)
    found = answers(report_content(synth))
    assert found["quality"]["verdict"].startswith("Do not use these rows")
    assert max(bar["share"] for bar in found["quality"]["bars"]) == 1.0
    assert "may hide one of 100%" in found["lost"]["verdict"]


def test_columns_above_the_noise_are_not():
    synth, noisy = fitted(100_000, 1.0)
    assert not noisy
    assert not any("50 percentage points" in s for s in synth.privacy_.statements)
    found = answers(report_content(synth))
    assert found["quality"]["verdict"].startswith("Limited: single columns")
    assert found["lost"]["verdict"].startswith("No large loss was detected. ")


def test_a_number_of_rows_that_is_noise_hides_columns_too(monkeypatch):
    """Released as 5,000 where there are 20: shares would look exact."""
    monkeypatch.setattr(
        DPIndependentSynthesizer, "_noise_of_rows", lambda self: self._facts.n_rows
    )
    synth, noisy = fitted(100_000, 1.0)
    assert LINE in synth.privacy_.statements
    assert len(noisy) == 1
    verdict = answers(report_content(synth))["quality"]["verdict"]
    assert verdict.startswith("Do not use these rows")
