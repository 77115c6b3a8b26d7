"""``skdpgen sample``: synthetic rows from a model, as many as wanted."""

from pathlib import Path

import click
import numpy as np

from skdpgen.cli._fit_command import FOLDER
from skdpgen.cli._model_folder import read_model
from skdpgen.cli._table_files import TEXT, check_writable, kind_of, write_table


@click.command("sample")
@click.argument("model", type=FOLDER)
@click.option(
    "-n", "--rows", type=click.IntRange(1), help="Default: as many as fitted."
)
@click.option(
    "-o",
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    required=True,
    help=".csv, .tsv, .parquet, .feather; .npz for images.",
)
@click.option("--seed", type=int, help="The same seed gives the same rows.")
def command(model: Path, rows: int | None, out: Path, seed: int | None) -> None:
    """Draw synthetic rows from the folder MODEL. It is free, at any time."""
    from skdpgen.cli._as_text import typed

    synthesizer, about = read_model(model)
    check_writable(out, images=about.is_image)
    drawn = synthesizer.sample(rows, random_state=seed)
    X, y = drawn if isinstance(drawn, tuple) else (drawn, None)
    if about.is_image:
        arrays = {"x": X} if y is None else {"x": X, "y": y}
        np.savez_compressed(out, **arrays)
    else:
        if y is not None:
            X = X.assign(**{about.target: np.asarray(y)})
        X = X[about.columns]
        if about.is_text and kind_of(out) not in TEXT:
            X = typed(X, synthesizer)
        write_table(X, out)
    click.echo(f"Wrote {len(X)} synthetic rows to {out}.")
