"""Expected Fourier features of rows whose columns are independent; exact."""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import torch
from torch import Tensor


@dataclass(frozen=True, eq=False)
class ExpectedFourier:
    r"""The mean of :class:`FourierFeatures` over rows that are drawn column by column.

    Given its latent vector, a generator draws each column by itself, among few points.
    Then the mean of :math:`\exp(i w^\top x)` is a product of sums,
    :math:`\prod_j \sum_k p_{jk} \exp(i w_j^\top a_{jk})`: no row has to be sampled,
    and no gradient has to be guessed.

    Parameters
    ----------
    tables : tuple of Tensor of shape (points, 2 x frequencies of the column)
        Cosines and sines, in turns, of the frequencies that look at a column, at its
        points: complex numbers, so to say.
    order, back : Tensor or None
        Where the frequencies of all columns stand, and the way back; None if each looks
        at all of them.
    n_together : int
        Columns in a subset.

    Examples
    --------
    >>> from skdpgen.features import FourierFeatures
    >>> rng = torch.Generator().manual_seed(0)
    >>> phi = FourierFeatures.draw((1, 1), 6, rng=rng)
    >>> points = [torch.tensor([[0.0], [1.0]]), torch.tensor([[2.0]])]
    >>> mean = ExpectedFourier.of(phi, points)
    >>> half = mean([torch.tensor([[0.5, 0.5]]), torch.ones(1, 1)])
    >>> rows = phi(torch.tensor([[0.0, 2.0], [1.0, 2.0]])).mean(dim=0)
    >>> torch.allclose(half, rows, atol=1e-6)
    True
    """

    tables: tuple[Tensor, ...]
    order: Tensor | None
    back: Tensor | None
    n_together: int

    @classmethod
    def of(cls, phi: Any, points: Sequence[Tensor]) -> Self:
        """Prepare for columns that take the given points, (n_points, width) each."""
        tables, places = [], []
        start = 0
        for column, (at, width) in enumerate(zip(points, phi.widths, strict=True)):
            frequency, slot = (phi.subsets == column).nonzero(as_tuple=True)
            rows = phi.frequencies[start : start + width, frequency]
            angles = at.to(rows) @ rows
            tables.append(torch.stack([angles.cos(), angles.sin()], dim=2).flatten(1))
            places.append(slot * len(phi.subsets) + frequency)
            start += width
        n_together = phi.subsets.shape[1]
        if n_together == len(phi.widths):
            return cls(tuple(tables), None, None, n_together)
        back = torch.cat(places)
        return cls(tuple(tables), back.argsort(), back, n_together)

    def __call__(self, probabilities: Sequence[Tensor]) -> Tensor:
        """Return (n, n_features) from a list of (n, n_points), one a column."""
        waves = self._waves(probabilities)
        return _as_features(waves)

    def mean(self, probabilities: Sequence[Tensor], n_parts: int = 1) -> Tensor:
        """Return the mean of as many equal groups of rows, (n_parts, n_features)."""
        waves = self._waves(probabilities)
        return _as_features(waves.reshape(n_parts, -1, waves.shape[1]).mean(dim=1))

    def _waves(self, probabilities: Sequence[Tensor]) -> Tensor:
        """Return the product over columns, a complex number for each frequency."""
        factors = [
            torch.view_as_complex((p @ table).reshape(len(p), -1, 2))
            for table, p in zip(self.tables, probabilities, strict=True)
        ]
        if self.order is not None:
            reorder: Any = _Reorder.apply
            found = reorder(torch.cat(factors, dim=1), self.order, self.back)
            found = found.reshape(len(found), self.n_together, -1)
            factors = list(found.unbind(1))
        return functools.reduce(torch.mul, factors)


def _as_features(waves: Tensor) -> Tensor:
    """Return cosines beside sines, with norm 1 at most."""
    return torch.cat([waves.real, waves.imag], dim=1) / math.sqrt(waves.shape[1])


class _Reorder(torch.autograd.Function):
    """Permute; autograd's own way back would add up, entry by entry."""

    @staticmethod
    def forward(context: Any, x: Tensor, order: Tensor, back: Tensor) -> Tensor:
        context.save_for_backward(back)
        return x[:, order]

    @staticmethod
    def backward(context: Any, *gradients: Any) -> Any:
        (back,) = context.saved_tensors
        return gradients[0][:, back], None, None
