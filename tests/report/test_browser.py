"""The page in a real browser: skipped where there is none.

`chromium` on the path, or any of its kind that the variable SKDPGEN_BROWSER names.
"""

import json
import re

import numpy as np
import pandas as pd
import pytest

from skdpgen import DPIndependentSynthesizer
from skdpgen.report import as_html, beside_real, report_content, with_real
from tests.report._chromium import PLACE, Chromium, browser

N = 1500
pytestmark = pytest.mark.skipif(browser() is None, reason=f"no browser; see {PLACE}")


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """A report with everything in it, pictures of real rows included."""
    pytest.importorskip("matplotlib")
    rng = np.random.default_rng(0)
    age = rng.integers(18, 90, N)
    X = pd.DataFrame({"age": age, "a rather long name": rng.choice(["a", "b"], N)})
    y = pd.Series(np.where(age + rng.normal(size=N) * 9 > 60, "yes", "no"))
    synthesizer = DPIndependentSynthesizer(5.0, classes=["no", "yes"]).fit(X, y)
    content = report_content(synthesizer)
    content = with_real(content, beside_real(synthesizer.sample(N), (X, y)))
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(as_html(content), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def chromium(page, tmp_path_factory):
    with Chromium(tmp_path_factory.mktemp("browser")) as opened:
        opened.seconds = opened.open(page)
        yield opened


def luminance(colour):
    """Of `rgb(r, g, b)`, as the guidelines for contrast have it."""
    parts = np.array([int(part) for part in re.findall(r"\d+", colour)[:3]]) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]


def colours(chromium, part="body"):
    style = f"getComputedStyle(document.querySelector('{part}'))"
    both = chromium.value(f"JSON.stringify([{style}.color, {style}.backgroundColor])")
    return [luminance(colour) for colour in json.loads(both)]


def test_it_renders_all_sections_and_pictures(chromium):
    assert chromium.seconds < 30  # a second where nothing else runs
    assert chromium.value("document.querySelectorAll('section h2').length") >= 5
    broken = "[...document.images].filter(one => !one.complete || !one.naturalWidth)"
    assert chromium.value("document.images.length") >= 2
    assert chromium.value(f"{broken}.length") == 0
    assert chromium.value("document.querySelector('main').offsetHeight") > 1000


def test_the_console_is_empty(chromium):
    said = chromium.told("Runtime.consoleAPICalled", "Runtime.exceptionThrown")
    assert said + chromium.told("Log.entryAdded") == []


def test_no_request_leaves_the_page(chromium):
    asked = chromium.told("Network.requestWillBeSent")
    schemes = [one["request"]["url"].partition(":")[0] for one in asked]
    assert schemes.count("file") == 1  # the page itself
    assert set(schemes) <= {"file", "data"}


@pytest.mark.parametrize("width", [1200, 380])
def test_nothing_is_wider_than_the_window(chromium, width):
    chromium.picture(width, 800)
    root = "document.documentElement"
    assert chromium.value(f"{root}.scrollWidth") <= width


def test_dark_and_light_can_be_read(chromium):
    for scheme, is_dark in (("light", False), ("dark", True)):
        chromium.emulate(scheme=scheme)
        ink, paper = colours(chromium)
        assert (ink > paper) == is_dark
        assert (max(ink, paper) + 0.05) / (min(ink, paper) + 0.05) > 7
        ink, paper = colours(chromium, ".alarm")
        assert (max(ink, paper) + 0.05) / (min(ink, paper) + 0.05) > 4.5
    chromium.emulate()


def test_it_prints_dark_on_white(chromium):
    chromium.emulate(media="print", scheme="dark")
    ink, paper = colours(chromium)
    assert (ink, paper) == (0, 1)
    chromium.emulate()
    printed = chromium.print()
    assert printed.startswith(b"%PDF")
    assert 2 <= len(re.findall(rb"/Type\s*/Page\b", printed)) <= 15
