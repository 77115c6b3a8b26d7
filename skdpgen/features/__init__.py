"""Bounded-norm feature maps, one file each."""

from skdpgen.features._expected import ExpectedFourier
from skdpgen.features._fourier import FourierFeatures

__all__ = ["ExpectedFourier", "FourierFeatures"]
