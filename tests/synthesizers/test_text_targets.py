"""A target of text that says numbers: released counts alone decide that it is one."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from skdpgen import DPIndependentSynthesizer, Numeric, Schema
from skdpgen.exceptions import (
    NotPrivateWarning,
    SchemaRequiredError,
    SchemaWarning,
)
from skdpgen.privacy import Adjacency, Ledger, PrivacyBudget, insecure_noise_seed
from skdpgen.synthesizers.opening import _binning, _first_look
from skdpgen.synthesizers.opening._known_columns import Known
from skdpgen.tables import Rows, as_numbers, read_values
from skdpgen.tables._encoder import read_labels
from skdpgen.tables._layout import Kind, Layout

NAME = "kinds of values of the target"


def fitted(y, adjacency="replace", **params):
    X = pd.DataFrame({"a": np.arange(len(y)) % 7})
    params = {"epsilon": 2.0, "adjacency": adjacency} | params
    with pytest.warns(NotPrivateWarning), insecure_noise_seed(0):
        return DPIndependentSynthesizer(**params).fit(X, y)


@pytest.fixture(scope="module")
def amounts():
    return np.random.default_rng(0).lognormal(9, 1, 2000).round(2)


@pytest.mark.parametrize("form", ["{:.2f}", "{:,.2f}"])
@pytest.mark.parametrize(
    ("adjacency", "moved"), [("replace", math.sqrt(2)), ("add_remove", 1.0)]
)
def test_text_of_numbers_is_a_number(amounts, form, adjacency, moved):
    y = pd.Series([form.format(one) for one in amounts])
    y[:100] = form.format(500_001)  # the one label that is found
    synthesizer = fitted(y, adjacency)
    assert synthesizer.task_ == "regression"
    (entry,) = [one for one in synthesizer.privacy_.releases if one.name == NAME]
    assert entry.sensitivity == pytest.approx(moved)
    assert entry.noise_std > 0
    assert "y: its values are numbers, or text that says numbers" in str(
        synthesizer.privacy_
    )
    _, drawn = synthesizer.sample(1000, random_state=0)
    assert drawn.dtype == y.dtype
    drawn = drawn.astype(float)
    assert drawn.nunique() > 500
    assert 5_000 < drawn.median() < 13_000


@pytest.mark.filterwarnings("ignore::skdpgen.exceptions.SchemaWarning")
def test_released_counts_decide_and_not_the_rows(amounts, monkeypatch):
    def nothing(released, grids):
        return {name: np.zeros(grid.n_cells) for name, grid in grids.items()}

    monkeypatch.setattr(_first_look, "by_column", nothing)
    y = pd.Series(amounts.astype(str))
    y[:100] = "500001.0"
    synthesizer = fitted(y)
    assert hasattr(synthesizer, "classes_")  # and so no numbers
    assert list(synthesizer.classes_) == ["500001.0"]


@pytest.mark.parametrize("make", [float, lambda one: Decimal(str(one)), round])
def test_objects_that_are_numbers_are_a_number(amounts, make):
    y = pd.Series([make(one) for one in amounts], dtype=object)
    synthesizer = fitted(y)
    assert synthesizer.task_ == "regression"
    assert "y: its values are numbers, or text that says numbers" in str(
        synthesizer.privacy_
    )
    drawn = synthesizer.sample(1000, random_state=0)[1]
    assert drawn.dtype == object
    assert 5_000 < drawn.astype(float).median() < 13_000


@pytest.mark.parametrize("make", [lambda i: f"0{i:05d}", lambda i: f"word {i}"])
def test_codes_and_words_are_no_numbers(make):
    with pytest.raises(SchemaRequiredError, match="class label"):
        fitted(pd.Series([make(i) for i in range(2000)]))


def test_few_labels_cost_nothing_more():
    synthesizer = fitted(pd.Series([str(i % 3) for i in range(2000)]))
    assert list(synthesizer.classes_) == ["0", "1", "2"]
    assert NAME not in [one.name for one in synthesizer.privacy_.releases]


@pytest.mark.filterwarnings("error::skdpgen.exceptions.SchemaWarning")
@pytest.mark.parametrize("task", ["auto", "regression"])
@pytest.mark.parametrize(
    ("form", "shown"),
    [("{:.2f} kg", "'1234.56… kg'"), ("{:,.2f}", "'1,234.56…'"), ("{:.2f}", None)],
)
def test_both_tasks_read_the_form_of_the_text(amounts, task, form, shown):
    y = pd.Series([form.format(one) for one in amounts])
    y[:100] = form.format(500_001)  # the one label that is found
    synthesizer = fitted(y, task=task)
    assert synthesizer.task_ == "regression"
    assert synthesizer.target_["dropped"] < 0.03
    assert synthesizer.lost_ == []
    certificate = str(synthesizer.privacy_)
    assert ("found privately; drawn as plain numbers" in certificate) is bool(shown)
    assert shown is None or f"y: text in the form {shown}" in certificate
    _, drawn = synthesizer.sample(1000, random_state=0)
    assert drawn.dtype == y.dtype
    assert 5_000 < drawn.astype(float).median() < 13_000  # without a unit


@pytest.mark.parametrize(
    ("adjacency", "moved"), [("replace", math.sqrt(2)), ("add_remove", 1.0)]
)
def test_the_form_of_a_regression_is_a_release_of_its_own(amounts, adjacency, moved):
    y = pd.Series([f"{one:.2f} kg" for one in amounts])
    synthesizer = fitted(y, adjacency, task="regression")
    (entry,) = [one for one in synthesizer.privacy_.releases if one.name == NAME]
    assert entry.sensitivity == pytest.approx(moved)
    assert entry.noise_std > 0
    assert 0 < entry.share <= _first_look.LOOK_SHARES[1]
    assert synthesizer.privacy_.spent == pytest.approx(1.0)


def test_released_counts_decide_the_form_as_well(amounts, monkeypatch):
    def nothing(released, grids):
        return {name: np.zeros(grid.n_cells) for name, grid in grids.items()}

    y = pd.Series([f"{one:.2f} kg" for one in amounts])
    monkeypatch.setattr(_first_look, "by_column", nothing)
    with pytest.warns(SchemaWarning, match=r"and as numbers\. Text is read as"):
        fitted(y, task="regression", schema=Schema({"a": Numeric(0, 6)}))


def test_half_of_the_cells_decide_the_form_of_a_regression(amounts):
    y = pd.Series([f"{one:.2f} kg" for one in amounts], dtype=object)
    y[: len(y) // 4] = "about that"
    with pytest.warns(SchemaWarning, match="have no number as their target"):
        synthesizer = fitted(y, task="regression", epsilon=math.inf)
    assert synthesizer.target_["dropped"] == pytest.approx(0.25)


def test_a_described_target_is_plain_numbers_and_costs_no_look(amounts):
    public = Schema(target=Numeric(0, 500_000))
    y = pd.Series([f"{one:.2f}" for one in amounts])
    synthesizer = fitted(y, task="regression", schema=public)
    assert NAME not in [one.name for one in synthesizer.privacy_.releases]
    assert synthesizer.lost_ == []
    with pytest.warns(SchemaWarning, match="without a target in the schema"):
        fitted(y + " kg", task="regression", schema=public)


def test_numbers_pay_for_no_form():
    synthesizer = fitted(pd.Series(np.linspace(0, 1, 2000)), task="regression")
    assert NAME not in [one.name for one in synthesizer.privacy_.releases]


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_a_share_of_steps_leaves_the_form_its_part(amounts, adjacency):
    """It is fixed before the first release, and the form may need its most."""
    X = pd.DataFrame({"a": np.arange(len(amounts)) % 7})
    left = []
    for y in (amounts, amounts.astype(str)):
        rows = Rows.read(X, y, task="regression")
        known = Known.of(rows, Schema(), None, "regression")
        ledger = Ledger(PrivacyBudget(1.0, 1e-6, Adjacency(adjacency)))
        left.append(_binning.least_left(known, ledger, len(X)))
    assert left[0] - left[1] == pytest.approx(_first_look.LOOK_SHARES[1])


CELLS = ["7.5", " 8", "1e3", "soon", "inf", None, np.nan, 7, 7.25, np.float32(0.1)]
CELLS += [True, np.bool_(False), Decimal("1.5"), Fraction(1, 3), b"12", 2j, pd.NA]
CELLS += [pd.Timestamp("2024-01-01"), np.str_("3"), 10**400, 2**60 + 1, (1, 2)]


@pytest.mark.parametrize(
    "dtype", [object, "category", "str", "string", "string[pyarrow]"]
)
def test_cells_of_a_regression_are_the_same_numbers_as_before_their_form(dtype):
    cells = CELLS if dtype in (object, "category") else [*map(str, CELLS), None]
    y = pd.Series(cells, dtype=object).astype(dtype)
    layout = Layout("pandas", ("y",), (Kind.TEXT,), (str(dtype),))
    found = as_numbers(read_labels(y, layout, "regression"))
    np.testing.assert_array_equal(found, read_values(y, Kind.FLOAT).values)
    one_by_one = [read_labels(y[i : i + 1], layout, "regression") for i in y.index]
    np.testing.assert_array_equal(np.ravel([*map(as_numbers, one_by_one)]), found)


@pytest.mark.parametrize("task", ["auto", "regression"])
def test_dates_as_text_are_not_read_but_the_warning_says_what_to_do(task):
    days = pd.Series(pd.date_range("2020-01-01", periods=2000).astype(str))
    days[:200] = "2020-05-05"  # the one label that is found
    with pytest.warns(SchemaWarning, match=r"by `pd\.to_datetime\(y\)`"):
        fitted(days, task=task)
