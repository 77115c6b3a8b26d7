"""The command line, from a file to a synthetic file and its report."""

import gzip
import json
import re
import shutil
from pathlib import Path

import click
import pandas as pd
import pytest
from click.testing import CliRunner
from tqdm.std import tqdm

from skdpgen import Integer, Schema, load
from skdpgen.cli import _demo_command, main
from skdpgen.cli._fit_command import refuse_rows_as_names
from skdpgen.datasets import load_example
from skdpgen.exceptions import NotPrivateWarning
from skdpgen.privacy import insecure_noise_seed
from tests.guards._doors import Tape, through
from tests.guards._state import differences

# rare values are found or not as the noise has it
pytestmark = pytest.mark.filterwarnings("ignore::skdpgen.exceptions.RareValuesWarning")
SECRET = "Jane Doe of Berlin"


def run(*arguments, code=0):
    found = CliRunner().invoke(main, [str(one) for one in arguments])
    assert found.exit_code == code, found.output
    return found.output


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("people")
    X, y = load_example(2000)
    X.assign(status=y).to_csv(folder / "people.csv", index=False)
    X.assign(status=y).to_parquet(folder / "people.parquet")
    (folder / "empty.csv").write_text("")
    (folder / "twice.csv").write_text("a,a\n1,2\n")
    (folder / "ragged.csv").write_text(f"a,b\n1,2\n{SECRET},2,3,4\n")
    (folder / "latin.csv").write_bytes(b"Gr\xf6\xdfe\n1\n")
    (folder / "open.csv").write_text(f'a,"b\n1,2\n{SECRET},2\n')
    (folder / "broken.toml").write_text("[columns\n")
    (folder / "odd.toml").write_text('[columns."age"]\ntype = "Imaginary"\n')
    (folder / "other.toml").write_text('[columns."height"]\ntype = "Boolean"\n')
    (folder / "target.toml").write_text('[columns."status"]\ntype = "Boolean"\n')
    (folder / "people.xlsx").write_text(SECRET)
    (folder / "not.parquet").write_text(f"PAR1{SECRET}")  # damaged
    run("fit", folder / "people.csv", "--target", "status", "--classes", "left,stayed",
        "--out", folder / "model", "--quiet", "--epsilon", 20,
        "--method", "independent")  # fmt: skip
    return folder


def test_the_folder_of_a_model_is_whole(folder):
    synthesizer = load(folder / "model" / "model.skdpgen")
    assert list(synthesizer.classes_) == ["left", "stayed"]
    text = (folder / "model" / "certificate.txt").read_text()
    assert text == f"{synthesizer.privacy_}\n"
    content = json.loads((folder / "model" / "certificate.json").read_text())
    assert content["epsilon"] == 20.0
    assert "dtypes as read, taken as public: str (all columns)" in text


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.parquet", "a.feather"])
def test_samples_have_the_columns_of_the_file(folder, name):
    assert "200 synthetic rows" in run(
        "sample", folder / "model", "-n", 200, "-o", folder / name, "--seed", 3
    )
    read = {"t": pd.read_parquet, "r": pd.read_feather}.get(name[-1], pd.read_csv)
    table = read(folder / name)
    real = pd.read_csv(folder / "people.csv")
    assert list(table.columns) == list(real.columns)
    assert len(table) == 200
    assert table["age"].dtype.kind in "if"
    assert table["status"].isin(["left", "stayed"]).all()


def test_a_seed_gives_the_same_rows(folder):
    for name in ("one.csv", "two.csv"):
        run("sample", folder / "model", "-n", 50, "-o", folder / name, "--seed", 3)
    assert (folder / "one.csv").read_text() == (folder / "two.csv").read_text()


