"""The battery that every synthesizer runs; a new one joins by being registered."""

import dataclasses
import json
import pickle
import struct
import warnings
from copy import deepcopy
from functools import cache
from itertools import cycle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from skdpgen import (
    DPGANSynthesizer,
    SyntheticUtility,
    all_synthesizers,
    load,
)
from skdpgen.datasets import load_example
from skdpgen.exceptions import NothingLearnedWarning, NotPrivateWarning
from skdpgen.privacy import PrivacyReport, gaussian_delta, insecure_noise_seed
from skdpgen.tables import Rows
from tests._covering import covering, parametrize_pairs, parametrize_some
from tests.synthesizers._tables import CASES, N_ROWS, assert_obeys, build, quick, split

INF = float("inf")
ADJACENCIES = ["replace", "add_remove"]


@pytest.fixture(params=sorted(all_synthesizers("tables")))
def cls(request):
    return all_synthesizers()[request.param]


@pytest.fixture(params=sorted(CASES))
def case(request):
    return CASES[request.param]


@pytest.fixture
def mixed():
    return CASES["mixed"]


each_in_turn = parametrize_pairs(  # what all estimators do in one way
    "cls, case",
    sorted(all_synthesizers("tables")),
    sorted(CASES),
    strength=1,
    indirect=True,
)


@cache
def fitted(cls, case, **params):
    """Return a fit that is only looked at and sampled from."""
    return build(cls, case, **params).fit(case.X, case.y)


@dataclasses.dataclass(frozen=True)
class Watched:
    """A fit, and what was seen of it."""

    synth: Any
    fit_returned: Any
    params_before: dict[str, Any]
    warned: tuple[Any, ...]
    opened: tuple[Rows, ...]


@cache
def watched(cls, case):
    """Return one fit, watched for all that it should not do; it is only looked at."""
    opened = []
    read = Rows.read.__func__

    def spy(cls_, *args, **kwargs):
        opened.append(read(cls_, *args, **kwargs))
        return opened[-1]

    synth = build(cls, case)
    before = dict(synth.get_params())
    with (
        pytest.MonkeyPatch.context() as patch,
        warnings.catch_warnings(record=True) as caught,
    ):
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", NothingLearnedWarning)  # these tables are small
        patch.setattr(Rows, "read", classmethod(spy))
        returned = synth.fit(case.X, case.y)
    return Watched(synth, returned, before, tuple(caught), tuple(opened))


def same(one, two):
    """Whether two tables, labels included, are equal and not only close."""
    if isinstance(one, tuple):
        return len(one) == len(two) and all(map(same, one, two))
    if isinstance(one, np.ndarray):
        return bool(np.array_equal(one, two, equal_nan=one.dtype.kind == "f"))
    return one.equals(two)


def numbers_in(value, depth=14):
    """Yield every number a fitted object holds, sums of its arrays included."""
    if isinstance(value, bool | str | bytes) or value is None or not depth:
        return
    if isinstance(value, int | float | np.number):
        yield float(value)
    elif isinstance(value, np.ndarray):
        if value.dtype.kind in "iuf":
            yield from value.astype(float).ravel().tolist()
            yield float(np.nansum(value.astype(float)))
            yield from np.nansum(value.astype(float), axis=0).ravel().tolist()
        else:
            yield from numbers_in(value.ravel().tolist(), depth - 1)
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from numbers_in(getattr(value, field.name), depth - 1)
    elif isinstance(value, dict):
        yield from numbers_in([*value.keys(), *value.values()], depth - 1)
    elif isinstance(value, list | tuple | set):
        for item in value:
            yield from numbers_in(item, depth - 1)
    elif hasattr(value, "__dict__"):
        yield from numbers_in(vars(value), depth - 1)


def released(estimator):
    """Return all that the main release holds, as one vector."""
    values = estimator.release_.values.values()
    return np.concatenate([np.ravel(block) for block in values])


def holds(estimator, number):
    return any(abs(found - number) < 1e-6 for found in numbers_in(vars(estimator)))


# ------------------------------------------------------------- fit and sample


@pytest.mark.parametrize(
    "is_short", [True, pytest.param(False, marks=pytest.mark.slow)]
)
def test_defaults_are_constructible_and_a_default_fit_works(cls, is_short):
    X, y = load_example(2000)
    synth = cls()
    if is_short and cls is DPGANSynthesizer:  # its steps take ten seconds
        synth.set_params(discriminator__max_iter=5)
    assert synth.fit(X[["age", "job", "owns_home"]], y) is synth
    assert_obeys(synth.sample(50)[0], synth.schema_)


def test_fit_returns_self(cls, case):
    seen = watched(cls, case)
    assert seen.fit_returned is seen.synth


