"""Feature maps of parts of a row, put together."""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import torch
from torch import Tensor

from skdpgen.utils import (
    asked,
    has_role,
    is_amount,
    refuse_unless,
    saved,
)

# ----------------------------------------------------------------------------
# Some of the features of a map: what is left when others are held out.


@dataclass(frozen=True, eq=False)
class Part:
    """The features of ``phi`` at the places ``which``, and no others.

    Examples
    --------
    >>> from skdpgen.features import FourierFeatures
    >>> phi = FourierFeatures.draw((1,), 6, rng=torch.Generator().manual_seed(0))
    >>> x = torch.ones(2, 1)
    >>> bool((Part(phi, torch.tensor([4]))(x) == phi(x)[:, 4:5]).all())
    True
    """

    phi: Any
    which: Tensor

    @property
    def norm_bound(self) -> float:
        """That of the whole map."""
        return float(self.phi.norm_bound)

    @property
    def n_features(self) -> int:
        """Number of features that are left."""
        return len(self.which)

    @property
    def row_size(self) -> int:
        """Number of values that one row takes."""
        return int(self.phi.row_size)

    def to(self, device: torch.device) -> "Part":
        """Return the same map on another device."""
        return Part(self.phi.to(device), self.which.to(device))

    def __call__(self, x: Tensor) -> Tensor:
        """Map the rows of ``x``."""
        return self.phi(x)[:, self.which]

    def mean(self, x: Tensor | Sequence[Tensor], n_parts: int = 1) -> Tensor:
        """Return means of ``n_parts`` equal groups of rows, (n_parts, n_features)."""
        return self.phi.mean(x, n_parts)[:, self.which]

    def expected(self, points: Sequence[Tensor]) -> "Part | None":
        """Return the mean over rows whose columns are drawn independently, if known."""
        whole = self.phi.expected(points)
        return None if whole is None else Part(whole, self.which)


# ----------------------------------------------------------------------------
# Features that are outer products: u and v of each block, formed or averaged.

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


# ----------------------------------------------------------------------------
# Expected Fourier features of rows whose columns are independent; exact.


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
        points: in effect complex numbers.
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
            waves = reorder(torch.cat(factors, dim=1), self.order, self.back)
            waves = waves.reshape(len(waves), self.n_together, -1)
            factors = list(waves.unbind(1))
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
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        (back,) = context.saved_tensors
        return gradients[0][:, back], None, None


# ----------------------------------------------------------------------------
# Features of codes: a map applied to what an encoder makes of a row.


@saved("features.encoded")
@dataclass(frozen=True, eq=False)
class EncodedFeatures:
    """A bounded map of the codes of an encoder with two layers.

    *Bound.* That of ``phi``, whatever the codes are. The encoder's weights must be
    public, or released: if rows influence them in any other way, one row moves the
    features of all, and no bound on a row helps.

    Parameters
    ----------
    phi : FeatureMap
        Map of the codes.
    weights : tuple of Tensor
        Weight and bias of the first layer, and of the second.

    Examples
    --------
    >>> from skdpgen.features import FourierFeatures
    >>> rng = torch.Generator().manual_seed(0)
    >>> phi = FourierFeatures.draw((2,), 10, rng=rng)
    >>> weights = torch.ones(3, 4), torch.zeros(3), torch.ones(2, 3), torch.zeros(2)
    >>> EncodedFeatures(phi, weights)(torch.zeros(5, 4)).shape
    torch.Size([5, 10])
    """

    phi: Any
    weights: tuple[Tensor, ...]

    @property
    def norm_bound(self) -> float:
        """Largest norm."""
        return float(self.phi.norm_bound)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.phi.n_features)

    @property
    def row_size(self) -> int:
        """Number of values that one row takes."""
        return int(self.phi.row_size)

    @property
    def is_opaque(self) -> bool:
        """Whether rows must be mapped one at a time."""
        return getattr(self.phi, "is_opaque", False)

    @property
    def code(self) -> tuple[int, int]:
        """Units of the hidden layer, and codes."""
        return self.weights[0].shape[0], self.weights[2].shape[0]

    def codes(self, x: Tensor) -> Tensor:  # (n, n_inputs) -> (n, n_codes)
        """Return codes, between -1 and 1."""
        first, bias, second, other = self.weights
        return torch.tanh(torch.tanh(x @ first.T + bias) @ second.T + other)

    def __call__(self, x: Tensor) -> Tensor:
        """Map the rows of ``x``; differentiable."""
        features: Tensor = self.phi(self.codes(x))
        return features

    def mean(self, x: Tensor, n_parts: int = 1) -> Tensor:
        """Return means of ``n_parts`` equal groups of rows, (n_parts, n_features)."""
        mean: Tensor = self.phi.mean(self.codes(x), n_parts)
        return mean

    def expected(self, points: Sequence[Tensor]) -> None:
        """Return None: a mean over rows has no closed form."""

    def to(self, device: torch.device) -> "EncodedFeatures":
        """Return the same map on another device."""
        weights = tuple(weight.to(device) for weight in self.weights)
        return EncodedFeatures(self.phi.to(device), weights)

    def double(self) -> "EncodedFeatures":
        """Return the same map in double precision."""
        weights = tuple(weight.double() for weight in self.weights)
        return EncodedFeatures(self.phi.double(), weights)


