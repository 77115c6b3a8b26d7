"""Descent along noisy slopes: for methods that read rows at every step."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Generator, Tensor, nn

from skdpgen.privacy import kernel_slopes
from skdpgen.training._adam import Adam, trained
from skdpgen.training._latents import Latents
from skdpgen.training._matching import Averages, one_cycle

Floats = NDArray[np.float64]
RAREST = 1e-3  # least share that a balanced loss divides by


def descend(
    generator: nn.Module,
    slopes: Callable[[Floats, Any], Floats],
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
        points.backward(torch.as_tensor(uphill).to(points))  # type: ignore[no-untyped-call]
        optimiser.step(learning_rate * one_cycle(step / max_iter))
        averages.update(generator, step)
        lengths.append(float(np.linalg.norm(uphill)))
    averages.load_into(generator)
    generator.eval()
    return lengths
