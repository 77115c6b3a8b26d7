"""Messy tables, each trouble by itself and then mixed; made by code, 2000 rows each."""

import datetime
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from skdpgen import Boolean, Categorical, Integer, Numeric, Schema
from skdpgen.exceptions import (
    IdentifierWarning,
    NoisyColumnsWarning,
    RareValuesWarning,
    SchemaError,
    SchemaWarning,
)

N = 2000


@dataclass(frozen=True, eq=False)
class Messy:
    """A table, what it should be taken for, and what should be said about it.

    Parameters
    ----------
    X, y : table and labels
    kinds : mapping of name to str
        Type in the schema that each of these columns should be discovered as.
    params : mapping
        Parameters of the estimator.
    warns : set of warning classes
        Documented warnings that must be raised; no other may be.
    raises : type of error or None
        Documented error, before anything is spent.
    says : str
        Part of the message of the warning or the error.
    may_warn : set of warning classes
        Those of losses of about 3 %, or of noise, which are warned of or not.
    lost : set of names
        Columns of which a wrong schema leaves little.
    """

    X: Any
    y: Any = None
    kinds: dict[Any, str] = field(default_factory=dict)
    params: dict[str, Any] = field(default_factory=dict)
    warns: frozenset[type[Warning]] = frozenset()
    raises: type[Exception] | None = None
    says: str = ""
    may_warn: frozenset[type[Warning]] = frozenset()
    lost: frozenset[Any] = frozenset()


TABLES: dict[str, Callable[[np.random.Generator], Messy]] = {}


def table(make: Callable[[np.random.Generator], Messy]) -> Callable[..., Messy]:
    """Register a table by the name of the function that makes it."""
    TABLES[make.__name__] = make
    return make


@cache
def made(name: str) -> Messy:
    """Make a table; the same each time, and only looked at."""
    return TABLES[name](np.random.default_rng(sum(map(ord, name))))


RARE = frozenset({RareValuesWarning})
WRONG = frozenset({SchemaWarning})
DROWNED = frozenset({NoisyColumnsWarning})
NUMBERED = frozenset({IdentifierWarning})


def words(rng, n_words, skew=1.0, prefix="w"):
    """Return text of some number of words, by Zipf's law."""
    shares = 1.0 / np.arange(1, n_words + 1) ** skew
    codes = rng.choice(n_words, N, p=shares / shares.sum())
    return [f"{prefix}{code:03d}" for code in codes]


def beside(rng):
    """Return two tame columns, for a table to be more than its trouble."""
    return {"age": rng.integers(18, 90, N), "job": words(rng, 5, prefix="job")}


# ------------------------------------------------------------------ dates and ids


@table
def dates_as_text(rng):
    days = pd.Timestamp("2019-01-01") + pd.to_timedelta(rng.integers(0, 900, N), "D")
    X = pd.DataFrame({"day": days.strftime("%Y-%m-%d"), **beside(rng)})
    return Messy(X, kinds={"day": "Datetime"})