# ----------------------------------------------------------------------------
# Several maps side by side, one vector of norm 1 at most.


@asked("map")
@saved("features.joint")
@dataclass(frozen=True, eq=False)
class JointFeatures:
    r"""Features of the weighted mean of the kernels of several maps.

    .. math:: k = \sum_i w_i k_i / \sum_i w_i, \qquad
              \phi = (\sqrt{w_i / \textstyle\sum w}\, \phi_i)_i

    *Bound.* Squared norms of disjoint coordinates add up:
    :math:`\|\phi\|^2 = \sum_i w_i \|\phi_i\|^2 / \sum_i w_i \le 1` if all maps have
    norm 1 at most. Squared distances add up in the same way: a loss on these features
    weighs the maps by ``weights``.

    Examples
    --------
    >>> from skdpgen.features import FourierFeatures
    >>> one, two = (
    ...     FourierFeatures.draw((1,), n, rng=torch.Generator().manual_seed(n))
    ...     for n in (4, 6)
    ... )
    >>> JointFeatures((one, two), (1.0, 3.0))(torch.ones(2, 1)).shape
    torch.Size([2, 10])
    """

    maps: tuple[Any, ...]
    weights: tuple[float, ...]

    norm_bound = 1.0

    def check_asked(self) -> None:
        """Check the fields of an object that another party may have built."""
        refuse_unless(
            len(self.maps) == len(self.weights) > 0
            and all(has_role(phi, "map") for phi in self.maps)
            and all(is_amount(weight, 1e-6, 1e6) for weight in self.weights),
            "maps, each with a weight",
        )

    @property
    def parts(self) -> tuple[tuple[int, float, bool], ...]:
        """Length and norm of each part, and whether it is never negative."""
        total, parts = sum(self.weights), []
        for phi, weight in zip(self.maps, self.weights, strict=True):
            alone = ((phi.n_features, phi.norm_bound, False),)
            for n, norm, is_nonnegative in getattr(phi, "parts", alone):
                parts.append((n, (weight / total) ** 0.5 * norm, is_nonnegative))
        return tuple(parts)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return sum(phi.n_features for phi in self.maps)

    @property
    def row_size(self) -> int:
        """Number of values that one row takes."""
        return sum(phi.row_size for phi in self.maps)

    def to(self, device: torch.device) -> "JointFeatures":
        """Return the same map on another device."""
        return JointFeatures(tuple(phi.to(device) for phi in self.maps), self.weights)

    def double(self) -> "JointFeatures":
        """Return the same map in double precision."""
        return JointFeatures(tuple(phi.double() for phi in self.maps), self.weights)

    @property
    def is_opaque(self) -> bool:
        """Whether rows must be mapped one at a time."""
        return any(getattr(phi, "is_opaque", False) for phi in self.maps)

    def __call__(self, x: Tensor | Sequence[Tensor]) -> Tensor:
        """Map the rows of ``x``."""
        return self._beside([phi(x) for phi in self.maps])

    def mean(self, x: Tensor | Sequence[Tensor], n_parts: int = 1) -> Tensor:
        """Return means of ``n_parts`` equal groups of rows, (n_parts, n_features)."""
        return self._beside([phi.mean(x, n_parts) for phi in self.maps])

    def expected(self, points: Sequence[Tensor]) -> "JointFeatures | None":
        """Return the mean over rows whose columns are drawn independently, if known."""
        maps = tuple(phi.expected(points) for phi in self.maps)
        return None if None in maps else JointFeatures(maps, self.weights)

    def _beside(self, parts: list[Tensor]) -> Tensor:
        total = sum(self.weights)
        scaled = [
            (weight / total) ** 0.5 * part
            for weight, part in zip(self.weights, parts, strict=True)
        ]
        return torch.cat(scaled, dim=1)
