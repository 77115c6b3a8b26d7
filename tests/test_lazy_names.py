"""The import and the help are quick; public names load when they are first used."""

import ast
import copy
import importlib
import json
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import skdpgen

ROOT = Path(skdpgen.__file__).parents[1]
SOURCE = ast.parse(Path(skdpgen.__file__).read_text("utf-8"))

# What may be loaded, besides the standard library; `sys.modules` says what was.
IMPORT_MAY_LOAD = {"skdpgen"}
HELP_MAY_LOAD = {"skdpgen", "click", "colorama"}  # click takes colorama on Windows
HEAVY = {"numpy", "pandas", "scipy", "sklearn", "torch", "xgboost"}


def fresh(code, *args, data=None):
    """Run code in a process that has nothing of ours loaded; return what it prints."""
    path = f"import sys; sys.path.insert(0, {str(ROOT)!r})"
    code = f"{path}; start = set(sys.modules)\n{code}"
    done = subprocess.run(
        [sys.executable, "-I", "-c", code, *args], capture_output=True, input=data
    )
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout.decode().splitlines()[-1])


def not_of_python(modules):
    return {name for name in modules if _top(name) not in sys.stdlib_module_names}


def _top(name):
    return name.partition(".")[0]


# ----------------------------------------------------------------------------
# What is loaded.

LOADED = "import json; print(json.dumps(sorted(set(sys.modules) - start)))"
# What each command has loaded, of one process that runs them all.
COMMANDS_OF_ONE_PROCESS = """
import json
from skdpgen.cli import main
loaded = []
for command in json.loads(sys.argv[1]):
    try:
        main(command.split())
    except SystemExit as end:
        assert end.code == {code}, (command, end.code)
    loaded.append((command, sorted(set(sys.modules) - start)))
print(json.dumps(loaded))
"""


def test_the_import_loads_nothing_but_the_standard_library():
    loaded = fresh(f"import skdpgen; dir(skdpgen); skdpgen.__version__\n{LOADED}")
    assert not_of_python(loaded) == IMPORT_MAY_LOAD


COMMANDS = ("fit", "sample", "report", "plan", "schema init", "bench run", "demo")


def test_help_loads_no_library_but_that_of_the_command_line():
    helps = ["--help", "--version", *(f"{command} --help" for command in COMMANDS)]
    check_light(helps, code=0)


def test_errors_in_arguments_load_no_library_either():
    errors = [
        "fitt",
        "fit",
        "fit no_such_file.csv --out model",
        "fit {file} --out model --epsilon one",
        "fit {file} --out model --method nothing",
        "fit {file} --out model --set max_iter",
        "sample no_such_model -o rows.csv",
        "report no_such_model -o report.pdf",
        "schema init {file} -o schema.json",
        "bench run",
    ]
    check_light([error.format(file=__file__) for error in errors], code=2)


def check_light(commands, code):
    every = fresh(COMMANDS_OF_ONE_PROCESS.format(code=code), json.dumps(commands))
    assert [command for command, _ in every] == commands
    for command, loaded in every:
        names = not_of_python(loaded)
        assert {_top(name) for name in names} <= HELP_MAY_LOAD, command
        ours = {name for name in names if name.startswith("skdpgen.")}
        outside = {name for name in ours if not name.startswith("skdpgen.cli")}
        assert outside == set(), command


def test_a_package_is_loaded_when_it_is_named(first_use):
    assert first_use["package"].startswith("skdpgen.metrics.")
    assert first_use["is_loaded"]
    assert {_top(one) for one in first_use["before"]} & HEAVY == set()


# ----------------------------------------------------------------------------
# Every list has every name.


def test_type_checkers_see_the_names_that_are_loaded():
    packages, origins = set(), {}
    for node in ast.walk(branch("TYPE_CHECKING")):
        if isinstance(node, ast.ImportFrom) and node.module == "skdpgen":
            packages |= {alias.asname for alias in node.names}  # `x as x` is public
        elif isinstance(node, ast.ImportFrom):
            package = node.module.removeprefix("skdpgen.")
            origins[package] = sorted(alias.name for alias in node.names)
    assert packages == set(skdpgen._PACKAGES)
    assert origins == {key: sorted(names) for key, names in skdpgen._ORIGINS.items()}


def branch(condition):
    """Return the part of the module that stands under a condition."""
    [found] = [
        node
        for node in SOURCE.body
        if isinstance(node, ast.If) and ast.unparse(node.test) == condition
    ]
    return found


