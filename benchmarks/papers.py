"""The experiments of the five papers: run them, and print ours beside theirs.

The folder ``results/papers/NAME`` has all of a paper. Each ``.toml`` but ``page.toml``
is a run, and the ``.jsonl`` of the same name has its rows. Runs whose names end in
``_gpu`` take hours of a processor. ``printed.csv`` has what the paper prints, a number
a line. ``page.toml`` says how tables are laid out. Its ``explaining`` names runs that
no table of the paper needs: they explain a number, or show what was tried.
"""

import math
import time
import tomllib
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import ROUND_HALF_UP, Decimal
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.catalogue import CATALOGUE
from skdpgen.benchmark import BenchConfig, read_rows, run_cells
from skdpgen.benchmark._cells import PUBLIC, REAL
from skdpgen.benchmark._result_tables import ON_IMAGES, markdown, written_epsilon
from skdpgen.benchmark._run_cells import write_rows
from skdpgen.exceptions import ConfigError

PAPERS = Path(__file__).parent / "results" / "papers"
PAGES = Path(__file__).parents[1] / "docs" / "papers"
NAMES = ("dp_merf", "dp_mepf", "functional_rdp", "dp_mge_dre", "dp_ntk")
HEAD, END = "<!-- paper:{} -->", "<!-- /paper -->"
PRINTED = "printed"
COSTS = "costs"  # the mark of the table of hours
CPU_BUILD = "+cpu"  # of torch: the machine had no GPU
GPU_RUN = "_gpu"  # end of the name of a run that takes hours without one
KEYS = ["data", "method", "epsilon", "model"]  # of a number, beside its metric
SELECTED = "selected"  # the protocol with classifiers that are chosen on test rows
NO_SOURCE = "ours"  # of a method whose name has no comma
MEAN = "mean"  # the model of a score that is one of all models
UNTRAINED = "columns by class only"
MARK = " †"
OF_MODELS = ("roc_auc", "average_precision", "weighted_f1", "macro_f1", "accuracy")
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Place:
    """A table of a page: which numbers of a table or figure of the paper, and how.

    Parameters
    ----------
    name : str
        Of its mark in the page, and of its lines in ``printed.csv`` unless ``of`` names
        them.
    rows, columns : list of str
        Keys that a line and a column have: "data", "method", "epsilon", "model", and
        "source", which is "printed" or one of ours.
    metrics, models : list of str
        Metrics of a cell, which are printed beside each other; and models, where these
        are no key of a line or column.
    sources : list of str
        Which numbers are shown. The name of a method in a run is that of the method in
        the paper, a comma, and the source.
    best : bool
        Whether a number is the highest of all releases instead of their mean.
    selected : bool
        Whether scores are those of the protocol "selected"; of what was scored by it.
    digits : int
    of : str
        The table of the paper whose lines these are, if it has another name.
    epsilons : list of float
        Budgets of ours, if they are not those that are printed.
    """

    name: str
    rows: list[str]
    columns: list[str]
    metrics: list[str]
    models: list[str] = field(default_factory=list)
    sources: list[str] = field(
        default_factory=lambda: [PRINTED, "paper's settings", "defaults"]
    )
    best: bool = False
    selected: bool = False
    digits: int = 3
    of: str = ""
    epsilons: list[float] = field(default_factory=list)


def runs_of(paper: str, folder: Path = PAPERS) -> list[BenchConfig]:
    """Return the runs of a paper, which share cells."""
    paths = sorted((folder / paper).glob("*.toml"))
    return [BenchConfig.load(path, CATALOGUE) for path in paths if path.stem != "page"]


def usual_runs(paper: str, folder: Path = PAPERS, *, on_gpu: bool = False) -> list[str]:
    """Return the names of the runs that reproduce a paper on this machine."""
    path = folder / paper / "page.toml"
    page = tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return [
        run.name
        for run in runs_of(paper, folder)
        if run.name not in page.get("explaining", ())
        and (on_gpu or not run.name.endswith(GPU_RUN))
    ]


