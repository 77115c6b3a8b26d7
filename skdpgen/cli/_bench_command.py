"""``skdpgen bench``: what methods are worth on tables, run in cells that are kept."""

import sys
from pathlib import Path
from typing import Any

import click

from skdpgen.cli._options import FILE, FOLDER

NOT_PRIVATE = (
    "Scores and distances read real rows and stand outside the guarantee; of a table "
    "that is private, so is what was written."
)


class RunFirst(click.Group):
    """A group whose first part is meant where none is named."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put `run` before what names no part."""
        if args and args[0] not in {*self.commands, *ctx.help_option_names}:
            args = ["run", *args]
        return super().parse_args(ctx, args)


# `python -m benchmarks` of the repository runs `run` and `tables` with a catalogue of
# public tables and of peers as the object of the context; here it is None.
@click.group("bench", cls=RunFirst)
def command() -> None:
    """Measure methods on tables: outside every guarantee.

    \b
      skdpgen bench --data mine.csv --target y [--public theirs.csv]
      skdpgen bench mine.toml --jobs 4 --out FOLDER
      skdpgen bench tables FOLDER_OR_JSONL --into page.md

    A run that was ended goes on by the same command. `skdpgen bench run --help` and
    `skdpgen bench tables --help` have the options.
    """  # noqa: D301 - click wants the character itself


@command.command("run")
@click.argument("config", type=FILE, required=False)
@click.option(
    "--data",
    type=click.Path(exists=True, path_type=Path),
    help="A file of your own; beside CONFIG, the folder of tables that it names.",
)
@click.option("--target", help="Column to predict, of a file of your own.")
@click.option("--public", type=FILE, help="Public rows of the same columns, as --data.")
@click.option("--epsilon", type=float, multiple=True, help="As --target; repeatable.")
@click.option("--releases", type=int, help="As --target; 3 by default.")
@click.option("--jobs", type=int, default=1, show_default=True, help="-1: all cores.")
@click.option("--out", type=FOLDER, help="Folder of the results: bench/NAME.")
@click.option("--retry", is_flag=True, help="Compute again what failed.")
@click.option("--parquet", is_flag=True, help="Write results.parquet, too.")
@click.option("--minutes", type=float, help="Begin no cell after; 0 only collects.")
@click.option("--quiet", is_flag=True, help="No progress, no table.")
@click.pass_context
def run(
    ctx: click.Context,
    /,
    config: Path | None,
    data: Path | None,
    out: Path | None,
    **options: Any,
) -> None:
    """Run the cells of the TOML file CONFIG, or the baseline and DPPairwise on a table.

    With --public, DPPairwise is run with and without public rows, and DPDRE with them.
    Each cell (a table, a method, an epsilon, a release) has a process of its own and
    is kept in the folder of the results when it is finished.
    """
    configuration = _configuration(config, data, options, ctx.obj)
    from skdpgen.benchmark import run_cells, tabulate_rows

    out = out or Path("bench") / configuration.name
    with _Progress(options["quiet"]) as progress:
        rows = run_cells(
            configuration,
            out,
            data=data or Path(),
            n_jobs=options["jobs"],
            retry=options["retry"],
            parquet=options["parquet"],
            debug=bool(ctx.find_root().params.get("debug")),
            minutes=options["minutes"],
            tell=progress.tell,
        )
    if not options["quiet"]:
        click.echo(f"\n{tabulate_rows(rows)}\n")
        click.echo(f"Wrote {out / 'results.jsonl'}. {NOT_PRIVATE}")
        left = progress.left
        if left:
            click.echo(f"{left} cells are not run yet; the same command goes on.")
    if any("error" in row for row in rows):
        click.echo("Cells failed. `--retry` computes these again.", err=True)
        ctx.exit(1)


