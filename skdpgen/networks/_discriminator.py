"""A discriminator that DP-SGD can train: smooth, told the label, no row beside it."""

import math
from collections.abc import Sequence

import torch
from torch import Generator, Tensor, nn

from skdpgen.networks._layers import linear

ROUNDS = 2  # of the power method, which goes on where it stopped


class Discriminator(nn.Module):
    r"""How real a row looks, given its label: one number, before the sigmoid.

    Full layers with SiLU, whose slopes have no jump. The label comes in beside the row,
    and chooses the last layer: :math:`s(x, y) = y^\top (V h(x, y) + c)` with a one-hot
    y. A row without a known label has y = 0, a score of 0, and no gradient at all.

    Parameters
    ----------
    centre, scale : Tensor of shape (n_inputs,)
        What is subtracted from a row, and what it is divided by; public, or released.
    n_classes : int
    hidden : sequence of int
        Units of the hidden layers.
    rng : Generator
        Draws the first weights.

    Examples
    --------
    >>> rng = Generator().manual_seed(0)
    >>> look = Discriminator(torch.zeros(3), torch.ones(3), 2, (8,), rng=rng)
    >>> look(torch.rand(5, 3), torch.eye(2)[[0, 1, 0, 1, 0]]).shape
    torch.Size([5])
    >>> look(torch.rand(1, 3), torch.zeros(1, 2)).item()
    0.0
    """

    def __init__(
        self,
        centre: Tensor,
        scale: Tensor,
        n_classes: int,
        hidden: Sequence[int],
        *,
        rng: Generator,
    ) -> None:
        super().__init__()
        self.register_buffer("centre", centre.float())
        self.register_buffer("scale", scale.float())
        self.centre: Tensor
        self.scale: Tensor
        width, layers = len(centre) + n_classes, []
        for units in hidden:
            layers += [linear(width, units, rng), nn.SiLU()]
            width = units
        self.body = nn.Sequential(*layers)
        self.head = linear(width, n_classes, rng)
        self._directions: dict[str, Tensor] = {}

    def forward(self, x: Tensor, one_hot: Tensor) -> Tensor:  # (n, d), (n, k) -> (n,)
        """Return the score of each row."""
        seen = torch.cat([(x - self.centre) / self.scale, one_hot], dim=-1)
        return (self.head(self.body(seen)) * one_hot).sum(dim=-1)

    @torch.no_grad()
    def limit(self, bound: float) -> None:
        """Scale layers down to a spectral norm of ``bound``; reads weights alone.

        Noise of DP-SGD makes weights grow. It is projected away after each step, since
        a spectral norm inside of the network would enter the gradient of each row.
        """
        for name, layer in self.named_modules():
            if not isinstance(layer, nn.Linear):
                continue
            weight = layer.weight
            at = self._directions.get(name)
            if at is None or at.device != weight.device:
                n = weight.shape[1]
                at = weight.new_full((n,), 1.0 / math.sqrt(n))
            for _ in range(ROUNDS):
                at = weight.T @ (weight @ at)
                at = at / at.norm().clamp_min(1e-12)
            self._directions[name] = at
            size = float((weight @ at).norm())
            if size > bound:
                layer.weight.mul_(bound / size)
