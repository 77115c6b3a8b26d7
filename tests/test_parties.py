"""Parties that do not share rows: the pooled fit, to the bit, and nothing twice."""

from dataclasses import replace
from functools import reduce
from itertools import combinations
from operator import add

import cloudpickle
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.stats import chi2

from skdpgen import DPGANSynthesizer, DPIndependentSynthesizer, DPMERFSynthesizer
from skdpgen.datasets import load_example
from skdpgen.exceptions import BudgetExceededError, RowsElsewhereError
from skdpgen.parties import (
    GuardedParty,
    Parties,
    Party,
    arrow_sums,
    first_question,
)
from skdpgen.parties._parties import PartiesRows
from skdpgen.privacy import (
    NoiseShares,
    PartialSum,
    Question,
    key_tags,
    noise_of_blocks,
    pair_keys,
)
from skdpgen.privacy._noisy_share import masked
from skdpgen.tables import Categorical, Schema, read_part
from tests._covering import parametrize_pairs
from tests.synthesizers._fits_alike import SYNTHESIZERS, assert_alike, fitted, releases

N = 3000
CUTS = (0, 700, 1000, 1000, N)  # one of them has no rows
NAMES = ("north", "east", "south", "west")


@pytest.fixture(scope="module")
def table():
    return load_example(N)


def parts_of(X, y):
    order = np.random.default_rng(0).permutation(N)
    for name, first, last in zip(NAMES, CUTS[:-1], CUTS[1:], strict=True):
        some = order[first:last]
        labels = None if y is None else y.iloc[some]
        yield Party(name, X.iloc[some], labels)


@parametrize_pairs(
    "params, synth",
    [{}, {"adjacency": "add_remove"}, {"epsilon": None}],
    SYNTHESIZERS,
    strength=1,
    ids=lambda one: ",".join(one) if isinstance(one, dict) else type(one).__name__,
)
def test_parties_fit_as_one_table(synth, params, table):
    params = {k: float("inf") if v is None else v for k, v in params.items()}
    there = fitted(synth, Parties(parts_of(*table)), None, **params)
    assert_alike(fitted(synth, *table, **params), there)
    assert any("is trusted" in line for line in there.privacy_.statements)


def test_parties_answer_from_afar(table):
    """All that is sent are bytes, and no pickle among them."""
    sent = []

    def post(party):
        def ask(question):
            sent.append(question.to_bytes())
            there = Question.from_bytes(sent[-1])
            assert there.digest == question.digest
            sent.append(party.answer(there).to_bytes())
            return PartialSum.from_bytes(sent[-1])

        return ask

    parties = {party.name: post(party) for party in parts_of(*table)}
    like = table[0][:0], table[1][:0]
    for synth in SYNTHESIZERS:
        found = fitted(synth, Parties(parties, like), None)
        assert_alike(fitted(synth, *table), found)
    assert all(b"pickle" not in data and data[:2] == b"PK" for data in sent)


def question_of(table):
    synth = DPIndependentSynthesizer(classes=["left", "stayed"])
    return first_question(synth, (table[0][:0], table[1][:0]), n_rows=N)


def test_no_row_counts_twice(table):
    north, east, *_ = parts_of(*table)
    question = question_of(table)
    one, two = north.answer(question), east.answer(question)
    both = one + two
    assert both.sources == ("east", "north")
    for other in (one, two, both):
        with pytest.raises(ValueError, match="twice"):
            both + other
    with pytest.raises(ValueError, match="distinct names"):
        Parties([north, north])
    with pytest.raises(ValueError, match="must have no '/'"):
        Parties({"north/1": north.answer}, north.like)
    with pytest.raises(ValueError, match="of its own"):
        fitted(
            SYNTHESIZERS[0],
            Parties({"north": east.answer, "east": east.answer}, north.like),
            None,
        )


def test_answers_to_other_questions_do_not_count(table):
    north, east, *_ = parts_of(*table)
    question = question_of(table)
    other = first_question(
        DPIndependentSynthesizer(), (table[0][:0], table[1][:0]), n_rows=N
    )
    assert question.digest != other.digest
    with pytest.raises(ValueError, match="same question"):
        north.answer(question) + east.answer(other)
    with pytest.raises(ValueError, match="that was asked"):
        fitted(
            SYNTHESIZERS[0],
            Parties({"north": lambda _: north.answer(question)}, north.like, n_rows=N),
            None,
        )


def test_the_digest_is_of_all_that_is_asked(table):
    like = (table[0][:0], table[1][:0])
    asked = [
        first_question(DPIndependentSynthesizer(**params), like, n_rows=N).digest
        for params in ({}, {}, {"classes": ["left"]}, {"task": "classification"})
    ]
    assert asked[0] == asked[1]
    assert len(set(asked)) == 3
    fewer = (table[0][:0].drop(columns="age"), table[1][:0])
    assert first_question(DPIndependentSynthesizer(), fewer, n_rows=N).digest not in (
        asked
    )


