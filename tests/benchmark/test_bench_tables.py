"""Tables are those of stored rows."""

import json

import pytest

from skdpgen import DPIndependentSynthesizer
from skdpgen.benchmark import fill_page, tabulate_rows
from skdpgen.benchmark._result_tables import caption, names_in, share_of_discovery
from skdpgen.datasets import load_example
from skdpgen.exceptions import ConfigError
from tests._seeded import same_noise
from tests.benchmark._small_run import command

MARKS = "Before.\n\n<!-- bench:mine -->\n<!-- /bench -->\n\nAfter.\n"


def row(release=0, **numbers):
    about = {"table": "t", "name": "a|b", "epsilon": 0.3, "release": release}
    shared = {"schema": "discovered", "delta": 1e-5, "protocol": "modern"}
    return {**about, **shared, "version_numpy": "2.0", **numbers}


def two_releases():
    first = {"roc_auc": 0.5, "roc_auc_best": 0.75, "fit_seconds": 1.0, "tv2": 0.25}
    second = {"roc_auc": 0.6, "roc_auc_best": 0.85, "fit_seconds": 2.0, "tv2": 0.75}
    return [row(0, **first), row(1, **second)]


def lines(rows):
    return tabulate_rows(rows).splitlines()[2:]


def test_mean_deviation_and_best():
    (line,) = lines(two_releases())
    wanted = "| t | a/b | 0.3 | ROC-AUC | .550 ± .071 (.800) | .500 | 1.50 |  | 2 |"
    assert line == wanted


def test_only_columns_that_have_numbers():
    head = "| table | method | ε | metric | measured |{} fit, s | peak, MiB | n |"
    rows = [row(roc_auc=0.5, roc_auc_best=0.75)]
    assert tabulate_rows(rows).splitlines()[0] == head.format("")
    rows += [row(1, roc_auc=0.5, roc_auc_best=0.75, tv3=0.25, detection_auc=0.5)]
    assert tabulate_rows(rows).splitlines()[0] == head.format(
        " three-way | detection |"
    )


def test_numbers_outside_of_shares():
    (line,) = lines([row(r2=-0.25, r2_best=1.0)])
    assert "| R² | -.250 (1.000) |" in line
    (line,) = lines([row(r2=-12.5, r2_best=-10.5)])
    assert "| -12.500 (-10.500) |" in line


def test_what_failed_is_said_and_takes_no_part():
    failed = row(2, error="MemoryError", message="no more")
    (line,) = lines([*two_releases(), failed])
    assert "| .550 ± .071 (.800), failed: 1 × MemoryError |" in line
    assert line.endswith("| 2 |")
    (line,) = lines([failed, failed])
    assert "|  | failed: 2 × MemoryError |" in line


def test_what_is_printed_stands_beside_what_was_measured():
    both = [one | {"printed": ".450 / .300"} for one in two_releases()]
    other = row(roc_auc=0.5, roc_auc_best=0.5) | {"name": "other"}
    first, second = lines([*both, other])
    assert "| .500 | .450 / .300 | 1.50 |  | 2 |" in first
    assert "| .500 (.500) |  |  |  |  | 1 |" in second
    (line,) = lines([row(weighted_f1=0.5, weighted_f1_best=0.75)])
    assert "| weighted F1 | .500 (.750) |" in line


def test_the_papers_weigh_classes_by_size():
    both = {"macro_f1": 0.25, "macro_f1_best": 0.3}
    both |= {"weighted_f1": 0.5, "weighted_f1_best": 0.75}
    (line,) = lines([row(**both)])
    assert "| macro-F1 | .250 (.300) |" in line
    (line,) = lines([row(**both) | {"protocol": "paper"}])
    assert "| weighted F1 | .500 (.750) |" in line


def test_images_are_scored_by_each_model():
    (line,) = lines([row(logistic_regression=0.5, mlp=0.6, cnn=0.75)])
    assert "| accuracy: LR, MLP, CNN | .500 / .600 / .750 |" in line


def test_schemas_are_named_where_they_differ():
    public = [one | {"schema": "public"} for one in two_releases()]
    first, second = lines([*two_releases(), *public])
    assert "| a/b, discovered |" in first
    assert "| a/b, public |" in second


