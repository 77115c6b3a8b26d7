"""Certificates say all that they rest on, and go on saying it wherever they go."""

import json
import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits

from skdpgen import DPIndependentSynthesizer, DPMERFSynthesizer, Generator
from skdpgen.datasets import load_example, load_example_regression
from skdpgen.privacy import PrivacyReport, insecure_noise_seed
from skdpgen.synthesizers import load
from skdpgen.synthesizers.opening._opening import parameters_stated
from skdpgen.tables import READ_OFF, Categorical, Chunks, Integer, Numeric, Schema

X, Y = load_example(800)
X = X[["age", "income"]]
HOUSE, PRICE = load_example_regression(800)
DIGITS = np.rint(load_digits().images[:100] / 16 * 255).astype(np.uint8)
LABELS = {"classes": ["left", "stayed"]}
SIZE = "number of rows: public"
NO_SIZE = "number of rows: private, released with noise"
FOUND = "schema of {} columns: discovered privately"
LISTS = "types and lengths of plain lists: taken as public"
KNOWN = "class labels: taken as public"
EXPOSED = "delta exceeds 1 / rows: it may expose a row outright"
OF_CLONES = "fitted as a clone"
LEAK = "LEAK: the class labels were read off all rows"
ALWAYS = ("dtypes as read", "parameters", "delta: ")  # said in words of their own


def made(*given, cls=DPIndependentSynthesizer, **params):
    """Return the statements of a fit, of long ones the beginning."""
    params = {"epsilon": 40.0} | params
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        said = cls(**params).fit(*given).privacy_.statements
    for always in ALWAYS:
        assert sum(line.startswith(always) for line in said) == 1
    rest = [line for line in said if not line.startswith(ALWAYS)]
    return {line.partition(": the")[0].partition("between")[0] for line in rest}


def in_lists(X, y, which):
    """Return two chunks of arrays, with the labels of some in a list."""
    halves = (slice(0, 400), slice(400, 800))

    def open_chunks():
        for i, half in enumerate(halves):
            labels = y[half].to_numpy(dtype=object)
            yield X[half].to_numpy(), labels.tolist() if i in which else labels

    return Chunks(open_chunks)