def test_months_are_added_up_and_forgotten(tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.integers(0, 5, 400), "b": rng.random(400) < 0.3})
    schema = Schema({"a": Categorical(range(5), nullable=False)})
    synth = DPIndependentSynthesizer(schema=schema, random_state=0)
    question = first_question(synth, X[:0], n_rows=400)
    kept = None
    for month in range(4):
        new = Party(f"clinic/{month}", X[100 * month : 100 * month + 100])
        mine = new.answer(question)
        if kept is not None:
            mine = PartialSum.from_bytes((tmp_path / "sum").read_bytes()) + mine
        kept = mine
        (tmp_path / "sum").write_bytes(kept.to_bytes())
    source = Parties({"clinic": lambda _: kept}, X[:0], n_rows=400)
    assert_alike(fitted(synth, X, None), fitted(synth, source, None))


def test_bytes_of_strangers_are_refused(table):
    question = question_of(table)
    with pytest.raises(ValueError, match="must hold a PartialSum"):
        PartialSum.from_bytes(question.to_bytes())
    for data in (b"", b"PK damaged", question.to_bytes()[:-40]):
        with pytest.raises(ValueError, match=r"damaged|must hold"):
            PartialSum.from_bytes(data)


def test_what_parties_cannot_do_is_said(table):
    with pytest.raises(RowsElsewhereError, match="sums"):
        DPGANSynthesizer().fit(Parties(parts_of(*table)))
    images = Parties([Party("north", np.zeros((9, 8, 8)), np.arange(9) % 2)])
    with pytest.raises(RowsElsewhereError, match="DPMERFSynthesizer reads images"):
        DPMERFSynthesizer().fit(images)
    with pytest.raises(ValueError, match="y must be None"):
        SYNTHESIZERS[0].fit(Parties(parts_of(*table)), table[1])
    with pytest.raises(ValueError, match="like"):
        Parties({"north": print})


def test_parts_of_a_cluster_that_hands_out_arrow(table):
    """As Spark's mapInArrow does: a pickled function for each part of the rows."""
    X, y = table
    X = X.assign(education=X["education"].astype("str"))  # Arrow writes no order of it
    whole = pa.Table.from_pandas(X.assign(churn=y), preserve_index=False)
    like = whole.drop_columns(["churn"])[:0], y[:0]

    def ask(question):
        found = []
        for i in range(3):
            part = arrow_sums(question, "spark", target="churn", part=lambda i=i: i)
            part = cloudpickle.loads(cloudpickle.dumps(part))
            (batch,) = part(whole[1000 * i : 1000 * i + 1000].to_batches(300))
            found.append(PartialSum.from_bytes(batch["sum"][0].as_py()))
        return reduce(add, found)

    there = fitted(SYNTHESIZERS[0], Parties({"spark": ask}, like), None)
    here = fitted(SYNTHESIZERS[0], whole.drop_columns(["churn"]), y)
    assert releases(here) == releases(there)


@pytest.mark.parametrize("label", [True, None])
def test_a_missing_label_of_arrow_is_no_error(label):
    like = pd.DataFrame({"a": [False]}), pd.Series([True], dtype="boolean", name="y")
    question = first_question(DPIndependentSynthesizer(), like, n_rows=10**5)
    rows = pa.record_batch({"a": [True, False], "y": pa.array([False, label])})
    (batch,) = arrow_sums(question, "spark", target="y")([rows])
    (labels,) = PartialSum.from_bytes(batch["sum"][0].as_py()).totals["tokens"].values()
    assert sum(labels.values()) == 1 + (label is not None)


# ------------------------------------------------- parties that add the noise


def guarded(table, shares, **budget):
    keys = pair_keys(NAMES)
    for party in parts_of(*table):
        yield GuardedParty(
            party.name, party.X, party.y, keys=keys[party.name], noise=shares, **budget
        )


@pytest.fixture(scope="module")
def known(table):
    """A schema and classes, as public knowledge."""
    return {"schema": Schema.infer(*table), "classes": ["left", "stayed"]}


SHARES = NoiseShares.honest_majority(4)


@pytest.mark.parametrize("synth", SYNTHESIZERS, ids=lambda s: type(s).__name__)
def test_shares_of_no_noise_give_the_pooled_fit(synth, table, known):
    budget = {"epsilon": float("inf"), "delta": 1e-5}
    source = Parties(guarded(table, SHARES, **budget), n_rows=N, noise=SHARES)
    there = fitted(synth, source, None, **known, **budget)
    assert_alike(fitted(synth, *table, **known, **budget), there)


