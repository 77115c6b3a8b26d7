"""The training loop: brings a generator's mean embedding near the released one."""

import copy
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Generator, Tensor, nn

from skdpgen.privacy import kernel_slopes
from skdpgen.training._recorded import WORTH_IT, Embed, Embedded, Embedding
from skdpgen.training._steps import Adam, Latents, optimiser_of, paced, trained

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
# Shrinkage of a noisy embedding before training; free.

Floats = NDArray[np.float64]


def shrink_embedding(
    noisy: Floats, start: Floats, shares: Floats, noise_std: float
) -> tuple[Floats, float]:
    r"""Shrink a noisy embedding towards a simpler one, by its known noise.

    The excess of the embedding over ``start`` (the embedding of independent columns)
    is split into a common part of all classes, weighted by their shares
    :math:`\omega_c`, and a part of each class. Relationships between columns are
    mostly common, and there the noise averages out. Each part is multiplied by the
    James-Stein factor :math:`(1 - D s^2 / \|part\|^2)_+` for its own noise s [1]_.

    Parameters
    ----------
    noisy, start : ndarray of shape (n_classes, D)
        Released embedding, per class and per row of the table, and the simpler one.
    shares : ndarray of shape (n_classes,)
        Share of each class.
    noise_std : float
        Noise of each entry of ``noisy``.

    Returns
    -------
    embedding : ndarray of shape (n_classes, D)
    error : float
        Approximate squared error that is left: the part of the noise that was kept.

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
    """Return the shrunken part, and the energy of the noise left in it."""
    energy, noise = float(part @ part), len(part) * variance
    kept = max(1.0 - noise / energy, 0.0) if energy else 0.0
    return part * kept, noise * kept


# ----------------------------------------------------------------------------
# The best state of a generator during training, by a score that is free.

STEPS_BETWEEN_CHECKS = 100


class Checkpoints:
    """Scores a generator every 100 steps, and keeps the state with the lowest score.

    Parameters
    ----------
    score : callable
        From a generator to a number; of private data it must use releases only.
    """

    def __init__(self, score: Callable[[nn.Module], float]) -> None:
        self._score = score
        self._least = float("inf")
        self._state: dict[str, Any] = {}

    def update(self, generator: nn.Module, step: int) -> None:
        """Score the generator if this is one of every 100 steps."""
        if (step + 1) % STEPS_BETWEEN_CHECKS == 0:
            self._compare(generator)
            generator.train()

    def choose(self, generator: nn.Module) -> None:
        """Load the best state into the generator; the last one is a candidate, too."""
        self._compare(generator)
        if self._state:
            generator.load_state_dict(self._state)

    def _compare(self, generator: nn.Module) -> None:
        generator.eval()
        with torch.no_grad():
            score = self._score(generator)
        if score < self._least:
            self._least = score
            self._state = copy.deepcopy(generator.state_dict())


# ----------------------------------------------------------------------------
# The training loop: brings the mean embedding of a generator near the released one.

# Parts of the iterations: the learning rate rises until WARM_UP, loss weights change
# until SETTLED, and from COOLING on training is not ended early.
WARM_UP, SETTLED, COOLING = 0.1, 0.8, 0.9
WEIGHTS_DECAY, ERRORS_DECAY = 0.98, 0.9  # of moving averages


@dataclass(frozen=True)
class LossWeight:
    """Weight of a block in the loss, at the start and at the end."""

    first: float
    last: float

    def at(self, progress: float) -> float:
        """Return the weight at a part of the iterations, interpolated geometrically."""
        return float(self.first * (self.last / self.first) ** min(progress, 1.0))


@dataclass(frozen=True, eq=False)
class Goal:
    """The targets of a generator's mean embeddings, and their loss.

    Parameters
    ----------
    targets : sequence of embeddings, each block of shape (n_classes, width)
        Used in turn.
    shares : Tensor of shape (n_classes,)
        Share of each class.
    weights : mapping of block name to LossWeight
        Weight of each block in the loss.
    noise_energy : mapping of block name to float
        Squared errors that noise alone would leave, for the blocks that may end
        training. It ends early once all of them are reached: a closer fit would fit
        the noise.
    mix : Tensor of shape (n_classes, n_classes) or None, default=None
        The matrix S: weights of classes, or a kernel between them.
    parts : sequence of (int, float), default=()
        Widths and norms of parts of a block that are followed apart, such as moments
        (:class:`MovingErrors`); empty if there is one.
    """

    targets: Sequence[Embedding]
    shares: Tensor
    weights: Mapping[str, LossWeight]
    noise_energy: Mapping[str, float]
    mix: Tensor | None = None
    parts: Sequence[tuple[int, float]] = ()


@dataclass(frozen=True)
class Steps:
    """Steps of training: number, batch size and learning rate.

    Parameters
    ----------
    n_latent : int
        Length of latent vectors.
    max_iter, batch_size : int
    learning_rate : float
        Peak of the cycle.
    moving_rate : float or None, default=None
        Follow moving averages of errors instead of the errors of one batch; Adam
        updates them at this rate (:class:`MovingErrors`).
    schedule : {"one_cycle", "constant"}, default="one_cycle"
        Of the learning rate.
    optimizer : {"adam", "rmsprop"}, default="adam"
    """

    n_latent: int
    max_iter: int
    batch_size: int
    learning_rate: float
    moving_rate: float | None = None
    schedule: str = "one_cycle"
    optimizer: str = "adam"

    @classmethod
    def of(
        cls, settings: Any, n_rows: float, moving_rate: float | None = None
    ) -> "Steps":
        """Return the steps in the settings of an estimator.

        ``n_rows`` is public, or released: a batch size below 1 is a part of it.
        """
        return cls(
            settings.n_latent,
            settings.max_iter,
            batch_of(settings.batch_size, n_rows),
            settings.learning_rate,
            moving_rate,
            settings.schedule,
            settings.optimizer,
        )


def batch_of(batch_size: float, n_rows: float) -> int:
    """Return the size of a batch, which may be given as a part of the rows.

    Examples
    --------
    >>> batch_of(512, 1000.0), batch_of(0.1, 1000.0)
    (512, 100)
    """
    if isinstance(batch_size, Integral):
        return int(batch_size)
    return max(round(batch_size * n_rows), 1)


def match_embedding(
    generator: nn.Module,
    embeds: Sequence[Embed],
    goal: Goal,
    steps: Steps,
    *,
    rng: Generator,
    is_fixed: bool = False,
    checkpoints: Checkpoints | None = None,
    progress: Callable[[Iterable[int]], Iterable[int]] = iter,
) -> list[float]:
    r"""Train a generator in place; return the loss of every step.

    Minimises :math:`\sum_k w_k \|S (T_k - \omega \cdot E_k)\|^2` over blocks k, where
    :math:`E_k` is the mean embedding of generated rows of each class. The learning rate
    goes through one cycle, and the generator's weights are averaged over the last
    steps. Once errors are as small as noise alone would leave them, training jumps to
    the end of the cycle.

    Parameters
    ----------
    generator : Module
        From latent vectors and labels to a list of outputs.
    embeds : sequence of callables
        From those outputs, ordered by class, to the mean embedding of each class. They
        are used in turn, as targets are.
    goal : Goal
    steps : Steps
    rng : Generator
        Public randomness: latent vectors.
    is_fixed : bool, default=False
        Whether generator and embeddings take the same operations in each step, and draw
        nothing: then a GPU may record them (:meth:`Embedded.record`).
    checkpoints : Checkpoints or None, default=None
        Keeps the best state, which the generator has in the end.
    """
    shares, mix, targets = goal.shares, goal.mix, goal.targets
    device, n_classes = shares.device, len(shares)
    n_each = 2 * max(math.ceil(steps.batch_size / (2 * n_classes)), 2)
    latents = Latents(n_each, steps.n_latent, n_classes=n_classes, rng=rng)
    labels = latents.labels.to(device)
    moving = None
    if steps.moving_rate:
        moving = MovingErrors(steps.moving_rate, shares, mix, goal.parts)
    betas = (0.9, 0.95) if moving is None else MOVING_BETAS
    optimiser = optimiser_of(steps.optimizer, trained(generator), betas)
    averages = Averages()
    losses = shares.new_empty(steps.max_iter)  # read at the end: a GPU would wait
    n_done = 0
    errors: dict[str, float] = {}  # squared, of the blocks that may end training
    smooth: dict[str, float] = {}  # and their moving averages
    generator.train()
    embedded = [Embedded(generator, embed, labels, n_classes) for embed in embeds]
    if is_fixed and device.type == "cuda" and steps.max_iter >= WORTH_IT:
        for each in embedded:
            each.record(steps.n_latent)
    done = 0.0
    for step in paced(progress(range(steps.max_iter))):
        given, target = latents.draw().to(device), targets[step % len(targets)]
        loss = shares.new_zeros(())
        for name, mean in embedded[step % len(embedded)].by_name(given).items():
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
        optimiser.step(steps.learning_rate * RATES[steps.schedule](done))
        losses[step], n_done = loss.detach(), step + 1
        averages.update(generator, step)
        if checkpoints is not None:
            checkpoints.update(generator, step)
        for name, latest in errors.items():
            smooth[name] = (
                ERRORS_DECAY * smooth.get(name, latest) + (1.0 - ERRORS_DECAY) * latest
            )
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
    return [loss.item() for loss in losses[:n_done]]


def one_cycle(done: float) -> float:
    """Rise to 1 in the first tenth, then fall to 0 along a cosine."""
    if done < WARM_UP:
        return 0.5 - 0.5 * math.cos(math.pi * (0.05 + 0.95 * done / WARM_UP))
    return 0.5 + 0.5 * math.cos(math.pi * (done - WARM_UP) / (1.0 - WARM_UP))


RATES: Mapping[str, Callable[[float], float]] = {
    "one_cycle": one_cycle,
    "constant": lambda done: 1.0,
}

# ----------------------------------------------------------------------------
# The moving average of DP-MEPF.

MOVING_BETAS = (0.5, 0.999)  # of both Adams (code)
SMALLEST_SHARE = 1e-8


class MovingErrors:
    r"""Errors averaged over batches by Adam, as in DP-MEPF.

    The squared error of one batch is too large by the variance of its mean, and so
    training would reduce the variety of a class. An average m of past errors e has less
    variance: the generator descends along :math:`2 m^\top \nabla e`, and m follows
    :math:`e - m`. It is trained by Adam on the mean squared difference. How fast it
    follows depends on the size of errors: no entry moves by more than about the rate,
    and where gradients are small the constant in Adam's denominator slows it. So m is
    that of errors of a class's own mean, of each moment with norm 1 and a mean squared
    difference of its own, as in the paper; e has the share of the class, and the norm
    of the moment.

    Parameters
    ----------
    rate : float
    shares : Tensor of shape (n_classes,)
    mix : Tensor of shape (n_rows, n_classes) or None, default=None
        Errors are these combinations of those of the classes.
    parts : sequence of (int, float), default=()
        Width and norm of each moment; empty if there is one of norm 1.

    Examples
    --------
    >>> moving = MovingErrors(0.5, torch.tensor([0.5, 0.25]))
    >>> moving.follow("all", torch.tensor([[0.5, 1.0], [0.5, 1.0]])).tolist()
    [[0.5, 2.0], [0.5, 2.0]]
    """

    def __init__(
        self,
        rate: float,
        shares: Tensor,
        mix: Tensor | None = None,
        parts: Sequence[tuple[int, float]] = (),
    ) -> None:
        sizes = shares if mix is None else torch.linalg.vector_norm(mix * shares, dim=1)
        sizes = sizes[:, None].clamp_min(SMALLEST_SHARE)
        parts = parts or ((1, 1.0),)
        self._widths = torch.cat([sizes.new_full((n,), n) for n, _ in parts])
        norms = torch.cat([sizes.new_full((n,), norm) for n, norm in parts])
        self._rate, self._sizes = rate, sizes * norms
        self._means: dict[str, Tensor] = {}
        self._adam: dict[str, Adam] = {}

    def follow(self, name: str, error: Tensor) -> Tensor:
        """Return the linearised loss of the generator, and update the average."""
        own = error.detach() / self._sizes
        if name not in self._means:
            mean = own.clone()
            self._means[name] = mean
            self._adam[name] = Adam([mean], MOVING_BETAS)
        mean = self._means[name]
        widths = self._widths if len(self._widths) > 1 else error.shape[1]
        mean.grad = 2.0 * (mean - own) / (len(error) * widths)
        self._adam[name].step(self._rate)
        return 2.0 * (self._sizes * mean.detach()) * error


class Averages:
    """Moving averages of all weights and running statistics."""

    def __init__(self, memory: float = WEIGHTS_DECAY) -> None:
        self._means: dict[str, Tensor] = {}
        self._memory = memory

    def update(self, generator: nn.Module, step: int) -> None:
        """Move towards the present state; early states are forgotten faster."""
        memory = min(self._memory, step / (step + 10.0))
        values = {
            name: value
            for name, value in generator.state_dict().items()
            if value.is_floating_point()
        }
        if not self._means:
            self._means = {name: value.clone() for name, value in values.items()}
            return
        means = list(self._means.values())
        with torch.no_grad():  # all of them in one operation, where there is one
            torch._foreach_lerp_(means, list(values.values()), 1.0 - memory)

    def load_into(self, generator: nn.Module) -> None:
        """Load the averages into the generator."""
        generator.load_state_dict(generator.state_dict() | self._means)


# ----------------------------------------------------------------------------
# Descent along noisy slopes: for methods that read rows at every step.


def descend(
    generator: nn.Module,
    slopes: Callable[[Floats, NDArray[np.int64]], Floats],
    points_of: Callable[[list[Tensor]], Tensor],
    *,
    shares: Floats,
    factors: Floats | None = None,
    length_scales: Sequence[float],
    n_points: int,
    n_latent: int,
    max_iter: int,
    learning_rate: float,
    schedule: str = "one_cycle",
    optimizer: str = "adam",
    rng: Generator,
    device: torch.device,
    progress: Callable[[Iterable[int]], Iterable[int]] = iter,
) -> list[float]:
    r"""Train a generator in place on the slopes of a private function.

    Half the squared distance of kernel means, :math:`\|f_G - f_D\|^2 / 2`, decreases
    fastest if each generated point w moves along :math:`\nabla f_D(w) - \nabla f_G(w)`.
    The first gradient comes with noise from ``slopes``, the second is exact and comes
    from the other generated points of the class: a mean over all n of them would count
    w itself, whose gradient is 0, and push points apart by (n - 1) / n of what is
    right. **No other function of the data is used**: the generator's gradient is a
    function of the noisy slopes only.

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
    factors : ndarray of shape (n_classes,) or None, default=None
        What the error of each class is multiplied by.
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
    if factors is not None:
        weights = weights * factors[labels][:, None] ** 2
    scales = np.asarray(length_scales, dtype=np.float64)
    optimiser = optimiser_of(optimizer, trained(generator), (0.9, 0.99))
    averages = Averages()
    lengths = []
    generator.train()
    for step in progress(range(max_iter)):
        points = points_of(
            generator(latents.draw().to(device), latents.labels.to(device))
        )
        places = points.detach().cpu().double().numpy()
        uphill = -slopes(places, labels)
        for label, share in enumerate(shares):
            of_class = labels == label
            uphill[of_class] += (
                share
                / (n_points - 1)
                * kernel_slopes(places[of_class], places[of_class], scales)
            )
        uphill *= weights
        optimiser.clear()
        points.backward(torch.as_tensor(uphill).to(points))
        optimiser.step(learning_rate * RATES[schedule](step / max_iter))
        averages.update(generator, step)
        lengths.append(float(np.linalg.norm(uphill)))
    averages.load_into(generator)
    generator.eval()
    return lengths