def test_one_odd_cell_changes_no_dtype(folder, tmp_path):
    """A reader that guesses would turn the whole column into text."""
    said = []
    for odd in ("31", SECRET):
        table = pd.read_csv(folder / "people.csv", dtype=str, keep_default_na=False)
        table.loc[17, "age"] = odd
        table.to_csv(tmp_path / "odd.csv", index=False)
        out = tmp_path / odd[:4]
        run("fit", tmp_path / "odd.csv", "--target", "status", "--out", out, "--quiet",
            "--method", "independent", "--epsilon", 30)  # fmt: skip
        columns = pd.read_csv(out / "columns.csv", index_col=0)
        assert columns.loc["age", "type"] == "Integer"
        lines = (out / "certificate.txt").read_text().splitlines()
        said.append([line for line in lines if "dtypes" in line])
    assert said[0] == said[1]


def test_parquet_keeps_its_dtypes(folder, tmp_path):
    run("fit", folder / "people.parquet", "--target", "status", "--out", tmp_path / "m",
        "--quiet", "--method", "independent")  # fmt: skip
    run("sample", tmp_path / "m", "-o", tmp_path / "s.parquet")
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    real = parquet.read_schema(folder / "people.parquet")
    drawn = parquet.read_schema(tmp_path / "s.parquet")
    expected = [  # without the order of discovered words, nor the width of indices
        pyarrow.dictionary(pyarrow.int32(), one.value_type)
        if pyarrow.types.is_dictionary(one)
        else one
        for one in real.types
    ]
    assert drawn.types == expected


def test_a_schema_is_made_filled_in_and_used(folder, tmp_path):
    path, people = tmp_path / "s.toml", folder / "people.csv"
    run("schema", "init", people, "-o", path, "--target", "status")
    text = path.read_text()
    assert Schema.load(path) == Schema()  # all of it is comments
    lines = text.splitlines()
    start = lines.index('# [columns."age"]')
    lines[start : start + 4] = [line[2:] for line in lines[start : start + 4]]
    path.write_text("\n".join(lines))
    assert Schema.load(path).columns == {"age": Integer(0, 100)}
    said = run("schema", "check", path, people, "--target", "status")
    assert "1 columns described" in said
    run("fit", people, "--target", "status", "--schema", path, "--quiet",
        "--out", tmp_path / "m", "--method", "independent")  # fmt: skip
    columns = pd.read_csv(tmp_path / "m" / "columns.csv", index_col=0)
    assert not columns.loc["age", "is_discovered"]
    assert columns.loc["age", "upper"] == "100"


def test_to_infer_a_schema_warns(folder, tmp_path):
    path = tmp_path / "s.toml"
    said = run("schema", "init", folder / "people.csv", "-o", path, "--infer")
    assert "no part of any guarantee" in said
    assert Schema.load(path).check().origin


@pytest.mark.parametrize("target", [(), ("--target", "status")])
def test_an_inferred_schema_stays_marked_until_the_certificate(tmp_path, target):
    path, people = tmp_path / "s.toml", tmp_path / "few.csv"
    X, y = load_example(300)
    X[["age", "job"]].assign(status=y).to_csv(people, index=False)
    run("schema", "init", people, "-o", path, "--infer", *target)
    assert "read off rows (Schema.infer)" in Schema.load(path).origin
    assert Schema.load(path).other == "other"  # the mark once went there
    run("schema", "check", path, people, *target)
    run("fit", people, "--schema", path, "--out", tmp_path / "m", "--quiet",
        "--method", "independent", *target)  # fmt: skip
    assert (
        "read off rows (Schema.infer)" in (tmp_path / "m/certificate.txt").read_text()
    )
    assert load(tmp_path / "m" / "model.skdpgen").schema_.origin


