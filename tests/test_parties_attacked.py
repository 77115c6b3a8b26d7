"""Questions that are made to be answered for nothing: what a guarded party gives away.

Whoever asks may send any saved object with any field. Here are questions of which each
would have cheated a party, or might have; and a thousand random ones, of which none
may get more than is paid for, by a count of its own.
"""

import math
from dataclasses import dataclass, replace
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.optimize import brentq
from scipy.stats import norm

from skdpgen.exceptions import BudgetExceededError, RowsElsewhereError
from skdpgen.features import FourierFeatures, HermiteFeatures
from skdpgen.parties import GuardedParty
from skdpgen.privacy import (
    Adjacency,
    Counts,
    Histograms,
    Ledger,
    NoiseShares,
    NoiseWanted,
    OuterProducts,
    Parities,
    PrivacyBudget,
    Query,
    Question,
    Selections,
    SideBySide,
    Vectors,
    _noise,
    _noisy_share,
    pair_keys,
)
from skdpgen.privacy._noisy_share import MOST_QUESTIONS, unmasked, whole_sums
from skdpgen.privacy._release import joint_sensitivity
from skdpgen.synthesizers.embedding._private_encoder import Encoding
from skdpgen.synthesizers.embedding._row_kernel import RowKernel
from skdpgen.synthesizers.models import NormalScores, ScoresOfRows
from skdpgen.synthesizers.pairwise._pair_release import PairCodes
from skdpgen.synthesizers.pairwise._parities import SignCodes
from skdpgen.synthesizers.pairwise._two_levels import Coarse
from skdpgen.tables import (
    Asked,
    CategoryCells,
    CellGroups,
    DigitCells,
    Encoder,
    NumberCells,
    layouts_of,
    read_part,
)
from skdpgen.utils import Key, asked, saved

SHARES = NoiseShares(2, 0)
BUDGET = {"epsilon": 1.0, "delta": 1e-5}
ROWS = pd.DataFrame({"a": ["x", "y", None] * 4, "b": np.tile([0.5, 1.5, 7.0, -3.0], 3)})
LABELS = pd.Series(["p", "q", "other"] * 4, dtype=object, name="c")
LAYOUTS = layouts_of(ROWS[:0], LABELS[:0])
CELLS = {
    "a": CategoryCells(("x", "y"), nullable=True),
    "b": NumberCells(np.array([0.0, 1.0, 2.0]), nullable=True),
}
CLASSES = CategoryCells(("p", "q"), nullable=False)
GROUPS = CellGroups(np.array([0, 1, 1]), 2, 0)


LEDGERS = {a: Ledger(PrivacyBudget(**BUDGET, adjacency=a)) for a in Adjacency}


def guarded(rows=ROWS, labels=LABELS, name="a", **how):
    keys, how = pair_keys("ab")[name], BUDGET | how
    return GuardedParty(name, rows, labels, keys=keys, noise=SHARES, **how)


def forced(value, **fields):
    """Return a value whose fields are what an attacker writes into a file."""
    made = object.__new__(type(value))
    made.__dict__.update(value.__dict__ | fields)
    return made


def question(
    blocks=None,
    weights=None,
    *,
    steps=(),
    share=0.01,
    std=None,
    cells=None,
    labels=CLASSES,
    n_classes=2,
    adjacency="replace",
    layouts=LAYOUTS,
    name="counts",
    **encoder,
):
    """Return a question with the noise that a party would work out, if it does."""
    blocks = {"columns": Histograms((3, 3))} if blocks is None else blocks
    if std is None:
        try:
            ledger = LEDGERS[adjacency]
            heavy = {key: (weights or {}).get(key, 1.0) for key in blocks}
            for key, block in blocks.items():
                if isinstance(block, Counts):
                    heavy[key] = math.sqrt(block.beta)
            delta = joint_sensitivity(blocks, heavy, ledger.budget.adjacency)
            std = ledger.noise_std(share=share, sensitivity=delta)
        except (ArithmeticError, AttributeError, TypeError, ValueError):
            std = 1.0
    cells = CELLS if cells is None else cells
    query = Query(Encoder(cells, labels, steps=steps, **encoder), blocks, n_classes)
    wanted = NoiseWanted(name, share, weights or {}, std, SHARES)
    return Question(query, layouts, "auto", wanted)


