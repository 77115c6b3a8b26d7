"""Sums of rows' gradients; layers that come as factors are summed unformed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from skdpgen.privacy._blocks import Floats, Integers
from skdpgen.privacy._exact_sum import below
from skdpgen.privacy._sensitivity import Signed, Structure

Layer = int | tuple[int, int]  # entries of a vector, or lengths of both factors
ROUNDING = 2.0**-50  # of an inner product, for each of its terms: four times what it is


@dataclass(frozen=True)
class Layers:
    r"""Sum of :math:`\mathrm{clip}_C(g)` for rows :math:`g = (g_1, g_2, \dots)` of layers.

    A layer of a row is a vector, or :math:`g_l = \sum_t u_t v_t^\top` given by its
    factors, as the gradient of a linear layer is: u are slopes of its outputs and v its
    inputs, at every place t where the row passes through it.

    *Bound.* With all numbers in float64, the squared norm of a row is
    :math:`\sum_l \|g_l\|^2`, and of factors :math:`\|g_l\|^2 = \sum_{t,t'} (u_t^\top
    u_{t'}) (v_t^\top v_{t'})`. Terms of this sum may cancel, and what rounding leaves of
    them may then be too small; so :math:`r (\sum_t \|u_t\| \|v_t\|)^2` is added, where r
    is above the relative error of any term. What comes out is at least the squared norm
    up to the rounding of a sum of squares, for which every row is made shorter
    (:func:`below`), and the row is divided by its root over C if that is above 1. A row with an entry, or
    a norm, that is not finite becomes zero. Hence a row that joins or leaves moves the
    sum by at most C, whatever was promised.

    Parameters
    ----------
    layers : tuple of int or (int, int)
        Entries of a layer, or lengths of its u and v.
    bound : float
        The norm C.

    Examples
    --------
    >>> block = Layers((1, (2, 2)), bound=1.0)
    >>> u, v = np.array([[[3.0, 0.0]]]), np.array([[[0.0, 1.0]]])
    >>> sums = block.add(block.start(1), [np.array([[4.0]]), (u, v)], np.array([0]))
    >>> sums.round(6).tolist()
    [[0.8, 0.0, 0.6, 0.0, 0.0]]
    """  # noqa: E501

    layers: tuple[Layer, ...]
    bound: float = 1.0

    def __post_init__(self) -> None:
        """Check that squares of the bound are numbers."""
        if not 1e-100 < self.bound < 1e100:
            raise ValueError(f"bound must be in (1e-100, 1e100). Got {self.bound!r}.")

    @property
    def structure(self) -> Structure:
        """Signed."""
        return Signed(self.bound)

    @property
    def width(self) -> int:
        """Entries of a row."""
        return sum(_size(layer) for layer in self.layers)

    def start(self, n_classes: int) -> Floats:
        """Return the sum over no rows."""
        return np.zeros((n_classes, self.width))

    def add(self, total: Floats, parts: Sequence[Any], labels: Integers) -> Floats:
        """Add the rows of one batch: per layer (n, w), or (n, t, a) and (n, t, b)."""
        doubles = [
            _factors(part) if isinstance(layer, tuple) else (_as_double(part),)
            for layer, part in zip(self.layers, parts, strict=True)
        ]
        self._check(doubles, len(labels))
        scale, fine = self._scale(doubles, len(labels))
        for label in range(len(total)):
            mine = torch.as_tensor(labels == label).to(scale.device)
            weight = torch.where(mine & fine, scale, 0.0)
            start = 0
            for layer, part in zip(self.layers, doubles, strict=True):
                end = start + _size(layer)
                there = torch.from_numpy(total[label, start:end])
                _add_layer(there, part, weight, fine)
                start = end
        return total

    def value(self, total: Floats) -> Floats:
        """Return the sum."""
        return total

    def _scale(self, doubles: list[Any], n: int) -> Any:
        """Return the factor of each row, and which rows are finite."""
        device = doubles[0][0].device
        squares = torch.zeros(n, dtype=torch.float64, device=device)
        for part in doubles:
            squares += _squared_norms(part, self.bound)
        # an entry that is not finite makes a norm, or its product with another, so
        margin = below(self.width + 2 * len(self.layers))
        return margin / squares.sqrt().clamp_min(1.0), squares.isfinite()

    def _check(self, doubles: list[Any], n: int) -> None:
        """Check shapes: those that broadcast would count a row many times."""
        for layer, part in zip(self.layers, doubles, strict=True):
            shapes: list[tuple[int, ...]] = [(n, _size(layer))]
            if isinstance(layer, tuple):
                places = part[0].shape[1] if part[0].ndim == 3 else 0
                shapes = [(n, places, length) for length in layer]
            if [tuple(factor.shape) for factor in part] != shapes:
                raise ValueError(
                    "A batch must hold each layer, or its factors, for each row. "
                    "Got another shape."  # which would tell the size of the sample
                )


def _squared_norms(part: tuple[Any, ...], bound: float) -> torch.Tensor:
    """Return squared norms of a layer in units of the bound, rounded up."""
    if len(part) == 1:
        return (_layer_norms(part[0]) / bound).square()
    u, v = part
    lengths = (_layer_norms(u) / bound * _layer_norms(v)).sum(dim=1)
    if u.shape[1] == 1:
        return lengths.square()
    exact = ((u @ u.mT) / bound**2 * (v @ v.mT)).sum(dim=(1, 2))
    rounding = ROUNDING * (u.shape[2] + v.shape[2] + u.shape[1] ** 2)
    return exact.clamp_min(0.0) + rounding * lengths.square()


def _add_layer(there: Any, part: Any, weight: Any, fine: Any) -> None:
    """Add the weighted rows; zero times infinity must not be formed."""
    if not fine.all():
        part = tuple(
            torch.where(fine.view(-1, *[1] * (one.ndim - 1)), one, 0.0) for one in part
        )
    if len(part) == 1:
        there += (weight @ part[0]).cpu()
        return
    u, v = part
    u = (u * weight[:, None, None]).flatten(0, 1)
    there = there.view(u.shape[1], -1)
    if u.device == there.device:
        there.addmm_(u.T, v.flatten(0, 1))
    else:
        there += (u.T @ v.flatten(0, 1)).cpu()


def _layer_norms(rows: torch.Tensor) -> torch.Tensor:
    return torch.linalg.vector_norm(rows, dim=-1)


def _size(layer: Layer) -> int:
    return layer[0] * layer[1] if isinstance(layer, tuple) else layer


def _factors(part: Any) -> tuple[torch.Tensor, torch.Tensor]:
    u, v = part
    return _as_double(u), _as_double(v)


def _as_double(values: Any) -> torch.Tensor:
    rows = values.detach() if hasattr(values, "detach") else torch.tensor(values)
    return rows.to(torch.float64)
