"""What the documentation says is run, and what is public is documented."""

import ast
import importlib.util
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest
from matplotlib.figure import Figure
from sklearn import datasets

import skdpgen
from tests.benchmark._small_run import cells_computed

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
FOLDERS = ("tutorials", "how_to", "explanation", "methods", "papers")
IN_FOLDERS = [page for name in FOLDERS for page in (DOCS / name).glob("*.md")]
PAGES = sorted([ROOT / "README.md", *DOCS.glob("*.md"), *IN_FOLDERS])
EXAMPLES, GALLERY_HEADER = ROOT / "examples", "GALLERY_HEADER.rst"
PLOTS = sorted(EXAMPLES.glob("plot_*.py"))
API = "\n".join(page.read_text("utf-8") for page in (DOCS / "api").glob("*.md"))
PUBLIC = sorted(name for name in skdpgen.__all__ if not name.startswith("_"))

MARKDOWN = sorted(
    {
        *ROOT.glob("*.md"),
        *(
            page
            for folder in (".github", "benchmarks", "changelog", "docs", "examples")
            for page in (ROOT / folder).rglob("*.md")
            if not {"_build", "gallery", "generated"} & set(page.parts)
        ),
    }
)

BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]+))?[^)]*\)")
FILE = re.compile(r"^```\{(?:image|include|literalinclude)\} (\S+)", re.MULTILINE)
ADDRESS = re.compile(r"https?://[^\s<>()\"'`\\]+")
ROWS = re.compile(r"(load_example(?:_regression)?\()([\d_]+)")
STEPS = re.compile(r"(max_iter=)(\d+)")
MOST_ROWS, MOST_STEPS = 2000, 5  # of a quick run; `make slow` runs what is written
FEW_MODELS = 'SyntheticUtility(classifiers=["decision_tree", "xgboost"])'
CROSS = re.compile(r"\{doc\}`(?:[^`<]*<)?([^`>]+)>?`")


def relative(path):
    return path.relative_to(ROOT).as_posix()


def blocks_of(page):
    """Yield each python block with the line of the page that it starts on."""
    text = page.read_text("utf-8")
    for match in BLOCK.finditer(text):
        yield text[: match.start(1)].count("\n"), match.group(1)


def shortened(source):
    """Return code that makes fewer rows, trains for fewer steps and scores by less."""
    for number, most in ((ROWS, MOST_ROWS), (STEPS, MOST_STEPS)):

        def less(match, most=most):
            return match[1] + str(min(int(match[2]), most))

        source = number.sub(less, source)
    source = source.replace("SyntheticUtility()", FEW_MODELS)
    return source.replace(', "cnn"', "")  # a network, beside other models


def run_blocks(page, change=str):
    names = {"__name__": "__page__"}
    for line, source in blocks_of(page):
        code = compile("\n" * line + change(source), str(page), "exec")
        exec(code, names)


@pytest.fixture
def few_pictures(monkeypatch, hardly_taught):
    """Leave out what takes long and is tested elsewhere: how a figure is drawn."""

    def savefig(figure, path, original=Figure.savefig, **how):
        if isinstance(path, str | Path):
            Path(path).touch()
        else:
            original(figure, path, **how)

    monkeypatch.setattr(Figure, "savefig", savefig)


@pytest.fixture
def few_digits(monkeypatch):
    def load_digits(original=datasets.load_digits, **how):
        return tuple(part[:1000] for part in original(**how))

    monkeypatch.setattr(datasets, "load_digits", load_digits)


WITH_BLOCKS = [page for page in PAGES if any(blocks_of(page))]


# few digits and networks that are hardly taught may find few public rows alike
@pytest.mark.filterwarnings("ignore::skdpgen.exceptions.SupportWarning")
@pytest.mark.usefixtures("few_digits", "few_pictures")
@pytest.mark.parametrize("page", WITH_BLOCKS, ids=relative)
def test_python_blocks_of_a_page_run_in_order(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with cells_computed("here"):
        run_blocks(page, shortened)


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_BLOCKS, ids=relative)
def test_python_blocks_of_a_page_run_as_written(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_blocks(page)


def test_code_is_shortened_where_it_says_how_long_it_is():
    source = 'load_example(20_000); A(max_iter=300, b=300); f(90, ["lda", "cnn"])'
    expected = 'load_example(2000); A(max_iter=5, b=300); f(90, ["lda"])'
    assert shortened(source) == expected


def anchors(page):
    """Return what may stand behind ``#``: headings, and targets of MyST."""
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.M | re.S)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    slugs = [re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings]
    return {*slugs, *re.findall(r"^\((\S+)\)=$", text, re.MULTILINE)}


