"""Sums as whole numbers of public steps: they can be masked, and add without loss."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdpgen.privacy._blocks import Counts, Histograms, Vectors
from skdpgen.privacy._exact_sum import ExactSum
from skdpgen.privacy._outer import OuterProducts
from skdpgen.privacy._products import Parities
from skdpgen.privacy._side_by_side import SideBySide
from skdpgen.utils import RowsElsewhereError

FINER = 20  # bits of the step below the noise


def whole_sums(block: Any, total: Any, std: float) -> tuple[Any, NDArray[np.float64]]:
    r"""Return whole numbers, and the step of each entry: their product is the sum.

    Sums of all blocks here are multiples of powers of two: of the grid of an
    :class:`ExactSum`, of 1 for counts, of the last of 23 bits of a histogram's scale.
    Steps are public. Where they are coarse beside noise of ``std`` they are divided by
    another power of two, so that what is rounded to them is off by less than a
    millionth of the noise.

    Returns
    -------
    numbers : ndarray of int, of any size
    steps : ndarray of shape (width,)

    Examples
    --------
    >>> counts = Histograms((2,), (0.75,))
    >>> whole_sums(counts, np.array([[4, 8]]), 0.0)[1] * 2**23
    array([1., 1.])
    """
    if isinstance(block, Histograms):
        scales = np.repeat(block.scales or (1.0,) * len(block.widths), block.widths)
        parts = [math.frexp(scale) for scale in scales]
        whole = [int(math.ldexp(mantissa, 23)) for mantissa, _ in parts]
        steps = np.array([math.ldexp(1.0, exponent - 23) for _, exponent in parts])
        numbers = total.astype(object) * np.array(whole, dtype=object)
    elif isinstance(block, Counts | Parities):
        numbers = total.astype(np.int64).astype(object)
        steps = np.ones(total.shape[1])
    elif isinstance(block, Vectors):
        numbers, steps = _exact(total)
    elif isinstance(block, OuterProducts) or _are_vectors(block):
        found = [_exact(own) for own in total]
        numbers = np.concatenate([one for one, _ in found], axis=1)
        steps = np.concatenate([own for _, own in found])
    else:
        raise RowsElsewhereError(
            f"{type(block).__name__} cannot be summed by parties that add noise "
            "themselves. Give a schema of all columns and `classes`, or trust a "
            "combiner."
        )
    if std > 0:
        finest = math.ldexp(1.0, math.frexp(std)[1] - 1 - FINER)
        times = np.maximum(steps / finest, 1.0)
        numbers = numbers * np.array([int(one) for one in times], dtype=object)
        steps = steps / times
    return numbers, steps


def _are_vectors(block: Any) -> bool:
    is_many = isinstance(block, SideBySide)
    return is_many and all(isinstance(part, Vectors) for part in block.parts)


def _exact(total: ExactSum) -> tuple[Any, NDArray[np.float64]]:
    """Return a sum in steps; ``high`` may hold more of them than 53 bits say."""
    tops = np.vectorize(int, otypes=[object])(total.high / total.top)
    rest = np.vectorize(int, otypes=[object])(total.low / total.step)
    return tops * 2**total.n_bits + rest, np.full(total.low.shape[1], total.step)
