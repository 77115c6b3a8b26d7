"""Public rows of a table: what they may be, what they help, what is said of them."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest

from skdpgen import DPIndependentSynthesizer, DPPairwiseSynthesizer
from skdpgen.metrics import total_variation
from skdpgen.privacy import Release, insecure_noise_seed
from skdpgen.synthesizers import load
from skdpgen.synthesizers.opening._public_columns import Outside
from skdpgen.synthesizers.pairwise._measuring import joined
from skdpgen.tables import Categorical, Integer, Kind, Numeric, Rows, Schema

BOTH = pytest.mark.parametrize("cls", [DPIndependentSynthesizer, DPPairwiseSynthesizer])
KNOWN = {"classes": ["no", "yes"], "random_state": 0}
COLUMNS = {
    **{f"c{j}": Categorical(list("abcdef"), nullable=False) for j in range(5)},
    "age": Integer(0, 99, nullable=False),
}
SCHEMA = Schema(COLUMNS)


def rows(n, shift=0.0, seed=0):
    """Return related columns; ``shift`` makes some values more frequent."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.3 + shift / 2, "yes", "no")
    shares = np.array([6.0, 5, 3, 2, 1, 1]) + 6 * shift * np.arange(6)
    first = rng.choice(6, n, p=shares / shares.sum())
    table = {"c0": first}
    for j in range(1, 5):
        same = rng.random(n) < 0.75
        table[f"c{j}"] = np.where(same, (first + j) % 6, rng.integers(0, 6, n))
    X = pd.DataFrame({k: np.array(list("abcdef"))[v] for k, v in table.items()})
    age = rng.normal(20 + 10 * first + 5 * (y == "yes"), 6, n)
    return X.assign(age=age.clip(0, 99).astype(int)), pd.Series(y)


X, Y = rows(1200, seed=1)
REAL = rows(8000, seed=2)
OTHER = rows(6000, shift=0.15, seed=3)  # another year


def useless():
    """Return rows of which every column was shuffled, and its values renamed."""
    rng = np.random.default_rng(4)
    found, y = OTHER
    mixed = {name: rng.permutation(found[name].to_numpy()) for name in found}
    table = pd.DataFrame(mixed).replace(dict(zip("abcdef", "fdbeca", strict=True)))
    return table.assign(age=99 - table["age"]), y


def distances(cls, public, n_releases=2, least_order=1, **params):
    found = []
    for seed in range(n_releases):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with insecure_noise_seed(seed):
                synth = cls(0.5, **KNOWN | params).fit(X, Y, public_data=public)
        drawn = synth.sample(8000)
        order = 2 if cls is DPPairwiseSynthesizer else 1  # what it can learn
        found.append(total_variation(REAL, drawn, order=max(order, least_order)))
    return np.mean(found)


@pytest.mark.parametrize("schema", [SCHEMA, None], ids=["given", "discovered"])
@BOTH
def test_good_public_rows_help_and_useless_ones_do_no_harm(cls, schema):
    without = distances(cls, None, schema=schema)
    is_hard = cls is DPIndependentSynthesizer and schema  # few cells, all well known
    assert distances(cls, OTHER, schema=schema) < (0.95 if is_hard else 0.8) * without
    assert distances(cls, useless(), schema=schema) < 1.1 * without


def test_relations_come_from_public_rows_where_none_can_be_afforded():
    few = {"schema": SCHEMA, "n_releases": 2, "least_order": 2}
    baseline = distances(DPIndependentSynthesizer, OTHER, **few)
    assert distances(DPPairwiseSynthesizer, OTHER, **few) < 0.9 * baseline


@BOTH
def test_what_many_private_rows_say_wins(cls):
    """With little noise rows are as without public ones, however wrong these are."""
    for epsilon in (100.0, float("inf")):
        synth = cls(epsilon, schema=SCHEMA, **KNOWN)
        drawn = synth.fit(*REAL, public_data=useless()).sample(8000)
        assert total_variation(REAL, drawn, order=1) < 0.03


@BOTH
def test_public_rows_may_have_no_labels_and_another_order(cls):
    table = OTHER[0][["age", "c4", "c0", "c1", "c3", "c2"]]
    synth = cls(5.0, schema=SCHEMA, **KNOWN).fit(X, Y, public_data=table)
    assert list(synth.sample(5)[0].columns) == list(X.columns)
    said = "6000 public rows without labels: taken as public"
    assert said in synth.privacy_.statements


@BOTH
def test_the_certificate_says_so_and_shows_no_row(cls):
    synth = cls(5.0, **KNOWN).fit(X, Y, public_data=OTHER)
    said = synth.privacy_.statements
    assert "6000 public rows with labels: taken as public" in said
    assert "bounds and categories of 6 columns: of the public rows" in said
    assert len(json.dumps(synth.privacy_.to_dict())) < 20_000
    paid = sum(one.share for one in synth.privacy_.releases)
    assert paid == pytest.approx(1.0)


@BOTH
def test_saved_and_made_anew_it_is_the_same(cls, tmp_path):
    few = {"n_components": 200} if cls is DPPairwiseSynthesizer else {}
    synth = cls(2.0, schema=SCHEMA, **KNOWN, **few).fit(X, Y, public_data=OTHER)
    synth.save(tmp_path / "fitted.npz")
    found = load(tmp_path / "fitted.npz")
    size = (tmp_path / "fitted.npz").stat().st_size
    assert size < 500_000  # public rows are the user's, and may be large
    assert_same = pd.testing.assert_frame_equal
    assert_same(
        found.sample(50, random_state=1)[0], synth.sample(50, random_state=1)[0]
    )
    assert_same(
        found.retrain().sample(50, random_state=1)[0],
        synth.retrain().sample(50, random_state=1)[0],
    )


