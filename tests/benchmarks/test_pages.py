"""Tables of the pages are those of stored rows."""

import re
import runpy
from pathlib import Path

import pytest

from benchmarks import targets, triples
from benchmarks.catalogue import CATALOGUE
from skdpgen.benchmark import BenchConfig, fill_page, read_rows
from skdpgen.benchmark._result_tables import MARK, names_in

ROOT = Path(__file__).parents[2]
PLACE = ROOT / "benchmarks"
RESULTS = PLACE / "results"
PAGES = [
    (PLACE / "benchmarks.md", RESULTS / "tables"),
    (ROOT / "docs" / "how_good.md", RESULTS),
    (PLACE / "reproductions.md", RESULTS / "reproductions"),
    (PLACE / "speed.md", RESULTS / "speed"),
]
FITS = re.compile(r"(?ms)^<!-- fits:[\w.-]+ -->\n.*?^<!-- /fits -->")
MAX_BYTES = 1_500_000  # of the results of a name
OF_DISCOVERY = {path.stem for path in RESULTS.glob("discovery*.jsonl")}

MARKED = [
    (page, folder, name)
    for page, folder in PAGES
    for name in names_in(page.read_text("utf-8"))
]


@pytest.mark.parametrize(("page", "folder", "name"), MARKED, ids=str)
def test_tables_of_the_documentation_are_those_of_stored_rows(page, folder, name):
    """`make tables` writes them."""
    path = folder / f"{name}.jsonl"
    text = page.read_text("utf-8")
    assert fill_page(text, {name: read_rows(path)}, CATALOGUE) == text
    assert path.stat().st_size < MAX_BYTES
    if folder.name != "speed":
        assert BenchConfig.load(path.with_suffix(".toml"), CATALOGUE).name == name


@pytest.mark.parametrize(("page", "folder"), PAGES, ids=str)
def test_every_stored_result_is_in_the_documentation(page, folder):
    stored = {path.stem for path in folder.glob("*.jsonl")}
    stored -= OF_DISCOVERY
    assert stored == set(names_in(page.read_text("utf-8")))
    assert stored


@pytest.mark.parametrize("name", ["benchmarks.md", "reproductions.md"])
def test_no_table_of_numbers_is_typed(name):
    outside = MARK.sub("", (PLACE / name).read_text("utf-8"))
    outside = triples.MARKED.sub("", FITS.sub("", outside))
    outside = targets.MARKED.sub("", outside)
    assert [line for line in outside.splitlines() if line.startswith("|")] == []


def test_the_table_of_triples_is_that_of_stored_bounds():
    """`python -m benchmarks triples` writes it."""
    page = triples.PAGE.read_text("utf-8")
    assert triples.MARKED.search(page)
    assert triples.filled(page) == page


def test_the_table_of_targets_is_that_of_stored_rows():
    """`python -m benchmarks targets` writes it."""
    page = targets.PAGE.read_text("utf-8")
    assert targets.MARKED.search(page)
    assert targets.filled(page) == page


def test_tables_of_discovery_are_those_of_stored_fits():
    """`python benchmarks/discovery.py page benchmarks/benchmarks.md` writes them."""
    module = runpy.run_path(str(PLACE / "discovery.py"))
    page = (PLACE / "benchmarks.md").read_text("utf-8")
    assert len(FITS.findall(page)) == 3
    assert module["filled"](page) == page