@table
def dates_as_text_with_garbage(rng):
    days = pd.Timestamp("2019-01-01") + pd.to_timedelta(rng.integers(0, 900, N), "D")
    text = days.strftime("%Y-%m-%d").to_numpy(dtype=object)
    text[::50] = ["n/a", "soon", "31.02.2020", ""] * (N // 200)
    X = pd.DataFrame({"day": text, **beside(rng)})
    return Messy(X, kinds={"day": "Datetime"})


@table
def timestamps_as_text(rng):
    times = pd.Timestamp("2023-05-01") + pd.to_timedelta(rng.integers(0, 9**7, N), "s")
    X = pd.DataFrame({"seen": times.strftime("%Y-%m-%dT%H:%M:%S"), **beside(rng)})
    return Messy(X, kinds={"seen": "Datetime"})


@table
def date_objects(rng):
    start = datetime.date(2000, 1, 1)
    days = [start + datetime.timedelta(int(d)) for d in rng.integers(0, 9000, N)]
    return Messy(pd.DataFrame({"born": days, **beside(rng)}))


@table
def dates_with_time_zone(rng):
    times = pd.Timestamp("2021-01-01") + pd.to_timedelta(rng.integers(0, 10**8, N), "s")
    zoned = pd.Series(times).dt.tz_localize("UTC").dt.tz_convert("Europe/Berlin")
    zoned[::7] = pd.NaT
    X = pd.DataFrame({"seen": zoned, **beside(rng)})
    return Messy(X, kinds={"seen": "Datetime"})


@table
def birthdays_before_the_epoch(rng):
    days = pd.Timestamp("1931-01-01") + pd.to_timedelta(rng.integers(0, 30_000, N), "D")
    X = pd.DataFrame({"born": days, **beside(rng)})
    return Messy(X, kinds={"born": "Datetime"})


@table
def identifiers(rng):
    ids = [str(uuid.UUID(bytes=rng.bytes(16))) for _ in range(N)]
    return Messy(pd.DataFrame({"id": ids, **beside(rng)}), kinds={"id": "Regenerate"})


@table
def nothing_but_identifiers(rng):
    ids = [f"c{i:05d}x" for i in rng.permutation(N)]
    return Messy(pd.DataFrame({"id": ids}), warns=RARE)


@table
def identifiers_of_few_customers(rng):
    ids = [f"c{i:04d}" for i in rng.integers(0, 600, N)]
    return Messy(pd.DataFrame({"id": ids, **beside(rng)}), warns=RARE)


# ---------------------------------------------------------------------- long lists


@table
def codes_by_zipf(rng):
    X = pd.DataFrame({"code": words(rng, 700), **beside(rng)})
    return Messy(X, kinds={"code": "Categorical"}, warns=RARE)


@table
def codes_alike(rng):
    X = pd.DataFrame({"code": words(rng, 700, 0.0), **beside(rng)})
    return Messy(X, kinds={"code": "Categorical"}, warns=RARE)


@table
def eight_texts(rng):
    levels = ["a", "b", "c", "d", "e", "f"]
    shares = [0.4, 0.25, 0.15, 0.1, 0.07, 0.03]
    X = pd.DataFrame({f"t{i}": rng.choice(levels, N, p=shares) for i in range(8)})
    return Messy(X, kinds=dict.fromkeys(X, "Categorical"))


@table
def a_category_called_other(rng):
    kind = rng.choice(["other", "none", "Other", "x"], N, p=[0.5, 0.3, 0.1, 0.1])
    X = pd.DataFrame({"kind": kind, **beside(rng)})
    return Messy(X, kinds={"kind": "Categorical"})


@table
def text_that_says_missing(rng):
    kind = rng.choice(["NA", "nan", "None", "", " ", "null"], N)
    X = pd.DataFrame({"kind": kind, **beside(rng)})
    return Messy(X, kinds={"kind": "Categorical"})


@table
def long_and_strange_text(rng):
    kinds = ["x" * 5000, "émile\n", "日本", "{i}", "'; drop", "a\x00b"]
    X = pd.DataFrame({"kind": rng.choice(np.array(kinds, dtype=object), N)})
    return Messy(X.assign(**beside(rng)), kinds={"kind": "Categorical"})


@table
def text_that_cannot_be_written(rng):
    kinds = np.array(["\ud800x", "plain", Unprintable()], dtype=object)
    X = pd.DataFrame({"kind": pd.Series(rng.choice(kinds, N), dtype=object)})
    return Messy(X.assign(**beside(rng)), kinds={"kind": "Categorical"})


class Unprintable:
    """A value whose own code fails."""

    def __str__(self):
        raise RuntimeError("no text")

    __repr__ = __hash__ = __eq__ = __bool__ = __float__ = __str__


# ---------------------------------------------------- numbers and truths as text


@table
def numbers_as_text(rng):
    paid = [f"{v:.2f}" for v in rng.gamma(2.0, 300.0, N)]
    n = [str(v) for v in rng.integers(0, 5000, N)]
    X = pd.DataFrame({"paid": paid, "n": n, **beside(rng)})
    return Messy(X, kinds={"paid": "Numeric", "n": "Integer"})


@table
def numbers_as_text_with_garbage(rng):
    n = np.array([str(v) for v in rng.integers(0, 5000, N)], dtype=object)
    n[::25] = "n/a"
    X = pd.DataFrame({"n": n, **beside(rng)})
    return Messy(X, kinds={"n": "Integer"})


@table
def codes_as_text_with_garbage(rng):
    codes = rng.choice(
        ["101", "250", "999", "4000", "unknown"], N, p=[*[0.23] * 4, 0.08]
    )
    return Messy(pd.DataFrame({"code": codes, **beside(rng)}))


@table
def codes_as_text_written_two_ways(rng):
    codes = rng.choice(["101", "101.0", "999", "4000", "1e4"], N)
    return Messy(pd.DataFrame({"code": codes, **beside(rng)}))


@table
def postcodes(rng):
    zips = [f"{v:05d}" for v in rng.choice([1067, 4109, 10115, 80331, 99084], N)]
    X = pd.DataFrame({"zip": zips, **beside(rng)})
    return Messy(X, kinds={"zip": "Categorical"})


@table
def truth_in_words(rng):
    X = pd.DataFrame(
        {
            "yes": rng.choice(["yes", "no"], N),
            "true": rng.choice(["True", "False"], N, p=[0.9, 0.1]),
            "object": pd.Series(rng.random(N) < 0.3).astype(object),
            "missing": pd.Series(rng.random(N) < 0.3).astype(object),
            "01": rng.choice(["0", "1"], N),
        }
    )
    X.loc[::4, "missing"] = None
    return Messy(X, kinds={"object": "Boolean", "missing": "Boolean"})


@table
def objects_from_an_array(rng):
    X = pd.DataFrame({**beside(rng), "x": rng.normal(size=N), "b": rng.random(N) < 0.5})
    return Messy(X.to_numpy(), kinds={0: "Integer", 2: "Numeric", 3: "Boolean"})


@table
def mixed_cells(rng):
    cells = np.empty(N, dtype=object)
    kinds = [1, "1", 1.5, True, None, "a", ("t",), b"raw"]
    for row, code in enumerate(rng.integers(0, len(kinds), N)):
        cells[row] = kinds[code]
    return Messy(pd.DataFrame({"cell": cells, **beside(rng)}))


@table
def decimals(rng):
    X = pd.DataFrame(
        {"price": [Decimal(int(v)) / 100 for v in rng.integers(0, 9999, N)]}
    )
    return Messy(X.assign(**beside(rng)), kinds={"price": "Numeric"})


# -------------------------------------------------------------------- missing, few


@table
def all_missing(rng):
    X = pd.DataFrame({"void": np.full(N, np.nan), "none": [None] * N, **beside(rng)})
    return Messy(X)


@table
def constants_and_pairs(rng):
    X = pd.DataFrame(
        {
            "one": np.ones(N),
            "seven": np.full(N, 7),
            "word": ["a"] * N,
            "two": rng.choice([2, 5], N),
            "far": rng.choice([-1, 1_000_000], N),
            "half": rng.choice([0.5, 2.5], N),
        }
    )
    return Messy(X)


@table
def one_is_missing(rng):
    X = pd.DataFrame({"n": rng.integers(0, 60, N).astype(float), **beside(rng)})
    X["t"] = words(rng, 3)
    X.loc[5, ["n", "t"]] = [np.nan, None]
    return Messy(X, kinds={"n": "Integer", "t": "Categorical"})


@table
def a_third_is_missing(rng):
    X = pd.DataFrame({"x": rng.normal(5, 1, N), "n": rng.integers(0, 40, N), "t": "a"})
    X["t"] = words(rng, 4)
    X = X.mask(rng.random(X.shape) < 0.3)
    return Messy(X, kinds={"x": "Numeric", "n": "Integer", "t": "Categorical"})


# ----------------------------------------------------------------- shapes of numbers


@table
def zeros_and_heavy_tails(rng):
    tail = np.where(rng.random(N) < 0.8, 0.0, np.exp(rng.normal(7, 2, N))).round(2)
    X = pd.DataFrame({"loss": tail, "gain": rng.pareto(1.5, N), **beside(rng)})
    return Messy(X, kinds={"loss": "Numeric", "gain": "Numeric"})


@table
def spikes(rng):
    income = np.where(rng.random(N) < 0.1, 99999, rng.integers(0, 4000, N))
    score = np.where(rng.random(N) < 0.15, -1, rng.integers(300, 850, N))
    X = pd.DataFrame({"income": income, "score": score, **beside(rng)})
    return Messy(X, kinds={"income": "Integer", "score": "Integer"})


@table
def tiny_and_huge(rng):
    X = pd.DataFrame(
        {
            "tiny": rng.normal(3e-9, 1e-9, N).clip(1e-10),
            "huge": rng.normal(2e15, 1e14, N),
            "whole": rng.integers(10**14, 10**15, N),
            "both": np.exp(rng.normal(0, 8, N)),
        }
    )
    kinds = {"tiny": "Numeric", "huge": "Integer", "whole": "Integer"}
    # rare values are those of "both", whose tails are thin
    return Messy(X, kinds=kinds, may_warn=RARE, warns=NUMBERED, says="'whole'")


@table
def codes_far_apart(rng):
    codes = rng.choice([3, 17, 4000, 90_000], N, p=[0.4, 0.3, 0.2, 0.1])
    X = pd.DataFrame({"code": codes, **beside(rng)})
    return Messy(X, kinds={"code": "Integer"})


@table
def codes_of_an_unsigned_dtype(rng):
    codes = np.where(
        rng.random(N) < 0.96,
        rng.choice([3, 17, 4000, 60_000], N),
        rng.integers(0, 65_000, N) // 700 * 700,
    )
    X = pd.DataFrame({"code": codes.astype("uint16"), **beside(rng)})
    return Messy(X)


@table
def huge_codes(rng):
    codes = 2**60 + rng.choice([1, 2, 3], N)
    return Messy(pd.DataFrame({"code": codes, **beside(rng)}))


@table
def years(rng):
    X = pd.DataFrame({"year": rng.integers(1992, 2024, N), **beside(rng)})
    X["body"] = rng.normal(37.0, 0.5, N).round(1)
    return Messy(X, kinds={"year": "Integer", "body": "Numeric"})


@table
def infinite(rng):
    x = rng.normal(size=N)
    x[::9], x[1::9] = np.inf, -np.inf
    return Messy(pd.DataFrame({"x": x, **beside(rng)}), kinds={"x": "Numeric"})


# --------------------------------------------------------------------------- dtypes


@table
def small_dtypes(rng):
    X = pd.DataFrame(
        {
            "u8": rng.integers(0, 256, N).astype("uint8"),
            "i8": rng.integers(-128, 128, N).astype("int8"),
            "u64": rng.integers(0, 1000, N).astype("uint64"),
            "f16": rng.normal(0, 100, N).astype("float16"),
            "f32": rng.normal(0, 1, N).astype("float32"),
        }
    )
    return Messy(X, kinds={"u8": "Integer", "i8": "Integer", "f32": "Numeric"})


@table
def nullable_dtypes(rng):
    X = pd.DataFrame(
        {
            "n": pd.array(rng.integers(0, 90, N), dtype="Int16"),
            "x": pd.array(rng.normal(size=N), dtype="Float32"),
            "b": pd.array(rng.random(N) < 0.2, dtype="boolean"),
            "s": pd.array(words(rng, 4), dtype="string"),
            "c": pd.Categorical(words(rng, 4)),
            "o": pd.Categorical(rng.integers(1, 6, N), ordered=True),
        }
    )
    X.loc[::5, ["n", "x", "b", "s", "c"]] = None
    return Messy(X, kinds={"n": "Integer", "b": "Boolean", "s": "Categorical"})


@table
def arrow_dtypes(rng):
    X = pd.DataFrame({**beside(rng), "x": rng.normal(size=N), "b": rng.random(N) < 0.5})
    X["day"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 99, N), "D")
    return Messy(X.convert_dtypes(dtype_backend="pyarrow"))


