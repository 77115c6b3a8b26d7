"""Rows that are moved or left out: shares, warnings and lines, from releases alone."""

import math
import re
import warnings
from itertools import product

import numpy as np
import pandas as pd
import pytest

from skdpgen import DPIndependentSynthesizer, DPMERFSynthesizer, load
from skdpgen.exceptions import RareValuesWarning, SchemaWarning
from skdpgen.privacy import insecure_noise_seed
from skdpgen.report import report_content
from skdpgen.synthesizers.models._column_report import between
from skdpgen.synthesizers.opening import _binning
from skdpgen.synthesizers.opening._binning import watched_scale
from skdpgen.synthesizers.opening._first_look import PIXEL_SHARES
from skdpgen.tables import (
    Boolean,
    Categorical,
    Datetime,
    InRange,
    Integer,
    Numeric,
    Schema,
    range_codes,
)
from skdpgen.utils import Key
from tests._made import made

N = 4000
LOST = 0.33
pytestmark = [
    pytest.mark.filterwarnings("ignore::skdpgen.exceptions.NotPrivateWarning"),
    pytest.mark.filterwarnings("ignore::skdpgen.exceptions.SchemaWarning"),
    pytest.mark.filterwarnings("ignore::skdpgen.exceptions.RareValuesWarning"),
]


def table():
    """Return two tame columns."""
    rng = np.random.default_rng(0)
    a = rng.normal(50, 15, N).clip(0, 99)
    return pd.DataFrame({"a": a, "b": rng.integers(0, 10, N)})


def some(share=LOST):
    """Return which rows are in trouble: exactly a share of them."""
    return np.random.default_rng(1).permutation(N) < share * N


def fit(X, y=None, seed=0, epsilon=1.0, cls=DPIndependentSynthesizer, **params):
    """Fit with seeded noise; return the synthesizer and what it warned of."""
    with warnings.catch_warnings(record=True) as told, insecure_noise_seed(seed):
        warnings.simplefilter("always")
        synth = made(cls, epsilon, random_state=0, **params).fit(X, y)
    ours = (SchemaWarning, RareValuesWarning)
    return synth, [one for one in told if issubclass(one.category, ours)]


def numbers_above():
    X = table()
    X.loc[some(), "a"] = 150.0
    return X, {"a": Numeric(0, 100)}, "a", "above"


def numbers_below():
    X = table()
    X.loc[some(), "a"] = -150.0
    return X, {"a": Numeric(0, 100)}, "a", "below"


def short_lattice_above():
    X = table()
    X.loc[some(), "b"] = 50
    return X, {"b": Integer(0, 9)}, "b", "above"


def short_lattice_alone():
    X = pd.DataFrame({"b": np.where(some(), 50, 3)})
    return X, {"b": Integer(0, 9)}, "b", "above"


def rare_words():
    X = table()
    X["c"] = np.where(some(), [f"v{i}" for i in range(N)], "usual")
    return X, {}, "c", "other"


def declared_other():
    X = table()
    X["c"] = np.where(some(), "strange", "usual")
    return X, {"c": Categorical(["usual", "seldom"], other="rest")}, "c", "other"


def not_listed():
    X = table()
    X["c"] = np.where(some(), "strange", "usual")
    return X, {"c": Categorical(["usual", "seldom"])}, "c", "unread"


def not_listed_anywhere():
    X = pd.DataFrame({"c": np.where(some(), "perhaps", "True")})
    return X, {"c": Boolean()}, "c", "unread"


def gaps_filled():
    X = table()
    X.loc[some(), "a"] = np.nan
    return X, {"a": Numeric(0, 100, nullable=False)}, "a", "no_cell"


def numbers_that_are_none():
    X = table()
    X["t"] = np.where(some(), "n/a?", X["b"].astype(str))
    return X, {"t": Numeric(0, 100, parse=True)}, "t", "unread"


def short_numbers_that_are_none():
    X = table()
    X["t"] = np.where(some(), "n/a?", X["b"].astype(str))
    return X, {"t": Integer(0, 9, parse=True)}, "t", "unread"


def numbers_without_bounds():
    X = table()
    X["t"] = np.where(some(), "n/a?", X["b"].astype(str))
    return X, {"t": Numeric(parse=True)}, "t", "unread"


def numbers_beside_rare_words():
    X = table()
    words = ["".join("abcdefghij"[int(d)] for d in str(i)) for i in range(N)]
    X["t"] = np.where(some(), words, (100 + np.arange(N) % 800).astype(str))
    return X, {}, "t", "unread"