def run_paper(
    paper: str,
    data: Path,
    out: Path,
    *,
    n_jobs: int = 1,
    minutes: float | None = None,
    releases: int | None = None,
    only: Collection[str] | None = None,
    tell: Callable[[str, int, int], None] = lambda name, n_done, n_all: None,
    folder: Path = PAPERS,
) -> dict[str, list[Row]]:
    """Compute what is not finished of a paper; return rows by the name of their run.

    The first release of every run comes before the second of any, so a call that is
    stopped early has something of each table. Cells are kept in ``out``, one file each,
    so the same call goes on after a kill. Runs share them: one that occurs in two
    tables is computed once. ``releases`` limits how often each setting is fitted, and
    ``only`` names the runs to compute instead of all.
    """
    deadline = math.inf if minutes is None else time.monotonic() + 60 * minutes
    configs = [
        config
        for config in runs_of(paper, folder)
        if only is None or config.name in only
    ]
    most = max(config.releases for config in configs)
    rows: dict[str, list[Row]] = {}
    for n_releases in range(1, min(releases or most, most) + 1):
        for config in configs:
            if config.releases < n_releases:
                continue
            left = max(0.0, deadline - time.monotonic()) / 60
            computed = run_cells(
                replace(config, releases=n_releases),
                out,
                data=data,
                n_jobs=n_jobs,
                minutes=None if math.isinf(left) else left,
                tell=_progress_of(config.name, tell),
            )
            rows[config.name] = list(computed)
    return rows


def _progress_of(
    name: str, tell: Callable[[str, int, int], None]
) -> Callable[[int, int, object], None]:
    """Return a function that reports how many cells of the run ``name`` are done."""
    return lambda n_done, n_cells, _: tell(name, n_done, n_cells)


def store_rows(
    paper: str, rows: Mapping[str, list[Row]], data: Path, folder: Path = PAPERS
) -> None:
    """Write rows beside the configurations, from which pages are made.

    A row that was stored before stays if the configuration still has its cell and it
    was not computed again. Failed cells are not stored.
    """
    for config in runs_of(paper, folder):
        path = folder / paper / f"{config.name}.jsonl"
        before = read_rows(path) if path.exists() else ()
        known = [*before, *rows.get(config.name, ())]
        of_cell = {row["cell"]: row for row in known if "error" not in row}
        named = [(name, cell.key) for name, cell in config.cells(data)]
        lines = [
            {**of_cell[key], "name": name} for name, key in named if key in of_cell
        ]
        if lines:
            write_rows(path, lines)


def fill_paper_page(page: str, paper: str, folder: Path = PAPERS) -> str:
    """Return a page of the documentation with its tables, made of stored rows.

    ``rows_of`` of its ``page.toml`` names papers whose runs have methods of it, too.
    """
    content = tomllib.loads((folder / paper / "page.toml").read_text(encoding="utf-8"))
    places = [Place(**entry) for entry in content["table"]]
    printed = read_printed(folder / paper / "printed.csv")
    rows = [
        row
        for name in (paper, *content.get("rows_of", ()))
        for row in stored_rows(name, folder)
    ]
    numbers = our_numbers(rows, content.get("data", {}))
    tables = {place.name: tabulate_place(place, printed, numbers) for place in places}
    tables[COSTS] = tabulate_costs(paper, folder)
    for name, text in tables.items():
        head = HEAD.format(name)
        before, mark, after = page.partition(head)
        if not mark or END not in after:
            raise ConfigError(f"The page of {paper} has no {head} and {END}.")
        page = f"{before}{head}\n{text}\n{END}{after.partition(END)[2]}"
    return page


@dataclass(frozen=True)
class Cost:
    """What the cells of a run take: seconds of a processor, or beside a GPU."""

    n_cells: int = 0
    processor: tuple[float, ...] = ()
    elsewhere: tuple[float, ...] = ()
    n_unknown: int = 0

    def __add__(self, other: "Cost") -> "Cost":
        """Return the cost of both."""
        return Cost(
            self.n_cells + other.n_cells,
            self.processor + other.processor,
            self.elsewhere + other.elsewhere,
            self.n_unknown + other.n_unknown,
        )

    def line(self) -> list[str]:
        """Return the line of a table."""
        hours = (
            f"{sum(seconds) / 3600:.1f} ({len(seconds)})" if seconds else ""
            for seconds in (self.processor, self.elsewhere)
        )
        return [str(self.n_cells), *hours, str(self.n_unknown)]


