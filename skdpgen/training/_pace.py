"""As many threads as are quick: all of them on a quiet machine, one on a busy one."""

import threading
import time
from collections.abc import Iterable, Iterator

import torch

TRIED = 4  # steps at first, one thread and all of them in turns
AGAIN = 16  # steps until the slower way is tried again; twice as many each time
MOST_APART = 256
_in_charge = threading.Lock()  # threads are counted for the whole process


def paced(steps: Iterable[int]) -> Iterator[int]:
    """Yield steps, each to be computed with the number of threads that is quickest.

    A step of training is a hundred small operations, and at the end of each all threads
    wait for the last one. Where other programs want the cores as well, that one has to
    wait for its turn: a step takes ten to a hundred times as long as on one thread.
    So both ways are timed, the quicker one is taken, and the other is tried again now
    and then.

    Only for steps that read no private row: what was timed then depends on nothing
    that is secret, as the last digits of the steps, which depend on the number of
    threads, do not either. With one thread (``OMP_NUM_THREADS=1``) nothing is timed.

    Examples
    --------
    >>> list(paced(range(3)))
    [0, 1, 2]
    """
    most = torch.get_num_threads()
    if most == 1 or not _in_charge.acquire(blocking=False):
        yield from steps
        return
    try:
        yield from _timed(steps, most)
    finally:  # also where a step raised: the loop held the only reference
        torch.set_num_threads(most)
        _in_charge.release()


def _timed(steps: Iterable[int], most: int) -> Iterator[int]:
    seconds = {1: 0.0, most: 0.0}  # of a step
    turn, apart = TRIED + AGAIN, AGAIN
    for k, step in enumerate(steps):
        quick, slow = sorted(seconds, key=seconds.__getitem__)
        if k < TRIED:
            now = (1, most)[k % 2]
        elif k == turn:
            now = slow
        else:
            now = quick
        torch.set_num_threads(now)
        start = time.perf_counter()
        yield step
        spent = time.perf_counter() - start
        is_trial = k < TRIED or k == turn  # what was known before is of old
        seconds[now] = spent if is_trial else (seconds[now] + spent) / 2
        if k == turn:
            won = seconds[slow] < seconds[quick]
            apart = AGAIN if won else min(2 * apart, MOST_APART)
            turn = k + apart
