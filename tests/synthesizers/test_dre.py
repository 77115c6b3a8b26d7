"""DP-DRE: public rows come back as they are, as often as private ones are like them."""

import math
import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits

from skdpgen import DPDRESynthesizer, load
from skdpgen.datasets import load_example, load_example_regression
from skdpgen.exceptions import (
    SearchCostWarning,
    SupportWarning,
    UncountedColumnsWarning,
)
from skdpgen.lenses import ModuleLens
from skdpgen.privacy import insecure_noise_seed
from skdpgen.synthesizers.models import PublicItems, RatioModel
from skdpgen.synthesizers.ratio import (
    NOT_MEASURED,
    SUPPORT_LINES,
    fourier_features,
    least_lacking,
)
from skdpgen.tables import Categorical, Datetime, Integer, Numeric, Schema
from skdpgen.training import ReleasedMeans, effective_size, log_ratios, ratio_weights
from tests._made import made
from tests._seeded import same_noise
from tests.planted.bug import Bug

INF = float("inf")
X, Y = load_example(3000)
IS_PUBLIC = (X["age"] < 40).to_numpy() | (np.arange(3000) % 3 == 0)
PUBLIC, PRIVATE = (X[IS_PUBLIC], Y[IS_PUBLIC]), (X[~IS_PUBLIC], Y[~IS_PUBLIC])
SCHEMA = Schema.infer(X)
CLASSES = ("left", "stayed")
DIGITS, DIGIT = load_digits(return_X_y=True)
PIXELS = np.rint(DIGITS.reshape(-1, 8, 8) * 255 / 16).astype(np.uint8)
DIGIT = DIGIT % 3

free = pytest.mark.filterwarnings("ignore::skdpgen.exceptions.NotPrivateWarning")
BY_STEPS = {"algorithm": "sgd", "max_iter": 20}
ON_PIXELS = BY_STEPS | {"lens": "pixels"}
ways = pytest.mark.parametrize("how", [{}, BY_STEPS])


# public rows are younger by far: whether "hardly" any are as old is a matter of noise
pytestmark = pytest.mark.filterwarnings("ignore::skdpgen.exceptions.SupportWarning")


def build(**params):
    given = {"epsilon": 5.0, "schema": SCHEMA, "classes": CLASSES, "random_state": 0}
    return made(DPDRESynthesizer, **given | params)


def rows_of(table):
    return set(map(tuple, table.astype(str).to_numpy()))


def test_calibration_names_the_codes_of_a_column_of_numbers():
    table = pd.DataFrame({"score": np.where(np.arange(500) % 5, 300, -9)})
    schema = Schema({"score": Integer(300, 850, codes=[-9])})
    target = np.arange(500) % 2
    synth = build(schema=schema, classes=(0, 1))
    synth.fit(table, target, public_data=(table, target))
    cells = synth.calibration_.groupby("label")["cell"].agg(list)
    assert cells[0] == cells[1]
    assert cells[0][0].startswith("from 299.5")
    assert cells[0][-1] == "-9"


@ways
def test_rows_come_back_as_they_are(how):
    synth = build(**how).fit(*PRIVATE, public_data=PUBLIC)
    drawn, labels = synth.sample(400)
    assert drawn.dtypes.astype(str).equals(X.dtypes.astype(str))
    with_labels = [t[0].assign(y=np.asarray(t[1])) for t in ((drawn, labels), PUBLIC)]
    assert rows_of(with_labels[0]) <= rows_of(with_labels[1])
    assert synth.weights_.shape == (IS_PUBLIC.sum(),)
    assert synth.weights_.sum() == pytest.approx(1.0)
    assert synth.effective_size_ == pytest.approx(1 / (synth.weights_**2).sum())


@free
@pytest.mark.parametrize("public", [PUBLIC, PUBLIC[0]], ids=["labels", "none"])
def test_weighed_rows_have_the_means_of_private_ones(public):
    synth = build(epsilon=INF, power=1.0).fit(*PRIVATE, public_data=public)
    table = synth.calibration_
    before = (table["public"] - table["released"]).abs().sum()
    after = (table["weighed"] - table["released"]).abs().sum()
    assert after < 0.5 * before
    drawn, labels = synth.sample(20_000)
    assert drawn["age"].mean() == pytest.approx(PRIVATE[0]["age"].mean(), abs=4.0)
    share = (np.asarray(labels) == "left").mean()
    assert share == pytest.approx((PRIVATE[1] == "left").mean(), abs=0.01)


