"""What a plan states is what fits have: noise of cells, categories that are found."""

import numpy as np
import pandas as pd
import pytest

from skdpgen import (
    DPIndependentSynthesizer,
    DPPairwiseSynthesizer,
    Numeric,
    Schema,
    plan,
)
from skdpgen.privacy import insecure_noise_seed

N, COLUMNS = 20_000, 8
pytestmark = pytest.mark.filterwarnings("ignore")


def fitted(cls, X):
    y = np.random.default_rng(1).choice(["A", "B"], N)
    params = {"max_iter": 1} if cls is DPPairwiseSynthesizer else {}
    with insecure_noise_seed(0):
        return cls(classes=["A", "B"], random_state=0, **params).fit(X, y)


@pytest.mark.parametrize(
    ("cls", "stated"),
    [(DPIndependentSynthesizer, 18.1), (DPPairwiseSynthesizer, 25.6)],
)
def test_the_noise_of_a_cell_is_stated_for_its_method(cls, stated):
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(N, COLUMNS)))
    noise = fitted(cls, X).columns_["noise"].mean() * N / np.sqrt(2)  # of one class
    assert noise == pytest.approx(stated, rel=0.02)
    (line,) = (s for s in plan(N, COLUMNS)._expectations() if "each cell" in s)
    assert f"{stated} " in line.partition(cls.__name__)[0]


def test_noise_is_of_one_method_without_pairs_and_discovery():
    lines = plan(1_000, 14, is_schema_public=True)._expectations()
    (line,) = (s for s in lines if "each cell" in s)
    assert line.endswith("with DPIndependentSynthesizer")


@pytest.mark.parametrize("cls", [DPIndependentSynthesizer, DPPairwiseSynthesizer])
def test_a_category_of_the_stated_size_is_found(cls):
    """At a fifth of it none is found, and between these some are."""
    rng = np.random.default_rng(0)
    needed = plan(N, COLUMNS).smallest_category
    sizes = {"none": int(0.2 * needed), "some": int(0.4 * needed), "all": int(needed)}
    named = np.repeat(list(sizes), list(sizes.values()))
    words = np.r_[named, rng.choice(["P", "Q", "R"], N - len(named))]
    X = pd.DataFrame({f"c{i}": rng.permutation(words) for i in range(COLUMNS)})
    columns = fitted(cls, X).schema_.columns
    found = {
        size: sum(size in set(column.categories) for column in columns.values())
        for size in sizes
    }
    assert found["none"] == 0
    assert found["all"] == COLUMNS
    assert 0 < found["some"] <= COLUMNS


@pytest.mark.parametrize("n", [1_200, 1_230])  # without and with pairs
@pytest.mark.parametrize("is_schema_public", [False, True])
def test_a_fit_has_pairs_from_as_many_rows_as_the_plan_says(n, is_schema_public):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(n, 5)), columns=list("abcde"))
    schema = (
        Schema(dict.fromkeys("abcde", Numeric(-8, 8))) if is_schema_public else None
    )
    expected = plan(n, 5, classes=1, is_schema_public=is_schema_public)
    assert bool(expected.n_pairs) == (n == 1_230 or is_schema_public)
    with insecure_noise_seed(0):
        pairwise = DPPairwiseSynthesizer(schema=schema, max_iter=1, random_state=0)
        pairwise.fit(X)
    names = [release.name for release in pairwise.privacy_.releases]
    counted = [name for name in names if "pairs of columns" in name]
    stated = f"{expected.n_pairs} pairs of columns"
    assert [name.partition(",")[0] for name in counted][:1] == (
        [stated] if expected.n_pairs else []
    )
