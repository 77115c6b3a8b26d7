"""Some of the features of a map: what is left when others are held out."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor


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
        """How many numbers one row takes."""
        return int(self.phi.row_size)

    def to(self, device: torch.device) -> "Part":
        """Return the same map on another device."""
        return Part(self.phi.to(device), self.which.to(device))

    def __call__(self, x: Tensor) -> Tensor:
        """Map the rows of ``x``."""
        return self.phi(x)[:, self.which]

    def mean(self, x: Any, n_parts: int = 1) -> Tensor:
        """Return means of ``n_parts`` equal groups of rows, (n_parts, n_features)."""
        return self.phi.mean(x, n_parts)[:, self.which]

    def expected(self, points: Sequence[Tensor]) -> "Part | None":
        """Return the mean over rows whose columns are drawn independently, if known."""
        whole = self.phi.expected(points)
        return None if whole is None else Part(whole, self.which)
