"""What still keeps a checkout from being released (`make release-check`)."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]


def version_of_source(root=ROOT):
    """Return the version as it is written, without an import."""
    text = (root / "skdpgen" / "__init__.py").read_text("utf-8")
    return re.search(r'^__version__ = "(.*)"$', text, re.MULTILINE)[1]


def obstacles(root=ROOT):
    """Return a sentence for each thing that a release must not have."""
    version = version_of_source(root)
    citation = yaml.safe_load((root / "CITATION.cff").read_text("utf-8"))
    changelog = (root / "CHANGELOG.md").read_text("utf-8")
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    found = []
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        found.append(f"skdpgen/__init__.py: {version} is not the version of a release")
    if citation["version"] != version:
        found.append(f"CITATION.cff: the version is {citation['version']}")
    if "date-released" not in citation:
        found.append("CITATION.cff: there is no date-released")
    heading = rf"^## \[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d$"
    if not re.search(heading, changelog, re.MULTILINE):
        found.append(f"CHANGELOG.md: {version} has no heading with a date")
    found += [
        f"pyproject.toml: the address {address} is a placeholder"
        for address in project["urls"].values()
        if "PLACEHOLDER" in address
    ]
    return found


def not_committed():
    """Return what git would commit or does not know."""
    status = ["git", "status", "--porcelain"]
    done = subprocess.run(status, cwd=ROOT, capture_output=True, check=True, text=True)
    return done.stdout.splitlines()


if __name__ == "__main__":
    found = [*obstacles(), *(f"not committed: {line}" for line in not_committed())]
    if found:
        sys.exit("Not ready for a release:\n  " + "\n  ".join(found))
    print(f"Ready: {version_of_source()}")
