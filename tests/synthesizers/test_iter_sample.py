"""Rows in chunks: as many as asked, distributed as those of one sample."""

import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import zip_longest
from threading import Barrier

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from skdpgen import (
    DPIndependentSynthesizer,
    DPMERFSynthesizer,
    DPPairwiseSynthesizer,
    Generator,
    all_synthesizers,
)
from skdpgen.datasets import load_example
from skdpgen.tables import Regenerate, Schema
from tests._seeded import same_noise

N = 2000


@pytest.fixture(scope="module")
def fitted():
    X, y = load_example(N)
    with same_noise():
        return DPIndependentSynthesizer(epsilon=20.0, random_state=0).fit(X, y)


@pytest.fixture(scope="module")
def pairwise():
    X, y = load_example(N)
    params = {"epsilon": 20.0, "max_iter": 20, "n_components": 20, "random_state": 0}
    with same_noise():
        return DPPairwiseSynthesizer(**params).fit(X, y)


def test_every_synthesizer_has_it():
    for cls in all_synthesizers().values():
        assert callable(cls().iter_sample)
        assert callable(cls().sample_parquet)


def test_chunks_have_their_size(fitted):
    sizes = [len(X) for X, y in fitted.iter_sample(1050, chunk_size=500)]
    assert sizes == [500, 500, 50]
    assert sum(len(X) for X, _ in fitted.iter_sample()) == N


def test_chunks_are_distributed_as_the_whole(fitted):
    """Each cell of each column is drawn as often as expected, give or take few."""
    parts = list(fitted.iter_sample(40_000, chunk_size=1000, random_state=0))
    X, y = (pd.concat(one, ignore_index=True) for one in zip(*parts, strict=True))
    whole, labels = fitted.sample(40_000, random_state=1)
    shares = [one.value_counts(normalize=True) for one in (y, labels)]
    assert (shares[0] - shares[1]).abs().max() < 0.002
    for name in ("job", "owns_home"):
        tables = [
            pd.crosstab(one[name].astype(str), two, normalize=True)
            for one, two in ((X, y), (whole, labels))
        ]
        assert (tables[0] - tables[1]).abs().max().max() < 0.005
    assert abs(X["age"].mean() - whole["age"].mean()) < 0.5
    assert (
        not X[:1000].reset_index(drop=True).equals(X[1000:2000].reset_index(drop=True))
    )


def test_an_int_fixes_all_chunks(fitted):
    one, two = (
        [X for X, _ in fitted.iter_sample(300, chunk_size=100, random_state=5)]
        for _ in range(2)
    )
    for a, b in zip(one, two, strict=True):
        pd.testing.assert_frame_equal(a, b)
    assert not one[0].equals(one[1])


def test_labels_are_those_that_were_asked_for(fitted):
    y = ["left"] * 70 + ["stayed"] * 60
    drawn = [labels for _, labels in fitted.iter_sample(y=y, chunk_size=50)]
    assert pd.concat(drawn).tolist() == y
    every = fitted.iter_sample(200, chunk_size=100, class_distribution={"left": 1.0})
    assert {label for _, labels in every for label in labels} == {"left"}


def test_conditions_stay_as_they_are(pairwise):
    given = pd.DataFrame({"job": ["office", "craft", "care"] * 50})
    given = given[given["job"].isin(pairwise.cells_["job"].categories)]
    given = given.reset_index(drop=True)
    chunks = list(pairwise.iter_sample(conditions=given, chunk_size=40))
    drawn = pd.concat([X for X, _ in chunks], ignore_index=True)
    assert drawn["job"].astype(str).tolist() == given["job"].tolist()
    assert {len(X) for X, _ in chunks[:-1]} == {40}


def test_a_text_that_was_not_discovered_is_completed_as_other(pairwise):
    assert "other" in pairwise.cells_["job"].categories
    given = pd.DataFrame({"job": ["astronaut", "other"] * 50})
    X, _ = pairwise.sample(conditions=given, random_state=0)
    assert X["job"].tolist() == given["job"].tolist()
    rows = [
        pairwise.sample(conditions=given.replace("astronaut", name), random_state=0)[0]
        for name in ("astronaut", "other")
    ]
    pd.testing.assert_frame_equal(*(X.drop(columns="job") for X in rows))


def test_written_identifiers_go_on():
    X = pd.DataFrame({"id": ["?"] * 300, "size": np.arange(300.0)})
    schema = Schema({"id": Regenerate("row-{i}")})
    synth = DPIndependentSynthesizer(schema=schema, epsilon=20.0).fit(X)
    drawn = pd.concat(synth.iter_sample(250, chunk_size=100))
    assert drawn["id"].tolist() == [f"row-{i}" for i in range(250)]
    assert synth.sample(2)["id"].tolist() == ["row-0", "row-1"]


@pytest.fixture(scope="module")
def written():
    """Return a fit whose identifiers count the rows of a sample."""
    X = pd.DataFrame({"id": ["?"] * 300, "size": np.arange(300.0)})
    schema = Schema({"id": Regenerate("row-{i}")})
    return DPIndependentSynthesizer(20.0, schema=schema, random_state=0).fit(X)


