"""What a file of a run may say, and the tables that it names."""

from pathlib import Path

import pytest

from skdpgen import DPMERFSynthesizer
from skdpgen.benchmark import BenchConfig
from skdpgen.benchmark._cells import REAL, Source
from skdpgen.benchmark._measure_cell import with_settings
from skdpgen.benchmark._own_table import read_source
from skdpgen.datasets import load_example
from skdpgen.exceptions import ConfigError
from tests.benchmark._small_run import OWN, SMALL, command, write_small_run

# rare values are found or not as the noise has it
pytestmark = pytest.mark.filterwarnings("ignore::skdpgen.exceptions.RareValuesWarning")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_small_run(tmp_path_factory.mktemp("bench"))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"tabels": ["adult"]}, "Unknown in the file: tabels. Known are name, tables"),
        ({"tables": ["adult"]}, "Tables must be files as {path = .* Got 'adult'"),
        ({"tables": []}, r"`tables` must be a list of one or more. Got \[\]"),
        ({"tables": "adult"}, "`tables` must be a list"),
        ({"tables": [3]}, "`tables` must be names, {name, rows}, or {path, target"),
        ({"tables": [{"rows": 9}]}, "`tables` must be names, {name, rows}, or"),
        ({"tables": [{"name": "mine", "task": "auto"}]}, "Unknown in a table: task"),
        ({"tables": [OWN | {"rows": 0}]}, "`rows` must be 1, 2, ..."),
        ({"tables": [{"path": "a.csv"}]}, "`target of a table` must be text. Got None"),
        ({"tables": [OWN | {"y": 1}]}, "Unknown in a table: y. Known are path"),
        ({"tables": [OWN | {"seed": -1}]}, "`seed` must be 0, 1, ..."),
        ({"tables": [OWN | {"task": "guess"}]}, "`task` must be one of auto, class"),
        ({"tables": [OWN | {"stratum": 1}]}, "`stratum` must be a column. Got 1"),
        ({"tables": [OWN | {"rules": "a > 1"}]}, "`rules` must be {name = text}"),
        ({"tables": [OWN | {"rules": {"r": 1}}]}, "`rules` must be {name = text}"),
        ({"sdmetrics": 1}, "`sdmetrics` must be true or false"),
        ({"tables": [OWN, OWN]}, "`tables` must differ. Got mine twice"),
        ({"methods": ["Pairwise"]}, "`methods` must be among DP.* Got 'Pairwise'"),
        ({"methods": [{"settings": {}}]}, "`methods` must be among"),
        (
            {"methods": ["DPPairwiseSynthesizer"] * 2},
            "`names of methods` must differ. Got DPPairwiseSynthesizer twice",
        ),
        (
            {"methods": [{"class": "DPMERFSynthesizer", "settings": {"steps": 1}}]},
            "Unknown in settings of DPMERFSynthesizer: steps. Known are",
        ),
        (
            {"methods": [{"class": "DPMERFSynthesizer", "settings": {"epsilon": 1}}]},
            "cannot hold `epsilon`: it is the same",
        ),
        (
            {
                "methods": [
                    {
                        "class": "DPMERFSynthesizer",
                        "settings": {"generator__max_iter": -1},
                    }
                ]
            },
            "settings of DPMERFSynthesizer: The 'max_iter' parameter of Generator",
        ),
        (
            {"methods": [{"class": "DPMERFSynthesizer", "settings": {"preset": "a"}}]},
            "settings of DPMERFSynthesizer: preset must be one of 'paper'",
        ),
        (
            {"methods": [{"class": "DPDRESynthesizer", "settings": {"preset": "a"}}]},
            "DPDRESynthesizer",
        ),
        (
            {"methods": [{"class": "DPPairwiseSynthesizer", "name": REAL}]},
            "`name of a method` must be text other than 'real'",
        ),
        ({"epsilons": [0]}, "`epsilons` must be numbers above 0; inf is wi.* Got 0"),
        ({"epsilons": [float("nan")]}, "`epsilons` must be numbers above 0"),
        ({"epsilons": [1, 1.0]}, "`epsilons` must differ"),
        ({"epsilons": [True]}, "`epsilons` must be numbers above 0"),
        ({"releases": 0}, "`releases` must be 1, 2, .... Got 0"),
        ({"releases": 1.5}, "`releases` must be 1, 2"),
        ({"delta": 1}, '`delta` must be between 0 and 1, or "auto". Got 1'),
        ({"adjacency": "swap"}, "`adjacency` must be one of replace, add_remove"),
        ({"schema": "known"}, "`schema` must be one of discovered, public. Got 'kno"),
        ({"protocol": "new"}, "`protocol` must be one of modern, paper"),
        ({"classifiers": ["oracle"]}, "classifiers must be one of"),
        ({"real": "yes"}, "`real` must be true or false"),
        ({"name": "a/b"}, "`name` must be a name for a folder"),
        ({"limit": 0}, "`limit` must be a number of seconds. Got 0"),
        ({"n_samples": 100}, "`n_samples` must be 2, 3, ..., and of images alone"),
        ({"n_compared": 1}, "`n_compared` must be 2, 3"),
        ({"methods": ["mst"]}, "`methods` must be among DP.* Got 'mst'"),
        ({"printed": {"adult": {}}}, "Unknown in `printed`: adult. Known are mine"),
        (
            {"printed": {"mine": {"mst": ".5"}}},
            "Unknown in `printed` of mine: mst. Known are real, public rows, DPI",
        ),
        ({"printed": {"mine": {"real": 0.5}}}, "`printed of real` must be a text, or"),
        ({"printed": {"mine": {"real": {"x": ".5"}}}}, "`printed of real` must be"),
    ],
)
def test_what_is_wrong_in_a_file_is_said_in_a_line(change, words):
    with pytest.raises(ConfigError, match=words) as caught:
        BenchConfig.from_dict(SMALL | change)
    assert "\n" not in str(caught.value)


