"""DP-MGE: no row moves a release further than is paid for, nor is read by others."""

import math
from fractions import Fraction
from functools import partial
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from skdpgen import DPMGESynthesizer
from skdpgen.lenses import CosineLens, ModuleLens
from skdpgen.synthesizers.gaussian import _lens_map, _pictures
from skdpgen.synthesizers.gaussian._lens_map import (
    CODE_GRID,
    Pictures,
    PublicBasis,
    encoder,
    from_centres,
    nearest,
)
from skdpgen.synthesizers.models import NormalScores, ScoresOfRows, _mixture_model
from skdpgen.synthesizers.opening import _opening
from skdpgen.tables import (
    CategoryCells,
    EncodedBatch,
    Integer,
    Numeric,
    Rows,
    Schema,
    _rows,
)
from skdpgen.utils import Key
from tests.guards._doors import Spy, Tape, through
from tests.guards._state import differences

SLACK = 1 + 1e-9
SIDE, N_ROWS = 8, 40
CLASSES = (0, 1, 2)
both = pytest.mark.parametrize("adjacency", ["replace", "add_remove"])


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(
        _lens_map, "IMAGES_AT_ONCE", 32
    )  # rows fill two batches, one partly
    monkeypatch.setattr(_pictures, "N_DRAWN", (100, 100))
    monkeypatch.setattr(_pictures, "ROWS_PER_STEP", 30)
    monkeypatch.setattr(_mixture_model, "PICTURES_FOR_TONES", 100)
    monkeypatch.setattr(_mixture_model, "CODES_DRAWN", 200)


def moved(one, two):
    """Return, for each release, how far its sums moved over what was paid for it."""
    found = {}
    for a, b in zip(one.releases, two.releases, strict=True):
        assert a.name == b.name
        far = [np.linalg.norm(a.exact[k] - b.exact[k]) / a.std[k] for k in a.exact]
        found[a.name] = math.hypot(*far) / a.mu
    return found


def watched(synth, rows, tape, monkeypatch):
    spy = Spy()
    with through(monkeypatch, tape), spy.watching(monkeypatch):
        synth.fit(*rows)
    return spy


def furthest(make, base, others, monkeypatch):
    """Return the largest move of each release; what it is made into must not differ."""
    tape, largest = Tape(), {}
    synth = make()
    here = watched(synth, base, tape, monkeypatch)
    for other in others(synth):
        again = make()
        there = watched(again, other, tape.rewind(), monkeypatch)
        assert tape.is_played()
        assert differences(synth._model, again._model) == []
        for name, far in moved(here, there).items():
            largest[name] = max(largest.get(name, 0.0), far)
    assert max(largest.values()) <= SLACK
    return largest


# --------------------------------------------------------------------------- images


