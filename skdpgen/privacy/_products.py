"""Sums of products of signs: what three and more columns say only together."""

from dataclasses import dataclass

import numpy as np

from skdpgen.privacy._blocks import Floats, Integers, one_hot
from skdpgen.privacy._sensitivity import SignProducts, Structure
from skdpgen.utils import products_of_rows, saved

AT_ONCE = 4096  # rows: their sums are exact in single precision


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

    @property
    def structure(self) -> Structure:
        """Products of signs."""
        return SignProducts(self.n_columns, self.orders)

    def start(self, n_classes: int) -> Floats:
        """Return the sum over no rows."""
        width = SignProducts(self.n_columns, self.orders).width
        return np.zeros((n_classes, width))

    def add(self, total: Floats, codes: Integers, labels: Integers) -> Floats:
        """Add the rows of one batch."""
        if labels.ndim != 1 or codes.shape != (len(labels), self.n_columns):
            raise ValueError(
                f"A batch must hold one label and {self.n_columns} codes per row. "
                "Got another shape."
            )
        total = total.copy()
        for first in range(0, len(labels), AT_ONCE):
            some = slice(first, first + AT_ONCE)
            signs = np.where(codes[some] == 1, np.float32(-1.0), np.float32(1.0))
            known = one_hot(labels[some], len(total)).astype(np.float32)
            start = 0
            for order in self.orders:
                for part in products_of_rows(np.ascontiguousarray(signs.T), order):
                    end = start + len(part)
                    total[:, start:end] += (part @ known).T  # whole numbers: exact
                    start = end
        return total

    def merge(self, total: Floats, other: Floats) -> Floats:
        """Return the sum over the rows of two parts."""
        return np.asarray(total + other)

    def value(self, total: Floats) -> Floats:
        """Return the sums, whole numbers."""
        return total
