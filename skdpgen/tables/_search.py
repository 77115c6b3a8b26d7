"""Where numbers stand among edges: what searchsorted says, several times faster."""

import math
from typing import Any

import numpy as np

from skdpgen.tables._values import Codes, Floats

N_BUCKETS = 2**15  # at least, and so many for each edge:
FOR_EACH = 8
MANY = 2**14  # numbers at once, from which a table of buckets is worth its while
OFTEN = 2  # numbers for each edge, so far: a table of many edges takes time, too
TOP = np.uint64(2**63)


class Search:
    """``searchsorted(edges, x, side="right")``, for many batches of numbers.

    Numbers are put into buckets, by a function that never decreases, and a table knows
    the answer of each bucket without an edge; only numbers in the others are searched.
    *Exact*: a number in a lower bucket than an edge is below it, in a higher one above.

    Parameters
    ----------
    edges : ndarray
        Increasing.

    Examples
    --------
    >>> Search(np.array([0.0, 1.0]))(np.array([-0.0, 0.5, 7.0]))
    array([1, 1, 2])
    """

    def __init__(self, edges: Floats) -> None:
        self.edges = edges
        self._table: Any = None
        self._n_seen = 0

    def __call__(self, x: Floats) -> Codes:
        """Return how many edges are at or below each number; of NaN, some number."""
        self._n_seen += len(x)
        is_rare = len(x) < MANY or self._n_seen < OFTEN * len(self.edges)
        if is_rare or len(self.edges) < 2:
            return np.searchsorted(self.edges, x, side="right")
        if self._table is None:
            self._table = _best_table(self.edges)
        buckets, answers = self._table
        found = answers[buckets(x)].astype(np.int64)
        several = np.flatnonzero(found < 0)
        found[several] = np.searchsorted(self.edges, x[several], side="right")
        return found


class _Even:
    """Buckets of one width."""

    def __init__(self, edges: Floats, n: int) -> None:
        self.low, self.last = edges[0], n - 2.0
        with np.errstate(all="ignore"):
            scale = self.last / (edges[-1] - edges[0])
        self.scale = scale if math.isfinite(scale) else 0.0

    def __call__(self, x: Floats) -> Codes:
        if not self.scale:  # a range too small or too large for floats
            return np.zeros(len(x), dtype=np.int64)
        with np.errstate(all="ignore"):
            place = (x - self.low) * self.scale
        place = np.fmin(np.fmax(place, -1.0), self.last)  # where NaN is no number
        place += 1.0
        return place.astype(np.int64)


class _ByDigits:
    """Buckets by the leading bits of a number: the finer, the nearer it is to 0.

    Floats of one sign are in the order of their bits, as whole numbers.
    """

    def __init__(self, edges: Floats, n: int) -> None:
        keys = self._keys(edges)
        # from the second edge on: between 0 and it there may be a thousand octaves
        self.low, self.high = keys[1] - np.uint64(1), keys[-1]
        span = int(self.high) - int(self.low)
        self.shift = np.uint64(max(span.bit_length() - n.bit_length() + 1, 0))

    def __call__(self, x: Floats) -> Codes:
        keys = np.clip(self._keys(x), self.low, self.high)
        keys -= self.low
        keys >>= self.shift
        return keys.astype(np.int64)

    def _keys(self, x: Floats) -> Any:
        """Return whole numbers in the order of floats; negative ones turned round."""
        bits = (x + 0.0).view(np.uint64)  # 0.0 has no sign
        return np.where(bits >= TOP, ~bits, bits | TOP)


def _best_table(edges: Floats) -> tuple[Any, Any]:
    """Return buckets that tell most edges apart, and the answer of each, or -1."""
    tables, n = [], max(N_BUCKETS, FOR_EACH * 2 ** len(edges).bit_length())
    for buckets in (_Even(edges, n), _ByDigits(edges, n)):
        counts = np.bincount(buckets(edges), minlength=n)
        answers = np.where(counts > 0, -1, np.cumsum(counts)).astype(np.int32)
        tables.append((np.count_nonzero(counts), buckets, answers))
    _, best, answers = max(tables, key=lambda one: one[0])
    return best, answers
