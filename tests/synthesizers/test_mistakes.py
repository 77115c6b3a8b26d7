"""Frequent mistakes of newcomers: each error has the line that mends it."""

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline

from skdpgen import (
    Chunks,
    DPGANSynthesizer,
    DPIndependentSynthesizer,
    DPMERFSynthesizer,
    Generator,
    all_synthesizers,
)
from skdpgen.exceptions import SchemaError, SchemaWarning
from skdpgen.synthesizers.base import _synthesizer
from skdpgen.tables import Boolean, Categorical, Datetime, Integer, Numeric, Schema

RNG = np.random.default_rng(0)
X = pd.DataFrame({"age": RNG.integers(20, 60, 200), "left": RNG.random(200) < 0.5})
SCHEMA = Schema({"age": Integer(0, 120), "left": Boolean()})


def error_of(X, y=None, cls=DPIndependentSynthesizer, **params):
    """Return the text of the error; nothing may have been paid."""
    synth = cls(**params)
    with pytest.raises(TypeError) as raised:
        synth.fit(X, y)
    assert not hasattr(synth, "privacy_")
    return str(raised.value)


def never():
    raise AssertionError("a row was read")


# ------------------------------------------------------------------------------ y


def test_y_is_the_name_of_a_column():
    said = error_of(X, "left")
    assert "y must hold a label for each row. Got 'left', which is a name" in said
    call = "fit(X.drop(columns=['left']), X['left'])"
    assert said.endswith(f"call `{call}`.")
    synth = DPIndependentSynthesizer(schema={"age": Integer(0, 120)})
    eval(f"synth.{call}", {"synth": synth, "X": X})  # the line works as it is
    assert synth.task_ == "classification"


def test_y_is_the_name_of_a_column_of_polars():
    assert "Got 'left', which is a name" in error_of(pl.from_pandas(X), "left")


def test_y_is_a_name_that_is_no_column():
    assert error_of(X, "gone").endswith("call `fit(X, X['gone'])`.")


def test_y_is_a_name_and_X_an_array():
    assert "which is a name" in error_of(X.to_numpy(dtype=float), "left")


# ------------------------------------------------------------------------- schema


def test_schema_is_to_be_inferred():
    said = error_of(X, schema="infer")
    assert "Got 'infer': call `Schema.infer(X)` if bounds and categories" in said
    assert "leave schema=None, which discovers them privately" in said


@pytest.mark.parametrize("path", ["columns.toml", Path("columns.toml")], ids=repr)
def test_schema_is_a_path(path):
    said = error_of(X, schema=path)
    assert "schema must be a Schema, a dict or None. Got 'columns.toml'" in said
    assert said.endswith("call `Schema.load('columns.toml')`.")


def test_the_line_for_a_path_works(tmp_path):
    path = tmp_path / "columns.toml"
    path.write_text(SCHEMA.to_toml())
    assert f"call `Schema.load({str(path)!r})`" in error_of(X, schema=path)
    assert Schema.load(str(path)) == SCHEMA


@pytest.mark.parametrize("kind", [list, tuple])
def test_schema_is_a_list_of_columns(kind):
    said = error_of(X, schema=kind([Integer(0, 120), Boolean()]))
    assert said.endswith('Got a list: name the columns, as `{"age": Integer(0, 120)}`.')


# ---------------------------------------------------------------------- generator


@pytest.mark.parametrize("cls", [DPMERFSynthesizer, DPGANSynthesizer])
def test_generator_is_a_dict(cls):
    settings = {"max_iter": 50, "network": "full"}
    said = error_of(X, cls=cls, generator=settings)
    assert "generator must be a Generator or None. Got a dict" in said
    line = "generator=Generator(max_iter=50, network='full')"
    assert said.endswith(f"say `{line}`.")
    made = eval(f"dict({line})", {"Generator": Generator})["generator"]
    assert settings.items() <= made.get_params().items()


def test_generator_is_the_class():
    said = error_of(X, cls=DPMERFSynthesizer, generator=Generator)
    assert said.endswith("Got the class: say `generator=Generator()`.")


# ------------------------------------------------------------------------------ X


def test_X_is_a_schema():
    said = error_of(SCHEMA)
    assert said == "X must be a table. Got a Schema: pass it as `schema=`."


@pytest.mark.parametrize(
    ("path", "read"),
    [
        ("people.csv", "pd.read_csv"),
        ("people.parquet", "pd.read_parquet"),
        ("people", "pd.read_csv"),
    ],
)
def test_X_is_a_path_as_text(path, read):
    said = error_of(path)
    assert f"X must be a table. Got {path!r}: read it first" in said
    assert f"`{read}({path!r})`" in said
    assert f"`skdpgen fit {path}`" in said


def test_X_is_a_path_of_a_file_that_is_not_of_parquet(tmp_path):
    path = tmp_path / "people.csv"
    X.to_csv(path, index=False)
    said = error_of(path)
    line = f"pd.read_csv({str(path)!r})"
    assert f"`{line}`" in said
    pd.testing.assert_frame_equal(eval(line, {"pd": pd}), X)


def test_X_is_a_dict():
    said = error_of(X.to_dict("list"))
    assert said == "X must be a table. Got a dict: call `pd.DataFrame(X)`."


def test_X_is_a_list_of_records():
    said = error_of(X.to_dict("records"))
    assert said == "X must be a table. Got a list: call `pd.DataFrame(X)`."


