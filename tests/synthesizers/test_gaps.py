"""Rows beyond a range: one count shows them, or one of each class."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from skdpgen import DPIndependentSynthesizer, DPMGESynthesizer
from skdpgen.privacy import (
    Ledger,
    PrivacyBudget,
    Release,
    insecure_noise_seed,
    release,
)
from skdpgen.synthesizers.opening import (
    class_histograms,
    pools_gaps,
    with_shared_gaps,
)
from skdpgen.tables import CategoryCells, NumberCells
from skdpgen.training import class_conditional_model, pooled_noise
from skdpgen.utils import Key

EDGES = np.array([-7.5, -0.5, 9.5, 19.5, 39.5])
CELLS = {
    "number": NumberCells(EDGES, False, 1.0, gaps=(0, 3)),
    "colour": CategoryCells(("red", "blue"), nullable=False, other=None),
}


def released(counts, std=1.0):
    return Release(
        {Key.COLUMNS.value: counts}, {Key.COLUMNS.value: std}, 1.0, 1.0, "replace"
    )


def test_a_row_in_a_gap_counts_in_the_first_class_alone():
    block = class_histograms(CELLS)
    assert block.pooled == ((0, 3), ())
    codes = np.array([[0, 1], [3, 1], [1, 0], [3, 0], [3, 1]])
    total = block.add(block.start(3), codes, np.array([1, 2, 2, 0, -1]))
    expected = np.zeros((3, 6))
    expected[0, [0, 3]] = 1, 2  # the row without a label counts nowhere
    expected[2, 1] = 1
    for label, colour in ((1, 1), (2, 1), (2, 0), (0, 0)):
        expected[label, 4 + colour] += 1
    np.testing.assert_array_equal(total, expected)


def test_without_gaps_nothing_is_pooled():
    cells = {"number": replace(CELLS["number"], gaps=()), "colour": CELLS["colour"]}
    assert class_histograms(cells).pooled is None
    counts = np.arange(12.0).reshape(2, 6)
    assert with_shared_gaps(released(counts), cells).of_cells is None


def test_groups_of_rows_have_no_pooled_cells():
    ledger = Ledger(PrivacyBudget(1.0, 1e-5))
    with pytest.raises(ValueError, match="first group"):
        release(
            None,
            {Key.COLUMNS: class_histograms(CELLS)},
            name="groups",
            ledger=ledger,
            share=1.0,
            n_minibatches=3,
        )
    assert ledger.remaining == Ledger(PrivacyBudget(1.0, 1e-5)).remaining


def test_the_count_of_a_gap_is_divided_among_the_classes():
    counts = np.array(
        [
            [40.0, 30.0, 30.0, 8.0, 30.0, 30.0],
            [-3.0, 60.0, 60.0, 5.0, 60.0, 60.0],
        ]
    )
    shared = with_shared_gaps(released(counts), CELLS)
    values = shared.values[Key.COLUMNS]
    np.testing.assert_allclose(values[:, 0], [40 / 3, 80 / 3])
    np.testing.assert_allclose(values[:, 3], [8 / 3, 16 / 3])
    np.testing.assert_array_equal(values[:, [1, 2, 4, 5]], counts[:, [1, 2, 4, 5]])
    two = np.sqrt(2.0)
    np.testing.assert_array_equal(shared.of_cells[0], [1.0, two, two, 1.0])
    np.testing.assert_array_equal(shared.of_cells[1], [two, two])


@pytest.mark.parametrize("n_classes", [1, 2, 9])
def test_the_noise_that_is_stated_is_the_noise_of_one_count(n_classes):
    rng = np.random.default_rng(0)
    noise = [
        with_shared_gaps(released(rng.normal(size=(n_classes, 6)) + 50.0), CELLS)
        for _ in range(2000)
    ]
    sums = np.array([x.values[Key.COLUMNS].sum(axis=0) for x in noise])
    blocks = [noise[0].values[Key.COLUMNS][:, :4], noise[0].values[Key.COLUMNS][:, 4:]]
    stated = np.concatenate(pooled_noise(noise[0], blocks, np.ones(2)))
    np.testing.assert_allclose(sums.std(axis=0), stated, rtol=0.1)  # 6 std errors


def test_a_gap_is_kept_by_the_noise_of_one_count():
    # 20 classes, noise 10: the gap above holds 60 rows, 6 standard errors of one
    # count, and 1.3 of twenty.
    counts = np.full((20, 6), 50.0)
    counts[:, [0, 3]] = 0.0
    counts[0, [0, 3]] = 5.0, 60.0
    shared = with_shared_gaps(released(counts, 10.0), CELLS)
    model = class_conditional_model(shared, CELLS, None, discovered=["number"])
    of_number = np.asarray(model.marginals["number"])
    assert of_number[0] == 0
    assert of_number[3] > 0.015


@pytest.mark.filterwarnings("ignore::skdpgen.exceptions.NotPrivateWarning")
def test_a_range_holds_its_column_with_many_classes():
    rng = np.random.default_rng(0)
    n = 8000
    y = rng.integers(0, 20, n)
    amount = rng.integers(100, 160, n)
    amount[: n // 20] = rng.integers(700, 1500, n // 20)  # 5 % lie far above
    X = pd.DataFrame({f"a{k}": rng.permutation(amount) for k in range(8)})
    with insecure_noise_seed(0):
        fitted = DPIndependentSynthesizer(1.0, delta=1e-5, random_state=0).fit(
            X, pd.Series(y).map("class {}".format)
        )
    held = [
        ((X[name] >= column.lower) & (X[name] <= column.upper)).mean()
        for name, column in fitted.schema_.columns.items()
    ]
    assert min(held) > 0.97
    report = fitted.columns_
    stated = report[["above", "above_noise"]].dropna()
    truth = [(X[name] > fitted.schema_.columns[name].upper).mean() for name in X]
    off = np.abs(report["above"].to_numpy(float) - truth)
    assert len(stated) > 0
    assert (off <= 4.5 * report["above_noise"].fillna(1)).all()


def test_gaps_are_counted_by_class_where_noise_is_small():
    # noise of 8 columns with all of epsilon = 1: about 15 rows, 21 of both classes
    for n_rows, n_classes, expected in (
        (20_000, 2, False),
        (5_000, 2, True),
        (20_000, 20, True),
        (400_000, 20, False),
    ):
        opening = SimpleNamespace(
            ledger=Ledger(PrivacyBudget(1.0, 1e-5)),
            facts=SimpleNamespace(n_rows=n_rows),
        )
        assert pools_gaps(opening, 8, n_classes, 1.0) == expected


@pytest.mark.filterwarnings("ignore::skdpgen.exceptions.NotPrivateWarning")
@pytest.mark.parametrize("method", [DPIndependentSynthesizer, DPMGESynthesizer])
def test_rare_rows_of_a_tail_keep_their_class(method):
    rng = np.random.default_rng(0)
    n = 40_000
    y = rng.integers(0, 2, n)
    gain = np.where(rng.random(n) < 0.05, rng.integers(2000, 3000, n), 0)
    far = np.flatnonzero(y == 1)[:300]
    gain[far] = 99_999
    X = pd.DataFrame({"gain": gain, "age": rng.integers(20, 60, n)})
    with insecure_noise_seed(0):
        fitted = method(1.0, delta=1e-5, random_state=0).fit(
            X, pd.Series(y).map("class {}".format)
        )
    drawn, labels = fitted.sample(n, random_state=0)
    is_far = drawn["gain"] > 20_000
    assert 100 < is_far.sum() < 600
    assert (labels[is_far] == "class 1").mean() > 0.8
