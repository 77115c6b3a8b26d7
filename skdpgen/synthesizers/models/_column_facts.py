"""What a release says of each column, for people: what was found, what was lost."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from skdpgen.privacy import Release
from skdpgen.synthesizers.opening import Facts
from skdpgen.tables import (
    NUMBERS,
    TARGET,
    Categorical,
    CategoryCells,
    Cells,
    Kind,
    Regenerate,
    bounds,
    with_range_of,
)
from skdpgen.training import column_counts
from skdpgen.utils import Key

OUTSIDE = ("below", "above", "below_noise", "above_noise")
LINE = (
    "type",
    "is_discovered",
    "is_identifier",
    "n_values",
    "lower",
    "upper",
    "n_cells",
)
SHARES = (
    "other",
    "missing",
    "no_cell",
    "noise",
    "other_noise",
    "missing_noise",
    "no_cell_noise",
)
UNREAD = ("unread", "unread_noise")
UNSURE = 0.05  # of the rows, noise of their number: shares of it are not known
LEAST_USED = 0.01  # of the rows have a usable label: where noise says fewer


def describe_columns(
    facts: Facts,
    cells: Mapping[Any, Cells],
    counts: Mapping[Any, Any],
    outside: Mapping[Any, Any],
    unread: Mapping[Any, tuple[float, float]],
    dropped: tuple[float, float] = (0.0, 0.0),
) -> pd.DataFrame:
    """Return one line a column: its kind, what was found in it, shares of the rest.

    Rows without a usable label are in no cell. So shares that the main release counts
    are shares of the rows with one; those of earlier releases are shares of all rows.

    Parameters
    ----------
    facts : Facts
    cells : mapping of name to Cells
    counts : mapping of name to (ndarray, float)
        RELEASED counts of the cells, and their noise; columns may be absent.
    outside : mapping of name to (float, float, float, float)
        RELEASED shares of rows below and above bounds, and their standard errors.
    unread : mapping of name to (float, float)
        RELEASED shares of rows whose value the description of a column does not know.
    dropped : (float, float), default=(0.0, 0.0)
        Share of rows without a usable label, from :func:`dropped_rows`.
    """
    gone, noise = (0.0, 0.0) if math.isnan(dropped[0]) else dropped
    n_rows = facts.n_rows * max(1.0 - gone, LEAST_USED)  # these count in the cells
    unsure = noise / max(1.0 - gone, LEAST_USED)
    lines = {}
    for name, column in facts.schema.columns.items():
        known = cells.get(name)
        line = _kind_of(column) | {
            "is_discovered": name in facts.discovered,
            "is_identifier": isinstance(column, Regenerate) or name in facts.numbered,
            "n_cells": 0 if known is None else known.n_cells,
        }
        if name in counts and known is not None:
            shares, std = counts[name][0] / n_rows, counts[name][1] / n_rows
            line |= _shares(known, shares) | {"noise": std}
            late_noise = 0.0
            line |= _no_cell(facts, name, known, (shares, std), unsure)
            late = facts.late_words.get(name)
            if late is not None:  # rows of "other" that have a name since
                line["other"] -= sum(late.rows) / facts.n_rows  # they count all rows
                late_noise = late.total_noise / facts.n_rows
            # the number of rows that a share is divided by is noisy, too
            line["other_noise"] = math.hypot(std, late_noise, line["other"] * unsure)
            line["missing_noise"] = math.hypot(std, line["missing"] * unsure)
            if _other_is_listed(column):
                line["other"] = math.nan
        range_ = bounds(column) if isinstance(column, NUMBERS) else (0.0, 0.0)
        asked = known, range_, counts.get(name), outside.get(name)
        line |= _outside(*asked, n_rows)
        if name in facts.finer:  # perhaps rounded to the bound, and in its cell
            rounded = facts.finer[name] / (line["n_values"] or math.inf)
            for key in OUTSIDE[2:]:
                line[key] = math.hypot(line[key], rounded)
        if name in unread and (known is None or known.other is None):
            line |= dict(zip(UNREAD, unread[name], strict=True))
        lines[name] = line
    columns = [*LINE, *SHARES, *OUTSIDE, *UNREAD]
    return pd.DataFrame.from_dict(lines, orient="index").reindex(columns=columns)


def describe_target(
    facts: Facts,
    labels: Any,
    outside: Mapping[Any, Any],
    dropped: tuple[float, float],
) -> "pd.Series[Any] | None":
    """Return what is known of the target; None without one."""
    if facts.task is None:
        return None
    line: dict[str, Any] = {"type": "classes", "n_values": len(facts.classes or ())}
    found = dict.fromkeys(OUTSIDE, math.nan)
    if facts.task == "regression":
        line = _kind_of(facts.schema.target)
        if TARGET in outside:
            found = dict(zip(OUTSIDE, map(float, outside[TARGET]), strict=True))
        line["is_discovered"] = TARGET in facts.discovered
    line |= {
        "n_cells": getattr(labels, "n_cells", 0),
        "dropped": dropped[0],
        "dropped_noise": dropped[1],
    }
    return pd.Series({**dict.fromkeys(LINE), **line, **found}, dtype=object)


def dropped_rows(
    facts: Facts,
    cells: Mapping[Any, Cells],
    counts: Mapping[Any, Any],
    kept: tuple[float, float],
    noise_of_rows: float,
) -> tuple[float, float]:
    """Return the share of rows without a usable label, and its standard error.

    Rows whose label is missing, or none of the classes, count in no cell. So the total
    of a column in which each value has a cell is the number of the other rows. Totals
    of several columns are averaged by precision. Without such a column the share is
    not known (NaN): rows without a cell and rows without a label look alike.

    Parameters
    ----------
    facts : Facts
    cells : mapping of name to Cells
    counts : mapping of name to (ndarray, float)
        RELEASED counts of the cells, and their noise.
    kept : (float, float)
        RELEASED number of rows with a label, and its noise, where no column is counted.
    noise_of_rows : float
        Noise of the number of rows; 0 if it is public.
    """
    if facts.task is None:
        return 0.0, 0.0
    if noise_of_rows > UNSURE * facts.n_rows:
        return math.nan, math.nan
    if counts:
        whole = [
            (float(found.sum()), len(found) * std**2)
            for name, (found, std) in counts.items()
            if has_cell_for_all(facts, name, cells[name])
        ]
        if not whole:
            return math.nan, math.nan
        weights = [1.0 / variance if variance else 1.0 for _, variance in whole]
        totals = [total for total, _ in whole]
        is_exact = not whole[0][1]
        noise = 0.0 if is_exact else 1.0 / math.sqrt(sum(weights))
        kept = float(np.average(totals, weights=weights)), noise
    share = 1.0 - kept[0] / facts.n_rows
    return share, math.hypot(kept[1], (1.0 - share) * noise_of_rows) / facts.n_rows


def has_cell_for_all(facts: Facts, name: Any, cells: Cells) -> bool:
    """Say whether each value of a column has a cell, by its dtype and description."""
    if cells.nullable:
        return True
    layout: Any = facts.layout
    place = layout.names.index(name)
    if layout.can_be_missing[place]:
        return False
    is_list = isinstance(cells, CategoryCells) and cells.other is None
    return not is_list or layout.kinds[place] is Kind.BOOLEAN


def _kind_of(column: Any) -> dict[str, Any]:
    """Return the type of a column, and the values that it lists or its bounds."""
    n_values = getattr(column, "n_values", None)
    if isinstance(column, Categorical):
        n_values = len(column.categories or ())
    return {
        "type": type(column).__name__,
        "n_values": n_values,
        "lower": getattr(column, "lower", None),
        "upper": getattr(column, "upper", None),
    }


def _other_is_listed(column: Any) -> bool:
    """Say whether "other" is a value of its own, that the rest is not told from."""
    listed = map(str, getattr(column, "categories", None) or ())
    return str(getattr(column, "other", None)) in listed


def _shares(cells: Cells, shares: Any) -> dict[str, float]:
    """Return the shares of rows that have none of the values that were listed."""
    return {
        "other": math.nan if cells.other is None else float(shares[cells.other]),
        "missing": float(shares[-1]) if cells.nullable else 0.0,
    }


def _no_cell(
    facts: Facts,
    name: Any,
    cells: Cells,
    counted: tuple[Any, float],
    unsure: float,
) -> dict[str, float]:
    """Return the share of rows whose value has no cell, though their label has one."""
    if has_cell_for_all(facts, name, cells):
        return {"no_cell": 0.0, "no_cell_noise": 0.0}
    shares, std = counted
    return {
        "no_cell": 1.0 - float(shares.sum()),
        "no_cell_noise": math.hypot(std * math.sqrt(len(shares)), unsure),
    }


def _outside(
    cells: Cells | None,
    range_: tuple[float, float],
    counted: Any,
    earlier: Any,
    n_rows: float,
) -> dict[str, float]:
    """Return the shares of rows below and above a range, and their standard errors.

    The main release counted the cells on both sides of the range. Beyond the outermost
    cell, and where it counted none, the releases before say how many rows there are.
    """
    numbers: Any = getattr(cells, "numbers", cells)
    found = dict.fromkeys(OUTSIDE, math.nan)
    if earlier is not None:
        found = dict(zip(OUTSIDE, map(float, earlier), strict=True))
    if counted is None or not getattr(numbers, "gaps", ()):
        return found
    widths = np.diff(numbers.edges)
    middles = numbers.edges[:-1] + 0.5 * widths
    for where, is_outside in (
        ("below", middles < range_[0] - 0.25 * widths),  # a range ends between cells
        ("above", middles > range_[1] + 0.25 * widths),
    ):
        n_cells = int(is_outside.sum())
        if n_cells:
            rows = float(counted[0][: len(middles)][is_outside].sum())
            found[where] = rows / n_rows
            found[f"{where}_noise"] = math.sqrt(n_cells) * counted[1] / n_rows
    return found


def counted_columns(
    released: Release, cells: Mapping[Any, Cells], scales: Any
) -> dict[Any, tuple[Any, float]]:
    """Return the counts of every cell, classes together, and their noise."""
    if not cells or Key.COLUMNS not in released.values:
        return {}
    sizes = np.array([column.n_cells for column in cells.values()])
    blocks, stds = column_counts(released, sizes, scales)
    return {
        name: (block.sum(axis=0), float(std) * math.sqrt(len(block)))
        for name, block, std in zip(cells, blocks, stds, strict=True)
    }


def with_ranges(
    facts: Facts, marginals: Mapping[Any, Any], cells: Mapping[Any, Cells]
) -> Facts:
    """Return what is known of a table, with the ranges in which rows are drawn.

    The main release counts gaps, too: where it shows rows in one, the range grows.
    """
    for name in facts.discovered:
        if name in cells and name in marginals and name is not TARGET:
            column, marginal = facts.schema.columns[name], np.asarray(marginals[name])
            found = with_range_of(column, cells[name], marginal)
            facts = facts.corrected(name, found)
    return facts
