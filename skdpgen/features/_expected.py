"""Expected Fourier features of rows whose columns are independent; exact."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import torch
from torch import Tensor


@dataclass(frozen=True, eq=False)
class ExpectedFourier:
    r"""The mean of :class:`FourierFeatures` over rows that are drawn column by column.

    Given its latent vector, a generator draws each column by itself, from a few points.
    Then the mean of :math:`\exp(i w^\top x)` is a product of sums, :math:`\prod_j
    \sum_k p_{jk} \exp(i w_j^\top a_{jk})`: no row has to be sampled, and no gradient
    has to be estimated.

    Parameters
    ----------
    tables : tuple of Tensor of shape (2, frequencies of the column, points)
        Cosines and sines of the frequencies that look at a column, at its points.
    order, back : Tensor
        Permutation that puts the frequencies of all columns in order, and its inverse.
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
    order: Tensor
    back: Tensor
    n_together: int

    @classmethod
    def of(cls, phi: Any, points: Sequence[Tensor]) -> Self:
        """Prepare for columns that take the given points, (n_points, width) each."""
        tables, places = [], []
        start = 0
        for column, (at, width) in enumerate(zip(points, phi.widths, strict=True)):
            frequency, slot = (phi.subsets == column).nonzero(as_tuple=True)
            rows = phi.frequencies[start : start + width, frequency]
            angles = (at.to(rows) @ rows).T
            tables.append(torch.stack([angles.cos(), angles.sin()]))
            places.append(slot * len(phi.subsets) + frequency)
            start += width
        back = torch.cat(places)
        return cls(tuple(tables), back.argsort(), back, phi.subsets.shape[1])

    def __call__(self, probabilities: Sequence[Tensor]) -> Tensor:
        """Return (n, n_features) from a list of (n, n_points), one per column."""
        factors = torch.cat(
            [t @ p.T for t, p in zip(self.tables, probabilities, strict=True)], dim=1
        )  # (2, all places, n)
        reorder: Any = _Reorder.apply
        factors = reorder(factors, self.order, self.back)
        cos, sin = factors.reshape(2, self.n_together, -1, factors.shape[2])
        real, imaginary = cos[0], sin[0]
        for k in range(1, self.n_together):
            real, imaginary = (
                real * cos[k] - imaginary * sin[k],
                real * sin[k] + imaginary * cos[k],
            )
        return torch.cat([real, imaginary]).T / math.sqrt(len(real))

    def mean(self, probabilities: Sequence[Tensor], n_parts: int = 1) -> Tensor:
        """Return means of ``n_parts`` equal groups of rows, (n_parts, n_features)."""
        rows = self(probabilities)
        return rows.reshape(n_parts, -1, rows.shape[1]).mean(dim=1)


class _Reorder(torch.autograd.Function):
    """Permute; autograd's own backward pass would add up, entry by entry."""

    @staticmethod
    def forward(context: Any, x: Tensor, order: Tensor, back: Tensor) -> Tensor:
        context.save_for_backward(back)
        return x[:, order]

    @staticmethod
    def backward(context: Any, *gradients: Any) -> Any:
        (back,) = context.saved_tensors
        return gradients[0][:, back], None, None
