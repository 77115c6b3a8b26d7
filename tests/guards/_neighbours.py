"""Tables and images with their neighbours: one row is another, more, or less."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from sklearn.datasets import load_digits

from skdpgen.datasets import load_example, load_example_regression
from skdpgen.tables import Boolean, Categorical, Chunks, Integer, Numeric, Schema

N_ROWS, N_IMAGES, CHUNK = 300, 200, 128  # the last chunk is shorter
UNSEEN = "Zweitausendeins"
LARGE = {"i": 2**40, "U": UNSEEN, "f": 1e300, "b": True, "M": "2261-01-01"}
SMALL = {"i": -(2**40), "U": "", "f": np.nan, "b": False, "M": None}


@dataclass(frozen=True)
class Case:
    """Rows with labels, what is known of them, and how an estimator gets them."""

    X: Any
    y: Any = None
    params: dict[str, Any] = field(default_factory=dict)
    wrap: Any = field(default=lambda X, y: (X, y))
    public_data: Any = None

    def given(self):
        """Return the rows as arguments of ``fit``."""
        return self.wrap(self.X, self.y)

    def fit(self, synth):
        """Fit an estimator to the rows, with public rows beside them if there are."""
        if self.public_data is None:
            return synth.fit(*self.given())
        return synth.fit(*self.given(), public_data=self.public_data)

    def beside(self, public_data):
        """Return the case with public rows."""
        return replace(self, public_data=public_data)

    def neighbours(self, adjacency):
        """Yield the same case with one row changed, or with one more or less."""
        for X, y in changed(self.X, self.y, adjacency):
            yield replace(self, X=X, y=y)

    def strangers(self, adjacency):
        """Yield cases that share only what is public: columns, dtypes, maybe n."""
        n = len(self.X)
        more = 9 if np.ndim(self.X) < 3 else 2
        for size in (n,) if adjacency == "replace" else (n // 8, more * n):
            order = np.resize(np.arange(n)[::-1] // 3, size)
            X, y = (None if rows is None else taken(rows, order) for rows in self.rows)
            yield replace(self, X=replaced(X, 1, LARGE), y=replaced(y, 2, SMALL))

    @property
    def rows(self):
        return self.X, self.y


def taken(rows, order):
    """Return rows at some places."""
    is_pandas = isinstance(rows, pd.DataFrame | pd.Series)
    return rows.iloc[order].reset_index(drop=True) if is_pandas else rows[order]


def changed(X, y, adjacency):
    """Yield tables that differ from (X, y) in one row, the worst that come to mind."""
    last = len(X) - 1
    if adjacency == "replace":
        yield replaced(X, 0, LARGE), replaced(y, 0, LARGE)
        yield replaced(X, last, SMALL), replaced(y, last, SMALL)
    else:
        yield without(X, 0), without(y, 0)
        yield with_copy(X, last, SMALL), with_copy(y, last, SMALL)
        yield with_copy(X, 0, LARGE), with_copy(y, 0, LARGE)


def replaced(rows, place, values):
    """Return rows of the same dtypes with a hostile one at a place."""
    if rows is None:
        return None
    if isinstance(rows, pd.DataFrame):
        return pd.DataFrame({n: replaced(c, place, values) for n, c in rows.items()})
    if isinstance(rows, pd.Series):
        return _replaced_series(rows, place, values)
    found, kind = rows.copy(), rows.dtype.kind
    if kind == "O":
        found[place] = UNSEEN if values is LARGE else None
    elif kind == "u":
        found[place] = 255 if values is LARGE else 0
    elif kind == "f":
        found[place] = np.finfo(found.dtype).max if values is LARGE else np.nan
    else:
        found[place] = values[kind]
    return found


def _replaced_series(series, place, values):
    is_large, dtype = values is LARGE, series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        series = series.cat.add_categories([UNSEEN])  # private: the dtype's kind is not
        value = UNSEEN if is_large else None
    elif dtype.kind in "OU" or isinstance(dtype, pd.StringDtype):
        value = UNSEEN if is_large else None
    else:
        value = pd.NA if dtype.name == "Int64" and not is_large else values[dtype.kind]
        value = pd.Timestamp(value) if dtype.kind == "M" else value
    series = series.copy()
    series.iloc[place] = value
    return series


def without(rows, place):
    """Return all rows but one."""
    if rows is None:
        return None
    if isinstance(rows, pd.DataFrame | pd.Series):
        return rows.drop(index=rows.index[place])
    return np.delete(rows, place, axis=0)


def with_copy(rows, place, values):
    """Return the rows with a hostile one put in before a place, or at the end."""
    if rows is None:
        return None
    is_pandas = isinstance(rows, pd.DataFrame | pd.Series)
    if is_pandas:
        order = np.insert(np.arange(len(rows)), place + bool(place), place)
        longer = rows.iloc[order].reset_index(drop=True)
    else:
        longer = np.insert(rows, place + bool(place), rows[place], axis=0)
    return replaced(longer, place + bool(place), values)


def in_chunks(X, y):
    """Return (X, y) as chunks; where they are cut goes by place alone."""

    def open_chunks():
        for start in range(0, len(X), CHUNK):
            some = slice(start, start + CHUNK)
            yield X[some] if y is None else (X[some], y[some])

    return (Chunks(open_chunks),)


def tables():
    """Return tables of all kinds, with all kinds of target."""
    X, y = load_example(N_ROWS)
    X = X[["age", "job", "education", "income", "owns_home", "complaints"]].assign(
        since=load_example(N_ROWS)[0]["customer_since"]
    )
    house, price = load_example_regression(N_ROWS)
    house = house[["area", "rooms", "balcony", "heating"]]
    public = {
        "schema": Schema.infer(X),
        "classes": ["left", "stayed"],
    }
    rng = np.random.default_rng(0)
    days = pd.Timestamp("2020-01-01") + pd.to_timedelta(
        rng.integers(0, 99, N_ROWS), "D"
    )
    text = pd.DataFrame(
        {
            "day": days.strftime("%Y-%m-%d"),
            "paid": [f"{v:.2f}" for v in rng.gamma(2.0, 9.0, N_ROWS)],
            "written": days.strftime("%m/%d/%Y"),
            "cost": [f"{v:,.2f}" for v in rng.gamma(2.0, 900.0, N_ROWS)],
            "id": [f"c{i}x" for i in rng.permutation(N_ROWS)],
            "flag": pd.Series(rng.random(N_ROWS) < 0.3).astype(object),
            "code": rng.choice([2, 70, 4000], N_ROWS),
            "code in text": rng.choice(["2", "70", "4000"], N_ROWS),
            "year": rng.integers(1990, 2010, N_ROWS),
        }
    )
    odd = ["\ud800", *["'\\ud800'", "b", "c"] * (N_ROWS // 3)][:N_ROWS]
    surrogates = pd.DataFrame(
        {"a": pd.Series(odd, dtype=pd.StringDtype("python")), "b": X["job"]}
    )
    weights = pd.Series(
        ["\ud800", *[f"{v:.1f} kg" for v in rng.gamma(2.0, 30.0, N_ROWS - 1)]],
        dtype=object,
    )
    labels = rng.integers(0, 3, N_ROWS)
    floats = rng.normal(size=(N_ROWS, 3)) + labels[:, None]
    return {
        "frame": Case(X, y),
        "frame, public": Case(X, y, public),
        "frame in chunks": Case(X, y, wrap=in_chunks),
        "frame without labels": Case(X),
        "text that says more": Case(text, y),
        "half a surrogate pair": Case(surrogates, y),
        "array of text": Case(np.array(odd)[:, None], np.array(odd)),
        "polars": Case(
            X.drop(columns="education"),
            y,
            wrap=lambda X, y: (pl.from_pandas(X), y.tolist()),
        ),
        "numbers as target": Case(house, price),
        "text of numbers as target": Case(X, weights, {"task": "regression"}),
        "array": Case(floats, labels, {"classes": [0, 1, 2]}),
        "array in chunks": Case(floats, labels, wrap=in_chunks),
        "objects": Case(X[["job", "age"]].astype(object).to_numpy(), y.astype(object)),
        "classes that are not found": Case(X, pd.Series(np.arange(N_ROWS)).astype(str)),
        "schema that contradicts": Case(
            X[["age", "job", "income"]],
            y,
            {
                "schema": Schema(
                    {
                        "age": Boolean(),
                        "job": Integer(0, 3),
                        "income": Categorical(["a"]),
                    },
                    target=Categorical(["left", "stayed", "moved"]),
                )
            },
        ),
        "one column": Case(
            X[["age"]], None, {"schema": Schema({"age": Numeric(0, 9)})}
        ),
    }


def images():
    """Return images of both dtypes, with and without labels."""
    digits, labels = load_digits(return_X_y=True)
    pixels = digits[:N_IMAGES].reshape(-1, 8, 8)
    grey = np.rint(pixels * 255 / 16).astype(np.uint8)
    labels = labels[:N_IMAGES] % 3
    known = {"classes": [0, 1, 2]}
    return {
        "images": Case(grey, labels, known),
        "images in chunks": Case(grey, labels, wrap=in_chunks),
        "images of floats": Case((pixels / 16).astype(np.float32), labels, known),
        "images without labels": Case(grey),
        "images, numbers as target": Case(grey, pixels.mean(axis=(1, 2))),
    }
