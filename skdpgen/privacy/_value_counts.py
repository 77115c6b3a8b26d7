"""How many rows have which value: named, different, and clipped counts."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from skdpgen.privacy._blocks import Floats, Integers, Tokens, check_shape
from skdpgen.privacy._sensitivity import Distinct, NonNegative, OneHot, Structure
from skdpgen.utils import (
    saved,
)

# ----------------------------------------------------------------------------
# Partition selection: which values exist, without showing one that is unique.


@saved("block.selections")
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
        """Return the sum over no rows; classes are pooled."""
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
            valid = codes[(codes >= 0) & (codes < len(values))]
            counts = np.bincount(valid, minlength=len(values))
            for position in np.flatnonzero(counts):
                value = values[int(position)]
                previous = total[column].get(value, 0)
                total[column][value] = previous + int(counts[position])
        return total

    def merge(
        self, total: dict[Any, dict[str, int]], other: dict[Any, dict[str, int]]
    ) -> dict[Any, dict[str, int]]:
        """Return the counts of the rows of two parts."""
        merged = {column: dict(counts) for column, counts in total.items()}
        for column in self.columns:
            for value, count in other[column].items():
                merged[column][value] = merged[column].get(value, 0) + count
        return merged

    def value(self, total: dict[Any, dict[str, int]]) -> dict[Any, dict[str, int]]:
        """Return the counts, whole numbers."""
        return total


def selection_threshold(noise_std: float, failure: float, n_columns: int) -> float:
    """Return the noisy count above which a value may be shown.

    Values that no row has are never listed, so a value that appears is one that some
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


# ----------------------------------------------------------------------------
# The number of different values of a column: one row moves it by 1.

Hashes = NDArray[np.uint64]
MOST_COMPARED = 2**16  # with more rows, values are no longer compared one by one
SLOTS_OF_LEVEL = 2**20
LEVELS = 12  # each for twice as many rows
DENSE_FROM = 128  # all slots are written at once if more than one in 128 is taken


