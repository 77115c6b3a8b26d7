"""Plant each bug in a copy of the package, and see which test catches it."""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.planted.bugs import BUGS, Bug
from tests.planted.source import ROOT, planted_text

COPIED = ("skdpgen", "tests", "benchmarks", "pyproject.toml", "README.md")
FAILED = re.compile(r"^FAILED (.+?)(?: - (.*))?$", re.MULTILINE)
NO_TESTS = 5  # what pytest returns where it ran none
# How a test fails that met a patch which does not fit the code around it:
BROKEN = ("AttributeError", "ImportError", "ModuleNotFoundError", "NameError")


def planted(bug: Bug, folder: Path) -> None:
    """Copy the package to a folder, with the bug in it."""
    for name in COPIED:
        source = ROOT / name
        if source.exists():
            copy = shutil.copytree if source.is_dir() else shutil.copy
            copy(source, folder / name)
    file, text = planted_text(bug.where, bug.old, bug.new)
    (folder / file).write_text(text, encoding="utf-8")


def caught_by(bug: Bug, is_whole: bool) -> tuple[str, str]:
    """Return the first test that fails with the bug, and how; empty if none does.

    A slow test does not count: the suite that everyone runs has to catch it. Where the
    case that a bug names is slow, the other cases of that test are run.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        planted(bug, folder)
        # the laboratory is no part of the package, and its tests catch no bug of it
        aside = ["--ignore=tests/planted", "--ignore=tests/benchmarks"]
        whole = ["tests", "skdpgen", *aside]
        ran = run(whole if is_whole else bug.tests, folder)
        if ran.returncode == NO_TESTS:
            ran = run([test.partition("[")[0] for test in bug.tests], folder)
    failed = FAILED.search(ran.stdout)
    if failed:
        return failed.group(1), failed.group(2) or ""
    if ran.returncode == 0:
        return "", ""
    last = ran.stdout.strip().rpartition("\n")[2]
    return "", f"pytest ended with {ran.returncode}: {last}"


def run(tests: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run tests of a copy until one fails."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
    settings = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "COLUMNS": "400"}
    return subprocess.run(
        [*command, "-m", "not slow", *tests],
        cwd=folder,
        env=os.environ | settings | {"PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )


def table() -> str:
    """Return bugs and the tests about them, as the page of the docs has them."""
    lines = ["| bug | what it does | caught by |", "|---|---|---|"]
    for bug in BUGS:
        file, _, test = bug.tests[0].partition("[")[0].partition("::")
        about = f"`{test}` in `{file}`" if test else f"`{file}`"
        lines.append(f"| {bug.name} | {bug.what} | {about} |")
    return "\n".join(lines)


def main() -> int:
    """Print the table of bugs and tests; 1 if a bug was not caught."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="bugs to plant; all of them if none")
    parser.add_argument("--whole", action="store_true", help="run the whole suite")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--table", action="store_true", help="for the docs; no test")
    given = parser.parse_args()
    if given.table:
        print(table())
        return 0
    if unknown := set(given.names) - {bug.name for bug in BUGS}:
        parser.error(f"No such bugs: {sorted(unknown)}.")
    bugs = [bug for bug in BUGS if not given.names or bug.name in given.names]
    with ThreadPoolExecutor(given.jobs) as pool:
        found = pool.map(lambda bug: caught_by(bug, given.whole), bugs)
        n_missed = 0
        for bug, (test, how) in zip(bugs, found, strict=True):
            is_caught = bool(test) and not how.startswith(BROKEN)
            line = test if is_caught else f"NOT CAUGHT {test}"
            print(f"{bug.name:34s} {line} {how[:100]}".rstrip(), flush=True)
            n_missed += not is_caught
    print(f"{len(bugs) - n_missed} of {len(bugs)} bugs were caught.")
    return int(n_missed > 0)


if __name__ == "__main__":
    sys.exit(main())