def refused(party, asked_for, match=None):
    """A refusal costs nothing, reads no row, and leaves the party open."""
    before = len(party.privacy_.releases)
    with pytest.raises((ValueError, TypeError, RowsElsewhereError), match=match):
        party.answer(asked_for)
    assert len(party.privacy_.releases) == before
    assert party.answer(question()).number == before + 1


# ------------------------------------------------- exact sums for almost no budget

SMALL = 2.0**-600


@pytest.mark.parametrize("weight", [SMALL, 5e-324, 1e-310, 2.0**600, 1e308])
@pytest.mark.parametrize("scale", [None, SMALL, 5e-324])
def test_no_weight_makes_noise_vanish(weight, scale):
    """A product that underflows was a sensitivity of 0, and got no noise."""
    block = Histograms((2, 2))
    if scale is not None:
        block = forced(block, scales=(scale, scale))
    asked_for = question({"columns": block}, {"columns": weight})
    refused(guarded(), asked_for)


def test_a_scale_alone_cannot_make_noise_vanish():
    for scale in (SMALL, 5e-324, 2.0**600):
        block = forced(Histograms((2, 2)), scales=(scale, scale))
        refused(guarded(), question({"columns": block}))
    refused(guarded(), question({"columns": Histograms((3, 3), (0.0, 0.0))}))


@pytest.mark.parametrize("beta", [0.0, 5e-324, 1e-200, 1e200, math.inf, -1.0])
def test_counts_are_not_weighed_by_what_vanishes(beta):
    counts = forced(Counts(), beta=beta)
    refused(guarded(), question({"classes": counts}))


# ------------------------------------------------- whether a question fails


def above(edge):
    """Ask for signs of two cells, below and above an edge; the upper has no sign."""
    cells = {"b": NumberCells(np.array([-1e9, edge, 1e9]), nullable=False)}
    whole = CellGroups(np.array([0, 2]), 3, 0)
    step = SignCodes((whole,), (np.array([1.0]),), np.array([0, 0]))
    blocks = {"parities": Parities(1, (1,))}
    return question(blocks, steps=(step,), cells=cells, n_classes=1)


def test_a_maximum_is_not_found_by_questions_that_fail():
    """A row above the edge raised an IndexError, one below did not: a bisection."""
    for edge in (2.0, 6.9, 7.1, 100.0):
        assert guarded().answer(above(edge)).number == 1
    refused(guarded(), replace(above(7.1), noise=cheap(above(7.1).noise)))


def cheap(wanted):
    """Ask for 3e-9 of the budget, as the bisection did 2,971 times."""
    times = math.sqrt(wanted.share / 3e-9)
    return replace(wanted, share=3e-9, std=wanted.std * times)


def test_no_cell_and_no_label_makes_a_step_fail():
    """Whatever codes and labels come in, they count as none if they are not known."""
    batch_of = Encoder(CELLS, CLASSES).batches
    (batch,) = batch_of(read_part(ROWS, LABELS, LAYOUTS, "auto"))
    strange = np.array([-(2**60), -5, -2, -1, 0, 1, 2, 3, 50, 2**60, 0, 1])
    codes = np.stack([strange, strange[::-1]], axis=1)
    batch = replace(batch, labels=strange, parts={Key.COLUMNS: codes})
    for step in (
        PairCodes((GROUPS, GROUPS), ((0, None), (1, GROUPS)), True, np.array([0])),
        SignCodes((GROUPS, GROUPS), (np.ones(1), np.ones(5)), np.array([1])),
        Coarse((GROUPS, GROUPS)),
        Coarse((GROUPS, GROUPS), has_target=True, of_class=np.array([0])),
        ScoresOfRows(NormalScores({}, (np.ones((1, 2)), np.ones((1, 9)))), 1.0, True),
        Encoding(KERNEL, "cpu"),
    ):
        (found,) = step([batch])
        assert len(found.labels) == len(strange)


