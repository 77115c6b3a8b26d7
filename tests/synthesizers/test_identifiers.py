"""Whole numbers that differ in nearly every row: named, warned of, and paid for."""

import re
import warnings
from itertools import product
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from skdpgen import DPIndependentSynthesizer, load
from skdpgen.exceptions import IdentifierWarning
from skdpgen.privacy import (
    Adjacency,
    Distinct,
    Ledger,
    PrivacyBudget,
    insecure_noise_seed,
    sensitivity,
)
from skdpgen.report import as_html, report_content
from skdpgen.synthesizers.opening import _first_look
from skdpgen.synthesizers.opening._first_look import (
    BLURRED_COUNT,
    LOOK_SHARES,
    count_whole_numbers,
    perhaps_identifiers,
)
from skdpgen.tables import Chunks, Integer, Regenerate, Rows
from skdpgen.utils import Key

N = 4000
ADJACENCIES = ["replace", "add_remove"]
LINE = "whole numbers that differ in nearly every row, perhaps identifiers: "
pytestmark = pytest.mark.filterwarnings("ignore::skdpgen.exceptions.NotPrivateWarning")


def table(n=N):
    """Return identifiers of three sorts, and amounts of which 58 % differ."""
    rng = np.random.default_rng(0)
    with_gaps = pd.Series(np.arange(n), dtype="Int64")
    with_gaps[rng.random(n) < 0.4] = pd.NA
    # `fnlwgt` of adult: 28,523 values in 48,842 rows, 58 %
    few = rng.permutation(np.arange(n) % int(0.58 * n))
    return pd.DataFrame(
        {
            "id": np.arange(n),
            "ssn": rng.choice(900_000_000, n, replace=False) + 100_000_000,
            "visit": with_gaps,
            "fnlwgt": few * 37 + 12_285,
            "age": rng.integers(17, 90, n),
            "word": rng.choice(["a", "b", "c"], n),
            "name": [f"person {i}" for i in range(n)],
        }
    )


def fit(X, y=None, *, seed=0, epsilon=3.0, **params):
    """Return a synthesizer that was fitted with seeded noise, and its warnings."""
    with warnings.catch_warnings(record=True) as told, insecure_noise_seed(seed):
        warnings.simplefilter("always")
        synth = DPIndependentSynthesizer(epsilon, random_state=0, **params).fit(X, y)
    return synth, [
        str(w.message) for w in told if issubclass(w.category, IdentifierWarning)
    ]


@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_identifiers_are_stated_and_amounts_are_not(adjacency):
    synth, told = fit(table(), adjacency=adjacency)
    assert LINE + "id, ssn, visit" in synth.privacy_.statements
    assert synth.columns_["is_identifier"].to_dict() == {
        "id": True,
        "ssn": True,
        "visit": True,
        "fnlwgt": False,
        "age": False,
        "word": False,
        "name": True,  # text that is written anew
    }
    (message,) = told
    assert message.startswith(
        "columns 'id', 'ssn', 'visit': nearly every row has a number of its own. "
    )
    for way in ("Regenerate()", "Drop()", "Integer("):
        assert way in message
    lines = report_content(synth, pictures=False)["columns"]
    marked = [line["name"] for line in lines if line["is_identifier"]]
    assert marked == ["id", "ssn", "visit", "name"]


def test_the_page_of_a_report_names_them():
    synth, _ = fit(table()[["id", "age"]])
    page = as_html(report_content(synth, pictures=False))
    assert len(re.findall("whole number, perhaps an identifier</td>", page)) == 1


def test_columns_that_a_schema_describes_are_not_counted():
    X = table()[["id", "ssn", "age"]]
    schema = {"id": Regenerate(), "ssn": Integer(0, 10**9), "age": Integer(0, 120)}
    synth, _ = fit(X, schema=schema)
    assert not any("different values" in one.name for one in synth.privacy_.releases)
    assert synth.columns_["is_identifier"].tolist() == [True, False, False]
    left = table()[["age", "id"]]
    synth, told = fit(left, schema={"id": Integer(0, 10**9)})
    assert not told
    names = [one.name for one in synth.privacy_.releases]
    assert "different values of 1 columns of whole numbers" in names


def test_a_target_is_no_identifier():
    X = table()[["age", "word"]]
    synth, told = fit(X, pd.Series(np.arange(N), name="y"), task="regression")
    assert not told
    assert not any("identifiers" in line for line in synth.privacy_.statements)


def test_chunks_and_saved_estimators_say_the_same(tmp_path):
    X = table()
    whole, _ = fit(X)
    parts = Chunks(lambda: ((X[i : i + 900], None) for i in range(0, N, 900)))
    synth, told = fit(parts)
    assert told
    for one in (whole, synth):
        assert LINE + "id, ssn, visit" in one.privacy_.statements
    assert synth.columns_["is_identifier"].equals(whole.columns_["is_identifier"])
    synth.save(tmp_path / "it.npz")
    again = load(tmp_path / "it.npz")
    assert again.columns_["is_identifier"].equals(synth.columns_["is_identifier"])


# ------------------------------------------------------------- how sure a statement is


def share_named(share, std, seed=0, times=4000, gaps=0.0):
    """Return how often a column of 1,000 present rows is named."""
    rng = np.random.default_rng(seed)
    distinct = 1000 * share + std * rng.normal(size=times)
    present = 1000 + gaps * rng.normal(size=times)
    return np.mean(
        [
            bool(perhaps_identifiers({"x": (d, std)}, {"x": (p, gaps)}))
            for d, p in zip(distinct, present, strict=True)
        ]
    )


