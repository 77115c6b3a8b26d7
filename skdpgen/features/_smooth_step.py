"""The slope of a ReLU, 0 or 1, for a generator that learns by gradients."""

import math

from torch import Tensor

TINY = 1e-12  # a row whose units all get nothing is divided by it


def smooth_step(x: Tensor) -> Tensor:  # (n, n_units) -> (n, n_units)
    r"""Return 1 where x > 0 and 0 elsewhere, with a gradient that is of use.

    That of the step is 0 nearly everywhere, so a generator would never learn which
    units its rows should switch on: it would match features with all switches held
    fixed, and draw speckle. But a mean over many units with random weights changes
    smoothly, at the rate at which units cross 0. That rate is estimated with a Gaussian
    as wide as what a row's units get: the gradient is that of :math:`\Phi(x / s)`, s
    their root mean square, held fixed.

    Values are those of the step exactly, and only rows of a generator are
    differentiated: what a private row becomes, and how far, is as it would be without.

    Examples
    --------
    >>> x = Tensor([[-1.0, 1.0]]).requires_grad_()
    >>> step = smooth_step(x)
    >>> step.sum().backward()
    >>> step.tolist()
    [[0.0, 1.0]]
    >>> x.grad
    tensor([[0.2420, 0.2420]])
    """
    step = (x > 0).to(x.dtype)
    if not x.requires_grad:
        return step
    width = x.detach().square().mean(dim=1, keepdim=True).sqrt() + TINY
    smooth = 0.5 * (x / (width * math.sqrt(2.0))).erf()
    return step + (smooth - smooth.detach())  # the bracket is 0