@table
def polars_frame(rng):
    X = pl.DataFrame({**beside(rng), "x": rng.normal(size=N), "b": rng.random(N) < 0.5})
    day = pl.Series(rng.integers(0, 999, N)).cast(pl.Int32).cast(pl.Date)
    return Messy(
        X.with_columns(day.alias("day"), pl.col("job").cast(pl.Categorical).alias("c"))
    )


# ---------------------------------------------------------------------------- names


@table
def strange_names(rng):
    names = ["{i}", "a b", "日本", "", "a{0!r}", "index", "%d", "a,b", "A", "a"]
    X = pd.DataFrame({name: rng.integers(0, 9, N) for name in names})
    X["{"] = [f"c{i}" for i in rng.permutation(N)]
    X["}{i}{"] = [f"c{i}" for i in rng.permutation(N)]
    return Messy(X, kinds={"{": "Regenerate", "}{i}{": "Regenerate"})


@table
def names_that_are_not_text(rng):
    X = pd.DataFrame(
        {
            0: rng.integers(0, 9, N),
            1.5: rng.normal(size=N),
            ("a", 1): words(rng, 3),
            None: rng.random(N) < 0.5,
            pd.Timestamp("2020-01-01"): rng.integers(0, 9, N),
        }
    )
    return Messy(X)


