"""Words that the main release names: their sensitivity, their shares, what is said."""

import warnings

import numpy as np
import pandas as pd
import pytest

from skdpgen import DPIndependentSynthesizer, DPPairwiseSynthesizer, Schema
from skdpgen.privacy import insecure_noise_seed
from skdpgen.synthesizers.opening import LateWords
from skdpgen.tables import Categorical
from skdpgen.utils import Key
from tests.synthesizers.test_sensitivity import SLACK, Stages

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
N = 6_000
TOWNS = [f"town {k}" for k in range(25)]  # of which each has 60 rows


def make_table(n_rows=N):
    rng = np.random.default_rng(0)
    place = rng.permutation(n_rows)
    town = np.where(
        place < n_rows // 4, np.array(TOWNS)[place % len(TOWNS)], "the capital"
    )
    job = np.where(rng.random(n_rows) < 0.5, "office", "workshop")
    age = rng.integers(18, 90, n_rows)
    y = np.where(rng.random(n_rows) < 0.5, "yes", "no")
    return pd.DataFrame({"town": town, "job": job, "age": age}), pd.Series(y)


@pytest.fixture(scope="module")
def fitted():
    X, y = make_table()
    with warnings.catch_warnings(action="ignore"), insecure_noise_seed(0):
        return DPIndependentSynthesizer(3.0, random_state=0).fit(X, y)


@pytest.mark.parametrize("maker", [DPIndependentSynthesizer, DPPairwiseSynthesizer])
@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_no_row_moves_histograms_and_words_further_than_is_charged(
    monkeypatch, maker, adjacency
):
    X, y = make_table(1_500)
    stages = Stages(monkeypatch)
    with insecure_noise_seed(0):
        maker(6.0, adjacency=adjacency).fit(X, y)
    stages.calls = [call for call in stages.calls if Key.COLUMNS in call[0]]
    stages.calls = [call for call in stages.calls if Key.OPEN in call[0]]
    *_, (blocks, _, n_classes, _, _) = stages.calls
    assert n_classes == 2  # the main release asks for words
    assert blocks[Key.OPEN].columns
    largest = 0.0
    for town, job, label in [
        ("nobody's", "nobody's", "yes"),
        ("the capital", "nobody's", "no"),
        (None, "workshop", "maybe"),
    ]:
        other, labels = X.copy(), y.copy()
        other.loc[3, ["town", "job", "age"]] = town, job, 2**40
        labels[3] = label
        if adjacency == "add_remove":
            other, labels = other.drop(index=3), labels.drop(index=3)
        for moved, claimed in stages.moves((X, y), (other, labels)):
            assert moved <= claimed * SLACK
            largest = max(largest, moved / claimed)
    assert largest > 0.7  # the search is not blind


def test_the_main_release_names_words_that_discovery_could_not(fitted):
    late = fitted._facts.late_words["town"]
    assert set(late.words) <= set(TOWNS)
    assert len(late.words) > 10
    assert len(fitted.schema_.columns["town"].categories) > 23
    assert "the capital" in fitted.cells_["town"].categories
    assert not set(late.words) & set(fitted.cells_["town"].categories)
    assert set(late.words) <= set(fitted.schema_.columns["town"].categories)


def test_words_are_drawn_with_their_shares_and_others_are_fewer(fitted):
    drawn, _ = fitted.sample(60_000, random_state=1)
    shares = drawn["town"].value_counts(normalize=True)
    late = fitted._facts.late_words["town"]
    for word, rows in zip(late.words, late.rows, strict=True):
        assert abs(shares[word] - rows / N) < 6 * 0.1 / np.sqrt(60_000) + 0.002
    assert shares.get("other", 0.0) < 0.05


def test_what_is_said_of_others_leaves_out_words_with_a_name(fitted):
    X, _ = make_table()
    line = fitted.columns_.loc["town"]
    named = set(fitted.schema_.columns["town"].categories)
    truth = (~X["town"].isin(named)).mean()
    assert abs(line["other"] - truth) < 5 * line["other_noise"]
    assert line["other_noise"] > line["noise"]


def test_without_words_there_is_no_block_and_no_draw():
    X, y = make_table()
    schema = Schema(
        {
            "town": Categorical(["the capital", *TOWNS]),
            "job": Categorical(["office", "workshop"]),
        }
    )
    with insecure_noise_seed(0):
        synthesizer = DPIndependentSynthesizer(3.0, schema=schema).fit(X, y)
    assert synthesizer._facts.late_words == {}


def test_others_that_are_not_words_stay_others():
    late = LateWords(("a", "b"), (30.0, 10.0), 1.0)
    values = pd.Series(["x", *["other"] * 80_000])
    is_other = (values == "other").to_numpy()
    found = late.put(values, is_other, 80.0, np.random.default_rng(0))
    shares = found.value_counts(normalize=True)
    assert found[0] == "x"
    assert shares["a"] == pytest.approx(30 / 80, abs=0.01)
    assert shares["b"] == pytest.approx(10 / 80, abs=0.01)
    assert shares["other"] == pytest.approx(40 / 80, abs=0.01)
    all_named = late.put(values, is_other, 20.0, np.random.default_rng(0))
    assert "other" not in set(all_named)


def test_clipped_counts_of_words_are_less_sure():
    alone, together = (LateWords(("a",), (400.0,), 2.0, n) for n in (1, 4))
    assert alone.total_noise == pytest.approx(4.0)  # noise may have helped the last one
    assert together.total_noise == pytest.approx(np.hypot(4.0, 100.0))


def test_words_that_were_clipped_or_have_no_label_come_back_with_their_shares():
    rng = np.random.default_rng(1)
    n_rows = 12_000
    weights = 1.0 / np.arange(1, 61) ** 1.3
    words = np.array([f"w{k}" for k in range(60)])
    X = pd.DataFrame(
        {
            "code": np.char.add("c", rng.integers(0, 9_000, n_rows).astype(str)),
            "one": rng.choice(words, n_rows, p=weights / weights.sum()),
            "two": rng.choice(words, n_rows, p=weights / weights.sum()),
        }
    )
    X.loc[rng.random(n_rows) < 0.3, "code"] = "none"
    y = pd.Series(rng.choice(["a", "b"], n_rows), dtype=object)
    y[rng.random(n_rows) < 0.3] = None
    with insecure_noise_seed(0):
        synthesizer = DPIndependentSynthesizer(1.0, random_state=0).fit(X, y)
    known = X[y.notna()]
    drawn, _ = synthesizer.sample(40_000, random_state=0)
    for name in ("one", "two"):
        late = synthesizer._facts.late_words[name]
        assert late.n_columns > 1
        assert len(late.words) >= 5
        assert abs(sum(late.rows) / X[name].isin(late.words).sum() - 1.0) < 0.2
        real, fake = (table[name].isin(late.words).mean() for table in (known, drawn))
        assert abs(fake / real - 1.0) < 0.2  # without weights it is .75
