"""The files that belong to a release agree; `make dist smoke` builds and tries it."""

import importlib.metadata
import io
import re
import shutil
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

import skdpgen
from skdpgen.cli import main
from tests.release import contents, ready

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("[!c]*.yml"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
TARGETS = set(
    re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
)


def relative(path):
    return path.relative_to(ROOT).as_posix()


# ---------------------------------------------------------------- the version


def test_the_version_has_one_source():
    printed = CliRunner().invoke(main, ["--version"]).output
    assert printed.split()[-1] == skdpgen.__version__ == ready.version_of_source()
    assert "version" in PROJECT["dynamic"]
    assert CITATION["version"] == skdpgen.__version__
    literal = re.compile(rf'"{re.escape(skdpgen.__version__)}"')
    sources = {
        relative(path): path.read_text("utf-8")
        for path in sorted((ROOT / "skdpgen").rglob("*.py"))
    }
    written = [path for path, text in sources.items() if literal.search(text)]
    assert written == ["skdpgen/__init__.py"]
    asks_the_installation = re.compile(r"""version\(["']skdpgen["']\)""")
    assert not [p for p, text in sources.items() if asks_the_installation.search(text)]


def test_the_installed_version_is_that_of_the_source():
    try:
        installed = importlib.metadata.version("skdpgen")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("skdpgen is not installed: the tests run from its folder")
    place = importlib.metadata.distribution("skdpgen").locate_file("skdpgen")
    if Path(place).exists():  # an editable one keeps the version of its installation
        assert installed == skdpgen.__version__


# ------------------------------------------------------------- pins and bounds


def pins(name):
    lines = (ROOT / name).read_text("utf-8").splitlines()
    found = [line.split("==") for line in lines if "==" in line]
    return {package.lower(): version for package, version in found}


def lower_bounds():
    wanted = [*PROJECT["dependencies"]]
    for extra in ("plot", "arrow", "dask", "test"):
        wanted += PROJECT["optional-dependencies"][extra]
    found = [re.match(r"([\w-]+)(?:\[\w+\])?>=([\d.]+)$", one) for one in wanted]
    return {match[1].lower(): match[2] for match in found}


def numbers(version):
    parts = [int(part) for part in version.split(".")]
    while parts and parts[-1] == 0:
        parts.pop()
    return parts


def test_lowest_versions_are_those_of_the_project():
    lowest, bounds = pins("constraints-lowest.txt"), lower_bounds()
    assert set(bounds) <= set(lowest)
    for name, bound in bounds.items():
        assert numbers(lowest[name]) == numbers(bound), name


def test_the_page_of_the_installation_has_the_lowest_versions():
    text = (ROOT / "docs" / "installation.md").read_text("utf-8")
    table = dict(re.findall(r"^\| ([a-z0-9-]+) \| ([\d.]+) \|", text, re.MULTILINE))
    required = {re.match(r"[\w-]+", one)[0] for one in PROJECT["dependencies"]}
    bounds = lower_bounds()
    assert table == {name: bounds[name] for name in required}


# ------------------------------------------------------------------- workflows


def made_by(workflow):
    """Return the targets that a workflow makes, with its matrices filled in."""
    found = set()
    for job in yaml.safe_load(workflow.read_text("utf-8"))["jobs"].values():
        matrix = job.get("strategy", {}).get("matrix", {})
        for command in [step["run"] for step in job["steps"] if "run" in step]:
            program, *words = command.split()
            assert program == "make", command
            if "matrix.target" in command:
                words = " ".join(matrix["target"]).split()
            found |= {word for word in words if "=" not in word}
    return found


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=relative)
def test_workflows_make_targets_that_exist(workflow):
    assert made_by(workflow)
    assert made_by(workflow) <= TARGETS


def test_workflows_make_what_a_change_must_pass():
    commands = (ROOT / ".ci" / "run").read_text("utf-8")
    made_here = set(re.findall(r"^make (.*?)(?: *#.*)?$", commands, re.MULTILINE))
    made_here = {word for words in made_here for word in words.split()}
    assert made_here <= TARGETS
    assert made_here - {"venv"} <= made_by(ROOT / ".github/workflows/checks.yml")


def test_targets_are_phony_and_those_for_people_have_a_line_of_help():
    text = (ROOT / "Makefile").read_text("utf-8")
    phony = re.search(r"^\.PHONY:((?:.*\\\n)*.*)$", text, re.MULTILINE)[1]
    assert set(phony.replace("\\\n", " ").split()) == TARGETS
    helped = set(re.findall(r'^\t@echo "make ([a-z-]+)', text, re.MULTILINE))
    assert TARGETS - helped == {"help", "venv", "clean"}


def test_versions_of_python_that_are_tested_are_those_that_are_named():
    workflow = yaml.safe_load(
        (ROOT / ".github/workflows/checks.yml").read_text("utf-8")
    )
    tested = workflow["jobs"]["test"]["strategy"]["matrix"]["python"]
    assert PROJECT["requires-python"] == f">={tested[0]}"
    start = "Programming Language :: Python :: "
    named = [one.removeprefix(start) for one in PROJECT["classifiers"] if start in one]
    assert {one for one in named if "." in one} <= set(tested)


