"""The training loop: brings a generator's mean embedding near the released one."""

import copy
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Generator, Tensor, nn

from skdpgen.privacy import kernel_slopes
from skdpgen.training._steps import Adam, Latents, paced, trained

# ----------------------------------------------------------------------------
# How far mean embeddings are from their target, and the way down.


class SquaredError(torch.autograd.Function):
    r"""Squared norm :math:`\|T - \omega \cdot E\|^2` for a target T and shares ω.

    Embeddings may be large: errors are formed once, and become the slope in place.
    """

    @staticmethod
    def forward(ctx: Any, mean: Tensor, target: Tensor, shares: Tensor) -> Tensor:
        """Return the squared norm of the errors, from means of shape (n_classes, D)."""
        error = target.addcmul(shares[:, None], mean.to(target), value=-1.0)
        ctx.save_for_backward(error, shares)
        ctx.dtype = mean.dtype
        return error.flatten().dot(error.flatten())

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> tuple[Tensor | None, ...]:
        """Return the slope in the means."""
        error, shares = ctx.saved_tensors
        return error.mul_(-2.0 * slope * shares[:, None]).to(ctx.dtype), None, None


# ----------------------------------------------------------------------------
# What is known of a noisy embedding before any training: shrinkage, at no cost.

Floats = NDArray[np.float64]


def shrink_embedding(
    noisy: Floats, start: Floats, shares: Floats, noise_std: float
) -> tuple[Floats, float]:
    r"""Shrink an embedding towards a simpler one, as far as its noise calls for.

    The excess of the embedding over ``start`` (what independent columns would give)
    is split into what all classes have in common, weighted by their shares
    :math:`\omega_c`, and what each has of its own. Relations between columns are
    mostly common, and there the noise averages out. Each part is multiplied by the
    James-Stein factor :math:`(1 - D s^2 / \|part\|^2)_+` for its own noise s [1]_.

    Parameters
    ----------
    noisy, start : ndarray of shape (n_classes, D)
        Released embedding, per class and per row of the table, and a simple guess at
        it.
    shares : ndarray of shape (n_classes,)
        Share of each class.
    noise_std : float
        Noise of each entry of ``noisy``.

    Returns
    -------
    embedding : ndarray of shape (n_classes, D)
    error : float
        Roughly the squared error that is left in it: the kept part of the noise.

    References
    ----------
    .. [1] James & Stein, "Estimation with quadratic loss", 1961.

    Examples
    --------
    >>> noisy = np.array([[3.0, 4.0]])
    >>> shrink_embedding(noisy, np.zeros((1, 2)), np.ones(1), 2.5)
    (array([[1.5, 2. ]]), 6.25)
    """
    excess = noisy - start
    weight = float((shares**2).sum())
    common = shares @ excess / weight
    own = excess - shares[:, None] * common
    common, error = _shrink(common, noise_std**2 / weight)
    error *= weight
    result = start + shares[:, None] * common
    for label, share in enumerate(shares):
        part, more = _shrink(own[label], noise_std**2 * (1.0 - share**2 / weight))
        result[label] += part
        error += more
    return result, float(error)


def _shrink(part: Floats, variance: float) -> tuple[Floats, float]:
    """Return a part shrunk, and the noise that was kept."""
    energy, noise = float(part @ part), len(part) * variance
    kept = max(1.0 - noise / energy, 0.0) if energy else 0.0
    return part * kept, noise * kept


# ----------------------------------------------------------------------------
# The best state of a generator on the way, by a score that costs nothing more.

EVERY = 100  # steps


