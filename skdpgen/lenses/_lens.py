"""What a lens offers: a public view of images, fixed before private ones are read."""

from typing import Any, Protocol, runtime_checkable

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
        """What a certificate says about the lens."""

    @property
    def is_opaque(self) -> bool:
        """Whether private rows must go through one by one.

        It is so where nothing is known about how rows of a batch influence each other.
        """

    @property
    def has_decoder(self) -> bool:
        """Whether there is a way back: the lens is :class:`Decoding`."""

    @property
    def has_features(self) -> bool:
        """Whether the lens is :class:`Perceptual`."""

    def n_latent(self, shape: Shape) -> int:
        """Return how many codes an image of this shape has."""

    def encode(self, images: Tensor) -> Tensor:
        """Return codes, (n, n_latent), every row of norm at most 1 by construction.

        A row with a result that is no finite number becomes 0.
        """

    def to(self, device: torch.device) -> Any:
        """Return the same lens on another device."""

    def double(self) -> Any:
        """Return the same lens in double precision, for private rows."""


@runtime_checkable
class Decoding(Lens, Protocol):
    """A lens with a way back."""

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