def test_a_caption_says_what_is_shared():
    rows = two_releases()
    said = "schema discovered, δ = 1e-05, protocol modern; numpy 2.0."
    assert caption(rows) == said
    long = [one | {"seconds": 90.0} for one in rows]
    assert caption(long).endswith("2.0, all cells together 3 minutes of one thread.")
    other = [one | {"version_numpy": "2.1", "delta": 1e-6} for one in rows]
    said = "schema discovered, protocol modern; numpy 2.0 or 2.1."
    assert caption([*rows, *other]) == said


def test_tables_go_between_the_marks_of_a_page(tmp_path):
    page, stored = tmp_path / "page.md", tmp_path / "mine.jsonl"
    stored.write_text("".join(json.dumps(one) + "\n" for one in two_releases()))
    page.write_text(MARKS + MARKS.replace("mine", "other"))
    differs = command("tables", stored, "--into", page, "--check", code=1)
    assert "has tables other than those of" in differs
    assert "page.md has the tables of mine." in command(
        "tables", stored, "--into", page
    )
    text = page.read_text()
    assert ".550 ± .071 (.800)" in text
    assert text.startswith("Before.\n\n<!-- bench:mine -->\n| table |")
    assert text.endswith(MARKS.replace("mine", "other"))
    command("tables", tmp_path, "--into", page, "--check")  # a folder of such files
    page.write_text(text.replace(".550", ".560"))
    command("tables", stored, "--into", page, "--check", code=1)

    run = tmp_path / "mine"
    run.mkdir()
    stored.rename(run / "results.jsonl")
    command("tables", run, "--into", page)  # the folder of a run
    assert page.read_text() == text
    assert "mine\n\n| table |" in command("tables", run)


def test_what_is_wrong_with_a_page(tmp_path):
    page, stored = tmp_path / "page.md", tmp_path / "mine.jsonl"
    stored.write_text(json.dumps(row(roc_auc=0.5, roc_auc_best=0.5)))
    page.write_text("Nothing.")
    told = command("tables", stored, "--into", page, code=1)
    assert "no place for mine. Add the lines <!-- bench:mine --> and" in told
    assert "--check needs --into" in command("tables", stored, "--check", code=2)
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "holds no results" in command("tables", empty, code=2)


def test_a_table_of_what_was_found():
    page = "<!-- bench:mine discovery -->\n<!-- /bench -->\n"
    releases = [{"name": "parts of 2 columns", "share": 0.25}]
    found = {"rows": 1000, "covered": 0.5, "privacy": {"releases": releases}}
    others = [row() | {"schema": "public", **found}, {"name": "real", "table": "t"}]
    others += [row() | found | {"covered": 0.0, "public": "all"}]
    rows = [row() | found, row(1) | found | {"covered": 0.75}, *others]
    filled = fill_page(page, {"mine": rows})
    assert "| t | 1,000 | 0.3 | 0.625 | 0.250 | 2 |" in filled
    assert "text cells" not in filled
    assert fill_page(filled, {}) == filled
    assert names_in(page) == ["mine"]
    with pytest.raises(ConfigError, match="take `discovery` out"):
        fill_page(page, {"mine": others})


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_all_that_comes_before_the_main_release_is_discovery(adjacency, task):
    X, y = load_example(4000)
    y = X["age"].astype(str) + " kg" if task == "regression" else y
    synth = DPIndependentSynthesizer(epsilon=3.0, adjacency=adjacency, task=task)
    with same_noise():
        *before, main = synth.fit(X, y).privacy_.to_dict()["releases"]
    assert len(before) >= 5
    assert share_of_discovery([main]) == 0.0
    shares = [release["share"] for release in before]
    assert share_of_discovery(before) == pytest.approx(sum(shares))


def test_scores_of_nist_stand_in_the_table():
    scores = {"k_marginal": 738.6, "pmse": 0.0123, "broken": 0.25, "sdmetrics": 0.957}
    head, _, line = tabulate_rows(
        [{"table": "t", "name": "ours", "r2": 0.5, "r2_best": 0.5, **scores}]
    ).splitlines()
    assert "k-marginal | pMSE | against a rule | SDMetrics" in head
    assert "| 739 | .0123 | .250 | .957 |" in line
