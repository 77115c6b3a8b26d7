"""Public rows open no second door: fits with them know private rows by releases."""

import pytest

from skdpgen.tables import Schema
from tests.guards import _neighbours, _variants
from tests.guards.test_noise_of_fits import check as check_noise
from tests.guards.test_replay import check as check_replay

TABLES = _neighbours.tables()
PUBLIC = _variants.public_rows()
SAME = PUBLIC["frame without labels"]
each = pytest.mark.parametrize("cls", _variants.READ_PUBLIC_ROWS)
both = pytest.mark.parametrize("adjacency", ["replace", "add_remove"])


def maker(cls, name):
    return _variants.maker(cls, public_data=PUBLIC[name])


@both
@pytest.mark.parametrize("name", PUBLIC)
@each
def test_a_table_is_known_by_its_releases_alone(cls, name, adjacency, monkeypatch):
    check_replay(maker(cls, name), TABLES[name], adjacency, monkeypatch)


@both
@each
def test_the_noise_is_what_is_declared(cls, adjacency, monkeypatch):
    case = TABLES["frame, public"]
    check_noise(maker(cls, "frame, public"), case, adjacency, monkeypatch)


@each
def test_errors_about_public_rows_come_before_anything_is_paid(cls):
    case = TABLES["frame"]
    synth = cls(public_data=SAME.drop(columns="age"))
    with pytest.raises(ValueError, match="without age"):
        synth.fit(case.X, case.y)
    assert not hasattr(synth, "privacy_")
    assert Schema.infer(SAME)  # the others are a table like any