def days_in_another_form():
    X = table()
    days = pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(N) % 900, "D")
    X["t"] = np.where(some(), "soon", days.strftime("%d.%m.%Y"))
    column = Datetime("2020-01-01", "2023-01-01", format="%d.%m.%Y")
    return X, {"t": column}, "t", "unread"


CASES = [
    numbers_above,
    numbers_below,
    short_lattice_above,
    short_lattice_alone,
    rare_words,
    declared_other,
    not_listed,
    not_listed_anywhere,
    gaps_filled,
    numbers_that_are_none,
    short_numbers_that_are_none,
    numbers_without_bounds,
    numbers_beside_rare_words,
    days_in_another_form,
]
NOISE = {"other": "noise"}


def holds(line):
    """Say whether the range of a line holds what was lost."""
    low, high = map(int, re.search(r"between (\d+)% and (\d+)%", line).groups())
    assert low < high
    return low <= 100 * LOST <= high


@pytest.mark.parametrize("case", CASES)
def test_what_is_lost_is_warned_of_with_a_range(case):
    X, columns, name, key = case()
    synth, told = fit(X, schema=Schema(columns), epsilon=3.0)
    line = synth.columns_.loc[name]
    noise = line[NOISE.get(key, f"{key}_noise")]
    assert abs(line[key] - LOST) < 5 * noise < 0.2
    (said,) = synth.lost_
    assert said.startswith(f"column '{name}': ")
    assert holds(said)
    assert said in synth.privacy_.statements
    assert len(told) == 1
    assert said in str(told[0].message)
    content = report_content(synth, pictures=False)
    assert content["lost"] == [said]


@pytest.mark.parametrize("case", CASES[::2])
@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_noise_is_no_loss(case, adjacency):
    """Warnings would be errors of 1 fit in 1,000; the seed of the noise is fixed."""
    X, columns, _, _ = case()
    X = X[~some()]
    synth, told = fit(X, schema=Schema(columns), epsilon=0.5, adjacency=adjacency)
    assert not told
    assert not synth.lost_


LABELS = np.where(np.arange(N) % 2, "yes", "no").astype(object)


@pytest.mark.parametrize("label", [None, "maybe"])
@pytest.mark.parametrize("classes", [None, ["no", "yes"]])
@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_rows_without_a_label_are_told_of(label, classes, adjacency):
    y = pd.Series(LABELS)
    y[some()] = label if label is None else [f"{label}{i}" for i in range(some().sum())]
    synth, told = fit(table(), y, classes=classes, adjacency=adjacency)
    target = synth.target_
    assert abs(target["dropped"] - LOST) < 5 * target["dropped_noise"] < 0.1
    (said,) = synth.lost_
    assert holds(said)
    assert "were left out" in str(told[0].message)
    assert report_content(synth, pictures=False)["lost"] == [said]
    assert (synth.columns_["no_cell"] == 0.0).all()  # no fault of the columns


def test_targets_that_are_no_numbers_are_told_of():
    y = pd.Series(np.linspace(-1, 1, N))
    y[some()] = np.nan
    synth, _ = fit(table(), y)
    assert abs(synth.target_["dropped"] - LOST) < 5 * synth.target_["dropped_noise"]
    assert holds(synth.lost_[0])
    y = pd.Series(np.linspace(-1, 1, N))
    y[some()] = 50.0
    synth, _ = fit(table(), y, schema=Schema(target=Numeric(-1, 1)))
    assert abs(synth.target_["above"] - LOST) < 5 * synth.target_["above_noise"]
    assert holds(synth.lost_[0])


def test_labels_and_gaps_are_distinguished():
    """A column without gaps shows how many rows have a label; else nobody knows."""
    X, y = table(), pd.Series(LABELS)
    X.loc[some(), "a"] = np.nan
    schema = Schema({"a": Numeric(0, 100, nullable=False)})
    synth, _ = fit(X, y, schema=schema)
    assert abs(synth.target_["dropped"]) < 5 * synth.target_["dropped_noise"]
    assert abs(synth.columns_["no_cell"]["a"] - LOST) < 0.1
    alone, _ = fit(X[["a"]], y, schema=schema)
    assert math.isnan(alone.target_["dropped"])
    assert [one.partition(":")[0] for one in alone.lost_] == ["column 'a'"]