AGE = X[["age"]]
COLUMN = Schema({"age": Integer(0, 100)})
PUBLIC = Schema({"age": Integer(0, 100)}, target=Categorical(["left", "stayed"]))
AREA = {"schema": Schema(target=Numeric(0, 2000))}
FEW = Generator(max_iter=1, hidden_layer_sizes=(8,))
MERF = {"cls": DPMERFSynthesizer, "n_features": 8, "generator": FEW}
CHUNK = "that there is a chunk of rows: taken as public"
CASES = {
    "discovered": ((X,), {}, {SIZE, FOUND.format(2)}),
    "classes": (
        (X, Y),
        {},
        {SIZE, FOUND.format(2), "class labels: 2 discovered privately"},
    ),
    "classes that are given": ((X, Y), LABELS, {SIZE, FOUND.format(2), KNOWN}),
    "classes that nobody has": (
        (X, Y),
        {"classes": ["moved", "lost"]},
        {SIZE, FOUND.format(2), KNOWN, "target: "},
    ),
    "classes of a schema": (
        (AGE, Y),
        {"schema": PUBLIC},
        {SIZE, KNOWN, "schema of 1 columns: taken as public"},
    ),
    "some columns": (
        (X,),
        {"schema": COLUMN},
        {SIZE, FOUND.format(1), "schema of 1 columns: taken as public"},
    ),
    "bounds of the target alone": (
        (HOUSE[["area"]], PRICE),
        AREA,
        {SIZE, FOUND.format(1), "schema of the target: taken as public"},
    ),
    "a target that is found": ((HOUSE[["area"]], PRICE), {}, {SIZE, FOUND.format(2)}),
    "rows as lists": ((AGE.to_numpy().tolist(),), {}, {SIZE, LISTS, FOUND.format(1)}),
    "labels as a list": (
        (AGE, Y.tolist()),
        LABELS,
        {SIZE, KNOWN, LISTS, FOUND.format(1)},
    ),
    "arrays in chunks": (
        (in_lists(AGE, Y, ()),),
        LABELS,
        {SIZE, KNOWN, FOUND.format(1)},
    ),
    "a list in the last chunk": (
        (in_lists(AGE, Y, (1,)),),
        LABELS,
        {SIZE, KNOWN, LISTS, FOUND.format(1)},
    ),
    "lists in chunks, add/remove": (
        (in_lists(AGE, Y, (0, 1)),),
        {"adjacency": "add_remove"} | LABELS,
        {NO_SIZE, KNOWN, LISTS, CHUNK, FOUND.format(1)},
    ),
    "a large delta": ((X,), {"delta": 0.01}, {SIZE, EXPOSED, FOUND.format(2)}),
    "a delta just small enough": ((X,), {"delta": 1 / 800}, {SIZE, FOUND.format(2)}),
    # said of the number that was released
    "a large delta, add/remove": (
        (X,),
        {"delta": 0.01, "adjacency": "add_remove"},
        {NO_SIZE, EXPOSED, FOUND.format(2)},
    ),
    "a delta small enough, add/remove": (
        (X,),
        {"delta": 1e-4, "adjacency": "add_remove"},
        {NO_SIZE, FOUND.format(2)},
    ),
    "inferred": (
        (AGE,),
        {"schema": Schema.infer(AGE)},
        {READ_OFF, SIZE, "schema of 1 columns: taken as public"},
    ),
    "images": ((DIGITS,), MERF, {SIZE, "shape and range of the pixels: public"}),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_rested_on_is_said_and_nothing_else(case):
    given, params, expected = CASES[case]
    assert made(*given, **params) == expected


def test_numbers_of_numpy_are_said_as_those_of_python():
    """A grid of a search has them."""

    def said(whole, real):
        return parameters_stated(
            DPMERFSynthesizer(
                n_features=whole(64),
                length_scale=real(0.25),
                feature_norm=real(0.5),
                generator=Generator(max_iter=whole(3)),
            )
        )

    assert said(np.int64, np.float64) == said(int, float)
    assert said(np.asarray, np.asarray) == said(int, float)


# ---------------------------------------------------------------------- alarms


@pytest.fixture(scope="module")
def alarming():
    """Return a fit that breaks every rule, and so has every alarm."""
    synth = clone(DPIndependentSynthesizer(schema=Schema.infer(X, Y)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with insecure_noise_seed(0):
            synth.fit(X, Y)
    synth._fitted = synth._fitted.stating(LEAK)  # as a benchmark says of labels
    return synth


def alarms(report):
    """Assert that a certificate is alarming in all its forms."""
    for text in (str(report), repr(report)):
        assert text.startswith("NOT PRIVATE: the noise came from insecure_noise_seed")
        assert LEAK in text.partition("\n")[0]
        assert text.count(READ_OFF) == 1
    for content in (report.to_dict(), json.loads(report.to_json())):
        said = content["statements"]
        for line in ("NOT PRIVATE", LEAK, READ_OFF, OF_CLONES):
            assert sum(one.startswith(line) for one in said) == 1
    return True


def test_alarms_come_first(alarming):
    assert alarms(alarming.privacy_)


def test_alarms_are_read_back(alarming):
    report = PrivacyReport.from_dict(json.loads(alarming.privacy_.to_json()))
    assert alarms(report)
    assert report == alarming.privacy_


@pytest.mark.parametrize("way", ["saved", "pickled", "refitted"])
def test_alarms_go_along(alarming, way, tmp_path):
    copy = pickle.loads(pickle.dumps(alarming))
    if way == "saved":
        alarming.save(tmp_path / "synth.npz")
        copy = load(tmp_path / "synth.npz")
    elif way == "refitted":
        copy.retrain()
    assert alarms(copy.privacy_)
    assert copy.privacy_ == alarming.privacy_
    copy.save(tmp_path / "again.npz")
    assert alarms(load(tmp_path / "again.npz").privacy_)