@pytest.mark.usefixtures("few_models")
def test_demo_prints_one_screen_and_writes_its_files(monkeypatch, tmp_path):
    monkeypatch.setattr(_demo_command, "N_ROWS", 1000)
    monkeypatch.setattr(_demo_command, "MODELS", ["lda"])
    monkeypatch.setattr("skdpgen.metrics.detection_auc", lambda *tables: 0.5)
    folder = tmp_path / "demo"
    printed = run("demo", "--out", folder)
    # so few rows may warn
    lines = [x for x in printed.splitlines() if not x.startswith("Warning: ")]
    assert len(lines) <= 24
    own = [x for x in lines if "file://" not in x and str(tmp_path) not in x]
    assert max(map(len, own)) <= 80
    assert (folder / "report.html").as_uri() in printed
    for name in ("private", "synthetic", "baseline"):
        assert len(pd.read_csv(folder / f"{name}.csv")) == 1000
    assert (folder / "pairs.png").stat().st_size > 10_000
    assert load(folder / "model" / "model.skdpgen").privacy_.epsilon == 1

    # its own files are replaced; a folder with other files is left alone
    assert "xgboost" in run("demo", "--out", folder, "--models")
    (folder / "mine.txt").touch()
    assert "with other files" in run("demo", "--out", folder, code=2)


def test_demo_beats_the_baseline(tmp_path, monkeypatch):
    monkeypatch.setattr(_demo_command, "MODELS", ["lda"])
    with pytest.warns(NotPrivateWarning), insecure_noise_seed(0):
        printed = run("demo", "--out", tmp_path / "demo")
    values = {
        line[:46].strip(): [float(cell.strip("%")) for cell in line[46:].split()]
        for line in printed.splitlines()
        if re.fullmatch(r"( +[\d.]+%?){3}", line[46:])
    }
    detection, debit, best = values.values()
    real, ours, baseline = detection
    assert real < 0.55 < ours < 0.8 < 0.9 < baseline
    real, ours, baseline = debit
    assert abs(ours - real) < 5 < 20 < abs(baseline - real)
    real, ours, baseline = best
    assert baseline + 0.03 < ours < real + 0.01


def test_plan_reads_no_file():
    assert "Plan for 1000 rows" in run("plan", "-n", 1000, "--columns", 5)


