"""Steps of training: threads, Adam, latent codes, a classifier of codes."""

import math
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import cast

import torch
from torch import Generator, Tensor, nn
from torch.nn.functional import cross_entropy

# ----------------------------------------------------------------------------
# The number of threads: all of them on a quiet machine, one on a busy one.

FIRST_TRIALS = 4  # steps, with one thread and with all of them in turns
TRIAL_INTERVAL = 16  # steps until the slower way is tried; doubled each time
LONGEST_INTERVAL = 256  # steps between two trials
# torch's number of threads is global: only one training at a time may change it.
_in_charge = threading.Lock()


def paced(steps: Iterable[int]) -> Iterator[int]:
    """Yield steps, and set the number of threads that is quickest for them.

    A step of training is a hundred small operations, and at the end of each all threads
    wait for the last one. If other programs use the cores as well, that thread waits
    for its turn, and a step takes ten to a hundred times as long as on one thread. So
    one thread and all threads are timed, the quicker way is taken, and the other is
    tried again at growing intervals.

    Only for steps that read no private row. The number of threads changes the last
    digits of a step, and it depends on measured times; both must not depend on secrets.
    With one thread (``OMP_NUM_THREADS=1``) nothing is timed.

    Examples
    --------
    >>> list(paced(range(3)))
    [0, 1, 2]
    """
    all_threads = torch.get_num_threads()
    if all_threads == 1 or not _in_charge.acquire(blocking=False):
        yield from steps
        return
    try:
        yield from _timed(steps, all_threads)
    finally:  # also where a step raised: the loop held the only reference
        torch.set_num_threads(all_threads)
        _in_charge.release()


def _timed(steps: Iterable[int], all_threads: int) -> Iterator[int]:
    seconds = {1: 0.0, all_threads: 0.0}  # of a step
    next_trial, interval = FIRST_TRIALS + TRIAL_INTERVAL, TRIAL_INTERVAL
    for k, step in enumerate(steps):
        quick, slow = sorted(seconds, key=seconds.__getitem__)
        if k < FIRST_TRIALS:
            n_threads = (1, all_threads)[k % 2]
        elif k == next_trial:
            n_threads = slow
        else:
            n_threads = quick
        torch.set_num_threads(n_threads)
        start = time.perf_counter()
        yield step
        spent = time.perf_counter() - start
        is_trial = k < FIRST_TRIALS or k == next_trial  # older times are out of date
        seconds[n_threads] = spent if is_trial else (seconds[n_threads] + spent) / 2
        if k == next_trial:
            is_quicker = seconds[slow] < seconds[quick]
            interval = (
                TRIAL_INTERVAL if is_quicker else min(2 * interval, LONGEST_INTERVAL)
            )
            next_trial = k + interval


# ----------------------------------------------------------------------------
# Adam, as :class:`torch.optim.Adam` has it, and nothing around it.
#
# An optimiser of torch imports torch's compiler when it is first made: more than a
# second, half of what a fit of a table takes.

TINY = 1e-8
SQUARES_DECAY = 0.99  # of RMSprop, as torch has it


class Adam:
    """Moves tensors along their ``grad``, all of which must be there.

    Examples
    --------
    >>> place = torch.ones(1)
    >>> place.grad = torch.tensor([5.0])
    >>> Adam([place]).step(0.5)
    >>> round(place.item(), 6)
    0.5
    """

    def __init__(
        self, tensors: Iterable[Tensor], betas: tuple[float, float] = (0.9, 0.999)
    ) -> None:
        self._tensors = list(tensors)
        self._means = [torch.zeros_like(t).detach() for t in self._tensors]
        self._squares = [torch.zeros_like(t).detach() for t in self._tensors]
        self._betas, self._steps = betas, 0

    def clear(self) -> None:
        """Forget the gradients."""
        for tensor in self._tensors:
            tensor.grad = None

    @torch.no_grad()
    def step(self, rate: float | Sequence[float]) -> None:
        """Move all tensors; rates may differ."""
        self._steps += 1
        slopes = cast("list[Tensor]", [tensor.grad for tensor in self._tensors])
        first, second = self._betas
        torch._foreach_lerp_(self._means, slopes, 1.0 - first)
        torch._foreach_mul_(self._squares, second)
        torch._foreach_addcmul_(self._squares, slopes, slopes, 1.0 - second)
        sizes = torch._foreach_sqrt(self._squares)
        torch._foreach_div_(sizes, math.sqrt(1.0 - second**self._steps))
        torch._foreach_add_(sizes, TINY)
        rates = rate if isinstance(rate, Sequence) else [rate] * len(slopes)
        factors = [-r / (1.0 - first**self._steps) for r in rates]
        torch._foreach_addcdiv_(self._tensors, self._means, sizes, factors)


