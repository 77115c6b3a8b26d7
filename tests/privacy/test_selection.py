"""Which values are shown: by noisy counts alone, as often as their noise says."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from skdpgen.privacy import (
    GivenBatches,
    Ledger,
    PrivacyBudget,
    Selections,
    _release,
    insecure_noise_seed,
    release,
)
from skdpgen.privacy._budget import Adjacency
from skdpgen.privacy._release import EVIDENCE
from skdpgen.privacy._value_counts import selection_threshold

N, ALPHA = 2000, 1e-6


def shown(n_rows, ledger):
    """Return the noisy count of a value that ``n_rows`` have; None if not shown."""
    tokens = SimpleNamespace(codes=np.zeros(n_rows, dtype=np.int64), values=("a",))
    batch = SimpleNamespace(labels=tokens.codes, parts={"tokens": {"column": tokens}})
    released = release(
        GivenBatches([batch]),
        {"tokens": Selections(("column",))},
        name="values",
        ledger=ledger,
        share=1.0,
    )
    return released.values["tokens"]["column"].get("a")


def new_ledger():
    return Ledger(PrivacyBudget.reserving(4.0, 1e-3, Adjacency.ADD_REMOVE, 1))


@pytest.mark.parametrize("away", [-1.0, 0.0, 1.0])  # from the threshold, in stds
def test_a_value_is_shown_as_often_as_its_noise_says(away):
    ledger = new_ledger()
    std = ledger.noise_std(share=1.0, sensitivity=1.0)
    threshold = selection_threshold(std, ledger.budget.delta_selection, 1)
    n_rows = round(threshold + away * std)
    counts = [shown(n_rows, new_ledger()) for _ in range(N)]
    seen = [count for count in counts if count is not None]
    chance = stats.norm.sf((threshold - n_rows) / std)
    assert stats.binomtest(len(seen), N, chance).pvalue > ALPHA
    assert min(seen) > threshold
    assert len(set(seen)) > 0.99 * len(seen)  # each with its noise


def test_a_value_of_one_row_is_shown_as_rarely_as_delta_says():
    for n_columns in (1, 3, 40):
        threshold = selection_threshold(2.0, 0.01, n_columns)
        hidden = stats.norm.cdf((threshold - 1.0) / 2.0) ** n_columns
        assert 0.99 <= hidden < 0.99 + 1e-6


def test_a_column_is_selected_from_once():
    """Named twice, each row would count twice and be charged once."""
    with pytest.raises(ValueError, match="a name twice"):
        Selections(("job", "region", "job"))


# ----------------------------------------------------------------- public values

BUDGET = PrivacyBudget.reserving(4.0, 1e-3, Adjacency.ADD_REMOVE, 1)
PUBLIC = tuple(f"word {i:03d}" for i in range(200))
not_private = pytest.mark.filterwarnings("ignore::skdpgen.exceptions.NotPrivateWarning")


def words_shown(rows, public, seed):
    """Return noisy counts of words, with the noise of a seed, and its std."""
    values = tuple(dict.fromkeys(rows))  # in the order in which rows have them
    codes = np.array([values.index(word) for word in rows], dtype=np.int64)
    tokens = SimpleNamespace(codes=codes, values=values)
    labels = np.zeros(len(rows), dtype=np.int64)
    batch = SimpleNamespace(labels=labels, parts={"tokens": {"column": tokens}})
    with insecure_noise_seed(seed):
        released = release(
            GivenBatches([batch]),
            {"tokens": Selections(("column",), public)},
            name="values",
            ledger=Ledger(BUDGET),
            share=1.0,
        )
    return released.values["tokens"]["column"], released.noise_std["tokens"]


@not_private
def test_public_words_that_no_row_has_get_noise(monkeypatch):
    """Of 60 x 200 draws 2.8 pass 3.5 stds by chance; the seeds make it certain."""
    monkeypatch.setattr(_release, "EVIDENCE", 3.5)
    by_chance = []
    for seed in range(60):
        counts, std = words_shown([], PUBLIC, seed)
        assert set(counts) <= set(PUBLIC)
        assert all(count > 3.5 * std for count in counts.values())
        by_chance += counts.values()
    assert 1 <= len(by_chance) <= 10
    assert all(count != round(count) for count in by_chance)


@not_private
@pytest.mark.parametrize("n_rows", [0, 1, 7])
def test_a_row_with_a_public_word_changes_its_count_alone(n_rows):
    """With noise of the same seed, all other words have the same counts, to the bit."""
    others = ["word 003"] * 60 + ["not listed"] * 90
    for seed in range(20):
        without, _ = words_shown(others, PUBLIC, seed)
        with_them, std = words_shown(others + ["word 100"] * n_rows, PUBLIC, seed)
        before, after = without.pop("word 100", None), with_them.pop("word 100", None)
        assert with_them == without
        if after is not None:  # there is no more to it than its noisy count
            assert after > EVIDENCE * std
        if before is not None:
            assert after == pytest.approx(before + n_rows, abs=std * 2.0**-18)
    many, _ = words_shown(others + ["word 100"] * 80, PUBLIC, 0)
    assert many.pop("word 100") > 0
    assert many == words_shown(others, PUBLIC, 0)[0]


@not_private
def test_words_that_are_not_public_need_the_threshold():
    """A word of one row is never shown below it, beside public ones or not."""
    rows = [f"only mine {i}" for i in range(300)] + ["shared"] * 60
    for seed in range(20):
        counts, std = words_shown(rows, PUBLIC, seed)
        threshold = selection_threshold(std, BUDGET.delta_selection, 1)
        assert counts["shared"] > threshold
        found = set(counts) - set(PUBLIC) - {"shared"}
        assert all(counts[word] > threshold for word in found)
        assert len(found) <= 2  # of 300, .03 are expected at this delta


@not_private
def test_no_more_evidence_is_asked_of_a_public_word_than_of_another():
    """Some that 4.3 stds of rows have are shown if listed, and not if they are not."""
    listed, unlisted = 0, 0
    for seed in range(50):
        _, std = words_shown([], PUBLIC, 0)
        rows = ["word 100"] * round(4.3 * std)
        listed += "word 100" in words_shown(rows, PUBLIC, seed)[0]
        unlisted += "word 100" in words_shown(rows, (), seed)[0]
    assert listed > 15
    assert unlisted < listed


def test_without_noise_exactly_the_words_of_rows_are_shown():
    rows = ["word 001", "word 001", "not listed"]
    tokens = SimpleNamespace(
        codes=np.array([0, 0, 1]), values=("word 001", "not listed")
    )
    batch = SimpleNamespace(
        labels=np.zeros(len(rows), dtype=np.int64),
        parts={"tokens": {"column": tokens}},
    )
    budget = PrivacyBudget.reserving(math.inf, 1e-5, Adjacency.REPLACE, 1)
    released = release(
        GivenBatches([batch]),
        {"tokens": Selections(("column",), PUBLIC)},
        name="values",
        ledger=Ledger(budget),
        share=1.0,
    )
    assert released.values["tokens"]["column"] == {"not listed": 1.0, "word 001": 2.0}
