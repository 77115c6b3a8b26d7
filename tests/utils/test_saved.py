"""Names of saved values are distinct, and a cell of a notebook may run twice."""

from dataclasses import dataclass

import pytest

from skdpgen.utils import _plain, saved


@pytest.fixture(autouse=True)
def _same_names(monkeypatch):
    monkeypatch.setattr(_plain, "SAVED", dict(_plain.SAVED))


def defined():
    @saved("test.new_model")
    @dataclass(frozen=True)
    class NewModel:
        shares: float

    return NewModel


def test_a_module_may_define_a_name_again():
    first, second = defined(), defined()
    assert first is not second
    assert _plain.SAVED["test.new_model"] is second


def test_another_module_may_not_have_the_name():
    @dataclass(frozen=True)
    class Release:
        shares: float

    with pytest.raises(TypeError, match=r"distinct names.*skdpgen\.privacy"):
        saved("release")(Release)
