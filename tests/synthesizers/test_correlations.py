"""Numbers that move together: what products of normal scores add to a mixture."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from skdpgen import DPPairwiseSynthesizer
from skdpgen.privacy import Release
from skdpgen.synthesizers.models import Coupling, ScoreProducts, single_columns
from skdpgen.synthesizers.pairwise import _correlations, known_pairs
from skdpgen.synthesizers.pairwise._correlations import coupling_of
from skdpgen.tables import Categorical, Numeric, Schema
from skdpgen.training import least_move
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


def test_numbers_that_nearly_agree_do_so_in_samples(fitted):
    X, _, synth = fitted
    sample, _ = synth.sample(6000, random_state=0)
    alone = replace(synth._model, coupling=None)
    loose = alone.draw(np.repeat([0, 1], 3000), {}, rng=np.random.default_rng(0))
    assert rank_correlation(X) > 0.99
    assert rank_correlation(sample) > 0.97
    numbers = loose["width"] < synth.cells_["width"].n_known
    assert np.corrcoef(loose["length"][numbers], loose["width"][numbers])[0, 1] < 0.96


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
    maps = np.stack([np.eye(d) + rng.normal(0, 0.5, (d, d))] * 2)
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
    same = np.stack([np.eye(len(model.coupling.sizes))] * 2)
    none = replace(model.coupling, maps=same)
    for name, column in none.moved(codes, 0, model.known, rng=rng).items():
        assert (column == codes[name]).all()


def pairs_of(synth):
    """Return the model of pairs of a fit."""
    measured, facts = synth._measured, synth._facts
    columns = single_columns(
        measured.release, synth.cells_, synth._labels, facts, measured.scales
    )
    return known_pairs(
        columns,
        measured.release,
        measured.groups,
        measured.pair_releases,
        facts,
        measured.scales,
        None,
    )


def coupling_again(synth, products):
    mixture = replace(synth._model, coupling=None)
    rng = np.random.default_rng(5)
    return coupling_of(mixture, products, synth.cells_, pairs_of(synth), rng=rng)


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
    labels = np.repeat([0, 1], _correlations.DRAWN // 2)
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


def test_columns_that_pairs_contradict_are_left_alone(fitted):
    """Products that are wrong are as sure of themselves; pairs know better."""
    _, _, synth = fitted
    wrong = own_products(synth)
    values = wrong.values.copy()
    age = wrong.names.index("age")
    for sums in values:  # age is said to go with length, and does not
        other = wrong.names.index("length")
        unit = np.sqrt(sums[age, age] * sums[other, other])
        sums[age, other] = sums[other, age] = 0.6 * unit
    assert coupling_again(synth, with_values(wrong, values)) is None


def test_gains_are_the_errors_that_moving_takes_away(fitted):
    """Without noise, against shares that are computed here from drawn rows."""
    _, _, synth = fitted
    model, pairs = synth._model, pairs_of(synth)
    mixture, rng = replace(model, coupling=None), np.random.default_rng(0)
    before = [mixture.draw(np.full(40_000, label), {}, rng=rng) for label in range(2)]
    names = list(model.coupling.sizes)
    mixed = np.eye(len(names)) + 0.7 * np.eye(len(names))[::-1]
    scrambled = replace(model.coupling, maps=np.stack([mixed] * 2))
    after = [
        rows | scrambled.moved(rows, label, model.known, rng=rng)
        for label, rows in enumerate(before)
    ]
    gains = dict(
        zip(
            names,
            _correlations._gains(pairs, mixture, names, before, after),
            strict=True,
        )
    )
    columns = list(model.tables)
    expected = dict.fromkeys(names, 0.0)
    for (j, k), (excess, _) in pairs.common_excess().items():
        released = excess + pairs.independent((j, k)).sum(axis=0)
        errors = []
        for rows_by_class in (before, after):
            table = np.zeros_like(released)
            for share, rows in zip(pairs.shares, rows_by_class, strict=True):
                cells = [
                    side.of_cell[model.groups[columns[i]].of_cell[rows[columns[i]]]]
                    for i, side in zip((j, k), pairs.sides((j, k)), strict=True)
                ]
                np.add.at(table, tuple(cells), share / 40_000)
            errors.append(((released - table) ** 2).sum())
        for name in names:
            if name in (columns[j], columns[k]):
                expected[name] += errors[0] - errors[1]
    for name in names:
        assert gains[name] == pytest.approx(expected[name], rel=0.05)
        assert gains[name] < -1e-4


def test_misfits_of_products_count_in_variances_of_their_noise(fitted):
    products = own_products(fitted[2])
    own, std = products.values, 4.0
    shifted = own.copy()
    shifted[:, 0, 1] += 6.0
    shifted[:, 1, 0] += 6.0
    misfits = _correlations._misfits(with_values(products, shifted, std), own)
    expected = np.zeros_like(misfits)
    expected[0, 1] = expected[1, 0] = len(own) * 36.0 / (16.0 / 2)  # of two entries
    assert misfits == pytest.approx(expected)
    assert not _correlations._misfits(products, own + 1.0).any()  # without noise


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


def test_one_row_moves_the_products_by_root_two_at_most(fitted):
    """Brute force: all pairs of rows of a small world, each with both labels."""
    _, _, synth = fitted
    products: ScoreProducts = products_of(synth)
    rng, d = np.random.default_rng(0), len(products.names)
    n_cells = [synth.cells_[name].n_cells for name in products.names]
    codes = np.stack([rng.integers(0, n, 60) for n in n_cells], axis=1)
    vectors = []
    for label in (0, 1):
        for row in codes:
            sums = np.zeros((2, d, d))
            sums[label] = products.of_rows(row[None], np.array([label]))
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
