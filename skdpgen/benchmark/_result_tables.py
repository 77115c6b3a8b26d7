"""Tables of stored rows, for people: generated between two marks of a page."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from skdpgen.benchmark._fit_costs import tabulate_costs
from skdpgen.benchmark._markdown import said_epsilon
from skdpgen.benchmark.runs._discovery_table import tabulate_discovery
from skdpgen.utils import ConfigError

METRICS = {"roc_auc": "ROC-AUC", "macro_f1": "macro-F1", "r2": "R²"}
METRICS |= {"weighted_f1": "weighted F1"}
BY_PAPERS = ("weighted_f1", *METRICS)  # of several classes, they weigh by size
ON_IMAGES = {"logistic_regression": "LR", "mlp": "MLP", "cnn": "CNN"}
ON_IMAGES |= {"mean_of_12": "mean of 12"}
OTHERS = {"average_precision": "AP", "tv2": "two-way", "tv3": "three-way"}
OTHERS |= {"detection_auc": "told apart", "fid": "FID"}
HEAD, OF_DISCOVERY = "<!-- bench:{} -->", " discovery"
END = "<!-- /bench -->"
MARK = re.compile(
    rf"(?ms)^<!-- bench:([\w.-]+)({OF_DISCOVERY})? -->\n(.*?)^<!-- /bench -->"
)
KEYS = ["table", "schema", "epsilon", "name"]
SHARED = ("schema", "delta", "adjacency", "protocol")
Row = Mapping[str, Any]


def tabulate_rows(rows: Sequence[Row]) -> str:
    """Return a Markdown table: a line for each table, epsilon and method.

    **measured** is the mean of the models, ± standard deviation over releases, and
    (the best of the models); what failed says how.

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
    others = {name: head for name, head in OTHERS.items() if frame[name].notna().any()}
    head = ["table", "method", "ε", "metric", "measured", *others.values()]
    head += [*(["printed"] if has_printed else []), "fit, s", "peak, MiB", "n"]
    lines = [head, ["---"] * len(head)]
    for (table, schema, epsilon, name), group in _groups(frame):
        of_two = (
            f", {schema}"
            if frame["schema"].nunique() > 1 and isinstance(schema, str)
            else ""
        )
        good = group[group["error"].isna()]
        lines.append(
            [
                table,
                f"{name}{of_two}",
                said_epsilon(epsilon),
                *_measured(good, group),
                *(_mean(good[other], _share) for other in others),
                *([_first(group["printed"])] if has_printed else []),
                _mean(good["fit_seconds"], "{:.2f}".format),
                _mean(good["peak_mib"], "{:.0f}".format),
                f"{len(good)}",
            ]
        )
    text = (
        f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in lines
    )
    return "\n".join(text)


def caption(rows: Sequence[Row]) -> str:
    """Say what all rows of a table have in common, and which versions made them.

    Examples
    --------
    >>> caption([{"delta": 1e-5, "version_numpy": "2.0"}])
    'δ = 1e-05; numpy 2.0.'
    """
    frame = pd.DataFrame(list(rows))
    said = []
    for name in SHARED:
        values = frame[name].dropna().unique() if name in frame else []
        if len(values) == 1 and name == "delta":
            said.append(f"δ = {values[0]}")
        elif len(values) == 1:
            said.append(f"{name} {values[0]}")
    made = []
    for name in frame:
        if name.startswith("version_"):
            values = " or ".join(sorted(frame[name].dropna().unique()))
            made.append(f"{name.removeprefix('version_')} {values}")
    if "cpu_seconds" in frame and frame["cpu_seconds"].notna().all():
        spent = frame["cpu_seconds"].sum() / 60
        made.append(f"all cells together {spent:.0f} minutes of a processor")
    elif "seconds" in frame:
        spent = frame["seconds"].sum() / 60
        made.append(f"all cells together {spent:.0f} minutes of one thread")
    return "; ".join(part for part in (", ".join(said), ", ".join(made)) if part) + "."


