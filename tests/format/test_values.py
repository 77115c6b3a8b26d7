"""What a file can hold comes back as it was: types, order in memory, odd values."""

import math
import zipfile
from dataclasses import dataclass
from datetime import date, datetime, time
from enum import Enum

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.base import BaseEstimator

from skdpgen import DPIndependentSynthesizer, load
from skdpgen.datasets import load_example
from skdpgen.tables import (
    Categorical,
    Datetime,
    Drop,
    Integer,
    LessEqual,
    Numeric,
    Schema,
)
from skdpgen.utils import SAVED, PlainWriter, from_bytes, saved, to_bytes

VALUES = {
    "nothing": None,
    "truth": True,
    "text": "Größe \ud800 \0",
    "large": 2**70,
    "tiny": 5e-324,
    "minus nothing": -0.0,
    "infinite": -math.inf,
    "tuple": (1, (2.5, "a"), ()),
    "list": [1, [2], ()],
    "set": {1, "a"},
    "by text": {"float": 1, "b": {"object": (1,)}},
    "by anything": {1: "a", "1": "b", (1, 2): "c", None: "d"},
    "nothing by name": {},
    "bytes": b"\0\xff",
    "day": date(2020, 2, 29),
    "hour": time(12, 30),
    "moment": datetime(2020, 2, 29, 12, 30),
    "stamp": pd.Timestamp("2020-02-29 12:30:00.123456789"),
    "stamp in a zone": pd.Timestamp("2020-02-29", tz="UTC"),
}


@pytest.mark.parametrize("name", VALUES)
def test_a_value_comes_back(name):
    value = VALUES[name]
    found = from_bytes(to_bytes({"a": value}))["a"]
    assert found == value
    assert repr(found) == repr(value) or isinstance(value, datetime)
    assert isinstance(found, type(value))


def test_not_a_number_comes_back():
    assert math.isnan(from_bytes(to_bytes(math.nan)))


ARRAYS = {
    "floats": np.array([[1.0, np.nan], [-0.0, np.inf]]),
    "by columns": np.asfortranarray(np.arange(6).reshape(2, 3)),
    "every second": np.arange(6)[::2],
    "empty": np.empty((0, 3), dtype=np.float32),
    "one": np.array(3.5),
    "text": np.array(["a", "Größe"]),
    "times": np.array(["2020-01-01", "NaT"], dtype="datetime64[ns]"),
    "truth": np.array([True, False]),
    "other order of bytes": np.arange(3, dtype=">f8"),
    "complex": np.array([1j]),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_an_array_comes_back(name):
    array = ARRAYS[name]
    found = from_bytes(to_bytes((array,)))[0]
    assert (found.dtype, found.shape) == (array.dtype, array.shape)
    np.testing.assert_array_equal(found, array)
    assert found.tobytes() == array.tobytes()
    assert found.flags.writeable
    if array.flags.f_contiguous and array.size:  # sums in another order round otherwise
        assert found.flags.f_contiguous


def test_arrays_of_objects_come_back():
    array = np.array([["a", 1], [None, (2, 3)]], dtype=object)
    found = from_bytes(to_bytes(array))
    assert found.dtype == object
    assert found.tolist() == array.tolist()


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.bool])
def test_a_tensor_comes_back(dtype):
    tensor = torch.arange(6).reshape(2, 3).to(dtype).T
    found = from_bytes(to_bytes(tensor))
    assert torch.equal(found, tensor)
    assert found.dtype == dtype
    assert found.stride() == tensor.stride()


# ------------------------------------------------------------ types with names


@saved("test.renamed", new="old")
@dataclass(frozen=True)
class Renamed:
    new: int
    same: str = "a"


@saved("test.settings")
class Settings(BaseEstimator):
    def __init__(self, n_steps=3, inner=None):
        self.n_steps = n_steps
        self.inner = inner


def test_a_field_keeps_its_name_in_files():
    plain = PlainWriter().plain(Renamed(3))
    assert plain == {"object": "test.renamed", "fields": {"old": 3, "same": "a"}}
    assert from_bytes(to_bytes(Renamed(3))) == Renamed(3)


def test_objects_with_parameters_are_saved_in_others(tmp_path):
    """Parameters may be objects that have parameters, one in another."""
    synth = fitted()
    synth.verbose = Settings(5, Settings(inner=(1, 2)))
    synth.save(tmp_path / "synth.skdpgen")
    found = load(tmp_path / "synth.skdpgen").verbose
    assert (found.n_steps, found.inner.inner) == (5, (1, 2))
    assert PlainWriter().plain(Settings()) == {
        "object": "test.settings",
        "parameters": {"n_steps": 3, "inner": None},
    }


def test_names_in_files_are_distinct_and_say_what_a_value_is():
    for name in ("Renamed", "test.", "test renamed", ""):
        with pytest.raises(TypeError, match=r"is like 'column\.numeric'"):
            saved(name)
    with pytest.raises(TypeError, match="must have distinct names"):
        saved("release")(Settings)
    assert SAVED["test.renamed"] is Renamed


