"""The page of NIST's table, and what it is made of."""

import numpy as np
import pandas as pd
import pytest

from benchmarks import national2019
from benchmarks.national2019 import (
    COLUMNS,
    MARKED,
    PAGE,
    RULES,
    filled,
    nist_score,
    peer_releases,
    rules_of,
)
from benchmarks.peers import PLACE
from tests.benchmarks._fake_peer import write_fake


def test_tables_of_the_page_are_those_of_stored_rows():
    """`python -m benchmarks nist page` writes them."""
    page = PAGE.read_text("utf-8")
    assert filled(page) == page
    outside = MARKED.sub("", page)
    assert [line for line in outside.splitlines() if line.startswith("|")] == []


def test_subsets_of_columns():
    everything, simple, few = (names.split() for names in COLUMNS.values())
    assert [len(names) for names in (everything, simple, few)] == [24, 21, 10]
    assert set(everything) - set(simple) == {"INDP", "PWGTP", "WGTP"}
    assert set(few) < set(simple)
    assert set(rules_of(everything)) == set(RULES)
    assert "child_INDP" not in rules_of(simple)


def test_the_score_of_sdnist_has_no_industry_and_pumas_if_there_are_some():
    table = pd.DataFrame(
        {
            "PUMA": list("aabb"),
            "INDP": list("1234"),
            "SEX": [1, 2, 1, 2],
            "PINCP": ["N", "3.0", "N", "5.0"],
        }
    )
    other = table.assign(INDP=list("4321"))
    assert nist_score(table, other) == 1000
    assert nist_score(table, other, with_industry=True) == pytest.approx(1000 / 3)
    swapped = table.assign(PUMA=list("bbaa"))
    # in each PUMA the row with an income stays with its sex, but not with its income,
    # which is in another bin
    assert nist_score(table, swapped) == 500
    few = ["SEX", "PINCP"]
    assert nist_score(table[few], swapped[few]) == 1000


def test_sub_samples_come_near_to_the_rows(monkeypatch):
    rng = np.random.default_rng(0)
    names = COLUMNS["demographic, 10"].split()
    table = pd.DataFrame({name: rng.integers(0, 3, 500) for name in names})
    monkeypatch.setattr(national2019, "COLUMNS", {"all, 24": " ".join(names)})
    monkeypatch.setattr(national2019, "N_DRAWS", 1)
    scores = [row["score"] for row in national2019.sub_samples(table)]
    assert len(scores) == 8
    assert scores[:4] == scores[4:] == sorted(scores[:4])  # there is no industry
    assert scores[3] < 1000


def test_a_peer_is_scored_as_ours_or_given_up(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    columns = {name: rng.integers(0, 3, 300) for name in ("SEX", "AGEP", "DVET")}
    table = pd.DataFrame(columns).assign(PUMA=rng.choice(["a", "b"], 300))
    python = tmp_path / "dpmm" / "bin" / "python"
    python.parent.mkdir(parents=True)
    write_fake(python)
    monkeypatch.setenv(PLACE, str(tmp_path))
    (row,) = peer_releases(table, ["mst"], limit=300)
    # the fake copies rows and has costs of its own
    assert row["rows"] == 300
    assert 0 <= row["two_way_tv"] <= row["three_way_tv"] <= 1
    assert (row["fit_seconds"], row["peak_mib"]) == (7.0, 11.0)
    (row,) = peer_releases(table, ["mst"], limit=0.01)
    assert row["given_up"] == 0.01
    assert "score" not in row