def tabulate_costs(paper: str, folder: Path = PAPERS) -> str:
    """Return a table of what the first release of each run takes, from stored rows.

    Another release takes as long as the first, and another epsilon about as long, in
    this run or another: where the first ran elsewhere, or did not run, they stand for
    it. Without noise a preset may have other settings, so this stands for itself alone.
    """
    stored = stored_rows(paper, folder)
    costs = {run.name: cost_of(run, stored) for run in runs_of(paper, folder)}
    usual = [costs[name] for name in usual_runs(paper, folder)]
    costs["together, without --gpu or --run"] = sum(usual, Cost())
    frame = pd.DataFrame.from_dict(
        {name: cost.line() for name, cost in costs.items()},
        orient="index",
        columns=[
            "cells",
            "processor hours (cells)",
            "hours beside a GPU (cells)",
            "not measured",
        ],
    )
    frame.index.name = "run"
    return markdown(frame)


def cost_of(config: BenchConfig, stored: Iterable[Row]) -> Cost:
    """Return what the first release of a run takes."""
    judges = None if config.classifiers is None else list(config.classifiers)
    rows = [
        row
        for row in stored
        if (row["classifiers"], row["protocol"]) == (judges, config.protocol)
    ]
    kinds = [
        {"table": source.name, "name": name, "epsilon": epsilon}
        for source in config.sources
        for name, epsilons in _epsilons_by_name(config, source.has_public).items()
        for epsilon in epsilons
    ]
    cost = Cost()
    for kind in kinds:
        here = _seconds(rows, kind, on_processor=True)
        there = _seconds(rows, kind, on_processor=False)
        if here is not None:
            cost += Cost(1, processor=(here,))
        elif there is not None:
            cost += Cost(1, elsewhere=(there,))
        else:
            cost += Cost(1, n_unknown=1)
    return cost


def _epsilons_by_name(
    config: BenchConfig, has_public: bool
) -> dict[str, tuple[float | None, ...]]:
    """Return the epsilons of each name that rows of a table have."""
    names: dict[str, tuple[float | None, ...]] = {}
    if config.real:
        names[REAL] = (None,)
        if has_public:
            names[PUBLIC] = (None,)
    return names | {method.name: config.epsilons for method in config.methods}


def _seconds(
    rows: Iterable[Row], kind: Mapping[str, Any], *, on_processor: bool
) -> float | None:
    """Return the median seconds of rows of a kind, or else of it at other epsilons."""
    column = "cpu_seconds" if on_processor else "seconds"
    alike = [
        row
        for row in rows
        if row["version_torch"].endswith(CPU_BUILD) == on_processor
        and (row["table"], row["name"]) == (kind["table"], kind["name"])
        and (_epsilon(row) == math.inf) == (kind["epsilon"] == math.inf)
    ]
    same = [row for row in alike if _epsilon(row) == kind["epsilon"]]
    seconds = [row[column] for row in same or alike]
    return float(np.median(seconds)) if seconds else None


def _epsilon(row: Row) -> float | None:
    return None if row["epsilon"] is None else float(row["epsilon"])


def stored_rows(paper: str, folder: Path = PAPERS) -> list[Row]:
    """Return the rows of all runs of a paper."""
    paths = sorted((folder / paper).glob("*.jsonl"))
    return [row for path in paths for row in read_rows(path)]


def read_printed(path: Path) -> pd.DataFrame:
    """Return what a paper prints; an epsilon that is left out is that of no noise.

    ``spread`` is the standard deviation over releases, where the paper prints it, and
    ``digits`` how many decimals the number has in the file: those of the paper.
    """
    names = ["epsilon", "spread"]
    gaps = {name: [""] for name in names}
    printed = pd.read_csv(
        path, comment="#", dtype=str, keep_default_na=False, na_values=gaps
    )
    decimals_of = printed["value"].str.partition(".")[2].str.len()
    spread = printed.get("spread", np.nan)
    numbers = dict.fromkeys([*names, "value"], float)
    return printed.assign(spread=spread, digits=decimals_of).astype(numbers)


