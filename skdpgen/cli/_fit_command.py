"""``skdpgen fit``: read private rows, once, and keep what was released."""

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pandas as pd

from skdpgen.cli._command import About, make_folder, write_model
from skdpgen.cli._table_files import (
    TEXT_OPTIONS,
    TableFile,
    image_chunks,
    kind_of,
    text_options,
)

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
FOLDER = click.Path(file_okay=False, path_type=Path)


@click.command("fit")
@click.argument("file", type=FILE)
@click.option("--out", type=FOLDER, required=True, help="Folder of the model.")
@click.option("--target", help="Column that models are to predict, if there is one.")
@click.option("--epsilon", type=float, default=1.0, show_default=True)
@click.option("--delta", type=float, help="Default: far below 1 / rows.")
@click.option(
    "--method",
    default="pairwise",
    show_default=True,
    help="pairwise, independent, merf, ...: DP...Synthesizer.",
)
@click.option("--schema", type=FILE, help="TOML of what is public (skdpgen schema).")
@click.option("--classes", help="Labels of the target if they are public: no,yes.")
@click.option(
    "--task",
    type=click.Choice(["auto", "classification", "regression"]),
    default="auto",
    show_default=True,
    help="auto finds out privately whether a target in a CSV is a number.",
)
@click.option(
    "--adjacency",
    type=click.Choice(["replace", "add_remove"]),
    default="replace",
    show_default=True,
)
@text_options
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="Any other parameter of the method; may be repeated.",
)
@click.option("--seed", type=int, help="Of public randomness; never of the noise.")
@click.option("--quiet", is_flag=True, help="No progress, no certificate.")
def command(file: Path, out: Path, **asked: Any) -> None:
    """Learn FILE (.csv, .tsv, .parquet, .arrow, or .npz of images), privately.

    Cells of a CSV are read as text, whatever they hold: what they are is found out
    privately, or said by a schema. Each fit of the same rows costs its own epsilon.
    """
    from skdpgen.tables import Schema

    synthesizer = make(asked)
    if kind_of(file) == ".npz":
        _refuse_for_images(asked)
        about, rows = About([], None, False, is_image=True), image_chunks(file)
    else:
        table = TableFile(file, **{name: asked[name] for name in TEXT_OPTIONS})
        schema = read_schema(asked["schema"]) if asked["schema"] else Schema()
        about = About(
            check_columns(table, asked["target"], schema),
            asked["target"],
            table.is_text,
            decimal=table.decimal,
        )
        rows = private_rows(table, about, schema, asked, synthesizer)
    make_folder(out)
    _fit(synthesizer, rows)
    write_model(out, synthesizer, about)
    if not asked["quiet"]:
        click.echo(synthesizer.privacy_)
        click.echo(f"Wrote {out}. Next: skdpgen sample {out} -o synthetic.csv")


def make(asked: dict[str, Any]) -> Any:
    """Return the synthesizer that was asked for."""
    from skdpgen import all_synthesizers

    every = {
        name.removeprefix("DP").removesuffix("Synthesizer").lower(): one
        for name, one in all_synthesizers().items()
    }
    if asked["method"] not in every:
        raise click.UsageError(
            f"--method must be one of {', '.join(every)}. Got {asked['method']!r}."
        )
    names = "epsilon", "delta", "task", "adjacency"
    params = {name: asked[name] for name in names if asked[name] is not None}
    params |= {"random_state": asked["seed"], "verbose": 0 if asked["quiet"] else 1}
    if asked["classes"]:
        params["classes"] = [one.strip() for one in asked["classes"].split(",")]
    params |= dict(map(_setting, asked["settings"]))
    make_one = every[asked["method"]]
    known = make_one().get_params()
    unknown = sorted(set(params) - set(known))
    if unknown:
        raise click.UsageError(
            f"{make_one.__name__} has no parameter {', '.join(unknown)}. It has "
            f"{', '.join(known)}."
        )
    return make_one(**params)


def _setting(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals:
        raise click.UsageError(
            f"--set takes NAME=VALUE, as max_iter=100. Got {text!r}."
        )
    try:
        return name.strip(), json.loads(value)
    except json.JSONDecodeError:
        return name.strip(), value


def read_schema(path: Path) -> Any:
    """Read a TOML file; raise if it is none."""
    from skdpgen.tables import Schema

    try:
        return Schema.load(path)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise click.UsageError(f"{path} is no TOML: {error}.") from None


def check_columns(table: TableFile, target: str | None, schema: Any) -> list[str]:
    """Return the columns of a file; raise if what was said does not fit to them."""
    names = table.columns
    if target is not None and target not in names:
        raise click.UsageError(
            f"--target must be a column of {table.path}. Got {target!r}; there are "
            f"{', '.join(names)}."
        )
    absent = [str(name) for name in schema.columns if str(name) not in names]
    if absent:
        raise click.UsageError(
            f"Columns of the schema must be in {table.path}. Got {', '.join(absent)} "
            f"besides; there are {', '.join(names)}."
        )
    if target is not None and target in schema.columns:
        raise click.UsageError(
            f"The schema describes {target!r} among the columns. As it is the target, "
            "put it under [target]."
        )
    return names


def private_rows(
    table: TableFile, about: About, schema: Any, asked: dict[str, Any], synthesizer: Any
) -> Any:
    """Return the rows in pieces, and tell the synthesizer their schema."""
    from skdpgen import Chunks
    from skdpgen.cli._text_records import schema_of_text, target_of_text

    order = [name for name in about.columns if name in schema.columns]
    schema = type(schema).from_dict(
        schema.to_dict() | {"columns": {name: schema.columns[name] for name in order}}
    )
    said = schema_of_text(schema) if table.is_text else schema
    synthesizer.set_params(schema=said)

    def split(piece: pd.DataFrame) -> Any:
        if about.target is None:
            return piece
        y = piece.pop(about.target)
        if table.is_text:
            y = target_of_text(y, schema, asked["task"])
        return piece, y

    def opened() -> Iterator[Any]:
        return map(split, table.pieces())

    return Chunks(opened, like=split(next(table.pieces(0))))


def _refuse_for_images(asked: dict[str, Any]) -> None:
    for name in ("target", "schema", *TEXT_OPTIONS):
        if asked[name] and asked[name] != ".":
            raise click.UsageError(f"--{name} is for tables. An .npz holds images.")


def _fit(synthesizer: Any, rows: Any) -> None:
    """Fit; say what was paid if it does not come to its end."""
    try:
        synthesizer.fit(rows)
    except BaseException:
        report = getattr(synthesizer, "privacy_", None)
        if report is not None:
            click.echo(
                f"The fit did not end, but {report.spent:.1%} of its budget is spent, "
                "and counts.",
                err=True,
            )
        raise
