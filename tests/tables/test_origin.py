"""Where a schema is from stays with it, wherever it goes, until it is written anew."""

import copy
import pickle
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, clone

from skdpgen import DPIndependentSynthesizer, Schema, load, search_cost
from skdpgen.benchmark import compare
from skdpgen.cli._text_records import schema_of_text
from skdpgen.metrics import SyntheticUtility
from skdpgen.parties import Parties, Party, first_question
from skdpgen.tables import (
    FROM_PUBLIC,
    READ_OFF,
    Boolean,
    Categorical,
    Datetime,
    Drop,
    Integer,
    Numeric,
    Ordinal,
    Regenerate,
)
from skdpgen.utils import from_bytes, to_bytes

rng = np.random.default_rng(0)
X = pd.DataFrame(
    {
        "age": rng.integers(17, 91, 120),
        "sex": rng.choice(["f", "m"], 120),
        "id": [f"c{i}" for i in range(120)],
    }
)
Y = pd.Series(rng.choice(["no", "yes"], 120), name="left")
AMOUNT = pd.Series(rng.normal(size=120), name="amount")


def fitted(schema, y=Y, cls=DPIndependentSynthesizer, **params):
    """Return a fit, without what it warns of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cls(10.0, schema=schema, random_state=0, **params).fit(X, y)


MARKED = {
    "inferred without y": (lambda: Schema.infer(X), READ_OFF),
    "inferred with classes": (lambda: Schema.infer(X, Y), READ_OFF),
    "inferred with a number": (lambda: Schema.infer(X, AMOUNT), READ_OFF),
    "of public rows": (lambda: Schema.from_public(X), FROM_PUBLIC),
    "of public rows with classes": (lambda: Schema.from_public(X, Y), FROM_PUBLIC),
    "of a fit": (lambda: fitted(Schema.infer(X, Y)).schema_, READ_OFF),
}


def of_columns(schema, folder):
    """Build a schema of columns that were taken out of another one."""
    target = Categorical(["no", "yes"])
    return Schema({**schema.columns, "id": Regenerate("row {i}")}, target)


def of_one_column(schema, folder):
    """Take a single column, and leave the others to discovery."""
    return Schema().with_column("age", schema.columns["age"])


def edited_column(schema, folder):
    """Widen a bound that was read off rows."""
    return Schema({"age": replace(schema.columns["age"], upper=120)})


def saved_estimator(schema, folder):
    """Save a fit, and take its parameter again."""
    synth = fitted(schema, y_of(schema))
    synth.save(folder / "model.skdpgen")
    return load(folder / "model.skdpgen").schema


def completed_and_saved(schema, folder):
    """Save a fit, and take the schema that it completed."""
    synth = fitted(schema, y_of(schema))
    synth.save(folder / "model.skdpgen")
    return load(folder / "model.skdpgen").schema_


def through_file(ending):
    def route(schema, folder):
        schema.save(folder / f"schema.{ending}")
        return Schema.load(folder / f"schema.{ending}")

    return route


ROUTES = {
    "as it is": lambda schema, folder: schema,
    "checked": lambda schema, folder: schema.check(),
    "known": lambda schema, folder: schema.known(),
    "an unmarked column more": lambda schema, folder: schema.with_column(
        "age", Integer(0, 120)
    ),
    "a column dropped": lambda schema, folder: schema.with_column("id", Drop()),
    "a column made anew": lambda schema, folder: schema.with_column(
        "id", Regenerate("row {i}")
    ),
    "replaced": lambda schema, folder: replace(schema, other="rest"),
    "columns": of_columns,
    "one column": of_one_column,
    "an edited column": edited_column,
    "a dictionary of columns": lambda schema, folder: dict(schema.columns),
    "dict": lambda schema, folder: schema.to_dict(),
    "dict read again": lambda schema, folder: Schema.from_dict(schema.to_dict()),
    "JSON": lambda schema, folder: Schema.from_json(schema.to_json()),
    "TOML": lambda schema, folder: Schema.from_toml(schema.to_toml()),
    "file of JSON": through_file("json"),
    "file of TOML": through_file("toml"),
    "sent": lambda schema, folder: from_bytes(to_bytes(schema)),
    "pickled": lambda schema, folder: pickle.loads(pickle.dumps(schema)),
    "copied": lambda schema, folder: copy.copy(schema),
    "copied deeply": lambda schema, folder: copy.deepcopy(schema),
    "cloned": lambda schema, folder: (
        clone(DPIndependentSynthesizer(schema=schema)).schema
    ),
    "for cells of text": lambda schema, folder: schema_of_text(schema),
    "completed": lambda schema, folder: fitted(schema, y_of(schema)).schema_,
    "completed twice": lambda schema, folder: (
        fitted(fitted(schema, y_of(schema)).schema_, y_of(schema)).schema_
    ),
    "saved in an estimator": saved_estimator,
    "completed and saved": completed_and_saved,
}


def y_of(schema):
    """Return a target that fits to a schema."""
    target = Schema.of(schema).target
    return None if target is None else Y if isinstance(target, Categorical) else AMOUNT


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("start", MARKED)
def test_marks_stay_on_every_route(start, route, tmp_path):
    made, mark = MARKED[start]
    schema = made()
    assert schema.other == "other"  # the mark once went there
    arrived = ROUTES[route](schema, tmp_path)
    whole = Schema.of(arrived)
    assert whole.origin == mark
    assert {c.origin for c in whole.columns.values() if hasattr(c, "origin")} == {mark}
    if route == "for cells of text":
        return  # its numbers are to be read from text, and X has none of that
    synth = fitted(arrived, y_of(arrived))
    assert synth.privacy_.statements.count(mark) == 1
    assert synth.schema_.origin == mark
    assert mark in str(synth.privacy_)


@pytest.mark.parametrize("start", MARKED)
def test_a_target_alone_carries_the_mark(start):
    made, mark = MARKED[start]
    target = made().target
    if target is not None:
        schema = Schema(target=target)
        synth = fitted(schema, y_of(schema))
        assert synth.privacy_.statements.count(mark) == 1
        assert synth.schema_.origin == synth.schema_.target.origin == mark


def test_two_marks_are_two_lines():
    schema = Schema.from_public(X).with_column("age", Schema.infer(X).columns["age"])
    for again in (schema, Schema.from_toml(schema.to_toml())):
        assert again.origin.splitlines() == [FROM_PUBLIC, READ_OFF]
        said = fitted(again, None).privacy_.statements
        assert {FROM_PUBLIC, READ_OFF} <= set(said)


def test_a_schema_that_is_written_anew_has_no_mark():
    schema = Schema({"age": Integer(0, 120), "sex": Categorical(["f", "m"])})
    synth = fitted(schema)
    assert synth.schema_.origin == schema.origin == ""
    said = " ".join(fitted(None).privacy_.statements)
    assert "read off rows" not in said
    assert "LEAK" not in said


def test_a_mark_is_no_part_of_what_a_column_is():
    plain = Numeric(0, 1)
    assert replace(plain, origin=READ_OFF) == plain
    assert hash(replace(plain, origin=READ_OFF)) == hash(plain)
    assert "origin" not in repr(replace(plain, origin=READ_OFF))
    given = {"columns": {"x": {"type": "Boolean", "origin": "mine"}}}
    with pytest.raises(ValueError, match="Got origin besides"):
        Schema.from_dict(given)


EVERY = {
    "number": Numeric(0, 1, 2),
    "integer": Integer(0, 9),
    "category": Categorical(["a", "b"], other="c"),
    "ordinal": Ordinal(["a", "b"], nullable=False),
    "truth": Boolean(),
    "time": Datetime("2020-01-01", "2021-01-01", resolution="day"),
    "clock": Datetime(format="%H:%M"),
}


@pytest.mark.parametrize("name", EVERY)
def test_every_type_of_column_carries_marks(name):
    marked = Schema({name: EVERY[name]}, origin=READ_OFF).columns[name]
    assert marked == EVERY[name]
    assert marked.origin == READ_OFF
    assert Schema({name: marked}).origin == READ_OFF
    assert Schema(target=pickle.loads(pickle.dumps(marked))).origin == READ_OFF


def test_columns_from_public_rows_are_marked_in_the_schema_of_the_fit():
    public = X.sample(frac=1.0, random_state=1)[["age", "sex"]]
    synth = DPIndependentSynthesizer(50.0, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        synth.fit(X[["age", "sex"]], public_data=public)
    assert any("of the public rows" in line for line in synth.privacy_.statements)
    assert synth.schema_.origin == FROM_PUBLIC
    again = DPIndependentSynthesizer(schema=synth.schema_).fit(X[["age", "sex"]])
    assert FROM_PUBLIC in again.privacy_.statements


# -------------------------------------------------- fits that others make


class Given(BaseEstimator):
    """A synthesizer of someone else: it returns its rows, and ``baseline`` is added."""

    def __init__(self, schema=None):
        self.schema = schema

    def fit(self, X, y):
        self.rows_ = X, y
        return self

    def sample(self, n_samples=None, random_state=None):
        return self.rows_


@pytest.mark.parametrize("start", ["inferred with classes", "of a fit"])
def test_marks_reach_each_fit_of_a_comparison(start, monkeypatch):
    made, mark = MARKED[start]
    schema, certificates = made(), []
    fit = DPIndependentSynthesizer.fit

    def recorded(self, *rows):
        fit(self, *rows)
        certificates.append(self.privacy_)
        return self

    monkeypatch.setattr(DPIndependentSynthesizer, "fit", recorded)
    distances = "skdpgen.benchmark._compare.yardsticks"  # which take seconds
    monkeypatch.setattr(distances, lambda *rows, **options: {"two_way_tv": 0.0})
    rows = X[["age", "sex", "id"]], Y
    utility = SyntheticUtility(classifiers=["lda"])
    own = {"own": DPIndependentSynthesizer(schema=schema)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for entrants in ({"given": Given(schema)}, own):
            compare(entrants, *rows, *rows, utility=utility)
    assert len(certificates) == 2  # that of the baseline, and its own
    assert all(mark in report.statements for report in certificates)


@pytest.mark.parametrize("start", ["inferred with classes", "of a fit"])
def test_marks_reach_a_fit_of_parties(start):
    made, mark = MARKED[start]
    schema = made().with_column("id", Drop())
    parties = [Party(name, X[i::2], Y[i::2]) for i, name in enumerate("ab")]
    synth = DPIndependentSynthesizer(schema=schema)
    question = first_question(synth, parties[0].like, n_rows=len(X))
    assert parties[0].answer(question).sources == ("a",)
    assert synth.schema.origin == mark
    synth.fit(Parties(parties))
    assert mark in synth.privacy_.statements
    assert synth.schema_.origin == mark


def test_a_search_with_the_schema_of_a_leaky_fit_is_a_leak():
    class Done:
        estimator, n_splits_, cv, refit = DPIndependentSynthesizer(), 3, 3, True
        cv_results_ = {"params": [{}, {"schema": fitted(Schema.infer(X, Y)).schema_}]}

    assert search_cost(Done).is_inferred
    Done.cv_results_ = {"params": [{"schema": Schema.from_public(X)}, {}]}
    assert not search_cost(Done).is_inferred
