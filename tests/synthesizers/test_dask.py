"""Fits on collections of Dask: the bits of the fit in memory, whatever workers do."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from skdpgen import (
    DPGANSynthesizer,
    DPKernelSynthesizer,
    DPMERFSynthesizer,
    Generator,
)
from skdpgen.datasets import load_example
from skdpgen.exceptions import RowsElsewhereError
from skdpgen.privacy import Query
from skdpgen.tables import Rows
from skdpgen.utils import Key
from tests._covering import parametrize_pairs
from tests.synthesizers._fits_alike import (
    SYNTHESIZERS,
    assert_alike,
    fitted,
    releases,
)

dask = pytest.importorskip("dask")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")

N, N_PARTS = 3000, 11
pytestmark = pytest.mark.filterwarnings("ignore::skdpgen.exceptions.LargeDeltaWarning")


def of_dask(X, y):
    return (
        dd.from_pandas(X, npartitions=N_PARTS, sort=False),
        dd.from_pandas(y, npartitions=N_PARTS, sort=False),
    )


@pytest.fixture(scope="module")
def tables():
    """The same rows in memory and in partitions; Dask has text in Arrow's memory."""
    X, y = of_dask(*load_example(N))
    return (X.compute(), y.compute()), (X, y)


@parametrize_pairs(
    "params, synth",
    [{}, {"adjacency": "add_remove"}, {"epsilon": None}],
    SYNTHESIZERS,
    strength=1,
    ids=lambda one: ",".join(one) if isinstance(one, dict) else type(one).__name__,
)
def test_partitions_give_the_bits_of_the_whole(synth, params, tables):
    params = {k: float("inf") if v is None else v for k, v in params.items()}
    here, there = tables
    one, other = fitted(synth, *here, **params), fitted(synth, *there, **params)
    assert_alike(one, other)
    line = "rows in partitions of Dask: their workers see rows"
    assert any(said.startswith(line) for said in other.privacy_.statements)


@pytest.mark.filterwarnings(
    "ignore::skdpgen.exceptions.SchemaWarning"
)  # of missing incomes
def test_without_labels_and_with_a_number_as_target(tables):
    (X, _), (there, _) = tables
    X, there = X.drop(columns="income"), there.drop(columns="income")
    synth = SYNTHESIZERS[0]
    one, other = fitted(synth, X, None), fitted(synth, there, None)
    assert releases(one) == releases(other)
    (X, _), (there, _) = tables
    y, y_there = X["income"], there["income"]
    one, other = fitted(synth, X, y), fitted(synth, there, y_there)
    assert one.task_ == other.task_ == "regression"
    assert releases(one) == releases(other)


def test_arrays_of_dask(tables):
    import dask.array as da

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1000, 4)), rng.integers(0, 2, 1000)
    there = da.from_array(X, chunks=(300, 2)), da.from_array(y, chunks=300)
    synth = SYNTHESIZERS[0]
    assert_alike(fitted(synth, X, y), fitted(synth, *there))


def die(part, folder, name, at):
    """Kill the worker that reads a partition, at some of its readings."""
    mine = Path(folder)
    n = len(list(mine.glob(f"{name}-*")))
    (mine / f"{name}-{n}").touch()
    if n in at:
        os._exit(1)
    return part


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("synth", "plan"),
    [
        pytest.param(SYNTHESIZERS[0], {1: (2,)}, id="one"),
        pytest.param(SYNTHESIZERS[1], {1: (0, 3), 4: (2, 5)}, id="four"),
    ],
)
def test_workers_that_die_change_nothing(synth, plan, tables, tmp_path):
    """Two processes; ``plan`` says at which readings of a partition its reader dies."""
    here, (X, y) = tables
    parts = [
        dask.delayed(die)(part, str(tmp_path), i, plan.get(i, ()))
        for i, part in enumerate(X.to_delayed())
    ]
    mortal = dd.from_delayed(parts, meta=X._meta, verify_meta=False)
    how = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 20}),
        distributed.LocalCluster(processes=True, **how) as cluster,
        distributed.Client(cluster),
    ):
        found = fitted(synth, mortal, y)
    for name, readings in plan.items():
        assert len(list(tmp_path.glob(f"{name}-*"))) > max(readings) + 1
    assert_alike(fitted(synth, *here), found)


def test_what_leaves_a_partition_are_sums(tables):
    _, (X, y) = tables
    rows, seen = Rows.read(X, y), []

    class Watching(Query):
        def sums(self, chunks):
            seen.append(super().sums(chunks))
            return seen[-1]

    from skdpgen.privacy import Histograms
    from skdpgen.tables import CategoryCells

    batches = rows.batches({"job": CategoryCells(("nurse",), True)})
    query = Watching(batches.encoder, {Key.COLUMNS: Histograms((2,))}, 1)
    with dask.config.set(scheduler="synchronous"):
        total = batches.total(query)
    assert len(seen) == N_PARTS
    assert all(one[Key.COLUMNS].shape == (1, 2) for one in seen)
    assert (sum(one[Key.COLUMNS] for one in seen) == total[Key.COLUMNS]).all()


def test_rows_themselves_are_not_to_be_had(tables):
    _, (X, y) = tables
    rows = Rows.read(X, y)
    with pytest.raises(RowsElsewhereError, match=r"X\.compute\(\)"):
        iter(rows.batches({}))
    rows.close()
    with pytest.raises(RuntimeError, match="closed"):
        iter(rows.batches({}))


@pytest.mark.parametrize(
    "synth",
    [
        DPGANSynthesizer(),
        DPKernelSynthesizer(algorithm="per_step"),
        DPMERFSynthesizer(generator=Generator(n_minibatches=10)),
    ],
    ids=repr,
)
def test_what_needs_rows_is_refused_before_it_costs(synth, tables):
    _, (X, y) = tables
    with pytest.raises(RowsElsewhereError, match="sums"):
        synth.fit(X, y)
    assert not hasattr(synth, "privacy_")


def test_what_does_not_fit_together_is_refused(tables):
    (X, y), (there, labels) = tables
    synth = SYNTHESIZERS[0]
    with pytest.raises(ValueError, match="both be collections of Dask"):
        synth.fit(there, y)
    with pytest.raises(ValueError, match="both be collections of Dask"):
        synth.fit(X, labels)
    with pytest.raises(ValueError, match="same partitions"):
        synth.fit(there, labels.repartition(npartitions=2))


def grow(part, path):
    """Return more rows each time that the first partition is read."""
    n = len(list(path.iterdir()))
    (path / str(n)).touch()
    return part if n < 3 else pd.concat([part, part[:1]])


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_rows_that_change_between_passes(adjacency, tables, tmp_path):
    """An error if their number is public; if not, the error would tell it."""
    _, (X, _) = tables
    parts = X.to_delayed()
    parts[0] = dask.delayed(grow)(parts[0], tmp_path)
    X = dd.from_delayed(parts, meta=X._meta, verify_meta=False)
    with dask.config.set(scheduler="synchronous"):
        if adjacency == "add_remove":
            fitted(SYNTHESIZERS[0], X, None, adjacency=adjacency)
            return
        with pytest.raises(ValueError, match="another number"):
            fitted(SYNTHESIZERS[0], X, None)
