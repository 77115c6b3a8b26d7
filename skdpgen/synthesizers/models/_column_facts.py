"""What a release says of each column, for people: what was found, what was lost."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from skdpgen.privacy import Release
from skdpgen.synthesizers.opening import Facts
from skdpgen.tables import (
    NUMBERS,
    TARGET,
    Boolean,
    Categorical,
    Cells,
    Kind,
    bounds,
    is_written,
    with_range_of,
)
from skdpgen.training import column_counts
from skdpgen.utils import Key

MANY = 0.1  # of the rows are other: more than is usual
NOTHING = 0.1  # of the rows have a listed value: less than is usual
MOST = 0.5  # of the rows are beyond a bound
SURE = 2.0  # noise stds
SURELY = 5.0  # where a wrong alarm would blame what is right; asked of many bounds


def describe_columns(
    facts: Facts,
    cells: Mapping[Any, Cells],
    counts: Mapping[Any, Any],
    outside: Mapping[Any, Any],
) -> pd.DataFrame:
    """Return one line a column: its kind, what was found in it, shares of the rest.

    Parameters
    ----------
    facts : Facts
    cells : mapping of name to Cells
    counts : mapping of name to (ndarray, float)
        RELEASED counts of the cells, and their noise; columns may be absent.
    outside : mapping of name to (float, float, float, float)
        RELEASED shares of rows below and above bounds, and their standard errors.
    """
    lines = {}
    for name, column in facts.schema.columns.items():
        known = cells.get(name)
        line: dict[str, Any] = {
            "type": type(column).__name__,
            "is_discovered": name in facts.discovered,
            "n_values": getattr(column, "n_values", None),
            "lower": getattr(column, "lower", None),
            "upper": getattr(column, "upper", None),
            "n_cells": 0 if known is None else known.n_cells,
        }
        if isinstance(column, Categorical):
            line["n_values"] = len(column.categories or ())
        if name in counts and known is not None:
            shares, std = counts[name][0] / facts.n_rows, counts[name][1] / facts.n_rows
            line |= _shares(known, shares) | {"noise": std, "other_noise": std}
            late = facts.late_words.get(name)
            if late is not None:  # rows of "other" that have a name since
                line["other"] -= sum(late.rows) / facts.n_rows
                line["other_noise"] = math.hypot(std, late.total_noise / facts.n_rows)
            if _other_is_listed(column):
                line["other"] = math.nan
        range_ = bounds(column) if isinstance(column, NUMBERS) else (0.0, 0.0)
        asked = known, range_, counts.get(name), outside.get(name)
        line |= _outside(*asked, facts.n_rows)
        lines[name] = line
    columns = [*LINE, "other", "missing", "no_cell", "noise", *OUTSIDE, "other_noise"]
    return pd.DataFrame.from_dict(lines, orient="index").reindex(columns=columns)


OUTSIDE = ("below", "above", "below_noise", "above_noise")
LINE = ("type", "is_discovered", "n_values", "lower", "upper", "n_cells")


def _other_is_listed(column: Any) -> bool:
    """Say whether "other" is a value of its own, that the rest is not told from."""
    listed = map(str, getattr(column, "categories", None) or ())
    return str(getattr(column, "other", None)) in listed


def _shares(cells: Cells, shares: Any) -> dict[str, float]:
    """Return the shares of rows that have none of the values that were listed."""
    return {
        "other": math.nan if cells.other is None else float(shares[cells.other]),
        "missing": float(shares[-1]) if cells.nullable else 0.0,
        "no_cell": 1.0 - float(shares.sum()),
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


def rare_values(table: pd.DataFrame) -> dict[Any, float]:
    """Return the columns of which many rows are other, and their shares."""
    surely = table["other"] - SURE * table["other_noise"]
    many = table[table["is_discovered"] & (surely > MANY)]
    return {name: min(float(share), 1.0) for name, share in many["other"].items()}


def contradictions(
    table: pd.DataFrame, facts: Facts, outside: Mapping[Any, Any]
) -> Iterator[str]:
    """Say where released counts do not fit what was said to be public."""
    layout = facts.layout
    texts = {n for j, n in enumerate(layout.names) if layout.kinds[j] is Kind.TEXT}  # type: ignore[union-attr]
    for name, line in table.iterrows():
        column = facts.schema.columns[name]
        read = 1.0 - line["missing"] - line["no_cell"]
        noise = SURELY * line["noise"] * math.sqrt(line["n_cells"])
        is_said = is_written(column) or (not line["is_discovered"] and name in texts)
        is_read = isinstance(column, (*NUMBERS, Boolean))
        if is_read and is_said and read + noise < NOTHING:
            what = "truth value" if isinstance(column, Boolean) else "number or time"
            yield (
                f"column {name!r}: only {max(read, 0.0):.0%} of the rows hold a {what} "
                "that could be read; are they written as the schema says?"
            )
        if line["is_discovered"]:
            continue
        is_list = isinstance(column, Categorical) and column.other is None
        if is_list and line["n_values"] and read + noise < NOTHING:
            yield (
                f"column {name!r}: only {max(read, 0.0):.0%} of the rows hold one of "
                "its categories; are they spelt as in the table?"
            )
        if isinstance(column, NUMBERS) and name in outside and name is not TARGET:
            for where, bound in (("below", column.lower), ("above", column.upper)):
                noise = SURELY * line[f"{where}_noise"]
                if line[where] - noise > MOST:
                    yield (
                        f"column {name!r}: {min(line[where], 1.0):.0%} of the rows are "
                        f"{where} {bound!r} and were clipped to it"
                    )