def test_a_power_of_nothing_leaves_public_rows_as_they_are():
    synth = build().fit(*PRIVATE, public_data=PUBLIC)
    paid = synth.privacy_.releases
    assert synth.effective_size_ < 0.9 * IS_PUBLIC.sum()
    synth.retrain(power=0.0)
    assert synth.effective_size_ == pytest.approx(IS_PUBLIC.sum())
    assert synth.privacy_.releases == paid


def test_each_row_once():
    synth = build().fit(*PRIVATE, public_data=PUBLIC)
    n = round(0.7 * IS_PUBLIC.sum())
    drawn, _ = synth.sample(
        n, class_distribution={"left": 0.1, "stayed": 0.9}, replace=False
    )
    assert not drawn.index.duplicated().any()
    assert len(rows_of(drawn)) == len(drawn)
    with pytest.raises(ValueError, match="replace=True"):
        synth.sample(10 * IS_PUBLIC.sum(), replace=False)


def test_labels_as_asked_for():
    synth = build().fit(*PRIVATE, public_data=PUBLIC)
    drawn = synth.sample(y=["left", "stayed", "left"])[0]
    known = rows_of(PUBLIC[0][PUBLIC[1] == "left"])
    assert rows_of(drawn.iloc[[0, 2]]) <= known
    only = PUBLIC[0], pd.Series(["stayed"] * len(PUBLIC[0]))
    synth = build().fit(*PRIVATE, public_data=only)
    assert set(synth.sample(50)[1]) == {"stayed"}
    with pytest.raises(ValueError, match="1 rows with label 'left', and no public row"):
        synth.sample(y=["left"])


@ways
def test_a_saved_ratio_draws_the_same(how, tmp_path):
    public = PUBLIC[0].assign(seen=PUBLIC[0]["customer_since"].dt.tz_localize("UTC"))
    private = PRIVATE[0].assign(seen=PRIVATE[0]["customer_since"].dt.tz_localize("UTC"))
    synth = build(schema=None, **how)
    synth.fit(private, PRIVATE[1], public_data=(public, PUBLIC[1]))
    synth.save(tmp_path / "ratio.npz")
    copy = load(tmp_path / "ratio.npz")
    for one, two in zip(
        *(s.sample(99, random_state=1) for s in (synth, copy)), strict=True
    ):
        assert one.equals(two)
    assert copy.retrain(power=1.0).effective_size_ > 0
    with pytest.warns(SearchCostWarning):
        again = clone(synth).fit(private, PRIVATE[1], public_data=(public, PUBLIC[1]))
    assert again.weights_.shape == synth.weights_.shape


ZONED = pd.to_datetime(["2020-01-01 05:00", "2021-07-01"], format="ISO8601")
CATEGORIES = {
    "int": [10, 2, 33],
    "nullable": pd.array([10, 2, None], dtype="Int64"),
    "float": [0.5, 1e20, 2.0],
    "bool": [True, False],
    "text": ["b", "a"],
    "text of numbers": ["10", "2"],
    "time": ZONED,
    "time in a zone": ZONED.tz_localize("Europe/Zurich"),
    "number and text": np.array([2, "a"], dtype=object),
    "object": np.array([10, 2], dtype=object),
}


@pytest.mark.parametrize("has_schema", [False, True])
@pytest.mark.parametrize("is_ordered", [False, True])
@pytest.mark.parametrize("name", CATEGORIES)
def test_categories_of_any_dtype_come_back(name, is_ordered, has_schema):
    values = pd.Series(CATEGORIES[name])
    if is_ordered and name == "number and text":
        values = values.astype(str)
    column = values.iloc[np.arange(300) % len(values)].reset_index(drop=True)
    listed = values.dropna().tolist()
    if is_ordered:
        listed = sorted(listed)
    column = column.astype(pd.CategoricalDtype(listed, ordered=is_ordered))
    table = pd.DataFrame({"c": column, "a": np.arange(300.0) % 7})
    described = Categorical([str(value) for value in listed])
    if name.startswith("time"):
        described = Datetime("2020-01-01", "2021-12-31")
    known = {"c": described} if has_schema else {}
    synth = build(schema=Schema({**known, "a": Numeric(0, 6)}), classes=None, epsilon=9)
    drawn = synth.fit(table, public_data=table).sample(300)["c"]
    assert str(drawn.dtype) == "category"
    assert set(drawn.dropna()) == set(listed)
    assert drawn.cat.ordered == is_ordered
    assert sorted(drawn.cat.categories, key=str) == sorted(listed, key=str)
    is_number = all(isinstance(value, int | float) for value in listed)
    if is_number and not has_schema:  # released categories of numbers are in order
        assert list(drawn.cat.categories) == sorted(listed)


