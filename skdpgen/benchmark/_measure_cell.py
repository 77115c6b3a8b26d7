"""The row of a cell: scores, distances, seconds, memory, versions, certificate."""

import os
import resource
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from platform import python_version
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from skdpgen.benchmark._cells import PUBLIC, REAL, Catalogue, Cell
from skdpgen.benchmark._own_table import Split, read_source
from skdpgen.metrics import (
    SyntheticUtility,
    draw_samples,
    joined,
    require_sdmetrics,
    rule_violations,
    sdmetrics_quality,
    yardsticks,
)
from skdpgen.synthesizers import all_synthesizers
from skdpgen.tables import NUMBERS, Categorical, NumberCells, Schema, bounds
from skdpgen.utils import in_a_line, own_version, pick_device

CLASSES = "class labels: taken as public"
READ_CLASSES = (
    "LEAK: the benchmark read the class labels off all rows; the guarantee holds only "
    "if they are public anyway"
)
PACKAGES = {"numpy": "numpy", "torch": "torch"}
PACKAGES |= {"pandas": "pandas", "sklearn": "scikit-learn", "xgboost": "xgboost"}
SHORT_NAMES = {"one_way_tv": "tv1", "two_way_tv": "tv2", "three_way_tv": "tv3"}
METRICS = ("roc_auc", "average_precision", "macro_f1", "weighted_f1", "r2")
MOST_REAL = 50_000  # real rows that the ceiling is trained on


def measure_cell(
    cell: Cell,
    folder: str,
    catalogue: Catalogue | None = None,
    *,
    debug: bool = False,
) -> dict[str, Any]:
    """Compute a cell; an error becomes a row that names it.

    The text of an error of another library may quote values of a table, so it is kept
    only of tables that are known by name, which are public, or with ``debug``.
    """
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            numbers = _numbers(cell, folder, catalogue or Catalogue())
        except Exception as error:
            numbers = failure(error, with_text=debug or not cell.source.is_own)
            if cell.source.is_own:
                numbers["message"] = _without_paths(numbers["message"], cell)
            if debug:
                numbers["traceback"] = traceback.format_exc()
    categories = {
        w.category for w in caught if w.category.__module__.startswith("skdpgen")
    }
    return {
        **cell.about(),
        "peak_mib": peak_mib(),
        **numbers,
        "seconds": time.perf_counter() - start,
        "cpu_seconds": _processor_seconds(),
        "device": pick_device("auto").type,
        "warnings": sorted(category.__name__ for category in categories),
        **versions(),
    }


def failure(error: BaseException, *, with_text: bool) -> dict[str, Any]:
    """Return the columns of a cell that failed.

    Examples
    --------
    >>> failure(KeyError("Jane Doe"), with_text=True)["message"]
    "'Jane Doe'"
    >>> "Jane" in failure(KeyError("Jane Doe"), with_text=False)["message"]
    False
    """
    text = " ".join(str(error).split()) if with_text else ""
    return {"error": type(error).__name__, "message": text or in_a_line(error)}


def versions() -> dict[str, str]:
    """Return a column for each package whose version may change results."""
    columns = {f"version_{name}": version(of) for name, of in PACKAGES.items()}
    own = {"version_skdpgen": own_version()}
    return own | columns | {"version_python": python_version()}


