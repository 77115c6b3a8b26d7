"""Public rows open no second door: fits with them know private rows by releases."""

import numpy as np
import pandas as pd
import pytest

from skdpgen import DPIndependentSynthesizer, DPPairwiseSynthesizer
from skdpgen.datasets import load_example, load_example_regression
from skdpgen.privacy import Ledger, PrivacyBudget, Release
from skdpgen.synthesizers.opening import _public_schema
from skdpgen.tables import Integer, Rows, Schema
from skdpgen.utils import Key
from tests.guards import _neighbours, _variants
from tests.guards.test_noise_of_fits import check as check_noise
from tests.guards.test_replay import check as check_replay

TABLES = _neighbours.tables()
OTHERS, LABELS = load_example(900)
OTHERS, LABELS = OTHERS.iloc[500:], LABELS.iloc[500:]
HOUSES, PRICES = load_example_regression(900)
SAME = OTHERS[["age", "job", "education", "income", "owns_home", "complaints"]].assign(
    since=OTHERS["customer_since"]
)
PUBLIC = {
    "frame": (SAME, LABELS),
    "frame, public": SAME,
    "frame without labels": SAME,
    "numbers as target": (HOUSES[["area", "rooms", "balcony", "heating"]], PRICES),
}
SYNTHESIZERS = (DPIndependentSynthesizer, DPPairwiseSynthesizer)
each = pytest.mark.parametrize("cls", SYNTHESIZERS)
both = pytest.mark.parametrize("adjacency", ["replace", "add_remove"])


def maker(cls, name):
    return _variants.maker(cls, public_data=PUBLIC[name])


@both
@pytest.mark.parametrize("name", PUBLIC)
@each
def test_a_table_is_known_by_its_releases_alone(cls, name, adjacency, monkeypatch):
    check_replay(maker(cls, name), TABLES[name], adjacency, monkeypatch)


@both
@each
def test_the_noise_is_what_is_declared(cls, adjacency, monkeypatch):
    case = TABLES["frame, public"]
    check_noise(maker(cls, "frame, public"), case, adjacency, monkeypatch)


@pytest.mark.parametrize("trusted", ["age", "children"])
def test_noisy_counts_alone_decide_which_columns_are_trusted(trusted, monkeypatch):
    frame = pd.DataFrame({"age": [30, 40] * 50, "children": [1, 2] * 50})
    here = {"age": Integer(0, 50), "children": Integer(10, 20)}  # one is right
    noisy = [100.0, 0.0] if trusted == "age" else [0.0, 100.0]
    values = {Key.COLUMNS: np.array([[*noisy, *noisy[::-1]]])}

    def play(*_args, **_params):
        return Release(values, {Key.COLUMNS: 1.0}, 1.0, 1.0, "replace")

    monkeypatch.setattr(_public_schema, "release", play)
    rows, ledger = Rows.read(frame), Ledger(PrivacyBudget(1.0, 1e-5))
    assert list(_public_schema.agreed(rows, here, ledger, 100.0)) == [trusted]


@each
def test_errors_about_public_rows_come_before_anything_is_paid(cls):
    case = TABLES["frame"]
    synth = cls(public_data=SAME.drop(columns="age"))
    with pytest.raises(ValueError, match="without age"):
        synth.fit(case.X, case.y)
    assert not hasattr(synth, "privacy_")
    assert Schema.infer(SAME)  # the others are a table like any
