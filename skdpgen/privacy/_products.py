"""Sums of products of signs: what three and more columns say only together."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skdpgen.privacy._blocks import WIDEST, Floats, Integers
from skdpgen.privacy._sensitivity import SignProducts, Structure
from skdpgen.utils import asked, is_whole, refuse_unless, saved

Words = NDArray[np.uint64]
MOST_COLUMNS, MOST_TOGETHER = 4096, 8  # that someone else may ask about


@asked("block")
@saved
@dataclass(frozen=True)
class Parities:
    r"""Sum of :math:`\prod_{j \in A} s_j \otimes y` over sets A of columns.

    A row comes as codes, one a column, fixed beforehand: code 1 is the sign -1, **any
    other code is 1**. So whatever comes in, each product is 1 or -1, as the proof of
    :class:`SignProducts` wants. The products are formed here.

    Parameters
    ----------
    n_columns : int
    orders : tuple of int
        Sizes of the sets; all sets of these sizes, in the order of ``combinations``.
    """

    n_columns: int
    orders: tuple[int, ...]

    def __post_init__(self) -> None:
        """Check orders: one that comes twice would count a row twice."""
        if len(set(self.orders)) < len(self.orders):
            raise ValueError("orders must be distinct. Got one twice.")

    def check_asked(self) -> None:
        """Check what the proof assumes of one that someone else made."""
        n, orders = self.n_columns, self.orders
        refuse_unless(is_whole(n, 1, MOST_COLUMNS), "a number of columns")
        refuse_unless(
            type(orders) is tuple
            and len(orders) > 0
            and all(is_whole(k, 1, min(n, MOST_TOGETHER)) for k in orders)
            and self.width <= WIDEST,
            "sizes of sets of columns",
        )

    @property
    def width(self) -> int:
        """How many sets there are."""
        return SignProducts(self.n_columns, self.orders).width

    @property
    def structure(self) -> Structure:
        """Products of signs."""
        return SignProducts(self.n_columns, self.orders)

    def start(self, n_classes: int) -> Floats:
        """Return the sum over no rows."""
        return np.zeros((n_classes, self.width))

    def add(self, total: Floats, codes: Integers, labels: Integers) -> Floats:
        """Add the rows of one batch."""
        if labels.ndim != 1 or codes.shape != (len(labels), self.n_columns):
            raise ValueError(
                f"A batch must hold one label and {self.n_columns} codes per row. "
                "Got another shape."
            )
        total = total.copy()
        for label in range(len(total)):
            mine = codes[labels == label] == 1
            if len(mine):
                total[label] += len(mine) - 2.0 * self._odd(_packed(mine))
        return total

    def merge(self, total: Floats, other: Floats) -> Floats:
        """Return the sum over the rows of two parts."""
        return np.asarray(total + other)

    def _odd(self, words: Words) -> Integers:
        """Return of how many rows an odd number of signs is -1, for each set.

        64 rows at a time: a bit is a sign, a product is "exclusive or".
        """
        parts = [
            np.bitwise_count(part).sum(axis=1, dtype=np.int64)
            for order in self.orders
            for part in _products(words, order)
        ]
        return np.concatenate([*parts, np.empty(0, dtype=np.int64)])

    def value(self, total: Floats) -> Floats:
        """Return the sums, whole numbers."""
        return total


def _packed(bits: NDArray[np.bool_]) -> Words:
    """Return the columns of a table of bits, 64 rows to a word; words end in zeros."""
    packed = np.packbits(bits.T, axis=1)
    words = np.zeros((len(packed), -(-packed.shape[1] // 8) * 8), dtype=np.uint8)
    words[:, : packed.shape[1]] = packed
    return words.view(np.uint64)


def _products(words: Words, order: int, first: int = 0) -> Iterator[Words]:
    """Yield "exclusive or" of all sets of columns, as ``combinations`` orders them."""
    if order == 1:
        yield words[first:]
        return
    for j in range(first, len(words) - order + 1):
        for part in _products(words, order - 1, j + 1):
            yield part ^ words[j]