@each_in_turn
def test_fit_may_be_repeated(cls, case):
    synth = deepcopy(fitted(cls, case))
    other = CASES["floats"]
    synth.set_params(schema=None, classes=other.classes).fit(other.X, other.y)
    assert synth.sample(3)[0].shape == (3, 4)
    assert synth.n_features_in_ == 4
    assert not hasattr(synth, "feature_names_in_")


def test_parameters_are_left_alone(cls, case):
    seen = watched(cls, case)
    after = seen.synth.get_params()
    assert all(after[name] is value for name, value in seen.params_before.items())


@parametrize_pairs(
    "cls, case, epsilon, adjacency",
    sorted(all_synthesizers("tables")),
    sorted(CASES),
    [1.0, 0.01, INF],
    ADJACENCIES,
    indirect=["cls", "case"],
)
def test_samples_obey_the_schema(cls, case, epsilon, adjacency):
    asked = {"epsilon": epsilon, "delta": 1e-5, "adjacency": adjacency}
    synth = fitted(cls, case, **asked)
    X, y = split(synth.sample(300), case)
    assert synth.task_ == case.task
    assert_obeys(X, synth.schema_)
    for name, column in (case.schema.columns if case.schema else {}).items():
        assert type(synth.schema_.columns[name]) is type(column)
    assert type(X) is type(case.X)
    assert len(X) == 300
    if isinstance(X, pd.DataFrame):
        kinds = X.dtypes.map(lambda d: "category" if d == "category" else str(d))
        wanted = case.X.dtypes.map(lambda d: "category" if d == "category" else str(d))
        pd.testing.assert_series_equal(kinds, wanted)
    elif isinstance(X, np.ndarray):
        assert X.dtype == case.X.dtype
    else:
        assert X.columns == case.X.columns
    if case.task == "classification":
        assert set(y) <= set(case.classes)
        assert list(synth.classes_) == sorted(case.classes)
    if isinstance(case.y, pd.Series):
        assert y.name == case.y.name
        assert y.dtype == case.y.dtype
    if case.task == "regression":
        bounds = synth.schema_.target
        assert y.between(bounds.lower, bounds.upper).all()


@parametrize_pairs(
    "cls, case, n_samples",
    sorted(all_synthesizers("tables")),
    sorted(CASES),
    [1, 2, 1999],
    indirect=["cls", "case"],
)
def test_as_many_rows_as_asked(cls, case, n_samples):
    synth = fitted(cls, case)
    X, y = split(synth.sample(n_samples), case)
    assert len(X) == n_samples
    assert y is None or len(y) == n_samples


def test_as_many_rows_as_fitted_by_default(cls, case):
    synth = fitted(cls, case)
    assert len(split(synth.sample(), case)[0]) == N_ROWS == synth.n_samples_


def test_samples_differ_unless_seeded(cls, case):
    synth = fitted(cls, case)
    assert not same(synth.sample(50), synth.sample(50))
    assert same(synth.sample(50, random_state=3), synth.sample(50, random_state=3))
    assert not same(synth.sample(50, random_state=3), synth.sample(50, random_state=4))


def test_sampling_is_free(cls, mixed):
    synth = fitted(cls, mixed)
    before = str(synth.privacy_)
    synth.sample(10)
    assert str(synth.privacy_) == before


def test_set_output_chooses_the_container(cls, case):
    synth = deepcopy(fitted(cls, case)).set_output(transform="pandas")
    X, _ = split(synth.sample(5), case)
    assert isinstance(X, pd.DataFrame)
    X, _ = split(synth.set_output(transform="polars").sample(5), case)
    assert type(X).__module__.startswith("polars")
    X, _ = split(synth.set_output(transform="default").sample(5), case)
    assert type(X) is type(case.X)


@each_in_turn
def test_a_container_may_be_chosen_before_the_fit(cls, case):
    synth = build(cls, case).set_output(transform="pandas").fit(case.X, case.y)
    assert isinstance(split(synth.sample(5), case)[0], pd.DataFrame)


# --------------------------------------------------------------- conditioning


@pytest.mark.parametrize("name", ["mixed", "floats", "many_classes", "polars"])
def test_labels_come_back_as_given(cls, name):
    case = CASES[name]
    synth = fitted(cls, case)
    wanted = [*case.classes, case.classes[0]] * 3
    X, y = synth.sample(y=wanted)
    assert list(y) == wanted
    assert len(X) == len(wanted)
    X, y = synth.sample(y=np.array(wanted))
    assert list(y) == wanted
    X, y = synth.sample(y=pd.Series(wanted, index=range(7, 7 + len(wanted))))
    assert list(y) == wanted


def test_an_unseen_label_is_named(cls, mixed):
    synth = fitted(cls, mixed)
    with pytest.raises(ValueError, match=r"left, stayed.*moved.*classes="):
        synth.sample(y=["moved"])


