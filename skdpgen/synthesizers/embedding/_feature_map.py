"""The protocol of feature maps, and how rows go through one a few at a time."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from skdpgen.lenses import each_alone
from skdpgen.privacy import OuterProducts, SideBySide, Vectors

NUMBERS_AT_ONCE = 2**21  # in the rows that are mapped together
BATCH_MULTIPLE = 64  # sizes of batches are multiples of it
MOST_ROWS = 4096  # in a batch


class FeatureMap(Protocol):
    """A map of rows to bounded vectors.

    A map that has ``factors`` as well gives outer products, which are summed without
    ever being formed for a row. It may have ``kinds``, which say what signs the
    products can have (without it, any), and ``norm_bounds``, one per layer. A map that
    has ``parts`` gives several vectors side by side: of each its length, largest norm,
    and whether it is never negative.
    """

    @property
    def n_features(self) -> int:
        """Number of features."""

    @property
    def row_size(self) -> int:
        """How many numbers one row takes in memory."""

    @property
    def norm_bound(self) -> float:
        """Largest norm."""

    def __call__(self, x: Tensor) -> Tensor:
        """Map rows, (n, n_inputs) to (n, n_features)."""

    def mean(self, x: Tensor, n_parts: int = 1) -> Tensor:
        """Return the mean of equal groups of rows, (n_parts, n_features)."""

    def expected(self, points: Sequence[Tensor]) -> Any:
        """Return the exact mean over independent columns; None if there is none."""

    def to(self, device: torch.device) -> Self:
        """Return the same map on another device."""

    def double(self) -> Self:
        """Return the same map in double precision, for private rows."""


def feature_block(phi: Any) -> OuterProducts | SideBySide | Vectors:
    """Return how privacy sums the features of a map; see :class:`FeatureMap`."""
    if hasattr(phi, "factors"):
        bound = getattr(phi, "norm_bounds", phi.norm_bound)
        return OuterProducts(phi.shapes, bound, getattr(phi, "kinds", None))
    if hasattr(phi, "parts"):
        return SideBySide(tuple(Vectors(*part) for part in phi.parts))
    return Vectors(phi.n_features, phi.norm_bound)


@dataclass(frozen=True, eq=False)
class Mapper:
    """Sends private rows through a feature map, in batches of one shape.

    What a row becomes must not depend on the rows beside it: otherwise removing one
    could change all others in their last digit. Hence batches are padded, and mapped in
    double precision. The last digit matters where a function jumps:
    :class:`~skdpgen.features.NTKFeatures` computes exactly up to its jumps, and nothing
    is known about a map that ``is_opaque``, so rows go one by one, and a row on which
    it fails becomes 0.
    """

    phi: Any  # a FeatureMap, in double precision; optional attributes are read of it
    device: torch.device
    at_once: int

    @classmethod
    def of(cls, phi: Any, device: torch.device) -> "Mapper":
        """Prepare a map; ``at_once`` is the number of rows that fit in memory."""
        phi = phi.to(device).double()
        # sums of outer products are far larger than rows: larger batches update them
        # less often
        most = 4 * NUMBERS_AT_ONCE if hasattr(phi, "factors") else NUMBERS_AT_ONCE
        at_once = (
            max(min(most // phi.row_size, MOST_ROWS) // BATCH_MULTIPLE, 1)
            * BATCH_MULTIPLE
        )
        return cls(phi, device, at_once)

    def __call__(self, rows: NDArray[Any]) -> Any:
        """Return the features of ``at_once`` rows at most, or their factors."""
        inputs = torch.from_numpy(padded(rows, self.at_once)).double()
        inputs = on_device(inputs, self.device)
        if getattr(self.phi, "is_opaque", False):
            return each_alone(self.phi, inputs[: len(rows)], self.phi.n_features)
        return map_rows(self.phi, inputs, len(rows))


def on_device(rows: Tensor, device: torch.device) -> Tensor:
    """Send rows to a device; to a GPU from pinned memory, while the CPU goes on."""
    if device.type != "cuda":
        return rows.to(device)
    return rows.pin_memory().to(device, non_blocking=True)


def padded(rows: NDArray[Any], n: int) -> NDArray[Any]:
    """Add rows of zeros until there are n, a multiple of ``BATCH_MULTIPLE``.

    How a matrix product is rounded depends on its shape, and its last rows, those
    beyond a multiple of a small number, are rounded differently from the rest. In
    batches of one shape without such rows, each row is computed in nearly the same way
    wherever it stands: cosines of large numbers may differ in their last digits.
    """
    more = n - len(rows)
    return np.concatenate([rows, np.zeros((more, rows.shape[1]), rows.dtype)])


def map_rows(phi: Any, inputs: Tensor, n: int) -> Any:
    """Return the features of the first n rows, or their factors."""
    if hasattr(phi, "factors"):
        return [(u[:n], v[:n]) for u, v in phi.factors(inputs)]
    return phi(inputs)[:n]