class Colour(Enum):
    RED = "red"


def colour():
    """A function, which no file can hold."""


@pytest.mark.parametrize("value", [colour, Colour.RED, object(), 1j, type, np])
def test_what_is_not_plain_is_refused_with_its_place(value):
    with pytest.raises(TypeError, match=r"never holds code\. Got .* as a\.1"):
        PlainWriter().plain((0, value), ("a",))


# ------------------------------------------------------------ whole estimators


def fitted(schema=None, X=None):
    X = load_example(200)[0][["age", "job"]] if X is None else X
    return DPIndependentSynthesizer(40.0, schema=schema, random_state=0).fit(X)


@pytest.mark.parametrize("seed", [np.int64(3), 3, np.random.default_rng(3), None])
def test_a_seed_is_kept_and_a_generator_is_not(seed, tmp_path):
    synth = fitted().set_params(random_state=seed)
    synth.save(tmp_path / "synth.skdpgen")
    found = load(tmp_path / "synth.skdpgen").random_state
    assert found == (3 if isinstance(seed, int | np.integer) else None)


def test_a_certificate_without_noise_comes_back(tmp_path):
    X = load_example(100)[0][["age"]]
    synth = DPIndependentSynthesizer(math.inf).fit(X)
    synth.save(tmp_path / "synth.skdpgen")
    assert load(tmp_path / "synth.skdpgen").privacy_ == synth.privacy_


def test_code_of_a_user_cannot_be_saved_and_leaves_no_file(tmp_path):
    synth = fitted()
    synth.task = colour
    with pytest.raises(TypeError, match=r"Got function as parameters\.task"):
        synth.save(tmp_path / "synth.skdpgen")
    assert not (tmp_path / "synth.skdpgen").exists()


class Mine(DPIndependentSynthesizer):
    """A class of a user's, of which the package knows nothing."""


def test_a_class_without_a_name_cannot_be_saved(tmp_path):
    mine = Mine(40.0).fit(load_example(200)[0][["age"]])
    with pytest.raises(TypeError, match=r"name in files.* Got Mine without"):
        mine.save(tmp_path / "mine.skdpgen")


def test_a_file_shows_no_time_of_day(tmp_path):
    synth = fitted()
    for name in "ab":
        synth.save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_schema_and_certificate_are_what_people_save(tmp_path):
    synth = fitted()
    synth.save(tmp_path / "synth.skdpgen")
    with zipfile.ZipFile(tmp_path / "synth.skdpgen") as file:
        (tmp_path / "schema.json").write_bytes(file.read("schema.json"))
        certificate = file.read("certificate.json").decode()
    assert Schema.load(tmp_path / "schema.json") == synth.schema_
    assert certificate == synth.privacy_.to_json()


NAMES = {
    "text": ("float", "map"),
    "numbers": (0, 1),
    "both": (1, "1"),
    "pairs": (("a", "x"), ("a", "y")),
}


@pytest.mark.parametrize("kind", NAMES)
def test_columns_keep_their_names(kind, tmp_path):
    """Also those that JSON cannot have as keys, and in rules."""
    low, high = NAMES[kind]
    X = pd.DataFrame({low: [1, 2, 3] * 50, high: [4.5, 5.0, 6.0] * 50})
    if kind == "pairs":
        X.columns = pd.MultiIndex.from_tuples([low, high])
    columns = {low: Integer(0, 9), high: Numeric(0, 9)}
    schema = Schema(columns, rules=[LessEqual(low, high)], origin="a form")
    synth = fitted(schema, X)
    synth.save(tmp_path / "synth.skdpgen")
    found = load(tmp_path / "synth.skdpgen")
    assert found.schema == schema
    for one, before in ((found.schema, schema), (found.schema_, synth.schema_)):
        assert one == before
        assert [type(name) for name in one.columns] == [type(low), type(high)]
        assert one.origin == "a form"
    again = found.sample(20, random_state=0)
    pd.testing.assert_frame_equal(again, synth.sample(20, random_state=0))


def test_odd_values_of_a_schema_come_back(tmp_path):
    stamps = [pd.Timestamp("2020-01-01"), pd.Timestamp("2021-01-01")]
    columns = {
        "day": Categorical(stamps, other=None),
        "size": Categorical([math.inf, 1.0, 2, True, "a"], other=-math.inf),
        "when": Datetime(None, "2021-01-01"),
        "note": Drop(),
    }
    synth = fitted()
    synth.schema = Schema(columns)
    synth.save(tmp_path / "synth.skdpgen")
    found = load(tmp_path / "synth.skdpgen").schema
    assert found == Schema(columns)
    for name, column in columns.items():
        assert repr(found.columns[name]) == repr(column)