@table
def one_column(rng):
    return Messy(pd.DataFrame({"x": rng.gamma(2.0, 10.0, N)}), kinds={"x": "Numeric"})


@table
def sixty_columns(rng):
    X = pd.DataFrame({f"x{i}": rng.integers(0, 2 + i, N) for i in range(40)})
    return Messy(X.assign(**{f"t{i}": words(rng, 3) for i in range(20)}))


# --------------------------------------------------------------------------- labels


def tame(rng):
    """Return a table and the number that labels are made of."""
    X = pd.DataFrame({**beside(rng), "x": rng.normal(size=N)})
    return X, X["x"].to_numpy() + rng.normal(size=N)


@table
def labels_text(rng):
    X, z = tame(rng)
    return Messy(X, np.where(z > 0, "stays", "goes"))


@table
def labels_truth(rng):
    X, z = tame(rng)
    return Messy(X, z > 0.5)


@table
def labels_few_integers(rng):
    X, z = tame(rng)
    return Messy(X, pd.Series(np.digitize(z, [-1, 0, 1]), name="grade"))


@table
def labels_many_integers(rng):
    X, z = tame(rng)
    return Messy(X, (1000 + 100 * z).astype(int))


@table
def labels_numbers(rng):
    X, z = tame(rng)
    return Messy(X, np.exp(z))