def pictures(n=N_ROWS, seed=0):
    """Images whose classes have two kinds of pictures each."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    images = 0.3 * rng.random((n, SIDE, SIDE))
    images[np.arange(n), 2 * y + rng.integers(0, 2, n)] += 0.6
    images[0] = 0.5  # has a single tone
    return images, y


def hostile(synth):
    """Yield the worst pictures that come to mind."""
    rng = np.random.default_rng(1)
    black = np.zeros((SIDE, SIDE))
    yield from (black, black + 1.0, np.full_like(black, np.nan))
    for value in (np.inf, -np.inf, 1e300, -1e300, np.nan, 5e-324):
        yield np.where(rng.random(black.shape) < 0.5, value, 0.5)
    yield rng.random(black.shape)
    checks = np.indices(black.shape).sum(axis=0) % 2.0
    yield from (checks, 1.0 - checks)
    mixture = synth.mixture_
    centres = torch.from_numpy(mixture.centres).flatten(0, 1)
    plain = mixture.lens.decode(centres, (1, SIDE, SIDE))
    for own in plain.reshape(3, -1, SIDE, SIDE).double().numpy():
        middle = (own[0] + own[-1]) / 2  # on the border of two prototypes
        yield middle
        yield 1.0 - own[0]


def neighbours(images, y, adjacency):
    """Return a function that yields tables which differ in one row."""

    def others(synth):
        for k, image in enumerate(hostile(synth)):
            with np.errstate(over="ignore"):
                image = image.astype(images.dtype)
            label = (k % 3, 7)[k % 5 == 4]  # of no class, too
            place = (0, 17, len(y) - 1)[k % 3]
            if adjacency == "replace":
                one, labels = images.copy(), y.copy()
                one[place], labels[place] = image, label
                yield one, labels
                if k < 3:
                    yield one, y  # its label stays
            else:
                place += place > 0  # at the end, too
                more = np.insert(images, place, image, axis=0)
                yield more, np.insert(y, place, label)
        if adjacency == "add_remove":
            for place in (0, 20, len(y) - 1):
                yield np.delete(images, place, axis=0), np.delete(y, place)

    return others


@pytest.mark.parametrize(
    ("adjacency", "dtype"), [("replace", "float64"), ("add_remove", "float32")]
)
def test_no_picture_moves_a_release_further(adjacency, dtype, monkeypatch):
    images, y = pictures()
    images = images.astype(dtype)

    def make():
        return DPMGESynthesizer(
            epsilon=30.0,
            classes=CLASSES,
            adjacency=adjacency,
            n_prototypes=2,
            random_state=0,
        )

    others = neighbours(images, y, adjacency)
    wanted = ("tones", "means", "round 1", "round 2", "around prototypes, by class")
    largest = dict.fromkeys(wanted, 0.0)
    for _ in range(6):  # the search is not blind, but its luck hangs on the noise
        found = furthest(make, (images, y), others, monkeypatch)
        for part in wanted:
            far = max(far for name, far in found.items() if part in name)
            largest[part] = max(largest[part], far)
        if min(largest.values()) > 0.8:
            break
    assert min(largest.values()) > 0.8
    assert found["which deformations teach most"] > 0.2
    assert found["size of codes"] > 0.3


@both
@pytest.mark.parametrize(
    "params",
    [
        {"algorithm": "one_shot"},
        {"covariance": "diagonal", "augmentation": None, "n_prototypes": 2},
        {"covariance": "pooled", "augmentation": None, "n_prototypes": 1},
        {"is_public": True, "augmentation": None, "n_prototypes": 1},
    ],
    ids=["paper", "diagonal", "pooled", "public"],
)
def test_no_option_lets_a_picture_move_a_release_further(
    params, adjacency, monkeypatch
):
    images, y = pictures()
    known = {"classes": CLASSES, "adjacency": adjacency, "random_state": 0} | params
    public_data = pictures(20, seed=1)[0] if known.pop("is_public", False) else None

    def make():
        synth = DPMGESynthesizer(epsilon=30.0, **known)
        synth.fit = partial(synth.fit, public_data=public_data)
        return synth

    others = neighbours(images, y, adjacency)
    largest = furthest(make, (images, y), others, monkeypatch)
    last = [far for name, far in largest.items() if "codes" in name][-1]
    assert last > 0.5


@both
def test_no_picture_without_a_label_moves_a_release_further(adjacency, monkeypatch):
    images, _ = pictures(20)

    def make():
        known = {"augmentation": None, "n_prototypes": 2, "random_state": 0}
        return DPMGESynthesizer(epsilon=30.0, adjacency=adjacency, **known)

    def others(synth):
        bright = np.ones((SIDE, SIDE))
        for image in (bright, 0 * bright, np.nan * bright, np.inf * bright):
            one = images.copy()
            one[3] = image
            more = np.concatenate([images, [image]])
            yield (one if adjacency == "replace" else more,)

    largest = furthest(make, (images,), others, monkeypatch)
    assert max(largest.values()) > 0.6


@pytest.mark.filterwarnings(
    "ignore::skdpgen.exceptions.SchemaWarning"
)  # labels are fewer
@both
def test_networks_of_a_vote_learn_from_as_many_pictures_as_are_known(
    adjacency, monkeypatch
):
    """The true number of rows, if it is private, must not choose the networks."""
    images, y = pictures()
    released, drawn, taught = 123.4, [], _pictures._trained_network

    def spy(model, choice, n_drawn, rng, device):
        drawn.append(n_drawn)
        return taught(model, choice, n_drawn, rng, device)

    monkeypatch.setattr(_pictures, "_trained_network", spy)
    monkeypatch.setattr(_pictures, "N_DRAWN", (30, 10_000))
    monkeypatch.setattr(_opening, "count_rows", counted_as(released))
    known = {"classes": CLASSES, "n_prototypes": 1, "random_state": 0}
    DPMGESynthesizer(epsilon=30.0, adjacency=adjacency, **known).fit(images, y)
    n = N_ROWS if adjacency == "replace" else int(released)
    assert drawn == [n] * len(_pictures.CHOICES)


def counted_as(released, count=_opening.count_rows):
    """Return what releases the number of rows, with a certain result."""

    def count_rows(rows, ledger):
        count(rows, ledger)
        return released

    return count_rows


@pytest.mark.parametrize("by_class", [True, False])
def test_scores_are_those_of_the_row_alone(by_class):
    """Products are clipped row by row, so nothing else may make a row depend on all."""
    rng = np.random.default_rng(0)
    sizes, n = (5, 3, 7), 40
    scores = NormalScores({}, tuple(rng.normal(size=(2, size)) for size in sizes))
    codes = np.stack([rng.integers(-1, size, n) for size in sizes], axis=1)
    labels = rng.integers(-1, 2, n)
    step = ScoresOfRows(scores, 1.5, by_class)

    def read(some):
        (found,) = step([EncodedBatch(labels[some], {Key.COLUMNS: codes[some]})])
        ((one, two),) = found.parts[Key.FEATURES]
        return found.labels, one.numpy(), two.numpy()

    whole = read(slice(None))
    for k in range(n):
        for one, every in zip(read([k]), whole, strict=True):
            np.testing.assert_array_equal(one[0], every[k])


@both
def test_no_row_moves_products_of_scores_further(adjacency, monkeypatch):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    X = pd.DataFrame(
        {
            "a": rng.normal(size=60).clip(-3, 3) + y,
            "b": rng.integers(0, 10, 60),
            "c": rng.random(60),
        }
    )
    schema = Schema({"a": Numeric(-3, 4), "b": Integer(0, 9), "c": Numeric(0, 1)})
    worst = [
        {"a": value, "b": cell, "c": value}
        for value in (np.nan, np.inf, -np.inf, 1e300)
        for cell in (0, 2**40)
    ]

    def make():
        known = {"schema": schema, "classes": (0, 1), "random_state": 0}
        return DPMGESynthesizer(epsilon=60.0, adjacency=adjacency, **known)

    def others(_):
        for k, row in enumerate(worst):
            for label in (0, 5):
                place, other, labels = (0, 31, 59)[k % 3], X.copy(), y.copy()
                other.loc[place], labels[place] = row, label
                other = other.astype(X.dtypes)
                if adjacency == "add_remove":
                    other = pd.concat([X, other.loc[[place]]], ignore_index=True)
                    labels = np.append(y, label)
                yield other, labels
        if adjacency == "add_remove":
            yield X.drop(index=3), np.delete(y, 3)

    largest = furthest(make, (X, y), others, monkeypatch)
    products = [far for name, far in largest.items() if "products" in name]
    assert len(products) == 1
    assert products[0] > 0.3  # rows have room
    histograms = [far for name, far in largest.items() if "histograms" in name]
    assert len(histograms) == 2
    assert min(histograms) > 0.9


# -------------------------------------------------------- each row as if it were alone


def opened(images, y, lens):
    """Return pictures as a fit reads them."""
    rows = Rows.read(images, y, task="classification")
    facts = SimpleNamespace(layout=rows.layout)
    labels = CategoryCells(CLASSES, False)
    return Pictures(SimpleNamespace(rows=rows, facts=facts), labels, lens)


def read(images, y, lens, centres=None):
    """Return codes and labels of all rows, and which centres they are near to."""
    found, known = [], []

    def row(labels, z):
        assert len(z) == _lens_map.IMAGES_AT_ONCE  # batches have one shape
        near = from_centres(z, centres, labels)[1] if centres is not None else 0
        return labels, np.column_stack([z, np.broadcast_to(near, len(z))])

    for batch in opened(images, y, lens).codes(row):
        found.append(batch.parts["features"])
        known.append(batch.labels)
    return np.concatenate(found), np.concatenate(known)


class Whole:
    """A lens of a user that sees what stands beside an image."""

    def __call__(self, images):
        return (images - images.mean(dim=0) / 2).flatten(1)[:, :9]


LENSES = {
    "cosine": CosineLens(30, radius=2.0, emphasis=0.5),
    "public": PublicBasis.of(
        np.random.default_rng(3).random((50, SIDE, SIDE)), CosineLens(40), 20
    ),
    "user": ModuleLens(Whole(), lambda codes: codes[:, :1].expand(-1, 64)),
}


@pytest.mark.parametrize("lens", LENSES)
@pytest.mark.parametrize("n", [1, 31, 32, 33, 90])
def test_a_row_is_read_alike_wherever_it_stands(lens, n, monkeypatch):
    lens = LENSES[lens]
    images, y = pictures(n)
    width = lens.n_latent((1, SIDE, SIDE))
    centres = 0.1 * np.random.default_rng(0).normal(size=(3, 4, width))
    whole, labels = read(images, y, lens, centres)
    np.testing.assert_array_equal(labels, y)
    order = np.random.default_rng(1).permutation(n)
    shuffled, labels = read(images[order], y[order], lens, centres)
    np.testing.assert_array_equal(shuffled, whole[order])
    np.testing.assert_array_equal(labels, y[order])
    beside = images.copy()
    worst = np.resize([np.nan, np.inf, 1e30], len(beside[::2]))
    beside[::2] = worst[:, None, None]
    hurt, _ = read(beside, y, lens, centres)
    np.testing.assert_array_equal(hurt[1::2], whole[1::2])
    monkeypatch.setattr(
        _rows, "IMAGES_AT_ONCE", 7
    )  # chunks that are shorter than batches
    cut, _ = read(images, y, lens, centres)
    np.testing.assert_array_equal(cut, whole)


def test_a_lens_that_remembers_is_copied_before_it_sees_rows():
    class Remembers(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.seen = []

        def forward(self, images):
            self.seen.append(images.clone())
            return images.flatten(1)

    lens = ModuleLens(Remembers(), torch.nn.Identity())
    images, y = pictures(5)
    synth = DPMGESynthesizer(
        epsilon=30.0, classes=CLASSES, lens=lens, augmentation=None, random_state=0
    )
    synth.fit(images, y)
    for kept in (lens, synth.mixture_.lens):
        assert not any(one.any() for one in kept.encoder.seen)  # black ones at most


coordinates = st.sampled_from([0.0, 0.5, -0.5, 0.25, 1.0, 1e-3, 1 / 3, 1.0 + 1e-9]) | (
    st.floats(-1, 1)
)


def exactly_nearest(z, centres):
    """The first of the nearest centres, in rational numbers."""

    def cut(x):
        return [Fraction(float(np.round(np.clip(v, -1, 1) / CODE_GRID))) for v in x]

    row = cut(z)
    away = [
        sum((a - b) ** 2 for a, b in zip(row, cut(p), strict=True)) for p in centres
    ]
    return away.index(min(away))


@given(
    arrays(float, (5, 7), elements=coordinates),
    arrays(float, (2, 3, 7), elements=coordinates),
    st.lists(st.integers(0, 1), min_size=5, max_size=5),
)
@settings(max_examples=60, deadline=None)
def test_the_nearest_centre_is_exact(codes, centres, labels):
    labels = np.array(labels)
    expected = [
        exactly_nearest(z, centres[k]) for z, k in zip(codes, labels, strict=True)
    ]
    assert nearest(codes, centres, labels).tolist() == expected


@pytest.mark.parametrize("width", [3, 64, 300])
def test_ties_are_decided_alike_in_any_company(width):
    """Rows as far from one centre as from the other, whose last digits differ."""
    rng = np.random.default_rng(0)
    centres = 0.2 * rng.normal(size=(1, 2, width)).round(4)
    centres = np.round(centres / CODE_GRID) * CODE_GRID
    centres[0, 1] = centres[0, 0][::-1]
    codes = 0.1 * rng.normal(size=(64, width))
    codes = (
        np.round((codes + codes[:, ::-1]) / CODE_GRID) * CODE_GRID
    )  # palindromes: ties
    codes += (
        0.2 * CODE_GRID * rng.uniform(-1, 1, size=codes.shape)
    )  # and their last digits
    labels = np.zeros(64, dtype=np.int64)
    assert not nearest(codes, centres, labels).any()
    for few in (1, 2, 3, 17):
        assert not nearest(codes[:few], centres, labels[:few]).any()


@pytest.mark.parametrize("at_once", [1, 32])
def test_codes_have_norm_one_at_most_whatever_the_lens(at_once):
    class Huge(CosineLens):
        def encode(self, images):
            return 1e3 * super().encode(images)

    images, _ = pictures(at_once)
    codes = encoder(Huge(20), (1, SIDE, SIDE))(images.reshape(at_once, -1))
    assert np.linalg.norm(codes, axis=1).max() <= 1.0