def test_anchors_are_those_of_headings(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# A `b`, c\n(here)=\n## D-e\n```sh\n# no heading\n```\n")
    assert anchors(page) == {"a-b-c", "d-e", "here"}


@pytest.mark.parametrize("page", MARKDOWN, ids=relative)
def test_links_of_a_page_lead_somewhere(page):
    text = page.read_text("utf-8")
    missing = [t for t in FILE.findall(text) if not (page.parent / t).exists()]
    for path, anchor in LINK.findall(text):
        target = page.parent / path if path else page
        if "://" in path:
            continue
        if not target.exists():
            missing.append(path)
        elif anchor and target.suffix == ".md" and anchor not in anchors(target):
            missing.append(f"{path}#{anchor}")
    for name in CROSS.findall(text):  # from the folder of the page, or of all pages
        start = DOCS if name.startswith("/") else page.parent
        target = start / f"{name.lstrip('/')}.md"
        if target.parent == DOCS / "gallery":  # its pages are made of the examples
            script = GALLERY_HEADER if target.stem == "index" else f"{target.stem}.py"
            target = EXAMPLES / script
        if not target.exists():
            missing.append(name)
    assert not missing


def test_addresses_have_the_form_of_addresses():
    """No test opens them; the one that is a placeholder is in pyproject.toml."""
    files = [*MARKDOWN, ROOT / "pyproject.toml", ROOT / "CITATION.cff"]
    files += [*(ROOT / ".github").rglob("*.yml"), *(ROOT / "skdpgen").rglob("*.py")]
    found = {
        (relative(file), address.rstrip(".,;:"))
        for file in files
        for address in ADDRESS.findall(file.read_text("utf-8"))
    }
    assert len(found) > 10
    host = re.compile(r"https://[a-z0-9-]+(\.[a-z0-9-]+)+(/[\w./~#-]*)?")
    names = "http://purl.org/", "http://mlcommons.org/"  # names of terms, not links
    odd = [one for one in found if not host.fullmatch(one[1])]
    assert [one for one in odd if not one[1].startswith(names)] == []
    placeholders = {file for file, address in found if "example" in address}
    assert placeholders <= {"pyproject.toml"}


# ----------------------------------------------------------- examples of the gallery

# `make docs` runs them, and fails if one raises.


@pytest.mark.parametrize("script", PLOTS, ids=relative)
def test_an_example_is_a_page_with_text_and_one_figure(script):
    source = script.read_text("utf-8")
    title, line, _, *text = ast.get_docstring(ast.parse(source)).splitlines()
    assert len(title) == len(line)
    assert set(line) == {"="}
    assert text
    cells = source.split("\n# %%\n")[1:]
    assert len(cells) > 3
    assert all(cell.startswith("# ") for cell in cells)  # text before code
    last = ast.parse(cells[-1]).body
    assert ast.unparse(last[-1]) in ("plt.show()", "figure")
    assert source.count("plt.show()") + source.count("\nfigure\n") == 1


@pytest.mark.slow
@pytest.mark.parametrize("script", PLOTS, ids=relative)
def test_examples_run_without_a_warning(script, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("matplotlib.pyplot.show", lambda: None)
    code = compile(script.read_text("utf-8"), str(script), "exec")
    exec(code, {"__name__": "__script__"})


CONF = """
import runpy
conf = runpy.run_path({conf!r})["sphinx_gallery_conf"]
sphinx_gallery_conf = conf | {{
    "examples_dirs": "examples", "within_subsection_order": "FileNameSortKey"
}}
extensions = ["sphinx_gallery.gen_gallery"]
exclude_patterns = ["examples"]
"""
DRAWS = """
from skdpgen.datasets import load_example
from skdpgen.plotting import plot_marginals
X, _ = load_example(50)
figure = plot_marginals(X, X, columns=["age"])
figure
"""


@pytest.mark.slow
@pytest.mark.parametrize(("code", "succeeds"), [(DRAWS, True), ("1 / 0", False)])
def test_a_build_shows_figures_and_fails_if_an_example_raises(code, succeeds, tmp_path):
    pages = tmp_path / "examples"
    pages.mkdir()
    (tmp_path / "conf.py").write_text(CONF.format(conf=str(DOCS / "conf.py")))
    (tmp_path / "index.rst").write_text("T\n=\n\n.. toctree::\n\n   gallery/index\n")
    (pages / GALLERY_HEADER).write_text("G\n=\n")
    (pages / "plot_a.py").write_text(f'"""\nA\n=\n\nText.\n"""\n{code}\n')
    command = [sys.executable, "-m", "sphinx", "-W", "-q", tmp_path, tmp_path / "html"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode == 0) == succeeds, done.stderr
    made = tmp_path / "gallery" / "images" / "sphx_glr_plot_a_001.png"
    assert made.exists() == succeeds
    assert (tmp_path / "gallery" / "plot_a.ipynb").exists() == succeeds


def test_methods_of_pictures_take_their_settings():
    spec = importlib.util.spec_from_file_location("figures", DOCS / "figures.py")
    figures = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(figures)
    for _, methods, budgets, *_ in figures.OF_IMAGES.values():
        for method in methods:
            assert figures.for_images(method, budgets[0]).epsilon == budgets[0]


# ----------------------------------------------------------- the reference


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


def test_the_table_of_methods_names_all_that_exist():
    text = (ROOT / "README.md").read_text("utf-8")
    rows = re.findall(r"^\| .*?\b(DP\w+Synthesizer)", text, re.MULTILINE)
    assert sorted(rows) == sorted(skdpgen.all_synthesizers())


def test_the_way_to_report_a_break_is_easy_to_find():
    text = (ROOT / "SECURITY.md").read_text("utf-8")
    assert "(SECURITY.md)" in (ROOT / "README.md").read_text("utf-8")
    assert "{doc}`security`" in (DOCS / "privacy_model.md").read_text("utf-8")
    minor = ".".join(skdpgen.__version__.split(".")[:2])
    assert f"| {minor}, the latest minor version | yes |" in text
    assert "@" not in text  # no address: reports go to the host of the repository


def test_the_privacy_model_says_the_unit_first():
    lines = (DOCS / "privacy_model.md").read_text("utf-8").splitlines()
    first = next(line for line in lines if line and not line.startswith("#"))
    assert first.startswith("The unit of privacy is one row.")


# ----------------------------------------------------------- what docstrings claim

# As at the head of each paper; a title is enough to find who cites it.
AUTHORS = {
    "Pre-trained perceptual features improve": "Harder, Jalali Asadabadi, Sutherland & "
    "Park",
    "DP-MERF: Differentially private mean embeddings": "Harder, Adamczewski & Park",
    "Differentially private neural tangent kernels": "Yang, Adamczewski, Li, "
    "Sutherland & Park",
    "Functional Rényi differential privacy": "Jiang, Sun & Yu",
    "Hermite polynomial features": "Vinaroz, Charusaie, Harder, Adamczewski & Park",
    "Differential privacy for functions": "Hall, Rinaldo & Wasserman",
    "Large-scale public data improves": "",  # anonymous
    "DP-CGAN": "Torkzadehmahani, Kairouz & Paten",
    "Private GANs, revisited": "Bie, Kamath & Zhang",
}
OWN = "This method comes from no paper."  # in a docstring without references
CITATION = re.compile(r"^ *\.\. \[\d\] (.*?)\"([^\"]*)\"", re.MULTILINE | re.DOTALL)


def citations():
    """Return each (file, authors, title) that the package cites."""
    return [
        (relative(path), *(" ".join(part.split()) for part in match.groups()))
        for path in sorted((ROOT / "skdpgen").rglob("*.py"))
        for match in CITATION.finditer(path.read_text("utf-8"))
    ]


def test_papers_are_cited_by_their_authors():
    found = citations()
    assert len(found) > 30
    for start, authors in AUTHORS.items():
        cited = [one for one in found if one[2].startswith(start)]
        assert cited, start
        for path, named, _ in cited:
            named = named.rstrip(", ")
            is_short = named == f"{authors.partition(',')[0]} et al."
            assert named == authors or is_short, path
    titles = {title for _, _, title in found if "enyi differential" in title.lower()}
    assert not [title for title in titles if title.startswith("Functional Renyi")]


@pytest.mark.parametrize("name", sorted(skdpgen.all_synthesizers()))
def test_estimators_cite_their_paper(name):
    text = inspect.getdoc(skdpgen.all_synthesizers()[name])
    assert ("References\n" in text) != (OWN in text)


@pytest.mark.parametrize("name", sorted(skdpgen.all_synthesizers()))
def test_methods_that_return_the_estimator_say_its_own_class(name):
    cls = skdpgen.all_synthesizers()[name]
    returned = {}
    for method in dir(cls):
        text = inspect.getdoc(getattr(cls, method)) or ""
        match = re.search(r"Returns\n-+\nself : (\S+)", text)
        if match and getattr(cls, method).__module__.startswith("skdpgen"):
            returned[method] = match[1]
    assert "fit" in returned
    assert set(returned.values()) <= {name, "Self"}
