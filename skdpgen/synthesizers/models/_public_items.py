"""Public rows as they are kept: to be drawn again, as they were."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skdpgen.synthesizers.opening import Facts
from skdpgen.tables import Categorical, Drop, Regenerate, regenerate, restore_table
from skdpgen.utils import saved


@saved
@dataclass(frozen=True, eq=False)
class PublicItems:
    """Public rows of a table, or public images, in their own order.

    Parameters
    ----------
    columns : mapping of name to (ndarray, ndarray)
        Which of its different values each row has, -1 for a missing one; and these.
        Empty for images.
    pixels : ndarray of shape (n, n_pixels) or None
    target : ndarray of shape (n,) or None
        Numbers of a regression, where public rows have them.
    """

    columns: Mapping[Any, tuple[NDArray[np.int32], Any]]
    pixels: Any = None
    target: Any = None

    @classmethod
    def of_table(cls, frame: pd.DataFrame, target: Any = None) -> "PublicItems":
        """Keep a table; times without their zone, like everything that is drawn."""
        columns = {}
        for name in frame.columns:
            column = frame[name]
            if isinstance(column.dtype, pd.DatetimeTZDtype):
                column = column.dt.tz_convert(None)
            places, values = pd.factorize(column)
            columns[name] = places.astype(np.int32), np.asarray(values)
        return cls(columns, target=target)

    def take(self, rows: NDArray[np.intp], facts: Facts, container: Any) -> Any:
        """Return some rows, each as often as it is named, as X came in."""
        layout: Any = facts.layout
        if self.pixels is not None:
            return layout.restore(self.pixels[rows])
        found, categories = {}, {}
        for name, column in facts.schema.columns.items():
            if isinstance(column, Regenerate):
                found[name] = regenerate(column, len(rows))
            elif not isinstance(column, Drop):
                places, values = self.columns[name]
                values = pd.Series(values).reindex([*range(len(values)), -1])
                found[name] = values.iloc[places[rows]].reset_index(drop=True)
            if isinstance(column, Categorical):
                known = pd.Index([*(column.categories or ())], dtype=object)
                also = [v for v in self.columns[name][1].tolist() if v not in known]
                categories[name] = (*known, *also)
        return restore_table(layout, found, categories, container)
