"""The list of planted bugs keeps up with the code, and the docs with the list."""

from pathlib import Path

import pytest

from tests.planted.__main__ import table
from tests.planted.bugs import BUGS

ROOT = Path(__file__).parents[2]


def test_names_are_distinct():
    assert len({bug.name for bug in BUGS}) == len(BUGS)


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_a_bug_can_be_planted(bug):
    text = (ROOT / bug.file).read_text("utf-8")
    assert text.count(bug.old) == 1
    compile(text.replace(bug.old, bug.new), bug.file, "exec")
    for test in bug.tests:
        file, _, name = test.partition("[")[0].partition("::")
        assert f"def {name}" in (ROOT / file).read_text("utf-8")


def test_the_docs_have_the_table():
    page = ROOT / "docs" / "how_we_test.md"  # print it by `-m tests.planted --table`
    if page.exists():  # a copy for a planted bug has no docs
        assert table() in page.read_text("utf-8")