class RMSprop:
    """Moves tensors as :class:`torch.optim.RMSprop` does, with its defaults.

    Examples
    --------
    >>> place = torch.ones(1)
    >>> place.grad = torch.tensor([5.0])
    >>> RMSprop([place]).step(0.01)
    >>> round(place.item(), 6)
    0.9
    """

    def __init__(self, tensors: Iterable[Tensor]) -> None:
        self._tensors = list(tensors)
        self._squares = [torch.zeros_like(t).detach() for t in self._tensors]

    def clear(self) -> None:
        """Forget the gradients."""
        for tensor in self._tensors:
            tensor.grad = None

    @torch.no_grad()
    def step(self, rate: float) -> None:
        """Move all tensors."""
        slopes = cast("list[Tensor]", [tensor.grad for tensor in self._tensors])
        torch._foreach_mul_(self._squares, SQUARES_DECAY)
        torch._foreach_addcmul_(self._squares, slopes, slopes, 1.0 - SQUARES_DECAY)
        sizes = torch._foreach_sqrt(self._squares)
        torch._foreach_add_(sizes, TINY)
        torch._foreach_addcdiv_(self._tensors, slopes, sizes, -rate)


def optimiser_of(
    name: str, tensors: Iterable[Tensor], betas: tuple[float, float]
) -> Adam | RMSprop:
    """Return the optimiser of a name; ``betas`` are of Adam."""
    return RMSprop(tensors) if name == "rmsprop" else Adam(tensors, betas)


def trained(network: nn.Module) -> list[Tensor]:
    """Return the weights of a network that are trained."""
    return [weight for weight in network.parameters() if weight.requires_grad]


# ----------------------------------------------------------------------------
# Latent vectors that fill their space evenly, the same number for every class.

EDGE_OF_PLACES = 1e-6  # places nearer to 0 or 1 would give extreme numbers


class Latents:
    """Batches of standard normal vectors, stratified and antithetic.

    A scrambled Sobol sequence is shifted by a random vector for each batch and class,
    and mirrored: every vector is normal, means over a batch vary far less than those of
    independent ones, and odd moments not at all.

    Parameters
    ----------
    n_each : int
        Vectors of each class in a batch; even.
    n_latent, n_classes : int
        Length of a vector; number of classes.
    rng : Generator
        Public randomness.

    Examples
    --------
    >>> latents = Latents(4, 2, n_classes=3, rng=Generator().manual_seed(0))
    >>> latents.draw().shape, latents.labels.tolist()
    (torch.Size([12, 2]), [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2])
    """

    def __init__(
        self, n_each: int, n_latent: int, *, n_classes: int, rng: Generator
    ) -> None:
        self.labels = torch.arange(n_classes).repeat_interleave(n_each)
        self._places = sobol(n_each // 2, n_latent, rng)
        self._n_classes = n_classes
        self._rng = rng

    def draw(self) -> Tensor:
        """Return the latent vectors of a batch, in the order of ``labels``."""
        shape = (self._n_classes, 1, self._places.shape[1])
        shifts = torch.rand(shape, generator=self._rng)
        places = (self._places + shifts) % 1.0
        mirrored = torch.cat([places, 1.0 - places], dim=1)
        return normal(mirrored).flatten(0, 1)


def sobol(n: int, width: int, rng: Generator) -> Tensor:
    """Return n scrambled Sobol points in the unit cube."""
    seed = int(torch.randint(2**31, (1,), generator=rng))
    engine = torch.quasirandom.SobolEngine(width, scramble=True, seed=seed)
    return engine.draw(n)


def strata(n: int, width: int, rng: Generator) -> Tensor:
    """Return n places per column, one in each n-th of [0, 1), in an order of its own.

    Examples
    --------
    >>> places = strata(4, 1, Generator().manual_seed(0))
    >>> (places * 4).long().flatten().sort().values.tolist()
    [0, 1, 2, 3]
    """
    ranks = torch.rand(n, width, generator=rng).argsort(dim=0)
    within = torch.rand(n, width, generator=rng, dtype=torch.float64)
    return (ranks + within) / max(n, 1)


def normal(places: Tensor) -> Tensor:
    """Turn places in [0, 1] into standard normal numbers."""
    return torch.special.ndtri(places.clamp(EDGE_OF_PLACES, 1.0 - EDGE_OF_PLACES))


# ----------------------------------------------------------------------------
# Training of a classifier on synthetic rows; free.

PEAK_RATE = 3e-3
BATCH = 128


def train_classifier(
    network: nn.Module, rows: Tensor, labels: Tensor, *, max_iter: int, rng: Generator
) -> nn.Module:
    """Train by Adam, with a learning rate that rises for a while, then falls to 0."""
    optimiser = Adam(trained(network))
    for step in paced(range(max_iter)):
        rate = PEAK_RATE * min(10 * (step + 1), max_iter - step) / max_iter
        batch = torch.randint(len(rows), (BATCH,), generator=rng)
        loss = cross_entropy(network(rows[batch]), labels[batch])
        optimiser.clear()
        loss.backward()
        optimiser.step(rate)
    return network.eval()
