"""``skdpgen sample``: synthetic rows from a model, as many as wanted."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from skdpgen.cli._command import About, read_model
from skdpgen.cli._options import MODEL_FOLDER, NEW_FILE_OR_PRINTED, SEED

if TYPE_CHECKING:
    import pandas as pd

    from skdpgen.utils import Synthesizer

PLAIN = re.compile(r"\s*[+-]?\d+\.\d+(?:[eE][+-]?\d+)?\s*")  # no unit, no groups


@click.command("sample")
@click.argument("model", type=MODEL_FOLDER)
@click.option(
    "-n", "--rows", type=click.IntRange(1), help="Default: as many as fitted."
)
@click.option(
    "-o",
    "--out",
    type=NEW_FILE_OR_PRINTED,
    required=True,
    help=".csv, .tsv, .parquet, .feather; .npz for images; - prints a CSV.",
)
@click.option(
    "--croissant",
    is_flag=True,
    help="Describe --out, with its guarantee, in a .croissant.json beside it.",
)
@click.option("--seed", type=SEED, help="The same seed gives the same rows.")
@click.option("--quiet", is_flag=True, help="No progress.")
def command(
    model: Path,
    rows: int | None,
    out: Path,
    croissant: bool,
    seed: int | None,
    quiet: bool,
) -> None:
    """Draw synthetic rows from the folder MODEL. It is free, at any time."""
    synthesizer, description = read_model(model)
    import numpy as np
    import pandas as pd

    from skdpgen.cli._table_files import (
        TEXT_ENDINGS,
        TableWriter,
        check_writable,
        kind_of,
    )
    from skdpgen.cli._text_records import typed
    from skdpgen.utils import progress_bar

    check_writable(out, images=description.is_image)
    if croissant and (description.is_image or str(out) == "-"):
        raise click.UsageError("--croissant is for tables that are written to a file.")
    if description.is_image:
        sample = synthesizer.sample(rows, random_state=seed)
        X, y = sample if isinstance(sample, tuple) else (sample, None)
        np.savez_compressed(out, **({"x": X} if y is None else {"x": X, "y": y}))
        click.echo(f"Wrote {len(X)} synthetic rows to {out}.")
        return
    is_printed = str(out) == "-"
    n_rows = synthesizer.n_samples_ if rows is None else rows
    bar = progress_bar("sampling", n_rows, unit="rows", is_shown=not quiet)
    with bar, TableWriter(out) as file:
        for piece in synthesizer.iter_sample(rows, random_state=seed):
            X, y = piece if isinstance(piece, tuple) else (piece, None)
            if y is not None:
                assert description.target is not None  # as there are labels
                X = X.assign(**{description.target: pd.Series(y).array})
            X = X[description.columns]  # in the order of the file, with the target
            if description.is_text and not (is_printed or kind_of(out) in TEXT_ENDINGS):
                X = _of_one_type(typed(X, synthesizer), synthesizer)
            elif description.decimal != ".":
                X = _with_decimal(X, synthesizer, description)
            file.add(X)
            bar.update(len(X))
    if not is_printed:
        click.echo(f"Wrote {file.n_rows} synthetic rows to {out}.")
    if croissant:
        _describe(synthesizer, description, out)


def _describe(synthesizer: Synthesizer, description: About, out: Path) -> None:
    """Write the description of a synthetic file beside it."""
    from skdpgen.report import croissant_path, write_croissant

    write_croissant(
        synthesizer, out, target=description.target, decimal=description.decimal
    )
    click.echo(
        f"Wrote {croissant_path(out)}. Add license, url, creator and datePublished "
        "before you publish it."
    )


def _with_decimal(
    X: pd.DataFrame, synthesizer: Synthesizer, description: About
) -> pd.DataFrame:
    """Return text whose numbers have the decimal mark of the file that was fitted."""
    types = synthesizer.columns_["type"].to_dict()
    names = {name for name, kind in types.items() if kind in ("Integer", "Numeric")}
    if synthesizer.task_ == "regression":
        names.add(description.target)
    for name in names & set(X.columns):
        texts = {v: _with_mark(str(v), description.decimal) for v in X[name].dropna()}
        X[name] = X[name].map(texts).astype(object)
    return X


def _with_mark(text: str, decimal: str) -> str:
    """Return a plain number with a decimal mark; other forms have their own already.

    Examples
    --------
    >>> _with_mark("84.5", ","), _with_mark("1.234,50 €", ",")
    ('84,5', '1.234,50 €')
    """
    return text.replace(".", decimal) if PLAIN.fullmatch(text) else text


def _of_one_type(X: pd.DataFrame, synthesizer: Synthesizer) -> pd.DataFrame:
    """Return numbers that were read from text in the same dtype for all pieces."""
    for name, kind in synthesizer.columns_["type"].items():
        if name in X and kind in ("Integer", "Numeric"):
            X[name] = X[name].astype("Int64" if kind == "Integer" else "float64")
    return X