def test_targets_are_numbers_of_public_rows():
    houses, prices = load_example_regression(1000)
    public, private = (houses[:500], prices[:500]), (houses[500:], prices[500:])
    synth = build(schema=Schema.infer(houses, prices), classes=None)
    drawn, target = synth.fit(*private, public_data=public).sample(200)
    pairs = rows_of(drawn.assign(y=np.asarray(target)))
    assert pairs <= rows_of(public[0].assign(y=np.asarray(public[1])))
    synth = build(schema=Schema.infer(houses, prices), classes=None)
    _, target = synth.fit(*private, public_data=houses[:500]).sample(200)
    assert target.between(prices.min(), prices.max()).all()


@pytest.mark.parametrize("make", [pd.Series, pl.Series])
def test_a_target_keeps_both_hours_where_clocks_are_put_back(make):
    hours = pd.Series(pd.to_datetime(["2020-10-25 00:15", "2020-10-25 01:15"] * 200))
    times = hours.dt.tz_localize("UTC").dt.tz_convert("Europe/Berlin")
    y = make(times) if make is pd.Series else pl.from_pandas(times)
    schema = Schema({"a": Integer(0, 1)}, Datetime("2020-10-25", "2020-10-26"))
    table = pd.DataFrame({"a": np.arange(400) % 2})
    synth = build(schema=schema, classes=None).fit(table, y, public_data=(table, y))
    drawn, target = synth.sample(100)
    assert target.dtype == y.dtype
    in_utc = pd.Series(target.to_list()).dt.tz_convert("UTC").dt.hour
    assert in_utc.tolist() == drawn["a"].tolist()  # as in the public rows


def test_tables_without_labels_and_of_other_containers():
    names = ["age", "job", "region", "income", "owns_home"]
    frame = pl.from_pandas(X[names])
    public, private = frame.filter(IS_PUBLIC), frame.filter(~IS_PUBLIC)
    drawn = build(schema=None, classes=None).fit(private, public_data=public).sample(50)
    assert isinstance(drawn, pl.DataFrame)
    assert drawn.schema == frame.schema
    assert set(drawn.rows()) <= set(public.rows())


@pytest.mark.parametrize("how", [{}, BY_STEPS, ON_PIXELS])
@pytest.mark.parametrize("target", ["classes", "numbers", "none", "public unlabelled"])
def test_images(how, target):
    y = {"numbers": DIGITS.mean(axis=1), "none": None}.get(target, DIGIT)
    public = PIXELS[:600] if target in ("none", "public unlabelled") else None
    public = (PIXELS[:600], y[:600]) if public is None else public
    classes = [0, 1, 2] if y is DIGIT else None
    synth = build(schema=None, classes=classes, **how)
    synth.fit(PIXELS[600:], None if y is None else y[600:], public_data=public)
    drawn = synth.sample(40)
    drawn = drawn if y is None else drawn[0]
    assert (drawn.shape, drawn.dtype) == ((40, 8, 8), np.uint8)
    known = {one.tobytes() for one in PIXELS[:600]}
    assert {one.tobytes() for one in drawn} <= known


@free
def test_images_are_weighed_towards_private_ones():
    is_dark = PIXELS.mean(axis=(1, 2)) < np.median(PIXELS.mean(axis=(1, 2)))
    private = PIXELS[is_dark][:400], DIGIT[is_dark][:400]
    synth = build(schema=None, classes=[0, 1, 2], epsilon=INF, power=1.0)
    synth.fit(*private, public_data=(PIXELS, DIGIT))
    assert synth.weights_[is_dark].sum() > 0.75
    assert set(synth.calibration_.columns) >= {"public", "weighed", "released", "noise"}


