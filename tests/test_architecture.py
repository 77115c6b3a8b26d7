"""The rules of the house that a linter does not know, each as a test."""

import ast
import importlib
import re
import subprocess
import sys
import tomllib
from functools import cache, lru_cache
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "skdpgen"
MODULES = sorted(PACKAGE.rglob("*.py"))
PACKAGES = sorted(path.parent for path in PACKAGE.rglob("*/__init__.py"))
ESTIMATORS = sorted((PACKAGE / "synthesizers").glob("_dp_*.py"))

# Made from an explicit seed, or types; everything else in np.random is global state.
SEEDED = {"default_rng", "Generator", "SeedSequence", "RandomState", "BitGenerator"}
ENTROPY = {"os.urandom", "os.getrandom", "secrets", "random"}
NOISE = {"gaussian_noise", "add_noise", "poisson_sample"}


def relative(path):
    return path.relative_to(ROOT).as_posix()


def layer(path):
    parts = path.relative_to(PACKAGE).parts
    return parts[0] if len(parts) > 1 else ""


@lru_cache(maxsize=1)  # a rule asks for some parts of one file
def tree_of(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def dotted(node):
    """Return ``a.b.c`` of an attribute access, or an empty text."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *parts[::-1]]) if isinstance(node, ast.Name) else ""


@cache
def used_names(path):
    """Every dotted name that is read in a file, with numpy under its usual name."""
    nodes = ast.walk(tree_of(path))
    names = {dotted(node) for node in nodes if isinstance(node, ast.Attribute)}
    return {name.replace("numpy.", "np.", 1) for name in names if name}


@cache
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


def modules_but(*layers):
    return [path for path in MODULES if layer(path) not in layers]


def breaking(rule, paths=MODULES):
    """Return what breaks a rule, by file; a rule returns what it finds wrong."""
    found = {relative(path): rule(path) for path in paths}
    return {name: wrong for name, wrong in found.items() if wrong}


def methods_of(path, name):
    return [
        item
        for node in tree_of(path).body
        if isinstance(node, ast.ClassDef)
        for item in node.body
        if isinstance(item, ast.FunctionDef) and item.name == name
    ]


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


def module_of(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(path, modules, *, is_whole):
    """Return the modules of the package that a file imports, with where it does so.

    ``is_whole`` also counts imports inside functions: they hide a cycle from Python,
    not from a reader.
    """

    def nodes(node):
        for child in ast.iter_child_nodes(node):
            yield child
            is_function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
            if is_whole or not is_function:
                yield from nodes(child)

    found = set()
    for node in nodes(tree_of(path)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            inside = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {name if name in modules else node.module for name in inside}
    return (found & modules) - {module_of(path)}


def cycles(graph):
    """Return the sets of nodes that reach each other: Tarjan's algorithm."""
    number, low, stack, found = {}, {}, [], []

    def visit(node):
        number[node] = low[node] = len(number)
        stack.append(node)
        for other in sorted(graph[node]):
            if other not in number:
                visit(other)
            if other in stack:
                low[node] = min(low[node], low[other])
        if low[node] == number[node]:
            start = stack.index(node)
            group = sorted(stack[start:])
            del stack[start:]
            if len(group) > 1:
                found.append(group)

    for node in sorted(graph):
        if node not in number:
            visit(node)
    return found


def test_cycles_are_found():
    assert cycles({"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set()}) == [["b", "c"]]
    assert cycles({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []


@pytest.mark.parametrize("is_whole", [False, True], ids=["of modules", "of functions"])
def test_no_imports_go_round_in_a_cycle(is_whole):
    modules = {module_of(path) for path in MODULES}
    graph = {
        module_of(path): imports_of(path, modules, is_whole=is_whole)
        for path in MODULES
    }
    assert sum(map(len, graph.values())) > 500  # else nothing was read
    assert cycles(graph) == []


def test_modules_are_private():
    named = [p for p in MODULES if p.name not in ("__init__.py", "__main__.py")]
    public = [relative(p) for p in named if not p.name.startswith("_")]
    assert public == ["skdpgen/exceptions.py"]  # as in scikit-learn


@pytest.mark.parametrize("path", PACKAGES, ids=relative)
def test_packages_say_what_they_are_and_export_in_order(path):
    package = importlib.import_module(relative(path).replace("/", "."))
    assert package.__doc__, "a package says in a sentence what it holds"
    exported = list(getattr(package, "__all__", []))
    assert all(hasattr(package, name) for name in exported)
    assert exported == sorted(exported, key=_natural_order)


def _natural_order(name):
    """Constants, then classes, then functions, as ruff sorts ``__all__``."""
    return 0 if name.isupper() else 1 if name[0].isupper() else 2, name


def test_estimators_do_not_ask_whether_rows_are_images():
    asked = re.compile(r"isinstance\([^)]*(ImageLayout|ImageKernel|RowKernel)")
    paths = [*ESTIMATORS, *(PACKAGE / "synthesizers/base").glob("*.py")]
    assert breaking(lambda path: asked.findall(path.read_text("utf-8")), paths) == {}


def test_no_estimator_is_imported_by_what_it_is_made_of_or_by_another_one():
    def imported(path):
        return {name for name in imported_names(path) if "synthesizers._dp_" in name}

    inside = [p for p in MODULES if layer(p) == "synthesizers"]
    assert len(ESTIMATORS) >= 10
    assert (
        breaking(imported, [p for p in inside if p.parent.name != "synthesizers"]) == {}
    )
    assert breaking(imported, ESTIMATORS) == {}


def test_no_global_random_state():
    def drawn(path):
        names = used_names(path) | imported_names(path)
        return {
            name
            for name in names
            if (
                name.startswith(("np.random.", "numpy.random."))
                and name.split(".")[2] not in SEEDED
            )
            or name.startswith(("torch.set_default_", "torch.random."))
            or name in {"torch.manual_seed", "torch.cuda.manual_seed", "torch.seed"}
        }

    assert breaking(drawn) == {}


def test_entropy_and_noise_are_drawn_in_privacy_only():
    def drawn(path):
        names = used_names(path) | imported_names(path)
        sources = {n for n in names if any(is_or_is_in(n, one) for one in ENTROPY)}
        return sources | {name for name in names if name.split(".")[-1] in NOISE}

    assert breaking(drawn, modules_but("privacy")) == {}


def test_privacy_and_training_know_no_tables():
    known = ("pandas", "narwhals", "skdpgen.tables", "skdpgen.datasets")

    def imported(path):
        names = imported_names(path)
        return {n for n in names if any(is_or_is_in(n, module) for module in known)}

    paths = [path for path in MODULES if layer(path) in ("privacy", "training")]
    assert paths
    assert breaking(imported, paths) == {}


def test_private_parts_of_scikit_learn_are_imported_in_utils_only():
    def imported(path):
        names = {name for name in imported_names(path) if is_or_is_in(name, "sklearn")}
        return {name for name in names if re.search(r"\._[a-z]", name)}

    assert breaking(imported, modules_but("utils")) == {}


def test_fit_and_sample_never_write_a_parameter():
    def written(path):
        inits = methods_of(path, "__init__")
        parameters = {a.arg for init in inits for a in init.args.args}
        return [
            node.attr
            for method in methods_of(path, "fit") + methods_of(path, "sample")
            for node in ast.walk(method)
            if isinstance(node, ast.Attribute)
            and isinstance(node.ctx, ast.Store)
            and node.attr in parameters
        ]

    assert ESTIMATORS
    assert breaking(written) == {}


def test_every_fit_deletes_the_rows_before_it_models():
    def kept(path):
        found = set()
        for fit in methods_of(path, "fit"):
            deleted = {
                target.id
                for node in ast.walk(fit)
                if isinstance(node, ast.Delete)
                for target in node.targets
                if isinstance(target, ast.Name)
            }
            arguments = {argument.arg for argument in fit.args.args} - {"self"}
            found |= arguments - deleted
        return found

    in_synthesizers = [p for p in MODULES if layer(p) == "synthesizers"]
    assert sum(len(methods_of(path, "fit")) for path in in_synthesizers) >= 4
    assert breaking(kept, in_synthesizers) == {}


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
