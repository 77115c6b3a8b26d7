"""What rows of DP-Pairwise show of relations, and how they follow given columns."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from skdpgen import DPIndependentSynthesizer, DPPairwiseSynthesizer
from skdpgen.datasets import load_example
from skdpgen.tables import Boolean, Categorical, Integer, Numeric, Schema
from tests._covering import parametrize_pairs
from tests._seeded import same_noise
from tests.synthesizers._tables import CASES, assert_obeys, build

INF = float("inf")
SCHEMA = Schema(
    {
        "kind": Categorical(("a", "b", "c"), nullable=False),
        "size": Numeric(-4, 10, nullable=False),
        "flag": Boolean(nullable=False),
        "level": Integer(0, 3, nullable=False),
    }
)
KNOWN = {"schema": SCHEMA, "classes": [0, 1], "random_state": 0}


def related(n=6000, seed=0):
    """Return columns that all go with the first; how flag does depends on y."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.3).astype(int)
    code = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    flag = rng.random(n) < np.array([0.1, 0.5, 0.9])[code]
    X = pd.DataFrame(
        {
            "kind": np.array(list("abc"))[code],
            "size": rng.normal(3.0 * code, 1.0).clip(-4, 10),
            "flag": np.where((y == 1) & (code == 0), ~flag, flag),
            "level": np.where(rng.random(n) < 0.7, code, rng.integers(0, 4, n)),
        }
    )
    return X, y


@pytest.fixture(scope="module")
def learnt():
    """Return a table, and a model of it that was fitted without noise."""
    X, y = related()
    return X, y, DPPairwiseSynthesizer(INF, **KNOWN).fit(X, y)


def coarse(X, y):
    return pd.DataFrame(
        {
            "kind": X["kind"].astype(str).to_numpy(),
            "size": np.digitize(X["size"], [-1, 0, 1, 2, 3, 4, 5, 6]),
            "flag": X["flag"].astype(int).to_numpy(),
            "level": X["level"].to_numpy(),
            "y": np.asarray(y),
        }
    )


def distance(one, two):
    """Return the total variation of each two-way table."""
    found = []
    for pair in combinations(one.columns, 2):
        first, second = (t.value_counts(list(pair), normalize=True) for t in (one, two))
        found.append(first.sub(second, fill_value=0).abs().sum() / 2)
    return np.array(found)


# ------------------------------------------------------------ pairs are learnt


def test_without_noise_all_two_way_tables_are_there(learnt):
    X, y, synth = learnt
    baseline = DPIndependentSynthesizer(INF, **KNOWN).fit(X, y)
    real = coarse(X, y)
    ours, alone = (
        distance(real, coarse(*each.sample(6000, random_state=0)))
        for each in (synth, baseline)
    )
    assert ours.mean() < alone.mean() / 3
    assert ours.max() < 0.08
    assert synth.loss_curve_[-1] < 0.05


def test_each_class_has_its_own_relation(learnt):
    X, y, synth = learnt
    rows, labels = synth.sample(20_000, random_state=1)
    for label in (0, 1):
        for kind in "abc":
            true, found = (
                table["flag"][(table["kind"] == kind) & (target == label)].mean()
                for table, target in ((X, y), (rows, labels))
            )
            assert found == pytest.approx(true, abs=0.1)


def idle(X, y, label):
    """Return how many work no hours: of those without a job, and of the others."""
    X = X[(y == label).to_numpy()]
    out = X["job"].isin(["retired", "jobless"])
    none = X["weekly_hours"] < 5
    return none[out].mean(), none[~out].mean()


def test_a_relation_within_each_class_is_learnt_privately():
    X, y = load_example(20_000)
    known = {"classes": ["left", "stayed"], "random_state": 0}
    with same_noise():
        synth = DPPairwiseSynthesizer(3.0, **known).fit(X, y)
        baseline = DPIndependentSynthesizer(3.0, **known).fit(X, y)
    rows = {each: each.sample(20_000, random_state=0) for each in (synth, baseline)}
    for label in ("left", "stayed"):
        out, others = idle(*rows[synth], label)
        assert out > 0.4
        assert others < 0.15
        out, others = idle(*rows[baseline], label)
        assert abs(out - others) < 0.1


def test_an_order_of_columns_is_no_matter(learnt):
    X, y, _ = learnt
    turned = list(SCHEMA.columns)[::-1]
    schema = Schema({name: SCHEMA.columns[name] for name in turned})
    synth = DPPairwiseSynthesizer(INF, **KNOWN | {"schema": schema}).fit(X[turned], y)
    rows, labels = synth.sample(6000, random_state=0)
    assert distance(coarse(X, y), coarse(rows, labels)).max() < 0.08


