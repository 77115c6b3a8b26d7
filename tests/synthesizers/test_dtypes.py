"""Each dtype comes back as it came, or is refused by name before anything is spent."""

import datetime
import decimal
import re
import uuid

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from skdpgen import (
    Boolean,
    Categorical,
    Datetime,
    DPIndependentSynthesizer,
    Integer,
    Numeric,
    Ordinal,
    Schema,
    load,
)
from skdpgen.tables import Rows

N = 120
WHOLE = [i % 100 for i in range(N)]
GAPS = [None if i % 7 == 0 else i % 100 for i in range(N)]
REAL = [i / N for i in range(N)]
TEXT = ["abc"[i % 3] for i in range(N)]
FLAGS = [True, None, False] * (N // 3)
DAYS = [datetime.date(2020, 1, 1) + datetime.timedelta(i) for i in range(N)]
STAMPS = [datetime.datetime(2020, 1, 1, i % 24, i % 60) for i in range(N)]
MONEY = [decimal.Decimal(i % 100).scaleb(-2) if i % 5 else None for i in range(N)]
INTEGER, REALS, CENTS = Integer(0, 100), Numeric(0, 1), Numeric(0, 1, decimals=2)
LETTERS = Categorical(["a", "b", "c"])
DAY = Datetime("2020-01-01", "2020-12-31", resolution="day")
TIME = Datetime("2020-01-01", "2020-12-31")


def arrow(values, dtype):
    return pd.Series(pd.array(values, dtype=pd.ArrowDtype(dtype)))


def zoned(name="Europe/Berlin"):
    return pd.Series(STAMPS).dt.tz_localize("UTC").dt.tz_convert(name)


ARROW_TYPES = {
    **dict.fromkeys(("int8", "uint8", "int64"), (GAPS, INTEGER)),
    **dict.fromkeys(("float", "double"), (REAL, REALS)),
    "bool": (FLAGS, Boolean()),
    "null": ([None] * N, LETTERS),
    **dict.fromkeys(("string", "large_string", "string_view"), (TEXT, LETTERS)),
    **dict.fromkeys(("date32", "date64"), (DAYS, DAY)),
    **{f"timestamp[{unit}]": (STAMPS, TIME) for unit in ("s", "ms", "us", "ns")},
    pa.timestamp("us", tz="Europe/Berlin"): (STAMPS, TIME),
    pa.decimal128(10, 2): (MONEY, CENTS),
    pa.decimal256(40, 2): (MONEY, CENTS),
    pa.dictionary(pa.int32(), pa.string()): (TEXT, LETTERS),
    pa.dictionary(pa.int8(), pa.int64()): (GAPS, INTEGER),
    pa.dictionary(pa.int16(), pa.timestamp("us")): (STAMPS, TIME),
}


def arrow_array(values, dtype):
    if pa.types.is_dictionary(dtype):
        plain = pa.array(values).cast(dtype.value_type).dictionary_encode()
        places = plain.indices.cast(dtype.index_type)
        return pa.DictionaryArray.from_arrays(places, plain.dictionary)
    return pa.array(values).cast(dtype)


def arrow_columns():
    for name, (values, column) in ARROW_TYPES.items():
        dtype = pa.type_for_alias(name) if isinstance(name, str) else name
        yield str(dtype), (arrow_array(values, dtype), column)


ARROW_COLUMNS = dict(arrow_columns())
PANDAS = {
    **{
        f"{name} of Arrow": (
            pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([array]))),
            column,
        )
        for name, (array, column) in ARROW_COLUMNS.items()
    },
    **{name: (pd.Series(GAPS, dtype=name), INTEGER) for name in ("Int64", "UInt8")},
    **{name: (pd.Series(WHOLE, dtype=name), INTEGER) for name in ("int8", "uint64")},
    **{
        name: (pd.Series(REAL, dtype=name), REALS)
        for name in ("float16", "float32", "Float32", "Float64", ">f8", "longdouble")
    },
    "bool": (pd.Series([True, False] * (N // 2)), Boolean()),
    "boolean": (pd.Series(FLAGS, dtype="boolean"), Boolean()),
    **{
        name: (pd.Series(TEXT, dtype=name), LETTERS)
        for name in ("str", "string", "string[python]", "object")
    },
    "str kept by python": (
        pd.Series(TEXT, dtype=pd.StringDtype("python", na_value=np.nan)),
        LETTERS,
    ),
    **{
        f"datetime64[{unit}]": (pd.Series(STAMPS).astype(f"datetime64[{unit}]"), TIME)
        for unit in ("s", "ms", "us", "ns")
    },
    "time zone": (zoned(), TIME),
    "category": (pd.Series(TEXT, dtype="category"), LETTERS),
    "objects": (pd.Series(pd.Categorical(np.array(TEXT, dtype=object))), LETTERS),
    "ordered": (
        pd.Series(pd.Categorical(TEXT, ["c", "a", "b"], ordered=True)),
        Categorical(["c", "a", "b"]),
    ),
    "category of numbers": (
        pd.Series(WHOLE, dtype="category"),
        Categorical(list(range(100))),
    ),
    "category of times": (
        pd.Series(pd.to_datetime(DAYS[:2] * (N // 2))).astype("category"),
        DAY,
    ),
    "category of times in a zone": (zoned().astype("category"), TIME),
}
POLARS = {
    **dict.fromkeys(("Int8", "UInt8", "Int64", "UInt64"), (GAPS, INTEGER)),
    "Int128": (GAPS, INTEGER),
    **dict.fromkeys(("Float32", "Float64"), (REAL, REALS)),
    "Boolean": (FLAGS, Boolean()),
    "Null": ([None] * N, LETTERS),
    **dict.fromkeys(("String", "Categorical"), (TEXT, LETTERS)),
    "Date": (DAYS, DAY),
    pl.Enum(["a", "b", "c"]): (TEXT, Ordinal(["a", "b", "c"])),
    pl.Decimal(10, 2): (MONEY, CENTS),
    **{pl.Datetime(unit): (STAMPS, TIME) for unit in ("ms", "us", "ns")},
    pl.Datetime("us", "Europe/Berlin"): (zoned().tolist(), TIME),
}
NUMPY = {
    **dict.fromkeys(("float16", "float32", "longdouble", ">f4"), (REAL, REALS)),
    **dict.fromkeys(("int8", "uint64", ">i2"), (WHOLE, INTEGER)),
    "bool": (np.arange(N) % 2 == 0, Boolean()),
    "object": (TEXT, LETTERS),
    **{f"datetime64[{u}]": (STAMPS, TIME) for u in ("D", "h", "s", "ns")},
}


def sample(table, column, name="a"):
    schema = Schema({name: column})
    return DPIndependentSynthesizer(10.0, schema=schema).fit(table).sample(60)


def public_width(dtype):
    """Return a dtype by name; the width of a dictionary's indices is private."""
    return re.sub(r"indices=\w+", "indices=int32", str(dtype))


@pytest.mark.parametrize("name", PANDAS)
@pytest.mark.filterwarnings("ignore::skdpgen.exceptions.SchemaWarning")  # of nulls
def test_a_dtype_of_pandas_comes_back(name, tmp_path):
    series, column = PANDAS[name]
    table = pd.DataFrame({"a": series})
    schema = Schema({"a": column})
    synth = DPIndependentSynthesizer(10.0, schema=schema).fit(table)
    synth.save(tmp_path / "saved.npz")
    for one in (synth, load(tmp_path / "saved.npz")):
        drawn = one.sample(60)["a"]
        if name.startswith("category of times"):
            assert drawn.cat.categories.dtype == series.cat.categories.dtype
        else:
            assert str(drawn.dtype) == public_width(series.dtype)
        assert drawn.notna().sum() > 20 or "null" in name


@pytest.mark.parametrize("name", POLARS, ids=str)
@pytest.mark.filterwarnings("ignore::skdpgen.exceptions.SchemaWarning")  # of nulls
def test_a_dtype_of_polars_comes_back(name):
    values, column = POLARS[name]
    dtype = getattr(pl, name) if isinstance(name, str) else name
    table = pl.DataFrame({"a": pl.Series(values, dtype=dtype)})
    drawn = sample(table, column)
    assert drawn.schema == table.schema
    assert drawn["a"].null_count() < 40 or name == "Null"


@pytest.mark.parametrize("name", ARROW_COLUMNS)
@pytest.mark.filterwarnings("ignore::skdpgen.exceptions.SchemaWarning")  # of nulls
def test_a_type_of_arrow_comes_back(name):
    array, column = ARROW_COLUMNS[name]
    table = pa.table({"a": array})
    drawn = sample(table, column)
    assert str(drawn.schema.field("a").type) == public_width(array.type)
    assert drawn["a"].null_count < 40 or name == "null"


@pytest.mark.parametrize("name", NUMPY)
def test_a_dtype_of_numpy_comes_back(name):
    values, column = NUMPY[name]
    table = np.array(values, dtype=name)[:, None]
    drawn = sample(table, column, "x0")
    assert drawn.dtype == table.dtype
    assert type(drawn) is np.ndarray


def test_text_of_numpy_comes_back_as_objects():
    """The width of a text dtype is private."""
    for dtype in ("U1", np.dtypes.StringDType()):
        drawn = sample(np.array(TEXT, dtype=dtype)[:, None], LETTERS, "x0")
        assert drawn.dtype == object


@pytest.mark.parametrize(
    ("values", "column"),
    [
        (np.array(REAL), REALS),
        (np.array(WHOLE, dtype="int16"), INTEGER),
        (np.arange(N) % 2 == 0, Boolean()),
        (np.array(STAMPS, dtype="datetime64[s]"), TIME),
        (np.array(TEXT, dtype=object), LETTERS),
    ],
    ids=lambda v: str(getattr(v, "dtype", "")),
)
def test_what_is_masked_is_missing(values, column):
    mask = np.arange(N)[:, None] % 2 == 0
    masked = np.ma.array(values[:, None], mask=mask)
    drawn = sample(masked, column, "x0")
    assert isinstance(drawn, np.ma.MaskedArray)
    assert drawn.dtype == masked.dtype
    assert 15 < drawn.mask.sum() < 45


@pytest.mark.filterwarnings("ignore::skdpgen.exceptions.SchemaWarning")  # of labels
def test_masked_labels_are_missing():
    y = np.ma.array([0, 1] * (N // 2), mask=[True, False] * (N // 2))
    X = pd.DataFrame({"a": REAL})
    synth = DPIndependentSynthesizer(
        100.0, schema=Schema({"a": REALS}), classes=[0, 1]
    ).fit(X, y)
    counts = synth.release_.values["columns"].sum(axis=1)
    assert counts[0] < 10 < counts[1]


REFUSED = {
    "period": (pd.Series(pd.PeriodIndex(DAYS, freq="M")), r"period\[M\].*to_timestamp"),
    "interval": (pd.Series(pd.IntervalIndex.from_breaks([0, 1, 2])), "interval.*ends"),
    "sparse": (pd.Series(pd.arrays.SparseArray([0, 1])), "Sparse.*to_dense"),
    "timedelta": (pd.Series(pd.to_timedelta(WHOLE, "s")), "timedelta.*total_seconds"),
    "categories": (
        pd.Series(pd.to_timedelta(WHOLE, "s")).astype("category"),
        "timedelta.*total_seconds",
    ),
    "time": (arrow([0, 1], pa.time32("s")), r"time32\[s\].*midnight"),
    "duration": (arrow([0, 1], pa.duration("s")), r"duration\[s\].*seconds"),
    "binary": (arrow([b"a", b"b"], pa.binary()), "binary.*decode"),
    "list": (arrow([[1], [2]], pa.list_(pa.int64())), "list.*each of its parts"),
    "struct": (arrow([{"x": 1}], pa.struct([("x", pa.int64())])), "struct.*parts"),
    "dictionary": (
        arrow([b"a"], pa.binary()).astype(
            pd.ArrowDtype(pa.dictionary(pa.int8(), pa.binary()))
        ),
        "binary.*decode",
    ),
    "polars time": (pl.Series([datetime.time(1)]), "Time.*midnight"),
    "polars duration": (pl.Series([datetime.timedelta(1)]), "Duration.*seconds"),
    "polars list": (pl.Series([[1]]), "List.*parts"),
    "polars struct": (pl.Series([{"x": 1}]), "Struct.*parts"),
    "polars binary": (pl.Series([b"a"]), "Binary.*decode"),
    "polars object": (pl.Series([object()], dtype=pl.Object), "Object.*convert"),
    "arrow time": (pa.array([0], pa.time64("us")), r"time64\[us\].*midnight"),
    "arrow map": (pa.nulls(1, pa.map_(pa.string(), pa.int8())), "map.*parts"),
    "arrow month": (pa.nulls(1, pa.month_day_nano_interval()), "month.*convert"),
}
REFUSED_ARRAYS = {
    "structured": (np.zeros(3, dtype=[("a", int), ("b", float)]), "DataFrame"),
    "records": (np.rec.array(np.zeros(3, dtype=[("a", int)])), "DataFrame"),
    "bytes": (np.array([["a"]], dtype="S1"), "bytes_.*decode"),
    "months": (np.array([["2020-01"]], dtype="datetime64[M]"), "datetime64.*astype"),
    "timedelta": (np.array([[1]], dtype="timedelta64[s]"), "timedelta64.*seconds"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_dtype_is_refused_by_name_before_anything_is_spent(name):
    column, message = REFUSED[name]
    make = pl.DataFrame if isinstance(column, pl.Series) else pd.DataFrame
    table = (pa.table if isinstance(column, pa.Array) else make)({"a": column})
    synth = DPIndependentSynthesizer()
    with pytest.raises(TypeError, match=f"Column 'a' must hold.*Got dtype {message}"):
        synth.fit(table)
    assert not hasattr(synth, "privacy_")
    with pytest.raises(TypeError, match=message):
        Schema.template(table)


def test_a_dtype_is_refused_without_the_values_that_it_lists():
    for inner in (pl.List(pl.Enum(["SECRET"])), pl.Struct({"SECRET": pl.Int8})):
        table = pl.DataFrame({"a": pl.Series([None], dtype=inner)})
        with pytest.raises(TypeError, match="must hold") as caught:
            DPIndependentSynthesizer().fit(table)
        assert "SECRET" not in str(caught.value)


@pytest.mark.parametrize("name", REFUSED_ARRAYS)
def test_a_dtype_of_numpy_is_refused_by_name(name):
    table, message = REFUSED_ARRAYS[name]
    synth = DPIndependentSynthesizer()
    with pytest.raises(TypeError, match=f"X must hold.*{message}"):
        synth.fit(table)
    assert not hasattr(synth, "privacy_")
    with pytest.raises(TypeError, match=f"y must hold.*{message}"):
        synth.fit(np.zeros((len(table), 1)), np.ravel(table))


def test_an_error_tells_no_width_of_the_longest_value():
    told = []
    for longest in (b"a", b"Jane Doe"):
        rows = np.array([[b"a"], [longest]])
        for table in (rows, np.array([(longest,)], dtype=[("a", rows.dtype)])):
            with pytest.raises(TypeError, match="must hold") as caught:
                DPIndependentSynthesizer().fit(table)
            told.append(str(caught.value))
    assert told[:2] == told[2:]


@pytest.mark.parametrize("name", ["X", "y"])
def test_an_error_tells_no_number_of_rows(name):
    """Of rows whose number is private; numpy would tell the shape that it detected."""
    told = []
    for n_rows in (30, 31):
        ragged = [[1.0, 2.0]] * (n_rows - 1) + [[1.0]]
        given = {"X": ragged} if name == "X" else {"X": [[1.0]] * n_rows, "y": ragged}
        with pytest.raises(ValueError, match=f"{name} must be rows of equal") as caught:
            DPIndependentSynthesizer(adjacency="add_remove").fit(**given)
        told.append(str(caught.value))
    assert told[0] == told[1]


def test_masked_images_are_refused():
    images = np.ma.array(np.zeros((3, 8, 8)), mask=True)
    with pytest.raises(TypeError, match=r"whole.*filled"):
        Rows.read(images)


OBJECTS = {
    "dates": (DAYS, DAY, "2020-"),
    "datetimes": (STAMPS, TIME, "2020-"),
    "times": (
        [datetime.time(i % 24) for i in range(N)],
        Categorical([f"{i:02d}:00:00" for i in range(24)]),
        "",
    ),
    "UUIDs": (
        [uuid.UUID(int=i % 3) for i in range(N)],
        Categorical([str(uuid.UUID(int=i)) for i in range(3)]),
        "00000000-",
    ),
}


@pytest.mark.parametrize("name", OBJECTS)
def test_objects_come_back_as_text(name):
    values, column, start = OBJECTS[name]
    drawn = sample(pd.DataFrame({"a": pd.Series(values, dtype=object)}), column)["a"]
    assert drawn.dtype == object
    assert drawn.notna().sum() > 40
    assert all(isinstance(v, str) and v.startswith(start) for v in drawn.dropna())


def test_decimals_among_objects_come_back_as_numbers():
    drawn = sample(pd.DataFrame({"a": pd.Series(MONEY, dtype=object)}), CENTS)["a"]
    assert drawn.dtype == object
    assert all(isinstance(v, float) and 0 <= v <= 1 for v in drawn.dropna())


@pytest.mark.filterwarnings("ignore::skdpgen.exceptions.SchemaWarning")
def test_what_a_dtype_cannot_hold_comes_back_in_one_that_can():
    letters = Categorical(["x", "y"], nullable=False)
    for table in (
        pd.DataFrame({"a": WHOLE}),
        pl.DataFrame({"a": WHOLE}),
        pa.table({"a": WHOLE}),
    ):
        drawn = sample(table, letters)
        assert set(
            drawn["a"].to_pylist() if isinstance(drawn, pa.Table) else drawn["a"]
        ) <= {"x", "y"}
    assert set(sample(np.array(WHOLE)[:, None], letters, "x0").ravel()) <= {"x", "y"}


@pytest.mark.parametrize(
    "dtype", [pa.decimal128(4, 2), pa.decimal128(38, 3), pa.decimal128(9, -2)]
)
def test_bounds_stay_within_the_digits_of_a_decimal(dtype):
    table = pa.table({"a": pa.nulls(N, dtype)})
    for column in (Numeric(-1e45, 1e45), Integer(-(10**45), 10**45)):
        drawn = sample(table, column)
        assert drawn.schema == table.schema


def test_another_container_has_dtypes_of_its_own():
    table = pl.DataFrame({"a": WHOLE, "b": DAYS}, schema={"a": pl.UInt8, "b": pl.Date})
    schema = Schema({"a": INTEGER, "b": DAY})
    synth = DPIndependentSynthesizer(10.0, schema=schema).fit(table)
    frame = synth.set_output(transform="pandas").sample(9)
    assert str(frame["a"].dtype) == "Int64"
    assert frame["b"].dtype.kind == "M"
    table = pd.DataFrame({"a": pd.Series(WHOLE, dtype="uint8"), "b": DAYS})
    synth = DPIndependentSynthesizer(10.0, schema=schema).fit(table)
    assert isinstance(synth.set_output(transform="polars").sample(9), pl.DataFrame)


def test_an_order_that_is_not_public_is_not_made_up():
    """Discovered words are in alphabetical order, where high is below low."""
    levels = ["low", "medium", "high"]
    risk = pd.Categorical(np.resize(levels, 600), levels, ordered=True)
    level = pd.Categorical(np.resize([10, 2, 5], 600), ordered=True)
    X = pd.DataFrame({"risk": risk, "level": level})
    line = "ordered text whose order is not public, drawn without one: risk"

    synth = DPIndependentSynthesizer(1000.0).fit(X)
    drawn = synth.sample(60)
    assert not drawn["risk"].cat.ordered
    assert drawn["level"].cat.ordered
    assert sorted(drawn["level"].cat.categories) == list(drawn["level"].cat.categories)
    assert line in synth.privacy_.statements

    synth = DPIndependentSynthesizer(1000.0, schema={"risk": Ordinal(levels)}).fit(X)
    drawn = synth.sample(60)
    assert drawn["risk"].cat.ordered
    assert list(drawn["risk"].cat.categories)[:3] == levels
    assert line not in synth.privacy_.statements


def test_an_enum_comes_back_as_one_only_if_its_order_is_public():
    levels = ["low", "medium", "high"]
    enum, given = pl.Enum(levels), {"risk": Ordinal(levels)}
    X = pl.DataFrame({"risk": np.resize(levels, 600)}, schema={"risk": enum})
    y = pl.Series(np.resize(levels, 600), dtype=enum)
    line = "ordered text whose order is not public, drawn without one: risk, the target"

    synth = DPIndependentSynthesizer(1000.0).fit(X, y)
    drawn, labels = synth.sample(60)
    assert drawn["risk"].dtype == labels.dtype == pl.Categorical
    assert line in synth.privacy_.statements

    schema = Schema(given, target=Ordinal(levels))
    synth = DPIndependentSynthesizer(1000.0, schema=schema).fit(X, y)
    drawn, labels = synth.sample(60)
    assert drawn["risk"].dtype == labels.dtype == enum
    assert not any("drawn without" in line for line in synth.privacy_.statements)


def test_labels_have_an_order_only_if_the_schema_states_it():
    """Classes are sorted, so `high` would be below `low`."""
    levels = ["low", "medium", "high"]
    X = pd.DataFrame({"a": np.zeros(600)})
    y = pd.Series(pd.Categorical(np.resize(levels, 600), levels, ordered=True))
    line = "ordered text whose order is not public, drawn without one: the target"

    schema = Schema({"a": Numeric(0, 1)})
    for given in ({}, {"classes": levels}):
        synth = DPIndependentSynthesizer(1000.0, schema=schema, **given).fit(X, y)
        assert not synth.sample(60)[1].cat.ordered
        assert line in synth.privacy_.statements

    ordered = Schema({"a": Numeric(0, 1)}, target=Ordinal(levels))
    synth = DPIndependentSynthesizer(1000.0, schema=ordered).fit(X, y)
    drawn = synth.sample(60)[1]
    assert drawn.cat.ordered
    assert list(drawn.cat.categories) == levels
    assert list(synth.classes_) == sorted(levels)
    assert line not in synth.privacy_.statements
