"""A generator and a discriminator trained in turns; only the latter reads rows."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Generator, Tensor, nn
from torch.func import functional_call, grad, vmap
from torch.nn.functional import one_hot, softplus

from skdpgen.networks import Discriminator
from skdpgen.privacy import Layers
from skdpgen.training._matching import Averages
from skdpgen.training._private_descent import Call, RowSlopes
from skdpgen.training._steps import Adam, Latents, trained

BETAS = (0.5, 0.99)  # of the generator's Adam
AVERAGE_DECAY = 0.99  # of the moving average of the generator
Outputs = list[Tensor]


class Descent(Protocol):
    """Steps of a discriminator: private ones, or :class:`PublicDescent`."""

    def step(self, public_loss: Callable[[nn.Module], Tensor] | None = None) -> None:
        """Take one step along real rows and ``public_loss``."""
        ...


class Generated:
    """The discriminator's loss on generated rows, clipped like that on real rows.

    If only gradients of real rows were clipped, those of generated rows would outweigh
    them, and the equilibrium would not be at equal distributions. All of it is free: no
    generated row is private.
    """

    def __init__(
        self,
        network: nn.Module,
        norm_bound: float,
        example: tuple[Tensor, Tensor],
        loss: str = "logistic",
    ) -> None:
        x, labels = example
        self._slopes = RowSlopes(
            network,
            LOSSES[loss].fake,
            (x[:0], labels[:0]),
            is_smooth=True,
            n_usual=len(x),
        )
        self._sums = Layers(self._slopes.layers, norm_bound)

    def __call__(
        self, x: Tensor, one_hots: Tensor, weights: Tensor
    ) -> Callable[[nn.Module], Tensor]:
        """Return a loss that is linear in the network's weights, with this gradient.

        ``weights`` has one number for each class, the weight of each row of the class.
        """
        labels = one_hots.argmax(dim=1).cpu().numpy()
        total = self._sums.start(len(weights))
        total = self._sums.add(total, self._slopes((x, one_hots)), labels)
        gradient = weights.double().cpu() @ torch.from_numpy(total)
        gradients = self._slopes.to_weights(gradient)

        def loss(network: nn.Module) -> Tensor:
            parts = [
                (weight * gradients[name].to(weight)).sum()
                for name, weight in network.named_parameters()
            ]
            return torch.stack(parts).sum()

        return loss


def score_fake(call: Call, row: tuple[Tensor, Tensor]) -> Tensor:
    """Return the loss of one generated row, ``softplus(score)``."""
    x, label = row
    return softplus(call(x[None], label[None])[0])


def score_real(call: Call, row: tuple[Tensor, Tensor]) -> Tensor:
    """Return the loss of one real row, ``softplus(-score)``: smooth, unlike a hinge."""
    x, label = row
    return softplus(-call(x[None], label[None])[0])


SLOPE_SMOOTHING = 1e-6  # squared; added to the square of a slope's norm


def critic_fake(call: Call, row: tuple[Tensor, Tensor]) -> Tensor:
    """Return the loss of one generated row of a critic: its score."""
    x, label = row
    score: Tensor = call(x[None], label[None])[0]
    return score


def critic_real(call: Call, row: tuple[Tensor, Tensor]) -> Tensor:
    """Return the loss of one real row of a critic: minus its score, and a penalty.

    The penalty is the norm of the slope of the score by the row, smoothed where it is
    0: DP-SGD needs slopes without jumps.
    """
    x, label = row

    def score(row: Tensor) -> Tensor:
        value: Tensor = call(row[None], label[None])[0]
        return value

    slope = grad(score)(x)
    return (slope.square().sum() + SLOPE_SMOOTHING).sqrt() - score(x)


@dataclass(frozen=True)
class Loss:
    """Losses of one real and of one generated row, and of a batch of the generator."""

    real: Callable[[Call, tuple[Tensor, Tensor]], Tensor]
    fake: Callable[[Call, tuple[Tensor, Tensor]], Tensor]
    of_generator: Callable[[Tensor], Tensor]  # from scores

    def of_public(self, network: nn.Module, x: Tensor, labels: Tensor) -> Tensor:
        """Return the losses of public rows as real ones, (n,), each row by itself."""
        state = dict(network.named_parameters()) | dict(network.named_buffers())

        def of_one(row: tuple[Tensor, Tensor]) -> Tensor:
            return self.real(
                lambda *inputs: functional_call(network, state, inputs), row
            )

        losses: Tensor = vmap(of_one)((x, labels))
        return losses


LOSSES = {
    "logistic": Loss(score_real, score_fake, lambda scores: softplus(-scores)),
    "critic": Loss(critic_real, critic_fake, lambda scores: -scores),
}


class PublicDescent:
    """Adam on public rows, with the interface of a private descent.

    Parameters
    ----------
    network : Discriminator
        Trained in place.
    x, labels : Tensor of shape (n, n_inputs) and (n, n_classes)
        Public rows, and their one-hot labels.
    batch_size : int
    learning_rate : float
    rng : Generator
    loss : {"logistic", "critic"}, default="logistic"
    """

    def __init__(
        self,
        network: nn.Module,
        x: Tensor,
        labels: Tensor,
        *,
        batch_size: int,
        learning_rate: float,
        rng: Generator,
        loss: str = "logistic",
    ) -> None:
        self._loss = loss
        self._network, self._x, self._labels = network, x, labels
        self._batch_size, self._rng = batch_size, rng
        self._optimiser = Adam(trained(network), betas=BETAS)
        self._rate = learning_rate

    def step(self, public_loss: Callable[[nn.Module], Tensor] | None = None) -> None:
        """Step along a batch of public rows, and along ``public_loss``."""
        batch = torch.randint(len(self._x), (self._batch_size,), generator=self._rng)
        device = next(iter(self._network.parameters())).device
        x, labels = self._x[batch].to(device), self._labels[batch].to(device)
        if self._loss == "critic":
            loss = LOSSES["critic"].of_public(self._network, x, labels).mean()
        else:
            loss = softplus(-self._network(x, labels)).mean()
        if public_loss is not None:
            loss = loss + public_loss(self._network)
        self._optimiser.clear()
        loss.backward()
        self._optimiser.step(self._rate)


@dataclass(frozen=True)
class Rules:
    """Settings of the game between a generator and a discriminator.

    Parameters
    ----------
    n_latent, n_between, batch_size : int
        Length of latent vectors; discriminator steps for each step of the generator;
        generated rows of a step.
    learning_rate : float
        Of the generator's Adam.
    spectral_bound : float
        Bound of the spectral norm of every layer of the discriminator.
    norm_bound : float or None, default=None
        Bound to which gradients of generated rows are clipped, as of real rows.
    schedule : {"one_cycle", "constant"}, default="one_cycle"
        Of the generator's learning rate.
    loss : {"logistic", "critic"}, default="logistic"
        A critic's layers are not bounded.
    """

    n_latent: int
    n_between: int
    batch_size: int
    learning_rate: float
    spectral_bound: float
    norm_bound: float | None = None
    schedule: str = "one_cycle"
    loss: str = "logistic"

    def rate(self, done: float) -> float:
        """Return the learning rate: constant, or falling to 0 in the second half."""
        if self.schedule == "constant":
            return self.learning_rate
        return self.learning_rate * min(2.0 * (1.0 - done), 1.0)


@dataclass(frozen=True, eq=False)
class ClassWeights:
    """Share of each class among real rows, and its weight in the generator's loss."""

    shares: Tensor
    weights: Tensor


