"""``skdpgen demo``: from a made-up private file to a report, in a minute."""

from pathlib import Path

import click

from skdpgen.cli._options import FOLDER

N_ROWS = 10_000


@click.command("demo")
@click.option("--out", type=FOLDER, default=Path("skdpgen-demo"), show_default=True)
@click.pass_context
def command(ctx: click.Context, out: Path) -> None:
    """Make up a private table, fit it, sample, and write a report."""
    from skdpgen.cli import _fit_command, _report_command, _sample_command
    from skdpgen.datasets import load_example

    if out.exists():
        raise click.UsageError(f"{out} is there already. Delete it, or say --out.")
    out.mkdir(parents=True)
    files = {name: out / f"{name}.csv" for name in ("private", "test", "synthetic")}
    for seed, (name, n_rows) in enumerate({"private": N_ROWS, "test": 2_500}.items()):
        X, y = load_example(n_rows, random_state=seed)
        X.assign(status=y).to_csv(files[name], index=False)
    click.echo(
        f"The private table: {files['private']}, {N_ROWS:,} made-up customers.\n"
    )
    public = {"target": "status", "classes": "left,stayed"}
    ctx.invoke(_fit_command.command, file=files["private"], out=out / "model", **public)
    ctx.invoke(_sample_command.command, model=out / "model", out=files["synthetic"])
    page = out / "report.html"
    rows = {"real": files["private"], "test": files["test"]}
    ctx.invoke(_report_command.command, model=out / "model", out=page, **rows)
    click.echo(f"Open {page.absolute().as_uri()} in a browser.")
