"""Numbers that move together: what products of normal scores add to a mixture."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from skdpgen import DPPairwiseSynthesizer
from skdpgen.privacy import Release
from skdpgen.synthesizers.models import Coupling, NormalScores, ScoreProducts
from skdpgen.synthesizers.pairwise import _correlations
from skdpgen.synthesizers.pairwise._correlations import coupling_of
from skdpgen.tables import Categorical, NumberCells, Numeric, Schema
from skdpgen.training import ClassConditional, least_move
from skdpgen.utils import Key
from tests._seeded import same_noise

INF = float("inf")
SCHEMA = Schema(
    {
        "length": Numeric(0, 20, nullable=False),
        "width": Numeric(0, 20),
        "age": Numeric(0, 100, nullable=False),
        "colour": Categorical(("red", "blue"), nullable=False),
    }
)
KNOWN = {"schema": SCHEMA, "classes": ["a", "b"], "random_state": 0}


def sizes(n=6000, seed=0):
    """Return rows of which two numbers nearly agree; one of these may be missing."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.4, "a", "b")
    length = rng.normal(8 + 4 * (y == "a"), 2, n).clip(0, 20)
    width = (length + rng.normal(0, 0.2, n)).clip(0, 20)
    X = pd.DataFrame(
        {
            "length": length,
            "width": np.where(rng.random(n) < 0.1, np.nan, width),
            "age": rng.uniform(0, 100, n),
            "colour": rng.choice(["red", "blue"], n),
        }
    )
    return X, pd.Series(y, name="kind")


def rank_correlation(X):
    return X["length"].corr(X["width"], method="spearman")


@pytest.fixture(scope="module")
def fitted():
    """Return rows, and a model of them that was fitted without noise."""
    X, y = sizes()
    return X, y, DPPairwiseSynthesizer(INF, **KNOWN).fit(X, y)


def products_of(synth):
    return synth._measured.products


def correlation_of_cells(drawn, n_known):
    numbers = drawn["width"] < n_known
    return np.corrcoef(drawn["length"][numbers], drawn["width"][numbers])[0, 1]


def test_numbers_that_nearly_agree_do_so_in_samples(fitted):
    X, _, synth = fitted
    sample, _ = synth.sample(6000, random_state=0)
    alone = replace(synth._model, coupling=None)
    assert rank_correlation(X) > 0.99
    assert rank_correlation(sample) > 0.97
    related, loose = (
        correlation_of_cells(
            model.draw(np.repeat([0, 1], 3000), {}, rng=np.random.default_rng(0)),
            synth.cells_["width"].n_known,
        )
        for model in (synth._model, alone)
    )
    assert related > loose + 0.003


def test_with_noise_samples_are_nearer_as_well():
    X, y = sizes()
    with same_noise(3):
        synth = DPPairwiseSynthesizer(1.0, **KNOWN).fit(X, y)
    related, _ = synth.sample(6000, random_state=0)
    synth._fitted = replace(synth._fitted, model=replace(synth._model, coupling=None))
    loose, _ = synth.sample(6000, random_state=0)
    assert rank_correlation(related) > rank_correlation(loose) + 0.02


def test_products_are_of_numbers_only_and_are_paid_for(fitted):
    X, y, synth = fitted
    assert products_of(synth).names == ("length", "width", "age")
    names = [paid.name for paid in synth.privacy_.releases]
    assert sum("products of normal scores of 3 columns" in name for name in names) == 1
    one_number = X[["length", "colour"]]
    schema = Schema({name: SCHEMA.columns[name] for name in one_number})
    other = DPPairwiseSynthesizer(INF, **KNOWN | {"schema": schema}).fit(one_number, y)
    assert products_of(other) is None
    assert other._model.coupling is None


def test_columns_by_class_and_missing_cells_stay_as_they_were_drawn(fitted):
    _, _, synth = fitted
    model, rng = synth._model, np.random.default_rng(1)
    codes = model._drawn(np.zeros(2000, dtype=int), {}, rng=rng)
    d = len(model.coupling.sizes)
    maps = np.stack([np.eye(d) + rng.normal(0, 0.5, (d, d))] * 2)[None]
    moved = replace(model.coupling, maps=maps).moved(codes, 0, model.known, rng=rng)
    for name, column in moved.items():
        size = model.coupling.sizes[name]
        assert (np.sort(column) == np.sort(codes[name])).all()
        no_number = codes[name] >= size
        assert (column[no_number] == codes[name][no_number]).all()
    assert (codes["width"] >= model.coupling.sizes["width"]).any()
    assert (moved["length"] != codes["length"]).mean() > 0.5


def test_rows_stay_where_the_map_leaves_them(fitted):
    _, _, synth = fitted
    model, rng = synth._model, np.random.default_rng(2)
    codes = model._drawn(np.zeros(500, dtype=int), {}, rng=rng)
    same = np.stack([np.eye(len(model.coupling.sizes))] * 2)[None]
    none = replace(model.coupling, maps=same)
    for name, column in none.moved(codes, 0, model.known, rng=rng).items():
        assert (column == codes[name]).all()


def coupling_again(synth, products):
    mixture = replace(synth._model, coupling=None)
    rng = np.random.default_rng(5)
    return coupling_of(mixture, products, synth.cells_, rng=rng)


def with_values(products, values, noise=0.0):
    released = replace(
        products.released,
        values={Key.FEATURES: values.reshape(len(values), -1)},
        noise_std={Key.FEATURES: noise},
    )
    return replace(products, released=released)