def our_numbers(rows: Iterable[Row], data: Mapping[str, str]) -> pd.DataFrame:
    """Return a line for each stored number: the mean of the models, and each model.

    Parameters
    ----------
    rows : iterable of dict
        Stored rows; failed ones have no numbers.
    data : mapping of str to str
        Names of our tables by those of the paper.

    Examples
    --------
    >>> row = {"table": "t", "name": "M, ours", "epsilon": 1.0, "fid": 0.5}
    >>> numbers = our_numbers([row | {"models": {"lda": {"accuracy": 0.75}}}], {})
    >>> numbers[["model", "metric", "value"]].values.tolist()[:2]
    [['mean', 'fid', 0.5], ['lda', 'accuracy', 0.75]]
    """
    theirs = {our: their for their, our in data.items()}
    lines = []
    for row in rows:
        if "error" in row:
            continue
        method, _, source = str(row["name"]).partition(", ")
        about = {
            "cell": row.get("cell"),
            "release": row.get("release"),
            "data": theirs.get(row["table"], row["table"]),
            "method": method,
            "source": source or NO_SOURCE,
            "epsilon": np.nan if row["epsilon"] is None else row["epsilon"],
            "untrained": row.get("relations") == UNTRAINED,
            "selected": row.get("protocol") == SELECTED,
        }
        models = row.get("models") or {  # rows of images once had accuracies alone
            name: {"accuracy": row[name]} for name in ON_IMAGES if row.get(name)
        }
        scores = {
            (MEAN, name): value
            for name, value in row.items()
            if name not in about and is_score(value)
        }
        scores |= {
            (model, metric): value
            for model, values in models.items()
            for metric, value in values.items()
        }
        for metric in OF_MODELS:  # of images rows have no mean
            values = [m[metric] for m in models.values() if metric in m]
            if values:
                scores.setdefault((MEAN, metric), float(np.mean(values)))
        lines += [
            about | {"model": model, "metric": metric, "value": value}
            for (model, metric), value in scores.items()
        ]
    fits = [*KEYS, "cell", "release", "source", "selected", "metric"]
    frame = pd.DataFrame(lines, columns=[*fits, "untrained", "value"])
    return frame.drop_duplicates(fits)  # a cell may occur in two runs


