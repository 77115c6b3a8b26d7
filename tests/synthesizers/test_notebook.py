"""What a notebook shows: no table of a user is HTML, and all that matters is there."""

import math
import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.pipeline import make_pipeline

from skdpgen import (
    DPIndependentSynthesizer,
    DPMERFSynthesizer,
    Generator,
    Integer,
)
from skdpgen.datasets import load_example
from skdpgen.privacy import insecure_noise_seed
from skdpgen.synthesizers.base._notebook import ColumnsFrame, fit_html

WILD = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def fitted():
    X, y = load_example(2000)
    X = X[["age", "job", "balance"]].rename(columns={"job": WILD})
    X[WILD] = np.where(np.arange(len(X)) % 2 == 0, "<b>", "&")
    synth = DPMERFSynthesizer(
        epsilon=1.0, schema={"age": Integer(0, 40)}, generator=Generator(max_iter=2)
    )
    with warnings.catch_warnings(action="ignore"), insecure_noise_seed(0):
        return synth.fit(X, y)


def shown(thing):
    """Return what a notebook shows of anything."""
    if hasattr(thing, "_repr_mimebundle_"):
        return thing._repr_mimebundle_()["text/html"]
    return thing._repr_html_()


def test_before_a_fit_it_is_the_diagram_of_scikit_learn():
    assert fit_html(DPIndependentSynthesizer()) == ""
    assert "sk-top-container" in shown(DPIndependentSynthesizer())


def test_after_a_fit_the_guarantee_and_the_losses_are_below(fitted):
    text = shown(fitted)
    assert fitted._repr_html_().endswith(fit_html(fitted))
    after = text.partition("differentially private")[2]
    assert "sk-top-container" in text.partition("differentially private")[0]
    assert "of the budget spent" in after
    assert "2 discovered, 1 given" in after
    assert "are above 40 and were moved to it" in after
    assert fitted.relations_learned_ in after
    assert "NOT PRIVATE: the noise came from insecure_noise_seed" in text


def test_names_and_categories_are_text(fitted):
    for thing in (fitted.privacy_, fitted.schema_, fitted.columns_):
        assert "<script" not in shown(thing)
        assert "&lt;script" in shown(thing)
    assert "&lt;b&gt;" in shown(fitted.schema_)  # a category
    assert "<script" not in fit_html(fitted)


def test_it_is_small_and_needs_nothing_from_elsewhere(fitted):
    for thing in (fitted.privacy_, fitted.schema_, fitted.columns_):
        assert len(shown(thing)) < 20_000
        assert "://" not in shown(thing)
    assert len(fit_html(fitted)) < 20_000


def test_a_pipeline_shows_its_own_diagram(fitted):
    assert "of the budget spent" not in shown(make_pipeline(fitted))


def test_where_scikit_learn_shows_text_nothing_is_html(fitted):
    with config_context(display="text"):
        assert "text/html" not in fitted._repr_mimebundle_()
        assert not hasattr(fitted, "_repr_html_")


def test_alarms_come_first_and_in_red(fitted):
    text = fitted.privacy_._repr_html_()
    start = text.partition("</style>")[2]
    assert start.startswith('<p class="alarm">NOT PRIVATE')
    endless = DPIndependentSynthesizer(epsilon=math.inf)
    X, y = load_example(100)
    endless.fit(X[["age"]], y)
    assert '<p class="alarm"><b>NOT PRIVATE' in endless.privacy_._repr_html_()


def test_columns_are_a_data_frame_and_show_percent(fitted):
    frame = fitted.columns_
    assert isinstance(frame, pd.DataFrame)
    assert type(frame[["missing"]]) is pd.DataFrame
    assert type(frame.T) is pd.DataFrame
    assert f"{frame['above']['age']:.1%} ± " in shown(frame)
    assert "noise" not in shown(frame)


def test_a_wide_table_is_cut():
    wide = ColumnsFrame({"missing": [0.1] * 1000, "missing_noise": [0.1] * 1000})
    assert "and 960 more" in shown(wide)
    assert len(shown(wide)) < 20_000


def test_a_fit_that_was_interrupted_says_so(fitted):
    stopped = SimpleNamespace(
        _fitted=object(), privacy_=fitted.privacy_, __sklearn_is_fitted__=lambda: False
    )
    assert "The fit did not end." in fit_html(stopped)
