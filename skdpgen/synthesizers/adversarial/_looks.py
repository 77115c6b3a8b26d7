"""What a discriminator sees: rows that were drawn, with slopes through the drawing."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import one_hot

from skdpgen.networks import CellsHead
from skdpgen.synthesizers.embedding import ImageKernel
from skdpgen.synthesizers.models import Denoised
from skdpgen.utils import Key

SOFT = 0.7  # temperature of the slopes of a drawn cell
LEAST = 1e-20
LEAST_SCALE = 0.2
INK = 0.2, 0.5  # centre and scale of pixels
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
    known: Denoised, device: torch.device
) -> Callable[[Sequence[Tensor]], Tensor] | None:
    """Return how far outputs are from the columns that were released; None if none.

    They are known better than a discriminator could tell, and looking is free.
    """
    if known.start is None:
        return None
    shares = torch.as_tensor(known.shares, dtype=torch.float32, device=device)
    target = torch.as_tensor(known.targets[0][Key.COLUMNS]).to(shares)
    weights = ANCHOR / shares.clamp_min(1e-3)

    def loss(outputs: Sequence[Tensor]) -> Tensor:
        means = torch.cat(list(outputs), dim=1).unflatten(0, (len(shares), -1)).mean(1)
        errors = (shares[:, None] * means - target).square().sum(dim=1)
        return (weights * errors).sum()

    return loss
