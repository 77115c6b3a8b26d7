"""Features of codes: a map applied to what an encoder makes of a row."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from skdpgen.utils import saved


@saved
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
        """How many numbers one row takes."""
        return int(self.phi.row_size)

    @property
    def is_opaque(self) -> bool:
        """Whether rows must go through one by one."""
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
        found: Tensor = self.phi(self.codes(x))
        return found

    def mean(self, x: Tensor, n_parts: int = 1) -> Tensor:
        """Return means of ``n_parts`` equal groups of rows, (n_parts, n_features)."""
        found: Tensor = self.phi.mean(self.codes(x), n_parts)
        return found

    def expected(self, points: Any) -> None:
        """Return None: a mean over rows has no closed form."""

    def to(self, device: torch.device) -> "EncodedFeatures":
        """Return the same map on another device."""
        weights = tuple(weight.to(device) for weight in self.weights)
        return EncodedFeatures(self.phi.to(device), weights)

    def double(self) -> "EncodedFeatures":
        """Return the same map in double precision."""
        weights = tuple(weight.double() for weight in self.weights)
        return EncodedFeatures(self.phi.double(), weights)
