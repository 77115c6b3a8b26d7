"""A lens of wavelet scattering: strokes and textures, with nothing learnt."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from skdpgen.lenses._clipping import clipped, finite, within_range
from skdpgen.lenses._lens import Shape
from skdpgen.lenses._morlet import filters, mirror, padded_side
from skdpgen.utils import saved

SMALLEST_SIDE = 8
IN_CACHE, AT_ONCE = 2**12, 2**19  # pixels at once, on a processor and elsewhere
SIZE = 0.7  # root mean square of pixels whose codes have norm 1, about


@saved
@dataclass(frozen=True)
class ScatteringLens:
    r"""Wavelet scattering: local means of moduli of wavelets, twice over.

    .. math:: S_0 = x \star \phi, \quad
              S_1 = |x \star \psi_\lambda| \star \phi, \quad
              S_2 = ||x \star \psi_\lambda| \star \psi_{\lambda'}| \star \phi

    The wavelets are Morlet's, of ``n_scales`` scales and ``n_angles`` angles, fixed;
    :math:`\lambda'` is coarser than :math:`\lambda`. Means are taken every
    2**n_scales pixels, over about as many, so that an image which moves a little keeps
    its features [1]_. Each channel goes through by itself. Margins are mirrors of what
    is inside.

    All features are means of moduli (or of pixels) and so at least 0. Their energy,
    the sum of squares, is at most that of the image with its margins, since the
    filters are scaled to a Littlewood-Paley sum of 1 at most.

    *Bound.* Codes are the features, divided by 0.7 times the square root of how many
    numbers an image has, and clipped. Photographs have norms around 0.7 (parts of two:
    0.4 and 0.8 in the mean), drawings on black less; what is brighter is clipped.

    Parameters
    ----------
    n_scales : int, default=2
        Each doubles the size of the wavelets.
    n_angles : int, default=8
        Directions of each scale.
    order : {1, 2}, default=2
        How many moduli are taken.

    References
    ----------
    .. [1] Bruna & Mallat, "Invariant scattering convolution networks", IEEE TPAMI 2013.

    Examples
    --------
    >>> lens = ScatteringLens()
    >>> lens.features(torch.rand(2, 1, 28, 28)).shape  # 81 maps of 7 x 7
    torch.Size([2, 3969])
    """

    n_scales: int = 2
    n_angles: int = 8
    order: int = 2

    is_opaque = False
    has_decoder = False
    has_features = True
    is_nonnegative = True

    def __post_init__(self) -> None:
        for name in ("n_scales", "n_angles"):
            if getattr(self, name) < 1:
                raise ValueError(
                    f"{name} must be at least 1. Got {getattr(self, name)} instead."
                )
        if self.order not in (1, 2):
            raise ValueError(f"order must be 1 or 2. Got {self.order} instead.")

    @property
    def name(self) -> str:
        """What a certificate says about the lens."""
        return (
            f"wavelet scattering, {self.n_scales} scales, {self.n_angles} angles, "
            f"order {self.order}"
        )

    @property
    def n_paths(self) -> int:
        """How many maps are made of a channel."""
        pairs = math.comb(self.n_scales, 2) if self.order == 2 else 0
        return 1 + self.n_angles * self.n_scales + self.n_angles**2 * pairs

    def n_features(self, shape: Shape) -> int:
        """Return how many features an image of this shape has."""
        channels, *sides = shape
        self._check(sides)
        means = [math.ceil(side / 2**self.n_scales) for side in sides]
        return channels * self.n_paths * math.prod(means)

    def n_latent(self, shape: Shape) -> int:
        """Return how many codes an image of this shape has."""
        return self.n_features(shape)

    def encode(self, images: Tensor) -> Tensor:  # (n, c, h, w) -> (n, n_latent)
        """Return codes of norm at most 1."""
        n_pixels = math.prod(images.shape[1:])
        return clipped(self.features(images) / (SIZE * math.sqrt(n_pixels)))

    def features(self, images: Tensor) -> Tensor:  # (n, c, h, w) -> (n, n_features)
        """Return features; differentiable."""
        images = within_range(images)
        self._check(images.shape[2:])
        n, channels, height, width = images.shape
        if not n:
            return images.new_zeros(0, self.n_features((channels, height, width)))
        padded = padded_side(height, self.n_scales), padded_side(width, self.n_scales)
        size = channels * math.prod(padded)
        most = IN_CACHE if images.device.type == "cpu" else AT_ONCE
        parts = torch.split(images, max(most // size, 1))
        return finite(torch.cat([self._scattered(part) for part in parts]))

    def to(self, device: torch.device) -> "ScatteringLens":
        """Return itself: filters go where images are."""
        return self

    def double(self) -> "ScatteringLens":
        """Return itself: filters have the precision of images."""
        return self

    def _check(self, sides: list[int] | torch.Size) -> None:
        least = max(SMALLEST_SIDE, 2**self.n_scales)
        if min(sides) < least:
            raise ValueError(
                f"Images must have at least {least} pixels a side for scattering of "
                f"{self.n_scales} scales. Got {sides[0]} x {sides[1]}."
            )

    def _scattered(self, images: Tensor) -> Tensor:
        height, width = images.shape[2:]
        bank = filters(self.n_scales, self.n_angles, height, width)
        wavelets, tall, wide = (one.to(images) for one in bank)
        padded = images[:, :, mirror(height, self.n_scales)]
        padded = padded[:, :, :, mirror(width, self.n_scales)]
        first = moduli(padded, wavelets.flatten(0, 1))  # (n, c, scales x angles, H, W)
        layers = [padded[:, :, None], first]
        if self.order == 2:
            by_scale = torch.split(first, self.n_angles, dim=2)
            for scale, maps in enumerate(by_scale[:-1]):
                coarser = wavelets[scale + 1 :].flatten(0, 1)
                layers.append(moduli(maps, coarser).flatten(2, 3))
        means = [tall @ maps @ wide.T for maps in layers]
        return torch.cat(means, dim=2).flatten(1)


def moduli(maps: Tensor, spectra: Tensor) -> Tensor:
    """Return moduli of maps (..., h, w) convolved with filters, (..., filter, h, w)."""
    waves = torch.fft.fft2(maps)[..., None, :, :] * spectra
    return torch.fft.ifft2(waves).abs()
