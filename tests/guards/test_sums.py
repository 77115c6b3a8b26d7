"""What is summed is the rows: each once, with its own label, wherever cut."""

import numpy as np
import pandas as pd
import pytest
import torch

from skdpgen import all_synthesizers
from skdpgen.privacy import OuterProducts
from skdpgen.synthesizers.base import EmbeddingSynthesizer
from skdpgen.synthesizers.embedding import Mapper
from skdpgen.tables import Chunks, _rows
from tests.guards import _neighbours, _variants
from tests.guards._doors import Spy, Tape, through

TABLES, IMAGES = _neighbours.tables(), _neighbours.images()
OF_TABLES, OF_IMAGES = _variants.of_tables(), _variants.of_images()
INF = float("inf")


def watched(synth, given, monkeypatch):
    """Return the releases of a fit, with what each of them added up."""
    with Spy().watching(monkeypatch) as spy:
        synth.fit(*given)
    return spy.releases


def sums(synth, given, monkeypatch, tape):
    """Return what a fit without noise added up, by release and block.

    The tape gives later releases the same earlier ones, to the last digit.
    """
    found = {}
    with through(monkeypatch, tape):
        releases = watched(synth, given, monkeypatch)
    for one in releases:
        for key, value in one.exact.items():
            if isinstance(value, dict):
                value = [n for c in value for _, n in sorted(value[c].items())]
            found[one.name, key] = value
    return found


def cut(X, y, length):
    """Return (X, y) as chunks of a length; the last one has what is left."""

    def open_chunks():
        for start in range(0, len(X), length):
            some = slice(start, start + length)
            yield X[some] if y is None else (X[some], y[some])

    return (Chunks(open_chunks),)


COMBINATIONS = [
    *((name, "frame, public") for name in OF_TABLES if "steps" not in name),
    *((name, "numbers as target") for name in OF_TABLES if "steps" not in name),
    *((name, "images") for name in OF_IMAGES if "," not in name),
]


# how long the chunks are that rows are read in, and whether they come in such chunks
CUTS = [(64, False), (-1, True), (65, False), (64, True), (-1, False), (65, True)]


@pytest.mark.parametrize(("name", "case"), COMBINATIONS)
def test_chunks_add_up_to_the_whole(name, case, monkeypatch):
    turn = 2 * COMBINATIONS.index((name, case)) % len(CUTS)
    check_cuts(name, case, CUTS[turn : turn + 2], monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "case"), COMBINATIONS)
def test_all_kinds_of_chunks_add_up_to_the_whole(name, case, monkeypatch):
    check_cuts(name, case, CUTS, monkeypatch)


def check_cuts(name, case, cuts, monkeypatch):
    is_image = case in IMAGES
    rows = (IMAGES if is_image else TABLES)[case]
    make = (OF_IMAGES if is_image else OF_TABLES)[name]
    tape = Tape()
    whole = sums(make(epsilon=INF, **rows.params), rows.given(), monkeypatch, tape)
    for length, is_cut in cuts:
        length %= len(rows.X)
        monkeypatch.setattr(_rows, "CHUNK_ROWS", length)
        monkeypatch.setattr(_rows, "IMAGES_AT_ONCE", length)
        given = cut(rows.X, rows.y, length) if is_cut else rows.given()
        synth = make(epsilon=INF, **rows.params)
        found = sums(synth, given, monkeypatch, tape.rewind())
        assert found.keys() == whole.keys()
        for key, value in whole.items():
            assert np.asarray(found[key]).tobytes() == np.asarray(value).tobytes()


COUNT_FEW = ("steps", "critic", "length", "convolution")  # not the cells of all columns
COUNT_ALL = [name for name in OF_TABLES if not any(few in name for few in COUNT_FEW)]