def test_X_is_one_column():
    said = error_of(X["age"])
    assert said == "X must be a table. Got a Series: call `X.to_frame()`."
    DPIndependentSynthesizer(schema={"age": Integer(0, 120)}).fit(X["age"].to_frame())


# ------------------------------------------------------------------ of all methods


@pytest.mark.parametrize("name", sorted(all_synthesizers()))
def test_every_method_looks_for_mistakes_before_a_row_is_read(name):
    cls = all_synthesizers()[name]
    assert "Schema.infer(X)" in error_of(Chunks(never), cls=cls, schema="infer")
    assert "X must be a table" in error_of(SCHEMA, cls=cls)
    if "generator" in cls().get_params():
        said = error_of(Chunks(never), cls=cls, generator={"max_iter": 5})
        assert "Generator(max_iter=5)" in said


def test_no_value_of_a_row_is_in_a_message():
    secret = "Jane Doe, 12.3.1966"
    records = [{"name": secret}]
    for rows in (records, {"name": [secret]}, pd.Series([secret])):
        assert secret not in error_of(rows)
    assert secret not in error_of(pd.DataFrame(records), "name")


# --------------------------------------------- types that no value of a dtype fits

NUMBER = pd.Series(np.arange(300))
DAY = pd.Series(pd.date_range("2020-01-01", periods=300))
A_YEAR = Datetime("2020-01-01", "2021-01-01")
NEVER = {
    "times of whole numbers": (NUMBER, A_YEAR),
    "times of numbers": (NUMBER.astype("Float64"), A_YEAR),
    "times of truth values": (NUMBER > 9, A_YEAR),
    "times of categories": (NUMBER.astype("category"), A_YEAR),
    "whole numbers of times": (DAY, Integer(0, 9)),
    "numbers of times": (DAY.dt.tz_localize("UTC"), Numeric(0, 9)),
    "truth values of times": (DAY, Boolean()),
    "categories of times": (DAY, Categorical(["2020-01-01"])),
    "times that are categories": (DAY.astype("category"), Categorical([DAY[0]])),
}


@pytest.mark.parametrize("name", NEVER)
def test_times_are_no_numbers(name):
    values, column = NEVER[name]
    synth = DPIndependentSynthesizer(schema={"p": column})
    expected = f"Column 'p' must be .* its dtype holds. Got {type(column).__name__} "
    with pytest.raises(SchemaError, match=expected):
        synth.fit(pd.DataFrame({"p": values}))
    assert not hasattr(synth, "privacy_")


def test_times_of_a_target_are_no_numbers():
    for values, column in ((NUMBER, A_YEAR), (DAY, Numeric(0, 9))):
        schema = Schema(target=column)
        synth = DPIndependentSynthesizer(schema=schema, task="regression")
        with pytest.raises(SchemaError, match="The target must be described by what"):
            synth.fit(pd.DataFrame({"q": NUMBER}), values)


@pytest.mark.parametrize("classes", [None, list(DAY[:2])])
def test_times_are_no_labels(classes):
    synth = DPIndependentSynthesizer(task="classification", classes=classes)
    with pytest.raises(TypeError, match=r"y of a classification .* Got times; convert"):
        synth.fit(pd.DataFrame({"q": NUMBER}), DAY)
    assert not hasattr(synth, "privacy_")


def test_text_that_a_dtype_of_numbers_cannot_hold_is_explained():
    table = pd.DataFrame({"p": np.linspace(0, 1, 3000)})
    synth = DPIndependentSynthesizer(schema={"p": Categorical(["a", "b"])})
    with pytest.warns(SchemaWarning, match="Its dtype holds no text"):
        synth.fit(table)


# ------------------------------------------------------------- scores of predictions


@pytest.mark.parametrize(
    "scoring", ["accuracy", ["accuracy", "roc_auc"], make_scorer(accuracy_score)]
)
def test_a_search_by_predictions_reads_no_row(scoring, monkeypatch):
    monkeypatch.setattr(_synthesizer, "open_rows", lambda *_, **__: never())
    refit = "accuracy" if isinstance(scoring, list) else True
    for synth in (DPIndependentSynthesizer(), Pipeline([("s", DPGANSynthesizer())])):
        search = GridSearchCV(synth, {}, scoring=scoring, cv=2, refit=refit)
        with pytest.raises(ValueError, match=r"scoring must be a function of sampled"):
            search.fit(X[["age"]], X["left"])
        search.set_params(error_score="raise")
        with pytest.raises(TypeError, match=r"SyntheticUtility\(\).*make_scorer"):
            search.fit(X[["age"]], X["left"])


class OnSampledRows(ClassifierMixin, BaseEstimator):
    """A classifier that is trained on synthetic rows."""

    def fit(self, X, y):
        synth = DPIndependentSynthesizer(
            50.0, schema={"age": Integer(0, 120)}, classes=[False, True], random_state=0
        ).fit(X, y)
        self.model_ = DummyClassifier().fit(*synth.sample(100))
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X):
        return self.model_.predict(X)


def test_a_classifier_that_samples_is_scored_by_predictions():
    scorer, estimator = make_scorer(accuracy_score), OnSampledRows()
    scores = cross_val_score(estimator, X[["age"]], X["left"], scoring=scorer, cv=2)
    assert np.isfinite(scores).all()
