"""The protocol of a lens: a public view of images, fixed before the fit."""

from typing import Protocol, Self, runtime_checkable

import torch
from torch import Tensor

Shape = tuple[int, int, int]  # channels, height, width of an image


@runtime_checkable
class Lens(Protocol):
    """A public map of images, and what can be done with it.

    Images are tensors (n, channels, height, width) in [0, 1], of single or double
    precision; results have the same precision. A pixel outside [0, 1] counts as the
    nearest one inside. Nothing in a lens depends on private rows.
    """

    @property
    def name(self) -> str:
        """Description of the lens in a certificate."""

    @property
    def is_opaque(self) -> bool:
        """Whether private rows must be mapped one at a time.

        True if rows of a batch may influence each other.
        """

    @property
    def has_decoder(self) -> bool:
        """Whether the lens can decode, as :class:`Decoding`."""

    @property
    def has_features(self) -> bool:
        """Whether the lens is :class:`Perceptual`."""

    def n_latent(self, shape: Shape) -> int:
        """Return how many codes an image of this shape has."""

    def encode(self, images: Tensor) -> Tensor:
        """Return codes, (n, n_latent), every row of norm at most 1 by construction.

        A row with a result that is no finite number becomes 0.
        """

    def to(self, device: torch.device) -> Self:
        """Return the same lens on another device."""

    def double(self) -> Self:
        """Return the same lens in double precision, for private rows."""


@runtime_checkable
class Decoding(Lens, Protocol):
    """A lens with a decoder."""

    def decode(self, codes: Tensor, shape: Shape) -> Tensor:
        """Return images in [0, 1], of this shape, from finite codes."""


@runtime_checkable
class Perceptual(Lens, Protocol):
    """A lens with features to compare images by."""

    @property
    def is_nonnegative(self) -> bool:
        """Whether all features are at least 0."""

    def n_features(self, shape: Shape) -> int:
        """Return how many features an image of this shape has."""

    def features(self, images: Tensor) -> Tensor:
        """Return features, (n, n_features), flat and not normalised.

        A row with a result that is no finite number becomes 0.
        """


# ----------------------------------------------------------------------------
# Operations of all lenses: on images before features, and on rows of features.

NORM_SLACK = 1e-12  # for rounding in double precision
SMALLEST_NORM = 1e-6  # that is scaled to 1


def within_range(images: Tensor) -> Tensor:
    """Return images with every pixel in [0, 1], or as NaN.

    Examples
    --------
    >>> within_range(torch.full((1, 1, 1, 2), 1e30)).tolist()
    [[[[1.0, 1.0]]]]
    """
    if images.ndim != 4 or images.dtype not in (torch.float32, torch.float64):
        raise ValueError(
            "Images must be a float32 or float64 tensor of shape (n, channels, "
            f"height, width). Got {images.dtype} of shape {tuple(images.shape)}."
        )
    return images.clamp(0.0, 1.0)


def finite(rows: Tensor) -> Tensor:
    """Return rows; one with an entry that is no finite number becomes 0.

    Examples
    --------
    >>> finite(torch.tensor([[1.0, float("nan")], [1.0, 2.0]])).tolist()
    [[0.0, 0.0], [1.0, 2.0]]
    """
    values = rows.detach()  # largest and smallest entry: NaN if there is one
    ends = values.amax(dim=1, keepdim=True), values.amin(dim=1, keepdim=True)
    return torch.where(ends[0].isfinite() & ends[1].isfinite(), rows, 0.0)


def clipped(rows: Tensor) -> Tensor:
    """Divide each row by its norm if that is more than 1, and finite ones only.

    *Bound.* Norms are taken in double precision, of rows divided by their largest
    entry, so that nothing overflows; what rounding can add is taken off.

    Examples
    --------
    >>> clipped(torch.tensor([[3.0, 4.0], [0.3, 0.4]]).double()).round(decimals=3)
    tensor([[0.6000, 0.8000],
            [0.3000, 0.4000]], dtype=torch.float64)
    """
    exact = finite(rows).double()
    largest = 1.0 - max(torch.finfo(rows.dtype).eps, NORM_SLACK)
    return (exact * (largest / _norms(exact).clamp_min(largest))).to(rows.dtype)


def normalised(rows: Tensor) -> Tensor:
    """Divide each row by its norm; rows that are almost 0 stay small.

    Examples
    --------
    >>> normalised(torch.tensor([[0.3, 0.4], [0.0, 0.0]])).round(decimals=3)
    tensor([[0.6000, 0.8000],
            [0.0000, 0.0000]])
    """
    exact = finite(rows).double()
    return clipped((exact / _norms(exact).clamp_min(SMALLEST_NORM)).to(rows.dtype))


def _norms(rows: Tensor) -> Tensor:
    peaks = rows.abs().amax(dim=1, keepdim=True).clamp_min(1.0)
    return peaks * (rows / peaks).norm(dim=1, keepdim=True)