class Checkpoints:
    """Scores a generator now and then, and keeps the state with the lowest score.

    Parameters
    ----------
    score : callable
        From a generator to a number; must see nothing private but what was released.
    """

    def __init__(self, score: Callable[[nn.Module], float]) -> None:
        self._score = score
        self._least = float("inf")
        self._state: dict[str, Any] = {}

    def see(self, generator: nn.Module, step: int) -> None:
        """Score the generator every 100 steps."""
        if (step + 1) % EVERY == 0:
            self._compare(generator)
            generator.train()

    def choose(self, generator: nn.Module) -> None:
        """Give the generator the best state; the last one counts as well."""
        self._compare(generator)
        if self._state:
            generator.load_state_dict(self._state)

    def _compare(self, generator: nn.Module) -> None:
        generator.eval()
        with torch.no_grad():
            found = self._score(generator)
        if found < self._least:
            self._least = found
            self._state = copy.deepcopy(generator.state_dict())


# ----------------------------------------------------------------------------
# The training loop: brings a generator's mean embedding near the released one.

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


@dataclass(frozen=True, eq=False)
class Goal:
    """What the mean embeddings of a generator are to come near.

    Parameters
    ----------
    targets : sequence of embeddings, each block of shape (n_classes, width)
        Used in turn.
    shares : Tensor of shape (n_classes,)
        Share of each class.
    weights : mapping of block name to LossWeight
        How much each block counts.
    noise_energy : mapping of block name to float
        Squared errors that noise alone would leave in the blocks that matter. Training
        ends early where they are reached.
    mix : Tensor of shape (n_classes, n_classes) or None, default=None
        The matrix S: weights of classes, or a kernel between them.
    """

    targets: Sequence[Embedding]
    shares: Tensor
    weights: Mapping[str, LossWeight]
    noise_energy: Mapping[str, float]
    mix: Tensor | None = None


@dataclass(frozen=True)
class Steps:
    """How a generator is trained.

    Parameters
    ----------
    n_latent : int
        Length of latent vectors.
    max_iter, batch_size : int
    learning_rate : float
        The highest of the cycle.
    moving_rate : float or None, default=None
        Follow moving averages of errors, which Adam makes at this rate, instead of the
        errors of one batch (:class:`MovingErrors`).
    """

    n_latent: int
    max_iter: int
    batch_size: int
    learning_rate: float
    moving_rate: float | None = None

    @classmethod
    def of(cls, settings: Any, moving_rate: float | None = None) -> "Steps":
        """Return the steps that the settings of an estimator ask for."""
        return cls(
            settings.n_latent,
            settings.max_iter,
            settings.batch_size,
            settings.learning_rate,
            moving_rate,
        )