@pytest.mark.parametrize("seed", range(12))
def test_a_noisy_number_of_rows_is_no_loss(seed):
    """Under "add_remove" a share is divided by a noisy number, labels or not."""
    X = pd.DataFrame({"a": np.random.default_rng(seed).choice(["x", "y"], 600)})
    schema = Schema({"a": Categorical(["x", "y"], nullable=False)})
    params = {"schema": schema, "adjacency": "add_remove", "epsilon": 0.5}
    synth, said = fit(X, seed=seed, **params)
    assert (synth.lost_, said) == ([], [])
    line = synth.columns_.loc["a"]
    assert abs(line["no_cell"]) < 5 * line["no_cell_noise"]
    missing, _ = fit(X.assign(a=np.nan), seed=seed, **params | {"schema": None})
    line = missing.columns_.loc["a"]
    assert abs(line["missing"] - 1) < 5 * line["missing_noise"]


def test_without_labels_there_is_no_target():
    assert fit(table())[0].target_ is None


def test_a_saved_estimator_says_the_same(tmp_path):
    X, columns, _, _ = not_listed()
    y = pd.Series(LABELS).where(~some(), None)
    synth, _ = fit(X, y, schema=Schema(columns))
    synth.save(tmp_path / "it.npz")
    again = load(tmp_path / "it.npz")
    assert again.lost_ == synth.lost_
    pd.testing.assert_series_equal(again.target_, synth.target_)


def test_a_range_is_rounded_outwards():
    assert between(0.331, 0.001) == "between 32% and 34%"


# -------------------------------------------------- how far one row moves the release


STRANGE = {
    "n": [-1e9, 50.0, 1e9, np.nan],
    "s": [-50.0, 5.0, 50.0, np.nan],
    "t": ["", "7", "x", "-9", None],
    "w": ["", "1", "N", "99", None],
    "c": ["", "usual", "x", None],
}
SCHEMA = Schema(
    {
        "n": Numeric(0, 100),
        "s": Integer(0, 9),
        "t": Numeric(0, 1000, parse=True, codes=[-9]),
        "w": Integer(0, 9, parse=True, codes=["N"]),
        "c": Categorical(["usual", "seldom"]),
    }
)


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_one_row_moves_what_is_watched_no_further_than_is_paid(monkeypatch, adjacency):
    """Rows of all kinds join two others, or replace each other; sums are exact."""
    every = list(product(*(STRANGE[name] for name in SCHEMA.columns)))
    places = np.random.default_rng(0).permutation(len(every))[:20]
    rows = [every[place] for place in places]
    found = [watched_sums([*rows[:2], row], adjacency, monkeypatch) for row in rows]
    limit = found[0][1]
    if adjacency == "replace":
        moves = [np.linalg.norm(a - b) for a, _ in found for b, _ in found]
    else:
        before, _ = watched_sums(rows[:2], adjacency, monkeypatch)
        moves = [np.linalg.norm(after - before) for after, _ in found]
    assert 0.9 * limit < max(moves) <= limit * (1 + 1e-9)


def watched_sums(rows, adjacency, monkeypatch):
    """Return the exact sums of the second release, and the sensitivity paid for."""
    X = pd.DataFrame(rows, columns=list(SCHEMA.columns))
    X = X.astype({"t": object, "w": object, "c": object})
    kept, exact = [], _binning.release
    with monkeypatch.context() as patched:
        patched.setattr(
            _binning, "release", lambda *a, **p: kept.append(exact(*a, **p)) or kept[-1]
        )
        params = {"schema": SCHEMA, "adjacency": adjacency}
        synth = DPIndependentSynthesizer(float("inf"), **params).fit(X)
    name = "parts of 2 number lines, values that 3 schema columns lack"
    (paid,) = [one for one in synth.privacy_.releases if one.name == name]
    return np.asarray(kept[0].values[Key.COLUMNS][0]), paid.sensitivity


def test_watched_columns_cost_number_lines_little():
    """Their noise is at most 5 % larger, however many other columns are watched."""
    for n_watched in (1, 5, 100):
        norm = 10 + n_watched * watched_scale(10, n_watched) ** 2
        assert norm <= 1.1 * 10 + 1e-9


# ------------------------------------------------------------------------- images


def images(dtype, top, n=3000):
    rng = np.random.default_rng(0)
    return rng.integers(0, top + 1, (n, 8, 8)).astype(dtype)


