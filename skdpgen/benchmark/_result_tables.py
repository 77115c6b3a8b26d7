"""Tables of stored rows, for people: generated between two marks of a page."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from skdpgen.benchmark._cells import Catalogue
from skdpgen.exceptions import (
    ConfigError,
)

METRICS = {"roc_auc": "ROC-AUC", "macro_f1": "macro-F1", "r2": "R²"}
METRICS |= {"weighted_f1": "weighted F1"}
BY_PAPERS = ("weighted_f1", *METRICS)  # of several classes, they weigh by size
ON_IMAGES = {"logistic_regression": "LR", "mlp": "MLP", "cnn": "CNN"}
ON_IMAGES |= {"small_cnn": "small CNN", "resnet9": "ResNet-9"}
ON_IMAGES |= {"resnet9_thin": "thin ResNet-9", "mean_of_12": "mean of 12"}
OTHERS = {"average_precision": "AP", "tv2": "two-way", "tv3": "three-way"}
OTHERS |= {"superclass_weight": "superclass"}  # weight of public rows that are in it
OTHERS |= {"detection_auc": "detection", "fid": "FID"}
OF_NIST = {"k_marginal": "k-marginal", "pmse": "pMSE", "broken": "against a rule"}
OTHERS |= OF_NIST | {"sdmetrics": "SDMetrics", "pair_trends": "pair trends"}
HEAD, OF_DISCOVERY = "<!-- bench:{} -->", " discovery"
END_MARK = "<!-- /bench -->"
MARK = re.compile(
    rf"(?ms)^<!-- bench:([\w.-]+)({OF_DISCOVERY})? -->\n(.*?)^<!-- /bench -->"
)
GROUP_KEYS = ["table", "schema", "epsilon", "name"]
SHARED_SETTINGS = ("schema", "delta", "adjacency", "protocol")
OF_COLUMNS = {
    "covered": "numbers inside the bounds",
    "overshoot": "range, octaves too wide",
    "category_mass": "text cells whose category is found",
    "largest_bin": "largest bin of several values",
}
OF_DISCOVERING = (  # how the names of its releases begin
    "number of",
    "class labels",
    "kinds ",
    "different values of",
    "octaves and words of",
    "parts of",
    "values ",
)
Row = Mapping[str, Any]


def tabulate_rows(rows: Sequence[Row]) -> str:
    """Return a Markdown table: a line for each table, epsilon and method.

    **measured** is the mean of the models, ± standard deviation over releases, and
    (the best of the models); failed cells show their errors.

    Examples
    --------
    >>> row = {"table": "t", "name": "real", "roc_auc": 0.75, "roc_auc_best": 0.8125}
    >>> print(tabulate_rows([row | {"tv2": 0.25}]))
    | table | method | ε | metric | measured | two-way | fit, s | peak, MiB | n |
    | --- | --- | --- | --- | --- | --- | --- | --- | --- |
    | t | real |  | ROC-AUC | .750 (.812) | .250 |  |  | 1 |
    """
    frame = pd.DataFrame(list(rows)).reindex(columns=_columns(rows))
    has_printed = frame["printed"].notna().any()
    other_heads = {
        name: head for name, head in OTHERS.items() if frame[name].notna().any()
    }
    head = ["table", "method", "ε", "metric", "measured", *other_heads.values()]
    head += [*(["printed"] if has_printed else []), "fit, s", "peak, MiB", "n"]
    lines = [head, ["---"] * len(head)]
    for (table, schema, epsilon, name), group in _groups(frame):
        schema_suffix = (
            f", {schema}"
            if frame["schema"].nunique() > 1 and isinstance(schema, str)
            else ""
        )
        succeeded = group[group["error"].isna()]
        lines.append(
            [
                table,
                f"{name}{schema_suffix}",
                written_epsilon(epsilon),
                *_measured(succeeded, group),
                *(_mean(succeeded[metric], _written(metric)) for metric in other_heads),
                *([_first(group["printed"])] if has_printed else []),
                _mean(succeeded["fit_seconds"], "{:.2f}".format),
                _mean(succeeded["peak_mib"], "{:.0f}".format),
                f"{len(succeeded)}",
            ]
        )
    text = (
        f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in lines
    )
    return "\n".join(text)


def caption(rows: Sequence[Row]) -> str:
    """Return the settings that all rows of a table share, and package versions.

    Examples
    --------
    >>> caption([{"delta": 1e-5, "version_numpy": "2.0"}])
    'δ = 1e-05; numpy 2.0.'
    """
    frame = pd.DataFrame(list(rows))
    settings = []
    for name in SHARED_SETTINGS:
        values = frame[name].dropna().unique() if name in frame else []
        if len(values) == 1 and name == "delta":
            settings.append(f"δ = {values[0]}")
        elif len(values) == 1:
            settings.append(f"{name} {values[0]}")
    versions = []
    for name in frame:
        if name.startswith("version_"):
            values = " or ".join(sorted(frame[name].dropna().unique()))
            versions.append(f"{name.removeprefix('version_')} {values}")
    if "cpu_seconds" in frame and frame["cpu_seconds"].notna().all():
        minutes = frame["cpu_seconds"].sum() / 60
        versions.append(f"all cells together {minutes:.0f} minutes of a processor")
    elif "seconds" in frame:
        minutes = frame["seconds"].sum() / 60
        versions.append(f"all cells together {minutes:.0f} minutes of one thread")
    return (
        "; ".join(part for part in (", ".join(settings), ", ".join(versions)) if part)
        + "."
    )


def fill_page(
    page: str,
    stored: Mapping[str, Sequence[Row]],
    catalogue: Catalogue | None = None,
) -> str:
    r"""Return a page with the table of each stored name between its marks.

    Parameters
    ----------
    page : str
        Markdown with lines ``<!-- bench:NAME -->`` and ``<!-- /bench -->``. After
        ``NAME discovery`` comes a table of discovered columns, instead of scores.
    stored : mapping of str to rows
    catalogue : Catalogue or None, default=None
        May have its own tables for some rows.

    Examples
    --------
    >>> page = "Before\n<!-- bench:mine -->\nold\n<!-- /bench -->\nafter"
    >>> row = {"table": "t", "name": "real", "r2": 0.5, "r2_best": 0.75}
    >>> filled = fill_page(page, {"mine": [row]})
    >>> "old" in filled, "| .500 (.750) |" in filled, fill_page(filled, {}) == filled
    (False, True, True)
    """
    tabulate = (catalogue or Catalogue()).tabulate
    marked = names_in(page)
    absent = [name for name in stored if name not in marked]
    if absent:
        raise ConfigError(
            f"The page has no place for {', '.join(absent)}. Add the lines "
            f"{HEAD.format(absent[0])} and {END_MARK} to it."
        )

    def filled(mark: re.Match[str]) -> str:
        name = mark[1]
        if name not in stored:
            return mark[0]
        rows = stored[name]
        if mark[2]:
            head = HEAD.format(f"{name}{mark[2]}")
            return f"{head}\n{_tabulate_discovery(rows)}{_alarm(rows)}\n{END_MARK}"
        text = tabulate(rows)
        if text is None:
            text = f"{tabulate_rows(rows)}\n\n{caption(rows)}{_alarm(rows)}"
        return f"{HEAD.format(name)}\n{text}\n{END_MARK}"

    return MARK.sub(filled, page)


def names_in(page: str) -> list[str]:
    """Return the names of the marks of a page."""
    return [mark[1] for mark in MARK.finditer(page)]


def markdown(frame: pd.DataFrame, digits: int = 3) -> str:
    """Return a frame as a Markdown table, its index first.

    Examples
    --------
    >>> print(markdown(pd.DataFrame({"a": [0.5]}, index=["x"])))
    |  | a |
    | --- | --- |
    | x | 0.500 |
    """

    def cell(value: Any) -> str:
        is_float = isinstance(value, float | np.floating)
        text = f"{value:.{digits}f}" if is_float else str(value)
        return text.replace("|", r"\|")

    head = [frame.index.name or "", *frame.columns]
    lines = [head, ["---"] * len(head), *frame.itertuples(name=None)]
    return "\n".join(f"| {' | '.join(map(cell, line))} |" for line in lines)


def written_epsilon(epsilon: float) -> str:
    """Return an epsilon as text; empty if there is none.

    Examples
    --------
    >>> [written_epsilon(epsilon) for epsilon in (0.5, float("inf"), float("nan"))]
    ['0.5', '∞', '']
    """
    return "" if pd.isna(epsilon) else f"{epsilon:g}".replace("inf", "∞")


def _tabulate_discovery(rows: Sequence[Row]) -> str:
    """Return a Markdown table: the mean over all fits of a table at an epsilon.

    Discovery does not depend on the method, nor does its share of the budget. Only fits
    with public rows differ, and are left out.

    Examples
    --------
    >>> entry = {"name": "parts of 3 columns", "share": 0.125}
    >>> row = {"table": "t", "epsilon": 1.0, "schema": "discovered", "covered": 0.5}
    >>> row |= {"rows": 9, "privacy": {"releases": [entry]}}
    >>> print(_tabulate_discovery([row]))
    | table | rows | ε | numbers inside the bounds | share of the budget | fits |
    | --- | --- | --- | --- | --- | --- |
    | t | 9 | 1 | 0.500 | 0.125 | 1 |
    """
    fits = [
        {
            **{
                name: row.get(name)
                for name in ("table", "rows", "epsilon", *OF_COLUMNS)
            },
            "share": share_of_discovery(row["privacy"]["releases"]),
        }
        for row in rows
        if row.get("schema") == "discovered"
        and "privacy" in row
        and not row.get("public")
    ]
    if not fits:
        raise ConfigError(
            "No fit of this table discovered a schema by itself: take `discovery` out "
            "of its mark."
        )
    groups = pd.DataFrame(fits).groupby(["table", "rows", "epsilon"], sort=False)
    lines = []
    for (table, n_rows, epsilon), group in groups:
        means = {
            heading: _decimals(group[name]) for name, heading in OF_COLUMNS.items()
        }
        about = {"table": table, "rows": f"{n_rows:,}", "ε": written_epsilon(epsilon)}
        share = {"share of the budget": _decimals(group["share"]), "fits": len(group)}
        lines.append(about | means | share)
    frame = pd.DataFrame(lines).astype(str).replace("nan", "")
    return markdown(frame.loc[:, (frame != "").any()].set_index("table"))


def share_of_discovery(releases: Sequence[Mapping[str, Any]]) -> float:
    """Return the share of the budget that discovery used."""
    return sum(
        release["share"]
        for release in releases
        if release["name"].startswith(OF_DISCOVERING)
    )


def _decimals(values: pd.Series) -> str:
    return "" if values.isna().all() else f"{values.astype(float).mean():.3f}"


def _alarm(rows: Sequence[Row]) -> str:
    """Return the warning for results of private tables, to print below a table."""
    alarm = next((row["not_private"] for row in rows if row.get("not_private")), None)
    return f"\n\n**{alarm}**" if alarm else ""


def _columns(rows: Sequence[Row]) -> list[str]:
    names = [*GROUP_KEYS, "protocol", "error", *OTHERS, "fit_seconds", "printed"]
    names += ["peak_mib", *METRICS, *(f"{metric}_best" for metric in METRICS)]
    return [*names, *ON_IMAGES]


def _groups(frame: pd.DataFrame) -> Any:
    return frame.groupby(GROUP_KEYS, dropna=False, sort=False)


def _measured(succeeded: pd.DataFrame, group: pd.DataFrame) -> tuple[str, str]:
    """Return the name of the metric, and mean ± deviation (best), and failures."""
    failed = group["error"].dropna()
    failures = "; ".join(f"{n} × {error}" for error, n in failed.value_counts().items())
    names = BY_PAPERS if (succeeded["protocol"] == "paper").any() else METRICS
    metric = next((name for name in names if succeeded[name].notna().any()), None)
    models = [name for name in ON_IMAGES if succeeded[name].notna().any()]
    if models:
        texts = " / ".join(_spread(succeeded[model]) for model in models)
        return f"accuracy: {', '.join(ON_IMAGES[model] for model in models)}", texts
    if metric is None:
        return "", f"failed: {failures}" if failures else ""
    text = _spread(succeeded[metric])
    text += f" ({_share(succeeded[f'{metric}_best'].mean())})"
    return METRICS[metric], f"{text}, failed: {failures}" if failures else text


def _spread(values: pd.Series) -> str:
    text = _share(values.mean())
    return text if len(values) < 2 else f"{text} ± {_share(values.std())}"


def _first(values: pd.Series) -> str:
    return "" if values.isna().all() else str(values.dropna().iloc[0])


def _mean(values: pd.Series, written: Callable[[float], str]) -> str:
    return "" if values.isna().all() else written(values.mean())


def _written(metric: str) -> Callable[[float], str]:
    if metric == "pmse":
        return lambda value: f"{value:.4f}".replace("0.", ".", 1)
    return "{:.0f}".format if metric == "k_marginal" else _share


def _share(value: float) -> str:
    """Write .876 without the zero, as the pages do."""
    return f"{value:.3f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:.3f}"
