"""Columns whose values no release counts: `fit` warns, and the certificate says so."""

import warnings

import numpy as np
import pandas as pd
import pytest

from skdpgen import (
    Discriminator,
    DPGANSynthesizer,
    DPKernelSynthesizer,
    DPMERFSynthesizer,
    Generator,
    Integer,
    Schema,
)
from skdpgen.exceptions import UncountedColumnsWarning

SCHEMA = Schema({"a": Integer(0, 7), "b": Integer(0, 7)})
LINE = "no release counts the values of column(s)"
FEW_STEPS = {"generator": Generator(max_iter=2), "schema": SCHEMA, "classes": [0, 1]}
GAME = {
    "discriminator": Discriminator(max_iter=2),
    "schema": SCHEMA,
    "classes": [0, 1],
}


def table(share=0.0):
    """Return 60 rows of two columns, of which a share of one is missing."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({name: rng.integers(0, 8, 60).astype(float) for name in "ab"})
    X.loc[: int(60 * share) - 1, "a"] = np.nan
    return X, np.arange(60) % 2


def warned_of(synth, share=0.0):
    """Fit, and return the warnings about columns without counts."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        synth.fit(*table(share))
    return [str(w.message) for w in caught if w.category is UncountedColumnsWarning]


@pytest.mark.parametrize(
    ("synth", "names"),
    [
        (DPKernelSynthesizer(algorithm="per_step", **FEW_STEPS), "a, b"),
        (DPKernelSynthesizer(feature_norm=1.0, **FEW_STEPS), "a, b"),
        (DPGANSynthesizer(start="nothing", **GAME), "a, b"),
    ],
    ids=["per_step", "features", "game"],
)
def test_settings_that_count_no_columns(synth, names):
    (message,) = warned_of(synth)
    assert f"column(s) {names}." in message
    (line,) = (line for line in synth.privacy_.statements if line.startswith(LINE))
    assert f" {names}:" in line
    assert synth.columns_.get("missing", pd.Series(dtype=float)).isna().all()


@pytest.mark.parametrize(
    "synth",
    [
        DPKernelSynthesizer(**FEW_STEPS),
        DPMERFSynthesizer(**FEW_STEPS),
        DPGANSynthesizer(**GAME),
    ],
    ids=["kernel", "merf", "game"],
)
def test_settings_that_count_all(synth):
    assert warned_of(synth) == []
    assert LINE not in str(synth.privacy_)
    assert synth.columns_.missing.notna().any()


def test_settings_decide_and_not_rows():
    synth = DPKernelSynthesizer(algorithm="per_step", **FEW_STEPS)
    (without,), (with_gaps,) = warned_of(synth), warned_of(synth, share=0.9)
    assert without == with_gaps


def test_images_have_no_columns():
    images = np.random.default_rng(0).random((20, 8, 8))
    synth = DPKernelSynthesizer(
        algorithm="per_step", generator=Generator(max_iter=2), classes=[0, 1]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # noise may decide others
        warnings.simplefilter("error", UncountedColumnsWarning)
        synth.fit(images, np.arange(20) % 2)
    assert LINE not in str(synth.privacy_)
