"""How many different values a column holds: a number that one row moves by 1."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from skdpgen.privacy._blocks import Floats, Integers, Tokens
from skdpgen.privacy._sensitivity import Distinct, Structure
from skdpgen.utils import saved


@saved
@dataclass(frozen=True)
class DistinctCounts:
    """How many different values each column holds; missing is none."""

    columns: tuple[Any, ...]

    def __post_init__(self) -> None:
        """A column named twice would be counted twice."""
        if len(set(self.columns)) < len(self.columns):
            raise ValueError("columns must be distinct. Got a name twice.")

    @property
    def structure(self) -> Structure:
        """One number a column, that one row moves by 1."""
        return Distinct(len(self.columns))

    def start(self, n_classes: int) -> dict[Any, set[Any]]:
        """Return what no rows hold; classes are not told apart."""
        del n_classes
        return {column: set() for column in self.columns}

    def add(
        self,
        total: dict[Any, set[Any]],
        tokens: Mapping[Any, Tokens],
        labels: Integers,
    ) -> dict[Any, set[Any]]:
        """Add the rows of one batch."""
        for column in self.columns:
            codes, values = tokens[column].codes, tokens[column].values
            if codes.ndim != 1 or codes.shape != labels.shape:
                raise ValueError("tokens must have one code a row. Got another shape.")
            known = np.unique(codes[(codes >= 0) & (codes < len(values))])
            total[column].update(values[int(position)] for position in known)
        return total

    def merge(
        self, total: dict[Any, set[Any]], other: dict[Any, set[Any]]
    ) -> dict[Any, set[Any]]:
        """Return what the rows of two parts hold."""
        return {column: total[column] | other[column] for column in self.columns}

    def value(self, total: Mapping[Any, set[Any]]) -> Floats:
        """Return the numbers, (1, n_columns)."""
        return np.array([[len(values) for values in total.values()]], dtype=float)