def is_score(value: Any) -> bool:
    """Return whether a column of a row is a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def tabulate_place(place: Place, printed: pd.DataFrame, numbers: pd.DataFrame) -> str:
    """Return a table in Markdown, and below it how many releases it has.

    Only what the paper prints has a line. A dagger marks fits without a training step.
    """
    theirs = lines_of(place, printed)
    numbers = numbers[numbers["selected"] == place.selected]
    of = [*KEYS, "metric"]  # of one model may be printed what is not of another
    # real rows have no settings: they stand with the first of ours
    own = numbers["source"].replace({NO_SOURCE: place.sources[1]})
    ours = numbers.assign(source=own)
    ours = ours[ours["source"].isin(place.sources)]
    # The highest mean is that of all models, also where only their mean is printed.
    values = highest_of_releases(ours) if place.best else ours
    # pandas matches NaN with NaN
    values, ours = (
        theirs[of].drop_duplicates().merge(part, on=of) for part in (values, ours)
    )
    if place.epsilons:
        theirs = theirs[theirs["method"].isin(ours["method"])]
    if place.selected:
        theirs = theirs.merge(ours[["data", "method"]].drop_duplicates())
    shown = pd.concat([theirs.assign(source=PRINTED), values], ignore_index=True)
    shown["epsilon"] = shown["epsilon"].map(written_epsilon)
    cells: dict[Any, dict[Any, str]] = {}
    columns: dict[Any, None] = {}
    lines = dict.fromkeys(
        theirs.assign(epsilon=theirs["epsilon"].map(written_epsilon))[
            place.rows
        ].itertuples(index=False, name=None)
    )
    for source in place.sources:
        for values, group in shown[shown["source"] == source].groupby(
            [*place.rows, *(key for key in place.columns if key != "source")],
            sort=False,
            dropna=False,
        ):
            named = dict(zip(group_names(place), values, strict=True))
            column = tuple(
                source if key == "source" else named[key] for key in place.columns
            )
            text = written(group.dropna(subset="value"), place, source)
            if text:
                columns.setdefault(column)
                line = tuple(named[key] for key in place.rows)
                cells.setdefault(line, {})[column] = text
    ordered = sorted(columns, key=lambda column: column_rank(column, columns, place))
    head = [" ".join(filter(None, map(heading, column))) for column in ordered]
    frame = pd.DataFrame(
        [[cells.get(line, {}).get(column, "") for column in ordered] for line in lines],
        index=[", ".join(filter(None, map(str, line))) for line in lines],
        columns=head,
    )
    frame.index.name = ", ".join(place.rows).replace("epsilon", "ε")
    return "\n\n".join(filter(None, (markdown(frame), notes(ours))))


def lines_of(place: Place, printed: pd.DataFrame) -> pd.DataFrame:
    """Return the printed numbers of a table; other budgets have lines without one."""
    name = place.of or place.name
    theirs = printed[printed["place"] == name]
    if theirs.empty:
        raise ConfigError(f"printed.csv has no line of {name}.")
    if not place.epsilons:
        return theirs
    fits = theirs[theirs["epsilon"].notna()]  # real rows have no budget
    of_fits = fits[["data", "method", "model", "metric"]].drop_duplicates()
    budgets = pd.DataFrame({"epsilon": place.epsilons})
    return of_fits.merge(budgets, how="cross").merge(fits, how="left")


def highest_of_releases(numbers: pd.DataFrame) -> pd.DataFrame:
    """Return the highest number of each model, and their mean, as papers print it.

    Where there are no numbers of models, the highest mean of a release stands.

    Examples
    --------
    >>> about = {"data": "t", "method": "M", "epsilon": 1.0, "metric": "accuracy"}
    >>> about |= {"source": "defaults", "untrained": False}
    >>> models = {"lda": [0.5, 0.75], "mlp": [1.0, 0.5], "mean": [0.75, 0.625]}
    >>> frame = pd.DataFrame(models).melt(var_name="model").assign(**about)
    >>> highest_of_releases(frame).set_index("model")["value"].to_dict()
    {'lda': 0.75, 'mlp': 1.0, 'mean': 0.875}
    """
    keys = [*(key for key in KEYS if key != "model"), "metric", "source"]
    best = numbers.groupby([*keys, "model"], sort=False, dropna=False, as_index=False)
    best = best.agg({"value": "max", "untrained": "any"})
    of_models = best[best["model"] != MEAN].groupby(keys, sort=False, dropna=False)
    means = of_models.agg({"value": "mean", "untrained": "any"}).reset_index()
    both = pd.concat([best, means.assign(model=MEAN)], ignore_index=True)
    return both.drop_duplicates([*keys, "model"], keep="last")


@dataclass(frozen=True)
class Curves:
    """A figure of a page: a metric by epsilon, ours beside what is printed.

    Parameters
    ----------
    name : str
        Of its file in the folder of pages, without the ending.
    place : str
        Lines of ``printed.csv`` that are drawn beside ours; they may be none.
    title : str
        Label of the vertical axis.
    data, metric : str
    model : str, default="mean"
    methods, sources : list of str
    """

    name: str
    place: str
    title: str
    data: str
    metric: str
    methods: list[str]
    sources: list[str]
    model: str = MEAN


def draw_figures(paper: str, pages: Path = PAGES, folder: Path = PAPERS) -> list[Path]:
    """Draw the figures of a page from stored rows; return their files."""
    import matplotlib.pyplot as plt

    content = tomllib.loads((folder / paper / "page.toml").read_text(encoding="utf-8"))
    printed = read_printed(folder / paper / "printed.csv")
    numbers = our_numbers(stored_rows(paper, folder), content.get("data", {}))
    paths = []
    for entry in content.get("figure", []):
        curves = Curves(**entry)
        figure, axes = plt.subplots(figsize=(5, 3.2), layout="constrained")
        draw_curves(axes, curves, printed, numbers)
        paths.append(pages / f"{curves.name}.png")
        figure.savefig(paths[-1], dpi=110)
        plt.close(figure)
    return paths


def draw_curves(
    axes: Any, curves: Curves, printed: pd.DataFrame, numbers: pd.DataFrame
) -> None:
    """Draw lines of means: solid ours, dashed printed ones; ∞ stands at the right."""
    theirs = printed[printed["place"] == curves.place].assign(source=PRINTED)
    every = pd.concat([theirs, numbers], ignore_index=True)
    every = every[
        (every["data"] == curves.data)
        & (every["metric"] == curves.metric)
        & (every["model"] == curves.model)
        & every["method"].isin(curves.methods)
        & every["source"].isin([*curves.sources, PRINTED])
    ]
    means = every.groupby(["method", "source", "epsilon"])["value"].mean()
    ticks = sorted(set(means.index.get_level_values("epsilon")))
    for (method, source), line in means.groupby(level=[0, 1]):
        places = [ticks.index(epsilon) for epsilon in line.index.get_level_values(2)]
        style = "--" if source == PRINTED else "-"
        rank = [PRINTED, *curves.sources].index(source)
        colour = f"C{curves.methods.index(method) if len(curves.methods) > 1 else rank}"
        marker = "s^ovDPX*"[rank]
        label = f"{method}, {source}"
        axes.plot(places, line.to_numpy(), style, c=colour, marker=marker, label=label)
    axes.set_xticks(range(len(ticks)), [written_epsilon(tick) for tick in ticks])
    axes.set(xlabel="ε", ylabel=curves.title)
    axes.legend(fontsize="small")


def group_names(place: Place) -> list[str]:
    """Return the keys that groups of a table have."""
    return [*place.rows, *(key for key in place.columns if key != "source")]


def heading(value: Any) -> str:
    """Return part of the head of a column; an epsilon is a number."""
    try:
        float(str(value).replace("∞", "inf"))
    except ValueError:
        return str(value)
    return f"ε = {value}"


def column_rank(column: Any, columns: Mapping[Any, None], place: Place) -> Any:
    """Return where a column stands: methods as printed, sources beside each other."""
    at = place.columns.index("source") if "source" in place.columns else None
    others = [tuple(v for i, v in enumerate(each) if i != at) for each in columns]
    mine = tuple(v for i, v in enumerate(column) if i != at)
    source = 0 if at is None else place.sources.index(column[at])
    return others.index(mine), source


def written(group: pd.DataFrame, place: Place, source: str) -> str:
    """Return the text of a cell: each metric, with its deviation over releases."""
    models: Iterable[str | None] = place.models or [None]
    texts = []
    for metric, model in product(place.metrics, models):
        wanted = group["metric"] == metric
        if model is not None:
            wanted &= group["model"] == model
        values = group.loc[wanted, "value"].astype(float)
        if values.empty:
            continue
        digits, spread = place.digits, values.std()
        if source == PRINTED:  # one number, with no more decimals than the paper's
            digits = min(digits, int(group.loc[wanted, "digits"].max()))
            spread = group.loc[wanted, "spread"].mean()
        text = decimals(values.mean(), digits)
        if np.isfinite(spread):
            text += f" ± {decimals(spread, digits)}"
        texts.append(text)
    is_marked = source != PRINTED and group["untrained"].eq(True).any()
    return " / ".join(texts) + (MARK if is_marked else "")


def decimals(value: float, digits: int) -> str:
    """Return .876 without the zero; a half of the last digit is rounded up.

    Examples
    --------
    >>> decimals(0.876, 3), decimals(29.5, 1), decimals(1.0, 2), decimals(0.8805, 3)
    ('.876', '29.5', '1.00', '.881')
    """
    written = Decimal(str(float(value)))  # as it was written, and not its binary number
    text = str(written.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))
    return text.replace("0.", ".", 1) if abs(value) < 1 else text


def notes(ours: pd.DataFrame) -> str:
    """Return how many releases ours are of, and what the dagger says."""
    if ours.empty:
        return "Ours: not measured here."
    per_cell = ours.groupby(
        [*KEYS, "source", "metric"], dropna=False, sort=False
    ).size()
    n = sorted(set(per_cell))
    spread = f"{n[0]}" if len(n) == 1 else f"{n[0]} to {n[-1]}"
    plural = "release" if n == [1] else "releases"
    text = f"Ours: {spread} {plural} each."
    if ours["untrained"].any():
        text += (
            f"{MARK} Columns by class only, in one release at least: no relation was "
            "beyond the noise, so no training step was made."
        )
    return text
