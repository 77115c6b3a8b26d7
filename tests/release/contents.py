"""Compare the distributions of a folder with what the repository tracks."""

import subprocess
import sys
import tarfile
import zipfile
from email.parser import Parser
from pathlib import Path

import skdpgen

ROOT = Path(__file__).parents[2]
ADDED_TO_SDIST = {"PKG-INFO"}


def tracked():
    """Return the files that git tracks and that exist; None without a repository."""
    if not (ROOT / ".git").exists():
        return None
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True
    )
    names = set(listed.stdout.split("\0")) - {""}
    return {name for name in names if (ROOT / name).is_file()}


def files_of_sdist(path):
    """Return the files of an sdist, without the folder that holds them all."""
    with tarfile.open(path) as archive:
        names = [member.name for member in archive if member.isfile()]
    return {name.partition("/")[2] for name in names}


def files_of_wheel(path):
    """Return the files of a wheel, and its metadata."""
    with zipfile.ZipFile(path) as archive:
        names = {name for name in archive.namelist() if not name.endswith("/")}
        [metadata] = [name for name in names if name.endswith(".dist-info/METADATA")]
        return names, Parser().parsestr(archive.read(metadata).decode("utf-8"))


def is_of_package(name):
    """Return whether a file belongs into the wheel."""
    return name.startswith("skdpgen/")


def wrong_with(folder):
    """Return a sentence for each thing that is wrong with the distributions."""
    folder = Path(folder)
    sdist = folder / f"skdpgen-{skdpgen.__version__}.tar.gz"
    wheel = folder / f"skdpgen-{skdpgen.__version__}-py3-none-any.whl"
    if {path.name for path in folder.iterdir()} != {sdist.name, wheel.name}:
        return [f"{folder} must hold {sdist.name} and {wheel.name}, nothing else"]
    in_sdist = files_of_sdist(sdist) - ADDED_TO_SDIST
    wanted = tracked()
    wanted = in_sdist if wanted is None else wanted
    wrong = [f"{name} is not in the sdist" for name in sorted(wanted - in_sdist)]
    wrong += [
        f"{name} is in the sdist, but git does not track it"
        for name in sorted(in_sdist - wanted)
    ]
    names, metadata = files_of_wheel(wheel)
    in_wheel = {name for name in names if ".dist-info/" not in name}
    wanted = {name for name in wanted if is_of_package(name)}
    wrong += [f"{name} is not in the wheel" for name in sorted(wanted - in_wheel)]
    wrong += [f"{name} must not be in the wheel" for name in sorted(in_wheel - wanted)]
    if not any(name.endswith("/licenses/LICENSE") for name in names):
        wrong.append("LICENSE is not in the wheel")
    if metadata["Version"] != skdpgen.__version__:
        wrong.append(f"the wheel has version {metadata['Version']} in its metadata")
    return wrong


if __name__ == "__main__":
    wrong = wrong_with(sys.argv[1])
    if wrong:
        sys.exit("\n".join(wrong))
    print("The wheel has the files of the package, the sdist those of the repository.")