def own_products(synth):
    """Return products as the mixture itself has them: its first draws are those."""
    products, model = products_of(synth), synth._model
    mixture, rng = replace(model, coupling=None), np.random.default_rng(5)
    labels = np.repeat([0, 1], _correlations.ROWS_DRAWN // 2)
    rows, sums = mixture.draw(labels, {}, rng=rng), []
    codes = np.stack([rows[name] for name in products.names], axis=1)
    for label, total in enumerate(model.known.totals):
        of_class = labels == label
        mean = products.of_rows(codes[of_class], labels[of_class])
        sums.append(total * mean)
    return with_values(products, np.stack(sums))


def test_what_the_mixture_has_is_not_corrected(fitted):
    assert coupling_again(fitted[2], own_products(fitted[2])) is None


def test_what_noise_explains_is_not_corrected(fitted):
    products = products_of(fitted[2])
    loud = with_values(products, products.values, noise=1e6)
    assert coupling_again(fitted[2], loud) is None
    assert coupling_again(fitted[2], products) is not None


def test_clipped_rows_do_not_weaken_relations(fitted):
    """The more columns go together, the more rows are clipped: that is no relation."""
    _, _, synth = fitted
    own = own_products(synth)
    shorter = with_values(own, 0.9 * own.values)
    assert coupling_again(synth, shorter) is None


def test_noise_in_columns_of_classes_does_not_weaken_relations():
    """Two columns are equal. Their noisy histograms by class are not, nor are scores.

    So scores of pooled products are those of all rows, which have far less noise.
    """
    rng = np.random.default_rng(0)
    length, y = rng.uniform(0, 20, 6000), rng.integers(0, 2, 6000)
    codes = np.repeat(np.floor(10 * length).astype(int)[:, None], 2, axis=1)
    by_class = rng.dirichlet(np.full(200, 3.0), size=(2, 2))  # far from even
    known = ClassConditional(
        np.array([3000.0, 3000.0]),
        0.0,
        {name: np.full(200, 1 / 200) for name in "ab"},
        dict(zip("ab", by_class, strict=True)),
    )
    cells = dict.fromkeys("ab", NumberCells(np.linspace(0, 20, 201), nullable=False))

    def correlation(by_class):
        scores = NormalScores.of_numbers(known, cells, by_class=by_class)
        first, second = scores.encode(codes, y).T
        return np.corrcoef(first, second)[0, 1]

    assert correlation(False) > correlation(True)
    assert correlation(False) > 0.99


def test_few_rows_and_given_columns_are_drawn_too(fitted):
    _, _, synth = fitted
    few, labels = synth.sample(7, random_state=0)
    assert len(few) == len(labels) == 7
    given = pd.DataFrame({"length": [3.0, 12.0], "colour": ["red", "blue"]})
    completed, _ = synth.sample(conditions=given, random_state=0)
    assert completed["length"].tolist() == [3.0, 12.0]


def test_products_of_rows_are_those_of_the_release(fitted):
    X, y, synth = fitted
    products = products_of(synth)
    cells = {name: synth.cells_[name] for name in products.names}
    codes = []
    for name, column in cells.items():
        edges = column.edges[1:-1]
        places = np.searchsorted(edges, X[name], side="right")
        codes.append(np.where(X[name].isna(), column.n_known, places))
    codes, labels = np.stack(codes, axis=1), (y == "b").astype(int).to_numpy()
    for label in (0, 1):
        of_class = labels == label
        mean = products.of_rows(codes[of_class], labels[of_class])
        assert mean * of_class.sum() == pytest.approx(products.values[label], abs=1e-2)


@pytest.mark.parametrize("by_class", [True, False])
def test_one_row_moves_the_products_by_root_two_at_most(fitted, by_class):
    """Brute force: all pairs of rows of a small world, each with both labels."""
    _, _, synth = fitted
    products: ScoreProducts = products_of(synth)
    cells = {name: synth.cells_[name] for name in products.names}
    scores = NormalScores.of_numbers(synth._model.known, cells, by_class=by_class)
    products = replace(products, scores=scores)
    rng, d = np.random.default_rng(0), len(products.names)
    n_cells = [synth.cells_[name].n_cells for name in products.names]
    codes = np.stack([rng.integers(0, n, 60) for n in n_cells], axis=1)
    vectors = []
    for label in (0, 1):
        for row in codes:
            sums = np.zeros((2, d, d))  # the second stays empty if all rows are summed
            sums[label * by_class] = products.of_rows(row[None], np.array([label]))
            vectors.append(sums.ravel())
    rows = np.array(vectors)
    squares = (rows**2).sum(axis=1)
    assert squares.max() <= 1.0 + 1e-9
    assert squares.max() > 0.99  # the bound is reached
    moved = squares[:, None] + squares[None] - 2 * rows @ rows.T
    assert moved.max() <= 2.0 + 1e-9


@pytest.mark.parametrize("seed", range(5))
def test_a_map_gives_the_correlations_that_are_asked_for(seed):
    rng = np.random.default_rng(seed)
    before, after = (np.corrcoef(rng.normal(size=(4, 9))) for _ in range(2))
    linear = least_move(before, after)
    assert linear @ before @ linear.T == pytest.approx(after, abs=1e-6)
    assert linear == pytest.approx(linear.T)  # the gradient of a convex function


def test_a_coupling_is_stored_with_the_model(fitted, tmp_path):
    from skdpgen import load

    _, _, synth = fitted
    assert isinstance(synth._model.coupling, Coupling)
    assert isinstance(products_of(synth).released, Release)
    synth.save(tmp_path / "model.skdpgen")
    again = load(tmp_path / "model.skdpgen")
    for one, two in zip(
        synth.sample(50, random_state=0), again.sample(50, random_state=0), strict=True
    ):
        assert one.equals(two)
    retrained = again.retrain(max_iter=0)
    assert retrained._model.coupling is None
