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
from tests.conftest import train_few_models
from tests.report._chromium import PLACE, Chromium, browser

N = 1500
pytestmark = pytest.mark.skipif(browser() is None, reason=f"no browser; see {PLACE}")


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """A report with everything in it, pictures of real rows included."""
    pytest.importorskip("matplotlib")
    rng = np.random.default_rng(0)
    age = rng.integers(18, 90, N)
    seen = np.datetime64("2020-01-01") + rng.integers(0, 900, N)
    X = pd.DataFrame(
        {
            "age": np.where(rng.random(N) < 0.1, np.nan, age),
            "a rather long name": rng.choice(["a", "b"], N),
            f"a_long_name_{'without_a_space_' * 5}": rng.normal(size=N) * 1e5,
            "W" * 60: rng.choice(["<script>alert(1)</script>", "b & c"], N),
            "seen": seen.astype("datetime64[ns]"),
        }
    )
    y = pd.Series(np.where(age + rng.normal(size=N) * 9 > 60, "yes", "no"))
    synthesizer = DPIndependentSynthesizer(5.0, classes=["no", "yes"]).fit(X, y)
    content = report_content(synthesizer)
    with pytest.MonkeyPatch.context() as patch:
        train_few_models(patch)
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
    assert chromium.value("[...document.images].every(image => image.alt)")
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


# text that is cut or that leaves its cell; names in bars are shortened on purpose
CUT = """[...document.querySelectorAll('td, th, p, li, .bars > *, pre')]
    .filter(part => part.scrollWidth > part.clientWidth + 1 && part.clientWidth
            && !part.closest('.unseen')).length"""


@pytest.mark.parametrize("width", [1280, 760, 390, 320])
def test_nothing_is_wider_than_the_window_or_its_cell(chromium, width):
    chromium.picture(width, 800)
    root = "document.documentElement"
    assert chromium.value(f"{root}.scrollWidth") <= width
    assert chromium.value(CUT) == 0


def test_the_first_screen_answers_four_questions(chromium):
    chromium.picture(1280, 900)
    titles = "[...document.querySelectorAll('.answers h2')].map(one => one.innerText)"
    assert chromium.value(f"{titles}.join()") == (
        "Is it private?,How good is it?,What was lost?,May I share it?"
    )
    tops = "[...document.querySelectorAll('.answers .card')]"
    tops += ".map(one => one.getBoundingClientRect().top)"
    assert chromium.value(f"Math.max(...{tops})") < 700  # of 900 pixels
    bars = "[...document.querySelectorAll('.answers svg')]"
    assert chromium.value(f"{bars}.length") >= 3 + 2 + 2
    assert chromium.value(f"{bars}.every(bar => bar.getAttribute('aria-label'))")


def test_the_part_on_real_rows_comes_last_and_is_marked(chromium):
    last = "document.querySelector('main').lastElementChild"
    assert chromium.value(f"{last}.className") == "real"
    text = chromium.value(f"{last}.innerText")
    assert "The guarantee does not cover it. Do not share it." in text
    assert chromium.value("document.querySelectorAll('.real').length") == 1


def test_dark_and_light_can_be_read(chromium):
    for scheme, is_dark in (("light", False), ("dark", True)):
        chromium.emulate(scheme=scheme)
        ink, paper = colours(chromium)
        assert (ink > paper) == is_dark
        assert (max(ink, paper) + 0.05) / (min(ink, paper) + 0.05) > 7
        soft, _ = colours(chromium, ".card .soft")
        _, card = colours(chromium, ".card")
        for ink, paper in (colours(chromium, ".alarm"), (soft, card)):
            assert (max(ink, paper) + 0.05) / (min(ink, paper) + 0.05) > 4.5
    chromium.emulate()


def test_it_prints_dark_on_white(chromium):
    chromium.emulate(media="print", scheme="dark")
    ink, paper = colours(chromium)
    assert (ink, paper) == (0, 1)
    cut = chromium.value(CUT)
    chromium.call("Emulation.clearDeviceMetricsOverride")
    printed = chromium.print()
    chromium.emulate()
    assert cut == 0
    assert printed.startswith(b"%PDF")
    assert 2 <= len(re.findall(rb"/Type\s*/Page\b", printed)) <= 15