@pytest.mark.parametrize("std", [0.0, 1.0, 5.0, 10.0, 20.0, 1000 * BLURRED_COUNT])
def test_noise_names_no_amounts(std):
    assert share_named(0.58, std) == 0.0  # 6.8 stds or more: 1e-11
    assert share_named(0.58, std, gaps=std) == 0.0
    assert share_named(0.90, std) < 0.004  # 3 stds: .0013
    assert share_named(0.80, std) < 0.001


def test_noise_hides_no_identifiers():
    assert share_named(1.0, 10.0) == 1.0  # 5 stds, 3e-7
    assert share_named(1.0, 12.5) > 0.998  # the noise that is aimed at: 4 stds
    assert share_named(1.0, 1000 * BLURRED_COUNT) > 0.4


def test_a_column_that_nobody_filled_in_is_not_named():
    """Of 10 numbers in 1,000 rows noise hides whether they differ."""
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(4000, 2))
    named = [
        perhaps_identifiers({"x": (10 + 10 * a, 10.0)}, {"x": (10 + 10 * b, 10.0)})
        for a, b in noise
    ]
    assert not any(named)  # seeded; 5 stds above zero are asked for


# ---------------------------------------------------------------------- what it costs


@pytest.mark.parametrize("adjacency", list(Adjacency))
@pytest.mark.parametrize("n", [50, 1000, 30_000])
@pytest.mark.parametrize("n_columns", [1, 40])
def test_counts_are_cheap_or_not_taken(adjacency, n, n_columns):
    names = tuple(f"x{i}" for i in range(n_columns))
    rows = Rows.read(pd.DataFrame(dict.fromkeys(names, np.arange(n))))
    ledger = Ledger(PrivacyBudget(1.0, 1e-5, adjacency))
    counted = count_whole_numbers(rows, names, ledger, float(n), LOOK_SHARES[1])
    spent = 1 - ledger.remaining
    assert bool(counted) == bool(ledger.entries) == bool(spent)
    if counted:
        assert LOOK_SHARES[0] * (1 - 1e-9) < spent < LOOK_SHARES[1] * (1 + 1e-9)
        assert ledger.entries[0].noise_std <= BLURRED_COUNT * n
    assert bool(counted) == (n > (50 if n_columns == 1 else 1000))


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 8.0])
@pytest.mark.parametrize("n", [600, N])
def test_both_parts_of_the_look_keep_its_share(adjacency, epsilon, n):
    synth, _ = fit(table(n), epsilon=epsilon, adjacency=adjacency, delta=1e-5)
    paid = synth.privacy_.releases
    share = {one.name.partition(" of ")[0]: one.share for one in paid}
    look = share.get("kinds and numbers", 0.0) + share.get("different values", 0.0)
    assert look <= LOOK_SHARES[1] * (1 + 1e-9)
    assert synth.privacy_.spent == pytest.approx(1.0)


@pytest.mark.parametrize(("n", "of_text"), [(1000, 1.0), (N, 0.8), (40_000, 1.0)])
def test_text_leaves_a_part_only_where_it_is_of_use(n, of_text):
    """Not where whole numbers cannot be counted, nor where both get what they need."""
    X = table(n)[["word", "name", "id", "fnlwgt"]]
    shares = []
    for columns in (["word", "name"], list(X.columns)):
        synth, _ = fit(X[columns], epsilon=1.0, delta=1e-6)
        shares.append(synth.privacy_.releases[0].share)
    assert shares[1] / shares[0] == pytest.approx(of_text, rel=0.05)


# ------------------------------------------------------- how far one row moves a count


VALUES = [None, 0, -1, 7, 2**53, 2**53 + 1, -(2**63)]  # two of them are one float64


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("n_rows", [3.0, 1e6], ids=["values", "slots"])
def test_one_row_moves_the_counts_no_further_than_is_paid(
    adjacency, n_rows, monkeypatch
):
    """Rows of two columns join two others, or replace each other; sums are exact."""
    exact = exact_counts(adjacency, n_rows, monkeypatch)
    every = list(product(VALUES, VALUES[:4]))
    rest = [every[9], every[20]]
    found = [exact([*rest, row]) for row in every]
    limit = sensitivity(Distinct(2), Adjacency(adjacency))
    if adjacency == "replace":
        moves = [np.linalg.norm(a - b) for a in found for b in found]
    else:
        before = exact(rest)
        moves = [np.linalg.norm(after - before) for after in found]
    assert max(moves) == pytest.approx(limit)
    assert max(moves) <= limit * (1 + 1e-12)


def exact_counts(adjacency, n_rows, monkeypatch):
    """Return a function that gives the counts of some rows, without noise."""
    kept, release = [], _first_look.release

    def spy(*given, **params):
        kept.append(release(*given, **params).values[Key.DISTINCT][0])
        return SimpleNamespace(values={Key.DISTINCT: kept[-1:]})

    monkeypatch.setattr(_first_look, "release", spy)

    def exact(rows):
        X = pd.DataFrame(rows, columns=["a", "b"]).astype("Int64")
        ledger = Ledger(PrivacyBudget(float("inf"), 1e-5, Adjacency(adjacency)))
        count_whole_numbers(Rows.read(X), ("a", "b"), ledger, n_rows, 0.03)
        return np.array(kept[-1])

    return exact


def test_only_released_numbers_decide(monkeypatch):
    """With all counts released as 0 nothing is named, whatever the rows hold."""
    release = _first_look.release

    def nothing(*given, **params):
        released = release(*given, **params)
        released.values[Key.DISTINCT][:] = 0.0
        return released

    monkeypatch.setattr(_first_look, "release", nothing)
    synth, told = fit(table())
    assert not told
    assert not synth.columns_["is_identifier"][["id", "ssn", "visit"]].any()
