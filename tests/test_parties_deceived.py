"""Parties and combiners that do not follow the protocol: what they cannot get."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from skdpgen import DPIndependentSynthesizer
from skdpgen.parties import GuardedParty, Parties, Party
from skdpgen.privacy import (
    Histograms,
    Ledger,
    NoiseShares,
    NoiseWanted,
    PartialSum,
    PrivacyBudget,
    Query,
    Question,
    Selections,
    Vectors,
    pair_keys,
)
from skdpgen.privacy._query import are_alike
from skdpgen.privacy._value_counts import MOST_COMPARED, Seen
from skdpgen.synthesizers.pairwise._pair_release import PairCodes
from skdpgen.tables import (
    Boolean,
    CategoryCells,
    CellGroups,
    Encoder,
    Schema,
    layouts_of,
)
from skdpgen.utils import Key

ROWS = {name: pd.DataFrame({"a": [True, False] * 50}) for name in ("north", "south")}
KNOWN = Schema({"a": Boolean()})
LAYOUTS = layouts_of(ROWS["north"][:0], None)


# ------------------------------------------------- a party that sends other sums


def fit_beside(change, synth=None):
    """Fit to an honest party and one that changes its sums."""
    honest, other = (Party(name, rows) for name, rows in ROWS.items())

    def dishonest(question):
        answer = other.answer(question)
        return replace(answer, totals=change(dict(answer.totals)))

    source = Parties(
        {"north": honest.answer, "south": dishonest}, like=honest.like, n_rows=200
    )
    synth = DPIndependentSynthesizer(schema=KNOWN) if synth is None else synth
    return synth.fit(source)


def of_all(change):
    return lambda totals: {key: change(total) for key, total in totals.items()}


OTHERS = {
    "more classes, each with noise": of_all(lambda t: np.repeat(t, 4000, axis=0)),
    "one cell for all": of_all(lambda t: t[:, :1]),
    "floats": of_all(lambda t: t + 0.5),
    "beside which noise is rounded away": of_all(lambda t: t + 2**60),
    "lists": of_all(lambda t: t.tolist()),
    "other names": lambda totals: {"x": next(iter(totals.values()))},
}


@pytest.mark.parametrize("name", OTHERS)
def test_sums_of_another_form_are_refused(name):
    """Thousands of classes would be thousands of noisy sums of the others' rows."""
    synth = DPIndependentSynthesizer(schema=KNOWN)
    with pytest.raises(ValueError, match="form that was asked"):
        fit_beside(OTHERS[name], synth)
    assert not hasattr(synth, "release_")


def test_who_answers_does_not_say_how_sums_are_merged():
    query = Query(Encoder({}), {"x": Selections(("a",))}, 1)
    asked = Question(query, LAYOUTS, "auto")
    sent = PartialSum(asked.digest, ("south",), replace(asked.query, blocks={}), {})
    with pytest.raises(ValueError, match="form that was asked"):
        sent.checked(asked)
    sent = replace(sent, totals={"x": {"a": {"True": 3}}})
    assert sent.checked(asked).query is asked.query
    for counts in ({"a": {"True": 0.5}}, {"a": {"True": -1}}, {"a": {3: 1}}, {"b": {}}):
        with pytest.raises(ValueError, match="form that was asked"):
            replace(sent, totals={"x": counts}).checked(asked)


def of_vectors(**changes):
    total = replace(Vectors(3).start(1), **changes)
    query = Query(Encoder({}), {"x": Vectors(3)}, 1)
    asked = Question(query, LAYOUTS, "auto")
    return PartialSum(asked.digest, ("south",), query, {"x": total}).checked(asked)


def test_sums_of_features_have_one_grid_and_one_shape():
    assert of_vectors(high=np.full((1, 3), 2.0**20))
    for changes in (
        {"high": np.full((1, 3), 2.0**60)},
        {"low": np.full((1, 3), np.nan)},
        {"high": np.zeros((50, 3)), "low": np.zeros((50, 3)), "used": np.zeros(50)},
        {"n_bits": 3},
        {"top": 8.0},
    ):
        with pytest.raises(ValueError, match="form that was asked"):
            of_vectors(**changes)


def test_sums_name_whose_they_are():
    """Sums of nobody would add up with those of anyone, twice as well."""
    honest, other = (Party(name, rows) for name, rows in ROWS.items())
    nameless = lambda q: replace(other.answer(q), sources=())  # noqa: E731
    asks = {"north": honest.answer, "south": nameless}
    source = Parties(asks, like=honest.like, n_rows=200)
    synth = DPIndependentSynthesizer(schema=KNOWN)
    with pytest.raises(ValueError, match="of its own"):
        synth.fit(source)
    query = Query(Encoder({}), {"x": Vectors(1)}, 1)
    one = PartialSum("", ("a",), query, query.sums(()))
    with pytest.raises(ValueError, match="name their sources"):
        one + replace(one, sources=())


def test_different_values_have_their_slots():
    full = Seen()
    full.add(np.arange(5, dtype=np.uint64))
    assert are_alike({"a": full}, {"a": Seen()})
    assert not are_alike({"a": replace(full, slots=np.zeros(3))}, {"a": Seen()})
    for first in (
        {1},
        np.array([-1]),
        np.array([0.5]),
        np.arange(MOST_COMPARED, dtype=np.uint64),
    ):
        assert not are_alike({"a": replace(full, first=first)}, {"a": Seen()})


# ------------------------------------------------- a combiner that asks other things

NOISE = NoiseShares(2, 0)
BUDGET = {"epsilon": 1.0, "delta": 1e-5}
SHARE = 0.01


def guarded(labels):
    keys = pair_keys("ab")["a"]
    rows = pd.DataFrame({"a": ["x"] * len(labels)})
    labels = pd.Series(labels, dtype=object)
    return GuardedParty("a", rows, labels, keys=keys, noise=NOISE, **BUDGET)


def question(party, of_class):
    """Count a column by classes, some of which a table of classes may not have."""
    std = Ledger(PrivacyBudget(**BUDGET)).noise_std(share=SHARE, sensitivity=2.0**0.5)
    step = PairCodes(
        (CellGroups(np.array([0]), 1, 0),), ((0, None),), False, np.array(of_class)
    )
    cells = {"a": CategoryCells(("x",), False)}
    encoder = Encoder(cells, CategoryCells(("p", "q", "r"), False), steps=(step,))
    query = Query(encoder, {str(Key.PAIRS): Histograms((1,))}, 1)
    wanted = NoiseWanted("pairs", SHARE, {}, std)
    return Question(query, layouts_of(*party.like), "auto", wanted)


def test_a_question_about_another_table_costs_nothing():
    party = guarded(["p", "r"] * 50)
    asked = question(party, [0, 0, 0])
    like = pd.DataFrame({"b": ["x"]})[:0], party.like[1]
    with pytest.raises(ValueError, match="columns"):
        party.answer(replace(asked, layouts=layouts_of(*like)))
    assert party.answer(asked).number == 1


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps])
def test_an_account_is_not_copied(copied):
    """A copy would answer again, for nothing, with the same masks."""
    with pytest.raises(TypeError, match="account"):
        copied(guarded(["p", "q"]))


def test_questions_at_once_are_paid_one_by_one():
    party = guarded(["p", "r"] * 50)
    asked = question(party, [0, 0, 0])
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: party.answer(asked).number, range(64)))
    assert sorted(found) == list(range(1, 65))
