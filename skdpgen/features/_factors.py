"""Features that are outer products: u and v of each block, formed or averaged."""

from collections.abc import Sequence

import torch
from torch import Tensor

Factors = list[tuple[Tensor, Tensor]]  # of each block: (n, a) and (n, b)


def outer(factors: Sequence[tuple[Tensor, Tensor]]) -> Tensor:
    """Return the products of each row, (n, n_features)."""
    blocks = [(u[:, :, None] * v[:, None]).flatten(1) for u, v in factors]
    return torch.cat(blocks, dim=1)


def mean_outer(factors: Sequence[tuple[Tensor, Tensor]], n_parts: int) -> Tensor:
    """Return mean products of ``n_parts`` equal groups of rows; none is formed."""
    blocks = []
    for pair in factors:
        u, v = (part.reshape(n_parts, -1, part.shape[1]) for part in pair)
        blocks.append((u.transpose(1, 2) @ (v / v.shape[1])).flatten(1))
    return torch.cat(blocks, dim=1)
