"""``skdpgen demo``: what is kept of a made-up table, and what the baseline loses."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from skdpgen.cli._options import FOLDER

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.colors import PowerNorm

    from skdpgen.utils import Synthesizer

    Labelled = tuple[pd.DataFrame, pd.Series]

N_ROWS = 20_000
MODELS = ["logistic_regression", "lda", "gradient_boosting"]
CLASSES = ["left", "stayed"]
# what the demo writes; a folder that holds anything else is left alone
CSV_FILES = {"real": "private.csv", "ours": "synthetic.csv", "baseline": "baseline.csv"}
PICTURE, REPORT, MODEL = "pairs.png", "report.html", "model"
ALL_FILES = {*CSV_FILES.values(), PICTURE, REPORT, "report.json", MODEL}

SUMMARY = """\
The table  {n_rows:,} made-up bank customers: {n_columns} columns, and who left.
Protected  Each customer, at epsilon = {epsilon:g} and delta = {delta:g}: the synthetic
           rows raise the odds of a guess about a customer at most {odds:.1f} times.
The price  Noise in the counts that synthetic rows are computed from. "ours"
           (DPPairwiseSynthesizer) counts pairs of columns, "baseline"
           (DPIndependentSynthesizer) single ones, both at the same epsilon.
"""
EXPLAINED = """
Models are trained on each table and tested on real customers that no fit read.
The table was made so that pairs of columns matter. In your table they may not.
"""


@click.command("demo")
@click.option("--out", type=FOLDER, default=Path("skdpgen-demo"), show_default=True)
@click.option("--models", is_flag=True, help="Print a table of all twelve models.")
@click.pass_context
def command(ctx: click.Context, out: Path, models: bool) -> None:
    """Protect a made-up table, and compare with the independent baseline.

    It prints one screen, and writes the tables, the fitted model, a picture and a
    report. --models takes some minutes.
    """
    from skdpgen import DPIndependentSynthesizer, DPPairwiseSynthesizer
    from skdpgen.cli._command import About, write_model
    from skdpgen.cli._report_command import write_report
    from skdpgen.datasets import load_example

    if out.exists() and not {path.name for path in out.iterdir()} <= ALL_FILES:
        raise click.UsageError(
            f"{out} is there already, with other files. Choose another --out."
        )
    (out / MODEL).mkdir(parents=True, exist_ok=True)
    X, y = load_example(N_ROWS, random_state=0)
    test = load_example(N_ROWS // 4, random_state=1)

    ours = DPPairwiseSynthesizer(1.0, classes=CLASSES, random_state=0).fit(X, y)
    baseline = DPIndependentSynthesizer(1.0, classes=CLASSES, random_state=0)
    baseline.fit(X, y)
    tables = {"real": (X, y), "ours": ours.sample(), "baseline": baseline.sample()}

    for name, (columns, label) in tables.items():
        columns.assign(status=label).to_csv(out / CSV_FILES[name], index=False)
    about = About([*X.columns, "status"], "status", is_text=False)
    write_model(out / MODEL, ours, about)
    write_report(ours, about, out / REPORT)
    click.echo("\n".join(_summary(ours, tables, test)))
    has_picture = _draw_pairs(tables, out / PICTURE)
    click.echo(f"The folder {out}:")
    click.echo(
        f"  {PICTURE:14s} two pairs of columns: real, ours, baseline"
        if has_picture
        else "  no picture: it needs pip install 'skdpgen[plot]'"
    )
    click.echo(f"  {REPORT:14s} the guarantee of our rows, for people; open it with")
    click.echo(f"  {(out / REPORT).absolute().as_uri()}")
    click.echo(
        f"  {CSV_FILES['ours']:14s} our rows, and the other two tables beside them"
    )
    if models:
        _print_models(ours, tables["real"], test)


def _summary(
    ours: Synthesizer, tables: dict[str, Labelled], test: Labelled
) -> list[str]:
    """Return what was protected, at what price, and what was kept."""
    from skdpgen import SyntheticUtility
    from skdpgen.metrics import detection_auc

    X, _ = tables["real"]
    utility = SyntheticUtility(classifiers=MODELS)
    detection, debit, best = [], [], []
    for name, rows in tables.items():
        others = test if name == "real" else rows  # real rows beside other real rows
        detection.append(f"{detection_auc(tables['real'], others):10.2f}")
        debit.append(f"{_share_of_direct_debit(rows[0]):10.0%}")
        best.append(f"{utility.evaluate(rows, *test)['roc_auc'].max():10.2f}")
    promise = SUMMARY.format(
        n_rows=len(X),
        n_columns=X.shape[1],
        epsilon=ours.privacy_.epsilon,
        delta=ours.privacy_.delta,
        odds=math.exp(ours.privacy_.epsilon),
    )
    lines = {
        "What is kept": [f"{name:>10s}" for name in tables],
        "Can a model detect them? (0.5 no, 1 always)": detection,
        "Two-year contracts paid by direct debit": debit,
        "Who leaves? Best of 3 models (0.5 is a guess)": best,
    }
    return [
        promise,
        *(f"{what:46s}" + "".join(cells) for what, cells in lines.items()),
        EXPLAINED,
    ]


def _share_of_direct_debit(X: pd.DataFrame) -> float:
    """Return the share that pays by direct debit, of the two-year contracts."""
    payment = X.loc[X["contract"] == "two years", "payment"]
    return float((payment == "direct debit").mean())


def _print_models(ours: Synthesizer, real: Labelled, test: Labelled) -> None:
    """Print twelve models; the comparison fits both synthesizers again."""
    from skdpgen import compare
    from skdpgen.exceptions import SearchCostWarning

    click.echo(
        "\nROC-AUC of twelve models. Both methods are fitted once more, for this."
    )
    with warnings.catch_warnings(action="ignore", category=SearchCostWarning):
        comparison = compare({"ours": ours}, *real, *test)
    click.echo(comparison)


# ----------------------------------------------------------------------------
# The picture: two pairs of columns, in three tables.


def _draw_pairs(tables: dict[str, Labelled], path: Path) -> bool:
    """Write the picture; without matplotlib, return False."""
    if find_spec("matplotlib") is None:
        return False
    from matplotlib.colors import PowerNorm
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 6), layout="constrained")
    grid = figure.subplots(2, len(tables), sharey="row", sharex="row")
    for row, cut in zip(grid, (_fee_by_products, _late_by_payment), strict=True):
        shares = {name: cut(X) for name, (X, _) in tables.items()}
        highest = max(table.to_numpy().max() for table in shares.values())
        norm = PowerNorm(0.5, vmin=0, vmax=highest)  # so that rare cells show
        for axes, (name, table) in zip(row, shares.items(), strict=True):
            _draw_shares(axes, table, norm)
            axes.set_title(name)
        row[0].set_ylabel(shares["real"].index.name)
    figure.suptitle("Share of customers: real, ours and baseline at epsilon = 1")
    figure.savefig(path, dpi=110)
    return True


def _fee_by_products(X: pd.DataFrame) -> pd.DataFrame:
    """Return the share of customers for each fee and number of products."""
    import pandas as pd

    edges = [*range(0, 50, 5), math.inf]
    names = [f"{low} to {low + 5}" for low in edges[:-2]] + ["45 and more"]
    fee = pd.cut(X["monthly_fee"], edges, labels=names, right=False)
    return _shares(
        fee.rename("monthly fee"),
        X["n_products"].rename("number of products"),
        names,
        range(1, 6),
    )


def _late_by_payment(X: pd.DataFrame) -> pd.DataFrame:
    """Return the share of customers for each count of late payments, by payment."""
    late = X["late_payments"].clip(upper=4).rename("late payments (-9: not asked)")
    table = _shares(
        late,
        X["payment"],
        [-9, 0, 1, 2, 3, 4],
        ["direct debit", "card", "transfer"],
    )
    return table.rename(index={4: "4 or more"})


def _shares(
    down: pd.Series,
    across: pd.Series,
    rows: Sequence[object],
    columns: Iterable[object],
) -> pd.DataFrame:
    """Return the share of customers with each pair of values."""
    import pandas as pd

    counts = pd.crosstab(down, across) / len(down)
    return counts.reindex(index=rows, columns=list(columns), fill_value=0.0)


def _draw_shares(axes: Axes, table: pd.DataFrame, norm: PowerNorm) -> None:
    """Draw a heat map with a name for each row and column."""
    axes.imshow(table, norm=norm, cmap="Blues", aspect="auto", origin="lower")
    axes.set_xticks(range(table.shape[1]), [str(name) for name in table.columns])
    axes.set_yticks(range(table.shape[0]), [str(name) for name in table.index])
    axes.set_xlabel(str(table.columns.name))
    axes.tick_params(labelsize=8, length=0)