@table
def labels_missing(rng):
    X, z = tame(rng)
    y = pd.Series(np.where(z > 0, "stays", "goes"), dtype=object)
    return Messy(X, y.mask(rng.random(N) < 0.2), warns=WRONG, says="were left out")


@table
def labels_rare(rng):
    X, z = tame(rng)
    return Messy(X, (z > np.quantile(z, 0.995)).astype(int))


@table
def three_hundred_classes(rng):
    X, _ = tame(rng)
    y = [f"c{i}" for i in rng.integers(0, 300, N)]
    params = {"classes": [f"c{i}" for i in range(300)]}
    return Messy(X, y, params=params)


@table
def classes_that_match_nothing(rng):
    X, z = tame(rng)
    y = np.where(z > 0, "stays", "goes")
    params = {"classes": ["Stays", "Goes"]}
    lost = frozenset({*X, "y"})
    return Messy(X, y, {}, params, WRONG, may_warn=DROWNED, says="classes", lost=lost)


# -------------------------------------------------------------------------- schemas


@table
def schema_misspelt_name(rng):
    X, _ = tame(rng)
    params = {"schema": Schema({"jobs": Categorical(["job000"])})}
    return Messy(X, params=params, raises=SchemaError, says="jobs")


@table
def schema_misspelt_values(rng):
    X, _ = tame(rng)
    params = {"schema": Schema({"job": Categorical(["Job000", "Job001"])})}
    return Messy(X, params=params, warns=WRONG, says="job", lost=frozenset({"job"}))