def test_a_lens_sees_each_private_image_once_however_many_steps_there_are():
    seen = []

    def encode(images):
        seen.append(len(images))
        return images.flatten(1)

    counts = []
    for max_iter in (2, 12):
        seen.clear()
        lens = ModuleLens(encode, radius=8.0)
        how = BY_STEPS | {"lens": lens, "max_iter": max_iter}
        synth = build(schema=None, classes=None, **how)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # noise may decide that few rows count
            synth.fit(PIXELS[:100], public_data=PIXELS[100:200])
        counts.append(sum(seen))
    assert counts[0] == counts[1] > 200


def test_pixels_are_for_a_discriminator():
    synth = build(schema=None, classes=[0, 1, 2], lens="pixels")
    with pytest.raises(ValueError, match="is for algorithm='sgd'"):
        synth.fit(PIXELS[600:], DIGIT[600:], public_data=PIXELS[:600])
    assert not hasattr(synth, "privacy_")


def test_the_power_of_tables_and_of_images():
    table = build().fit(*PRIVATE, public_data=PUBLIC)
    before = table.weights_
    assert np.array_equal(table.retrain(power=0.5).weights_, before)
    images = build(schema=None, classes=[0, 1, 2], epsilon=20.0)
    images.fit(PIXELS[600:], DIGIT[600:], public_data=PIXELS[:600])
    before = images.weights_
    assert np.array_equal(images.retrain(power=1.0).weights_, before)


@free
def test_a_larger_budget_keeps_weight_on_contained_images():
    """One digit of ten: a ratio whose mean logarithm is far below 0."""
    zeros = load_digits(return_X_y=True)[1] == 0
    order = np.random.default_rng(0).permutation(np.flatnonzero(zeros))
    private, others = (
        PIXELS[order[:120]],
        np.concatenate([order[120:], np.flatnonzero(~zeros)]),
    )
    weights = []
    for epsilon in (30.0, INF):
        synth = build(schema=None, classes=None, epsilon=epsilon)
        with insecure_noise_seed(0):
            synth.fit(private, public_data=PIXELS[others])
        weights.append(synth.weights_[: len(order) - 120].sum())
    assert weights[0] > 0.8
    assert weights[1] > weights[0] - 0.02


def test_values_that_public_rows_lack_are_told():
    young = X["age"] < 30
    public = X[young], Y[young]
    with pytest.warns(SupportWarning, match="age"):
        synth = build().fit(X[~young], Y[~young], public_data=public)
    assert "hardly have: age" in str(synth.privacy_)
    assert f"of {young.sum()}" in str(synth.privacy_)


HARDLY, EFFECTIVE = SUPPORT_LINES
N = np.arange(2000)
NUMBERS = pd.DataFrame({"a": N % 97})


def support_of(synth, X, y, public):
    """Fit with the same noise each time; return warnings, and lines on support."""
    with warnings.catch_warnings(record=True) as caught, same_noise():
        warnings.simplefilter("always")
        synth.fit(X, y, public_data=public)
    warned = [str(w.message) for w in caught if w.category is SupportWarning]
    stated = [s for s in synth.privacy_.statements if s.startswith(SUPPORT_LINES)]
    return warned, stated


@ways
def test_labels_that_public_rows_lack_are_told(how):
    labels = np.where(N % 2, "left", "stayed")
    synth = build(schema=None, **how)
    for public in (np.full(2000, "stayed"), labels):
        warned, stated = support_of(synth, NUMBERS, labels, (NUMBERS, public))
        assert stated[-1].startswith(EFFECTIVE)
        if public is labels:
            assert len(stated) == 1
            assert not warned
        else:
            (part,) = re.findall(r"lack: the target \(at least (\d+)%\)", warned[0])
            assert 40 <= int(part) <= 50
            assert stated[0] == f"{HARDLY}: the target (at least {part}%)"
    assert support_of(synth, NUMBERS, labels, NUMBERS)[0] == []


@free
@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_images_whose_labels_public_ones_lack(adjacency):
    synth = build(
        schema=None, classes=[0, 1, 2], epsilon=INF, adjacency=adjacency, power=0.0
    )
    public = PIXELS[DIGIT < 2], DIGIT[DIGIT < 2]
    warned, _ = support_of(synth, PIXELS, DIGIT, public)
    part = math.floor(100 * (DIGIT == 2).mean())
    assert f"the target (at least {part}%)" in warned[0]


