"""``skdpgen report``: a page about a model, and the same as data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, cast

import click
from click.core import ParameterSource

from skdpgen.cli._command import About, read_model
from skdpgen.cli._options import (
    FILE,
    MODEL_FOLDER,
    NEW_FILE,
    TEXT_OPTIONS,
    TextOptions,
    text_options,
)

if TYPE_CHECKING:
    from skdpgen.cli._table_files import TableFile
    from skdpgen.utils import Rows, Synthesizer

FEWEST_ROWS, MOST_ROWS = 5_000, 20_000  # synthetic rows that are compared
IMAGES_COMPARED = 5_000  # of each side
ROWS_KEPT = 4 * MOST_ROWS  # real rows, of a file of any length
NUMBER_COLUMN = "\0number"  # a name that no file has
COMMAND_LINE = ParameterSource.COMMANDLINE


@click.command("report")
@click.argument("model", type=MODEL_FOLDER)
@click.option(
    "-o",
    "--out",
    type=NEW_FILE,
    required=True,
    help="An .html file; the same as data goes beside it, as .json.",
)
@click.option("--real", type=FILE, help="Real rows to compare with: NOT private.")
@click.option("--test", type=FILE, help="Real rows that were not fitted.")
@text_options
@click.option("--quiet", is_flag=True, help="No progress.")
def command(
    model: Path,
    out: Path,
    real: Path | None,
    test: Path | None,
    quiet: bool,
    **text: Unpack[TextOptions],
) -> None:
    """Write a report on the folder MODEL: the guarantee, and the quality of its rows.

    Without --real the report has released values only. It may be published like the
    synthetic rows.
    """
    if out.suffix != ".html":
        raise click.UsageError(
            f"--out must be an .html file. Got {out}; a browser prints it as PDF."
        )
    if test is not None and real is None:
        raise click.UsageError("--test needs --real: the rows that were fitted.")
    synthesizer, description = read_model(model)
    rows = [
        _rows_of(path, part, synthesizer, description, text)
        for part, path in (("train", real), ("test", test))
    ]
    if real is not None and not quiet:
        click.echo("Training models on synthetic and on real rows ...", err=True)
    write_report(synthesizer, description, out, *rows)
    click.echo(f"Wrote {out}, and the same as data: {out.with_suffix('.json')}.")


def _as_in_the_fit(text: TextOptions, description: About) -> TextOptions:
    """Return options of text files; those that were not given are those of the fit."""
    source = click.get_current_context().get_parameter_source
    is_given = {name: source(name) is COMMAND_LINE for name in TEXT_OPTIONS}
    chosen = {
        name: value if is_given[name] else getattr(description, name)
        for name, value in text.items()
    }
    return cast("TextOptions", chosen)


def write_report(
    synthesizer: Synthesizer,
    description: About,
    out: Path,
    real: Rows | None = None,
    test: Rows | None = None,
) -> None:
    """Write the page and, in a second file, its content as JSON.

    Parameters
    ----------
    synthesizer : fitted estimator
    description : About
    out : Path
        An ``.html`` file.
    real, test : table or tuple (X, y) or None
        Real rows as they were read.
    """
    from skdpgen.cli._text_records import typed
    from skdpgen.report import beside_real, report_content, with_real, write_page

    content = report_content(synthesizer)
    if real is not None:
        # few rows make noisy scores, many make training of models slow
        n_rows = min(max(synthesizer.n_samples_, FEWEST_ROWS), MOST_ROWS)
        if description.is_image:
            n_rows = IMAGES_COMPARED
        rows = [synthesizer.sample(n_rows, random_state=0), real, test]
        left_out: list[str] = []
        if not description.is_image:
            left_out = _generated_columns(synthesizer)
            rows = [
                None if part is None else typed(_without(part, left_out), synthesizer)
                for part in rows
            ]
        task = getattr(synthesizer, "task_", None)
        comparison = {**beside_real(*rows, task=task), "left_out": left_out}
        content = with_real(content, comparison)
    write_page(content, out)


def _generated_columns(synthesizer: Synthesizer) -> list[str]:
    """Return the columns whose values were made up: identifiers, numbers, free text.

    None of their synthetic values has a counterpart, so they have no distance, and real
    ones must not be shown.
    """
    types = synthesizer.columns_["type"]
    names = list(types.index[types.isin(["Regenerate", "Drop"])])
    if len(names) == sum(name != "(target)" for name in types.index):
        raise click.UsageError(
            "All columns hold identifiers or free text, so none can be compared. "
            "Leave --real out."
        )
    return names


def _without(rows: Any, names: list[str]) -> Any:
    if isinstance(rows, tuple):
        return _without(rows[0], names), rows[1]
    return rows.drop(columns=[name for name in names if name in rows])


def _rows_of(
    path: Path | None,
    part: str,
    synthesizer: Synthesizer,
    description: About,
    text: TextOptions,
) -> Rows | None:
    if path is None:
        return None
    if description.is_image:
        return _images(path, part, synthesizer)
    from skdpgen.cli._table_files import MARKS, TableFile, kind_of

    as_fitted = _as_in_the_fit(text, description)
    if kind_of(path) in MARKS:  # its ending says what stands between cells
        as_fitted["separator"] = text["separator"]
    return _rows(TableFile(path, **as_fitted), description)


def _images(path: Path, part: str, synthesizer: Synthesizer) -> Rows:
    """Return some images of a file, labelled if those that were fitted were."""
    from skdpgen.cli._table_files import kind_of, some_images

    if kind_of(path) != ".npz":
        raise click.UsageError(
            f"Images were fitted, so {path} must be an .npz of images, too."
        )
    is_labelled = getattr(synthesizer, "classes_", None) is not None
    return some_images(path, part, most=4 * IMAGES_COMPARED, is_labelled=is_labelled)


def _rows(table: TableFile, description: About) -> Rows:
    """Return some rows of a file at random, like those that were fitted."""
    import numpy as np
    import pandas as pd

    absent = [name for name in description.columns if name not in table.columns]
    if absent:
        raise click.UsageError(
            f"{table.path} must have the columns that were fitted. Got it without "
            f"{', '.join(absent)}."
            + (
                " It was read as one column: say --separator if it has another."
                if table.is_text and len(table.columns) == 1
                else ""
            )
        )
    rng, kept = np.random.default_rng(0), None
    # a random number for each row; those with the smallest numbers of all stay
    for piece in table.pieces():
        piece = piece[description.columns].assign(
            **{NUMBER_COLUMN: rng.random(len(piece))}
        )
        kept = pd.concat([kept, piece], ignore_index=True)
        if len(kept) > ROWS_KEPT:
            kept = kept.nsmallest(ROWS_KEPT, NUMBER_COLUMN)
    if kept is None:
        raise click.UsageError(f"{table.path} has no rows to compare with.")
    X = kept.drop(columns=NUMBER_COLUMN).reset_index(drop=True)
    return X if description.target is None else (X, X.pop(description.target))