@table
def schema_bounds_that_clip(rng):
    X, _ = tame(rng)
    params = {"schema": Schema({"age": Integer(-50, 20)})}
    lost = frozenset({"age"})
    return Messy(X, params=params, warns=WRONG, says="moved to it", lost=lost)


@table
def schema_of_the_wrong_kind(rng):
    X, _ = tame(rng)
    known = {"age": Categorical([str(i) for i in range(18, 90)]), "x": Boolean()}
    params, lost = {"schema": Schema(known)}, frozenset({"x"})
    return Messy(X, params=params, warns=WRONG, says="neither true nor", lost=lost)


@table
def schema_far_too_wide(rng):
    X, _ = tame(rng)
    known = {"age": Integer(-(10**9), 10**9), "x": Numeric(-1e12, 1e12)}
    return Messy(X, params={"schema": Schema(known)}, lost=frozenset(known))


# ------------------------------------------------------------------------- mixtures


@table
def a_shop(rng):
    days = pd.Timestamp("2022-01-01") + pd.to_timedelta(rng.integers(0, 700, N), "D")
    X = pd.DataFrame(
        {
            "order": [f"A-{i:06d}" for i in rng.permutation(N)],
            "day": days.strftime("%Y-%m-%d"),
            "country": rng.choice(
                ["DE", "FR", "US", "JP"], N, p=[0.6, 0.25, 0.12, 0.03]
            ),
            "paid": [f"{v:.2f}" for v in rng.gamma(2.0, 40.0, N)],
            "items": np.where(rng.random(N) < 0.7, 1, rng.integers(2, 30, N)),
            "discount": np.where(rng.random(N) < 0.8, 0.0, rng.random(N).round(2)),
            "zip": [f"{v:05d}" for v in rng.integers(1000, 99999, N)],
        }
    )
    return Messy(
        X, rng.random(N) < 0.1, kinds={"order": "Regenerate", "day": "Datetime"}
    )


@table
def a_clinic(rng):
    X = pd.DataFrame(
        {
            "born": rng.integers(1930, 2015, N),
            "weight": rng.normal(75, 15, N).round(1),
            "lab": np.exp(rng.normal(0, 1.5, N)),
            "code": words(rng, 80, 1.2, "I"),
            "smoker": pd.Series(rng.random(N) < 0.2).astype(object),
            "visits": rng.poisson(2, N).astype(float),
        }
    )
    X = X.mask(rng.random(X.shape) < [0, 0.3, 0.6, 0, 0.1, 0])
    return Messy(X, rng.choice(["a", "b", "c"], N, p=[0.7, 0.25, 0.05]), warns=RARE)


@table
def a_survey(rng):
    X = pd.DataFrame({f"q{i}": rng.choice([1, 2, 3, 4, 5, 99], N) for i in range(12)})
    X["income"] = np.where(rng.random(N) < 0.2, 999_999, rng.integers(0, 9000, N) * 10)
    X["comment"] = [f"text {rng.integers(10**9)}" for _ in range(N)]
    return Messy(X.astype(object), kinds={"comment": "Regenerate"})
