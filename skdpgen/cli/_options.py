"""Options that several commands have. Like the commands it loads no other library.

What `skdpgen --help` and an error in the arguments need stands here and at the top of
the commands; what reads files or fits is imported by the function that does it.
"""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypedDict, TypeVar

import click


class _Number(click.ParamType):  # type: ignore[type-arg]
    """A number; a comma in it is named."""

    name = "float"

    def convert(self, value: Any, *context: Any) -> float:
        """Return the number."""
        try:
            return float(value)
        except ValueError:
            pass
        try:
            float(value.replace(",", "."))
        except ValueError:
            self.fail(f"{value!r} is no number. Write one, as 0.5 or 2.", *context)
        self.fail(f"{value!r} has a comma. Write {value.replace(',', '.')}.", *context)


class _ModelFolder(click.Path):
    """A folder that `skdpgen fit` wrote."""

    def convert(self, value: Any, *context: Any) -> Any:
        """Return its path."""
        path = Path(value)
        if path.is_file():
            is_inside = path.name == "model.skdpgen"
            folder = str(path.parent) if is_inside else "the folder of --out of the fit"
            self.fail(f"{value} is a file. Name {folder}.", *context)
        return super().convert(value, *context)


class _NewFile(click.Path):
    """A file that can be written: its folder is there."""

    def convert(self, value: Any, *context: Any) -> Any:
        """Return its path."""
        path = super().convert(value, *context)
        folder = Path(os.fsdecode(path)).absolute().parent
        if not folder.is_dir():
            self.fail(f"There is no folder {folder}. Make it first.", *context)
        return path


FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
FOLDER = click.Path(file_okay=False, path_type=Path)
MODEL_FOLDER = _ModelFolder(file_okay=False, path_type=Path)
NEW_FILE = _NewFile(dir_okay=False, path_type=Path)
NEW_FILE_OR_PRINTED = _NewFile(dir_okay=False, path_type=Path, allow_dash=True)
NUMBER = _Number()
SEED = click.IntRange(0, 2**32 - 1)  # of `numpy.random.RandomState`
TEXT_OPTIONS = ("separator", "decimal", "encoding", "multiline", "missing")
Function = TypeVar("Function", bound=Callable[..., object])


class TextOptions(TypedDict):
    """What the options of :func:`text_options` give, for :class:`TableFile`."""

    separator: str | None
    decimal: str
    encoding: str | None
    multiline: bool
    missing: Sequence[str]


def text_options(command: Function) -> Function:
    """Add the options that say how a file of text is written: :data:`TEXT_OPTIONS`."""
    for option in (
        click.option(
            "--missing",
            multiple=True,
            help="Text that means a cell is missing, as NA; may be repeated.",
        ),
        click.option(
            "--multiline", is_flag=True, help="Quoted cells may hold line breaks."
        ),
        click.option(
            "--encoding", help="Of a CSV, as cp1252; utf-8 by default, utf-16 by mark."
        ),
        click.option(
            "--decimal", default=".", help="Before decimals in a CSV: `.` or `,`."
        ),
        click.option("--separator", help="Between cells of a CSV; `,` by default."),
    ):
        command = option(command)
    return command
