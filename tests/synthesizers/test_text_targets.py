"""A target of text that says numbers: released counts alone decide that it is one."""

import math

import numpy as np
import pandas as pd
import pytest

from skdpgen import DPIndependentSynthesizer
from skdpgen.exceptions import NotPrivateWarning, SchemaRequiredError
from skdpgen.privacy import insecure_noise_seed
from skdpgen.synthesizers.opening import _first_look

NAME = "kinds of values of the target"


def fitted(y, adjacency="replace"):
    X = pd.DataFrame({"a": np.arange(len(y)) % 7})
    with pytest.warns(NotPrivateWarning), insecure_noise_seed(0):
        return DPIndependentSynthesizer(2.0, adjacency=adjacency).fit(X, y)


@pytest.fixture(scope="module")
def amounts():
    return np.random.default_rng(0).lognormal(9, 1, 2000).round(2)


@pytest.mark.parametrize("form", ["{:.2f}", "{:,.2f}"])
@pytest.mark.parametrize(
    ("adjacency", "moved"), [("replace", math.sqrt(2)), ("add_remove", 1.0)]
)
def test_text_of_numbers_is_a_number(amounts, form, adjacency, moved):
    y = pd.Series([form.format(one) for one in amounts])
    y[:100] = form.format(500_001)  # the one label that is found
    synthesizer = fitted(y, adjacency)
    assert synthesizer.task_ == "regression"
    (entry,) = [one for one in synthesizer.privacy_.releases if one.name == NAME]
    assert entry.sensitivity == pytest.approx(moved)
    assert entry.noise_std > 0
    assert "y: its text says numbers" in str(synthesizer.privacy_)
    _, drawn = synthesizer.sample(1000, random_state=0)
    assert drawn.dtype == y.dtype
    drawn = drawn.astype(float)
    assert drawn.nunique() > 500
    assert 5_000 < drawn.median() < 13_000


@pytest.mark.filterwarnings("ignore::skdpgen.exceptions.SchemaWarning")
def test_released_counts_decide_and_not_the_rows(amounts, monkeypatch):
    def nothing(released, grids):
        return {name: np.zeros(grid.n_cells) for name, grid in grids.items()}

    monkeypatch.setattr(_first_look, "by_column", nothing)
    y = pd.Series(amounts.astype(str))
    y[:100] = "500001.0"
    synthesizer = fitted(y)
    assert hasattr(synthesizer, "classes_")  # and so no numbers
    assert list(synthesizer.classes_) == ["500001.0"]


@pytest.mark.parametrize("make", [lambda i: f"0{i:05d}", lambda i: f"word {i}"])
def test_codes_and_words_are_no_numbers(make):
    with pytest.raises(SchemaRequiredError, match="class label"):
        fitted(pd.Series([make(i) for i in range(2000)]))


def test_few_labels_cost_nothing_more():
    synthesizer = fitted(pd.Series([str(i % 3) for i in range(2000)]))
    assert list(synthesizer.classes_) == ["0", "1", "2"]
    assert NAME not in [one.name for one in synthesizer.privacy_.releases]
