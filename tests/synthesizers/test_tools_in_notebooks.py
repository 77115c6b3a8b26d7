"""What a notebook shows of plans and searches: the content of their text, escaped."""

import html
import math
import re

import pandas as pd
import pytest

from skdpgen import plan
from skdpgen.synthesizers import GeneratorSearch, SearchCost

WILD = "<script>alert(1)</script>"
TAGS = re.compile(r"<style>.*?</style>|<[^>]*>")


def words_of(shown):
    """Return the text of HTML, which is that of one block with its style."""
    assert shown.startswith('<div class="skdpgen"><style>')
    assert "://" not in shown
    return html.unescape(TAGS.sub(" ", shown))


def numbers_of(text):
    return set(re.findall(r"\d+(?:\.\d+)?", text))


@pytest.mark.parametrize("given", [(20_000, 15), (50, 3), (10**6, 1)])
@pytest.mark.parametrize("is_schema_public", [False, True])
def test_a_plan_shows_the_numbers_of_its_text(given, is_schema_public):
    planned = plan(*given, is_schema_public=is_schema_public)
    shown = planned._repr_html_()
    assert numbers_of(words_of(shown)) <= numbers_of(str(planned))
    for line in planned._expectations():
        assert html.escape(line) in shown
        assert line in str(planned)
    assert all(name in shown for name in planned.costs)


def test_a_plan_that_cannot_work_has_an_alarm():
    alarm = '<p class="alarm">TOO FEW: give a Schema</p>'
    assert alarm in plan(50, 3)._repr_html_()
    assert alarm not in plan(50, 3, is_schema_public=True)._repr_html_()
    assert alarm not in plan(20_000, 15)._repr_html_()


COST = {"epsilon": 2.0, "delta": 1e-5, "mu": 0.5, "n_fits": 7}


@pytest.mark.parametrize(
    ("changed", "alarm"),
    [
        ({}, None),
        ({"is_inferred": True}, "LEAK: "),
        ({"is_exposed": True}, "This delta is above 1 / rows"),
        ({"is_seeded": True}, "NOT PRIVATE: the noise"),
        ({"epsilon": math.inf}, "NOT PRIVATE: a candidate"),
    ],
)
def test_the_cost_of_a_search_shows_alarms_and_the_words_of_its_text(changed, alarm):
    cost = SearchCost(**COST | changed)
    shown = cost._repr_html_()
    words = sorted(" ".join(words_of(shown).replace(" ,", ",").split()).split())
    assert words == sorted(str(cost).split())
    after_style = shown.partition("</style>")[2]
    if alarm is None:
        assert "alarm" not in after_style
    else:
        assert after_style.startswith(f'<p class="alarm">{alarm}')
    is_private = "NOT PRIVATE" not in (alarm or "")
    assert is_private == ("(2, 1e-05)-differentially private</b>" in shown)


def test_a_search_of_generators_is_a_table_without_tags_of_users():
    rows = {
        "n_latent": [3, 8],
        WILD: [WILD, (64, 64)],
        "score": [1.03149, 1.5],
        "seconds": [0.1, 0.2],
    }
    shown = GeneratorSearch(pd.DataFrame(rows), {"n_latent": 3})._repr_html_()
    assert "<script" not in shown
    assert shown.count("&lt;script&gt;") == 2
    assert "<th>n latent</th>" in shown
    assert "<td><b>1.031</b></td>" in shown
    assert "<td>(64, 64)</td>" in shown


def test_a_long_search_of_generators_is_cut():
    rows = pd.DataFrame({"max_iter": range(1000), "score": [1.0] * 1000})
    shown = GeneratorSearch(rows, {"max_iter": 0})._repr_html_()
    assert "and 960 more" in shown
    assert len(shown) < 20_000
