"""Wavelets of scattering, in the Fourier domain, and the low-pass that follows them."""

import math
from functools import lru_cache

import torch
from torch import Tensor

HIGHEST = 3 * math.pi / 4  # centre frequency of the finest wavelet
SPREAD = 0.8  # standard deviation of the finest envelope, in pixels
SLANT = 4.0  # over the number of angles: an envelope across its wave is this narrow
TURNS = 2  # repetitions of the spectrum that are added, on each side
MARGIN = 3  # steps of the low-pass that are added to a side, so that nothing wraps


def padded_side(side: int, n_scales: int) -> int:
    """Return how many pixels a side has with its margins.

    Examples
    --------
    >>> padded_side(28, 2)
    40
    """
    return (math.ceil(side / 2**n_scales) + MARGIN) * 2**n_scales


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
    weights = torch.exp(-((away / (SPREAD * step)) ** 2) / 2)
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
        *(torch.fft.fft(one[0]).abs() / math.sqrt(step) for one in (tall, wide))
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
    with torch.inference_mode(False):  # what is cached may be differentiated through
        tall, wide = low_pass(height, n_scales), low_pass(width, n_scales)
        wavelets = morlets(n_scales, n_angles, *padded)
        most = float(frame_sum(wavelets, tall, wide, 2**n_scales).max())
        quarter = most**0.25  # each low-pass is applied along one side
        return wavelets / math.sqrt(most), tall / quarter, wide / quarter


def _both_ways(spectrum: Tensor) -> Tensor:
    """Return the mean at each frequency and its opposite."""
    return (spectrum + spectrum.flip(0, 1).roll((1, 1), (0, 1))) / 2


def _morlet(scale: int, angle: float, slant: float, height: int, width: int) -> Tensor:
    spread, frequency = SPREAD * 2**scale, HIGHEST / 2**scale
    centre = _gaussian(spread, angle, slant, frequency, height, width)
    around_0 = _gaussian(spread, angle, slant, 0.0, height, width)
    found = centre - centre[0, 0] / around_0[0, 0] * around_0
    found[0, 0] = 0.0  # to the last digit
    return found


def _gaussian(
    spread: float, angle: float, slant: float, frequency: float, height: int, width: int
) -> Tensor:
    """Return a Gaussian around a frequency, repeated every 2 pi, as sampling does."""
    found = torch.zeros(height, width, dtype=torch.float64)
    for down in range(-TURNS, TURNS + 1):
        for right in range(-TURNS, TURNS + 1):
            y = 2 * math.pi * (torch.fft.fftfreq(height).double()[:, None] + down)
            x = 2 * math.pi * (torch.fft.fftfreq(width).double() + right)
            along = x * math.cos(angle) + y * math.sin(angle) - frequency
            across = y * math.cos(angle) - x * math.sin(angle)
            square = along.square() + (across / slant).square()
            found += torch.exp(-(spread**2) * square / 2)
    return found
