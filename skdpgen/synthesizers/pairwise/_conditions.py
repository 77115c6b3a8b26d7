"""Columns that a user gives, to be completed to whole rows."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skdpgen.synthesizers.opening import Facts
from skdpgen.tables import (
    Cells,
    Kind,
    MixedCells,
    NumberCells,
    as_numbers,
    as_seconds,
    bounds,
    clock_times,
    in_zone,
    is_written,
    read_column,
    read_values,
    zone_of,
)
from skdpgen.utils import (
    Labels,
)

ROUNDING = 1e-6  # of a step: given values may be off by it


def read_given(
    conditions: Any, cells: Mapping[Any, Cells], facts: Facts
) -> tuple[dict[Any, pd.Series], dict[Any, NDArray[np.int64]]]:
    """Return given columns and their cells; raise for values outside the schema."""
    if conditions is None:
        return {}, {}
    if not isinstance(conditions, pd.DataFrame) or not len(conditions.columns):
        raise TypeError(
            "conditions must be a pandas DataFrame with some of the columns. Got "
            f"{type(conditions).__module__}.{type(conditions).__name__}, or no columns."
        )
    unknown = [str(name) for name in conditions.columns if name not in cells]
    if unknown or not conditions.columns.is_unique:
        raise ValueError(
            f"conditions must have some of the columns {', '.join(map(str, cells))}, "
            "each "
            f"once. Got {', '.join(unknown) or 'a column twice'}."
        )
    kinds = dict(zip(facts.layout.names, facts.layout.kinds, strict=True))
    zones = dict(
        zip(facts.layout.names, map(zone_of, facts.layout.dtypes), strict=True)
    )
    kept, codes = {}, {}
    for name in conditions.columns:
        column = conditions[name].reset_index(drop=True)
        column = in_zone(column, zones[name])
        if zones[name] is None:
            column = clock_times(column, None)
        values, column_cells = read_values(column, kinds[name]), cells[name]
        if is_written(facts.columns[name]) and not isinstance(column_cells, MixedCells):
            values = read_column(values, facts.columns[name])
        column_codes = column_cells.encode(values)
        wrong = (column_codes < 0) | (
            (column_codes >= column_cells.n_known) & column.notna().to_numpy()
        )
        if isinstance(column_cells, NumberCells):
            numbers = as_seconds(values) if column_cells.is_time else as_numbers(values)
            wrong |= (numbers < column_cells.edges[0]) | (
                numbers > column_cells.edges[-1]
            )
            if kinds[name] is Kind.INTEGER or name not in facts.discovered:
                is_between = _is_between_steps(numbers, column_cells.step, column)
                ends = bounds(facts.columns[name])  # which may be between steps, too
                wrong |= is_between & ~np.isin(numbers, ends)
        if wrong.any():
            raise ValueError(
                "conditions must hold values that the schema knows. Got "
                f"{column.iloc[int(np.argmax(wrong))]} in column {name!r}; see "
                "`schema_`."
            )
        kept[name], codes[name] = column, column_codes
    return kept, codes


def _is_between_steps(
    numbers: NDArray[np.float64], step: float | None, given: pd.Series
) -> NDArray[np.bool_]:
    """Return which numbers are no multiples of a step, up to rounding."""
    if not step:
        return np.zeros(len(numbers), dtype=bool)
    is_single = str(given.dtype).lower() == "float32"
    rounding = np.spacing(np.abs(numbers).astype("float32" if is_single else "float64"))
    off = np.abs(numbers - np.round(numbers / step) * step)
    return np.asarray(off > ROUNDING * step + 4.0 * rounding.astype(np.float64))


def check_given(
    conditions: pd.DataFrame, n_samples: int, y: Labels | None, class_distribution: Any
) -> None:
    """Raise unless each row to draw has its conditions, and classes no shares."""
    if len(conditions) != n_samples:
        raise ValueError(
            f"conditions must have one row for each of the {n_samples} rows to draw. "
            f"Got {len(conditions)} rows instead."
        )
    if y is None and class_distribution is not None:
        raise ValueError(
            "class_distribution must be None with conditions: labels follow from "
            f"them. Got {class_distribution!r}; say which ones by `y=`."
        )
