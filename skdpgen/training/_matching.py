"""The training loop: brings a generator's mean embedding near the released one."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Generator, Tensor, nn

from skdpgen.training._adam import Adam, trained
from skdpgen.training._checkpoints import Checkpoints
from skdpgen.training._latents import Latents
from skdpgen.training._pace import paced
from skdpgen.training._squared_error import SquaredError

Embedding = Mapping[str, Tensor]  # block name -> (n_classes, width)
WARM_UP, SETTLED, COOLING = 0.1, 0.8, 0.9  # parts of the iterations
MEMORY, RECENT = 0.98, 0.9  # of the averages of weights, and of errors


@dataclass(frozen=True)
class LossWeight:
    """How much a block counts in the loss, at first and in the end."""

    first: float
    last: float

    def at(self, progress: float) -> float:
        """Return the weight; between the two it grows by a steady factor."""
        return float(self.first * (self.last / self.first) ** min(progress, 1.0))


def match_embedding(
    generator: nn.Module,
    embeds: Sequence[Callable[[list[Tensor], int], Embedding]],
    targets: Sequence[Embedding],
    *,
    shares: Tensor,
    weights: Mapping[str, LossWeight],
    mix: Tensor | None = None,
    floors: Mapping[str, float],
    n_latent: int,
    max_iter: int,
    batch_size: int,
    learning_rate: float,
    rng: Generator,
    moving_rate: float | None = None,
    checkpoints: Checkpoints | None = None,
    progress: Callable[[Iterable[int]], Iterable[int]] = iter,
) -> list[float]:
    r"""Train a generator in place; return the loss of every step.

    Minimises :math:`\sum_k w_k \|S (T_k - \omega \cdot E_k)\|^2` over blocks k, where
    :math:`E_k` is the mean embedding of what the generator makes of each class. The
    learning rate goes through one cycle, and the generator's weights are averaged over
    the last steps. Once errors have come down to what noise alone would leave, training
    jumps to the end of the cycle.

    Parameters
    ----------
    generator : Module
        From latent vectors and labels to a list of outputs.
    embeds : sequence of callables
        From those outputs, class by class, to the mean embedding of each class. They
        take turns, as targets do.
    targets : sequence of embeddings, each block of shape (n_classes, width)
        Used in turn.
    shares : Tensor of shape (n_classes,)
        Share of each class.
    weights : mapping of block name to LossWeight
        How much each block counts.
    mix : Tensor of shape (n_classes, n_classes) or None
        The matrix S: weights of classes, or a kernel between them.
    floors : mapping of block name to float
        Squared errors that noise alone would leave in the blocks that matter.
    moving_rate : float or None, default=None
        Follow moving averages of errors, which Adam makes at this rate, instead of the
        errors of one batch (:class:`MovingErrors`).
    checkpoints : Checkpoints or None, default=None
        Keeps the best state on the way, which the generator ends with.
    """
    device = shares.device
    n_classes = len(shares)
    n_each = 2 * max(math.ceil(batch_size / (2 * n_classes)), 2)
    latents = Latents(n_each, n_latent, n_classes=n_classes, rng=rng)
    labels = latents.labels.to(device)
    optimiser = Adam(trained(generator), betas=(0.9, 0.95))
    averages = Averages()
    moving = MovingErrors(moving_rate) if moving_rate else None
    losses: list[float] = []
    left: dict[str, float] = {}
    smooth: dict[str, float] = {}
    generator.train()
    done = 0.0
    for step in paced(progress(range(max_iter))):
        outputs = generator(latents.draw().to(device), labels)
        embed, target = embeds[step % len(embeds)], targets[step % len(targets)]
        loss = shares.new_zeros(())
        for name, mean in embed(outputs, n_classes).items():
            weight = weights[name].at(done / SETTLED)
            if mix is None and moving is None:
                size = SquaredError.apply(mean, target[name], shares)
                if name in floors:
                    left[name] = size.item()
                loss = loss + weight * size
                continue
            error = target[name] - shares[:, None] * mean
            if name in floors:
                left[name] = error.detach().square().sum().item()
            error = error if mix is None else mix @ error
            parts = error.square() if moving is None else moving.follow(name, error)
            loss = loss + weight * parts.sum()
        optimiser.clear()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step(learning_rate * one_cycle(done))
        losses.append(loss.item())
        averages.update(generator, step)
        if checkpoints is not None:
            checkpoints.see(generator, step)
        for name, error_now in left.items():
            before = smooth.get(name, error_now)
            smooth[name] = RECENT * before + (1.0 - RECENT) * error_now
        done += 1.0 / max_iter
        is_near = all(smooth[name] <= floors[name] for name in floors)
        if floors and is_near and WARM_UP <= done < COOLING:
            done = COOLING  # what is left is to settle
        if done >= 1.0 - 1e-9:
            break
    averages.load_into(generator)
    if checkpoints is not None:
        checkpoints.choose(generator)
    generator.eval()
    return losses


def one_cycle(done: float) -> float:
    """Rise to 1 in the first tenth, then fall to 0 along a cosine."""
    if done < WARM_UP:
        return 0.5 - 0.5 * math.cos(math.pi * (0.05 + 0.95 * done / WARM_UP))
    return 0.5 + 0.5 * math.cos(math.pi * (done - WARM_UP) / (1.0 - WARM_UP))


class MovingErrors:
    r"""Errors averaged over batches by Adam, as in DP-MEPF.

    The squared error of one batch is too large by the variance of its mean, which pulls
    images of a class together. An average m of past errors e has less of it: the
    generator goes along :math:`2 m^\top \nabla e`, and m along :math:`e - m`.
    """

    def __init__(self, rate: float) -> None:
        self._rate = rate
        self._every: dict[str, Tensor] = {}
        self._adam: dict[str, Adam] = {}

    def follow(self, name: str, error: Tensor) -> Tensor:
        """Return what the generator goes down along; the average follows."""
        if name not in self._every:
            mean = error.detach().clone()
            self._every[name] = mean
            self._adam[name] = Adam([mean])
        mean = self._every[name]
        mean.grad = mean - error.detach()
        self._adam[name].step(self._rate)
        return 2.0 * mean.detach() * error


class Averages:
    """Moving averages of all weights and running statistics."""

    def __init__(self, memory: float = MEMORY) -> None:
        self._state: dict[str, Any] = {}
        self._memory = memory

    def update(self, generator: nn.Module, step: int) -> None:
        """Move towards the present state; early states are forgotten faster."""
        memory = min(self._memory, step / (step + 10.0))
        with torch.no_grad():
            for name, value in generator.state_dict().items():
                if name not in self._state or not value.is_floating_point():
                    self._state[name] = value.clone()
                else:
                    self._state[name].lerp_(value, 1.0 - memory)

    def load_into(self, generator: nn.Module) -> None:
        """Give the averages to the generator."""
        if self._state:
            generator.load_state_dict(self._state)