def test_questions_cost_a_least_share_and_are_few():
    party = guarded()
    for share in (0.0, 5e-324, 3e-9, 1e-12, math.nan, 1.0 + 1e-9):
        refused(party, question(share=share))
    while len(party.privacy_.releases) < MOST_QUESTIONS:
        party.answer(question(share=0.005))
    for _ in range(3):
        with pytest.raises(BudgetExceededError, match="answers 100 questions"):
            party.answer(question(share=0.005))
    assert party.privacy_.spent < 0.6


@asked("step")
@saved("test.fails_at_rows")
@dataclass(frozen=True, eq=False)
class FailsAtRows:
    """A step with a bug: it fails at rows that no question can know."""

    n_rows: int

    def check_asked(self):
        """Whoever wrote it saw no danger."""

    def __call__(self, batches):
        for batch in batches:
            if len(batch.labels) == self.n_rows:
                raise IndexError(f"value {batch.parts}")
            yield batch


def test_a_question_that_fails_at_rows_is_paid_for_and_the_last():
    """Whether it fails tells of rows, so it must not be asked for nothing, or again."""
    party = guarded()
    with pytest.raises(RowsElsewhereError, match="could not be summed") as error:
        party.answer(question(steps=(FailsAtRows(len(ROWS)),)))
    assert error.value.__cause__ is None
    assert error.value.__context__ is None
    assert party.privacy_.spent == pytest.approx(0.01)
    with pytest.raises(RowsElsewhereError, match="answers no more"):
        party.answer(question())
    assert party.privacy_.spent == pytest.approx(0.01)
    said = " ".join(party.privacy_.statements)
    assert "that it failed is not covered by noise" in said


@asked("step")
@saved("test.sends_rows_twice")
@dataclass(frozen=True, eq=False)
class SendsRowsTwice:
    """A step that would make a row count twice; no block could know."""

    def check_asked(self):
        """Whoever wrote it saw no danger."""

    def __call__(self, batches):
        for batch in batches:
            yield batch
            yield batch


def test_rows_that_come_twice_are_seen_on_public_rows():
    refused(guarded(), question(steps=(SendsRowsTwice(),)), "public|made-up")


# ------------------------------------------------- objects that are not what they say

PHI = FourierFeatures.draw((3, 1), 4, rng=torch.Generator().manual_seed(0))
KERNEL = RowKernel(
    PHI,
    (0, 1),
    (0, 1),
    (np.eye(3, dtype=np.float32), np.zeros((3, 1), dtype=np.float32)),
    (3, 3),
    (False, True),
    0.5,
)
PAIRS = PairCodes((GROUPS, GROUPS), ((0, None), (1, None)), False)
SIGNS = SignCodes((GROUPS, GROUPS), (np.ones(2), np.ones(2)), np.array([0, 0]))
FEATURES = {"features": Vectors(4)}


def of_block(**fields):
    return question({"columns": forced(Histograms((3, 3)), **fields)})


def of_step(step, blocks=None):
    return question(blocks or {"pairs": Histograms((2, 2))}, steps=(step,))


def of_cells(name, **fields):
    return question(cells=CELLS | {name: forced(CELLS[name], **fields)})


def of_kernel(**fields):
    return of_step(Encoding(forced(KERNEL, **fields), "cpu"), FEATURES)


def of_map(phi):
    return of_kernel(phi=phi)


def of_wanted(**fields):
    asked_for = question()
    return replace(asked_for, noise=forced(asked_for.noise, **fields))


