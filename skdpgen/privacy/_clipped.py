"""Counts of what is still open in a row, clipped to a small norm."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from skdpgen.privacy._blocks import Floats, Integers, Tokens, check_shape
from skdpgen.privacy._sensitivity import NonNegative, Structure
from skdpgen.utils import saved

UNITS = 2**10  # a row counts in whole units of this, so sums are exact


class OpenPlaces(Protocol):
    """What is still open in some rows; the code -1 where nothing is."""

    codes: Integers  # (n, n_columns): a cell of each column of numbers
    tokens: Mapping[Any, Tokens]  # name -> words


@saved
@dataclass(frozen=True)
class ClippedCounts:
    r"""Counts of open cells and words; a row that has many counts less in each.

    A row with k open places adds :math:`w_k = \min(1, \sqrt{K / k})` to each of them.

    *Proof of the sensitivity.* (1) Places of a row are distinct coordinates: one cell a
    column, one word a column. So its vector is not negative, and its squared norm is
    :math:`k w_k^2 \le K`: weights are rounded down to units. (2) k depends on this row
    and on what was public or released before, so another row does not change it. (3)
    Adding or removing a row moves the sum by :math:`\sqrt K` at most, replacing one by
    :math:`\sqrt{2 K}` (:class:`~skdpgen.privacy.NonNegative`).

    *Words.* A word that only one row has counts at most 1, so the threshold of
    :func:`~skdpgen.privacy._selection.selection_threshold` holds; a row has at most
    one word in each of the columns, **whatever K is**.

    Parameters
    ----------
    sizes : tuple of int
        Open cells of each column of numbers.
    columns : tuple of names
        Columns whose words are open.
    limit : float
        K, the squared norm of a row; at least 1.
    public : tuple of str, default=()
        Words that need no threshold (:class:`~skdpgen.privacy.Selections`).
    """

    sizes: tuple[int, ...]
    columns: tuple[Any, ...]
    limit: float
    public: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check that no column is named twice and that one open place counts whole."""
        if len(set(self.columns)) < len(self.columns):
            raise ValueError("columns must be distinct. Got a name twice.")
        if not 1.0 <= self.limit < math.inf:
            raise ValueError(f"limit must be in [1, inf). Got {self.limit!r}.")

    @property
    def structure(self) -> Structure:
        """Not negative, and of limited norm."""
        return NonNegative(math.sqrt(self.limit))

    def start(self, n_classes: int) -> dict[str, Any]:
        """Return the sum over no rows; classes are counted together."""
        del n_classes
        words: dict[Any, dict[str, int]] = {column: {} for column in self.columns}
        return {"cells": np.zeros((1, sum(self.sizes)), np.int64), "words": words}

    def add(
        self, total: dict[str, Any], part: OpenPlaces, labels: Integers
    ) -> dict[str, Any]:
        """Add the rows of one batch."""
        check_shape(part.codes, labels, len(self.sizes))
        codes = np.where(part.codes < np.array(self.sizes, int), part.codes, -1)
        n_open = (codes >= 0).sum(axis=1)
        for column in self.columns:
            token = part.tokens[column]
            check_shape(token.codes[:, None], labels, 1)
            n_open = n_open + ((token.codes >= 0) & (token.codes < len(token.values)))
        weights = self._weights()[n_open]
        start = 0
        for j, size in enumerate(self.sizes):
            known = codes[:, j] >= 0
            found = np.bincount(codes[known, j], weights[known], minlength=size)
            total["cells"][0, start : start + size] += found.astype(np.int64)
            start += size
        for column in self.columns:
            token, counts = part.tokens[column], total["words"][column]
            known = (token.codes >= 0) & (token.codes < len(token.values))
            found = np.bincount(token.codes[known], weights[known])
            for place in np.flatnonzero(found):
                word = token.values[int(place)]
                counts[word] = counts.get(word, 0) + int(found[place])
        return total

    def _weights(self) -> Integers:
        """Return the units of a row by its number of open places."""
        most = len(self.sizes) + len(self.columns)
        whole, squares = int(self.limit * UNITS**2), range(most + 1)
        return np.array(
            [min(UNITS, math.isqrt(whole // max(k, 1))) for k in squares], np.int64
        )

    def merge(self, total: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
        """Return the sum over the rows of two parts."""
        words = {column: dict(counts) for column, counts in total["words"].items()}
        for column in self.columns:
            for word, count in other["words"][column].items():
                words[column][word] = words[column].get(word, 0) + count
        return {"cells": total["cells"] + other["cells"], "words": words}

    def value(self, total: dict[str, Any]) -> dict[str, Any]:
        """Return the counts, in rows."""
        words = {
            column: {word: count / UNITS for word, count in counts.items()}
            for column, counts in total["words"].items()
        }
        cells: Floats = total["cells"] / UNITS
        return {"cells": cells, "words": words}