def test_type_checkers_do_not_see_that_names_are_made():
    # a module with `__getattr__` has every attribute, for them, and no typing error
    made = {node.name for node in branch("not TYPE_CHECKING").body}
    assert made == {"__getattr__", "__dir__"}
    assert not [node for node in SOURCE.body if isinstance(node, ast.FunctionDef)]


def test_every_public_name_has_one_origin():
    names = [name for names in skdpgen._ORIGINS.values() for name in names]
    assert sorted(names) == sorted(skdpgen.__all__)
    folders = {path.parent.name for path in (ROOT / "skdpgen").glob("*/__init__.py")}
    modules = {path.stem for path in (ROOT / "skdpgen").glob("[!_]*.py")}
    assert set(skdpgen._PACKAGES) == folders - {"cli"} | modules
    assert set(skdpgen._ORIGINS) <= set(skdpgen._PACKAGES)


@pytest.mark.parametrize("origin", skdpgen._ORIGINS)
def test_names_are_those_of_their_origin(origin):
    package = importlib.import_module(f"skdpgen.{origin}")
    assert getattr(skdpgen, origin) is package
    for name in skdpgen._ORIGINS[origin]:
        assert name in package.__all__
        assert getattr(skdpgen, name) is getattr(package, name)


def test_every_name_is_listed_and_imported_by_a_star():
    assert {*skdpgen.__all__, *skdpgen._PACKAGES, "__version__"} <= set(dir(skdpgen))
    assert [name for name in dir(skdpgen) if not hasattr(skdpgen, name)] == []
    names = {}
    exec("from skdpgen import *", names)
    assert set(names) - {"__builtins__"} == set(skdpgen.__all__)


# ----------------------------------------------------------------------------
# Names that are none, and names that cannot be loaded.


def test_other_names_are_errors():
    with pytest.raises(AttributeError, match="'skdpgen' has no attribute 'Nothing'"):
        _ = skdpgen.Nothing
    with pytest.raises(ImportError, match="Nothing"):
        exec("from skdpgen import Nothing")
    assert not hasattr(skdpgen, "__wrapped__")  # asked by doctest and inspect


@pytest.mark.parametrize("error", [AttributeError, ModuleNotFoundError])
def test_what_keeps_a_name_from_loading_is_said(error, monkeypatch):
    def fail(name):
        raise error("module 'numpy' has no attribute 'float'")

    monkeypatch.delitem(vars(skdpgen), "Schema", raising=False)
    monkeypatch.setattr(importlib, "import_module", fail)
    with pytest.raises(ImportError, match="numpy"):
        exec("from skdpgen import Schema")
    monkeypatch.undo()
    assert skdpgen.Schema.__name__ == "Schema"  # the failure is not kept


# ----------------------------------------------------------------------------
# Threads, copies and other processes.

THREADS = """
import json, threading
import skdpgen
before = sorted(set(sys.modules) - start)
names = ["Schema", "SyntheticUtility", "PrivacyReport", "plan", "metrics", "Chunks"] * 2
got, barrier = [], threading.Barrier(len(names))

def use(name):
    barrier.wait()
    got.append((name, id(getattr(skdpgen, name))))

threads = [threading.Thread(target=use, args=[name]) for name in names]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(json.dumps({
    "before": before,
    "package": skdpgen.metrics.SyntheticUtility.__module__,
    "is_loaded": "sklearn" in sys.modules,
    "sizes": [len(got), len(set(got)), len(set(names))],
}))
"""


@pytest.fixture(scope="module")
def first_use():
    """What a process says whose threads are the first to use names, all at once."""
    return fresh(THREADS)


def test_threads_that_are_first_at_once_get_the_same(first_use):
    n_got, n_things, n_names = first_use["sizes"]
    assert n_got == 2 * n_names
    assert n_things == n_names


def test_estimators_can_be_copied_and_pickled_to_a_fresh_process():
    synthesizer = skdpgen.DPPairwiseSynthesizer(
        epsilon=0.5, schema=skdpgen.Schema({"age": skdpgen.Integer(0, 99)})
    )
    assert repr(copy.deepcopy(synthesizer)) == repr(synthesizer)
    code = "import json, pickle; thing = pickle.load(sys.stdin.buffer)\n"
    code += "print(json.dumps(repr(thing)))"  # as a worker that was spawned does it
    assert fresh(code, data=pickle.dumps(synthesizer)) == repr(synthesizer)
