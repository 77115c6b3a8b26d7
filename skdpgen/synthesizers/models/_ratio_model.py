"""Public items, and how much each of them weighs."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from skdpgen.synthesizers.models._even_draws import systematic
from skdpgen.synthesizers.models._public_items import PublicItems
from skdpgen.utils import saved

Floats = NDArray[np.float64]


@saved
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
