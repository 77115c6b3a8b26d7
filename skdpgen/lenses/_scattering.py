"""A lens of wavelet scattering, which describes strokes and textures."""

import math
from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor

from skdpgen.lenses._lens import Shape, clipped, finite, within_range
from skdpgen.utils import (
    saved,
)

# ----------------------------------------------------------------------------
# Wavelets of scattering, in the Fourier domain, and the low-pass that follows them.

FINEST_FREQUENCY = 3 * math.pi / 4  # centre frequency of the finest wavelet
FINEST_SPREAD = 0.8  # standard deviation of the finest envelope, in pixels
SLANT = 4.0  # over the number of angles: an envelope across its wave is this narrow
SPECTRUM_TURNS = 2  # repetitions that are added, on each side
MARGIN_STEPS = 3  # of the low-pass, added to a side, so that nothing wraps


def padded_side(side: int, n_scales: int) -> int:
    """Return how many pixels a side has with its margins.

    Examples
    --------
    >>> padded_side(28, 2)
    40
    """
    return (math.ceil(side / 2**n_scales) + MARGIN_STEPS) * 2**n_scales


def mirror(side: int, n_scales: int) -> Tensor:
    """Return which pixel stands at each place of a padded side: margins are mirrors.

    Examples
    --------
    >>> mirror(8, 1)
    tensor([2, 1, 0, 0, 1, 2, 3, 4, 5, 6, 7, 7, 6, 5])
    """
    length = padded_side(side, n_scales)
    places = (torch.arange(length) - (length - side) // 2) % (2 * side)
    return torch.minimum(places, 2 * side - 1 - places)


def low_pass(side: int, n_scales: int) -> Tensor:
    """Return the matrix of local means, (n_outputs, padded), every 2**n_scales pixels.

    Rows are Gaussians that sum to sqrt(2**n_scales): of a smooth signal, the samples
    then have the energy that the signal has. Entries are never negative.
    """
    step, length = 2**n_scales, padded_side(side, n_scales)
    n_outputs = math.ceil(side / step)
    shift = torch.arange(n_outputs, dtype=torch.float64) - (n_outputs - 1) / 2
    middles = (length - side) // 2 + (side - 1) / 2 + step * shift
    away = torch.arange(length, dtype=torch.float64) - middles[:, None]
    away = (away + length / 2) % length - length / 2
    weights = torch.exp(-((away / (FINEST_SPREAD * step)) ** 2) / 2)
    return weights / weights.sum(dim=1, keepdim=True) * math.sqrt(step)


def morlets(n_scales: int, n_angles: int, height: int, width: int) -> Tensor:
    """Return spectra of wavelets, (n_scales, n_angles, height, width).

    A Gaussian around a frequency, less as much of one around 0 as makes the mean 0.
    All are real. Scaled so that their part of :func:`frame_sum` has a peak of 1.
    """
    bank = torch.stack(
        [
            _morlet(scale, math.pi * angle / n_angles, SLANT / n_angles, height, width)
            for scale in range(n_scales)
            for angle in range(n_angles)
        ]
    )
    bank = bank / _both_ways(bank.square().sum(dim=0)).max().sqrt()
    return bank.reshape(n_scales, n_angles, height, width)


def frame_sum(wavelets: Tensor, tall: Tensor, wide: Tensor, step: int) -> Tensor:
    r"""Return the Littlewood-Paley sum at each frequency, sampling included.

    .. math:: A(\omega) = \hat\phi(\omega) \sum_k \hat\phi(\omega + 2 \pi k / s)
              + \sum_\lambda |\hat\psi_\lambda(\omega)|^2

    averaged over :math:`\pm\omega`, since images are real. The first term is more than
    :math:`\hat\phi^2`: frequencies that fall onto each other when a mean is taken every
    s pixels can add up, at most by that much (Gershgorin). If the sum is 1 at most, the
    means and the wavelets together have at most the energy of the image.
    """
    low = torch.outer(
        *(torch.fft.fft(filters[0]).abs() / math.sqrt(step) for filters in (tall, wide))
    )
    fold = low.reshape(step, tall.shape[1] // step, step, -1).sum(dim=(0, 2))
    return _both_ways(low * fold.repeat(step, step) + wavelets.square().sum(dim=(0, 1)))


@lru_cache(maxsize=8)
def filters(
    n_scales: int, n_angles: int, height: int, width: int
) -> tuple[Tensor, Tensor, Tensor]:
    """Return wavelets, and low-passes of rows and of columns.

    All are divided until :func:`frame_sum` is 1 at most, so that no energy is added.
    """
    padded = padded_side(height, n_scales), padded_side(width, n_scales)
    with torch.inference_mode(False):  # gradients may flow through cached tensors
        tall, wide = low_pass(height, n_scales), low_pass(width, n_scales)
        wavelets = morlets(n_scales, n_angles, *padded)
        most = float(frame_sum(wavelets, tall, wide, 2**n_scales).max())
        quarter = most**0.25  # each low-pass is applied along one side
        return wavelets / math.sqrt(most), tall / quarter, wide / quarter


def _both_ways(spectrum: Tensor) -> Tensor:
    """Return the mean at each frequency and its opposite."""
    return (spectrum + spectrum.flip(0, 1).roll((1, 1), (0, 1))) / 2


def _morlet(scale: int, angle: float, slant: float, height: int, width: int) -> Tensor:
    spread, frequency = FINEST_SPREAD * 2**scale, FINEST_FREQUENCY / 2**scale
    centre = _gaussian(spread, angle, slant, frequency, height, width)
    around_0 = _gaussian(spread, angle, slant, 0.0, height, width)
    wavelet = centre - centre[0, 0] / around_0[0, 0] * around_0
    wavelet[0, 0] = 0.0  # to the last digit
    return wavelet


def _gaussian(
    spread: float, angle: float, slant: float, frequency: float, height: int, width: int
) -> Tensor:
    """Return a Gaussian around a frequency, repeated every 2 pi, as sampling does."""
    gaussian = torch.zeros(height, width, dtype=torch.float64)
    for down in range(-SPECTRUM_TURNS, SPECTRUM_TURNS + 1):
        for right in range(-SPECTRUM_TURNS, SPECTRUM_TURNS + 1):
            y = 2 * math.pi * (torch.fft.fftfreq(height).double()[:, None] + down)
            x = 2 * math.pi * (torch.fft.fftfreq(width).double() + right)
            along = x * math.cos(angle) + y * math.sin(angle) - frequency
            across = y * math.cos(angle) - x * math.sin(angle)
            square = along.square() + (across / slant).square()
            gaussian += torch.exp(-(spread**2) * square / 2)
    return gaussian


# ----------------------------------------------------------------------------
# A lens of wavelet scattering; nothing is trained.

SMALLEST_SIDE = 8
PIXELS_ON_CPU, PIXELS_ELSEWHERE = 2**12, 2**19  # at once
UNIT_RMS = 0.7  # root mean square of pixels whose codes have norm 1, about


@saved("lens.scattering")
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
    0.4 and 0.8 in the mean), drawings on black less; brighter images are clipped.

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
        """Description of the lens in a certificate."""
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
        return clipped(self.features(images) / (UNIT_RMS * math.sqrt(n_pixels)))

    def features(self, images: Tensor) -> Tensor:  # (n, c, h, w) -> (n, n_features)
        """Return features; differentiable."""
        images = within_range(images)
        self._check(images.shape[2:])
        n, channels, height, width = images.shape
        if not n:
            return images.new_zeros(0, self.n_features((channels, height, width)))
        padded = padded_side(height, self.n_scales), padded_side(width, self.n_scales)
        size = channels * math.prod(padded)
        most = PIXELS_ON_CPU if images.device.type == "cpu" else PIXELS_ELSEWHERE
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
        wavelets, tall, wide = (part.to(images) for part in bank)
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
