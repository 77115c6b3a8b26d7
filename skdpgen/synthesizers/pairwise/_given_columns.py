"""Columns that a user gives, to be completed to whole rows."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skdpgen.synthesizers.opening import Facts
from skdpgen.tables import (
    Cells,
    MixedCells,
    NumberCells,
    as_numbers,
    as_seconds,
    is_written,
    read_column,
    read_values,
)
from skdpgen.utils import Labels


def read_given(
    given: Any, cells: Mapping[Any, Cells], facts: Facts
) -> tuple[dict[Any, pd.Series], dict[Any, NDArray[np.int64]]]:
    """Return given columns and their cells; raise for values outside the schema."""
    if given is None:
        return {}, {}
    if not isinstance(given, pd.DataFrame) or not len(given.columns):
        raise TypeError(
            "given must be a pandas DataFrame with some of the columns. Got "
            f"{type(given).__module__}.{type(given).__name__}, or no columns."
        )
    unknown = [str(name) for name in given.columns if name not in cells]
    if unknown or not given.columns.is_unique:
        raise ValueError(
            f"given must have some of the columns {', '.join(map(str, cells))}, each "
            f"once. Got {', '.join(unknown) or 'a column twice'}."
        )
    kinds = dict(zip(facts.layout.names, facts.layout.kinds, strict=True))
    kept, codes = {}, {}
    for name in given.columns:
        column = given[name].reset_index(drop=True)
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
        if wrong.any():
            raise ValueError(
                "given must hold values that the schema knows. Got "
                f"{column.iloc[int(np.argmax(wrong))]} in column {name!r}; see "
                "`schema_`."
            )
        if isinstance(column.dtype, pd.DatetimeTZDtype):
            column = column.dt.tz_convert(None)  # like everything that is decoded
        kept[name], codes[name] = column, column_codes
    return kept, codes


def check_given(
    given: pd.DataFrame, n_samples: int, y: Labels | None, class_shares: Any
) -> None:
    """Raise unless there is one given row for each row to draw, and no class shares."""
    if len(given) != n_samples:
        raise ValueError(
            f"given must have one row for each of the {n_samples} rows to draw. "
            f"Got {len(given)} rows instead."
        )
    if y is None and class_shares is not None:
        raise ValueError(
            "class_shares must be None when columns are given: labels follow "
            f"from them. Got {class_shares!r}; say which ones by `y=`."
        )
