"""The list of planted bugs keeps up with the code, and the docs with the list."""

import ast

import pytest

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
    assert len({(file, ast.dump(ast.parse(text))) for file, text in planted}) == len(
        BUGS
    )


def test_the_docs_have_the_table():
    page = ROOT / "docs" / "how_we_test.md"  # print it by `-m tests.planted --table`
    if page.exists():  # a copy for a planted bug has no docs
        assert table() in page.read_text("utf-8")