def test_the_next_fit_forgets_public_rows():
    synth = DPIndependentSynthesizer(2.0, schema=SCHEMA, **KNOWN)
    synth.fit(X, Y, public_data=OTHER).fit(X, Y)
    assert synth._fitted.measured.public is None
    assert not any("public rows" in line for line in synth.privacy_.statements)


TABLE, TARGET = OTHER
WRONG = {
    "without c1": TABLE.drop(columns="c1"),
    "with more besides": TABLE.assign(more=1),
    "kind that it has in X, integer. Got text": TABLE.assign(age="old"),
    "must have rows": TABLE[:0],
    "among the classes, no, yes. Got 6000": (TABLE, TARGET.replace("yes", "maybe")),
    "Labels of public_data must be of the kind of y": (TABLE, np.arange(6000)),
    "Got images": np.zeros((5, 8, 8)),
}


@pytest.mark.parametrize("message", WRONG)
@BOTH
def test_public_rows_that_cannot_be_used_are_refused(cls, message):
    given = WRONG[message]
    if message.startswith("among"):
        given = (TABLE, pd.Series(["maybe"] * len(TABLE)))
    synth = cls(**KNOWN)
    with pytest.raises(ValueError, match=message):
        synth.fit(X, Y, public_data=given)
    assert not hasattr(synth, "privacy_")


def test_labels_need_a_target():
    with pytest.raises(ValueError, match="a table alone"):
        DPIndependentSynthesizer().fit(X, public_data=OTHER)


def test_private_rows_object_to_public_bounds_and_categories():
    """Columns that public rows do not know are discovered as without them."""
    strange = TABLE.assign(c0="z", age=5)
    synth = DPIndependentSynthesizer(30.0, **KNOWN).fit(X, Y, public_data=strange)
    assert {*"abcd"} < {*synth.schema_.columns["c0"].categories}
    assert synth.schema_.columns["age"].upper > 60
    assert synth.schema_.columns["c1"].categories == tuple("abcdef")


VALUES = ["a", "f", "never seen", None]
NUMBERS = [-1e300, 3.0, 9.0, np.nan, 1e300]


@pytest.mark.parametrize(
    ("value", "is_outside"), [(1e308, 1), (-1e308, 1), (5e-324, 0), (np.inf, 0)]
)
def test_no_private_number_makes_a_warning(value, is_outside):
    """In steps of the public decimals a huge number is infinite."""
    public = pd.DataFrame({"paid": np.arange(300) / 100})
    private = public.copy()
    private.loc[7, "paid"] = value
    with np.errstate(all="raise"):
        outside = Outside(Numeric(0, 3, decimals=2))
        batches = Rows.read(private, None).batches({"paid": outside})
        codes = np.concatenate([batch.parts["columns"][:, 0] for batch in batches])
    assert codes.sum() == codes[7] == is_outside


def test_one_row_moves_the_objection_as_far_as_is_paid_for():
    """Brute force over replaced rows: a row is in one of two cells of each column."""
    table = pd.DataFrame(
        [(a, b) for a in VALUES for b in NUMBERS], columns=["text", "number"]
    )
    table["text"] = table["text"].astype(object)
    grids = {
        "text": Outside(Categorical(["a", "f"])),
        "number": Outside(Numeric(0, 9)),
    }
    (batch,) = Rows.read(table).batches(grids)
    codes = batch.parts["columns"]
    assert {*codes.ravel()} == {0, 1}
    one_hot = np.concatenate([np.eye(2)[codes[:, j]] for j in range(2)], axis=1)
    moves = np.linalg.norm(one_hot[:, None] - one_hot[None], axis=2)
    assert moves.max() == pytest.approx(np.sqrt(2 * 2))  # and never more
    expected = [value == "never seen" for value in VALUES for _ in NUMBERS]
    assert codes[:, 0].astype(bool).tolist() == expected
    assert codes[:5, 1].tolist() == [1, 0, 0, 0, 1]
    assert Rows.read(table).layout.kinds == (Kind.TEXT, Kind.FLOAT)


def test_two_releases_of_the_same_are_one_with_less_noise():
    rng = np.random.default_rng(0)
    truth, stds = np.full((1, 20_000), 5.0), (4.0, 3.0)
    first, second = (
        Release(
            {"columns": truth + rng.normal(0, std, truth.shape)},
            {"columns": std},
            2.0,
            2.0 / std,
            "replace",
        )
        for std in stds
    )
    both = joined(first, second)
    assert both.noise_std["columns"] == pytest.approx(2.4)  # 1 / (1/16 + 1/9) = 2.4²
    assert np.std(both.values["columns"]) == pytest.approx(2.4, rel=0.03)
    assert both.mu == pytest.approx(np.hypot(first.mu, second.mu))


def test_where_no_pair_is_paid_for_groups_are_no_more_than_can_be_trained():
    """Without noise of pairs their number says nothing of how finely to look."""
    rng = np.random.default_rng(0)
    wide = pd.DataFrame(rng.normal(size=(400, 100)))
    schema = Schema(dict.fromkeys(wide.columns, Numeric(-4, 4, nullable=False)))
    synth = DPPairwiseSynthesizer(schema=schema, max_iter=1, n_components=2)
    synth.fit(wide, public_data=wide)
    assert [one.is_trial for one in synth.pair_releases_] == [True]
    assert sum(one.n_groups for one in synth.groups_) <= 1000