@pytest.mark.parametrize(
    ("given", "key", "words"),
    [
        (images("uint8", 16), "dark", "no pixel above a tenth of 255"),
        (images("float32", 16), "above", "pixels above 1, which were set to 1"),
        (images("float32", 16) / 8 - 1.0, "below", "pixels below 0"),
    ],
    ids=["uint8", "float", "centred"],
)
def test_pixels_that_leave_their_range_are_told_of(given, key, words):
    synth, told = fit(given, cls=DPMERFSynthesizer, max_iter=1)
    assert abs(synth.pixels_[key] - 1.0) < 5 * synth.pixels_[f"{key}_noise"] < 0.3
    (said,) = synth.lost_
    assert words in said
    assert re.search(r"between \d+% and 100%", said)
    assert [str(one.message) for one in told if said in str(one.message)]
    assert said in synth.privacy_.statements
    assert report_content(synth, pictures=False)["lost"] == [said]


def test_pixels_within_their_range_are_no_loss():
    synth, told = fit(images("uint8", 255), cls=DPMERFSynthesizer, max_iter=1)
    assert not told
    assert not synth.lost_
    share = synth.privacy_.releases[0].share
    assert PIXEL_SHARES[0] <= share <= PIXEL_SHARES[1]


def test_few_images_are_not_asked_for():
    synth, _ = fit(images("uint8", 16, 200), cls=DPMERFSynthesizer, max_iter=1)
    assert synth.pixels_ == {}
    assert len(synth.privacy_.releases) == 1


@pytest.mark.parametrize("dtype", ["uint8", "float32", "float64"])
def test_where_pixels_are_follows_from_each_image_alone(dtype):
    """So an image is in one cell, whatever others are there."""
    rng = np.random.default_rng(0)
    many = rng.normal(size=(40, 8, 8)) * 10.0 ** rng.integers(-2, 3, (40, 1, 1))
    if dtype != "uint8":
        many[::5, 0, 0], many[1::5, 0, 0] = np.nan, np.inf
        many[2::5, 0, 0] = -np.inf
    many = (np.abs(many).clip(0, 255) if dtype == "uint8" else many).astype(dtype)
    codes = range_codes(many)
    alone = [int(range_codes(many[i : i + 1])[0]) for i in range(len(many))]
    assert codes.tolist() == alone
    assert set(alone) <= set(range(len(InRange)))
    assert len(set(alone)) > 1


@pytest.mark.parametrize("without", [0.1, 0.4])
def test_shares_are_of_the_rows_that_have_a_label(without):
    """The main release counts no other row."""
    rng = np.random.default_rng(3)
    n_rows = 3 * N
    codes = np.char.add("c", rng.integers(0, 9 * N, n_rows).astype(str))
    X = pd.DataFrame({"code": np.where(rng.random(n_rows) < 0.7, codes, "none")})
    X["size"] = np.where(rng.random(n_rows) < 0.3, np.nan, rng.normal(size=n_rows))
    y = pd.Series(rng.choice(["a", "b"], n_rows), dtype=object)
    y[rng.random(n_rows) < without] = None
    synth, _ = fit(X, y, epsilon=2.0)
    known = X[y.notna()]
    listed = synth.schema_.columns["code"].categories
    truth = {
        ("code", "other"): (~known["code"].isin(listed)).mean(),
        ("size", "missing"): known["size"].isna().mean(),
    }
    for (name, share), real in truth.items():
        line = synth.columns_.loc[name]
        noise = line[f"{share}_noise"]
        assert line["noise"] < noise  # the number of labelled rows is noisy, too
        assert abs(line[share] - real) < 4 * noise < 0.04
        assert noise < 0.01


def test_decimals_that_may_be_there_make_a_bound_less_sure():
    """A rate that is 0 in most rows: too few have decimals for the first release."""
    rng = np.random.default_rng(4)
    rate = np.where(rng.random(N) < 0.05, rng.integers(1, 50, N) / 100, 0.0)
    others = {f"n{k}": rng.integers(0, 9, N) for k in range(12)}
    synth, _ = fit(pd.DataFrame({"rate": rate, **others}), epsilon=0.7)
    column, line = synth.schema_.columns["rate"], synth.columns_.loc["rate"]
    assert isinstance(column, Integer)  # else the test shows nothing
    above = (rate > column.upper).mean()
    assert abs(line["above"] - above) < 4 * line["above_noise"]
    assert line["above_noise"] > synth.columns_.loc["n0", "above_noise"]
