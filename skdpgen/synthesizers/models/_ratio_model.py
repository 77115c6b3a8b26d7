"""Public items, and how much each of them weighs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator
from numpy.typing import NDArray

from skdpgen.synthesizers.models._decoding import systematic
from skdpgen.synthesizers.opening import Facts
from skdpgen.tables import Categorical, Drop, Regenerate, regenerate, restore_table
from skdpgen.utils import saved

# ----------------------------------------------------------------------------
# Public rows as they are kept: to be drawn again, as they were.


@saved("public.items")
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


# ----------------------------------------------------------------------------
# Public items, and how much each of them weighs.

Floats = NDArray[np.float64]


@saved("model.ratio")
@dataclass(frozen=True, eq=False)
class RatioModel:
    """Draws public items as often as private rows are like them.

    Parameters
    ----------
    items : PublicItems
    weights : ndarray of shape (n_items, n_classes)
        Sum to 1.
    shares : ndarray of shape (n_classes,)
        How often each class is drawn, whatever weights are.
    """

    items: PublicItems
    weights: Floats
    shares: Floats

    has_relations = True

    def draw(self, labels: Any, *, is_replacing: bool, rng: Generator) -> Any:
        """Return which item each label gets.

        Drawn again and again an item appears as often as it weighs, give or take one;
        drawn once at most, heavy items come first to be drawn.
        """
        rows = np.empty(len(labels), dtype=np.intp)
        free = np.ones(len(self.weights), dtype=bool)
        for label in np.unique(labels):
            mine = np.flatnonzero(labels == label)
            weights = self.weights[:, label] * (1.0 if is_replacing else free)
            there = int((weights > 0).sum())
            if not there or not (is_replacing or len(mine) <= there):
                raise ValueError(
                    f"Asked for {len(mine)} rows of class number {label}, and public "
                    f"rows have {there}. Draw fewer, with `replace=True`, or of "
                    "classes that public rows have."
                )
            if is_replacing:
                found = systematic(weights, len(mine), rng=rng)
            else:  # exponential times: the first to ring are drawn
                with np.errstate(divide="ignore"):
                    times = rng.exponential(size=len(weights)) / weights
                found = np.argpartition(times, len(mine) - 1)[: len(mine)]
                free[found] = False
            rows[mine] = rng.permutation(found)
        return rows
