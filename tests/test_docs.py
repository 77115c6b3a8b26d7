"""What the documentation says is run, and what is public is documented."""

import inspect
import re
import runpy
import warnings
from pathlib import Path

import pytest

import skdpgen
from skdpgen.utils import SearchCostWarning

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted([ROOT / "README.md", *DOCS.glob("*.md"), *DOCS.glob("guide/*.md")])
PLOTS = sorted((ROOT / "examples").glob("plot_*.py"))
API = "\n".join(page.read_text("utf-8") for page in (DOCS / "api").glob("*.md"))
PUBLIC = sorted(name for name in skdpgen.__all__ if not name.startswith("_"))

BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)")
CROSS = re.compile(r"\{doc\}`(?:[^`<]*<)?([^`>]+)>?`")


def relative(path):
    return path.relative_to(ROOT).as_posix()


def blocks_of(page):
    """Yield each python block with the line of the page that it starts on."""
    text = page.read_text("utf-8")
    for match in BLOCK.finditer(text):
        yield text[: match.start(1)].count("\n"), match.group(1)


@pytest.mark.parametrize(
    "page", [page for page in PAGES if any(blocks_of(page))], ids=relative
)
def test_python_blocks_of_a_page_run_in_order(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__page__"}
    for line, source in blocks_of(page):
        code = compile("\n" * line + source, str(page), "exec")
        exec(code, names)


@pytest.mark.parametrize("page", PAGES, ids=relative)
def test_links_of_a_page_lead_somewhere(page):
    text = page.read_text("utf-8")
    targets = [t for t in LINK.findall(text) if "://" not in t]
    targets += [f"{target}.md" for target in CROSS.findall(text)]
    missing = [t for t in targets if not (page.parent / t).exists()]
    assert not missing


@pytest.mark.parametrize("script", PLOTS, ids=relative)
def test_examples_run(script, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SearchCostWarning)
        runpy.run_path(str(script))


def test_the_demo_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    demo = runpy.run_path(str(ROOT / "examples" / "demo.py"))
    demo["main"](n_samples=2000)
    assert (tmp_path / "demo.png").stat().st_size > 10_000
    printed = capsys.readouterr().out
    assert "differentially private" in printed
    assert "xgboost" in printed


@pytest.mark.parametrize("name", PUBLIC)
def test_public_names_have_a_docstring(name):
    thing = getattr(skdpgen, name)
    assert thing.__doc__, f"{name} has no docstring"
    if isinstance(thing, type) and issubclass(thing, Exception):
        return  # an exception has no use to show
    assert re.search(r"Examples\s+-{8}", inspect.getdoc(thing)), "no Examples section"


@pytest.mark.parametrize("name", PUBLIC)
def test_public_names_are_on_a_page_of_the_reference(name):
    assert re.search(rf"^\.\. auto\w+:: ([\w.]+\.)?{name}$", API, re.MULTILINE)


def test_estimators_are_in_the_table_of_the_readme():
    readme = (ROOT / "README.md").read_text("utf-8")
    for name in PUBLIC:
        if name.startswith("DP"):
            assert re.search(rf"^\| `{name}` \|", readme, re.MULTILINE), name


def test_the_privacy_model_says_the_unit_first():
    lines = (DOCS / "privacy_model.md").read_text("utf-8").splitlines()
    first = next(line for line in lines if line and not line.startswith("#"))
    assert first.startswith("The unit of privacy is one row.")
