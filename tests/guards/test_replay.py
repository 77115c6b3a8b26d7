"""A fit knows its rows by its releases alone, and no row moves one too far.

What a fit released on one table is played to a fit on another in place of what that
would have released. Everything else must then be equal: state, samples, warnings,
progress, output, errors. Neighbours differ in one row; strangers share only what is
public.

A test plays to the neighbours or to the strangers of one adjacency. That is a parameter
like the estimator and the table: every two of the three meet, and the rest is slow.
"""

import itertools
import math
import traceback

import numpy as np
import pytest
from tqdm.std import tqdm

from skdpgen import DPIndependentSynthesizer, DPPairwiseSynthesizer
from skdpgen.synthesizers.embedding import _private_encoder
from tests._covering import covering, parametrize_some
from tests.guards import _neighbours, _variants
from tests.guards._doors import Spy, Tape, everyone, through
from tests.guards._state import differences, spoken, warned

TABLES, IMAGES = _neighbours.tables(), _neighbours.images()
OF_TABLES, OF_IMAGES = _variants.of_tables(), _variants.of_images()
GENEROUS = 40.0  # classes and columns of 300 rows are found
SLACK = 1 + 1e-9
OTHERS = {
    "replace": ("replace", "neighbours"),
    "replace, strangers": ("replace", "strangers"),
    "add_remove": ("add_remove", "neighbours"),
    "add_remove, strangers": ("add_remove", "strangers"),
}


def outcome(synth, case, tape, spy, monkeypatch):
    """Return all that a fit shows: state, samples, warnings, progress, output."""
    shown = []

    def watch(bar, *args, original=tqdm.__init__, **params):
        original(bar, *args, **params)
        shown.append(("bar", params.get("desc"), getattr(bar, "total", None)))

    def update(bar, n=1, original=tqdm.update):
        shown.append(("update", bar.total, n))
        return original(bar, n)

    def telling(original):
        def tell(bar, *args, **params):
            shown.append((original.__name__, args, params))
            return original(bar, *args, **params)

        return tell

    error = samples = None
    with (
        through(monkeypatch, tape),
        spy.watching(monkeypatch),
        monkeypatch.context() as patch,
        warned() as said,
        spoken() as heard,
    ):
        everyone(patch)
        patch.setattr(tqdm, "__init__", watch)
        patch.setattr(tqdm, "update", update)
        for told in (tqdm.set_description, tqdm.set_postfix, tqdm.set_postfix_str):
            patch.setattr(tqdm, told.__name__, telling(told))
        patch.setattr(_private_encoder, "STEPS", 2)
        patch.setattr(_private_encoder, "N_UNITS", 20)
        try:
            case.fit(synth)
            samples = synth.sample(), synth.sample(7, random_state=1)
        except ValueError as raised:  # told to users; all others are bugs
            error = traceback.format_exception(raised)  # and what it was raised from
    return {
        "error": error,
        "warnings": said,
        "output": heard,
        "progress": shown,
        "state": vars(synth),
        "samples": samples,
    }


def replayed(make, case, to, monkeypatch):
    """Yield, for each other table, what differs, and how far releases moved.

    A move is in units of what the ledger was charged; a stranger's is not asked for.
    """
    adjacency, who = OTHERS[to]
    params = {"epsilon": GENEROUS, "adjacency": adjacency} | case.params
    tape, here = Tape(), Spy()
    recorded = outcome(make(**params), case, tape, here, monkeypatch)
    assert tape.values  # else there is nothing to replay
    for other in getattr(case, who)(adjacency):
        there = Spy()
        played = outcome(make(**params), other, tape.rewind(), there, monkeypatch)
        assert tape.is_played()
        is_near = who == "neighbours"
        yield differences(recorded, played), moves(here, there) if is_near else []


def moves(one, two):
    """Return how far each release and step moved, over what was paid for it.

    Blocks in units of their own noise: a wrong weight cannot hide.
    """
    found = []
    for a, b in zip(one.releases + one.steps, two.releases + two.steps, strict=True):
        assert a.name == b.name
        far = [gap(a.exact[key], b.exact[key]) / a.std[key] for key in a.exact]
        if a.rows is not None:  # each row adds a function of norm 1
            far = [row_gap(a.rows, b.rows) / a.std["slopes"]]
        found.append(math.hypot(*far) / a.mu)
    return found


def gap(one, two):
    """Return the distance of two sums; values that nobody has are 0."""
    if not isinstance(one, dict):
        return float(np.linalg.norm(one - two))
    parts = []
    for column in one:
        for value in {*one[column], *two[column]}:
            parts.append(one[column].get(value, 0) - two[column].get(value, 0))
    return math.hypot(*parts)


