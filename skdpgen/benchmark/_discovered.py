"""How near private discovery comes to the truth."""

from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from skdpgen.tables import NUMBERS, Categorical, NumberCells, bounds


def judge_discovery(synthesizer: Any, X: pd.DataFrame) -> dict[str, float]:
    """Compare a discovered schema with the rows that it was discovered from.

    Returns
    -------
    covered : share of numbers inside the found bounds
    overshoot : found range over the range of the middle 99 %, as a power of two;
        that of the median column
    category_mass : share of text cells whose category was found
    largest_bin : largest share of rows in a bin that holds more than one value
    """
    covered, overshoot, mass, largest = [], [], [], []
    for name, column in synthesizer.schema_.columns.items():
        real = X[name]
        if isinstance(column, Categorical):
            known = real.dropna().astype(str)
            mass.append(known.isin(set(map(str, column.categories))).mean())
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
    parts = {
        "covered": covered,
        "overshoot": overshoot,
        "category_mass": mass,
        "largest_bin": largest,
    }
    centre = {"overshoot": np.median}  # one lost tail is many powers of two
    return {
        key: float(centre.get(key, np.mean)(values))
        for key, values in parts.items()
        if values
    }
