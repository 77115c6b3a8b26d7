"""The row of a cell: scores, distances, seconds, memory, versions, certificate."""

import os
import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from platform import python_version
from typing import Any

import numpy as np

from skdpgen.benchmark._floor_codes import Uniform
from skdpgen.benchmark._measure import measure_ceiling, measure_release
from skdpgen.benchmark._measure_images import (
    measure_image_release,
    measure_real_images,
    read_image_set,
)
from skdpgen.benchmark._peers import python_of
from skdpgen.benchmark._public_splits import part_of, public_images
from skdpgen.benchmark._rival_runner import peak_mib
from skdpgen.benchmark._rivals import (
    FEWEST_ROWS,
    MOST_ROWS,
    RIVALS,
    Other,
    Rival,
)
from skdpgen.benchmark.runs._frozen_cell import PUBLIC, REAL, UNIFORM, Cell
from skdpgen.benchmark.runs._own_table import (
    check_rows,
    file_of,
    public_file,
    read_source,
)
from skdpgen.metrics import SyntheticUtility
from skdpgen.synthesizers import all_synthesizers
from skdpgen.utils import in_a_line

CLASSES = "class labels: taken as public"
READ_CLASSES = (
    "LEAK: the benchmark read the class labels off all rows; the guarantee holds only "
    "if they are public anyway"
)
PACKAGES = {"skdpgen": "skdpgen", "numpy": "numpy", "torch": "torch"}
PACKAGES |= {"pandas": "pandas", "sklearn": "scikit-learn", "xgboost": "xgboost"}


def measure_cell(cell: Cell, folder: str, *, debug: bool = False) -> dict[str, Any]:
    """Compute a cell; an error becomes a row that names it.

    The text of an error of another library may quote values of a table, so it is kept
    only of tables that are known by name, which are public, or with ``debug``.
    """
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            found = _numbers(cell, folder)
        except Exception as error:
            found = failure(error, whole=debug or not cell.source.is_own)
            if cell.source.is_own:
                found["message"] = _without_paths(found["message"], cell)
            if debug:
                found["traceback"] = traceback.format_exc()
    ours = {w.category for w in told if w.category.__module__.startswith("skdpgen")}
    return {
        **cell.about(),
        "peak_mib": peak_mib(),
        **found,
        "seconds": time.perf_counter() - start,
        "cpu_seconds": _spent(),
        "warnings": sorted(category.__name__ for category in ours),
        **versions(),
    }


def failure(error: BaseException, *, whole: bool) -> dict[str, Any]:
    """Return the columns of a cell that failed.

    Examples
    --------
    >>> failure(KeyError("Jane Doe"), whole=True)["message"]
    "'Jane Doe'"
    >>> "Jane" in failure(KeyError("Jane Doe"), whole=False)["message"]
    False
    """
    text = " ".join(str(error).split()) if whole else ""
    return {"error": type(error).__name__, "message": text or in_a_line(error)}


def _spent() -> float:
    """Return the processor seconds of this process, and of a peer that it waited for.

    Unlike seconds of a clock they say little of what else a machine was doing. The
    process of a cell computes nothing else, so its imports are the only addition.
    """
    spent = os.times()
    own, children = spent.user + spent.system, spent.children_user
    return own + children + spent.children_system


def versions() -> dict[str, str]:
    """Return a column for each package whose version may move numbers."""
    found = {f"version_{name}": version(package) for name, package in PACKAGES.items()}
    return found | {"version_python": python_version()}


def _numbers(cell: Cell, folder: str) -> dict[str, Any]:
    utility = SyntheticUtility(protocol=cell.protocol, classifiers=cell.classifiers)
    if cell.source.is_images:
        return _of_images(cell, folder, utility)
    split = read_source(cell.source, folder)
    if cell.method == REAL:
        return measure_ceiling(split, utility)
    if cell.method == PUBLIC:
        X, y = split.public
        alone = replace(split, X_train=X, y_train=y)
        return measure_ceiling(alone, utility)
    make = _maker(cell, len(split.X_train), split.public)
    row, synthesizer = measure_release(
        split,
        make,
        utility,
        release=cell.release,
        is_schema_public=cell.schema == "public",
        epsilon=cell.epsilon,
        delta=_delta(cell),
        adjacency=cell.adjacency,
    )
    costs = getattr(synthesizer, "costs_", {})  # of a peer, in a process of its own
    certificate = _certificate(synthesizer)
    if cell.source.is_own and certificate:
        _mark_classes(certificate["privacy"])
    return {**row, **costs, **certificate}


def _of_images(cell: Cell, folder: str, utility: SyntheticUtility) -> dict[str, Any]:
    images = read_image_set(file_of(cell.source, folder))
    if cell.source.rows is not None:
        check_rows(cell.source, len(images[0]))
        some = np.random.default_rng(cell.source.rows).permutation(len(images[0]))
        images[:2] = [part[some[: cell.source.rows]] for part in images[:2]]
    about = {"rows": len(images[0])}
    if cell.method == REAL:
        return about | measure_real_images(images, utility)
    public = None
    if cell.source.has_public:
        X, y, *_ = read_image_set(public_file(cell.source, folder))
        public = public_images(X, images[0].shape[1:]), y
    if cell.method == PUBLIC:
        scores = measure_real_images([*public, *images[2:]], utility)
        return {"rows": len(public[1]), **scores}
    make = _maker(cell, len(images[0]), public)
    row, synthesizer, _ = measure_image_release(
        images,
        make,
        utility,
        release=cell.release,
        epsilon=cell.epsilon,
        delta=_delta(cell),
        adjacency=cell.adjacency,
    )
    return {**about, **row, **_certificate(synthesizer)}


def _maker(cell: Cell, n_rows: int, public: Any) -> Callable[..., Any]:
    """Return what makes the synthesizer of a cell, given its guarantee."""
    if cell.method == UNIFORM:
        return Uniform
    if cell.method not in RIVALS:
        make = partial(all_synthesizers()[cell.method], **cell.settings)
        if cell.public is None:
            return make
        return partial(make, public_data=part_of(public, cell.public))
    other = Other(python_of(cell.method), cell.settings)
    return partial(Rival, cell.method, other, min(max(n_rows, FEWEST_ROWS), MOST_ROWS))


def _certificate(synthesizer: Any) -> dict[str, Any]:
    """Return what was promised; a peer's word is not ours to repeat."""
    report = getattr(synthesizer, "privacy_", None)
    return {} if report is None else {"privacy": report.to_dict()}


def _mark_classes(report: dict[str, Any]) -> None:
    """Correct what a certificate states about classes: they were read off the rows."""
    stated = report["statements"]
    if CLASSES in stated:
        others = [line for line in stated if line != CLASSES]
        report["statements"] = [READ_CLASSES, *others]


def _without_paths(text: str, cell: Cell) -> str:
    """Return a text with the name of a table in place of where its files lie."""
    for path in filter(None, (cell.source.public, cell.source.path)):
        text = text.replace(path, Path(path).name)
    return text


def _delta(cell: Cell) -> Any:
    return None if cell.delta == "auto" else cell.delta
