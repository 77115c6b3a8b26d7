"""Small matrices on one thread: more would wait for each other."""

from collections.abc import Callable
from functools import cache, wraps
from typing import ParamSpec, TypeVar

from threadpoolctl import ThreadpoolController

P, R = ParamSpec("P"), TypeVar("R")


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
