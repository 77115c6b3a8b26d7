"""The first screen: verdicts follow from the certificate, and ranges from the noise."""

import re

import numpy as np
import pandas as pd
import pytest

from skdpgen import DPIndependentSynthesizer
from skdpgen.exceptions import NotPrivateWarning
from skdpgen.privacy import insecure_noise_seed
from skdpgen.report import as_html, report_content, with_real
from skdpgen.report._answers import answers

N = 3000
RARE, EARLY = 0.2, 0.1  # shares of rows whose value is lost
EMPTY = {"alarm": "NOT PRIVATE: real", "left_out": [], "distances": [],
         "scores": None, "figures": []}  # fmt: skip


@pytest.fixture(scope="module")
def ugly():
    """Missing values, rare texts, dates and times, names that are long or HTML."""
    rng = np.random.default_rng(0)
    days = pd.Timestamp("2015-03-01") + pd.to_timedelta(rng.integers(0, 3900, N), "D")
    seconds = pd.to_timedelta(rng.integers(0, 10**8, N), "s")
    job = rng.choice(["clerk", "<i>nurse</i>"], N)
    rare = np.array([f"job {i}" for i in range(N)])
    return pd.DataFrame(
        {
            "<b>job</b>": np.where(rng.random(N) < RARE, rare, job),
            "a_name_" * 12: rng.normal(size=N) * 1e5,
            "joined": pd.Series(days).where(rng.random(N) >= EARLY),
            "last seen": pd.Timestamp("2020-01-01 00:00:00.25") + seconds,
        }
    )


@pytest.fixture(scope="module")
def content(ugly):
    with pytest.warns(NotPrivateWarning), insecure_noise_seed(0):
        synthesizer = DPIndependentSynthesizer(3.0).fit(ugly)
    made = report_content(synthesizer)
    # as if the noise had no seed
    made["alarms"], made["guarantee"]["alarms"] = [], []
    return {**made, "answers": answers(made)}


def test_shares_are_ranges_around_the_truth(content, ugly):
    columns = {column["name"]: column for column in content["columns"]}
    missing = columns["joined"]["missing"]
    assert missing["low"] <= ugly["joined"].isna().mean() <= missing["high"]
    assert missing["high"] - missing["low"] < 0.1
    (rare,) = columns["<b>job</b>"]["losses"]
    truly = ugly["<b>job</b>"].str.startswith("job").mean()
    assert rare["range"]["low"] <= truly <= rare["range"]["high"]
    worst = content["answers"]["lost"]["bars"][0]
    assert (worst["name"], worst["what"]) == ("<b>job</b>", "rare or unlisted")
    assert content["answers"]["lost"]["verdict"].startswith("One large loss was")


def test_dates_are_written_in_words(content):
    page = as_html(content)
    assert re.search(r"[1-9]\d? [JFMASOND][a-z]+ 20\d\d", page)
    visible = page[: page.index("<h2>The certificate")]
    assert not re.findall(r"\d{4}-\d\d-\d\d", visible)
    assert not re.findall(r":\d\d\.\d", visible)  # fractions of seconds
    columns = {column["name"]: column for column in content["columns"]}
    assert columns["joined"]["lower"].startswith("20")  # as data they are ISO
    assert columns["joined"]["range"].count(" to ") == 1


def test_names_may_break_but_are_no_html(content):
    page = as_html(content)
    assert "<b>job</b>" not in page
    assert "<i>nurse</i>" not in page
    assert "a_<wbr>name_<wbr>" in page


@pytest.mark.parametrize(
    ("epsilon", "private", "share"),
    [
        (1.0, "Yes. The guarantee is strong (epsilon 1).", "Yes, if you can"),
        (3.0, "Yes. The guarantee is moderate (epsilon 3).", "Yes, if your org"),
        (20.0, "Yes. The guarantee is weak (epsilon 20).", "Only with care."),
    ],
)
def test_verdicts_follow_epsilon(content, epsilon, private, share):
    found = answers(
        {**content, "guarantee": {**content["guarantee"], "epsilon": epsilon}}
    )
    assert found["private"]["verdict"] == private
    assert found["share"]["verdict"].startswith(share)


def test_an_alarm_forbids_sharing(content):
    found = answers({**content, "alarms": ["LEAK: the schema was read off the rows"]})
    assert found["private"]["verdict"].startswith("No.")
    assert found["share"]["verdict"].startswith("No.")
    assert [line["passed"] for line in found["share"]["checked"]].count(False) == 1


def test_a_large_delta_is_no_plain_yes(content):
    found = answers({**content, "public": ["delta exceeds 1 / rows: it may expose"]})
    assert found["share"]["verdict"].startswith("Only with care.")


def test_a_report_on_real_rows_is_not_to_be_shared(content):
    joined = with_real(content, EMPTY)
    assert joined["answers"]["share"]["verdict"].startswith("Not this report: part 2")
    assert joined["answers"]["private"] == content["answers"]["private"]
    assert joined["answers"]["quality"] == content["answers"]["quality"]
    page = as_html(joined)
    assert page.index("May I share it?") < page.index("Part 2: comparison with real")
    assert page.index("The certificate") < page.index("Part 2: comparison with real")


def test_single_columns_have_no_relationships(content):
    assert content["answers"]["quality"]["verdict"].startswith("Limited: single")
    assert "No relationships" in content["answers"]["lost"]["verdict"]


def test_add_remove_calls_the_number_of_rows_noisy(ugly):
    synthesizer = DPIndependentSynthesizer(3.0, adjacency="add_remove").fit(ugly)
    page = as_html(report_content(synthesizer))
    assert "Computed from about" in page
    assert "(the number was released with noise)" in page


def test_columns_that_are_made_up_are_named_as_lost():
    table = pd.DataFrame(
        {"note": [f"text {i}" for i in range(3000)], "a": [1, 2] * 1500}
    )
    table.loc[:2500, "note"] = None
    with pytest.warns(NotPrivateWarning), insecure_noise_seed(0):
        synthesizer = DPIndependentSynthesizer(20.0).fit(table)
    made = report_content(synthesizer)
    assert answers(made)["lost"]["made_up"] == ["note"]
    page = as_html({**made, "answers": answers(made)})
    assert "No value is kept of note: made up for each row" in page
    assert "nearly all values differ, written anew: note" in page
