"""Calls that are wrong, and say so before any budget is used."""

import numpy as np
import pandas as pd
import pytest

from skdpgen import (
    DPDRESynthesizer,
    DPIndependentSynthesizer,
    DPPairwiseSynthesizer,
    plan,
)
from skdpgen.exceptions import SchemaError
from skdpgen.synthesizers import search_generator
from skdpgen.tables import Categorical, Schema

X = pd.DataFrame({"a": np.arange(60.0), "b": ["x", "y"] * 30})
Y = pd.Series(["p", "q"] * 30)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: DPIndependentSynthesizer(
                schema=Schema({}, target=Categorical(["p", "q"]))
            ).fit(X),
            "A schema with a target needs y",
        ),
        (lambda: DPIndependentSynthesizer().fit(X[[]], Y), "X must have a column"),
        (
            lambda: DPDRESynthesizer().fit(X, Y, public_data=(X, Y[:-1])),
            "public_data cannot be read",
        ),
        (
            lambda: DPPairwiseSynthesizer().fit(X, Y, public_data="x"),
            "public_data cannot be read",
        ),
        (lambda: plan(1000, 5, classes=0), "classes must be a number of at least 1"),
    ],
)
def test_wrong_calls(call, message):
    with pytest.raises((ValueError, SchemaError), match=message):
        call()


def test_a_search_needs_a_generator():
    synth = DPIndependentSynthesizer(1e3, classes=["p", "q"]).fit(X, Y)
    with pytest.raises(TypeError, match="a method that trains a generator"):
        search_generator(synth, {"max_iter": [5]})


def test_a_file_of_a_schema_that_cannot_be_read_is_named(tmp_path):
    for name in ("bad.toml", "bad.json"):
        path = tmp_path / name
        path.write_text("= [")
        with pytest.raises(SchemaError, match=rf"{name} must be "):
            Schema.load(path)