def test_settings_may_start_from_a_preset():
    settings = {"preset": "paper", "generator__max_iter": 5}
    methods = [{"class": "DPMERFSynthesizer", "settings": settings}]
    (method,) = BenchConfig.from_dict(SMALL | {"methods": methods}).methods
    assert method.settings == settings  # as keys of stored cells have them
    synth = with_settings(DPMERFSynthesizer, settings, "table", epsilon=2.0)
    assert (synth.epsilon, synth.generator.max_iter) == (2.0, 5)
    assert synth.numeric_encoding == "fourier"
    assert with_settings(DPMERFSynthesizer, settings, "images").n_features == 10_000
    settings |= {"preset_data": "census"}
    assert with_settings(DPMERFSynthesizer, settings, "table").n_features == 10_000
    methods = [{"class": "DPMERFSynthesizer", "settings": settings}]
    (method,) = BenchConfig.from_dict(SMALL | {"methods": methods}).methods
    assert method.settings == settings


def test_a_file_needs_tables_and_toml(tmp_path):
    path = tmp_path / "a.toml"
    path.write_text("releases = 3")
    assert "`tables` must be a list" in command(path, code=1)
    path.write_text("tables = [")
    output = command(path, code=1)
    assert output.startswith(f"Error: {path} is no TOML")
    path.write_text('tables = [{path = "gone.csv", target = "y"}]')
    assert "the table 'gone'. A `path` is relative" in command(path, code=1)


def test_options_of_the_command_that_do_not_fit(folder):
    assert "Name a TOML file, or a table" in command("--data", folder, code=2)
    assert "must be a folder" in command(
        folder / "small.toml", "--data", folder / "mine.csv", code=2
    )
    assert "--target is for runs without CONFIG" in command(
        folder / "small.toml", "--target", "status", code=2
    )
    assert "`target` must be a column" in command(
        "--data", folder / "mine.csv", "--target", "y", "--out", folder / "no", code=1
    )
    assert not (folder / "no").exists()


