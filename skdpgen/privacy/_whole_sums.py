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
        scales = block.scales or (1.0,) * len(block.widths)
        whole = [int(math.ldexp(math.frexp(scale)[0], 23)) for scale in scales]
        times = np.repeat(np.array(whole, dtype=object), block.widths)
        numbers = total.astype(object) * times
    elif isinstance(block, Counts | Parities):
        numbers = total.astype(np.int64).astype(object)
    elif isinstance(block, Vectors):
        numbers = _exact(total)
    else:
        steps_of(block, std)  # raises for blocks without any
        numbers = np.concatenate([_exact(own) for own in total], axis=1)
    steps, times = _fine(_steps(block), std)
    if times.max(initial=1.0) > 1:
        numbers = numbers * np.array(list(map(int, times.tolist())), dtype=object)
    return numbers, steps


def steps_of(block: Any, std: float) -> NDArray[np.float64]:
    """Return the steps of a block's sums under noise of ``std``; they are public.

    Examples
    --------
    >>> steps_of(Counts(), 1.0) * 2**20
    array([1.])
    """
    return _fine(_steps(block), std)[0]


def _steps(block: Any) -> NDArray[np.float64]:
    """Return what sums are multiples of, whatever the noise."""
    if isinstance(block, Histograms):
        scales = block.scales or (1.0,) * len(block.widths)
        own = [math.ldexp(1.0, math.frexp(scale)[1] - 23) for scale in scales]
        return np.repeat(own, block.widths)
    if isinstance(block, Counts | Parities):
        return np.ones(block.width)
    if isinstance(block, Vectors):
        return np.full(block.width, block.start(0).step)
    if isinstance(block, OuterProducts) or _are_vectors(block):
        return np.concatenate(
            [np.full(own.low.shape[1], own.step) for own in block.start(0)]
        )
    raise RowsElsewhereError(
        f"{type(block).__name__} cannot be summed by parties that add noise "
        "themselves. Give a schema of all columns and `classes`, or trust a "
        "combiner."
    )


def _fine(
    steps: NDArray[np.float64], std: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return steps that are fine beside the noise, and how many are in a given one."""
    times = np.ones(len(steps))
    if std > 0:
        finest = math.ldexp(1.0, math.frexp(std)[1] - 1 - FINER)
        times = np.maximum(steps / finest, 1.0)
    return steps / times, times


def _are_vectors(block: Any) -> bool:
    is_many = isinstance(block, SideBySide)
    return is_many and all(isinstance(part, Vectors) for part in block.parts)


def _exact(total: ExactSum) -> Any:
    """Return a sum in steps; ``high`` may hold more of them than 53 bits say."""
    tops = np.vectorize(int, otypes=[object])(total.high / total.top)
    rest = np.vectorize(int, otypes=[object])(total.low / total.step)
    return tops * 2**total.n_bits + rest
