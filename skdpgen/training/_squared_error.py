"""How far mean embeddings are from their target, and the way down."""

from typing import Any

import torch
from torch import Tensor


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
    def backward(ctx: Any, slope: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        """Return the slope in the means."""
        error, shares = ctx.saved_tensors
        return error.mul_(-2.0 * slope * shares[:, None]).to(ctx.dtype), None, None