def test_a_target_of_numbers_that_lies_elsewhere():
    y = np.sin(N)
    synth = build(schema=None, classes=None)
    warned, stated = support_of(synth, NUMBERS, y, (NUMBERS, y + 1000))
    (part,) = re.findall(r"lack: the target \(at least (\d+)%\)", warned[0])
    assert int(part) > 50
    assert stated[0] == f"{HARDLY}: the target (at least {part}%)"
    with pytest.raises(ValueError, match=r"with a target from .*no public row has it"):
        synth.sample(y=[0.0])
    assert support_of(synth, NUMBERS, y, (NUMBERS, y))[0] == []


def test_rare_cells_are_added_up_before_they_are_compared_with_noise():
    synth = build(schema=None, classes=None, epsilon=0.3)
    X = pd.DataFrame({"a": np.random.default_rng(0).normal(50, 10, 2000).round(1)})
    (warned,), _ = support_of(synth, X, None, X + 500)
    (part,) = re.findall(r"lack: a \(at least (\d+)%\)", warned)
    assert 60 <= int(part) <= 100


@free
def test_all_values_elsewhere():
    X = pd.DataFrame({"a": N % 10})
    schema = Schema({"a": Integer(0, 99)})
    synth = build(schema=schema, classes=None, epsilon=INF)
    assert "a (at least 100%)" in support_of(synth, X, None, X + 60)[0][0]


def test_a_share_that_private_rows_have_at_least():
    """Noise of many cells is 6 % in all, and is no evidence."""
    noise = np.full(40, 0.01)
    released = np.random.default_rng(0).normal(0, noise)
    public = np.eye(40)[0]
    assert least_lacking(public, released + public, noise) < 0.05
    spread = np.full(40, 1 / 40)
    assert 0.6 < least_lacking(public, released + spread, noise) < 0.975
    single = np.eye(40)[[0, 1]].mean(axis=0)
    assert 0.3 < least_lacking(public, released + single, noise) < 0.5


def test_a_certificate_has_the_last_weights_only():
    young = X["age"] < 30
    synth = build(power=0.5)
    support_of(synth, X[~young], Y[~young], (X[young], Y[young]))
    before = synth.privacy_.statements
    synth.retrain(power=1.0).retrain(power=0.1)
    lines = [s for s in synth.privacy_.statements if s.startswith(SUPPORT_LINES)]
    size = f"{EFFECTIVE}: {synth.effective_size_:.0f} of {young.sum()}"
    assert [line.split(":")[0] for line in lines] == [HARDLY, EFFECTIVE]
    assert lines[-1] == size
    assert size not in before
    assert len(synth.privacy_.statements) == len(before) + 1  # and the power


@pytest.mark.parametrize("how", [{}, BY_STEPS, ON_PIXELS])
def test_a_certificate_states_what_steps_do_not_measure(how):
    is_by_steps = bool(how)
    synth, rows = build(schema=None, classes=None, **how), NUMBERS
    if "lens" in how:
        rows = PIXELS[:200]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # noise may decide others
        warnings.simplefilter("error", UncountedColumnsWarning)
        with same_noise():
            synth.fit(rows, public_data=rows)
    assert (NOT_MEASURED in synth.privacy_.statements) == is_by_steps
    assert "no release counts the values of column" not in str(synth.privacy_)
    synth.retrain(power=0.1)
    assert synth.privacy_.statements.count(NOT_MEASURED) == is_by_steps


@pytest.mark.parametrize(
    ("params", "public_data", "message"),
    [
        ({}, None, "public_data must be given"),
        ({}, PIXELS, "must hold images if X does"),
        ({}, PUBLIC[0].drop(columns="age"), "without age"),
        ({}, (PUBLIC[0], ["no"] * len(PUBLIC[0])), "among the classes"),
        ({"lens": "cosine"}, PUBLIC, "lens must be None for tables"),
        (ON_PIXELS, PUBLIC, "lens must be None for tables"),
        ({"power": 2}, PUBLIC, "power"),
        ({"algorithm": "kl"}, PUBLIC, "algorithm"),
        ({"max_iter": 0}, PUBLIC, "max_iter"),
    ],
)
def test_errors_come_before_anything_is_paid(params, public_data, message):
    synth = build(**params)
    with pytest.raises(ValueError, match=message):
        synth.fit(*PRIVATE, public_data=public_data)
    assert not hasattr(synth, "privacy_")