HERMITE = HermiteFeatures.draw(
    (3, 1), (False, True), 2, rng=torch.Generator().manual_seed(0)
)
MALICIOUS = {
    # blocks
    "a product of negative sizes": of_block(sizes=(-3, -3), subsets=((0, 1),)),
    "no size": of_block(sizes=(0, 3)),
    "sizes that are floats": of_block(sizes=(3.0, 3.0)),
    "sizes that are truth values": of_block(sizes=(True, 3)),
    "sizes whose product wraps": of_block(sizes=(2**40, 2**40), subsets=((0, 1),)),
    "too many cells": of_block(sizes=(2**40, 3)),
    "a column twice in a subset": of_block(subsets=((0, 0),)),
    "a column counted from the end": of_block(subsets=((0, -1),)),
    "an empty subset": of_block(subsets=((),)),
    "scales that are truth values": of_block(scales=(True, True)),
    "scales that are text": of_block(scales=("1", "1")),
    "scales that are no numbers": of_block(scales=(math.nan, 1.0)),
    "scales without an end": of_block(scales=(math.inf, 1.0)),
    "negative scales": of_block(scales=(-1.0, 1.0)),
    "vectors without a width": of_step(
        Encoding(KERNEL, "cpu"), {"features": forced(Vectors(4), width=0)}
    ),
    "vectors with a text for a sign": of_step(
        Encoding(KERNEL, "cpu"), {"features": forced(Vectors(4), is_nonnegative="no")}
    ),
    "vectors with a bound that vanishes": of_step(
        Encoding(KERNEL, "cpu"), {"features": forced(Vectors(4), bound=1e-200)}
    ),
    "parities of no column": of_step(SIGNS, {"parities": Parities(2, (0,))}),
    "parities of truth values": of_step(SIGNS, {"parities": Parities(2, (True,))}),
    "nothing side by side": of_step(
        Encoding(KERNEL, "cpu"), {"features": SideBySide(())}
    ),
    "histograms side by side": of_step(
        Encoding(KERNEL, "cpu"), {"features": SideBySide((Histograms((3, 3)),))}
    ),
    "no layers": of_step(
        Encoding(KERNEL, "cpu"),
        {"features": forced(OuterProducts(((2, 2),)), shapes=())},
    ),
    "negative lengths": of_step(
        Encoding(KERNEL, "cpu"),
        {"features": forced(OuterProducts(((2, 2),)), shapes=((-2, -2),))},
    ),
    "words": question({"tokens": Selections(("a",))}, tokens=("a",)),
    "no block": question({}),
    "two counts": question({"x": Counts(), "y": Counts()}),
    "blocks 1 and '1', that had one mask": question(
        {1: Counts(1.0), "1": Counts(1.0)}, std=1.0
    ),
    "a name that is no text": question({1: Counts(1.0)}),
    # numbers of the question
    "no classes": question(n_classes=0),
    "classes that are a truth value": question(n_classes=True),
    "very many classes": question(n_classes=2**40),
    "a weight that is a truth value": question(weights={"columns": True}),
    "a weight that is text": question(weights={"columns": "1"}),
    "a weight that is no number": question(weights={"columns": math.nan}),
    "a weight of a block that is not there": question(weights={"other": 1.0}),
    "noise that is no number": of_wanted(std=math.nan),
    "noise without an end": of_wanted(std=math.inf),
    "a share that is a truth value": of_wanted(share=True),
    "a share that is text": of_wanted(share="1"),
    "a name of two lines": of_wanted(name="counts\n(0, 0)-private"),
    "a name that is long": of_wanted(name="x" * 10**6),
    "shares that are text": of_wanted(shares="all"),
    "shares of others": of_wanted(shares=NoiseShares(3, 0)),
    # how rows are encoded
    "categories with a strange other": of_cells("a", other=10**12),
    "categories that may be twice missing": of_cells("a", nullable=2),
    "edges out of order": of_cells("b", edges=np.array([0.0, 5.0, 1.0, 2.0])),
    "edges that are no numbers": of_cells("b", edges=np.array([0.0, np.nan, 2.0])),
    "edges in a matrix": of_cells("b", edges=np.zeros((3, 3))),
    "edges that are whole": of_cells("b", edges=np.array([0, 1, 2])),
    "edges that are complex": of_cells("b", edges=np.array([0.0, 1j, 2.0])),
    "no edges": of_cells("b", edges=np.array([])),
    "gaps that are no cells": of_cells("b", gaps=(7,)),
    "cells that are asked for": question(asked=Asked({}, {})),
    "how many digits": question(digits={"b": DigitCells()}),
    "a column that is not there": question(cells={"z": CELLS["a"]}),
    "cells that are a block": question(cells={"a": Histograms((3,))}),
    "labels that are a step": question(labels=PAIRS),
    "a layout that is a block": replace(question(), layouts=(Histograms((3,)), None)),
    "a task that is a number": replace(question(), task=3),
    "words of rows": question(tokens=("a",)),
    "values of rows": question(distinct=("a",)),
    # steps
    "a step that is a map": question(steps=(PHI,)),
    "a step that is a block": question(steps=(Histograms((3,)),)),
    "a column that no group is for": of_step(
        forced(PAIRS, looks=((0, None), (2, None)))
    ),
    "a look that is a kernel": of_step(forced(PAIRS, looks=((0, KERNEL), (1, None)))),
    "groups that are cells": of_step(forced(PAIRS, groups=(CLASSES, CLASSES))),
    "classes in a matrix": of_step(forced(PAIRS, of_class=np.zeros((2, 2), int))),
    "classes that are floats": of_step(forced(PAIRS, of_class=np.zeros(2))),
    "groups beyond their number": of_step(
        forced(PAIRS, groups=(forced(GROUPS, of_cell=np.array([0, 9])), GROUPS))
    ),
    "signs that are no numbers": of_step(
        forced(SIGNS, signs=(np.array([np.nan]), np.ones(2))),
        {"parities": Parities(2, (1,))},
    ),
    "scores of many": of_step(
        ScoresOfRows(NormalScores({}, (np.full((2, 3), 1e300),) * 2), 1.0, True),
        {"features": OuterProducts(((2, 2),), 1.0, ("square",))},
    ),
    "scores in no room": of_step(
        ScoresOfRows(NormalScores({}, (np.ones((2, 3)),) * 2), 0.0, True),
        {"features": OuterProducts(((2, 2),), 1.0, ("square",))},
    ),
    "a device for anything": of_step(Encoding(KERNEL, "meta"), FEATURES),
    "a kernel that is none": of_step(Encoding(PHI, "cpu"), FEATURES),
    "a kernel of a column that is not there": of_kernel(seen=(0, 7)),
    "points far away": of_kernel(
        points_at=(np.eye(3) * 1e9, np.zeros((3, 1))),
    ),
    # maps, in which rounding may grow until a row depends on its neighbours
    "frequencies of rounding": of_map(
        forced(PHI, frequencies=torch.full((4, 2), 1e16))
    ),
    "no frequencies": of_map(forced(PHI, frequencies=torch.zeros(4, 0))),
    "a length scale that vanishes": of_map(forced(HERMITE, length_scale=1e-30)),
    "functions of a column that is not there": of_map(
        forced(HERMITE, subsets=torch.tensor([[0, 9]]))
    ),
}


