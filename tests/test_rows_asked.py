"""Rows are asked for sums by one method, wherever they are kept."""

import numpy as np
import pandas as pd
import pytest

from skdpgen.exceptions import RowsElsewhereError
from skdpgen.parties import GuardedParty, Parties, Party
from skdpgen.privacy import (
    Adjacency,
    Counts,
    GivenBatches,
    Histograms,
    Ledger,
    NoiseShares,
    NoiseWanted,
    PrivacyBudget,
    Query,
    Summable,
    pair_keys,
    release,
)
from skdpgen.tables import CategoryCells, Chunks, NumberCells, Rows
from skdpgen.utils import Key

N = 100
CELLS = {
    "age": NumberCells(np.array([0.0, 30.0, 60.0, 90.0]), nullable=True),
    "job": CategoryCells(("nurse", "cook"), nullable=True),
}
LABELS = CategoryCells(("no", "yes"), nullable=False)
BLOCKS = {
    str(Key.COLUMNS): Histograms(tuple(c.n_cells for c in CELLS.values())),
    str(Key.CLASSES): Counts(),
}
NAMES = ("north", "south", "west")
SHARES = NoiseShares.honest_majority(3)
BUDGET = {"epsilon": 2.0, "delta": 1e-5}


def table():
    rng = np.random.default_rng(0)
    ages = pd.Series(rng.integers(-5, 100, N)).astype("Int64")
    ages[::9] = pd.NA
    jobs = rng.choice(["nurse", "cook", "smith"], N)
    y = pd.Series(rng.choice(["no", "yes", "perhaps"], N), name="y")
    return pd.DataFrame({"age": ages, "job": jobs}), y


def in_memory(X, y):
    return X, y


def in_chunks(X, y):
    return Chunks(lambda: ((X[i : i + 7], y[i : i + 7]) for i in range(0, N, 7))), None


def in_arrow(X, y):
    dataset = pytest.importorskip("pyarrow.dataset")
    pa = pytest.importorskip("pyarrow")
    return dataset.dataset(pa.Table.from_pandas(X.assign(y=y))), "y"


def in_dask(X, y):
    dd = pytest.importorskip("dask.dataframe")
    both = dd.from_pandas(X.assign(y=y), npartitions=5, sort=False)
    return both[["age", "job"]], both["y"]


def with_parties(X, y):
    return Parties([Party(name, X[i::3], y[i::3]) for i, name in enumerate(NAMES)]), (
        None
    )


def with_guarded_parties(X, y):
    keys = pair_keys(NAMES)
    how = {"noise": SHARES, **BUDGET}
    parties = [
        GuardedParty(name, X[i::3], y[i::3], keys=keys[name], **how)
        for i, name in enumerate(NAMES)
    ]
    return Parties(parties, n_rows=N, noise=SHARES), None


HERE = [in_memory, in_chunks, in_arrow]
ELSEWHERE = [in_dask, with_parties]


def opened(place):
    return Rows.read(*place(*table()))


def query_of(batches):
    return Query(batches.encoder, BLOCKS, LABELS.n_cells)


@pytest.mark.parametrize("place", [*HERE, *ELSEWHERE])
def test_all_rows_answer_a_query_with_the_same_sums(place):
    batches = opened(place).batches(CELLS, LABELS)
    found = batches.total(query_of(batches))
    (whole,) = opened(in_memory).batches(CELLS, LABELS)
    expected = GivenBatches([whole]).total(query_of(GivenBatches(())))
    assert found.keys() == expected.keys()
    for key, value in expected.items():
        np.testing.assert_array_equal(found[key], value)
    assert found[Key.CLASSES].sum() == (table()[1] != "perhaps").sum()


@pytest.mark.parametrize("place", [*HERE, *ELSEWHERE, with_guarded_parties])
def test_all_rows_have_what_a_release_asks_of_them(place):
    rows = opened(place)
    batches = rows.batches(CELLS, LABELS)
    wanted = {name for name in vars(Summable) if not name.startswith("_")}
    assert wanted == {"encoder", "are_here", "noise_shares", "total"}
    assert all(hasattr(batches, name) for name in wanted)
    assert batches.are_here is (place in HERE)
    assert (batches.noise_shares is None) is (place is not with_guarded_parties)
    rows.close()
    with pytest.raises(RuntimeError, match="closed"):
        batches.total(query_of(batches))


@pytest.mark.parametrize("place", [in_memory, in_dask, with_guarded_parties])
def test_noise_is_added_once(place):
    """Noise is that of the release, or its share of parties: within 9 deviations."""
    ledger = Ledger(PrivacyBudget(**BUDGET, adjacency=Adjacency.REPLACE))
    batches = opened(place).batches(CELLS, LABELS)
    found = release(
        batches, BLOCKS, name="x", ledger=ledger, share=0.5, n_classes=LABELS.n_cells
    )
    exact = opened(in_memory).batches(CELLS, LABELS)
    exact = exact.total(query_of(exact))
    for key, block in BLOCKS.items():
        off = (found.values[key] - block.value(exact[key])) / found.noise_std[key]
        assert 0.0 < np.abs(off).max() < 9.0
    excess = SHARES.excess if place is with_guarded_parties else 1.0
    std = ledger.entries[-1].noise_std
    assert found.noise_std[Key.COLUMNS] == pytest.approx(std * excess)


def test_parties_that_add_noise_send_no_sums_without():
    batches = opened(with_guarded_parties).batches(CELLS, LABELS)
    with pytest.raises(RowsElsewhereError, match="no sums without"):
        batches.total(query_of(batches))


def test_a_query_of_rows_that_are_here_costs_what_the_ledger_says_alone():
    """How much noise is wanted changes no sum that this process makes."""
    batches = opened(in_chunks).batches(CELLS, LABELS)
    query, wanted = query_of(batches), NoiseWanted("x", 0.5, {}, 1.0)
    plain, told = batches.total(query), batches.total(query, wanted)
    for key in BLOCKS:
        np.testing.assert_array_equal(plain[key], told[key])


@pytest.mark.parametrize("place", [in_dask, with_parties, with_guarded_parties])
def test_rows_elsewhere_are_not_cut_into_minibatches(place):
    ledger = Ledger(PrivacyBudget(**BUDGET))
    batches = opened(place).batches(CELLS, LABELS)
    how = {"name": "x", "ledger": ledger, "share": 0.5, "n_minibatches": 2}
    with pytest.raises(RowsElsewhereError, match="mini-batches"):
        release(batches, BLOCKS, **how)
    assert ledger.entries == []


def test_no_row_is_printed():
    batches = opened(in_memory).batches(CELLS, LABELS)
    printed = f"{batches!r} {GivenBatches(list(batches))!r}"
    assert "EncodedBatch(" not in printed
    assert "smith" not in printed
