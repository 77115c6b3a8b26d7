"""Plant each bug in a copy of the package, and see which test catches it."""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.planted.bugs import BUGS, Bug

ROOT = Path(__file__).parents[2]
COPIED = ("skdpgen", "tests", "benchmarks", "pyproject.toml", "README.md")
FAILED = re.compile(r"^FAILED (.+?)(?: - .*)?$", re.MULTILINE)


def planted(bug: Bug, folder: Path) -> None:
    """Copy the package to a folder, with the bug in it."""
    for name in COPIED:
        source = ROOT / name
        copy = shutil.copytree if source.is_dir() else shutil.copy
        copy(source, folder / name)
    file = folder / bug.file
    text = file.read_text(encoding="utf-8")
    if text.count(bug.old) != 1:
        raise SystemExit(f"{bug.name}: its lines must stand once in {bug.file}.")
    file.write_text(text.replace(bug.old, bug.new), encoding="utf-8")


def caught_by(bug: Bug, is_whole: bool) -> str:
    """Return the first test that fails with the bug; empty if none does."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        planted(bug, folder)
        # the laboratory is no part of the package, and its tests catch no bug of it
        whole = ["tests", "skdpgen", "--ignore=tests/benchmarks"]
        tests = whole if is_whole else bug.tests
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
        threads = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
        ran = subprocess.run(
            [*command, "-m", "not slow", *tests],
            cwd=folder,
            env=os.environ | threads | {"PYTHONPATH": str(folder)},
            capture_output=True,
            text=True,
            check=False,
        )
    found = FAILED.search(ran.stdout)
    if ran.returncode not in (0, 1):  # no test ran: the patch broke the package
        raise SystemExit(
            f"{bug.name}: pytest ended with {ran.returncode}.\n{ran.stdout}"
        )
    return found.group(1) if found else ""


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
    bugs = [bug for bug in BUGS if not given.names or bug.name in given.names]
    with ThreadPoolExecutor(given.jobs) as pool:
        found = pool.map(lambda bug: caught_by(bug, given.whole), bugs)
        n_missed = 0
        for bug, test in zip(bugs, found, strict=True):
            print(f"{bug.name:34s} {test or 'NOT CAUGHT'}", flush=True)
            n_missed += not test
    print(f"{len(bugs) - n_missed} of {len(bugs)} bugs were caught.")
    return int(n_missed > 0)


if __name__ == "__main__":
    sys.exit(main())
