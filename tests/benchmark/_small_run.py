"""A run that is small, for the tests of runs."""

from click.testing import CliRunner

from skdpgen.cli import main
from skdpgen.datasets import load_example

OWN = {"path": "mine.csv", "target": "status"}
SMALL = {
    "tables": [OWN],
    "methods": ["DPIndependentSynthesizer"],
    "classifiers": ["lda"],
    "releases": 3,
    "real": False,
}
TOML = """
tables = [{path = "mine.csv", target = "status"}]
methods = ["DPIndependentSynthesizer"]
classifiers = ["lda"]
releases = 3
real = false
"""


def write_small_run(folder):
    X, y = load_example(600)
    X.assign(status=y).to_csv(folder / "mine.csv", index=False)
    (folder / "small.toml").write_text(TOML)
    return folder


def command(*arguments, code=0):
    found = CliRunner().invoke(main, ["bench", *map(str, arguments)])
    assert found.exit_code == code, found.output
    return found.output
