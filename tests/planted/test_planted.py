"""The list of planted bugs keeps up with the code, and the docs with the list."""

import ast

import pytest

from tests.planted import source
from tests.planted.__main__ import table
from tests.planted.bugs import BUGS
from tests.planted.source import ROOT, planted_text, unknown_names


def test_names_are_distinct():
    assert len({bug.name for bug in BUGS}) == len(BUGS)


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_a_bug_can_be_planted(bug):
    file, text = planted_text(bug.where, bug.old, bug.new)
    compile(text, str(file), "exec")
    assert not unknown_names(text)
    for test in bug.tests:
        path, _, name = test.partition("[")[0].partition("::")
        assert f"def {name}" in (ROOT / path).read_text("utf-8")


def test_no_two_bugs_are_the_same():
    planted = [planted_text(bug.where, bug.old, bug.new) for bug in BUGS]
    different = {(file, ast.dump(ast.parse(text))) for file, text in planted}
    assert len(different) == len(BUGS)


PLACE_OF_BUGS = "<!-- table of planted bugs -->"

BEFORE = """
class Sum:
    def add(self, rows):
        self.total += clipped(rows, self.bound)
"""
AFTER = """
import numpy


def other(rows):
    return clipped(rows, self.bound)


class Sum:
    @property
    def total(self):
        def add(rows):  # moved
            self.total += clipped(
                rows,  # private
                self.bound
            )
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Return a function that writes the files of a package to plant bugs in."""
    monkeypatch.setattr(source, "ROOT", tmp_path)
    source.index.cache_clear()

    def write(**files):
        for name, text in files.items():
            (tmp_path / "package" / name).mkdir(parents=True)
            (tmp_path / "package" / name / "_file.py").write_text(text, "utf-8")

    yield write
    source.index.cache_clear()


@pytest.mark.parametrize(
    ("text", "name"), [(BEFORE, "Sum.add"), (AFTER, "Sum.total.add")]
)
def test_a_bug_outlives_a_move(text, name, package):
    package(other="def clipped(rows, bound): ...", inner=text)
    file, planted = planted_text(f"package:{name}", "clipped(rows, self.bound)", "rows")
    assert file.parts == ("package", "inner", "_file.py")
    assert "self.total += (rows)\n" in planted
    assert planted.count("clipped") == text.count("clipped") - 1
    old = "self.total += clipped(rows, self.bound)"
    planted = planted_text(f"package:{name}", old, "a = 1\nb = 2")[1]
    function = ast.parse(planted).body[-1].body[0]
    function = function if name == "Sum.add" else function.body[0]
    assert ast.unparse(function.body) == "a = 1\nb = 2"


def test_a_bug_has_one_place(package):
    package(one=BEFORE, two=BEFORE)
    for name, old in {"Sum.add": "self.bound", "Sum": "nothing", "Total": "1"}.items():
        with pytest.raises(ValueError, match=f"once in package:{name}"):
            planted_text(f"package:{name}", old, "2")


def test_names_that_a_patch_does_not_know_are_seen():
    text = "import math\ndef f(x):\n    return [math.pi + y + z + len(x) for y in x]"
    assert unknown_names(text) == {"z"}


def test_the_docs_make_the_table_of_bugs():
    docs = ROOT / "docs"
    if not docs.exists():  # a copy for a planted bug has no docs
        return
    page = (docs / "how_we_test.md").read_text("utf-8")
    assert page.count(PLACE_OF_BUGS) == 1
    assert PLACE_OF_BUGS in (docs / "conf.py").read_text("utf-8")
    assert table().count("\n") == len(BUGS) + 1
