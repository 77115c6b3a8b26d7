"""What a discriminator sees: rows that were drawn, with slopes through the drawing."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import one_hot

from skdpgen.networks import CellsHead
from skdpgen.synthesizers.adversarial._codes_kernel import CodesKernel
from skdpgen.synthesizers.embedding import ImageKernel
from skdpgen.synthesizers.models import Denoised
from skdpgen.utils import Key

SOFT = 0.7  # temperature of the slopes of a drawn cell
LEAST = 1e-20
LEAST_SCALE = 0.2
INK = 0.2, 0.5  # centre and scale of pixels
RAREST = 1e-3
IMAGE_ANCHOR = 1.0
ANCHOR = 20.0  # weight of columns that are known, against a score


class Labelled:
    """Private rows as a pair of tensors: points, and labels as one-hot numbers.

    A label without a class is all zeros: such a row has no gradient.
    """

    def __init__(self, points: Any, n_classes: int) -> None:
        self._points, self._n_classes = points, n_classes

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._points)

    def take(self, indices: NDArray[np.intp]) -> tuple[Any, Any]:
        """Return the rows at ``indices``."""
        some = self._points.take(indices)
        known = np.arange(self._n_classes) == np.asarray(some.labels)[:, None]
        return some.x.astype(np.float32), known.astype(np.float32)


def looks(kernel: Any, rng: torch.Generator) -> Callable[[list[Tensor]], Tensor]:
    """Return a function from outputs of a generator to what a discriminator sees.

    Real rows have one cell in each column, so a cell is drawn of each head:
    probabilities themselves would give the generator away. Slopes go through the soft
    drawing.
    """
    if isinstance(kernel, ImageKernel):
        return kernel.points

    def draw(outputs: list[Tensor]) -> Tensor:
        drawn = [
            _drawn(output, rng) if isinstance(head, CellsHead) else output
            for head, output in zip(kernel.heads, outputs, strict=True)
        ]
        return kernel.points(drawn)

    return draw


def _drawn(shares: Tensor, rng: torch.Generator) -> Tensor:
    """Draw a one-hot cell of each row by Gumbel noise, with soft slopes."""
    u = torch.rand(shares.shape, generator=rng).to(shares)
    gumbel = -(-u.clamp_min(LEAST).log()).clamp_min(LEAST).log()
    soft = ((shares.clamp_min(LEAST).log() + gumbel) / SOFT).softmax(dim=1)
    hard = one_hot(soft.argmax(dim=1), shares.shape[1]).to(soft)
    return hard + (soft - soft.detach())


def scales_of(kernel: Any, known: Denoised) -> tuple[Tensor, Tensor]:
    """Return centres and scales of what is seen: public, or of a release."""
    if isinstance(kernel, ImageKernel):
        one = torch.ones(kernel.width)
        if isinstance(kernel, CodesKernel):
            scale = one / math.sqrt(kernel.width)  # if all codes are alike, of norm 1
            at = 0.0 * one if known.noisy is None else known.shares @ known.noisy
            return torch.as_tensor(at), scale
        if known.noisy is not None:
            return torch.as_tensor(known.shares @ known.noisy), INK[1] * one
        return INK[0] * one, INK[1] * one
    centre, scale = [], []
    for at, marginal in zip(kernel.points_at, known.marginals.values(), strict=True):
        p = np.maximum(marginal, 0.0) + 1e-9
        p = p / p.sum()
        mean = p @ at
        centre.append(mean)
        scale.append(np.sqrt(p @ (at - mean) ** 2))
    scales = np.maximum(np.concatenate(scale), LEAST_SCALE)
    return torch.as_tensor(np.concatenate(centre)), torch.as_tensor(scales)


def anchored(
    kernel: Any, known: Denoised, device: torch.device
) -> Callable[[list[Tensor]], Tensor] | None:
    """Return how far outputs are from the means that were released; None if none.

    They are known better than a discriminator could tell, and looking is free. Latent
    vectors are even and mirrored, so means of a batch hardly vary by themselves.
    """
    shares = torch.as_tensor(known.shares, dtype=torch.float32, device=device)
    if known.start is not None:
        target = torch.as_tensor(known.targets[0][Key.COLUMNS]).to(shares)
        target = target / shares.clamp_min(RAREST)[:, None]
    elif known.noisy is not None:
        target = torch.as_tensor(known.noisy).to(shares)
    else:
        return None
    is_image = isinstance(kernel, ImageKernel)
    weights = (IMAGE_ANCHOR if is_image else ANCHOR) * shares

    def loss(outputs: list[Tensor]) -> Tensor:
        x = kernel.points(outputs) if is_image else torch.cat(outputs, dim=1)
        errors = x.unflatten(0, (len(shares), -1)).mean(dim=1) - target
        return (weights * errors.square().sum(dim=1)).sum()

    return loss
