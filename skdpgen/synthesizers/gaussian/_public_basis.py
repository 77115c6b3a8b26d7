"""Codes along the principal directions of public images."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from skdpgen.lenses import clipped, goes_alone
from skdpgen.tables import as_pixels, holds_images, image_size
from skdpgen.utils import saved

Floats = NDArray[np.float64]
EVENED = 0.25  # power of variances that directions are divided by
INSIDE = 0.95  # of public images have codes that are not clipped
MOST = 20_000  # public images that are looked at
SMALLEST = 1e-6  # of the largest variance


@saved
@dataclass(frozen=True, eq=False)
class PublicBasis:
    r"""A lens whose codes stand along the principal directions of public images.

    .. math:: v = \mathrm{clip}\big(W V^\top (z - m)\big)

    where z are codes of another lens, m and V their mean and principal directions in
    public images, and W makes weak directions larger, as far as noise that all codes
    get alike asks for it. A private row changes none of these.

    Parameters
    ----------
    lens : Lens
        With a way back.
    mean : ndarray of shape (n_inner,)
    directions : ndarray of shape (n_inner, n_latent)
        Orthonormal columns, the strongest first.
    weights : ndarray of shape (n_latent,)
    n_images : int
        How many images were looked at.
    """

    lens: Any
    mean: Floats
    directions: Floats
    weights: Floats
    n_images: int

    has_decoder = True
    has_features = False

    @classmethod
    def of(cls, images: Any, lens: Any, n_latent: int) -> "PublicBasis":
        """Return the lens that public images make of another."""
        images = images[:MOST]
        pixels = torch.from_numpy(as_pixels(images).astype(np.float64))
        parts = pixels.unflatten(1, image_size(images)).split(
            1 if goes_alone(lens) else 1024
        )
        inner = lens.double()
        with torch.no_grad():
            z = torch.cat([inner.encode(part) for part in parts]).numpy()
        mean = z.mean(axis=0)
        found, vectors = np.linalg.eigh(np.cov(z.T).reshape(len(mean), -1))
        found, vectors = found[::-1][:n_latent], vectors[:, ::-1][:, :n_latent]
        if not found[0] > 0:
            raise ValueError(
                "public_data must hold images that differ. Got the same one "
                f"{len(images)} times, or none with finite pixels."
            )
        there = found > SMALLEST * found[0]
        found, vectors = found[there], vectors[:, there].copy()
        weights = found ** (-EVENED / 2)
        norms = np.linalg.norm((z - mean) @ vectors * weights, axis=1)
        weights = weights / np.quantile(norms, INSIDE)
        return cls(lens, mean, vectors, weights, len(images))

    @property
    def name(self) -> str:
        """What a certificate says about the lens."""
        return f"principal directions of {self.n_images} public images"

    @property
    def is_opaque(self) -> bool:
        """Whether the other lens must have rows one by one."""
        return goes_alone(self.lens)

    def n_latent(self, shape: Any) -> int:
        """Return how many directions there are."""
        del shape
        return len(self.weights)

    def encode(self, images: Tensor) -> Tensor:  # (n, c, h, w) -> (n, n_latent)
        """Return codes of norm at most 1."""
        z = self.lens.encode(images)
        turn = torch.from_numpy(self.directions * self.weights).to(z)
        return clipped((z - torch.from_numpy(self.mean).to(z)) @ turn)

    def decode(self, codes: Tensor, shape: Any) -> Tensor:
        """Return images in [0, 1]."""
        back = torch.from_numpy((self.directions / self.weights).T).to(codes)
        z = codes @ back + torch.from_numpy(self.mean).to(codes)
        images: Tensor = self.lens.decode(z, shape)
        return images

    def to(self, device: torch.device) -> "PublicBasis":
        """Return itself: directions go where images are."""
        return self

    def double(self) -> "PublicBasis":
        """Return itself: directions have the precision of images."""
        return self


def check_public(images: Any, size: tuple[int, int, int]) -> None:
    """Raise unless public images have the shape of the private ones."""
    if not holds_images(images) or len(images) < 2:
        raise ValueError(
            "public_data must be an array of two images or more, (n, height, width) or "
            f"(n, channels, height, width). Got {type(images).__name__} of shape "
            f"{getattr(images, 'shape', None)}."
        )
    if image_size(images) != size:
        raise ValueError(
            "public_data must have images of the shape of X. Got "
            f"{image_size(images)} and {size} (channels, height, width)."
        )
