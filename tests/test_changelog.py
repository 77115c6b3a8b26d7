"""The changelog has an entry for users, and fragments of known types for the next."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
CHANGELOG = (ROOT / "CHANGELOG.md").read_text("utf-8")
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
TYPES = [kind["directory"] for kind in PYPROJECT["tool"]["towncrier"]["type"]]
FRAGMENTS = sorted(
    path for path in (ROOT / "changelog").iterdir() if path.name != "README.md"
)
MOST_WORDS = 1750  # of the entry of 0.1.0
TOPICS = (
    "Privacy",
    "Synthesizers",
    "Schema and discovery",
    "Command line and reports",
    "Search and metrics",
    "Files and interchange",
    "Documentation",
)


def test_the_first_release_has_one_entry_by_topic_that_can_be_read():
    marker = PYPROJECT["tool"]["towncrier"]["start_string"]
    entry = CHANGELOG.partition(marker)[2].partition("## [0.1.0]")[2]
    headings = re.findall(r"^### (.*)$", entry, re.MULTILINE)
    assert headings[: len(TOPICS)] == list(TOPICS)
    assert "(docs/api_changes_0.1.md)" in entry
    assert len(entry.split()) <= MOST_WORDS


def test_fragments_have_a_known_type_and_few_sentences():
    name = re.compile(rf"\+[a-z0-9-]+\.({'|'.join(TYPES)})\.md")
    assert [path.name for path in FRAGMENTS if not name.fullmatch(path.name)] == []
    lengths = {path.name: len(path.read_text("utf-8").split()) for path in FRAGMENTS}
    assert {
        name for name, n_words in lengths.items() if not 3 < n_words <= 120
    } == set()
