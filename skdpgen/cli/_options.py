"""Options that several commands have. Like the commands it loads no other library.

What `skdpgen --help` and an error in the arguments need stands here and at the top of
the commands; what reads files or fits is imported by the function that does it.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypedDict, TypeVar

import click

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
FOLDER = click.Path(file_okay=False, path_type=Path)
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
