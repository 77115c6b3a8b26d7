"""DP-MGE of tables: a Gaussian copula whose columns are those of the baseline."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from sklearn.base import clone

from skdpgen import DPIndependentSynthesizer, DPMGESynthesizer, load
from skdpgen.exceptions import NothingLearnedWarning
from skdpgen.privacy import Release
from skdpgen.synthesizers.gaussian._copula import joined, scales_of
from skdpgen.synthesizers.models._mixture_model import _cell_at
from skdpgen.synthesizers.models._score_products import (
    NormalScores,
    order_of,
    room_for,
)
from skdpgen.tables import (
    Boolean,
    Categorical,
    CategoryCells,
    Integer,
    NumberCells,
    Numeric,
    Schema,
)
from skdpgen.training import ClassConditional, scores_of
from tests._seeded import same_noise
from tests.synthesizers._tables import CASES, assert_obeys, build, split

INF = float("inf")
LEVELS = ("a", "b", "c", "d")
SCHEMA = Schema(
    {
        "wide": Numeric(-5, 5),
        "skewed": Numeric(0, 200),
        "count": Integer(0, 9),
        "is_high": Boolean(),
    }
)
BY_CLASS = {  # of normal scores: of the first and each of the others
    "one": (0.8, 0.5, 0.7),
    "two": (-0.7, -0.5, -0.6),
    "three": (0.0, 0.0, 0.0),
}
COUNT_ENDS = norm.ppf([0.1, 0.3, 0.6, 0.8, 0.95])


def truth_of(label):
    loads = np.r_[1.0, BY_CLASS[label]]
    found = np.outer(loads, loads)
    np.fill_diagonal(found, 1.0)
    return found


def table(n=6000, seed=0, classes=tuple(BY_CLASS)):
    """Columns of a known copula, which differs from class to class."""
    rng = np.random.default_rng(seed)
    y = rng.choice(classes, n)
    scores = np.empty((n, 4))
    for label in classes:
        mine = y == label
        root = np.linalg.cholesky(truth_of(label))
        scores[mine] = rng.normal(size=(mine.sum(), 4)) @ root.T
    X = pd.DataFrame(
        {
            "wide": scores[:, 0].clip(-5, 5),
            "skewed": np.exp(scores[:, 1]).clip(0, 200),
            "count": np.searchsorted(COUNT_ENDS, scores[:, 2]),
            "is_high": scores[:, 3] > 0.3,
        }
    )
    return X, y


X, Y = table()


def fit(X=X, y=Y, **params):
    known = {"schema": SCHEMA, "classes": tuple(BY_CLASS), "random_state": 0}
    with same_noise():
        return DPMGESynthesizer(**known | {"epsilon": 100.0} | params).fit(X, y)


def ranks(frame):
    return frame.astype(float).rank().corr().to_numpy()


def spread(cells, labels, n_classes):
    """Return how often each cell is drawn, class by class."""
    counts = np.zeros((n_classes, cells.max() + 1))
    np.add.at(counts, (labels, cells), 1.0)
    return counts / counts.sum(axis=1, keepdims=True)


# ------------------------------------------------------------------- what is learnt


@pytest.mark.parametrize("epsilon", [INF, 100.0])
def test_relations_of_each_class_come_back(epsilon):
    synth = fit(epsilon=epsilon)
    assert synth.relations_learned_ == "columns and relations"
    assert synth.mixture_.correlations.shape == (3, 4, 4)
    drawn, labels = synth.sample(6000, random_state=0)
    for label in BY_CLASS:
        found, given = ranks(drawn[labels == label]), ranks(X[label == Y])
        assert np.abs(found - given)[:2, :2].max() < 0.1, label
        assert np.abs(found - given).max() < 0.2, label
        assert (found[0, 1:] * truth_of(label)[0, 1:] >= 0).all(), label


def test_relations_come_back_without_labels():
    one, _ = table(classes=("one",))
    synth = fit(one, None, classes=None)
    found = ranks(synth.sample(6000, random_state=0))
    assert synth.mixture_.correlations.shape == (1, 4, 4)
    assert np.abs(found - ranks(one)).max() < 0.2


def test_relations_of_columns_of_few_cells_are_as_strong_as_given():
    one, _ = table(classes=("one",))
    found = ranks(fit(one, None, classes=None, epsilon=INF).sample(6000))
    assert np.abs(found - ranks(one))[:2, 2:].max() < 0.05


def test_few_rows_share_their_relations():
    few, labels = table(400, classes=("one", "two"))
    synth = fit(few, labels, classes=("one", "two"), epsilon=1.0)
    assert len(synth.mixture_.correlations) == 1
    assert "by class" not in synth.privacy_.releases[-1].name


def test_columns_are_those_of_the_baseline():
    synth = fit(epsilon=INF)
    baseline = DPIndependentSynthesizer(
        epsilon=INF, schema=SCHEMA, classes=tuple(BY_CLASS), random_state=0
    ).fit(X, Y)
    known, other = synth.mixture_.known, baseline._model
    assert list(known.conditionals) == list(other.conditionals)
    np.testing.assert_allclose(known.totals, other.totals)
    for name, shares in known.conditionals.items():
        np.testing.assert_allclose(shares, other.conditionals[name], atol=1e-12)


def test_cells_are_drawn_as_often_as_is_known():
    model = fit(epsilon=10.0).mixture_
    labels = np.repeat([0, 1, 2], [2000, 500, 3000])
    drawn = model.draw(labels, rng=np.random.default_rng(0))
    for name, cells in drawn.items():
        found = spread(cells, labels, 3)
        known = np.asarray(model.known.conditionals[name])[:, : found.shape[1]]
        assert np.abs(found - known).max() <= 2 / 500, name


# ------------------------------------------------- columns that tell classes apart


def telling():
    """One column of five goes with the class."""
    rng = np.random.default_rng(0)
    y = rng.choice(["one", "two"], 3000)
    frame = pd.DataFrame(rng.random((3000, 5)), columns=list("abcde"))
    frame["c"] = np.where(y == "one", frame["c"] / 2, frame["c"])
    return frame, y


def test_columns_that_distinguish_classes_get_more_of_the_budget():
    frame, y = telling()
    schema = Schema({name: Numeric(0, 1) for name in frame})
    synth = fit(frame, y, schema=schema, classes=("one", "two"), epsilon=2.0)
    names = [one.name for one in synth.privacy_.releases]
    assert [name for name in names if "histograms" in name] == [
        "histograms of 5 columns by class",
        "histograms again, more of columns that tell classes apart",
    ]
    known = synth.mixture_.known
    scales = dict(zip(frame, scales_of(known), strict=True))
    assert sum(scale**2 for scale in scales.values()) == pytest.approx(1.0)
    assert scales["c"] > 2 * max(scales[name] for name in "abde")
    exact = fit(frame, y, schema=schema, classes=("one", "two"), epsilon=INF)
    assert not is_counted_again(exact)  # without noise once is enough
    alone = fit(frame, None, schema=schema, classes=None, epsilon=2.0)
    assert not is_counted_again(alone)


def is_counted_again(synth):
    return any("again" in entry.name for entry in synth.privacy_.releases)


def test_both_counts_of_a_column_are_averaged_by_precision():
    first, again = (
        Release({"columns": values}, {"columns": std}, 1.0, 1.0, "replace")
        for values, std in (
            (np.array([[10.0, 20.0, 30.0]]), 2.0),
            (np.array([[6.0, 9.0, 20.0]]), 1.0),  # of weights .5 and .8
        )
    )
    whole, units = joined(first, again, (2, 1), (0.5, 0.8))
    precision = np.array([1 / 4 + 0.25, 1 / 4 + 0.25, 1 / 4 + 0.64])
    expected = (np.array([10, 20, 30]) / 4 + np.array([3, 4.5, 16])) / precision
    np.testing.assert_allclose(np.square(units), precision[1:])
    found = whole.values["columns"][0] / np.repeat(units, [2, 1])
    np.testing.assert_allclose(found, expected)
    assert whole.noise_std == {"columns": 1.0}


@pytest.mark.parametrize("edge", [0.0, 1e-4, 0.01, 1.0])
def test_rows_have_room_where_noise_is_small(edge):
    assert 1.0 <= room_for(edge) <= 3.0
    assert (room_for(edge) == 3.0) == (edge < 0.001)


def test_a_single_column_needs_no_products():
    synth = fit(X[["wide"]], Y, schema=Schema({"wide": Numeric(-5, 5)}), epsilon=1.0)
    assert not any("products" in one.name for one in synth.privacy_.releases)
    drawn, labels = synth.sample(500)
    assert drawn.shape == (500, 1)
    assert set(labels) == set(BY_CLASS)


def test_nothing_learnt_is_said():
    with pytest.warns(NothingLearnedWarning):
        synth = fit(X[:50], Y[:50], epsilon=0.05, random_state=0)
    assert synth.relations_learned_ == "columns by class only"
    assert not synth.mixture_.has_relations
    assert "no relation between columns was learnt" in str(synth.privacy_)


def test_categories_are_ordered_by_what_goes_with_them():
    """A category that goes with the class is related to a number that does too."""
    rng = np.random.default_rng(0)
    level = rng.integers(0, 4, 6000)
    order = np.array([2, 0, 3, 1])  # of the names, along the classes
    y = np.where(rng.random(6000) < (level + 0.5) / 4, "one", "two")
    frame = pd.DataFrame(
        {
            "level": np.array(LEVELS)[order[level]],
            "number": level + rng.normal(size=6000).clip(-3, 3) / 3,
        }
    )
    schema = Schema({"level": Categorical(LEVELS), "number": Numeric(-1, 4)})
    synth = fit(frame, y, schema=schema, classes=("one", "two"))
    found = synth.mixture_.orders["level"]
    known = [LEVELS[k] for k in order]
    categories = synth.cells_["level"].categories
    names = [str(categories[k]) for k in found if k < len(categories)]
    names = [name for name in names if name in LEVELS]
    assert names in (known, known[::-1])
    drawn, labels = synth.sample(6000, random_state=0)
    for label in ("one", "two"):
        mine = labels == label
        means = drawn[mine].groupby("level")["number"].mean()
        assert means[LEVELS[order[3]]] - means[LEVELS[order[0]]] > 1.0


# ----------------------------------------------------------------- any kind of table


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_draws_obey_the_schema(name, adjacency):
    case = CASES[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NothingLearnedWarning)
        synth = build(DPMGESynthesizer, case, epsilon=5.0, adjacency=adjacency)
        synth.fit(case.X, case.y)
    found, y = split(synth.sample(300), case)
    assert_obeys(found, case.schema)
    assert y is None or len(y) == 300


def test_missing_values_come_back_where_they_belong():
    """What is missing is the last cell of a number, and goes with what it goes with."""
    X, _ = table(classes=("one",))
    X["skewed"] = X["skewed"].mask(X["wide"] > 1)
    schema = Schema(
        {"wide": Numeric(-5, 5), "skewed": Numeric(0, 200, nullable=True)},
    )
    synth = fit(X[["wide", "skewed"]], None, schema=schema, classes=None)
    drawn = synth.sample(6000, random_state=0)
    gone = drawn["skewed"].isna()
    assert gone.mean() == pytest.approx(X["skewed"].isna().mean(), abs=0.01)
    assert drawn["wide"][gone].mean() > drawn["wide"][~gone].mean() + 0.5


def test_an_asked_label_has_the_columns_of_its_class():
    synth = fit()
    drawn, labels = synth.sample(y=["two"] * 2000, random_state=0)
    assert set(labels) == {"two"}
    assert ranks(drawn)[0, 1] < -0.4


def test_rows_drawn_one_by_one_are_related_like_many():
    synth = fit(table(classes=("one",))[0], None, classes=None)
    drawn = pd.concat([synth.sample(1) for _ in range(400)])
    assert ranks(drawn)[0, 1] > 0.5


@pytest.mark.parametrize("how", ["save", "pickle"])
def test_a_saved_estimator_draws_the_same(how, tmp_path):
    synth = fit()
    if how == "save":
        synth.save(tmp_path / "synth.npz")
        again = load(tmp_path / "synth.npz")
    else:
        again = pickle.loads(pickle.dumps(synth))
    for one, two in zip(
        synth.sample(50, random_state=1), again.sample(50, random_state=1), strict=True
    ):
        np.testing.assert_array_equal(np.asarray(one), np.asarray(two))
    again.retrain()
    assert not hasattr(clone(synth), "mixture_")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("lens", "cosine"),
        ("n_prototypes", 3),
        ("augmentation", None),
        ("covariance", "full"),
        ("algorithm", "one_shot"),
    ],
    ids=lambda value: str(value)[:9],
)
def test_parameters_of_images_are_refused_with_a_table(name, value):
    synth = DPMGESynthesizer(schema=SCHEMA, **{name: value})
    with pytest.raises(ValueError, match=f"{name} must be .* but for images"):
        synth.fit(X, Y)
    assert not hasattr(synth, "privacy_")


def test_public_images_are_refused_with_a_table():
    synth = DPMGESynthesizer(schema=SCHEMA)
    with pytest.raises(ValueError, match=r"public_data must be .* but for images"):
        synth.fit(X, Y, public_data=np.zeros((5, 8, 8)))
    assert not hasattr(synth, "privacy_")


# ----------------------------------------------------------------- scores and orders


def known(shares, totals):
    shares = np.asarray(shares, dtype=float)
    return ClassConditional(
        np.asarray(totals, dtype=float), 0.0, {"x": shares.mean(axis=0)}, {"x": shares}
    )


def test_scores_are_means_of_a_normal_between_ranks():
    rng = np.random.default_rng(0)
    shares, order = rng.dirichlet(np.ones(6)), rng.permutation(6)
    ends = np.r_[0.0, np.cumsum(shares[order])]
    draws = np.sort(rng.normal(size=400_000))
    for k, cell in enumerate(order):
        first, last = (int(end * len(draws)) for end in ends[k : k + 2])
        mean = draws[first:last].mean()
        assert scores_of(shares, order)[cell] == pytest.approx(mean, abs=0.02)
    assert shares @ scores_of(shares, order) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("shares", [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
def test_scores_of_empty_cells_are_numbers(shares):
    found = scores_of(np.array(shares), np.array([2, 0, 1]))
    assert np.isfinite(found).all()
    assert np.abs(found).max() <= 4.0


def test_numbers_keep_their_order_and_what_is_no_number_comes_last():
    column = NumberCells(np.linspace(0, 1, 5), nullable=True)
    found = order_of(column, np.ones((2, column.n_cells)))
    np.testing.assert_array_equal(found[: column.n_known], np.arange(column.n_known))
    assert sorted(found) == list(range(column.n_cells))


def test_categories_without_classes_go_by_how_frequent_they_are():
    column = CategoryCells(LEVELS, False)
    counts = np.zeros((1, column.n_cells))
    counts[0, :4] = [3.0, 9.0, 1.0, 5.0]
    found = order_of(column, counts)
    assert [k for k in found if k < 4] == [1, 3, 0, 2]


def test_a_row_is_scored_by_its_own_cells_and_class():
    column = CategoryCells(LEVELS, False)
    n = column.n_cells
    shares = np.random.default_rng(0).dirichlet(np.ones(n), size=3)
    scores = NormalScores.of(known(shares, [10, 20, 30]), {"x": column})
    codes = np.random.default_rng(1).integers(-1, n, size=(50, 1))
    labels = np.random.default_rng(2).integers(-1, 3, size=50)
    whole = scores.encode(codes, labels)
    for i in range(50):
        alone = scores.encode(codes[[i]], labels[[i]])
        np.testing.assert_array_equal(whole[[i]], alone)
    assert not whole[codes[:, 0] < 0].any()  # no cell
    assert np.isfinite(whole).all()


def test_no_cell_is_drawn_that_has_no_share():
    shares = np.array([0.0, 0.5, 0.0, 0.5, 0.0])
    places = np.r_[
        0.0, np.nextafter(0.5, 0), 0.5, 1 - 1e-16, np.linspace(0.01, 0.99, 99)
    ]
    assert set(_cell_at(shares, places)) == {1, 3}