def match_embedding(
    generator: nn.Module,
    embeds: Sequence[Callable[[list[Tensor], int], Embedding]],
    goal: Goal,
    steps: Steps,
    *,
    rng: Generator,
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
    goal : Goal
        Targets, and how much each part of them counts.
    steps : Steps
        How many there are, and of which size.
    rng : Generator
        Public randomness: latent vectors.
    checkpoints : Checkpoints or None, default=None
        Keeps the best state on the way, which the generator ends with.
    """
    shares, mix, targets = goal.shares, goal.mix, goal.targets
    device, n_classes = shares.device, len(shares)
    n_each = 2 * max(math.ceil(steps.batch_size / (2 * n_classes)), 2)
    latents = Latents(n_each, steps.n_latent, n_classes=n_classes, rng=rng)
    labels = latents.labels.to(device)
    optimiser = Adam(trained(generator), betas=(0.9, 0.95))
    averages = Averages()
    moving = MovingErrors(steps.moving_rate) if steps.moving_rate else None
    losses: list[float] = []
    errors: dict[str, float] = {}  # squared, of the blocks that may end training
    smooth: dict[str, float] = {}  # and their moving averages
    generator.train()
    done = 0.0
    for step in paced(progress(range(steps.max_iter))):
        outputs = generator(latents.draw().to(device), labels)
        embed, target = embeds[step % len(embeds)], targets[step % len(targets)]
        loss = shares.new_zeros(())
        for name, mean in embed(outputs, n_classes).items():
            weight = goal.weights[name].at(done / SETTLED)
            if mix is None and moving is None:  # formed once, in less memory
                size = SquaredError.apply(  # type: ignore[no-untyped-call]
                    mean, target[name], shares
                )
                if name in goal.noise_energy:
                    errors[name] = size.item()
                loss = loss + weight * size
                continue
            error = target[name] - shares[:, None] * mean
            if name in goal.noise_energy:
                errors[name] = error.detach().square().sum().item()
            error = error if mix is None else mix @ error
            parts = error.square() if moving is None else moving.follow(name, error)
            loss = loss + weight * parts.sum()
        optimiser.clear()
        loss.backward()
        optimiser.step(steps.learning_rate * one_cycle(done))
        losses.append(loss.item())
        averages.update(generator, step)
        if checkpoints is not None:
            checkpoints.see(generator, step)
        for name, now in errors.items():
            smooth[name] = RECENT * smooth.get(name, now) + (1.0 - RECENT) * now
        done += 1.0 / steps.max_iter
        is_near = all(
            smooth[name] <= energy for name, energy in goal.noise_energy.items()
        )
        if goal.noise_energy and is_near and WARM_UP <= done < COOLING:
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


# ----------------------------------------------------------------------------
# Descent along noisy slopes: for methods that read rows at every step.

RAREST = 1e-3  # least share that a balanced loss divides by


def descend(
    generator: nn.Module,
    slopes: Callable[[Floats, NDArray[np.int64]], Floats],
    points_of: Callable[[list[Tensor]], Tensor],
    *,
    shares: Floats,
    is_balanced: bool = False,
    length_scales: Sequence[float],
    n_points: int,
    n_latent: int,
    max_iter: int,
    learning_rate: float,
    rng: Generator,
    device: torch.device,
    progress: Callable[[Iterable[int]], Iterable[int]] = iter,
) -> list[float]:
    r"""Train a generator in place on the slopes of a private function.

    Half the squared distance of kernel means, :math:`\|f_G - f_D\|^2 / 2`, falls
    fastest if each generated point w moves along :math:`\nabla f_D(w) - \nabla f_G(w)`.
    The first comes with noise from ``slopes``, the second from the other generated
    points. **Nothing else of the data is seen**: what is handed to the generator is a
    function of the noisy slopes alone.

    Parameters
    ----------
    generator : Module
        From latent vectors and labels to a list of outputs.
    slopes : callable
        ``slopes(points, labels)``, private, once a step.
    points_of : callable
        From those outputs to points, (n, width).
    shares : ndarray of shape (n_classes,)
        Share of each class.
    is_balanced : bool, default=False
        Whether every class counts alike in the loss.
    n_points : int
        Points of each class at each step; even.

    Returns
    -------
    list of float
        Length of the noisy slope at each step; mostly noise.
    """
    latents = Latents(n_points, n_latent, n_classes=len(shares), rng=rng)
    labels = latents.labels.numpy()
    weights = (shares / n_points)[labels][:, None]  # of a point in its mean
    if is_balanced:
        weights = weights / np.maximum(shares, RAREST)[labels][:, None] ** 2
    scales = np.asarray(length_scales, dtype=np.float64)
    optimiser = Adam(trained(generator), betas=(0.9, 0.99))
    averages = Averages()
    lengths = []
    generator.train()
    for step in progress(range(max_iter)):
        points = points_of(
            generator(latents.draw().to(device), latents.labels.to(device))
        )
        at = points.detach().cpu().double().numpy()
        uphill = -slopes(at, labels)
        for label, share in enumerate(shares):
            mine = labels == label
            uphill[mine] += share / n_points * kernel_slopes(at[mine], at[mine], scales)
        uphill *= weights
        optimiser.clear()
        points.backward(torch.as_tensor(uphill).to(points))
        optimiser.step(learning_rate * one_cycle(step / max_iter))
        averages.update(generator, step)
        lengths.append(float(np.linalg.norm(uphill)))
    averages.load_into(generator)
    generator.eval()
    return lengths
