"""What a run writes about a table that may be private, into files that people share."""

import json
from itertools import product

import pandas as pd
import pytest

from skdpgen.benchmark import BenchConfig, fill_page, read_rows, run_cells
from skdpgen.benchmark._cells import REAL, Cell, Source
from skdpgen.benchmark._measure_cell import measure_cell
from skdpgen.benchmark._own_table import digest
from skdpgen.benchmark._run_cells import CellStore
from skdpgen.datasets import load_example
from skdpgen.privacy import PrivacyReport
from tests.benchmark._small_run import EITHER, cells_computed

pytestmark = pytest.mark.filterwarnings("ignore::skdpgen.exceptions.RareValuesWarning")
SECRET = "Jane-Doe-disease"


def write(path, last="left"):
    X, y = load_example(400)
    y = y.astype(str)
    y.iloc[:3], y.iloc[-1] = SECRET, last
    X.assign(status=y).to_csv(path, index=False)


@pytest.fixture(scope="module", params=EITHER)
def run(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("bench")
    write(folder / "mine.csv")
    content = {
        "tables": [{"path": str(folder / "mine.csv"), "target": "status"}],
        "methods": ["DPIndependentSynthesizer"],
        "classifiers": ["lda"],
        "releases": 1,
    }
    with cells_computed(request.param):
        rows = run_cells(BenchConfig.from_dict(content), folder / "out", parquet=True)
    assert not any("error" in row for row in rows)
    return folder / "out", rows


def test_no_guess_at_a_row_is_confirmed_by_results(run, tmp_path):
    """The attacker knows the whole table but for the label of the last row."""
    out, _ = run
    written = (out / "results.jsonl").read_text()
    written += pd.read_parquet(out / "results.parquet").to_csv()
    for guess in ("left", "stayed", SECRET):
        path = tmp_path / f"{guess}.csv"
        write(path, guess)
        guessed = Source("mine", str(path), "status")
        cell = Cell(guessed, digest(guessed, "."), REAL, classifiers=("lda",))
        # cells, which are not for sharing, do confirm the right guess
        assert (cell.key in CellStore(out).rows()) == (guess == "left")
        assert cell.key not in written
        assert cell.data not in written


def test_every_row_and_page_of_a_private_table_carries_an_alarm(run):
    out, rows = run
    stored = read_rows(out / "results.jsonl")
    assert stored == rows
    for row in [*rows, *CellStore(out).rows().values()]:
        assert row["not_private"].startswith("NOT PRIVATE: scores")
    assert "NOT PRIVATE" in (out / "NOT-PRIVATE.txt").read_text()
    for mark in ("mine", "mine discovery"):
        page = f"<!-- bench:{mark} -->\n<!-- /bench -->\n"
        assert "\n\n**NOT PRIVATE: scores" in fill_page(page, {"mine": stored})
        public = [{k: v for k, v in one.items() if k != "not_private"} for one in rows]
        assert "NOT PRIVATE" not in fill_page(page, {"mine": public})


def test_classes_that_were_read_off_the_rows_are_not_said_to_be_public(run):
    _, (_, row) = run
    report = PrivacyReport.from_dict(row["privacy"])
    assert "class labels: taken as public" not in report.statements
    assert "LEAK: the benchmark read the class labels" in str(report)


def test_no_value_and_no_path_is_written(run):
    out, _ = run
    texts = [path.read_bytes() for path in out.rglob("*") if path.is_file()]
    assert len(texts) == 5  # two cells, two forms of the results, the alarm
    for text, word in product(texts, (SECRET, str(out.parent))):
        assert word.encode() not in text


def test_an_error_names_no_path(tmp_path):
    path = tmp_path / "jane" / "mine.csv"
    row = measure_cell(Cell(Source("mine", str(path), "status"), "0", REAL), ".")
    assert row["error"] == "ConfigError"
    assert "There is no mine.csv" in row["message"]
    assert "jane" not in json.dumps(row)