@command.command("tables")
@click.argument("results", type=click.Path(exists=True, path_type=Path))
@click.option("--into", type=FILE, help="A Markdown page with marks for the tables.")
@click.option("--check", is_flag=True, help="Write nothing; fail if a table differs.")
@click.pass_context
def tables(ctx: click.Context, results: Path, into: Path | None, check: bool) -> None:
    """Make tables of RESULTS: a .jsonl file, or a folder of a run or of such files.

    Between the lines `<!-- bench:NAME -->` and `<!-- /bench -->` of the page goes the
    table of NAME.jsonl, or of the run in the folder NAME.
    """
    if check and into is None:
        raise click.UsageError("--check needs --into: the page to check.")
    from skdpgen.benchmark import fill_page, tabulate_rows

    stored = _stored(results)
    if into is None:
        for name, rows in stored.items():
            click.echo(f"{name}\n\n{tabulate_rows(rows)}\n")
        return
    before = into.read_text(encoding="utf-8")
    after = fill_page(before, stored, ctx.obj)
    if check and after != before:
        raise click.ClickException(
            f"{into} has tables other than those of {results}. Say "
            f"`{ctx.command_path} {results} --into {into}`."
        )
    if not check:
        into.write_text(after, encoding="utf-8")
    click.echo(f"{into} has the tables of {', '.join(stored)}.")


def _configuration(
    config: Path | None, data: Path | None, options: dict[str, Any], catalogue: Any
) -> Any:
    """Return what to run, from a file or from the options for a table."""
    if config is not None:
        if data is not None and not data.is_dir():
            raise click.UsageError(
                f"--data beside CONFIG must be a folder. Got {data}."
            )
        for name in ("target", "public", "epsilon", "releases"):
            if options[name]:
                raise click.UsageError(f"--{name} is for runs without CONFIG.")
        from skdpgen.benchmark import BenchConfig

        return BenchConfig.load(config, catalogue)
    if data is None or data.is_dir() or not options["target"]:
        raise click.UsageError(
            "Name a TOML file, or a table of your own: --data mine.csv --target y."
        )
    from skdpgen.benchmark import PUBLIC_METHODS, BenchConfig

    table = {"path": str(data.absolute()), "target": options["target"]}
    content = {"name": data.name.partition(".")[0], "tables": [table], "delta": "auto"}
    if options["public"]:
        table["public"] = str(options["public"].absolute())
        content["methods"] = PUBLIC_METHODS
    if options["epsilon"]:
        content["epsilons"] = list(options["epsilon"])
    if options["releases"] is not None:
        content["releases"] = options["releases"]
    return BenchConfig.from_dict(content, catalogue=catalogue)


def _stored(results: Path) -> dict[str, Any]:
    """Return rows by the name of their table."""
    if results.is_file():
        files = {results.stem: results}
    elif (results / "results.jsonl").exists():
        files = {results.absolute().name: results / "results.jsonl"}
    else:
        files = {path.stem: path for path in sorted(results.glob("*.jsonl"))}
    if not files:
        raise click.UsageError(
            f"{results} holds no results. A run with `--out {results}` writes some."
        )
    from skdpgen.benchmark import read_rows

    return {name: read_rows(path) for name, path in files.items()}


class _Progress:
    """A bar, and a line for each cell that failed."""

    def __init__(self, is_quiet: bool) -> None:
        self.is_quiet = is_quiet
        self.bar: Any = None
        self.left = 0

    def __enter__(self) -> "_Progress":
        return self

    def __exit__(self, *error: Any) -> None:
        if self.bar is not None:
            self.bar.close()

    def tell(self, done: int, total: int, row: dict[str, Any] | None) -> None:
        """Show how many cells are there, and what went wrong."""
        from tqdm import tqdm

        from skdpgen.utils import progress_bar

        self.left = total - done
        if self.bar is None:
            if done and not self.is_quiet:
                click.echo(f"{done} of {total} cells were there already.")
            self.bar = progress_bar(
                "fits and scores",
                total,
                unit="cells",
                is_shown=not self.is_quiet,
                initial=done,
            )
            return
        self.bar.update(done - self.bar.n if not self.is_quiet else 0)
        if row and "error" in row:
            what = f"{row['table']}, {row['method']}, release {row['release']}"
            tqdm.write(
                f"Failed: {what}: {row['message']}",
                file=sys.stderr,
            )
