"""Columns that a user gives, for rows to be completed."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from skdpgen.synthesizers._opening import Facts
from skdpgen.tables import Cells, read_values


def given_codes(given: Any, cells: Mapping[Any, Cells], facts: Facts) -> dict[Any, Any]:
    """Return the cells of given columns; raise for what the schema does not know."""
    if not isinstance(given, pd.DataFrame) or not len(given.columns):
        raise TypeError(
            "given must be a pandas DataFrame with some of the columns. Got "
            f"{type(given).__name__} instead."
        )
    unknown = [str(name) for name in given.columns if name not in cells]
    if unknown or not given.columns.is_unique:
        raise ValueError(
            f"given must have some of the columns {', '.join(map(str, cells))}, each "
            f"once. Got {', '.join(unknown) or 'a column twice'}."
        )
    kinds = dict(zip(facts.layout.names, facts.layout.kinds, strict=True))
    codes = {}
    for name in given.columns:
        found = cells[name].encode(read_values(given[name], kinds[name]))
        if (found < 0).any():
            value = given[name].iloc[int(np.argmax(found < 0))]
            raise ValueError(
                f"given must hold values that the schema knows. Got {value!r} in "
                f"column {name!r}; see `schema_`."
            )
        codes[name] = found
    return codes
