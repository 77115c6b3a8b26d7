"""Tables larger than memory: how often they are read, and what stops a fit."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from skdpgen import (
    DPHPSynthesizer,
    DPIndependentSynthesizer,
    DPMERFSynthesizer,
    DPNTKSynthesizer,
    DPPairwiseSynthesizer,
    Schema,
    plan,
)
from skdpgen.datasets import load_example
from skdpgen.tables import Boolean, Categorical, Chunks, Integer, Numeric
from tests._covering import parametrize_pairs
from tests._made import made
from tests.synthesizers._tables import settings_of

N = 3000
ONE_RELEASE = [
    DPIndependentSynthesizer,
    DPMERFSynthesizer,
    DPHPSynthesizer,
    DPNTKSynthesizer,
]


class Counted:
    """Rows in chunks that know how often they were opened."""

    def __init__(self, X, y, change=None, at=0):
        self.X, self.y, self.change, self.at, self.n_passes = X, y, change, at, 0

    def __call__(self):
        self.n_passes += 1
        X, y = self.X, self.y
        if self.change is not None and self.n_passes == self.at:
            X, y = self.change(X, y)
        for start in range(0, len(X), 1024):
            some = slice(start, start + 1024)
            yield X[some], y[some]


def example():
    X, y = load_example(N)
    rng = np.random.default_rng(0)
    X["income"] = rng.gamma(2.0, 1000.0, N).round(2)
    X["year"] = rng.integers(1990, 2020, N)
    X["balance_of_both_signs"] = rng.normal(0, 300.0, N)
    return X, y


def small(cls, **params):
    params = {"random_state": 0, "max_iter": 1, "n_features": 10, "width": 10} | params
    names = settings_of(cls)
    return made(cls, **{k: value for k, value in params.items() if k in names})


@pytest.fixture
def rows():
    X, y = example()
    return Counted(X, y)


def fit(synth, rows):
    return synth.fit(Chunks(rows, like=(rows.X[:0], rows.y[:0])))


@pytest.mark.filterwarnings("ignore")
@parametrize_pairs(
    "cls, epsilon, adjacency", ONE_RELEASE, [1.0, 50.0], ["replace", "add_remove"]
)
def test_passes_are_as_many_as_planned(cls, epsilon, adjacency, rows):
    fit(small(cls, epsilon=epsilon, adjacency=adjacency), rows)
    planned = plan(N, rows.X.shape[1], epsilon).n_passes
    assert 4 <= rows.n_passes < planned == 6  # nothing may be left to ask


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("epsilon", [1.0, 50.0, float("inf")])
def test_passes_for_pairs(epsilon, rows):
    fit(small(DPPairwiseSynthesizer, epsilon=epsilon), rows)
    asked = 50.0 if epsilon > 50 else epsilon
    assert 4 <= rows.n_passes <= plan(N, rows.X.shape[1], asked).n_passes_pairwise


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("cls", [DPIndependentSynthesizer, DPPairwiseSynthesizer])
def test_text_of_a_target_takes_a_pass_of_its_own(cls):
    """Its form is released before its bins, which no other target needs."""
    X, _ = example()
    amounts = X.pop("income").map("{:,.2f} kg".format)
    rows = Counted(X, amounts)
    fit(small(cls, epsilon=50.0, task="regression"), rows)
    planned = plan(N, X.shape[1], 50.0)
    if cls is DPIndependentSynthesizer:
        assert rows.n_passes == planned.n_passes == 6
    assert rows.n_passes <= planned.n_passes_pairwise == 12


def test_passes_with_a_schema():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=N), "b": rng.integers(0, 9, N)})
    rows = Counted(X, pd.Series(rng.random(N) < 0.5, name="c"))
    schema = Schema({"a": Numeric(-5.0, 5.0), "b": Integer(0, 8)}, target=Boolean())
    fit(DPIndependentSynthesizer(schema=schema), rows)
    expected = plan(N, 2, is_schema_public=True)
    assert 3 <= rows.n_passes <= expected.n_passes == 4
    categories = Schema({"a": Categorical([1, 2]), "b": Integer(0, 8)})
    rows = Counted(rows.X.assign(a=1), rows.y)
    fit(DPIndependentSynthesizer(schema=categories, classes=[False, True]), rows)
    assert rows.n_passes == 3  # to count rows, values that do not fit, and the release


def longer(X, y):
    return pd.concat([X, X[:1]]), pd.concat([y, y[:1]])


def other_columns(X, y):
    return X.rename(columns={"income": "salary"}), y


def other_dtypes(X, y):
    return X.assign(income=X["income"].astype(str)), y


def no_labels(X, y):
    return X, [None] * len(y)


CHANGES = {
    "rows": (longer, "another number of rows"),
    "columns": (other_columns, "columns of the first"),
    "dtypes": (other_dtypes, "'income' must have the kind of the first chunk, float"),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("at", [2, 3, 4])
@pytest.mark.parametrize("change", CHANGES)
def test_a_source_that_changes_is_an_error_that_keeps_what_was_paid(change, at):
    how, message = CHANGES[change]
    rows = Counted(*example(), how, at)
    synth = DPIndependentSynthesizer(random_state=0)
    with pytest.raises(ValueError, match=message):
        fit(synth, rows)
    assert rows.n_passes == at
    names = [entry.name for entry in synth.privacy_.releases]
    assert names[0] == "class labels"
    assert names[1].startswith("kinds and numbers of values of")
    assert ("octaves" in " ".join(names)) == (at > 1)
    assert 0 < synth.privacy_.spent <= 1
    assert not hasattr(synth, "_model")


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_wrong_in_the_first_pass_costs_nothing(change):
    how, message = CHANGES[change]
    rows = Counted(*example(), how, 1)
    synth = DPIndependentSynthesizer(random_state=0)
    if change == "rows":
        fit(synth, Counted(*longer(*example())))
        return
    with pytest.raises(ValueError, match=message):
        fit(synth, rows)
    assert not hasattr(synth, "privacy_")


def test_the_number_of_rows_may_change_where_it_is_private():
    rows = Counted(*example(), longer, 4)
    synth = DPIndependentSynthesizer(adjacency="add_remove", random_state=0)
    fit(synth, rows)
    assert rows.n_passes >= 4


def test_chunks_are_the_whole_to_the_bit():
    X, y = example()
    found = []
    for given in ((X, y), (Chunks(Counted(X, y)),)):
        synth = DPIndependentSynthesizer(epsilon=float("inf"), random_state=0)
        found.append(synth.fit(*given).release_.values["columns"])
    np.testing.assert_array_equal(*found)


def test_rows_of_arrow_in_chunks():
    X, y = example()
    table = pa.Table.from_pandas(X)
    chunks = [(table.slice(i, 999), y[i : i + 999]) for i in range(0, N, 999)]
    synth = DPIndependentSynthesizer(random_state=0).fit(Chunks(lambda: chunks))
    assert synth.sample(3)[0].column_names == table.column_names