@parametrize_pairs(
    "synth, adjacency",
    SYNTHESIZERS,
    ["replace", "add_remove"],
    strength=1,
    ids=lambda one: one if isinstance(one, str) else type(one).__name__,
)
def test_noise_in_shares_is_as_declared(synth, adjacency, table, known, monkeypatch):
    budget = {"epsilon": 1.0, "delta": 1e-5, "adjacency": adjacency}
    parties = list(guarded(table, SHARES, **budget))
    n_rows = N if adjacency == "replace" else None
    source = Parties(parties, n_rows=n_rows, noise=SHARES)
    synth = type(synth)(**{**synth.get_params(deep=False), **known, **budget})
    seen, release = [], Watched(table)
    release.patch(monkeypatch, seen)
    synth.fit(source)
    excess = []
    for exact, noisy, std in seen:
        excess.append(((noisy - exact) / std).ravel())
    z = np.concatenate(excess)
    low, high = chi2.ppf([5e-7, 1 - 5e-7], z.size)
    assert low < (z**2).sum() < high
    for party in parties:
        mine, theirs = party.privacy_.releases, synth.privacy_.releases
        assert [r.name for r in mine] == [r.name for r in theirs]
        assert mine == theirs
    line = "noise in shares of 4 parties"
    assert any(said.startswith(line) for said in synth.privacy_.statements)


class Watched:
    """Works out beside each release what the sums of the pooled rows are."""

    def __init__(self, table):
        self.table = table

    def patch(self, monkeypatch, seen):
        ask = PartiesRows.total

        def total(rows, query, noise):
            found = ask(rows, query, noise)
            noise_std = noise_of_blocks(noise.std, noise.weights)
            totals = query.sums(read_part(*self.table, rows.layouts, rows.task))
            for key, block in query.blocks.items():
                std = noise_std[key] * rows.noise_shares.excess
                seen.append((block.value(totals[key]), found[key], std))
            return found

        monkeypatch.setattr(PartiesRows, "total", total)


def test_parties_that_trust_no_one_need_a_schema(table, known):
    budget = {"epsilon": 1.0, "delta": 1e-5}
    parties = list(guarded(table, SHARES, **budget))
    source = Parties(parties, n_rows=N, noise=SHARES)
    columns = replace(known["schema"], target=None)
    for lacking in ({"classes": ["left", "stayed"]}, {"schema": columns}):
        synth = DPIndependentSynthesizer(**lacking, **budget)
        with pytest.raises(RowsElsewhereError, match="need a schema"):
            synth.fit(source)
    with pytest.raises(ValueError, match="n_rows must be given"):
        DPIndependentSynthesizer(**known, **budget).fit(Parties(parties, noise=SHARES))
    with pytest.raises(ValueError, match="one budget"):
        DPIndependentSynthesizer(**known, epsilon=2.0, delta=1e-5).fit(source)
    assert all(party.privacy_.spent == 0 for party in parties)


def test_a_guarded_party_answers_for_one_fit(table, known):
    budget = {"epsilon": 1.0, "delta": 1e-5}
    parties = list(guarded(table, SHARES, **budget))
    source = Parties(parties, n_rows=N, noise=SHARES)
    synth = DPIndependentSynthesizer(**known, **budget).fit(source)
    with pytest.raises(BudgetExceededError):
        DPIndependentSynthesizer(**known, **budget).fit(source)
    with pytest.raises(ValueError, match="sums without"):
        DPIndependentSynthesizer(**known, **budget).fit(Parties(parties, n_rows=N))
    assert synth.privacy_.spent == pytest.approx(1.0)


def test_masks_of_two_fits_differ_whatever_the_keys(table, known):
    """Else what changed in the rows of one party shows behind its own noise alone."""
    budget, keys = {"epsilon": 1.0, "delta": 1e-5}, pair_keys(NAMES)
    asked = []
    for _ in range(2):
        parties = [
            GuardedParty(p.name, p.X, p.y, keys=keys[p.name], noise=SHARES, **budget)
            for p in parts_of(*table)
        ]
        source = Parties(parties, n_rows=N, noise=SHARES)
        first, ask = parties[0].name, parties[0].answer
        source.parties[first] = lambda q, ask=ask: (asked.append(q), ask(q))[1]
        DPIndependentSynthesizer(**known, **budget).fit(source)
    half = len(asked) // 2
    pairs = list(zip(asked[:half], asked[half:], strict=True))
    assert pairs
    assert all(one.digest != other.digest for one, other in pairs)
    assert len({question.noise.fit for question in asked}) == 2


