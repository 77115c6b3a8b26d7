"""The experiments of the papers: stored rows, pages, and a run that goes on."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from benchmarks import __main__ as commands
from benchmarks import papers
from benchmarks.catalogue import CATALOGUE
from benchmarks.papers import (
    KEYS,
    NAMES,
    PAGES,
    PAPERS,
    Place,
    fill_paper_page,
    our_numbers,
    read_printed,
    run_paper,
    runs_of,
    store_rows,
    tabulate_costs,
    tabulate_place,
)
from skdpgen.benchmark import _cells, read_rows
from skdpgen.benchmark._cells import Source
from skdpgen.benchmark._measure_cell import maker
from skdpgen.benchmark._run_cells import write_rows
from skdpgen.datasets import load_example
from skdpgen.exceptions import ConfigError

MAX_BYTES = 1_500_000


@pytest.mark.parametrize("paper", NAMES)
def test_pages_have_the_tables_of_stored_rows(paper):
    """`python -m benchmarks paper page` writes them."""
    page = (PAGES / f"{paper}.md").read_text("utf-8")
    assert fill_paper_page(page, paper) == page


@pytest.mark.parametrize("paper", NAMES)
def test_every_stored_row_is_of_a_run(paper):
    runs = {config.name: config for config in runs_of(paper)}
    stored = list((PAPERS / paper).glob("*.jsonl"))
    for path in stored:
        names = {method.name for method in runs[path.stem].methods}
        names |= {"real", "public rows"}
        assert {row["name"] for row in read_rows(path)} <= names
        assert path.stat().st_size < MAX_BYTES


@pytest.mark.parametrize("paper", NAMES)
def test_what_is_printed_is_listed_once(paper):
    printed = read_printed(PAPERS / paper / "printed.csv")
    assert not printed.duplicated(["place", *KEYS, "metric"]).any()
    assert printed["value"].map(np.isfinite).all()


def row_of(release, name="M, defaults", **values):
    row = {"cell": f"{name}{release}", "table": "ours", "name": name, "epsilon": 1.0}
    return row | {"release": release} | values


def printed_of(*lines):
    columns = ["place", *KEYS, "metric", "value"]
    printed = pd.DataFrame([["t", *line] for line in lines], columns=columns)
    return printed.astype({"epsilon": float}).assign(spread=np.nan, digits=3)


PRINTED = printed_of(
    ["theirs", "real", np.nan, "mean", "roc_auc", 0.9],
    ["theirs", "M", 1.0, "mean", "roc_auc", 0.75],
)
PLACE = Place("t", ["data", "method", "epsilon"], ["source"], ["roc_auc"])


def lines_of(rows, place=PLACE, printed=PRINTED):
    text = tabulate_place(place, printed, our_numbers(rows, {"theirs": "ours"}))
    return text.splitlines()


def test_a_table_has_printed_numbers_beside_ours():
    rows = [
        row_of(0, roc_auc=0.5),
        row_of(1, roc_auc=0.7),
        row_of(0, "real", roc_auc=0.8) | {"epsilon": None},
    ]
    assert lines_of(rows) == [
        "| data, method, ε | printed | paper's settings | defaults |",
        "| --- | --- | --- | --- |",
        "| theirs, real | .900 | .800 |  |",
        "| theirs, M, 1 | .750 |  | .600 ± .141 |",
        "",
        "Ours: 1 to 2 releases each.",
    ]


def test_a_printed_deviation_stands_beside_its_number():
    printed = PRINTED.assign(spread=[np.nan, 0.025])
    rows = [row_of(0, roc_auc=0.5)]
    assert lines_of(rows, printed=printed)[3].startswith("| theirs, M, 1 | .750 ± .025")


def test_printed_numbers_have_the_decimals_of_the_paper(tmp_path):
    path = tmp_path / "printed.csv"
    path.write_text(
        "place,data,method,epsilon,model,metric,value,spread\n"
        "t,theirs,M,1,mean,roc_auc,0.70,0.02\n"
        "t,theirs,N,1,mean,roc_auc,0.8125,\n"
    )
    lines = lines_of([row_of(0, roc_auc=0.5)], printed=read_printed(path))
    assert lines[2:4] == [
        "| theirs, M, 1 | .70 ± .02 | .500 |",
        "| theirs, N, 1 | .813 |  |",
    ]


def test_scores_of_chosen_classifiers_stand_in_tables_of_their_own():
    chosen = {"protocol": "selected"}
    rows = [
        row_of(0, roc_auc=0.5),
        row_of(0, roc_auc=0.7) | chosen,
        row_of(0, "real", roc_auc=0.8) | {"epsilon": None} | chosen,
    ]
    assert lines_of(rows)[2:4] == [
        "| theirs, real | .900 |  |",
        "| theirs, M, 1 | .750 | .500 |",
    ]
    assert lines_of(rows, replace(PLACE, selected=True))[2:4] == [
        "| theirs, real | .900 | .800 |  |",
        "| theirs, M, 1 | .750 |  | .700 |",
    ]
    assert lines_of(rows[:2], replace(PLACE, selected=True))[2:4] == [
        "| theirs, M, 1 | .750 | .700 |",
        "",
    ]


def test_the_highest_of_all_releases():
    place = Place(
        "t", ["data", "method", "epsilon"], ["source"], ["roc_auc"], best=True
    )
    rows = [row_of(0, roc_auc=0.5), row_of(1, roc_auc=0.7)]
    assert lines_of(rows, place)[3].endswith("| .750 | .700 |")


def test_a_mean_of_the_highest_is_that_of_the_models():
    printed = printed_of(
        ["theirs", "M", 1.0, "lda", "accuracy", 0.8],
        ["theirs", "M", 1.0, "mlp", "accuracy", 0.9],
        ["theirs", "M", 1.0, "mean", "accuracy", 0.85],
    )
    place = Place("t", ["model"], ["source"], ["accuracy"], best=True)
    rows = [
        row_of(0, models={"lda": {"accuracy": 0.5}, "mlp": {"accuracy": 0.25}}),
        row_of(1, models={"lda": {"accuracy": 0.25}, "mlp": {"accuracy": 0.75}}),
    ]
    lines = lines_of(rows, place, printed)
    assert lines[2:5] == [
        "| lda | .800 | .500 |",
        "| mlp | .900 | .750 |",
        "| mean | .850 | .625 |",
    ]
    assert lines[-1] == "Ours: 2 releases each."


def test_a_mean_of_the_highest_needs_no_printed_models():
    place = Place("t", ["data", "method"], ["source"], ["roc_auc"], best=True)
    rows = [
        row_of(0, models={"lda": {"roc_auc": 0.5}, "mlp": {"roc_auc": 0.25}}),
        row_of(1, models={"lda": {"roc_auc": 0.25}, "mlp": {"roc_auc": 0.75}}),
    ]
    assert lines_of(rows, place)[3].endswith("| .625 |")


def test_budgets_that_are_not_printed_stand_beside_those_that_are():
    printed = pd.concat(
        [PRINTED, printed_of(["theirs", "Other", 1.0, "mean", "roc_auc", 0.5])]
    )
    place = Place(
        "u",
        ["data", "method"],
        ["epsilon", "source"],
        ["roc_auc"],
        of="t",
        epsilons=[1.0, np.inf],
    )
    rows = [
        row_of(0, roc_auc=0.5),
        row_of(0, roc_auc=0.875) | {"epsilon": np.inf},
        row_of(0, "real", roc_auc=0.8) | {"epsilon": None},
    ]
    assert lines_of(rows, place, printed) == [
        "| data, method | ε = 1 printed | ε = 1 defaults | ε = ∞ defaults |",
        "| --- | --- | --- | --- |",
        "| theirs, M | .750 | .500 | .875 |",
        "",
        "Ours: 1 release each.",
    ]


def test_fits_without_a_step_are_marked():
    rows = [row_of(0, roc_auc=0.5, relations="columns by class only")]
    lines = lines_of(rows)
    assert lines[3].endswith("| .500 † |")
    assert "no training step was made" in lines[-1]
    learnt = [row_of(0, roc_auc=0.5, relations="columns and relations")]
    assert "†" not in "".join(lines_of(learnt))


def test_failed_cells_and_cells_of_two_runs():
    rows = [row_of(0, error="KeyError"), row_of(1, roc_auc=0.7), row_of(1, roc_auc=0.7)]
    assert lines_of(rows)[-1] == "Ours: 1 release each."


def test_a_model_of_a_column_of_models():
    printed = printed_of(
        ["theirs", "M", 1.0, "lda", "accuracy", 0.8],
        ["theirs", "M", 1.0, "mlp", "accuracy", 0.9],
    )
    place = Place(
        "t", ["data"], ["source"], ["accuracy"], ["lda", "mlp"], ["printed", "defaults"]
    )
    scores = {"lda": {"accuracy": 0.25}, "mlp": {"accuracy": 0.5}}
    lines = lines_of([row_of(0, models=scores)], place, printed)
    assert lines[2] == "| theirs | .800 / .900 | .250 / .500 |"


def test_the_mean_of_models_is_not_shown_where_one_model_is_printed():
    printed = printed_of(
        ["theirs", "M", 1.0, "small_cnn", "accuracy", 0.8],
        ["theirs", "M", 1.0, "mean", "fid", 5.0],
    )
    place = Place(
        "t", ["data"], ["source"], ["accuracy", "fid"], sources=["printed", "defaults"]
    )
    scores = {"cnn": {"accuracy": 0.25}, "small_cnn": {"accuracy": 0.5}}
    lines = lines_of([row_of(0, models=scores, fid=2.0)], place, printed)
    assert lines[2] == "| theirs | .800 / 5.000 | .500 / 2.000 |"


def test_a_page_without_a_place_is_refused():
    with pytest.raises(ConfigError, match=r"dp_merf has no <!-- paper:table_2 -->"):
        fill_paper_page("# Nothing", "dp_merf")


def test_a_page_may_have_rows_of_another_paper(tmp_path):
    """DP-CGAN of tables stands on two pages, and was run for one."""
    for name, head in (("mine", 'rows_of = ["other"]\n'), ("other", "")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "page.toml").write_text(
            f'{head}[[table]]\nname = "t"\nrows = ["data", "method", "epsilon"]\n'
            'columns = ["source"]\nmetrics = ["roc_auc"]\n'
        )
        PRINTED.to_csv(tmp_path / name / "printed.csv", index=False)
    write_rows(
        tmp_path / "other" / "run.jsonl", [row_of(0, roc_auc=0.5, table="theirs")]
    )
    page = "".join(
        f"<!-- paper:{name} -->\n<!-- /paper -->\n" for name in ("t", "costs")
    )
    assert "| theirs, M, 1 | .75 | .500 |" in fill_paper_page(page, "mine", tmp_path)


def test_presets_take_the_settings_of_the_data_set():
    methods, sources = {}, {}
    for config in runs_of("dp_merf"):
        methods |= {method.name: method for method in config.methods}
        sources |= {source.name: source for source in config.sources}

    def made(method, name):
        cell = _cell(methods[method], sources[name])
        return maker(cell, 100, CATALOGUE)(epsilon=1.0)

    assert made("DP-MERF, paper's settings", "adult_thinned").n_features == 1000
    paper = made("DP-MERF, paper's settings", "census_thinned")
    assert paper.generator.max_iter == 2000
    assert made("DP-MERF, defaults", "census_thinned").class_weight is None


def _cell(method, source):
    from skdpgen.benchmark._cells import Cell

    assert isinstance(source, Source)
    return Cell(source, "0", method.method, method.settings, 1.0)


def test_a_run_is_stored_and_goes_on(tmp_path, monkeypatch):
    X, y = load_example(300)
    X[["age", "job"]].assign(target=y).to_csv(tmp_path / "mine.csv", index=False)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "run.toml").write_text(
        'tables = [{ path = "../mine.csv", target = "target" }]\n'
        'methods = ["DPIndependentSynthesizer"]\nreleases = 1\n'
        'classifiers = ["lda"]\nreal = false\n'
    )
    given = {"data": tmp_path, "out": tmp_path / "out", "folder": tmp_path}
    assert run_paper("mine", **given, minutes=0) == {"run": []}
    rows = run_paper("mine", **given)
    assert run_paper("mine", **given, minutes=0) == rows
    monkeypatch.setattr(_cells, "FINGERPRINTS", ())  # tables of papers are public
    store_rows("mine", run_paper("mine", **given, minutes=0), tmp_path, tmp_path)
    (row,) = read_rows(tmp_path / "mine" / "run.jsonl")
    assert set(row["models"]) == {"lda"}
    assert row["relations"] == "columns by class only"


FILES = "first", "second"


@pytest.fixture
def two_runs(tmp_path):
    load_example(20)[0][["age", "job"]].to_csv(tmp_path / "mine.csv", index=False)
    (tmp_path / "mine").mkdir()
    for name, releases in (("first", 3), ("second", 2)):
        (tmp_path / "mine" / f"{name}.toml").write_text(
            'tables = [{ path = "../mine.csv", target = "job" }]\n'
            'methods = ["DPIndependentSynthesizer"]\n'
            f"epsilons = [1]\nreleases = {releases}\nreal = false\n"
        )
    return tmp_path


def test_first_releases_of_all_runs_come_first(two_runs, monkeypatch):
    begun = []

    def run_cells(config, out, **how):
        begun.append((config.name, config.releases))
        return [{"release": release} for release in range(config.releases)]

    monkeypatch.setattr(papers, "run_cells", run_cells)
    given = {"data": two_runs, "out": two_runs, "folder": two_runs}
    rows = run_paper("mine", **given)
    assert begun == [
        ("first", 1),
        ("second", 1),
        ("first", 2),
        ("second", 2),
        ("first", 3),
    ]
    assert [len(lines) for lines in rows.values()] == [3, 2]
    rows = run_paper("mine", **given, releases=1)
    assert [len(lines) for lines in rows.values()] == [1, 1]


def test_runs_that_are_left_out_keep_their_rows(two_runs, monkeypatch):
    folder = two_runs / "mine"
    (folder / "second.toml").rename(folder / "second_gpu.toml")
    monkeypatch.setattr(papers, "run_cells", lambda config, *_, **__: [])
    given = {"data": two_runs, "out": two_runs, "folder": two_runs}
    assert list(run_paper("mine", **given)) == ["first", "second_gpu"]
    rows = run_paper("mine", **given, only=["first"])
    assert list(rows) == ["first"]
    (_, cell), *_ = runs_of("mine", two_runs)[1].cells(two_runs)
    line = {"cell": cell.key, "score": 0.5}
    store_rows("mine", {"second_gpu": [line], "first": []}, two_runs, two_runs)
    store_rows("mine", rows, two_runs, two_runs)
    (row,) = read_rows(folder / "second_gpu.jsonl")
    assert row["score"] == 0.5


def test_stored_rows_stay_until_they_are_computed_again(two_runs):
    runs = {run.name: run.cells(two_runs) for run in runs_of("mine", two_runs)}
    keys = [cell.key for _, cell in runs["first"]]
    before = [{"cell": key, "score": 0.5} for key in [*keys[:2], "of an older run"]]
    later = [{"cell": keys[1], "score": 0.7}, {"cell": keys[2], "error": "ValueError"}]
    for rows in (before, later):
        store_rows("mine", {"first": rows, "second": []}, two_runs, two_runs)
    rows = read_rows(two_runs / "mine" / "first.jsonl")
    assert [(row["cell"], row["score"]) for row in rows] == [
        (keys[0], 0.5),
        (keys[1], 0.7),
    ]
    assert {row["name"] for row in rows} == {"DPIndependentSynthesizer"}
    assert not (two_runs / "mine" / "second.jsonl").exists()


def test_costs_are_those_of_cells_that_are_alike_and_by_machine(two_runs):
    kind = {"table": "mine", "name": "DPIndependentSynthesizer", "epsilon": 1.0}
    kind |= {"classifiers": None, "protocol": "modern"}
    here, there = kind | {"version_torch": "2.13.0+cpu"}, kind | {"version_torch": "2"}
    rows = [
        there | {"release": 0, "seconds": 7200.0, "cpu_seconds": 1.0},
        *(
            here | {"release": release, "seconds": 1.0, "cpu_seconds": 3600.0 * hours}
            for release, hours in ((1, 1), (2, 2), (3, 9))
        ),
        here | {"epsilon": 3.0, "release": 1, "seconds": 1.0, "cpu_seconds": 1e5},
    ]
    first, second = (two_runs / "mine" / f"{name}.jsonl" for name in FILES)

    def lines():
        return tabulate_costs("mine", two_runs).splitlines()[2:-1]

    write_rows(first, rows)
    assert lines() == [
        "| first | 1 | 2.0 (1) |  | 0 |",
        "| second | 1 | 2.0 (1) |  | 0 |",
    ]
    write_rows(first, rows[:1])
    assert lines() == [
        "| first | 1 |  | 2.0 (1) | 0 |",
        "| second | 1 |  | 2.0 (1) | 0 |",
    ]
    write_rows(second, [{**rows[1], "epsilon": 10.0}])  # about as long as 1
    assert lines() == [
        "| first | 1 | 1.0 (1) |  | 0 |",
        "| second | 1 | 1.0 (1) |  | 0 |",
    ]
    first.unlink()
    others = ({"name": "another"}, {"protocol": "selected"}, {"epsilon": math.inf})
    others += ({"classifiers": ["lda"]},)
    for other in others:
        write_rows(second, [{**rows[1], **other}])
        assert lines() == ["| first | 1 |  |  | 1 |", "| second | 1 |  |  | 1 |"]


def test_costs_together_are_those_of_runs_that_need_no_gpu(two_runs):
    folder = two_runs / "mine"
    kind = {"table": "mine", "name": "DPIndependentSynthesizer", "classifiers": None}
    kind |= {"version_torch": "2.13.0+cpu", "epsilon": 1.0, "release": 0}
    kind |= {"protocol": "modern"}
    write_rows(folder / "first.jsonl", [kind | {"cpu_seconds": 3600.0}])

    def together():
        return tabulate_costs("mine", two_runs).splitlines()[-1]

    assert together() == "| together, without --gpu or --run | 2 | 2.0 (2) |  | 0 |"
    (folder / "second.toml").rename(folder / "second_gpu.toml")
    assert together() == "| together, without --gpu or --run | 1 | 1.0 (1) |  | 0 |"
    (folder / "page.toml").write_text('explaining = ["first"]')
    assert together() == "| together, without --gpu or --run | 0 |  |  | 0 |"


@pytest.mark.parametrize(
    ("options", "runs"),
    [
        (["--run", "table_16", "--run", "settings_gpu"], {"table_16", "settings_gpu"}),
        (["--no-gpu"], {"digits", "table_4", "table_14", "table_16"}),
    ],
)
def test_the_command_takes_names_of_runs(options, runs, tmp_path, monkeypatch):
    asked, _ = asked_runs(["dp_mepf", *options], tmp_path, monkeypatch)
    assert asked == runs


def test_runs_that_only_explain_are_left_out_unless_named(tmp_path, monkeypatch):
    explaining = {"ideas", "selected", "weights_and_cells"}
    explaining |= {"rows_of_the_code", "rows_of_covtype"}
    asked, text = asked_runs(["dp_ntk", "--no-gpu"], tmp_path, monkeypatch)
    assert {"tables", "digits"} <= asked
    assert not asked & explaining
    assert "because they only explain tables (--run): ideas, " in text
    every, text = asked_runs(["dp_ntk", "--gpu"], tmp_path, monkeypatch)
    assert every - asked == {"digits_gpu", "widths_gpu"}
    assert "without a GPU" not in text
    named = [option for run in explaining for option in ("--run", run)]
    assert asked_runs(["dp_ntk", *named], tmp_path, monkeypatch) == (explaining, "")


def asked_runs(options, data, monkeypatch):
    """Return the runs that a command asks for, and what it prints."""
    asked = []
    monkeypatch.setattr(
        commands, "run_paper", lambda *_, only, **__: asked.append({*only}) or {}
    )
    command = ["paper", "run", *options, "--data", str(data)]
    result = CliRunner().invoke(commands.main, command)
    assert result.exit_code == 0
    return asked[0], result.output


def test_a_name_that_is_no_run_is_refused(tmp_path):
    command = ["paper", "run", "dp_mepf", "--data", str(tmp_path), "--run", "table_3"]
    result = CliRunner().invoke(commands.main, command)
    assert result.exit_code == 2
    assert "'table_3' is none of dp_mepf: digits, garments_" in result.output
