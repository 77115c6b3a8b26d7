"""Adam, as :class:`torch.optim.Adam` has it, and nothing around it.

An optimiser of torch imports torch's compiler when it is first made: more than a
second, half of what a fit of a table takes.
"""

import math
from collections.abc import Iterable, Sequence

import torch
from torch import Tensor, nn

TINY = 1e-8


class Adam:
    """Moves tensors along their ``grad``, all of which must be there.

    Examples
    --------
    >>> place = torch.ones(1)
    >>> place.grad = torch.tensor([5.0])
    >>> Adam([place]).step(0.5)
    >>> round(place.item(), 6)
    0.5
    """

    def __init__(
        self, tensors: Iterable[Tensor], betas: tuple[float, float] = (0.9, 0.999)
    ) -> None:
        self._tensors = list(tensors)
        self._means = [torch.zeros_like(one).detach() for one in self._tensors]
        self._squares = [torch.zeros_like(one).detach() for one in self._tensors]
        self._betas, self._steps = betas, 0

    def clear(self) -> None:
        """Forget the slopes."""
        for one in self._tensors:
            one.grad = None

    @torch.no_grad()
    def step(self, rate: float | Sequence[float]) -> None:
        """Move all tensors; rates may differ."""
        self._steps += 1
        slopes = [one.grad for one in self._tensors]
        first, second = self._betas
        torch._foreach_lerp_(self._means, slopes, 1.0 - first)
        torch._foreach_mul_(self._squares, second)
        torch._foreach_addcmul_(self._squares, slopes, slopes, 1.0 - second)
        sizes = torch._foreach_sqrt(self._squares)
        torch._foreach_div_(sizes, math.sqrt(1.0 - second**self._steps))
        torch._foreach_add_(sizes, TINY)
        rates = rate if isinstance(rate, Sequence) else [rate] * len(slopes)
        by = [-one / (1.0 - first**self._steps) for one in rates]
        torch._foreach_addcdiv_(self._tensors, self._means, sizes, by)


def trained(network: nn.Module) -> list[Tensor]:
    """Return the weights of a network that are trained."""
    return [one for one in network.parameters() if one.requires_grad]
