"""The certificate names what it rests on: dtypes, settings, networks, clones."""

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.base import clone

from skdpgen import DPIndependentSynthesizer, DPMERFSynthesizer, DPNTKSynthesizer
from skdpgen.datasets import load_example
from skdpgen.exceptions import SearchCostWarning
from skdpgen.tables import Chunks, Integer, Numeric, Schema
from tests._made import made

X, Y = load_example(800)
INF = float("inf")
LABELS = {"classes": ["left", "stayed"]}
FIRST_SUM = 4  # chunks are opened for their kind, their columns and their number first


def certificate(table=X, y=Y, cls=DPIndependentSynthesizer, **params):
    return str(made(cls, **LABELS | params).fit(table, y).privacy_)


def test_another_dtype_is_another_text():
    schema = Schema.infer(X[["age", "income"]])
    same = {"schema": schema, "table": X[["age", "income"]]}
    one = certificate(**same)
    two = certificate(**same | {"table": same["table"].astype({"age": "float64"})})
    assert "float64 (income), int64 (age), str (target)" in one
    assert "float64 (all columns), str (target)" in two
    assert without_releases(one) == without_releases(certificate(**same))


def without_releases(text):
    """Return what a certificate says besides: releases may follow from noise."""
    return [line for line in text.splitlines() if "%  " not in line]


@pytest.mark.parametrize("column", ["age", "n_products", "weekly_hours"])
def test_one_missing_value_does_not_change_what_is_discovered(column):
    """A reader makes int64 float64 then; both are read on one grid."""
    plain = X[[column]]
    holed = plain.astype("float64")
    holed.iloc[0] = np.nan
    found = []
    for table in (plain, holed):
        synth = DPIndependentSynthesizer(epsilon=INF).fit(table)  # no false alarm
        found.append(synth.schema_.columns[column])
        assert str(table.dtypes.iloc[0]) in str(synth.privacy_)
        assert synth.sample(50)[column].dtype == table.dtypes.iloc[0]
    whole, read = found
    assert isinstance(whole, Integer)
    assert isinstance(read, Integer)
    assert (whole.lower, whole.upper) == (read.lower, read.upper)


def test_floats_that_are_not_whole_stay_what_they_are():
    synth = DPIndependentSynthesizer(epsilon=50.0).fit(X[["income", "balance"]])
    assert all(isinstance(c, Numeric) for c in synth.schema_.columns.values())


def test_huge_whole_floats_are_numbers_and_not_integers():
    table = pd.DataFrame({"mass": np.full(500, 1e30), "count": np.full(500, 1e15)})
    found = DPIndependentSynthesizer(epsilon=INF).fit(table)
    mass, count = found.schema_.columns.values()
    assert isinstance(mass, Numeric)
    assert isinstance(count, Integer)
    assert np.isfinite(found.sample(20).to_numpy()).all()


def test_parameters_that_were_set_are_named():
    quick = {"cls": DPMERFSynthesizer, "max_iter": 1, "n_features": 20}
    scales = certificate(length_scale=np.array([0.3, 1.0]), random_state=3, **quick)
    named = (
        "taken as public: generator=Generator(max_iter=1), length_scale=[0.3, 1.0], "
        "n_features=20"
    )
    assert named in scales
    assert "random_state" not in scales
    assert "all at their defaults" in certificate()


def test_a_network_that_is_given_is_named():
    class Narrow(torch.nn.Sequential):
        def __init__(self, n_inputs):
            super().__init__(torch.nn.Linear(n_inputs, 2), torch.nn.Tanh())

    text = certificate(
        X[["age", "job"]], cls=DPNTKSynthesizer, architecture=Narrow, max_iter=1
    )
    assert "Narrow (a function or network that was given)" in text
    assert "0x" not in text  # no address in memory


def test_a_clone_says_that_it_is_one():
    synth = clone(DPIndependentSynthesizer(**LABELS))
    with pytest.warns(SearchCostWarning):
        synth.fit(X, Y)
    assert "fitted as a clone" in str(synth.privacy_)
    assert any("as a clone" in s for s in synth.privacy_.to_dict()["statements"])


# ---------------------------------------------------------------------- chunks


def source(*tables, fails_at=None, **params):
    """Return chunks that are other ones from one pass on."""
    passes = []

    def open_chunks():
        passes.append(True)
        changed = fails_at is not None and len(passes) >= fails_at[0]
        return iter(fails_at[1] if changed else tables)

    return Chunks(open_chunks, **params)


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_chunks_without_a_chunk_say_what_to_do(adjacency):
    synth = DPIndependentSynthesizer(adjacency=adjacency)
    with pytest.raises(ValueError, match=r"at least one table.*`like="):
        synth.fit(source())


def test_with_public_columns_no_chunk_is_a_table_without_rows():
    empty = X[["age", "owns_home"]][:0]
    schema = {"schema": Schema.infer(X[["age", "owns_home"]])}
    synth = DPIndependentSynthesizer(adjacency="add_remove", **schema)
    texts = []
    for chunks in (source(like=empty), source(X[["age", "owns_home"]][:1], like=empty)):
        sample = synth.fit(chunks).sample(4)
        assert sample.dtypes.equals(empty.dtypes)
        texts.append(str(synth.privacy_))
    assert texts[0] == texts[1]
    assert "there is a chunk" not in texts[0]
    assert "there is a chunk of rows: taken as public" in str(
        synth.fit(source(X[["age", "owns_home"]])).privacy_
    )


def test_labels_can_be_among_the_public_columns():
    chunks = source((X[["age"]], Y), like=(X[["age"]][:0], Y[:0]))
    assert len(DPIndependentSynthesizer(**LABELS).fit(chunks).sample(5)[1]) == 5
    mixed = source((X[["age"]], Y), like=X[["age"]][:0])
    with pytest.raises(ValueError, match=r"Every chunk must be \(X, y\), or none"):
        DPIndependentSynthesizer().fit(mixed)


def test_another_number_of_rows_in_a_later_pass_is_refused_if_it_is_public():
    table = X[["age", "income"]]
    fewer = (FIRST_SUM, [table[:-1]])
    with pytest.raises(ValueError, match="another number of rows") as error:
        DPIndependentSynthesizer().fit(source(table, fails_at=fewer))
    assert str(len(table)) not in str(error.value)
    DPIndependentSynthesizer(adjacency="add_remove").fit(source(table, fails_at=fewer))


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_a_source_that_is_used_up_after_the_first_pass_is_refused(adjacency):
    chunks = source(X[["age", "income"]], fails_at=(FIRST_SUM, []))
    with pytest.raises(ValueError, match="no chunk at all"):
        DPIndependentSynthesizer(adjacency=adjacency).fit(chunks)
