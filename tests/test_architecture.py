"""The rules of the house that a linter does not know, each as a test."""

import ast
import importlib
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "skdpgen"
MODULES = sorted(PACKAGE.rglob("*.py"))
PACKAGES = sorted(path.parent for path in PACKAGE.glob("*/__init__.py"))
ESTIMATOR_FILES = sorted((PACKAGE / "synthesizers").rglob("_*.py"))

MAX_LINES = 400
# Made from an explicit seed, or types; everything else in np.random is global state.
SEEDED = {"default_rng", "Generator", "SeedSequence", "RandomState", "BitGenerator"}
ENTROPY = {"os.urandom", "os.getrandom", "secrets", "random"}
NOISE = {"gaussian_noise", "add_noise", "poisson_sample"}


def relative(path):
    return path.relative_to(ROOT).as_posix()


def layer(path):
    parts = path.relative_to(PACKAGE).parts
    return parts[0] if len(parts) > 1 else ""


def tree_of(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def dotted(node):
    """Return ``a.b.c`` of an attribute access, or an empty text."""
    try:
        text = ast.unparse(node)
    except ValueError:
        return ""
    return text if re.fullmatch(r"[\w.]+", text) else ""


def used_names(path):
    """Every dotted name that is read in a file, with numpy under its usual name."""
    nodes = ast.walk(tree_of(path))
    names = {dotted(node) for node in nodes if isinstance(node, ast.Attribute)}
    return {name.replace("numpy.", "np.", 1) for name in names if name}


def imported_names(path):
    """Every module, and every name of a module, that a file imports."""
    found = set()
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def is_or_is_in(name, module):
    return name == module or name.startswith(module + ".")


each_module = pytest.mark.parametrize("path", MODULES, ids=relative)


def test_import_contracts_hold():
    run = [
        sys.executable,
        "-c",
        "from importlinter.cli import *; lint_imports_command()",
    ]
    done = subprocess.run(
        [*run, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@each_module
def test_a_file_is_one_concept(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MAX_LINES


@each_module
def test_modules_are_private(path):
    assert path.name.startswith("_")


@pytest.mark.parametrize("path", PACKAGES, ids=relative)
def test_packages_say_what_they_are_and_export_in_order(path):
    package = importlib.import_module(f"skdpgen.{path.name}")
    assert package.__doc__, "a package says in a sentence what it holds"
    exported = list(getattr(package, "__all__", []))
    assert all(hasattr(package, name) for name in exported)
    assert exported == sorted(exported, key=_natural_order)


def _natural_order(name):
    """Constants, then classes, then functions, as ruff sorts ``__all__``."""
    return 0 if name.isupper() else 1 if name[0].isupper() else 2, name


@each_module
def test_no_global_random_state(path):
    names = used_names(path) | imported_names(path)
    drawn = {
        name
        for name in names
        if name.startswith(("np.random.", "numpy.random."))
        and name.split(".")[2] not in SEEDED
    }
    banned = {
        name
        for name in names
        if name.startswith(("torch.set_default_", "torch.random."))
        or name in {"torch.manual_seed", "torch.cuda.manual_seed", "torch.seed"}
    }
    assert not drawn | banned


@each_module
def test_entropy_and_noise_are_drawn_in_privacy_only(path):
    if layer(path) == "privacy":
        return
    names = used_names(path) | imported_names(path)
    assert not {n for n in names if any(is_or_is_in(n, source) for source in ENTROPY)}
    assert not {name for name in names if name.split(".")[-1] in NOISE}


@each_module
def test_privacy_and_training_know_no_tables(path):
    if layer(path) not in ("privacy", "training"):
        return
    for name in imported_names(path):
        for module in ("pandas", "narwhals", "skdpgen.tables", "skdpgen.datasets"):
            assert not is_or_is_in(name, module)


@each_module
def test_private_parts_of_scikit_learn_are_imported_in_utils_only(path):
    if layer(path) == "utils":
        return
    names = {name for name in imported_names(path) if is_or_is_in(name, "sklearn")}
    assert not {name for name in names if re.search(r"\._[a-z]", name)}


@pytest.mark.parametrize("path", ESTIMATOR_FILES, ids=relative)
def test_fit_and_sample_never_write_a_parameter(path):
    parameters = {
        argument.arg
        for init in methods_of(path, "__init__")
        for argument in init.args.args
    }
    for method in methods_of(path, "fit") + methods_of(path, "sample"):
        for node in ast.walk(method):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                assert node.attr not in parameters, f"{method.name}: {node.attr}"


def methods_of(path, name):
    return [
        item
        for node in tree_of(path).body
        if isinstance(node, ast.ClassDef)
        for item in node.body
        if isinstance(item, ast.FunctionDef) and item.name == name
    ]


def test_there_are_estimators():
    assert any(methods_of(path, "fit") for path in ESTIMATOR_FILES)


@pytest.mark.parametrize("path", ESTIMATOR_FILES, ids=relative)
def test_every_fit_deletes_the_rows_before_it_models(path):
    for fit in methods_of(path, "fit"):
        deleted = {
            target.id
            for node in ast.walk(fit)
            if isinstance(node, ast.Delete)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        arguments = {argument.arg for argument in fit.args.args} - {"self"}
        assert arguments <= deleted, f"fit keeps {sorted(arguments - deleted)}"


def test_pre_commit_uses_the_versions_of_the_constraints():
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))
    used = {
        requirement
        for repo in config["repos"]
        for hook in repo["hooks"]
        for requirement in hook.get("additional_dependencies", [])
    }
    pinned = set((ROOT / "constraints.txt").read_text("utf-8").splitlines())
    assert used
    assert used <= pinned


def test_every_direct_dependency_is_pinned():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    wanted = [*project["dependencies"]]
    wanted += [
        name for names in project["optional-dependencies"].values() for name in names
    ]
    pins = (ROOT / "constraints.txt").read_text("utf-8")
    for requirement in wanted:
        name = re.match(r"[\w-]+", requirement)[0].lower()
        assert re.search(rf"^{name}==", pins, re.MULTILINE), requirement