def peak_mib() -> float:
    """Return the most memory that this process has used, in MiB.

    `getrusage` would count a large parent as well: on Linux a forked process inherits
    the parent's peak when it starts another program.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def _processor_seconds() -> float:
    """Return the processor seconds of this process and of its children.

    Unlike wall-clock seconds they hardly depend on the load of the machine. The
    process of a cell computes nothing else, so its imports are the only addition.
    """
    times = os.times()
    process, children = times.user + times.system, times.children_user
    return process + children + times.children_system


def _numbers(cell: Cell, folder: str, catalogue: Catalogue) -> dict[str, Any]:
    utility = SyntheticUtility(
        protocol=cell.protocol, classifiers=cell.classifiers, n_samples=cell.n_samples
    )
    if cell.source.is_images:
        assert cell.source.known is not None  # only the catalogue has images
        assert cell.source.known.measure is not None
        return cell.source.known.measure(cell, folder, utility, catalogue)
    split = read_source(cell.source, folder)
    if cell.method == REAL:
        return _measure_ceiling(cell, split, utility)
    if cell.method == PUBLIC:
        assert split.public is not None  # no such cell is made without public rows
        X, y = split.public
        of_public = replace(split, X_train=X, y_train=y)
        return _measure_ceiling(cell, of_public, utility)
    make = maker(cell, len(split.X_train), catalogue)
    given = public_part(cell, split.public, catalogue)
    row, synthesizer = _measure_release(cell, split, make, utility, given)
    costs = getattr(synthesizer, "costs_", {})  # of a peer, in a process of its own
    report = certificate(synthesizer)
    if cell.source.is_own and report:
        _mark_classes(report["privacy"])
    return {**row, **costs, **report}


def maker(cell: Cell, n_rows: int, catalogue: Catalogue) -> Callable[..., Any]:
    """Return a function that takes the guarantee and makes the synthesizer."""
    if cell.method in catalogue.methods:
        return catalogue.methods[cell.method].make(cell, n_rows)
    method = all_synthesizers()[cell.method]
    data = "images" if cell.source.is_images else "table"
    known = cell.source.known
    name = None if known is None else known.preset_data
    if name is not None and name in getattr(method, "_papers", ()):
        data = name
    return partial(with_settings, method, cell.settings, data)


def with_settings(
    method: Any, settings: Mapping[str, Any], data: str = "table", **params: Any
) -> Any:
    """Return a synthesizer; settings of its generator are named as in a search.

    The setting ``preset`` is the name of one, on which others build. It is that for
    ``preset_data``, a data set of the paper such as "adult", or for ``data``.

    Examples
    --------
    >>> from skdpgen import DPMERFSynthesizer
    >>> with_settings(DPMERFSynthesizer, {"generator__max_iter": 5}, epsilon=2.0)
    DPMERFSynthesizer(epsilon=2.0, generator=Generator(max_iter=5))
    """
    others = dict(settings)
    preset, data = others.pop("preset", None), others.pop("preset_data", data)
    if preset is None:
        return method(**params).set_params(**others)
    return method.from_preset(preset, data=data, **params | others)


def public_part(cell: Cell, public: Any, catalogue: Catalogue) -> dict[str, Any]:
    """Return what `fit` gets of the public rows of a cell, by name."""
    if cell.public is None or cell.method in catalogue.methods:
        return {}
    return {"public_data": catalogue.public_parts[cell.public](public)}


def delta_of(cell: Cell) -> float | None:
    """Return delta as estimators take it."""
    if isinstance(cell.delta, str):
        assert cell.delta == "auto"
        return None
    return cell.delta


def learned(synthesizer: Any) -> dict[str, str]:
    """Return what a fit learned of relations, if it says so.

    Where it is "columns by class only", no generator was trained.
    """
    relations = getattr(synthesizer, "relations_learned_", None)
    return {} if relations is None else {"relations": relations}


def certificate(synthesizer: Any) -> dict[str, Any]:
    """Return the certificate of a fit; methods outside this package have none."""
    report = getattr(synthesizer, "privacy_", None)
    return {} if report is None else {"privacy": report.to_dict()}


def _mark_classes(report: dict[str, Any]) -> None:
    """Correct the statement about classes: the benchmark read them from the rows."""
    stated = report["statements"]
    if CLASSES in stated:
        other_lines = [line for line in stated if line != CLASSES]
        report["statements"] = [READ_CLASSES, *other_lines]


def _without_paths(text: str, cell: Cell) -> str:
    """Return a text with file names in place of paths."""
    for path in filter(None, (cell.source.public, cell.source.path)):
        text = text.replace(path, Path(path).name)
    return text


def _measure_ceiling(
    cell: Cell, split: Split, utility: SyntheticUtility
) -> dict[str, Any]:
    """Train on real rows, and measure them as if they were synthetic: a baseline."""
    rows = np.random.default_rng(0).permutation(len(split.X_train))[:MOST_REAL]
    train = split.X_train.iloc[rows], split.y_train.iloc[rows]
    scores = utility.evaluate(train, split.X_test, split.y_test)
    distances = _distances(cell, (split.X_test, split.y_test), train)
    return {"rows": len(split.X_train), **_scores_of_models(scores), **distances}


def _measure_release(
    cell: Cell,
    split: Split,
    make: Callable[..., Any],
    utility: SyntheticUtility,
    given: Mapping[str, Any],
) -> tuple[dict[str, Any], Any]:
    """Fit and score the release of a cell; return a row, and the fitted estimator."""
    if cell.source.rules:  # raises now, not after a long fit, as the next does
        rule_violations((split.X_test, split.y_test), cell.source.rules)
    if cell.sdmetrics:
        require_sdmetrics()
    is_schema_public = cell.schema == "public"
    synthesizer = make(
        epsilon=cell.epsilon,
        delta=delta_of(cell),
        schema=Schema.infer(*split.whole) if is_schema_public else None,
        classes=split.classes,
        adjacency=cell.adjacency,
        random_state=cell.release,
    )
    start = time.perf_counter()
    synthesizer.fit(split.X_train, split.y_train, **given)
    seconds = time.perf_counter() - start
    seeded = replace(utility, random_state=cell.release)
    rows = draw_samples(synthesizer, utility.n_samples, cell.release)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scores = seeded.evaluate(rows, split.X_test, split.y_test)
        distances = _distances(cell, (split.X_test, split.y_test), rows)
    discovered = (
        {} if is_schema_public else _judge_discovery(synthesizer, split.X_train)
    )
    run = {
        "rows": len(split.X_train),
        **_scores_of_models(scores),
        **distances,
        "fit_seconds": seconds,
        **learned(synthesizer),
        **discovered,
    }
    return run, synthesizer


def _distances(cell: Cell, real: Any, rows: Any) -> dict[str, Any]:
    """Return yardsticks under the short names that stored rows use, and what is asked.

    ``broken`` is the share of rows against any rule, and ``rules`` that of each.
    """
    source = cell.source
    distances: dict[str, Any] = {
        SHORT_NAMES.get(name, name): distance
        for name, distance in yardsticks(real, rows, stratum=source.stratum).items()
    }
    if source.rules:
        shares = rule_violations(rows, source.rules) / len(joined(rows))
        distances["broken"] = float(shares.pop("any"))
        distances["rules"] = shares.to_dict()
    if cell.sdmetrics:
        report = sdmetrics_quality(real, rows)
        distances["sdmetrics"] = report["quality"]
        distances["pair_trends"] = report["column_pair_trends"]
    return distances


def _scores_of_models(scores: pd.DataFrame) -> dict[str, Any]:
    """Return the mean of the models and the best of them, then those of each model."""
    present = [metric for metric in METRICS if metric in scores]
    means: dict[str, Any] = {}
    for metric in present:
        means[metric] = float(scores[metric].mean())
        means[f"{metric}_best"] = float(scores[metric].max())
    by_model = scores[present].to_dict("index")
    return {**means, "models": by_model}


def _judge_discovery(synthesizer: Any, X: pd.DataFrame) -> dict[str, float]:
    """Compare a discovered schema with the rows that it was discovered from.

    Returns
    -------
    covered : share of numbers inside the released bounds
    overshoot : released range over the range of the middle 99 %, as a power of two;
        that of the median column
    category_mass : share of text cells whose category was released
    largest_bin : largest share of rows in a bin that holds more than one value
    """
    covered, overshoot, mass, largest = [], [], [], []
    for name, column in synthesizer.schema_.columns.items():
        real = X[name]
        if isinstance(column, Categorical):
            texts = real.dropna().astype(str)
            assert column.categories is not None  # a fitted schema has no open column
            mass.append(texts.isin(set(map(str, column.categories))).mean())
        elif isinstance(column, NUMBERS) and is_numeric_dtype(real):
            values = real.dropna().to_numpy(dtype=float)
            lower, upper = bounds(column)
            covered.append(np.mean((values >= lower) & (values <= upper)))
            low, high = np.quantile(values, [0.005, 0.995])
            if high > low and upper > lower:
                overshoot.append(np.log2((upper - lower) / (high - low)))
            cells = synthesizer.cells_[name]
            if isinstance(cells, NumberCells):
                inside = np.searchsorted(cells.edges[1:-1], values, side="right")
                shares = np.bincount(inside, minlength=cells.n_known) / len(values)
                wide = shares[~cells.is_atom()]
                largest.append(wide.max() if len(wide) else 0.0)
    measures = {
        "covered": covered,
        "overshoot": overshoot,
        "category_mass": mass,
        "largest_bin": largest,
    }
    centre = {"overshoot": np.median}  # one lost tail is many powers of two
    return {
        key: float(centre.get(key, np.mean)(values))
        for key, values in measures.items()
        if values
    }
