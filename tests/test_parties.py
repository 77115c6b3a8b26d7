"""Parties that do not share rows: the pooled fit, to the bit, and nothing twice."""

import numpy as np
import pandas as pd
import pytest

from skdpgen import DPGANSynthesizer, DPIndependentSynthesizer
from skdpgen.datasets import load_example
from skdpgen.parties import Parties, Party, first_question
from skdpgen.privacy import PartialSum, Question
from skdpgen.tables import Integer, Schema
from skdpgen.utils import RowsElsewhereError
from tests.synthesizers._fits_alike import SYNTHESIZERS, assert_alike, fitted

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


@pytest.mark.parametrize("synth", SYNTHESIZERS, ids=lambda s: type(s).__name__)
@pytest.mark.parametrize("params", [{}, {"adjacency": "add_remove"}, {"epsilon": None}])
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
    schema = Schema({"a": Integer(0, 4)})
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
    with pytest.raises(ValueError, match="y must be None"):
        SYNTHESIZERS[0].fit(Parties(parts_of(*table)), table[1])
    with pytest.raises(ValueError, match="like"):
        Parties({"north": print})
