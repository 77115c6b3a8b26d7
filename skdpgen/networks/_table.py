"""The table generator: latent numbers and a label in, a head for every column."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Generator, Tensor, nn

from skdpgen.utils import (
    saved,
)

# ----------------------------------------------------------------------------
# Layers whose first weights come from a generator, not from torch's global state.


class ByClass(nn.Module):
    """A network for each class; each row goes through the network of its label.

    While ``is_even``, classes come in their order, each with as many rows: labels are
    not read, for which a GPU would have to finish first.
    """

    is_even = False

    def __init__(self, networks: Iterable[nn.Module]) -> None:
        super().__init__()
        self.networks = nn.ModuleList(networks)

    def forward(self, rows: Tensor, labels: Tensor) -> Tensor:
        """Return the outputs, in the order of the rows."""
        if self.is_even:
            parts = zip(self.networks, rows.chunk(len(self.networks)), strict=True)
            return torch.cat([network(part) for network, part in parts])
        order = labels.argsort()  # rows of one class stand together
        counts = labels.bincount(minlength=len(self.networks)).tolist()
        parts = zip(self.networks, rows[order].split(counts), strict=True)
        outputs = [network(part) for network, part in parts if len(part)]
        return torch.cat(outputs)[order.argsort()]  # the inverse permutation


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
        self.down: Tensor  # (2h, h)
        self.across: Tensor  # (w, 2w)

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


Layer = TypeVar("Layer", nn.Linear, nn.Conv2d, nn.ConvTranspose2d)


def _drawn(layer: Layer, rng: Generator | None) -> Layer:
    """Draw the first weights as torch does by default, from ``rng``; biases are 0."""
    if rng is not None:
        assert layer.bias is not None  # all layers of this file have one
        nn.init.kaiming_uniform_(layer.weight, a=5**0.5, generator=rng)
        nn.init.zeros_(layer.bias)
    return layer


# ----------------------------------------------------------------------------
# The table generator: latent numbers and a label in, a head for every column.

FIRST_SPREAD = 0.1  # of the heads' weights: equal rows could not learn to differ


@saved("network.head_of_cells")
@dataclass(frozen=True)
class CellsHead:
    """A head of one probability per cell; cells may be categories, bins, "missing"."""

    n_cells: int

    @property
    def n_outputs(self) -> int:
        """How many outputs it takes."""
        return self.n_cells


@saved("network.head_of_position")
@dataclass(frozen=True)
class PositionHead:
    """A head of one number in [0, 1]; a second output is the degree of missingness."""

    is_nullable: bool = False

    @property
    def n_outputs(self) -> int:
        """How many outputs it takes."""
        return 1 + self.is_nullable


Head = CellsHead | PositionHead


@saved("network.table_shape")
@dataclass(frozen=True)
class TableShape:
    """All that decides the shape of a :class:`TableGenerator`.

    Parameters
    ----------
    heads : tuple of CellsHead or PositionHead
        One for each column.
    n_classes, n_latent : int
        Width of the one-hot label and of the latent vector.
    hidden : tuple of int
        Units of the hidden layers.
    has_batch_norm : bool
        Whether hidden layers use batch norm and ReLU, as in the papers, or SiLU.
    """

    heads: tuple[Head, ...]
    n_classes: int
    n_latent: int
    hidden: tuple[int, ...]
    has_batch_norm: bool = False

    @property
    def sizes(self) -> list[int]:
        """Outputs of each head."""
        return [head.n_outputs for head in self.heads]

    @cached_property
    def runs(self) -> list[list[Head]]:
        """Equal heads that stand together, in the order of the heads."""
        return [list(run) for _, run in groupby(self.heads)]

    @property
    def least_weights(self) -> int:
        """How many numbers a generator has at least; a file with fewer is refused."""
        return self.n_classes * sum(self.sizes)


@saved("network.table")
class TableGenerator(nn.Module):
    """Rows from latent vectors and labels, with one head for every column.

    A head of cells gives probabilities: training uses their exact moments, a sample
    draws one cell. A head of positions gives a number between public bounds.

    Parameters
    ----------
    shape : TableShape
        Layers and heads.
    rng : Generator or None
        Draws the first weights; None leaves them empty, to be loaded.
    start : ndarray of shape (n_classes, outputs) or None
        Logits that are added to the outputs: the known marginals of each class.

    Examples
    --------
    >>> heads = CellsHead(3), PositionHead()
    >>> shape = TableShape(heads, n_classes=2, n_latent=4, hidden=(8,))
    >>> generator = TableGenerator(shape, rng=Generator().manual_seed(0))
    >>> cells, position = generator(torch.zeros(5, 4), torch.zeros(5, dtype=torch.long))
    >>> cells.shape, position.shape
    (torch.Size([5, 3]), torch.Size([5, 1]))
    """

    def __init__(
        self,
        shape: TableShape,
        *,
        rng: Generator | None = None,
        start: NDArray[np.float64] | None = None,
    ) -> None:
        super().__init__()
        self.shape = shape
        width = shape.n_latent + shape.n_classes
        layers: list[nn.Module] = []
        for units in shape.hidden:
            layers.append(linear(width, units, rng))
            if shape.has_batch_norm:
                layers.append(nn.BatchNorm1d(units))
            layers.append(nn.ReLU() if shape.has_batch_norm else nn.SiLU())
            width = units
        self.body = nn.Sequential(*layers)
        n_outputs = sum(shape.sizes)
        self.heads = linear(width, n_outputs, rng)
        if start is not None and rng is not None:
            nn.init.normal_(self.heads.weight, std=FIRST_SPREAD, generator=rng)
        logits = np.zeros((shape.n_classes, n_outputs)) if start is None else start
        self.register_buffer("start", torch.as_tensor(logits, dtype=torch.float32))
        self.start: Tensor

    def forward(self, latents: Tensor, labels: Tensor) -> list[Tensor]:
        """Return the output of each head, (n, its size)."""
        one_hot = nn.functional.one_hot(labels, self.shape.n_classes).to(latents)
        hidden = self.body(torch.cat([latents, one_hot], dim=1))
        logits = self.start[labels] + self.heads(hidden)
        outputs: list[Tensor] = []
        # Columns of one form mostly stand together: hundreds of them in one operation.
        widths = [len(run) * run[0].n_outputs for run in self.shape.runs]
        for run, of_run in zip(self.shape.runs, logits.split(widths, 1), strict=True):
            by_column = of_run.unflatten(1, (len(run), run[0].n_outputs))
            is_cells = isinstance(run[0], CellsHead)
            ready = by_column.softmax(dim=2) if is_cells else _position(by_column)
            outputs += ready.unbind(1)
        return outputs


def _position(logits: Tensor) -> Tensor:
    """Return positions, pulled towards the middle as far as they are missing."""
    place = logits.sigmoid()
    if logits.shape[-1] == 1:
        return place
    present, missing = place[..., :1], place[..., 1:]
    return torch.cat([present + missing * (0.5 - present), 0.5 * missing], dim=-1)