def test_shares_and_parties_must_agree(table):
    budget = {"epsilon": 1.0, "delta": 1e-5}
    parties = list(guarded(table, SHARES, **budget))
    fewer = Parties(parties, n_rows=N, noise=NoiseShares(4, 2))
    with pytest.raises(ValueError, match="same shares"):
        DPIndependentSynthesizer(**budget, schema=Schema.infer(*table)).fit(fewer)
    with pytest.raises(ValueError, match="as many shares"):
        Parties(parties, n_rows=N, noise=NoiseShares(5, 2))
    with pytest.raises(ValueError, match="keys must be"):
        GuardedParty("north", table[0], keys={}, noise=SHARES, **budget)
    with pytest.raises(ValueError, match="no budget of its own"):
        DPIndependentSynthesizer(**budget, schema=Schema.infer(table[0])).fit(
            Parties([Party(n, table[0]) for n in NAMES], n_rows=4 * N, noise=SHARES)
        )


def test_keys_that_do_not_match_are_named(table, known):
    budget = {"epsilon": 1.0, "delta": 1e-5}
    keys = pair_keys(NAMES) | {"north": pair_keys(NAMES)["north"]}
    parties = [
        GuardedParty(p.name, p.X, p.y, keys=keys[p.name], noise=SHARES, **budget)
        for p in parts_of(*table)
    ]
    with pytest.raises(ValueError, match="keys of north and"):
        Parties(parties, n_rows=N, noise=SHARES)
    assert not any(party.privacy_.releases for party in parties)
    elsewhere = {party.name: party.answer for party in parties}
    source = Parties(elsewhere, table, n_rows=N, noise=SHARES)
    with pytest.raises(RowsElsewhereError, match="keys must be the same on both"):
        DPIndependentSynthesizer(**known, **budget).fit(source)


def test_tags_of_keys_show_no_mask():
    keys = pair_keys(NAMES)
    tags = {name: key_tags(name, keys[name]) for name in NAMES}
    for one, other in combinations(NAMES, 2):
        assert tags[one][other] == tags[other][one]
    one, other = NAMES[:2]
    assert len({tag for name in NAMES for tag in tags[name].values()}) == 6
    mask = masked([0], one, {other: keys[one][other]}, "a question").hex()
    assert tags[one][other] != mask


# ---------------------------------------------- parties that are not alike


def test_parties_have_one_layout(table):
    (X, y), n = table, N // 2
    north = Party("north", X[:n], y[:n])
    with pytest.raises(ValueError, match="no labels from south and some labels"):
        Parties([north, Party("south", X[n:])])
    with pytest.raises(ValueError, match="some labels from south and no labels"):
        Parties([Party("north", X[:n]), Party("south", X[n:], y[n:])])
    with pytest.raises(ValueError, match="the same columns"):
        Parties([north, Party("south", X[n:][X.columns[::-1]], y[n:])])
    for dtype in ("float64", "int8", "Int64"):
        south = Party("south", X[n:].astype({"age": dtype}), y[n:])
        with pytest.raises(ValueError, match=f"Got {dtype} of 'age' from south"):
            Parties([north, south])


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
@pytest.mark.parametrize("has_labels", [True, False])
def test_parties_afar_have_labels_or_none(has_labels, adjacency, table):
    (X, y), n = table, N // 2
    like = (X[:0], y[:0] if has_labels else None)
    parties = [Party("north", X[:n], like[1] if not has_labels else y[:n])]
    parties.append(Party("south", X[n:], None if has_labels else y[n:]))
    source = Parties({party.name: party.answer for party in parties}, like)
    synth = DPIndependentSynthesizer(adjacency=adjacency)
    with pytest.raises(ValueError, match="y must be given with all parts"):
        synth.fit(source)


def test_a_number_of_rows_is_counted_or_as_given(table):
    parties = list(parts_of(*table))
    with pytest.raises(ValueError, match=f"Got 10 instead, and they hold {N}"):
        DPIndependentSynthesizer().fit(Parties(parties, n_rows=10))
    said = "rows of all parties: 10, as given by `n_rows`"
    source = Parties(parties, n_rows=N)
    schema = Schema.infer(*table)
    synth = DPIndependentSynthesizer(schema=schema)
    assert said not in synth.fit(source).privacy_.statements
    afar = Parties({p.name: p.answer for p in parties}, parties[0].like, n_rows=10)
    synth.fit(afar)
    assert said in synth.privacy_.statements
    synth = DPIndependentSynthesizer(schema=schema, adjacency="add_remove").fit(afar)
    assert synth.n_samples_ > N / 2  # counted with noise: the number is private
    assert said not in synth.privacy_.statements