@pytest.mark.parametrize("form", FORMS, ids=relative)
def test_issue_forms_are_complete_and_send_breaks_elsewhere(form):
    text = form.read_text("utf-8")
    content = yaml.safe_load(text)
    assert {"name", "description", "body"} <= set(content)
    fields = [field for field in content["body"] if field["type"] != "markdown"]
    assert len({field["id"] for field in fields}) == len(fields) > 0
    assert "SECURITY.md" in text


# ---------------------------------------------------------- ready for a release


def copied(tmp_path, changes):
    """Copy the files that `ready` reads, with changes to their text."""
    names = ("skdpgen/__init__.py", "CITATION.cff", "CHANGELOG.md", "pyproject.toml")
    for name in names:
        text = (ROOT / name).read_text("utf-8")
        for old, new in changes.get(name, []):
            assert re.search(old, text, re.MULTILINE), (name, old)
            text = re.sub(old, new, text, count=1, flags=re.MULTILINE)
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    return tmp_path


RELEASED = {  # what RELEASING.md asks for; 9.8.7 stands for the new version
    "skdpgen/__init__.py": [(r'^__version__ = ".*"', '__version__ = "9.8.7"')],
    "CITATION.cff": [
        (
            r"^version: .*(\ndate-released: .*)?$",
            "version: 9.8.7\ndate-released: 2030-01-02",
        )
    ],
    "CHANGELOG.md": [(r"^## \[.*$", "## [9.8.7] - 2030-01-02")],
    "pyproject.toml": [(r'^Repository = ".*"', 'Repository = "https://a.example"')],
}


def test_a_checkout_that_followed_the_steps_is_ready(tmp_path):
    assert ready.obstacles(copied(tmp_path, RELEASED)) == []


@pytest.mark.parametrize("name", sorted(set(RELEASED) - {"pyproject.toml"}))
def test_a_step_that_was_forgotten_is_an_obstacle(name, tmp_path):
    changes = {key: value for key, value in RELEASED.items() if key != name}
    assert ready.obstacles(copied(tmp_path, changes)) != []


def test_a_placeholder_is_reported(tmp_path):
    url = [(r'^Repository = ".*"', 'Repository = "https://example.org/PLACEHOLDER"')]
    root = copied(tmp_path, {**RELEASED, "pyproject.toml": url})
    [obstacle] = ready.obstacles(root)
    assert "placeholder" in obstacle


# ------------------------------------------------------ contents of distributions


@pytest.fixture
def distributions(tmp_path, monkeypatch):
    """Return a function that writes an sdist and a wheel of these files."""
    monkeypatch.setattr(
        contents, "tracked", lambda: {"skdpgen/__init__.py", "tests/test_a.py"}
    )

    def write(sdist, wheel):
        start = f"skdpgen-{skdpgen.__version__}"
        with tarfile.open(tmp_path / f"{start}.tar.gz", "w:gz") as archive:
            for name in sdist:
                archive.addfile(tarfile.TarInfo(f"{start}/{name}"), io.BytesIO())
        with zipfile.ZipFile(tmp_path / f"{start}-py3-none-any.whl", "w") as archive:
            for name in [*wheel, f"{start}.dist-info/licenses/LICENSE"]:
                archive.writestr(name, "")
            metadata = f"Version: {skdpgen.__version__}\n"
            archive.writestr(f"{start}.dist-info/METADATA", metadata)
        return contents.wrong_with(tmp_path)

    return write


SDIST = ["skdpgen/__init__.py", "tests/test_a.py", "PKG-INFO"]
WHEEL = ["skdpgen/__init__.py"]


@pytest.mark.parametrize(
    ("sdist", "wheel", "wrong"),
    [
        (SDIST, WHEEL, []),
        (SDIST[:1], WHEEL, ["tests/test_a.py is not in the sdist"]),
        ([*SDIST, "a"], WHEEL, ["a is in the sdist, but git does not track it"]),
        (SDIST, [], ["skdpgen/__init__.py is not in the wheel"]),
        (SDIST, SDIST[:2], ["tests/test_a.py must not be in the wheel"]),
    ],
)
def test_files_that_are_too_many_or_too_few_are_named(
    sdist, wheel, wrong, distributions
):
    assert distributions(sdist, wheel) == wrong


def test_other_files_beside_the_distributions_are_refused(distributions, tmp_path):
    (tmp_path / "skdpgen-0.0.1.tar.gz").write_bytes(b"")
    [wrong] = distributions(SDIST, WHEEL)
    assert "nothing else" in wrong


def test_git_tracks_the_package_and_its_tests():
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("this is no checkout")
    assert {"skdpgen/__init__.py", relative(Path(__file__))} <= contents.tracked()
