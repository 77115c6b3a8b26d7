"""Several maps side by side, one vector of norm 1 at most."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from skdpgen.utils import asked, has_role, is_amount, refuse_unless, saved


@asked("map")
@saved
@dataclass(frozen=True, eq=False)
class JointFeatures:
    r"""Features of the weighted mean of the kernels of several maps.

    .. math:: k = \sum_i w_i k_i / \sum_i w_i, \qquad
              \phi = (\sqrt{w_i / \textstyle\sum w}\, \phi_i)_i

    *Bound.* Squared norms of disjoint coordinates add up:
    :math:`\|\phi\|^2 = \sum_i w_i \|\phi_i\|^2 / \sum_i w_i \le 1` if all maps have
    norm 1 at most. Squared distances add up in the same way: a loss on these features
    weighs the maps as ``weights`` says.

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
        """Check what someone else may have made otherwise."""
        refuse_unless(
            len(self.maps) == len(self.weights) > 0
            and all(has_role(phi, "map") for phi in self.maps)
            and all(is_amount(weight, 1e-6, 1e6) for weight in self.weights),
            "maps, each with a weight",
        )

    @property
    def parts(self) -> tuple[tuple[int, float, bool], ...]:
        """Length and norm of each part, and whether it is never negative."""
        total, found = sum(self.weights), []
        for phi, weight in zip(self.maps, self.weights, strict=True):
            alone = ((phi.n_features, phi.norm_bound, False),)
            for n, norm, is_nonnegative in getattr(phi, "parts", alone):
                found.append((n, (weight / total) ** 0.5 * norm, is_nonnegative))
        return tuple(found)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return sum(phi.n_features for phi in self.maps)

    @property
    def row_size(self) -> int:
        """How many numbers one row takes."""
        return sum(phi.row_size for phi in self.maps)

    def to(self, device: torch.device) -> "JointFeatures":
        """Return the same map on another device."""
        return JointFeatures(tuple(phi.to(device) for phi in self.maps), self.weights)

    def double(self) -> "JointFeatures":
        """Return the same map in double precision."""
        return JointFeatures(tuple(phi.double() for phi in self.maps), self.weights)

    @property
    def is_opaque(self) -> bool:
        """Whether rows must go through one by one."""
        return any(getattr(phi, "is_opaque", False) for phi in self.maps)

    def __call__(self, x: Any) -> Tensor:
        """Map the rows of ``x``."""
        return self._beside([phi(x) for phi in self.maps])

    def mean(self, x: Any, n_parts: int = 1) -> Tensor:
        """Return means of ``n_parts`` equal groups of rows, (n_parts, n_features)."""
        return self._beside([phi.mean(x, n_parts) for phi in self.maps])

    def expected(self, points: Sequence[Tensor]) -> "JointFeatures | None":
        """Return the mean over rows whose columns are drawn independently, if known."""
        found = tuple(phi.expected(points) for phi in self.maps)
        return None if None in found else JointFeatures(found, self.weights)

    def _beside(self, parts: list[Tensor]) -> Tensor:
        total = sum(self.weights)
        scaled = [
            (weight / total) ** 0.5 * part
            for weight, part in zip(self.weights, parts, strict=True)
        ]
        return torch.cat(scaled, dim=1)
