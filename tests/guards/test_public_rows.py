"""Public rows open no second door: fits with them know private rows by releases."""

import numpy as np
import pandas as pd
import pytest

from skdpgen import DPDRESynthesizer
from skdpgen.privacy import Ledger, PrivacyBudget, Release
from skdpgen.synthesizers.opening import _public_columns
from skdpgen.tables import Integer, Rows, Schema
from skdpgen.utils import Key
from tests._covering import parametrize_pairs
from tests.guards import _neighbours, _variants
from tests.guards.test_noise_of_fits import check as check_noise
from tests.guards.test_replay import OTHERS
from tests.guards.test_replay import check as check_replay

TABLES, IMAGES = _neighbours.tables(), _neighbours.images()
TEXT = TABLES["text that says more"]
PUBLIC = _variants.public_rows() | {
    "text that says more": (TEXT.X.iloc[::2], TEXT.y.iloc[::2])
}
SAME = PUBLIC["frame without labels"]
PICTURES = IMAGES["images"].X[::3] // 2, IMAGES["images"].y[::3]
OF_IMAGES = {
    "images": PICTURES,
    "images in chunks": PICTURES,
    "images of floats": (PICTURES[0] / 255).astype("float32"),
    "images without labels": PICTURES[0],
    "images, numbers as target": (PICTURES[0], PICTURES[0].mean(axis=(1, 2))),
}
STEPS = {"algorithm": "sgd", "max_iter": 2, "discriminator_layer_sizes": (3,)}
WAYS = {"one shot": {}, "steps": STEPS}
ON_PIXELS = {"algorithm": "sgd", "max_iter": 2, "lens": "pixels"}
OF_PICTURES = WAYS | {"steps on pixels": ON_PIXELS}
each = pytest.mark.parametrize("cls", _variants.READ_PUBLIC_ROWS)
# These tables differ in some values, and a generous budget sees it.
pytestmark = pytest.mark.filterwarnings("ignore::skdpgen.exceptions.SupportWarning")
ADJACENCIES = ["replace", "add_remove"]
both = pytest.mark.parametrize("adjacency", ADJACENCIES)


@parametrize_pairs("cls, name, to", _variants.READ_PUBLIC_ROWS, PUBLIC, OTHERS)
def test_a_table_is_known_by_its_releases_alone(cls, name, to, monkeypatch):
    case = TABLES[name].beside(PUBLIC[name])
    check_replay(_variants.maker(cls), case, to, monkeypatch)


@both
@each
def test_the_noise_is_what_is_declared(cls, adjacency, monkeypatch):
    case = TABLES["frame, public"].beside(PUBLIC["frame, public"])
    check_noise(_variants.maker(cls), case, adjacency, monkeypatch)


@parametrize_pairs("how, name, to", OF_PICTURES, OF_IMAGES, OTHERS)
def test_images_are_known_by_their_releases_alone(how, name, to, monkeypatch):
    make = _variants.maker(DPDRESynthesizer, **OF_PICTURES[how])
    check_replay(make, IMAGES[name].beside(OF_IMAGES[name]), to, monkeypatch)


@parametrize_pairs("name, to", PUBLIC, OTHERS, strength=1)
def test_a_discriminator_knows_rows_by_its_steps_alone(name, to, monkeypatch):
    make = _variants.maker(DPDRESynthesizer, **STEPS)
    check_replay(make, TABLES[name].beside(PUBLIC[name]), to, monkeypatch)


@parametrize_pairs("of, how, adjacency", ["images", "frame"], WAYS, ADJACENCIES)
def test_the_noise_of_a_ratio_is_what_is_declared(of, how, adjacency, monkeypatch):
    public, case = {
        "images": (PICTURES, IMAGES["images"]),
        "frame": (PUBLIC["frame"], TABLES["frame"]),
    }[of]
    make = _variants.maker(DPDRESynthesizer, **WAYS[how])
    check_noise(make, case.beside(public), adjacency, monkeypatch)


@both
def test_the_noise_of_a_ratio_on_pixels_is_what_is_declared(adjacency, monkeypatch):
    make = _variants.maker(DPDRESynthesizer, **ON_PIXELS)
    check_noise(make, IMAGES["images"].beside(PICTURES), adjacency, monkeypatch)


@pytest.mark.parametrize("trusted", ["age", "children"])
def test_noisy_counts_alone_decide_which_columns_are_trusted(trusted, monkeypatch):
    frame = pd.DataFrame({"age": [30, 40] * 50, "children": [1, 2] * 50})
    here = {"age": Integer(0, 50), "children": Integer(10, 20)}  # one is right
    here = {name: _public_columns.Outside(column) for name, column in here.items()}
    noisy = [100.0, 0.0] if trusted == "age" else [0.0, 100.0]
    values = {Key.COLUMNS: np.array([[*noisy, *noisy[::-1]]])}

    def play(*_args, **_params):
        return Release(values, {Key.COLUMNS: 1.0}, 1.0, 1.0, "replace")

    monkeypatch.setattr(_public_columns, "release", play)
    rows, ledger = Rows.read(frame), Ledger(PrivacyBudget(1.0, 1e-5))
    accepted, _ = _public_columns.accepted_columns(rows, here, ledger, 100.0)
    assert list(accepted) == [trusted]


@each
def test_errors_about_public_rows_come_before_anything_is_paid(cls):
    case = TABLES["frame"]
    synth = cls()
    with pytest.raises(ValueError, match="without age"):
        synth.fit(case.X, case.y, public_data=SAME.drop(columns="age"))
    assert not hasattr(synth, "privacy_")
    assert Schema.infer(SAME)  # the others are a table like any