def test_numbers_to_condition_on_come_back_as_given(cls):
    synth = fitted(cls, CASES["regression"])
    wanted = [500.0, 1234.5, 1e9, -1e9]
    X, y = synth.sample(y=wanted)
    assert list(y) == wanted
    assert len(X) == 4
    with pytest.raises(ValueError, match="hold numbers"):
        synth.sample(y=[500.0, float("nan")])


def test_conditions_that_contradict(cls, mixed):
    synth = fitted(cls, mixed)
    with pytest.raises(ValueError, match="n_samples must be None or"):
        synth.sample(3, y=["left"])
    with pytest.raises(ValueError, match="fitted with labels"):
        fitted(cls, CASES["unlabelled"]).sample(y=["left"])


# ------------------------------------------------------------ the certificate


@parametrize_pairs(
    "cls, case, epsilon, adjacency",
    sorted(all_synthesizers("tables")),
    sorted(CASES),
    [1.0, 0.01, INF],
    ADJACENCIES,
    indirect=["cls", "case"],
)
def test_the_certificate_is_what_was_asked(cls, case, epsilon, adjacency):
    asked = {"epsilon": epsilon, "delta": 1e-5, "adjacency": adjacency}
    report = fitted(cls, case, **asked).privacy_
    if epsilon == INF:
        assert all(entry.noise_std == 0 for entry in report.releases)
    else:
        check_certificate(report, **asked)


def few_without_a_schema():
    """Return combinations; tables take turns, as discovery is one for all methods."""
    few = covering(sorted(all_synthesizers("tables")), ADJACENCIES)
    cases = cycle(sorted(CASES))
    return [(name, next(cases), adjacency) for name, adjacency in few]


@parametrize_some(
    "cls, case, adjacency",
    few_without_a_schema(),
    sorted(all_synthesizers("tables")),
    sorted(CASES),
    ADJACENCIES,
    indirect=["cls", "case"],
)
def test_the_certificate_of_what_is_discovered(cls, case, adjacency):
    asked = {"epsilon": 4.0, "delta": 1e-6, "adjacency": adjacency}
    synth = build(cls, case, schema=None, classes=None, **asked)
    check_certificate(synth.fit(case.X, case.y).privacy_, **asked)


def check_certificate(report, epsilon, delta, adjacency):
    assert (report.epsilon, report.delta) == (epsilon, delta)
    assert report.adjacency == adjacency
    spent = sum(entry.share for entry in report.releases)
    assert spent <= 1 + 1e-12
    if report.mu is None:  # steps on secret samples have none of their own
        assert spent == pytest.approx(1.0)
        return
    mu_squared = sum((e.sensitivity / e.noise_std) ** 2 for e in report.releases)
    assert mu_squared <= report.mu**2 * (1 + 1e-9)
    assert mu_squared >= report.mu**2 * (1 - 1e-9)  # nothing is left unspent
    epsilon = report.epsilon + np.log1p(-report.delta_selection)
    spent = gaussian_delta(mu_squared**0.5, epsilon) + report.delta_selection
    assert spent <= report.delta * (1 + 1e-6)


@parametrize_pairs(
    "cls, case, epsilon",
    sorted(all_synthesizers("tables")),
    sorted(CASES),
    [1.0, INF],
    strength=1,
    indirect=["cls", "case"],
)
def test_the_certificate_is_json(cls, case, epsilon):
    report = fitted(cls, case, epsilon=epsilon, adjacency="replace").privacy_
    content = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert PrivacyReport.from_dict(content) == report


def test_no_privacy_is_said_loudly(cls, mixed):
    synth = fitted(cls, mixed, epsilon=INF, adjacency="replace")
    assert str(synth.privacy_).startswith("NOT PRIVATE")


@each_in_turn
def test_the_seed_does_not_touch_the_noise(cls, case, fresh_entropy):
    one, two = build(cls, case).fit(case.X, case.y), watched(cls, case).synth
    assert one.random_state == two.random_state == 0
    first, second = released(one), released(two)
    assert first.shape != second.shape or not (first == second).any()


@each_in_turn
def test_seeded_noise_repeats_and_says_that_it_is_not_private(cls, case):
    fits = []
    for _ in range(2):
        with pytest.warns(NotPrivateWarning), insecure_noise_seed(0):
            fits.append(build(cls, case).fit(case.X, case.y))
    one, two = fits
    np.testing.assert_array_equal(released(one), released(two))
    assert same(one.sample(20), two.sample(20))
    assert "NOT PRIVATE" in str(one.privacy_)
    assert "NOT PRIVATE" not in str(fitted(cls, case).privacy_)


# ------------------------------------------------------------ nothing is kept