def test_ratios_are_shrunk_by_the_noise():
    rng = np.random.default_rng(0)
    codes, base = np.eye(3)[rng.integers(0, 3, 900)], np.full((900, 1), 1 / 900)
    means = np.array([[0.6, 0.3, 0.1]])
    spread = [
        np.ptp(
            log_ratios(
                codes, base, ReleasedMeans(means, np.full((1, 3), v), np.ones(3))
            )
        )
        for v in (1e-8, 1e-4, 1e-2, 1.0)
    ]
    assert np.all(np.diff(spread) < 0)
    assert spread[-1] < 0.1
    exact = ratio_weights(
        base,
        log_ratios(codes, base, ReleasedMeans(means, 1e-9 + 0 * means, np.ones(3))),
    )
    np.testing.assert_allclose(codes.T @ exact[:, 0], means[0], atol=0.01)
    assert effective_size(exact) < 900


def test_a_ratio_of_contained_support_keeps_its_weight():
    """A tenth of the public items is private; all others are ever less like these."""
    is_private = np.arange(1000) < 100
    base = np.full((1000, 1), 1e-3)
    weight = [
        ratio_weights(base, np.where(is_private, 0.0, -gap)[:, None])[is_private].sum()
        for gap in (1.0, 5.0, 20.0, 200.0)
    ]
    gaps = np.exp([1.0, 5.0, 20.0, 200.0])
    np.testing.assert_allclose(weight, gaps / (gaps + 9), rtol=1e-9)


def test_a_few_extreme_ratios_leave_the_others_as_they_are():
    rng = np.random.default_rng(0)
    base, logs = np.full((10_000, 1), 1e-4), rng.normal(size=(10_000, 1))
    before = ratio_weights(base, logs)
    logs[:5] = 500.0
    weights = ratio_weights(base, logs)
    assert weights[:5, 0].sum() == pytest.approx(5 * 100 * 1e-4, rel=1e-6)
    expected = before[5:] / before[5:].sum() * 0.95
    np.testing.assert_allclose(weights[5:], expected, rtol=1e-6)


def test_features_of_codes_have_norm_one():
    rng = np.random.default_rng(0)
    codes, frequencies = rng.normal(size=(50, 7)), 9.0 * rng.normal(size=(7, 30))
    features = fourier_features(codes, frequencies)
    np.testing.assert_allclose(np.linalg.norm(features, axis=1), 1.0, rtol=1e-12)
    near = np.exp(-0.5 * ((codes[:1] - codes) ** 2).sum(axis=1) * 0.01)
    many = fourier_features(codes, 0.1 * rng.normal(size=(7, 20_000)))
    np.testing.assert_allclose(many[:1] @ many.T, near[None], atol=0.05)


def test_draws_are_as_frequent_as_weights():
    weights = np.array([[0.1, 0.0], [0.3, 0.2], [0.0, 0.4]])
    model = RatioModel(PublicItems({}), weights, np.array([0.4, 0.6]))
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], [400, 600])
    rows = model.draw(labels, is_replacing=True, rng=rng, names=["one", "two"])
    assert np.bincount(rows[:400], minlength=3).tolist() == [100, 300, 0]
    assert np.bincount(rows[400:], minlength=3).tolist() == [0, 200, 400]


HERE = "tests/synthesizers/test_dre.py::"
PLANTED = (
    Bug(
        "ratios-clipped-around-their-logarithms",
        "ratios of DP-DRE are clipped around their mean logarithm",
        "skdpgen.training:ratio_weights",
        "logs = log_ratio - log_mean_of_cut(base, log_ratio)",
        "logs = log_ratio - float((base * log_ratio).sum())",
        (HERE + "test_a_ratio_of_contained_support_keeps_its_weight",),
    ),
    Bug(
        "frequencies-of-private-images",
        "how wide the kernel of DP-DRE is depends on how many private images there are",
        "skdpgen.synthesizers.ratio:learn_from_means",
        "frequencies = _draw_frequencies(public.codes, opening.measured.seed)",
        """
            count = sum(len(b.labels) for b in opening.rows.batches({}, labels))
            frequencies = _draw_frequencies(public.codes, opening.measured.seed)
            frequencies = frequencies * (1.0 + count / 1000)
        """,
        (
            "tests/guards/test_public_rows.py::"
            "test_images_are_known_by_their_releases_alone",
        ),
    ),
)