@pytest.mark.parametrize("name", MALICIOUS)
def test_what_is_not_what_it_says_is_refused(name):
    refused(guarded(), MALICIOUS[name])


def test_parities_of_too_many_columns_are_refused_by_their_number():
    """They do not fit the step either, which is found out later, in other words."""
    most = 4096
    for n, words in (
        (most + 1, "a number of columns"),
        (most, "fails at made-up rows"),
    ):
        block = {"parities": Parities(n, (1,))}
        refused(guarded(), of_step(SIGNS, block), words)


def test_questions_of_honest_kinds_are_answered():
    """Or the refusals above would say nothing."""
    for asked_for in (
        question(),
        of_cells("b", gaps=(0, 1)),
        of_step(PAIRS),
        of_step(SIGNS, {"parities": Parities(2, (1, 2))}),
        of_step(Encoding(KERNEL, "cpu"), FEATURES),
        of_step(
            Encoding(replace(KERNEL, phi=HERMITE), "cpu"), {"features": Vectors(9)}
        ),
        of_step(Coarse((GROUPS, GROUPS)), {"columns": Histograms((2, 2))}),
        of_step(
            Coarse((GROUPS, GROUPS), has_target=True, of_class=np.array([0, 0])),
            {"columns": Histograms((2, 2)), "target": Histograms((2,))},
        ),
        of_step(
            ScoresOfRows(NormalScores({}, (np.ones((2, 3)),) * 2), 1.0, True),
            {"features": OuterProducts(((2, 2),), 1.0, ("square",))},
        ),
    ):
        assert guarded().answer(asked_for).number == 1


def test_keys_that_cancel_are_refused():
    """A party between two others would have added and subtracted the same mask."""
    key = b"k" * 32
    for keys in ({"a": key, "c": key}, {"a": key, "c": b"short"}, {"a": key, "c": "k"}):
        with pytest.raises(ValueError, match="key"):
            GuardedParty("b", ROWS, keys=keys, noise=NoiseShares(3, 0), **BUDGET)