def rows_of(chunks):
    return pd.concat(chunks, ignore_index=True)


def ids(n):
    return [f"row-{i}" for i in range(n)]


def test_iterators_that_take_turns_do_not_change_each_other(written):
    how = ({"n_samples": 250, "chunk_size": 100}, {"n_samples": 90, "chunk_size": 40})
    alone = [rows_of(written.iter_sample(**one, random_state=5)) for one in how]
    iterators = [written.iter_sample(**one, random_state=5) for one in how]
    chunks = list(zip_longest(*iterators))
    for i, expected in enumerate(alone):
        found = rows_of([pair[i] for pair in chunks if pair[i] is not None])
        pd.testing.assert_frame_equal(found, expected)
        assert found["id"].tolist() == ids(len(found))


def test_a_sample_between_chunks_begins_at_its_own_first_row(written, monkeypatch):
    """Also if it comes while a chunk is drawn, as in another thread."""
    alone = rows_of(written.iter_sample(250, chunk_size=100, random_state=5))
    draw = DPIndependentSynthesizer._decoded
    between = []

    def interrupted(self, *given, **how):
        if self is not written:  # a chunk is being drawn
            between.append(written.sample(3, random_state=1)["id"].tolist())
        return draw(self, *given, **how)

    before = written._facts
    monkeypatch.setattr(DPIndependentSynthesizer, "_decoded", interrupted)
    parts = []
    for chunk in written.iter_sample(250, chunk_size=100, random_state=5):
        parts.append(chunk)
        assert written.sample(3)["id"].tolist() == ids(3)
    assert between == [ids(3)] * 3
    assert written._facts is before
    pd.testing.assert_frame_equal(rows_of(parts), alone)


def test_an_iterator_and_a_sample_without_a_seed_do_not_share_randomness():
    X = pd.DataFrame({"size": np.arange(300.0)})

    def fit():
        return DPIndependentSynthesizer(float("inf"), random_state=0).fit(X)

    alone, between = fit(), fit()
    expected = rows_of(alone.iter_sample(60, chunk_size=20))
    iterator = between.iter_sample(60, chunk_size=20)
    other = between.iter_sample(60, chunk_size=20)
    parts, others = [], []
    for chunk in iterator:
        parts.append(chunk)
        between.sample(50)
        others.append(next(other))
    pd.testing.assert_frame_equal(rows_of(parts), expected)
    assert not rows_of(others).equals(expected)


def test_threads_iterate_at_once(written):
    """Each gets its own rows in order; an estimator that is shared mixes them up.

    Threads change every microsecond here. With the code that put the number of the
    first row on the estimator itself each of many runs failed.
    """
    n_threads, how = 4, {"chunk_size": 25, "random_state": 5}
    expected = rows_of(written.iter_sample(500, **how))
    start = Barrier(n_threads + 1)

    def draw(_):
        start.wait()
        return rows_of(written.iter_sample(500, **how))

    def samples():
        start.wait()
        return [written.sample(5)["id"].tolist() for _ in range(20)]

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(n_threads + 1) as pool:
            plain = pool.submit(samples)
            found = list(pool.map(draw, range(n_threads)))
            assert plain.result() == [ids(5)] * 20
    finally:
        sys.setswitchinterval(interval)
    for rows in found:
        pd.testing.assert_frame_equal(rows, expected)


def test_an_iterator_goes_on_with_the_model_of_its_beginning():
    X, _ = load_example(200)
    synth = DPIndependentSynthesizer(20.0, random_state=0).fit(X[["age"]])
    iterator = synth.iter_sample(40, chunk_size=20)
    assert list(next(iterator).columns) == ["age"]
    synth.fit(X[["income", "balance"]])
    assert list(next(iterator).columns) == ["age"]


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"chunk_size": 0}, "chunk_size must be an integer"),
        ({"n_samples": 2.5}, "n_samples must be an integer"),
        ({"n_samples": 3, "y": ["left"]}, "n_samples must be None or the length of y"),
        ({"n_samples": True}, "n_samples must be an integer"),
        ({"y": []}, "n_samples must be an integer"),
        ({"class_distribution": {"left": 0.5}}, "class_distribution must be"),
        ({"y": ["left"], "class_distribution": "balanced"}, "when y has the label"),
    ],
)
def test_what_is_wrong_is_said_before_rows_are_drawn(fitted, params, message):
    with pytest.raises(ValueError, match=message):
        fitted.iter_sample(**params)


@pytest.mark.parametrize("name", ["n_samples", "y"])
def test_a_sample_has_rows(fitted, pairwise, name):
    for synth in (fitted, pairwise):
        for size in (0, True, False) if name == "n_samples" else ([], np.array([])):
            with pytest.raises(ValueError, match="must be an integer in the range"):
                synth.sample(**{name: size})