def row_gap(one, two):
    """Return the largest norm that functions of two sets of rows can differ by."""
    sets = []
    for rows in (one, two):
        pairs = zip(np.asarray(rows.x).tolist(), rows.labels.tolist(), strict=True)
        counts = {}
        for x, label in pairs:
            if label >= 0:
                counts[tuple(x), label] = counts.get((tuple(x), label), 0) + 1
        sets.append(counts)
    keys = {*sets[0], *sets[1]}
    return sum(abs(sets[0].get(key, 0) - sets[1].get(key, 0)) for key in keys)


def check(make, case, to, monkeypatch):
    every = list(replayed(make, case, to, monkeypatch))
    assert every
    for found, moved in every:
        assert found == []
        assert all(far <= SLACK for far in moved)
    if OTHERS[to][1] == "neighbours":
        assert max(max(moved) for _, moved in every) > 0.4  # they are bad enough


# What a table is read as is the same for all estimators, so each of them meets each
# kind of target, and text, by pairs; the other tables meet one estimator for each of
# the others.
CORE = ["frame", "frame, public", "numbers as target", "text that says more"]


def few_tables():
    """Return combinations, in which all pairs occur but those of less common tables."""
    rest = [case for case in TABLES if case not in CORE]
    names = itertools.cycle(OF_TABLES)
    beside = [(next(names), case, to) for to in OTHERS for case in rest]
    return [*covering(OF_TABLES, CORE, OTHERS, first=PLANTED), *beside]


# which bugs that were planted are about; see tests/planted
PLANTED = [
    ("DPGANSynthesizer", "frame", "replace"),
    ("DPIndependentSynthesizer", "text that says more", "replace"),
    ("DPKernelSynthesizer, steps", "frame", "add_remove"),
    ("DPMERFSynthesizer, mini-batches", "frame", "replace"),
]
PLANTED_IN_IMAGES = [
    ("DPGANSynthesizer", "images", "replace"),
    ("DPMEPFSynthesizer, stopping", "images", "replace"),
    ("DPMERFSynthesizer, encoder", "images", "add_remove"),
    ("DPMERFSynthesizer, encoder", "images", "replace"),
]


@parametrize_some("name, case, to", few_tables(), OF_TABLES, TABLES, OTHERS)
def test_a_table_is_known_by_its_releases_alone(name, case, to, monkeypatch):
    check(OF_TABLES[name], TABLES[case], to, monkeypatch)


@pytest.mark.parametrize("to", OTHERS)
def test_rows_counted_by_a_focus_are_known_by_releases_alone(to, monkeypatch):
    make = _variants.maker(DPPairwiseSynthesizer, focus=["job"])
    check(make, TABLES["frame without labels"], to, monkeypatch)


def few_images():
    """Return combinations, in which all pairs occur but those of images in chunks.

    Chunks are read in one way for all estimators, as test_sums.py says of each of them.
    """
    core = [case for case in IMAGES if case != "images in chunks"]
    beside = [
        (name, "images in chunks", to)
        for name, to in zip(list(OF_IMAGES)[::4], OTHERS, strict=True)
    ]
    return [*covering(OF_IMAGES, core, OTHERS, first=PLANTED_IN_IMAGES), *beside]


@parametrize_some("name, case, to", few_images(), OF_IMAGES, IMAGES, OTHERS)
def test_images_are_known_by_their_releases_alone(name, case, to, monkeypatch):
    check(OF_IMAGES[name], IMAGES[case], to, monkeypatch)


BALANCED = [
    "DPGANSynthesizer",
    "DPKernelSynthesizer, steps",
    "DPMERFSynthesizer",
    "DPPairwiseSynthesizer",
]


@pytest.mark.parametrize("name", BALANCED)
def test_weights_of_classes_are_those_of_released_counts(name, monkeypatch):
    def make(**params):
        return OF_TABLES[name](class_weight="balanced", **params)

    for to in ("replace", "replace, strangers"):
        check(make, TABLES["frame, public"], to, monkeypatch)


def test_a_fit_that_remembers_a_row_is_caught(monkeypatch):
    class Leaky(DPIndependentSynthesizer):
        def fit(self, X, y=None):
            first = float(X["age"].iloc[0])
            super().fit(X, y).first_ = first
            return self

    def make(**params):
        return Leaky(random_state=0, **params)

    first, last = replayed(make, TABLES["frame"], "replace", monkeypatch)
    assert first[0] == [".'state'.'first_'"]
    assert last[0] == []  # the first row is the same
    (stranger,) = replayed(make, TABLES["frame"], "replace, strangers", monkeypatch)
    assert stranger[0] == [".'state'.'first_'"]
