"""Small matrices on one thread: more would wait for each other."""

import threading
from collections.abc import Callable
from functools import cache, wraps
from typing import Any, ParamSpec, TypeVar

from threadpoolctl import ThreadpoolController

P, R = ParamSpec("P"), TypeVar("R")
_lock = threading.Lock()
_inside = threading.local()  # how deep this thread is
_others = 0  # threads that are inside
_usual: list[int] = []  # threads of each library when none was


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
        _enter()
        try:
            return function(*args, **kwargs)
        finally:
            _leave()

    return limited


def _enter() -> None:
    global _others, _usual
    depth = getattr(_inside, "depth", 0)
    _inside.depth = depth + 1
    if depth:
        return
    with _lock:
        if not _others:  # else a library that counts for the whole process says 1
            _usual = [library.num_threads for library in _libraries()]
        _others += 1
    for library in _libraries():
        library.set_num_threads(1)


def _leave() -> None:
    global _others
    _inside.depth -= 1
    if _inside.depth:
        return
    with _lock:
        _others -= 1
        usual = _usual
    for library, number in zip(_libraries(), usual, strict=True):
        library.set_num_threads(number)


@cache
def _libraries() -> Any:
    """Return all of BLAS that is loaded, which takes ten milliseconds to find."""
    return ThreadpoolController().select(user_api="blas").lib_controllers