@dataclass(frozen=True)
class Anchor:
    """A second loss of the generator: distance of its outputs from released values.

    Before the game the generator takes ``warm_up`` steps along this loss alone.
    """

    loss: Callable[[Outputs], Tensor]
    warm_up: int = 0


def play(
    generator: nn.Module,
    discriminator: Discriminator,
    descent: Descent,
    view: Callable[[Outputs], Tensor],
    classes: ClassWeights,
    rules: Rules,
    *,
    n_steps: int,
    anchor: Anchor | None = None,
    rng: Generator,
    progress: Callable[[Iterable[int]], Iterable[int]] = iter,
) -> list[float]:
    r"""Train a generator and a discriminator in turns; return the generator's losses.

    The discriminator s minimises :math:`E\,\mathrm{softplus}(-s(x, y))` over real rows,
    by ``descent``, plus :math:`E\,\mathrm{softplus}(s(G(z, y), y))` over generated
    ones, which is free. After ``n_between`` of its steps the generator takes one along
    :math:`E\,\mathrm{softplus}(-s(G(z, y), y))`. Several discriminator steps for each
    step of the generator are essential in private GANs (Bie, Kamath & Zhang, 2023).

    *Why it is private.* Only ``descent`` reads rows. The generator depends on weights
    of the discriminator, which are functions of noisy sums.

    Parameters
    ----------
    generator, discriminator : Module
        Trained in place; the generator ends with the moving average of its weights.
    descent : PrivateDescent or PublicDescent
        Steps of the discriminator.
    view : callable
        From outputs of the generator to inputs of the discriminator.
    classes : ClassWeights
    rules : Rules
    n_steps : int
        Steps of the discriminator.
    anchor : Anchor or None, default=None
    rng : Generator
        Public randomness: latent vectors.
    """
    shares = classes.shares
    device, n_classes = shares.device, len(shares)
    n_each = 2 * max(round(rules.batch_size / (2 * n_classes)), 1)
    latents = Latents(n_each, rules.n_latent, n_classes=n_classes, rng=rng)
    labels = latents.labels.to(device)
    one_hots = one_hot(labels, n_classes).float()
    weights = classes.weights[labels] / n_each
    optimiser = Adam(trained(generator), betas=BETAS)
    averages, losses = Averages(AVERAGE_DECAY), list[float]()
    generated = None
    generator.train()
    for _ in range(anchor.warm_up if anchor is not None else 0):
        assert anchor is not None
        optimiser.clear()
        anchor.loss(generator(latents.draw().to(device), labels)).backward()
        optimiser.step(rules.learning_rate)
    averages.update(generator, 0)
    for step in progress(range(n_steps)):
        with torch.no_grad():
            x = view(generator(latents.draw().to(device), labels))
        if generated is None and rules.norm_bound is not None:
            generated = Generated(
                discriminator, rules.norm_bound, (x, one_hots), rules.loss
            )
        if generated is None:
            share_weights = (shares / n_each)[labels]
            scored = softplus if rules.loss == "logistic" else torch.Tensor.clone
            descent.step(
                lambda network: (share_weights * scored(network(x, one_hots))).sum()  # noqa: B023
            )
        else:
            descent.step(generated(x, one_hots, shares / n_each))
        if rules.loss == "logistic":
            discriminator.limit(rules.spectral_bound)
        if (step + 1) % rules.n_between:
            continue
        outputs = generator(latents.draw().to(device), labels)
        scores = discriminator(view(outputs), one_hots)
        loss = (weights * LOSSES[rules.loss].of_generator(scores)).sum()
        losses.append(loss.item())
        if anchor is not None:
            loss = loss + anchor.loss(outputs)
        optimiser.clear()
        loss.backward()
        optimiser.step(rules.rate(step / n_steps))
        averages.update(generator, len(losses))
    averages.load_into(generator)
    generator.eval()
    return losses
