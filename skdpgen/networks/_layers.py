"""Layers whose first weights come from a generator, not from torch's global state."""

from collections.abc import Iterable

import torch
from torch import Generator, Tensor, nn


class ByClass(nn.Module):
    """A network for each class; each row goes through the network of its label."""

    def __init__(self, networks: Iterable[nn.Module]) -> None:
        super().__init__()
        self.networks = nn.ModuleList(networks)

    def forward(self, rows: Tensor, labels: Tensor) -> Tensor:
        """Return the outputs, in the order of the rows."""
        order = labels.argsort()
        counts = labels.bincount(minlength=len(self.networks)).tolist()
        parts = zip(self.networks, rows[order].split(counts), strict=True)
        outputs = [network(part) for network, part in parts if len(part)]
        return torch.cat(outputs)[order.argsort()]


class Doubled(nn.Module):
    """Maps of twice the height and width, bicubic; as two products with matrices.

    Examples
    --------
    >>> maps = torch.rand(2, 1, 5, 4)
    >>> theirs = nn.functional.interpolate(maps, scale_factor=2, mode="bicubic")
    >>> torch.allclose(Doubled(5, 4)(maps), theirs, atol=1e-6)
    True
    """

    def __init__(self, height: int, width: int) -> None:
        super().__init__()
        for name, size in (("down", height), ("across", width)):
            lines = torch.eye(size)[None, :, :, None]  # one map for each line
            grown = nn.functional.interpolate(lines, size=(2 * size, 1), mode="bicubic")
            self.register_buffer(name, grown[0, :, :, 0], persistent=False)

    def forward(self, maps: Tensor) -> Tensor:  # (n, maps, h, w) -> (n, maps, 2h, 2w)
        """Return the doubled maps."""
        return self.down.T @ (maps @ self.across)


def linear(n_inputs: int, n_outputs: int, rng: Generator | None) -> nn.Linear:
    """Return a fully connected layer; None leaves its weights empty, to be loaded."""
    return _drawn(nn.utils.skip_init(nn.Linear, n_inputs, n_outputs), rng)


def convolution(
    n_inputs: int, n_outputs: int, size: int, rng: Generator | None
) -> nn.Conv2d:
    """Return a convolution of odd ``size`` that keeps height and width."""
    layer = nn.utils.skip_init(nn.Conv2d, n_inputs, n_outputs, size, padding=size // 2)
    return _drawn(layer, rng)


def up_convolution(
    n_inputs: int, n_outputs: int, rng: Generator | None
) -> nn.ConvTranspose2d:
    """Return a transposed convolution that doubles height and width."""
    layer = nn.utils.skip_init(
        nn.ConvTranspose2d, n_inputs, n_outputs, 4, stride=2, padding=1
    )
    return _drawn(layer, rng)


def _drawn(layer, rng):  # type: ignore[no-untyped-def]
    if rng is not None:
        nn.init.kaiming_uniform_(layer.weight, a=5**0.5, generator=rng)
        nn.init.zeros_(layer.bias)
    return layer