@pytest.mark.parametrize("name", COUNT_ALL)
def test_each_row_is_counted_once_with_its_own_label(name, monkeypatch):
    """The counts of a column by class, tabulated without the package."""
    rows = TABLES["frame, public"]
    monkeypatch.setattr(_rows, "CHUNK_ROWS", 64)
    synth = OF_TABLES[name](epsilon=INF, **rows.params)
    (released,) = (
        one
        for one in watched(synth, rows.given(), monkeypatch)
        if "columns" in one.exact and len(one.exact["columns"]) == 2
    )
    block, start = released.blocks["columns"], 0
    scales = block.scales or (1.0,) * len(block.sizes)
    columns = zip(synth.cells_.items(), block.sizes, scales, strict=True)
    for (name, cells), size, scale in columns:
        found = released.exact["columns"][:, start : start + size]
        start += size
        if name in ("job", "education"):
            expected = pd.crosstab(rows.y, rows.X[name])
            order = [cells.categories.index(value) for value in expected.columns]
            np.testing.assert_allclose(found[:, order], scale * expected)
    assert start == released.exact["columns"].shape[1]


WITHOUT_MAP = "DPGANSynthesizer"  # it sums the pixels themselves
WITH_FEATURES = [
    name
    for name, cls in all_synthesizers("images").items()
    if issubclass(cls, EmbeddingSynthesizer) and name != WITHOUT_MAP
]


@pytest.mark.parametrize("name", WITH_FEATURES)
def test_features_are_those_of_the_row_in_double_precision(name, monkeypatch):
    rows = IMAGES["images"]
    synth = OF_IMAGES[name](epsilon=INF, **rows.params)
    every = watched(synth, rows.given(), monkeypatch)  # pixels come first, votes last
    released = next(one for one in every if "features" in one.exact)
    phi, found = synth.kernel_.phi.double(), released.exact["features"]
    pixels = torch.from_numpy(rows.X.reshape(len(rows.X), -1) / np.float32(255.0))
    each = phi(pixels.double()).numpy()
    norms = np.linalg.norm(each, axis=1, keepdims=True)
    each /= np.maximum(norms / phi.norm_bound, 1.0)
    is_outer = isinstance(released.blocks["features"], OuterProducts)
    grid = 2.0**-20 if is_outer else 2.0**-40  # entries are rounded towards zero
    for label in range(3):
        expected = each[rows.y == label].sum(axis=0)
        n = (rows.y == label).sum()
        np.testing.assert_allclose(found[label], expected, rtol=0, atol=n * grid)
    counts = np.bincount(rows.y, minlength=3)
    np.testing.assert_array_equal(released.exact["classes"][:, 0], counts)


class Sociable(torch.nn.Module):
    """A map that tells how many rows it was given, and what they are on average."""

    n_features = row_size = 2
    norm_bound = 1.0

    def __init__(self, *, is_opaque):
        super().__init__()
        self.is_opaque = is_opaque
        self.seen = []

    def forward(self, x):
        self.seen.append(tuple(x.shape))
        assert x.dtype == torch.float64
        return x - x.mean(dim=0) * self.is_opaque


@pytest.mark.parametrize("n", [1, 2, 63, 64, 100])
def test_rows_are_mapped_in_batches_of_one_shape(n):
    """How a batch is rounded goes by its shape; a smaller one would round all anew."""
    phi = Sociable(is_opaque=False)
    mapper = Mapper.of(phi, torch.device("cpu"))
    rows = np.random.default_rng(0).random((n, 2), dtype=np.float32)
    np.testing.assert_array_equal(mapper(rows).numpy(), rows)
    assert phi.seen == [(mapper.at_once, 2)]


def test_rows_go_alone_through_a_map_of_which_nothing_is_known():
    phi = Sociable(is_opaque=True)
    rows = np.random.default_rng(0).random((5, 2), dtype=np.float32)
    assert not Mapper.of(phi, torch.device("cpu"))(rows).any()  # each is its own mean
    assert phi.seen == 5 * [(1, 2)]