def test_help_shows_commands_as_they_are_typed():
    lines = command("--help").splitlines()
    assert "    skdpgen bench --data mine.csv --target y [--public theirs.csv]" in lines
    assert "--parquet" in command("run", "--help")


def test_keys_are_of_what_decides_a_number(folder):
    config = BenchConfig.from_dict(SMALL | {"real": True}, folder)
    names, cells = zip(*config.cells(), strict=True)
    assert names == (REAL, *["DPIndependentSynthesizer"] * 3)
    assert [str(cell) for cell in cells[:2]] == [
        "mine, real",
        "mine, DPIndependentSynthesizer, epsilon 1, release 0",
    ]
    assert len({cell.key for cell in cells}) == 4
    changes = [
        {"epsilons": [2]},
        {"schema": "public"},
        {"classifiers": ["gaussian_nb"]},
    ]
    changes += [{"adjacency": "add_remove"}, {"delta": "auto"}, {"protocol": "paper"}]
    changes += [
        {"tables": [OWN | {"seed": 1}]},
        {"tables": [OWN | {"task": "classification"}]},
    ]
    changes += [
        {"methods": [{"class": "DPIndependentSynthesizer", "settings": {"verbose": 1}}]}
    ]
    known = {cell.key for cell in cells}
    for change in changes:
        other = BenchConfig.from_dict(SMALL | change, folder).cells()
        keys = {cell.key for _, cell in other}
        assert len(keys) == 3, change
        assert not keys & known, change


def test_keys_follow_the_file_and_not_its_place(folder, tmp_path):
    text = (folder / "mine.csv").read_text()
    (tmp_path / "mine.csv").write_text(text)
    keys = [[c.key for _, c in BenchConfig.from_dict(SMALL, at).cells()]
            for at in (folder, tmp_path)]  # fmt: skip
    assert keys[0] == keys[1]
    other = tmp_path / "other"
    other.mkdir()
    (other / "mine.csv").write_text(text.replace("left", "gone"))
    cells = BenchConfig.from_dict(SMALL, other).cells()
    assert not {cell.key for _, cell in cells} & set(keys[0])


@pytest.mark.parametrize("ending", ["csv", "tsv.gz", "parquet", "feather"])
def test_own_tables_are_split_by_a_seed(ending, tmp_path):
    X, y = load_example(200)
    frame = X.assign(status=y)
    path = tmp_path / f"mine.{ending}"
    if ending[1] == "s":
        frame.to_csv(path, index=False, sep="\t" if ending[0] == "t" else ",")
    else:
        getattr(frame, f"to_{ending}")(path)
    splits = [
        read_source(Source("m", str(path), "status", seed), ".") for seed in (0, 0, 1)
    ]
    assert [len(split.X_train) for split in splits] == [160] * 3
    assert splits[0].X_test.equals(splits[1].X_test)
    assert not splits[0].X_test.equals(splits[2].X_test)
    assert list(splits[0].whole[0]) == list(X)


def test_what_is_wrong_in_a_table_of_ones_own(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,b,y\n" + "1,x,3\n" * 5 + "2,y,4\n")
    read = read_source(Source("a", str(path), "y", task="regression"), ".")
    assert read.classes is None
    assert read_source(Source("a", str(path), "y"), ".").classes == [3, 4]
    with pytest.raises(ConfigError, match="needs numbers in the target 'b'"):
        read_source(Source("a", str(path), "b", task="regression"), ".")
    path.write_text("a,y\n1,x\n2,\n")
    with pytest.raises(ConfigError, match=r"'y' of .* is missing in some rows"):
        read_source(Source("a", str(path), "y"), ".")
    with pytest.raises(ConfigError, match=r"There is no .*b\.csv"):
        read_source(Source("b", str(tmp_path / "b.csv"), "y"), ".")
    Path(tmp_path / "b.xlsx").touch()
    with pytest.raises(ConfigError, match=r"b\.xlsx must be one of \.csv"):
        read_source(Source("b", str(tmp_path / "b.xlsx"), "y"), ".")
