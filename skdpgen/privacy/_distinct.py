"""How many different values a column holds: a number that one row moves by 1."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdpgen.privacy._blocks import Floats, Integers, Tokens
from skdpgen.privacy._sensitivity import Distinct, Structure
from skdpgen.utils import saved

Hashes = NDArray[np.uint64]
EXACT = 2**16  # rows up to which values are told apart one by one
SLOTS = 2**20  # of a level
LEVELS = 12  # each for twice as many rows
DENSE = 128  # with more than one slot in so many, all are written at once


@saved
@dataclass(eq=False)
class Seen:
    """What a column held so far: some values themselves, or slots that values took.

    Slots follow from values, so they are not needed until there are ``EXACT`` of them.
    """

    first: Hashes = field(default_factory=lambda: np.empty(0, dtype=np.uint64))
    slots: Any = None  # (LEVELS, SLOTS // 8), a bit for each

    def add(self, hashes: Hashes) -> None:
        """Add values."""
        if self.slots is None:
            self.first = np.union1d(self.first, hashes)
            if len(self.first) < EXACT:
                return
            self.slots = np.zeros((LEVELS, SLOTS // 8), dtype=np.uint8)
            hashes, self.first = self.first, self.first[:0]
        for level in range(LEVELS):
            taken = slots_of(hashes, level)
            if not len(taken):
                break
            _take(self.slots[level], taken)

    def __or__(self, other: "Seen") -> "Seen":
        """Return what the rows of two parts held; changes neither."""
        one, two = (self, other) if other.slots is None else (other, self)
        both = Seen(one.first, None if one.slots is None else one.slots.copy())
        both.add(two.first)
        if two.slots is not None:
            both.slots |= two.slots
        return both

    def count(self, level: int | None) -> int:
        """Return how many slots of a level are taken; of None, how many values."""
        if self.slots is None:
            values = self.first if level is None else slots_of(self.first, level)
            return len(np.unique(values))
        return (
            EXACT if level is None else int(np.bitwise_count(self.slots[level]).sum())
        )


def slots_of(hashes: Hashes, level: int) -> Hashes:
    """Return the slots that values take at a level; one in 2 to the level takes one."""
    if level:
        hashes = hashes[hashes >> np.uint64(64 - level) == 0]
    return hashes & np.uint64(SLOTS - 1)


def _take(bits: NDArray[np.uint8], taken: Hashes) -> None:
    """Set some of the bits."""
    if len(taken) > SLOTS // DENSE:
        held = np.zeros(SLOTS, dtype=bool)
        held[taken] = True
        bits |= np.packbits(held, bitorder="little")
        return
    places = (taken >> np.uint64(3)).astype(np.int64)
    np.bitwise_or.at(
        bits, places, np.uint8(1) << (taken & np.uint64(7)).astype(np.uint8)
    )


@saved
@dataclass(frozen=True)
class DistinctCounts:
    r"""How many different values each column holds; missing is none.

    Of many rows all values would not fit into memory. So beyond ``EXACT`` rows, public
    or released, what is released is how many of m slots are taken: each value has a
    slot by a public hash, if it takes part at all, as one in :math:`2^l` values does.
    A level l for which slots suffice follows from ``n_rows``; :meth:`estimate` says how
    many values there are, which is post-processing.

    *Proof* that a row moves either number by at most 1, as
    :class:`~skdpgen.privacy.Distinct` has it. A row has one value, and a value takes
    one slot or none, the same whatever other rows hold. So a row that comes takes at
    most one slot that was free, and one that goes frees at most one; if one replaces
    another the two may cancel and never add up. Of few rows the number of values is
    cut at ``EXACT``: :math:`\min(k, \cdot)` moves no further than k. Which of the two
    numbers it is depends on ``n_rows`` alone.

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
        """One in two to the level of all values takes part; None if all are told."""
        if self.n_rows <= EXACT:
            return None
        return min(max(math.ceil(math.log2(self.n_rows / SLOTS)), 0), LEVELS - 1)

    def start(self, n_classes: int) -> dict[Any, Seen]:
        """Return what no rows hold; classes are not told apart."""
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
        """Return what the rows of two parts hold."""
        return {column: total[column] | other[column] for column in self.columns}

    def value(self, total: Mapping[Any, Seen]) -> Floats:
        """Return the numbers, (1, n_columns)."""
        found = [seen.count(self.level) for seen in total.values()]
        return np.array([found], dtype=float)

    def estimate(self, noisy: Floats, noise_std: float) -> tuple[Floats, Floats]:
        r"""Return how many values released numbers stand for, and their noise.

        Of M values a share :math:`1 - (1 - 1/m)^{M / 2^l}` of the slots is taken.

        Examples
        --------
        >>> DistinctCounts(("a",), n_rows=10).estimate(np.array([3.5]), 2.0)[0].tolist()
        [3.5]
        """
        level = self.level
        if level is None:
            return noisy, np.full(len(noisy), noise_std)
        free = 1.0 - np.clip(noisy / SLOTS, 0.0, 0.95)  # 0.63 are taken by all rows
        scale = 2.0**level
        return -scale * SLOTS * np.log(free), scale * noise_std / free


def _hashes_of_text(values: Sequence[Any]) -> Hashes:
    """Return public hashes of values by how they are written."""
    raw = b"".join(
        blake2b(str(v).encode("utf-8", "replace"), digest_size=8).digest()
        for v in values
    )
    return np.frombuffer(raw, dtype="<u8").astype(np.uint64)


def _hashes_of_numbers(values: Floats) -> Hashes:
    """Return public hashes of numbers, by their bits: two rounds of a mixer."""
    bits = (values.astype(np.float64) + 0.0).view(np.uint64)  # -0.0 becomes 0.0
    for shift, odd in ((32, 0x9E3779B97F4A7C15), (29, 0xD6E8FEB86659FD93)):
        bits = (bits ^ (bits >> np.uint64(shift))) * np.uint64(odd)
    return bits ^ (bits >> np.uint64(32))