@pytest.mark.parametrize("container", ["pandas", "numpy", "polars", "pyarrow"])
def test_straight_to_parquet(container, tmp_path):
    X, y = load_example(N)
    X = X[["age", "job", "owns_home", "customer_since"]]
    make = {
        "pandas": lambda: X,
        "numpy": lambda: X[["age"]].to_numpy(dtype=float),
        "polars": lambda: pl.from_pandas(X),
        "pyarrow": lambda: pa.Table.from_pandas(X),
    }
    synth = DPIndependentSynthesizer(epsilon=20.0, random_state=0)
    synth.fit(make[container](), y)
    path = tmp_path / "rows.parquet"
    n = synth.sample_parquet(path, 1234, chunk_size=500, random_state=0)
    found = pq.read_table(path)
    assert n == found.num_rows == 1234
    names = ["x0"] if container == "numpy" else list(X.columns)
    assert found.column_names == [*names, y.name or "target"]
    assert pq.ParquetFile(path).num_row_groups == 3
    chunks = list(synth.iter_sample(1234, chunk_size=500, random_state=0))
    labels = np.concatenate([np.asarray(one) for _, one in chunks])
    assert found.column(-1).to_pylist() == labels.tolist()


def test_a_column_without_a_value_can_be_written(tmp_path):
    X = pd.DataFrame({"nothing": [None] * 500, "size": np.arange(500.0)})
    synth = DPIndependentSynthesizer(epsilon=20.0, random_state=0).fit(X)
    synth.sample_parquet(tmp_path / "x.parquet", 200, chunk_size=50)
    assert pq.read_table(tmp_path / "x.parquet").num_rows == 200


def test_images_are_no_table(tmp_path):
    rng = np.random.default_rng(0)
    images = rng.random((200, 8, 8), dtype=np.float32)
    synth = DPMERFSynthesizer(
        generator=Generator(max_iter=1), n_features=10, random_state=0
    ).fit(images)
    assert [len(X) for X in synth.iter_sample(5, chunk_size=3)] == [3, 2]
    with pytest.raises(ValueError, match="Got images"):
        synth.sample_parquet(tmp_path / "x.parquet", 5)


LABELS = np.repeat(["no", "yes"], N // 2)


@pytest.mark.parametrize(
    ("names", "y", "target", "message"),
    [
        (["a", "b"], pd.Series(LABELS, name="a"), None, "Got 'a', .* as `target=...`"),
        (["target", "b"], LABELS, None, "Got 'target', which is a column of X"),
        (["a", "b"], LABELS, "b", "Got 'b', which is a column of X"),
        ([1, "1"], LABELS, None, "Got '1' twice; rename columns"),
    ],
)
def test_names_that_would_be_twice_in_a_file(names, y, target, message, tmp_path):
    """A file with a name twice is written without an error, and cannot be read."""
    pytest.importorskip("dask.dataframe")
    X = pd.DataFrame({0: np.arange(N) % 3, 1: np.arange(N) % 5}).set_axis(names, axis=1)
    synth = DPIndependentSynthesizer(epsilon=20.0, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=message):
        synth.sample_parquet(tmp_path / "x.parquet", 10, target=target)
    assert not (tmp_path / "x.parquet").exists()
    with pytest.raises(ValueError, match=message):
        synth.sample_dask(10, target=target)


@pytest.mark.parametrize("container", ["pandas", "numpy", "polars"])
def test_partitions_of_dask(container):
    pytest.importorskip("dask.dataframe")
    X, y = load_example(N)
    make = {
        "pandas": lambda: X,
        "numpy": lambda: X[["age"]].to_numpy(dtype=float),
        "polars": lambda: pl.from_pandas(X[["age", "job", "customer_since"]]),
    }
    synth = DPIndependentSynthesizer(epsilon=20.0, random_state=0)
    synth.fit(make[container](), y)
    there = synth.sample_dask(1234, chunk_size=500, random_state=0)
    assert there.npartitions == 3
    found, again = there.compute(), there.compute(scheduler="threads")
    pd.testing.assert_frame_equal(found, again)
    assert len(found) == 1234
    assert found.columns[-1] == (y.name or "target")
    pd.testing.assert_series_equal(found.dtypes, there.dtypes)
    assert 0.3 < (found[found.columns[-1]] == y.iloc[0]).mean() < 1.0
    other = synth.sample_dask(1234, chunk_size=500, random_state=1).compute()
    assert not found.equals(other)


def test_written_identifiers_go_on_from_partition_to_partition():
    pytest.importorskip("dask.dataframe")
    X = pd.DataFrame({"id": np.arange(N).astype(str), "size": np.arange(float(N))})
    schema = Schema.infer(X)
    schema = Schema({**schema.columns, "id": Regenerate("row {i}")})
    synth = DPIndependentSynthesizer(epsilon=20.0, schema=schema, random_state=0)
    found = synth.fit(X).sample_dask(30, chunk_size=10).compute()
    assert found["id"].tolist() == [f"row {i}" for i in range(30)]


@pytest.mark.parametrize("name", ["y", "conditions"])
def test_rows_are_not_handed_to_partitions(fitted, name):
    with pytest.raises(ValueError, match=f"{name} must not be given"):
        fitted.sample_dask(10, **{name: [1]})
