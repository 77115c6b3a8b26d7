"""The folder of a fitted model: arrays, certificate, and how the file looked."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click

MODEL, ABOUT = "model.npz", "about.json"
CERTIFICATE, COLUMNS = "certificate", "columns.csv"


@dataclass(frozen=True)
class About:
    """What the file of private rows looked like: all of it public."""

    columns: list[str]
    target: str | None
    is_text: bool
    is_image: bool = False
    decimal: str = "."


def make_folder(folder: Path) -> None:
    """Make the folder before anything is paid for; raise if a model is there."""
    if (folder / MODEL).exists():
        raise click.UsageError(
            f"{folder} holds a model already, which has cost its epsilon. Name another "
            "folder, or delete it first."
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / ABOUT).touch()
    except OSError as error:
        raise click.UsageError(
            f"{folder} cannot be written: {error.strerror}."
        ) from None


def write_model(folder: Path, synthesizer: Any, about: About) -> None:
    """Write a fitted synthesizer, and its certificate for people and for machines."""
    synthesizer.save(folder / MODEL)
    report = synthesizer.privacy_
    (folder / f"{CERTIFICATE}.txt").write_text(f"{report}\n", encoding="utf-8")
    (folder / f"{CERTIFICATE}.json").write_text(report.to_json(), encoding="utf-8")
    if not about.is_image:
        synthesizer.columns_.to_csv(folder / COLUMNS)
    (folder / ABOUT).write_text(json.dumps(asdict(about), indent=2), encoding="utf-8")


def read_model(folder: Path) -> tuple[Any, About]:
    """Return the synthesizer of a folder, and what its file looked like."""
    from skdpgen import load

    if not (folder / MODEL).exists():
        raise click.UsageError(
            f"{folder} holds no model. Make one by `skdpgen fit FILE --out {folder}`."
        )
    try:
        about = About(**json.loads((folder / ABOUT).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        raise click.UsageError(
            f"{folder / ABOUT} is missing or damaged. Fit again, or read "
            f"{folder / MODEL} by `skdpgen.load` in Python."
        ) from None
    return load(folder / MODEL), about
