"""Environments of peers, each made by us, none of them a dependency of ours.

A peer is installed with the versions that were measured, in a folder of its own with
its own Python: what it needs never meets what we need.
"""

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

from skdpgen.benchmark._rival_runner import RIVALS
from skdpgen.utils import ConfigError

PLACE = "SKDPGEN_PEERS"  # the variable that names another folder
PINNED = {
    "dpmm": ("dpmm==0.1.9",),
    # `packaging` is what opacus imports and does not ask for
    "smartnoise-synth": ("smartnoise-synth==1.0.8", "opacus==0.14.0", "packaging"),
}


def peers_folder() -> Path:
    """Return where environments are: a folder of the user's caches."""
    named = os.environ.get(PLACE)
    return Path(named) if named else Path.home() / ".cache" / "skdpgen" / "peers"


def python_in(package: str) -> Path:
    """Return the interpreter of a package, there or not."""
    folder = peers_folder() / package
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def python_of(rival: str) -> str:
    """Return the interpreter that has a rival; raise if it is not installed."""
    package = RIVALS[rival][0]
    python = python_in(package)
    if not python.exists():
        raise ConfigError(
            f"{rival} needs {package}, which is not at {python.parent.parent}. Say "
            f"`skdpgen bench peers install {rival}`."
        )
    return str(python)


def install_peer(rival: str) -> Path:
    """Make the environment of a rival anew; return its folder.

    An installation that fails or is stopped leaves nothing that looks finished.
    """
    package = RIVALS[rival][0]
    folder = peers_folder() / package
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        venv.create(folder, with_pip=True)
        run = [python_in(package), "-m", "pip", "install", *PINNED[package]]
        # paths to our packages must not reach the other environment
        clean = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
        subprocess.run(run, check=True, env=clean, stdout=sys.stderr)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return folder
