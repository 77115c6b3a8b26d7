"""Functions of the Mehler expansion of a Gaussian kernel, and their slopes."""

import math
from typing import Any

import torch
from torch import Tensor

NEAR = 50.0  # exp(-NEAR) can be told from 0 in any precision
HUGE = 1e30  # beyond this the recursion is scaled down
LARGEST = 1e8  # inputs beyond this are clamped to it


def hermite_functions(x: Tensor, order: int, length_scale: float) -> Tensor:
    r"""Return the Mehler functions 0 to ``order`` of a Gaussian kernel at ``x``.

    With :math:`\alpha = 1 / 2\ell^2` and :math:`\rho = \sqrt{1/4\alpha^2 + 1} -
    1/2\alpha`, so that :math:`\rho / (1 - \rho^2) = \alpha`,

    .. math:: \phi_0 = (1 - \rho^2)^{1/4} e^{-\rho x^2 / (1 + \rho)}, \quad
       \phi_1 = \sqrt{2\rho}\, x\, \phi_0, \quad \phi_{k+1} =
       \sqrt{2\rho / (k+1)}\, x\, \phi_k - \rho \sqrt{k / (k+1)}\, \phi_{k-1}.

    The exponential is kept apart, and multiplied in once the product can be told from
    0: for large x the functions that matter have orders at which :math:`\phi_0` has
    long underflowed.

    Parameters
    ----------
    x : Tensor of any shape
    order : int
        At least 0.
    length_scale : float

    Returns
    -------
    Tensor of that shape and (order + 1)

    Examples
    --------
    >>> x = torch.tensor([0.3, -0.1], dtype=torch.float64)
    >>> phi = hermite_functions(x, 30, 1.0)
    >>> bool(torch.isclose(phi[0] @ phi[1], torch.exp(-(x[0] - x[1]) ** 2 / 2)))
    True
    """
    wide = length_scale**2  # 1 / 2 alpha
    rho = 1.0 / (wide + math.hypot(wide, 1.0))  # avoids a difference of close numbers
    x = x.clamp(-LARGEST, LARGEST)
    log_scale = -rho / (1.0 + rho) * x**2
    first = (2.0 * rho * wide) ** 0.25  # 1 - rho² = rho / alpha
    before, now = torch.zeros_like(x), torch.full_like(x, first)
    if bool((log_scale > -NEAR).all()):  # always, between the public bounds
        found: Tensor = _NearFunctions.apply(x, order, rho, first)  # type: ignore[no-untyped-call]
        return found
    each = [now * log_scale.exp()]
    for k in range(order):
        before, now = now, _next(x, now, before, k, rho)
        is_large = now.detach().abs() > HUGE
        scale = torch.where(is_large, 1.0 / HUGE, 1.0)
        before, now = before * scale, now * scale
        log_scale = log_scale + torch.where(is_large, math.log(HUGE), 0.0)
        each.append(now * log_scale.exp())
    return torch.stack(each, dim=-1)


def _next(x: Tensor, now: Tensor, before: Tensor, k: int, rho: float) -> Tensor:
    """Return function k + 1 from the two before it."""
    return (
        math.sqrt(2.0 * rho / (k + 1)) * x * now - rho * math.sqrt(k / (k + 1)) * before
    )


class _NearFunctions(torch.autograd.Function):
    r"""Mehler functions where the exponential can be told from 0, and their slopes.

    .. math:: \phi_k' = -\frac{2\rho}{1 + \rho}\, x\, \phi_k
              + \sqrt{2\rho k}\, \phi_{k-1}
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, order: int, rho: float, first: float) -> Tensor:
        now = first * (-rho / (1.0 + rho) * x**2).exp()
        before, found = torch.zeros_like(x), [now]
        for k in range(order):
            before, now = now, _next(x, now, before, k, rho)
            found.append(now)
        every = torch.stack(found, dim=-1)
        ctx.save_for_backward(x, every)
        ctx.rho = rho
        return every

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> tuple[Tensor | None, ...]:
        (x, every), rho = ctx.saved_tensors, ctx.rho
        orders = torch.arange(1, every.shape[-1], device=x.device)
        roots = (2.0 * rho * orders).to(every.dtype).sqrt()
        along = torch.einsum("...k,...k->...", slope, every)
        below = torch.einsum("...k,...k,k->...", slope[..., 1:], every[..., :-1], roots)
        return below - 2.0 * rho / (1.0 + rho) * x * along, None, None, None