def fill_page(page: str, stored: Mapping[str, Sequence[Row]]) -> str:
    r"""Return a page with the table of each stored name between its marks.

    Parameters
    ----------
    page : str
        Markdown with lines ``<!-- bench:NAME -->`` and ``<!-- /bench -->``. After
        ``NAME discovery`` stands what was found of the columns, instead of scores.
    stored : mapping of str to rows

    Examples
    --------
    >>> page = "Before\n<!-- bench:mine -->\nold\n<!-- /bench -->\nafter"
    >>> row = {"table": "t", "name": "real", "r2": 0.5, "r2_best": 0.75}
    >>> filled = fill_page(page, {"mine": [row]})
    >>> "old" in filled, "| .500 (.750) |" in filled, fill_page(filled, {}) == filled
    (False, True, True)
    """
    marked = names_in(page)
    absent = [name for name in stored if name not in marked]
    if absent:
        raise ConfigError(
            f"The page has no place for {', '.join(absent)}. Add the lines "
            f"{HEAD.format(absent[0])} and {END} to it."
        )

    def filled(found: re.Match[str]) -> str:
        name = found[1]
        if name not in stored:
            return found[0]
        rows = stored[name]
        if found[2]:
            head = HEAD.format(f"{name}{found[2]}")
            return f"{head}\n{tabulate_discovery(rows)}{_alarm(rows)}\n{END}"
        if any("axis" in row for row in rows):  # of `python -m skdpgen.benchmark fits`
            return f"{HEAD.format(name)}\n{tabulate_costs(rows)}\n{END}"
        text = f"{tabulate_rows(rows)}\n\n{caption(rows)}{_alarm(rows)}"
        return f"{HEAD.format(name)}\n{text}\n{END}"

    return MARK.sub(filled, page)


def names_in(page: str) -> list[str]:
    """Return the names of the marks of a page."""
    return [found[1] for found in MARK.finditer(page)]


def _alarm(rows: Sequence[Row]) -> str:
    """Return the alarm that rows of a private table carry, to stand below a table."""
    found = next((row["not_private"] for row in rows if row.get("not_private")), None)
    return f"\n\n**{found}**" if found else ""


def _columns(rows: Sequence[Row]) -> list[str]:
    names = [*KEYS, "protocol", "error", *OTHERS, "fit_seconds", "printed"]
    names += ["peak_mib", *METRICS, *(f"{metric}_best" for metric in METRICS)]
    return [*names, *ON_IMAGES]


def _groups(frame: pd.DataFrame) -> Any:
    return frame.groupby(KEYS, dropna=False, sort=False)


def _measured(good: pd.DataFrame, group: pd.DataFrame) -> tuple[str, str]:
    """Return the name of the metric, and mean ± deviation (best), and what failed."""
    failed = group["error"].dropna()
    said = "; ".join(f"{n} × {error}" for error, n in failed.value_counts().items())
    names = BY_PAPERS if (good["protocol"] == "paper").any() else METRICS
    metric = next((one for one in names if good[one].notna().any()), None)
    models = [one for one in ON_IMAGES if good[one].notna().any()]
    if models:
        texts = " / ".join(_spread(good[one]) for one in models)
        return f"accuracy: {', '.join(ON_IMAGES[one] for one in models)}", texts
    if metric is None:
        return "", f"failed: {said}"
    text = _spread(good[metric])
    text += f" ({_share(good[f'{metric}_best'].mean())})"
    return METRICS[metric], f"{text}, failed: {said}" if said else text


def _spread(values: pd.Series) -> str:
    text = _share(values.mean())
    return text if len(values) < 2 else f"{text} ± {_share(values.std())}"


def _first(values: pd.Series) -> str:
    return "" if values.isna().all() else str(values.dropna().iloc[0])


def _mean(values: pd.Series, written: Any) -> str:
    return "" if values.isna().all() else written(values.mean())


def _share(value: float) -> str:
    """Write .876 without the zero, as the pages do."""
    return f"{value:.3f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:.3f}"
