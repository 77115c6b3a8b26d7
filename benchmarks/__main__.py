"""``python -m benchmarks``: what reproduces papers, runs peers and measures speed."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import click
import pandas as pd

from benchmarks import national2019, targets, triples
from benchmarks.catalogue import CATALOGUE
from benchmarks.devices import compare_devices
from benchmarks.fit_costs import AXES, fit_costs, tabulate_costs
from benchmarks.image_sets import N_SAMPLES, QUICK, measure_images
from benchmarks.large_tables import run_large, run_wide
from benchmarks.papers import (
    NAMES,
    PAGES,
    draw_figures,
    fill_paper_page,
    run_paper,
    runs_of,
    store_rows,
    usual_runs,
)
from benchmarks.peer_runner import PEERS
from benchmarks.peers import install_peer, python_in
from benchmarks.private_steps import step_costs
from benchmarks.public_lenses import with_lens
from benchmarks.speed import speed_table
from skdpgen.benchmark._measure_cell import with_settings
from skdpgen.benchmark._result_tables import markdown
from skdpgen.cli._bench_command import run, tables
from skdpgen.metrics import CLASSIFIERS, SyntheticUtility
from skdpgen.synthesizers import all_synthesizers
from skdpgen.utils import pick_device

FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
FILE = click.Path(dir_okay=False, path_type=Path)
TABLE_METHODS = (
    "DPIndependentSynthesizer",
    "DPPairwiseSynthesizer",
    "DPMERFSynthesizer",
    "DPHPSynthesizer",
    "DPNTKSynthesizer",
    "DPMGESynthesizer",
)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.pass_context
def main(ctx: click.Context) -> None:
    """Measure skdpgen on public tables and images, beside papers and peers.

    \b
      python -m benchmarks run benchmarks/results/tables/tables.toml --data FOLDER
      python -m benchmarks tables benchmarks/results/tables --into benchmarks/benchmarks.md
      python -m benchmarks peers install mst
      python -m benchmarks images mnist --data FOLDER --epsilon 1 --epsilon 10
      python -m benchmarks fits DPMERFSynthesizer --axes rows

    `run` and `tables` are those of `skdpgen bench`, which know public tables here.
    """  # noqa: D301, E501 - click wants the character itself, and lines as they are
    ctx.obj = CATALOGUE


main.add_command(run)
main.add_command(tables)


@main.group()
def nist() -> None:
    """Fit NIST's table national2019, and print NIST's scores beside ours.

    \b
      python -m benchmarks nist run --data FOLDER
      python -m benchmarks nist peers --data FOLDER
      python -m benchmarks nist page
    """  # noqa: D301 - click wants the character itself


@nist.command("run")
@click.option("--data", type=FOLDER, required=True, help="Folder of the public data.")
def run_nist(data: Path) -> None:
    """Append releases and scores of sub-samples to the stored rows."""
    table = national2019.read_table(data)
    national2019.store("subsamples", national2019.sub_samples(table))
    national2019.store("national2019", national2019.releases(table))


@nist.command("peers")
@click.argument("names", nargs=-1, type=click.Choice(list(national2019.BESIDE_PEERS)))
@click.option("--data", type=FOLDER, required=True, help="Folder of the public data.")
def run_nist_beside_peers(names: tuple[str, ...], data: Path) -> None:
    """Append releases of NAMES, or of MST, ours and AIM, to the stored rows."""
    names = names or tuple(national2019.BESIDE_PEERS)
    table = national2019.read_table(data)
    table = table[national2019.COLUMNS["all, 24"].split()]
    national2019.store("peers", national2019.peer_releases(table, names))


@nist.command("page")
def fill_nist() -> None:
    """Make the tables of the page from stored rows."""
    page = national2019.PAGE.read_text(encoding="utf-8")
    national2019.PAGE.write_text(national2019.filled(page), encoding="utf-8")


@main.group()
def paper() -> None:
    """Run the experiments of a paper, and print ours beside theirs.

    \b
      python -m benchmarks paper run dp_merf --data FOLDER --jobs 2
      python -m benchmarks paper page dp_merf
    """  # noqa: D301 - click wants the character itself


@paper.command("run")
@click.argument("name", type=click.Choice(NAMES))
@click.option("--data", type=FOLDER, required=True, help="Folder of the public data.")
@click.option("--out", type=click.Path(path_type=Path), help="Cells: bench/NAME.")
@click.option("--jobs", type=int, default=2, show_default=True, help="Cells at a time.")
@click.option("--minutes", type=float, help="Begin no cell after; 0 only collects.")
@click.option("--releases", type=click.IntRange(1), help="Of each setting, at most.")
@click.option("--store", is_flag=True, help="Keep the rows of which pages are made.")
@click.option("--run", "only", multiple=True, help="A run to compute, as of a table.")
@click.option(
    "--gpu/--no-gpu",
    "with_gpu_runs",
    default=None,
    help="Do runs that take hours without a GPU. Default: if there is one.",
)
def run_one(
    name: str,
    data: Path,
    out: Path | None,
    jobs: int,
    minutes: float | None,
    releases: int | None,
    store: bool,
    only: tuple[str, ...],
    with_gpu_runs: bool | None,
) -> None:
    """Compute the cells of a paper that are not there; the same command goes on."""
    names = [run.name for run in runs_of(name)]
    for unknown in sorted({*only}.difference(names)):
        raise click.BadParameter(
            f"{unknown!r} is none of {name}: {', '.join(names)}", param_hint="--run"
        )
    if with_gpu_runs is None:
        with_gpu_runs = pick_device("auto").type == "cuda"
    if not only:
        only = tuple(usual_runs(name, on_gpu=with_gpu_runs))
        explaining = {*names}.difference(usual_runs(name, on_gpu=True))
        left_out = {
            "without a GPU (--gpu)": {*names}.difference(only, explaining),
            "because they only explain tables (--run)": explaining,
        }
        for why, runs in left_out.items():
            if runs:
                click.echo(f"Left out {why}: {', '.join(sorted(runs))}")
    last: dict[str, int] = {}

    def tell(run: str, n_done: int, n_all: int) -> None:
        if last.get(run) != n_done:
            click.echo(f"{name} {run}: {n_done} of {n_all} cells")
        last[run] = n_done

    rows = run_paper(
        name,
        data,
        out or Path("bench") / name,
        n_jobs=jobs,
        minutes=minutes,
        releases=releases,
        only=only,
        tell=tell,
    )
    failed = [row for lines in rows.values() for row in lines if "error" in row]
    for row in failed:
        click.echo(f"Failed: {row['table']}, {row['name']}: {row['message']}", err=True)
    if store:
        store_rows(name, rows, data)


@paper.command("page")
@click.argument("names", nargs=-1, type=click.Choice(NAMES))
@click.option("--check", is_flag=True, help="Write nothing; fail if a table differs.")
def fill(names: tuple[str, ...], check: bool) -> None:
    """Make the tables of pages from stored rows: of NAMES, or of all papers."""
    for name in names or NAMES:
        path = PAGES / f"{name}.md"
        before = path.read_text(encoding="utf-8")
        after = fill_paper_page(before, name)
        if check and before != after:
            raise click.ClickException(f"{path} has other tables than the stored rows.")
        if not check:
            path.write_text(after, encoding="utf-8")
            draw_figures(name)


@main.group()
def peers() -> None:
    """Install what methods are compared with, each in an environment of its own.

    They are MST, AIM and PrivBayes of dpmm, and two GANs of SmartNoise. Nothing of
    ours depends on them, and they never meet our packages. SKDPGEN_PEERS names a
    folder other than the user's cache.
    """


@peers.command("install")
@click.argument("names", nargs=-1, required=True, type=click.Choice(list(PEERS)))
def install(names: tuple[str, ...]) -> None:
    """Make the environments of peers anew; some of them share one."""
    for package in dict.fromkeys(PEERS[name][0] for name in names):
        peer = next(name for name in names if PEERS[name][0] == package)
        folder = install_peer(peer)
        has = ", ".join(name for name in PEERS if PEERS[name][0] == package)
        click.echo(f"{folder} has {package}: {has}.")


@peers.command("list")
def list_peers() -> None:
    """Say which peers there are, and which are installed."""
    for peer, (package, *_) in PEERS.items():
        python = python_in(package)
        where = python.parent.parent if python.exists() else "not installed"
        click.echo(f"{peer}: {package}, {where}")


@main.command()
@click.argument("names", nargs=-1, required=True, metavar="NAMES...")
@click.option("--data", type=FOLDER, default=".", help="Folder of the .npz files.")
@click.option("--synthesizer", default="DPMGESynthesizer", show_default=True)
@click.option("--epsilon", type=float, multiple=True, default=[1.0], help="Repeatable.")
@click.option("--adjacency", default="replace", show_default=True)
@click.option("--releases", type=int, default=5, show_default=True)
@click.option("--jobs", type=int, default=1, show_default=True)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="A parameter, as JSON or a word; repeatable.",
)
@click.option(
    "--models",
    type=click.Choice(["quick", "all"]),
    default="quick",
    help="Three models, or twelve and a CNN.",
)
@click.option("--pictures", type=FOLDER, help="A folder for grids of images.")
@click.option("--output", type=FILE, help="A .jsonl file to append to.")
def images(
    names: tuple[str, ...],
    data: Path,
    synthesizer: str,
    epsilon: tuple[float, ...],
    adjacency: str,
    releases: int,
    jobs: int,
    settings: tuple[str, ...],
    models: str,
    pictures: Path | None,
    output: Path | None,
) -> None:
    """Measure a method on the sets of images NAMES, with pictures."""
    method = all_synthesizers()[synthesizer]
    given = with_lens(read_settings(settings))
    make = partial(with_settings, method, given, "images")
    classifiers = [*CLASSIFIERS["images"], "cnn"]
    utility = SyntheticUtility(
        classifiers=QUICK if models == "quick" else classifiers,
        n_samples=N_SAMPLES,
        n_jobs=jobs,
    )
    runs = []
    for name in names:
        for row in measure_images(
            data / f"{name}.npz",
            {synthesizer: make},
            utility,
            epsilons=list(epsilon),
            n_releases=releases,
            adjacency=adjacency,
            picture=pictures,
        ):
            runs.append(row)
            short = {
                k: round(v, 4) if isinstance(v, float) else v for k, v in row.items()
            }
            click.echo(short)
            _append(output, row)
    keys = ["set", "method", "epsilon", "adjacency"]
    numbers = pd.DataFrame(runs).drop(columns="release")
    means = numbers.groupby(keys, dropna=False, sort=False).mean(numeric_only=True)
    click.echo(markdown(means.reset_index()))


@main.command()
@click.option(
    "--data", type=FOLDER, default=".", help="Folder of adult, if it is there."
)
def speed(data: Path) -> None:
    """Measure seconds of fits and releases, and memory."""
    click.echo(markdown(speed_table(data)))


@main.command()
@click.argument("methods", nargs=-1, metavar="[METHODS]...")
@click.option(
    "--axes",
    type=click.Choice(list(AXES)),
    multiple=True,
    default=list(AXES),
    help="What to vary; repeatable.",
)
@click.option(
    "--timeout", type=float, default=1200.0, help="Seconds that a fit may take."
)
@click.option("--output", type=FILE, help="A .jsonl file to append to.")
def fits(
    methods: tuple[str, ...], axes: tuple[str, ...], timeout: float, output: Path | None
) -> None:
    """Measure what fits cost by rows, columns and classes: of METHODS, or of six."""
    rows = []
    for row in fit_costs(methods or TABLE_METHODS, axes, timeout):
        click.echo(row)
        _append(output, row)
        rows.append(row)
    click.echo(tabulate_costs(rows))


@main.command("triples")
@click.option("--data", type=FOLDER, help="Folder of the public data.")
def bound_triples(data: Path | None) -> None:
    """Bound what counts of three columns could gain; without data, fill the page."""
    if data is not None:
        for row in triples.bounds(data):
            click.echo(row)
            _append(triples.ROWS, row)
    page = triples.PAGE.read_text(encoding="utf-8")
    triples.PAGE.write_text(triples.filled(page), encoding="utf-8")


@main.command("targets")
def compare_with_targets() -> None:
    """Fill the page with what was asked of DP-Pairwise, and what stored rows show."""
    page = targets.PAGE.read_text(encoding="utf-8")
    targets.PAGE.write_text(targets.filled(page), encoding="utf-8")


@main.command()
@click.argument("methods", nargs=-1)
@click.option("--data", type=FOLDER, required=True, help="Folder of mnist.npz.")
@click.option("--output", type=FILE, help="A .jsonl file to append to.")
def devices(methods: tuple[str, ...], data: Path, output: Path | None) -> None:
    """Measure fits on a GPU and on a processor: of METHODS, or of all that train."""
    rows = []
    for row in compare_devices(data, methods):
        click.echo(row)
        _append(output, row)
        rows.append(row)
    click.echo(markdown(pd.DataFrame(rows).fillna("").set_index("method")))


@main.command()
def steps() -> None:
    """Measure a step of private descent, beside opacus where that is installed."""
    click.echo(markdown(pd.DataFrame(step_costs())))


@main.command()
@click.argument("what", type=click.Choice(["make", "fit", "sample"]))
@click.argument("folder")
@click.argument("rest", nargs=-1)
def large(what: str, folder: str, rest: tuple[str, ...]) -> None:
    """Make a folder of Parquet, fit it, or draw many rows.

    \b
      large make FOLDER 10_000_000
      large fit FOLDER baseline
      large sample FOLDER baseline 10_000_000 rows.parquet
    """  # noqa: D301 - click wants the character itself
    run_large(what, folder, *rest)


@main.command()
@click.argument("axis", type=click.Choice(["columns", "classes", "categories"]))
@click.argument("size")
@click.argument("method")
@click.argument("rest", nargs=-1)
def wide(axis: str, size: str, method: str, rest: tuple[str, ...]) -> None:
    """Fit a table of many columns, classes or categories once, and draw from it.

    After the method (baseline, pairwise or merf) may stand `public` and an epsilon.
    """
    run_wide(axis, size, method, *rest)


def read_settings(pairs: tuple[str, ...]) -> dict[str, Any]:
    """Return parameters of `NAME=VALUE`.

    Examples
    --------
    >>> read_settings(("algorithm=per_step", "generator__max_iter=3", "sizes=[8, 8]"))
    {'algorithm': 'per_step', 'generator__max_iter': 3, 'sizes': [8, 8]}
    """
    return {name: _value(text) for name, text in (pair.split("=", 1) for pair in pairs)}


def _value(text: str) -> Any:
    """Read JSON; what is not JSON is a string, as in `algorithm=per_step`."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


def _append(output: Path | None, row: dict[str, Any]) -> None:
    if output:
        with output.open("a") as file:
            file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
