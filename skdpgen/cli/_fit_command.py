"""``skdpgen fit``: read private rows once, and save the fitted model."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from difflib import get_close_matches
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import click

from skdpgen.cli._command import About, make_folder, write_model
from skdpgen.cli._options import (
    FILE,
    FOLDER,
    NUMBER,
    SEED,
    TEXT_OPTIONS,
    TextOptions,
    text_options,
)

if TYPE_CHECKING:
    import pandas as pd

    from skdpgen.cli._table_files import TableFile
    from skdpgen.privacy import PrivacyReport
    from skdpgen.tables import Chunks, Schema
    from skdpgen.utils import Rows, Synthesizer


class FitOptions(TextOptions):
    """Options of `skdpgen fit`, except FILE and --out."""

    target: str | None
    epsilon: float
    delta: float | None
    method: str
    schema: Path | None
    table: str | None
    classes: str | None
    task: str
    adjacency: str
    preset: str | None
    settings: Sequence[str]
    seed: int | None
    quiet: bool


@click.command("fit")
@click.argument("file", type=FILE)
@click.option("--out", type=FOLDER, required=True, help="Folder of the model.")
@click.option("--target", help="Column that models are to predict, if there is one.")
@click.option("--epsilon", type=NUMBER, default=1.0, show_default=True)
@click.option("--delta", type=NUMBER, help="Default: far below 1 / rows.")
@click.option(
    "--method",
    default="pairwise",
    show_default=True,
    help="pairwise, independent, merf, ...: DP...Synthesizer.",
)
@click.option(
    "--schema",
    type=FILE,
    help="What is public: TOML (skdpgen schema), SDV metadata or a Table Schema.",
)
@click.option("--table", help="Table that is meant if the schema describes several.")
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
    "--preset",
    type=click.Choice(["paper"]),
    help="Start from the settings of the paper that the method comes from.",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="Any parameter without an option of its own; may be repeated.",
)
@click.option("--seed", type=SEED, help="Of public randomness; never of the noise.")
@click.option("--quiet", is_flag=True, help="No progress, no certificate.")
def command(file: Path, out: Path, **options: Unpack[FitOptions]) -> None:
    """Learn FILE (.csv, .tsv, .parquet, .arrow, or .npz of images), privately.

    Cells of a CSV are read as text, whatever they hold: what they are is found out
    privately, or said by a schema. Each fit of the same rows costs its own epsilon.
    """
    is_images = file.name.lower().endswith(".npz")
    synthesizer = make_synthesizer(options, "images" if is_images else "table")
    from skdpgen.cli._table_files import TableFile, image_chunks, kind_of
    from skdpgen.tables import Schema

    if kind_of(file) == ".npz":
        _refuse_for_images(options)
        description, rows = About([], None, False, is_image=True), image_chunks(file)
    else:
        table = TableFile(
            file,
            options["separator"],
            options["decimal"],
            options["encoding"],
            options["multiline"],
            options["missing"],
        )
        schema = Schema()
        if options["schema"]:
            schema = read_schema(options["schema"], options["target"], options["table"])
        names = check_columns(table, options["target"], schema)
        if table.is_text:
            refuse_rows_as_names(file, names, schema)
        description = About(
            names,
            options["target"],
            table.is_text,
            decimal=table.decimal,
            separator=table.separator,
            encoding=table.encoding,
            multiline=table.multiline,
            missing=list(table.missing),
        )
        rows = private_rows(table, description, schema, options["task"], synthesizer)
    make_folder(out)
    _fit(synthesizer, rows)
    write_model(out, synthesizer, description)
    if description.is_text and options["encoding"] is None:
        _warn_of_encoding(synthesizer)
    if not options["quiet"]:
        click.echo(synthesizer.privacy_)
        click.echo(f"Wrote {out}. Next: skdpgen sample {out} -o synthetic.csv")


OPTION_OF = {  # parameters with an option of their own; --set takes the others
    "epsilon": "--epsilon",
    "delta": "--delta",
    "task": "--task",
    "adjacency": "--adjacency",
    "classes": "--classes",
    "random_state": "--seed",
    "schema": "--schema",
    "verbose": "--quiet",
}


def make_synthesizer(options: FitOptions, data: str = "table") -> Synthesizer:
    """Return the synthesizer of ``--method``, with its parameters."""
    import skdpgen

    methods = {
        name.removeprefix("DP").removesuffix("Synthesizer").lower(): name
        for name in skdpgen.__all__
        if name.startswith("DP")
    }
    if options["method"] not in methods:
        raise click.UsageError(
            f"--method must be one of {', '.join(methods)}. Got {options['method']!r}."
        )
    params: dict[str, Any] = {
        "epsilon": options["epsilon"],
        "task": options["task"],
        "adjacency": options["adjacency"],
        "random_state": options["seed"],
        "verbose": 0 if options["quiet"] else 1,
    }
    if options["delta"] is not None:
        params["delta"] = options["delta"]
    if options["classes"]:
        params["classes"] = [label.strip() for label in options["classes"].split(",")]
    params |= dict(map(_setting, options["settings"]))
    method = getattr(skdpgen, methods[options["method"]])
    from skdpgen.synthesizers.base import parameter_names

    parameters = parameter_names(method())
    unknown = sorted(set(params) - set(parameters))
    if unknown:
        near = [name for name in parameters if name.endswith(f"__{unknown[0]}")]
        near = near or get_close_matches(unknown[0], parameters, n=1)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise click.UsageError(
            f"{method.__name__} has no parameter {', '.join(unknown)}.{hint} It has "
            f"{', '.join(parameters)}."
        )
    try:
        synthesizer: Any = _with_preset(method, params, options["preset"], data)
        synthesizer._validate_params()
    except ValueError as error:
        raise click.UsageError(_of_options(str(error))) from None
    return synthesizer


def _with_preset(
    method: Any, params: Mapping[str, Any], preset: str | None, data: str
) -> Synthesizer:
    """Return the method with parameters, on top of those of a preset."""
    if preset is None:
        return method().set_params(**params)
    if not hasattr(method, "from_preset"):
        raise click.UsageError(f"{method.__name__} has no --preset: no paper has it.")
    return method.from_preset(preset, data=data, **params)


def _of_options(message: str) -> str:
    """Return the message about a parameter, with the option that sets it.

    Examples
    --------
    >>> _of_options("The 'epsilon' parameter of DPMERFSynthesizer must be a float.")
    '--epsilon must be a float.'
    >>> _of_options("The 'max_iter' parameter of Generator must be an int.")
    '--set generator__max_iter must be an int.'
    """

    def option(found: re.Match[str]) -> str:
        name, owner = found.groups()
        if owner in ("Generator", "Discriminator"):
            return f"--set {owner.lower()}__{name}"
        return OPTION_OF.get(name, f"--set {name}")

    return re.sub(r"The '(\w+)' parameter of (\w+)", option, message)


def _setting(text: str) -> tuple[str, Any]:
    """Return a parameter and its value: JSON, or text if it is none."""
    name, equals, value = text.partition("=")
    name = name.strip()
    if not equals:
        raise click.UsageError(
            f"--set takes NAME=VALUE, as generator__max_iter=100. Got {text!r}."
        )
    if name in OPTION_OF:  # two values of one parameter could contradict each other
        raise click.UsageError(
            "--set must name a parameter that has no option of its own. Got "
            f"{text!r}; use {OPTION_OF[name]} instead."
        )
    try:
        return name, json.loads(value)
    except json.JSONDecodeError:
        return name, value


def read_schema(
    path: Path,
    target: str | None = None,
    table: str | None = None,
    *,
    is_detected: bool = True,
    has_open: bool = False,
) -> Schema:
    """Read what is public of a file: our TOML or JSON, or JSON of another tool.

    Of other tools' files the column that is the target is described as such, and
    columns without bounds or categories are left to discovery, unless ``has_open``.
    """
    from skdpgen.tables import Schema, format_of, read_json, take_out_target

    if path.suffix == ".toml":
        try:
            return Schema.load(path)
        except ValueError as error:
            text = str(error).removeprefix(f"{path} ")
            raise click.UsageError(f"{path}: {text}") from None
    content = read_json(path, "A schema that is no .toml file")
    kind = format_of(content)
    if kind == "skdpgen":
        return Schema.from_dict(content)
    read = Schema.from_sdv if kind == "sdv" else Schema.from_frictionless
    schema = read(content, table=table, detected=is_detected)
    if target in schema.columns and schema.target is None:
        columns, column = take_out_target(schema.columns, target)
        schema = replace(schema, columns=columns, target=column)
    for line in schema.origin.splitlines():
        click.echo(f"Warning: {path}: {line}. Certificates say so.", err=True)
    return schema if has_open else known_schema(schema)


def known_schema(schema: Schema) -> Schema:
    """Return a schema without columns that are open, and say which are discovered."""
    names = schema.unfilled()
    if names:
        listed = ", ".join(names)
        click.echo(f"Without bounds or categories, so discovered: {listed}.", err=True)
    return schema.known()


def check_columns(table: TableFile, target: str | None, schema: Schema) -> list[str]:
    """Return the columns of a file; raise if what was said does not fit to them."""
    names = table.columns
    if target is not None and target not in names:
        raise click.UsageError(
            f"--target must be a column of {table.path}. Got {target!r}; there are "
            f"{', '.join(names)}."
        )
    # of a schema some columns may be left out, but none may be invented
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


NUMBER_OR_DATE = re.compile(r"\s*[+-]?\d[\d.,/-]*\s*")
DATE = re.compile(r"\s*(\d{4})[-/.](\d{1,2})(?:[-/.](\d{1,2}))?\s*")


def refuse_rows_as_names(path: Path, names: Sequence[str], schema: Schema) -> None:
    """Raise if the first line may be a row: names are public, and are published.

    Numbers and dates are names if a schema has them, or if three or more increase by
    equal steps from left to right, as years, months or pixels do. The message does not
    quote them.

    Examples
    --------
    >>> from skdpgen.tables import Schema
    >>> refuse_rows_as_names(Path("a.csv"), ["land", "2019", "2020", "2021"], Schema())
    """
    known = {str(name) for name in schema.columns}
    odd = [n for n in names if NUMBER_OR_DATE.fullmatch(n) and n not in known]
    if not odd or odd == [str(i) for i in range(len(names))]:
        return
    if len(odd) < 3 or not is_even_series(odd):
        raise click.UsageError(
            f"The first line of {path} must hold the names of columns, which are "
            "published. It holds numbers or dates, so it may be a row: put a line of "
            "names above it. If they are names, describe those columns in a schema."
        )


def is_even_series(names: Sequence[str]) -> bool:
    """Return whether numbers, days or months increase by equal steps.

    Examples
    --------
    >>> is_even_series(["2000", "2005", "2010"]), is_even_series(["28", "2012", "9000"])
    (True, False)
    >>> is_even_series(["2024-11", "2024-12", "2025-01"])
    True
    """
    dates = [match for match in map(DATE.fullmatch, names) if match is not None]
    try:
        if len(dates) < len(names):
            return _is_even([Fraction(name.strip()) for name in names])
        days = [date(*(int(part or 1) for part in found.groups())) for found in dates]
    except (ValueError, ZeroDivisionError):
        return False
    months = [12 * day.year + day.month for day in days]
    is_same_day = len({day.day for day in days}) == 1
    return _is_even([d.toordinal() for d in days]) or (is_same_day and _is_even(months))


def _is_even(numbers: Sequence[Fraction | int]) -> bool:
    steps = {after - before for before, after in pairwise(numbers)}
    return len(steps) == 1 and steps.pop() > 0


MANY_MISSING = 0.2


def _warn_of_encoding(synthesizer: Synthesizer) -> None:
    """Say where many cells are missing, by released counts: bytes may be no UTF-8."""
    columns = synthesizer.columns_
    if "missing" not in columns:
        return
    lowest = columns["missing"] - 2 * columns["missing_noise"]
    shares = columns["missing"][lowest > MANY_MISSING]
    if len(shares):
        shares = shares.clip(upper=1.0)  # noise can lift a count above all rows
        listed = ", ".join(f"{name} (about {v:.0%})" for name, v in shares.items())
        click.echo(
            f"Warning: Many cells are missing: {listed}. If they are not empty in the "
            "file, it is not UTF-8: say how it is written, as --encoding cp1252. "
            "Another fit costs its epsilon again.",
            err=True,
        )


def private_rows(
    table: TableFile,
    description: About,
    schema: Schema,
    task: str,
    synthesizer: Synthesizer,
) -> Chunks:
    """Return the rows in pieces, and set the schema of the synthesizer."""
    from skdpgen.cli._text_records import schema_of_text, target_of_text
    from skdpgen.tables import Chunks

    # columns of a schema are in the order of the file, as a fit wants them
    order = [name for name in description.columns if name in schema.columns]
    schema = type(schema).from_dict(
        schema.to_dict() | {"columns": {name: schema.columns[name] for name in order}}
    )
    is_text = table.is_text
    synthesizer.set_params(schema=schema_of_text(schema) if is_text else schema)

    def split(piece: pd.DataFrame) -> Rows:
        if description.target is None:
            return piece
        y = piece.pop(description.target)  # only the features remain in `piece`
        if table.is_text:
            y = target_of_text(y, schema, task)
        return piece, y

    def opened() -> Iterator[Rows]:
        return map(split, table.pieces())

    # columns and dtypes come from the header only
    return Chunks(opened, like=split(next(table.pieces(0))))


def _refuse_for_images(options: Mapping[str, object]) -> None:
    for name in ("target", "schema", "table", *TEXT_OPTIONS):
        if options[name] and options[name] != ".":  # the default of --decimal
            raise click.UsageError(f"--{name} is for tables. An .npz holds images.")


def _fit(synthesizer: Synthesizer, rows: Chunks) -> None:
    """Fit; an interrupted fit reports the budget that it used."""
    try:
        synthesizer.fit(rows)
    except BaseException:
        report: PrivacyReport | None = getattr(synthesizer, "privacy_", None)
        if report is not None:
            click.echo(
                f"The fit did not end, but {report.spent:.1%} of its budget is spent, "
                "and counts.",
                err=True,
            )
        raise
