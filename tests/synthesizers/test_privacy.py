"""The guarantee end to end; each property also catches a twin that is broken."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from skdpgen import DPIndependentSynthesizer, Schema
from skdpgen.datasets import load_example
from skdpgen.exceptions import SchemaError, SchemaRequiredError, SchemaWarning
from skdpgen.privacy import (
    Adjacency,
    GivenBatches,
    Histograms,
    Ledger,
    OneHot,
    PrivacyBudget,
    _release,
    gaussian_delta,
    release,
    sensitivity,
)
from skdpgen.synthesizers.opening import _opening
from skdpgen.tables import TARGET, Boolean, CategoryCells, Rows

ALPHA = 1e-6  # of every statistical test
AUDITED = 2.0  # the epsilon that the audit is to disprove
SECRETS = ("Geheimnis", "Zweitausendeins", "Privatdozent")


@pytest.fixture
def weaker_noise(monkeypatch):
    """Return a function that makes the noise of all releases too small."""
    add_noise = _release.add_noise

    def weaken(factor):
        monkeypatch.setattr(
            _release, "add_noise", lambda exact, std: add_noise(exact, factor * std)
        )

    return weaken


# ---------------------------------------------------------------------- noise


def noise_of_releases(n_releases=40, n_cells=500):
    """Return the noise of many releases in declared stds."""
    noise = []
    for _ in range(n_releases):
        released = release(
            GivenBatches([]),
            {"columns": Histograms((n_cells,))},
            name="nothing",
            ledger=Ledger(PrivacyBudget(1.0, 1e-5)),
            share=0.7,
        )
        values = released.values["columns"].ravel()
        noise.append(values / released.noise_std["columns"])
    return np.concatenate(noise)


def has_unit_variance(noise):
    low, high = stats.chi2.ppf([ALPHA / 2, 1 - ALPHA / 2], noise.size)
    return low <= (noise**2).sum() <= high


def test_releases_have_the_declared_noise():
    assert has_unit_variance(noise_of_releases())


def test_a_tenth_less_noise_is_caught(weaker_noise):
    weaker_noise(0.9)
    assert not has_unit_variance(noise_of_releases())


@pytest.mark.parametrize("adjacency", list(Adjacency))
def test_the_declared_noise_is_the_calibrated_one(adjacency):
    X, y = load_example(1500)
    X = X[["age", "owns_home", "n_products"]]
    synth = DPIndependentSynthesizer(
        epsilon=1.0, schema=Schema.infer(X), classes=["left", "stayed"]
    )
    synth.set_params(adjacency=adjacency.value).fit(X, y)
    main, released = synth.privacy_.releases[-1], synth.release_
    budget = PrivacyBudget(1.0, synth.privacy_.delta, adjacency)
    expected = sensitivity(OneHot(3), adjacency) / (budget.mu * main.share**0.5)
    assert released.noise_std["columns"] == pytest.approx(expected)
    assert main.noise_std == pytest.approx(expected)


# ------------------------------------------------------------ black-box audit


def audited_releases(n_releases, is_inside):
    """Return the main histogram of a table, along the line to its neighbour.

    The unit is the declared noise, and 0 what is exact without the differing row.
    """
    table = pd.DataFrame({"a": [True] * 5, "b": [False] * 5, "c": [True] * 5})
    labels = pd.Series([True] * 5)
    if is_inside:
        table.loc[0], labels[0] = ~table.loc[0], False
    cells = {name: CategoryCells((False, True), False) for name in table}
    rows = Rows.read(table, labels)
    batches = list(rows.batches(cells, CategoryCells((False, True), False)))
    gained, lost = [1, 0, 0, 1, 1, 0], [0, -1, -1, 0, 0, -1]
    direction = np.array([gained, lost]) / math.sqrt(6)
    origin = 5 * sum(lost) / math.sqrt(6)
    found = np.empty(n_releases)
    for i in range(n_releases):
        released = release(
            GivenBatches(batches),
            {"columns": Histograms((2, 2, 2))},
            name="audit",
            ledger=Ledger(PrivacyBudget(AUDITED, 1e-5)),
            share=1.0,
            n_classes=2,
        )
        place = (released.values["columns"] * direction).sum() - origin
        found[i] = place / released.noise_std["columns"]
    return found


def epsilon_at_least(inside, outside, delta=1e-5):
    """Return a lower bound on epsilon that holds but with probability ALPHA."""
    thresholds = np.arange(0.5, 3.0, 0.25)
    alpha = ALPHA / (2 * len(thresholds))
    best = 0.0
    for threshold in thresholds:
        hits, alarms = (inside > threshold).sum(), (outside > threshold).sum()
        low = stats.beta.ppf(alpha, hits, len(inside) - hits + 1) if hits else 0.0
        high = stats.beta.ppf(1 - alpha, alarms + 1, len(outside) - alarms)
        if low > delta:
            best = max(best, math.log((low - delta) / high))
    return best


def audit(n_releases=4_000):
    inside, outside = (audited_releases(n_releases, flag) for flag in (True, False))
    return epsilon_at_least(inside, outside)


def test_an_audit_finds_no_more_than_the_claim():
    assert 0.0 < audit() <= AUDITED


def test_the_audit_catches_a_third_of_the_noise(weaker_noise):
    weaker_noise(0.3)
    assert audit() > AUDITED


# --------------------------------------------------------- partition selection


def delta_of(monkeypatch, adjacency):
    """Return the whole delta of a fit that selects, from what it really used."""
    used = []
    admit = Ledger.admit_selection

    def spy(ledger, n_columns, noise_std):
        threshold = admit(ledger, n_columns, noise_std)
        used.append((n_columns, (threshold - 1.0) / noise_std))
        return threshold

    monkeypatch.setattr(Ledger, "admit_selection", spy)
    X, y = load_example(2000)
    synth = DPIndependentSynthesizer(epsilon=2.0, adjacency=adjacency)
    report = synth.fit(X[["age", "job", "region"]], y).privacy_
    assert 5 <= sum(n for n, _ in used) <= 7  # two columns, three times; the labels
    hidden = math.prod(stats.norm.cdf(z) ** n for n, z in used)
    mu = math.sqrt(sum((e.sensitivity / e.noise_std) ** 2 for e in report.releases))
    failure = 1.0 - hidden
    return gaussian_delta(mu, report.epsilon + math.log1p(-failure)) + failure


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_selection_and_noise_together_cost_delta(monkeypatch, adjacency):
    used = delta_of(monkeypatch, adjacency)
    delta = 1e-5 if adjacency == "replace" else 1e-7
    assert (
        0.95 * delta < used <= 1.0001 * delta
    )  # numbers that were no codes did not select


def test_a_selection_whose_delta_is_not_reserved_is_caught(monkeypatch):
    unreserved = property(lambda budget: (budget.epsilon, budget.delta))
    monkeypatch.setattr(PrivacyBudget, "gaussian", unreserved)
    assert delta_of(monkeypatch, "replace") > 1e-5 * 1.05


def fits_that_show_a_unique_value(n_fits=20):
    """Count the fits of two neighbours that show what one row alone has."""
    X, y = load_example(1500)
    X, y = X[["age", "job", "education"]].copy(), y.copy()
    X["education"] = X["education"].cat.add_categories(["Privatdozent"])
    X.loc[4, "job"], X.loc[4, "education"] = "Zweitausendeins", "Privatdozent"
    y[4] = "Geheimnis"
    shown = 0
    for _ in range(n_fits):
        synth = DPIndependentSynthesizer(epsilon=2.0).fit(X, y)
        X_syn, y_syn = synth.sample(50)
        words = f"{synth.classes_} {synth.schema_} {synth.privacy_} {vars(synth)}"
        words += f"{X_syn.to_csv()} {X_syn['education'].cat.categories} {list(y_syn)}"
        shown += any(secret in words for secret in SECRETS)
    return shown


def test_a_value_that_one_row_owns_is_never_shown():
    assert fits_that_show_a_unique_value() == 0


def test_a_class_list_read_from_the_rows_is_caught(monkeypatch):
    def leak(rows, ledger):
        (batch,) = rows.batches({}, tokens=(TARGET,))
        labels = sorted(batch.parts["tokens"][TARGET].values)
        return dict.fromkeys(labels, 1e9), 1.0

    monkeypatch.setattr(_opening, "discover_classes", leak)
    assert fits_that_show_a_unique_value(2) == 2


# ------------------------------------------------------- errors reveal nothing


def test_too_few_rows_for_discovery_is_decided_by_public_numbers():
    """Neighbours, and even strangers of one size, get the same words."""
    X, y = load_example(60)
    words = set()
    for table, labels in ((X, y), (X[::-1], y), (X.assign(job="Zweitausendeins"), y)):
        with pytest.raises(SchemaRequiredError) as error:
            DPIndependentSynthesizer(classes=["left", "stayed"]).fit(table, labels)
        words.add(str(error.value))
    assert len(words) == 1
    assert "Schema.template" in words.pop()


def test_labels_that_do_not_stand_out_are_not_named():
    X, _ = load_example(400)
    y = pd.Series([f"Geheimnis {i}" for i in range(400)])
    with pytest.raises(SchemaRequiredError, match="classes=") as error:
        DPIndependentSynthesizer(epsilon=0.5).fit(X[["owns_home"]], y)
    assert "Geheimnis" not in str(error.value)


@pytest.mark.filterwarnings("ignore::skdpgen.exceptions.SchemaWarning")
def test_a_schema_that_contradicts_the_rows_names_no_value():
    """Values that it does not list count as missing; nothing is raised."""
    X, y = load_example(500)
    X["job"] = "Zweitausendeins"
    X = X[["job", "owns_home"]]
    schema = Schema({"job": Boolean(), "owns_home": Boolean()})
    synth = DPIndependentSynthesizer(schema=schema, classes=["moved"])
    with pytest.warns(SchemaWarning, match="were left out") as told:
        synth.fit(X, y)
    assert "Zweitausendeins" not in str(vars(synth)) + str(told[0].message)
    with pytest.raises(SchemaError, match="without none") as error:
        synth.set_params(schema=Schema({"none": Boolean()})).fit(X, y)
    assert "Zweitausendeins" not in str(error.value)


def test_infinite_epsilon_adds_no_noise():
    X, y = load_example(1001)
    synth = DPIndependentSynthesizer(epsilon=float("inf"), schema=Schema.infer(X))
    counts = synth.fit(X, y).release_.values["columns"]
    assert (counts == counts.round()).all()
    assert counts.sum() == 1001 * X.shape[1]
    assert not synth.release_.noise_std["columns"]