# ------------------------------------------------------------ given columns


def test_conditions_come_back_and_the_others_follow(learnt):
    X, y, synth = learnt
    given = X[["level", "kind"]].sample(8000, replace=True, random_state=0)
    before = given.copy()
    rows, labels = synth.sample(conditions=given, random_state=1)
    pd.testing.assert_frame_equal(given, before)
    assert list(rows.columns) == list(X.columns)
    for name in given:
        np.testing.assert_array_equal(rows[name], given[name])
    assert len(labels) == len(rows) == len(given)
    assert_obeys(rows, SCHEMA)
    assert distance(coarse(X, y), coarse(rows, labels)).max() < 0.08
    for kind in "abc":
        mine, true = rows["kind"] == kind, X["kind"] == kind
        assert rows["flag"][mine].mean() == pytest.approx(
            X["flag"][true].mean(), abs=0.06
        )
        shift = rows["size"][mine].mean() - X["size"][true].mean()
        assert abs(shift) < 0.4


def test_numbers_are_given_as_well(learnt):
    X, _, synth = learnt
    for size in (-0.5, 3.1, 6.2):
        given = pd.DataFrame({"size": [size] * 4000})
        rows, _ = synth.sample(conditions=given, random_state=0)
        assert (rows["size"] == size).all()
        near = X[(X["size"] - size).abs() < 0.25]
        true, found = (t["kind"].value_counts(normalize=True) for t in (near, rows))
        assert true.sub(found, fill_value=0).abs().sum() / 2 < 0.12


def test_labels_follow_what_is_given(learnt):
    X, y, synth = learnt
    for kind, flag in (("a", True), ("a", False), ("b", True)):
        true = y[(X["kind"] == kind) & (X["flag"] == flag)].mean()
        given = pd.DataFrame({"kind": [kind] * 3000, "flag": [flag] * 3000})
        _, labels = synth.sample(conditions=given, random_state=0)
        assert labels.mean() == pytest.approx(true, abs=0.08)


def test_labels_and_columns_can_be_given_together(learnt):
    X, y, synth = learnt
    given = pd.DataFrame({"kind": ["a"] * 4000})
    wanted = np.arange(4000) % 2
    rows, labels = synth.sample(y=wanted, conditions=given, random_state=0)
    np.testing.assert_array_equal(labels, wanted)
    for label in (0, 1):
        true = X["flag"][(X["kind"] == "a") & (y == label)].mean()
        found = rows["flag"][wanted == label].mean()
        assert found == pytest.approx(true, abs=0.08)


def test_all_columns_and_labels_can_be_given(learnt):
    X, y, synth = learnt
    rows, labels = synth.sample(conditions=X.head(50), y=y[:50])
    pd.testing.assert_frame_equal(rows, X.head(50), check_dtype=False)
    np.testing.assert_array_equal(labels, y[:50])
    _, labels = synth.sample(conditions=X.head(50))
    assert set(labels) <= {0, 1}


def test_a_seed_fixes_completed_rows(learnt):
    _, _, synth = learnt
    given = pd.DataFrame({"kind": list("abc") * 100})
    one, two, other = (
        synth.sample(conditions=given, random_state=seed)[0] for seed in (0, 0, 1)
    )
    pd.testing.assert_frame_equal(one, two)
    assert not one.equals(other)
    assert len(synth.sample(300, conditions=given)[0]) == 300


def test_what_seems_impossible_can_be_given(learnt):
    """A value that the release says nobody has must not stop anything."""
    X, y, _ = learnt
    schema = SCHEMA.columns | {
        "kind": Categorical(("a", "b", "c", "d"), nullable=False)
    }
    synth = DPPairwiseSynthesizer(INF, **KNOWN | {"schema": Schema(schema)})
    synth.set_params(max_iter=20).fit(X, y)
    given = pd.DataFrame({"kind": ["d"] * 30, "level": [3] * 30})
    rows, labels = synth.sample(conditions=given)
    assert_obeys(rows, synth.schema_)
    assert len(labels) == 30


@parametrize_pairs("name, epsilon", sorted(CASES), [1.0, INF], strength=1)
def test_every_kind_of_table_can_be_completed(name, epsilon):
    case = CASES[name]
    synth = build(DPPairwiseSynthesizer, case, epsilon=epsilon, max_iter=5)
    synth.set_params(n_components=10).fit(case.X, case.y)
    drawn = synth.set_output(transform="pandas").sample(40, random_state=0)
    table = drawn if case.y is None else drawn[0]
    for column in table.columns.drop("seen", errors="ignore"):  # has a time zone
        found = synth.sample(conditions=table[[column]])
        found = found if case.y is None else found[0]
        pd.testing.assert_series_equal(found[column], table[column])
        assert_obeys(found, synth.schema_)


