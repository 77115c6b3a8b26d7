"""The main command: its subcommands, and how it shows errors."""

from __future__ import annotations

import json
import re
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from skdpgen import __version__

if TYPE_CHECKING:
    from skdpgen.privacy import PrivacyReport
    from skdpgen.utils import Synthesizer

PARTS = {
    "fit": "_fit_command",
    "sample": "_sample_command",
    "report": "_report_command",
    "plan": "_plan_command",
    "schema": "_schema_command",
    "demo": "_demo_command",
    "bench": "_bench_command",
}
REMEDIES = {
    "`Schema.template(X)`": "`skdpgen schema init FILE -o schema.toml`",
    "`classes=[...]`": "`--classes no,yes`",
    "`columns_`": "`columns.csv`",
    "`task='regression'`": "`--task regression`",
}
METHOD = re.compile(r"(?<=\buse )DP(\w+)Synthesizer\b")  # of advice, as `fit` takes it


class Parts(click.Group):
    """Import a part when it is asked for; libraries wait until it runs."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names, in the order in which they are needed."""
        return list(PARTS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a part, or None if there is none of this name."""
        if cmd_name not in PARTS:
            return None
        module = __import__(f"skdpgen.cli.{PARTS[cmd_name]}", fromlist=["command"])
        return module.command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the part that is asked for; one that is not there is named."""
        if args and args[0] not in PARTS and not args[0].startswith("-"):
            near = get_close_matches(args[0], PARTS, n=1)
            hint = f"Did you mean {near[0]}?" if near else f"Say {', '.join(PARTS)}."
            ctx.fail(f"There is no command {args[0]!r}. {hint}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        """Run a part; errors become one line, warnings too."""
        if ctx.params.get("debug"):
            try:
                return _with_remedy(super().invoke, ctx)
            except EOFError as error:  # click would show it as "Aborted!"
                raise OSError(*error.args) from error
        with warnings.catch_warnings():
            warnings.simplefilter("default")  # each place warns once
            warnings.showwarning = _show_warning
            try:
                return _with_remedy(super().invoke, ctx)
            except (click.ClickException, click.exceptions.Exit, click.Abort):
                raise
            except KeyboardInterrupt:
                raise click.Abort from None
            except Exception as error:
                from skdpgen.utils import in_a_line

                # without `in_a_line` an error of pandas could print a cell
                text = for_the_command_line(in_a_line(error))
                raise click.ClickException(text) from None


def _with_remedy(
    invoke: Callable[[click.Context], object], ctx: click.Context
) -> object:
    """Run a part; what is said of a wrong or missing option names the options."""
    try:
        return invoke(ctx)
    except click.NoSuchOption as error:
        if error.ctx is None or error.possibilities:
            raise
        names = [parameter.opts[-1] for parameter in error.ctx.command.params]
        flags = ", ".join(sorted(name for name in names if name.startswith("-")))
        text = f"{error.message} {error.ctx.info_name} has {flags}."
        raise click.NoSuchOption(error.option_name, text, ctx=error.ctx) from None
    except click.MissingParameter as error:
        help_text = getattr(error.param, "help", None)
        if error.message or not help_text:
            raise
        raise click.MissingParameter(help_text, error.ctx, error.param) from None


@click.group(cls=Parts, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--debug", is_flag=True, help="Show where an error comes from.")
@click.version_option(__version__, package_name="skdpgen")
def main(debug: bool) -> None:
    """Synthetic rows of a private table, with a guarantee.

    \b
      skdpgen fit people.csv --target income --epsilon 1 --out model/
      skdpgen sample model/ -n 10000 -o synthetic.csv
      skdpgen report model/ -o report.html

    Every `fit` of the same rows costs its own epsilon; everything else is free.
    """  # noqa: D301 - click wants the character itself


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Print our own warnings in a line; those of libraries are not for users."""
    del filename, lineno, file, line  # a line of our code does not help users
    if category.__module__.startswith("skdpgen"):
        text = " ".join(str(message).split())
        click.echo(f"Warning: {for_the_command_line(text)}", err=True)


def for_the_command_line(text: str) -> str:
    """Return a message whose remedies in Python are those of the command line.

    Examples
    --------
    >>> for_the_command_line("List the labels in `classes=[...]`.")
    'List the labels in `--classes no,yes`.'
    >>> for_the_command_line("Got images; use DPMGESynthesizer for them.")
    'Got images; use `--method mge` for them.'
    """
    for in_python, here in REMEDIES.items():
        text = text.replace(in_python, here)
    return METHOD.sub(lambda found: f"`--method {found[1].lower()}`", text)


if __name__ == "__main__":
    sys.exit(main())


# ----------------------------------------------------------------------------
# The folder of a fitted model: arrays, certificate, and the format of the file.

MODEL, ABOUT = "model.skdpgen", "about.json"  # ABOUT is written last
CERTIFICATE, COLUMNS = "certificate", "columns.csv"


@dataclass(frozen=True)
class About:
    """Format of the file of private rows; all of it is public."""

    columns: list[str]
    target: str | None
    is_text: bool
    is_image: bool = False
    decimal: str = "."
    separator: str | None = None
    encoding: str | None = None
    multiline: bool = False
    missing: Sequence[str] = ()


def make_folder(folder: Path) -> None:
    """Make the folder before anything is paid for; raise if a model is there."""
    if (folder / MODEL).exists():
        raise click.UsageError(
            f"{folder} holds a model already, which has cost its epsilon. Name another "
            "folder, or delete it first."
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / ABOUT).touch()  # shows that files can be written there
    except OSError as error:
        raise click.UsageError(
            f"{folder} cannot be written: {error.strerror}."
        ) from None


def write_model(folder: Path, synthesizer: Synthesizer, description: About) -> None:
    """Write a fitted synthesizer, and its certificate for people and for machines."""
    synthesizer.save(folder / MODEL)
    report: PrivacyReport = synthesizer.privacy_
    (folder / f"{CERTIFICATE}.txt").write_text(f"{report}\n", encoding="utf-8")
    (folder / f"{CERTIFICATE}.json").write_text(report.to_json(), encoding="utf-8")
    if not description.is_image:
        synthesizer.columns_.to_csv(folder / COLUMNS)
    (folder / ABOUT).write_text(
        json.dumps(asdict(description), indent=2), encoding="utf-8"
    )


def read_model(folder: Path) -> tuple[Synthesizer, About]:
    """Return the synthesizer of a folder, and the format of its private file."""
    if not (folder / MODEL).exists():
        raise click.UsageError(
            f"{folder} holds no model. Make one by `skdpgen fit FILE --out {folder}`."
        )
    try:
        description = About(**json.loads((folder / ABOUT).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        raise click.UsageError(
            f"{folder / ABOUT} is missing or damaged. Fit again, or read "
            f"{folder / MODEL} by `skdpgen.load` in Python."
        ) from None
    from skdpgen import load

    return load(folder / MODEL), description
