"""Seeds, counts and products of arrays, and the threads that compute them."""

from collections.abc import Callable, Iterator
from functools import cache, wraps
from numbers import Integral
from typing import Any, ParamSpec, TypeVar

import numpy as np
import torch
from numpy.random import Generator
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from threadpoolctl import ThreadpoolController

from skdpgen.utils._types import RandomState

# ----------------------------------------------------------------------------
# Whole numbers that must be positive.


def check_count(value: object, name: str) -> int:
    """Return a whole number of at least 1; raise for anything else.

    Examples
    --------
    >>> check_count(3, "chunk_size")
    3
    """
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(
            f"{name} must be an integer in the range [1, inf). Got {value!r} instead."
        )
    return int(value)


# ----------------------------------------------------------------------------
# Products over all sets of rows of a table, without a product twice.


def products_of_rows(
    rows: NDArray[Any], order: int, first: int = 0
) -> Iterator[NDArray[Any]]:
    """Yield products over all sets of ``order`` rows, from the row ``first`` on.

    Sets come in the order of ``itertools.combinations``, those that differ in their
    last row alone together.

    Examples
    --------
    >>> rows = np.array([[2.0], [3.0], [5.0]])
    >>> [part.ravel().tolist() for part in products_of_rows(rows, 2)]
    [[6.0, 10.0], [15.0]]
    """
    if order == 1:
        yield rows[first:]
        return
    for j in range(first, len(rows) - order + 1):
        for part in products_of_rows(rows, order - 1, j + 1):
            yield np.asarray(part * rows[j])


# ----------------------------------------------------------------------------
# Small matrices on one thread: more would wait for each other.

P = ParamSpec("P")
R = TypeVar("R")


def on_one_thread(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a function of many small matrices: BLAS computes it on one thread.

    All threads wait for the last one at the end of each product or decomposition.
    Where other programs want the cores as well that one has to wait for its turn, and
    what takes a fifth of a millisecond takes sixty.

    Examples
    --------
    >>> @on_one_thread
    ... def answer():
    ...     return 42
    >>> answer()
    42
    """

    @wraps(function)
    def limited(*args: P.args, **kwargs: P.kwargs) -> R:
        with _libraries().limit(limits=1, user_api="blas"):
            return function(*args, **kwargs)

    return limited


@cache
def _libraries() -> ThreadpoolController:
    return ThreadpoolController()  # looks through all that is loaded: ten milliseconds


# ----------------------------------------------------------------------------
# Public randomness: features, weights, samples. Never privacy noise.


def split_generator(random_state: RandomState, n: int) -> list[Generator]:
    """Turn scikit-learn's ``random_state`` into ``n`` independent generators.

    Examples
    --------
    >>> first, second = split_generator(0, 2)
    >>> bool(first.random() == second.random())
    False
    """
    if isinstance(random_state, Generator):
        return random_state.spawn(n)
    # drawn also for None, where it is not used: it raises for what is no random state
    words = check_random_state(random_state).randint(0, 2**31, size=4)
    if random_state is None:
        return np.random.default_rng().spawn(n)
    return np.random.default_rng([int(word) for word in words]).spawn(n)


def torch_generator(rng: Generator) -> torch.Generator:
    """Return a torch generator on the CPU, seeded by the next word of ``rng``.

    Public randomness is drawn on the CPU and then moved, so that a GPU gets the same
    numbers.

    Examples
    --------
    >>> weights, same = (
    ...     torch.rand(3, generator=torch_generator(np.random.default_rng(0)))
    ...     for _ in range(2)
    ... )
    >>> bool(torch.equal(weights, same))
    True
    """
    return torch.Generator().manual_seed(seed_of(rng))


def seed_of(rng: Generator) -> int:
    """Return the next word of ``rng``, as a seed.

    Examples
    --------
    >>> seed_of(np.random.default_rng(0)) == seed_of(np.random.default_rng(0))
    True
    """
    return int(rng.integers(2**62))


def pick_device(device: str | torch.device) -> torch.device:
    """Return the named device; "auto" is a GPU if there is one.

    Examples
    --------
    >>> pick_device("cpu")
    device(type='cpu')
    """
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        return torch.empty(0, device=device).device
    except (RuntimeError, AssertionError):
        raise ValueError(
            "device must be 'auto' or one that torch finds here. "
            f"Got {device!r} instead."
        ) from None