def test_a_target_of_numbers_follows_conditions():
    case = CASES["regression"]
    synth = build(DPPairwiseSynthesizer, case, epsilon=INF).fit(case.X, case.y)
    drawn, target = synth.sample(3000, random_state=0)
    true, found = (
        rows["area"].corr(values, method="spearman")
        for rows, values in ((case.X, case.y), (drawn, target))
    )
    assert true > 0.5
    assert found > 0.6 * true
    ends = []
    for share in (0.1, 0.9):
        area = round(case.X["area"].quantile(share), 1)
        given = pd.DataFrame({"area": [area] * 1000}).astype(case.X["area"].dtype)
        ends.append(np.median(synth.sample(conditions=given, random_state=0)[1]))
    assert ends[1] - ends[0] > 0.5 * (case.y.quantile(0.9) - case.y.quantile(0.1))
    rows, values = synth.sample(
        y=case.y.iloc[:20], conditions=case.X[["area"]].head(20)
    )
    np.testing.assert_allclose(values, case.y.iloc[:20])
    assert len(rows) == 20


# ----------------------------------------------------------------- wrong given

FRAME = pd.DataFrame({"kind": ["a", "b"]})
WRONG = {
    "a dict": (
        TypeError,
        {"conditions": {"kind": ["a"]}},
        r"Got builtins.dict",
    ),
    "an array": (
        TypeError,
        {"conditions": np.ones((2, 1))},
        r"Got numpy.ndarray",
    ),
    "a series": (
        TypeError,
        {"conditions": FRAME["kind"]},
        r"DataFrame.*Got pandas.*Series",
    ),
    "no column": (TypeError, {"conditions": FRAME[[]]}, r"some of the columns"),
    "no row": (ValueError, {"conditions": FRAME.head(0)}, r"n_samples must be.*Got 0"),
    "column": (ValueError, {"conditions": FRAME.assign(hue=1)}, r"kind, size.*Got hue"),
    "twice": (
        ValueError,
        {"conditions": FRAME[["kind"] * 2]},
        r"each once.*a column twice",
    ),
    "category": (
        ValueError,
        {"conditions": pd.DataFrame({"kind": ["a", "mars"]})},
        r"that the schema knows. Got mars in column 'kind'",
    ),
    "missing": (
        ValueError,
        {"conditions": pd.DataFrame({"size": [np.nan]})},
        r"Got .*nan.* in",
    ),
    "text": (
        ValueError,
        {"conditions": pd.DataFrame({"size": ["x"]})},
        "Got x in.*'size'",
    ),
    "n_samples": (
        ValueError,
        {"conditions": FRAME, "n_samples": 3},
        r"one row.*Got 2 rows",
    ),
    "labels": (
        ValueError,
        {"conditions": FRAME, "y": [0, 1, 1]},
        r"one row.*Got 2 rows",
    ),
    "label": (
        ValueError,
        {"conditions": FRAME, "y": [0, 7]},
        r"labels the synth.*Got 7",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_given_is_named(learnt, name):
    kind, asked, message = WRONG[name]
    with pytest.raises(kind, match=message):
        learnt[2].sample(**asked)


NOT_CHECKED = {
    "category of a nullable column": {"region": ["north", "mars"]},
    "above the bounds": {"age": [30, 900]},
    "infinite": {"income": [3e4, INF]},
}


@pytest.mark.parametrize("name", NOT_CHECKED)
def test_rows_with_conditions_obey_the_schema(name):
    case = CASES["mixed"]
    synth = build(DPPairwiseSynthesizer, case, epsilon=1.0).fit(case.X, case.y)
    try:
        rows, _ = synth.sample(conditions=pd.DataFrame(NOT_CHECKED[name]))
    except ValueError:
        return  # an error that names the value is as good
    assert_obeys(rows, synth.schema_)


def test_times_with_a_zone_can_be_given():
    case = CASES["mixed"]
    synth = build(DPPairwiseSynthesizer, case, epsilon=1.0).fit(case.X, case.y)
    given = case.X[["seen"]].head(3)
    rows, _ = synth.sample(conditions=given)
    assert rows["seen"].tolist() == given["seen"].tolist()


def test_labels_need_a_fit_with_labels(learnt):
    X, _, _ = learnt
    synth = DPPairwiseSynthesizer(INF, schema=SCHEMA)
    synth.set_params(max_iter=5, n_components=10).fit(X)
    assert len(synth.sample(conditions=FRAME)) == 2
    with pytest.raises(ValueError, match="fitted with labels"):
        synth.sample(conditions=FRAME, y=[0, 1])
