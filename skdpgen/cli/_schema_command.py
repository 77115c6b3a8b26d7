"""``skdpgen schema``: a file to fill in with what is public, and its check."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import click

from skdpgen.cli._fit_command import check_columns, known_schema, read_schema
from skdpgen.cli._options import FILE, NEW_FILE, TextOptions, text_options

if TYPE_CHECKING:
    from skdpgen.cli._table_files import TableFile
    from skdpgen.tables import Schema

HEAD = """\
# What is public about the columns of {file}: from the form, the codebook or the law,
# never from the rows. Take the # off the lines that you fill in. What stays a comment
# is found out privately, from the same epsilon.
#
# type = "Integer"      lower, upper
# type = "Numeric"      lower, upper, decimals
# type = "Categorical"  categories = ["a", "b"], other = "another"
# type = "Ordinal"      categories in their order
# type = "Boolean"
# type = "Datetime"     lower, upper, format = "%d.%m.%Y"
# type = "Drop"         is left out of the synthetic rows
# type = "Regenerate"   template = "S{{i:06d}}": made up anew, for ids
#
# nullable = false      no cell is missing
"""
COLUMN = """
# [{table}]
# type = "Integer"
# lower = 0
# upper = 100
"""
INFERRED = (
    "the schema was read off the rows of {file}. That is no part of any guarantee: "
    "keep only what you would have known without them."
)


OPEN = """
# [columns.{name}]
# type = "{kind}"
"""
TABLE = click.option("--table", help="Table that is meant if SCHEMA describes several.")


@click.group("schema")
def command() -> None:
    """Write, check or convert a schema: what is public about the columns."""


@command.command("init")
@click.argument("file", type=FILE)
@click.option(
    "-o",
    "--out",
    type=NEW_FILE,
    required=True,
    help="A .toml file.",
)
@click.option("--target", help="Column that models are to predict.")
@text_options
@click.option(
    "--infer",
    is_flag=True,
    help="Fill it in from the rows. This leaks if they are private.",
)
def init(
    file: Path,
    out: Path,
    target: str | None,
    infer: bool,
    **text: Unpack[TextOptions],
) -> None:
    """Write a schema of FILE to fill in. Only its header is read."""
    if out.suffix != ".toml":
        raise click.UsageError(f"--out must be a .toml file. Got {out}.")
    _refuse_existing(out)
    from skdpgen.cli._table_files import TableFile
    from skdpgen.tables import Schema

    table = TableFile(file, **text)
    names = check_columns(table, target, Schema())
    content = HEAD.format(file=file.name)
    if infer:
        click.echo(f"Warning: {INFERRED.format(file=file)}", err=True)
        content += "\n" + _inferred(table, target)
    else:
        columns = [f"columns.{_quoted(name)}" for name in names if name != target]
        tables = columns + ["target"] * (target is not None)
        content += "".join(COLUMN.format(table=name) for name in tables)
    out.write_text(content, encoding="utf-8")
    click.echo(f"Wrote {out}. Fill it in, then: skdpgen schema check {out} {file}")


@command.command("check")
@click.argument("schema", type=FILE)
@click.argument("file", type=FILE, required=False)
@click.option("--target", help="Column that models are to predict.")
@TABLE
@text_options
def check(
    schema: Path,
    file: Path | None,
    target: str | None,
    table: str | None,
    **text: Unpack[TextOptions],
) -> None:
    """Check SCHEMA by itself, and against the header of FILE. Reads no row.

    SCHEMA is TOML or JSON of skdpgen, metadata of SDV, or a Table Schema.
    """
    from skdpgen.cli._table_files import TableFile

    public = read_schema(schema, target, table).check()
    summary = f"{len(public.columns)} columns described"
    if file is not None:
        names = check_columns(TableFile(file, **text), target, public)
        n_open = len(names) - len(public.columns) - (target is not None)
        summary += f", {n_open} left to private discovery"
    click.echo(f"{schema}: {summary}.")


@command.command("convert")
@click.argument("schema", type=FILE)
@click.option(
    "-o",
    "--out",
    type=NEW_FILE,
    required=True,
    help="A .toml file, or .json for --to.",
)
@click.option(
    "--to",
    type=click.Choice(["skdpgen", "sdv", "sdv1", "frictionless"]),
    default="skdpgen",
    show_default=True,
    help="sdv is for SDV 2 and later, sdv1 for SDV 1.",
)
@click.option("--target", help="Column of SCHEMA, or of OUT, that is the target.")
@TABLE
@click.option(
    "--not-detected",
    is_flag=True,
    help="Your word: people wrote SCHEMA, and nobody read it off the private rows.",
)
def convert(
    schema: Path,
    out: Path,
    to: str,
    target: str | None,
    table: str | None,
    not_detected: bool,
) -> None:
    """Convert SCHEMA between skdpgen, SDV metadata and Table Schema. Reads no row.

    What SCHEMA is, is recognised by its content. What the other format cannot state is
    left out with a warning.
    """
    _refuse_existing(out)
    public = read_schema(
        schema, target, table, is_detected=not not_detected, has_open=True
    )
    endings = (".toml", ".json") if to == "skdpgen" else (".json",)
    if out.suffix not in endings:
        raise click.UsageError(
            f"--out must end in {' or '.join(endings)} for --to {to}. Got {out}."
        )
    name = target or "target"
    if to == "frictionless":
        public.to_frictionless(out, target=name)
    elif to != "skdpgen":
        version = "V1" if to == "sdv1" else "V2"
        public.to_sdv(out, table=table or "table", target=name, version=version)
    else:
        known = known_schema(public)
        known.save(out)
        if out.suffix == ".toml":
            _add_open(out, public)
    click.echo(f"Wrote {out}.")


def _add_open(out: Path, public: Schema) -> None:
    """Add the columns that are left to discovery, as comments to fill in."""
    open_columns = {name: public.columns[name] for name in public.unfilled()}
    blocks = [
        OPEN.format(name=_quoted(name), kind=type(column).__name__)
        for name, column in open_columns.items()
    ]
    with out.open("a", encoding="utf-8") as file:
        file.write("".join(blocks))


def _refuse_existing(out: Path) -> None:
    if out.exists():
        raise click.UsageError(f"{out} is there already. Name another file.")


def _quoted(name: str) -> str:
    import json

    return json.dumps(name, ensure_ascii=False)


def _inferred(table: TableFile, target: str | None) -> str:
    """Read the rows for a schema, with the dtypes that a reader guesses."""
    import pandas as pd

    from skdpgen.tables import Schema

    rows = pd.concat(table.pieces(), ignore_index=True)
    if table.is_text:  # through a CSV again, for pandas to guess the dtypes
        rows = pd.read_csv(StringIO(rows.to_csv(index=False)))
    y = rows.pop(target) if target is not None else None
    return Schema.infer(rows, y).to_toml()
