"""DP-Pairwise with a focus: rows counted by a column, weights of pairs, wrong names."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from skdpgen import Categorical, DPPairwiseSynthesizer, Numeric, Schema, load
from skdpgen.datasets import load_example
from skdpgen.exceptions import NotPrivateWarning
from skdpgen.privacy import (
    Histograms,
    Ledger,
    PrivacyBudget,
    insecure_noise_seed,
    release,
    sensitivity,
)
from skdpgen.synthesizers.opening import cell_scales
from skdpgen.synthesizers.pairwise._focus import (
    LISTED_WEIGHT,
    focus_weights,
    on_the_diagonal,
    pair_weights,
    stratum_of,
)
from skdpgen.synthesizers.pairwise._pair_release import release_pairs
from skdpgen.tables import CategoryCells, Chunks, Rows
from skdpgen.utils import Key

INF = float("inf")
PLACES = ["north", "south", "east", "west"]
SMALL = {"max_iter": 2, "n_components": 5}


def table(n=4000, seed=0):
    """Return rows whose two columns agree in some places and differ in others."""
    rng = np.random.default_rng(seed)
    place = rng.integers(4, size=n)
    first = rng.random(n) < 0.2 + 0.15 * place
    related = first ^ (place % 2 == 1)
    second = np.where(rng.random(n) < 0.8, related, rng.random(n) < 0.5)
    return pd.DataFrame(
        {
            "size": rng.normal(place, 1.0).clip(-5, 10),
            "place": np.array(PLACES)[place],
            "first": np.where(first, "yes", "no"),
            "second": np.where(second, "yes", "no"),
        }
    )


SCHEMA = Schema(
    {
        "size": Numeric(-5.0, 10.0, nullable=False),
        "place": Categorical(PLACES, nullable=False),
        "first": Categorical(["no", "yes"], nullable=False),
        "second": Categorical(["no", "yes"], nullable=False),
    }
)


def fitted(epsilon=INF, rows=None, **settings):
    settings = {"schema": SCHEMA, "delta": 1e-5, "random_state": 0} | settings
    synthesizer = DPPairwiseSynthesizer(epsilon, **settings)
    with pytest.warns(NotPrivateWarning), insecure_noise_seed(0):
        return synthesizer.fit(table() if rows is None else rows)


def three_way(real, drawn):
    names = ["place", "first", "second"]
    shares = [rows.value_counts(names, normalize=True) for rows in (real, drawn)]
    return 0.5 * shares[0].sub(shares[1], fill_value=0.0).abs().sum()


# ------------------------------------------------------------ what a focus is for


def test_relations_within_the_groups_of_the_focus_survive():
    real = table()
    synthesizer = fitted(focus=["place"], max_iter=150)
    drawn = synthesizer.sample(40_000, random_state=0)
    assert list(drawn) == list(real)
    assert three_way(real, drawn) < 0.03
    means = [rows.groupby("place")["size"].mean() for rows in (real, drawn)]
    assert (means[0] - means[1]).abs().max() < 0.15


def test_rows_are_counted_by_the_focus_in_each_release():
    synthesizer = fitted(100.0, focus=["place"], **SMALL)
    place = list(synthesizer.cells_).index("place")
    for one in synthesizer.pair_releases_:
        assert all(place not in pair for pair in one.pairs)
    assert len(synthesizer.release_.values[Key.COLUMNS]) == len(PLACES)
    assert synthesizer.task_ is None
    assert synthesizer.target_ is None
    report = synthesizer.columns_.loc["place"]
    assert report["n_cells"] == len(PLACES)


def test_conditions_of_the_focus_are_kept_and_followed():
    synthesizer = fitted(focus=["place"], max_iter=150)
    given = pd.DataFrame({"place": ["north"] * 3000 + ["west"] * 3000})
    drawn = synthesizer.sample(conditions=given, random_state=0)
    assert list(drawn["place"]) == list(given["place"])
    agree = (drawn["first"] == drawn["second"]).to_numpy()
    assert agree[:3000].mean() > 0.8
    assert agree[3000:].mean() < 0.2


def test_a_saved_synthesizer_draws_the_same_rows(tmp_path):
    synthesizer = fitted(100.0, focus={"place": 2.0}, **SMALL)
    synthesizer.save(tmp_path / "focus.skdpgen")
    again = load(tmp_path / "focus.skdpgen")
    rows = [one.sample(50, random_state=0) for one in (synthesizer, again)]
    pd.testing.assert_frame_equal(*rows)
    losses = [one.retrain(max_iter=3).loss_curve_ for one in (synthesizer, again)]
    assert losses[0] == losses[1]


@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        ({"place": 1.0, "first": 2.0}, "first"),
        ({"place": 4.0, "first": 4.0}, "place"),
        ({"size": 9.0, "place": 1.0}, "place"),  # a number of many cells is no stratum
        ({"size": 9.0}, None),
        ({}, None),
    ],
)
def test_the_stratum_has_the_largest_weight_of_few_cells(weights, expected):
    cells = {
        "size": CategoryCells(tuple(map(str, range(40))), False),
        "place": CategoryCells(tuple(PLACES), False),
        "first": CategoryCells(("no", "yes"), False),
    }
    opening = SimpleNamespace(facts=SimpleNamespace(task=None), public=None)
    assert stratum_of(opening, cells, weights) == expected
    for other in ({"public": object()}, {"facts": SimpleNamespace(task="regression")}):
        assert stratum_of(SimpleNamespace(**{**vars(opening), **other}), cells,
                          weights) is None  # fmt: skip


def test_with_a_target_a_focus_lowers_the_noise_of_its_pairs():
    X, y = load_example(3000)
    known = {"schema": Schema.infer(X), "classes": ["left", "stayed"], **SMALL}
    synthesizer = DPPairwiseSynthesizer(1.0, delta=1e-5, focus=["job"], **known)
    synthesizer.fit(X, y)
    first = synthesizer.pair_releases_[0]
    names = list(synthesizer.cells_)
    sizes = np.array([np.prod(first_shape) for first_shape in shapes(synthesizer)])
    relative = np.square(first.scales) / np.sqrt(sizes)
    of_focus = np.array([names.index("job") in pair for pair in first.pairs])
    ratio = relative[of_focus].mean() / relative[~of_focus].mean()
    assert ratio == pytest.approx(np.sqrt(LISTED_WEIGHT), rel=1e-3)
    assert np.square(first.scales).sum() <= 1.0


def shapes(synthesizer):
    first = synthesizer.pair_releases_[0]
    return [t.shape[1:] for _, _, t, _ in first.tables(synthesizer.groups_)]


def test_scales_of_weighted_histograms_have_norm_one_at_most():
    scales = cell_scales([4, 4, 16], [1.0, 4.0, 1.0])
    assert sum(scale**2 for scale in scales) <= 1.0
    assert (scales[1] / scales[0]) ** 2 == pytest.approx(2.0, rel=1e-5)
    assert cell_scales([4, 9], [3.0, 3.0]) == cell_scales([4, 9])


def test_weights_of_a_pair_are_those_of_its_heavier_column():
    cells = dict.fromkeys("abc")
    weights = pair_weights(cells, {"b": 3.0}, [(0, 1), (0, 2), (1, 2)])
    assert weights == [3.0, 1.0, 3.0]


def test_counts_that_cannot_be_are_moved_to_the_diagonal():
    cells = {"a": CategoryCells(("x",), False), "b": CategoryCells(("y", "z"), False)}
    synthesizer = fitted(100.0, focus=["place"], **SMALL)
    released = synthesizer.release_
    block = np.array([[9.0, 3.0, 1.0], [8.0, -1.0, 4.0]])
    moved = on_the_diagonal(
        replace(released, values={Key.COLUMNS.value: block}), cells, "b"
    )
    expected = [[9.0, 4.0, 0.0], [8.0, 0.0, 3.0]]
    assert moved.values[Key.COLUMNS].tolist() == expected


# ------------------------------------------------------------ how far one row goes


@pytest.mark.parametrize("of_class", [None, np.array([0, 1, 1, 0])])
@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_no_row_moves_counts_by_the_focus_further_than_is_claimed(adjacency, of_class):
    """Brute force: a row replaced or added, strange values included."""
    X = table(300)
    synthesizer = fitted(50.0, focus=["place"], adjacency=adjacency, rows=X, **SMALL)
    cells, groups = synthesizer.cells_, synthesizer.groups_
    labels = cells["place"]
    sizes = tuple(column.n_cells for column in cells.values())
    block = Histograms(sizes, cell_scales(sizes))
    pairs = synthesizer.pair_releases_[0].pairs

    def opened(rows):
        ledger = Ledger(PrivacyBudget(INF, 1e-5, adjacency))
        opening = SimpleNamespace(rows=Rows.read(rows, None), ledger=ledger)
        opening.rows.label_by("place")
        return opening

    def exact(rows):
        opening = opened(rows)
        columns = release(
            opening.rows.batches(cells, labels),
            {Key.COLUMNS: block},
            name="again",
            ledger=opening.ledger,
            share=1.0,
            n_classes=labels.n_cells,
        )
        how = {"by_class": True, "share": 1.0, "weights": range(1, len(pairs) + 1)}
        how |= {"of_class": of_class}
        again = release_pairs(opened(rows), cells, labels, groups, pairs, **how)
        return columns.values[Key.COLUMNS], again.released.values[Key.PAIRS]

    whole = exact(X)
    most = 1.0 if adjacency == "add_remove" else np.sqrt(2.0)
    bounds = np.array([sensitivity(block.structure, adjacency), most])
    largest = np.zeros(2)
    others = [[9.0, p, f, s] for p in (*PLACES, "nowhere", None)
              for f, s in (("no", "yes"), ("yes", "no"), ("?", None))]  # fmt: skip
    for other in others:
        near = X.copy()
        if adjacency == "replace":
            near.iloc[0] = other
        else:
            near.loc[len(near)] = other
        moved = [np.linalg.norm(a - b) for a, b in zip(exact(near), whole, strict=True)]
        assert (moved <= bounds * (1 + 1e-9)).all()
        largest = np.maximum(largest, moved)
    assert (largest > 0.9 * bounds).all()


# ------------------------------------------------------------------ wrong input


@pytest.mark.parametrize(
    ("focus", "message"),
    [
        (["plaice"], "focus must name columns of the table: size, place.*plaice"),
        ({"place": 0.0}, "weights above 0.*0.0 for 'place'"),
        ({"place": "much"}, "weights above 0.*'much' for 'place'"),
        ({"place": INF}, "weights above 0.*inf"),
        ("place", "'focus' parameter.*'place'"),
    ],
)
def test_a_wrong_focus_is_named_before_any_budget_is_used(focus, message):
    synthesizer = DPPairwiseSynthesizer(focus=focus, schema=SCHEMA)
    with pytest.raises(ValueError, match=message):
        synthesizer.fit(table(100))
    assert not hasattr(synthesizer, "privacy_")


def test_names_of_chunks_are_checked_too():
    rows = Chunks(lambda: iter([table(200)]))
    with pytest.raises(ValueError, match="focus must name columns"):
        DPPairwiseSynthesizer(focus=["nothing"]).fit(rows)


def test_no_focus_has_no_weights():
    assert focus_weights(None, ["a"]) == {}