def test_parties_that_disagree_about_shares_cannot_be_read():
    """One that adds less noise than another counts on is no help to who adds up."""
    keys = pair_keys("abc")
    asked_for = question()
    asked_for = replace(asked_for, noise=replace(asked_for.noise, shares=None))

    def total(*all_shares):
        parties = (
            GuardedParty(own, ROWS, LABELS, keys=keys[own], noise=shares, **BUDGET)
            for own, shares in zip("abc", all_shares, strict=True)
        )
        sent = [party.answer(asked_for) for party in parties]
        return unmasked([one.words["columns"] for one in sent])

    one, other = NoiseShares(3, 1), NoiseShares(3, 0)
    assert max(map(abs, total(one, one, one))) < 2**80
    assert min(map(abs, total(one, one, other))) > 2**80  # or a chance of 1e-13


# ------------------------------------------------- a thousand random questions

N_QUESTIONS = 1000
SPECIAL = (0.0, -1.0, 5e-324, 2.0**-600, 1e308, math.inf, math.nan, True, "1")


def drawn(rng, usual):
    """Return a number: as fits have it, of any size, or a strange one."""
    kind = rng.random()
    if kind < 0.6:
        return float(usual * 2.0 ** rng.normal())
    if kind < 0.75:
        return float(usual * 2.0 ** rng.uniform(-90, 90))
    if kind < 0.95:
        return math.ldexp(1.0 + rng.random(), int(rng.integers(-1075, 1023)))
    return SPECIAL[rng.integers(len(SPECIAL))]


def random_question(rng, adjacency):
    kind, n = rng.integers(6), int(rng.integers(1, 4))
    scales = tuple(drawn(rng, 0.7) for _ in range(2))
    pooled = tuple(
        tuple(rng.permutation(5)[: rng.integers(4)].tolist())
        for _ in range(int(rng.integers(1, 4)))
    )
    histograms = forced(
        Histograms((3, 3)),
        scales=scales if n > 1 else None,
        pooled=pooled if rng.random() < 0.5 else None,
    )
    steps, blocks = (), {"columns": histograms}
    if kind == 1:
        looks = ((0, None), (1, GROUPS), (0, None))[: int(rng.integers(2, 4))]
        steps = (replace(PAIRS, looks=looks, by_class=n > 1),)
        pairs = ((0, 1), (1, 0))
        blocks = {"pairs": forced(Histograms((2,) * len(looks), None, pairs))}
        blocks["pairs"] = forced(blocks["pairs"], scales=scales)
    elif kind == 2:
        steps = (replace(SIGNS, signs=(np.array([1.0, -1.0]),) * 2),)
        orders = tuple(rng.permutation([1, 2])[: int(rng.integers(1, 3))].tolist())
        blocks = {"parities": Parities(2, orders)}
    elif kind == 3:
        steps = (Encoding(KERNEL, "cpu"),)
        blocks["features"] = forced(Vectors(4), bound=drawn(rng, 1.0))
    elif kind == 4:
        scores = NormalScores({}, tuple(rng.normal(size=(2, 2, 3)).clip(-4, 4)))
        steps = (ScoresOfRows(scores, 1.0, bool(n > 1)),)
        square = forced(OuterProducts(((2, 2),), 1.0, ("square",)), bound=drawn(rng, 1))
        blocks = {"features": square}
    elif kind == 5:
        steps = (Encoding(KERNEL, "cpu"),)
        parts = (forced(Vectors(1), bound=drawn(rng, 1.0)), Vectors(3, 0.5))
        blocks = {"features": SideBySide(parts)}
    if rng.random() < 0.4:
        blocks["classes"] = forced(Counts(), beta=drawn(rng, 0.5))
    order = rng.permutation(list(blocks)).tolist()
    blocks = {key: blocks[key] for key in order}
    weights = {key: drawn(rng, 0.7) for key in blocks if rng.random() < 0.7}
    share = drawn(rng, 0.05)
    return question(
        blocks,
        weights,
        steps=steps,
        share=share,
        n_classes=n,
        adjacency=adjacency,
        name="the same",
    )


