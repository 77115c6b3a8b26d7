"""The page about a model: what it says, and that nothing of it leaves the machine."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from skdpgen import DPIndependentSynthesizer, DPMGESynthesizer
from skdpgen.report import as_html, beside_real, report_content, with_real

N = 1500


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    age = rng.integers(18, 90, N)
    X = pd.DataFrame({"age": age, "<b>job</b>": rng.choice(["a", "b & c"], N)})
    y = np.where(age + rng.normal(size=N) * 9 > 60, "yes", "no")
    synthesizer = DPIndependentSynthesizer(5.0, classes=["no", "yes"]).fit(X, y)
    return synthesizer, (X, pd.Series(y))


def test_content_is_plain_data(fitted):
    content = report_content(fitted[0])
    again = json.loads(json.dumps(content))
    assert again == content
    assert content["guarantee"]["epsilon"] == 5.0
    assert sum(one["share"] for one in content["budget"]) == pytest.approx(1.0)
    assert len(content["columns"]) == 2 + ("(target)" in str(content["columns"]))


def test_the_odds_are_those_of_epsilon(fitted):
    for one in report_content(fitted[0])["guarantee"]["odds"]:
        before, after = one["before"], one["after"]
        odds = after / (1 - after) / (before / (1 - before))
        assert odds == pytest.approx(np.exp(5.0), rel=0.2)  # of three digits
        assert odds >= np.exp(5.0)  # rounded up, so "at most" stays true


def test_names_of_columns_are_no_html(fitted):
    page = as_html(report_content(fitted[0]))
    assert "<b>job</b>" not in page
    assert "&lt;b&gt;job&lt;/b&gt;" in page


@pytest.mark.usefixtures("few_models")
def test_the_page_asks_for_nothing_from_elsewhere(fitted):
    synthesizer, real = fitted
    content = report_content(synthesizer)
    content = with_real(content, beside_real(synthesizer.sample(N), real))
    page = as_html(content)
    assert "default-src 'none'" in page
    assert not re.findall(r"(?:src|href)=\"(?!data:)", page)
    assert "<script" not in page
    assert len(re.findall("<section[ >]", page)) == len(re.findall("</section>", page))


def test_without_privacy_the_page_says_so_first(fitted):
    _, (X, y) = fitted
    leaky = DPIndependentSynthesizer(np.inf).fit(X, y)
    page = as_html(report_content(leaky))
    assert page.index("NOT PRIVATE") < page.index("What the budget")
    assert "suspected before" not in page


@pytest.mark.usefixtures("few_models")
def test_models_learn_from_relations_that_the_baseline_lacks(fitted):
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 2000))
    rows = pd.DataFrame({"a": a, "b": b}), pd.Series(np.where(a * b > 0, "x", "y"))
    found = beside_real(rows, rows, pictures=False)
    best = found["scores"]["best"]
    assert best["synthetic"] > 0.95
    assert best["baseline"] < 0.7


def test_images_have_a_page_too():
    rng = np.random.default_rng(0)
    images = rng.integers(0, 255, (400, 8, 8), dtype=np.uint8)
    synthesizer = DPMGESynthesizer(5.0, classes=[0, 1])
    synthesizer.fit(images, rng.integers(0, 2, 400))
    content = report_content(synthesizer)
    assert content["rows"] is None
    page = as_html(content)
    assert "Report on synthetic images" in page
    assert "Look at the images below." in page