def test_report_of_a_model_reads_no_rows(folder, tmp_path):
    run("report", folder / "model", "-o", tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    assert "suspected before" in page
    assert "not private" not in page
    content = json.loads((tmp_path / "r.json").read_text())
    assert content["real"] is None
    assert content["alarms"] == []


@pytest.mark.usefixtures("few_models")
def test_report_beside_real_rows_says_so(folder, tmp_path):
    run("report", folder / "model", "-o", tmp_path / "r.html",
        "--real", folder / "people.csv")  # fmt: skip
    page = (tmp_path / "r.html").read_text()
    content = json.loads((tmp_path / "r.json").read_text())
    assert next(iter(content)) == "alarms"
    for alarms in (content["alarms"], content["guarantee"]["alarms"]):
        assert alarms[0].startswith("NOT PRIVATE: this report reads real rows")
        assert page.count(alarms[0]) == 1  # the page has the same
    assert page.count("data:image/png;base64") == 3
    assert len(page) < 2e6
    real = content["real"]
    assert {one["name"] for one in real["scores"]["models"]} >= {"xgboost", "lda"}
    assert set(real["scores"]["seconds"]) == {"synthetic", "baseline", "real"}


FIT = ("fit", "{}/people.csv", "--out", "{}/new")
WRONG = {
    "no command": (("fi",), 2, "Did you mean fit?"),
    "no file": (("fit", "--out", "m"), 2, "FILE"),
    "absent file": (("fit", "{}/none.csv", "--out", "m"), 2, "does not exist"),
    "no folder": (("fit", "{}/people.csv"), 2, "--out"),
    "spreadsheet": (("fit", "{}/people.xlsx", "--out", "{}/new"), 2, "is a workbook"),
    "empty file": (("fit", "{}/empty.csv", "--out", "{}/new"), 2, "begin with names"),
    "names twice": (("fit", "{}/twice.csv", "--out", "{}/new"), 2, "must differ"),
    "header": (("fit", "{}/latin.csv", "--out", "{}/new"), 2, "--encoding cp1252"),
    "open quote": (("fit", "{}/open.csv", "--out", "{}/new"), 2, "close each quote"),
    "separator": ((*FIT, "--separator", ", "), 2, "one character"),
    "encoding": ((*FIT, "--encoding", "shift_jis"), 2, "convert the file to UTF-8"),
    "empty separator": ((*FIT, "--separator", ""), 2, "must be one character"),
    "escapes": (  # in which the text \\u000a is a line break
        (*FIT, "--encoding", "raw_unicode_escape"),
        2,
        "convert the file to UTF-8",
    ),
    "not parquet": (("fit", "{}/not.parquet", "--out", "{}/new"), 1, "outside skdpgen"),
    "model is there": (("fit", "{}/people.csv", "--out", "{}/model"), 2, "already"),
    "target": ((*FIT, "--target", "Status"), 2, "must be a column"),
    "epsilon is text": ((*FIT, "--epsilon", "one"), 2, "is no number"),
    "epsilon below 0": ((*FIT, "--epsilon", "-1"), 2, "--epsilon must be"),
    "delta": ((*FIT, "--delta", "2"), 2, "--delta must be"),
    "method": ((*FIT, "--method", "gan2"), 2, "must be one of"),
    "method of images": ((*FIT, "--method", "mepf"), 1, "images"),
    "method without public rows": ((*FIT, "--method", "dre"), 1, "`--method mge`"),
    "seed": ((*FIT, "--seed", "-1"), 2, "'--seed': -1 is not in the range"),
    "seed of a sample": (
        ("sample", "{}/model", "-o", "{}/s.csv", "--seed", "-1"),
        2,
        "'--seed': -1 is not in the range",
    ),
    "setting": ((*FIT, "--set", "max_iter"), 2, "NAME=VALUE"),
    "unknown setting": ((*FIT, "--set", "depth=3"), 2, "has no parameter depth"),
    "task": ((*FIT, "--task", "ranking"), 2, "ranking"),
    "adjacency": ((*FIT, "--adjacency", "add"), 2, "add"),
    "broken schema": ((*FIT, "--schema", "{}/broken.toml"), 2, "must be TOML"),
    "odd schema": ((*FIT, "--schema", "{}/odd.toml"), 2, "Imaginary"),
    "other schema": ((*FIT, "--schema", "{}/other.toml"), 2, "must be in"),
    "target in schema": (
        (*FIT, "--schema", "{}/target.toml", "--target", "status"),
        2,
        "[target]",
    ),
    "sample of nothing": (("sample", "{}", "-o", "{}/s.csv"), 2, "holds no model"),
    "no rows": (("sample", "{}/model", "-n", "0", "-o", "{}/s.csv"), 2, "-n"),
    "odd ending": (("sample", "{}/model", "-o", "{}/s.xls"), 2, "must be one of"),
    "no such folder": (("sample", "{}/model", "-o", "{}/x/s.csv"), 2, "no folder"),
    "report ending": (("report", "{}/model", "-o", "{}/r.pdf"), 2, ".html"),
    "test alone": (
        ("report", "{}/model", "-o", "{}/r.html", "--test", "{}/people.csv"),
        2,
        "--real",
    ),
    "other rows": (
        ("report", "{}/model", "-o", "{}/r.html", "--real", "{}/ragged.csv"),
        2,
        "without",
    ),
    "schema is there": (
        ("schema", "init", "{}/people.csv", "-o", "{}/odd.toml"),
        2,
        "already",
    ),
    "plan of nothing": (("plan", "-n", "0", "--columns", "3"), 2, "-n"),
}


@pytest.mark.parametrize("name", WRONG)
def test_errors_are_a_line_that_names_the_way_out(folder, name):
    arguments, code, says = WRONG[name]
    output = run(*(one.replace("{}", str(folder)) for one in arguments), code=code)
    assert says in output
    *usage, last = output.strip().splitlines()
    assert last.startswith("Error: ")
    assert not any("Traceback" in line for line in usage)
    for value in (SECRET, "Jane", "Berlin"):
        assert value not in output


def test_warnings_are_a_line_each(folder, tmp_path):
    """Classes that no row has: to refuse them would tell what rows have."""
    said = run("fit", folder / "people.csv", "--target", "status", "--classes", "a,b",
               "--out", tmp_path / "m", "--method", "independent")  # fmt: skip
    lines = [line for line in said.splitlines() if line.startswith("Warning: ")]
    assert any("classes" in line for line in lines)


def test_a_bar_for_rows_unless_quiet(folder, tmp_path):
    said = run("sample", folder / "model", "-n", 50, "-o", tmp_path / "a.csv")
    assert "50 of 50 rows" in said
    said = run("sample", folder / "model", "-n", 50, "-o", tmp_path / "b.csv",
               "--quiet")  # fmt: skip
    assert said.splitlines() == [f"Wrote 50 synthetic rows to {tmp_path / 'b.csv'}."]


def files_of(folder):
    """Return what each file of a folder holds, in a form that compares."""
    found = {}
    for path in sorted(folder.iterdir()):
        found[path.name] = path.read_bytes()
    return found


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("known", [(), ("--classes", "left,stayed")])
def test_all_that_fit_shows_and_writes_is_known_by_releases(
    kind, known, monkeypatch, tmp_path
):
    """Another file of another number of rows, with the releases of the first."""
    X, y = load_example(700)
    X = X[["age", "job", "income"]].assign(status=y)
    tape, seen, bars = Tape(), [], []
    monkeypatch.setattr(tqdm, "display", lambda bar, *a, **k: None)  # shows seconds

    def watch(bar, *args, original=tqdm.__init__, **params):
        original(bar, *args, **params)
        bars.append((bar.desc, bar.total))

    monkeypatch.setattr(tqdm, "__init__", watch)
    monkeypatch.chdir(tmp_path)
    for rows in (X[:400], X[350:].assign(job="pilot")):
        to = {"csv": rows.to_csv, "parquet": rows.to_parquet}[kind]
        to(f"people.{kind}", index=False)
        bars.clear()
        with through(monkeypatch, tape):
            said = run("fit", f"people.{kind}", "--target", "status", "--out", "model",
                       "--adjacency", "add_remove", "--epsilon", 40, "--seed", 0,
                       "--method", "independent", *known)  # fmt: skip
        seen.append((said, list(bars), files_of(tmp_path / "model")))
        shutil.rmtree("model")
        tape.rewind()
    assert len(tape.values) > 2
    assert differences(*seen) == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete_commands(shell):
    """What `eval "$(_SKDPGEN_COMPLETE=bash_source skdpgen)"` asks for at each tab."""
    words = {"COMP_WORDS": "skdpgen sch", "COMP_CWORD": "1"}
    if shell == "fish":  # which tells the word itself and not its place
        words["COMP_CWORD"] = "sch"
    words["_SKDPGEN_COMPLETE"] = f"{shell}_complete"
    found = CliRunner().invoke(main, [], env=words, prog_name="skdpgen")
    assert "schema" in found.output
    assert "sample" not in found.output


def test_debug_shows_where(folder):
    out = folder / "debugged"
    found = CliRunner().invoke(
        main, ["--debug", "fit", str(folder / "not.parquet"), "--out", str(out)]
    )
    assert found.exception is not None
    assert not isinstance(found.exception, SystemExit)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        (["--epsilon", "0"], "--epsilon must be a float in the range"),
        (["--set", "n_groups=1"], "--set n_groups must be an int in the range"),
        (
            ["--method", "merf", "--set", "generator__max_iter=-1"],
            "--set generator__max_iter must be an int in the range",
        ),
        (
            ["--method", "merf", "--set", "max_iter=5"],
            "Did you mean generator__max_iter?",
        ),
        (["--set", "n_group=4"], "Did you mean n_groups?"),
        (
            ["--method", "gan", "--set", "max_iter=5"],
            "Did you mean discriminator__max_iter?",
        ),
        (
            ["--method", "gan", "--set", "discriminator__max_iter=0"],
            "--set discriminator__max_iter must be an int in the range",
        ),
        (["--epsilon", "0.5", "--set", "epsilon=5"], "use --epsilon instead"),
        (["--set", "epsilon=5"], "use --epsilon instead"),
        (["--set", " delta = 0.1"], "use --delta instead"),
        (["--set", 'classes=["no"]'], "use --classes instead"),
        (["--set", "task=regression"], "use --task instead"),
        (["--set", "adjacency=add_remove"], "use --adjacency instead"),
        (["--set", "random_state=1"], "use --seed instead"),
        (["--set", "schema={}"], "use --schema instead"),
        (["--set", "verbose=0"], "use --quiet instead"),
        (["--preset", "paper"], "DPPairwiseSynthesizer has no --preset"),
        (["--method", "mge", "--preset", "paper"], "data must be 'images'"),
    ],
)
def test_errors_speak_of_options(setting, message, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,b\n1,2\n3,4\n")
    ran = CliRunner().invoke(main, ["fit", str(path), "--out", str(tmp_path), *setting])
    assert ran.exit_code == 2
    assert message in " ".join(ran.output.split())


def test_a_preset_is_of_what_the_file_holds():
    from skdpgen.cli._fit_command import make_synthesizer

    options = {"method": "merf", "epsilon": 2.0, "task": "auto", "delta": None}
    options |= {"adjacency": "replace", "seed": 0, "quiet": True, "classes": None}
    options |= {"preset": "paper", "settings": ["generator__max_iter=5"]}
    table, images = (make_synthesizer(options, data) for data in ("table", "images"))
    assert (table.n_features, images.n_features) == (2000, 10_000)
    assert (table.epsilon, table.generator.max_iter) == (2.0, 5)
    assert table.generator.batch_norm


@pytest.mark.parametrize(
    ("names", "is_taken"),
    [
        ("name,age,year,income", True),
        ("land,2019,2020,2021", True),
        ("land,2000,2005,2010,2015", True),
        ("land,2024-11,2024-12,2025-01", True),
        ("land,2024-02-28,2024-02-29,2024-03-01", True),
        ("Bob,28,2012,12527", False),  # numbers of a row that increase
        ("Anna,2004-04-10,2002-08-14,2008-08-23", False),
        ("Anna,2002-08-14,2004-04-10,2008-08-23", False),
        ("Anna,28,2024-01-01,1/0", False),
        ("Anna,2024-13,2024-14,2024-15", False),
        ("Anna,28", False),
    ],
)
def test_a_row_does_not_become_the_names_of_columns(names, is_taken):
    if is_taken:
        assert refuse_rows_as_names(Path("t.csv"), names.split(","), Schema()) is None
        return
    with pytest.raises(click.UsageError, match="so it may be a row") as refused:
        refuse_rows_as_names(Path("t.csv"), names.split(","), Schema())
    assert not any(part in str(refused.value) for part in names.split(","))


def test_debug_says_that_a_file_is_cut_off(tmp_path):
    whole = gzip.compress(b"a,b\n" + b"1,2\n" * 99)
    (tmp_path / "cut.csv.gz").write_bytes(whole[:-12])
    command = ["--debug", "fit", str(tmp_path / "cut.csv.gz"), "--out", str(tmp_path)]
    found = CliRunner().invoke(main, command)
    assert "Aborted" not in found.output
    assert "ended before the end" in str(found.exception)