class Watched:
    """Sees what a party is about to mask, with noise that is one std everywhere."""

    def __init__(self, monkeypatch):
        self.stds, self.numbers = [], []
        draw, hide = _noisy_share.whole_noise, _noisy_share.masked

        def whole_noise(shape, std, steps):
            self.stds.append(std)
            return draw(shape, std, steps)

        def masked(numbers, *about):
            self.numbers.append(list(numbers))
            return hide(numbers, *about)

        ones = lambda shape, std: np.full(shape, std)  # noqa: E731
        words = lambda n: np.zeros(n, dtype=np.uint64)  # noqa: E731
        monkeypatch.setattr(_noisy_share, "whole_noise", whole_noise)
        monkeypatch.setattr(_noisy_share, "masked", masked)
        monkeypatch.setattr(_noise, "gaussian_noise", ones)
        monkeypatch.setattr(_noise, "_random_words", words)


def delta_of(mu, epsilon):
    """The delta of a Gaussian mechanism (Balle & Wang, 2018)."""
    left = norm.cdf(mu / 2 - epsilon / mu)
    return left - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)


MU = brentq(lambda mu: delta_of(mu, BUDGET["epsilon"]) - BUDGET["delta"], 0.01, 10)
LINES = list(product(("x", "y", None), (0.5, 1.5, None), ("p", "q", "r")))[::4]


def one_by_one():
    """Return each row of a small world, as a party reads it alone."""
    a, b, c = (list(column) for column in zip(*LINES, strict=True))
    rows = pd.DataFrame({"a": a, "b": np.array(b, dtype=float)})
    labels = pd.Series(c, dtype=object, name="c")
    (chunk,) = read_part(rows, labels, LAYOUTS, "auto")
    columns, target = chunk
    places = [slice(i, i + 1) for i in range(len(LINES))]
    return [({n: v[at] for n, v in columns.items()}, target[at]) for at in places]


def moved(asked_for, watched, world):
    """Return the largest squared move of what is sent, in stds of the noise sent.

    By brute force: whole numbers that each row adds, over whole numbers of noise.
    """
    query, parts = asked_for.query, []
    noise, stds = watched.numbers, watched.stds
    sums = [query.sums([chunk]) for chunk in world]
    blocks = zip(query.blocks.items(), noise, stds, strict=True)
    for (key, block), drawn_noise, std in blocks:
        sent = [whole_sums(block, total[key], std)[0].ravel() for total in sums]
        for j, own in enumerate(drawn_noise):
            column = [numbers[j] for numbers in sent]
            assert own > 0 or not any(column)
            parts.append([value / own if own else 0.0 for value in column])
    vectors = np.array(parts).T
    alone = (vectors**2).sum(axis=1).max()
    pairs = combinations(range(len(vectors)), 2)
    between = max(((vectors[i] - vectors[j]) ** 2).sum() for i, j in pairs)
    return alone, between


def test_no_question_gets_less_noise_than_is_paid_for(monkeypatch):
    """Whatever it asks: a row moves what is sent by what the account says, at most."""
    rng, world = np.random.default_rng(0), one_by_one()
    watched, n_answered = Watched(monkeypatch), 0
    nobody = {a: guarded(ROWS[:0], LABELS[:0], adjacency=a) for a in Adjacency}
    for i in range(N_QUESTIONS):
        adjacency = ("replace", "add_remove")[i % 2]
        asked_for = random_question(rng, adjacency)
        party = nobody[adjacency]
        party._ledger = Ledger(party._ledger.budget)
        watched.stds, watched.numbers = [], []
        try:
            party.answer(asked_for)
        except (ArithmeticError, TypeError, ValueError, RowsElsewhereError):
            assert not party.privacy_.releases
            continue
        n_answered += 1
        (entry,) = party.privacy_.releases
        alone, between = moved(asked_for, watched, world)
        honest = SHARES.n_parties - SHARES.n_colluding  # whose noise adds up
        paid = entry.share * MU**2 * honest
        assert entry.share == asked_for.noise.share
        found = alone if adjacency == "add_remove" else max(alone, between)
        assert found <= paid * (1 + 1e-5)
    assert n_answered > 100  # or nothing was tested
