"""Bounded-norm feature maps, one file each."""

from skdpgen.features._encoded import EncodedFeatures
from skdpgen.features._expected import ExpectedFourier
from skdpgen.features._fourier import FourierFeatures
from skdpgen.features._hermite import (
    ExpectedHermite,
    HermiteFeatures,
    hermite_functions,
)
from skdpgen.features._hermite_pairs import HermitePairs
from skdpgen.features._ntk import ModuleNTKFeatures, NTKFeatures
from skdpgen.features._part import Part
from skdpgen.features._weighed import Weighed

__all__ = [
    "EncodedFeatures",
    "ExpectedFourier",
    "ExpectedHermite",
    "FourierFeatures",
    "HermiteFeatures",
    "HermitePairs",
    "ModuleNTKFeatures",
    "NTKFeatures",
    "Part",
    "Weighed",
    "hermite_functions",
]
