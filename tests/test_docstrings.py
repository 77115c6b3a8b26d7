"""Editors and `help` show whole docstrings, and shared texts have one source."""

import inspect
import re

import pytest

import skdpgen
from skdpgen.synthesizers.base import _documented as texts
from tests import docstrings

NAMES = sorted(skdpgen.all_synthesizers())
PUBLIC = sorted(name for name in skdpgen.__all__ if not name.startswith("_"))
UNFILLED = re.compile(r"^ *\{\w+( \.\.\. \w+)?\}$|\{\{", re.MULTILINE)
MOST_CHARACTERS = 250  # of a signature of `fit` or `sample`


@pytest.mark.parametrize("cls", docstrings.CLASSES, ids=lambda cls: cls.__name__)
def test_docstrings_have_the_shared_texts(cls):
    lines, right = docstrings.source_in_step(cls)
    assert lines == right, "run `python -m tests.docstrings --write`"


@pytest.mark.parametrize("name", PUBLIC)
def test_nothing_is_unfilled(name):
    thing = getattr(skdpgen, name)
    methods = vars(thing).values() if isinstance(thing, type) else []
    for one in (thing, *methods):
        assert not UNFILLED.search(getattr(one, "__doc__", None) or "")


def entries(text, section):
    """Return the names of a section of a docstring, in order."""
    part = re.search(
        rf"^{section}\n-+\n(.*?)(?:\n\n|\Z)", text, re.DOTALL | re.MULTILINE
    )
    heads = re.findall(r"^(\S.*?) : ", part[1], re.MULTILINE)
    return [name for head in heads for name in head.split(", ")]


@pytest.mark.parametrize("name", NAMES)
def test_every_parameter_is_described_once(name):
    cls = getattr(skdpgen, name)
    described = entries(inspect.getdoc(cls), "Parameters")
    assert sorted(described) == sorted(inspect.signature(cls).parameters)
    for method in (cls.fit, cls.sample):
        names = [n for n in inspect.signature(method).parameters if n != "self"]
        described = entries(inspect.getdoc(method), "Parameters")
        assert sorted(described) == sorted(names)


@pytest.mark.parametrize("name", NAMES)
def test_attributes_are_described_once(name):
    described = entries(inspect.getdoc(getattr(skdpgen, name)), "Attributes")
    assert len(described) == len(set(described))
    assert all(n.endswith("_") for n in described)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("method", ["fit", "sample"])
def test_signatures_are_short(name, method):
    signature = inspect.signature(getattr(getattr(skdpgen, name), method))
    assert len(str(signature)) < MOST_CHARACTERS


LINES = """
    Says.

    Parameters
    ----------
    {one ... two}
    mine : int
        Of its own.
    three : old
        And this is old.
    {four}

    Returns
    -------
    one : int
    {other}
    """
FILLED = """
    Says.

    Parameters
    ----------
    one : 1
        First.
    two : 2
    mine : int
        Of its own.
    three : 3
    four : 4

    Returns
    -------
    one : int
    {other}
    """
SHARED = {"one": "one : 1\n    First.", "two": "two : 2", "three": "three : 3"}
SHARED |= {"four": "four : 4"}


def test_places_are_filled_and_old_texts_replaced():
    found = docstrings.in_step(LINES.split("\n"), {"Parameters": SHARED})
    assert "\n".join(found) == FILLED
    assert docstrings.in_step(found, {"Parameters": SHARED}) == found


def test_what_follows_a_place_is_not_lost():
    lines = LINES.replace("{four}", "{four}\n        More.").split("\n")
    with pytest.raises(ValueError, match=r"follows \{four\} belongs into BESIDES"):
        docstrings.in_step(lines, {"Parameters": SHARED})


def test_every_exception_is_of_a_class_and_of_a_shared_name():
    for name in texts.OWN.keys() | {name for name, _ in texts.BESIDES}:
        assert name in NAMES
    named = [n for own in texts.OWN.values() for n in own]
    assert set(named) | {name for _, name in texts.BESIDES} <= set(texts.OF_CLASS)


def test_shared_texts_are_short_enough_for_the_source():
    for shared, indent in (
        (texts.OF_CLASS, 4),
        (texts.OF_FIT, 8),
        (texts.OF_SAMPLE, 8),
    ):
        for text in shared.values():
            assert max(map(len, text.split("\n"))) + indent <= 88, text
