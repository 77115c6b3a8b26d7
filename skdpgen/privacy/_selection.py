"""Partition selection: which values exist, without showing one that is unique."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import norm

from skdpgen.privacy._blocks import Integers, Tokens
from skdpgen.privacy._sensitivity import OneHot, Structure
from skdpgen.utils import saved


@saved
@dataclass(frozen=True)
class Selections:
    """Counts of values that are not known beforehand; shown only above a threshold.

    Values of a ``public`` list are counted whether or not a row has them, each with
    noise, so that they need no threshold: which of them are kept follows from noisy
    counts alone.
    """

    columns: tuple[Any, ...]
    public: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check names: a column named twice would count each row twice."""
        if len(set(self.columns)) < len(self.columns):
            raise ValueError("columns must be distinct. Got a name twice.")

    @property
    def structure(self) -> Structure:
        """At most one value per row and column."""
        return OneHot(len(self.columns))

    def start(self, n_classes: int) -> dict[Any, dict[str, int]]:
        """Return the sum over no rows; classes are not told apart."""
        del n_classes
        return {column: {} for column in self.columns}

    def add(
        self,
        total: dict[Any, dict[str, int]],
        tokens: Mapping[Any, Tokens],
        labels: Integers,
    ) -> dict[Any, dict[str, int]]:
        """Add the rows of one batch."""
        for column in self.columns:
            codes, values = tokens[column].codes, tokens[column].values
            if codes.ndim != 1 or codes.shape != labels.shape:
                raise ValueError(
                    "tokens must have one code per row. Got another shape."
                )
            known = codes[(codes >= 0) & (codes < len(values))]
            counts = np.bincount(known, minlength=len(values))
            for position in np.flatnonzero(counts):
                value = values[int(position)]
                seen = total[column].get(value, 0)
                total[column][value] = seen + int(counts[position])
        return total

    def merge(
        self, total: dict[Any, dict[str, int]], other: dict[Any, dict[str, int]]
    ) -> dict[Any, dict[str, int]]:
        """Return the counts of the rows of two parts."""
        both = {column: dict(counts) for column, counts in total.items()}
        for column in self.columns:
            for value, count in other[column].items():
                both[column][value] = both[column].get(value, 0) + count
        return both

    def value(self, total: dict[Any, dict[str, int]]) -> dict[Any, dict[str, int]]:
        """Return the counts, whole numbers."""
        return total


def selection_threshold(noise_std: float, failure: float, n_columns: int) -> float:
    """Return the noisy count above which a value may be shown.

    Values that nobody has are never listed, so a value that appears is one that some
    row has; showing one that only the differing row has is the failure bounded here.
    *Proof.* Such a value has count 1 and is shown with probability
    p = P(1 + N > threshold). A row owns at most one value in each of m columns, and
    their noise is independent: the probability that none is shown is (1 - p)^m, and p
    is chosen such that 1 - (1 - p)^m = ``failure``. Rounding to the grid of the noise
    can lift a count by half a step, so the threshold is a step higher.

    Examples
    --------
    >>> round(selection_threshold(10.0, 1e-6, 1), 1)
    48.5
    """
    if noise_std == 0:
        return 0.0
    p = -math.expm1(math.log1p(-failure) / n_columns)
    lattice_step = noise_std * 2.0**-19
    return 1.0 + noise_std * float(norm.isf(p)) + lattice_step
