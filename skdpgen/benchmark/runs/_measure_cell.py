"""The row of a cell: scores, distances, seconds, memory, versions, certificate."""

import time
import traceback
import warnings
from functools import partial
from importlib.metadata import version
from platform import python_version
from typing import Any

from skdpgen.benchmark._measure import measure_ceiling, measure_release
from skdpgen.benchmark._rival_runner import peak_mib
from skdpgen.benchmark.runs._frozen_cell import REAL, Cell
from skdpgen.benchmark.runs._own_table import read_source
from skdpgen.metrics import SyntheticUtility
from skdpgen.synthesizers import all_synthesizers
from skdpgen.utils import in_a_line

PACKAGES = {"skdpgen": "skdpgen", "numpy": "numpy", "torch": "torch"}
PACKAGES |= {"pandas": "pandas", "sklearn": "scikit-learn", "xgboost": "xgboost"}
SAID = ("set", "schema", "epsilon", "adjacency", "release")  # by the cell itself


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
            if debug:
                found["traceback"] = traceback.format_exc()
    ours = {w.category for w in told if w.category.__module__.startswith("skdpgen")}
    return {
        **cell.about(),
        **found,
        "seconds": time.perf_counter() - start,
        "peak_mib": peak_mib(),
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


def versions() -> dict[str, str]:
    """Return a column for each package whose version may move numbers."""
    found = {f"version_{name}": version(package) for name, package in PACKAGES.items()}
    return found | {"version_python": python_version()}


def _numbers(cell: Cell, folder: str) -> dict[str, Any]:
    split = read_source(cell.source, folder)
    utility = SyntheticUtility(protocol=cell.protocol, classifiers=cell.classifiers)
    if cell.method == REAL:
        row = {"rows": len(split.X_train), **measure_ceiling(split, utility)}
        return _without_said(row)
    row, synthesizer = measure_release(
        split,
        partial(all_synthesizers()[cell.method], **cell.settings),
        utility,
        release=cell.release,
        is_schema_public=cell.schema == "public",
        epsilon=cell.epsilon,
        delta=None if cell.delta == "auto" else cell.delta,
        adjacency=cell.adjacency,
    )
    return {**_without_said(row), "privacy": synthesizer.privacy_.to_dict()}


def _without_said(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in SAID}
