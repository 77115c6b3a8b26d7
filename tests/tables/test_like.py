"""Tables without rows hold nothing of the rows that they were made of."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch

from skdpgen.parties import Party
from skdpgen.tables import layouts_of, like_of

WORDS = ["SECRET", *["x"] * 9]
CODED = pa.array(WORDS).dictionary_encode()
COLUMNS = {
    "categories": pd.Categorical(WORDS),
    "numbers": pd.Categorical([7, *[2] * 9], ordered=True),
    "text": pd.array(WORDS, dtype="string[pyarrow]"),
    "coded": pd.arrays.ArrowExtensionArray(CODED),
    "objects": np.array(WORDS, dtype=object),
    "whole": pd.array([1] * 10, dtype="Int64"),
    "times": pd.date_range("2000", periods=10, tz="UTC"),
}
FRAME = pd.DataFrame(COLUMNS, index=pd.MultiIndex.from_product([WORDS[:2], range(5)]))
TABLES = {
    "pandas": FRAME,
    "arrow": pa.table({"text": WORDS, "coded": CODED}),
    "polars": pl.DataFrame(
        {
            "text": WORDS,
            "coded": pl.Series(WORDS, dtype=pl.Enum(["SECRET", "x"])),
            "known": pl.Series(WORDS, dtype=pl.Categorical),
        }
    ),
    "numpy": np.ones((3, 2), dtype=np.float32),
    "words": np.array([["SECRET", "x"]] * 3),
    "torch": torch.ones(3, 2),
}


@pytest.mark.parametrize("name", TABLES)
def test_columns_and_dtypes_are_all_there_is(name):
    table = TABLES[name]
    found, none = Party("one", table).like
    assert none is None
    assert len(found) == 0
    assert b"SECRET" not in pickle.dumps(found)
    assert layouts_of(found, None) == layouts_of(table[:0], None)


@pytest.mark.parametrize("name", COLUMNS)
def test_labels(name):
    found = Party("one", FRAME, FRAME[name]).like
    assert b"SECRET" not in pickle.dumps(found)
    assert layouts_of(*found) == layouts_of(FRAME[:0], FRAME[name][:0])


LABELS = {
    "array of pandas": pd.Categorical(WORDS),
    "index of pandas": pd.CategoricalIndex(WORDS, name="y"),
    "whole numbers of pandas": pd.array([1] * 10, dtype="Int64"),
    "array of Arrow": pa.array(WORDS),
    "coded array of Arrow": CODED,
    "chunked array of Arrow": pa.chunked_array([CODED]),
    "batch of Arrow": pa.record_batch({"y": WORDS}),
    "enumeration of polars": pl.Series("y", WORDS, dtype=pl.Enum(["SECRET", "x"])),
    "text of polars": pl.Series("y", WORDS),
    "masked": np.ma.array(WORDS, mask=[False] * 10),
}


@pytest.mark.parametrize("name", LABELS)
def test_labels_in_other_containers(name):
    labels = LABELS[name]
    found = Party("one", FRAME, labels).like
    assert len(found[1]) == 0
    assert b"SECRET" not in pickle.dumps(found)
    assert "SECRET" not in repr(found)
    assert layouts_of(*found) == layouts_of(FRAME[:0], labels[:0])


def test_numbers_of_a_tensor_do_not_stand_behind_its_columns():
    found = Party("one", torch.full((9, 2), 1234.5678, dtype=torch.float64)).like[0]
    assert np.float64(1234.5678).tobytes() not in pickle.dumps(found)


@pytest.mark.parametrize("array", [np.array, np.ma.array])
def test_how_long_text_is_does_not_show(array):
    assert like_of(array(["a word"])).dtype == like_of(array(["a"])).dtype


@pytest.mark.parametrize("as_pandas", [False, True])
def test_how_many_categories_there_are_does_not_show(as_pandas):
    """pandas and pyarrow give 127 categories wider indices than 126."""

    def listed(n):
        words = pd.Series([f"c{i % n}" for i in range(200)], dtype="category")
        table = pa.Table.from_pandas(pd.DataFrame({"c": words}))
        return table.to_pandas(types_mapper=pd.ArrowDtype) if as_pandas else table

    few, many = listed(126), listed(129)
    if not as_pandas:
        assert few.schema != many.schema
    assert layouts_of(few, None) == layouts_of(many, None)
    assert pickle.dumps(like_of(few)) == pickle.dumps(like_of(many))
    assert pickle.dumps(like_of(few["c"])) == pickle.dumps(like_of(many["c"]))


def test_names_that_come_twice():
    assert like_of(pd.concat([FRAME, FRAME], axis=1)).shape == (0, 14)
    assert like_of(pd.DataFrame(index=WORDS)).shape == (0, 0)