def test_saved_and_loaded_it_is_the_same(cls, case, tmp_path):
    synth = fitted(cls, case)
    synth.save(tmp_path / "synth.npz")
    copy = load(tmp_path / "synth.npz")
    assert type(copy) is cls
    assert copy.privacy_ == synth.privacy_
    assert copy.schema_ == synth.schema_
    assert same(copy.sample(40, random_state=1), synth.sample(40, random_state=1))
    assert vars(copy).keys() == vars(synth).keys()
    assert {n for n in dir(copy) if n.endswith("_") and hasattr(copy, n)} == {
        n for n in dir(synth) if n.endswith("_") and hasattr(synth, n)
    }


def test_what_is_not_fitted_cannot_be_saved_or_sampled(cls, tmp_path):
    with pytest.raises(NotFittedError):
        cls().save(tmp_path / "synth.npz")
    with pytest.raises(NotFittedError):
        cls().sample(3)


def test_pickled_it_is_the_same(cls, case):
    synth = fitted(cls, case)
    copy = pickle.loads(pickle.dumps(synth))
    assert same(copy.sample(40), synth.sample(40))


@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_a_fitted_object_contains_no_private_row(cls, tmp_path, adjacency):
    X, y = load_example(N_ROWS)
    X = X[["job", "education", "balance", "customer_since", "n_products"]]
    secret, number = "Zweitausendeins", 0.7358291634509121 * 1e3
    X = X.assign(job=X["job"].where(np.arange(len(X)) != 5, secret))
    X["education"] = X["education"].cat.add_categories("Privatdozent")
    X.loc[6, "education"] = "Privatdozent"
    X.loc[7, "balance"] = number
    y = y.where(np.arange(len(y)) != 8, "Geheimnis")
    params = {"adjacency": adjacency, "random_state": 0} | quick(cls)
    synth = cls(epsilon=4.0, **params).fit(X, y)
    synth.save(tmp_path / "synth.npz")
    dumps = [pickle.dumps(synth), (tmp_path / "synth.npz").read_bytes()]
    dumps.append(repr(synth.privacy_).encode() + synth.schema_.to_json().encode())
    names = "balance", "n_products", "customer_since"
    columns = [X[name].to_numpy() for name in names]
    rows = {
        values[start : start + 3].tobytes()
        for values in columns
        for start in range(0, len(values) - 3)
        if len(set(values[start : start + 3].tolist())) == 3
    }
    (size,) = set(map(len, rows))
    for dump in dumps:
        for word in (secret, "Privatdozent", "Geheimnis", repr(number)):
            assert word.encode() not in dump
        assert struct.pack("<d", number) not in dump
        assert not rows & {dump[k : k + size] for k in range(len(dump))}


def test_rows_are_closed_before_training(cls, case):
    seen = watched(cls, case)
    assert seen.opened
    for rows in seen.opened:
        with pytest.raises(RuntimeError, match="closed"):
            next(iter(rows.batches({})))
    assert not any(isinstance(value, Rows) for value in vars(seen.synth).values())


@each_in_turn
def test_the_number_of_rows_is_private_under_add_remove(cls, case):
    def shows():
        synth = build(cls, case, adjacency="add_remove").fit(case.X, case.y)
        return holds(synth, N_ROWS) or str(N_ROWS) in str(synth.privacy_)

    # one noisy count in a hundred is exact by chance
    assert not all(shows() for _ in range(4))  # the first that does not ends it
    assert holds(fitted(cls, case), N_ROWS)  # the search does find what is there


# -------------------------------------------------------------------- quality


@pytest.mark.filterwarnings("ignore::skdpgen.exceptions.NotPrivateWarning")
def test_quality_collapses_without_budget(cls, mixed):
    utility = SyntheticUtility(classifiers=("lda",), n_samples=1500)
    score = {}
    for epsilon, n_fits in ((20.0, 1), (0.001, 2)):  # scores vary by .004, and by .09
        found = []
        for seed in range(n_fits):
            with insecure_noise_seed(seed):
                synth = build(cls, mixed, epsilon=epsilon).fit(mixed.X, mixed.y)
            found.append(utility(synth, mixed.X, mixed.y))
        score[epsilon] = np.mean(found)
    assert score[20.0] > 0.75
    assert abs(score[0.001] - 0.5) < 0.2


def test_a_progress_bar_only_when_asked(cls, mixed, capsys):
    build(cls, mixed).fit(mixed.X, mixed.y)
    assert capsys.readouterr() == ("", "")
    build(cls, mixed, verbose=1).fit(mixed.X, mixed.y)
    assert "histograms" in capsys.readouterr().err


def test_a_fit_in_clean_surroundings_warns_of_no_harm(cls, case):
    assert not watched(cls, case).warned
