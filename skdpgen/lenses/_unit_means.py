"""Means of unit vectors, and of their squares as unit vectors, in a few passes."""

import math
from typing import Any

import torch
from torch import Tensor


class UnitMeans(torch.autograd.Function):
    r"""Means over groups of rows of :math:`[a f/\|f\| ; b f^2/\|f^2\|]`.

    Autograd would write some twenty arrays of rows x features a step; they are most of
    the time of a step. Means are products with the vector of 1 / norms. With A and B
    the gradients of the two means, and all else numbers of a row, the slope of a row is
    :math:`k_0 A + f \circ (k_1 B - k_2 f^2 - k_3)`:

    * u = f/r, r the norm; from A it gets :math:`(A - u (u^T A)) / r`.
    * q = f² c; :math:`f \circ 2c (B - q (q^T B))`. It has no part along f, as q does
      not change if f is made longer.

    Where a norm is below its limit, it is that limit, and a constant.
    """

    @staticmethod
    def forward(
        context: Any, rows: Tensor, n_parts: int, share: float, limit: float
    ) -> Tensor:
        """Return (n_parts, d), or (n_parts, 2 d) if squares have a share."""
        n_each = len(rows) // n_parts
        norms = torch.linalg.vector_norm(rows, dim=1)
        r = norms.clamp_min(limit)
        grouped = rows.view(n_parts, n_each, -1)
        weights = (math.sqrt(1.0 - share) / n_each / r).view(n_parts, 1, n_each)
        means = [(weights @ grouped)[:, 0]]
        context.numbers = n_parts, share
        if not share:
            context.save_for_backward(rows, r, norms < limit)
            return means[0]
        squares = rows.square()
        lengths = torch.linalg.vector_norm(squares, dim=1)
        of_units = lengths / r.square()
        c = 1.0 / (r.square() * of_units.clamp_min(limit**2))
        weights = (math.sqrt(share) / n_each * c).view(n_parts, 1, n_each)
        means.append((weights @ squares.view(n_parts, n_each, -1))[:, 0])
        context.save_for_backward(
            rows, r, norms < limit, squares, c, of_units < limit**2
        )
        return torch.cat(means, dim=1)

    @staticmethod
    def backward(context: Any, *gradients: Any) -> Any:
        """Return the slopes of all rows."""
        n_parts, share = context.numbers
        rows, r, is_short, *others = context.saved_tensors
        n_each, width = len(rows) // n_parts, rows.shape[1]
        (gradient,) = gradients
        a = gradient[:, :width] * (math.sqrt(1.0 - share) / n_each)
        grouped = rows.view(n_parts, n_each, -1)
        dots = (grouped @ a[:, :, None]).view(-1)  # f^T A
        k_3 = (dots / r**3).masked_fill(is_short, 0.0)
        if not share:
            slopes = rows * -k_3[:, None]
            slopes.view(n_parts, n_each, -1).add_(_outer(1.0 / r, a))
            return slopes, None, None, None
        squares, c, is_flat = others
        b = gradient[:, width:] * (math.sqrt(share) / n_each)
        dots = (squares.view(n_parts, n_each, -1) @ b[:, :, None]).view(-1)  # f²^T B
        k_2 = (2.0 * c**3 * dots).masked_fill(is_flat, 0.0)
        # a flat row of squares has a slope along f unless its own norm is a constant
        along = torch.where(is_flat & ~is_short, 2.0 * c * dots / r.square(), 0.0)
        slopes = _outer(2.0 * c, b).view(-1, width)
        slopes.addcmul_(squares, k_2[:, None], value=-1.0)
        slopes -= (k_3 + along)[:, None]
        slopes *= rows
        slopes.view(n_parts, n_each, -1).add_(_outer(1.0 / r, a))
        return slopes, None, None, None


def _outer(numbers: Tensor, groups: Tensor) -> Tensor:
    """Return numbers of rows times the vector of their group."""
    return numbers.view(len(groups), -1, 1) * groups[:, None]