@saved("sum.distinct_values")
@dataclass(eq=False)
class Seen:
    """The values of a column so far: few values themselves, or the slots of many.

    Slots follow from values, so they are not needed until there are ``MOST_COMPARED``
    values.
    """

    first: Hashes = field(default_factory=lambda: np.empty(0, dtype=np.uint64))
    slots: Any = None  # (LEVELS, SLOTS_OF_LEVEL // 8), a bit for each

    def add(self, hashes: Hashes) -> None:
        """Add values."""
        if self.slots is None:
            self.first = np.union1d(self.first, hashes)
            if len(self.first) < MOST_COMPARED:
                return
            self.slots = np.zeros((LEVELS, SLOTS_OF_LEVEL // 8), dtype=np.uint8)
            hashes, self.first = self.first, self.first[:0]
        for level in range(LEVELS):
            slots = slots_of(hashes, level)
            if not len(slots):
                break
            _take(self.slots[level], slots)

    def __or__(self, other: "Seen") -> "Seen":
        """Return the values of the rows of two parts; changes neither."""
        larger, smaller = (self, other) if other.slots is None else (other, self)
        union = Seen(
            larger.first, None if larger.slots is None else larger.slots.copy()
        )
        union.add(smaller.first)
        if smaller.slots is not None:
            union.slots |= smaller.slots
        return union

    def count(self, level: int | None) -> int:
        """Return the number of taken slots of a level, or of values if it is None."""
        if self.slots is None:
            values = self.first if level is None else slots_of(self.first, level)
            return len(np.unique(values))
        return (
            MOST_COMPARED
            if level is None
            else int(np.bitwise_count(self.slots[level]).sum())
        )


def slots_of(hashes: Hashes, level: int) -> Hashes:
    """Return the slots of values at a level; one value in 2**level has a slot."""
    if level:
        hashes = hashes[hashes >> np.uint64(64 - level) == 0]
    return hashes & np.uint64(SLOTS_OF_LEVEL - 1)


def _take(bits: NDArray[np.uint8], slots: Hashes) -> None:
    """Set some of the bits."""
    if len(slots) > SLOTS_OF_LEVEL // DENSE_FROM:
        is_taken = np.zeros(SLOTS_OF_LEVEL, dtype=bool)
        is_taken[slots] = True
        bits |= np.packbits(is_taken, bitorder="little")
        return
    places = (slots >> np.uint64(3)).astype(np.int64)
    np.bitwise_or.at(
        bits, places, np.uint8(1) << (slots & np.uint64(7)).astype(np.uint8)
    )


@saved("block.distinct_counts")
@dataclass(frozen=True)
class DistinctCounts:
    r"""The number of different values of each column; missing values do not count.

    All values of many rows would not fit into memory. So beyond ``MOST_COMPARED`` rows,
    public or released, the number of taken slots, of m, is released instead. A public
    hash gives each value a slot, if it takes part at all: one in :math:`2^l` values
    does. The level l depends on ``n_rows`` only; ``estimate`` computes the number of
    values, which is post-processing.

    *Proof* that a row moves either number by at most 1, as
    :class:`~skdpgen.privacy.Distinct` has it. A row has one value, and a value takes
    one slot or none, the same whatever other rows hold. So a row that comes takes at
    most one slot that was free, and one that goes frees at most one; if one replaces
    another the two may cancel and never add up. Of few rows the number of values is
    cut at ``MOST_COMPARED``: :math:`\min(k, \cdot)` moves no further than k. Which of
    the two numbers it is depends on ``n_rows`` alone.

    Parameters
    ----------
    columns : tuple of names
    n_rows : float, default=0.0
        About how many rows there are; public, or released before.
    """

    columns: tuple[Any, ...]
    n_rows: float = 0.0

    def __post_init__(self) -> None:
        """A column named twice would be counted twice."""
        if len(set(self.columns)) < len(self.columns):
            raise ValueError("columns must be distinct. Got a name twice.")

    @property
    def structure(self) -> Structure:
        """One number a column, that one row moves by 1."""
        return Distinct(len(self.columns))

    @property
    def level(self) -> int | None:
        """The level: one value in 2**level is counted; None if all are compared."""
        if self.n_rows <= MOST_COMPARED:
            return None
        return min(
            max(math.ceil(math.log2(self.n_rows / SLOTS_OF_LEVEL)), 0), LEVELS - 1
        )

    def start(self, n_classes: int) -> dict[Any, Seen]:
        """Return the values of no rows; classes are pooled."""
        del n_classes
        return {column: Seen() for column in self.columns}

    def add(
        self,
        total: dict[Any, Seen],
        tokens: Mapping[Any, Tokens],
        labels: Integers,
    ) -> dict[Any, Seen]:
        """Add the rows of one batch."""
        for column in self.columns:
            codes, values = tokens[column].codes, tokens[column].values
            if codes.ndim != 1 or codes.shape != labels.shape:
                raise ValueError("tokens must have one code a row. Got another shape.")
            codes = codes[(codes >= 0) & (codes < len(values))]
            if not isinstance(values, np.ndarray):  # few that are worth hashing once
                codes = np.flatnonzero(np.bincount(codes))
                values = [values[int(place)] for place in codes]
                total[column].add(_hashes_of_text(values))
            else:
                total[column].add(_hashes_of_numbers(values[codes]))
        return total

    def merge(
        self, total: Mapping[Any, Seen], other: Mapping[Any, Seen]
    ) -> dict[Any, Seen]:
        """Return the values of the rows of two parts."""
        return {column: total[column] | other[column] for column in self.columns}

    def value(self, total: Mapping[Any, Seen]) -> Floats:
        """Return the numbers, (1, n_columns)."""
        counts = [values.count(self.level) for values in total.values()]
        return np.array([counts], dtype=float)

    def estimate(self, noisy: Floats, noise_std: float) -> tuple[Floats, Floats]:
        r"""Return the numbers of values that released numbers imply, and their noise.

        Of M values a share :math:`1 - (1 - 1/m)^{M / 2^l}` of the slots is taken.

        Examples
        --------
        >>> DistinctCounts(("a",), n_rows=10).estimate(np.array([3.5]), 2.0)[0].tolist()
        [3.5]
        """
        level = self.level
        if level is None:
            return noisy, np.full(len(noisy), noise_std)
        # values of all rows take 0.63 of the slots at most
        free_fraction = 1.0 - np.clip(noisy / SLOTS_OF_LEVEL, 0.0, 0.95)
        scale = 2.0**level
        return -scale * SLOTS_OF_LEVEL * np.log(
            free_fraction
        ), scale * noise_std / free_fraction


def _hashes_of_text(values: Sequence[Any]) -> Hashes:
    """Return public hashes of the text of values."""
    raw = b"".join(
        blake2b(str(v).encode("utf-8", "replace"), digest_size=8).digest()
        for v in values
    )
    return np.frombuffer(raw, dtype="<u8").astype(np.uint64)


def _hashes_of_numbers(values: Floats) -> Hashes:
    """Return public hashes of numbers, by their bits: two rounds of a mixer.

    They spread values evenly and hide none: a number can be computed from its hash.
    """
    bits = (values.astype(np.float64) + 0.0).view(np.uint64)  # -0.0 becomes 0.0
    for shift, multiplier in ((32, 0x9E3779B97F4A7C15), (29, 0xD6E8FEB86659FD93)):
        bits = (bits ^ (bits >> np.uint64(shift))) * np.uint64(multiplier)
    return bits ^ (bits >> np.uint64(32))


# ----------------------------------------------------------------------------
# Counts of the open cells and words of a row, clipped to a small norm.

UNITS_OF_ROW = 2**10  # in which a row counts, so sums are exact


class OpenPlaces(Protocol):
    """Cells and words of some rows that no release has shown yet; -1 for the others."""

    codes: Integers  # (n, n_columns): a cell of each column of numbers
    tokens: Mapping[Any, Tokens]  # name -> words


@saved("block.clipped_counts")
@dataclass(frozen=True)
class ClippedCounts:
    r"""Counts of open cells and words; a row with many of them counts less in each.

    A row with k open places adds :math:`w_k = \min(1, \sqrt{K / k})` to each of them.

    *Proof of the sensitivity.* (1) Places of a row are distinct coordinates: one cell a
    column, one word a column. So its vector is not negative, and its squared norm is
    :math:`k w_k^2 \le K`: weights are rounded down to units. (2) k depends on this row
    and on what was public or released before, so another row does not change it. (3)
    Adding or removing a row moves the sum by :math:`\sqrt K` at most, replacing one by
    :math:`\sqrt{2 K}` (:class:`~skdpgen.privacy.NonNegative`).

    *Words.* A word that only one row has counts at most 1, so the threshold of
    :func:`~skdpgen.privacy._value_counts.selection_threshold` holds; a row has at most
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
            is_open = codes[:, j] >= 0
            units = np.bincount(codes[is_open, j], weights[is_open], minlength=size)
            total["cells"][0, start : start + size] += units.astype(np.int64)
            start += size
        for column in self.columns:
            token, counts = part.tokens[column], total["words"][column]
            is_open = (token.codes >= 0) & (token.codes < len(token.values))
            units = np.bincount(token.codes[is_open], weights[is_open])
            for place in np.flatnonzero(units):
                word = token.values[int(place)]
                counts[word] = counts.get(word, 0) + int(units[place])
        return total

    def _weights(self) -> Integers:
        """Return the units of a row by its number of open places."""
        n_places = len(self.sizes) + len(self.columns)
        squared_limit, open_places = (
            int(self.limit * UNITS_OF_ROW**2),
            range(n_places + 1),
        )
        return np.array(
            [
                min(UNITS_OF_ROW, math.isqrt(squared_limit // max(k, 1)))
                for k in open_places
            ],
            np.int64,
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
            column: {word: count / UNITS_OF_ROW for word, count in counts.items()}
            for column, counts in total["words"].items()
        }
        cells: Floats = total["cells"] / UNITS_OF_ROW
        return {"cells": cells, "words": words}
