"""The mean embedding of a generator's rows: what a release of them would hold."""

from typing import Any

import torch
from torch import Generator, Tensor

from skdpgen.networks import CellsHead
from skdpgen.training import strata
from skdpgen.utils import Key


def row_embedding(
    kernel: Any, device: torch.device, rng: Generator, alone: Any = None
) -> Any:
    """Return a function from outputs of a generator to blocks of an embedding.

    The function takes the outputs and a number of equal groups of rows (classes),
    and returns the mean of each group, (n_parts, width), block by block. Where
    the mean over drawn cells has no closed form, ``rng`` draws them. If the mean
    features of independent columns are known, as ``alone`` = (their tables, that
    mean), only the difference from it is drawn: rows of both are drawn with the same
    random numbers, so most of the randomness cancels out.
    """
    phi = None if kernel.phi is None else kernel.phi.to(device)
    points = [torch.as_tensor(at, device=device).float() for at in kernel.points_at]
    expected = tables = mean = None
    if phi is not None and kernel.is_binned:
        expected = phi.expected(points)
        if alone is not None:
            tables = [torch.as_tensor(t, device=device).float() for t in alone[0]]
            mean = torch.as_tensor(alone[1], device=device).float()

    def embed(outputs: list[Tensor], n_parts: int = 1) -> dict[str, Tensor]:
        blocks = {}
        if kernel.counted:
            counted = torch.cat([outputs[j] for j in kernel.counted], dim=1)
            blocks[Key.COLUMNS] = counted.unflatten(0, (n_parts, -1)).mean(dim=1)
        if expected is not None:
            blocks[Key.FEATURES] = expected.mean(outputs, n_parts)
        elif phi is not None:
            n = len(outputs[0])
            each = n // n_parts
            groups = [strata(each, len(outputs), rng) for _ in range(n_parts)]
            places = torch.cat(groups).to(device)
            x = _drawn(kernel, outputs, points, places)
            found = phi.mean(x, n_parts)
            if tables is not None:
                rows = [t.repeat_interleave(each, dim=0) for t in tables]
                same = phi.mean(_drawn(kernel, rows, points, places), n_parts)
                found = found + (mean - same)
            blocks[Key.FEATURES] = found
        return blocks

    return embed


def _drawn(
    kernel: Any, outputs: list[Tensor], points: list[Tensor], places: Tensor
) -> Tensor:
    """Return inputs of phi: drawn points of cells, and positions as they are."""
    heads = kernel.heads
    x = [
        draw_point(outputs[j], at, places[:, j, None])
        if isinstance(heads[j], CellsHead)
        else outputs[j]
        for j, at in zip(kernel.seen, points, strict=True)
    ]
    return torch.cat(x, dim=1)


def draw_point(probabilities: Tensor, points: Tensor, place: Tensor) -> Tensor:
    """Draw a cell for each row and return its point, with a straight-through gradient.

    Forward it is the point of the cell that a uniform number falls into, as in drawn
    rows; its gradient is that of the mean of all points.
    """
    below = probabilities.detach().cumsum(dim=1)
    cell = (place * below[:, -1:] >= below).sum(dim=1).clamp(max=len(points) - 1)
    soft = probabilities @ points
    return points[cell] + soft - soft.detach()
